/* Spaces that solids and surfaces keep apart, in water scenes.

   Air has no mass here, and p = 0 in it. But air that is shut in cannot leave: a space without a
   way out keeps the volume of all that is in it, water and air, and its air has the one pressure p0
   that makes the bodies around give way (enclose.c). The water feels p0 everywhere, so that its
   flow is the same as with p = 0 in the air.

   A space is open if open faces connect it to an open side of the domain. In a domain without any
   the one with the most air is taken for open, for who lets water slosh in a box means no air that
   resists, if that air is more than a void.

   Voids. Particles do not fill every cell. In a space that is not open, air below VOID of the
   volume is no air but the noise of the particles: it counts as water. Else a full balloon would
   feel p = 0 here and there within.

   Verified by tests/verify/test_closed_water.c. */
#include "fluid/mac/internal.h"

#include <string.h>

#include "base/status.h"

static const double VOID = 0.05;
/* The level set in cells that are taken for water, in cells. */
static const double DEPTH = 0.5;

void mn_spaces_destroy(mn_spaces *s)
{
  mn_free(s->space);
  mn_free(s->of);
  mn_free(s->list);
  mn_free(s->taken_at);
  mn_free(s->taken_phi);
  *s = (mn_spaces){0};
}

static mn_status make_room(mn_mac *mac)
{
  mn_spaces *s = &mac->spaces;
  size_t cells = (size_t)mac->grid.n[0] * (size_t)mac->grid.n[1] * (size_t)mac->grid.n[2];
  if (s->list)
    return MN_OK;
  MN_TRY(MN_NEW(mac->ctx, "spaces", mac->b.size, &s->of));
  return MN_NEW(mac->ctx, "spaces", cells, &s->list);
}

static void take(mn_mac *mac, int i, int j, int k, int32_t number, size_t *count)
{
  mn_spaces *s = &mac->spaces;
  int64_t q = mac->b.at - mac->b.data + mn_index(&mac->b, i, j, k);
  if (s->of[q] >= 0 || mac->geometry.inflow[q])
    return;
  s->of[q] = number;
  int32_t *at = s->list[(*count)++];
  at[0] = i;
  at[1] = j;
  at[2] = k;
}

/* The cells that open faces connect to the first of the list; 1: one of them to an open side, or to
   a drain: its air, into which water flows, is that of the outside. */
static int spread(mn_mac *mac, int32_t number, size_t *count)
{
  int open = 0;
  for (size_t q = 0; q < *count; q++) {
    const int32_t *at = mac->spaces.list[q];
    open = open || mn_mac_is_drained(mac, mn_position(&mac->b, at[0], at[1], at[2]));
    for (int side = 0; side < 2 * mac->grid.dim; side++) {
      const int32_t *from = mac->spaces.list[q];
      int a = side / 2, high = side & 1, to[3] = {from[0], from[1], from[2]}, face[3];
      memcpy(face, to, sizeof face);
      face[a] += high;
      to[a] += high ? 1 : -1;
      if (!(mn_get(&mac->geometry.open[a], face[0], face[1], face[2]) > 0))
        continue;
      if (to[a] < 0 || to[a] >= mac->grid.n[a])
        open |= mac->open_sides >> side & 1;
      else
        take(mac, to[0], to[1], to[2], number, count);
    }
  }
  return open;
}

static void measure(mn_mac *mac, size_t count, mn_space *space)
{
  for (size_t q = 0; q < count; q++) {
    const int32_t *at = mac->spaces.list[q];
    double part = mn_get(&mac->geometry.volume, at[0], at[1], at[2]);
    space->volume += part;
    space->air += mn_get(&mac->liquid_next, at[0], at[1], at[2]) < 0 ? 0 : part;
  }
  space->cells = count;
  space->full = !space->open && space->air <= VOID * space->volume;
}

static mn_status find(mn_mac *mac)
{
  mn_spaces *s = &mac->spaces;
  const mn_field *cells = &mac->b;
  s->count = 0;
  for (size_t q = 0; q < cells->size; q++)
    s->of[q] = -1;
  for (int k = 0; k < cells->n[2]; k++)
    for (int j = 0; j < cells->n[1]; j++)
      for (int i = 0; i < cells->n[0]; i++) {
        size_t count = 0;
        if (!(mn_get(&mac->geometry.volume, i, j, k) > 0))
          continue;
        take(mac, i, j, k, s->count, &count);
        if (!count)
          continue;
        if ((size_t)s->count == s->room) {
          size_t room = 2 * s->room + 16;
          MN_TRY(mn_grow(mac->ctx, "spaces", s->room, room, sizeof *s->space, (void **)&s->space));
          s->room = room;
        }
        mn_space *space = &s->space[s->count];
        *space = (mn_space){0};
        space->open = spread(mac, s->count, &count);
        measure(mac, count, space);
        s->count++;
      }
  return MN_OK;
}

/* Without any open side. */
static void open_largest(mn_mac *mac)
{
  mn_spaces *s = &mac->spaces;
  mn_space *most = NULL;
  for (int n = 0; n < s->count; n++)
    if (!s->space[n].full && (!most || s->space[n].air > most->air))
      most = &s->space[n];
  if (most && !mac->open_sides)
    most->open = 1;
}

/* Of a level set that is carried along water would be made. */
static mn_status fill_voids(mn_mac *mac)
{
  mn_spaces *s = &mac->spaces;
  mn_field *phi = &mac->liquid_next;
  for (size_t q = 0; q < phi->size && mac->water.on; q++) {
    if (s->of[q] < 0 || !s->space[s->of[q]].full || phi->data[q] < 0)
      continue;
    if (s->taken == s->taken_room) {
      size_t old = s->taken_room, room = 2 * old + 64;
      MN_TRY(mn_grow(mac->ctx, "voids", old, room, sizeof *s->taken_at, (void **)&s->taken_at));
      MN_TRY(mn_grow(mac->ctx, "voids", old, room, sizeof *s->taken_phi, (void **)&s->taken_phi));
      s->taken_room = room;
    }
    s->taken_at[s->taken] = (int64_t)q;
    s->taken_phi[s->taken++] = phi->data[q];
    phi->data[q] = -DEPTH * mac->grid.dx;
  }
  if (s->taken)
    mac->assembled = 0;
  return MN_OK;
}

mn_status mn_mac_find_spaces(mn_mac *mac)
{
  if (!mn_mac_is_water(mac))
    return MN_OK;
  MN_TRY(make_room(mac));
  MN_TRY(find(mac));
  open_largest(mac);
  return fill_voids(mac);
}

void mn_mac_forget_spaces(mn_mac *mac, int restore)
{
  mn_spaces *s = &mac->spaces;
  for (size_t n = s->taken; n-- > 0 && restore;) {
    mac->liquid_next.data[s->taken_at[n]] = s->taken_phi[n];
    mac->assembled = 0;
  }
  s->taken = 0;
}
