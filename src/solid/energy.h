/* Everything elastic is an energy on few nodes. A group is a list of alike elements: one table of
   operations, one set of numbers per element. The assembler (assemble.h) knows nothing else. */
#ifndef MN_SOLID_ENERGY_H
#define MN_SOLID_ENERGY_H

#include "solid/material.h"

enum { MN_ENERGY_NODES_MAX = 12, MN_ENERGY_DOF_MAX = 36, MN_ENERGY_LANES = 8 };

typedef struct mn_energy_group mn_energy_group;

typedef struct mn_energy_ops {
  const char *name; /* of one element, for messages: "tetrahedron", "spring" */
  /* Energy of element e with its nodes at x[nodes] in J; where not NULL its gradient
     [nodes * dim] and Hessian [nodes * dim]^2, by nodes, then axes. With psd the Hessian is
     replaced by a near one without negative eigenvalues. 0: inverted, nothing is defined. */
  int (*eval)(const mn_energy_group *group, size_t e, const mn_vec3 *x, int psd, double *energy,
              double *gradient, double *hessian);
  /* Viscous part of the damping matrix in kg/s, symmetric positive semidefinite; NULL: none. */
  void (*damping)(const mn_energy_group *group, size_t e, const mn_vec3 *x, double *matrix);
} mn_energy_ops;

struct mn_energy_group {
  const mn_energy_ops *ops;
  int dim, nodes; /* of space; of an element */
  int body;       /* whose it is */
  size_t count;
  uint32_t *node; /* [count][nodes] */
  double *data;   /* [count][stride]: what an element must know, filled by its maker */
  int stride;
  int points;           /* quadrature points of an element */
  mn_material material; /* of those that have one */
  double beta;          /* s: this group damps with beta K */
  /* The same as ops->eval without psd, bit by bit, of elements first to first + count <=
     MN_ENERGY_LANES at once; x: of all nodes; one after the other in energy and gradient, each NULL
     if it is not wanted, and so hessian, of which entry (r, c), r >= c, of the k-th is at (r n + c)
     MN_ENERGY_LANES + k, n = nodes dim; fine: what eval returns. NULL: these are done one by one.
   */
  void (*eval_eight)(const mn_energy_group *group, size_t first, size_t count, const mn_vec3 *x,
                     double *energy, double *gradient, double *hessian, uint8_t *fine);
};

/* Forces that conserve both momenta and do the work E(x1) - E(x0) over a step from x0 to x1
   (mean_gradient.c). gradient[nodes * dim]; 0: inverted at an end or between. */
int mn_energy_mean_gradient(const mn_energy_group *group, size_t e, const mn_vec3 *x0,
                            const mn_vec3 *x1, double *gradient);
/* Where its gradient is taken: the middle of the two ends, each turned back by half the rotation;
   about the element's centre. */
void mn_energy_middle(const mn_energy_group *group, const mn_vec3 *x0, const mn_vec3 *x1,
                      mn_vec3 *middle);

#endif
