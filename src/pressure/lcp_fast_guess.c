/* The first guess of the default LCP solver: the same problem on aggregates of 2^dim cells.

   The first coarse level of the multigrid (multigrid_setup.c) is the matrix of that problem: its
   faces are open by the mean of the fine ones, links to the surface are averaged. b is the mean of
   the children; a condition holds where it does for one of them. Back on the fine grid

       p_child = p + 1/4 (sum over the axes of the differences to the neighbours on its side),

   which is exact for linear p; a difference across a closed face is 0, and towards the surface or
   an open side the opposite one goes on. Sweeps over the irregular cells follow, projected, and
   cells with a condition are held where they end at 0: wrong by a cell along the rim of the held
   area.
   Tests: tests/unit/pressure/test_lcp_fast.c. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "pressure/lcp_fast.h"

enum { RELAX = 2 }; /* sweeps over irregular cells */

/* ---- a level of the multigrid as a system ---------------------------------------------------- */

static void classify(const void *self, int j, int k, uint8_t *kind, int *lo, int *hi)
{
  const mn_mg_level *L = ((const mn_lcp_fast *)self)->from;
  const int *range = L->range[j + L->n[1] * k];
  memcpy(kind, mn_mg_kinds(L, j, k), (size_t)L->n[0]);
  *lo = range[0];
  *hi = range[1];
}

/* Place of an irregular cell in its list. */
static int32_t find_entry(const mn_mg_level *L, int i, int j, int k, int colour)
{
  const mn_mg_row *row = mn_mg_row_at(L, j, k);
  int32_t lo = row->irregular[colour], hi = row[1].irregular[colour] - 1;
  int32_t at = row->base[colour] + i / 2;
  while (lo < hi) {
    int32_t middle = lo + (hi - lo) / 2;
    if (L->irregular[colour][middle].at < at)
      lo = middle + 1;
    else
      hi = middle;
  }
  return lo;
}

static double cell(const void *self, int i, int j, int k, double c[6])
{
  const mn_mg_level *L = ((const mn_lcp_fast *)self)->from;
  if (mn_mg_kinds(L, j, k)[i] == MN_REGULAR) {
    for (int side = 0; side < 6; side++)
      c[side] = side < 2 * L->dim;
    return (double)L->excess;
  }
  int colour = (i + j + k) & 1;
  int32_t entry = find_entry(L, i, j, k, colour);
  for (int side = 0; side < 6; side++)
    c[side] = (double)L->irregular[colour][entry].c[side];
  return (double)L->cell_excess[colour][entry];
}

static int coupled(const void *self, int axis, int i, int j, int k)
{
  double c[6];
  cell(self, i, j, k, c);
  return c[2 * axis] > 0;
}

static int bound(const void *self, int i, int j, int k, const double c[6], int anchored)
{
  (void)c, (void)anchored;
  const mn_lcp_fast *f = self;
  return f->wall[i + (int64_t)f->grid->n[0] * (j + (int64_t)f->grid->n[1] * k)];
}

/* ---- from fine to coarse --------------------------------------------------------------------- */

static mn_status create(mn_lcp_fast *fine, mn_lcp_fast **out)
{
  const mn_grid *g = fine->grid;
  mn_lcp_fast *c;
  MN_TRY(MN_NEW(fine->ctx, "coarser LCP", 1, &c));
  *out = c;
  int n[3] = {1, 1, 1};
  for (int a = 0; a < g->dim; a++)
    n[a] = (g->n[a] + 1) / 2;
  c->ctx = fine->ctx;
  c->own_grid = mn_grid_make(g->exec, g->dim, n, 2 * g->dx, g->origin);
  c->grid = &c->own_grid;
  c->regions = &c->own_regions;
  MN_TRY(mn_field_create(c->ctx, c->grid, MN_CELL, "coarser right-hand side", &c->b));
  MN_TRY(mn_field_create(c->ctx, c->grid, MN_CELL, "coarser pressure", &c->p));
  size_t cells = (size_t)n[0] * (size_t)n[1] * (size_t)n[2];
  MN_TRY(mn_reserve(c->ctx, "coarser walls", cells, 1, &c->buffer));
  c->wall = c->buffer.data;
  return MN_OK;
}

/* Row (J, K) of the mean of b over the children. */
static void restrict_row(const mn_lcp_fast *f, const mn_field *b, int J, int K)
{
  const mn_lcp_fast *c = f->coarser;
  const mn_mg_level *F = &f->mgpcg.mg.level[0], *C = c->from;
  const int *range = C->range[J + C->n[1] * K];
  int dim = F->dim;
  double *to = c->b.at + mn_index(&c->b, 0, J, K), share = dim == 3 ? 0.125 : 0.25;
  memset(to, 0, (size_t)C->n[0] * sizeof *to);
  for (int t = 0; t < 1 << (dim - 1); t++) {
    int j = 2 * J + (t & 1), k = 2 * K + (t >> 1);
    if (j >= F->n[1] || k >= F->n[2])
      continue;
    const double *from = b->at + mn_index(b, 0, j, k);
    const uint8_t *kind = mn_mg_kinds(F, j, k);
    for (int I = range[0]; I < range[1]; I++) {
      double low = kind[2 * I] ? from[2 * I] : 0;
      double high = 2 * I + 1 < F->n[0] && kind[2 * I + 1] ? from[2 * I + 1] : 0;
      to[I] += share * (low + high);
    }
  }
}

mn_status mn_lcp_fast_coarsen(mn_lcp_fast *f, const mn_field *b, double *size)
{
  mn_multigrid *mg = &f->mgpcg.mg;
  if (!f->coarser)
    MN_TRY(create(f, &f->coarser));
  MN_TRY(mn_multigrid_coarsen(f->ctx, mg, f->grid->exec, 2));
  mn_lcp_fast *c = f->coarser;
  c->from = &mg->level[1];
  c->system = (mn_system){.dim = f->system.dim,
                          .n = {c->grid->n[0], c->grid->n[1], c->grid->n[2]},
                          .scale = f->system.scale / 4,
                          .excess = (double)c->from->excess,
                          .exec = f->grid->exec,
                          .self = c,
                          .classify = classify,
                          .cell = cell,
                          .coupled = coupled,
                          .bound = bound,
                          .bound_self = c};
  memset(c->wall, 0, c->buffer.bytes);
  for (int n = 0; n < mg->bounds; n++) {
    int I = mg->bound[n].i / 2, J = mg->bound[n].j / 2, K = mg->bound[n].k / 2;
    c->wall[I + (int64_t)c->grid->n[0] * (J + (int64_t)c->grid->n[1] * K)] = 1;
  }
  int rows = c->grid->n[1] * c->grid->n[2], ny = c->grid->n[1];
#pragma omp parallel for schedule(static) num_threads(f->grid->exec->threads)
  for (int row = 0; row < rows; row++)
    restrict_row(f, b, row % ny, row / ny);
  mn_field_fill(&c->p, 0);
  *size = 0;
  for (size_t i = 0; i < c->b.size; i++)
    *size = fabs(c->b.data[i]) > *size ? fabs(c->b.data[i]) : *size;
  return mn_regions_build(f->ctx, c->regions, &c->system);
}

/* ---- from coarse to fine --------------------------------------------------------------------- */

/* A quarter of the differences from a coarse cell to its neighbours; `fine` is its entry, or NULL
   for a regular cell. */
static void differences(const mn_field *x, const double *p, const mn_mg_fine *fine, double d[6])
{
  double excess = fine ? fine->diagonal : 0;
  int dim = x->grid->dim;
  for (int side = 0; side < 2 * dim; side++) {
    double c = fine ? fine->c[side] : 1;
    d[side] = c > 0 ? (p[side & 1 ? x->stride[side / 2] : -x->stride[side / 2]] - *p) / 4 : 0;
    excess -= fine ? c : 0;
  }
  if (!fine || !(excess > 1e-6 * fine->diagonal))
    return;
  for (int side = 0; side < 2 * dim; side++)
    if (!(fine->c[side] > 0))
      d[side] = -d[side ^ 1];
}

static void interpolate_row(const mn_lcp_fast *f, int J, int K, mn_field *p)
{
  const mn_lcp_fast *c = f->coarser;
  const mn_mg_level *F = &f->mgpcg.mg.level[0], *C = &c->mgpcg.mg.level[0];
  const mn_mg_row *row = mn_mg_row_at(C, J, K);
  const mn_mg_fine *fine = c->mgpcg.mg.fine + row->irregular[0] + row->irregular[1];
  const int *range = C->range[J + C->n[1] * K];
  const uint8_t *kind = mn_mg_kinds(C, J, K);
  const double *from = c->p.at + mn_index(&c->p, 0, J, K);
  for (int I = range[0]; I < range[1]; I++) {
    double d[6] = {0};
    int what = kind[I] & MN_MG_KIND;
    if (what == MN_DEAD)
      continue;
    differences(&c->p, from + I, what == MN_IRREGULAR ? fine++ : NULL, d);
    for (int t = 0; t < 1 << F->dim; t++) {
      int i = 2 * I + (t & 1), j = 2 * J + (t >> 1 & 1), k = 2 * K + (t >> 2);
      if (i < F->n[0] && j < F->n[1] && k < F->n[2] && mn_mg_kinds(F, j, k)[i] != MN_DEAD)
        mn_set(p, i, j, k, from[I] + d[t & 1] + d[2 + (t >> 1 & 1)] + d[4 + (t >> 2)]);
    }
  }
}

/* p = (b + sum of c p_n) / D at the irregular cells of a colour in a row, not below 0 where that is
   the condition (`t` goes through the cells with one). */
static void relax_row(const mn_lcp_fast *f, const mn_field *b, int colour, int row, mn_field *p)
{
  const mn_multigrid *mg = &f->mgpcg.mg;
  const mn_mg_level *L = &mg->level[0];
  int j = row % L->n[1], k = row / L->n[1];
  const mn_mg_fine *cell = mg->fine + L->row[row].irregular[0] + L->row[row].irregular[1];
  const mn_mg_fine *end = mg->fine + L->row[row + 1].irregular[0] + L->row[row + 1].irregular[1];
  double unscale = 1 / f->system.scale;
  for (; cell < end; cell++) {
    if (((cell->i + j + k) & 1) != colour || !(cell->diagonal > 0))
      continue;
    double *x = p->at + mn_index(p, cell->i, j, k);
    double sum = mn_get(b, cell->i, j, k) * unscale;
    for (int side = 0; side < 6; side++)
      if (cell->c[side] > 0)
        sum += cell->c[side] * x[side & 1 ? p->stride[side / 2] : -p->stride[side / 2]];
    *x = sum < 0 && cell->bound ? 0 : sum / cell->diagonal;
  }
}

/* Irregular cells have rows with entries up to 1/theta_min: what is wrong there is put right at
   once, before it spoils the residual (it saves an iteration or two). */
static void relax_irregular(const mn_lcp_fast *f, const mn_field *b, mn_field *p)
{
  int rows = f->grid->n[1] * f->grid->n[2];
  for (int half = 0; half < 2 * RELAX; half++) {
#pragma omp parallel for schedule(static) num_threads(f->grid->exec->threads)
    for (int row = 0; row < rows; row++)
      relax_row(f, b, half & 1, row, p);
  }
}

void mn_lcp_fast_interpolate(mn_lcp_fast *f, const mn_field *b, mn_field *p)
{
  mn_multigrid *mg = &f->mgpcg.mg;
  int rows = f->coarser->grid->n[1] * f->coarser->grid->n[2], ny = f->coarser->grid->n[1];
#pragma omp parallel for schedule(static) num_threads(f->grid->exec->threads)
  for (int row = 0; row < rows; row++)
    interpolate_row(f, row % ny, row / ny, p);
  relax_irregular(f, b, p);
  for (int n = 0; n < mg->bounds; n++)
    mn_multigrid_hold(mg, n, p->at[mn_lcp_fast_at(f, p, n)] <= 0);
}
