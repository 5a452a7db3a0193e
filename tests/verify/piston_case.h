/* The scene `piston` against its own discrete answer. Fluid and piston move as one rigid column.
   The piston steps by the midpoint rule, and the fluid has its velocity at the end of the substep,
   so that a substep of the converged coupling is, per area, the midpoint rule of both:

       (M + rho L) (v' - v)/dt = -k (x + x')/2,   V = (v + v')/2,   x' = x + dt V

   whose energy stays. The solid answers a load f by dt^2 f / (2 M + k dt^2/2), the fluid a motion d
   by -2 rho L d/dt^2: mu = rho L / (M + k dt^2/4). */
#ifndef MN_TESTS_PISTON_CASE_H
#define MN_TESTS_PISTON_CASE_H

#include <math.h>
#include <stdio.h>

#include "world_case.h"

static const double PISTON_ADDED = 1000; /* kg/m^2 */
static const double PISTON_CELL = 0.25 / 8, PISTON_DT = 0.005;

typedef struct swing {
  double period;    /* s */
  double amplitude; /* of the last swing over that of the discrete answer */
  double kept;      /* the same over that of the start */
  double error;     /* cells, largest distance from it */
  double average;   /* iterations */
  int most, retries;
  mn_status status;
  char why[400];
} swing;

/* Stiffness k over area, and what relaxation sees: added mass over inertia. */
static double piston_spring(double M)
{
  return 4 * MN_PI * MN_PI * (M + PISTON_ADDED);
}
static double piston_mu(double M, double dt)
{
  return PISTON_ADDED / (M + 0.25 * dt * dt * piston_spring(M));
}

static void piston_open(world_case *c, const char *coupling, double M, double omega, double dt,
                        const char *tolerance)
{
  char text[3][32];
  *c = (world_case){.ctx = check_context(1)};
  snprintf(text[0], sizeof text[0], "%.17g", M);
  snprintf(text[1], sizeof text[1], "%.17g", omega);
  snprintf(text[2], sizeof text[2], "%.17g", dt);
  const mn_setting settings[] = {{"coupling", coupling}, {"M", text[0]}, {"omega", text[1]},
                                 {"dt", text[2]},        {"n", "8"},     {"tolerance", tolerance}};
  CHECK_OK(c->ctx, mn_scene_load(c->ctx, "piston", settings, 6, &c->model));
  CHECK_OK(c->ctx, mn_world_create(c->ctx, c->model, &c->world));
}

static inline swing piston_swing(const char *coupling, double M, const char *tolerance,
                                 double until)
{
  world_case c;
  swing s = {0};
  double omega = fmin(1, 0.9 / (1 + piston_mu(M, PISTON_DT))), k = piston_spring(M);
  piston_open(&c, coupling, M, omega, PISTON_DT, tolerance);
  double start = mn_world_probe(c.world, 0), x = 0, v = mn_world_probe(c.world, 1);
  double first = 0, last = 0, before = 0, peak[2] = {0};
  int crossings = 0;
  while (mn_world_time(c.world) < until - 1e-9 && world_step(&c)) {
    double dt = c.info.dt, at = mn_world_probe(c.world, 0) - start;
    double m = M + PISTON_ADDED, V = (m * v - 0.5 * dt * k * x) / (m + 0.25 * dt * dt * k);
    v = 2 * V - v;
    x += dt * V;
    s.error = check_worst(s.error, fabs(at - x) / PISTON_CELL);
    if (before < 0 && at >= 0) {
      last = c.info.time - dt * at / (at - before);
      if (!crossings++)
        first = last;
    }
    before = at;
    if (c.info.time > until - 1) {
      peak[0] = fmax(peak[0], fabs(at));
      peak[1] = fmax(peak[1], fabs(x));
    }
  }
  s.period = crossings > 1 ? (last - first) / (crossings - 1) : NAN;
  s.amplitude = peak[0] / peak[1];
  s.kept = peak[0] / 0.01;
  s.average = (double)c.solves / c.steps;
  s.most = c.most;
  s.retries = c.retries;
  s.status = c.status;
  snprintf(s.why, sizeof s.why, "%s", mn_context_message(c.ctx));
  world_close(&c);
  return s;
}

static const char *const PISTON_METHODS[] = {"xpm", "rmi", "aitken", "relaxed", "weak"};

#endif
