/* Couplings of a fluid and a solid of which they see nothing but the black boxes of box.h.

   A substep: the solid says where its surface is, the fluid meets it there, both begin; then
   mn_rmi asks them in turn until the interface moves by less than the tolerance. The fluid's walls
   get the velocity at the end of the substep that belongs to X by the solid's rule (`lead` in
   box.h), so that both are as accurate in time as each of them. With V the mean velocity (X -
   X^n)/dt, f the fluid's loads and m a fictitious mass of each point, the iteration sees the two
   functions

       F(X) = f(X) + m V/dt          S(p): the solid's X under p - m V/dt

   so that m adds to the solid's inertia and is given back by the fluid: whatever m is, both agree
   at the same X and f. Where the added mass m_a of the fluid is greater than the solid's mass m_s,
   plain iteration diverges like mu = m_a/m_s; with m it is (m_a - m)/(m_s + m), below 1 for every
   m_s if m is half of m_a. [Akbay 2018, Algorithms 1 and 3]; the fictitious mass, its fit and the
   reuse of secants are extensions. Verified by tests/unit/couple/test_couple.c.

   Where fluid is enclosed, S also finds its mean pressure (closed.h). */
#ifndef MN_COUPLE_COUPLE_H
#define MN_COUPLE_COUPLE_H

#include "meniscus/box.h"
#include "meniscus/coupling.h"

typedef struct mn_coupling mn_coupling;

typedef struct mn_coupling_report {
  mn_reason reason; /* anything but MN_CONVERGED: not to be committed */
  int iterations;   /* fluid solves */
  int solid_solves;
  int modes;        /* of the reduced model */
  double residual;  /* m, by which the interface moved in the last iteration, never relaxed, */
  double allowed;   /* and by which it may */
  double imbalance; /* N, total force that the solid felt less that of the fluid */
  double mu;        /* greatest amplification seen: added mass over mass */
  int handed_over;  /* 1: contact did not settle in the one system, and xpm finished the substep */
  int hopeless;     /* 1: it failed, and will with every step: closed regions without a solution */
  int refused[2];   /* 1: the fluid, the solid returned an error itself, or broke the sizes */
  mn_solve_report fluid, solid; /* of the last solves; iterations of all of them */
  double fluid_s, solid_s;      /* wall time inside the boxes */
} mn_coupling_report;

/* MN_BAD_INPUT names the key as a scene spells it. */
MN_MUST_CHECK mn_status mn_coupling_check(mn_context *ctx, const mn_coupling_def *def);
const char *mn_coupling_method_name(mn_coupling_method method);

/* Samples the solid's surface, `dx` (m) the width of a fluid cell. The boxes are borrowed and stay
   the caller's. */
MN_MUST_CHECK mn_status mn_coupling_create(mn_context *ctx, const mn_coupling_def *def, int dim,
                                           double dx, mn_fluid fluid, mn_solid solid,
                                           mn_coupling **coupling);
void mn_coupling_destroy(mn_coupling **coupling);

/* s: the time in which rigid bodies may be off by the tolerance, where that is less than in every
   substep; in water that of free fall through a cell. Reduced methods only, not as published. 0:
   none. */
void mn_coupling_set_fall(mn_coupling *coupling, double fall);

/* Lets the fluid meet the bodies where they are, and solves nothing: its own word on a scene, such
   as MN_BAD_INPUT. Restore both afterwards. */
MN_MUST_CHECK mn_status mn_coupling_meet(mn_context *ctx, int dim, double spacing, mn_fluid fluid,
                                         mn_solid solid);

/* Both sides from their committed states to t + dt, up to but without their commits. `share` is the
   part that dt is of the step that would have been taken with ease: the tolerance is meant for
   that, and shrinks with the step, so that a hopeless iteration is not saved by short steps, in
   which nothing moves far. It shrinks as well with steps shorter than the longest so far, so that
   the velocity's error stays what it is in that. MN_OK whatever report->reason is. A box that
   fails, that answers with what is no finite number, or that writes beyond the interface: MN_FAILED
   (or its own MN_ENVIRONMENT) with its name; restore the boxes then, as after a substep that did
   not converge.
 */
MN_MUST_CHECK mn_status mn_coupling_try(mn_coupling *coupling, double t, double dt, double share,
                                        mn_coupling_report *report);
/* After every try one of these: commits both boxes and keeps what was learned, and brings the times
   of the report up to date; or forgets it, after the caller restored the boxes. */
MN_MUST_CHECK mn_status mn_coupling_commit(mn_coupling *coupling, mn_coupling_report *report);
void mn_coupling_reject(mn_coupling *coupling);
/* In place of a commit: `other`, of the same boxes and points, has committed the substep. */
void mn_coupling_adopt(mn_coupling *coupling, const mn_coupling *other);
/* Before a try that is to finish the substep for `other`, of the same boxes and points: the closed
   regions that it knows. And whether the last substep of a coupling was one that it adopted. */
void mn_coupling_help(mn_coupling *coupling, const mn_coupling *other);
int mn_coupling_was_helped(const mn_coupling *coupling);
/* Whether bodies touched in the last try, around closed regions. */
int mn_coupling_touched(const mn_coupling *coupling);

/* Factor on the step that the boxes allow: less than 1 after hard substeps, if def.adapt. Moves
   when a substep is committed that was halved so often (below 0: doubled). */
double mn_coupling_pace(const mn_coupling *coupling);
void mn_coupling_learn_pace(mn_coupling *coupling, int retries, int iterations);
/* Whether substeps crawl: the pace is at its least and they are retried all the same, so many on
   end that the next frame is out of reach. */
int mn_coupling_crawls(const mn_coupling *coupling);

/* Closed regions of the last try, borrowed; from the commit on what they are now. */
const mn_region_info *mn_coupling_regions(const mn_coupling *coupling, int *count);

/* The id of the closed region with the greatest pressure (Pa) at the last commit; 0: there is none.
 */
int mn_coupling_pressed(const mn_coupling *coupling, double *p0);

/* The state of the coupling itself: history of the reduced model, pace, fitted mass, closed
   regions. */
int mn_coupling_arrays(mn_coupling *coupling, mn_array *arrays, int capacity);
/* Residuals (m) of the last try, iteration by iteration; none of a weak coupling. */
const double *mn_coupling_residuals(const mn_coupling *coupling, int *count);
/* The interface as the last try left it or, after a look, as the committed state has it; borrowed.
 */
MN_MUST_CHECK mn_status mn_coupling_look(mn_coupling *coupling);
/* After both boxes got a state from outside: the next step is as long as it would have been. */
MN_MUST_CHECK mn_status mn_coupling_return(mn_coupling *coupling);
const mn_interface *mn_coupling_interface(const mn_coupling *coupling);

#endif
