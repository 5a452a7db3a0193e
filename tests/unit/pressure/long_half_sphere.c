/* The half-sphere problem at full size: counts, iterations from 64 to 256, memory, thread counts.
 */
#include <stdio.h>

#include "check.h"

static void full_size(void **state)
{
  (void)state;
  static const int N[3] = {64, 128, 256};
  static const size_t UNKNOWNS[3] = {54147, 416585, 3267423};
  for (int variant = 0; variant < 2; variant++) {
    int iterations[3];
    for (int g = 0; g < 3; g++)
      for (int threads = 1; threads <= 2; threads++) {
        mn_context *ctx = check_context(threads);
        mn_pressure_result r;
        mn_problem problem = variant ? MN_PROBLEM_HALF_SPHERE_S : MN_PROBLEM_HALF_SPHERE_G;
        CHECK_OK(ctx, mn_pressure_problem(ctx, problem, N[g], MN_PRESSURE_MGPCG, 1e-6, 1, &r));
        printf("n %d threads %d: %d iterations, %.1f bytes per unknown\n", N[g], threads,
               r.iterations, r.peak_mb * 1e6 / (double)r.unknowns);
        CHECK(r.unknowns == UNKNOWNS[g]);
        CHECK(r.reason == MN_CONVERGED);
        CHECK_LE(r.residual, 1e-6);
        CHECK_LE(r.peak_mb * 1e6 / (double)r.unknowns, 150);
        CHECK(threads == 1 || r.iterations == iterations[g]);
        iterations[g] = r.iterations;
        mn_context_destroy(&ctx);
      }
    CHECK_LE(iterations[2] - iterations[0], 2);
  }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(full_size)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
