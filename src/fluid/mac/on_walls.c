/* Skins that lie on walls.

   A skin parts cells by the links between their centres, a wall cuts faces by the distance at
   nodes. Where a skin lies on a wall's surface and the centres below it are in the wall, the open
   rest of the faces between these is on its other side: what flows there would slip along the wall
   to where the skin ends (a membrane over a nozzle's rim lost 17 % of what was blown into it, one
   in 3D most of it). Such faces are closed.

   Verified by tests/verify/test_closed_rim.c. */
#include "fluid/mac/internal.h"

/* Whether a skin blocks a link of the cell. */
static int is_beside_skin(const mn_immersed *im, const int cell[3])
{
  for (int a = 0; a < im->grid->dim; a++)
    for (int up = 0; up < 2; up++) {
      int at[3] = {cell[0], cell[1], cell[2]};
      at[a] += up;
      if (mn_immersed_blocks(im, a, at[0], at[1], at[2]))
        return 1;
    }
  return 0;
}

/* The middle of the corners of a face that are in the fluid, each drawn in to where the wall cuts
   the edges from it: within the open part. */
static mn_vec3 middle_of_open(const mn_field *node, int a, int i, int j, int k)
{
  int three = node->grid->dim == 3, b = three ? (a + 1) % 3 : 1 - a, c = three ? (a + 2) % 3 : -1;
  mn_vec3 sum = {{0, 0, 0}};
  double weight = 0;
  for (int n = 0; n < (three ? 4 : 2); n++) {
    int at[3] = {i, j, k};
    at[b] += n & 1;
    if (three)
      at[c] += n >> 1;
    double d = node->at[mn_index(node, at[0], at[1], at[2])];
    if (!(d > 0))
      continue;
    mn_vec3 x = mn_position(node, at[0], at[1], at[2]);
    for (int e = 0; e < (three ? 2 : 1); e++) { /* along the edges that end in the corner */
      int axis = e ? c : b, up = !(e ? n >> 1 : n & 1), to[3] = {at[0], at[1], at[2]};
      to[axis] += up ? 1 : -1;
      double other = node->at[mn_index(node, to[0], to[1], to[2])];
      double part = other > 0 ? 1 : d / (d - other);
      x.v[axis] += (up ? 0.5 : -0.5) * part * node->grid->dx;
    }
    sum = mn_madd(sum, 1, x);
    weight += 1;
  }
  return weight > 0 ? mn_scale(1 / weight, sum) : mn_position(node, i, j, k);
}

/* Of a face that a wall cuts, between centres that no skin parts from each other. Beside the end of
   a skin its way from one to the other by the open rest may meet it once. */
int mn_mac_is_behind_skin(const mn_mac *mac, const mn_immersed *im, int a, int i, int j, int k)
{
  const mn_field *cells = &mac->geometry.volume;
  int low[3] = {i, j, k}, high[3] = {i, j, k};
  low[a]--;
  if (low[a] < 0 || high[a] >= cells->n[a] ||
      !(is_beside_skin(im, low) || is_beside_skin(im, high)))
    return 0;
  mn_vec3 x = middle_of_open(&mac->geometry.solid, a, i, j, k);
  return mn_immersed_crosses(im, mn_position(cells, low[0], low[1], low[2]), x, NULL, NULL) ||
         mn_immersed_crosses(im, mn_position(cells, high[0], high[1], high[2]), x, NULL, NULL);
}
