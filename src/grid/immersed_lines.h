/* Elements and lines of grid points along an axis: nodes to tell the inside, cell centres for
   links.

   A line meets an element if, seen along the axis, it passes within. The points of the line before
   and beyond the element are told by the side each is on. All by the signs of geom/predicates.h
   with the points of the grid shifted, so that no crossing is lost or counted twice. */
#ifndef MN_GRID_IMMERSED_LINES_H
#define MN_GRID_IMMERSED_LINES_H

#include "geom/predicates.h"
#include "grid/grid.h"

/* As mn_position has it, so that both give the same bits. */
static inline double mn_coordinate(const mn_grid *g, int a, int i, double offset)
{
  return g->origin.v[a] + g->dx * (g->lo[a] + i + offset);
}

/* Points with this offset along an axis, of those with index from <= i < to, that lie in [lo, hi]
   or within rounding of it: range[0] <= i < range[1]. */
static inline void mn_index_range(const mn_grid *g, int a, double offset, double lo, double hi,
                                  int from, int to, int range[2])
{
  static const double slack = 1e-6; /* dx */
  double first = ceil((lo - g->origin.v[a]) / g->dx - g->lo[a] - offset - slack);
  double last = floor((hi - g->origin.v[a]) / g->dx - g->lo[a] - offset + slack);
  range[0] = (int)mn_clamp(first, from, to);
  range[1] = (int)mn_clamp(last + 1, from, to);
}

static inline void mn_element_box(int dim, const mn_vec3 x[3], mn_vec3 *lo, mn_vec3 *hi)
{
  *lo = *hi = x[0];
  for (int c = 1; c < dim; c++)
    for (int a = 0; a < dim; a++) {
      lo->v[a] = mn_min(lo->v[a], x[c].v[a]);
      hi->v[a] = mn_max(hi->v[a], x[c].v[a]);
    }
}

/* 1, -1: the line through p along an axis, upwards, passes the element from its clockwise side
   (right of a segment) to the other, or back; 0: it misses it. */
static inline int mn_line_meets(int dim, int axis, const mn_vec3 x[3], mn_vec3 p)
{
  if (dim == 2) {
    int u = 1 - axis;
    int a = x[0].v[u] > p.v[u], b = x[1].v[u] > p.v[u]; /* a point level with p is below it */
    return a == b ? 0 : (a > b) == (axis == 0) ? 1 : -1;
  }
  int u = (axis + 1) % 3, v = (axis + 2) % 3;
  int s = mn_line_side(x[0], x[1], p, u, v);
  return s && s == mn_line_side(x[1], x[2], p, u, v) && s == mn_line_side(x[2], x[0], p, u, v) ? s
                                                                                               : 0;
}

/* Side of p, as mn_line_meets counts: a line that passes with `way` is beyond where this is `way`.
 */
static inline int mn_element_side(int dim, const mn_vec3 x[3], mn_vec3 p)
{
  return dim == 2 ? mn_line_side(x[0], x[1], p, 0, 1) : mn_plane_side(x[0], x[1], x[2], p);
}

/* The first index in [lo, hi] whose point on the line through p lies beyond the element: guessed in
   doubles, then stepped to where the exact sign changes. */
static inline int mn_first_beyond(const mn_grid *g, int axis, const mn_vec3 x[3], int way,
                                  mn_vec3 p, double offset, int lo, int hi)
{
  int dim = g->dim, a = axis;
  mn_vec3 e = mn_sub(x[1], x[0]);
  double at; /* where the line meets the element's line or plane */
  p.v[a] = x[0].v[a];
  if (dim == 2) {
    int u = 1 - a;
    at = p.v[a] + (p.v[u] - x[0].v[u]) / e.v[u] * e.v[a];
  } else {
    mn_vec3 n = mn_cross(e, mn_sub(x[2], x[0]));
    at = p.v[a] - mn_dot(n, mn_sub(p, x[0])) / n.v[a];
  }
  double guess = ceil((at - g->origin.v[a]) / g->dx - g->lo[a] - offset);
  int i = guess >= lo ? guess <= hi ? (int)guess : hi : lo; /* NaN: lo */
  for (; i > lo; i--) {
    p.v[a] = mn_coordinate(g, a, i - 1, offset);
    if (mn_element_side(dim, x, p) != way)
      break;
  }
  for (; i < hi; i++) {
    p.v[a] = mn_coordinate(g, a, i, offset);
    if (mn_element_side(dim, x, p) == way)
      break;
  }
  return i;
}

#endif
