/* Energies of thin things: springs, membranes, hinges, rods. Each maker fills one group; node
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
  double k, damping;
} mn_anchor;

MN_MUST_CHECK mn_status mn_springs_make(mn_context *ctx, int dim, const mn_spring *spring,
                                        size_t count, mn_energy_group *group);
MN_MUST_CHECK mn_status mn_anchors_make(mn_context *ctx, int dim, const mn_anchor *anchor,
                                        size_t count, mn_energy_group *group);
/* Triangles in 3D; `first` is the number of the mesh's node 0. */
MN_MUST_CHECK mn_status mn_membrane_make(mn_context *ctx, const mn_simplex_mesh *mesh,
                                         uint32_t first, const mn_shell_def *def,
                                         mn_energy_group *group);
MN_MUST_CHECK mn_status mn_hinges_make(mn_context *ctx, const mn_simplex_mesh *mesh, uint32_t first,
                                       const mn_edge *edge, size_t edges, double bending,
                                       mn_energy_group *group);
/* One element per joint of a curve: bend (N m^2). */
MN_MUST_CHECK mn_status mn_rod_joints_make(mn_context *ctx, const mn_simplex_mesh *mesh,
                                           uint32_t first, const mn_joint *joint, size_t joints,
                                           double bend, mn_energy_group *group);

int mn_energy_is_spring(const mn_energy_group *group);
double mn_spring_rest(const mn_energy_group *group, size_t e);      /* m */
double mn_spring_stiffness(const mn_energy_group *group, size_t e); /* N/m */
int mn_energy_is_membrane(const mn_energy_group *group);
mn_mat3 mn_membrane_stress(const mn_energy_group *group, size_t e, const mn_vec3 *x); /* Cauchy */

/* H <- its positive semidefinite part, of a symmetric n x n matrix, n <= 12, by Jacobi rotations.
   Returns the least eigenvalue it had. */
double mn_psd_project(int n, double *H);

#endif
