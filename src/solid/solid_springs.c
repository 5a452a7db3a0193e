/* Springs between rigid bodies, or to the world, in a substep (docs/theory/rigid.md).

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
   the oscillation of the bodies alone has fewer than four substeps a period, impulses along the
   springs take that speed at the end, as RATTLE does for rigid links [Andersen 1983]: momenta are
   kept, energy is kept but for what was stretching.

   Iterations keep the pull that their last linear step foretold beside the one that the places give
   (they meet at the end): how it turns with the spring and with bodies is taken from that. A stiff
   link that turned in a step is stretched a little, which is a great force, but not one that will
   act. Verified by tests/unit/solid/test_rigid_joint.c, tests/verify/test_stiff_bodies.c. */
#include "solid/solid_internal.h"

/* The world's place of a body's point where the drift u ends. */
static mn_vec3 end_of(const mn_solids *s, int i, mn_vec3 start)
{
  const mn_rigid_body *b = &s->rigid->body[i];
  mn_rigid_state end = s->rigid->now[i];
  if (!b->moves)
    return mn_rigid_point(b, &s->rigid->next[i], start);
  mn_solids_set_velocity(b, s->u[i], &end);
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

/* From end to end at the start and at the end of the substep. */
static void both_ways(const mn_solids *s, const mn_spring_def *k, mn_vec3 *start, mn_vec3 *end)
{
  mn_vec3 at[2], to[2] = {end_of(s, k->a, k->at_a), k->at_b};
  ends_in(s->rigid, k, s->rigid->now, at);
  if (k->b >= 0)
    to[1] = end_of(s, k->b, k->at_b);
  *start = mn_sub(at[0], at[1]);
  *end = mn_sub(to[0], to[1]);
}

/* Lever arms: of free bodies about their centre at theta; of a hinge about its fixed point,
   whatever the place of the centre. */
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
    mn_vec3 d = mn_sub(at[0], at[1]);
    double length = mn_length(d), part = length > 0 ? 1 - k->length / length : 0;
    s->pull[i] = mn_scale(-k->stiffness * part, d);
  }
}

/* Along the spring and across it. */
static void set_along(const mn_solids *s, int spring, mn_spring_pose *o)
{
  const mn_spring_def *k = &s->rigid->spring[spring];
  double h = mn_solids_part(s) * s->dt;
  mn_vec3 d = mn_sub(o->p[0], o->p[1]), start, end;
  double length = mn_length(d), mean = length;
  if (s->def.order == 2) {
    both_ways(s, k, &start, &end);
    mean = 0.5 * (mn_length(start) + mn_length(end));
  }
  d = length > 0 ? mn_scale(1 / length, d) : mn_v3(1, 0, 0);
  mn_vec3 e = fabs(d.x) < 0.6 ? mn_v3(1, 0, 0) : mn_v3(0, 1, 0);
  mn_vec3 t = s->rigid->dim == 2 ? mn_v3(-d.y, d.x, 0) : mn_cross(d, e);
  o->axis[0] = d;
  o->axis[1] = mn_scale(1 / mn_length(t), t);
  o->axis[2] = mn_cross(d, o->axis[1]);
  o->rate[0] = h * k->stiffness + k->damping;
  o->rate[1] = length > 0 ? h * mn_max(0, -mn_dot(s->pull[spring], d) / length) : 0;
  o->rate[2] = s->rigid->dim == 2 ? 0 : o->rate[1];
  o->force.v[0] = mean > 0 ? k->stiffness * length * (1 - k->length / mean) : 0;
}

/* A pin, or a spring without a length: k d and damping, alike all around. d is the mean of start
   and end, and both bodies feel it at one point: in the poses of theta a pin about which they turn
   stands open, by the square of the angle. */
static void set_around(const mn_solids *s, const mn_spring_def *k, mn_spring_pose *o)
{
  double h = mn_solids_part(s) * s->dt;
  mn_vec3 d = mn_sub(o->p[0], o->p[1]), start, end;
  if (s->def.order == 2) {
    o->p[0] = o->p[1] = mn_madd(o->p[1], 0.5, d);
    both_ways(s, k, &start, &end);
    d = mn_scale(0.5, mn_add(start, end));
  }
  for (int c = 0; c < 3; c++) {
    o->axis[c] = mn_v3(c == 0, c == 1, c == 2);
    o->rate[c] = c < s->rigid->dim ? h * k->stiffness + k->damping : 0;
  }
  o->force = mn_scale(k->stiffness, d);
}

mn_spring_pose mn_spring_at_theta(const mn_solids *s, int spring)
{
  const mn_rigid *r = s->rigid;
  const mn_spring_def *k = &r->spring[spring];
  mn_spring_pose o = {.p = {mn_rigid_point(&r->body[k->a], &s->theta[k->a], k->at_a), k->at_b}};
  if (k->b >= 0)
    o.p[1] = mn_rigid_point(&r->body[k->b], &s->theta[k->b], k->at_b);
  if (k->length > 0)
    set_along(s, spring, &o);
  else
    set_around(s, k, &o);
  o.arm[0] = arm_of(s, k->a, o.p[0]);
  o.speed = mn_twist_at(s->u[k->a], o.arm[0]);
  if (k->b >= 0) {
    o.arm[1] = arm_of(s, k->b, o.p[1]);
    o.speed = mn_sub(o.speed, mn_twist_at(s->u[k->b], o.arm[1]));
  }
  for (int c = 0; c < (k->length > 0 ? 1 : 3); c++)
    o.force.v[c] += k->damping * mn_dot(o.axis[c], o.speed);
  return o;
}

mn_vec3 mn_spring_force(const mn_spring_pose *o)
{
  mn_vec3 F = {{0, 0, 0}};
  for (int c = 0; c < 3; c++)
    F = mn_madd(F, -o->force.v[c], o->axis[c]);
  return F;
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

/* ---- levers ---------------------------------------------------------------------------------- */

static int is_definite(mn_mat3 a, int dim)
{
  double minor = a.m[0][0] * a.m[1][1] - a.m[0][1] * a.m[1][0];
  if (dim == 2)
    return a.m[2][2] > 0;
  mn_vec3 x = mn_cross(mn_mat3_column(&a, 0), mn_mat3_column(&a, 1));
  return a.m[0][0] > 0 && minor > 0 && mn_dot(x, mn_mat3_column(&a, 2)) > 0;
}

/* h^2 (a.F - (a F^T + F a^T)/2) of a force F at the arm a: torques that its turn takes from w. */
static mn_mat3 lever_of(mn_vec3 a, mn_vec3 F, double h)
{
  mn_mat3 S = mn_mat3_diagonal(mn_dot(a, F), mn_dot(a, F), mn_dot(a, F));
  for (int p = 0; p < 3; p++)
    for (int q = 0; q < 3; q++)
      S.m[p][q] = h * h * (S.m[p][q] - 0.5 * (a.v[p] * F.v[q] + F.v[p] * a.v[q]));
  return S;
}

/* Unless it is nothing beside the body's inertia, or would leave too little of that. */
static int counts(const mn_solids *s, int i, mn_mat3 S)
{
  static const double LEAST = 0.1, SMALL = 1e-3;
  const mn_rigid_body *b = &s->rigid->body[i];
  double most = 0, trace = b->inertia.x + b->inertia.y + b->inertia.z;
  for (int p = 0; p < 9; p++)
    most = mn_max(most, fabs(S.m[p / 3][p % 3]));
  if (most < SMALL * trace)
    return 0;
  if (b->def.joint == MN_JOINT_HINGE)
    return mn_dot(b->def.axis, mn_mat3_apply(S, b->def.axis)) > -(1 - LEAST) * b->hinge;
  mn_mat3 axes = mn_mat3_mul(mn_quat_matrix(s->rigid->now[i].q), b->axes);
  mn_mat3 inertia = mn_mat3_diagonal(b->inertia.x, b->inertia.y, b->inertia.z);
  inertia = mn_mat3_mul(axes, mn_mat3_mul(inertia, mn_mat3_transpose(axes)));
  return is_definite(mn_mat3_add(mn_mat3_scale(1 - LEAST, inertia), S), s->rigid->dim);
}

void mn_springs_levers(mn_solids *s)
{
  const mn_rigid *r = s->rigid;
  double h = mn_solids_part(s) * s->dt;
  for (int i = 0; i < r->count && r->springs; i++) {
    mn_mat3 S = {0};
    int any = 0, hinge = r->body[i].def.joint == MN_JOINT_HINGE;
    if (!r->body[i].moves || r->body[i].def.joint == MN_JOINT_PRISMATIC)
      continue;
    for (int j = 0; j < r->springs; j++) {
      const mn_spring_def *k = &r->spring[j];
      int end = k->b == i;
      if (k->torsion || (k->a != i && !end))
        continue;
      mn_vec3 p = mn_rigid_point(&r->body[i], &s->theta[i], end ? k->at_b : k->at_a);
      mn_vec3 a = mn_sub(p, hinge ? r->body[i].def.point : s->theta[i].x);
      S = mn_mat3_add(S, lever_of(a, mn_scale(end ? -1 : 1, s->pull[j]), h));
      any = 1;
    }
    int turns = any && counts(s, i, S);
    s->is_heavy[i] = 0;
    if (turns || s->heavy[i].any)
      mn_solids_added_turn(s, i, turns ? S : (mn_mat3){0});
  }
}

/* ---- ringing --------------------------------------------------------------------------------- */

/* Springs of bodies that slide keep their energy as they are. */
static int slides(const mn_rigid *r, int body)
{
  return body < 0 || !r->body[body].moves || r->body[body].def.joint == MN_JOINT_PRISMATIC;
}

/* What rings is what the end has more than the mean, if the substep turned it over and is too long
   for the oscillation, or for the damping. Along a spring or, of a pin, along an axis. */
static mn_ring ring_of(const mn_solids *s, const mn_spring_def *k, int axis)
{
  static const double RESOLVED = 4; /* squared angle of a step: four steps a period */
  static const double PIN = 0.01;   /* of a body: what a pin is stretched at most */
  const mn_rigid *r = s->rigid;
  mn_vec3 start[2], from, to;
  mn_ring g = {.part = 0};
  ends_in(r, k, r->now, start);
  ends_in(r, k, r->next, g.at);
  from = mn_sub(start[0], start[1]), to = mn_sub(g.at[0], g.at[1]);
  double was = mn_length(from), is = mn_length(to), light;
  if (k->length == 0 && is < PIN * r->body[k->a].bound) { /* both act at one point */
    g.d = mn_v3(axis == 0, axis == 1, axis == 2);
    g.mean = mn_dot(g.d, mn_sub(to, from)) / s->dt;
    from = g.d;
    g.at[0] = g.at[1] = mn_madd(g.at[1], 0.5, to);
  } else if (axis == 0 && was > 0 && is > 0) {
    g.d = mn_scale(1 / is, to);
    g.mean = (is - was) / s->dt;
    from = mn_scale(1 / was, from);
  } else
    return g;
  double before = parting(r, k, r->now, from, start, &light);
  double after = parting(r, k, r->next, g.d, g.at, &light);
  double stiffness = slides(r, k->a) && slides(r, k->b) ? 0 : k->stiffness;
  double angle = light * s->dt * (stiffness * s->dt + 2 * k->damping);
  g.part = angle > RESOLVED && before * after < 0 ? 1 - RESOLVED / angle : 0;
  return g;
}

/* The same of a spring of torsion: only its damping. */
static void settle_torsion(const mn_solids *s, const mn_spring_def *k)
{
  const mn_rigid_body *b = &s->rigid->body[k->a];
  mn_rigid_state *next = &s->rigid->next[k->a];
  const mn_rigid_state *now = &s->rigid->now[k->a];
  double angle = 2 * k->damping * s->dt / b->hinge;
  if (!b->moves || angle <= 4 || now->rate * next->rate >= 0)
    return;
  double more = (1 - 4 / angle) * (next->rate - (next->s - now->s) / s->dt);
  mn_rigid_kick(b, next, mn_v3(0, 0, 0), mn_scale(-b->hinge * more, b->def.axis));
}

void mn_springs_settle(mn_solids *s)
{
  enum { SWEEPS = 20 };
  const mn_rigid *r = s->rigid;
  int any = 0, rows = s->def.order == 2 ? 3 * r->springs : 0;
  for (int j = 0; j < rows; j++) {
    const mn_spring_def *k = &r->spring[j / 3];
    s->ring[j] = (mn_ring){.part = 0};
    if (!k->torsion && j % 3 < r->dim)
      s->ring[j] = ring_of(s, k, j % 3);
    else if (j % 3 == 0)
      settle_torsion(s, k);
    any |= s->ring[j].part > 0;
  }
  for (int n = 0; n < SWEEPS * any; n++)
    for (int j = 0; j < rows; j++) {
      const mn_spring_def *k = &r->spring[j / 3];
      const mn_ring *g = &s->ring[j];
      double light;
      if (!(g->part > 0))
        continue;
      double speed = parting(r, k, r->next, g->d, g->at, &light) - g->mean;
      for (int e = 0; e < 2; e++) {
        int i = e ? k->b : k->a;
        mn_vec3 P = mn_scale((e ? 1 : -1) * g->part * speed / light, g->d);
        if (i >= 0)
          mn_rigid_kick(&r->body[i], &r->next[i], P, mn_cross(mn_sub(g->at[e], r->next[i].x), P));
      }
    }
}
