/* Contact between solids, as impulses between pairs at the level of velocities.

   A substep asks twice: once with the velocities that will carry the bodies over dt (`drift`: no
   gap may close by more than there is), once with the velocities at the new place (`settle`: what
   touches must not approach; impacts bounce). Another method may replace the one behind this
   header: it sees poses, velocities and mobilities, and gives back impulses. */
#ifndef MN_SOLID_CONTACT_H
#define MN_SOLID_CONTACT_H

#include "meniscus/box.h"
#include "solid/rigid.h"
#include "solid/surface.h"

typedef struct mn_contact_def {
  double slop;          /* penetration that is left alone, of the smaller body's size */
  double squeeze;       /* overlap, of the smaller body's size, beyond which it must not grow */
  double bounce_speed;  /* m/s: slower impacts do not bounce */
  double tolerance;     /* of the relative velocities, to the greatest of them */
  int max_iterations;   /* sweeps over all contacts; four times as many while overlap would grow */
  double thickness;     /* m, kept between the nodes of deformable bodies and others */
  double node_friction; /* of deformable bodies that have none of their own */
  int sweep;            /* 0: only what touches already is seen: a negative control */
  int search;           /* 0: nothing is sought between contact points: a negative control */
  int ends;             /* 0: nothing is looked at where the drift ends: a negative control */
  int middles;          /* of quadratic bodies; 0: only corners, 1: no nodes inside: controls */
  int kicks;            /* 1: implicit bodies too are kicked after their solve: a control */
} mn_contact_def;

mn_contact_def mn_contact_def_default(void);

/* Nodes and facets of deformable bodies; may be empty. */
typedef struct mn_contact_nodes {
  size_t count, facets;
  const mn_vec3 *x;     /* at the start of the drift, or at the place where it settles */
  mn_vec3 *v;           /* in and out */
  const double *mass;   /* kg */
  const uint8_t *fixed; /* MN_FIX_...: any of them makes a node immovable for contact */
  const mn_facet *facet;
  const double *friction; /* of each node */
  const uint8_t *within;  /* 1: a node that rigid bodies meet though on no facet; NULL: none */
} mn_contact_nodes;

/* A spring's force along one direction, implicit: F = force + rate (J u - at) opposes the motion
   along `d` of a against b, over h. */
typedef struct mn_soft_row {
  int a, b;           /* rigid bodies; b = -1: the world */
  mn_vec3 ra, rb, d;  /* arms in m; unit direction */
  double force;       /* N, at relative speed `at` */
  double rate, at, h; /* N s/m; m/s; s */
  double impulse;     /* kg m/s, on a along d; in: a guess */
} mn_soft_row;

/* A pair of rigid bodies that is pressed together for good. */
typedef struct mn_squeeze {
  int body, into, by; /* by: another that presses on the body; -1: none */
  double depth;       /* m; 0: there is none */
  double size;        /* m, of the smaller one */
} mn_squeeze;

typedef struct mn_contact_report {
  int touches, iterations, rounds;
  double residual;    /* m/s, of the last sweep */
  int lost;           /* drift: sweeps came to no end, and what they leave is no answer */
  double penetration; /* m, the deepest at the poses given */
  size_t tests, work; /* distances computed; impulses computed */
  mn_squeeze squeeze; /* settling: the deepest overlap beyond `squeeze` that grows */
} mn_contact_report;

typedef struct mn_contact mn_contact;
struct mn_touches;

MN_MUST_CHECK mn_status mn_contact_create(mn_context *ctx, const mn_contact_def *def,
                                          const mn_rigid *rigid, size_t nodes,
                                          mn_contact **contact);
void mn_contact_destroy(mn_contact **contact);

/* Before the substep's solve: the velocities at its start, and for how long (s) forces will have
   acted on those of the drift: tells the speed of impacts. */
void mn_contact_begin(mn_contact *contact, const mn_twist *twist, const mn_vec3 *node_v,
                      double kick);
/* For the drifts to come, mobilities W[bodies] of bodies with changed[body] that are not their own:
   inertia is added to them. NULL: none. Borrowed until the next call. */
void mn_contact_set_mobility(mn_contact *contact, const uint8_t *changed, const double (*W)[6][6]);
/* pose[bodies] and nodes at the start; twist[bodies] and nodes->v the velocities of the drift
   without contact, changed to those with it. P, T [bodies]: the impulses of contact alone; push:
   velocities (m/s, rad/s) that only move bodies apart that overlap, for this drift. */
MN_MUST_CHECK mn_status mn_contact_drift(mn_contact *contact, const mn_rigid_state *pose,
                                         mn_twist *twist, mn_contact_nodes *nodes,
                                         mn_soft_row *soft, int soft_count, double dt, mn_vec3 *P,
                                         mn_vec3 *T, mn_twist *push, mn_contact_report *report);
/* The same at the new place. */
MN_MUST_CHECK mn_status mn_contact_settle(mn_contact *contact, const mn_rigid_state *pose,
                                          mn_twist *twist, mn_contact_nodes *nodes, double dt,
                                          mn_vec3 *P, mn_vec3 *T, mn_contact_report *report);

/* Nothing touches: what commit leaves then. */
void mn_contact_clear(mn_contact *contact);
/* The impulses found become the first guess of the next substep: part of the state. `more`: touches
   that another solver has found (solid_press.c), by rising key, with their forces. */
MN_MUST_CHECK mn_status mn_contact_commit(mn_contact *contact, const struct mn_touches *more);
MN_MUST_CHECK mn_status mn_contact_save(mn_contact *contact);
MN_MUST_CHECK mn_status mn_contact_restore(mn_contact *contact);
/* The state: two arrays of variable length. */
int mn_contact_arrays(mn_contact *contact, mn_array *arrays, int capacity);
MN_MUST_CHECK mn_status mn_contact_resize(mn_contact *contact, size_t count);

#endif
