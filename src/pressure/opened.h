/* A preconditioner of the pressure system with some closed faces opened: of those that bodies
   close, which give way. */
#ifndef MN_PRESSURE_OPENED_H
#define MN_PRESSURE_OPENED_H

#include "pressure/multigrid.h"
#include "pressure/unknowns.h"

/* A face that is opened. */
typedef struct mn_opened_face {
  int32_t entry[2]; /* of the cells below and above it in mn_unknowns.cell; -1: x is 0 there */
  int axis;
} mn_opened_face;

/* The row of an irregular cell. */
typedef struct mn_opened_cell {
  double c[6], excess;
} mn_opened_cell;

typedef struct mn_opened {
  const mn_unknowns *unknowns; /* borrowed */
  mn_opened_cell *cell;        /* as mn_unknowns.cell */
  const uint8_t *held;         /* borrowed during a set-up */
  mn_multigrid mg;
  mn_buffer buffer;
} mn_opened;

void mn_opened_free(mn_opened *o);
/* Makes ready for  A + sum over faces of coefficient (x_below - x_above)^2,  A divided by its
   scale, without the unknowns that are held (NULL: none); these must be irregular cells. The
   system's regions must be those that were listed. */
MN_MUST_CHECK mn_status mn_opened_setup(mn_context *ctx, mn_opened *o, const mn_system *system,
                                        const mn_unknowns *unknowns, const mn_opened_face *face,
                                        const double *coefficient, size_t faces,
                                        const uint8_t *held);
/* z = factor M y, M symmetric and positive, near the inverse; 0 at held ones. */
void mn_opened_apply(mn_opened *o, double factor, const double *y, double *z);

#endif
