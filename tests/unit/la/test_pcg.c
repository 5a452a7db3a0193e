#include "check.h"

#include "base/context.h"
#include "la/dense.h"
#include "la/pcg.h"
#include "matrices.h"

static mn_solve_report solve(mn_context *ctx, mn_precond_kind kind, const mn_csr *a,
                             const double *b, double tolerance, int limit, double *x)
{
  mn_pcg *pcg;
  mn_solve_report report;
  CHECK_OK(ctx, mn_pcg_create(ctx, kind, &pcg));
  CHECK_OK(ctx, mn_pcg_setup(pcg, a));
  CHECK_OK(ctx, mn_pcg_solve(pcg, b, tolerance, limit, x, &report));
  mn_pcg_destroy(&pcg);
  return report;
}

static void test_random_spd_equals_lapack(void **state)
{
  (void)state;
  enum { N = 120 };
  mn_context *ctx = check_context(2);
  mn_arena arena = {0};
  mn_csr a;
  CHECK_OK(ctx, random_spd(ctx, N, 4, 11, &a));
  double *d = to_dense(&a), *b = random_vector(N, 12), expected[N];
  CHECK_OK(ctx, mn_dense_solve_spd(ctx, &arena, N, d, 1, b, expected));
  for (int kind = MN_PRECOND_JACOBI; kind <= MN_PRECOND_MIC; kind++) {
    double x[N] = {0};
    mn_solve_report r = solve(ctx, (mn_precond_kind)kind, &a, b, 1e-12, 500, x);
    CHECK(r.reason == MN_CONVERGED);
    CHECK_LE(r.residual, 1e-12);
    CHECK_LE(max_difference(N, x, expected), 1e-10);
  }
  free(d), free(b);
  mn_arena_destroy(&arena);
  mn_csr_destroy(&a);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* The sine of wave numbers (2, 3) is an eigenvector of the Poisson matrix. */
static void test_poisson_counts_and_exact_solution(void **state)
{
  (void)state;
  enum { SIDE = 64, N = SIDE * SIDE };
  mn_context *ctx = check_context(2);
  mn_csr a;
  CHECK_OK(ctx, poisson(ctx, 2, SIDE, &a));
  double *noise = random_vector(N, 5), *b = calloc(N, 8), *x = calloc(N, 8), *exact = calloc(N, 8);
  double pi = acos(-1.0), s2 = sin(pi / (SIDE + 1)), s3 = sin(1.5 * pi / (SIDE + 1));
  double lambda = 4 * (s2 * s2 + s3 * s3);
  for (int j = 0; j < SIDE; j++)
    for (int i = 0; i < SIDE; i++) {
      exact[i + j * SIDE] = sin(2 * pi * (i + 1) / (SIDE + 1)) * sin(3 * pi * (j + 1) / (SIDE + 1));
      b[i + j * SIDE] = lambda * exact[i + j * SIDE];
    }
  mn_solve_report r = solve(ctx, MN_PRECOND_JACOBI, &a, b, 1e-11, 10, x);
  CHECK_LE(r.iterations, 2); /* b is an eigenvector: one step, and one for rounding */
  CHECK_LE(max_difference(N, x, exact), 1e-9);

  int count[3];
  for (int kind = MN_PRECOND_JACOBI; kind <= MN_PRECOND_MIC; kind++) {
    memset(x, 0, N * sizeof *x);
    r = solve(ctx, (mn_precond_kind)kind, &a, noise, 1e-9, 1000, x);
    CHECK(r.reason == MN_CONVERGED);
    CHECK_LE(r.residual, 1e-9);
    CHECK_LE(r.initial_residual, 1);
    count[kind] = r.iterations;
  }
  CHECK_LE(count[MN_PRECOND_IC], 0.5 * count[MN_PRECOND_JACOBI]);
  CHECK_LE(count[MN_PRECOND_MIC], 0.75 * count[MN_PRECOND_IC]);
  free(noise), free(b), free(x), free(exact);
  mn_csr_destroy(&a);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Iterations grow like n for IC(0) and like sqrt(n) for MIC(0) on an n x n grid [Gustafsson 1978]:
   the order in h of 1/iterations. */
static void test_growth_of_iterations(void **state)
{
  (void)state;
  mn_context *ctx = check_context(2);
  double h[4], ic[4], mic[4];
  for (int level = 0; level < 4; level++) {
    int side = 24 << level;
    size_t n = (size_t)side * (size_t)side;
    mn_csr a;
    CHECK_OK(ctx, poisson(ctx, 2, side, &a));
    double *b = random_vector(n, 5), *x = calloc(n, 8);
    h[level] = 1.0 / side;
    ic[level] = 1.0 / solve(ctx, MN_PRECOND_IC, &a, b, 1e-9, 2000, x).iterations;
    memset(x, 0, n * sizeof *x);
    mic[level] = 1.0 / solve(ctx, MN_PRECOND_MIC, &a, b, 1e-9, 2000, x).iterations;
    free(b), free(x);
    mn_csr_destroy(&a);
  }
  CHECK_ORDER(h, ic, 4, 1, 0.25);
  CHECK_ORDER(h, mic, 4, 0.5, 0.2);
  CHECK_LE(fitted_order(h, mic, 4), 0.8);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* A tridiagonal or a full matrix has no fill: IC(0) is its Cholesky factor and PCG needs one step.
 */
static void test_ic_is_exact_without_fill(void **state)
{
  (void)state;
  enum { N = 200 };
  mn_context *ctx = check_context(1);
  mn_triplet t[3 * N];
  size_t count = 0;
  for (int i = 0; i < N; i++) {
    t[count++] = (mn_triplet){i, i, 2.1};
    if (i > 0) {
      t[count++] = (mn_triplet){i, i - 1, -1};
      t[count++] = (mn_triplet){i - 1, i, -1};
    }
  }
  mn_csr a;
  CHECK_OK(ctx, mn_csr_from_triplets(ctx, N, N, t, count, &a));
  double *b = random_vector(N, 2);
  for (int kind = MN_PRECOND_IC; kind <= MN_PRECOND_MIC; kind++) {
    double x[N] = {0};
    mn_solve_report r = solve(ctx, (mn_precond_kind)kind, &a, b, 1e-12, 10, x);
    CHECK(r.reason == MN_CONVERGED);
    CHECK_LE(r.iterations, 1);
  }
  double x[N] = {0}; /* negative control: Jacobi is not exact here */
  CHECK(solve(ctx, MN_PRECOND_JACOBI, &a, b, 1e-12, 10, x).reason == MN_ITERATION_LIMIT);
  mn_csr_destroy(&a);

  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++)
      t[6 * i + j] = (mn_triplet){i, j, 1.0 / (i + j + 1) + (i == j)};
  CHECK_OK(ctx, mn_csr_from_triplets(ctx, 6, 6, t, 36, &a));
  memset(x, 0, sizeof x);
  CHECK_LE(solve(ctx, MN_PRECOND_IC, &a, b, 1e-12, 10, x).iterations, 1);
  free(b);
  mn_csr_destroy(&a);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* M = L L^T multiplied out: equal to A on the pattern, and for MIC(0) the row sums of M differ from
   those of A by (1 - tau) times the fill. */
static void test_incomplete_factor_multiplied_out(void **state)
{
  (void)state;
  enum { SIDE = 8, N = SIDE * SIDE };
  mn_context *ctx = check_context(1);
  mn_csr a;
  CHECK_OK(ctx, poisson(ctx, 2, SIDE, &a));
  double *d = to_dense(&a);
  for (int kind = MN_PRECOND_IC; kind <= MN_PRECOND_MIC; kind++) {
    mn_precond m = {0};
    CHECK_OK(ctx, mn_precond_setup(ctx, (mn_precond_kind)kind, &a, &m));
    static double l[N * N], product[N * N];
    memset(l, 0, sizeof l);
    for (int k = 0; k < N; k++) {
      l[k + k * N] = 1 / m.inverse[k];
      for (int64_t e = m.upper.start[k]; e < m.upper.start[k + 1]; e++)
        l[m.upper.col[e] + k * N] = m.upper.value[e];
    }
    double on_pattern = 0, sums = 0, fill_sums = 0;
    for (int i = 0; i < N; i++) {
      double sum = 0, fill = 0;
      for (int j = 0; j < N; j++) {
        double s = 0;
        for (int k = 0; k < N; k++)
          s += l[i + k * N] * l[j + k * N];
        product[i + j * N] = s;
        sum += s - d[i + j * N];
        if (mn_csr_find(&a, i, j) < 0)
          fill += s;
        else if (i != j || kind == MN_PRECOND_IC)
          on_pattern = fmax(on_pattern, fabs(s - d[i + j * N]));
      }
      sums = fmax(sums, fabs(sum - 0.03 * fill));
      fill_sums = fmax(fill_sums, fabs(fill));
    }
    CHECK_LE(on_pattern, 1e-13);
    CHECK_GE(fill_sums, 0.1);
    if (kind == MN_PRECOND_MIC)
      CHECK_LE(sums, 1e-13);
    else
      CHECK_GE(sums, 0.1);

    double *r = random_vector(N, 9), z[N], back[N] = {0}; /* apply inverts the product */
    mn_precond_apply(&ctx->exec, &m, r, z);
    for (int j = 0; j < N; j++)
      for (int i = 0; i < N; i++)
        back[i] += product[i + j * N] * z[j];
    CHECK_LE(max_difference(N, back, r), 1e-12);
    free(r);
    mn_precond_destroy(&m);
  }
  free(d);
  mn_csr_destroy(&a);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_reports_what_happened(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_csr a;
  /* eigenvalues 3 and -1, positive diagonal */
  mn_triplet t[] = {{0, 0, 1}, {0, 1, 2}, {1, 0, 2}, {1, 1, 1}};
  CHECK_OK(ctx, mn_csr_from_triplets(ctx, 2, 2, t, 4, &a));
  double b[] = {1, -1}, x[] = {0, 0};
  CHECK(solve(ctx, MN_PRECOND_JACOBI, &a, b, 1e-12, 10, x).reason == MN_DIVERGED);
  double nan[] = {NAN, 0};
  CHECK(solve(ctx, MN_PRECOND_JACOBI, &a, nan, 1e-12, 10, x).reason == MN_DIVERGED);
  mn_csr_destroy(&a);

  t[3].value = 0;
  CHECK_OK(ctx, mn_csr_from_triplets(ctx, 2, 2, t, 4, &a));
  mn_pcg *pcg;
  mn_solve_report report;
  CHECK_OK(ctx, mn_pcg_create(ctx, MN_PRECOND_IC, &pcg));
  CHECK_FAILS(ctx, mn_pcg_setup(pcg, &a), MN_FAILED, "diagonal entry 1 is 0");
  CHECK_FAILS(ctx, mn_pcg_solve(pcg, b, 1, 1, x, &report), MN_FAILED, "not set up");
  mn_csr_destroy(&a);
  CHECK_OK(ctx, mn_csr_from_triplets(ctx, 2, 3, t, 4, &a));
  CHECK_FAILS(ctx, mn_pcg_setup(pcg, &a), MN_BAD_INPUT, "2 x 3");
  mn_csr_destroy(&a);
  mn_pcg_destroy(&pcg);

  enum { SIDE = 20, N = SIDE * SIDE };
  CHECK_OK(ctx, poisson(ctx, 2, SIDE, &a));
  double *rhs = random_vector(N, 3), y[N] = {0};
  mn_solve_report r = solve(ctx, MN_PRECOND_MIC, &a, rhs, 1e-40, 1000, y);
  CHECK(r.reason == MN_STALLED); /* rounding forbids more */
  CHECK_LE(r.residual, 1e-13);
  CHECK_LE(r.iterations, 500);
  r = solve(ctx, MN_PRECOND_MIC, &a, rhs, 1e-9, 1000, y);
  CHECK(r.reason == MN_CONVERGED && r.iterations == 0); /* y solves it already */
  free(rhs);
  mn_csr_destroy(&a);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_same_bits_for_any_thread_count(void **state)
{
  (void)state;
  enum { SIDE = 120, N = SIDE * SIDE };
  mn_context *ctx = check_context(1);
  mn_csr a;
  CHECK_OK(ctx, poisson(ctx, 2, SIDE, &a));
  double *b = random_vector(N, 4), *first = calloc(N, 8), *x = calloc(N, 8);
  for (int kind = MN_PRECOND_JACOBI; kind <= MN_PRECOND_MIC; kind++)
    for (int threads = 1; threads <= 4; threads++) {
      ctx->exec.threads = threads;
      memset(x, 0, N * sizeof *x);
      mn_solve_report r = solve(ctx, (mn_precond_kind)kind, &a, b, 1e-6, 400, x);
      CHECK(r.reason == MN_CONVERGED);
      if (threads == 1)
        memcpy(first, x, N * sizeof *x);
      CHECK(!memcmp(first, x, N * sizeof *x));
    }
  free(b), free(first), free(x);
  mn_csr_destroy(&a);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static mn_status make_solve_drop(mn_context *ctx, const mn_csr *small, const mn_csr *large)
{
  mn_pcg *pcg = NULL;
  mn_solve_report report;
  double b[100] = {1}, x[100] = {0};
  mn_status status = mn_pcg_create(ctx, MN_PRECOND_MIC, &pcg);
  if (status == MN_OK)
    status = mn_pcg_setup(pcg, small);
  if (status == MN_OK)
    status = mn_pcg_setup(pcg, large);
  if (status == MN_OK)
    status = mn_pcg_solve(pcg, b, 1e-9, 100, x, &report);
  mn_pcg_destroy(&pcg);
  return status;
}

static void test_every_allocation_may_fail(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_csr small, large;
  CHECK_OK(ctx, poisson(ctx, 2, 5, &small));
  CHECK_OK(ctx, poisson(ctx, 2, 10, &large));
  ctx->allocations = 0;
  CHECK_OK(ctx, make_solve_drop(ctx, &small, &large));
  int64_t count = ctx->allocations;
  CHECK(count >= 20);
  for (int64_t k = 1; k <= count; k++) {
    ctx->allocations = 0;
    ctx->fail_allocation = k;
    CHECK_FAILS(ctx, make_solve_drop(ctx, &small, &large), MN_ENVIRONMENT, "out of memory");
  }
  ctx->fail_allocation = 0;

  mn_pcg *pcg; /* a second setup and solve of the same size allocate nothing */
  mn_solve_report report;
  double b[100] = {1}, x[100] = {0};
  CHECK_OK(ctx, mn_pcg_create(ctx, MN_PRECOND_MIC, &pcg));
  CHECK_OK(ctx, mn_pcg_setup(pcg, &large));
  int64_t before = ctx->allocations;
  CHECK_OK(ctx, mn_pcg_setup(pcg, &large));
  CHECK_OK(ctx, mn_pcg_solve(pcg, b, 1e-9, 100, x, &report));
  CHECK(ctx->allocations == before);
  mn_pcg_destroy(&pcg);
  mn_csr_destroy(&small), mn_csr_destroy(&large);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_spd_equals_lapack),
      cmocka_unit_test(test_poisson_counts_and_exact_solution),
      cmocka_unit_test(test_growth_of_iterations),
      cmocka_unit_test(test_ic_is_exact_without_fill),
      cmocka_unit_test(test_incomplete_factor_multiplied_out),
      cmocka_unit_test(test_reports_what_happened),
      cmocka_unit_test(test_same_bits_for_any_thread_count),
      cmocka_unit_test(test_every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
