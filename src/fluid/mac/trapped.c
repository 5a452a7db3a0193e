/* Air that walls trap against water in less than a cell.

   A lid that comes down on water leaves air above it for as long as they have not met. Once the gap
   is thinner than a cell, the cell with the surface is liquid for the grid, as a wall's own cells
   are; the region is closed, and what the lid still pushes aside has nowhere to go, though there is
   room. With d the density of particles (density.c), V the open part of a cell at the end of the
   substep and BAND more than noise makes of d, a region of water has then room for

       M = sum of m,    m = V max(0, 1 - BAND - d),

   and the net flow F into it was taken up there if M is not nothing beside F dt: by cells with room
   what walls push into them, q, but no more than F, and the rest by all,

       div u = -(k q + (F - k sum of q) m / M) / V,     k = F / sum of q, from 0 to 1.

   A region whose cells are full on the whole has none, though stirred water leaves some of them
   short of particles: sum of V (1 - d) must be above 0. (A sealed tank that was filled further took
   in 10 % more than it holds.)

   Likewise such air expands where a wall draws back that water cannot leave, if it was there
   before. At regions with bodies the coupling sees to it (spaces.c). Verified by
   tests/verify/test_trapped.c. */
#include "fluid/mac/enclose.h"

#include <math.h>

#include "base/status.h"
#include "fluid/mac/internal.h"

static const double BAND = 0.1;
/* Of F dt: less room is none. */
static const double LEAST = 0.1;
enum { SUMS = 4 }; /* by region; see mn_water_take_up */

static double room(const mn_mac *mac, int i, int j, int k)
{
  return mn_get(&mac->geometry.volume, i, j, k) *
         fmax(0, 1 - BAND - mn_get(&mac->water.density, i, j, k));
}

double mn_water_pushed(const mn_mac *mac, int i, int j, int k)
{
  double sum = 0;
  for (int a = 0; a < mac->grid.dim; a++)
    for (int high = 0; high < 2; high++) {
      const mn_field *w = &mac->geometry.open[a], *u = &mac->geometry.wall[a];
      const int64_t to = high ? mac->b.stride[a] : -mac->b.stride[a];
      int64_t face = mn_index(w, i, j, k) + (high ? w->stride[a] : 0);
      if (!mac->geometry.inflow[mac->b.at - mac->b.data + mn_index(&mac->b, i, j, k) + to])
        sum += (high ? -1 : 1) * (1 - w->at[face]) * u->at[face];
    }
  return sum / mac->grid.dx;
}

/* F, of a cell's volume a second, that region r takes up; 0: nothing is to be, or can be. */
static double taken_up(const mn_mac *mac, int r, double dt, double sum_tolerance, const double *sum)
{
  double flow = sum[SUMS * r] * dt / mac->def->fluid.density, least = flow > 0 ? LEAST : -1;
  if (!mn_pressure_get_region(mac->pressure, r).closed || fabs(sum[SUMS * r]) <= sum_tolerance ||
      sum[SUMS * r + 1] < least * flow * dt || (flow > 0 && sum[SUMS * r + 3] <= 0) ||
      (mac->separate.on && flow < 0) || (mac->bodies.on && mn_mac_bodies_touch(mac, r)))
    return 0;
  return flow;
}

mn_status mn_water_take_up(mn_mac *mac, double dt, double sum_tolerance, int *changed)
{
  mn_field *target = &mac->water.target;
  int count = mn_pressure_region_count(mac->pressure), any = 0;
  double *sum; /* of b; of the room; of q where there is room; of V (1 - d) */
  *changed = 0;
  for (int r = 0; r < count; r++)
    any |= mn_pressure_get_region(mac->pressure, r).closed;
  if (!any)
    return MN_OK;
  MN_TRY(mn_mac_region_sums(mac, SUMS, &sum));
  for (int pass = 0; pass < 2; pass++)
    for (int k = 0; k < target->n[2]; k++)
      for (int j = 0; j < target->n[1]; j++)
        for (int i = 0; i < target->n[0]; i++) {
          int r = mn_pressure_region_of(mac->pressure, i, j, k);
          double m = r < 0 ? 0 : room(mac, i, j, k), q = m > 0 ? mn_water_pushed(mac, i, j, k) : 0,
                 flow;
          if (!pass && r >= 0) {
            sum[SUMS * r] += mn_get(&mac->b, i, j, k);
            sum[SUMS * r + 1] += m;
            sum[SUMS * r + 2] += q;
            sum[SUMS * r + 3] +=
                mn_get(&mac->geometry.volume, i, j, k) * (1 - mn_get(&mac->water.density, i, j, k));
          } else if (m > 0 && (flow = taken_up(mac, r, dt, sum_tolerance, sum)) != 0) {
            double in = sum[SUMS * r + 2], k_in = in != 0 ? mn_clamp(flow / in, 0, 1) : 0;
            double all = k_in * q + (flow - k_in * in) * m / sum[SUMS * r + 1];
            mn_set(target, i, j, k,
                   mn_get(target, i, j, k) - all / mn_get(&mac->geometry.volume, i, j, k));
            *changed = 1;
          }
        }
  return MN_OK;
}
