/* A preconditioner of the pressure system with some closed faces opened: of those that bodies
   close, which give way. */
#ifndef MN_PRESSURE_OPENED_H
#define MN_PRESSURE_OPENED_H

#include "pressure/mgpcg.h"
#include "pressure/unknowns.h"

/* A face that is opened. */
typedef struct mn_opened_face {
  int32_t entry[2]; /* of the cells below and above it in mn_unknowns.cell; -1: x is 0 there */
  int axis;
} mn_opened_face;

/* The row of an irregular cell. */
typedef struct mn_opened_cell {
  double c[6], excess;
  double anchor;  /* how strongly it is bound to a fixed value, through other cells too */
  int32_t beside; /* its place in the lists of cells beside faces, -1: none */
} mn_opened_cell;

typedef struct mn_opened {
  const mn_unknowns *unknowns; /* borrowed, as is the next */
  const mn_opened_face *face;
  size_t faces;
  const double *coefficient; /* [faces] */
  mn_opened_cell *cell;      /* as mn_unknowns.cell */
  const uint8_t *held;       /* borrowed during a set-up */
  int32_t *held_number;      /* [mgpcg.mg.bounds] of unknowns */
  int exponent;              /* of 2: the size of vectors of late */
  int links;                 /* 1: some opened faces are links to a fixed value */
  int twice;                 /* 1: apply visits the first coarse level twice; a test's control */
  int hard;                  /* 1: links count like faces on coarse levels; another one */
  mn_mgpcg mgpcg;
  /* cells beside faces, for mn_opened_solve: */
  int beside;
  struct mn_mg_place *place; /* [beside] */
  float *value;
  int32_t *number; /* [beside] */
  int dropped;     /* of these are held: */
  int32_t *drop;
  int32_t (*index)[2]; /* [faces] below and above among these, -1: none */
  double *F, *U;       /* [faces] */
  double *sum;         /* [beside] */
  double *r;           /* [unknowns] */
  mn_buffer buffer[11];
} mn_opened;

/* What answers to forces on the faces, F = area (x_below - x_above): velocities U = G F, G
   symmetric, positive semidefinite. */
typedef struct mn_opened_answer {
  mn_row_answer *answer;
  mn_row_answer *whole;  /* for true residuals; NULL: answer */
  mn_row_follow *follow; /* NULL: none */
  void *user;
  const double *area; /* [faces] */
} mn_opened_answer;

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
/* x of (factor A + D G D^T) x = b, from x, to ||residual||_inf <= tolerance; held ones stay 0. The
   closer the coefficients of the set-up are to G, times area^2 / factor, the sooner. MN_OK whatever
   the reason. */
MN_MUST_CHECK mn_status mn_opened_solve(mn_context *ctx, mn_opened *o, double factor,
                                        const mn_opened_answer *G, const double *b,
                                        double tolerance, int max_iterations, double *x,
                                        mn_solve_report *report);

#endif
