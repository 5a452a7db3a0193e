/* One try of a substep: the fluid alone, bodies alone, or both through the coupling; and whether
   what came out can stand. */
#include "world/substep.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "base/timer.h"

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

/* Why the two sides found no agreement, and what to try. */
static mn_status uncoupled(const mn_world *w, double dt, const mn_coupling_report *r)
{
  const mn_coupling_def *d = &w->how; /* also of a substep that was not rescued */
  double dx = w->def->domain.size.x / w->def->domain.cells[0];
  const char *method = mn_coupling_method_name(d->method);
  int one = d->method == MN_COUPLE_SIMULTANEOUS || d->method == MN_COUPLE_MONOLITHIC;
  int regions, iterates = d->closed == MN_CLOSED_SOLID || d->closed == MN_CLOSED_FLUID;
  mn_coupling_regions(w->coupling, &regions);
  const char *smaller = regions && iterates && !one
                            ? "; try coupling.closed = \"eliminated\", its default"
                            : "; try a smaller fluid.max_dt";
  if (d->method == MN_COUPLE_WEAK)
    return mn_fail(w->ctx, MN_FAILED,
                   "the weak coupling diverged: after a step of %.3g s the surface is %.3g cells "
                   "from where the fluid took it to be, and swings ever wider; the bodies are too "
                   "light for it, take coupling.method = \"xpm\"",
                   dt, r->residual / dx);
  if (r->reason == MN_ITERATION_LIMIT && !one && r->residual <= r->allowed)
    return mn_fail(w->ctx, MN_FAILED,
                   "the coupling \"%s\" met its limit of %d iterations: the interface moves by "
                   "%.3g cells, within the %.3g allowed, but what was learned in so few iterations "
                   "promises more; try a larger coupling.max_iterations",
                   method, d->max_iterations, r->residual / dx, r->allowed / dx);
  if (r->reason == MN_ITERATION_LIMIT)
    return mn_fail(w->ctx, MN_FAILED,
                   "the coupling \"%s\" met its limit of %d iterations: the interface still moves "
                   "by %.3g cells, allowed are %.3g%s",
                   method, d->max_iterations, r->residual / dx, r->allowed / dx,
                   d->method == MN_COUPLE_XPM || one ? smaller
                                                     : "; coupling.method = \"xpm\" may do");
  return mn_fail(w->ctx, MN_FAILED,
                 "the coupling \"%s\" diverged after %d iterations: the interface moved by %.3g "
                 "cells in the last one (added mass over mass: %.3g)%s",
                 method, r->iterations, r->residual / dx, r->mu,
                 d->method == MN_COUPLE_RELAXED ? "; try a smaller coupling.omega, or method xpm"
                 : d->method == MN_COUPLE_XPM || one ? smaller
                                                     : "; try coupling.method = \"xpm\"");
}

/* The fluid's part of a substep, up to its commit. *status is what the solver returned. */
static mn_outcome try_fluid(mn_world *w, double dt, mn_step_info *info, mn_status *status)
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
    return MN_STEP_HOPELESS; /* a shorter step changes nothing */
  }
  if (*status != MN_OK)
    return *status == MN_FAILED ? MN_STEP_RETRY : MN_STEP_HOPELESS;
  if (report->reason != MN_CONVERGED) {
    *status = unsolved(w, report);
    return MN_STEP_RETRY;
  }
  *status = ops->commit(w->fluid.self);
  return *status == MN_OK ? MN_STEP_GOOD : *status == MN_FAILED ? MN_STEP_RETRY : MN_STEP_HOPELESS;
}

/* The bodies' part, without loads of a fluid. */
static mn_outcome try_solid(mn_world *w, double dt, mn_step_info *info, mn_status *status)
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
  return *status == MN_OK ? MN_STEP_GOOD : *status == MN_FAILED ? MN_STEP_RETRY : MN_STEP_HOPELESS;
}

static int finite_bodies(const mn_body_totals *t)
{
  return isfinite(t->kinetic_energy) && isfinite(t->elastic_energy) &&
         isfinite(t->potential_energy) && isfinite(t->momentum.x) && isfinite(t->momentum.y) &&
         isfinite(t->momentum.z);
}

/* Times that a substep is done again since the fluid has let go of bodies. */
enum { MOST_AGAIN = 2 };

/* Both, by the coupling. */
static mn_outcome try_coupled(mn_world *w, mn_coupling *c, double dt, double share,
                              mn_step_info *info, mn_status *status)
{
  mn_coupling_report r;
  double start = mn_seconds();
  *status = mn_coupling_try(c, w->clock.time, dt, share, &r);
  int solved = *status == MN_OK;
  if (solved && r.reason != MN_CONVERGED)
    *status = uncoupled(w, dt, &r);
  int again = 0;
  double asked_s = mn_seconds();
  if (*status == MN_OK && w->fluid.ops->lets_go && w->again < MOST_AGAIN)
    *status = w->fluid.ops->lets_go(w->fluid.self, &again);
  asked_s = mn_seconds() - asked_s;
  w->again += again;
  if (*status == MN_OK && !again)
    *status = mn_coupling_commit(c, &r);
  if (*status == MN_OK && !again && c != w->coupling)
    mn_coupling_adopt(w->coupling, c);
  info->pressure = r.fluid;
  info->solid = r.solid;
  info->coupling_iterations = r.iterations;
  info->coupling_residual = r.residual;
  info->modes = r.modes;
  info->imbalance = r.imbalance;
  info->handed_over = r.handed_over || c != w->coupling;
  const mn_region_info *regions = mn_coupling_regions(c, &info->closed_regions);
  memcpy(info->region, regions, (size_t)info->closed_regions * sizeof *regions);
  r.fluid_s += asked_s; /* commit tells its own time */
  info->capped += solved && r.reason == MN_ITERATION_LIMIT;
  info->diverged += solved && r.reason == MN_DIVERGED;
  info->fluid_s += r.fluid_s;
  info->solid_s += r.solid_s;
  info->couple_s += fmax(0, mn_seconds() - start - r.fluid_s - r.solid_s);
  /* A solver of the program's own may fail because the step is long; a user's says that by its
     report, and what it returns as an error is meant. */
  int refused = (r.refused[0] && w->fluid_plugin) || (r.refused[1] && w->solid_plugin);
  if (*status != MN_OK && (r.hopeless || refused))
    return MN_STEP_HOPELESS;
  if (*status == MN_OK && again)
    return MN_STEP_AGAIN;
  /* Also where the fluid finds a region closed: an iterate may have gone astray. */
  return *status == MN_OK ? MN_STEP_GOOD : *status == MN_FAILED ? MN_STEP_RETRY : MN_STEP_HOPELESS;
}

static mn_outcome try_apart(mn_world *w, double dt, mn_step_info *info, mn_status *status)
{
  mn_outcome result = MN_STEP_GOOD;
  double start = mn_seconds();
  if (w->fluid.ops)
    result = try_fluid(w, dt, info, status);
  double middle = mn_seconds();
  if (result == MN_STEP_GOOD && w->solid.ops)
    result = try_solid(w, dt, info, status);
  info->fluid_s += middle - start;
  info->solid_s += mn_seconds() - middle;
  return result;
}

mn_outcome mn_world_try(mn_world *w, mn_coupling *c, double dt, double share, mn_step_info *info,
                        mn_status *status)
{
  w->ctx->message[0] = 0;
  mn_outcome result =
      c ? try_coupled(w, c, dt, share, info, status) : try_apart(w, dt, info, status);
  if (result != MN_STEP_GOOD)
    return result;
  if (w->fluid_plugin && *status == MN_OK)
    *status = mn_plugin_check_state(w->ctx, w->fluid_plugin);
  if (w->solid_plugin && *status == MN_OK)
    *status = mn_plugin_check_state(w->ctx, w->solid_plugin);
  if (*status != MN_OK)
    return MN_STEP_HOPELESS;
  *status = mn_world_look(w);
  if (*status != MN_OK)
    return *status == MN_FAILED ? MN_STEP_RETRY : MN_STEP_HOPELESS;
  mn_world_measure(w);
  if (!finite_totals(&w->totals) || !finite_bodies(&w->body_totals)) {
    *status = mn_fail(w->ctx, MN_FAILED, "the state is no longer finite (kinetic energy %g J)",
                      w->totals.kinetic_energy + w->body_totals.kinetic_energy);
    return MN_STEP_RETRY;
  }
  info->kinetic_energy = w->totals.kinetic_energy;
  info->fluid_volume = w->totals.volume;
  info->particle_volume = w->totals.particles;
  info->volume_mended = w->totals.mended;
  info->smoke_total = w->totals.smoke;
  info->momentum = w->totals.momentum;
  info->body_kinetic_energy = w->body_totals.kinetic_energy;
  info->body_elastic_energy = w->body_totals.elastic_energy;
  info->body_potential_energy = w->body_totals.potential_energy;
  info->body_momentum = w->body_totals.momentum;
  info->body_angular = w->body_totals.angular;
  return MN_STEP_GOOD;
}
