/* The grid fluid's operators against its own solve: the same equations, loads and answer; the
   preconditioner, alone and as conjugate gradients use it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "body_case.h"
#include "fluid/mac/internal.h"
#include "mac_case.h"

/* ---- a fluid with a body --------------------------------------------------------------------- */

typedef enum kind { DISK, PLATE, RING } kind; /* RING: a thin closed curve or ball, all fluid */

typedef struct setup {
  int dim, n, water, separating, open_side, soft;
  kind body;
} setup;

typedef struct bench {
  mac_case c;
  body_case b;
  mn_mac *mac;
  const mn_fluid_operators *ops;
  mn_fluid_linear l;
} bench;

static const double DT = 0.02;

static void start(bench *t, setup s)
{
  mac_case_begin(&t->c, s.dim, mn_v3(1, 1, s.dim == 3 ? 1 : 0), s.n);
  t->c.def.fluid.density = 3;
  t->c.def.fluid.gravity = mn_v3(0.3, -2, 0);
  t->c.def.fluid.pressure_tolerance = 1e-12;
  if (s.open_side)
    t->c.def.domain.side[3].kind = MN_SIDE_OPEN;
  if (s.water) {
    t->c.def.fluid.kind = MN_FLUID_WATER;
    t->c.def.fluid.walls = s.separating ? MN_WALLS_SEPARATING : MN_WALLS_STICKING;
    CHECK_OK(t->c.ctx, mn_shape_box(t->c.ctx, s.dim, mn_v3(-1, -1, -1), mn_v3(2, 0.71, 2),
                                    &t->c.def.fluid.initial_water));
  }
  mac_case_start(&t->c);
  if (s.body == PLATE)
    body_plate(&t->b, t->c.ctx, s.dim, mn_v3(0.05, 0.22, 0.2), 2 * s.n);
  else if (s.dim == 2)
    body_disk(&t->b, t->c.ctx, 0.21, 4 * s.n);
  else
    body_ball(&t->b, t->c.ctx, 0.21, s.n > 24 ? 4 : 3);
  mn_interface *f = &t->b.face;
  memset(f->rigid, !s.soft, f->count);
  if (s.body == RING)
    memset(f->two_sided, 1, f->count);
  body_put(&t->b, mn_v3(0.47, 0.52, s.dim == 3 ? 0.49 : 0), 0.3, mn_v3(0, 0, 0), 0);
  t->mac = t->c.fluid.self;
  t->ops = t->c.fluid.ops->operators;
  CHECK_OK(t->c.ctx, t->c.fluid.ops->meet(t->mac, f));
}

static void end(bench *t)
{
  body_destroy(&t->b);
  mac_case_end(&t->c);
}

/* Moves the body, and before that the fluid at random; in bodies that deform the points as well,
   but for `closed` ones, whose volume must stay. */
static void begin(bench *t, uint64_t seed, int soft)
{
  CHECK_OK(t->c.ctx, t->c.fluid.ops->begin(t->mac, t->c.time, DT));
  for (int a = 0; a < t->mac->grid.dim; a++) {
    mn_field *f = &t->mac->star[a];
    for (int k = 0; k < f->n[2]; k++)
      for (int j = 0; j < f->n[1]; j++)
        for (int i = 0; i < f->n[0]; i++)
          f->at[mn_index(f, i, j, k)] += check_random(&seed) - 0.5;
  }
  mn_vec3 v = mn_v3(0.21, 0.33, t->mac->grid.dim == 3 ? -0.17 : 0);
  mn_vec3 x = mn_madd(mn_v3(0.47, 0.52, t->mac->grid.dim == 3 ? 0.49 : 0), DT, v);
  body_put(&t->b, x, 0.3, v, 0.4);
  for (size_t i = 0; soft && i < t->b.face.count; i++)
    for (int a = 0; a < t->mac->grid.dim; a++)
      t->b.face.V[i].v[a] += 0.1 * (check_random(&seed) - 0.5);
}

static double largest(const double *x, size_t n)
{
  double worst = 0;
  for (size_t i = 0; i < n; i++)
    worst = check_worst(worst, fabs(x[i]));
  return worst;
}

/* y += factor D U */
static void outflow(const mn_fluid_linear *l, double factor, const double *U, double *y)
{
  for (size_t r = 0; r < l->rows; r++)
    for (int high = 0; high < 2; high++)
      if (l->cell[2 * r + (size_t)high] >= 0)
        y[l->cell[2 * r + (size_t)high]] += (high ? -1 : 1) * factor * l->area[r] * U[r];
}

/* D^T p of a row */
static double push(const mn_fluid_linear *l, size_t r, const double *p)
{
  double low = l->cell[2 * r] >= 0 ? p[l->cell[2 * r]] : 0;
  double high = l->cell[2 * r + 1] >= 0 ? p[l->cell[2 * r + 1]] : 0;
  return l->area[r] * (low - high);
}

static double *numbers(size_t n, uint64_t seed)
{
  double *x = calloc(n + 1, sizeof *x);
  for (size_t i = 0; i < n && seed; i++)
    x[i] = check_random(&seed) - 0.5;
  return x;
}

static double dot(const double *a, const double *b, size_t n)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

/* ---- the same equations as solve ------------------------------------------------------------- */

static double difference(const mn_vec3 *a, const mn_vec3 *b, size_t n)
{
  double worst = 0, size = 1e-300;
  for (size_t i = 0; i < n; i++) {
    worst = check_worst(worst, mn_length(mn_sub(a[i], b[i])));
    size = fmax(size, mn_length(b[i]));
  }
  return worst / size;
}

/* What is left of the equations, over their tolerance, and the loads' relative difference. */
static void equations(setup s, double *left, double *loads, double wrong)
{
  bench a, b;
  start(&a, s);
  start(&b, s);
  begin(&a, 7, s.soft);
  begin(&b, 7, s.soft);
  CHECK_OK(a.c.ctx, a.c.fluid.ops->solve(a.mac, &a.b.face, &a.c.report));
  CHECK(a.c.report.reason == MN_CONVERGED);
  CHECK_OK(b.c.ctx, b.ops->assemble(b.mac, &b.b.face, &b.l));
  size_t cells = b.l.cells, rows = b.l.rows, points = b.b.face.count;
  CHECK_GE((double)rows, s.n / 4);
  double *p = numbers(cells, 0), *y = numbers(cells, 0), *U = numbers(rows, 0);
  double *F = numbers(rows, 0);
  mn_unknowns_gather(&b.mac->operators.unknowns, 1, &a.mac->dp, p);
  b.ops->gather(b.mac, b.b.face.V, U);
  b.ops->apply(b.mac, p, y);
  for (size_t i = 0; i < cells; i++)
    y[i] -= b.l.c[i];
  outflow(&b.l, 1 + wrong, U, y);
  for (size_t i = 0; i < cells && b.l.bound; i++)
    y[i] = b.l.bound[i] && p[i] <= 0 && y[i] > 0 ? 0 : y[i];
  *left = largest(y, cells) / b.l.tolerance;
  for (size_t r = 0; r < rows; r++)
    F[r] = push(&b.l, r, p) - b.l.mass[r] * (1 + wrong) * (U[r] - b.l.before[r]) / DT;
  mn_vec3 *load = calloc(points, sizeof *load);
  CHECK_OK(b.c.ctx, b.ops->scatter(b.mac, F, load));
  for (size_t i = 0; i < points; i++)
    load[i] = mn_add(load[i], b.l.rest[i]);
  *loads = difference(load, a.b.face.load, points);
  if (!wrong) { /* the rest of the substep is the same */
    mn_solve_report report;
    CHECK_OK(b.c.ctx, b.ops->adopt(b.mac, &b.b.face, p, &report));
    CHECK(report.reason == MN_CONVERGED);
    CHECK_LE(report.residual * 0.99, a.c.report.residual + 1e-3);
    CHECK_NEAR(report.divergence, a.c.report.divergence, 1e-9);
    CHECK(report.held == a.c.report.held);
    CHECK(!memcmp(a.b.face.load, b.b.face.load, points * sizeof *load));
    CHECK(!memcmp(a.b.face.mass, b.b.face.mass, points * sizeof *a.b.face.mass));
    CHECK_OK(a.c.ctx, a.c.fluid.ops->commit(a.mac));
    CHECK_OK(b.c.ctx, b.c.fluid.ops->commit(b.mac));
    mn_array x[32], z[32];
    int count = a.c.fluid.ops->arrays(a.mac, x, 32);
    CHECK(b.c.fluid.ops->arrays(b.mac, z, 32) == count);
    for (int n = 0; n < count; n++) {
      size_t size = 8;
      for (int d = 0; d < x[n].rank; d++)
        size *= x[n].shape[d];
      if (memcmp(x[n].data, z[n].data, size))
        print_message("array %s differs\n", x[n].name);
      CHECK(!memcmp(x[n].data, z[n].data, size));
    }
  }
  free(load);
  free(p);
  free(y);
  free(U);
  free(F);
  end(&a);
  end(&b);
}

static void same_as_solve(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int body = DISK; body <= PLATE; body++)
      for (int soft = 0; soft < 2; soft++)
        for (int water = 0; water < 3; water++) {
          setup s = {dim, dim == 2 ? 24 : 12, water > 0, water > 1, !water, soft, (kind)body};
          double left, loads;
          equations(s, &left, &loads, 0);
          CHECK_LE(left, 1.01);
          CHECK_LE(loads, 1e-12);
        }
  CHECK_DONE();
  for (int body = DISK; body <= PLATE; body++) {
    double left, loads;
    equations((setup){2, 24, 0, 0, 1, 0, (kind)body}, &left, &loads, 1e-3);
    CHECK_LE(left, 1.01);
    CHECK_LE(loads, 1e-12);
    CHECK_MUST_HAVE_FAILED();
  }
}

/* ---- operators ------------------------------------------------------------------------------- */

/* y = A x of a sparse matrix; returns the greatest asymmetry if it is square, and whether columns
   ascend. */
static void multiply(const mn_sparse_matrix *A, const double *x, double *y)
{
  for (int64_t r = 0; r < A->rows; r++) {
    y[r] = 0;
    for (int64_t e = A->start[r]; e < A->start[r + 1]; e++) {
      CHECK(e == A->start[r] || A->col[e] > A->col[e - 1]);
      y[r] += A->value[e] * x[A->col[e]];
    }
  }
}

static double apart(const double *a, const double *b, size_t n)
{
  double worst = 0;
  for (size_t i = 0; i < n; i++)
    worst = check_worst(worst, fabs(a[i] - b[i]));
  return worst / largest(b, n);
}

static void matrices(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int water = 0; water < 2; water++)
      for (int body = DISK; body <= RING; body++)
        for (int soft = 0; soft < 2; soft++) {
          bench t;
          start(&t, (setup){dim, dim == 2 ? 20 : 10, water, 0, 1, soft, (kind)body});
          begin(&t, 3, 0);
          CHECK_OK(t.c.ctx, t.ops->assemble(t.mac, &t.b.face, &t.l));
          size_t cells = t.l.cells, rows = t.l.rows, points = t.b.face.count;
          double *x = numbers(cells, 5), *y = numbers(cells, 9), *Lx = numbers(cells, 0);
          double *Ly = numbers(cells, 0), *z = numbers(cells, 0);
          mn_sparse_matrix L, W;
          CHECK_OK(t.c.ctx, t.ops->matrix(t.mac, &L));
          CHECK(L.rows == (int64_t)cells && L.cols == L.rows);
          t.ops->apply(t.mac, x, Lx);
          t.ops->apply(t.mac, y, Ly);
          multiply(&L, x, z);
          CHECK_LE(apart(Lx, z, cells), 1e-14);
          CHECK_NEAR(dot(y, Lx, cells), dot(x, Ly, cells), 1e-13 * cells * largest(Lx, cells));
          CHECK_GE(dot(x, Lx, cells), 0);
          /* W and its transpose, of all freedoms; in 2D the third one does not count */
          double *V = numbers(3 * points, 11), *U = numbers(rows, 0), *WV = numbers(rows, 0);
          double *F = numbers(rows, 13);
          mn_vec3 *load = calloc(points, sizeof *load);
          CHECK_OK(t.c.ctx, t.ops->weights(t.mac, &W));
          CHECK(W.rows == (int64_t)rows && W.cols == 3 * (int64_t)points);
          t.ops->gather(t.mac, (const mn_vec3 *)V, U);
          multiply(&W, V, WV);
          CHECK_LE(apart(U, WV, rows), 1e-12);
          CHECK_OK(t.c.ctx, t.ops->scatter(t.mac, F, load));
          CHECK_NEAR(dot(F, U, rows), dot((const double *)load, V, 3 * points), 1e-11);
          /* D and its transpose */
          double power = 0;
          memset(z, 0, cells * sizeof *z);
          outflow(&t.l, 1, U, z);
          for (size_t r = 0; r < rows; r++)
            power += push(&t.l, r, x) * U[r];
          CHECK_NEAR(power, dot(z, x, cells), 1e-14);
          free(x);
          free(y);
          free(z);
          free(Lx);
          free(Ly);
          free(V);
          free(U);
          free(WV);
          free(F);
          free(load);
          end(&t);
        }
  CHECK_DONE();
}

/* The change of the solve's pressure with V, by L and D. */
static void answers_to_V(void **state)
{
  (void)state;
  for (int body = DISK; body <= PLATE; body++) {
    setup s = {2, 24, 0, 0, 1, 1, (kind)body};
    bench t;
    start(&t, s);
    begin(&t, 17, 1);
    CHECK_OK(t.c.ctx, t.ops->assemble(t.mac, &t.b.face, &t.l));
    size_t cells = t.l.cells, rows = t.l.rows, points = t.b.face.count;
    double *p = numbers(cells, 0), *c = numbers(cells, 0), *y = numbers(cells, 0);
    double *U = numbers(rows, 0);
    mn_vec3 *dV = calloc(points, sizeof *dV);
    memcpy(c, t.l.c, cells * sizeof *c);
    CHECK_OK(t.c.ctx, t.c.fluid.ops->solve(t.mac, &t.b.face, &t.c.report));
    mn_unknowns_gather(&t.mac->operators.unknowns, -1, &t.mac->dp, p);
    uint64_t seed = 23;
    for (size_t i = 0; i < points; i++) {
      dV[i] = mn_v3(check_random(&seed) - 0.5, check_random(&seed) - 0.5, 0);
      t.b.face.V[i] = mn_add(t.b.face.V[i], dV[i]);
    }
    CHECK_OK(t.c.ctx, t.c.fluid.ops->solve(t.mac, &t.b.face, &t.c.report));
    double *after = numbers(cells, 0);
    mn_unknowns_gather(&t.mac->operators.unknowns, 1, &t.mac->dp, after);
    for (size_t i = 0; i < cells; i++)
      p[i] += after[i];
    CHECK_OK(t.c.ctx, t.ops->assemble(t.mac, &t.b.face, &t.l));
    CHECK(!memcmp(c, t.l.c, cells * sizeof *c)); /* V has nothing to do with it */
    t.ops->gather(t.mac, dV, U);
    t.ops->apply(t.mac, p, y);
    double size = largest(y, cells);
    outflow(&t.l, 1, U, y);
    CHECK_LE(largest(y, cells) / size, 1e-10);
    t.mac->operators.made = 0; /* and anew */
    CHECK_OK(t.c.ctx, t.ops->assemble(t.mac, &t.b.face, &t.l));
    CHECK_LE(apart(t.l.c, c, cells), 1e-13);
    free(p);
    free(c);
    free(y);
    free(U);
    free(dV);
    free(after);
    end(&t);
  }
  CHECK_DONE();
}

/* ---- the preconditioner ---------------------------------------------------------------------- */

/* y = (L + D diag(open) D^T) x, held ones left out */
static void opened(bench *t, const double *open, const uint8_t *held, const double *x, double *y)
{
  double *F = numbers(t->l.rows, 0);
  t->ops->apply(t->mac, x, y);
  for (size_t r = 0; r < t->l.rows; r++)
    F[r] = open[r] * push(&t->l, r, x);
  outflow(&t->l, 1, F, y);
  for (size_t i = 0; i < t->l.cells && held; i++)
    y[i] = held[i] ? 0 : y[i];
  free(F);
}

/* Iterations of flexible conjugate gradients to 1e-8 of b. */
static int iterations(bench *t, const double *open, const uint8_t *held)
{
  size_t n = t->l.cells;
  double *x = numbers(n, 31), *r = numbers(n, 0), *z = numbers(n, 0), *d = numbers(n, 0);
  double *q = numbers(n, 0), dq = 0;
  for (size_t i = 0; i < n && held; i++)
    x[i] = held[i] ? 0 : x[i];
  CHECK_OK(t->c.ctx, t->ops->prepare(t->mac, open, held));
  opened(t, open, held, x, r); /* so it can be solved */
  double size = sqrt(dot(r, r, n));
  int count = 0;
  for (; count < 300 && sqrt(dot(r, r, n)) > 1e-8 * size; count++) {
    t->ops->precondition(t->mac, r, z);
    double beta = count ? -dot(z, q, n) / dq : 0;
    for (size_t i = 0; i < n; i++)
      d[i] = z[i] + beta * d[i];
    opened(t, open, held, d, q);
    dq = dot(d, q, n);
    double alpha = dot(d, r, n) / dq;
    for (size_t i = 0; i < n; i++)
      r[i] -= alpha * q[i];
  }
  free(x);
  free(r);
  free(z);
  free(d);
  free(q);
  return count;
}

static void ready(bench *t, setup s)
{
  start(t, s);
  begin(t, 3, 0);
  CHECK_OK(t->c.ctx, t->ops->assemble(t->mac, &t->b.face, &t->l));
}

/* How much a face gives way, over what fluid in its place would: dt / (rho dx^dim). */
static double *open_by(const bench *t, double factor)
{
  double *open = numbers(t->l.rows, 0), dx = t->mac->grid.dx;
  for (size_t r = 0; r < t->l.rows; r++)
    open[r] = factor * DT / (t->mac->def->fluid.density * pow(dx, t->mac->grid.dim));
  return open;
}

static void converges(void **state)
{
  (void)state;
  static const double factors[] = {0, 0.1, 1, 10};
  for (int dim = 2; dim <= 3; dim++)
    for (int body = DISK; body <= RING; body++)
      for (size_t f = 0; f < sizeof factors / sizeof *factors; f++) {
        int count[3] = {0};
        for (int level = 0; level < (dim == 2 ? 3 : 2); level++) {
          bench t;
          ready(&t, (setup){dim, 16 << level, 0, 0, body != RING, 0, (kind)body});
          double *open = open_by(&t, factors[f]);
          count[level] = iterations(&t, open, NULL);
          free(open);
          end(&t);
        }
        print_message("dim %d, body %d, open %g: %d %d %d iterations\n", dim, body, factors[f],
                      count[0], count[1], count[2]);
        for (int level = 0; level < 3; level++)
          CHECK_LE(count[level], 16);
      }
  CHECK_DONE();
}

/* Faces that answer for each other too: sqrt(open) (1/2 + w w^T) sqrt(open). */
typedef struct answering {
  const bench *t;
  const double *open;
  int calls, fails_at;
} answering;

static mn_status answer(void *user, const double *F, double *U)
{
  answering *a = user;
  size_t rows = a->t->l.rows;
  double sum = 0, wave = 0;
  for (size_t r = 0; r < rows; r++) {
    double w = sin(0.1 * (double)r) / sqrt((double)rows);
    sum += w * sqrt(a->open[r]) * F[r];
    wave += w * w;
  }
  for (size_t r = 0; r < rows; r++) {
    double w = sin(0.1 * (double)r) / sqrt((double)rows);
    U[r] = 0.5 * a->open[r] * F[r] + sqrt(a->open[r]) * w * sum / wave;
  }
  return ++a->calls == a->fails_at ? MN_FAILED : MN_OK;
}

/* Cells at the lower wall that are held. */
static uint8_t *some_held(const bench *t)
{
  uint8_t *held = calloc(t->l.cells, 1);
  const mn_unknowns *u = &t->mac->operators.unknowns;
  for (int i = 2; i < u->regions->n[0] / 2; i++)
    held[mn_unknowns_number(u, i, 0, 0)] = 1;
  for (size_t r = 0; r < t->l.rows; r += 7) /* and beside the body */
    for (int high = 0; high < 2; high++)
      if (t->l.area[r] > 0 && t->l.cell[2 * r + (size_t)high] >= 0)
        held[t->l.cell[2 * r + (size_t)high]] = 1;
  return held;
}

static void conjugate_gradients(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int body = DISK; body <= RING; body++)
      for (int holds = 0; holds < 2; holds++) {
        bench t;
        ready(&t, (setup){dim, dim == 2 ? 32 : 20, 0, 0, 1, 0, (kind)body});
        size_t n = t.l.cells, rows = t.l.rows;
        double *open = open_by(&t, 1), *p = numbers(n, 3), *b = numbers(n, 0),
               *F = numbers(rows, 0);
        double *y = numbers(n, 0), *U = numbers(rows, 0), *exact = numbers(n, 19);
        uint8_t *held = holds ? some_held(&t) : NULL;
        answering a = {.t = &t, .open = open};
        for (int again = 0; again < 2; again++) { /* b of an answer, then what is left of p's */
          double *x = again ? p : exact;
          for (size_t i = 0; i < n && holds && !again; i++)
            x[i] = held[i] ? 0 : x[i];
          t.ops->apply(t.mac, x, y);
          for (size_t r = 0; r < rows; r++)
            F[r] = push(&t.l, r, x);
          CHECK(answer(&a, F, U) == MN_OK);
          outflow(&t.l, 1, U, y);
          if (again) {
            for (size_t i = 0; i < n; i++)
              y[i] = holds && held[i] ? 0 : b[i] - y[i];
            CHECK_LE(largest(y, n) / largest(b, n), 1e-11);
            CHECK_LE(apart(p, exact, n), 1e-7);
            for (size_t i = 0; i < n && holds; i++)
              if (held[i])
                CHECK(p[i] == 0);
            break;
          }
          memcpy(b, y, n * sizeof *b);
          mn_solve_report report;
          CHECK_OK(t.c.ctx, t.ops->prepare(t.mac, open, held));
          a.calls = 0;
          CHECK_OK(t.c.ctx,
                   t.ops->conjugate(t.mac, answer, &a, b, 1e-11 * largest(b, n), 100, p, &report));
          CHECK(report.reason == MN_CONVERGED);
          CHECK_LE(report.iterations, 30);
          CHECK_LE(a.calls - report.iterations, 10);
          a.calls = 0;
          CHECK_OK(t.c.ctx,
                   t.ops->conjugate(t.mac, answer, &a, b, 1e-10 * largest(b, n), 100, p, &report));
          CHECK(report.iterations == 0); /* it is there */
          for (a.fails_at = 2; a.fails_at < 4; a.fails_at++) {
            double *q = numbers(n, 4);
            a.calls = 0;
            CHECK(t.ops->conjugate(t.mac, answer, &a, b, 0, 100, q, &report) == MN_FAILED);
            free(q);
          }
          a.fails_at = 0;
        }
        free(open);
        free(p);
        free(b);
        free(F);
        free(y);
        free(U);
        free(exact);
        free(held);
        end(&t);
      }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_solve), cmocka_unit_test(matrices),
                                     cmocka_unit_test(answers_to_V), cmocka_unit_test(converges),
                                     cmocka_unit_test(conjugate_gradients)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
