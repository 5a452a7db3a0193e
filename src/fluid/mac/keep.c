/* The volume of water that a level set carries.

   Advection and redistancing move the surface, but keep no volume: sheets and drops thinner than
   a cell fade, gaps as thin close. What goes is asked of each body of water apart (cells that were
   or are wet, joined through open faces), so that what a paddle loses in one vessel does not
   come back in another:

       V^n + dt (flow in through inflows) = volume under phi - delta

   delta, by which its surface is shifted along its normal, by Newton's method as in volume.c; at
   most SHIFT cells in a substep. What that leaves, and what was in drops that came or went as a
   whole, is owed: all surfaces make up for it together, as soon as the bound allows. How much was
   put back is reported (`volume_mended`).

   V^n is kept in the state, by cells, as it was when the surface of that time was made, with the
   solids where they were then: bodies move later in the substep, the water gives way in the next.

   Limits: water that is put back is where the surface is, not where it was lost. Water that reaches
   an open side is left as it is: how much flows out there is known to first order only, 4 % too
   much for a film a few cells thick. The same holds for inflows that are wet in part. Water that
   lies at thin shells more than at its surface, as in a balloon, is not shifted either.

   Verified by tests/verify/test_levelset_volume.c. */
#include "fluid/mac/internal.h"

#include <math.h>
#include <string.h>

#include "base/status.h"

/* In cells: the greatest shift, and the least worth one. Without the latter rounding would stir
   water at rest. */
static const double SHIFT = 0.1, LEAST = 1e-9;
/* Part of the water that may be owed without a word. */
static const double MUCH = 0.1;
enum { NEWTON = 3, LAYERS = 3 }; /* of cells beyond the wet ones that go with their surface */

/* Water in one piece. */
typedef struct mn_pool {
  double before, after; /* m^3, with what flowed in; under the surface as carried */
  double target, inside;
  double rim, shift; /* m^2, m */
  int leaks;         /* it reaches an open side: its volume is not known */
  int lasts;         /* it is to keep its volume */
  int64_t beside;    /* cells that thin shells touch */
} mn_pool;

void mn_liquid_keep_destroy(mn_keep *keep)
{
  mn_free(keep->label);
  mn_free(keep->queue);
  mn_free(keep->pool);
  mn_field_destroy(&keep->wet);
}

mn_status mn_liquid_keep_create(mn_mac *mac)
{
  mn_keep *keep = &mac->keep;
  const int *n = mac->grid.n;
  size_t cells = (size_t)n[0] * (size_t)n[1] * (size_t)n[2];
  if (!mac->state.wet.data)
    return MN_OK;
  MN_TRY(MN_NEW(mac->ctx, "bodies of water", cells, &keep->label));
  MN_TRY(MN_NEW(mac->ctx, "bodies of water", cells, &keep->queue));
  return mn_field_create(mac->ctx, &mac->grid, MN_CELL, "water of cells", &keep->wet);
}

static void cell_at(const mn_mac *mac, int64_t cell, int at[3])
{
  const int *n = mac->grid.n;
  at[0] = (int)(cell % n[0]);
  at[1] = (int)(cell / n[0] % n[1]);
  at[2] = (int)(cell / n[0] / n[1]);
}

static int64_t cell_count(const mn_mac *mac)
{
  return (int64_t)mac->grid.n[0] * mac->grid.n[1] * mac->grid.n[2];
}

static double at_cell(const mn_field *f, const int at[3])
{
  return mn_get(f, at[0], at[1], at[2]);
}

static double part(const mn_mac *mac, const mn_field *phi, const int at[3], double shift)
{
  return mn_liquid_part(phi, mn_shell_seen(mac, at[0], at[1], at[2]), at[0], at[1], at[2], shift);
}

void mn_liquid_measure(const mn_mac *mac, const mn_field *phi, mn_field *wet)
{
  double cell = pow(mac->grid.dx, mac->grid.dim);
  int slabs = mn_slabs(phi);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int s = 0; s < slabs; s++) {
    int k, j0, j1;
    mn_slab(phi, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++)
      for (int i = 0; i < phi->n[0]; i++) {
        double room = mn_get(&mac->geometry.volume, i, j, k);
        mn_set(wet, i, j, k, room > 0 ? room * cell * part(mac, phi, (int[]){i, j, k}, 0) : 0);
      }
  }
}

/* ---- bodies of water ------------------------------------------------------------------------- */

/* Whether water may be on both sides of the face between `at` and the next cell along the axis. A
   cell that a solid has just covered lost its water to any of its neighbours. */
static int is_joined(const mn_mac *mac, const int at[3], int axis, int up)
{
  const mn_mac_geometry *g = &mac->geometry;
  int to[3] = {at[0], at[1], at[2]}, face[3] = {at[0], at[1], at[2]};
  to[axis] += up ? 1 : -1;
  face[axis] += up;
  const mn_field *f = &g->open[axis];
  if (g->kind[axis][f->at - f->data + mn_index(f, face[0], face[1], face[2])] <= MN_FACE_STUCK)
    return 1;
  return !(at_cell(&g->volume, at) > 0) || !(at_cell(&g->volume, to) > 0);
}

/* Labels the neighbours of a cell that have none as it is, those with `all` or that were or are
   wet, and puts them into the queue. */
static int64_t spread(mn_mac *mac, int64_t cell, int all, int64_t queued)
{
  mn_keep *keep = &mac->keep;
  const int *n = mac->grid.n;
  int64_t step[3] = {1, n[0], (int64_t)n[0] * n[1]};
  int at[3];
  cell_at(mac, cell, at);
  for (int a = 0; a < mac->grid.dim; a++)
    for (int up = 0; up < 2; up++) {
      int to[3] = {at[0], at[1], at[2]};
      to[a] += up ? 1 : -1;
      int64_t next = cell + (up ? step[a] : -step[a]);
      if (to[a] < 0 || to[a] >= n[a] || keep->label[next] || !is_joined(mac, at, a, up) ||
          !(all || at_cell(&mac->state.wet, to) > 0 || at_cell(&keep->wet, to) > 0))
        continue;
      keep->label[next] = keep->label[cell];
      keep->queue[queued++] = next;
    }
  return queued;
}

/* label <- 1 + index of the pool of each cell that was or is wet, 0 elsewhere. Cells of one pool
   follow each other in the queue. */
static mn_status find_pools(mn_mac *mac, int64_t *wet_cells)
{
  mn_keep *keep = &mac->keep;
  int64_t cells = cell_count(mac), queued = 0, done = 0;
  memset(keep->label, 0, (size_t)cells * sizeof *keep->label);
  keep->count = 0;
  for (int64_t c = 0; c < cells; c++) {
    int at[3];
    cell_at(mac, c, at);
    if (keep->label[c] || !(at_cell(&mac->state.wet, at) > 0 || at_cell(&keep->wet, at) > 0))
      continue;
    if (keep->count == keep->room) {
      int32_t room = keep->room ? 2 * keep->room : 64;
      MN_TRY(mn_grow(mac->ctx, "bodies of water", (size_t)keep->room, (size_t)room,
                     sizeof *keep->pool, (void **)&keep->pool));
      keep->room = room;
    }
    keep->pool[keep->count++] = (mn_pool){0};
    keep->label[c] = keep->count;
    for (keep->queue[queued++] = c; done < queued; done++)
      queued = spread(mac, keep->queue[done], 0, queued);
  }
  *wet_cells = queued;
  return MN_OK;
}

/* The cells beyond, a few layers, take the label of the one they are reached from. Returns how many
   cells have one. */
static int64_t find_surroundings(mn_mac *mac, int64_t wet_cells)
{
  int64_t first = 0, last = wet_cells;
  for (int layer = 0; layer < LAYERS; layer++) {
    int64_t end = last;
    for (; first < last; first++)
      end = spread(mac, mac->keep.queue[first], 1, end);
    last = end;
  }
  return last;
}

/* ---- volumes --------------------------------------------------------------------------------- */

/* What came into the cell in the substep from inflows, m^3: the water of their own cells. */
static double flow_into(const mn_mac *mac, const int at[3])
{
  double area = pow(mac->grid.dx, mac->grid.dim - 1), sum = 0;
  for (int a = 0; a < mac->grid.dim; a++)
    for (int up = 0; up < 2; up++) {
      int face[3] = {at[0], at[1], at[2]}, from[3] = {at[0], at[1], at[2]};
      const mn_field *u = &mac->trace[a];
      face[a] += up;
      from[a] += up ? 1 : -1;
      int64_t q = u->at - u->data + mn_index(u, face[0], face[1], face[2]);
      if (from[a] >= 0 && from[a] < mac->grid.n[a] && mac->geometry.kind[a][q] == MN_FACE_SOURCE)
        sum += mac->dt * area * (up ? -u->data[q] : u->data[q]) *
               part(mac, &mac->state.liquid, from, 0);
    }
  return sum;
}

/* Water of the cell may leave through an open side within the substep. */
static int may_leave(const mn_mac *mac, const int at[3])
{
  int reach = (int)ceil(mac->def->fluid.cfl);
  for (int a = 0; a < mac->grid.dim; a++)
    if ((at[a] < reach && mac->open_sides >> 2 * a & 1) ||
        (at[a] >= mac->grid.n[a] - reach && mac->open_sides >> (2 * a + 1) & 1))
      return 1;
  return 0;
}

static void sum_up(mn_mac *mac, int64_t wet_cells)
{
  mn_keep *keep = &mac->keep;
  for (int64_t n = 0; n < wet_cells; n++) {
    mn_pool *pool = &keep->pool[keep->label[keep->queue[n]] - 1];
    int at[3];
    cell_at(mac, keep->queue[n], at);
    pool->before += at_cell(&mac->state.wet, at);
    if (at_cell(&mac->geometry.volume, at) > 0) {
      pool->before += flow_into(mac, at);
      pool->leaks |= may_leave(mac, at);
    }
    pool->after += at_cell(&keep->wet, at);
    pool->beside += mac->shell.on && mac->shell.far[keep->queue[n]] == 0;
  }
  for (int32_t p = 0; p < keep->count; p++)
    if (keep->pool[p].leaks)
      keep->pool[p].before = keep->pool[p].after;
}

/* inside, rim <- under the surfaces, shifted as they are, and its derivative */
static void measure_shifted(mn_mac *mac, const mn_field *phi, int64_t labelled)
{
  mn_keep *keep = &mac->keep;
  double dx = mac->grid.dx, cell = pow(dx, mac->grid.dim);
  for (int32_t p = 0; p < keep->count; p++)
    keep->pool[p].inside = keep->pool[p].rim = 0;
  for (int64_t n = 0; n < labelled; n++) {
    mn_pool *pool = &keep->pool[keep->label[keep->queue[n]] - 1];
    int at[3];
    cell_at(mac, keep->queue[n], at);
    double room = at_cell(&mac->geometry.volume, at) * cell;
    if (!(room > 0))
      continue;
    double near = 1 - fabs(at_cell(phi, at) - pool->shift) / dx;
    pool->inside += room * part(mac, phi, at, pool->shift);
    pool->rim += near > 0 ? room / dx * near : 0;
  }
}

/* Beside thin shells volume is known to a cell, more than a pool with little surface but that, as a
   balloon full of water, could be shifted for. */
static int is_wrapped(const mn_mac *mac, const mn_pool *pool)
{
  return (double)pool->beside * pow(mac->grid.dx, mac->grid.dim - 1) > pool->rim;
}

/* Which pools were there, still are and are shifted, and their targets: what each had, with its
   share of what is owed by or to all. */
static void set_targets(mn_mac *mac)
{
  mn_keep *keep = &mac->keep;
  double owed = mac->state.owed, rim = 0;
  for (int32_t p = 0; p < keep->count; p++) {
    mn_pool *pool = &keep->pool[p];
    pool->lasts = pool->before > 0 && pool->after > 0 && pool->rim > 0 && !pool->leaks &&
                  !is_wrapped(mac, pool);
    owed += pool->lasts ? 0 : pool->before - pool->after;
    rim += pool->lasts ? pool->rim : 0;
  }
  for (int32_t p = 0; p < keep->count; p++) {
    mn_pool *pool = &keep->pool[p];
    pool->target = pool->lasts ? pool->before + owed * pool->rim / rim : 0;
  }
}

/* A step of Newton's method for the shift of each pool. */
static void improve_shifts(mn_mac *mac)
{
  double dx = mac->grid.dx;
  for (int32_t p = 0; p < mac->keep.count; p++) {
    mn_pool *pool = &mac->keep.pool[p];
    double missing = pool->target - pool->inside;
    if (pool->lasts && fabs(missing) > LEAST * dx * pool->rim && pool->rim > 0)
      pool->shift = mn_clamp(pool->shift + missing / pool->rim, -SHIFT * dx, SHIFT * dx);
  }
}

static double sum_of(const mn_field *wet)
{
  double sum = 0;
  for (int k = 0; k < wet->n[2]; k++)
    for (int j = 0; j < wet->n[1]; j++)
      for (int i = 0; i < wet->n[0]; i++)
        sum += mn_get(wet, i, j, k);
  return sum;
}

/* Tells, once, that much of the water is in none of the pools. */
static void warn_of_owed(mn_mac *mac, double now)
{
  mn_keep *keep = &mac->keep;
  double part = keep->owed / (now + keep->owed);
  if (keep->warned || !(keep->owed > 0 && part > MUCH))
    return;
  keep->warned = 1;
  mn_log(mac->ctx, MN_LOG_WARNING,
         "fluid.transfer = \"levelset\": at %g s it has lost %.0f %% of the water in sheets and "
         "drops thinner than a cell, with too little surface left to put it back; use more cells, "
         "or transfer = \"apic\"",
         mac->geometry.time, 100 * part);
}

mn_status mn_liquid_keep_volume(mn_mac *mac, mn_field *phi)
{
  mn_keep *keep = &mac->keep;
  int64_t wet_cells, labelled;
  double before = 0, after;
  int any = 0;
  mn_liquid_measure(mac, phi, &keep->wet);
  MN_TRY(find_pools(mac, &wet_cells));
  sum_up(mac, wet_cells);
  labelled = find_surroundings(mac, wet_cells);
  measure_shifted(mac, phi, labelled);
  set_targets(mac);
  for (int n = 0; n < NEWTON; n++) {
    improve_shifts(mac);
    measure_shifted(mac, phi, labelled);
  }
  for (int32_t p = 0; p < keep->count; p++) {
    before += keep->pool[p].before;
    any |= keep->pool[p].shift != 0;
  }
  after = sum_of(&keep->wet);
  for (int64_t n = 0; n < labelled && any; n++) {
    int at[3];
    cell_at(mac, keep->queue[n], at);
    phi->at[mn_index(phi, at[0], at[1], at[2])] -=
        keep->pool[keep->label[keep->queue[n]] - 1].shift;
  }
  if (any) {
    mn_mac_fill_cells(phi);
    mn_liquid_put_on_surface(mac, phi);
    mn_liquid_measure(mac, phi, &keep->wet);
  }
  double now = sum_of(&keep->wet);
  keep->mended = now - after;
  keep->owed = mac->state.owed + before - now;
  warn_of_owed(mac, now);
  return MN_OK;
}
