/* Isotropic hyperelastic materials: energy density, stress and its derivative, all of the
   deformation gradient F. In two dimensions (plane strain) F is the upper left 2 x 2 block of a
   3 x 3 matrix whose third row and column are those of the identity. */
#ifndef MN_SOLID_MATERIAL_H
#define MN_SOLID_MATERIAL_H

#include "math/mat.h"

typedef enum mn_material_kind {
  MN_NEO_HOOKEAN,     /* mu/2 (I1 - 3) - mu ln J + lambda/2 (ln J)^2; needs J > 0 */
  MN_FIXED_COROTATED, /* mu |F - R|^2 + lambda/2 (J - 1)^2; bears inversion */
  MN_ST_VENANT        /* mu |E|^2 + lambda/2 (tr E)^2, E = (F^T F - I)/2; small strains only */
} mn_material_kind;

typedef struct mn_material {
  mn_material_kind kind;
  double mu, lambda; /* Pa, Lame's constants */
} mn_material;

/* From Young's modulus (Pa) and Poisson's ratio, -1 < poisson < 1/2. */
mn_material mn_material_make(mn_material_kind kind, double young, double poisson);

/* psi in J/m^3 and, where not NULL, P = dpsi/dF in Pa. 0 if the material does not bear this F
   (Neo-Hookean with J <= 0, or F not finite); then nothing is written. */
int mn_material_stress(const mn_material *material, int dim, const mn_mat3 *F, double *psi,
                       mn_mat3 *P);

/* dP/dF with rows and columns in the order (0,0), (0,1), ... of a dim x dim F: D[dim^2][dim^2].
   With psd the eigenvalues below 0 are replaced by 0. 0 as above. */
int mn_material_tangent(const mn_material *material, int dim, const mn_mat3 *F, int psd, double *D);

#endif
