/* Triangular factors of a few long columns, some of them nearly dependent: from inner products,
   against Gram-Schmidt on the columns themselves; with pivoting, Q^T Q = I and Q R = the columns
   kept. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "la/columns.h"

enum { ROWS = 200, COLS = 12 };

static void random_columns(uint64_t seed, double *a)
{
  for (int i = 0; i < ROWS * COLS; i++)
    a[i] = 2 * check_random(&seed) - 1;
}

/* column `of` = column `from` + small times something new */
static void depend(double *a, int of, int from, double small)
{
  uint64_t seed = (uint64_t)of;
  for (int i = 0; i < ROWS; i++)
    a[i + of * ROWS] = a[i + from * ROWS] + small * (2 * check_random(&seed) - 1);
}

static double not_orthonormal(const double *q, int m)
{
  double worst = 0, c[COLS * COLS];
  mn_columns_inner(ROWS, m, m, q, q, c);
  for (int i = 0; i < m * m; i++)
    worst = check_worst(worst, fabs(c[i] - (i % (m + 1) == 0)));
  return worst;
}

static double not_the_same(const double *a, const double *q, const double *r, const int *kept,
                           int m)
{
  double worst = 0;
  for (int j = 0; j < m; j++)
    for (int i = 0; i < ROWS; i++) {
      double sum = 0;
      for (int l = 0; l < m; l++)
        sum += q[i + l * ROWS] * r[l + j * m];
      worst = check_worst(worst, fabs(sum - a[i + kept[j] * ROWS]));
    }
  return worst;
}

/* The plain way: modified Gram-Schmidt, twice. */
static int in_order_ref(const double *a, const double *least, double *q, double *r, int *kept)
{
  int m = 0;
  double full[COLS * COLS] = {0};
  for (int j = 0; j < COLS; j++) {
    double *v = q + m * ROWS, length = 0, rest = 0;
    memcpy(v, a + j * ROWS, ROWS * sizeof *v);
    for (int i = 0; i < ROWS; i++)
      length += v[i] * v[i];
    for (int i = 0; i <= m; i++)
      full[i + m * COLS] = 0;
    for (int pass = 0; pass < 2; pass++)
      for (int l = 0; l < m; l++) {
        double h = 0;
        for (int i = 0; i < ROWS; i++)
          h += q[i + l * ROWS] * v[i];
        for (int i = 0; i < ROWS; i++)
          v[i] -= h * q[i + l * ROWS];
        full[l + m * COLS] += h;
      }
    for (int i = 0; i < ROWS; i++)
      rest += v[i] * v[i];
    if (!(sqrt(rest) > fmax(least[j], 1e-6) * sqrt(length)))
      continue;
    for (int i = 0; i < ROWS; i++)
      v[i] /= sqrt(rest);
    full[m + m * COLS] = sqrt(rest);
    kept[m++] = j;
  }
  for (int j = 0; j < m; j++)
    for (int i = 0; i < m; i++)
      r[i + j * m] = full[i + j * COLS];
  return m;
}

static void test_in_order(void **state)
{
  (void)state;
  double a[ROWS * COLS], q[ROWS * COLS], g[COLS * COLS], r[COLS * COLS], least[COLS];
  double expected[COLS * COLS];
  int kept[COLS], kept_ref[COLS];
  random_columns(7, a);
  depend(a, 3, 1, 0);                        /* a copy: never kept */
  depend(a, 5, 2, 1e-3);                     /* kept only where the least is below */
  depend(a, 8, 0, 0.05);                     /* likewise */
  memset(a + 6 * ROWS, 0, ROWS * sizeof *a); /* nothing at all */
  mn_columns_inner(ROWS, COLS, COLS, a, a, g);
  for (int pass = 0; pass < 3; pass++) {
    for (int j = 0; j < COLS; j++)
      least[j] = pass == 0 ? 0 : pass == 1 ? 1e-2 : 0.1;
    int m = mn_columns_in_order(COLS, g, least, r, kept);
    CHECK(m == COLS - 2 - pass);
    CHECK(m == in_order_ref(a, least, q, expected, kept_ref));
    CHECK(!memcmp(kept, kept_ref, (size_t)m * sizeof *kept));
    double worst = 0;
    for (int i = 0; i < m * m; i++)
      worst = check_worst(worst, fabs(r[i] - expected[i]));
    CHECK_LE(worst, pass == 0 ? 1e-9 : 1e-12); /* 1e-16 over the square of the least remainder */
    CHECK_LE(not_the_same(a, q, expected, kept, m), 1e-14 * COLS); /* the reference is one */
    /* R^-T and R^-1 */
    double x[COLS], y[COLS];
    for (int i = 0; i < m; i++)
      x[i] = y[i] = i + 1;
    mn_columns_solve(m, r, x);
    mn_columns_divide_left(m, 1, r, y);
    for (int i = 0; i < m; i++) {
      double up = 0, down = 0;
      for (int l = 0; l < m; l++) {
        up += r[i + l * m] * x[l];
        down += r[l + i * m] * y[l];
      }
      worst = check_worst(worst, fmax(fabs(up - i - 1), fabs(down - i - 1)));
    }
    CHECK_LE(worst, 1e-9);
  }
  CHECK_DONE();
}

static void test_pivoted(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_arena arena = {0};
  double a[ROWS * COLS], q[ROWS * COLS], r[COLS * COLS], g[ROWS * COLS], expected[ROWS * COLS];
  int kept[COLS], m;
  random_columns(11, a);
  depend(a, 3, 1, 0);
  depend(a, 5, 2, 1e-9);
  memcpy(q, a, sizeof a);
  CHECK_OK(ctx, mn_columns_pivoted(ctx, &arena, ROWS, COLS, q, 0, r, kept, &m));
  CHECK(m == COLS - 1);
  CHECK_LE(not_orthonormal(q, m), 1e-14);
  CHECK_LE(not_the_same(a, q, r, kept, m), 1e-14 * COLS);
  for (int j = 1; j < m; j++)
    CHECK_LE(fabs(r[j + j * m]), fabs(r[j - 1 + (j - 1) * m]) * (1 + 1e-12));
  memcpy(q, a, sizeof a);
  CHECK_OK(ctx, mn_columns_pivoted(ctx, &arena, ROWS, COLS, q, 1e-6, r, kept, &m));
  CHECK(m == COLS - 2);
  /* the columns in their new order, divided by R, are Q */
  memcpy(g, a, sizeof a);
  mn_columns_reorder(ROWS, m, kept, g);
  for (int j = 0; j < m; j++)
    memcpy(expected + j * ROWS, a + kept[j] * ROWS, ROWS * sizeof *a);
  CHECK(!memcmp(g, expected, (size_t)(m * ROWS) * sizeof *g));
  mn_columns_divide(ROWS, m, r, g);
  double worst = 0;
  for (int i = 0; i < m * ROWS; i++)
    worst = check_worst(worst, fabs(g[i] - q[i]));
  CHECK_LE(worst, 1e-13);
  CHECK_OK(ctx, mn_columns_pivoted(ctx, &arena, ROWS, 0, q, 0, r, kept, &m));
  CHECK(m == 0);
  mn_arena_destroy(&arena);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Sums of vectors that stand anywhere, against those of columns that are all zero but for them. */
static void test_add(void **state)
{
  (void)state;
  static double a[ROWS * COLS];
  random_columns(11, a);
  for (int k = 0; k <= COLS; k++) {
    const double *at[COLS];
    double x[COLS], all[COLS] = {0}, y[ROWS] = {0}, expected[ROWS] = {0}, worst = 0;
    for (int j = 0; j < k; j++) {
      int from = (5 * j + 2) % COLS; /* each once */
      at[j] = a + from * ROWS;
      all[from] = x[j] = 1 + j;
    }
    mn_columns_add(ROWS, k, at, x, y);
    mn_columns_combine(ROWS, COLS, 1, a, all, expected);
    for (int i = 0; i < ROWS; i++)
      worst = check_worst(worst, fabs(y[i] - expected[i]));
    CHECK_LE(worst, 1e-13);
  }
  CHECK_DONE();
}

/* Products with two vectors in one pass, against those with one, for lengths and numbers of columns
   that leave any remainder. */
static void test_inner_two(void **state)
{
  (void)state;
  static double a[ROWS * COLS];
  random_columns(13, a);
  for (int k = 0; k < COLS - 1; k++)
    for (size_t n = ROWS - 9; n <= ROWS; n++) {
      const double *b = a + (COLS - 2) * ROWS, *e = b + ROWS;
      double c[COLS + 1] = {0}, d[COLS + 1] = {0}, of_b[COLS], of_e[COLS], worst = 0;
      c[k] = d[k] = 7; /* not to be touched */
      mn_columns_inner_two(n, k, a, b, e, c, d);
      mn_columns_inner(n, k, 1, a, b, of_b);
      mn_columns_inner(n, k, 1, a, e, of_e);
      for (int j = 0; j < k; j++)
        worst = check_worst(worst, fmax(fabs(c[j] - of_b[j]), fabs(d[j] - of_e[j])));
      CHECK_LE(worst, 1e-13);
      CHECK(c[k] == 7 && d[k] == 7);
    }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_in_order),
                                     cmocka_unit_test(test_pivoted), cmocka_unit_test(test_add),
                                     cmocka_unit_test(test_inner_two)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
