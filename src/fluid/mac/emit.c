/* Water that inflows bring.

   A lattice of fresh particles drifts with the velocity v of an inflow through its cells; what is
   beyond them at the end of a substep becomes particles. A particle that has come out of the side f
   of a cell stands for the part w of f that blows, which walls leave open:

       V_p = w_f V,   so that   sum of V_p = sum over the sides f of w_f A |v.n| t,

   the flow that the pressure sees (geometry.c). Where its place is covered, it moves along the side
   towards what is open.

   Verified by tests/verify/test_water.c, test_inflow_walls.c. */
#include "fluid/mac/internal.h"

#include <math.h>
#include <string.h>

#include "base/status.h"

/* Of a fresh particle: what is less is none. */
static const double LEAST = 1e-6;
/* Cells: as far as this a place stays off the sides of its cell, where rounding decides. */
static const double ASIDE = 1e-9;

/* Within the domain, and no cell of an inflow. */
static int is_beyond(const mn_mac *mac, const int at[3])
{
  int outside;
  return !mn_inflow_of(mac, at, &outside) && !outside;
}

/* A place for a new particle: within the domain, out of inflows and solids. */
static int is_free(const mn_mac *mac, mn_vec3 x)
{
  int at[3];
  for (int a = 0; a < 3; a++) {
    double s = a < mac->grid.dim ? floor((x.v[a] - mac->grid.origin.v[a]) / mac->grid.dx) : 0;
    at[a] = s >= 0 && s < mac->geometry.volume.n[a] ? (int)s : -1;
  }
  return is_beyond(mac, at) && mn_mac_solid_distance(mac, x) > 0;
}

/* ---- sides that walls cover in part ---------------------------------------------------------- */

/* A side of an inflow's cell, and where a particle has come out of it. */
typedef struct outlet {
  int axis, up;
  int64_t face; /* with ghosts */
  mn_vec3 middle, place;
} outlet;

/* The last side through which what is at x, in the cell `at`, came on its straight way. */
static int find_outlet(const mn_mac *mac, const int at[3], mn_vec3 x, mn_vec3 way, outlet *o)
{
  const mn_grid *g = &mac->grid;
  int cell[3] = {at[0], at[1], at[2]}, outside, a = 0;
  double next[3] = {2, 2, 2}, back = 0; /* part of the way back at which a cell ends */
  for (int b = 0; b < g->dim; b++)
    if (way.v[b] != 0)
      next[b] = (x.v[b] - g->origin.v[b] - g->dx * (at[b] + (way.v[b] < 0))) / way.v[b];
  while (!mn_inflow_of(mac, cell, &outside)) {
    a = next[1] < next[0] ? 1 : 0;
    a = next[2] < next[a] ? 2 : a;
    back = next[a];
    if (!(back < 1 + 1e-9))
      return 0; /* past a corner, by rounding */
    cell[a] -= way.v[a] > 0 ? 1 : -1;
    next[a] += g->dx / fabs(way.v[a]);
  }
  const mn_field *f = &mac->geometry.open[a];
  o->axis = a;
  o->up = way.v[a] > 0 ? 1 : -1;
  cell[a] += way.v[a] > 0;
  o->face = f->at - f->data + mn_index(f, cell[0], cell[1], cell[2]);
  o->middle = mn_position(f, cell[0], cell[1], cell[2]);
  o->place = mn_madd(x, -back, way);
  return 1;
}

/* The middle of what solids leave open of the side. */
static mn_vec3 open_middle(const mn_mac *mac, const outlet *o)
{
  int count = 0;
  double most = -INFINITY;
  mn_vec3 sum = {{0, 0, 0}}, best = o->middle;
  for (int n = 0; n < mn_stairs_samples(mac); n++) {
    mn_vec3 x = mn_stairs_sample(mac, o->middle, o->axis, n);
    double d = mn_sample(&mac->geometry.solid, x);
    best = d > most ? x : best;
    most = fmax(most, d);
    if (d > 0) {
      sum = mn_add(sum, x);
      count++;
    }
  }
  return count ? mn_scale(1.0 / count, sum) : best;
}

/* x, or where it is covered the next place towards the open part of the side that is not; at last,
   before that part. */
static mn_vec3 uncovered(const mn_mac *mac, mn_vec3 x, const outlet *o)
{
  enum { TRIES = 8 };
  if (is_free(mac, x))
    return x;
  mn_vec3 open = open_middle(mac, o), aside = mn_sub(open, o->place);
  for (int n = 1; n <= TRIES; n++) {
    mn_vec3 y = mn_madd(x, (double)n / TRIES, aside);
    if (is_free(mac, y))
      return y;
  }
  open.v[o->axis] += o->up * 1e-3 * mac->grid.dx;
  return open;
}

/* The part of the side through which particles come that blows: what the pressure sees, over what
   of the lattice the stairs let go. */
static double part_of(const mn_mac *mac, const outlet *o)
{
  double blows = mn_stairs_part(mac, o->axis, o->face);
  return blows > 0 ? mac->geometry.gate[o->axis][o->face] / blows : 0;
}

/* ---- the lattice ----------------------------------------------------------------------------- */

/* What has come to x, where the cell is `at`, becomes a particle. */
static mn_status emit(mn_mac *mac, const int at[3], mn_vec3 x, mn_vec3 way, mn_vec3 v, mn_vec3 from)
{
  double part = 1;
  outlet o;
  if (mn_mac_has_solids(mac) && find_outlet(mac, at, x, way, &o)) {
    part = part_of(mac, &o);
    x = part > LEAST ? uncovered(mac, x, &o) : x;
  }
  if (!(part > LEAST) || mn_water_is_hidden(mac, from, x))
    return MN_OK;
  return mn_water_add_particle(mac, x, v, part * mac->water.unit);
}

/* Whether a straight way from the place `phase` (m) of the cell `from`, by `way`, meets the cell
   `to` before any other cell of an inflow. */
static int meets_first(const mn_mac *mac, const int from[3], mn_vec3 phase, mn_vec3 way,
                       const int to[3])
{
  int at[3] = {from[0], from[1], from[2]}, outside;
  double next[3] = {2, 2, 2}, width = mac->grid.dx; /* part of the way at which a cell ends */
  for (int a = 0; a < mac->grid.dim; a++)
    if (way.v[a] != 0)
      next[a] = ((way.v[a] > 0 ? width : 0) - phase.v[a]) / way.v[a];
  while (!mn_inflow_of(mac, at, &outside)) {
    int a = next[1] < next[0] ? 1 : 0;
    a = next[2] < next[a] ? 2 : a;
    if (!(next[a] < 1))
      return 0;
    at[a] += way.v[a] > 0 ? 1 : -1;
    next[a] += width / fabs(way.v[a]);
  }
  return !memcmp(at, to, sizeof at);
}

/* A point of the lattice along one axis, `way` m on its way from where it was at first: cells gone
   through, and its place in the last one. */
static double place_in_cell(double way, double dx, double *cells)
{
  *cells = floor(way / dx);
  return way - *cells * dx;
}

/* The part of the lattice that starts in the cell `from`: what has met the inflow's cell `at` first
   and is beyond all of them at the end of the substep becomes a particle. The end of a substep and
   the start of the next are the same numbers, and cells are counted: a point that comes to lie on a
   side is beyond it in one of them or in the other, never in both or in none. */
static mn_status emit_from(mn_mac *mac, int source, const int at[3], const int from[3], mn_vec3 v,
                           double ramp)
{
  const mn_grid *g = &mac->grid;
  double h = 0.5 * g->dx, least = ASIDE * g->dx, most = (1 - ASIDE) * g->dx;
  double before = mac->state.inflow_path[source], after = before + mac->dt * ramp;
  mn_vec3 center = mn_position(&mac->geometry.volume, at[0], at[1], at[2]);
  mn_vec3 way = mn_scale(mac->dt * ramp, v);
  int here = !memcmp(at, from, 3 * sizeof *at);
  for (int c = 0; c < (g->dim == 3 ? 8 : 4); c++) {
    mn_vec3 x = center, phase = {{0, 0, 0}};
    int cell[3] = {from[0], from[1], from[2]};
    for (int a = 0; a < g->dim; a++) {
      double first = h * (0.5 + (c >> a & 1)), start, end;
      phase.v[a] = place_in_cell(before * v.v[a] + first, g->dx, &start);
      double place = place_in_cell(after * v.v[a] + first, g->dx, &end);
      cell[a] += (int)(end - start);
      x.v[a] = g->origin.v[a] + g->dx * cell[a] + mn_clamp(place, least, most);
    }
    if (is_beyond(mac, cell) && (here || meets_first(mac, from, phase, way, at)) &&
        mn_stairs_let_go(mac, source, x, way))
      MN_TRY(emit(mac, cell, x, way, mn_scale(ramp, v), center));
  }
  return MN_OK;
}

/* A lattice drifts through an inflow's cells with its velocity. All that comes out of them in this
   substep counts: also what was upstream of them at its start, and crosses a corner of them, or
   all of a thin inflow, within the substep. */
static mn_status emit_cell(mn_mac *mac, int source, int i, int j, int k)
{
  const mn_source_def *s = &mac->def->sources[source];
  double ramp = mn_timefn_eval(&s->ramp, mac->geometry.time);
  int at[3] = {i, j, k}, cells[3] = {0, 0, 0}, step[3] = {0, 0, 0}, outside;
  mn_vec3 v = mn_scale(mn_mac_profile(s, mn_position(&mac->geometry.volume, i, j, k)), s->velocity);
  for (int a = 0; a < mac->grid.dim; a++) {
    double way = mac->dt * ramp * v.v[a];
    cells[a] = (int)ceil(fabs(way) / mac->grid.dx);
    step[a] = way > 0 ? -1 : 1;
  }
  for (int z = 0; z <= cells[2]; z++)
    for (int y = 0; y <= cells[1]; y++)
      for (int x = 0; x <= cells[0]; x++) {
        int from[3] = {i + x * step[0], j + y * step[1], k + z * step[2]};
        if (!(x || y || z) || !mn_inflow_of(mac, from, &outside))
          MN_TRY(emit_from(mac, source, at, from, v, ramp));
      }
  return MN_OK;
}

mn_status mn_water_emit(mn_mac *mac)
{
  const mn_field *f = &mac->geometry.volume;
  int64_t base = f->at - f->data;
  int any = 0;
  for (int s = 0; s < mac->def->source_count; s++)
    any |= mac->def->sources[s].blows;
  if (!any)
    return MN_OK;
  for (int k = 0; k < f->n[2]; k++)
    for (int j = 0; j < f->n[1]; j++)
      for (int i = 0; i < f->n[0]; i++) {
        int source = mac->geometry.inflow[base + mn_index(f, i, j, k)];
        if (source)
          MN_TRY(emit_cell(mac, source - 1, i, j, k));
      }
  return MN_OK;
}
