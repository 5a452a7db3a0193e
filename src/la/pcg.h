/* Preconditioned conjugate gradients on a symmetric positive (semi-)definite CSR matrix. */
#ifndef MN_LA_PCG_H
#define MN_LA_PCG_H

#include "la/csr.h"
#include "la/precond.h"
#include "meniscus/box.h"

typedef struct mn_pcg mn_pcg;

MN_MUST_CHECK mn_status mn_pcg_create(mn_context *ctx, mn_precond_kind kind, mn_pcg **pcg);
void mn_pcg_destroy(mn_pcg **pcg);

/* To be called when A changed. A is borrowed until the next call. Allocates only when it needs
   more than before. */
MN_MUST_CHECK mn_status mn_pcg_setup(mn_pcg *pcg, const mn_csr *a);

/* Solves to ||b - A x||_inf <= tolerance (in b's unit), from x. MN_OK whatever the reason:
   MN_CONVERGED, MN_ITERATION_LIMIT, MN_STALLED (rounding forbids more), MN_DIVERGED (A is not
   positive definite, or a number is not finite). The report's residual is computed from x. */
MN_MUST_CHECK mn_status mn_pcg_solve(mn_pcg *pcg, const double *b, double tolerance,
                                     int max_iterations, double *x, mn_solve_report *report);

#endif
