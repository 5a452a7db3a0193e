/* The compiled scene: a set-up as open structs (defs) and the immutable model made of them.
   A Lua scene fills the same structs: a field here, its scene key and its documentation share one
   name (src/world/schema_table.c). SI units; 2D quantities are per metre of depth. */
#ifndef MENISCUS_MODEL_H
#define MENISCUS_MODEL_H

#include "meniscus/base.h"
#include "meniscus/body.h"
#include "meniscus/coupling.h"
#include "meniscus/shape.h"
#include "meniscus/timefn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- domain ---------------------------------------------------------------------------------- */

/* Sides are numbered 2 axis + (0 low, 1 high): left, right, bottom, top, back, front. */
typedef enum mn_side_kind {
  MN_SIDE_SLIP,   /* closed; the fluid slides along it */
  MN_SIDE_NOSLIP, /* closed; the fluid sticks to it */
  MN_SIDE_OPEN,   /* fluid passes; outside it is ambient fluid at rest (smoke) or air (water) */
  MN_SIDE_THROUGH /* fluid passes; outside it moves as it does at the side: a channel that goes on
                   */
} mn_side_kind;

typedef struct mn_side_def {
  mn_side_kind kind;
  mn_vec3 velocity; /* m/s of a no-slip wall along itself; its normal component must be 0 */
  mn_timefn ramp;   /* multiplies velocity */
  double friction, restitution; /* of a closed side, for bodies */
} mn_side_def;

typedef struct mn_domain_def {
  int dim;        /* 2 or 3 */
  mn_vec3 origin; /* m, the low corner */
  mn_vec3 size;   /* m */
  int cells[3];   /* cubic cells: size / cells must agree along all axes; cells[2] = 1 in 2D */
  mn_side_def side[6];
} mn_domain_def;

/* ---- fluid ----------------------------------------------------------------------------------- */

typedef enum mn_fluid_kind {
  MN_FLUID_SMOKE,
  MN_FLUID_WATER,
  MN_FLUID_NONE,
  MN_FLUID_PLUGIN /* of a shared object: fluid_plugin of the model */
} mn_fluid_kind;
typedef enum mn_advection { MN_ADVECT_MACCORMACK, MN_ADVECT_SEMILAGRANGIAN } mn_advection;
/* How the velocity of water travels. */
typedef enum mn_transfer {
  MN_TRANSFER_APIC,    /* particles with an affine velocity each */
  MN_TRANSFER_FLIP,    /* particles that take over the change of the grid's velocity */
  MN_TRANSFER_MARKER,  /* particles say where the liquid is; velocity is carried on the grid */
  MN_TRANSFER_LEVELSET /* no particles: level set and velocity by `advection` */
} mn_transfer;
typedef enum mn_pressure_solver { MN_PRESSURE_MGPCG, MN_PRESSURE_PCG } mn_pressure_solver;
/* What walls do to water that would leave them. */
typedef enum mn_walls {
  MN_WALLS_SEPARATING, /* let it go: they push, but never pull (an LCP for the pressure) */
  MN_WALLS_STICKING    /* hold it, by suction if need be */
} mn_walls;
/* What is where smoke is connected to an open side, once there are bodies. */
typedef enum mn_outside {
  MN_OUTSIDE_FLUID,
  MN_OUTSIDE_EMPTY /* nothing: no mass, no pressure; only closed regions hold fluid */
} mn_outside;
/* Solvers of the pressure LCP; docs/theory/lcp.md. */
typedef enum mn_lcp_solver_kind {
  MN_LCP_FAST, /* the default */
  MN_LCP_FAS,
  MN_LCP_PI_PCG,
  MN_LCP_PI_MG,
  MN_LCP_PE_PCG,
  MN_LCP_PE_MG,
  MN_LCP_FMG,
  MN_LCP_NEWTON,
  MN_LCP_PGS,
  MN_LCP_MPRGP,
  MN_LCP_FAS_TRILINEAR, /* ablations of MN_LCP_FAS */
  MN_LCP_FAS_CONSTANT,
  MN_LCP_FAS_PLAIN_WALLS,
  MN_LCP_FAS_DIRECT_COARSE,
  MN_LCP_SOLVERS
} mn_lcp_solver_kind;

/* A vector (or, in x, a scalar) given as a constant or as a function of position. */
typedef struct mn_field_fn {
  mn_vec3 value; /* used when eval is NULL */
  mn_status (*eval)(void *user, mn_vec3 x, mn_vec3 *value);
  void *user;
} mn_field_fn;

typedef struct mn_fluid_def {
  mn_fluid_kind kind;
  double density;      /* kg/m^3 */
  double viscosity;    /* m^2/s, kinematic */
  mn_vec3 gravity;     /* m/s^2 */
  mn_vec3 body_force;  /* N/m^3 */
  double smoke_weight; /* 1: gravity acts on smoke s as on density (1 + smoke_weight s) */
  double expansion;    /* 1/K: and on temperature as on (1 - expansion (T - ambient)) */
  double ambient;      /* K */
  int temperature;     /* carry a temperature field */

  mn_advection advection;
  int order;     /* 2: second order in time; 1: plain splitting */
  int limiter;   /* MacCormack values stay within those of their stencil */
  double cfl;    /* cells per substep */
  double dt;     /* s, fixed substep; 0: from cfl */
  double max_dt; /* s; 0: no limit but the frames */
  mn_pressure_solver pressure_solver;
  double pressure_tolerance;   /* of the residual, relative to that of zero pressure */
  double divergence_tolerance; /* 1/s; a residual of so much divergence is enough, too; 0: no */
  int pressure_max_iterations;
  int project; /* 0 leaves out the projection: a negative control for tests */

  mn_field_fn initial_velocity;    /* m/s */
  mn_field_fn initial_smoke;       /* in x: smoke per volume, 1 = dense */
  mn_field_fn initial_temperature; /* in x: K */
  mn_outside outside;              /* of smoke */
  mn_shape *initial_smoke_shape;   /* smoke 1 inside; NULL: initial_smoke */
  mn_shape *initial_water;         /* water fills it; required for water */

  mn_walls walls;                /* of water */
  mn_lcp_solver_kind lcp_solver; /* for separating walls */
  int enclosed;                  /* water may fill a closed space without any air */
  mn_field_fn viscosity_factor;  /* of water, in x: multiplies viscosity, at fixed places */
  mn_transfer transfer;          /* of water */
  double flip;                   /* part of FLIP in the blend with PIC */
  double jitter;                 /* of fresh particles, in half cells */
  int volume_control;            /* keeps the particles' density near 1 */
} mn_fluid_def;

/* ---- sources and solids ---------------------------------------------------------------------- */

typedef enum mn_profile { MN_PROFILE_UNIFORM, MN_PROFILE_PARABOLIC } mn_profile;

/* An inflow blows from the cells inside its shape and never sucks: the faces between them and the
   other cells carry the velocity where it points out of the shape and are closed elsewhere. On a
   domain side covered by the shape it is an inlet. An emitter only sets smoke and temperature. A
   drain takes away the water inside its shape, which then holds air. */
typedef struct mn_source_def {
  char name[MN_NAME_MAX];
  mn_shape *shape;
  int blows;          /* 1: inflow, 0: emitter or drain */
  int drains;         /* 1: takes away water that reaches it */
  mn_vec3 velocity;   /* m/s */
  double speed;       /* m/s, instead of velocity: out of a disk or ball on all sides, normal to it;
                         the whole flow is speed times its surface. Smoke only */
  mn_profile profile; /* parabolic: 1 - (r/R)^2 across the shape, R half its width */
  mn_timefn ramp;     /* multiplies velocity */
  double smoke;       /* value inside the shape */
  double temperature; /* K inside the shape */
} mn_source_def;

typedef struct mn_solid_def {
  char name[MN_NAME_MAX];
  mn_shape *shape;
  int noslip; /* 1: viscous fluid sticks to it */
  int moving; /* 0: motion is ignored */
  mn_motion motion;
  double friction, restitution; /* for bodies */
} mn_solid_def;

/* ---- probes and output ----------------------------------------------------------------------- */

typedef enum mn_probe_kind {
  MN_PROBE_PRESSURE,       /* at `at`, Pa */
  MN_PROBE_VELOCITY,       /* component `axis` at `at`, or the speed for axis -1, m/s */
  MN_PROBE_SMOKE,          /* at `at` */
  MN_PROBE_TEMPERATURE,    /* at `at`, K */
  MN_PROBE_KINETIC_ENERGY, /* of the fluid, J */
  MN_PROBE_FLUX,       /* through the plane x[axis] = position, inside `shape` if given, m^3/s */
  MN_PROBE_VOLUME,     /* of: "fluid", "smoke" (its integral) or a solid's name, m^3 */
  MN_PROBE_DIVERGENCE, /* max |div u|, 1/s */
  /* of the body `of` */
  MN_PROBE_POSITION,      /* of its centre of mass, or of its node nearest to `at` at rest, m */
  MN_PROBE_BODY_VELOCITY, /* the same, m/s */
  MN_PROBE_ANGLE,         /* of a rigid body, rad */
  MN_PROBE_BODY_ENERGY,   /* J, kinetic and elastic; of all bodies if `of` is empty */
  MN_PROBE_FORCE,         /* on it by contact and a fluid, mean of the last substep, N */
  MN_PROBE_STRETCH,       /* greatest length over that at rest */
  MN_PROBE_VOLUME_RATIO   /* least of an elastic body's elements */
} mn_probe_kind;

typedef struct mn_probe_def {
  char name[MN_NAME_MAX]; /* the column in probes.csv */
  mn_probe_kind kind;
  mn_vec3 at; /* m */
  int axis;
  double position; /* m */
  mn_shape *shape;
  char of[MN_NAME_MAX];
  int at_point; /* 1: `at` counts, for bodies */
} mn_probe_def;

typedef struct mn_output_def {
  int frames;
  double every;           /* s between frames */
  int vtk;                /* write frames/ */
  int preview;            /* write preview/ */
  char show[MN_NAME_MAX]; /* preview's field: smoke, temperature, speed, vorticity, pressure, water
                           */
  double range[2];        /* of its colour map; equal: from the data */
  int checkpoint_frames;  /* a checkpoint every so many frames; 0: none */
  double checkpoint_minutes; /* and after so many minutes of wall time; 0: never */
  int checkpoint_keep;       /* every so many frames one that is kept for good; 0: none */
} mn_output_def;

/* ---- plug-ins -------------------------------------------------------------------------------- */

enum { MN_PLUGIN_NUMBERS_MAX = 32 };

typedef struct mn_plugin_number {
  char name[MN_NAME_MAX];
  double value;
} mn_plugin_number;

typedef struct mn_plugin_numbers {
  int count;
  mn_plugin_number entry[MN_PLUGIN_NUMBERS_MAX];
} mn_plugin_numbers;

/* A fluid or all bodies of a scene from a shared object; meniscus/plugin.h. */
typedef struct mn_plugin_def {
  char name[MN_NAME_MAX]; /* of a solid, for probes */
  char file[MN_PATH_MAX]; /* "": there is none */
  mn_plugin_numbers numbers;
} mn_plugin_def;

/* ---- the whole ------------------------------------------------------------------------------- */

typedef struct mn_param {
  char name[MN_NAME_MAX];
  char value[MN_TEXT_MAX];   /* in force, as -p takes it */
  char initial[MN_TEXT_MAX]; /* the scene's default */
  char text[MN_TEXT_MAX];
} mn_param;

typedef struct mn_model_def {
  char name[MN_NAME_MAX];
  char title[MN_TEXT_MAX];
  char reproduces[MN_TEXT_MAX];
  mn_domain_def domain;
  mn_fluid_def fluid;
  int source_count;
  mn_source_def *sources;
  int solid_count;
  mn_solid_def *solids;
  int body_count;
  mn_body_def *bodies;
  int link_count;
  mn_link_def *links;
  mn_dynamics_def dynamics;
  mn_plugin_def fluid_plugin, solid_plugin;
  mn_coupling_def coupling; /* counts if there are both a fluid and bodies */
  int probe_count;
  mn_probe_def *probes;
  mn_output_def output;
  int param_count;
  mn_param *params;
  void *owner; /* what field functions need, e.g. a Lua state */
  void (*release)(void *owner);
} mn_model_def;

/* The defaults of docs/reference.md. What has none is 0: the domain's size and cells (2D), shapes.
 */
mn_model_def mn_model_def_default(void);
mn_fluid_def mn_fluid_def_default(mn_fluid_kind kind);
mn_source_def mn_source_def_default(void); /* an inflow */
mn_solid_def mn_solid_def_default(void);
mn_body_def mn_body_def_default(mn_body_kind kind);
mn_link_def mn_link_def_default(void);
/* Destroys the shapes and the owner, not the arrays. For a def that never became a model. */
void mn_model_def_release(mn_model_def *def);

typedef struct mn_model mn_model;

/* Checks and copies the def. Takes over its shapes and owner in every case, so that the caller only
   frees its own arrays. Refuses grids beyond the memory limit before allocating anything. */
MN_MUST_CHECK mn_status mn_model_create(mn_context *ctx, mn_model_def *def, mn_model **model);
void mn_model_destroy(mn_model **model);
const mn_model_def *mn_model_get(const mn_model *model);

#ifdef __cplusplus
}
#endif
#endif
