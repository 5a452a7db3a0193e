/* 128 cells a side: fas and fmg converge as published or better, direct coarse matrices do not
   [Lai 2021, tables 6.2, 6.4, 6.12]. */
#include "lcp_sphere.h"

static void at_128(void **state)
{
  (void)state;
  sphere t;
  sphere_create(&t, MN_PROBLEM_HALF_SPHERE_S, 128, 2);
  mn_lcp_report fas = sphere_solve(&t, MN_LCP_FAS, 100);
  CHECK(fas.solve.reason == MN_CONVERGED);
  CHECK_LE(fas.solve.iterations, 1.5 * 11.94);
  mn_lcp_report trilinear = sphere_solve(&t, MN_LCP_FAS_TRILINEAR, 100);
  CHECK_LE(trilinear.solve.iterations, fas.solve.iterations + 1);
  mn_lcp_report constant = sphere_solve(&t, MN_LCP_FAS_CONSTANT, 500);
  CHECK_GE(constant.solve.iterations, 10 * fas.solve.iterations);
  mn_lcp_report plain = sphere_solve(&t, MN_LCP_FAS_PLAIN_WALLS, 100);
  CHECK_GE(plain.solve.iterations, 1.8 * fas.solve.iterations);
  mn_lcp_report fmg = sphere_solve(&t, MN_LCP_FMG, 300);
  CHECK(fmg.solve.reason == MN_CONVERGED);
  CHECK_LE(fmg.solve.iterations, 128);
  mn_lcp_report fast = sphere_solve(&t, MN_LCP_FAST, 100);
  CHECK(fast.solve.reason == MN_CONVERGED);
  CHECK_LE(fast.solve.iterations, 12);
  mn_lcp_report direct = sphere_solve(&t, MN_LCP_FAS_DIRECT_COARSE, 1000);
  CHECK(direct.solve.reason == MN_DIVERGED || direct.solve.reason == MN_STALLED);
  sphere_destroy(&t);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(at_128)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
