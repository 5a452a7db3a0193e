/* From the scene to the picture: a plane seen straight on, or a pinhole camera. */
#ifndef MN_IO_CAMERA_H
#define MN_IO_CAMERA_H

#include "math/vec.h"

typedef struct mn_camera {
  int flat; /* 1: px = cx + scale x, py = cy - scale y; else with x, y of the camera over depth */
  mn_vec3 eye, right, up, forward;
  double scale, cx, cy;
} mn_camera;

/* Depth along `forward`, m; 1 for a plane. */
static inline double mn_camera_project(const mn_camera *c, mn_vec3 x, double *px, double *py)
{
  mn_vec3 d = mn_sub(x, c->eye);
  double z = c->flat ? 1 : mn_dot(d, c->forward);
  *px = c->cx + c->scale * (c->flat ? x.x : mn_dot(d, c->right) / z);
  *py = c->cy - c->scale * (c->flat ? x.y : mn_dot(d, c->up) / z);
  return z;
}

#endif
