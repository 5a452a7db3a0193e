/* What loads do to the solids through their mass alone: the first guess of a coupling that seeks
   the pressure of a closed region, and the mass in its projection.

       rigid       a = dv + dw x r,   (dv, dw) = theta W (sum load, sum r x load),   W: mobility of
                   the body or of what its joint leaves free, at the pose of the start
       deformable  a = sum_a w_a da,  da = part / m_a  sum_i w_ia load_i  on axes that are not fixed

   theta and part: how far the rule in time lets a constant force move a free mass in a substep,
   over dt^2 force/mass: 1 for backward Euler and explicit bodies, 1/2 for midpoint rules, beta of
   Newmark. So X of the next solve changes by dt^2 a, V by dt a, where neither stiffness nor contact
   has a say. Masses of deformable bodies are lumped, so there is nothing to solve.

   And what impulses at the end of a substep do to the velocities there, where these are not those
   of the path: v += W (sum impulse, sum r x impulse), v_a += sum_i w_ia impulse_i / m_a. What
   touches feels them before contact does: its impulses of the end are found anew. Verified by
   tests/unit/solid/test_accelerate.c. */
#include "solid/solid_internal.h"

#include <string.h>

#include "base/status.h"

static void accelerate_rigid(mn_solids *s, mn_interface *f)
{
  const mn_rigid *r = s->rigid;
  double theta = mn_solids_part(s);
  for (int i = 0; i < r->count; i++) {
    /* the torque is about the points' mean where they are: look gave them */
    mn_vec3 P = s->load[i];
    mn_vec3 arm = mn_quat_rotate(r->now[i].q, s->arm[i]);
    mn_vec3 T = mn_add(s->twist[i], mn_cross(arm, P));
    double W[6][6], force[6] = {P.x, P.y, P.z, T.x, T.y, T.z}, twist[6] = {0};
    mn_rigid_mobility(&r->body[i], &r->now[i], W);
    for (int a = 0; a < 6; a++)
      for (int b = 0; b < 6; b++)
        twist[a] += theta * W[a][b] * force[b];
    s->push[i] =
        (mn_twist){mn_v3(twist[0], twist[1], twist[2]), mn_v3(twist[3], twist[4], twist[5])};
  }
  for (size_t k = 0; k < s->points; k++) {
    int i = s->point[k].body;
    mn_vec3 at = mn_rigid_point(&r->body[i], &r->now[i], s->point[k].x);
    f->V[k] = mn_twist_at(s->push[i], mn_sub(at, r->now[i].x));
  }
}

static void accelerate_nodes(mn_solids *s, mn_interface *f)
{
  double part = mn_deform_part(s->deform);
  for (size_t i = 0; i < s->nodes.nodes; i++)
    for (int a = 0; a < 3; a++)
      s->node_v[i].v[a] = a >= s->def.dim || s->nodes.fixed[i] >> a & 1
                              ? 0
                              : part * s->node_load[i].v[a] / s->nodes.mass[i];
  for (size_t k = 0; k < s->surface.count; k++) {
    const mn_surface_point *p = s->surface.point + k;
    mn_vec3 sum = mn_v3(0, 0, 0);
    for (int a = 0; a < p->nodes; a++)
      sum = mn_madd(sum, p->weight[a], s->node_v[p->node[a]]);
    f->V[s->points + k] = sum;
  }
}

mn_status mn_solids_accelerate(void *self, mn_interface *f)
{
  mn_solids *s = self;
  if (f->count == 0)
    return MN_OK;
  MN_TRY(mn_solids_take(s, f)); /* the next solve takes its own */
  accelerate_rigid(s, f);
  if (s->deform)
    accelerate_nodes(s, f);
  return MN_OK;
}

/* ---- impulses at the end --------------------------------------------------------------------- */

static void settle_rigid(mn_solids *s, const mn_interface *f)
{
  mn_rigid *r = s->rigid;
  for (size_t k = 0; k < s->points; k++) {
    int i = s->point[k].body;
    mn_vec3 P = f->load[k], T = mn_cross(mn_sub(f->X[k], r->next[i].x), P);
    if (!(f->lead[k] > 0))
      continue;
    mn_rigid_kick(&r->body[i], &r->next[i], P, T);
    r->next[i].load = mn_madd(r->next[i].load, 1 / s->dt, P);
    r->next[i].torque = mn_madd(r->next[i].torque, 1 / s->dt, T);
  }
}

static void settle_nodes(mn_solids *s, const mn_interface *f)
{
  memset(s->node_v, 0, s->nodes.nodes * sizeof *s->node_v); /* free after the step */
  mn_surface_scatter(&s->surface, f, s->points, s->node_v);
  for (size_t i = 0; i < s->nodes.nodes; i++)
    for (int a = 0; a < s->def.dim; a++)
      if (!(s->nodes.fixed[i] >> a & 1))
        s->nodes.v1[i].v[a] += s->node_v[i].v[a] / s->nodes.mass[i];
}

mn_status mn_solids_settle(void *self, mn_interface *f)
{
  mn_solids *s = self;
  mn_rigid *r = s->rigid;
  /* nodes of explicit bodies that contact kicks keep what they got, and so must their partners */
  int again = !s->facets || s->inside;
  if (f->count == 0)
    return MN_OK;
  if (again)
    memcpy(r->next, s->bare, (size_t)r->count * sizeof *r->next);
  settle_rigid(s, f);
  if (s->deform && f->count > s->points && f->lead[s->points] > 0)
    settle_nodes(s, f);
  if (again)
    MN_TRY(mn_solids_settle_contact(s));
  mn_solids_show(s, f);
  return MN_OK;
}
