/* Elastic bodies: simplices of order 1 or 2 with a hyperelastic material. */
#ifndef MN_SOLID_ELASTIC_H
#define MN_SOLID_ELASTIC_H

#include "geom/simplex_mesh.h"
#include "solid/energy.h"

/* Fills a group from a mesh whose nodes begin at number `first` of the system and adds the lumped
   masses to mass[first + ...]. MN_BAD_INPUT names an element that is flat or inverted at rest. */
MN_MUST_CHECK mn_status mn_elastic_make(mn_context *ctx, const mn_simplex_mesh *mesh,
                                        uint32_t first, const mn_material *material, double density,
                                        const char *name, mn_energy_group *group, double *mass);

/* F at quadrature point q of element e, with the element's nodes at x. */
mn_mat3 mn_elastic_gradient(const mn_energy_group *group, size_t e, int q, const mn_vec3 *x);
/* m^3 (m^2 in 2D): what point q stands for, at rest. */
double mn_elastic_weight(const mn_energy_group *group, size_t e, int q);
int mn_energy_is_elastic(const mn_energy_group *group);

/* eval_eight (energy.h), of linear tetrahedra of a Neo-Hookean material. */
void mn_elastic_eight(const mn_energy_group *g, size_t first, size_t count, const mn_vec3 *x,
                      double *energy, double *gradient, double *hessian, uint8_t *fine);

#endif
