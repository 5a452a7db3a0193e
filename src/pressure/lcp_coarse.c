/* Coarser problems from averaged geometry, and the first guess they give.

   A coarse face is open by the mean of its parts, a coarse level set is the mean of the children:
   the direct discretisation of [Chentanez, Mueller 2012]. As an operator of a multigrid cycle it
   is too crude at cut cells (fmg, fas-direct); as a guess of which cells are active it is good
   enough: the guess is wrong by a cell or two along the rim of the active area.
   Tests: tests/unit/pressure/test_lcp_half_sphere.c. */
#include "pressure/lcp_coarse.h"

#include <math.h>

#include "base/memory.h"
#include "base/status.h"

enum { LEAST_NESTED = 16 };             /* cells along a side of the coarsest guess */
static const double NESTED_FALL = 1e-2; /* of the coarse residual: it is a guess only */

struct mn_lcp_nested {
  mn_lcp_coarse coarse;
  mn_lcp_solver *solver;
};

int mn_lcp_can_halve(const mn_grid *grid, int least)
{
  for (int a = 0; a < grid->dim; a++)
    if (grid->n[a] % 2 || grid->n[a] / 2 < least)
      return 0;
  return 1;
}

static mn_status create(mn_context *ctx, const mn_lcp *fine, mn_lcp_coarse *c)
{
  const mn_grid *g = fine->matrix.diagonal.grid;
  int n[3] = {g->n[0] / 2, g->n[1] / 2, g->dim == 3 ? g->n[2] / 2 : 1};
  c->grid = mn_grid_make(g->exec, g->dim, n, 2 * g->dx, g->origin);
  for (int a = 0; a < g->dim; a++)
    MN_TRY(mn_field_create(ctx, &c->grid, (mn_place)a, "coarse fractions", &c->open[a]));
  MN_TRY(mn_field_create(ctx, &c->grid, MN_CELL, "coarse level set", &c->liquid));
  MN_TRY(mn_field_create(ctx, &c->grid, MN_CELL, "coarse right-hand side", &c->b));
  MN_TRY(mn_field_create(ctx, &c->grid, MN_CELL, "coarse pressure", &c->p));
  return mn_lcp_create(ctx, &c->grid, &c->lcp);
}

/* Each coarse point the mean of the fine ones that make it up: 2 along each axis but `normal`. */
static void average(const mn_field *fine, int normal, mn_field *coarse)
{
  int dim = fine->grid->dim, count = 1;
  int64_t offset[8] = {0};
  for (int a = 0; a < dim; a++) {
    if (a == normal)
      continue;
    for (int c = 0; c < count; c++)
      offset[count + c] = offset[c] + fine->stride[a];
    count *= 2;
  }
#pragma omp parallel for schedule(static) num_threads(fine->grid->exec->threads)
  for (int s = 0; s < mn_slabs(coarse); s++) {
    int k, j0, j1;
    mn_slab(coarse, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++) {
      const double *from = fine->at + mn_index(fine, 0, 2 * j, dim == 3 ? 2 * k : 0);
      double *to = coarse->at + mn_index(coarse, 0, j, k);
      for (int i = 0; i < coarse->n[0]; i++) {
        double sum = 0;
        for (int c = 0; c < count; c++)
          sum += from[2 * i + offset[c]];
        to[i] = sum / count;
      }
    }
  }
}

mn_status mn_lcp_coarsen(mn_context *ctx, const mn_lcp *fine, mn_lcp_coarse *c)
{
  if (!c->lcp.separating) {
    mn_status status = create(ctx, fine, c);
    if (status != MN_OK) {
      mn_lcp_coarse_destroy(c);
      return status;
    }
  }
  const mn_pressure_geometry *g = &fine->geometry;
  for (int a = 0; a < c->grid.dim; a++)
    average(&g->open[a], a, &c->open[a]);
  if (g->liquid)
    average(g->liquid, -1, &c->liquid);
  c->geometry = (mn_pressure_geometry){.open = c->open,
                                       .liquid = g->liquid ? &c->liquid : NULL,
                                       .open_sides = g->open_sides,
                                       .theta_min = g->theta_min};
  return mn_lcp_assemble(ctx, &c->geometry, &c->lcp);
}

void mn_lcp_coarse_destroy(mn_lcp_coarse *c)
{
  for (int a = 0; a < 3; a++)
    mn_field_destroy(&c->open[a]);
  mn_field_destroy(&c->liquid);
  mn_field_destroy(&c->b);
  mn_field_destroy(&c->p);
  mn_lcp_destroy(&c->lcp);
}

void mn_lcp_restrict(const mn_lcp *fine, const mn_field *b, mn_field *coarse)
{
  const mn_field *D = &fine->matrix.diagonal;
  int dim = D->grid->dim, children = 1 << dim;
#pragma omp parallel for schedule(static) num_threads(D->grid->exec->threads)
  for (int s = 0; s < mn_slabs(coarse); s++) {
    int k, j0, j1;
    mn_slab(coarse, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++)
      for (int i = 0; i < coarse->n[0]; i++) {
        double sum = 0;
        int64_t first = mn_index(D, 2 * i, 2 * j, dim == 3 ? 2 * k : 0);
        for (int c = 0; c < children; c++) {
          int64_t at = first + (c & 1) + (c >> 1 & 1) * D->stride[1] + (c >> 2) * D->stride[2];
          sum += D->at[at] > 0 ? b->at[at] : 0;
        }
        mn_set(coarse, i, j, k, sum / children);
      }
  }
}

/* ---- the first guess ----------------------------------------------------------------------- */

void mn_lcp_nested_free(struct mn_lcp_nested **nested)
{
  if (!*nested)
    return;
  mn_lcp_solver_destroy(&(*nested)->solver);
  mn_lcp_coarse_destroy(&(*nested)->coarse);
  mn_free(*nested);
  *nested = NULL;
}

/* Coarse p at the centre of fine cell (i, j, k): linear over the unknowns next to it. */
static double interpolate(const mn_lcp_coarse *c, int i, int j, int k)
{
  const mn_field *D = &c->lcp.matrix.diagonal;
  int at[3] = {i, j, k}, parent[3], side[3], dim = c->grid.dim;
  for (int a = 0; a < 3; a++) {
    parent[a] = a < dim ? at[a] / 2 : 0;
    side[a] = at[a] & 1 ? 1 : -1;
  }
  double sum = 0, weights = 0;
  for (int corner = 0; corner < 1 << dim; corner++) {
    int q[3];
    double w = 1;
    for (int a = 0; a < 3; a++) {
      int there = a < dim && corner >> a & 1;
      q[a] = parent[a] + (there ? side[a] : 0);
      w *= a >= dim ? 1 : there ? 0.25 : 0.75;
    }
    int64_t o = mn_index(D, q[0], q[1], q[2]); /* ghosts are no unknowns */
    int air = c->lcp.air[mn_lcp_origin(&c->lcp) + o];
    sum += D->at[o] > 0 ? w * c->p.at[o] : 0;
    weights += D->at[o] > 0 || air ? w : 0;
  }
  return weights > 0 ? sum / weights : 0;
}

static void guess_cell(mn_lcp_solver *v, const mn_lcp_task *t, const mn_lcp_coarse *c, int i, int j,
                       int k)
{
  const mn_field *D = &t->lcp->matrix.diagonal, *CD = &c->lcp.matrix.diagonal;
  int64_t at = mn_index(D, i, j, k), data = mn_lcp_origin(t->lcp) + at;
  int64_t parent = mn_index(CD, i / 2, j / 2, v->grid->dim == 3 ? k / 2 : 0);
  v->active[data] = 0;
  if (!(D->at[at] > 0))
    return;
  int known = CD->at[parent] > 0 && c->lcp.separating[mn_lcp_origin(&c->lcp) + parent];
  if (t->lcp->separating[data])
    v->active[data] = known ? c->p.at[parent] <= 0 : t->b->at[at] < 0;
  t->p->at[at] = v->active[data] ? 0 : interpolate(c, i, j, k);
}

static void take_guess(mn_lcp_solver *v, const mn_lcp_task *t, const mn_lcp_coarse *c)
{
  const mn_field *D = &t->lcp->matrix.diagonal;
#pragma omp parallel for schedule(static) num_threads(v->grid->exec->threads)
  for (int s = 0; s < mn_slabs(D); s++) {
    int k, j0, j1;
    mn_slab(D, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++) {
      const int *range = v->passes.range + 2 * ((size_t)j + (size_t)D->n[1] * (size_t)k);
      for (int i = range[0]; i < range[1]; i++)
        guess_cell(v, t, c, i, j, k);
    }
  }
}

mn_status mn_lcp_nested_guess(mn_lcp_solver *v, const mn_lcp_task *t, int *done)
{
  *done = 0;
  if (!t->lcp->has_geometry || !mn_lcp_can_halve(v->grid, LEAST_NESTED))
    return MN_OK;
  if (!v->nested)
    MN_TRY(MN_NEW(v->ctx, "nested LCP", 1, &v->nested));
  mn_lcp_coarse *c = &v->nested->coarse;
  MN_TRY(mn_lcp_coarsen(v->ctx, t->lcp, c));
  if (!v->nested->solver)
    MN_TRY(mn_lcp_solver_create(v->ctx, &c->grid, MN_LCP_FAST, &v->nested->solver));
  mn_lcp_restrict(t->lcp, t->b, &c->b);
  mn_field_fill(&c->p, 0);
  double size = 0;
  for (size_t i = 0; i < c->b.size; i++)
    size = fmax(size, fabs(c->b.data[i]));
  mn_lcp_report report;
  MN_TRY(mn_lcp_solve(v->nested->solver, &c->lcp, &c->b, fmax(NESTED_FALL * size, t->tolerance),
                      t->max_iterations, &c->p, &report));
  take_guess(v, t, c);
  *done = 1;
  return MN_OK;
}
