/* Taylor-Green vortices in a free-slip box [0, pi]^2: an exact solution of the Navier-Stokes
   equations,

       u = sin x cos y e^(-2 nu t),   v = -cos x sin y e^(-2 nu t),   KE(1)/KE(0) = e^(-4 nu).

   Tells whether advection, projection and viscosity work together at second order in space and
   time. */
#include "mac_case.h"

#include <math.h>
#include <stdio.h>

static double viscosity; /* of the case at hand */

static mn_vec3 exact(mn_vec3 x, double t)
{
  double decay = exp(-2 * viscosity * t);
  return mn_v3(sin(x.x) * cos(x.y) * decay, -cos(x.x) * sin(x.y) * decay, 0);
}

static mn_status initial(void *user, mn_vec3 x, mn_vec3 *value)
{
  (void)user;
  *value = exact(x, 0);
  return MN_OK;
}

typedef struct outcome {
  double h, energy_error, l2, linf, numerical_viscosity, divergence;
} outcome;

static outcome run(int n, mn_advection advection, int order, int project)
{
  mac_case c;
  mac_case_begin(&c, 2, mn_v3(MN_PI, MN_PI, 0), n);
  c.def.fluid.viscosity = viscosity;
  c.def.fluid.advection = advection;
  c.def.fluid.order = order;
  c.def.fluid.project = project;
  c.def.fluid.initial_velocity.eval = initial;
  mac_case_start(&c);
  outcome r = {.h = MN_PI / n};
  double before = mn_mac_measure(&c.fluid).kinetic_energy;
  mac_case_run(&c, 1, 0.5 * r.h);
  double ratio = mn_mac_measure(&c.fluid).kinetic_energy / before;
  r.energy_error = fabs(ratio / exp(-4 * viscosity) - 1);
  r.numerical_viscosity = -log(ratio) / 4 - viscosity;
  r.divergence = c.worst_divergence;
  mac_case_error(&c, exact, &r.l2, &r.linf);
  printf("n %3d  KE error %.3e  L2 %.3e  Linf %.3e  div %.1e\n", n, r.energy_error, r.l2, r.linf,
         r.divergence);
  mac_case_end(&c);
  return r;
}

static void check_scheme(double nu, mn_advection advection, double order)
{
  static const int SIZES[] = {32, 64, 128};
  viscosity = nu;
  double h[3], energy[3], l2[3], linf[3], wasted[3];
  for (int i = 0; i < 3; i++) {
    outcome r = run(SIZES[i], advection, 2, 1);
    h[i] = r.h;
    energy[i] = r.energy_error;
    l2[i] = r.l2;
    linf[i] = r.linf;
    wasted[i] = fabs(r.numerical_viscosity);
    CHECK_LE(r.divergence, 1e-8);
  }
  int bound_at = order > 1 ? 1 : 2;
  double bound = order > 1 ? 0.01 : 0.05;
  CHECK_LE(energy[bound_at], bound);
  CHECK_LE(l2[bound_at], bound);
  CHECK_LE(linf[bound_at], bound);
  CHECK_ORDER(h, energy, 3, order, 0);
  CHECK_ORDER(h, l2, 3, order, 0);
  if (nu == 0)
    CHECK_ORDER(h, wasted, 3, order, 0);
}

static void test_maccormack(void **state)
{
  (void)state;
  check_scheme(0.05, MN_ADVECT_MACCORMACK, 1.8);
  check_scheme(0, MN_ADVECT_MACCORMACK, 1.8);
  CHECK_DONE();
}

static void test_semi_lagrangian(void **state)
{
  (void)state;
  check_scheme(0.05, MN_ADVECT_SEMILAGRANGIAN, 0.9);
  check_scheme(0, MN_ADVECT_SEMILAGRANGIAN, 0.9);
  CHECK_DONE();
}

static void test_control_without_projection(void **state)
{
  (void)state;
  viscosity = 0.05;
  outcome r = run(64, MN_ADVECT_MACCORMACK, 2, 0);
  CHECK_LE(r.energy_error, 0.01);
  CHECK_LE(r.divergence, 1e-8);
  CHECK_MUST_HAVE_FAILED();
}

/* Splitting alone wastes energy like a viscosity of dt/8. */
static void test_control_first_order_in_time(void **state)
{
  (void)state;
  viscosity = 0;
  outcome r = run(64, MN_ADVECT_MACCORMACK, 1, 1);
  CHECK_NEAR(r.numerical_viscosity, r.h / 16, 0.3 * r.h / 16);
  CHECK_DONE();
  CHECK_LE(r.energy_error, 0.01);
  CHECK_MUST_HAVE_FAILED();
}

static mn_status tangle(void *user, mn_vec3 x, mn_vec3 *value)
{
  (void)user;
  *value = mn_v3(sin(x.x) * cos(x.y) + 0.3 * sin(3 * x.x + 1) * cos(2 * x.y),
                 -cos(x.x) * sin(x.y) + 0.2 * sin(2 * x.x) * sin(4 * x.y), 0);
  return MN_OK;
}

/* Vortices without viscosity: the energy never exceeds that of the start, whatever the step, and
   hardly falls. */
static void test_energy_stays_below_the_start(void **state)
{
  (void)state;
  static const double CFL[] = {1, 6}, LOSS[] = {0.005, 0.15};
  for (int i = 0; i < 2; i++) {
    mac_case c;
    mac_case_begin(&c, 2, mn_v3(MN_PI, MN_PI, 0), 48);
    c.def.fluid.initial_velocity.eval = tangle;
    c.def.fluid.cfl = CFL[i];
    mac_case_start(&c);
    double start = mn_mac_measure(&c.fluid).kinetic_energy, now = start, growth = 0;
    for (int second = 1; second <= 10; second++) {
      mac_case_run_cfl(&c, second);
      now = mn_mac_measure(&c.fluid).kinetic_energy;
      growth = check_worst(growth, now / start - 1);
    }
    CHECK_LE(growth, 1e-9);
    CHECK_LE(1 - now / start, LOSS[i]);
    mac_case_end(&c);
  }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_maccormack),
      cmocka_unit_test(test_semi_lagrangian),
      cmocka_unit_test(test_energy_stays_below_the_start),
      cmocka_unit_test(test_control_without_projection),
      cmocka_unit_test(test_control_first_order_in_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
