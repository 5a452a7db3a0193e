/* Rigid bodies: free, jointed to the world, or driven; springs and dampers between them.

   A body is the shape given, which stands where the body is at the start. At any time its points
   are x + q (X - center), X where they were at the start. */
#ifndef MN_SOLID_RIGID_H
#define MN_SOLID_RIGID_H

#include "geom/shape.h"
#include "math/quat.h"
#include "meniscus/motion.h"
#include "solid/mass.h"
#include "solid/sharp.h"

typedef enum mn_joint_kind {
  MN_JOINT_NONE,
  MN_JOINT_FIXED,     /* does not move */
  MN_JOINT_PRISMATIC, /* slides along `axis`, does not turn */
  MN_JOINT_HINGE,     /* turns about `axis` through `point`; in 2D `axis` is z */
  MN_JOINT_DRIVEN     /* follows `motion` */
} mn_joint_kind;

typedef struct mn_rigid_def {
  const char *name;      /* for messages; may be NULL */
  const mn_shape *shape; /* borrowed: must live as long as the body */
  double density;        /* kg/m^3 */
  double mass;           /* kg, spread evenly; 0: from the density */
  mn_joint_kind joint;
  mn_vec3 axis, point; /* of the joint; m */
  mn_motion motion;    /* of a driven body */
  mn_vec3 slide;       /* m/s: the surface of a fixed body moves along itself; times its ramp */
  mn_timefn slide_ramp;
  mn_vec3 velocity;      /* m/s of the centre at the start; a joint takes what it allows */
  mn_vec3 spin;          /* rad/s at the start */
  mn_vec3 force, torque; /* N, N m, constant directions; times their ramps */
  mn_timefn force_ramp, torque_ramp;
  double friction;    /* Coulomb's; of a pair: the geometric mean */
  double restitution; /* in [0, 1]; of a pair: the greater */
  int collides;       /* 0: no contact with anything */
  int sampled;        /* its surface has points of the interface */
} mn_rigid_def;

mn_rigid_def mn_rigid_def_default(void);

/* Between a point of body a and a point of body b, or of the world (b = -1); the points as they
   are at the start. */
typedef struct mn_spring_def {
  int a, b;
  mn_vec3 at_a, at_b; /* m */
  double stiffness;   /* N/m */
  double damping;     /* kg/s, along the spring */
  double length;      /* m, at rest; negative: as it is at the start */
  int torsion;        /* of the hinge a alone: N m and N m s per radian; rests at angle `length` */
} mn_spring_def;

typedef struct mn_rigid_body {
  mn_rigid_def def;
  char name[64];
  double mass;     /* kg */
  double volume;   /* m^3; 0: unbounded */
  mn_vec3 center;  /* m, of mass, at the start */
  mn_mat3 axes;    /* columns: principal axes at the start */
  mn_vec3 inertia; /* kg m^2, principal */
  mn_vec3 inverse; /* 1/inertia; 0 about axes that cannot turn */
  double hinge;    /* kg m^2, about the hinge */
  double bound;    /* m, all points are within it of the centre; HUGE_VAL: unbounded */
  double radius;   /* m, if it is a sphere or disk; else 0 */
  mn_vec3 ball;    /* m, the sphere's centre at the start */
  int moves;       /* obeys forces */
  mn_vec3 *point;  /* contact points on the surface, at the start; [points] */
  mn_vec3 *normal; /* outward there */
  size_t points;
  double spacing; /* m, of the contact points */
  mn_sharp sharp; /* of a polyhedron, at the start */
} mn_rigid_body;

/* All that changes; nothing but doubles, so that a checkpoint sees one array. */
typedef struct mn_rigid_state {
  mn_vec3 x;            /* m, centre of mass */
  mn_quat q;            /* turn since the start */
  mn_vec3 v;            /* m/s */
  mn_vec3 L;            /* kg m^2/s, angular momentum about the centre, in world axes */
  double s, rate;       /* joint coordinate (m or rad) and its rate; of a free one in 2D its turn */
  mn_vec3 load, torque; /* N, N m about the centre: of the interface, in the last substep */
  mn_vec3 contact, twist; /* N, N m: mean contact force in the last substep */
} mn_rigid_state;

typedef struct mn_twist {
  mn_vec3 v, w; /* m/s of the centre, rad/s */
} mn_twist;

typedef struct mn_rigid {
  mn_context *ctx;
  int dim;
  mn_vec3 gravity;
  int count;
  mn_rigid_body *body;
  mn_rigid_state *now, *next, *saved;
  int springs;
  mn_spring_def *spring;
} mn_rigid;

MN_MUST_CHECK mn_status mn_rigid_create(mn_context *ctx, int dim, mn_vec3 gravity,
                                        const mn_rigid_def *defs, int count,
                                        const mn_spring_def *springs, int spring_count,
                                        mn_rigid **rigid);
void mn_rigid_destroy(mn_rigid **rigid);

/* ---- one body -------------------------------------------------------------------------------- */

static inline mn_vec3 mn_rigid_point(const mn_rigid_body *b, const mn_rigid_state *s, mn_vec3 start)
{
  return mn_add(s->x, mn_quat_rotate(s->q, mn_sub(start, b->center)));
}
/* Where the point x of the world was at the start, if it belongs to the body. */
static inline mn_vec3 mn_rigid_start(const mn_rigid_body *b, const mn_rigid_state *s, mn_vec3 x)
{
  return mn_add(b->center, mn_quat_rotate(mn_quat_conjugate(s->q), mn_sub(x, s->x)));
}
mn_twist mn_rigid_twist(const mn_rigid_body *b, const mn_rigid_state *s);
static inline mn_vec3 mn_twist_at(mn_twist t, mn_vec3 arm)
{
  return mn_add(t.v, mn_cross(t.w, arm));
}
/* Change of (v, w) for an impulse and an angular impulse about the centre: W (P, T). */
void mn_rigid_mobility(const mn_rigid_body *b, const mn_rigid_state *s, double W[6][6]);
/* Adds an impulse (kg m/s) and an angular one about the centre; joints take what they allow. */
void mn_rigid_kick(const mn_rigid_body *b, mn_rigid_state *s, mn_vec3 P, mn_vec3 T);
/* Moves for dt without any force. */
void mn_rigid_drift(const mn_rigid_body *b, mn_rigid_state *s, double dt);
/* Of a free body: how its turn at the end of a drift from s changes with L, in world axes; in 2D
   only about z. */
mn_mat3 mn_rigid_drift_tangent(const mn_rigid_body *b, const mn_rigid_state *s, double dt);
/* Pose and velocity of a driven body; of a fixed one the velocity of its surface. */
void mn_rigid_drive(const mn_rigid_body *b, mn_rigid_state *s, double t);
/* The external force of the def at time t. */
void mn_rigid_external(const mn_rigid_body *b, double t, mn_vec3 *force, mn_vec3 *torque);

/* ---- measures, of a state; body < 0: all that move ------------------------------------------- */

double mn_rigid_kinetic(const mn_rigid *rigid, int body);                 /* J */
double mn_rigid_potential(const mn_rigid *rigid, int body);               /* J, of gravity */
double mn_rigid_spring_energy(const mn_rigid *rigid);                     /* J */
mn_vec3 mn_rigid_momentum(const mn_rigid *rigid, int body);               /* kg m/s */
mn_vec3 mn_rigid_angular(const mn_rigid *rigid, int body, mn_vec3 about); /* kg m^2/s */
/* Turn since the start in radians: of a hinge, a driven body and in 2D with its sign and whole
   turns, else its size in [0, pi]. */
double mn_rigid_angle(const mn_rigid *rigid, int body);

#endif
