/* The zero level of a field as line segments (2D) or triangles (3D). */
#ifndef MN_IO_CONTOUR_H
#define MN_IO_CONTOUR_H

#include "grid/grid.h"

typedef struct mn_contour {
  int dim;
  size_t points, cells;
  size_t point_room, cell_room;
  mn_vec3 *x;     /* m */
  mn_vec3 *n;     /* unit normals towards positive values */
  int64_t *index; /* dim points per cell; the negative side is on the left of a segment, and behind
                     a triangle that is seen counter-clockwise */
} mn_contour;

MN_MUST_CHECK mn_status mn_contour_make(mn_context *ctx, const mn_field *field, mn_contour *out);
/* The boundary of where both fields, at the same points, are negative; limit may be NULL. */
MN_MUST_CHECK mn_status mn_contour_make_within(mn_context *ctx, const mn_field *field,
                                               const mn_field *limit, mn_contour *out);
void mn_contour_free(mn_contour *contour);

#endif
