/* W: from interface points to the faces they close, and its transpose.

     U = W V   velocities of the solid along the faces' axes,
     load += W^T F   forces on the faces along their axes, to the points.

   Two kinds of rows. Points of bodies that deform: normalised weights of a cubic kernel over the
   points of the body that closes the face,  W_fi = w_fi / sum_j w_fj  [Akbay thesis, eq. 4.6].
   Points that are rigid: the rigid motion fitted to all points of the body, at the face's centre.
   The power is the same on both sides, sum_f F U = sum_i load . V. */
#ifndef MN_GRID_TRANSFER_H
#define MN_GRID_TRANSFER_H

#include "grid/immersed.h"

/* Rigid motion fitted to the points of a body: mean velocity v and rate of turning w at the mean
   position, least squares. */
typedef struct mn_rigid_fit {
  size_t points; /* 0: the body is not rigid */
  size_t first;  /* one of them; sums are formed of differences to it, so that rounding does not
                    turn a body that only moves */
  mn_vec3 centre;
  int rank;     /* of the inertia: 3, 1 in 2D; less if the points lie on a line or in one place */
  mn_vec3 line; /* unit, if they lie on a line in 3D */
  double inverse[3][3]; /* of the inertia sum |r|^2 - r r^T */
} mn_rigid_fit;

/* Read, not written, by users. */
typedef struct mn_weights {
  mn_context *ctx;
  double radius; /* m, of the kernel */
  size_t rows, points;
  mn_closed_face *face; /* [rows] */
  mn_vec3 *where;       /* [rows] where the force of a row acts on the solid: sum W x, or the face's
                           centre       for rigid bodies */
  int64_t *start;       /* [rows + 1] entries of a row; none for rigid bodies */
  uint32_t *point;      /* of an entry */
  double *weight;       /* of an entry */
  size_t fallbacks; /* rows without any point in reach, which use the nearest element's weights */
  int bodies;
  mn_rigid_fit *fit; /* [bodies] */
  struct mn_weights_work *work;
} mn_weights;

/* The radius of the kernel in m, about 1 to 2 dx. */
MN_MUST_CHECK mn_status mn_weights_create(mn_context *ctx, double radius, mn_weights **weights);
void mn_weights_destroy(mn_weights **weights);

/* Rows for these faces, which are copied, and for the points where `im` has them now. */
MN_MUST_CHECK mn_status mn_weights_place(mn_weights *w, const mn_immersed *im,
                                         const mn_closed_face *face, size_t count);

/* U[rows] = W V. */
void mn_weights_gather(const mn_weights *w, const mn_vec3 *V, double *U);
/* load[points] += W^T F. One caller at a time. Checks that the points got the forces of the faces,
   and their torque with each force acting at `where`, to rounding; MN_FAILED with a sentence and
   the load untouched if not. */
MN_MUST_CHECK mn_status mn_weights_scatter(const mn_weights *w, const double *F, mn_vec3 *load);
/* value[points] += an amount per row, shared as the weights say (equally over a rigid body): for
   masses. */
void mn_weights_share(const mn_weights *w, const double *amount, double *value);
/* Row of W: its columns 3 point + axis, ascending, and their weights; returns how many there are.
   NULL: only counts. A rigid body's has all its points. */
size_t mn_weights_row(const mn_weights *w, size_t row, int64_t *col, double *value);

#endif
