/* Viscous flows between plates with exact answers: Poiseuille (steady and start-up), Couette,
   Stokes' second problem, and the implicit solve far beyond the explicit limit. */
#include "mac_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A channel along x of height 1, ends open, plates at y = 0 and 1; 8 cells long. */
static void begin_channel(mac_case *c, int cells, double nu)
{
  mac_case_begin(c, 2, mn_v3(8.0 / cells, 1, 0), 8);
  c->def.domain.side[0].kind = c->def.domain.side[1].kind = MN_SIDE_THROUGH;
  c->def.domain.side[2].kind = c->def.domain.side[3].kind = MN_SIDE_NOSLIP;
  c->def.fluid.viscosity = nu;
}

static double at_height(const mac_case *c, double y)
{
  return mn_sample(&mn_mac_look(&c->fluid).velocity[0], mn_v3(0.5 * c->def.domain.size.x, y, 0));
}

/* ---- Poiseuille: G = 0.8, nu = 0.1, u_max = G H^2 / (8 nu rho) = 1 --------------------------- */

static double poiseuille_error(int cells, mn_side_kind plates)
{
  mac_case c;
  begin_channel(&c, cells, 0.1);
  c.def.domain.side[2].kind = c.def.domain.side[3].kind = plates;
  c.def.fluid.body_force = mn_v3(0.8, 0, 0);
  mac_case_start(&c);
  mac_case_run(&c, 30, 0.25);
  mn_mac_view v = mn_mac_look(&c.fluid);
  double worst = 0;
  for (int j = 0; j < cells; j++) {
    double y = (j + 0.5) / cells;
    worst = check_worst(worst, fabs(mn_get(&v.velocity[0], 4, j, 0) - 4 * y * (1 - y)));
  }
  mac_case_end(&c);
  return worst;
}

static void test_poiseuille(void **state)
{
  (void)state;
  double h[] = {1 / 8.0, 1 / 16.0, 1 / 32.0}, error[3];
  for (int i = 0; i < 3; i++)
    error[i] = poiseuille_error(8 << i, MN_SIDE_NOSLIP);
  CHECK_ORDER(h, error, 3, 2.0, 0.1);
  CHECK_LE(fitted_order(h, error, 3), 2.1);
  CHECK_LE(error[2], 0.001);
  CHECK_DONE();
  CHECK_LE(poiseuille_error(32, MN_SIDE_SLIP), 0.001);
  CHECK_MUST_HAVE_FAILED();
}

static double start_up(double t) /* u(H/2, t) */
{
  double sum = 0;
  for (int k = 0; k < 50; k++) {
    double m = 2 * k + 1;
    sum += (k % 2 ? -1 : 1) / (m * m * m) * exp(-m * m * MN_PI * MN_PI * 0.1 * t);
  }
  return 1 - 32 / (MN_PI * MN_PI * MN_PI) * sum;
}

static void test_poiseuille_start_up(void **state)
{
  (void)state;
  mac_case c;
  begin_channel(&c, 33, 0.1); /* an odd number: a face centre at H/2 */
  c.def.fluid.body_force = mn_v3(0.8, 0, 0);
  mac_case_start(&c);
  for (int i = 1; i <= 6; i++) {
    mac_case_run(&c, 0.5 * i, 0.02);
    CHECK_NEAR(at_height(&c, 0.5), start_up(c.time), 0.005);
  }
  mac_case_end(&c);
  CHECK_DONE();
}

/* ---- Couette: u = U y exactly ------------------------------------------------------------------
 */

static double couette_error(double wall_speed)
{
  mac_case c;
  begin_channel(&c, 16, 0.3);
  c.def.domain.side[3].velocity = mn_v3(wall_speed, 0, 0);
  mac_case_start(&c);
  mac_case_run(&c, 100, 2);
  double worst = 0;
  for (int j = 0; j < 16; j++)
    worst = check_worst(worst, fabs(at_height(&c, (j + 0.5) / 16) - (j + 0.5) / 16));
  mac_case_end(&c);
  return worst;
}

static void test_couette(void **state)
{
  (void)state;
  CHECK_LE(couette_error(1), 1e-10);
  CHECK_DONE();
  CHECK_LE(couette_error(1.001), 1e-10);
  CHECK_MUST_HAVE_FAILED();
}

/* ---- Stokes' second problem: amplitude e^(-y/delta), delta = sqrt(2 nu/omega) ------------------
 */

static double stokes_depth(double nu, double frequency)
{
  mac_case c;
  begin_channel(&c, 128, nu);
  c.def.domain.side[2].velocity = mn_v3(1, 0, 0);
  c.def.domain.side[2].ramp =
      (mn_timefn){.kind = MN_TIME_WAVE, .amplitude = 1, .frequency = frequency};
  c.def.domain.side[3].kind = MN_SIDE_SLIP;
  mac_case_start(&c);
  double period = 1 / frequency, y1 = 0.05, y2 = 0.25, re[2] = {0}, im[2] = {0};
  mac_case_run(&c, 6 * period, period / 200);
  for (int i = 1; i <= 200; i++) { /* Fourier component over one period */
    mac_case_run(&c, 6 * period + i * period / 200, period / 200);
    double a = 2 * MN_PI * i / 200, u1 = at_height(&c, y1), u2 = at_height(&c, y2);
    re[0] += u1 * cos(a);
    im[0] += u1 * sin(a);
    re[1] += u2 * cos(a);
    im[1] += u2 * sin(a);
  }
  mac_case_end(&c);
  return (y2 - y1) / log(hypot(re[0], im[0]) / hypot(re[1], im[1]));
}

static void test_stokes_second_problem(void **state)
{
  (void)state;
  double nu = 0.01, frequency = 0.4, delta = sqrt(2 * nu / (2 * MN_PI * frequency));
  CHECK_NEAR(stokes_depth(nu, frequency), delta, 0.01 * delta);
  CHECK_DONE();
  CHECK_NEAR(stokes_depth(1.05 * nu, frequency), delta, 0.01 * delta);
  CHECK_MUST_HAVE_FAILED();
}

/* ---- nu dt / dx^2 = 1e4: stable, and heading for rest
 * --------------------------------------------- */

static mn_status noise(void *user, mn_vec3 x, mn_vec3 *value)
{
  (void)x;
  uint64_t *seed = user;
  *value = mn_v3(check_random(seed) - 0.5, check_random(seed) - 0.5, 0);
  return MN_OK;
}

static void test_stiff(void **state)
{
  (void)state;
  mac_case c;
  uint64_t seed = 7;
  mac_case_begin(&c, 2, mn_v3(1, 1, 0), 64);
  for (int s = 0; s < 4; s++)
    c.def.domain.side[s].kind = MN_SIDE_NOSLIP;
  c.def.fluid.viscosity = 1;
  c.def.fluid.initial_velocity = (mn_field_fn){.eval = noise, .user = &seed};
  mac_case_start(&c);
  double dt = 1e4 / (64.0 * 64.0), start = mn_mac_measure(&c.fluid).kinetic_energy, most = 0;
  mac_case_run(&c, 5 * dt, dt);
  double early = mn_mac_measure(&c.fluid).kinetic_energy;
  for (int i = 0; i < 40; i++) { /* a weak instability would show by now */
    mac_case_run(&c, c.time + dt, dt);
    most = check_worst(most, mn_mac_measure(&c.fluid).kinetic_energy);
  }
  CHECK_LE(early, 1e-9 * start);
  CHECK_LE(most, early);
  mac_case_end(&c);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_poiseuille), cmocka_unit_test(test_poiseuille_start_up),
      cmocka_unit_test(test_couette),    cmocka_unit_test(test_stokes_second_problem),
      cmocka_unit_test(test_stiff),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
