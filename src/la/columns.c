/* Gram-Schmidt and Householder QR over a few long columns. Classical Gram-Schmidt is done twice,
   which makes Q orthonormal to rounding however near-dependent the columns that are kept [Giraud
   2005]. Verified by tests/unit/la/test_columns.c. */
#include "la/columns.h"

#include <assert.h>
#include <cblas.h>
#include <float.h>
#include <lapacke.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "la/blas.h"

/* A remainder below this fraction of its column is made of rounding errors. */
static const double ROUNDING = 1e-13;
/* Gram-Schmidt that leaves more than this of a column is orthogonal enough. */
static const double MUCH = 0.7;

void mn_columns_inner(size_t n, int k, int m, const double *a, const double *b, double *c)
{
  assert(n >= 1 && n <= INT_MAX);
  mn_blas_one_thread();
  if (k && m)
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, k, m, (int)n, 1, a, (int)n, b, (int)n, 0,
                c, k);
}

void mn_columns_combine(size_t n, int k, double s, const double *a, const double *x, double *y)
{
  assert(n >= 1 && n <= INT_MAX);
  mn_blas_one_thread();
  if (k)
    cblas_dgemv(CblasColMajor, CblasNoTrans, (int)n, k, s, a, (int)n, x, 1, 1, y, 1);
}

void mn_columns_divide(size_t rows, int m, const double *r, double *b)
{
  assert(rows >= 1 && rows <= INT_MAX);
  mn_blas_one_thread();
  if (m)
    cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, (int)rows, m, 1,
                r, m, b, (int)rows);
}

void mn_columns_reorder(size_t rows, int m, const int *kept, double *b)
{
  for (int j = 0; j < m; j++) {
    int from = kept[j];
    while (from < j) /* it was swapped away when place `from` was filled */
      from = kept[from];
    if (from != j)
      cblas_dswap((int)rows, b + (size_t)from * rows, 1, b + (size_t)j * rows, 1);
  }
}

/* r, filled with leading dimension k, to leading dimension m, its lower part zero. */
static void pack(int k, int m, double *r)
{
  for (int j = 0; j < m; j++)
    for (int i = 0; i < m; i++)
      r[i + j * m] = i <= j ? r[i + j * k] : 0;
}

int mn_columns_in_order(size_t n, int k, double *a, const double *least, double *r, int *kept,
                        double *work)
{
  double *h = work, *again = work + k;
  int m = 0;
  mn_blas_one_thread();
  for (int j = 0; j < k && (size_t)m < n; j++) {
    double *v = a + (size_t)m * n; /* the column moves to where its q will stand */
    if (m != j)
      memcpy(v, a + (size_t)j * n, n * sizeof(double));
    double length = cblas_dnrm2((int)n, v, 1);
    if (!(length > 0) || !isfinite(length))
      continue;
    /* v <- v - Q Q^T v; once more if much of v went, for what stays is then full of rounding */
    double limit = fmax(least[j], ROUNDING) * length;
    memset(again, 0, (size_t)m * sizeof *again);
    mn_columns_inner(n, m, 1, a, v, h);
    mn_columns_combine(n, m, -1, a, h, v);
    double rest = cblas_dnrm2((int)n, v, 1);
    if (rest > limit && rest < MUCH * length) {
      mn_columns_inner(n, m, 1, a, v, again);
      mn_columns_combine(n, m, -1, a, again, v);
      rest = cblas_dnrm2((int)n, v, 1);
    }
    if (!(rest > limit))
      continue;
    for (int i = 0; i < m; i++)
      r[i + m * k] = h[i] + again[i];
    r[m + m * k] = rest;
    for (size_t i = 0; i < n; i++)
      v[i] /= rest;
    kept[m++] = j;
  }
  pack(k, m, r);
  return m;
}

mn_status mn_columns_pivoted(mn_context *ctx, mn_arena *arena, size_t n, int k, double *a,
                             double cut, double *r, int *kept, int *m)
{
  assert(n >= 1 && n <= INT_MAX);
  *m = 0;
  if (!k)
    return MN_OK;
  mn_blas_one_thread();
  lapack_int rows = (lapack_int)n, most = rows < k ? rows : k, *pivot, info;
  double *tau, *work, wanted[2];
  mn_arena_mark mark = mn_arena_save(arena);
  MN_TRY(MN_PUSH(ctx, arena, (size_t)k, &pivot));
  MN_TRY(MN_PUSH(ctx, arena, (size_t)k, &tau));
  LAPACKE_dgeqp3_work(LAPACK_COL_MAJOR, rows, k, a, rows, pivot, tau, &wanted[0], -1);
  LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, rows, most, most, a, rows, tau, &wanted[1], -1);
  lapack_int size = (lapack_int)fmax(1, fmax(wanted[0], wanted[1]));
  MN_TRY(MN_PUSH(ctx, arena, (size_t)size, &work));
  memset(pivot, 0, (size_t)k * sizeof *pivot); /* every column is free to move */
  info = LAPACKE_dgeqp3_work(LAPACK_COL_MAJOR, rows, k, a, rows, pivot, tau, work, size);
  if (info != 0)
    return mn_fail(ctx, MN_FAILED, "pivoted QR: LAPACK refused argument %d", (int)-info);
  double least = fmax(cut, most * DBL_EPSILON) * fabs(a[0]);
  int rank = 0;
  while (rank < most && fabs(a[(size_t)rank * n + (size_t)rank]) > least)
    rank++;
  for (int j = 0; j < rank; j++) {
    kept[j] = pivot[j] - 1;
    for (int i = 0; i <= j; i++)
      r[i + j * k] = a[(size_t)j * n + (size_t)i];
  }
  pack(k, rank, r);
  info =
      rank ? LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, rows, rank, rank, a, rows, tau, work, size) : 0;
  mn_arena_reset(arena, mark);
  if (info != 0)
    return mn_fail(ctx, MN_FAILED, "pivoted QR: LAPACK refused argument %d", (int)-info);
  *m = rank;
  return MN_OK;
}
