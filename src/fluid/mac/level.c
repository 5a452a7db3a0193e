/* The level of a closed region: the constant part of its pressure, as bodies feel it.

   A constant pressure on a smooth skin loads all of its points alike, N of the surface's elements.
   W^T d, the same pressure through the faces d of the grid, does so on average only: with two
   points a cell it differs by 2 % from point to point. Couplings find a constant p0 that acts by N;
   but p0 is the mean over the volume, and the pressure that is left, of mean 0, is no small one at
   the bodies: rho g H/2 under a skin on water of depth H, 2 % of which is half the weight of a skin
   of 20 kg/m, and a slack one bears nothing of it. So the fluid says what the pressure is there on
   average,

       level_r = sum_f b [A (1 - w) p_f - s mass (U - before)/dt] / sum_f b A (1 - w),

   s = 1 or -1 where the region is on the low or the high side of a face, the pressure at the wall
   and not in the cell before it (loads.c), and leaves it out of F. Who asked (mn_interface.level)
   adds level N. b is the part of a face that is a wall (compatible.c), so that what mends faces
   meets no force there: sum_f b s F = 0 over the faces of a region. So has it the one system, whose
   breaths are these (couple/monolithic_regions.c); with b = 1 here the two differed by what N and
   W^T d differ, 1e-2 Pa of p0 at 16 cells across.

   Skins are what bears nothing uneven: where a region has thin faces, the sums are over these
   alone, and what lies at another depth has no part in it. (With the mean over a drum's skin and a
   ball in its water the skin had the difference to it through faces: 1 J.) Closed bodies bear a
   constant as well through faces as by N.

   Of a fluid on the other side as well, half of the mass is its own. Several parts of the pressure
   solve that were told as one region have one level: what is left out of F is a constant pressure
   of all that the coupling calls the region.

   Verified by tests/verify/test_closed_drum.c. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "fluid/mac/internal.h"

/* A face as the regions on both sides see it. */
typedef struct walls {
  int32_t told[2]; /* closed regions of the coupling, or -1; low, high */
  int both;        /* there is fluid on both sides */
  double p[2];     /* Pa */
} walls;

static walls look(const mn_mac *mac, const mn_closed_face *f)
{
  walls w = {{-1, -1}, 1, {0, 0}};
  for (int high = 0; high < 2; high++) {
    int at[3] = {f->i, f->j, f->k};
    at[f->axis] -= !high;
    int inside = at[f->axis] >= 0 && at[f->axis] < mac->grid.n[f->axis];
    int r = inside ? mn_pressure_region_of(mac->pressure, at[0], at[1], at[2]) : -1;
    w.both &= r >= 0;
    if (r < 0)
      continue;
    w.told[high] = mac->enclosure.number[r];
    w.p[high] = mn_get(&mac->dp, at[0], at[1], at[2]);
  }
  if (w.told[0] == w.told[1]) /* a constant does nothing */
    w.told[0] = w.told[1] = -1;
  return w;
}

/* skins[r] <- 1 where thin faces bound the region. */
static void find_skins(const mn_mac *mac, double *skins)
{
  const mn_mac_bodies *b = &mac->bodies;
  for (size_t r = 0; r < b->weights->rows; r++) {
    walls w = look(mac, &b->face[r]);
    for (int high = 0; high < 2 && b->face[r].element != MN_NO_ELEMENT; high++)
      if (w.told[high] >= 0)
        skins[w.told[high]] = 1;
  }
}

/* Faces weigh what mending them moves. */
static void sum_up(const mn_mac *mac, const double *skins, double *force, double *area)
{
  const mn_mac_bodies *b = &mac->bodies;
  const double *wall = b->wall.data;
  for (size_t r = 0; r < b->weights->rows; r++) {
    walls w = look(mac, &b->face[r]);
    if (w.told[0] < 0 && w.told[1] < 0)
      continue;
    mn_dual d = mn_mac_bodies_dual(mac, r);
    double inertia = (w.both ? 0.5 : 1) * d.mass * (b->U[r] - d.before) / mac->dt;
    int thin = b->face[r].element != MN_NO_ELEMENT;
    for (int high = 0; high < 2; high++)
      if (w.told[high] >= 0 && (thin || skins[w.told[high]] == 0)) {
        force[w.told[high]] += wall[r] * (d.area * w.p[high] + (high ? inertia : -inertia));
        area[w.told[high]] += wall[r] * d.area;
      }
  }
}

mn_status mn_mac_bodies_level(mn_mac *mac, double *level)
{
  mn_mac_bodies *b = &mac->bodies;
  size_t count = (size_t)mac->enclosure.told.count;
  double *area, A = pow(mac->grid.dx, mac->grid.dim - 1);
  memset(level, 0, count * sizeof *level);
  MN_TRY(mn_mac_number_closed(mac));
  MN_TRY(mn_mac_bodies_find_walls(mac));
  MN_TRY(mn_mac_region_sums(mac, 2, &area));
  MN_TRY(mn_reserve(mac->ctx, "skins of regions", count, sizeof(double), &b->skins));
  double *skins = b->skins.data;
  memset(area, 0, count * sizeof *area);
  if (count)
    memset(skins, 0, count * sizeof *skins);
  find_skins(mac, skins);
  sum_up(mac, skins, level, area);
  for (size_t n = 0; n < count; n++)
    level[n] = area[n] > 0 ? level[n] / area[n] : 0;
  for (size_t r = 0; r < b->weights->rows; r++) {
    const mn_closed_face *f = &b->face[r];
    walls w = look(mac, f);
    double closed = A * mn_mac_bodies_closed(mac, r);
    for (int high = 0; high < 2; high++)
      if (w.told[high] >= 0)
        b->F[r] += (high ? closed : -closed) * level[w.told[high]];
  }
  return MN_OK;
}
