/* How far beside a triangle of a closed surface nodes may be nearest to it.

   Let q on triangle T be the point of the surface nearest to p, d = p - q, n the normal of T, and a
   < 90 degrees the greatest angle between n and the normals of the faces that share a corner with
   T. At a corner the faces go round it, so they are a graph over the plane of T with slopes up to
   tan(a). d makes no acute angle with any edge there, hence none with the point of the graph over
   d's part in the plane: |d_plane|^2 + d_n g <= 0 with |g| <= tan(a) |d_plane|, so |d_plane| <=
   tan(a) |d_n|. On an edge or face d is between normals. So p lies within sin(a) |d| of the prism
   over T. Where a is small, as on smooth surfaces that are sampled well, T need not visit every
   node within the band but a few above and below itself: on a sphere of 20,000 triangles 19 instead
   of 306.

   The angle is bounded by way of a mean normal at each corner: the angle from n to the mean, plus
   the greatest from the mean to the normals around it; angles by the distances between unit
   vectors, which are at most 1.12 times shorter up to a right angle. Corners whose faces do not go
   round (points that coincide but are not one, faces without area) make no promise: there the reach
   is the whole band. In 2D it always is. Verified by tests/unit/grid/test_immersed.c, which
   compares with all triangles. */
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "grid/immersed_internal.h"
#include "grid/immersed_lines.h"

/* A triangle below this part of the square of its longest edge has no normal to trust. */
static const double SLIVER = 1e-10;
static const double ANGLE_PER_CHORD = 1.12; /* at least pi/2 / sqrt(2) */

static uint64_t mixed(uint32_t i)
{
  uint64_t h = (i + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
  h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  return h ^ h >> 31;
}

static mn_vec3 unit_normal(const mn_vec3 x[3])
{
  mn_vec3 e = mn_sub(x[1], x[0]), f = mn_sub(x[2], x[0]), g = mn_sub(x[2], x[1]);
  mn_vec3 n = mn_cross(e, f);
  double longest = mn_max(mn_max(mn_dot(e, e), mn_dot(f, f)), mn_dot(g, g)), size = mn_length(n);
  return size > SLIVER * longest ? mn_scale(1 / size, n) : (mn_vec3){{0}};
}

/* Sum of unit normals at the corners; `fan` becomes 0 where the faces go round. */
static void gather_normals(mn_immersed *im)
{
  struct mn_immersed_work *w = im->work;
  memset(w->corner, 0, im->points * sizeof *w->corner);
  for (size_t e = 0; e < im->elements; e++) {
    const uint32_t *p = im->element + 3 * e;
    mn_vec3 x[3];
    if (im->two_sided[e])
      continue;
    mn_immersed_corners(im, (uint32_t)e, x);
    mn_vec3 n = w->normal[e] = unit_normal(x);
    int sound = mn_dot(n, n) > 0;
    for (int c = 0; c < 3; c++) {
      mn_corner *at = &w->corner[p[c]];
      at->mean = mn_add(at->mean, n);
      at->fan += mixed(p[(c + 1) % 3]) - mixed(p[(c + 2) % 3]);
      at->lost |= !sound;
    }
  }
}

/* Square of the distance of two unit vectors. */
static double chord_square(mn_vec3 a, mn_vec3 b)
{
  mn_vec3 d = mn_sub(a, b);
  return mn_dot(d, d);
}

/* Greatest distance from the mean to a normal at each corner. */
static void gather_spread(mn_immersed *im)
{
  mn_corner *corner = im->work->corner;
  for (size_t i = 0; i < im->points; i++) {
    double size = mn_length(corner[i].mean);
    corner[i].lost |= !(size > 0) || corner[i].fan;
    corner[i].mean = mn_scale(1 / size, corner[i].mean);
  }
  for (size_t e = 0; e < im->elements; e++)
    for (int c = 0; c < 3 && !im->two_sided[e]; c++) {
      mn_corner *at = &corner[im->element[3 * e + (size_t)c]];
      at->spread = mn_max(at->spread, chord_square(im->work->normal[e], at->mean));
    }
  for (size_t i = 0; i < im->points; i++)
    corner[i].spread = corner[i].lost ? INFINITY : sqrt(corner[i].spread);
}

static mn_status make_room(mn_immersed *im)
{
  struct mn_immersed_work *w = im->work;
  if (im->elements > w->reach_room) {
    w->reach_room = 0;
    MN_TRY(MN_RENEW(im->ctx, "reach of elements", im->elements, &w->reach));
    MN_TRY(MN_RENEW(im->ctx, "normals of elements", im->elements, &w->normal));
    w->reach_room = im->elements;
  }
  if (im->points > w->corner_room) {
    w->corner_room = 0;
    MN_TRY(MN_RENEW(im->ctx, "normals at points", im->points, &w->corner));
    w->corner_room = im->points;
  }
  return MN_OK;
}

mn_status mn_immersed_reach(mn_immersed *im)
{
  struct mn_immersed_work *w = im->work;
  if (!im->closed_elements)
    return MN_OK;
  MN_TRY(make_room(im));
  if (im->grid->dim == 3) {
    gather_normals(im);
    gather_spread(im);
  }
  for (size_t e = 0; e < im->elements; e++) {
    double angle = im->grid->dim == 3 ? 0 : INFINITY;
    for (int c = 0; c < 3 && !im->two_sided[e] && im->grid->dim == 3; c++) {
      const mn_corner *at = &w->corner[im->element[3 * e + (size_t)c]];
      angle = mn_max(angle, sqrt(chord_square(w->normal[e], at->mean)) + at->spread);
    }
    w->reach[e] = ANGLE_PER_CHORD * angle < 1 ? ANGLE_PER_CHORD * angle * im->band : im->band;
  }
  return MN_OK;
}

void mn_immersed_near_box(const mn_immersed *im, uint32_t e, mn_vec3 *lo, mn_vec3 *hi)
{
  const struct mn_immersed_work *w = im->work;
  double band = im->band, reach = w->reach[e];
  mn_vec3 x[3] = {0};
  mn_immersed_corners(im, e, x);
  mn_element_box(im->grid->dim, x, lo, hi);
  for (int a = 0; a < im->grid->dim; a++) {
    double wide = band;
    if (im->grid->dim == 3) {
      double n = w->normal[e].v[a];
      wide = mn_min(band, band * fabs(n) + reach * sqrt(mn_max(1 - n * n, 0)));
    }
    lo->v[a] -= wide;
    hi->v[a] += wide;
  }
}
