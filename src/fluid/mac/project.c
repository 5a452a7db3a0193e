/* The pressure projection.

       u = u* - (dt/rho) grad p,   sum over a cell's faces of (w u + (1 - w) u_wall).n = 0

   w: open part of a face, u_wall the velocity of the solid, side or source that closes the rest.
   The flux of u_wall through the closed parts of a cell's faces is the flux through the wall inside
   the cell, exactly for a wall in rigid translation [Ng, Min, Gibou 2009; Batty et al. 2007].

   Water at separating walls has an inequality there (separate.c).

   Smoke solves for the increment of the pressure over that of the step before, whose gradient is in
   u* already (mac.c); water, whose surface moves, and smoke among bodies for the pressure itself,
   from the last one. */
#include "fluid/mac/internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "base/timer.h"

/* Residuals below this part of the velocity scale over dx are round-off. */
static const double ROUND_OFF = 1e-13;
/* Net flow into a closed region that counts as round-off, as part of speed times surface; and what
   counts as speed when all is at rest, in cells a substep. */
static const double FLOW_ROUND_OFF = 1e-8, LEAST_SPEED = 1e-3;
static const double NEXT_TO_NOTHING = 1e-8; /* m/s */

enum {
  BLOCK = 256
}; /* cells of a row at a time; with plain loops over single cells the right-hand
      side took 2.5 times as long at n = 128 */

/* The greater of `most` and all |x|; what is no number does not count. */
static double largest(const double *x, int count, double most)
{
  enum { LANES = 8 };
  double lane[LANES] = {0};
  int i = 0;
  for (; i + LANES <= count; i += LANES)
    for (int l = 0; l < LANES; l++) {
      double size = fabs(x[i + l]);
      lane[l] = size > lane[l] ? size : lane[l];
    }
  for (; i < count; i++)
    lane[0] = fabs(x[i]) > lane[0] ? fabs(x[i]) : lane[0];
  for (int l = 0; l < LANES; l++)
    most = lane[l] > most ? lane[l] : most;
  return most;
}

/* Fluxes through the low and high faces of cells in a row, per area. */
static void fluxes(const mn_mac_geometry *g, const mn_field *u, int a, int64_t q, int count,
                   double *restrict low, double *restrict high)
{
  int64_t s = u->stride[a];
  const double *restrict ul = u->at + q, *restrict uh = ul + s;
  const double *restrict wl = g->open[a].at + q, *restrict wh = wl + s;
  const double *restrict vl = g->wall[a].at + q, *restrict vh = vl + s;
  for (int t = 0; t < count; t++) {
    low[t] = wl[t] * ul[t] + (1 - wl[t]) * vl[t];
    high[t] = wh[t] * uh[t] + (1 - wh[t]) * vh[t];
  }
}

/* Divergence of cells from (i, j, k) on, over the one asked for to correct the liquid's volume.
 *speed, if it is not NULL: the greatest flux through their low faces, or more. */
static void divergences(const mn_mac *mac, const mn_field u[3], int i, int j, int k, int count,
                        double *restrict d, double *speed)
{
  double low[BLOCK], high[BLOCK], dx = mac->grid.dx;
  for (int a = 0; a < mac->grid.dim; a++) {
    fluxes(&mac->geometry, &u[a], a, mn_index(&u[a], i, j, k), count, low, high);
    for (int t = 0; t < count; t++)
      d[t] = (a ? d[t] : 0) + (high[t] - low[t]);
    if (speed)
      *speed = largest(low, count, *speed);
  }
  for (int t = 0; t < count; t++)
    d[t] /= dx;
  if (!mac->water.on)
    return;
  int64_t c = mn_index(&mac->b, i, j, k);
  const double *restrict target = &mac->water.target.at[c], *restrict part =
                                                                &mac->geometry.volume.at[c];
  for (int t = 0; t < count; t++)
    d[t] -= target[t] * part[t];
}

/* A region without air keeps its volume whatever the particles say: what expands where they crowd
   must contract elsewhere. In a shell that stretches, where they must spread again, that is evenly
   everywhere. In other regions it is where they are few (no surface here, near walls neither); the
   greater of both wishes is cut down to the smaller, so that trapped air stays where it is.
   Without, particles drift off walls that water is drawn along. Beside bodies, which such a flow
   would push off their balance, none is asked for. */
static mn_status relent_in_closed_regions(mn_mac *mac)
{
  int count = mn_pressure_region_count(mac->pressure), any = 0, even = mac->shell.on;
  double
      *sum; /* of the room and of the divergences asked for, those above 0 and below; by region */
  for (int r = 0; r < count; r++)
    any |= mn_pressure_get_region(mac->pressure, r).closed;
  if (!any)
    return MN_OK;
  MN_TRY(mn_mac_region_sums(mac, 3, &sum));
  mn_field *t = &mac->water.target;
  for (int pass = 0; pass < 2; pass++)
    for (int k = 0; k < t->n[2]; k++)
      for (int j = 0; j < t->n[1]; j++)
        for (int i = 0; i < t->n[0]; i++) {
          int r = mn_pressure_region_of(mac->pressure, i, j, k);
          if (r < 0 || !mn_pressure_get_region(mac->pressure, r).closed)
            continue;
          double part = mn_get(&mac->geometry.volume, i, j, k), old = mn_get(t, i, j, k);
          double wish = even ? old : mac->bodies.on ? 0 : mn_water_wish_without_air(mac, i, j, k);
          double *of = &sum[3 * r];
          if (!pass) {
            of[0] += part;
            of[wish > 0 ? 1 : 2] += wish * part;
            continue;
          }
          double most = fmin(of[1], -of[2]), own = wish > 0 ? of[1] : -of[2];
          double mean = of[0] > 0 ? (of[1] + of[2]) / of[0] : 0;
          mn_set(t, i, j, k, even ? wish - mean : own > most ? wish * most / own : wish);
        }
  return MN_OK;
}

/* Cells that must be free of divergence. */
static inline int holds_fluid(const mn_mac *mac, const mn_field *phi, int i, int j, int k)
{
  const mn_field *f = &mac->b;
  int64_t q = f->at - f->data + mn_index(f, i, j, k);
  return mac->geometry.cell_extension.layer[q] == 0 && !mac->geometry.inflow[q] &&
         (!phi->data || phi->data[q] < 0);
}

double mn_mac_divergence(mn_mac *mac, const mn_field *phi, const mn_field *held,
                         const mn_field u[3])
{
  int slabs = mn_slabs(&mac->b);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int s = 0; s < slabs; s++) {
    int k, j0, j1;
    mn_slab(&mac->b, s, &k, &j0, &j1);
    double worst = 0;
    for (int j = j0; j < j1; j++)
      for (int i = 0, count; i < mac->b.n[0]; i += count) {
        double d[BLOCK];
        count = mac->b.n[0] - i < BLOCK ? mac->b.n[0] - i : BLOCK;
        divergences(mac, u, i, j, k, count, d, NULL);
        for (int t = 0; t < count; t++) {
          double parts = held && held->data ? mn_get(held, i + t, j, k) : 0;
          int loose = parts > 1 || mn_mac_is_loose(mac, i + t, j, k);
          double wrong = loose ? 0 : parts > 0 ? fmax(-d[t], 0) : d[t];
          d[t] = holds_fluid(mac, phi, i + t, j, k) ? wrong : 0;
        }
        worst = largest(d, count, worst);
      }
    mac->slab[s] = worst;
  }
  return mn_reduce(mac->grid.exec, MN_MAX, mac->slab, slabs);
}

/* b of a row of cells, and line[]. */
static void right_of_line(mn_mac *mac, double scale, int j, int k)
{
  double worst = 0, fast = 0;
  for (int i = 0, count; i < mac->b.n[0]; i += count) {
    double d[BLOCK], *b = &mac->b.at[mn_index(&mac->b, i, j, k)];
    count = mac->b.n[0] - i < BLOCK ? mac->b.n[0] - i : BLOCK;
    divergences(mac, mac->star, i, j, k, count, d, &fast);
    for (int t = 0; t < count; t++)
      b[t] = holds_fluid(mac, &mac->liquid_next, i + t, j, k) ? scale * d[t] : 0;
    worst = largest(b, count, worst);
  }
  double *line = mac->line[j + mac->b.n[1] * k];
  line[0] = worst;
  line[1] = fast;
}

/* b of cells whose water has let go of bodies. */
static void right_of_loose(mn_mac *mac, double scale)
{
  double volume = pow(mac->grid.dx, mac->grid.dim);
  for (size_t n = 0; n < mac->bodies.loose_count; n++) {
    const int32_t *at = mac->bodies.loose[n];
    double d;
    divergences(mac, mac->star, at[0], at[1], at[2], 1, &d, NULL);
    mn_set(&mac->b, at[0], at[1], at[2], scale * (d + mn_mac_loose_outflow(mac, at) / volume));
  }
}

/* moves NULL: all rows of cells */
static double right_of_lines(mn_mac *mac, double dt, const uint8_t *moves, double *speed)
{
  double scale = -mac->def->fluid.density / dt;
  int slabs = mn_slabs(&mac->b);
  double *fastest = mac->slab + slabs;
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int s = 0; s < slabs; s++) {
    int k, j0, j1;
    mn_slab(&mac->b, s, &k, &j0, &j1);
    double worst = 0, fast = 0;
    for (int j = j0; j < j1; j++) {
      const double *line = mac->line[j + mac->b.n[1] * k];
      if (!moves || moves[j + mac->b.n[1] * k])
        right_of_line(mac, scale, j, k);
      worst = line[0] > worst ? line[0] : worst;
      fast = line[1] > fast ? line[1] : fast;
    }
    mac->slab[s] = worst;
    fastest[s] = fast;
  }
  right_of_loose(mac, scale);
  *speed = mn_reduce(mac->grid.exec, MN_MAX, fastest, slabs);
  return mn_reduce(mac->grid.exec, MN_MAX, mac->slab, slabs);
}

double mn_mac_right_hand_side(mn_mac *mac, double dt, double *speed)
{
  return right_of_lines(mac, dt, NULL, speed);
}

double mn_mac_right_hand_side_again(mn_mac *mac, double dt, double *speed)
{
  const mn_mac_bodies *b = &mac->bodies;
  int ny = mac->b.n[1], nz = mac->b.n[2];
  memset(mac->line_moves, 0, (size_t)ny * (size_t)nz);
  for (size_t row = 0; row < b->weights->rows; row++) {
    const mn_closed_face *f = &b->face[row];
    for (int low = 0; low < 2; low++) { /* of the cells above and below it */
      int j = f->j - (low && f->axis == 1), k = f->k - (low && f->axis == 2);
      if (j >= 0 && j < ny && k >= 0 && k < nz)
        mac->line_moves[j + ny * k] = 1;
    }
  }
  return right_of_lines(mac, dt, mac->line_moves, speed);
}

void mn_mac_subtract_gradient(mn_mac *mac, double dt)
{
  double scale = dt / mac->def->fluid.density;
  mn_pressure_gradient(mac->pressure, &mac->dp, mac->gradient);
  for (int a = 0; a < mac->grid.dim; a++) {
    const mn_field *w = &mac->geometry.open[a];
    int slabs = mn_slabs(w);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
    for (int s = 0; s < slabs; s++) {
      int k, j0, j1;
      mn_slab(w, s, &k, &j0, &j1);
      for (int j = j0; j < j1; j++) {
        int64_t row = mn_index(w, 0, j, k);
        const unsigned char *kind = mac->geometry.kind[a] + (w->at - w->data);
        for (int64_t q = row; q < row + w->n[0]; q++)
          mac->result[a].at[q] = w->at[q] > 0 ? mac->star[a].at[q] - scale * mac->gradient[a].at[q]
                                 : kind[q] == MN_FACE_EDGE ? 0
                                                           : mac->geometry.wall[a].at[q];
      }
    }
  }
}

mn_pressure_region mn_mac_worst_region(const mn_mac *mac, double dt, double *flow)
{
  mn_pressure_region worst = {0};
  for (int r = 0; r < mn_pressure_region_count(mac->pressure); r++) {
    mn_pressure_region region = mn_pressure_get_region(mac->pressure, r);
    if (mac->separate.on && region.rhs_sum < 0)
      continue;
    if (region.closed && fabs(region.rhs_sum) >= fabs(worst.rhs_sum))
      worst = region;
  }
  *flow = worst.rhs_sum * dt / mac->def->fluid.density * pow(mac->grid.dx, mac->grid.dim);
  return worst;
}

/* Without bodies closed regions count as the pressure solve meets them; with bodies the coupling
   gives numbers, and the fluid does not know them. */
static void name_region(const mn_mac *mac, const mn_pressure_region *region, char name[32])
{
  const int *at = region->first;
  int last = mn_pressure_region_of(mac->pressure, at[0], at[1], at[2]), number = 0;
  for (int r = 0; r <= last; r++)
    number += mn_pressure_get_region(mac->pressure, r).closed;
  if (mac->bodies.on)
    snprintf(name, 32, "the region");
  else
    snprintf(name, 32, "region %d", number);
}

static mn_status incompatible(mn_mac *mac, const mn_pressure_region *region, double flow)
{
  char name[32];
  mn_vec3 x = mn_position(&mac->b, region->first[0], region->first[1], region->first[2]);
  name_region(mac, region, name);
  if (mac->def->fluid.kind == MN_FLUID_WATER && !mac->separate.on && flow < 0)
    return mn_fail(
        mac->ctx, MN_FAILED,
        "the water in %s of %zu cells at (%g, %g, %g) has no air, and walls draw back from "
        "it by %g m^%d/s: with walls = \"sticking\" it cannot let go of them; open a side, or set "
        "fluid.walls = \"separating\"",
        name, region->cells, x.x, x.y, x.z, -flow, mac->grid.dim);
  const int *at = region->first;
  int gives_way =
      mac->bodies.on &&
      mn_mac_bodies_touch(mac, mn_pressure_region_of(mac->pressure, at[0], at[1], at[2]));
  if (gives_way && mac->enclosure.known)
    return mn_fail(
        mac->ctx, MN_FAILED,
        "%s of %zu cells at (%g, %g, %g) is closed on all sides, and %g m^%d/s more flow "
        "into it than the bodies around it make room for: the coupling lost it, or its walls are "
        "coarser than the flow; use more cells or shorter substeps",
        name, region->cells, x.x, x.y, x.z, flow, mac->grid.dim);
  if (gives_way)
    return mn_fail(
        mac->ctx, MN_FAILED,
        "%s of %zu cells at (%g, %g, %g) is closed on all sides, but %g m^%d/s flow into "
        "it: no incompressible flow does that, and this coupling does not seek the pressure that "
        "makes bodies give way; open a side",
        name, region->cells, x.x, x.y, x.z, flow, mac->grid.dim);
  return mn_fail(mac->ctx, MN_FAILED,
                 "%s of %zu cells at (%g, %g, %g) is closed on all sides, but %g m^%d/s flow into "
                 "it: no incompressible flow does that; open a side, or let a solid give way",
                 name, region->cells, x.x, x.y, x.z, flow, mac->grid.dim);
}

void mn_mac_watch(const mn_fluid *fluid, mn_mac_watcher watcher)
{
  ((mn_mac *)fluid->self)->watcher = watcher;
}

mn_status mn_mac_show_equation(mn_mac *mac, const mn_pressure_geometry *geometry, const mn_lcp *lcp,
                               double tolerance)
{
  mn_mac_equation e = {&mac->grid, geometry, lcp, &mac->b, &mac->dp, tolerance};
  return mac->watcher.see ? mac->watcher.see(mac->watcher.user, &e) : MN_OK;
}

mn_pressure_geometry mn_mac_pressure_geometry(const mn_mac *mac)
{
  return (mn_pressure_geometry){.open = mac->geometry.open,
                                .liquid = mn_mac_is_water(mac) ? &mac->liquid_next : NULL,
                                .open_sides = mac->open_sides,
                                .theta_min = MN_MAC_THETA_MIN,
                                .anchor = mac->bodies.loose_count ? &mac->bodies.anchor : NULL};
}

mn_status mn_mac_analyse(mn_mac *mac)
{
  mn_pressure_geometry geometry = mn_mac_pressure_geometry(mac);
  if (mac->assembled >= MN_ANALYSED)
    return MN_OK;
  MN_TRY(mn_pressure_analyse(mac->pressure, &geometry));
  mac->assembled = MN_ANALYSED;
  return mac->water.on ? relent_in_closed_regions(mac) : MN_OK;
}

mn_status mn_mac_assemble(mn_mac *mac)
{
  MN_TRY(mn_mac_analyse(mac));
  if (mac->assembled == MN_ASSEMBLED)
    return MN_OK;
  if (!mac->separate.on)
    MN_TRY(mn_pressure_coarsen(mac->pressure));
  mac->assembled = MN_ASSEMBLED;
  return MN_OK;
}

void mn_mac_tolerances(const mn_mac *mac, double dt, double worst, double speed, double *tolerance,
                       double *sum_tolerance)
{
  const mn_fluid_def *fluid = &mac->def->fluid;
  /* of b; a fluid at rest rounds as what gravity would make of it in a step, or as next to nothing:
     floats end at 1e-38 */
  double fall = fmax(dt * mn_length(fluid->gravity), NEXT_TO_NOTHING);
  double unit = fluid->density / dt * fmax(speed, fall) / mac->grid.dx;
  *tolerance = fmax(fluid->pressure_tolerance * worst, ROUND_OFF * unit);
  *tolerance = fmax(*tolerance, fluid->divergence_tolerance * fluid->density / dt);
  double surface =
      pow((double)mn_pressure_unknowns(mac->pressure), (mac->grid.dim - 1.0) / mac->grid.dim);
  *sum_tolerance = FLOW_ROUND_OFF * surface * fmax(unit, LEAST_SPEED * fluid->density / (dt * dt));
}

void mn_mac_guess(mn_mac *mac)
{
  if (mac->solves++ > 0)
    return;
  if (mn_mac_second_order(mac) && !mac->bodies.on)
    mn_field_fill(&mac->dp, 0);
  else
    mn_field_copy(&mac->dp, &mac->state.p);
}

/* Pa, in water; that of smoke is known but for a constant. */
static double greatest_pressure(const mn_mac *mac)
{
  double most = 0;
  for (size_t c = 0; c < mac->dp.size && mn_mac_is_water(mac); c++)
    most = fmax(most, mac->dp.data[c]);
  return most;
}

mn_status mn_mac_project(mn_mac *mac, double dt, mn_solve_report *report)
{
  const mn_fluid_def *fluid = &mac->def->fluid;
  *report = (mn_solve_report){0};
  double start = mn_cpu_seconds();
  int anew = mac->assembled != MN_ASSEMBLED;
  MN_TRY(mn_mac_assemble(mac));
  if (anew)
    mac->assembly_s = mn_cpu_seconds() - start;
  start = mn_cpu_seconds();
  double speed, tolerance, sum_tolerance, worst = mn_mac_right_hand_side(mac, dt, &speed);
  mac->speed = speed;
  mn_mac_guess(mac);
  mn_mac_tolerances(mac, dt, worst, speed, &tolerance, &sum_tolerance);
  if (mac->bodies.on && mac->geometry.stamp) {
    int changed;
    MN_TRY(mn_mac_bodies_mend(mac, dt, sum_tolerance, &changed));
    if (changed)
      mn_mac_right_hand_side(mac, dt, &speed);
  }
  if (mac->water.on && !mac->shell.on) {
    int changed;
    MN_TRY(mn_water_take_up(mac, dt, sum_tolerance, &changed));
    if (changed)
      mn_mac_right_hand_side(mac, dt, &speed);
  }
  if (fluid->project && mac->separate.on)
    MN_TRY(mn_separate_solve(mac, dt, tolerance, sum_tolerance, report));
  else if (fluid->project) {
    mn_pressure_geometry geometry = mn_mac_pressure_geometry(mac);
    MN_TRY(mn_mac_show_equation(mac, &geometry, NULL, tolerance));
    MN_TRY(mn_pressure_solve(mac->pressure, &mac->b, tolerance, sum_tolerance,
                             fluid->pressure_max_iterations, &mac->dp, report));
  }
  mn_pressure_region region = mn_mac_worst_region(mac, dt, &report->net_flow);
  if (report->reason == MN_INCOMPATIBLE)
    return incompatible(mac, &region, report->net_flow);
  if (mac->bodies.on && fabs(mac->bodies.net_flow) > fabs(report->net_flow))
    report->net_flow = mac->bodies.net_flow;
  MN_TRY(mn_mac_gauge(mac));
  mn_mac_subtract_gradient(mac, dt);
  report->divergence = mn_mac_divergence(mac, &mac->liquid_next, &mac->separate.held, mac->result);
  report->greatest_p = greatest_pressure(mac);
  report->held += (int)(mac->bodies.loose_count + mac->bodies.emptied);
  report->cpu_s = mac->assembly_s + mn_cpu_seconds() - start;
  return MN_OK;
}
