/* Linear pairs of solvers with many degrees of freedom against a dense solve of both at once: the
   same answer by every method, and no more modes than the fluid's answer has rank. */
#include "check.h"

#include <math.h>
#include <stdio.h>

#include "rmi_case.h"

typedef struct outcome {
  int steps, iterations, most, modes, capped;
  double error; /* worst of all substeps, against the dense solve of the same substep */
  double x[MEMBRANE_MAX];
  mn_rmi_report last;
} outcome;

static mn_rmi_def membrane_def(const membrane *m, double tolerance)
{
  mn_rmi_def def = mn_rmi_def_default();
  def.x_size = def.p_size = (size_t)m->n;
  def.tolerance = tolerance;
  return def;
}

/* Stops at the first substep that does not converge. */
static outcome run(mn_context *ctx, const mn_rmi_def *def, membrane m, int steps)
{
  outcome out = {0};
  mn_rmi *rmi;
  CHECK_OK(ctx, mn_rmi_create(ctx, def, &rmi));
  for (; out.steps < steps; out.steps++) {
    double x[MEMBRANE_MAX], p[MEMBRANE_MAX], both[MEMBRANE_MAX];
    CHECK_OK(ctx,
             mn_rmi_step(rmi, m.dt, m.x0, membrane_fluid, &m, membrane_solid, &m, x, p, &out.last));
    if (out.last.reason != MN_CONVERGED)
      break;
    membrane_together(&m, both);
    for (int i = 0; i < m.n; i++)
      out.error = check_worst(out.error, fabs(x[i] - both[i]));
    out.iterations += out.last.iterations;
    out.most = out.last.iterations > out.most ? out.last.iterations : out.most;
    out.modes = out.last.modes > out.modes ? out.last.modes : out.modes;
    CHECK_OK(ctx, mn_rmi_accept(rmi));
    membrane_commit(&m, x);
  }
  CHECK(m.fluid_solves >= out.iterations);
  for (int i = 0; i < m.n; i++)
    out.x[i] = m.x0[i];
  mn_rmi_destroy(&rmi);
  return out;
}

/* A fluid of rank r is known after r modes: one solve to start from, r for the modes, one at the
   answer; and as many from the start on as the rank when earlier substeps are remembered. */
static void test_rank(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  for (int rank = 1; rank <= 6; rank++) {
    int reuse = 0;
    for (int kind = 0; kind < 3; kind++) {
      membrane m;
      membrane_make(&m, 30, rank, 0.05, 0.01);
      mn_rmi_def def = membrane_def(&m, 1e-10);
      if (kind == 1)
        def.reuse = 0;
      if (kind == 2) {
        def = mn_rmi_def_published();
        def.x_size = def.p_size = 30;
        def.tolerance = 1e-9;
      }
      outcome out = run(ctx, &def, m, 20);
      printf("rank %d, %s: %.2f solves, %d at most, %d modes\n", rank,
             kind == 0   ? "reuse"
             : kind == 1 ? "no reuse"
                         : "published",
             out.iterations / 20.0, out.most, out.modes);
      CHECK(out.steps == 20);
      CHECK_LE(out.modes, rank + 1);
      CHECK_LE(out.most, rank + (kind == 2 ? 3 : 4)); /* the filter may waste one */
      CHECK_LE(out.error, def.tolerance);
      if (kind == 0)
        reuse = out.iterations;
      else
        CHECK_LE(reuse, 0.85 * out.iterations);
    }
  }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Every method solves the same equations: after 50 substeps they agree to what tolerances add up
 * to. */
static void test_agreement(void **state)
{
  (void)state;
  static const char *const name[] = {"dense",   "relaxed",   "aitken",
                                     "reduced", "published", "no reuse"};
  mn_context *ctx = check_context(1);
  membrane m;
  membrane_make(&m, 24, 24, 1, 0.01);
  membrane exact = m;
  for (int step = 0; step < 50; step++) {
    double x[MEMBRANE_MAX];
    membrane_together(&exact, x);
    membrane_commit(&exact, x);
  }
  double size = 0;
  for (int i = 0; i < m.n; i++)
    size = fmax(size, fabs(exact.x0[i]));
  for (int kind = 1; kind < 6; kind++) {
    mn_rmi_def def = kind == 4 ? mn_rmi_def_published() : mn_rmi_def_default();
    def.x_size = def.p_size = (size_t)m.n;
    def.tolerance = 1e-9 * size;
    def.max_iterations = 60;
    if (kind <= 2) {
      def.method = kind == 1 ? MN_RMI_RELAXED : MN_RMI_AITKEN;
      def.omega = 0.7;
    }
    if (kind == 5)
      def.reuse = 0;
    outcome out = run(ctx, &def, m, 50);
    double error = 0;
    for (int i = 0; i < m.n; i++)
      error = check_worst(error, fabs(out.x[i] - exact.x0[i]));
    printf("%s: %.2f iterations\n", name[kind], out.iterations / 50.0);
    CHECK(out.steps == 50);
    CHECK_LE(out.error, def.tolerance);
    CHECK_LE(error, 1e-6 * size);
  }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* x in other units in one half: with weights that undo it, the same iterations; without, others. */
typedef struct scaled {
  membrane m;
  double unit[MEMBRANE_MAX];
} scaled;

static mn_status scaled_fluid(void *user, const double *x, double *p)
{
  scaled *s = user;
  double y[MEMBRANE_MAX];
  for (int i = 0; i < s->m.n; i++)
    y[i] = x[i] / s->unit[i];
  mn_status status = membrane_fluid(&s->m, y, p);
  for (int i = 0; i < s->m.n; i++)
    p[i] /= s->unit[i];
  return status;
}

static mn_status scaled_solid(void *user, const double *p, const double *x_at, double *x)
{
  scaled *s = user;
  double q[MEMBRANE_MAX];
  for (int i = 0; i < s->m.n; i++)
    q[i] = p[i] * s->unit[i];
  mn_status status = membrane_solid(&s->m, q, x_at, x);
  for (int i = 0; i < s->m.n; i++)
    x[i] *= s->unit[i];
  return status;
}

static void test_weights(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  static scaled s;
  membrane_make(&s.m, 24, 24, 0.05, 0.01);
  membrane plain = s.m;
  double weight[MEMBRANE_MAX], x[MEMBRANE_MAX], p[MEMBRANE_MAX], y[MEMBRANE_MAX];
  for (int i = 0; i < s.m.n; i++) {
    s.unit[i] = i % 2 ? 1024 : 1; /* powers of two: the same digits */
    weight[i] = 1 / s.unit[i];
  }
  mn_rmi_def def = membrane_def(&plain, 1e-8);
  mn_rmi *rmi;
  mn_rmi_report report, other;
  CHECK_OK(ctx, mn_rmi_create(ctx, &def, &rmi));
  CHECK_OK(ctx, mn_rmi_step(rmi, plain.dt, plain.x0, membrane_fluid, &plain, membrane_solid, &plain,
                            y, p, &report));
  mn_rmi_destroy(&rmi);
  def.x_weight = weight;
  def.p_weight = s.unit;
  CHECK_OK(ctx, mn_rmi_create(ctx, &def, &rmi));
  CHECK_OK(ctx, mn_rmi_step(rmi, s.m.dt, s.m.x0, scaled_fluid, &s, scaled_solid, &s, x, p, &other));
  mn_rmi_destroy(&rmi);
  CHECK(other.iterations == report.iterations);
  double worst = 0;
  for (int i = 0; i < s.m.n; i++)
    worst = check_worst(worst, fabs(x[i] / s.unit[i] - y[i]));
  CHECK_LE(worst, 1e-15);
  def.x_weight = def.p_weight = NULL;
  CHECK_OK(ctx, mn_rmi_create(ctx, &def, &rmi));
  CHECK_OK(ctx, mn_rmi_step(rmi, s.m.dt, s.m.x0, scaled_fluid, &s, scaled_solid, &s, x, p, &other));
  CHECK(other.iterations > report.iterations); /* the control: weights do something */
  mn_rmi_destroy(&rmi);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Light solids: added mass over mass from 1 to 1000. Published and with reuse, averages over 100
   substeps at a tolerance of 4 % of the greatest motion per substep and at a tenth of it. */
static void test_mass_ratios(void **state)
{
  (void)state;
  static const struct {
    double M, tolerance, published, reuse; /* averages at most, of fluid solves */
  } list[] = {{1, 1e-3, 2.0, 2.0},    {1, 1e-4, 2.0, 2.0},    {0.1, 1e-3, 4.3, 2.0},
              {0.1, 1e-4, 5.6, 2.1},  {0.01, 1e-3, 8.7, 2.1}, {0.01, 1e-4, 10, 2.4},
              {0.001, 1e-3, 15, 2.1}, {0.001, 1e-4, 16, 2.6}};
  mn_context *ctx = check_context(1);
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    membrane m;
    membrane_make(&m, 40, 40, list[i].M, 0.01);
    mn_rmi_def def = membrane_def(&m, list[i].tolerance);
    outcome reuse = run(ctx, &def, m, 100);
    membrane heavy = m;
    heavy.fictitious = 0.5 * m.added_mass;
    membrane_set_dt(&heavy, m.dt);
    outcome calm = run(ctx, &def, heavy, 100);
    def = mn_rmi_def_published();
    def.x_size = def.p_size = (size_t)m.n;
    def.tolerance = list[i].tolerance;
    outcome published = run(ctx, &def, m, 100);
    printf("M %g, tolerance %g: published %.2f, with reuse %.2f, and fictitious mass %.2f\n",
           list[i].M, list[i].tolerance, published.iterations / 100.0, reuse.iterations / 100.0,
           calm.iterations / 100.0);
    CHECK(reuse.steps == 100 && published.steps == 100 && calm.steps == 100);
    CHECK_LE(calm.iterations / 100.0, 2.02);
    CHECK_LE(calm.error, 3 * list[i].tolerance); /* short waves: mu < 0 hides some */
    CHECK_LE(reuse.iterations / 100.0, list[i].reuse);
    CHECK_LE(published.iterations / 100.0, list[i].published);
    CHECK_LE(reuse.iterations, published.iterations);
    CHECK_LE(reuse.error, list[i].tolerance);
  }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rank), cmocka_unit_test(test_agreement),
                                     cmocka_unit_test(test_weights),
                                     cmocka_unit_test(test_mass_ratios)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
