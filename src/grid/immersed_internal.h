/* Shared by the files of grid/immersed. */
#ifndef MN_GRID_IMMERSED_INTERNAL_H
#define MN_GRID_IMMERSED_INTERNAL_H

#include "grid/immersed.h"

/* Lists of elements: list l has item[start[l]] to item[start[l + 1] - 1], in ascending order. */
typedef struct mn_lists {
  uint32_t *start, *item;
  size_t start_room, item_room;
} mn_lists;

/* Elements by the cells that their boxes touch. The bins cover the cells from lo on, those of all
   surfaces within one cell of the domain; what lies beyond belongs to the outermost. */
typedef struct mn_bins {
  int lo[3], n[3];
  mn_lists list;
} mn_bins;

struct mn_immersed_work {
  size_t point_room, element_room, body_room, link_room;
  mn_vec3 lo, hi; /* box around all elements */
  mn_bins bins;
  /* Slabs: planes of the last axis, as many as nodes. A closed element is in the slabs of all nodes
     within the band, a two-sided one in those of the cells whose links it may cross. */
  mn_lists slab;
  int32_t (*box)[3][5]; /* [slabs] of each axis: blocked links in a slab, their number and the box
                           around them, i from and to, j from and to */
  size_t (*first)[3];   /* [slabs] of each axis: the number of the first link in a slab */
  int16_t
      *crossing; /* [nodes, with ghosts] change of the winding number before a node of its row */
  int node_lo[3], node_hi[3]; /* nodes that the last place wrote to: lo <= i < hi */
  int32_t *blocked[3];        /* with ghosts, and */
  uint32_t *nearest;          /* so this */
};

static inline int mn_immersed_slabs(const mn_immersed *im)
{
  return im->grid->n[im->grid->dim - 1] + 1;
}

static inline void mn_immersed_corners(const mn_immersed *im, uint32_t e, mn_vec3 x[3])
{
  int dim = im->grid->dim;
  for (int c = 0; c < dim; c++)
    x[c] = im->X[im->element[(size_t)dim * e + (size_t)c]];
}

/* A position along an axis in cells, and its bin. */
static inline double mn_cell_of(const mn_grid *g, double x, int a)
{
  return (x - g->origin.v[a]) / g->dx - g->lo[a];
}
static inline int mn_bin_of(const mn_bins *b, double cell, int a)
{
  double at = cell - b->lo[a];
  return at < 0 ? 0 : at >= b->n[a] ? b->n[a] - 1 : (int)at;
}

/* Where a segment, known to cross the element x[dim], does so. */
double mn_immersed_fraction(int dim, const mn_vec3 x[3], mn_vec3 p, mn_vec3 q);

/* The steps of place: bins and slabs; distances; blocked links. */
MN_MUST_CHECK mn_status mn_immersed_sort(mn_immersed *im);
void mn_immersed_distances(mn_immersed *im);
MN_MUST_CHECK mn_status mn_immersed_block(mn_immersed *im);
/* What they undo: only what the last place wrote is touched. */
void mn_immersed_clear_distances(mn_immersed *im);
void mn_immersed_clear_links(mn_immersed *im);

#endif
