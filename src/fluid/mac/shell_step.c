/* Thin shells that end a substep elsewhere than its begin expected.

   What begin carried is right for shells that went with the velocity of the substep before. From
   there they go on to where the solve, and at last the commit, have them: a short way. A point that
   they pass on it changes sides, and takes its value from neighbours on its new side; a particle
   that they pass is pushed ahead of them.

   Verified by tests/unit/fluid/test_shell.c, tests/verify/test_no_leak.c. */
#include "fluid/mac/internal.h"

#include <string.h>

#include "base/status.h"

/* The last change first: a point may have been changed twice. */
static void undo(mn_shell *s, int n, mn_field *f)
{
  struct mn_shell_undo *u = &s->undo[n];
  for (size_t i = u->count; i-- > 0;)
    f->data[u->at[i]] = u->value[i];
  u->count = 0;
}

/* Keeps the value of a point that will be changed. */
static mn_status remember(mn_mac *mac, int n, const mn_field *f, int64_t q)
{
  struct mn_shell_undo *u = &mac->shell.undo[n];
  if (u->count == u->room) {
    size_t room = 2 * u->room + 64;
    MN_TRY(mn_grow(mac->ctx, "points passed", u->room, room, sizeof *u->at, (void **)&u->at));
    MN_TRY(mn_grow(mac->ctx, "points passed", u->room, room, sizeof *u->value, (void **)&u->value));
    u->room = room;
  }
  u->at[u->count] = q;
  u->value[u->count++] = f->data[q];
  return MN_OK;
}

/* Fills what the shells pass, and keeps what was there. */
static mn_status mend(mn_mac *mac, int n, mn_field *f, double otherwise)
{
  const unsigned char *hole = mac->shell.hole, *end = hole + f->size;
  if (!mn_shell_mark_passed(mac, f))
    return MN_OK;
  for (const unsigned char *p = hole; p < end && (p = memchr(p, 1, (size_t)(end - p))); p++)
    MN_TRY(remember(mac, n, f, p - hole));
  mn_shell_refill(mac, f, otherwise);
  return MN_OK;
}

/* gradient <- grad p^n / rho at a face inside the domain, with p^n as it is now */
static void differ(mn_mac *mac, int axis, const int at[3])
{
  const mn_field *p = &mac->state.p;
  mn_field *f = &mac->gradient[axis];
  if (at[axis] <= 0 || at[axis] >= f->n[axis] - 1)
    return;
  const double *high = p->at + mn_index(p, at[0], at[1], at[2]);
  mn_set(f, at[0], at[1], at[2],
         (high[0] - high[-p->stride[axis]]) / (mac->def->fluid.density * mac->grid.dx));
}

mn_status mn_shell_turn_gradient(mn_mac *mac)
{
  const struct mn_shell_undo *u = &mac->shell.undo[MN_MEND_PRESSURE];
  if (!mac->shell.on)
    return MN_OK;
  MN_TRY(mend(mac, MN_MEND_PRESSURE, &mac->state.p, 0));
  for (size_t n = 0; n < u->count; n++)
    for (int a = 0; a < mac->grid.dim; a++) {
      int at[3];
      mn_field_point(&mac->state.p, u->at[n], at);
      differ(mac, a, at);
      at[a]++;
      differ(mac, a, at);
    }
  undo(&mac->shell, MN_MEND_PRESSURE, &mac->state.p);
  return MN_OK;
}

mn_status mn_shell_place(mn_mac *mac, const mn_immersed *end, const mn_vec3 *V, long stamp)
{
  mn_shell *s = &mac->shell;
  if (!s->on || (stamp && s->stamp == stamp))
    return MN_OK;
  s->stamp = 0;
  for (int a = 0; a < mac->grid.dim; a++)
    undo(s, MN_MEND_STAR + a, &mac->star[a]);
  undo(s, MN_MEND_LIQUID, &mac->liquid_next);
  MN_TRY(mn_sweep_make(&s->sweep, end, s->last, end->X));
  MN_TRY(mn_barrier_place(&s->end, end, V));
  MN_TRY(mn_shell_measure(mac));
  MN_TRY(mn_shell_reserve_sides(mac, end->links));
  for (int a = 0; a < mac->grid.dim; a++)
    MN_TRY(mend(mac, MN_MEND_STAR + a, &mac->star[a], 0));
  if (mac->liquid_next.data)
    MN_TRY(mend(mac, MN_MEND_LIQUID, &mac->liquid_next, mac->grid.dx));
  s->stamp = stamp;
  return MN_OK;
}

static void mend_carried(mn_mac *mac, mn_field *f, double otherwise)
{
  if (!f->data || !mn_shell_mark_passed(mac, f))
    return;
  mn_shell_refill(mac, f, otherwise);
  mn_mac_fill_cells(f);
}

mn_status mn_shell_commit(mn_mac *mac)
{
  mn_shell *s = &mac->shell;
  if (!s->on)
    return MN_OK;
  mend_carried(mac, &mac->smoke_next, 0);
  mend_carried(mac, &mac->temperature_next, mac->def->fluid.ambient);
  return mac->water.on ? mn_water_push(mac) : MN_OK;
}

void mn_shell_forget_before(mn_mac *mac)
{
  const mn_shell *s = &mac->shell;
  const mn_grid *g = &mac->grid;
  if (!s->on || !mac->state.before[0].data)
    return;
  for (int k = 0; k < g->n[2]; k++)
    for (int j = 0; j < g->n[1]; j++)
      for (int i = 0; i < g->n[0]; i++)
        if (s->far[i + (int64_t)g->n[0] * (j + (int64_t)g->n[1] * k)] <= 1)
          for (int a = 0; a < g->dim; a++) {
            const mn_field *u = &mac->state.u[a];
            int64_t q = mn_index(u, i, j, k);
            mac->state.before[a].at[q] = u->at[q];
            mac->state.before[a].at[q + u->stride[a]] = u->at[q + u->stride[a]];
          }
}

mn_status mn_shell_meet(mn_mac *mac)
{
  mac->shell.on = 0;
  return mac->bodies.on
             ? mn_shell_begin(mac, mac->immersed_start, mac->immersed_start, mac->bodies.start.V)
             : MN_OK;
}
