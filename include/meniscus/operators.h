/* What a coupling that solves fluid and solid as one system asks of them beyond the black boxes:
   their linear operators. Boxes without them (mn_fluid_ops.operators, mn_solid_ops.operators NULL)
   can be coupled by iteration only.

   The fluid. Rows are the faces that feel bodies; U[rows] = W V their velocity along the face's
   axis, D the outflow through what bodies close of a cell's faces, +area for the cell below a face
   and -area for the one above. With p the pressures of the cells that are sought:

       L p + D U = c                      volume, m^3/s (m^2/s in 2D); L symmetric, semidefinite
       F = D^T p - (mass/dt) (U - before)      force on the bodies along the axis
       load = W^T F + rest                of the points

   The solid. q are its freedoms, as changes from the iterate; K is symmetric and, but for what its
   author says, positive definite:

       K q = r + E^T load,    X = X of the iterate + E q,    V = V of the iterate + (1 + lead)/dt E
   q

   so that   | L    D W (1 + lead)/dt E   | |p|   | c - D U of the iterate |
             | .    K + mass, ...         | |q| = | r + ...                |   is one system. */
#ifndef MENISCUS_OPERATORS_H
#define MENISCUS_OPERATORS_H

#include "meniscus/box.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A sparse matrix by compressed rows, columns ascending; of symmetric ones both triangles. */
typedef struct mn_sparse_matrix {
  int64_t rows, cols;
  const int64_t *start; /* [rows + 1] */
  const int64_t *col;
  const double *value;
} mn_sparse_matrix;

/* Arrays are the fluid's, borrowed until its next call of assemble or begin. */
typedef struct mn_fluid_linear {
  int positive; /* in; 1: no mass may be below 0, from here on to the end of the substep. The call
                   that first says so does not move the surfaces */
  size_t cells, rows;
  const int32_t *cell;  /* [2 rows]: the pressures below and above a face; -1: none is sought there,
                           it is 0 */
  const double *area;   /* [rows] m^2 (m), closed by bodies */
  const double *mass;   /* [rows] kg, of fluid that moves with the body; may be below 0 */
  const double *wall;   /* [rows] by how much of its breath a closed region moves the face (0 to 1),
                           so that cells which are all but solid get as little as they have walls;
                           NULL: all */
  const double *before; /* [rows] m/s, its velocity before the substep's pressure */
  const double *c;      /* [cells] */
  const mn_vec3 *rest;  /* [points] N, loads that depend on no unknown */
  const uint8_t *bound; /* [cells] 1: 0 <= p perp L p + D U - c >= 0 in place of equality; NULL:
                           none */
  const double *p;      /* [cells] a guess */
  const int32_t *region; /* [cells] number of the closed region that the cell is of, as `enclose`
                            counts them, -1: of none. L does not see a constant there; it is for the
                            bodies around it to tell. NULL: nothing is closed */
  const double *volume;  /* [cells] m^3 of fluid, for means over regions; NULL if region is */
  double tolerance;      /* m^3/s: what may be left of c - L p - D U in a cell, */
  double relative;       /* or of the largest of them at p = 0, what is more */
  double surfaces_s; /* of the processor: what of `assemble` it took to find where surfaces are */
} mn_fluid_linear;

/* U = G F: velocities of faces by forces on them; G symmetric, positive semidefinite. */
typedef mn_status mn_row_answer(void *user, const double *F, double *U);
/* The pressures went by `step` along a direction: that which was asked about last, and `keep` of
   the direction before. */
typedef void mn_row_follow(void *user, double keep, double step);

typedef struct mn_fluid_operators {
  /* After begin: takes the surfaces as `solve` would (only X matters, and with `frozen` only that
     of the substep's first call), without solving. */
  mn_status (*assemble)(void *self, const mn_interface *interface, mn_fluid_linear *linear);
  void (*gather)(void *self, const mn_vec3 *V, double *U);          /* U = W V */
  mn_status (*scatter)(void *self, const double *F, mn_vec3 *load); /* load = W^T F */
  /* W as a matrix [rows x 3 points], entry 3 i + axis, for direct solvers. */
  mn_status (*weights)(void *self, mn_sparse_matrix *W);
  /* The same, but for the rows of bodies that move as one, which have all points of the body: these
     are empty, and body[row] is its number in the interface; -1 for other rows. `gather` tells them
     at less cost. Columns of a row in any order, each once. May be NULL: then `weights` is asked.
   */
  mn_status (*loose_weights)(void *self, mn_sparse_matrix *W, const int32_t **body);
  void (*apply)(void *self, const double *p, double *y); /* y = L p */
  mn_status (*matrix)(void *self, mn_sparse_matrix *L);  /* for direct solvers */
  /* z = M y, M symmetric and positive definite, near the inverse of L + D diag(open) D^T, of which
     cells with held[cell] != 0 are left out (z = 0 there); made ready by `prepare`. open[rows] is
     m^2/(kg/s) without the areas: velocity of a face per force on it; NULL: 0. Only cells with a
     bound can be held; held NULL: none. */
  mn_status (*prepare)(void *self, const double *open, const uint8_t *held);
  void (*precondition)(void *self, const double *y, double *z);
  /* p of (L + D G D^T) p = b, from p, to a residual of at most `tolerance` in every cell, by
     conjugate gradients with this preconditioner (`open` of `prepare` near the diagonal of G; held
     cells stay 0): the positive definite form of the coupled system, at the cost of an ordinary
     pressure solve and one answer an iteration. `answer` may be rough, if `whole` is not: that is
     asked for U under all of F = D^T p where a true residual b - L p - D U is formed, now and then
     (NULL: answer does). After each answer `follow` is told what became of it, so that who answers
     can sum up answers as pressures are (NULL: need not be). Fills reason, iterations, residual.
     May be NULL: then who wants it does it by apply and precondition. */
  mn_status (*conjugate)(void *self, mn_row_answer *answer, mn_row_answer *whole,
                         mn_row_follow *follow, void *user, const double *b, double tolerance,
                         int max_iterations, double *p, mn_solve_report *report);
  /* As `solve` would have answered, had it found these pressures with the interface's X and V:
     velocities, loads, report (residual, divergence), ready for commit. */
  mn_status (*adopt)(void *self, mn_interface *interface, const double *p, mn_solve_report *report);
} mn_fluid_operators;

/* How a solid's K becomes positive definite. */
typedef enum mn_curvature {
  MN_CURVATURE_CHECKED, /* exact if that is, else positive: the solid factorises K to know */
  MN_CURVATURE_EXACT,   /* as it is; may be indefinite: who factorises it sees, and asks again */
  MN_CURVATURE_POSITIVE /* negative curvature of the energies cut off; more steps are needed */
} mn_curvature;

/* Arrays are the solid's, borrowed until its next call. */
typedef struct mn_solid_linear {
  mn_curvature curvature; /* in */
  mn_sparse_matrix K;     /* N/m (or N m) */
  mn_sparse_matrix E;     /* [3 points x freedoms], row 3 i + axis */
  const double *r; /* [freedoms] forces on them without those of the fluid, inertia included */
  double scale;    /* N: the forces of which r is the difference, for tolerances */
  int linear;      /* 1: K and E are the same for every iterate */
} mn_solid_linear;

typedef struct mn_solid_operators {
  /* Between begin and commit. The iterate is set to the state at the start of the substep, as the
     method's tangent there wants it: nodes at X of the start, rigid bodies where their velocity
     takes them. Writes X, V, N, area of it. */
  mn_status (*start)(void *self, mn_interface *interface);
  /* About the iterate. The interface holds its X and the loads found last (0: none yet): where the
     solid's rule in time lets them act at other arms than E^T, r has the difference. With `frozen`
     K has how they turn a body further as it turns. */
  mn_status (*linearise)(void *self, const mn_interface *interface, mn_solid_linear *linear);
  /* Moves the iterate by step * q, step shortened so far that nothing is inverted and, under the
     interface's loads (those that q was found with), the solid's energy does not jump up; writes X,
     V, N, area and *taken (the step that was taken). Commit accepts the iterate. */
  mn_status (*advance)(void *self, const double *q, double step, mn_interface *interface,
                       double *taken);
  /* *any: whether bodies touch something on the way to the iterate. K and r know nothing of that;
     `solve` does. NULL: they never touch. After a solve what it found is the iterate, and about
     that r = -E^T load of the interface, so that q is what other loads do, and K holds bodies
     where they touch. */
  mn_status (*touches)(void *self, int *any);
  /* After advance: m/s, the greatest velocity that a body could get from the energy by which its
     iterate misses its own equation, under the loads of that step: with stiff bodies a small
     distance is much energy. NULL: 0. */
  double (*missed)(void *self);
} mn_solid_operators;

#ifdef __cplusplus
}
#endif
#endif
