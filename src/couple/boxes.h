/* The two black boxes and the interface between them, with every answer checked: a box may be a
   user's own. What fails names the box. */
#ifndef MN_COUPLE_BOXES_H
#define MN_COUPLE_BOXES_H

#include "la/csr.h"
#include "meniscus/box.h"
#include "meniscus/operators.h"

typedef struct mn_weighing mn_weighing; /* boxes_light.c */

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
  mn_weighing *weighing;   /* NULL until bodies are weighed */
  int refused[2]; /* 1: the fluid, the solid returned an error itself, or broke the sizes */
} mn_boxes;

/* Samples the solid's surface with points about `spacing` (m) apart. */
MN_MUST_CHECK mn_status mn_boxes_create(mn_context *ctx, int dim, double spacing, mn_fluid fluid,
                                        mn_solid solid, mn_boxes *boxes);
void mn_boxes_destroy(mn_boxes *boxes);

/* The interface as the solid's committed state has it. */
MN_MUST_CHECK mn_status mn_boxes_look(mn_boxes *boxes);
/* Both have got back a state from outside: the fluid meets the solid in it. */
MN_MUST_CHECK mn_status mn_boxes_return(mn_boxes *boxes);
/* The solid says where its surface is, the fluid meets it there, both begin a substep. */
MN_MUST_CHECK mn_status mn_boxes_begin(mn_boxes *boxes, double t, double dt);
/* One solve. MN_FAILED also if the box did not converge. */
MN_MUST_CHECK mn_status mn_boxes_solve_fluid(mn_boxes *boxes);
MN_MUST_CHECK mn_status mn_boxes_solve_solid(mn_boxes *boxes);
MN_MUST_CHECK mn_status mn_boxes_commit(mn_boxes *boxes);

/* Optional calls: the box must have them; lift does nothing without. */
MN_MUST_CHECK mn_status mn_boxes_enclose(mn_boxes *boxes, mn_enclosed *enclosed);
MN_MUST_CHECK mn_status mn_boxes_lacking(mn_boxes *boxes, mn_vec3 *mass, int *any);
/* Whether bodies weigh too little for `mass` [points] as that call has it (boxes_light.c). soft: of
   those that bend and lead alone. Loads and V of the interface are lost, if the solid can
   accelerate. */
MN_MUST_CHECK mn_status mn_boxes_weigh(mn_boxes *boxes, const mn_vec3 *mass, double dt, int soft,
                                       int *light);
void mn_weighing_destroy(mn_weighing **weighing);
/* Some point is of a body that bends, with a velocity of its own at the end (lead > 0). */
int mn_boxes_any_soft(const mn_boxes *boxes);
MN_MUST_CHECK mn_status mn_boxes_lift(mn_boxes *boxes, const double *p0, int count);
MN_MUST_CHECK mn_status mn_boxes_accelerate(mn_boxes *boxes);
MN_MUST_CHECK mn_status mn_boxes_settle(mn_boxes *boxes);

/* ---- boxes_operators.c: the wider table ----------------------------------------------------- */

/* MN_BAD_INPUT names the box that has none, and what couples it. */
MN_MUST_CHECK mn_status mn_boxes_need_operators(const mn_boxes *boxes, const char *method);
/* As operators.h says, on the interface. */
MN_MUST_CHECK mn_status mn_boxes_assemble(mn_boxes *boxes, mn_fluid_linear *linear);
MN_MUST_CHECK mn_status mn_boxes_start(mn_boxes *boxes);
/* Where the fluid meets bodies in frozen substeps, whatever couples them: place[points] (m) <- X +
   dt V, for rigid bodies as they turn, since a surface that is stretched would be wrong. The
   interface as the solid looks at the start; left as `start` leaves it, if the solid tells
   operators. */
MN_MUST_CHECK mn_status mn_boxes_expect(mn_boxes *boxes, double dt, mn_vec3 *place);
MN_MUST_CHECK mn_status mn_boxes_linearise(mn_boxes *boxes, mn_solid_linear *linear);
MN_MUST_CHECK mn_status mn_boxes_advance(mn_boxes *boxes, const double *q, double step,
                                         double *taken);
/* m, in dt: see mn_solid_operators.missed */
double mn_boxes_missed(mn_boxes *boxes, double dt);
MN_MUST_CHECK mn_status mn_boxes_touches(mn_boxes *boxes, int *any);
/* body[row] >= 0: the row of a rigid body, left out; NULL: none is. */
MN_MUST_CHECK mn_status mn_boxes_weights(mn_boxes *boxes, mn_sparse_matrix *W,
                                         const int32_t **body);
MN_MUST_CHECK mn_status mn_boxes_matrix(mn_boxes *boxes, mn_sparse_matrix *L);
MN_MUST_CHECK mn_status mn_boxes_scatter(mn_boxes *boxes, const double *F, mn_vec3 *load);
MN_MUST_CHECK mn_status mn_boxes_prepare(mn_boxes *boxes, const double *open, const uint8_t *held);
int mn_boxes_has_conjugate(const mn_boxes *boxes);
MN_MUST_CHECK mn_status mn_boxes_conjugate(mn_boxes *boxes, mn_row_answer *answer,
                                           mn_row_answer *whole, mn_row_follow *follow, void *user,
                                           const double *b, double tolerance, int max_iterations,
                                           double *p, mn_solve_report *report);
void mn_boxes_gather(mn_boxes *boxes, double *U);
void mn_boxes_gather_of(mn_boxes *boxes, const mn_vec3 *V, double *U);
void mn_boxes_apply(mn_boxes *boxes, const double *p, double *y);
void mn_boxes_precondition(mn_boxes *boxes, const double *y, double *z);
/* The fluid's answer with these pressures; counts as its solve. */
MN_MUST_CHECK mn_status mn_boxes_adopt(mn_boxes *boxes, const double *p);

/* For files of this module: after every call of a box that sees the interface, whatever it
   returned; and whether what it answered is finite. */
MN_MUST_CHECK mn_status mn_boxes_judge(mn_boxes *boxes, int solid, mn_status status);
MN_MUST_CHECK mn_status mn_boxes_check_fluid(mn_boxes *boxes);
MN_MUST_CHECK mn_status mn_boxes_check_solid(mn_boxes *boxes);

static inline mn_csr mn_csr_view(const mn_sparse_matrix *m) /* only read */
{
  return (mn_csr){m->rows, m->cols, (int64_t *)m->start, (int64_t *)m->col, (double *)m->value};
}

#endif
