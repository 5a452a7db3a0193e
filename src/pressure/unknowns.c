/* The pressure system on vectors over its unknowns.

       y_c = factor (sum over the faces f of c: w_f (x_c - x_n) + excess x_c)

   The unknowns of a row of cells follow each other in the vector, so the neighbours of regular
   cells that stand in line do too, each line at one distance: as on the grid, a product is a few
   streams of numbers, without a field, its ghosts and its holes. Irregular cells have a list.
   Verified by tests/unit/pressure/test_unknowns.c. */
#include "pressure/unknowns.h"

#include <string.h>

#include "base/status.h"

enum { B_RUN, B_FIRST_CELL, B_FIRST_LINE, B_CELL, B_LINE, B_START, B_COL, B_VALUE, BUFFERS };

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

/* Counts the irregular cells and the lines of a row, or lists them. */
static void walk_row(const mn_unknowns *u, int row, int32_t counts[2], const mn_system *s)
{
  const mn_regions *g = u->regions;
  int j = row % g->n[1], k = row / g->n[1];
  const uint8_t *kind = mn_kind_row(g, j, k);
  const int *range = g->range[row];
  counts[0] = counts[1] = 0;
  for (int i = range[0]; i < range[1]; i++) {
    if (kind[i] == MN_DEAD)
      continue;
    int irregular = kind[i] == MN_IRREGULAR, from = i;
    while (!irregular && i + 1 < range[1] && kind[i + 1] == MN_REGULAR)
      i++;
    if (s && irregular) {
      mn_unknown_cell *cell = &u->cell[u->first_cell[row] + counts[0]];
      cell->excess = s->cell(s->self, i, j, k, cell->c);
      cell->number = mn_unknowns_number(u, i, j, k);
      cell->i = i;
      cell->diagonal = cell->excess;
      for (int side = 0; side < 6; side++) {
        int at[3] = {i, j, k};
        at[side / 2] += side & 1 ? 1 : -1;
        cell->diagonal += cell->c[side];
        cell->near[side] =
            cell->c[side] > 0 ? mn_unknowns_number(u, at[0], at[1], at[2]) : cell->number;
      }
    } else if (s) {
      mn_unknown_line *line = &u->line[u->first_line[row] + counts[1]];
      *line = (mn_unknown_line){mn_unknowns_number(u, from, j, k), i + 1 - from, {0}};
      for (int n = 0; n < 2 * (u->dim - 1); n++) {
        int at[3] = {from, j, k};
        at[1 + n / 2] += n & 1 ? 1 : -1;
        line->near[n] = mn_unknowns_number(u, at[0], at[1], at[2]);
      }
    }
    counts[!irregular]++;
  }
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
  MN_TRY(mn_reserve(ctx, "unknowns", (size_t)rows + 1, sizeof(int32_t), &u->buffer[B_FIRST_CELL]));
  MN_TRY(mn_reserve(ctx, "unknowns", (size_t)rows + 1, sizeof(int32_t), &u->buffer[B_FIRST_LINE]));
  u->run = u->buffer[B_RUN].data;
  u->first_cell = u->buffer[B_FIRST_CELL].data;
  u->first_line = u->buffer[B_FIRST_LINE].data;
  int32_t number = 0;
  for (size_t r = 0; r < runs; r++) {
    u->run[r] = number;
    number += g->run[r].hi - g->run[r].lo;
  }
  u->first_cell[0] = u->first_line[0] = 0;
#pragma omp parallel for schedule(static) num_threads(s->exec->threads)
  for (int row = 0; row < rows; row++) {
    int32_t counts[2];
    walk_row(u, row, counts, NULL);
    u->first_cell[row + 1] = counts[0];
    u->first_line[row + 1] = counts[1];
  }
  for (int row = 0; row < rows; row++) {
    u->first_cell[row + 1] += u->first_cell[row];
    u->first_line[row + 1] += u->first_line[row];
  }
  MN_TRY(mn_reserve(ctx, "cut cells", (size_t)u->first_cell[rows], sizeof *u->cell,
                    &u->buffer[B_CELL]));
  MN_TRY(mn_reserve(ctx, "lines of cells", (size_t)u->first_line[rows], sizeof *u->line,
                    &u->buffer[B_LINE]));
  u->cell = u->buffer[B_CELL].data;
  u->line = u->buffer[B_LINE].data;
#pragma omp parallel for schedule(static) num_threads(s->exec->threads)
  for (int row = 0; row < rows; row++) {
    int32_t counts[2];
    walk_row(u, row, counts, s);
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

static void multiply_line(const mn_unknown_line *line, int dim, double factor, const double *x,
                          double *y)
{
  const double *o = x + line->first, *yl = x + line->near[0], *yh = x + line->near[1];
  double *out = y + line->first;
  int count = line->count;
  if (dim == 3) {
    const double *zl = x + line->near[2], *zh = x + line->near[3];
    for (int n = 0; n < count; n++)
      out[n] = factor * (6 * o[n] - ((o[n - 1] + o[n + 1]) + (yl[n] + yh[n]) + (zl[n] + zh[n])));
  } else {
    for (int n = 0; n < count; n++)
      out[n] = factor * (4 * o[n] - ((o[n - 1] + o[n + 1]) + (yl[n] + yh[n])));
  }
}

void mn_unknowns_multiply(const mn_unknowns *u, double factor, const double *x, double *y)
{
  int rows = u->regions->n[1] * u->regions->n[2];
#pragma omp parallel for schedule(static) num_threads(u->exec->threads)
  for (int row = 0; row < rows; row++) {
    for (int32_t l = u->first_line[row]; l < u->first_line[row + 1]; l++)
      multiply_line(&u->line[l], u->dim, factor, x, y);
    for (int32_t e = u->first_cell[row]; e < u->first_cell[row + 1]; e++) {
      const mn_unknown_cell *cell = &u->cell[e];
      double sum = 0;
      for (int side = 0; side < 6; side++)
        sum += cell->c[side] * x[cell->near[side]];
      y[cell->number] = factor * (cell->diagonal * x[cell->number] - sum);
    }
  }
}

/* Appends an entry. */
static void put(mn_unknowns *u, int64_t *end, int64_t col, double value)
{
  u->col[*end] = col;
  u->value[(*end)++] = value;
}

/* Rows of a line: sides in the order of numbers. */
static void put_line(mn_unknowns *u, const mn_unknown_line *line, double factor, int64_t *end)
{
  int three = u->dim == 3;
  for (int64_t n = 0; n < line->count; n++) {
    u->start[line->first + n] = *end;
    if (three)
      put(u, end, line->near[2] + n, -factor);
    put(u, end, line->near[0] + n, -factor);
    put(u, end, line->first + n - 1, -factor);
    put(u, end, line->first + n, 2 * u->dim * factor);
    put(u, end, line->first + n + 1, -factor);
    put(u, end, line->near[1] + n, -factor);
    if (three)
      put(u, end, line->near[3] + n, -factor);
  }
}

static void put_cell(mn_unknowns *u, const mn_unknown_cell *cell, double factor, int64_t *end)
{
  static const int order[7] = {4, 2, 0, -1, 1, 3, 5};
  u->start[cell->number] = *end;
  for (int n = 0; n < 7; n++)
    if (order[n] < 0)
      put(u, end, cell->number, factor * cell->diagonal);
    else if (cell->c[order[n]] > 0)
      put(u, end, cell->near[order[n]], -factor * cell->c[order[n]]);
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
    int32_t l = u->first_line[row], e = u->first_cell[row];
    int32_t last_line = u->first_line[row + 1], last_cell = u->first_cell[row + 1];
    while (l < last_line || e < last_cell)
      if (e == last_cell || (l < last_line && u->line[l].first < u->cell[e].number))
        put_line(u, &u->line[l++], factor, &end);
      else
        put_cell(u, &u->cell[e++], factor, &end);
  }
  u->start[u->count] = end;
  *A = (mn_sparse_matrix){(int64_t)u->count, (int64_t)u->count, u->start, u->col, u->value};
  return MN_OK;
}
