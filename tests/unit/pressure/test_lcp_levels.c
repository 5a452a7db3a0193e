/* Coarse matrices of fas against a plain triple product, after a solve in which cells were cut off
   and let in again; and what solvers say when there is no solution. */
#include <math.h>
#include <stdlib.h>

#include "lcp_sphere.h"
#include "pressure/lcp_levels.h"

/* Greatest |A_c x - P^T A P x| / greatest |A_c x| over the levels, for a random x. */
static double product_error(mn_lcp_levels *v)
{
  double worst = 0;
  uint64_t seed = 7;
  for (int l = 0; l + 1 < v->count; l++) {
    mn_lcp_level *L = &v->level[l], *coarse = L + 1;
    int fine = L->A->count, rows = coarse->A->count;
    double *y = calloc((size_t)fine, sizeof *y), *z = calloc((size_t)fine, sizeof *z);
    double *sum = calloc((size_t)rows, sizeof *sum), error = 0, size = 0;
    for (int I = 0; I < rows; I++)
      coarse->x[I] = 2 * check_random(&seed) - 1;
    for (int r = 0; r < fine; r++)
      for (int e = r << L->shift; e < (r + 1) << L->shift; e++)
        y[r] += L->from[e] >= 0 && !L->cut[r] ? L->weight[e] * coarse->x[L->from[e]] : 0;
    for (int r = 0; r < fine; r++) {
      z[r] = L->A->diagonal[r] * y[r];
      for (int e = L->A->start[r]; e < L->A->start[r + 1]; e++)
        z[r] += L->A->value[e] * y[L->A->column[e]];
      for (int e = r << L->shift; e < (r + 1) << L->shift && !L->cut[r]; e++)
        if (L->from[e] >= 0)
          sum[L->from[e]] += L->weight[e] * z[r];
    }
    for (int I = 0; I < rows; I++) {
      double product = coarse->A->diagonal[I] * coarse->x[I];
      for (int e = coarse->A->start[I]; e < coarse->A->start[I + 1]; e++)
        product += coarse->A->value[e] * coarse->x[coarse->A->column[e]];
      error = check_worst(error, fabs(product - sum[I]));
      size = fmax(size, fabs(product));
    }
    worst = check_worst(worst, error / size);
    free(y);
    free(z);
    free(sum);
  }
  return worst;
}

static void triple_product(void **state)
{
  (void)state;
  static const mn_lcp_solver_kind KIND[3] = {MN_LCP_FAS, MN_LCP_FAS_TRILINEAR, MN_LCP_FAS_CONSTANT};
  sphere t;
  sphere_create(&t, MN_PROBLEM_HALF_SPHERE_S, 32, 2);
  for (int k = 0; k < 3; k++) {
    mn_lcp_solver *v;
    mn_lcp_report r;
    mn_field_fill(&t.s.p, 0);
    CHECK_OK(t.ctx, mn_lcp_solver_create(t.ctx, &t.s.grid, KIND[k], &v));
    CHECK_OK(t.ctx, mn_lcp_solve(v, &t.lcp, &t.s.b, 1e-6, 5, &t.s.p, &r));
    CHECK_GE(v->levels->count, 3);
    CHECK_LE(product_error(v->levels), 1e-13);
    mn_lcp_level *L = &v->levels->level[0];
    int cut = 0, last = 0;
    for (int i = 0; i < L->A->count; i++) {
      cut += L->cut[i];
      last = L->cut[i] ? i : last;
    }
    CHECK_GE(cut, 100);
    CHECK_DONE();
    L->cut[last] = 0; /* the negative control: one cell that no product knows of */
    CHECK_LE(product_error(v->levels), 1e-13);
    CHECK_MUST_HAVE_FAILED();
    mn_lcp_solver_destroy(&v);
  }
  sphere_destroy(&t);
}

/* A closed box full of liquid that shall lose volume: p has no upper limit. */
static void no_solution(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  int n[3] = {16, 16, 1};
  mn_grid grid = mn_grid_make(&ctx->exec, 2, n, 1, mn_v3(0, 0, 0));
  mn_field open[3] = {0}, b, p;
  mn_lcp lcp;
  for (int a = 0; a < 2; a++) {
    CHECK_OK(ctx, mn_field_create(ctx, &grid, (mn_place)a, "open", &open[a]));
    mn_field_fill(&open[a], 1);
  }
  CHECK_OK(ctx, mn_field_create(ctx, &grid, MN_CELL, "b", &b));
  CHECK_OK(ctx, mn_field_create(ctx, &grid, MN_CELL, "p", &p));
  CHECK_OK(ctx, mn_lcp_create(ctx, &grid, &lcp));
  mn_pressure_geometry geometry = {.open = open, .theta_min = 0.01};
  CHECK_OK(ctx, mn_lcp_assemble(ctx, &geometry, &lcp));
  for (int kind = 0; kind < MN_LCP_SOLVERS; kind++)
    for (int lose = 0; lose < 2; lose++) {
      mn_lcp_solver *v;
      mn_lcp_report r;
      for (int j = 0; j < 16; j++)
        for (int i = 0; i < 16; i++)
          mn_set(&b, i, j, 0, (lose ? 0.1 : -0.1) + sin(i + 2.0 * j));
      mn_field_fill(&p, 0);
      CHECK_OK(ctx, mn_lcp_solver_create(ctx, &grid, (mn_lcp_solver_kind)kind, &v));
      CHECK_OK(ctx, mn_lcp_solve(v, &lcp, &b, 1e-6, 1000000, &p, &r));
      print_message("%s, %s: %s after %d iterations, residual %.2g\n",
                    mn_lcp_solver_name((mn_lcp_solver_kind)kind), lose ? "shrinks" : "grows",
                    mn_reason_text(r.solve.reason), r.solve.iterations, r.residual);
      if (lose)
        CHECK(r.solve.reason == MN_STALLED || r.solve.reason == MN_DIVERGED);
      else
        CHECK(r.solve.reason == MN_CONVERGED);
      CHECK_LE(r.solve.iterations, 200000);
      mn_lcp_solver_destroy(&v);
    }
  for (int a = 0; a < 2; a++)
    mn_field_destroy(&open[a]);
  mn_field_destroy(&b);
  mn_field_destroy(&p);
  mn_lcp_destroy(&lcp);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(triple_product),
                                     cmocka_unit_test(no_solution)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
