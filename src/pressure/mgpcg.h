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

/* What is added to the system in a few cells, in the same scaling. */
typedef struct mn_mgpcg_extra {
  int count;
  const struct mn_mg_place {
    int32_t colour, at;
  } * place;
  float *value; /* [count] */
  /* value <- its part of A z at the places; returns (z, value), NaN to end */
  double (*product)(void *user, float *const z[2]);
  /* NULL, or told after each product: d <- z + beta d, e += alpha d */
  void (*follow)(void *user, float beta, float alpha);
  void *user;
} mn_mgpcg_extra;

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
  const mn_mgpcg_extra *extra; /* NULL: none */
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
/* Its part in single precision, for who keeps the true residual otherwise: the residual is in f of
   the finest level, of norm 1, and is to fall to `target`; the correction is e. Returns whether
   there is one. Reads v, s->exec, extra, and goes on with the direction of the run, if there is
   one. */
int mn_mgpcg_iterate(mn_mgpcg_run *run, double target, int max_iterations);

#endif
