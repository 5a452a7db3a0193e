/* The partitioned iteration on one degree of freedom, where everything is known: a mass on a spring
   that pushes a column of incompressible fluid (implicit Euler),

     F(x) = -m_a (x - x_free) / dt^2        S(p) = (M x_free + p dt^2 + ...) / (M + k dt^2)

   so that S(F(x)) - x* = -mu (x - x*), mu = m_a / (M + k dt^2): a relaxed error shrinks by exactly
   1 - omega (1 + mu) in each iteration. */
#include "check.h"

#include <math.h>
#include <stdio.h>

typedef struct piston {
  double M, k, m_a, dt;
  double x0, v0; /* at the start of the substep */
  int fluid_solves, solid_solves;
} piston;

/* p = -m_a (v - v0)/dt */
static mn_status column(void *user, const double *x, double *p)
{
  piston *s = user;
  s->fluid_solves++;
  *p = -s->m_a * ((x[0] - s->x0) / s->dt - s->v0) / s->dt;
  return MN_OK;
}

/* M (v - v0)/dt + k x = p, x = x0 + dt v */
static mn_status spring(void *user, const double *p, const double *x_at, double *x)
{
  piston *s = user;
  (void)x_at;
  s->solid_solves++;
  double free = s->x0 + s->dt * s->v0;
  *x = (s->M * free + s->dt * s->dt * *p) / (s->M + s->k * s->dt * s->dt);
  return MN_OK;
}

/* Both at once. */
static double together(const piston *s)
{
  double free = s->x0 + s->dt * s->v0, m = s->M + s->m_a;
  return m * free / (m + s->k * s->dt * s->dt);
}

static mn_rmi_def piston_def(mn_rmi_method method, double omega, double tolerance)
{
  mn_rmi_def def = mn_rmi_def_default();
  def.x_size = def.p_size = 1;
  def.method = method;
  def.omega = omega;
  def.tolerance = tolerance;
  return def;
}

static mn_rmi_report solve(mn_context *ctx, const mn_rmi_def *def, piston *s, double *x,
                           double *residual, int *count)
{
  mn_rmi *rmi;
  mn_rmi_report report;
  double p = 0;
  CHECK_OK(ctx, mn_rmi_create(ctx, def, &rmi));
  CHECK_OK(ctx, mn_rmi_step(rmi, s->dt, &s->x0, column, s, spring, s, x, &p, &report));
  const double *all = mn_rmi_residuals(rmi, count);
  for (int i = 0; i < *count; i++)
    residual[i] = all[i];
  mn_rmi_destroy(&rmi);
  return report;
}

static void test_contraction(void **state)
{
  (void)state;
  static const struct {
    double M, k, m_a, dt, omega, factor;
  } list[] = {{2, 0, 1, 1, 1, 0.5},
              {1, 0, 10, 1, 0.1, 0.1},
              {1, 0, 10, 1, 0.05, 0.45},
              {1, 0, 10, 1, 0.2, 1.2},
              {1, 0, 10, 1, 1, 10},
              {1, 1e4, 10, 0.01, 0.2, 0.2},
              {1, 0, 1e4, 1, 1.5e-4, 0.50015},
              {1, 0, 1e4, 1, 1e-5, 0.89999}};
  mn_context *ctx = check_context(1);
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    piston s = {list[i].M, list[i].k, list[i].m_a, list[i].dt, .x0 = 0.01, .v0 = 1};
    mn_rmi_def def = piston_def(MN_RMI_RELAXED, list[i].omega, 1e-12);
    double x = 7, r[30];
    int count;
    mn_rmi_report report = solve(ctx, &def, &s, &x, r, &count);
    double worst = 0;
    for (int k = 1; k < count && r[k] > 1e-8; k++)
      worst = check_worst(worst, fabs(r[k] / r[k - 1] - list[i].factor));
    printf("omega %g, factor %g:\n", list[i].omega, list[i].factor);
    CHECK_LE(worst, 1e-3);
    CHECK(s.fluid_solves == report.fluid_solves && s.solid_solves == report.solid_solves);
    CHECK_NEAR(report.mu, list[i].m_a / (list[i].M + list[i].k * list[i].dt * list[i].dt),
               1e-6 * 1e4);
    if (list[i].factor > 1) {
      CHECK(report.reason == MN_DIVERGED);
      CHECK_NEAR(x, 7, 0);                          /* untouched */
      CHECK_LE(count, list[i].factor > 2 ? 5 : 30); /* told as soon as it is plain */
    } else if (report.reason == MN_CONVERGED) {
      CHECK_NEAR(x, together(&s), 1e-12 * 2e4);
    } else {
      CHECK(report.reason == MN_ITERATION_LIMIT);
    }
  }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* omega = 1/(1 + mu) hits at once; Aitken finds it after one try. */
static void test_best_omega(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  for (double mu = 0.01; mu < 2e4; mu *= 10) {
    piston s = {1, 0, mu, 1, .x0 = 0.01, .v0 = 1};
    double x = 0, r[30];
    int count;
    mn_rmi_def def = piston_def(MN_RMI_RELAXED, 1 / (1 + mu), 1e-9);
    mn_rmi_report report = solve(ctx, &def, &s, &x, r, &count);
    CHECK(report.reason == MN_CONVERGED);
    CHECK_LE(report.fluid_solves, 2);
    CHECK_NEAR(x, together(&s), 1e-9);
    def = piston_def(MN_RMI_AITKEN, 0.5, 1e-9);
    report = solve(ctx, &def, &s, &x, r, &count);
    CHECK(report.reason == MN_CONVERGED);
    CHECK_LE(report.fluid_solves, 4);
    CHECK_NEAR(x, together(&s), 1e-9);
  }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* One mode is all there is: three fluid solves whatever mu, and two once a substep has taught it.
 */
static void test_one_mode(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  for (double mu = 0.01; mu < 2e4; mu *= 10) {
    piston s = {1, 0.5, mu, 1, .x0 = 0.01, .v0 = 1};
    mn_rmi_def def = piston_def(MN_RMI_REDUCED, 0, 1e-9);
    mn_rmi *rmi;
    CHECK_OK(ctx, mn_rmi_create(ctx, &def, &rmi));
    for (int step = 0; step < 20; step++) {
      mn_rmi_report report;
      double x, p, expected = together(&s);
      CHECK_OK(ctx, mn_rmi_step(rmi, s.dt, &s.x0, column, &s, spring, &s, &x, &p, &report));
      CHECK(report.reason == MN_CONVERGED);
      CHECK_LE(report.fluid_solves, step == 0 ? 3 : 2);
      CHECK_LE(report.modes, 1);
      CHECK_LE(fabs(x - expected), 1e-9);
      CHECK_OK(ctx, mn_rmi_accept(rmi));
      s.v0 = (x - s.x0) / s.dt;
      s.x0 = x;
    }
    mn_rmi_destroy(&rmi);
    def = mn_rmi_def_published();
    def.x_size = def.p_size = 1;
    def.tolerance =
        1e-8 * (1 + mu); /* its second solve is mu errors away, with mu times the rounding */
    double x, r[30];
    int count;
    mn_rmi_report report = solve(ctx, &def, &s, &x, r, &count);
    CHECK(report.reason == MN_CONVERGED);
    CHECK_LE(report.fluid_solves, 3);
    CHECK_LE(fabs(x - together(&s)), def.tolerance);
  }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Constant velocity, acceleration: predictors of order 1 and 2 are exact, also with changing dt. */
static mn_status still(void *user, const double *x, double *p)
{
  (void)user, (void)x;
  *p = 0;
  return MN_OK;
}

static mn_status follow(void *user, const double *p, const double *x_at, double *x)
{
  (void)p, (void)x_at;
  *x = *(double *)user;
  return MN_OK;
}

static void test_predictors(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  for (int order = 0; order <= 2; order++)
    for (int power = 0; power <= 2; power++) {
      mn_rmi_def def = piston_def(MN_RMI_REDUCED, 0, 1e-3);
      def.predictor = order;
      mn_rmi *rmi;
      double t = 0, x = 3;
      mn_rmi_report report = {0};
      CHECK_OK(ctx, mn_rmi_create(ctx, &def, &rmi));
      for (int step = 0; step < 5; step++) {
        double dt = 0.1 + 0.05 * (step % 3), start = x, p, to = 3 + pow(t + dt, power);
        CHECK_OK(ctx, mn_rmi_step(rmi, dt, &start, still, NULL, follow, &to, &x, &p, &report));
        CHECK_OK(ctx, mn_rmi_accept(rmi));
        t += dt;
      }
      if (power == 0 || power <= order)
        CHECK_LE(report.first_residual, 1e-14);
      else
        CHECK_GE(report.first_residual, 1e-2 * (power == 2 ? 1 : 10));
      mn_rmi_destroy(&rmi);
    }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_contraction), cmocka_unit_test(test_best_omega),
      cmocka_unit_test(test_one_mode), cmocka_unit_test(test_predictors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
