/* The surface of deformable bodies: facets for contact and pictures, and points for the interface
   with a fluid.

   A point sits at fixed weights on the nodes of one facet: X = sum w_a x_a, V = sum w_a v_a, and a
   load F there gives w_a F to the nodes. The same weights both ways conserve force, torque and
   power exactly. The vector area of a point is c (sum t1_a x_a) x (sum t2_a x_a), of the body as
   deformed. Verified by tests/unit/solid/test_surface.c. */
#ifndef MN_SOLID_SURFACE_H
#define MN_SOLID_SURFACE_H

#include "meniscus/box.h"

enum { MN_FACET_NODES_MAX = 6 }; /* of a quadratic triangle */

/* One facet of a body: a segment in 2D, a triangle in 3D (a segment for rods). Oriented so that the
   normal is outward: to the right of a segment, by the right hand for a triangle. */
typedef struct mn_facet {
  uint32_t node[MN_FACET_NODES_MAX]; /* corners, then middles as in simplex_mesh.h */
  uint8_t nodes;                     /* 2, 3 or 6; quadratic segments have 3 */
  uint8_t corners;                   /* 2 or 3 */
  uint8_t two_sided;                 /* fluid on both sides: cloth, shells, curves */
  int32_t body;
} mn_facet;

typedef struct mn_surface_point {
  uint32_t node[MN_FACET_NODES_MAX];
  double weight[MN_FACET_NODES_MAX];
  double t1[MN_FACET_NODES_MAX], t2[MN_FACET_NODES_MAX]; /* derivatives of the weights */
  double c;                                              /* of the vector area, see above */
  int nodes;
  int two_sided;
  int body;
  size_t facet;
} mn_surface_point;

typedef struct mn_surface_points {
  int dim;
  size_t count;
  mn_surface_point *point;
} mn_surface_points;

/* Points on all facets, at most `spacing` (m) apart where the body is at `x`: each facet is cut
   into equal parts with a point in the middle of each. Destroy with mn_surface_points_destroy. */
MN_MUST_CHECK mn_status mn_surface_points_create(mn_context *ctx, int dim, const mn_facet *facet,
                                                 size_t facets, const mn_vec3 *x, double spacing,
                                                 mn_surface_points *points);
void mn_surface_points_destroy(mn_surface_points *points);

/* X, V, N, area of entries [first, first + points->count) of an interface. */
void mn_surface_gather(const mn_surface_points *points, const mn_vec3 *x, const mn_vec3 *v,
                       mn_interface *interface, size_t first);
/* Adds the loads of those entries to the nodes: force[node] += w load. */
void mn_surface_scatter(const mn_surface_points *points, const mn_interface *interface,
                        size_t first, mn_vec3 *force);

#endif
