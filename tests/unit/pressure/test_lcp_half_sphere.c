/* Iterations of the LCP solvers on the half-sphere problem at 32 and 64 cells, beside those
   published for a half-filled sphere [Lai 2021, tables 6.2, 6.4, 6.12]; the solvers agree; threads
   do not matter. */
#include <stdlib.h>
#include <string.h>

#include "lcp_sphere.h"

static const mn_problem PROBLEM[2] = {MN_PROBLEM_HALF_SPHERE_G, MN_PROBLEM_HALF_SPHERE_S};

/* published at 32 and 64: fas 9.75, 10.44 (average of 100 frames); trilinear 6, 8; piecewise
   constant 47, 112; no boundary handling 6, 32; direct coarse 65, 171 */
static void multigrid_counts(void **state)
{
  (void)state;
  for (int variant = 0; variant < 2; variant++) {
    int fas[2], constant[2], direct[2];
    for (int g = 0; g < 2; g++) {
      sphere t;
      sphere_create(&t, PROBLEM[variant], 32 << g, 1);
      fas[g] = sphere_solve(&t, MN_LCP_FAS, 100).solve.iterations;
      constant[g] = sphere_solve(&t, MN_LCP_FAS_CONSTANT, 500).solve.iterations;
      direct[g] = sphere_solve(&t, MN_LCP_FAS_DIRECT_COARSE, 500).solve.iterations;
      mn_lcp_report plain = sphere_solve(&t, MN_LCP_FAS_PLAIN_WALLS, 500);
      CHECK_LE(fas[g], g ? 1.5 * 10.44 : 1.5 * 9.75);
      if (variant || !g) /* its products are dear */
        CHECK_LE(sphere_solve(&t, MN_LCP_FAS_TRILINEAR, 100).solve.iterations, fas[g] + 1);
      CHECK_GE(constant[g], 4 * fas[g]);
      CHECK_GE(plain.solve.iterations, 1.3 * fas[g]);
      sphere_destroy(&t);
    }
    CHECK_LE(fas[1], fas[0] + 2);
    CHECK_GE(constant[1], 1.7 * constant[0]); /* doubles with the size */
    CHECK_GE(direct[1], 1.8 * direct[0]);
    CHECK_GE(direct[1], 4 * fas[1]);
  }
  CHECK_DONE();
}

/* Greatest difference of two pressures over the greatest pressure. */
static double difference(const mn_field *a, const double *b)
{
  double worst = 0, size = 0;
  for (size_t i = 0; i < a->size; i++) {
    worst = check_worst(worst, fabs(a->data[i] - b[i]));
    size = fmax(size, fabs(b[i]));
  }
  return worst / size;
}

static void solvers_agree(void **state)
{
  (void)state;
  for (int variant = 0; variant < 2; variant++) {
    sphere t;
    sphere_create(&t, PROBLEM[variant], 32, 1);
    size_t bytes = t.s.p.size * sizeof(double);
    double *first = malloc(bytes);
    mn_lcp_report r = sphere_solve(&t, MN_LCP_PI_PCG, 10000);
    int active = r.active;
    memcpy(first, t.s.p.data, bytes);
    CHECK_GE(active, 300);
    CHECK_LE(r.decrease, 1e-8);
    for (int kind = 0; kind < MN_LCP_SOLVERS; kind++) {
      r = sphere_solve(&t, (mn_lcp_solver_kind)kind, 20000);
      CHECK(r.solve.reason == MN_CONVERGED);
      CHECK(r.active == active);
      CHECK_LE(difference(&t.s.p, first), 1e-5);
      CHECK_GE(r.least_slack, -1e-6);
      CHECK_LE(r.complementarity, 1e-7);
    }
    free(first);
    sphere_destroy(&t);
  }
  CHECK_DONE();
}

/* pi-pcg needs many more iterations than pi-mg, and they double with the size; newton still more */
static void krylov_counts(void **state)
{
  (void)state;
  int pcg[2], mg[2], outer[2];
  for (int g = 0; g < 2; g++) {
    sphere t;
    sphere_create(&t, MN_PROBLEM_HALF_SPHERE_S, 32 << g, 1);
    mn_lcp_report r = sphere_solve(&t, MN_LCP_PI_PCG, 10000);
    pcg[g] = r.solve.iterations;
    outer[g] = r.outer;
    mg[g] = sphere_solve(&t, MN_LCP_PI_MG, 10000).solve.iterations;
    mn_lcp_report fast = sphere_solve(&t, MN_LCP_FAST, 10000);
    CHECK_LE(fast.solve.iterations, 12);
    sphere_destroy(&t);
  }
  CHECK_GE(pcg[1], 1.5 * pcg[0]);
  CHECK_LE(mg[1], 1.5 * mg[0]);
  CHECK_LE(outer[1], outer[0] + 2);
  CHECK_DONE();
}

static void threads_do_not_matter(void **state)
{
  (void)state;
  static const mn_lcp_solver_kind KIND[] = {MN_LCP_FAST, MN_LCP_FAS,   MN_LCP_FAS_TRILINEAR,
                                            MN_LCP_FMG,  MN_LCP_MPRGP, MN_LCP_FAS_DIRECT_COARSE};
  for (size_t k = 0; k < sizeof KIND / sizeof *KIND; k++) {
    double *first = NULL;
    for (int threads = 1; threads <= 4; threads *= 2) {
      sphere t;
      sphere_create(&t, MN_PROBLEM_HALF_SPHERE_S, 32, threads);
      mn_lcp_report r = sphere_solve(&t, KIND[k], 1000);
      CHECK(r.solve.reason == MN_CONVERGED);
      size_t bytes = t.s.p.size * sizeof(double);
      if (!first) {
        first = malloc(bytes);
        memcpy(first, t.s.p.data, bytes);
      }
      CHECK(!memcmp(first, t.s.p.data, bytes));
      sphere_destroy(&t);
    }
    free(first);
  }
  CHECK_DONE();
}

/* A second solve with as many unknowns allocates nothing; a warm p of a neighbouring problem
   saves iterations. */
static void second_solve(void **state)
{
  (void)state;
  sphere t;
  sphere_create(&t, MN_PROBLEM_HALF_SPHERE_S, 32, 2);
  mn_field b;
  CHECK_OK(t.ctx, mn_field_create(t.ctx, &t.s.grid, MN_CELL, "b", &b));
  for (size_t i = 0; i < b.size; i++)
    b.data[i] = t.s.b.data[i] * (1 + 0.01 * sin(0.1 * (double)i));
  for (int kind = 0; kind < MN_LCP_SOLVERS; kind++) {
    mn_lcp_solver *v;
    mn_lcp_report cold, warm;
    mn_field_fill(&t.s.p, 0);
    CHECK_OK(t.ctx, mn_lcp_solver_create(t.ctx, &t.s.grid, (mn_lcp_solver_kind)kind, &v));
    CHECK_OK(t.ctx, mn_lcp_solve(v, &t.lcp, &t.s.b, 1e-6, 20000, &t.s.p, &cold));
    long long before = (long long)t.ctx->allocations;
    CHECK_OK(t.ctx, mn_lcp_solve(v, &t.lcp, &b, 1e-6, 20000, &t.s.p, &warm));
    print_message("%s: cold %d, warm %d\n", mn_lcp_solver_name((mn_lcp_solver_kind)kind),
                  cold.solve.iterations, warm.solve.iterations);
    /* the inner multigrid's levels depend on the held cells, and may grow */
    if (kind != MN_LCP_FAST && kind != MN_LCP_PI_MG && kind != MN_LCP_PE_MG)
      CHECK((long long)t.ctx->allocations == before);
    CHECK(warm.solve.reason == MN_CONVERGED);
    if (kind == MN_LCP_PI_MG || kind == MN_LCP_PE_MG || kind == MN_LCP_PI_PCG)
      CHECK_LE(warm.solve.iterations, 0.5 * cold.solve.iterations);
    if (kind == MN_LCP_FAS)
      CHECK_LE(warm.solve.iterations, cold.solve.iterations - 1);
    mn_lcp_solver_destroy(&v);
  }
  mn_field_destroy(&b);
  sphere_destroy(&t);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(multigrid_counts), cmocka_unit_test(solvers_agree),
      cmocka_unit_test(krylov_counts), cmocka_unit_test(threads_do_not_matter),
      cmocka_unit_test(second_solve)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
