/* The corners and sharp edges of boxes and meshes: where two polyhedra touch first, a corner of one
   meets a face of the other, or an edge of one an edge of the other. */
#ifndef MN_SOLID_SHARP_H
#define MN_SOLID_SHARP_H

#include "geom/shape.h"

/* A convex edge. A direction n across it is one in which the edge is the farthest of its
   surroundings if n . into <= 0 for both faces. */
typedef struct mn_sharp_edge {
  mn_vec3 end[2];  /* m */
  mn_vec3 into[2]; /* unit, across the edge and into either face */
  mn_vec3 out[2];  /* unit, the outward normals of the two faces */
  int goes_on[2];  /* at this end another edge goes straight on */
} mn_sharp_edge;

typedef struct mn_sharp {
  mn_sharp_edge *edge;
  size_t edges;
  mn_vec3 *corner, *normal; /* m; unit, outward */
  size_t corners;           /* 0: not a polyhedron */
} mn_sharp;

/* Of a box, or a mesh in 3D, also within transforms; of all else nothing. In 2D corners, each also
   as an edge of no length. Edges of meshes that stand out by less than `least` (m) over their
   length are left out. */
MN_MUST_CHECK mn_status mn_sharp_find(mn_context *ctx, const mn_shape *shape, double least,
                                      mn_sharp *sharp);
void mn_sharp_destroy(mn_sharp *sharp);

#endif
