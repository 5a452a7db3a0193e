/* What a Newton step of an elastic body costs: a bent bar of 100,000 linear tetrahedra (with --full
   also 200,000). Seconds are not compared with anything; parts of one step are. */
#include "bench.h"

static int measure(int threads, int64_t elements, int repeat, mn_newton_result *r)
{
  mn_context_def def = mn_context_def_default();
  mn_context *ctx;
  def.threads = threads;
  if (mn_context_create(&def, &ctx) != MN_OK)
    return app_error(MN_ENVIRONMENT, "out of memory");
  mn_status status = mn_newton_problem(ctx, elements, repeat, r);
  if (status != MN_OK)
    app_fail(ctx, status);
  mn_context_destroy(&ctx);
  return (int)status;
}

/* A number of which nothing is demanded. */
static void show(app_bench_run *run, const char *row, const char *column, double measured)
{
  app_bench_compare(run, row, column, (app_bench_number){.measured = measured});
}

int app_bench_solid_newton(app_bench_run *run)
{
  static const int64_t sizes[] = {20000, 100000, 200000};
  enum { REPEAT = 3, DEMANDED = 100000 };
  for (int i = 0; i < (run->full ? 3 : 2); i++) {
    mn_newton_result one;
    char row[64];
    int bad;
    if ((bad = measure(1, sizes[i], REPEAT, &one)))
      return bad;
    double step = one.assembly_s + one.factor_s + one.solve_s;
    snprintf(row, sizeof row, "%lld tetrahedra", (long long)one.elements);
    if (sizes[i] >= DEMANDED) /* the factor of smaller bodies costs too little to compare with */
      app_bench_row(run, row, "assembly, % of a step", 100 * one.assembly_s / step, "target",
                    APP_AT_MOST, 15);
    else
      show(run, row, "assembly, % of a step", 100 * one.assembly_s / step);
    show(run, row, "factorisation, % of a step", 100 * one.factor_s / step);
    show(run, row, "solve, % of a step", 100 * one.solve_s / step);
    show(run, row, "ordering, once, % of a step", 100 * one.analyse_s / step);
    show(run, row, "factor, MB", (double)one.factor_entries * 8 / 1048576);
  }
  return 0;
}
