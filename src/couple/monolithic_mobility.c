/* How easily faces move: s_r, near H_r K'^-1 H_r^T, for the fluid's preconditioner.

   K' is taken block by block: the freedoms of a rigid body, or the axes of a node, which a stiff
   cloth binds in its plane and leaves free across it. What lies outside the blocks is left out:
   a node moves while its neighbours stand. That is exact for rigid bodies, and near for what
   matters, light bodies whose inertia resists more than their stiffness. */
#include <math.h>

#include "base/status.h"
#include "couple/monolithic_system.h"

enum { BLOCK = 6 };

static int64_t root(int64_t *parent, int64_t i)
{
  while (parent[i] != i)
    i = parent[i] = parent[parent[i]];
  return i;
}

static void join(int64_t *parent, int64_t a, int64_t b)
{
  a = root(parent, a);
  b = root(parent, b);
  parent[a > b ? a : b] = a > b ? b : a;
}

/* Freedoms that belong together have the same root, which is the first of them. */
static void find_blocks(const mn_mono_system *s, int64_t *parent)
{
  const mn_interface *f = &s->boxes->face;
  const mn_sparse_matrix *E = &s->solid.E;
  for (int64_t i = 0; i < (int64_t)s->freedoms; i++)
    parent[i] = i;
  for (size_t i = 0; i < f->count; i++) {
    const int64_t *start = &E->start[3 * i];
    if (f->rigid[i]) {
      for (int64_t e = start[0] + 1; e < start[3]; e++)
        join(parent, E->col[start[0]], E->col[e]);
      continue;
    }
    for (int a = 1; a < 3; a++) /* the same nodes in the same order, if none is fixed in part */
      for (int64_t k = 0; k < start[1] - start[0] && start[a + 1] - start[a] == start[1] - start[0];
           k++)
        join(parent, E->col[start[0] + k], E->col[start[a] + k]);
  }
}

/* x <- A^-1 x by Cholesky, A n x n; 0: it is not positive. */
static int solve_small(int n, double A[BLOCK][BLOCK], double *x)
{
  for (int j = 0; j < n; j++) {
    for (int k = 0; k < j; k++)
      A[j][j] -= A[j][k] * A[j][k];
    if (!(A[j][j] > 0))
      return 0;
    A[j][j] = sqrt(A[j][j]);
    for (int i = j + 1; i < n; i++) {
      for (int k = 0; k < j; k++)
        A[i][j] -= A[i][k] * A[j][k];
      A[i][j] /= A[j][j];
    }
    for (int k = 0; k < j; k++)
      x[j] -= A[j][k] * x[k];
    x[j] /= A[j][j];
  }
  for (int j = n - 1; j >= 0; j--) {
    for (int k = j + 1; k < n; k++)
      x[j] -= A[k][j] * x[k];
    x[j] /= A[j][j];
  }
  return 1;
}

static double entry(const mn_csr *K, int64_t i, int64_t j)
{
  int64_t at = mn_csr_find(K, i, j);
  return at < 0 ? 0 : K->value[at];
}

/* h^T K'^-1 h over the freedoms of one block. */
static double of_block(const mn_csr *K, int n, const int64_t *col, const double *h)
{
  double A[BLOCK][BLOCK], x[BLOCK], sum = 0;
  for (int i = 0; i < n; i++) {
    x[i] = h[i];
    for (int j = 0; j <= i; j++)
      A[i][j] = entry(K, col[i], col[j]);
  }
  if (!solve_small(n, A, x))
    return 0;
  for (int i = 0; i < n; i++)
    sum += h[i] * x[i];
  return sum;
}

/* All freedoms of the block with this root, which follow it closely; how many. */
static int members(const mn_mono_system *s, int64_t *parent, int64_t first, int64_t *col)
{
  int n = 0;
  for (int64_t i = first; i < (int64_t)s->freedoms && i < first + 2 * BLOCK && n < BLOCK; i++)
    if (root(parent, i) == first)
      col[n++] = i;
  return n;
}

mn_status mn_mono_mobility(mn_mono_system *s, int rigid, double *open)
{
  const mn_csr *H = &s->H.a, *K = &s->K.a;
  if (s->freedoms > s->parent_room) {
    s->parent_room = 0;
    MN_TRY(MN_RENEW(s->ctx, "blocks of freedoms", s->freedoms + s->freedoms / 8, &s->parent));
    s->parent_room = s->freedoms + s->freedoms / 8;
  }
  find_blocks(s, s->parent);
  for (int64_t r = 0; r < H->rows; r++) {
    open[r] = 0;
    for (int64_t e = H->start[r]; e < H->start[r + 1]; e++) {
      if (H->col[e] >= (int64_t)s->own)
        continue; /* a breath */
      int64_t first = root(s->parent, H->col[e]), col[BLOCK], done = 0;
      for (int64_t k = H->start[r]; k < e; k++)
        done |= root(s->parent, H->col[k]) == first;
      if (done || (!rigid && s->rigid[first] >= 0))
        continue;
      int n = members(s, s->parent, first, col);
      double h[BLOCK];
      for (int i = 0; i < n; i++) {
        int64_t at = mn_csr_find(H, r, col[i]);
        h[i] = at < 0 ? 0 : H->value[at];
      }
      open[r] += of_block(K, n, col, h);
    }
  }
  return MN_OK;
}
