/* Adapters to LAPACK through the LAPACKE_*_work functions: they take their workspace from the
   caller, so that a step does not allocate and every failure is the library's own. Verified by
   tests/unit/la/test_dense.c. */
#include "la/dense.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "la/blas.h"

/* A matrix that LAPACK may overwrite. */
static mn_status copy(mn_context *ctx, mn_arena *arena, const char *who, int rows, int cols,
                      const double *a, double **out)
{
  if (rows < 0 || cols < 0)
    return mn_fail(ctx, MN_FAILED, "%s: a matrix cannot be %d x %d", who, rows, cols);
  size_t size = (size_t)rows * (size_t)cols;
  for (size_t i = 0; i < size; i++)
    if (!isfinite(a[i]))
      return mn_fail(ctx, MN_FAILED, "%s: entry (%zu, %zu) of the %d x %d matrix is %g", who,
                     i % (size_t)rows, i / (size_t)rows, rows, cols, a[i]);
  MN_TRY(MN_PUSH(ctx, arena, size, out));
  if (size)
    memcpy(*out, a, size * sizeof *a);
  return MN_OK;
}

/* Turns LAPACK's info into a status where only a wrong argument or no convergence can happen. */
static mn_status check_info(mn_context *ctx, const char *who, lapack_int info)
{
  if (info < 0)
    return mn_fail(ctx, MN_FAILED, "%s: LAPACK refused argument %d", who, (int)-info);
  if (info > 0)
    return mn_fail(ctx, MN_FAILED, "%s: LAPACK did not converge (info %d)", who, (int)info);
  return MN_OK;
}

/* Workspace of the size that LAPACK's query left in `wanted`. */
static mn_status workspace(mn_context *ctx, mn_arena *arena, double wanted, double **work,
                           lapack_int *size)
{
  *size = wanted < 1 ? 1 : (lapack_int)wanted;
  return MN_PUSH(ctx, arena, (size_t)*size, work);
}

static int smaller(int a, int b)
{
  return a < b ? a : b;
}

static int at_least_one(int a)
{
  return a > 1 ? a : 1;
}

static mn_status least_squares(mn_context *ctx, mn_arena *arena, int rows, int cols,
                               const double *a, int count, const double *b, double rcond, double *x,
                               int *rank)
{
  static const char who[] = "least squares";
  int tall = at_least_one(rows > cols ? rows : cols); /* holds b on entry, x on return */
  double *ac, *bc, *bx, *work, wanted;
  lapack_int *pivot, size, r = 0;
  MN_TRY(copy(ctx, arena, who, rows, cols, a, &ac));
  MN_TRY(copy(ctx, arena, who, rows, count, b, &bc));
  MN_TRY(MN_PUSH(ctx, arena, (size_t)tall * (size_t)count, &bx));
  MN_TRY(MN_PUSH(ctx, arena, (size_t)cols, &pivot));
  memset(bx, 0, (size_t)tall * (size_t)count * sizeof *bx);
  memset(pivot, 0, (size_t)cols * sizeof *pivot); /* every column is free to move */
  for (int c = 0; c < count; c++)
    memcpy(bx + (size_t)c * (size_t)tall, bc + (size_t)c * (size_t)rows, (size_t)rows * sizeof *bx);
  int lda = at_least_one(rows);
  MN_TRY(check_info(ctx, who,
                    LAPACKE_dgelsy_work(LAPACK_COL_MAJOR, rows, cols, count, ac, lda, bx, tall,
                                        pivot, rcond, &r, &wanted, -1)));
  MN_TRY(workspace(ctx, arena, wanted, &work, &size));
  MN_TRY(check_info(ctx, who,
                    LAPACKE_dgelsy_work(LAPACK_COL_MAJOR, rows, cols, count, ac, lda, bx, tall,
                                        pivot, rcond, &r, work, size)));
  for (int c = 0; c < count; c++)
    memcpy(x + (size_t)c * (size_t)cols, bx + (size_t)c * (size_t)tall, (size_t)cols * sizeof *x);
  *rank = (int)r;
  return MN_OK;
}

mn_status mn_dense_least_squares(mn_context *ctx, mn_arena *arena, int rows, int cols,
                                 const double *a, int count, const double *b, double rcond,
                                 double *x, int *rank)
{
  mn_blas_one_thread();
  mn_arena_mark mark = mn_arena_save(arena);
  mn_status status = least_squares(ctx, arena, rows, cols, a, count, b, rcond, x, rank);
  mn_arena_reset(arena, mark);
  return status;
}

static mn_status qr(mn_context *ctx, mn_arena *arena, int rows, int cols, const double *a,
                    double *q, double *r)
{
  static const char who[] = "QR";
  int k = smaller(rows, cols), lda = at_least_one(rows);
  double *ac, *tau, *work, wanted, wanted_q = 0;
  lapack_int size;
  MN_TRY(copy(ctx, arena, who, rows, cols, a, &ac));
  MN_TRY(MN_PUSH(ctx, arena, (size_t)k, &tau));
  MN_TRY(check_info(ctx, who,
                    LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, rows, cols, ac, lda, tau, &wanted, -1)));
  if (q)
    MN_TRY(check_info(
        ctx, who, LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, rows, k, k, ac, lda, tau, &wanted_q, -1)));
  MN_TRY(workspace(ctx, arena, fmax(wanted, wanted_q), &work, &size));
  MN_TRY(check_info(ctx, who,
                    LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, rows, cols, ac, lda, tau, work, size)));
  for (int j = 0; j < cols; j++)
    for (int i = 0; i < k; i++)
      r[i + (size_t)j * (size_t)k] = i <= j ? ac[i + (size_t)j * (size_t)rows] : 0;
  if (!q)
    return MN_OK;
  MN_TRY(check_info(ctx, who,
                    LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, rows, k, k, ac, lda, tau, work, size)));
  memcpy(q, ac, (size_t)rows * (size_t)k * sizeof *q);
  return MN_OK;
}

mn_status mn_dense_qr(mn_context *ctx, mn_arena *arena, int rows, int cols, const double *a,
                      double *q, double *r)
{
  mn_blas_one_thread();
  mn_arena_mark mark = mn_arena_save(arena);
  mn_status status = qr(ctx, arena, rows, cols, a, q, r);
  mn_arena_reset(arena, mark);
  return status;
}

static mn_status eigen(mn_context *ctx, mn_arena *arena, int n, const double *a, double *w,
                       double *v)
{
  static const char who[] = "symmetric eigenvalues";
  int lda = at_least_one(n);
  double *ac, *work, wanted;
  lapack_int *iwork, size, isize;
  char job = v ? 'V' : 'N';
  MN_TRY(copy(ctx, arena, who, n, n, a, &ac));
  MN_TRY(check_info(
      ctx, who,
      LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, job, 'L', n, ac, lda, w, &wanted, -1, &isize, -1)));
  MN_TRY(workspace(ctx, arena, wanted, &work, &size));
  MN_TRY(MN_PUSH(ctx, arena, (size_t)isize, &iwork));
  MN_TRY(check_info(
      ctx, who,
      LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, job, 'L', n, ac, lda, w, work, size, iwork, isize)));
  if (v)
    memcpy(v, ac, (size_t)n * (size_t)n * sizeof *v);
  return MN_OK;
}

mn_status mn_dense_eigen(mn_context *ctx, mn_arena *arena, int n, const double *a, double *w,
                         double *v)
{
  mn_blas_one_thread();
  mn_arena_mark mark = mn_arena_save(arena);
  mn_status status = eigen(ctx, arena, n, a, w, v);
  mn_arena_reset(arena, mark);
  return status;
}

static mn_status svd(mn_context *ctx, mn_arena *arena, int rows, int cols, const double *a,
                     double *u, double *s, double *vt)
{
  static const char who[] = "SVD";
  int k = smaller(rows, cols), lda = at_least_one(rows), ldvt = at_least_one(k);
  double *ac, *work, wanted;
  lapack_int *iwork, size;
  char job = u && vt ? 'S' : 'N';
  MN_TRY(copy(ctx, arena, who, rows, cols, a, &ac));
  MN_TRY(MN_PUSH(ctx, arena, 8 * (size_t)k, &iwork));
  MN_TRY(check_info(ctx, who,
                    LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, job, rows, cols, ac, lda, s, u, lda, vt,
                                        ldvt, &wanted, -1, iwork)));
  MN_TRY(workspace(ctx, arena, wanted, &work, &size));
  return check_info(ctx, who,
                    LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, job, rows, cols, ac, lda, s, u, lda, vt,
                                        ldvt, work, size, iwork));
}

mn_status mn_dense_svd(mn_context *ctx, mn_arena *arena, int rows, int cols, const double *a,
                       double *u, double *s, double *vt)
{
  mn_blas_one_thread();
  mn_arena_mark mark = mn_arena_save(arena);
  mn_status status = svd(ctx, arena, rows, cols, a, u, s, vt);
  mn_arena_reset(arena, mark);
  return status;
}

static mn_status solve(mn_context *ctx, mn_arena *arena, int n, const double *a, int count,
                       const double *b, double *x, int spd)
{
  const char *who = spd ? "dense Cholesky solve" : "dense LU solve";
  int ld = at_least_one(n);
  double *ac, *bx;
  lapack_int *pivot, info;
  MN_TRY(copy(ctx, arena, who, n, n, a, &ac));
  MN_TRY(copy(ctx, arena, who, n, count, b, &bx));
  MN_TRY(MN_PUSH(ctx, arena, (size_t)n, &pivot));
  info = spd ? LAPACKE_dposv_work(LAPACK_COL_MAJOR, 'L', n, count, ac, ld, bx, ld)
             : LAPACKE_dgesv_work(LAPACK_COL_MAJOR, n, count, ac, ld, pivot, bx, ld);
  if (info > 0 && spd)
    return mn_fail(ctx, MN_FAILED,
                   "the %d x %d matrix is not positive definite: its leading minor of order %d "
                   "is not",
                   n, n, (int)info);
  if (info > 0)
    return mn_fail(ctx, MN_FAILED, "the %d x %d matrix is singular: pivot %d is 0", n, n,
                   (int)info - 1);
  MN_TRY(check_info(ctx, who, info));
  memcpy(x, bx, (size_t)n * (size_t)count * sizeof *x);
  return MN_OK;
}

mn_status mn_dense_solve(mn_context *ctx, mn_arena *arena, int n, const double *a, int count,
                         const double *b, double *x)
{
  mn_blas_one_thread();
  mn_arena_mark mark = mn_arena_save(arena);
  mn_status status = solve(ctx, arena, n, a, count, b, x, 0);
  mn_arena_reset(arena, mark);
  return status;
}

mn_status mn_dense_solve_spd(mn_context *ctx, mn_arena *arena, int n, const double *a, int count,
                             const double *b, double *x)
{
  mn_blas_one_thread();
  mn_arena_mark mark = mn_arena_save(arena);
  mn_status status = solve(ctx, arena, n, a, count, b, x, 1);
  mn_arena_reset(arena, mark);
  return status;
}
