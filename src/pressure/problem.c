/* Stand-alone pressure problems, and the work unit they are measured by.

   half-sphere: [0,1]^3, sphere of radius .45 half filled with liquid, a wavy surface; b = -div(w
   u*) with u* = (0, -9.81 dt, 0) [g] plus a swirl [s], dt = .01, rho = 1; the unknown is dt p.
   mms-disk: [0,1]^2, disk of radius .4 with Neumann walls, u* = u_df + grad p, p = e^x cos 2y, u_df
   = curl[(R^2 - r^2) e^x] tangent to the wall; errors against the exact p and grad p. One work
   unit: one constant-coefficient residual sweep in double, per cell times the unknowns. Tests:
   tests/verify/test_mms_disk.c, tests/unit/pressure/test_half_sphere.c. */
#include "meniscus/pressure.h"

#include <math.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/timer.h"
#include "pressure/problem.h"

static const double DT = 0.01, GRAVITY = 9.81;
static const double SPHERE_R = 0.45, DISK_R = 0.4, DISK_X = 0.513, DISK_Y = 0.493;

void mn_problem_destroy(mn_problem_setup *s)
{
  mn_field_destroy(&s->node_distance);
  mn_field_destroy(&s->liquid);
  mn_field_destroy(&s->b);
  mn_field_destroy(&s->p);
  for (int a = 0; a < 3; a++)
    mn_field_destroy(&s->open[a]);
}

static mn_status create_fields(mn_context *ctx, mn_problem_setup *s)
{
  const mn_grid *g = &s->grid;
  MN_TRY(mn_field_create(ctx, g, MN_NODE, "solid distance", &s->node_distance));
  MN_TRY(mn_field_create(ctx, g, MN_CELL, "liquid level set", &s->liquid));
  MN_TRY(mn_field_create(ctx, g, MN_CELL, "right-hand side", &s->b));
  MN_TRY(mn_field_create(ctx, g, MN_CELL, "pressure", &s->p));
  for (int a = 0; a < g->dim; a++)
    MN_TRY(mn_field_create(ctx, g, (mn_place)a, "face fractions", &s->open[a]));
  return MN_OK;
}

typedef double point_fn(mn_vec3 x);

static void fill(mn_field *f, point_fn *value)
{
#pragma omp parallel for schedule(static) num_threads(f->grid->exec->threads)
  for (int s = 0; s < mn_slabs(f); s++) {
    int k, j0, j1;
    mn_slab(f, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++)
      for (int i = 0; i < f->n[0]; i++)
        mn_set(f, i, j, k, value(mn_position(f, i, j, k)));
  }
}

/* b = -div(w u*) */
static void fill_rhs(mn_problem_setup *s, mn_vec3 (*velocity)(mn_vec3 x))
{
  const mn_grid *g = &s->grid;
#pragma omp parallel for schedule(static) num_threads(g->exec->threads)
  for (int slab = 0; slab < mn_slabs(&s->b); slab++) {
    int k, j0, j1;
    mn_slab(&s->b, slab, &k, &j0, &j1);
    for (int j = j0; j < j1; j++)
      for (int i = 0; i < g->n[0]; i++) {
        double sum = 0;
        for (int a = 0; a < g->dim; a++)
          for (int high = 0; high < 2; high++) {
            int at[3] = {i, j, k};
            at[a] += high;
            double w = mn_get(&s->open[a], at[0], at[1], at[2]);
            mn_vec3 u = velocity(mn_position(&s->open[a], at[0], at[1], at[2]));
            sum += (high ? 1 : -1) * w * u.v[a];
          }
        mn_set(&s->b, i, j, k, -sum / g->dx);
      }
  }
}

/* ---- half-sphere --------------------------------------------------------------------------- */

static double sphere_distance(mn_vec3 x)
{
  return SPHERE_R - mn_length(mn_sub(x, mn_v3(0.5, 0.5, 0.5)));
}

static double wavy_surface(mn_vec3 x)
{
  return x.x - 0.5 - 0.02 * sin(2 * MN_PI * x.y + 0.3) * sin(4 * MN_PI * x.z + 0.7);
}

static mn_vec3 falling(mn_vec3 x)
{
  (void)x;
  return mn_v3(0, -GRAVITY * DT, 0);
}

static mn_vec3 swirling(mn_vec3 x)
{
  return mn_v3(0.3 * sin(3 * MN_PI * x.y) * cos(2 * MN_PI * x.z),
               0.3 * sin(3 * MN_PI * x.z) * cos(4 * MN_PI * x.x) - GRAVITY * DT,
               0.3 * sin(5 * MN_PI * x.x) * cos(2 * MN_PI * x.y));
}

/* Liquid is continued into the solid, so that no air gap opens along the wall. */
static void extend_into_solid(mn_problem_setup *s)
{
  const mn_grid *g = &s->grid;
  for (int k = 0; k < g->n[2]; k++)
    for (int j = 0; j < g->n[1]; j++)
      for (int i = 0; i < g->n[0]; i++) {
        double sum = 0;
        for (int c = 0; c < 8; c++)
          sum += mn_get(&s->node_distance, i + (c & 1), j + (c >> 1 & 1), k + (c >> 2));
        if (sum < 0 && mn_get(&s->liquid, i, j, k) < 0.5 * g->dx)
          mn_set(&s->liquid, i, j, k, -0.5 * g->dx);
      }
}

/* ---- mms-disk ------------------------------------------------------------------------------ */

static double disk_distance(mn_vec3 x)
{
  return DISK_R - hypot(x.x - DISK_X, x.y - DISK_Y);
}

double mn_problem_disk_pressure(mn_vec3 x)
{
  return exp(x.x) * cos(2 * x.y);
}

mn_vec3 mn_problem_disk_gradient(mn_vec3 x)
{
  return mn_v3(exp(x.x) * cos(2 * x.y), -2 * exp(x.x) * sin(2 * x.y), 0);
}

/* grad p + (d/dy, -d/dx) psi, psi = (R^2 - r^2) e^x */
mn_vec3 mn_problem_disk_velocity(mn_vec3 x)
{
  double X = x.x - DISK_X, Y = x.y - DISK_Y, e = exp(x.x);
  double psi = (DISK_R * DISK_R - X * X - Y * Y) * e;
  return mn_add(mn_problem_disk_gradient(x), mn_v3(-2 * Y * e, 2 * X * e - psi, 0));
}

mn_status mn_problem_create(mn_context *ctx, mn_problem problem, int n, mn_problem_setup *s)
{
  int cells[3] = {n, n, n}, three = problem != MN_PROBLEM_MMS_DISK;
  *s = (mn_problem_setup){0};
  if (n < 4 || n > 2048)
    return mn_fail(ctx, MN_BAD_INPUT, "n = %d: 4 to 2048 cells a side are allowed", n);
  s->grid = mn_grid_make(&ctx->exec, three ? 3 : 2, cells, 1.0 / n, mn_v3(0, 0, 0));
  mn_status status = create_fields(ctx, s);
  if (status != MN_OK) {
    mn_problem_destroy(s);
    return status;
  }
  fill(&s->node_distance, three ? sphere_distance : disk_distance);
  mn_face_fractions(&s->node_distance, s->open);
  if (three) {
    fill(&s->liquid, wavy_surface);
    extend_into_solid(s);
  }
  fill_rhs(s, !three                                ? mn_problem_disk_velocity
              : problem == MN_PROBLEM_HALF_SPHERE_G ? falling
                                                    : swirling);
  s->geometry = (mn_pressure_geometry){
      .open = s->open, .liquid = three ? &s->liquid : NULL, .theta_min = 0.01};
  return MN_OK;
}

/* ---- measurement --------------------------------------------------------------------------- */

/* r = b - A x with constant coefficients on the whole box. */
static void plain_sweep(const mn_field *b, const mn_field *x, mn_field *r)
{
  const mn_grid *g = b->grid;
  int64_t sy = b->stride[1], sz = b->stride[2];
#pragma omp parallel for schedule(static) num_threads(g->exec->threads)
  for (int s = 0; s < mn_slabs(b); s++) {
    int k, j0, j1;
    mn_slab(b, s, &k, &j0, &j1);
    for (int j = j0; j < j1; j++) {
      const double *p = x->at + mn_index(x, 0, j, k), *f = b->at + mn_index(b, 0, j, k);
      double *out = r->at + mn_index(r, 0, j, k);
      if (g->dim == 3)
        for (int i = 0; i < g->n[0]; i++)
          out[i] = f[i] -
                   (6 * p[i] - p[i - 1] - p[i + 1] - p[i - sy] - p[i + sy] - p[i - sz] - p[i + sz]);
      else
        for (int i = 0; i < g->n[0]; i++)
          out[i] = f[i] - (4 * p[i] - p[i - 1] - p[i + 1] - p[i - sy] - p[i + sy]);
    }
  }
}

/* Seconds of one sweep per cell, best of several. */
static double sweep_seconds(const mn_problem_setup *s, mn_field *out)
{
  enum { SWEEPS = 10 };
  double best = 1e300;
  for (int t = 0; t < SWEEPS; t++) {
    double start = mn_seconds();
    plain_sweep(&s->b, &s->liquid, out);
    best = fmin(best, mn_seconds() - start);
  }
  return best / ((double)s->grid.n[0] * s->grid.n[1] * s->grid.n[2]);
}

/* Error of p up to a constant: mean and greatest absolute value over the unknowns whose
   centre is in the disk: beyond the wall p is not defined. */
void mn_problem_disk_errors_p(const mn_pressure *v, const mn_field *p, double *l1, double *linf)
{
  double mean = 0, count = 0;
  *l1 = *linf = 0;
  for (int pass = 0; pass < 2; pass++) {
    double sum = 0;
    count = 0;
    for (int j = 0; j < p->n[1]; j++)
      for (int i = 0; i < p->n[0]; i++) {
        mn_vec3 x = mn_position(p, i, j, 0);
        if (mn_pressure_region_of(v, i, j, 0) < 0 || disk_distance(x) <= 0)
          continue;
        double exact = mn_problem_disk_pressure(x);
        double error = mn_get(p, i, j, 0) - exact - mean;
        sum += pass ? fabs(error) : error;
        *linf = pass ? fmax(*linf, fabs(error)) : 0;
        count++;
      }
    *(pass ? l1 : &mean) = sum / count;
  }
}

/* Error of grad p over the open faces. */
void mn_problem_disk_errors_grad(const mn_field open[3], const mn_field gradient[3], double *l1,
                                 double *linf)
{
  double sum = 0, count = 0;
  *linf = 0;
  for (int a = 0; a < 2; a++)
    for (int j = 0; j < open[a].n[1]; j++)
      for (int i = 0; i < open[a].n[0]; i++) {
        if (!(mn_get(&open[a], i, j, 0) > 0))
          continue;
        mn_vec3 exact = mn_problem_disk_gradient(mn_position(&open[a], i, j, 0));
        double error = fabs(mn_get(&gradient[a], i, j, 0) - exact.v[a]);
        sum += error;
        *linf = fmax(*linf, error);
        count++;
      }
  *l1 = sum / count;
}

static mn_status disk_errors(mn_context *ctx, const mn_pressure *v, const mn_problem_setup *s,
                             mn_pressure_result *out)
{
  mn_field gradient[3] = {0};
  mn_problem_disk_errors_p(v, &s->p, &out->p_l1, &out->p_linf);
  mn_status status = mn_field_create(ctx, &s->grid, MN_FACE_X, "gradient", &gradient[0]);
  if (status == MN_OK)
    status = mn_field_create(ctx, &s->grid, MN_FACE_Y, "gradient", &gradient[1]);
  if (status == MN_OK) {
    mn_pressure_gradient(v, &s->p, gradient);
    mn_problem_disk_errors_grad(s->open, gradient, &out->grad_l1, &out->grad_linf);
  }
  mn_field_destroy(&gradient[0]);
  mn_field_destroy(&gradient[1]);
  return status;
}

mn_status mn_pressure_problem(mn_context *ctx, mn_problem problem, int n, mn_pressure_solver solver,
                              double tolerance, int repeat, mn_pressure_result *result)
{
  mn_problem_setup s;
  mn_pressure *v = NULL;
  *result = (mn_pressure_result){.n = n, .threads = ctx->exec.threads};
  MN_TRY(mn_problem_create(ctx, problem, n, &s));
  mn_status status = MN_OK;
  double best = 1e300;
  for (int t = 0; t < (repeat < 1 ? 1 : repeat) && status == MN_OK; t++) {
    mn_solve_report report;
    mn_field_fill(&s.p, 0);
    double start = mn_seconds();
    if (!v)
      MN_TRY_GOTO(status, mn_pressure_create(ctx, &s.grid, solver, &v), done);
    MN_TRY_GOTO(status, mn_pressure_assemble(v, &s.geometry), done);
    double middle = mn_seconds();
    MN_TRY_GOTO(status, mn_pressure_solve(v, &s.b, tolerance, 1e-6, 10000, &s.p, &report), done);
    double end = mn_seconds();
    if (end - start < best) {
      best = end - start;
      result->setup_s = middle - start;
      result->solve_s = end - middle;
    }
    result->iterations = report.iterations;
    result->residual = report.residual;
    result->reason = report.reason;
  }
  result->unknowns = mn_pressure_unknowns(v);
  result->peak_mb = (double)mn_pressure_bytes(v) / 1e6;
  if (problem == MN_PROBLEM_MMS_DISK)
    MN_TRY_GOTO(status, disk_errors(ctx, v, &s, result), done);
  result->wu_s = sweep_seconds(&s, &s.p) * (double)result->unknowns; /* overwrites p */
done:
  mn_pressure_destroy(&v);
  mn_problem_destroy(&s);
  return status;
}
