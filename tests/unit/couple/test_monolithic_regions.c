/* The border of closed regions (monolithic_regions.c, monolithic_border.c) on toy operators: what
   is asked of volumes is swept, cells keep their equations, bodies feel p0 by the rows that sweep
   and nothing else besides the fluid's forces, the same from LU and from the eliminated form; rows
   that depend on each other, air without cells, cells that are bound. */
#include <stdio.h>

#include "base/status.h"
#include "couple/monolithic_system.h"
#include "toy_operators.h"

static const double DT = 0.1;

typedef struct bordered {
  mn_context *ctx;
  toy_fluid fluid;
  toy_solid solid;
  mn_boxes boxes;
  mn_mono_system s;
  mn_vec3 row[3][TOY_POINTS];
  double p[CELLS], v[FREEDOMS + 16];
  mn_vec3 load[TOY_POINTS];
} bordered;

static void open_case(bordered *b, uint64_t seed)
{
  *b = (bordered){.ctx = check_context(1)};
  toy_make(&b->fluid, &b->solid, seed, 2);
  b->solid.dt = DT;
  CHECK_OK(b->ctx, mn_boxes_create(b->ctx, 2, 1, (mn_fluid){&toy_fluid_ops, &b->fluid},
                                   (mn_solid){&toy_solid_ops, &b->solid}, &b->boxes));
  CHECK_OK(b->ctx, mn_boxes_begin(&b->boxes, 0, DT));
  b->boxes.face.frozen = b->boxes.face.impulse = 1;
  b->boxes.agreed = b->boxes.face;
  CHECK_OK(b->ctx, mn_boxes_start(&b->boxes));
  CHECK_OK(b->ctx, mn_boxes_assemble(&b->boxes, &b->s.fluid));
  CHECK_OK(b->ctx, mn_boxes_linearise(&b->boxes, &b->s.solid));
  b->s.ctx = b->ctx;
  b->s.boxes = &b->boxes;
  b->s.dx = 1;
  b->s.dt = DT;
  b->s.masses = b->s.told = 1;
  for (int r = 0; r < 3; r++)
    for (int i = 0; i < TOY_POINTS; i++)
      b->row[r][i] = mn_v3(toy_number(&seed), toy_number(&seed), toy_number(&seed));
}

static void close_case(bordered *b)
{
  mn_mono_system_destroy(&b->s);
  mn_boxes_destroy(&b->boxes);
  mn_context_destroy(&b->ctx);
}

static void solve_case(bordered *b, mn_coupling_solver solver)
{
  CHECK_OK(b->ctx, mn_mono_build(&b->s));
  CHECK_OK(b->ctx, mn_mono_right(&b->s));
  memset(b->p, 0, sizeof b->p);
  CHECK_OK(b->ctx, mn_mono_solve(&b->s, solver, b->p, b->v));
  CHECK_OK(b->ctx, mn_mono_load(&b->s, b->p, b->v, b->load));
}

/* N E v */
static double swept(const bordered *b, const mn_vec3 *row)
{
  double sum = 0;
  for (int k = 0; k < 3 * TOY_POINTS; k++)
    for (int i = 0; i < FREEDOMS; i++)
      sum += row[k / 3].v[k % 3] * b->solid.E[k][i] * b->v[i];
  return sum;
}

/* What is left of the cells' equations, breaths included. */
static double cells_left(bordered *b)
{
  double slack[CELLS], worst = 0;
  mn_mono_slack(&b->s, b->p, b->v, slack);
  for (int i = 0; i < CELLS; i++)
    worst = check_worst(worst, b->s.held[i] ? 0 : fabs(slack[i]));
  return worst;
}

/* And of the solid's, under the loads told. */
static double solid_left(const bordered *b)
{
  double worst = 0;
  for (int i = 0; i < FREEDOMS; i++) {
    double sum = -b->solid.r[i];
    for (int j = 0; j < FREEDOMS; j++)
      sum += b->solid.k_value[i * FREEDOMS + j] * b->v[j] / b->s.g[j];
    for (int k = 0; k < 3 * TOY_POINTS; k++)
      sum -= b->solid.E[k][i] * b->load[k / 3].v[k % 3];
    worst = check_worst(worst, fabs(sum));
  }
  return worst;
}

static const mn_coupling_solver SOLVERS[] = {MN_SOLVER_DIRECT, MN_SOLVER_CG};

static int can(mn_coupling_solver solver)
{
  return solver != MN_SOLVER_DIRECT || mn_lu_available();
}

static void test_volumes(void **state)
{
  (void)state;
  for (uint64_t seed = 1; seed <= 10; seed++) {
    double p0[2][3] = {{0}};
    for (int k = 0; k < 2; k++) {
      bordered b;
      if (!can(SOLVERS[k]))
        continue;
      open_case(&b, seed);
      b.s.volumes = 3; /* the last is air */
      for (int r = 0; r < 3; r++)
        b.s.volume[r] =
            (mn_mono_volume){.grid = r < 2 ? r : -1, .row = b.row[r], .rate = 0.3 * r - 0.2};
      solve_case(&b, SOLVERS[k]);
      for (int r = 0; r < 3; r++) {
        CHECK_NEAR(swept(&b, b.row[r]), b.s.volume[r].rate, 1e-10);
        p0[k][r] = b.s.volume[r].p0;
      }
      CHECK_LE(cells_left(&b), 1e-8);
      CHECK_LE(solid_left(&b), 1e-8);
      close_case(&b);
    }
    for (int r = 0; r < 3 && can(SOLVERS[0]); r++)
      CHECK_NEAR(p0[0][r], p0[1][r], 1e-7 * (1 + fabs(p0[0][r])));
  }
  CHECK_DONE();
  bordered b;
  open_case(&b, 1); /* nobody asks */
  solve_case(&b, MN_SOLVER_CG);
  CHECK_NEAR(swept(&b, b.row[0]), -0.2, 1e-10);
  close_case(&b);
  CHECK_MUST_HAVE_FAILED();
}

/* A row that is the sum of two others is left out, and says of what. */
static void test_dependent(void **state)
{
  (void)state;
  bordered b;
  open_case(&b, 3);
  for (int i = 0; i < TOY_POINTS; i++)
    b.row[2][i] = mn_madd(b.row[0][i], -2, b.row[1][i]);
  b.s.volumes = 3;
  for (int r = 0; r < 3; r++)
    b.s.volume[r] = (mn_mono_volume){.grid = r < 2 ? r : -1, .row = b.row[r], .rate = 0.1};
  solve_case(&b, MN_SOLVER_CG);
  CHECK_NEAR(b.s.shared[2][0], 1, 1e-9);
  CHECK_NEAR(b.s.shared[2][1], -2, 1e-9);
  CHECK_NEAR(b.s.volume[2].p0, 0, 0);
  CHECK_NEAR(swept(&b, b.row[2]), 0.1 - 2 * 0.1, 1e-10);
  CHECK_LE(cells_left(&b), 1e-8);
  CHECK_LE(solid_left(&b), 1e-8);
  close_case(&b);
  CHECK_DONE();
}

/* Cells that are bound: the same answer by one row in place of two, with whole pressures; where one
   is held, no volume is asked for. */
static void test_bound(void **state)
{
  (void)state;
  double p0[2], sum = 0;
  for (int bound = 0; bound < 2; bound++) {
    bordered b;
    open_case(&b, 5);
    b.s.volumes = 1;
    b.s.volume[0] = (mn_mono_volume){.grid = 0, .row = b.row[0], .rate = 0.4};
    b.fluid.bounded = b.fluid.bound[1] = bound;
    CHECK_OK(b.ctx, mn_boxes_assemble(&b.boxes, &b.s.fluid));
    solve_case(&b, MN_SOLVER_CG);
    CHECK_NEAR(swept(&b, b.row[0]), 0.4, 1e-8);
    CHECK_LE(cells_left(&b), 1e-8);
    CHECK_LE(solid_left(&b), 1e-8);
    p0[bound] = b.s.volume[0].p0;
    sum += b.p[0] * (bound ? -1 : 1);
    if (bound) {
      b.s.held[1] = 1;
      CHECK(mn_mono_parted(&b.s, 0));
      solve_case(&b, MN_SOLVER_CG);
      CHECK_NEAR(b.p[1], 0, 0);
      CHECK_GE(fabs(swept(&b, b.row[0]) - 0.4), 1e-3);
      CHECK_LE(cells_left(&b), 1e-8);
      CHECK_LE(solid_left(&b), 1e-8);
      CHECK(!mn_mono_parted(&b.s, 1));
    }
    close_case(&b);
  }
  CHECK_NEAR(p0[0], p0[1], 1e-6 * (1 + fabs(p0[0])));
  CHECK_LE(fabs(sum), 1e-6 * (1 + fabs(p0[0])));
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_volumes),
                                     cmocka_unit_test(test_dependent),
                                     cmocka_unit_test(test_bound)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
