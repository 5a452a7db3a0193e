/* Smoke and water on the staggered grid: one substep.

       du/dt + u.grad u = -grad p / rho + nu lap u + a,   div u = 0

   begin    geometry at the end of the step, with bodies (immersed.c) where they are at its start
            smoke, temperature, level set carried along the trace velocity
            u* = carried (u - dt/2 grad p^n / rho) + dt/2 grad p^n / rho,
                 then dt of du/dt = nu lap u + a - grad p^n / rho
   solve    u = u* - (dt/rho) grad dp,  dp from the projection (project.c) around the bodies where
            the interface says; the loads on them (loads.c)
   commit   p = p^n + dp

   Second order in time (`order` = 2, smoke): the pressure gradient enters half where a path starts
   and half where it ends, as the trapezoidal rule along the path asks; p^n is the pressure of the
   step before, and what it misses is a gradient to leading order, which dp takes up. The trace
   velocity is that of the middle of the step, extrapolated from the last two. Without this,
   splitting alone damps a steady vortex like a viscosity of dt U^2/8 (docs/theory/smoke.md).
   `order` = 1 leaves both out. Among bodies p^n, whose place they leave, is not subtracted: dp is
   the pressure itself.

   Gravity: smoke works with the pressure above that of the fluid at rest, so that open sides hold
   ambient fluid at rest; writers get the whole pressure. Buoyancy: a = g (smoke_weight s -
   expansion (T - ambient)).

   Verified by tests/verify/test_taylor_green.c, test_cavity.c, test_hydrostatic.c, test_plume.c. */
#include "fluid/mac/internal.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"

static void set_sources(const mn_mac *mac, mn_field *f, int temperature)
{
  const unsigned char *emitter = mac->geometry.emitter;
  for (size_t q = 0; q < f->size; q++)
    if (emitter[q]) {
      const mn_source_def *s = &mac->def->sources[emitter[q] - 1];
      f->data[q] = temperature ? s->temperature : s->smoke;
    }
}

static int is_zero(const mn_field *f)
{
  size_t q = 0;
  while (q < f->size && f->data[q] == 0)
    q++;
  return q == f->size;
}

/* Many scenes have no smoke, and nothing carried is nothing: a third of the advection in 2D. */
static void carry_scalar(mn_mac *mac, const mn_field *from, double outside, mn_field *to)
{
  if (outside == 0 && is_zero(from))
    mn_field_fill(to, 0);
  else
    mn_mac_advect(mac, mac->dt, from, &outside, to);
  set_sources(mac, to, from == &mac->state.temperature);
  mn_extension_apply(&mac->geometry.cell_extension, MN_CONTINUE_CONSTANT, to);
  mn_mac_fill_cells(to);
}

static mn_status carry_liquid(mn_mac *mac)
{
  mn_mac_advect(mac, mac->dt, &mac->state.liquid, NULL, &mac->liquid_next);
  mn_liquid_finish(mac, &mac->liquid_next);
  return mn_liquid_keep_volume(mac, &mac->liquid_next);
}

/* to <- a + s b over all points, ghosts included */
static void combine(const mn_mac *mac, mn_field *to, const mn_field *a, double s, const mn_field *b)
{
  int64_t size = (int64_t)to->size;
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int64_t q = 0; q < size; q++)
    to->data[q] = a->data[q] + s * b->data[q];
}

/* The velocity of the middle of the step. */
static void make_trace(mn_mac *mac)
{
  double last = mac->state.scalars[1];
  double ahead = mac->extrapolates && last > 0 ? 0.5 * mac->dt / last : 0;
  for (int a = 0; a < mac->grid.dim; a++) {
    const mn_field *u = &mac->state.u[a];
    if (ahead > 0) { /* u + ahead (u - before) */
      combine(mac, &mac->trace[a], u, -1, &mac->state.before[a]);
      combine(mac, &mac->trace[a], u, ahead, &mac->trace[a]);
    } else
      mn_field_copy(&mac->trace[a], u);
  }
}

/* The gradient on the faces of the domain's two sides along `axis`: to p = 0 on the face of an open
   side, extrapolated to a closed one, where it is not known. */
static void side_gradient(const mn_mac *mac, int axis, double scale, mn_field *f)
{
  const mn_field *p = &mac->state.p;
  int hi[3] = {f->n[0], f->n[1], f->n[2]}, last = f->n[axis] - 1;
  int64_t s = f->stride[axis];
  hi[axis] = 1;
  for (int k = 0; k < hi[2]; k++)
    for (int j = 0; j < hi[1]; j++)
      for (int i = 0; i < hi[0]; i++) {
        double *low = f->at + mn_index(f, i, j, k), *high = low + last * s;
        const double *cell = p->at + mn_index(p, i, j, k);
        int far = last >= 3 ? 2 : 1; /* a domain of few cells gets a constant */
        low[0] = mac->open_sides & 1u << 2 * axis ? 2 * scale * cell[0]
                 : last < 2                       ? 0
                                                  : 2 * low[s] - low[far * s];
        high[0] = mac->open_sides & 2u << 2 * axis ? -2 * scale * cell[(last - 1) * p->stride[axis]]
                  : last < 2                       ? 0
                                                   : 2 * high[-s] - high[-far * s];
      }
}

/* Across a thin surface pressure jumps, and where it jumped in the last solve may be a face further
   on: around blocked faces the rule of second order is left out. */
static void leave_out_shells(const mn_mac *mac, int axis, mn_field *f)
{
  const unsigned char *kind = mac->geometry.kind[axis] + (f->at - f->data);
  int deep = mac->grid.dim == 3;
  for (int k = 0; k < f->n[2]; k++)
    for (int j = 0; j < f->n[1]; j++)
      for (int i = 0; i < f->n[0]; i++) {
        if (kind[mn_index(f, i, j, k)] != MN_FACE_SHELL)
          continue;
        for (int kk = k - deep; kk <= k + deep; kk++) /* ghosts are set later */
          for (int jj = j - 1; jj <= j + 1; jj++)
            for (int ii = i - 1; ii <= i + 1; ii++)
              mn_set(f, ii, jj, kk, 0);
      }
}

/* gradient <- grad p^n / rho on all faces, ghosts included */
static void old_pressure_acceleration(mn_mac *mac)
{
  const mn_field *p = &mac->state.p;
  double scale = 1 / (mac->def->fluid.density * mac->grid.dx);
  for (int a = 0; a < mac->grid.dim; a++) {
    mn_field *f = &mac->gradient[a];
    int slabs = mn_slabs(f);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
    for (int s = 0; s < slabs; s++) {
      int k, j0, j1;
      mn_slab(f, s, &k, &j0, &j1);
      for (int j = j0; j < j1; j++)
        for (int i = 0; i < f->n[0]; i++) {
          const double *q = p->at + mn_index(p, i, j, k);
          mn_set(f, i, j, k, scale * (q[0] - q[-p->stride[a]]));
        }
    }
    if (mac->bodies.on)
      leave_out_shells(mac, a, f);
    side_gradient(mac, a, scale, f);
    mn_mac_fill_cells(f);
  }
}

static double buoyancy(const mn_field *cells, double weight, double rest, int a, int i, int j,
                       int k)
{
  const double *c = cells->at + mn_index(cells, i, j, k);
  return weight * (c[0] + c[-cells->stride[a]] - 2 * rest);
}

double mn_mac_acceleration(const mn_mac *mac, int a, int i, int j, int k, double less)
{
  const mn_fluid_def *fluid = &mac->def->fluid;
  double g = fluid->gravity.v[a], sum = fluid->body_force.v[a] / fluid->density;
  if (mn_mac_is_water(mac))
    return sum + g - less;
  sum -= less;
  if (g * fluid->smoke_weight != 0)
    sum += buoyancy(&mac->smoke_next, 0.5 * g * fluid->smoke_weight, 0, a, i, j, k);
  if (mac->temperature_next.data && g * fluid->expansion != 0)
    sum +=
        buoyancy(&mac->temperature_next, -0.5 * g * fluid->expansion, fluid->ambient, a, i, j, k);
  return sum;
}

/* gradient <- accelerations: body force, buoyancy or gravity, and minus what it holds if `pressure`
 */
static void accelerations(mn_mac *mac, int pressure)
{
  for (int a = 0; a < mac->grid.dim; a++) {
    mn_field *f = &mac->gradient[a];
    int slabs = mn_slabs(f);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
    for (int s = 0; s < slabs; s++) {
      int k, j0, j1;
      mn_slab(f, s, &k, &j0, &j1);
      for (int j = j0; j < j1; j++)
        for (int i = 0; i < f->n[0]; i++) {
          double *value = &f->at[mn_index(f, i, j, k)];
          *value = mn_mac_acceleration(mac, a, i, j, k, pressure ? *value : 0);
        }
    }
  }
}

static mn_status mac_begin(void *self, double t, double dt)
{
  mn_mac *mac = self;
  mac->dt = dt;
  mac->solves = 0;
  mac->operators.made = 0;
  mac->enclosure.known = mac->enclosure.lifted = 0;
  mn_mac_forget_spaces(mac, 0);
  mac->extrapolates = mn_mac_second_order(mac) && mac->state.scalars[2] > 0;
  mac->increments = mac->extrapolates && !mac->bodies.on;
  MN_TRY(mn_mac_bodies_geometry(mac, t + dt, dt));
  make_trace(mac);
  MN_TRY(mn_mac_bodies_expect(mac));
  if (mac->water.on)
    MN_TRY(mn_water_begin(mac));
  else if (mn_mac_is_water(mac))
    MN_TRY(carry_liquid(mac));
  else
    carry_scalar(mac, &mac->state.smoke, 0, &mac->smoke_next);
  if (mn_mac_is_water(mac))
    mac->assembled = 0;
  if (mac->state.temperature.data)
    carry_scalar(mac, &mac->state.temperature, mac->def->fluid.ambient, &mac->temperature_next);
  int second = mac->extrapolates;
  const double rest = 0; /* what enters through an open side */
  if (second) {
    old_pressure_acceleration(mac);
    for (int a = 0; a < mac->grid.dim; a++)
      combine(mac, &mac->result[a], &mac->state.u[a], -0.5 * dt, &mac->gradient[a]);
    MN_TRY(mn_shell_turn_gradient(mac));
  }
  for (int a = 0; a < mac->grid.dim && !mac->water.on; a++) {
    mn_mac_advect(mac, dt, second ? &mac->result[a] : &mac->state.u[a], &rest, &mac->star[a]);
    if (second)
      combine(mac, &mac->star[a], &mac->star[a], 0.5 * dt, &mac->gradient[a]);
  }
  accelerations(mac, mac->increments);
  return mn_mac_diffuse(mac, dt);
}

static mn_status mac_meet(void *self, const mn_interface *interface)
{
  mn_mac *mac = self;
  MN_TRY(mn_mac_bodies_meet(mac, interface));
  MN_TRY(mn_shell_meet(mac));
  int untouched = mac->state.scalars[0] == 0 && mac->state.scalars[1] == 0;
  if (!mac->bodies.on || !untouched)
    return MN_OK;
  MN_TRY(mn_mac_initial_state(mac));
  mn_mac_keep_loose(mac);
  return mn_mac_empty_refuse(mac);
}

static mn_status mac_arrive(void *self, const mn_interface *interface)
{
  return mn_mac_bodies_end(self, interface);
}

static mn_status mac_solve(void *self, mn_interface *interface, mn_solve_report *report)
{
  mn_mac *mac = self;
  int bodies = interface && interface->count;
  if (bodies && !mac->bodies.on)
    return mn_fail(mac->ctx, MN_BAD_INPUT,
                   "the fluid did not meet the interface's surfaces before the substep");
  if (bodies && interface->positive)
    mac->bodies.narrow = 1;
  if (bodies)
    MN_TRY(mn_mac_bodies_place(mac, interface));
  mac->bodies.one_system = 0;
  mac->bodies.mends_all = bodies && interface->seeking;
  mac->bodies.told = bodies ? interface : NULL;
  mn_status status = mn_mac_project(mac, mac->dt, &mac->report);
  mac->bodies.told = NULL;
  mac->bodies.mends_all = 0;
  *report = mac->report;
  if (status == MN_OK && bodies)
    status = mn_mac_bodies_loads(mac, interface);
  return status;
}

static void swap(mn_field *a, mn_field *b)
{
  mn_field t = *a;
  *a = *b;
  *b = t;
}

static mn_status mac_commit(void *self)
{
  mn_mac *mac = self;
  mn_mac_state *s = &mac->state;
  double end = mac->geometry.time;
  MN_TRY(mn_mac_mark_loose(mac));
  MN_TRY(mn_mac_bodies_arrive(mac));
  MN_TRY(mn_shell_commit(mac));
  if (mn_mac_is_water(mac)) {
    swap(&s->liquid, &mac->liquid_next);
    mn_liquid_plan(mac, &s->liquid);
  } else
    swap(&s->smoke, &mac->smoke_next);
  if (s->temperature.data)
    swap(&s->temperature, &mac->temperature_next);
  for (int a = 0; a < mac->grid.dim; a++) {
    if (s->before[a].data)
      swap(&s->before[a], &s->u[a]);
    swap(&s->u[a], &mac->result[a]);
  }
  if (s->held.data)
    swap(&s->held, &mac->separate.held);
  if (s->wet.data) {
    swap(&s->wet, &mac->keep.wet);
    s->owed = mac->keep.owed;
  }
  mn_mac_close(mac, end, &s->held, s->u);
  mn_shell_forget_before(mac);
  if (mac->increments)
    combine(mac, &s->p, &s->p, 1, &mac->dp);
  else
    mn_field_copy(&s->p, &mac->dp);
  if (mn_mac_second_order(mac)) {
    mn_extension_apply(&mac->geometry.cell_extension, MN_CONTINUE_CONSTANT, &s->p);
    mn_mac_fill_cells(&s->p);
  }
  if (s->lift.data && !mac->enclosure.lifted)
    mn_field_fill(&s->lift, 0);
  mn_mac_empty_state(mac);
  s->scalars[2] = !mn_mac_wall_jumped(mac);
  s->scalars[0] = end;
  s->scalars[1] = mac->dt;
  if (mac->water.on)
    mn_water_commit(mac);
  return mn_mac_bodies_commit(mac);
}

static mn_status mac_save(void *self)
{
  mn_mac *mac = self;
  mn_mac_copy_state(mac, &mac->saved, &mac->state);
  mn_water_save(mac);
  return MN_OK;
}

static mn_status mac_restore(void *self)
{
  mn_mac *mac = self;
  mn_mac_bodies_forget(mac);
  mn_mac_copy_state(mac, &mac->state, &mac->saved);
  return mac->water.on ? mn_water_restore(mac) : MN_OK;
}

static void add_array(const mn_field *f, const char *name, mn_array *arrays, int capacity,
                      int *count)
{
  if (!f->data)
    return;
  if (*count < capacity) {
    mn_array *a = &arrays[*count];
    *a = (mn_array){.type = MN_F64, .rank = f->grid->dim, .data = f->data};
    snprintf(a->name, sizeof a->name, "%s", name);
    for (int r = 0; r < a->rank; r++)
      a->shape[r] = (size_t)f->n[a->rank - 1 - r] + 2 * MN_GHOST;
  }
  (*count)++;
}

/* `rows` numbers, or rows of `width` of which there may be any number */
static void add_table(const char *name, size_t rows, size_t width, double *data, mn_array *arrays,
                      int capacity, int *count)
{
  if (*count < capacity) {
    mn_array *a = &arrays[*count];
    *a = (mn_array){.type = MN_F64, .rank = width ? 2 : 1, .shape = {rows, width}, .data = data};
    a->variable = width > 0;
    snprintf(a->name, sizeof a->name, "%s", name);
  }
  (*count)++;
}

static int mac_arrays(void *self, mn_array *arrays, int capacity)
{
  mn_mac *mac = self;
  int count = 0;
#define X(field, place, name) add_array(&mac->state.field, name, arrays, capacity, &count);
  MN_MAC_STATE_FIELDS(X)
#undef X
  add_table("fluid_clock", 3, 0, mac->state.scalars, arrays, capacity, &count);
  if (mac->state.wet.data)
    add_table("water_owed", 1, 0, &mac->state.owed, arrays, capacity, &count);
  if (mac->water.on) {
    mn_particles *p = &mac->state.particles;
    add_table("inflow_path", (size_t)mac->def->source_count, 0, mac->state.inflow_path, arrays,
              capacity, &count);
    add_table("particles", p->count, (size_t)p->width, p->data, arrays, capacity, &count);
  }
  return count;
}

/* The only array whose length changes is that of the particles. */
static mn_status mac_resize(void *self, const mn_array *arrays, int count)
{
  mn_mac *mac = self;
  mn_particles *p = &mac->state.particles;
  for (int i = 0; i < count; i++)
    if (mac->water.on && !strcmp(arrays[i].name, "particles")) {
      MN_TRY(mn_particles_reserve(mac->ctx, arrays[i].shape[0], p));
      p->count = arrays[i].shape[0];
    }
  return MN_OK;
}

const mn_fluid_ops mn_mac_ops = {.name = "mac",
                                 .destroy = mn_mac_destroy,
                                 .max_dt = mn_mac_max_dt,
                                 .begin = mac_begin,
                                 .solve = mac_solve,
                                 .commit = mac_commit,
                                 .save = mac_save,
                                 .restore = mac_restore,
                                 .arrays = mac_arrays,
                                 .resize = mac_resize,
                                 .meet = mac_meet,
                                 .arrive = mac_arrive,
                                 .enclose = mn_mac_enclose,
                                 .lift = mn_mac_lift,
                                 .operators = &mn_mac_fluid_operators,
                                 .lacking = mn_mac_bodies_lacking,
                                 .lets_go = mn_mac_lets_go};
