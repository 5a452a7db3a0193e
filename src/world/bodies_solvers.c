/* From body defs to solvers: rigid bodies and one system of deformable nodes, mixed by
   solid/solid.h. Obstacles and the closed sides of the domain take part in contact as rigid bodies
   that are fixed or driven. */
#include "world/bodies_parts.h"

#include <math.h>

#include "base/memory.h"
#include "base/status.h"
#include "math/motion.h"
#include "world/body_points.h"

static const double THICKNESS = 0.02; /* of the smallest deformable body's size, at most */
/* mn_deform_def.fade in a fluid. With 0.05 as with 0.25 none of the cases of test_midpoint_in_fluid
   gained energy; what is more damps motions that the step resolves, too. */
static const double FADE = 0.1;

/* ---- deformable bodies ----------------------------------------------------------------------- */

static mn_status add_deformable(const mn_bodies *b, mn_deform *deform, mn_body_part *p)
{
  const mn_body_def *d = p->def;
  double alpha = d->damping_mass, beta = d->damping_stiffness;
  switch (d->kind) {
  case MN_BODY_ELASTIC: {
    /* in a fluid the elements are what displaces it: their density decides what floats */
    double full = b->model->fluid.kind == MN_FLUID_NONE ? p->full : 1;
    mn_elastic_def def = {d->name,
                          (mn_material_kind)d->material,
                          d->young,
                          d->poisson,
                          d->density / full,
                          alpha,
                          beta,
                          d->velocity};
    return mn_deform_add_elastic(deform, &p->mesh, &def, &p->index);
  }
  case MN_BODY_SPRINGS: {
    mn_springs_def def = {d->name,         d->density, d->stretch, d->bend, d->stretch_damping,
                          d->bend_damping, alpha,      d->velocity};
    return mn_deform_add_springs(deform, &p->mesh, &def, &p->index);
  }
  case MN_BODY_SHELL: {
    mn_shell_def def = {.name = d->name,
                        .membrane = MN_MEMBRANE_ST_VENANT,
                        .young = d->young,
                        .poisson = d->poisson,
                        .thickness = d->thickness,
                        .density = d->density,
                        .bending = -1,
                        .alpha = alpha,
                        .beta = beta,
                        .velocity = d->velocity};
    return mn_deform_add_shell(deform, &p->mesh, &def, &p->index);
  }
  default: {
    mn_rod_def def = {d->name, d->stretch, d->bend, d->density, alpha, beta, d->velocity};
    return mn_deform_add_rod(deform, &p->mesh, &def, &p->index);
  }
  }
}

/* Prescribed nodes follow the motion of their own body. */
static void follow(void *user, uint32_t node, mn_vec3 rest, double t, mn_vec3 *x, mn_vec3 *v)
{
  const mn_bodies *b = user;
  mn_deform_view view = mn_deform_get(mn_solids_deform(b->solids));
  *x = rest;
  *v = mn_v3(0, 0, 0);
  for (int i = 0; i < b->count; i++) {
    const mn_body_part *p = &b->part[i];
    if (p->def->kind == MN_BODY_RIGID || !p->def->moving)
      continue;
    const mn_deform_body *body = &view.body[p->index];
    if (node >= body->first && node < body->first + body->nodes)
      mn_motion_point(&p->def->motion, t, rest, x, v);
  }
}

static void fix_nodes(mn_deform *deform, const mn_body_part *p, int *fixed)
{
  mn_deform_view view = mn_deform_get(deform);
  const mn_deform_body *body = &view.body[p->index];
  for (uint32_t i = body->first; p->def->fixed && i < body->first + body->nodes; i++)
    if (mn_shape_distance(p->def->fixed, view.x[i]) <= 0) {
      mn_deform_fix(deform, i, MN_FIX_ALL);
      ++*fixed;
    }
}

uint32_t mn_bodies_nearest_node(mn_deform *deform, const mn_body_part *p, mn_vec3 at)
{
  mn_deform_view v = mn_deform_get(deform);
  const mn_deform_body *body = &v.body[p->index];
  uint32_t best = body->first;
  for (uint32_t i = body->first; i < body->first + body->nodes; i++)
    if (mn_length(mn_sub(v.rest[i], at)) < mn_length(mn_sub(v.rest[best], at)))
      best = i;
  return best;
}

/* Links of deformable bodies. */
static mn_status add_soft_links(mn_bodies *b, mn_deform *deform)
{
  for (int i = 0; i < b->model->link_count; i++) {
    const mn_link_def *l = &b->model->links[i];
    const mn_body_part *of = mn_bodies_find(b, l->of), *to = mn_bodies_find(b, l->to);
    if (of->def->kind == MN_BODY_RIGID)
      continue;
    mn_deform_view v = mn_deform_get(deform);
    uint32_t node = mn_bodies_nearest_node(deform, of, l->at), other = 0;
    mn_vec3 end = l->to_at;
    if (to)
      end = v.rest[other = mn_bodies_nearest_node(deform, to, l->to_at)];
    if (to && node == other)
      return mn_fail(b->ctx, MN_BAD_INPUT,
                     "solids: link %d joins \"%s\" with itself at one and the same node", i + 1,
                     l->of);
    double length = l->length < 0 ? mn_length(mn_sub(end, v.rest[node])) : l->length;
    MN_TRY(to ? mn_deform_add_spring(deform, node, other, length, l->stiffness, l->damping)
              : mn_deform_add_anchor(deform, node, end, length, l->stiffness, l->damping));
  }
  return MN_OK;
}

static mn_status make_deform(mn_bodies *b, mn_deform **out)
{
  const mn_dynamics_def *d = &b->model->dynamics;
  mn_deform_def def = mn_deform_def_default(b->dim);
  def.scheme = (mn_scheme)d->integrator;
  def.beta = d->beta;
  def.gamma = d->gamma;
  def.gravity = d->gravity;
  def.tolerance = d->tolerance;
  def.max_iterations = d->max_iterations;
  def.fade = b->model->fluid.kind == MN_FLUID_NONE ? 0 : FADE;
  int any = 0;
  for (int i = 0; i < b->count; i++)
    any |= b->part[i].def->kind != MN_BODY_RIGID;
  if (!any)
    return MN_OK;
  MN_TRY(mn_deform_create(b->ctx, &def, out));
  for (int i = 0; i < b->count; i++) {
    mn_body_part *p = &b->part[i];
    if (p->def->kind == MN_BODY_RIGID)
      continue;
    mn_status status = add_deformable(b, *out, p);
    if (status != MN_OK)
      return mn_bodies_blame(b, i, status);
    mn_deform_set_contact(*out, p->index, p->def->friction, p->def->collides);
    int fixed = 0;
    fix_nodes(*out, p, &fixed);
    if (p->def->fixed && !fixed)
      return mn_bodies_blame(b, i,
                             mn_fail(b->ctx, MN_BAD_INPUT,
                                     "`fixed` holds none of its nodes; allowed: a "
                                     "shape with at least one inside"));
    if (p->def->release > 0)
      mn_deform_set_release(*out, p->index, p->def->release);
    mn_deform_view view = mn_deform_get(*out);
    if (fixed == (int)view.body[p->index].nodes && mn_length(p->def->velocity) > 0)
      return mn_bodies_blame(
          b, i,
          mn_fail(b->ctx, MN_BAD_INPUT,
                  "velocity has no effect: `fixed` holds all of its nodes; leave it "
                  "out"));
  }
  MN_TRY(add_soft_links(b, *out));
  mn_deform_set_motion(*out, follow, b);
  return mn_deform_ready(*out);
}

/* ---- rigid bodies ---------------------------------------------------------------------------- */

static mn_rigid_def rigid_def(const mn_body_def *d, int dim)
{
  static const mn_joint_kind joints[] = {MN_JOINT_NONE, MN_JOINT_FIXED, MN_JOINT_PRISMATIC,
                                         MN_JOINT_HINGE};
  mn_rigid_def def = mn_rigid_def_default();
  def.name = d->name;
  def.shape = d->shape;
  def.density = d->density;
  def.joint = d->moving ? MN_JOINT_DRIVEN : joints[d->joint];
  def.axis = d->joint == MN_BODY_HINGE && dim == 2 ? mn_v3(0, 0, 1) : d->joint_axis;
  def.point = d->joint_point;
  def.motion = d->motion;
  def.velocity = d->velocity;
  def.spin = d->spin;
  def.force = d->force;
  def.force_ramp = d->force_ramp;
  def.torque = d->torque;
  def.torque_ramp = d->torque_ramp;
  def.friction = d->friction;
  def.restitution = d->restitution;
  def.collides = d->collides;
  return def;
}

/* A closed side of the domain: everything beyond it. */
static mn_status make_sides(mn_bodies *b)
{
  const mn_domain_def *d = &b->model->domain;
  for (int s = 0; s < 2 * b->dim; s++) {
    if (d->side[s].kind != MN_SIDE_SLIP && d->side[s].kind != MN_SIDE_NOSLIP)
      continue;
    mn_vec3 point = d->origin, normal = mn_v3(0, 0, 0);
    normal.v[s / 2] = s % 2 ? -1 : 1;
    if (s % 2)
      point.v[s / 2] += d->size.v[s / 2];
    MN_TRY(mn_shape_half_space(b->ctx, b->dim, point, normal, &b->side[s]));
  }
  return MN_OK;
}

static void add_fixture(mn_rigid_def *def, const char *name, const mn_shape *shape, double friction,
                        double restitution)
{
  *def = mn_rigid_def_default();
  def->name = name;
  def->shape = shape;
  def->joint = MN_JOINT_FIXED;
  def->friction = friction;
  def->restitution = restitution;
  def->sampled = 0;
}

/* A slider's spring, along its axis: to a point as far behind it as the spring is long, which for
   motion along the axis alone is exact. */
static mn_spring_def slider_spring(const mn_body_def *d, int index)
{
  mn_vec3 lo, hi, axis = mn_scale(1 / mn_length(d->joint_axis), d->joint_axis);
  mn_shape_bounds(d->shape, &lo, &hi);
  mn_vec3 at = mn_scale(0.5, mn_add(lo, hi));
  double length = 100 * mn_length(mn_sub(hi, lo)); /* never shortened to nothing */
  return (mn_spring_def){.a = index,
                         .b = -1,
                         .at_a = at,
                         .at_b = mn_madd(at, -length, axis),
                         .stiffness = d->spring,
                         .damping = d->damper,
                         .length = length};
}

/* Springs of sliders and hinges, and links of rigid bodies. */
static int list_springs(const mn_bodies *b, mn_spring_def *springs)
{
  int count = 0;
  for (int i = 0; i < b->count; i++) {
    const mn_body_part *p = &b->part[i];
    if (p->def->kind != MN_BODY_RIGID || !(p->def->spring > 0 || p->def->damper > 0))
      continue;
    springs[count++] = p->def->joint == MN_BODY_SLIDER
                           ? slider_spring(p->def, p->index)
                           : (mn_spring_def){.a = p->index,
                                             .b = -1,
                                             .stiffness = p->def->spring,
                                             .damping = p->def->damper,
                                             .torsion = 1};
  }
  for (int i = 0; i < b->model->link_count; i++) {
    const mn_link_def *l = &b->model->links[i];
    const mn_body_part *of = mn_bodies_find(b, l->of), *to = mn_bodies_find(b, l->to);
    if (of->def->kind == MN_BODY_RIGID)
      springs[count++] = (mn_spring_def){.a = of->index,
                                         .b = to ? to->index : -1,
                                         .at_a = l->at,
                                         .at_b = l->to_at,
                                         .stiffness = l->stiffness,
                                         .damping = l->damping,
                                         .length = l->length};
  }
  return count;
}

/* The bodies first, in the model's order, then obstacles and sides. */
static int list_rigid(mn_bodies *b, mn_rigid_def *defs)
{
  int count = 0;
  for (int i = 0; i < b->count; i++) {
    mn_body_part *p = &b->part[i];
    if (p->def->kind != MN_BODY_RIGID)
      continue;
    p->index = count;
    defs[count++] = rigid_def(p->def, b->dim);
  }
  for (int i = 0; b->model->dynamics.contact && i < b->model->solid_count; i++) {
    const mn_solid_def *s = &b->model->solids[i];
    add_fixture(&defs[count], s->name, s->shape, s->friction, s->restitution);
    if (s->moving) {
      defs[count].joint = MN_JOINT_DRIVEN;
      defs[count].motion = s->motion;
    }
    count++;
  }
  for (int s = 0; b->model->dynamics.contact && s < 6; s++)
    if (b->side[s]) {
      const mn_side_def *side = &b->model->domain.side[s];
      add_fixture(&defs[count], "a side of the domain", b->side[s], side->friction,
                  side->restitution);
      if (side->kind == MN_SIDE_NOSLIP) { /* a wall that moves along itself drags by friction */
        defs[count].slide = side->velocity;
        defs[count].slide_ramp = side->ramp;
      }
      count++;
    }
  return count;
}

/* m: half the extent of the smallest deformable body. */
static double smallest_soft(const mn_bodies *b)
{
  double least = HUGE_VAL;
  for (int i = 0; i < b->count; i++) {
    const mn_body_part *p = &b->part[i];
    mn_vec3 lo, hi;
    mn_body_extent(&p->mesh, &lo, &hi);
    if (p->def->kind != MN_BODY_RIGID)
      least = mn_min(least, 0.5 * mn_length(mn_sub(hi, lo)));
  }
  return least;
}

mn_status mn_bodies_make_solids(mn_bodies *b)
{
  size_t most = (size_t)b->count + (size_t)b->model->solid_count + 6;
  mn_rigid_def *defs = NULL;
  mn_spring_def *springs = NULL;
  MN_TRY(make_sides(b));
  mn_status status = MN_NEW(b->ctx, "rigid bodies", most, &defs);
  if (status == MN_OK)
    status =
        MN_NEW(b->ctx, "springs of rigid bodies", most + (size_t)b->model->link_count, &springs);
  mn_solids_def def = mn_solids_def_default(b->dim);
  def.gravity = b->model->dynamics.gravity;
  /* a second-order body on a cloth of first order would never come to rest */
  int deforms = 0;
  for (int i = 0; i < b->count; i++)
    deforms |= b->part[i].def->kind != MN_BODY_RIGID;
  def.order = deforms && b->model->dynamics.integrator == MN_INTEGRATE_EULER ? 1 : 2;
  def.contacts = b->model->dynamics.contact;
  def.contact.thickness = mn_min(def.contact.thickness, THICKNESS * smallest_soft(b));
  if (status == MN_OK) {
    def.rigid_count = list_rigid(b, defs);
    def.spring_count = list_springs(b, springs);
    def.rigid = defs;
    def.springs = springs;
    status = make_deform(b, &def.deform);
  }
  if (status == MN_OK)
    status = mn_solids_create(b->ctx, &def, &b->solids);
  else
    mn_deform_destroy(&def.deform);
  mn_free(defs);
  mn_free(springs);
  return status;
}
