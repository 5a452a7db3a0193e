/* Every LCP solver on problems with at least three levels of grids, against policy iteration with a
   sparse Cholesky factorisation written here: random solids and surfaces in 2D and 3D, thin
   channels, thin walls, single cells, liquid up to the sides of the domain, closed regions,
   everything held, nothing held. Then from the solution of a neighbouring problem. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "check.h"
#include "la/sparse.h"
#include "pressure/lcp.h"

enum { INSTANCES = 56, KINDS = 8 };
static const double TOLERANCE = 1e-9; /* of b, which is about 1; dx = 1 */

typedef struct instance {
  mn_context *ctx;
  mn_grid grid;
  mn_field open[3], liquid, b, p;
  mn_pressure_geometry geometry;
  mn_lcp lcp;
  /* the reference */
  int count;
  int *number;
  double *exact;
  int held, walls;
} instance;

/* ---- problems ------------------------------------------------------------------------------ */

typedef enum shape_kind {
  BLOBS,    /* solid and air in smooth random shapes, fractions in between */
  CHANNELS, /* one cell wide */
  SINGLES,  /* cells that touch no other */
  SIDES,    /* no solid but the sides of the domain */
  CLOSED,   /* regions without surface that may shrink */
  ALL_HELD,
  NONE_HELD,
  THIN_WALLS /* closed faces between liquid cells */
} shape_kind;

/* A smooth function of the position, about in [-1, 1]. */
static double wave(const double c[8], int i, int j, int k)
{
  return 0.5 * sin(c[0] * i + c[1] * j + c[2] * k + c[3]) +
         0.5 * sin(c[4] * i - c[5] * j + c[6] * k + c[7]);
}

static void random_wave(uint64_t *seed, double c[8])
{
  for (int n = 0; n < 8; n++)
    c[n] = (n % 4 == 3 ? 6 : 0.4) * check_random(seed);
}

static double fraction(shape_kind kind, const double c[8], uint64_t *seed, int a, const int at[3])
{
  double open = 1;
  if (kind == BLOBS || kind == ALL_HELD || kind == NONE_HELD)
    open = fmax(0, fmin(1, 0.8 + 2 * wave(c, at[0], at[1], at[2])));
  if (kind == CHANNELS && a == 1) /* rows are joined at their ends in turn */
    open = at[1] % 2 == 0 && at[0] > 0 && at[0] < 5 ? 1 : at[0] == 7 && at[1] % 2 ? 1 : 0;
  if (kind == SINGLES)
    open = check_random(seed) < 0.5 ? check_random(seed) : 1;
  if (kind == CLOSED)
    open = a == 0 && at[0] % 9 == 4 ? 0 : 1;
  if (kind == THIN_WALLS)
    open = at[a] % 7 == 3 && (at[(a + 1) % 2] + at[2]) % 5 ? 0 : 1;
  return open > 0 && open < 1e-3 ? 0 : open;
}

static double level_set(shape_kind kind, const double c[8], int n, int i, int j, int k)
{
  if (kind == SINGLES)
    return (i + j + k) % 2 ? 0.3 : -0.4;
  if (kind == CLOSED)
    return i >= 9 ? j - 0.6 * n : -1; /* the first chamber is full */
  if (kind == SIDES)
    return j - 0.5 * n + 2 * wave(c, i, j, k);
  return 0.4 - wave(c, j, k, i) - 0.6 * (kind == CHANNELS);
}

static double right_side(shape_kind kind, const double c[8], uint64_t *seed, int i, int j, int k)
{
  double noise = 2 * check_random(seed) - 1;
  if (kind == ALL_HELD)
    return -0.1 - fabs(noise);
  if (kind == NONE_HELD)
    return 0.1 + fabs(noise);
  if (kind == CLOSED)
    return noise - 0.5;
  return wave(c, k, i, j) + 0.3 * noise;
}

static void fill(instance *t, shape_kind kind, uint64_t *seed)
{
  double c[3][8];
  for (int n = 0; n < 3; n++)
    random_wave(seed, c[n]);
  const int *n = t->grid.n;
  for (int k = 0; k < n[2]; k++)
    for (int j = 0; j < n[1]; j++)
      for (int i = 0; i < n[0]; i++) {
        mn_set(&t->liquid, i, j, k, level_set(kind, c[0], n[1], i, j, k));
        mn_set(&t->b, i, j, k, right_side(kind, c[1], seed, i, j, k));
      }
  for (int a = 0; a < t->grid.dim; a++)
    for (int k = 0; k < t->open[a].n[2]; k++)
      for (int j = 0; j < t->open[a].n[1]; j++)
        for (int i = 0; i < t->open[a].n[0]; i++) {
          int at[3] = {i, j, k};
          mn_set(&t->open[a], i, j, k, fraction(kind, c[2], seed, a, at));
        }
}

static void instance_create(instance *t, mn_context *ctx, int number, uint64_t *seed)
{
  static const int shape[][3] = {{32, 32, 1}, {16, 16, 16}, {48, 24, 1}, {12, 20, 16}};
  const int *n = shape[number / KINDS % 4];
  *t = (instance){.ctx = ctx};
  t->grid = mn_grid_make(&ctx->exec, n[2] > 1 ? 3 : 2, n, 1, mn_v3(0, 0, 0));
  for (int a = 0; a < t->grid.dim; a++)
    CHECK_OK(ctx, mn_field_create(ctx, &t->grid, (mn_place)a, "open", &t->open[a]));
  CHECK_OK(ctx, mn_field_create(ctx, &t->grid, MN_CELL, "liquid", &t->liquid));
  CHECK_OK(ctx, mn_field_create(ctx, &t->grid, MN_CELL, "b", &t->b));
  CHECK_OK(ctx, mn_field_create(ctx, &t->grid, MN_CELL, "p", &t->p));
  CHECK_OK(ctx, mn_lcp_create(ctx, &t->grid, &t->lcp));
  fill(t, (shape_kind)(number % KINDS), seed);
  t->geometry = (mn_pressure_geometry){.open = t->open, .liquid = &t->liquid, .theta_min = 0.01};
  CHECK_OK(ctx, mn_lcp_assemble(ctx, &t->geometry, &t->lcp));
}

static void instance_destroy(instance *t)
{
  for (int a = 0; a < t->grid.dim; a++)
    mn_field_destroy(&t->open[a]);
  mn_field_destroy(&t->liquid);
  mn_field_destroy(&t->b);
  mn_field_destroy(&t->p);
  mn_lcp_destroy(&t->lcp);
  free(t->number);
  free(t->exact);
}

/* ---- the reference ------------------------------------------------------------------------- */

/* (A p - b) at point c, from the stencil alone. */
static double slack_at(const instance *t, const double *p, size_t c)
{
  const mn_stencil *s = &t->lcp.matrix;
  double sum = s->diagonal.data[c] * p[c] - t->b.data[c];
  for (int a = 0; a < t->grid.dim; a++) {
    size_t up = (size_t)s->diagonal.stride[a];
    sum -= s->off[a].data[c] * p[c - up] + s->off[a].data[c + up] * p[c + up];
  }
  return sum;
}

/* exact <- the solution with p = 0 on held points. */
static void solve_held(instance *t, mn_sparse_factor *factor, const unsigned char *held)
{
  const mn_stencil *s = &t->lcp.matrix;
  size_t size = s->diagonal.size, entries = 0;
  mn_triplet *list = malloc((size_t)t->count * 7 * sizeof *list);
  double *x = calloc((size_t)t->count, sizeof *x);
  for (size_t c = 0; c < size; c++) {
    int row = t->number[c];
    if (row < 0)
      continue;
    x[row] = held[c] ? 0 : t->b.data[c];
    list[entries++] = (mn_triplet){row, row, held[c] ? 1 : s->diagonal.data[c]};
    for (int a = 0; a < t->grid.dim && !held[c]; a++) {
      size_t low = c - (size_t)s->diagonal.stride[a];
      if (t->number[low] < 0 || held[low] || s->off[a].data[c] == 0)
        continue;
      list[entries++] = (mn_triplet){row, t->number[low], -s->off[a].data[c]};
      list[entries++] = (mn_triplet){t->number[low], row, -s->off[a].data[c]};
    }
  }
  mn_csr A;
  mn_factor_report report;
  CHECK_OK(t->ctx, mn_csr_from_triplets(t->ctx, t->count, t->count, list, entries, &A));
  CHECK_OK(t->ctx, mn_sparse_factorise(factor, &A, &report));
  CHECK(report.positive_definite);
  CHECK_OK(t->ctx, mn_sparse_solve(factor, 1, x, x));
  for (size_t c = 0; c < size; c++)
    t->exact[c] = t->number[c] >= 0 && !held[c] ? x[t->number[c]] : 0;
  mn_csr_destroy(&A);
  free(list);
  free(x);
}

/* Fills exact, and says how wrong it is as a solution of the LCP. */
static double reference(instance *t)
{
  const mn_field *D = &t->lcp.matrix.diagonal;
  unsigned char *held = calloc(D->size, 1);
  t->number = malloc(D->size * sizeof *t->number);
  t->exact = calloc(D->size, sizeof *t->exact);
  for (size_t c = 0; c < D->size; c++) {
    t->number[c] = D->data[c] > 0 ? t->count++ : -1;
    held[c] = t->lcp.separating[c] && t->b.data[c] < 0;
    t->walls += t->lcp.separating[c];
  }
  mn_sparse_factor *factor;
  CHECK_OK(t->ctx, mn_sparse_create(t->ctx, &factor));
  int changed = 1;
  for (int k = 0; k < 100 && changed; k++) {
    solve_held(t, factor, held);
    changed = 0;
    for (size_t c = 0; c < D->size; c++)
      if (t->lcp.separating[c]) {
        unsigned char next = D->data[c] * t->exact[c] < slack_at(t, t->exact, c);
        changed += next != held[c];
        held[c] = next;
      }
  }
  mn_sparse_destroy(&factor);
  double wrong = changed;
  for (size_t c = 0; c < D->size; c++) {
    if (t->number[c] < 0)
      continue;
    double slack = slack_at(t, t->exact, c);
    t->held += held[c];
    wrong = check_worst(wrong, fabs(t->lcp.separating[c] ? fmin(t->exact[c], slack) : slack));
  }
  free(held);
  return wrong;
}

/* ||p - exact|| / ||exact|| in the infinity norm */
static double distance(const instance *t)
{
  double worst = 0, size = 0;
  for (size_t c = 0; c < t->p.size; c++) {
    if (t->number[c] < 0)
      continue;
    worst = check_worst(worst, fabs(t->p.data[c] - t->exact[c]));
    size = fmax(size, fabs(t->exact[c]));
  }
  return size > 0 ? worst / size : worst;
}

/* ---- tests --------------------------------------------------------------------------------- */

typedef struct tally {
  double cold[MN_LCP_SOLVERS], warm[MN_LCP_SOLVERS];
  int failed[MN_LCP_SOLVERS], cold_iterations[MN_LCP_SOLVERS], warm_iterations[MN_LCP_SOLVERS];
  int held, walls, instances_all, instances_none;
} tally;

/* From p = 0, then from the solution for another b: random, and negative at some walls. */
static void one_solver(instance *t, mn_lcp_solver_kind kind, uint64_t seed, tally *sum)
{
  mn_lcp_solver *v;
  mn_lcp_report report;
  mn_field b;
  CHECK_OK(t->ctx, mn_lcp_solver_create(t->ctx, &t->grid, kind, &v));
  CHECK_OK(t->ctx, mn_field_create(t->ctx, &t->grid, MN_CELL, "b", &b));
  mn_field_fill(&t->p, 0);
  CHECK_OK(t->ctx, mn_lcp_solve(v, &t->lcp, &t->b, TOLERANCE, 100000, &t->p, &report));
  int failed = report.solve.reason != MN_CONVERGED;
  sum->cold_iterations[kind] += report.solve.iterations;
  if (!failed)
    sum->cold[kind] = check_worst(sum->cold[kind], distance(t));
  for (size_t c = 0; c < b.size; c++)
    b.data[c] = t->b.data[c] - 0.02 * fabs(t->b.data[c]) * check_random(&seed);
  CHECK_OK(t->ctx, mn_lcp_solve(v, &t->lcp, &b, TOLERANCE, 100000, &t->p, &report));
  for (size_t c = 0; c < b.size; c += 7) /* a p that solves nothing */
    t->p.data[c] *= -1;
  CHECK_OK(t->ctx, mn_lcp_solve(v, &t->lcp, &t->b, TOLERANCE, 100000, &t->p, &report));
  sum->warm_iterations[kind] += report.solve.iterations;
  failed |= report.solve.reason != MN_CONVERGED;
  if (report.solve.reason == MN_CONVERGED)
    sum->warm[kind] = check_worst(sum->warm[kind], distance(t));
  if (failed)
    print_message("  %s: %s, residual %.2g\n", mn_lcp_solver_name(kind),
                  mn_reason_text(report.solve.reason), report.residual);
  sum->failed[kind] += failed;
  mn_field_destroy(&b);
  mn_lcp_solver_destroy(&v);
}

static void all_solvers(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  uint64_t seed = 11;
  tally sum = {0};
  for (int n = 0; n < INSTANCES; n++) {
    instance t;
    instance_create(&t, ctx, n, &seed);
    CHECK_LE(reference(&t), 1e-10);
    print_message("%d: kind %d, %d unknowns, %d of %d walls held\n", n, n % KINDS, t.count, t.held,
                  t.walls);
    CHECK_GE(t.count, 40);
    sum.held += t.held;
    sum.walls += t.walls;
    sum.instances_all += t.held == t.walls;
    sum.instances_none += t.held == 0;
    for (int kind = 0; kind < MN_LCP_SOLVERS; kind++) {
      /* a channel of hundreds of cells is a chain: tens of thousands of sweeps for the plain ones
       */
      if (n % KINDS == CHANNELS && (kind == MN_LCP_PGS || kind == MN_LCP_NEWTON))
        continue;
      one_solver(&t, (mn_lcp_solver_kind)kind, 5, &sum);
    }
    instance_destroy(&t);
  }
  CHECK_GE(sum.held, 0.1 * sum.walls);
  CHECK_LE(sum.held, 0.9 * sum.walls);
  CHECK_GE(sum.instances_all, 4);
  CHECK_GE(sum.instances_none, 4);
  for (int kind = 0; kind < MN_LCP_SOLVERS; kind++) {
    print_message("%s: cold %d iterations, distance %.2g; warm %d, %.2g; %d failed\n",
                  mn_lcp_solver_name((mn_lcp_solver_kind)kind), sum.cold_iterations[kind],
                  sum.cold[kind], sum.warm_iterations[kind], sum.warm[kind], sum.failed[kind]);
    CHECK_LE(sum.cold[kind], 1e-6);
    CHECK_LE(sum.warm[kind], 1e-6);
    /* what the ablations leave out may be missed: then they say so */
    if (kind != MN_LCP_FAS_DIRECT_COARSE && kind != MN_LCP_FAS_PLAIN_WALLS)
      CHECK(sum.failed[kind] == 0);
  }
  /* policy iteration knows the held cells of a neighbouring problem, fas starts closer */
  CHECK_LE(sum.warm_iterations[MN_LCP_PI_MG], 0.5 * sum.cold_iterations[MN_LCP_PI_MG]);
  CHECK_LE(sum.warm_iterations[MN_LCP_PE_MG], 0.75 * sum.cold_iterations[MN_LCP_PE_MG]);
  CHECK_LE(sum.warm_iterations[MN_LCP_FAS], sum.cold_iterations[MN_LCP_FAS]);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Negative control: the reference with one wall cell held that is not. */
static void wrong_reference(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  uint64_t seed = 11;
  tally sum = {0};
  instance t;
  instance_create(&t, ctx, BLOBS, &seed);
  CHECK_LE(reference(&t), 1e-10);
  size_t worst = 0;
  for (size_t c = 0; c < t.p.size; c++)
    worst = t.lcp.separating[c] && t.exact[c] > t.exact[worst] ? c : worst;
  t.exact[worst] = 0;
  one_solver(&t, MN_LCP_FAS, 5, &sum);
  CHECK_DONE();
  CHECK_LE(sum.cold[MN_LCP_FAS], 1e-6);
  CHECK_MUST_HAVE_FAILED();
  instance_destroy(&t);
  mn_context_destroy(&ctx);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(all_solvers),
                                     cmocka_unit_test(wrong_reference)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
