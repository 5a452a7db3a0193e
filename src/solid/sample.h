/* Points on the surfaces of rigid shapes: for the interface with a fluid, and for contact. */
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

/* Points about `spacing` (m) apart. The areas are such that

       sum area = the surface's,  sum area n = 0,  sum area x cross n = 0,  sum area n x^T = V 1

   to round-off: a constant pressure then gives no force and no torque, a hydrostatic one the
   buoyancy of the volume V. MN_BAD_INPUT if the surface has no end. */
MN_MUST_CHECK mn_status mn_sample_surface(mn_context *ctx, const mn_shape *shape, double spacing,
                                          mn_sample *sample);
/* The same without the correction of the areas: a negative control. */
MN_MUST_CHECK mn_status mn_sample_raw(mn_context *ctx, const mn_shape *shape, double spacing,
                                      mn_sample *sample);
void mn_sample_destroy(mn_sample *sample);

/* Points that touch first: corners of boxes and meshes, and points between them. The arrays are to
   be freed with mn_free. */
MN_MUST_CHECK mn_status mn_sample_contact(mn_context *ctx, const mn_shape *shape, double spacing,
                                          mn_vec3 **point, mn_vec3 **normal, size_t *count);

#endif
