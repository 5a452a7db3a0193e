/* How a grid fluid begins and ends: its arrays, the state at time 0, copies of states.

   The initial velocity is made free of divergence by one projection. Its impulse is no pressure. */
#include "fluid/mac/internal.h"

#include <math.h>
#include <string.h>

#include "base/status.h"

/* Whether this scene carries a state field at all. */
static int carries(const mn_mac *mac, const mn_mac_state *s, const mn_field *f)
{
  int dim = mac->grid.dim;
  if (f == &s->u[2] || f == &s->before[2])
    return dim == 3 && (f == &s->u[2] || mn_mac_second_order(mac));
  if (f == &s->before[0] || f == &s->before[1])
    return mn_mac_second_order(mac);
  if (f == &s->smoke)
    return !mn_mac_is_water(mac);
  if (f == &s->temperature)
    return mac->def->fluid.temperature;
  if (f == &s->liquid)
    return mn_mac_is_water(mac);
  if (f == &s->wet)
    return mn_mac_is_water(mac) && !mac->water.on;
  if (f == &s->held)
    return mn_separates(mac->def);
  if (f == &s->lift) /* else made when bodies are met */
    return mac->def->body_count > 0 || *mac->def->solid_plugin.file;
  return 1;
}

static mn_status create_state(mn_mac *mac, mn_mac_state *s)
{
#define X(field, place, name)                                                                      \
  if (carries(mac, s, &s->field))                                                                  \
    MN_TRY(mn_field_create(mac->ctx, &mac->grid, place, name, &s->field));
  MN_MAC_STATE_FIELDS(X)
#undef X
  return MN_OK;
}

static void destroy_state(mn_mac_state *s)
{
#define X(field, place, name) mn_field_destroy(&s->field);
  MN_MAC_STATE_FIELDS(X)
#undef X
}

void mn_mac_copy_state(const mn_mac *mac, mn_mac_state *to, const mn_mac_state *from)
{
#define X(field, place, name)                                                                      \
  if (from->field.data)                                                                            \
    mn_field_copy(&to->field, &from->field);
  MN_MAC_STATE_FIELDS(X)
#undef X
  memcpy(to->scalars, from->scalars, sizeof to->scalars);
  to->owed = from->owed;
  if (mac->water.on)
    memcpy(to->inflow_path, from->inflow_path,
           (size_t)mac->def->source_count * sizeof *to->inflow_path);
}

void mn_mac_destroy(void *self)
{
  mn_mac *mac = self;
  destroy_state(&mac->state);
  destroy_state(&mac->saved);
  mn_water_destroy(mac);
  mn_mac_geometry_destroy(mac);
  mn_shell_destroy(&mac->shell);
  mn_mac_bodies_destroy(mac);
  mn_enclosure_destroy(&mac->enclosure);
  mn_spaces_destroy(&mac->spaces);
  mn_mac_operators_free(&mac->operators);
  for (int a = 0; a < 3; a++) {
    mn_field_destroy(&mac->trace[a]);
    mn_field_destroy(&mac->star[a]);
    mn_field_destroy(&mac->result[a]);
    mn_field_destroy(&mac->gradient[a]);
  }
  mn_field_destroy(&mac->smoke_next);
  mn_field_destroy(&mac->temperature_next);
  mn_field_destroy(&mac->liquid_next);
  mn_field_destroy(&mac->cell_scratch);
  mn_field_destroy(&mac->shown);
  mn_field_destroy(&mac->b);
  mn_field_destroy(&mac->dp);
  mn_pressure_destroy(&mac->pressure);
  mn_separate_destroy(mac);
  mn_liquid_keep_destroy(&mac->keep);
  mn_mac_viscosity_destroy(mac);
  mn_free(mac->lo);
  mn_free(mac->hi);
  mn_free(mac->scratch);
  mn_free(mac->slab);
  mn_free(mac->line);
  mn_free(mac->line_moves);
  mn_free(mac->quiet_rows);
  mn_free(mac);
}

static mn_status create_work(mn_mac *mac)
{
  mn_context *ctx = mac->ctx;
  const mn_grid *g = &mac->grid;
  for (int a = 0; a < g->dim; a++) {
    MN_TRY(mn_field_create(ctx, g, (mn_place)a, "trace velocity", &mac->trace[a]));
    MN_TRY(mn_field_create(ctx, g, (mn_place)a, "intermediate velocity", &mac->star[a]));
    MN_TRY(mn_field_create(ctx, g, (mn_place)a, "new velocity", &mac->result[a]));
    MN_TRY(mn_field_create(ctx, g, (mn_place)a, "pressure gradient", &mac->gradient[a]));
  }
  if (!mn_mac_is_water(mac))
    MN_TRY(mn_field_create(ctx, g, MN_CELL, "new smoke", &mac->smoke_next));
  else {
    MN_TRY(mn_field_create(ctx, g, MN_CELL, "new level set", &mac->liquid_next));
    MN_TRY(MN_NEW(ctx, "rows of cells", (size_t)g->n[1] * (size_t)g->n[2], &mac->quiet_rows));
  }
  if (mac->def->fluid.temperature)
    MN_TRY(mn_field_create(ctx, g, MN_CELL, "new temperature", &mac->temperature_next));
  MN_TRY(mn_field_create(ctx, g, MN_CELL, "scratch", &mac->cell_scratch));
  MN_TRY(mn_field_create(ctx, g, MN_CELL, "shown pressure", &mac->shown));
  MN_TRY(mn_field_create(ctx, g, MN_CELL, "right-hand side", &mac->b));
  MN_TRY(mn_field_create(ctx, g, MN_CELL, "pressure increment", &mac->dp));
  size_t largest = mn_field_size(g, MN_NODE);
  if (mn_mac_corrects(mac)) {
    MN_TRY(MN_NEW(ctx, "limiter bounds", largest, &mac->lo));
    MN_TRY(MN_NEW(ctx, "limiter bounds", largest, &mac->hi));
    MN_TRY(MN_NEW(ctx, "advection scratch", largest, &mac->scratch));
  }
  int slabs = (g->dim == 3 ? g->n[2] : g->n[1]) + 1;
  MN_TRY(MN_NEW(ctx, "partial sums", 8 * (size_t)slabs, &mac->slab));
  size_t lines = (size_t)mac->b.n[1] * (size_t)mac->b.n[2];
  MN_TRY(MN_NEW(ctx, "partial sums", lines, &mac->line));
  MN_TRY(MN_NEW(ctx, "partial sums", lines, &mac->line_moves));
  MN_TRY(mn_mac_viscosity_create(mac));
  MN_TRY(mn_separate_create(mac));
  MN_TRY(mn_liquid_keep_create(mac));
  return mn_pressure_create(ctx, g, mac->def->fluid.pressure_solver, &mac->pressure);
}

static mn_status fill_from(const mn_field_fn *fn, mn_field *f, int component)
{
  for (int k = 0; k < f->n[2]; k++)
    for (int j = 0; j < f->n[1]; j++)
      for (int i = 0; i < f->n[0]; i++) {
        mn_vec3 value = fn->value;
        if (fn->eval)
          MN_TRY(fn->eval(fn->user, mn_position(f, i, j, k), &value));
        mn_set(f, i, j, k, value.v[component]);
      }
  return MN_OK;
}

static void fill_from_shape(const mn_shape *shape, mn_field *f)
{
  for (int k = 0; k < f->n[2]; k++)
    for (int j = 0; j < f->n[1]; j++)
      for (int i = 0; i < f->n[0]; i++)
        mn_set(f, i, j, k, mn_shape_distance(shape, mn_position(f, i, j, k)) < 0);
}

mn_status mn_mac_initial_state(mn_mac *mac)
{
  const mn_fluid_def *fluid = &mac->def->fluid;
  mn_mac_state *s = &mac->state;
  for (int a = 0; a < mac->grid.dim; a++)
    MN_TRY(fill_from(&fluid->initial_velocity, &s->u[a], a));
  if (s->smoke.data) {
    if (fluid->initial_smoke_shape)
      fill_from_shape(fluid->initial_smoke_shape, &s->smoke);
    else
      MN_TRY(fill_from(&fluid->initial_smoke, &s->smoke, 0));
    mn_mac_fill_cells(&s->smoke);
  }
  if (s->temperature.data) {
    MN_TRY(fill_from(&fluid->initial_temperature, &s->temperature, 0));
    mn_mac_fill_cells(&s->temperature);
  }
  mac->dt = 0; /* it may be made anew, when bodies are met */
  mac->solves = 0;
  MN_TRY(mn_mac_bodies_geometry(mac, 0, 0));
  if (mac->water.on) {
    MN_TRY(mn_water_seed(mac));
    mn_field_copy(&s->liquid, &mac->liquid_next);
    mn_liquid_plan(mac, &s->liquid);
  } else if (mn_mac_is_water(mac)) {
    mn_liquid_fill(mac, &s->liquid);
    mn_liquid_into_solids(mac, &s->liquid);
    mn_mac_fill_cells(&s->liquid);
    mn_field_copy(&mac->liquid_next, &s->liquid);
    mn_liquid_plan(mac, &s->liquid);
    mn_liquid_measure(mac, &s->liquid, &s->wet);
  }
  /* the initial velocity made divergence-free; the impulse that does it is not a pressure */
  for (int a = 0; a < mac->grid.dim; a++)
    mn_field_copy(&mac->star[a], &s->u[a]);
  mn_status status = mn_mac_project(mac, 1, &mac->report);
  int bodies = mac->def->body_count || *mac->def->solid_plugin.file;
  if (status != MN_OK && bodies && mac->report.reason == MN_INCOMPATIBLE) {
    /* sources blow into what is closed: bodies, which are not there yet, may give way */
    mac->ctx->message[0] = 0;
    mac->report.reason = MN_CONVERGED;
    for (int a = 0; a < mac->grid.dim; a++)
      mn_field_copy(&mac->result[a], &mac->star[a]);
    status = MN_OK;
  }
  MN_TRY(status);
  if (mn_mac_is_water(mac))
    MN_TRY(mn_separate_refuse(mac));
  const char *lcp = mac->separate.on ? mn_lcp_solver_name(mac->def->fluid.lcp_solver) : NULL;
  if (mac->report.reason != MN_CONVERGED)
    return mn_fail(mac->ctx, MN_FAILED,
                   "the initial velocity could not be made free of divergence: the pressure solve "
                   "%s%s%sstopped after %d iterations at a residual of %g; try a larger "
                   "fluid.pressure_max_iterations%s",
                   lcp ? "by \"" : "", lcp ? lcp : "", lcp ? "\" " : "", mac->report.iterations,
                   mac->report.residual, lcp ? ", or lcp_solver = \"fast\"" : "");
  s->scalars[2] = 1;
  for (int a = 0; a < mac->grid.dim; a++)
    mn_field_copy(&s->u[a], &mac->result[a]);
  if (s->held.data)
    mn_field_copy(&s->held, &mac->separate.held);
  mn_mac_close(mac, 0, &s->held, s->u);
  mn_mac_empty_state(mac);
  if (mac->water.on)
    mn_water_commit(mac);
  if (mn_mac_second_order(mac))
    for (int a = 0; a < mac->grid.dim; a++)
      mn_field_copy(&s->before[a], &s->u[a]);
  return MN_OK;
}

/* A thread with fewer cells waits longer than it works. */
static const double CELLS_PER_THREAD = 8192;

static mn_status create(mn_mac *mac)
{
  const mn_domain_def *domain = &mac->def->domain;
  double cells = 1;
  for (int a = 0; a < domain->dim; a++)
    cells *= domain->cells[a];
  mac->exec = mac->ctx->exec; /* the bits do not depend on it */
  if (mac->exec.threads > 1 + cells / CELLS_PER_THREAD)
    mac->exec.threads = 1 + (int)(cells / CELLS_PER_THREAD);
  mac->grid = mn_grid_make(&mac->exec, domain->dim, domain->cells,
                           domain->size.x / domain->cells[0], domain->origin);
  for (int side = 0; side < 2 * domain->dim; side++)
    mac->open_sides |= domain->side[side].kind >= MN_SIDE_OPEN ? 1u << side : 0;
  for (int s = 0; s < mac->def->solid_count; s++)
    mac->moving |= mac->def->solids[s].moving;
  mac->water.on = mn_mac_is_water(mac) && mac->def->fluid.transfer != MN_TRANSFER_LEVELSET;
  MN_TRY(create_state(mac, &mac->state));
  MN_TRY(create_state(mac, &mac->saved));
  MN_TRY(create_work(mac));
  if (mac->stress.on)
    mac->continuation = MN_CONTINUE_LIMITED;
  MN_TRY(mn_water_create(mac));
  MN_TRY(mn_mac_geometry_create(mac));
  return mn_mac_initial_state(mac);
}

double mn_mac_bytes(const mn_model_def *def)
{
  double points = 1; /* of a field, ghosts included */
  int dim = def->domain.dim, second = def->fluid.order == 2;
  int water = def->fluid.kind == MN_FLUID_WATER;
  /* of the domain may hold water: there are unknowns; it spreads, so some more than at the start */
  double wet = water && !def->source_count ? fmin(1, 1.5 * mn_water_part(def)) : 1;
  for (int a = 0; a < dim; a++)
    points *= def->domain.cells[a] + 1.0 + 2 * MN_GHOST;
  double fields =
      (dim * (1 + second) + 3) * 2 /* state, saved */ + 4 * dim + 8 + 3 /* work */ + 2 * dim + 2;
  fields += def->fluid.viscosity > 0 ? dim * (1 + dim) + 4 * dim : 0;
  if (def->fluid.viscosity > 0 && def->fluid.kind == MN_FLUID_WATER)
    fields += 4 * dim + (dim == 2 ? 3 : 9) + 1; /* weights and strain rates */
  if (water && def->fluid.transfer != MN_TRANSFER_LEVELSET)
    fields += 3 + dim + 1 + mn_water_rows(def); /* the last: a cell's first particle */
  if (water && def->fluid.transfer == MN_TRANSFER_LEVELSET)
    fields += 4.5; /* water of cells, three times; pools */
  if (water && def->fluid.transfer == MN_TRANSFER_MARKER)
    fields -= 3;                            /* no correction of what is carried */
  double plans = (dim + 1) * 5.0 + dim + 2; /* extension plans, kinds, marks */
  double solver = 150 * wet;                /* bytes per unknown at most */
  fields += mn_separates(def) ? 2 : 0;
  plans += mn_separate_bytes(def, wet);
  fields += def->source_count ? 1.125 * dim : 0; /* the last: a byte a face */
  if (def->body_count && def->fluid.kind == MN_FLUID_WATER)
    plans += 16;                     /* spaces */
  plans += def->body_count ? 64 : 0; /* surfaces at both ends of a substep */
  int one = def->coupling.method == MN_COUPLE_SIMULTANEOUS ||
            def->coupling.method == MN_COUPLE_MONOLITHIC;
  plans += def->body_count && one ? 120 : 0; /* vectors and levels of operators.c */
  return points *
         (fields * sizeof(double) + plans + solver * (def->fluid.viscosity > 0 ? 1 + dim : 1));
}

mn_status mn_mac_create(mn_context *ctx, const mn_model_def *def, mn_fluid *fluid)
{
  mn_mac *mac;
  *fluid = (mn_fluid){0};
  MN_TRY(MN_NEW(ctx, "grid fluid", 1, &mac));
  mac->ctx = ctx;
  mac->def = def;
  mn_status status = create(mac);
  if (status != MN_OK) {
    mn_mac_destroy(mac);
    return status;
  }
  *fluid = (mn_fluid){&mn_mac_ops, mac};
  return MN_OK;
}
