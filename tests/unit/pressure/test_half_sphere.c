/* The half-sphere problem on small grids: unknown counts known from an independent program, the
   tolerance met, memory, iterations, the two solvers and thread counts alike. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "check.h"
#include "pressure/problem.h"

static void counts_and_iterations(void **state)
{
  (void)state;
  static const int N[2] = {32, 64};
  static const size_t UNKNOWNS[2] = {7333, 54147};
  mn_context *ctx = check_context(1);
  int iterations[2][2];
  for (int g = 0; g < 2; g++)
    for (int variant = 0; variant < 2; variant++) {
      mn_pressure_result r;
      mn_problem problem = variant ? MN_PROBLEM_HALF_SPHERE_S : MN_PROBLEM_HALF_SPHERE_G;
      CHECK_OK(ctx, mn_pressure_problem(ctx, problem, N[g], MN_PRESSURE_MGPCG, 1e-6, 1, &r));
      CHECK(r.unknowns == UNKNOWNS[g]);
      CHECK(r.reason == MN_CONVERGED);
      CHECK_LE(r.residual, 1e-6);
      CHECK_LE(r.iterations, 11);
      CHECK_LE(r.peak_mb * 1e6 / (double)r.unknowns, 150);
      CHECK(r.wu_s > 0 && r.setup_s > 0 && r.solve_s > 0);
      iterations[g][variant] = r.iterations;
    }
  CHECK_LE(iterations[1][0] - iterations[0][0], 2);
  CHECK_LE(iterations[1][1] - iterations[0][1], 2);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Greatest |b - A p| by the definition, in plain double. */
static double plain_residual(const mn_problem_setup *s, const mn_pressure *v)
{
  double worst = 0, h = s->grid.dx;
  for (int k = 0; k < s->grid.n[2]; k++)
    for (int j = 0; j < s->grid.n[1]; j++)
      for (int i = 0; i < s->grid.n[0]; i++) {
        if (mn_pressure_region_of(v, i, j, k) < 0)
          continue;
        double r = mn_get(&s->b, i, j, k), p = mn_get(&s->p, i, j, k);
        double phi = mn_get(&s->liquid, i, j, k);
        for (int side = 0; side < 6; side++) {
          int face[3] = {i, j, k}, other[3] = {i, j, k}, a = side / 2;
          face[a] += side & 1;
          other[a] += side & 1 ? 1 : -1;
          double w = mn_get(&s->open[a], face[0], face[1], face[2]);
          double there = mn_get(&s->liquid, other[0], other[1], other[2]);
          double theta = phi / (phi - there);
          theta = there < 0 ? 1 : theta < 0.01 ? 0.01 : theta;
          double q = there < 0 ? mn_get(&s->p, other[0], other[1], other[2]) : 0;
          r -= w > 0 ? w / theta * (p - q) / (h * h) : 0;
        }
        worst = fmax(worst, fabs(r));
      }
  return worst;
}

static void solvers_and_threads_agree(void **state)
{
  (void)state;
  double *first = NULL;
  for (int run = 0; run < 4; run++) { /* 1, 2, 4 threads, then the reference solver */
    mn_context *ctx = check_context(run < 3 ? 1 << run : 1);
    mn_problem_setup s;
    mn_pressure *v;
    mn_solve_report report;
    CHECK_OK(ctx, mn_problem_create(ctx, MN_PROBLEM_HALF_SPHERE_S, 48, &s));
    CHECK_OK(ctx,
             mn_pressure_create(ctx, &s.grid, run < 3 ? MN_PRESSURE_MGPCG : MN_PRESSURE_PCG, &v));
    CHECK_OK(ctx, mn_pressure_assemble(v, &s.geometry));
    CHECK_OK(ctx, mn_pressure_solve(v, &s.b, 1e-6, 0, 1000, &s.p, &report));
    CHECK(report.reason == MN_CONVERGED && mn_pressure_region_count(v) == 1);
    CHECK_NEAR(plain_residual(&s, v), report.residual, 1e-10);
    if (!first) {
      first = malloc(s.p.size * sizeof *first);
      memcpy(first, s.p.data, s.p.size * sizeof *first);
    }
    double worst = 0;
    for (size_t i = 0; i < s.p.size; i++)
      worst = fmax(worst, fabs(s.p.data[i] - first[i]));
    CHECK_LE(worst, run < 3 ? 0 : 1e-8);
    mn_pressure_destroy(&v);
    mn_problem_destroy(&s);
    mn_context_destroy(&ctx);
  }
  free(first);
  CHECK_DONE();
}

/* A second solve from the solution does nothing; from a nearby one it takes fewer iterations. */
static void warm_start(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_problem_setup s;
  mn_pressure *v;
  mn_solve_report cold, again, warm;
  CHECK_OK(ctx, mn_problem_create(ctx, MN_PROBLEM_HALF_SPHERE_G, 32, &s));
  CHECK_OK(ctx, mn_pressure_create(ctx, &s.grid, MN_PRESSURE_MGPCG, &v));
  CHECK_OK(ctx, mn_pressure_assemble(v, &s.geometry));
  CHECK_OK(ctx, mn_pressure_solve(v, &s.b, 1e-6, 0, 100, &s.p, &cold));
  CHECK_OK(ctx, mn_pressure_solve(v, &s.b, 1e-6, 0, 100, &s.p, &again));
  CHECK(again.iterations == 0 && again.reason == MN_CONVERGED);
  for (size_t i = 0; i < s.b.size; i++)
    s.b.data[i] *= 1.001;
  CHECK_OK(ctx, mn_pressure_solve(v, &s.b, 1e-6, 0, 100, &s.p, &warm));
  CHECK(warm.iterations < cold.iterations && warm.reason == MN_CONVERGED);
  /* limits are reported, not hidden */
  mn_field_fill(&s.p, 0);
  CHECK_OK(ctx, mn_pressure_solve(v, &s.b, 1e-6, 0, 2, &s.p, &warm));
  CHECK(warm.iterations == 2 && warm.reason == MN_ITERATION_LIMIT && warm.residual > 1e-6);
  CHECK_OK(ctx, mn_pressure_solve(v, &s.b, 0, 0, 1000, &s.p, &warm));
  CHECK(warm.reason == MN_STALLED);
  CHECK_LE(warm.residual, 1e-10);
  mn_pressure_destroy(&v);
  mn_problem_destroy(&s);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(counts_and_iterations),
                                     cmocka_unit_test(solvers_and_threads_agree),
                                     cmocka_unit_test(warm_start)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
