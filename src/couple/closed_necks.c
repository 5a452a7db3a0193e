/* Where, in gaps thinner than the fluid can tell, the region at one end and what is at the other
   meet.

   A ball that fits its tube leaves a gap that tapers down to where it touches, and opens again. On
   one side of that is a region, on the other another one, or none; of the sides in between the
   fluid cannot tell. Told by what they faced before, or by their neighbours, of which a region
   counts more than none, ever more of them would be the region's: it would creep round the ball,
   and with the end of the chain of its sides goes its row, in 2D the width between its two ends.

   Here all sides of closed bodies of which the fluid cannot tell, and that connect such as face
   different things, are parted anew in every substep, whatever they faced, if somewhere among them
   a wall is within NEAR. What the ends face spreads over them, first to where the wall is farthest
   (mn_enclosed.room), so that it meets where it is nearest. Distances that differ by less than STEP
   count as equal; there a region counts more than none, and the lowest slot first: flanks that lie
   even beside a wall belong to one of them on both sides of the body, and p0 does not push it
   aside. Gaps between bodies are not told, and thin surfaces have lids (closed_lids.c): both keep
   what they faced. Verified by tests/verify/test_closed_round.c and
   tests/unit/couple/test_closed_labels.c. */
#include "couple/closed.h"

#include <math.h>
#include <string.h>

#include "base/status.h"

/* Cells. A body between a side and a wall as near as that is thinner than the fluid can tell. */
static const double NEAR = 1, STEP = 0.01;

enum { SILENT = MN_CLOSED_UNDECIDED }; /* of a side: in a wall, or it is not known what it faces */

typedef struct necks {
  uint8_t *faces;  /* [elements] what the front faces: slot + 1, 0: no region, or SILENT */
  uint8_t *before; /* [elements] that before a pass */
  uint8_t *asks;   /* [elements] 1: the fluid cannot tell, and the ends face different things */
  double *width;   /* [elements] of the gap: cells; of what is parted, in steps */
  size_t *beside;  /* [dim * elements] across the sides of those of which the fluid cannot tell */
} necks;

static mn_status look(mn_closed *c, const mn_enclosed *said, const int *owner, necks *n)
{
  const mn_interface *f = &c->boxes->face;
  MN_TRY(MN_PUSH(c->ctx, &c->arena, f->elements, &n->faces));
  MN_TRY(MN_PUSH(c->ctx, &c->arena, f->elements, &n->before));
  MN_TRY(MN_PUSH(c->ctx, &c->arena, f->elements, &n->asks));
  MN_TRY(MN_PUSH(c->ctx, &c->arena, f->elements, &n->width));
  MN_TRY(MN_PUSH(c->ctx, &c->arena, (size_t)f->dim * f->elements, &n->beside));
  for (size_t e = 0; e < f->elements; e++) {
    int g = said->facing[2 * e];
    int told = g == MN_FACES_NONE || (g >= 0 && owner[g] >= 0);
    n->faces[e] = (uint8_t)(!told ? SILENT : g >= 0 ? owner[g] + 1 : 0);
    n->asks[e] = 0;
    n->width[e] = said->room[2 * e] / c->dx;
  }
  return MN_OK;
}

static int cannot_tell(const mn_closed *c, const mn_enclosed *said, const int *owner, size_t e)
{
  const mn_interface *f = &c->boxes->face;
  int g = said->facing[2 * e];
  int thin = f->two_sided[f->element[(size_t)f->dim * e]];
  return !thin && (g == MN_FACES_UNKNOWN || (g >= 0 && owner[g] < 0));
}

/* Of the connected sides from `first` on of which the fluid cannot tell, the `count` entries of
   `list`: do their ends face different things? */
static int is_contested(const mn_closed *c, const mn_enclosed *said, const int *owner,
                        const necks *n, size_t first, uint8_t *seen, size_t *list, size_t *count)
{
  size_t dim = (size_t)c->boxes->face.dim;
  int one = SILENT, differ = 0;
  *count = 0;
  list[(*count)++] = first;
  seen[first] = 1;
  for (size_t at = 0; at < *count; at++)
    for (size_t k = 0; k < dim; k++) {
      size_t other = mn_closed_neighbour(c, list[at], k);
      int end = n->faces[other];
      n->beside[dim * list[at] + k] = other;
      if (!seen[other] && cannot_tell(c, said, owner, other)) {
        seen[other] = 1;
        list[(*count)++] = other;
      } else if (end != SILENT) {
        differ |= one != SILENT && one != end;
        one = end;
      }
    }
  return differ;
}

static mn_status find_contested(mn_closed *c, const mn_enclosed *said, const int *owner,
                                const necks *n, int *any)
{
  size_t elements = c->boxes->face.elements, *list, count;
  uint8_t *seen;
  MN_TRY(MN_PUSH(c->ctx, &c->arena, elements, &list));
  MN_TRY(MN_PUSH(c->ctx, &c->arena, elements, &seen));
  memset(seen, 0, elements);
  *any = 0;
  for (size_t e = 0; e < elements; e++) {
    if (seen[e] || !cannot_tell(c, said, owner, e) ||
        !is_contested(c, said, owner, n, e, seen, list, &count))
      continue;
    double least = INFINITY;
    for (size_t k = 0; k < count; k++)
      least = fmin(least, n->width[list[k]]);
    for (size_t k = 0; k < count && least < NEAR; k++) {
      n->width[list[k]] = floor((n->width[list[k]] - least) / STEP);
      n->asks[list[k]] = 1;
      *any = 1;
    }
  }
  return MN_OK;
}

/* What goes first: the lowest slot, then none, then what is silent. */
static int rank(uint8_t faces)
{
  return faces ? faces : SILENT - 1;
}

/* A side is next that is not yet parted, beside some that face something: of that, *found goes
   first. */
static int is_next(const mn_closed *c, const necks *n, size_t e, uint8_t *found)
{
  size_t dim = (size_t)c->boxes->face.dim;
  *found = SILENT;
  if (!n->asks[e] || n->before[e] != SILENT)
    return 0;
  for (size_t k = 0; k < dim; k++) {
    uint8_t other = n->before[n->beside[dim * e + k]];
    *found = rank(other) < rank(*found) ? other : *found;
  }
  return *found != SILENT;
}

/* To the widest gaps that the ends reach, once; none waits for regions. 0: nothing is left. */
static int spread_once(const mn_closed *c, const necks *n)
{
  size_t elements = c->boxes->face.elements;
  double widest = -INFINITY;
  uint8_t first = 0, found;
  memcpy(n->before, n->faces, elements);
  for (size_t e = 0; e < elements; e++)
    if (is_next(c, n, e, &found) && n->width[e] >= widest) {
      first = n->width[e] > widest || rank(found) < rank(first) ? found : first;
      widest = n->width[e];
    }
  for (size_t e = 0; e < elements; e++)
    if (is_next(c, n, e, &found) && n->width[e] == widest && found == first)
      n->faces[e] = found;
  return widest > -INFINITY;
}

mn_status mn_closed_part_necks(mn_closed *c, const mn_enclosed *said, const int *owner)
{
  necks n;
  int any;
  if (!said->room)
    return MN_OK;
  MN_TRY(look(c, said, owner, &n));
  MN_TRY(find_contested(c, said, owner, &n, &any));
  while (any && spread_once(c, &n))
    ;
  for (size_t e = 0; any && e < c->boxes->face.elements; e++)
    if (n.asks[e])
      c->label_now[2 * e] = n.faces[e];
  return MN_OK;
}
