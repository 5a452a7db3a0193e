/* The angle of a hinge: two triangles that share an edge. */
#ifndef MN_SOLID_HINGE_H
#define MN_SOLID_HINGE_H

#include "math/mat.h"
#include "math/vec.h"

/* One wing: n = side e x w (side 1 for a, -1 for b), g = dtheta/dw = -|e| n/|n|^2. */
typedef struct mn_wing {
  mn_vec3 n, g;
  double s; /* where w's foot is on the edge, of |e| */
} mn_wing;

/* A hinge in its differences from its first node: the edge e and the wings. */
typedef struct mn_hinge {
  mn_vec3 e, at[2];
  mn_wing w[2];
  double angle;
} mn_hinge;

/* node: the edge's from and to, the corners on its left and right; of x. 0: a triangle without area
   has no normal. */
int mn_hinge_make(const mn_vec3 *x, const int node[4], mn_hinge *hinge);
/* dtheta of the four nodes */
void mn_hinge_gradient(const mn_hinge *hinge, mn_vec3 g[4]);
/* Second derivatives of theta in (e, a, b), [9][9]. */
void mn_hinge_hessian(const mn_hinge *hinge, double *H);

#endif
