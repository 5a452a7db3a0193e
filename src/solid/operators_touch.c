/* Whether anything touches on the way from the start of the substep to the iterate of the operators
   (operators.c): all that contact would find there, rigid bodies carried by what takes them from
   their pose to the next one, nodes along straight lines. But what only slides along, on a rail
   that leads neither nearer nor away, as a piston in its cylinder, feels nothing of it. */
#include <math.h>

#include "math/vec.h"
#include "solid/solid_internal.h"

#include "base/status.h"

/* Body i neither nears nor leaves anything along n. */
static int slides_along(const mn_solids *s, int i, mn_vec3 n)
{
  if (i < 0)
    return 0;
  const mn_rigid_body *b = &s->rigid->body[i];
  const mn_twist *u = &s->free[i];
  if (b->moves)
    return b->def.joint == MN_JOINT_PRISMATIC && fabs(mn_dot(b->def.axis, n)) <= MN_ALONG;
  return mn_dot(u->v, u->v) == 0 && mn_dot(u->w, u->w) == 0;
}

static int matters(const mn_solids *s, const mn_touch *t)
{
  int overlap = t->gap < -s->def.contact.slop * t->size;
  return overlap || !slides_along(s, t->a, t->n) || !slides_along(s, t->b, t->n);
}

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
  for (size_t i = 0; i < found->count; i++)
    *any |= matters(s, &found->at[i]);
  found->count = 0;
  return *any ? MN_OK : mn_solids_press_any(s, any);
}
