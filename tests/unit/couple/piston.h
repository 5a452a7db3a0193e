/* A spring piston on a column of fluid as two lumped black boxes: the smallest pair with a known
   answer. Piston of mass M (kg) on a spring k (N/m); fluid of mass m_a that moves with it. Both by
   backward Euler:

       fluid  f = -m_a (V - u^n)/dt            solid  (M + dt^2 k) V = M v^n - dt k x^n + dt f

   so that the coupled step is (M + m_a + dt^2 k) v = (M + m_a) v^n - dt k x^n. Or the piston by the
   midpoint rule, M (v - v^n)/dt = f - k (x + x^n)/2, which tells its velocity at the end or, as a
   control, the mean one. The interface has
   POINTS points on a square of width 1, which all move alike; loads are shared by area. */
#ifndef MN_TESTS_PISTON_H
#define MN_TESTS_PISTON_H

#include <math.h>
#include <string.h>

#include "check.h"
#include "math/vec.h"

enum { POINTS = 5 };

typedef enum fault {
  NO_FAULT,
  FAULT_NAN,        /* a load or a position */
  FAULT_NAN_MASS,   /* fluid */
  FAULT_COUNT,      /* changes the interface's size */
  FAULT_BEYOND,     /* writes behind the last point */
  FAULT_ARRAYS,     /* puts an array of its own there */
  FAULT_STATUS,     /* fails, with words */
  FAULT_SILENT,     /* fails, without */
  FAULT_UNSOLVED,   /* reports an iteration limit */
  FAULT_BAD_STATUS, /* says it was bad input */
  FAULT_ELEMENT,    /* solid: an element of a point that is not there */
  FAULT_COMMIT      /* fails to commit */
} fault;

typedef struct column {
  mn_context *ctx;
  double mass;                   /* m_a, kg */
  double part;                   /* of it that the fluid says moves with the points at once */
  double u, u_saved, u_next, dt; /* m/s: the state, a copy, of the last solve */
  int solves, commits;
  fault fault;
  int fault_solve; /* from this solve of a substep on */
} column;

typedef enum rule { EULER, MIDPOINT, MIDPOINT_MEANS } rule;

typedef struct piston {
  mn_context *ctx;
  rule rule;
  double mass, spring;
  double x, v, x_saved, v_saved, x_next, v_next, dt;
  int solves, commits;
  int rigid;
  fault fault;
} piston;

static mn_vec3 other_array[POINTS + 8];

static mn_vec3 piston_point(int i)
{
  return mn_v3(0, (i + 0.5) / POINTS, 0);
}

/* ---- fluid ----------------------------------------------------------------------------------- */

static void column_destroy(void *self)
{
  (void)self;
}

static double box_max_dt(void *self)
{
  (void)self;
  return 1;
}

static mn_status column_begin(void *self, double t, double dt)
{
  column *c = self;
  (void)t;
  c->dt = dt;
  c->solves = 0;
  return MN_OK;
}

static mn_status column_fault(column *c, mn_interface *f, mn_solve_report *report)
{
  switch (c->fault) {
  case FAULT_NAN:
    f->load[POINTS - 1].x = NAN;
    return MN_OK;
  case FAULT_NAN_MASS:
    f->mass[1] = -1;
    return MN_OK;
  case FAULT_COUNT:
    f->count = POINTS + 2;
    return MN_OK;
  case FAULT_BEYOND:
    f->load[POINTS].x = 0;
    return MN_OK;
  case FAULT_ARRAYS:
    f->load = other_array;
    return MN_OK;
  case FAULT_STATUS:
    snprintf(c->ctx->message, sizeof c->ctx->message, "the pump is dry");
    return MN_FAILED;
  case FAULT_BAD_STATUS:
    snprintf(c->ctx->message, sizeof c->ctx->message, "no such pump");
    return MN_BAD_INPUT;
  case FAULT_SILENT:
    return MN_FAILED;
  case FAULT_UNSOLVED:
    *report = (mn_solve_report){.reason = MN_ITERATION_LIMIT, .iterations = 7, .residual = 0.5};
    return MN_OK;
  default:
    return MN_OK;
  }
}

static mn_status column_solve(void *self, mn_interface *f, mn_solve_report *report)
{
  column *c = self;
  double mean = 0;
  for (size_t i = 0; i < f->count; i++)
    mean += f->V[i].x / (double)f->count;
  c->u_next = mean;
  c->solves++;
  *report = (mn_solve_report){.reason = MN_CONVERGED, .iterations = 3};
  for (size_t i = 0; i < f->count; i++) {
    f->load[i] = mn_v3(-c->mass * (mean - c->u) / c->dt * f->area[i], 0, 0);
    f->mass[i] = c->part * c->mass * f->area[i];
  }
  return c->fault && c->solves >= c->fault_solve ? column_fault(c, f, report) : MN_OK;
}

static mn_status column_commit(void *self)
{
  column *c = self;
  if (c->fault == FAULT_COMMIT) {
    snprintf(c->ctx->message, sizeof c->ctx->message, "the disk of the pump is full");
    return MN_FAILED;
  }
  c->u = c->u_next;
  c->commits++;
  return MN_OK;
}

static mn_status column_save(void *self)
{
  column *c = self;
  c->u_saved = c->u;
  return MN_OK;
}

static mn_status column_restore(void *self)
{
  column *c = self;
  c->u = c->u_saved;
  return MN_OK;
}

static int column_arrays(void *self, mn_array *arrays, int capacity)
{
  column *c = self;
  if (capacity > 0)
    arrays[0] = (mn_array){"u", MN_F64, 1, {1}, &c->u, 0};
  return 1;
}

static const mn_fluid_ops column_ops = {
    .name = "column",
    .destroy = column_destroy,
    .max_dt = box_max_dt,
    .begin = column_begin,
    .solve = column_solve,
    .commit = column_commit,
    .save = column_save,
    .restore = column_restore,
    .arrays = column_arrays,
};

/* ---- solid ----------------------------------------------------------------------------------- */

static mn_status piston_begin(void *self, double t, double dt)
{
  piston *s = self;
  (void)t;
  s->dt = dt;
  return MN_OK;
}

static void piston_write(const piston *s, mn_interface *f, double x, double v)
{
  for (size_t i = 0; i < f->count; i++) {
    f->X[i] = piston_point((int)i);
    f->X[i].x = x;
    f->V[i] = mn_v3(v, 0, 0);
    f->N[i] = mn_v3(1, 0, 0);
    f->area[i] = 1.0 / POINTS;
    f->body[i] = 0;
    f->two_sided[i] = 0;
    f->rigid[i] = (uint8_t)s->rigid;
    f->lead[i] = s->rule == MIDPOINT;
  }
}

/* Point i feels load - mass (mean velocity - V as handed in)/dt. */
static mn_status piston_solve(void *self, mn_interface *f, mn_solve_report *report)
{
  piston *s = self;
  double force = 0, extra = 0, dt = s->dt;
  for (size_t i = 0; i < f->count; i++) {
    force += f->load[i].x + f->mass[i] * f->V[i].x / dt;
    extra += f->mass[i];
  }
  double part = s->rule == EULER ? 1 : 0.5; /* mean = v + part (v_next - v) */
  double inertia = s->mass + part * (extra + part * dt * dt * s->spring);
  double mean = (s->mass * s->v + part * dt * (force - s->spring * s->x)) / inertia;
  s->x_next = s->x + dt * mean;
  s->v_next = s->v + (mean - s->v) / part;
  s->solves++;
  *report = (mn_solve_report){.reason = MN_CONVERGED, .iterations = 1};
  piston_write(s, f, s->x_next, s->rule == MIDPOINT_MEANS ? mean : s->v_next);
  if (s->fault == FAULT_NAN)
    f->X[2].y = NAN;
  if (s->fault == FAULT_COUNT)
    f->count--;
  if (s->fault == FAULT_BEYOND)
    f->X[POINTS].y = 3;
  if (s->fault == FAULT_STATUS) {
    snprintf(s->ctx->message, sizeof s->ctx->message, "the rod is bent");
    return MN_FAILED;
  }
  return MN_OK;
}

static mn_status piston_commit(void *self)
{
  piston *s = self;
  s->x = s->x_next;
  s->v = s->v_next;
  s->commits++;
  return MN_OK;
}

static mn_status piston_save(void *self)
{
  piston *s = self;
  s->x_saved = s->x;
  s->v_saved = s->v;
  return MN_OK;
}

static mn_status piston_restore(void *self)
{
  piston *s = self;
  s->x = s->x_saved;
  s->v = s->v_saved;
  return MN_OK;
}

static int piston_arrays(void *self, mn_array *arrays, int capacity)
{
  piston *s = self;
  if (capacity > 1) {
    arrays[0] = (mn_array){"x", MN_F64, 1, {1}, &s->x, 0};
    arrays[1] = (mn_array){"v", MN_F64, 1, {1}, &s->v, 0};
  }
  return 2;
}

static mn_status piston_sample(void *self, double spacing, size_t *count, size_t *elements)
{
  (void)self, (void)spacing;
  *count = POINTS;
  *elements = POINTS - 1;
  return MN_OK;
}

static mn_status piston_look(void *self, mn_interface *f)
{
  piston *s = self;
  piston_write(s, f, s->x, s->v);
  for (uint32_t e = 0; e < POINTS - 1; e++) {
    f->element[2 * e] = e;
    f->element[2 * e + 1] = s->fault == FAULT_ELEMENT ? POINTS : e + 1;
  }
  return MN_OK;
}

static const mn_solid_ops piston_ops = {
    .name = "piston",
    .destroy = column_destroy,
    .max_dt = box_max_dt,
    .begin = piston_begin,
    .solve = piston_solve,
    .commit = piston_commit,
    .save = piston_save,
    .restore = piston_restore,
    .arrays = piston_arrays,
    .sample = piston_sample,
    .look = piston_look,
};

#endif
