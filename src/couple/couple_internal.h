/* What the files of a coupling share. */
#ifndef MN_COUPLE_COUPLE_INTERNAL_H
#define MN_COUPLE_COUPLE_INTERNAL_H

#include "couple/boxes.h"
#include "couple/closed.h"
#include "couple/couple.h"
#include "couple/monolithic.h"
#include "couple/vector.h"
#include "meniscus/rmi.h"

enum { SUMS = 5 };                 /* of each body */
enum { MN_COUPLE_WEAK_LIMIT = 1 }; /* cells: see couple_iterate.c */
enum {
  NUMBERS_PACE,
  NUMBERS_FIT,
  NUMBERS_TURNS,
  NUMBERS_LONGEST,
  NUMBERS_TURNED_FROM,
  NUMBERS_FIT_LATELY,
  NUMBERS_INERTIA, /* of bodies that bend, */
  NUMBERS_INERTIA_RIGID,
  NUMBERS_CRAWLED,
  NUMBERS_ADOPTED,
  NUMBERS_WEIGHED,
  NUMBERS
};

struct mn_coupling {
  mn_context *ctx;
  mn_coupling_def def;
  double dx, fall; /* m; s, see mn_coupling_set_fall */
  mn_boxes boxes;
  mn_vector_map map;
  mn_rmi *rmi;         /* NULL: weak */
  mn_monolithic *mono; /* NULL: black boxes */
  int asked;           /* 1: this substep ended by asking the boxes in turn */
  int turning;         /* 1: p0 turns with the surfaces from solve to solve */
  int touched;         /* 1: bodies touch around closed regions, in this substep */
  mn_closed closed;
  size_t size; /* of x: the map's, and for closed forms that iterate the gaps of regions */
  /* state, with the history inside rmi */
  double numbers[NUMBERS]; /* pace; fitted mass, kg per area; see WEAK_TURNS; longest step, s;
                              change of velocity with which the turns began; fitted mass as of
                              late; least inertia of a body as of late, kg per area, rigid ones
                              apart; how many substeps on end were another coupling's;
                              1: masses of bodies are known */
  mn_vec3 *change;         /* m/s, of velocity in the last substep; weak only */
  /* of the substep */
  double dt;
  double share, allowed; /* part of the tolerance that the step's length leaves; m, of a residual */
  double calm;           /* part of the share for rigid bodies in water */
  mn_vec3 *start;        /* m, X^n */
  mn_vec3 *normal; /* N and area there: the fluid sees them all along, so that it is a function */
  double *area;
  double *mass;               /* kg, fictitious */
  double sum_area, sum_mass;  /* of the two */
  double *x, *p;              /* the vectors of the iteration */
  const double *p_now, *x_at; /* of the solid's call that runs */
  double *zero;               /* x at the start of the substep */
  mn_vec3 *met, *V_start;     /* m, where a frozen fluid meets the surface; m/s, V^n */
  mn_vec3 *kept_V;            /* m/s: work of couple_light.c */
  double *inverse_mass;       /* [bodies] 1/kg, state: a hinged body's follows its pose */
  mn_vec3 *place;             /* m, X of the fluid's last solve, */
  mn_vec3 *load;              /* N, and what it answered */
  mn_vec3 *from;              /* m, X of the solid's last answer, */
  mn_vec3 *gap;               /* m/s, and its velocity at the end less the mean one */
  int disturbed;              /* 1: couple_light.c has left V undefined */
  int fresh;                  /* 1: the interface is as the fluid's last solve left it */
  double added;               /* kg per area, largest added mass seen, */
  double inertia[2];          /* and least inertia of a body, 1: rigid; infinite: none */
  double *push;               /* N, p of the solid's last solve */
  double *of_body;            /* [SUMS * bodies] sums; a plug-in's numbers of bodies may be any: */
  size_t bodies;              /* no more than points, the others share */
  double turns, turned_from;  /* of NUMBERS_TURNS and its like if the substep is committed, */
  mn_vec3 *turned, *before;   /* and of `change`; velocities at the start. Weak only, like */
  double *asked_at;           /* x of the second asking */
};

/* ---- couple_iterate.c: black boxes, asked in turn ------------------------------------------- */

/* Forms of closed regions that correct p0 from one iteration to the next. */
int mn_couple_iterates_p0(const mn_coupling *c);
/* What the solid's rule alone says of velocities before its first answer. */
void mn_couple_expect_velocities(mn_coupling *c);
MN_MUST_CHECK mn_status mn_couple_step_weakly(mn_coupling *c, mn_coupling_report *report);
MN_MUST_CHECK mn_status mn_couple_step_strongly(mn_coupling *c, mn_coupling_report *report);
/* N: sum over the points of what the solid felt in its last solve less what the fluid gave. */
double mn_couple_imbalance(const mn_coupling *c);

/* ---- couple_light.c: bodies lighter than the fluid that moves with them -------------------- */

/* After a solve of the solid: inertia per area of each body since the last, the force that an
   acceleration dX/dt^2 took. */
void mn_couple_measure_inertia(mn_coupling *c);
/* kg per area, the least of a body (rigid or not) in this substep or lately; infinite: none. */
double mn_couple_inertia(const mn_coupling *c, int rigid);
/* Tells the iteration how much residual is within the tolerance. */
void mn_couple_allow(mn_coupling *c);
/* m, between rigid bodies as the solid has answered and where the fluid took them to be. */
double mn_couple_rigid_gap(const mn_coupling *c);
/* `user` is the coupling: rigid bodies are where the fluid took them to be, as close as they must
   in water. */
int mn_couple_is_calm(void *user);
/* m: the residual that the substep was held to, of rigid bodies in water if these are not calm. */
double mn_couple_allowed(mn_coupling *c);
/* Before the first solve, with the surfaces as the fluid takes them: asks it to do without masses
   below 0 if bodies are too light for them. Leaves loads and V undefined. */
MN_MUST_CHECK mn_status mn_couple_spare_light(mn_coupling *c);

#endif
