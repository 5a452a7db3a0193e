/* Policy iteration for the pressure LCP, and the default solver built around it.

   Active cells are held at p = 0 and leave the system; the others satisfy A p = b. After a solve,
   the control test makes a separating cell active where

       D p < A p - b,   D the diagonal of A,

   and free elsewhere [Lai 2021, algorithm 2]. The thesis compares p itself, which has another unit:
   with inexact inner solves that cycles, since D spans seven orders of magnitude. For an
   M-matrix p grows monotonically from the second iterate on, so the method ends.

   fast: between two control tests the residual is reduced ten times only; a cold start takes the
   active cells of the same problem on the next coarser grid, found in the same way.
   Tests: tests/unit/pressure/test_lcp_oracle.c (enumeration, monotone), test_lcp.c. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "pressure/lcp_coarse.h"
#include "pressure/lcp_internal.h"

enum { MOST_OUTER = 200 };
static const double FALL = 0.1; /* of the residual between control tests, fast */

static void copy_couplings(mn_lcp_solver *v, const mn_lcp *lcp)
{
  for (int a = 0; a < v->grid->dim; a++)
    mn_field_copy(&v->system.off[a], &lcp->matrix.off[a]);
}

/* The first control: cells that stood at 0 and are pushed there. */
static void first_control(mn_lcp_solver *v, const mn_lcp_task *t)
{
  for (size_t i = 0; i < v->r.size; i++)
    v->active[i] = t->lcp->separating[i] && t->p->data[i] <= 0 && v->r.data[i] < 0;
}

/* The control test; returns how many cells changed. */
static int improve_control(mn_lcp_solver *v, const mn_lcp_task *t)
{
  const double *D = t->lcp->matrix.diagonal.data, *p = t->p->data;
  int changed = 0;
  for (size_t i = 0; i < v->r.size; i++)
    if (t->lcp->separating[i]) {
      unsigned char active = D[i] * p[i] < -v->r.data[i];
      changed += active != v->active[i];
      v->active[i] = active;
    }
  return changed;
}

/* Removes the active cells from the system; returns how many unknowns are left. */
static size_t apply_control(mn_lcp_solver *v, const mn_lcp_task *t)
{
  size_t left = 0;
  mn_field *D = &v->system.diagonal;
  for (size_t i = 0; i < D->size; i++) {
    D->data[i] = v->active[i] ? 0 : t->lcp->matrix.diagonal.data[i];
    left += D->data[i] > 0;
    if (v->active[i])
      t->p->data[i] = 0;
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
  mn_stencil_residual(&t->lcp->matrix, t->b, t->p, &v->r);
  return t->report->solve.residual = mn_lcp_measure(t->lcp, t->p, &v->r);
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
  copy_couplings(v, t->lcp);
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

mn_status mn_lcp_fast(mn_lcp_solver *v, const mn_lcp_task *t)
{
  mn_solve_report *out = &t->report->solve;
  int nested = 0, changed = 1;
  out->residual = out->initial_residual;
  if (out->residual <= t->tolerance)
    return MN_OK;
  if (is_cold(t->p))
    MN_TRY(mn_lcp_nested_guess(v, t, &nested));
  copy_couplings(v, t->lcp);
  if (!nested)
    first_control(v, t);
  for (int k = 0; k < MOST_OUTER; k++) {
    double aim = changed ? fmax(FALL * out->residual, t->tolerance) : t->tolerance;
    MN_TRY(solve_free(v, t, aim, changed));
    if (residual(v, t) <= t->tolerance || out->iterations >= t->max_iterations)
      break;
    int last = !changed;
    changed = improve_control(v, t) > 0;
    if (last && !changed)
      break; /* the linear solver could not go on */
  }
  return MN_OK;
}
