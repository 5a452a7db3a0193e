/* Surfaces cut finer, conforming.

   Triangles: in each pass every edge that is too long gets a point in its middle; a triangle with
   one, two or three such edges is cut into two, three or four [Rivara 1984 halves the longest only;
   here all that are too long, which needs fewer passes]. Neighbours share the middle, so nothing
   hangs. Verified by tests/unit/geom/test_surface_mesh.c. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "geom/surface_mesh.h"
#include "math/vec.h"

enum { PASSES = 40, MOST = 1 << 30 };

/* A piece of a coarse triangle; where its corners lie in it. */
typedef struct piece {
  uint32_t point[3], origin;
  double at[3][3];
} piece;

typedef struct half_edge {
  uint32_t low, high, piece;
  int slot;
} half_edge;

typedef struct cutter {
  mn_context *ctx;
  const mn_vec3 *x;
  const uint32_t *element;
  mn_refined *out;
  size_t point_capacity;
  mn_vec3 *place; /* of the points */
  piece *now, *next;
  size_t pieces, next_capacity;
  half_edge *edge;
  uint32_t (*middle)[3]; /* of each piece: the points on its edges; UINT32_MAX: none */
} cutter;

static mn_status add_point(cutter *c, uint32_t parent, const double at[3], mn_vec3 x, uint32_t *out)
{
  mn_refined *r = c->out;
  if (r->points == c->point_capacity) {
    size_t n = r->points, more = 2 * n + 64;
    MN_TRY(mn_grow(c->ctx, "points of a surface", n, more, sizeof *r->parent, (void **)&r->parent));
    MN_TRY(mn_grow(c->ctx, "points of a surface", n, more, sizeof *r->weight, (void **)&r->weight));
    MN_TRY(mn_grow(c->ctx, "points of a surface", n, more, sizeof *c->place, (void **)&c->place));
    c->point_capacity = more;
  }
  *out = (uint32_t)r->points;
  r->parent[r->points] = parent;
  memcpy(r->weight[r->points], at, 3 * sizeof *at);
  c->place[r->points++] = x;
  return MN_OK;
}

/* A point for every node that is used, in the order of use. */
static mn_status number_nodes(cutter *c, int corners, size_t nodes, size_t elements,
                              uint32_t *number)
{
  static const double UNIT[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (size_t i = 0; i < nodes; i++)
    number[i] = UINT32_MAX;
  for (size_t e = 0; e < elements; e++)
    for (int k = 0; k < corners; k++) {
      uint32_t node = c->element[(size_t)corners * e + (size_t)k];
      if (number[node] == UINT32_MAX)
        MN_TRY(add_point(c, (uint32_t)e, UNIT[k], c->x[node], &number[node]));
    }
  return MN_OK;
}

/* ---- segments -------------------------------------------------------------------------------- */

static size_t parts(double length, double longest)
{
  double n = ceil(length / longest - 1e-9);
  return n < 1 ? 1 : n > MOST ? MOST : (size_t)n;
}

static mn_status cut_segments(cutter *c, size_t elements, const uint32_t *number, double longest)
{
  mn_refined *r = c->out;
  size_t count = 0;
  for (size_t e = 0; e < elements; e++)
    count +=
        parts(mn_length(mn_sub(c->x[c->element[2 * e + 1]], c->x[c->element[2 * e]])), longest);
  if (count > MOST)
    return mn_fail(c->ctx, MN_BAD_INPUT,
                   "a spacing of %g m cuts a curve into more than %d pieces; use a larger one",
                   longest, MOST);
  MN_TRY(MN_NEW(c->ctx, "pieces of a curve", 2 * count, &r->element));
  MN_TRY(MN_NEW(c->ctx, "pieces of a curve", count, &r->origin));
  for (size_t e = 0; e < elements; e++) {
    mn_vec3 a = c->x[c->element[2 * e]], way = mn_sub(c->x[c->element[2 * e + 1]], a);
    size_t n = parts(mn_length(way), longest);
    uint32_t from = number[c->element[2 * e]], to;
    for (size_t k = 1; k <= n; k++) {
      double s = (double)k / (double)n, at[3] = {1 - s, s, 0};
      to = number[c->element[2 * e + 1]];
      if (k < n)
        MN_TRY(add_point(c, (uint32_t)e, at, mn_madd(a, s, way), &to));
      r->element[2 * r->elements] = from, r->element[2 * r->elements + 1] = to;
      r->origin[r->elements++] = (uint32_t)e;
      from = to;
    }
  }
  return MN_OK;
}

/* ---- triangles ------------------------------------------------------------------------------- */

static int compare(const void *pa, const void *pb)
{
  const half_edge *a = pa, *b = pb;
  if (a->low != b->low)
    return a->low < b->low ? -1 : 1;
  if (a->high != b->high)
    return a->high < b->high ? -1 : 1;
  if (a->piece != b->piece)
    return a->piece < b->piece ? -1 : 1;
  return a->slot - b->slot;
}

/* Middles of all edges that are too long; how many. */
static mn_status halve_edges(cutter *c, double longest, size_t *halved)
{
  size_t count = 0;
  *halved = 0;
  for (size_t i = 0; i < c->pieces; i++)
    for (int k = 0; k < 3; k++) {
      uint32_t a = c->now[i].point[k], b = c->now[i].point[(k + 1) % 3];
      c->middle[i][k] = UINT32_MAX;
      if (mn_length(mn_sub(c->place[a], c->place[b])) > longest)
        c->edge[count++] = (half_edge){a < b ? a : b, a < b ? b : a, (uint32_t)i, k};
    }
  qsort(c->edge, count, sizeof *c->edge, compare);
  uint32_t point = 0;
  for (size_t i = 0; i < count; i++) {
    const half_edge *h = c->edge + i;
    const piece *p = c->now + h->piece;
    if (i == 0 || h->low != h[-1].low || h->high != h[-1].high) {
      double at[3];
      for (int a = 0; a < 3; a++)
        at[a] = 0.5 * (p->at[h->slot][a] + p->at[(h->slot + 1) % 3][a]);
      mn_vec3 x = mn_scale(0.5, mn_add(c->place[h->low], c->place[h->high]));
      MN_TRY(add_point(c, p->origin, at, x, &point));
      ++*halved;
    }
    c->middle[h->piece][h->slot] = point;
  }
  return MN_OK;
}

/* Corners 0 to 2 of a piece, and 3 to 5: the middles of its edges 01, 12, 20. */
static piece sub_piece(const piece *p, const uint32_t *middle, int i, int j, int k)
{
  piece out = {.origin = p->origin};
  int local[3] = {i, j, k};
  for (int n = 0; n < 3; n++) {
    int l = local[n];
    out.point[n] = l < 3 ? p->point[l] : middle[l - 3];
    for (int a = 0; a < 3; a++)
      out.at[n][a] = l < 3 ? p->at[l][a] : 0.5 * (p->at[l - 3][a] + p->at[(l - 2) % 3][a]);
  }
  return out;
}

static double way(const cutter *c, const piece *p, const uint32_t *middle, int i, int j)
{
  piece ends = sub_piece(p, middle, i, j, i);
  return mn_length(mn_sub(c->place[ends.point[0]], c->place[ends.point[1]]));
}

/* The pieces of a piece; returns how many. */
static int cut_piece(const cutter *c, const piece *p, const uint32_t *middle, piece out[4])
{
  int cut[3], n = 0;
  for (int k = 0; k < 3; k++)
    n += cut[k] = middle[k] != UINT32_MAX;
  if (n == 0) {
    out[0] = *p;
    return 1;
  }
  if (n == 3) {
    for (int k = 0; k < 3; k++)
      out[k] = sub_piece(p, middle, k, 3 + k, 3 + (k + 2) % 3);
    out[3] = sub_piece(p, middle, 3, 4, 5);
    return 4;
  }
  if (n == 1) {
    int k = cut[0] ? 0 : cut[1] ? 1 : 2, a = k, b = (k + 1) % 3, far = (k + 2) % 3;
    out[0] = sub_piece(p, middle, a, 3 + k, far);
    out[1] = sub_piece(p, middle, 3 + k, b, far);
    return 2;
  }
  /* edges ab and bc are cut; the rest a, m, o, q is cut along its shorter diagonal */
  int k = !cut[2] ? 0 : !cut[0] ? 1 : 2, a = k, b = (k + 1) % 3, q = (k + 2) % 3;
  int m = 3 + k, o = 3 + b;
  out[0] = sub_piece(p, middle, m, b, o);
  if (way(c, p, middle, a, o) <= way(c, p, middle, m, q)) {
    out[1] = sub_piece(p, middle, a, m, o);
    out[2] = sub_piece(p, middle, a, o, q);
  } else {
    out[1] = sub_piece(p, middle, a, m, q);
    out[2] = sub_piece(p, middle, m, o, q);
  }
  return 3;
}

static mn_status cut_pass(cutter *c, double longest, size_t *halved)
{
  mn_free(c->edge);
  mn_free(c->middle);
  c->edge = NULL, c->middle = NULL;
  MN_TRY(MN_NEW(c->ctx, "edges of a surface", 3 * c->pieces, &c->edge));
  MN_TRY(MN_NEW(c->ctx, "edges of a surface", c->pieces, &c->middle));
  MN_TRY(halve_edges(c, longest, halved));
  if (*halved == 0)
    return MN_OK;
  if (4 * c->pieces > MOST)
    return mn_fail(c->ctx, MN_BAD_INPUT,
                   "a spacing of %g m cuts a surface into more than %d pieces; use a larger one",
                   longest, MOST / 4);
  MN_TRY(MN_NEW(c->ctx, "pieces of a surface", 4 * c->pieces, &c->next));
  size_t count = 0;
  for (size_t i = 0; i < c->pieces; i++)
    count += (size_t)cut_piece(c, c->now + i, c->middle[i], c->next + count);
  mn_free(c->now);
  c->now = c->next, c->next = NULL;
  c->pieces = count;
  return MN_OK;
}

static mn_status cut_triangles(cutter *c, size_t elements, const uint32_t *number, double longest)
{
  mn_refined *r = c->out;
  MN_TRY(MN_NEW(c->ctx, "pieces of a surface", elements, &c->now));
  c->pieces = elements;
  for (size_t e = 0; e < elements; e++) {
    c->now[e].origin = (uint32_t)e;
    for (int k = 0; k < 3; k++) {
      c->now[e].point[k] = number[c->element[3 * e + (size_t)k]];
      c->now[e].at[k][k] = 1;
    }
  }
  size_t halved = 1;
  for (int pass = 0; pass < PASSES && halved; pass++)
    MN_TRY(cut_pass(c, longest, &halved));
  MN_TRY(MN_NEW(c->ctx, "pieces of a surface", 3 * c->pieces, &r->element));
  MN_TRY(MN_NEW(c->ctx, "pieces of a surface", c->pieces, &r->origin));
  r->elements = c->pieces;
  for (size_t e = 0; e < c->pieces; e++) {
    memcpy(r->element + 3 * e, c->now[e].point, sizeof c->now[e].point);
    r->origin[e] = c->now[e].origin;
  }
  return MN_OK;
}

mn_status mn_surface_refine(mn_context *ctx, int corners, const mn_vec3 *x, size_t nodes,
                            const uint32_t *element, size_t elements, double longest,
                            mn_refined *refined)
{
  *refined = (mn_refined){0};
  cutter c = {.ctx = ctx, .x = x, .element = element, .out = refined};
  uint32_t *number = NULL;
  mn_status status = MN_NEW(ctx, "nodes of a surface", nodes, &number);
  if (status == MN_OK)
    status = number_nodes(&c, corners, nodes, elements, number);
  if (status == MN_OK)
    status = corners == 2 ? cut_segments(&c, elements, number, longest)
                          : cut_triangles(&c, elements, number, longest);
  void *all[] = {number, c.place, c.now, c.next, c.edge, c.middle};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    mn_free(all[i]);
  if (status != MN_OK)
    mn_refined_destroy(refined);
  return status;
}

void mn_refined_destroy(mn_refined *r)
{
  mn_free(r->parent);
  mn_free(r->weight);
  mn_free(r->element);
  mn_free(r->origin);
  memset(r, 0, sizeof *r);
}
