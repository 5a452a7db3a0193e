/* Faces that a body and solids of the scene share, where it lies on them or reaches into them.

   A piston in a bore whose wall is inside a cell closes what is in the bore of the faces there, and
   the wall the rest. With whole faces of the nearer one the bore was up to half a cell too wide or
   too narrow for the piston at each wall: 18 % of the mass of the fluid in a bore of 11 cells. So,
   near elements of the body that lie on solids of the scene, or in them, with all their points, it
   has of a face

       b = what the solids leave of it - what is open.

   What both cover belongs to the one that goes on along the face's axis where the other ends, since
   no fluid is in front of that (shared_faces.c).

   Elsewhere, as in the wedge between a ball and the slope on which it lies, faces stay whole: what
   is left of a wedge is thinner than the grid knows, and what walls would move of parts of faces
   there leaves it as a jet (a ball that slides was three times too slow).

   Verified by tests/verify/test_bore.c. */
#include "fluid/mac/immersed.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "fluid/mac/internal.h"
#include "grid/fractions.h"

/* Cells: a point so near to a solid lies on it, and a body that ends so near to where one does goes
   on farther, since it may move. */
static const double FLUSH = 1e-6;

/* ---- where bodies lie on solids -------------------------------------------------------------- */

/* All points of the element lie on solids of the scene or in them. */
static int is_on_solids(const mn_mac *mac, const mn_immersed *im, size_t element)
{
  int dim = mac->grid.dim;
  double dx = mac->grid.dx;
  for (int n = 0; n < dim; n++) {
    mn_vec3 x = im->X[im->element[(size_t)dim * element + (size_t)n]];
    if (mn_sample(&mac->geometry.obstacles, x) > 0.5 * dx ||
        mn_mac_obstacle_distance(mac, x) > FLUSH * dx)
      return 0;
  }
  return 1;
}

/* Marks the cells of an element, and those next to them. */
static void mark_around(const mn_mac *mac, const mn_immersed *im, size_t element, uint8_t *fits)
{
  const mn_field *cells = &mac->geometry.volume;
  const mn_grid *g = &mac->grid;
  int lo[3] = {0, 0, 0}, hi[3] = {0, 0, 0};
  for (int a = 0; a < g->dim; a++) {
    double low = INFINITY, high = -INFINITY;
    for (int n = 0; n < g->dim; n++) {
      double x = im->X[im->element[(size_t)g->dim * element + (size_t)n]].v[a];
      low = fmin(low, (x - g->origin.v[a]) / g->dx);
      high = fmax(high, (x - g->origin.v[a]) / g->dx);
    }
    /* on a line of the grid: both cells beside it, so that mirrored scenes stay mirrored */
    lo[a] = (int)mn_clamp(ceil(low - FLUSH) - 2, 0, g->n[a]);
    hi[a] = (int)mn_clamp(floor(high + FLUSH) + 1, -1, g->n[a] - 1);
  }
  for (int k = lo[2]; k <= hi[2]; k++)
    for (int j = lo[1]; j <= hi[1]; j++)
      for (int i = lo[0]; i <= hi[0]; i++)
        fits[cells->at - cells->data + mn_index(cells, i, j, k)] = 1;
}

mn_status mn_mac_find_fits(mn_mac *mac, const mn_immersed *im)
{
  mn_mac_bodies *b = &mac->bodies;
  size_t cells = mac->geometry.volume.size;
  if (!mac->def->solid_count || !im->closed_elements)
    return MN_OK;
  MN_TRY(mn_reserve(mac->ctx, "cells where bodies lie on solids", cells, 1, &b->fits));
  memset(b->fits.data, 0, cells);
  for (size_t e = 0; e < im->elements; e++)
    if (!im->body[im->body_of[e]].two_sided && is_on_solids(mac, im, e))
      mark_around(mac, im, e, b->fits.data);
  return MN_OK;
}

/* One of the cells beside the face is marked. */
static int is_fit(const mn_mac *mac, int a, const int at[3])
{
  const mn_field *cells = &mac->geometry.volume;
  const uint8_t *fits = mac->bodies.fits.data;
  for (int high = 0; high < 2; high++) {
    int cell[3] = {at[0], at[1], at[2]};
    cell[a] -= !high;
    if (cell[a] >= 0 && cell[a] < cells->n[a] &&
        fits[cells->at - cells->data + mn_index(cells, cell[0], cell[1], cell[2])])
      return 1;
  }
  return 0;
}

/* ---- what each has --------------------------------------------------------------------------- */

/* What a distance, less `shift`, leaves open of a face; *deepest: the corner where it is least. */
static double left_by(const mn_field *node, double shift, int axis, const int at[3],
                      int64_t *deepest)
{
  int three = node->grid->dim == 3;
  int64_t b = node->stride[three ? (axis + 1) % 3 : 1 - axis];
  int64_t c = three ? node->stride[(axis + 2) % 3] : 0;
  int64_t q = mn_index(node, at[0], at[1], at[2]), corner[] = {q, q + b, q + c, q + b + c};
  double d[4];
  *deepest = q;
  for (int n = 0; n < 4; n++) {
    d[n] = node->at[corner[n]];
    d[n] = (fabs(d[n]) < FLUSH * node->grid->dx ? 0 : d[n]) - shift; /* on it: not by rounding */
    *deepest = node->at[corner[n]] < node->at[*deepest] ? corner[n] : *deepest;
  }
  return three ? mn_square_fraction(d) : mn_edge_fraction(d[0], d[1]);
}

/* Cells: how far along a face's axis solids that share it are followed. */
enum { WAY = 8 };

/* Cells from a node of the plane `at` along the axis, up or down, to where the distance is `shift`.
 */
static double way_out(const mn_field *node, double shift, int64_t q, int axis, int at)
{
  double least = WAY;
  for (int up = -1; up <= 1; up += 2)
    for (int n = 0; n < WAY && at + up * n >= 0 && at + up * n < node->n[axis]; n++) {
      double here = node->at[q + up * n * node->stride[axis]] - shift;
      if (here < 0)
        continue;
      double before = n ? node->at[q + up * (n - 1) * node->stride[axis]] - shift : 0;
      least = fmin(least, n ? n - 1 + before / (before - here) : 0);
      break;
    }
  return least;
}

/* What of a face is open or a body's. What the body and solids of the scene both cover belongs to
   the one that goes on along the face's axis where the other ends: no fluid is in front of that
   (shared_faces.c). *covered: what the body covers. */
static double not_of_obstacles(const mn_mac *mac, const mn_immersed *im, int body, int a,
                               const int at[3], double open, double *covered)
{
  const mn_field *obstacles = &mac->geometry.obstacles, *bodies = &im->distance;
  int64_t theirs, its;
  double left = left_by(obstacles, 0, a, at, &theirs);
  *covered = 0;
  if (left >= 1)
    return 1;
  if (body < 0)
    return fmax(left, open);
  double shift = mac->bodies.shift[body] + (im->body[body].rigid ? FLUSH * mac->grid.dx : 0);
  *covered = 1 - left_by(bodies, shift, a, at, &its);
  if (way_out(bodies, shift, its, a, at[a]) >
      way_out(obstacles, 0, theirs, a, at[a]) + 0.5 * FLUSH) /* not by rounding */
    left = fmax(left, fmin(open + *covered, 1));
  return fmax(left, open);
}

/* Of the fluid in the cells beside a face the part that is before the scene's solids alone: none
   before a wall across the face, all before one that lies in it. `room` is what these leave of the
   face, `open` what is open. */
static double held_by_obstacles(const mn_mac *mac, int a, const int at[3], double room, double open)
{
  const mn_field *node = &mac->geometry.obstacles, *cells = &mac->geometry.volume;
  double alone = 0, left = 0;
  int count = 0;
  for (int high = 0; high < 2; high++) {
    int cell[3] = {at[0], at[1], at[2]};
    double d[8];
    cell[a] -= !high;
    if (cell[a] < 0 || cell[a] >= cells->n[a])
      continue;
    for (int n = 0; n < 1 << mac->grid.dim; n++)
      d[n] = mn_get(node, cell[0] + (n & 1), cell[1] + (n >> 1 & 1), cell[2] + (n >> 2));
    alone += mn_cell_fraction(mac->grid.dim, d);
    left += mn_get(cells, cell[0], cell[1], cell[2]);
    count++;
  }
  return mn_clamp(alone / count - room, 0, fmax(left / count - open, 0));
}

/* Less of a face is rounding, and FLUSH. */
static const double LEAST_SHARE = 1e-5;

mn_share mn_mac_share_face(const mn_mac *mac, const mn_immersed *im, int a, const int at[3])
{
  mn_share s = {mn_mac_bodies_face(mac, im, a, at[0], at[1], at[2]), 1, 0, 0};
  int thin = im->two_sided_elements && mn_immersed_blocks(im, a, at[0], at[1], at[2]);
  const mn_field *w = &mac->geometry.open[a];
  int kind = mac->geometry.kind[a][w->at - w->data + mn_index(w, at[0], at[1], at[2])];
  if (thin || !im->closed_elements || !mac->def->solid_count || mn_is_side(kind) ||
      !is_fit(mac, a, at))
    return s;
  double open = mn_get(w, at[0], at[1], at[2]);
  int nearest = mn_immersed_face_body(im, a, at[0], at[1], at[2]);
  double covered;
  s.room = not_of_obstacles(mac, im, nearest, a, at, open, &covered);
  if (s.body < 0 && covered > LEAST_SHARE && s.room - open > LEAST_SHARE) {
    s.body = nearest;
    s.held = held_by_obstacles(mac, a, at, s.room, open);
  }
  if (s.body >= 0 && mac->moving && s.room < 1) {
    mn_vec3 x = mn_position(w, at[0], at[1], at[2]);
    s.beside = (1 - s.room) * mn_mac_shared_velocity(mac, a, x, mn_mac_nearest_solid(mac, x));
  }
  return s;
}
