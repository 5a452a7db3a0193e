/* The multigrid cycle against its plain twin: natural order, no colours split, full matrices by
   Galerkin products, the same algorithm; also with cells held at 0. And what CG needs of it:
   symmetry. */
#include "cases.h"
#include "pressure/mgpcg.h"

/* ---- a system over a dense matrix ------------------------------------------------------------ */

typedef struct dense_system {
  int dim, n[3];
  const double *A; /* n cells squared, divided by its scale */
} dense_system;

static int cell_index(const int n[3], int i, int j, int k)
{
  return i + n[0] * (j + n[1] * k);
}

static double dense_cell(const void *self, int i, int j, int k, double c[6])
{
  const dense_system *t = self;
  int m = t->n[0] * t->n[1] * t->n[2], step[3] = {1, t->n[0], t->n[0] * t->n[1]};
  int at[3] = {i, j, k}, row = cell_index(t->n, i, j, k);
  double excess = t->A[row * m + row];
  for (int side = 0; side < 6; side++) {
    int a = side / 2, other = at[a] + (side & 1 ? 1 : -1);
    c[side] = a < t->dim && other >= 0 && other < t->n[a]
                  ? -t->A[row * m + row + (side & 1 ? step[a] : -step[a])]
                  : 0;
    excess -= c[side];
  }
  return excess > 1e-12 ? excess : 0;
}

static void dense_classify(const void *self, int j, int k, uint8_t *kind, int *lo, int *hi)
{
  const dense_system *t = self;
  int m = t->n[0] * t->n[1] * t->n[2];
  *lo = *hi = 0;
  for (int i = 0; i < t->n[0]; i++) {
    double c[6], excess = dense_cell(self, i, j, k, c);
    int regular = excess == 0, row = cell_index(t->n, i, j, k);
    for (int side = 0; side < 2 * t->dim; side++)
      regular = regular && c[side] == 1;
    kind[i] = t->A[row * m + row] == 0 ? MN_DEAD : regular ? MN_REGULAR : MN_IRREGULAR;
    if (kind[i] != MN_DEAD) {
      *lo = *hi ? *lo : i;
      *hi = i + 1;
    }
  }
}

static int dense_coupled(const void *self, int axis, int i, int j, int k)
{
  double c[6];
  dense_cell(self, i, j, k, c);
  return c[2 * axis] > 0;
}

/* ---- the plain twin -------------------------------------------------------------------------- */

enum { LEVELS = 8 };
typedef struct plain {
  int dim, levels, n[LEVELS][3], m[LEVELS];
  double *A[LEVELS], *u[LEVELS], *f[LEVELS];
} plain;

static int parent(const plain *t, int l, int c)
{
  const int *n = t->n[l];
  return cell_index(t->n[l + 1], c % n[0] / 2, c / n[0] % n[1] / 2, c / n[0] / n[1] / 2);
}

static void plain_create(plain *t, int dim, const int n[3], const double *A)
{
  *t = (plain){.dim = dim, .levels = 1};
  memcpy(t->n[0], n, sizeof t->n[0]);
  for (int l = 0;; l++) {
    int m = t->m[l] = t->n[l][0] * t->n[l][1] * t->n[l][2];
    t->A[l] = calloc((size_t)m * (size_t)m, sizeof(double));
    t->u[l] = calloc((size_t)m, sizeof(double));
    t->f[l] = calloc((size_t)m, sizeof(double));
    if (l == 0)
      memcpy(t->A[0], A, (size_t)m * (size_t)m * sizeof(double));
    for (int r = 0; l > 0 && r < t->m[l - 1]; r++)
      for (int c = 0; c < t->m[l - 1]; c++)
        t->A[l][parent(t, l - 1, r) * m + parent(t, l - 1, c)] +=
            t->A[l - 1][r * t->m[l - 1] + c] * (dim == 3 ? 0.25 : 0.5);
    t->levels = l + 1;
    if (t->n[l][0] <= 4 && t->n[l][1] <= 4 && t->n[l][2] <= 4)
      break;
    for (int a = 0; a < 3; a++)
      t->n[l + 1][a] = (t->n[l][a] + 1) / 2;
  }
}

static void plain_destroy(plain *t)
{
  for (int l = 0; l < t->levels; l++) {
    free(t->A[l]);
    free(t->u[l]);
    free(t->f[l]);
  }
}

static double row_residual(const plain *t, int l, int r)
{
  double sum = t->f[l][r];
  for (int c = 0; c < t->m[l]; c++)
    sum -= t->A[l][r * t->m[l] + c] * t->u[l][c];
  return sum;
}

static void plain_sweep(plain *t, int l, int colour)
{
  const int *n = t->n[l];
  for (int r = 0; r < t->m[l]; r++) {
    double d = t->A[l][r * t->m[l] + r];
    if (((r % n[0] + r / n[0] % n[1] + r / n[0] / n[1]) & 1) == colour && d > 1e-9)
      t->u[l][r] += row_residual(t, l, r) / d;
  }
}

static int is_dead(uint8_t kind)
{
  return kind == MN_DEAD || kind & MN_MG_HELD;
}

static void plain_visit(plain *t, int l, const mn_multigrid *mg)
{
  int m = t->m[l];
  if (l == t->levels - 1) { /* the pseudo-inverse is checked on its own */
    for (int r = 0, u = 0; r < m; r++) {
      t->u[l][r] = 0;
      if (is_dead(mg->level[l].kind[r]))
        continue;
      for (int c = 0, v = 0; c < m; c++)
        if (!is_dead(mg->level[l].kind[c]))
          t->u[l][r] += (double)mg->inverse[u * mg->dense + v++] * t->f[l][c];
      u++;
    }
    return;
  }
  for (int sweep = 0; sweep < 4; sweep++)
    plain_sweep(t, l, sweep & 1);
  memset(t->f[l + 1], 0, (size_t)t->m[l + 1] * sizeof(double));
  memset(t->u[l + 1], 0, (size_t)t->m[l + 1] * sizeof(double));
  for (int r = 0; r < m; r++)
    t->f[l + 1][parent(t, l, r)] +=
        (t->A[l][r * m + r] > 0 ? row_residual(t, l, r) : 0) * (t->dim == 3 ? 0.5 : 1);
  plain_visit(t, l + 1, mg);
  if (l == 0)
    plain_visit(t, l + 1, mg);
  for (int r = 0; r < m; r++)
    t->u[l][r] += t->A[l][r * m + r] > 0 ? t->u[l + 1][parent(t, l, r)] : 0;
  for (int sweep = 0; sweep < 4; sweep++)
    plain_sweep(t, l, ~sweep & 1);
}

/* ---- tests ------------------------------------------------------------------------------------
 */

static float *place(const mn_mg_level *L, float *const x[2], int i, int j, int k)
{
  int colour = (i + j + k) & 1;
  return &x[colour][mn_mg_row_at(L, j, k)->base[colour] + i / 2];
}

typedef struct bench {
  test_case t;
  double *A;
  dense_system dense;
  mn_system system;
  mn_regions regions;
  mn_multigrid mg;
} bench;

static void create(bench *b, int threads, int dim, const int n[3], case_kind kind)
{
  case_create(&b->t, threads, dim, n, kind, 77);
  b->A = case_dense(&b->t);
  for (int i = 0; i < case_cells(&b->t) * case_cells(&b->t); i++)
    b->A[i] *= b->t.grid.dx * b->t.grid.dx;
  b->dense = (dense_system){dim, {n[0], n[1], n[2]}, b->A};
  b->system = (mn_system){.dim = dim,
                          .n = {n[0], n[1], n[2]},
                          .scale = 1,
                          .exec = b->t.grid.exec,
                          .self = &b->dense,
                          .classify = dense_classify,
                          .cell = dense_cell,
                          .coupled = dense_coupled};
  b->regions = (mn_regions){0};
  memset(&b->mg, 0, sizeof b->mg);
  CHECK_OK(b->t.ctx, mn_regions_build(b->t.ctx, &b->regions, &b->system));
  CHECK_OK(b->t.ctx, mn_multigrid_setup(b->t.ctx, &b->mg, &b->system, &b->regions));
}

static void destroy(bench *b)
{
  mn_multigrid_free(&b->mg);
  mn_regions_free(&b->regions);
  free(b->A);
  case_destroy(&b->t);
}

/* Applies the cycle to f; both in natural order. */
static void apply(bench *b, const double *f, double *u)
{
  const mn_mg_level *L = &b->mg.level[0];
  const int *n = L->n;
  for (int c = 0; c < case_cells(&b->t); c++)
    if (L->kind[c] != MN_DEAD)
      *place(L, L->f, c % n[0], c / n[0] % n[1], c / n[0] / n[1]) = (float)f[c];
  mn_multigrid_cycle(&b->mg, NULL, NULL);
  for (int c = 0; c < case_cells(&b->t); c++)
    u[c] = L->kind[c] == MN_DEAD
               ? 0
               : (double)*place(L, L->u, c % n[0], c / n[0] % n[1], c / n[0] / n[1]);
}

static double difference(const double *x, const double *y, int count)
{
  double worst = 0, size = 0;
  for (int i = 0; i < count; i++) {
    worst = fmax(worst, fabs(x[i] - y[i]));
    size = fmax(size, fabs(y[i]));
  }
  return worst / size;
}

static const int SIZES[5][3] = {{20, 40, 1}, {33, 21, 1}, {12, 10, 9}, {9, 7, 13}, {4, 3, 4}};

static void against_plain_twin(void **state)
{
  (void)state;
  for (int which = 0; which < 5; which++)
    for (int kind = CASE_OPEN; kind <= CASE_WALLS; kind++) {
      bench b;
      plain t;
      create(&b, 1 + which % 2, SIZES[which][2] > 1 ? 3 : 2, SIZES[which], (case_kind)kind);
      plain_create(&t, b.mg.dim, SIZES[which], b.A);
      CHECK(t.levels == b.mg.levels);
      int m = t.m[0];
      double *u = calloc((size_t)m, sizeof *u);
      for (int c = 0; c < m; c++) {
        const int *n = b.t.grid.n;
        double value = mn_get(&b.t.b, c % n[0], c / n[0] % n[1], c / n[0] / n[1]);
        t.f[0][c] = b.mg.level[0].kind[c] == MN_DEAD ? 0 : value;
      }
      for (int again = 0; again < 2; again++) { /* nothing is left over from the first time */
        apply(&b, t.f[0], u);
        memset(t.u[0], 0, (size_t)m * sizeof(double));
        plain_visit(&t, 0, &b.mg);
        CHECK_LE(difference(u, t.u[0], m), 2e-5);
      }
      free(u);
      plain_destroy(&t);
      destroy(&b);
    }
  CHECK_DONE();
}

static int some_are_bound(const void *self, int i, int j, int k, const double c[6], int anchored)
{
  (void)self, (void)c, (void)anchored;
  return (7 * i + 5 * j + 3 * k) % 4 < 3;
}

/* Holds every other cell that can be, and takes it out of A. */
static void hold_some(bench *b)
{
  int m = case_cells(&b->t);
  b->system.bound = some_are_bound;
  CHECK_OK(b->t.ctx, mn_multigrid_setup(b->t.ctx, &b->mg, &b->system, &b->regions));
  for (int n = 0; n < b->mg.bounds; n++) /* another choice first: nothing of it must be left */
    mn_multigrid_hold(&b->mg, n, n % 3 == 0);
  CHECK_OK(b->t.ctx, mn_multigrid_coarsen(b->t.ctx, &b->mg, b->system.exec, MN_MG_LEVELS));
  for (int n = 0; n < b->mg.bounds; n++) {
    mn_multigrid_hold(&b->mg, n, n & 1);
    int row = cell_index(b->t.grid.n, b->mg.bound[n].i, b->mg.bound[n].j, b->mg.bound[n].k);
    for (int c = 0; c < m && n & 1; c++)
      b->A[row * m + c] = b->A[c * m + row] = 0;
  }
  CHECK(b->mg.held == b->mg.bounds / 2);
  CHECK_OK(b->t.ctx, mn_multigrid_coarsen(b->t.ctx, &b->mg, b->system.exec, MN_MG_LEVELS));
}

static double held_difference(bench *b)
{
  plain t;
  plain_create(&t, b->mg.dim, b->t.grid.n, b->A);
  int m = t.m[0];
  const int *n = b->t.grid.n;
  double *u = calloc((size_t)m, sizeof *u);
  for (int c = 0; c < m; c++)
    t.f[0][c] = is_dead(b->mg.level[0].kind[c])
                    ? 0
                    : mn_get(&b->t.b, c % n[0], c / n[0] % n[1], c / n[0] / n[1]);
  apply(b, t.f[0], u);
  plain_visit(&t, 0, &b->mg);
  double worst = difference(u, t.u[0], m);
  free(u);
  plain_destroy(&t);
  return worst;
}

/* With cells held at 0 the cycle is that of the matrix without them. */
static void held_cells(void **state)
{
  (void)state;
  for (int which = 0; which < 5; which++)
    for (int kind = CASE_OPEN; kind <= CASE_WALLS; kind++) {
      bench b;
      create(&b, 1 + which % 2, SIZES[which][2] > 1 ? 3 : 2, SIZES[which], (case_kind)kind);
      hold_some(&b);
      CHECK_LE(held_difference(&b), 2e-5);
      destroy(&b);
    }
  CHECK_DONE();
  bench b; /* negative control: the coarse correction reaches held cells */
  create(&b, 1, 3, SIZES[2], CASE_SURFACE);
  hold_some(&b);
  b.mg.level[0].holds = 0;
  CHECK_DONE();
  CHECK_LE(held_difference(&b), 2e-5);
  CHECK_MUST_HAVE_FAILED();
  destroy(&b);
}

/* (M x, y) = (x, M y), (M x, x) > 0 */
static void symmetric(void **state)
{
  (void)state;
  for (int which = 0; which < 4; which++) {
    bench b;
    uint64_t seed = 4;
    create(&b, 2, SIZES[which][2] > 1 ? 3 : 2, SIZES[which], CASE_SURFACE);
    int m = case_cells(&b.t);
    double *x[4], dot[3] = {0, 0, 0};
    for (int i = 0; i < 4; i++)
      x[i] = calloc((size_t)m, sizeof **x);
    for (int c = 0; c < m; c++)
      for (int i = 0; i < 2; i++)
        x[i][c] = b.mg.level[0].kind[c] == MN_DEAD ? 0 : uniform(&seed, -1, 1);
    apply(&b, x[0], x[2]);
    apply(&b, x[1], x[3]);
    for (int c = 0; c < m; c++) {
      dot[0] += x[2][c] * x[1][c];
      dot[1] += x[0][c] * x[3][c];
      dot[2] += x[2][c] * x[0][c];
    }
    CHECK_NEAR(dot[0], dot[1], 1e-5 * dot[2]);
    CHECK_GE(dot[2], 0);
    for (int i = 0; i < 4; i++)
      free(x[i]);
    destroy(&b);
  }
  CHECK_DONE();
}

/* A P A = A up to the float's precision, P = pseudo-inverse; closed components included. */
static void coarsest_inverse(void **state)
{
  (void)state;
  for (int kind = CASE_OPEN; kind <= CASE_WALLS; kind++) {
    bench b;
    create(&b, 1, 3, SIZES[4], (case_kind)kind);
    int m = case_cells(&b.t), dense = b.mg.dense, list[64], count = 0;
    for (int c = 0; c < m; c++)
      if (b.mg.level[0].kind[c] != MN_DEAD)
        list[count++] = c;
    CHECK(count == dense);
    double worst = 0;
    for (int r = 0; r < dense; r++)
      for (int c = 0; c < dense; c++) {
        double sum = -b.A[list[r] * m + list[c]];
        for (int s = 0; s < dense; s++)
          for (int q = 0; q < dense; q++)
            sum += b.A[list[r] * m + list[s]] * (double)b.mg.inverse[s * dense + q] *
                   b.A[list[q] * m + list[c]];
        worst = fmax(worst, fabs(sum));
      }
    CHECK_LE(worst, 1e-4);
    destroy(&b);
  }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(against_plain_twin),
                                     cmocka_unit_test(held_cells), cmocka_unit_test(symmetric),
                                     cmocka_unit_test(coarsest_inverse)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
