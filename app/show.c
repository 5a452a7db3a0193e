#include "app.h"

#include <stdlib.h>
#include <string.h>

static const app_option options[] = {
    {"--reference", NULL, "print the reference of all scene keys (Markdown) instead"},
    {0},
};

/* The output as a whole is a scene: what is added to its text are comments. */
static void print_scene(const mn_model_def *def, const char *text)
{
  size_t bytes = strlen(text);
  printf("%s%s", text, bytes && text[bytes - 1] == '\n' ? "" : "\n");
  if (def->param_count)
    printf("\n-- Parameters of %s, set with -p NAME=VALUE:\n", def->name);
  for (int i = 0; i < def->param_count; i++)
    printf("--   %-16s %-12s %s\n", def->params[i].name, def->params[i].initial,
           def->params[i].text);
}

static mn_status show_scene(mn_context *ctx, const char *scene)
{
  mn_model *model = NULL;
  char *text = NULL;
  mn_status status = mn_scene_load(ctx, scene, NULL, 0, &model);
  if (status == MN_OK)
    status = mn_scene_text(ctx, scene, &text);
  if (status == MN_OK)
    print_scene(mn_model_get(model), text);
  free(text);
  mn_model_destroy(&model);
  return status;
}

static mn_status show_reference(mn_context *ctx)
{
  char *text = NULL;
  mn_status status = mn_scene_reference(ctx, &text);
  if (status == MN_OK)
    fputs(text, stdout);
  free(text);
  return status;
}

static int show(app_args *args)
{
  mn_context *ctx = NULL;
  int reference = app_get(args, "--reference") != NULL;
  if (args->word_count != !reference)
    return app_error(MN_BAD_INPUT, "show needs a scene or --reference: meniscus %s",
                     args->command->usage);
  int bad = app_context(args, &ctx);
  if (bad)
    return bad;
  mn_status status = reference ? show_reference(ctx) : show_scene(ctx, args->words[0]);
  if (status != MN_OK)
    app_fail(ctx, status);
  mn_context_destroy(&ctx);
  return (int)status;
}

const app_command app_show = {
    "show",
    "show SCENE | show --reference",
    "print a scene, its parameters and their defaults",
    NULL,
    1,
    options,
    show,
};
