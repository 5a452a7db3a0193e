/* Levels by aggregation. A node and its neighbours are one node of the next level, where they move
   alike: P has ones, P^T A P sums of blocks [Notay 2010]. Coarse matrices of that kind are too
   stiff, so levels are asked twice (W-cycle); to lengthen their answers gained nothing. Smoothing:
   Gauss-Seidel over nodes, forwards before and backwards after, so that the cycle is symmetric. The
   last level is factorised.

   Of H^T w H the levels have the row sums, on the diagonal (w < 0: nothing), which are exact for
   motions that faces see as one and too much for others; conjugate gradients have all of it.

   Conjugate gradients answer every b by a polynomial of its own. Around other conjugate gradients,
   which then see another matrix in every iteration, that is noise; Chebyshev's steps are the same
   for all [Saad 2003, algorithm 12.1].

   Blocks are 3 columns of 4 numbers, the fourth 0: a product is three multiply-adds of 4.
   Verified by tests/unit/la/test_aggregates.c. */
#include "la/aggregates.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "la/aggregates_level.h"

/* ---- life ------------------------------------------------------------------------------------ */

mn_status mn_aggregates_create(mn_context *ctx, mn_aggregates **out)
{
  MN_TRY(MN_NEW(ctx, "levels of a mesh", 1, out));
  (*out)->ctx = ctx;
  return MN_OK;
}

void mn_aggregates_destroy(mn_aggregates **inout)
{
  mn_aggregates *a = *inout;
  if (!a)
    return;
  mn_levels_free(a);
  mn_free(a);
  *inout = NULL;
}

/* ---- products -------------------------------------------------------------------------------- */

/* y -= A x, of one block */
static inline void subtract(float *restrict y, const float *restrict A, const float *restrict x)
{
  for (int i = 0; i < 4; i++)
    y[i] -= A[i] * x[0] + A[4 + i] * x[1] + A[8 + i] * x[2];
}

/* x <- D^-1 y */
static inline void divide(float *restrict x, const float *restrict inverse, const float *restrict y)
{
  for (int i = 0; i < 4; i++)
    x[i] = inverse[i] * y[0] + inverse[4 + i] * y[1] + inverse[8 + i] * y[2];
}

/* r <- b - A x */
static void residual(const mn_level *l, const float *b, const float *x, float *r)
{
  for (int g = 0; g < l->n; g++) {
    float sum[4];
    memcpy(sum, b + 4 * g, sizeof sum);
    for (int32_t e = l->start[g]; e < l->start[g + 1]; e++)
      subtract(sum, l->value + 12 * (size_t)e, x + 4 * l->col[e]);
    memcpy(r + 4 * g, sum, sizeof sum);
  }
}

/* From x = 0: (D + lower) x = b; r <- b - A x = -upper x */
static void forwards(const mn_level *l, const float *b, float *x, float *r)
{
  for (int g = 0; g < l->n; g++) {
    float sum[4];
    memcpy(sum, b + 4 * g, sizeof sum);
    for (int32_t e = l->start[g]; e < l->diagonal[g]; e++)
      subtract(sum, l->value + 12 * (size_t)e, x + 4 * l->col[e]);
    divide(x + 4 * g, l->inverse + 12 * (size_t)g, sum);
  }
  for (int g = 0; g < l->n; g++) {
    float sum[4] = {0};
    for (int32_t e = l->diagonal[g] + 1; e < l->start[g + 1]; e++)
      subtract(sum, l->value + 12 * (size_t)e, x + 4 * l->col[e]);
    memcpy(r + 4 * g, sum, sizeof sum);
  }
}

static void backwards(const mn_level *l, const float *b, float *x)
{
  for (int g = l->n - 1; g >= 0; g--) {
    float sum[4];
    memcpy(sum, b + 4 * g, sizeof sum);
    for (int32_t e = l->start[g]; e < l->start[g + 1]; e++)
      if (e != l->diagonal[g])
        subtract(sum, l->value + 12 * (size_t)e, x + 4 * l->col[e]);
    divide(x + 4 * g, l->inverse + 12 * (size_t)g, sum);
  }
}

/* ---- the cycle ------------------------------------------------------------------------------- */

static void solve_last(const mn_aggregates *a, const mn_level *l)
{
  int n = 3 * l->n;
  double *y = a->dense_x;
  for (int i = 0; i < n; i++)
    y[i] = (double)l->b[4 * (i / 3) + i % 3];
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++)
      y[i] -= a->dense[(size_t)i * (size_t)n + (size_t)j] * y[j];
    y[i] /= a->dense[(size_t)i * (size_t)n + (size_t)i];
  }
  for (int i = n - 1; i >= 0; i--) {
    y[i] /= a->dense[(size_t)i * (size_t)n + (size_t)i];
    for (int j = 0; j < i; j++)
      y[j] -= a->dense[(size_t)i * (size_t)n + (size_t)j] * y[i];
  }
  for (int i = 0; i < n; i++)
    l->x[4 * (i / 3) + i % 3] = (float)y[i];
}

static void cycle(const mn_aggregates *a, int at);

/* x of the next level from r of this one: asked twice, but for the last. */
static void ask_next(const mn_aggregates *a, int at)
{
  const mn_level *l = &a->level[at], *next = l + 1;
  memset(next->b, 0, 4 * (size_t)next->n * sizeof *next->b);
  for (int g = 0; g < l->n; g++)
    for (int i = 0; i < 3; i++)
      next->b[4 * l->to[g] + i] += l->r[4 * g + i];
  cycle(a, at + 1);
  if (at + 1 == a->levels - 1)
    return;
  size_t size = 4 * (size_t)next->n * sizeof *next->x;
  memcpy(next->kept, next->x, size);
  residual(next, next->b, next->x, next->r);
  memcpy(next->b, next->r, size);
  cycle(a, at + 1);
  for (int i = 0; i < 4 * next->n; i++)
    next->x[i] += next->kept[i];
}

/* x of the level from its b. */
static void cycle(const mn_aggregates *a, int at)
{
  const mn_level *l = &a->level[at], *next = l + 1;
  if (at == a->levels - 1) {
    solve_last(a, l);
    return;
  }
  forwards(l, l->b, l->x, l->r);
  ask_next(a, at);
  for (int g = 0; g < l->n; g++)
    for (int i = 0; i < 3; i++)
      l->x[4 * g + i] += i < l->size[g] ? next->x[4 * l->to[g] + i] : 0;
  backwards(l, l->b, l->x);
}

/* The same of the first level, whose matrix is large: what is below its diagonal is read for both
   (aggregates_sweeps.c). r is left so that A x is r + L x + R x. */
static void first_cycle(const mn_aggregates *a)
{
  const mn_level *l = &a->level[0], *next = l + 1;
  if (a->levels == 1) {
    solve_last(a, l);
    return;
  }
  mn_sweeps_before(a, l->b, l->x, l->r);
  ask_next(a, 0);
  for (int g = 0; g < l->n; g++)
    for (int i = 0; i < 3; i++)
      l->kept[4 * g + i] = i < l->size[g] ? next->x[4 * l->to[g] + i] : 0;
  mn_sweeps_after(a, l->b, l->kept, l->r, l->x);
}

/* ---- conjugate gradients --------------------------------------------------------------------- */

static double dot(size_t n, const float *x, const float *y)
{
  double sum[4] = {0};
  for (size_t i = 0; i < n; i += 4)
    for (size_t k = 0; k < 4; k++)
      sum[k] += (double)x[i + k] * (double)y[i + k];
  return sum[0] + sum[1] + sum[2] + sum[3];
}

/* y <- A x of the level's x after a cycle */
static void multiply(const mn_aggregates *a, float *y)
{
  const mn_level *l = &a->level[0];
  size_t n = 4 * (size_t)l->n;
  if (a->levels == 1)
    memcpy(y, l->b, n * sizeof *y); /* solved, but for R */
  else
    memcpy(y, l->r, n * sizeof *y);
  if (a->levels > 1)
    mn_sweeps_add_low(a, l->x, y);
  for (size_t i = 0; i < n; i++)
    y[i] -= a->lumped[i] * l->x[i];
  mn_levels_add_faces(a, l->x, y);
}

/* z <- M r; the level's vectors are where it happens. */
static void precondition(const mn_aggregates *a, const float *r)
{
  memcpy(a->level[0].b, r, 4 * (size_t)a->level[0].n * sizeof *r);
  first_cycle(a);
}

static double greatest(int64_t n, const double *b)
{
  double most = 0;
  for (int64_t i = 0; i < n; i++) {
    double size = fabs(b[i]);
    most = size > most ? size : most; /* fmax would be a call */
  }
  return most;
}

/* The greatest of b; r <- b over it. */
static double load(const mn_aggregates *a, const double *b, float *r)
{
  double norm = greatest(a->freedoms, b);
  memset(r, 0, 4 * (size_t)a->level[0].n * sizeof *r);
  for (int64_t i = 0; i < a->freedoms && norm > 0; i++)
    r[a->place[i]] = (float)(b[i] / norm);
  return norm;
}

static void store(const mn_aggregates *a, double factor, const float *from, double *x)
{
  for (int64_t i = 0; i < a->freedoms; i++)
    x[i] = factor * (double)from[a->place[i]];
}

void mn_aggregates_cycle(mn_aggregates *a, const double *b, double *x)
{
  float *r = a->swept ? a->v[0] : a->level[0].b;
  double norm = load(a, b, r);
  if (a->swept) {
    mn_sweeps_begin(a, r, a->v[1]);
    mn_sweeps_turn(a, 1, r, 0, a->v[1], a->level[0].x);
  } else {
    first_cycle(a);
  }
  store(a, norm, a->level[0].x, x);
}

/* Both solvers go by the same steps; with sweeps alone r stands for (D + L)^-1 r, and so does q of
   A d. */
static void begin_steps(const mn_aggregates *a)
{
  memset(a->v[3], 0, 4 * (size_t)a->level[0].n * sizeof *a->v[3]);
  if (a->swept)
    mn_sweeps_begin(a, a->v[0], a->level[0].b);
}

/* r.M r; without sweeps alone M r is left in the level's x. */
static double square_of(const mn_aggregates *a)
{
  if (a->swept)
    return mn_sweeps_norm(a, a->v[0]);
  precondition(a, a->v[0]);
  return dot(4 * (size_t)a->level[0].n, a->v[0], a->level[0].x);
}

/* d <- take M r + keep d */
static void take_direction(const mn_aggregates *a, double take, double keep)
{
  size_t n = 4 * (size_t)a->level[0].n;
  float *d = a->v[1];
  const float *z = a->level[0].x;
  if (a->swept) {
    mn_sweeps_turn(a, (float)take, a->v[0], (float)keep, a->level[0].b, d);
    return;
  }
  for (size_t i = 0; i < n; i++)
    d[i] = (float)take * z[i] + (keep != 0 ? (float)keep * d[i] : 0);
}

/* q <- A d; d.A d if it is asked for. With levels A M r is at hand, and follows d. */
static double take_product(const mn_aggregates *a, double take, double keep, int asked)
{
  size_t n = 4 * (size_t)a->level[0].n;
  float *q = a->v[2], *fresh = a->level[0].kept;
  if (a->swept) {
    mn_sweeps_product(a, a->level[0].b, a->v[1], q);
    return asked ? dot(n, a->level[0].b, q) : 0;
  }
  multiply(a, fresh);
  for (size_t i = 0; i < n; i++)
    q[i] = (float)take * fresh[i] + (keep != 0 ? (float)keep * q[i] : 0);
  return asked ? dot(n, a->v[1], q) : 0;
}

/* The sum of steps, and what is left of r. */
static void take_step(const mn_aggregates *a, float step, int left)
{
  size_t n = 4 * (size_t)a->level[0].n;
  float *r = a->v[0], *sum = a->v[3];
  const float *d = a->v[1], *q = a->v[2];
  for (size_t i = 0; i < n; i++)
    sum[i] += step * d[i];
  for (size_t i = 0; i < n && left; i++)
    r[i] -= step * q[i];
}

void mn_aggregates_solve(mn_aggregates *a, double relative, int most, const double *b, double *x,
                         mn_aggregates_report *report)
{
  double old = 1, energy = 0, norm = load(a, b, a->v[0]);
  *report = (mn_aggregates_report){.positive = 1, .converged = !(norm > 0)};
  begin_steps(a);
  a->steps = 0;
  while (!report->converged && report->iterations < most) {
    double rz = square_of(a), beta = report->iterations ? rz / old : 0;
    take_direction(a, 1, beta);
    double curve = take_product(a, 1, beta, 1);
    report->positive = rz > 0 && curve > 0 && isfinite(rz / curve);
    if (!report->positive)
      break;
    take_step(a, (float)(rz / curve), 1);
    if (a->steps < MN_AGGREGATE_STEPS) {
      a->step[a->steps] = rz / curve;
      a->turn[a->steps++] = beta;
    }
    old = rz;
    energy += rz * rz / curve; /* x^T A x, and the square of what this step mended, as a part */
    report->iterations++;
    report->converged = rz * rz / curve <= relative * relative * energy;
  }
  a->unit = norm;
  store(a, norm, a->v[3], x);
}

/* ---- Chebyshev ------------------------------------------------------------------------------- */

/* How many eigenvalues of the tridiagonal matrix of conjugate gradients are below x [Saad 2003,
   6.7.3]: signs of its Sturm sequence. */
static int below(const mn_aggregates *a, double x)
{
  int count = 0;
  double d = 1;
  for (int k = 0; k < a->steps; k++) {
    double on = 1 / a->step[k] + (k ? a->turn[k] / a->step[k - 1] : 0);
    double off = k ? a->turn[k] / (a->step[k - 1] * a->step[k - 1]) : 0;
    d = on - x - (k ? off / d : 0);
    d = d == 0 ? -1e-30 : d;
    count += d < 0;
  }
  return count;
}

/* The eigenvalue of number k. */
static double eigenvalue(const mn_aggregates *a, int k)
{
  double low = 0, high = 1;
  while (below(a, high) < a->steps && high < 1e6)
    high *= 2;
  for (int i = 0; i < 30; i++) {
    double middle = (low + high) / 2;
    if (below(a, middle) > k)
      high = middle;
    else
      low = middle;
  }
  return high;
}

int mn_aggregates_look(mn_aggregates *a, double error)
{
  /* Those at the ends are seen last: beyond the least a polynomial stays positive, beyond the
     greatest it would not. */
  static const double SAFE_LEAST = 0.95, SAFE_GREATEST = 1.02;
  a->least = a->greatest = 1;
  if (a->steps) {
    a->least = SAFE_LEAST * eigenvalue(a, 0);
    a->greatest = SAFE_GREATEST * eigenvalue(a, a->steps - 1);
  }
  double root = sqrt(a->greatest / a->least), rate = (root - 1) / (root + 1), left = 1;
  int steps = 0;
  do {
    steps++;
    left *= rate;
  } while (2 * left / (1 + left * left) > error && steps < 1000);
  return steps;
}

/* v[3] <- near A^-1 v[0], by so many steps. */
static void chebyshev(const mn_aggregates *a, int steps)
{
  double middle = (a->greatest + a->least) / 2, half = (a->greatest - a->least) / 2;
  double ratio = half > 0 ? middle / half : INFINITY, last = 1 / ratio;
  begin_steps(a);
  for (int k = 0; k < steps; k++) {
    double next = 1 / (2 * ratio - last), keep = k ? next * last : 0,
           take = k ? (half > 0 ? 2 * next / half : 0) : 1 / middle;
    if (!a->swept)
      precondition(a, a->v[0]);
    take_direction(a, take, keep);
    last = k ? next : last;
    if (k + 1 < steps)
      take_product(a, take, keep, 0);
    take_step(a, 1, k + 1 < steps);
  }
}

void mn_aggregates_fixed(mn_aggregates *a, int steps, const double *b, double *x)
{
  double norm = load(a, b, a->v[0]);
  chebyshev(a, steps);
  a->unit = norm;
  store(a, norm, a->v[3], x);
}

void mn_aggregates_fixed_rows(mn_aggregates *a, int steps, const double *F, double *U)
{
  double norm = greatest(a->rows, F);
  mn_faces_press(a, norm > 0 ? 1 / norm : 0, F, a->v[0]);
  chebyshev(a, steps);
  a->unit = norm;
  mn_faces_move(a, norm, a->v[3], U);
}

void mn_aggregates_follow(const mn_aggregates *a, double keep, double step, double *d, double *x)
{
  const float *answer = a->v[3];
  for (int64_t i = 0; i < a->freedoms; i++) {
    d[i] = a->unit * (double)answer[a->place[i]] + (keep != 0 ? keep * d[i] : 0);
    x[i] += step * d[i];
  }
}
