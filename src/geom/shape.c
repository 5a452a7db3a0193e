/* Analytic shapes and compositions: signed distances d (negative inside) and bounds.

   Exact distances: box, sphere, half-space, capsule, torus, cylinder, mesh, and any transform of an
   exact one. A union is exact outside, an intersection exact inside where its parts are; elsewhere,
   and for differences, |d| is a lower bound of the distance and the sign is right. The zero set is
   right for all of them: where two parts of a union, or two that a difference takes away, have a
   face in common, the least of their distances is 0, though nothing ends there (welded).

   Bounds come from support functions h(u) = max over the shape of u . x, which compose exactly
   through transforms and unions: the box is [-h(-e_a), h(e_a)]. For intersections and differences
   they are an upper bound, so the box may be larger than needed: the least of the parts', and of
   what their half-spaces bound together (a linear program, exact for up to MOST_PLANES of them).
   Verified by tests/unit/geom/test_shape.c. */
#include "geom/shape.h"

#include <assert.h>

#include "base/memory.h"
#include "base/status.h"
#include "math/vec.h"

enum { DEPTH_MAX = 256 }; /* of nested compositions; recursion stays far below any stack's size */

/* ---- checks ---------------------------------------------------------------------------------- */

static mn_status check_vector(mn_context *ctx, const char *what, int dim, mn_vec3 v)
{
  for (int a = 0; a < dim; a++)
    if (!isfinite(v.v[a]))
      return mn_fail(ctx, MN_BAD_INPUT, "%s has the %c-component %g, it must be finite", what,
                     "xyz"[a], v.v[a]);
  return MN_OK;
}

static mn_status check_size(mn_context *ctx, const char *what, double size)
{
  if (!(size > 0) || !isfinite(size))
    return mn_fail(ctx, MN_BAD_INPUT, "%s is %g, it must be positive and finite", what, size);
  return MN_OK;
}

/* A direction of any length as a unit vector; robust against overflow and underflow. */
static mn_status check_direction(mn_context *ctx, const char *what, int dim, mn_vec3 *v)
{
  MN_TRY(check_vector(ctx, what, dim, *v));
  double greatest = 0;
  for (int a = 0; a < dim; a++)
    greatest = mn_max(greatest, fabs(v->v[a]));
  if (greatest == 0)
    return mn_fail(ctx, MN_BAD_INPUT, "%s is the zero vector, it must have a direction", what);
  for (int a = 0; a < 3; a++)
    v->v[a] = a < dim ? v->v[a] / greatest : 0;
  *v = mn_scale(1 / mn_length(*v), *v);
  return MN_OK;
}

static mn_vec3 flat(int dim, mn_vec3 v)
{
  return mn_v3(v.x, v.y, dim == 3 ? v.z : 0.0);
}

static mn_status new_shape(mn_context *ctx, mn_shape_kind kind, int dim, mn_shape **out)
{
  assert(dim == 2 || dim == 3);
  *out = NULL;
  MN_TRY(MN_NEW(ctx, "a shape", 1, out));
  (*out)->kind = kind;
  (*out)->dim = dim;
  (*out)->depth = 1;
  return MN_OK;
}

/* ---- primitives ------------------------------------------------------------------------------ */

mn_status mn_shape_box(mn_context *ctx, int dim, mn_vec3 lo, mn_vec3 hi, mn_shape **out)
{
  *out = NULL;
  MN_TRY(check_vector(ctx, "the box's low corner", dim, lo));
  MN_TRY(check_vector(ctx, "the box's high corner", dim, hi));
  static const char *const size_of[3] = {"the box's x-size", "the box's y-size",
                                         "the box's z-size"};
  for (int a = 0; a < dim; a++)
    MN_TRY(check_size(ctx, size_of[a], hi.v[a] - lo.v[a]));
  MN_TRY(new_shape(ctx, MN_SHAPE_BOX, dim, out));
  (*out)->a = flat(dim, mn_scale(0.5, mn_add(lo, hi)));
  (*out)->b = flat(dim, mn_scale(0.5, mn_sub(hi, lo)));
  return MN_OK;
}

mn_status mn_shape_sphere(mn_context *ctx, int dim, mn_vec3 center, double radius, mn_shape **out)
{
  *out = NULL;
  MN_TRY(check_vector(ctx, "the sphere's center", dim, center));
  MN_TRY(check_size(ctx, "the sphere's radius", radius));
  MN_TRY(new_shape(ctx, MN_SHAPE_SPHERE, dim, out));
  (*out)->a = flat(dim, center);
  (*out)->r = radius;
  return MN_OK;
}

mn_status mn_shape_half_space(mn_context *ctx, int dim, mn_vec3 point, mn_vec3 normal,
                              mn_shape **out)
{
  *out = NULL;
  MN_TRY(check_vector(ctx, "the half-space's point", dim, point));
  MN_TRY(check_direction(ctx, "the half-space's normal", dim, &normal));
  MN_TRY(new_shape(ctx, MN_SHAPE_HALF_SPACE, dim, out));
  (*out)->a = flat(dim, point);
  (*out)->b = normal;
  return MN_OK;
}

mn_status mn_shape_capsule(mn_context *ctx, int dim, mn_vec3 a, mn_vec3 b, double radius,
                           mn_shape **out)
{
  *out = NULL;
  MN_TRY(check_vector(ctx, "the capsule's end a", dim, a));
  MN_TRY(check_vector(ctx, "the capsule's end b", dim, b));
  MN_TRY(check_size(ctx, "the capsule's radius", radius));
  MN_TRY(new_shape(ctx, MN_SHAPE_CAPSULE, dim, out));
  (*out)->a = flat(dim, a);
  (*out)->b = flat(dim, mn_sub(b, a));
  (*out)->r = radius;
  return MN_OK;
}

mn_status mn_shape_torus(mn_context *ctx, int dim, mn_vec3 center, mn_vec3 axis, double major,
                         double minor, mn_shape **out)
{
  *out = NULL;
  MN_TRY(check_vector(ctx, "the torus's center", dim, center));
  MN_TRY(check_size(ctx, "the torus's major radius", major));
  MN_TRY(check_size(ctx, "the torus's minor radius", minor));
  if (minor >= major)
    return mn_fail(ctx, MN_BAD_INPUT,
                   "the torus's minor radius is %g, it must be less than the major one, %g", minor,
                   major);
  if (dim == 3)
    MN_TRY(check_direction(ctx, "the torus's axis", dim, &axis));
  MN_TRY(new_shape(ctx, MN_SHAPE_TORUS, dim, out));
  (*out)->a = flat(dim, center);
  (*out)->b = dim == 3 ? axis : mn_v3(0, 0, 1);
  (*out)->r = minor;
  (*out)->R = major;
  return MN_OK;
}

mn_status mn_shape_cylinder(mn_context *ctx, int dim, mn_vec3 a, mn_vec3 b, double radius,
                            double inner, mn_shape **out)
{
  *out = NULL;
  if (dim != 3)
    return mn_fail(ctx, MN_BAD_INPUT,
                   "a cylinder has 3 dimensions; in 2D take a disk, a box or, for a ring, a torus");
  MN_TRY(check_vector(ctx, "the cylinder's end a", dim, a));
  MN_TRY(check_vector(ctx, "the cylinder's end b", dim, b));
  MN_TRY(check_size(ctx, "the cylinder's length", mn_length(mn_sub(b, a))));
  MN_TRY(check_size(ctx, "the cylinder's radius", radius));
  if (!(inner >= 0) || !(inner < radius))
    return mn_fail(ctx, MN_BAD_INPUT,
                   "the cylinder's inner radius is %g, it must be 0 or more, and less than the "
                   "radius, %g",
                   inner, radius);
  MN_TRY(new_shape(ctx, MN_SHAPE_CYLINDER, dim, out));
  (*out)->a = a;
  (*out)->b = mn_sub(b, a);
  (*out)->r = inner;
  (*out)->R = radius;
  return MN_OK;
}

mn_status mn_shape_mesh(mn_context *ctx, const char *path, mn_shape **out)
{
  *out = NULL;
  mn_mesh *mesh;
  MN_TRY(mn_mesh_read(ctx, path, &mesh));
  mn_status status = new_shape(ctx, MN_SHAPE_MESH, 3, out);
  if (status != MN_OK)
    mn_mesh_destroy(&mesh);
  else
    (*out)->mesh = mesh;
  return status;
}

/* ---- compositions ---------------------------------------------------------------------------- */

static void destroy_parts(mn_shape **parts, int count)
{
  for (int i = 0; i < count; i++) {
    mn_shape *part = parts[i]; /* the caller's array is left as it is */
    mn_shape_destroy(&part);
  }
}

static mn_status check_parts(mn_context *ctx, const char *what, mn_shape **parts, int count,
                             int *depth)
{
  if (count < 1)
    return mn_fail(ctx, MN_BAD_INPUT, "%s has no shapes, it must have at least one", what);
  *depth = 0;
  for (int i = 0; i < count; i++) {
    assert(parts[i]);
    if (parts[i]->dim != parts[0]->dim)
      return mn_fail(
          ctx, MN_BAD_INPUT, "%s mixes shapes of %d and %d dimensions%s; all must have the same",
          what, parts[0]->dim, parts[i]->dim,
          parts[0]->kind == MN_SHAPE_MESH || parts[i]->kind == MN_SHAPE_MESH ? " (a mesh has 3)"
                                                                             : "");
    *depth = parts[i]->depth > *depth ? parts[i]->depth : *depth;
  }
  if (*depth >= DEPTH_MAX)
    return mn_fail(ctx, MN_BAD_INPUT, "%s is nested %d deep, at most %d is allowed", what,
                   *depth + 1, DEPTH_MAX);
  return MN_OK;
}

/* Of bounds that are finite; 1 where none tells. */
static double size_of_parts(const mn_shape *s)
{
  double size = 0;
  for (int i = 0; i < s->count; i++) {
    mn_vec3 corner[2];
    mn_shape_bounds(s->part[i], &corner[0], &corner[1]);
    for (int a = 0; a < 2 * s->dim; a++) {
      double reach = fabs(corner[a % 2].v[a / 2]);
      size = isfinite(reach) ? mn_max(size, reach) : size;
    }
  }
  return size > 0 ? size : 1;
}

/* A part that is no more than a list of parts of the same composition: its own take its place, and
   meet those beside it (welded). */
static int is_list(const mn_shape *part, mn_shape_kind kind, int index)
{
  if (kind == MN_SHAPE_DIFFERENCE)
    return part->kind == (index ? MN_SHAPE_UNION : MN_SHAPE_DIFFERENCE);
  return part->kind == kind && kind != MN_SHAPE_TRANSFORM;
}

static mn_status compose(mn_context *ctx, mn_shape_kind kind, const char *what, mn_shape **parts,
                         int count, mn_shape **out)
{
  int depth = 0, all = 0;
  mn_shape *shape = NULL;
  mn_status status = check_parts(ctx, what, parts, count, &depth);
  for (int i = 0; i < count && status == MN_OK; i++)
    all += is_list(parts[i], kind, i) ? parts[i]->count : 1;
  if (status == MN_OK)
    status = new_shape(ctx, kind, parts[0]->dim, &shape);
  if (status == MN_OK)
    status = MN_NEW(ctx, "the parts of a shape", (size_t)all, &shape->part);
  if (status != MN_OK) {
    mn_free(shape);
    destroy_parts(parts, count);
    *out = NULL; /* not before: it may be the address of a part */
    return status;
  }
  for (int i = 0; i < count; i++) {
    mn_shape *part = parts[i];
    if (!is_list(part, kind, i)) {
      shape->part[shape->count++] = part;
      continue;
    }
    for (int n = 0; n < part->count; n++)
      shape->part[shape->count++] = part->part[n];
    mn_free(part->part);
    mn_free(part);
  }
  shape->depth = depth + 1;
  shape->size = size_of_parts(shape);
  *out = shape;
  return MN_OK;
}

mn_status mn_shape_union(mn_context *ctx, mn_shape **parts, int count, mn_shape **out)
{
  return compose(ctx, MN_SHAPE_UNION, "the union", parts, count, out);
}

mn_status mn_shape_intersection(mn_context *ctx, mn_shape **parts, int count, mn_shape **out)
{
  return compose(ctx, MN_SHAPE_INTERSECTION, "the intersection", parts, count, out);
}

mn_status mn_shape_difference(mn_context *ctx, mn_shape **parts, int count, mn_shape **out)
{
  return compose(ctx, MN_SHAPE_DIFFERENCE, "the difference", parts, count, out);
}

static mn_status check_transform(mn_context *ctx, int dim, mn_vec3 translate, mn_vec3 *axis,
                                 double angle, double scale)
{
  MN_TRY(check_vector(ctx, "the transform's translation", dim, translate));
  MN_TRY(check_vector(ctx, "the transform's axis", 3, *axis));
  MN_TRY(check_size(ctx, "the transform's scale", scale));
  if (!isfinite(angle))
    return mn_fail(ctx, MN_BAD_INPUT, "the transform's angle is %g, it must be finite", angle);
  if (dim == 2) {
    if (axis->x != 0 || axis->y != 0)
      return mn_fail(ctx, MN_BAD_INPUT,
                     "the transform's axis is (%g, %g, %g); in two dimensions it must be along z",
                     axis->x, axis->y, axis->z);
    *axis = mn_v3(0, 0, axis->z < 0 ? -1 : 1);
    return MN_OK;
  }
  if (angle == 0) { /* the axis does not matter */
    *axis = mn_v3(0, 0, 1);
    return MN_OK;
  }
  return check_direction(ctx, "the transform's axis", 3, axis);
}

mn_status mn_shape_transform(mn_context *ctx, mn_shape *part, mn_vec3 translate, mn_vec3 axis,
                             double angle, double scale, mn_shape **out)
{
  mn_status status = check_transform(ctx, part->dim, translate, &axis, angle, scale);
  if (status != MN_OK) {
    *out = NULL;
    mn_shape_destroy(&part);
    return status;
  }
  int dim = part->dim;
  MN_TRY(compose(ctx, MN_SHAPE_TRANSFORM, "the transform", &part, 1, out));
  mn_shape *s = *out;
  s->a = flat(dim, translate);
  s->r = scale;
  mn_vec3 column[3];
  for (int a = 0; a < 3; a++)
    column[a] = mn_rotate(mn_v3(a == 0, a == 1, a == 2), axis, angle);
  for (int a = 0; a < 3; a++)
    s->row[a] = mn_v3(column[0].v[a], column[1].v[a], column[2].v[a]);
  return MN_OK;
}

void mn_shape_destroy(mn_shape **shape)
{
  mn_shape *s = *shape;
  if (s) {
    destroy_parts(s->part, s->count);
    mn_free(s->part);
    mn_mesh_destroy(&s->mesh);
    mn_free(s);
  }
  *shape = NULL;
}

int mn_shape_dim(const mn_shape *shape)
{
  return shape->dim;
}

/* ---- distance -------------------------------------------------------------------------------- */

static double box_distance(const mn_shape *s, mn_vec3 x)
{
  double outside = 0, inside = -INFINITY;
  for (int a = 0; a < s->dim; a++) {
    double q = fabs(x.v[a] - s->a.v[a]) - s->b.v[a];
    outside += q > 0 ? q * q : 0;
    inside = q > inside ? q : inside;
  }
  return inside > 0 ? sqrt(outside) : inside;
}

static double capsule_distance(const mn_shape *s, mn_vec3 x)
{
  mn_vec3 p = mn_sub(x, s->a);
  double bb = mn_dot(s->b, s->b);
  double t = bb > 0 ? mn_clamp(mn_dot(p, s->b) / bb, 0, 1) : 0;
  return mn_length(mn_madd(p, -t, s->b)) - s->r;
}

static double torus_distance(const mn_shape *s, mn_vec3 x)
{
  mn_vec3 p = mn_sub(x, s->a);
  double h = mn_dot(p, s->b);
  double rho = mn_length(mn_madd(p, -h, s->b));
  return hypot(rho - s->R, h) - s->r;
}

/* A rectangle in the half-plane (rho, z) of x. */
static double cylinder_distance(const mn_shape *s, mn_vec3 x)
{
  double length = mn_length(s->b);
  mn_vec3 d = mn_scale(1 / length, s->b), p = mn_sub(x, s->a);
  double z = mn_dot(p, d), rho = mn_length(mn_madd(p, -z, d));
  double across = s->r > 0 ? fabs(rho - 0.5 * (s->R + s->r)) - 0.5 * (s->R - s->r) : rho - s->R;
  double along = fabs(z - 0.5 * length) - 0.5 * length;
  if (across > 0 && along > 0)
    return hypot(across, along);
  return mn_max(across, along);
}

static mn_vec3 rotated(const mn_vec3 row[3], mn_vec3 x)
{
  return mn_v3(mn_dot(row[0], x), mn_dot(row[1], x), mn_dot(row[2], x));
}

static mn_vec3 transpose_apply(const mn_vec3 row[3], mn_vec3 x)
{
  return mn_madd(mn_madd(mn_scale(x.x, row[0]), x.y, row[1]), x.z, row[2]);
}

/* plain: common faces are not looked for. */
static double distance(const mn_shape *s, mn_vec3 x, int plain);

/* Of the size of a composition: rounding, and a step that is small and yet no rounding. */
static const double SHARED = 1e-9, BESIDE = 1e-6;
enum { HALVINGS = 12 };

/* x is -d deep in a part of which it is e from another, and d + e = 0. If they have a face in
   common, beyond y, the nearest point of the first part's surface, the other one begins. Nothing
   ends there; how far it goes on is told by the balls in both parts that touch at y:

       max over t of min(depth of y - t n in the one, of y + t n in the other),

   which is the distance to the rim of the common face and half the thickness of either at most. */
static double welded(const mn_shape *one, const mn_shape *other, mn_vec3 x, double d, double size)
{
  double step = BESIDE * size, deep = -d;
  mn_vec3 n = {{0, 0, 0}};
  for (int a = 0; a < one->dim; a++) {
    mn_vec3 up = x, down = x;
    up.v[a] += step, down.v[a] -= step;
    n.v[a] = (distance(one, up, 1) - distance(one, down, 1)) / (2 * step);
  }
  mn_vec3 y = mn_madd(x, -d, n);
  if (fabs(mn_length(n) - 1) > 1e-3 || fabs(distance(one, y, 1)) > 2 * SHARED * size ||
      distance(other, mn_madd(y, step, n), 1) > -0.5 * step)
    return d;
  for (int k = 0; k < HALVINGS; k++) {
    double t = ldexp(size, -k);
    mn_vec3 in_one = mn_madd(y, -t, n), in_other = mn_madd(y, t, n);
    deep = mn_max(deep, mn_min(-distance(one, in_one, 1), -distance(other, in_other, 1)));
  }
  return -deep;
}

/* Of the parts from the first on. */
static double union_distance(const mn_shape *s, int first, mn_vec3 x, int plain)
{
  int nearest = first;
  double d = distance(s->part[first], x, plain), least;
  for (int i = first + 1; i < s->count; i++) {
    double e = distance(s->part[i], x, plain);
    nearest = e < d ? i : nearest;
    d = mn_min(d, e);
  }
  least = d;
  for (int i = first; i < s->count && !plain && d <= SHARED * s->size; i++)
    if (i != nearest && fabs(d + distance(s->part[i], x, 1)) <= SHARED * s->size)
      least = mn_min(least, welded(s->part[nearest], s->part[i], x, d, s->size));
  return least;
}

static double distance(const mn_shape *s, mn_vec3 x, int plain)
{
  switch (s->kind) {
  case MN_SHAPE_BOX:
    return box_distance(s, x);
  case MN_SHAPE_SPHERE:
    return mn_length(mn_sub(x, s->a)) - s->r;
  case MN_SHAPE_HALF_SPACE:
    return mn_dot(s->b, mn_sub(x, s->a));
  case MN_SHAPE_CAPSULE:
    return capsule_distance(s, x);
  case MN_SHAPE_TORUS:
    return torus_distance(s, x);
  case MN_SHAPE_CYLINDER:
    return cylinder_distance(s, x);
  case MN_SHAPE_MESH:
    return mn_mesh_distance(s->mesh, x);
  case MN_SHAPE_TRANSFORM: {
    mn_vec3 y = transpose_apply(s->row, mn_sub(x, s->a));
    return s->r * distance(s->part[0], mn_scale(1 / s->r, y), plain);
  }
  case MN_SHAPE_UNION:
  case MN_SHAPE_INTERSECTION:
  case MN_SHAPE_DIFFERENCE:
    break;
  }
  double d =
      s->kind == MN_SHAPE_UNION ? union_distance(s, 0, x, plain) : distance(s->part[0], x, plain);
  if (s->kind == MN_SHAPE_DIFFERENCE && s->count > 1)
    d = mn_max(d, -union_distance(s, 1, x, plain));
  for (int i = 1; i < s->count && s->kind == MN_SHAPE_INTERSECTION; i++)
    d = mn_max(d, distance(s->part[i], x, plain));
  return d;
}

double mn_shape_distance(const mn_shape *shape, mn_vec3 x)
{
  return distance(shape, flat(shape->dim, x), 0);
}

int mn_shape_is_pieced(const mn_shape *s)
{
  int pieced = (s->kind == MN_SHAPE_UNION && s->count > 1) ||
               (s->kind == MN_SHAPE_DIFFERENCE && s->count > 2);
  for (int i = 0; i < s->count && !pieced; i++)
    pieced = mn_shape_is_pieced(s->part[i]);
  return pieced;
}

/* ---- bounds ---------------------------------------------------------------------------------- */

enum { MOST_PLANES = 64 };

/* Half-spaces n . x < h that hold all of a shape. */
typedef struct planes {
  mn_vec3 n[MOST_PLANES];
  double h[MOST_PLANES];
  int count;
} planes;

/* Adds those that hold s, or (`away`) that s takes away from another shape and leaves on its other
   side. */
static void find_planes(const mn_shape *s, int away, planes *p)
{
  int first = p->count, all = s->kind == (away ? MN_SHAPE_UNION : MN_SHAPE_INTERSECTION);
  double sign = away ? -1 : 1;
  if (s->kind == MN_SHAPE_HALF_SPACE && p->count < MOST_PLANES) {
    p->n[p->count] = mn_scale(sign, s->b);
    p->h[p->count++] = sign * mn_dot(s->b, s->a);
  } else if (s->kind == MN_SHAPE_TRANSFORM) {
    find_planes(s->part[0], away, p);
    for (int i = first; i < p->count; i++) {
      p->n[i] = rotated(s->row, p->n[i]);
      p->h[i] = s->r * p->h[i] + mn_dot(p->n[i], s->a);
    }
  } else if (all || (s->kind == MN_SHAPE_DIFFERENCE && !away))
    for (int i = 0; i < s->count; i++)
      find_planes(s->part[i], s->kind == MN_SHAPE_DIFFERENCE ? i > 0 : away, p);
}

/* max of u . x in all of them, by the corners of the dual: u is made of normals with factors
   l >= 0, and the least sum of l h counts. Single normals are left to support(). */
static double supported_by(const planes *p, int dim, mn_vec3 u)
{
  static const double PARALLEL = 1e-6, ROUNDING = 1e-10; /* volume of three normals; of factors */
  double least = INFINITY;
  for (int i = 0; i < p->count; i++)
    for (int j = i + 1; j < p->count; j++) {
      mn_vec3 c = mn_cross(p->n[i], p->n[j]); /* k = j below: u lies across it */
      for (int k = j; k < (dim == 3 ? p->count : j + 1); k++) {
        mn_vec3 m = k > j ? p->n[k] : c;
        double det = mn_dot(c, m);
        if (fabs(det) <= PARALLEL)
          continue;
        double li = mn_dot(u, mn_cross(p->n[j], m)) / det;
        double lj = mn_dot(u, mn_cross(m, p->n[i])) / det, lk = mn_dot(u, c) / det;
        if (li >= -ROUNDING && lj >= -ROUNDING && (k > j ? lk >= -ROUNDING : fabs(lk) <= ROUNDING))
          least = mn_min(least, li * p->h[i] + lj * p->h[j] + (k > j ? lk * p->h[k] : 0));
      }
    }
  return least;
}

/* h(u) = max of u . x over the shape, u a unit vector. */
static double support(const mn_shape *s, mn_vec3 u)
{
  static const double PARALLEL = 1e-12; /* a rotated axis is parallel up to round-off */
  double h = mn_dot(u, s->a), most = -INFINITY;
  planes flats = {.count = 0};
  switch (s->kind) {
  case MN_SHAPE_BOX:
    return h + fabs(u.x) * s->b.x + fabs(u.y) * s->b.y + fabs(u.z) * s->b.z;
  case MN_SHAPE_SPHERE:
    return h + s->r;
  case MN_SHAPE_HALF_SPACE:
    return mn_length(mn_sub(u, s->b)) <= PARALLEL ? h : INFINITY;
  case MN_SHAPE_CAPSULE:
    return h + mn_max(0, mn_dot(u, s->b)) + s->r;
  case MN_SHAPE_TORUS:
    return h + s->R * mn_length(mn_cross(u, s->b)) + s->r;
  case MN_SHAPE_CYLINDER:
    return h + mn_max(0, mn_dot(u, s->b)) + s->R * mn_length(mn_cross(u, s->b)) / mn_length(s->b);
  case MN_SHAPE_MESH:
    return mn_mesh_support(s->mesh, u);
  case MN_SHAPE_TRANSFORM:
    return h + s->r * support(s->part[0], transpose_apply(s->row, u));
  case MN_SHAPE_UNION:
    for (int i = 0; i < s->count; i++)
      most = mn_max(most, support(s->part[i], u));
    return most;
  case MN_SHAPE_INTERSECTION:
    for (int i = 0; i < s->count; i++)
      most = i ? mn_min(most, support(s->part[i], u)) : support(s->part[i], u);
    find_planes(s, 0, &flats);
    return mn_min(most, supported_by(&flats, s->dim, u));
  case MN_SHAPE_DIFFERENCE:
    find_planes(s, 0, &flats);
    return mn_min(support(s->part[0], u), supported_by(&flats, s->dim, u));
  }
  return INFINITY;
}

void mn_shape_bounds(const mn_shape *shape, mn_vec3 *lo, mn_vec3 *hi)
{
  *lo = *hi = mn_v3(0, 0, 0);
  for (int a = 0; a < shape->dim; a++) {
    mn_vec3 u = {0};
    u.v[a] = 1;
    hi->v[a] = support(shape, u);
    u.v[a] = -1;
    lo->v[a] = -support(shape, u);
  }
}
