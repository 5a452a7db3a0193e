#include "app.h"

static const app_option options[] = {
    {"--from-frame", "N", "from the checkpoint of that frame (output.checkpoint_keep keeps some)"},
    {"--frames", "N", "frames instead of those asked for before"},
    {"--until", "T", "end at this simulated time, s"},
    {"--threads", "N", "threads (default: all cores); results do not depend on it"},
    {"--quiet", NULL, "no progress"},
    {"--json", NULL, "progress as one JSON object per line"},
    {0},
};

static int resume(app_args *args)
{
  mn_context *ctx = NULL;
  mn_model *model = NULL;
  mn_run_def def = mn_run_def_default();
  int frames;
  double until;
  if (args->word_count != 1)
    return app_error(MN_BAD_INPUT, "resume needs the directory of a run: meniscus %s",
                     args->command->usage);
  int bad = app_get_int(args, "--from-frame", 0, 10000000, &def.from_frame);
  if (!bad)
    bad = app_get_int(args, "--frames", 0, 10000000, &def.frames);
  if (!bad)
    bad = app_get_number(args, "--until", &def.until);
  if (!bad)
    bad = app_context(args, &ctx);
  if (bad)
    return bad;
  def.directory = args->words[0];
  def.resume = 1;
  mn_status status = mn_run_open(ctx, def.directory, &model);
  if (status == MN_OK)
    status = mn_run_extent(ctx, model, &def, &frames, &until);
  if (status == MN_OK) {
    app_progress progress = app_progress_start(args, frames, until, mn_model_get(model));
    def.progress = app_progress_step;
    def.progress_user = &progress;
    app_catch_signals();
    status = mn_run(ctx, model, &def);
    app_progress_end(&progress, ctx, status, def.directory);
  }
  if (status != MN_OK)
    app_fail(ctx, status);
  if (status == MN_INTERRUPTED)
    app_error(0, "continue with: meniscus resume %s", def.directory);
  mn_model_destroy(&model);
  mn_context_destroy(&ctx);
  return (int)status;
}

const app_command app_resume = {
    "resume",
    "resume DIR [--from-frame N] [--frames N] [--until T] [--threads N] [--quiet] [--json]",
    "continue a run from its last checkpoint",
    "The result has the same bits as that of a run that was never stopped. If the newest "
    "checkpoint "
    "is damaged,\nthe one before is used. A run ends where it was asked to "
    "end when it was started,\nunless --frames or --until say otherwise; one that has come there "
    "is "
    "left as it is.",
    1,
    options,
    resume,
};
