/* The grid fluid as linear operators: what a coupling needs to solve fluid and solid at once.

   The projection (project.c), times dt dx^dim / rho, over the unknowns of the pressure solver:

       L p + D U = c       L = dt dx^(dim-2) / rho  times the pressure system
                           D = +-A (1 - w), outflow through what bodies close of a cell's faces
                           c = -dx^dim (div u* - target) with the bodies' walls at rest
       F = D^T p - (mass/dt) (U - before)       as loads.c has it
       load = W^T F + rest                      rest: smoke at rest on closed bodies

   A cell that solves no equation (air, solid, beyond the domain) has p = 0 and no row. In regions
   without any opening L does not see a constant, and the sum of D U - c over them must be 0:
   whatever pressure makes the bodies around give way comes out of the coupled system. What the
   faces miss of walls that cannot is mended by `adopt` (compatible.c), as a solve would: a coupling
   that knows of it moves the walls of such a region by the same amount.

   `adopt` takes p for the answer of a solve, closed regions with their whole pressure: loads are
   those of p as it is. Where the coupling asked for closed regions (enclose.c), p is then kept as
   its part of mean 0 and the mean, as `lift` would.

   Walls that water can leave: `bound` are the cells of separate.c, at bodies as at walls. A cell
   counts as held if its p is not above 0.

   Set-up: unknowns and regions of the pressure solver (pressure.c), whose own levels are not made;
   `prepare` makes those of the system with opened faces (pressure/opened.h), at the same cost.

   Verified by tests/unit/fluid/test_operators.c. */
#include "fluid/mac/operators.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "base/timer.h"
#include "fluid/mac/internal.h"

enum {
  B_CELL,
  B_AREA,
  B_MASS,
  B_BEFORE,
  B_C,
  B_REST,
  B_BOUND,
  B_P,
  B_REGION,
  B_VOLUME,
  B_FACE,
  B_COEFFICIENT,
  B_PRODUCT,
  B_START,
  B_COL,
  B_VALUE,
  B_BODY,
  B_PARTED
};

void mn_mac_operators_free(mn_mac_operators *o)
{
  mn_unknowns_free(&o->unknowns);
  mn_opened_free(&o->opened);
  for (int b = 0; b < MN_MAC_OPERATOR_BUFFERS; b++)
    mn_buffer_free(&o->buffer[b]);
}

static double cell_volume(const mn_mac *mac)
{
  return pow(mac->grid.dx, mac->grid.dim);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static mn_status make_rows(mn_mac *mac)
{
  mn_mac_operators *o = &mac->operators;
  const mn_mac_bodies *b = &mac->bodies;
  size_t rows = b->on ? b->weights->rows : 0;
  mn_context *ctx = mac->ctx;
#define ROOM(count, type, what)                                                                    \
  mn_reserve(ctx, "rows of bodies", (count), sizeof(type), &o->buffer[what])
  MN_TRY(ROOM(2 * rows, int32_t, B_CELL));
  MN_TRY(ROOM(rows, double, B_AREA));
  MN_TRY(ROOM(rows, double, B_MASS));
  MN_TRY(ROOM(rows, double, B_BEFORE));
  MN_TRY(ROOM(rows, double, B_COEFFICIENT));
  MN_TRY(ROOM(rows, mn_opened_face, B_FACE));
#undef ROOM
  int32_t *cell = o->buffer[B_CELL].data;
  double *area = o->buffer[B_AREA].data, *mass = o->buffer[B_MASS].data,
         *before = o->buffer[B_BEFORE].data;
  o->face = o->buffer[B_FACE].data;
  o->coefficient = o->buffer[B_COEFFICIENT].data;
  int64_t count = (int64_t)rows;
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int64_t r = 0; r < count; r++) {
    const mn_closed_face *f = &b->face[r];
    mn_dual d = mn_mac_bodies_dual(mac, (size_t)r);
    area[r] = d.area;
    mass[r] = d.mass;
    before[r] = d.before;
    o->face[r].axis = f->axis;
    for (int high = 0; high < 2; high++) {
      int at[3] = {f->i, f->j, f->k};
      at[f->axis] -= !high;
      int32_t number = mn_mac_is_loose(mac, at[0], at[1], at[2])
                           ? -1
                           : mn_unknowns_number(&o->unknowns, at[0], at[1], at[2]);
      cell[2 * r + high] = number;
      o->face[r].entry[high] =
          number < 0 ? -1 : mn_unknowns_entry(&o->unknowns, at[0], at[1], at[2]);
    }
  }
  o->linear.rows = rows;
  o->linear.cell = cell;
  o->linear.area = area;
  o->linear.mass = mass;
  int breathes = rows && o->unknowns.regions->closed;
  if (breathes)
    MN_TRY(mn_mac_bodies_find_walls(mac));
  o->linear.wall = breathes ? b->wall.data : NULL;
  o->linear.before = before;
  return MN_OK;
}

/* y += factor D U */
static void add_outflow(const mn_mac_operators *o, double factor, const double *U, double *y)
{
  const mn_fluid_linear *l = &o->linear;
  for (size_t r = 0; r < l->rows; r++) {
    double flow = factor * l->area[r] * U[r];
    if (l->cell[2 * r] >= 0)
      y[l->cell[2 * r]] += flow;
    if (l->cell[2 * r + 1] >= 0)
      y[l->cell[2 * r + 1]] -= flow;
  }
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* Of smoke in closed regions told, rest is 0 at their centre; else at the top. */
static double rest_at_center(const mn_mac *mac, int32_t region)
{
  if (mn_mac_is_water(mac) || !mac->enclosure.known)
    return 0;
  mn_vec3 weight = mn_scale(mac->def->fluid.density, mac->def->fluid.gravity);
  return mn_dot(weight, mn_sub(mac->enclosure.center[region], mn_mac_top(mac)));
}

/* Region and volume of the cells, and to the guess the mean that `lift` took off. */
static mn_status make_regions(mn_mac *mac, double *p)
{
  mn_mac_operators *o = &mac->operators;
  const mn_regions *g = o->unknowns.regions;
  size_t cells = o->unknowns.count;
  o->linear.region = NULL;
  o->linear.volume = NULL;
  if (!g->closed)
    return MN_OK;
  MN_TRY(mn_reserve(mac->ctx, "closed regions", cells, sizeof(int32_t), &o->buffer[B_REGION]));
  MN_TRY(mn_reserve(mac->ctx, "closed regions", cells, sizeof(double), &o->buffer[B_VOLUME]));
  MN_TRY(mn_mac_number_closed(mac));
  int32_t *region = o->buffer[B_REGION].data;
  double *volume = o->buffer[B_VOLUME].data, cell = cell_volume(mac);
  const mn_field *part = mac->bodies.part.data ? &mac->bodies.part : &mac->geometry.volume;
  const mn_field *lift = mac->state.lift.data && !mac->increments ? &mac->state.lift : NULL;
  mn_unknowns_gather(&o->unknowns, cell, part, volume);
  for (int row = 0; row < g->n[1] * g->n[2]; row++)
    for (int r = g->first_run[row]; r < g->first_run[row + 1]; r++)
      for (int i = g->run[r].lo; i < g->run[r].hi; i++) {
        int32_t c = o->unknowns.run[r] + i - g->run[r].lo;
        region[c] =
            g->region[g->run[r].region].closed ? mac->enclosure.number[g->run[r].region] : -1;
        if (region[c] >= 0 && lift)
          p[c] += mn_get(lift, i, row % g->n[1], row / g->n[1]) + rest_at_center(mac, region[c]);
      }
  o->linear.region = region;
  o->linear.volume = volume;
  return MN_OK;
}

/* Of regions that are kept; 1: others than before. */
static int note_kept(mn_mac *mac, const mn_interface *interface)
{
  mn_enclosure *e = &mac->enclosure;
  int changed = 0;
  for (int n = 0; e->known && n < e->told.count; n++) {
    uint8_t kept = interface && interface->kept && interface->kept[n];
    changed |= e->kept[n] != kept;
    e->kept[n] = kept;
  }
  return changed;
}

/* Cells whose pressure may not fall below 0: not those of regions that are kept. */
static mn_status make_bounds(mn_mac *mac)
{
  mn_mac_operators *o = &mac->operators;
  const mn_regions *g = o->unknowns.regions;
  o->linear.bound = NULL;
  if (!mac->separate.on)
    return MN_OK;
  MN_TRY(mn_reserve(mac->ctx, "cells at walls", o->unknowns.count, 1, &o->buffer[B_BOUND]));
  uint8_t *bound = o->buffer[B_BOUND].data;
  mn_separate_mark(mac);
  unsigned char *mark = mac->separate.lcp.separating + (mac->b.at - mac->b.data);
  for (int row = 0; row < g->n[1] * g->n[2]; row++)
    for (int r = g->first_run[row]; r < g->first_run[row + 1]; r++) {
      int32_t first = o->unknowns.run[r], region = o->linear.region ? o->linear.region[first] : -1;
      size_t count = (size_t)(g->run[r].hi - g->run[r].lo);
      unsigned char *own = mark + mn_index(&mac->b, g->run[r].lo, row % g->n[1], row / g->n[1]);
      if (region >= 0 && mac->enclosure.known && mac->enclosure.kept[region])
        memset(own, 0, count);
      memcpy(bound + first, own, count);
    }
  o->linear.bound = bound;
  return MN_OK;
}

static mn_status make_cells(mn_mac *mac)
{
  mn_mac_operators *o = &mac->operators;
  size_t cells = o->unknowns.count;
  double worst, sum_tolerance, per_b = mac->dt / mac->def->fluid.density * cell_volume(mac);
  MN_TRY(mn_reserve(mac->ctx, "pressures", cells, sizeof(double), &o->buffer[B_C]));
  MN_TRY(mn_reserve(mac->ctx, "pressures", cells, sizeof(double), &o->buffer[B_P]));
  MN_TRY(mn_reserve(mac->ctx, "pressures", cells, sizeof(double), &o->buffer[B_PRODUCT]));
  double *c = o->buffer[B_C].data, *p = o->buffer[B_P].data;
  o->product = o->buffer[B_PRODUCT].data;
  worst = mn_mac_right_hand_side(mac, mac->dt, &o->speed);
  mn_mac_tolerances(mac, mac->dt, worst, o->speed, &o->linear.tolerance, &sum_tolerance);
  o->linear.tolerance *= per_b;
  o->linear.relative = mac->def->fluid.pressure_tolerance;
  mn_unknowns_gather(&o->unknowns, per_b, &mac->b, c);
  add_outflow(o, 1, mac->bodies.U, c); /* b has the bodies' walls in motion */
  mn_mac_guess(mac);
  mn_unknowns_gather(&o->unknowns, 1, &mac->dp, p);
  o->linear.cells = cells;
  o->linear.c = c;
  o->linear.p = p;
  MN_TRY(make_regions(mac, p));
  return make_bounds(mac);
}

/* ---- the table ------------------------------------------------------------------------------- */

static mn_status make_rest(mn_mac *mac, const mn_interface *interface, size_t points)
{
  mn_mac_operators *o = &mac->operators;
  MN_TRY(mn_reserve(mac->ctx, "loads at rest", points, sizeof(mn_vec3), &o->buffer[B_REST]));
  mn_vec3 *rest = o->buffer[B_REST].data;
  if (points) {
    memset(rest, 0, points * sizeof *rest);
    mn_mac_bodies_rest(mac, interface, rest);
  }
  o->linear.rest = rest;
  return MN_OK;
}

static mn_status refuse(mn_mac *mac, const mn_interface *interface)
{
  if (interface && interface->count && !mac->bodies.on)
    return mn_fail(mac->ctx, MN_BAD_INPUT,
                   "the fluid did not meet the interface's surfaces before the substep");
  if (interface && interface->count && !interface->impulse)
    return mn_fail(mac->ctx, MN_BAD_INPUT,
                   "fluid and solid are solved as one system, for which loads must be impulses: "
                   "set coupling.load = \"impulse\"");
  if (!mac->def->fluid.project)
    return mn_fail(mac->ctx, MN_BAD_INPUT,
                   "fluid and solid are solved as one system, and fluid.project = false leaves out "
                   "the pressure of which it is made");
  return MN_OK;
}

static mn_status assemble(void *self, const mn_interface *interface, mn_fluid_linear *linear)
{
  mn_mac *mac = self;
  mn_mac_operators *o = &mac->operators;
  int bodies = interface && interface->count;
  MN_TRY(refuse(mac, interface));
  if (linear->positive && bodies)
    mac->bodies.narrow = 1;
  double start = mn_cpu_seconds();
  if (bodies)
    MN_TRY(mn_mac_bodies_place(mac, interface));
  o->linear.surfaces_s = mn_cpu_seconds() - start;
  MN_TRY(mn_mac_analyse(mac));
  if (note_kept(mac, interface) || !o->made || o->stamp != mac->geometry.stamp ||
      o->known != mac->enclosure.known || o->narrowed != mac->bodies.narrowed) {
    o->made = 0;
    o->factor = mac->dt / mac->def->fluid.density * pow(mac->grid.dx, mac->grid.dim - 2);
    MN_TRY(mn_unknowns_list(mac->ctx, mn_pressure_system(mac->pressure),
                            mn_pressure_regions(mac->pressure), &o->unknowns));
    MN_TRY(make_rows(mac));
    MN_TRY(make_cells(mac));
    o->stamp = mac->geometry.stamp;
    o->known = mac->enclosure.known;
    o->narrowed = mac->bodies.narrowed;
    o->made = 1;
  }
  MN_TRY(make_rest(mac, interface, bodies ? interface->count : 0));
  *linear = o->linear;
  linear->positive = mac->bodies.narrow;
  return MN_OK;
}

static void gather(void *self, const mn_vec3 *V, double *U)
{
  const mn_mac *mac = self;
  if (mac->operators.linear.rows)
    mn_weights_gather(mac->bodies.weights, V, U);
}

static mn_status scatter(void *self, const double *F, mn_vec3 *load)
{
  const mn_mac *mac = self;
  if (!mac->bodies.on)
    return MN_OK;
  memset(load, 0, mac->bodies.weights->points * sizeof *load);
  return mn_weights_scatter(mac->bodies.weights, F, load);
}

static void apply(void *self, const double *p, double *y)
{
  const mn_mac_operators *o = &((mn_mac *)self)->operators;
  mn_unknowns_multiply(&o->unknowns, o->factor, p, y);
}

static mn_status matrix(void *self, mn_sparse_matrix *L)
{
  mn_mac *mac = self;
  return mn_unknowns_matrix(mac->ctx, &mac->operators.unknowns, mac->operators.factor, L);
}

/* A row of W as it stands. */
static int64_t copy_weights(const mn_weights *w, size_t row, int64_t *col, double *value)
{
  int64_t first = w->start[row], count = w->start[row + 1] - first;
  for (int64_t e = 0; e < count; e++) {
    col[e] = 3 * (int64_t)w->point[first + e] + w->face[row].axis;
    value[e] = w->weight[first + e];
  }
  return count;
}

/* body: rows of rigid bodies are left empty, and their bodies noted; columns are not sorted. */
static mn_status list_weights(mn_mac *mac, int32_t *body, mn_sparse_matrix *W)
{
  mn_mac_operators *o = &mac->operators;
  const mn_weights *w = mac->bodies.weights;
  size_t rows = o->linear.rows, entries = 0;
  for (size_t r = 0; r < rows; r++) {
    if (body)
      body[r] = w->fit[w->face[r].body].points ? w->face[r].body : -1;
    entries += body && body[r] >= 0 ? 0 : mn_weights_row(w, r, NULL, NULL);
  }
  MN_TRY(mn_reserve(mac->ctx, "weights", rows + 1, sizeof(int64_t), &o->buffer[B_START]));
  MN_TRY(mn_reserve(mac->ctx, "weights", entries, sizeof(int64_t), &o->buffer[B_COL]));
  MN_TRY(mn_reserve(mac->ctx, "weights", entries, sizeof(double), &o->buffer[B_VALUE]));
  int64_t *start = o->buffer[B_START].data, *col = o->buffer[B_COL].data;
  double *value = o->buffer[B_VALUE].data;
  start[0] = 0;
  for (size_t r = 0; r < rows; r++) {
    int64_t at = start[r], count = 0;
    if (!body)
      count = (int64_t)mn_weights_row(w, r, col + at, value + at);
    else if (body[r] < 0)
      count = copy_weights(w, r, col + at, value + at);
    start[r + 1] = at + count;
  }
  int64_t points = mac->bodies.on ? (int64_t)w->points : 0;
  *W = (mn_sparse_matrix){(int64_t)rows, 3 * points, start, col, value};
  return MN_OK;
}

static mn_status weights(void *self, mn_sparse_matrix *W)
{
  return list_weights(self, NULL, W);
}

static mn_status loose_weights(void *self, mn_sparse_matrix *W, const int32_t **body)
{
  mn_mac *mac = self;
  mn_buffer *room = &mac->operators.buffer[B_BODY];
  MN_TRY(mn_reserve(mac->ctx, "weights", mac->operators.linear.rows, sizeof(int32_t), room));
  *body = room->data;
  return list_weights(mac, room->data, W);
}

static mn_status prepare(void *self, const double *open, const uint8_t *held)
{
  mn_mac *mac = self;
  mn_mac_operators *o = &mac->operators;
  const mn_fluid_linear *l = &o->linear;
  for (size_t r = 0; r < l->rows; r++)
    o->coefficient[r] = open ? l->area[r] * l->area[r] * open[r] / o->factor : 0;
  return mn_opened_setup(mac->ctx, &o->opened, mn_pressure_system(mac->pressure), &o->unknowns,
                         o->face, o->coefficient, l->rows, held);
}

static void precondition(void *self, const double *y, double *z)
{
  mn_mac_operators *o = &((mn_mac *)self)->operators;
  mn_opened_apply(&o->opened, 1 / o->factor, y, z);
}

static mn_status conjugate(void *self, mn_row_answer *answer, mn_row_answer *whole,
                           mn_row_follow *follow, void *user, const double *b, double tolerance,
                           int max_iterations, double *p, mn_solve_report *report)
{
  mn_mac *mac = self;
  mn_mac_operators *o = &mac->operators;
  mn_opened_answer G = {answer, whole, follow, user, o->linear.area};
  return mn_opened_solve(mac->ctx, &o->opened, o->factor, &G, b, tolerance, max_iterations, p,
                         report);
}

/* ---- adoption -------------------------------------------------------------------------------- */

/* What is left of the equations, as a solve reports it, in b's unit; s <- L p + D U - c. */
static void measure(mn_mac *mac, const double *p, mn_solve_report *report)
{
  mn_mac_operators *o = &mac->operators;
  const mn_fluid_linear *l = &o->linear;
  double *s = o->product, scale = mac->def->fluid.density / mac->dt / cell_volume(mac);
  double pp = 0, bb = 0, ps = 0;
  if (l->bound)
    mn_unknowns_gather(&o->unknowns, 1, &mac->b, s);
  for (size_t c = 0; c < l->cells && l->bound; c++)
    bb += l->bound[c] ? s[c] * s[c] : 0;
  mn_unknowns_multiply(&o->unknowns, o->factor, p, s);
  for (size_t c = 0; c < l->cells; c++)
    s[c] -= l->c[c];
  add_outflow(o, 1, mac->bodies.U, s);
  for (size_t c = 0; c < l->cells; c++) {
    int bound = l->bound && l->bound[c];
    double slack = scale * s[c];
    report->residual = mn_worse(report->residual, bound ? fmin(p[c], slack) : slack);
    if (mn_mac_is_water(mac))
      report->greatest_p = fmax(report->greatest_p, p[c]);
    if (!bound)
      continue;
    report->held += p[c] <= 0 && slack > 0;
    report->least_p = fmin(report->least_p, p[c]);
    report->least_slack = fmin(report->least_slack, slack * mac->dt / mac->def->fluid.density);
    ps += p[c] * slack;
    pp += p[c] * p[c];
  }
  report->complementarity = pp * bb > 0 ? fabs(ps) / sqrt(pp * bb) : 0;
}

/* dp <- its parts of mean 0 in closed regions told; the means are the state's `lift`. */
static mn_status take_off_means(mn_mac *mac, const double *p)
{
  mn_mac_operators *o = &mac->operators;
  const mn_fluid_linear *l = &o->linear;
  int count = mac->enclosure.told.count;
  if (!mac->enclosure.known)
    return MN_OK;
  double *sum = o->product, *volume = o->product + count; /* a region has a cell or more */
  if (!l->region || 2 * (size_t)count > l->cells)
    return mn_mac_gauge(mac);
  memset(sum, 0, 2 * (size_t)count * sizeof *sum);
  for (size_t c = 0; c < l->cells; c++)
    if (l->region[c] >= 0) {
      sum[l->region[c]] += l->volume[c] * p[c];
      volume[l->region[c]] += l->volume[c];
    }
  for (int r = 0; r < count; r++)
    sum[r] = volume[r] > 0 ? sum[r] / volume[r] : 0;
  MN_TRY(mn_mac_gauge(mac));
  return mn_mac_lift(mac, sum, count);
}

/* Regions in which a cell is held: bodies->parted. */
static mn_status find_parted(mn_mac *mac, const double *p)
{
  mn_mac_operators *o = &mac->operators;
  const mn_regions *g = o->unknowns.regions;
  size_t count = (size_t)mn_pressure_region_count(mac->pressure);
  mac->bodies.parted = NULL;
  if (!o->linear.bound || !count)
    return MN_OK;
  MN_TRY(mn_reserve(mac->ctx, "closed regions", count, 1, &o->buffer[B_PARTED]));
  uint8_t *parted = o->buffer[B_PARTED].data;
  memset(parted, 0, count);
  for (int r = 0; r < g->first_run[g->n[1] * g->n[2]]; r++)
    for (int i = g->run[r].lo; i < g->run[r].hi; i++) {
      int32_t c = o->unknowns.run[r] + i - g->run[r].lo;
      parted[g->run[r].region] |= o->linear.bound[c] && p[c] <= 0;
    }
  mac->bodies.parted = parted;
  return MN_OK;
}

/* Shows the equation with the walls as they are at last. */
static mn_status show(mn_mac *mac, double tolerance)
{
  mn_pressure_geometry geometry = mn_mac_pressure_geometry(mac);
  if (!mac->watcher.see)
    return MN_OK;
  if (mac->separate.on)
    MN_TRY(mn_separate_describe(mac, 0));
  return mn_mac_show_equation(mac, &geometry, mac->separate.on ? &mac->separate.lcp : NULL,
                              tolerance);
}

static mn_status adopt(void *self, mn_interface *interface, const double *p,
                       mn_solve_report *report)
{
  mn_mac *mac = self;
  mn_mac_operators *o = &mac->operators;
  int bodies = interface && interface->count;
  if (!o->made)
    return mn_fail(mac->ctx, MN_BAD_INPUT,
                   "pressures are handed to the fluid before it assembled their equations");
  if (bodies)
    MN_TRY(mn_mac_bodies_move(mac, interface));
  mac->bodies.one_system = 1;
  double tolerance, sum_tolerance, worst;
  /* in gases nothing but walls of bodies has moved since the equations were made */
  int again = bodies && o->stamp == mac->geometry.stamp && !mac->water.on && !mac->separate.on;
  worst = again ? mn_mac_right_hand_side_again(mac, mac->dt, &mac->speed)
                : mn_mac_right_hand_side(mac, mac->dt, &mac->speed);
  mn_mac_tolerances(mac, mac->dt, worst, mac->speed, &tolerance, &sum_tolerance);
  if (bodies && mac->geometry.stamp) {
    int changed;
    MN_TRY(find_parted(mac, p));
    mac->bodies.mends_all = 1;
    mn_status status = mn_mac_bodies_mend(mac, mac->dt, sum_tolerance, &changed);
    mac->bodies.mends_all = 0;
    mac->bodies.parted = NULL;
    MN_TRY(status);
    if (changed)
      worst = mn_mac_right_hand_side(mac, mac->dt, &mac->speed);
  }
  MN_TRY(show(mac, tolerance));
  *report =
      (mn_solve_report){.initial_residual = worst, .closed_regions = o->unknowns.regions->closed};
  measure(mac, p, report);
  report->held += (int)(mac->bodies.loose_count + mac->bodies.emptied);
  report->reason = report->residual <= tolerance ? MN_CONVERGED : MN_ITERATION_LIMIT;
  mn_pressure_sum_regions(mac->pressure, &mac->b);
  mn_mac_worst_region(mac, mac->dt, &report->net_flow);
  mn_region_clear_outside(o->unknowns.regions, &mac->dp);
  mn_unknowns_spread(&o->unknowns, p, &mac->dp);
  if (mac->separate.on)
    mn_separate_mark_held(mac);
  if (bodies)
    MN_TRY(mn_mac_bodies_loads(mac, interface));
  MN_TRY(take_off_means(mac, p));
  mn_mac_subtract_gradient(mac, mac->dt);
  report->divergence = mn_mac_divergence(mac, &mac->liquid_next, &mac->separate.held, mac->result);
  mac->report = *report;
  return MN_OK;
}

const mn_fluid_operators mn_mac_fluid_operators = {.assemble = assemble,
                                                   .gather = gather,
                                                   .scatter = scatter,
                                                   .weights = weights,
                                                   .loose_weights = loose_weights,
                                                   .apply = apply,
                                                   .matrix = matrix,
                                                   .prepare = prepare,
                                                   .precondition = precondition,
                                                   .conjugate = conjugate,
                                                   .adopt = adopt};
