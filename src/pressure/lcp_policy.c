/* Policy iteration for the pressure LCP: pi-pcg and pi-mg, the plain twins of fast.

   Active cells are held at p = 0 and leave the system; the others satisfy A p = b. After a solve,
   the control test makes a separating cell active where

       D p < A p - b,   D the diagonal of A,

   and free elsewhere [Lai 2021, algorithm 2]; the first control comes from a few projected sweeps.
   The thesis compares p itself, which has another unit:
   with inexact inner solves that cycles, since D spans seven orders of magnitude. For an
   M-matrix p grows monotonically from the second iterate on, so the method ends.
   Tests: tests/unit/pressure/test_lcp_oracle.c (enumeration, monotone), test_lcp.c. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "pressure/lcp_internal.h"

enum { MOST_OUTER = 200, FIRST_SWEEPS = 8 };

static void start_system(mn_lcp_solver *v, const mn_lcp *lcp)
{
  mn_field_copy(&v->system.diagonal, &lcp->matrix.diagonal);
  for (int a = 0; a < v->grid->dim; a++)
    v->system.off[a] = lcp->matrix.off[a]; /* borrowed: active rows only leave */
}

/* The first control: cells that stood at 0 and are pushed there, after some projected sweeps, which
   tell more than the last step's pressure alone. */
static mn_status first_control(mn_lcp_solver *v, const mn_lcp_task *t)
{
  const mn_lcp_flat *f = &v->flat;
  MN_TRY(mn_lcp_flatten(v, t, 0));
  for (int n = 0; n < FIRST_SWEEPS; n++)
    mn_rows_sweep(&f->A, f->bound, NULL, f->b, 1, n & 1, f->x);
  mn_lcp_unflatten(f, t->p);
  mn_lcp_passes_residual(&v->passes, t->lcp, t->b, t->p, &v->r);
  for (size_t w = 0; w < v->passes.walls; w++) {
    int64_t i = v->passes.wall[w];
    v->active[i] = t->p->data[i] <= 0 && v->r.data[i] < 0;
  }
  return MN_OK;
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

static mn_status solve_free(mn_lcp_solver *v, const mn_lcp_task *t)
{
  mn_solve_report inner = {0}, *out = &t->report->solve;
  if (apply_control(v, t) == 0)
    return MN_OK;
  MN_TRY(mn_stencil_setup(v->linear, &v->system));
  t->report->outer++;
  int left = t->max_iterations - out->iterations;
  MN_TRY(mn_stencil_solve(v->linear, t->b, t->tolerance, left, t->p, &inner));
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
  MN_TRY(first_control(v, t));
  for (int k = 0; k < MOST_OUTER; k++) {
    MN_TRY(solve_free(v, t));
    watch_decrease(v, t);
    if (residual(v, t) <= t->tolerance || !improve_control(v, t) ||
        out->iterations >= t->max_iterations)
      break;
  }
  return MN_OK;
}
