/* Stand-alone pressure problems with known set-ups, for measuring the solvers. */
#ifndef MENISCUS_PRESSURE_H
#define MENISCUS_PRESSURE_H

#include "meniscus/box.h"
#include "meniscus/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mn_problem {
  MN_PROBLEM_HALF_SPHERE_G, /* half-filled sphere, gravity */
  MN_PROBLEM_HALF_SPHERE_S, /* the same with a swirling velocity added */
  MN_PROBLEM_MMS_DISK       /* exact solution in a disk with Neumann walls */
} mn_problem;

typedef struct mn_pressure_result {
  int n, threads, iterations;
  size_t unknowns;
  double setup_s, solve_s;
  double residual; /* true infinity-norm residual in double precision */
  double wu_s;     /* one 7-point residual sweep over as many cells, same threads */
  double peak_mb;  /* of the solver's own memory */
  mn_reason reason;
  double p_l1, p_linf, grad_l1, grad_linf; /* errors; mms-disk only */
} mn_pressure_result;

/* Solves from p = 0 to ||A p - b||_inf <= tolerance; best of `repeat` solves is reported. */
MN_MUST_CHECK mn_status mn_pressure_problem(mn_context *ctx, mn_problem problem, int n,
                                            mn_pressure_solver solver, double tolerance, int repeat,
                                            mn_pressure_result *result);

#ifdef __cplusplus
}
#endif
#endif
