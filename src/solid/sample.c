/* Surface points of curved primitives: cut into even pieces with a point in the middle of each,
   arcs and edges in 2D, rings around the axis of spheres, capsules, cylinders and tori, whose areas
   are exact. Verified by tests/unit/solid/test_rigid_sample.c. */
#include "solid/sample.h"

#include <string.h>

#include "base/status.h"

void mn_sample_destroy(mn_sample *s)
{
  mn_free(s->x);
  mn_free(s->n);
  mn_free(s->area);
  memset(s, 0, sizeof *s);
}

mn_status mn_sample_push(mn_context *ctx, mn_sample *s, mn_vec3 x, mn_vec3 n, double area)
{
  if (s->count == s->capacity) {
    size_t more = s->capacity ? 2 * s->capacity : 64;
    MN_TRY(mn_grow(ctx, "surface points", s->count, more, sizeof *s->x, (void **)&s->x));
    MN_TRY(mn_grow(ctx, "surface points", s->count, more, sizeof *s->n, (void **)&s->n));
    MN_TRY(mn_grow(ctx, "surface points", s->count, more, sizeof *s->area, (void **)&s->area));
    s->capacity = more;
  }
  s->x[s->count] = x, s->n[s->count] = n, s->area[s->count] = area;
  s->count++;
  return MN_OK;
}

static int pieces(double length, double spacing, int least)
{
  double n = round(length / spacing);
  return n < least ? least : n > 1e6 ? 1000000 : (int)n;
}

/* ---- two dimensions -------------------------------------------------------------------------- */

static mn_status arc(mn_context *ctx, mn_sample *s, double h, mn_vec3 c, double r, double from,
                     double to, double side)
{
  int n = pieces(r * fabs(to - from), h, 4);
  for (int i = 0; i < n; i++) {
    double t = from + (to - from) * (i + 0.5) / n;
    mn_vec3 e = mn_v3(cos(t), sin(t), 0);
    MN_TRY(mn_sample_push(ctx, s, mn_madd(c, r, e), mn_scale(side, e), r * fabs(to - from) / n));
  }
  return MN_OK;
}

/* The outside is to the right. */
static mn_status segment(mn_context *ctx, mn_sample *s, double h, mn_vec3 a, mn_vec3 b)
{
  mn_vec3 d = mn_sub(b, a);
  double length = mn_length(d);
  if (!(length > 0))
    return MN_OK;
  int n = pieces(length, h, 1);
  for (int i = 0; i < n; i++)
    MN_TRY(mn_sample_push(ctx, s, mn_madd(a, (i + 0.5) / n, d),
                          mn_v3(d.y / length, -d.x / length, 0), length / n));
  return MN_OK;
}

static mn_status stadium(mn_context *ctx, const mn_shape *c, double h, mn_sample *s)
{
  double t = atan2(c->b.y, c->b.x), length = mn_length(c->b);
  if (!(length > 0))
    return arc(ctx, s, h, c->a, c->r, 0, 2 * MN_PI, 1);
  mn_vec3 b = mn_add(c->a, c->b), n = mn_v3(c->b.y * c->r / length, -c->b.x * c->r / length, 0);
  MN_TRY(arc(ctx, s, h, b, c->r, t - MN_PI / 2, t + MN_PI / 2, 1));
  MN_TRY(arc(ctx, s, h, c->a, c->r, t + MN_PI / 2, t + 1.5 * MN_PI, 1));
  MN_TRY(segment(ctx, s, h, mn_add(c->a, n), mn_add(b, n)));
  return segment(ctx, s, h, mn_sub(b, n), mn_sub(c->a, n));
}

static mn_status flat_surface(mn_context *ctx, const mn_shape *s, double h, mn_sample *out)
{
  switch (s->kind) {
  case MN_SHAPE_SPHERE:
    return arc(ctx, out, h, s->a, s->r, 0, 2 * MN_PI, 1);
  case MN_SHAPE_CAPSULE:
    return stadium(ctx, s, h, out);
  default:
    MN_TRY(arc(ctx, out, h, s->a, s->R + s->r, 0, 2 * MN_PI, 1));
    return arc(ctx, out, h, s->a, s->R - s->r, 0, 2 * MN_PI, -1);
  }
}

/* ---- three dimensions ------------------------------------------------------------------------ */

typedef struct revolved {
  mn_context *ctx;
  mn_sample *out;
  double h;
  mn_vec3 d, e1, e2; /* the axis and two across */
  int rings;
} revolved;

static revolved revolve(mn_context *ctx, mn_sample *out, double h, mn_vec3 axis)
{
  mn_vec3 a = fabs(axis.x) < 0.6 ? mn_v3(1, 0, 0) : mn_v3(0, 1, 0);
  mn_vec3 e1 = mn_cross(axis, a);
  e1 = mn_scale(1 / mn_length(e1), e1);
  return (revolved){ctx, out, h, axis, e1, mn_cross(axis, e1), 0};
}

/* Points around the axis at radius rho in the plane of c; the normal has the parts nr and nz. */
static mn_status ring(revolved *v, mn_vec3 c, double rho, double nr, double nz, double area)
{
  int n = pieces(2 * MN_PI * rho, v->h, 3);
  double shift = v->rings++ % 2 ? 0.5 : 0;
  for (int i = 0; i < n; i++) {
    double t = 2 * MN_PI * (i + shift) / n;
    mn_vec3 e = mn_madd(mn_scale(cos(t), v->e1), sin(t), v->e2);
    MN_TRY(mn_sample_push(v->ctx, v->out, mn_madd(c, rho, e), mn_madd(mn_scale(nr, e), nz, v->d),
                          area / n));
  }
  return MN_OK;
}

/* Polar angles [from, to] of a sphere, measured from the axis. */
static mn_status cap(revolved *v, mn_vec3 c, double r, double from, double to)
{
  int n = pieces(r * (to - from), v->h, 2);
  for (int i = 0; i < n; i++) {
    double t0 = from + (to - from) * i / n, t1 = from + (to - from) * (i + 1) / n;
    double t = 0.5 * (t0 + t1);
    MN_TRY(ring(v, mn_madd(c, r * cos(t), v->d), r * sin(t), sin(t), cos(t),
                2 * MN_PI * r * r * (cos(t0) - cos(t1))));
  }
  return MN_OK;
}

static mn_status solid_capsule(mn_context *ctx, const mn_shape *c, double h, mn_sample *s)
{
  double length = mn_length(c->b);
  mn_vec3 d = length > 0 ? mn_scale(1 / length, c->b) : mn_v3(0, 0, 1);
  revolved v = revolve(ctx, s, h, d);
  if (!(length > 0))
    return cap(&v, c->a, c->r, 0, MN_PI);
  MN_TRY(cap(&v, mn_add(c->a, c->b), c->r, 0, MN_PI / 2));
  int n = pieces(length, h, 1);
  for (int i = n - 1; i >= 0; i--)
    MN_TRY(ring(&v, mn_madd(c->a, (i + 0.5) / n, c->b), c->r, 1, 0, 2 * MN_PI * c->r * length / n));
  return cap(&v, c->a, c->r, MN_PI / 2, MN_PI);
}

static mn_status solid_torus(mn_context *ctx, const mn_shape *s, double h, mn_sample *out)
{
  revolved v = revolve(ctx, out, h, s->b);
  int n = pieces(2 * MN_PI * s->r, h, 4);
  for (int i = 0; i < n; i++) {
    double half = MN_PI / n, t = 2 * half * (i + 0.5);
    double area = 2 * MN_PI * s->r * (2 * half * s->R + s->r * (sin(t + half) - sin(t - half)));
    MN_TRY(
        ring(&v, mn_madd(s->a, s->r * sin(t), s->b), s->R + s->r * cos(t), cos(t), sin(t), area));
  }
  return MN_OK;
}

static mn_status solid_cylinder(mn_context *ctx, const mn_shape *s, double h, mn_sample *out)
{
  double length = mn_length(s->b), r = s->r, R = s->R;
  revolved v = revolve(ctx, out, h, mn_scale(1 / length, s->b));
  int through = pieces(R - r, h, 1), along = pieces(length, h, 1);
  for (int end = 0; end < 2; end++)
    for (int i = 0; i < through; i++) {
      double lo = r + (R - r) * i / through, hi = r + (R - r) * (i + 1) / through;
      MN_TRY(ring(&v, mn_madd(s->a, end, s->b), 0.5 * (lo + hi), 0, end ? 1 : -1,
                  MN_PI * (hi * hi - lo * lo)));
    }
  for (int wall = 0; wall < (r > 0 ? 2 : 1); wall++)
    for (int i = 0; i < along; i++) {
      double rho = wall ? r : R;
      MN_TRY(ring(&v, mn_madd(s->a, (i + 0.5) / along, s->b), rho, wall ? -1 : 1, 0,
                  2 * MN_PI * rho * length / along));
    }
  return MN_OK;
}

mn_status mn_sample_rims(mn_context *ctx, const mn_shape *s, double h, mn_sample *out)
{
  const double diagonal = sqrt(0.5);
  revolved v = revolve(ctx, out, h, mn_scale(1 / mn_length(s->b), s->b));
  for (int end = 0; end < 2; end++)
    for (int wall = 0; wall < (s->r > 0 ? 2 : 1); wall++)
      MN_TRY(ring(&v, mn_madd(s->a, end, s->b), wall ? s->r : s->R, wall ? -diagonal : diagonal,
                  end ? diagonal : -diagonal, 0));
  return MN_OK;
}

mn_status mn_sample_surface(mn_context *ctx, const mn_shape *s, double h, mn_sample *out)
{
  memset(out, 0, sizeof *out);
  if (s->dim == 2)
    return flat_surface(ctx, s, h, out);
  if (s->kind == MN_SHAPE_CAPSULE)
    return solid_capsule(ctx, s, h, out);
  if (s->kind == MN_SHAPE_TORUS)
    return solid_torus(ctx, s, h, out);
  if (s->kind == MN_SHAPE_CYLINDER)
    return solid_cylinder(ctx, s, h, out);
  revolved v = revolve(ctx, out, h, mn_v3(0, 0, 1));
  return cap(&v, s->a, s->r, 0, MN_PI);
}
