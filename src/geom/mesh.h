/* Closed triangle meshes: read, checked, and searched for their signed distance. */
#ifndef MN_GEOM_MESH_H
#define MN_GEOM_MESH_H

#include "meniscus/base.h"

/* A node of the tree over the triangles; children of node i are i + 1 and `right`. Its triangles
   lie in the box, in the ball around the centre, and between two planes across the axis. */
typedef struct mn_mesh_node {
  mn_vec3 lo, hi;
  mn_vec3 centre; /* area-weighted */
  mn_vec3 axis;   /* unit, along the sum of area times normal; 0 if that is 0 */
  double radius;
  double below, above;   /* axis . (x - centre) of the planes */
  double strength;       /* length of the sum of area times normal */
  uint32_t first, count; /* its triangles */
  uint32_t right;        /* 0: a leaf */
} mn_mesh_node;

typedef struct mn_mesh {
  mn_vec3 *vertex;
  size_t vertices;
  uint32_t (*triangle)[3]; /* counter-clockwise from outside, in the order of the tree's leaves */
  size_t triangles;
  mn_mesh_node *node;
  size_t nodes;
  char *path;        /* the file, and */
  const char *place; /* what `where` counts in it, from 1: "line", "face", "facet" */
  int64_t *where;    /* of each triangle */
} mn_mesh;

/* Reads OBJ, PLY or STL (by the name's ending), checks that the surface is closed, and builds the
   tree. MN_BAD_INPUT names the file, the line or element, what was found and what is allowed. */
MN_MUST_CHECK mn_status mn_mesh_read(mn_context *ctx, const char *path, mn_mesh **mesh);
/* The same from memory; data[bytes] must be 0. The path tells the format and is named in errors. */
MN_MUST_CHECK mn_status mn_mesh_parse(mn_context *ctx, const char *path, const char *data,
                                      size_t bytes, mn_mesh **mesh);
void mn_mesh_destroy(mn_mesh **mesh);
/* MN_BAD_INPUT names two triangles that cross or touch away from common corners. Reading a mesh
   does not call this: overlapping parts have an inside (their union), but no volume of their own.
 */
MN_MUST_CHECK mn_status mn_mesh_check_crossings(mn_context *ctx, const mn_mesh *mesh);

/* Distance to the surface, negative inside. Any number of threads at a time. */
double mn_mesh_distance(const mn_mesh *mesh, mn_vec3 x);
/* Of the triangles within `reach` of x the planes of which are not farther outward from it than
   `most`, the one whose normal is most opposed to `hint`: its normal, and the distance of x from
   its plane. 0 if there is none, or if it is not clearly one. */
int mn_mesh_face(const mn_mesh *mesh, mn_vec3 x, double reach, double most, mn_vec3 hint,
                 mn_vec3 *n, double *d);
/* Greatest u . x over the mesh. */
double mn_mesh_support(const mn_mesh *mesh, mn_vec3 u);

/* The parts of the distance. The winding number of a closed mesh is 1 inside, 0 outside; `exact`
   sums over all triangles. */
double mn_mesh_unsigned_distance(const mn_mesh *mesh, mn_vec3 x);
double mn_mesh_winding(const mn_mesh *mesh, mn_vec3 x);
double mn_mesh_winding_exact(const mn_mesh *mesh, mn_vec3 x);
int mn_mesh_inside(const mn_mesh *mesh, mn_vec3 x);

/* Orders the triangles, and their places in the file, and makes the nodes. */
MN_MUST_CHECK mn_status mn_mesh_build_tree(mn_context *ctx, mn_mesh *mesh);

#endif
