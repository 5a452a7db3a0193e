/* Searches among the elements of surfaces, by bins of one cell's size.

   An element is in every bin that its box touches. A short segment visits all bins of its box; a
   long one layers of bins across its steepest axis, in its direction, and stops once the next layer
   lies beyond the first crossing found. Positions outside the bins count as in the outermost:
   clamping keeps order, so boxes that overlap still do.
   Verified by tests/unit/grid/test_immersed_links.c against loops over all elements. */
#include <string.h>

#include "geom/closest.h"
#include "geom/predicates.h"
#include "grid/immersed_internal.h"

static const double SLACK = 1e-6; /* dx */
enum { SHORT = 3 };               /* bins a segment may touch without care for their order */
enum { RINGS = 3 };               /* of bins, before all elements are searched */

static int64_t bin_index(const mn_bins *b, int i, int j, int k)
{
  return i + b->n[0] * (j + (int64_t)b->n[1] * k);
}

/* ---- crossings ------------------------------------------------------------------------------- */

/* Height of p above the line or plane of an element, times a length or area. */
static double height(int dim, const mn_vec3 x[3], mn_vec3 p)
{
  mn_vec3 a = mn_sub(x[1], x[0]), d = mn_sub(p, x[0]);
  if (dim == 2)
    return a.x * d.y - a.y * d.x;
  return mn_dot(mn_cross(a, mn_sub(x[2], x[0])), d);
}

double mn_immersed_fraction(int dim, const mn_vec3 x[3], mn_vec3 p, mn_vec3 q)
{
  double hp = height(dim, x, p), hq = height(dim, x, q);
  return hp == hq ? 0.5 : mn_clamp(hp / (hp - hq), 0, 1);
}

typedef struct first_crossing {
  int found;
  double t;
  uint32_t element;
} first_crossing;

/* The bins lo to hi; those along x follow each other, so a row of them is one list. */
static void cross_bins(const mn_immersed *im, const int lo[3], const int hi[3], mn_vec3 p,
                       mn_vec3 q, first_crossing *f)
{
  const mn_bins *b = &im->work->bins;
  int dim = im->grid->dim;
  for (int k = lo[2]; k <= hi[2]; k++)
    for (int j = lo[1]; j <= hi[1]; j++) {
      int64_t row = bin_index(b, 0, j, k);
      uint32_t end = b->list.start[row + hi[0] + 1];
      for (uint32_t s = b->list.start[row + lo[0]]; s < end; s++) {
        uint32_t e = b->list.item[s];
        mn_vec3 x[3];
        if (!im->two_sided[e] || (f->found && e == f->element))
          continue;
        mn_immersed_corners(im, e, x);
        if (!mn_segment_crosses(dim, x, p, q))
          continue;
        double t = mn_immersed_fraction(dim, x, p, q);
        if (!f->found || t < f->t || (t == f->t && e < f->element))
          *f = (first_crossing){1, t, e};
      }
    }
}

/* A long segment: layer by layer of bins across its steepest axis, in its direction, up to the
   first crossing. p0 and p1 are its ends in cells. */
static void cross_layers(const mn_immersed *im, mn_vec3 p, mn_vec3 q, const double p0[3],
                         const double p1[3], int axis, first_crossing *f)
{
  const mn_bins *b = &im->work->bins;
  double from = p0[axis], per_cell = 1 / (p1[axis] - from);
  int step = per_cell < 0 ? -1 : 1;
  int first = mn_bin_of(b, from - step * SLACK, axis);
  int last = mn_bin_of(b, p1[axis] + step * SLACK, axis);
  for (int at = first; at * step <= last * step; at += step) {
    /* the part of the segment in this layer; the outermost layers reach to infinity */
    double enter = b->lo[axis] + at + (step < 0), leave = enter + step;
    double t0 = at == first ? 0 : mn_clamp((enter - from) * per_cell - SLACK, 0, 1);
    double t1 = at == last ? 1 : mn_clamp((leave - from) * per_cell + SLACK, 0, 1);
    int lo[3] = {0, 0, 0}, hi[3] = {0, 0, 0};
    if (f->found && f->t < t0 - SLACK)
      return;
    for (int a = 0; a < im->grid->dim; a++) {
      double c0 = p0[a] + t0 * (p1[a] - p0[a]), c1 = p0[a] + t1 * (p1[a] - p0[a]);
      lo[a] = a == axis ? at : mn_bin_of(b, mn_min(c0, c1) - SLACK, a);
      hi[a] = a == axis ? at : mn_bin_of(b, mn_max(c0, c1) + SLACK, a);
    }
    cross_bins(im, lo, hi, p, q, f);
  }
}

int mn_immersed_crosses(const mn_immersed *im, mn_vec3 p, mn_vec3 q, double *t, uint32_t *element)
{
  const struct mn_immersed_work *w = im->work;
  first_crossing f = {0};
  if (!im->two_sided_elements)
    return 0;
  int axis = 0, dim = im->grid->dim, lo[3] = {0, 0, 0}, hi[3] = {0, 0, 0};
  double p0[3], p1[3];
  for (int a = 0; a < dim; a++) {
    double least = mn_min(p.v[a], q.v[a]), most = mn_max(p.v[a], q.v[a]);
    if (!(most >= w->lo.v[a] && least <= w->hi.v[a]))
      return 0; /* beside all elements, or not a number */
    p0[a] = mn_cell_of(im, p.v[a], a);
    p1[a] = mn_cell_of(im, q.v[a], a);
    lo[a] = mn_bin_of(&w->bins, mn_min(p0[a], p1[a]) - SLACK, a);
    hi[a] = mn_bin_of(&w->bins, mn_max(p0[a], p1[a]) + SLACK, a);
    if (fabs(p1[a] - p0[a]) > fabs(p1[axis] - p0[axis]))
      axis = a;
  }
  if (hi[axis] - lo[axis] < SHORT)
    cross_bins(im, lo, hi, p, q, &f);
  else
    cross_layers(im, p, q, p0, p1, axis, &f);
  if (f.found && t)
    *t = f.t;
  if (f.found && element)
    *element = f.element;
  return f.found;
}

/* ---- the nearest element --------------------------------------------------------------------- */

typedef struct nearest_element {
  uint32_t element;
  double square, weight[3];
} nearest_element;

static int wanted(const mn_immersed *im, uint32_t e, int body)
{
  return body == MN_CLOSED_BODIES      ? !im->two_sided[e]
         : body == MN_TWO_SIDED_BODIES ? im->two_sided[e] != 0
                                       : im->body_of[e] == body;
}

static void try_element(const mn_immersed *im, uint32_t e, mn_vec3 x, int body, nearest_element *n)
{
  if (!wanted(im, e, body))
    return;
  mn_vec3 corner[3];
  double weight[3];
  mn_immersed_corners(im, e, corner);
  double square = mn_closest(im->grid->dim, corner, x, weight);
  if (square < n->square || (square == n->square && e < n->element)) {
    *n = (nearest_element){.element = e, .square = square};
    memcpy(n->weight, weight, sizeof weight);
  }
}

/* The bins at most r cells from the one of x: 1 if nothing nearer can be elsewhere. */
static int try_bins(const mn_immersed *im, mn_vec3 x, int r, int body, nearest_element *n)
{
  const mn_grid *g = im->grid;
  const mn_bins *b = &im->work->bins;
  int lo[3] = {0, 0, 0}, hi[3] = {0, 0, 0};
  for (int a = 0; a < g->dim; a++) {
    /* positions outside the domain count as on its rim: that shortens distances at most */
    double cell = floor(mn_clamp(mn_cell_of(im, x.v[a], a), -1, g->n[a]));
    if (cell + r < b->lo[a] || cell - r >= b->lo[a] + b->n[a])
      return 0;
    lo[a] = mn_bin_of(b, cell - r, a);
    hi[a] = mn_bin_of(b, cell + r, a);
  }
  for (int k = lo[2]; k <= hi[2]; k++)
    for (int j = lo[1]; j <= hi[1]; j++)
      for (int i = lo[0]; i <= hi[0]; i++) {
        int64_t bin = bin_index(b, i, j, k);
        for (uint32_t s = b->list.start[bin]; s < b->list.start[bin + 1]; s++)
          try_element(im, b->list.item[s], x, body, n);
      }
  double sure = (r - SLACK) * g->dx;
  return n->element != MN_NO_ELEMENT && r > 0 && n->square <= sure * sure;
}

uint32_t mn_immersed_nearest(const mn_immersed *im, mn_vec3 x, int body, double weight[3],
                             double *distance)
{
  nearest_element n = {.element = MN_NO_ELEMENT, .square = INFINITY};
  int done = !im->elements;
  for (int r = 1; r <= RINGS && !done; r++)
    done = try_bins(im, x, r, body, &n);
  for (size_t e = 0; e < im->elements && !done; e++)
    try_element(im, (uint32_t)e, x, body, &n);
  memcpy(weight, n.weight, sizeof n.weight);
  if (distance)
    *distance = sqrt(n.square);
  return n.element;
}
