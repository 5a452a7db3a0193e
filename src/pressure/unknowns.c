/* The pressure system on vectors over its unknowns.

       y_c = factor (sum over the faces f of c: w_f (x_c - x_n) + excess x_c)

   The unknowns of a row of cells follow each other in the vector, so the neighbours of cells that
   stand in line do too, each line at one distance: as on the grid, a product is a few streams of
   numbers, without a field, its ghosts and its holes. Cells at walls along x stand in lines like
   inner ones; what is cut has a list.
   Verified by tests/unit/fluid/test_operators.c. */
#include "pressure/unknowns.h"

#include <string.h>

#include "base/status.h"

enum {
  B_RUN,
  B_FIRST_CELL,
  B_FIRST_LINE,
  B_FIRST_SINGLE,
  B_CELL,
  B_LINE,
  B_SINGLE,
  B_START,
  B_COL,
  B_VALUE,
  BUFFERS
};

void mn_unknowns_free(mn_unknowns *u)
{
  for (int b = 0; b < BUFFERS; b++)
    mn_buffer_free(&u->buffer[b]);
}

int32_t mn_unknowns_number(const mn_unknowns *u, int i, int j, int k)
{
  const mn_regions *g = u->regions;
  if (i < 0 || j < 0 || k < 0 || i >= g->n[0] || j >= g->n[1] || k >= g->n[2])
    return -1;
  int row = j + g->n[1] * k;
  for (int r = g->first_run[row]; r < g->first_run[row + 1]; r++)
    if (i >= g->run[r].lo && i < g->run[r].hi)
      return u->run[r] + i - g->run[r].lo;
  return -1;
}

int32_t mn_unknowns_entry(const mn_unknowns *u, int i, int j, int k)
{
  int row = j + u->regions->n[1] * k;
  int32_t lo = u->first_cell[row], hi = u->first_cell[row + 1];
  while (lo < hi) {
    int32_t middle = lo + (hi - lo) / 2;
    if (u->cell[middle].i == i)
      return middle;
    if (u->cell[middle].i < i)
      lo = middle + 1;
    else
      hi = middle;
  }
  return -1;
}

/* ---- lists ----------------------------------------------------------------------------------- */

static int32_t count_irregular(const mn_regions *g, int row)
{
  const uint8_t *kind = mn_kind_row(g, row % g->n[1], row / g->n[1]);
  int32_t count = 0;
  for (int i = g->range[row][0]; i < g->range[row][1]; i++)
    count += kind[i] == MN_IRREGULAR;
  return count;
}

static void list_irregular(const mn_unknowns *u, const mn_system *s, int row)
{
  const mn_regions *g = u->regions;
  int j = row % g->n[1], k = row / g->n[1];
  mn_unknown_cell *cell = u->cell + u->first_cell[row];
  const uint8_t *kind = mn_kind_row(g, j, k);
  for (int r = g->first_run[row]; r < g->first_run[row + 1]; r++)
    for (int i = g->run[r].lo; i < g->run[r].hi; i++) {
      if (kind[i] != MN_IRREGULAR)
        continue;
      cell->number = u->run[r] + i - g->run[r].lo;
      cell->i = i;
      cell->excess = cell->diagonal = s->cell(s->self, i, j, k, cell->c);
      for (int side = 0; side < 6; side++)
        cell->diagonal += cell->c[side];
      cell++;
    }
}

/* Number of the neighbour at a side. */
static int32_t beside(const mn_unknowns *u, int i, int j, int k, int side)
{
  int at[3] = {i, j, k};
  at[side / 2] += side & 1 ? 1 : -1;
  return mn_unknowns_number(u, at[0], at[1], at[2]);
}

static int same_row(const mn_unknown_cell *a, const mn_unknown_cell *b)
{
  for (int side = 0; side < 6; side++)
    if (a->c[side] != b->c[side])
      return 0;
  return a->diagonal == b->diagonal;
}

/* Counts the lines and single cells of a row, or lists them. */
static void walk_row(const mn_unknowns *u, int row, int32_t counts[2], int list)
{
  const mn_regions *g = u->regions;
  int j = row % g->n[1], k = row / g->n[1];
  const uint8_t *kind = mn_kind_row(g, j, k);
  const int *range = g->range[row];
  mn_unknown_cell regular = {.c = {1, 1, 1, 1, u->dim == 3, u->dim == 3}, .diagonal = 2 * u->dim};
  int32_t entry = u->first_cell[row];
  counts[0] = counts[1] = 0;
  for (int i = range[0], next; i < range[1]; i = next) {
    const mn_unknown_cell *cell = kind[i] == MN_IRREGULAR ? &u->cell[entry] : &regular;
    next = i + 1;
    if (kind[i] == MN_DEAD)
      continue;
    int32_t e = entry;
    entry += kind[i] == MN_IRREGULAR;
    if (cell->c[0] != 1 || cell->c[1] != 1) {
      if (list) {
        mn_unknown_single *single = &u->single[u->first_single[row] + counts[1]];
        single->entry = e;
        for (int side = 0; side < 6; side++)
          single->near[side] = cell->c[side] > 0 ? beside(u, i, j, k, side) : cell->number;
      }
      counts[1]++;
      continue;
    }
    for (; next < range[1] && kind[next] != MN_DEAD; next++) {
      const mn_unknown_cell *other = kind[next] == MN_IRREGULAR ? &u->cell[entry] : &regular;
      if (other != cell && !same_row(other, cell))
        break;
      entry += kind[next] == MN_IRREGULAR;
    }
    if (list) {
      mn_unknown_line *line = &u->line[u->first_line[row] + counts[0]];
      *line = (mn_unknown_line){
          .first = mn_unknowns_number(u, i, j, k), .count = next - i, .diagonal = cell->diagonal};
      for (int n = 0; n < 4; n++) {
        line->c[n] = cell->c[2 + n];
        line->near[n] = line->c[n] > 0 ? beside(u, i, j, k, 2 + n) : line->first;
      }
    }
    counts[0]++;
  }
}

/* Turns counts into first entries. */
static void sum_up(int32_t *first, int rows)
{
  first[0] = 0;
  for (int row = 0; row < rows; row++)
    first[row + 1] += first[row];
}

mn_status mn_unknowns_list(mn_context *ctx, const mn_system *s, const mn_regions *g, mn_unknowns *u)
{
  int rows = g->n[1] * g->n[2];
  size_t runs = (size_t)g->first_run[rows];
  u->dim = s->dim;
  u->exec = s->exec;
  u->regions = g;
  u->count = g->unknowns;
  if (u->count > INT32_MAX / 8)
    return mn_fail(ctx, MN_ENVIRONMENT, "%zu pressures to be sought at once, at most %d can be",
                   u->count, INT32_MAX / 8);
  MN_TRY(mn_reserve(ctx, "unknowns", runs, sizeof *u->run, &u->buffer[B_RUN]));
  for (int b = B_FIRST_CELL; b <= B_FIRST_SINGLE; b++)
    MN_TRY(mn_reserve(ctx, "unknowns", (size_t)rows + 1, sizeof(int32_t), &u->buffer[b]));
  u->run = u->buffer[B_RUN].data;
  u->first_cell = u->buffer[B_FIRST_CELL].data;
  u->first_line = u->buffer[B_FIRST_LINE].data;
  u->first_single = u->buffer[B_FIRST_SINGLE].data;
  int32_t number = 0;
  for (size_t r = 0; r < runs; r++) {
    u->run[r] = number;
    number += g->run[r].hi - g->run[r].lo;
  }
#pragma omp parallel for schedule(static) num_threads(s->exec->threads)
  for (int row = 0; row < rows; row++)
    u->first_cell[row + 1] = count_irregular(g, row);
  sum_up(u->first_cell, rows);
  MN_TRY(mn_reserve(ctx, "cut cells", (size_t)u->first_cell[rows], sizeof *u->cell,
                    &u->buffer[B_CELL]));
  u->cell = u->buffer[B_CELL].data;
#pragma omp parallel for schedule(static) num_threads(s->exec->threads)
  for (int row = 0; row < rows; row++) {
    int32_t counts[2];
    list_irregular(u, s, row);
    walk_row(u, row, counts, 0);
    u->first_line[row + 1] = counts[0];
    u->first_single[row + 1] = counts[1];
  }
  sum_up(u->first_line, rows);
  sum_up(u->first_single, rows);
  MN_TRY(mn_reserve(ctx, "lines of cells", (size_t)u->first_line[rows], sizeof *u->line,
                    &u->buffer[B_LINE]));
  MN_TRY(mn_reserve(ctx, "cut cells", (size_t)u->first_single[rows], sizeof *u->single,
                    &u->buffer[B_SINGLE]));
  u->line = u->buffer[B_LINE].data;
  u->single = u->buffer[B_SINGLE].data;
#pragma omp parallel for schedule(static) num_threads(s->exec->threads)
  for (int row = 0; row < rows; row++) {
    int32_t counts[2];
    walk_row(u, row, counts, 1);
  }
  return MN_OK;
}

/* ---- vectors and fields ---------------------------------------------------------------------- */

void mn_unknowns_gather(const mn_unknowns *u, double factor, const mn_field *f, double *x)
{
  const mn_regions *g = u->regions;
  int rows = g->n[1] * g->n[2], ny = g->n[1];
#pragma omp parallel for schedule(static) num_threads(u->exec->threads)
  for (int row = 0; row < rows; row++)
    for (int r = g->first_run[row]; r < g->first_run[row + 1]; r++) {
      const double *at = f->at + mn_index(f, g->run[r].lo, row % ny, row / ny);
      for (int n = 0; n < g->run[r].hi - g->run[r].lo; n++)
        x[u->run[r] + n] = factor * at[n];
    }
}

void mn_unknowns_spread(const mn_unknowns *u, const double *x, mn_field *f)
{
  const mn_regions *g = u->regions;
  int rows = g->n[1] * g->n[2], ny = g->n[1];
#pragma omp parallel for schedule(static) num_threads(u->exec->threads)
  for (int row = 0; row < rows; row++)
    for (int r = g->first_run[row]; r < g->first_run[row + 1]; r++)
      memcpy(f->at + mn_index(f, g->run[r].lo, row % ny, row / ny), x + u->run[r],
             (size_t)(g->run[r].hi - g->run[r].lo) * sizeof *x);
}

/* ---- products -------------------------------------------------------------------------------- */

/* out = b - factor A x on a line; b NULL: 0 */
static void multiply_line(const mn_unknown_line *line, int dim, double factor, const double *b,
                          const double *x, double *y)
{
  const double *o = x + line->first, *yl = x + line->near[0], *yh = x + line->near[1];
  const double *zl = x + line->near[2], *zh = x + line->near[3];
  double *out = y + line->first, D = line->diagonal;
  double c0 = line->c[0], c1 = line->c[1], c2 = line->c[2], c3 = line->c[3];
  int count = line->count;
  if (dim == 3)
    for (int n = 0; n < count; n++)
      out[n] = factor * (D * o[n] - ((o[n - 1] + o[n + 1]) + (c0 * yl[n] + c1 * yh[n]) +
                                     (c2 * zl[n] + c3 * zh[n])));
  else
    for (int n = 0; n < count; n++)
      out[n] = factor * (D * o[n] - ((o[n - 1] + o[n + 1]) + (c0 * yl[n] + c1 * yh[n])));
  for (int n = 0; n < count && b; n++)
    out[n] = b[line->first + n] + out[n];
}

static void multiply(const mn_unknowns *u, double factor, const double *b, const double *x,
                     double *y)
{
  int rows = u->regions->n[1] * u->regions->n[2];
#pragma omp parallel for schedule(static) num_threads(u->exec->threads)
  for (int row = 0; row < rows; row++) {
    for (int32_t l = u->first_line[row]; l < u->first_line[row + 1]; l++)
      multiply_line(&u->line[l], u->dim, factor, b, x, y);
    for (int32_t t = u->first_single[row]; t < u->first_single[row + 1]; t++) {
      const mn_unknown_single *single = &u->single[t];
      const mn_unknown_cell *cell = &u->cell[single->entry];
      double sum = 0;
      for (int side = 0; side < 6; side++)
        sum += cell->c[side] * x[single->near[side]];
      sum = factor * (cell->diagonal * x[cell->number] - sum);
      y[cell->number] = b ? b[cell->number] + sum : sum;
    }
  }
}

void mn_unknowns_multiply(const mn_unknowns *u, double factor, const double *x, double *y)
{
  multiply(u, factor, NULL, x, y);
}

void mn_unknowns_residual(const mn_unknowns *u, double factor, const double *b, const double *x,
                          double *r)
{
  multiply(u, -factor, b, x, r);
}

/* Appends an entry. */
static void put(mn_unknowns *u, int64_t *end, int64_t col, double value)
{
  u->col[*end] = col;
  u->value[(*end)++] = value;
}

/* Entries of a row in the order of their columns. */
static void put_row(mn_unknowns *u, int64_t number, const double c[6], const int64_t near[6],
                    double diagonal, int64_t *end)
{
  static const int order[7] = {4, 2, 0, -1, 1, 3, 5};
  u->start[number] = *end;
  for (int n = 0; n < 7; n++)
    if (order[n] < 0)
      put(u, end, number, diagonal);
    else if (c[order[n]] > 0)
      put(u, end, near[order[n]], -c[order[n]]);
}

static void put_line(mn_unknowns *u, const mn_unknown_line *line, double factor, int64_t *end)
{
  double c[6] = {factor, factor};
  for (int side = 0; side < 4; side++)
    c[2 + side] = factor * line->c[side];
  for (int64_t n = 0; n < line->count; n++) {
    int64_t at = line->first + n, near[6] = {at - 1, at + 1};
    for (int side = 0; side < 4; side++)
      near[2 + side] = line->near[side] + n;
    put_row(u, at, c, near, factor * line->diagonal, end);
  }
}

static void put_single(mn_unknowns *u, const mn_unknown_single *single, double factor, int64_t *end)
{
  const mn_unknown_cell *cell = &u->cell[single->entry];
  double c[6];
  int64_t near[6];
  for (int side = 0; side < 6; side++) {
    c[side] = factor * cell->c[side];
    near[side] = single->near[side];
  }
  put_row(u, cell->number, c, near, factor * cell->diagonal, end);
}

mn_status mn_unknowns_matrix(mn_context *ctx, mn_unknowns *u, double factor, mn_sparse_matrix *A)
{
  int rows = u->regions->n[1] * u->regions->n[2];
  size_t most = u->count * (size_t)(2 * u->dim + 1);
  MN_TRY(mn_reserve(ctx, "matrix", u->count + 1, sizeof *u->start, &u->buffer[B_START]));
  MN_TRY(mn_reserve(ctx, "matrix", most, sizeof *u->col, &u->buffer[B_COL]));
  MN_TRY(mn_reserve(ctx, "matrix", most, sizeof *u->value, &u->buffer[B_VALUE]));
  u->start = u->buffer[B_START].data;
  u->col = u->buffer[B_COL].data;
  u->value = u->buffer[B_VALUE].data;
  int64_t end = 0;
  for (int row = 0; row < rows; row++) { /* lines and cells in the order of their numbers */
    int32_t l = u->first_line[row], t = u->first_single[row];
    int32_t lines = u->first_line[row + 1], singles = u->first_single[row + 1];
    while (l < lines || t < singles)
      if (t == singles || (l < lines && u->line[l].first < u->cell[u->single[t].entry].number))
        put_line(u, &u->line[l++], factor, &end);
      else
        put_single(u, &u->single[t++], factor, &end);
  }
  u->start[u->count] = end;
  *A = (mn_sparse_matrix){(int64_t)u->count, (int64_t)u->count, u->start, u->col, u->value};
  return MN_OK;
}
