/* Bodies that move by forces: rigid ones, elastic ones, cloth and curves, shells and rods. */
#ifndef MENISCUS_BODY_H
#define MENISCUS_BODY_H

#include "meniscus/base.h"
#include "meniscus/motion.h"
#include "meniscus/shape.h"
#include "meniscus/timefn.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MN_NAME_MAX 64
#define MN_TEXT_MAX 256
#define MN_PATH_MAX 4096

typedef enum mn_body_kind {
  MN_BODY_RIGID,
  MN_BODY_ELASTIC,
  MN_BODY_SPRINGS,
  MN_BODY_SHELL,
  MN_BODY_ROD
} mn_body_kind;

typedef enum mn_body_material {
  MN_BODY_NEO_HOOKEAN,
  MN_BODY_COROTATED,
  MN_BODY_ST_VENANT
} mn_body_material;

typedef enum mn_body_joint {
  MN_BODY_FREE,
  MN_BODY_FIXED,  /* does not move */
  MN_BODY_SLIDER, /* moves along joint_axis only: a piston */
  MN_BODY_HINGE   /* turns about joint_axis through joint_point only */
} mn_body_joint;

/* Where a key has no meaning for a kind, it is ignored. */
typedef struct mn_body_def {
  char name[MN_NAME_MAX];
  mn_body_kind kind;

  /* geometry: `shape` filled or, for thin bodies, its surface; a mesh file; or a line or sheet */
  mn_shape *shape;
  char file[MN_PATH_MAX];
  double spacing; /* m, between nodes; 0: the fluid grid's cell */
  int order;      /* 2: quadratic elements */
  int line; /* 1: thin body from `from` to `to`; springs in 2D: besides `shape`, a wall in it */
  mn_vec3 from, to;
  double tube; /* m; above 0: not a line, but the wall of a tube of this radius around it */
  int sheet;   /* 1: cloth or shell with this corner and edges */
  mn_vec3 corner, along, across;

  double density; /* kg/m^3; springs and rods per length or area: kg/m, kg/m^2 */
  mn_vec3 velocity;
  mn_vec3 spin; /* rad/s, of rigid bodies; z in 2D */
  double damping_mass, damping_stiffness;

  mn_body_material material;
  double young, poisson;
  double thickness; /* m, of shells */
  double stretch, bend, stretch_damping, bend_damping;

  mn_shape *fixed; /* nodes inside rest, or follow `motion` */
  double release;  /* s: then they are let go; 0: never */
  mn_shape *cut;   /* elements whose middle is inside are left out; may be NULL */
  int moving;      /* motion is given */
  mn_motion motion;

  mn_body_joint joint;
  mn_vec3 joint_axis, joint_point;
  mn_vec3 force; /* N at the centre of mass */
  mn_timefn force_ramp;
  mn_vec3 torque; /* N m; z in 2D */
  mn_timefn torque_ramp;
  /* a spring to the place where the body starts: N/m, kg/s of a slider, N m, N m s of a hinge */
  double spring, damper;
  double friction, restitution;
  int collides; /* 0: passes through everything */
} mn_body_def;

/* A spring and damper between a point of a body and a point of another one or of the world. Points
   are where they are at the start; on a deformable body the nearest node counts. */
typedef struct mn_link_def {
  char of[MN_NAME_MAX], to[MN_NAME_MAX]; /* bodies; `to` empty: the world */
  mn_vec3 at, to_at;                     /* m */
  double stiffness, damping;             /* N/m, kg/s */
  double length;                         /* m, at rest; negative: as it is at the start */
} mn_link_def;

typedef enum mn_integrator {
  MN_INTEGRATE_EULER,
  MN_INTEGRATE_NEWMARK,
  MN_INTEGRATE_MIDPOINT,
  MN_INTEGRATE_EXPLICIT
} mn_integrator;

/* How bodies move in time. */
typedef struct mn_dynamics_def {
  mn_integrator integrator;
  double beta, gamma; /* of Newmark */
  mn_vec3 gravity;    /* m/s^2 */
  double dt;          /* s; greatest substep */
  double tolerance;
  int max_iterations;
  int contact;     /* between bodies, and with obstacles and closed sides of the domain */
  int check_start; /* 1: bodies that overlap at the start or lie outside the domain are refused */
} mn_dynamics_def;

#ifdef __cplusplus
}
#endif
#endif
