/* Aggregates that thin walls do not cross.

   A wall without thickness may run through the middle of a coarse cell. Plain aggregation then
   joins its two sides, on this level and all below, and what is different on both sides is left to
   the sweeps of the finest level: iterations grow with the grid. So the children of a coarse cell
   are sorted into groups that are coupled among themselves; the largest one stays, and every other
   child, an orphan, goes to the coarse cell next to its own that holds the neighbour it is coupled
   to:

       P: children a b | c d,  Q beyond d     ->     P: a b,  Q: c d and its own

   The wall then lies between coarse cells, and so on. The coarse matrix is the Galerkin product of
   these aggregates, but that couplings of cells which are neighbours over a corner only go through
   a cell between (without them pieces of a region may come apart). Transfers are the plain ones,
   put right at the orphans. An oblique wall in 3D, 64 cells a side: 10 iterations, 33 with plain
   aggregates.
   Tests: tests/unit/pressure/test_split.c. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "pressure/multigrid.h"

/* Couplings below this do not join; regular ones are 1. */
static const float WEAK = 0.1F;
enum { PLAIN = 0, LOST = 255 }; /* of mn_mg_level.move; else 1 + side of the coarse cell */

typedef struct cell {
  int at[3];
} cell;

static int64_t index_of(const mn_mg_level *L, const int at[3])
{
  return at[0] + L->n[0] * (at[1] + (int64_t)L->n[1] * at[2]);
}
static cell cell_of(const mn_mg_level *L, int64_t n)
{
  return (cell){{(int)(n % L->n[0]), (int)(n / L->n[0] % L->n[1]), (int)(n / L->n[0] / L->n[1])}};
}
static int inside(const mn_mg_level *L, const int at[3])
{
  for (int a = 0; a < 3; a++)
    if (at[a] < 0 || at[a] >= L->n[a])
      return 0;
  return 1;
}
static cell beside(cell c, int side)
{
  c.at[side / 2] += side & 1 ? 1 : -1;
  return c;
}
static cell parent_of(cell c)
{
  return (cell){{c.at[0] / 2, c.at[1] / 2, c.at[2] / 2}};
}

static int is_alive(const mn_mg_level *L, const int at[3])
{
  int kind = L->kind[index_of(L, at)];
  return (kind & MN_MG_KIND) != MN_DEAD && !(kind & MN_MG_HELD);
}

/* Where a cell stands. */
static struct mn_mg_spot spot_of(const mn_mg_level *L, cell c)
{
  const mn_mg_row *row = mn_mg_row_at(L, c.at[1], c.at[2]);
  int colour = (c.at[0] + row->parity) & 1;
  return (struct mn_mg_spot){colour, row->base[colour] + c.at[0] / 2};
}

/* Entry of an irregular cell, -1 if it is none. */
static int32_t entry_of(const mn_mg_level *L, cell c)
{
  const mn_mg_row *row = mn_mg_row_at(L, c.at[1], c.at[2]);
  struct mn_mg_spot spot = spot_of(L, c);
  int32_t lo = row->irregular[spot.colour], hi = row[1].irregular[spot.colour];
  while (lo < hi) {
    int32_t middle = lo + (hi - lo) / 2;
    if (L->irregular[spot.colour][middle].at < spot.at)
      lo = middle + 1;
    else
      hi = middle;
  }
  const mn_mg_row *end = row + 1;
  int found = lo < end->irregular[spot.colour] && L->irregular[spot.colour][lo].at == spot.at;
  return found ? lo : -1;
}

static const float *couplings(const mn_mg_level *L, cell c, float *excess)
{
  static const float ones[2][6] = {{1, 1, 1, 1, 0, 0}, {1, 1, 1, 1, 1, 1}};
  int colour = spot_of(L, c).colour;
  int32_t entry = entry_of(L, c);
  if (excess)
    *excess = entry < 0 ? L->excess : L->cell_excess[colour][entry];
  return entry < 0 ? ones[L->dim == 3] : L->irregular[colour][entry].c;
}

static uint8_t *move_of(const mn_mg_level *L, cell c)
{
  return &L->move[index_of(L, c.at)];
}

/* The coarse cell of a cell, orphans at their new place. */
static cell home_of(const mn_mg_level *L, cell c)
{
  int move = *move_of(L, c);
  cell p = parent_of(c);
  return move == PLAIN || move == LOST ? p : beside(p, move - 1);
}

/* ---- orphans --------------------------------------------------------------------------------- */

/* Groups the children of a coarse cell; those that are not of the largest group get lost. Returns
   how many. */
static int part(const mn_mg_level *F, cell p, cell lost[8])
{
  int group[8], size[8] = {0}, best = -1, count = 0;
  cell child[8];
  for (int n = 0; n < 8; n++) {
    for (int a = 0; a < 3; a++)
      child[n].at[a] = 2 * p.at[a] + (n >> a & 1);
    group[n] = inside(F, child[n].at) && is_alive(F, child[n].at) ? n : -1;
  }
  for (int changed = 1; changed;) {
    changed = 0;
    for (int n = 0; n < 8; n++) {
      const float *c = group[n] < 0 ? NULL : couplings(F, child[n], NULL);
      for (int a = 0; a < F->dim && c; a++) {
        int other = n ^ 1 << a, side = 2 * a + !(n >> a & 1);
        if (group[other] >= 0 && group[other] < group[n] && c[side] >= WEAK) {
          group[n] = group[other];
          changed = 1;
        }
      }
    }
  }
  for (int n = 0; n < 8; n++)
    if (group[n] >= 0)
      size[group[n]]++;
  for (int n = 0; n < 8; n++)
    best = size[n] > 0 && (best < 0 || size[n] > size[best]) ? n : best;
  for (int n = 0; n < 8; n++)
    if (group[n] >= 0 && group[n] != best)
      lost[count++] = child[n];
  return count;
}

static mn_status add_orphan(mn_context *ctx, mn_mg_level *F, cell c)
{
  if (*move_of(F, c) == LOST)
    return MN_OK;
  if (F->orphans == F->orphan_room) {
    size_t room = 2 * F->orphan_room + 256;
    MN_TRY(mn_grow(ctx, "orphans", F->orphan_room, room, sizeof *F->orphan, (void **)&F->orphan));
    F->orphan_room = room;
  }
  *move_of(F, c) = LOST;
  F->orphan[F->orphans++] = (mn_mg_orphan){.cell = index_of(F, c.at)};
  return MN_OK;
}

/* Goes through the irregular cells for those that a sibling is not coupled to. */
static mn_status find_lost(mn_context *ctx, mn_mg_level *F)
{
  for (int row = 0; row < F->n[1] * F->n[2]; row++) {
    const uint8_t *kind = F->kind + (int64_t)row * F->n[0];
    for (int i = F->range[row][0]; i < F->range[row][1]; i++) {
      cell c = {{i, row % F->n[1], row / F->n[1]}};
      if ((kind[i] & MN_MG_KIND) != MN_IRREGULAR || kind[i] & MN_MG_HELD)
        continue;
      const float *coupling = couplings(F, c, NULL);
      int parted = 0;
      for (int a = 0; a < F->dim && !parted; a++) {
        int side = 2 * a + !(c.at[a] & 1);
        cell sibling = beside(c, side);
        parted = coupling[side] < WEAK && inside(F, sibling.at) && is_alive(F, sibling.at);
      }
      cell lost[8];
      int count = parted ? part(F, parent_of(c), lost) : 0;
      for (int n = 0; n < count; n++)
        MN_TRY(add_orphan(ctx, F, lost[n]));
    }
  }
  return MN_OK;
}

/* The outward side with the strongest coupling to a cell that stayed where it was. */
static int way_out(const mn_mg_level *F, cell c)
{
  const float *coupling = couplings(F, c, NULL);
  int best = -1;
  for (int a = 0; a < F->dim; a++) {
    int side = 2 * a + (c.at[a] & 1);
    cell next = beside(c, side);
    if (coupling[side] >= WEAK && inside(F, next.at) && is_alive(F, next.at) &&
        *move_of(F, next) == PLAIN && (best < 0 || coupling[side] > coupling[best]))
      best = side;
  }
  return best;
}

/* The way that a sibling goes. */
static int way_of_sibling(const mn_mg_level *F, cell c)
{
  const float *coupling = couplings(F, c, NULL);
  for (int a = 0; a < F->dim; a++) {
    int side = 2 * a + !(c.at[a] & 1);
    cell sibling = beside(c, side);
    if (coupling[side] < WEAK || !inside(F, sibling.at))
      continue;
    int move = *move_of(F, sibling);
    if (move != PLAIN && move != LOST)
      return move - 1;
  }
  return -1;
}

static int by_cell(const void *a, const void *b)
{
  int64_t x = ((const mn_mg_orphan *)a)->cell, y = ((const mn_mg_orphan *)b)->cell;
  return (x > y) - (x < y);
}

mn_status mn_multigrid_find_orphans(mn_context *ctx, mn_mg_level *F)
{
  size_t cells = (size_t)F->n[0] * (size_t)F->n[1] * (size_t)F->n[2];
  MN_TRY(mn_reserve(ctx, "multigrid orphans", cells, 1, &F->move_buffer));
  F->move = F->move_buffer.data;
  memset(F->move, PLAIN, cells);
  F->orphans = 0;
  MN_TRY(find_lost(ctx, F));
  if (!F->orphans)
    return MN_OK;
  qsort(F->orphan, F->orphans, sizeof *F->orphan, by_cell);
  for (size_t n = 0; n < F->orphans; n++)
    F->orphan[n].way = way_out(F, cell_of(F, F->orphan[n].cell));
  for (int pass = 0; pass < 3; pass++) {
    for (size_t n = 0; n < F->orphans; n++)
      if (F->orphan[n].way >= 0)
        F->move[F->orphan[n].cell] = (uint8_t)(1 + F->orphan[n].way);
    for (size_t n = 0; n < F->orphans && pass < 2; n++)
      if (F->orphan[n].way < 0)
        F->orphan[n].way = way_of_sibling(F, cell_of(F, F->orphan[n].cell));
  }
  size_t kept = 0; /* others stay with their parents after all */
  for (size_t n = 0; n < F->orphans; n++)
    if (F->orphan[n].way >= 0)
      F->orphan[kept++] = F->orphan[n];
    else
      F->move[F->orphan[n].cell] = PLAIN;
  F->orphans = kept;
  return MN_OK;
}

/* ---- the coarse level ------------------------------------------------------------------------ */

static void mark(const mn_mg_level *C, cell c, uint8_t *kind)
{
  uint8_t *k = &kind[index_of(C, c.at)];
  *k = *k == MN_REGULAR ? MN_IRREGULAR : *k;
}

void mn_multigrid_mark_split(const mn_mg_level *F, const mn_mg_level *C, uint8_t *kind)
{
  for (size_t n = 0; n < F->orphans; n++) {
    cell c = cell_of(F, F->orphan[n].cell);
    const float *coupling = couplings(F, c, NULL);
    mark(C, parent_of(c), kind);
    mark(C, home_of(F, c), kind);
    for (int side = 0; side < 2 * F->dim; side++)
      if (coupling[side] > 0) {
        mark(C, parent_of(beside(c, side)), kind);
        mark(C, home_of(F, beside(c, side)), kind);
      }
  }
}

static int distance(cell p, cell q)
{
  return abs(q.at[0] - p.at[0]) + abs(q.at[1] - p.at[1]) + abs(q.at[2] - p.at[2]);
}

/* Side of p where its neighbour q lies. */
static int side_of(cell p, cell q)
{
  int a = p.at[0] != q.at[0] ? 0 : p.at[1] != q.at[1] ? 1 : 2;
  return 2 * a + (q.at[a] > p.at[a]);
}

/* Adds to the coupling of two coarse cells; nothing if they are one, or no neighbours. */
static void couple(mn_mg_level *C, cell p, cell q, float amount)
{
  if (distance(p, q) != 1)
    return;
  int side = side_of(p, q);
  C->irregular[spot_of(C, p).colour][entry_of(C, p)].c[side] += amount;
  C->irregular[spot_of(C, q).colour][entry_of(C, q)].c[side ^ 1] += amount;
}

static void give(mn_mg_level *C, cell p, float amount)
{
  C->cell_excess[spot_of(C, p).colour][entry_of(C, p)] += amount;
}

/* Diagonal of a coarse cell; what differences of rounded numbers left goes. */
static void finish(mn_mg_level *C, cell p)
{
  static const float ROUND_OFF = 1e-6F;
  int colour = spot_of(C, p).colour;
  int32_t entry = entry_of(C, p);
  mn_mg_cell *row = &C->irregular[colour][entry];
  float *excess = &C->cell_excess[colour][entry];
  *excess = *excess > ROUND_OFF ? *excess : 0;
  double sum = (double)*excess;
  for (int side = 0; side < 6; side++) {
    row->c[side] = row->c[side] > ROUND_OFF ? row->c[side] : 0;
    sum += (double)row->c[side];
  }
  row->inverse = sum > 0 ? (float)(1 / sum) : 0;
}

/* A coupling of cells that are neighbours over a corner goes through the better one of the two
   cells between, if that is coupled to both. */
static void couple_over(mn_mg_level *C, cell p, cell q, float amount)
{
  float best = WEAK;
  cell way = p;
  if (distance(p, q) != 2)
    return;
  for (int a = 0; a < 3; a++) {
    cell between = p;
    between.at[a] = q.at[a];
    if (p.at[a] == q.at[a] || distance(between, q) != 1 || !is_alive(C, between.at) ||
        entry_of(C, between) < 0)
      continue;
    float to_p = couplings(C, between, NULL)[side_of(between, p)];
    float to_q = couplings(C, between, NULL)[side_of(between, q)];
    if (to_p >= best && to_q >= best) {
      best = to_p < to_q ? to_p : to_q;
      way = between;
    }
  }
  if (distance(way, p) != 1)
    return;
  couple(C, way, p, amount);
  couple(C, way, q, amount);
  finish(C, way);
}

/* Takes an orphan's couplings from its parent to its home; those over a corner at last. */
static void resettle(const mn_mg_level *F, mn_mg_level *C, int soft, cell c, int corners)
{
  float factor = F->dim == 3 ? 0.25F : 0.5F, excess;
  const float *coupling = couplings(F, c, &excess);
  cell from = parent_of(c), to = home_of(F, c);
  excess = factor * (float)mn_mg_coarse_share(F, soft, excess);
  for (int side = 0; side < 2 * F->dim; side++) {
    cell next = beside(c, side);
    if (!(coupling[side] > 0))
      continue;
    if (!is_alive(F, next.at)) { /* held: a link to a fixed value */
      excess += factor * coupling[side];
      continue;
    }
    int both = *move_of(F, next) != PLAIN;
    if (both && index_of(F, next.at) < index_of(F, c.at))
      continue; /* was its turn */
    if (corners) {
      couple_over(C, to, home_of(F, next), factor * coupling[side]);
      continue;
    }
    couple(C, from, parent_of(next), -factor * coupling[side]);
    couple(C, to, home_of(F, next), factor * coupling[side]);
  }
  if (corners)
    return;
  give(C, from, -excess);
  give(C, to, excess);
}

mn_status mn_multigrid_resettle(mn_context *ctx, const mn_multigrid *mg, mn_mg_level *F,
                                mn_mg_level *C)
{
  MN_TRY(
      mn_reserve(ctx, "multigrid orphans", (size_t)F->slabs + 1, sizeof(int32_t), &F->slab_buffer));
  F->first_orphan = F->slab_buffer.data;
  for (int corners = 0; corners < 2; corners++)
    for (size_t n = 0; n < F->orphans; n++)
      resettle(F, C, mg->soft, cell_of(F, F->orphan[n].cell), corners);
  int slab = 0;
  for (size_t n = 0; n < F->orphans; n++) {
    mn_mg_orphan *o = &F->orphan[n];
    cell c = cell_of(F, o->cell);
    const float *coupling = couplings(F, c, NULL);
    finish(C, parent_of(c));
    finish(C, home_of(F, c));
    for (int side = 0; side < 2 * F->dim; side++)
      if (coupling[side] > 0 && is_alive(F, beside(c, side).at)) {
        finish(C, parent_of(beside(c, side)));
        finish(C, home_of(F, beside(c, side)));
      }
    o->here = spot_of(F, c);
    o->from = spot_of(C, parent_of(c));
    o->to = spot_of(C, home_of(F, c));
    for (; slab <= (c.at[1] + F->n[1] * c.at[2]) / F->slab_rows; slab++)
      F->first_orphan[slab] = (int32_t)n;
  }
  for (; slab <= F->slabs; slab++)
    F->first_orphan[slab] = (int32_t)F->orphans;
  return MN_OK;
}
