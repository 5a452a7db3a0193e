/* Whether there can be air where particles are few.

   Particles drift off walls along which water is drawn, off the place where a jet strikes a plate,
   and walls that draw back are ahead of them by up to a substep's way. A cell there looks like air,
   but p = 0 in it is a blow. Air comes from where air was: it must lie near, and no wall between.
   (What is behind a wall is none of the water's: a jet on a plate of 3.6 cells with air behind it
   pressed with 226 to 975 N in place of 500.)

   Air that walls trapped against water in less than a cell was taken for water (trapped.c). Where
   these walls draw back it comes out again, in a space that has no air, but room:

       sum over its cells of s (1 - d) > max(1, NOISE sum of s),

   s the space of a cell and d the density of particles there (density.c), with which the sum is the
   volume that particles leave, in cells.

   Verified by tests/verify/test_false_air.c. */
#include "fluid/mac/internal.h"

#include <math.h>
#include <string.h>

#include "base/status.h"

/* Of a space: by so much its volume and that of the particles differ where solids cut cells. */
static const double NOISE = 2e-3;

/* The cells around one, up to MOST_REACH away along each axis: the greatest cfl is 20. */
enum { MOST_REACH = 22, MOST_ACROSS = 2 * MOST_REACH + 1 };
typedef struct surroundings {
  int low[3], n[3];
  unsigned char reached[MOST_ACROSS * MOST_ACROSS * MOST_ACROSS];
} surroundings;

static unsigned char *reached_at(surroundings *s, const int at[3])
{
  return &s->reached[at[0] - s->low[0] +
                     s->n[0] * (at[1] - s->low[1] + s->n[1] * (at[2] - s->low[2]))];
}

/* A wall has drawn back from the cell, all of which it held before. */
static int is_uncovered(const mn_mac *mac, const int at[3])
{
  const mn_mac_geometry *g = &mac->geometry;
  double part = mn_get(&g->volume, at[0], at[1], at[2]);
  return mac->moving && part + g->dt * mn_water_pushed(mac, at[0], at[1], at[2]) <= 0;
}

/* At the start of the substep the cell was air, or water parted from its walls there. Within a wall
   the level set is that of the side which is nearer, not of the one that draws back. */
static int was_air(const mn_mac *mac, const int at[3])
{
  const mn_field *was = &mac->state.liquid, *held = &mac->state.held;
  return (mn_get(was, at[0], at[1], at[2]) >= 0 && !is_uncovered(mac, at)) ||
         (held->data && mn_get(held, at[0], at[1], at[2]) > 0);
}

/* Where one comes to from the cell `at` along the axis: 1: the cell to[], 0: nowhere, -1: out, at
   an open side. */
static int way(const mn_mac *mac, const int at[3], int a, int up, int to[3])
{
  memcpy(to, at, 3 * sizeof *to);
  to[a] += up;
  if (to[a] < 0 || to[a] >= mac->grid.n[a])
    return mac->open_sides >> (2 * a + (up > 0)) & 1 ? -1 : 0;
  return !mn_water_is_wall(mac, at, a, up);
}

/* Marks the neighbours of a cell. Returns 1 where one was air, or lies beyond an open side; *more
   <- 1 where one is new. */
static int reach_from(const mn_mac *mac, surroundings *s, const int at[3], int *more)
{
  for (int a = 0; a < mac->grid.dim; a++)
    for (int up = -1; up <= 1; up += 2) {
      int to[3], where = way(mac, at, a, up, to);
      if (!where || to[a] < s->low[a] || to[a] >= s->low[a] + s->n[a])
        continue;
      if (where < 0)
        return 1;
      unsigned char *mark = reached_at(s, to);
      if (*mark)
        continue;
      if (was_air(mac, to))
        return 1;
      *mark = 1;
      *more = 1;
    }
  return 0;
}

int mn_air_was_near(const mn_mac *mac, int i, int j, int k)
{
  const int at[3] = {i, j, k};
  int reach = 2 + (int)ceil(mac->def->fluid.cfl), more = 1;
  surroundings s;
  if (was_air(mac, at))
    return 1;
  reach = reach < MOST_REACH ? reach : MOST_REACH;
  for (int a = 0; a < 3; a++) {
    s.low[a] = a < mac->grid.dim ? at[a] - reach : 0;
    s.n[a] = a < mac->grid.dim ? 2 * reach + 1 : 1;
  }
  memset(s.reached, 0, (size_t)s.n[0] * (size_t)s.n[1] * (size_t)s.n[2]);
  *reached_at(&s, at) = 1;
  while (more) {
    more = 0;
    for (int c = 0; c < s.n[2]; c++)
      for (int b = 0; b < s.n[1]; b++)
        for (int a = 0; a < s.n[0]; a++) {
          const int from[3] = {s.low[0] + a, s.low[1] + b, s.low[2] + c};
          if (*reached_at(&s, from) && reach_from(mac, &s, from, &more))
            return 1;
        }
  }
  return 0;
}

/* ---- trapped air ----------------------------------------------------------------------------- */

enum { HOLE = 1, SEEN = 2, AIRLESS = 4 };

/* Whether the space of the first cell of the queue has room but no air; *queued <- its cells. */
static int has_room(const mn_mac *mac, unsigned char *mark, int64_t *queue, int64_t *queued)
{
  const int *n = mac->grid.n;
  double space = 0, room = 0;
  int air = 0;
  for (int64_t q = 0; q < *queued; q++) {
    int64_t c = queue[q];
    const int at[3] = {(int)(c % n[0]), (int)(c / n[0] % n[1]), (int)(c / n[0] / n[1])};
    double s = mn_get(&mac->water.space, at[0], at[1], at[2]);
    space += s;
    room += s * (1 - mn_get(&mac->water.density, at[0], at[1], at[2]));
    air |= was_air(mac, at);
    for (int a = 0; a < mac->grid.dim; a++)
      for (int up = -1; up <= 1; up += 2) {
        int to[3], where = way(mac, at, a, up, to);
        air |= where < 0;
        if (where <= 0)
          continue;
        int64_t next = to[0] + n[0] * (to[1] + (int64_t)n[1] * to[2]);
        if (mark[next] & SEEN)
          continue;
        mark[next] |= SEEN;
        queue[(*queued)++] = next;
      }
  }
  return !air && room > fmax(1, NOISE * space);
}

mn_status mn_air_find_trapped(mn_mac *mac, unsigned char *hole, int *any)
{
  size_t cells = (size_t)mac->grid.n[0] * (size_t)mac->grid.n[1] * (size_t)mac->grid.n[2];
  int64_t *queue;
  *any = 0;
  if (!memchr(hole, HOLE, cells))
    return MN_OK;
  MN_TRY(MN_NEW(mac->ctx, "trapped air", cells, &queue));
  for (size_t c = 0; c < cells; c++) {
    if (!(hole[c] & HOLE) || hole[c] & SEEN)
      continue;
    int64_t queued = 1;
    queue[0] = (int64_t)c;
    hole[c] |= SEEN;
    if (has_room(mac, hole, queue, &queued))
      for (int64_t q = 0; q < queued; q++)
        hole[queue[q]] |= AIRLESS;
  }
  for (size_t c = 0; c < cells; c++) {
    hole[c] = (hole[c] & HOLE) && (hole[c] & AIRLESS);
    *any |= hole[c];
  }
  mn_free(queue);
  return MN_OK;
}
