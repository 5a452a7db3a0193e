/* Contact between deformable and rigid bodies, inside the deformable bodies' implicit solve.

   Kicks on lumped nodes after a solve crush the elements behind them, and cloth feels them a step
   late; so here the solve is repeated with rows that press on the surface (deform_press.c). Of a
   touch with normal n (from the deformable to the rigid body), gap g0 at the start and force f,

       g1 = g0 + dt n.(u + N W dt (f - f')) - n.d,    f = max(0, f' - k g1)

   f': the force of the pass before, at first of the last substep: an augmented Lagrangian, whose
   penalty k = 100 times the diagonal of the implicit matrix only sets how fast passes agree: then
   g1 = 0. u: velocity of the rigid body's point when f' acted, W: its mobility, d: the way of the
   deformable point. f is eliminated: a softer row K = k/(1 + k s), s = dt^2 N W, with the gap
   g0 + dt n.u - f'/K. N, the touches of that body that carry force, splits its mass among them: all
   together cannot throw a body back, however light it is. Friction likewise, with the normal force
   of the pass before. The rigid bodies then drift with the same impulses, the other way round, at
   the points where the nodes' angular momentum feels them: momentum, and with the midpoint rule
   angular momentum, are conserved to what Newton's method leaves, whether or not the passes agree.
   Impacts do not bounce but by elasticity.

   Touches between deformable bodies (solid_meet.c, a = -1) are rows of the same kind with the nodes
   of both: no mobility, s = 0, k of the two surfaces one behind the other.

   Quadratic bodies have flat facets between all nodes of their surface here, as for the fluid
   (surface.h), and rigid bodies meet their nodes inside, too.

   Limits: planes are frozen for a pass; between its nodes a curved side of a quadratic element may
   reach beyond them, by an eighth of its height at most. Verified by
   tests/unit/solid/test_contact_elastic.c, test_contact_cloth.c, test_contact_flush.c,
   test_contact_quadratic.c. */
#include "solid/solid_internal.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"

static const double STIFFER = 100;      /* than the implicit matrix */
static const double STICK_SPEED = 1e-3; /* m/s: slower sliding is resisted in proportion */
static const double SOFTER = 10;   /* friction than the penalty, between deformable bodies: Newton's
                                     method then meets its kinks less often */
static const double AGREE = 1e-2;  /* change of a force, of the greatest */
static const double RECOVER = 0.2; /* of an overlap, in a substep */
static const double RECOVER_SPEED = 0.02; /* m/s, at most: what it adds to the energy is little */

/* Explicit bodies take small steps, for which kicks do. */
static int inside(const mn_solids *s)
{
  double sx, sv;
  return s->def.contacts && !s->def.contact.kicks && mn_deform_matrix(s->deform, &sx, &sv) != NULL;
}

/* Corners alone would leave quadratic bodies open between them: soft ones pour out through their
   middle nodes, which carry most of the mass. */
static mn_status cut_facets(mn_solids *s)
{
  size_t most = s->nodes.facets * (s->def.contact.middles ? MN_FACET_PARTS_MAX : 1);
  MN_TRY(MN_NEW(s->ctx, "flat facets", most, &s->flat));
  for (size_t i = 0; i < s->nodes.facets; i++) {
    const mn_facet *f = &s->nodes.facet[i];
    if (s->def.contact.middles)
      s->flats += (size_t)mn_facet_parts(f, s->flat + s->flats);
    else
      s->flat[s->flats++] = *f;
  }
  return MN_NEW(s->ctx, "nodes within bodies", s->nodes.nodes, &s->within);
}

mn_status mn_solids_press_create(mn_solids *s)
{
  size_t n = (size_t)s->rigid->count, m = s->nodes.nodes;
  MN_TRY(MN_NEW(s->ctx, "contact impulses", n, &s->press_P));
  MN_TRY(MN_NEW(s->ctx, "contact impulses", n, &s->press_T));
  MN_TRY(MN_NEW(s->ctx, "contact velocities", n, &s->first_u));
  MN_TRY(MN_NEW(s->ctx, "contact shares", n, &s->share));
  MN_TRY(MN_NEW(s->ctx, "node velocities", m, &s->press_free));
  MN_TRY(MN_NEW(s->ctx, "node velocities", m, &s->press_v));
  MN_TRY(MN_NEW(s->ctx, "node stiffnesses", m, &s->press_stiffness));
  MN_TRY(MN_NEW(s->ctx, "node frictions", m, &s->node_friction));
  for (int b = 0; b < s->nodes.bodies; b++) {
    const mn_deform_body *body = &s->nodes.body[b];
    for (uint32_t i = body->first; i < body->first + body->nodes; i++)
      s->node_friction[i] = body->friction >= 0 ? body->friction : s->def.contact.node_friction;
  }
  MN_TRY(cut_facets(s));
  if (s->deform)
    MN_TRY(mn_meet_create(&s->meet, s->ctx, &s->nodes, s->flat, s->flats));
  return MN_NEW(s->ctx, "facets", s->flats, &s->facet);
}

void mn_solids_press_destroy(mn_solids *s)
{
  void *all[] = {s->node_friction, s->press_P,         s->press_T, s->first_u,         s->share,
                 s->press_free,    s->press_v,         s->facet,   s->press_stiffness, s->press,
                 s->touch.at,      s->touch_before.at, s->flat,    s->within};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    mn_free(all[i]);
  mn_meet_destroy(&s->meet);
}

/* All nodes of quadratic bodies count, also those inside. J > 0 at the points of quadrature does
   not keep a crushed element from turning over in between, so that a surface which is held does not
   hold what is behind it. */
static void find_within(mn_solids *s)
{
  if (!s->nodes.nodes || s->def.contact.middles < 2)
    return;
  memset(s->within, 0, s->nodes.nodes);
  for (int b = 0; b < s->nodes.bodies; b++) {
    const mn_deform_body *body = &s->nodes.body[b];
    const mn_facet *f = &s->nodes.facet[body->first_facet];
    if (body->collides && body->facets && f->nodes > f->corners)
      memset(s->within + body->first, 1, body->nodes);
  }
}

static void find_facets(mn_solids *s)
{
  find_within(s);
  s->facets = 0;
  for (size_t i = 0; i < s->flats; i++)
    if (s->nodes.body[s->flat[i].body].collides)
      s->facet[s->facets++] = s->flat[i];
}

void mn_solids_press_begin(mn_solids *s)
{
  double sx = 1, sv = 1;
  const mn_csr *A = s->deform ? mn_deform_matrix(s->deform, &sx, &sv) : NULL;
  s->inside = s->deform && inside(s);
  find_facets(s);
  for (size_t i = 0; A && i < s->nodes.nodes; i++) {
    s->press_stiffness[i] = 0;
    for (int a = 0; a < s->def.dim; a++) {
      int64_t row = (int64_t)i * s->def.dim + a;
      for (int64_t e = A->start[row]; e < A->start[row + 1]; e++)
        if (A->col[e] == row)
          s->press_stiffness[i] = mn_max(s->press_stiffness[i], STIFFER * A->value[e] / sx);
    }
  }
}

static mn_status find(mn_solids *s, int pass)
{
  mn_touches old = s->touch_before;
  s->touch_before = s->touch;
  s->touch = old;
  if (pass == 0)
    s->touch_before.count = 0;
  for (size_t i = 0; i < s->nodes.nodes; i++)
    s->press_v[i] = mn_scale(1 / s->dt, mn_sub(s->nodes.x1[i], s->nodes.x[i]));
  if (pass == 0 && s->nodes.nodes)
    memcpy(s->press_free, s->press_v, s->nodes.nodes * sizeof *s->press_v);
  mn_contact_nodes nodes = {.count = s->nodes.nodes,
                            .facets = s->facets,
                            .x = s->nodes.x,
                            .v = s->press_v,
                            .mass = s->nodes.mass,
                            .fixed = s->nodes.fixed,
                            .facet = s->facet,
                            .friction = s->node_friction,
                            .within = s->within};
  MN_TRY(mn_contact_find_nodes(s->contact, s->rigid->now, s->first_u, s->u, &nodes, s->press_free,
                               s->dt, &s->touch));
  return mn_meet_find(&s->meet, &s->nodes, &nodes, s->press_free, &s->def.contact, s->rigid->count,
                      s->dt, &s->touch); /* keys above those of rigid bodies */
}

static int order(const mn_touch_key *a, const mn_touch_key *b)
{
  if (a->a != b->a)
    return a->a < b->a ? -1 : 1;
  if (a->b != b->b)
    return a->b < b->b ? -1 : 1;
  return a->feature < b->feature ? -1 : a->feature > b->feature;
}

/* The forces of the pass before; both lists rise. */
static void take_forces(mn_solids *s)
{
  size_t k = 0;
  for (size_t i = 0; i < s->touch.count; i++) {
    mn_touch *t = &s->touch.at[i];
    const mn_touch *b = s->touch_before.at;
    while (k < s->touch_before.count && order(&b[k].key, &t->key) < 0)
      k++;
    int same = k < s->touch_before.count && order(&b[k].key, &t->key) == 0;
    t->impulse = same ? b[k].impulse : 0;
    t->tangent = same ? b[k].tangent : mn_v3(0, 0, 0);
  }
}

/* N/m, of the penalty; between deformable bodies of both surfaces, one behind the other. */
static double stiffness_of(const mn_solids *s, const mn_touch *t)
{
  double own = 0, other = 0;
  for (int q = 0; q < t->nodes; q++)
    if (t->weight[q] > 0)
      own += t->weight[q] * s->press_stiffness[t->node[q]];
    else
      other -= t->weight[q] * s->press_stiffness[t->node[q]];
  return t->a >= 0 ? own : own * other / (own + other);
}

/* Whether two deformable bodies that meet both fill space: then it is known what overlaps. */
static int both_filled(const mn_solids *s, const mn_touch *t)
{
  int64_t other = t->key.b - s->rigid->count - (int64_t)s->nodes.nodes;
  return s->meet.body[s->meet.node_body[t->node[0]]].one_sided && s->meet.body[other].one_sided;
}

/* How far the surface may go on. Within the thickness it stays where it is: what starts there, laid
   flush on a floor or on another body, is not thrown up by the thickness. Only what overlaps is
   moved out, slowly. Thin bodies part up to the thickness: they know no inside. */
static double room(const mn_solids *s, const mn_touch *t)
{
  double overlap = -t->gap - s->def.contact.thickness;
  if (t->a < 0 && !both_filled(s, t))
    return t->gap;
  if (overlap > 0)
    return -mn_min(RECOVER * overlap, RECOVER_SPEED * s->dt);
  return mn_max(0, t->gap);
}

static mn_status make_rows(mn_solids *s, int pass)
{
  if (s->touch.count > s->press_capacity) {
    size_t more = s->touch.count + s->touch.count / 2 + 64;
    MN_TRY(
        mn_grow(s->ctx, "contacts", s->press_capacity, more, sizeof *s->press, (void **)&s->press));
    s->press_capacity = more;
  }
  memset(s->share, 0, (size_t)s->rigid->count * sizeof *s->share);
  for (size_t i = 0; i < s->touch.count; i++)
    if (s->touch.at[i].a >= 0)
      s->share[s->touch.at[i].a] += pass == 0 || s->touch.at[i].impulse > 0;
  for (int i = 0; i < s->rigid->count; i++)
    s->share[i] = mn_max(1, s->share[i]);
  for (size_t i = 0; i < s->touch.count; i++) {
    mn_touch *t = &s->touch.at[i];
    double normal = 0, tangent = 0, split = 0, k = stiffness_of(s, t);
    mn_vec3 u = {0};
    if (t->a >= 0) {
      mn_touch_mobility(s->contact, s->rigid->now, t, &normal, &tangent);
      u = mn_twist_at(s->u[t->a], t->ra);
      split = s->dt * s->dt * s->share[t->a];
    }
    mn_press *p = &s->press[i];
    *p = (mn_press){.nodes = t->nodes, .n = t->n, .across = t->a < 0};
    for (int q = 0; q < t->nodes; q++) {
      p->node[q] = t->node[q];
      p->weight[q] = t->weight[q];
    }
    p->stiffness = k / (1 + k * split * normal);
    p->gap = room(s, t) + s->dt * mn_dot(t->n, u) - (split * normal + 1 / k) * t->impulse;
    p->friction = t->friction * t->impulse;
    double soft = split * tangent + (t->a < 0 ? SOFTER / k : 0);
    p->stick = s->dt * STICK_SPEED + p->friction * soft;
    double slack = p->friction > 0 ? p->stick / p->friction : soft;
    p->slide = mn_madd(mn_scale(s->dt, u), -slack, t->tangent);
    t->mass = k; /* of the surface alone: how deep it is pressed */
  }
  return MN_OK;
}

/* A force of a touch on its rigid body, for the substep. */
static void push(mn_solids *s, const mn_touch *t, mn_vec3 arm, mn_vec3 force)
{
  s->press_P[t->a] = mn_madd(s->press_P[t->a], s->dt, force);
  s->press_T[t->a] = mn_madd(s->press_T[t->a], s->dt, mn_cross(arm, force));
}

/* Where a force on nodes acts, as angular momentum counts it: m x1 cross v1 grows by the torque at
   x1 - dt v for backward Euler, at the middle for the midpoint rule. */
static mn_vec3 acts_at(const mn_solids *s, const mn_touch *t)
{
  mn_vec3 at = {0};
  int euler = mn_deform_scheme(s->deform) == MN_BACKWARD_EULER;
  for (int q = 0; q < t->nodes; q++) {
    uint32_t i = t->node[q];
    mn_vec3 y = euler ? mn_madd(s->nodes.x1[i], -s->dt, s->nodes.v[i])
                      : mn_scale(0.5, mn_add(s->nodes.x[i], s->nodes.x1[i]));
    at = mn_madd(at, t->weight[q], y);
  }
  return at;
}

/* Forces to impulses on the rigid bodies; how much they changed. */
static void take_impulses(mn_solids *s, double *change, double *most)
{
  size_t n = (size_t)s->rigid->count;
  memset(s->press_P, 0, n * sizeof *s->press_P);
  memset(s->press_T, 0, n * sizeof *s->press_T);
  *change = *most = s->report.pressed = 0;
  for (size_t i = 0; i < s->touch.count; i++) {
    mn_touch *t = &s->touch.at[i];
    const mn_press *p = &s->press[i];
    mn_vec3 force = mn_scale(-1, p->force), before = mn_madd(t->tangent, t->impulse, t->n);
    *change = mn_max(*change, mn_length(mn_sub(force, before)));
    *most = mn_max(*most, mn_length(force));
    s->report.pressed = mn_max(s->report.pressed, (p->normal - t->impulse) / t->mass);
    t->impulse = p->normal;
    t->tangent = mn_madd(force, -p->normal, t->n);
    if (t->a >= 0)
      push(s, t, mn_sub(acts_at(s, t), s->rigid->now[t->a].x), force);
  }
}

mn_status mn_solids_press_find(mn_solids *s)
{
  MN_TRY(find(s, 0));
  mn_contact_guess(s->contact, &s->touch);
  s->report.press_depth = 0;
  for (size_t i = 0; i < s->touch.count; i++) {
    mn_touch *t = &s->touch.at[i];
    s->report.press_depth = mn_max(s->report.press_depth, -t->gap - s->def.contact.thickness);
    if (t->a < 0) /* the rows hold both sides */
      continue;
    t->ra = mn_sub(t->at, s->rigid->now[t->a].x);
    push(s, t, t->ra, mn_madd(t->tangent, t->impulse, t->n));
  }
  return MN_OK;
}

mn_status mn_solids_press(mn_solids *s, int pass, int *agreed)
{
  double change, most;
  if (pass > 0) {
    MN_TRY(find(s, pass));
    take_forces(s);
  }
  *agreed = s->touch.count == 0 && pass == 0;
  if (*agreed)
    return MN_OK;
  MN_TRY(make_rows(s, pass));
  mn_deform_set_press(s->deform, s->press, s->touch.count);
  MN_TRY(mn_deform_solve(s->deform, s->node_load, &s->report.deform));
  take_impulses(s, &change, &most);
  s->report.press_touches = (int)s->touch.count;
  *agreed = change <= AGREE * most;
  return MN_OK;
}

mn_status mn_solids_press_any(mn_solids *s, int *any)
{
  size_t n = (size_t)s->rigid->count;
  *any = 0;
  if (!s->deform || !s->def.contacts)
    return MN_OK;
  find_facets(s);
  if (n) {
    memcpy(s->u, s->free, n * sizeof *s->u);
    memcpy(s->first_u, s->free, n * sizeof *s->u);
  }
  MN_TRY(find(s, 0));
  *any = s->touch.count > 0;
  s->touch.count = 0;
  return MN_OK;
}
