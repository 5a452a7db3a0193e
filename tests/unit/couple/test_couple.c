/* Couplings over two lumped boxes with a known answer: a spring piston on a column of fluid. The
   period, the contraction of relaxation, the agreement of all methods, and what happens when a box
   misbehaves. */
#include <stdio.h>

#include "base/context.h"
#include "couple/couple.h"
#include "piston.h"

static const double PERIOD = 1, ADDED = 1000, DX = 1.0 / 64;

typedef struct rig {
  mn_context *ctx;
  column fluid;
  piston solid;
  mn_coupling *coupling;
  mn_coupling_report report;
  double time;
  int steps, solves, most;
} rig;

static void rig_make(rig *r, const mn_coupling_def *def, double mass, double spring)
{
  *r = (rig){.ctx = check_context(1)};
  r->fluid = (column){.ctx = r->ctx, .mass = ADDED, .part = DX};
  r->solid = (piston){.ctx = r->ctx, .mass = mass, .spring = spring, .rigid = 1};
  CHECK_OK(r->ctx, mn_coupling_create(r->ctx, def, 2, DX, (mn_fluid){&column_ops, &r->fluid},
                                      (mn_solid){&piston_ops, &r->solid}, &r->coupling));
}

static void rig_free(rig *r)
{
  mn_coupling_destroy(&r->coupling);
  mn_context_destroy(&r->ctx);
}

/* A converged substep is committed. */
static mn_status rig_step(rig *r, double dt)
{
  mn_status status = mn_coupling_try(r->coupling, r->time, dt, 1, &r->report);
  if (status != MN_OK || r->report.reason != MN_CONVERGED) {
    mn_coupling_reject(r->coupling);
    return status == MN_OK ? MN_FAILED : status;
  }
  CHECK_OK(r->ctx, mn_coupling_commit(r->coupling, &r->report));
  r->time += dt;
  r->steps++;
  r->solves += r->report.iterations;
  r->most = r->report.iterations > r->most ? r->report.iterations : r->most;
  return MN_OK;
}

/* The spring that makes the period 1 s with this mass. */
static double spring_for(double mass)
{
  return 4 * MN_PI * MN_PI * (mass + ADDED) / (PERIOD * PERIOD);
}

/* ---- the period, for every mass and method ----------------------------------------------- */

/* Mean period over the crossings of zero, and the largest distance from the exact discrete step. */
static void swing(mn_coupling_def *def, double mass, double dt, double *period, double *error,
                  double *average, int *most)
{
  rig r;
  rig_make(&r, def, mass, spring_for(mass));
  double x = r.solid.x = 0.01, v = 0, first = 0, last = 0;
  int crossings = 0;
  *error = 0;
  for (int n = 0; n < (int)(2.2 / dt); n++) {
    double before = r.solid.x;
    assert_int_equal(rig_step(&r, dt), MN_OK);
    double whole = mass + ADDED;
    v = (whole * v - dt * r.solid.spring * x) / (whole + dt * dt * r.solid.spring);
    x += dt * v;
    *error = check_worst(*error, fabs(r.solid.x - x));
    if (before > 0 && r.solid.x <= 0) { /* downwards */
      last = r.time - dt * r.solid.x / (r.solid.x - before);
      if (!crossings++)
        first = last;
    }
  }
  *period = (last - first) / (crossings - 1);
  *average = (double)r.solves / r.steps;
  *most = r.most;
  rig_free(&r);
}

static void test_period(void **state)
{
  (void)state;
  static const mn_coupling_method methods[] = {MN_COUPLE_XPM, MN_COUPLE_RMI, MN_COUPLE_AITKEN,
                                               MN_COUPLE_RELAXED};
  for (double mass = 1; mass <= 10000; mass *= 10)
    for (int m = 0; m < 4; m++)
      for (int published = 0; published < 2; published++) {
        mn_coupling_def def = mn_coupling_def_default(methods[m], published);
        double period, error, average;
        int most;
        def.tolerance = 1e-6;
        def.max_iterations = 200;
        double mu = ADDED / (mass + spring_for(mass) * 1e-6);
        def.omega = methods[m] == MN_COUPLE_RELAXED ? 0.9 / (1 + mu) : 0.1;
        swing(&def, mass, 1e-3, &period, &error, &average, &most);
        printf("M %6g %-8s%s period %.6f s, error %.2e m, iterations %.2f, at most %d\n", mass,
               mn_coupling_method_name(methods[m]), published ? " published" : "", period, error,
               average, most);
        CHECK_NEAR(period, PERIOD, 0.005 * PERIOD);
        CHECK_LE(error, 10 * 1e-6 * DX * 200); /* agree with the monolithic step */
        /* one mode describes it all */
        if (methods[m] <= MN_COUPLE_RMI)
          CHECK_LE(most, 3);
      }
  CHECK_DONE();
}

/* ---- order ------------------------------------------------------------------------------- */

/* A piston that steps by the midpoint rule through a swing and a quarter: greatest distance from
   the exact motion, and how much its velocity changes to and fro in the last substeps. It starts
   with this part of the fluid's velocity. */
static double midpoint_error(rule how, double mass, double dt, double part, double *ring)
{
  mn_coupling_def def = mn_coupling_def_default(MN_COUPLE_XPM, 0);
  rig r;
  def.tolerance = 1e-9;
  rig_make(&r, &def, mass, spring_for(mass));
  r.solid.rule = how;
  r.fluid.u = 0.01 * 2 * MN_PI / PERIOD;
  r.solid.v = part * r.fluid.u;
  double error = 0, v[3] = {0};
  while (r.time < 1.25 * PERIOD) {
    assert_int_equal(rig_step(&r, dt), MN_OK);
    error = check_worst(error, fabs(r.solid.x - 0.01 * sin(2 * MN_PI * r.time / PERIOD)));
    v[0] = v[1], v[1] = v[2], v[2] = r.solid.v;
  }
  *ring = fabs(v[0] - 2 * v[1] + v[2]) / 4;
  rig_free(&r);
  return error;
}

/* With velocities at the end both sides together step by the midpoint rule; with means the fluid's
   load is half a step late, which damps, and the velocity of a light piston swings. */
static void test_order(void **state)
{
  (void)state;
  double h[3], error[3], means[3], ring;
  for (double mass = 1; mass <= 10000; mass *= 100) {
    for (int i = 0; i < 3; i++) {
      h[i] = 0.02 / (1 << i);
      error[i] = midpoint_error(MIDPOINT, mass, h[i], 1, &ring);
      means[i] = midpoint_error(MIDPOINT_MEANS, mass, h[i], 1, &ring);
    }
    printf("M %6g: errors %.2e %.2e %.2e m, by means %.2e %.2e %.2e m\n", mass, error[0], error[1],
           error[2], means[0], means[1], means[2]);
    CHECK_ORDER(h, error, 3, 2, 0.1);
    CHECK_LE(log2(means[1] / means[2]), 1.2); /* the control */
  }
  midpoint_error(MIDPOINT, 1, 0.005, 0.5, &ring);
  printf("a light piston that starts too slowly: its velocity swings by %.1e m/s in the end", ring);
  CHECK_LE(ring, 2e-5); /* v dt^2 / 4 of the swing itself */
  midpoint_error(MIDPOINT_MEANS, 1, 0.005, 0.5, &ring);
  printf(", by means by %.1e m/s\n", ring);
  CHECK_GE(ring, 1e-2);
  CHECK_DONE();
}

/* ---- contraction ------------------------------------------------------------------------- */

static void contract(double mass, double added, double spring, double dt, double omega,
                     double expected, mn_reason reason)
{
  mn_coupling_def def = mn_coupling_def_default(MN_COUPLE_RELAXED, 0);
  rig r;
  def.omega = omega;
  def.predictor = 0; /* so that there is something to contract */
  def.tolerance = 1e-12;
  def.max_iterations = 40;
  rig_make(&r, &def, mass, spring);
  r.fluid.mass = added;
  r.solid.x = 0.01;
  r.solid.v = r.fluid.u = 0.1;
  CHECK_OK(r.ctx, mn_coupling_try(r.coupling, 0, dt, 1, &r.report));
  int count;
  const double *residual = mn_coupling_residuals(r.coupling, &count);
  CHECK(r.report.reason == reason);
  CHECK_GE(count, 4);
  for (int k = 1; k < 6 && k < count && residual[k] > 1e-13; k++)
    CHECK_NEAR(residual[k] / residual[k - 1], expected, 1e-3);
  rig_free(&r);
}

static void test_contraction(void **state)
{
  (void)state;
  contract(2, 1, 0, 0.01, 1, 0.5, MN_CONVERGED);
  contract(1, 10, 0, 0.01, 0.1, 0.1, MN_CONVERGED);
  contract(1, 10, 0, 0.01, 0.05, 0.45, MN_CONVERGED);
  contract(1, 10, 0, 0.01, 0.2, 1.2, MN_DIVERGED);
  contract(1, 10, 1e4, 0.01, 0.2, 0.2, MN_CONVERGED);
  CHECK_DONE();
}

/* ---- what the options do --------------------------------------------------------------------- */

/* Every option changes the way, none the answer. */
static void test_options(void **state)
{
  (void)state;
  double plain = 0;
  for (int variant = 0; variant < 9; variant++) {
    mn_coupling_def def = mn_coupling_def_default(MN_COUPLE_XPM, 0);
    double period, error, average;
    int most;
    def.tolerance = 1e-4;
    def.mass = variant == 1 ? MN_MASS_NONE : variant == 2 ? MN_MASS_DUAL : def.mass;
    def.reuse = variant == 3 || variant == 1 ? 0 : def.reuse;
    def.rigid = variant == 4 ? MN_RIGID_FREEDOMS : MN_RIGID_POINTS;
    def.predictor = variant == 5 ? 0 : variant == 6 ? 2 : 1;
    def.load = variant == 7 ? MN_LOAD_PRESSURE : MN_LOAD_IMPULSE;
    def.frozen = variant != 8;
    swing(&def, 1, 5e-3, &period, &error, &average, &most);
    printf("variant %d: error %.2e m, iterations %.2f, at most %d\n", variant, error, average,
           most);
    CHECK_LE(error, 1e-4 * DX * 100);
    CHECK_LE(most, 3);
    if (variant == 0)
      CHECK_LE(average, 2.01);
    if (variant == 1)
      plain = average;
  }
  CHECK_GE(plain, 2.0); /* without reuse and mass it takes more: the options do something */
  CHECK_DONE();
}

/* The fitted mass is half of the added mass, and stands in the state. */
static void test_fitted_mass(void **state)
{
  (void)state;
  mn_coupling_def def = mn_coupling_def_default(MN_COUPLE_XPM, 0);
  rig r;
  def.tolerance = 1e-6;
  rig_make(&r, &def, 1, spring_for(1));
  r.solid.x = 0.01;
  for (int n = 0; n < 3; n++)
    assert_int_equal(rig_step(&r, 1e-2), MN_OK);
  mn_array arrays[32];
  int count = mn_coupling_arrays(r.coupling, arrays, 32);
  CHECK_GE(count, 2);
  const double *numbers = arrays[0].data;
  CHECK_NEAR(numbers[1], 0.5 * ADDED, 0.01 * ADDED);
  const mn_interface *f = mn_coupling_interface(r.coupling);
  CHECK_LE(r.report.imbalance, 1e-6 * ADDED);
  CHECK_NEAR(f->X[0].x, r.solid.x, 1e-15);
  rig_free(&r);
  CHECK_DONE();
}

/* ---- weak ------------------------------------------------------------------------------------ */

/* Stable for heavy pistons; for light ones it diverges, says so, and is not committed. */
static void test_weak(void **state)
{
  (void)state;
  mn_coupling_def def = mn_coupling_def_default(MN_COUPLE_WEAK, 0);
  rig r;
  rig_make(&r, &def, 10000, spring_for(10000));
  r.solid.x = 0.01;
  for (int n = 0; n < 1000; n++)
    assert_int_equal(rig_step(&r, 1e-3), MN_OK);
  CHECK(r.most == 1);
  CHECK_LE(fabs(r.solid.x), 0.02);
  rig_free(&r);
  rig_make(&r, &def, 50, spring_for(50)); /* mass ratio 0.05 */
  r.solid.x = 0.01;
  int n = 0;
  while (n < 1000 && rig_step(&r, 1e-3) == MN_OK)
    n++;
  printf("weak at mass ratio 0.05: %s after %d substeps, surface %.3g cells off\n",
         mn_reason_text(r.report.reason), n, r.report.residual / DX);
  CHECK(r.report.reason == MN_DIVERGED);
  CHECK_LE(n, 100);
  CHECK(r.fluid.commits == n && r.solid.commits == n);
  CHECK(isfinite(r.solid.x) && isfinite(r.solid.v));
  rig_free(&r);
  CHECK_DONE();
}

/* Relaxation with a factor that is too large: never committed, and told apart from the limit. */
static void test_reasons(void **state)
{
  (void)state;
  for (int slow = 0; slow < 2; slow++) {
    mn_coupling_def def = mn_coupling_def_default(MN_COUPLE_RELAXED, 0);
    rig r;
    def.omega = slow ? 1e-3 : 0.5;
    rig_make(&r, &def, 10, spring_for(10));
    r.solid.x = 5;
    CHECK(rig_step(&r, 1e-2) == MN_FAILED);
    CHECK(r.report.reason == (slow ? MN_ITERATION_LIMIT : MN_DIVERGED));
    CHECK(r.fluid.commits == 0 && r.solid.commits == 0);
    CHECK_NEAR(r.solid.x, 5, 0);
    rig_free(&r);
  }
  CHECK_DONE();
}

/* ---- misbehaviour ---------------------------------------------------------------------------- */

static void try_fault(fault of_fluid, int solve, fault of_solid, const char *box, const char *words)
{
  mn_coupling_def def = mn_coupling_def_default(MN_COUPLE_XPM, 0);
  rig r;
  rig_make(&r, &def, 10, spring_for(10));
  r.solid.x = 0.01;
  for (int n = 0; n < 3; n++)
    assert_int_equal(rig_step(&r, 1e-2), MN_OK);
  double u = r.fluid.u, x = r.solid.x, v = r.solid.v;
  CHECK_OK(r.ctx, column_save(&r.fluid));
  CHECK_OK(r.ctx, piston_save(&r.solid));
  r.fluid.fault = of_fluid;
  r.fluid.fault_solve = solve;
  r.solid.fault = of_solid;
  r.solid.x += 1; /* far enough for a second iteration */
  CHECK_FAILS(r.ctx, mn_coupling_try(r.coupling, r.time, 1e-2, 1, &r.report), MN_FAILED, box);
  CHECK(strstr(r.ctx->message, words) != NULL);
  printf("  %s\n", r.ctx->message);
  CHECK_OK(r.ctx, column_restore(&r.fluid));
  CHECK_OK(r.ctx, piston_restore(&r.solid));
  mn_coupling_reject(r.coupling);
  CHECK(r.fluid.u == u && r.solid.x == x && r.solid.v == v);
  CHECK(r.fluid.commits == 3 && r.solid.commits == 3);
  r.fluid.fault = r.solid.fault = NO_FAULT; /* and life goes on */
  CHECK(rig_step(&r, 1e-2) == MN_OK);
  rig_free(&r);
}

static void test_misbehaviour(void **state)
{
  (void)state;
  const char *fluid = "the fluid \"column\"", *solid = "the solid \"piston\"";
  try_fault(FAULT_NAN, 1, NO_FAULT, fluid, "a load that is not finite, at point 4 of 5");
  try_fault(FAULT_NAN, 2, NO_FAULT, fluid, "a load that is not finite");
  try_fault(FAULT_NAN_MASS, 1, NO_FAULT, fluid, "a mass below 0");
  try_fault(FAULT_COUNT, 1, NO_FAULT, fluid,
            "5 points, 4 elements and 2 dimensions were agreed, it left 7, 4 and 2");
  try_fault(FAULT_BEYOND, 1, NO_FAULT, fluid, "wrote beyond the 5 points");
  try_fault(FAULT_ARRAYS, 1, NO_FAULT, fluid, "replaced arrays");
  try_fault(FAULT_STATUS, 1, NO_FAULT, fluid, "the pump is dry");
  try_fault(FAULT_SILENT, 1, NO_FAULT, fluid, "no message");
  try_fault(FAULT_BAD_STATUS, 1, NO_FAULT, fluid, "no such pump");
  try_fault(FAULT_UNSOLVED, 1, NO_FAULT, fluid, "iteration limit after 7");
  try_fault(NO_FAULT, 1, FAULT_NAN, solid, "a position that is not finite, at point 2 of 5");
  try_fault(NO_FAULT, 1, FAULT_COUNT, solid, "2 dimensions were agreed, it left 4, ");
  try_fault(NO_FAULT, 1, FAULT_BEYOND, solid, "wrote beyond");
  try_fault(NO_FAULT, 1, FAULT_STATUS, solid, "the rod is bent");
  try_fault(NO_FAULT, 1, FAULT_ELEMENT, solid, "element 0 with point 5");
  CHECK_DONE();
}

/* A commit that fails: named as well, and the caller restores. */
static void test_commit_fails(void **state)
{
  (void)state;
  mn_coupling_def def = mn_coupling_def_default(MN_COUPLE_XPM, 0);
  rig r;
  rig_make(&r, &def, 10, spring_for(10));
  r.fluid.fault = FAULT_COMMIT;
  CHECK_OK(r.ctx, mn_coupling_try(r.coupling, 0, 1e-2, 1, &r.report));
  CHECK_FAILS(r.ctx, mn_coupling_commit(r.coupling, &r.report), MN_FAILED,
              "the fluid \"column\": the disk of the pump is full");
  CHECK(r.solid.commits == 0);
  mn_coupling_reject(r.coupling);
  rig_free(&r);
  CHECK_DONE();
}

static void test_bad_choices(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_coupling_def good = mn_coupling_def_default(MN_COUPLE_XPM, 0), d = good;
  CHECK_OK(ctx, mn_coupling_check(ctx, &d));
  d.tolerance = 0;
  CHECK_FAILS(ctx, mn_coupling_check(ctx, &d), MN_BAD_INPUT, "coupling.tolerance is 0");
  d = good;
  d.tolerance = NAN;
  CHECK_FAILS(ctx, mn_coupling_check(ctx, &d), MN_BAD_INPUT, "coupling.tolerance");
  d = good;
  d.method = (mn_coupling_method)9;
  CHECK_FAILS(ctx, mn_coupling_check(ctx, &d), MN_BAD_INPUT, "coupling.method");
  d = good;
  d.kernel_radius = 3;
  CHECK_FAILS(ctx, mn_coupling_check(ctx, &d), MN_BAD_INPUT, "coupling.kernel_radius is 3");
  d = good;
  d.max_iterations = 1;
  CHECK_FAILS(ctx, mn_coupling_check(ctx, &d), MN_BAD_INPUT, "coupling.max_iterations");
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Every allocation fails once: the right status, nothing left behind. */
static void test_no_memory(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  column fluid = {.ctx = ctx, .mass = ADDED};
  piston solid = {.ctx = ctx, .mass = 10, .rigid = 1};
  mn_coupling_def def = mn_coupling_def_default(MN_COUPLE_XPM, 0);
  def.rigid = MN_RIGID_FREEDOMS;
  int failures = 0;
  for (;; failures++) {
    mn_coupling *coupling = NULL;
    ctx->fail_allocation = ctx->allocations + 1 + failures;
    mn_status status = mn_coupling_create(ctx, &def, 2, DX, (mn_fluid){&column_ops, &fluid},
                                          (mn_solid){&piston_ops, &solid}, &coupling);
    int reached = ctx->allocations >= ctx->fail_allocation;
    if (reached)
      CHECK(status == MN_ENVIRONMENT && !coupling);
    mn_coupling_destroy(&coupling);
    if (!reached)
      break;
  }
  CHECK_GE(failures, 20);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* ---- state ----------------------------------------------------------------------------------- */

/* The arrays of one coupling, written into another, make it go on with the same bits. */
static void test_state(void **state)
{
  (void)state;
  mn_coupling_def def = mn_coupling_def_default(MN_COUPLE_XPM, 0);
  rig a, b;
  def.tolerance = 1e-3;
  rig_make(&a, &def, 10, spring_for(10));
  rig_make(&b, &def, 10, spring_for(10));
  a.solid.x = 0.01;
  for (int n = 0; n < 12; n++)
    assert_int_equal(rig_step(&a, 1e-2), MN_OK);
  mn_coupling_learn_pace(a.coupling, 1, 30);
  b.fluid.u = a.fluid.u;
  b.solid.x = a.solid.x;
  b.solid.v = a.solid.v;
  mn_array from[32], to[32];
  int count = mn_coupling_arrays(a.coupling, from, 32);
  assert_int_equal(mn_coupling_arrays(b.coupling, to, 32), count);
  for (int i = 0; i < count; i++) {
    size_t bytes = from[i].type == MN_U8 ? 1 : 8;
    for (int k = 0; k < from[i].rank; k++)
      bytes *= from[i].shape[k];
    memcpy(to[i].data, from[i].data, bytes);
  }
  CHECK(mn_coupling_pace(b.coupling) == 0.5);
  for (int n = 0; n < 10; n++) {
    assert_int_equal(rig_step(&a, 1e-2), MN_OK);
    assert_int_equal(rig_step(&b, 1e-2), MN_OK);
    CHECK(a.solid.x == b.solid.x && a.solid.v == b.solid.v && a.fluid.u == b.fluid.u);
    CHECK(a.report.iterations == b.report.iterations);
  }
  rig_free(&a);
  rig_free(&b);
  CHECK_DONE();
}

/* Halved by every retry, back to 1 after easy substeps, and left alone if not wanted. */
static void test_pace(void **state)
{
  (void)state;
  for (int adapt = 0; adapt < 2; adapt++) {
    mn_coupling_def def = mn_coupling_def_default(MN_COUPLE_XPM, 0);
    rig r;
    def.adapt = adapt;
    rig_make(&r, &def, 10, spring_for(10));
    mn_coupling_learn_pace(r.coupling, 2, 30);
    CHECK_NEAR(mn_coupling_pace(r.coupling), adapt ? 0.25 : 1, 0);
    int n = 0;
    while (mn_coupling_pace(r.coupling) < 1 && n++ < 100)
      mn_coupling_learn_pace(r.coupling, 0, 2);
    CHECK_LE(n, 10);
    mn_coupling_learn_pace(r.coupling, 0, 25);
    CHECK_NEAR(mn_coupling_pace(r.coupling), adapt ? 0.75 : 1, 0);
    rig_free(&r);
  }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_period),       cmocka_unit_test(test_order),
      cmocka_unit_test(test_contraction),  cmocka_unit_test(test_options),
      cmocka_unit_test(test_fitted_mass),  cmocka_unit_test(test_weak),
      cmocka_unit_test(test_reasons),      cmocka_unit_test(test_misbehaviour),
      cmocka_unit_test(test_commit_fails), cmocka_unit_test(test_bad_choices),
      cmocka_unit_test(test_no_memory),    cmocka_unit_test(test_state),
      cmocka_unit_test(test_pace),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
