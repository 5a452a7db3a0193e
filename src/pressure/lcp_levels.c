/* Interpolation between the levels of fas and fmg, Galerkin products, the linear cycle.

   Coarse cells are 2 x 2 (x 2) fine ones; one is an unknown when any of its children is. A fine
   cell's value comes from its parent and the coarse cells next to it on its side: barycentric (1/4
   of each in 3D; 1/2, 1/4, 1/4 in 2D), trilinear, or the parent alone. Air cells count as 0.
   Weights towards solid cells, or through a closed face, are shared out among the others so that
   they sum to 1 [Lai 2021, 5.3.3]: the correction is then constant up to the wall, as the pressure
   nearly is. Products P^T A P are formed row by row with a marker array, anew when the cut rows
   changed. Tests: tests/unit/pressure/test_lcp_half_sphere.c. */
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

static size_t cells_of(const mn_lcp_level *L)
{
  return (size_t)L->n[0] * (size_t)L->n[1] * (size_t)L->n[2];
}

static size_t cell_at(const mn_lcp_level *L, int i, int j, int k)
{
  return (size_t)i + (size_t)L->n[0] * ((size_t)j + (size_t)L->n[1] * (size_t)k);
}

static mn_status reserve_cells(mn_context *ctx, mn_lcp_level *L)
{
  MN_TRY(mn_reserve(ctx, "level cells", cells_of(L), sizeof *L->number, &L->buffer[0]));
  L->number = L->buffer[0].data;
  return MN_OK;
}

static mn_status reserve_vectors(mn_context *ctx, mn_lcp_level *L, int rows)
{
  double **vectors[3] = {&L->x, &L->b, &L->r};
  for (int i = 0; i < 3; i++) {
    MN_TRY(mn_reserve(ctx, "level vector", (size_t)rows, sizeof(double), &L->buffer[1 + i]));
    *vectors[i] = L->buffer[1 + i].data;
  }
  MN_TRY(mn_reserve(ctx, "cut rows", (size_t)rows, 1, &L->buffer[4]));
  L->cut = L->buffer[4].data;
  memset(L->cut, 0, (size_t)rows);
  return MN_OK;
}

/* ---- which cells are unknowns -------------------------------------------------------------- */

/* Cells of an assembled problem; returns the number of unknowns. */
static int number_problem(const mn_lcp *lcp, mn_lcp_level *L)
{
  const mn_field *D = &lcp->matrix.diagonal;
  int64_t origin = mn_lcp_origin(lcp);
  int count = 0;
  for (int k = 0; k < L->n[2]; k++)
    for (int j = 0; j < L->n[1]; j++)
      for (int i = 0; i < L->n[0]; i++) {
        int64_t c = mn_index(D, i, j, k);
        L->number[cell_at(L, i, j, k)] = D->at[c] > 0           ? count++
                                         : lcp->air[origin + c] ? MN_LCP_AIR
                                                                : MN_LCP_SOLID;
      }
  return count;
}

/* Coarse cells with an unknown below them; returns their number. */
static int number_parents(const mn_lcp_level *fine, mn_lcp_level *L)
{
  int count = 0;
  for (int k = 0; k < L->n[2]; k++)
    for (int j = 0; j < L->n[1]; j++)
      for (int i = 0; i < L->n[0]; i++) {
        int kind = MN_LCP_SOLID;
        for (int c = 0; c < 1 << L->dim; c++) {
          int x = 2 * i + (c & 1), y = 2 * j + (c >> 1 & 1), z = L->dim == 3 ? 2 * k + (c >> 2) : 0;
          if (x >= fine->n[0] || y >= fine->n[1] || z >= fine->n[2])
            continue;
          int child = fine->number[cell_at(fine, x, y, z)];
          kind = child >= 0 || kind >= 0 ? 0 : child < kind ? child : kind;
        }
        L->number[cell_at(L, i, j, k)] = kind >= 0 ? count++ : kind;
      }
  return count;
}

static int is_coupled(const mn_rows *A, int row, int column)
{
  for (int e = A->start[row]; e < A->start[row + 1]; e++)
    if (A->column[e] == column && A->value[e] != 0)
      return 1;
  return 0;
}

/* ---- interpolation ------------------------------------------------------------------------- */

/* The row's candidates: which axes are stepped along, as bits, and the weight. */
static int candidates(mn_lcp_weights kind, int dim, int step[8], double weight[8])
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
static int across(const mn_lcp_level *L, const mn_lcp_level *coarse, const mn_lcp_design *design,
                  const int at[3], int step)
{
  int q[3] = {0}, near[3] = {at[0], at[1], at[2]};
  for (int a = 0; a < L->dim; a++) {
    int move = step >> a & 1 ? (at[a] & 1 ? 1 : -1) : 0;
    q[a] = at[a] / 2 + move;
    near[a] += move;
    if (q[a] < 0 || q[a] >= coarse->n[a] || near[a] >= L->n[a])
      return MN_LCP_SOLID;
  }
  int single = step == 1 || step == 2 || step == 4;
  if (design->one_sided && single) { /* a closed face between two unknowns is a wall, too */
    int here = L->number[cell_at(L, at[0], at[1], at[2])];
    int other = L->number[cell_at(L, near[0], near[1], near[2])];
    if (other >= 0 && L->A->count && !is_coupled(L->A, here, other))
      return MN_LCP_SOLID;
  }
  return coarse->number[cell_at(coarse, q[0], q[1], q[2])];
}

static void interpolation_row(const mn_lcp_level *L, const mn_lcp_level *coarse,
                              const mn_lcp_design *design, const int at[3], int *from,
                              double *weight)
{
  int step[8];
  double w[8], kept = 0;
  int count = candidates(design->weights, L->dim, step, w);
  for (int c = 0; c < count; c++) {
    int there = across(L, coarse, design, at, step[c]);
    from[c] = there >= 0 ? there : -1;
    weight[c] = there >= 0 ? w[c] : 0;
    kept += there == MN_LCP_SOLID ? 0 : w[c];
  }
  if (design->one_sided && kept > 0)
    for (int c = 0; c < count; c++)
      weight[c] /= kept;
}

/* For each coarse row, the places in `from` that use it. */
static void transpose(mn_lcp_level *L, int coarse_rows)
{
  int places = L->A->count * L->width;
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

static mn_status build_interpolation(mn_context *ctx, mn_lcp_level *L, const mn_lcp_level *coarse,
                                     const mn_lcp_design *design, int coarse_rows)
{
  int step[8];
  double w[8];
  L->width = candidates(design->weights, L->dim, step, w);
  size_t places = (size_t)L->A->count * (size_t)L->width, rows = (size_t)coarse_rows;
  MN_TRY(mn_reserve(ctx, "interpolation", places, sizeof *L->from, &L->buffer[5]));
  MN_TRY(mn_reserve(ctx, "interpolation", places, sizeof *L->weight, &L->buffer[6]));
  MN_TRY(mn_reserve(ctx, "interpolation", rows + 1, sizeof *L->user_start, &L->buffer[7]));
  MN_TRY(mn_reserve(ctx, "interpolation", places, sizeof *L->user, &L->buffer[8]));
  MN_TRY(mn_reserve(ctx, "interpolation", rows, sizeof *L->marker, &L->buffer[9]));
  L->from = L->buffer[5].data;
  L->weight = L->buffer[6].data;
  L->user_start = L->buffer[7].data;
  L->user = L->buffer[8].data;
  L->marker = L->buffer[9].data;
  for (int k = 0; k < L->n[2]; k++)
    for (int j = 0; j < L->n[1]; j++)
      for (int i = 0; i < L->n[0]; i++) {
        int row = L->number[cell_at(L, i, j, k)], at[3] = {i, j, k};
        if (row >= 0)
          interpolation_row(L, coarse, design, at, L->from + row * L->width,
                            L->weight + row * L->width);
      }
  transpose(L, coarse_rows);
  return MN_OK;
}

/* ---- coarse matrices ----------------------------------------------------------------------- */

/* Adds the contributions to row I of P^T A P; returns the end of its entries. With value NULL only
   counts them. */
static int product_row(mn_lcp_level *L, int I, int entry, int *column, double *value,
                       double *diagonal)
{
  const mn_rows *A = L->A;
  int first = entry;
  for (int u = L->user_start[I]; u < L->user_start[I + 1]; u++) {
    int i = L->user[u] / L->width;
    double w = L->weight[L->user[u]];
    if (L->cut[i])
      continue;
    for (int e = A->start[i] - 1; e < A->start[i + 1]; e++) {
      int j = e < A->start[i] ? i : A->column[e];
      double a = w * (e < A->start[i] ? A->diagonal[i] : A->value[e]);
      if (L->cut[j])
        continue;
      for (int s = j * L->width; s < (j + 1) * L->width; s++) {
        int J = L->from[s];
        if (J < 0)
          continue;
        if (J == I) {
          *diagonal += a * L->weight[s];
          continue;
        }
        int at = L->marker[J];
        if (at < first || at >= entry || column[at] != J) {
          at = L->marker[J] = entry++;
          column[at] = J;
          value[at] = 0;
        }
        value[at] += a * L->weight[s];
      }
    }
  }
  return entry;
}

/* The most entries the product can have: coarse cells differ by at most two along each axis. */
static size_t product_bound(const mn_lcp_level *L, int coarse_rows)
{
  size_t users = (size_t)L->user_start[coarse_rows], most = 0;
  for (int r = 0; r < L->A->count; r++) {
    size_t entries = (size_t)(L->A->start[r + 1] - L->A->start[r]) + 1;
    most = entries > most ? entries : most;
  }
  size_t box = L->dim == 3 ? 125 : 25, bound = (size_t)coarse_rows * box;
  size_t other = users * most * (size_t)L->width;
  return other < bound ? other : bound;
}

static mn_status product(mn_context *ctx, mn_lcp_level *L, mn_lcp_level *coarse, int fresh)
{
  int rows = coarse->own.count, entry = 0;
  if (fresh)
    MN_TRY(mn_rows_reserve(ctx, rows, product_bound(L, rows), &coarse->own));
  mn_rows *C = &coarse->own;
  memset(L->marker, 0, (size_t)rows * sizeof *L->marker);
  for (int I = 0; I < rows; I++) {
    C->start[I] = entry;
    C->diagonal[I] = 0;
    entry = product_row(L, I, entry, C->column, C->value, &C->diagonal[I]);
  }
  C->start[rows] = entry;
  return MN_OK;
}

/* Discretised matrices: parents (entry 0 of an interpolation row) of cut rows hold no equation. */
static void hold_parents(mn_lcp_level *L, mn_lcp_level *coarse)
{
  memset(coarse->cut, 0, (size_t)coarse->own.count);
  for (int r = 0; r < L->A->count; r++)
    if (L->cut[r] && L->from[r * L->width] >= 0)
      coarse->cut[L->from[r * L->width]] = 1;
  for (int r = 0; r < coarse->own.count; r++)
    coarse->own.diagonal[r] = coarse->cut[r] ? 0 : coarse->whole[r];
}

mn_status mn_lcp_levels_product(mn_context *ctx, mn_lcp_levels *v)
{
  for (int l = 0; l + 1 < v->count && !v->design.galerkin; l++)
    hold_parents(&v->level[l], &v->level[l + 1]);
  if (!v->design.galerkin)
    return MN_OK;
  for (int l = 0; l + 1 < v->count; l++)
    MN_TRY(product(ctx, &v->level[l], &v->level[l + 1], v->fresh));
  v->fresh = 0;
  return MN_OK;
}

/* Rows of a coarse problem discretised on its own grid. */
static mn_status direct_rows(mn_context *ctx, mn_lcp_level *L, int count)
{
  const mn_stencil *s = &L->direct.lcp.matrix;
  MN_TRY(mn_rows_reserve(ctx, count, (size_t)count * (size_t)(2 * L->dim), &L->own));
  int entry = 0;
  for (int k = 0; k < L->n[2]; k++)
    for (int j = 0; j < L->n[1]; j++)
      for (int i = 0; i < L->n[0]; i++) {
        int row = L->number[cell_at(L, i, j, k)];
        if (row < 0)
          continue;
        L->own.start[row] = entry;
        L->own.diagonal[row] = mn_get(&s->diagonal, i, j, k);
        for (int side = 0; side < 2 * L->dim; side++) {
          int q[3] = {i, j, k}, a = side / 2;
          q[a] += side & 1 ? 1 : -1;
          if (q[a] < 0 || q[a] >= L->n[a])
            continue;
          int other = L->number[cell_at(L, q[0], q[1], q[2])];
          double c = side & 1 ? mn_get(&s->off[a], q[0], q[1], q[2]) : mn_get(&s->off[a], i, j, k);
          if (other < 0 || c == 0)
            continue;
          L->own.column[entry] = other;
          L->own.value[entry++] = -c;
        }
      }
  L->own.start[count] = entry;
  MN_TRY(mn_reserve(ctx, "level diagonal", (size_t)count, sizeof *L->whole, &L->buffer[10]));
  L->whole = L->buffer[10].data;
  memcpy(L->whole, L->own.diagonal, (size_t)count * sizeof *L->whole);
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
  number_problem(lcp, L);
  L->A = &s->flat.A;
  MN_TRY(reserve_vectors(s->ctx, L, L->A->count));
  const mn_lcp *problem = lcp;
  while (can_coarsen(v, problem)) {
    mn_lcp_level *coarse = &v->level[v->count];
    coarse->dim = L->dim;
    for (int a = 0; a < 3; a++)
      coarse->n[a] = (L->n[a] + 1) / 2;
    MN_TRY(reserve_cells(s->ctx, coarse));
    if (!design.galerkin) {
      MN_TRY(mn_lcp_coarsen(s->ctx, problem, &coarse->direct));
      problem = &coarse->direct.lcp;
    }
    int rows = design.galerkin ? number_parents(L, coarse) : number_problem(problem, coarse);
    coarse->own.count = rows;
    if (!design.galerkin)
      MN_TRY(direct_rows(s->ctx, coarse, rows));
    MN_TRY(build_interpolation(s->ctx, L, coarse, &design, rows));
    if (design.galerkin)
      MN_TRY(product(s->ctx, L, coarse, 1));
    coarse->A = &coarse->own;
    MN_TRY(reserve_vectors(s->ctx, coarse, rows));
    L = coarse;
    v->count++;
  }
  return MN_OK;
}

/* ---- the linear cycle ---------------------------------------------------------------------- */

void mn_lcp_level_restrict(const mn_lcp_levels *v, int l)
{
  const mn_lcp_level *L = &v->level[l], *coarse = L + 1;
  double factor = v->design.galerkin ? 1 : 1.0 / (1 << L->dim);
  memset(coarse->b, 0, (size_t)coarse->A->count * sizeof *coarse->b);
  for (int r = 0; r < L->A->count; r++)
    for (int e = r * L->width; e < (r + 1) * L->width && !L->cut[r]; e++)
      if (L->from[e] >= 0)
        coarse->b[L->from[e]] += factor * L->weight[e] * L->r[r];
}

void mn_lcp_level_correct(const mn_lcp_levels *v, int l, double *x)
{
  const mn_lcp_level *L = &v->level[l], *coarse = L + 1;
  for (int r = 0; r < L->A->count; r++)
    for (int e = r * L->width; e < (r + 1) * L->width && !L->cut[r]; e++)
      if (L->from[e] >= 0)
        x[r] += L->weight[e] * coarse->x[L->from[e]];
}

void mn_lcp_level_cycle(mn_lcp_levels *v, int l)
{
  mn_lcp_level *L = &v->level[l];
  if (l + 1 == v->count) {
    for (int s = 0; s < COARSEST_SWEEPS; s++)
      mn_rows_sweep(L->A, NULL, L->b, 1, s & 1, L->x);
    return;
  }
  for (int s = 0; s < v->design.sweeps; s++)
    mn_rows_sweep(L->A, NULL, L->b, 1, 0, L->x);
  mn_rows_multiply(L->A, L->x, L->r);
  for (int r = 0; r < L->A->count; r++)
    L->r[r] = L->A->diagonal[r] > 0 ? L->b[r] - L->r[r] : 0;
  mn_lcp_level_restrict(v, l);
  memset(L[1].x, 0, (size_t)L[1].A->count * sizeof *L[1].x);
  mn_lcp_level_cycle(v, l + 1);
  mn_lcp_level_correct(v, l, L->x);
  for (int s = 0; s < v->design.sweeps; s++)
    mn_rows_sweep(L->A, NULL, L->b, 1, 1, L->x);
}
