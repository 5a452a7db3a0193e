/* Rigid bodies: how they are made and measured. What they do is in rigid_move.c. */
#include "solid/rigid.h"

#include <stdio.h>

#include "base/memory.h"
#include "base/status.h"
#include "la/dense.h"
#include "solid/sample.h"

mn_rigid_def mn_rigid_def_default(void)
{
  return (mn_rigid_def){.density = 1000,
                        .axis = mn_v3(0, 0, 1),
                        .motion = {.axis = mn_v3(0, 0, 1),
                                   .path = mn_timefn_constant(0),
                                   .turn = mn_timefn_constant(0)},
                        .slide_ramp = mn_timefn_constant(1),
                        .force_ramp = mn_timefn_constant(1),
                        .torque_ramp = mn_timefn_constant(1),
                        .friction = 0.3,
                        .collides = 1,
                        .sampled = 1};
}

/* Of the size: what stands out by less is no edge; a quarter of the slop of contact. */
static const double STANDS_OUT = 2.5e-4;

/* ---- making ---------------------------------------------------------------------------------- */

static mn_status check_def(mn_context *ctx, int dim, const char *name, const mn_rigid_def *d)
{
  if (mn_shape_dim(d->shape) != dim)
    return mn_fail(ctx, MN_BAD_INPUT, "%s has a shape of %d dimensions, the scene has %d", name,
                   mn_shape_dim(d->shape), dim);
  if (!(d->mass >= 0) || !isfinite(d->mass))
    return mn_fail(ctx, MN_BAD_INPUT, "%s.mass is %g kg, it must not be negative", name, d->mass);
  if (d->mass == 0 && (!(d->density > 0) || !isfinite(d->density)))
    return mn_fail(ctx, MN_BAD_INPUT, "%s.density is %g kg/m^3, it must be positive", name,
                   d->density);
  if (!(d->friction >= 0) || !isfinite(d->friction))
    return mn_fail(ctx, MN_BAD_INPUT, "%s.friction is %g, it must not be negative", name,
                   d->friction);
  if (!(d->restitution >= 0 && d->restitution <= 1))
    return mn_fail(ctx, MN_BAD_INPUT, "%s.restitution is %g, it must be between 0 and 1", name,
                   d->restitution);
  double length = mn_length(d->axis);
  if ((d->joint == MN_JOINT_PRISMATIC || d->joint == MN_JOINT_HINGE) &&
      (!(length > 0) || !isfinite(length)))
    return mn_fail(ctx, MN_BAD_INPUT, "%s.axis has no direction; its joint needs one", name);
  if (dim == 2 && d->joint == MN_JOINT_HINGE && (d->axis.x != 0 || d->axis.y != 0))
    return mn_fail(ctx, MN_BAD_INPUT, "%s.axis of a hinge must be along z in two dimensions", name);
  if (dim == 2 && d->joint == MN_JOINT_PRISMATIC && d->axis.z != 0)
    return mn_fail(ctx, MN_BAD_INPUT, "%s.axis must lie in the plane in two dimensions", name);
  return MN_OK;
}

/* A sphere, possibly within transforms. */
static int find_sphere(const mn_shape *s, mn_vec3 *center, double *radius)
{
  if (s->kind == MN_SHAPE_SPHERE) {
    *center = s->a, *radius = s->r;
    return 1;
  }
  if (s->kind != MN_SHAPE_TRANSFORM || !find_sphere(s->part[0], center, radius))
    return 0;
  mn_vec3 c = mn_scale(s->r, *center);
  *center = mn_add(s->a, mn_v3(mn_dot(s->row[0], c), mn_dot(s->row[1], c), mn_dot(s->row[2], c)));
  *radius *= s->r;
  return 1;
}

static void find_bound(mn_rigid_body *b, int dim)
{
  mn_vec3 lo, hi;
  mn_shape_bounds(b->def.shape, &lo, &hi);
  double far = 0;
  for (int a = 0; a < dim; a++) {
    double r = mn_max(hi.v[a] - b->center.v[a], b->center.v[a] - lo.v[a]);
    far += r * r;
  }
  b->bound = isfinite(far) ? sqrt(far) : HUGE_VAL;
  if (b->radius > 0)
    b->bound = b->radius + mn_length(mn_sub(b->ball, b->center));
}

static mn_status principal_axes(mn_context *ctx, int dim, mn_mat3 inertia, mn_rigid_body *b)
{
  b->axes = mn_mat3_identity();
  if (dim == 2) {
    b->inertia = mn_v3(0, 0, inertia.m[2][2]);
    b->inverse = mn_v3(0, 0, 1 / inertia.m[2][2]);
    return MN_OK;
  }
  mn_arena arena = {0};
  double a[9], w[3], v[9], off = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      a[i + 3 * j] = inertia.m[i][j];
      off += i == j ? 0 : fabs(inertia.m[i][j]);
    }
  if (off <= 1e-14 * (a[0] + a[4] + a[8])) /* keeps the axes of a box in their order */
    for (int i = 0; i < 3; i++)
      w[i] = a[4 * i];
  else {
    mn_status status = mn_dense_eigen(ctx, &arena, 3, a, w, v);
    mn_arena_destroy(&arena);
    MN_TRY(status);
    b->axes =
        mn_mat3_columns(mn_v3(v[0], v[1], v[2]), mn_v3(v[3], v[4], v[5]), mn_v3(v[6], v[7], v[8]));
  }
  b->inertia = mn_v3(w[0], w[1], w[2]);
  b->inverse = mn_v3(1 / w[0], 1 / w[1], 1 / w[2]);
  return MN_OK;
}

static mn_status make_mass(mn_context *ctx, int dim, mn_rigid_body *b)
{
  mn_vec3 lo, hi;
  mn_shape_bounds(b->def.shape, &lo, &hi);
  if (!b->moves && !isfinite(mn_length(mn_sub(hi, lo)))) {
    b->axes = mn_mat3_identity();
    return MN_OK; /* a wall */
  }
  mn_mass m;
  MN_TRY(mn_mass_of_shape(ctx, b->def.shape, 0, &m));
  b->volume = m.volume;
  b->center = m.center;
  b->mass = b->def.mass > 0 ? b->def.mass : b->def.density * m.volume;
  return principal_axes(ctx, dim, mn_mat3_scale(b->mass / m.volume, mn_mass_inertia(&m)), b);
}

static mn_status make_body(mn_rigid *r, int i, const mn_rigid_def *def)
{
  mn_rigid_body *b = &r->body[i];
  b->def = *def;
  snprintf(b->name, sizeof b->name, "%s", def->name ? def->name : "a rigid body");
  b->def.name = b->name;
  MN_TRY(check_def(r->ctx, r->dim, b->name, def));
  double length = mn_length(def->axis);
  b->def.axis = length > 0 ? mn_scale(1 / length, def->axis) : mn_v3(0, 0, 1);
  b->moves = def->joint != MN_JOINT_FIXED && def->joint != MN_JOINT_DRIVEN;
  MN_TRY(make_mass(r->ctx, r->dim, b));
  if (!find_sphere(def->shape, &b->ball, &b->radius))
    b->radius = 0;
  find_bound(b, r->dim);
  if (def->joint == MN_JOINT_HINGE) {
    mn_vec3 d = b->def.axis, arm = mn_cross(d, mn_sub(b->center, def->point));
    mn_vec3 p = mn_mat3_apply(mn_mat3_transpose(b->axes), d);
    b->hinge = b->mass * mn_dot(arm, arm);
    for (int a = 0; a < 3; a++)
      b->hinge += b->inertia.v[a] * p.v[a] * p.v[a];
  }
  b->spacing = b->bound / 6;
  if (b->radius > 0 || !isfinite(b->bound) || !b->def.collides)
    return MN_OK;
  MN_TRY(mn_sharp_find(r->ctx, def->shape, STANDS_OUT * b->bound, &b->sharp));
  return mn_sample_contact(r->ctx, def->shape, b->spacing, &b->point, &b->normal, &b->points);
}

static void start_state(const mn_rigid_body *b, mn_rigid_state *s)
{
  const mn_rigid_def *d = &b->def;
  s->x = b->center;
  s->q = mn_quat_identity();
  if (!b->moves)
    mn_rigid_drive(b, s, 0);
  if (!b->moves)
    return;
  if (d->joint == MN_JOINT_NONE) {
    s->v = d->velocity;
    mn_vec3 w = mn_mat3_apply(mn_mat3_transpose(b->axes), d->spin);
    for (int a = 0; a < 3; a++)
      w.v[a] *= b->inertia.v[a];
    s->L = mn_mat3_apply(b->axes, w);
    return;
  }
  s->rate = d->joint == MN_JOINT_HINGE ? mn_dot(d->spin, d->axis) : mn_dot(d->velocity, d->axis);
  mn_rigid_kick(b, s, mn_v3(0, 0, 0), mn_v3(0, 0, 0)); /* v and L follow from the rate */
}

static mn_status make_springs(mn_rigid *r, const mn_spring_def *springs, int count)
{
  r->springs = count;
  MN_TRY(MN_NEW(r->ctx, "springs", (size_t)count, &r->spring));
  for (int i = 0; i < count; i++) {
    mn_spring_def *s = &r->spring[i];
    *s = springs[i];
    if (s->a < 0 || s->a >= r->count || s->b < -1 || s->b >= r->count || s->a == s->b)
      return mn_fail(r->ctx, MN_BAD_INPUT,
                     "springs[%d] joins bodies %d and %d; it must join two different ones below "
                     "%d, or one and the world (-1)",
                     i + 1, s->a, s->b, r->count);
    if (!(s->stiffness >= 0) || !(s->damping >= 0) || !isfinite(s->stiffness + s->damping))
      return mn_fail(r->ctx, MN_BAD_INPUT,
                     "springs[%d] has the stiffness %g and the damping %g; they must not be "
                     "negative",
                     i + 1, s->stiffness, s->damping);
    if (s->torsion && (r->body[s->a].def.joint != MN_JOINT_HINGE || s->b >= 0))
      return mn_fail(r->ctx, MN_BAD_INPUT, "springs[%d] is of torsion: body %d must be a hinge",
                     i + 1, s->a);
    if (s->length < 0 && !s->torsion)
      s->length = mn_length(mn_sub(s->at_a, s->at_b));
  }
  return MN_OK;
}

static mn_status make_all(mn_rigid *r, const mn_rigid_def *defs, const mn_spring_def *springs,
                          int spring_count)
{
  size_t n = (size_t)r->count;
  MN_TRY(MN_NEW(r->ctx, "rigid bodies", n, &r->body));
  MN_TRY(MN_NEW(r->ctx, "states of rigid bodies", n, &r->now));
  MN_TRY(MN_NEW(r->ctx, "states of rigid bodies", n, &r->next));
  MN_TRY(MN_NEW(r->ctx, "states of rigid bodies", n, &r->saved));
  for (int i = 0; i < r->count; i++) {
    MN_TRY(make_body(r, i, &defs[i]));
    start_state(&r->body[i], &r->now[i]);
    r->next[i] = r->saved[i] = r->now[i];
  }
  return make_springs(r, springs, spring_count);
}

mn_status mn_rigid_create(mn_context *ctx, int dim, mn_vec3 gravity, const mn_rigid_def *defs,
                          int count, const mn_spring_def *springs, int spring_count,
                          mn_rigid **rigid)
{
  *rigid = NULL;
  mn_rigid *r;
  MN_TRY(MN_NEW(ctx, "rigid bodies", 1, &r));
  r->ctx = ctx, r->dim = dim, r->gravity = gravity, r->count = count;
  mn_status status = make_all(r, defs, springs, spring_count);
  if (status != MN_OK)
    mn_rigid_destroy(&r);
  *rigid = r;
  return status;
}

void mn_rigid_destroy(mn_rigid **rigid)
{
  mn_rigid *r = *rigid;
  if (r) {
    for (int i = 0; r->body && i < r->count; i++) {
      mn_free(r->body[i].point);
      mn_free(r->body[i].normal);
      mn_sharp_destroy(&r->body[i].sharp);
    }
    mn_free(r->body);
    mn_free(r->now);
    mn_free(r->next);
    mn_free(r->saved);
    mn_free(r->spring);
    mn_free(r);
  }
  *rigid = NULL;
}

/* ---- measures -------------------------------------------------------------------------------- */

static void range(const mn_rigid *r, int body, int *first, int *last)
{
  *first = body < 0 ? 0 : body;
  *last = body < 0 ? r->count : body + 1;
}

double mn_rigid_kinetic(const mn_rigid *r, int body)
{
  int first, last;
  range(r, body, &first, &last);
  double sum = 0;
  for (int i = first; i < last; i++)
    if (r->body[i].moves) {
      const mn_rigid_state *s = &r->now[i];
      sum += 0.5 * r->body[i].mass * mn_dot(s->v, s->v) +
             0.5 * mn_dot(mn_rigid_twist(&r->body[i], s).w, s->L);
    }
  return sum;
}

double mn_rigid_potential(const mn_rigid *r, int body)
{
  int first, last;
  range(r, body, &first, &last);
  double sum = 0;
  for (int i = first; i < last; i++)
    if (r->body[i].moves)
      sum -= r->body[i].mass * mn_dot(r->gravity, r->now[i].x);
  return sum;
}

double mn_rigid_spring_energy(const mn_rigid *r)
{
  double sum = 0;
  for (int i = 0; i < r->springs; i++) {
    const mn_spring_def *s = &r->spring[i];
    if (s->torsion) {
      double turn = r->now[s->a].s - s->length;
      sum += 0.5 * s->stiffness * turn * turn;
      continue;
    }
    mn_vec3 a = mn_rigid_point(&r->body[s->a], &r->now[s->a], s->at_a);
    mn_vec3 b = s->b < 0 ? s->at_b : mn_rigid_point(&r->body[s->b], &r->now[s->b], s->at_b);
    double stretch = mn_length(mn_sub(a, b)) - s->length;
    sum += 0.5 * s->stiffness * stretch * stretch;
  }
  return sum;
}

mn_vec3 mn_rigid_momentum(const mn_rigid *r, int body)
{
  int first, last;
  range(r, body, &first, &last);
  mn_vec3 sum = {0};
  for (int i = first; i < last; i++)
    if (r->body[i].moves)
      sum = mn_madd(sum, r->body[i].mass, r->now[i].v);
  return sum;
}

mn_vec3 mn_rigid_angular(const mn_rigid *r, int body, mn_vec3 about)
{
  int first, last;
  range(r, body, &first, &last);
  mn_vec3 sum = {0};
  for (int i = first; i < last; i++)
    if (r->body[i].moves) {
      const mn_rigid_state *s = &r->now[i];
      sum = mn_madd(mn_add(sum, s->L), r->body[i].mass, mn_cross(mn_sub(s->x, about), s->v));
    }
  return sum;
}

double mn_rigid_angle(const mn_rigid *r, int body)
{
  const mn_rigid_state *s = &r->now[body];
  if (r->body[body].def.joint == MN_JOINT_HINGE || r->body[body].def.joint == MN_JOINT_DRIVEN)
    return s->s;
  mn_vec3 turn = mn_quat_log(s->q);
  if (r->dim == 3)
    return mn_length(turn);
  return turn.z + 2 * MN_PI * round((s->s - turn.z) / (2 * MN_PI));
}
