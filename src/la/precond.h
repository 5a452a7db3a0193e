/* Preconditioners for PCG, all from the upper triangle of a symmetric matrix. */
#ifndef MN_LA_PRECOND_H
#define MN_LA_PRECOND_H

#include "la/csr.h"

typedef enum mn_precond_kind {
  MN_PRECOND_JACOBI, /* M = diag(A) */
  MN_PRECOND_IC,     /* M = L L^T with the pattern of A: IC(0) */
  MN_PRECOND_MIC     /* the same, fill moved to the diagonal: MIC(0) */
} mn_precond_kind;

typedef struct mn_precond {
  mn_precond_kind kind;
  int64_t n;
  double *inverse; /* [n] 1 / A_ii (Jacobi) or 1 / L_ii */
  mn_csr upper;    /* strict upper triangle of L^T by rows: columns of L */
  double *pivot;   /* [n] of the factorisation under way */
  size_t n_capacity, entry_capacity;
} mn_precond;

/* Takes the values of A; memory grows only when A is larger than any before. MN_FAILED if a
   diagonal entry is not positive: A cannot be positive definite, the message names the row. */
MN_MUST_CHECK mn_status mn_precond_setup(mn_context *ctx, mn_precond_kind kind, const mn_csr *a,
                                         mn_precond *m);
/* z <- M^-1 r; z must not be r. */
void mn_precond_apply(const mn_exec *exec, const mn_precond *m, const double *r, double *z);
void mn_precond_destroy(mn_precond *m);

#endif
