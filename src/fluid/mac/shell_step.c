/* Thin shells that end a substep elsewhere than its begin expected.

   What begin carried is right for shells that went with the velocity of the substep before. From
   there they go on to where the solve, and at last the commit, have them: a short way. A point that
   they pass on it changes sides, and takes its value from neighbours on its new side; a particle
   that they pass is pushed ahead of them.

   Verified by tests/unit/fluid/test_shell.c, tests/verify/test_no_leak.c. */
#include "fluid/mac/internal.h"

#include <string.h>

#include "base/status.h"

static void undo(mn_shell *s, int n, mn_field *f)
{
  struct mn_shell_undo *u = &s->undo[n];
  for (size_t i = 0; i < u->count; i++)
    f->data[u->at[i]] = u->value[i];
  u->count = 0;
}

/* Fills what the shells pass, and keeps what was there. */
static mn_status mend(mn_mac *mac, int n, mn_field *f, double otherwise)
{
  mn_shell *s = &mac->shell;
  struct mn_shell_undo *u = &s->undo[n];
  size_t count = (size_t)mn_shell_mark_passed(mac, f);
  if (!count)
    return MN_OK;
  if (count > u->room) {
    size_t room = count + count / 2;
    MN_TRY(mn_grow(mac->ctx, "points passed", u->room, room, sizeof *u->at, (void **)&u->at));
    MN_TRY(mn_grow(mac->ctx, "points passed", u->room, room, sizeof *u->value, (void **)&u->value));
    u->room = room;
  }
  const unsigned char *end = s->hole + f->size;
  for (const unsigned char *p = s->hole; p < end && (p = memchr(p, 1, (size_t)(end - p))); p++) {
    u->at[u->count] = p - s->hole;
    u->value[u->count++] = f->data[p - s->hole];
  }
  mn_shell_refill(mac, f, otherwise);
  return MN_OK;
}

mn_status mn_shell_place(mn_mac *mac, const mn_immersed *end, const mn_vec3 *V)
{
  mn_shell *s = &mac->shell;
  int water = mac->liquid_next.data != NULL;
  if (!s->on)
    return MN_OK;
  for (int a = 0; a < mac->grid.dim; a++)
    undo(s, a, &mac->star[a]);
  if (water)
    undo(s, 3, &mac->liquid_next);
  MN_TRY(mn_sweep_make(&s->sweep, end, s->last, end->X));
  MN_TRY(mn_barrier_place(&s->end, end, V));
  MN_TRY(mn_shell_measure(mac));
  for (int a = 0; a < mac->grid.dim; a++)
    MN_TRY(mend(mac, a, &mac->star[a], 0));
  return water ? mend(mac, 3, &mac->liquid_next, mac->grid.dx) : MN_OK;
}

void mn_shell_commit(mn_mac *mac)
{
  mn_shell *s = &mac->shell;
  if (!s->on)
    return;
  if (mac->smoke_next.data && mn_shell_mark_passed(mac, &mac->smoke_next)) {
    mn_shell_refill(mac, &mac->smoke_next, 0);
    mn_mac_fill_cells(&mac->smoke_next);
  }
  if (mac->temperature_next.data && mn_shell_mark_passed(mac, &mac->temperature_next)) {
    mn_shell_refill(mac, &mac->temperature_next, mac->def->fluid.ambient);
    mn_mac_fill_cells(&mac->temperature_next);
  }
}
