/* Closed regions among moving bodies.

   In a region without any opening the flow through its walls must sum to zero. Bodies that deform
   keep their volume, if at all, to the accuracy of their own solver, and W V on the grid's faces to
   that of W: a little remains. With Q_r the net inflow into region r, the velocities U of the
   bodies' faces are changed by the least amount dU, weighted with the closed areas,

       min sum_f A (1 - w)/b dU_f^2   with   sum_f c_rf dU_f = -Q_r,   c_rf = +-A (1 - w),

   dU_f = b sum_r sign_rf l_r, K l = -Q, K_rs = sum_f A (1 - w) b sign_rf sign_sf: conjugate
   gradients over the regions; K is singular where regions have walls only in common, and then Q
   sums to 0. b is the part of the face that is a wall of the fluid in its cell: the open part of
   the face across the cell. A cell that a body all but fills has whole faces in the body, and
   openings of 1e-4 of them; moved by dU = l these would drive a jet of 1e4 l out of it.

   More than a few per cent of what the walls of the region move is not an error but a change of its
   volume, which no incompressible flow allows: left for the pressure solve to refuse. If the
   coupling keeps the volumes of closed regions (enclose.c), what is left is how surfaces and faces
   differ, up to a few per cent of coarse ones; more means that it lost the region. Not so of rigid
   bodies that lie wholly inside (interface.inside): they take no volume, by their surfaces exactly,
   and where one nears a wall the cells between them vanish, and with them the faces that it moves.
   All that the faces miss of such bodies is mended, and only the rest judged; and so what they miss
   of sides that go flush with a wall in this substep (interface.unseen). And pockets of a
   few cells, between a body and a wall say, are below the resolution, and not worth an end: what is
   squeezed out of them leaks. Where the coupling nears the volumes from solve to solve
   (interface.seeking), and where it moves walls by what is mended (one system), all is mended. At
   time 0 nobody has asked the bodies yet to give way: all is mended.

   Verified by tests/verify/test_body_balance.c. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "fluid/mac/internal.h"

/* Net inflow that is mended, as part of sum A (1 - w) |U| over the bodies' faces of the region. */
static const double MENDED = 0.03, MENDED_KNOWN = 0.1;
/* In regions that the coupling keeps: so many cells in a substep of full length (the scene's
   longest, or a tenth of a frame), by which mending moves walls, are below what the grid sees,
   however slow the walls are. (In any substep, and walls that went ever faster in ever shorter ones
   would be mended for ever.) */
static const double SLOW = 0.01;
/* Less of a region's closed faces are walls: it is a cell wide, and b = 1. */
static const double WALLS = 0.01;
/* Regions of at most so many cells along each axis, taken as a cube, are mended in any case. */
enum { POCKET = 3 };

/* Closed regions on both sides of a row's face, or -1. */
static void regions_of(const mn_mac *mac, const mn_closed_face *f, int region[2])
{
  for (int high = 0; high < 2; high++) {
    int at[3] = {f->i, f->j, f->k};
    at[f->axis] -= !high;
    int inside = at[f->axis] >= 0 && at[f->axis] < mac->grid.n[f->axis];
    int r = inside ? mn_pressure_region_of(mac->pressure, at[0], at[1], at[2]) : -1;
    region[high] = r >= 0 && mn_pressure_get_region(mac->pressure, r).closed ? r : -1;
  }
  if (region[0] == region[1])
    region[0] = region[1] = -1;
}

/* Area that the body closes. */
static double closed_area(const mn_mac *mac, size_t row)
{
  return pow(mac->grid.dx, mac->grid.dim - 1) * mn_mac_bodies_closed(mac, row);
}

static mn_status make_room(mn_mac *mac, size_t count)
{
  mn_mac_bodies *b = &mac->bodies;
  if (count <= b->regions)
    return MN_OK;
  for (int n = 0; n < 5; n++)
    MN_TRY(mn_grow(mac->ctx, "closed regions", b->regions, 2 * count, sizeof(double),
                   (void **)&b->region[n]));
  b->regions = 2 * count;
  return MN_OK;
}

/* b of a face, by the cells beside it that hold fluid; thin surfaces are walls all over, sides of
   the domain stand. */
static double wall_part(const mn_mac *mac, size_t row)
{
  const mn_closed_face *f = &mac->bodies.face[row];
  double part = mac->bodies.side[row] < 0;
  for (int high = 0; high < 2 && f->element == MN_NO_ELEMENT; high++) {
    int cell[3] = {f->i, f->j, f->k}, across[3] = {f->i, f->j, f->k};
    cell[f->axis] -= !high;
    across[f->axis] += high ? 1 : -1;
    int inside = cell[f->axis] >= 0 && cell[f->axis] < mac->grid.n[f->axis];
    if (inside && mn_pressure_region_of(mac->pressure, cell[0], cell[1], cell[2]) >= 0)
      part = fmin(part, mn_get(&mac->geometry.open[f->axis], across[0], across[1], across[2]));
  }
  return part;
}

mn_status mn_mac_bodies_find_walls(mn_mac *mac)
{
  mn_mac_bodies *b = &mac->bodies;
  size_t count = (size_t)mn_pressure_region_count(mac->pressure), rows = b->weights->rows;
  MN_TRY(make_room(mac, count + 1));
  MN_TRY(mn_reserve(mac->ctx, "walls of bodies", rows, sizeof(double), &b->wall));
  double *wall = b->wall.data, *all = b->region[0], *seen = b->region[1];
  memset(all, 0, count * sizeof *all);
  memset(seen, 0, count * sizeof *seen);
  for (int pass = 0; pass < 2; pass++)
    for (size_t row = 0; row < rows; row++) {
      int r[2];
      regions_of(mac, &b->face[row], r);
      double area = closed_area(mac, row);
      wall[row] = pass ? wall[row] : wall_part(mac, row);
      for (int s = 0; s < 2; s++) {
        if (r[s] < 0)
          continue;
        all[r[s]] += pass ? 0 : area;
        seen[r[s]] += pass ? 0 : wall[row] * area;
        if (pass && seen[r[s]] < WALLS * all[r[s]])
          wall[row] = b->side[row] < 0;
      }
    }
  return MN_OK;
}

/* y = K x on the regions that are mended, marked by least[r] > 0 */
static void multiply(const mn_mac *mac, const double *mark, const double *x, double *y, int count)
{
  const mn_mac_bodies *b = &mac->bodies;
  const double *wall = b->wall.data;
  memset(y, 0, (size_t)count * sizeof *y);
  for (size_t row = 0; row < b->weights->rows; row++) {
    int r[2];
    regions_of(mac, &b->face[row], r);
    double change = 0; /* of what flows from low to high */
    for (int s = 0; s < 2; s++)
      change += r[s] >= 0 && mark[r[s]] > 0 ? (s ? 1 : -1) * x[r[s]] : 0;
    change *= change != 0 ? wall[row] * closed_area(mac, row) : 0;
    for (int s = 0; s < 2; s++)
      if (r[s] >= 0 && mark[r[s]] > 0)
        y[r[s]] += (s ? 1 : -1) * change;
  }
}

static double dot(const double *a, const double *b, int count)
{
  double sum = 0;
  for (int r = 0; r < count; r++)
    sum += a[r] * b[r];
  return sum;
}

/* l of K l = -Q; Q is used up. */
static void solve(const mn_mac *mac, const double *mark, double *Q, double *l, double *d, double *y,
                  int count)
{
  for (int r = 0; r < count; r++) {
    Q[r] = mark[r] > 0 ? -Q[r] : 0; /* the residual */
    d[r] = Q[r];
    l[r] = 0;
  }
  double rr = dot(Q, Q, count), enough = 1e-26 * rr, stiffest = 0;
  for (int n = 0; n < 2 * count && rr > enough; n++) {
    multiply(mac, mark, d, y, count);
    double curvature = dot(d, y, count);
    stiffest = fmax(stiffest, curvature / dot(d, d, count));
    if (!(curvature > 1e-9 * stiffest * dot(d, d, count)))
      break; /* what is left is the sum over all regions, which should be 0: rounding */
    double step = rr / curvature, before = rr;
    for (int r = 0; r < count; r++) {
      l[r] += step * d[r];
      Q[r] -= step * y[r];
    }
    rr = dot(Q, Q, count);
    for (int r = 0; r < count; r++)
      d[r] = Q[r] + rr / before * d[r];
  }
}

/* unseen[r] <- growth of region r by surfaces that no face shows: such a net flow is no change of
   volume. */
static mn_status find_unseen(mn_mac *mac, double *unseen, int count)
{
  const mn_interface *told = mac->bodies.told;
  memset(unseen, 0, (size_t)count * sizeof *unseen);
  if (!mac->enclosure.known || !told || !told->unseen)
    return MN_OK;
  MN_TRY(mn_mac_number_closed(mac));
  for (int r = 0; r < count; r++) {
    int n = mac->enclosure.number[r];
    if (n >= 0)
      unseen[r] = told->unseen[n] - mac->enclosure.hidden[n];
  }
  return MN_OK;
}

/* How far Q lies from what lies between 0 and `part`: the faces may show a part of it. */
static double beyond(double Q, double part)
{
  return fabs(Q - fmax(fmin(0, part), fmin(fmax(0, part), Q)));
}

/* missed[r] <- net inflow into region r by bodies that are wholly inside it, which is 0 but for the
   faces that are missing. */
static mn_status find_missed(mn_mac *mac, double *missed, int count)
{
  const mn_mac_bodies *b = &mac->bodies;
  const mn_interface *told = b->told;
  memset(missed, 0, (size_t)count * sizeof *missed);
  if (!mac->enclosure.known || !told || !told->inside)
    return MN_OK;
  MN_TRY(mn_mac_number_closed(mac));
  for (size_t row = 0; row < b->weights->rows; row++) {
    int r[2], body = b->face[row].body;
    regions_of(mac, &b->face[row], r);
    for (int s = 0; s < 2 && body >= 0 && body < told->bodies; s++) {
      int n = r[s] >= 0 ? mac->enclosure.number[r[s]] : -1;
      if (n >= 0 && told->inside[n * told->bodies + body])
        missed[r[s]] += (s ? 1 : -1) * closed_area(mac, row) * b->U[row];
    }
  }
  return MN_OK;
}

/* mark[r] <- 1 for closed regions with a small net inflow that is to be mended; returns how many */
static int choose(mn_mac *mac, double dt, double sum_tolerance, double *Q, double *mark, int count)
{
  mn_mac_bodies *b = &mac->bodies;
  double scale = dt / mac->def->fluid.density * pow(mac->grid.dx, mac->grid.dim);
  double pocket = pow(POCKET, mac->grid.dim), *area = b->region[2], *missed = b->region[3],
         *unseen = b->region[4];
  int known = mac->enclosure.known;
  double most = known ? MENDED_KNOWN : MENDED;
  const mn_model_def *def = mac->def;
  double longest = fmax(dt, def->fluid.max_dt > 0 ? def->fluid.max_dt : def->output.every / 10);
  int start = mac->dt == 0;
  int chosen = 0;
  memset(mark, 0, (size_t)count * sizeof *mark);
  memset(area, 0, (size_t)count * sizeof *area);
  for (size_t row = 0; row < b->weights->rows; row++) {
    int r[2];
    regions_of(mac, &b->face[row], r);
    for (int s = 0; s < 2; s++)
      if (r[s] >= 0) {
        mark[r[s]] += closed_area(mac, row) * fabs(b->U[row]);
        area[r[s]] += closed_area(mac, row);
      }
  }
  for (int r = 0; r < count; r++) {
    mn_pressure_region region = mn_pressure_get_region(mac->pressure, r);
    Q[r] = region.closed ? region.rhs_sum * scale : 0;
    double slow = known ? SLOW * mac->grid.dx / longest * area[r] : 0;
    double judged = fmin(beyond(Q[r], unseen[r]), beyond(Q[r] - missed[r], unseen[r]));
    int small = b->mends_all || judged <= fmax(most * mark[r], slow) ||
                (area[r] > 0 && (start || (double)region.cells <= pocket));
    int parted = b->parted && b->parted[r]; /* there is room */
    mark[r] = region.closed && fabs(region.rhs_sum) > 1e-6 * sum_tolerance && small && !parted;
    chosen += mark[r] > 0;
    if (mark[r] > 0 && fabs(Q[r]) > fabs(b->net_flow))
      b->net_flow = Q[r];
  }
  return chosen;
}

int mn_mac_bodies_touch(const mn_mac *mac, int region)
{
  const mn_mac_bodies *b = &mac->bodies;
  for (size_t row = 0; b->on && row < b->weights->rows; row++) {
    int r[2];
    regions_of(mac, &b->face[row], r);
    if ((r[0] == region || r[1] == region) && closed_area(mac, row) > 0)
      return 1;
  }
  return 0;
}

mn_status mn_mac_bodies_mend(mn_mac *mac, double dt, double sum_tolerance, int *changed)
{
  mn_mac_bodies *b = &mac->bodies;
  int count = mn_pressure_region_count(mac->pressure), closed = 0;
  *changed = 0;
  b->net_flow = 0;
  for (int r = 0; r < count && !closed; r++)
    closed = mn_pressure_get_region(mac->pressure, r).closed;
  if (!closed)
    return MN_OK;
  MN_TRY(mn_mac_bodies_find_walls(mac));
  double *Q = b->region[0], *mark = b->region[1], *l = b->region[2];
  mn_pressure_sum_regions(mac->pressure, &mac->b);
  MN_TRY(find_missed(mac, b->region[3], count));
  MN_TRY(find_unseen(mac, b->region[4], count));
  if (!choose(mac, dt, sum_tolerance, Q, mark, count))
    return MN_OK;
  const double *wall = b->wall.data;
  solve(mac, mark, Q, l, b->region[3], b->region[4], count);
  for (size_t row = 0; row < b->weights->rows; row++) {
    const mn_closed_face *f = &b->face[row];
    int r[2];
    regions_of(mac, f, r);
    for (int s = 0; s < 2; s++)
      b->U[row] += r[s] >= 0 && mark[r[s]] > 0 ? (s ? 1 : -1) * wall[row] * l[r[s]] : 0;
    mn_mac_bodies_set_wall(mac, row, b->U[row]);
  }
  *changed = 1;
  return MN_OK;
}
