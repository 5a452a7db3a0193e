/* Sparse Cholesky factorisation of symmetric positive definite matrices: analysed once, factorised
   whenever the values change, solved for any number of right-hand sides.

   The back end is CHOLMOD (supernodal; GPL parts, see docs/licences.md) or, when built with
   MENISCUS_GPL=OFF, LDL with AMD. A matrix holds both triangles and is symmetric; which of them a
   back end reads is its own affair. Both order by AMD, so that an ordering depends on the pattern
   alone: METIS, which CHOLMOD would also try, draws from the process's random numbers. */
#ifndef MN_LA_SPARSE_H
#define MN_LA_SPARSE_H

#include "la/csr.h"

typedef struct mn_sparse_factor mn_sparse_factor;

/* What a factorisation says about itself; the caller decides. */
typedef struct mn_factor_report {
  int positive_definite; /* 0: there is no factor, solving fails */
  int64_t column;        /* the column of A with the first pivot <= 0; -1 if there is none */
  int64_t entries;       /* of the factor */
  int analysed;          /* 1: the pattern was new */
} mn_factor_report;

MN_MUST_CHECK mn_status mn_sparse_create(mn_context *ctx, mn_sparse_factor **factor);
void mn_sparse_destroy(mn_sparse_factor **factor);

/* Orders and finds the factor's pattern. Returns at once if the pattern of A is that of the last
   analysis. */
MN_MUST_CHECK mn_status mn_sparse_analyse(mn_sparse_factor *factor, const mn_csr *a);

/* Analyses if the pattern is new, then computes the factor. MN_OK also when A is not positive
   definite: see the report. */
MN_MUST_CHECK mn_status mn_sparse_factorise(mn_sparse_factor *factor, const mn_csr *a,
                                            mn_factor_report *report);

/* A x = b for `count` right-hand sides, stored one after the other. x may be b. MN_FAILED if there
   is no factor, with the column that is not positive definite. */
MN_MUST_CHECK mn_status mn_sparse_solve(mn_sparse_factor *factor, int count, const double *b,
                                        double *x);

const char *mn_sparse_backend(void); /* "cholmod" or "ldl" */

#endif
