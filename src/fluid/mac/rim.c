/* The level set of water at the start: where its shape ends at solids, or is put together of pieces.

   phi is the signed distance f to the rim of the shape. Where the water is drawn just up to a solid
   that rim is no surface: the water goes on to the wall, wherever in a cell that lies. The centres
   of cells that the wall cuts may be in the solid, f > 0 there would be air, and water that should
   rest would part from the wall. Of a point x, y = x - f grad f being the nearest of the rim, this
   is so if

       distance(y) < NEAR dx   and   grad f . n(y) < -ALIKE,   n the solid's normal

   (at a surface that meets the wall at the angle a, grad f . n = cos a). Then the surface is looked
   for from y along n, and carried on from where it is the nearest rim, as a plane,

       phi(x) = f(x') + grad f(x') . (x - x');

   there is none within REACH where all is water. So it is at x outside the water (f > 0) for which
   the rim's end at the solid is nearest: the surface does not turn around it; but air stays air.

   In a shape put together of pieces the distance ends where a piece does, though the next one begins
   there: of strips thinner than a cell it is a fraction of that to the surface. And a side of the
   domain, up to which water is drawn, is no surface. Where the shape does not end at the distance f,
   it is taken along the lines to the next centres of cells instead,

       |phi| = (sum over axes a of 1/t_a^2)^(-1/2),   t_a the way to the rim along a,

   exact at planes.

   Verified by tests/verify/test_slopes.c. */
#include "fluid/mac/internal.h"

#include <math.h>

#include "geom/shape.h"

/* In cells. */
static const double NEAR = 0.25, REACH = 2, STEP = 0.25;
static const double ALIKE = 0.9, INTO = 0.5;
/* In cells: so far beyond a rim there is none of the liquid; a rim so near the domain's side is one
   with it. */
static const double BEYOND = 1e-3, SIDE = 1e-6;
enum { HALVINGS = 30 };

static double shape_at(const mn_mac *mac, mn_vec3 x)
{
  return mn_shape_distance(mac->def->fluid.initial_water, x);
}

/* Of a distance at x, of length 1; 0 where it has none, as between two walls. */
static mn_vec3 gradient(const mn_mac *mac, double (*distance)(const mn_mac *, mn_vec3), mn_vec3 x)
{
  const double h = 0.01 * mac->grid.dx;
  mn_vec3 g = {{0, 0, 0}};
  for (int a = 0; a < mac->grid.dim; a++) {
    mn_vec3 up = x, down = x;
    up.v[a] += h, down.v[a] -= h;
    g.v[a] = distance(mac, up) - distance(mac, down);
  }
  double length = mn_length(g);
  return mn_scale(length > h ? 1 / length : 0, g);
}

static int is_liquid(const mn_mac *mac, mn_vec3 x)
{
  return shape_at(mac, x) <= 0; /* 0 where parts have a face in common */
}

/* Whether y lies on a side of the domain, to rounding, or beyond it: of this axis, or (-1) any. */
static int is_outside(const mn_mac *mac, mn_vec3 y, int axis)
{
  const mn_grid *g = &mac->grid;
  for (int a = 0; a < g->dim; a++) {
    double low = y.v[a] - g->origin.v[a], high = g->global_n[a] * g->dx - low;
    if ((axis < 0 || a == axis) && fmin(low, high) < SIDE * g->dx)
      return 1;
  }
  return 0;
}

/* The way from x to the rim along an axis; dx: none as near, or one that is a wall or a side. */
static double way(const mn_mac *mac, mn_vec3 x, int axis, double direction)
{
  double near = 0, far = mac->grid.dx;
  int liquid = is_liquid(mac, x);
  mn_vec3 y = x;
  y.v[axis] = x.v[axis] + direction * far;
  if (is_liquid(mac, y) == liquid)
    return far;
  for (int k = 0; k < HALVINGS; k++) {
    double middle = 0.5 * (near + far);
    y.v[axis] = x.v[axis] + direction * middle;
    *(is_liquid(mac, y) == liquid ? &near : &far) = middle;
  }
  if (is_outside(mac, y, axis))
    return mac->grid.dx;
  mn_vec3 n = gradient(mac, mn_mac_solid_distance, y);
  if (mn_mac_solid_distance(mac, y) < NEAR * mac->grid.dx && direction * n.v[axis] < -INTO)
    return mac->grid.dx;
  return 0.5 * (near + far);
}

/* Whether the shape ends where its distance f at x says so: not where a piece goes on in another
   one, or all of it at a side of the domain. */
static int ends_at(const mn_mac *mac, mn_vec3 x, double f)
{
  mn_vec3 slope = gradient(mac, shape_at, x);
  if (is_outside(mac, mn_madd(x, -f, slope), -1))
    return 0;
  double beyond = f + copysign(BEYOND * mac->grid.dx, f);
  return !mn_shape_is_pieced(mac->def->fluid.initial_water) ||
         is_liquid(mac, mn_madd(x, -beyond, slope)) != is_liquid(mac, x);
}

/* f, the shape's distance at x, or what it should be where the shape does not end there. */
static double through_pieces(const mn_mac *mac, mn_vec3 x, double f)
{
  double dx = mac->grid.dx, sum = 0;
  if (fabs(f) > dx || ends_at(mac, x, f))
    return f;
  for (int a = 0; a < mac->grid.dim; a++) {
    double least = fmin(way(mac, x, a, 1), way(mac, x, a, -1));
    sum += least < dx ? 1 / (least * least) : 0;
  }
  double most = sum > 0 ? 1 / sqrt(sum) : dx;
  return copysign(fmax(fabs(f), most), is_liquid(mac, x) ? -1 : 1);
}

/* The rim of the water nearest to x. */
typedef struct rim {
  double f;
  mn_vec3 slope; /* of f */
  mn_vec3 y, n;  /* its place; if it is near a solid, the normal of that */
  int near, wall;
} rim;

static rim look(const mn_mac *mac, mn_vec3 x)
{
  rim r = {.f = shape_at(mac, x), .slope = gradient(mac, shape_at, x)};
  r.y = mn_madd(x, -r.f, r.slope);
  r.near = mn_mac_solid_distance(mac, r.y) < NEAR * mac->grid.dx;
  if (!r.near)
    return r;
  r.n = gradient(mac, mn_mac_solid_distance, r.y);
  r.wall = mn_dot(r.slope, r.n) < -ALIKE;
  return r;
}

/* Whether x is on the water's side of the wall at which the rim r, the nearest, is; not beyond it,
   if the wall is thin. */
static int is_before(const mn_mac *mac, const rim *r, mn_vec3 x)
{
  if (mn_mac_solid_distance(mac, x) >= 0)
    return r->f < NEAR * mac->grid.dx;
  return mn_dot(gradient(mac, mn_mac_solid_distance, x), r->n) > 0;
}

static double level(const mn_mac *mac, mn_vec3 x)
{
  double dx = mac->grid.dx, f = through_pieces(mac, x, shape_at(mac, x)),
         d = mn_mac_solid_distance(mac, x);
  if (!(fabs(f) < REACH * dx && d < REACH * dx))
    return f;
  rim r = look(mac, x);
  int wet = r.wall && is_before(mac, &r, x), ends = wet || (r.near && f > 0);
  double off = -mn_mac_solid_distance(mac, r.y), last = f;
  for (double s = STEP; ends && s <= REACH; s += STEP) {
    mn_vec3 z = mn_madd(r.y, off + s * dx, r.n);
    rim next = look(mac, z);
    double plane = next.f + mn_dot(next.slope, mn_sub(x, z));
    if (!next.wall)
      return wet || plane > 0 ? plane : f;
    last = next.f;
  }
  return wet && last < 0 ? -REACH * dx : f;
}

void mn_liquid_fill(const mn_mac *mac, mn_field *phi)
{
  int slabs = mn_slabs(phi);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int s = 0; s < slabs; s++) {
    int k, j0, j1;
    mn_slab(phi, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++)
      for (int i = 0; i < phi->n[0]; i++)
        mn_set(phi, i, j, k, level(mac, mn_position(phi, i, j, k)));
  }
}
