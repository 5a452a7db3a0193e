/* Users' mistakes and solvers that fail: a status, a sentence that says which and where, and
   everything as it was before. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "rmi_case.h"

enum { N = 8 };

static mn_rmi_def good_def(void)
{
  mn_rmi_def def = mn_rmi_def_default();
  def.x_size = def.p_size = N;
  def.tolerance = 1e-6;
  return def;
}

#define REFUSED(change, words)                                                                     \
  do {                                                                                             \
    mn_rmi_def def = good_def();                                                                   \
    change;                                                                                        \
    CHECK_FAILS(ctx, mn_rmi_create(ctx, &def, &rmi), MN_BAD_INPUT, words);                         \
    CHECK(rmi == NULL);                                                                            \
  } while (0)

static void test_def(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_rmi *rmi = (mn_rmi *)ctx;
  double weight[N] = {1, 1, 1, -1, 1, 1, 1, 1};
  REFUSED(def.x_size = 0, "x_size is 0");
  REFUSED(def.p_size = 0, "p_size 0");
  REFUSED(def.tolerance = 0, "tolerance is 0");
  REFUSED(def.tolerance = NAN, "tolerance is nan");
  REFUSED(def.method = (mn_rmi_method)7, "method is 7");
  REFUSED(def.max_iterations = 0, "max_iterations is 0; it must be from 1");
  REFUSED(def.least_iterations = 31, "least_iterations is 31; it must be from 1 to 30");
  REFUSED(def.predictor = 3, "predictor is 3");
  REFUSED(def.reuse = -1, "reuse is -1");
  REFUSED(def.max_columns = 0, "max_columns is 0");
  REFUSED(def.filter = 1.5, "filter is 1.5; it must be from 0 to 1");
  REFUSED(def.filter_current = NAN, "filter_current is nan");
  REFUSED(def.omega = 3, "omega is 3");
  REFUSED((def.method = MN_RMI_RELAXED, def.omega = 0), "omega is 0; it must be above 0");
  REFUSED(def.columns = (mn_rmi_columns)9, "columns is 9");
  REFUSED(def.loads = (mn_rmi_loads)9, "loads is 9");
  REFUSED(def.dt_power = INFINITY, "dt_power is inf");
  REFUSED(def.x_weight = weight, "x_weight[3] is -1");
  REFUSED(def.p_weight = weight, "p_weight[3] is -1");
  CHECK_FAILS(ctx, mn_rmi_create(ctx, NULL, &rmi), MN_BAD_INPUT, "the def is missing");
  mn_rmi_def huge = good_def();
  huge.x_size = SIZE_MAX / 16;
  CHECK_FAILS(ctx, mn_rmi_create(ctx, &huge, &rmi), MN_ENVIRONMENT, "out of memory");
  CHECK(rmi == NULL);
  mn_rmi_destroy(&rmi);
  mn_rmi_destroy(NULL);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Solvers that go wrong in their `at`th call in the way of `how`. */
typedef struct bad {
  membrane m;
  int at, calls;
  enum { NOT_A_NUMBER, INFINITE, SHORT, LONG, STATUS, FINE } how;
} bad;

static mn_status bad_answer(bad *b, mn_status status, double *out)
{
  if (++b->calls != b->at)
    return status;
  switch (b->how) {
  case NOT_A_NUMBER:
    out[3] = NAN;
    break;
  case INFINITE:
    out[N - 1] = -INFINITY;
    break;
  case LONG:
    out[N] = 1;
    break;
  case STATUS:
    return MN_ENVIRONMENT;
  default:
    break;
  }
  return MN_OK;
}

static mn_status bad_fluid(void *user, const double *x, double *p)
{
  bad *b = user;
  double all[N];
  mn_status status = membrane_fluid(&b->m, x, all);
  memcpy(p, all, (b->how == SHORT && b->calls + 1 == b->at ? N - 2 : N) * sizeof(double));
  return bad_answer(b, status, p);
}

static mn_status bad_solid(void *user, const double *p, const double *x_at, double *x)
{
  bad *b = user;
  double all[N];
  mn_status status = membrane_solid(&b->m, p, x_at, all);
  memcpy(x, all, (b->how == SHORT && b->calls + 1 == b->at ? N - 2 : N) * sizeof(double));
  return bad_answer(b, status, x);
}

static uint64_t hash_of(mn_rmi *rmi)
{
  mn_array arrays[16];
  int count = mn_rmi_arrays(rmi, arrays, 16);
  uint64_t hash = 1469598103934665603u;
  for (int a = 0; a < count; a++) {
    size_t size = arrays[a].shape[0] * (arrays[a].rank > 1 ? arrays[a].shape[1] : 1) * 8;
    for (size_t i = 0; i < size; i++)
      hash = (hash ^ ((unsigned char *)arrays[a].data)[i]) * 1099511628211u;
  }
  return hash;
}

static void test_solvers(void **state)
{
  (void)state;
  static const struct {
    int at, how;
    mn_status status;
    const char *fluid, *solid;
  } list[] = {
      {1, NOT_A_NUMBER, MN_FAILED, "the fluid's solve 1 of the substep: p[3] of 8 is nan",
       "the solid's solve 1 of the substep: x[3] of 8 is nan"},
      {2, INFINITE, MN_FAILED, "the fluid's solve 2 of the substep: p[7] of 8 is -inf",
       "the solid's solve 2 of the substep: x[7] of 8 is -inf"},
      {2, SHORT, MN_FAILED, "the fluid's solve 2 of the substep did not write p[6] of 8",
       "the solid's solve 2 of the substep did not write x[6] of 8"},
      {2, LONG, MN_FAILED, "the fluid's solve 2 of the substep wrote beyond its 8 numbers of p",
       "the solid's solve 2 of the substep wrote beyond its 8 numbers of x"},
      {2, STATUS, MN_ENVIRONMENT, "the fluid's solve 2 of the substep failed with status 3",
       "the solid's solve 2 of the substep failed with status 3"},
  };
  mn_context *ctx = check_context(1);
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    for (int of_solid = 0; of_solid < 2; of_solid++) {
      static bad b, good;
      mn_rmi_def def = good_def();
      def.tolerance = 1e-10;
      mn_rmi *rmi;
      mn_rmi_report report;
      double x[N], p[N], before[N];
      b = (bad){.how = FINE};
      membrane_make(&b.m, N, N, 0.01, 0.01);
      CHECK_OK(ctx, mn_rmi_create(ctx, &def, &rmi));
      for (int step = 0; step < 2; step++) { /* some history first */
        CHECK_OK(ctx, mn_rmi_step(rmi, b.m.dt, b.m.x0, membrane_fluid, &b.m, membrane_solid, &b.m,
                                  x, p, &report));
        CHECK_OK(ctx, mn_rmi_accept(rmi));
        membrane_commit(&b.m, x);
      }
      good = b;
      b.at = list[i].at;
      b.how = list[i].how;
      uint64_t hash = hash_of(rmi);
      for (int j = 0; j < N; j++)
        before[j] = x[j] = 100 + j;
      CHECK_FAILS(ctx,
                  mn_rmi_step(rmi, b.m.dt, b.m.x0, of_solid ? membrane_fluid : bad_fluid,
                              of_solid ? (void *)&b.m : (void *)&b,
                              of_solid ? bad_solid : membrane_solid,
                              of_solid ? (void *)&b : (void *)&b.m, x, p, &report),
                  list[i].status, of_solid ? list[i].solid : list[i].fluid);
      CHECK(!memcmp(x, before, sizeof x));
      CHECK(hash_of(rmi) == hash);
      CHECK(report.reason != MN_CONVERGED);
      CHECK_FAILS(ctx, mn_rmi_accept(rmi), MN_BAD_INPUT, "no step to accept");
      /* and it goes on as if nothing had been */
      CHECK_OK(ctx, mn_rmi_step(rmi, good.m.dt, good.m.x0, membrane_fluid, &good.m, membrane_solid,
                                &good.m, x, p, &report));
      CHECK(report.reason == MN_CONVERGED);
      mn_rmi_destroy(&rmi);
    }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_calls(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  static membrane m;
  membrane_make(&m, N, N, 1, 0.01);
  mn_rmi_def def = good_def();
  def.max_iterations = 2;
  def.tolerance = 1e-12;
  mn_rmi *rmi;
  mn_rmi_report report;
  double x[N] = {0}, p[N];
  CHECK_OK(ctx, mn_rmi_create(ctx, &def, &rmi));
#define STEP(dt, start, fluid, solid, x, p)                                                        \
  mn_rmi_step(rmi, dt, start, fluid, &m, solid, &m, x, p, &report)
  CHECK_FAILS(ctx, STEP(0.01, NULL, membrane_fluid, membrane_solid, x, p), MN_BAD_INPUT,
              "x_start is missing");
  CHECK_FAILS(ctx, STEP(0.01, m.x0, NULL, membrane_solid, x, p), MN_BAD_INPUT,
              "the fluid is missing");
  CHECK_FAILS(ctx, STEP(0.01, m.x0, membrane_fluid, NULL, x, p), MN_BAD_INPUT,
              "the solid is missing");
  CHECK_FAILS(ctx, STEP(0.01, m.x0, membrane_fluid, membrane_solid, NULL, p), MN_BAD_INPUT,
              "x is missing");
  CHECK_FAILS(ctx, STEP(0.01, m.x0, membrane_fluid, membrane_solid, x, NULL), MN_BAD_INPUT,
              "p is missing");
  CHECK_FAILS(ctx, STEP(0.0, m.x0, membrane_fluid, membrane_solid, x, p), MN_BAD_INPUT, "dt is 0");
  CHECK_FAILS(ctx, STEP(NAN, m.x0, membrane_fluid, membrane_solid, x, p), MN_BAD_INPUT,
              "dt is nan");
  double start[N] = {0, 0, NAN};
  CHECK_FAILS(ctx, STEP(0.01, start, membrane_fluid, membrane_solid, x, p), MN_BAD_INPUT,
              "x_start[2] is nan");
  CHECK_FAILS(ctx, mn_rmi_accept(rmi), MN_BAD_INPUT, "no step to accept");
  mn_rmi_set_tolerance(rmi, NAN);
  CHECK_FAILS(ctx, STEP(0.01, m.x0, membrane_fluid, membrane_solid, x, p), MN_BAD_INPUT,
              "tolerance is nan");
  mn_rmi_set_tolerance(rmi, 1e-12);
  CHECK(m.fluid_solves == 0); /* nothing was tried */

  /* a step that met the limit is told, and not accepted in silence */
  CHECK_OK(ctx, STEP(0.01, m.x0, membrane_fluid, membrane_solid, x, p));
  CHECK(report.reason == MN_ITERATION_LIMIT);
  CHECK_FAILS(ctx, STEP(0.01, m.x0, membrane_fluid, membrane_solid, x, p), MN_BAD_INPUT,
              "neither accepted nor rejected");
  CHECK_FAILS(ctx, mn_rmi_accept(rmi), MN_FAILED, "did not converge (iteration limit after 2");
  mn_rmi_reject(rmi);
  CHECK_OK(ctx, STEP(0.01, m.x0, membrane_fluid, membrane_solid, x, p));

  /* counts that a damaged checkpoint could bring */
  mn_rmi_reject(rmi);
  mn_array arrays[16];
  mn_rmi_arrays(rmi, arrays, 16);
  ((int64_t *)arrays[0].data)[0] = 1000000;
  CHECK_FAILS(ctx, STEP(0.01, m.x0, membrane_fluid, membrane_solid, x, p), MN_BAD_INPUT,
              "1000000 and 0 columns");
  mn_rmi_reject(rmi); /* forgets them, and only them */
  CHECK_OK(ctx, STEP(0.01, m.x0, membrane_fluid, membrane_solid, x, p));
  mn_rmi_destroy(&rmi);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Every allocation fails once: told, and nothing is left behind (the sanitizers see that). */
static void test_memory(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  for (int kind = 0; kind < 3; kind++) {
    mn_rmi_def def = kind == 1 ? mn_rmi_def_published() : mn_rmi_def_default();
    mn_rmi *rmi = NULL;
    mn_status status = MN_ENVIRONMENT;
    int tries = 0;
    def.x_size = def.p_size = N;
    def.tolerance = 1;
    if (kind == 2) {
      def.method = MN_RMI_AITKEN;
      def.omega = 1;
    }
    for (; status != MN_OK && tries < 200; tries++) {
      ctx->fail_allocation = ctx->allocations + 1 + tries;
      status = mn_rmi_create(ctx, &def, &rmi);
      CHECK(status == MN_OK ? rmi != NULL : status == MN_ENVIRONMENT && rmi == NULL);
    }
    CHECK(status == MN_OK && tries > (kind == 2 ? 13 : 15));
    ctx->fail_allocation = 0;
    mn_rmi_destroy(&rmi);
  }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Solvers that jump, turn round and amplify by up to 1e200: whatever they answer, they are never
   asked about what is not a number, and every step ends with a reason. */
typedef struct wild {
  uint64_t seed;
  double gain;
  int asked_nonsense;
} wild;

static void wild_answer(wild *w, const double *in, double *out, double mix)
{
  for (int i = 0; i < N; i++) {
    w->asked_nonsense |= !isfinite(in[i]);
    double from = in[i] + mix * in[(i + 3) % N];
    out[i] = w->gain * (sin(from) + (from > 0.3 ? 1 : -0.5) + 0.1 * check_random(&w->seed));
  }
}

static mn_status wild_fluid(void *user, const double *x, double *p)
{
  wild_answer(user, x, p, -0.7);
  return MN_OK;
}

static mn_status wild_solid(void *user, const double *p, const double *x_at, double *x)
{
  (void)x_at;
  wild_answer(user, p, x, 2);
  return MN_OK;
}

static void test_wild(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  int reasons[5] = {0}, nonsense = 0, unsound = 0;
  for (int run = 0; run < 300; run++) {
    wild w = {.seed = (uint64_t)run + 1, .gain = pow(10, run % 10 == 9 ? 200 : run % 10 - 4)};
    mn_rmi_def def = run % 3 == 2 ? mn_rmi_def_published() : mn_rmi_def_default();
    mn_rmi *rmi;
    double x[N] = {0}, start[N] = {0}, p[N];
    def.x_size = def.p_size = N;
    def.tolerance = 1e-3;
    def.method = (mn_rmi_method)(run % 7 == 6 ? 0 : run % 7 == 5 ? 1 : 2);
    def.omega = def.method == MN_RMI_REDUCED ? def.omega : 0.3;
    CHECK_OK(ctx, mn_rmi_create(ctx, &def, &rmi));
    for (int step = 0; step < 6; step++) {
      mn_rmi_report report;
      CHECK_OK(ctx, mn_rmi_step(rmi, 0.1, start, wild_fluid, &w, wild_solid, &w, x, p, &report));
      reasons[report.reason]++;
      unsound |= report.reason == MN_CONVERGED && !(report.residual <= def.tolerance);
      if (report.reason != MN_CONVERGED || mn_rmi_accept(rmi) != MN_OK)
        mn_rmi_reject(rmi);
      for (int i = 0; i < N; i++)
        unsound |= !isfinite(x[i]);
    }
    nonsense |= w.asked_nonsense;
    mn_rmi_destroy(&rmi);
  }
  printf("%d converged, %d met the limit, %d diverged\n", reasons[MN_CONVERGED],
         reasons[MN_ITERATION_LIMIT], reasons[MN_DIVERGED]);
  CHECK(!nonsense);
  CHECK(!unsound);
  CHECK(reasons[MN_CONVERGED] > 0 && reasons[MN_ITERATION_LIMIT] > 0 && reasons[MN_DIVERGED] > 0);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_def), cmocka_unit_test(test_solvers),
                                     cmocka_unit_test(test_calls), cmocka_unit_test(test_memory),
                                     cmocka_unit_test(test_wild)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
