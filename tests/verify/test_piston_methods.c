/* The spring piston on the grid: how relaxation contracts, how few solves the reduced model needs,
   and every coupling against the exact discrete motion, for every mass. */
#include "piston_case.h"

#include <string.h>

/* ---- contraction ------------------------------------------------------------------------------
 */

/* |e_{k+1} / e_k| = |1 - omega (1 + mu)| while the place on the grid is frozen. */
static void contract(double M, double omega, double dt, mn_reason reason)
{
  world_case c;
  mn_coupling_report report;
  int count;
  double mu = piston_mu(M, dt), expected = fabs(1 - omega * (1 + mu)), worst = 0;
  piston_open(&c, "relaxed", M, omega, dt, "1e-10");
  mn_coupling_def def = c.world->def->coupling;
  mn_coupling *coupling;
  def.predictor = 0; /* so that there is something to contract */
  CHECK_OK(c.ctx, mn_coupling_create(c.ctx, &def, 2, PISTON_CELL, c.world->fluid, c.world->solid,
                                     &coupling));
  CHECK_OK(c.ctx, mn_coupling_try(coupling, 0, dt, 1, &report));
  const double *residual = mn_coupling_residuals(coupling, &count);
  CHECK(report.reason == reason);
  CHECK_GE(count, 3);
  for (int k = 1; k < 8 && k < count && residual[k] > 1e-6 * residual[0]; k++)
    worst = check_worst(worst, fabs(residual[k] / residual[k - 1] - expected));
  printf("M %g omega %g dt %g: mu %.4g, factor %.4g, off by %.1e\n", M, omega, dt, mu, expected,
         worst);
  CHECK_LE(worst, 1e-3);
  mn_coupling_destroy(&coupling);
  world_close(&c);
}

static void test_contraction(void **state)
{
  (void)state;
  contract(2000, 1, 1e-4, MN_CONVERGED);  /* mu 0.5 */
  contract(100, 0.1, 1e-4, MN_CONVERGED); /* mu 10 */
  contract(100, 0.05, 1e-4, MN_CONVERGED);
  contract(100, 0.2, 1e-4, MN_DIVERGED);
  contract(100, 0.11, 0.05, MN_CONVERGED);  /* the spring counts: mu 7.9 */
  contract(2, 0.0022, 0.005, MN_CONVERGED); /* mu 400 */
  CHECK_DONE();
}

/* ---- solves -----------------------------------------------------------------------------------
 */

/* A rigid column is one mode: three fluid solves at most, whatever mu. */
static void test_solves(void **state)
{
  (void)state;
  for (double M = 0.01; M < 2e4; M *= 10) {
    swing s = piston_swing("xpm", M, "1e-6", 0.15);
    printf("M %g, mu %.3g: iterations %.3f, at most %d\n", M, piston_mu(M, PISTON_DT), s.average,
           s.most);
    CHECK(s.status == MN_OK && s.retries == 0);
    CHECK_LE(s.most, 3);
  }
  CHECK_DONE();
}

/* ---- the motion --------------------------------------------------------------------------------
 */

static void test_motion(void **state)
{
  (void)state;
  for (double M = 1; M < 2e4; M *= 100)
    for (int m = 0; m < 4; m++) {
      swing s = piston_swing(PISTON_METHODS[m], M, "1e-6", 0.25);
      printf("M %g %-7s: %.1e cells from the discrete answer, iterations %.2f\n", M,
             PISTON_METHODS[m], s.error, s.average);
      CHECK(s.status == MN_OK && s.retries == 0);
      CHECK_LE(s.error, 10 * 1e-6 * 50); /* what each of 50 substeps may leave */
    }
  CHECK_DONE();
  CHECK_LE(piston_swing("aitken", 1, "1", 0.25).error, 10 * 1e-6 * 50); /* unconverged */
  CHECK_MUST_HAVE_FAILED();
}

/* ---- order -------------------------------------------------------------------------------------
 */

/* Both sides together are of second order in time: greatest distance from 0.01 sin(2 pi t) in a
   swing and a half. (How each rule alone fares is in unit.couple.test_couple.) */
static void test_order(void **state)
{
  (void)state;
  for (double M = 1; M < 2e4; M *= 100) {
    double h[3], error[3] = {0};
    for (int k = 0; k < 3; k++) {
      world_case c;
      h[k] = 0.025 / (1 << k); /* whole frames of 0.05 s */
      piston_open(&c, "xpm", M, 0.1, h[k], "1e-6");
      double start = mn_world_probe(c.world, 0);
      while (mn_world_time(c.world) < 1.5 - 1e-9 && world_step(&c)) {
        double at = mn_world_probe(c.world, 0) - start;
        error[k] = check_worst(error[k], fabs(at - 0.01 * sin(2 * MN_PI * c.info.time)));
      }
      CHECK_OK(c.ctx, c.status);
      world_close(&c);
    }
    printf("M %g: errors %.2e %.2e %.2e m\n", M, error[0], error[1], error[2]);
    CHECK_ORDER(h, error, 3, 2, 0.15);
  }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_contraction),
                                     cmocka_unit_test(test_solves), cmocka_unit_test(test_motion),
                                     cmocka_unit_test(test_order)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
