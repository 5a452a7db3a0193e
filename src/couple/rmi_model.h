/* The reduced model of mn_rmi: two low-rank Jacobians and the system that joins them. */
#ifndef MN_COUPLE_RMI_MODEL_H
#define MN_COUPLE_RMI_MODEL_H

#include "couple/rmi_internal.h"

mn_status mn_rmi_model_create(mn_rmi *rmi, mn_rmi_model **model);
void mn_rmi_model_destroy(mn_rmi_model **model);

/* rmi_columns.c */
/* By what p of a column from a substep of this length is multiplied in the running one. */
double mn_rmi_dt_scale(const mn_rmi *rmi, double dt);
/* The oldest column that is still in use. */
int64_t mn_rmi_columns_first(const mn_rmi *rmi, const mn_rmi_pairs *pairs);
/* to <- a - b (b NULL, if there are patches: a) by patches, if there are any */
void mn_rmi_shorten_x(const mn_rmi *rmi, const double *a, const double *b, double *to);
/* A column of the running substep: in - in_base, out - out_base. None if that is rounding. */
void mn_rmi_columns_add(mn_rmi *rmi, mn_rmi_pairs *pairs, const double *in, const double *in_base,
                        const double *out, const double *out_base);
/* Those of both solvers, from the running substep's last solves and its base; p_s is p_f. */
void mn_rmi_columns_add_both(mn_rmi *rmi);
/* Forgets all columns from `count` on; what is forgotten is zeroed, so that equal histories have
   equal bits in a checkpoint. */
void mn_rmi_columns_truncate(mn_rmi *rmi, mn_rmi_pairs *pairs, int64_t count);
/* The substep is accepted: every column is one older; those beyond `reuse` substeps and the oldest
   beyond max_columns are no longer in use, and are forgotten when there are MN_RMI_IDLE_COLUMNS. */
void mn_rmi_columns_age(mn_rmi *rmi);

/* rmi_model.c */
/* What the last step says about the part of it that no column described: its 1 + mu. */
void mn_rmi_model_learn(mn_rmi *rmi);
/* x_f for the next fluid solve, from the pair of solves at the base. */
void mn_rmi_model_next_x(mn_rmi *rmi, mn_rmi_report *report);
/* By how much the model would still change the solid's last answer, the greatest entry; 0 without a
   model. */
double mn_rmi_model_promises(mn_rmi *rmi);
/* p_s for the next solid solve, from the last fluid solve and the solid solve at the base. */
void mn_rmi_model_loads(mn_rmi *rmi, mn_rmi_report *report);

#endif
