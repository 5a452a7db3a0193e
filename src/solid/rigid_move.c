/* Motion of one rigid body, in pieces that are exact or conserve exactly.

   A substep is: kick (impulses at the pose of the start), drift for dt, kick at the new pose.
   Free bodies carry v and the angular momentum L in world axes, so that without torque L does not
   change by a bit. Drift: x += dt v; the turn is that of a ball with the inertia I_i, exact, and
   the rest of the free top in turns about its principal axes, each exact [Dullweber 1997]:

       q <- exp(dt L/I_i) q [exp(h/2 a_j e_j) exp(h a_k e_k) exp(h/2 a_j e_j)]^n,   h = dt/n,

   a = Pi (1/I - 1/I_i) with Pi = R^T L turned back after each factor; i and j are the axes whose
   inertias are nearest. (A turn about L does not change Pi, so it commutes with the others.)
   Symplectic, reversible, energy bounded, second order; exact for tops with an axis of symmetry and
   in two dimensions, at any speed; n grows with the spin so that a quick top is as accurate as a
   slow one. (v, L) kicked before and after a drift conserve momentum and angular momentum of pairs
   of impulses exactly.

   Joints use one coordinate s: pose and velocity follow from (s, rate), so there is no drift off
   the joint. Impulses act through the coordinate's own inertia.

   Verified by tests/unit/solid/test_rigid.c and test_rigid_joint.c. */
#include "solid/rigid.h"

/* R^T L in principal axes. */
static mn_vec3 body_momentum(const mn_rigid_body *b, const mn_rigid_state *s)
{
  mn_vec3 l = mn_quat_rotate(mn_quat_conjugate(s->q), s->L);
  return mn_mat3_apply(mn_mat3_transpose(b->axes), l);
}

static mn_vec3 to_world(const mn_rigid_body *b, const mn_rigid_state *s, mn_vec3 principal)
{
  return mn_quat_rotate(s->q, mn_mat3_apply(b->axes, principal));
}

static mn_vec3 hinge_arm(const mn_rigid_body *b, const mn_rigid_state *s)
{
  return mn_sub(s->x, b->def.point);
}

mn_twist mn_rigid_twist(const mn_rigid_body *b, const mn_rigid_state *s)
{
  mn_twist t = {.v = s->v};
  if (b->def.joint == MN_JOINT_HINGE)
    t.w = mn_scale(s->rate, b->def.axis);
  else if (b->def.joint == MN_JOINT_DRIVEN)
    t.w = mn_scale(s->rate, b->def.motion.axis);
  else if (b->def.joint == MN_JOINT_NONE) {
    mn_vec3 p = body_momentum(b, s);
    for (int a = 0; a < 3; a++)
      p.v[a] *= b->inverse.v[a];
    t.w = to_world(b, s, p);
  }
  return t;
}

/* v and L of a jointed body. */
static void from_rate(const mn_rigid_body *b, mn_rigid_state *s)
{
  if (b->def.joint == MN_JOINT_PRISMATIC) {
    s->v = mn_scale(s->rate, b->def.axis);
    s->L = mn_v3(0, 0, 0);
  } else if (b->def.joint == MN_JOINT_HINGE) {
    mn_vec3 w = mn_scale(s->rate, b->def.axis), l;
    s->v = mn_cross(w, hinge_arm(b, s));
    l = mn_quat_rotate(mn_quat_conjugate(s->q), w);
    l = mn_mat3_apply(mn_mat3_transpose(b->axes), l);
    for (int a = 0; a < 3; a++)
      l.v[a] *= b->inertia.v[a];
    s->L = to_world(b, s, l);
  }
}

static void from_coordinate(const mn_rigid_body *b, mn_rigid_state *s)
{
  if (b->def.joint == MN_JOINT_PRISMATIC)
    s->x = mn_madd(b->center, s->s, b->def.axis);
  else {
    s->q = mn_quat_from_axis(b->def.axis, s->s);
    s->x = mn_add(b->def.point, mn_quat_rotate(s->q, mn_sub(b->center, b->def.point)));
  }
  from_rate(b, s);
}

void mn_rigid_kick(const mn_rigid_body *b, mn_rigid_state *s, mn_vec3 P, mn_vec3 T)
{
  switch (b->def.joint) {
  case MN_JOINT_NONE:
    s->v = mn_madd(s->v, 1 / b->mass, P);
    s->L = mn_add(s->L, T);
    break;
  case MN_JOINT_PRISMATIC:
    s->rate += mn_dot(b->def.axis, P) / b->mass;
    from_rate(b, s);
    break;
  case MN_JOINT_HINGE:
    s->rate += mn_dot(b->def.axis, mn_add(T, mn_cross(hinge_arm(b, s), P))) / b->hinge;
    from_rate(b, s);
    break;
  case MN_JOINT_FIXED:
  case MN_JOINT_DRIVEN:
    break;
  }
}

/* A turn in progress; with `tangent`, how it changes with the momentum at its start, both in
   principal axes: turned = d(turn in the body's axes), change = d(pi). */
typedef struct turning {
  mn_quat q;
  mn_vec3 pi;
  int tangent;
  mn_mat3 turned, change;
} turning;

/* m <- R^T m, a turn by -angle about axis k. */
static void turn_rows(mn_mat3 *m, int k, double c, double sn)
{
  int i = (k + 1) % 3, j = (k + 2) % 3;
  for (int a = 0; a < 3; a++) {
    double m_i = m->m[i][a], m_j = m->m[j][a];
    m->m[i][a] = c * m_i + sn * m_j;
    m->m[j][a] = c * m_j - sn * m_i;
  }
}

/* Turns q and the momentum in principal axes about axis k with the inverse inertia given. */
static void turn_about(const mn_rigid_body *b, int k, double dt_inverse, turning *t)
{
  double angle = dt_inverse * t->pi.v[k];
  if (angle == 0 && !t->tangent)
    return;
  t->q = mn_quat_mul(t->q, mn_quat_from_axis(mn_mat3_column(&b->axes, k), angle));
  double c = cos(angle), sn = sin(angle);
  int i = (k + 1) % 3, j = (k + 2) % 3;
  double pi_i = t->pi.v[i], pi_j = t->pi.v[j];
  t->pi.v[i] = c * pi_i + sn * pi_j; /* R^T: by -angle */
  t->pi.v[j] = c * pi_j - sn * pi_i;
  if (!t->tangent)
    return;
  turn_rows(&t->turned, k, c, sn);
  turn_rows(&t->change, k, c, sn);
  for (int a = 0; a < 3; a++) { /* the angle changes too; that of change[k] is the same before */
    double more = dt_inverse * t->change.m[k][a];
    t->turned.m[k][a] += more;
    t->change.m[i][a] += more * t->pi.v[j];
    t->change.m[j][a] -= more * t->pi.v[i];
  }
}

/* How exp(v) turns, in world axes, for a change of v: 1 + (1 - cos)/a^2 [v] + (a - sin)/a^3 [v]^2.
 */
static mn_mat3 exp_tangent(mn_vec3 v)
{
  double a = mn_length(v), one = 0.5, two = 1.0 / 6;
  if (a > 1e-3) {
    one = (1 - cos(a)) / (a * a);
    two = (a - sin(a)) / (a * a * a);
  } else {
    one -= a * a / 24;
    two -= a * a / 120;
  }
  mn_mat3 skew = {{{0, -v.z, v.y}, {v.z, 0, -v.x}, {-v.y, v.x, 0}}};
  mn_mat3 square = mn_mat3_scale(two, mn_mat3_mul(skew, skew));
  return mn_mat3_add(mn_mat3_identity(), mn_mat3_add(mn_mat3_scale(one, skew), square));
}

/* tangent: NULL, or the turn of the end, in world axes, for a change of L. */
static void turn(const mn_rigid_body *b, mn_rigid_state *s, double dt, mn_mat3 *tangent)
{
  static const double STEP = 0.25; /* rad: errors of a part are about STEP^3/24 */
  enum { MOST = 10000 };
  turning t = {.q = s->q, .pi = body_momentum(b, s), .tangent = tangent != NULL};
  t.change = mn_mat3_identity();
  mn_vec3 inverse = b->inverse;
  int k = 0; /* the axis that stands apart */
  for (int a = 1; a < 3; a++)
    if (fabs(inverse.v[(a + 1) % 3] - inverse.v[(a + 2) % 3]) <
        fabs(inverse.v[(k + 1) % 3] - inverse.v[(k + 2) % 3]))
      k = a;
  int i = (k + 1) % 3, j = (k + 2) % 3;
  double base = inverse.v[i], dj = inverse.v[j] - base, dk = inverse.v[k] - base;
  double rate = cbrt(fabs(dj) * dk * dk) * mn_length(t.pi), parts = ceil(dt * rate / STEP);
  int n = parts > MOST ? MOST : parts > 1 ? (int)parts : 1;
  double h = dt / n;
  for (int p = 0; p < n; p++) {
    turn_about(b, j, 0.5 * h * dj, &t);
    turn_about(b, k, h * dk, &t);
    turn_about(b, j, 0.5 * h * dj, &t);
  }
  if (base != 0)
    t.q = mn_quat_mul(mn_quat_exp(mn_scale(dt * base, s->L)), t.q);
  mn_quat end = mn_quat_unit(t.q);
  if (tangent) {
    mn_mat3 from = mn_mat3_transpose(mn_mat3_mul(mn_quat_matrix(s->q), b->axes));
    mn_mat3 to = mn_mat3_mul(mn_quat_matrix(end), b->axes);
    *tangent = mn_mat3_add(mn_mat3_scale(dt * base, exp_tangent(mn_scale(dt * base, s->L))),
                           mn_mat3_mul(to, mn_mat3_mul(t.turned, from)));
  }
  s->q = end;
}

mn_mat3 mn_rigid_drift_tangent(const mn_rigid_body *b, const mn_rigid_state *s, double dt)
{
  mn_rigid_state end = *s;
  mn_mat3 tangent;
  turn(b, &end, dt, &tangent);
  return tangent;
}

void mn_rigid_drift(const mn_rigid_body *b, mn_rigid_state *s, double dt)
{
  if (!b->moves)
    return;
  if (b->def.joint != MN_JOINT_NONE) {
    s->s += dt * s->rate;
    from_coordinate(b, s);
    return;
  }
  s->x = mn_madd(s->x, dt, s->v);
  if (b->inertia.x == 0) /* in two dimensions s counts whole turns, which q does not know */
    s->s += dt * body_momentum(b, s).z * b->inverse.z;
  turn(b, s, dt, NULL);
}

void mn_rigid_drive(const mn_rigid_body *b, mn_rigid_state *s, double t)
{
  if (b->def.joint == MN_JOINT_FIXED) {
    s->v = mn_scale(mn_timefn_eval(&b->def.slide_ramp, t), b->def.slide);
    return;
  }
  const mn_motion *m = &b->def.motion;
  double length = mn_length(m->axis), angle = mn_timefn_eval(&m->turn, t);
  mn_vec3 axis = length > 0 ? mn_scale(1 / length, m->axis) : mn_v3(0, 0, 1);
  mn_vec3 arm = mn_rotate(mn_sub(b->center, m->pivot), axis, angle);
  s->q = mn_quat_from_axis(axis, angle);
  s->x = mn_madd(mn_add(arm, m->pivot), mn_timefn_eval(&m->path, t), m->translate);
  s->s = angle;
  s->rate = length > 0 ? mn_timefn_rate(&m->turn, t) / length : 0; /* times the axis as given */
  s->v =
      mn_madd(mn_cross(mn_scale(s->rate, m->axis), arm), mn_timefn_rate(&m->path, t), m->translate);
}

void mn_rigid_external(const mn_rigid_body *b, double t, mn_vec3 *force, mn_vec3 *torque)
{
  *force = mn_scale(mn_timefn_eval(&b->def.force_ramp, t), b->def.force);
  *torque = mn_scale(mn_timefn_eval(&b->def.torque_ramp, t), b->def.torque);
}

void mn_rigid_mobility(const mn_rigid_body *b, const mn_rigid_state *s, double W[6][6])
{
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++)
      W[i][j] = 0;
  mn_vec3 d = b->def.axis;
  switch (b->def.joint) {
  case MN_JOINT_NONE:
    for (int k = 0; k < 3; k++) {
      W[k][k] = 1 / b->mass;
      mn_vec3 e = mn_quat_rotate(s->q, mn_mat3_column(&b->axes, k));
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
          W[3 + i][3 + j] += b->inverse.v[k] * e.v[i] * e.v[j];
    }
    break;
  case MN_JOINT_PRISMATIC:
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
        W[i][j] = d.v[i] * d.v[j] / b->mass;
    break;
  case MN_JOINT_HINGE: {
    mn_vec3 a = mn_cross(d, hinge_arm(b, s));
    double c[6] = {a.x, a.y, a.z, d.x, d.y, d.z};
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 6; j++)
        W[i][j] = c[i] * c[j] / b->hinge;
    break;
  }
  case MN_JOINT_FIXED:
  case MN_JOINT_DRIVEN:
    break;
  }
}
