/* Obstacles that touch in a corner or an edge only, and so part the fluid in a cell without a wall.

   Two corners of a cell in the fluid, opposite each other, and the other two in the solid: from the
   values at the nodes alone the fluid in it may be one or two. Which it is say the shapes: it is
   one if there is a way between the two corners through a lattice of points h = dx/PARTS apart, on
   which

       distance > h/2

   so that all of the line between two neighbours is in the fluid. Openings of less than some h are
   none. Where there is no way the node that lies nearest to the solid is closed (thin_walls.c),
   once, for faces, cells and particles.

   Verified by tests/verify/test_slopes.c. */
#include "fluid/mac/internal.h"

#include <math.h>

enum { PARTS = 8, POINTS = PARTS + 1 };

int mn_touching_corners(int dim, const double *d, int *from, int *to)
{
  int corners = 1 << dim, reached = 0;
  *from = 0;
  while (*from < corners && !(d[*from] > 0))
    ++*from;
  if (*from == corners)
    return 0;
  reached = 1 << *from;
  for (int more = 1; more;) {
    more = 0;
    for (int c = 0; c < corners; c++)
      for (int a = 0; a < dim; a++)
        if (d[c] > 0 && !(reached >> c & 1) && (reached >> (c ^ 1 << a) & 1)) {
          reached |= 1 << c;
          more = 1;
        }
  }
  for (*to = 0; *to < corners; ++*to)
    if (d[*to] > 0 && !(reached >> *to & 1))
      return 1;
  return 0;
}

int mn_touching_passes(const mn_mac *mac, const int cell[3], int from, int to)
{
  const mn_field *node = &mac->geometry.solid;
  int dim = mac->grid.dim, list[POINTS * POINTS * POINTS], count = 0;
  unsigned char seen[POINTS * POINTS * POINTS] = {0};
  static const int stride[3] = {1, POINTS, POINTS * POINTS};
  double h = mac->grid.dx / PARTS;
  mn_vec3 low = mn_position(node, cell[0], cell[1], cell[2]);
  int goal = 0;
  for (int a = 0; a < dim; a++) {
    list[0] = (a ? list[0] : 0) + (from >> a & 1) * PARTS * stride[a];
    goal += (to >> a & 1) * PARTS * stride[a];
  }
  seen[list[count++]] = 1;
  for (int n = 0; n < count; n++)
    for (int way = 0; way < 2 * dim; way++) {
      int axis = way / 2, up = way % 2 ? 1 : -1;
      int at[3] = {list[n] % POINTS, list[n] / POINTS % POINTS, list[n] / POINTS / POINTS};
      int next = list[n] + up * stride[axis];
      at[axis] += up;
      if (at[axis] < 0 || at[axis] > PARTS || seen[next])
        continue;
      if (next == goal)
        return 1;
      mn_vec3 x = mn_add(low, mn_v3(h * at[0], h * at[1], dim == 3 ? h * at[2] : 0));
      seen[next] = 1;
      if (mn_mac_standing_distance(mac, x) > 0.5 * h)
        list[count++] = next;
    }
  return 0;
}
