/* One substep of a cloth in smoke against a dense monolithic solve.

   With the place of the cloth on the grid frozen, the loads f = F(X) of the fluid are affine in the
   positions X of the interface; those of the cloth, X = S(f), nearly so. With a mass m lent to the
   points, which vanishes where X is reached, the gap

       G(X) = S_m(F(X); X) - X,    (A + m/dt^2) S_m = f + m/dt^2 X,    A the solid's own answer,

   is zero at X = S(F(X)) and nowhere else, and can be asked for however light the cloth is. Its
   Jacobian is found by asking the black boxes for every degree of freedom, and LAPACK makes
   Newton's steps: no reduced model, no relaxation, no secants. */
#ifndef MN_TESTS_DENSE_CASE_H
#define MN_TESTS_DENSE_CASE_H

#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "couple/couple.h"
#include "math/vec.h"
#include "world_case.h"

/* ---- a fluid that remembers where it was asked first ------------------------------------------
 */

typedef struct recorder {
  mn_fluid real;
  mn_fluid_ops ops;
  mn_vec3 *first; /* X of the first solve of a substep */
  int solves;
} recorder;

static mn_status record_begin(void *self, double t, double dt)
{
  recorder *r = self;
  r->solves = 0;
  return r->real.ops->begin(r->real.self, t, dt);
}

static mn_status record_solve(void *self, mn_interface *f, mn_solve_report *report)
{
  recorder *r = self;
  if (!r->solves++)
    memcpy(r->first, f->X, f->count * sizeof *f->X);
  return r->real.ops->solve(r->real.self, f, report);
}

static mn_status record_commit(void *self)
{
  recorder *r = self;
  return r->real.ops->commit(r->real.self);
}

static mn_status record_meet(void *self, const mn_interface *f)
{
  recorder *r = self;
  return r->real.ops->meet(r->real.self, f);
}

static mn_status record_arrive(void *self, const mn_interface *f)
{
  recorder *r = self;
  return r->real.ops->arrive(r->real.self, f);
}

/* ---- the two maps -----------------------------------------------------------------------------
 */

enum { DIM = 2, NEWTON = 40 };
static const double DX = 1.0 / 16;

typedef struct dense {
  world_case w;
  recorder fluid;
  mn_coupling *coupling;
  double time, dt;
  mn_interface face; /* of the reference, at the start of the substep when begun */
  mn_vec3 *start, *normal;
  double *area;
  int n; /* degrees of freedom */
} dense;

/* Loads of the fluid at the positions x. */
static void loads_at(dense *d, const double *x, double *f)
{
  mn_interface *i = &d->face;
  mn_solve_report report = {0};
  for (int k = 0; k < d->n; k++) {
    mn_vec3 *X = &i->X[k / DIM], *V = &i->V[k / DIM];
    X->v[k % DIM] = x[k];
    V->v[k % DIM] = (x[k] - d->start[k / DIM].v[k % DIM]) / d->dt;
  }
  memcpy(i->N, d->normal, i->count * sizeof *i->N);
  memcpy(i->area, d->area, i->count * sizeof *i->area);
  CHECK_OK(d->w.ctx, d->fluid.real.ops->solve(d->fluid.real.self, i, &report));
  for (int k = 0; k < d->n; k++)
    f[k] = i->load[k / DIM].v[k % DIM];
}

/* kg per area: between the added masses of long and short waves, so that G is well scaled. */
static const double LENT = 0.3;

/* g <- G(x), f <- F(x) */
static void gap_at(dense *d, const double *x, double *f, double *g)
{
  mn_interface *i = &d->face;
  mn_solve_report report = {0};
  loads_at(d, x, f);
  for (int k = 0; k < d->n; k++) {
    i->load[k / DIM].v[k % DIM] = f[k];
    i->X[k / DIM].v[k % DIM] = x[k];
    i->V[k / DIM].v[k % DIM] = (x[k] - d->start[k / DIM].v[k % DIM]) / d->dt;
  }
  for (size_t k = 0; k < i->count; k++)
    i->mass[k] = LENT * d->area[k];
  CHECK_OK(d->w.ctx, d->w.world->solid.ops->solve(d->w.world->solid.self, i, &report));
  CHECK(report.reason == MN_CONVERGED);
  for (int k = 0; k < d->n; k++)
    g[k] = i->X[k / DIM].v[k % DIM] - x[k];
}

/* A <- -dG/dX, by central differences */
static void probe(dense *d, const double *x, double *A)
{
  size_t n = (size_t)d->n;
  double *work = malloc(4 * n * sizeof *work), *f = work + n, *a = f + n, *b = a + n, step = 1e-5;
  for (size_t k = 0; k < n; k++) {
    memcpy(work, x, n * sizeof *x);
    work[k] += step;
    gap_at(d, work, f, a);
    work[k] -= 2 * step;
    gap_at(d, work, f, b);
    for (size_t j = 0; j < n; j++)
      A[j + n * k] = -(a[j] - b[j]) / (2 * step);
  }
  free(work);
}

/* Newton from the first place that the coupling asked for. The last step, in cells. */
static double solve_dense(dense *d, double dx, double *x, double *f)
{
  size_t n = (size_t)d->n;
  double *A = malloc(n * n * sizeof *A), *LU = malloc(n * n * sizeof *LU),
         *g = malloc(n * sizeof *g), off = 0;
  lapack_int *pivot = malloc(n * sizeof *pivot);
  for (int k = 0; k < d->n; k++)
    x[k] = d->fluid.first[k / DIM].v[k % DIM];
  loads_at(d, x, f); /* this solve sets the place on the grid */
  for (int it = 0; it < NEWTON; it++) {
    gap_at(d, x, f, g);
    if (it < 2 || it % 4 == 0)
      probe(d, x, A);
    memcpy(LU, A, n * n * sizeof *LU);
    assert_int_equal(LAPACKE_dgesv(LAPACK_COL_MAJOR, d->n, 1, LU, d->n, pivot, g, d->n), 0);
    off = 0;
    for (size_t k = 0; k < n; k++) {
      x[k] += g[k];
      off = fmax(off, fabs(g[k]) / dx);
    }
    if (off < 1e-10)
      break;
  }
  loads_at(d, x, f);
  free(A);
  free(LU);
  free(g);
  free(pivot);
  return off;
}

/* ---- the comparison ----------------------------------------------------------------------------
 */

static void dense_open(dense *d, const char *M, const char *coupling, const char *tolerance,
                       const char *askew)
{
  const mn_setting settings[] = {{"M", M},    {"coupling", coupling}, {"tolerance", tolerance},
                                 {"n", "16"}, {"askew", askew},       {"omega", "0.05"}};
  *d = (dense){.dt = 1.0 / 32};
  world_open(&d->w, WORLD_CLOTH, settings, 6, 1);
  mn_world *w = d->w.world;
  d->fluid.real = w->fluid;
  d->fluid.ops = *w->fluid.ops;
  d->fluid.ops.begin = record_begin;
  d->fluid.ops.solve = record_solve;
  d->fluid.ops.commit = record_commit;
  d->fluid.ops.meet = record_meet;
  d->fluid.ops.arrive = record_arrive;
  d->fluid.ops.enclose = NULL; /* nothing is closed here */
  d->fluid.ops.lacking = NULL; /* it would get the recorder */
  d->fluid.ops.lift = NULL;
  CHECK_OK(d->w.ctx,
           mn_coupling_create(d->w.ctx, &w->def->coupling, DIM, DX,
                              (mn_fluid){&d->fluid.ops, &d->fluid}, w->solid, &d->coupling));
  const mn_interface *own = mn_coupling_interface(d->coupling);
  CHECK_OK(d->w.ctx, mn_interface_create(d->w.ctx, DIM, own->count, own->elements, &d->face));
  d->n = DIM * (int)own->count;
  d->fluid.first = calloc(own->count, sizeof(mn_vec3));
  d->start = calloc(own->count, sizeof(mn_vec3));
  d->normal = calloc(own->count, sizeof(mn_vec3));
  d->area = calloc(own->count, sizeof(double));
}

static void dense_close(dense *d)
{
  free(d->fluid.first);
  free(d->start);
  free(d->normal);
  free(d->area);
  mn_interface_destroy(&d->face);
  mn_coupling_destroy(&d->coupling);
  world_close(&d->w);
}

static void couple(dense *d, mn_coupling_report *report)
{
  CHECK_OK(d->w.ctx, mn_coupling_try(d->coupling, d->time, d->dt, 1, report));
  CHECK(report->reason == MN_CONVERGED);
}

/* Of a substep after `before` others. */
typedef struct difference {
  double x;     /* of positions, of the largest motion */
  double cells; /* the same in cells */
  double load;  /* of loads, of the largest */
  int iterations;
} difference;

static void begin_reference(dense *d, const mn_interface *own)
{
  mn_solid solid = d->w.world->solid;
  mn_fluid fluid = d->fluid.real;
  size_t count = own->count;
  CHECK_OK(d->w.ctx, solid.ops->look(solid.self, &d->face));
  d->face.impulse = own->impulse;
  d->face.frozen = own->frozen;
  memcpy(d->start, d->face.X, count * sizeof *d->start);
  memcpy(d->normal, d->face.N, count * sizeof *d->normal);
  memcpy(d->area, d->face.area, count * sizeof *d->area);
  CHECK_OK(d->w.ctx, solid.ops->begin(solid.self, d->time, d->dt));
  CHECK_OK(d->w.ctx, fluid.ops->meet(fluid.self, &d->face));
  CHECK_OK(d->w.ctx, fluid.ops->begin(fluid.self, d->time, d->dt));
}

static difference compare(const char *M, const char *coupling, const char *tolerance, int before,
                          const char *askew)
{
  dense d;
  mn_coupling_report report;
  difference e = {0};
  dense_open(&d, M, coupling, tolerance, askew);
  for (int step = 0; step < before; step++) {
    couple(&d, &report);
    CHECK_OK(d.w.ctx, mn_coupling_commit(d.coupling, &report));
    d.time += d.dt;
  }
  couple(&d, &report); /* not committed: both begin anew */
  e.iterations = report.iterations;
  const mn_interface *own = mn_coupling_interface(d.coupling);
  size_t n = (size_t)d.n;
  double *x = malloc(n * sizeof *x), *f = malloc(n * sizeof *f), motion = 0, load = 0;
  begin_reference(&d, own);
  CHECK_LE(solve_dense(&d, DX, x, f), 1e-10);
  for (size_t k = 0; k < n; k++) {
    size_t i = k / DIM, a = k % DIM;
    motion = fmax(motion, fabs(x[k] - d.start[i].v[a]));
    load = fmax(load, fabs(f[k]));
    e.x = check_worst(e.x, fabs(own->X[i].v[a] - x[k]));
    e.load = check_worst(e.load, fabs(own->load[i].v[a] - f[k]));
  }
  e.cells = e.x / DX;
  e.x /= motion;
  e.load /= load;
  printf("%-7s M %-5s tolerance %s: positions %.1e of the motion, %.1e cells, loads %.1e, %d "
         "iterations\n",
         coupling, M, tolerance, e.x, e.cells, e.load, e.iterations);
  free(x);
  free(f);
  dense_close(&d);
  return e;
}

#endif
