#include "app.h"

#include <time.h>
#include <unistd.h>

static const double LIVE_INTERVAL = 0.1; /* s between two updates of the live line */

static double seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

app_progress app_progress_start(const app_args *args, int frames, double until,
                                const mn_model_def *model)
{
  int bodies = model->body_count > 0 || *model->solid_plugin.file;
  app_progress p = {.frames = frames,
                    .coupled = bodies && model->fluid.kind != MN_FLUID_NONE,
                    .until = until,
                    .every = model->output.every,
                    .wall_start = seconds()};
  p.mode = app_get(args, "--json")    ? APP_JSON
           : app_get(args, "--quiet") ? APP_QUIET
           : isatty(STDOUT_FILENO)    ? APP_LIVE
                                      : APP_PLAIN;
  return p;
}

/* From the simulated time covered in this session. */
static double eta(const app_progress *p, double time)
{
  double done = time - p->time_start, rest = p->until - time;
  return done > 0 && rest > 0 ? (seconds() - p->wall_start) * rest / done : 0;
}

static void eta_text(double s, char text[32])
{
  int whole = s < 359999 ? (int)(s + 0.5) : 359999;
  if (whole >= 3600)
    snprintf(text, 32, "%d:%02d:%02d", whole / 3600, whole / 60 % 60, whole % 60);
  else
    snprintf(text, 32, "%d:%02d", whole / 60, whole % 60);
}

static void print_line(const app_progress *p, const mn_world *world, const mn_step_info *info,
                       const char *before, const char *after)
{
  char left[32], coupling[32] = "";
  eta_text(eta(p, info->time), left);
  if (p->coupled)
    snprintf(coupling, sizeof coupling, "  coupling %d", p->coupling_iterations);
  printf("%sframe %d/%d  time %.4g s  dt %.3g s  substeps %d%s  ETA %s%s", before,
         mn_world_frame(world), p->frames, info->time, info->dt, p->substeps, coupling, left,
         after);
  fflush(stdout);
}

static void print_object(const app_progress *p, const mn_world *world, const mn_step_info *info)
{
  cJSON *o = cJSON_CreateObject();
  cJSON_AddStringToObject(o, "event", "frame");
  cJSON_AddNumberToObject(o, "frame", mn_world_frame(world));
  cJSON_AddNumberToObject(o, "frames", p->frames);
  cJSON_AddNumberToObject(o, "time", info->time);
  cJSON_AddNumberToObject(o, "dt", info->dt);
  cJSON_AddNumberToObject(o, "step", (double)info->step);
  cJSON_AddNumberToObject(o, "substeps", p->substeps);
  cJSON_AddNumberToObject(o, "coupling_iterations", p->coupling_iterations);
  cJSON_AddNumberToObject(o, "retries", p->retries);
  cJSON_AddNumberToObject(o, "eta_s", eta(p, info->time));
  app_print_json(o);
}

void app_progress_step(void *progress, const mn_world *world, const mn_step_info *info)
{
  app_progress *p = progress;
  if (!p->started) {
    p->started = 1;
    p->time_start = info->time - info->dt;
    p->frame = (int)(p->time_start / p->every + 1e-6); /* complete before this step */
  }
  p->substeps++;
  p->coupling_iterations += info->coupling_iterations;
  p->retries += info->retries;
  int frame = mn_world_frame(world);
  int complete = frame > p->frame;
  double now = seconds();
  if (p->mode == APP_LIVE && (complete || now - p->shown_at > LIVE_INTERVAL)) {
    print_line(p, world, info, "\r", "\033[K");
    p->shown_at = now;
  }
  if (!complete)
    return;
  if (p->mode == APP_PLAIN)
    print_line(p, world, info, "", "\n");
  if (p->mode == APP_JSON)
    print_object(p, world, info);
  p->frame = frame;
  p->substeps = p->coupling_iterations = p->retries = 0;
}

void app_progress_end(app_progress *p, const mn_context *ctx, mn_status status,
                      const char *directory)
{
  if (p->mode == APP_LIVE && p->started)
    printf("\n");
  if (p->mode == APP_JSON) {
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "event", "end");
    cJSON_AddNumberToObject(o, "status", (double)status);
    cJSON_AddStringToObject(o, "reason", status == MN_OK ? "done" : mn_context_message(ctx));
    cJSON_AddStringToObject(o, "directory", directory);
    cJSON_AddNumberToObject(o, "wall_s", seconds() - p->wall_start);
    app_print_json(o);
  } else if (p->mode != APP_QUIET && status == MN_OK && p->started) {
    printf("done in %.1f s: %s/report.html\n", seconds() - p->wall_start, directory);
  }
  fflush(stdout);
}
