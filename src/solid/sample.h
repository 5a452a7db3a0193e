/* Points on the surfaces of rigid shapes, for contact. (The interface with a fluid has meshes:
   geom/surface_mesh.h.) */
#ifndef MN_SOLID_SAMPLE_H
#define MN_SOLID_SAMPLE_H

#include "base/memory.h"
#include "math/vec.h"
#include "geom/shape.h"

typedef struct mn_sample {
  mn_vec3 *x;   /* m */
  mn_vec3 *n;   /* unit, outward */
  double *area; /* m^2, m in 2D */
  size_t count, capacity;
} mn_sample;

MN_MUST_CHECK mn_status mn_sample_push(mn_context *ctx, mn_sample *sample, mn_vec3 x, mn_vec3 n,
                                       double area);
/* Points on a sphere, capsule, torus or cylinder, about `spacing` (m) apart, with the area around
   each. */
MN_MUST_CHECK mn_status mn_sample_surface(mn_context *ctx, const mn_shape *shape, double spacing,
                                          mn_sample *sample);
/* Points on the rims of a cylinder, of no area. */
MN_MUST_CHECK mn_status mn_sample_rims(mn_context *ctx, const mn_shape *cylinder, double spacing,
                                       mn_sample *sample);
void mn_sample_destroy(mn_sample *sample);

/* Points that touch first: corners of boxes and meshes, and points between them. The arrays are to
   be freed with mn_free. */
MN_MUST_CHECK mn_status mn_sample_contact(mn_context *ctx, const mn_shape *shape, double spacing,
                                          mn_vec3 **point, mn_vec3 **normal, size_t *count);

#endif
