/* Contact points of rigid shapes: those that may touch first.

   Boxes: a lattice over the surface, corners and edges included. Meshes: their corners, and
   points along their edges and on their faces where these are larger than the spacing. Curved
   primitives: evenly spread points, and those on the rims of cylinders; between them the search of
   contact_shape.c finds the deepest. Of a composition the points of its parts that lie on its
   surface (of a half-space, a lattice over its plane as far as the whole body reaches), and points
   along the creases where two parts meet:

       d_p(x) = 0,  d_q(x) = 0,  d(x) = 0      by projections on the two in turn, from near points

   Verified by tests/unit/solid/test_contact_shapes.c. */
#include "solid/sample.h"

#include <string.h>

#include "base/status.h"
#include "geom/surface_mesh.h"
#include "solid/contact_internal.h"

/* All within this ball matter. */
typedef struct within {
  mn_vec3 center;
  double radius, h; /* m; spacing */
} within;

static int pieces(double length, double spacing)
{
  double n = round(length / spacing);
  return n < 1 ? 1 : n > 1e4 ? 10000 : (int)n;
}

static mn_status box_lattice(mn_context *ctx, const mn_shape *b, double h, mn_sample *s)
{
  int n[3] = {1, 1, 1};
  for (int a = 0; a < b->dim; a++)
    n[a] = pieces(2 * b->b.v[a], h);
  for (int k = 0; k <= (b->dim == 3 ? n[2] : 0); k++)
    for (int j = 0; j <= n[1]; j++)
      for (int i = 0; i <= n[0]; i++) {
        int at[3] = {i, j, k};
        mn_vec3 x = b->a, out = {0};
        for (int a = 0; a < b->dim; a++) {
          x.v[a] += b->b.v[a] * (2.0 * at[a] / n[a] - 1);
          out.v[a] = (at[a] == n[a]) - (at[a] == 0);
        }
        double length = mn_length(out);
        if (length > 0)
          MN_TRY(mn_sample_push(ctx, s, x, mn_scale(1 / length, out), 0));
      }
  return MN_OK;
}

/* Normals by the angles that triangles have at a point: these do not depend on how a face is cut.
 */
static void mesh_normals(const mn_refined *fine, const mn_vec3 *x, mn_vec3 *n)
{
  for (size_t e = 0; e < fine->elements; e++) {
    const uint32_t *v = fine->element + 3 * e;
    for (int c = 0; c < 3; c++) {
      mn_vec3 p = mn_sub(x[v[(c + 1) % 3]], x[v[c]]), q = mn_sub(x[v[(c + 2) % 3]], x[v[c]]);
      mn_vec3 out = mn_cross(p, q);
      double length = mn_length(out);
      if (length > 0)
        n[v[c]] = mn_madd(n[v[c]], atan2(length, mn_dot(p, q)) / length, out);
    }
  }
  for (size_t i = 0; i < fine->points; i++) {
    double length = mn_length(n[i]);
    n[i] = length > 0 ? mn_scale(1 / length, n[i]) : mn_v3(1, 0, 0);
  }
}

/* Corners, and where triangles are large points along their edges and on them. */
static mn_status mesh_points(mn_context *ctx, const mn_mesh *m, double h, mn_sample *s)
{
  mn_refined fine;
  size_t first = s->count;
  MN_TRY(mn_surface_refine(ctx, 3, m->vertex, m->vertices, &m->triangle[0][0], m->triangles,
                           MN_LONGEST_EDGE * h, &fine));
  mn_status status = MN_OK;
  for (size_t i = 0; i < fine.points && status == MN_OK; i++) {
    mn_vec3 x = {0};
    for (int c = 0; c < 3; c++)
      x = mn_madd(x, fine.weight[i][c], m->vertex[m->triangle[fine.parent[i]][c]]);
    status = mn_sample_push(ctx, s, x, mn_v3(0, 0, 0), 0);
  }
  if (status == MN_OK)
    mesh_normals(&fine, s->x + first, s->n + first);
  mn_refined_destroy(&fine);
  return status;
}

static mn_status plane_lattice(mn_context *ctx, const mn_shape *p, within w, mn_sample *s)
{
  mn_vec3 c = mn_madd(w.center, -mn_dot(p->b, mn_sub(w.center, p->a)), p->b);
  mn_vec3 e = fabs(p->b.x) < 0.6 ? mn_v3(1, 0, 0) : mn_v3(0, 1, 0);
  mn_vec3 t1 = p->dim == 2 ? mn_v3(-p->b.y, p->b.x, 0) : mn_cross(p->b, e);
  t1 = mn_scale(1 / mn_length(t1), t1);
  mn_vec3 t2 = mn_cross(p->b, t1);
  int n = (int)ceil(w.radius / w.h), m = p->dim == 3 ? n : 0;
  for (int j = -m; j <= m; j++)
    for (int i = -n; i <= n; i++)
      MN_TRY(mn_sample_push(ctx, s, mn_madd(mn_madd(c, i * w.h, t1), j * w.h, t2), p->b, 0));
  return MN_OK;
}

static mn_status points_on(mn_context *ctx, const mn_shape *shape, within w, mn_sample *s);

/* Onto p and q in turn; whether it came to lie on both. */
static int onto_crease(const mn_shape *p, const mn_shape *q, double h, mn_vec3 *x)
{
  enum { TURNS = 60 };
  for (int k = 0; k < TURNS; k++) {
    double dp = mn_shape_distance(p, *x), dq = mn_shape_distance(q, *x), same = 0;
    if (fabs(dp) + fabs(dq) <= 1e-8 * h)
      return 1;
    const mn_shape *s = fabs(dp) > fabs(dq) ? p : q;
    mn_vec3 n = mn_contact_normal(s, *x, h, mn_v3(0, 0, 0), &same);
    *x = mn_madd(*x, s == p ? -dp : -dq, n);
  }
  return 0;
}

/* Points of `near`, which lie on part p, moved to where p meets part q on the whole's surface, half
   a spacing apart at least. */
static mn_status add_crease(mn_context *ctx, const mn_shape *whole, int p, int q, within w,
                            const mn_sample *near, mn_sample *s)
{
  size_t first = s->count;
  for (size_t i = 0; i < near->count; i++) {
    mn_vec3 x = near->x[i];
    if (fabs(mn_shape_distance(whole->part[q], x)) > 1.5 * w.h ||
        fabs(mn_shape_distance(whole, x)) > 1.5 * w.h ||
        !onto_crease(whole->part[p], whole->part[q], w.h, &x) ||
        fabs(mn_shape_distance(whole, x)) > 1e-6 * w.h)
      continue;
    int close = 0;
    for (size_t j = first; j < s->count && !close; j++)
      close = mn_length(mn_sub(x, s->x[j])) < 0.5 * w.h;
    double same = 0;
    if (!close)
      MN_TRY(mn_sample_push(ctx, s, x,
                            mn_contact_normal(whole, x, 1e3 * w.h, mn_v3(0, 0, 0), &same), 0));
  }
  return MN_OK;
}

static mn_status composed_part(mn_context *ctx, const mn_shape *whole, int p, within w,
                               mn_sample *part, mn_sample *s)
{
  MN_TRY(points_on(ctx, whole->part[p], w, part));
  int flip = whole->kind == MN_SHAPE_DIFFERENCE && p > 0;
  for (size_t i = 0; i < part->count; i++)
    if (fabs(mn_shape_distance(whole, part->x[i])) <= 1e-9 * (mn_length(part->x[i]) + w.h))
      MN_TRY(mn_sample_push(ctx, s, part->x[i], flip ? mn_scale(-1, part->n[i]) : part->n[i], 0));
  for (int q = 0; q < whole->count; q++)
    if (q != p)
      MN_TRY(add_crease(ctx, whole, p, q, w, part, s));
  return MN_OK;
}

static mn_status composed(mn_context *ctx, const mn_shape *whole, within w, mn_sample *s)
{
  for (int p = 0; p < whole->count; p++) {
    mn_sample part = {0};
    mn_status status = composed_part(ctx, whole, p, w, &part, s);
    mn_sample_destroy(&part);
    MN_TRY(status);
  }
  return MN_OK;
}

static mn_status transformed(mn_context *ctx, const mn_shape *shape, within w, mn_sample *s)
{
  size_t first = s->count;
  mn_vec3 y = mn_sub(w.center, shape->a);
  y = mn_madd(mn_madd(mn_scale(y.x, shape->row[0]), y.y, shape->row[1]), y.z, shape->row[2]);
  within inner = {mn_scale(1 / shape->r, y), w.radius / shape->r, w.h / shape->r};
  MN_TRY(points_on(ctx, shape->part[0], inner, s));
  for (size_t i = first; i < s->count; i++) {
    mn_vec3 x = mn_scale(shape->r, s->x[i]), n = s->n[i];
    for (int a = 0; a < 3; a++) {
      s->x[i].v[a] = shape->a.v[a] + mn_dot(shape->row[a], x);
      s->n[i].v[a] = mn_dot(shape->row[a], n);
    }
  }
  return MN_OK;
}

static mn_status points_on(mn_context *ctx, const mn_shape *shape, within w, mn_sample *s)
{
  switch (shape->kind) {
  case MN_SHAPE_BOX:
    return box_lattice(ctx, shape, w.h, s);
  case MN_SHAPE_MESH:
    return mesh_points(ctx, shape->mesh, w.h, s);
  case MN_SHAPE_HALF_SPACE:
    return plane_lattice(ctx, shape, w, s);
  case MN_SHAPE_TRANSFORM:
    return transformed(ctx, shape, w, s);
  case MN_SHAPE_UNION:
  case MN_SHAPE_INTERSECTION:
  case MN_SHAPE_DIFFERENCE:
    return composed(ctx, shape, w, s);
  default:
    break;
  }
  mn_sample raw;
  if (shape->kind == MN_SHAPE_CYLINDER)
    MN_TRY(mn_sample_rims(ctx, shape, w.h, s));
  mn_status status = mn_sample_surface(ctx, shape, w.h, &raw);
  for (size_t i = 0; i < raw.count && status == MN_OK; i++)
    status = mn_sample_push(ctx, s, raw.x[i], raw.n[i], 0);
  mn_sample_destroy(&raw);
  return status;
}

mn_status mn_sample_contact(mn_context *ctx, const mn_shape *shape, double spacing, mn_vec3 **point,
                            mn_vec3 **normal, size_t *count)
{
  mn_sample s = {0};
  mn_vec3 lo, hi;
  mn_shape_bounds(shape, &lo, &hi);
  within w = {mn_scale(0.5, mn_add(lo, hi)), 0.5 * mn_length(mn_sub(hi, lo)), spacing};
  mn_status status = points_on(ctx, shape, w, &s);
  if (status != MN_OK) {
    mn_sample_destroy(&s);
    return status;
  }
  mn_free(s.area);
  *point = s.x, *normal = s.n, *count = s.count;
  return MN_OK;
}
