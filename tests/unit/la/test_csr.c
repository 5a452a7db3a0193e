#include "check.h"

#include "base/context.h"
#include "la/vector.h"
#include "matrices.h"

/* Random triplets with many duplicates against sums in a dense table. */
static void test_triplets_equal_dense_sums(void **state)
{
  (void)state;
  enum { ROWS = 17, COLS = 23, COUNT = 2000 };
  mn_context *ctx = check_context(2);
  mn_triplet t[COUNT];
  double dense[ROWS * COLS] = {0};
  uint64_t seed = 1;
  for (int k = 0; k < COUNT; k++) {
    t[k].row = (int64_t)(check_random(&seed) * ROWS);
    t[k].col = (int64_t)(check_random(&seed) * (COLS - 1)); /* the last column stays empty */
    t[k].value = check_random(&seed) - 0.5;
    dense[t[k].row + t[k].col * ROWS] += t[k].value; /* in the order given: the same bits */
  }
  mn_csr a;
  CHECK_OK(ctx, mn_csr_from_triplets(ctx, ROWS, COLS, t, COUNT, &a));
  double *d = to_dense(&a);
  CHECK(!memcmp(d, dense, sizeof dense));
  for (int64_t i = 0; i < ROWS; i++)
    for (int64_t e = a.start[i] + 1; e < a.start[i + 1]; e++)
      CHECK(a.col[e - 1] < a.col[e]);
  CHECK(mn_csr_find(&a, 3, COLS - 1) == -1);
  CHECK(mn_csr_find(&a, 3, a.col[a.start[3] + 2]) == a.start[3] + 2);

  mn_csr at, att;
  CHECK_OK(ctx, mn_csr_transpose(ctx, &a, &at));
  double *dt = to_dense(&at);
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLS; j++)
      CHECK(dt[j + i * COLS] == d[i + j * ROWS]);
  CHECK_OK(ctx, mn_csr_transpose(ctx, &at, &att));
  CHECK(mn_csr_entries(&att) == mn_csr_entries(&a));
  CHECK(!memcmp(att.col, a.col, (size_t)mn_csr_entries(&a) * sizeof *a.col));
  CHECK(!memcmp(att.value, a.value, (size_t)mn_csr_entries(&a) * sizeof *a.value));

  double *x = random_vector(COLS, 3), y[ROWS], expected[ROWS] = {0};
  for (int j = 0; j < COLS; j++)
    for (int i = 0; i < ROWS; i++)
      expected[i] += d[i + j * ROWS] * x[j];
  mn_csr_multiply(&ctx->exec, &a, x, y);
  CHECK_LE(max_difference(ROWS, y, expected), 1e-14 * COUNT);
  mn_csr_residual(&ctx->exec, &a, expected, x, y);
  double zero[ROWS] = {0};
  CHECK_LE(max_difference(ROWS, y, zero), 1e-14 * COUNT);

  t[COUNT - 1].value += 1; /* the comparison sees one changed triplet */
  mn_csr b;
  CHECK_OK(ctx, mn_csr_from_triplets(ctx, ROWS, COLS, t, COUNT, &b));
  double *db = to_dense(&b);
  CHECK(memcmp(db, dense, sizeof dense) != 0);
  free(d), free(dt), free(x), free(db);
  mn_csr_destroy(&a), mn_csr_destroy(&at), mn_csr_destroy(&att), mn_csr_destroy(&b);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_bad_triplets_are_named(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_csr a;
  mn_triplet t[] = {{0, 0, 1}, {2, 5, 1}};
  CHECK_FAILS(ctx, mn_csr_from_triplets(ctx, 3, 5, t, 2, &a), MN_BAD_INPUT,
              "triplet 1 stands at (2, 5)");
  CHECK_FAILS(ctx, mn_csr_from_triplets(ctx, -1, 5, t, 0, &a), MN_BAD_INPUT, "-1 x 5");
  CHECK_OK(ctx, mn_csr_from_triplets(ctx, 0, 0, NULL, 0, &a));
  CHECK(mn_csr_entries(&a) == 0);
  mn_csr_destroy(&a);
  CHECK_OK(ctx, mn_csr_from_triplets(ctx, 4, 2, NULL, 0, &a));
  double x[2] = {1, 1}, y[4] = {9, 9, 9, 9};
  mn_csr_multiply(&ctx->exec, &a, x, y);
  CHECK(y[0] == 0 && y[3] == 0);
  mn_csr_destroy(&a);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_same_bits_for_any_thread_count(void **state)
{
  (void)state;
  enum { SIDE = 150, N = SIDE * SIDE };
  mn_context *ctx = check_context(1);
  mn_csr a;
  CHECK_OK(ctx, poisson(ctx, 2, SIDE, &a));
  double *x = random_vector(N, 7), *y1 = calloc(N, 8), *y = calloc(N, 8);
  double partial[N / MN_VECTOR_BLOCK + 1];
  assert_int_equal(mn_vector_blocks(N), N / MN_VECTOR_BLOCK + 1);
  double dot1 = 0, naive = 0;
  for (int i = 0; i < N; i++)
    naive += x[i] * x[i];
  for (int threads = 1; threads <= 5; threads++) {
    ctx->exec.threads = threads;
    mn_csr_multiply(&ctx->exec, &a, x, y);
    double dot = mn_vector_dot(&ctx->exec, N, x, y, partial);
    if (threads == 1) {
      memcpy(y1, y, N * sizeof *y);
      dot1 = dot;
    }
    CHECK(!memcmp(y, y1, N * sizeof *y));
    CHECK(!memcmp(&dot, &dot1, sizeof dot));
    CHECK_NEAR(mn_vector_dot(&ctx->exec, N, x, x, partial), naive, 1e-10 * naive);
  }
  CHECK_NEAR(mn_vector_max(&ctx->exec, N, x, partial), 1, 1e-3);
  x[N - 1] = NAN;
  CHECK(isnan(mn_vector_max(&ctx->exec, N, x, partial)));
  x[N - 1] = -7;
  CHECK(mn_vector_max(&ctx->exec, N, x, partial) == 7);
  free(x), free(y), free(y1);
  mn_csr_destroy(&a);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static mn_status make_and_drop(mn_context *ctx)
{
  mn_csr a = {0}, at = {0};
  mn_status status = poisson(ctx, 2, 6, &a);
  if (status == MN_OK)
    status = mn_csr_transpose(ctx, &a, &at);
  mn_csr_destroy(&a);
  mn_csr_destroy(&at);
  return status;
}

/* Every allocation fails once; a leak shows under the asan preset. */
static void test_every_allocation_may_fail(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  CHECK_OK(ctx, make_and_drop(ctx));
  int64_t count = ctx->allocations;
  CHECK(count >= 9);
  for (int64_t k = 1; k <= count; k++) {
    ctx->allocations = 0;
    ctx->fail_allocation = k;
    CHECK_FAILS(ctx, make_and_drop(ctx), MN_ENVIRONMENT, "out of memory");
  }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_triplets_equal_dense_sums),
      cmocka_unit_test(test_bad_triplets_are_named),
      cmocka_unit_test(test_same_bits_for_any_thread_count),
      cmocka_unit_test(test_every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
