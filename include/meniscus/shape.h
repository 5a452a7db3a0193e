/* Shapes by composition, each a signed distance (negative inside). Immutable once made. In two
   dimensions a shape is its cross-section at z = 0: a sphere is a disk, a box a rectangle. */
#ifndef MENISCUS_SHAPE_H
#define MENISCUS_SHAPE_H

#include "meniscus/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_shape mn_shape;

/* Exact distances. `dim` 2 ignores z everywhere. Sizes must be positive and finite: MN_BAD_INPUT.
 */
MN_MUST_CHECK mn_status mn_shape_box(mn_context *ctx, int dim, mn_vec3 lo, mn_vec3 hi,
                                     mn_shape **out);
MN_MUST_CHECK mn_status mn_shape_sphere(mn_context *ctx, int dim, mn_vec3 center, double radius,
                                        mn_shape **out);
/* The side against which `normal` points: normal . (x - point) < 0 is inside. */
MN_MUST_CHECK mn_status mn_shape_half_space(mn_context *ctx, int dim, mn_vec3 point, mn_vec3 normal,
                                            mn_shape **out);
MN_MUST_CHECK mn_status mn_shape_capsule(mn_context *ctx, int dim, mn_vec3 a, mn_vec3 b,
                                         double radius, mn_shape **out);
/* 3D only: all points within `radius` of the axis from a to b, but those within `inner` (0: none)
   of it: a tube. Flat ends. */
MN_MUST_CHECK mn_status mn_shape_cylinder(mn_context *ctx, int dim, mn_vec3 a, mn_vec3 b,
                                          double radius, double inner, mn_shape **out);
/* Three-dimensional; in 2D the cross-section of radius `major`, thickness 2 `minor`: a ring. */
MN_MUST_CHECK mn_status mn_shape_torus(mn_context *ctx, int dim, mn_vec3 center, mn_vec3 axis,
                                       double major, double minor, mn_shape **out);
/* A closed triangle mesh read from OBJ, PLY or STL; 3D only. Refuses bad indices, open or
   non-manifold surfaces, naming the offending element. */
MN_MUST_CHECK mn_status mn_shape_mesh(mn_context *ctx, const char *path, mn_shape **out);

/* Compositions take ownership of their parts, also when they fail. Distances of unions are exact
   outside, of differences a bound: good for what is inside, first-order for how far. */
MN_MUST_CHECK mn_status mn_shape_union(mn_context *ctx, mn_shape **parts, int count,
                                       mn_shape **out);
MN_MUST_CHECK mn_status mn_shape_intersection(mn_context *ctx, mn_shape **parts, int count,
                                              mn_shape **out);
/* parts[0] minus all others */
MN_MUST_CHECK mn_status mn_shape_difference(mn_context *ctx, mn_shape **parts, int count,
                                            mn_shape **out);
/* x -> translate + rotation of `angle` radians about `axis` through the origin of (scale x) */
MN_MUST_CHECK mn_status mn_shape_transform(mn_context *ctx, mn_shape *part, mn_vec3 translate,
                                           mn_vec3 axis, double angle, double scale,
                                           mn_shape **out);

double mn_shape_distance(const mn_shape *shape, mn_vec3 x);
/* 2 or 3. A mesh has 3: a scene of two dimensions must refuse it. */
int mn_shape_dim(const mn_shape *shape);
/* An axis-aligned box around the shape; infinite components for half-spaces, z = 0 in 2D. Low >
   high if an intersection is empty. */
void mn_shape_bounds(const mn_shape *shape, mn_vec3 *lo, mn_vec3 *hi);
void mn_shape_destroy(mn_shape **shape);

#ifdef __cplusplus
}
#endif
#endif
