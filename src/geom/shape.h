/* The inside of a shape. */
#ifndef MN_GEOM_SHAPE_H
#define MN_GEOM_SHAPE_H

#include "geom/mesh.h"
#include "meniscus/shape.h"

typedef enum mn_shape_kind {
  MN_SHAPE_BOX,
  MN_SHAPE_SPHERE,
  MN_SHAPE_HALF_SPACE,
  MN_SHAPE_CAPSULE,
  MN_SHAPE_TORUS,
  MN_SHAPE_CYLINDER,
  MN_SHAPE_MESH,
  MN_SHAPE_UNION,
  MN_SHAPE_INTERSECTION,
  MN_SHAPE_DIFFERENCE,
  MN_SHAPE_TRANSFORM
} mn_shape_kind;

struct mn_shape {
  mn_shape_kind kind;
  int dim;
  int depth;   /* of the composition, itself included: bounds the recursion */
  mn_vec3 a;   /* box: centre; sphere, torus: centre; half-space: point; capsule, cylinder: one end;
                  transform: translation */
  mn_vec3 b;   /* box: half sizes; half-space: unit normal; capsule, cylinder: b - a; torus: unit
                  axis;   transform: unit axis */
  double r, R; /* r: radius, torus: minor, cylinder: inner, transform: scale; R: torus: major,
                  cylinder: radius */
  mn_vec3 row[3]; /* transform: rotation matrix */
  mn_mesh *mesh;
  mn_shape **part; /* owned */
  int count;
  double size; /* composition: its parts are so large, and so far from the origin */
};

/* Whether pieces are put together, or cut out together, anywhere in it: they may have faces in
   common. */
int mn_shape_is_pieced(const mn_shape *shape);

#endif
