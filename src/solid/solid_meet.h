/* Finds where deformable bodies may touch each other: a node of one against a facet of another. */
#ifndef MN_SOLID_SOLID_MEET_H
#define MN_SOLID_SOLID_MEET_H

#include "solid/contact_internal.h"
#include "solid/deform.h"

/* A facet near a node. */
typedef struct mn_meet_near {
  uint32_t facet;
  double distance, weight[3];
  mn_vec3 way; /* m, from the node to the nearest point */
} mn_meet_near;

/* A body over the substep. */
typedef struct mn_meet_body {
  mn_vec3 u;        /* m/s, mean of its surface nodes */
  double spread;    /* m/s, the most that one differs from it */
  double facet;     /* m, longest side of a facet */
  double reach;     /* m, how far its nodes look; 0: there is nothing near */
  uint32_t surface; /* nodes */
  int one_sided;
} mn_meet_body;

/* An edge of the surface, with the corners across it; UINT32_MAX: none. */
typedef struct mn_meet_edge {
  uint32_t node[2], across[2];
  int turn[2]; /* 1: with its corner across, the edge's nodes are in the facet's order; else -1 */
  int body, two_sided;
} mn_meet_edge;

/* Scratch. */
typedef struct mn_meet {
  mn_context *ctx;
  mn_boxgrid facets, bodies;
  mn_vec3 *facet_lo, *facet_hi, *body_lo, *body_hi;
  mn_meet_body *body;
  int32_t *node_body; /* of surface nodes that collide; -1: others */
  uint32_t *found;
  mn_meet_near *near;
  mn_meet_edge *edge; /* 3D */
  size_t edges;
  mn_boxgrid edge_grid;
  mn_vec3 *edge_lo, *edge_hi;
  uint32_t *edge_found;
} mn_meet;

MN_MUST_CHECK mn_status mn_meet_create(mn_meet *meet, mn_context *ctx, const mn_deform_view *view,
                                       const mn_facet *facet, size_t facets);
void mn_meet_destroy(mn_meet *meet);

/* Appends touches with a = -1, n from the node to the facet, weights 1 and minus those of the
   facet; keys (first_key + node, first_key + nodes + body, rank), rising. nodes->v: velocities of
   the path at hand; free: of that without contact. */
MN_MUST_CHECK mn_status mn_meet_find(mn_meet *meet, const mn_deform_view *view,
                                     const mn_contact_nodes *nodes, const mn_vec3 *free,
                                     const mn_contact_def *def, int64_t first_key, double dt,
                                     mn_touches *touches);

/* solid_meet_edge.c: edges across edges, appended with keys (first_key + nodes + edge, first_key +
   nodes + body, edge). */
MN_MUST_CHECK mn_status mn_meet_edges_create(mn_meet *meet, int dim, const mn_facet *facet,
                                             size_t facets);
void mn_meet_edges_destroy(mn_meet *meet);
MN_MUST_CHECK mn_status mn_meet_find_edges(mn_meet *meet, const mn_contact_nodes *nodes,
                                           const mn_contact_def *def, int64_t first_key, double dt,
                                           mn_touches *touches);

#endif
