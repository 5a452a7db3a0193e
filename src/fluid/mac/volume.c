/* Volume of the liquid under its surface.

   Volumes of particles are kept to rounding. The surface around them can be wrong in two ways:

   Packing. Where errors of the paths crowd particles or thin them out, the projection is asked for
   the divergence (d - 1)/tau that brings the density d back to 1 [after Losasso et al. 2008].

   Noise. The surface of scattered particles lies right only on average over many cells; folds,
   drops and gaps narrower than a cell add to that. All of it is shifted along its normal by the one
   small length delta with

       volume under phi - delta  +  volume of spray  =  volume of all particles

   by Newton's method. |delta| is at most SHIFT cells:
   it evens out noise, but cannot hide water that is packed wrongly.

   Spray: particles in cells whose middle is more than SPRAY cells off the surface.

   Verified by tests/verify/test_water.c, long_water.c. */
#include "fluid/mac/internal.h"

#include <math.h>

/* Densities this far from 1 are the noise of scattered particles. */
static const double BAND = 0.01;
/* The rest is removed over this many crossings of a cell by gravity waves, sqrt(dx/g). */
static const double RELAXATION = 1;
static const double SHIFT = 0.1;
static const double SPRAY = 0.6;

/* ---- the shift ------------------------------------------------------------------------------- */

/* Volume under phi - delta, and its derivative by delta, from hats that are smooth where the
   surface lies on faces. */
static double enclosed(mn_mac *mac, const mn_field *phi, double delta, double *derivative)
{
  const mn_field *space = &mac->geometry.volume;
  double dx = mac->grid.dx, cell = pow(dx, mac->grid.dim);
  int slabs = mn_slabs(phi);
  double *inside = mac->slab, *rim = mac->slab + slabs;
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int s = 0; s < slabs; s++) {
    int k, j0, j1;
    mn_slab(phi, s, &k, &j0, &j1);
    inside[s] = rim[s] = 0;
    for (int j = j0; j < j1; j++)
      for (int i = 0; i < phi->n[0]; i++) {
        double open = mn_get(space, i, j, k);
        if (!(open > 0))
          continue;
        inside[s] += open * mn_liquid_part(phi, mn_shell_seen(mac, i, j, k), i, j, k, delta);
        rim[s] += open * fmax(0, 1 - fabs(mn_get(phi, i, j, k) - delta) / dx);
      }
  }
  *derivative = mn_reduce(mac->grid.exec, MN_SUM, rim, slabs) * cell / dx;
  return mn_reduce(mac->grid.exec, MN_SUM, inside, slabs) * cell;
}

double mn_water_particles_volume(mn_mac *mac, const mn_particles *p, const mn_field *phi,
                                 double shift, double *spray)
{
  int parts = mn_slabs(phi); /* as many for any number of threads */
  int64_t count = (int64_t)p->count;
  const int *n = phi->n;
  double *all = mac->slab, *off = mac->slab + parts;
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int s = 0; s < parts; s++) {
    all[s] = off[s] = 0;
    for (int64_t q = count * s / parts; q < count * (s + 1) / parts; q++) {
      double volume = *mn_particle_volume(p, (size_t)q);
      int64_t c = mn_particle_cell(&mac->water.cells, &mac->grid, mn_particle(p, (size_t)q));
      double distance =
          mn_get(phi, (int)(c % n[0]), (int)(c / n[0] % n[1]), (int)(c / n[0] / n[1])) - shift;
      all[s] += volume;
      off[s] += distance > SPRAY * mac->grid.dx ? volume : 0;
    }
  }
  *spray = mn_reduce(mac->grid.exec, MN_SUM, off, parts);
  return mn_reduce(mac->grid.exec, MN_SUM, all, parts);
}

void mn_water_enclose(mn_mac *mac, mn_field *phi)
{
  double most = SHIFT * mac->grid.dx, delta = 0;
  if (!mac->def->fluid.volume_control)
    return;
  for (int n = 0; n < 3; n++) {
    double slope, spray, all;
    all = mn_water_particles_volume(mac, &mac->water.next, phi, delta, &spray);
    double missing = all - spray - enclosed(mac, phi, delta, &slope);
    if (slope > 0)
      delta = mn_clamp(delta + missing / slope, -most, most);
  }
  for (size_t c = 0; c < phi->size; c++)
    phi->data[c] -= delta;
}

/* ---- the divergence -------------------------------------------------------------------------- */

/* All cells around are liquid: what is missing here is not air. */
static int is_deep(const mn_field *phi, int i, int j, int k)
{
  return mn_get(phi, i, j, k) < -1.5 * phi->grid->dx;
}

/* Water parts from a wall nearby: what is missing here is the gap that opens, not an error, and to
   close it would be suction. */
static int parting(const mn_mac *mac, int i, int j, int k)
{
  return mac->state.held.data && mn_separate_near(&mac->state.held, i, j, k, 1);
}

void mn_water_target(mn_mac *mac, const mn_field *phi)
{
  const mn_field *d = &mac->water.density;
  mn_field *target = &mac->water.target;
  double g = mn_length(mac->def->fluid.gravity), dt = mac->dt;
  double tau = fmax(dt, RELAXATION * (g > 0 ? sqrt(mac->grid.dx / g) : 10 * dt));
  int on = mac->def->fluid.volume_control;
  for (int k = 0; k < d->n[2]; k++)
    for (int j = 0; j < d->n[1]; j++)
      for (int i = 0; i < d->n[0]; i++) {
        double e = mn_get(d, i, j, k) - 1, value = 0;
        if (e > BAND)
          value = fmin(e - BAND, 0.5) / tau;
        else if (e < -BAND && is_deep(phi, i, j, k) && !parting(mac, i, j, k))
          value = fmax(e + BAND, -0.5) / tau;
        value *= mn_get(&mac->geometry.volume, i, j, k); /* the divergence is per whole cell */
        mn_set(target, i, j, k, on && mn_get(phi, i, j, k) < 0 ? value : 0);
      }
}
