/* A buoyant plume from a source on the centre line stays its own mirror image, and rises. */
#include "mac_case.h"

#include <math.h>
#include <stdio.h>

static double asymmetry(const mn_field *f, int sign)
{
  double worst = 0;
  for (int k = 0; k < f->n[2]; k++)
    for (int j = 0; j < f->n[1]; j++)
      for (int i = 0; i < f->n[0]; i++)
        worst =
            check_worst(worst, fabs(mn_get(f, i, j, k) - sign * mn_get(f, f->n[0] - 1 - i, j, k)));
  return worst;
}

typedef struct outcome {
  double smoke, velocity, height;
} outcome;

static outcome run(int dim, double center)
{
  mac_case c;
  mac_case_begin(&c, dim, mn_v3(1, 1.5, dim == 3 ? 1 : 0), dim == 3 ? 16 : 64);
  mn_source_def source = {
      .name = "fire", .smoke = 1, .temperature = 400, .ramp = mn_timefn_constant(1)};
  CHECK_OK(c.ctx,
           mn_shape_sphere(c.ctx, dim, mn_v3(center, 0.2, 0.5 * (dim == 3)), 0.1, &source.shape));
  c.def.sources = &source;
  c.def.source_count = 1;
  c.def.domain.side[3].kind = MN_SIDE_OPEN;
  c.def.fluid.gravity = mn_v3(0, -9.81, 0);
  c.def.fluid.temperature = 1;
  c.def.fluid.ambient = 300;
  c.def.fluid.initial_temperature.value.x = 300;
  c.def.fluid.expansion = 1.0 / 300;
  c.def.fluid.pressure_tolerance = 1e-14;
  mac_case_start(&c);
  mac_case_run(&c, 1.2, 0.02);
  mn_mac_view v = mn_mac_look(&c.fluid);
  outcome r = {.smoke = asymmetry(v.smoke, 1)};
  r.velocity = check_worst(asymmetry(&v.velocity[0], -1), asymmetry(&v.velocity[1], 1));
  for (int j = 0; j < v.smoke->n[1]; j++)
    if (mn_get(v.smoke, v.smoke->n[0] / 2, j, v.smoke->n[2] / 2) > 0.1)
      r.height = (j + 0.5) * v.grid->dx;
  printf("%dD: asymmetry of smoke %.2e, of velocity %.2e, height %.3f\n", dim, r.smoke, r.velocity,
         r.height);
  mac_case_end(&c);
  return r;
}

static void test_mirror(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++) {
    outcome r = run(dim, 0.5);
    CHECK_LE(r.smoke, 1e-10);
    CHECK_LE(r.velocity, 1e-10);
    CHECK_GE(r.height, 0.6);
  }
  CHECK_DONE();
}

static void test_control_off_centre(void **state)
{
  (void)state;
  outcome r = run(2, 0.5 + 1e-3);
  CHECK_LE(r.smoke, 1e-10);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_mirror),
      cmocka_unit_test(test_control_off_centre),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
