/* One substep of rigid and deformable bodies with contact.

   With h = theta dt (theta = 1/2: order 2, theta = 1: order 1), forces F and torques T at the pose
   of theta, springs implicit, contact impulses l (drift) and k (settling):

       u      = v^n + M^-1 (h F_theta + l)        at the pose of the start
       x^n+1  = x^n + dt u                        (turns: rigid_move.c)
       v^n+1  = u + M^-1 ((dt - h) F_theta + k)   at the new pose

   which for theta = 1/2 is the implicit midpoint rule, for theta = 1 backward Euler, and with
   contact keeps momentum and angular momentum of pairs. F_theta depends on u through the pose:
   passes repeat until u stands still; one is enough without springs, hinges and turning loads.
   Deformable bodies solve first, and feel contact in their implicit solve, which is repeated:
   solid_press.c. Of explicit ones contact then kicks the lumped nodes, x += dt k, v += k
   [Bridson 2002]: their stiffness feels it in the next substep. Such a kick keeps angular momentum
   if it acts at x - dt v (the place of the start for backward Euler), so that is where gaps are
   measured and from where nodes travel with v.
   Verified by tests/unit/solid/test_solid_box.c, test_rigid_joint.c, test_contact*.c. */
#include "solid/solid_internal.h"

#include <float.h>
#include <string.h>

#include "base/status.h"

enum { PASSES = 50, PRESSES = 8 };
static const double STILL = 1e-13; /* of the greatest speed: u stands still */
static const double AGREED = 1e-5; /* the same, for links that are too stiff for that */

/* Torque of the loads about the centre, the body turned by q. */
static mn_vec3 load_torque(const mn_solids *s, int i, mn_quat q)
{
  return mn_add(s->twist[i], mn_cross(mn_quat_rotate(q, s->arm[i]), s->load[i]));
}

/* The forces of added masses, the same way. */
static void add_added(mn_solids *s, int i)
{
  const mn_heavy *h = &s->heavy[i];
  mn_vec3 arm = mn_quat_rotate(s->theta[i].q, s->arm[i]);
  s->force[i] = mn_add(s->force[i], h->load);
  s->torque[i] = mn_add(s->torque[i], mn_add(h->twist, mn_cross(arm, h->load)));
}

void mn_solids_set_theta(mn_solids *s, double h)
{
  for (int i = 0; i < s->rigid->count; i++) {
    const mn_rigid_body *b = &s->rigid->body[i];
    mn_rigid_state *p = &s->theta[i];
    *p = s->rigid->now[i];
    if (b->def.joint == MN_JOINT_HINGE || b->def.joint == MN_JOINT_PRISMATIC) {
      p->rate = b->def.joint == MN_JOINT_HINGE ? mn_dot(b->def.axis, s->u[i].w)
                                               : mn_dot(b->def.axis, s->u[i].v);
      mn_rigid_drift(b, p, h);
      continue;
    }
    p->x = mn_madd(p->x, h, s->u[i].v);
    if (mn_dot(s->u[i].w, s->u[i].w) > 0)
      p->q = mn_quat_unit(mn_quat_mul(mn_quat_exp(mn_scale(h, s->u[i].w)), p->q));
  }
}

/* Force and torque about the centre at the pose of theta. */
static void set_forces(mn_solids *s, double h)
{
  for (int i = 0; i < s->rigid->count; i++) {
    const mn_rigid_body *b = &s->rigid->body[i];
    if (!b->moves)
      continue;
    mn_rigid_external(b, s->t + h, &s->force[i], &s->torque[i]);
    s->force[i] = mn_madd(mn_add(s->force[i], s->load[i]), b->mass, s->rigid->gravity);
    s->torque[i] = mn_add(s->torque[i], load_torque(s, i, s->theta[i].q));
    if (s->rigid_added && s->heavy[i].any)
      add_added(s, i);
  }
}

/* A kick by force and torque for h, where the body's place in `r` may differ from that of theta,
   to which the lever of a hinge refers. */
static void push_by_forces(const mn_solids *s, int i, double h, mn_rigid_state *r)
{
  mn_vec3 T = s->torque[i];
  if (s->rigid->body[i].def.joint == MN_JOINT_HINGE)
    T = mn_add(T, mn_cross(mn_sub(s->theta[i].x, r->x), s->force[i]));
  mn_rigid_kick(&s->rigid->body[i], r, mn_scale(h, s->force[i]), mn_scale(h, T));
}

/* Three rows of a spring, linearised at theta: along it, and across it where that is stable. */
static void spring_rows(mn_solids *s, int i, double h, mn_soft_row row[3])
{
  const mn_spring_def *k = &s->rigid->spring[i];
  mn_spring_pose o = mn_spring_at_theta(s, i);
  for (int c = 0; c < 3; c++)
    row[c] = (mn_soft_row){.a = k->a,
                           .b = k->b,
                           .ra = o.arm[0],
                           .rb = o.arm[1],
                           .d = o.axis[c],
                           .force = o.force.v[c],
                           .rate = o.rate[c],
                           .at = mn_dot(o.axis[c], o.speed),
                           .h = h,
                           .impulse = o.rate[c] > 0 ? row[c].impulse : 0};
}

/* The same for a spring of torsion: a row at unit distance from the hinge's axis, across it. */
static void torsion_rows(mn_solids *s, int i, double h, mn_soft_row row[3])
{
  const mn_spring_def *k = &s->rigid->spring[i];
  const mn_rigid_body *b = &s->rigid->body[k->a];
  mn_vec3 axis = b->def.axis, e = fabs(axis.x) < 0.6 ? mn_v3(1, 0, 0) : mn_v3(0, 1, 0);
  e = mn_cross(axis, e);
  e = mn_scale(1 / mn_length(e), e);
  double guess = row[0].impulse;
  row[0] = (mn_soft_row){.a = k->a, .b = -1, .d = mn_cross(axis, e), .h = h, .impulse = guess};
  row[0].ra = mn_sub(mn_add(b->def.point, e), s->rigid->now[k->a].x);
  row[0].at = mn_dot(axis, s->u[k->a].w);
  row[0].rate = h * k->stiffness + k->damping;
  row[0].force = k->stiffness * (s->theta[k->a].s - k->length) + k->damping * row[0].at;
  row[1] = row[2] = (mn_soft_row){.a = k->a, .b = -1, .d = row[0].d, .h = h};
}

static void sum_springs(mn_solids *s)
{
  memset(s->spring_P, 0, (size_t)s->rigid->count * sizeof *s->spring_P);
  memset(s->spring_at, 0, (size_t)s->rigid->count * sizeof *s->spring_at);
  for (int i = 0; i < 3 * s->rigid->springs; i++) {
    const mn_soft_row *r = &s->soft[i];
    mn_vec3 p = mn_scale(r->impulse, r->d);
    s->spring_P[r->a] = mn_add(s->spring_P[r->a], p);
    s->spring_at[r->a] = mn_add(s->spring_at[r->a], mn_cross(r->ra, p));
    if (r->b >= 0) {
      s->spring_P[r->b] = mn_sub(s->spring_P[r->b], p);
      s->spring_at[r->b] = mn_sub(s->spring_at[r->b], mn_cross(r->rb, p));
    }
  }
}

static void push_by_springs(const mn_solids *s, int i, double times, mn_rigid_state *r)
{
  mn_vec3 T = s->spring_at[i];
  if (s->rigid->body[i].def.joint == MN_JOINT_HINGE)
    T = mn_add(T, mn_cross(mn_sub(s->rigid->now[i].x, r->x), s->spring_P[i]));
  mn_rigid_kick(&s->rigid->body[i], r, mn_scale(times, s->spring_P[i]), mn_scale(times, T));
}

/* Whether the forces depend on where the bodies will be. */
static int depends(const mn_solids *s)
{
  if (s->rigid->springs || s->rigid_added)
    return 1;
  for (int i = 0; i < s->rigid->count; i++)
    if (s->rigid->body[i].def.joint == MN_JOINT_HINGE ||
        (s->rigid->body[i].def.joint == MN_JOINT_NONE && s->point_count[i] &&
         mn_dot(s->load[i], s->load[i]) > 0))
      return 1;
  return 0;
}

static mn_contact_nodes node_view(const mn_solids *s, const double *mass, const mn_vec3 *x,
                                  mn_vec3 *v)
{
  if (!s->deform || !s->def.contacts)
    return (mn_contact_nodes){0};
  return (mn_contact_nodes){.count = s->nodes.nodes,
                            .facets = s->inside ? 0 : s->facets,
                            .x = x,
                            .v = v,
                            .mass = mass,
                            .fixed = s->nodes.fixed,
                            .facet = s->facet,
                            .friction = s->node_friction,
                            .within = s->inside ? NULL : s->within};
}

mn_twist mn_solids_driven(const mn_solids *s, int i)
{
  const mn_rigid_body *b = &s->rigid->body[i];
  const mn_rigid_state *now = &s->rigid->now[i], *next = &s->rigid->next[i];
  mn_quat turn = mn_quat_mul(next->q, mn_quat_conjugate(now->q));
  mn_twist twist = {.v = mn_scale(1 / s->dt, mn_sub(next->x, now->x))};
  if (b->def.joint == MN_JOINT_FIXED)
    twist.v = mn_scale(mn_timefn_mean(&b->def.slide_ramp, s->t, s->t + s->dt), b->def.slide);
  twist.w = mn_scale(1 / s->dt, mn_quat_log(turn));
  return twist;
}

/* u without contact, then with it; the change of u since the last pass. */
static mn_status drift_pass(mn_solids *s, double h, double *change, double *speed)
{
  mn_rigid *r = s->rigid;
  mn_solids_set_theta(s, h);
  mn_solids_added_loads(s);
  set_forces(s, h);
  for (int i = 0; i < r->count; i++) {
    const mn_rigid_body *b = &r->body[i];
    mn_rigid_state trial = r->now[i];
    if (b->moves) {
      push_by_forces(s, i, h, &trial);
      mn_rigid_kick(b, &trial, s->press_P[i], s->press_T[i]);
      s->free[i] = mn_rigid_twist(b, &trial);
    } else
      s->free[i] = mn_solids_driven(s, i);
  }
  mn_springs_levers(s);
  mn_solids_added_free(s);
  for (int i = 0; i < r->springs; i++)
    if (r->spring[i].torsion)
      torsion_rows(s, i, h, &s->soft[3 * i]);
    else
      spring_rows(s, i, h, &s->soft[3 * i]);
  for (size_t k = 0; k < s->nodes.nodes; k++) {
    s->node_v[k] = s->nodes.v1[k];
    s->node_x[k] = mn_madd(s->nodes.x1[k], -s->dt, s->nodes.v1[k]);
  }
  mn_contact_nodes nodes =
      node_view(s, s->soft_added ? s->node_mass : s->nodes.mass, s->node_x, s->node_v);
  MN_TRY(mn_contact_drift(s->contact, r->now, s->free, &nodes, s->soft, 3 * r->springs, s->dt, s->P,
                          s->T, s->push, &s->report.drift));
  s->report.swept += s->report.drift.work;
  for (int i = 0; i < r->springs; i++) {
    const mn_soft_row *row = &s->soft[3 * i];
    s->pull[i] = mn_v3(0, 0, 0);
    for (int k = 0; k < 3; k++)
      s->pull[i] = mn_madd(s->pull[i], row[k].impulse / h, row[k].d);
  }
  *change = *speed = 0;
  for (int i = 0; i < r->count; i++) {
    double size = isfinite(r->body[i].bound) ? r->body[i].bound : 0;
    mn_vec3 dv = mn_sub(s->free[i].v, s->u[i].v), dw = mn_sub(s->free[i].w, s->u[i].w);
    *change = mn_max(*change, mn_length(dv) + size * mn_length(dw));
    *speed = mn_max(*speed, mn_length(s->free[i].v) + size * mn_length(s->free[i].w));
    s->u[i] = s->free[i];
  }
  return MN_OK;
}

void mn_solids_move(const mn_rigid_body *b, mn_rigid_state *r, mn_twist push, double dt)
{
  if (b->def.joint == MN_JOINT_NONE) {
    mn_rigid_drift(b, r, dt);
    r->x = mn_madd(r->x, dt, push.v);
    r->L = mn_madd(r->L, -dt * b->mass, mn_cross(push.v, r->v)); /* keeps x cross p + L */
    if (mn_dot(push.w, push.w) > 0)
      r->q = mn_quat_unit(mn_quat_mul(mn_quat_exp(mn_scale(dt, push.w)), r->q));
    return;
  }
  double more = mn_dot(b->def.axis, b->def.joint == MN_JOINT_HINGE ? push.w : push.v);
  r->rate += more;
  mn_rigid_drift(b, r, dt);
  r->rate -= more;
  mn_rigid_kick(b, r, mn_v3(0, 0, 0), mn_v3(0, 0, 0)); /* velocities of the rate */
}

mn_status mn_solids_settle_contact(mn_solids *s)
{
  mn_rigid *r = s->rigid;
  memcpy(s->bare, r->next, (size_t)r->count * sizeof *s->bare);
  for (int i = 0; i < r->count; i++)
    s->u[i] = mn_rigid_twist(&r->body[i], &r->next[i]);
  mn_contact_nodes nodes = node_view(s, s->nodes.mass, s->nodes.x1, s->nodes.v1);
  MN_TRY(
      mn_contact_settle(s->contact, r->next, s->u, &nodes, s->dt, s->P, s->T, &s->report.settle));
  for (int i = 0; i < r->count; i++) {
    mn_rigid_state *b = &r->next[i];
    b->contact = mn_madd(b->contact, 1 / s->dt, s->P[i]);
    b->twist = mn_madd(b->twist, 1 / s->dt, s->T[i]);
    mn_rigid_kick(&r->body[i], b, s->P[i], s->T[i]);
  }
  return MN_OK;
}

/* Of mean velocities, from differences of places. */
static double rounding(const mn_solids *s)
{
  double far = 0;
  for (int i = 0; i < s->rigid->count; i++)
    if (s->heavy[i].any)
      far = mn_max(far, mn_length(s->rigid->now[i].x) + s->rigid->body[i].bound);
  return 8 * DBL_EPSILON * far / s->dt;
}

/* m/s, what rounding of places does to u by the stiffest spring. */
static double spring_rounding(const mn_solids *s)
{
  const mn_rigid *r = s->rigid;
  double far = 0, most = 1 / s->dt, h = mn_solids_part(s) * s->dt;
  for (int i = 0; i < r->count; i++)
    if (r->body[i].moves)
      far = mn_max(far, mn_length(r->now[i].x) + r->body[i].bound);
  for (int j = 0; j < r->springs; j++) {
    const mn_spring_def *k = &r->spring[j];
    double light = 1 / r->body[k->a].mass + (k->b >= 0 ? 1 / r->body[k->b].mass : 0);
    most = mn_max(most, h * k->stiffness * light);
  }
  return 256 * DBL_EPSILON * far * most;
}

static mn_status check_sweeps(const mn_solids *s)
{
  const mn_contact_report *drift = &s->report.drift;
  if (!drift->lost)
    return MN_OK;
  return mn_fail(s->ctx, MN_FAILED,
                 "contact: after %d sweeps the velocities of %d touches still change by %g m/s "
                 "(shorter substeps or lesser loads would do)",
                 drift->iterations, drift->touches, drift->residual);
}

/* Passes until u stands still. */
static mn_status find_drift(mn_solids *s, double h)
{
  int passes = depends(s) ? PASSES : 1;
  double change = 0, speed = 0;
  for (s->report.outer = 0; s->report.outer < passes; s->report.outer++) {
    MN_TRY(drift_pass(s, h, &change, &speed));
    MN_TRY(check_sweeps(s));
    if (change <= STILL * speed || (s->rigid_added && change <= rounding(s)))
      break;
  }
  s->report.outer_change = change;
  if (s->rigid->springs && !(change <= AGREED * speed + spring_rounding(s)))
    return mn_fail(s->ctx, MN_FAILED,
                   "links: %d passes over the rigid bodies do not agree, by %g of %g m/s (shorter "
                   "substeps or softer links would)",
                   s->report.outer, change, speed);
  return MN_OK;
}

/* Deformable bodies and the drift of rigid ones in turn; the drift is last: it has felt all. */
static mn_status press_and_drift(mn_solids *s, double h)
{
  size_t n = (size_t)s->rigid->count;
  int agreed = 0;
  memset(s->press_P, 0, n * sizeof *s->press_P);
  memset(s->press_T, 0, n * sizeof *s->press_T);
  MN_TRY(find_drift(s, h));
  memcpy(s->first_u, s->u, n * sizeof *s->u);
  s->report.pressed = s->report.press_depth = 0;
  s->report.press_touches = 0;
  s->touch.count = 0;
  if (s->inside && s->facets) {
    MN_TRY(mn_solids_press_find(s));
    if (s->touch.count) /* the forces of the last substep are the first guess */
      MN_TRY(find_drift(s, h));
  }
  for (s->report.presses = 0; s->inside && s->facets && s->report.presses < PRESSES && !agreed;) {
    MN_TRY(mn_solids_press(s, s->report.presses++, &agreed));
    if (s->touch.count || s->report.presses > 1) /* else all stays as it was */
      MN_TRY(find_drift(s, h));
  }
  for (size_t i = 0; i < n; i++) {
    s->P[i] = mn_add(s->P[i], s->press_P[i]);
    s->T[i] = mn_add(s->T[i], s->press_T[i]);
  }
  return MN_OK;
}

mn_status mn_solids_step(mn_solids *s)
{
  mn_rigid *r = s->rigid;
  double h = mn_solids_part(s) * s->dt;
  for (int i = 0; i < 3 * r->springs; i++)
    s->soft[i].impulse = 0;
  mn_springs_begin(s);
  for (int i = 0; i < r->count; i++)
    s->u[i] = mn_rigid_twist(&r->body[i], &r->now[i]);
  if (s->rigid_added)
    memset(s->push, 0, (size_t)r->count * sizeof *s->push);
  MN_TRY(press_and_drift(s, h));
  if (s->rigid_added) { /* of the last u: what is applied below carries bodies by just that */
    mn_solids_set_theta(s, h);
    mn_solids_added_loads(s);
    set_forces(s, h);
  }
  sum_springs(s);
  mn_solids_kicks(s, 0);
  for (size_t k = 0; k < s->nodes.nodes; k++) {
    mn_vec3 kick = mn_sub(s->node_v[k], s->nodes.v1[k]);
    s->nodes.x1[k] = mn_madd(s->nodes.x1[k], s->dt, kick);
    s->nodes.v1[k] = mn_add(s->nodes.v1[k], kick);
  }
  for (int i = 0; i < r->count; i++) {
    const mn_rigid_body *b = &r->body[i];
    mn_rigid_state *next = &r->next[i];
    if (b->moves) {
      *next = r->now[i];
      push_by_forces(s, i, h, next);
      push_by_springs(s, i, 1, next);
      mn_rigid_kick(b, next, s->P[i], s->T[i]);
      mn_solids_keep_drift(s, i, next);
      mn_solids_move(b, next, s->push[i], s->dt);
      push_by_forces(s, i, s->dt - h, next);
      push_by_springs(s, i, s->dt / h - 1, next);
    }
    next->load = s->load[i];
    next->torque = load_torque(s, i, s->theta[i].q);
    next->contact = mn_scale(1 / s->dt, s->P[i]);
    next->twist = mn_scale(1 / s->dt, s->T[i]);
  }
  mn_springs_settle(s);
  MN_TRY(mn_solids_settle_contact(s));
  mn_solids_kicks(s, 1);
  return MN_OK;
}
