/* Our solvers on the half-sphere system and its LCP, timed as the peers are: processor time, one
   thread, the whole of assembly (from the geometry) and solution. usage: peer_meniscus N [REPEAT]
   [THREADS]; with more than one thread the wall clock is used. */
#include "base/timer.h"
#include "peer.h"
#include "pressure/lcp.h"

static double now(int threads)
{
  return threads > 1 ? mn_seconds() : peer_seconds();
}

/* The LCP from p = 0, or warm from its solution for a b that differs by 2 %. */
static int solve_lcp(peer_system *s, mn_lcp *lcp, mn_lcp_solver *v, int warm, int threads,
                     mn_lcp_report *report, double *seconds)
{
  double factor = warm ? 1.02 : 1 / 1.02;
  for (size_t i = 0; i < s->setup.b.size; i++)
    s->setup.b.data[i] *= factor;
  if (!warm)
    mn_field_fill(&s->setup.p, 0);
  double start = now(threads);
  mn_lcp_set_geometry(&s->setup.geometry, lcp);
  if (mn_lcp_solve(v, lcp, &s->setup.b, 1e-6, 100, &s->setup.p, report) != MN_OK)
    return 0;
  *seconds = fmin(*seconds, now(threads) - start);
  return report->solve.reason == MN_CONVERGED;
}

static int lcp(peer_system *s, int repeat, int threads)
{
  mn_lcp problem;
  mn_lcp_solver *v;
  mn_lcp_report cold, warm;
  double cold_s = 1e300, warm_s = 1e300;
  if (mn_lcp_create(s->ctx, &s->setup.grid, &problem) != MN_OK ||
      mn_lcp_solver_create(s->ctx, &s->setup.grid, MN_LCP_FAST, &v) != MN_OK)
    return 0;
  for (size_t i = 0; i < s->setup.b.size; i++)
    s->setup.b.data[i] *= 1.02;
  for (int t = 0; t < repeat; t++)
    if (!solve_lcp(s, &problem, v, 0, threads, &cold, &cold_s) ||
        !solve_lcp(s, &problem, v, 1, threads, &warm, &warm_s))
      return 0;
  peer_print(s, "meniscus LCP fast", cold.solve.iterations, 0, cold_s, cold.residual);
  peer_print(s, "meniscus LCP fast, warm", warm.solve.iterations, 0, warm_s, warm.residual);
  mn_lcp_solver_destroy(&v);
  mn_lcp_destroy(&problem);
  return 1;
}

int main(int argc, char **argv)
{
  int n = argc > 1 ? atoi(argv[1]) : 64, repeat = argc > 2 ? atoi(argv[2]) : 3;
  mn_context_def def = mn_context_def_default();
  def.threads = argc > 3 ? atoi(argv[3]) : 1;
  peer_system s = {.n = n};
  mn_pressure *v;
  mn_solve_report report;
  double best_setup = 1e300, best_solve = 1e300;
  if (mn_context_create(&def, &s.ctx) != MN_OK ||
      mn_problem_create(s.ctx, MN_PROBLEM_HALF_SPHERE_G, n, &s.setup) != MN_OK ||
      mn_pressure_create(s.ctx, &s.setup.grid, MN_PRESSURE_MGPCG, &v) != MN_OK)
    return 1;
  for (int t = 0; t < repeat; t++) {
    mn_field_fill(&s.setup.p, 0);
    double start = now(def.threads);
    if (mn_pressure_assemble(v, &s.setup.geometry) != MN_OK)
      return 1;
    double middle = now(def.threads);
    if (mn_pressure_solve(v, &s.setup.b, 1e-6, 0, 100, &s.setup.p, &report) != MN_OK)
      return 1;
    double end = now(def.threads);
    if (end - start < best_setup + best_solve) {
      best_setup = middle - start;
      best_solve = end - middle;
    }
  }
  s.unknowns = mn_pressure_unknowns(v);
  peer_print(&s, "meniscus mgpcg", report.iterations, best_setup, best_solve, report.residual);
  int good = lcp(&s, repeat, def.threads);
  mn_pressure_destroy(&v);
  peer_destroy(&s);
  return good && report.reason == MN_CONVERGED ? 0 : 1;
}
