#include "app.h"

static const app_option options[] = {
    {"--json", NULL, "one JSON object per line, with the parameters"}, {0}};

static void print_row(const app_args *args, const mn_model_def *def, int width)
{
  if (app_get(args, "--json")) {
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "name", def->name);
    cJSON_AddStringToObject(o, "title", def->title);
    cJSON_AddStringToObject(o, "reproduces", def->reproduces);
    cJSON_AddNumberToObject(o, "dim", def->domain.dim);
    cJSON *params = cJSON_AddArrayToObject(o, "parameters");
    for (int i = 0; i < def->param_count; i++) {
      cJSON *p = cJSON_CreateObject();
      cJSON_AddStringToObject(p, "name", def->params[i].name);
      cJSON_AddStringToObject(p, "default", def->params[i].initial);
      cJSON_AddStringToObject(p, "text", def->params[i].text);
      cJSON_AddItemToArray(params, p);
    }
    app_print_json(o);
    return;
  }
  printf("%-*s  %s%s%s%s\n", width, def->name, def->title, *def->reproduces ? " (" : "",
         def->reproduces, *def->reproduces ? ")" : "");
}

static int list(app_args *args)
{
  mn_context *ctx = NULL;
  int bad = app_context(args, &ctx), width = 0;
  if (bad)
    return bad;
  for (int i = 0; i < mn_builtin_scene_count(); i++) {
    int length = (int)snprintf(NULL, 0, "%s", mn_builtin_scene_name(i));
    width = length > width ? length : width;
  }
  mn_status status = MN_OK;
  for (int i = 0; status == MN_OK && i < mn_builtin_scene_count(); i++) {
    mn_model *model = NULL;
    status = mn_scene_load(ctx, mn_builtin_scene_name(i), NULL, 0, &model);
    if (status == MN_OK)
      print_row(args, mn_model_get(model), width);
    mn_model_destroy(&model);
  }
  if (status != MN_OK)
    app_fail(ctx, status);
  mn_context_destroy(&ctx);
  return (int)status;
}

const app_command app_list = {
    "list",
    "list [--json]",
    "the built-in scenes, with the figure or table they reproduce",
    "meniscus show SCENE prints one of them with its parameters, such as resolution and coupling.",
    0,
    options,
    list,
};
