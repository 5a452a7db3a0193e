/* Lists of elements: by bins of one cell's size, for searches, and by blocks of slabs, so that
   threads can work on blocks of their own. Boxes are widened by a small part of dx, so that
   rounding cannot lose an element. Cost: linear in the elements and the cells they touch, and in
   the bins. */
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "grid/immersed_internal.h"
#include "grid/immersed_lines.h"

static const double SLACK = 1e-6; /* dx */

/* Which lists an element is in: i + n[0] (j + n[1] k), i from lo[0] to hi[0], and so on. */
typedef void range_fn(const mn_immersed *im, uint32_t e, int lo[3], int hi[3]);

static void bin_range(const mn_immersed *im, uint32_t e, int lo[3], int hi[3])
{
  const mn_grid *g = im->grid;
  const mn_bins *b = &im->work->bins;
  mn_vec3 x[3] = {0}, least, most;
  mn_immersed_corners(im, e, x);
  mn_element_box(g->dim, x, &least, &most);
  lo[2] = hi[2] = 0;
  for (int a = 0; a < g->dim; a++) {
    lo[a] = mn_bin_of(b, mn_cell_of(im, least.v[a], a) - SLACK, a);
    hi[a] = mn_bin_of(b, mn_cell_of(im, most.v[a], a) + SLACK, a);
  }
}

static void block_range(const mn_immersed *im, uint32_t e, int lo[3], int hi[3])
{
  const mn_grid *g = im->grid;
  int a = g->dim - 1, r[2];
  mn_vec3 x[3] = {0}, least, most;
  if (im->two_sided[e]) { /* links within slab k, and across, from k - 1 to k */
    mn_immersed_corners(im, e, x);
    mn_element_box(g->dim, x, &least, &most);
    mn_index_range(g, a, 0.5, least.v[a], most.v[a], -1, g->n[a] + 1, r);
    r[0] = r[0] < 0 ? 0 : r[0];
    r[1] = r[1] >= g->n[a] ? g->n[a] + 1 : r[1] + 1;
  } else {
    mn_immersed_near_box(im, e, &least, &most);
    mn_index_range(g, a, 0, least.v[a], most.v[a], 0, g->n[a] + 1, r);
  }
  lo[0] = r[0] / MN_SLAB_BLOCK;
  hi[0] = r[1] > r[0] ? (r[1] - 1) / MN_SLAB_BLOCK : lo[0] - 1;
  lo[1] = lo[2] = hi[1] = hi[2] = 0;
}

static mn_status fill(mn_immersed *im, mn_lists *l, const int n[3], range_fn *range)
{
  size_t lists = (size_t)n[0] * (size_t)n[1] * (size_t)n[2];
  uint64_t items = 0;
  int lo[3], hi[3];
  if (lists + 2 > l->start_room) {
    l->start_room = 0;
    MN_TRY(MN_RENEW(im->ctx, "lists of elements", lists + lists / 4 + 2, &l->start));
    l->start_room = lists + lists / 4 + 2;
  }
  memset(l->start, 0, (lists + 2) * sizeof *l->start);
  for (size_t e = 0; e < im->elements; e++) {
    range(im, (uint32_t)e, lo, hi);
    for (int k = lo[2]; k <= hi[2]; k++)
      for (int j = lo[1]; j <= hi[1]; j++)
        for (int i = lo[0]; i <= hi[0]; i++, items++)
          l->start[i + n[0] * (j + (int64_t)n[1] * k) + 2]++;
  }
  if (items > UINT32_MAX)
    return mn_fail(im->ctx, MN_FAILED, "%zu surface elements touch %llu cells: too many",
                   im->elements, (unsigned long long)items);
  for (size_t i = 2; i < lists + 2; i++)
    l->start[i] += l->start[i - 1];
  if (items > l->item_room) {
    l->item_room = 0;
    MN_TRY(MN_RENEW(im->ctx, "elements in lists", items + items / 4, &l->item));
    l->item_room = items + items / 4;
  }
  for (size_t e = 0; e < im->elements;
       e++) { /* moves start[l + 1] from list l's begin to its end */
    range(im, (uint32_t)e, lo, hi);
    for (int k = lo[2]; k <= hi[2]; k++)
      for (int j = lo[1]; j <= hi[1]; j++)
        for (int i = lo[0]; i <= hi[0]; i++)
          l->item[l->start[i + n[0] * (j + (int64_t)n[1] * k) + 1]++] = (uint32_t)e;
  }
  return MN_OK;
}

mn_status mn_immersed_sort(mn_immersed *im)
{
  const mn_grid *g = im->grid;
  mn_bins *b = &im->work->bins;
  if (!im->elements)
    return MN_OK;
  for (int a = 0; a < 3; a++) {
    b->lo[a] = 0;
    b->n[a] = 1;
    if (a < g->dim) {
      double lo = floor(mn_cell_of(im, im->work->lo.v[a], a) - SLACK);
      double hi = floor(mn_cell_of(im, im->work->hi.v[a], a) + SLACK);
      b->lo[a] = (int)mn_clamp(lo, -1, g->n[a]);
      b->n[a] = (int)mn_clamp(hi, -1, g->n[a]) - b->lo[a] + 1;
    }
  }
  MN_TRY(fill(im, &b->list, b->n, bin_range));
  return fill(im, &im->work->block, (int[3]){mn_immersed_blocks_of_slabs(im), 1, 1}, block_range);
}
