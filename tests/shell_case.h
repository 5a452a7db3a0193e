/* Thin surfaces with a prescribed motion, for the tests of what must not pass them. */
#ifndef MN_TESTS_SHELL_CASE_H
#define MN_TESTS_SHELL_CASE_H

#include "fluid/mac/internal.h"
#include "mac_case.h"

typedef enum shell_form {
  SHELL_RING, /* a circle, a sphere: closed */
  SHELL_WALL  /* a sheet from wall to wall */
} shell_form;

typedef enum shell_motion {
  SHELL_FIXED,
  SHELL_SHIFTS, /* to and fro */
  SHELL_TURNS,
  SHELL_WAVES,
  SHELL_DRIFTS /* steadily */
} shell_motion;

typedef struct shell_case {
  int dim;
  shell_form form;
  shell_motion motion;
  double speed;       /* of the motion, m/s */
  mn_vec3 *rest;      /* points before any motion */
  mn_interface at[3]; /* at the start of a substep, expected at its end, and there */
} shell_case;

/* In the unit box, elements about `spacing` long. */
void shell_case_make(mn_context *ctx, int dim, shell_form form, shell_motion motion, double speed,
                     double spacing, shell_case *c);
void shell_case_free(shell_case *c);
/* X at time t, V the mean velocity over the dt before it; of at[which]. */
void shell_case_place(shell_case *c, double t, double dt, int which);
/* 1: x is within the ring, or on the low side of the wall, at[which]; exact. */
int shell_case_inside(const shell_case *c, mn_vec3 x, int which);

/* The unit box with such a shell in it, behind the fluid's box. */
typedef struct tank {
  mac_case c;
  shell_case s;
  mn_mac *mac;
  double dt;
} tank;

/* Smoke with eddies; a wall has open sides beside it, so that the fluid can give way. */
void tank_open(tank *t, int dim, int n, shell_form form, shell_motion motion, double speed);
/* Creates the fluid and meets the shell; dye inside the ring or below the wall. */
void tank_fill(tank *t, int see_through);
void tank_step(tank *t);
/* Three solves, the first ones with the shell too far ahead, by 2 and 1 times `wrong` substeps. */
void tank_step_to(tank *t, double wrong, int frozen);
void tank_close(tank *t);

#endif
