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
    double sum = 0, sum_rim = 0;
    for (int j = j0; j < j1; j++)
      for (int i = 0; i < phi->n[0]; i++) {
        double open = mn_get(space, i, j, k);
        if (!(open > 0))
          continue;
        sum += open * mn_liquid_part(phi, mn_shell_seen(mac, i, j, k), i, j, k, delta);
        double near = 1 - fabs(mn_get(phi, i, j, k) - delta) / dx;
        sum_rim += open * (near > 0 ? near : 0);
      }
    inside[s] = sum;
    rim[s] = sum_rim;
  }
  *derivative = mn_reduce(mac->grid.exec, MN_SUM, rim, slabs) * cell / dx;
  return mn_reduce(mac->grid.exec, MN_SUM, inside, slabs) * cell;
}

/* Particles [*first, *last) of part s of as many parts as there are slabs, for any number of
   threads. */
static inline void part_of(int64_t count, int s, int parts, int64_t *first, int64_t *last)
{
  *first = count * s / parts;
  *last = count * (s + 1) / parts;
}

double mn_water_particles_volume(mn_mac *mac, const mn_particles *p, const mn_field *phi,
                                 double shift, double *spray)
{
  int parts = mn_slabs(phi);
  const int *n = phi->n;
  double *all = mac->slab, *off = mac->slab + parts, far = SPRAY * mac->grid.dx;
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int s = 0; s < parts; s++) {
    int64_t q, last;
    double sum = 0, sum_off = 0;
    for (part_of((int64_t)p->count, s, parts, &q, &last); q < last; q++) {
      double volume = *mn_particle_volume(p, (size_t)q);
      int at[3] = {0, 0, 0};
      mn_particle_place(n, &mac->grid, mn_particle(p, (size_t)q), at);
      sum += volume;
      sum_off += mn_get(phi, at[0], at[1], at[2]) - shift > far ? volume : 0;
    }
    all[s] = sum;
    off[s] = sum_off;
  }
  *spray = mn_reduce(mac->grid.exec, MN_SUM, off, parts);
  return mn_reduce(mac->grid.exec, MN_SUM, all, parts);
}

static double next_volume(mn_mac *mac)
{
  const mn_particles *p = &mac->water.next;
  int parts = mn_slabs(&mac->liquid_next);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int s = 0; s < parts; s++) {
    int64_t q, last;
    double sum = 0;
    for (part_of((int64_t)p->count, s, parts, &q, &last); q < last; q++)
      sum += *mn_particle_volume(p, (size_t)q);
    mac->slab[s] = sum;
  }
  return mn_reduce(mac->grid.exec, MN_SUM, mac->slab, parts);
}

/* The last cell whose particles start at q or before. */
static int64_t cell_of(const mn_particle_cells *c, int64_t q)
{
  int64_t low = 0, high = (int64_t)c->n[0] * c->n[1] * c->n[2];
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    *(c->start[middle] <= q ? &low : &high) = middle;
  }
  return low;
}

/* The spray of mn_water_particles_volume among the particles `next`, which lie sorted: cell by
   cell. */
static double next_spray(mn_mac *mac, const mn_field *phi, double shift)
{
  const mn_particles *p = &mac->water.next;
  const mn_particle_cells *cells = &mac->water.cells;
  const int *n = phi->n;
  int parts = mn_slabs(phi);
  double far = SPRAY * mac->grid.dx;
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int s = 0; s < parts; s++) {
    int64_t first, last;
    double sum = 0;
    part_of((int64_t)p->count, s, parts, &first, &last);
    for (int64_t c = cell_of(cells, first); first < last; c++) {
      int64_t end = cells->start[c + 1] < last ? cells->start[c + 1] : last;
      if (end > first &&
          mn_get(phi, (int)(c % n[0]), (int)(c / n[0] % n[1]), (int)(c / n[0] / n[1])) - shift >
              far)
        for (int64_t q = first; q < end; q++)
          sum += *mn_particle_volume(p, (size_t)q);
      first = end > first ? end : first;
    }
    mac->slab[s] = sum;
  }
  return mn_reduce(mac->grid.exec, MN_SUM, mac->slab, parts);
}

void mn_water_enclose(mn_mac *mac, mn_field *phi)
{
  double most = SHIFT * mac->grid.dx, delta = 0;
  if (!mac->def->fluid.volume_control)
    return;
  double all = next_volume(mac);
  for (int n = 0; n < 3; n++) {
    double slope, spray = next_spray(mac, phi, delta);
    double missing = all - spray - enclosed(mac, phi, delta, &slope);
    if (slope > 0)
      delta = mn_clamp(delta + missing / slope, -most, most);
  }
  int64_t size = (int64_t)phi->size;
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int64_t c = 0; c < size; c++)
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

/* The divergence that brings a liquid cell's density back to 1. */
static double wish(const mn_mac *mac, double tau, int deep, int i, int j, int k)
{
  double e = mn_get(&mac->water.density, i, j, k) - 1;
  if (e > BAND)
    return fmin(e - BAND, 0.5) / tau;
  return e < -BAND && deep && !parting(mac, i, j, k) ? fmax(e + BAND, -0.5) / tau : 0;
}

static double time_to_relax(const mn_mac *mac)
{
  double g = mn_length(mac->def->fluid.gravity);
  return fmax(mac->dt, RELAXATION * (g > 0 ? sqrt(mac->grid.dx / g) : 10 * mac->dt));
}

double mn_water_wish_without_air(const mn_mac *mac, int i, int j, int k)
{
  int on = mac->def->fluid.volume_control && mac->dt > 0; /* not before the first substep */
  return on ? wish(mac, time_to_relax(mac), 1, i, j, k) : 0;
}

void mn_water_target(mn_mac *mac, const mn_field *phi)
{
  mn_field *target = &mac->water.target;
  double tau = time_to_relax(mac);
  int on = mac->def->fluid.volume_control, slabs = mn_slabs(target);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int s = 0; s < slabs; s++) {
    int k, j0, j1;
    mn_slab(target, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++)
      for (int i = 0; i < target->n[0]; i++) {
        int inside = on && mn_get(phi, i, j, k) < 0;
        mn_set(target, i, j, k, inside ? wish(mac, tau, is_deep(phi, i, j, k), i, j, k) : 0);
      }
  }
}
