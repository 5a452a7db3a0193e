#include "app.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const app_option options[] = {
    {"--couplings", "A,B,...",
     "couplings to compare: weak, relaxed, aitken, rmi, xpm, simultaneous, monolithic, auto"},
    {"--at", "T,...", "times of the pictures, s (default: six, evenly spread)"},
    {"-o", "DIR", "directory of the results (default: runs/NAME-compare)"},
    {"-p", "KEY=VALUE", "set a parameter of the scene; may be repeated"},
    {"--frames", "N", "frames instead of the scene's"},
    {"--until", "T", "end at this simulated time, s"},
    {"--threads", "N", "threads (default: all cores); results do not depend on it"},
    {"--quiet", NULL, "no progress"},
    {"--json", NULL, "progress as one JSON object per line"},
    {0},
};

enum { TIMES_MAX = 24 };

typedef struct job {
  mn_context *ctx;
  app_args *args;
  mn_run_def def;
  int count;
  char list[256];
  const char *name[MN_COMPARE_MAX];
  mn_model *model[MN_COMPARE_MAX];
  char *text;
  char folder[MN_PATH_MAX], directory[MN_PATH_MAX];
  char *reason[MN_COMPARE_MAX]; /* of a run that failed; NULL: it did not */
  double time[TIMES_MAX];
  int time_count;
} job;

/* What happens at each step of a run. */
typedef struct watch {
  app_progress progress;
  const job *j;
  const char *name;
  int frame;
  mn_status status; /* of keeping the interface */
} watch;

/* The names between the commas; they become folders. */
static int split(job *j, const char *list)
{
  if (!list || !*list)
    return app_error(MN_BAD_INPUT, "compare needs --couplings A,B,...; for example "
                                   "--couplings relaxed,aitken,rmi,xpm");
  if (strlen(list) >= sizeof j->list)
    return app_error(MN_BAD_INPUT, "compare: --couplings is too long");
  strcpy(j->list, list);
  for (char *at = j->list, *next; at; at = next) {
    next = strchr(at, ',');
    if (next)
      *next++ = 0;
    at += strspn(at, " "); /* "xpm, auto" */
    size_t length = strlen(at);
    if (!length || length >= MN_NAME_MAX ||
        strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_-") != length)
      return app_error(MN_BAD_INPUT, "compare: --couplings holds \"%s\": must be names", at);
    for (int i = 0; i < j->count; i++)
      if (!strcmp(j->name[i], at))
        return app_error(MN_BAD_INPUT, "compare: --couplings holds \"%s\" twice", at);
    if (j->count == MN_COMPARE_MAX)
      return app_error(MN_BAD_INPUT, "compare: --couplings holds more than %d names",
                       MN_COMPARE_MAX);
    j->name[j->count++] = at;
  }
  return 0;
}

static int split_times(job *j, const char *list)
{
  for (const char *at = list; at;) {
    char *end;
    double t = strtod(at, &end);
    if (end == at || (*end && *end != ',') || !isfinite(t) || t < 0)
      return app_error(MN_BAD_INPUT, "compare: --at holds \"%s\": must be times in s, from 0 on",
                       at);
    if (j->time_count == TIMES_MAX)
      return app_error(MN_BAD_INPUT, "compare: --at holds more than %d times", (int)TIMES_MAX);
    j->time[j->time_count++] = t;
    at = *end ? end + 1 : NULL;
  }
  return 0;
}

/* The pictures' times lie within the runs. */
static mn_status check_times(const job *j)
{
  int frames;
  double until, every = mn_model_get(j->model[0])->output.every;
  mn_status status = mn_run_extent(j->ctx, j->model[0], &j->def, &frames, &until);
  if (status != MN_OK)
    app_fail(j->ctx, status);
  for (int k = 0; k < j->time_count && status == MN_OK; k++)
    if (j->time[k] > until + 0.5 * every) {
      app_error(0,
                "compare: --at holds %g: the runs end at %g s; take times up to that, or a larger "
                "--until",
                j->time[k], until);
      status = MN_BAD_INPUT;
    }
  return status;
}

/* Names that the scene takes for one method. */
static void tell_same(const job *j)
{
  for (int i = 1; i < j->count; i++)
    for (int k = 0; k < i; k++)
      if (mn_model_get(j->model[i])->coupling.method ==
          mn_model_get(j->model[k])->coupling.method) {
        app_error(0,
                  "compare: %s and %s are one method in this scene: is its parameter coupling the "
                  "method of its couple{}?",
                  j->name[k], j->name[i]);
        return;
      }
}

/* All of them before the first runs: what is wrong with one is told at once. */
static mn_status load(job *j)
{
  const char *scene = j->args->words[0], *out = app_get(j->args, "-o");
  mn_setting settings[APP_SETTINGS_MAX + 1];
  int count = j->args->setting_count;
  memcpy(settings, j->args->settings, (size_t)count * sizeof *settings);
  mn_status status = mn_scene_text(j->ctx, scene, &j->text);
  if (status == MN_OK)
    status = mn_scene_folder(j->ctx, scene, j->folder);
  for (int i = 0; i < j->count && status == MN_OK; i++) {
    settings[count] = (mn_setting){"coupling", j->name[i]};
    status = mn_scene_load(j->ctx, scene, settings, count + 1, &j->model[i]);
  }
  if (status == MN_OK)
    tell_same(j);
  if (status == MN_OK)
    snprintf(j->directory, sizeof j->directory, out ? "%s" : "runs/%s-compare",
             out ? out : mn_model_get(j->model[0])->name);
  if (status == MN_OK)
    return check_times(j);
  app_fail(j->ctx, status);
  if (strstr(mn_context_message(j->ctx), "unknown parameter coupling"))
    app_error(0, "compare needs a scene with a fluid, bodies, and a parameter coupling that is the "
                 "method of its couple{}; piston and cloth-in-smoke are such scenes");
  return status;
}

static void at_step(void *user, const mn_world *world, const mn_step_info *info)
{
  watch *w = user;
  app_progress_step(&w->progress, world, info);
  if (mn_world_frame(world) > w->frame && w->status == MN_OK)
    w->status = mn_compare_note(world, w->j->directory, w->name);
  w->frame = mn_world_frame(world);
}

static mn_status run_one(job *j, int i)
{
  char directory[MN_PATH_MAX + MN_NAME_MAX];
  int frames;
  double until;
  snprintf(directory, sizeof directory, "%s/%s", j->directory, j->name[i]);
  j->def.directory = directory;
  mn_status status = mn_run_extent(j->ctx, j->model[i], &j->def, &frames, &until);
  if (status != MN_OK)
    return status;
  watch w = {.progress = app_progress_start(j->args, frames, until, mn_model_get(j->model[i])),
             .j = j,
             .name = j->name[i]};
  if (w.progress.mode == APP_LIVE || w.progress.mode == APP_PLAIN)
    printf("coupling %s\n", j->name[i]);
  j->def.progress = at_step;
  j->def.progress_user = &w;
  status = mn_run(j->ctx, j->model[i], &j->def);
  if (status == MN_OK)
    status = w.status;
  app_progress_end(&w.progress, j->ctx, status, directory);
  if (status != MN_OK)
    app_error(0, "coupling %s: %s", j->name[i], mn_context_message(j->ctx));
  return status;
}

/* Distance: of the interface, in cells. */
static void print_row(const mn_compare_row *r, const mn_compare_row *first)
{
  char distance[32] = "-", name[2 * MN_NAME_MAX + 4];
  int picked = *r->method && strcmp(r->method, r->name);
  snprintf(name, sizeof name, picked ? "%s (%s)" : "%s", r->name, r->method);
  if (r->exit_status == MN_BAD_INPUT) {
    printf("%-18s refused: %s\n", r->name, r->reason);
    return;
  }
  if (r != first && isfinite(r->max_distance))
    snprintf(distance, sizeof distance, "%.3g", r->max_distance);
  printf("%-18s %-7s %7.4g s %9lld %11.2f %6.0f %7lld %9lld %7.3g s %9s\n", name,
         r->exit_status == MN_INTERRUPTED ? "stopped"
         : r->exit_status                 ? "failed"
                                          : "done",
         r->time, (long long)r->steps, r->average_iterations, r->most_iterations,
         (long long)r->capped, (long long)r->diverged, r->wall_s, distance);
}

static void print_rows(const job *j, const mn_compare_row *rows)
{
  int json = app_get(j->args, "--json") != NULL;
  if (!json && !app_get(j->args, "--quiet"))
    printf("%-18s %-7s %9s %9s %11s %6s %7s %9s %9s %9s\n", "coupling", "", "time", "substeps",
           "iterations", "most", "capped", "diverged", "wall", "distance");
  for (int i = 0; i < j->count; i++) {
    const mn_compare_row *r = &rows[i];
    if (!json) {
      if (!app_get(j->args, "--quiet"))
        print_row(r, rows);
      continue;
    }
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "event", "compared");
    cJSON_AddStringToObject(o, "coupling", r->name);
    cJSON_AddNumberToObject(o, "status", r->exit_status);
    cJSON_AddStringToObject(o, "reason", r->reason);
    cJSON_AddNumberToObject(o, "time", r->time);
    cJSON_AddNumberToObject(o, "steps", (double)r->steps);
    cJSON_AddNumberToObject(o, "average_iterations", r->average_iterations);
    cJSON_AddNumberToObject(o, "most_iterations", r->most_iterations);
    cJSON_AddNumberToObject(o, "capped", (double)r->capped);
    cJSON_AddNumberToObject(o, "diverged", (double)r->diverged);
    cJSON_AddNumberToObject(o, "wall_s", r->wall_s);
    cJSON_AddStringToObject(o, "method", r->method);
    cJSON_AddNumberToObject(o, "imbalance", r->imbalance); /* null unless finite */
    cJSON_AddNumberToObject(o, "momentum_lost", r->momentum_lost);
    cJSON_AddNumberToObject(o, "volume_change", r->volume_change);
    cJSON_AddNumberToObject(o, "volume_error", r->volume_error);
    cJSON_AddNumberToObject(o, "max_distance", r->max_distance);
    cJSON_AddNumberToObject(o, "rms_distance", r->rms_distance);
    app_print_json(o);
  }
  if (!json && !app_get(j->args, "--quiet"))
    printf("compared: %s/report.html\n", j->directory);
}

/* Runs them all. A coupling that fails, or that cannot couple such a scene, is a result; anything
   else (a full disk, an interrupt) ends the comparison with those that ran. */
static mn_status run_all(job *j)
{
  int refused = 0;
  mn_status worst = MN_OK;
  for (int i = 0; i < j->count; i++) {
    mn_status status = run_one(j, i);
    if (status == MN_OK)
      continue;
    j->reason[i] = strdup(mn_context_message(j->ctx));
    if (status != MN_FAILED && status != MN_BAD_INPUT) {
      for (int k = i + 1; k < j->count; k++)
        app_error(0, "coupling %s: not run, for the comparison was stopped", j->name[k]);
      j->count = i + 1;
      return status;
    }
    refused += status == MN_BAD_INPUT;
    worst = MN_FAILED;
  }
  return refused == j->count ? MN_BAD_INPUT : worst;
}

static mn_status compare(job *j)
{
  mn_compare_row rows[MN_COMPARE_MAX];
  mn_status status = load(j);
  if (status != MN_OK)
    return status;
  j->def.scene_text = j->text;
  j->def.scene_folder = j->folder;
  app_catch_signals();
  mn_status worst = run_all(j);
  if (worst == MN_BAD_INPUT)
    return worst;
  mn_compare_def what = {.directory = j->directory,
                         .names = j->name,
                         .reasons = (const char *const *)j->reason,
                         .count = j->count,
                         .times = j->time,
                         .time_count = j->time_count};
  status = mn_compare(j->ctx, j->model[0], &what, rows);
  if (status != MN_OK) {
    app_fail(j->ctx, status);
    return worst == MN_OK || worst == MN_FAILED ? status : worst;
  }
  print_rows(j, rows);
  return worst;
}

static int run(app_args *args)
{
  job j = {.args = args, .def = mn_run_def_default()};
  if (args->word_count != 1)
    return app_error(MN_BAD_INPUT, "compare needs a scene: meniscus %s", args->command->usage);
  int bad = split(&j, app_get(args, "--couplings"));
  if (!bad)
    bad = split_times(&j, app_get(args, "--at"));
  for (int i = 0; i < args->setting_count && !bad; i++)
    if (!strcmp(args->settings[i].name, "coupling"))
      bad = app_error(MN_BAD_INPUT, "compare: -p coupling=... is what --couplings sets");
  if (!bad)
    bad = app_get_int(args, "--frames", 0, 10000000, &j.def.frames);
  if (!bad)
    bad = app_get_number(args, "--until", &j.def.until);
  if (!bad)
    bad = app_context(args, &j.ctx);
  if (bad)
    return bad;
  mn_status status = compare(&j);
  for (int i = 0; i < MN_COMPARE_MAX; i++) {
    mn_model_destroy(&j.model[i]);
    free(j.reason[i]);
  }
  free(j.text);
  mn_context_destroy(&j.ctx);
  return (int)status;
}

const app_command app_compare = {
    "compare",
    "compare SCENE --couplings A,B,... [--at T,...] [-o DIR] [-p KEY=VALUE]... [--frames N] "
    "[--until T] [--threads N] [--quiet] [--json]",
    "one scene under several couplings, one report",
    "Runs the scene once for each coupling into DIR/NAME and writes DIR/report.html: pictures side "
    "by side\n(also in DIR/pictures), how far the interface is from that of the first coupling, "
    "iterations, time,\nconservation and probes of all in the same plots; compare.csv, "
    "compare.json and differences.csv hold the\nnumbers. A coupling that fails, or that "
    "refuses such a scene, is reported with its sentence, and\nthe others go on; the exit status "
    "is then 1. It is 2 if all refuse it, and if a name is wrong.",
    1,
    options,
    run,
};
