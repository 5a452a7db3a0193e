#include "app.h"

static const app_option options[] = {
    {"-p", "KEY=VALUE", "set a parameter of the scene; may be repeated"},
    {"--json", NULL, "one JSON object"},
    {0},
};

static void report(const app_args *args, const mn_model_def *def, const mn_world *world)
{
  const char *why, *coupling = mn_world_coupling(world, &why);
  const mn_domain_def *d = &def->domain;
  if (app_get(args, "--json")) {
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "scene", def->name);
    cJSON_AddStringToObject(o, "title", def->title);
    cJSON_AddItemToObject(o, "cells", cJSON_CreateIntArray(d->cells, d->dim));
    cJSON_AddNumberToObject(o, "frames", def->output.frames);
    cJSON_AddNumberToObject(o, "every", def->output.every);
    if (coupling)
      cJSON_AddStringToObject(o, "coupling", coupling);
    if (*why)
      cJSON_AddStringToObject(o, "why", why);
    app_print_json(o);
    return;
  }
  printf("%s: good. %s%s%d x %d", def->name, def->title, *def->title ? ": " : "", d->cells[0],
         d->cells[1]);
  if (d->dim == 3)
    printf(" x %d", d->cells[2]);
  printf(" cells, %d sources, %d obstacles, %d bodies, %d probes, %d frames to %g s\n",
         def->source_count, def->solid_count, def->body_count, def->probe_count, def->output.frames,
         def->output.frames * def->output.every);
  if (*why)
    printf("coupling auto: %s, because %s\n", coupling, why);
}

static int check(app_args *args)
{
  mn_context *ctx = NULL;
  mn_model *model = NULL;
  mn_world *world = NULL;
  if (args->word_count != 1)
    return app_error(MN_BAD_INPUT, "check needs a scene: meniscus %s", args->command->usage);
  int bad = app_context(args, &ctx);
  if (bad)
    return bad;
  mn_status status =
      mn_scene_load(ctx, args->words[0], args->settings, args->setting_count, &model);
  if (status == MN_OK)
    status = mn_world_create(ctx, model, &world); /* what only the grid can tell */
  if (status == MN_OK)
    report(args, mn_model_get(model), world);
  else
    app_fail(ctx, status);
  mn_world_destroy(&world);
  mn_model_destroy(&model);
  mn_context_destroy(&ctx);
  return (int)status;
}

const app_command app_check = {
    "check",
    "check SCENE [-p KEY=VALUE]... [--json]",
    "validate a scene and its first state without running it",
    NULL,
    1,
    options,
    check,
};
