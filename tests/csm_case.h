/* The elastic bar behind a cylinder of Turek and Hron: 0.35 long and 0.02 high, held on the arc of
   the cylinder of radius 0.05 about (0.2, 0.2), tip at (0.6, 0.2), gravity (0, -2), plane strain.
 */
#ifndef MN_TESTS_CSM_CASE_H
#define MN_TESTS_CSM_CASE_H

#include "solid/deform.h"

typedef struct csm_def {
  int nx, ny, order; /* cells; order of the elements */
  mn_material_kind material;
  double mu;    /* Pa; Poisson's ratio 0.4, density 1000 */
  int straight; /* held on the line x = 0.25 instead */
  mn_scheme scheme;
} csm_def;

/* Ready; tip[0] is its node at (0.6, 0.2). */
mn_deform *csm_make(mn_context *ctx, const csm_def *def, uint32_t *tip);

#endif
