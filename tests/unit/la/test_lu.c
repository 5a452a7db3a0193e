/* Sparse LU against LAPACK, patterns that change and stay, singular matrices; and matrices made row
   by row. Without UMFPACK only that it says so. */
#include "check.h"

#include <stdio.h>

#include "base/context.h"
#include "la/csr_rows.h"
#include "la/dense.h"
#include "la/sparse_lu.h"
#include "matrices.h"

/* Random, with zeros on the diagonal: nothing to do without pivoting. */
static void random_matrix(mn_context *ctx, int n, uint64_t seed, double scale, mn_csr *a)
{
  mn_triplet *t = malloc((size_t)(6 * n) * sizeof *t);
  size_t count = 0;
  for (int i = 0; i < n; i++) {
    t[count++] = (mn_triplet){i, (i + 1) % n, scale * (1 + check_random(&seed))};
    for (int k = 0; k < 3; k++) {
      int j = (int)(check_random(&seed) * n);
      if (j != i)
        t[count++] = (mn_triplet){i, j, scale * (check_random(&seed) - 0.5)};
    }
  }
  CHECK_OK(ctx, mn_csr_from_triplets(ctx, n, n, t, count, a));
  free(t);
}

static void test_equals_lapack(void **state)
{
  (void)state;
  enum { N = 120 };
  mn_context *ctx = check_context(1);
  mn_arena arena = {0};
  mn_lu *lu;
  int singular;
  if (!mn_lu_available()) {
    CHECK_FAILS(ctx, mn_lu_create(ctx, &lu), MN_FAILED, "MENISCUS_GPL=OFF");
    mn_context_destroy(&ctx);
    CHECK_DONE();
    return;
  }
  CHECK_OK(ctx, mn_lu_create(ctx, &lu));
  for (uint64_t k = 0; k < 8; k++) { /* the same pattern twice, with other values */
    mn_csr a;
    random_matrix(ctx, N, 1 + k / 2, k % 2 ? 1e8 : 1, &a);
    double *d = to_dense(&a), *b = random_vector(N, k), expected[N], x[N];
    CHECK_OK(ctx, mn_dense_solve(ctx, &arena, N, d, 1, b, expected));
    CHECK_OK(ctx, mn_lu_factorise(lu, &a, &singular));
    CHECK(!singular);
    CHECK_OK(ctx, mn_lu_solve(lu, b, x));
    double size = 0;
    for (int i = 0; i < N; i++)
      size = fmax(size, fabs(expected[i]));
    CHECK_LE(max_difference(N, x, expected), 1e-9 * size);
    for (int64_t e = a.start[7]; e < a.start[8]; e++)
      a.value[e] = 0;
    CHECK_OK(ctx, mn_lu_factorise(lu, &a, &singular));
    CHECK(singular);
    free(d), free(b);
    mn_csr_destroy(&a);
  }
  mn_lu_destroy(&lu);
  mn_arena_destroy(&arena);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_rows(void **state)
{
  (void)state;
  enum { N = 40 };
  mn_context *ctx = check_context(1);
  mn_csr_rows at = {0}, p = {0};
  for (uint64_t seed = 3; seed < 6; seed++) {
    mn_csr a, b;
    random_matrix(ctx, N, seed, 1, &a);
    random_matrix(ctx, N, seed + 9, 1, &b);
    CHECK_OK(ctx, mn_csr_rows_transpose(ctx, &a, &at));
    CHECK_OK(ctx, mn_csr_rows_product(ctx, &at.a, &b, &p));
    double *da = to_dense(&a), *db = to_dense(&b), *dp = to_dense(&p.a), worst = 0;
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        double sum = 0;
        for (int k = 0; k < N; k++)
          sum += da[k + N * i] * db[k + N * j];
        worst = check_worst(worst, fabs(sum - dp[i + N * j]));
      }
    CHECK_LE(worst, 1e-13);
    int sorted = 1;
    for (int i = 0; i < N; i++)
      for (int64_t e = p.a.start[i] + 1; e < p.a.start[i + 1]; e++)
        sorted &= p.a.col[e] > p.a.col[e - 1];
    CHECK(sorted);
    free(da), free(db), free(dp);
    mn_csr_destroy(&a);
    mn_csr_destroy(&b);
  }
  mn_csr_rows_destroy(&at);
  mn_csr_rows_destroy(&p);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_equals_lapack),
                                     cmocka_unit_test(test_rows)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
