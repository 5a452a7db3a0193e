/* What an object remembers: columns of earlier substeps, of other lengths; what it forgets when
   told; checkpoints that go on with the same bits; objects that do not disturb each other; a start
   from rest. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "couple/rmi_model.h"
#include "couple/rmi_tune.h"
#include "rmi_case.h"

enum { N = 40 };

static mn_rmi *make(mn_context *ctx, mn_rmi_def def, double tolerance)
{
  mn_rmi *rmi;
  def.x_size = def.p_size = N;
  def.tolerance = tolerance;
  CHECK_OK(ctx, mn_rmi_create(ctx, &def, &rmi));
  return rmi;
}

static mn_rmi_report advance(mn_context *ctx, mn_rmi *rmi, membrane *m)
{
  mn_rmi_report report;
  double x[N], p[N];
  CHECK_OK(ctx,
           mn_rmi_step(rmi, m->dt, m->x0, membrane_fluid, m, membrane_solid, m, x, p, &report));
  if (report.reason != MN_CONVERGED) {
    mn_rmi_reject(rmi);
    return report;
  }
  CHECK_OK(ctx, mn_rmi_accept(rmi));
  membrane_commit(m, x);
  return report;
}

/* Fluid solves of 60 substeps; -1: one did not converge. */
static int total(mn_context *ctx, mn_rmi_def def, double tolerance, membrane m, int change_dt)
{
  mn_rmi *rmi = make(ctx, def, tolerance);
  int sum = 0;
  for (int step = 0; step < 60; step++) {
    if (change_dt)
      membrane_set_dt(&m, step % 3 ? 0.01 : 0.004);
    mn_rmi_report report = advance(ctx, rmi, &m);
    if (report.reason != MN_CONVERGED) {
      sum = -1;
      break;
    }
    sum += report.iterations;
  }
  mn_rmi_destroy(&rmi);
  return sum;
}

/* Longer memory, fewer solves; and steps of changing length with columns scaled like loads of
   inertia, against the control that does not scale them. */
static void test_reuse(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  static membrane m;
  membrane_make(&m, N, N, 0.02, 0.01);
  mn_rmi_def def = mn_rmi_def_default();
  static const int reuse[] = {0, 2, 8, 20};
  int sum[4];
  for (int i = 0; i < 4; i++) {
    def.reuse = reuse[i];
    sum[i] = total(ctx, def, 1e-6, m, 0);
    printf("reuse of %d substeps: %.2f solves\n", reuse[i], sum[i] / 60.0);
    CHECK_GE(sum[i], 0);
    if (i)
      CHECK_LE(sum[i], 0.95 * sum[i - 1]);
  }
  m.tension = 0; /* inertia alone, where the scaling is exact */
  memset(m.K, 0, sizeof m.K);
  membrane_set_dt(&m, 0.01);
  def = mn_rmi_def_default();
  int right = total(ctx, def, 1e-6, m, 1);
  def.dt_power = 0;
  int wrong = total(ctx, def, 1e-6, m, 1);
  printf("changing dt: %.2f solves; without scaling %.2f\n", right / 60.0, wrong / 60.0);
  CHECK_GE(right, 0);
  CHECK(wrong < 0 || wrong >= 1.2 * right);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* A nonlinear fluid, solids of 2 to 10 % of its added mass: the filter is what makes reuse work. (One
   case alone is decided by rounding now and then.) */
static void test_filter(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  static const double mass[] = {0.002, 0.003, 0.005, 0.01};
  for (int i = 0; i < 4; i++) {
    static membrane m;
    membrane_make(&m, N, N, mass[i], 0.01);
    m.drag = 10;
    mn_rmi_def def = mn_rmi_def_default();
    int with = total(ctx, def, 1e-4, m, 0);
    def.filter = def.filter_current = 0;
    int without = total(ctx, def, 1e-4, m, 0);
    printf("filter: %.2f solves; without %.2f (negative: failed)\n", with / 60.0, without / 60.0);
    CHECK_GE(with, 0);
    CHECK(without < 0 || without > 1.5 * with);
  }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Written into another object half-way, the history goes on with the same bits; half of it does
 * not. */
static void test_checkpoint(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  static const mn_rmi_method method[] = {MN_RMI_REDUCED, MN_RMI_AITKEN, MN_RMI_RELAXED};
  for (int i = 0; i < 3; i++)
    for (int damaged = 0; damaged < (i == 0 ? 2 : 1); damaged++) {
      static membrane m, resumed;
      membrane_make(&m, N, N, i == 0 ? 0.01 : 1, 0.01);
      m.drag = 1;
      mn_rmi_def def = mn_rmi_def_default();
      def.method = method[i];
      def.omega = i == 0 ? 0 : 0.5;
      def.predictor = 2;
      mn_rmi *rmi = make(ctx, def, 1e-7), *other = make(ctx, def, 1e-7);
      for (int step = 0; step < 12; step++)
        advance(ctx, rmi, &m);
      mn_array from[16], to[16];
      int count = mn_rmi_arrays(rmi, from, 16);
      CHECK(mn_rmi_arrays(other, to, 16) == count && count <= 16);
      for (int a = 0; a < count - damaged * 6; a++) {
        size_t size = from[a].shape[0] * (from[a].rank > 1 ? from[a].shape[1] : 1);
        CHECK(!strcmp(from[a].name, to[a].name) && from[a].shape[0] == to[a].shape[0]);
        memcpy(to[a].data, from[a].data, 8 * size);
      }
      resumed = m;
      int same = 1, solves = 0;
      for (int step = 0; step < 12; step++) {
        membrane_set_dt(&m, step % 2 ? 0.01 : 0.007);
        membrane_set_dt(&resumed, m.dt);
        solves += advance(ctx, rmi, &m).iterations - advance(ctx, other, &resumed).iterations;
        same &= !memcmp(m.x0, resumed.x0, sizeof m.x0);
      }
      CHECK(damaged ? !same : same && solves == 0);
      mn_rmi_destroy(&rmi);
      mn_rmi_destroy(&other);
    }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Inner products, kept up to date column by column, against products of all columns anew: after
   substeps of changing length, a failed one, and more columns than there is room for. */
static double product_error(const double *kept, size_t ld, size_t n, const double *a, int64_t rows,
                            const double *b, int64_t cols)
{
  double worst = 0;
  for (size_t i = 0; i < ld; i++)
    for (size_t j = 0; j < ld; j++) {
      double sum = 0, size_a = 0, size_b = 0;
      if (i < (size_t)rows && j < (size_t)cols)
        for (size_t l = 0; l < n; l++) {
          sum += a[i * n + l] * b[j * n + l];
          size_a += a[i * n + l] * a[i * n + l];
          size_b += b[j * n + l] * b[j * n + l];
        }
      double error = fabs(kept[i + j * ld] - sum), size = sqrt(size_a * size_b);
      worst = check_worst(worst, size > 0 ? error / size : error);
    }
  return worst;
}

static void test_products(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  static membrane m;
  double x_weight[N], p_weight[N];
  membrane_make(&m, N, N, 0.01, 0.01);
  m.drag = 1;
  mn_rmi_def def = mn_rmi_def_default();
  for (int i = 0; i < N; i++) {
    x_weight[i] = 1 + i % 3;
    p_weight[i] = 1.0 / (1 + i % 5);
  }
  def.x_weight = x_weight;
  def.p_weight = p_weight;
  def.max_columns = 20;
  def.filter = 0; /* else few would stay */
  mn_rmi *rmi = make(ctx, def, 1e-7);
  double worst = 0;
  int full = 0;
  for (int step = 0; step < 25; step++) {
    membrane_set_dt(&m, step % 3 ? 0.01 : 0.006);
    if (step == 12) { /* fails half-way */
      double x[N], p[N];
      m.break_at = m.fluid_solves + 3;
      CHECK_FAILS(ctx,
                  mn_rmi_step(rmi, m.dt, m.x0, membrane_fluid, &m, membrane_solid, &m, x, p, NULL),
                  MN_FAILED, "is nan");
      m.break_at = 0;
    }
    advance(ctx, rmi, &m);
    const mn_rmi_pairs *f = &rmi->fluid, *s = &rmi->solid;
    const mn_rmi_products *q = &rmi->products;
    int64_t nf = *f->count, ns = *s->count;
    full += nf == 20;
    worst = check_worst(worst, product_error(q->ff, q->ld, N, f->in, nf, f->in, nf));
    worst = check_worst(worst, product_error(q->ss, q->ld, N, s->in, ns, s->in, ns));
    worst = check_worst(worst, product_error(q->fs, q->ld, N, f->in, nf, s->out, ns));
    worst = check_worst(worst, product_error(q->sf, q->ld, N, s->in, ns, f->out, nf));
  }
  CHECK_GE(full, 5);
  CHECK_LE(worst, 1e-14);
  mn_rmi_destroy(&rmi);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* More iterations in a substep than columns have room: the oldest go, the products of the others
   are those of the columns. */
static void test_long_substep(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  static membrane m;
  membrane_make(&m, N, N, 0.01, 0.01);
  m.drag = 1;
  mn_rmi_def def = mn_rmi_def_default();
  def.max_columns = 2;
  def.max_iterations = 10000;
  def.filter = 0;
  mn_rmi *rmi = make(ctx, def, 1e-7);
  int most = 0;
  double worst = 0;
  for (int step = 0; step < 5; step++) {
    most = (int)fmax(most, advance(ctx, rmi, &m).iterations);
    const mn_rmi_pairs *f = &rmi->fluid, *s = &rmi->solid;
    const mn_rmi_products *q = &rmi->products;
    int64_t of_f = mn_rmi_columns_first(rmi, f), of_s = mn_rmi_columns_first(rmi, s);
    CHECK(of_f == 0 || of_f < MN_RMI_IDLE_COLUMNS);
    CHECK(of_s == 0 || of_s < MN_RMI_IDLE_COLUMNS);
    for (int64_t i = of_f; i < *f->count; i++)
      for (int64_t j = of_f; j < *f->count; j++) {
        double sum = 0, size = 0;
        for (size_t l = 0; l < N; l++) {
          sum += f->in[(size_t)i * N + l] * f->in[(size_t)j * N + l];
          size += fabs(f->in[(size_t)i * N + l] * f->in[(size_t)j * N + l]);
        }
        worst = check_worst(worst, fabs(q->ff[(size_t)i + (size_t)j * q->ld] - sum) / size);
      }
  }
  printf("at most %d iterations\n", most);
  CHECK_GE(most, rmi->fluid.capacity + 1);
  CHECK_LE(worst, 1e-13);
  mn_rmi_destroy(&rmi);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Error of an inner product, over the sizes of its terms. */
static double wrong_by(double product, const double *a, const double *b)
{
  double sum = 0, size = 0;
  for (int i = 0; i < N; i++) {
    sum += a[i] * b[i];
    size += fabs(a[i] * b[i]);
  }
  return fabs(product - sum) / size;
}

/* A membrane that is lent a mass half-way. Columns of both solvers from then on, which were learned
   without it, must be what the solvers would have answered with it. The greatest error of these,
   and the solves of the next five substeps. */
static double lend(mn_context *ctx, int shifts, int *solves)
{
  static membrane m, with;
  double rate[N], worst = 0;
  membrane_make(&m, N, N, 0.01, 0.01);
  mn_rmi *rmi = make(ctx, mn_rmi_def_default(), 1e-7);
  for (int step = 0; step < 20; step++)
    advance(ctx, rmi, &m);
  m.fictitious = 0.3;
  membrane_set_dt(&m, m.dt);
  for (int i = 0; i < N; i++)
    rate[i] = m.fictitious / (m.dt * m.dt);
  if (shifts)
    mn_rmi_shift_loads(rmi, rate);
  const mn_rmi_pairs *f = &rmi->fluid, *s = &rmi->solid;
  CHECK_GE((double)*f->count, 5);
  with = m;
  int64_t of_f = mn_rmi_columns_first(rmi, f), of_s = mn_rmi_columns_first(rmi, s); /* in use */
  for (int64_t c = of_f; c < *f->count; c++) { /* p of the columns' x, less that of none */
    double x[N], p[N], none[N], size = 0, error = 0;
    for (int i = 0; i < N; i++)
      x[i] = m.x0[i] + f->in[c * N + i];
    CHECK_OK(ctx, membrane_fluid(&with, x, p));
    CHECK_OK(ctx, membrane_fluid(&with, m.x0, none));
    for (int i = 0; i < N; i++) {
      size = fmax(size, fabs(p[i] - none[i]));
      error = check_worst(error, fabs(p[i] - none[i] - f->out[c * N + i]));
    }
    worst = check_worst(worst, error / size);
  }
  for (int64_t c = of_s; c < *s->count; c++) { /* x of the columns' p, less that of none */
    double x[N], none[N], zero[N] = {0}, size = 0, error = 0;
    CHECK_OK(ctx, membrane_solid(&with, s->in + c * N, m.x0, x));
    CHECK_OK(ctx, membrane_solid(&with, zero, m.x0, none));
    for (int i = 0; i < N; i++) {
      size = fmax(size, fabs(x[i] - none[i]));
      error = check_worst(error, fabs(x[i] - none[i] - s->out[c * N + i]));
    }
    worst = check_worst(worst, error / size);
  }
  const mn_rmi_products *q = &rmi->products;
  double products = 0;
  for (int64_t i = of_s; i < *s->count; i++) {
    for (int64_t j = of_s; j < *s->count; j++)
      products = check_worst(products,
                             wrong_by(q->ss[i + j * (int64_t)q->ld], s->in + i * N, s->in + j * N));
    for (int64_t j = of_f; j < *f->count; j++)
      products = check_worst(
          products, wrong_by(q->sf[i + j * (int64_t)q->ld], s->in + i * N, f->out + j * N));
  }
  CHECK_LE(products, 1e-14);
  *solves = 0;
  for (int step = 0; step < 5; step++)
    *solves += advance(ctx, rmi, &m).iterations;
  printf("%s: columns wrong by %.1e, %d solves in five substeps\n", shifts ? "shifted" : "kept",
         worst, *solves);
  mn_rmi_destroy(&rmi);
  return worst;
}

static void test_shift(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  int solves, kept;
  CHECK_LE(lend(ctx, 1, &solves), 1e-6);
  CHECK_DONE();
  CHECK_LE(lend(ctx, 0, &kept), 1e-6);
  CHECK_LE(kept, solves);
  CHECK_MUST_HAVE_FAILED();
  mn_context_destroy(&ctx);
}

/* Two couplings in turn, of different sizes and kinds: each as if alone. */
static void test_two(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  static membrane a, b, alone_a, alone_b;
  membrane_make(&a, N, N, 0.01, 0.01);
  membrane_make(&b, N, 5, 0.1, 0.02);
  alone_a = a;
  alone_b = b;
  mn_rmi *one = make(ctx, mn_rmi_def_default(), 1e-6),
         *two = make(ctx, mn_rmi_def_published(), 1e-5);
  mn_rmi *first = make(ctx, mn_rmi_def_default(), 1e-6),
         *second = make(ctx, mn_rmi_def_published(), 1e-5);
  for (int step = 0; step < 15; step++) {
    advance(ctx, one, &a);
    advance(ctx, two, &b);
  }
  for (int step = 0; step < 15; step++)
    advance(ctx, first, &alone_a);
  for (int step = 0; step < 15; step++)
    advance(ctx, second, &alone_b);
  CHECK(!memcmp(a.x0, alone_a.x0, sizeof a.x0));
  CHECK(!memcmp(b.x0, alone_b.x0, sizeof b.x0));
  mn_rmi_destroy(&one);
  mn_rmi_destroy(&two);
  mn_rmi_destroy(&first);
  mn_rmi_destroy(&second);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* From rest, with nothing to do, nothing happens: no columns, no NaN; then it starts. */
static void test_rest(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  static membrane m;
  membrane_make(&m, N, N, 0.001, 0.01);
  m.push = 0;
  mn_rmi *rmi = make(ctx, mn_rmi_def_default(), 1e-6);
  for (int step = 0; step < 5; step++) {
    mn_rmi_report report = advance(ctx, rmi, &m);
    CHECK(report.reason == MN_CONVERGED && report.iterations == 2);
    CHECK(report.residual == 0 && report.modes == 0 && report.dropped == 0);
  }
  mn_array arrays[16];
  mn_rmi_arrays(rmi, arrays, 16);
  CHECK(((int64_t *)arrays[0].data)[0] == 0); /* no columns of nothing */
  m.push = 1;
  for (int step = 0; step < 20; step++) {
    double both[MEMBRANE_MAX];
    membrane_together(&m, both);
    mn_rmi_report report = advance(ctx, rmi, &m);
    CHECK(report.reason == MN_CONVERGED);
    double error = 0;
    for (int i = 0; i < N; i++)
      error = check_worst(error, fabs(m.x0[i] - both[i]));
    CHECK_LE(error, 1e-6);
  }
  mn_rmi_destroy(&rmi);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* A rejected substep takes the columns with it, and a step never allocates once the first has run.
 */
static void test_reject(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  static membrane m;
  membrane_make(&m, N, N, 0.01, 0.01);
  mn_rmi *rmi = make(ctx, mn_rmi_def_default(), 1e-7);
  for (int step = 0; step < 8; step++)
    advance(ctx, rmi, &m);
  int64_t allocations = ctx->allocations;
  for (int step = 0; step < 8; step++)
    advance(ctx, rmi, &m);
  CHECK(ctx->allocations == allocations);
  mn_array arrays[16];
  mn_rmi_arrays(rmi, arrays, 16);
  const int64_t *count = arrays[0].data;
  CHECK(count[0] > 0 && count[1] > 0);
  int before = advance(ctx, rmi, &m).iterations;
  mn_rmi_report report;
  double x[N], p[N];
  CHECK_OK(ctx,
           mn_rmi_step(rmi, m.dt, m.x0, membrane_fluid, &m, membrane_solid, &m, x, p, &report));
  mn_rmi_reject(rmi);
  CHECK(count[0] == 0 && count[1] == 0);
  int after = advance(ctx, rmi, &m).iterations;
  CHECK_GE(after, before + 1);
  mn_rmi_destroy(&rmi);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reuse),        cmocka_unit_test(test_filter),
      cmocka_unit_test(test_checkpoint),   cmocka_unit_test(test_products),
      cmocka_unit_test(test_long_substep), cmocka_unit_test(test_shift),
      cmocka_unit_test(test_two),          cmocka_unit_test(test_rest),
      cmocka_unit_test(test_reject)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
