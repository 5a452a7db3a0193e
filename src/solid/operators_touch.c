/* Whether anything touches on the way from the start of the substep to the iterate of the operators
   (operators.c): all that contact would find there, rigid bodies carried by what takes them from
   their pose to the next one, nodes along straight lines. */
#include "math/vec.h"
#include "solid/solid_internal.h"

#include "base/status.h"

mn_status mn_solids_touches(void *self, int *any)
{
  mn_solids *s = self;
  mn_rigid *r = s->rigid;
  mn_contact_nodes nodes = {0};
  *any = 0;
  for (int i = 0; i < r->count; i++)
    s->free[i] = mn_solids_driven(s, i);
  if (s->deform && s->def.contacts) {
    for (size_t k = 0; k < s->nodes.nodes; k++) {
      s->node_x[k] = s->nodes.x[k];
      s->node_v[k] = mn_scale(1 / s->dt, mn_sub(s->nodes.x1[k], s->nodes.x[k]));
    }
    nodes = (mn_contact_nodes){.count = s->nodes.nodes,
                               .facets = s->facets,
                               .x = s->node_x,
                               .v = s->node_v,
                               .mass = s->nodes.mass,
                               .fixed = s->nodes.fixed,
                               .facet = s->facet,
                               .friction = s->node_friction};
  }
  mn_touches *found = &s->contact->again; /* scratch of a drift */
  MN_TRY(mn_contact_find(s->contact, r->now, s->free, s->free, &nodes, s->node_v, s->dt, found));
  *any = found->count > 0;
  found->count = 0;
  return MN_OK;
}
