/* Sparse LU factorisation of general square matrices, for systems that are not positive definite.

   By UMFPACK (GPL, see docs/licences.md); built with MENISCUS_GPL=OFF there is none, and
   mn_lu_available says so. Analysed anew only when the pattern changes. Ordered by AMD or COLAMD,
   and on one thread: the same matrix gives the same bits. Verified by tests/unit/la/test_lu.c. */
#ifndef MN_LA_SPARSE_LU_H
#define MN_LA_SPARSE_LU_H

#include "la/csr.h"

typedef struct mn_lu mn_lu;

int mn_lu_available(void);

/* MN_FAILED without UMFPACK. */
MN_MUST_CHECK mn_status mn_lu_create(mn_context *ctx, mn_lu **lu);
void mn_lu_destroy(mn_lu **lu);

/* *singular: 1 where a pivot is 0 or the reciprocal condition number is below rounding: no solve
   then. A is borrowed until the last solve, which refines its answer with it. */
MN_MUST_CHECK mn_status mn_lu_factorise(mn_lu *lu, const mn_csr *a, int *singular);
/* A x = b; x must not be b. */
MN_MUST_CHECK mn_status mn_lu_solve(mn_lu *lu, const double *b, double *x);

#endif
