/* The two black boxes and the interface where they meet: the public extension point.

   A substep: begin(t, dt) once, with all work that does not depend on the other side; solve any
   number of times, each from the state at the start of the substep; commit accepts the last solve.
   save and restore bracket what a caller may want to undo, commits included. */
#ifndef MENISCUS_BOX_H
#define MENISCUS_BOX_H

#include "meniscus/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The points where fluid and solid meet. */
typedef struct mn_interface {
  int dim;
  size_t count;
  mn_vec3 *X;         /* m, positions at the end of the substep */
  mn_vec3 *V;         /* m/s */
  mn_vec3 *N;         /* unit normals, into the fluid */
  double *area;       /* m^2 (m in 2D) */
  mn_vec3 *load;      /* N: force of the fluid on the solid */
  int *body;          /* whose point it is; may be NULL */
  uint8_t *two_sided; /* 1: fluid on both sides (thin shells, cloth); may be NULL: all 0 */
} mn_interface;

/* All arrays, zero. */
MN_MUST_CHECK mn_status mn_interface_create(mn_context *ctx, int dim, size_t count,
                                            mn_interface *interface);
void mn_interface_destroy(mn_interface *interface);

/* An array of a solver's state, for checkpoints, hashes and roll-back. */
typedef enum mn_array_type { MN_F64, MN_I64, MN_U8 } mn_array_type;
typedef struct mn_array {
  char name[48];
  mn_array_type type;
  int rank;
  size_t shape[4]; /* slowest axis first */
  void *data;
  int variable; /* shape[0] differs from state to state; see resize */
} mn_array;

typedef enum mn_reason {
  MN_CONVERGED,
  MN_ITERATION_LIMIT,
  MN_STALLED,
  MN_DIVERGED,
  MN_INCOMPATIBLE
} mn_reason;
const char *mn_reason_text(mn_reason reason); /* "converged", "iteration limit", ... */

/* What an iterative solve says about itself; the caller decides. */
typedef struct mn_solve_report {
  mn_reason reason;
  int iterations;
  double residual; /* infinity norm, in the units of the right-hand side */
  double initial_residual;
  double divergence;  /* 1/s, max over the fluid cells after the solve */
  int closed_regions; /* regions without any opening */
  double net_flow;    /* m^3/s, the largest net inflow into one of them: should be 0 */
  /* of walls that water can leave, 0 <= p perp slack >= 0, measured anew after the solve; over the
     cells at walls. All 0 for linear solves. */
  int outer;              /* linear systems set up, or policy, penalty or Newton iterations */
  int held;               /* cells that let go: p = 0, slack > 0 */
  double least_p;         /* Pa, never much below 0 */
  double greatest_p;      /* Pa, over all cells */
  double least_slack;     /* 1/s, the same */
  double complementarity; /* |p . slack| / (||p|| ||b||) */
} mn_solve_report;

typedef struct mn_fluid_ops {
  const char *name;
  void (*destroy)(void *self);
  double (*max_dt)(void *self); /* s */
  mn_status (*begin)(void *self, double t, double dt);
  /* reads X, V, N, area; writes load */
  mn_status (*solve)(void *self, mn_interface *interface, mn_solve_report *report);
  mn_status (*commit)(void *self);
  mn_status (*save)(void *self);
  mn_status (*restore)(void *self);
  /* Fills at most `capacity` entries and returns how many there are. */
  int (*arrays)(void *self, mn_array *arrays, int capacity);
  /* Makes room so that `arrays` then gives the variable ones these shapes. May be NULL if there are
     none. Their data are undefined until written. */
  mn_status (*resize)(void *self, const mn_array *arrays, int count);
} mn_fluid_ops;

typedef struct mn_fluid {
  const mn_fluid_ops *ops;
  void *self;
} mn_fluid;

typedef struct mn_solid_ops {
  const char *name;
  void (*destroy)(void *self);
  double (*max_dt)(void *self);
  mn_status (*begin)(void *self, double t, double dt);
  /* reads load and X, where the loads act: as `look` or the last solve left them, or as a coupling
     predicts them; writes X, V, N, area */
  mn_status (*solve)(void *self, mn_interface *interface, mn_solve_report *report);
  mn_status (*commit)(void *self);
  mn_status (*save)(void *self);
  mn_status (*restore)(void *self);
  int (*arrays)(void *self, mn_array *arrays, int capacity);
  mn_status (*resize)(void *self, const mn_array *arrays, int count); /* as of a fluid */
  /* Chooses points on all surfaces, about `spacing` (m) apart, and says how many. Their order
     stands until the next call. NULL: the points are fixed, and the caller knows them. */
  mn_status (*sample)(void *self, double spacing, size_t *count);
  /* X, V, N, area and, where asked for, body and two_sided, of the committed state. */
  mn_status (*look)(void *self, mn_interface *interface);
} mn_solid_ops;

typedef struct mn_solid {
  const mn_solid_ops *ops;
  void *self;
} mn_solid;

#ifdef __cplusplus
}
#endif
#endif
