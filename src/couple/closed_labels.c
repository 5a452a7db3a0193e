/* Which closed region an element's side faces, and which region is the one of the substep before.

   The fluid says for every side which of its enclosed regions lies there. Sides vote, by area, for
   what became of the region they faced before:

       most of them face one enclosed region   it lives on, with its id, p0 and volume account
       most of them face none                  it has opened: it ends, unless the one that the
                                               others face is as large as it was: bodies sink into
                                               walls
       two regions become one                  the one with more sides there lives on
       one becomes two                         the part with more sides is the old one
       the fluid sees none of it               it lives on: its sides are known, its row stands

   A side that faces none for the first time keeps its region for this substep: the first guess of
   where a body will be may lie in a wall. Of a closed body that was wholly inside one region all
   sides keep it, as long as none faces another: it may lie on the floor. Sides of which the fluid
   cannot tell (gaps below a cell), and those at pockets, keep what they faced, or take it from
   their neighbours on the same side of the surface, but not from those that lie on walls: of a body
   that leaves a wall all of the side there faces the region at its edge. Where they lie between
   different things, the narrowest place of the gap parts them (closed_necks.c). Verified by
   tests/unit/couple/test_closed_labels.c. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "couple/closed.h"
#include "math/vec.h"

/* A region of at most so many cells along each axis, taken as a cube, is no region of its own as
   long as nobody has known it: the fluid mends what is squeezed out of it. But a chamber is, with
   which the run starts and whose walls have no seam (mn_enclosed.whole), or into which sources
   blow. */
enum { POCKET = 3 };
/* An enclosed region whose volume has changed by no more than this part is the one it was, even if
   most of its sides now face none. */
static const double SAME = 0.1;

typedef struct ballot {
  const mn_enclosed *said;
  double *area;                 /* of the elements */
  double *vote;                 /* [slots][said->count] m^2 */
  double *faced;                /* [said->count] m^2 of all sides there */
  int *owner;                   /* [said->count] slot, or -1 */
  double none[MN_CLOSED_MAX];   /* m^2 of sides that face no enclosed region now, */
  double unseen[MN_CLOSED_MAX]; /* or of which the fluid cannot tell */
} ballot;

static mn_status open_ballot(mn_closed *c, const mn_enclosed *said, ballot *b)
{
  size_t regions = (size_t)said->count, elements = c->boxes->face.elements;
  *b = (ballot){.said = said};
  MN_TRY(MN_PUSH(c->ctx, &c->arena, elements, &b->area));
  MN_TRY(MN_PUSH(c->ctx, &c->arena, MN_CLOSED_MAX * regions + 1, &b->vote));
  MN_TRY(MN_PUSH(c->ctx, &c->arena, regions + 1, &b->faced));
  MN_TRY(MN_PUSH(c->ctx, &c->arena, regions + 1, &b->owner));
  memset(b->vote, 0, (MN_CLOSED_MAX * regions + 1) * sizeof *b->vote);
  memset(b->faced, 0, (regions + 1) * sizeof *b->faced);
  for (size_t g = 0; g < regions; g++)
    b->owner[g] = -1;
  return MN_OK;
}

static void count_votes(const mn_closed *c, ballot *b)
{
  const mn_interface *f = &c->boxes->face;
  size_t regions = (size_t)b->said->count;
  for (size_t e = 0; e < f->elements; e++) {
    b->area[e] = mn_length(mn_closed_area(f, e, f->X, f->X));
    for (size_t side = 2 * e; side < 2 * e + 2; side++) {
      int slot = mn_closed_slot(c->label[side]), g = b->said->facing[side];
      if (g >= 0)
        b->faced[g] += b->area[e];
      if (slot < 0)
        continue;
      if (g >= 0)
        b->vote[(size_t)slot * regions + (size_t)g] += b->area[e];
      else
        (g == MN_FACES_UNKNOWN ? b->unseen : b->none)[slot] += b->area[e];
    }
  }
}

static void end_region(mn_closed *c, int slot)
{
  c->now.id[slot] = c->now.p0[slot] = c->now.last_dt[slot] = 0;
  c->now.error[slot] = c->now.lost[slot] = c->now.volume[slot] = 0;
  c->now.known = 0;
}

/* The enclosed region that most sides of a slot face, or -1: opened, or unseen. */
static int elect(const mn_closed *c, const ballot *b, int slot, int *opened)
{
  const double *vote = &b->vote[slot * b->said->count];
  int best = -1;
  double all = 0;
  for (int g = 0; g < b->said->count; g++) {
    all += vote[g];
    if (vote[g] > 0 && (best < 0 || vote[g] > vote[best]))
      best = g;
  }
  *opened = b->none[slot] > all || (all == 0 && b->unseen[slot] == 0);
  double was = c->kept.volume[slot];
  if (best >= 0 && was > 0 && fabs(b->said->volume[best] - was) <= SAME * was)
    *opened = 0;
  return *opened ? -1 : best;
}

/* Two that have become one: the account of the one that ends goes to the other. */
static void merge(mn_closed *c, int winner, int loser)
{
  c->now.error[winner] += c->now.error[loser];
  c->now.lost[winner] += c->now.lost[loser];
  end_region(c, loser);
  c->into[loser] = winner;
}

static void follow_regions(mn_closed *c, ballot *b)
{
  for (int slot = 0; slot < MN_CLOSED_MAX; slot++) {
    if (c->now.id[slot] == 0)
      continue;
    int opened, g = elect(c, b, slot, &opened), count = b->said->count;
    if (opened)
      end_region(c, slot);
    if (g < 0)
      continue;
    int other = b->owner[g];
    if (other < 0)
      b->owner[g] = slot;
    else if (b->vote[slot * count + g] > b->vote[other * count + g]) {
      b->owner[g] = slot;
      merge(c, slot, other);
    } else
      merge(c, other, slot);
  }
}

/* The slot whose sides mostly face g now, or -1: where a part has split off from. */
static int origin(const ballot *b, int g)
{
  int best = -1, count = b->said->count;
  for (int slot = 0; slot < MN_CLOSED_MAX; slot++)
    if (b->vote[slot * count + g] > (best < 0 ? 0 : b->vote[best * count + g]))
      best = slot;
  return best;
}

/* Of a few cells, and no chamber. */
static int is_pocket(const mn_closed *c, const ballot *b, int g)
{
  const mn_enclosed *said = b->said;
  int blown = said->blown && said->blown[g] != 0;
  int whole = !c->kept.begun && said->whole && said->whole[g];
  int chamber = b->faced[g] > 0 && (blown || whole);
  return (double)said->cells[g] <= pow(POCKET, c->boxes->face.dim) && !chamber;
}

static mn_status add_regions(mn_closed *c, ballot *b)
{
  const mn_enclosed *said = b->said;
  for (int g = 0; g < said->count; g++) {
    int matters = said->inflow[g] != 0 || b->faced[g] > 0;
    if (b->owner[g] >= 0 || !matters || is_pocket(c, b, g))
      continue;
    int slot = 0;
    while (slot < MN_CLOSED_MAX && c->now.id[slot] != 0)
      slot++;
    if (slot == MN_CLOSED_MAX) {
      c->hopeless = 1;
      return mn_fail(c->ctx, MN_FAILED,
                     "there are more than %d closed regions of fluid: let some of them be open, or "
                     "leave bodies out",
                     MN_CLOSED_MAX);
    }
    int from = origin(b, g);
    if (from >= 0 && c->now.id[from] != 0)
      c->struck[from] = (int)c->kept.begun;
    c->struck[slot] = (int)c->kept.begun;
    c->now.id[slot] = c->now.next_id++;
    c->now.p0[slot] = from >= 0 ? c->kept.p0[from] : 0;
    c->now.error[slot] = c->now.lost[slot] = c->now.volume[slot] = c->now.last_dt[slot] = 0;
    c->now.known = 0;
    b->owner[g] = slot;
  }
  return MN_OK;
}

size_t mn_closed_neighbour(const mn_closed *c, size_t e, size_t k)
{
  const mn_interface *f = &c->boxes->face;
  size_t dim = (size_t)f->dim, found = e, count = 0;
  const uint32_t *own = &f->element[dim * e];
  uint32_t first = own[(k + 1) % dim];
  for (size_t q = c->first[first]; q < c->first[first + 1]; q++) {
    size_t other = c->around[q], shared = 0;
    for (size_t i = 0; i < dim; i++)
      for (size_t j = 0; j < dim; j++)
        shared += i != k && own[i] == f->element[dim * other + j];
    if (other != e && shared == dim - 1) {
      found = other;
      count++;
    }
  }
  return count == 1 ? found : e;
}

/* Thin ones without ends. */
static mn_status find_closed_parts(mn_closed *c)
{
  const mn_interface *f = &c->boxes->face;
  size_t dim = (size_t)f->dim;
  MN_TRY(MN_NEW(c->ctx, "parts of a surface", c->parts, &c->closed_part));
  memset(c->closed_part, 1, c->parts);
  for (size_t e = 0; e < f->elements; e++)
    for (size_t k = 0; k < dim; k++)
      if (!f->two_sided[f->element[dim * e]] || mn_closed_neighbour(c, e, k) == e)
        c->closed_part[c->part[e]] = 0;
  return MN_OK;
}

mn_status mn_closed_find_parts(mn_closed *c)
{
  const mn_interface *f = &c->boxes->face;
  size_t dim = (size_t)f->dim, *waiting;
  MN_TRY(MN_NEW(c->ctx, "parts of a surface", f->elements, &c->part));
  MN_TRY(MN_NEW(c->ctx, "parts of a surface", f->elements, &waiting));
  for (size_t e = 0; e < f->elements; e++)
    c->part[e] = SIZE_MAX;
  for (size_t first = 0; first < f->elements; first++) {
    if (c->part[first] != SIZE_MAX)
      continue;
    size_t count = 0;
    waiting[count++] = first;
    c->part[first] = c->parts;
    while (count) {
      size_t e = waiting[--count];
      for (size_t k = 0; k < dim; k++) {
        uint32_t i = f->element[dim * e + k];
        for (size_t q = c->first[i]; q < c->first[i + 1]; q++)
          if (c->part[c->around[q]] == SIZE_MAX) {
            c->part[c->around[q]] = c->parts;
            waiting[count++] = c->around[q];
          }
      }
    }
    c->parts++;
  }
  mn_free(waiting);
  return find_closed_parts(c);
}

/* Sides of closed bodies that were wholly inside a region, and still see nothing else. */
static mn_status keep_immersed(mn_closed *c)
{
  const mn_interface *f = &c->boxes->face;
  enum { UNSEEN = 254, MIXED = 255 };
  uint8_t *was, *is; /* of the sides of a part: one label, or one of these */
  MN_TRY(MN_PUSH(c->ctx, &c->arena, 2 * c->parts, &was));
  MN_TRY(MN_PUSH(c->ctx, &c->arena, 2 * c->parts, &is));
  memset(was, UNSEEN, 2 * c->parts);
  memset(is, UNSEEN, 2 * c->parts);
  for (size_t side = 0; side < 2 * f->elements; side++) {
    size_t part = 2 * c->part[side / 2] + side % 2;
    uint8_t before = c->label[side] % MN_CLOSED_DOUBT, now = c->label_now[side];
    int thin = f->two_sided[f->element[(size_t)f->dim * (side / 2)]];
    was[part] = !thin && (was[part] == UNSEEN || was[part] == before) ? before : MIXED;
    if (now != MN_CLOSED_UNDECIDED && now != 0 && now < MN_CLOSED_DOUBT)
      is[part] = is[part] == UNSEEN || is[part] == now ? now : MIXED;
  }
  for (size_t side = 0; side < 2 * f->elements; side++) {
    size_t part = 2 * c->part[side / 2] + side % 2;
    if (was[part] == is[part] && is[part] < UNSEEN && is[part] > 0)
      c->label_now[side] = is[part];
  }
  return MN_OK;
}

/* What the neighbours of an undecided side that were decided before this pass say, or
   MN_CLOSED_UNDECIDED. A region counts more than none, and the lowest slot first. */
static uint8_t ask_neighbours(const mn_closed *c, const uint8_t *label, size_t side)
{
  size_t dim = (size_t)c->boxes->face.dim;
  uint8_t found = MN_CLOSED_UNDECIDED;
  for (size_t k = 0; k < dim; k++) {
    uint8_t other = label[2 * mn_closed_neighbour(c, side / 2, k) + side % 2];
    if (other == MN_CLOSED_UNDECIDED)
      continue;
    other %= MN_CLOSED_DOUBT;
    if (found == MN_CLOSED_UNDECIDED || found == 0 || (other && other < found))
      found = other;
  }
  return found;
}

/* A side on a wall has no say: the one next to it may just be leaving that wall. */
static mn_status spread_labels(mn_closed *c, const int32_t *facing)
{
  size_t count = 2 * c->boxes->face.elements;
  uint8_t *before;
  MN_TRY(MN_PUSH(c->ctx, &c->arena, count, &before));
  for (int changed = 1; changed;) {
    changed = 0;
    for (size_t side = 0; side < count; side++)
      before[side] = facing[side] == MN_FACES_WALL && !c->label_now[side] ? MN_CLOSED_UNDECIDED
                                                                          : c->label_now[side];
    for (size_t side = 0; side < count; side++)
      if (c->label_now[side] == MN_CLOSED_UNDECIDED) {
        c->label_now[side] = ask_neighbours(c, before, side);
        changed |= c->label_now[side] != MN_CLOSED_UNDECIDED;
      }
  }
  for (size_t side = 0; side < count; side++)
    if (c->label_now[side] == MN_CLOSED_UNDECIDED)
      c->label_now[side] = 0;
  return MN_OK;
}

static mn_status label_sides(mn_closed *c, const ballot *b)
{
  int undecided = 0;
  for (size_t side = 0; side < 2 * c->boxes->face.elements; side++) {
    int g = b->said->facing[side], old = mn_closed_slot(c->label[side]);
    int lives = old >= 0 && c->now.id[old] != 0 && c->now.id[old] == c->kept.id[old];
    int doubted = c->label[side] >= MN_CLOSED_DOUBT;
    uint8_t *label = &c->label_now[side], same = (uint8_t)(old + 1);
    if (g >= 0 && b->owner[g] >= 0)
      *label = (uint8_t)(b->owner[g] + 1);
    else if (g == MN_FACES_NONE || g == MN_FACES_WALL)
      *label = lives && !doubted ? same + MN_CLOSED_DOUBT : 0;
    else
      *label = lives ? same : MN_CLOSED_UNDECIDED;
    undecided |= *label == MN_CLOSED_UNDECIDED;
  }
  MN_TRY(mn_closed_part_necks(c, b->said, b->owner));
  MN_TRY(keep_immersed(c));
  MN_TRY(mn_closed_keep_bags(c));
  if (undecided)
    MN_TRY(spread_labels(c, b->said->facing));
  for (size_t side = 0; side < 2 * c->boxes->face.elements; side++)
    c->unseen_side[side] = c->label_now[side] && b->said->facing[side] < 0;
  return MN_OK;
}

mn_status mn_closed_identify(mn_closed *c, const mn_enclosed *said)
{
  mn_arena_mark mark = mn_arena_save(&c->arena);
  ballot b;
  int any = said->count > 0;
  for (int slot = 0; slot < MN_CLOSED_MAX; slot++)
    any |= c->kept.id[slot] != 0;
  c->count = 0;
  memset(c->struck, 0, sizeof c->struck);
  for (int slot = 0; slot < MN_CLOSED_MAX; slot++)
    c->into[slot] = -1;
  memset(c->label_now, 0, 2 * c->boxes->face.elements);
  for (size_t side = 0; side < 2 * c->boxes->face.elements; side++)
    c->bare[side] = said->bare ? said->bare[side] : 1;
  if (!any)
    return MN_OK;
  mn_status status = open_ballot(c, said, &b);
  if (status == MN_OK) {
    count_votes(c, &b);
    follow_regions(c, &b);
    status = add_regions(c, &b);
  }
  if (status == MN_OK)
    status = label_sides(c, &b);
  for (int slot = 0; status == MN_OK && slot < MN_CLOSED_MAX; slot++)
    if (c->now.id[slot] != 0) {
      c->slot[c->count] = slot;
      c->grid[c->count] = -1;
      for (int g = 0; g < said->count; g++)
        if (b.owner[g] == slot)
          c->grid[c->count] = g;
      c->count++;
    }
  mn_arena_reset(&c->arena, mark);
  return status;
}
