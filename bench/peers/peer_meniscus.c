/* Our solver on the half-sphere system, timed as the peers are: processor time, one thread, the
   whole of assembly (from the geometry) and solution. usage: peer_meniscus N [REPEAT] [THREADS];
   with more than one thread the wall clock is used. */
#include "base/timer.h"
#include "peer.h"

static double now(int threads)
{
  return threads > 1 ? mn_seconds() : peer_seconds();
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
  mn_pressure_destroy(&v);
  peer_destroy(&s);
  return report.reason == MN_CONVERGED ? 0 : 1;
}
