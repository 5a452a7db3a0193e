/* Elements of rigid bodies that reach into walls.

   A piston that reaches into the wall of its cylinder presses on the fluid, and sweeps, with what
   of its end is in the cylinder. Of an element that a wall cuts, the part in the fluid is what the
   distances at its points leave, linear between them; the side of the element is looked for from
   the middle of that part. That is as it was at the start of the substep: where a body is expected
   may be in a floor that it lands on. Skins that lie on walls are not cut: they give way there.

   Verified by tests/verify/test_closed_plunger.c. */
#include "fluid/mac/enclose.h"

#include <math.h>

#include "fluid/mac/internal.h"

/* Cells: what is no deeper lies on the wall, and contact leaves it there. */
static const double SHALLOW = 0.02;

/* The polygon of `count` corners, cut off where d < 0; returns how many are left. */
static int clip(int count, mn_vec3 *x, const double *d)
{
  mn_vec3 kept[4];
  int n = 0;
  for (int k = 0; k < count; k++) {
    int next = (k + 1) % count;
    if (d[k] >= 0)
      kept[n++] = x[k];
    if ((d[k] < 0) != (d[next] < 0) && (count > 2 || k == 0))
      kept[n++] = mn_madd(x[k], d[k] / (d[k] - d[next]), mn_sub(x[next], x[k]));
  }
  for (int k = 0; k < n; k++)
    x[k] = kept[k];
  return n;
}

/* Length or area of a polygon in a plane, and its middle. */
static double measure(int count, const mn_vec3 *x, mn_vec3 *middle)
{
  double sum = 0;
  mn_vec3 at = {{0, 0, 0}};
  if (count == 2) {
    *middle = mn_scale(0.5, mn_add(x[0], x[1]));
    return mn_length(mn_sub(x[1], x[0]));
  }
  for (int k = 1; k + 1 < count; k++) {
    mn_vec3 across = mn_cross(mn_sub(x[k], x[0]), mn_sub(x[k + 1], x[0]));
    double area = 0.5 * mn_length(across);
    at = mn_madd(at, area / 3, mn_add(x[0], mn_add(x[k], x[k + 1])));
    sum += area;
  }
  *middle = sum > 0 ? mn_scale(1 / sum, at) : x[0];
  return sum;
}

double mn_mac_bare_part(const mn_mac *mac, const mn_interface *f, size_t element, mn_vec3 *middle)
{
  const uint32_t *point = f->element + (size_t)f->dim * element;
  mn_vec3 x[4] = {{{0}}};
  double d[3], deepest = 0;
  for (int k = 0; k < f->dim; k++)
    x[k] = f->X[point[k]];
  double whole = measure(f->dim, x, middle);
  if (!mac->def->solid_count || !f->rigid[point[0]] || f->two_sided[point[0]])
    return 1;
  for (int k = 0; k < f->dim; k++) {
    d[k] = mn_mac_obstacle_distance(mac, mac->bodies.start.X[point[k]]);
    deepest = fmin(deepest, d[k]);
  }
  if (deepest > -SHALLOW * mac->grid.dx || !(whole > 0))
    return 1;
  int count = clip(f->dim, x, d);
  if (count < f->dim)
    return 0;
  return measure(count, x, middle) / whole;
}
