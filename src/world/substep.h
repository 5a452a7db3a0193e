/* One try of a substep. */
#ifndef MN_WORLD_SUBSTEP_H
#define MN_WORLD_SUBSTEP_H

#include "world/world.h"

typedef enum mn_outcome {
  MN_STEP_GOOD,
  MN_STEP_AGAIN,   /* the fluid has let go of bodies: the same once more */
  MN_STEP_RETRY,   /* may do with a shorter step */
  MN_STEP_HOPELESS /* never will */
} mn_outcome;

/* From the saved state; dt is this `share` of the step that would do with ease. When it is not
   good, the context says why; *status is what the solver returned, and anything but MN_FAILED is
   not the step's fault. */
mn_outcome mn_world_try(mn_world *world, mn_coupling *coupling, double dt, double share,
                        mn_step_info *info, mn_status *status);

#endif
