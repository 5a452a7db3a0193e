/* Dense linear algebra by LAPACK. Matrices are stored by columns without gaps: entry (i, j) of a
   rows x cols matrix is a[i + j rows]. Inputs are not changed; scratch comes from the arena and is
   given back. A number that is not finite, or a size below 0, is MN_FAILED. */
#ifndef MN_LA_DENSE_H
#define MN_LA_DENSE_H

#include "base/memory.h"
#include "meniscus/base.h"

/* Minimises ||A x - b|| for `count` right-hand sides by QR with column pivoting. Directions in
   which A is smaller than rcond times its norm count as zero; `rank` says how many remain, and
   among the minimisers x is the shortest. x: cols x count, b: rows x count. */
MN_MUST_CHECK mn_status mn_dense_least_squares(mn_context *ctx, mn_arena *arena, int rows, int cols,
                                               const double *a, int count, const double *b,
                                               double rcond, double *x, int *rank);

/* A = Q R with k = min(rows, cols): q rows x k with orthonormal columns, r k x cols, upper
   triangular. q may be NULL. */
MN_MUST_CHECK mn_status mn_dense_qr(mn_context *ctx, mn_arena *arena, int rows, int cols,
                                    const double *a, double *q, double *r);

/* A = V diag(w) V^T of a symmetric n x n matrix, w ascending; only the lower triangle is read. v
   may be NULL. */
MN_MUST_CHECK mn_status mn_dense_eigen(mn_context *ctx, mn_arena *arena, int n, const double *a,
                                       double *w, double *v);

/* A = U diag(s) V^T with k = min(rows, cols): u rows x k, s descending, vt k x cols. u and vt may
   both be NULL. */
MN_MUST_CHECK mn_status mn_dense_svd(mn_context *ctx, mn_arena *arena, int rows, int cols,
                                     const double *a, double *u, double *s, double *vt);

/* A x = b by LU with row pivoting. A pivot of exactly 0 is MN_FAILED and named. x may be b. */
MN_MUST_CHECK mn_status mn_dense_solve(mn_context *ctx, mn_arena *arena, int n, const double *a,
                                       int count, const double *b, double *x);

/* A x = b by Cholesky, reading the lower triangle. MN_FAILED names the leading minor that is not
   positive definite. x may be b. */
MN_MUST_CHECK mn_status mn_dense_solve_spd(mn_context *ctx, mn_arena *arena, int n, const double *a,
                                           int count, const double *b, double *x);

#endif
