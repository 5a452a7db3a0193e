/* Thin surfaces that move: who is passed, who is met.

   An element with points a < b (< c) sweeps, in 2D, the triangles a0 b0 b1 and a0 a1 b1 of
   space-time, in 3D the tetrahedra a0 b0 c0 c1, a0 b0 b1 c1 and a0 a1 b1 c1 (0, 1: the point at
   these times). A path x(t) = x0 + t (x1 - x0) meets such a simplex if and only if, seen from the
   frame that goes with the path, x1 lies inside the simplex's projection to space: its points of
   time 0 shifted by x1 - x0. A point that rests (x0 = x1) is not shifted, and the answer exact.
   Otherwise the shifted points are rounded, but the same way for all elements that share them: a
   path cannot slip between neighbours.

   Verified by tests/unit/grid/test_sweep.c. */
#include "grid/sweep.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/status.h"
#include "geom/closest.h"
#include "geom/predicates.h"

mn_sweep mn_sweep_none(mn_context *ctx, const mn_grid *grid)
{
  return (mn_sweep){.ctx = ctx, .grid = grid};
}

void mn_sweep_destroy(mn_sweep *s)
{
  void *all[] = {s->X[0], s->X[1], s->point, s->number, s->mark, s->low, s->start, s->item};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    mn_free(all[i]);
  *s = mn_sweep_none(s->ctx, s->grid);
}

/* ---- cells ----------------------------------------------------------------------------------- */

typedef struct box {
  mn_vec3 lo, hi;
} box;

static box box_of(const mn_vec3 *x, int n)
{
  box b = {x[0], x[0]};
  for (int i = 1; i < n; i++)
    for (int a = 0; a < 3; a++) {
      b.lo.v[a] = mn_min(b.lo.v[a], x[i].v[a]);
      b.hi.v[a] = mn_max(b.hi.v[a], x[i].v[a]);
    }
  return b;
}

/* Cells that a box touches, those outside the grid counted to its outermost ones. Rounding shifts
   the borders of cells, but for all alike: boxes that meet have a cell in common. */
static int cell_along(const mn_grid *g, int a, double x)
{
  double s = floor((x - (g->origin.v[a] + g->dx * g->lo[a])) / g->dx);
  return s > 0 ? (s < g->n[a] - 1 ? (int)s : g->n[a] - 1) : 0; /* NaN: 0 */
}

static void cells_of(const mn_grid *g, const box *b, int lo[3], int hi[3])
{
  for (int a = 0; a < 3; a++) {
    lo[a] = a < g->dim ? cell_along(g, a, b->lo.v[a]) : 0;
    hi[a] = a < g->dim ? cell_along(g, a, b->hi.v[a]) : 0;
  }
}

static int64_t cell_number(const mn_grid *g, int i, int j, int k)
{
  return i + (int64_t)g->n[0] * (j + (int64_t)g->n[1] * k);
}

/* Boxes are wider by this, in cells: an element along the faces of cells touches those on either
   side, as does its mirror image. */
static const double SLACK = 1e-6;

static box swept_box(const mn_sweep *s, size_t e)
{
  int dim = s->grid->dim;
  mn_vec3 x[6] = {{{0, 0, 0}}};
  for (int i = 0; i < dim; i++)
    for (int t = 0; t < 2; t++)
      x[2 * i + t] = s->X[t][s->point[(size_t)dim * e + (size_t)i]];
  box b = box_of(x, 2 * dim);
  for (int a = 0; a < dim; a++) {
    b.lo.v[a] -= SLACK * s->grid->dx;
    b.hi.v[a] += SLACK * s->grid->dx;
  }
  return b;
}

/* Counts, then enters, each element in the cells of its box. */
static mn_status fill_cells(mn_sweep *s)
{
  const mn_grid *g = s->grid;
  size_t cells = (size_t)g->n[0] * (size_t)g->n[1] * (size_t)g->n[2];
  if (!s->start)
    MN_TRY(MN_NEW(s->ctx, "cells of moving surfaces", cells + 2, &s->start));
  memset(s->start, 0, (cells + 2) * sizeof *s->start);
  for (int pass = 0; pass < 2; pass++) {
    for (size_t e = 0; e < s->elements; e++) {
      box b = swept_box(s, e);
      int hi[3];
      cells_of(g, &b, s->low[e], hi);
      for (int k = s->low[e][2]; k <= hi[2]; k++)
        for (int j = s->low[e][1]; j <= hi[1]; j++)
          for (int i = s->low[e][0]; i <= hi[0]; i++) {
            int64_t *next = &s->start[cell_number(g, i, j, k) + 2 - pass];
            if (pass)
              s->item[*next] = (uint32_t)e;
            ++*next;
          }
    }
    if (pass)
      break;
    for (size_t c = 2; c < cells + 2; c++)
      s->start[c] += s->start[c - 1];
    size_t items = (size_t)s->start[cells + 1];
    if (items > s->item_room) {
      mn_free(s->item);
      s->item = NULL;
      s->item_room = 0;
      MN_TRY(MN_NEW(s->ctx, "cells of moving surfaces", items + items / 2, &s->item));
      s->item_room = items + items / 2;
    }
  }
  return MN_OK;
}

static mn_status reserve(mn_sweep *s, size_t points, size_t elements)
{
  if (points > s->point_room) {
    for (int t = 0; t < 2; t++)
      MN_TRY(mn_grow(s->ctx, "moving surfaces", s->point_room, points, sizeof(mn_vec3),
                     (void **)&s->X[t]));
    s->point_room = points;
  }
  if (elements > s->element_room) {
    size_t old = s->element_room, dim = (size_t)s->grid->dim;
    const char *what = "moving surfaces";
    MN_TRY(mn_grow(s->ctx, what, old, elements, dim * sizeof *s->point, (void **)&s->point));
    MN_TRY(mn_grow(s->ctx, what, old, elements, sizeof *s->number, (void **)&s->number));
    MN_TRY(mn_grow(s->ctx, what, old, elements, sizeof *s->mark, (void **)&s->mark));
    MN_TRY(mn_grow(s->ctx, what, old, elements, sizeof *s->low, (void **)&s->low));
    s->element_room = elements;
  }
  return MN_OK;
}

mn_status mn_sweep_make(mn_sweep *s, const mn_immersed *like, const mn_vec3 *X0, const mn_vec3 *X1)
{
  size_t dim = (size_t)s->grid->dim;
  MN_TRY(reserve(s, like->points, like->two_sided_elements));
  s->points = like->points;
  s->elements = 0;
  s->way = 0;
  for (size_t i = 0; i < s->points; i++) {
    s->X[0][i] = X0[i];
    s->X[1][i] = X1[i];
  }
  for (size_t e = 0; e < like->elements; e++) {
    if (!like->two_sided[e])
      continue;
    uint32_t *p = &s->point[dim * s->elements];
    for (size_t i = 0; i < dim; i++) { /* insertion sort */
      size_t at = i;
      for (; at > 0 && p[at - 1] > like->element[dim * e + i]; at--)
        p[at] = p[at - 1];
      p[at] = like->element[dim * e + i];
      s->way = mn_max(s->way, mn_length(mn_sub(X1[p[at]], X0[p[at]])));
    }
    int64_t body = like->body_of[e];
    s->number[s->elements] = (uint32_t)e;
    s->mark[s->elements] = mn_hash(MN_HASH_START, &body, sizeof body);
    s->elements++;
  }
  return fill_cells(s);
}

/* ---- simplices ------------------------------------------------------------------------------- */

static int inside(const mn_vec3 *v, mn_vec3 x, int dim)
{
  if (dim == 2) {
    int side = mn_line_side(v[0], v[1], x, 0, 1);
    return side && side == mn_line_side(v[1], v[2], x, 0, 1) &&
           side == mn_line_side(v[2], v[0], x, 0, 1);
  }
  int side = mn_plane_side(v[0], v[1], v[2], x);
  return side && side == mn_plane_side(v[0], v[3], v[1], x) &&
         side == mn_plane_side(v[0], v[2], v[3], x) && side == mn_plane_side(v[1], v[3], v[2], x);
}

static double volume(mn_vec3 a, mn_vec3 b, mn_vec3 c, mn_vec3 d, int dim)
{
  mn_vec3 n = mn_cross(mn_sub(b, a), mn_sub(c, a));
  return dim == 2 ? n.z : mn_dot(n, mn_sub(d, a));
}

/* Barycentric coordinates of x, within [0, 1] and of sum 1. */
static void coordinates(const mn_vec3 *v, mn_vec3 x, int dim, double w[4])
{
  double sum = 0;
  for (int i = 0; i <= dim; i++) {
    mn_vec3 u[4];
    for (int n = 0; n <= dim; n++)
      u[n] = n == i ? x : v[n];
    w[i] = fabs(volume(u[0], u[1], u[2], u[dim], dim));
    sum += w[i];
  }
  for (int i = 0; i <= dim; i++)
    w[i] = sum > 0 ? w[i] / sum : 1.0 / (dim + 1);
}

/* Simplex n of an element's prism has the points up to m of time 0 and those from m of time 1,
   m = dim - 1 - n. */
typedef struct prism {
  mn_vec3 x[2][3]; /* time 0: shifted by x1 - x0 */
} prism;

static void simplex_of(const prism *p, int n, int dim, mn_vec3 v[4], int at[4], int time[4])
{
  int last = dim - 1 - n, count = 0;
  for (int t = 0; t < 2; t++)
    for (int i = t ? last : 0; i <= (t ? dim - 1 : last); i++) {
      v[count] = p->x[t][i];
      at[count] = i;
      time[count++] = t;
    }
}

/* Beyond all points along some axis: most elements end here. */
static inline int is_outside(const prism *p, mn_vec3 x, int dim)
{
  for (int a = 0; a < dim; a++) {
    int below = 1, above = 1;
    for (int i = 0; i < dim; i++)
      for (int t = 0; t < 2; t++) {
        below &= x.v[a] < p->x[t][i].v[a];
        above &= x.v[a] > p->x[t][i].v[a];
      }
    if (below || above)
      return 1;
  }
  return 0;
}

/* Crossings of the path's end with the element's simplices; the hit that counts, if asked for. */
static int meet(const mn_sweep *s, size_t e, mn_vec3 x0, mn_vec3 x1, int backward,
                mn_sweep_hit *hit)
{
  int dim = s->grid->dim, count = 0;
  mn_vec3 shift = mn_sub(x1, x0);
  prism p;
  for (int i = 0; i < dim; i++) {
    uint32_t q = s->point[(size_t)dim * e + (size_t)i];
    p.x[0][i] = mn_add(s->X[0][q], shift);
    p.x[1][i] = s->X[1][q];
  }
  if (is_outside(&p, x1, dim))
    return 0;
  for (int n = 0; n < dim; n++) {
    mn_vec3 v[4];
    int at[4], time[4];
    simplex_of(&p, n, dim, v, at, time);
    if (!inside(v, x1, dim))
      continue;
    count++;
    if (!hit)
      continue;
    double w[4], t = 0;
    coordinates(v, x1, dim, w);
    for (int i = 0; i <= dim; i++)
      t += w[i] * time[i];
    if (backward ? t <= hit->t : t >= hit->t)
      continue;
    *hit = (mn_sweep_hit){.t = mn_clamp(t, 0, 1), .element = e};
    for (int i = 0; i <= dim; i++)
      hit->weight[at[i]] += w[i];
  }
  return count;
}

/* ---- queries --------------------------------------------------------------------------------- */

/* Elements whose boxes share cells with that of x0 and x1, each once: in the first such cell. */
typedef struct visit {
  const mn_sweep *s;
  int lo[3], hi[3], at[3];
  int64_t next, last;
} visit;

static visit start_visit(const mn_sweep *s, mn_vec3 x0, mn_vec3 x1)
{
  visit v = {.s = s};
  mn_vec3 x[2] = {x0, x1};
  box b = box_of(x, 2);
  cells_of(s->grid, &b, v.lo, v.hi);
  memcpy(v.at, v.lo, sizeof v.at);
  int64_t c = cell_number(s->grid, v.at[0], v.at[1], v.at[2]);
  v.next = s->start[c];
  v.last = s->start[c + 1];
  return v;
}

static int next_cell(visit *v)
{
  for (int a = 0; a < 3; a++) {
    if (v->at[a] < v->hi[a]) {
      v->at[a]++;
      int64_t c = cell_number(v->s->grid, v->at[0], v->at[1], v->at[2]);
      v->next = v->s->start[c];
      v->last = v->s->start[c + 1];
      return 1;
    }
    v->at[a] = v->lo[a];
  }
  return 0;
}

/* The next element, or -1. */
static int64_t next_element(visit *v)
{
  do
    while (v->next < v->last) {
      uint32_t e = v->s->item[v->next++];
      int first = 1;
      for (int a = 0; a < 3; a++) {
        int low = v->s->low[e][a];
        first &= v->at[a] == (low > v->lo[a] ? low : v->lo[a]);
      }
      if (first)
        return e;
    }
  while (next_cell(v));
  return -1;
}

int mn_sweep_passes(const mn_sweep *s, mn_vec3 x)
{
  int count = 0;
  if (!s->elements)
    return 0;
  visit v = start_visit(s, x, x);
  for (int64_t e; (e = next_element(&v)) >= 0;)
    count += meet(s, (size_t)e, x, x, 0, NULL);
  return count;
}

int mn_sweep_meets(const mn_sweep *s, mn_vec3 x0, mn_vec3 x1, int backward, mn_sweep_hit *hit)
{
  int count = 0;
  if (hit)
    *hit = (mn_sweep_hit){.t = backward ? -1 : 2};
  if (!s->elements)
    return 0;
  visit v = start_visit(s, x0, x1);
  for (int64_t e; (e = next_element(&v)) >= 0;)
    count += meet(s, (size_t)e, x0, x1, backward, hit);
  return count;
}

/* Does an element as it is at time 0 cross the segment? */
static int crosses_at_start(const mn_sweep *s, size_t e, mn_vec3 x0, mn_vec3 x1)
{
  int dim = s->grid->dim;
  mn_vec3 x[3];
  for (int i = 0; i < dim; i++)
    x[i] = s->X[0][s->point[(size_t)dim * e + (size_t)i]];
  for (int a = 0; a < dim; a++) { /* most do not come near */
    double low = mn_min(x0.v[a], x1.v[a]), high = mn_max(x0.v[a], x1.v[a]);
    int below = 1, above = 1;
    for (int i = 0; i < dim; i++) {
      below &= x[i].v[a] < low;
      above &= x[i].v[a] > high;
    }
    if (below || above)
      return 0;
  }
  return mn_segment_crosses(dim, x, x0, x1) != 0;
}

int mn_sweep_apart(const mn_sweep *s, mn_vec3 x0, mn_vec3 x1)
{
  uint64_t marks = 0;
  if (!s->elements)
    return 0;
  visit v = start_visit(s, x0, x1);
  for (int64_t e; (e = next_element(&v)) >= 0;) {
    int crossings = crosses_at_start(s, (size_t)e, x0, x1) + meet(s, (size_t)e, x1, x1, 0, NULL);
    marks ^= crossings & 1 ? s->mark[e] : 0;
  }
  return marks != 0;
}

int mn_sweep_parts(const mn_sweep *s, mn_vec3 x0, mn_vec3 x1, int backward, mn_sweep_hit *hit)
{
  uint64_t marks = 0;
  int met = 0;
  *hit = (mn_sweep_hit){.t = backward ? -1 : 2};
  if (!s->elements)
    return 0;
  visit v = start_visit(s, x0, x1);
  for (int64_t e; (e = next_element(&v)) >= 0;) {
    met += meet(s, (size_t)e, x0, x1, backward, hit);
    if (met)
      continue; /* the rest is of no interest */
    int crossings = crosses_at_start(s, (size_t)e, x0, x1) + meet(s, (size_t)e, x1, x1, 0, NULL);
    marks ^= crossings & 1 ? s->mark[e] : 0;
  }
  return met ? 1 : marks ? 2 : 0;
}

int mn_sweep_touches(const mn_sweep *s, mn_vec3 x, double distance, mn_sweep_hit *hit)
{
  int dim = s->grid->dim, found = 0;
  mn_vec3 d = mn_v3(distance, distance, distance);
  double least = distance * distance;
  if (!s->elements)
    return 0;
  visit v = start_visit(s, mn_sub(x, d), mn_add(x, d));
  for (int64_t e; (e = next_element(&v)) >= 0;) {
    mn_vec3 y[3];
    double weight[3] = {0};
    for (int i = 0; i < dim; i++)
      y[i] = s->X[0][s->point[(size_t)dim * (size_t)e + (size_t)i]];
    double square = mn_closest(dim, y, x, weight);
    if (square > least)
      continue;
    least = square;
    found = 1;
    *hit = (mn_sweep_hit){.element = (size_t)e, .weight = {weight[0], weight[1], weight[2]}};
  }
  return found;
}

mn_vec3 mn_sweep_place(const mn_sweep *s, const mn_sweep_hit *hit, int time)
{
  int dim = s->grid->dim;
  mn_vec3 x = {{0, 0, 0}};
  for (int i = 0; i < dim; i++)
    x = mn_madd(x, hit->weight[i], s->X[time][s->point[(size_t)dim * hit->element + (size_t)i]]);
  return x;
}

mn_vec3 mn_sweep_normal(const mn_sweep *s, size_t element, int time)
{
  int dim = s->grid->dim;
  const uint32_t *p = &s->point[(size_t)dim * element];
  mn_vec3 e = mn_sub(s->X[time][p[1]], s->X[time][p[0]]);
  mn_vec3 n =
      dim == 2 ? mn_v3(e.y, -e.x, 0) : mn_cross(e, mn_sub(s->X[time][p[2]], s->X[time][p[0]]));
  double length = mn_length(n);
  return length > 0 ? mn_scale(1 / length, n) : mn_v3(0, 0, 0);
}
