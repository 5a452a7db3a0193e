/* Orthonormal bases of a few long columns, leaving out those that are nearly a combination of
   others. Matrices are stored by columns without gaps, n x k with n >= 1; n must fit an int. */
#ifndef MN_LA_COLUMNS_H
#define MN_LA_COLUMNS_H

#include "base/memory.h"

/* R of A = Q R on the columns that are kept, in their order, from the inner products g = A^T A (k x
   k) alone. Column j stays if its part orthogonal to those kept before it is more than least[j]
   times its length, and than 1e-6 of it: below that the square of a remainder is rounding. On
   return r is m x m, upper triangular, kept[0 .. m) names the columns in ascending order, and m is
   returned. r has room for k x k. */
int mn_columns_in_order(int k, const double *g, const double *least, double *r, int *kept);

/* A = Q R in the order of column pivoting: the longest orthogonal part first, down to `cut` times
   the longest (and rounding). On return the first m columns of a are Q. */
MN_MUST_CHECK mn_status mn_columns_pivoted(mn_context *ctx, mn_arena *arena, size_t n, int k,
                                           double *a, double cut, double *r, int *kept, int *m);

/* Moves column kept[j] of B (rows x k) to place j, for all j < m; the others end up anywhere. */
void mn_columns_reorder(size_t rows, int m, const int *kept, double *b);
/* B <- B R^-1 for B rows x m. */
void mn_columns_divide(size_t rows, int m, const double *r, double *b);
/* B <- R^-T B for B m x count, and x <- R^-1 x for m numbers. */
void mn_columns_divide_left(int m, int count, const double *r, double *b);
void mn_columns_solve(int m, const double *r, double *x);
/* C <- A^T B for A n x k, B n x m. */
void mn_columns_inner(size_t n, int k, int m, const double *a, const double *b, double *c);
/* c <- A^T b and d <- A^T e in one pass over A, n x k. */
void mn_columns_inner_two(size_t n, int k, const double *a, const double *b, const double *e,
                          double *c, double *d);
/* y <- y + sum of x[j] times the vector a[j], of n numbers each, which may stand anywhere. */
void mn_columns_add(size_t n, int k, const double *const *a, const double *x, double *y);
/* y <- y + s A x for A n x k. */
void mn_columns_combine(size_t n, int k, double s, const double *a, const double *x, double *y);

#endif
