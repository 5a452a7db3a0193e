/* The preconditioner of the fluid's operators, alone and as conjugate gradients use it. */
#include "operator_case.h"

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

/* Iterations of flexible conjugate gradients to 1e-8 of b; `guess`: what is prepared for. */
static int iterations_with(bench *t, const double *guess, const double *open, const uint8_t *held)
{
  size_t n = t->l.cells;
  double *x = numbers(n, 31), *r = numbers(n, 0), *z = numbers(n, 0), *d = numbers(n, 0);
  double *q = numbers(n, 0), dq = 0;
  for (size_t i = 0; i < n && held; i++)
    x[i] = held[i] ? 0 : x[i];
  CHECK_OK(t->c.ctx, t->ops->prepare(t->mac, guess, held));
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

/* Iterations on the first grids, 16 cells a side and then twice as many each. */
static void count(int dim, kind body, double factor, int open_side, int counts[3])
{
  for (int level = 0; level < (dim == 2 ? 3 : 2); level++) {
    bench t;
    ready(&t, (setup){dim, 16 << level, 0, 0, open_side, 0, body});
    double *open = open_by(&t, factor);
    counts[level] = iterations_with(&t, open, open, NULL);
    free(open);
    end(&t);
  }
}

static void converges(void **state)
{
  (void)state;
  /* bodies that fill space: as if they were not there, or as if the fluid ended there */
  static const double factors[] = {0, 0.01, 1, 100, 1e4, 1e8, 1e12};
  for (int dim = 2; dim <= 3; dim++)
    for (size_t f = 0; f < sizeof factors / sizeof *factors; f++) {
      int counts[3] = {0};
      count(dim, DISK, factors[f], 1, counts);
      for (int level = 0; level < 3; level++)
        CHECK_LE(counts[level], 8);
    }
  /* thin ones: with the fluid that moves with them 1 is the most */
  static const double thin[] = {0, 0.01, 0.1, 0.3, 1, 10};
  for (int dim = 2; dim <= 3; dim++)
    for (int body = PLATE; body <= RING; body++)
      for (size_t f = 0; f < sizeof thin / sizeof *thin; f++) {
        int counts[3] = {0};
        count(dim, (kind)body, thin[f], body == PLATE, counts);
        for (int level = 0; level < 3; level++)
          CHECK_LE(counts[level], 11);
      }
  CHECK_DONE();
  bench t; /* made ready for something else */
  ready(&t, (setup){2, 64, 0, 0, 1, 0, PLATE});
  double *open = open_by(&t, 30);
  CHECK_LE(iterations_with(&t, NULL, open, NULL), 11);
  CHECK_MUST_HAVE_FAILED();
  free(open);
  end(&t);
}

/* The wall of a soft body lets through about as much as a cell of fluid: on every level it has to
   be as soft as it is. */
static void soft_walls(void **state)
{
  (void)state;
  int counts[2][3];
  for (int hard = 0; hard < 2; hard++)
    for (int level = 0; level < 3; level++) {
      bench t;
      ready(&t, (setup){2, 32 << level, 0, 0, 1, 0, DISK});
      t.mac->operators.opened.hard = hard;
      double *open = open_by(&t, 0.2);
      counts[hard][level] = iterations_with(&t, open, open, NULL);
      free(open);
      end(&t);
    }
  for (int level = 0; level < 3; level++)
    CHECK_LE(counts[0][level], 7);
  CHECK_DONE();
  CHECK_LE(counts[1][2], 8);
  CHECK_MUST_HAVE_FAILED();
}

/* M itself: symmetric, positive, linear for vectors of any size; 0 at held cells. */
static void preconditioner(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int body = DISK; body <= RING; body++)
      for (int holds = 0; holds < 2; holds++) {
        bench t;
        ready(&t, (setup){dim, dim == 2 ? 32 : 18, 0, 0, body == PLATE, 0, (kind)body});
        size_t n = t.l.cells;
        double *open = open_by(&t, 1), *x = numbers(n, 5), *y = numbers(n, 6), *Mx = numbers(n, 0);
        double *My = numbers(n, 0), *z = numbers(n, 0);
        uint8_t *held = holds ? some_held(&t) : NULL;
        CHECK_OK(t.c.ctx, t.ops->prepare(t.mac, open, held));
        t.ops->precondition(t.mac, x, Mx);
        t.ops->precondition(t.mac, y, My);
        double size = sqrt(dot(x, Mx, n) * dot(y, My, n));
        CHECK_GE(dot(x, Mx, n), 1e-3 * dot(x, x, n) / t.mac->operators.factor);
        CHECK_NEAR(dot(x, My, n) / size, dot(y, Mx, n) / size, 1e-6);
        for (size_t i = 0; i < n; i++)
          z[i] = ldexp(x[i], -200);
        t.ops->precondition(t.mac, z, z);
        int same = 1, zero = 1;
        for (size_t i = 0; i < n; i++) {
          same &= ldexp(z[i], 200) == Mx[i];
          zero &= !holds || !held[i] || Mx[i] == 0;
        }
        CHECK(same && zero);
        free(open);
        free(x);
        free(y);
        free(z);
        free(Mx);
        free(My);
        free(held);
        end(&t);
      }
  CHECK_DONE();
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
          CHECK_OK(t.c.ctx, t.ops->conjugate(t.mac, answer, NULL, NULL, &a, b,
                                             1e-11 * largest(b, n), 100, p, &report));
          CHECK(report.reason == MN_CONVERGED);
          CHECK_LE(report.iterations, 30);
          CHECK_LE(a.calls - report.iterations, 10);
          a.calls = 0;
          CHECK_OK(t.c.ctx, t.ops->conjugate(t.mac, answer, NULL, NULL, &a, b,
                                             1e-10 * largest(b, n), 100, p, &report));
          CHECK(report.iterations == 0); /* it is there */
          for (a.fails_at = 2; a.fails_at < 4; a.fails_at++) {
            double *q = numbers(n, 4);
            a.calls = 0;
            CHECK(t.ops->conjugate(t.mac, answer, NULL, NULL, &a, b, 0, 100, q, &report) ==
                  MN_FAILED);
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

/* The same bits whatever the threads. */
static void threads_do_not_matter(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++) {
    double *first[2] = {0};
    for (int threads = 1; threads <= 4; threads *= 2) {
      bench t;
      mn_solve_report report;
      start(&t, (setup){dim, dim == 2 ? 160 : 36, 0, 0, 1, 1, PLATE});
      t.mac->exec.threads = threads;
      begin(&t, 3, 0);
      CHECK_OK(t.c.ctx, t.ops->assemble(t.mac, &t.b.face, &t.l));
      double *open = open_by(&t, 0.2), *p = numbers(t.l.cells, 0), *y = numbers(t.l.cells, 0);
      answering a = {.t = &t, .open = open};
      CHECK_OK(t.c.ctx, t.ops->prepare(t.mac, open, NULL));
      CHECK_OK(t.c.ctx, t.ops->conjugate(t.mac, answer, NULL, NULL, &a, t.l.c, t.l.tolerance, 100,
                                         p, &report));
      CHECK(report.reason == MN_CONVERGED);
      t.ops->precondition(t.mac, t.l.c, y);
      for (int n = 0; n < 2; n++) {
        double *x = n ? y : p;
        if (first[n]) {
          CHECK(!memcmp(first[n], x, t.l.cells * sizeof *x));
          free(x);
        } else
          first[n] = x;
      }
      free(open);
      end(&t);
    }
    free(first[0]);
    free(first[1]);
  }
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(converges), cmocka_unit_test(soft_walls), cmocka_unit_test(preconditioner),
      cmocka_unit_test(conjugate_gradients), cmocka_unit_test(threads_do_not_matter)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
