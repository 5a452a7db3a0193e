/* Bags: closed thin surfaces whose inner side faces regions, all of it, that the outer one does
   not.

   What is in a bag stays in it: its outer side cannot face that, nor can a body that lies outside,
   and all of the inner side faces what is in it. The fluid is asked about a first guess of where
   bodies will be, in which skins may lie beyond a wall that they rest on, and in blocks that press
   them; and where a skin lies within a cell of a wall, a block or itself, the nearest cell that is
   seen may be on the wrong side of it. Taken at their word, sides would leave the row of their
   region, or have it in front and behind, which sweeps nothing; and since sides of which the fluid
   cannot tell remember what they faced, they would stay so, and what the skin sweeps there be lost
   without a trace. So of what the fluid says only that counts which can be. The others keep what
   they faced, as long as those regions live. A bag may fall into several regions: a new one is in
   it if more of the inner side faces it than of all others. Verified by
   tests/unit/couple/test_closed_labels.c, tests/verify/test_closed_pressed.c. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "couple/closed.h"
#include "math/vec.h"

static const double HALF_TURN = 3.14159265358979323846;

/* Points by which it is judged whether a body lies in a bag. */
enum { ASKED = 32 };

typedef uint64_t slot_set;

static slot_set set_of(uint8_t label)
{
  int slot = label == MN_CLOSED_UNDECIDED ? -1 : mn_closed_slot(label);
  return slot < 0 ? 0 : (slot_set)1 << slot;
}

typedef struct surface_part {
  slot_set faced[2]; /* before, by its sides in front and behind */
  int none[2];       /* 1: some of them faced none */
  double volume;     /* times dim, signed */
  int outside;       /* of the bag: 0 or 1; -1: not known yet */
} surface_part;

/* What became of a region of the last substep: a slot that it lives on in, or -1. */
static int heir(const mn_closed *c, int slot)
{
  while (slot >= 0 && c->now.id[slot] != c->kept.id[slot])
    slot = c->into[slot];
  return slot;
}

static void look_at_parts(const mn_closed *c, surface_part *part)
{
  const mn_interface *f = &c->boxes->face;
  size_t dim = (size_t)f->dim;
  memset(part, 0, c->parts * sizeof *part);
  for (size_t e = 0; e < f->elements; e++) {
    surface_part *p = &part[c->part[e]];
    p->volume += mn_dot(c->start[f->element[dim * e]], mn_closed_area(f, e, c->start, c->start));
    for (size_t s = 0; s < 2; s++) {
      slot_set set = set_of(c->label[2 * e + s]);
      p->faced[s] |= set;
      p->none[s] |= !set;
    }
  }
}

/* Its regions, or none: no bag. N of a surface with a volume above 0 points out of it. */
static slot_set held_by(const mn_closed *c, size_t k, const surface_part *p)
{
  size_t inner = p->volume > 0;
  slot_set held = 0;
  if (!c->closed_part[k] || p->none[inner] || (p->faced[0] & p->faced[1]))
    return 0;
  for (int s = 0; s < MN_CLOSED_MAX; s++) {
    if (!(p->faced[inner] >> s & 1))
      continue;
    if (heir(c, s) < 0)
      return 0;
    held |= (slot_set)1 << heir(c, s);
  }
  return held;
}

/* Angle, or half of the solid angle, under which an element is seen, signed: one turn in all for
   points in a bag. */
static double angle_of(const mn_closed *c, size_t e, mn_vec3 from)
{
  const mn_interface *f = &c->boxes->face;
  mn_vec3 r[3] = {0};
  double size[3];
  for (int k = 0; k < f->dim; k++) {
    r[k] = mn_sub(c->start[f->element[(size_t)f->dim * e + (size_t)k]], from);
    size[k] = mn_length(r[k]);
  }
  if (f->dim == 2)
    return atan2(r[0].x * r[1].y - r[0].y * r[1].x, mn_dot(r[0], r[1]));
  return atan2(mn_dot(r[0], mn_cross(r[1], r[2])),
               size[0] * size[1] * size[2] + size[2] * mn_dot(r[0], r[1]) +
                   size[0] * mn_dot(r[1], r[2]) + size[1] * mn_dot(r[2], r[0]));
}

/* More of the part lies beyond the bag k than in it: corners may stick out through chords of skins
   that bodies press. */
static int is_outside(const mn_closed *c, size_t part, size_t k)
{
  const mn_interface *f = &c->boxes->face;
  size_t count = 0, asked = 0, in = 0;
  for (size_t e = 0; e < f->elements; e++)
    count += c->part[e] == part;
  for (size_t e = 0, n = 0; e < f->elements; e++) {
    if (c->part[e] != part || n++ % (count / ASKED + 1))
      continue;
    double sum = 0;
    for (size_t b = 0; b < f->elements; b++)
      sum += c->part[b] == k ? angle_of(c, b, c->start[f->element[(size_t)f->dim * e]]) : 0;
    in += fabs(sum) > HALF_TURN;
    asked++;
  }
  return 2 * in <= asked;
}

/* Of the regions that are new those that more of the inner side faces than of all other sides. */
static slot_set split_off(const mn_closed *c, size_t k, size_t inner)
{
  const mn_interface *f = &c->boxes->face;
  double vote[MN_CLOSED_MAX] = {0};
  slot_set found = 0;
  for (size_t side = 0; side < 2 * f->elements; side++) {
    int own = c->part[side / 2] == k && side % 2 == inner;
    if (set_of(c->label_now[side]))
      vote[mn_closed_slot(c->label_now[side])] +=
          (own ? 1 : -1) * mn_length(mn_closed_area(f, side / 2, f->X, f->X));
  }
  for (int s = 0; s < MN_CLOSED_MAX; s++)
    if (c->now.id[s] != 0 && c->now.id[s] != c->kept.id[s] && vote[s] > 0)
      found |= (slot_set)1 << s;
  return found;
}

static void keep_bag(mn_closed *c, surface_part *part, size_t k, slot_set held)
{
  size_t inner = part[k].volume > 0;
  slot_set in = held | split_off(c, k, inner);
  for (size_t p = 0; p < c->parts; p++)
    part[p].outside = p == k ? 1 : -1;
  for (size_t side = 0; side < 2 * c->boxes->face.elements; side++) {
    size_t p = c->part[side / 2];
    uint8_t *label = &c->label_now[side];
    uint8_t before = (uint8_t)(heir(c, mn_closed_slot(c->label[side])) + 1);
    slot_set now = set_of(*label);
    if (p == k && side % 2 == inner) {
      if (!(now & in))
        *label = (uint8_t)(before + MN_CLOSED_DOUBT);
      continue;
    }
    if (!(now & in))
      continue;
    if (part[p].outside < 0)
      part[p].outside = is_outside(c, p, k);
    if (part[p].outside)
      *label = set_of(before) & in ? 0 : before;
  }
}

mn_status mn_closed_keep_bags(mn_closed *c)
{
  surface_part *part;
  MN_TRY(MN_PUSH(c->ctx, &c->arena, c->parts + 1, &part));
  look_at_parts(c, part);
  for (size_t k = 0; k < c->parts; k++) {
    slot_set held = held_by(c, k, &part[k]);
    if (held)
      keep_bag(c, part, k, held);
  }
  return MN_OK;
}
