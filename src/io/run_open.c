/* What an earlier run left for a resume: its scene, its parameters, where it was to end. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/status.h"
#include "io/run_folder.h"
#include "io/run_record.h"
#include "meniscus/run.h"
#include "meniscus/scene.h"

static mn_status read_scene(mn_context *ctx, const char *directory, const mn_run_settings *s,
                            char **text)
{
  char path[MN_PATH_MAX], hash[20];
  size_t bytes;
  *text = NULL;
  if (!*s->scene_hash)
    return mn_fail(ctx, MN_BAD_INPUT,
                   "the run in %s was not made from a scene text: resume it from the program that "
                   "started it",
                   directory);
  MN_TRY(mn_path(ctx, path, "%s/scene.lua", directory));
  if (access(path, F_OK))
    return mn_fail(ctx, MN_BAD_INPUT,
                   "the run in %s has no scene.lua: it was stopped before it began; run it again",
                   directory);
  MN_TRY(mn_read_file(ctx, path, (size_t)1 << 26, text, &bytes));
  snprintf(hash, sizeof hash, "%016" PRIx64, mn_hash(MN_HASH_START, *text, bytes));
  if (strcmp(hash, s->scene_hash)) {
    mn_free(*text);
    *text = NULL;
    return mn_fail(ctx, MN_BAD_INPUT,
                   "%s is not the scene that this run was started with: to run a changed scene, "
                   "use run instead of resume",
                   path);
  }
  return MN_OK;
}

static mn_status load(mn_context *ctx, const mn_run_settings *s, const char *text, mn_model **model)
{
  mn_setting *settings = NULL;
  MN_TRY(MN_NEW(ctx, "parameters", (size_t)s->param_count + 1, &settings));
  for (int i = 0; i < s->param_count; i++)
    settings[i] = (mn_setting){s->params[i].name, s->params[i].value};
  mn_status status =
      mn_scene_load_text(ctx, s->scene, s->folder, text, settings, s->param_count, model);
  mn_free(settings);
  return status;
}

static mn_status check_shapes(mn_context *ctx, const char *directory, const mn_run_settings *s,
                              const mn_model *model)
{
  char hash[20];
  mn_shapes_hash(mn_model_get(model), hash);
  if (!strcmp(hash, s->shapes_hash))
    return MN_OK;
  return mn_fail(
      ctx, MN_BAD_INPUT,
      "the shapes of the scene are not those that the run in %s was started with: a mesh "
      "file has changed; use run instead of resume",
      directory);
}

mn_status mn_run_open(mn_context *ctx, const char *directory, mn_model **model)
{
  mn_run_settings s;
  char *text = NULL;
  *model = NULL;
  mn_status status = mn_settings_read(ctx, directory, &s);
  if (status == MN_OK)
    status = read_scene(ctx, directory, &s, &text);
  if (status == MN_OK)
    status = load(ctx, &s, text, model);
  if (status == MN_OK)
    status = check_shapes(ctx, directory, &s, *model);
  if (status != MN_OK)
    mn_model_destroy(model);
  mn_free(text);
  mn_free(s.params);
  return status;
}

mn_status mn_run_extent(mn_context *ctx, const mn_model *model, const mn_run_def *def, int *frames,
                        double *until)
{
  const mn_output_def *output = &mn_model_get(model)->output;
  if (def->resume && def->frames < 0 && def->until < 0) {
    mn_run_settings s;
    mn_status status = mn_settings_read(ctx, def->directory, &s);
    *frames = s.frames;
    *until = s.until;
    mn_free(s.params);
    return status;
  }
  *frames = def->frames >= 0 ? def->frames : output->frames;
  *until = *frames * output->every;
  if (def->until >= 0 && (def->frames < 0 || def->until < *until)) {
    *until = def->until;
    *frames = (int)floor(*until / output->every + 1e-9);
  }
  return MN_OK;
}
