/* Sweeps alone, for matrices whose neighbours tell nearly all: bodies that a wave crosses by few of
   their elements in a step. With A = D + L + L^T + R, R what the faces' masses are beyond their row
   sums, the preconditioner is B = (P + L) P^-1 (P + L^T), symmetric. With the pivots P = D it is
   that of Gauss-Seidel, and B - A = L D^-1 L^T - R. P = D - blocks on the diagonal of L P^-1 L^T,
   an incomplete factorisation that keeps the diagonal, leaves what is beside it, of either sign
   (foam of 9,261 nodes: eigenvalues of B^-1 A from 0.5 to 1 and from 0.66 to 1.12).

   A product and a sweep cost one pass over L forwards and one backwards [Eisenstat 1981]: kept are
   s = (P + L)^-1 r and y = (P + L^T) d, and

       (P + L)^-1 A d = d + (P + L)^-1 (y - (2 P - D) d + R d).

   L alone is stored, blocks of 3 rows of 3: forwards a row is three sums over 4 numbers at a time,
   backwards three multiples added to 4 at a time. The fourth of the matrix is that of the next row,
   that of x is 0. Beside a cycle of levels and a product a step reads two thirds.
   Verified by tests/unit/la/test_aggregates.c. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "la/aggregates_level.h"

/* Of the diagonal, that pivots must leave; else it is taken itself. */
static const float LEAST_PIVOT = 0.25F;

/* ---- values ---------------------------------------------------------------------------------- */

void mn_sweeps_free(mn_aggregates *a)
{
  mn_free(a->low);
  mn_free(a->block);
  mn_free(a->beyond);
  mn_free(a->exact);
  mn_free(a->exact_own);
  a->exact = a->exact_own = NULL;
  a->low = a->block = a->beyond = NULL;
}

static mn_status make_room(mn_aggregates *a)
{
  const mn_level *l = &a->level[0];
  size_t blocks = 0;
  if (a->low)
    return MN_OK;
  for (int g = 0; g < l->n; g++)
    blocks += (size_t)(l->diagonal[g] - l->start[g]);
  mn_sweeps_free(a); /* half of it, after a failure */
  a->low_end = 9 * blocks;
  MN_TRY(MN_NEW(a->ctx, "sweeps of a mesh", 12 * (size_t)l->n, &a->block));
  MN_TRY(MN_NEW(a->ctx, "sweeps of a mesh", 12 * (size_t)l->n, &a->beyond));
  MN_TRY(MN_NEW(a->ctx, "sweeps of a mesh", 12 * (size_t)l->n, &a->exact_own));
  MN_TRY(MN_NEW(a->ctx, "sweeps of a mesh", 9 * blocks + 4, &a->exact));
  return MN_NEW(a->ctx, "sweeps of a mesh", 9 * blocks + 4, &a->low);
}

/* Row g of a node, whose first freedom is i: blocks of L to *to and on, then that of D. */
static void set_row(const mn_aggregates *a, const mn_csr *K, const double *scale, int g, int64_t i,
                    double **to)
{
  const mn_level *l = &a->level[0];
  for (int32_t e = l->start[g], at = 0; e <= l->diagonal[g]; at += l->size[l->col[e++]]) {
    int own = e == l->diagonal[g], wide = own ? 4 : 3, size = l->size[l->col[e]];
    double *block = own ? a->exact_own + 12 * (size_t)g : *to;
    for (int r = 0; r < l->size[g]; r++)
      for (int c = 0; c < size; c++)
        block[wide * r + c] = K->value[K->start[i + r] + at + c] * scale[i + r];
    *to += own ? 0 : 9;
  }
}

mn_status mn_sweeps_set(mn_aggregates *a, const mn_csr *K, const double *scale)
{
  MN_TRY(make_room(a));
  double *to = a->exact;
  for (int64_t i = 0; i < K->rows; i += a->level[0].size[a->place[i] / 4])
    set_row(a, K, scale, a->place[i] / 4, i, &to);
  for (size_t i = 0; i < a->low_end; i++)
    a->low[i] = (float)a->exact[i];
  for (size_t i = 0; i < 12 * (size_t)a->level[0].n; i++)
    a->block[i] = (float)a->exact_own[i];
  return MN_OK;
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

typedef float four __attribute__((vector_size(16), aligned(4), may_alias));

static inline four load(const float *from)
{
  return *(const four *)from;
}

static inline void store(four x, float *to)
{
  *(four *)to = x;
}

/* A x of a symmetric block on the diagonal */
static inline four multiply_block(const float *A, four x)
{
  return load(A) * x[0] + load(A + 4) * x[1] + load(A + 8) * x[2];
}

static inline float sum_of(four x)
{
  return (x[0] + x[1]) + x[2];
}

/* sum - L Q L^T, L of 3 rows of 3, Q symmetric: both by columns of 4 */
static inline void subtract_square(float *sum, const float *L, const float *Q)
{
  for (int r = 0; r < 3; r++) {
    four row = load(Q) * L[3 * r] + load(Q + 4) * L[3 * r + 1] + load(Q + 8) * L[3 * r + 2];
    for (int c = 0; c <= r; c++)
      sum[4 * c + r] -= (row[0] * L[3 * c] + row[1] * L[3 * c + 1]) + row[2] * L[3 * c + 2];
  }
}

/* Whether pivots leave enough of the diagonal. */
static int is_enough(const float *P, const float *D, int size)
{
  for (int i = 0; i < size; i++)
    if (!(P[5 * i] >= LEAST_PIVOT * D[5 * i]))
      return 0;
  return 1;
}

int mn_sweeps_pivots(mn_aggregates *a)
{
  const mn_level *l = &a->level[0];
  const float *A = a->low;
  for (int g = 0; g < l->n; g++) {
    float *D = a->block + 12 * (size_t)g, *inverse = l->inverse + 12 * (size_t)g;
    float P[12];
    memcpy(P, D, sizeof P);
    for (int32_t e = l->start[g]; e < l->diagonal[g]; e++, A += 9)
      subtract_square(P, A, l->inverse + 12 * (size_t)l->col[e]);
    for (int r = 1; r < 3; r++)
      for (int c = 0; c < r; c++)
        P[4 * r + c] = P[4 * c + r];
    if (!is_enough(P, D, l->size[g]) || !mn_levels_invert(P, NULL, l->size[g], inverse)) {
      memcpy(P, D, sizeof P);
      if (!mn_levels_invert(P, NULL, l->size[g], inverse))
        return 0;
    }
    for (int i = 0; i < 12; i++)
      a->beyond[12 * (size_t)g + (size_t)i] = 2 * P[i] - D[i];
    memcpy(D, P, sizeof P);
  }
  return 1;
}

/* L of a row, blocks [0, count), times x */
static inline four gather_row(const float *A, const int32_t *col, int32_t count, const float *x)
{
  four sum[3] = {{0}};
  for (int32_t e = 0; e < count; e++, A += 9) {
    four from = load(x + 4 * col[e]);
    sum[0] += load(A) * from;
    sum[1] += load(A + 3) * from;
    sum[2] += load(A + 6) * from;
  }
  return (four){sum_of(sum[0]), sum_of(sum[1]), sum_of(sum[2]), 0};
}

/* y -= L^T of a row times its own x */
static inline void scatter_row(const float *A, const int32_t *col, int32_t count, four own,
                               float *y)
{
  for (int32_t e = 0; e < count; e++, A += 9) {
    float *to = y + 4 * col[e];
    store(load(to) - (load(A) * own[0] + load(A + 3) * own[1] + load(A + 6) * own[2]), to);
  }
}

/* x <- (P + L)^-1 x */
static void descend(const mn_aggregates *a, float *x)
{
  const mn_level *l = &a->level[0];
  const float *A = a->low;
  for (int g = 0; g < l->n; g++) {
    int32_t count = l->diagonal[g] - l->start[g];
    four left = load(x + 4 * g) - gather_row(A, l->col + l->start[g], count, x);
    store(multiply_block(l->inverse + 12 * (size_t)g, left), x + 4 * g);
    A += 9 * count;
  }
}

/* x <- (P + L^T)^-1 x */
static void ascend(const mn_aggregates *a, float *x)
{
  const mn_level *l = &a->level[0];
  const float *A = a->low + a->low_end;
  for (int g = l->n - 1; g >= 0; g--) {
    int32_t count = l->diagonal[g] - l->start[g];
    four own = multiply_block(l->inverse + 12 * (size_t)g, load(x + 4 * g));
    A -= 9 * count;
    store(own, x + 4 * g);
    scatter_row(A, l->col + l->start[g], count, own, x);
  }
}

/* ---- within a cycle ---------------------------------------------------------------------------

   After the sweep forwards, (D + L) x = b, the residual without R is -L^T x; what coarse levels say
   to it, c, leaves (D + L^T) x' = b - L (x + c) = D x - L c =: t for the one backwards, and then A
   x' = t + L x' + R x'. A row of L is read once in either sweep, gathered from for one product and
   scattered to for the other. */

void mn_sweeps_before(const mn_aggregates *a, float *b, float *x, float *r)
{
  const mn_level *l = &a->level[0];
  const float *A = a->low;
  memset(r, 0, 4 * (size_t)l->n * sizeof *r);
  for (int g = 0; g < l->n; g++) {
    const int32_t *col = l->col + l->start[g];
    int32_t count = l->diagonal[g] - l->start[g];
    four Dx = load(b + 4 * g) - gather_row(A, col, count, x);
    four own = multiply_block(l->inverse + 12 * (size_t)g, Dx);
    store(Dx, b + 4 * g);
    store(own, x + 4 * g);
    scatter_row(A, col, count, own, r);
    A += 9 * count;
  }
}

void mn_sweeps_after(const mn_aggregates *a, const float *Dx, const float *c, float *t, float *x)
{
  const mn_level *l = &a->level[0];
  const float *A = a->low + a->low_end;
  memset(t, 0, 4 * (size_t)l->n * sizeof *t); /* of a row, -L^T x' until it is reached */
  for (int g = l->n - 1; g >= 0; g--) {
    const int32_t *col = l->col + l->start[g];
    int32_t count = l->diagonal[g] - l->start[g];
    A -= 9 * count;
    four right = load(Dx + 4 * g) - gather_row(A, col, count, c);
    four own = multiply_block(l->inverse + 12 * (size_t)g, right + load(t + 4 * g));
    store(right, t + 4 * g);
    store(own, x + 4 * g);
    scatter_row(A, col, count, own, t);
  }
}

void mn_sweeps_add_low(const mn_aggregates *a, const float *x, float *y)
{
  const mn_level *l = &a->level[0];
  const float *A = a->low;
  for (int g = 0; g < l->n; g++) {
    int32_t count = l->diagonal[g] - l->start[g];
    four sum = gather_row(A, l->col + l->start[g], count, x);
    store(load(y + 4 * g) + sum, y + 4 * g);
    A += 9 * count;
  }
}

/* ---- alone ----------------------------------------------------------------------------------- */

/* t <- y - (2 P - D) d + R d */
static void across(const mn_aggregates *a, const float *y, const float *d, float *t)
{
  for (int g = 0; g < a->level[0].n; g++) {
    four at = load(d + 4 * g), own = multiply_block(a->beyond + 12 * (size_t)g, at);
    store(load(y + 4 * g) - own - load(a->lumped + 4 * g) * at, t + 4 * g);
  }
  mn_levels_add_faces(a, d, t);
}

/* y <- take P s + keep y */
static void turn(const mn_aggregates *a, float take, const float *s, float keep, float *y)
{
  for (int g = 0; g < a->level[0].n; g++) {
    four own = multiply_block(a->block + 12 * (size_t)g, load(s + 4 * g));
    store(take * own + keep * load(y + 4 * g), y + 4 * g);
  }
}

void mn_sweeps_begin(const mn_aggregates *a, float *s, float *y)
{
  size_t n = 4 * (size_t)a->level[0].n;
  descend(a, s);
  memset(y, 0, n * sizeof *y);
}

void mn_sweeps_turn(const mn_aggregates *a, float take, const float *s, float keep, float *y,
                    float *d)
{
  turn(a, take, s, keep, y);
  memcpy(d, y, 4 * (size_t)a->level[0].n * sizeof *d);
  ascend(a, d);
}

void mn_sweeps_product(const mn_aggregates *a, const float *y, const float *d, float *q)
{
  size_t n = 4 * (size_t)a->level[0].n;
  across(a, y, d, q);
  descend(a, q);
  for (size_t i = 0; i < n; i++)
    q[i] += d[i];
}

double mn_sweeps_norm(const mn_aggregates *a, const float *s)
{
  double sum[4] = {0};
  for (int g = 0; g < a->level[0].n; g++) {
    four at = load(s + 4 * g), own = multiply_block(a->block + 12 * (size_t)g, at);
    for (int i = 0; i < 4; i++)
      sum[i] += (double)own[i] * (double)at[i];
  }
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* ---- K, in double precision----------------------------------------------------------------------
 */

typedef double quad __attribute__((vector_size(32), aligned(8), may_alias));

static inline quad load_quad(const double *from)
{
  return *(const quad *)from;
}

/* Blocks of row g below the diagonal, and their mirror images; returns where the next row's are.
   Fourth numbers mean nothing. */
static const double *multiply_row(const mn_level *l, const double *A, int g, const double *x,
                                  double *y)
{
  quad own = load_quad(x + 4 * g), one = {0}, two = {0}, three = {0};
  for (int32_t e = l->start[g]; e < l->diagonal[g]; e++, A += 9) {
    quad first = load_quad(A), second = load_quad(A + 3), third = load_quad(A + 6);
    quad from = load_quad(x + 4 * l->col[e]);
    double *to = y + 4 * l->col[e];
    one += first * from;
    two += second * from;
    three += third * from;
    *(quad *)to = load_quad(to) + (first * own[0] + second * own[1] + third * own[2]);
  }
  quad sum = {(one[0] + one[1]) + one[2], (two[0] + two[1]) + two[2],
              (three[0] + three[1]) + three[2], 0};
  *(quad *)(y + 4 * g) = load_quad(y + 4 * g) + sum;
  return A;
}

void mn_aggregates_multiply(const mn_aggregates *a, const double *x, double *y)
{
  const mn_level *l = &a->level[0];
  size_t n = 4 * (size_t)l->n;
  const double *A = a->exact;
  double *X = a->wide, *Y = X + n;
  memset(X, 0, n * sizeof *X);
  for (int64_t i = 0; i < a->freedoms; i++)
    X[a->place[i]] = x[i];
  for (int g = 0; g < l->n; g++) {
    const double *D = a->exact_own + 12 * (size_t)g;
    quad own = load_quad(X + 4 * g);
    *(quad *)(Y + 4 * g) =
        load_quad(D) * own[0] + load_quad(D + 4) * own[1] + load_quad(D + 8) * own[2];
    A = multiply_row(l, A, g, X, Y);
  }
  for (int64_t i = 0; i < a->freedoms; i++)
    y[i] = Y[a->place[i]];
}
