/* Water that lets go of a body, in the half cell between the last pressure and the wall.

   The condition of walls that water can leave is 0 <= p at the centres of cells (separate.c). A
   body feels the pressure at its wall. Of a cell with the closed areas D, along the axes, and the
   fluid m_f on its faces that moves with the body (the cell's shares of the masses in loads.c),

       F = D p - sum m_f (U - U*)/dt,       p_w = D.F / |D|^2

   and p_w is below p by the weight and the inertia of that fluid, with the distance of the wall h =
   sum |D_a| m_a/(rho |D|^2), whichever way D points. 0 <= p alone lets water draw at a body by as
   much: a plate of 10 kg/m^3, pulled up by ten times its weight, took half a cell of water along.
   So where p_w < 0 the water lets go, and the cell is loose in the next substep. The half cell then
   moves by itself, below a free surface at the wall:

       rho h (u - u*)/dt = p,    outflow D.u* + |D| dt/(rho h) p        in place of D.U

   with u* the velocity of the water in the cell before the pressure; a link of the cell to p = 0 at
   the wall, as at any surface. The body feels nothing of a loose cell, and has no mass of it; 0 <=
   p is no condition there. It is loose as long as the gap opens, D.(U - u) >= 0. A cell whose wall
   is on the near side of its centre is air meanwhile, until water comes back. In closed regions
   only if the coupling lets their volume go: see is_kept. That is the complementarity 0 <= p_w perp
   gap >= 0, with a set that is settled before the substep, by the one before: whatever coupling
   asks, its equations are linear in it. Where that set holds a body back that water should let go
   of, the substep is done again (mn_mac_lets_go).

   Verified by tests/verify/test_lifted.c. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "fluid/mac/internal.h"

/* Below this part of the weight of a cell of water, and of the greatest pressure, nothing draws;
   nor does it, below the other part, at a body that water does not draw at on the whole: ripples at
   a light body that floats would make it let go and slap back. */
static const double DRAWS = 1e-3, RIPPLES = 0.25, ROUND_OFF = 1e-9;
/* Water that runs after a body which draws back, at this part of its pace or more, fills no gap. By
   trial: D.(U - u) alone gave a light bar (verify.test_stiff_bodies) 1.28 J at 32 cells, for 1.02
   with this, 1.1 to 1.2 at 64; 0.01 to 0.3 do the same for it. */
static const double RUNS_AFTER = 0.1;
/* A cell of which bodies close less than this part of a face is not theirs to leave. */
static const double LEAST_AREA = 0.05;

/* What bodies close of a cell. */
typedef struct wall {
  mn_vec3 D;     /* areas, outwards */
  mn_vec3 mass;  /* fluid that moves with them, along each axis */
  mn_vec3 pull;  /* N: sum of m_f (U - U*)/dt */
  mn_vec3 felt;  /* the same without those that are left out as they would be below 0 */
  double sweeps; /* sum of areas times U, m^3/s */
  double before; /* the same with the velocities of the water in the cell before the pressure */
} wall;

/* A face must be open by so much to tell how fast the water in its cell is. */
static const double TELLS = 0.5;

/* That along the axis, beside the low or high face. At first the body's own; later that of the
   cell's other face, but not more than the body's: the water would be in the gap. Where that face
   does not tell, it follows the body. */
static double water_before(const mn_mac *mac, const int32_t cell[3], size_t row, int high,
                           double of_body)
{
  int axis = mac->bodies.face[row].axis, at[3] = {cell[0], cell[1], cell[2]};
  if (mn_get(&mac->state.held, at[0], at[1], at[2]) < MN_MAC_LOOSE_STILL)
    return of_body;
  at[axis] += !high;
  if (mn_get(&mac->geometry.open[axis], at[0], at[1], at[2]) < TELLS)
    return mac->bodies.U[row];
  double own = mn_get(&mac->star[axis], at[0], at[1], at[2]);
  return high ? fmin(own, of_body) : fmax(own, of_body);
}

static wall wall_of(const mn_mac *mac, const int32_t cell[3])
{
  const mn_mac_bodies *b = &mac->bodies;
  wall w = {0};
  for (int side = 0; side < 2 * mac->grid.dim; side++) {
    int a = side / 2, high = side & 1, at[3] = {cell[0], cell[1], cell[2]};
    at[a] += high;
    int64_t r = mn_mac_bodies_row(b, &(mn_closed_face){.axis = a, at[0], at[1], at[2]});
    if (r < 0)
      continue;
    mn_dual d = mn_mac_bodies_dual(mac, (size_t)r);
    double area = high ? d.area : -d.area, share = mn_mac_bodies_share(mac, (size_t)r, !high);
    w.D.v[a] += area;
    w.mass.v[a] += share;
    w.pull.v[a] += share * (b->U[r] - d.before) / mac->dt;
    w.felt.v[a] += (d.mass != 0 ? share : 0) * (b->U[r] - d.before) / mac->dt;
    w.sweeps += area * b->U[r];
    w.before += area * water_before(mac, cell, (size_t)r, high, d.before);
  }
  return w;
}

/* m, of the wall from the cell's centre; below 0 if it is on the near side. */
static double distance_of(const mn_mac *mac, const wall *w)
{
  double sum = 0;
  for (int a = 0; a < mac->grid.dim; a++)
    sum += fabs(w->D.v[a]) * w->mass.v[a];
  return sum / (mac->def->fluid.density * mn_dot(w->D, w->D));
}

static double least_area(const mn_mac *mac)
{
  return LEAST_AREA * pow(mac->grid.dx, mac->grid.dim - 1);
}

/* Water, in a cell of the pressure system. */
static int is_water(const mn_mac *mac, const int32_t c[3])
{
  const mn_field *phi = &mac->liquid_next;
  int64_t q = phi->at - phi->data + mn_index(phi, c[0], c[1], c[2]);
  return phi->data[q] < 0 && mac->geometry.cell_extension.layer[q] == 0 && !mac->geometry.inflow[q];
}

static void cell_beside(const mn_closed_face *f, int high, int32_t at[3])
{
  at[0] = f->i;
  at[1] = f->j;
  at[2] = f->k;
  at[f->axis] -= !high;
}

void mn_mac_tighten(mn_mac *mac)
{
  mn_mac_bodies *b = &mac->bodies;
  if (b->loose_count)
    mac->assembled = MN_NOT_ASSEMBLED;
  for (size_t n = 0; n < b->loose_count; n++)
    mn_set(&b->anchor, b->loose[n][0], b->loose[n][1], b->loose[n][2], 0);
  b->loose_count = 0;
  b->marked = 0;
}

int mn_mac_is_behind_wall(const mn_mac *mac, int i, int j, int k)
{
  const int32_t at[3] = {i, j, k};
  if (!mac->bodies.on || !mac->bodies.placed)
    return 0;
  double part = mn_get(&mac->bodies.part, i, j, k);
  if (!(part > 0 && part < 0.5))
    return 0;
  wall w = wall_of(mac, at);
  return mn_length(w.D) >= least_area(mac) && distance_of(mac, &w) < 0;
}

static int is_marked(const mn_mac *mac, const int32_t at[3])
{
  return mn_get(&mac->state.held, at[0], at[1], at[2]) >= MN_MAC_LOOSE;
}

static mn_status add_loose(mn_mac *mac, const int32_t at[3])
{
  mn_mac_bodies *b = &mac->bodies;
  size_t count = b->loose_count;
  if (count == b->loose_capacity) {
    size_t room = count ? 2 * count : 64;
    MN_TRY(mn_grow(mac->ctx, "loose cells", count, room, sizeof *b->loose, (void **)&b->loose));
    b->loose_capacity = room;
  }
  memcpy(b->loose[b->loose_count++], at, 3 * sizeof *at);
  return MN_OK;
}

/* A marked cell that is water at a body still, on the list: anchor <- its link or, if the wall is
   on the near side of its centre, minus the part of the link from the next cell to the wall. */
static mn_status loosen(mn_mac *mac, const int32_t at[3])
{
  wall w = wall_of(mac, at);
  double area = mn_length(w.D), dx = mac->grid.dx;
  if (area < least_area(mac))
    return MN_OK;
  double h = distance_of(mac, &w);
  double link = h > 0 ? area / pow(dx, mac->grid.dim - 1) / fmax(h / dx, MN_MAC_THETA_MIN)
                      : -fmax(1 + h / dx, MN_MAC_THETA_MIN);
  mn_set(&mac->bodies.anchor, at[0], at[1], at[2], link);
  return add_loose(mac, at);
}

/* m, of air with the surface of the next cell's water at the wall: theta of the way from there. */
static double air_distance(const mn_mac *mac, const int32_t at[3], double theta)
{
  const mn_field *phi = &mac->liquid_next;
  mn_vec3 D = wall_of(mac, at).D;
  int a = 0;
  for (int other = 1; other < mac->grid.dim; other++)
    if (fabs(D.v[other]) > fabs(D.v[a]))
      a = other;
  int64_t c = mn_index(phi, at[0], at[1], at[2]);
  double next = phi->at[D.v[a] > 0 ? c - phi->stride[a] : c + phi->stride[a]];
  double inside = next < 0 ? -next : mac->grid.dx * theta;
  return fmax(inside * (1 / theta - 1), 1e-3 * mac->grid.dx);
}

/* Makes air of the cells on the list that are behind their wall, and takes them off it. Only now
   that all are known, and all of them before one gets its distance: masses and distances depend on
   the water in the cells around, and no order of cells may matter. */
static void empty_cells(mn_mac *mac)
{
  mn_mac_bodies *b = &mac->bodies;
  size_t kept = 0;
  for (size_t n = 0; n < b->loose_count; n++) {
    const int32_t *at = b->loose[n];
    if (mn_get(&b->anchor, at[0], at[1], at[2]) < 0)
      mn_set(&mac->liquid_next, at[0], at[1], at[2], mac->grid.dx);
  }
  for (size_t n = 0; n < b->loose_count; n++) {
    const int32_t at[3] = {b->loose[n][0], b->loose[n][1], b->loose[n][2]};
    double link = mn_get(&b->anchor, at[0], at[1], at[2]);
    if (link > 0) {
      memcpy(b->loose[kept++], at, sizeof at);
      continue;
    }
    mn_set(&mac->liquid_next, at[0], at[1], at[2], air_distance(mac, at, -link));
    mn_set(&b->anchor, at[0], at[1], at[2], 0);
  }
  b->emptied += b->loose_count - kept;
  b->loose_count = kept;
}

mn_status mn_mac_loosen(mn_mac *mac)
{
  mn_mac_bodies *b = &mac->bodies;
  if (!mac->separate.on)
    return MN_OK;
  mn_mac_tighten(mac);
  int any = 0;
  for (size_t r = 0; r < b->weights->rows; r++)
    for (int high = 0; high < 2; high++) {
      int32_t at[3];
      cell_beside(&b->face[r], high, at);
      if (!mn_mac_has_cell(mac, at) || !is_marked(mac, at))
        continue;
      any = 1;
      if (is_water(mac, at) && mn_separate_is_open(mac, at[0], at[1], at[2]) &&
          mn_get(&b->anchor, at[0], at[1], at[2]) == 0)
        MN_TRY(loosen(mac, at));
    }
  empty_cells(mac);
  b->marked = any;
  if (any)
    mac->assembled = MN_NOT_ASSEMBLED;
  return MN_OK;
}

double mn_mac_loose_outflow(const mn_mac *mac, const int32_t at[3])
{
  wall w = wall_of(mac, at);
  return w.before - w.sweeps;
}

/* The coupling keeps the volume of the cell's region, whatever its pressure: all but those that
   solve fluid and bodies as one system, unless it says so. */
static int is_kept(const mn_mac *mac, const int32_t at[3])
{
  const mn_field *f = &mac->b;
  int64_t q = f->at - f->data + mn_index(f, at[0], at[1], at[2]);
  int32_t region = mac->enclosure.known ? mac->enclosure.label[q] : -1;
  return region >= 0 && (!mac->bodies.one_system || mac->enclosure.kept[region]);
}

/* Pa, of the water in the cell, p0 included. */
static double whole_pressure(const mn_mac *mac, const int32_t at[3])
{
  double p = mn_get(&mac->dp, at[0], at[1], at[2]);
  return mac->enclosure.lifted ? p + mn_get(&mac->state.lift, at[0], at[1], at[2]) : p;
}

/* Pa, at the wall. */
static double wall_pressure(const mn_mac *mac, const int32_t at[3], const wall *w, mn_vec3 pull)
{
  return whole_pressure(mac, at) - mn_dot(w->D, pull) / mn_dot(w->D, w->D);
}

/* Room for the grips of so many bodies, all 0. */
static mn_status clear_grips(mn_mac *mac, int bodies)
{
  mn_mac_bodies *b = &mac->bodies;
  if ((size_t)bodies > b->grip_capacity) {
    MN_TRY(MN_RENEW(mac->ctx, "bodies in water", (size_t)bodies, &b->grip));
    b->grip_capacity = (size_t)bodies;
  }
  memset(b->grip, 0, (size_t)bodies * sizeof *b->grip);
  return MN_OK;
}

/* N: how the water of the cell on one side of a row pushes at the body, towards it. */
static double push_of(const mn_mac *mac, size_t r, const mn_dual *d, const int32_t at[3], int high)
{
  double share = d->mass != 0 ? mn_mac_bodies_share(mac, r, high) : 0;
  double pull = share * (mac->bodies.U[r] - d->before) / mac->dt;
  return d->area * whole_pressure(mac, at) + (high ? pull : -pull);
}

/* What water does to each body on the whole, and where it touches it. */
static mn_status find_grips(mn_mac *mac)
{
  mn_mac_bodies *b = &mac->bodies;
  int bodies = 0;
  for (size_t r = 0; r < b->weights->rows; r++)
    bodies = b->face[r].body >= bodies ? b->face[r].body + 1 : bodies;
  MN_TRY(clear_grips(mac, bodies));
  for (size_t r = 0; r < b->weights->rows; r++) {
    const mn_closed_face *f = &b->face[r];
    mn_dual d = mn_mac_bodies_dual(mac, r);
    b->grip[f->body][0].v[f->axis] += mn_mac_bodies_force(mac, r, &d);
    for (int high = 0; high < 2; high++) {
      int32_t at[3];
      double area = high ? -d.area : d.area;
      cell_beside(f, high, at);
      if (!mn_mac_has_cell(mac, at) || !is_water(mac, at))
        continue;
      b->grip[f->body][1].v[f->axis] += area;
      b->grip[f->body][2].x += d.area;
      if (mn_mac_is_loose(mac, at[0], at[1], at[2]))
        continue;
      b->grip[f->body][2].y += push_of(mac, r, &d, at, high);
      if (mac->enclosure.lifted)
        b->grip[f->body][0].v[f->axis] += area * mn_get(&mac->state.lift, at[0], at[1], at[2]);
    }
  }
  return MN_OK;
}

/* Water touches a body all around if this part of the areas or less is left of their sum. */
static const double AROUND = 0.1;

/* Water draws at the body on the whole: against the areas that it touches or, if these are all
   around, by its mean pressure at the wall. */
static int is_drawn(const mn_mac *mac, int body)
{
  const mn_vec3 *grip = mac->bodies.grip[body];
  return mn_length(grip[1]) > AROUND * grip[2].x ? mn_dot(grip[0], grip[1]) < 0 : grip[2].y < 0;
}

/* The water of the cell, beside a row of the body, shall be loose. */
static int lets_go(const mn_mac *mac, const int32_t at[3], int body)
{
  const mn_mac_bodies *b = &mac->bodies;
  wall w = wall_of(mac, at);
  if (mn_length(w.D) < least_area(mac) || is_kept(mac, at))
    return 0;
  if (mn_mac_is_loose(mac, at[0], at[1], at[2])) {
    double link = mac->dt / mac->def->fluid.density * pow(mac->grid.dx, mac->grid.dim - 2) *
                  mn_get(&b->anchor, at[0], at[1], at[2]);
    return w.sweeps - w.before - link * mn_get(&mac->dp, at[0], at[1], at[2]) >= 0;
  }
  int drawn = is_drawn(mac, body);
  double weight = mac->def->fluid.density * mac->grid.dx * mn_length(mac->def->fluid.gravity);
  double least = fmax((drawn ? DRAWS : RIPPLES) * weight, ROUND_OFF * mac->report.greatest_p);
  int parted = mn_get(&mac->separate.held, at[0], at[1], at[2]) > 0; /* 0 <= p has let go */
  return (drawn && parted) || wall_pressure(mac, at, &w, drawn ? w.felt : w.pull) < -least;
}

/* m^3/s of water towards the body, into an empty cell: through the faces opposite to what the body
   closes, where they tell. */
static double comes_in(const mn_mac *mac, const int32_t cell[3])
{
  const mn_mac_bodies *b = &mac->bodies;
  double sum = 0;
  for (int side = 0; side < 2 * mac->grid.dim; side++) {
    int a = side / 2, high = side & 1, at[3] = {cell[0], cell[1], cell[2]};
    at[a] += high;
    int64_t r = mn_mac_bodies_row(b, &(mn_closed_face){.axis = a, at[0], at[1], at[2]});
    at[a] += high ? -1 : 1;
    if (r < 0)
      continue;
    int tells = mn_get(&mac->geometry.open[a], at[0], at[1], at[2]) >= TELLS;
    double area = mn_mac_bodies_dual(mac, (size_t)r).area;
    sum += (high ? area : -area) * (tells ? mn_get(&mac->result[a], at[0], at[1], at[2]) : b->U[r]);
  }
  return sum;
}

/* A gap that neither the body nor the water closes again. */
static int stays_empty(const mn_mac *mac, const int32_t at[3])
{
  if (!is_marked(mac, at) || !mn_separate_is_open(mac, at[0], at[1], at[2]))
    return 0;
  wall w = wall_of(mac, at);
  double in = comes_in(mac, at);
  double ripples = RIPPLES * mac->dt * mn_length(mac->def->fluid.gravity) * mn_length(w.D);
  return w.sweeps >= 0 && (in <= w.sweeps + ripples || w.sweeps > RUNS_AFTER * in);
}

/* The cell, and those in the body beside it: the wall may draw back over them. */
static void mark(mn_mac *mac, const int32_t at[3])
{
  mn_field *held = &mac->separate.held;
  int was = mn_mac_is_loose(mac, at[0], at[1], at[2]) || !is_water(mac, at);
  mn_set(held, at[0], at[1], at[2], was ? MN_MAC_LOOSE_STILL : MN_MAC_LOOSE);
  for (int side = 0; side < 2 * mac->grid.dim; side++) {
    int32_t next[3] = {at[0], at[1], at[2]};
    next[side / 2] += side & 1 ? 1 : -1;
    if (mn_mac_has_cell(mac, next) && !(mn_get(&mac->bodies.part, next[0], next[1], next[2]) > 0))
      mn_set(held, next[0], next[1], next[2], MN_MAC_LOOSE_STILL);
  }
}

mn_status mn_mac_mark_loose(mn_mac *mac)
{
  mn_mac_bodies *b = &mac->bodies;
  const mn_field *held = &mac->separate.held;
  if (!mac->separate.on || !b->on || !b->placed || b->judged)
    return MN_OK;
  b->judged = 1;
  MN_TRY(find_grips(mac));
  for (size_t r = 0; r < b->weights->rows; r++)
    for (int high = 0; high < 2; high++) {
      int32_t at[3];
      cell_beside(&b->face[r], high, at);
      if (!mn_mac_has_cell(mac, at) || mn_get(held, at[0], at[1], at[2]) >= MN_MAC_LOOSE)
        continue;
      if (is_water(mac, at) ? lets_go(mac, at, b->face[r].body) : stays_empty(mac, at))
        mark(mac, at);
    }
  return MN_OK;
}

/* Where a body was held back by water that is not yet loose: the substep is done again with those
   cells loose, at the velocity of their water, since that of the body may have jumped. */
mn_status mn_mac_lets_go(void *self, int *again)
{
  mn_mac *mac = self;
  const mn_mac_bodies *b = &mac->bodies;
  *again = 0;
  if (!mac->separate.on || !b->on || !b->placed)
    return MN_OK;
  MN_TRY(mn_mac_mark_loose(mac));
  for (size_t r = 0; r < b->weights->rows; r++)
    for (int high = 0; high < 2; high++) {
      int32_t at[3];
      cell_beside(&b->face[r], high, at);
      if (is_drawn(mac, b->face[r].body) && mn_mac_has_cell(mac, at) && is_water(mac, at) &&
          !is_marked(mac, at) && mn_get(&mac->separate.held, at[0], at[1], at[2]) >= MN_MAC_LOOSE)
        *again = 1;
    }
  const mn_field *held = &mac->separate.held;
  for (size_t c = 0; c < held->size && *again; c++)
    if (held->data[c] >= MN_MAC_LOOSE)
      mac->saved.held.data[c] = MN_MAC_LOOSE_STILL;
  return MN_OK;
}

void mn_mac_keep_loose(mn_mac *mac)
{
  const mn_field *kept = &mac->saved.held;
  for (size_t c = 0; c < kept->size && mac->separate.on; c++)
    if (kept->data[c] >= MN_MAC_LOOSE)
      mac->state.held.data[c] = kept->data[c];
}
