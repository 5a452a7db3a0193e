/* A liquid carried by particles: one substep.

   begin    particles moved along the grid's velocity (Ralston's third order), kept out of solids
            and within the domain; new ones from inflows; sorted; level set and density from them;
            u* from their velocities, continued to faces without particles
   commit   velocities of the particles from the new grid velocity

   What FLIP hands to particles is the change by the forces. So where no force is known the change
   is continued: the velocity before is closed as the new one is, continued from the same faces into
   the air, with the same walls let go. Else a particle in the air gets the difference between its
   own velocity and that continued to it, again in every substep, and grows without bounds.

   With `transfer` = marker the particles only say where the liquid is, and u* is the grid's
   velocity carried along itself, semi-Lagrangian [Foster, Metaxas 1996; Stam 1999], as in the code
   of [Lai 2021]. A marker has no velocity but that of the grid.

   Moving first, with the velocity that the pressure of the last step made divergence-free, and
   then adding forces at the new place is symplectic Euler's order: standing waves are not damped by
   the splitting.

   Verified by tests/verify/test_water.c. */
#include "fluid/mac/internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "fluid/mac/trace.h"

/* Particles stay this part of a cell away from walls. */
static const double MARGIN = 1e-3;
/* Along each axis, to find out how much water there is. */
enum { WATER_SAMPLES = 32 };

int mn_water_is_marked(const mn_mac *mac)
{
  return mac->water.on && mac->def->fluid.transfer == MN_TRANSFER_MARKER;
}

static int is_water(const mn_model_def *def, mn_vec3 x, double reach)
{
  if (mn_shape_distance(def->fluid.initial_water, x) > reach)
    return 0;
  for (int s = 0; s < def->solid_count; s++)
    if (!def->solids[s].moving && mn_shape_distance(def->solids[s].shape, x) < -reach)
      return 0;
  return 1;
}

double mn_water_part(const mn_model_def *def)
{
  const mn_domain_def *d = &def->domain;
  int n[3] = {1, 1, 1}, inside = 0;
  if (!def->fluid.initial_water)
    return 0;
  for (int a = 0; a < d->dim; a++)
    n[a] = d->cells[a] < WATER_SAMPLES ? d->cells[a] : WATER_SAMPLES;
  /* half a sample further than the water reaches: rather a little more than less */
  double reach = 0.5 * d->size.x / n[0];
  for (int k = 0; k < n[2]; k++)
    for (int j = 0; j < n[1]; j++)
      for (int i = 0; i < n[0]; i++) {
        mn_vec3 x = mn_v3(d->origin.x + d->size.x * (i + 0.5) / n[0],
                          d->origin.y + d->size.y * (j + 0.5) / n[1],
                          d->dim == 3 ? d->origin.z + d->size.z * (k + 0.5) / n[2] : 0);
        inside += is_water(def, x, reach);
      }
  return (double)inside / ((double)n[0] * n[1] * n[2]);
}

double mn_water_rows(const mn_model_def *def)
{
  int dim = def->domain.dim, marked = def->fluid.transfer == MN_TRANSFER_MARKER;
  int width = marked ? dim + 1 : 2 * dim + 1 + dim * dim;
  /* state, next, room to sort; a cell's number each. With room to grow */
  return mn_water_part(def) * (1 << dim) * 1.125 * (3 * width + 1);
}

mn_status mn_water_create(mn_mac *mac)
{
  mn_water *w = &mac->water;
  const mn_grid *g = &mac->grid;
  if (!w->on)
    return MN_OK;
  w->unit = pow(0.5 * g->dx, g->dim);
  int markers = mn_water_is_marked(mac);
  MN_TRY(mn_particles_create(mac->ctx, g->dim, markers, 1, &mac->state.particles));
  MN_TRY(mn_particles_create(mac->ctx, g->dim, markers, 1, &mac->saved.particles));
  MN_TRY(mn_particles_create(mac->ctx, g->dim, markers, 1, &w->next));
  size_t sources = (size_t)mac->def->source_count;
  MN_TRY(MN_NEW(mac->ctx, "inflow paths", sources + 1, &mac->state.inflow_path));
  MN_TRY(MN_NEW(mac->ctx, "inflow paths", sources + 1, &mac->saved.inflow_path));
  MN_TRY(mn_particle_cells_create(mac->ctx, g, &w->cells));
  size_t cells = (size_t)g->n[0] * (size_t)g->n[1] * (size_t)g->n[2];
  MN_TRY(MN_NEW(mac->ctx, "cells near solids", cells, &w->near_solid));
  MN_TRY(MN_NEW(mac->ctx, "cells past walls", cells, &w->past));
  MN_TRY(MN_NEW(mac->ctx, "holes", cells, &w->hole));
  for (int a = 0; a < g->dim; a++) {
    MN_TRY(mn_field_create(mac->ctx, g, (mn_place)a, "particle weights", &w->weight[a]));
    if (mac->def->fluid.transfer == MN_TRANSFER_FLIP)
      MN_TRY(mn_field_create(mac->ctx, g, (mn_place)a, "velocity before forces", &w->before[a]));
  }
  MN_TRY(mn_field_create(mac->ctx, g, MN_CELL, "particle density", &w->density));
  MN_TRY(mn_field_create(mac->ctx, g, MN_CELL, "particle space", &w->space));
  return mn_field_create(mac->ctx, g, MN_CELL, "target divergence", &w->target);
}

void mn_water_destroy(mn_mac *mac)
{
  mn_water *w = &mac->water;
  mn_particles_destroy(&mac->state.particles);
  mn_particles_destroy(&mac->saved.particles);
  mn_particles_destroy(&w->next);
  mn_particle_cells_destroy(&w->cells);
  mn_free(mac->state.inflow_path);
  mn_free(mac->saved.inflow_path);
  for (int a = 0; a < 3; a++) {
    mn_field_destroy(&w->weight[a]);
    mn_field_destroy(&w->before[a]);
  }
  mn_free(w->seen);
  mn_free(w->near_solid);
  mn_free(w->past);
  mn_free(w->hole);
  mn_water_destroy_pieces(mac);
  mn_water_destroy_halves(mac);
  mn_field_destroy(&w->density);
  mn_field_destroy(&w->space);
  mn_field_destroy(&w->target);
}

/* ---- motion ---------------------------------------------------------------------------------- */

/* Within the closed sides; -1 if it left through an open one. */
static int keep_inside(const mn_mac *mac, double *x)
{
  const mn_grid *g = &mac->grid;
  double margin = MARGIN * g->dx;
  for (int a = 0; a < g->dim; a++) {
    double lo = g->origin.v[a], hi = lo + g->dx * g->n[a];
    if ((x[a] < lo && mac->open_sides & 1u << 2 * a) ||
        (x[a] > hi && mac->open_sides & 2u << 2 * a) || !isfinite(x[a]))
      return -1;
    x[a] = mn_clamp(x[a], lo + margin, hi - margin);
  }
  return 0;
}

/* Solids further away than this, in cells, are not looked at. */
static const double FAR = 2;

/* near_solid <- the cells in which the distance to solids may be less than FAR anywhere. That
   between the nodes is a mean of theirs, but for rounding, also about the faces of the cell. */
static void mark_near_solids(mn_mac *mac)
{
  const mn_field *d = &mac->geometry.solid;
  const mn_field *cells = &mac->geometry.volume;
  double far = (FAR + 1e-6) * mac->grid.dx;
  int slabs = mn_slabs(cells), corners = 1 << mac->grid.dim;
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int s = 0; s < slabs; s++) {
    int k, j0, j1;
    mn_slab(cells, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++)
      for (int i = 0; i < cells->n[0]; i++) {
        const double *node = d->at + mn_index(d, i, j, k);
        int near = 0;
        for (int c = 0; c < corners; c++)
          near |= !(node[(c & 1) + (c & 2 ? d->stride[1] : 0) + (c & 4 ? d->stride[2] : 0)] > far);
        mac->water.near_solid[i + cells->n[0] * (j + (int64_t)cells->n[1] * k)] =
            (unsigned char)near;
      }
  }
}

/* In place of the cell of a particle: it has left the domain, or was drained; it is between walls
   that leave no place for it, and others get its volume. */
enum { GONE = -1, SQUEEZED = -2 };

/* Along the gradient of the distance to the nearest solid, until outside of it; 0, or one of the
   above. */
static int leave_solids(const mn_mac *mac, double *row, int dim)
{
  double dx = mac->grid.dx, step = 1e-4 * dx, margin = MARGIN * dx;
  mn_vec3 x = mn_v3(row[0], row[1], dim == 3 ? row[2] : 0);
  if (mn_sample(&mac->geometry.solid, x) > FAR * dx || mn_mac_solid_distance(mac, x) >= margin)
    return 0;
  for (int n = 0; n < 8; n++) {
    double d = mn_mac_solid_distance(mac, x);
    if (d >= margin)
      break;
    mn_vec3 normal = {{0, 0, 0}};
    for (int a = 0; a < dim; a++) {
      mn_vec3 y = x, z = x;
      y.v[a] += step;
      z.v[a] -= step;
      normal.v[a] = mn_mac_solid_distance(mac, y) - mn_mac_solid_distance(mac, z);
    }
    double length = mn_length(normal);
    if (!(length > 0))
      return SQUEEZED;
    x = mn_madd(x, (1.5 * margin - d) / length, normal);
  }
  for (int a = 0; a < dim; a++)
    row[a] = x.v[a];
  if (keep_inside(mac, row))
    return GONE;
  x = mn_v3(row[0], row[1], dim == 3 ? row[2] : 0);
  return mn_mac_solid_distance(mac, x) < 0 ? SQUEEZED : 0;
}

static mn_vec3 position(const double *row, int dim)
{
  return mn_v3(row[0], row[1], dim == 3 ? row[2] : 0);
}

/* Walls and solids do not push a particle through a shell. */
static void stay_on_side(const mn_mac *mac, mn_vec3 before, double *row)
{
  mn_vec3 x = position(row, mac->grid.dim);
  if (mn_shell_is_beside(&mac->shell, before) &&
      mn_immersed_crosses(mac->shell.end.surface, before, x, NULL, NULL))
    for (int a = 0; a < mac->grid.dim; a++)
      row[a] = before.v[a];
}

/* The cell of particle i, kept out of solids and within the domain; below 0 if it is to go. */
static int64_t settle_row(const mn_mac *mac, double *row)
{
  const mn_water *w = &mac->water;
  mn_vec3 before = position(row, mac->grid.dim);
  if (keep_inside(mac, row))
    return GONE;
  int64_t cell = mn_particle_cell(&w->cells, &mac->grid, row);
  if (mn_mac_has_solids(mac) && w->near_solid[cell]) {
    int left = leave_solids(mac, row, mac->grid.dim);
    if (left)
      return left;
    cell = mn_particle_cell(&w->cells, &mac->grid, row);
  }
  if (mac->shell.on) {
    stay_on_side(mac, before, row);
    cell = mn_particle_cell(&w->cells, &mac->grid, row);
  }
  return mn_mac_is_drained(mac, position(row, mac->grid.dim)) ? GONE : cell;
}

/* Marks each particle's cell, or below 0 if it is to go; the first `marked` may have such a mark.
 */
static void settle(mn_mac *mac, int64_t marked)
{
  mn_water *w = &mac->water;
  int64_t count = (int64_t)w->next.count;
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int64_t i = 0; i < count; i++)
    if (i >= marked || w->cells.cell[i] >= 0)
      w->cells.cell[i] = settle_row(mac, mn_particle(&w->next, (size_t)i));
}

/* The same of particles that are sorted but for those with the mark 1, and those from `marked` on:
   the others are settled where they are, but for solids, which may take more than one go. */
static void settle_again(mn_mac *mac, int64_t marked)
{
  mn_water *w = &mac->water;
  const int *n = w->cells.n;
  int64_t count = (int64_t)w->next.count;
  int rows = n[1] * n[2], solids = mn_mac_has_solids(mac);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int r = 0; r < rows; r++)
    for (int64_t c = (int64_t)n[0] * r; c < (int64_t)n[0] * (r + 1); c++) {
      int stay = !mac->shell.on && !(solids && w->near_solid[c]);
      for (int64_t i = w->cells.start[c]; i < w->cells.start[c + 1]; i++) {
        int64_t *cell = &w->cells.cell[i];
        if (stay && *cell == 0)
          *cell = c;
        else if (*cell >= 0)
          *cell = settle_row(mac, mn_particle(&w->next, (size_t)i));
      }
    }
  for (int64_t i = marked; i < count; i++)
    w->cells.cell[i] = settle_row(mac, mn_particle(&w->next, (size_t)i));
}

/* Along the trace velocity for the substep; 0 if shells leave no place for it. */
static int advance_row(const mn_mac *mac, const mn_tracer *t, double *row, const int dim)
{
  const mn_grid *g = &mac->grid;
  mn_vec3 x = {{0, 0, 0}}, y;
  for (int a = 0; a < dim; a++)
    x.v[a] = (row[a] - g->origin.v[a]) / g->dx;
  mn_vec3 k1 = mn_tracer_velocity(t, x, dim);
  if (mac->shell.on && !mn_shell_passes_by(&mac->shell, t, x, k1, &y)) {
    int placed = mn_shell_move(mac, mac->dt, position(row, dim), &y);
    for (int a = 0; a < dim; a++)
      row[a] = y.v[a];
    return placed;
  }
  y = mn_tracer_path(t, x, k1, dim);
  for (int a = 0; a < dim; a++)
    row[a] += g->dx * (y.v[a] - x.v[a]);
  return 1;
}

/* The volume of a particle that shells leave no place goes to the nearest one that it could have
   come to from x, where it was, without meeting a shell. */
static void bequeath(mn_mac *mac, size_t lost, mn_vec3 x)
{
  static const double FURTHEST = 3; /* cells */
  mn_particles *p = &mac->water.next;
  double least = FURTHEST * mac->grid.dx * FURTHEST * mac->grid.dx;
  size_t best = SIZE_MAX;
  mac->shell.lost++;
  for (size_t i = 0; i < p->count; i++) {
    mn_vec3 y = position(mn_particle(p, i), mac->grid.dim), d = mn_sub(y, x);
    if (mac->water.cells.cell[i] < 0 || !(mn_dot(d, d) < least) ||
        !mn_shell_lets_by(&mac->shell, x, y))
      continue;
    least = mn_dot(d, d);
    best = i;
  }
  if (best < SIZE_MAX)
    *mn_particle_volume(p, best) += *mn_particle_volume(p, lost);
}

/* next <- the state's particles, moved. Marks as gone those that shells leave no place; none
   without shells. */
static mn_status advance(mn_mac *mac)
{
  const mn_grid *g = &mac->grid;
  mn_water *w = &mac->water;
  mn_particles *p = &w->next;
  const mn_particles *from = &mac->state.particles;
  mn_tracer t = mn_tracer_make(mac->trace, -mac->dt); /* forward */
  int64_t count = (int64_t)from->count;
  size_t bytes = (size_t)p->width * sizeof *p->data;
  MN_TRY(mn_particles_reserve(mac->ctx, from->count, p));
  MN_TRY(mn_particle_cells_reserve(mac->ctx, from->count, &w->cells));
  p->count = from->count;
#pragma omp parallel for schedule(static) num_threads(g->exec->threads)
  for (int64_t i = 0; i < count; i++) {
    double *row = mn_particle(p, (size_t)i);
    memcpy(row, mn_particle(from, (size_t)i), bytes);
    w->cells.cell[i] =
        (g->dim == 2 ? advance_row(mac, &t, row, 2) : advance_row(mac, &t, row, 3)) - 1;
  }
  for (int64_t i = 0; i < count && mac->shell.on; i++)
    if (w->cells.cell[i] < 0)
      bequeath(mac, (size_t)i, position(mn_particle(from, (size_t)i), g->dim));
  return MN_OK;
}

mn_status mn_water_look(mn_mac *mac)
{
  mn_water *w = &mac->water;
  int64_t count = (int64_t)w->next.count;
  if (!mac->shell.on)
    return MN_OK;
  if (w->next.count > w->seen_room) {
    size_t room = w->next.count + w->next.count / 2;
    MN_TRY(mn_grow(mac->ctx, "what particles see", w->seen_room, room, sizeof *w->seen,
                   (void **)&w->seen));
    w->seen_room = room;
  }
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int64_t i = 0; i < count; i++) {
    mn_vec3 x = position(mn_particle(&w->next, (size_t)i), mac->grid.dim);
    w->seen[i] =
        mn_shell_is_beside(&mac->shell, x) ? mn_barrier_look(&mac->shell.end, x).seen : MN_SEEN_ALL;
  }
  return MN_OK;
}

mn_status mn_water_push(mn_mac *mac)
{
  mn_water *w = &mac->water;
  int64_t count = (int64_t)w->next.count;
  if (!mac->shell.on)
    return MN_OK;
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int64_t i = 0; i < count; i++) {
    double *row = mn_particle(&w->next, (size_t)i);
    mn_vec3 x = position(row, mac->grid.dim), y = x;
    w->cells.cell[i] = 0;
    if (!mn_sweep_passes(&mac->shell.sweep, x))
      continue;
    w->cells.cell[i] = mn_shell_stop(&mac->shell, x, &y) - 1;
    for (int a = 0; a < mac->grid.dim; a++)
      row[a] = y.v[a];
  }
  for (int64_t i = 0; i < count; i++)
    if (w->cells.cell[i] < 0) /* it is where it was */
      bequeath(mac, (size_t)i, position(mn_particle(&w->next, (size_t)i), mac->grid.dim));
  return mn_water_sort(mac, (size_t)count);
}

/* The nearest cell with particles within a few cells, or -1. */
static int64_t nearest_filled(const mn_mac *mac, const double *row)
{
  enum { FURTHEST = 3 };
  const mn_particle_cells *c = &mac->water.cells;
  int at[3] = {0, 0, 0}, deep = mac->grid.dim == 3 ? FURTHEST : 0;
  int64_t best = -1;
  double least = INFINITY;
  mn_particle_place(c->n, &mac->grid, row, at);
  for (int k = -deep; k <= deep; k++)
    for (int j = -FURTHEST; j <= FURTHEST; j++)
      for (int i = -FURTHEST; i <= FURTHEST; i++) {
        int to[3] = {at[0] + i, at[1] + j, at[2] + k}, out = 0;
        for (int a = 0; a < 3; a++)
          out |= to[a] < 0 || to[a] >= c->n[a];
        int64_t cell = to[0] + c->n[0] * (to[1] + (int64_t)c->n[1] * to[2]);
        double far = i * i + j * j + k * k;
        if (!out && far < least && c->start[cell + 1] > c->start[cell]) {
          least = far;
          best = cell;
        }
      }
  return best;
}

/* Water is pressed out from between walls along them, not through: cells whose centre lies deeper
   in a solid than this, in cells, are no way. */
static const double PAST = 1.5;

/* way[c] <- 1 + the cell with particles that is the nearest to cell c along the gaps between
   solids, 0 if there is none. */
static void find_ways(const mn_mac *mac, int64_t *way, int64_t *queue)
{
  const mn_particle_cells *c = &mac->water.cells;
  const mn_field *f = &mac->geometry.volume;
  int64_t step[3] = {1, c->n[0], (int64_t)c->n[0] * c->n[1]}, cells = step[2] * c->n[2], queued = 0;
  for (int64_t cell = 0; cell < cells; cell++)
    if (c->start[cell + 1] > c->start[cell]) {
      way[cell] = 1 + cell;
      queue[queued++] = cell;
    }
  for (int64_t done = 0; done < queued; done++) {
    int64_t cell = queue[done];
    int at[3] = {(int)(cell % c->n[0]), (int)(cell / step[1] % c->n[1]), (int)(cell / step[2])};
    for (int side = 0; side < 2 * mac->grid.dim; side++) {
      int a = side / 2, up = side & 1 ? 1 : -1, to[3] = {at[0], at[1], at[2]};
      int64_t next = cell + up * step[a];
      to[a] += up;
      if (to[a] < 0 || to[a] >= c->n[a] || way[next] ||
          mn_sample(&mac->geometry.solid, mn_position(f, to[0], to[1], to[2])) <
              -PAST * mac->grid.dx)
        continue;
      way[next] = way[cell];
      queue[queued++] = next;
    }
  }
}

/* Shares a volume among the particles of a cell. */
static void hand_on(mn_mac *mac, int64_t cell, double volume)
{
  const int64_t *start = mac->water.cells.start;
  for (int64_t q = start[cell]; q < start[cell + 1]; q++)
    *mn_particle_volume(&mac->water.next, (size_t)q) +=
        volume / (double)(start[cell + 1] - start[cell]);
}

/* What the nearest cells cannot take, below a wide plate that comes down on a floor. */
static mn_status hand_on_far(mn_mac *mac, const mn_particles *old, size_t before)
{
  const mn_particle_cells *c = &mac->water.cells;
  size_t cells = (size_t)c->n[0] * (size_t)c->n[1] * (size_t)c->n[2];
  int64_t *way = NULL, *queue = NULL;
  mn_status status = MN_NEW(mac->ctx, "ways out of gaps", cells, &way);
  if (status == MN_OK)
    status = MN_NEW(mac->ctx, "ways out of gaps", cells, &queue);
  if (status == MN_OK)
    find_ways(mac, way, queue);
  for (size_t i = 0; i < before && status == MN_OK; i++) {
    const double *row = mn_particle(old, i);
    if (c->cell[i] != SQUEEZED || nearest_filled(mac, row) >= 0)
      continue;
    int64_t to = way[mn_particle_cell(c, &mac->grid, row)];
    if (to)
      hand_on(mac, to - 1, *mn_particle_volume(old, i));
  }
  mn_free(queue);
  mn_free(way);
  return status;
}

/* After the sort, which leaves the rows and marks of before. */
static mn_status hand_on_squeezed(mn_mac *mac, size_t before)
{
  const mn_particle_cells *c = &mac->water.cells;
  mn_particles old = mac->water.next;
  int far = 0;
  old.data = c->rows;
  for (size_t i = 0; i < before; i++)
    if (c->cell[i] == SQUEEZED) {
      int64_t to = nearest_filled(mac, mn_particle(&old, i));
      far |= to < 0;
      if (to >= 0)
        hand_on(mac, to, *mn_particle_volume(&old, i));
    }
  return far ? hand_on_far(mac, &old, before) : MN_OK;
}

static mn_status sort(mn_mac *mac, size_t marked, int again)
{
  mn_water *w = &mac->water;
  size_t before = w->next.count;
  MN_TRY(mn_particle_cells_reserve(mac->ctx, w->next.count, &w->cells));
  if (mn_mac_has_solids(mac) && (mac->moving || mac->bodies.on || !w->near_known))
    mark_near_solids(mac);
  w->near_known = 1;
  if (again)
    settle_again(mac, (int64_t)marked);
  else
    settle(mac, (int64_t)marked);
  MN_TRY(mn_particles_sort(mac->ctx, &mac->grid, &w->cells, &w->next));
  if (mn_mac_has_solids(mac))
    MN_TRY(hand_on_squeezed(mac, before));
  return mn_water_look(mac);
}

mn_status mn_water_sort(mn_mac *mac, size_t marked)
{
  return sort(mac, marked, 0);
}

mn_status mn_water_sort_again(mn_mac *mac, size_t marked)
{
  return sort(mac, marked, 1);
}

/* ---- the substep ----------------------------------------------------------------------------- */

static mn_status surface(mn_mac *mac)
{
  MN_TRY(mn_water_density(mac));
  MN_TRY(mn_water_level_set(mac, &mac->liquid_next));
  mn_water_target(mac, &mac->liquid_next);
  return MN_OK;
}

static int has_inflow(const mn_mac *mac)
{
  for (int s = 0; s < mac->def->source_count; s++)
    if (mac->def->sources[s].blows)
      return 1;
  return 0;
}

mn_status mn_water_missing(mn_mac *mac)
{
  if (mac->water.on && has_inflow(mac))
    return MN_OK;
  return mn_fail(mac->ctx, MN_BAD_INPUT,
                 "fluid.initial_water holds no water: it lies outside the domain, inside solids, "
                 "or is thinner than the cells, which are %g m wide; move it%s",
                 mac->grid.dx,
                 mac->water.on ? ", or add an inflow"
                               : " (with fluid.transfer = \"levelset\" an inflow needs water that "
                                 "it touches)");
}

/* There was water, and none is left before the first substep. */
static mn_status all_drained(mn_mac *mac)
{
  int drains = 0, first = 0;
  char which[128];
  for (int s = 0; s < mac->def->source_count; s++)
    if (mac->def->sources[s].drains && !drains++)
      first = s;
  snprintf(which, sizeof which, "%s sources[%d]%s%s%s", drains > 1 ? "drains," : "the drain",
           first + 1, *mac->def->sources[first].name ? " " : "", mac->def->sources[first].name,
           drains > 1 ? " among them," : "");
  if (!has_inflow(mac))
    return mn_fail(mac->ctx, MN_BAD_INPUT,
                   "fluid.initial_water: all of it lies inside %s and is taken away at the start; "
                   "move one of them, or add an inflow",
                   which);
  mn_log(mac->ctx, MN_LOG_WARNING,
         "fluid.initial_water: all of it lies inside %s and is taken away at the start", which);
  return MN_OK;
}

void mn_water_save(mn_mac *mac)
{
  mac->water.saved = MN_SAVED_STATE;
}

static void swap_particles(mn_mac *mac)
{
  mn_particles old = mac->state.particles;
  mac->state.particles = mac->water.next;
  mac->water.next = old;
}

mn_status mn_water_restore(mn_mac *mac)
{
  if (mac->water.saved == MN_SAVED_NEXT) {
    swap_particles(mac);
    mac->water.saved = MN_SAVED_STATE;
  }
  return mac->water.saved == MN_SAVED_STATE
             ? MN_OK
             : mn_particles_copy(mac->ctx, &mac->saved.particles, &mac->state.particles);
}

/* `next` is about to be written to. */
static mn_status take_next(mn_mac *mac)
{
  if (mac->water.saved != MN_SAVED_NEXT)
    return MN_OK;
  mac->water.saved = MN_SAVED_COPY;
  return mn_particles_copy(mac->ctx, &mac->water.next, &mac->saved.particles);
}

mn_status mn_water_seed(mn_mac *mac)
{
  mn_water *w = &mac->water;
  MN_TRY(take_next(mac));
  w->next.count = 0;
  MN_TRY(mn_water_fill(mac));
  size_t filled = w->next.count;
  MN_TRY(mn_water_sort(mac, 0));
  if (!w->next.count)
    MN_TRY(filled ? all_drained(mac) : mn_water_missing(mac));
  MN_TRY(surface(mac));
  mn_field_fill(&w->target, 0); /* nothing to repair before the first step */
  if (mn_water_is_marked(mac))
    mn_water_mark_faces(mac, &w->next);
  else
    mn_water_to_grid(mac, &w->next, mac->star); /* for the weights */
  return MN_OK;
}

/* star <- the velocity carried on the grid; the particles' weights, for the spray among them. */
static void carry_velocity(mn_mac *mac)
{
  const double rest = 0; /* what enters through an open side */
  mn_water_mark_faces(mac, &mac->water.next);
  for (int a = 0; a < mac->grid.dim; a++)
    mn_mac_advect(mac, mac->dt, &mac->state.u[a], &rest, &mac->star[a]);
}

mn_status mn_water_begin(mn_mac *mac)
{
  mn_water *w = &mac->water;
  MN_TRY(take_next(mac));
  MN_TRY(advance(mac));
  size_t advanced = w->next.count;
  MN_TRY(mn_water_emit(mac));
  MN_TRY(mn_water_sort(mac, advanced));
  MN_TRY(surface(mac));
  MN_TRY(mn_water_resample(mac));
  if (mn_water_is_marked(mac)) {
    carry_velocity(mac);
    return MN_OK;
  }
  mn_water_to_grid(mac, &w->next, mac->star);
  mn_liquid_plan(mac, NULL);
  mn_mac_close(mac, mac->geometry.time, NULL, mac->star);
  if (w->before[0].data)
    for (int a = 0; a < mac->grid.dim; a++)
      mn_field_copy(&w->before[a], &mac->star[a]);
  return MN_OK;
}

void mn_water_commit(mn_mac *mac)
{
  mn_water *w = &mac->water;
  mn_mac_state *s = &mac->state;
  int flip = w->before[0].data && s->scalars[1] > 0;
  if (flip)
    mn_mac_close(mac, mac->geometry.time, &s->held, w->before); /* as u */
  if (!mn_water_is_marked(mac))
    mn_water_from_grid(mac, s->u, flip ? w->before : NULL, mac->def->fluid.flip, &w->next);
  swap_particles(mac);
  w->saved = w->saved == MN_SAVED_STATE ? MN_SAVED_NEXT : w->saved;
  for (int i = 0; i < mac->def->source_count; i++)
    s->inflow_path[i] += mac->dt * mn_timefn_eval(&mac->def->sources[i].ramp, mac->geometry.time);
}
