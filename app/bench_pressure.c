/* The linear pressure solve on the half-filled sphere (variant g), to a residual of 1e-6.

   Published figures, from a comparison on one 2-core machine: MIC(0)-PCG needs 41, 80 and 166
   iterations at n = 64, 128 and 256; hypre's PCG+PFMG takes 0.40 s at 128 where MIC(0)-PCG takes
   0.87 s. Being 5 times faster than PFMG therefore means being 5 * 0.87 / 0.40 = 10.9 times faster
   than MIC(0)-PCG, which can be measured in one run without hypre. */
#include "bench.h"

static const double TOLERANCE = 1e-6;
static const double MIC_OVER_PFMG = 0.87 / 0.40;

static double total(const mn_pressure_result *r)
{
  return r->setup_s + r->solve_s;
}

static int solve(int threads, int n, mn_pressure_solver solver, int repeat, mn_pressure_result *r)
{
  mn_context_def def = mn_context_def_default();
  mn_context *ctx;
  def.threads = threads;
  if (mn_context_create(&def, &ctx) != MN_OK)
    return app_error(MN_ENVIRONMENT, "out of memory");
  mn_status status =
      mn_pressure_problem(ctx, MN_PROBLEM_HALF_SPHERE_G, n, solver, TOLERANCE, repeat, r);
  if (status != MN_OK)
    app_fail(ctx, status);
  else if (r->reason != MN_CONVERGED)
    status = (mn_status)app_error(MN_FAILED, "bench: n = %d did not converge", n);
  mn_context_destroy(&ctx);
  return (int)status;
}

/* One and two threads in turns, the best of each: the machine may be busy for a while. */
static int solve_in_turns(int n, mn_pressure_result *one, mn_pressure_result *two)
{
  enum { ROUNDS = 5, REPEAT = 3 };
  for (int round = 0; round < ROUNDS; round++) {
    mn_pressure_result r;
    int bad = solve(1, n, MN_PRESSURE_MGPCG, REPEAT, &r);
    if (bad)
      return bad;
    *one = round == 0 || total(&r) < total(one) ? r : *one;
    if ((bad = solve(2, n, MN_PRESSURE_MGPCG, REPEAT, &r)))
      return bad;
    *two = round == 0 || total(&r) < total(two) ? r : *two;
  }
  return 0;
}

int app_bench_pressure(app_bench_run *run)
{
  static const int sizes[] = {64, 128, 256}, mic_iterations[] = {41, 80, 166};
  int count = run->full ? 3 : 2, first = 0, bad;
  for (int i = 0; i < count; i++) {
    mn_pressure_result mg, mic, two;
    char row[32];
    snprintf(row, sizeof row, "n = %d", sizes[i]);
    if ((bad = solve_in_turns(sizes[i], &mg, &two)) ||
        (bad = solve(1, sizes[i], MN_PRESSURE_PCG, 1, &mic)))
      return bad;
    first = i ? first : mg.iterations;
    app_bench_row(run, row, "mgpcg iterations", mg.iterations, "target", APP_AT_MOST, first + 2);
    app_bench_row(run, row, "pcg iterations", mic.iterations, "published", APP_AT_MOST,
                  1.1 * mic_iterations[i]);
    app_bench_row(run, row, "bytes per unknown", mg.peak_mb * 1048576 / (double)mg.unknowns,
                  "target", APP_AT_MOST, 150);
    if (sizes[i] < 128)
      continue;
    app_bench_row(run, row, "work units (goal)", total(&mg) / mg.wu_s, "target", APP_AT_MOST, 100);
    app_bench_row(run, row, "times faster than pcg", total(&mic) / total(&mg), "target",
                  APP_AT_LEAST, 5 * MIC_OVER_PFMG);
    app_bench_row(run, row, "speed-up on 2 threads", total(&mg) / total(&two), "target",
                  APP_AT_LEAST, 1.6);
  }
  return 0;
}
