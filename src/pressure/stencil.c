/* mn_stencil: storage, the residual, and the two solvers behind one door. The multigrid solver sees
   the matrix divided by the coupling of its inner points, which are found by comparison: those
   whose couplings and diagonal equal a reference point's, so constant coefficients cost nothing.
   Tests: tests/unit/pressure/test_stencil.c. */
#include "pressure/stencil.h"

#include <math.h>

#include "base/memory.h"
#include "base/status.h"
#include "pressure/mgpcg.h"
#include "pressure/mic.h"

struct mn_stencil_solver {
  mn_context *ctx;
  const mn_grid *grid;
  mn_pressure_solver kind;
  mn_stencil_view view; /* of the last setup's matrix, which is borrowed */
  mn_mic pcg;
  mn_regions regions;
  mn_mgpcg mgpcg;
};

/* Below this share of the diagonal a row sum is rounding: the row is not anchored. */
static const double ROUNDING = 1e-13;

mn_status mn_stencil_create(mn_context *ctx, const mn_grid *grid, mn_place place, mn_stencil *s)
{
  *s = (mn_stencil){0};
  mn_status status = mn_field_create(ctx, grid, place, "stencil diagonal", &s->diagonal);
  for (int a = 0; a < grid->dim && status == MN_OK; a++)
    status = mn_field_create(ctx, grid, place, "stencil couplings", &s->off[a]);
  if (status != MN_OK)
    mn_stencil_destroy(s);
  return status;
}

void mn_stencil_destroy(mn_stencil *s)
{
  mn_field_destroy(&s->diagonal);
  for (int a = 0; a < 3; a++)
    mn_field_destroy(&s->off[a]);
}

/* Couplings of an unknown to its neighbours; 0 towards points that are no unknowns. */
static void couplings(const mn_stencil *s, int i, int j, int k, double c[6])
{
  const mn_field *D = &s->diagonal;
  int at[3] = {i, j, k};
  int64_t here = mn_index(D, i, j, k);
  for (int a = 0; a < 3; a++) {
    c[2 * a] = c[2 * a + 1] = 0;
    if (a >= D->grid->dim)
      continue;
    int64_t up = D->stride[a];
    if (at[a] > 0 && D->at[here - up] > 0)
      c[2 * a] = s->off[a].at[here];
    if (at[a] + 1 < D->n[a] && D->at[here + up] > 0)
      c[2 * a + 1] = s->off[a].at[here + up];
  }
}

double mn_stencil_residual(const mn_stencil *s, const mn_field *b, const mn_field *x, mn_field *r)
{
  const mn_field *D = &s->diagonal;
  double worst = 0;
  for (int k = 0; k < D->n[2]; k++)
    for (int j = 0; j < D->n[1]; j++)
      for (int i = 0; i < D->n[0]; i++) {
        int64_t here = mn_index(D, i, j, k);
        r->at[here] = 0;
        if (!(D->at[here] > 0))
          continue;
        double c[6], sum = b->at[here] - D->at[here] * x->at[here];
        couplings(s, i, j, k, c);
        for (int side = 0; side < 2 * D->grid->dim; side++)
          if (c[side] != 0)
            sum += c[side] * x->at[here + (side & 1 ? 1 : -1) * D->stride[side / 2]];
        r->at[here] = sum;
        worst = mn_worse(worst, sum);
      }
  return worst;
}

/* ---- as a system --------------------------------------------------------------------------- */

static double cell(const void *self, int i, int j, int k, double c[6])
{
  const mn_stencil_view *v = self;
  couplings(v->s, i, j, k, c);
  double d = mn_get(&v->s->diagonal, i, j, k) / v->system.scale, sum = 0;
  for (int side = 0; side < 6; side++)
    sum += c[side] /= v->system.scale;
  return d - sum > ROUNDING * d ? d - sum : 0;
}

static int coupled(const void *self, int axis, int i, int j, int k)
{
  const mn_stencil_view *v = self;
  return mn_get(&v->s->off[axis], i, j, k) > 0;
}

static void classify(const void *self, int j, int k, uint8_t *kind, int *lo, int *hi)
{
  const mn_stencil_view *v = self;
  const mn_field *D = &v->s->diagonal;
  int dim = D->grid->dim, n = D->n[0];
  const double *d = D->at + mn_index(D, 0, j, k);
  double off = v->system.scale;
  double diagonal = off * (2 * dim + v->system.excess);
  int inner = j > 0 && j + 1 < D->n[1] && (dim == 2 || (k > 0 && k + 1 < D->n[2]));
  *lo = n;
  *hi = 0;
  for (int i = 0; i < n; i++) {
    int regular = inner && i > 0 && i + 1 < n && fabs(d[i] - diagonal) <= 4e-16 * diagonal;
    for (int a = 0; a < dim && regular; a++) {
      const double *o = v->s->off[a].at + mn_index(D, 0, j, k);
      int64_t up = D->stride[a];
      regular = o[i] == off && o[i + up] == off && d[i - up] > 0 && d[i + up] > 0;
    }
    kind[i] = !(d[i] > 0) ? MN_DEAD : regular ? MN_REGULAR : MN_IRREGULAR;
    if (kind[i] != MN_DEAD) {
      *lo = i < *lo ? i : *lo;
      *hi = i + 1;
    }
  }
  if (*hi == 0)
    *lo = 0;
}

/* Takes the scale from a point whose couplings are all equal: the one nearest behind the middle of
   the box in memory order. */
static void find_reference(mn_stencil_view *v)
{
  const mn_field *D = &v->s->diagonal;
  int dim = D->grid->dim;
  int64_t count = (int64_t)D->n[0] * D->n[1] * D->n[2];
  int64_t middle =
      D->n[0] / 2 + (int64_t)D->n[0] * (D->n[1] / 2 + (int64_t)D->n[1] * (D->n[2] / 2));
  double fallback = 1;
  for (int64_t t = 0; t < count; t++) {
    int64_t p = (middle + t) % count;
    int i = (int)(p % D->n[0]), j = (int)(p / D->n[0] % D->n[1]);
    int k = (int)(p / D->n[0] / D->n[1]);
    double c[6], d = mn_get(D, i, j, k);
    if (!(d > 0))
      continue;
    fallback = d / (2 * dim);
    couplings(v->s, i, j, k, c);
    int equal = c[0] > 0;
    for (int side = 1; side < 2 * dim; side++)
      equal = equal && c[side] == c[0];
    if (!equal)
      continue;
    double excess = d / c[0] - 2 * dim;
    v->system.scale = c[0];
    v->system.excess = excess > ROUNDING * d / c[0] ? excess : 0;
    return;
  }
  v->system.scale = fallback;
  v->system.excess = 0;
}

void mn_stencil_view_make(const mn_stencil *s, mn_stencil_view *v)
{
  const mn_field *D = &s->diagonal;
  v->s = s;
  v->system = (mn_system){.dim = D->grid->dim,
                          .n = {D->n[0], D->n[1], D->n[2]},
                          .exec = D->grid->exec,
                          .self = v,
                          .classify = classify,
                          .cell = cell,
                          .coupled = coupled};
  find_reference(v);
}

/* ---- the solver ---------------------------------------------------------------------------- */

mn_status mn_stencil_solver_create(mn_context *ctx, const mn_grid *grid, mn_place place,
                                   mn_pressure_solver kind, mn_stencil_solver **out)
{
  mn_stencil_solver *v;
  *out = NULL;
  MN_TRY(MN_NEW(ctx, "stencil solver", 1, &v));
  v->ctx = ctx;
  v->grid = grid;
  v->kind = kind;
  mn_status status = MN_OK;
  if (kind == MN_PRESSURE_PCG)
    status = mn_mic_create(ctx, grid, place, &v->pcg);
  if (status != MN_OK)
    mn_stencil_solver_destroy(&v);
  *out = v;
  return status;
}

void mn_stencil_solver_destroy(mn_stencil_solver **solver)
{
  mn_stencil_solver *v = *solver;
  if (!v)
    return;
  mn_mic_destroy(&v->pcg);
  mn_regions_free(&v->regions);
  mn_mgpcg_free(&v->mgpcg);
  mn_free(v);
  *solver = NULL;
}

mn_status mn_stencil_setup(mn_stencil_solver *v, const mn_stencil *s)
{
  v->view.s = s;
  if (v->kind == MN_PRESSURE_PCG) {
    mn_mic_setup(&v->pcg, s);
    return MN_OK;
  }
  mn_stencil_view_make(s, &v->view);
  MN_TRY(mn_regions_build(v->ctx, &v->regions, &v->view.system));
  return mn_mgpcg_setup(v->ctx, &v->mgpcg, &v->view.system, &v->regions);
}

mn_status mn_stencil_solve(mn_stencil_solver *v, const mn_field *b, double tolerance,
                           int max_iterations, mn_field *x, mn_solve_report *report)
{
  *report = (mn_solve_report){0};
  if (v->kind == MN_PRESSURE_PCG)
    mn_mic_solve(&v->pcg, v->view.s, NULL, b, tolerance, max_iterations, x, report);
  else
    mn_mgpcg_solve(&v->mgpcg, &v->view.system, &v->regions, b, tolerance, max_iterations, x,
                   report);
  return MN_OK;
}
