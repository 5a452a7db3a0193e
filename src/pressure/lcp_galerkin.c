/* Coarse matrices P^T A P of fas.

   Which coarse rows are coupled follows from the weights alone: a set of offsets per level (on the
   first coarse one 33 with barycentric weights, 81 with trilinear ones, in 3D), so the pattern is
   written once per geometry and includes some zeros at walls. A row's values are summed in an array
   over the offsets: no search, rows independent of each other, hence in parallel with the same
   bits. When cells are cut off or let in again only the rows they reach are formed anew, on every
   level. Tests: tests/unit/pressure/test_lcp_levels.c (against a plain triple product). */
#include <string.h>

#include "base/status.h"
#include "pressure/lcp_levels.h"

enum { MIDDLE = MN_LCP_BOX / 2 };

/* Offset along an axis from a cell on a side of its parent: by how many parents, and the side. */
static int parents_moved(int up, int offset, int *side)
{
  int to = up + offset + 4; /* of [-2, 3], above 0 */
  *side = to & 1;
  return to / 2 - 2;
}

/* Marks what a fine cell on the given sides of its parent and the one `offset` away couple. */
static void mark_offset(mn_lcp_weights weights, int dim, int sides, const int offset[3],
                        unsigned char seen[MN_LCP_BOX])
{
  static const int stride[3] = {1, 5, 25};
  int step[8], there = 0, at = 0;
  double weight[8];
  int count = mn_lcp_candidates(weights, dim, step, weight);
  for (int a = 0; a < dim; a++) {
    int side;
    at += stride[a] * parents_moved(sides >> a & 1, offset[a], &side);
    there |= side << a;
  }
  for (int c = 0; c < count; c++)
    for (int d = 0; d < count; d++) {
      int coarse = at;
      for (int b = 0; b < dim; b++) {
        coarse -= step[c] >> b & 1 ? (sides >> b & 1 ? stride[b] : -stride[b]) : 0;
        coarse += step[d] >> b & 1 ? (there >> b & 1 ? stride[b] : -stride[b]) : 0;
      }
      seen[MIDDLE + coarse] = 1;
    }
}

void mn_lcp_galerkin_offsets(const mn_lcp_level *fine, mn_lcp_weights weights, mn_lcp_level *L)
{
  static const int self[3] = {0, 0, 0};
  unsigned char seen[MN_LCP_BOX] = {0};
  for (int sides = 0; sides < 1 << L->dim; sides++) {
    mark_offset(weights, L->dim, sides, self, seen);
    for (int o = 0; o < fine->offsets; o++)
      mark_offset(weights, L->dim, sides, fine->offset[o], seen);
  }
  L->offsets = 0;
  for (int o = 0; o < MN_LCP_BOX; o++)
    if (seen[o] && o != MIDDLE) {
      int *offset = L->offset[L->offsets++];
      offset[0] = o % 5 - MN_LCP_REACH;
      offset[1] = o / 5 % 5 - MN_LCP_REACH;
      offset[2] = o / 25 - MN_LCP_REACH;
    }
}

/* ---- pattern ------------------------------------------------------------------------------- */

/* Rows coupled to that of cell (i, j, k), into column unless it is NULL; returns how many. */
static int couplings(const mn_lcp_level *L, int i, int j, int k, int *column)
{
  int count = 0;
  for (int o = 0; o < L->offsets; o++) {
    int x = i + L->offset[o][0], y = j + L->offset[o][1], z = k + L->offset[o][2];
    if (x < 0 || y < 0 || z < 0 || x >= L->n[0] || y >= L->n[1] || z >= L->n[2])
      continue;
    int row = L->number[mn_lcp_cell(L, x, y, z)];
    if (row < 0)
      continue;
    if (column)
      column[count] = row;
    count++;
  }
  return count;
}

mn_status mn_lcp_galerkin_pattern(mn_context *ctx, const mn_exec *exec, mn_lcp_level *L)
{
  int planes = L->dim == 3 ? L->n[2] : L->n[1], lines = L->n[1] * L->n[2];
  MN_TRY(mn_rows_reserve(ctx, exec, planes, L->plane, (size_t)L->plane[planes] * (size_t)L->offsets,
                         &L->own));
  mn_rows *A = &L->own;
  for (int fill = 0; fill < 2; fill++) {
#pragma omp parallel for schedule(static) num_threads(mn_rows_threads(A))
    for (int line = 0; line < lines; line++)
      for (int i = 0; i < L->n[0]; i++) {
        int j = line % L->n[1], k = line / L->n[1], row = L->number[mn_lcp_cell(L, i, j, k)];
        if (row < 0)
          continue;
        int count = couplings(L, i, j, k, fill ? A->column + A->start[row] : NULL);
        if (!fill)
          A->start[row + 1] = count;
      }
    A->start[0] = 0;
    for (int r = 0; r < A->count && !fill; r++)
      A->start[r + 1] += A->start[r];
  }
  return MN_OK;
}

/* ---- values -------------------------------------------------------------------------------- */

/* sum += a times the interpolation row j, by offset. */
static void spread(const mn_lcp_level *L, const int *key, int base, int j, double a, double *sum)
{
  for (int s = j << L->shift; s < (j + 1) << L->shift; s++)
    if (L->from[s] >= 0)
      sum[key[L->from[s]] - base] += a * L->weight[s];
}

static void product_row(const mn_lcp_level *L, mn_lcp_level *coarse, int I)
{
  const mn_rows *A = L->A;
  mn_rows *C = &coarse->own;
  double sum[MN_LCP_BOX] = {0};
  int base = coarse->key[I] - MIDDLE;
  for (int u = L->user_start[I]; u < L->user_start[I + 1]; u++) {
    int i = L->user[u] >> L->shift;
    double w = L->weight[L->user[u]];
    if (L->cut[i])
      continue;
    spread(L, coarse->key, base, i, w * A->diagonal[i], sum);
    for (int e = A->start[i]; e < A->start[i + 1]; e++)
      if (!L->cut[A->column[e]])
        spread(L, coarse->key, base, A->column[e], w * A->value[e], sum);
  }
  C->diagonal[I] = sum[MIDDLE];
  for (int e = C->start[I]; e < C->start[I + 1]; e++)
    C->value[e] = sum[coarse->key[C->column[e]] - base];
}

/* Coarse rows that row i contributes to. */
static void mark_parents(const mn_lcp_level *L, int i, unsigned char *changed)
{
  for (int s = i << L->shift; s < (i + 1) << L->shift; s++)
    if (L->from[s] >= 0)
      changed[L->from[s]] = 1;
}

/* A row cut off or let in changes the products with its neighbours, too; on coarser levels both
   rows of a changed entry are marked already. */
static void mark_coarse(const mn_lcp_level *L, mn_lcp_level *coarse, int finest)
{
  const mn_rows *A = L->A;
  memset(coarse->changed, 0, (size_t)coarse->own.count);
  for (int i = 0; i < A->count; i++) {
    if (!L->changed[i])
      continue;
    mark_parents(L, i, coarse->changed);
    for (int e = A->start[i]; e < A->start[i + 1] && finest; e++)
      mark_parents(L, A->column[e], coarse->changed);
  }
}

void mn_lcp_galerkin_products(mn_lcp_levels *v)
{
  for (int l = 0; l + 1 < v->count; l++) {
    mn_lcp_level *L = &v->level[l], *coarse = L + 1;
    if (v->fresh)
      memset(coarse->changed, 1, (size_t)coarse->own.count);
    else
      mark_coarse(L, coarse, l == 0);
#pragma omp parallel for schedule(static) num_threads(mn_rows_threads(&coarse->own))
    for (int I = 0; I < coarse->own.count; I++)
      if (coarse->changed[I])
        product_row(L, coarse, I);
  }
  v->fresh = 0;
}
