/* Thin surfaces: the links between cell centres that they cross, slab by slab.

   A link along an axis is blocked if an element crosses it: the line of centres meets the element,
   and the two centres are on different sides. In a slab lie the links along the lower axes between
   centres of the slab, and those along the last axis from the slab below. The first crossing of a
   link counts, of equal ones the first element: what mn_immersed_crosses finds between the centres.
   While elements are visited, blocked[] holds 1 + the element; then links are counted, numbered in
   their order and listed.

   Watertight: a path of open links from inside a closed surface to its outside would be a chain of
   segments between shifted centres that crosses no element, and there is none.
   Verified by tests/unit/grid/test_immersed_links.c. */
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "grid/immersed_internal.h"
#include "grid/immersed_lines.h"

enum { COUNT, I_FROM, I_TO, J_FROM, J_TO }; /* of a box */

static mn_vec3 centre(const mn_grid *g, const int at[3])
{
  mn_vec3 p = {{0}};
  for (int a = 0; a < g->dim; a++)
    p.v[a] = mn_coordinate(g, a, at[a], 0.5);
  return p;
}

/* Where an element crosses the link below cell `at` along an axis. */
static double link_fraction(const mn_immersed *im, uint32_t e, int axis, const int at[3])
{
  int below[3] = {at[0], at[1], at[2]};
  mn_vec3 x[3];
  below[axis]--;
  mn_immersed_corners(im, e, x);
  return mn_immersed_fraction(im->grid->dim, x, centre(im->grid, below), centre(im->grid, at));
}

static void block_link(mn_immersed *im, uint32_t e, int axis, const int at[3], int s)
{
  int32_t *b = &im->blocked[axis][mn_index(&im->face[axis], at[0], at[1], at[2])];
  int32_t *box = im->work->box[s][axis];
  if (*b) {
    uint32_t old = (uint32_t)*b - 1;
    if (link_fraction(im, e, axis, at) < link_fraction(im, old, axis, at))
      *b = (int32_t)e + 1;
    return;
  }
  *b = (int32_t)e + 1;
  if (!box[COUNT]++) {
    box[I_FROM] = box[I_TO] = at[0];
    box[J_FROM] = box[J_TO] = at[1];
  }
  box[I_FROM] = at[0] < box[I_FROM] ? at[0] : box[I_FROM];
  box[I_TO] = at[0] > box[I_TO] ? at[0] : box[I_TO];
  box[J_FROM] = at[1] < box[J_FROM] ? at[1] : box[J_FROM];
  box[J_TO] = at[1] > box[J_TO] ? at[1] : box[J_TO];
}

/* The line of centres through `at`: blocks the link that the element crosses, if it is one of the
   slab. */
static void try_line(mn_immersed *im, uint32_t e, const mn_vec3 x[3], int axis, int at[3], int s)
{
  const mn_grid *g = im->grid;
  int dim = g->dim;
  mn_vec3 p = centre(g, at);
  int way = mn_line_meets(dim, axis, x, p);
  if (!way)
    return;
  if (axis < dim - 1) {
    at[axis] = mn_first_beyond(g, axis, x, way, p, 0.5, -1, g->n[axis] + 1);
    if (at[axis] < 0 || at[axis] > g->n[axis])
      return;
  } else { /* one link: from the slab below to this */
    int below[3] = {at[0], at[1], at[2]};
    below[axis]--;
    if (mn_element_side(dim, x, p) != way || mn_element_side(dim, x, centre(g, below)) == way)
      return;
  }
  block_link(im, e, axis, at, s);
}

/* Links of slab s; `lo` to `hi` is the element's box. */
static void block_slab(mn_immersed *im, uint32_t e, const mn_vec3 x[3], mn_vec3 lo, mn_vec3 hi,
                       int s)
{
  const mn_grid *g = im->grid;
  int dim = g->dim, last = dim - 1;
  for (int axis = 0; axis < dim; axis++) {
    int r[3][2] = {{0, 1}, {0, 1}, {0, 1}};
    for (int a = 0; a < last; a++)
      if (a != axis)
        mn_index_range(g, a, 0.5, lo.v[a], hi.v[a], 0, g->n[a], r[a]);
    r[last][0] = s;
    r[last][1] = axis == last || s < g->n[last] ? s + 1 : s; /* the last slab has no centres */
    for (int k = r[2][0]; k < r[2][1]; k++)
      for (int j = r[1][0]; j < r[1][1]; j++)
        for (int i = r[0][0]; i < r[0][1]; i++)
          try_line(im, e, x, axis, (int[3]){i, j, k}, s);
  }
}

static void block_element(mn_immersed *im, uint32_t e, int first, int end)
{
  const mn_grid *g = im->grid;
  int last = g->dim - 1, r[2];
  mn_vec3 x[3] = {0}, lo, hi;
  mn_immersed_corners(im, e, x);
  mn_element_box(g->dim, x, &lo, &hi);
  mn_index_range(g, last, 0.5, lo.v[last], hi.v[last], first - 1, end, r);
  for (int s = r[0] < first ? first : r[0]; s <= r[1] && s < end; s++) /* and one across the last */
    block_slab(im, e, x, lo, hi, s);
}

/* Lists the links of an axis in a slab, from number `first` on. */
static void list_links(mn_immersed *im, int axis, int s, size_t first)
{
  const int32_t *box = im->work->box[s][axis];
  int k = im->grid->dim == 3 ? s : 0;
  size_t n = first;
  for (int j = box[J_FROM]; box[COUNT] && j <= box[J_TO]; j++)
    for (int i = box[I_FROM]; i <= box[I_TO]; i++) {
      int32_t *b = &im->blocked[axis][mn_index(&im->face[axis], i, j, k)];
      if (!*b)
        continue;
      uint32_t e = (uint32_t)*b - 1;
      im->link[n++] = (mn_closed_face){.axis = axis,
                                       .i = i,
                                       .j = j,
                                       .k = k,
                                       .body = im->body_of[e],
                                       .element = e,
                                       .fraction = link_fraction(im, e, axis, (int[3]){i, j, k})};
      *b = (int32_t)n;
    }
}

/* Numbers of links become those of the first in each slab. */
static mn_status number_links(mn_immersed *im)
{
  struct mn_immersed_work *w = im->work;
  size_t total = 0;
  for (int axis = 0; axis < im->grid->dim; axis++)
    for (int s = 0; s < mn_immersed_slabs(im); s++) {
      w->first[s][axis] = total;
      total += (size_t)w->box[s][axis][COUNT];
    }
  if (total > w->link_room) {
    w->link_room = 0;
    MN_TRY(MN_RENEW(im->ctx, "blocked links", total + total / 2, &im->link));
    w->link_room = total + total / 2;
  }
  im->links = total;
  return MN_OK;
}

mn_status mn_immersed_block(mn_immersed *im)
{
  struct mn_immersed_work *w = im->work;
  if (!im->two_sided_elements)
    return MN_OK;
  int slabs = mn_immersed_slabs(im), threads = im->grid->exec->threads, dim = im->grid->dim;
  int blocks = mn_immersed_blocks_of_slabs(im);
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int b = 0; b < blocks; b++) {
    int first = b * MN_SLAB_BLOCK, end = first + MN_SLAB_BLOCK;
    end = end < slabs ? end : slabs;
    memset(w->box[first], 0, (size_t)(end - first) * sizeof *w->box);
    for (uint32_t i = w->block.start[b]; i < w->block.start[b + 1]; i++)
      if (im->two_sided[w->block.item[i]])
        block_element(im, w->block.item[i], first, end);
  }
  mn_status status = number_links(im);
  if (status != MN_OK) {
    mn_immersed_clear_links(im);
    return status;
  }
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int s = 0; s < slabs; s++)
    for (int axis = 0; axis < dim; axis++)
      list_links(im, axis, s, w->first[s][axis]);
  return MN_OK;
}

void mn_immersed_clear_links(mn_immersed *im)
{
  struct mn_immersed_work *w = im->work;
  for (int s = 0; s < mn_immersed_slabs(im); s++)
    for (int axis = 0; axis < im->grid->dim; axis++) {
      int32_t *box = w->box[s][axis];
      int k = im->grid->dim == 3 ? s : 0;
      for (int j = box[J_FROM]; box[COUNT] && j <= box[J_TO]; j++)
        memset(&im->blocked[axis][mn_index(&im->face[axis], box[I_FROM], j, k)], 0,
               (size_t)(box[I_TO] - box[I_FROM] + 1) * sizeof **im->blocked);
      box[COUNT] = 0;
    }
  im->links = 0;
}
