/* Long vectors: the few operations of Krylov methods, with the same bits for any thread count. */
#ifndef MN_LA_VECTOR_H
#define MN_LA_VECTOR_H

#include "base/exec.h"

/* A sum is formed per block of this many entries, then over the blocks in their order. Fixed, so
   that the number of threads cannot change it; long enough to hide the cost of a partial sum. */
enum { MN_VECTOR_BLOCK = 4096 };

/* How many partial sums a vector of n entries needs. */
static inline size_t mn_vector_blocks(size_t n)
{
  return (n + MN_VECTOR_BLOCK - 1) / MN_VECTOR_BLOCK;
}

/* x . y; `partial` has room for mn_vector_blocks(n) sums. */
double mn_vector_dot(const mn_exec *exec, size_t n, const double *x, const double *y,
                     double *partial);
/* max |x_i|; NaN if an entry is NaN, so that a failed solve cannot pass for a small one. */
double mn_vector_max(const mn_exec *exec, size_t n, const double *x, double *partial);
/* y <- x */
void mn_vector_copy(const mn_exec *exec, size_t n, const double *x, double *y);
/* y <- y + a x */
void mn_vector_add(const mn_exec *exec, size_t n, double a, const double *x, double *y);
/* y <- x + a y */
void mn_vector_scale_add(const mn_exec *exec, size_t n, const double *x, double a, double *y);

#endif
