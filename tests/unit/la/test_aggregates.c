/* Multigrid of a mesh: answers beside those of a factor of A = S K + H^T w H, iterations that do
   not grow with the mesh, nodes with fixed axes, and matrices that are not positive. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/context.h"
#include "la/aggregates.h"
#include "la/csr_rows.h"
#include "la/sparse.h"
#include "matrices.h"

/* A net of side x side nodes that springs join, stiff along themselves and soft across, with
   inertia; every 17th node lacks an axis. */
typedef struct net {
  mn_context *ctx;
  int side;
  mn_csr_rows K, H, A;
  int64_t *freedom; /* [3 nodes], -1: fixed */
  int64_t freedoms;
  double *scale, *w;
} net;

static void add_spring(net *t, int64_t row, int node, int axis, int i, int j, double stiff)
{
  if (i < 0 || j < 0 || i >= t->side || j >= t->side)
    return;
  int64_t own = t->freedom[3 * node + axis], other = t->freedom[3 * (i + t->side * j) + axis];
  (void)row;
  mn_csr_rows_add(&t->K, own, stiff);
  if (other >= 0)
    mn_csr_rows_add(&t->K, other, -stiff);
}

static void make_K(net *t, double stiff, double mass)
{
  CHECK_OK(t->ctx, mn_csr_rows_begin(t->ctx, &t->K, t->freedoms, t->freedoms));
  for (int node = 0; node < t->side * t->side; node++)
    for (int axis = 0; axis < 3; axis++) {
      int i = node % t->side, j = node / t->side;
      int64_t row = t->freedom[3 * node + axis];
      if (row < 0)
        continue;
      for (int k = 0; k < 3; k++) /* the rows of a node have the same columns */
        for (int step = 0; step < 5; step++) {
          int x = i + (step == 1) - (step == 2), y = j + (step == 3) - (step == 4);
          if (x < 0 || y < 0 || x >= t->side || y >= t->side)
            continue;
          int64_t col = t->freedom[3 * (x + t->side * y) + k];
          if (col >= 0)
            mn_csr_rows_add(&t->K, col, 0);
        }
      mn_csr_rows_add(&t->K, row, mass);
      double along = axis == 2 ? 0.01 : 1;
      add_spring(t, row, node, axis, i + 1, j, stiff * (axis == 0 ? 1 : 0.1) * along);
      add_spring(t, row, node, axis, i - 1, j, stiff * (axis == 0 ? 1 : 0.1) * along);
      add_spring(t, row, node, axis, i, j + 1, stiff * (axis == 1 ? 1 : 0.1) * along);
      add_spring(t, row, node, axis, i, j - 1, stiff * (axis == 1 ? 1 : 0.1) * along);
      CHECK_OK(t->ctx, mn_csr_rows_next(t->ctx, &t->K));
    }
}

/* Faces: each moved by the third axes of 3 x 3 nodes. */
static void make_H(net *t, double weight)
{
  int64_t rows = (t->side / 2) * (t->side / 2);
  t->w = malloc((size_t)rows * sizeof *t->w);
  CHECK_OK(t->ctx, mn_csr_rows_begin(t->ctx, &t->H, rows, t->freedoms));
  for (int64_t r = 0; r < rows; r++) {
    int i = 2 * (int)(r % (t->side / 2)), j = 2 * (int)(r / (t->side / 2));
    for (int k = 0; k < 9; k++) {
      int x = i + k % 3, y = j + k / 3;
      int64_t col = x < t->side && y < t->side ? t->freedom[3 * (x + t->side * y) + 2] : -1;
      if (col >= 0)
        mn_csr_rows_add(&t->H, col, 1.0 / 9);
    }
    t->w[r] = weight;
    CHECK_OK(t->ctx, mn_csr_rows_next(t->ctx, &t->H));
  }
}

/* The whole of it. */
static void make_A(net *t)
{
  const mn_csr *H = &t->H.a, *K = &t->K.a;
  mn_csr_rows HT = {0};
  CHECK_OK(t->ctx, mn_csr_rows_transpose(t->ctx, H, &HT));
  CHECK_OK(t->ctx, mn_csr_rows_begin(t->ctx, &t->A, t->freedoms, t->freedoms));
  for (int64_t i = 0; i < t->freedoms; i++) {
    for (int64_t e = K->start[i]; e < K->start[i + 1]; e++)
      mn_csr_rows_add(&t->A, K->col[e], t->scale[i] * K->value[e]);
    for (int64_t e = HT.a.start[i]; e < HT.a.start[i + 1]; e++)
      for (int64_t f = H->start[HT.a.col[e]]; f < H->start[HT.a.col[e] + 1]; f++)
        mn_csr_rows_add(&t->A, H->col[f], HT.a.value[e] * t->w[HT.a.col[e]] * H->value[f]);
    CHECK_OK(t->ctx, mn_csr_rows_next(t->ctx, &t->A));
  }
  mn_csr_rows_destroy(&HT);
}

static void net_open(net *t, mn_context *ctx, int side, double stiff, double mass, double weight)
{
  *t = (net){.ctx = ctx, .side = side};
  t->freedom = malloc(3 * (size_t)(side * side) * sizeof *t->freedom);
  for (int k = 0; k < 3 * side * side; k++)
    t->freedom[k] = k / 3 % 17 == 3 && k % 3 == 0 ? -1 : t->freedoms++;
  t->scale = malloc((size_t)t->freedoms * sizeof *t->scale);
  for (int64_t i = 0; i < t->freedoms; i++)
    t->scale[i] = 0.25;
  make_K(t, stiff, mass);
  make_H(t, weight);
  make_A(t);
}

static void net_close(net *t)
{
  mn_csr_rows_destroy(&t->K);
  mn_csr_rows_destroy(&t->H);
  mn_csr_rows_destroy(&t->A);
  free(t->freedom);
  free(t->scale);
  free(t->w);
}

/* Iterations to 1e-4, and how far the answer is off, in the norm of A. */
static int solve(net *t, mn_aggregates *a, double *error)
{
  size_t n = (size_t)t->freedoms;
  double *b = random_vector((int)n, 7), *x = calloc(n, sizeof *x), *y = calloc(n, sizeof *y);
  mn_sparse_factor *f;
  mn_factor_report factor;
  mn_aggregates_report report;
  const mn_exec one = {1};
  int positive;
  CHECK_OK(t->ctx, mn_aggregates_setup(a, &t->K.a, t->scale, &t->H.a, t->w, &positive));
  CHECK(positive);
  CHECK_OK(t->ctx, mn_sparse_create(t->ctx, &f));
  CHECK_OK(t->ctx, mn_sparse_factorise(f, &t->A.a, &factor));
  CHECK_OK(t->ctx, mn_sparse_solve(f, 1, b, y));
  mn_aggregates_solve(a, 1e-4, 100, b, x, &report);
  CHECK(report.converged && report.positive);
  double size = 0, off = 0;
  for (size_t i = 0; i < n; i++) {
    size += y[i] * b[i];
    x[i] -= y[i];
  }
  mn_csr_multiply(&one, &t->A.a, x, b);
  for (size_t i = 0; i < n; i++)
    off += x[i] * b[i];
  *error = sqrt(fabs(off) / size);
  mn_sparse_destroy(&f);
  free(b), free(x), free(y);
  return report.iterations;
}

static void test_answers_equal_a_factor(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  static const double stiff[] = {0.1, 10, 1000}, weight[] = {0, 1, 10};
  for (int s = 0; s < 3; s++)
    for (int k = 0; k < 3; k++) {
      int count[3];
      mn_aggregates *a;
      CHECK_OK(ctx, mn_aggregates_create(ctx, &a));
      for (int size = 0; size < 3; size++) {
        net t;
        double error;
        net_open(&t, ctx, 16 << size, stiff[s], 1, weight[k]);
        count[size] = solve(&t, a, &error);
        CHECK_LE(error, 2e-4);
        net_close(&t);
      }
      printf("      stiffness %g, faces' masses %g: %d, %d, %d iterations\n", stiff[s], weight[k],
             count[0], count[1], count[2]);
      CHECK_LE(count[2], 40);
      CHECK_LE(count[2], 1.7 * count[0] + 3);
      mn_aggregates_destroy(&a);
    }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Fixed steps: near the answer of a factor, and symmetric, which conjugate gradients that stop when
   they are near enough are not (the control). */
static void test_fixed_steps_are_symmetric(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  const mn_exec one = {1};
  mn_aggregates *a;
  mn_aggregates_report report;
  mn_sparse_factor *f;
  mn_factor_report factor;
  int positive;
  net t;
  net_open(&t, ctx, 32, 10, 1, 1);
  size_t n = (size_t)t.freedoms;
  double *b = random_vector((int)n, 3), *c = random_vector((int)n, 4), *y = calloc(n, sizeof *y);
  double *x = calloc(n, sizeof *x), *z = calloc(n, sizeof *z), size = 0, off = 0;
  CHECK_OK(ctx, mn_aggregates_create(ctx, &a));
  CHECK_OK(ctx, mn_aggregates_setup(a, &t.K.a, t.scale, &t.H.a, t.w, &positive));
  CHECK_OK(ctx, mn_sparse_create(ctx, &f));
  CHECK_OK(ctx, mn_sparse_factorise(f, &t.A.a, &factor));
  CHECK_OK(ctx, mn_sparse_solve(f, 1, b, y));
  double asymmetry[2];
  for (int fixed = 0; fixed < 2; fixed++) {
    double bx = 0, cy = 0;
    mn_aggregates_solve(a, fixed ? 1e-4 : 0.03, 100, b, x, &report);
    int steps = fixed ? mn_aggregates_look(a, 0.01) : 0;
    if (fixed) {
      CHECK_LE(steps, 2 * report.iterations);
      mn_aggregates_fixed(a, steps, b, x);
      mn_aggregates_fixed(a, steps, c, z);
    } else
      mn_aggregates_solve(a, 0.03, 100, c, z, &report);
    for (size_t i = 0; i < n; i++) {
      bx += b[i] * z[i];
      cy += c[i] * x[i];
    }
    asymmetry[fixed] = fabs(bx - cy) / fmax(fabs(bx), fabs(cy));
  }
  for (size_t i = 0; i < n; i++) {
    size += y[i] * b[i];
    x[i] -= y[i];
  }
  mn_csr_multiply(&one, &t.A.a, x, z);
  for (size_t i = 0; i < n; i++)
    off += x[i] * z[i];
  CHECK_LE(sqrt(fabs(off) / size), 0.02);
  double worst = 0; /* by rows of H: the same numbers */
  mn_csr_rows HT = {0};
  CHECK_OK(ctx, mn_csr_rows_transpose(ctx, &t.H.a, &HT));
  mn_csr_multiply(&one, &HT.a, c, z);
  mn_aggregates_fixed(a, 5, z, z);
  mn_csr_multiply(&one, &t.H.a, z, x);
  mn_aggregates_fixed_rows(a, 5, c, y);
  for (int64_t r = 0; r < t.H.a.rows; r++)
    worst = fmax(worst, fabs(y[r] - x[r]) / fabs(x[0]));
  mn_csr_rows_destroy(&HT);
  CHECK_LE(worst, 1e-4);
  CHECK_LE(asymmetry[1], 1e-5);
  CHECK_GE(asymmetry[0], 20 * asymmetry[1]);
  mn_sparse_destroy(&f);
  mn_aggregates_destroy(&a);
  net_close(&t);
  free(b), free(c), free(x), free(y), free(z);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* The same pattern and new values give what a fresh object gives. */
static void test_patterns_are_kept(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_aggregates *a, *b;
  mn_aggregates_report report;
  int positive;
  net t, u;
  net_open(&t, ctx, 24, 5, 1, 1);
  net_open(&u, ctx, 24, 50, 2, 3);
  size_t n = (size_t)t.freedoms;
  double *right = random_vector((int)n, 3), *x = calloc(n, sizeof *x), *y = calloc(n, sizeof *y);
  CHECK_OK(ctx, mn_aggregates_create(ctx, &a));
  CHECK_OK(ctx, mn_aggregates_create(ctx, &b));
  CHECK_OK(ctx, mn_aggregates_setup(a, &t.K.a, t.scale, &t.H.a, t.w, &positive));
  CHECK_OK(ctx, mn_aggregates_setup(a, &u.K.a, u.scale, &u.H.a, u.w, &positive));
  CHECK_OK(ctx, mn_aggregates_setup(b, &u.K.a, u.scale, &u.H.a, u.w, &positive));
  mn_aggregates_solve(a, 1e-3, 50, right, x, &report);
  mn_aggregates_solve(b, 1e-3, 50, right, y, &report);
  CHECK(memcmp(x, y, n * sizeof *x) == 0);
  mn_aggregates_solve(a, 1e-3, 50, right, right, &report); /* in place */
  CHECK(memcmp(x, right, n * sizeof *x) == 0);
  mn_aggregates_destroy(&a);
  mn_aggregates_destroy(&b);
  net_close(&t);
  net_close(&u);
  free(right), free(x), free(y);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_not_positive_is_seen(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_aggregates *a;
  mn_aggregates_report report = {.positive = 1};
  net t;
  int positive;
  net_open(&t, ctx, 16, 1, 1, -200); /* faces' masses below 0, more than the net's */
  double *b = random_vector((int)t.freedoms, 5);
  CHECK_OK(ctx, mn_aggregates_create(ctx, &a));
  CHECK_OK(ctx, mn_aggregates_setup(a, &t.K.a, t.scale, &t.H.a, t.w, &positive));
  if (positive)
    mn_aggregates_solve(a, 1e-6, 100, b, b, &report);
  CHECK(!positive || !report.positive);
  mn_aggregates_destroy(&a);
  net_close(&t);
  free(b);
  net_open(&t, ctx, 16, 1, -1, 0); /* inertia below 0 */
  CHECK_OK(ctx, mn_aggregates_create(ctx, &a));
  CHECK_OK(ctx, mn_aggregates_setup(a, &t.K.a, t.scale, &t.H.a, t.w, &positive));
  b = random_vector((int)t.freedoms, 5);
  report.positive = 1;
  if (positive)
    mn_aggregates_solve(a, 1e-6, 100, b, b, &report);
  CHECK(!positive || !report.positive);
  mn_aggregates_destroy(&a);
  net_close(&t);
  free(b);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

/* The row sums of H^T w H, each freedom's. */
static void lump(const net *t, double *lumped)
{
  const mn_csr *H = &t->H.a;
  memset(lumped, 0, (size_t)t->freedoms * sizeof *lumped);
  for (int64_t r = 0; r < H->rows; r++) {
    double sum = 0;
    for (int64_t e = H->start[r]; e < H->start[r + 1]; e++)
      sum += fabs(H->value[e]);
    for (int64_t e = H->start[r]; e < H->start[r + 1]; e++)
      lumped[H->col[e]] += fmax(t->w[r], 0) * fabs(H->value[e]) * sum;
  }
}

/* The plain twin of sweeps alone: with A = L + D + L^T by nodes, pivots P = D - L P^-1 L^T on the
   diagonal, x of (P + L) P^-1 (P + L^T) x = b. */
typedef double block[3][3];

/* The block of nodes g, h with row sums on the diagonal; freedoms that a node lacks are 0, of D 1.
 */
static void get_block(const net *t, const double *lumped, int g, int h, block A)
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      int64_t row = t->freedom[3 * g + i], col = t->freedom[3 * h + j];
      int64_t e = row < 0 || col < 0 ? -1 : mn_csr_find(&t->K.a, row, col);
      A[i][j] = e < 0 ? 0 : t->scale[row] * t->K.a.value[e];
      if (g == h && i == j)
        A[i][j] = row < 0 ? 1 : A[i][j] + lumped[row];
    }
}

/* y <- A^-1 y, Gauss-Jordan */
static void solve_block(block A, double y[3])
{
  double work[3][4];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++)
      work[i][j] = j < 3 ? A[i][j] : y[i];
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < 3; i++) {
      double part = i == k ? 0 : work[i][k] / work[k][k];
      for (int j = 0; j < 4; j++)
        work[i][j] -= part * work[k][j];
    }
  for (int i = 0; i < 3; i++)
    y[i] = work[i][3] / work[i][i];
}

/* Whether h is a neighbour of g. */
static int is_near(const net *t, int g, int h)
{
  int64_t row = t->freedom[3 * g + 2], col = t->freedom[3 * h + 2];
  return mn_csr_find(&t->K.a, row, col) >= 0;
}

static void plain_sweeps(const net *t, const double *b, double *x)
{
  int nodes = t->side * t->side;
  double *lumped = calloc((size_t)t->freedoms, sizeof *lumped);
  double(*y)[3] = calloc((size_t)nodes, sizeof *y), way[3];
  block *P = calloc((size_t)nodes, sizeof *P), L;
  lump(t, lumped);
  for (int g = 0; g < nodes; g++) { /* y <- (P + L)^-1 b */
    get_block(t, lumped, g, g, P[g]);
    for (int i = 0; i < 3; i++)
      y[g][i] = t->freedom[3 * g + i] < 0 ? 0 : b[t->freedom[3 * g + i]];
    for (int h = 0; h < g; h++) {
      if (!is_near(t, g, h))
        continue;
      get_block(t, lumped, g, h, L);
      for (int j = 0; j < 3; j++) { /* P -= L (P^-1 L^T), by columns */
        for (int k = 0; k < 3; k++)
          way[k] = L[j][k];
        solve_block(P[h], way);
        for (int i = 0; i < 3; i++)
          P[g][i][j] -= L[i][0] * way[0] + L[i][1] * way[1] + L[i][2] * way[2];
      }
      for (int i = 0; i < 3; i++)
        y[g][i] -= L[i][0] * y[h][0] + L[i][1] * y[h][1] + L[i][2] * y[h][2];
    }
    solve_block(P[g], y[g]);
  }
  for (int g = nodes - 1; g >= 0; g--) /* y <- y - P^-1 L^T y */
    for (int h = g + 1; h < nodes; h++) {
      if (!is_near(t, g, h))
        continue;
      get_block(t, lumped, h, g, L);
      for (int i = 0; i < 3; i++)
        way[i] = L[0][i] * y[h][0] + L[1][i] * y[h][1] + L[2][i] * y[h][2];
      solve_block(P[g], way);
      for (int i = 0; i < 3; i++)
        y[g][i] -= way[i];
    }
  for (int k = 0; k < 3 * nodes; k++)
    if (t->freedom[k] >= 0)
      x[t->freedom[k]] = y[k / 3][k % 3];
  free(lumped);
  free(y);
  free(P);
}

static double worst_of(size_t n, const double *x, const double *y)
{
  double worst = 0, most = 0;
  for (size_t i = 0; i < n; i++) {
    worst = fmax(worst, fabs(x[i] - y[i]));
    most = fmax(most, fabs(y[i]));
  }
  return worst / most;
}

/* Sweeps alone: one is that of the plain loop; steps of them are symmetric and come to what levels
   come to. And K as it came, from below its diagonal, beside the whole. */
static void test_sweeps_alone(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  const mn_exec one = {1};
  mn_aggregates *a;
  mn_aggregates_report report;
  int positive;
  net t;
  net_open(&t, ctx, 32, 2, 1, 1);
  size_t n = (size_t)t.freedoms;
  double *b = random_vector((int)n, 3), *c = random_vector((int)n, 4), *y = calloc(n, sizeof *y);
  double *x = calloc(n, sizeof *x), *z = calloc(n, sizeof *z), bz = 0, cx = 0;
  CHECK_OK(ctx, mn_aggregates_create(ctx, &a));
  CHECK_OK(ctx, mn_aggregates_setup(a, &t.K.a, t.scale, &t.H.a, t.w, &positive));
  mn_aggregates_solve(a, 1e-6, 100, b, y, &report);
  CHECK_OK(ctx, mn_aggregates_setup_sweeps(a, &t.K.a, t.scale, &t.H.a, t.w, &positive));
  CHECK(positive);
  mn_aggregates_cycle(a, b, x);
  plain_sweeps(&t, b, z);
  CHECK_LE(worst_of(n, x, z), 2e-6);
  mn_aggregates_solve(a, 1e-6, 100, b, x, &report);
  CHECK(report.positive && report.converged);
  CHECK_LE(worst_of(n, x, y), 1e-5);
  int steps = mn_aggregates_look(a, 0.001);
  mn_aggregates_fixed(a, steps, b, x);
  mn_aggregates_fixed(a, steps, c, z);
  CHECK_LE(worst_of(n, x, y), 2e-3);
  for (size_t i = 0; i < n; i++) {
    bz += b[i] * z[i];
    cx += c[i] * x[i];
  }
  CHECK_LE(fabs(bz - cx), 1e-5 * fabs(bz));
  mn_aggregates_multiply(a, b, x);
  mn_csr_multiply(&one, &t.K.a, b, y);
  for (size_t i = 0; i < n; i++)
    y[i] *= t.scale[i];
  CHECK_LE(worst_of(n, x, y), 1e-14);
  mn_aggregates_destroy(&a);
  net_close(&t);
  free(b), free(c), free(x), free(y), free(z);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_answers_equal_a_factor),
      cmocka_unit_test(test_fixed_steps_are_symmetric), cmocka_unit_test(test_sweeps_alone),
      cmocka_unit_test(test_patterns_are_kept), cmocka_unit_test(test_not_positive_is_seen)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
