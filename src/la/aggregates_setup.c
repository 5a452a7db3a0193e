/* The levels of la/aggregates.h: patterns, kept while that of K stands, and values. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "la/aggregates_level.h"

static void level_free(mn_level *l)
{
  void *all[] = {l->start, l->col,  l->diagonal, l->value, l->inverse, l->size,
                 l->to,    l->into, l->b,        l->x,     l->r,       l->kept};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    mn_free(all[i]);
  *l = (mn_level){0};
}

static void pattern_free(mn_aggregates *a)
{
  for (int k = 0; k < MN_AGGREGATE_LEVELS; k++)
    level_free(&a->level[k]);
  void *all[] = {a->dense,  a->dense_x, a->start,   a->col,      a->place, a->entry, a->wide,
                 a->lumped, a->own,     a->h_place, a->h_number, a->h_x,   a->h_y};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    mn_free(all[i]);
  mn_sweeps_free(a);
  for (int k = 0; k < MN_AGGREGATE_VECTORS; k++) {
    mn_free(a->v[k]);
    a->v[k] = NULL;
  }
  a->dense = a->dense_x = a->wide = NULL;
  a->start = a->col = NULL;
  a->place = a->entry = NULL;
  a->lumped = a->own = a->h_x = a->h_y = NULL;
  a->h_place = a->h_number = NULL;
  a->levels = 0;
  a->freedoms = 0;
}

void mn_levels_free(mn_aggregates *a)
{
  pattern_free(a);
  mn_faces_free(a);
}

/* ---- patterns -------------------------------------------------------------------------------- */

static mn_status level_room(mn_context *ctx, mn_level *l, int n, size_t blocks)
{
  size_t nodes = (size_t)n;
  l->n = n;
  MN_TRY(MN_NEW(ctx, "levels of a mesh", nodes + 1, &l->start));
  MN_TRY(MN_NEW(ctx, "levels of a mesh", nodes, &l->diagonal));
  MN_TRY(MN_NEW(ctx, "levels of a mesh", nodes, &l->size));
  MN_TRY(MN_NEW(ctx, "levels of a mesh", nodes, &l->to));
  MN_TRY(MN_NEW(ctx, "levels of a mesh", 12 * nodes, &l->inverse));
  MN_TRY(MN_NEW(ctx, "levels of a mesh", blocks, &l->col));
  MN_TRY(MN_NEW(ctx, "levels of a mesh", blocks, &l->into));
  MN_TRY(MN_NEW(ctx, "levels of a mesh", 12 * blocks, &l->value));
  float **vectors[] = {&l->b, &l->x, &l->r, &l->kept};
  for (int k = 0; k < 4; k++)
    MN_TRY(MN_NEW(ctx, "levels of a mesh", 4 * nodes, vectors[k]));
  return MN_OK;
}

static int same_row(const mn_csr *K, int64_t i, int64_t j)
{
  int64_t n = K->start[i + 1] - K->start[i];
  return K->start[j + 1] - K->start[j] == n &&
         memcmp(K->col + K->start[i], K->col + K->start[j], (size_t)n * sizeof *K->col) == 0;
}

/* Nodes: up to three rows that follow each other and have the same columns. */
static int place_freedoms(const mn_csr *K, int32_t *place)
{
  int n = 0;
  for (int64_t i = 0, end; i < K->rows; i = end, n++)
    for (end = i; end < K->rows && end < i + 3 && (end == i || same_row(K, i, end)); end++)
      place[end] = 4 * n + (int32_t)(end - i);
  return n;
}

/* Blocks of the first level; value and entry only if there is room for them. */
static int32_t list_blocks(const mn_aggregates *a, const mn_csr *K, mn_level *l)
{
  int32_t blocks = 0;
  for (int64_t i = 0, end; i < K->rows; i = end) {
    int32_t g = a->place[i] / 4;
    for (end = i + 1; end < K->rows && a->place[end] / 4 == g;)
      end++;
    if (l)
      l->start[g] = blocks, l->size[g] = (uint8_t)(end - i);
    for (int64_t e = K->start[i], k = 0, last = -1; e < K->start[i + 1]; e++, k++) {
      int32_t h = a->place[K->col[e]] / 4;
      blocks += h != last;
      last = h;
      if (!l)
        continue;
      l->col[blocks - 1] = h;
      if (h == g)
        l->diagonal[g] = blocks - 1;
      for (int64_t row = i; row < end; row++) /* the rows of a node have the same columns */
        a->entry[K->start[row] + k] =
            12 * (blocks - 1) + 4 * (a->place[K->col[e]] % 4) + a->place[row] % 4;
    }
    if (l)
      l->start[g + 1] = blocks;
  }
  return blocks;
}

/* Nodes of the next level: one that no other has yet, with all its neighbours; who is left goes
   with the first neighbour that was taken so. Returns how many. */
static int aggregate(const mn_level *l)
{
  int n = 0;
  for (int g = 0; g < l->n; g++)
    l->to[g] = -1;
  for (int g = 0; g < l->n; g++) {
    int free = 1;
    for (int32_t e = l->start[g]; e < l->start[g + 1]; e++)
      free &= l->to[l->col[e]] < 0;
    for (int32_t e = l->start[g]; e < l->start[g + 1] && free; e++)
      l->to[l->col[e]] = n;
    n += free;
  }
  for (int g = 0; g < l->n; g++) /* marked below -1, so that they do not draw others along */
    for (int32_t e = l->start[g]; e < l->start[g + 1] && l->to[g] == -1; e++)
      if (l->to[l->col[e]] >= 0)
        l->to[g] = -2 - l->to[l->col[e]];
  for (int g = 0; g < l->n; g++)
    l->to[g] = l->to[g] < -1 ? -2 - l->to[g] : l->to[g];
  for (int g = 0; g < l->n; g++)
    if (l->to[g] < 0)
      l->to[g] = n++;
  return n;
}

static int by_number(const void *a, const void *b)
{
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return x < y ? -1 : x > y;
}

/* The pattern of the next level's matrix; `into` of this one's blocks. */
static mn_status coarsen_pattern(mn_context *ctx, mn_level *l, int n, mn_level *next)
{
  int32_t *first, *follow, *at, *list, blocks = 0;
  MN_TRY(level_room(ctx, next, n, (size_t)l->start[l->n]));
  MN_TRY(MN_NEW(ctx, "levels of a mesh", (size_t)n, &first));
  mn_status status = MN_NEW(ctx, "levels of a mesh", (size_t)l->n, &follow);
  if (status == MN_OK)
    status = MN_NEW(ctx, "levels of a mesh", (size_t)n, &at);
  else
    at = NULL;
  if (status == MN_OK)
    status = MN_NEW(ctx, "levels of a mesh", (size_t)n, &list);
  else
    list = NULL;
  for (int c = 0; c < n && status == MN_OK; c++)
    first[c] = at[c] = -1;
  for (int g = l->n - 1; g >= 0 && status == MN_OK; g--) {
    follow[g] = first[l->to[g]];
    first[l->to[g]] = g;
  }
  for (int c = 0; c < n && status == MN_OK; c++) {
    int count = 0;
    next->start[c] = blocks;
    next->size[c] = 0;
    for (int g = first[c]; g >= 0; g = follow[g]) {
      next->size[c] = l->size[g] > next->size[c] ? l->size[g] : next->size[c];
      for (int32_t e = l->start[g]; e < l->start[g + 1]; e++) {
        int32_t to = l->to[l->col[e]];
        if (at[to] < next->start[c]) {
          at[to] = next->start[c]; /* seen */
          list[count++] = to;
        }
      }
    }
    qsort(list, (size_t)count, sizeof *list, by_number);
    for (int k = 0; k < count; k++) {
      at[list[k]] = blocks;
      next->col[blocks] = list[k];
      if (list[k] == c)
        next->diagonal[c] = blocks;
      blocks++;
    }
    for (int g = first[c]; g >= 0; g = follow[g])
      for (int32_t e = l->start[g]; e < l->start[g + 1]; e++)
        l->into[e] = at[l->to[l->col[e]]];
    next->start[c + 1] = blocks;
  }
  mn_free(first);
  mn_free(follow);
  mn_free(at);
  mn_free(list);
  return status;
}

static mn_status make_pattern(mn_aggregates *a, const mn_csr *K)
{
  mn_context *ctx = a->ctx;
  size_t entries = (size_t)mn_csr_entries(K), rows = (size_t)K->rows;
  pattern_free(a);
  MN_TRY(MN_NEW(ctx, "levels of a mesh", rows + 1, &a->start));
  MN_TRY(MN_NEW(ctx, "levels of a mesh", entries, &a->col));
  MN_TRY(MN_NEW(ctx, "levels of a mesh", rows, &a->place));
  MN_TRY(MN_NEW(ctx, "levels of a mesh", entries, &a->entry));
  int n = place_freedoms(K, a->place);
  MN_TRY(level_room(ctx, &a->level[0], n, (size_t)list_blocks(a, K, NULL)));
  list_blocks(a, K, &a->level[0]);
  MN_TRY(MN_NEW(ctx, "levels of a mesh", 4 * (size_t)n, &a->lumped));
  MN_TRY(MN_NEW(ctx, "levels of a mesh", 12 * (size_t)n, &a->own));
  MN_TRY(MN_NEW(ctx, "levels of a mesh", 8 * (size_t)n, &a->wide));
  MN_TRY(MN_NEW(ctx, "levels of a mesh", 4 * (size_t)n + 4, &a->h_place));
  MN_TRY(MN_NEW(ctx, "levels of a mesh", 4 * (size_t)n, &a->h_number));
  MN_TRY(MN_NEW(ctx, "levels of a mesh", 4 * (size_t)n + 4, &a->h_x));
  MN_TRY(MN_NEW(ctx, "levels of a mesh", 4 * (size_t)n + 4, &a->h_y));
  for (int k = 0; k < MN_AGGREGATE_VECTORS; k++)
    MN_TRY(MN_NEW(ctx, "levels of a mesh", 4 * (size_t)n, &a->v[k]));
  int levels = 1;
  for (; n > MN_AGGREGATE_LAST && levels < MN_AGGREGATE_LEVELS; levels++) {
    int fewer = aggregate(&a->level[levels - 1]);
    if (fewer > n - n / 8)
      break; /* bodies that nothing joins */
    MN_TRY(coarsen_pattern(ctx, &a->level[levels - 1], fewer, &a->level[levels]));
    n = fewer;
  }
  size_t last = n <= MN_AGGREGATE_MOST ? 3 * (size_t)n : 0;
  MN_TRY(MN_NEW(ctx, "levels of a mesh", last * last, &a->dense));
  MN_TRY(MN_NEW(ctx, "levels of a mesh", last, &a->dense_x));
  memcpy(a->start, K->start, (rows + 1) * sizeof *a->start);
  memcpy(a->col, K->col, entries * sizeof *a->col);
  a->freedoms = K->rows;
  a->levels = levels;
  return MN_OK;
}

static int same_pattern(const mn_aggregates *a, const mn_csr *K)
{
  return a->levels && a->freedoms == K->rows &&
         memcmp(a->start, K->start, ((size_t)K->rows + 1) * sizeof *a->start) == 0 &&
         memcmp(a->col, K->col, (size_t)mn_csr_entries(K) * sizeof *a->col) == 0;
}

/* ---- values ---------------------------------------------------------------------------------- */

int mn_levels_invert(const float *A, const float *more, int size, float *inverse)
{
  double L[3][3] = {{0}}, I[3][3] = {{0}};
  memset(inverse, 0, 12 * sizeof *inverse);
  for (int i = 0; i < size; i++)
    for (int j = 0; j <= i; j++) {
      double sum = (double)A[4 * j + i] + (i == j && more ? (double)more[i] : 0);
      for (int k = 0; k < j; k++)
        sum -= L[i][k] * L[j][k];
      if (i == j && !(sum > 0))
        return 0;
      L[i][j] = i == j ? sqrt(sum) : sum / L[j][j];
    }
  for (int c = 0; c < size; c++) {
    for (int i = 0; i < size; i++) {
      double sum = i == c;
      for (int k = 0; k < i; k++)
        sum -= L[i][k] * I[k][c];
      I[i][c] = sum / L[i][i];
    }
    for (int i = size - 1; i >= 0; i--) {
      double sum = I[i][c];
      for (int k = i + 1; k < size; k++)
        sum -= L[k][i] * I[k][c];
      I[i][c] = sum / L[i][i];
      inverse[4 * c + i] = (float)I[i][c];
    }
  }
  return 1;
}

static int invert_blocks(const mn_level *l)
{
  for (int g = 0; g < l->n; g++)
    if (!mn_levels_invert(l->value + 12 * (size_t)l->diagonal[g], NULL, l->size[g],
                          l->inverse + 12 * (size_t)g))
      return 0;
  return 1;
}

/* Cholesky of the last level; nodes that lack freedoms have 1 there. */
static int factorise_last(mn_aggregates *a)
{
  const mn_level *l = &a->level[a->levels - 1];
  size_t n = 3 * (size_t)l->n;
  memset(a->dense, 0, n * n * sizeof *a->dense);
  for (int g = 0; g < l->n; g++) {
    for (int32_t e = l->start[g]; e < l->start[g + 1]; e++)
      for (int i = 0; i < 9; i++)
        a->dense[(3 * (size_t)g + (size_t)(i % 3)) * n + 3 * (size_t)l->col[e] + (size_t)(i / 3)] =
            (double)l->value[12 * (size_t)e + (size_t)(4 * (i / 3) + i % 3)];
    for (size_t i = l->size[g]; i < 3; i++)
      a->dense[(3 * (size_t)g + i) * (n + 1)] = 1;
  }
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j <= i; j++) {
      double sum = a->dense[i * n + j];
      for (size_t k = 0; k < j; k++)
        sum -= a->dense[i * n + k] * a->dense[j * n + k];
      if (i == j && !(sum > 0))
        return 0;
      a->dense[i * n + j] = i == j ? sqrt(sum) : sum / a->dense[j * (n + 1)];
    }
  return 1;
}

static int set_first(mn_aggregates *a, const mn_csr *K, const double *scale)
{
  mn_level *l = &a->level[0];
  int positive = 1;
  memset(l->value, 0, 12 * (size_t)l->start[l->n] * sizeof *l->value);
  for (int64_t i = 0; i < K->rows; i++)
    for (int64_t e = K->start[i]; e < K->start[i + 1]; e++)
      l->value[a->entry[e]] = (float)(K->value[e] * scale[i]);
  mn_faces_lump(a);
  for (int g = 0; g < l->n; g++) {
    float *block = l->value + 12 * (size_t)l->diagonal[g];
    positive &= mn_levels_invert(block, a->v[0] + 4 * g, l->size[g], a->own + 12 * (size_t)g);
    for (int i = 0; i < l->size[g]; i++)
      block[5 * i] += a->lumped[4 * g + i];
    memcpy(a->block + 12 * (size_t)g, block, 12 * sizeof *block);
  }
  return positive && invert_blocks(l);
}

static int set_next(const mn_level *l, const mn_level *next)
{
  memset(next->value, 0, 12 * (size_t)next->start[next->n] * sizeof *next->value);
  for (int32_t e = 0; e < l->start[l->n]; e++)
    for (int i = 0; i < 12; i++)
      next->value[12 * (size_t)l->into[e] + (size_t)i] += l->value[12 * (size_t)e + (size_t)i];
  return invert_blocks(next);
}

mn_status mn_aggregates_setup(mn_aggregates *a, const mn_csr *K, const double *scale,
                              const mn_csr *H, const double *w, int *positive)
{
  if (!same_pattern(a, K))
    MN_TRY(make_pattern(a, K));
  MN_TRY(mn_faces_set(a, H, w));
  *positive = a->swept = 0;
  if (a->level[a->levels - 1].n > MN_AGGREGATE_MOST)
    return MN_OK;
  MN_TRY(mn_sweeps_set(a, K, scale));
  *positive = set_first(a, K, scale);
  for (int k = 1; k < a->levels && *positive; k++)
    *positive = set_next(&a->level[k - 1], &a->level[k]);
  if (*positive)
    *positive = factorise_last(a);
  return MN_OK;
}

mn_status mn_aggregates_setup_sweeps(mn_aggregates *a, const mn_csr *K, const double *scale,
                                     const mn_csr *H, const double *w, int *positive)
{
  if (!same_pattern(a, K))
    MN_TRY(make_pattern(a, K));
  MN_TRY(mn_faces_set(a, H, w));
  MN_TRY(mn_sweeps_set(a, K, scale));
  mn_faces_lump(a);
  const mn_level *l = &a->level[0];
  *positive = a->swept = 1;
  for (int g = 0; g < l->n && *positive; g++) {
    float *block = a->block + 12 * (size_t)g;
    *positive = mn_levels_invert(block, a->v[0] + 4 * g, l->size[g], a->own + 12 * (size_t)g);
    for (int i = 0; i < l->size[g]; i++)
      block[5 * i] += a->lumped[4 * g + i];
  }
  if (*positive)
    *positive = mn_sweeps_pivots(a);
  return MN_OK;
}
