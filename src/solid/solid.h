/* Any mix of rigid and deformable bodies, with contact, behind the solid black box. */
#ifndef MN_SOLID_SOLID_H
#define MN_SOLID_SOLID_H

#include "meniscus/box.h"
#include "solid/contact.h"
#include "solid/deform.h"
#include "solid/rigid.h"

typedef struct mn_solids_def {
  int dim;
  mn_vec3 gravity; /* m/s^2, of the rigid bodies; the deformable ones have their own */
  int order;       /* 2: implicit midpoint for springs and forces; 1: backward Euler, damps */
  const mn_rigid_def *rigid;
  int rigid_count;
  const mn_spring_def *springs;
  int spring_count;
  mn_deform *deform; /* ready; NULL: none. Taken over, also when creation fails */
  int contacts;      /* 0: bodies pass through each other */
  mn_contact_def contact;
} mn_solids_def;

mn_solids_def mn_solids_def_default(int dim);

typedef struct mn_solids mn_solids;

MN_MUST_CHECK mn_status mn_solids_create(mn_context *ctx, const mn_solids_def *def,
                                         mn_solids **solids);
void mn_solids_destroy(mn_solids **solids);

/* The black box over it; its `destroy` destroys the solids. */
mn_solid mn_solids_box(mn_solids *solids);

/* ---- more than the box, for couplings and probes --------------------------------------------- */

mn_rigid *mn_solids_rigid(mn_solids *solids);
mn_deform *mn_solids_deform(mn_solids *solids);

typedef struct mn_solids_report {
  mn_contact_report drift, settle; /* of the last solve */
  size_t swept;                    /* impulses of drifts computed, in all solves ever */
  mn_deform_report deform;
  int outer;           /* passes until forces and places agreed */
  double outer_change; /* m/s, of the last pass */
  int presses;         /* solves of deformable bodies in contact */
  int press_touches;   /* of their nodes and facets */
  double press_depth;  /* m, the deepest that they lay in rigid ones at the start */
  double pressed;      /* m, the most that forces press elastic surfaces into the thickness */
  double penetration;  /* m, the deepest since creation, over all committed substeps */
} mn_solids_report;
const mn_solids_report *mn_solids_last(const mn_solids *solids);

typedef struct mn_overlap {
  int a, b;     /* bodies, numbered as below; -1: none */
  double depth; /* m */
  double size;  /* m, half the extent of the smaller one */
} mn_overlap;
/* The two bodies that lie deepest in each other now, relative to the smaller one's size: those that
   contact would push apart, and what lies inside elastic bodies. Depths below `part` of the size
   are none, nor are nodes that are fixed. */
MN_MUST_CHECK mn_status mn_solids_overlap(mn_solids *solids, double part, mn_overlap *worst);

/* Rigid bodies come first: body < rigid->count is rigid, the others are deformable; < 0: all. */
mn_vec3 mn_solids_momentum(mn_solids *solids, int body);               /* kg m/s */
mn_vec3 mn_solids_angular(mn_solids *solids, int body, mn_vec3 about); /* kg m^2/s */
mn_vec3 mn_solids_center(mn_solids *solids, int body);                 /* m; body >= 0 */
/* N, mean of the last substep, by contact and the interface's loads; body >= 0. */
mn_vec3 mn_solids_force(mn_solids *solids, int body);
/* J: kinetic, elastic and, of rigid bodies, that of gravity; that of their springs only for all. */
double mn_solids_energy(mn_solids *solids, int body);

#endif
