/* Fluid and solid as one system: the methods `simultaneous` and `monolithic`.

   Both sides tell their linear operators (operators.h). With v = q (1 + lead)/dt, the velocity of
   the solid's freedoms beyond its iterate, H = W E, B = D H and U the faces' velocity there:

       L p + B v = c - D U                                    volume of the cells
       -B^T p + (K dt/(1 + lead) + H^T (m/dt) H) v
             = r + E^T rest - H^T (m/dt) (U - before)         momentum of the solid

   m is the fluid's mass in the dual cells that bodies share with it: with it what the fluid loses
   the solid gains, to rounding [Robinson-Mosher 2008]. `monolithic` solves this by Newton, until
   the interface moves by less than the tolerance; `simultaneous` once, with the tangent at the
   start of the substep [Chentanez 2006, eq. 3], and as printed (load = "pressure") without m.

   Where walls let go, 0 <= p perp L p + B v - ... >= 0 in their cells, by policy iteration.
   Regions of fluid that bodies close need nothing of their own: p0 is part of p. [theory:
   docs/theory/monolithic.md] Verified by tests/unit/couple/test_monolithic_system.c. */
#ifndef MN_COUPLE_MONOLITHIC_H
#define MN_COUPLE_MONOLITHIC_H

#include "couple/boxes.h"
#include "couple/closed.h"
#include "couple/couple.h"

typedef struct mn_monolithic mn_monolithic;

/* MN_BAD_INPUT for boxes without operators, and solvers that this build has not. */
MN_MUST_CHECK mn_status mn_monolithic_create(mn_context *ctx, const mn_coupling_def *def, double dx,
                                             mn_boxes *boxes, mn_closed *closed,
                                             mn_monolithic **mono);
void mn_monolithic_destroy(mn_monolithic **mono);

/* Both begun, up to their commits. Fills reason, residual
   and imbalance; report->allowed is read. place[points] <- where the fluid met the surface first,
   and leaves it if it is frozen. */
MN_MUST_CHECK mn_status mn_monolithic_step(mn_monolithic *mono, double dt, mn_vec3 *place,
                                           mn_coupling_report *report);
/* After a step that converged and in which bodies touch: the step again, with the solid's own solve
   and what it holds there. *agreed: 0 if that does not end; then both boxes must be asked in turn.
   monolithic_touch.c */
MN_MUST_CHECK mn_status mn_monolithic_touch(mn_monolithic *mono, mn_coupling_report *report,
                                            int *agreed);
/* Before the commit: books closed regions. */
MN_MUST_CHECK mn_status mn_monolithic_finish(mn_monolithic *mono);

int mn_monolithic_solves(const mn_monolithic *mono); /* of linear systems, since the step began */
const double *mn_monolithic_residuals(const mn_monolithic *mono, int *count);

#endif
