/* The inside of the solids. */
#ifndef MN_SOLID_SOLID_INTERNAL_H
#define MN_SOLID_SOLID_INTERNAL_H

#include "solid/contact_internal.h"
#include "solid/solid.h"
#include "solid/solid_meet.h"

/* A point of the interface on a rigid body, at the start. */
typedef struct surface_point {
  int body;
  mn_vec3 x, n;
  double area;
} surface_point;

/* A rigid body with the points' added masses m fixed to it: solid_added.c. */
typedef struct mn_heavy {
  int any;        /* it moves, and some m > 0 */
  double A[6][6]; /* of the points */
  double B[6][6]; /* (1 + theta W A)^-1 */
  mn_vec3 load;   /* N, of the points */
  mn_vec3 twist;  /* N m, about the points' mean */
} mn_heavy;

/* The speed of stretching of a spring that turns over in every substep: solid_springs.c. */
typedef struct mn_ring {
  mn_vec3 d, at[2]; /* of the end: along it; its ends */
  double mean;      /* m/s, of the substep */
  double part;      /* of what the end has more that is taken from it */
} mn_ring;

struct mn_solids {
  mn_context *ctx;
  mn_solids_def def;
  mn_rigid *rigid;
  mn_deform *deform;
  mn_deform_view nodes; /* of it */
  mn_contact *contact;
  double t, dt;
  mn_solids_report report;
  double depth, saved_depth; /* deepest penetration: state */
  /* of a solve */
  mn_vec3 *force, *torque; /* at the pose of theta */
  mn_vec3 *load, *twist;   /* sum of the interface's loads; their torque about the points' mean */
  mn_vec3 *mean, *arm;     /* mean of the points, and at the start relative to the centre */
  size_t *point_count;
  mn_twist *free, *u, *push;
  mn_vec3 *P, *T, *spring_P;
  mn_vec3 *spring_at; /* sum of point x impulse: the torque about the origin */
  mn_rigid_state *theta;
  mn_rigid_state *bare; /* rigid bodies at the end, before contact settles their velocities */
  mn_soft_row *soft;
  mn_ring *ring; /* [3 springs] */
  mn_vec3 *pull; /* N, of each spring on a, as foretold by the last linear step: solid_springs.c */
  mn_vec3 *node_x, *node_v, *node_load;
  /* contact of deformable bodies: solid_press.c */
  double *node_friction;
  mn_facet *flat; /* facets of deformable bodies as contact sees them, cut at their middles */
  size_t flats;
  mn_facet *facet; /* those of bodies that collide */
  size_t facets;
  uint8_t *within;                /* nodes of quadratic bodies that collide */
  int inside;                     /* they feel contact in their solve; else kicks after it */
  mn_touches touch, touch_before; /* their impulse and tangent: forces in N on the rigid partner */
  mn_meet meet;                   /* finds those between deformable bodies */
  mn_press *press;
  size_t press_capacity;
  mn_twist *first_u;               /* of the rigid bodies, before elastic ones press on them */
  mn_vec3 *press_P, *press_T;      /* impulses on the rigid bodies */
  mn_vec3 *press_free, *press_v;   /* velocities of nodes, from start to end of the substep */
  double *press_stiffness, *share; /* N/m, of each node; touches of each rigid body */
  int pressing;                    /* stiffnesses of contact are those of this substep */
  /* forces on deformable bodies: solid_force.c */
  mn_vec3 *soft_force, *saved_force; /* N, of the last substep: state */
  mn_vec3 *kick_force;               /* N, of contact after the solve */
  int *body_of;                      /* of each node */
  /* inertia added to points of the interface: solid_added.c */
  int rigid_added, soft_added; /* there is some */
  const mn_interface *given;   /* during a solve */
  mn_heavy *heavy;
  uint8_t *is_heavy;       /* heavy[].any, or springs turn with it; for contact */
  double (*heavy_W)[6][6]; /* B W: their mobility in the drift */
  mn_rigid_state *ghost;   /* rigid bodies at the end of the drift */
  double *node_mass;       /* kg, with what is added */
  /* of the interface */
  surface_point *point;
  size_t points;
  uint32_t *element; /* [dim * elements], of those points */
  size_t elements;
  mn_surface_points surface;
  struct mn_linear *linear; /* operators.c; NULL: not asked for yet */
};

/* theta: forces act for theta dt before the drift. */
static inline double mn_solids_part(const mn_solids *s)
{
  return s->def.order == 2 ? 0.5 : 1;
}

/* From rigid->now and the nodes' last solve to rigid->next and the nodes' x1, v1. */
MN_MUST_CHECK mn_status mn_solids_step(mn_solids *solids);

/* Contact of the velocities at the end, rigid->next; what they were without it is kept in bare. */
MN_MUST_CHECK mn_status mn_solids_settle_contact(mn_solids *solids);

/* MN_FAILED if a rigid body of rigid->next is nowhere. */
MN_MUST_CHECK mn_status mn_solids_check_finite(mn_solids *solids);
/* The poses of theta: from those of the start, moved by u for h (s). */
void mn_solids_set_theta(mn_solids *solids, double h);
/* What carries a body that does not obey forces to its next pose. */
mn_twist mn_solids_driven(const mn_solids *solids, int body);
/* operators_touch.c: whether anything touches on the way from the start to the iterate. */
MN_MUST_CHECK mn_status mn_solids_touches(void *solids, int *any);

/* Scratch; facets that collide and stiffnesses, at the start of a substep. */
MN_MUST_CHECK mn_status mn_solids_press_create(mn_solids *solids);
void mn_solids_press_destroy(mn_solids *solids);
void mn_solids_press_begin(mn_solids *solids);
/* One more solve of the deformable bodies, against the rigid ones as they move with u. In
   press_P, press_T what the rigid bodies feel; *agreed: forces changed little since the last pass,
   or nothing touches. */
/* Before the first: what may touch, with the forces of the last substep, in press_P and press_T. */
MN_MUST_CHECK mn_status mn_solids_press_find(mn_solids *solids);
MN_MUST_CHECK mn_status mn_solids_press(mn_solids *solids, int pass, int *agreed);
/* Whether deformable bodies may touch anything on straight paths from x to x1, rigid ones moving
   with free. */
MN_MUST_CHECK mn_status mn_solids_press_any(mn_solids *solids, int *any);

/* ---- forces on deformable bodies: solid_force.c ---------------------------------------------- */

MN_MUST_CHECK mn_status mn_solids_force_create(mn_solids *solids);
void mn_solids_force_destroy(mn_solids *solids);
/* Before and after kicks are given. */
void mn_solids_kicks(mn_solids *solids, int after);
/* Of the substep that is committed. */
void mn_solids_sum_forces(mn_solids *solids);

/* ---- the interface: solid_interface.c -------------------------------------------------------- */

MN_MUST_CHECK mn_status mn_solids_sample(void *self, double spacing, size_t *count,
                                         size_t *elements);
MN_MUST_CHECK mn_status mn_solids_look(void *self, mn_interface *interface);
/* Loads in; after the solve, X, V, N, area out. */
MN_MUST_CHECK mn_status mn_solids_take(mn_solids *solids, const mn_interface *interface);
void mn_solids_show(mn_solids *solids, mn_interface *interface);
/* Loads in, V: accelerations through the mass alone, out. solid_accelerate.c. */
MN_MUST_CHECK mn_status mn_solids_accelerate(void *self, mn_interface *interface);
/* Impulses at the end of the substep in, V out. The same. */
MN_MUST_CHECK mn_status mn_solids_settle(void *self, mn_interface *interface);

/* ---- added masses: solid_added.c ------------------------------------------------------------- */

MN_MUST_CHECK mn_status mn_solids_added_create(mn_solids *solids);
void mn_solids_added_destroy(mn_solids *solids);
/* What the solve to come adds. */
MN_MUST_CHECK mn_status mn_solids_add_masses(mn_solids *solids, const mn_interface *interface);
/* Forces of the added masses for the drift u and push, into heavy. */
void mn_solids_added_loads(mn_solids *solids);
/* The velocities without contact, free, if they are found from u: u + B (free - u). */
void mn_solids_added_free(mn_solids *solids);
/* Moves by the drift and by the push apart. */
void mn_solids_move(const mn_rigid_body *body, mn_rigid_state *state, mn_twist push, double dt);

/* ---- operators: operators.c, operators_rigid.c ------------------------------------------------
 */

/* A rigid body of the iterate. */
typedef struct mn_rigid_iterate {
  mn_rigid_state half; /* pose of the start, velocities of the drift */
  int first, freedoms; /* 0: it does not obey forces */
  mn_mat3 spin;        /* kg m^2/s: change of L for a turn of the end */
  mn_mat3 lever;       /* N m: sum of arm x force, for how torques turn with the body */
  double r[6], K[6][6];
} mn_rigid_iterate;

extern const struct mn_solid_operators mn_solids_operators;
void mn_solids_linear_destroy(mn_solids *solids);
/* Of a solve: the state in which a body drifts; that it was one, or that a substep begins. */
void mn_solids_keep_drift(mn_solids *solids, int body, const mn_rigid_state *half);
void mn_solids_linear_solved(mn_solids *solids, int solved);

/* A spring in the poses of theta, which the drift u gives (solid_springs.c). */
typedef struct mn_spring_pose {
  mn_vec3 p[2];    /* m, its ends */
  mn_vec3 arm[2];  /* m, of its ends on their bodies */
  mn_vec3 axis[3]; /* along it, across it */
  mn_vec3 speed;   /* m/s, of the first end past the other */
  double rate[3];  /* N s/m: change of its force with the speed, along the axes */
  mn_vec3 force;   /* N, pull along the axes */
} mn_spring_pose;
mn_spring_pose mn_spring_at_theta(const mn_solids *solids, int spring);
/* N, on a */
mn_vec3 mn_spring_force(const mn_spring_pose *pose);
/* How torques of springs turn with bodies, into their mobilities in the drift. */
void mn_springs_levers(mn_solids *solids);
/* The start of a body's drift with the velocity u. */
void mn_solids_set_velocity(const mn_rigid_body *body, mn_twist u, mn_rigid_state *state);
/* B and B W of a body whose torques turn with it by S (N m s^2). */
void mn_solids_added_turn(mn_solids *solids, int body, mn_mat3 S);
/* Takes the speed of stretching from rigid->next where a substep does not resolve it. */
void mn_springs_settle(mn_solids *solids);
/* The pull of the start, as the one foretold. */
void mn_springs_begin(mn_solids *solids);

/* The motion of the world's point p, as one of a body in this pose, for freedom f; its turn. */
mn_vec3 mn_freedom_motion(const mn_solids *s, int body, const mn_rigid_state *pose, int f,
                          mn_vec3 p);
mn_vec3 mn_freedom_turn(const mn_solids *s, int body, int f);
int mn_freedoms_of(const mn_solids *s, int body);
/* Velocities of the start: the free drift. */
void mn_iterate_start(mn_solids *s, mn_rigid_iterate *it);
/* rigid->next, of the iterate. */
void mn_iterate_place(mn_solids *s, const mn_rigid_iterate *it);
/* r and the bodies' own blocks of K; *scale: N. With `turning` the loads that `take` has taken turn
   with the bodies' arms. */
void mn_iterate_linearise(mn_solids *s, mn_rigid_iterate *it, const mn_interface *f, double *scale);
/* value (of K, rows of all rigid freedoms) += the springs between bodies. */
void mn_iterate_springs(mn_solids *s, const mn_rigid_iterate *it, const mn_csr *K);
/* The same for touches of the last solve. */
void mn_iterate_touches(mn_solids *s, const mn_rigid_iterate *it, const mn_csr *K);
void mn_iterate_advance(mn_solids *s, mn_rigid_iterate *it, const double *q, double step);
/* mn_solid_operators.missed, of bodies with springs, after a step: a linear one that turns a stiff
   link stretches it. */
double mn_iterate_missed(const mn_solids *s, const mn_rigid_iterate *it);

#endif
