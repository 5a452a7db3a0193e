/* The checks of a def that hold for Lua and C users alike. Each message names the key as a scene
   spells it, the value found and what is allowed. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "math/vec.h"
#include "world/check_values.h"
#include "world/world.h"

static const char *const side_names[6] = {"left", "right", "bottom", "top", "back", "front"};

/* How bodies meet it. */
static mn_status check_surface(mn_context *ctx, const char *key, double friction,
                               double restitution)
{
  char part[128];
  snprintf(part, sizeof part, "%s.friction", key);
  MN_TRY(mn_check_not_negative(ctx, part, friction));
  snprintf(part, sizeof part, "%s.restitution", key);
  return restitution >= 0 && restitution <= 1
             ? MN_OK
             : mn_bad_value(ctx, part, restitution, "between 0 and 1");
}

/* ---- domain and fluid ------------------------------------------------------------------------ */

static mn_status check_side(mn_context *ctx, const mn_domain_def *d, int s)
{
  const mn_side_def *side = &d->side[s];
  char key[64];
  snprintf(key, sizeof key, "domain.%s", side_names[s]);
  MN_TRY(mn_check_range(ctx, key, (int)side->kind, MN_SIDE_SLIP, MN_SIDE_THROUGH));
  MN_TRY(mn_check_velocity(ctx, d->dim, key, side->velocity));
  MN_TRY(mn_check_timefn(ctx, key, &side->ramp));
  MN_TRY(check_surface(ctx, key, side->friction, side->restitution));
  if (side->velocity.v[s / 2] != 0)
    return mn_fail(ctx, MN_BAD_INPUT,
                   "%s moves with {%g, %g, %g} m/s: a wall may only slide along itself", key,
                   side->velocity.x, side->velocity.y, side->velocity.z);
  if (side->kind != MN_SIDE_NOSLIP && mn_length(side->velocity) > 0)
    return mn_fail(ctx, MN_BAD_INPUT, "%s has a velocity: only a no-slip wall can have one", key);
  return MN_OK;
}

static mn_status check_domain(mn_context *ctx, const mn_domain_def *d)
{
  if (d->dim != 2 && d->dim != 3)
    return mn_fail(ctx, MN_BAD_INPUT, "domain.dim is %d: must be 2 or 3", d->dim);
  MN_TRY(mn_check_vector(ctx, d->dim, "domain.origin", d->origin));
  for (int a = 0; a < d->dim; a++) {
    char key[32];
    snprintf(key, sizeof key, "domain.size[%d]", a + 1);
    MN_TRY(mn_check_positive(ctx, key, d->size.v[a]));
    if (d->cells[a] < 1)
      return mn_fail(ctx, MN_BAD_INPUT, "domain.cells[%d] is %d: must be at least 1", a + 1,
                     d->cells[a]);
  }
  if (d->dim == 2 && d->cells[2] != 1)
    return mn_fail(ctx, MN_BAD_INPUT, "domain.cells[3] is %d: must be 1 in a 2D scene",
                   d->cells[2]);
  double dx = d->size.x / d->cells[0];
  for (int a = 1; a < d->dim; a++) {
    double other = d->size.v[a] / d->cells[a];
    if (!(fabs(other - dx) <= 1e-6 * dx)) /* sizes such as 1/3 are not exact */
      return mn_fail(ctx, MN_BAD_INPUT,
                     "domain.cells: cells must be cubic, but are %.6g m wide along axis 1 and %.6g "
                     "m along axis %d; with size %.6g, cells[%d] should be %.6g",
                     dx, other, a + 1, d->size.v[a], a + 1, d->size.v[a] / dx);
  }
  for (int s = 0; s < 2 * d->dim; s++)
    MN_TRY(check_side(ctx, d, s));
  return MN_OK;
}

static mn_status check_field(mn_context *ctx, int dim, const char *key, const mn_field_fn *f)
{
  return f->eval ? MN_OK : mn_check_velocity(ctx, dim, key, f->value);
}

static mn_status check_fluid(mn_context *ctx, int dim, const mn_fluid_def *f)
{
  MN_TRY(mn_check_range(ctx, "fluid.kind", (int)f->kind, MN_FLUID_SMOKE, MN_FLUID_PLUGIN));
  if (!mn_fluid_on_grid(f))
    return MN_OK;
  MN_TRY(mn_check_positive(ctx, "fluid.density", f->density));
  MN_TRY(mn_check_not_negative(ctx, "fluid.viscosity", f->viscosity));
  MN_TRY(check_field(ctx, dim, "fluid.viscosity_factor", &f->viscosity_factor));
  MN_TRY(mn_check_vector(ctx, dim, "fluid.gravity", f->gravity));
  MN_TRY(mn_check_vector(ctx, dim, "fluid.body_force", f->body_force));
  MN_TRY(mn_check_finite(ctx, "fluid.smoke_weight", f->smoke_weight));
  MN_TRY(mn_check_finite(ctx, "fluid.expansion", f->expansion));
  MN_TRY(mn_check_finite(ctx, "fluid.ambient", f->ambient));
  MN_TRY(mn_check_range(ctx, "fluid.advection", (int)f->advection, 0, MN_ADVECT_SEMILAGRANGIAN));
  MN_TRY(mn_check_range(ctx, "fluid.order", f->order, 1, 2));
  MN_TRY(mn_check_positive(ctx, "fluid.cfl", f->cfl));
  MN_TRY(mn_check_not_negative(ctx, "fluid.dt", f->dt));
  MN_TRY(mn_check_not_negative(ctx, "fluid.max_dt", f->max_dt));
  MN_TRY(mn_check_range(ctx, "fluid.pressure_solver", (int)f->pressure_solver, 0, MN_PRESSURE_PCG));
  if (!(f->pressure_tolerance > 0 && f->pressure_tolerance < 1))
    return mn_bad_value(ctx, "fluid.pressure_tolerance", f->pressure_tolerance, "between 0 and 1");
  MN_TRY(mn_check_not_negative(ctx, "fluid.divergence_tolerance", f->divergence_tolerance));
  MN_TRY(mn_check_range(ctx, "fluid.outside", (int)f->outside, 0, MN_OUTSIDE_EMPTY));
  MN_TRY(mn_check_range(ctx, "fluid.walls", (int)f->walls, 0, MN_WALLS_STICKING));
  MN_TRY(mn_check_range(ctx, "fluid.lcp_solver", (int)f->lcp_solver, 0, MN_LCP_SOLVERS - 1));
  MN_TRY(
      mn_check_range(ctx, "fluid.pressure_max_iterations", f->pressure_max_iterations, 1, 1000000));
  MN_TRY(mn_check_range(ctx, "fluid.transfer", (int)f->transfer, 0, MN_TRANSFER_LEVELSET));
  if (!(f->flip >= 0 && f->flip <= 1))
    return mn_bad_value(ctx, "fluid.flip", f->flip, "between 0 and 1");
  if (!(f->jitter >= 0 && f->jitter <= 1))
    return mn_bad_value(ctx, "fluid.jitter", f->jitter, "between 0 and 1");
  MN_TRY(check_field(ctx, dim, "fluid.initial_velocity", &f->initial_velocity));
  MN_TRY(check_field(ctx, dim, "fluid.initial_smoke", &f->initial_smoke));
  MN_TRY(check_field(ctx, dim, "fluid.initial_temperature", &f->initial_temperature));
  if (f->kind == MN_FLUID_WATER && !f->initial_water)
    return mn_fail(
        ctx, MN_BAD_INPUT,
        "fluid.initial_water is missing: water needs a shape that it fills at the start");
  if (f->kind == MN_FLUID_WATER && f->transfer == MN_TRANSFER_LEVELSET &&
      f->walls == MN_WALLS_SEPARATING)
    return mn_fail(
        ctx, MN_BAD_INPUT,
        "fluid.transfer is \"levelset\" with walls = \"separating\": a level set cannot "
        "open the gap where water parts, and would fill it; set walls = \"sticking\", or "
        "take transfer apic, flip or marker");
  if (f->kind == MN_FLUID_SMOKE && f->initial_water)
    return mn_fail(ctx, MN_BAD_INPUT, "fluid.initial_water is given, but the fluid is smoke");
  return MN_OK;
}

/* ---- sources and solids ---------------------------------------------------------------------- */

/* The shape is a disk or a ball. */
static int is_round(const mn_shape *shape, int dim)
{
  mn_vec3 lo, hi;
  mn_shape_bounds(shape, &lo, &hi);
  mn_vec3 c = mn_scale(0.5, mn_add(lo, hi)), x = c;
  double R = 0.5 * (hi.x - lo.x), near = 1e-9 * R;
  if (!(R > 0) || !isfinite(R) || fabs(mn_shape_distance(shape, c) + R) > near)
    return 0;
  for (int a = 0; a < dim; a++) {
    if (fabs(0.5 * (hi.v[a] - lo.v[a]) - R) > near)
      return 0;
    x.v[a] += R / sqrt(dim);
  }
  return fabs(mn_shape_distance(shape, x)) <= near;
}

static mn_status check_speed(mn_context *ctx, const mn_model_def *def, const mn_source_def *s,
                             const char *key)
{
  if (!(s->speed >= 0 && isfinite(s->speed)))
    return mn_fail(ctx, MN_BAD_INPUT, "%s.speed = %g: must be finite and at least 0", key,
                   s->speed);
  if (s->speed > MN_LIGHT_SPEED)
    return mn_fail(ctx, MN_BAD_INPUT, "%s.speed = %g: must not be faster than light, 3e8 m/s", key,
                   s->speed);
  if (s->blows && s->speed == 0 && mn_length(s->velocity) == 0)
    return mn_fail(ctx, MN_BAD_INPUT,
                   "%s.velocity is missing or 0, and so is speed: an inflow needs one of them "
                   "(a ramp may be 0)",
                   key);
  if (s->speed == 0)
    return MN_OK;
  if (!s->blows || def->fluid.kind != MN_FLUID_SMOKE)
    return mn_fail(ctx, MN_BAD_INPUT, "%s.speed: it is for inflows of smoke; take velocity", key);
  if (mn_length(s->velocity) > 0 || s->profile != MN_PROFILE_UNIFORM)
    return mn_fail(ctx, MN_BAD_INPUT,
                   "%s.speed stands instead of velocity and profile: give one or the other", key);
  if (!is_round(s->shape, def->domain.dim))
    return mn_fail(ctx, MN_BAD_INPUT,
                   "%s.speed needs a disk (2D) or a sphere as shape; others take velocity", key);
  return MN_OK;
}

static mn_status check_sources(mn_context *ctx, const mn_model_def *def)
{
  for (int i = 0; i < def->source_count; i++) {
    const mn_source_def *s = &def->sources[i];
    char key[96], part[128];
    snprintf(key, sizeof key, "sources[%d]", i + 1);
    if (!s->shape)
      return mn_fail(ctx, MN_BAD_INPUT, "%s.shape is missing", key);
    if (!s->drains && !s->blows && def->fluid.kind != MN_FLUID_SMOKE)
      return mn_fail(ctx, MN_BAD_INPUT,
                     "%s is an emitter of smoke, but the fluid is %s; for water take an inflow",
                     key,
                     def->fluid.kind == MN_FLUID_WATER    ? "water"
                     : def->fluid.kind == MN_FLUID_PLUGIN ? "a plug-in"
                                                          : "none");
    if (s->drains && (def->fluid.kind != MN_FLUID_WATER ||
                      def->fluid.transfer == MN_TRANSFER_LEVELSET || s->blows))
      return mn_fail(
          ctx, MN_BAD_INPUT,
          "%s is a drain: it takes away water carried by particles (fluid.transfer apic, "
          "flip or marker), nothing else",
          key);
    snprintf(part, sizeof part, "%s.velocity", key);
    MN_TRY(mn_check_velocity(ctx, def->domain.dim, part, s->velocity));
    MN_TRY(check_speed(ctx, def, s, key));
    snprintf(part, sizeof part, "%s.profile", key);
    MN_TRY(mn_check_range(ctx, part, (int)s->profile, 0, MN_PROFILE_PARABOLIC));
    snprintf(part, sizeof part, "%s.ramp", key);
    MN_TRY(mn_check_timefn(ctx, part, &s->ramp));
    snprintf(part, sizeof part, "%s.smoke", key);
    MN_TRY(mn_check_not_negative(ctx, part, s->smoke));
    snprintf(part, sizeof part, "%s.temperature", key);
    MN_TRY(mn_check_finite(ctx, part, s->temperature));
  }
  return def->source_count ? mn_check_unique(ctx, "sources", def->sources[0].name,
                                             sizeof *def->sources, def->source_count)
                           : MN_OK;
}

static mn_status check_solids(mn_context *ctx, const mn_model_def *def)
{
  for (int i = 0; i < def->solid_count; i++) {
    const mn_solid_def *s = &def->solids[i];
    char key[64];
    snprintf(key, sizeof key, "solids[%d]", i + 1);
    if (!s->shape)
      return mn_fail(ctx, MN_BAD_INPUT, "%s.shape is missing", key);
    if (!strcmp(s->name, "fluid") || !strcmp(s->name, "smoke"))
      return mn_fail(ctx, MN_BAD_INPUT, "%s.name is \"%s\": a word that probes use", key, s->name);
    MN_TRY(check_surface(ctx, key, s->friction, s->restitution));
    if (s->moving)
      MN_TRY(mn_check_motion(ctx, def->domain.dim, key, &s->motion));
  }
  return def->solid_count ? mn_check_unique(ctx, "solids", def->solids[0].name, sizeof *def->solids,
                                            def->solid_count)
                          : MN_OK;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static mn_status check_place(mn_context *ctx, int dim, const char *key, const mn_body_def *b)
{
  int wall = dim == 2 && b->kind == MN_BODY_SPRINGS && b->shape && b->line;
  int places = (b->shape != NULL) + (*b->file != 0) + (b->line && !wall) + b->sheet;
  if (places != 1)
    return mn_fail(
        ctx, MN_BAD_INPUT, "%s has %d of shape, file%s: must have exactly one", key, places,
        b->kind == MN_BODY_ELASTIC || b->kind == MN_BODY_RIGID ? ""
                                                               : ", a line (or tube) and a sheet");
  if (b->kind == MN_BODY_RIGID && !b->shape)
    return mn_fail(ctx, MN_BAD_INPUT, "%s.shape is missing: a rigid body needs one", key);
  if (dim == 2 && (b->kind == MN_BODY_SHELL || b->sheet))
    return mn_fail(ctx, MN_BAD_INPUT, "%s is a shell or sheet: 3D only; take springs or a rod",
                   key);
  if (b->tube > 0 && (dim == 2 || !b->line))
    return mn_fail(ctx, MN_BAD_INPUT, "%s.radius is of a tube: it needs from and to, and 3D", key);
  if (b->line && !(b->tube > 0) && b->kind != MN_BODY_SPRINGS && b->kind != MN_BODY_ROD)
    return mn_fail(ctx, MN_BAD_INPUT,
                   "%s is a line: only springs and rods can be; a shell needs the radius of a tube",
                   key);
  if (b->line && !(mn_length(mn_sub(b->to, b->from)) > 0))
    return mn_fail(ctx, MN_BAD_INPUT, "%s: from and to are the same point, {%g, %g, %g}", key,
                   b->from.x, b->from.y, b->from.z);
  if (b->sheet && !(mn_length(mn_cross(b->along, b->across)) >
                    1e-9 * mn_length(b->along) * mn_length(b->across)))
    return mn_fail(ctx, MN_BAD_INPUT,
                   "%s: along and across are zero or parallel: they must span a sheet", key);
  if (b->kind == MN_BODY_ROD && dim == 3 && b->shape)
    return mn_fail(ctx, MN_BAD_INPUT, "%s.shape: a rod in 3D is a line or a file", key);
  return MN_OK;
}

static mn_status check_body(mn_context *ctx, int dim, const char *key, const mn_body_def *b)
{
  const struct {
    const char *name;
    double value;
    int positive; /* else: not negative */
  } numbers[] = {{"density", b->density, 1},
                 {"spacing", b->spacing, 0},
                 {"release", b->release, 0},
                 {"damping_mass", b->damping_mass, 0},
                 {"damping_stiffness", b->damping_stiffness, 0},
                 {"young", b->young, b->kind == MN_BODY_ELASTIC || b->kind == MN_BODY_SHELL},
                 {"thickness", b->thickness, b->kind == MN_BODY_SHELL},
                 {"stretch", b->stretch, b->kind == MN_BODY_SPRINGS || b->kind == MN_BODY_ROD},
                 {"bend", b->bend, 0},
                 {"stretch_damping", b->stretch_damping, 0},
                 {"bend_damping", b->bend_damping, 0},
                 {"spring", b->spring, 0},
                 {"damper", b->damper, 0},
                 {"friction", b->friction, 0},
                 {"restitution", b->restitution, 0}};
  char part[128];
  MN_TRY(check_place(ctx, dim, key, b));
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    snprintf(part, sizeof part, "%s.%s", key, numbers[i].name);
    MN_TRY(numbers[i].positive ? mn_check_positive(ctx, part, numbers[i].value)
                               : mn_check_not_negative(ctx, part, numbers[i].value));
  }
  snprintf(part, sizeof part, "%s.joint_axis", key);
  if (b->kind == MN_BODY_RIGID)
    MN_TRY(mn_check_vector(ctx, 3, part, b->joint_axis));
  snprintf(part, sizeof part, "%s.velocity", key);
  MN_TRY(mn_check_velocity(ctx, dim, part, b->velocity));
  snprintf(part, sizeof part, "%s.force", key);
  MN_TRY(mn_check_vector(ctx, dim, part, b->force));
  snprintf(part, sizeof part, "%s.torque", key);
  MN_TRY(mn_check_vector(ctx, 3, part, b->torque));
  snprintf(part, sizeof part, "%s.order", key);
  if (b->kind == MN_BODY_ELASTIC)
    MN_TRY(mn_check_range(ctx, part, b->order, 1, 2));
  snprintf(part, sizeof part, "%s.force_ramp", key);
  if (b->kind == MN_BODY_RIGID)
    MN_TRY(mn_check_timefn(ctx, part, &b->force_ramp));
  snprintf(part, sizeof part, "%s.torque_ramp", key);
  if (b->kind == MN_BODY_RIGID)
    MN_TRY(mn_check_timefn(ctx, part, &b->torque_ramp));
  return b->moving ? mn_check_motion(ctx, dim, key, &b->motion) : MN_OK;
}

/* There is something that moves, and a plug-in has something to be coupled to. */
static mn_status check_sides(mn_context *ctx, const mn_model_def *def)
{
  int fluid = def->fluid.kind != MN_FLUID_NONE, plugin = *def->solid_plugin.file != 0;
  int bodies = def->body_count > 0 || plugin;
  if (!fluid && !bodies)
    return mn_fail(ctx, MN_BAD_INPUT,
                   "there is neither a fluid nor a body: give fluid or bodies in solids");
  if (plugin && def->body_count)
    return mn_fail(ctx, MN_BAD_INPUT,
                   "solids: a plug-in is all bodies of a scene; found %d others beside it",
                   def->body_count);
  if (plugin && !fluid)
    return mn_fail(ctx, MN_BAD_INPUT, "solids: a plug-in needs a fluid to be coupled to");
  if (def->fluid.kind == MN_FLUID_PLUGIN && (!bodies || !*def->fluid_plugin.file))
    return mn_fail(ctx, MN_BAD_INPUT, "fluid: a plug-in needs a file, and bodies to be coupled to");
  if (def->fluid.kind == MN_FLUID_PLUGIN && def->source_count)
    return mn_fail(ctx, MN_BAD_INPUT, "sources: they need smoke or water, not a plug-in");
  return fluid && bodies ? mn_coupling_check(ctx, &def->coupling) : MN_OK;
}

static mn_status check_bodies(mn_context *ctx, const mn_model_def *def)
{
  const mn_dynamics_def *d = &def->dynamics;
  MN_TRY(check_sides(ctx, def));
  if (!def->body_count)
    return MN_OK;
  MN_TRY(mn_check_range(ctx, "dynamics.integrator", (int)d->integrator, 0, MN_INTEGRATE_EXPLICIT));
  MN_TRY(mn_check_positive(ctx, "dynamics.beta", d->beta));
  MN_TRY(mn_check_not_negative(ctx, "dynamics.gamma", d->gamma));
  MN_TRY(mn_check_vector(ctx, def->domain.dim, "dynamics.gravity", d->gravity));
  MN_TRY(mn_check_positive(ctx, "dynamics.dt", d->dt));
  MN_TRY(mn_check_positive(ctx, "dynamics.tolerance", d->tolerance));
  MN_TRY(mn_check_range(ctx, "dynamics.max_iterations", d->max_iterations, 1, 10000));
  for (int i = 0; i < def->body_count; i++) {
    char key[64];
    snprintf(key, sizeof key, "solids: body %d", i + 1);
    if (*def->bodies[i].name)
      snprintf(key, sizeof key, "body \"%.40s\"", def->bodies[i].name);
    MN_TRY(check_body(ctx, def->domain.dim, key, &def->bodies[i]));
    for (int j = 0; j < def->solid_count; j++)
      if (*def->bodies[i].name && !strcmp(def->bodies[i].name, def->solids[j].name))
        return mn_fail(ctx, MN_BAD_INPUT, "%s has the name of an obstacle", key);
  }
  return mn_check_unique(ctx, "solids: bodies", def->bodies[0].name, sizeof *def->bodies,
                         def->body_count);
}

/* ---- shapes ---------------------------------------------------------------------------------- */

static mn_status check_shape(mn_context *ctx, const mn_model_def *def, const char *list, int i,
                             const char *name, const mn_shape *shape)
{
  if (!shape || mn_shape_dim(shape) == def->domain.dim)
    return MN_OK;
  char key[96];
  if (list)
    snprintf(key, sizeof key, "%s[%d].%s", list, i + 1, name);
  else
    snprintf(key, sizeof key, "%s", name);
  return mn_fail(ctx, MN_BAD_INPUT, "%s is a shape of %d dimensions, the domain has %d%s", key,
                 mn_shape_dim(shape), def->domain.dim,
                 def->domain.dim == 2 ? "; meshes are for 3D scenes only" : "");
}

static mn_status check_shapes(mn_context *ctx, const mn_model_def *def)
{
  const mn_fluid_def *f = &def->fluid;
  MN_TRY(check_shape(ctx, def, NULL, 0, "fluid.initial_smoke_shape", f->initial_smoke_shape));
  MN_TRY(check_shape(ctx, def, NULL, 0, "fluid.initial_water", f->initial_water));
  for (int i = 0; i < def->source_count; i++)
    MN_TRY(check_shape(ctx, def, "sources", i, "shape", def->sources[i].shape));
  for (int i = 0; i < def->solid_count; i++)
    MN_TRY(check_shape(ctx, def, "solids", i, "shape", def->solids[i].shape));
  for (int i = 0; i < def->body_count; i++) {
    MN_TRY(check_shape(ctx, def, "solids: bodies", i, "shape", def->bodies[i].shape));
    MN_TRY(check_shape(ctx, def, "solids: bodies", i, "fixed", def->bodies[i].fixed));
    MN_TRY(check_shape(ctx, def, "solids: bodies", i, "cut", def->bodies[i].cut));
  }
  for (int i = 0; i < def->probe_count; i++)
    MN_TRY(check_shape(ctx, def, "probes", i, "shape", def->probes[i].shape));
  return MN_OK;
}

/* ---- output and the whole -------------------------------------------------------------------- */

static mn_status check_output(mn_context *ctx, const mn_model_def *def)
{
  const mn_output_def *o = &def->output;
  static const char *const fields[] = {"smoke",    "temperature", "speed",  "vorticity",
                                       "pressure", "water",       "bodies", "stress"};
  MN_TRY(mn_check_range(ctx, "output.frames", o->frames, 0, 10000000));
  MN_TRY(mn_check_positive(ctx, "output.every", o->every));
  MN_TRY(mn_check_finite(ctx, "output.range[1]", o->range[0]));
  MN_TRY(mn_check_finite(ctx, "output.range[2]", o->range[1]));
  if (o->range[0] > o->range[1])
    return mn_fail(ctx, MN_BAD_INPUT, "output.range is {%g, %g}: the first must not be greater",
                   o->range[0], o->range[1]);
  MN_TRY(mn_check_range(ctx, "output.checkpoint_frames", o->checkpoint_frames, 0, 10000000));
  MN_TRY(mn_check_not_negative(ctx, "output.checkpoint_minutes", o->checkpoint_minutes));
  MN_TRY(mn_check_range(ctx, "output.checkpoint_keep", o->checkpoint_keep, 0, 10000000));
  int known = !*o->show;
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
    known = known || !strcmp(o->show, fields[i]);
  if (!known)
    return mn_fail(ctx, MN_BAD_INPUT,
                   "output.show is \"%s\": must be smoke, temperature, speed, vorticity, pressure, "
                   "water, bodies or stress",
                   o->show);
  int of_bodies = !strcmp(o->show, "bodies") || !strcmp(o->show, "stress");
  if (*o->show && of_bodies == mn_fluid_on_grid(&def->fluid))
    return mn_fail(ctx, MN_BAD_INPUT, "output.show is \"%s\", but the scene has %s fluid", o->show,
                   of_bodies ? "a" : "no");
  if ((!strcmp(o->show, "temperature") && !def->fluid.temperature) ||
      (!strcmp(o->show, "smoke") && def->fluid.kind != MN_FLUID_SMOKE) ||
      (!strcmp(o->show, "water") && def->fluid.kind != MN_FLUID_WATER))
    return mn_fail(ctx, MN_BAD_INPUT, "output.show is \"%s\", which this fluid does not carry",
                   o->show);
  return MN_OK;
}

/* A substep that is a slip of the pen: the run would not end. */
static mn_status check_steps(mn_context *ctx, const char *key, double dt, const mn_output_def *o)
{
  static const double MOST = 1e9;
  double end = o->frames * o->every;
  if (!(dt > 0) || !(end / dt > MOST))
    return MN_OK;
  return mn_fail(
      ctx, MN_BAD_INPUT,
      "%s is %g s: the run to %g s would take %.1e substeps; allowed: at most %.0e, so at "
      "least %.1e s",
      key, dt, end, end / dt, MOST, end / MOST);
}

static mn_status check_times(mn_context *ctx, const mn_model_def *def)
{
  if (def->body_count)
    MN_TRY(check_steps(ctx, "dynamics.dt", def->dynamics.dt, &def->output));
  if (def->fluid.kind == MN_FLUID_NONE)
    return MN_OK;
  MN_TRY(check_steps(ctx, "fluid.dt", def->fluid.dt, &def->output));
  return check_steps(ctx, "fluid.max_dt", def->fluid.max_dt, &def->output);
}

static void bytes_text(double bytes, char *text, size_t size)
{
  const double mebi = 1024.0 * 1024.0;
  int large = bytes >= 10 * 1024 * mebi;
  snprintf(text, size, "%.4g %s", large ? bytes / mebi / 1024 : bytes / mebi, large ? "GB" : "MB");
}

static mn_status check_memory(mn_context *ctx, const mn_model_def *def)
{
  const mn_domain_def *d = &def->domain;
  if (!mn_fluid_on_grid(&def->fluid))
    return MN_OK;
  double need = mn_mac_bytes(def), have = (double)ctx->memory_limit;
  if (need <= have)
    return MN_OK;
  double shrink = pow(have / need, 1.0 / d->dim);
  int longest = 0;
  for (int a = 1; a < d->dim; a++)
    longest = d->cells[a] > d->cells[longest] ? a : longest;
  char cells[64], needed[32], available[32];
  bytes_text(need, needed, sizeof needed);
  bytes_text(have, available, sizeof available);
  int used = snprintf(cells, sizeof cells, "%d x %d", d->cells[0], d->cells[1]);
  if (d->dim == 3)
    snprintf(cells + used, sizeof cells - (size_t)used, " x %d", d->cells[2]);
  return mn_fail(ctx, MN_BAD_INPUT,
                 "domain.cells: %s cells need %s of memory, %s are available; choose a "
                 "smaller n: at most about %d cells along axis %d",
                 cells, needed, available, (int)(0.98 * shrink * d->cells[longest]), longest + 1);
}

mn_status mn_model_check(mn_context *ctx, const mn_model_def *def)
{
  MN_TRY(check_domain(ctx, &def->domain));
  MN_TRY(check_fluid(ctx, def->domain.dim, &def->fluid));
  MN_TRY(check_sources(ctx, def));
  MN_TRY(check_solids(ctx, def));
  MN_TRY(check_bodies(ctx, def));
  MN_TRY(mn_check_body_keys(ctx, def));
  mn_warn_idle_fluid_keys(ctx, def);
  MN_TRY(mn_check_probes(ctx, def));
  MN_TRY(check_shapes(ctx, def));
  MN_TRY(check_output(ctx, def));
  MN_TRY(check_times(ctx, def));
  return check_memory(ctx, def);
}
