/* R of a QR factorisation from inner products (Cholesky, column by column, so that columns can be
   left out as they come), and pivoted Householder QR. The former needs no pass over the long
   columns, but sees remainders only down to the root of rounding; it is for those who filter
   coarser than that. Verified by tests/unit/la/test_columns.c. */
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

/* The square of a remainder below this fraction of its column is made of rounding errors. */
static const double ROUNDING = 1e-6;

void mn_columns_inner(size_t n, int k, int m, const double *a, const double *b, double *c)
{
  assert(n >= 1 && n <= INT_MAX);
  mn_blas_one_thread();
  if (k && m == 1) /* several times faster than a product that packs its operands */
    cblas_dgemv(CblasColMajor, CblasTrans, (int)n, k, 1, a, (int)n, b, 1, 0, c, 1);
  else if (k && m)
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, k, m, (int)n, 1, a, (int)n, b, (int)n, 0,
                c, k);
}

enum { LANES = 8 }; /* sums side by side, as in norms.c */

static double sum_of(const double *part)
{
  double sum = 0;
  for (int l = 0; l < LANES; l++)
    sum += part[l];
  return sum;
}

/* The sums of four columns with b, then those with e. */
static void inner_four(size_t n, const double *a, const double *b, const double *e,
                       double part[8][LANES])
{
  const double *restrict a0 = a, *restrict a1 = a0 + n, *restrict a2 = a1 + n,
                         *restrict a3 = a2 + n;
  size_t whole = n - n % LANES;
  memset(part, 0, 8 * sizeof *part);
  for (size_t i = 0; i < whole; i += LANES)
    for (size_t l = 0; l < LANES; l++) {
      double x = b[i + l], y = e[i + l];
      part[0][l] += a0[i + l] * x;
      part[1][l] += a1[i + l] * x;
      part[2][l] += a2[i + l] * x;
      part[3][l] += a3[i + l] * x;
      part[4][l] += a0[i + l] * y;
      part[5][l] += a1[i + l] * y;
      part[6][l] += a2[i + l] * y;
      part[7][l] += a3[i + l] * y;
    }
  for (size_t i = whole; i < n; i++)
    for (int j = 0; j < 8; j++)
      part[j][i - whole] += a[(size_t)(j % 4) * n + i] * (j < 4 ? b[i] : e[i]);
}

void mn_columns_inner_two(size_t n, int k, const double *a, const double *b, const double *e,
                          double *c, double *d)
{
  int j = 0;
  for (; j + 4 <= k; j += 4) {
    double part[8][LANES];
    inner_four(n, a + (size_t)j * n, b, e, part);
    for (int l = 0; l < 4; l++) {
      c[j + l] = sum_of(part[l]);
      d[j + l] = sum_of(part[4 + l]);
    }
  }
  mn_columns_inner(n, k - j, 1, a + (size_t)j * n, b, c + j);
  mn_columns_inner(n, k - j, 1, a + (size_t)j * n, e, d + j);
}

void mn_columns_combine(size_t n, int k, double s, const double *a, const double *x, double *y)
{
  assert(n >= 1 && n <= INT_MAX);
  mn_blas_one_thread();
  if (k)
    cblas_dgemv(CblasColMajor, CblasNoTrans, (int)n, k, s, a, (int)n, x, 1, 1, y, 1);
}

void mn_columns_add(size_t n, int k, const double *const *a, const double *x, double *y)
{
  int j = 0;
  for (; j + 4 <= k; j += 4) { /* so that y is read and written a quarter as often */
    const double *a0 = a[j], *a1 = a[j + 1], *a2 = a[j + 2], *a3 = a[j + 3];
    double x0 = x[j], x1 = x[j + 1], x2 = x[j + 2], x3 = x[j + 3];
    for (size_t i = 0; i < n; i++)
      y[i] += (x0 * a0[i] + x1 * a1[i]) + (x2 * a2[i] + x3 * a3[i]);
  }
  for (; j < k; j++)
    for (size_t i = 0; i < n; i++)
      y[i] += x[j] * a[j][i];
}

void mn_columns_divide(size_t rows, int m, const double *r, double *b)
{
  assert(rows >= 1 && rows <= INT_MAX);
  mn_blas_one_thread();
  if (m)
    cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, (int)rows, m, 1,
                r, m, b, (int)rows);
}

void mn_columns_divide_left(int m, int count, const double *r, double *b)
{
  mn_blas_one_thread();
  if (m && count)
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, m, count, 1, r, m,
                b, m);
}

void mn_columns_solve(int m, const double *r, double *x)
{
  mn_blas_one_thread();
  if (m)
    cblas_dtrsv(CblasColMajor, CblasUpper, CblasNoTrans, CblasNonUnit, m, r, m, x, 1);
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

int mn_columns_in_order(int k, const double *g, const double *least, double *r, int *kept)
{
  int m = 0;
  for (int j = 0; j < k; j++) {
    double *h =
        r + (size_t)m * (size_t)k; /* its column of R: R^T h = what it shares with the others */
    double square = g[j + j * k], rest = square, limit = fmax(least[j], ROUNDING);
    if (!(square > 0) || !isfinite(square))
      continue;
    for (int i = 0; i < m; i++) {
      double sum = g[kept[i] + j * k];
      for (int l = 0; l < i; l++)
        sum -= r[l + i * k] * h[l];
      h[i] = sum / r[i + i * k];
      rest -= h[i] * h[i];
    }
    if (!(rest > limit * limit * square))
      continue;
    h[m] = sqrt(rest);
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
