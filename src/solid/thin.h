/* Energies of thin things: springs, membranes, plates, rods. Each maker fills one group; node
   numbers are those of the system. */
#ifndef MN_SOLID_THIN_H
#define MN_SOLID_THIN_H

#include "solid/deform.h"
#include "solid/energy.h"
#include "solid/topology.h"

typedef struct mn_spring {
  uint32_t a, b;
  double length, k, damping; /* m, N/m, kg/s */
} mn_spring;

typedef struct mn_anchor {
  uint32_t node;
  mn_vec3 point;
  double k, damping, length; /* N/m, kg/s, m */
} mn_anchor;

MN_MUST_CHECK mn_status mn_springs_make(mn_context *ctx, int dim, const mn_spring *spring,
                                        size_t count, mn_energy_group *group);
MN_MUST_CHECK mn_status mn_anchors_make(mn_context *ctx, int dim, const mn_anchor *anchor,
                                        size_t count, mn_energy_group *group);
/* Triangles in 3D; `first` is the number of the mesh's node 0. */
MN_MUST_CHECK mn_status mn_membrane_make(mn_context *ctx, const mn_simplex_mesh *mesh,
                                         uint32_t first, const mn_shell_def *def,
                                         mn_energy_group *group);
typedef struct mn_plate {
  const char *name;
  double bending, poisson; /* N m, 1 */
} mn_plate;

/* The bending of triangles; complete after mn_plate_clamp. */
MN_MUST_CHECK mn_status mn_plate_make(mn_context *ctx, const mn_simplex_mesh *mesh, uint32_t first,
                                      const mn_edge *edge, size_t edges, const mn_plate *plate,
                                      mn_energy_group *group);
/* Sets the stiffness, knowing the nodes of the system at rest and which are fixed (MN_FIX_...):
   triangles and segments that cannot bend leave the angle at a clamp to their neighbours. */
void mn_plate_clamp(mn_energy_group *group, const mn_vec3 *rest, const uint8_t *fixed);
void mn_rod_clamp(mn_energy_group *group, const mn_vec3 *rest, const uint8_t *fixed);
int mn_energy_is_plate(const mn_energy_group *group);
int mn_energy_is_joint(const mn_energy_group *group);
/* One element per joint of a curve: bend (N m^2). */
MN_MUST_CHECK mn_status mn_rod_joints_make(mn_context *ctx, const mn_simplex_mesh *mesh,
                                           uint32_t first, const mn_joint *joint, size_t joints,
                                           double bend, mn_energy_group *group);

enum { MN_SPRING_LENGTH, MN_SPRING_STIFFNESS, MN_SPRING_VISCOSITY, MN_SPRING_STRIDE }; /* data */
int mn_energy_is_spring(const mn_energy_group *group);
/* eval_eight (energy.h) of springs in space. */
void mn_springs_eight(const mn_energy_group *group, size_t first, size_t count, const mn_vec3 *x,
                      double *energy, double *gradient, double *hessian, uint8_t *fine);
double mn_spring_rest(const mn_energy_group *group, size_t e);      /* m */
double mn_spring_stiffness(const mn_energy_group *group, size_t e); /* N/m */
int mn_energy_is_membrane(const mn_energy_group *group);
mn_mat3 mn_membrane_stress(const mn_energy_group *group, size_t e, const mn_vec3 *x); /* Cauchy */

/* H <- its positive semidefinite part, of a symmetric n x n matrix, n <= 12, by Jacobi rotations.
   Returns the least eigenvalue it had. */
double mn_psd_project(int n, double *H);

#endif
