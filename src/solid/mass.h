/* Volume, centre of mass and inertia of shapes of density 1. In two dimensions they are those of
   the cross-section: area, and second moments within the plane. */
#ifndef MN_SOLID_MASS_H
#define MN_SOLID_MASS_H

#include "math/mat.h"
#include "meniscus/shape.h"

typedef struct mn_mass {
  double volume;  /* m^3, m^2 in 2D */
  mn_vec3 center; /* m */
  mn_mat3 second; /* integral of (x - center)(x - center)^T: m^5, m^4 in 2D */
} mn_mass;

/* Exact for boxes, spheres, capsules, tori, cylinders, meshes and their transforms; by quadrature
   of the signed distance on `cells` cells along the longest side for compositions (second order; 0:
   a default). MN_BAD_INPUT for shapes that are unbounded or empty. */
MN_MUST_CHECK mn_status mn_mass_of_shape(mn_context *ctx, const mn_shape *shape, int cells,
                                         mn_mass *mass);
/* The quadrature for any bounded shape. */
MN_MUST_CHECK mn_status mn_mass_by_quadrature(mn_context *ctx, const mn_shape *shape, int cells,
                                              mn_mass *mass);
/* Of a closed surface of triangles, counter-clockwise from outside. */
mn_mass mn_mass_of_triangles(const mn_vec3 *vertex, const uint32_t (*triangle)[3], size_t count);
/* Of a polygon in the plane z = 0, counter-clockwise. */
mn_mass mn_mass_of_polygon(const mn_vec3 *vertex, size_t count);

/* Inertia about the centre: trace(S) 1 - S. */
mn_mat3 mn_mass_inertia(const mn_mass *mass);

#endif
