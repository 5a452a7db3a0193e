/* Sparse matrices by compressed rows: the entries of row i are [start[i], start[i + 1]), with their
   columns ascending and each at most once. A symmetric matrix read by columns is the same arrays,
   which is how SuiteSparse takes them without a copy: hence 64-bit indices. */
#ifndef MN_LA_CSR_H
#define MN_LA_CSR_H

#include "base/exec.h"
#include "meniscus/base.h"

typedef struct mn_csr {
  int64_t rows, cols;
  int64_t *start; /* [rows + 1] */
  int64_t *col;
  double *value;
} mn_csr;

typedef struct mn_triplet {
  int64_t row, col;
  double value;
} mn_triplet;

/* Entries with the same place are summed in the order they are given: the same list makes the same
   bits. An entry that is or sums to 0 stays in the pattern. */
MN_MUST_CHECK mn_status mn_csr_from_triplets(mn_context *ctx, int64_t rows, int64_t cols,
                                             const mn_triplet *triplets, size_t count, mn_csr *out);
MN_MUST_CHECK mn_status mn_csr_transpose(mn_context *ctx, const mn_csr *a, mn_csr *out);
void mn_csr_destroy(mn_csr *a);

static inline int64_t mn_csr_entries(const mn_csr *a)
{
  return a->start[a->rows];
}

/* Where entry (row, col) is, or -1 if it is not in the pattern. */
int64_t mn_csr_find(const mn_csr *a, int64_t row, int64_t col);

/* y <- A x; x and y must not overlap. */
void mn_csr_multiply(const mn_exec *exec, const mn_csr *a, const double *x, double *y);
/* r <- b - A x; r may be b. */
void mn_csr_residual(const mn_exec *exec, const mn_csr *a, const double *b, const double *x,
                     double *r);

#endif
