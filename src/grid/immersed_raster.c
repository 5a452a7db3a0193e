/* Distances, insides and blocked links, element by element.

   Both the inside and the links ask where an element crosses a line of grid points along an axis:
   nodes for the one, cell centres for the other. The line meets the element if, seen along the
   axis, it passes within (signs of geom/predicates.h, points of the grid shifted); the first point
   of the line beyond the element follows from the side of each point, found from a guess in
   doubles and then stepped to where the exact sign changes. So no crossing is lost or counted
   twice.

   Inside: along each row of nodes, in x, the winding number grows by 1 where a row enters a closed
   body and falls by 1 where it leaves; solid is where it is above 0. Distances: to every element
   within the band. A body that reaches out of the domain is right in the part within.
   Verified by tests/unit/grid/test_immersed.c. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "geom/closest.h"
#include "geom/predicates.h"
#include "grid/immersed_internal.h"

static const double SLACK = 1e-6; /* dx */

/* ---- lines of points ------------------------------------------------------------------------- */

/* As mn_position has it, so that both give the same bits. */
static inline double coordinate(const mn_grid *g, int a, int i, double offset)
{
  return g->origin.v[a] + g->dx * (g->lo[a] + i + offset);
}

/* First and last + 1 index of points with an offset along an axis within [lo, hi], in [0, n). */
static void index_range(const mn_grid *g, int a, double offset, double lo, double hi, int from,
                        int to, int range[2])
{
  double first = ceil((lo - g->origin.v[a]) / g->dx - g->lo[a] - offset - SLACK);
  double last = floor((hi - g->origin.v[a]) / g->dx - g->lo[a] - offset + SLACK);
  range[0] = (int)mn_clamp(first, from, to);
  range[1] = (int)mn_clamp(last + 1, from, to);
}

typedef struct lines {
  const mn_grid *grid;
  int axis;
  double offset; /* of the points along every axis: 0 nodes, 1/2 centres */
  int lo, hi;    /* the points on a line: lo <= i < hi */
} lines;

/* 1, -1: the line through p along the axis passes the element from its clockwise side (right of a
   segment) to the other, or back; 0: it misses it. */
static int line_meets(const lines *l, const mn_vec3 x[3], mn_vec3 p)
{
  if (l->grid->dim == 2) {
    int u = 1 - l->axis;
    int a = x[0].v[u] > p.v[u], b = x[1].v[u] > p.v[u]; /* a point level with p is below it */
    return a == b ? 0 : (a > b) == (l->axis == 0) ? 1 : -1;
  }
  int u = (l->axis + 1) % 3, v = (l->axis + 2) % 3;
  int s = mn_line_side(x[0], x[1], p, u, v);
  return s && s == mn_line_side(x[1], x[2], p, u, v) && s == mn_line_side(x[2], x[0], p, u, v) ? s
                                                                                               : 0;
}

static inline int side(int dim, const mn_vec3 x[3], mn_vec3 p)
{
  return dim == 2 ? mn_line_side(x[0], x[1], p, 0, 1) : mn_plane_side(x[0], x[1], x[2], p);
}

/* Index of the first point of the line through p that lies beyond the element, in [lo, hi]. `way`
   as line_meets gave it. */
static int first_beyond(const lines *l, const mn_vec3 x[3], int way, mn_vec3 p)
{
  const mn_grid *g = l->grid;
  int dim = g->dim, a = l->axis;
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
  double guess = ceil((at - g->origin.v[a]) / g->dx - g->lo[a] - l->offset);
  int i = guess >= l->lo ? guess <= l->hi ? (int)guess : l->hi : l->lo; /* NaN: lo */
  for (; i > l->lo; i--) {
    p.v[a] = coordinate(g, a, i - 1, l->offset);
    if (side(dim, x, p) != way)
      break;
  }
  for (; i < l->hi; i++) {
    p.v[a] = coordinate(g, a, i, l->offset);
    if (side(dim, x, p) == way)
      break;
  }
  return i;
}

static void box_of(int dim, const mn_vec3 x[3], mn_vec3 *lo, mn_vec3 *hi)
{
  *lo = *hi = x[0];
  for (int c = 1; c < dim; c++)
    for (int a = 0; a < dim; a++) {
      lo->v[a] = mn_min(lo->v[a], x[c].v[a]);
      hi->v[a] = mn_max(hi->v[a], x[c].v[a]);
    }
}

/* ---- distances ------------------------------------------------------------------------------- */

static void clear_nodes(mn_immersed *im)
{
  struct mn_immersed_work *w = im->work;
  for (int k = w->node_lo[2]; k < w->node_hi[2]; k++)
    for (int j = w->node_lo[1]; j < w->node_hi[1]; j++)
      for (int i = w->node_lo[0]; i < w->node_hi[0]; i++) {
        int64_t at = mn_index(&im->distance, i, j, k);
        im->distance.at[at] = im->band;
        im->nearest[at] = MN_NO_ELEMENT;
      }
  memset(w->node_hi, 0, sizeof w->node_hi);
}

/* Square distances, while they are gathered. */
static void near_nodes(mn_immersed *im, uint32_t e, const mn_vec3 x[3])
{
  const mn_grid *g = im->grid;
  mn_field *d = &im->distance;
  mn_vec3 lo, hi;
  int r[3][2] = {{0, 1}, {0, 1}, {0, 1}};
  box_of(g->dim, x, &lo, &hi);
  for (int a = 0; a < g->dim; a++)
    index_range(g, a, 0, lo.v[a] - im->band, hi.v[a] + im->band, 0, d->n[a], r[a]);
  for (int k = r[2][0]; k < r[2][1]; k++)
    for (int j = r[1][0]; j < r[1][1]; j++)
      for (int i = r[0][0]; i < r[0][1]; i++) {
        int64_t at = mn_index(d, i, j, k);
        double weight[3], square = mn_closest(g->dim, x, mn_position(d, i, j, k), weight);
        if (square < d->at[at]) {
          d->at[at] = square;
          im->nearest[at] = e;
        }
      }
}

static void cross_rows(mn_immersed *im, const mn_vec3 x[3])
{
  const mn_grid *g = im->grid;
  const mn_field *d = &im->distance;
  lines l = {.grid = g, .axis = 0, .offset = 0, .lo = 0, .hi = d->n[0]};
  mn_vec3 lo, hi;
  int r[3][2] = {{0, 1}, {0, 1}, {0, 1}};
  box_of(g->dim, x, &lo, &hi);
  for (int a = 1; a < g->dim; a++)
    index_range(g, a, 0, lo.v[a], hi.v[a], 0, d->n[a], r[a]);
  for (int k = r[2][0]; k < r[2][1]; k++)
    for (int j = r[1][0]; j < r[1][1]; j++) {
      mn_vec3 p = mn_position(d, 0, j, k);
      int way = line_meets(&l, x, p);
      if (way) /* normals point into the fluid; a segment has it on its right */
        im->work->crossing[mn_index(d, first_beyond(&l, x, way, p), j, k)] +=
            (int16_t)(g->dim == 2 ? way : -way);
    }
}

static void sign_rows(mn_immersed *im)
{
  struct mn_immersed_work *w = im->work;
  mn_field *d = &im->distance;
  for (int k = w->node_lo[2]; k < w->node_hi[2]; k++)
    for (int j = w->node_lo[1]; j < w->node_hi[1]; j++) {
      int winding = 0, n = d->n[0];
      for (int i = 0; i <= n; i++) {
        int64_t at = mn_index(d, i, j, k);
        winding += w->crossing[at];
        w->crossing[at] = 0;
        if (i == n || i < w->node_lo[0] || i >= w->node_hi[0])
          continue;
        double distance = sqrt(d->at[at]);
        if (!(distance < im->band)) {
          distance = im->band;
          im->nearest[at] = MN_NO_ELEMENT;
        }
        d->at[at] = winding > 0 ? -distance : distance;
      }
    }
}

/* The nodes within the band of closed bodies. */
static void node_box(mn_immersed *im)
{
  const mn_grid *g = im->grid;
  struct mn_immersed_work *w = im->work;
  mn_vec3 lo = mn_v3(INFINITY, INFINITY, INFINITY), hi = mn_scale(-1, lo);
  for (int b = 0; b < im->bodies; b++)
    if (im->body[b].elements && !im->body[b].two_sided)
      for (int a = 0; a < 3; a++) {
        lo.v[a] = mn_min(lo.v[a], im->body[b].lo.v[a]);
        hi.v[a] = mn_max(hi.v[a], im->body[b].hi.v[a]);
      }
  w->node_lo[2] = 0;
  w->node_hi[2] = 1;
  for (int a = 0; a < g->dim; a++) {
    int r[2];
    index_range(g, a, 0, lo.v[a] - im->band, hi.v[a] + im->band, 0, im->distance.n[a], r);
    w->node_lo[a] = r[0];
    w->node_hi[a] = r[1];
  }
}

void mn_immersed_distances(mn_immersed *im)
{
  struct mn_immersed_work *w = im->work;
  if (!im->closed_elements)
    return;
  node_box(im);
  for (int k = w->node_lo[2]; k < w->node_hi[2]; k++)
    for (int j = w->node_lo[1]; j < w->node_hi[1]; j++)
      for (int i = w->node_lo[0]; i < w->node_hi[0]; i++)
        mn_set(&im->distance, i, j, k, im->band * im->band);
  for (size_t e = 0; e < im->elements; e++)
    if (!im->two_sided[e]) {
      mn_vec3 x[3];
      mn_immersed_corners(im, (uint32_t)e, x);
      near_nodes(im, (uint32_t)e, x);
      cross_rows(im, x);
    }
  sign_rows(im);
}

int mn_immersed_face_body(const mn_immersed *im, int axis, int i, int j, int k)
{
  const mn_field *d = &im->distance;
  int three = im->grid->dim == 3;
  int64_t sb = d->stride[three ? (axis + 1) % 3 : 1 - axis];
  int64_t sc = three ? d->stride[(axis + 2) % 3] : 0;
  int64_t at = mn_index(d, i, j, k);
  int64_t corner[4] = {at, at + sb, at + sc, at + sb + sc};
  double least = INFINITY;
  int body = -1;
  for (int c = 0; c < (three ? 4 : 2); c++)
    if (im->nearest[corner[c]] != MN_NO_ELEMENT && fabs(d->at[corner[c]]) < least) {
      least = fabs(d->at[corner[c]]);
      body = im->body_of[im->nearest[corner[c]]];
    }
  return body;
}

/* ---- blocked links --------------------------------------------------------------------------- */

static void clear_links(mn_immersed *im)
{
  for (size_t s = 0; s < im->links; s++) {
    const mn_closed_face *f = &im->link[s];
    im->blocked[f->axis][mn_index(&im->face[f->axis], f->i, f->j, f->k)] = 0;
  }
  im->links = 0;
}

static mn_status add_link(mn_immersed *im, mn_closed_face f)
{
  struct mn_immersed_work *w = im->work;
  int32_t *number = &im->blocked[f.axis][mn_index(&im->face[f.axis], f.i, f.j, f.k)];
  if (*number) {
    mn_closed_face *old = &im->link[*number - 1];
    if (f.fraction < old->fraction)
      *old = f;
    return MN_OK;
  }
  if (im->links == w->link_room) {
    size_t more = 2 * w->link_room + 1024;
    MN_TRY(mn_grow(im->ctx, "blocked links", w->link_room, more, sizeof *im->link,
                   (void **)&im->link));
    w->link_room = more;
  }
  im->link[im->links++] = f;
  *number = (int32_t)im->links;
  return MN_OK;
}

static mn_status block_axis(mn_immersed *im, uint32_t e, const mn_vec3 x[3], int axis)
{
  const mn_grid *g = im->grid;
  int dim = g->dim;
  lines l = {.grid = g, .axis = axis, .offset = 0.5, .lo = -1, .hi = g->n[axis] + 1};
  mn_vec3 lo, hi;
  int r[3][2] = {{0, 1}, {0, 1}, {0, 1}};
  box_of(dim, x, &lo, &hi);
  for (int a = 0; a < dim; a++)
    if (a != axis)
      index_range(g, a, 0.5, lo.v[a], hi.v[a], 0, g->n[a], r[a]);
  for (int k = r[2][0]; k < r[2][1]; k++)
    for (int j = r[1][0]; j < r[1][1]; j++)
      for (int i = r[0][0]; i < r[0][1]; i++) {
        int at[3] = {i, j, k};
        mn_vec3 p = {{0}}, q;
        for (int a = 0; a < dim; a++)
          p.v[a] = coordinate(g, a, at[a], 0.5);
        int way = line_meets(&l, x, p);
        int beyond = way ? first_beyond(&l, x, way, p) : l.lo;
        if (beyond <= l.lo || beyond >= l.hi)
          continue;
        q = p;
        p.v[axis] = coordinate(g, axis, beyond - 1, 0.5);
        q.v[axis] = coordinate(g, axis, beyond, 0.5);
        at[axis] = beyond;
        MN_TRY(add_link(im, (mn_closed_face){.axis = axis,
                                             .i = at[0],
                                             .j = at[1],
                                             .k = at[2],
                                             .body = im->body_of[e],
                                             .element = e,
                                             .fraction = mn_immersed_fraction(dim, x, p, q)}));
      }
  return MN_OK;
}

static int by_place(const void *a, const void *b)
{
  const mn_closed_face *f = a, *g = b;
  if (f->axis != g->axis)
    return f->axis < g->axis ? -1 : 1;
  if (f->k != g->k)
    return f->k < g->k ? -1 : 1;
  if (f->j != g->j)
    return f->j < g->j ? -1 : 1;
  return f->i < g->i ? -1 : f->i > g->i;
}

mn_status mn_immersed_block(mn_immersed *im)
{
  if (!im->two_sided_elements)
    return MN_OK;
  for (int axis = 0; axis < im->grid->dim; axis++)
    for (size_t e = 0; e < im->elements; e++)
      if (im->two_sided[e]) {
        mn_vec3 x[3];
        mn_immersed_corners(im, (uint32_t)e, x);
        MN_TRY(block_axis(im, (uint32_t)e, x, axis));
      }
  qsort(im->link, im->links, sizeof *im->link, by_place);
  for (size_t s = 0; s < im->links; s++) {
    const mn_closed_face *f = &im->link[s];
    im->blocked[f->axis][mn_index(&im->face[f->axis], f->i, f->j, f->k)] = (int32_t)s + 1;
  }
  return MN_OK;
}

void mn_immersed_clear(mn_immersed *im)
{
  clear_nodes(im);
  clear_links(im);
  im->points = im->elements = im->closed_elements = im->two_sided_elements = 0;
  im->bodies = 0;
}
