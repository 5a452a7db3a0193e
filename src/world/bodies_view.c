/* What others see of the bodies: sums, views for files and pictures, probes. */
#include "world/bodies_parts.h"

#include <math.h>

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

static mn_body_view look_rigid(mn_bodies *b, mn_body_part *p)
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

static mn_body_view look_deformable(mn_bodies *b, mn_body_part *p)
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
    mn_body_part *p = &b->part[i];
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
static void point_of(mn_bodies *b, const mn_body_part *p, mn_vec3 at, mn_vec3 *x, mn_vec3 *v)
{
  if (p->def->kind == MN_BODY_RIGID) {
    mn_rigid *rigid = mn_solids_rigid(b->solids);
    const mn_rigid_state *s = &rigid->now[p->index];
    *x = mn_rigid_point(&rigid->body[p->index], s, at);
    *v = mn_twist_at(mn_rigid_twist(&rigid->body[p->index], s), mn_sub(*x, s->x));
    return;
  }
  mn_deform *deform = mn_solids_deform(b->solids);
  mn_deform_view view = mn_deform_get(deform);
  uint32_t best = mn_bodies_nearest_node(deform, p, at);
  *x = view.x[best];
  *v = view.v[best];
}

static double body_energy(mn_bodies *b, const mn_body_part *p)
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

static double mean_velocity(mn_bodies *b, const mn_body_part *p, int axis)
{
  if (p->def->kind == MN_BODY_RIGID)
    return mn_solids_rigid(b->solids)->now[p->index].v.v[axis];
  mn_deform *deform = mn_solids_deform(b->solids);
  return mn_deform_momentum(deform, p->index).v[axis] / mn_deform_get(deform).body[p->index].mass;
}

double mn_bodies_probe(mn_bodies *b, const mn_probe_def *probe)
{
  const mn_body_part *p = mn_bodies_find(b, probe->of);
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
                 ? mn_solids_center(b->solids, mn_bodies_mixed_index(b, p)).v[probe->axis]
                 : mean_velocity(b, p, probe->axis);
    point_of(b, p, probe->at, &x, &v);
    return probe->kind == MN_PROBE_POSITION ? x.v[probe->axis] : v.v[probe->axis];
  case MN_PROBE_FORCE:
    return mn_solids_force(b->solids, mn_bodies_mixed_index(b, p)).v[probe->axis];
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
