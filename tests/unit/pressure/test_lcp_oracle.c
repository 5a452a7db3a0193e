/* Every LCP solver against exhaustive enumeration of the active sets, on 1,000 random M-matrices of
   at most 14 unknowns; policy iteration is monotone. */
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "check.h"
#include "pressure/lcp.h"

enum { MOST = 14, INSTANCES = 1000 };

/* The problem as a dense matrix over the unknowns. */
typedef struct dense {
  int n;
  double A[MOST][MOST], b[MOST], p[MOST];
  int bound[MOST];
  int64_t point[MOST];
} dense;

/* Solves A p = b over the cells not in `active`, p = 0 on those; returns whether the result
   satisfies the LCP. */
static int try_set(dense *t, unsigned active)
{
  double M[MOST][MOST + 1];
  int n = 0, cell[MOST];
  for (int i = 0; i < t->n; i++) {
    t->p[i] = 0;
    if (!(active >> i & 1))
      cell[n++] = i;
  }
  for (int r = 0; r < n; r++) {
    for (int c = 0; c < n; c++)
      M[r][c] = t->A[cell[r]][cell[c]];
    M[r][n] = t->b[cell[r]];
  }
  for (int k = 0; k < n; k++) /* no pivoting: an M-matrix */
    for (int r = k + 1; r < n; r++) {
      double f = M[r][k] / M[k][k];
      for (int c = k; c <= n; c++)
        M[r][c] -= f * M[k][c];
    }
  for (int k = n - 1; k >= 0; k--) {
    double sum = M[k][n];
    for (int c = k + 1; c < n; c++)
      sum -= M[k][c] * t->p[cell[c]];
    t->p[cell[k]] = sum / M[k][k];
  }
  for (int i = 0; i < t->n; i++) {
    if (!t->bound[i])
      continue;
    double slack = -t->b[i];
    for (int j = 0; j < t->n; j++)
      slack += t->A[i][j] * t->p[j];
    if (active >> i & 1 ? slack < 0 : t->p[i] < 0)
      return 0;
  }
  return 1;
}

static int enumerate(dense *t)
{
  unsigned bounds = 0;
  for (int i = 0; i < t->n; i++)
    bounds |= (unsigned)t->bound[i] << i;
  unsigned set = 0;
  do {
    if (try_set(t, set))
      return 1;
    set = (set - bounds) & bounds; /* next subset */
  } while (set);
  return 0;
}

/* A random box of cells, some of them no unknowns; coefficients over several magnitudes. */
static void random_problem(uint64_t *seed, mn_lcp *lcp, mn_field *b)
{
  mn_field *D = &lcp->matrix.diagonal;
  const mn_grid *g = D->grid;
  int64_t origin = D->at - D->data;
  double spread = 3 * check_random(seed);
  for (int k = 0; k < g->n[2]; k++)
    for (int j = 0; j < g->n[1]; j++)
      for (int i = 0; i < g->n[0]; i++) {
        int64_t c = mn_index(D, i, j, k);
        D->at[c] = check_random(seed) < 0.9 ? 1 : 0;
        lcp->separating[origin + c] = D->at[c] > 0 && check_random(seed) < 0.6;
        b->at[c] = 2 * check_random(seed) - 1;
      }
  for (int k = 0; k < g->n[2]; k++)
    for (int j = 0; j < g->n[1]; j++)
      for (int i = 0; i < g->n[0]; i++) {
        int64_t c = mn_index(D, i, j, k);
        if (!(D->at[c] > 0))
          continue;
        D->at[c] += pow(10, spread * (check_random(seed) - 0.8)) - 1;
        for (int a = 0; a < g->dim; a++) {
          int64_t m = c - D->stride[a];
          int first = (a == 0 ? i : a == 1 ? j : k) == 0;
          if (first || !(D->at[m] > 0) || check_random(seed) < 0.2)
            continue;
          double off = pow(10, spread * (check_random(seed) - 0.5));
          lcp->matrix.off[a].at[c] = off;
          D->at[c] += off;
          D->at[m] += off;
        }
      }
}

static void to_dense(const mn_lcp *lcp, const mn_field *b, dense *t)
{
  const mn_field *D = &lcp->matrix.diagonal;
  *t = (dense){0};
  for (size_t i = 0; i < D->size; i++)
    if (D->data[i] > 0) {
      t->bound[t->n] = lcp->separating[i];
      t->b[t->n] = b->data[i];
      t->A[t->n][t->n] = D->data[i];
      t->point[t->n++] = (int64_t)i;
    }
  for (int r = 0; r < t->n; r++)
    for (int c = 0; c < t->n; c++)
      for (int a = 0; a < D->grid->dim; a++)
        if (t->point[c] - t->point[r] == D->stride[a])
          t->A[r][c] = t->A[c][r] = -lcp->matrix.off[a].data[t->point[c]];
}

/* ||p - exact|| / ||exact|| in the infinity norm */
static double distance(const dense *t, const mn_field *p)
{
  double worst = 0, size = 0;
  for (int i = 0; i < t->n; i++) {
    worst = check_worst(worst, fabs(p->data[t->point[i]] - t->p[i]));
    size = fmax(size, fabs(t->p[i]));
  }
  return size > 0 ? worst / size : worst;
}

typedef struct tally {
  double distance[MN_LCP_SOLVERS], complementarity, decrease;
  int failed[MN_LCP_SOLVERS], unsolved, binding;
} tally;

static void one_instance(mn_context *ctx, uint64_t *seed, tally *sum)
{
  static const int shape[][3] = {{4, 3, 1}, {7, 2, 1}, {2, 2, 3}, {3, 2, 2}, {13, 1, 1}, {2, 7, 1}};
  const int *n = shape[(int)(6 * check_random(seed))];
  mn_grid grid = mn_grid_make(&ctx->exec, n[2] > 1 ? 3 : 2, n, 1, mn_v3(0, 0, 0));
  mn_lcp lcp;
  mn_field b, p;
  dense t;
  CHECK_OK(ctx, mn_lcp_create(ctx, &grid, &lcp));
  CHECK_OK(ctx, mn_field_create(ctx, &grid, MN_CELL, "b", &b));
  CHECK_OK(ctx, mn_field_create(ctx, &grid, MN_CELL, "p", &p));
  random_problem(seed, &lcp, &b);
  to_dense(&lcp, &b, &t);
  sum->unsolved += !enumerate(&t);
  for (int i = 0; i < t.n; i++)
    sum->binding += t.bound[i] && t.p[i] == 0;
  for (int kind = 0; kind < MN_LCP_SOLVERS; kind++) {
    mn_lcp_solver *v;
    mn_lcp_report report;
    mn_field_fill(&p, 0);
    CHECK_OK(ctx, mn_lcp_solver_create(ctx, &grid, (mn_lcp_solver_kind)kind, &v));
    CHECK_OK(ctx, mn_lcp_solve(v, &lcp, &b, 1e-10, 100000, &p, &report));
    sum->failed[kind] += report.solve.reason != MN_CONVERGED;
    sum->distance[kind] = check_worst(sum->distance[kind], distance(&t, &p));
    sum->complementarity = check_worst(sum->complementarity, report.complementarity);
    if (kind == MN_LCP_PI_PCG || kind == MN_LCP_PI_MG)
      sum->decrease = check_worst(sum->decrease, report.decrease);
    mn_lcp_solver_destroy(&v);
  }
  mn_field_destroy(&b);
  mn_field_destroy(&p);
  mn_lcp_destroy(&lcp);
}

static void enumeration(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  uint64_t seed = 2;
  tally sum = {0};
  for (int i = 0; i < INSTANCES; i++)
    one_instance(ctx, &seed, &sum);
  CHECK(sum.unsolved == 0);
  CHECK_GE(sum.binding, INSTANCES); /* the conditions matter */
  for (int kind = 0; kind < MN_LCP_SOLVERS; kind++) {
    print_message("%s: worst distance %.2g, %d failed\n",
                  mn_lcp_solver_name((mn_lcp_solver_kind)kind), sum.distance[kind],
                  sum.failed[kind]);
    CHECK_LE(sum.distance[kind], 1e-6);
    CHECK(sum.failed[kind] == 0);
  }
  CHECK_LE(sum.complementarity, 1e-8);
  CHECK_LE(sum.decrease, 1e-8);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Negative control: the linear solution, cut off at 0, is no solution. */
static void cut_off(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  int n[3] = {4, 3, 1};
  mn_grid grid = mn_grid_make(&ctx->exec, 2, n, 1, mn_v3(0, 0, 0));
  mn_lcp lcp;
  mn_field b, p;
  dense t;
  uint64_t seed = 5;
  CHECK_OK(ctx, mn_lcp_create(ctx, &grid, &lcp));
  CHECK_OK(ctx, mn_field_create(ctx, &grid, MN_CELL, "b", &b));
  CHECK_OK(ctx, mn_field_create(ctx, &grid, MN_CELL, "p", &p));
  random_problem(&seed, &lcp, &b);
  to_dense(&lcp, &b, &t);
  try_set(&t, 0);
  for (int i = 0; i < t.n; i++)
    p.data[t.point[i]] = t.bound[i] ? fmax(t.p[i], 0) : t.p[i];
  CHECK(enumerate(&t));
  CHECK_DONE();
  CHECK_LE(distance(&t, &p), 1e-6);
  CHECK_MUST_HAVE_FAILED();
  mn_field_destroy(&b);
  mn_field_destroy(&p);
  mn_lcp_destroy(&lcp);
  mn_context_destroy(&ctx);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(enumeration), cmocka_unit_test(cut_off)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
