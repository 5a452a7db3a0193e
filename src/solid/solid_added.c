/* Inertia that a coupling adds to points of the interface, felt inside the solve.

   Point i feels f_i = -m_i (V_i - V_i in)/dt, V_i its mean velocity in the substep. Deformable
   bodies have it in their equation (deform_added.c). Of a rigid body, with J_i the map from its
   velocity u = (v, w) in the drift to that of the point and theta the part of dt for which forces
   act before the drift (solid_step.c),

       u = v^n + W (theta dt (F + sum_i J_i^T f_i(u)) + l)
       f_i(u) ~ f_i(u_k) - m_i J_i (u - u_k)/dt

   With A = sum_i m_i J_i^T J_i, 6 x 6, as of points fixed to the body, and B = (1 + theta W A)^-1
   a pass of the drift is

       u <- u_k + B (v^n + W theta dt (F + sum J_i^T f_i(u_k)) - u_k) + B W l

   f_i(u_k) is taken from where the points go exactly, turns and all, so that when u stands still
   the forces are those of the outcome, and none if V in was that. Contact and springs see the
   mobility B W, joints included: W is that of the coordinate they have. Explicit bodies are
   kicked by contact with the added mass lumped to nodes, sum_i m_i w_ia: the same, where points are
   nodes. What settles after the drift moves no point in this substep: it sees the bodies' own
   masses. Verified by tests/unit/solid/test_added.c. */
#include "solid/solid_internal.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"

mn_status mn_solids_added_create(mn_solids *s)
{
  size_t n = (size_t)s->rigid->count;
  MN_TRY(MN_NEW(s->ctx, "added masses", n, &s->heavy));
  MN_TRY(MN_NEW(s->ctx, "added masses", n, &s->is_heavy));
  MN_TRY(MN_NEW(s->ctx, "added masses", n, &s->heavy_W));
  MN_TRY(MN_NEW(s->ctx, "poses", n, &s->ghost));
  return MN_NEW(s->ctx, "added masses", s->nodes.nodes, &s->node_mass);
}

void mn_solids_added_destroy(mn_solids *s)
{
  mn_free(s->heavy);
  mn_free(s->is_heavy);
  mn_free(s->heavy_W);
  mn_free(s->ghost);
  mn_free(s->node_mass);
}

/* ---- the 6 x 6 of a body --------------------------------------------------------------------- */

/* A += m J^T J of a point at arm r: v + w x r. */
static void add_point(double m, mn_vec3 r, double A[6][6])
{
  double J[3][6] = {{1, 0, 0, 0, r.z, -r.y}, {0, 1, 0, -r.z, 0, r.x}, {0, 0, 1, r.y, -r.x, 0}};
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++)
      for (int a = 0; a < 3; a++)
        A[i][j] += m * J[a][i] * J[a][j];
}

static void multiply(double X[6][6], double Y[6][6], double out[6][6])
{
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) {
      out[i][j] = 0;
      for (int k = 0; k < 6; k++)
        out[i][j] += X[i][k] * Y[k][j];
    }
}

/* Gauss and Jordan, with pivots by columns; 1 + W A, a product of semidefinite matrices, has
   eigenvalues of at least 1. */
static void invert(double X[6][6], double out[6][6])
{
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++)
      out[i][j] = i == j;
  for (int c = 0; c < 6; c++) {
    int p = c;
    for (int i = c + 1; i < 6; i++)
      p = fabs(X[i][c]) > fabs(X[p][c]) ? i : p;
    for (int j = 0; j < 6; j++) {
      double x = X[c][j], y = out[c][j];
      X[c][j] = X[p][j], out[c][j] = out[p][j];
      X[p][j] = x, out[p][j] = y;
    }
    double pivot = X[c][c];
    for (int j = 0; j < 6; j++)
      X[c][j] /= pivot, out[c][j] /= pivot;
    for (int i = 0; i < 6; i++) {
      double f = X[i][c];
      for (int j = 0; i != c && j < 6; j++)
        X[i][j] -= f * X[c][j], out[i][j] -= f * out[c][j];
    }
  }
}

void mn_solids_added_turn(mn_solids *s, int i, mn_mat3 S)
{
  double W[6][6], A[6][6], WA[6][6], theta = mn_solids_part(s);
  mn_rigid_mobility(&s->rigid->body[i], &s->rigid->now[i], W);
  for (int p = 0; p < 6; p++)
    for (int q = 0; q < 6; q++)
      A[p][q] = theta * s->heavy[i].A[p][q] + (p < 3 || q < 3 ? 0 : S.m[p - 3][q - 3]);
  multiply(W, A, WA);
  for (int p = 0; p < 6; p++)
    WA[p][p] += 1;
  invert(WA, s->heavy[i].B);
  multiply(s->heavy[i].B, W, s->heavy_W[i]);
  s->is_heavy[i] = 1;
}

/* ---- what a solve adds ----------------------------------------------------------------------- */

static mn_status check_masses(mn_solids *s, const mn_interface *f)
{
  s->rigid_added = s->soft_added = 0;
  for (size_t k = 0; f->mass && k < f->count; k++) {
    if (!(f->mass[k] >= 0) || !isfinite(f->mass[k]))
      return mn_fail(
          s->ctx, MN_FAILED,
          "point %zu of the interface has the fictitious mass %g kg, it must be 0 or more", k,
          f->mass[k]);
    if (f->mass[k] > 0 && !isfinite(mn_length(f->V[k])))
      return mn_fail(s->ctx, MN_FAILED,
                     "point %zu of the interface has a velocity that is not finite", k);
    if (f->mass[k] > 0 && k < s->points)
      s->rigid_added |= s->rigid->body[s->point[k].body].moves;
    else if (f->mass[k] > 0)
      s->soft_added = 1;
  }
  return MN_OK;
}

static void add_to_rigid(mn_solids *s, const mn_interface *f)
{
  const mn_rigid *r = s->rigid;
  for (size_t k = 0; k < s->points;) { /* points of a body stand together */
    int i = s->point[k].body;
    double sum = 0;
    for (; k < s->points && s->point[k].body == i; k++) {
      mn_vec3 arm = mn_quat_rotate(r->now[i].q, mn_sub(s->point[k].x, r->body[i].center));
      sum += f->mass[k];
      add_point(f->mass[k], arm, s->heavy[i].A);
    }
    if (!(sum > 0) || !r->body[i].moves)
      continue;
    s->heavy[i].any = 1;
    mn_solids_added_turn(s, i, (mn_mat3){0});
  }
}

static void add_to_nodes(mn_solids *s, const mn_interface *f)
{
  const mn_surface_points *points = &s->surface;
  for (size_t i = 0; i < s->nodes.nodes; i++)
    s->node_mass[i] = 0;
  for (size_t k = 0; k < points->count; k++)
    for (int a = 0; a < points->point[k].nodes; a++)
      s->node_mass[points->point[k].node[a]] += f->mass[s->points + k] * points->point[k].weight[a];
  for (size_t i = 0; i < s->nodes.nodes; i++) /* quadratic weights may be negative */
    s->node_mass[i] = s->nodes.mass[i] + mn_max(0, s->node_mass[i]);
}

mn_status mn_solids_add_masses(mn_solids *s, const mn_interface *f)
{
  s->given = f;
  MN_TRY(check_masses(s, f));
  for (int i = 0; i < s->rigid->count; i++)
    s->heavy[i] = (mn_heavy){0}, s->is_heavy[i] = 0;
  if (s->rigid_added)
    add_to_rigid(s, f);
  mn_contact_set_mobility(s->contact, s->is_heavy, (const double(*)[6][6])s->heavy_W);
  if (s->soft_added)
    add_to_nodes(s, f);
  if (s->deform)
    mn_deform_set_added(s->deform, s->soft_added ? &s->surface : NULL,
                        s->soft_added ? f->mass + s->points : NULL,
                        s->soft_added ? f->V + s->points : NULL);
  return MN_OK;
}

/* ---- in the drift ---------------------------------------------------------------------------- */

void mn_solids_set_velocity(const mn_rigid_body *b, mn_twist u, mn_rigid_state *state)
{
  if (b->def.joint == MN_JOINT_NONE) {
    mn_vec3 w = mn_quat_rotate(mn_quat_conjugate(state->q), u.w);
    w = mn_mat3_apply(mn_mat3_transpose(b->axes), w);
    for (int a = 0; a < 3; a++)
      w.v[a] *= b->inertia.v[a];
    state->v = u.v;
    state->L = mn_quat_rotate(state->q, mn_mat3_apply(b->axes, w));
    return;
  }
  state->rate = mn_dot(b->def.axis, b->def.joint == MN_JOINT_HINGE ? u.w : u.v);
  mn_rigid_kick(b, state, mn_v3(0, 0, 0), mn_v3(0, 0, 0)); /* velocities of the rate */
}

void mn_solids_added_loads(mn_solids *s)
{
  const mn_rigid *r = s->rigid;
  const mn_interface *f = s->given;
  if (!s->rigid_added)
    return;
  for (int i = 0; i < r->count; i++) {
    s->heavy[i].load = s->heavy[i].twist = mn_v3(0, 0, 0);
    if (!s->heavy[i].any)
      continue;
    s->ghost[i] = r->now[i];
    mn_solids_set_velocity(&r->body[i], s->u[i], &s->ghost[i]);
    mn_solids_move(&r->body[i], &s->ghost[i], s->push[i], s->dt);
  }
  for (size_t k = 0; k < s->points; k++) {
    int i = s->point[k].body;
    if (!s->heavy[i].any || f->mass[k] == 0)
      continue;
    mn_vec3 from = mn_rigid_point(&r->body[i], &r->now[i], s->point[k].x);
    mn_vec3 to = mn_rigid_point(&r->body[i], &s->ghost[i], s->point[k].x);
    mn_vec3 gap = mn_madd(mn_scale(-1, f->V[k]), 1 / s->dt, mn_sub(to, from));
    mn_vec3 force = mn_scale(-f->mass[k] / s->dt, gap);
    mn_vec3 arm = mn_sub(f->X[k], s->mean[i]);
    s->heavy[i].load = mn_add(s->heavy[i].load, force);
    s->heavy[i].twist = mn_add(s->heavy[i].twist, mn_cross(arm, force));
  }
}

void mn_solids_added_free(mn_solids *s)
{
  for (int i = 0; i < s->rigid->count; i++) {
    if (!s->is_heavy[i])
      continue;
    mn_twist *free = &s->free[i];
    const mn_twist *u = &s->u[i];
    double d[6];
    for (int a = 0; a < 3; a++)
      d[a] = free->v.v[a] - u->v.v[a], d[3 + a] = free->w.v[a] - u->w.v[a];
    for (int a = 0; a < 3; a++) {
      const double *v = s->heavy[i].B[a], *w = s->heavy[i].B[3 + a];
      free->v.v[a] = u->v.v[a], free->w.v[a] = u->w.v[a];
      for (int j = 0; j < 6; j++)
        free->v.v[a] += v[j] * d[j], free->w.v[a] += w[j] * d[j];
    }
  }
}
