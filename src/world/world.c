/* The step: how long it is, what happens when it fails, and the hash of the state.

   A substep lasts as long as the solvers and the scene allow, shortened so that a whole number of
   equal substeps ends exactly at `until`. Its length depends on nothing but the state and `until`:
   a run that is stopped and resumed takes the same steps. */
#include "world/world.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/timer.h"

enum { MAX_RETRIES = 6 };

const char *mn_reason_text(mn_reason reason)
{
  static const char *const text[] = {"converged", "iteration limit", "stalled", "diverged",
                                     "incompatible"};
  return (unsigned)reason < sizeof text / sizeof *text ? text[reason] : "unknown";
}

void mn_world_measure(mn_world *w)
{
  w->totals = w->fluid.ops ? mn_mac_measure(&w->fluid) : (mn_mac_totals){0};
  w->body_totals = w->bodies ? mn_bodies_measure(w->bodies) : (mn_body_totals){0};
}

mn_status mn_world_create(mn_context *ctx, const mn_model *model, mn_world **out)
{
  *out = NULL;
  mn_world *world;
  MN_TRY(MN_NEW(ctx, "a world", 1, &world));
  world->ctx = ctx;
  world->def = &model->def;
  mn_status status = MN_OK;
  if (world->def->fluid.kind != MN_FLUID_NONE)
    status = mn_mac_create(ctx, world->def, &world->fluid);
  if (status == MN_OK)
    status = mn_bodies_create(ctx, world->def, &world->bodies);
  if (status != MN_OK) {
    mn_world_destroy(&world);
    return status;
  }
  if (world->bodies)
    world->solid = mn_bodies_box(world->bodies);
  mn_world_measure(world);
  *out = world;
  return MN_OK;
}

void mn_world_destroy(mn_world **world)
{
  if (!*world)
    return;
  if ((*world)->fluid.ops)
    (*world)->fluid.ops->destroy((*world)->fluid.self);
  mn_bodies_destroy(&(*world)->bodies);
  mn_free(*world);
  *world = NULL;
}

/* ---- the step -------------------------------------------------------------------------------- */

/* What to try when the step has collapsed. */
static const char *advice(const mn_world *w)
{
  if (!w->fluid.ops)
    return "try a smaller dynamics.dt, or softer or better shaped bodies";
  for (int s = 0; s < w->def->source_count; s++)
    if (w->def->sources[s].blows)
      return "try a smaller fluid.cfl, weaker sources or a coarser grid";
  return "try a smaller fluid.cfl or a coarser grid";
}

/* Longest step that both sides and the scene allow, at the current state. */
static mn_status allowed_dt(mn_world *w, double *dt)
{
  const mn_fluid_def *f = &w->def->fluid;
  const mn_dynamics_def *d = &w->def->dynamics;
  double fluid = w->fluid.ops ? w->fluid.ops->max_dt(w->fluid.self) : INFINITY;
  if (!(fluid > 0)) /* NaN as well */
    return mn_fail(
        w->ctx, MN_FAILED,
        "at %.6g s (step %lld) the fluid allows no time step (%g s): its velocity is not "
        "finite; %s",
        w->clock.time, (long long)w->clock.step, fluid, advice(w));
  if (f->dt > 0)
    fluid = fmin(fluid, f->dt);
  if (f->max_dt > 0)
    fluid = fmin(fluid, f->max_dt);
  double solid = w->solid.ops ? w->solid.ops->max_dt(w->solid.self) : INFINITY;
  if (!(solid > 0))
    return mn_fail(w->ctx, MN_FAILED,
                   "at %.6g s (step %lld) the bodies allow no time step (%g s): their motion is "
                   "not finite",
                   w->clock.time, (long long)w->clock.step, solid);
  if (w->solid.ops && d->dt > 0)
    solid = fmin(solid, d->dt);
  *dt = fmin(fluid, solid);
  return MN_OK;
}

typedef enum outcome { STEP_GOOD, STEP_RETRY, STEP_HOPELESS } outcome;

static int finite_totals(const mn_mac_totals *t)
{
  return isfinite(t->kinetic_energy) && isfinite(t->volume) && isfinite(t->smoke) &&
         isfinite(t->momentum.x) && isfinite(t->momentum.y) && isfinite(t->momentum.z) &&
         isfinite(t->divergence) && isfinite(t->max_speed);
}

static mn_status unsolved(const mn_world *w, const mn_solve_report *report)
{
  const mn_fluid_def *fluid = &w->def->fluid;
  const char *why = mn_reason_text(report->reason);
  if (fluid->kind != MN_FLUID_WATER || fluid->walls != MN_WALLS_SEPARATING)
    return mn_fail(w->ctx, MN_FAILED,
                   "the pressure solve did not converge (%s after %d iterations, residual %.3g "
                   "from %.3g)",
                   why, report->iterations, report->residual, report->initial_residual);
  int is_default = fluid->lcp_solver == MN_LCP_FAST;
  return mn_fail(w->ctx, MN_FAILED,
                 "the pressure solve with separating walls by fluid.lcp_solver = \"%s\" did not "
                 "converge (%s after %d iterations, residual %.3g from %.3g); try \"%s\" or "
                 "walls = \"sticking\"",
                 mn_lcp_solver_name(fluid->lcp_solver), why, report->iterations, report->residual,
                 report->initial_residual, is_default ? "pi-pcg" : "fast");
}

/* The fluid's part of a substep, up to its commit. *status is what the solver returned. */
static outcome try_fluid(mn_world *w, double dt, mn_step_info *info, mn_status *status)
{
  const mn_fluid_ops *ops = w->fluid.ops;
  mn_interface empty = {.dim = w->def->domain.dim};
  info->pressure = (mn_solve_report){0};
  *status = ops->begin(w->fluid.self, w->clock.time, dt);
  if (*status == MN_OK)
    *status = ops->solve(w->fluid.self, &empty, &info->pressure);
  const mn_solve_report *report = &info->pressure;
  if (report->reason == MN_INCOMPATIBLE) {
    if (*status == MN_OK) /* else the solver has named the region */
      *status = mn_fail(w->ctx, MN_FAILED,
                        "one of %d closed regions has a net inflow of %.6g m^3/s and no way out; "
                        "give it an open side, or let the sources and solids in it balance",
                        report->closed_regions, report->net_flow);
    return STEP_HOPELESS; /* a shorter step changes nothing */
  }
  if (*status != MN_OK)
    return *status == MN_FAILED ? STEP_RETRY : STEP_HOPELESS;
  if (report->reason != MN_CONVERGED) {
    *status = unsolved(w, report);
    return STEP_RETRY;
  }
  *status = ops->commit(w->fluid.self);
  return *status == MN_OK ? STEP_GOOD : *status == MN_FAILED ? STEP_RETRY : STEP_HOPELESS;
}

/* The bodies' part, without loads of a fluid. */
static outcome try_solid(mn_world *w, double dt, mn_step_info *info, mn_status *status)
{
  const mn_solid_ops *ops = w->solid.ops;
  mn_interface empty = {.dim = w->def->domain.dim};
  info->solid = (mn_solve_report){0};
  *status = ops->begin(w->solid.self, w->clock.time, dt);
  if (*status == MN_OK)
    *status = ops->solve(w->solid.self, &empty, &info->solid);
  if (*status == MN_OK && info->solid.reason != MN_CONVERGED)
    *status = mn_fail(w->ctx, MN_FAILED,
                      "the bodies' step did not converge (%s after %d iterations, residual %.3g "
                      "from %.3g)",
                      mn_reason_text(info->solid.reason), info->solid.iterations,
                      info->solid.residual, info->solid.initial_residual);
  if (*status == MN_OK)
    *status = ops->commit(w->solid.self);
  return *status == MN_OK ? STEP_GOOD : *status == MN_FAILED ? STEP_RETRY : STEP_HOPELESS;
}

static int finite_bodies(const mn_body_totals *t)
{
  return isfinite(t->kinetic_energy) && isfinite(t->elastic_energy) &&
         isfinite(t->potential_energy) && isfinite(t->momentum.x) && isfinite(t->momentum.y) &&
         isfinite(t->momentum.z);
}

/* One substep from the saved state. When it is not good, the context says why; *status is what the
   solver returned, and anything but MN_FAILED is not the step's fault. */
static outcome try_step(mn_world *w, double dt, mn_step_info *info, mn_status *status)
{
  outcome result = STEP_GOOD;
  double start = mn_seconds();
  w->ctx->message[0] = 0;
  if (w->fluid.ops)
    result = try_fluid(w, dt, info, status);
  double middle = mn_seconds();
  if (result == STEP_GOOD && w->solid.ops)
    result = try_solid(w, dt, info, status);
  info->fluid_s += middle - start;
  info->solid_s += mn_seconds() - middle;
  if (result != STEP_GOOD)
    return result;
  mn_world_measure(w);
  if (!finite_totals(&w->totals) || !finite_bodies(&w->body_totals)) {
    *status = mn_fail(w->ctx, MN_FAILED, "the state is no longer finite (kinetic energy %g J)",
                      w->totals.kinetic_energy + w->body_totals.kinetic_energy);
    return STEP_RETRY;
  }
  info->kinetic_energy = w->totals.kinetic_energy;
  info->fluid_volume = w->totals.volume;
  info->smoke_total = w->totals.smoke;
  info->momentum = w->totals.momentum;
  info->body_kinetic_energy = w->body_totals.kinetic_energy;
  info->body_elastic_energy = w->body_totals.elastic_energy;
  info->body_potential_energy = w->body_totals.potential_energy;
  info->body_momentum = w->body_totals.momentum;
  info->body_angular = w->body_totals.angular;
  return STEP_GOOD;
}

static mn_status save_state(mn_world *w)
{
  if (w->fluid.ops)
    MN_TRY(w->fluid.ops->save(w->fluid.self));
  return w->solid.ops ? w->solid.ops->save(w->solid.self) : MN_OK;
}

static mn_status restore_state(mn_world *w)
{
  if (w->fluid.ops)
    MN_TRY(w->fluid.ops->restore(w->fluid.self));
  if (w->solid.ops)
    MN_TRY(w->solid.ops->restore(w->solid.self));
  mn_world_measure(w);
  return MN_OK;
}

/* What stands in the context becomes a sentence with time, step and advice. */
static mn_status give_up(mn_world *w, double dt, int retries, outcome last, mn_status status)
{
  if (status != MN_FAILED)
    return status;
  if (last == STEP_HOPELESS)
    return mn_fail_prefix(w->ctx, MN_FAILED, "at %.6g s (step %lld)", w->clock.time,
                          (long long)w->clock.step);
  char why[1024];
  snprintf(why, sizeof why, "%.1000s", w->ctx->message);
  return mn_fail(w->ctx, MN_FAILED,
                 "at %.6g s (step %lld) no time step succeeds, down to %.3g s after %d halvings: "
                 "%s; %s",
                 w->clock.time, (long long)w->clock.step, dt, retries, why,
                 w->fluid.ops ? "try a smaller fluid.cfl or fluid.max_dt, a larger "
                                "fluid.pressure_max_iterations, or a finer grid"
                              : "try a smaller dynamics.dt, or softer or better shaped bodies");
}

/* Frame f is complete when the time f * every is reached. */
static void count_frames(mn_world *w)
{
  while (w->clock.time >= (double)(w->clock.frame + 1) * w->def->output.every)
    w->clock.frame++;
}

mn_status mn_world_step(mn_world *w, double until, mn_step_info *out)
{
  mn_step_info info = {.coupling_iterations = 1};
  double start = mn_seconds(), dt = 0, rest = until - w->clock.time;
  if (!(rest > 0) || !isfinite(rest))
    return mn_fail(w->ctx, MN_BAD_INPUT, "a step until %g s cannot start at %g s", until,
                   w->clock.time);
  MN_TRY(allowed_dt(w, &dt));
  double parts = fmax(1, ceil(rest / dt - 1e-9));
  if (!(dt > 1e-14 * fabs(w->clock.time)))
    return mn_fail(w->ctx, MN_FAILED,
                   "at %.6g s (step %lld) the time step is down to %.3g s: what moves has become "
                   "too fast to follow; %s",
                   w->clock.time, (long long)w->clock.step, dt, advice(w));
  if (!(parts < 1e15))
    return mn_fail(w->ctx, MN_BAD_INPUT, "%g s is too far away: it would take %.3g steps", until,
                   parts);
  dt = rest / parts;
  MN_TRY(save_state(w));
  outcome result;
  mn_status status = MN_OK;
  while ((result = try_step(w, dt, &info, &status)) != STEP_GOOD) {
    MN_TRY(restore_state(w));
    if (result == STEP_HOPELESS || info.retries == MAX_RETRIES)
      return give_up(w, dt, info.retries, result, status);
    mn_log(w->ctx, MN_LOG_DEBUG, "at %.6g s the step of %.3g s is halved: %s", w->clock.time, dt,
           w->ctx->message);
    dt *= 0.5;
    parts = 2 * parts;
    info.retries++;
  }
  w->ctx->message[0] = 0; /* of a step that was retried with success */
  w->clock.time = parts == 1 ? until : w->clock.time + dt;
  w->clock.step++;
  count_frames(w);
  info.step = w->clock.step;
  info.time = w->clock.time;
  info.dt = dt;
  info.other_s = fmax(0, mn_seconds() - start - info.fluid_s - info.solid_s);
  *out = info;
  return MN_OK;
}

mn_status mn_world_next_frame(mn_world *w)
{
  double until = (double)(w->clock.frame + 1) * w->def->output.every;
  while (w->clock.time < until) {
    mn_step_info info;
    MN_TRY(mn_world_step(w, until, &info));
    if (w->ctx->interrupted && *w->ctx->interrupted)
      return mn_fail(w->ctx, MN_INTERRUPTED, "interrupted at %.6g s", w->clock.time);
  }
  return MN_OK;
}

double mn_world_time(const mn_world *w)
{
  return w->clock.time;
}

int64_t mn_world_steps(const mn_world *w)
{
  return w->clock.step;
}

int mn_world_frame(const mn_world *w)
{
  return (int)w->clock.frame;
}

/* ---- the state ------------------------------------------------------------------------------- */

size_t mn_array_bytes(const mn_array *array)
{
  size_t bytes = array->type == MN_U8 ? 1 : 8;
  for (int i = 0; i < array->rank; i++)
    bytes *= array->shape[i];
  return bytes;
}

int mn_world_arrays(mn_world *w, mn_array arrays[MN_ARRAYS_MAX])
{
  int count = 0;
  if (w->fluid.ops)
    count = w->fluid.ops->arrays(w->fluid.self, arrays, MN_ARRAYS_MAX);
  assert(count <= MN_ARRAYS_MAX);
  if (w->solid.ops)
    count += w->solid.ops->arrays(w->solid.self, arrays + count, MN_ARRAYS_MAX - count);
  assert(count <= MN_ARRAYS_MAX);
  return count;
}

uint64_t mn_state_hash(const mn_clock *clock, const mn_array *arrays, int count)
{
  uint64_t h = mn_hash(MN_HASH_START, &clock->time, sizeof clock->time);
  h = mn_hash(h, &clock->step, sizeof clock->step);
  h = mn_hash(h, &clock->frame, sizeof clock->frame);
  for (int i = 0; i < count; i++) {
    h = mn_hash(h, arrays[i].name, strlen(arrays[i].name));
    h = mn_hash(h, arrays[i].data, mn_array_bytes(&arrays[i]));
  }
  return h;
}

uint64_t mn_world_hash(mn_world *w)
{
  mn_array arrays[MN_ARRAYS_MAX];
  int count = mn_world_arrays(w, arrays);
  return mn_state_hash(&w->clock, arrays, count);
}
