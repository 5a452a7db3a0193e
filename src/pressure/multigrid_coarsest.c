/* The coarsest level of the multigrid cycle: at most 4 cells a side, solved by a dense
   pseudo-inverse. Components without excess are singular; the pseudo-inverse takes off their mean.
   Tests: tests/unit/pressure/test_multigrid.c (A P A = A). */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "pressure/multigrid.h"

/* Lists the unknowns; `number` gives the unknown of a cell, or -1. */
static void list_dense(mn_multigrid *mg, const mn_mg_level *L, int number[MN_MG_DENSE])
{
  mg->dense = 0;
  for (int k = 0; k < L->n[2]; k++)
    for (int j = 0; j < L->n[1]; j++)
      for (int i = 0; i < L->n[0]; i++) {
        const mn_mg_row *row = mn_mg_row_at(L, j, k);
        int *mine = &number[i + L->n[0] * (j + L->n[1] * k)];
        *mine = -1;
        if (mn_mg_kinds(L, j, k)[i] == MN_DEAD || mn_mg_kinds(L, j, k)[i] & MN_MG_HELD)
          continue;
        *mine = mg->dense++;
        mg->dense_cell[*mine].colour = (i + row->parity) & 1;
        mg->dense_cell[*mine].at = row->base[(i + row->parity) & 1] + i / 2;
      }
}

/* The matrix of the coarsest level, row by row, and the excess of each row. */
static void fill_dense(const mn_multigrid *mg, const mn_mg_level *L, const int number[MN_MG_DENSE],
                       double *A, double *excess)
{
  int m = mg->dense, step[3] = {1, L->n[0], L->n[0] * L->n[1]};
  memset(A, 0, (size_t)(m * m) * sizeof *A);
  for (int at = 0; at < L->n[0] * L->n[1] * L->n[2]; at++) {
    int u = number[at], regular = (L->kind[at] & MN_MG_KIND) == MN_REGULAR;
    if (u < 0)
      continue;
    int colour = mg->dense_cell[u].colour;
    const mn_mg_row *row = mn_mg_row_at(L, at / step[1] % L->n[1], at / step[2]);
    int32_t entry = row->irregular[colour];
    while (!regular && L->irregular[colour][entry].at != mg->dense_cell[u].at)
      entry++;
    excess[u] = (double)(regular ? L->excess : L->cell_excess[colour][entry]);
    A[u * m + u] = excess[u];
    for (int side = 0; side < 2 * mg->dim; side++) {
      double c = regular ? 1 : (double)L->irregular[colour][entry].c[side];
      if (!(c > 0))
        continue;
      int v = number[at + (side & 1 ? 1 : -1) * step[side / 2]];
      A[u * m + u] += c;
      if (v >= 0)
        A[u * m + v] -= c;
      else /* held: a link to a fixed value */
        excess[u] += c;
    }
  }
}

/* Inverse of a symmetric positive definite matrix in place (Gauss-Jordan, no pivoting needed). */
static void invert(double *A, int m)
{
  for (int p = 0; p < m; p++) {
    double pivot = 1 / A[p * m + p];
    A[p * m + p] = 1;
    for (int c = 0; c < m; c++)
      A[p * m + c] *= pivot;
    for (int r = 0; r < m; r++) {
      double factor = A[r * m + p];
      if (r == p || factor == 0)
        continue;
      A[r * m + p] = 0;
      for (int c = 0; c < m; c++)
        A[r * m + c] -= factor * A[p * m + c];
    }
  }
}

/* component[u]: least unknown connected with u. */
static void find_components(const double *A, int m, int *component)
{
  for (int u = 0; u < m; u++)
    component[u] = u;
  for (int changed = 1; changed;) {
    changed = 0;
    for (int u = 0; u < m; u++)
      for (int v = 0; v < m; v++)
        if (A[u * m + v] != 0 && component[v] < component[u]) {
          component[u] = component[v];
          changed = 1;
        }
  }
}

/* A component without excess is singular: gamma e e^T is added before and its inverse,
   e e^T / (gamma |e|^4), subtracted after the inversion. */
mn_status mn_multigrid_build_dense(mn_context *ctx, mn_multigrid *mg)
{
  static const double SINGULAR = 1e-6; /* float coefficients are known no better */
  const mn_mg_level *L = &mg->level[mg->levels - 1];
  int number[MN_MG_DENSE], component[MN_MG_DENSE], members[MN_MG_DENSE] = {0};
  double excess[MN_MG_DENSE], anchor[MN_MG_DENSE] = {0}, weight[MN_MG_DENSE] = {0}, *A;
  list_dense(mg, L, number);
  int m = mg->dense;
  MN_TRY(MN_NEW(ctx, "coarsest matrix", (size_t)(m * m), &A));
  fill_dense(mg, L, number, A, excess);
  find_components(A, m, component);
  for (int u = 0; u < m; u++) {
    anchor[component[u]] += excess[u];
    weight[component[u]] += A[u * m + u];
    members[component[u]]++;
  }
  for (int u = 0; u < m; u++) {
    int t = component[u], singular = anchor[t] <= SINGULAR * weight[t] / members[t];
    weight[u] = u == t ? (weight[t] > 0 ? weight[t] : 1) : weight[u];
    for (int v = 0; v < m && singular; v++)
      A[u * m + v] += component[v] == t ? weight[t] / members[t] / members[t] : 0;
    component[u] = singular ? t : -1;
  }
  invert(A, m);
  for (int u = 0; u < m; u++)
    for (int v = 0; v < m; v++) {
      int t = component[u];
      double shift = t >= 0 && component[v] == t ? 1 / weight[t] : 0;
      mg->inverse[u * m + v] = (float)(A[u * m + v] - shift);
    }
  mn_free(A);
  return MN_OK;
}
