/* Points spread over a surface of many small pieces: chosen in a scattered order, no two on the
   same side of a sheet nearer than a given distance (Poisson disks); each piece then belongs to
   the nearest chosen one, and twice the chosen one moves to the piece next to the middle of its
   pieces (Lloyd). A point's area is the sum of its pieces' areas, its normal their mean. Pieces
   whose normals face away from each other are strangers: both sides of a thin plate have points.
   Verified by tests/unit/solid/test_rigid_sample.c. */
#include "solid/sample_spread.h"

#include <string.h>

#include "base/status.h"
#include "math/vec.h"

typedef struct spread {
  const mn_sample *fine;
  mn_vec3 lo;
  double cell;
  int n[3];
  int32_t *head;     /* of each cell: the last chosen point there, -1: none */
  int32_t *link;     /* of each chosen point: the next in its cell */
  uint32_t *chosen;  /* its piece */
  uint32_t *owner;   /* of each piece */
  mn_vec3 *sum, *nn; /* of each chosen point: area x, area n */
  double *area;
  size_t count;
} spread;

static size_t cell_of(const spread *s, mn_vec3 x, int at[3])
{
  for (int a = 0; a < 3; a++)
    at[a] = (int)mn_clamp((x.v[a] - s->lo.v[a]) / s->cell, 0, s->n[a] - 1);
  return ((size_t)at[2] * (size_t)s->n[1] + (size_t)at[1]) * (size_t)s->n[0] + (size_t)at[0];
}

/* The chosen point nearest to piece i on its side, within `reach` cells; -1 if none. */
static int32_t nearest(const spread *s, size_t i, int reach, double *distance)
{
  int at[3];
  cell_of(s, s->fine->x[i], at);
  int32_t best = -1;
  *distance = HUGE_VAL;
  for (int z = at[2] - reach; z <= at[2] + reach; z++)
    for (int y = at[1] - reach; y <= at[1] + reach; y++)
      for (int x = at[0] - reach; x <= at[0] + reach; x++) {
        if (x < 0 || y < 0 || z < 0 || x >= s->n[0] || y >= s->n[1] || z >= s->n[2])
          continue;
        size_t c = ((size_t)z * (size_t)s->n[1] + (size_t)y) * (size_t)s->n[0] + (size_t)x;
        for (int32_t k = s->head[c]; k >= 0; k = s->link[k]) {
          size_t j = s->chosen[k];
          double d = mn_length(mn_sub(s->fine->x[i], s->fine->x[j]));
          if (mn_dot(s->fine->n[i], s->fine->n[j]) > 0 &&
              (d < *distance || (d == *distance && k < best)))
            *distance = d, best = k;
        }
      }
  return best;
}

static void enter(spread *s, int32_t k)
{
  int at[3];
  size_t c = cell_of(s, s->fine->x[s->chosen[k]], at);
  s->link[k] = s->head[c];
  s->head[c] = k;
}

static size_t gcd(size_t a, size_t b)
{
  while (b) {
    size_t r = a % b;
    a = b, b = r;
  }
  return a;
}

static void choose(spread *s, double apart)
{
  size_t m = s->fine->count, stride = (size_t)(0.6180339887 * (double)m) | 1;
  while (gcd(stride, m) != 1)
    stride++;
  for (size_t k = 0, i = 0; k < m; k++, i = (i + stride) % m) {
    double d;
    if (nearest(s, i, 1, &d) >= 0 && d < apart)
      continue;
    s->chosen[s->count] = (uint32_t)i;
    enter(s, (int32_t)s->count++);
  }
}

static void divide(spread *s)
{
  for (size_t k = 0; k < s->count; k++)
    s->sum[k] = s->nn[k] = mn_v3(0, 0, 0), s->area[k] = 0;
  for (size_t i = 0; i < s->fine->count; i++) {
    double d, a = s->fine->area[i];
    int32_t k = nearest(s, i, 1, &d);
    for (int reach = 2; k < 0 && reach <= 4; reach++)
      k = nearest(s, i, reach, &d);
    k = k < 0 ? (int32_t)s->owner[i] : k;
    s->owner[i] = (uint32_t)k;
    s->sum[k] = mn_madd(s->sum[k], a, s->fine->x[i]);
    s->nn[k] = mn_madd(s->nn[k], a, s->fine->n[i]);
    s->area[k] += a;
  }
}

static void centre(spread *s, double *best)
{
  for (size_t k = 0; k < s->count; k++)
    best[k] = HUGE_VAL;
  for (size_t i = 0; i < s->fine->count; i++) {
    size_t k = s->owner[i];
    double d = mn_length(mn_madd(s->fine->x[i], -1 / s->area[k], s->sum[k]));
    if (d < best[k])
      best[k] = d, s->chosen[k] = (uint32_t)i;
  }
  size_t cells = (size_t)s->n[0] * (size_t)s->n[1] * (size_t)s->n[2];
  memset(s->head, -1, cells * sizeof *s->head);
  for (size_t k = 0; k < s->count; k++)
    enter(s, (int32_t)k);
}

static mn_status make(mn_context *ctx, mn_arena *arena, int dim, const mn_sample *fine, double cell,
                      spread *s)
{
  mn_vec3 lo = fine->x[0], hi = lo;
  for (size_t i = 0; i < fine->count; i++)
    for (int a = 0; a < dim; a++) {
      lo.v[a] = mn_min(lo.v[a], fine->x[i].v[a]);
      hi.v[a] = mn_max(hi.v[a], fine->x[i].v[a]);
    }
  *s = (spread){.fine = fine, .lo = lo, .cell = cell};
  double cells = 1;
  for (int a = 0; a < 3; a++)
    cells *= floor((hi.v[a] - lo.v[a]) / cell) + 1;
  for (; cells > 1e8; cells /= 8)
    s->cell *= 2;
  for (int a = 0; a < 3; a++)
    s->n[a] = (int)((hi.v[a] - lo.v[a]) / s->cell) + 1;
  size_t total = (size_t)s->n[0] * (size_t)s->n[1] * (size_t)s->n[2];
  MN_TRY(MN_PUSH(ctx, arena, total, &s->head));
  memset(s->head, -1, total * sizeof *s->head);
  MN_TRY(MN_PUSH(ctx, arena, fine->count, &s->link));
  MN_TRY(MN_PUSH(ctx, arena, fine->count, &s->chosen));
  MN_TRY(MN_PUSH(ctx, arena, fine->count, &s->owner));
  MN_TRY(MN_PUSH(ctx, arena, fine->count, &s->sum));
  MN_TRY(MN_PUSH(ctx, arena, fine->count, &s->nn));
  memset(s->owner, 0, fine->count * sizeof *s->owner);
  return MN_PUSH(ctx, arena, fine->count, &s->area);
}

static mn_status spread_points(mn_context *ctx, mn_arena *arena, int dim, const mn_sample *fine,
                               double spacing, mn_sample *out)
{
  static const double APART = 0.8; /* of the spacing; random disks then lie about 1 apart */
  spread s;
  double *best;
  MN_TRY(make(ctx, arena, dim, fine, spacing, &s));
  choose(&s, APART * spacing);
  MN_TRY(MN_PUSH(ctx, arena, s.count, &best));
  divide(&s);
  for (int pass = 0; pass < 2; pass++) {
    centre(&s, best);
    divide(&s);
  }
  for (size_t k = 0; k < s.count; k++) {
    double length = mn_length(s.nn[k]);
    if (s.area[k] > 0 && length > 0)
      MN_TRY(
          mn_sample_push(ctx, out, fine->x[s.chosen[k]], mn_scale(1 / length, s.nn[k]), s.area[k]));
  }
  return MN_OK;
}

mn_status mn_sample_spread(mn_context *ctx, int dim, const mn_sample *fine, double spacing,
                           mn_sample *out)
{
  if (fine->count == 0)
    return MN_OK;
  mn_arena arena = {0};
  mn_status status = spread_points(ctx, &arena, dim, fine, spacing, out);
  mn_arena_destroy(&arena);
  return status;
}
