/* The default LCP solver: from the geometry and from the matrix it finds what plain policy
   iteration finds, measured in two ways; the same bits for any number of threads; walls that hold
   on. */
#include <stdlib.h>
#include <string.h>

#include "lcp_sphere.h"
#include "pressure/lcp_internal.h"

/* From p as it stands, rows from the geometry or from the matrix. */
static mn_lcp_report solve(sphere *t, mn_lcp_solver_kind kind, int by_geometry, double tolerance)
{
  mn_lcp_solver *v;
  mn_lcp_report r;
  t->lcp.geometry_only = by_geometry;
  CHECK_OK(t->ctx, mn_lcp_solver_create(t->ctx, &t->s.grid, kind, &v));
  CHECK_OK(t->ctx, mn_lcp_solve(v, &t->lcp, &t->s.b, tolerance, 1000, &t->s.p, &r));
  mn_lcp_solver_destroy(&v);
  CHECK(r.solve.reason == MN_CONVERGED);
  return r;
}

static double *copy(const mn_field *p)
{
  double *x = malloc(p->size * sizeof *x);
  memcpy(x, p->data, p->size * sizeof *x);
  return x;
}

static double difference(const mn_field *p, const double *q)
{
  double worst = 0, size = 0;
  for (size_t i = 0; i < p->size; i++) {
    worst = check_worst(worst, fabs(p->data[i] - q[i]));
    size = fmax(size, fabs(q[i]));
  }
  return worst / size;
}

/* Cold, and warm from the solution for another b. */
static void twins(void **state)
{
  (void)state;
  for (int variant = 0; variant < 2; variant++) {
    sphere t;
    sphere_create(&t, variant ? MN_PROBLEM_HALF_SPHERE_S : MN_PROBLEM_HALF_SPHERE_G, 40, 1);
    mn_lcp_report plain = solve(&t, MN_LCP_PI_MG, 0, 1e-9);
    double *p = copy(&t.s.p);
    CHECK_GE(plain.active, 300);
    for (int by_geometry = 0; by_geometry < 2; by_geometry++) {
      mn_field_fill(&t.s.p, 0);
      mn_lcp_report fast = solve(&t, MN_LCP_FAST, by_geometry, 1e-9);
      CHECK_LE(difference(&t.s.p, p), 1e-9);
      CHECK_NEAR(fast.active, plain.active, 2);
      int outside = 0; /* where p must be 0 */
      for (size_t i = 0; i < t.s.p.size; i++)
        outside += t.s.p.data[i] != 0 && !(t.lcp.matrix.diagonal.data[i] > 0);
      CHECK(outside == 0);
    }
    for (size_t i = 0; i < t.s.b.size; i++)
      t.s.b.data[i] *= 1 + 0.02 * (double)(i % 7);
    mn_lcp_report warm = solve(&t, MN_LCP_FAST, 1, 1e-9);
    free(p);
    p = copy(&t.s.p);
    mn_field_fill(&t.s.p, 0);
    solve(&t, MN_LCP_PI_MG, 0, 1e-9);
    CHECK_LE(difference(&t.s.p, p), 1e-9);
    CHECK_LE(warm.outer, 6);
    free(p);
    sphere_destroy(&t);
  }
  CHECK_DONE();
}

/* The same p, wrong on purpose, measured by the matrix and by the geometry. */
static void measured_twice(void **state)
{
  (void)state;
  sphere t;
  sphere_create(&t, MN_PROBLEM_HALF_SPHERE_S, 24, 1);
  solve(&t, MN_LCP_FAST, 1, 1e-6);
  mn_lcp_solver *v;
  mn_lcp_report r[2];
  CHECK_OK(t.ctx, mn_lcp_solver_create(t.ctx, &t.s.grid, MN_LCP_FAST, &v));
  CHECK_OK(t.ctx, mn_lcp_solve(v, &t.lcp, &t.s.b, 1e-6, 100, &t.s.p, &r[0]));
  uint64_t seed = 3;
  for (int wrong = 0; wrong < 20; wrong++) {
    if (wrong)
      for (size_t i = 0; i < t.s.p.size; i++)
        if (t.lcp.matrix.diagonal.data[i] > 0 && check_random(&seed) < 0.05)
          t.s.p.data[i] += 1e-4 * (check_random(&seed) - 0.5);
    for (int by_geometry = 0; by_geometry < 2; by_geometry++) {
      mn_lcp_task task = {&t.lcp, &t.s.b, 0, 0, &t.s.p, &r[by_geometry]};
      t.lcp.geometry_only = by_geometry;
      CHECK_OK(t.ctx, mn_lcp_measure(v, &task));
    }
    double size = r[0].residual + 1e-3; /* rounding: 1e-12 of b, which is about 1 */
    CHECK_NEAR(r[1].residual, r[0].residual, 1e-9 * size);
    CHECK_NEAR(r[1].least_p, r[0].least_p, 0);
    CHECK_NEAR(r[1].least_slack, r[0].least_slack, 1e-9 * size);
    CHECK_NEAR(r[1].complementarity, r[0].complementarity, 1e-9 * (1e-6 + r[0].complementarity));
    CHECK_NEAR(r[1].active, r[0].active, 0);
  }
  CHECK_DONE();
  CHECK_LE(r[1].residual, 1e-6);
  CHECK_MUST_HAVE_FAILED();
  mn_lcp_solver_destroy(&v);
  sphere_destroy(&t);
}

/* Where all walls hold on, the problem is linear; without that it is not. */
static void sticking(void **state)
{
  (void)state;
  sphere t;
  sphere_create(&t, MN_PROBLEM_HALF_SPHERE_G, 32, 1);
  mn_pressure *linear;
  mn_solve_report report;
  CHECK_OK(t.ctx, mn_pressure_create(t.ctx, &t.s.grid, MN_PRESSURE_PCG, &linear));
  CHECK_OK(t.ctx, mn_pressure_assemble(linear, &t.s.geometry));
  CHECK_OK(t.ctx, mn_pressure_solve(linear, &t.s.b, 1e-9, 1, 1000, &t.s.p, &report));
  double *p = copy(&t.s.p);
  memset(t.lcp.separating, 0, t.s.p.size);
  t.lcp.marked = 1;
  for (int by_geometry = 0; by_geometry < 2; by_geometry++) {
    mn_field_fill(&t.s.p, 0);
    mn_lcp_report r = solve(&t, MN_LCP_FAST, by_geometry, 1e-9);
    CHECK(r.active == 0);
    CHECK_LE(difference(&t.s.p, p), 1e-9);
  }
  CHECK_DONE();
  mn_lcp_set_geometry(&t.s.geometry, &t.lcp);
  solve(&t, MN_LCP_FAST, 1, 1e-9);
  CHECK_LE(difference(&t.s.p, p), 1e-9);
  CHECK_MUST_HAVE_FAILED();
  free(p);
  mn_pressure_destroy(&linear);
  sphere_destroy(&t);
}

static void threads_do_not_matter(void **state)
{
  (void)state;
  double *first = NULL;
  for (int threads = 1; threads <= 4; threads *= 2) {
    sphere t;
    sphere_create(&t, MN_PROBLEM_HALF_SPHERE_S, 56, threads);
    mn_lcp_report r = solve(&t, MN_LCP_FAST, 1, 1e-6);
    first = first ? first : copy(&t.s.p);
    CHECK(!memcmp(first, t.s.p.data, t.s.p.size * sizeof *first));
    CHECK_LE(r.solve.iterations, 12);
    sphere_destroy(&t);
  }
  free(first);
  CHECK_DONE();
}

static void others_need_the_matrix(void **state)
{
  (void)state;
  sphere t;
  mn_lcp_solver *v;
  mn_lcp_report r;
  sphere_create(&t, MN_PROBLEM_HALF_SPHERE_S, 16, 1);
  mn_lcp_set_geometry(&t.s.geometry, &t.lcp);
  CHECK_OK(t.ctx, mn_lcp_solver_create(t.ctx, &t.s.grid, MN_LCP_FAS, &v));
  CHECK_FAILS(t.ctx, mn_lcp_solve(v, &t.lcp, &t.s.b, 1e-6, 10, &t.s.p, &r), MN_FAILED,
              "fas needs the matrix");
  mn_lcp_solver_destroy(&v);
  sphere_destroy(&t);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(twins), cmocka_unit_test(measured_twice), cmocka_unit_test(sticking),
      cmocka_unit_test(threads_do_not_matter), cmocka_unit_test(others_need_the_matrix)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
