/* Inflows whose shape lies across the axes: their cells have stairs where the shape has a smooth
   side.

   What blows out of a stair along such a side runs into the next one, since an inflow never sucks;
   all of it would come on top of what the shape's front brings. So a side of a cell blows only as
   far as straight lines along the velocity, which come out of it, have passed through the shape
   and do not come back to cells of the inflow. Each line that passes the shape counts once, at its
   last exit: the flow is the speed times the shape's extent across it, as the cells see it. Lines
   that are further from the shape than a cell have left it, whatever they meet later.

   Inflows without such lines (boxes along the axes, any shape that blows along an axis) are left as
   they are. Verified by tests/verify/test_water.c (tilted inflows), test_inflow_walls.c. */
#include "fluid/mac/internal.h"

#include <math.h>

#include "base/status.h"

enum { SAMPLES = 8 }; /* on a side, along each axis; in 3D a bit of 64 for each */

int mn_stairs_samples(const mn_mac *mac)
{
  return mac->grid.dim == 3 ? SAMPLES * SAMPLES : SAMPLES;
}

mn_vec3 mn_stairs_sample(const mn_mac *mac, mn_vec3 middle, int axis, int n)
{
  mn_vec3 x = middle;
  for (int a = 0; a < mac->grid.dim; a++)
    if (a != axis) {
      x.v[a] += mac->grid.dx * ((n % SAMPLES + 0.5) / SAMPLES - 0.5);
      n /= SAMPLES;
    }
  return x;
}

int mn_inflow_of(const mn_mac *mac, const int at[3], int *outside)
{
  const mn_field *f = &mac->geometry.volume;
  *outside = 0;
  for (int a = 0; a < mac->grid.dim; a++)
    *outside |= !(at[a] >= 0 && at[a] < f->n[a]);
  return *outside ? 0 : mac->geometry.inflow[f->at - f->data + mn_index(f, at[0], at[1], at[2])];
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Whether the line from x along v meets a cell of the inflow before it has left the shape. */
static int comes_back(const mn_mac *mac, int source, mn_vec3 x, mn_vec3 v)
{
  const mn_grid *g = &mac->grid;
  const mn_shape *shape = mac->def->sources[source].shape;
  int at[3] = {0, 0, 0}, outside;
  double next[3] = {INFINITY, INFINITY, INFINITY}; /* time at which a cell ends */
  for (int a = 0; a < g->dim; a++) {
    double s = (x.v[a] - g->origin.v[a]) / g->dx;
    at[a] = (int)floor(s);
    if (v.v[a] != 0)
      next[a] = (at[a] + (v.v[a] > 0) - s) * g->dx / v.v[a];
  }
  while (mn_inflow_of(mac, at, &outside) != source + 1) {
    int a = next[1] < next[0] ? 1 : 0;
    a = next[2] < next[a] ? 2 : a;
    if (outside || mn_shape_distance(shape, mn_madd(x, next[a], v)) > g->dx)
      return 0;
    at[a] += v.v[a] > 0 ? 1 : -1;
    next[a] += g->dx / fabs(v.v[a]);
  }
  return 1;
}

/* Whether the line back from x against v passes through the shape; the first `way` of it, m, may be
   far from it. */
static int comes_from(const mn_mac *mac, int source, mn_vec3 x, mn_vec3 v, double way)
{
  const mn_shape *shape = mac->def->sources[source].shape;
  double dx = mac->grid.dx, step = 0.125 * dx, most = mn_length(mac->def->domain.size) + way;
  mn_vec3 back = mn_scale(-step / mn_length(v), v);
  for (double s = 0; s < most; s += step) {
    double distance = mn_shape_distance(shape, x);
    if (distance < 0)
      return 1;
    if (distance > dx && s > way)
      return 0;
    x = mn_add(x, back);
  }
  return 0;
}

int mn_stairs_let_go(const mn_mac *mac, int source, mn_vec3 x, mn_vec3 way)
{
  if (!mac->geometry.stairs || !mac->geometry.stairs[source] || !(mn_length(way) > 0))
    return 1;
  return !comes_back(mac, source, x, way) && comes_from(mac, source, x, way, mn_length(way));
}

/* ---- sides of cells -------------------------------------------------------------------------- */

/* Of an outer side's samples those that come back, or, `let_go`, those that blow. */
static uint64_t mark_samples(const mn_mac *mac, int source, const int at[3], int axis, int up,
                             int let_go)
{
  const mn_source_def *s = &mac->def->sources[source];
  mn_vec3 middle = mn_position(&mac->geometry.volume, at[0], at[1], at[2]);
  mn_vec3 v = mn_scale(s->velocity.v[axis] * up > 0 ? 1 : -1, s->velocity);
  uint64_t marks = 0;
  middle.v[axis] += up * (0.5 + 1e-9) * mac->grid.dx; /* beyond it */
  for (int n = 0; n < mn_stairs_samples(mac); n++) {
    mn_vec3 x = mn_stairs_sample(mac, middle, axis, n);
    int back = comes_back(mac, source, x, v);
    marks |= (uint64_t)(let_go ? !back && comes_from(mac, source, x, v, 0) : back) << n;
  }
  return marks;
}

/* Goes through the outer sides of all inflows that blow along no axis. First pass: finds those with
   stairs; returns whether there are any. Second pass: how much of each side of theirs blows. */
static int for_sides(mn_mac *mac, int second)
{
  mn_mac_geometry *g = &mac->geometry;
  const mn_field *cells = &g->volume;
  int any = 0, outside;
  for (int k = 0; k < cells->n[2]; k++)
    for (int j = 0; j < cells->n[1]; j++)
      for (int i = 0; i < cells->n[0]; i++) {
        int source = mn_inflow_of(mac, (int[]){i, j, k}, &outside) - 1;
        for (int side = 0; side < 2 * mac->grid.dim && source >= 0; side++) {
          int a = side / 2, high = side & 1, at[3] = {i, j, k}, next[3] = {i, j, k};
          next[a] += high ? 1 : -1;
          if (mn_inflow_of(mac, next, &outside) || outside || (second && !g->stairs[source]) ||
              mac->def->sources[source].velocity.v[a] == 0)
            continue;
          if (second) {
            const mn_field *f = &g->open[a];
            int64_t q = f->at - f->data + mn_index(f, i, j, k) + (high ? f->stride[a] : 0);
            g->blowing[a][q] = mark_samples(mac, source, at, a, high ? 1 : -1, 1);
          } else if (!g->stairs[source])
            g->stairs[source] = mark_samples(mac, source, at, a, high ? 1 : -1, 0) != 0;
          any |= g->stairs[source];
        }
      }
  return any;
}

mn_status mn_stairs_create(mn_mac *mac)
{
  mn_mac_geometry *g = &mac->geometry;
  MN_TRY(MN_NEW(mac->ctx, "sources", (size_t)mac->def->source_count, &g->stairs));
  if (!for_sides(mac, 0))
    return MN_OK;
  for (int a = 0; a < mac->grid.dim; a++) {
    MN_TRY(MN_NEW(mac->ctx, "faces of sources", g->open[a].size, &g->blowing[a]));
    for (size_t q = 0; q < g->open[a].size; q++)
      g->blowing[a][q] = UINT64_MAX;
  }
  for_sides(mac, 1);
  return MN_OK;
}

static int count(uint64_t marks, int samples)
{
  int sum = 0;
  for (int n = 0; n < samples; n++)
    sum += (int)(marks >> n & 1);
  return sum;
}

double mn_stairs_part(const mn_mac *mac, int axis, int64_t q)
{
  const uint64_t *blowing = mac->geometry.blowing[axis];
  return blowing ? (double)count(blowing[q], mn_stairs_samples(mac)) / mn_stairs_samples(mac) : 1;
}

double mn_stairs_open_part(const mn_mac *mac, int axis, int i, int j, int k, double open)
{
  const mn_field *f = &mac->geometry.open[axis];
  int64_t q = f->at - f->data + mn_index(f, i, j, k);
  uint64_t free = 0, *blowing = mac->geometry.blowing[axis];
  if (!blowing || !(open > 0 && open < 1))
    return open * mn_stairs_part(mac, axis, q);
  mn_vec3 middle = mn_position(f, i, j, k);
  for (int n = 0; n < mn_stairs_samples(mac); n++)
    free |= (uint64_t)(mn_sample(&mac->geometry.solid, mn_stairs_sample(mac, middle, axis, n)) > 0)
            << n;
  int all = count(free, mn_stairs_samples(mac));
  return open * (all ? (double)count(free & blowing[q], mn_stairs_samples(mac)) / all
                     : mn_stairs_part(mac, axis, q));
}
