/* Closed surface meshes of shapes.

   2D: boxes, disks, capsules and rings are polygons through evenly spaced points. 3D: boxes have a
   lattice on each face, spheres are icosahedra's (structured_round.c), capsules, cylinders and tori
   rings of points around their axis, stitched together (surface_revolve.c); files are cut where
   their triangles are too large. Compositions: the boundary of their filling (fill.c), with the
   edges and corners that it cuts off put back (surface_sharpen.c).
   Verified by tests/unit/geom/test_surface_mesh.c. */
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "geom/fill.h"
#include "geom/shape.h"
#include "geom/structured.h"
#include "geom/surface_build.h"
#include "math/vec.h"

enum {
  FINER = 6,    /* halvings of a filling's spacing, */
  FINEST = 150, /* none beyond so many cells across */
  AROUND = 12   /* least points of a circle */
};

mn_status mn_build_node(mn_surface_build *b, mn_vec3 x, uint32_t *out)
{
  mn_simplex_mesh *m = b->mesh;
  if (m->nodes == b->node_capacity) {
    size_t more = 2 * m->nodes + 64;
    MN_TRY(
        mn_grow(b->ctx, "nodes of a surface", m->nodes, more, sizeof *m->node, (void **)&m->node));
    b->node_capacity = more;
  }
  *out = (uint32_t)m->nodes;
  m->node[m->nodes++] = x;
  return MN_OK;
}

mn_status mn_build_element(mn_surface_build *b, uint32_t i, uint32_t j, uint32_t k)
{
  mn_simplex_mesh *m = b->mesh;
  size_t corners = (size_t)m->corners;
  if (m->elements == b->element_capacity) {
    size_t more = 2 * m->elements + 64;
    MN_TRY(mn_grow(b->ctx, "elements of a surface", corners * m->elements, corners * more,
                   sizeof *m->element, (void **)&m->element));
    b->element_capacity = more;
  }
  uint32_t *e = m->element + corners * m->elements++;
  e[0] = i, e[1] = j;
  if (corners == 3)
    e[2] = k;
  return MN_OK;
}

int mn_build_pieces(double length, double spacing, int least)
{
  double n = ceil(length / spacing - 1e-9);
  return n < least ? least : n > 1e6 ? 1000000 : (int)n;
}

/* ---- two dimensions -------------------------------------------------------------------------- */

/* The nodes since `first` as a closed polygon. */
static mn_status close_loop(mn_surface_build *b, size_t first)
{
  size_t n = b->mesh->nodes;
  for (size_t i = first; i < n; i++)
    MN_TRY(mn_build_element(b, (uint32_t)i, (uint32_t)(i + 1 < n ? i + 1 : first), 0));
  return MN_OK;
}

/* Without its end. */
static mn_status add_arc(mn_surface_build *b, mn_vec3 c, double r, double from, double to)
{
  int n = mn_build_pieces(r * fabs(to - from), b->spacing,
                          (int)ceil(AROUND * fabs(to - from) / (2 * MN_PI) - 1e-9));
  uint32_t node;
  n += n % 2; /* a circle that is symmetric about its centre has no torque */
  for (int i = 0; i < n; i++) {
    double t = from + (to - from) * i / n;
    MN_TRY(mn_build_node(b, mn_madd(c, r, mn_v3(cos(t), sin(t), 0)), &node));
  }
  return MN_OK;
}

static mn_status add_line(mn_surface_build *b, mn_vec3 from, mn_vec3 to)
{
  mn_vec3 way = mn_sub(to, from);
  int n = mn_build_pieces(mn_length(way), b->spacing, 1);
  uint32_t node;
  for (int i = 0; i < n; i++)
    MN_TRY(mn_build_node(b, mn_madd(from, (double)i / n, way), &node));
  return MN_OK;
}

static mn_status flat_box(mn_surface_build *b, const mn_shape *s)
{
  mn_vec3 c[4];
  for (int i = 0; i < 4; i++)
    c[i] = mn_add(s->a, mn_v3(i == 1 || i == 2 ? s->b.x : -s->b.x, i >= 2 ? s->b.y : -s->b.y, 0));
  for (int i = 0; i < 4; i++)
    MN_TRY(add_line(b, c[i], c[(i + 1) % 4]));
  return close_loop(b, 0);
}

static mn_status stadium(mn_surface_build *b, const mn_shape *c)
{
  double t = atan2(c->b.y, c->b.x), length = mn_length(c->b);
  if (!(length > 0)) {
    MN_TRY(add_arc(b, c->a, c->r, 0, 2 * MN_PI));
    return close_loop(b, 0);
  }
  mn_vec3 end = mn_add(c->a, c->b), n = mn_v3(c->b.y * c->r / length, -c->b.x * c->r / length, 0);
  MN_TRY(add_line(b, mn_add(c->a, n), mn_add(end, n)));
  MN_TRY(add_arc(b, end, c->r, t - MN_PI / 2, t + MN_PI / 2));
  MN_TRY(add_line(b, mn_sub(end, n), mn_sub(c->a, n)));
  MN_TRY(add_arc(b, c->a, c->r, t + MN_PI / 2, t + 1.5 * MN_PI));
  return close_loop(b, 0);
}

static mn_status flat_surface(mn_surface_build *b, const mn_shape *s)
{
  if (s->kind == MN_SHAPE_BOX)
    return flat_box(b, s);
  if (s->kind == MN_SHAPE_CAPSULE)
    return stadium(b, s);
  MN_TRY(add_arc(b, s->a, s->kind == MN_SHAPE_TORUS ? s->R + s->r : s->r, 0, 2 * MN_PI));
  MN_TRY(close_loop(b, 0));
  if (s->kind != MN_SHAPE_TORUS)
    return MN_OK;
  size_t first = b->mesh->nodes;
  MN_TRY(add_arc(b, s->a, s->R - s->r, 2 * MN_PI, 0));
  return close_loop(b, first);
}

/* ---- boxes ----------------------------------------------------------------------------------- */

static mn_status box_node(mn_surface_build *b, const mn_shape *s, const int n[3], const int at[3],
                          uint32_t *number, uint32_t *out)
{
  size_t key = ((size_t)at[2] * (size_t)(n[1] + 1) + (size_t)at[1]) * (size_t)(n[0] + 1);
  uint32_t *known = number + key + (size_t)at[0];
  if (!*known) {
    mn_vec3 x = s->a;
    for (int a = 0; a < 3; a++)
      x.v[a] += s->b.v[a] * (2.0 * at[a] / n[a] - 1);
    MN_TRY(mn_build_node(b, x, known));
    ++*known;
  }
  *out = *known - 1;
  return MN_OK;
}

static mn_status box_face(mn_surface_build *b, const mn_shape *s, const int n[3], int a, int side,
                          uint32_t *number)
{
  int p = (a + 1) % 3, q = (a + 2) % 3, at[3];
  at[a] = side ? n[a] : 0;
  for (int j = 0; j < n[q]; j++)
    for (int i = 0; i < n[p]; i++) {
      uint32_t c[4];
      for (int k = 0; k < 4; k++) { /* counter-clockwise from +a */
        at[p] = i + (k == 1 || k == 2), at[q] = j + (k >= 2);
        MN_TRY(box_node(b, s, n, at, number, &c[side ? k : 3 - k]));
      }
      int turn = (i + j) % 2; /* diagonals alternate */
      for (int k = 0; k < 2; k++)
        MN_TRY(mn_build_element(b, c[turn], c[(turn + 1 + k) % 4], c[(turn + 2 + k) % 4]));
    }
  return MN_OK;
}

static mn_status solid_box(mn_surface_build *b, const mn_shape *s)
{
  int n[3];
  uint32_t *number;
  for (int a = 0; a < 3; a++)
    n[a] = mn_build_pieces(2 * s->b.v[a], b->spacing, 1);
  MN_TRY(MN_NEW(b->ctx, "a box's lattice",
                (size_t)(n[0] + 1) * (size_t)(n[1] + 1) * (size_t)(n[2] + 1), &number));
  mn_status status = MN_OK;
  for (int f = 0; f < 6 && status == MN_OK; f++)
    status = box_face(b, s, n, f / 2, f % 2, number);
  mn_free(number);
  return status;
}

/* ---- files and compositions ------------------------------------------------------------------ */

static mn_status file_surface(mn_context *ctx, const mn_mesh *file, double spacing,
                              mn_simplex_mesh *mesh)
{
  mn_refined fine;
  MN_TRY(mn_surface_refine(ctx, 3, file->vertex, file->vertices, &file->triangle[0][0],
                           file->triangles, MN_LONGEST_EDGE * spacing, &fine));
  mn_status status = mn_simplex_mesh_create(ctx, 3, 3, fine.points, fine.elements, mesh);
  for (size_t i = 0; i < fine.points && status == MN_OK; i++)
    for (int c = 0; c < 3; c++)
      mesh->node[i] = mn_madd(mesh->node[i], fine.weight[i][c],
                              file->vertex[file->triangle[fine.parent[i]][c]]);
  if (status == MN_OK)
    memcpy(mesh->element, fine.element, 3 * fine.elements * sizeof *fine.element);
  mn_refined_destroy(&fine);
  return status;
}

static mn_status filled_surface(mn_surface_build *b, const mn_shape *s)
{
  mn_simplex_mesh full;
  mn_vec3 lo, hi;
  mn_shape_bounds(s, &lo, &hi);
  double h = b->spacing, least = mn_length(mn_sub(hi, lo)) / FINEST;
  mn_status status = mn_fill(b->ctx, s, h, &full);
  for (int k = 0; k < FINER && h > least && status == MN_BAD_INPUT; k++) /* thinner than h */
    status = mn_fill(b->ctx, s, h /= 2, &full);
  MN_TRY(status);
  status = mn_surface_of_mesh(b->ctx, &full, b->mesh);
  mn_simplex_mesh_destroy(&full);
  return status == MN_OK ? mn_build_sharp(b, s) : status;
}

/* ---- any shape ------------------------------------------------------------------------------- */

static mn_status surface(mn_surface_build *b, const mn_shape *s)
{
  switch (s->kind) {
  case MN_SHAPE_HALF_SPACE:
    return mn_fail(b->ctx, MN_BAD_INPUT, "the surface of a half-space has no end: no mesh of it");
  case MN_SHAPE_UNION:
  case MN_SHAPE_INTERSECTION:
  case MN_SHAPE_DIFFERENCE:
    return filled_surface(b, s);
  case MN_SHAPE_MESH:
    return file_surface(b->ctx, s->mesh, b->spacing, b->mesh);
  default:
    break;
  }
  if (s->dim == 2)
    return flat_surface(b, s);
  if (s->kind == MN_SHAPE_BOX)
    return solid_box(b, s);
  if (s->kind == MN_SHAPE_SPHERE) /* the longest edges are 1.33 r/n */
    return mn_mesh_sphere(b->ctx, s->a, s->r, mn_build_pieces(1.2 * s->r, b->spacing, 2), b->mesh);
  return mn_build_revolved(b, s);
}

void mn_shape_place(const mn_shape *transform, mn_simplex_mesh *mesh)
{
  for (size_t i = 0; i < mesh->nodes; i++) {
    mn_vec3 x = mn_scale(transform->r, mesh->node[i]);
    for (int a = 0; a < 3; a++)
      mesh->node[i].v[a] = transform->a.v[a] + mn_dot(transform->row[a], x);
  }
}

mn_status mn_shape_surface(mn_context *ctx, const mn_shape *shape, double spacing,
                           mn_simplex_mesh *mesh)
{
  if (shape->kind == MN_SHAPE_TRANSFORM) {
    MN_TRY(mn_shape_surface(ctx, shape->part[0], spacing / shape->r, mesh));
    mn_shape_place(shape, mesh);
    return MN_OK;
  }
  *mesh = (mn_simplex_mesh){.dim = shape->dim, .corners = shape->dim, .order = 1};
  if (!(spacing > 0) || !isfinite(spacing))
    return mn_fail(ctx, MN_BAD_INPUT, "a spacing of %g m, allowed: > 0", spacing);
  mn_surface_build b = {.ctx = ctx, .mesh = mesh, .spacing = spacing};
  mn_status status = surface(&b, shape);
  if (status != MN_OK)
    mn_simplex_mesh_destroy(mesh);
  return status;
}
