/* K' with the border of closed regions (monolithic_regions.c):

       | K0  C^T | |v|   |f|        v = u - K0^-1 C^T y,    u = K0^-1 f
       | C   R   | |y| = |h|,       (R - C K0^-1 C^T) y = h - C u

   K0 is sparse, positive and factorised; there are two or three y for each region, so that what is
   left is inverted as a dense matrix. An answer costs one of K0 and a few products. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "couple/monolithic_system.h"
#include "la/dense.h"

/* K0, if there is a border. */
static mn_status take_own(mn_mono_system *s)
{
  const mn_csr *K = &s->K.a;
  int64_t own = (int64_t)s->own;
  MN_TRY(mn_csr_rows_begin(s->ctx, &s->K_own, own, own));
  for (int64_t i = 0; i < own; i++) {
    for (int64_t e = K->start[i]; e < K->start[i + 1]; e++)
      if (K->col[e] < own)
        mn_csr_rows_add(&s->K_own, K->col[e], K->value[e]);
    MN_TRY(mn_csr_rows_next(s->ctx, &s->K_own));
  }
  return MN_OK;
}

static mn_status make_room(mn_mono_system *s)
{
  size_t n = s->borders, reply = n * s->own;
  if (reply > s->reply_room) {
    s->reply_room = 0;
    MN_TRY(MN_RENEW(s->ctx, "answers to regions", reply + reply / 8, &s->reply));
    s->reply_room = reply + reply / 8;
  }
  if (n * n > s->small_room) {
    s->small_room = 0;
    MN_TRY(MN_RENEW(s->ctx, "answers to regions", n * n, &s->small));
    s->small_room = n * n;
  }
  return MN_OK;
}

/* sum of the entries of row own + k of K, times x, over the solid's freedoms */
static double of_row(const mn_mono_system *s, size_t k, const double *x)
{
  const mn_csr *K = &s->K.a;
  double sum = 0;
  for (int64_t e = K->start[s->own + k]; e < K->start[s->own + k + 1]; e++)
    if (K->col[e] < (int64_t)s->own)
      sum += K->value[e] * x[K->col[e]];
  return sum;
}

/* small <- T^-1, scaled to rows of size 1. */
static mn_status invert(mn_mono_system *s, const double *T)
{
  size_t n = s->borders;
  double *a, *b, *scale;
  mn_arena_mark mark = mn_arena_save(&s->arena);
  MN_TRY(MN_PUSH(s->ctx, &s->arena, n * n, &a));
  MN_TRY(MN_PUSH(s->ctx, &s->arena, n * n, &b));
  MN_TRY(MN_PUSH(s->ctx, &s->arena, n, &scale));
  memset(b, 0, n * n * sizeof *b);
  for (size_t i = 0; i < n; i++) {
    double most = 0;
    for (size_t j = 0; j < n; j++)
      most = fmax(most, fabs(T[i * n + j]));
    scale[i] = most > 0 ? 1 / sqrt(most) : 1;
    b[i * n + i] = 1;
  }
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++)
      a[i * n + j] = T[i * n + j] * scale[i] * scale[j];
  mn_status status = mn_dense_solve(s->ctx, &s->arena, (int)n, a, (int)n, b, s->small);
  for (size_t i = 0; i < n && status == MN_OK; i++)
    for (size_t j = 0; j < n; j++)
      s->small[i * n + j] *= scale[i] * scale[j];
  mn_arena_reset(&s->arena, mark);
  return status;
}

static mn_status reduce(mn_mono_system *s)
{
  const mn_csr *K = &s->K.a;
  size_t n = s->borders, own = s->own;
  double *T;
  MN_TRY(make_room(s));
  memset(s->reply, 0, n * own * sizeof *s->reply);
  for (size_t k = 0; k < n; k++)
    for (int64_t e = K->start[own + k]; e < K->start[own + k + 1]; e++)
      if (K->col[e] < (int64_t)own)
        s->reply[k * own + (size_t)K->col[e]] = K->value[e];
  for (size_t k = 0; k < n && own; k++)
    MN_TRY(mn_sparse_solve(s->factor, 1, s->reply + k * own, s->reply + k * own));
  mn_arena_mark mark = mn_arena_save(&s->arena);
  MN_TRY(MN_PUSH(s->ctx, &s->arena, n * n, &T));
  memset(T, 0, n * n * sizeof *T);
  for (size_t k = 0; k < n; k++) {
    for (int64_t e = K->start[own + k]; e < K->start[own + k + 1]; e++)
      if (K->col[e] >= (int64_t)own)
        T[k * n + (size_t)K->col[e] - own] += K->value[e];
    for (size_t j = 0; j < n; j++)
      T[k * n + j] -= of_row(s, k, s->reply + j * own);
  }
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++)
      T[i * n + j] = T[j * n + i] = 0.5 * (T[i * n + j] + T[j * n + i]);
  mn_status status = invert(s, T);
  mn_arena_reset(&s->arena, mark);
  return status;
}

mn_status mn_mono_factorise(mn_mono_system *s, int *positive)
{
  mn_factor_report report = {.positive_definite = 1};
  if (!s->factor)
    MN_TRY(mn_sparse_create(s->ctx, &s->factor));
  if (s->borders)
    MN_TRY(take_own(s));
  if (s->own)
    MN_TRY(mn_sparse_factorise(s->factor, s->borders ? &s->K_own.a : &s->K.a, &report));
  *positive = report.positive_definite;
  return *positive && s->borders ? reduce(s) : MN_OK;
}

mn_status mn_mono_answer(mn_mono_system *s, double *x)
{
  size_t n = s->borders, own = s->own;
  double *h, *y = x + own;
  if (own)
    MN_TRY(mn_sparse_solve(s->factor, 1, x, x));
  if (!n)
    return MN_OK;
  mn_arena_mark mark = mn_arena_save(&s->arena);
  MN_TRY(MN_PUSH(s->ctx, &s->arena, n, &h));
  for (size_t k = 0; k < n; k++)
    h[k] = y[k] - of_row(s, k, x);
  for (size_t k = 0; k < n; k++) {
    y[k] = 0;
    for (size_t j = 0; j < n; j++)
      y[k] += s->small[k * n + j] * h[j];
  }
  for (size_t k = 0; k < n; k++)
    for (size_t i = 0; i < own; i++)
      x[i] -= y[k] * s->reply[k * own + i];
  mn_arena_reset(&s->arena, mark);
  return MN_OK;
}
