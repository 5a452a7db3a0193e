/* What a coupling that lends fictitious mass tells its mn_rmi besides. */
#ifndef MN_COUPLE_RMI_TUNE_H
#define MN_COUPLE_RMI_TUNE_H

#include "meniscus/rmi.h"

/* Between steps: p will be what it was plus rate (x - x_start), `rate` [x_size] for the dt of the
   last accepted step; of both solvers, as when a fictitious mass changes. x_size and p_size must be
   equal. The columns follow exactly. */
void mn_rmi_shift_loads(mn_rmi *rmi, const double *rate);

/* From the next iteration on, reduced: the factor on what no column describes in the first step of
   a substep; 0: as the def has it. */
void mn_rmi_set_first_omega(mn_rmi *rmi, double omega);

/* From the next step on, reduced: 1: a step that no column led is followed by another, however
   small the residual. */
void mn_rmi_set_wary(mn_rmi *rmi, int wary);

/* From the next step on, reduced, columns newest first: converged only if the model, too, would
   change the solid's answer by no more than this many tolerances; 0: not asked. */
void mn_rmi_set_promise(mn_rmi *rmi, double tolerances);

/* In the first fluid solve of a step: what was learned before it holds no longer. */
void mn_rmi_forget(mn_rmi *rmi);

/* From the next iteration on: def.filter. */
void mn_rmi_set_filter(mn_rmi *rmi, double filter);

#endif
