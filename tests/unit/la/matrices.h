/* Matrices with known properties for the tests of src/la. */
#ifndef MN_TESTS_MATRICES_H
#define MN_TESTS_MATRICES_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "la/csr.h"

/* -Laplace on an n^dim grid, Dirichlet outside, diagonal 2 dim. Its eigenvalues are
   sum over the axes of 4 sin^2(pi k_a / (2 (n + 1))), k_a = 1..n. */
static inline mn_status poisson(mn_context *ctx, int dim, int n, mn_csr *a)
{
  int64_t cells = dim == 3 ? (int64_t)n * n * n : (int64_t)n * n;
  mn_triplet *t = malloc((size_t)cells * 7 * sizeof *t);
  assert_non_null(t);
  size_t count = 0;
  int64_t stride[3] = {1, n, (int64_t)n * n};
  for (int64_t c = 0; c < cells; c++) {
    t[count++] = (mn_triplet){c, c, 2.0 * dim};
    for (int axis = 0; axis < dim; axis++) {
      int64_t i = c / stride[axis] % n;
      if (i > 0)
        t[count++] = (mn_triplet){c, c - stride[axis], -1};
      if (i < n - 1)
        t[count++] = (mn_triplet){c, c + stride[axis], -1};
    }
  }
  mn_status status = mn_csr_from_triplets(ctx, cells, cells, t, count, a);
  free(t);
  return status;
}

/* G + G^T plus a dominant diagonal, G with `per_row` random entries a row: positive definite. */
static inline mn_status random_spd(mn_context *ctx, int n, int per_row, uint64_t seed, mn_csr *a)
{
  size_t count = 0, most = (size_t)n * (2 * (size_t)per_row + 1);
  mn_triplet *t = malloc(most * sizeof *t);
  double *sum = calloc((size_t)n, sizeof *sum);
  assert_non_null(t);
  assert_non_null(sum);
  for (int i = 0; i < n; i++)
    for (int e = 0; e < per_row; e++) {
      int j = (int)(check_random(&seed) * n);
      double v = 2 * check_random(&seed) - 1;
      t[count++] = (mn_triplet){i, j, v};
      t[count++] = (mn_triplet){j, i, v};
      sum[i] += fabs(v);
      sum[j] += fabs(v);
    }
  for (int i = 0; i < n; i++)
    t[count++] = (mn_triplet){i, i, 0.1 + 2 * sum[i]}; /* strictly dominant */
  mn_status status = mn_csr_from_triplets(ctx, n, n, t, count, a);
  free(t);
  free(sum);
  return status;
}

/* By columns, zero where the pattern has no entry. */
static inline double *to_dense(const mn_csr *a)
{
  double *d = calloc((size_t)(a->rows * a->cols) + 1, sizeof *d);
  assert_non_null(d);
  for (int64_t i = 0; i < a->rows; i++)
    for (int64_t e = a->start[i]; e < a->start[i + 1]; e++)
      d[i + a->col[e] * a->rows] = a->value[e];
  return d;
}

static inline double *random_vector(size_t n, uint64_t seed)
{
  double *x = malloc((n + 1) * sizeof *x);
  assert_non_null(x);
  for (size_t i = 0; i < n; i++)
    x[i] = 2 * check_random(&seed) - 1;
  return x;
}

static inline double max_difference(size_t n, const double *x, const double *y)
{
  double max = 0;
  for (size_t i = 0; i < n; i++)
    max = !(fabs(x[i] - y[i]) <= max) ? fabs(x[i] - y[i]) : max;
  return max;
}

#endif
