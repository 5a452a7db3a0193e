/* Lids: what the grid takes for closed though the surfaces leave a gap, or end just behind where
   they cross.

   In 2D the sides that face a region run along chains of elements. A cloth that folds over itself
   ends its chain where it meets itself: in front of a gap of about a cell, or at elements that
   cross. There is no surface between the two ends, but the fluid does not pass either: without
   more, the forces of p0 on the region do not cancel, and momentum comes from nowhere, (p0 - p0
   outside) times the gap. A lid from the one end to the other closes the chain, as a straight
   element whose points are theirs: it is part of the volume and of its row.

   Only between loose ends of thin surfaces, at which the surface ends or goes on with the same
   region on both sides, REACH cells apart at most, the nearest first. An end at a wall has no
   partner: the wall bears p0 there. Limits: none in 3D, where rims would have to be sewn. Verified
   by tests/verify/test_closed_fold.c. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "couple/closed.h"
#include "math/vec.h"

static const double REACH = 2.5;

typedef struct loose_ends {
  uint32_t at[2][MN_CLOSED_LIDS]; /* points where a chain ends, and where one begins */
  int count[2];
} loose_ends;

/* +1: the chain of region r runs along element e from its first point to the second, -1: the other
   way, 0: e is no part of it. */
static int runs(const mn_closed *c, size_t e, int slot)
{
  return (mn_closed_slot(c->label_now[2 * e + 1]) == slot) -
         (mn_closed_slot(c->label_now[2 * e]) == slot);
}

/* All elements at the point that are no part of the chain have the same on both sides. */
static int is_loose(const mn_closed *c, size_t point, int slot)
{
  for (size_t k = c->first[point]; k < c->first[point + 1]; k++) {
    size_t e = c->around[k];
    if (runs(c, e, slot) == 0 &&
        mn_closed_slot(c->label_now[2 * e]) != mn_closed_slot(c->label_now[2 * e + 1]))
      return 0;
  }
  return 1;
}

static void find_ends(const mn_closed *c, int slot, loose_ends *ends)
{
  const mn_interface *f = &c->boxes->face;
  *ends = (loose_ends){0};
  for (size_t i = 0; i < f->count; i++) {
    int more = 0; /* that arrive here than leave */
    for (size_t k = c->first[i]; f->two_sided[i] && k < c->first[i + 1]; k++)
      more += runs(c, c->around[k], slot) * (f->element[2 * c->around[k] + 1] == i ? 1 : -1);
    int begins = more < 0;
    if ((more == 1 || more == -1) && ends->count[begins] < MN_CLOSED_LIDS && is_loose(c, i, slot))
      ends->at[begins][ends->count[begins]++] = (uint32_t)i;
  }
}

static void take(uint32_t *list, int *count, int k)
{
  memmove(&list[k], &list[k + 1], (size_t)(--*count - k) * sizeof *list);
}

void mn_closed_find_lids(mn_closed *c)
{
  const mn_interface *f = &c->boxes->face;
  c->lids = 0;
  for (int r = 0; r < c->count && f->dim == 2; r++) {
    loose_ends ends;
    find_ends(c, c->slot[r], &ends);
    while (c->lids < MN_CLOSED_LIDS && ends.count[0] && ends.count[1]) {
      int best[2] = {0};
      double least = INFINITY;
      for (int i = 0; i < ends.count[0]; i++)
        for (int j = 0; j < ends.count[1]; j++) {
          double far = mn_length(mn_sub(f->X[ends.at[0][i]], f->X[ends.at[1][j]]));
          if (far < least)
            least = far, best[0] = i, best[1] = j;
        }
      if (!(least <= REACH * c->dx))
        break;
      c->lid[c->lids++] = (mn_closed_lid){r, {ends.at[0][best[0]], ends.at[1][best[1]]}};
      for (int k = 0; k < 2; k++)
        take(ends.at[k], &ends.count[k], best[k]);
    }
  }
}
