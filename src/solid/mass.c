/* Mass properties of density 1: V = int 1, c = int x / V, S = int (x - c)(x - c)^T.

   Primitives have closed forms. A mesh is a sum of signed tetrahedra between its triangles and a
   fixed point p: with a, b, c from p, V = a.(b x c)/6, int x = V (a + b + c)/4,
   int x x^T = V/20 (a a^T + b b^T + c c^T + s s^T), s = a + b + c; a polygon likewise of triangles
   with 1/3 and 1/12. Compositions: cubic cells, each cut by the plane of the distance and its
   gradient at the cell's centre, the cut volume exact for that plane; second order.
   Verified by tests/unit/solid/test_rigid_mass.c. */
#include "solid/mass.h"

#include "base/status.h"
#include "geom/shape.h"

static mn_mat3 outer(double s, mn_vec3 a, mn_vec3 b)
{
  mn_mat3 m;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      m.m[i][j] = s * a.v[i] * b.v[j];
  return m;
}

mn_mat3 mn_mass_inertia(const mn_mass *mass)
{
  const mn_mat3 *s = &mass->second;
  double trace = s->m[0][0] + s->m[1][1] + s->m[2][2];
  return mn_mat3_add(mn_mat3_diagonal(trace, trace, trace), mn_mat3_scale(-1, *s));
}

/* Raw sums about the point p to a mass. */
static mn_mass from_sums(double volume, mn_vec3 first, mn_mat3 second, mn_vec3 p)
{
  mn_vec3 c = mn_scale(1 / volume, first);
  return (mn_mass){volume, mn_add(p, c), mn_mat3_add(second, outer(-volume, c, c))};
}

mn_mass mn_mass_of_triangles(const mn_vec3 *vertex, const uint32_t (*triangle)[3], size_t count)
{
  double volume = 0;
  mn_vec3 first = {0}, p = count ? vertex[triangle[0][0]] : first;
  mn_mat3 second = {0};
  for (size_t t = 0; t < count; t++) {
    mn_vec3 a = mn_sub(vertex[triangle[t][0]], p), b = mn_sub(vertex[triangle[t][1]], p),
            c = mn_sub(vertex[triangle[t][2]], p), s = mn_add(mn_add(a, b), c);
    double v = mn_dot(a, mn_cross(b, c)) / 6;
    volume += v;
    first = mn_madd(first, 0.25 * v, s);
    second = mn_mat3_add(second, outer(v / 20, a, a));
    second = mn_mat3_add(second, outer(v / 20, b, b));
    second = mn_mat3_add(second, outer(v / 20, c, c));
    second = mn_mat3_add(second, outer(v / 20, s, s));
  }
  return from_sums(volume, first, second, p);
}

mn_mass mn_mass_of_polygon(const mn_vec3 *vertex, size_t count)
{
  double area = 0;
  mn_vec3 first = {0}, p = count ? vertex[0] : first;
  mn_mat3 second = {0};
  for (size_t i = 0; i < count; i++) {
    mn_vec3 a = mn_sub(vertex[i], p), b = mn_sub(vertex[(i + 1) % count], p), s = mn_add(a, b);
    double v = 0.5 * (a.x * b.y - a.y * b.x);
    area += v;
    first = mn_madd(first, v / 3, s);
    second = mn_mat3_add(second, outer(v / 12, a, a));
    second = mn_mat3_add(second, outer(v / 12, b, b));
    second = mn_mat3_add(second, outer(v / 12, s, s));
  }
  return from_sums(area, first, second, p);
}

/* ---- primitives ------------------------------------------------------------------------------ */

/* S = radial (1 - d d^T) + axial d d^T within the dimensions, d a unit vector. */
static mn_mat3 about_axis(int dim, double axial, double radial, mn_vec3 d)
{
  mn_mat3 s = mn_mat3_diagonal(radial, radial, dim == 3 ? radial : 0);
  return mn_mat3_add(s, outer(axial - radial, d, d));
}

static mn_mass capsule_mass(const mn_shape *s)
{
  double r = s->r, length = mn_length(s->b), axial, radial, v, ends;
  mn_vec3 d = length > 0 ? mn_scale(1 / length, s->b) : mn_v3(1, 0, 0);
  if (s->dim == 3) {
    v = MN_PI * r * r * length, ends = 4 * MN_PI / 3 * r * r * r;
    radial = v * r * r / 4 + ends * r * r / 5;
    axial =
        v * length * length / 12 + ends * (r * r / 5 + length * 3 * r / 8 + length * length / 4);
  } else {
    v = 2 * r * length, ends = MN_PI * r * r;
    radial = v * r * r / 3 + ends * r * r / 4;
    axial = v * length * length / 12 +
            ends * (r * r / 4 + length * 4 * r / (3 * MN_PI) + length * length / 4);
  }
  return (mn_mass){v + ends, mn_madd(s->a, 0.5, s->b), about_axis(s->dim, axial, radial, d)};
}

static mn_mass torus_mass(const mn_shape *s)
{
  double r = s->r, R = s->R;
  if (s->dim == 2) {
    double v = 4 * MN_PI * R * r, m = v * (R * R + r * r) / 2;
    return (mn_mass){v, s->a, mn_mat3_diagonal(m, m, 0)};
  }
  double v = 2 * MN_PI * MN_PI * R * r * r;
  return (mn_mass){v, s->a, about_axis(3, v * r * r / 4, v / 2 * (R * R + 0.75 * r * r), s->b)};
}

static mn_mass cylinder_mass(const mn_shape *s)
{
  double length = mn_length(s->b), rr = s->r * s->r, RR = s->R * s->R;
  double v = MN_PI * (RR - rr) * length;
  return (mn_mass){
      v, mn_madd(s->a, 0.5, s->b),
      about_axis(3, v * length * length / 12, v * (RR + rr) / 4, mn_scale(1 / length, s->b))};
}

static mn_mass sphere_mass(const mn_shape *s)
{
  double r = s->r, v = s->dim == 3 ? 4 * MN_PI / 3 * r * r * r : MN_PI * r * r;
  double m = s->dim == 3 ? v * r * r / 5 : v * r * r / 4;
  return (mn_mass){v, s->a, mn_mat3_diagonal(m, m, s->dim == 3 ? m : 0)};
}

static mn_mass box_mass(const mn_shape *s)
{
  double v = 4 * s->b.x * s->b.y * (s->dim == 3 ? 2 * s->b.z : 1);
  return (mn_mass){
      v, s->a,
      mn_mat3_diagonal(v * s->b.x * s->b.x / 3, v * s->b.y * s->b.y / 3, v * s->b.z * s->b.z / 3)};
}

static mn_status transformed_mass(mn_context *ctx, const mn_shape *s, int cells, mn_mass *mass)
{
  mn_mass m;
  MN_TRY(mn_mass_of_shape(ctx, s->part[0], cells, &m));
  mn_mat3 R = mn_mat3_transpose(mn_mat3_columns(s->row[0], s->row[1], s->row[2]));
  double scale = s->dim == 3 ? s->r * s->r * s->r : s->r * s->r;
  mass->volume = scale * m.volume;
  mass->center = mn_add(s->a, mn_mat3_apply(R, mn_scale(s->r, m.center)));
  mass->second = mn_mat3_scale(scale * s->r * s->r,
                               mn_mat3_mul(mn_mat3_mul(R, m.second), mn_mat3_transpose(R)));
  return MN_OK;
}

/* ---- quadrature ------------------------------------------------------------------------------ */

/* Part of a unit cube (square) around 0 where d + g . x < 0, by inclusion and exclusion: with n the
   components' sizes, V = sum over corners of +-(alpha - n . corner)_+^k / (k! prod n). */
static double cut_fraction(int dim, double d, mn_vec3 g)
{
  double n[3], sum = 0, product = 1, factorial = 1;
  int k = 0;
  for (int a = 0; a < dim; a++)
    sum += fabs(g.v[a]);
  for (int a = 0; a < dim; a++)
    if (fabs(g.v[a]) > 1e-6 * sum) /* a smaller one would only cancel */
      n[k++] = fabs(g.v[a]);
  for (int a = 0; a < k; a++)
    product *= n[a], factorial *= a + 1;
  if (!(sum > 0))
    return d < 0;
  double low = 0, alpha = -d, volume = 0; /* d + n . (c - 1/2) < 0 over c in [0, 1]^k */
  for (int a = 0; a < k; a++)
    low += n[a], alpha += 0.5 * n[a];
  alpha = mn_clamp(alpha, 0, low);
  for (int corner = 0; corner < 1 << k; corner++) {
    double rest = alpha, sign = 1;
    for (int a = 0; a < k; a++)
      if (corner >> a & 1)
        rest -= n[a], sign = -sign;
    if (rest > 0)
      volume += sign * pow(rest, k);
  }
  return mn_clamp(volume / (factorial * product), 0, 1);
}

static double cell_fraction(const mn_shape *shape, mn_vec3 x, double h)
{
  int dim = shape->dim;
  double d = mn_shape_distance(shape, x);
  if (fabs(d) > 0.5 * h * sqrt(dim)) /* |d| never exceeds the distance */
    return d < 0;
  mn_vec3 g = {0};
  for (int a = 0; a < dim; a++) {
    mn_vec3 lo = x, hi = x;
    lo.v[a] -= 0.25 * h, hi.v[a] += 0.25 * h;
    g.v[a] = (mn_shape_distance(shape, hi) - mn_shape_distance(shape, lo)) / (0.5 * h);
  }
  return cut_fraction(dim, d, mn_scale(h, g));
}

static mn_status check_bounded(mn_context *ctx, const mn_shape *shape)
{
  mn_vec3 lo, hi;
  mn_shape_bounds(shape, &lo, &hi);
  for (int a = 0; a < shape->dim; a++)
    if (!isfinite(hi.v[a] - lo.v[a]))
      return mn_fail(ctx, MN_BAD_INPUT, "a body's shape is unbounded along %c; it must be finite",
                     "xyz"[a]);
  return MN_OK;
}

mn_status mn_mass_by_quadrature(mn_context *ctx, const mn_shape *shape, int cells, mn_mass *mass)
{
  mn_vec3 lo, hi;
  MN_TRY(check_bounded(ctx, shape));
  mn_shape_bounds(shape, &lo, &hi);
  int dim = shape->dim, n[3] = {1, 1, 1};
  double longest = 0;
  for (int a = 0; a < dim; a++)
    longest = mn_max(longest, hi.v[a] - lo.v[a]);
  cells = cells > 0 ? cells : dim == 3 ? 96 : 1024;
  double h = longest / cells, volume = 0;
  for (int a = 0; a < dim; a++)
    n[a] = (int)ceil((hi.v[a] - lo.v[a]) / h - 1e-9);
  mn_vec3 p = mn_scale(0.5, mn_add(lo, hi)), first = {0};
  mn_mat3 second = {0};
  double size = dim == 3 ? h * h * h : h * h;
  for (int k = 0; k < n[2]; k++)
    for (int j = 0; j < n[1]; j++)
      for (int i = 0; i < n[0]; i++) {
        mn_vec3 r = mn_v3((i + 0.5 - 0.5 * n[0]) * h, (j + 0.5 - 0.5 * n[1]) * h,
                          dim == 3 ? (k + 0.5 - 0.5 * n[2]) * h : 0);
        double v = size * cell_fraction(shape, mn_add(p, r), h);
        volume += v;
        first = mn_madd(first, v, r);
        second = mn_mat3_add(second, outer(v, r, r));
      }
  if (!(volume > 0))
    return mn_fail(ctx, MN_BAD_INPUT, "a body's shape is empty; it must have a volume");
  for (int a = 0; a < dim; a++)
    second.m[a][a] += volume * h * h / 12; /* of the cells themselves */
  *mass = from_sums(volume, first, second, p);
  return MN_OK;
}

mn_status mn_mass_of_shape(mn_context *ctx, const mn_shape *shape, int cells, mn_mass *mass)
{
  MN_TRY(check_bounded(ctx, shape)); /* where they stand: contact goes by it */
  switch (shape->kind) {
  case MN_SHAPE_BOX:
    *mass = box_mass(shape);
    return MN_OK;
  case MN_SHAPE_SPHERE:
    *mass = sphere_mass(shape);
    return MN_OK;
  case MN_SHAPE_CAPSULE:
    *mass = capsule_mass(shape);
    return MN_OK;
  case MN_SHAPE_TORUS:
    *mass = torus_mass(shape);
    return MN_OK;
  case MN_SHAPE_CYLINDER:
    *mass = cylinder_mass(shape);
    return MN_OK;
  case MN_SHAPE_MESH:
    *mass = mn_mass_of_triangles(shape->mesh->vertex,
                                 (const uint32_t(*)[3])(const void *)shape->mesh->triangle,
                                 shape->mesh->triangles);
    return MN_OK;
  case MN_SHAPE_TRANSFORM:
    return transformed_mass(ctx, shape, cells, mass);
  case MN_SHAPE_HALF_SPACE:
  case MN_SHAPE_UNION:
  case MN_SHAPE_INTERSECTION:
  case MN_SHAPE_DIFFERENCE:
    break;
  }
  return mn_mass_by_quadrature(ctx, shape, cells, mass);
}
