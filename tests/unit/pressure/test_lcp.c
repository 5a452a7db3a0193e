/* The LCP object and its solvers: a ceiling lets go, a tank at rest is the linear problem, what is
   reported is true. Each with a negative control. */
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "check.h"
#include "pressure/lcp.h"
#include "pressure/problem.h"

static const double FALL = -9.81 * 0.01; /* m/s gained in a step */

/* A closed box with liquid where phi < 0, at the velocity (0, FALL). */
typedef struct tank {
  mn_context *ctx;
  mn_grid grid;
  mn_field open[2], liquid, b, p;
  mn_pressure_geometry geometry;
  mn_lcp lcp;
} tank;

static void tank_create(tank *t, int n, double (*phi)(mn_vec3 x))
{
  int cells[3] = {n, n, 1};
  *t = (tank){.ctx = check_context(1)};
  t->grid = mn_grid_make(&t->ctx->exec, 2, cells, 1.0 / n, mn_v3(0, 0, 0));
  for (int a = 0; a < 2; a++)
    CHECK_OK(t->ctx, mn_field_create(t->ctx, &t->grid, (mn_place)a, "open", &t->open[a]));
  CHECK_OK(t->ctx, mn_field_create(t->ctx, &t->grid, MN_CELL, "liquid", &t->liquid));
  CHECK_OK(t->ctx, mn_field_create(t->ctx, &t->grid, MN_CELL, "b", &t->b));
  CHECK_OK(t->ctx, mn_field_create(t->ctx, &t->grid, MN_CELL, "p", &t->p));
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      mn_set(&t->open[0], i, j, 0, i > 0);
      mn_set(&t->open[1], i, j, 0, j > 0);
      mn_set(&t->liquid, i, j, 0, phi(mn_position(&t->liquid, i, j, 0)));
    }
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      double low = mn_get(&t->open[1], i, j, 0), high = mn_get(&t->open[1], i, j + 1, 0);
      mn_set(&t->b, i, j, 0, -FALL * (high - low) * n);
    }
  t->geometry = (mn_pressure_geometry){.open = t->open, .liquid = &t->liquid, .theta_min = 0.01};
  CHECK_OK(t->ctx, mn_lcp_create(t->ctx, &t->grid, &t->lcp));
  CHECK_OK(t->ctx, mn_lcp_assemble(t->ctx, &t->geometry, &t->lcp));
}

static void tank_destroy(tank *t)
{
  for (int a = 0; a < 2; a++)
    mn_field_destroy(&t->open[a]);
  mn_field_destroy(&t->liquid);
  mn_field_destroy(&t->b);
  mn_field_destroy(&t->p);
  mn_lcp_destroy(&t->lcp);
  mn_context_destroy(&t->ctx);
}

static mn_lcp_report solve(tank *t, mn_lcp_solver_kind kind, double tolerance)
{
  mn_lcp_solver *v;
  mn_lcp_report report;
  mn_field_fill(&t->p, 0);
  CHECK_OK(t->ctx, mn_lcp_solver_create(t->ctx, &t->grid, kind, &v));
  CHECK_OK(t->ctx, mn_lcp_solve(v, &t->lcp, &t->b, tolerance, 1000000, &t->p, &report));
  mn_lcp_solver_destroy(&v);
  return report;
}

/* The linear solution, walls holding on. */
static void solve_linear(tank *t, double tolerance)
{
  mn_pressure *v;
  mn_solve_report report;
  mn_field_fill(&t->p, 0);
  CHECK_OK(t->ctx, mn_pressure_create(t->ctx, &t->grid, MN_PRESSURE_PCG, &v));
  CHECK_OK(t->ctx, mn_pressure_assemble(v, &t->geometry));
  CHECK_OK(t->ctx, mn_pressure_solve(v, &t->b, tolerance, 1e-6, 10000, &t->p, &report));
  CHECK(report.reason == MN_CONVERGED);
  mn_pressure_destroy(&v);
}

static double hanging(mn_vec3 x)
{
  return 0.53 - x.y;
}

static double resting(mn_vec3 x)
{
  return x.y - 0.53;
}

/* Greatest |v - FALL| of the projected velocity over faces between liquid cells. */
static double not_falling(const tank *t)
{
  double worst = 0;
  for (int j = 1; j < t->grid.n[1]; j++)
    for (int i = 0; i < t->grid.n[0]; i++)
      if (mn_get(&t->liquid, i, j, 0) < 0 && mn_get(&t->liquid, i, j - 1, 0) < 0)
        worst = check_worst(worst,
                            fabs(mn_get(&t->p, i, j, 0) - mn_get(&t->p, i, j - 1, 0)) / t->grid.dx);
  return worst;
}

static void ceiling_lets_go(void **state)
{
  (void)state;
  tank t;
  tank_create(&t, 16, hanging);
  for (int kind = 0; kind < MN_LCP_SOLVERS; kind++) {
    mn_lcp_report r = solve(&t, (mn_lcp_solver_kind)kind, 1e-12);
    CHECK(r.solve.reason == MN_CONVERGED);
    CHECK_LE(not_falling(&t), 1e-10);
    CHECK_LE(r.complementarity, 1e-8);
  }
  CHECK_DONE();
  solve_linear(&t, 1e-12); /* the negative control hangs: it does not fall at all */
  CHECK_NEAR(not_falling(&t), -FALL, 1e-8);
  CHECK_DONE();
  CHECK_LE(not_falling(&t), 1e-10);
  CHECK_MUST_HAVE_FAILED();
  tank_destroy(&t);
}

/* ||p - linear|| / ||linear|| of every solver; the worst. */
static double against_linear(tank *t, int *outer)
{
  mn_field exact;
  double worst = 0;
  solve_linear(t, 1e-12);
  CHECK_OK(t->ctx, mn_field_create(t->ctx, &t->grid, MN_CELL, "linear solution", &exact));
  mn_field_copy(&exact, &t->p);
  *outer = 0;
  for (int kind = 0; kind < MN_LCP_SOLVERS; kind++) {
    mn_lcp_report r = solve(t, (mn_lcp_solver_kind)kind, 1e-11);
    double size = 0, difference = 0;
    for (size_t i = 0; i < exact.size; i++) {
      size = fmax(size, fabs(exact.data[i]));
      difference = check_worst(difference, fabs(exact.data[i] - t->p.data[i]));
    }
    worst = check_worst(worst, difference / size);
    *outer = r.outer > *outer ? r.outer : *outer;
    CHECK(r.solve.reason == MN_CONVERGED);
  }
  mn_field_destroy(&exact);
  return worst;
}

static void tank_at_rest(void **state)
{
  (void)state;
  tank t;
  int outer;
  tank_create(&t, 16, resting);
  CHECK_LE(against_linear(&t, &outer), 1e-8);
  CHECK(outer == 1);
  CHECK_DONE();
  tank_destroy(&t);
  tank_create(&t, 16, hanging);
  double difference = against_linear(&t, &outer);
  CHECK_DONE();
  CHECK_LE(difference, 1e-8);
  CHECK_MUST_HAVE_FAILED();
  tank_destroy(&t);
}

static double full(mn_vec3 x)
{
  (void)x;
  return -1;
}

/* A full tank whose water has let go of the ceiling: p = 0 there, and it falls. Bottom at rest. */
static void anchored(void **state)
{
  (void)state;
  enum { N = 16 };
  tank t;
  mn_field anchor;
  tank_create(&t, N, full);
  CHECK_OK(t.ctx, mn_field_create(t.ctx, &t.grid, MN_CELL, "anchor", &anchor));
  for (int i = 0; i < N; i++) {
    mn_set(&anchor, i, N - 1, 0, 2); /* half a cell above the centre */
    mn_set(&t.b, i, N - 1, 0, 0);    /* it flows out as it falls */
  }
  t.geometry.anchor = &anchor;
  CHECK_OK(t.ctx, mn_lcp_assemble(t.ctx, &t.geometry, &t.lcp));
  for (int i = 0; i < N; i++)
    t.lcp.separating[t.p.at - t.p.data + mn_index(&t.p, i, N - 1, 0)] = 0;
  for (int kind = 0; kind < MN_LCP_SOLVERS; kind++) {
    mn_lcp_report r = solve(&t, (mn_lcp_solver_kind)kind, 1e-11);
    double worst = 0;
    for (int j = 0; j < N; j++)
      for (int i = 0; i < N; i++) {
        double depth = 1 - mn_position(&t.p, i, j, 0).y;
        worst = check_worst(worst, fabs(mn_get(&t.p, i, j, 0) + FALL * depth));
      }
    CHECK(r.solve.reason == MN_CONVERGED);
    CHECK_LE(worst, 1e-9);
    CHECK_LE(r.residual, 1e-10);
  }
  CHECK_DONE();
  mn_set(&anchor, 3, N - 1, 0, 4); /* another tank */
  CHECK_OK(t.ctx, mn_lcp_assemble(t.ctx, &t.geometry, &t.lcp));
  solve(&t, MN_LCP_FAST, 1e-11);
  CHECK_NEAR(mn_get(&t.p, 3, N - 1, 0), -FALL * 0.5 / N, 1e-9);
  CHECK_MUST_HAVE_FAILED();
  mn_field_destroy(&anchor);
  tank_destroy(&t);
}

static void check_report(const mn_lcp_report *r, const mn_field *p, double tolerance)
{
  double most = 0;
  for (size_t i = 0; i < p->size; i++)
    most = fmax(most, p->data[i]);
  CHECK(r->solve.reason == MN_CONVERGED);
  CHECK_LE(r->residual, tolerance);
  CHECK_GE(r->least_p, -1e-8 * most);
  CHECK_GE(r->least_slack, -tolerance);
  CHECK_LE(r->complementarity, 1e-8);
}

/* On the half-sphere some cells let go, and every solver says the truth about it. */
static void complementarity(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_problem_setup s;
  mn_lcp lcp;
  mn_lcp_report r;
  CHECK_OK(ctx, mn_problem_create(ctx, MN_PROBLEM_HALF_SPHERE_S, 16, &s));
  CHECK_OK(ctx, mn_lcp_create(ctx, &s.grid, &lcp));
  CHECK_OK(ctx, mn_lcp_assemble(ctx, &s.geometry, &lcp));
  int active = -1;
  for (int kind = 0; kind < MN_LCP_SOLVERS; kind++) {
    mn_lcp_solver *v;
    mn_field_fill(&s.p, 0);
    print_message("%s\n", mn_lcp_solver_name((mn_lcp_solver_kind)kind));
    CHECK_OK(ctx, mn_lcp_solver_create(ctx, &s.grid, (mn_lcp_solver_kind)kind, &v));
    CHECK_OK(ctx, mn_lcp_solve(v, &lcp, &s.b, 1e-7, 1000000, &s.p, &r));
    check_report(&r, &s.p, 1e-7);
    CHECK_GE(r.active, 10);
    if (kind != MN_LCP_PE_PCG && kind != MN_LCP_PE_MG) { /* penalty leaves p < 0 */
      active = active < 0 ? r.active : active;
      CHECK_NEAR(r.active, active, 2);
    }
    /* a warm start from the solution has nothing to do */
    CHECK_OK(ctx, mn_lcp_solve(v, &lcp, &s.b, 1.1e-7, 1000000, &s.p, &r));
    CHECK_LE(r.solve.iterations, 0);
    mn_lcp_solver_destroy(&v);
  }
  CHECK_DONE();
  mn_lcp_solver *v; /* a solver stopped early is not called converged */
  mn_field_fill(&s.p, 0);
  CHECK_OK(ctx, mn_lcp_solver_create(ctx, &s.grid, MN_LCP_PGS, &v));
  CHECK_OK(ctx, mn_lcp_solve(v, &lcp, &s.b, 1e-6, 4, &s.p, &r));
  CHECK(r.solve.reason == MN_ITERATION_LIMIT);
  CHECK_DONE();
  check_report(&r, &s.p, 1e-6);
  CHECK_MUST_HAVE_FAILED();
  mn_lcp_solver_destroy(&v);
  mn_lcp_destroy(&lcp);
  mn_problem_destroy(&s);
  mn_context_destroy(&ctx);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(ceiling_lets_go),
                                     cmocka_unit_test(tank_at_rest), cmocka_unit_test(anchored),
                                     cmocka_unit_test(complementarity)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
