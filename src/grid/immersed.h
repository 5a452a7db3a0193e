/* The surfaces of an interface on the grid.

   Closed surfaces bound solids that fill space: the grid sees them by their signed distance at the
   nodes. Two-sided ones are thin: they block the links between the centres of neighbouring cells
   that they cross. Both are decided by the exact signs of geom/predicates.h: the inside of a
   closed surface is right at every node, and blocked links are watertight. */
#ifndef MN_GRID_IMMERSED_H
#define MN_GRID_IMMERSED_H

#include "grid/grid.h"
#include "meniscus/box.h"

#define MN_NO_ELEMENT UINT32_MAX

/* A face that a solid closes: the one below cell (i, j, k) along `axis`. */
typedef struct mn_closed_face {
  int axis, i, j, k;
  int body;         /* that closes it */
  uint32_t element; /* of a thin body: the one that crosses the link; else MN_NO_ELEMENT */
  double fraction;  /* where, as part of the link from the lower to the upper cell's centre */
} mn_closed_face;

typedef struct mn_immersed_body {
  size_t elements; /* 0: there is no such body */
  int two_sided, rigid;
  mn_vec3 lo, hi; /* box around its elements */
  mn_vec3 about;  /* one of its points */
  uint64_t rim;   /* 0: its surface is closed */
  double volume;  /* m^3 (m^2 in 2D) within its elements, positive if they are turned as box.h says.
                     Two-sided bodies: the same sum, which means something only if they close */
} mn_immersed_body;

/* Read, not written, by users. */
typedef struct mn_immersed {
  mn_context *ctx;     /* borrowed, as is */
  const mn_grid *grid; /* the grid */
  double band;         /* m: distances are exact up to here, and +-band beyond */

  /* The surfaces as placed: copies. */
  size_t points, elements;
  mn_vec3 *X;
  int *point_body;    /* [points] */
  uint8_t *rigid;     /* [points] */
  uint32_t *element;  /* [dim * elements] */
  int *body_of;       /* [elements] */
  uint8_t *two_sided; /* [elements] */
  int bodies;         /* numbers in use are below this */
  mn_immersed_body *body;
  size_t closed_elements, two_sided_elements;

  /* Signed distance to the closed surfaces, positive in the fluid, at the local nodes; ghosts hold
     +band. Where bodies overlap, that to the nearest surface, negative. */
  mn_field distance;
  uint32_t *nearest; /* the element nearest to a node within the band, else MN_NO_ELEMENT; index as
                        in `distance` */

  /* Blocked links, ordered by axis, then k, j, i. */
  size_t links;
  mn_closed_face *link;
  mn_field face[3];    /* layout only, no data: */
  int32_t *blocked[3]; /* 1 + its number in `link`, 0: open. Index as in a field on these faces; the
                          outermost faces of the domain included, ghosts are 0 */

  struct mn_immersed_work *work;
} mn_immersed;

/* Nothing placed. The grid and the context are borrowed. */
MN_MUST_CHECK mn_status mn_immersed_create(mn_context *ctx, const mn_grid *grid, mn_immersed **im);
void mn_immersed_destroy(mn_immersed **im);

/* Puts the surfaces of the interface, at its X, on the grid. MN_FAILED with a sentence if they are
   not what box.h says: points not finite, elements of points that are not there or of two bodies,
   surfaces said to be closed that are not. Nothing is placed then. */
MN_MUST_CHECK mn_status mn_immersed_place(mn_immersed *im, const mn_interface *interface);

/* Is the link through face (i, j, k) of an axis blocked? */
static inline int mn_immersed_blocks(const mn_immersed *im, int axis, int i, int j, int k)
{
  return im->blocked[axis][mn_index(&im->face[axis], i, j, k)] != 0;
}

/* The first crossing of the segment from a to b with a two-sided element: 1 if there is one, with
   its place a + t (b - a) and the element. Between centres of neighbouring cells it agrees with
   `blocked`; a chain of segments cannot slip through. t and element may be NULL. From any number of
   threads. */
int mn_immersed_crosses(const mn_immersed *im, mn_vec3 a, mn_vec3 b, double *t, uint32_t *element);

enum { MN_CLOSED_BODIES = -1, MN_TWO_SIDED_BODIES = -2 };
/* The element nearest to x of all those of `body`, a number or one of the above, and the weights of
   its points at the place nearest to x. MN_NO_ELEMENT and an infinite distance if there is none. The
   distance may be NULL. From any number of threads. */
uint32_t mn_immersed_nearest(const mn_immersed *im, mn_vec3 x, int body, double weight[3],
                             double *distance);

/* The closed body whose surface is nearest to a face, by its nodes; -1 beyond the band. */
int mn_immersed_face_body(const mn_immersed *im, int axis, int i, int j, int k);

#endif
