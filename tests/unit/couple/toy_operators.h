/* The smallest pair of boxes with operators: a fluid of CELLS pressures and FACES faces and a solid
   of FREEDOMS freedoms, full of random numbers, of which everything is known.

       fluid   L p + D W V = c,    F = D^T p - (mass/dt) (W V - before),   load = W^T F + rest
       solid   M (v - v^n)/dt + K x + s x^3 = E^T load,    v = (1 + lead)/dt (x - x^n) - lead v^n

   With `closed` L does not see constants, and every second region's bodies do not either if
   `still`. */
#ifndef MN_TESTS_TOY_OPERATORS_H
#define MN_TESTS_TOY_OPERATORS_H

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "math/vec.h"
#include "meniscus/operators.h"

enum { CELLS = 14, FACES = 9, TOY_POINTS = 5, FREEDOMS = 6, UNKNOWNS = CELLS + FREEDOMS };

typedef struct toy_fluid {
  double L[CELLS][CELLS], c[CELLS], p_guess[CELLS], volume[CELLS];
  double D[CELLS][FACES], W[FACES][3 * TOY_POINTS];
  int32_t cell[2 * FACES], region[CELLS];
  double area[FACES], mass[FACES], before[FACES];
  mn_vec3 rest[TOY_POINTS];
  uint8_t bound[CELLS];
  int bounded, closed;
  double dt, tolerance;
  int64_t w_start[FACES + 1], w_col[FACES * 3 * TOY_POINTS];
  double w_value[FACES * 3 * TOY_POINTS];
  int64_t l_start[CELLS + 1], l_col[CELLS * CELLS];
  double l_value[CELLS * CELLS];
  double M[CELLS * CELLS]; /* the preconditioner */
  uint8_t held[CELLS];
  double adopted[CELLS]; /* p */
  mn_vec3 adopted_V[TOY_POINTS];
  int assembled, adoptions;
} toy_fluid;

typedef struct toy_solid {
  double M[FREEDOMS][FREEDOMS], K[FREEDOMS][FREEDOMS], E[3 * TOY_POINTS][FREEDOMS], cubic, lead;
  double x0[FREEDOMS], v0[FREEDOMS]; /* state */
  double x[FREEDOMS], dt;            /* iterate */
  int64_t k_start[FREEDOMS + 1], k_col[FREEDOMS * FREEDOMS];
  int64_t e_start[3 * TOY_POINTS + 1], e_col[3 * TOY_POINTS * FREEDOMS];
  double k_value[FREEDOMS * FREEDOMS], e_value[3 * TOY_POINTS * FREEDOMS], r[FREEDOMS];
} toy_solid;

/* ---- fluid ----------------------------------------------------------------------------------- */

static double toy_max_dt(void *self)
{
  (void)self;
  return 1;
}

static void toy_destroy(void *self)
{
  (void)self;
}

static mn_status toy_nothing(void *self)
{
  (void)self;
  return MN_OK;
}

static int toy_arrays(void *self, mn_array *arrays, int capacity)
{
  (void)self, (void)arrays, (void)capacity;
  return 0;
}

static mn_status toy_fluid_begin(void *self, double t, double dt)
{
  (void)t;
  ((toy_fluid *)self)->dt = dt;
  return MN_OK;
}

static mn_status toy_fluid_solve(void *self, mn_interface *f, mn_solve_report *report)
{
  (void)self, (void)f;
  *report = (mn_solve_report){0};
  return MN_FAILED; /* nobody may ask */
}

static mn_status toy_assemble(void *self, const mn_interface *f, mn_fluid_linear *l)
{
  toy_fluid *t = self;
  (void)f;
  t->assembled++;
  *l = (mn_fluid_linear){.cells = CELLS,
                         .rows = FACES,
                         .cell = t->cell,
                         .area = t->area,
                         .mass = t->mass,
                         .before = t->before,
                         .c = t->c,
                         .rest = t->rest,
                         .bound = t->bounded ? t->bound : NULL,
                         .p = t->p_guess,
                         .region = t->closed ? t->region : NULL,
                         .volume = t->volume,
                         .tolerance = t->tolerance,
                         .relative = 1e-13};
  return MN_OK;
}

static void toy_gather(void *self, const mn_vec3 *V, double *U)
{
  const toy_fluid *t = self;
  for (int r = 0; r < FACES; r++) {
    U[r] = 0;
    for (int k = 0; k < 3 * TOY_POINTS; k++)
      U[r] += t->W[r][k] * V[k / 3].v[k % 3];
  }
}

static mn_status toy_scatter(void *self, const double *F, mn_vec3 *load)
{
  const toy_fluid *t = self;
  for (int k = 0; k < 3 * TOY_POINTS; k++) {
    load[k / 3].v[k % 3] = 0;
    for (int r = 0; r < FACES; r++)
      load[k / 3].v[k % 3] += t->W[r][k] * F[r];
  }
  return MN_OK;
}

static mn_sparse_matrix toy_full(int rows, int cols, const double *a, int64_t *start, int64_t *col,
                                 double *value)
{
  for (int i = 0; i < rows; i++) {
    start[i + 1] = (int64_t)(i + 1) * cols;
    for (int j = 0; j < cols; j++) {
      col[i * cols + j] = j;
      value[i * cols + j] = a[i * cols + j];
    }
  }
  start[0] = 0;
  return (mn_sparse_matrix){rows, cols, start, col, value};
}

static mn_status toy_weights(void *self, mn_sparse_matrix *W)
{
  toy_fluid *t = self;
  *W = toy_full(FACES, 3 * TOY_POINTS, &t->W[0][0], t->w_start, t->w_col, t->w_value);
  return MN_OK;
}

static mn_status toy_matrix(void *self, mn_sparse_matrix *L)
{
  toy_fluid *t = self;
  *L = toy_full(CELLS, CELLS, &t->L[0][0], t->l_start, t->l_col, t->l_value);
  return MN_OK;
}

static void toy_apply(void *self, const double *p, double *y)
{
  const toy_fluid *t = self;
  for (int i = 0; i < CELLS; i++) {
    y[i] = 0;
    for (int j = 0; j < CELLS; j++)
      y[i] += t->L[i][j] * p[j];
  }
}

/* The inverse itself, but for a diagonal shift that makes it one. */
static mn_status toy_prepare(void *self, const double *open, const uint8_t *held)
{
  toy_fluid *t = self;
  for (int i = 0; i < CELLS; i++) {
    t->held[i] = held ? held[i] : 0;
    for (int j = 0; j < CELLS; j++) {
      double sum = t->L[i][j] + (i == j ? 1e-3 : 0);
      for (int r = 0; r < FACES && open; r++)
        sum += t->D[i][r] * open[r] * t->D[j][r];
      int out = held && (held[i] || held[j]);
      t->M[i + CELLS * j] = out ? i == j : sum;
    }
  }
  assert_int_equal(LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', CELLS, t->M, CELLS), 0);
  return MN_OK;
}

static void toy_precondition(void *self, const double *y, double *z)
{
  toy_fluid *t = self;
  for (int i = 0; i < CELLS; i++)
    z[i] = t->held[i] ? 0 : y[i];
  LAPACKE_dpotrs(LAPACK_COL_MAJOR, 'L', CELLS, 1, t->M, CELLS, z, CELLS);
}

static mn_status toy_adopt(void *self, mn_interface *f, const double *p, mn_solve_report *report)
{
  toy_fluid *t = self;
  double U[FACES], F[FACES];
  toy_gather(t, f->V, U);
  for (int r = 0; r < FACES; r++) {
    F[r] = -t->mass[r] / t->dt * (U[r] - t->before[r]);
    for (int i = 0; i < CELLS; i++)
      F[r] += t->D[i][r] * p[i];
  }
  toy_scatter(t, F, f->load);
  for (int i = 0; i < TOY_POINTS; i++) {
    f->load[i] = mn_add(f->load[i], t->rest[i]);
    f->mass[i] = 0;
  }
  memcpy(t->adopted, p, sizeof t->adopted);
  memcpy(t->adopted_V, f->V, sizeof t->adopted_V);
  t->adoptions++;
  *report = (mn_solve_report){.reason = MN_CONVERGED};
  return MN_OK;
}

static const mn_fluid_operators toy_fluid_operators = {.assemble = toy_assemble,
                                                       .gather = toy_gather,
                                                       .scatter = toy_scatter,
                                                       .weights = toy_weights,
                                                       .apply = toy_apply,
                                                       .matrix = toy_matrix,
                                                       .prepare = toy_prepare,
                                                       .precondition = toy_precondition,
                                                       .adopt = toy_adopt};

static const mn_fluid_ops toy_fluid_ops = {.name = "toy",
                                           .destroy = toy_destroy,
                                           .max_dt = toy_max_dt,
                                           .begin = toy_fluid_begin,
                                           .solve = toy_fluid_solve,
                                           .commit = toy_nothing,
                                           .save = toy_nothing,
                                           .restore = toy_nothing,
                                           .arrays = toy_arrays,
                                           .operators = &toy_fluid_operators};

/* ---- solid ----------------------------------------------------------------------------------- */

static double toy_velocity(const toy_solid *s, const double *x, int i)
{
  return (1 + s->lead) / s->dt * (x[i] - s->x0[i]) - s->lead * s->v0[i];
}

static mn_status toy_solid_begin(void *self, double t, double dt)
{
  (void)t;
  ((toy_solid *)self)->dt = dt;
  return MN_OK;
}

static mn_status toy_sample(void *self, double spacing, size_t *count, size_t *elements)
{
  (void)self, (void)spacing;
  *count = TOY_POINTS;
  *elements = TOY_POINTS - 1;
  return MN_OK;
}

static void toy_show(const toy_solid *s, const double *x, const double *v, mn_interface *f)
{
  for (int k = 0; k < 3 * TOY_POINTS; k++) {
    double X = k / 3, V = 0;
    for (int i = 0; i < FREEDOMS; i++) {
      X += s->E[k][i] * x[i];
      V += s->E[k][i] * v[i];
    }
    f->X[k / 3].v[k % 3] = X;
    f->V[k / 3].v[k % 3] = V;
    f->N[k / 3] = mn_v3(1, 0, 0);
    f->area[k / 3] = 1;
  }
}

static mn_status toy_look(void *self, mn_interface *f)
{
  const toy_solid *s = self;
  toy_show(s, s->x0, s->v0, f);
  for (uint32_t i = 0; i < TOY_POINTS; i++) {
    f->body[i] = 0;
    f->two_sided[i] = f->rigid[i] = 0;
    f->lead[i] = s->lead;
  }
  for (uint32_t e = 0; e < TOY_POINTS - 1; e++) {
    f->element[2 * e] = e;
    f->element[2 * e + 1] = e + 1;
  }
  return MN_OK;
}

static mn_status toy_iterate(toy_solid *s, mn_interface *f)
{
  double v[FREEDOMS];
  for (int i = 0; i < FREEDOMS; i++)
    v[i] = toy_velocity(s, s->x, i);
  toy_show(s, s->x, v, f);
  return MN_OK;
}

static mn_status toy_start(void *self, mn_interface *f)
{
  toy_solid *s = self;
  memcpy(s->x, s->x0, sizeof s->x);
  return toy_iterate(s, f);
}

/* Forces but those of the fluid, and the tangent. */
static void toy_forces(const toy_solid *s, const double *x, double *r, double *K)
{
  for (int i = 0; i < FREEDOMS; i++) {
    r[i] = -s->cubic * x[i] * x[i] * x[i];
    for (int j = 0; j < FREEDOMS; j++) {
      r[i] -= s->M[i][j] * (toy_velocity(s, x, j) - s->v0[j]) / s->dt + s->K[i][j] * x[j];
      K[i * FREEDOMS + j] = s->M[i][j] * (1 + s->lead) / (s->dt * s->dt) + s->K[i][j] +
                            (i == j ? 3 * s->cubic * x[i] * x[i] : 0);
    }
  }
}

static mn_status toy_linearise(void *self, const mn_interface *f, mn_solid_linear *l)
{
  toy_solid *s = self;
  double K[FREEDOMS * FREEDOMS];
  (void)f;
  toy_forces(s, s->x, s->r, K);
  *l = (mn_solid_linear){
      .K = toy_full(FREEDOMS, FREEDOMS, K, s->k_start, s->k_col, s->k_value),
      .E = toy_full(3 * TOY_POINTS, FREEDOMS, &s->E[0][0], s->e_start, s->e_col, s->e_value),
      .r = s->r,
      .scale = 1,
      .linear = s->cubic == 0};
  return MN_OK;
}

static mn_status toy_advance(void *self, const double *q, double step, mn_interface *f,
                             double *taken)
{
  toy_solid *s = self;
  for (int i = 0; i < FREEDOMS; i++)
    s->x[i] += step * q[i];
  *taken = step;
  return toy_iterate(s, f);
}

static mn_status toy_solid_solve(void *self, mn_interface *f, mn_solve_report *report)
{
  (void)self, (void)f;
  *report = (mn_solve_report){0};
  return MN_FAILED;
}

static const mn_solid_operators toy_solid_operators = {
    .start = toy_start, .linearise = toy_linearise, .advance = toy_advance};

static const mn_solid_ops toy_solid_ops = {.name = "toy",
                                           .destroy = toy_destroy,
                                           .max_dt = toy_max_dt,
                                           .begin = toy_solid_begin,
                                           .solve = toy_solid_solve,
                                           .commit = toy_nothing,
                                           .save = toy_nothing,
                                           .restore = toy_nothing,
                                           .arrays = toy_arrays,
                                           .sample = toy_sample,
                                           .look = toy_look,
                                           .operators = &toy_solid_operators};

/* ---- numbers --------------------------------------------------------------------------------- */

static double toy_number(uint64_t *seed)
{
  return 2 * check_random(seed) - 1;
}

/* A random graph Laplacian within [from, to), and some of it open. */
static void toy_laplacian(toy_fluid *t, uint64_t *seed, int from, int to, int open)
{
  for (int i = from; i < to; i++)
    for (int j = from; j < i; j++) {
      double a = j == i - 1 || check_random(seed) < 0.3 ? 0.1 + check_random(seed) : 0;
      t->L[i][j] -= a;
      t->L[j][i] -= a;
      t->L[i][i] += a;
      t->L[j][j] += a;
    }
  if (open)
    t->L[from][from] += 1;
}

/* `regions` closed ones share the cells; 0: open. */
static void toy_make(toy_fluid *t, toy_solid *s, uint64_t seed, int regions)
{
  *t = (toy_fluid){.tolerance = 1e-12, .closed = regions > 0};
  *s = (toy_solid){.cubic = 0};
  int parts = regions ? regions : 1;
  for (int g = 0; g < parts; g++)
    toy_laplacian(t, &seed, g * CELLS / parts, (g + 1) * CELLS / parts, !regions);
  for (int i = 0; i < CELLS; i++) {
    t->region[i] = (int32_t)(i * parts / CELLS);
    t->volume[i] = 0.5 + check_random(&seed);
    t->c[i] = toy_number(&seed);
  }
  for (int r = 0; r < FACES; r++) {
    t->cell[2 * r] = (int32_t)(r * CELLS / FACES);
    t->cell[2 * r + 1] = r % 3 == 1 ? -1 : (int32_t)((r * 5 + 3) % CELLS);
    if (t->cell[2 * r + 1] == t->cell[2 * r])
      t->cell[2 * r + 1] = -1;
    t->area[r] = 0.2 + check_random(&seed);
    t->mass[r] = 0.1 + 0.1 * check_random(&seed);
    t->before[r] = toy_number(&seed);
    t->D[t->cell[2 * r]][r] += t->area[r];
    if (t->cell[2 * r + 1] >= 0)
      t->D[t->cell[2 * r + 1]][r] -= t->area[r];
    for (int k = 0; k < 3 * TOY_POINTS; k++)
      t->W[r][k] = toy_number(&seed);
  }
  for (int i = 0; i < TOY_POINTS; i++)
    t->rest[i] = mn_v3(toy_number(&seed), toy_number(&seed), toy_number(&seed));
  for (int i = 0; i < FREEDOMS; i++) {
    s->v0[i] = toy_number(&seed);
    s->x0[i] = 0.1 * toy_number(&seed);
    for (int j = 0; j <= i; j++) {
      s->M[i][j] = s->M[j][i] = i == j ? 1 + check_random(&seed) : 0.1 * toy_number(&seed);
      s->K[i][j] = s->K[j][i] = i == j ? 10 + check_random(&seed) : toy_number(&seed);
    }
  }
  for (int k = 0; k < 3 * TOY_POINTS; k++)
    for (int i = 0; i < FREEDOMS; i++)
      s->E[k][i] = toy_number(&seed);
}

/* ---- the dense answer ------------------------------------------------------------------------ */

/* Newton on all equations with LAPACK, from x0; `steps` of it. Cells with held[i] have p = 0;
   `masses` 0 leaves them out. x: p, then the freedoms. Returns the last step. */
static inline double toy_dense(const toy_fluid *t, const toy_solid *s, const uint8_t *held,
                               int masses, int steps, double *x)
{
  double H[FACES][FREEDOMS] = {{0}}, last = 0;
  for (int r = 0; r < FACES; r++)
    for (int k = 0; k < 3 * TOY_POINTS; k++)
      for (int i = 0; i < FREEDOMS; i++)
        H[r][i] += t->W[r][k] * s->E[k][i];
  memset(x, 0, CELLS * sizeof *x);
  memcpy(x + CELLS, s->x0, sizeof s->x0);
  for (int it = 0; it < steps; it++) {
    double A[UNKNOWNS * UNKNOWNS] = {0}, b[UNKNOWNS] = {0}, K[FREEDOMS * FREEDOMS],
                        g = (1 + s->lead) / s->dt, U[FACES] = {0};
    lapack_int pivot[UNKNOWNS];
    for (int r = 0; r < FACES; r++)
      for (int i = 0; i < FREEDOMS; i++)
        U[r] += H[r][i] * toy_velocity(s, x + CELLS, i);
    toy_forces(s, x + CELLS, b + CELLS, K);
#define A_(i, j) A[(i) + UNKNOWNS * (j)]
    for (int i = 0; i < CELLS; i++) {
      b[i] = t->c[i];
      for (int r = 0; r < FACES; r++) {
        b[i] -= t->D[i][r] * U[r];
        for (int j = 0; j < FREEDOMS; j++) {
          A_(i, CELLS + j) += t->D[i][r] * H[r][j] * g;
          A_(CELLS + j, i) -= t->D[i][r] * H[r][j];
        }
      }
      for (int j = 0; j < CELLS; j++)
        A_(i, j) = t->L[i][j];
    }
    for (int i = 0; i < FREEDOMS; i++)
      for (int j = 0; j < FREEDOMS; j++) {
        A_(CELLS + i, CELLS + j) = K[i * FREEDOMS + j];
        for (int r = 0; r < FACES && masses; r++)
          A_(CELLS + i, CELLS + j) += H[r][i] * t->mass[r] / s->dt * H[r][j] * g;
      }
    for (int i = 0; i < FREEDOMS; i++) {
      for (int r = 0; r < FACES && masses; r++)
        b[CELLS + i] -= H[r][i] * t->mass[r] / s->dt * (U[r] - t->before[r]);
      for (int k = 0; k < 3 * TOY_POINTS; k++)
        b[CELLS + i] += s->E[k][i] * t->rest[k / 3].v[k % 3];
    }
    for (int i = 0; i < CELLS && held; i++)
      if (held[i]) {
        for (int j = 0; j < UNKNOWNS; j++)
          A_(i, j) = i == j;
        b[i] = 0;
      }
#undef A_
    if (LAPACKE_dgesv(LAPACK_COL_MAJOR, UNKNOWNS, 1, A, UNKNOWNS, pivot, b, UNKNOWNS) != 0)
      return NAN;
    memcpy(x, b, CELLS * sizeof *x);
    last = 0;
    for (int i = 0; i < FREEDOMS; i++) {
      x[CELLS + i] += b[CELLS + i];
      last = fmax(last, fabs(b[CELLS + i]));
    }
  }
  return last;
}

#endif
