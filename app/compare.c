#include "app.h"

#include <stdlib.h>
#include <string.h>

static const app_option options[] = {
    {"--couplings", "A,B,...", "couplings to compare: values of the scene's parameter coupling"},
    {"-o", "DIR", "directory of the results (default: runs/NAME-compare)"},
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
  app_args *args;
  mn_run_def def;
  int count;
  char list[256];
  const char *name[MN_COMPARE_MAX];
  mn_model *model[MN_COMPARE_MAX];
  char *text;
  char folder[MN_PATH_MAX], directory[MN_PATH_MAX];
} job;

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
    snprintf(j->directory, sizeof j->directory, out ? "%s" : "runs/%s-compare",
             out ? out : mn_model_get(j->model[0])->name);
  return status;
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
  app_progress progress = app_progress_start(j->args, frames, until, mn_model_get(j->model[i]));
  if (progress.mode == APP_LIVE || progress.mode == APP_PLAIN)
    printf("coupling %s\n", j->name[i]);
  j->def.progress = app_progress_step;
  j->def.progress_user = &progress;
  status = mn_run(j->ctx, j->model[i], &j->def);
  app_progress_end(&progress, j->ctx, status, directory);
  if (status != MN_OK)
    app_error(0, "coupling %s: %s", j->name[i], mn_context_message(j->ctx));
  return status;
}

static void print_rows(const job *j, const mn_compare_row *rows)
{
  int json = app_get(j->args, "--json") != NULL;
  if (!json && !app_get(j->args, "--quiet"))
    printf("%-10s %-7s %9s %9s %11s %6s %7s %9s %9s\n", "coupling", "", "time", "substeps",
           "iterations", "most", "capped", "diverged", "wall");
  for (int i = 0; i < j->count; i++) {
    const mn_compare_row *r = &rows[i];
    if (!json) {
      if (!app_get(j->args, "--quiet"))
        printf("%-10s %-7s %7.4g s %9lld %11.2f %6.0f %7lld %9lld %7.3g s\n", r->name,
               r->exit_status ? "failed" : "done", r->time, (long long)r->steps,
               r->average_iterations, r->most_iterations, (long long)r->capped,
               (long long)r->diverged, r->wall_s);
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
    app_print_json(o);
  }
  if (!json && !app_get(j->args, "--quiet"))
    printf("compared: %s/report.html\n", j->directory);
}

/* A coupling that fails is a result; anything else ends the comparison. */
static mn_status compare(job *j)
{
  mn_compare_row rows[MN_COMPARE_MAX];
  mn_status worst = MN_OK, status = load(j);
  if (status != MN_OK) {
    app_fail(j->ctx, status);
    return status;
  }
  j->def.scene_text = j->text;
  j->def.scene_folder = j->folder;
  app_catch_signals();
  for (int i = 0; i < j->count; i++) {
    status = run_one(j, i);
    if (status != MN_OK && status != MN_FAILED)
      return status;
    worst = status == MN_FAILED ? status : worst;
  }
  status = mn_compare(j->ctx, j->model[0], j->directory, j->name, j->count, rows);
  if (status != MN_OK) {
    app_fail(j->ctx, status);
    return status;
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
  for (int i = 0; i < j.count; i++)
    mn_model_destroy(&j.model[i]);
  free(j.text);
  mn_context_destroy(&j.ctx);
  return (int)status;
}

const app_command app_compare = {
    "compare",
    "compare SCENE --couplings A,B,... [-o DIR] [-p KEY=VALUE]... [--frames N] [--until T] "
    "[--threads N] [--quiet] [--json]",
    "one scene under several couplings, one report",
    "Runs the scene once for each coupling into DIR/NAME and writes DIR/report.html, with the "
    "iterations,\nresiduals and probes of all in the same plots. A coupling that fails is "
    "reported with its sentence, and\nthe others go on; the exit status is then 1.",
    1,
    options,
    run,
};
