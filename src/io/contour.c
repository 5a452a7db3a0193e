/* Contour of a field by marching simplices: every cube of 2^d neighbouring points is cut into d!
   simplices along its main diagonal (Freudenthal's triangulation; one per order in which the axes
   are walked), which fit together across cubes; in a simplex the linear interpolant has a plane
   zero level. Unlike marching cubes there are no ambiguous cases and no tables, and the result is
   always a manifold, closed but at the border of the field.

   Source: [Freudenthal 1942], [Allgower 1985]. Points on edges are shared: an edge is
   named by its lower point and the axes it goes along. Second-order in position and area for smooth
   fields. A value of exactly 0 counts as positive.

   The same for what is inside two fields at once, a liquid cut off by a solid: an edge that leaves
   it does so where the first of the two does. Points are exact then as of each field alone; only
   where both surfaces meet inside a simplex the corner is cut off, towards the inside.

   Verified by tests/unit/io/test_contour.c. */
#include "io/contour.h"

#include "base/memory.h"
#include "base/status.h"

enum { EDGES = 7 }; /* directions of edges out of a point: non-empty sets of axes */

typedef struct marcher {
  mn_context *ctx;
  const mn_field *f;
  const mn_field *limit; /* negative inside as well; NULL: there is none */
  mn_contour *out;
  int64_t *layer[2]; /* point numbers + 1 of the edges that begin in planes k, k + 1 */
} marcher;

/* One corner of a cube: which one, its values of both fields, and whether both are negative. */
typedef struct corner {
  int at[3];
  double value, limit;
  int inside;
} corner;

static corner corner_at(const marcher *m, int i, int j, int k)
{
  corner c = {.at = {i, j, k}, .value = mn_get(m->f, i, j, k), .limit = -1};
  if (m->limit)
    c.limit = mn_get(m->limit, i, j, k);
  c.inside = c.value < 0 && c.limit < 0;
  return c;
}

static mn_vec3 unit_gradient(const mn_field *f, mn_vec3 x)
{
  mn_vec3 g = mn_v3(0, 0, 0);
  for (int a = 0; a < f->grid->dim; a++) {
    mn_vec3 lo = x, hi = x;
    lo.v[a] -= 0.5 * f->grid->dx;
    hi.v[a] += 0.5 * f->grid->dx;
    g.v[a] = mn_sample(f, hi) - mn_sample(f, lo);
  }
  double length = mn_length(g);
  return length > 0 ? mn_scale(1 / length, g) : mn_v3(0, 1, 0);
}

/* Part of the way from p to q at which one leaves what is inside; *by: the field that ends there.
 */
static double leaves(const marcher *m, const corner *p, const corner *q, const mn_field **by)
{
  double part = p->value / (p->value - q->value);
  *by = m->f;
  if ((p->limit < 0) == (q->limit < 0))
    return part;
  double limit = p->limit / (p->limit - q->limit);
  if ((p->value < 0) != (q->value < 0) && (p->inside ? part <= limit : part >= limit))
    return part;
  *by = m->limit;
  return limit;
}

/* The number of the zero on the edge p -> q, p lower; made when it is met first. */
static mn_status edge_point(marcher *m, int plane, const corner *p, const corner *q,
                            int64_t *number)
{
  int axes = 0;
  for (int a = 0; a < 3; a++)
    axes |= (q->at[a] > p->at[a]) << a;
  int64_t *slot =
      m->layer[p->at[2] - plane] + EDGES * ((int64_t)p->at[1] * m->f->n[0] + p->at[0]) + (axes - 1);
  mn_contour *out = m->out;
  if (!*slot) {
    if (out->points == out->point_room) {
      size_t room = 2 * out->point_room + 1024;
      MN_TRY(
          mn_grow(m->ctx, "contour points", out->points, room, sizeof *out->x, (void **)&out->x));
      MN_TRY(
          mn_grow(m->ctx, "contour normals", out->points, room, sizeof *out->n, (void **)&out->n));
      out->point_room = room;
    }
    mn_vec3 a = mn_position(m->f, p->at[0], p->at[1], p->at[2]);
    mn_vec3 b = mn_position(m->f, q->at[0], q->at[1], q->at[2]);
    const mn_field *by;
    mn_vec3 x = mn_madd(a, leaves(m, p, q, &by), mn_sub(b, a));
    out->x[out->points] = x;
    out->n[out->points] = unit_gradient(by, x);
    *slot = (int64_t)++out->points;
  }
  *number = *slot - 1;
  return MN_OK;
}

static mn_status add_cell(marcher *m, const int64_t *points, const int *order)
{
  mn_contour *out = m->out;
  size_t d = (size_t)out->dim;
  if (out->cells == out->cell_room) {
    size_t room = 2 * out->cell_room + 1024;
    MN_TRY(mn_grow(m->ctx, "contour cells", d * out->cells, d * room, sizeof *out->index,
                   (void **)&out->index));
    out->cell_room = room;
  }
  for (size_t c = 0; c < d; c++)
    out->index[d * out->cells + c] = points[order[c]];
  out->cells++;
  return MN_OK;
}

/* +1 or -1: the sign of a permutation. */
static int parity(const int *p, int n)
{
  int sign = 1;
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++)
      sign = p[j] < p[i] ? -sign : sign;
  return sign;
}

/* One simplex with corners in walking order; `sign` is its orientation. The corners are put in the
   order (a, b, c, d) of a positive simplex, those of the smaller group first, and the zeros on the
   edges between the groups form a triangle, or a quadrilateral for two and two. */
static mn_status march_simplex(marcher *m, int plane, const corner *const *v, int sign)
{
  int count = m->out->dim + 1, inside = 0;
  for (int i = 0; i < count; i++)
    inside += v[i]->inside;
  if (inside == 0 || inside == count)
    return MN_OK;
  int lone_inside = 2 * inside <= count, order[4], at = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < count; i++)
      if (v[i]->inside == (pass == 0 ? lone_inside : !lone_inside))
        order[at++] = i;
  if (parity(order, count) * sign * (lone_inside ? 1 : -1) < 0) {
    int last = order[count - 1];
    order[count - 1] = order[count - 2];
    order[count - 2] = last;
  }
  int pairs = count == 4 && inside == 2;
  static const int PAIR[2][4][2] = {{{0, 1}, {0, 2}, {0, 3}}, {{0, 2}, {0, 3}, {1, 3}, {1, 2}}};
  int64_t points[4];
  for (int e = 0; e < (pairs ? 4 : count - 1); e++) {
    int p = order[PAIR[pairs][e][0]], q = order[PAIR[pairs][e][1]];
    MN_TRY(edge_point(m, plane, v[p < q ? p : q], v[p < q ? q : p], &points[e]));
  }
  MN_TRY(add_cell(m, points, (const int[]){0, 1, 2}));
  return pairs ? add_cell(m, points, (const int[]){0, 2, 3}) : MN_OK;
}

static mn_status march_cube(marcher *m, int i, int j, int k)
{
  static const int WALK[6][3] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  int dim = m->out->dim, corners = 1 << dim, inside = 0;
  corner corner_of[8];
  for (int c = 0; c < corners; c++) {
    corner_of[c] = corner_at(m, i + (c & 1), j + (c >> 1 & 1), k + (c >> 2));
    inside += corner_of[c].inside;
  }
  if (inside == 0 || inside == corners)
    return MN_OK;
  for (int s = 0; s < (dim == 3 ? 6 : 2); s++) {
    const corner *v[4] = {&corner_of[0]};
    for (int a = 0, c = 0; a < dim; a++) {
      c |= 1 << WALK[s][a];
      v[a + 1] = &corner_of[c];
    }
    MN_TRY(march_simplex(m, k, v, parity(WALK[s], dim)));
  }
  return MN_OK;
}

mn_status mn_contour_make(mn_context *ctx, const mn_field *f, mn_contour *out)
{
  return mn_contour_make_within(ctx, f, NULL, out);
}

mn_status mn_contour_make_within(mn_context *ctx, const mn_field *f, const mn_field *limit,
                                 mn_contour *out)
{
  *out = (mn_contour){.dim = f->grid->dim};
  marcher m = {.ctx = ctx, .f = f, .limit = limit, .out = out};
  size_t layer = (size_t)f->n[0] * (size_t)f->n[1] * EDGES;
  mn_status status = MN_NEW(ctx, "contour layers", 2 * layer, &m.layer[0]);
  if (status != MN_OK)
    return status;
  int64_t *both = m.layer[0];
  m.layer[1] = both + layer;
  for (int k = 0; status == MN_OK && k < (out->dim == 3 ? f->n[2] - 1 : 1); k++) {
    for (int j = 0; status == MN_OK && j < f->n[1] - 1; j++)
      for (int i = 0; status == MN_OK && i < f->n[0] - 1; i++)
        status = march_cube(&m, i, j, k);
    int64_t *done = m.layer[0];
    m.layer[0] = m.layer[1];
    m.layer[1] = done;
    for (size_t i = 0; i < layer; i++)
      done[i] = 0;
  }
  mn_free(both);
  if (status != MN_OK)
    mn_contour_free(out);
  return status;
}

void mn_contour_free(mn_contour *contour)
{
  mn_free(contour->x);
  mn_free(contour->n);
  mn_free(contour->index);
  *contour = (mn_contour){0};
}
