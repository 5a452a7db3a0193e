/* Closed regions: boundary pressure projection, on the surfaces.

   A region of incompressible fluid without any way out changes its volume only as sources let it,
   and its flow says nothing of the constant part p0 of its pressure. With N_r the rate row dV_r/dX
   of region r (vector areas of the elements that face it, out of it, shared over their points), Q_r
   the inflow and S the solid's solve, a substep seeks p0 such that X = S(p + sum_r p0_r N_r) has

       swept_r(X^n, X) = dt Q_r - error_r       for every region,

   error_r being what earlier substeps left: the volume then follows the inflow to rounding. Swept
   volumes are those of the elements, exactly (closed_rows.c); which region an element faces is said
   by the fluid once a substep, and remembered (closed_labels.c).

   Forms (closed_p0.c): "eliminated" finds p0 inside the solid's call, so that the iteration of the
   coupling sees a solid that keeps the volumes, and converges as in an open scene; "solid" and
   "fluid" correct p0 once in each iteration by the momentum of the solid [Akbay thesis, Algorithms
   7 and 8] or of the fluid [Akbay 2018, Algorithm 2]; "none" leaves it out.

   A region that closes, or parts, while bodies move is struck: they cannot go on as they did, and
   the change takes no time. In that substep p0 gives them velocities at its end with N V = Q, and
   how far they go meanwhile is not counted: the fluid could still leave for a part of it. Held by
   their places alone, bodies that move by the midpoint rule, V = 2 mean - V before, would bounce
   back and forth ever after.

   The forces p0 N act with the points where the fluid takes them to be at the end of the substep,
   where the solid feels all loads: on a closed surface that turns they have no torque, and p0 is
   that of the end. "eliminated" takes the points of each solve of the fluid. With those of the
   first alone, X^n + dt V^n, errors e of a skin that p0 holds in shape obey e' = -c (2 e - e
   before), which grows for c > 1/3 however short the substep is, until its inertia tells; with two
   solves it is c^2. What is left of the pressure at the surfaces, mean 0, has a constant part that
   acts by N, too: level (fluid/mac/level.c). Limits: at most MN_CLOSED_MAX regions. Verified by
   tests/unit/couple/test_closed*.c. */
#ifndef MN_COUPLE_CLOSED_H
#define MN_COUPLE_CLOSED_H

#include "base/memory.h"
#include "couple/boxes.h"
#include "meniscus/coupling.h"

enum { MN_CLOSED_MAX = MN_REGIONS_MAX, MN_CLOSED_DOUBT = 64, MN_CLOSED_LIDS = 64 };
enum { MN_CLOSED_UNDECIDED = 255 }; /* a label that no slot has */

/* An element that closes the chain of a region's sides (closed_lids.c), like one whose second side
   faces it. */
typedef struct mn_closed_lid {
  int region;
  uint32_t point[2];
} mn_closed_lid;

/* By slot. Nothing but doubles: one array of a checkpoint. */
typedef struct mn_closed_state {
  double next_id;
  double known;                 /* 1: K belongs to these regions */
  double begun;                 /* 1: a substep was committed */
  double id[MN_CLOSED_MAX];     /* from 1 on; 0: the slot is free */
  double p0[MN_CLOSED_MAX];     /* Pa */
  double error[MN_CLOSED_MAX];  /* m^3, volume swept less what flowed in, since it is known */
  double lost[MN_CLOSED_MAX];   /* m^3, the same of substeps in which nothing could give way: */
                                /* told, and never made good */
  double volume[MN_CLOSED_MAX]; /* m^3, of the grid; 0: not seen */
  double last_inflow[MN_CLOSED_MAX]; /* m^3/s, mean of the last substep, */
  double last_dt[MN_CLOSED_MAX];     /* s, and how long that was; 0: none */
  double
      K[MN_CLOSED_MAX * MN_CLOSED_MAX]; /* [r][s] m^3/s^2 per Pa: rate of r by p0 of s, over dt */
} mn_closed_state;

typedef struct mn_closed {
  mn_context *ctx;
  mn_boxes *boxes; /* borrowed */
  mn_coupling_closed form;
  double dx;
  mn_closed_state kept; /* state, with */
  uint8_t *label;       /* [2 elements] slot + 1 of the region that a side faces; 0: none; with
                           MN_CLOSED_DOUBT added when the fluid no longer says so */
  /* of the substep: what commit makes the state */
  mn_closed_state now;
  uint8_t *label_now;
  uint8_t *unseen_side; /* [2 elements] 1: it has a label, but the fluid sees nothing of it ahead */
  double *bare;         /* [2 elements] the part of a side that is in no wall of the fluid's */
  double dt;
  const mn_vec3 *start;          /* m, X^n; borrowed */
  double far;                    /* m, greatest coordinate there */
  int count;                     /* regions */
  int slot[MN_CLOSED_MAX];       /* of each of them */
  int grid[MN_CLOSED_MAX];       /* its number in `enclosed`; -1: too thin for the fluid to see */
  double surface[MN_CLOSED_MAX]; /* m^2, area of the sides that face it */
  double target[MN_CLOSED_MAX];  /* m^3, to be swept */
  double impulse[MN_CLOSED_MAX]; /* Pa s, at the very end: see mn_closed_settle; */
  int settled;                   /* 1: the solid has felt it since its last solve */
  int parted[MN_CLOSED_MAX];     /* 1: water in it has let go of walls, as the fluid says */
  int still[MN_CLOSED_MAX];      /* 1: no p0 moves what faces it */
  int jammed[MN_CLOSED_MAX];     /* 1: its mass would, but something holds it */
  double blown[MN_CLOSED_MAX];   /* m^3/s, the part of the inflow that is of sources */
  int into[MN_CLOSED_MAX];       /* by slot: the one that it has become a part of, or -1 */
  int struck[MN_CLOSED_MAX];     /* by slot, 1: it has closed, or parted, in this substep */
  mn_closed_lid lid[MN_CLOSED_LIDS];
  int lids;
  mn_region_info info[MN_CLOSED_MAX];
  int told;           /* regions in `info`: those of the last commit or try */
  mn_vec3 *row;       /* [count][points] m^2, N_r */
  mn_vec3 *move;      /* [points] m, scratch */
  mn_vec3 *reply;     /* the same: how points move under it, for the projection */
  size_t room;        /* regions that fit into both */
  double *fluid_mass; /* [points] kg, as the fluid's first solve said */
  mn_vec3 force;      /* N, sum over the points of what was pushed last */
  int solves;         /* of the solid, to find p0 */
  int hopeless;       /* 1: failed, and no shorter step will help */
  /* of the surface, once */
  size_t *first, *around; /* elements around a point: around[first[i]..first[i + 1]] */
  size_t *part, parts;    /* [elements] connected part that an element belongs to */
  uint8_t *closed_part;   /* [parts] 1: thin, and without ends */
  /* scratch */
  mn_arena arena;
  uint8_t *inside;    /* [grid_count x bodies] interface.inside, */
  size_t inside_room; /* for so many entries */
  int keeps;          /* 1: one system works for a coupling that lets no water go: interface.kept */
  uint8_t *kept_grid; /* [grid_room] */
  double *p0_of_grid; /* [grid_room] for mn_fluid_ops.lift */
  double *level;      /* [grid_room] Pa, as the fluid's last solve said */
  double *unseen;     /* [grid_room] interface.unseen */
  size_t grid_room;
  int grid_count;
} mn_closed;

MN_MUST_CHECK mn_status mn_closed_create(mn_context *ctx, mn_boxes *boxes, mn_coupling_closed form,
                                         double dx, mn_closed *closed);
void mn_closed_destroy(mn_closed *closed);

/* A substep from `start`, which stands until its end. No regions before mn_closed_meet. */
void mn_closed_begin(mn_closed *closed, double dt, const mn_vec3 *start);
/* Before the first solve of the fluid, the interface as that will see it: which regions there are,
   and their rows. */
MN_MUST_CHECK mn_status mn_closed_meet(mn_closed *closed);
/* After that: 1 if other regions are there than in the last substep. */
int mn_closed_changed(const mn_closed *closed);
/* After the first solve: the fluid's masses. */
void mn_closed_weigh(mn_closed *closed);
/* Solves the fluid, and asks for its levels (mn_interface.level): what its loads leave out is
   pushed together with p0. */
MN_MUST_CHECK mn_status mn_closed_solve_fluid(mn_closed *closed);
/* V of the interface <- the nearest one that keeps the volumes: means of the substep, or `at_end`
   those at its end. */
MN_MUST_CHECK mn_status mn_closed_project(mn_closed *closed, int at_end);
/* load of the interface += sum_r (p0_r + level_r) N_r */
void mn_closed_push(mn_closed *closed);

/* One solve of the solid with p0 as it is now, pushed. */
typedef mn_status mn_closed_solve(void *user);
/* Solves the solid, and finds p0 or corrects it, as the form is. */
MN_MUST_CHECK mn_status mn_closed_find(mn_closed *closed, mn_closed_solve *solve, void *user);
/* m, by which the surfaces of region r lie off on average, as the solid left them; 0 beyond. */
double mn_closed_gap(const mn_closed *closed, int r);

/* The interface as it will be committed: books the volumes; tells the fluid p0. */
MN_MUST_CHECK mn_status mn_closed_finish(mn_closed *closed);
void mn_closed_commit(mn_closed *closed);

/* The regions that `from`, of the same boxes and points, knows. */
void mn_closed_hand_over(mn_closed *closed, const mn_closed *from);

int mn_closed_arrays(mn_closed *closed, mn_array *arrays, int capacity);

static inline int mn_closed_slot(uint8_t label)
{
  return label % MN_CLOSED_DOUBT - 1;
}

/* ---- closed_rows.c --------------------------------------------------------------------------- */

/* n_e: vector area of element e where N points, its mean while the points move from a to b. */
mn_vec3 mn_closed_area(const mn_interface *face, size_t e, const mn_vec3 *a, const mn_vec3 *b);
/* flow[r] <- sum over the sides that face r of n . mean of `field` over the element's points, n the
   mean while the points move from the start to X, out of the region: with field = X - start the
   volume swept, exactly. */
void mn_closed_flow(const mn_closed *closed, const mn_vec3 *X, const mn_vec3 *field, double *flow);
/* The same with n at X. */
void mn_closed_flow_at(const mn_closed *closed, const mn_vec3 *X, const mn_vec3 *field,
                       double *flow);
/* The same as mn_closed_flow of sides alone in front of which the fluid sees nothing of the region.
 */
void mn_closed_flow_unseen(const mn_closed *closed, const mn_vec3 *X, const mn_vec3 *field,
                           double *flow);
/* swept[r], m^3 */
void mn_closed_swept(const mn_closed *closed, const mn_vec3 *X, double *swept);
/* Rows and surfaces with the points at X. */
void mn_closed_fill_rows(mn_closed *closed, const mn_vec3 *X);

/* ---- closed_lids.c --------------------------------------------------------------------------- */

/* Lids of the regions, with the points where the interface has them. */
void mn_closed_find_lids(mn_closed *closed);

/* ---- closed_inside.c ------------------------------------------------------------------------- */

/* The interface's `inside`, by the rows. */
MN_MUST_CHECK mn_status mn_closed_find_inside(mn_closed *closed);
/* field[points] where the point's body is wholly inside the fluid's region g, else 0 -> part */
void mn_closed_part_inside(const mn_closed *closed, int g, const mn_vec3 *field, mn_vec3 *part);

/* ---- closed_labels.c ------------------------------------------------------------------------- */

/* Which elements are connected. */
MN_MUST_CHECK mn_status mn_closed_find_parts(mn_closed *closed);
/* Which regions there are now, from what the fluid says and the labels kept. */
MN_MUST_CHECK mn_status mn_closed_identify(mn_closed *closed, const mn_enclosed *enclosed);

/* The element across the side of e that lacks its point k, or e itself where there is none, or more
   than one: surfaces part there, and which sides go together is not known. */
size_t mn_closed_neighbour(const mn_closed *closed, size_t e, size_t k);

/* ---- closed_necks.c -------------------------------------------------------------------------- */

/* label_now of sides between different things of which the fluid cannot tell; owner: the slots of
   its regions, or -1. */
MN_MUST_CHECK mn_status mn_closed_part_necks(mn_closed *closed, const mn_enclosed *enclosed,
                                             const int *owner);

/* ---- closed_bags.c --------------------------------------------------------------------------- */

/* label_now: what cannot be of bags is not. */
MN_MUST_CHECK mn_status mn_closed_keep_bags(mn_closed *closed);

/* ---- closed_project.c
 * ----------------------------------------------------------------------------- */

/* Replies to the rows by the solid's mass, and which regions stand still. */
MN_MUST_CHECK mn_status mn_closed_weigh_rows(mn_closed *closed);

/* ---- closed_settle.c ------------------------------------------------------------------------- */

/* After a solve of the solid: velocities at the end that fit the volumes, once. Before
   mn_closed_finish at the latest. */
MN_MUST_CHECK mn_status mn_closed_settle(mn_closed *closed);
/* 1: velocities at the end are settled: all that p0 moves has one of its own. */
int mn_closed_settles(const mn_closed *closed);
/* 1: so, and all of it has the same rule in time, *lead. */
int mn_closed_settles_alike(const mn_closed *closed, double *lead);
/* m^3/s, Q of region r at the end: a line through the means of this substep and the one before. */
double mn_closed_inflow_at_end(const mn_closed *closed, int r);

/* ---- closed_p0.c ----------------------------------------------------------------------------- */

/* dp <- -K^+ res, left <- res + K dp; k[r + s count] */
MN_MUST_CHECK mn_status mn_closed_solve_small(mn_closed *closed, const double *k, const double *res,
                                              double *dp, double *left);
/* K by what the last step dp has changed of res. */
void mn_closed_learn(const mn_closed *closed, const double *dp, const double *dres, double *k);
/* m: how far p0 would take the surfaces of region r in the substep if nothing but their mass held
   them; 0: not known. */
double mn_closed_free_way(const mn_closed *closed, int r);
/* p0 holds the shape of bodies that are light for it, be they ever so stiff: 1 if its rows are to
   turn with their surfaces from solve to solve, where it is nearly all that presses them. Of others
   they do not, like all else of the grid that the substep has found: turned alone, p0 would leave
   what balances it, the fluid's other loads (N, of each point). */
int mn_closed_turns(const mn_closed *closed, const mn_vec3 *other);
/* No p0 moves region r, and none need: whatever its surfaces seem to sweep is how they are seen. */
int mn_closed_idle(const mn_closed *closed, int r);
/* The sentence of a region without a solution; flow: into it and those that share its surfaces. */
MN_MUST_CHECK mn_status mn_closed_refuse(mn_closed *closed, int r, double flow);

#endif
