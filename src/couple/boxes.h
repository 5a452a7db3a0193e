/* The two black boxes and the interface between them, with every answer checked: a box may be a
   user's own. What fails names the box. */
#ifndef MN_COUPLE_BOXES_H
#define MN_COUPLE_BOXES_H

#include "meniscus/box.h"

typedef struct mn_boxes {
  mn_context *ctx;
  mn_fluid fluid;
  mn_solid solid;
  mn_interface face;   /* its arrays have one entry more than it says, which must not change */
  mn_interface agreed; /* the same struct, to see whether a box changed it */
  /* since mn_boxes_begin */
  mn_solve_report fluid_report, solid_report; /* of the last solve; iterations of all */
  int fluid_solves, solid_solves;
  double fluid_s, solid_s; /* wall time */
} mn_boxes;

/* Samples the solid's surface with points about `spacing` (m) apart. */
MN_MUST_CHECK mn_status mn_boxes_create(mn_context *ctx, int dim, double spacing, mn_fluid fluid,
                                        mn_solid solid, mn_boxes *boxes);
void mn_boxes_destroy(mn_boxes *boxes);

/* The interface as the solid's committed state has it. */
MN_MUST_CHECK mn_status mn_boxes_look(mn_boxes *boxes);
/* The solid says where its surface is, the fluid meets it there, both begin a substep. */
MN_MUST_CHECK mn_status mn_boxes_begin(mn_boxes *boxes, double t, double dt);
/* One solve. MN_FAILED also if the box did not converge. */
MN_MUST_CHECK mn_status mn_boxes_solve_fluid(mn_boxes *boxes);
MN_MUST_CHECK mn_status mn_boxes_solve_solid(mn_boxes *boxes);
MN_MUST_CHECK mn_status mn_boxes_commit(mn_boxes *boxes);

/* Optional calls: the box must have them; lift does nothing without. */
MN_MUST_CHECK mn_status mn_boxes_enclose(mn_boxes *boxes, mn_enclosed *enclosed);
MN_MUST_CHECK mn_status mn_boxes_lift(mn_boxes *boxes, const double *p0, int count);
MN_MUST_CHECK mn_status mn_boxes_accelerate(mn_boxes *boxes);

#endif
