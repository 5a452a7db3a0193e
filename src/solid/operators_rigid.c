/* The equations of rigid bodies about an iterate.

   The iterate of a body is the velocity (v, L) of its drift, or the rate of its joint; its freedoms
   q are changes of where the drift ends: 3 (2D: 2) of the centre, 3 (2D: 1) turns in world axes,
   one along or about a joint. With h = theta dt and all forces as in solid_step.c, for a force F at
   the point p of the pose of theta and motion_f(p) the motion of p for freedom f,

       r_f = sum motion_f(p).F + turn_f.T - (momentum of the drift - that of the start)_f / h

   and K = -dr/dq:

       m/(h dt)       centre, sliding          hinge/(h dt)   about a hinge
       S/h            turns; S = dL/d(turn at the end), from the drift's own tangent
       g g^T rate/dt  springs, g the change of their length, rate = h k + damping along and
                      h k max(0, 1 - length/distance) across (solid_springs.c)
       -sum w_f x (w_g x a).F     torques whose arms a turn with the body: of springs, of gravity on
                      hinges, and of the loads if `frozen` says that they do not turn with it

   What K misses: the skew part of S, half the angular momentum of the start (gyroscopic: Newton's
   method then converges linearly with the angle that the body turns in a substep, over 2); that
   poses of theta and of the end turn a little differently; terms that would make a body's block
   indefinite. About a solve, touches of rigid bodies that carry a force are rows as springs are, a
   million times as stiff as the bodies' inertia: along the normal, and across it where friction
   sticks. Otherwise r and K have no contact. Loads act in E^T at the end's arms; where
   `solve` has them at other ones (hinges and uneven meshes at the pose of theta) r has the
   difference, with the loads that the interface holds.
   Verified by tests/unit/solid/test_operators.c. */
#include "solid/solid_internal.h"

#include <string.h>

#include "la/csr.h"

static const double LEAST = 0.1; /* of its inertia, that arms leave of a body's block */
static const double HOLD = 1e6;  /* times its mass that a touch holds a body */

int mn_freedoms_of(const mn_solids *s, int body)
{
  const mn_rigid_body *b = &s->rigid->body[body];
  if (!b->moves)
    return 0;
  return b->def.joint != MN_JOINT_NONE ? 1 : s->def.dim == 2 ? 3 : 6;
}

static mn_vec3 unit(int axis)
{
  return mn_v3(axis == 0, axis == 1, axis == 2);
}

mn_vec3 mn_freedom_turn(const mn_solids *s, int body, int f)
{
  const mn_rigid_def *d = &s->rigid->body[body].def;
  if (d->joint == MN_JOINT_HINGE)
    return d->axis;
  if (d->joint != MN_JOINT_NONE || f < s->def.dim)
    return mn_v3(0, 0, 0);
  return unit(s->def.dim == 2 ? 2 : f - 3);
}

mn_vec3 mn_freedom_motion(const mn_solids *s, int body, const mn_rigid_state *pose, int f,
                          mn_vec3 p)
{
  const mn_rigid_def *d = &s->rigid->body[body].def;
  if (d->joint == MN_JOINT_PRISMATIC)
    return d->axis;
  if (d->joint == MN_JOINT_NONE && f < s->def.dim)
    return unit(f);
  mn_vec3 about = d->joint == MN_JOINT_HINGE ? d->point : pose->x;
  return mn_cross(mn_freedom_turn(s, body, f), mn_sub(p, about));
}

/* ---- where it is ----------------------------------------------------------------------------- */

void mn_iterate_start(mn_solids *s, mn_rigid_iterate *it)
{
  int first = 0;
  for (int i = 0; i < s->rigid->count; i++) {
    it[i].half = s->rigid->now[i];
    it[i].first = first;
    it[i].freedoms = mn_freedoms_of(s, i);
    first += it[i].freedoms;
  }
}

/* The kick after the drift is (dt - h)/h times that before it. */
static void kick_again(const mn_solids *s, const mn_rigid_body *b, const mn_rigid_state *now,
                       mn_rigid_state *next)
{
  double more = 1 / mn_solids_part(s) - 1;
  if (b->def.joint == MN_JOINT_NONE) {
    next->v = mn_madd(next->v, more, mn_sub(next->v, now->v));
    next->L = mn_madd(next->L, more, mn_sub(next->L, now->L));
    return;
  }
  next->rate += more * (next->rate - now->rate);
  mn_rigid_kick(b, next, mn_v3(0, 0, 0), mn_v3(0, 0, 0)); /* velocities of the rate */
}

/* The poses of theta for the iterate. */
static void set_theta(mn_solids *s, const mn_rigid_iterate *it)
{
  for (int i = 0; i < s->rigid->count; i++)
    s->u[i] =
        it[i].freedoms ? mn_rigid_twist(&s->rigid->body[i], &it[i].half) : mn_solids_driven(s, i);
  mn_solids_set_theta(s, mn_solids_part(s) * s->dt);
}

void mn_iterate_place(mn_solids *s, const mn_rigid_iterate *it)
{
  mn_vec3 zero = mn_v3(0, 0, 0);
  set_theta(s, it);
  for (int i = 0; i < s->rigid->count; i++) {
    const mn_rigid_body *b = &s->rigid->body[i];
    mn_rigid_state *next = &s->rigid->next[i];
    if (it[i].freedoms) {
      *next = it[i].half;
      mn_rigid_drift(b, next, s->dt);
      kick_again(s, b, &s->rigid->now[i], next);
    }
    mn_vec3 arm = mn_quat_rotate(s->theta[i].q, s->arm[i]);
    next->load = s->load[i];
    next->torque = mn_add(s->twist[i], mn_cross(arm, s->load[i]));
    next->contact = next->twist = zero;
  }
  mn_springs_settle(s);
}

/* ---- forces ---------------------------------------------------------------------------------- */

/* A force at the point p of the pose, whose arm turns with the body for `part` of its turn. */
static void add_force(const mn_solids *s, mn_rigid_iterate *it, int i, const mn_rigid_state *pose,
                      mn_vec3 p, mn_vec3 F, double part)
{
  const mn_rigid_def *d = &s->rigid->body[i].def;
  mn_vec3 arm = mn_sub(p, d->joint == MN_JOINT_HINGE ? d->point : pose->x);
  for (int f = 0; f < it[i].freedoms; f++)
    it[i].r[f] += mn_dot(mn_freedom_motion(s, i, pose, f, p), F);
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++)
      it[i].lever.m[a][b] += part * arm.v[a] * F.v[b];
}

static void add_torque(const mn_solids *s, mn_rigid_iterate *it, int i, mn_vec3 T)
{
  for (int f = 0; f < it[i].freedoms; f++)
    it[i].r[f] += mn_dot(mn_freedom_turn(s, i, f), T);
}

/* External forces and gravity; inertia. */
static double add_own(mn_solids *s, mn_rigid_iterate *it, int i)
{
  const mn_rigid_body *b = &s->rigid->body[i];
  const mn_rigid_state *now = &s->rigid->now[i], *half = &it[i].half, *pose = &s->theta[i];
  double h = mn_solids_part(s) * s->dt, scale;
  mn_vec3 F, T, dv = mn_sub(half->v, now->v), dL = mn_sub(half->L, now->L);
  mn_rigid_external(b, s->t + h, &F, &T);
  F = mn_madd(F, b->mass, s->rigid->gravity);
  scale = mn_max(mn_length(F), b->mass * mn_length(dv) / h);
  add_force(s, it, i, pose, pose->x, F, mn_solids_part(s));
  add_torque(s, it, i, T);
  if (b->def.joint == MN_JOINT_NONE) {
    for (int f = 0; f < s->def.dim; f++)
      it[i].r[f] -= b->mass * dv.v[f] / h;
    add_torque(s, it, i, mn_scale(-1 / h, dL));
    return scale;
  }
  double mass = b->def.joint == MN_JOINT_HINGE ? b->hinge : b->mass;
  it[i].r[0] -= mass * (half->rate - now->rate) / h;
  return scale;
}

/* Where `solve` has the loads' resultant, against where E^T has it; and how arms turn. */
static void add_loads(mn_solids *s, mn_rigid_iterate *it, const mn_interface *f)
{
  for (int i = 0; i < s->rigid->count; i++) {
    const mn_rigid_state *next = &s->rigid->next[i], *theta = &s->theta[i];
    mn_vec3 F = s->load[i], back = mn_scale(-1, F);
    mn_vec3 at = mn_add(theta->x, mn_quat_rotate(theta->q, s->arm[i]));
    if (!it[i].freedoms || !s->point_count[i])
      continue;
    mn_mat3 lever = it[i].lever;
    add_force(s, it, i, theta, at, F, mn_solids_part(s));
    mn_mat3 with = it[i].lever;
    add_force(s, it, i, next, mn_add(next->x, mn_quat_rotate(next->q, s->arm[i])), back, 0);
    it[i].lever = f->frozen ? with : lever;
  }
  for (size_t k = 0; f->frozen && f->count && k < s->points; k++) {
    int i = s->point[k].body;
    mn_vec3 arm = mn_sub(f->X[k], s->mean[i]);
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 3; b++)
        it[i].lever.m[a][b] += arm.v[a] * f->load[k].v[b];
  }
}

/* ---- springs --------------------------------------------------------------------------------- */

static double add_springs(mn_solids *s, mn_rigid_iterate *it)
{
  double scale = 0, part = mn_solids_part(s);
  for (int j = 0; j < s->rigid->springs; j++) {
    const mn_spring_def *k = &s->rigid->spring[j];
    if (k->torsion) {
      double rate = it[k->a].half.rate, turn = s->theta[k->a].s - k->length;
      it[k->a].r[0] -= k->stiffness * turn + k->damping * rate;
      continue;
    }
    mn_spring_pose o = mn_spring_at_theta(s, j);
    mn_vec3 F = mn_spring_force(&o), rest = mn_sub(F, s->pull[j]);
    scale = mn_max(scale, mn_length(F));
    add_force(s, it, k->a, &s->theta[k->a], o.p[0], s->pull[j], part);
    add_force(s, it, k->a, &s->theta[k->a], o.p[0], rest, 0);
    if (k->b < 0)
      continue;
    add_force(s, it, k->b, &s->theta[k->b], o.p[1], mn_scale(-1, s->pull[j]), part);
    add_force(s, it, k->b, &s->theta[k->b], o.p[1], mn_scale(-1, rest), 0);
  }
  return scale;
}

/* How freedoms f of both bodies stretch a spring along its axis c. */
static void stretch_of(const mn_solids *s, const mn_rigid_iterate *it, const int body[2],
                       const mn_spring_pose *o, int c, double g[2][6])
{
  for (int end = 0; end < 2; end++)
    for (int f = 0; body[end] >= 0 && f < it[body[end]].freedoms; f++) {
      mn_vec3 motion = mn_freedom_motion(s, body[end], &s->theta[body[end]], f, o->p[end]);
      g[end][f] = (end ? -1 : 1) * mn_dot(o->axis[c], motion);
    }
}

/* The pulls that a step q foretells. */
static void foretell(mn_solids *s, const mn_rigid_iterate *it, const double *q)
{
  for (int j = 0; j < s->rigid->springs; j++) {
    const mn_spring_def *k = &s->rigid->spring[j];
    int body[2] = {k->a, k->b};
    double g[2][6];
    if (k->torsion)
      continue;
    mn_spring_pose o = mn_spring_at_theta(s, j);
    s->pull[j] = mn_spring_force(&o);
    for (int c = 0; c < 3; c++) {
      double stretch = 0;
      stretch_of(s, it, body, &o, c, g);
      for (int end = 0; end < 2; end++)
        for (int f = 0; body[end] >= 0 && f < it[body[end]].freedoms; f++)
          stretch += g[end][f] * q[it[body[end]].first + f];
      s->pull[j] = mn_madd(s->pull[j], -o.rate[c] / s->dt * stretch, o.axis[c]);
    }
  }
}

double mn_iterate_missed(const mn_solids *s, const mn_rigid_iterate *it)
{
  double most = 0;
  for (int j = 0; j < s->rigid->springs; j++) {
    const mn_spring_def *k = &s->rigid->spring[j];
    double mass = it[k->a].freedoms ? s->rigid->body[k->a].mass : INFINITY;
    if (k->torsion || !(k->stiffness > 0))
      continue;
    if (k->b >= 0 && it[k->b].freedoms)
      mass = mn_min(mass, s->rigid->body[k->b].mass);
    mn_spring_pose o = mn_spring_at_theta(s, j);
    mn_vec3 off = mn_sub(s->pull[j], mn_spring_force(&o)); /* its square over 2 k is an energy */
    double size = k->length > 0 ? fabs(mn_dot(off, o.axis[0])) : mn_length(off);
    most = mn_max(most, size / sqrt(k->stiffness * mass));
  }
  return most;
}

static void add_entry(const mn_csr *K, int row, int col, double value)
{
  K->value[mn_csr_find(K, row, col)] += value;
}

/* K += rate g g^T, g[end] of the freedoms of both bodies. */
static void add_row(const mn_rigid_iterate *it, const int body[2], double g[2][6], double rate,
                    const mn_csr *K)
{
  for (int a = 0; a < 2; a++)
    for (int b = 0; b < 2; b++) {
      if (body[a] < 0 || body[b] < 0)
        continue;
      const mn_rigid_iterate *p = &it[body[a]], *q = &it[body[b]];
      for (int i = 0; i < p->freedoms; i++)
        for (int j = 0; j < q->freedoms; j++)
          add_entry(K, p->first + i, q->first + j, rate * g[a][i] * g[b][j]);
    }
}

void mn_iterate_springs(mn_solids *s, const mn_rigid_iterate *it, const mn_csr *K)
{
  double h = mn_solids_part(s) * s->dt;
  for (int j = 0; j < s->rigid->springs; j++) {
    const mn_spring_def *k = &s->rigid->spring[j];
    int body[2] = {k->a, k->torsion ? -1 : k->b};
    double g[2][6] = {{1}};
    if (k->torsion) {
      add_row(it, body, g, (h * k->stiffness + k->damping) / s->dt, K);
      continue;
    }
    mn_spring_pose o = mn_spring_at_theta(s, j);
    for (int c = 0; c < 3; c++) {
      stretch_of(s, it, body, &o, c, g);
      if (o.rate[c] > 0)
        add_row(it, body, g, o.rate[c] / s->dt, K);
    }
  }
}

void mn_iterate_advance(mn_solids *s, mn_rigid_iterate *it, const double *q, double step)
{
  foretell(s, it, q);
  for (int i = 0; i < s->rigid->count; i++) {
    const mn_rigid_body *b = &s->rigid->body[i];
    const double *own = q + it[i].first;
    mn_rigid_state *half = &it[i].half;
    if (!it[i].freedoms)
      continue;
    if (b->def.joint != MN_JOINT_NONE) {
      half->rate += step * own[0] / s->dt;
      mn_rigid_kick(b, half, mn_v3(0, 0, 0), mn_v3(0, 0, 0));
      continue;
    }
    mn_vec3 turn = s->def.dim == 2 ? mn_v3(0, 0, own[2]) : mn_v3(own[3], own[4], own[5]);
    for (int a = 0; a < s->def.dim; a++)
      half->v.v[a] += step * own[a] / s->dt;
    half->L = mn_madd(half->L, step, mn_mat3_apply(it[i].spin, turn)); /* that of the loads */
  }
}

/* ---- touches --------------------------------------------------------------------------------- */

/* The greatest tangents of a touch that sticks; 0: none. */
static int tangents(const mn_solids *s, const mn_touch *t, mn_vec3 axis[2])
{
  static const double STICKS = 0.999; /* of what friction bears */
  if (!(mn_length(t->tangent) < STICKS * t->friction * t->impulse))
    return 0;
  mn_vec3 e = fabs(t->n.x) < 0.6 ? mn_v3(1, 0, 0) : mn_v3(0, 1, 0);
  mn_vec3 first = s->def.dim == 2 ? mn_v3(-t->n.y, t->n.x, 0) : mn_cross(t->n, e);
  axis[0] = mn_scale(1 / mn_length(first), first);
  axis[1] = mn_cross(t->n, axis[0]);
  return s->def.dim - 1;
}

void mn_iterate_touches(mn_solids *s, const mn_rigid_iterate *it, const mn_csr *K)
{
  double h = mn_solids_part(s) * s->dt;
  for (size_t i = 0; i < s->contact->drift.count; i++) {
    const mn_touch *t = &s->contact->drift.at[i];
    int body[2] = {t->a, t->b};
    mn_vec3 axis[3] = {t->n};
    if (!(t->impulse > 0) || t->b < 0)
      continue;
    int rows = 1 + tangents(s, t, axis + 1);
    for (int c = 0; c < rows; c++) {
      double g[2][6], mass = c ? t->tangent_mass : t->mass;
      for (int end = 0; end < 2; end++)
        for (int f = 0; f < it[body[end]].freedoms; f++) {
          const mn_rigid_state *pose = &s->rigid->now[body[end]];
          mn_vec3 motion = mn_freedom_motion(s, body[end], pose, f, t->at);
          g[end][f] = (end ? -1 : 1) * mn_dot(axis[c], motion);
        }
      add_row(it, body, g, HOLD * mass / (h * s->dt), K);
    }
  }
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static int is_definite(int n, double A[6][6])
{
  double L[6][6];
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double sum = A[i][j];
      for (int k = 0; k < j; k++)
        sum -= L[i][k] * L[j][k];
      if (i == j && !(sum > 1e-12 * A[i][i]))
        return 0;
      L[i][j] = i == j ? sqrt(sum) : sum / L[j][j];
    }
  return 1;
}

/* dL/d(turn at the end). */
static void set_spin(const mn_solids *s, mn_rigid_iterate *it, int i)
{
  const mn_rigid_body *b = &s->rigid->body[i];
  double block[6][6];
  it[i].spin = mn_mat3_diagonal(0, 0, b->inertia.z / s->dt);
  if (s->def.dim == 2)
    return;
  mn_mat3 tangent = mn_rigid_drift_tangent(b, &it[i].half, s->dt);
  int fine = mn_mat3_inverse(tangent, &it[i].spin);
  for (int a = 0; fine && a < 3; a++)
    for (int c = 0; c < 3; c++)
      block[a][c] = 0.5 * (it[i].spin.m[a][c] + it[i].spin.m[c][a]);
  if (fine && is_definite(3, block)) {
    for (int a = 0; a < 3; a++)
      for (int c = 0; c < 3; c++)
        it[i].spin.m[a][c] = block[a][c];
    return;
  }
  /* more than half a turn in the substep */
  mn_mat3 axes = mn_mat3_mul(mn_quat_matrix(s->rigid->next[i].q), b->axes);
  mn_mat3 inertia = mn_mat3_diagonal(b->inertia.x, b->inertia.y, b->inertia.z);
  it[i].spin = mn_mat3_mul(axes, mn_mat3_mul(inertia, mn_mat3_transpose(axes)));
  it[i].spin = mn_mat3_scale(1 / s->dt, it[i].spin);
}

static void set_inertia(const mn_solids *s, mn_rigid_iterate *it, int i)
{
  const mn_rigid_body *b = &s->rigid->body[i];
  double h = mn_solids_part(s) * s->dt;
  memset(it[i].K, 0, sizeof it[i].K);
  if (b->def.joint != MN_JOINT_NONE) {
    it[i].K[0][0] = (b->def.joint == MN_JOINT_HINGE ? b->hinge : b->mass) / (h * s->dt);
    return;
  }
  set_spin(s, it, i);
  for (int a = 0; a < s->def.dim; a++)
    it[i].K[a][a] = b->mass / (h * s->dt);
  for (int f = s->def.dim; f < it[i].freedoms; f++)
    for (int g = s->def.dim; g < it[i].freedoms; g++) {
      int a = s->def.dim == 2 ? 2 : f - 3, c = s->def.dim == 2 ? 2 : g - 3;
      it[i].K[f][g] = it[i].spin.m[a][c] / h;
    }
}

/* Torques whose arms turn with the body, unless too little is left of its inertia. */
static void add_levers(const mn_solids *s, mn_rigid_iterate *it, int i)
{
  const mn_mat3 *m = &it[i].lever;
  double trace = m->m[0][0] + m->m[1][1] + m->m[2][2], sum[6][6] = {{0}}, rest[6][6];
  for (int f = 0; f < it[i].freedoms; f++)
    for (int g = 0; g < it[i].freedoms; g++) {
      mn_vec3 a = mn_freedom_turn(s, i, f), b = mn_freedom_turn(s, i, g);
      double both = mn_dot(a, mn_mat3_apply(*m, b)) + mn_dot(b, mn_mat3_apply(*m, a));
      double turned = trace * mn_dot(a, b) - 0.5 * both;
      sum[f][g] = it[i].K[f][g] + turned;
      rest[f][g] = (1 - LEAST) * it[i].K[f][g] + turned;
    }
  if (is_definite(it[i].freedoms, rest))
    memcpy(it[i].K, sum, sizeof sum);
}

void mn_iterate_linearise(mn_solids *s, mn_rigid_iterate *it, const mn_interface *f, double *scale)
{
  set_theta(s, it);
  *scale = 0;
  for (int i = 0; i < s->rigid->count; i++) {
    memset(it[i].r, 0, sizeof it[i].r);
    it[i].lever = (mn_mat3){0};
    if (it[i].freedoms)
      *scale = mn_max(*scale, mn_max(add_own(s, it, i), mn_length(s->load[i])));
  }
  *scale = mn_max(*scale, add_springs(s, it));
  add_loads(s, it, f);
  for (int i = 0; i < s->rigid->count; i++)
    if (it[i].freedoms) {
      set_inertia(s, it, i);
      add_levers(s, it, i);
    }
}
