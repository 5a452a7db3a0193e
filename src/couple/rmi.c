/* mn_rmi as an object: its def, memory, history and checkpoints. The iteration is in rmi_step.c,
   the reduced model in rmi_model.c. */
#include "couple/rmi_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "couple/rmi_model.h"
#include "couple/rmi_tune.h"

mn_rmi_def mn_rmi_def_default(void)
{
  return (mn_rmi_def){.method = MN_RMI_REDUCED,
                      .max_iterations = 30,
                      .least_iterations = 2,
                      .predictor = 1,
                      .reuse = 16,
                      .max_columns = 40,
                      .filter = 0.1,
                      .filter_current = 1e-3,
                      .columns = MN_RMI_NEWEST,
                      .loads = MN_RMI_LOADS_OF_FLUID,
                      .dt_power = 2};
}

mn_rmi_def mn_rmi_def_published(void)
{
  mn_rmi_def def = mn_rmi_def_default();
  def.omega = 1;
  def.reuse = 0;
  def.filter = def.filter_current = 0;
  def.columns = MN_RMI_PIVOTED;
  def.loads = MN_RMI_LOADS_OF_MODEL;
  return def;
}

static mn_status check_weights(mn_context *ctx, const char *name, const double *weight, size_t size)
{
  for (size_t i = 0; weight && i < size; i++)
    if (!(weight[i] > 0) || !isfinite(weight[i]))
      return mn_fail(ctx, MN_BAD_INPUT, "mn_rmi: %s[%zu] is %g; it must be positive and finite",
                     name, i, weight[i]);
  return MN_OK;
}

static mn_status check_int(mn_context *ctx, const char *name, int value, int least, int most)
{
  if (value < least || value > most)
    return mn_fail(ctx, MN_BAD_INPUT, "mn_rmi: %s is %d; it must be from %d to %d", name, value,
                   least, most);
  return MN_OK;
}

/* `least` itself is allowed. */
static mn_status check_number(mn_context *ctx, const char *name, double value, double least,
                              double most)
{
  if (!(value >= least && value <= most))
    return mn_fail(ctx, MN_BAD_INPUT, "mn_rmi: %s is %g; it must be from %g to %g", name, value,
                   least, most);
  return MN_OK;
}

static mn_status check_def(mn_context *ctx, const mn_rmi_def *def)
{
  if (!def->x_size || !def->p_size)
    return mn_fail(ctx, MN_BAD_INPUT,
                   "mn_rmi: x_size is %zu and p_size %zu; both must be at least 1", def->x_size,
                   def->p_size);
  if (!(def->tolerance > 0) || !isfinite(def->tolerance))
    return mn_fail(ctx, MN_BAD_INPUT, "mn_rmi: tolerance is %g; it must be positive and finite",
                   def->tolerance);
  MN_TRY(check_int(ctx, "method", (int)def->method, MN_RMI_RELAXED, MN_RMI_REDUCED));
  MN_TRY(check_int(ctx, "columns", (int)def->columns, MN_RMI_NEWEST, MN_RMI_PIVOTED));
  MN_TRY(check_int(ctx, "loads", (int)def->loads, MN_RMI_LOADS_OF_FLUID, MN_RMI_LOADS_OF_MODEL));
  MN_TRY(check_int(ctx, "max_iterations", def->max_iterations, 1, 10000));
  MN_TRY(check_int(ctx, "least_iterations", def->least_iterations, 1, def->max_iterations));
  MN_TRY(check_int(ctx, "predictor", def->predictor, MN_RMI_GUESS, 2));
  MN_TRY(check_int(ctx, "reuse", def->reuse, 0, 10000));
  MN_TRY(check_int(ctx, "max_columns", def->max_columns, 1, 10000));
  MN_TRY(check_number(ctx, "filter", def->filter, 0, 1));
  MN_TRY(check_number(ctx, "filter_current", def->filter_current, 0, 1));
  MN_TRY(check_number(ctx, "dt_power", def->dt_power, -10, 10));
  if (def->method == MN_RMI_REDUCED)
    MN_TRY(check_number(ctx, "omega", def->omega, 0, 2));
  else if (!(def->omega > 0 && def->omega <= 2))
    return mn_fail(ctx, MN_BAD_INPUT, "mn_rmi: omega is %g; it must be above 0 and at most 2",
                   def->omega);
  MN_TRY(check_weights(ctx, "x_weight", def->x_weight, def->x_size));
  return check_weights(ctx, "p_weight", def->p_weight, def->p_size);
}

static mn_status new_weights(mn_context *ctx, size_t size, const double *from, double **weight)
{
  if (!from)
    return MN_OK;
  MN_TRY(MN_NEW(ctx, "weights of a coupling", size, weight));
  memcpy(*weight, from, size * sizeof *from);
  return MN_OK;
}

static mn_status new_patches(mn_context *ctx, size_t size, size_t count, const uint32_t *from,
                             uint32_t **patch, double **scale)
{
  MN_TRY(MN_NEW(ctx, "patches of a coupling", size, patch));
  MN_TRY(MN_NEW(ctx, "patches of a coupling", count, scale));
  memcpy(*patch, from, size * sizeof *from);
  for (size_t i = 0; i < size; i++)
    (*scale)[from[i]]++;
  for (size_t g = 0; g < count; g++)
    (*scale)[g] = 1 / sqrt((*scale)[g]);
  return MN_OK;
}

static mn_status shorten(mn_rmi *rmi, const mn_rmi_patches *from)
{
  mn_rmi_short *s = &rmi->shorter;
  const mn_rmi_def *def = &rmi->def;
  *s = (mn_rmi_short){.x = def->x_size, .p = def->p_size};
  if (!from)
    return MN_OK;
  s->x = from->x_count;
  s->p = from->p_count;
  MN_TRY(new_patches(rmi->ctx, def->x_size, s->x, from->x_patch, &s->x_patch, &s->x_scale));
  MN_TRY(new_patches(rmi->ctx, def->p_size, s->p, from->p_patch, &s->p_patch, &s->p_scale));
  return MN_OK;
}

static mn_status new_pairs(mn_context *ctx, size_t in_size, size_t out_size, int capacity,
                           int64_t *count, mn_rmi_pairs *pairs)
{
  size_t columns = (size_t)capacity;
  pairs->in_size = in_size;
  pairs->out_size = out_size;
  pairs->capacity = capacity;
  pairs->count = count;
  if (in_size > SIZE_MAX / sizeof(double) / columns ||
      out_size > SIZE_MAX / sizeof(double) / columns)
    return mn_fail(ctx, MN_ENVIRONMENT, "out of memory: %d columns of %zu numbers", capacity,
                   in_size > out_size ? in_size : out_size);
  MN_TRY(MN_NEW(ctx, "columns of a coupling", columns * in_size, &pairs->in));
  MN_TRY(MN_NEW(ctx, "columns of a coupling", columns * out_size, &pairs->out));
  MN_TRY(MN_NEW(ctx, "columns of a coupling", columns, &pairs->dt));
  return MN_NEW(ctx, "columns of a coupling", columns, &pairs->age);
}

static mn_status new_products(mn_rmi *rmi, int capacity)
{
  mn_context *ctx = rmi->ctx;
  mn_rmi_products *q = &rmi->products;
  size_t ld = (size_t)capacity;
  q->ld = ld;
  if (rmi->def.columns == MN_RMI_PIVOTED)
    return MN_OK;
  MN_TRY(MN_NEW(ctx, "products of columns", 4 * ld * ld, &q->all));
  q->ff = q->all;
  q->ss = q->ff + ld * ld;
  q->fs = q->ss + ld * ld;
  q->sf = q->fs + ld * ld;
  return MN_NEW(ctx, "products of columns", ld, &q->row);
}

static mn_status allocate(mn_rmi *rmi)
{
  mn_context *ctx = rmi->ctx;
  const mn_rmi_def *def = &rmi->def;
  size_t nx = def->x_size, np = def->p_size;
  double **of_x[] = {&rmi->move1, &rmi->move2,    &rmi->x_start, &rmi->x_f,   &rmi->x_f_base,
                     &rmi->x_s,   &rmi->x_s_base, &rmi->r,       &rmi->r_base};
  double **of_p[] = {&rmi->p_f, &rmi->p_f_base, &rmi->p_s, &rmi->p_s_base};
  size_t loads = def->loads == MN_RMI_LOADS_OF_MODEL ? 4 : 2;
  for (size_t i = 0; i < sizeof of_x / sizeof *of_x; i++)
    MN_TRY(MN_NEW(ctx, "x of a coupling", nx + MN_RMI_GUARD, of_x[i]));
  for (size_t i = 0; i < loads; i++)
    MN_TRY(MN_NEW(ctx, "p of a coupling", np + MN_RMI_GUARD, of_p[i]));
  if (loads == 2) {
    rmi->p_s = rmi->p_f;
    rmi->p_s_base = rmi->p_f_base;
  }
  MN_TRY(MN_NEW(ctx, "residuals of a coupling", (size_t)def->max_iterations, &rmi->residual));
  rmi->patience = def->max_iterations;
  if (def->x_weight)
    MN_TRY(MN_NEW(ctx, "x of a coupling", nx, &rmi->given_x));
  if (def->p_weight)
    MN_TRY(MN_NEW(ctx, "p of a coupling", np, &rmi->given_p));
  MN_TRY(new_weights(ctx, nx, def->x_weight, &rmi->x_weight));
  MN_TRY(new_weights(ctx, np, def->p_weight, &rmi->p_weight));
  if (def->method != MN_RMI_REDUCED)
    return MN_OK;
  /* of a longer substep the oldest go */
  int own = def->max_iterations < def->max_columns ? def->max_iterations : def->max_columns;
  int capacity = def->max_columns + MN_RMI_IDLE_COLUMNS + own;
  const mn_rmi_short *s = &rmi->shorter;
  MN_TRY(new_pairs(ctx, nx, s->p, capacity, &rmi->count[MN_RMI_FLUID_COUNT], &rmi->fluid));
  MN_TRY(new_pairs(ctx, s->p, nx, capacity, &rmi->count[MN_RMI_SOLID_COUNT], &rmi->solid));
  rmi->fluid.x_short = rmi->fluid.in;
  rmi->solid.x_short = rmi->solid.out;
  if (s->x_patch) {
    rmi->fluid.x_short = rmi->solid.x_short = NULL;
    MN_TRY(MN_NEW(ctx, "columns of a coupling", (size_t)capacity * s->x, &rmi->fluid.x_short));
    MN_TRY(MN_NEW(ctx, "columns of a coupling", (size_t)capacity * s->x, &rmi->solid.x_short));
  }
  MN_TRY(new_products(rmi, capacity));
  return mn_rmi_model_create(rmi, &rmi->model);
}

mn_status mn_rmi_create(mn_context *ctx, const mn_rmi_def *def, mn_rmi **out)
{
  return mn_rmi_create_patched(ctx, def, NULL, out);
}

mn_status mn_rmi_create_patched(mn_context *ctx, const mn_rmi_def *def,
                                const mn_rmi_patches *patches, mn_rmi **out)
{
  if (!out)
    return mn_fail(ctx, MN_BAD_INPUT, "mn_rmi_create: nowhere to put the object");
  *out = NULL;
  if (!def)
    return mn_fail(ctx, MN_BAD_INPUT, "mn_rmi_create: the def is missing");
  MN_TRY(check_def(ctx, def));
  mn_rmi *rmi;
  MN_TRY(MN_NEW(ctx, "a coupling", 1, &rmi));
  rmi->ctx = ctx;
  rmi->def = *def;
  mn_status status = shorten(rmi, patches);
  if (status == MN_OK)
    status = allocate(rmi);
  rmi->def.x_weight = rmi->def.p_weight = NULL; /* copied */
  if (status != MN_OK)
    mn_rmi_destroy(&rmi);
  *out = rmi;
  return status;
}

void mn_rmi_destroy(mn_rmi **handle)
{
  if (!handle || !*handle)
    return;
  mn_rmi *rmi = *handle;
  if (rmi->def.loads != MN_RMI_LOADS_OF_MODEL)
    rmi->p_s = rmi->p_s_base = NULL; /* shared */
  if (rmi->shorter.x_patch) {
    mn_free(rmi->fluid.x_short);
    mn_free(rmi->solid.x_short);
  }
  double *all[] = {rmi->x_weight,
                   rmi->p_weight,
                   rmi->fluid.in,
                   rmi->fluid.out,
                   rmi->solid.in,
                   rmi->solid.out,
                   rmi->move1,
                   rmi->move2,
                   rmi->x_start,
                   rmi->x_f,
                   rmi->p_f,
                   rmi->x_f_base,
                   rmi->p_f_base,
                   rmi->p_s,
                   rmi->x_s,
                   rmi->p_s_base,
                   rmi->x_s_base,
                   rmi->r,
                   rmi->r_base,
                   rmi->residual,
                   rmi->given_x,
                   rmi->given_p,
                   rmi->products.all,
                   rmi->products.row,
                   rmi->fluid.dt,
                   rmi->solid.dt,
                   rmi->shorter.x_scale,
                   rmi->shorter.p_scale};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    mn_free(all[i]);
  mn_free(rmi->shorter.x_patch);
  mn_free(rmi->shorter.p_patch);
  mn_free(rmi->fluid.age);
  mn_free(rmi->solid.age);
  mn_rmi_model_destroy(&rmi->model);
  mn_free(rmi);
  *handle = NULL;
}

mn_status mn_rmi_accept(mn_rmi *rmi)
{
  if (rmi->phase != MN_RMI_STEPPED)
    return mn_fail(rmi->ctx, MN_BAD_INPUT, "mn_rmi_accept: there is no step to accept");
  if (rmi->reason != MN_CONVERGED &&
      !(rmi->reason == MN_ITERATION_LIMIT && rmi->def.accept_unconverged))
    return mn_fail(
        rmi->ctx, MN_FAILED,
        "mn_rmi_accept: the step did not converge (%s after %d iterations, residual %.3g, "
        "tolerance %.3g); reject it and try a shorter step",
        mn_reason_text(rmi->reason), rmi->iterations, rmi->residual[rmi->iterations - 1],
        rmi->def.tolerance);
  memcpy(rmi->move2, rmi->move1, rmi->def.x_size * sizeof(double));
  for (size_t i = 0; i < rmi->def.x_size; i++)
    rmi->move1[i] = rmi->x_s[i] - rmi->x_start[i];
  if (rmi->count[MN_RMI_MOVES] < 2)
    rmi->count[MN_RMI_MOVES]++;
  rmi->number[MN_RMI_DT2] = rmi->number[MN_RMI_DT1];
  rmi->number[MN_RMI_DT1] = rmi->dt;
  rmi->number[MN_RMI_LAST_OMEGA] = rmi->last_omega;
  rmi->number[MN_RMI_REMAINDER] = rmi->remainder[0];
  rmi->number[MN_RMI_REMAINDER_LATER] = rmi->remainder[1];
  /* after a single iteration, at rest, the columns are as good as they were */
  if (rmi->def.method == MN_RMI_REDUCED && (rmi->iterations > 1 || !(rmi->sure > 0)))
    mn_rmi_columns_age(rmi);
  rmi->phase = MN_RMI_IDLE;
  return MN_OK;
}

void mn_rmi_set_tolerance(mn_rmi *rmi, double tolerance)
{
  rmi->def.tolerance = tolerance;
}

void mn_rmi_set_sure(mn_rmi *rmi, double residual)
{
  rmi->sure = residual;
}

void mn_rmi_set_first_omega(mn_rmi *rmi, double omega)
{
  rmi->first_omega = omega;
}

void mn_rmi_set_wary(mn_rmi *rmi, int wary)
{
  rmi->wary = wary;
}

void mn_rmi_set_trusted(mn_rmi *rmi, int trusted)
{
  rmi->trusted = trusted;
}

void mn_rmi_set_patience(mn_rmi *rmi, int iterations)
{
  rmi->patience = iterations < rmi->def.max_iterations ? iterations : rmi->def.max_iterations;
}

void mn_rmi_set_judge(mn_rmi *rmi, int (*judge)(void *user), void *user)
{
  rmi->judge = judge;
  rmi->judge_user = user;
}

void mn_rmi_set_promise(mn_rmi *rmi, double tolerances)
{
  rmi->promise = tolerances;
}

void mn_rmi_set_filter(mn_rmi *rmi, double filter)
{
  rmi->def.filter = filter;
}

int mn_rmi_has_moved(const mn_rmi *rmi)
{
  return rmi->count[MN_RMI_MOVES] > 0;
}

void mn_rmi_set_first_move(mn_rmi *rmi, double dt, const double *move)
{
  if (rmi->count[MN_RMI_MOVES] > 0 || !(dt > 0) || !isfinite(dt))
    return;
  mn_rmi_weigh(rmi->def.x_size, rmi->x_weight, move, rmi->move1);
  rmi->number[MN_RMI_DT1] = dt;
  rmi->count[MN_RMI_MOVES] = 1;
}

static void drop_history(mn_rmi *rmi)
{
  if (rmi->def.method == MN_RMI_REDUCED) {
    mn_rmi_columns_truncate(rmi, &rmi->fluid, 0);
    mn_rmi_columns_truncate(rmi, &rmi->solid, 0);
  }
  rmi->number[MN_RMI_LAST_OMEGA] = 0;
  rmi->number[MN_RMI_REMAINDER] = rmi->number[MN_RMI_REMAINDER_LATER] = 0;
}

void mn_rmi_reject(mn_rmi *rmi)
{
  drop_history(rmi);
  rmi->phase = MN_RMI_IDLE;
}

void mn_rmi_forget(mn_rmi *rmi)
{
  drop_history(rmi);
  rmi->count_before[0] = rmi->count_before[1] = 0;
  rmi->remainder[0] = rmi->remainder[1] = 0;
  rmi->last_omega = 0;
}

const double *mn_rmi_residuals(const mn_rmi *rmi, int *count)
{
  *count = rmi->iterations;
  return rmi->residual;
}

static mn_array array(const char *name, mn_array_type type, size_t rows, size_t cols, void *data)
{
  mn_array a = {.type = type, .rank = cols ? 2 : 1, .shape = {rows, cols}, .data = data};
  snprintf(a.name, sizeof a.name, "%s", name);
  return a;
}

int mn_rmi_arrays(mn_rmi *rmi, mn_array *arrays, int capacity)
{
  size_t nx = rmi->def.x_size, sx = rmi->shorter.x, np = rmi->shorter.p,
         k = (size_t)rmi->def.max_columns + MN_RMI_IDLE_COLUMNS;
  size_t ld = rmi->products.ld;
  mn_array all[] = {
      array("rmi_counts", MN_I64, MN_RMI_COUNTS, 0, rmi->count),
      array("rmi_numbers", MN_F64, MN_RMI_NUMBERS, 0, rmi->number),
      array("rmi_move1", MN_F64, nx, 0, rmi->move1),
      array("rmi_move2", MN_F64, nx, 0, rmi->move2),
      array("rmi_fluid_x", MN_F64, k, nx, rmi->fluid.in),
      array("rmi_fluid_p", MN_F64, k, np, rmi->fluid.out),
      array("rmi_fluid_age", MN_I64, k, 0, rmi->fluid.age),
      array("rmi_fluid_dt", MN_F64, k, 0, rmi->fluid.dt),
      array("rmi_solid_p", MN_F64, k, np, rmi->solid.in),
      array("rmi_solid_x", MN_F64, k, nx, rmi->solid.out),
      array("rmi_solid_age", MN_I64, k, 0, rmi->solid.age),
      array("rmi_solid_dt", MN_F64, k, 0, rmi->solid.dt),
      array("rmi_products", MN_F64, 4 * ld, ld, rmi->products.all),
      array("rmi_fluid_patches", MN_F64, k, sx, rmi->fluid.x_short),
      array("rmi_solid_patches", MN_F64, k, sx, rmi->solid.x_short),
  };
  int count = rmi->def.method != MN_RMI_REDUCED ? 4
              : rmi->shorter.x_patch            ? 15
              : rmi->products.all               ? 13
                                                : 12;
  for (int i = 0; i < count && i < capacity; i++)
    arrays[i] = all[i];
  return count;
}
