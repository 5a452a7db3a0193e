/* From body defs to solvers: rigid bodies and one system of deformable nodes, mixed by
   solid/solid.h. Obstacles and the closed sides of the domain take part in contact as rigid bodies
   that are fixed or driven. */
#include "world/bodies.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/status.h"
#include "geom/fill.h"
#include "geom/structured.h"
#include "math/motion.h"
#include "solid/solid.h"
#include "world/body_mesh.h"
#include "world/body_points.h"

static const double THICKNESS = 0.02;     /* of the smallest deformable body's size, at most */
static const double START_OVERLAP = 5e-3; /* of the smaller body's size: refused beyond it */

/* One body of the model. */
typedef struct part {
  const mn_body_def *def;
  int index; /* among the rigid or the deformable bodies */
  mn_simplex_mesh mesh;
  double full;     /* elastic: volume of the mesh over that of the shape */
  uint32_t *facet; /* of the mesh: `dim` corners each */
  size_t facets;
  mn_vec3 *x, *v; /* rigid: the mesh where it is now */
  double *stress,
      *jacobian; /* per element: stress, or tension of springs and rods; elastic ones' J */
} part;

struct mn_bodies {
  mn_context *ctx;
  const mn_model_def *model;
  int dim, count;
  part *part;
  mn_shape *side[6]; /* half-spaces beyond the closed sides */
  mn_solids *solids;
  mn_solid box;
  mn_body_view *view;
};

/* ---- meshes ---------------------------------------------------------------------------------- */

/* The surface as corners: boundary of a solid mesh, the elements themselves of a thin one. */
static mn_status make_facets(mn_bodies *b, part *p)
{
  const mn_simplex_mesh *m = &p->mesh;
  size_t corners = (size_t)b->dim, nodes = (size_t)mn_simplex_nodes(m->corners, m->order);
  if (m->corners == b->dim + 1) {
    uint32_t *all;
    size_t per = (size_t)mn_simplex_nodes(m->corners - 1, m->order);
    MN_TRY(mn_simplex_mesh_boundary(b->ctx, m, &all, &p->facets));
    mn_status status = MN_NEW(b->ctx, "facets of a body", p->facets * corners, &p->facet);
    for (size_t f = 0; f < p->facets && status == MN_OK; f++)
      memcpy(p->facet + f * corners, all + f * per, corners * sizeof *all);
    mn_free(all);
    return status;
  }
  if (m->corners != b->dim) /* a rod in 3D */
    return MN_OK;
  p->facets = m->elements;
  MN_TRY(MN_NEW(b->ctx, "facets of a body", p->facets * corners, &p->facet));
  for (size_t f = 0; f < p->facets; f++)
    memcpy(p->facet + f * corners, m->element + f * nodes, corners * sizeof *p->facet);
  return MN_OK;
}

/* What coarse elements cut off round bodies would be missing from their mass. */
static mn_status report_mesh(const mn_bodies *b, part *p)
{
  static const double TOLD = 0.02;
  mn_mesh_quality q = mn_mesh_measure(&p->mesh);
  mn_mass m = {.volume = q.volume};
  const char *name = p->def->name;
  if (!*p->def->file && !p->def->cut)
    MN_TRY(mn_mass_of_shape(b->ctx, p->def->shape, 0, &m));
  p->full = q.volume / m.volume;
  char missing[160] = "";
  if (fabs(p->full - 1) > TOLD)
    snprintf(missing, sizeof missing,
             ", %.1f %% %s volume than its shape (its %s; less spacing comes "
             "nearer)",
             100 * fabs(p->full - 1), p->full < 1 ? "less" : "more",
             b->model->fluid.kind == MN_FLUID_NONE ? "mass is the shape's" : "density is kept");
  mn_log(b->ctx, MN_LOG_INFO,
         "body %s%s%s: %zu %s of order %d, %zu nodes, %s from %.1f to %.1f degrees%s",
         *name ? "\"" : "", *name ? name : "without a name", *name ? "\"" : "", p->mesh.elements,
         b->dim == 3 ? "tetrahedra" : "triangles", p->mesh.order, p->mesh.nodes,
         b->dim == 3 ? "angles between faces" : "angles", q.least_angle, q.greatest_angle, missing);
  return MN_OK;
}

static mn_status make_part(mn_bodies *b, const mn_body_def *def, part *p)
{
  const mn_domain_def *d = &b->model->domain;
  p->def = def;
  MN_TRY(mn_body_mesh(b->ctx, b->dim, def, d->size.x / d->cells[0], &p->mesh));
  MN_TRY(make_facets(b, p));
  if (def->kind == MN_BODY_RIGID) {
    MN_TRY(MN_NEW(b->ctx, "a body's picture", p->mesh.nodes, &p->x));
    return MN_NEW(b->ctx, "a body's picture", p->mesh.nodes, &p->v);
  }
  MN_TRY(MN_NEW(b->ctx, "a body's stress", p->mesh.elements, &p->stress));
  if (def->kind != MN_BODY_ELASTIC)
    return MN_OK;
  MN_TRY(report_mesh(b, p));
  return MN_NEW(b->ctx, "a body's volume ratios", p->mesh.elements, &p->jacobian);
}

/* ---- deformable bodies ----------------------------------------------------------------------- */

static mn_status add_deformable(const mn_bodies *b, mn_deform *deform, part *p)
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
    const part *p = &b->part[i];
    if (p->def->kind == MN_BODY_RIGID || !p->def->moving)
      continue;
    const mn_deform_body *body = &view.body[p->index];
    if (node >= body->first && node < body->first + body->nodes)
      mn_motion_point(&p->def->motion, t, rest, x, v);
  }
}

static void fix_nodes(mn_deform *deform, const part *p, int *fixed)
{
  mn_deform_view view = mn_deform_get(deform);
  const mn_deform_body *body = &view.body[p->index];
  for (uint32_t i = body->first; p->def->fixed && i < body->first + body->nodes; i++)
    if (mn_shape_distance(p->def->fixed, view.x[i]) <= 0) {
      mn_deform_fix(deform, i, MN_FIX_ALL);
      ++*fixed;
    }
}

static mn_status blame(mn_bodies *b, int i, mn_status status)
{
  const char *name = b->part[i].def->name;
  char *said = b->ctx->message;
  size_t length = strlen(name); /* solvers begin with the name: once is enough */
  if (!strncmp(said, name, length) && !strncmp(said + length, ": ", 2))
    memmove(said, said + length + 2, strlen(said + length + 2) + 1);
  if (*name)
    return mn_fail_prefix(b->ctx, status, "solids: body \"%s\"", name);
  return mn_fail_prefix(b->ctx, status, "solids: body %d", i + 1);
}

static mn_status add_soft_links(mn_bodies *b, mn_deform *deform);

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
  int any = 0;
  for (int i = 0; i < b->count; i++)
    any |= b->part[i].def->kind != MN_BODY_RIGID;
  if (!any)
    return MN_OK;
  MN_TRY(mn_deform_create(b->ctx, &def, out));
  for (int i = 0; i < b->count; i++) {
    part *p = &b->part[i];
    if (p->def->kind == MN_BODY_RIGID)
      continue;
    mn_status status = add_deformable(b, *out, p);
    if (status != MN_OK)
      return blame(b, i, status);
    mn_deform_set_contact(*out, p->index, p->def->friction, p->def->collides);
    int fixed = 0;
    fix_nodes(*out, p, &fixed);
    if (p->def->fixed && !fixed)
      return blame(b, i,
                   mn_fail(b->ctx, MN_BAD_INPUT,
                           "`fixed` holds none of its nodes; allowed: a "
                           "shape with at least one inside"));
    if (p->def->release > 0)
      mn_deform_set_release(*out, p->index, p->def->release);
    mn_deform_view view = mn_deform_get(*out);
    if (fixed == (int)view.body[p->index].nodes && mn_length(p->def->velocity) > 0)
      return blame(b, i,
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

static const part *find_part(const mn_bodies *b, const char *name)
{
  for (int i = 0; i < b->count; i++)
    if (*name && !strcmp(b->part[i].def->name, name))
      return &b->part[i];
  return NULL;
}

/* Springs of sliders and hinges, and links of rigid bodies. */
static int list_springs(const mn_bodies *b, mn_spring_def *springs)
{
  int count = 0;
  for (int i = 0; i < b->count; i++) {
    const part *p = &b->part[i];
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
    const part *of = find_part(b, l->of), *to = find_part(b, l->to);
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

static uint32_t nearest_node(mn_deform *deform, const part *p, mn_vec3 at)
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
    const part *of = find_part(b, l->of), *to = find_part(b, l->to);
    if (of->def->kind == MN_BODY_RIGID)
      continue;
    mn_deform_view v = mn_deform_get(deform);
    uint32_t node = nearest_node(deform, of, l->at), other = 0;
    mn_vec3 end = l->to_at;
    if (to)
      end = v.rest[other = nearest_node(deform, to, l->to_at)];
    double length = l->length < 0 ? mn_length(mn_sub(end, v.rest[node])) : l->length;
    MN_TRY(to ? mn_deform_add_spring(deform, node, other, length, l->stiffness, l->damping)
              : mn_deform_add_anchor(deform, node, end, length, l->stiffness, l->damping));
  }
  return MN_OK;
}

/* The bodies first, in the model's order, then obstacles and sides. */
static int list_rigid(mn_bodies *b, mn_rigid_def *defs)
{
  int count = 0;
  for (int i = 0; i < b->count; i++) {
    part *p = &b->part[i];
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
    const part *p = &b->part[i];
    mn_vec3 lo, hi;
    mn_body_extent(&p->mesh, &lo, &hi);
    if (p->def->kind != MN_BODY_RIGID)
      least = mn_min(least, 0.5 * mn_length(mn_sub(hi, lo)));
  }
  return least;
}

static mn_status make_solids(mn_bodies *b)
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

/* ---- life ------------------------------------------------------------------------------------ */

/* Number of the body as solid/solid.h counts them: rigid ones first. */
static int mixed_index(const mn_bodies *b, const part *p)
{
  mn_rigid *rigid = mn_solids_rigid(b->solids);
  return p->def->kind == MN_BODY_RIGID ? p->index : (rigid ? rigid->count : 0) + p->index;
}

void mn_bodies_label(const mn_bodies *b, int index, char *text, size_t size)
{
  static const char *const sides[6] = {"left", "right", "bottom", "top", "back", "front"};
  int rigid = mn_solids_rigid(b->solids)->count, count = 0;
  for (int i = 0; i < b->count; i++) {
    const part *p = &b->part[i];
    int is_rigid = p->def->kind == MN_BODY_RIGID;
    count += is_rigid;
    if (index != (is_rigid ? p->index : rigid + p->index))
      continue;
    if (*p->def->name)
      snprintf(text, size, "body \"%s\"", p->def->name);
    else
      snprintf(text, size, "body %d", i + 1);
    return;
  }
  for (int i = 0; i < b->model->solid_count; i++, count++)
    if (count == index && *b->model->solids[i].name)
      snprintf(text, size, "obstacle \"%s\"", b->model->solids[i].name);
    else if (count == index)
      snprintf(text, size, "obstacle %d", i + 1);
  for (int s = 0; s < 6; s++)
    if (b->side[s] && count++ == index)
      snprintf(text, size, "the domain's %s side", sides[s]);
}

/* A body beyond an open side, of which nothing is in the domain; beyond a closed one it overlaps.
   Prescribed bodies may come from there. */
static mn_status check_outside(const mn_bodies *b, int i)
{
  const mn_domain_def *d = &b->model->domain;
  const part *p = &b->part[i];
  char name[96] = "a body";
  mn_vec3 lo, hi;
  mn_body_extent(&p->mesh, &lo, &hi);
  for (int a = 0; a < b->dim && !p->def->moving; a++) {
    double low = d->origin.v[a], high = low + d->size.v[a];
    if (hi.v[a] >= low && lo.v[a] <= high)
      continue;
    mn_bodies_label(b, mixed_index(b, p), name, sizeof name);
    return mn_fail(b->ctx, MN_BAD_INPUT,
                   "solids: %s lies outside the domain: it goes from %.4g to %.4g m along axis %d, "
                   "the domain from %.4g to %.4g; move it or set dynamics.check_start = false",
                   name, lo.v[a], hi.v[a], a + 1, low, high);
  }
  return MN_OK;
}

static mn_status check_start(mn_bodies *b)
{
  mn_overlap o;
  char one[96] = "a body", other[96] = "a body";
  for (int i = 0; i < b->count; i++)
    MN_TRY(check_outside(b, i));
  MN_TRY(mn_solids_overlap(b->solids, START_OVERLAP, &o));
  if (o.a < 0)
    return MN_OK;
  mn_bodies_label(b, o.a, one, sizeof one);
  mn_bodies_label(b, o.b, other, sizeof other);
  return mn_fail(b->ctx, MN_BAD_INPUT,
                 "solids: %s lies %.4g m deep in %s at the start; allowed: %.4g m. Move one of "
                 "them, set collides = false for it, or dynamics.check_start = false",
                 one, o.depth, other, START_OVERLAP * o.size);
}

static mn_status check_points(const mn_bodies *b)
{
  char key[160];
  for (int i = 0; i < b->model->probe_count; i++) {
    const mn_probe_def *probe = &b->model->probes[i];
    const part *p = find_part(b, probe->of);
    int points = probe->kind == MN_PROBE_POSITION || probe->kind == MN_PROBE_BODY_VELOCITY;
    snprintf(key, sizeof key, "probe \"%s\": at", probe->name);
    if (points && probe->at_point && p)
      MN_TRY(mn_body_has_point(b->ctx, b->dim, p->def, &p->mesh, probe->at, key));
  }
  for (int i = 0; i < b->model->link_count; i++) {
    const mn_link_def *l = &b->model->links[i];
    const part *of = find_part(b, l->of), *to = find_part(b, l->to);
    snprintf(key, sizeof key, "solids: link %d.at", i + 1);
    MN_TRY(mn_body_has_point(b->ctx, b->dim, of->def, &of->mesh, l->at, key));
    snprintf(key, sizeof key, "solids: link %d.to_at", i + 1);
    if (to)
      MN_TRY(mn_body_has_point(b->ctx, b->dim, to->def, &to->mesh, l->to_at, key));
  }
  return MN_OK;
}

static mn_status build(mn_bodies *b)
{
  MN_TRY(MN_NEW(b->ctx, "bodies", (size_t)b->model->body_count, &b->part));
  MN_TRY(MN_NEW(b->ctx, "views of bodies", (size_t)b->model->body_count, &b->view));
  for (int i = 0; i < b->model->body_count; i++) {
    b->count = i + 1;
    mn_status status = make_part(b, &b->model->bodies[i], &b->part[i]);
    if (status != MN_OK)
      return blame(b, i, status);
  }
  MN_TRY(check_points(b));
  MN_TRY(make_solids(b));
  b->box = mn_solids_box(b->solids);
  return b->model->dynamics.check_start ? check_start(b) : MN_OK;
}

mn_status mn_bodies_create(mn_context *ctx, const mn_model_def *def, mn_bodies **out)
{
  *out = NULL;
  if (!def->body_count)
    return MN_OK;
  mn_bodies *b;
  MN_TRY(MN_NEW(ctx, "bodies", 1, &b));
  b->ctx = ctx;
  b->model = def;
  b->dim = def->domain.dim;
  mn_status status = build(b);
  if (status != MN_OK)
    mn_bodies_destroy(&b);
  *out = b;
  return status;
}

void mn_bodies_destroy(mn_bodies **bodies)
{
  mn_bodies *b = *bodies;
  if (!b)
    return;
  mn_solids_destroy(&b->solids);
  for (int i = 0; i < b->count && b->part; i++) {
    part *p = &b->part[i];
    mn_simplex_mesh_destroy(&p->mesh);
    mn_free(p->facet);
    mn_free(p->x);
    mn_free(p->v);
    mn_free(p->stress);
    mn_free(p->jacobian);
  }
  for (int s = 0; s < 6; s++)
    mn_shape_destroy(&b->side[s]);
  mn_free(b->part);
  mn_free(b->view);
  mn_free(b);
  *bodies = NULL;
}

mn_solid mn_bodies_box(mn_bodies *b)
{
  return b->box;
}

/* ---- looking --------------------------------------------------------------------------------- */

mn_body_totals mn_bodies_measure(mn_bodies *b)
{
  mn_rigid *rigid = mn_solids_rigid(b->solids);
  mn_deform *deform = mn_solids_deform(b->solids);
  mn_vec3 g = b->model->dynamics.gravity;
  mn_body_totals t = {0};
  if (rigid) {
    t.kinetic_energy += mn_rigid_kinetic(rigid, -1);
    t.potential_energy += mn_rigid_potential(rigid, -1);
    t.elastic_energy += mn_rigid_spring_energy(rigid);
  }
  if (deform) {
    mn_deform_view view = mn_deform_get(deform);
    t.kinetic_energy += mn_deform_kinetic(deform, -1);
    t.elastic_energy += mn_deform_elastic(deform, -1);
    for (size_t i = 0; i < view.nodes; i++)
      t.potential_energy -= view.mass[i] * mn_dot(g, view.x[i]);
  }
  t.momentum = mn_solids_momentum(b->solids, -1);
  t.angular = mn_solids_angular(b->solids, -1, mn_v3(0, 0, 0));
  return t;
}

static mn_body_view look_rigid(mn_bodies *b, part *p)
{
  mn_rigid *rigid = mn_solids_rigid(b->solids);
  const mn_rigid_body *body = &rigid->body[p->index];
  const mn_rigid_state *s = &rigid->now[p->index];
  mn_twist twist = mn_rigid_twist(body, s);
  for (size_t i = 0; i < p->mesh.nodes; i++) {
    p->x[i] = mn_rigid_point(body, s, p->mesh.node[i]);
    p->v[i] = mn_twist_at(twist, mn_sub(p->x[i], s->x));
  }
  return (mn_body_view){.x = p->x, .v = p->v, .rigid = 1};
}

static mn_body_view look_deformable(mn_bodies *b, part *p)
{
  mn_deform *deform = mn_solids_deform(b->solids);
  mn_deform_view nodes = mn_deform_get(deform);
  const mn_deform_body *body = &nodes.body[p->index];
  mn_body_view view = {.x = nodes.x + body->first,
                       .v = nodes.v + body->first,
                       .thin = p->def->kind != MN_BODY_ELASTIC};
  if (p->def->kind == MN_BODY_SPRINGS || p->def->kind == MN_BODY_ROD) {
    mn_deform_tension(deform, p->index, p->stress);
    view.tension = p->stress;
    return view;
  }
  mn_deform_stress(deform, p->index, NULL, p->stress);
  view.stress = p->stress;
  if (p->def->kind == MN_BODY_ELASTIC) {
    mn_deform_volume_ratio(deform, p->index, p->jacobian);
    view.jacobian = p->jacobian;
  }
  return view;
}

mn_status mn_bodies_look(mn_bodies *b, const mn_body_view **views, int *count)
{
  *views = NULL;
  *count = 0;
  if (!b)
    return MN_OK;
  for (int i = 0; i < b->count; i++) {
    part *p = &b->part[i];
    mn_body_view v = p->def->kind == MN_BODY_RIGID ? look_rigid(b, p) : look_deformable(b, p);
    v.name = p->def->name;
    v.dim = b->dim;
    v.corners = p->mesh.corners;
    v.order = p->mesh.order;
    v.points = p->mesh.nodes;
    v.cells = p->mesh.elements;
    v.cell = p->mesh.element;
    v.facets = p->facets;
    v.facet = p->facet;
    b->view[i] = v;
  }
  *views = b->view;
  *count = b->count;
  return MN_OK;
}

/* ---- probes ---------------------------------------------------------------------------------- */

/* The node nearest to `at` at rest, or of a rigid body the point itself. */
static void point_of(mn_bodies *b, part *p, mn_vec3 at, mn_vec3 *x, mn_vec3 *v)
{
  if (p->def->kind == MN_BODY_RIGID) {
    mn_rigid *rigid = mn_solids_rigid(b->solids);
    const mn_rigid_state *s = &rigid->now[p->index];
    *x = mn_rigid_point(&rigid->body[p->index], s, at);
    *v = mn_twist_at(mn_rigid_twist(&rigid->body[p->index], s), mn_sub(*x, s->x));
    return;
  }
  mn_deform_view view = mn_deform_get(mn_solids_deform(b->solids));
  const mn_deform_body *body = &view.body[p->index];
  uint32_t best = body->first;
  for (uint32_t i = body->first; i < body->first + body->nodes; i++)
    if (mn_length(mn_sub(view.rest[i], at)) < mn_length(mn_sub(view.rest[best], at)))
      best = i;
  *x = view.x[best];
  *v = view.v[best];
}

static double body_energy(mn_bodies *b, const part *p)
{
  if (!p) {
    mn_body_totals t = mn_bodies_measure(b);
    return t.kinetic_energy + t.elastic_energy;
  }
  if (p->def->kind == MN_BODY_RIGID)
    return mn_rigid_kinetic(mn_solids_rigid(b->solids), p->index);
  mn_deform *deform = mn_solids_deform(b->solids);
  return mn_deform_kinetic(deform, p->index) + mn_deform_elastic(deform, p->index);
}

static double mean_velocity(mn_bodies *b, const part *p, int axis)
{
  if (p->def->kind == MN_BODY_RIGID)
    return mn_solids_rigid(b->solids)->now[p->index].v.v[axis];
  mn_deform *deform = mn_solids_deform(b->solids);
  return mn_deform_momentum(deform, p->index).v[axis] / mn_deform_get(deform).body[p->index].mass;
}

double mn_bodies_probe(mn_bodies *b, const mn_probe_def *probe)
{
  part *p = NULL;
  for (int i = 0; i < b->count; i++)
    if (*probe->of && !strcmp(probe->of, b->part[i].def->name))
      p = &b->part[i];
  if (probe->kind == MN_PROBE_BODY_ENERGY)
    return body_energy(b, p);
  if (!p)
    return NAN;
  mn_deform *deform = mn_solids_deform(b->solids);
  double most, mean;
  mn_vec3 x, v;
  switch (probe->kind) {
  case MN_PROBE_POSITION:
  case MN_PROBE_BODY_VELOCITY:
    if (!probe->at_point)
      return probe->kind == MN_PROBE_POSITION
                 ? mn_solids_center(b->solids, mixed_index(b, p)).v[probe->axis]
                 : mean_velocity(b, p, probe->axis);
    point_of(b, p, probe->at, &x, &v);
    return probe->kind == MN_PROBE_POSITION ? x.v[probe->axis] : v.v[probe->axis];
  case MN_PROBE_FORCE:
    return mn_solids_force(b->solids, mixed_index(b, p)).v[probe->axis];
  case MN_PROBE_ANGLE:
    return mn_rigid_angle(mn_solids_rigid(b->solids), p->index);
  case MN_PROBE_STRETCH:
    mn_deform_stretch(deform, p->index, &most, &mean);
    return most;
  case MN_PROBE_VOLUME_RATIO:
    return mn_deform_min_j(deform, p->index);
  case MN_PROBE_VOLUME:
    return p->def->kind == MN_BODY_RIGID ? mn_solids_rigid(b->solids)->body[p->index].volume
                                         : mn_deform_enclosed(deform, p->index);
  default:
    return NAN;
  }
}
