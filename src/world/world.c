/* The step: how long it is, what happens when it fails, and the hash of the state.

   A substep lasts as long as the solvers and the scene allow, shortened so that a whole number of
   equal substeps ends exactly at `until`. Its length depends on nothing but the state and `until`:
   a run that is stopped and resumed takes the same steps. */
#include "world/world.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/timer.h"
#include "world/substep.h"

enum { MAX_RETRIES = 6 };
static const double LEAST_PART = 1e-9; /* of the time between frames: a plug-in's least step */
/* Of the step that fluid and bodies allow: xpm lags if hard substeps have left no more of it. */
static const double LAGS = 1.0 / 16, LAGS_CLOSED = 1.0 / 64;

const char *mn_reason_text(mn_reason reason)
{
  static const char *const text[] = {"converged", "iteration limit", "stalled", "diverged",
                                     "incompatible"};
  return (unsigned)reason < sizeof text / sizeof *text ? text[reason] : "unknown";
}

void mn_world_measure(mn_world *w)
{
  w->totals = w->on_grid ? mn_mac_measure(&w->fluid) : (mn_mac_totals){0};
  w->body_totals = w->bodies ? mn_bodies_measure(w->bodies) : (mn_body_totals){0};
}

mn_status mn_world_look(mn_world *w)
{
  return w->solid_plugin && w->coupling ? mn_coupling_look(w->coupling) : MN_OK;
}

/* A plug-in that shows no surface would not be coupled at all. */
static mn_status check_surface(mn_world *w)
{
  const mn_interface *f = mn_coupling_interface(w->coupling);
  if (!w->solid_plugin || (f->count && (f->elements || !w->on_grid)))
    return MN_OK;
  return mn_fail(w->ctx, MN_BAD_INPUT,
                 "the solid \"%s\" has %zu points and %zu elements: there is no surface for the "
                 "fluid to meet; its `sample` must say how many there are",
                 w->solid.ops->name, f->count, f->elements);
}

static mn_status pick_coupling(mn_world *w);
static mn_status meet_bodies(mn_world *w);

/* Light bodies in water that can leave them, and walls of closed regions that fold up: the answers
   of both sides have kinks there, and asking them in turn may not end. Where both tell their
   operators, the one system finishes such substeps; its equations are the same. */
static mn_status make_rescue(mn_world *w)
{
  const mn_domain_def *d = &w->def->domain;
  const mn_coupling_def *how = &w->how;
  int able = w->on_grid && w->fluid.ops->operators && w->solid.ops->operators;
  if (!able || how->method != MN_COUPLE_XPM || how->published || !how->frozen ||
      how->load != MN_LOAD_IMPULSE || how->closed != MN_CLOSED_ELIMINATED)
    return MN_OK;
  mn_coupling_def one = mn_coupling_def_default(MN_COUPLE_MONOLITHIC, 0);
  one.tolerance = how->tolerance;
  one.spacing = how->spacing;
  one.kernel_radius = how->kernel_radius;
  one.adapt = how->adapt;
  return mn_coupling_create(w->ctx, &one, d->dim, d->size.x / d->cells[0], w->fluid, w->solid,
                            &w->rescue);
}

static mn_status make_coupling(mn_world *w)
{
  const mn_domain_def *d = &w->def->domain;
  w->how = w->def->coupling;
  if (!w->fluid.ops || !w->solid.ops)
    return MN_OK;
  if (w->on_grid)
    MN_TRY(meet_bodies(w));
  if (w->how.method == MN_COUPLE_AUTO)
    MN_TRY(pick_coupling(w));
  MN_TRY(mn_coupling_create(w->ctx, &w->how, d->dim, d->size.x / d->cells[0], w->fluid, w->solid,
                            &w->coupling));
  MN_TRY(make_rescue(w));
  const mn_fluid_def *fluid = &w->def->fluid;
  if (w->on_grid && fluid->kind == MN_FLUID_WATER && mn_length(fluid->gravity) > 0) {
    double fall = sqrt(d->size.x / d->cells[0] / mn_length(fluid->gravity));
    mn_coupling_set_fall(w->coupling, fall);
    if (w->rescue)
      mn_coupling_set_fall(w->rescue, fall);
  }
  return check_surface(w);
}

static mn_status make_sides(mn_world *w)
{
  const mn_model_def *def = w->def;
  if (mn_fluid_on_grid(&def->fluid))
    MN_TRY(mn_mac_create(w->ctx, def, &w->fluid));
  else if (def->fluid.kind == MN_FLUID_PLUGIN)
    MN_TRY(mn_plugin_fluid(w->ctx, def, &w->fluid_plugin, &w->fluid));
  w->on_grid = mn_fluid_on_grid(&def->fluid);
  if (*def->solid_plugin.file)
    return mn_plugin_solid(w->ctx, def, &w->solid_plugin, &w->solid);
  MN_TRY(mn_bodies_create(w->ctx, def, &w->bodies));
  if (w->bodies)
    w->solid = mn_bodies_box(w->bodies);
  return MN_OK;
}

/* Checkpoints know arrays by their names, and a plug-in may take one that is taken. */
static mn_status check_names(mn_world *w)
{
  mn_array arrays[MN_ARRAYS_MAX];
  int count = mn_world_arrays(w, arrays);
  for (int i = 0; i < count; i++)
    for (int k = 0; k < i; k++)
      if (!strcmp(arrays[i].name, arrays[k].name))
        return mn_fail(w->ctx, MN_BAD_INPUT,
                       "two arrays of the state are called \"%s\": a plug-in must give its arrays "
                       "names of their own",
                       arrays[i].name);
  return MN_OK;
}

mn_status mn_world_create(mn_context *ctx, const mn_model *model, mn_world **out)
{
  *out = NULL;
  mn_world *world;
  MN_TRY(MN_NEW(ctx, "a world", 1, &world));
  world->ctx = ctx;
  world->def = &model->def;
  mn_status status = make_sides(world);
  if (status == MN_OK)
    status = make_coupling(world);
  if (status == MN_OK)
    status = check_names(world);
  if (status == MN_OK)
    status = mn_world_watch_start(world);
  if (status != MN_OK) {
    mn_world_destroy(&world);
    return status;
  }
  mn_world_measure(world);
  *out = world;
  return MN_OK;
}

void mn_world_destroy(mn_world **world)
{
  if (!*world)
    return;
  mn_coupling_destroy(&(*world)->coupling);
  mn_coupling_destroy(&(*world)->rescue);
  if ((*world)->fluid.ops)
    (*world)->fluid.ops->destroy((*world)->fluid.self);
  if ((*world)->solid_plugin && (*world)->solid.ops)
    (*world)->solid.ops->destroy((*world)->solid.self);
  mn_bodies_destroy(&(*world)->bodies);
  mn_plugin_unload(&(*world)->fluid_plugin);
  mn_plugin_unload(&(*world)->solid_plugin);
  mn_world_watch_end(*world);
  mn_free(*world);
  *world = NULL;
}

/* ---- the step -------------------------------------------------------------------------------- */

/* What to try when the step has collapsed. */
static const char *advice(const mn_world *w)
{
  if (!w->fluid.ops)
    return "try a smaller dynamics.dt, or softer or better shaped bodies";
  if (w->coupling && w->how.method == MN_COUPLE_WEAK)
    return "the weak coupling diverged, if the bodies are light: take coupling.method = \"xpm\"";
  for (int s = 0; s < w->def->source_count; s++)
    if (w->def->sources[s].blows)
      return "try a smaller fluid.cfl, weaker sources or a coarser grid";
  return "try a smaller fluid.cfl or a coarser grid";
}

/* What a plug-in allows can be anything; so little would not come to the next frame. */
static mn_status check_plugin_dt(const mn_world *w, const char *kind, const char *name, double dt)
{
  double least = LEAST_PART * w->def->output.every;
  if (dt >= least)
    return MN_OK;
  return mn_fail(w->ctx, MN_FAILED,
                 "at %.6g s (step %lld) the %s \"%s\" allows no time step that is of use: its "
                 "max_dt says %g s, it must be positive and at least %g s (%g of output.every)",
                 w->clock.time, (long long)w->clock.step, kind, name, dt, least, LEAST_PART);
}

/* Equal parts of `rest` that are no longer than dt. */
static double parts_of(double rest, double dt)
{
  return fmax(1, ceil(rest / dt - 1e-9));
}

/* Longest step that both sides and the scene allow, at the current state. */
static mn_status allowed_dt(mn_world *w, double *dt)
{
  const mn_fluid_def *f = &w->def->fluid;
  const mn_dynamics_def *d = &w->def->dynamics;
  double fluid = w->fluid.ops ? w->fluid.ops->max_dt(w->fluid.self) : INFINITY;
  if (w->fluid_plugin)
    MN_TRY(check_plugin_dt(w, "fluid", w->fluid.ops->name, fluid));
  if (!(fluid > 0)) /* NaN as well */
    return mn_fail(
        w->ctx, MN_FAILED,
        "at %.6g s (step %lld) the fluid allows no time step (%g s): its velocity is not "
        "finite; %s",
        w->clock.time, (long long)w->clock.step, fluid, advice(w));
  if (f->dt > 0)
    fluid = fmin(fluid, f->dt);
  if (f->max_dt > 0)
    fluid = fmin(fluid, f->max_dt);
  double solid = w->solid.ops ? w->solid.ops->max_dt(w->solid.self) : INFINITY;
  if (w->solid_plugin)
    MN_TRY(check_plugin_dt(w, "solid", w->solid.ops->name, solid));
  if (!(solid > 0))
    return mn_fail(w->ctx, MN_FAILED,
                   "at %.6g s (step %lld) the bodies allow no time step (%g s): their motion is "
                   "not finite",
                   w->clock.time, (long long)w->clock.step, solid);
  if (w->solid.ops && d->dt > 0)
    solid = fmin(solid, d->dt);
  *dt = fmin(fluid, solid) * (w->coupling ? mn_coupling_pace(w->coupling) : 1);
  return MN_OK;
}

/* Who could not `what` its state. */
static mn_status blame(mn_world *w, const char *what, const char *kind, const char *name,
                       mn_status status)
{
  if (status == MN_OK)
    return MN_OK;
  mn_status mine = status == MN_ENVIRONMENT ? status : MN_FAILED;
  if (!*w->ctx->message)
    return mn_fail(w->ctx, mine, "at %.6g s (step %lld) the %s \"%s\" could not %s its state",
                   w->clock.time, (long long)w->clock.step, kind, name, what);
  return mn_fail_prefix(w->ctx, mine, "at %.6g s (step %lld) the %s \"%s\" could not %s its state",
                        w->clock.time, (long long)w->clock.step, kind, name, what);
}

static mn_status save_state(mn_world *w)
{
  w->ctx->message[0] = 0;
  if (w->fluid.ops)
    MN_TRY(blame(w, "save", "fluid", w->fluid.ops->name, w->fluid.ops->save(w->fluid.self)));
  return w->solid.ops
             ? blame(w, "save", "solid", w->solid.ops->name, w->solid.ops->save(w->solid.self))
             : MN_OK;
}

/* Keeps the message of what failed. A surface that cannot be looked at is no news then: the next
   try says so. */
static mn_status restore_state(mn_world *w)
{
  char words[sizeof w->ctx->message];
  memcpy(words, w->ctx->message, sizeof words);
  w->ctx->message[0] = 0;
  mn_status status = MN_OK;
  if (w->fluid.ops)
    status = blame(w, "restore", "fluid", w->fluid.ops->name, w->fluid.ops->restore(w->fluid.self));
  if (status == MN_OK && w->solid.ops)
    status = blame(w, "restore", "solid", w->solid.ops->name, w->solid.ops->restore(w->solid.self));
  if (status != MN_OK) {
    w->lost = 1;
    return status;
  }
  if (w->coupling)
    mn_coupling_reject(w->coupling);
  if (w->rescue)
    mn_coupling_reject(w->rescue);
  mn_world_measure(w);
  if (mn_world_look(w) != MN_OK)
    mn_log(w->ctx, MN_LOG_DEBUG, "%s", w->ctx->message);
  memcpy(w->ctx->message, words, sizeof words);
  return MN_OK;
}

/* Whether bodies enclose what is to be filled shows only where the fluid meets them; and how much
   fluid there is besides them at the start. */
static mn_status meet_bodies(mn_world *w)
{
  const mn_domain_def *d = &w->def->domain;
  MN_TRY(save_state(w));
  mn_status status = mn_coupling_meet(w->ctx, d->dim, w->how.spacing * d->size.x / d->cells[0],
                                      w->fluid, w->solid);
  MN_TRY(restore_state(w));
  return status;
}

/* ---- coupling "auto" ------------------------------------------------------------------------- */

static mn_status pick_method(mn_world *w)
{
  const mn_domain_def *d = &w->def->domain;
  double spacing = w->how.spacing * d->size.x / d->cells[0];
  double dt = fmin(w->def->output.every,
                   fmin(w->fluid.ops->max_dt(w->fluid.self), w->solid.ops->max_dt(w->solid.self)));
  mn_surroundings around = {.density = w->def->fluid.density,
                            .size = d->size,
                            .separating = w->def->fluid.kind == MN_FLUID_WATER &&
                                          w->def->fluid.walls == MN_WALLS_SEPARATING};
  mn_coupling_facts facts = {.mu = NAN};
  char box[96];
  memcpy(around.cells, d->cells, sizeof around.cells);
  if (w->fluid_plugin || w->solid_plugin) {
    snprintf(box, sizeof box, "%s \"%.80s\"", w->fluid_plugin ? "fluid" : "solid",
             w->fluid_plugin ? w->fluid.ops->name : w->solid.ops->name);
    facts.black_box = box;
  } else {
    MN_TRY(save_state(w));
    mn_status status =
        mn_coupling_survey(w->ctx, d->dim, spacing, dt, &around, w->fluid, w->solid, &facts);
    MN_TRY(restore_state(w));
    MN_TRY(status);
  }
  for (int b = 0; b < w->def->body_count; b++)
    facts.released |= w->def->bodies[b].release > 0;
  w->how.method = mn_coupling_pick(&facts, w->why);
  return MN_OK;
}

/* From the state at the start, so that a run that is resumed picks the same. Keys that all methods
   heed are the scene's, the others are the method's best. */
static mn_status pick_coupling(mn_world *w)
{
  const mn_coupling_def *given = &w->def->coupling;
  MN_TRY(pick_method(w));
  w->how = mn_coupling_def_default(w->how.method, 0);
  w->how.tolerance = given->tolerance;
  w->how.max_iterations = given->max_iterations;
  w->how.load = given->load;
  w->how.predictor = given->predictor;
  w->how.closed = given->closed;
  w->how.kernel_radius = given->kernel_radius;
  w->how.spacing = given->spacing;
  w->how.adapt = given->adapt;
  mn_log(w->ctx, MN_LOG_INFO, "coupling \"auto\" picks \"%s\": %s",
         mn_coupling_method_name(w->how.method), w->why);
  return MN_OK;
}

/* A closed region that is pressed together although nothing gives way makes every solver fail, and
   none of them can say why: its pressure does. Couplings that diverge by themselves say so. */
static void pressed_region(const mn_world *w, int diverged, char hint[256])
{
  mn_coupling_method how = w->how.method;
  int strays = how == MN_COUPLE_WEAK || how == MN_COUPLE_RELAXED || how == MN_COUPLE_AITKEN ||
               w->how.closed == MN_CLOSED_SOLID || w->how.closed == MN_CLOSED_FLUID;
  double p0;
  int id = w->coupling ? mn_coupling_pressed(w->coupling, &p0) : 0, count = 0;
  const mn_region_info *r = id ? mn_coupling_regions(w->coupling, &count) : NULL;
  char where[96] = "";
  hint[0] = 0;
  for (int i = 0; i < count; i++)
    if (r[i].id == id)
      snprintf(where, sizeof where, " of %zu cells at (%.4g, %.4g, %.4g)", r[i].cells,
               r[i].center.x, r[i].center.y, r[i].center.z);
  if (id && p0 != 0 && !(diverged && strays))
    snprintf(hint, 256,
             "; the closed region %d%s was at %.3g Pa: if what encloses it is jammed, the fluid "
             "needs another way out%s",
             id, where, p0,
             how == MN_COUPLE_XPM && w->on_grid && !w->solid_plugin
                 ? "; coupling.method = \"monolithic\" may do"
                 : "");
}

/* What stands in the context becomes a sentence with time, step and advice. */
static mn_status give_up(mn_world *w, double dt, const mn_step_info *info, mn_outcome last,
                         mn_status status)
{
  if (status != MN_FAILED)
    return status;
  if (last == MN_STEP_HOPELESS)
    return mn_fail_prefix(w->ctx, MN_FAILED, "at %.6g s (step %lld)", w->clock.time,
                          (long long)w->clock.step);
  char why[1024], hint[256];
  snprintf(why, sizeof why, "%.1000s", w->ctx->message);
  pressed_region(w, info->capped + info->diverged > 0, hint);
  return mn_fail(w->ctx, MN_FAILED,
                 "at %.6g s (step %lld) no time step succeeds, down to %.3g s after %d halvings: "
                 "%s%s",
                 w->clock.time, (long long)w->clock.step, dt, info->retries, why,
                 w->coupling    ? hint /* the other advice is in `why` */
                 : w->fluid.ops ? "; try a smaller fluid.cfl or fluid.max_dt, a larger "
                                  "fluid.pressure_max_iterations, or a finer grid"
                                : "; try a smaller dynamics.dt, or softer or better shaped bodies");
}

/* Frame f is complete when the time f * every is reached. */
static void count_frames(mn_world *w)
{
  while (w->clock.time >= (double)(w->clock.frame + 1) * w->def->output.every)
    w->clock.frame++;
}

/* Once: the method asked for is then not the one that finished the substep. */
static void tell_handed_over(mn_world *w, const mn_step_info *info)
{
  const char *name = mn_coupling_method_name(w->how.method);
  if (info->handed_over && !w->told_handed_over && w->rescue)
    mn_log(w->ctx, MN_LOG_WARNING,
           "at %.6g s (step %lld) \"%s\" found no agreement, or in ever shorter steps alone, and "
           "\"monolithic\" finished the substep; run.json counts such substeps, steps.csv marks "
           "them (handed_over); if they "
           "are many, take coupling.method = \"monolithic\"",
           w->clock.time, (long long)w->clock.step, name);
  else if (info->handed_over && !w->told_handed_over)
    mn_log(w->ctx, MN_LOG_WARNING,
           "at %.6g s (step %lld) contact did not settle in the one system of \"%s\", and \"xpm\" "
           "finished the substep from there; run.json counts such substeps, steps.csv marks them "
           "(handed_over)",
           w->clock.time, (long long)w->clock.step, name);
  w->told_handed_over |= info->handed_over;
}

/* Of a region's volume: a gap to speak of. */
static const double GAP = 0.01;

/* Once: in the one system water may leave walls of closed regions, which then keep no volume. */
static void tell_gap(mn_world *w, const mn_step_info *info)
{
  const mn_fluid_def *fluid = &w->def->fluid;
  int one = w->how.method == MN_COUPLE_MONOLITHIC || w->how.method == MN_COUPLE_SIMULTANEOUS;
  if (w->told_gap || !one || fluid->kind != MN_FLUID_WATER || fluid->walls != MN_WALLS_SEPARATING)
    return;
  for (int r = 0; r < info->closed_regions && !w->told_gap; r++) {
    const mn_region_info *region = &info->region[r];
    if (!(region->volume > 0 && fabs(region->error) > GAP * region->volume))
      continue;
    mn_log(w->ctx, MN_LOG_WARNING,
           "at %.6g s (step %lld) the closed region %d has %.3g m^%d %s room than flowed into it: "
           "its water has let go of walls, as with fluid.walls = \"separating\" it may; "
           "coupling.method = \"xpm\", or walls = \"sticking\", keep its volume",
           w->clock.time, (long long)w->clock.step, region->id, fabs(region->error),
           w->def->domain.dim, region->error > 0 ? "more" : "less");
    w->told_gap = 1;
  }
}

static int has_regions(const mn_world *w)
{
  int regions;
  mn_coupling_regions(w->coupling, &regions);
  return regions > 0;
}

/* Whether bodies touch around closed regions: what touches is in the one system's matrix. Disks
   that met in a closed box took 40 to 89 substeps, of xpm alone 220 to 3,934, or none did. */
static int touches_in_region(const mn_world *w)
{
  return has_regions(w) && mn_coupling_touched(w->coupling);
}

/* The one system tries the substep that xpm could not do: in water, and where bodies touch around
   closed regions, at once; else with closed regions and in smoke where no shorter one does either,
   or the last one needed it. */
static int is_to_help(const mn_world *w, int retries)
{
  if (!w->rescue)
    return 0;
  int water = w->def->fluid.kind == MN_FLUID_WATER && !has_regions(w);
  return water || touches_in_region(w) || retries == MAX_RETRIES ||
         mn_coupling_was_helped(w->coupling);
}

/* Hard substeps have made the next ones so short that the one system may as well take long ones. It
   must: each substep of xpm may be off by the tolerance's velocity, and light cloth in a fast jet
   gathered these errors, in steps a thousandth as long a thousand times as many, until it burst. A
   balloon full of water that struck the floor crept on in such steps, its p0 leaping by the inverse
   of their length. In smoke xpm is what finds p0 of closed regions best: there it has longer. */
static int lags(const mn_world *w)
{
  if (!w->rescue)
    return 0;
  int longer = has_regions(w) && w->def->fluid.kind != MN_FLUID_WATER;
  return mn_coupling_pace(w->coupling) <= (longer ? LAGS_CLOSED : LAGS);
}

/* The one system tries a substep of 1/parts of `rest`, longer ones first, from 1/first on. *parts
   <- those of the one that it could do. */
static mn_status rescue(mn_world *w, double rest, double share, double first, double *parts,
                        mn_step_info *info, mn_outcome *result, mn_status *status)
{
  double least = *parts;
  for (double n = first; n <= least; n *= 2) {
    mn_coupling_help(w->rescue, w->coupling);
    while ((*result = mn_world_try(w, w->rescue, rest / n, share * least / n, info, status)) ==
           MN_STEP_AGAIN) {
      MN_TRY(restore_state(w));
      mn_coupling_help(w->rescue, w->coupling);
    }
    if (*result == MN_STEP_GOOD) {
      *parts = n;
      return MN_OK;
    }
    MN_TRY(restore_state(w));
  }
  return MN_OK;
}

mn_status mn_world_step(mn_world *w, double until, mn_step_info *out)
{
  mn_step_info info = {.coupling_iterations = 1};
  double start = mn_seconds(), dt = 0, rest = until - w->clock.time;
  if (!(rest > 0) || !isfinite(rest))
    return mn_fail(w->ctx, MN_BAD_INPUT, "a step until %g s cannot start at %g s", until,
                   w->clock.time);
  MN_TRY(allowed_dt(w, &dt));
  if (w->coupling && mn_coupling_crawls(w->coupling))
    return mn_fail(
        w->ctx, MN_FAILED,
        "at %.6g s (step %lld) the run crawls: the coupling \"%s\" has needed substeps of "
        "%.3g s and less, a thousandth of what fluid and bodies allow, some hundreds of "
        "times; bodies may be crushed, inverted or far beyond the domain: try stiffer or "
        "heavier ones, or a coarser coupling.tolerance",
        w->clock.time, (long long)w->clock.step, mn_coupling_method_name(w->how.method), dt);
  double share = w->coupling ? mn_coupling_pace(w->coupling) : 1;
  double parts = parts_of(rest, dt), fewest = parts_of(rest, dt / share);
  if (!(dt > 1e-14 * fabs(w->clock.time)))
    return mn_fail(w->ctx, MN_FAILED,
                   "at %.6g s (step %lld) the time step is down to %.3g s: what moves has become "
                   "too fast to follow; %s",
                   w->clock.time, (long long)w->clock.step, dt, advice(w));
  if (!(parts < 1e15))
    return mn_fail(w->ctx, MN_BAD_INPUT, "%g s is too far away: it would take %.3g steps", until,
                   parts);
  double whole = parts;
  w->again = 0;
  MN_TRY(save_state(w));
  mn_outcome result = MN_STEP_RETRY;
  mn_status status = MN_OK;
  if (lags(w))
    MN_TRY(rescue(w, rest, share, fewest, &parts, &info, &result, &status));
  dt = rest / parts;
  while (result != MN_STEP_GOOD &&
         (result = mn_world_try(w, w->coupling, dt, share, &info, &status)) != MN_STEP_GOOD) {
    MN_TRY(restore_state(w));
    if (result == MN_STEP_AGAIN)
      continue;
    if (result == MN_STEP_RETRY && is_to_help(w, info.retries)) {
      /* where halves did not help xpm, longer ones may help the one system */
      double first = info.retries == MAX_RETRIES ? whole : parts;
      MN_TRY(rescue(w, rest, share, first, &parts, &info, &result, &status));
      dt = rest / parts;
      if (result == MN_STEP_GOOD)
        break;
    }
    if (result == MN_STEP_HOPELESS || info.retries == MAX_RETRIES) {
      *out =
          (mn_step_info){.retries = info.retries, .capped = info.capped, .diverged = info.diverged};
      return give_up(w, dt, &info, result, status);
    }
    mn_log(w->ctx, MN_LOG_DEBUG, "at %.6g s the step of %.3g s is halved: %s", w->clock.time, dt,
           w->ctx->message);
    dt *= 0.5;
    share *= 0.5;
    parts = 2 * parts;
    info.retries++;
  }
  w->ctx->message[0] = 0; /* of a step that was retried with success */
  tell_handed_over(w, &info);
  tell_gap(w, &info);
  if (w->coupling) /* iterations of another coupling say nothing of this one's pace */
    mn_coupling_learn_pace(w->coupling, (int)lround(log2(parts / whole)),
                           w->rescue && info.handed_over ? 0 : info.coupling_iterations);
  w->clock.time = parts == 1 ? until : w->clock.time + dt;
  w->clock.step++;
  count_frames(w);
  mn_world_watch(w);
  info.step = w->clock.step;
  info.time = w->clock.time;
  info.dt = dt;
  info.other_s = fmax(0, mn_seconds() - start - info.fluid_s - info.solid_s - info.couple_s);
  *out = info;
  return MN_OK;
}

mn_status mn_world_next_frame(mn_world *w)
{
  double until = (double)(w->clock.frame + 1) * w->def->output.every;
  while (w->clock.time < until) {
    mn_step_info info;
    MN_TRY(mn_world_step(w, until, &info));
    if (w->ctx->interrupted && *w->ctx->interrupted)
      return mn_fail(w->ctx, MN_INTERRUPTED, "interrupted at %.6g s", w->clock.time);
  }
  return MN_OK;
}

double mn_world_time(const mn_world *w)
{
  return w->clock.time;
}

int64_t mn_world_steps(const mn_world *w)
{
  return w->clock.step;
}

const char *mn_world_coupling(const mn_world *w, const char **why)
{
  if (why)
    *why = w->why;
  return w->coupling ? mn_coupling_method_name(w->how.method) : NULL;
}

int mn_world_frame(const mn_world *w)
{
  return (int)w->clock.frame;
}

/* ---- the state ------------------------------------------------------------------------------- */

size_t mn_array_bytes(const mn_array *array)
{
  size_t bytes = array->type == MN_U8 ? 1 : 8;
  for (int i = 0; i < array->rank; i++)
    bytes *= array->shape[i];
  return bytes;
}

int mn_world_arrays(mn_world *w, mn_array arrays[MN_ARRAYS_MAX])
{
  int count = 0;
  if (w->fluid_plugin)
    count = mn_plugin_arrays(w->ctx, w->fluid_plugin, arrays, MN_ARRAYS_MAX);
  else if (w->fluid.ops)
    count = w->fluid.ops->arrays(w->fluid.self, arrays, MN_ARRAYS_MAX);
  assert(count <= MN_ARRAYS_MAX);
  if (w->solid_plugin)
    count += mn_plugin_arrays(w->ctx, w->solid_plugin, arrays + count, MN_ARRAYS_MAX - count);
  else if (w->solid.ops)
    count += w->solid.ops->arrays(w->solid.self, arrays + count, MN_ARRAYS_MAX - count);
  assert(count <= MN_ARRAYS_MAX);
  if (w->coupling)
    count += mn_coupling_arrays(w->coupling, arrays + count, MN_ARRAYS_MAX - count);
  assert(count <= MN_ARRAYS_MAX);
  int first = count;
  if (w->rescue)
    count += mn_coupling_arrays(w->rescue, arrays + count, MN_ARRAYS_MAX - count);
  assert(count <= MN_ARRAYS_MAX);
  for (int i = first; i < count; i++) {
    char name[sizeof arrays->name];
    memcpy(name, arrays[i].name, sizeof name);
    snprintf(arrays[i].name, sizeof name, "rescue_%.40s", name);
  }
  return count;
}

uint64_t mn_state_hash(const mn_clock *clock, const mn_array *arrays, int count)
{
  uint64_t h = mn_hash(MN_HASH_START, &clock->time, sizeof clock->time);
  h = mn_hash(h, &clock->step, sizeof clock->step);
  h = mn_hash(h, &clock->frame, sizeof clock->frame);
  for (int i = 0; i < count; i++) {
    h = mn_hash(h, arrays[i].name, strlen(arrays[i].name));
    h = mn_hash(h, arrays[i].data, mn_array_bytes(&arrays[i]));
  }
  return h;
}

uint64_t mn_world_hash(mn_world *w)
{
  mn_array arrays[MN_ARRAYS_MAX];
  int count = mn_world_arrays(w, arrays);
  return mn_state_hash(&w->clock, arrays, count);
}
