/* The surface of deformable bodies: facets for contact and pictures, and points for the interface
   with a fluid.

   A point sits at fixed weights on the nodes of one facet, its shape functions there: X = sum w_a
   x_a, V = sum w_a v_a, and a load F there gives w_a F to the nodes. The same weights both ways
   conserve force, torque and power exactly. The elements are flat between the points (quadratic
   facets are approximated); a point's vector area is an equal part of its elements', of the body as
   deformed. Verified by tests/unit/solid/test_surface.c. */
#ifndef MN_SOLID_SURFACE_H
#define MN_SOLID_SURFACE_H

#include "meniscus/box.h"

enum { MN_FACET_NODES_MAX = 6, MN_FACET_PARTS_MAX = 4 }; /* of a quadratic triangle */

/* One facet of a body: a segment in 2D, a triangle in 3D (a segment for rods). Oriented so that the
   normal is outward: to the right of a segment, by the right hand for a triangle. */
typedef struct mn_facet {
  uint32_t node[MN_FACET_NODES_MAX]; /* corners, then middles as in simplex_mesh.h */
  uint8_t nodes;                     /* 2, 3 or 6; quadratic segments have 3 */
  uint8_t corners;                   /* 2 or 3 */
  uint8_t two_sided;                 /* fluid on both sides: cloth, shells, curves */
  int32_t body;
} mn_facet;

/* Flat facets between all nodes of one, the middles included: a linear one itself, else 2 segments
   or 4 triangles with its orientation. How many. */
int mn_facet_parts(const mn_facet *facet, mn_facet part[MN_FACET_PARTS_MAX]);

/* A point of the interface. */
typedef struct mn_surface_point {
  uint32_t node[MN_FACET_NODES_MAX];
  double weight[MN_FACET_NODES_MAX];
  int nodes;
  int two_sided;
  int body;
} mn_surface_point;

typedef struct mn_surface_points {
  int dim;
  size_t count, elements;
  mn_surface_point *point;
  uint32_t *element; /* [dim * elements], of points */
  mn_vec3 *area;     /* scratch of gather */
} mn_surface_points;

/* Points and elements on all facets: a point on every node of theirs, middles included, and further
   ones so that where the body is at `x` no segment is longer than `spacing` (m), no side of a
   triangle longer than MN_LONGEST_EDGE times that (surface_mesh.h). Rods in 3D have no surface: no
   points. Destroy with mn_surface_points_destroy. */
MN_MUST_CHECK mn_status mn_surface_points_create(mn_context *ctx, int dim, const mn_facet *facet,
                                                 size_t facets, const mn_vec3 *x, size_t nodes,
                                                 double spacing, mn_surface_points *points);
void mn_surface_points_destroy(mn_surface_points *points);

/* X, V, N, area of entries [first, first + points->count) of an interface. */
void mn_surface_gather(mn_surface_points *points, const mn_vec3 *x, const mn_vec3 *v,
                       mn_interface *interface, size_t first);
/* Adds the loads of those entries to the nodes: force[node] += w load. */
void mn_surface_scatter(const mn_surface_points *points, const mn_interface *interface,
                        size_t first, mn_vec3 *force);

#endif
