/* Gaps between obstacles, of which one is driven, or between one and a source, that are too thin
   for the grid.

   A gap that lies inside one cell has solid at all nodes of it: the cell is gone, and with it what
   the walls of the gap squeeze out or draw in. It still shows in the velocities of its closed
   faces: with u the mean over the substep,

       q = -sum over the faces of the cell of A u . n

   is 0 within any one solid, since that moves as a whole, and where two meet it is the rate at
   which the gap between them, or their overlap, shrinks. With h1 the part of the line through the
   cell's middle, along the axis that gives the most of q, which no solid covers (below 0: by which
   they overlap), and h0 = h1 + q dt/dx^dim where it was, the gap was there for as long as
   h0 + (h1 - h0) s > 0, 0 < s < 1; that part of q is the region's at the gap's end, which is found
   from cell to cell. So an obstacle that lands on another one, wherever in a substep, displaces all
   that was below it. No face shows these flows (compatible.c).

   Cells that bodies cover, too, or thin surfaces cross, are left out. Verified by
   tests/verify/test_closed_valve.c. */
#include "fluid/mac/enclose.h"

#include <math.h>

#include "base/status.h"
#include "fluid/mac/internal.h"

/* Halvings that find a solid's surface on a line. */
enum { HALVINGS = 40 };

static double face_flow(const mn_mac *mac, int a, const int at[3], int high)
{
  const mn_field *u = &mac->geometry.wall[a];
  return u->at[mn_index(u, at[0], at[1], at[2]) + (high ? u->stride[a] : 0)];
}

/* All faces closed, and no node in a body. (Cells of sources have no open face, either.) */
static int is_gone(const mn_mac *mac, const int at[3])
{
  const mn_mac_geometry *g = &mac->geometry;
  int dim = mac->grid.dim, outside;
  if (mn_inflow_of(mac, at, &outside))
    return 0;
  for (int a = 0; a < dim; a++) {
    const mn_field *w = &g->open[a];
    int64_t q = mn_index(w, at[0], at[1], at[2]);
    if (w->at[q] > 0 || w->at[q + w->stride[a]] > 0)
      return 0;
  }
  for (int n = 0; n < 1 << dim && g->obstacles.data; n++) {
    int i = at[0] + (n & 1), j = at[1] + (n >> 1 & 1), k = at[2] + (n >> 2);
    if (mn_get(&g->solid, i, j, k) < mn_get(&g->obstacles, i, j, k))
      return 0;
  }
  return 1;
}

/* A thin surface passes within a cell of this one: what lies between the obstacles is its, too. */
static int holds_skin(const mn_mac *mac, const int at[3])
{
  const mn_immersed *thin = mac->geometry.thin;
  for (int a = 0; a < mac->grid.dim && thin; a++) {
    mn_vec3 low = mn_position(&mac->b, at[0], at[1], at[2]), high = low;
    low.v[a] -= 1.5 * mac->grid.dx;
    high.v[a] += 1.5 * mac->grid.dx;
    if (mn_immersed_crosses(thin, low, high, NULL, NULL))
      return 1;
  }
  return 0;
}

/* Part of the line from x, of length dx along an axis and up (1) or down (-1), that the solid
   covers from its begin on. */
static double covered(const mn_mac *mac, int solid, mn_vec3 x, int axis, int way)
{
  const mn_solid_def *s = &mac->def->solids[solid];
  const mn_placement *place = &mac->geometry.place[solid];
  double lo = 0, hi = 1, from = x.v[axis], length = way * mac->grid.dx;
  if (mn_mac_placed_distance(s, place, x) > 0)
    return 0;
  x.v[axis] = from + length;
  if (mn_mac_placed_distance(s, place, x) <= 0)
    return 1;
  for (int n = 0; n < HALVINGS; n++) {
    double middle = 0.5 * (lo + hi);
    x.v[axis] = from + middle * length;
    *(mn_mac_placed_distance(s, place, x) <= 0 ? &lo : &hi) = middle;
  }
  return lo;
}

/* Of the line between two opposite faces of a cell: its ends, and whether a source is beyond them,
   whose side is a wall of the gap. */
typedef struct gap_line {
  mn_vec3 end[2];
  int axis, source[2];
} gap_line;

static gap_line line_along(const mn_mac *mac, const int at[3], int axis)
{
  gap_line l = {.axis = axis};
  for (int high = 0; high < 2; high++) {
    int next[3] = {at[0], at[1], at[2]}, outside;
    next[axis] += high ? 1 : -1;
    l.source[high] = mn_inflow_of(mac, next, &outside) != 0;
    l.end[high] = mn_position(&mac->b, at[0], at[1], at[2]);
    l.end[high].v[axis] += (high ? 0.5 : -0.5) * mac->grid.dx;
  }
  return l;
}

/* Part of the line that the solid covers from its high or low end on; more than 1: with what it
   covers of the source at the other one. */
static double covered_from(const mn_mac *mac, int solid, const gap_line *l, int high)
{
  int way = high ? -1 : 1;
  double part = covered(mac, solid, l->end[high], l->axis, way);
  return part < 1 || !l->source[!high] ? part
                                       : 1 + covered(mac, solid, l->end[!high], l->axis, way);
}

/* h1: the least that two of the solids, one from each end, leave of the line, or one of them and a
   source. */
static double room_along(const mn_mac *mac, const int at[3], int axis)
{
  gap_line l = line_along(mac, at, axis);
  double least = 1;
  int count = mac->def->solid_count;
  for (int s = 0; s < count; s++) {
    double from_low = covered_from(mac, s, &l, 0);
    least = fmin(least, 1 - fmax(from_low, covered_from(mac, s, &l, 1)));
    for (int t = 0; t < count && from_low > 0; t++)
      if (t != s)
        least = fmin(least, 1 - from_low - covered_from(mac, t, &l, 1));
  }
  return least;
}

/* What a gap in the cell gives to its region, m^3/s. */
static double flow_of(const mn_mac *mac, const int at[3])
{
  double dx = mac->grid.dx, q = 0, most = 0, size = 0;
  int axis = 0;
  for (int a = 0; a < mac->grid.dim; a++) {
    double low = face_flow(mac, a, at, 0), high = face_flow(mac, a, at, 1);
    q += low - high;
    size = fmax(size, fmax(fabs(low), fabs(high)));
    if (fabs(low - high) > most) {
      most = fabs(low - high);
      axis = a;
    }
  }
  if (fabs(q) <= 1e-12 * size || !is_gone(mac, at) || holds_skin(mac, at))
    return 0;
  double end = room_along(mac, at, axis), start = end + q * mac->geometry.dt / dx, part = 1;
  if (start <= 0 && end <= 0)
    return 0;
  if (start <= 0 || end <= 0)
    part = fmax(start, end) / fabs(start - end);
  return part * q * pow(dx, mac->grid.dim - 1);
}

/* The region of a cell beside this one, or -1. Across a face, else across an edge or a corner: that
   is where a gap ends whose wall is flush with a node. */
static int32_t region_beside(const mn_mac *mac, const int at[3])
{
  const mn_field *b = &mac->b;
  const int32_t *label = mac->enclosure.label + (b->at - b->data);
  int deep = mac->grid.dim == 3;
  for (int far = 1; far <= mac->grid.dim; far++)
    for (int n = deep ? 0 : 9; n < (deep ? 27 : 18); n++) {
      int to[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1}, in = 1, away = 0;
      for (int a = 0; a < 3; a++) {
        away += to[a] != 0;
        to[a] += at[a];
        in &= to[a] >= 0 && to[a] < b->n[a];
      }
      if (in && away == far && label[mn_index(b, to[0], to[1], to[2])] >= 0)
        return label[mn_index(b, to[0], to[1], to[2])];
    }
  return -1;
}

static mn_status find_gaps(mn_mac *mac)
{
  mn_enclosure *e = &mac->enclosure;
  const mn_field *b = &mac->b;
  e->gaps = 0;
  for (int k = 0; k < b->n[2]; k++)
    for (int j = 0; j < b->n[1]; j++)
      for (int i = 0; i < b->n[0]; i++) {
        mn_gap gap = {.at = {i, j, k}, .region = -1};
        if (e->label[b->at - b->data + mn_index(b, i, j, k)] < 0)
          gap.flow = flow_of(mac, gap.at);
        if (gap.flow == 0)
          continue;
        if (e->gaps == e->gap_room) {
          size_t room = 2 * e->gap_room + 64;
          MN_TRY(mn_grow(mac->ctx, "gaps", e->gap_room, room, sizeof *e->gap, (void **)&e->gap));
          e->gap_room = room;
        }
        e->gap[e->gaps++] = gap;
      }
  return MN_OK;
}

/* From the regions on, one cell further in each round; labels of these cells stand until the end
   only. */
mn_status mn_mac_add_gaps(mn_mac *mac)
{
  mn_enclosure *e = &mac->enclosure;
  const mn_field *b = &mac->b;
  int32_t *label = e->label + (b->at - b->data);
  MN_TRY(find_gaps(mac));
  for (int more = 1; more;) {
    more = 0;
    for (size_t n = 0; n < e->gaps; n++)
      if (e->gap[n].region < 0)
        e->gap[n].region = region_beside(mac, e->gap[n].at);
    for (size_t n = 0; n < e->gaps; n++) {
      const mn_gap *gap = &e->gap[n];
      int64_t c = mn_index(b, gap->at[0], gap->at[1], gap->at[2]);
      more |= gap->region >= 0 && label[c] < 0;
      label[c] = gap->region;
    }
  }
  for (size_t n = 0; n < e->gaps; n++) {
    const mn_gap *gap = &e->gap[n];
    label[mn_index(b, gap->at[0], gap->at[1], gap->at[2])] = -1;
    if (gap->region < 0)
      continue;
    e->inflow[gap->region] += gap->flow;
    e->hidden[gap->region] += gap->flow;
  }
  return MN_OK;
}
