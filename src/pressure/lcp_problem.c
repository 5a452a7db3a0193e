/* The half-sphere problem as an LCP, for measuring its solvers (see problem.c). */
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/status.h"
#include "base/timer.h"
#include "meniscus/pressure.h"
#include "pressure/lcp.h"
#include "pressure/problem.h"

static mn_status find_solver(mn_context *ctx, const char *name, mn_lcp_solver_kind *kind)
{
  for (int k = 0; k < MN_LCP_SOLVERS; k++)
    if (!strcmp(name, mn_lcp_solver_name((mn_lcp_solver_kind)k))) {
      *kind = (mn_lcp_solver_kind)k;
      return MN_OK;
    }
  return mn_fail(ctx, MN_BAD_INPUT, "there is no LCP solver \"%s\"", name);
}

static mn_status measure(mn_context *ctx, mn_problem_setup *s, mn_lcp *lcp, mn_lcp_solver_kind kind,
                         mn_lcp_solver *v, double tolerance, int max_iterations,
                         mn_pressure_result *out)
{
  mn_lcp_report report;
  mn_field_fill(&s->p, 0);
  double start = mn_seconds();
  if (kind == MN_LCP_FAST)
    mn_lcp_set_geometry(&s->geometry, lcp);
  else
    MN_TRY(mn_lcp_assemble(ctx, &s->geometry, lcp));
  double middle = mn_seconds();
  mn_status status = mn_lcp_solve(v, lcp, &s->b, tolerance, max_iterations, &s->p, &report);
  double end = mn_seconds();
  if (status == MN_OK && end - start < out->setup_s + out->solve_s) {
    out->setup_s = middle - start;
    out->solve_s = end - middle;
  }
  out->iterations = report.solve.iterations;
  out->outer = report.outer;
  out->residual = report.residual;
  out->complementarity = report.complementarity;
  out->reason = report.solve.reason;
  out->peak_mb = (double)mn_lcp_solver_bytes(v) / 1e6;
  return status;
}

mn_status mn_lcp_problem(mn_context *ctx, mn_problem problem, int n, const char *solver,
                         double tolerance, int repeat, int max_iterations,
                         mn_pressure_result *result)
{
  mn_lcp_solver_kind kind = MN_LCP_FAST;
  mn_problem_setup s;
  mn_lcp lcp = {0};
  mn_lcp_solver *v = NULL;
  *result = (mn_pressure_result){0};
  MN_TRY(find_solver(ctx, solver, &kind));
  if (problem == MN_PROBLEM_MMS_DISK)
    return mn_fail(ctx, MN_BAD_INPUT,
                   "%s solves the LCP of walls that liquid can leave, and mms-disk has no surface: "
                   "use half-sphere, mgpcg or pcg",
                   solver);
  /* a loose tolerance: only for the work unit and the unknowns */
  MN_TRY(mn_pressure_problem(ctx, problem, n, MN_PRESSURE_MGPCG, INFINITY, 1, result));
  double wu_s = result->wu_s;
  *result = (mn_pressure_result){.n = n,
                                 .threads = ctx->exec.threads,
                                 .unknowns = result->unknowns,
                                 .wu_s = wu_s,
                                 .solve_s = INFINITY};
  MN_TRY(mn_problem_create(ctx, problem, n, &s));
  mn_status status = mn_lcp_create(ctx, &s.grid, &lcp);
  if (status == MN_OK)
    status = mn_lcp_solver_create(ctx, &s.grid, kind, &v);
  for (int t = 0; t < (repeat < 1 ? 1 : repeat) && status == MN_OK; t++)
    status = measure(ctx, &s, &lcp, kind, v, tolerance, max_iterations, result);
  mn_lcp_solver_destroy(&v);
  mn_lcp_destroy(&lcp);
  mn_problem_destroy(&s);
  return status;
}
