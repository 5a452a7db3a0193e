/* Checks of bodies that concern how keys go together: keys that would have no effect, links. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "math/vec.h"
#include "world/check_values.h"
#include "world/world.h"

/* ---- keys without effect --------------------------------------------------------------------- */

static int any(mn_vec3 v)
{
  return mn_dot(v, v) > 0;
}

/* The first key given that a body which does not obey forces ignores; NULL: none. */
static const char *idle_key(const mn_body_def *b)
{
  return any(b->velocity) ? "velocity"
         : any(b->spin)   ? "spin"
         : any(b->force)  ? "force"
         : any(b->torque) ? "torque"
         : b->spring > 0  ? "spring"
         : b->damper > 0  ? "damper"
                          : NULL;
}

/* How far v is off the direction of the joint's axis, over its length; a little is rounding. */
static int off_axis(mn_vec3 v, mn_vec3 axis)
{
  return mn_length(mn_cross(v, axis)) > 1e-9 * mn_length(v) * mn_length(axis);
}

static int across_axis(mn_vec3 v, mn_vec3 axis)
{
  return any(v) && fabs(mn_dot(v, axis)) <= 1e-9 * mn_length(v) * mn_length(axis);
}

/* Motion that the joint does not allow, and forces that it takes up whole. */
static mn_status check_joint(mn_context *ctx, int dim, const char *key, const mn_body_def *b)
{
  int slider = b->joint == MN_BODY_SLIDER;
  mn_vec3 axis = slider || dim == 3 ? b->joint_axis : mn_v3(0, 0, 1);
  mn_vec3 motion = slider ? b->velocity : b->spin, push = slider ? b->force : b->torque;
  const char *does = slider ? "moves along" : "turns about";
  if (!slider && b->joint != MN_BODY_HINGE)
    return MN_OK;
  if (!(mn_length(axis) > 0))
    return mn_fail(ctx, MN_BAD_INPUT, "%s.joint_axis is {0, 0%s}: a %s needs a direction", key,
                   dim == 3 ? ", 0" : "", slider ? "slider" : "hinge");
  if (off_axis(motion, axis))
    return mn_fail(ctx, MN_BAD_INPUT,
                   "%s.%s is {%g, %g, %g}: must be along joint_axis, {%g, %g, %g}: a %s %s it only",
                   key, slider ? "velocity" : "spin", motion.x, motion.y, motion.z, axis.x, axis.y,
                   axis.z, slider ? "slider" : "hinge", does);
  if (across_axis(push, axis))
    return mn_fail(ctx, MN_BAD_INPUT,
                   "%s.%s is {%g, %g, %g} and has no effect: it is across joint_axis, {%g, %g, %g}",
                   key, slider ? "force" : "torque", push.x, push.y, push.z, axis.x, axis.y,
                   axis.z);
  return MN_OK;
}

static mn_status check_rigid(mn_context *ctx, int dim, const char *key, const mn_body_def *b)
{
  static const char *const joints[] = {"free", "fixed", "slider", "hinge"};
  if (b->moving && b->joint != MN_BODY_FREE)
    return mn_fail(ctx, MN_BAD_INPUT,
                   "%s has a motion and joint = \"%s\": a body that follows a motion has no joint; "
                   "leave one out",
                   key, joints[b->joint]);
  const char *idle = b->moving || b->joint == MN_BODY_FIXED ? idle_key(b) : NULL;
  if (idle)
    return mn_fail(ctx, MN_BAD_INPUT, "%s.%s has no effect: the body %s; leave it out", key, idle,
                   b->moving ? "follows its motion" : "is fixed");
  if ((b->spring > 0 || b->damper > 0) && b->joint != MN_BODY_SLIDER && b->joint != MN_BODY_HINGE)
    return mn_fail(ctx, MN_BAD_INPUT,
                   "%s has a spring or damper: needs joint = \"slider\" or \"hinge\"; for a free "
                   "body take link { of = ..., at = ..., to_at = ... }",
                   key);
  if (any(b->joint_point) && b->joint != MN_BODY_HINGE)
    return mn_fail(ctx, MN_BAD_INPUT, "%s.joint_point has no effect: needs joint = \"hinge\"", key);
  if (b->joint == MN_BODY_SLIDER && (any(b->spin) || any(b->torque)))
    return mn_fail(ctx, MN_BAD_INPUT, "%s.%s has no effect: a slider does not turn", key,
                   any(b->spin) ? "spin" : "torque");
  if (b->joint == MN_BODY_HINGE && any(b->velocity))
    return mn_fail(ctx, MN_BAD_INPUT, "%s.velocity has no effect: a hinge starts with its spin",
                   key);
  return check_joint(ctx, dim, key, b);
}

/* Newmark is stable for linear forces only; springs, shells and rods turn. */
static void warn_newmark(mn_context *ctx, const mn_model_def *def)
{
  for (int i = 0; def->dynamics.integrator == MN_INTEGRATE_NEWMARK && i < def->body_count; i++) {
    const mn_body_def *b = &def->bodies[i];
    int thin = b->kind == MN_BODY_SPRINGS || b->kind == MN_BODY_SHELL || b->kind == MN_BODY_ROD;
    if (!thin || b->damping_mass > 0 || b->damping_stiffness > 0 || b->stretch_damping > 0)
      continue;
    mn_log(ctx, MN_LOG_WARNING,
           "dynamics.integrator = \"newmark\" may gain energy in long steps: body %d is thin and "
           "undamped; \"midpoint\" keeps energy, \"euler\" never gains any",
           i + 1);
    return;
  }
}

static mn_status check_integrator(mn_context *ctx, const mn_dynamics_def *d)
{
  if (d->integrator != MN_INTEGRATE_NEWMARK && (d->beta != 0.25 || d->gamma != 0.5))
    return mn_fail(ctx, MN_BAD_INPUT, "dynamics.%s has no effect: needs integrator = \"newmark\"",
                   d->beta != 0.25 ? "beta" : "gamma");
  if (d->integrator == MN_INTEGRATE_NEWMARK && !(d->gamma >= 0.5 && 2 * d->beta >= d->gamma))
    return mn_fail(ctx, MN_BAD_INPUT,
                   "dynamics.beta is %g with gamma %g: Newmark is stable for gamma >= 0.5 and beta "
                   ">= gamma/2 only; for this gamma take beta = %g",
                   d->beta, d->gamma, mn_max(0.25, d->gamma / 2));
  return MN_OK;
}

/* ---- links ----------------------------------------------------------------------------------- */

static const mn_body_def *named(const mn_model_def *def, const char *name)
{
  for (int i = 0; i < def->body_count; i++)
    if (*name && !strcmp(def->bodies[i].name, name))
      return &def->bodies[i];
  return NULL;
}

static mn_status check_link(mn_context *ctx, const mn_model_def *def, int i)
{
  const mn_link_def *l = &def->links[i];
  const mn_body_def *of = named(def, l->of), *to = named(def, l->to);
  char key[64];
  snprintf(key, sizeof key, "solids: link %d", i + 1);
  if (!of || (*l->to && !to))
    return mn_fail(ctx, MN_BAD_INPUT, "%s.%s is \"%s\": must be the name of a body", key,
                   of ? "to" : "of", of ? l->to : l->of);
  if (of == to && of->kind == MN_BODY_RIGID)
    return mn_fail(ctx, MN_BAD_INPUT, "%s joins \"%s\" with itself: a rigid body does not feel it",
                   key, l->of);
  if (to && (of->kind == MN_BODY_RIGID) != (to->kind == MN_BODY_RIGID))
    return mn_fail(ctx, MN_BAD_INPUT,
                   "%s joins \"%s\" and \"%s\", a rigid and a deformable body: they are solved one "
                   "after the other, and no link between them is there yet",
                   key, l->of, l->to);
  const double numbers[] = {l->stiffness, l->damping, l->length,  l->at.x,   l->at.y,
                            l->at.z,      l->to_at.x, l->to_at.y, l->to_at.z};
  for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
    if (!isfinite(numbers[k]) || (k < 2 && numbers[k] < 0))
      return mn_fail(ctx, MN_BAD_INPUT,
                     "%s holds %g: its numbers must be finite, stiffness and damping not negative",
                     key, numbers[k]);
  char part[128];
  snprintf(part, sizeof part, "%s.stiffness", key);
  MN_TRY(mn_check_not_negative(ctx, part, l->stiffness));
  snprintf(part, sizeof part, "%s.damping", key);
  MN_TRY(mn_check_not_negative(ctx, part, l->damping));
  if (!(l->stiffness > 0) && !(l->damping > 0))
    return mn_fail(ctx, MN_BAD_INPUT, "%s has neither stiffness nor damping: it does nothing", key);
  return MN_OK;
}

/* ---- all ------------------------------------------------------------------------------------- */

mn_status mn_check_body_keys(mn_context *ctx, const mn_model_def *def)
{
  for (int i = 0; i < def->body_count; i++) {
    const mn_body_def *b = &def->bodies[i];
    char key[64];
    snprintf(key, sizeof key, "solids: body %d", i + 1);
    if (*b->name)
      snprintf(key, sizeof key, "body \"%.40s\"", b->name);
    if (!strcmp(b->name, "fluid") || !strcmp(b->name, "smoke"))
      return mn_fail(ctx, MN_BAD_INPUT, "%s: a word that probes use; choose another name", key);
    if (b->kind == MN_BODY_RIGID)
      MN_TRY(check_rigid(ctx, def->domain.dim, key, b));
    else if (b->moving && !b->fixed)
      return mn_fail(ctx, MN_BAD_INPUT,
                     "%s.motion has no effect without `fixed`, the shape whose nodes follow it",
                     key);
  }
  for (int i = 0; i < def->link_count; i++)
    MN_TRY(check_link(ctx, def, i));
  warn_newmark(ctx, def);
  return def->body_count ? check_integrator(ctx, &def->dynamics) : MN_OK;
}

/* Obstacles to which a fluid without viscosity cannot stick. */
static void warn_noslip(mn_context *ctx, const mn_model_def *def)
{
  for (int s = 0; s < def->solid_count; s++)
    if (def->solids[s].noslip)
      mn_log(
          ctx, MN_LOG_WARNING,
          "solids: obstacle %d%s%s has noslip = true, but fluid.viscosity is 0: the fluid slides "
          "along it, and only interpolation in the cells beside it sees more of it",
          s + 1, *def->solids[s].name ? " " : "", def->solids[s].name);
}

static const double MOST_CFL = 5; /* water: volume dips by some percent from here on */

void mn_warn_idle_fluid_keys(mn_context *ctx, const mn_model_def *def)
{
  const mn_fluid_def *f = &def->fluid;
  if (f->kind == MN_FLUID_NONE)
    return;
  mn_fluid_def d = mn_fluid_def_default(f->kind);
  int water = f->kind == MN_FLUID_WATER;
  if (mn_fluid_on_grid(f) && !(f->viscosity > 0))
    warn_noslip(ctx, def);
  if (water && f->transfer != MN_TRANSFER_FLIP && f->flip != d.flip)
    mn_log(ctx, MN_LOG_WARNING, "fluid.flip = %g has no effect: needs transfer = \"flip\"",
           f->flip);
  int blows = 0;
  for (int s = 0; s < def->source_count; s++)
    blows |= def->sources[s].blows;
  if (water && f->transfer == MN_TRANSFER_LEVELSET && blows)
    mn_log(
        ctx, MN_LOG_WARNING,
        "fluid.transfer = \"levelset\": inflows feed the water that they touch; in air they bring "
        "none");
  if (water && f->cfl > MOST_CFL)
    mn_log(
        ctx, MN_LOG_WARNING,
        "fluid.cfl = %g: particles that go further than %g cells in a substep pile up, and water "
        "loses volume",
        f->cfl, MOST_CFL);
  if (water && f->walls == MN_WALLS_SEPARATING && f->pressure_solver != d.pressure_solver)
    mn_log(ctx, MN_LOG_WARNING,
           "fluid.pressure_solver has no effect on walls = \"separating\": lcp_solver solves");
  if (water && f->walls == MN_WALLS_STICKING && f->lcp_solver != d.lcp_solver)
    mn_log(ctx, MN_LOG_WARNING,
           "fluid.lcp_solver has no effect on walls = \"sticking\": "
           "pressure_solver solves");
  int particles = water && f->transfer != MN_TRANSFER_LEVELSET; /* which need neither */
  if (!particles && f->advection != MN_ADVECT_MACCORMACK && f->limiter != d.limiter)
    mn_log(ctx, MN_LOG_WARNING, "fluid.limiter has no effect: needs advection = \"maccormack\"");
}
