/* The one system for fluid and solid, on toy operators against LAPACK: every solver, Newton, the
   linearised form, rules in time, dual masses, closed regions, walls that let go. */
#include <stdio.h>

#include "base/context.h"
#include "couple/couple.h"
#include "la/sparse_lu.h"
#include "toy_operators.h"

static const double DT = 0.1;

typedef struct toys {
  mn_context *ctx;
  toy_fluid fluid;
  toy_solid solid;
  mn_coupling *coupling;
  mn_coupling_report report;
} toys;

static mn_coupling_def definition(mn_coupling_method method, mn_coupling_solver solver)
{
  mn_coupling_def def = mn_coupling_def_default(method, 0);
  def.tolerance = 1e-12;
  def.solver = solver;
  return def;
}

static void toys_make(toys *t, uint64_t seed, int regions)
{
  *t = (toys){.ctx = check_context(1)};
  toy_make(&t->fluid, &t->solid, seed, regions);
  t->solid.dt = DT;
}

static void toys_try(toys *t, const mn_coupling_def *def)
{
  mn_coupling_destroy(&t->coupling);
  CHECK_OK(t->ctx, mn_coupling_create(t->ctx, def, 2, 1, (mn_fluid){&toy_fluid_ops, &t->fluid},
                                      (mn_solid){&toy_solid_ops, &t->solid}, &t->coupling));
  CHECK_OK(t->ctx, mn_coupling_try(t->coupling, 0, DT, 1, &t->report));
  CHECK(t->report.reason == MN_CONVERGED);
}

static void toys_free(toys *t)
{
  mn_coupling_destroy(&t->coupling);
  mn_context_destroy(&t->ctx);
}

/* Greatest difference of p and x from the dense answer; constants of p left out in `regions`. */
static double off(const toys *t, const double *x)
{
  double worst = 0;
  for (int i = 0; i < CELLS; i++)
    worst = check_worst(worst, fabs(t->fluid.adopted[i] - x[i]));
  for (int i = 0; i < FREEDOMS; i++)
    worst = check_worst(worst, fabs(t->solid.x[i] - x[CELLS + i]));
  return worst;
}

/* What of L p + D W V - c is left, with what the fluid was told. */
static double volume_left(const toys *t)
{
  double U[FACES], y[CELLS], worst = 0;
  toy_gather((void *)&t->fluid, t->fluid.adopted_V, U);
  toy_apply((void *)&t->fluid, t->fluid.adopted, y);
  for (int i = 0; i < CELLS; i++) {
    y[i] -= t->fluid.c[i];
    for (int r = 0; r < FACES; r++)
      y[i] += t->fluid.D[i][r] * U[r];
    worst = check_worst(worst, fabs(y[i]));
  }
  return worst;
}

static const mn_coupling_solver SOLVERS[] = {MN_SOLVER_AUTO, MN_SOLVER_DIRECT, MN_SOLVER_CG,
                                             MN_SOLVER_MINRES};

static int can(mn_coupling_solver solver)
{
  return solver != MN_SOLVER_DIRECT || mn_lu_available();
}

static void test_linear(void **state)
{
  (void)state;
  toys t;
  double x[UNKNOWNS];
  for (uint64_t seed = 1; seed <= 20; seed++)
    for (int k = 0; k < 4; k++) {
      if (!can(SOLVERS[k]))
        continue;
      toys_make(&t, seed, 0);
      t.solid.lead = seed % 2;
      mn_coupling_def def = definition(MN_COUPLE_MONOLITHIC, SOLVERS[k]);
      toys_try(&t, &def);
      toy_dense(&t.fluid, &t.solid, NULL, 1, 1, x);
      CHECK_LE(off(&t, x), 1e-9);
      CHECK_LE(volume_left(&t), 1e-10);
      CHECK_LE(t.report.imbalance, 1e-9);
      CHECK(t.report.iterations == 1);
      def.load = MN_LOAD_PRESSURE; /* no dual masses */
      toys_try(&t, &def);
      toy_dense(&t.fluid, &t.solid, NULL, 0, 1, x);
      CHECK_LE(off(&t, x), 1e-9);
      toys_free(&t);
    }
  CHECK_DONE();
  toys_make(&t, 3, 0);
  mn_coupling_def def = definition(MN_COUPLE_MONOLITHIC, MN_SOLVER_AUTO);
  toys_try(&t, &def);
  toy_dense(&t.fluid, &t.solid, NULL, 0, 1, x);
  CHECK_LE(off(&t, x), 1e-9); /* the masses count */
  toys_free(&t);
  CHECK_MUST_HAVE_FAILED();
}

static void test_newton(void **state)
{
  (void)state;
  toys t;
  double x[UNKNOWNS];
  for (uint64_t seed = 1; seed <= 10; seed++) {
    toys_make(&t, seed, 0);
    t.solid.cubic = 300;
    mn_coupling_def def = definition(MN_COUPLE_MONOLITHIC, MN_SOLVER_AUTO);
    toys_try(&t, &def);
    CHECK_LE(toy_dense(&t.fluid, &t.solid, NULL, 1, 12, x), 1e-12);
    CHECK_LE(off(&t, x), 1e-9);
    CHECK_LE(t.report.iterations, 8); /* quadratic */
    CHECK_GE(t.report.iterations, 3);
    int count;
    const double *steps = mn_coupling_residuals(t.coupling, &count);
    CHECK(count == t.report.iterations);
    for (int i = 2; i < count && steps[i] > 1e-10; i++)
      CHECK_LE(steps[i], 10 * steps[i - 1] * steps[i - 1] + 1e-12);
    def.elastic = MN_ELASTIC_LINEARISED;
    toys_try(&t, &def);
    toy_dense(&t.fluid, &t.solid, NULL, 1, 1, x);
    CHECK_LE(off(&t, x), 1e-9);
    CHECK(t.report.iterations == 1);
    def = definition(MN_COUPLE_SIMULTANEOUS, MN_SOLVER_AUTO);
    toys_try(&t, &def);
    CHECK_LE(off(&t, x), 1e-9);
    CHECK_LE(volume_left(&t), 1e-10);
    CHECK(t.report.iterations == 1);
    toys_free(&t);
  }
  CHECK_DONE();
  toys_make(&t, 1, 0);
  t.solid.cubic = 300;
  mn_coupling_def def = definition(MN_COUPLE_SIMULTANEOUS, MN_SOLVER_AUTO);
  toys_try(&t, &def);
  toy_dense(&t.fluid, &t.solid, NULL, 1, 12, x);
  CHECK_LE(off(&t, x), 1e-6); /* once is not enough */
  toys_free(&t);
  CHECK_MUST_HAVE_FAILED();
}

/* L sees no constant: the solid tells it; where that cannot, a constant is left out. */
static void test_closed(void **state)
{
  (void)state;
  toys t;
  double x[UNKNOWNS];
  for (uint64_t seed = 1; seed <= 10; seed++)
    for (int k = 0; k < 4; k++) {
      if (!can(SOLVERS[k]))
        continue;
      toys_make(&t, seed, 2);
      mn_coupling_def def = definition(MN_COUPLE_MONOLITHIC, SOLVERS[k]);
      toys_try(&t, &def);
      toy_dense(&t.fluid, &t.solid, NULL, 1, 1, x);
      CHECK_LE(off(&t, x), 1e-7 * (1 + fabs(x[0])));
      CHECK_LE(volume_left(&t), 1e-9);
      toys_free(&t);
    }
  /* bodies wholly inside: no face has a cell on one side only, flows sum to 0 */
  for (int k = 0; k < 4; k++) {
    if (!can(SOLVERS[k]))
      continue;
    toys_make(&t, 5, 1);
    memset(t.fluid.D, 0, sizeof t.fluid.D);
    double sum = 0;
    for (int r = 0; r < FACES; r++) {
      t.fluid.cell[2 * r] = r;
      t.fluid.cell[2 * r + 1] = r + 4;
      t.fluid.D[r][r] = t.fluid.area[r];
      t.fluid.D[r + 4][r] = -t.fluid.area[r];
    }
    for (int i = 0; i < CELLS; i++)
      sum += t.fluid.c[i];
    t.fluid.c[2] -= sum;
    mn_coupling_def def = definition(MN_COUPLE_MONOLITHIC, SOLVERS[k]);
    toys_try(&t, &def);
    CHECK_LE(volume_left(&t), 1e-9);
    double most = 0;
    for (int i = 0; i < CELLS; i++)
      most = fmax(most, fabs(t.fluid.adopted[i]));
    CHECK_LE(most, 1e3);
    t.fluid.c[2] += 0.5; /* what flows in has no way out */
    CHECK_FAILS(t.ctx, mn_coupling_try(t.coupling, 0, DT, 1, &t.report), MN_FAILED,
                "no body around it gives way");
    CHECK(t.report.hopeless);
    toys_free(&t);
  }
  CHECK_DONE();
}

/* Of all sets of held cells the one that has p >= 0 and slack >= 0, by trying each. */
static int brute_force(const toys *t, double *x)
{
  int found = 0;
  for (unsigned set = 0; set < 32; set++) {
    uint8_t held[CELLS] = {0};
    double y[UNKNOWNS], slack[CELLS];
    for (unsigned k = 0; k < 5; k++)
      held[2 * k] = set >> k & 1;
    toy_dense(&t->fluid, &t->solid, held, 1, 1, y);
    toy_apply((void *)&t->fluid, y, slack);
    int good = 1;
    for (int i = 0; i < CELLS; i++) {
      slack[i] -= t->fluid.c[i];
      for (int r = 0; r < FACES; r++)
        for (int k = 0; k < 3 * TOY_POINTS; k++)
          for (int j = 0; j < FREEDOMS; j++)
            slack[i] += t->fluid.D[i][r] * t->fluid.W[r][k] * t->solid.E[k][j] *
                        toy_velocity(&t->solid, y + CELLS, j);
      if (t->fluid.bound[i])
        good &= held[i] ? slack[i] >= 0 : y[i] >= 0;
    }
    if (good) {
      memcpy(x, y, sizeof y);
      found++;
    }
  }
  return found;
}

static void test_walls_let_go(void **state)
{
  (void)state;
  toys t;
  double x[UNKNOWNS];
  int held = 0;
  for (uint64_t seed = 1; seed <= 20; seed++)
    for (int k = 0; k < 4; k++) {
      if (!can(SOLVERS[k]))
        continue;
      toys_make(&t, seed, 0);
      t.fluid.bounded = 1;
      for (int i = 0; i < 5; i++)
        t.fluid.bound[2 * i] = 1;
      CHECK(brute_force(&t, x) == 1);
      mn_coupling_def def = definition(MN_COUPLE_MONOLITHIC, SOLVERS[k]);
      toys_try(&t, &def);
      CHECK_LE(off(&t, x), 1e-8);
      for (int i = 0; i < 5; i++)
        held += x[2 * i] == 0;
      toys_free(&t);
    }
  CHECK_GE(held, 50); /* they did let go */
  CHECK_DONE();
  toys_make(&t, 1, 0);
  for (int i = 0; i < 5; i++)
    t.fluid.bound[2 * i] = 1;
  brute_force(&t, x);
  mn_coupling_def def = definition(MN_COUPLE_MONOLITHIC, MN_SOLVER_AUTO);
  toys_try(&t, &def); /* without saying so */
  CHECK_LE(off(&t, x), 1e-8);
  toys_free(&t);
  CHECK_MUST_HAVE_FAILED();
}

static void test_without_operators(void **state)
{
  (void)state;
  toys t;
  mn_coupling_def def = definition(MN_COUPLE_MONOLITHIC, MN_SOLVER_AUTO);
  mn_fluid_ops fluid = toy_fluid_ops;
  mn_solid_ops solid = toy_solid_ops;
  toys_make(&t, 1, 0);
  fluid.name = "wind";
  fluid.operators = NULL;
  CHECK_FAILS(t.ctx,
              mn_coupling_create(t.ctx, &def, 2, 1, (mn_fluid){&fluid, &t.fluid},
                                 (mn_solid){&solid, &t.solid}, &t.coupling),
              MN_BAD_INPUT, "the fluid \"wind\" tells no operators");
  fluid.operators = &toy_fluid_operators;
  solid.name = "jelly";
  solid.operators = NULL;
  def.method = MN_COUPLE_SIMULTANEOUS;
  CHECK_FAILS(t.ctx,
              mn_coupling_create(t.ctx, &def, 2, 1, (mn_fluid){&fluid, &t.fluid},
                                 (mn_solid){&solid, &t.solid}, &t.coupling),
              MN_BAD_INPUT, "the solid \"jelly\" tells no operators");
  toys_free(&t);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_linear), cmocka_unit_test(test_newton), cmocka_unit_test(test_closed),
      cmocka_unit_test(test_walls_let_go), cmocka_unit_test(test_without_operators)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
