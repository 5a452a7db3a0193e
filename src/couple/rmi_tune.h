/* What a coupling that lends fictitious mass tells its mn_rmi besides. */
#ifndef MN_COUPLE_RMI_TUNE_H
#define MN_COUPLE_RMI_TUNE_H

#include "meniscus/rmi.h"

/* Which entries of long vectors belong together: neighbours on a surface, say. */
typedef struct mn_rmi_patches {
  size_t x_count, p_count;
  uint32_t *x_patch, *p_patch; /* [x_size], [p_size]: 0 to count - 1, none empty */
} mn_rmi_patches;

/* mn_rmi_create; inner products are then taken of sums over patches, for which a fraction of the
   memory is read. Secants are exact combinations all the same: what is rougher is which combination
   fits best. For reduced methods with columns newest first and loads of the fluid. Copied. */
MN_MUST_CHECK mn_status mn_rmi_create_patched(mn_context *ctx, const mn_rmi_def *def,
                                              const mn_rmi_patches *patches, mn_rmi **out);

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

/* From the next step on: no more iterations than this, nor than def.max_iterations. */
void mn_rmi_set_patience(mn_rmi *rmi, int iterations);

/* From the next step on: converged only if `judge`, asked last, says so as well; NULL: not asked.
 */
void mn_rmi_set_judge(mn_rmi *rmi, int (*judge)(void *user), void *user);

/* Whether a move of the last substep is known, so that mn_rmi_set_first_move would do nothing. */
int mn_rmi_has_moved(const mn_rmi *rmi);

/* From the next solve on: both solvers write every number and check them for themselves. */
void mn_rmi_set_trusted(mn_rmi *rmi, int trusted);

/* In the first fluid solve of a step: what was learned before it holds no longer. */
void mn_rmi_forget(mn_rmi *rmi);

/* From the next iteration on: def.filter. */
void mn_rmi_set_filter(mn_rmi *rmi, double filter);

#endif
