/* Obstacles that the grid cannot hold: walls so thin that they lie between its nodes, or that cells
   are cut by both of their sides.

   Faces are cut by the signs of the distance at nodes. A wall with normal n that is thinner than
   dx (|n_x| + |n_y| + |n_z|), the way across a cell along n, leaves cells with corners in the fluid
   on both of its sides: one pressure then joins what the wall parts, and water leaks or is thrown
   about. Such a wall counts as a little more than that thick for the fluid, on both sides the same;
   bodies meet it where it is. How thick it is is found at each point near it, along the normal, so
   that a vessel may have thin walls and a thick floor, and the ends of walls stay where they are.
   Where walls of obstacles that stand meet, nodes may be closed besides, and so where obstacles
   touch in a corner or an edge only (touching.c).
   Obstacles of which nothing leaks at the start, and that do not move, are left alone: a wall along
   an axis in which a row of nodes lies parts its sides. But that row must not be much nearer to one
   side: values at nodes would tell of the other one that it is elsewhere, and water finds no rest
   between what faces say and particles. These go by the values at nodes, too, at thin walls.

   Verified by tests/verify/test_thin_walls.c, tests/regress/test_misplaced.sh. */
#include "fluid/mac/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

/* Cells: of more than that, since distances within thin walls, sampled between nodes, are off. */
static const double MORE = 0.25;
/* Cells: where walls are looked for; a leak that is shorter is an edge, or a small obstacle. */
static const double REACH = 2, WALL = 2;
/* Of a cell: nodes so near are in the solid; those that are made so; how far off walls may be. */
static const double ON = 1e-9, PLUG = 0.01, ASIDE = 0.1;
/* Of a cell, the least steps to a wall, and through it. */
static const double STEP_TO = 1e-4, STEP = 0.02;
enum { STEPS = 64 }; /* to a wall */

/* ---- how thick ------------------------------------------------------------------------------- */

/* A solid where it is. */
typedef struct placed {
  const mn_solid_def *solid;
  const mn_placement *place;
  double dx;
  int dim;
} placed;

static double distance(const placed *w, mn_vec3 x)
{
  return mn_mac_placed_distance(w->solid, w->place, x);
}

static mn_vec3 slope(const placed *w, mn_vec3 x)
{
  const double h = 0.01 * w->dx;
  mn_vec3 g = {{0, 0, 0}};
  for (int a = 0; a < w->dim; a++) {
    mn_vec3 up = x, down = x;
    up.v[a] += h, down.v[a] -= h;
    g.v[a] = (distance(w, up) - distance(w, down)) / (2 * h);
  }
  return g;
}

/* Of the surface at x, outwards; length 0: there is none. */
static mn_vec3 normal_at(const placed *w, mn_vec3 x)
{
  mn_vec3 g = slope(w, x);
  if (mn_length(g) < 0.5) /* in the middle of a wall, whose sides are as far */
    g = slope(w, mn_add(x, mn_scale(0.02 * w->dx, mn_v3(1, 0.7, w->dim == 3 ? 0.4 : 0))));
  double length = mn_length(g);
  return length > 0 ? mn_scale(1 / length, g) : g;
}

/* The way from x, which is in the solid or on it, along n until it ends; at most `most`. */
static double way_through(const placed *w, mn_vec3 x, mn_vec3 n, double most)
{
  double way = STEP * w->dx;
  for (;;) {
    double d = distance(w, mn_madd(x, way, n));
    if (d > 0 || way >= most)
      return way;
    way += fmax(-d, STEP * w->dx);
  }
}

static double needed(const placed *w, mn_vec3 n)
{
  return (fabs(n.x) + fabs(n.y) + fabs(n.z) + MORE) * w->dx;
}

/* How far the wall that x sees along the axis, up or down, is away when it is as thick as needed;
   INFINITY: there is none near, or it is. *thickness: of it as it is, if less than before. */
static double distance_along(const placed *w, mn_vec3 x, int axis, int up, double *thickness)
{
  mn_vec3 ray = {{0, 0, 0}};
  double way = 0, d = distance(w, x);
  ray.v[axis] = up ? 1 : -1;
  for (int n = 0; n < STEPS && d > 0 && way < REACH * w->dx; n++) {
    way += fmax(d, STEP_TO * w->dx);
    d = distance(w, mn_madd(x, way, ray));
  }
  if (d > 0)
    return INFINITY;
  mn_vec3 y = mn_madd(x, way, ray), n = normal_at(w, y);
  double most = needed(w, n), t = way_through(w, y, mn_scale(-1, n), most);
  *thickness = fmin(*thickness, t);
  return t < most ? way * fabs(n.v[axis]) - 0.5 * (most - t) : INFINITY;
}

/* Distance to the solid, of which x is d away, with thin walls as thick as needed. */
static double thick_distance(const placed *w, mn_vec3 x, double d, double *thickness)
{
  *thickness = INFINITY;
  if (!(fabs(d) < REACH * w->dx))
    return d;
  if (d <= 0) {
    mn_vec3 n = normal_at(w, x);
    double most = needed(w, n);
    *thickness = way_through(w, x, n, most) + way_through(w, x, mn_scale(-1, n), most);
    return fmin(d, d - 0.5 * (most - *thickness));
  }
  double least = d;
  for (int k = 0; k < 2 * w->dim; k++)
    least = fmin(least, distance_along(w, x, k / 2, k % 2, thickness));
  return least;
}

double mn_thin_walls_distance(const mn_mac *mac, const mn_solid_def *solid,
                              const mn_placement *place, mn_vec3 x, double d)
{
  placed w = {solid, place, mac->grid.dx, mac->grid.dim};
  double thickness;
  return thick_distance(&w, x, d, &thickness);
}

/* ---- what the grid sees ---------------------------------------------------------------------- */

enum { STANDING = -1 }; /* in place of the number of a solid: all that stand */

double mn_mac_standing_distance(const mn_mac *mac, mn_vec3 x)
{
  double least = INFINITY;
  for (int s = 0; s < mac->def->solid_count; s++)
    if (!mac->def->solids[s].moving)
      least = fmin(least, mn_mac_start_distance(mac, s, x));
  return least;
}

/* Distance to a solid at the start. */
static double start_distance(const mn_mac *mac, int solid, mn_vec3 x)
{
  return solid == STANDING ? mn_mac_standing_distance(mac, x)
                           : mn_mac_start_distance(mac, solid, x);
}

/* The same at a node. */
static double at_node(const mn_mac *mac, int solid, const int at[3])
{
  const mn_field *f = &mac->geometry.solid;
  const unsigned char *plug = mac->geometry.plug;
  if (plug && plug[mn_index(f, at[0], at[1], at[2]) + (f->at - f->data)])
    return -PLUG * f->grid->dx;
  return start_distance(mac, solid, mn_position(f, at[0], at[1], at[2]));
}

/* Whether a line between two nodes outside the solid leads through it. */
static int slips_between(const mn_mac *mac, int solid, const int at[3], int axis)
{
  const mn_field *f = &mac->geometry.solid;
  mn_vec3 x = mn_position(f, at[0], at[1], at[2]);
  const double dx = f->grid->dx, on = ON * dx;
  int end[3] = {at[0], at[1], at[2]};
  end[axis]++;
  double d = at_node(mac, solid, at);
  if (at[axis] == f->n[axis] - 1 || d <= on || at_node(mac, solid, end) <= on)
    return 0;
  for (double way = d; way < dx && d > 0; way += fmax(d, 1e-3 * dx)) {
    mn_vec3 y = x;
    y.v[axis] += way;
    d = start_distance(mac, solid, y);
  }
  return d <= 0;
}

enum { AROUND = 2, SIDE = 2 * AROUND + 1 }; /* nodes */

static int is_node(const mn_field *f, const int at[3])
{
  return at[0] >= 0 && at[0] < f->n[0] && at[1] >= 0 && at[1] < f->n[1] && at[2] >= 0 &&
         at[2] < f->n[2];
}

/* Whether the fluid between the nodes a and b, which lie outside the solid, is one: they are joined
   by lines between nodes nearby that do not lead through it. At the edge of a wall they are. */
static int is_joined(const mn_mac *mac, int solid, const int a[3], const int b[3])
{
  const mn_field *f = &mac->geometry.solid;
  int list[SIDE * SIDE * SIDE], count = 0, deep = f->grid->dim == 3 ? AROUND : 0;
  unsigned char seen[SIDE * SIDE * SIDE] = {0};
  int stride[3] = {1, SIDE, SIDE * SIDE}, start = AROUND * (1 + SIDE + SIDE * SIDE);
  list[count++] = start;
  seen[start] = 1;
  for (int n = 0; n < count; n++) {
    int off[3] = {list[n] % SIDE - AROUND, list[n] / SIDE % SIDE - AROUND,
                  list[n] / SIDE / SIDE - AROUND};
    int at[3] = {a[0] + off[0], a[1] + off[1], a[2] + off[2]};
    if (at[0] == b[0] && at[1] == b[1] && at[2] == b[2])
      return 1;
    for (int way = 0; way < 2 * f->grid->dim; way++) {
      int axis = way / 2, up = way % 2 ? 1 : -1, next[3] = {at[0], at[1], at[2]};
      int to = list[n] + up * stride[axis];
      next[axis] += up;
      if (abs(off[axis] + up) > (axis == 2 ? deep : AROUND) || seen[to] || !is_node(f, next))
        continue;
      if (at_node(mac, solid, next) <= ON * f->grid->dx ||
          slips_between(mac, solid, up > 0 ? at : next, axis))
        continue;
      seen[to] = 1;
      list[count++] = to;
    }
  }
  return 0;
}

/* Whether the wall lets what it parts through: between two nodes outside it, along an axis from
   `at`, or in the cell above, of which corners on both of its sides are outside. */
static int leaks_at(const mn_mac *mac, int solid, const int at[3])
{
  const mn_field *f = &mac->geometry.solid;
  int dim = f->grid->dim, corners = 1 << dim, first = -1;
  for (int c = 1; c < corners; c <<= 1) {
    int axis = c == 1 ? 0 : c == 2 ? 1 : 2, to[3] = {at[0], at[1], at[2]};
    to[axis]++;
    if (slips_between(mac, solid, at, axis) && !is_joined(mac, solid, at, to))
      return 1;
  }
  int corner[8][3], inside = 0;
  for (int c = 0; c < corners; c++) {
    for (int a = 0; a < 3; a++)
      corner[c][a] = at[a] + (c >> a & 1);
    if (!is_node(f, corner[c]))
      return 0;
    int in = at_node(mac, solid, corner[c]) <= ON * f->grid->dx;
    inside |= in << c;
    first = first < 0 && !in ? c : first;
  }
  for (int c = first + 1; c < corners && inside && first >= 0; c++)
    if (!(inside >> c & 1) && !is_joined(mac, solid, corner[first], corner[c]))
      return 1;
  return 0;
}

/* Whether the node `at`, d from the surface, is the only one in a wall there, and so much nearer to
   one side of it that the other one is not where it should be, when values at nodes tell. */
static int is_aside(const mn_mac *mac, int solid, const placed *w, const int at[3], double d)
{
  const mn_field *f = &mac->geometry.solid;
  if (d > 0 || d < -0.5 * w->dx)
    return 0;
  mn_vec3 x = mn_position(f, at[0], at[1], at[2]), n = normal_at(w, x);
  double most = 2 * w->dx, up = way_through(w, x, n, most) / w->dx;
  double down = way_through(w, x, mn_scale(-1, n), most) / w->dx;
  double near = fmin(up, down), rest = 1 - fmax(up, down);
  if (!(rest > 0) || !(rest / (rest + near) - rest > ASIDE))
    return 0;
  int axis = fabs(n.x) >= fmax(fabs(n.y), fabs(n.z)) ? 0 : fabs(n.y) >= fabs(n.z) ? 1 : 2;
  int low[3] = {at[0], at[1], at[2]}, high[3] = {at[0], at[1], at[2]};
  low[axis]--, high[axis]++;
  return is_node(f, low) && is_node(f, high) && at_node(mac, solid, low) > 0 &&
         at_node(mac, solid, high) > 0 && !is_joined(mac, solid, low, high);
}

typedef struct leaks {
  int any;          /* it slips between nodes, splits cells or lies aside; of one that moves, it is
                       thin */
  mn_vec3 lo, hi;   /* where */
  double thickness; /* m, least there */
  int seen;         /* some node lies in the solid, or on it; */
  int crossed;      /* if none: some line between nodes leads through it */
} leaks;

static void look(const mn_mac *mac, int solid, const int at[3], leaks *l)
{
  const mn_field *f = &mac->geometry.solid;
  const mn_solid_def *s = &mac->def->solids[solid];
  mn_placement start = mac->geometry.place[solid];
  placed w = {s, &start, f->grid->dx, f->grid->dim};
  mn_vec3 x = mn_position(f, at[0], at[1], at[2]);
  double d = mn_mac_start_distance(mac, solid, x), thickness;
  if (d > REACH * w.dx)
    return;
  l->seen |= d <= ON * w.dx;
  for (int a = 0; a < w.dim && !l->seen && !l->crossed; a++)
    l->crossed = slips_between(mac, solid, at, a);
  if (!s->moving && !is_aside(mac, solid, &w, at, d) && !leaks_at(mac, solid, at))
    return;
  double less = d - thick_distance(&w, x, d, &thickness);
  if (s->moving && !(less > 0.5 * MORE * w.dx))
    return;
  for (int a = 0; a < w.dim; a++) {
    l->lo.v[a] = l->any ? fmin(l->lo.v[a], x.v[a]) : x.v[a];
    l->hi.v[a] = l->any ? fmax(l->hi.v[a], x.v[a]) : x.v[a];
  }
  l->any = 1;
  l->thickness = fmin(l->thickness, thickness);
}

static leaks find_leaks(const mn_mac *mac, int solid)
{
  const mn_field *f = &mac->geometry.solid;
  leaks l = {.thickness = INFINITY};
  for (int k = 0; k < f->n[2]; k++)
    for (int j = 0; j < f->n[1]; j++)
      for (int i = 0; i < f->n[0]; i++)
        look(mac, solid, (int[]){i, j, k}, &l);
  return l;
}

/* ---- corners --------------------------------------------------------------------------------- */

/* solid <- distances to the obstacles that stand; until the geometry is made it is free */
static void sample_standing(mn_mac *mac)
{
  mn_field *f = &mac->geometry.solid;
  int slabs = mn_slabs(f);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int s = 0; s < slabs; s++) {
    int k, j0, j1;
    mn_slab(f, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++)
      for (int i = 0; i < f->n[0]; i++)
        mn_set(f, i, j, k, mn_mac_standing_distance(mac, mn_position(f, i, j, k)));
  }
}

/* Whether obstacles that touch part the fluid corners of the cell above `at`, which the grid would
   join: there is no way between them, neither nearby nor through the cell. */
static int parts_cell(const mn_mac *mac, const int at[3])
{
  const mn_field *f = &mac->geometry.solid;
  double d[8];
  for (int c = 0; c < 1 << f->grid->dim; c++) {
    int to[3] = {at[0] + (c & 1), at[1] + (c >> 1 & 1), at[2] + (c >> 2)};
    if (!is_node(f, to))
      return 0;
    d[c] = mn_get(f, to[0], to[1], to[2]) - ON * f->grid->dx;
  }
  int from, to;
  if (!mn_touching_corners(f->grid->dim, d, &from, &to))
    return 0;
  int a[3] = {at[0] + (from & 1), at[1] + (from >> 1 & 1), at[2] + (from >> 2)};
  int b[3] = {at[0] + (to & 1), at[1] + (to >> 1 & 1), at[2] + (to >> 2)};
  return !is_joined(mac, STANDING, a, b) && !mn_touching_passes(mac, at, from, to);
}

/* Where walls meet, some cells may still have corners on both sides of them: the nearest of those
   counts as in the solid. */
static mn_status plug_corners(mn_mac *mac)
{
  mn_field *f = &mac->geometry.solid;
  const int solid = STANDING, thin = mac->geometry.thin_walls;
  const double on = ON * f->grid->dx;
  enum { PASSES = 3 };
  MN_TRY(MN_NEW(mac->ctx, "corners of thin walls", f->size, &mac->geometry.plug));
  sample_standing(mac);
  for (int pass = 0, more = 1; pass < PASSES && more; pass++) {
    more = 0;
    for (int k = 0; k < f->n[2]; k++)
      for (int j = 0; j < f->n[1]; j++)
        for (int i = 0; i < f->n[0]; i++) {
          int at[3] = {i, j, k}, best[3] = {0};
          if (mn_get(f, i, j, k) > REACH * f->grid->dx ||
              !(thin ? leaks_at(mac, solid, at) : parts_cell(mac, at)))
            continue;
          double least = INFINITY;
          for (int c = 0; c < 1 << f->grid->dim; c++) {
            int to[3] = {i + (c & 1), j + (c >> 1 & 1), k + (c >> 2)};
            double d = is_node(f, to) ? mn_get(f, to[0], to[1], to[2]) : 0;
            if (d > on && d < least - on) {
              least = d;
              memcpy(best, to, sizeof best);
            }
          }
          if (isfinite(least)) {
            mac->geometry.plug[mn_index(f, best[0], best[1], best[2]) + (f->at - f->data)] = 1;
            mn_set(f, best[0], best[1], best[2], -PLUG * f->grid->dx);
            more = mac->geometry.thin_walls = 1;
          }
        }
  }
  return MN_OK;
}

void mn_thin_walls_plug(const mn_mac *mac, mn_field *distance)
{
  const unsigned char *plug = mac->geometry.plug;
  for (size_t q = 0; plug && q < distance->size; q++)
    if (plug[q])
      distance->data[q] = fmin(distance->data[q], -PLUG * mac->grid.dx);
}

mn_status mn_thin_walls_find(mn_mac *mac)
{
  for (int n = 0; n < mac->def->solid_count; n++) {
    const mn_solid_def *s = &mac->def->solids[n];
    const char *blank = *s->name ? " " : "";
    double dx = mac->grid.dx;
    mac->geometry.place[n] = mn_mac_place_at_start(s);
    leaks l = find_leaks(mac, n);
    mn_vec3 size = mn_sub(l.hi, l.lo);
    if (l.any && fmax(size.x, fmax(size.y, size.z)) > WALL * dx) {
      mac->geometry.place[n].thin = mac->geometry.thin_walls = 1;
      mn_log(mac->ctx, MN_LOG_WARNING,
             "scene.solids: obstacle %d%s%s has walls that are too thin for the grid, down to "
             "%.2g cells: the fluid takes them as 1 to 2 cells thick, since they would leak; use "
             "more cells, or make them thicker",
             n + 1, blank, s->name, l.thickness / dx);
    } else if (l.crossed && !l.seen)
      mn_log(mac->ctx, MN_LOG_WARNING,
             "scene.solids: obstacle %d%s%s lies between the nodes of the grid (cells are %g m "
             "wide): the fluid does not see it; make it larger than a cell, or use more cells",
             n + 1, blank, s->name, dx);
  }
  return mac->def->solid_count ? plug_corners(mac) : MN_OK;
}
