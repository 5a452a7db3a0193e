/* Levels of fas and fmg: which cells are unknowns, interpolation between them, the linear cycle.

   Coarse cells are 2 x 2 (x 2) fine ones; one is an unknown when any of its children is. A fine
   cell's value comes from its parent and the coarse cells next to it on its side: barycentric (1/4
   of each in 3D; 1/2, 1/4, 1/4 in 2D), trilinear, or the parent alone. Air cells count as 0.
   Weights towards solid cells, or through a closed face, are shared out among the others so that
   they sum to 1 [Lai 2021, 5.3.3]: the correction is then constant up to the wall, as the pressure
   nearly is. Coarse matrices: lcp_galerkin.c. Tests: tests/unit/pressure/test_lcp_levels.c,
   test_lcp_half_sphere.c. */
#include "pressure/lcp_levels.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

enum { COARSEST_SWEEPS = 60 };

/* ---- life ---------------------------------------------------------------------------------- */

void mn_lcp_levels_free(struct mn_lcp_levels **levels)
{
  if (!*levels)
    return;
  for (int l = 0; l < MN_LCP_MOST_LEVELS; l++) {
    mn_lcp_level *L = &(*levels)->level[l];
    mn_rows_free(&L->own);
    mn_lcp_coarse_destroy(&L->direct);
    for (size_t i = 0; i < sizeof L->buffer / sizeof *L->buffer; i++)
      mn_buffer_free(&L->buffer[i]);
  }
  mn_free(*levels);
  *levels = NULL;
}

size_t mn_lcp_levels_bytes(const struct mn_lcp_levels *levels)
{
  size_t bytes = levels ? sizeof *levels : 0;
  for (int l = 0; levels && l < MN_LCP_MOST_LEVELS; l++) {
    const mn_lcp_level *L = &levels->level[l];
    for (size_t i = 0; i < sizeof L->buffer / sizeof *L->buffer; i++)
      bytes += L->buffer[i].bytes;
    for (size_t i = 0; i < sizeof L->own.buffer / sizeof *L->own.buffer; i++)
      bytes += L->own.buffer[i].bytes;
  }
  return bytes;
}

static mn_status reserve_cells(mn_context *ctx, mn_lcp_level *L)
{
  size_t cells = (size_t)L->n[0] * (size_t)L->n[1] * (size_t)L->n[2];
  MN_TRY(mn_reserve(ctx, "level cells", cells, sizeof *L->number, &L->buffer[0]));
  MN_TRY(mn_reserve(ctx, "level planes", (size_t)mn_lcp_planes(L) + 1, sizeof *L->plane,
                    &L->buffer[1]));
  MN_TRY(mn_reserve(ctx, "level faces", cells, 1, &L->buffer[12]));
  L->number = L->buffer[0].data;
  L->plane = L->buffer[1].data;
  L->joined = L->buffer[12].data;
  return MN_OK;
}

static mn_status reserve_rows(mn_context *ctx, mn_lcp_level *L, int finest)
{
  size_t rows = (size_t)L->plane[mn_lcp_planes(L)];
  double **vectors[3] = {&L->r, &L->x, &L->b};
  for (int i = 0; i < (finest ? 1 : 3); i++) {
    MN_TRY(mn_reserve(ctx, "level vector", rows, sizeof(double), &L->buffer[2 + i]));
    *vectors[i] = L->buffer[2 + i].data;
  }
  MN_TRY(mn_reserve(ctx, "cut rows", rows, 1, &L->buffer[5]));
  MN_TRY(mn_reserve(ctx, "changed rows", rows, 1, &L->buffer[6]));
  MN_TRY(mn_reserve(ctx, "level keys", rows, sizeof *L->key, &L->buffer[7]));
  L->cut = L->buffer[5].data;
  L->changed = L->buffer[6].data;
  L->key = L->buffer[7].data;
  memset(L->cut, 0, rows);
  return MN_OK;
}

/* ---- which cells are unknowns -------------------------------------------------------------- */

/* Of an assembled problem: 0 for an unknown. */
static void classify_problem(const mn_lcp *lcp, mn_lcp_level *L, int j, int k)
{
  const mn_field *D = &lcp->matrix.diagonal;
  int64_t origin = mn_lcp_origin(lcp), c = mn_index(D, 0, j, k);
  int *number = L->number + mn_lcp_cell(L, 0, j, k);
  unsigned char *joined = L->joined + mn_lcp_cell(L, 0, j, k);
  for (int i = 0; i < L->n[0]; i++, c++) {
    number[i] = D->at[c] > 0 ? 0 : lcp->air[origin + c] ? MN_LCP_AIR : MN_LCP_SOLID;
    joined[i] = 0;
    for (int a = 0; a < L->dim && number[i] == 0; a++)
      joined[i] |= (unsigned char)((lcp->matrix.off[a].at[c] > 0) << a);
  }
}

/* Coarse cells with an unknown below them: 0. */
static void classify_parents(const mn_lcp_level *fine, mn_lcp_level *L, int j, int k)
{
  for (int i = 0; i < L->n[0]; i++) {
    int kind = MN_LCP_SOLID, joined = 0;
    for (int c = 0; c < 1 << L->dim; c++) {
      int x = 2 * i + (c & 1), y = 2 * j + (c >> 1 & 1), z = L->dim == 3 ? 2 * k + (c >> 2) : 0;
      if (x >= fine->n[0] || y >= fine->n[1] || z >= fine->n[2])
        continue;
      size_t cell = mn_lcp_cell(fine, x, y, z);
      int child = fine->number[cell];
      kind = child >= 0 || kind >= 0 ? 0 : child < kind ? child : kind;
      joined |= fine->joined[cell] & ~c; /* children at the lower sides */
    }
    L->number[mn_lcp_cell(L, i, j, k)] = kind;
    L->joined[mn_lcp_cell(L, i, j, k)] = (unsigned char)joined;
  }
}

/* Numbers the unknowns: those of `problem`, or of the cells above `fine`. */
static void number_rows(const mn_lcp *problem, const mn_lcp_level *fine, mn_lcp_level *L,
                        int threads)
{
  int planes = mn_lcp_planes(L), lines = L->n[1] * L->n[2] / planes;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int s = 0; s < planes; s++) {
    int count = 0;
    for (int t = 0; t < lines; t++) {
      int j = L->dim == 3 ? t : s, k = L->dim == 3 ? s : 0;
      if (problem)
        classify_problem(problem, L, j, k);
      else
        classify_parents(fine, L, j, k);
      const int *number = L->number + mn_lcp_cell(L, 0, j, k);
      for (int i = 0; i < L->n[0]; i++)
        count += number[i] >= 0;
    }
    L->plane[s + 1] = count;
  }
  L->plane[0] = 0;
  for (int s = 0; s < planes; s++)
    L->plane[s + 1] += L->plane[s];
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int s = 0; s < planes; s++) {
    int row = L->plane[s];
    int *number = L->number + (size_t)s * (size_t)L->n[0] * (size_t)lines;
    for (int c = 0; c < L->n[0] * lines; c++)
      if (number[c] >= 0)
        number[c] = row++;
  }
}

static void fill_keys(mn_lcp_level *L)
{
  for (int k = 0; k < L->n[2]; k++)
    for (int j = 0; j < L->n[1]; j++)
      for (int i = 0; i < L->n[0]; i++) {
        int row = L->number[mn_lcp_cell(L, i, j, k)];
        if (row >= 0)
          L->key[row] = i + 5 * j + 25 * k;
      }
}

/* ---- interpolation ------------------------------------------------------------------------- */

int mn_lcp_candidates(mn_lcp_weights kind, int dim, int step[8], double weight[8])
{
  if (kind == MN_LCP_CONSTANT) {
    step[0] = 0;
    weight[0] = 1;
    return 1;
  }
  if (kind == MN_LCP_BARYCENTRIC) {
    step[0] = 0;
    weight[0] = dim == 3 ? 0.25 : 0.5;
    for (int a = 0; a < dim; a++) {
      step[1 + a] = 1 << a;
      weight[1 + a] = 0.25;
    }
    return 1 + dim;
  }
  for (int c = 0; c < 1 << dim; c++) {
    step[c] = c;
    weight[c] = 1;
    for (int a = 0; a < dim; a++)
      weight[c] *= c >> a & 1 ? 0.25 : 0.75;
  }
  return 1 << dim;
}

/* What stands `step` away from the parent of fine cell `at`: a coarse row, air or solid. */
static int across(const mn_lcp_level *L, const mn_lcp_level *coarse, int one_sided, const int at[3],
                  int step)
{
  int q[3] = {0}, near[3] = {at[0], at[1], at[2]}, single = -1;
  for (int a = 0; a < L->dim; a++) {
    int move = step >> a & 1 ? (at[a] & 1 ? 1 : -1) : 0;
    q[a] = at[a] / 2 + move;
    near[a] += move;
    if (q[a] < 0 || q[a] >= coarse->n[a] || near[a] >= L->n[a])
      return MN_LCP_SOLID;
    single = step == 1 << a ? a : single;
  }
  if (one_sided && single >= 0) { /* a closed face between two unknowns is a wall, too */
    size_t other = mn_lcp_cell(L, near[0], near[1], near[2]);
    size_t upper = near[single] > at[single] ? other : mn_lcp_cell(L, at[0], at[1], at[2]);
    if (L->number[other] >= 0 && !(L->joined[upper] >> single & 1))
      return MN_LCP_SOLID;
  }
  return coarse->number[mn_lcp_cell(coarse, q[0], q[1], q[2])];
}

static void interpolation_row(const mn_lcp_level *L, const mn_lcp_level *coarse,
                              const mn_lcp_design *design, const int at[3], int *from,
                              double *weight)
{
  int step[8];
  double w[8], kept = 0;
  int count = mn_lcp_candidates(design->weights, L->dim, step, w);
  for (int c = 0; c < count; c++) {
    int there = across(L, coarse, design->one_sided, at, step[c]);
    from[c] = there >= 0 ? there : -1;
    weight[c] = there >= 0 ? w[c] : 0;
    kept += there == MN_LCP_SOLID ? 0 : w[c];
  }
  for (int c = count; c < 1 << L->shift; c++)
    from[c] = -1;
  if (design->one_sided && kept > 0)
    for (int c = 0; c < count; c++)
      weight[c] /= kept;
}

/* For each coarse row, the places in `from` that use it. */
static void transpose(mn_lcp_level *L, int coarse_rows)
{
  int places = L->A->count << L->shift;
  memset(L->user_start, 0, ((size_t)coarse_rows + 1) * sizeof *L->user_start);
  for (int e = 0; e < places; e++)
    if (L->from[e] >= 0)
      L->user_start[L->from[e] + 1]++;
  for (int r = 0; r < coarse_rows; r++)
    L->user_start[r + 1] += L->user_start[r];
  for (int e = 0; e < places; e++)
    if (L->from[e] >= 0)
      L->user[L->user_start[L->from[e]]++] = e;
  for (int r = coarse_rows; r > 0; r--)
    L->user_start[r] = L->user_start[r - 1];
  L->user_start[0] = 0;
}

static mn_status build_interpolation(mn_context *ctx, mn_lcp_levels *v, int l)
{
  mn_lcp_level *L = &v->level[l], *coarse = L + 1;
  int step[8], count, rows = coarse->plane[mn_lcp_planes(coarse)];
  double w[8];
  count = mn_lcp_candidates(v->design.weights, L->dim, step, w);
  for (L->shift = 0; 1 << L->shift < count;)
    L->shift++;
  size_t places = (size_t)L->A->count << L->shift;
  MN_TRY(mn_reserve(ctx, "interpolation", places, sizeof *L->from, &L->buffer[8]));
  MN_TRY(mn_reserve(ctx, "interpolation", places, sizeof *L->weight, &L->buffer[9]));
  MN_TRY(mn_reserve(ctx, "interpolation", (size_t)rows + 1, sizeof *L->user_start, &L->buffer[10]));
  MN_TRY(mn_reserve(ctx, "interpolation", places, sizeof *L->user, &L->buffer[11]));
  L->from = L->buffer[8].data;
  L->weight = L->buffer[9].data;
  L->user_start = L->buffer[10].data;
  L->user = L->buffer[11].data;
#pragma omp parallel for schedule(static) num_threads(mn_rows_threads(L->A))
  for (int line = 0; line < L->n[1] * L->n[2]; line++)
    for (int i = 0; i < L->n[0]; i++) {
      int at[3] = {i, line % L->n[1], line / L->n[1]};
      int row = L->number[mn_lcp_cell(L, i, at[1], at[2])];
      if (row >= 0)
        interpolation_row(L, coarse, &v->design, at, L->from + (row << L->shift),
                          L->weight + (row << L->shift));
    }
  transpose(L, rows);
  return MN_OK;
}

/* ---- building ------------------------------------------------------------------------------ */

static int can_coarsen(const mn_lcp_levels *v, const mn_lcp *problem)
{
  const mn_lcp_level *L = &v->level[v->count - 1];
  int most = 0;
  for (int a = 0; a < L->dim; a++)
    most = L->n[a] > most ? L->n[a] : most;
  if (most <= MN_LCP_COARSEST || v->count == MN_LCP_MOST_LEVELS)
    return 0;
  return v->design.galerkin ||
         (problem->has_geometry && mn_lcp_can_halve(problem->matrix.diagonal.grid, 1));
}

/* The level below the last; `problem` is the last one's and becomes the new one's. */
static mn_status add_level(mn_lcp_solver *s, const mn_lcp **problem)
{
  mn_lcp_levels *v = s->levels;
  const mn_exec *exec = s->grid->exec;
  mn_lcp_level *L = &v->level[v->count - 1], *coarse = L + 1;
  int galerkin = v->design.galerkin;
  coarse->dim = L->dim;
  for (int a = 0; a < 3; a++)
    coarse->n[a] = (L->n[a] + 1) / 2;
  MN_TRY(reserve_cells(s->ctx, coarse));
  if (!galerkin) {
    MN_TRY(mn_lcp_coarsen(s->ctx, *problem, &coarse->direct));
    *problem = &coarse->direct.lcp;
  }
  number_rows(galerkin ? NULL : *problem, L, coarse, mn_rows_threads(L->A));
  MN_TRY(reserve_rows(s->ctx, coarse, 0));
  fill_keys(coarse);
  if (galerkin)
    mn_lcp_galerkin_offsets(L, v->design.weights, coarse);
  if (galerkin)
    MN_TRY(mn_lcp_galerkin_pattern(s->ctx, exec, coarse));
  else
    MN_TRY(mn_lcp_direct_rows(s->ctx, exec, coarse));
  coarse->A = &coarse->own;
  MN_TRY(build_interpolation(s->ctx, v, v->count - 1));
  v->count++;
  return MN_OK;
}

mn_status mn_lcp_levels_build(mn_lcp_solver *s, const mn_lcp *lcp, mn_lcp_design design)
{
  if (!s->levels)
    MN_TRY(MN_NEW(s->ctx, "LCP levels", 1, &s->levels));
  mn_lcp_levels *v = s->levels;
  mn_lcp_level *L = &v->level[0];
  v->design = design;
  v->count = 1;
  v->fresh = 1;
  L->dim = s->grid->dim;
  memcpy(L->n, s->grid->n, sizeof L->n);
  MN_TRY(reserve_cells(s->ctx, L));
  number_rows(lcp, NULL, L, s->grid->exec->threads);
  L->A = &s->flat.A;
  MN_TRY(reserve_rows(s->ctx, L, 1));
  L->offsets = 2 * L->dim;
  for (int o = 0; o < L->offsets; o++)
    for (int a = 0; a < 3; a++)
      L->offset[o][a] = o / 2 == a ? (o & 1 ? 1 : -1) : 0;
  const mn_lcp *problem = lcp;
  while (can_coarsen(v, problem))
    MN_TRY(add_level(s, &problem));
  return MN_OK;
}

/* ---- the linear cycle ---------------------------------------------------------------------- */

void mn_lcp_level_restrict(const mn_lcp_levels *v, int l)
{
  const mn_lcp_level *L = &v->level[l], *coarse = L + 1;
  double factor = v->design.galerkin ? 1 : 1.0 / (1 << L->dim);
#pragma omp parallel for schedule(static) num_threads(mn_rows_threads(coarse->A))
  for (int I = 0; I < coarse->A->count; I++) {
    double sum = 0;
    for (int u = L->user_start[I]; u < L->user_start[I + 1]; u++) {
      int place = L->user[u], row = place >> L->shift;
      sum += L->cut[row] ? 0 : L->weight[place] * L->r[row];
    }
    coarse->b[I] = factor * sum;
  }
}

void mn_lcp_level_correct(const mn_lcp_levels *v, int l, double *x)
{
  const mn_lcp_level *L = &v->level[l], *coarse = L + 1;
#pragma omp parallel for schedule(static) num_threads(mn_rows_threads(L->A))
  for (int r = 0; r < L->A->count; r++)
    for (int e = r << L->shift; e < (r + 1) << L->shift && !L->cut[r]; e++)
      if (L->from[e] >= 0)
        x[r] += L->weight[e] * coarse->x[L->from[e]];
}

void mn_lcp_level_residual(mn_lcp_levels *v, int l)
{
  mn_lcp_level *L = &v->level[l];
  mn_rows_multiply(L->A, L->x, L->r);
  for (int r = 0; r < L->A->count; r++)
    L->r[r] = L->A->diagonal[r] > 0 ? L->b[r] - L->r[r] : 0;
}

void mn_lcp_level_cycle(mn_lcp_levels *v, int l)
{
  mn_lcp_level *L = &v->level[l];
  if (l + 1 == v->count) {
    for (int s = 0; s < COARSEST_SWEEPS; s++)
      mn_rows_sweep(L->A, NULL, NULL, L->b, 1, s & 1, L->x);
    return;
  }
  for (int s = 0; s < v->design.sweeps; s++)
    mn_rows_sweep(L->A, NULL, NULL, L->b, 1, 0, L->x);
  mn_lcp_level_residual(v, l);
  mn_lcp_level_restrict(v, l);
  memset(L[1].x, 0, (size_t)L[1].A->count * sizeof *L[1].x);
  mn_lcp_level_cycle(v, l + 1);
  mn_lcp_level_correct(v, l, L->x);
  for (int s = 0; s < v->design.sweeps; s++)
    mn_rows_sweep(L->A, NULL, NULL, L->b, 1, 1, L->x);
}
