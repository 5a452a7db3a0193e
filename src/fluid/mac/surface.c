/* The liquid's surface from its particles.

   Below a flat surface at the depth s (in cells) the density d (density.c) of evenly spread liquid
   is F(s) = 1/2 + 3/4 s - s^3/3 (|s| < 1/2), and 1 - (3/2 - s)^3/6 further down. The level set is
   -F^-1(d): the surface lies where it encloses the particles' volume, it shifts with them by the
   same amount, and it averages over some 9 (27) cells' worth of particles, which keeps it smooth.
   The second moment of B is the same in all directions, so oblique surfaces lie right to about 0.01
   cells. Beyond the cells beside the surface distances come from fast sweeping (redistance.c).

   Spray and sheets thinner than about a third of a cell have no surface; they fly free of pressure.

   What keeps its volume right: volume.c.

   Verified by tests/verify/test_water.c. */
#include "fluid/mac/internal.h"

#include <math.h>

#include "base/status.h"

/* A cell with less space around it than this says nothing about the surface. */
static const double SLIVER = 0.4;
/* A cell that a solid cuts is no air where those around it lie deeper than this, in cells. */
static const double DEEP = 0.5;

/* F^-1: depth in cells of a density, in [-1.5, 1.5]. */
static double depth_of(double density)
{
  if (density >= 1)
    return 1.5;
  if (density <= 0)
    return -1.5;
  double high = density > 0.5 ? density : 1 - density, s;
  if (high >= 1 - 1.0 / 6)
    s = 1.5 - cbrt(6 * (1 - high));
  else { /* 3/4 s - s^3/3 = high - 1/2, by Newton from the linear part */
    double r = high - 0.5;
    s = r / 0.75;
    for (int n = 0; n < 5; n++)
      s -= (0.75 * s - s * s * s / 3 - r) / (0.75 - s * s);
  }
  return density > 0.5 ? s : -s;
}

/* Whether the neighbour of cell `at` along axis a can tell of the surface there: not one behind a
   wall. */
static int tells(const mn_mac *mac, const int at[3], int a, int up)
{
  const mn_field *space = &mac->water.space;
  const mn_immersed *surface = mac->shell.on ? mac->shell.end.surface : NULL;
  if (at[a] + up < 0 || at[a] + up >= mac->grid.n[a] ||
      (surface && !mn_barrier_linked(surface, MN_CELL, at, a, up > 0)))
    return 0;
  int64_t c = mn_index(space, at[0], at[1], at[2]) + up * space->stride[a];
  return space->at[c] >= SLIVER && !mn_water_is_wall(mac, at, a, up);
}

/* Slivers beside solids hold too few particles to tell: they take the mean of their neighbours that
   are none. */
static void mend_sliver(const mn_mac *mac, mn_field *phi, int i, int j, int k)
{
  const mn_field *space = &mac->water.space;
  double sum = 0, weight = 0;
  int at[3] = {i, j, k};
  for (int a = 0; a < phi->grid->dim; a++)
    for (int up = -1; up <= 1; up += 2) {
      if (!tells(mac, at, a, up))
        continue;
      double w = space->at[mn_index(space, i, j, k) + up * space->stride[a]];
      sum += w * phi->at[mn_index(phi, i, j, k) + up * phi->stride[a]];
      weight += w;
    }
  if (weight > 0)
    mn_set(phi, i, j, k, sum / weight);
}

static void mend_slivers(const mn_mac *mac, mn_field *phi)
{
  int slabs = mn_slabs(phi);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int s = 0; s < slabs; s++) {
    int k, j0, j1;
    mn_slab(phi, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++)
      for (int i = 0; i < phi->n[0]; i++)
        if (mn_get(&mac->water.space, i, j, k) < SLIVER)
          mend_sliver(mac, phi, i, j, k);
  }
}

/* Depth in cells on average of the neighbours that can tell; 0: some lie at the surface. */
static double depth_around(const mn_mac *mac, int i, int j, int k)
{
  const mn_field *space = &mac->water.space, *d = &mac->water.density;
  double sum = 0, weight = 0;
  int at[3] = {i, j, k};
  for (int a = 0; a < mac->grid.dim; a++)
    for (int up = -1; up <= 1; up += 2) {
      if (!tells(mac, at, a, up))
        continue;
      int64_t c = mn_index(space, i, j, k) + up * space->stride[a];
      double depth = depth_of(d->at[c]);
      if (space->at[c] >= 1 && depth < DEEP)
        return 0;
      sum += space->at[c] * depth;
      weight += space->at[c];
    }
  return weight > 0 ? sum / weight : 0;
}

/* At the corners of solids, past which water slides, cells run low on particles, and so they do
   where water is drawn along walls. Deep in the water that is no air: p = 0 there would be a blow
   (a box moved at 0.12 m/s below 0.5 m of water was struck by 33 kPa); and where no air was near it
   cannot have come there, whatever lies around: a vessel that is full stays full. Nor is there a
   surface, which the shift of all surfaces could move past the centre. Where water is parting from
   its walls nearby it is; and where walls stick, such holes are the only way by which light bodies
   get off. Cells filled for want of air are marked. */
static void fill_holes(mn_mac *mac, mn_field *phi)
{
  const int *n = mac->grid.n;
  const mn_field *space = &mac->water.space, *held = &mac->state.held;
  int slabs = mn_slabs(phi);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int s = 0; s < slabs; s++) {
    int k, j0, j1;
    mn_slab(phi, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++)
      for (int i = 0; i < phi->n[0]; i++) {
        double room = mn_get(space, i, j, k), here = mn_get(phi, i, j, k);
        unsigned char *hole = &mac->water.hole[i + n[0] * (j + (int64_t)n[1] * k)];
        *hole = 0;
        if (here <= -DEEP * mac->grid.dx || !(mn_get(&mac->geometry.volume, i, j, k) > 0) ||
            mac->geometry.inflow[phi->at - phi->data + mn_index(phi, i, j, k)])
          continue;
        double depth = here >= 0 && room < 1 && room >= SLIVER ? depth_around(mac, i, j, k) : 0;
        if (depth > DEEP && !(held->data && mn_separate_near(held, i, j, k, 1)))
          mn_set(phi, i, j, k, -depth * mac->grid.dx);
        else if (!mn_air_was_near(mac, i, j, k)) {
          mn_set(phi, i, j, k, -DEEP * mac->grid.dx);
          *hole = 1;
        }
      }
  }
}

/* Holes that hold trapped air are as they were. */
static mn_status open_trapped(mn_mac *mac, mn_field *phi)
{
  const int *n = mac->grid.n;
  int any;
  MN_TRY(mn_air_find_trapped(mac, mac->water.hole, &any));
  for (int k = 0; k < n[2] && any; k++)
    for (int j = 0; j < n[1]; j++)
      for (int i = 0; i < n[0]; i++)
        if (mac->water.hole[i + n[0] * (j + (int64_t)n[1] * k)])
          mn_set(phi, i, j, k, -depth_of(mn_get(&mac->water.density, i, j, k)) * mac->grid.dx);
  return MN_OK;
}

/* phi <- -F^-1(d) on row j, k */
static void invert_row(const mn_mac *mac, mn_field *phi, int j, int k)
{
  const mn_field *d = &mac->water.density;
  const mn_mac_geometry *g = &mac->geometry;
  int64_t base = phi->at - phi->data;
  for (int i = 0; i < d->n[0]; i++) {
    double s = depth_of(mn_get(d, i, j, k));
    int source = g->inflow[base + mn_index(phi, i, j, k)];
    if (source) /* full while it blows */
      s = mn_timefn_eval(&mac->def->sources[source - 1].ramp, g->time) != 0 ? 0.5 : -0.5;
    mn_set(phi, i, j, k, -s * mac->grid.dx);
  }
}

mn_status mn_water_level_set(mn_mac *mac, mn_field *phi)
{
  int slabs = mn_slabs(phi);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int s = 0; s < slabs; s++) {
    int k, j0, j1;
    mn_slab(phi, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++)
      invert_row(mac, phi, j, k);
  }
  if ((mac->separate.on || !mac->bodies.on) && !mac->water.hollow) {
    fill_holes(mac, phi);
    MN_TRY(open_trapped(mac, phi));
  }
  mend_slivers(mac, phi);
  mn_liquid_finish(mac, phi);
  mn_water_enclose(mac, phi);
  mn_liquid_put_on_surface(mac, phi);
  return MN_OK;
}
