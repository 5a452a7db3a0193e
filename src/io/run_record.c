#include "io/run_record.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/status.h"
#include "io/run_folder.h"
#include "world/world.h"

static const struct {
  const char *name, *unit, *text;
} invariants[MN_INVARIANTS] = {
    {"divergence", "1/s", "greatest |div u| after a pressure solve"},
    {"pressure_residual", "Pa/m^2", "greatest residual of a pressure solve"},
    {"net_flow", "m^3/s", "greatest net flow into a closed region on the grid, mended there"},
    {"volume_change", "m^3", "greatest change of the fluid's volume"},
    {"suction", "Pa", "greatest pressure below 0 at a separating wall: -(least_pressure)"},
    {"squeeze", "1/s", "greatest convergence of the flow at a separating wall: -(least_slack)"},
    {"complementarity", "", "greatest |p . slack| / (||p|| ||b||) at separating walls"},
    {"coupling_residual", "m", "greatest motion of the interface left in an accepted substep"},
    {"imbalance", "N", "greatest difference between the force of the fluid and that on the bodies"},
};

/* ---- totals and worst values ----------------------------------------------------------------- */

void mn_record_tries(mn_record *r, const mn_step_info *info)
{
  r->retries += info->retries;
  r->capped += info->capped;
  r->diverged += info->diverged;
}

void mn_record_add(mn_record *r, const mn_step_info *info)
{
  if (r->first_volume < 0)
    r->first_volume = info->fluid_volume;
  const double value[MN_INVARIANTS] = {
      [MN_WORST_DIVERGENCE] = fabs(info->pressure.divergence),
      [MN_WORST_RESIDUAL] = fabs(info->pressure.residual),
      [MN_WORST_NET_FLOW] = fabs(info->pressure.net_flow),
      [MN_WORST_VOLUME] = fabs(info->fluid_volume - r->first_volume),
      [MN_WORST_SUCTION] = fmax(0, -info->pressure.least_p),
      [MN_WORST_SQUEEZE] = fmax(0, -info->pressure.least_slack),
      [MN_WORST_COMPLEMENTARITY] = info->pressure.complementarity,
      [MN_WORST_COUPLING] = info->coupling_residual,
      [MN_WORST_IMBALANCE] = info->imbalance,
  };
  r->steps++;
  mn_record_tries(r, info);
  r->handed_over += info->handed_over;
  r->pressure_iterations += info->pressure.iterations;
  r->coupling_iterations += info->coupling_iterations;
  if (info->coupling_iterations > r->most_iterations)
    r->most_iterations = info->coupling_iterations;
  r->fluid_s += info->fluid_s;
  r->solid_s += info->solid_s;
  r->couple_s += info->couple_s;
  r->other_s += info->other_s;
  for (int i = 0; i < MN_INVARIANTS; i++)
    if (!r->worst[i].step || value[i] > r->worst[i].value)
      r->worst[i] = (mn_worst){value[i], info->time, info->step};
}

/* Exact, unlike a JSON number. */
static void add_exact(cJSON *object, const char *name, double value)
{
  char hex[40];
  snprintf(hex, sizeof hex, "%a", value);
  cJSON_AddStringToObject(object, name, hex);
}

static double get_exact(const cJSON *object, const char *name)
{
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
  return cJSON_IsString(item) ? strtod(item->valuestring, NULL) : 0;
}

static int64_t get_count(const cJSON *object, const char *name)
{
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
  return cJSON_IsNumber(item) ? (int64_t)item->valuedouble : 0;
}

static double get_number(const cJSON *object, const char *name)
{
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
  return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

/* Text of `root`, which is deleted, in memory of mn_alloc. */
static mn_status print(mn_context *ctx, cJSON *root, char **out)
{
  char *text = cJSON_Print(root);
  cJSON_Delete(root);
  if (!text)
    return mn_fail(ctx, MN_ENVIRONMENT, "out of memory: JSON text");
  size_t bytes = strlen(text);
  mn_status status = mn_alloc(ctx, "JSON text", bytes + 2, 1, (void **)out);
  if (status == MN_OK) {
    memcpy(*out, text, bytes);
    (*out)[bytes] = '\n';
  }
  cJSON_free(text);
  return status;
}

mn_status mn_record_note(mn_context *ctx, const mn_record *r, double wall_s, char **note)
{
  cJSON *root = cJSON_CreateObject();
  cJSON_AddNumberToObject(root, "steps", (double)r->steps);
  cJSON_AddNumberToObject(root, "pressure_iterations", (double)r->pressure_iterations);
  cJSON_AddNumberToObject(root, "retries", (double)r->retries);
  cJSON_AddNumberToObject(root, "coupling_iterations", (double)r->coupling_iterations);
  cJSON_AddNumberToObject(root, "most_iterations", (double)r->most_iterations);
  cJSON_AddNumberToObject(root, "capped", (double)r->capped);
  cJSON_AddNumberToObject(root, "diverged", (double)r->diverged);
  cJSON_AddNumberToObject(root, "handed_over", (double)r->handed_over);
  cJSON_AddNumberToObject(root, "fluid_s", r->fluid_s);
  cJSON_AddNumberToObject(root, "solid_s", r->solid_s);
  cJSON_AddNumberToObject(root, "couple_s", r->couple_s);
  cJSON_AddNumberToObject(root, "other_s", r->other_s);
  cJSON_AddNumberToObject(root, "wall_s", wall_s);
  add_exact(root, "first_volume", r->first_volume);
  cJSON *worst = cJSON_AddObjectToObject(root, "worst");
  for (int i = 0; i < MN_INVARIANTS; i++) {
    cJSON *row = cJSON_AddObjectToObject(worst, invariants[i].name);
    add_exact(row, "value", r->worst[i].value);
    add_exact(row, "time", r->worst[i].time);
    cJSON_AddNumberToObject(row, "step", (double)r->worst[i].step);
  }
  return print(ctx, root, note);
}

void mn_record_parse(const char *note, mn_record *r)
{
  cJSON *root = note ? cJSON_Parse(note) : NULL;
  *r = (mn_record){.steps = get_count(root, "steps"),
                   .pressure_iterations = get_count(root, "pressure_iterations"),
                   .retries = get_count(root, "retries"),
                   .coupling_iterations = get_count(root, "coupling_iterations"),
                   .most_iterations = get_count(root, "most_iterations"),
                   .capped = get_count(root, "capped"),
                   .diverged = get_count(root, "diverged"),
                   .handed_over = get_count(root, "handed_over"),
                   .fluid_s = get_number(root, "fluid_s"),
                   .solid_s = get_number(root, "solid_s"),
                   .couple_s = get_number(root, "couple_s"),
                   .other_s = get_number(root, "other_s"),
                   .wall_s = get_number(root, "wall_s"),
                   .first_volume = get_exact(root, "first_volume")};
  const cJSON *worst = cJSON_GetObjectItemCaseSensitive(root, "worst");
  for (int i = 0; i < MN_INVARIANTS; i++) {
    const cJSON *row = cJSON_GetObjectItemCaseSensitive(worst, invariants[i].name);
    r->worst[i] =
        (mn_worst){get_exact(row, "value"), get_exact(row, "time"), get_count(row, "step")};
  }
  cJSON_Delete(root);
}

/* ---- run.json -------------------------------------------------------------------------------- */

static void add_scene(cJSON *root, const mn_run_settings *s, const mn_model_def *def)
{
  cJSON_AddStringToObject(root, "scene", def->name);
  cJSON_AddStringToObject(root, "title", def->title);
  cJSON_AddStringToObject(root, "reproduces", def->reproduces);
  cJSON *params = cJSON_AddObjectToObject(root, "parameters");
  for (int i = 0; i < def->param_count; i++)
    cJSON_AddStringToObject(params, def->params[i].name, def->params[i].value);
  cJSON_AddStringToObject(root, "scene_folder", s->folder);
  cJSON_AddStringToObject(root, "scene_hash", s->scene_hash);
  cJSON_AddStringToObject(root, "shapes_hash", s->shapes_hash);
  cJSON_AddItemToObject(root, "cells", cJSON_CreateIntArray(def->domain.cells, def->domain.dim));
  cJSON_AddNumberToObject(root, "frames", s->frames);
  add_exact(root, "until_hex", s->until);
  cJSON_AddNumberToObject(root, "until", s->until);
}

static void add_coupling(cJSON *root, const mn_record *r, const mn_world *world)
{
  double all = r->fluid_s + r->solid_s + r->couple_s + r->other_s;
  cJSON *o = cJSON_AddObjectToObject(root, "coupling");
  cJSON_AddStringToObject(o, "method", mn_coupling_method_name(world->how.method));
  if (*world->why) {
    cJSON_AddStringToObject(o, "asked", mn_coupling_method_name(world->def->coupling.method));
    cJSON_AddStringToObject(o, "why", world->why);
  }
  cJSON *by = cJSON_AddObjectToObject(o, "substeps_by"); /* the method that finished them */
  cJSON_AddNumberToObject(by, mn_coupling_method_name(world->how.method),
                          (double)(r->steps - r->handed_over));
  if (r->handed_over)
    cJSON_AddNumberToObject(by, world->rescue ? "monolithic" : "xpm", (double)r->handed_over);
  cJSON_AddNumberToObject(o, "points", (double)mn_coupling_interface(world->coupling)->count);
  cJSON_AddNumberToObject(o, "iterations", (double)r->coupling_iterations);
  cJSON_AddNumberToObject(o, "average_iterations",
                          r->steps ? (double)r->coupling_iterations / (double)r->steps : 0);
  cJSON_AddNumberToObject(o, "most_iterations", (double)r->most_iterations);
  cJSON_AddNumberToObject(o, "capped", (double)r->capped);
  cJSON_AddNumberToObject(o, "diverged", (double)r->diverged);
  cJSON_AddNumberToObject(o, "fluid_s", r->fluid_s);
  cJSON_AddNumberToObject(o, "solid_s", r->solid_s);
  cJSON_AddNumberToObject(o, "couple_s", r->couple_s);
  cJSON_AddNumberToObject(o, "couple_share", all > 0 ? r->couple_s / all : 0);
}

static void add_progress(cJSON *root, const mn_record *r, mn_world *world,
                         const mn_run_status *status)
{
  cJSON_AddStringToObject(root, "state", status->state);
  cJSON_AddStringToObject(root, "exit_reason", status->reason);
  cJSON_AddNumberToObject(root, "exit_status", status->exit_status);
  cJSON_AddNumberToObject(root, "threads", mn_context_threads(world->ctx));
  cJSON_AddNumberToObject(root, "wall_s", status->wall_s);
  cJSON_AddNumberToObject(root, "time", mn_world_time(world));
  add_exact(root, "time_hex", mn_world_time(world));
  cJSON_AddNumberToObject(root, "frame", mn_world_frame(world));
  cJSON *totals = cJSON_AddObjectToObject(root, "totals");
  cJSON_AddNumberToObject(totals, "steps", (double)r->steps);
  cJSON_AddNumberToObject(totals, "pressure_iterations", (double)r->pressure_iterations);
  cJSON_AddNumberToObject(totals, "retries", (double)r->retries);
  if (world->coupling)
    add_coupling(root, r, world);
  cJSON *list = cJSON_AddObjectToObject(root, "invariants");
  for (int i = 0; i < MN_INVARIANTS; i++) {
    cJSON *row = cJSON_AddObjectToObject(list, invariants[i].name);
    cJSON_AddNumberToObject(row, "worst", r->worst[i].value);
    cJSON_AddStringToObject(row, "unit", invariants[i].unit);
    cJSON_AddNumberToObject(row, "step", (double)r->worst[i].step);
    cJSON_AddNumberToObject(row, "time", r->worst[i].time);
    cJSON_AddStringToObject(row, "text", invariants[i].text);
  }
  if (status->hash) {
    char hash[20];
    snprintf(hash, sizeof hash, "%016" PRIx64, mn_world_hash(world));
    cJSON_AddStringToObject(root, "state_hash", hash);
  }
}

static uint64_t hash_shape(uint64_t h, const mn_domain_def *d, const mn_shape *shape)
{
  enum { POINTS = 64 };
  double value[POINTS];
  for (int i = 0; i < POINTS && shape; i++) {
    mn_vec3 x = d->origin; /* a low-discrepancy sequence */
    static const double STEP[3] = {0.8191725133961645, 0.6710436067037893, 0.5497004779019703};
    for (int a = 0; a < d->dim; a++)
      x.v[a] += d->size.v[a] * fmod((i + 1) * STEP[a], 1);
    value[i] = mn_shape_distance(shape, x);
  }
  return shape ? mn_hash(h, value, sizeof value) : h;
}

void mn_shapes_hash(const mn_model_def *def, char text[20])
{
  uint64_t h = MN_HASH_START;
  for (int i = 0; i < def->solid_count; i++)
    h = hash_shape(h, &def->domain, def->solids[i].shape);
  for (int i = 0; i < def->body_count; i++) {
    h = hash_shape(h, &def->domain, def->bodies[i].shape);
    h = hash_shape(h, &def->domain, def->bodies[i].fixed);
  }
  for (int i = 0; i < def->source_count; i++)
    h = hash_shape(h, &def->domain, def->sources[i].shape);
  h = hash_shape(h, &def->domain, def->fluid.initial_smoke_shape);
  h = hash_shape(h, &def->domain, def->fluid.initial_water);
  snprintf(text, 20, "%016" PRIx64, h);
}

mn_status mn_record_write(mn_context *ctx, const char *directory, const mn_run_settings *settings,
                          const mn_record *record, mn_world *world, const mn_run_status *status)
{
  char path[MN_PATH_MAX], *text;
  MN_TRY(mn_path(ctx, path, "%s/run.json", directory));
  cJSON *root = cJSON_CreateObject();
  cJSON_AddStringToObject(root, "program", "meniscus");
  cJSON_AddStringToObject(root, "version", mn_version());
  add_scene(root, settings, world->def);
  add_progress(root, record, world, status);
  MN_TRY(print(ctx, root, &text));
  mn_status result = mn_write_file(ctx, path, text, strlen(text));
  mn_free(text);
  return result;
}

static void get_text(const cJSON *root, const char *name, char *out, size_t size)
{
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(root, name);
  snprintf(out, size, "%s", cJSON_IsString(item) ? item->valuestring : "");
}

static mn_status get_params(mn_context *ctx, const cJSON *root, mn_run_settings *s)
{
  const cJSON *params = cJSON_GetObjectItemCaseSensitive(root, "parameters"), *item;
  int count = cJSON_GetArraySize(params);
  if (count <= 0)
    return MN_OK;
  MN_TRY(MN_NEW(ctx, "parameters", (size_t)count, &s->params));
  cJSON_ArrayForEach(item, params)
  {
    if (!cJSON_IsString(item))
      continue;
    mn_param *p = &s->params[s->param_count++];
    snprintf(p->name, sizeof p->name, "%s", item->string);
    snprintf(p->value, sizeof p->value, "%s", item->valuestring);
  }
  return MN_OK;
}

mn_status mn_settings_read(mn_context *ctx, const char *directory, mn_run_settings *s)
{
  char path[MN_PATH_MAX], *text;
  size_t bytes;
  *s = (mn_run_settings){0};
  MN_TRY(mn_path(ctx, path, "%s/run.json", directory));
  if (access(path, F_OK))
    return mn_fail(ctx, MN_BAD_INPUT, "%s holds no run of meniscus: there is no run.json",
                   directory);
  MN_TRY(mn_read_file(ctx, path, (size_t)1 << 24, &text, &bytes));
  cJSON *root = cJSON_ParseWithLength(text, bytes);
  mn_free(text);
  const cJSON *frames = cJSON_GetObjectItemCaseSensitive(root, "frames");
  char program[32];
  get_text(root, "program", program, sizeof program);
  mn_status status = MN_OK;
  if (strcmp(program, "meniscus") || !cJSON_IsNumber(frames))
    status = mn_fail(ctx, MN_BAD_INPUT, "%s is damaged or was not written by meniscus", path);
  if (status == MN_OK) {
    get_text(root, "scene", s->scene, sizeof s->scene);
    get_text(root, "scene_folder", s->folder, sizeof s->folder);
    get_text(root, "scene_hash", s->scene_hash, sizeof s->scene_hash);
    get_text(root, "shapes_hash", s->shapes_hash, sizeof s->shapes_hash);
    get_text(root, "state", s->state, sizeof s->state);
    s->frames = frames->valueint;
    s->until = get_exact(root, "until_hex");
    s->time = get_exact(root, "time_hex");
    status = get_params(ctx, root, s);
  }
  cJSON_Delete(root);
  return status;
}
