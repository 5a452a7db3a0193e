/* The mean force on each body in the last substep, of loads on the interface and of contact.

   Rigid bodies have it in their state. Of a deformable one it is summed over its nodes: the loads,
   the touches inside the implicit solve (each presses on nodes of its body with the touch's force
   times their weights, on a deformable partner the other way), or with explicit bodies the
   momentum that contact gives after the solve, over dt. Gravity, links and what holds fixed nodes are not in
   it. Verified by tests/unit/world/test_force.c. */
#include "solid/solid_internal.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"

mn_status mn_solids_force_create(mn_solids *s)
{
  size_t n = (size_t)s->nodes.bodies;
  MN_TRY(MN_NEW(s->ctx, "forces on bodies", n, &s->soft_force));
  MN_TRY(MN_NEW(s->ctx, "forces on bodies", n, &s->saved_force));
  MN_TRY(MN_NEW(s->ctx, "forces on bodies", n, &s->kick_force));
  return MN_NEW(s->ctx, "bodies of nodes", s->nodes.nodes, &s->body_of);
}

void mn_solids_force_destroy(mn_solids *s)
{
  mn_free(s->soft_force);
  mn_free(s->saved_force);
  mn_free(s->kick_force);
  mn_free(s->body_of);
}

void mn_solids_kicks(mn_solids *s, int after)
{
  for (int b = 0; b < s->nodes.bodies; b++) {
    const mn_deform_body *body = &s->nodes.body[b];
    mn_vec3 sum = {0};
    for (uint32_t i = body->first; i < body->first + body->nodes; i++) {
      s->body_of[i] = b;
      sum = mn_madd(sum, s->nodes.mass[i] / s->dt, s->nodes.v1[i]);
    }
    s->kick_force[b] = after ? mn_sub(sum, s->kick_force[b]) : sum;
  }
}

void mn_solids_sum_forces(mn_solids *s)
{
  for (int b = 0; b < s->nodes.bodies; b++) {
    const mn_deform_body *body = &s->nodes.body[b];
    mn_vec3 sum = s->kick_force[b];
    for (uint32_t i = body->first; i < body->first + body->nodes; i++)
      sum = mn_add(sum, s->node_load[i]);
    s->soft_force[b] = sum;
  }
  for (size_t k = 0; k < s->touch.count; k++) {
    const mn_touch *t = &s->touch.at[k];
    mn_vec3 force = mn_madd(t->tangent, t->impulse, t->n); /* on the rigid partner */
    for (int q = 0; q < t->nodes; q++) {
      mn_vec3 *sum = &s->soft_force[s->body_of[t->node[q]]];
      *sum = mn_madd(*sum, -t->weight[q], force);
    }
  }
}

mn_vec3 mn_solids_force(mn_solids *s, int body)
{
  if (body >= s->rigid->count)
    return s->soft_force[body - s->rigid->count];
  return mn_add(s->rigid->now[body].load, s->rigid->now[body].contact);
}
