/* What several runs of a scene left, gathered into one table. */
#include <cjson/cJSON.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"
#include "io/compare_internal.h"
#include "io/run_folder.h"

/* ---- reading --------------------------------------------------------------------------------- */

static double number_of(const cJSON *object, const char *name)
{
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
  return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static int64_t count_of(const cJSON *object, const char *name)
{
  double value = number_of(object, name);
  return isfinite(value) ? (int64_t)value : 0;
}

static void text_of(const cJSON *object, const char *name, char *text, size_t size)
{
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
  snprintf(text, size, "%s", cJSON_IsString(item) ? item->valuestring : "");
}

static double worst_of(const cJSON *run, const char *name)
{
  const cJSON *list = cJSON_GetObjectItemCaseSensitive(run, "invariants");
  return number_of(cJSON_GetObjectItemCaseSensitive(list, name), "worst");
}

static void take(mn_comparison *c, int i, const cJSON *run)
{
  const cJSON *totals = cJSON_GetObjectItemCaseSensitive(run, "totals");
  const cJSON *coupling = cJSON_GetObjectItemCaseSensitive(run, "coupling");
  mn_compare_row *row = &c->rows[i];
  row->exit_status = (int)count_of(run, "exit_status");
  text_of(run, "exit_reason", row->reason, sizeof row->reason);
  text_of(coupling, "method", row->method, sizeof row->method);
  row->time = number_of(run, "time");
  row->frame = (int)count_of(run, "frame");
  row->wall_s = number_of(run, "wall_s");
  row->steps = count_of(totals, "steps");
  row->retries = count_of(totals, "retries");
  row->capped = count_of(coupling, "capped");
  row->diverged = count_of(coupling, "diverged");
  row->average_iterations = number_of(coupling, "average_iterations");
  row->most_iterations = number_of(coupling, "most_iterations");
  row->fluid_s = number_of(coupling, "fluid_s");
  row->solid_s = number_of(coupling, "solid_s");
  row->couple_s = number_of(coupling, "couple_s");
  row->imbalance = worst_of(run, "imbalance");
  row->volume_change = worst_of(run, "volume_change");
  c->points[i] = (size_t)count_of(coupling, "points");
}

/* Reads its run.json. *found: 0 if the run that failed for `reason` did not come so far, and what
   is there, if anything, is an earlier one's. */
static mn_status read_record(mn_comparison *c, int i, const char *reason, int *found)
{
  char path[MN_PATH_MAX], *text;
  size_t bytes;
  MN_TRY(mn_path(c->ctx, path, "%s/%s/run.json", c->what->directory, c->rows[i].name));
  *found = !reason || !access(path, F_OK);
  if (!*found)
    return MN_OK;
  MN_TRY(mn_read_file(c->ctx, path, (size_t)1 << 24, &text, &bytes));
  cJSON *run = cJSON_ParseWithLength(text, bytes);
  mn_free(text);
  if (!run)
    return mn_fail(c->ctx, MN_BAD_INPUT, "%s is not valid JSON", path);
  const cJSON *told = cJSON_GetObjectItemCaseSensitive(run, "exit_reason");
  *found = !reason || (cJSON_IsString(told) && !strcmp(told->valuestring, reason));
  if (*found)
    take(c, i, run);
  cJSON_Delete(run);
  return MN_OK;
}

static mn_status read_table(mn_comparison *c, int i, const char *file, mn_table *table)
{
  char path[MN_PATH_MAX];
  MN_TRY(mn_path(c->ctx, path, "%s/%s/%s", c->what->directory, c->rows[i].name, file));
  return access(path, F_OK) ? MN_OK : mn_table_read(c->ctx, path, table);
}

static double momentum_lost(const mn_table *steps)
{
  const double *force = mn_table_column(steps, "imbalance"), *dt = mn_table_column(steps, "dt");
  double sum = 0;
  for (size_t r = 0; force && dt && r < steps->rows; r++)
    sum += force[r] * dt[r];
  return force && dt ? sum : NAN;
}

static mn_status read_run(mn_comparison *c, int i)
{
  mn_compare_row *row = &c->rows[i];
  mn_table regions = {0};
  const char *reason = c->what->reasons ? c->what->reasons[i] : NULL;
  int found;
  MN_TRY(read_record(c, i, reason, &found));
  if (!found) {
    row->exit_status = MN_BAD_INPUT;
    snprintf(row->reason, sizeof row->reason, "%s", reason);
    return MN_OK;
  }
  MN_TRY(read_table(c, i, "steps.csv", &c->steps[i]));
  MN_TRY(read_table(c, i, "probes.csv", &c->probes[i]));
  MN_TRY(read_table(c, i, "regions.csv", &regions));
  row->momentum_lost = momentum_lost(&c->steps[i]);
  const double *error = mn_table_column(&regions, "volume_error");
  for (size_t r = 0; error && r < regions.rows; r++)
    row->volume_error = fmax(isnan(row->volume_error) ? 0 : row->volume_error, fabs(error[r]));
  mn_table_free(&regions);
  return MN_OK;
}

/* ---- the table ------------------------------------------------------------------------------- */

typedef struct column {
  const char *name;
  double value;
} column;

enum { COLUMNS = 19 };

static void columns_of(const mn_compare_row *r, column out[COLUMNS])
{
  const column all[COLUMNS] = {{"status", r->exit_status},
                               {"time", r->time},
                               {"frame", r->frame},
                               {"steps", (double)r->steps},
                               {"average_iterations", r->average_iterations},
                               {"most_iterations", r->most_iterations},
                               {"retries", (double)r->retries},
                               {"capped", (double)r->capped},
                               {"diverged", (double)r->diverged},
                               {"wall_s", r->wall_s},
                               {"fluid_s", r->fluid_s},
                               {"solid_s", r->solid_s},
                               {"couple_s", r->couple_s},
                               {"imbalance", r->imbalance},
                               {"momentum_lost", r->momentum_lost},
                               {"volume_change", r->volume_change},
                               {"volume_error", r->volume_error},
                               {"max_distance", r->max_distance},
                               {"rms_distance", r->rms_distance}};
  memcpy(out, all, sizeof all);
}

static mn_status write_csv(mn_comparison *c)
{
  char path[MN_PATH_MAX];
  mn_text o = {0};
  column columns[COLUMNS];
  for (int i = 0; i < c->count; i++) {
    const mn_compare_row *r = &c->rows[i];
    columns_of(r, columns);
    for (int k = 0; k < COLUMNS && !i; k++)
      mn_text_add(&o, "%s%s", k ? "," : "coupling,method,", columns[k].name);
    mn_text_add(&o, "%s%s,%s", i ? "" : ",reason\n", r->name, r->method);
    for (int k = 0; k < COLUMNS; k++)
      mn_text_add(&o, isfinite(columns[k].value) ? ",%.17g" : ",", columns[k].value);
    mn_text_add(&o, ",\"");
    for (const char *t = r->reason; *t; t++)
      mn_text_add(&o, *t == '"' ? "\"\"" : "%c", *t);
    mn_text_add(&o, "\"\n");
  }
  mn_status status = o.failed ? mn_fail(c->ctx, MN_ENVIRONMENT, "out of memory: compare.csv")
                              : mn_path(c->ctx, path, "%s/compare.csv", c->what->directory);
  if (status == MN_OK)
    status = mn_write_file(c->ctx, path, o.data, o.size);
  mn_text_free(&o);
  return status;
}

static mn_status write_json(mn_comparison *c)
{
  char path[MN_PATH_MAX];
  column columns[COLUMNS];
  cJSON *root = cJSON_CreateObject();
  cJSON_AddStringToObject(root, "program", "meniscus");
  cJSON_AddStringToObject(root, "version", mn_version());
  cJSON_AddStringToObject(root, "scene", c->def->name);
  cJSON *params = cJSON_AddObjectToObject(root, "parameters");
  for (int i = 0; i < c->def->param_count; i++)
    if (strcmp(c->def->params[i].name, "coupling"))
      cJSON_AddStringToObject(params, c->def->params[i].name, c->def->params[i].value);
  cJSON *rows = cJSON_AddArrayToObject(root, "couplings");
  for (int i = 0; i < c->count; i++) {
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "coupling", c->rows[i].name);
    cJSON_AddStringToObject(o, "method", c->rows[i].method);
    columns_of(&c->rows[i], columns);
    for (int k = 0; k < COLUMNS; k++)
      cJSON_AddNumberToObject(o, columns[k].name, columns[k].value); /* null unless finite */
    cJSON_AddStringToObject(o, "reason", c->rows[i].reason);
    cJSON_AddItemToArray(rows, o);
  }
  cJSON *pictures = cJSON_AddArrayToObject(root, "picture_times");
  for (int i = 0; i < c->picture_count; i++)
    cJSON_AddItemToArray(pictures, cJSON_CreateNumber(c->picture[i] * c->def->output.every));
  char *text = cJSON_Print(root);
  cJSON_Delete(root);
  if (!text)
    return mn_fail(c->ctx, MN_ENVIRONMENT, "out of memory: compare.json");
  mn_status status = mn_path(c->ctx, path, "%s/compare.json", c->what->directory);
  if (status == MN_OK)
    status = mn_write_file(c->ctx, path, text, strlen(text));
  cJSON_free(text);
  return status;
}

/* ---- all of it ------------------------------------------------------------------------------- */

void mn_compare_sweep(const char *folder, const char *prefix, const char *suffix, int last)
{
  size_t start = strlen(prefix);
  DIR *dir = opendir(folder);
  for (struct dirent *e; dir && (e = readdir(dir));) {
    char *end = NULL;
    if (strncmp(e->d_name, prefix, start) || e->d_name[start] < '0' || e->d_name[start] > '9')
      continue;
    long number = strtol(e->d_name + start, &end, 10);
    if (number > last && !strcmp(end, suffix))
      unlinkat(dirfd(dir), e->d_name, 0);
  }
  if (dir)
    closedir(dir);
}

static mn_status gather(mn_comparison *c)
{
  MN_TRY(mn_make_folder(c->ctx, c->what->directory));
  for (int i = 0; i < c->count; i++)
    MN_TRY(read_run(c, i));
  MN_TRY(mn_compare_interfaces(c));
  MN_TRY(mn_compare_pictures(c));
  MN_TRY(write_csv(c));
  MN_TRY(write_json(c));
  return mn_compare_page(c);
}

mn_status mn_compare(mn_context *ctx, const mn_model *model, const mn_compare_def *def,
                     mn_compare_row *rows)
{
  if (def->count < 1 || def->count > MN_COMPARE_MAX)
    return mn_fail(ctx, MN_BAD_INPUT, "a comparison of %d runs: must be from 1 to %d", def->count,
                   MN_COMPARE_MAX);
  if (def->time_count < 0 || def->time_count > MN_COMPARE_PICTURES)
    return mn_fail(ctx, MN_BAD_INPUT, "pictures at %d times: must be at most %d", def->time_count,
                   MN_COMPARE_PICTURES);
  mn_comparison c = {
      .ctx = ctx, .def = mn_model_get(model), .what = def, .count = def->count, .rows = rows};
  for (int i = 0; i < c.count; i++) {
    rows[i] = (mn_compare_row){.average_iterations = NAN,
                               .most_iterations = NAN,
                               .wall_s = NAN,
                               .fluid_s = NAN,
                               .solid_s = NAN,
                               .couple_s = NAN,
                               .imbalance = NAN,
                               .momentum_lost = NAN,
                               .volume_change = NAN,
                               .volume_error = NAN,
                               .max_distance = NAN,
                               .rms_distance = NAN};
    snprintf(rows[i].name, sizeof rows[i].name, "%s", def->names[i]);
  }
  mn_status status = gather(&c);
  for (int i = 0; i < c.count; i++) {
    mn_table_free(&c.steps[i]);
    mn_table_free(&c.probes[i]);
  }
  mn_table_free(&c.differences);
  return status;
}
