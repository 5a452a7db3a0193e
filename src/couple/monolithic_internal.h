/* What the files of the one system share. */
#ifndef MN_COUPLE_MONOLITHIC_INTERNAL_H
#define MN_COUPLE_MONOLITHIC_INTERNAL_H

#include "couple/monolithic.h"
#include "couple/monolithic_system.h"

struct mn_monolithic {
  mn_context *ctx;
  mn_coupling_def def;
  double dx;
  mn_boxes *boxes;   /* borrowed, */
  mn_closed *closed; /* and so this */
  mn_mono_system s;
  size_t cells;              /* of p, if it may be a guess; else 0 */
  double *p;                 /* [cells] Pa */
  double *slack;             /* [cells] m^3/s */
  double met[MN_CLOSED_MAX]; /* m^3, swept by where the fluid meets bodies, less N of it */
  double *v, *q;             /* [freedoms] */
  size_t cell_room, freedom_room;
  mn_vec3 *V, *V_linear; /* [points] m/s */
  mn_vec3 *X_linear;     /* [points] m */
  mn_vec3 *X_rest;       /* [points] m, of the last assemble */
  mn_vec3 *load, *rest;  /* [points] N: what the solid felt; the fluid's of the last assemble */
  mn_vec3 *load_about; /* [points] N, of the solid's solve about which bodies that touch were put */
  double *residual;    /* [max_iterations] m, steps of Newton */
  int newton, solves;  /* of the substep */
  int turning;         /* 1: p0 turns with the surfaces from step to step of Newton */
  int binds;           /* 1: velocities at the end are settled once the substep is done, */
  mn_vec3 *settled; /* [points] m/s, by what then comes to them; the part of it that is told by */
  mn_vec3 *touched; /* the solid, where bodies touch */
  double began_s;   /* clock of the processor, without the time it took to find the surfaces */
};

/* One linear system a substep, accepted as it is. */
static inline int mn_mono_is_linearised(const mn_monolithic *m)
{
  return m->def.method == MN_COUPLE_SIMULTANEOUS || m->def.elastic == MN_ELASTIC_LINEARISED;
}

/* mn_closed_turns, after the first step. */
int mn_mono_turns(mn_monolithic *m);

/* The fluid with the interface as it is; its loads at rest belong to that place. */
MN_MUST_CHECK mn_status mn_mono_assemble(mn_monolithic *m);
/* Both sides about the iterate, and the step q from there; m->load. */
MN_MUST_CHECK mn_status mn_mono_find_step(mn_monolithic *m);
/* The system anew, about the same iterate. */
MN_MUST_CHECK mn_status mn_mono_rebuild(mn_monolithic *m);
/* The greatest way of a point, q given; X_linear <- X + E q, V_linear <- V + (1 + lead)/dt E q */
double mn_mono_look_ahead(mn_monolithic *m);
/* The fluid's answer, with the velocities for which its volume is kept exactly. */
MN_MUST_CHECK mn_status mn_mono_tell_fluid(mn_monolithic *m, mn_coupling_report *report);

/* monolithic_closed.c */

/* Which regions there are, before the system is built. */
void mn_mono_tell_regions(mn_monolithic *m);
/* m, by which walls of closed regions lie off on average, where they are asked for a volume. */
double mn_mono_volume_off(const mn_monolithic *m);
/* With the interface where the fluid meets it. */
void mn_mono_meet_regions(mn_monolithic *m);
/* The right-hand sides, with what closed regions ask for besides. Regions that nothing can help:
   MN_FAILED, and closed->hopeless. */
MN_MUST_CHECK mn_status mn_mono_books(mn_monolithic *m);

/* m, greatest mean distance over the surface of a region by which contact keeps it from the volume
   that the system gave it: X of the interface from X_linear. */
double mn_mono_lost(const mn_monolithic *m);

/* monolithic_policy.c */

/* p, v of the system as it stands, with walls that let go. */
MN_MUST_CHECK mn_status mn_mono_policy(mn_monolithic *m);

#endif
