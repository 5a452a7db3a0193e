/* Flow between a turning cylinder (radius a, angular velocity omega) and a fixed one around it
   (radius b):

       u_theta = A r + B / r,   A = -omega a^2 / (b^2 - a^2),   B = omega a^2 b^2 / (b^2 - a^2)

   Curved no-slip walls that cut cells, one of them moving. Errors are first order in the cells at
   the walls (the flux of a turning wall is taken at the centre of a face, not of its closed part)
   and so of order 3/2 in L2. */
#include "mac_case.h"

#include <math.h>
#include <stdio.h>

static const double INNER = 0.2, OUTER = 0.45, OMEGA = 1, CENTRE_X = 0.507, CENTRE_Y = 0.493;

typedef struct outcome {
  double l2, linf;
} outcome;

static outcome run(int n, int noslip)
{
  mac_case c;
  mac_case_begin(&c, 2, mn_v3(1, 1, 0), n);
  mn_vec3 centre = mn_v3(CENTRE_X, CENTRE_Y, 0);
  mn_solid_def solids[2] = {{.name = "cylinder", .noslip = noslip, .moving = 1},
                            {.name = "shell", .noslip = 1}};
  solids[0].motion.pivot = centre;
  solids[0].motion.axis = mn_v3(0, 0, 1);
  solids[0].motion.turn = (mn_timefn){.kind = MN_TIME_RATE, .rate = OMEGA};
  CHECK_OK(c.ctx, mn_shape_sphere(c.ctx, 2, centre, INNER, &solids[0].shape));
  mn_shape *parts[2];
  CHECK_OK(c.ctx, mn_shape_box(c.ctx, 2, mn_v3(-1, -1, 0), mn_v3(2, 2, 0), &parts[0]));
  CHECK_OK(c.ctx, mn_shape_sphere(c.ctx, 2, centre, OUTER, &parts[1]));
  CHECK_OK(c.ctx, mn_shape_difference(c.ctx, parts, 2, &solids[1].shape));
  c.def.solids = solids;
  c.def.solid_count = 2;
  c.def.fluid.viscosity = 0.05;
  c.def.fluid.pressure_tolerance = 1e-8;
  mac_case_start(&c);
  mac_case_run(&c, 6, 0.64 / n);
  mn_mac_view v = mn_mac_look(&c.fluid);
  double A = -OMEGA * INNER * INNER / (OUTER * OUTER - INNER * INNER), B = -A * OUTER * OUTER,
         sum = 0;
  outcome r = {0};
  int count = 0;
  for (int a = 0; a < 2; a++)
    for (int j = 0; j < v.open[a].n[1]; j++)
      for (int i = 0; i < v.open[a].n[0]; i++) {
        mn_vec3 x = mn_sub(mn_position(&v.open[a], i, j, 0), centre);
        double d = mn_length(x);
        if (d < INNER || d > OUTER || !(mn_get(&v.open[a], i, j, 0) > 0))
          continue;
        double exact = (A + B / (d * d)) * (a == 0 ? -x.y : x.x);
        double e = fabs(mn_get(&v.velocity[a], i, j, 0) - exact);
        r.linf = check_worst(r.linf, e);
        sum += e * e;
        count++;
      }
  r.l2 = sqrt(sum / count);
  printf("n %3d: L2 %.3e, Linf %.3e (of %.2f)\n", n, r.l2, r.linf, OMEGA * INNER);
  mac_case_end(&c);
  return r;
}

static void test_profile(void **state)
{
  (void)state;
  double h[3], l2[3], linf[3];
  for (int i = 0; i < 3; i++) {
    int n = 24 << i;
    outcome r = run(n, 1);
    h[i] = 1.0 / n;
    l2[i] = r.l2;
    linf[i] = r.linf;
  }
  CHECK_ORDER(h, l2, 3, 1.5, 0.1);
  CHECK_LE(l2[2], 0.001 * OMEGA * INNER);
  CHECK_LE(linf[2], 0.015 * OMEGA * INNER);
  CHECK_DONE();
}

static void test_control_slip(void **state)
{
  (void)state;
  CHECK_LE(run(24, 0).l2, 0.05 * OMEGA * INNER);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_profile),
      cmocka_unit_test(test_control_slip),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
