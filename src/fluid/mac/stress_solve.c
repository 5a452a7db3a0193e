/* Viscous stress of a liquid: the step in time and the linear solver.

   With the weights of stress.c, B u the list of weighted strain rates, g that of given velocities,

       A = M + B^T B,   a stage solves  A Y = M (y + ...) - B^T g

   In time the L-stable two-stage scheme SDIRK2 (gamma = 1 - 1/sqrt 2), as for smoke (viscosity.c):
   second order, no limit on dt. B u = 0 for rigid motions, so each stage keeps momentum and
   angular momentum (in the inner product of M) up to its residual.

   Between walls that hold it, water at rest must feel its pressure together with its weight: weight
   alone, of which viscosity lets less act near walls than elsewhere, would leave a flow that no
   pressure takes back, of some 0.1 g dt in every step whatever nu is. So the solve is given the
   accelerations a - grad p^n/rho, and grad p^n/rho is taken back after it, for the projection to
   find all of p. p^n is the last step's, on its surface; what it says is heeded up to LEAN |a|: in
   splashes it is no guess of anything. In the first step it is what balances a.

   Solver: conjugate gradients, flexible [Notay 2000], preconditioned by a few multigrid cycles
   per component on the part of A within it. By Korn's inequality the rest of A changes its spectrum
   by a bounded factor, except for the rigid motions of free bodies, which cost a few iterations
   each: the count depends little on the grid and on nu dt/dx^2.

   Verified by tests/verify/test_viscous_water.c. */
#include "fluid/mac/internal.h"

#include <math.h>

#include "base/status.h"

static const double GAMMA = 0.29289321881345254; /* 1 - 1/sqrt 2 */
static const double TOLERANCE = 1e-12;           /* of the residual */
static const double ENOUGH = 1e-8;               /* where rounding forbids more */
static const double STILL = 1e-12;               /* cells per step: not worth a solve */
static const double LEAN = 1.5;                  /* of the body forces, see above */
static const double THETA_MIN = 0.01;            /* as of the pressure's ghost fluid */
enum { MAX_ITERATIONS = 500, CYCLES = 3 };

/* ---- the operator ---------------------------------------------------------------------------- */

/* normal_now, shear_now <- B x; x is 0 where there is no unknown */
static void strain(mn_mac *mac, const mn_field x[3])
{
  mn_stress *t = &mac->stress;
  for (int c = -3; c < 3; c++) { /* -3 to -1: normal along axis c + 3; else edges along c */
    if ((c < 0 && c + 3 >= mac->grid.dim) || (c >= 0 && c < 2 && mac->grid.dim == 2))
      continue;
    int a = c + 3, b = a;
    if (c >= 0)
      mn_stress_axes(c, &a, &b);
    mn_field *out = c < 0 ? &t->normal_now[a] : &t->shear_now[c];
    const mn_field *u = &x[a], *v = &x[b];
    int64_t ub = u->stride[b], va = v->stride[a];
    int slabs = mn_slabs(out);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
    for (int s = 0; s < slabs; s++) {
      int k, j0, j1;
      mn_slab(out, s, &k, &j0, &j1);
      for (int j = j0; j < j1; j++) {
        int64_t o = mn_index(out, 0, j, k);
        const double *p = u->at + mn_index(u, 0, j, k), *q = v->at + mn_index(v, 0, j, k);
        const double *w = (c < 0 ? t->normal[a] : t->shear[c][0]).at + o;
        const double *w2 = c < 0 ? NULL : t->shear[c][1].at + o;
        for (int i = 0; i < out->n[0]; i++)
          out->at[o + i] = c < 0 ? w[i] * (p[i + ub] - p[i])
                                 : w[i] * (p[i] - p[i - ub]) + w2[i] * (q[i] - q[i - va]);
      }
    }
  }
}

/* y <- M x + sign B^T (normal_now, shear_now) at unknowns, 0 elsewhere; returns y . with, per slab
   summed */
static double gather(mn_mac *mac, const mn_field x[3], double sign, mn_field y[3],
                     const mn_field with[3])
{
  mn_stress *t = &mac->stress;
  double dot = 0;
  int dim = mac->grid.dim;
  for (int a = 0; a < dim; a++) {
    const mn_field *m = &t->mass[a], *n = &t->normal_now[a], *wn = &t->normal[a];
    int slabs = mn_slabs(m);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
    for (int s = 0; s < slabs; s++) {
      int k, j0, j1;
      mn_slab(m, s, &k, &j0, &j1);
      double part = 0;
      for (int j = j0; j < j1; j++)
        for (int i = 0; i < m->n[0]; i++) {
          int64_t q = mn_index(m, i, j, k), c = mn_index(n, i, j, k), l = c - n->stride[a];
          if (!(m->at[q] > 0)) {
            y[a].at[q] = 0;
            continue;
          }
          double sum = wn->at[l] * n->at[l] - wn->at[c] * n->at[c];
          for (int b = 0; b < dim; b++)
            if (b != a) {
              int e = dim == 2 ? 2 : 3 - a - b;
              const mn_field *w = &t->shear[e][a > b], *f = &t->shear_now[e];
              int64_t low = mn_index(f, i, j, k), high = low + f->stride[b];
              sum += w->at[low] * f->at[low] - w->at[high] * f->at[high];
            }
          y[a].at[q] = m->at[q] * x[a].at[q] + sign * sum;
          part += y[a].at[q] * with[a].at[q];
        }
      t->partial[s] = part;
    }
    dot += mn_reduce(mac->grid.exec, MN_SUM, t->partial, slabs);
  }
  return dot;
}

/* ---- vectors --------------------------------------------------------------------------------- */

static double inner(mn_mac *mac, const mn_field x[3], const mn_field y[3])
{
  double dot = 0;
  for (int a = 0; a < mac->grid.dim; a++) {
    int slabs = mn_slabs(&x[a]);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
    for (int s = 0; s < slabs; s++) {
      int k, j0, j1;
      mn_slab(&x[a], s, &k, &j0, &j1);
      double part = 0;
      for (int j = j0; j < j1; j++)
        for (int64_t q = mn_index(&x[a], 0, j, k); q < mn_index(&x[a], x[a].n[0], j, k); q++)
          part += x[a].at[q] * y[a].at[q];
      mac->stress.partial[s] = part;
    }
    dot += mn_reduce(mac->grid.exec, MN_SUM, mac->stress.partial, slabs);
  }
  return dot;
}

static double largest(mn_mac *mac, const mn_field x[3])
{
  double most = 0;
  for (int a = 0; a < mac->grid.dim; a++) {
    int slabs = mn_slabs(&x[a]);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
    for (int s = 0; s < slabs; s++) {
      int k, j0, j1;
      mn_slab(&x[a], s, &k, &j0, &j1);
      double part = 0;
      for (int j = j0; j < j1; j++)
        for (int64_t q = mn_index(&x[a], 0, j, k); q < mn_index(&x[a], x[a].n[0], j, k); q++) {
          double size = fabs(x[a].at[q]);
          part = size <= part ? part : size; /* NaN stays */
        }
      mac->stress.partial[s] = part;
    }
    double here = mn_reduce(mac->grid.exec, MN_MAX, mac->stress.partial, slabs);
    most = here <= most ? most : here;
  }
  return most;
}

/* y <- s y + c x */
static void combine(mn_mac *mac, double s, mn_field y[3], double c, const mn_field x[3])
{
  for (int a = 0; a < mac->grid.dim; a++) {
    int64_t size = (int64_t)y[a].size;
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
    for (int64_t q = 0; q < size; q++)
      y[a].data[q] = s * y[a].data[q] + c * x[a].data[q];
  }
}

/* ---- conjugate gradients --------------------------------------------------------------------- */

/* r <- b - A x; returns its norm */
static double true_residual(mn_mac *mac, const mn_field b[3], const mn_field x[3])
{
  mn_stress *t = &mac->stress;
  strain(mac, x);
  gather(mac, x, 1, t->r, x);
  combine(mac, -1, t->r, 1, b);
  return largest(mac, t->r);
}

/* z <- about A_aa^-1 r for each component a. One cycle is not enough: free bodies have modes that
   only the mass holds, and these need a preconditioner that hardly changes from one use to the
   next (measured on a ball, nu dt/dx^2 = 1e4: over 500, 193, 125, 127 iterations by 1, 2, 3, 4
   cycles, 92 by exact solves). */
static mn_status precondition(mn_mac *mac)
{
  mn_stress *t = &mac->stress;
  mn_solve_report report;
  for (int a = 0; a < mac->grid.dim; a++) {
    mn_field_fill(&t->z[a], 0);
    MN_TRY(mn_stencil_solve(t->solver[a], &t->r[a], 0, CYCLES, &t->z[a], &report));
  }
  return MN_OK;
}

/* A x = b from x, all of them 0 where there is no unknown */
static mn_status solve(mn_mac *mac, const mn_field b[3], double tolerance, mn_field x[3],
                       mn_solve_report *report)
{
  mn_stress *t = &mac->stress;
  double norm = true_residual(mac, b, x), checked = norm, dq = 0;
  *report = (mn_solve_report){.initial_residual = norm, .reason = MN_ITERATION_LIMIT};
  while (norm > tolerance && report->iterations < MAX_ITERATIONS) {
    MN_TRY(precondition(mac));
    double beta = dq > 0 ? -inner(mac, t->z, t->q) / dq : 0;
    combine(mac, beta, t->d, 1, t->z);
    strain(mac, t->d);
    dq = gather(mac, t->d, 1, t->q, t->d);
    if (!(dq > 0))
      break; /* nothing is left of the residual but rounding, or a number is not finite */
    double alpha = inner(mac, t->d, t->r) / dq;
    combine(mac, 1, x, alpha, t->d);
    combine(mac, 1, t->r, -alpha, t->q);
    norm = largest(mac, t->r);
    report->iterations++;
    if (norm <= tolerance) { /* by recursion: is it true? */
      norm = true_residual(mac, b, x);
      if (norm > tolerance && norm > checked / 2)
        break;
      checked = norm;
    }
  }
  report->residual = norm = true_residual(mac, b, x);
  report->reason = norm <= tolerance                      ? MN_CONVERGED
                   : !isfinite(norm)                      ? MN_DIVERGED
                   : report->iterations >= MAX_ITERATIONS ? MN_ITERATION_LIMIT
                                                          : MN_STALLED;
  return MN_OK;
}

/* ---- the pressure that is expected ----------------------------------------------------------- */

/* Distance of the surface from the liquid cell, in cells. */
static double theta(double liquid, double air)
{
  return fmax(liquid / (liquid - air), THETA_MIN);
}

/* grad p^n of a face, times dx; 0 where there was no water. */
static double old_difference(const mn_field *p, const mn_field *phi, int64_t low, int64_t high)
{
  double at_low = phi->at[low], at_high = phi->at[high];
  if (at_low < 0 && at_high < 0)
    return p->at[high] - p->at[low];
  if (at_low < 0)
    return -p->at[low] / theta(at_low, at_high);
  return at_high < 0 ? p->at[high] / theta(at_high, at_low) : 0;
}

/* lean <- grad p^n/rho within what is heeded; in the first step all of the body forces. */
static void expect_pressure(mn_mac *mac)
{
  const mn_fluid_def *fluid = &mac->def->fluid;
  const mn_field *p = &mac->state.p, *phi = &mac->state.liquid;
  mn_vec3 force = mn_madd(fluid->gravity, 1 / fluid->density, fluid->body_force);
  double most = LEAN * mn_length(force), scale = 1 / (fluid->density * mac->grid.dx);
  int first = mac->state.scalars[1] == 0;
  for (int a = 0; a < mac->grid.dim; a++) {
    mn_field *out = &mac->stress.lean[a];
    int64_t s = p->stride[a];
    int slabs = mn_slabs(out);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
    for (int slab = 0; slab < slabs; slab++) {
      int k, j0, j1;
      mn_slab(out, slab, &k, &j0, &j1);
      for (int j = j0; j < j1; j++)
        for (int i = 0; i < out->n[0]; i++) {
          int64_t q = mn_index(out, i, j, k), c = mn_index(p, i, j, k);
          double pressed = scale * old_difference(p, phi, c - s, c);
          out->at[q] = first ? mac->gradient[a].at[q] : mn_clamp(pressed, -most, most);
        }
    }
  }
}

/* ---- the step -------------------------------------------------------------------------------- */

/* trace <- M (y + (1 - gamma)/gamma (Y - y) second + gamma dt a) - B^T g at `time`, y in star, Y in
   result, a in gradient */
static void right_side(mn_mac *mac, double dt, double time, int second)
{
  double carry = second ? (1 - GAMMA) / GAMMA : 0;
  for (int a = 0; a < mac->grid.dim; a++) {
    const mn_field *y = &mac->star[a], *Y = &mac->result[a], *f = &mac->gradient[a];
    const mn_field *lean = &mac->stress.lean[a];
    mn_field *out = &mac->stress.z[a];
    int slabs = mn_slabs(y);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
    for (int s = 0; s < slabs; s++) {
      int k, j0, j1;
      mn_slab(y, s, &k, &j0, &j1);
      for (int j = j0; j < j1; j++)
        for (int64_t q = mn_index(y, 0, j, k); q < mn_index(y, y->n[0], j, k); q++)
          out->at[q] =
              y->at[q] + carry * (Y->at[q] - y->at[q]) + GAMMA * dt * (f->at[q] - lean->at[q]);
    }
  }
  mn_stress_given(mac, time);
  gather(mac, mac->stress.z, -1, mac->trace, mac->stress.z);
}

/* `speed`: the largest before the step */
static mn_status stage(mn_mac *mac, double dt, double time, int second, double speed)
{
  mn_solve_report report;
  right_side(mac, dt, time, second);
  double worst = fmax(speed, largest(mac, mac->trace));
  worst = fmax(worst, STILL * mac->grid.dx / dt);
  MN_TRY(solve(mac, mac->trace, TOLERANCE * worst, mac->result, &report));
  if (report.reason != MN_CONVERGED && !(report.residual <= ENOUGH * worst))
    return mn_fail(mac->ctx, MN_FAILED,
                   "the viscous solve stopped at a residual of %g after %d iterations (wanted %g); "
                   "try a smaller time step or a smaller fluid.viscosity",
                   report.residual, report.iterations, TOLERANCE * worst);
  report.iterations += second ? mac->stress.report.iterations : 0;
  report.residual = fmax(report.residual, second ? mac->stress.report.residual : 0);
  mac->stress.report = report;
  return MN_OK;
}

/* By the end of the substep a body may have left the face: what it had in it goes on. */
static int left_behind(const mn_mac *mac, unsigned char kind)
{
  return mac->bodies.on && (kind == MN_FACE_SLIP || kind == MN_FACE_SHELL);
}

/* star <- result at unknowns, the wall's velocity at faces stuck to it, free flight in the air */
static void accept(mn_mac *mac, double dt)
{
  for (int a = 0; a < mac->grid.dim; a++) {
    const unsigned char *kind = mac->geometry.kind[a];
    const mn_field *mass = &mac->stress.mass[a];
    mn_field *u = &mac->star[a];
    int slabs = mn_slabs(u);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
    for (int s = 0; s < slabs; s++) {
      int k, j0, j1;
      mn_slab(u, s, &k, &j0, &j1);
      for (int j = j0; j < j1; j++)
        for (int64_t q = mn_index(u, 0, j, k); q < mn_index(u, u->n[0], j, k); q++)
          u->at[q] = mass->at[q] > 0 ? mac->result[a].at[q] + dt * mac->stress.lean[a].at[q]
                     : kind[u->at - u->data + q] != MN_FACE_FLUID &&
                             !left_behind(mac, kind[u->at - u->data + q])
                         ? mac->geometry.wall[a].at[q] + dt * mac->stress.lean[a].at[q]
                         : u->at[q] + dt * mac->gradient[a].at[q];
    }
  }
}

mn_status mn_stress_diffuse(mn_mac *mac, double dt)
{
  mn_stress *t = &mac->stress;
  double time = mac->geometry.time - dt;
  mn_stress_assemble(mac, GAMMA * dt);
  for (int a = 0; a < mac->grid.dim; a++) {
    MN_TRY(mn_stencil_setup(t->solver[a], &t->block[a]));
    mn_field_fill(&mac->result[a], 0);
    mn_field *Y = &mac->result[a];
    for (int k = 0; k < Y->n[2]; k++)
      for (int j = 0; j < Y->n[1]; j++)
        for (int64_t q = mn_index(Y, 0, j, k); q < mn_index(Y, Y->n[0], j, k); q++)
          Y->at[q] = t->mass[a].at[q] > 0 ? mac->star[a].at[q] : 0;
  }
  double speed = largest(mac, mac->result);
  expect_pressure(mac);
  MN_TRY(stage(mac, dt, time + GAMMA * dt, 0, speed));
  MN_TRY(stage(mac, dt, time + dt, 1, speed));
  accept(mac, dt);
  return MN_OK;
}

/* ---- creation -------------------------------------------------------------------------------- */

static mn_status fill_factor(mn_mac *mac)
{
  mn_field *f = &mac->stress.factor;
  const mn_field_fn *fn = &mac->def->fluid.viscosity_factor;
  for (int k = 0; k < f->n[2]; k++)
    for (int j = 0; j < f->n[1]; j++)
      for (int i = 0; i < f->n[0]; i++) {
        mn_vec3 value = fn->value, x = mn_position(f, i, j, k);
        if (fn->eval)
          MN_TRY(fn->eval(fn->user, x, &value));
        if (!(value.x >= 0) || !isfinite(value.x))
          return mn_fail(mac->ctx, MN_BAD_INPUT,
                         "fluid.viscosity_factor is %g at (%g, %g, %g); allowed: a number >= 0",
                         value.x, x.x, x.y, x.z);
        mn_set(f, i, j, k, value.x);
      }
  return MN_OK;
}

mn_status mn_stress_create(mn_mac *mac)
{
  mn_stress *t = &mac->stress;
  mn_context *ctx = mac->ctx;
  const mn_grid *g = &mac->grid;
  t->on = 1;
  for (int a = 0; a < g->dim; a++) {
    mn_field *faces[] = {&t->mass[a], &t->lean[a], &t->r[a], &t->z[a], &t->d[a], &t->q[a]};
    for (int n = 0; n < 6; n++)
      MN_TRY(mn_field_create(ctx, g, (mn_place)a, "viscous solve", faces[n]));
    MN_TRY(mn_field_create(ctx, g, MN_CELL, "viscous weights", &t->normal[a]));
    MN_TRY(mn_field_create(ctx, g, MN_CELL, "strain rates", &t->normal_now[a]));
    MN_TRY(mn_stencil_create(ctx, g, (mn_place)a, &t->block[a]));
    MN_TRY(mn_stencil_solver_create(ctx, g, (mn_place)a, MN_PRESSURE_MGPCG, &t->solver[a]));
  }
  for (int c = g->dim == 2 ? 2 : 0; c < 3; c++) {
    MN_TRY(mn_field_create(ctx, g, MN_NODE, "viscous weights", &t->shear[c][0]));
    MN_TRY(mn_field_create(ctx, g, MN_NODE, "viscous weights", &t->shear[c][1]));
    MN_TRY(mn_field_create(ctx, g, MN_NODE, "strain rates", &t->shear_now[c]));
  }
  MN_TRY(mn_field_create(ctx, g, MN_CELL, "viscosity", &t->factor));
  MN_TRY(MN_NEW(ctx, "partial sums", (size_t)mn_slabs(&t->shear[2][0]) + 1, &t->partial));
  return fill_factor(mac);
}

void mn_stress_destroy(mn_mac *mac)
{
  mn_stress *t = &mac->stress;
  for (int a = 0; a < 3; a++) {
    mn_field *fields[] = {&t->mass[a], &t->r[a],          &t->z[a],        &t->d[a],
                          &t->q[a],    &t->normal[a],     &t->shear[a][0], &t->shear[a][1],
                          &t->lean[a], &t->normal_now[a], &t->shear_now[a]};
    for (int n = 0; n < 11; n++)
      mn_field_destroy(fields[n]);
    mn_stencil_destroy(&t->block[a]);
    mn_stencil_solver_destroy(&t->solver[a]);
  }
  mn_field_destroy(&t->factor);
  mn_free(t->partial);
}
