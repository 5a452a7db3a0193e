/* Policy iteration for the pressure LCP, and the default solver built around it.

   Active cells are held at p = 0 and leave the system; the others satisfy A p = b. After a solve,
   the control test makes a separating cell active where

       D p < A p - b,   D the diagonal of A,

   and free elsewhere [Lai 2021, algorithm 2]. The thesis compares p itself, which has another unit:
   with inexact inner solves that cycles, since D spans seven orders of magnitude. For an
   M-matrix p grows monotonically from the second iterate on, so the method ends.

   fast: between two control tests the residual is reduced thirty times only. A cold start takes
   the active cells of the same problem on the next coarser grid, found in the same way. Before each
   setup a few projected sweeps near the walls correct the rim of the active area, which
   saves most of the outer iterations: 2 or 3 instead of 6 or 7 at 64 and 128 cells a side.
   Tests: tests/unit/pressure/test_lcp_oracle.c (enumeration, monotone), test_lcp.c. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "pressure/lcp_coarse.h"
#include "pressure/lcp_internal.h"

enum { MOST_OUTER = 200 };
enum { GUESS_SWEEPS = 8, SWEEPS = 4 };
static const double FALL = 0.03; /* of the residual between control tests, fast */

static void start_system(mn_lcp_solver *v, const mn_lcp *lcp)
{
  mn_field_copy(&v->system.diagonal, &lcp->matrix.diagonal);
  for (int a = 0; a < v->grid->dim; a++)
    v->system.off[a] = lcp->matrix.off[a]; /* borrowed: active rows only leave */
}

/* The first control: cells that stood at 0 and are pushed there. */
static void first_control(mn_lcp_solver *v, const mn_lcp_task *t)
{
  for (size_t w = 0; w < v->passes.walls; w++) {
    int64_t i = v->passes.wall[w];
    v->active[i] = t->p->data[i] <= 0 && v->r.data[i] < 0;
  }
}

/* The control test; returns how many cells changed. */
static int improve_control(mn_lcp_solver *v, const mn_lcp_task *t)
{
  const double *D = t->lcp->matrix.diagonal.data, *p = t->p->data;
  int changed = 0;
  for (size_t w = 0; w < v->passes.walls; w++) {
    int64_t i = v->passes.wall[w];
    unsigned char active = D[i] * p[i] < -v->r.data[i];
    changed += active != v->active[i];
    v->active[i] = active;
  }
  return changed;
}

/* Removes the active cells from the system; returns how many unknowns are left. */
static size_t apply_control(mn_lcp_solver *v, const mn_lcp_task *t)
{
  size_t left = v->passes.unknowns;
  for (size_t w = 0; w < v->passes.walls; w++) {
    int64_t i = v->passes.wall[w];
    v->system.diagonal.data[i] = v->active[i] ? 0 : t->lcp->matrix.diagonal.data[i];
    if (v->active[i]) {
      t->p->data[i] = 0;
      left--;
    }
  }
  return left;
}

static mn_status solve_free(mn_lcp_solver *v, const mn_lcp_task *t, double tolerance, int changed)
{
  mn_solve_report inner = {0}, *out = &t->report->solve;
  if (changed && apply_control(v, t) == 0)
    return MN_OK;
  if (changed) {
    MN_TRY(mn_stencil_setup(v->linear, &v->system));
    t->report->outer++;
  }
  int left = t->max_iterations - out->iterations;
  MN_TRY(mn_stencil_solve(v->linear, t->b, tolerance, left, t->p, &inner));
  out->iterations += inner.iterations;
  return MN_OK;
}

static double residual(mn_lcp_solver *v, const mn_lcp_task *t)
{
  return t->report->solve.residual = mn_lcp_passes_residual(&v->passes, t->lcp, t->b, t->p, &v->r);
}

/* Keeps the greatest fall of p since the last outer iteration; the first has no predecessor. */
static void watch_decrease(mn_lcp_solver *v, const mn_lcp_task *t)
{
  double worst = t->report->decrease;
  if (t->report->outer > 1)
    for (size_t i = 0; i < v->before.size; i++)
      worst = fmax(worst, v->before.data[i] - t->p->data[i]);
  t->report->decrease = worst;
  mn_field_copy(&v->before, t->p);
}

mn_status mn_lcp_policy(mn_lcp_solver *v, const mn_lcp_task *t)
{
  mn_solve_report *out = &t->report->solve;
  out->residual = out->initial_residual; /* v->r holds b - A p */
  if (out->residual <= t->tolerance)
    return MN_OK;
  start_system(v, t->lcp);
  first_control(v, t);
  for (int k = 0; k < MOST_OUTER; k++) {
    MN_TRY(solve_free(v, t, t->tolerance, 1));
    watch_decrease(v, t);
    if (residual(v, t) <= t->tolerance || !improve_control(v, t) ||
        out->iterations >= t->max_iterations)
      break;
  }
  return MN_OK;
}

static int is_cold(const mn_field *p)
{
  for (size_t i = 0; i < p->size; i++)
    if (p->data[i] != 0)
      return 0;
  return 1;
}

/* Projected sweeps near the walls move the rim of the active area at a small part of a setup's
 * cost. */
static void settle(mn_lcp_solver *v, const mn_lcp_task *t, int sweeps)
{
  for (int s = 0; s < sweeps; s++)
    mn_lcp_passes_sweep(&v->passes, t->lcp, t->b, t->p);
  mn_lcp_passes_walls(&v->passes, t->lcp, t->b, t->p, &v->r);
  improve_control(v, t);
}

mn_status mn_lcp_fast(mn_lcp_solver *v, const mn_lcp_task *t)
{
  mn_solve_report *out = &t->report->solve;
  int nested = 0, changed = 1;
  out->residual = out->initial_residual;
  if (out->residual <= t->tolerance)
    return MN_OK;
  start_system(v, t->lcp);
  MN_TRY(mn_lcp_passes_band(v->ctx, &v->passes, t->lcp));
  if (is_cold(t->p))
    MN_TRY(mn_lcp_nested_guess(v, t, &nested));
  if (nested)
    settle(v, t, GUESS_SWEEPS);
  else
    first_control(v, t);
  for (int k = 0; k < MOST_OUTER; k++) {
    double aim = changed ? fmax(FALL * out->residual, t->tolerance) : t->tolerance;
    MN_TRY(solve_free(v, t, aim, changed));
    if (residual(v, t) <= t->tolerance || out->iterations >= t->max_iterations)
      break;
    int last = !changed;
    changed = improve_control(v, t) > 0;
    if (changed)
      settle(v, t, SWEEPS);
    if (last && !changed)
      break; /* the linear solver could not go on */
  }
  return MN_OK;
}
