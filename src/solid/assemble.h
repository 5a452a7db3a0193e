/* Sums of energies over all elements: total, gradient and matrices with one fixed pattern. The bits
   do not depend on the number of threads: elements are evaluated in batches, in parallel, and added
   in their order to rows that each belong to one thread. */
#ifndef MN_SOLID_ASSEMBLE_H
#define MN_SOLID_ASSEMBLE_H

#include "la/csr.h"
#include "solid/energy.h"

typedef struct mn_assembly {
  const mn_exec *exec;
  int dim, groups;
  size_t nodes;
  const mn_energy_group *group;
  mn_csr pattern;   /* [nodes dim]^2; its values are the caller's to use */
  int64_t *row;     /* [nodes + 1]: blocks of the nodes before */
  int64_t *block;   /* columns of blocks, as nodes, ascending */
  uint32_t **place; /* [groups][count][nodes^2]: which block of row a is column b */
  double *energy, *gradient, *matrix; /* of a batch */
  uint8_t *fine;
} mn_assembly;

MN_MUST_CHECK mn_status mn_assembly_create(mn_context *ctx, const mn_exec *exec, int dim,
                                           size_t nodes, const mn_energy_group *group, int groups,
                                           mn_assembly *assembly);
void mn_assembly_destroy(mn_assembly *assembly);

/* The element at which an evaluation failed. */
typedef struct mn_inverted {
  int group;
  size_t element;
} mn_inverted;

/* E(x) and, where not NULL, dE/dx [nodes dim]. Groups of one body, or of all with body < 0. 0: an
   element is inverted (the first is named). */
int mn_assembly_energy(mn_assembly *assembly, const mn_vec3 *x, int body, double *energy,
                       double *gradient, mn_inverted *inverted);
/* The sum of mean gradients over a step from x0 to x1 (energy.h). Same result. */
int mn_assembly_mean_gradient(mn_assembly *assembly, const mn_vec3 *x0, const mn_vec3 *x1,
                              double *gradient, mn_inverted *inverted);
/* value += sum of the Hessians, each group's times 1 (weigh_beta = 0) or its beta. Same result. */
int mn_assembly_hessian(mn_assembly *assembly, const mn_vec3 *x, int psd, int weigh_beta,
                        double *value, mn_inverted *inverted);
/* value += sum of the Hessians at the middles of the step from x0 to x1: about twice the derivative
   of the mean gradient by x1. Same result. */
int mn_assembly_mean_hessian(mn_assembly *assembly, const mn_vec3 *x0, const mn_vec3 *x1, int psd,
                             double *value, mn_inverted *inverted);
/* value += the viscous parts of all groups. */
void mn_assembly_damping(mn_assembly *assembly, const mn_vec3 *x, double *value);

/* Where entry (dim node + i, dim node + i) is. */
int64_t mn_assembly_diagonal(const mn_assembly *assembly, size_t node, int i);
/* Whether two nodes share an element. */
int mn_assembly_shares(const mn_assembly *assembly, size_t node, size_t other);
/* Where entry (dim node + i, dim other + j) is; the two nodes share an element. */
int64_t mn_assembly_entry(const mn_assembly *assembly, size_t node, int i, size_t other, int j);

#endif
