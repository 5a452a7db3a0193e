/* Coarser problems from averaged geometry.

   A coarse face is open by the mean of its parts, a coarse level set is the mean of the children:
   the direct discretisation of [Chentanez, Mueller 2012]. As an operator of a multigrid cycle it
   is too crude at cut cells (fmg, fas-direct).
   Tests: tests/unit/pressure/test_lcp_half_sphere.c. */
#include "pressure/lcp_coarse.h"

#include "base/status.h"

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
  MN_TRY(mn_field_create(ctx, &c->grid, MN_CELL, "coarse anchors", &c->anchor));
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
  if (g->anchor) { /* per dx^2 of the level, and the sum of its children's over their number */
    average(g->anchor, -1, &c->anchor);
    for (size_t q = 0; q < c->anchor.size; q++)
      c->anchor.data[q] *= 4;
  }
  c->geometry = (mn_pressure_geometry){.open = c->open,
                                       .liquid = g->liquid ? &c->liquid : NULL,
                                       .open_sides = g->open_sides,
                                       .theta_min = g->theta_min,
                                       .anchor = g->anchor ? &c->anchor : NULL};
  return mn_lcp_assemble(ctx, &c->geometry, &c->lcp);
}

void mn_lcp_coarse_destroy(mn_lcp_coarse *c)
{
  for (int a = 0; a < 3; a++)
    mn_field_destroy(&c->open[a]);
  mn_field_destroy(&c->liquid);
  mn_field_destroy(&c->anchor);
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
