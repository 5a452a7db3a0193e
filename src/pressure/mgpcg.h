/* Flexible conjugate gradients in single precision, preconditioned by the multigrid cycle, inside
   an iteration on the true residual in double. */
#ifndef MN_PRESSURE_MGPCG_H
#define MN_PRESSURE_MGPCG_H

#include "meniscus/box.h"
#include "pressure/multigrid.h"

typedef struct mn_mgpcg {
  mn_multigrid mg;
  float *d[2], *q[2], *e[2]; /* direction, A d, correction; by colour */
  int first;                 /* there is no q yet */
  double *partial;           /* per slab */
  double *scratch;           /* a row per slab */
  size_t scratch_row;
  mn_buffer buffer[3];
} mn_mgpcg;

MN_MUST_CHECK mn_status mn_mgpcg_setup(mn_context *ctx, mn_mgpcg *v, const mn_system *system,
                                       const mn_regions *regions);
void mn_mgpcg_free(mn_mgpcg *v);
size_t mn_mgpcg_bytes(const mn_mgpcg *v);
/* b is made to sum to 0 over closed regions; x stays as it is outside the unknowns. */
void mn_mgpcg_solve(mn_mgpcg *v, const mn_system *system, mn_regions *regions, const mn_field *b,
                    double tolerance, int max_iterations, mn_field *x, mn_solve_report *report);

#endif
