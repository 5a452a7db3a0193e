/* Edges and corners of compositions that a lattice cut off come back [Kobbelt 2001].

   Where the normals at the corners of a triangle differ, it lies across an edge of the shape. The
   crossing of the tangent planes there, of two the point nearest to the triangle's middle, of three
   a corner, lies on the edge if it is near the surface. First nodes that are near such a point move
   there; they have no normal any more. Then the triangles that still lie across become fans around
   their points, and every side that crosses the edge, between two fans, is turned to join these:
   the edge is a chain of sides of the mesh. Where three tangent planes meet near points of edges,
   the nearest of these moves to the corner. In 2D a segment is cut in two.

   The surface stays closed; steps that would fold it are left out. Limits: edges sharper than 37
   degrees only; where a surface is curved the point misses it by a curvature times the square of
   the spacing; triangles beside an edge may be thin.
   Verified by tests/unit/geom/test_surface_mesh.c. */
#include <stdlib.h>

#include "base/memory.h"
#include "base/status.h"
#include "geom/surface_build.h"
#include "math/vec.h"

static const double SHARP = 0.8;   /* cosine of about 37 degrees between normals */
static const double NEAR = 0.05;   /* spacings: how far a new point may be off the surface */
static const double SNAP = 0.25;   /* spacings: a node nearer to a point of an edge moves there */
static const double CREASE = 0.95; /* slope of the distance: less is on an edge */
static const double CORNER = 0.2;  /* determinant of three normals of a corner */

/* 0 on an edge. */
static mn_vec3 normal_at(const mn_shape *s, mn_vec3 x, double h)
{
  mn_vec3 g = mn_v3(0, 0, 0);
  for (int a = 0; a < s->dim; a++) {
    mn_vec3 lo = x, hi = x;
    lo.v[a] -= 1e-7 * h, hi.v[a] += 1e-7 * h;
    g.v[a] = mn_shape_distance(s, hi) - mn_shape_distance(s, lo);
  }
  double length = mn_length(g), slope = length / (2e-7 * h);
  return slope > CREASE ? mn_scale(1 / length, g) : mn_v3(0, 0, 0);
}

static int has_normal(mn_vec3 n)
{
  return mn_dot(n, n) > 0;
}

/* c + p n1 + q n2 on the planes n1.(x - x1) = 0 and n2.(x - x2) = 0. */
static mn_vec3 on_two(mn_vec3 c, mn_vec3 n1, mn_vec3 x1, mn_vec3 n2, mn_vec3 x2)
{
  double k = mn_dot(n1, n2), e1 = mn_dot(n1, mn_sub(x1, c)), e2 = mn_dot(n2, mn_sub(x2, c));
  double det = 1 - k * k;
  return mn_madd(mn_madd(c, (e1 - k * e2) / det, n1), (e2 - k * e1) / det, n2);
}

static int accepted(const mn_shape *s, mn_vec3 c, mn_vec3 x, double h)
{
  return mn_length(mn_sub(x, c)) < h && fabs(mn_shape_distance(s, x)) < NEAR * h;
}

/* ---- segments -------------------------------------------------------------------------------- */

static mn_status sharpen_flat(mn_surface_build *b, const mn_shape *s)
{
  mn_simplex_mesh *m = b->mesh;
  size_t elements = m->elements;
  for (size_t e = 0; e < elements; e++) {
    uint32_t from = m->element[2 * e], to = m->element[2 * e + 1], node;
    mn_vec3 x = m->node[from], y = m->node[to], c = mn_scale(0.5, mn_add(x, y));
    mn_vec3 nx = normal_at(s, x, b->spacing), ny = normal_at(s, y, b->spacing);
    double turn = has_normal(nx) && has_normal(ny) ? mn_dot(nx, ny) : 1;
    if (turn > SHARP || turn < -0.99)
      continue;
    mn_vec3 corner = on_two(c, nx, x, ny, y);
    if (!accepted(s, c, corner, b->spacing))
      continue;
    MN_TRY(mn_build_node(b, corner, &node));
    m->element[2 * e + 1] = node;
    MN_TRY(mn_build_element(b, node, to, 0));
  }
  return MN_OK;
}

/* ---- triangles ------------------------------------------------------------------------------- */

typedef struct side {
  uint32_t low, high, triangle;
  int slot;
} side;

typedef struct sharpening {
  mn_surface_build *b;
  const mn_shape *shape;
  size_t triangles, nodes; /* as they were */
  uint32_t *old;           /* [3 * triangles], as they were */
  mn_vec3 *normal;         /* of the nodes as they were */
  uint32_t *point;         /* of each triangle: the new node; UINT32_MAX: none */
  side *sides;             /* [3 * triangles] */
  uint8_t *turned; /* of each side of each triangle: 1 replaced by its neighbour's, 2 turned here */
  uint32_t *across; /* the new node beyond it */
  double *way;      /* of the nodes: m, to a point of an edge; HUGE_VAL: none near */
  mn_vec3 *to;      /* and that point */
} sharpening;

static int compare(const void *pa, const void *pb)
{
  const side *a = pa, *b = pb;
  if (a->low != b->low)
    return a->low < b->low ? -1 : 1;
  if (a->high != b->high)
    return a->high < b->high ? -1 : 1;
  return a->triangle < b->triangle ? -1 : a->triangle > b->triangle;
}

static mn_vec3 area_of(const mn_simplex_mesh *m, uint32_t i, uint32_t j, uint32_t k)
{
  return mn_cross(mn_sub(m->node[j], m->node[i]), mn_sub(m->node[k], m->node[i]));
}

/* Whether two nodes lie on different sides of an edge. */
static int differ(const sharpening *s, uint32_t i, uint32_t j)
{
  return has_normal(s->normal[i]) && has_normal(s->normal[j]) &&
         mn_dot(s->normal[i], s->normal[j]) < SHARP;
}

/* The point of an edge or corner (*corner) under a triangle; 0: there is none. */
static int find_point(const sharpening *s, const uint32_t *t, mn_vec3 *out, int *corner)
{
  const mn_simplex_mesh *m = s->b->mesh;
  mn_vec3 x[3], n[3], c = mn_v3(0, 0, 0);
  double least = SHARP;
  int i = -1;
  for (int k = 0; k < 3; k++) {
    x[k] = m->node[t[k]], n[k] = s->normal[t[k]];
    c = mn_madd(c, 1.0 / 3, x[k]);
  }
  for (int k = 0; k < 3; k++) /* the two that differ most */
    if (differ(s, t[k], t[(k + 1) % 3]) && mn_dot(n[k], n[(k + 1) % 3]) < least)
      i = k, least = mn_dot(n[k], n[(k + 1) % 3]);
  if (i < 0 || least < -0.99)
    return 0;
  int j = (i + 1) % 3, rest = (i + 2) % 3;
  mn_vec3 along = mn_cross(n[i], n[j]);
  double det = mn_dot(along, n[rest]);
  *out = on_two(c, n[i], x[i], n[j], x[j]);
  *corner = fabs(det) > CORNER;
  if (*corner) /* along the line of the two to the third plane */
    *out = mn_madd(*out, mn_dot(n[rest], mn_sub(x[rest], *out)) / det, along);
  return accepted(s->shape, c, *out, s->b->spacing);
}

/* Nodes near points of edges move there, corners first. */
static void snap(sharpening *s)
{
  mn_simplex_mesh *m = s->b->mesh;
  size_t nodes = m->nodes;
  for (size_t i = 0; i < nodes; i++)
    s->way[i] = HUGE_VAL, s->to[i] = m->node[i];
  for (size_t t = 0; t < s->triangles; t++) {
    const uint32_t *c = s->old + 3 * t;
    mn_vec3 x;
    int corner;
    if (!find_point(s, c, &x, &corner))
      continue;
    for (int k = 0; k < 3; k++) {
      double way = mn_length(mn_sub(x, m->node[c[k]]));
      if (way >= SNAP * s->b->spacing)
        continue;
      way *= corner ? 0.01 : 1;
      if (way < s->way[c[k]])
        s->way[c[k]] = way, s->to[c[k]] = x;
    }
  }
  for (size_t t = 0; t < s->triangles; t++) { /* none may turn over */
    const uint32_t *c = s->old + 3 * t;
    mn_vec3 before = area_of(m, c[0], c[1], c[2]);
    mn_vec3 after = mn_cross(mn_sub(s->to[c[1]], s->to[c[0]]), mn_sub(s->to[c[2]], s->to[c[0]]));
    for (int k = 0; k < 3 && mn_dot(before, after) <= 0.2 * mn_dot(before, before); k++)
      s->way[c[k]] = HUGE_VAL;
  }
  for (size_t i = 0; i < nodes; i++)
    if (s->way[i] < HUGE_VAL)
      m->node[i] = s->to[i], s->normal[i] = mn_v3(0, 0, 0);
}

static mn_status add_points(sharpening *s)
{
  mn_simplex_mesh *m = s->b->mesh;
  for (size_t t = 0; t < s->triangles; t++) {
    const uint32_t *corner = s->old + 3 * t;
    mn_vec3 x;
    int at_corner;
    s->point[t] = UINT32_MAX;
    if (!find_point(s, corner, &x, &at_corner))
      continue;
    MN_TRY(mn_build_node(s->b, x, &s->point[t]));
    int folds = 0;
    for (int k = 0; k < 3; k++) {
      uint32_t i = corner[k], j = corner[(k + 1) % 3];
      mn_vec3 n = has_normal(s->normal[i]) ? s->normal[i] : s->normal[j];
      folds |= !differ(s, i, j) && mn_dot(area_of(m, s->point[t], i, j), n) <= 0;
    }
    if (folds) {
      m->nodes--;
      s->point[t] = UINT32_MAX;
    }
  }
  return MN_OK;
}

/* Sides across the edge, between two fans. */
static void turn_sides(sharpening *s)
{
  const mn_simplex_mesh *m = s->b->mesh;
  size_t count = 3 * s->triangles;
  for (size_t i = 0; i < count; i++) {
    uint32_t a = s->old[i], b = s->old[i / 3 * 3 + (i + 1) % 3];
    s->sides[i] = (side){a < b ? a : b, a < b ? b : a, (uint32_t)(i / 3), (int)(i % 3)};
  }
  qsort(s->sides, count, sizeof *s->sides, compare);
  for (size_t i = 0; i + 1 < count; i++) {
    const side *one = s->sides + i, *two = one + 1;
    if (one->low != two->low || one->high != two->high)
      continue;
    size_t e1 = 3 * (size_t)one->triangle + (size_t)one->slot;
    size_t e2 = 3 * (size_t)two->triangle + (size_t)two->slot;
    uint32_t a = s->old[e1], b = a == one->low ? one->high : one->low;
    uint32_t p = s->point[one->triangle], q = s->point[two->triangle];
    if (p == UINT32_MAX || q == UINT32_MAX || !differ(s, a, b))
      continue;
    if (mn_dot(area_of(m, p, a, q), s->normal[a]) <= 0 ||
        mn_dot(area_of(m, q, b, p), s->normal[b]) <= 0)
      continue;
    s->turned[e1] = 2, s->turned[e2] = 1;
    s->across[e1] = q;
  }
}

static mn_status add_fans(sharpening *s)
{
  s->b->mesh->elements = 0;
  for (size_t t = 0; t < s->triangles; t++) {
    const uint32_t *c = s->old + 3 * t;
    uint32_t p = s->point[t];
    if (p == UINT32_MAX)
      MN_TRY(mn_build_element(s->b, c[0], c[1], c[2]));
    for (size_t k = 0; k < 3 && p != UINT32_MAX; k++) {
      uint32_t a = c[k], b = c[(k + 1) % 3], q = s->across[3 * t + k];
      if (s->turned[3 * t + k] == 0)
        MN_TRY(mn_build_element(s->b, p, a, b));
      if (s->turned[3 * t + k] == 2) {
        MN_TRY(mn_build_element(s->b, p, a, q));
        MN_TRY(mn_build_element(s->b, q, b, p));
      }
    }
  }
  return MN_OK;
}

/* ---- corners --------------------------------------------------------------------------------- */

/* Tangent planes that meet near a point of an edge. */
typedef struct meeting {
  int count;
  mn_vec3 n[3], x[3];
  mn_vec3 corner; /* where three meet */
  double way;     /* m, to it; HUGE_VAL: nowhere near */
} meeting;

static void add_plane(meeting *m, mn_vec3 n, mn_vec3 x)
{
  for (int k = 0; k < m->count; k++)
    if (mn_dot(n, m->n[k]) > SHARP)
      return;
  if (m->count < 3)
    m->n[m->count] = n, m->x[m->count++] = x;
}

static mn_vec3 normal_of(const sharpening *s, uint32_t node)
{
  return node < s->nodes ? s->normal[node] : mn_v3(0, 0, 0);
}

/* Planes of the neighbours; in a second round also those of neighbours on edges. */
static void meet(const sharpening *s, meeting *at, const meeting *before)
{
  const mn_simplex_mesh *m = s->b->mesh;
  for (size_t e = 0; e < m->elements; e++)
    for (size_t k = 0; k < 3; k++)
      for (size_t j = 1; j < 3; j++) {
        uint32_t v = m->element[3 * e + k], w = m->element[3 * e + (k + j) % 3];
        mn_vec3 n = normal_of(s, w);
        if (has_normal(normal_of(s, v)))
          continue;
        if (has_normal(n))
          add_plane(&at[v], n, m->node[w]);
        for (int i = 0; before && !has_normal(n) && i < before[w].count; i++)
          add_plane(&at[v], before[w].n[i], before[w].x[i]);
      }
}

static void find_corner(const sharpening *s, mn_vec3 x, meeting *m)
{
  m->way = HUGE_VAL;
  if (m->count < 3)
    return;
  mn_vec3 along = mn_cross(m->n[0], m->n[1]);
  double det = mn_dot(along, m->n[2]);
  if (fabs(det) < CORNER)
    return;
  m->corner = on_two(x, m->n[0], m->x[0], m->n[1], m->x[1]);
  m->corner = mn_madd(m->corner, mn_dot(m->n[2], mn_sub(m->x[2], m->corner)) / det, along);
  if (accepted(s->shape, x, m->corner, s->b->spacing))
    m->way = mn_length(mn_sub(m->corner, x));
}

/* Of those that could move to one corner only the nearest does, if no triangle turns over. */
static void move_to_corners(sharpening *s, meeting *at)
{
  mn_simplex_mesh *m = s->b->mesh;
  for (size_t e = 0; e < m->elements; e++) {
    const uint32_t *c = m->element + 3 * e;
    mn_vec3 before = area_of(m, c[0], c[1], c[2]);
    for (int k = 0; k < 3; k++) {
      meeting *v = &at[c[k]];
      if (v->way == HUGE_VAL)
        continue;
      mn_vec3 x = m->node[c[(k + 1) % 3]], y = m->node[c[(k + 2) % 3]];
      mn_vec3 after = mn_cross(mn_sub(x, v->corner), mn_sub(y, v->corner));
      if (mn_dot(before, after) < -0.1 * mn_length(before) * mn_length(after))
        v->way = HUGE_VAL;
    }
  }
  size_t count = 0; /* those that are left, in front */
  for (size_t i = 0; i < m->nodes; i++)
    if (at[i].way < HUGE_VAL) {
      meeting moved = at[i];
      moved.count = (int)i;
      at[count++] = moved;
    }
  for (size_t i = 0; i < count; i++) {
    int nearest = 1;
    for (size_t j = 0; j < count && nearest; j++)
      nearest = j == i || mn_length(mn_sub(at[i].corner, at[j].corner)) > 0.5 * s->b->spacing ||
                at[i].way < at[j].way || (at[i].way == at[j].way && i < j);
    if (nearest)
      m->node[at[i].count] = at[i].corner;
  }
}

static mn_status sharpen_corners(sharpening *s)
{
  const mn_simplex_mesh *m = s->b->mesh;
  meeting *one = NULL, *two = NULL;
  mn_status status = MN_NEW(s->b->ctx, "corners of a surface", m->nodes, &one);
  if (status == MN_OK)
    status = MN_NEW(s->b->ctx, "corners of a surface", m->nodes, &two);
  if (status == MN_OK) {
    meet(s, one, NULL);
    meet(s, two, one);
    for (size_t i = 0; i < m->nodes; i++)
      find_corner(s, m->node[i], &two[i]);
    move_to_corners(s, two);
  }
  mn_free(one);
  mn_free(two);
  return status;
}

static mn_status sharpen(sharpening *s)
{
  mn_context *ctx = s->b->ctx;
  const mn_simplex_mesh *m = s->b->mesh;
  size_t sides = 3 * s->triangles;
  MN_TRY(MN_NEW(ctx, "triangles of a surface", sides, &s->old));
  MN_TRY(MN_NEW(ctx, "normals of a surface", m->nodes, &s->normal));
  MN_TRY(MN_NEW(ctx, "edges of a surface", s->triangles, &s->point));
  MN_TRY(MN_NEW(ctx, "edges of a surface", sides, &s->sides));
  MN_TRY(MN_NEW(ctx, "edges of a surface", sides, &s->turned));
  MN_TRY(MN_NEW(ctx, "edges of a surface", sides, &s->across));
  MN_TRY(MN_NEW(ctx, "edges of a surface", m->nodes, &s->way));
  MN_TRY(MN_NEW(ctx, "edges of a surface", m->nodes, &s->to));
  for (size_t i = 0; i < sides; i++)
    s->old[i] = m->element[i];
  int threads = mn_context_threads(ctx);
  int64_t nodes = (int64_t)m->nodes;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int64_t i = 0; i < nodes; i++)
    s->normal[i] = normal_at(s->shape, m->node[i], s->b->spacing);
  snap(s);
  MN_TRY(add_points(s));
  turn_sides(s);
  MN_TRY(add_fans(s));
  return sharpen_corners(s);
}

mn_status mn_build_sharp(mn_surface_build *b, const mn_shape *shape)
{
  b->node_capacity = b->mesh->nodes, b->element_capacity = b->mesh->elements;
  if (shape->dim == 2)
    return sharpen_flat(b, shape);
  sharpening s = {.b = b, .shape = shape, .triangles = b->mesh->elements, .nodes = b->mesh->nodes};
  mn_status status = sharpen(&s);
  void *all[] = {s.old, s.normal, s.point, s.sides, s.turned, s.across, s.way, s.to};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    mn_free(all[i]);
  return status;
}
