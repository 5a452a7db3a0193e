#include "check.h"

#include "base/context.h"
#include "la/dense.h"
#include "matrices.h"

extern int openblas_get_num_threads(void);
extern void openblas_set_num_threads(int threads);

/* c (m x n) <- op(a) b, with a m x k, or k x m to be transposed */
static void multiply(int m, int k, int n, int transposed, const double *a, const double *b,
                     double *c)
{
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      c[i + j * m] = 0;
      for (int l = 0; l < k; l++)
        c[i + j * m] += (transposed ? a[l + i * k] : a[i + l * m]) * b[l + j * k];
    }
}

static double distance_from_identity(int n, const double *a)
{
  double max = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      max = fmax(max, fabs(a[i + j * n] - (i == j)));
  return max;
}

/* The Hilbert matrix and its inverse are known in closed form. */
static void test_solves_hilbert(void **state)
{
  (void)state;
  enum { N = 5 };
  static const double inverse[N * N] = {25,     -300,  1050,   -1400,   630,    -300,   4800,
                                        -18900, 26880, -12600, 1050,    -18900, 79380,  -117600,
                                        56700,  -1400, 26880,  -117600, 179200, -88200, 630,
                                        -12600, 56700, -88200, 44100};
  mn_context *ctx = check_context(1);
  mn_arena arena = {0};
  double a[N * N], identity[N * N] = {0}, x[N * N];
  for (int i = 0; i < N; i++) {
    identity[i * (N + 1)] = 1;
    for (int j = 0; j < N; j++)
      a[i + j * N] = 1.0 / (i + j + 1);
  }
  CHECK_OK(ctx, mn_dense_solve(ctx, &arena, N, a, N, identity, x));
  CHECK_LE(max_difference(N * N, x, inverse), 1e-10 * 179200);
  CHECK_OK(ctx, mn_dense_solve_spd(ctx, &arena, N, a, N, identity, x));
  CHECK_LE(max_difference(N * N, x, inverse), 1e-10 * 179200);

  double singular[] = {1, 2, 2, 4}, indefinite[] = {1, 2, 2, 1}, b[] = {1, 1};
  CHECK_FAILS(ctx, mn_dense_solve(ctx, &arena, 2, singular, 1, b, x), MN_FAILED, "pivot 1 is 0");
  CHECK_FAILS(ctx, mn_dense_solve_spd(ctx, &arena, 2, indefinite, 1, b, x), MN_FAILED,
              "leading minor of order 2");
  indefinite[2] = NAN;
  CHECK_FAILS(ctx, mn_dense_solve(ctx, &arena, 2, indefinite, 1, b, x), MN_FAILED,
              "entry (0, 1) of the 2 x 2 matrix is nan");
  CHECK_FAILS(ctx, mn_dense_solve(ctx, &arena, -2, indefinite, 1, b, x), MN_FAILED, "-2 x -2");
  mn_arena_destroy(&arena);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* A = B C of rank 3: the minimum-norm solution is A^+ b, here by the normal equations of the two
   full-rank factors, A^+ = C^T (C C^T)^-1 (B^T B)^-1 B^T. */
static void test_least_squares_of_low_rank(void **state)
{
  (void)state;
  enum { M = 12, N = 8, R = 3 };
  mn_context *ctx = check_context(1);
  mn_arena arena = {0};
  double *b = random_vector(M * R, 1), *c = random_vector(R * N, 2), *rhs = random_vector(2 * M, 3);
  double a[M * N], btb[R * R], cct[R * R], ct[N * R], y[R * 2], expected[N * 2], x[N * 2];
  multiply(M, R, N, 0, b, c, a);
  for (int i = 0; i < R; i++)
    for (int j = 0; j < N; j++)
      ct[j + i * N] = c[i + j * R];
  multiply(R, M, R, 1, b, b, btb);
  multiply(R, N, R, 0, c, ct, cct);
  multiply(R, M, 2, 1, b, rhs, y);
  CHECK_OK(ctx, mn_dense_solve_spd(ctx, &arena, R, btb, 2, y, y));
  CHECK_OK(ctx, mn_dense_solve_spd(ctx, &arena, R, cct, 2, y, y));
  multiply(N, R, 2, 0, ct, y, expected);
  int rank;
  CHECK_OK(ctx, mn_dense_least_squares(ctx, &arena, M, N, a, 2, rhs, 1e-10, x, &rank));
  CHECK(rank == R);
  CHECK_LE(max_difference(2 * N, x, expected), 1e-12);

  /* wide: 3 equations, 8 unknowns, full rank */
  double short_x[N], residual[R], b3[R] = {1, 2, 3};
  CHECK_OK(ctx, mn_dense_least_squares(ctx, &arena, R, N, c, 1, b3, 1e-10, short_x, &rank));
  CHECK(rank == R);
  multiply(R, N, 1, 0, c, short_x, residual);
  CHECK_LE(max_difference(R, residual, b3), 1e-12);
  CHECK_OK(ctx, mn_dense_solve_spd(ctx, &arena, R, cct, 1, b3, y));
  multiply(N, R, 1, 0, ct, y, expected);
  CHECK_LE(max_difference(N, short_x, expected), 1e-12);

  /* rcond decides: a column 1e-6 off a multiple counts at 1e-9 and not at 1e-3 */
  double near[] = {1, 1, 1, 1, 1, 1 + 1e-6}, b2[] = {1, 1, 2};
  CHECK_OK(ctx, mn_dense_least_squares(ctx, &arena, 3, 2, near, 1, b2, 1e-9, x, &rank));
  CHECK(rank == 2);
  CHECK_NEAR(x[1], 1e6, 1e-2);
  CHECK_OK(ctx, mn_dense_least_squares(ctx, &arena, 3, 2, near, 1, b2, 1e-3, x, &rank));
  CHECK(rank == 1);
  CHECK_NEAR(x[0], 2.0 / 3, 1e-5); /* minimum norm: the mean 4/3, shared evenly */
  CHECK_NEAR(x[1], 2.0 / 3, 1e-5);

  double zero[6] = {0};
  CHECK_OK(ctx, mn_dense_least_squares(ctx, &arena, 3, 2, zero, 1, b2, 1e-9, x, &rank));
  CHECK(rank == 0 && x[0] == 0 && x[1] == 0);
  free(b), free(c), free(rhs);
  mn_arena_destroy(&arena);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_qr_and_svd_rebuild_their_matrix(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_arena arena = {0};
  static const int shapes[][2] = {{9, 4}, {4, 9}, {6, 6}, {5, 1}, {1, 5}};
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
    int m = shapes[s][0], n = shapes[s][1], k = m < n ? m : n;
    double *a = random_vector((size_t)(m * n), 20 + s), q[81], r[81], vt[81], w[9], back[81];
    CHECK_OK(ctx, mn_dense_qr(ctx, &arena, m, n, a, q, r));
    multiply(m, k, n, 0, q, r, back);
    CHECK_LE(max_difference((size_t)(m * n), back, a), 1e-14);
    multiply(k, m, k, 1, q, q, back);
    CHECK_LE(distance_from_identity(k, back), 1e-14);
    for (int j = 0; j < k; j++)
      for (int i = j + 1; i < k; i++)
        CHECK(r[i + j * k] == 0);
    double r_alone[81];
    CHECK_OK(ctx, mn_dense_qr(ctx, &arena, m, n, a, NULL, r_alone));
    CHECK(!memcmp(r, r_alone, (size_t)(k * n) * sizeof *r));

    CHECK_OK(ctx, mn_dense_svd(ctx, &arena, m, n, a, q, w, vt));
    for (int j = 0; j < k; j++)
      CHECK(w[j] >= 0 && (j == 0 || w[j] <= w[j - 1]));
    double alone[9];
    CHECK_OK(ctx, mn_dense_svd(ctx, &arena, m, n, a, NULL, alone, NULL));
    CHECK_LE(max_difference((size_t)k, w, alone), 1e-14);
    multiply(k, m, k, 1, q, q, back);
    CHECK_LE(distance_from_identity(k, back), 1e-14);
    for (int j = 0; j < k; j++)
      for (int i = 0; i < m; i++)
        q[i + j * m] *= w[j];
    multiply(m, k, n, 0, q, vt, back);
    CHECK_LE(max_difference((size_t)(m * n), back, a), 1e-14);
    free(a);
  }
  mn_arena_destroy(&arena);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* The second difference matrix: eigenvalues 4 sin^2(pi k / (2 (n + 1))). */
static void test_eigenvalues_of_the_second_difference(void **state)
{
  (void)state;
  enum { N = 20 };
  mn_context *ctx = check_context(1);
  mn_arena arena = {0};
  double a[N * N] = {0}, w[N], v[N * N], av[N * N], alone[N], pi = acos(-1.0);
  for (int i = 0; i < N; i++) {
    a[i * (N + 1)] = 2;
    if (i + 1 < N)
      a[i + 1 + i * N] = a[i + (i + 1) * N] = -1;
  }
  CHECK_OK(ctx, mn_dense_eigen(ctx, &arena, N, a, w, v));
  for (int k = 0; k < N; k++) {
    double s = sin(pi * (k + 1) / (2.0 * (N + 1)));
    CHECK_NEAR(w[k], 4 * s * s, 1e-14);
  }
  multiply(N, N, N, 0, a, v, av);
  for (int k = 0; k < N; k++)
    for (int i = 0; i < N; i++)
      av[i + k * N] -= w[k] * v[i + k * N];
  double zero[N * N] = {0};
  CHECK_LE(max_difference(N * N, av, zero), 1e-14);
  multiply(N, N, N, 1, v, v, av);
  CHECK_LE(distance_from_identity(N, av), 1e-14);
  CHECK_OK(ctx, mn_dense_eigen(ctx, &arena, N, a, alone, NULL));
  CHECK_LE(max_difference(N, w, alone), 1e-13);
  mn_arena_destroy(&arena);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_blas_runs_on_one_thread(void **state)
{
  (void)state;
  enum { N = 300 };
  mn_context *ctx = check_context(2);
  mn_arena arena = {0};
  double *a = random_vector(N * N, 1), *b = random_vector(N, 2), *first = calloc(N, 8);
  double *x = calloc(N, 8);
  for (int threads = 1; threads <= 4; threads++) {
    openblas_set_num_threads(threads); /* what another library in the process may do */
    CHECK_OK(ctx, mn_dense_solve(ctx, &arena, N, a, 1, b, x));
    CHECK(openblas_get_num_threads() == 1);
    if (threads == 1)
      memcpy(first, x, N * sizeof *x);
    CHECK(!memcmp(first, x, N * sizeof *x));
  }
  free(a), free(b), free(x), free(first);
  mn_arena_destroy(&arena);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static mn_status call(mn_context *ctx, mn_arena *arena, int which, const double *a)
{
  double x[400], y[400], z[400];
  int rank;
  switch (which) {
  case 0:
    return mn_dense_least_squares(ctx, arena, 20, 20, a, 20, a, 1e-12, x, &rank);
  case 1:
    return mn_dense_qr(ctx, arena, 20, 20, a, x, y);
  case 2:
    return mn_dense_eigen(ctx, arena, 20, a, x, y);
  case 3:
    return mn_dense_svd(ctx, arena, 20, 20, a, x, y, z);
  default:
    return mn_dense_solve(ctx, arena, 20, a, 20, a, x);
  }
}

/* The first call takes scratch from the system, all later ones none; every failure is passed up.
   The arena's first block would hold all of it: a filler leaves no room. */
static void test_every_allocation_may_fail(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  double *a = random_vector(400, 8);
  for (int which = 0; which < 5; which++) {
    int64_t count = 1;
    for (int64_t k = 0; k <= count; k++) {
      mn_arena arena = {0};
      char *filler;
      ctx->fail_allocation = 0;
      CHECK_OK(ctx, MN_PUSH(ctx, &arena, (1 << 17) - 64, &filler));
      ctx->allocations = 0;
      ctx->fail_allocation = k;
      if (k == 0) {
        CHECK_OK(ctx, call(ctx, &arena, which, a));
        count = ctx->allocations;
        CHECK(count >= 2);
        CHECK_OK(ctx, call(ctx, &arena, which, a));
        CHECK(ctx->allocations == count);
      } else {
        CHECK_FAILS(ctx, call(ctx, &arena, which, a), MN_ENVIRONMENT, "out of memory");
      }
      mn_arena_destroy(&arena);
    }
  }
  free(a);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_solves_hilbert),
      cmocka_unit_test(test_least_squares_of_low_rank),
      cmocka_unit_test(test_qr_and_svd_rebuild_their_matrix),
      cmocka_unit_test(test_eigenvalues_of_the_second_difference),
      cmocka_unit_test(test_blas_runs_on_one_thread),
      cmocka_unit_test(test_every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
