/* Shared by the files of grid/immersed. */
#ifndef MN_GRID_IMMERSED_INTERNAL_H
#define MN_GRID_IMMERSED_INTERNAL_H

#include "grid/immersed.h"

/* Elements by the cells that their boxes touch: bin b has the elements item[start[b]] to
   item[start[b + 1] - 1]. The bins cover the cells lo to hi, those of all surfaces within one cell
   of the domain; what lies beyond belongs to the outermost. */
typedef struct mn_bins {
  int lo[3], n[3];
  int64_t *start;
  uint32_t *item;
  size_t start_room, item_room;
} mn_bins;

struct mn_immersed_work {
  size_t point_room, element_room, body_room, link_room;
  mn_vec3 lo, hi; /* box around all elements */
  mn_bins bins;
  int16_t
      *crossing; /* [nodes, with ghosts] change of the winding number before a node of its row */
  int node_lo[3], node_hi[3]; /* nodes that the last place wrote to: lo <= i < hi */
  int32_t *blocked[3];        /* with ghosts, and */
  uint32_t *nearest;          /* so this */
};

static inline void mn_immersed_corners(const mn_immersed *im, uint32_t e, mn_vec3 x[3])
{
  int dim = im->grid->dim;
  for (int c = 0; c < dim; c++)
    x[c] = im->X[im->element[(size_t)dim * e + (size_t)c]];
}

/* Where a segment, known to cross the element x[dim], does so. */
double mn_immersed_fraction(int dim, const mn_vec3 x[3], mn_vec3 p, mn_vec3 q);
/* Takes all surfaces off the grid: only what the last place wrote is touched. */
void mn_immersed_clear(mn_immersed *im);
MN_MUST_CHECK mn_status mn_immersed_sort(mn_immersed *im); /* into bins */
void mn_immersed_distances(mn_immersed *im);
MN_MUST_CHECK mn_status mn_immersed_block(mn_immersed *im);

#endif
