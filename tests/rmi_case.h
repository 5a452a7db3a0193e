/* Pairs of small solvers for the partitioned iteration: a membrane under an added mass, linear and
   with a known answer, and flow in an elastic tube, nonlinear and a classic. */
#ifndef MN_TESTS_RMI_CASE_H
#define MN_TESTS_RMI_CASE_H

#include "meniscus/meniscus.h"

enum { MEMBRANE_MAX = 64 };

/* n points of a membrane of mass `mass` per point (in units of the fluid that moves with the
   longest wave), under tension, implicit Euler; the fluid answers each wave j of it with the
   inertia added_mass / j, as potential flow does, up to wave `rank`:

     F: p = -A (v - v0)/dt - drag |v| v + push(t)      S: mass (v - v0)/dt + K x = p,   v = (x -
   x0)/dt */
typedef struct membrane {
  int n, rank;
  double mass, added_mass, tension, drag, push, dt, time;
  double x0[MEMBRANE_MAX], v0[MEMBRANE_MAX];
  double A[MEMBRANE_MAX * MEMBRANE_MAX], K[MEMBRANE_MAX * MEMBRANE_MAX];
  double solid_inverse[MEMBRANE_MAX * MEMBRANE_MAX]; /* of mass + dt^2 K */
  double fictitious; /* mass that the loads carry and the solid has: nothing at convergence. Before
                        membrane_set_dt */
  int fluid_solves, solid_solves;
  int break_at; /* the fluid solve that answers with NaN; 0: none */
} membrane;

void membrane_make(membrane *m, int n, int rank, double mass, double dt);
void membrane_set_dt(membrane *m, double dt);
mn_status membrane_fluid(void *user, const double *x, double *p);
mn_status membrane_solid(void *user, const double *p, const double *x_at, double *x);
/* Both at once, without drag: a dense solve. */
void membrane_together(const membrane *m, double *x);
/* Goes on from x. */
void membrane_commit(membrane *m, const double *x);

/* Incompressible flow in an elastic tube [Degroote 2008]: area a and pressure p of n + 1 sections,

     F: a -> p   da/dt + d(a u)/dz = 0,  d(a u)/dt + d(a u^2)/dz + a dp/dz = 0  (density 1, implicit
   Euler) S: p -> a   a = (2 c^2 / (2 c^2 - p))^2,   c^2 = E / (2 r0)

   with u = 10 + 3 sin(10 pi t) at the inlet, waves leaving at the outlet, E = 1e4, length 10, n =
   100, dt = 0.01: the case elastic-tube-1d of preCICE. */
enum { TUBE_N = 100 };
typedef struct tube {
  double dt, time, c2;
  double u0[TUBE_N + 1], p0[TUBE_N + 1], a0[TUBE_N + 1]; /* at the start of the substep */
  double u[TUBE_N + 1], p[TUBE_N + 1];                   /* of the last solve */
  int fluid_solves;
} tube;

void tube_make(tube *t, double dt);
mn_status tube_fluid(void *user, const double *a, double *p);
mn_status tube_solid(void *user, const double *p, const double *a_at, double *a);
void tube_commit(tube *t, const double *a);

#endif
