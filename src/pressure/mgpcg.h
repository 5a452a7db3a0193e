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
/* The finest level alone: mn_multigrid_coarsen must follow. */
MN_MUST_CHECK mn_status mn_mgpcg_setup_finest(mn_context *ctx, mn_mgpcg *v, const mn_system *system,
                                              const mn_regions *regions);
void mn_mgpcg_free(mn_mgpcg *v);
size_t mn_mgpcg_bytes(const mn_mgpcg *v);
/* b is made to sum to 0 over closed regions; x stays as it is outside the unknowns. */
void mn_mgpcg_solve(mn_mgpcg *v, const mn_system *system, mn_regions *regions, const mn_field *b,
                    double tolerance, int max_iterations, mn_field *x, mn_solve_report *report);

/* A solve in pieces, between which cells may be held and let go. */
typedef struct mn_mgpcg_run {
  mn_mgpcg *v;
  const mn_system *s;
  mn_regions *g;
  const mn_field *b;
  mn_field *x;
  double norm;    /* of the true residual over all cells that are not held, divided by the scale */
  int iterations; /* so far */
  int broken;     /* the last piece met a direction without curvature */
  double dq;      /* (d, q) of the last direction; 0: none */
  double factor;
} mn_mgpcg_run;

/* Forms the true residual. */
void mn_mgpcg_start(mn_mgpcg_run *run);
/* Holds the n-th cell with a condition at 0, or lets it go; the residual follows, in single
   precision. After the last such call: mn_mgpcg_restart. */
void mn_mgpcg_hold(mn_mgpcg_run *run, int n, int held);
void mn_mgpcg_restart(mn_mgpcg_run *run);
/* Iterates until the norm is <= goal or has fallen by `fall`, or so it seems in single precision;
   then forms the true residual. */
void mn_mgpcg_advance(mn_mgpcg_run *run, double goal, double fall, int max_iterations);

#endif
