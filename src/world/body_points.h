/* Points that a scene names on a body: of links and probes. */
#ifndef MN_WORLD_BODY_POINTS_H
#define MN_WORLD_BODY_POINTS_H

#include "geom/simplex_mesh.h"
#include "meniscus/body.h"

/* MN_BAD_INPUT, with the nearest point of the body, if `at` is not on it: of a rigid body farther
   from its shape than a tenth of its size, of a deformable one farther from the nearest node of its
   mesh than any point of the mesh is. `key` begins the message: "probe \"tip\": at". */
MN_MUST_CHECK mn_status mn_body_has_point(mn_context *ctx, int dim, const mn_body_def *def,
                                          const mn_simplex_mesh *mesh, mn_vec3 at, const char *key);

/* The box around a mesh. */
void mn_body_extent(const mn_simplex_mesh *mesh, mn_vec3 *lo, mn_vec3 *hi);

#endif
