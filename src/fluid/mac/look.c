/* What writers and probes see of the grid fluid: fields and integrals at the current time. */
#include "fluid/mac/internal.h"

#include <math.h>

/* A state loaded from a checkpoint is of another time than the geometry at hand. */
static void refresh(mn_mac *mac)
{
  if (mac->geometry.time != mac->state.scalars[0]) {
    if (mn_mac_bodies_geometry(mac, mac->state.scalars[0], mac->state.scalars[1]) != MN_OK)
      return; /* shown as it was */
    if (mac->state.liquid.data && !mac->water.on)
      mn_liquid_plan(mac, &mac->state.liquid);
    mac->report.divergence =
        mn_mac_divergence(mac, &mac->state.liquid, &mac->state.held, mac->state.u);
  }
}

mn_vec3 mn_mac_top(const mn_mac *mac)
{
  const mn_domain_def *d = &mac->def->domain;
  mn_vec3 top;
  for (int a = 0; a < 3; a++)
    top.v[a] = d->origin.v[a] + (mac->def->fluid.gravity.v[a] < 0 ? d->size.v[a] : 0);
  return top;
}

/* The whole pressure: of smoke with that of the fluid at rest, 0 at the top of the domain. */
static void show_pressure(mn_mac *mac)
{
  const mn_fluid_def *fluid = &mac->def->fluid;
  mn_vec3 top = mn_mac_top(mac), weight = mn_scale(fluid->density, fluid->gravity);
  const mn_field *p = &mac->state.p;
  for (int k = 0; k < p->n[2]; k++)
    for (int j = 0; j < p->n[1]; j++)
      for (int i = 0; i < p->n[0]; i++) {
        int64_t q = mn_index(p, i, j, k);
        double rest =
            mac->state.liquid.data ? 0 : mn_dot(weight, mn_sub(mn_position(p, i, j, k), top));
        double lift = mac->state.lift.data ? mac->state.lift.at[q] : 0;
        mac->shown.at[q] = mac->geometry.volume.at[q] > 0 ? p->at[q] + rest + lift : 0;
      }
  mn_extension_apply(&mac->geometry.cell_extension, MN_CONTINUE_CONSTANT, &mac->shown);
  const unsigned char *empty = mac->geometry.empty;
  for (size_t q = 0; empty && q < p->size; q++)
    mac->shown.data[q] = empty[q] ? 0 : mac->shown.data[q];
  mn_mac_fill_cells(&mac->shown);
}

mn_mac_view mn_mac_look(const mn_fluid *fluid)
{
  mn_mac *mac = fluid->self;
  refresh(mac);
  show_pressure(mac);
  return (mn_mac_view){.grid = &mac->grid,
                       .velocity = mac->state.u,
                       .pressure = &mac->shown,
                       .smoke = mac->state.smoke.data ? &mac->state.smoke : NULL,
                       .temperature = mac->state.temperature.data ? &mac->state.temperature : NULL,
                       .liquid = mac->state.liquid.data ? &mac->state.liquid : NULL,
                       .particles = mac->water.on ? &mac->state.particles : NULL,
                       .solid = &mac->geometry.solid,
                       .obstacles = mac->geometry.obstacles.data ? &mac->geometry.obstacles
                                                                 : &mac->geometry.solid,
                       .open = mac->geometry.open,
                       .volume = &mac->geometry.volume,
                       .empty = mac->geometry.empty};
}

mn_vec3 mn_mac_particle_velocity(const mn_fluid *fluid, size_t particle)
{
  const mn_mac *mac = fluid->self;
  const mn_particles *p = &mac->state.particles;
  const double *row = mn_particle(p, particle);
  mn_vec3 x = mn_v3(row[0], row[1], p->dim == 3 ? row[2] : 0), v = {{0, 0, 0}};
  for (int a = 0; a < p->dim; a++)
    v.v[a] = mn_water_is_marked(mac) ? mn_sample(&mac->state.u[a], x) : row[p->dim + a];
  return v;
}

/* Fluid part of a cell: what solids and air leave. */
static double fluid_part(const mn_mac *mac, int i, int j, int k)
{
  double part = mn_get(&mac->geometry.volume, i, j, k);
  if (mac->state.liquid.data)
    part *= mn_liquid_part(&mac->state.liquid, mn_shell_seen(mac, i, j, k), i, j, k, 0);
  return part;
}

mn_mac_totals mn_mac_measure(const mn_fluid *fluid)
{
  mn_mac *mac = fluid->self;
  refresh(mac);
  const mn_field *cells = &mac->geometry.volume;
  double rho = mac->def->fluid.density, volume = mac->grid.dx * mac->grid.dx;
  volume *= mac->grid.dim == 3 ? mac->grid.dx : 1;
  int slabs = mn_slabs(cells);
  enum { ENERGY, VOLUME, SMOKE, MX, MY, MZ, SPEED, SUMS };
  double *sum[SUMS];
  for (int n = 0; n < SUMS; n++)
    sum[n] = mac->slab + n * (slabs + 1);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int s = 0; s < slabs; s++) {
    double total[SUMS] = {0};
    int k, j0, j1;
    mn_slab(cells, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++)
      for (int i = 0; i < cells->n[0]; i++) {
        double part = fluid_part(mac, i, j, k) * volume;
        if (!(part > 0))
          continue;
        total[VOLUME] += part;
        if (mac->state.smoke.data)
          total[SMOKE] += part * mn_get(&mac->state.smoke, i, j, k);
        double speed2 = 0;
        for (int a = 0; a < mac->grid.dim; a++) { /* each face shared by its two cells */
          const mn_field *u = &mac->state.u[a];
          double low = mn_get(u, i, j, k), high = u->at[mn_index(u, i, j, k) + u->stride[a]];
          total[ENERGY] += 0.25 * rho * part * (low * low + high * high);
          total[MX + a] += 0.5 * rho * part * (low + high);
          speed2 += fmax(low * low, high * high);
        }
        total[SPEED] = fmax(total[SPEED], sqrt(speed2));
      }
    for (int n = 0; n < SUMS; n++)
      sum[n][s] = total[n];
  }
  const mn_exec *exec = mac->grid.exec;
  mn_mac_totals t = {.kinetic_energy = mn_reduce(exec, MN_SUM, sum[ENERGY], slabs),
                     .volume = mn_reduce(exec, MN_SUM, sum[VOLUME], slabs),
                     .smoke = mn_reduce(exec, MN_SUM, sum[SMOKE], slabs),
                     .momentum = mn_v3(mn_reduce(exec, MN_SUM, sum[MX], slabs),
                                       mn_reduce(exec, MN_SUM, sum[MY], slabs),
                                       mn_reduce(exec, MN_SUM, sum[MZ], slabs)),
                     .max_speed = mn_reduce(exec, MN_MAX, sum[SPEED], slabs)};
  t.divergence = mac->report.divergence;
  t.mended = mac->keep.mended;
  if (mac->water.on) {
    double spray;
    t.particles =
        mn_water_particles_volume(mac, &mac->state.particles, &mac->state.liquid, 0, &spray);
    t.volume += spray;
  }
  return t;
}
