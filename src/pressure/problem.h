/* The set-ups of mn_pressure_problem, for tests and for bench/peers. */
#ifndef MN_PRESSURE_PROBLEM_H
#define MN_PRESSURE_PROBLEM_H

#include "grid/fractions.h"
#include "grid/grid.h"
#include "meniscus/pressure.h"
#include "pressure/pressure.h"

typedef struct mn_problem_setup {
  mn_grid grid;
  mn_field node_distance, open[3], liquid, b, p; /* p: 0 */
  mn_pressure_geometry geometry;
} mn_problem_setup;

/* The set-up holds addresses of its own members: it must not be moved. */
MN_MUST_CHECK mn_status mn_problem_create(mn_context *ctx, mn_problem problem, int n,
                                          mn_problem_setup *setup);
void mn_problem_destroy(mn_problem_setup *setup);

/* Exact solution of mms-disk. */
double mn_problem_disk_pressure(mn_vec3 x);
mn_vec3 mn_problem_disk_gradient(mn_vec3 x);
mn_vec3 mn_problem_disk_velocity(mn_vec3 x); /* u* */
/* Errors against it: of p up to a constant over the unknowns with their centre in the disk, of grad
   p over the open faces. l1 is the mean of the absolute values. */
void mn_problem_disk_errors_p(const mn_pressure *pressure, const mn_field *p, double *l1,
                              double *linf);
void mn_problem_disk_errors_grad(const mn_field open[3], const mn_field gradient[3], double *l1,
                                 double *linf);

#endif
