#include "app.h"

#include <stdlib.h>
#include <unistd.h>

static const app_option options[] = {
    {"-o", "DIR", "directory of the results (default: runs/NAME)"},
    {"-p", "KEY=VALUE", "set a parameter of the scene; may be repeated"},
    {"--frames", "N", "frames instead of the scene's"},
    {"--until", "T", "end at this simulated time, s"},
    {"--threads", "N", "threads (default: all cores); results do not depend on it"},
    {"--quiet", NULL, "no progress"},
    {"--json", NULL, "progress as one JSON object per line"},
    {0},
};

typedef struct job {
  mn_context *ctx;
  mn_model *model;
  char *text;
  char folder[MN_PATH_MAX], directory[MN_PATH_MAX];
} job;

static mn_status load(job *j, const app_args *args)
{
  const char *scene = args->words[0], *out = app_get(args, "-o");
  mn_status status = mn_scene_load(j->ctx, scene, args->settings, args->setting_count, &j->model);
  if (status == MN_OK)
    status = mn_scene_text(j->ctx, scene, &j->text);
  if (status == MN_OK)
    status = mn_scene_folder(j->ctx, scene, j->folder);
  if (status == MN_OK)
    snprintf(j->directory, sizeof j->directory, out ? "%s" : "runs/%s",
             out ? out : mn_model_get(j->model)->name);
  return status;
}

/* Whether there is something to resume: a run stopped while its first state was made left nothing.
 */
static int holds_run(const char *directory)
{
  char path[MN_PATH_MAX + 16];
  snprintf(path, sizeof path, "%s/run.json", directory);
  return access(path, F_OK) == 0;
}

static int run(app_args *args)
{
  job j = {0};
  mn_run_def def = mn_run_def_default();
  if (args->word_count != 1)
    return app_error(MN_BAD_INPUT, "run needs a scene: meniscus %s", args->command->usage);
  int bad = app_get_int(args, "--frames", 0, 10000000, &def.frames);
  if (!bad)
    bad = app_get_number(args, "--until", &def.until);
  if (!bad)
    bad = app_context(args, &j.ctx);
  if (bad)
    return bad;
  int frames;
  double until;
  mn_status status = load(&j, args);
  if (status == MN_OK)
    status = mn_run_extent(j.ctx, j.model, &def, &frames, &until);
  if (status == MN_OK) {
    app_progress progress = app_progress_start(args, frames, until, mn_model_get(j.model));
    def.directory = j.directory;
    def.scene_text = j.text;
    def.scene_folder = j.folder;
    def.progress = app_progress_step;
    def.progress_user = &progress;
    app_catch_signals();
    status = mn_run(j.ctx, j.model, &def);
    app_progress_end(&progress, j.ctx, status, j.directory);
  }
  if (status != MN_OK)
    app_fail(j.ctx, status);
  if (status == MN_INTERRUPTED && holds_run(j.directory))
    app_error(0, "continue with: meniscus resume %s", j.directory);
  mn_model_destroy(&j.model);
  free(j.text);
  mn_context_destroy(&j.ctx);
  return (int)status;
}

const app_command app_run = {
    "run",
    "run SCENE [-o DIR] [-p KEY=VALUE]... [--frames N] [--until T] [--threads N] [--quiet] "
    "[--json]",
    "simulate a scene into a directory",
    "The directory gets run.json, steps.csv, probes.csv, frames/ (VTK), preview/ (PNG), "
    "report.html "
    "and checkpoint/.\nAn earlier run in it is replaced; a directory with anything else is "
    "refused. "
    "Ctrl-C writes a checkpoint\nand stops; a second Ctrl-C stops at once.",
    1,
    options,
    run,
};
