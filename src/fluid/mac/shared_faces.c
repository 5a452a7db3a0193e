/* Faces that several solids of the scene close, which move differently.

   The velocity of the closed part is then the mean over what each closes. A plunger whose
   cylinder's wall is inside a cell so displaces its own width, not whole cells. What both close, as
   where a plunger reaches into the wall, has the one that goes on along the face's axis where the
   other one ends: no fluid is in front of that. (Else a plunger displaces what is in the wall, too:
   up to a cell at each side, 11 % of a bore of 8 cells.) Farther behind its end the deeper one has
   it.

   Verified by tests/verify/test_closed_plunger.c. */
#include "fluid/mac/internal.h"

#include <math.h>

#include "grid/fractions.h"

/* A face that solids share is parted into so many along each axis; so many solids count. */
enum { FACE_PARTS = 4, MOST_SHARING = 8 };
/* Cells: how far along a face's axis solids that share it are followed, and the least step. */
static const double WAY = 8, WAY_STEP = 0.02;

/* Part of square (line) t of those into which the face across `a` around x is parted that a solid
   covers; *depth: the sum of the distances at its corners. */
static double covered_part(const mn_mac *mac, int solid, int a, mn_vec3 x, int t, double *depth)
{
  int dim = mac->grid.dim, corners = 1 << (dim - 1), b = (a + 1) % dim, c = (a + 2) % dim;
  double h = mac->grid.dx / FACE_PARTS, d[4];
  *depth = 0;
  for (int n = 0; n < corners; n++) {
    mn_vec3 y = x;
    y.v[b] += (t % FACE_PARTS + (n & 1) - 0.5 * FACE_PARTS) * h;
    if (dim == 3)
      y.v[c] += (t / FACE_PARTS + (n >> 1) - 0.5 * FACE_PARTS) * h;
    d[n] = mn_mac_placed_distance(&mac->def->solids[solid], &mac->geometry.place[solid], y);
    *depth += d[n];
  }
  return 1 - (dim == 3 ? mn_square_fraction(d) : mn_edge_fraction(d[0], d[1]));
}

/* Solids that may close a part of the face at x, at most MOST_SHARING; *same: they all move alike
   along `a` there. */
static int near_solids(const mn_mac *mac, int a, mn_vec3 x, int *solid, double *v, int *same)
{
  const mn_placement *place = mac->geometry.place;
  int count = 0;
  *same = 1;
  for (int s = 0; s < mac->def->solid_count && count < MOST_SHARING; s++)
    if (mn_mac_placed_distance(&mac->def->solids[s], &place[s], x) < mac->grid.dx) {
      solid[count] = s;
      v[count] = mn_mac_placed_velocity(&place[s], x).v[a];
      *same &= v[count++] == v[0];
    }
  return count;
}

/* Of the middle and the corners of a face the one that is deepest in the solid. */
static mn_vec3 deepest_of(const mn_mac *mac, int solid, int a, mn_vec3 x)
{
  int dim = mac->grid.dim, b = (a + 1) % dim, c = (a + 2) % dim;
  double h = 0.5 * mac->grid.dx, least = INFINITY;
  mn_vec3 found = x;
  for (int n = -1; n < 1 << (dim - 1); n++) {
    mn_vec3 y = x;
    y.v[b] += n < 0 ? 0 : n & 1 ? h : -h;
    if (dim == 3)
      y.v[c] += n < 0 ? 0 : n & 2 ? h : -h;
    double d = mn_mac_placed_distance(&mac->def->solids[solid], &mac->geometry.place[solid], y);
    if (d < least) {
      least = d;
      found = y;
    }
  }
  return found;
}

/* From there the way along `a`, up or down, to where the solid ends; at most WAY cells. */
static double way_out(const mn_mac *mac, int solid, int a, mn_vec3 x)
{
  const double dx = mac->grid.dx, most = WAY * dx;
  mn_vec3 from = deepest_of(mac, solid, a, x);
  double least = most;
  for (int up = -1; up <= 1; up += 2)
    for (double way = 0; way < least;) {
      mn_vec3 y = from;
      y.v[a] += up * way;
      double d = mn_mac_placed_distance(&mac->def->solids[solid], &mac->geometry.place[solid], y);
      if (d >= 0)
        least = way;
      way += fmax(-d, WAY_STEP * dx);
    }
  return least;
}

double mn_mac_shared_velocity(const mn_mac *mac, int a, mn_vec3 x, int nearest)
{
  int solid[MOST_SHARING], same, parts = mac->grid.dim == 3 ? FACE_PARTS * FACE_PARTS : FACE_PARTS;
  double v[MOST_SHARING], way[MOST_SHARING], closed = 0, flow = 0;
  int count = mac->moving ? near_solids(mac, a, x, solid, v, &same) : 0;
  for (int n = 0; n < count && count > 1 && !same; n++)
    way[n] = way_out(mac, solid[n], a, x);
  for (int t = 0; t < parts && count > 1 && !same; t++) {
    double cover[MOST_SHARING], depth[MOST_SHARING], left = 1;
    int taken[MOST_SHARING] = {0};
    for (int n = 0; n < count; n++)
      cover[n] = covered_part(mac, solid[n], a, x, t, &depth[n]);
    for (int turn = 0; turn < count; turn++) {
      int first = -1;
      for (int n = 0; n < count; n++)
        if (!taken[n] &&
            (first < 0 || way[n] > way[first] || (way[n] == way[first] && depth[n] < depth[first])))
          first = n;
      double takes = fmin(cover[first], left);
      left -= takes;
      closed += takes;
      flow += takes * v[first];
      taken[first] = 1;
    }
  }
  return closed > 0 ? flow / closed : mn_mac_placed_velocity(&mac->geometry.place[nearest], x).v[a];
}
