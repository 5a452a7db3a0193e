/* Springs between rigid bodies, or to the world, in a substep.

   With d from end to end in the poses of theta, l its length and L that at rest, the pull is along
   d and

       k l (1 - L/m) + damping times the speed of stretching,   m = l               (order 1)
                                                                m = (l^n + l^n+1)/2 (order 2)

   In order 2 its work in the substep is then the change of k (l - L)^2/2, whatever the step and the
   stiffness [Simo 1992]: between points d = (d^n + d^n+1)/2, so that the work is
   k (1 - L/m) (d^n + d^n+1)/2 . (d^n+1 - d^n) = k (m - L) (l^n+1 - l^n). With m = l, the midpoint
   rule, a stiff link that turns gains energy without end. On bodies that turn, d is that mean but
   for the square of the angle in a substep, and what is missing acts on the speed of stretching,
   which the midpoint rule turns over in every substep if the link is stiff. So where it does, and
   the oscillation of the bodies alone has fewer than four substeps a period, an impulse along the
   spring takes that speed at the end, as RATTLE does for a rigid link [Andersen 1983]: momenta are
   kept, energy is kept but for what the start had of it.

   Iterations keep the pull that their last linear step foretold beside the one that the places give
   (they meet at the end): how it turns with the spring is taken from that. A stiff link that turned
   in a step is stretched a little, which is a great force, but not one that will act.
   Verified by tests/unit/solid/test_rigid_joint.c, tests/verify/test_stiff_bodies.c. */
#include "solid/solid_internal.h"

/* L of a body in the pose of the start that turns by w. */
static mn_vec3 momentum_of(const mn_rigid_body *b, const mn_rigid_state *now, mn_vec3 w)
{
  mn_mat3 axes = mn_mat3_mul(mn_quat_matrix(now->q), b->axes);
  mn_vec3 l = mn_mat3_apply(mn_mat3_transpose(axes), w);
  for (int a = 0; a < 3; a++)
    l.v[a] *= b->inertia.v[a];
  return mn_mat3_apply(axes, l);
}

/* The world's place of a body's point where the drift u ends. */
static mn_vec3 end_of(const mn_solids *s, int i, mn_vec3 start)
{
  const mn_rigid_body *b = &s->rigid->body[i];
  mn_rigid_state end = s->rigid->now[i];
  if (!b->moves)
    return mn_rigid_point(b, &s->rigid->next[i], start);
  if (b->def.joint == MN_JOINT_NONE) {
    end.v = s->u[i].v;
    end.L = momentum_of(b, &end, s->u[i].w);
  } else
    end.rate = mn_dot(b->def.axis, b->def.joint == MN_JOINT_HINGE ? s->u[i].w : s->u[i].v);
  mn_rigid_drift(b, &end, s->dt);
  return mn_rigid_point(b, &end, start);
}

/* Where a spring holds its bodies in one of their states. */
static void ends_in(const mn_rigid *r, const mn_spring_def *k, const mn_rigid_state *state,
                    mn_vec3 at[2])
{
  at[0] = mn_rigid_point(&r->body[k->a], &state[k->a], k->at_a);
  at[1] = k->b >= 0 ? mn_rigid_point(&r->body[k->b], &state[k->b], k->at_b) : k->at_b;
}

/* m, of lengths at the start and at the end. */
static double mean_length(const mn_solids *s, const mn_spring_def *k)
{
  mn_vec3 start[2], end[2] = {end_of(s, k->a, k->at_a), k->at_b};
  ends_in(s->rigid, k, s->rigid->now, start);
  if (k->b >= 0)
    end[1] = end_of(s, k->b, k->at_b);
  return 0.5 * (mn_length(mn_sub(start[0], start[1])) + mn_length(mn_sub(end[0], end[1])));
}

/* Lever arms: of free bodies about their centre at theta; of a hinge about its fixed point, whatever
   the place of the centre. */
static mn_vec3 arm_of(const mn_solids *s, int i, mn_vec3 at)
{
  int hinge = s->rigid->body[i].def.joint == MN_JOINT_HINGE;
  return mn_sub(at, hinge ? s->rigid->now[i].x : s->theta[i].x);
}

void mn_springs_begin(mn_solids *s)
{
  for (int i = 0; i < s->rigid->springs; i++) {
    const mn_spring_def *k = &s->rigid->spring[i];
    mn_vec3 at[2];
    ends_in(s->rigid, k, s->rigid->now, at);
    s->pull[i] = k->stiffness * (mn_length(mn_sub(at[0], at[1])) - k->length);
  }
}

mn_spring_pose mn_spring_at_theta(const mn_solids *s, int spring)
{
  const mn_rigid *r = s->rigid;
  const mn_spring_def *k = &r->spring[spring];
  double h = mn_solids_part(s) * s->dt;
  mn_spring_pose o = {.p = {mn_rigid_point(&r->body[k->a], &s->theta[k->a], k->at_a), k->at_b}};
  o.arm[0] = arm_of(s, k->a, o.p[0]);
  o.speed = mn_twist_at(s->u[k->a], o.arm[0]);
  if (k->b >= 0) {
    o.p[1] = mn_rigid_point(&r->body[k->b], &s->theta[k->b], k->at_b);
    o.arm[1] = arm_of(s, k->b, o.p[1]);
    o.speed = mn_sub(o.speed, mn_twist_at(s->u[k->b], o.arm[1]));
  }
  mn_vec3 d = mn_sub(o.p[0], o.p[1]);
  double length = mn_length(d), mean = s->def.order == 2 ? mean_length(s, k) : length;
  double part = k->length == 0 ? 1 : mean > 0 ? 1 - k->length / mean : 0;
  d = length > 0 ? mn_scale(1 / length, d) : mn_v3(1, 0, 0);
  mn_vec3 e = fabs(d.x) < 0.6 ? mn_v3(1, 0, 0) : mn_v3(0, 1, 0);
  mn_vec3 t = r->dim == 2 ? mn_v3(-d.y, d.x, 0) : mn_cross(d, e);
  o.axis[0] = d;
  o.axis[1] = mn_scale(1 / mn_length(t), t);
  o.axis[2] = mn_cross(d, o.axis[1]);
  o.rate[0] = h * k->stiffness + k->damping;
  o.rate[1] = length > 0 ? h * mn_max(0, s->pull[spring] / length) : h * k->stiffness;
  o.rate[2] = r->dim == 2 ? 0 : o.rate[1];
  o.force = k->stiffness * length * part + k->damping * mn_dot(d, o.speed);
  return o;
}

/* m/s, how fast the ends part along d in a state; *light: what a unit impulse along d on both adds
   to that. */
static double parting(const mn_rigid *r, const mn_spring_def *k, const mn_rigid_state *state,
                      mn_vec3 d, const mn_vec3 at[2], double *light)
{
  double speed = 0;
  *light = 0;
  for (int e = 0; e < 2; e++) {
    int i = e ? k->b : k->a;
    if (i < 0)
      continue;
    mn_vec3 arm = mn_sub(at[e], state[i].x), turn = mn_cross(arm, d);
    double W[6][6], push[6] = {d.x, d.y, d.z, turn.x, turn.y, turn.z};
    mn_rigid_mobility(&r->body[i], &state[i], W);
    for (int a = 0; a < 6; a++)
      for (int b = 0; b < 6; b++)
        *light += push[a] * W[a][b] * push[b];
    mn_vec3 v = mn_twist_at(mn_rigid_twist(&r->body[i], &state[i]), arm);
    speed += (e ? -1 : 1) * mn_dot(d, v);
  }
  return speed;
}

static int slides(const mn_rigid *r, int body)
{
  return body < 0 || !r->body[body].moves || r->body[body].def.joint == MN_JOINT_PRISMATIC;
}

/* The speed of stretching that rings: what the end has more than the mean, if the substep turned it
   over and is too long for the oscillation. *d, *light: of the end. */
static double ringing(const mn_solids *s, const mn_spring_def *k, mn_vec3 *d, double *light)
{
  static const double RESOLVED = 4; /* squared angle of a step: four steps a period */
  const mn_rigid *r = s->rigid;
  mn_vec3 start[2], end[2], from;
  ends_in(r, k, r->now, start);
  ends_in(r, k, r->next, end);
  from = mn_sub(start[0], start[1]);
  *d = mn_sub(end[0], end[1]);
  double was = mn_length(from), is = mn_length(*d);
  if (!(was > 0 && is > 0))
    return 0;
  *d = mn_scale(1 / is, *d);
  double before = parting(r, k, r->now, mn_scale(1 / was, from), start, light);
  double after = parting(r, k, r->next, *d, end, light);
  double angle = k->stiffness * *light * s->dt * s->dt;
  if (angle <= RESOLVED || before * after >= 0)
    return 0;
  return (1 - RESOLVED / angle) * (after - (is - was) / s->dt);
}

void mn_springs_settle(mn_solids *s)
{
  const mn_rigid *r = s->rigid;
  for (int j = 0; j < r->springs && s->def.order == 2; j++) {
    const mn_spring_def *k = &r->spring[j];
    mn_vec3 d;
    double light;
    if (k->torsion || (slides(r, k->a) && slides(r, k->b))) /* there energy is kept as it is */
      continue;
    double speed = ringing(s, k, &d, &light);
    for (int e = 0; e < 2 && speed != 0; e++) {
      int i = e ? k->b : k->a;
      mn_vec3 P = mn_scale((e ? 1 : -1) * speed / light, d);
      if (i < 0)
        continue;
      mn_vec3 at = mn_rigid_point(&r->body[i], &r->next[i], e ? k->at_b : k->at_a);
      mn_rigid_kick(&r->body[i], &r->next[i], P, mn_cross(mn_sub(at, r->next[i].x), P));
    }
  }
}
