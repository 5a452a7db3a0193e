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

/* The surfaces where fluid and solid meet: points, and the elements that join them. Closed surfaces
   bound solids that fill space; two-sided ones are thin, with fluid on both sides. */
typedef struct mn_interface {
  int dim;
  size_t count;
  mn_vec3 *X;         /* m, positions at the end of the substep */
  mn_vec3 *V;         /* m/s, at the end of the substep: what the fluid's walls get. Handed to a
                         solid: the mean (X - X at the start)/dt; see `mass` and `lead` */
  mn_vec3 *N;         /* unit normals, into the fluid */
  double *area;       /* m^2 (m in 2D) */
  mn_vec3 *load;      /* N: force of the fluid on the solid */
  double *mass;       /* kg, fictitious, of each point: see mn_solid_ops.solve. The fluid writes the
                         part of its own mass that moves with the point at once, 0 if it knows none;
                         the coupling decides */
  int *body;          /* whose point it is */
  uint8_t *two_sided; /* 1: fluid on both sides (thin shells, cloth) */
  uint8_t *rigid;     /* 1: its body moves as one */
  double *lead;       /* how V answers X beyond the mean velocity, dt dV/dX - 1: 0 where V is the
                         mean (backward Euler), 1 for the midpoint rule, V = 2 mean - V before */
  size_t elements;
  uint32_t *element; /* [dim * elements] points: segments with the fluid on the right of a closed
                        surface, triangles with it where the right hand's thumb points */
  int impulse;       /* 1: loads are the impulses of whole dual cells, which conserve momentum, over
                        dt; 0: pressure differences times areas */
  int frozen;        /* 1: where the surfaces are (which faces they close, weights) is taken from
                        the first solve of the substep, so that a linear fluid gives linear loads */
  int positive;      /* 1: no mass below 0 may move with the points, even if that is less exact: see
                        mn_fluid_ops.lacking */
  int seeking;       /* 1: the coupling nears the volumes of closed regions from solve to solve, and
                        does not accept V before it keeps them: the fluid mends what V lacks */
  const uint8_t *inside; /* [regions of `enclose`][bodies] 1: the body moves as one, and its surface
                            in the region is closed: it takes no volume from it, whatever part of
                            that surface the fluid sees; NULL: not known */
  int bodies;            /* there */
  const double *unseen;  /* NULL: none. Else of each region of mn_fluid_ops.enclose, m^3/s (m^2/s):
                            its growth by sides that the coupling keeps there for this substep
                            although the fluid sees none of it in front of them */
  const uint8_t *kept; /* NULL: none. Else of each region of mn_fluid_ops.enclose 1: fluid and solid
                          are solved as one system, and yet the coupling keeps its volume: water
                          in it lets go of nothing */
  double *level; /* NULL: nobody asks. Else of each region of mn_fluid_ops.enclose, 0 as handed
                    in: a fluid may leave a constant pressure of the region out of its loads,
                    and writes it here (Pa); the coupling adds it by the surface's areas */
} mn_interface;

/* All arrays, zero. */
MN_MUST_CHECK mn_status mn_interface_create(mn_context *ctx, int dim, size_t count, size_t elements,
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
  double cpu_s;       /* of the processor, with assembly and set-up; 0: not measured. Of fluid and
                         solid as one system: of all that is solved together */
  /* of walls that water can leave, 0 <= p perp slack >= 0, measured anew after the solve; over the
     cells at walls. All 0 for linear solves, but for greatest_p of water. */
  int outer;              /* linear systems set up, or policy, penalty or Newton iterations */
  int held;               /* cells that let go: p = 0, slack > 0; of a body: p = 0 at its wall */
  double least_p;         /* Pa, never much below 0 */
  double greatest_p;      /* Pa, over all cells */
  double least_slack;     /* 1/s, the same */
  double complementarity; /* |p . slack| / (||p|| ||b||) */
} mn_solve_report;

/* Regions of fluid without any way out: closed by the surfaces, fixed and driven walls and sources.
   Their volume can only change as sources let it, and no flow tells the constant part of their
   pressure: the coupling seeks it. Arrays are the fluid's, borrowed until its next call. */
typedef struct mn_enclosed {
  int count;
  const size_t *cells;
  const double *inflow;  /* m^3/s (m^2/s in 2D): through all that is not of the interface, mean over
                            the substep */
  const double *volume;  /* m^3 (m^2), on the grid */
  const mn_vec3 *center; /* m, of the volume */
  const int32_t *facing; /* [2 * elements]: the region that the element faces, [2 e] where N points
                            and [2 e + 1] behind it; MN_FACES_NONE: solid, or fluid that is not
                            enclosed, MN_FACES_UNKNOWN: what lies there is thinner than the fluid
                            can tell, MN_FACES_WALL: like NONE, and it lies on a wall or in one,
                            which says nothing of what the sides next to it face */
  const double *blown;   /* m^3/s, the part of the inflow that is of sources: exact, where that of
                            driven walls is as rough as their shape on the grid; NULL: not known */
  const uint8_t *parted; /* 1: it is full of water, which has let go of the interface in places:
                            nothing holds its volume; NULL: none is */
  const uint8_t *whole;  /* 1: the interface's surfaces leave no seam at it: sides beside those that
                            face it face it, too, or lie in walls. Small ones that are not may be
                            pockets between bodies that touch; NULL: none is */
  const double *bare;    /* [2 * elements] the part of a side that is in no wall: a piston that
                            reaches into one presses with the rest only; NULL: all of each */
  const double *room;    /* [2 * elements] m, from a side of which the fluid cannot tell what it
                            faces, or that faces a pocket, to the nearest wall, however far: what
                            lies at the two ends of a gap meets where that is least; NULL: not
                            known */
} mn_enclosed;
enum { MN_FACES_NONE = -1, MN_FACES_UNKNOWN = -2, MN_FACES_WALL = -3 };

enum { MN_LACKING_HELD = 2 };

typedef struct mn_fluid_ops {
  const char *name;
  void (*destroy)(void *self);
  double (*max_dt)(void *self); /* s */
  mn_status (*begin)(void *self, double t, double dt);
  /* reads X, V, N, area; writes load, mass */
  mn_status (*solve)(void *self, mn_interface *interface, mn_solve_report *report);
  mn_status (*commit)(void *self);
  mn_status (*save)(void *self);
  mn_status (*restore)(void *self);
  /* Fills at most `capacity` entries and returns how many there are. */
  int (*arrays)(void *self, mn_array *arrays, int capacity);
  /* Makes room so that `arrays` then gives the variable ones these shapes. May be NULL if there are
     none. Their data are undefined until written. */
  mn_status (*resize)(void *self, const mn_array *arrays, int count);
  /* The surfaces where they are at the time of the state: before the first begin, and after the
     state was restored or read. Commit then moves them on to those of the last solve. NULL: the
     fluid need not know. */
  mn_status (*meet)(void *self, const mn_interface *interface);
  /* Before commit: where the surfaces end, which is within the coupling's tolerance of the X of the
     last solve. NULL: the fluid need not know. */
  mn_status (*arrive)(void *self, const mn_interface *interface);
  /* After begin, before the first solve: takes the surfaces where the interface has them, as that
     solve would, and says what they enclose. In these regions the pressures behind the loads have
     mean 0 over the volume, but for mn_interface.level, and small net flows of V are mended.
     NULL: nothing is ever enclosed. */
  mn_status (*enclose)(void *self, const mn_interface *interface, mn_enclosed *enclosed);
  /* Before commit: p0[r] (Pa) is the mean pressure of region r of `enclose`, for the fluid's own
     record. NULL: it need not know. */
  mn_status (*lift)(void *self, const double *p0, int count);
  const struct mn_fluid_operators *operators; /* operators.h; NULL: none */
  /* After begin, before the first solve: takes the surfaces as that would, and writes to mass
     [points] (kg, along each axis) the mass of fluid that moves with them, which may be below 0
     where the fluid can let go of them: bodies that weigh less than is lacking have no motion that
     satisfies all. Such get interface.positive. *any: 1, some is below 0; MN_LACKING_HELD: and the
     fluid never lets go, so that only bodies that bend, with points of lead > 0, heed them. NULL:
     none is. */
  mn_status (*lacking)(void *self, const mn_interface *interface, mn_vec3 *mass, int *any);
  /* After the last solve, before commit. *again: it held the interface back where it lets go of it,
     and the substep is to be done once more; what `restore` brings back knows of it. NULL: never.
   */
  mn_status (*lets_go)(void *self, int *again);
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
  /* Reads load, and X where the loads act: as `look` or the last solve left them, or as a coupling
     predicts them; writes X, V, N, area. Point i feels

         load - mass (mean velocity - V as handed in) / dt:

     inertia that vanishes once the coupling has converged, whatever `mass` is. The V written is
     that at the end, as `look` would have it after a commit, for a coupling of second order; a
     solid of first order may leave the mean. */
  mn_status (*solve)(void *self, mn_interface *interface, mn_solve_report *report);
  mn_status (*commit)(void *self);
  mn_status (*save)(void *self);
  mn_status (*restore)(void *self);
  int (*arrays)(void *self, mn_array *arrays, int capacity);
  mn_status (*resize)(void *self, const mn_array *arrays, int count); /* as of a fluid */
  /* Chooses points on all surfaces, at most about `spacing` (m) apart, and says how many they and
     their elements are. Their order stands until the next call. */
  mn_status (*sample)(void *self, double spacing, size_t *count, size_t *elements);
  /* X, V, N, area, body, two_sided, rigid, lead and element of the committed state. */
  mn_status (*look)(void *self, mn_interface *interface);
  /* Reads load, which acts at X as `look` gave it; writes V: the accelerations (m/s^2) of the
     points by these loads alone through the solid's mass, no stiffness, weight or contact: what
     they add to X of a solve, over dt^2 (so half of force over mass where the solid's rule in time
     gives half of it to this substep's path). Between begin and commit. NULL: the coupling learns
     what it needs from solves. */
  mn_status (*accelerate)(void *self, mn_interface *interface);
  const struct mn_solid_operators *operators; /* operators.h; NULL: none */
  /* After the last solve, before commit: reads load, here impulses (N s) that act at X as that
     solve left it, at the very end of the substep; writes V. Points of lead 0, whose velocity
     follows from their path, do not feel them. NULL: V stays as the solve left it. */
  mn_status (*settle)(void *self, mn_interface *interface);
} mn_solid_ops;

typedef struct mn_solid {
  const mn_solid_ops *ops;
  void *self;
} mn_solid;

#ifdef __cplusplus
}
#endif
#endif
