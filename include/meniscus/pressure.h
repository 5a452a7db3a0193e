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
  int outer;                               /* LCP: linear systems solved; linear: 0 */
  /* LCP: |p . (A p - b)| / (||p|| ||b||) over the cells at walls, measured after the solve */
  double complementarity;
} mn_pressure_result;

/* Solves from p = 0 to ||A p - b||_inf <= tolerance; best of `repeat` solves is reported. */
MN_MUST_CHECK mn_status mn_pressure_problem(mn_context *ctx, mn_problem problem, int n,
                                            mn_pressure_solver solver, double tolerance, int repeat,
                                            mn_pressure_result *result);

/* The same with walls that the liquid can leave, for the half-sphere: 0 <= p perp A p - b >= 0 at
   walls, to ||min(p, A p - b)||_inf <= tolerance. Solvers: fast, fas, pi-pcg, pi-mg, pe-pcg, pe-mg,
   fmg, newton, pgs, mprgp, fas-trilinear, fas-constant, fas-plain-walls, fas-direct (theory/lcp.md
   in the documentation). peak_mb leaves out the inner linear solver's memory. */
MN_MUST_CHECK mn_status mn_lcp_problem(mn_context *ctx, mn_problem problem, int n,
                                       const char *solver, double tolerance, int repeat,
                                       int max_iterations, mn_pressure_result *result);

#ifdef __cplusplus
}
#endif
#endif
