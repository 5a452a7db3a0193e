/* Inflows whose shape lies across the axes: their cells have stairs where the shape has a smooth
   side.

   What blows out of a stair along such a side runs into the next one, since an inflow never sucks;
   all of it would come on top of what the shape's front brings. So a side of a cell blows only as
   far as straight lines along the velocity, which come out of it, have passed through the shape
   and do not come back to cells of the inflow. Each line that passes the shape counts once, at its
   last exit: the flow is the speed times the shape's extent across it, as the cells see it. Lines
   that are further from the shape than a cell have left it, whatever they meet later.

   Inflows without such lines (boxes along the axes, any shape that blows along an axis) are left as
   they are. Verified by tests/verify/test_water.c (tilted inflows). */
#include "fluid/mac/internal.h"

#include <math.h>

#include "base/status.h"

enum { SAMPLES = 8 }; /* on a side, along each axis */

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

/* Point n of SAMPLES^(dim - 1) on the side of the cell around `center`, and the velocity out of it
   there. */
static mn_vec3 sample(const mn_mac *mac, mn_vec3 center, int axis, int up, int n)
{
  mn_vec3 x = center;
  x.v[axis] += up * (0.5 + 1e-9) * mac->grid.dx; /* beyond it */
  for (int a = 0; a < mac->grid.dim; a++)
    if (a != axis) {
      x.v[a] += mac->grid.dx * ((n % SAMPLES + 0.5) / SAMPLES - 0.5);
      n /= SAMPLES;
    }
  return x;
}

/* Of an outer side's samples, how many come back, or, `let_go`, how many blow. */
static int count_samples(const mn_mac *mac, int source, const int at[3], int axis, int up,
                         int let_go)
{
  const mn_source_def *s = &mac->def->sources[source];
  mn_vec3 center = mn_position(&mac->geometry.volume, at[0], at[1], at[2]);
  mn_vec3 v = mn_scale(s->velocity.v[axis] * up > 0 ? 1 : -1, s->velocity);
  int count = 0;
  for (int n = 0; n < (mac->grid.dim == 3 ? SAMPLES * SAMPLES : SAMPLES); n++) {
    mn_vec3 x = sample(mac, center, axis, up, n);
    int back = comes_back(mac, source, x, v);
    count += let_go ? !back && comes_from(mac, source, x, v, 0) : back;
  }
  return count;
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
            g->blowing[a][q] = (unsigned char)count_samples(mac, source, at, a, high ? 1 : -1, 1);
          } else if (!g->stairs[source])
            g->stairs[source] =
                (unsigned char)(count_samples(mac, source, at, a, high ? 1 : -1, 0) > 0);
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
      g->blowing[a][q] = mac->grid.dim == 3 ? SAMPLES * SAMPLES : SAMPLES;
  }
  for_sides(mac, 1);
  return MN_OK;
}

double mn_stairs_part(const mn_mac *mac, int axis, int64_t q)
{
  const unsigned char *blowing = mac->geometry.blowing[axis];
  return blowing ? (double)blowing[q] / (mac->grid.dim == 3 ? SAMPLES * SAMPLES : SAMPLES) : 1;
}
