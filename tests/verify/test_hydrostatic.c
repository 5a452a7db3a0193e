/* Water at rest stays at rest, with the pressure of its depth: tank 1 x 1, rho = 1000, g = 9.81,
   filled to 0.5 (aligned with the faces: p(bottom) = 4905) and to 0.503 (cut: 4934.43). */
#include "mac_case.h"

#include <math.h>
#include <stdio.h>

static const double RHO = 1000, G = 9.81;

typedef struct outcome {
  double speed, pressure_error, volume_drift, bottom;
} outcome;

static outcome run(int n, double fill, int inclined, double gravity)
{
  mac_case c;
  mac_case_begin(&c, 2, mn_v3(1, 1, 0), n);
  mn_solid_def plane = {.name = "plane"};
  c.def.fluid.kind = MN_FLUID_WATER;
  c.def.fluid.transfer = MN_TRANSFER_LEVELSET; /* particles: test_water.c */
  c.def.fluid.density = RHO;
  c.def.fluid.gravity = mn_v3(0, -gravity, 0);
  CHECK_OK(c.ctx, mn_shape_half_space(c.ctx, 2, mn_v3(0, fill, 0), mn_v3(0, 1, 0),
                                      &c.def.fluid.initial_water));
  if (inclined) { /* a slope through the tank's lower corner, in a general position */
    CHECK_OK(c.ctx,
             mn_shape_half_space(c.ctx, 2, mn_v3(0.61, 0.0, 0), mn_v3(-0.8, 0.6, 0), &plane.shape));
    c.def.solids = &plane;
    c.def.solid_count = 1;
  }
  mac_case_start(&c);
  outcome r = {0};
  double before = mn_mac_measure(&c.fluid).volume;
  for (int i = 0; i < 200; i++) {
    mac_case_run(&c, c.time + 0.01, 0.01);
    r.speed = check_worst(r.speed, mn_mac_measure(&c.fluid).max_speed);
  }
  r.volume_drift = fabs(mn_mac_measure(&c.fluid).volume / before - 1);
  mn_mac_view v = mn_mac_look(&c.fluid);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      double y = (j + 0.5) / n, p = RHO * G * (fill - y);
      if (y < fill && mn_get(v.volume, i, j, 0) > 0)
        r.pressure_error =
            check_worst(r.pressure_error, fabs(mn_get(v.pressure, i, j, 0) - p) / (RHO * G * fill));
    }
  double p0 = mn_get(v.pressure, 0, 0, 0), p1 = mn_get(v.pressure, 0, 1, 0);
  r.bottom = 1.5 * p0 - 0.5 * p1;
  printf("n %d fill %g: speed %.2e, pressure error %.2e, drift %.2e, bottom %.6f\n", n, fill,
         r.speed, r.pressure_error, r.volume_drift, r.bottom);
  mac_case_end(&c);
  return r;
}

static void test_aligned(void **state)
{
  (void)state;
  outcome r = run(64, 0.5, 0, G);
  CHECK_LE(r.speed, 1e-8 * sqrt(G * 0.5));
  CHECK_LE(r.pressure_error, 1e-9);
  CHECK_LE(r.volume_drift, 1e-12);
  CHECK_NEAR(r.bottom, 4905, 1e-5);
  CHECK_DONE();
}

static void test_cut_surface(void **state)
{
  (void)state;
  double h[3], error[3];
  for (int i = 0; i < 3; i++) {
    int n = 16 << i;
    outcome r = run(n, 0.503, 0, G);
    h[i] = 1.0 / n;
    error[i] = r.pressure_error;
    CHECK_LE(r.speed, 1e-8 * sqrt(G * 0.5));
    CHECK_LE(error[i], h[i] * h[i]); /* in fact exact: the pressure is linear */
    CHECK_NEAR(r.bottom, 4934.43, 4934.43 * h[i] * h[i]);
  }
  CHECK_DONE();
}

static void test_inclined_plane(void **state)
{
  (void)state;
  outcome r = run(64, 0.503, 1, G);
  CHECK_LE(r.speed, 1e-8);
  CHECK_LE(r.pressure_error, 1e-9);
  CHECK_DONE();
}

/* The check sees a pressure of the wrong weight. */
static void test_control_wrong_gravity(void **state)
{
  (void)state;
  outcome r = run(64, 0.5, 0, 1.001 * G);
  CHECK_LE(r.pressure_error, 1e-9);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_aligned),
      cmocka_unit_test(test_cut_surface),
      cmocka_unit_test(test_inclined_plane),
      cmocka_unit_test(test_control_wrong_gravity),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
