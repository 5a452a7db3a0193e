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

/* A point of closed surfaces in 3D, and the normals of the faces around it. */
typedef struct mn_corner {
  mn_vec3 mean;  /* unit */
  double spread; /* greatest distance of a unit normal from it; infinite: not known */
  uint64_t fan;  /* 0: the faces go round */
  int lost;      /* a face without normal is among them */
} mn_corner;

struct mn_immersed_work {
  size_t point_room, element_room, body_room, link_room, reach_room, corner_room;
  mn_vec3 lo, hi; /* box around all elements */
  mn_bins bins;
  mn_corner *corner; /* [points], 3D */
  mn_vec3 *normal;   /* [elements] of closed surfaces in 3D: unit, 0 if there is none */
  double *reach; /* [elements] m: nodes further than this beside an element are nearer to others */
  /* Slabs are planes of the last axis, as many as nodes; MN_SLAB_BLOCK of them a block. A closed
     element is in the blocks of all nodes that it visits, a two-sided one in those of the cells
     whose links it may cross. */
  mn_lists block;
  int32_t (*box)[3][5]; /* [slabs] of each axis: blocked links in a slab, their number and the box
                           around them, i from and to, j from and to */
  size_t (*first)[3];   /* [slabs] of each axis: the number of the first link in a slab */
  int16_t
      *crossing; /* [nodes, with ghosts] change of the winding number before a node of its row */
  int node_lo[3], node_hi[3]; /* nodes that the last place wrote to: lo <= i < hi */
  int32_t *blocked[3];        /* with ghosts, and */
  uint32_t *nearest;          /* so this */
};

enum { MN_SLAB_BLOCK = 4 };

static inline int mn_immersed_slabs(const mn_immersed *im)
{
  return im->grid->n[im->grid->dim - 1] + 1;
}

static inline int mn_immersed_blocks_of_slabs(const mn_immersed *im)
{
  return (mn_immersed_slabs(im) + MN_SLAB_BLOCK - 1) / MN_SLAB_BLOCK;
}

static inline void mn_immersed_corners(const mn_immersed *im, uint32_t e, mn_vec3 x[3])
{
  int dim = im->grid->dim;
  for (int c = 0; c < dim; c++)
    x[c] = im->X[im->element[(size_t)dim * e + (size_t)c]];
}

/* A position along an axis in cells, and its bin. */
static inline double mn_cell_of(const mn_immersed *im, double x, int a)
{
  return x * im->distance.per_dx - im->distance.shift[a];
}
static inline int mn_bin_of(const mn_bins *b, double cell, int a)
{
  double at = cell - b->lo[a];
  return at < 0 ? 0 : at >= b->n[a] ? b->n[a] - 1 : (int)at;
}

/* Where a segment, known to cross the element x[dim], does so. */
double mn_immersed_fraction(int dim, const mn_vec3 x[3], mn_vec3 p, mn_vec3 q);

/* The box around the nodes that a closed element visits. */
void mn_immersed_near_box(const mn_immersed *im, uint32_t e, mn_vec3 *lo, mn_vec3 *hi);

/* The steps of place: reach of closed elements; bins and blocks; distances; blocked links. */
MN_MUST_CHECK mn_status mn_immersed_reach(mn_immersed *im);
MN_MUST_CHECK mn_status mn_immersed_sort(mn_immersed *im);
void mn_immersed_distances(mn_immersed *im);
MN_MUST_CHECK mn_status mn_immersed_block(mn_immersed *im);
/* What they undo: only what the last place wrote is touched. */
void mn_immersed_clear_distances(mn_immersed *im);
void mn_immersed_clear_links(mn_immersed *im);

#endif
