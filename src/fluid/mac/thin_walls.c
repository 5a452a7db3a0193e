/* Obstacles that the grid cannot hold: walls so thin that they lie between its nodes, or that cells
   are cut by both of their sides.

   Faces are cut by the signs of the distance at nodes. A wall with normal n that is thinner than
   dx (|n_x| + |n_y| + |n_z|), the way across a cell along n, leaves cells with corners in the fluid
   on both of its sides: one pressure then joins what the wall parts, and water leaks or is thrown
   about. Such a wall counts as that thick for the fluid, on both sides the same; bodies meet it
   where it is. One along an axis is left alone if a row of nodes lies in it, which parts its sides.

   Verified by tests/verify/test_thin_walls.c, tests/regress/test_misplaced.sh. */
#include "fluid/mac/internal.h"

#include <math.h>

#include "base/status.h"

/* Cells: of more than that, since distances within thin walls, sampled between nodes, are off. */
static const double MORE = 0.25;
/* Less of an obstacle's extent, in cells, is no wall. */
static const double WALL = 4;

typedef struct build {
  double thickness; /* m; infinite for what has no bounds */
  double length;    /* m, of its bounds */
  double across;    /* greatest |n_x| + |n_y| + |n_z| of where most of it is; 1: along the axes */
} build;

static mn_vec3 direction(const mn_solid_def *s, int dim, mn_vec3 x, double d)
{
  mn_vec3 g = {{0, 0, 0}};
  for (int a = 0; a < dim; a++) {
    mn_vec3 up = x, down = x;
    up.v[a] += d, down.v[a] -= d;
    g.v[a] = mn_shape_distance(s->shape, up) - mn_shape_distance(s->shape, down);
  }
  double length = mn_length(g);
  return length > 0 ? mn_scale(1 / length, g) : g;
}

/* The greatest depth that is found by climbing from x along the axes and their diagonals. */
static double climb(const mn_solid_def *s, int dim, mn_vec3 x, double step)
{
  double depth = -mn_shape_distance(s->shape, x), least = 1e-4 * step;
  while (step > least) {
    int better = 0;
    for (int n = 0; n < 27; n++) {
      mn_vec3 y = mn_madd(x, step, mn_v3(n % 3 - 1, n / 3 % 3 - 1, dim == 3 ? n / 9 - 1 : 0));
      double there = -mn_shape_distance(s->shape, y);
      if (there > depth) {
        depth = there;
        x = y;
        better = 1;
      }
    }
    step *= better ? 1 : 0.5;
  }
  return depth;
}

/* By points that fill its bounds evenly, as it lies at the start. */
static build examine(const mn_solid_def *s, int dim)
{
  enum { POINTS = 24 };
  static const double ALONG = 1.01;
  mn_vec3 lo, hi, middle = {{0, 0, 0}};
  double deepest = -INFINITY, step = 0, near = 0, slanted = 0;
  build b = {.thickness = INFINITY, .across = 1};
  mn_shape_bounds(s->shape, &lo, &hi);
  for (int a = 0; a < dim; a++)
    b.length = fmax(b.length, hi.v[a] - lo.v[a]);
  if (!isfinite(b.length))
    return b;
  step = b.length / POINTS;
  for (int n = 0; n < (dim == 3 ? POINTS * POINTS * POINTS : POINTS * POINTS); n++) {
    int at[3] = {n % POINTS, n / POINTS % POINTS, n / POINTS / POINTS};
    mn_vec3 x = {{0, 0, 0}};
    for (int a = 0; a < dim; a++)
      x.v[a] = lo.v[a] + (hi.v[a] - lo.v[a]) * (at[a] + 0.5) / POINTS;
    double depth = -mn_shape_distance(s->shape, x);
    if (depth > deepest) {
      deepest = depth;
      middle = x;
    }
    if (depth < -0.5 * step)
      continue;
    mn_vec3 g = direction(s, dim, x, 1e-6 * b.length);
    double across = fabs(g.x) + fabs(g.y) + fabs(g.z);
    near++;
    slanted += across > ALONG;
    b.across = fmax(b.across, across);
  }
  b.thickness = 2 * climb(s, dim, middle, step);
  if (slanted < 0.5 * near)
    b.across = 1;
  if (s->motion.turn.kind != MN_TIME_CONSTANT && s->moving)
    b.across = sqrt(dim);
  return b;
}

/* ---- what the grid sees ---------------------------------------------------------------------- */

/* Whether a line between two nodes outside the solid leads through it, by steps as long as its
   distance allows. */
static int slips_between(const mn_mac *mac, int solid, const int at[3], int axis)
{
  const mn_field *f = &mac->geometry.solid;
  mn_vec3 x = mn_position(f, at[0], at[1], at[2]), end = x;
  const double dx = f->grid->dx, on = 1e-9 * dx;
  end.v[axis] += dx;
  double d = mn_mac_start_distance(mac, solid, x);
  if (at[axis] == f->n[axis] - 1 || d <= on || mn_mac_start_distance(mac, solid, end) <= on)
    return 0;
  for (double way = d; way < dx && d > 0; way += fmax(d, 1e-3 * dx)) {
    mn_vec3 y = x;
    y.v[axis] += way;
    d = mn_mac_start_distance(mac, solid, y);
  }
  return d <= 0;
}

/* Whether a cell's corners outside the solid are parted by those inside. */
static int is_split(const mn_mac *mac, int solid, const int at[3])
{
  const mn_field *f = &mac->geometry.solid;
  int dim = f->grid->dim, corners = 1 << dim, out = 0, reached = 0;
  for (int a = 0; a < dim; a++)
    if (at[a] == f->n[a] - 1)
      return 0;
  for (int c = 0; c < corners; c++) {
    mn_vec3 x = mn_position(f, at[0] + (c & 1), at[1] + (c >> 1 & 1), at[2] + (c >> 2));
    out |= mn_mac_start_distance(mac, solid, x) > 0 ? 1 << c : 0;
  }
  reached = out & -out;
  for (int pass = 0; pass < corners; pass++)
    for (int c = 0; c < corners; c++)
      for (int a = 0; a < dim && reached >> c & 1; a++)
        reached |= out & 1 << (c ^ 1 << a);
  return reached != out;
}

typedef struct sight {
  int seen;  /* some node lies in the solid, or on it */
  int leaks; /* it slips between nodes or splits cells */
} sight;

static sight look(const mn_mac *mac, int solid)
{
  const mn_field *f = &mac->geometry.solid;
  sight s = {0};
  for (int k = 0; k < f->n[2]; k++)
    for (int j = 0; j < f->n[1]; j++)
      for (int i = 0; i < f->n[0]; i++) {
        int at[3] = {i, j, k};
        double d = mn_mac_start_distance(mac, solid, mn_position(f, i, j, k));
        if (d > 2 * f->grid->dx)
          continue;
        s.seen |= d <= 1e-9 * f->grid->dx;
        s.leaks |= is_split(mac, solid, at);
        for (int a = 0; a < f->grid->dim && !s.leaks; a++)
          s.leaks |= slips_between(mac, solid, at, a);
      }
  return s;
}

/* ---- what is done ---------------------------------------------------------------------------- */

static void swell(mn_mac *mac, int solid)
{
  const mn_solid_def *s = &mac->def->solids[solid];
  const char *blank = *s->name ? " " : "";
  double dx = mac->grid.dx;
  build b = examine(s, mac->grid.dim);
  double needed = (b.across + MORE) * dx;
  if (b.thickness >= needed)
    return;
  sight now = look(mac, solid);
  if (b.length > WALL * dx && (now.leaks || s->moving)) {
    mac->geometry.place[solid].swell = 0.5 * (needed - b.thickness);
    mn_log(mac->ctx, MN_LOG_WARNING,
           "scene.solids: obstacle %d%s%s is %.2g cells thick: the fluid takes it as %.2g cells "
           "thick, since thinner walls leak there; use more cells, or make it thicker",
           solid + 1, blank, s->name, b.thickness / dx, needed / dx);
  } else if (now.leaks && !now.seen)
    mn_log(mac->ctx, MN_LOG_WARNING,
           "scene.solids: obstacle %d%s%s lies between the nodes of the grid (cells are %g m "
           "wide): the fluid does not see it; make it larger than a cell, or use more cells",
           solid + 1, blank, s->name, dx);
}

void mn_thin_walls_swell(mn_mac *mac)
{
  for (int s = 0; s < mac->def->solid_count; s++)
    swell(mac, s);
}
