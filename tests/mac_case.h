/* A small grid-fluid run for the verification tests: a def, a fluid, and its clock. */
#ifndef MN_TESTS_MAC_CASE_H
#define MN_TESTS_MAC_CASE_H

#include "check.h"
#include "fluid/mac/mac.h"
#include "math/vec.h"

typedef struct mac_case {
  mn_context *ctx;
  mn_model_def def; /* fill it between mac_case_begin and mac_case_start */
  mn_fluid fluid;
  double time;
  int steps;
  mn_solve_report report; /* of the last step */
  double worst_divergence;
} mac_case;

/* A box of the given size with slip walls, no gravity, cells nx across, tight pressure tolerance.
 */
void mac_case_begin(mac_case *c, int dim, mn_vec3 size, int nx);
void mac_case_start(mac_case *c);
/* Steps of dt until `until` (the last one shorter if need be). */
void mac_case_run(mac_case *c, double until, double dt);
/* The same with steps at the CFL limit. */
void mac_case_run_cfl(mac_case *c, double until);
void mac_case_end(mac_case *c);

/* Norms of u_a - exact(x, t) over the faces inside the domain. */
typedef mn_vec3 exact_fn(mn_vec3 x, double t);
void mac_case_error(const mac_case *c, exact_fn *exact, double *l2, double *linf);

#endif
