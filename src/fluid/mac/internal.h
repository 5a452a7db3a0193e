/* The inside of the grid fluid: model, state, geometry and work apart. */
#ifndef MN_FLUID_MAC_INTERNAL_H
#define MN_FLUID_MAC_INTERNAL_H

#include "base/context.h"
#include "base/memory.h"
#include "fluid/mac/enclose.h"
#include "fluid/mac/spaces.h"
#include "fluid/mac/immersed.h"
#include "fluid/mac/mac.h"
#include "fluid/mac/operators.h"
#include "fluid/mac/shell.h"
#include "fluid/mac/stress.h"
#include "fluid/mac/water.h"
#include "pressure/lcp.h"
#include "pressure/pressure.h"
#include "pressure/stencil.h"

/* What a face is, beside its open fraction. */
typedef enum mn_face_kind {
  MN_FACE_FLUID, /* open > 0 */
  MN_FACE_STUCK, /* open > 0, but its centre is inside a solid to which the fluid sticks */
  /* closed: */
  MN_FACE_SIDE, /* on a closed domain side */
  MN_FACE_EDGE, /* the same, in part of which a moving solid, or a body, goes through: its `wall` is
                   that flow, the fluid beside it stands */
  MN_FACE_SOURCE, /* touches a cell of an inflow */
  MN_FACE_SLIP,   /* inside a solid along which the fluid slides */
  MN_FACE_NOSLIP, /* inside a solid to which it sticks */
  MN_FACE_SHELL   /* blocked by a thin surface with fluid on both sides */
} mn_face_kind;

static inline int mn_is_side(int kind)
{
  return kind == MN_FACE_SIDE || kind == MN_FACE_EDGE;
}

/* Points without a value of their own (inside solids, in air) and how to fill them from those that
   have one: layer by layer, each the mean of its neighbours in earlier layers. */
typedef struct mn_extension {
  uint32_t *point;  /* indices into the field, layer after layer */
  int64_t start[8]; /* first entry of each layer */
  int layers;
  size_t capacity;
  unsigned char *layer;       /* of every point with ghosts: 0 has a value; else see below */
  int64_t *found;             /* scratch, of each slab */
  const mn_immersed *surface; /* thin surfaces across which nothing is continued, or NULL */
} mn_extension;
enum {
  MN_EXTENSION_LAYERS = 6,
  MN_LINEAR_LAYERS = 2,
  MN_NO_SOURCE = 254, /* has a value, from which none is continued */
  MN_OUT_OF_REACH = 255
};

/* How values are continued over the first MN_LINEAR_LAYERS layers; beyond, always as constants. */
typedef enum mn_continuation {
  MN_CONTINUE_CONSTANT,
  MN_CONTINUE_SLOPE,  /* with the slope of the last two values, which may grow: a control */
  MN_CONTINUE_LIMITED /* with the lesser of the last two slopes, within the range of all values */
} mn_continuation;

/* A kinematic solid at one time. */
typedef struct mn_placement {
  mn_vec3 axis, center; /* of rotation */
  double angle;
  mn_vec3 velocity, omega; /* means over the substep */
  int thin;                /* 1: some of its walls are too thin for the grid; see thin_walls.c */
} mn_placement;

/* Where the solids, bodies and sources are at one time. */
typedef struct mn_mac_geometry {
  double time, dt;        /* made for this time; velocities are means over dt before it */
  mn_placement *place;    /* of each solid */
  long stamp;             /* the placement of bodies that it holds; 0: none */
  mn_field solid;         /* nodes: signed distance, positive in the fluid */
  int thin_walls;         /* 1: some solid has walls too thin for the grid; see thin_walls.c */
  unsigned char *plug;    /* nodes with ghosts: closed where thin walls meet; NULL: none */
  mn_field obstacles;     /* nodes: the same without bodies; once there are some */
  mn_field open[3];       /* faces: open fraction */
  mn_field wall[3];       /* faces: velocity of what closes the face, m/s */
  unsigned char *kind[3]; /* faces with ghosts: mn_face_kind */
  double *gate[3]; /* part of a face of a source through which it blows: that solids leave open and
                      that is no stair; NULL without sources */
  unsigned char *stairs; /* of each source: it has stairs; see stairs.c */
  uint64_t *blowing[3];  /* faces with ghosts: samples that blow; NULL without stairs */
  mn_field volume;       /* cells: fluid part; 0 in sources and where nothing is */
  unsigned char *empty;  /* cells with ghosts: 1 where nothing is; NULL unless outside = "empty" */
  mn_field whole;        /* cells: what solids leave; with `empty` */
  int32_t (*empty_list)[3]; /* scratch */
  unsigned char *inflow;    /* cells with ghosts: 1 + index of the inflow that covers it, or 0 */
  double *blow; /* of each source: factor that makes the flow out of it exact; see speed */
  unsigned char *emitter; /* cells with ghosts: 1 + index of the source that sets its smoke, or 0 */
  mn_extension face_extension[3], cell_extension;
  const mn_immersed *thin; /* surfaces that hold thin ones, across which nothing goes, or NULL */
} mn_mac_geometry;

/* Everything that changes in time. X(field, place, name) for each field; a row here is allocated,
   copied, saved and hashed. */
#define MN_MAC_STATE_FIELDS(X)                                                                     \
  X(u[0], MN_FACE_X, "u")                                                                          \
  X(u[1], MN_FACE_Y, "v")                                                                          \
  X(u[2], MN_FACE_Z, "w")                                                                          \
  X(before[0], MN_FACE_X, "u_before")                                                              \
  X(before[1], MN_FACE_Y, "v_before")                                                              \
  X(before[2], MN_FACE_Z, "w_before")                                                              \
  X(p, MN_CELL, "pressure")                                                                        \
  X(smoke, MN_CELL, "smoke")                                                                       \
  X(temperature, MN_CELL, "temperature")                                                           \
  X(liquid, MN_CELL, "liquid")                                                                     \
  X(wet, MN_CELL, "wet")                                                                           \
  X(held, MN_CELL, "held")                                                                         \
  X(lift, MN_CELL, "lift")

typedef struct mn_mac_state {
  mn_field u[3];      /* m/s, divergence-free */
  mn_field before[3]; /* u one substep earlier; order 2 only */
  mn_field p;         /* Pa; for smoke without the hydrostatic part, extended into solids */
  mn_field smoke, temperature, liquid;
  mn_field wet;  /* m^3 of water in each cell, as the surface was made; level set only */
  double owed;   /* m^3, by which the level set's volume lacks what it should be; keep.c */
  mn_field held; /* 1 where water parts from a wall: p is held at 0; 2 where it shall let go
                    of a body in the next substep (loose.c); separating walls */
  mn_field lift; /* Pa, in closed regions: what p lacks of the whole pressure; among bodies
                  */
  mn_particles particles; /* of water, sorted by cell; none with a level set only */
  double *inflow_path;    /* s, of each source: integral of its ramp; with particles */
  double scalars[3];      /* time, s; length of the last substep, s (0: there was none);
                             1 if no wall jumped in it: p and before may be extrapolated */
} mn_mac_state;

/* Work of walls that water can leave (separate.c). */
typedef struct mn_separate {
  int on;
  mn_lcp lcp;
  mn_lcp_solver *solver;
  mn_field held; /* of the new state */
} mn_separate;

/* Work of what keeps the volume of a level set (keep.c). */
typedef struct mn_keep {
  mn_field wet;   /* of the new state */
  double owed;    /* the same */
  double mended;  /* m^3, put back in the last substep; below 0 if taken out */
  int32_t *label; /* of each cell: 1 + index of its pool, or 0 */
  int64_t *queue; /* cells */
  struct mn_pool *pool;
  int32_t count, room; /* pools */
  int warned;
} mn_keep;

/* How much of the pressure system is that of `geometry`: nothing, unknowns and regions, or all. */
typedef enum mn_assembled { MN_NOT_ASSEMBLED, MN_ANALYSED, MN_ASSEMBLED } mn_assembled;

struct mn_mac {
  mn_context *ctx;
  const mn_model_def *def; /* borrowed */
  mn_exec exec;            /* as many of the context's threads as the grid has work for */
  mn_grid grid;
  int moving; /* some solid moves */
  unsigned open_sides;
  mn_continuation continuation; /* of velocities; see boundary.c */
  mn_mac_state state, saved;
  mn_mac_geometry geometry; /* at the time of the state, or at its end within a substep */
  mn_immersed *immersed_start, *immersed; /* bodies' surfaces at the start of the substep and, from
                                             the first solve on, at its end; see immersed.c */
  mn_mac_bodies bodies;
  mn_enclosure enclosure;
  mn_spaces spaces;

  /* work */
  double dt;
  int extrapolates;   /* this substep uses p and before */
  int increments;     /* dp is what comes to the pressure p, else the pressure itself */
  double speed;       /* greatest on any face, of star and the walls */
  mn_field trace[3];  /* velocity along which things are carried: that of the middle of the step */
  mn_field star[3];   /* after begin: the velocity before the projection */
  mn_field result[3]; /* after solve: the new velocity; scratch before */
  double *lo, *hi, *scratch; /* room for any field: limiter bounds, advection; MacCormack only */
  mn_field smoke_next, temperature_next, liquid_next;
  mn_field cell_scratch;
  mn_field shown; /* pressure in Pa for writers */
  mn_field b, dp;
  mn_field gradient[3]; /* of the pressure; accelerations in begin */
  mn_pressure *pressure;
  mn_assembled assembled;
  double assembly_s; /* of the processor, the last time */
  int solves;        /* in this substep */
  mn_stencil viscous[3];
  mn_stencil_solver *viscous_solver[3];
  double viscous_dt;   /* for which `viscous` was set up; 0: never */
  double *slab;        /* partial sums */
  double (*line)[2];   /* [rows of cells] greatest |b|, and velocity on a face, of the last b */
  uint8_t *line_moves; /* [rows of cells] scratch */
  unsigned char *quiet_rows; /* of cells, in redistancing; water only */
  mn_solve_report report;
  mn_water water;
  mn_separate separate;
  mn_keep keep;
  mn_mac_watcher watcher;
  mn_stress stress;
  mn_shell shell;
  mn_mac_operators operators;
};

static inline int mn_mac_is_water(const mn_mac *mac)
{
  return mac->def->fluid.kind == MN_FLUID_WATER;
}
/* There are solids in the scene or bodies of other solvers. */
static inline int mn_mac_has_solids(const mn_mac *mac)
{
  return mac->def->solid_count || mac->bodies.on;
}
static inline int mn_mac_second_order(const mn_mac *mac)
{
  return mac->def->fluid.order == 2 && !mn_mac_is_water(mac);
}

static inline int mn_mac_has_cell(const mn_mac *mac, const int32_t at[3])
{
  for (int a = 0; a < mac->grid.dim; a++)
    if (at[a] < 0 || at[a] >= mac->grid.n[a])
      return 0;
  return 1;
}
/* The water of a cell has let go of the bodies there, in this substep (loose.c). */
static inline int mn_mac_is_loose(const mn_mac *mac, int i, int j, int k)
{
  return mac->bodies.loose_count && mn_mac_has_cell(mac, (const int32_t[3]){i, j, k}) &&
         mn_get(&mac->bodies.anchor, i, j, k) > 0;
}

/* Whether mn_mac_advect is of second order. */
static inline int mn_mac_corrects(const mn_mac *mac)
{
  return mac->def->fluid.advection != MN_ADVECT_SEMILAGRANGIAN && !mn_water_is_marked(mac);
}

/* create.c */
void mn_mac_destroy(void *self);
/* But for the particles: mn_water_save. */
void mn_mac_copy_state(const mn_mac *mac, mn_mac_state *to, const mn_mac_state *from);

mn_status mn_mac_initial_state(mn_mac *mac);

/* mac.c */
extern const mn_fluid_ops mn_mac_ops;
/* What forces do to the fluid at a face, but for pressure and viscosity, less `less`, m/s^2. */
double mn_mac_acceleration(const mn_mac *mac, int axis, int i, int j, int k, double less);

/* Of the ghost-fluid distance; see pressure.h. */
#define MN_MAC_THETA_MIN 0.01

/* immersed.c; the body that closes or would close a face, -1 if none is the nearest */
int mn_mac_bodies_face(const mn_mac *mac, const mn_immersed *im, int axis, int i, int j, int k);
/* parts.c: distance to a closed body that is shifted outwards by `shift`. */
double mn_mac_shifted(const mn_mac *mac, double distance, double shift);
/* shared_faces.c: velocity along the axis of what solids of the scene close of the face at x, one
   of which is the nearest. */
double mn_mac_shared_velocity(const mn_mac *mac, int axis, mn_vec3 x, int nearest);
/* on_walls.c: whether a skin that lies on a wall parts the open rest of the face, which the wall
   cuts, from the cells beside it. */
int mn_mac_is_behind_skin(const mn_mac *mac, const mn_immersed *im, int axis, int i, int j, int k);

/* geometry.c */
mn_status mn_mac_geometry_create(mn_mac *mac);
void mn_mac_geometry_destroy(mn_mac *mac);
/* Solids and sources at `time`, velocities over the dt before it; the bodies' surfaces in `im`, or
   NULL, known by their number `stamp`. Returns 1 if faces were closed anew: velocities of the
   bodies' faces are then 0. */
int mn_mac_geometry_update(mn_mac *mac, double time, double dt, const mn_immersed *im, long stamp);
/* Room to keep solids of the scene apart from bodies. */
mn_status mn_mac_geometry_keep_obstacles(mn_mac *mac);
/* Of the solid nearest to x; of one that is placed. */
mn_vec3 mn_mac_solid_velocity(const mn_mac *mac, mn_vec3 x);
int mn_mac_nearest_solid(const mn_mac *mac, mn_vec3 x); /* of the scene's, or -1 */
mn_vec3 mn_mac_placed_velocity(const mn_placement *place, mn_vec3 x);
/* Greatest distance of a solid's points from its pivot, within the domain's size. */
double mn_mac_solid_reach(const mn_mac *mac, int solid);

mn_placement mn_mac_place_at_start(const mn_solid_def *solid);
/* Distance to a solid of the scene where it is placed, as it is. */
double mn_mac_placed_distance(const mn_solid_def *solid, const mn_placement *place, mn_vec3 x);
/* Distance to a solid of the scene where it is at time 0, thin walls as the fluid takes them. */
double mn_mac_start_distance(const mn_mac *mac, int solid, mn_vec3 x);
/* Distance to the nearest solid of the scene; without any very far. */
double mn_mac_obstacle_distance(const mn_mac *mac, mn_vec3 x);
/* Distance to the nearest solid or body at the geometry's time; without any very far. */
double mn_mac_solid_distance(const mn_mac *mac, mn_vec3 x);
/* Velocities of the sources' faces; in closed regions that were told (enclose.c) means over the
   substep, so that what flows in is the integral of the ramp. */
void mn_mac_update_sources(mn_mac *mac);
/* Factor of an inflow's velocity at x. */
double mn_mac_profile(const mn_source_def *source, mn_vec3 x);

/* stairs.c */
mn_status mn_stairs_create(mn_mac *mac);
/* 1 + index of the inflow that the cell belongs to, 0 if none; *outside: it is beyond the domain.
 */
int mn_inflow_of(const mn_mac *mac, const int at[3], int *outside);
/* Number of samples on a side of a cell, and one of them; the middle of the side is given. */
int mn_stairs_samples(const mn_mac *mac);
mn_vec3 mn_stairs_sample(const mn_mac *mac, mn_vec3 middle, int axis, int n);
/* Part of an outer face (index with ghosts) of an inflow that blows. */
double mn_stairs_part(const mn_mac *mac, int axis, int64_t q);
/* The same of what blows and is open, where solids leave the part `open` of the face. */
double mn_stairs_open_part(const mn_mac *mac, int axis, int i, int j, int k, double open);
/* Whether what has come to x out of the inflow's cells, by `way` (m) at most, has left it for good.
 */
int mn_stairs_let_go(const mn_mac *mac, int source, mn_vec3 x, mn_vec3 way);

/* thin_walls.c */
/* Which solids have thin walls, at the start. */
MN_MUST_CHECK mn_status mn_thin_walls_find(mn_mac *mac);
/* Closes nodes where thin walls meet, or obstacles touch. */
void mn_thin_walls_plug(const mn_mac *mac, mn_field *distance);
/* Distance to a solid with thin walls, of which x is d away, as the fluid takes them. */
double mn_thin_walls_distance(const mn_mac *mac, const mn_solid_def *solid,
                              const mn_placement *place, mn_vec3 x, double d);
/* Distance to the solids that stand, as the fluid takes them. */
double mn_mac_standing_distance(const mn_mac *mac, mn_vec3 x);

/* touching.c */
/* Whether corners of a cell in the fluid (d > 0) are not joined along its edges; two such. */
int mn_touching_corners(int dim, const double *d, int *from, int *to);
/* Whether there is a way between these corners of the cell, out of the solids that stand. */
int mn_touching_passes(const mn_mac *mac, const int cell[3], int from, int to);

/* misplaced.c; sources that could never do anything are refused, other odd places warned of */
mn_status mn_mac_check_places(const mn_mac *mac);

/* limits.c */
double mn_mac_max_dt(void *self);
/* Whether a wall's velocity changed from the last substep to this one by so much that it acts like
 * a blow. */
int mn_mac_wall_jumped(const mn_mac *mac);

/* boundary.c */
mn_status mn_extension_create(mn_context *ctx, const mn_field *like, mn_extension *e);
void mn_extension_destroy(mn_extension *e);
/* `layer` holds 0 where there is a value and MN_OUT_OF_REACH elsewhere; makes the plan. */
void mn_extension_plan(const mn_field *like, mn_extension *e);
void mn_extension_apply(const mn_extension *e, mn_continuation how, mn_field *f);
/* Ghosts of a velocity component by the domain's sides at `time`. */
void mn_mac_fill_velocity(const mn_mac *mac, double time, mn_field *u, int axis);
/* Ghosts of a cell field: the nearest value inside. */
void mn_mac_fill_cells(mn_field *f);
/* Values of closed faces (walls, sources, solids) of a velocity, then its ghosts. `held`: cells
   whose water parts from the walls, or NULL. */
void mn_mac_close(const mn_mac *mac, double time, const mn_field *held, mn_field u[3]);
double mn_mac_side_velocity(const mn_mac *mac, int side, double time, int axis);

/* advect.c */
/* to = from carried along mac->trace for dt. What enters through open sides has the value *outside,
   or, when it is NULL, that of the side. Where shells leave no fluid to come from, *outside, or air
   in a level set. */
void mn_mac_advect(mn_mac *mac, double dt, const mn_field *from, const double *outside,
                   mn_field *to);

/* viscosity.c */
mn_status mn_mac_viscosity_create(mn_mac *mac);
void mn_mac_viscosity_destroy(mn_mac *mac);
/* star <- star after dt of  du/dt = nu lap u + a,  with the walls at their places; a [m/s^2] is in
   gradient. Uses trace and result as scratch. */
mn_status mn_mac_diffuse(mn_mac *mac, double dt);

/* project.c */
/* Shows the equation to the watcher, if there is one. */
mn_status mn_mac_show_equation(mn_mac *mac, const mn_pressure_geometry *geometry, const mn_lcp *lcp,
                               double tolerance);
mn_pressure_geometry mn_mac_pressure_geometry(const mn_mac *mac);
/* The pressure system of the geometry, unless it is there: its unknowns and regions, and all. */
mn_status mn_mac_analyse(mn_mac *mac);
mn_status mn_mac_assemble(mn_mac *mac);
/* b <- -(rho/dt) div u*; returns max |b|; *speed <- the greatest velocity on any face */
double mn_mac_right_hand_side(mn_mac *mac, double dt, double *speed);
/* The same where nothing but walls of bodies has moved since: only beside these. */
double mn_mac_right_hand_side_again(mn_mac *mac, double dt, double *speed);
/* What may be left of b, whose greatest value is `worst`, in a cell, and summed up over a closed
   region. */
void mn_mac_tolerances(const mn_mac *mac, double dt, double worst, double speed, double *tolerance,
                       double *sum_tolerance);
/* dp <- the pressure of the last substep, if this is its first solve; else it is that of the last
   one. */
void mn_mac_guess(mn_mac *mac);
/* result <- u* - (dt/rho) grad dp on open faces, the wall's velocity on closed ones */
void mn_mac_subtract_gradient(mn_mac *mac, double dt);
/* The closed region with the greatest net inflow; *flow in m^3/s (m^2/s in 2D). From separating
   walls water may part, so only what presses on it counts. */
mn_pressure_region mn_mac_worst_region(const mn_mac *mac, double dt, double *flow);
/* result <- the divergence-free part of star, dp <- the pressure (increment) that made it so */
mn_status mn_mac_project(mn_mac *mac, double dt, mn_solve_report *report);
/* greatest |div u| over the cells with fluid; phi: the liquid's level set, without data for smoke;
   held: cells that may expand, NULL or without data if there are none */
double mn_mac_divergence(mn_mac *mac, const mn_field *phi, const mn_field *held,
                         const mn_field u[3]);

/* misplaced.c */
/* Whether the place lies in a drain. */
int mn_mac_is_drained(const mn_mac *mac, mn_vec3 x);

/* separate.c */
int mn_separates(const mn_model_def *def);
/* Per point, if there is water at the part `wet` of all points. */
double mn_separate_bytes(const mn_model_def *def, double wet);
mn_status mn_separate_create(mn_mac *mac);
void mn_separate_destroy(mn_mac *mac);
/* MN_BAD_INPUT if there is no water at the start, or if all of it is enclosed without air, no solid
   moves that could make room, and the scene does not say that this is meant. Any walls. */
mn_status mn_separate_refuse(mn_mac *mac);
/* dp <- the pressure for b that pushes only, from dp; separate.held <- the cells that part. The
   regions of `pressure` must be those of this geometry; b is changed in regions without air. */
mn_status mn_separate_solve(mn_mac *mac, double dt, double tolerance, double sum_tolerance,
                            mn_solve_report *report);
/* Closed faces beside held cells and air move with the water that leaves them. */
void mn_separate_faces(const mn_mac *mac, const mn_field *held, int axis, mn_field *u);
/* Some face of the cell is open. */
int mn_separate_is_open(const mn_mac *mac, int i, int j, int k);
/* Some cell at most `reach` cells away along each axis is held. */
int mn_separate_near(const mn_field *held, int i, int j, int k, int reach);

/* Fills separating of the problem: where 0 <= p is a condition. */
void mn_separate_mark(mn_mac *mac);
/* Fills the problem, for who wants to see it. */
MN_MUST_CHECK mn_status mn_separate_describe(mn_mac *mac, int changes);
/* separate.held <- the cells that part, of dp */
void mn_separate_mark_held(mn_mac *mac);

/* empty.c */
int mn_mac_has_empty(const mn_mac *mac);
mn_status mn_mac_empty_create(mn_mac *mac);
void mn_mac_empty_destroy(mn_mac *mac);
/* Closes the faces of cells that are connected to an open side; surfaces NULL: of none. */
void mn_mac_empty_outside(mn_mac *mac, const mn_immersed *surfaces);
/* What is carried is nothing there. */
void mn_mac_empty_state(mn_mac *mac);
/* MN_BAD_INPUT if nothing is left. */
mn_status mn_mac_empty_refuse(mn_mac *mac);

/* look.c */
/* A point where the pressure of smoke at rest is 0. */
mn_vec3 mn_mac_top(const mn_mac *mac);

/* rim.c: phi <- distance to the surface of the water at the start; walls are none */
void mn_liquid_fill(const mn_mac *mac, mn_field *phi);

/* liquid.c */
void mn_liquid_redistance(mn_mac *mac, mn_field *phi);
/* Continues a new level set into solids, so that a surface ends at the wall and not before it. */
void mn_liquid_into_solids(mn_mac *mac, mn_field *phi);
/* A level set known in the fluid's cells: continued into solids, made a distance, ghosts filled. */
void mn_liquid_finish(mn_mac *mac, mn_field *phi);
/* Centres of cells that are on the surface, to rounding, count as air. */
void mn_liquid_put_on_surface(const mn_mac *mac, mn_field *phi);
/* Part of a cell under phi - shift; `seen`: the cells around that belong to it, as of
   mn_shell_seen. */
double mn_liquid_part(const mn_field *phi, uint32_t seen, int i, int j, int k, double shift);
/* keep.c; nothing without a level set that is carried */
MN_MUST_CHECK mn_status mn_liquid_keep_create(mn_mac *mac);
void mn_liquid_keep_destroy(mn_keep *keep);
/* wet <- the volume of water in each cell */
void mn_liquid_measure(const mn_mac *mac, const mn_field *phi, mn_field *wet);
/* phi, carried through the substep, shifted a little, so that it encloses the volume it did. */
MN_MUST_CHECK mn_status mn_liquid_keep_volume(mn_mac *mac, mn_field *phi);

/* Plans the extension of velocities from the faces that touch liquid (unless phi is NULL) or got a
   velocity from particles to those near them. */
void mn_liquid_plan(mn_mac *mac, const mn_field *phi);

#endif
