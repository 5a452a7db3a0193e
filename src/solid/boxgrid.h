/* Which boxes of many overlap a given one: a grid of sorted cells, about as wide as the boxes. Few
   much larger or unbounded ones stand apart and are always tried. Linear cost for boxes of like
   size; the order of answers depends on the numbers alone. */
#ifndef MN_SOLID_BOXGRID_H
#define MN_SOLID_BOXGRID_H

#include "math/vec.h"

typedef struct mn_boxgrid_entry {
  uint64_t cell;
  uint32_t item;
} mn_boxgrid_entry;

typedef struct mn_boxgrid {
  mn_context *ctx;
  uint32_t count;
  const mn_vec3 *lo, *hi; /* borrowed until the next build */
  double cell;            /* m */
  mn_vec3 origin;
  mn_boxgrid_entry *entry;
  size_t entries, capacity;
  uint32_t *large;
  uint32_t large_count;
  uint32_t *stamp, now; /* which query has seen an item */
  size_t items;         /* capacity of large and stamp */
  size_t tests;         /* boxes compared since the build */
} mn_boxgrid;

MN_MUST_CHECK mn_status mn_boxgrid_build(mn_boxgrid *grid, mn_context *ctx, const mn_vec3 *lo,
                                         const mn_vec3 *hi, uint32_t count);
/* Items that overlap [lo, hi], in rising order; `found` must have room for all items. */
uint32_t mn_boxgrid_query(mn_boxgrid *grid, mn_vec3 lo, mn_vec3 hi, uint32_t *found);
void mn_boxgrid_destroy(mn_boxgrid *grid);

#endif
