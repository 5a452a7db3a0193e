/* Surfaces of revolution: a profile (rho, z), from the top down on the outside, of rings of evenly
   spaced points about the axis; neighbouring rings, of any two counts, are stitched by going round
   both at once. A ring of radius 0 is one point.
   Verified by tests/unit/geom/test_surface_mesh.c. */
#include "base/memory.h"
#include "base/status.h"
#include "geom/surface_build.h"
#include "math/vec.h"

enum { AROUND = 6 }; /* least points of a ring */

typedef struct ring {
  uint32_t first;
  int count;
  double shift; /* of the first point, in parts of the angle between two */
} ring;

typedef struct lathe {
  mn_surface_build *b;
  mn_vec3 origin, d, e1, e2; /* the axis and two across */
  int rings;
  ring last;
} lathe;

static lathe make_lathe(mn_surface_build *b, mn_vec3 origin, mn_vec3 axis)
{
  mn_vec3 a = fabs(axis.x) < 0.6 ? mn_v3(1, 0, 0) : mn_v3(0, 1, 0);
  mn_vec3 e1 = mn_cross(axis, a);
  e1 = mn_scale(1 / mn_length(e1), e1);
  return (lathe){.b = b, .origin = origin, .d = axis, .e1 = e1, .e2 = mn_cross(axis, e1)};
}

static mn_status add_ring(lathe *l, double rho, double z, ring *out)
{
  mn_vec3 c = mn_madd(l->origin, z, l->d);
  uint32_t node;
  *out = (ring){.first = (uint32_t)l->b->mesh->nodes, .count = 1};
  if (rho > 0) {
    out->count = mn_build_pieces(2 * MN_PI * rho, l->b->spacing, AROUND);
    out->count += out->count % 2;
    out->shift = l->rings % 2 ? 0.5 : 0;
  }
  l->rings++;
  for (int i = 0; i < out->count; i++) {
    double t = 2 * MN_PI * (i + out->shift) / out->count;
    mn_vec3 e = mn_madd(mn_scale(cos(t), l->e1), sin(t), l->e2);
    MN_TRY(mn_build_node(l->b, mn_madd(c, rho, e), &node));
  }
  return MN_OK;
}

static uint32_t node_of(const ring *r, int i)
{
  return r->first + (uint32_t)(i % r->count);
}

static double angle_of(const ring *r, int i)
{
  return (i + r->shift) / r->count;
}

/* The band between `a` above and `b` below. */
static mn_status stitch(lathe *l, const ring *a, const ring *b)
{
  int na = a->count > 1 ? a->count : 0, nb = b->count > 1 ? b->count : 0, i = 0, j = 0;
  while (i < na || j < nb)
    if (j == nb || (i < na && angle_of(a, i + 1) <= angle_of(b, j + 1))) {
      MN_TRY(mn_build_element(l->b, node_of(a, i), node_of(b, j), node_of(a, i + 1)));
      i++;
    } else {
      MN_TRY(mn_build_element(l->b, node_of(b, j), node_of(b, j + 1), node_of(a, i)));
      j++;
    }
  return MN_OK;
}

/* The next ring of the profile. */
static mn_status go_to(lathe *l, double rho, double z)
{
  ring next;
  int first = l->rings == 0;
  MN_TRY(add_ring(l, rho, z, &next));
  if (!first)
    MN_TRY(stitch(l, &l->last, &next));
  l->last = next;
  return MN_OK;
}

/* A quarter circle around (0, z), from the pole to the equator or back. */
static mn_status cap(lathe *l, double r, double z, int down)
{
  int n = mn_build_pieces(r * MN_PI / 2, l->b->spacing, 2);
  for (int k = 0; k <= n; k++) {
    double t = MN_PI / 2 * (down ? k : n - k) / n;
    int pole = (down ? k : n - k) == 0;
    if (down || k > 0) /* the equator of the lower cap is there */
      MN_TRY(go_to(l, pole ? 0 : r * sin(t), z + (down ? r : -r) * cos(t)));
  }
  return MN_OK;
}

static mn_status capsule(mn_surface_build *b, const mn_shape *s)
{
  double length = mn_length(s->b);
  lathe l = make_lathe(b, s->a, length > 0 ? mn_scale(1 / length, s->b) : mn_v3(0, 0, 1));
  int n = length > 0 ? mn_build_pieces(length, b->spacing, 1) : 0;
  MN_TRY(cap(&l, s->r, length, 1));
  for (int k = n - 1; k >= 0; k--)
    MN_TRY(go_to(&l, s->r, length * k / n));
  return cap(&l, s->r, 0, 0);
}

static mn_status torus(mn_surface_build *b, const mn_shape *s)
{
  lathe l = make_lathe(b, s->a, s->b);
  int n = mn_build_pieces(2 * MN_PI * s->r, b->spacing, AROUND);
  n += n % 2;
  MN_TRY(go_to(&l, s->R + s->r, 0));
  ring first = l.last;
  for (int k = 1; k < n; k++) {
    double t = 2 * MN_PI * k / n;
    MN_TRY(go_to(&l, s->R + s->r * cos(t), -s->r * sin(t)));
  }
  return stitch(&l, &l.last, &first);
}

/* From (rho0, z0), which is there, to (rho1, z1). */
static mn_status straight(lathe *l, double rho0, double z0, double rho1, double z1, int last)
{
  int n = mn_build_pieces(hypot(rho1 - rho0, z1 - z0), l->b->spacing, 1);
  for (int k = 1; k <= n - !last; k++) {
    double t = (double)k / n;
    MN_TRY(go_to(l, k == n ? rho1 : rho0 + t * (rho1 - rho0), z0 + t * (z1 - z0)));
  }
  return MN_OK;
}

static mn_status cylinder(mn_surface_build *b, const mn_shape *s)
{
  double length = mn_length(s->b), r = s->r, R = s->R;
  lathe l = make_lathe(b, s->a, mn_scale(1 / length, s->b));
  MN_TRY(go_to(&l, r, length));
  ring first = l.last;
  MN_TRY(straight(&l, r, length, R, length, 1));
  MN_TRY(straight(&l, R, length, R, 0, 1));
  MN_TRY(straight(&l, R, 0, r, 0, 1));
  if (!(r > 0))
    return MN_OK;
  MN_TRY(straight(&l, r, 0, r, length, 0));
  return stitch(&l, &l.last, &first);
}

mn_status mn_build_revolved(mn_surface_build *b, const mn_shape *s)
{
  if (s->kind == MN_SHAPE_CYLINDER)
    return cylinder(b, s);
  return s->kind == MN_SHAPE_TORUS ? torus(b, s) : capsule(b, s);
}
