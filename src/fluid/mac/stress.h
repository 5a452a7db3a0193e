/* The viscous stress of a liquid with a free surface: the quadratic form, and its solver. */
#ifndef MN_FLUID_MAC_STRESS_H
#define MN_FLUID_MAC_STRESS_H

#include "grid/grid.h"
#include "meniscus/box.h"
#include "pressure/stencil.h"

typedef struct mn_mac mn_mac;

/* Work; nothing of it is state. Shears live on the edges along axis c, stored like nodes: point (i,
   j, k) stands half a cell further along c. In 2D c = 2, and edges are the nodes. */
typedef struct mn_stress {
  int on;                 /* the fluid is a viscous liquid */
  mn_field factor;        /* cells: viscosity over fluid.viscosity */
  mn_field mass[3];       /* faces: liquid part of the box about it; 0: not an unknown */
  mn_field normal[3];     /* cells: square root of the weight of D_aa */
  mn_field shear[3][2];   /* edges: the same of both parts of D_ab; (a, b) = mn_stress_axes(c) */
  mn_field normal_now[3]; /* cells, edges: weighted strain rates */
  mn_field shear_now[3];
  mn_field lean[3];                /* faces: acceleration by the pressure that is expected */
  mn_field r[3], z[3], d[3], q[3]; /* vectors of the conjugate gradients */
  mn_stencil block[3];             /* faces: the part of the matrix within a component */
  mn_stencil_solver *solver[3];
  double *partial;        /* sums per slab */
  mn_solve_report report; /* of the last substep: iterations of both stages, the worse residual */
} mn_stress;

/* The two axes across c, ascending. */
static inline void mn_stress_axes(int c, int *a, int *b)
{
  *a = c == 0 ? 1 : 0;
  *b = c == 2 ? 1 : 2;
}

/* stress.c */
/* Weights for gamma dt = `time_scale`: mass, normal, shear and block. */
void mn_stress_assemble(mn_mac *mac, double time_scale);
/* normal_now, shear_now <- what walls and other given velocities add to the strain rates */
void mn_stress_given(mn_mac *mac, double time);

/* stress_solve.c */
MN_MUST_CHECK mn_status mn_stress_create(mn_mac *mac);
void mn_stress_destroy(mn_mac *mac);
/* star <- star after dt of  rho du/dt = div(2 mu D) + rho a;  a [m/s^2] is in gradient. */
MN_MUST_CHECK mn_status mn_stress_diffuse(mn_mac *mac, double dt);

#endif
