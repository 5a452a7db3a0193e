/* Multigrid for the pressure LCP: fas with its four ablations.

   fas, one cycle: projected Gauss-Seidel sweeps; cells with p = 0 and A p - b > 0 are cut off:
   their rows of the interpolation P are emptied; coarse matrices P^T A P follow; one linear V-cycle
   for the residual of the others; p += P e, p = max(p, 0) on separating cells; sweeps again.

   The thesis [Lai 2021, algorithm 6] keeps the complementarity on every level, min(A q - b, q) = f.
   That adds numbers of different units in f; a prototype that took it literally did not converge
   at 64 cells a side. With no condition below the finest level the full approximation scheme is
   the same as a linear correction, and since cut cells take no part, the correction lowers the
   energy without leaving the bounds by much: a truncated multigrid [Kornhuber 1994].

   Tests: tests/unit/pressure/test_lcp_half_sphere.c, test_lcp_oracle.c. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "pressure/lcp_levels.h"

enum { PATIENCE = 100 }; /* cycles without halving the residual */

/* Cuts off the cells held at 0, from r = b - A x; returns whether any changed. */
static int cut_held(const mn_lcp_flat *f, mn_lcp_level *L)
{
  int changed = 0;
  for (int u = 0; u < f->A.count; u++) {
    unsigned char cut = f->bound[u] && f->x[u] <= 0 && f->r[u] < 0;
    L->changed[u] = cut != L->cut[u];
    changed |= L->changed[u];
    L->cut[u] = cut;
  }
  return changed;
}

static void smooth(mn_lcp_flat *f, int sweeps, int backwards)
{
  for (int s = 0; s < sweeps; s++)
    mn_rows_sweep(&f->A, f->bound, NULL, f->b, 1, backwards, f->x);
}

/* Leaves the residual of the free cells on level 0 and the matrices that belong to it. */
static void prepare(mn_lcp_solver *v)
{
  mn_lcp_flat *f = &v->flat;
  mn_lcp_level *L = &v->levels->level[0];
  mn_flat_residual(f);
  int changed = cut_held(f, L);
  memcpy(L->r, f->r, (size_t)f->A.count * sizeof *L->r);
  if (!changed && !v->levels->fresh)
    return;
  if (v->levels->design.galerkin)
    mn_lcp_galerkin_products(v->levels);
  else
    mn_lcp_direct_hold(v->levels);
}

static void correct_and_project(mn_lcp_solver *v)
{
  mn_lcp_flat *f = &v->flat;
  mn_lcp_level_correct(v->levels, 0, f->x);
  for (int u = 0; u < f->A.count; u++)
    if (f->bound[u] && f->x[u] < 0)
      f->x[u] = 0;
}

static void clear(mn_lcp_level *L)
{
  memset(L->x, 0, (size_t)L->A->count * sizeof *L->x);
}

static void v_cycle(mn_lcp_solver *v)
{
  mn_lcp_levels *levels = v->levels;
  smooth(&v->flat, levels->design.sweeps, 0);
  prepare(v);
  if (levels->count > 1) {
    mn_lcp_level_restrict(levels, 0);
    clear(&levels->level[1]);
    mn_lcp_level_cycle(levels, 1);
    correct_and_project(v);
  }
  smooth(&v->flat, levels->design.sweeps, 1);
}

static mn_status iterate(mn_lcp_solver *v, const mn_lcp_task *t, mn_lcp_design design)
{
  mn_solve_report *out = &t->report->solve;
  out->residual = out->initial_residual;
  if (out->residual <= t->tolerance)
    return MN_OK;
  MN_TRY(mn_lcp_flatten(v, t, 0));
  MN_TRY(mn_lcp_levels_build(v, t->lcp, design));
  t->report->outer = 1;
  mn_lcp_watch watch = mn_lcp_watch_start(out->residual, PATIENCE);
  while (out->residual > t->tolerance && out->iterations < t->max_iterations &&
         !mn_lcp_watch_hopeless(&watch, out->residual)) {
    v_cycle(v);
    out->iterations++;
    out->residual = mn_flat_residual(&v->flat);
  }
  mn_lcp_unflatten(&v->flat, t->p);
  return MN_OK;
}

mn_status mn_lcp_fas(mn_lcp_solver *v, const mn_lcp_task *t)
{
  mn_lcp_design design = {MN_LCP_BARYCENTRIC, 1, 1, 2};
  if (v->kind == MN_LCP_FAS_TRILINEAR)
    design.weights = MN_LCP_TRILINEAR;
  if (v->kind == MN_LCP_FAS_CONSTANT)
    design.weights = MN_LCP_CONSTANT;
  if (v->kind == MN_LCP_FAS_PLAIN_WALLS)
    design.one_sided = 0;
  if (v->kind == MN_LCP_FAS_DIRECT_COARSE)
    design.galerkin = 0;
  return iterate(v, t, design);
}
