#include "la/vector.h"

#include <assert.h>
#include <limits.h>
#include <math.h>

static size_t block_end(size_t n, int64_t block)
{
  size_t end = ((size_t)block + 1) * MN_VECTOR_BLOCK;
  return end < n ? end : n;
}

double mn_vector_dot(const mn_exec *exec, size_t n, const double *x, const double *y,
                     double *partial)
{
  int64_t blocks = (int64_t)mn_vector_blocks(n);
  assert(blocks <= INT_MAX);
#pragma omp parallel for schedule(static) num_threads(exec->threads)
  for (int64_t b = 0; b < blocks; b++) {
    double sum = 0;
    for (size_t i = (size_t)b * MN_VECTOR_BLOCK, end = block_end(n, b); i < end; i++)
      sum += x[i] * y[i];
    partial[b] = sum;
  }
  return mn_reduce(exec, MN_SUM, partial, (int)blocks);
}

double mn_vector_max(const mn_exec *exec, size_t n, const double *x, double *partial)
{
  int64_t blocks = (int64_t)mn_vector_blocks(n);
  assert(blocks <= INT_MAX);
#pragma omp parallel for schedule(static) num_threads(exec->threads)
  for (int64_t b = 0; b < blocks; b++) {
    double max = 0;
    int nan = 0;
    for (size_t i = (size_t)b * MN_VECTOR_BLOCK, end = block_end(n, b); i < end; i++) {
      double a = fabs(x[i]);
      max = a > max ? a : max;
      nan |= isnan(a);
    }
    partial[b] = nan ? NAN : max;
  }
  for (int64_t b = 0; b < blocks; b++) /* comparisons in mn_reduce would lose a NaN */
    if (isnan(partial[b]))
      return NAN;
  return mn_reduce(exec, MN_MAX, partial, (int)blocks);
}

void mn_vector_copy(const mn_exec *exec, size_t n, const double *x, double *y)
{
#pragma omp parallel for schedule(static) num_threads(exec->threads)
  for (int64_t i = 0; i < (int64_t)n; i++)
    y[i] = x[i];
}

void mn_vector_add(const mn_exec *exec, size_t n, double a, const double *x, double *y)
{
#pragma omp parallel for schedule(static) num_threads(exec->threads)
  for (int64_t i = 0; i < (int64_t)n; i++)
    y[i] += a * x[i];
}

void mn_vector_scale_add(const mn_exec *exec, size_t n, const double *x, double a, double *y)
{
#pragma omp parallel for schedule(static) num_threads(exec->threads)
  for (int64_t i = 0; i < (int64_t)n; i++)
    y[i] = x[i] + a * y[i];
}
