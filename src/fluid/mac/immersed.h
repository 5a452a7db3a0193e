/* Bodies of other solvers in the grid fluid: where their surfaces are, and what they feel. */
#ifndef MN_FLUID_MAC_IMMERSED_H
#define MN_FLUID_MAC_IMMERSED_H

#include "pressure/system.h"
#include "grid/transfer.h"

typedef struct mn_mac mn_mac;

/* In the state's `held`: shall let go in the next substep; and has done so in the last. See loose.c
 */
enum { MN_MAC_LOOSE = 2, MN_MAC_LOOSE_STILL = 3 };

/* Work; nothing of it is state. */
typedef struct mn_mac_bodies {
  int on;                /* there are surfaces */
  mn_interface start;    /* as they were met, or at the end of the last substep: X, V, no loads */
  mn_interface last;     /* of the last solve: X, V */
  mn_interface expected; /* at the end of the substep, if thin ones keep their velocity */
  long stamp, stamp_start, stamp_end; /* number of the last placement, and of those two */
  int placed;                         /* surfaces of this substep's end are on the grid */
  int narrow;          /* in this substep no mass beside bodies may be below 0; see loads.c */
  int narrowed;        /* the geometry is made so */
  mn_weights *weights; /* rows: the faces that feel bodies, at the present geometry */
  mn_field part;       /* cells: fluid part, scaled so that each body has its exact volume */
  size_t capacity;     /* rows: */
  mn_closed_face *face;
  double *side;     /* on a closed side of the domain: the part that bodies leave free; else -1 */
  double *room;     /* elsewhere: the part that the scene's solids leave free */
  double *beside;   /* m/s: their flow through the rest, over the face's area */
  double *held;     /* the part of the fluid about the face that they hold, not the body */
  double *U;        /* m/s, of the body */
  double *U_start;  /* m/s, the same at the start of the substep */
  double *F, *mass; /* N, kg */
  int *counts;      /* for pressure differences */
  int marked;       /* some cell may be loose; see loose.c: */
  mn_field anchor;  /* cells: links of loose ones to p = 0 at the wall */
  int32_t (*loose)[3]; /* these cells */
  size_t loose_count, loose_capacity;
  int judged;         /* the cells of the next substep are marked, by the last solve */
  size_t emptied;     /* cells of this substep that were taken for air */
  mn_vec3 (*grip)[3]; /* of each body: force of the water, N; areas that it touches; the sum of
                         their sizes, and of the forces towards the body; scratch */
  size_t grip_capacity;
  size_t regions;        /* capacity of the next: */
  double *region[5];     /* net inflows and how to mend them */
  int shifts;            /* capacity of the next: */
  double *shift;         /* m; of each body: see parts.c */
  uint8_t *flush;        /* the same: it lies against walls */
  double net_flow;       /* m^3/s, the greatest that was mended in the last solve */
  const uint8_t *parted; /* [regions of the pressure] 1: water has left walls; NULL: nowhere */
  int one_system;        /* 1: the last pressures were found together with the bodies' motion */
  mn_buffer wall;  /* double[rows]: parts of them that are walls of their cells; see compatible.c */
  mn_buffer skins; /* scratch of level.c */
  mn_buffer fits;  /* uint8_t[cells]: a body lies on solids of the scene; see share.c */
  int mends_all;   /* 1: whoever asks sees to it that walls of regions move by what is mended */
  const mn_interface *told; /* the interface of this solve, for its `inside`; NULL: none */
} mn_mac_bodies;

/* immersed.c */
void mn_mac_bodies_destroy(mn_mac *mac);
/* mn_fluid_ops.meet, but for the state at time 0. */
MN_MUST_CHECK mn_status mn_mac_bodies_meet(mn_mac *mac, const mn_interface *interface);
/* Geometry at `time` with the surfaces at the start of the substep, or without any. */
MN_MUST_CHECK mn_status mn_mac_bodies_geometry(mn_mac *mac, double time, double dt);
/* Thin surfaces where their velocity takes them by the end of the substep, for what is carried.
   Particles need the geometry there as well. */
MN_MUST_CHECK mn_status mn_mac_bodies_expect(mn_mac *mac);
/* Before a commit: thin surfaces of the last solve where they were at last, and not, frozen, at
   first. */
MN_MUST_CHECK mn_status mn_mac_bodies_arrive(mn_mac *mac);
/* Geometry with the surfaces of the interface at the end of the substep, and their velocities. */
MN_MUST_CHECK mn_status mn_mac_bodies_place(mn_mac *mac, const mn_interface *interface);
/* The same with the geometry as it stands: velocities only. */
MN_MUST_CHECK mn_status mn_mac_bodies_move(mn_mac *mac, const mn_interface *interface);
/* Where the surfaces end, after the last solve. */
MN_MUST_CHECK mn_status mn_mac_bodies_end(mn_mac *mac, const mn_interface *interface);
/* The surfaces of the last solve are those of the next start. */
MN_MUST_CHECK mn_status mn_mac_bodies_commit(mn_mac *mac);
/* The state was changed from outside: nothing is known of where its surfaces are. */
void mn_mac_bodies_forget(mn_mac *mac);
/* Greatest speed of a point at the start, and greatest change of a velocity in the substep, m/s. */
double mn_mac_bodies_speed(const mn_mac *mac);
double mn_mac_bodies_jump(const mn_mac *mac);

/* Of a row: the part of the face that is open or, on a side, that its body leaves to the side; with
   the fluid that solids of the scene hold. */
double mn_mac_bodies_open(const mn_mac *mac, size_t row);
/* The part that its body closes: what is not open either may be a solid of the scene. */
double mn_mac_bodies_closed(const mn_mac *mac, size_t row);
/* The flow through what is closed of the row's face, if its body moves by U, over its area. */
void mn_mac_bodies_set_wall(mn_mac *mac, size_t row, double U);

/* share.c */
/* What a body and solids of the scene have of a face. */
typedef struct mn_share {
  int body; /* or -1 */
  double room, beside, held;
} mn_share;
/* Where bodies lie on solids of the scene, or in them. */
MN_MUST_CHECK mn_status mn_mac_find_fits(mn_mac *mac, const mn_immersed *im);
/* Of a face that concerns bodies. */
mn_share mn_mac_share_face(const mn_mac *mac, const mn_immersed *im, int a, const int at[3]);

/* compatible.c */
/* bodies.wall */
MN_MUST_CHECK mn_status mn_mac_bodies_find_walls(mn_mac *mac);
/* Corrects the bodies' velocities on the faces of closed regions into which a little more flows
   than out. b must be that of the velocities as they are; returns whether it is to be made anew. */
MN_MUST_CHECK mn_status mn_mac_bodies_mend(mn_mac *mac, double dt, double sum_tolerance,
                                           int *changed);

/* Bodies close some of the faces of a closed region of the pressure solver. */
int mn_mac_bodies_touch(const mn_mac *mac, int region);

/* parts.c */
/* How far each closed body's surface is moved outwards for its volume on the grid to be right. */
MN_MUST_CHECK mn_status mn_mac_bodies_shift(mn_mac *mac, const mn_immersed *im);
/* The fluid parts of cells as loads count them. */
void mn_mac_bodies_parts(mn_mac *mac, const mn_immersed *im);

/* loose.c */
/* The cells of which the last substep found that their water has let go of bodies. */
MN_MUST_CHECK mn_status mn_mac_loosen(mn_mac *mac);
void mn_mac_tighten(mn_mac *mac); /* no cell is loose */
/* The cell's centre is behind the wall of a body, where p is no pressure of the water. */
int mn_mac_is_behind_wall(const mn_mac *mac, int i, int j, int k);
/* m^3/s: what flows out of a loose cell through what bodies close, beyond what these sweep. */
double mn_mac_loose_outflow(const mn_mac *mac, const int32_t at[3]);
/* mn_fluid_ops.lets_go */
MN_MUST_CHECK mn_status mn_mac_lets_go(void *self, int *again);
/* At the start, whose state is made anew when it is restored: what lets_go found. */
void mn_mac_keep_loose(mn_mac *mac);
/* Before a commit: marks the cells of the next substep in separate.held. */
MN_MUST_CHECK mn_status mn_mac_mark_loose(mn_mac *mac);

/* loads.c */
/* Of a row: the area that the body closes, the fluid that moves with it (kg, may be below 0) and
   the velocity that this had before. */
typedef struct mn_dual {
  double area, mass, before;
} mn_dual;
mn_dual mn_mac_bodies_dual(const mn_mac *mac, size_t row);
/* N: what the fluid does to the body there. */
double mn_mac_bodies_force(const mn_mac *mac, size_t row, const mn_dual *dual);
/* The row of a face, by its axis and place, or -1: they are in order. */
int64_t mn_mac_bodies_row(const mn_mac_bodies *bodies, const mn_closed_face *face);
/* What of the fluid that moves with the body is in the cell on one side, kg: both sum to `mass`. */
double mn_mac_bodies_share(const mn_mac *mac, size_t row, int high);
/* Faces no more open than the cells beside them are full: no mass is below 0 then. */
void mn_mac_bodies_narrow(mn_mac *mac);
/* load += that of the fluid at rest, which smoke's pressure does not hold; force and torque are
   exact. */
void mn_mac_bodies_rest(const mn_mac *mac, const mn_interface *interface, mn_vec3 *load);
/* mn_fluid_ops.lacking */
MN_MUST_CHECK mn_status mn_mac_bodies_lacking(void *self, const mn_interface *interface,
                                              mn_vec3 *mass, int *any);
/* load and mass of the interface from the last solve */
MN_MUST_CHECK mn_status mn_mac_bodies_loads(mn_mac *mac, mn_interface *interface);

/* level.c */
/* level[r] of the closed regions told <- their mean pressure at the bodies, which F then lacks. */
MN_MUST_CHECK mn_status mn_mac_bodies_level(mn_mac *mac, double *level);

#endif
