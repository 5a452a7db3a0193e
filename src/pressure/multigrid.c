/* The multigrid cycle: red-black Gauss-Seidel, aggregation.

   One visit of a level: sweeps R B R B, red residual to the coarse level (the black one is 0 after
   a black sweep), coarse visit, correction of red, sweeps B R B R. The order after the coarse visit
   is the reverse of the one before, so the cycle is symmetric. The first coarse level is visited
   twice. Fine half index h and coarse index I = h of the parent agree, whatever the colour:
   transfers are contiguous too. Regular cells: u = (f + sum of neighbours) / diagonal in vector
   loops over whole rows; dead cells get harmless values; the irregular ones are then done again
   from their list. Speed: see docs/theory/pressure.md; plain twin of every kernel in
   tests/unit/pressure/. */
#include "pressure/multigrid.h"

#include <string.h>

typedef float lanes __attribute__((vector_size(4 * MN_MG_LANES), aligned(4), may_alias));

enum { RED, BLACK };

static inline float gather(const mn_mg_cell *cell, const float *o, const mn_mg_near *t)
{
  const float *at = o + cell->at;
  return ((cell->c[0] * at[t->x[0]] + cell->c[1] * at[t->x[1]]) +
          (cell->c[2] * at[t->y[0]] + cell->c[3] * at[t->y[1]])) +
         (cell->c[4] * at[t->z[0]] + cell->c[5] * at[t->z[1]]);
}

#define LOAD(x) (*(const lanes *)(x))
/* Sum of the neighbours of the cells from o on. */
#define NEIGHBOURS_2D(o, t)                                                                        \
  ((LOAD((o) + (t).x[0]) + LOAD((o) + (t).x[1])) + (LOAD((o) + (t).y[0]) + LOAD((o) + (t).y[1])))
#define NEIGHBOURS_3D(o, t) (NEIGHBOURS_2D(o, t) + (LOAD((o) + (t).z[0]) + LOAD((o) + (t).z[1])))

/* ---- stages over slabs --------------------------------------------------------------------- */

void mn_mg_run(const mn_mg_level *L, mn_mg_stage *const *stages, int count, void *user)
{
  int least_slabs = 2 * (count + 1), blocks = L->slabs / least_slabs, slabs = L->slabs;
  blocks = blocks > L->threads ? L->threads : blocks < 1 ? 1 : blocks;
#pragma omp parallel for schedule(static) num_threads(blocks)
  for (int block = 0; block < blocks; block++) {
    int begin = (int)((int64_t)slabs * block / blocks);
    int end = (int)((int64_t)slabs * (block + 1) / blocks);
    for (int t = begin; t < end + count; t++)
      for (int s = 0; s < count; s++) {
        int lo = block > 0 ? begin + s : begin, hi = block + 1 < blocks ? end - s : end;
        if (t - s >= lo && t - s < hi)
          stages[s](user, L, t - s);
      }
  }
  if (blocks == 1)
    return;
#pragma omp parallel for schedule(static) num_threads(blocks)
  for (int block = 1; block < blocks; block++) {
    int begin = (int)((int64_t)slabs * block / blocks);
    for (int s = 1; s < count; s++)
      for (int slab = begin - s; slab < begin + s; slab++)
        stages[s](user, L, slab);
  }
}

static void clear_dead(const mn_mg_level *L, int slab, int colour, float *x)
{
  for (int32_t d = L->slab[slab].dead[colour]; d < L->slab[slab + 1].dead[colour]; d++)
    memset(x + L->dead[colour][d].at, 0, (size_t)L->dead[colour][d].count * sizeof *x);
}

/* u = (f + sum of neighbours) / diagonal for one colour of a slab. */
static void relax(const mn_mg_level *L, int s, int colour)
{
  const mn_mg_slab *slab = &L->slab[s];
  const float *o = L->u[1 - colour], *f = L->f[colour];
  float *u = L->u[colour], inverse = L->inverse;
  int32_t hi = slab->hi;
  mn_mg_near t = mn_mg_near_of(L, slab, colour);
  if (L->dim == 3)
    for (int32_t i = slab->lo; i < hi; i += MN_MG_LANES)
      *(lanes *)(u + i) = (LOAD(f + i) + NEIGHBOURS_3D(o + i, t)) * inverse;
  else
    for (int32_t i = slab->lo; i < hi; i += MN_MG_LANES)
      *(lanes *)(u + i) = (LOAD(f + i) + NEIGHBOURS_2D(o + i, t)) * inverse;
  const mn_mg_cell *cell = L->irregular[colour] + slab->irregular[colour];
  const mn_mg_cell *end = L->irregular[colour] + slab[1].irregular[colour];
  for (; cell < end; cell++)
    u[cell->at] = (f[cell->at] + gather(cell, o, &t)) * cell->inverse;
}

static void red(void *user, const mn_mg_level *L, int slab)
{
  (void)user;
  relax(L, slab, RED);
}
static void black(void *user, const mn_mg_level *L, int slab)
{
  (void)user;
  relax(L, slab, BLACK);
}
/* The last sweeps leave 0 in dead cells, for the sums that follow. */
static void red_last(void *user, const mn_mg_level *L, int slab)
{
  (void)user;
  relax(L, slab, RED);
  clear_dead(L, slab, RED, L->u[RED]);
}
static void black_last(void *user, const mn_mg_level *L, int slab)
{
  (void)user;
  relax(L, slab, BLACK);
  clear_dead(L, slab, BLACK, L->u[BLACK]);
}

/* The red sweep when all is 0. */
static void red_first(void *user, const mn_mg_level *L, int s)
{
  const mn_mg_slab *slab = &L->slab[s];
  const float *f = L->f[RED];
  float *u = L->u[RED], inverse = L->inverse;
  int32_t hi = slab->hi;
  (void)user;
  for (int32_t i = slab->lo; i < hi; i += MN_MG_LANES)
    *(lanes *)(u + i) = LOAD(f + i) * inverse;
  for (int32_t n = slab->irregular[RED]; n < slab[1].irregular[RED]; n++) {
    const mn_mg_cell *cell = &L->irregular[RED][n];
    u[cell->at] = f[cell->at] * cell->inverse;
  }
}

/* t = f - A u for the red cells; 0 at dead ones. */
static void red_residual(void *user, const mn_mg_level *L, int s)
{
  (void)user;
  const mn_mg_slab *slab = &L->slab[s];
  const float *o = L->u[BLACK], *f = L->f[RED], *u = L->u[RED];
  float *out = L->t, diagonal = L->diagonal;
  int32_t hi = slab->hi;
  mn_mg_near t = mn_mg_near_of(L, slab, RED);
  if (L->dim == 3)
    for (int32_t i = slab->lo; i < hi; i += MN_MG_LANES)
      *(lanes *)(out + i) = (LOAD(f + i) + NEIGHBOURS_3D(o + i, t)) - LOAD(u + i) * diagonal;
  else
    for (int32_t i = slab->lo; i < hi; i += MN_MG_LANES)
      *(lanes *)(out + i) = (LOAD(f + i) + NEIGHBOURS_2D(o + i, t)) - LOAD(u + i) * diagonal;
  clear_dead(L, s, RED, L->t);
  for (int32_t n = slab->irregular[RED]; n < slab[1].irregular[RED]; n++) {
    const mn_mg_cell *cell = &L->irregular[RED][n];
    float sum = f[cell->at] + gather(cell, o, &t);
    out[cell->at] = cell->inverse > 0 ? sum - u[cell->at] / cell->inverse : 0;
  }
}

/* ---- transfers ----------------------------------------------------------------------------- */

/* A coarse row as one array in the order of I, from 2 lo on, and back. */
static void join_colours(const mn_mg_level *C, const mn_mg_row *row, float *x)
{
  int even_colour = row->parity, odd_colour = 1 - even_colour;
  const float *even = C->u[even_colour] + row->base[even_colour];
  const float *odd = C->u[odd_colour] + row->base[odd_colour];
  for (int h = row->lo; h < row->hi; h++) {
    x[2 * h] = even[h];
    x[2 * h + 1] = odd[h];
  }
}
static void split_colours(const mn_mg_level *C, const mn_mg_row *row, const float *x, float factor)
{
  int even_colour = row->parity, odd_colour = 1 - even_colour;
  float *even = C->f[even_colour] + row->base[even_colour];
  float *odd = C->f[odd_colour] + row->base[odd_colour];
  for (int h = row->lo; h < row->hi; h++) {
    even[h] = x[2 * h] * factor;
    odd[h] = x[2 * h + 1] * factor;
  }
}

/* f_coarse = factor * sum of the children's residuals t; the factor belongs to the scaling of the
   coarse matrix and to over-correction by 2. */
static void restrict_residual(const mn_multigrid *mg, const mn_mg_level *F, const mn_mg_level *C)
{
  float factor = mg->dim == 3 ? 0.5F : 1.0F;
#pragma omp parallel for schedule(static) num_threads(F->threads)
  for (int s = 0; s < C->slabs; s++) {
    int K, J0, J1;
    float *sum = F->scratch + (size_t)s * F->scratch_row;
    mn_mg_slab_rows(C, s, &K, &J0, &J1);
    for (int J = J0; J < J1; J++) {
      const mn_mg_row *row = mn_mg_row_at(C, J, K);
      if (row->lo >= row->hi)
        continue;
      memset(sum + 2 * row->lo, 0, 2 * (size_t)(row->hi - row->lo) * sizeof *sum);
      for (int t = 0; t < 4; t++) {
        int j = 2 * J + (t & 1), k = 2 * K + (t >> 1);
        if (j >= F->n[1] || k >= F->n[2])
          continue;
        const mn_mg_row *child = mn_mg_row_at(F, j, k);
        const float *r = F->t + child->base[RED];
        for (int h = child->lo; h < child->hi; h++)
          sum[h] += r[h];
      }
      split_colours(C, row, sum, factor);
    }
  }
}

/* The residuals of orphans go where they belong. */
static void restrict_orphans(const mn_multigrid *mg, const mn_mg_level *F, const mn_mg_level *C)
{
  float factor = mg->dim == 3 ? 0.5F : 1.0F;
  for (size_t n = 0; n < F->orphans; n++) {
    const mn_mg_orphan *o = &F->orphan[n];
    if (o->here.colour != RED)
      continue;
    C->f[o->from.colour][o->from.at] -= factor * F->t[o->here.at];
    C->f[o->to.colour][o->to.at] += factor * F->t[o->here.at];
  }
}

static void correct_orphans(const mn_mg_level *L, const mn_mg_level *C, int slab)
{
  for (int32_t n = L->first_orphan[slab]; n < L->first_orphan[slab + 1]; n++) {
    const mn_mg_orphan *o = &L->orphan[n];
    if (o->here.colour == RED)
      L->u[RED][o->here.at] += C->u[o->to.colour][o->to.at] - C->u[o->from.colour][o->from.at];
  }
}

/* The coarse correction of held cells is none. */
static void clear_held(const mn_mg_level *L, int slab)
{
  const mn_mg_cell *cell = L->irregular[RED] + L->slab[slab].irregular[RED];
  const mn_mg_cell *end = L->irregular[RED] + L->slab[slab + 1].irregular[RED];
  for (; cell < end; cell++)
    if (!(cell->inverse > 0))
      L->u[RED][cell->at] = 0;
}

/* u += coarse u for the red cells of a slab; L + 1 is the coarse level. */
static void correct(void *user, const mn_mg_level *L, int slab)
{
  (void)user;
  const mn_mg_level *C = L + 1;
  int k, j0, j1;
  float *e = L->scratch + (size_t)slab * L->scratch_row;
  mn_mg_slab_rows(L, slab, &k, &j0, &j1);
  for (int J = j0 / 2; J < (j1 + 1) / 2; J++) {
    const mn_mg_row *row = mn_mg_row_at(C, J, k / 2);
    if (row->lo >= row->hi)
      continue;
    join_colours(C, row, e);
    for (int j = 2 * J; j < 2 * J + 2 && j < j1; j++) {
      const mn_mg_row *child = mn_mg_row_at(L, j, k);
      float *u = L->u[RED] + child->base[RED];
      for (int h = child->lo; h < child->hi; h++)
        u[h] += e[h];
    }
  }
  if (L->orphans)
    correct_orphans(L, C, slab);
  if (L->holds)
    clear_held(L, slab);
}

static void solve_dense(const mn_multigrid *mg, const mn_mg_level *L)
{
  float f[MN_MG_DENSE];
  int m = mg->dense;
  for (int u = 0; u < m; u++)
    f[u] = L->f[mg->dense_cell[u].colour][mg->dense_cell[u].at];
  for (int u = 0; u < m; u++) {
    float sum = 0;
    for (int v = 0; v < m; v++)
      sum += mg->inverse[u * m + v] * f[v];
    L->u[mg->dense_cell[u].colour][mg->dense_cell[u].at] = sum;
  }
}

/* `then`: a further stage behind the last sweep; may be NULL. */
static void visit(mn_multigrid *mg, int l, int zero, mn_mg_stage *then, void *user)
{
  static mn_mg_stage *const before_zero[5] = {red_first, black, red, black, red_residual};
  static mn_mg_stage *const before[5] = {red, black, red, black, red_residual};
  mn_mg_stage *const after[6] = {correct, black, red, black_last, red_last, then};
  mn_mg_level *L = &mg->level[l];
  if (l == mg->levels - 1) {
    solve_dense(mg, L);
    if (then)
      mn_mg_run(L, &then, 1, user);
    return;
  }
  mn_mg_run(L, zero ? before_zero : before, 5, user);
  restrict_residual(mg, L, L + 1);
  if (L->orphans)
    restrict_orphans(mg, L, L + 1);
  visit(mg, l + 1, 1, NULL, NULL);
  if (l == 0 && !mg->once)
    visit(mg, l + 1, 0, NULL, NULL);
  mn_mg_run(L, after, then ? 6 : 5, user);
}

void mn_multigrid_cycle(mn_multigrid *mg, mn_mg_stage *then, void *user)
{
  visit(mg, 0, 1, then, user);
}
