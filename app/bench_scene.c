/* A scene run for a bench, step by step. */
#include "bench.h"

static int goes_on(const app_bench_job *job, const mn_world *world, int steps)
{
  return job->until > 0 ? mn_world_time(world) < job->until - 1e-9 : steps < job->substeps;
}

int app_bench_scene(const app_bench_run *bench, app_bench_job *job)
{
  mn_context *ctx;
  mn_model *model = NULL;
  mn_world *world = NULL;
  job->failed = job->steps = 0;
  int bad = app_context_of(bench->args, job->threads, &ctx);
  if (bad)
    return bad;
  mn_status status =
      job->text
          ? mn_scene_load_text(ctx, job->scene, "", job->text, job->settings, job->count, &model)
          : mn_scene_load(ctx, job->scene, job->settings, (size_t)job->count, &model);
  if (status == MN_OK)
    status = mn_world_create(ctx, model, &world);
  if (status != MN_OK)
    app_fail(ctx, status);
  else if (job->each)
    job->each(job->user, world, NULL);
  while (status == MN_OK && !job->failed && goes_on(job, world, job->steps)) {
    mn_step_info info = {0};
    double next = job->until > 0 ? job->until : mn_world_time(world) + 1;
    if (mn_world_step(world, next, &info) != MN_OK || (job->strict && info.diverged)) {
      job->failed = 1;
      snprintf(job->reason, sizeof job->reason, "%s",
               info.step ? "a substep diverged and was retried" : mn_context_message(ctx));
      break;
    }
    job->steps++;
    if (job->each)
      job->each(job->user, world, &info);
  }
  mn_world_destroy(&world);
  mn_model_destroy(&model);
  mn_context_destroy(&ctx);
  return (int)status;
}
