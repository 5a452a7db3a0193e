/* The reduced model of mn_rmi: two low-rank Jacobians and the system that joins them. */
#ifndef MN_COUPLE_RMI_MODEL_H
#define MN_COUPLE_RMI_MODEL_H

#include "couple/rmi_internal.h"

mn_status mn_rmi_model_create(mn_rmi *rmi, mn_rmi_model **model);
void mn_rmi_model_destroy(mn_rmi_model **model);

/* By what p of an earlier substep's columns is multiplied in the running one. */
double mn_rmi_dt_scale(const mn_rmi *rmi);
/* A column of the running substep: in - in_old, out - out_old. */
void mn_rmi_model_add(mn_rmi *rmi, mn_rmi_pairs *pairs, const double *in, const double *in_old,
                      const double *out, const double *out_old);
/* x_f for the next fluid solve, from the solves before (x_f_old, p_f_old, p_s_old, x_s_old). */
void mn_rmi_model_next_x(mn_rmi *rmi, mn_rmi_report *report);
/* p_s for the next solid solve, from the last fluid solve and the solid solve before. */
void mn_rmi_model_loads(mn_rmi *rmi, mn_rmi_report *report);

#endif
