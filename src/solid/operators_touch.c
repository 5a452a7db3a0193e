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
  const mn_contact_nodes none = {0};
  *any = 0;
  for (int i = 0; i < r->count; i++)
    s->free[i] = mn_solids_driven(s, i);
  mn_touches *found = &s->contact->again; /* scratch of a drift */
  MN_TRY(mn_contact_find(s->contact, r->now, s->free, s->free, &none, s->node_v, s->dt, found));
  *any = found->count > 0;
  found->count = 0;
  return *any ? MN_OK : mn_solids_press_any(s, any);
}
