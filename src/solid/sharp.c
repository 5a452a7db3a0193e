/* Corners and sharp edges. Triangles that meet at an edge of length l and bend away from each other
   by an angle theta stand out by about l theta / 8 over the line between points of a smooth
   surface through the corners: fine meshes of smooth bodies have no edges that matter.
   A vertex between two pieces of one straight edge is no corner. */
#include "solid/sharp.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/status.h"
#include "math/vec.h"

static const double STRAIGHT = 1e-3; /* sine of the angle between pieces of one edge */

/* ---- boxes ----------------------------------------------------------------------------------- */

static mn_status of_box(mn_context *ctx, const mn_shape *b, mn_sharp *s)
{
  MN_TRY(MN_NEW(ctx, "sharp edges", 12, &s->edge));
  MN_TRY(MN_NEW(ctx, "corners", 8, &s->corner));
  MN_TRY(MN_NEW(ctx, "corners", 8, &s->normal));
  for (int k = 0; k < 8; k++) {
    mn_vec3 side = mn_v3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1);
    s->normal[s->corners] = mn_scale(1 / sqrt(3), side);
    s->corner[s->corners] = b->a;
    for (int a = 0; a < 3; a++)
      s->corner[s->corners].v[a] += side.v[a] * b->b.v[a];
    s->corners++;
  }
  for (int k = 0; k < 8; k++)
    for (int a = 0; a < 3; a++)
      if (!(k >> a & 1)) {
        mn_sharp_edge *e = &s->edge[s->edges++];
        int p = (a + 1) % 3, q = (a + 2) % 3;
        *e = (mn_sharp_edge){.end = {s->corner[k], s->corner[k | 1 << a]}};
        e->into[0].v[p] = k >> p & 1 ? -1 : 1;
        e->into[1].v[q] = k >> q & 1 ? -1 : 1;
        e->out[0] = mn_scale(-1, e->into[1]);
        e->out[1] = mn_scale(-1, e->into[0]);
      }
  return MN_OK;
}

/* Two polygons touch with corners alone: these are the edges, across the plane, of no length. */
static mn_status of_rectangle(mn_context *ctx, const mn_shape *b, mn_sharp *s)
{
  MN_TRY(MN_NEW(ctx, "sharp edges", 4, &s->edge));
  MN_TRY(MN_NEW(ctx, "corners", 4, &s->corner));
  MN_TRY(MN_NEW(ctx, "corners", 4, &s->normal));
  for (int k = 0; k < 4; k++) {
    mn_vec3 side = mn_v3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, 0);
    s->normal[s->corners] = mn_scale(1 / sqrt(2), side);
    s->corner[s->corners++] = mn_v3(b->a.x + side.x * b->b.x, b->a.y + side.y * b->b.y, 0);
    mn_sharp_edge *e = &s->edge[s->edges++];
    *e = (mn_sharp_edge){.end = {s->corner[k], s->corner[k]}};
    e->out[0] = mn_v3(side.x, 0, 0), e->out[1] = mn_v3(0, side.y, 0);
    e->into[0] = mn_scale(-1, e->out[1]), e->into[1] = mn_scale(-1, e->out[0]);
  }
  return MN_OK;
}

/* ---- meshes ---------------------------------------------------------------------------------- */

typedef struct side {
  uint32_t lo, hi, triangle;
} side;

static int by_ends(const void *pa, const void *pb)
{
  const side *a = pa, *b = pb;
  if (a->lo != b->lo)
    return a->lo < b->lo ? -1 : 1;
  if (a->hi != b->hi)
    return a->hi < b->hi ? -1 : 1;
  return a->triangle < b->triangle ? -1 : a->triangle > b->triangle;
}

static mn_vec3 outward(const mn_mesh *m, uint32_t t)
{
  const uint32_t *v = m->triangle[t];
  mn_vec3 n =
      mn_cross(mn_sub(m->vertex[v[1]], m->vertex[v[0]]), mn_sub(m->vertex[v[2]], m->vertex[v[0]]));
  double length = mn_length(n);
  return length > 0 ? mn_scale(1 / length, n) : n;
}

/* Unit, in the triangle's plane, away from its edge. */
static mn_vec3 into(const mn_mesh *m, const side *s, mn_vec3 along, mn_vec3 n)
{
  const uint32_t *v = m->triangle[s->triangle];
  uint32_t other = v[0] != s->lo && v[0] != s->hi   ? v[0]
                   : v[1] != s->lo && v[1] != s->hi ? v[1]
                                                    : v[2];
  mn_vec3 f = mn_cross(n, along);
  return mn_dot(f, mn_sub(m->vertex[other], m->vertex[s->lo])) < 0 ? mn_scale(-1, f) : f;
}

/* What a vertex has of sharp edges: how many, and the last two. */
typedef struct hub {
  uint32_t count, edge[2];
} hub;

static mn_status mesh_edges(mn_context *ctx, const mn_mesh *m, const side *sides, double least,
                            hub *hubs, mn_sharp *s)
{
  size_t n = 3 * m->triangles;
  MN_TRY(MN_NEW(ctx, "sharp edges", n / 2, &s->edge));
  for (size_t i = 0; i + 1 < n; i += 2) { /* a closed surface has two triangles at every edge */
    mn_vec3 a = m->vertex[sides[i].lo], b = m->vertex[sides[i].hi], along = mn_sub(b, a);
    mn_vec3 n0 = outward(m, sides[i].triangle), n1 = outward(m, sides[i + 1].triangle);
    double length = mn_length(along);
    if (!(length > 0))
      continue;
    along = mn_scale(1 / length, along);
    mn_vec3 f0 = into(m, &sides[i], along, n0), f1 = into(m, &sides[i + 1], along, n1);
    double turn = atan2(mn_length(mn_cross(n0, n1)), mn_dot(n0, n1));
    if (mn_dot(f0, n1) >= 0 || mn_dot(f1, n0) >= 0 || length * turn / 8 <= least)
      continue;
    uint32_t ends[2] = {sides[i].lo, sides[i].hi};
    for (int k = 0; k < 2; k++) {
      hub *h = &hubs[ends[k]];
      h->edge[h->count++ % 2] = (uint32_t)s->edges;
    }
    s->edge[s->edges++] = (mn_sharp_edge){.end = {a, b}, .into = {f0, f1}, .out = {n0, n1}};
  }
  return MN_OK;
}

/* Whether the two edges at a vertex are one; both then go on there. */
static int joins(mn_sharp *s, const hub *h, mn_vec3 x)
{
  mn_vec3 way[2];
  int at[2];
  if (h->count != 2)
    return 0;
  for (int k = 0; k < 2; k++) {
    const mn_sharp_edge *e = &s->edge[h->edge[k]];
    at[k] = !(e->end[0].x == x.x && e->end[0].y == x.y && e->end[0].z == x.z);
    way[k] = mn_sub(e->end[!at[k]], x);
    way[k] = mn_scale(1 / mn_length(way[k]), way[k]);
  }
  if (mn_dot(way[0], way[1]) > 0 || mn_length(mn_cross(way[0], way[1])) > STRAIGHT)
    return 0;
  for (int k = 0; k < 2; k++)
    s->edge[h->edge[k]].goes_on[at[k]] = 1;
  return 1;
}

/* Normals by the angles that triangles have at a vertex: these do not depend on how a face is cut.
 */
static mn_status mesh_corners(mn_context *ctx, const mn_mesh *m, const hub *hubs, mn_sharp *s)
{
  MN_TRY(MN_NEW(ctx, "corners", m->vertices, &s->corner));
  MN_TRY(MN_NEW(ctx, "corners", m->vertices, &s->normal));
  for (size_t t = 0; t < m->triangles; t++) {
    const uint32_t *v = m->triangle[t];
    mn_vec3 n = outward(m, (uint32_t)t);
    for (int c = 0; c < 3; c++) {
      mn_vec3 p = mn_sub(m->vertex[v[(c + 1) % 3]], m->vertex[v[c]]);
      mn_vec3 q = mn_sub(m->vertex[v[(c + 2) % 3]], m->vertex[v[c]]);
      double angle = atan2(mn_length(mn_cross(p, q)), mn_dot(p, q));
      s->normal[v[c]] = mn_madd(s->normal[v[c]], angle, n);
    }
  }
  for (size_t i = 0; i < m->vertices; i++) {
    double length = mn_length(s->normal[i]);
    if (!(length > 0) || joins(s, &hubs[i], m->vertex[i])) /* also those that no triangle uses */
      continue;
    s->normal[s->corners] = mn_scale(1 / length, s->normal[i]);
    s->corner[s->corners++] = m->vertex[i];
  }
  return MN_OK;
}

static mn_status of_mesh(mn_context *ctx, const mn_mesh *m, double least, mn_sharp *s)
{
  side *sides = NULL;
  hub *hubs = NULL;
  size_t n = 3 * m->triangles;
  mn_status status = MN_NEW(ctx, "mesh edges", n, &sides);
  if (status == MN_OK)
    status = MN_NEW(ctx, "vertices", m->vertices, &hubs);
  for (size_t i = 0; i < n && status == MN_OK; i++) {
    uint32_t a = m->triangle[i / 3][i % 3], b = m->triangle[i / 3][(i + 1) % 3];
    sides[i] = (side){a < b ? a : b, a < b ? b : a, (uint32_t)(i / 3)};
  }
  if (status == MN_OK) {
    qsort(sides, n, sizeof *sides, by_ends);
    status = mesh_edges(ctx, m, sides, least, hubs, s);
  }
  if (status == MN_OK)
    status = mesh_corners(ctx, m, hubs, s);
  mn_free(sides);
  mn_free(hubs);
  return status;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static mn_vec3 turned(const mn_shape *t, mn_vec3 v)
{
  return mn_v3(mn_dot(t->row[0], v), mn_dot(t->row[1], v), mn_dot(t->row[2], v));
}

static mn_vec3 placed(const mn_shape *t, mn_vec3 x)
{
  return mn_add(t->a, turned(t, mn_scale(t->r, x)));
}

static mn_status find(mn_context *ctx, const mn_shape *shape, double least, mn_sharp *s)
{
  if (shape->kind == MN_SHAPE_BOX)
    return shape->dim == 3 ? of_box(ctx, shape, s) : of_rectangle(ctx, shape, s);
  if (shape->kind == MN_SHAPE_MESH && shape->dim == 3)
    return of_mesh(ctx, shape->mesh, least, s);
  if (shape->kind != MN_SHAPE_TRANSFORM)
    return MN_OK;
  MN_TRY(find(ctx, shape->part[0], least / shape->r, s));
  for (size_t i = 0; i < s->corners; i++) {
    s->corner[i] = placed(shape, s->corner[i]);
    s->normal[i] = turned(shape, s->normal[i]);
  }
  for (size_t i = 0; i < s->edges; i++)
    for (int k = 0; k < 2; k++) {
      s->edge[i].end[k] = placed(shape, s->edge[i].end[k]);
      s->edge[i].into[k] = turned(shape, s->edge[i].into[k]);
      s->edge[i].out[k] = turned(shape, s->edge[i].out[k]);
    }
  return MN_OK;
}

mn_status mn_sharp_find(mn_context *ctx, const mn_shape *shape, double least, mn_sharp *sharp)
{
  *sharp = (mn_sharp){0};
  mn_status status = find(ctx, shape, least, sharp);
  if (status != MN_OK)
    mn_sharp_destroy(sharp);
  return status;
}

void mn_sharp_destroy(mn_sharp *s)
{
  mn_free(s->edge);
  mn_free(s->corner);
  mn_free(s->normal);
  *s = (mn_sharp){0};
}
