#include "check.h"

#include <SuiteSparse_config.h>
#include <stdio.h>

#include "base/context.h"
#include "la/dense.h"
#include "la/sparse.h"
#include "matrices.h"

static mn_factor_report factorise(mn_context *ctx, mn_sparse_factor *f, const mn_csr *a)
{
  mn_factor_report report;
  CHECK_OK(ctx, mn_sparse_factorise(f, a, &report));
  return report;
}

static void test_random_spd_equals_lapack(void **state)
{
  (void)state;
  enum { N = 150, RHS = 3 };
  mn_context *ctx = check_context(2);
  mn_arena arena = {0};
  mn_sparse_factor *f;
  CHECK_OK(ctx, mn_sparse_create(ctx, &f));
  printf("      back end %s\n", mn_sparse_backend());
  for (uint64_t seed = 1; seed <= 4; seed++) { /* new patterns: analysed anew by the same object */
    mn_csr a;
    CHECK_OK(ctx, random_spd(ctx, N, (int)seed, seed, &a));
    double *d = to_dense(&a), *b = random_vector(RHS * N, seed), expected[RHS * N], x[RHS * N];
    CHECK_OK(ctx, mn_dense_solve_spd(ctx, &arena, N, d, RHS, b, expected));
    mn_factor_report r = factorise(ctx, f, &a);
    CHECK(r.positive_definite && r.column == -1 && r.analysed);
    CHECK_GE((double)r.entries, N);
    CHECK_OK(ctx, mn_sparse_solve(f, RHS, b, x));
    CHECK_LE(max_difference(RHS * N, x, expected), 1e-12);
    CHECK_OK(ctx, mn_sparse_solve(f, RHS, b, b)); /* in place */
    CHECK(!memcmp(b, x, sizeof x));
    free(d), free(b);
    mn_csr_destroy(&a);
  }
  mn_sparse_destroy(&f);
  mn_arena_destroy(&arena);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* 3D, so that CHOLMOD goes supernodal and calls BLAS; against an eigenvector. */
static void test_poisson_in_three_dimensions(void **state)
{
  (void)state;
  enum { SIDE = 16, N = SIDE * SIDE * SIDE };
  mn_context *ctx = check_context(2);
  mn_csr a;
  mn_sparse_factor *f;
  CHECK_OK(ctx, poisson(ctx, 3, SIDE, &a));
  CHECK_OK(ctx, mn_sparse_create(ctx, &f));
  double *exact = calloc(N, 8), *b = calloc(N, 8), *x = calloc(N, 8), pi = acos(-1.0);
  double s1 = sin(0.5 * pi / (SIDE + 1)), s2 = sin(pi / (SIDE + 1));
  for (int c = 0; c < N; c++) {
    double t = pi / (SIDE + 1);
    int i = c % SIDE, j = c / SIDE % SIDE, k = c / SIDE / SIDE;
    exact[c] = sin(t * (i + 1)) * sin(2 * t * (j + 1)) * sin(t * (k + 1));
    b[c] = 4 * (2 * s1 * s1 + s2 * s2) * exact[c];
  }
  mn_factor_report r = factorise(ctx, f, &a);
  CHECK(r.positive_definite);
  CHECK_OK(ctx, mn_sparse_solve(f, 1, b, x));
  CHECK_LE(max_difference(N, x, exact), 1e-12);
  CHECK_LE((double)r.entries, 0.1 * N * N / 2); /* the ordering keeps it sparse */
  x[0] += 1e-9;
  CHECK_LE(max_difference(N, x, exact), 1e-12);
  CHECK_MUST_HAVE_FAILED();
  free(exact), free(b), free(x);
  mn_sparse_destroy(&f);
  mn_csr_destroy(&a);
  mn_context_destroy(&ctx);
}

/* New values on an old pattern give the bits of a fresh factorisation. */
static void test_reuse_of_the_analysis(void **state)
{
  (void)state;
  enum { N = 400 };
  mn_context *ctx = check_context(1);
  mn_csr a;
  mn_sparse_factor *kept, *fresh;
  CHECK_OK(ctx, poisson(ctx, 2, 20, &a));
  CHECK_OK(ctx, mn_sparse_create(ctx, &kept));
  CHECK_OK(ctx, mn_sparse_create(ctx, &fresh));
  CHECK_OK(ctx, mn_sparse_analyse(kept, &a));
  CHECK(!factorise(ctx, kept, &a).analysed);
  for (int64_t i = 0; i < a.rows; i++)
    a.value[mn_csr_find(&a, i, i)] += 0.01 * (double)(i % 7);
  CHECK(!factorise(ctx, kept, &a).analysed);
  CHECK(factorise(ctx, fresh, &a).analysed);
  double *b = random_vector(N, 1), x[N], y[N];
  CHECK_OK(ctx, mn_sparse_solve(kept, 1, b, x));
  CHECK_OK(ctx, mn_sparse_solve(fresh, 1, b, y));
  CHECK(!memcmp(x, y, sizeof x));

  /* after a failure the same object factorises again */
  double good = a.value[0];
  a.value[0] = -1;
  CHECK(!factorise(ctx, kept, &a).positive_definite);
  a.value[0] = good;
  CHECK(factorise(ctx, kept, &a).positive_definite);
  CHECK_OK(ctx, mn_sparse_solve(kept, 1, b, x));
  CHECK(!memcmp(x, y, sizeof x));

  /* as many entries in every row, in other columns: another pattern */
  for (int pair = 1; pair <= 2; pair++) {
    mn_triplet t[8];
    for (int i = 0; i < 4; i++) {
      t[i] = (mn_triplet){i, i, 3};
      t[4 + i] = (mn_triplet){i, i ^ pair, 1};
    }
    mn_csr c;
    CHECK_OK(ctx, mn_csr_from_triplets(ctx, 4, 4, t, 8, &c));
    CHECK(factorise(ctx, kept, &c).analysed);
    mn_csr_destroy(&c);
  }
  free(b);
  mn_sparse_destroy(&kept), mn_sparse_destroy(&fresh);
  mn_csr_destroy(&a);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Unconnected columns: the one that is not positive is named whatever the ordering; small matrices
   and one large enough to be supernodal. */
static void test_not_positive_definite_is_named(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_sparse_factor *f;
  CHECK_OK(ctx, mn_sparse_create(ctx, &f));
  double b[4] = {1, 1, 1, 1};
  CHECK_FAILS(ctx, mn_sparse_solve(f, 1, b, b), MN_FAILED, "not factorised");
  for (int bad = 0; bad < 4; bad++)
    for (int zero = 0; zero < 2; zero++) {
      mn_triplet t[] = {{0, 0, 1}, {1, 1, 2}, {2, 2, 3}, {3, 3, 4}};
      t[bad].value = zero ? 0 : -t[bad].value;
      mn_csr a;
      CHECK_OK(ctx, mn_csr_from_triplets(ctx, 4, 4, t, 4, &a));
      mn_factor_report r = factorise(ctx, f, &a);
      CHECK(!r.positive_definite && r.column == bad);
      char words[64];
      snprintf(words, sizeof words, "not positive definite at column %d", bad);
      CHECK_FAILS(ctx, mn_sparse_solve(f, 1, b, b), MN_FAILED, words);
      mn_csr_destroy(&a);
    }
  mn_csr a;
  /* column 0 coupled to all others comes last in any good ordering, with the pivot 5 - 9 */
  mn_triplet arrow[28];
  for (int i = 0; i < 10; i++)
    arrow[i] = (mn_triplet){i, i, i ? 1 : 5};
  for (int i = 1; i < 10; i++) {
    arrow[9 + i] = (mn_triplet){0, i, 1};
    arrow[18 + i] = (mn_triplet){i, 0, 1};
  }
  CHECK_OK(ctx, mn_csr_from_triplets(ctx, 10, 10, arrow, 28, &a));
  CHECK(factorise(ctx, f, &a).column == 0);
  mn_csr_destroy(&a);

  CHECK_OK(ctx, poisson(ctx, 3, 12, &a));
  CHECK(factorise(ctx, f, &a).positive_definite);
  for (int64_t i = 0; i < a.rows; i++) /* least eigenvalue 12 sin^2(pi/26) = 0.174 */
    a.value[mn_csr_find(&a, i, i)] -= 0.17;
  CHECK(factorise(ctx, f, &a).positive_definite);
  for (int64_t i = 0; i < a.rows; i++)
    a.value[mn_csr_find(&a, i, i)] -= 0.01;
  mn_factor_report r = factorise(ctx, f, &a);
  CHECK(!r.positive_definite && r.column >= 0 && r.column < a.rows);
  a.value[5] = INFINITY;
  CHECK_FAILS(ctx, mn_sparse_factorise(f, &a, &r), MN_FAILED, "is inf");
  mn_csr_destroy(&a);
  mn_triplet t[] = {{0, 0, 1}};
  CHECK_OK(ctx, mn_csr_from_triplets(ctx, 1, 2, t, 1, &a));
  CHECK_FAILS(ctx, mn_sparse_factorise(f, &a, &r), MN_BAD_INPUT, "1 x 2");
  mn_csr_destroy(&a);
  mn_sparse_destroy(&f);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static mn_status make_solve_drop(mn_context *ctx, const mn_csr *a, const double *b, double *x)
{
  mn_sparse_factor *f = NULL;
  mn_factor_report report;
  mn_status status = mn_sparse_create(ctx, &f);
  if (status == MN_OK)
    status = mn_sparse_factorise(f, a, &report);
  if (status == MN_OK)
    status = mn_sparse_solve(f, 1, b, x);
  mn_sparse_destroy(&f);
  return status;
}

static int64_t suitesparse_calls, suitesparse_fails_at;

static void *failing_malloc(size_t bytes)
{
  return ++suitesparse_calls == suitesparse_fails_at ? NULL : malloc(bytes);
}
static void *failing_calloc(size_t count, size_t bytes)
{
  return ++suitesparse_calls == suitesparse_fails_at ? NULL : calloc(count, bytes);
}
static void *failing_realloc(void *p, size_t bytes)
{
  return ++suitesparse_calls == suitesparse_fails_at ? NULL : realloc(p, bytes);
}

/* The library's own allocations and SuiteSparse's, each failing once. CHOLMOD may do without some
   of its own (it then takes a smaller one), so that success is allowed there if the answer is
   right.
 */
static void test_every_allocation_may_fail(void **state)
{
  (void)state;
  enum { SIDE = 9, N = SIDE * SIDE * SIDE };
  mn_context *ctx = check_context(1);
  mn_csr a;
  CHECK_OK(ctx, poisson(ctx, 3, SIDE, &a));
  double *b = random_vector(N, 1), *x = calloc(N, 8), *y = calloc(N, 8);
  ctx->allocations = 0;
  CHECK_OK(ctx, make_solve_drop(ctx, &a, b, x));
  int64_t count = ctx->allocations;
  for (int64_t k = 1; k <= count; k++) {
    ctx->allocations = 0;
    ctx->fail_allocation = k;
    CHECK_FAILS(ctx, make_solve_drop(ctx, &a, b, y), MN_ENVIRONMENT, "out of memory");
  }
  ctx->fail_allocation = 0;

  struct SuiteSparse_config_struct saved = SuiteSparse_config;
  SuiteSparse_config.malloc_func = failing_malloc;
  SuiteSparse_config.calloc_func = failing_calloc;
  SuiteSparse_config.realloc_func = failing_realloc;
  CHECK_OK(ctx, make_solve_drop(ctx, &a, b, x));
  count = suitesparse_calls;
  CHECK(count >= 1);
  int failed = 0;
  for (int64_t k = 1; k <= count; k++) {
    suitesparse_calls = 0;
    suitesparse_fails_at = k;
    mn_status status = make_solve_drop(ctx, &a, b, y);
    failed += status == MN_ENVIRONMENT;
    CHECK(status == MN_ENVIRONMENT || (status == MN_OK && max_difference(N, x, y) <= 1e-12));
  }
  SuiteSparse_config = saved;
  CHECK_GE(failed, 1);
  free(b), free(x), free(y);
  mn_csr_destroy(&a);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_spd_equals_lapack),
      cmocka_unit_test(test_poisson_in_three_dimensions),
      cmocka_unit_test(test_reuse_of_the_analysis),
      cmocka_unit_test(test_not_positive_definite_is_named),
      cmocka_unit_test(test_every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
