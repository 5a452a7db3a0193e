/* The unknowns of a system and its connected regions.

   A row of cells is cut into runs of unknowns connected by open faces; runs of neighbouring rows
   that share an open face are joined (union-find, the lower run is the root). Regions are numbered
   in the order of their first cells, so the numbers depend on nothing but the geometry. A region is
   closed when no cell of it has an excess: its constant is then in the null space. The cost is that
   of reading the cells once; nothing is stored per cell but its kind.

   Verified by tests/unit/pressure/test_regions.c against a flood fill. */
#include "pressure/system.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"

mn_status mn_reserve(mn_context *ctx, const char *what, size_t count, size_t size, mn_buffer *b)
{
  size_t bytes = count * size;
  if (size && count > SIZE_MAX / 2 / size)
    bytes = SIZE_MAX / 2; /* refused by mn_alloc with a sentence */
  if (b->data && bytes <= b->bytes)
    return MN_OK;
  if (b->data && bytes < SIZE_MAX / 4)
    bytes += bytes / 4; /* it grew once, it will again: liquid moves */
  mn_free(b->data);
  b->bytes = 0;
  MN_TRY(mn_alloc(ctx, what, bytes, 1, &b->data));
  b->bytes = bytes;
  return MN_OK;
}

void mn_buffer_free(mn_buffer *b)
{
  mn_free(b->data);
  *b = (mn_buffer){0};
}

void mn_regions_free(mn_regions *g)
{
  for (size_t b = 0; b < sizeof g->buffer / sizeof *g->buffer; b++)
    mn_buffer_free(&g->buffer[b]);
  *g = (mn_regions){0};
}

/* Runs of one row; with `out` NULL they are only counted. */
static int find_runs(const mn_regions *g, const mn_system *s, int j, int k, mn_region_run *out)
{
  const uint8_t *kind = mn_kind_row(g, j, k);
  const int *range = g->range[j + g->n[1] * k];
  int count = 0, inside = 0;
  for (int i = range[0]; i < range[1]; i++) {
    int unknown = kind[i] != MN_DEAD;
    int joined =
        unknown && inside &&
        (kind[i] == MN_REGULAR || kind[i - 1] == MN_REGULAR || s->coupled(s->self, 0, i, j, k));
    if (unknown && !joined) {
      if (out)
        out[count] = (mn_region_run){i, i + 1, 0};
      count++;
    } else if (joined && out) {
      out[count - 1].hi = i + 1;
    }
    inside = unknown;
  }
  return count;
}

static int root_of(mn_region_run *run, int r)
{
  while (run[r].region != r) {
    run[r].region = run[run[r].region].region;
    r = run[r].region;
  }
  return r;
}

/* Whether a face between the row and its lower neighbour along `axis` is open in [lo, hi). */
static int touch(const mn_regions *g, const mn_system *s, int axis, int lo, int hi, int j, int k)
{
  const uint8_t *kind = mn_kind_row(g, j, k);
  if (kind[lo + (hi - lo) / 2] == MN_REGULAR) /* most often, and close at hand */
    return 1;
  for (int i = lo; i < hi; i++)
    if (kind[i] == MN_REGULAR || s->coupled(s->self, axis, i, j, k))
      return 1;
  return 0;
}

/* Joins the runs of row (j, k) with those of its lower neighbour along `axis`. */
static void join_rows(mn_regions *g, const mn_system *s, int axis, int j, int k)
{
  int row = j + g->n[1] * k, below = row - (axis == 1 ? 1 : g->n[1]);
  int b = g->first_run[below], b_end = g->first_run[below + 1];
  for (int a = g->first_run[row]; a < g->first_run[row + 1]; a++) {
    while (b < b_end && g->run[b].hi <= g->run[a].lo)
      b++;
    for (int t = b; t < b_end && g->run[t].lo < g->run[a].hi; t++) {
      int lo = g->run[a].lo > g->run[t].lo ? g->run[a].lo : g->run[t].lo;
      int hi = g->run[a].hi < g->run[t].hi ? g->run[a].hi : g->run[t].hi;
      if (!touch(g, s, axis, lo, hi, j, k))
        continue;
      int ra = root_of(g->run, a), rt = root_of(g->run, t);
      g->run[ra < rt ? rt : ra].region = ra < rt ? ra : rt;
    }
  }
}

/* Numbers the regions, counts their cells and finds out which are closed. */
static mn_status number_regions(mn_context *ctx, mn_regions *g, const mn_system *s)
{
  int rows = g->n[1] * g->n[2], runs = g->first_run[rows];
  g->count = 0;
  for (int r = 0; r < runs; r++)
    g->count += root_of(g->run, r) == r;
  MN_TRY(mn_reserve(ctx, "pressure regions", (size_t)g->count, sizeof *g->region, &g->buffer[5]));
  MN_TRY(mn_reserve(ctx, "pressure regions", (size_t)g->count, sizeof *g->mean, &g->buffer[6]));
  g->region = g->buffer[5].data;
  g->mean = g->buffer[6].data;
  g->unknowns = 0;
  for (int row = 0, next = 0; row < rows; row++) {
    int j = row % g->n[1], k = row / g->n[1];
    const uint8_t *kind = mn_kind_row(g, j, k);
    for (int r = g->first_run[row]; r < g->first_run[row + 1]; r++) {
      mn_region_run *run = &g->run[r];
      /* roots come before their members, so a member's root already holds its number */
      int root = run->region == r ? r : run->region;
      if (root == r) {
        g->region[next] = (mn_pressure_region){.closed = s->excess <= 0, .first = {run->lo, j, k}};
        run->region = next++;
      } else {
        run->region = g->run[root].region;
      }
      mn_pressure_region *region = &g->region[run->region];
      region->cells += (size_t)(run->hi - run->lo);
      g->unknowns += (size_t)(run->hi - run->lo);
      for (int i = run->lo; i < run->hi && region->closed; i++) {
        double c[6];
        if (kind[i] == MN_IRREGULAR && s->cell(s->self, i, j, k, c) > 0)
          region->closed = 0;
      }
    }
  }
  g->closed = 0;
  for (int r = 0; r < g->count; r++)
    g->closed += g->region[r].closed;
  return MN_OK;
}

mn_status mn_regions_build(mn_context *ctx, mn_regions *g, const mn_system *s)
{
  size_t rows = (size_t)s->n[1] * (size_t)s->n[2];
  memcpy(g->n, s->n, sizeof g->n);
  MN_TRY(mn_reserve(ctx, "pressure cell kinds", rows * (size_t)s->n[0], 1, &g->buffer[0]));
  MN_TRY(mn_reserve(ctx, "pressure rows", rows, sizeof *g->range, &g->buffer[1]));
  MN_TRY(mn_reserve(ctx, "pressure rows", rows + 1, sizeof *g->first_run, &g->buffer[2]));
  g->kind = g->buffer[0].data;
  g->range = g->buffer[1].data;
  g->first_run = g->buffer[2].data;

  int row_count = (int)rows, ny = g->n[1];
#pragma omp parallel for schedule(static) num_threads(s->exec->threads)
  for (int row = 0; row < row_count; row++) {
    uint8_t *kind = g->kind + (size_t)row * (size_t)g->n[0];
    s->classify(s->self, row % ny, row / ny, kind, &g->range[row][0], &g->range[row][1]);
    g->first_run[row + 1] = find_runs(g, s, row % ny, row / ny, NULL);
  }
  g->first_run[0] = 0;
  for (int row = 0; row < row_count; row++)
    g->first_run[row + 1] += g->first_run[row];
  size_t runs = (size_t)g->first_run[row_count];
  MN_TRY(mn_reserve(ctx, "pressure runs", runs, sizeof *g->run, &g->buffer[3]));
  MN_TRY(mn_reserve(ctx, "pressure runs", runs, sizeof *g->run_sum, &g->buffer[4]));
  g->run = g->buffer[3].data;
  g->run_sum = g->buffer[4].data;
#pragma omp parallel for schedule(static) num_threads(s->exec->threads)
  for (int row = 0; row < row_count; row++) {
    find_runs(g, s, row % ny, row / ny, g->run + g->first_run[row]);
    for (int r = g->first_run[row]; r < g->first_run[row + 1]; r++)
      g->run[r].region = r;
  }
  for (int row = 0; row < row_count; row++) {
    if (row % ny > 0)
      join_rows(g, s, 1, row % ny, row / ny);
    if (row / ny > 0)
      join_rows(g, s, 2, row % ny, row / ny);
  }
  return number_regions(ctx, g, s);
}

int mn_region_at(const mn_regions *g, int i, int j, int k)
{
  int row = j + g->n[1] * k;
  for (int r = g->first_run[row]; r < g->first_run[row + 1]; r++)
    if (i >= g->run[r].lo && i < g->run[r].hi)
      return g->run[r].region;
  return -1;
}

void mn_region_sums(mn_regions *g, const mn_field *x)
{
  int rows = g->n[1] * g->n[2], ny = g->n[1];
#pragma omp parallel for schedule(static) num_threads(x->grid->exec->threads)
  for (int row = 0; row < rows; row++)
    for (int r = g->first_run[row]; r < g->first_run[row + 1]; r++) {
      const double *at = x->at + mn_index(x, 0, row % ny, row / ny);
      double sum = 0;
      for (int i = g->run[r].lo; i < g->run[r].hi; i++)
        sum += at[i];
      g->run_sum[r] = sum;
    }
  for (int r = 0; r < g->count; r++)
    g->mean[r] = 0;
  for (int r = 0; r < g->first_run[rows]; r++)
    g->mean[g->run[r].region] += g->run_sum[r];
}

void mn_region_subtract_mean(mn_regions *g, mn_field *x)
{
  if (!g->closed)
    return;
  mn_region_sums(g, x);
  for (int r = 0; r < g->count; r++)
    g->mean[r] = g->region[r].closed ? g->mean[r] / (double)g->region[r].cells : 0;
  int rows = g->n[1] * g->n[2], ny = g->n[1];
#pragma omp parallel for schedule(static) num_threads(x->grid->exec->threads)
  for (int row = 0; row < rows; row++)
    for (int r = g->first_run[row]; r < g->first_run[row + 1]; r++) {
      double *at = x->at + mn_index(x, 0, row % ny, row / ny);
      for (int i = g->run[r].lo; i < g->run[r].hi; i++)
        at[i] -= g->mean[g->run[r].region];
    }
}

void mn_region_clear_outside(const mn_regions *g, mn_field *x)
{
  int ghost = MN_GHOST, ghost_z = x->grid->dim == 3 ? MN_GHOST : 0, ny = g->n[1], nz = g->n[2];
  int wide = ny + 2 * ghost;
#pragma omp parallel for schedule(static) num_threads(x->grid->exec->threads)
  for (int t = 0; t < wide * (nz + 2 * ghost_z); t++) {
    int j = t % wide - ghost, k = t / wide - ghost_z;
    double *at = x->at + mn_index(x, 0, j, k);
    int inside = j >= 0 && j < ny && k >= 0 && k < nz, from = -ghost;
    int row = j + ny * k;
    for (int r = inside ? g->first_run[row] : 0; inside && r < g->first_run[row + 1]; r++) {
      memset(at + from, 0, (size_t)(g->run[r].lo - from) * sizeof *at);
      from = g->run[r].hi;
    }
    memset(at + from, 0, (size_t)(g->n[0] + ghost - from) * sizeof *at);
  }
}
