/* The LCP of the half-sphere problem, for the iteration counts of its solvers. */
#ifndef MN_TESTS_PRESSURE_LCP_SPHERE_H
#define MN_TESTS_PRESSURE_LCP_SPHERE_H

#include <math.h>

#include "base/context.h"
#include "check.h"
#include "pressure/lcp.h"
#include "pressure/problem.h"

typedef struct sphere {
  mn_context *ctx;
  mn_problem_setup s;
  mn_lcp lcp;
} sphere;

static inline void sphere_create(sphere *t, mn_problem problem, int n, int threads)
{
  t->ctx = check_context(threads);
  CHECK_OK(t->ctx, mn_problem_create(t->ctx, problem, n, &t->s));
  CHECK_OK(t->ctx, mn_lcp_create(t->ctx, &t->s.grid, &t->lcp));
  CHECK_OK(t->ctx, mn_lcp_assemble(t->ctx, &t->s.geometry, &t->lcp));
}

static inline void sphere_destroy(sphere *t)
{
  mn_lcp_destroy(&t->lcp);
  mn_problem_destroy(&t->s);
  mn_context_destroy(&t->ctx);
}

/* From p = 0 to 1e-6. */
static inline mn_lcp_report sphere_solve(sphere *t, mn_lcp_solver_kind kind, int most)
{
  mn_lcp_solver *v;
  mn_lcp_report r;
  mn_field_fill(&t->s.p, 0);
  CHECK_OK(t->ctx, mn_lcp_solver_create(t->ctx, &t->s.grid, kind, &v));
  CHECK_OK(t->ctx, mn_lcp_solve(v, &t->lcp, &t->s.b, 1e-6, most, &t->s.p, &r));
  mn_lcp_solver_destroy(&v);
  print_message("n = %d, %s: %s, %d iterations, %d outer, residual %.2g\n", t->s.grid.n[0],
                mn_lcp_solver_name(kind), mn_reason_text(r.solve.reason), r.solve.iterations,
                r.outer, r.residual);
  return r;
}

#endif
