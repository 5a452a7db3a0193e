/* A grid fluid with one body, and what tests of its operators ask of them. */
#ifndef MN_TESTS_OPERATOR_CASE_H
#define MN_TESTS_OPERATOR_CASE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "body_case.h"
#include "fluid/mac/internal.h"
#include "mac_case.h"

/* ---- a fluid with a body --------------------------------------------------------------------- */

typedef enum kind { DISK, PLATE, RING } kind; /* RING: a thin closed curve or ball, all fluid */

typedef struct setup {
  int dim, n, water, separating, open_side, soft;
  kind body;
} setup;

typedef struct bench {
  mac_case c;
  body_case b;
  mn_mac *mac;
  const mn_fluid_operators *ops;
  mn_fluid_linear l;
} bench;

static const double DT = 0.02;

static inline void start(bench *t, setup s)
{
  t->l = (mn_fluid_linear){0};
  mac_case_begin(&t->c, s.dim, mn_v3(1, 1, s.dim == 3 ? 1 : 0), s.n);
  t->c.def.fluid.density = 3;
  t->c.def.fluid.gravity = mn_v3(0.3, -2, 0);
  t->c.def.fluid.pressure_tolerance = 1e-12;
  if (s.open_side)
    t->c.def.domain.side[3].kind = MN_SIDE_OPEN;
  if (s.water) {
    t->c.def.fluid.kind = MN_FLUID_WATER;
    t->c.def.fluid.walls = s.separating ? MN_WALLS_SEPARATING : MN_WALLS_STICKING;
    CHECK_OK(t->c.ctx, mn_shape_box(t->c.ctx, s.dim, mn_v3(-1, -1, -1), mn_v3(2, 0.71, 2),
                                    &t->c.def.fluid.initial_water));
  }
  mac_case_start(&t->c);
  if (s.body == PLATE)
    body_plate(&t->b, t->c.ctx, s.dim, mn_v3(0.05, 0.22, 0.2), 2 * s.n);
  else if (s.dim == 2)
    body_disk(&t->b, t->c.ctx, 0.21, 4 * s.n);
  else
    body_ball(&t->b, t->c.ctx, 0.21, s.n > 24 ? 4 : 3);
  mn_interface *f = &t->b.face;
  memset(f->rigid, !s.soft, f->count);
  if (s.body == RING)
    memset(f->two_sided, 1, f->count);
  body_put(&t->b, mn_v3(0.47, 0.52, s.dim == 3 ? 0.49 : 0), 0.3, mn_v3(0, 0, 0), 0);
  t->mac = t->c.fluid.self;
  t->ops = t->c.fluid.ops->operators;
  CHECK_OK(t->c.ctx, t->c.fluid.ops->meet(t->mac, f));
}

static inline void end(bench *t)
{
  body_destroy(&t->b);
  mac_case_end(&t->c);
}

/* Moves the body, and before that the fluid at random; in bodies that deform the points as well,
   but for `closed` ones, whose volume must stay. */
static inline void begin(bench *t, uint64_t seed, int soft)
{
  CHECK_OK(t->c.ctx, t->c.fluid.ops->begin(t->mac, t->c.time, DT));
  for (int a = 0; a < t->mac->grid.dim; a++) {
    mn_field *f = &t->mac->star[a];
    for (int k = 0; k < f->n[2]; k++)
      for (int j = 0; j < f->n[1]; j++)
        for (int i = 0; i < f->n[0]; i++)
          f->at[mn_index(f, i, j, k)] += check_random(&seed) - 0.5;
  }
  mn_vec3 v = mn_v3(0.21, 0.33, t->mac->grid.dim == 3 ? -0.17 : 0);
  mn_vec3 x = mn_madd(mn_v3(0.47, 0.52, t->mac->grid.dim == 3 ? 0.49 : 0), DT, v);
  body_put(&t->b, x, 0.3, v, 0.4);
  for (size_t i = 0; soft && i < t->b.face.count; i++)
    for (int a = 0; a < t->mac->grid.dim; a++)
      t->b.face.V[i].v[a] += 0.1 * (check_random(&seed) - 0.5);
}

static inline double largest(const double *x, size_t n)
{
  double worst = 0;
  for (size_t i = 0; i < n; i++)
    worst = check_worst(worst, fabs(x[i]));
  return worst;
}

/* y += factor D U */
static inline void outflow(const mn_fluid_linear *l, double factor, const double *U, double *y)
{
  for (size_t r = 0; r < l->rows; r++)
    for (int high = 0; high < 2; high++)
      if (l->cell[2 * r + (size_t)high] >= 0)
        y[l->cell[2 * r + (size_t)high]] += (high ? -1 : 1) * factor * l->area[r] * U[r];
}

/* D^T p of a row */
static inline double push(const mn_fluid_linear *l, size_t r, const double *p)
{
  double low = l->cell[2 * r] >= 0 ? p[l->cell[2 * r]] : 0;
  double high = l->cell[2 * r + 1] >= 0 ? p[l->cell[2 * r + 1]] : 0;
  return l->area[r] * (low - high);
}

static inline double *numbers(size_t n, uint64_t seed)
{
  double *x = calloc(n + 1, sizeof *x);
  for (size_t i = 0; i < n && seed; i++)
    x[i] = check_random(&seed) - 0.5;
  return x;
}

static inline double dot(const double *a, const double *b, size_t n)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

static inline double apart(const double *a, const double *b, size_t n)
{
  double worst = 0;
  for (size_t i = 0; i < n; i++)
    worst = check_worst(worst, fabs(a[i] - b[i]));
  return worst / largest(b, n);
}

static inline void ready(bench *t, setup s)
{
  start(t, s);
  begin(t, 3, 0);
  CHECK_OK(t->c.ctx, t->ops->assemble(t->mac, &t->b.face, &t->l));
}

/* How much a face gives way, over what fluid in its place would: dt / (rho dx^dim). */
static inline double *open_by(const bench *t, double factor)
{
  double *open = numbers(t->l.rows, 0), dx = t->mac->grid.dx;
  for (size_t r = 0; r < t->l.rows; r++)
    open[r] = factor * DT / (t->mac->def->fluid.density * pow(dx, t->mac->grid.dim));
  return open;
}

/* Faces that answer for each other too: sqrt(open) (1/2 + w w^T) sqrt(open). */
typedef struct answering {
  const bench *t;
  const double *open;
  int calls, fails_at;
} answering;

static inline mn_status answer(void *user, const double *F, double *U)
{
  answering *a = user;
  size_t rows = a->t->l.rows;
  double sum = 0, wave = 0;
  for (size_t r = 0; r < rows; r++) {
    double w = sin(0.1 * (double)r) / sqrt((double)rows);
    sum += w * sqrt(a->open[r]) * F[r];
    wave += w * w;
  }
  for (size_t r = 0; r < rows; r++) {
    double w = sin(0.1 * (double)r) / sqrt((double)rows);
    U[r] = 0.5 * a->open[r] * F[r] + sqrt(a->open[r]) * w * sum / wave;
  }
  return ++a->calls == a->fails_at ? MN_FAILED : MN_OK;
}

#endif
