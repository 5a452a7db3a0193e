/* Time stepping of deformable bodies. Each implicit scheme is one equation for y (see
   deform_newton.c); with h the step and x, v, a the state at its start:

     backward Euler  y = x1: m = 1/h^2,          y0 = x + h v,    v(y) = (y - x)/h
     Newmark         y = x1: m = 1/(beta h^2),   y0 = x + h v + h^2 (1/2 - beta) a,
                     v(y) = v + h (1 - gamma) a + gamma/(beta h) (y - y0)     [Newmark 1959]
     midpoint        y = (x + x1)/2: m = 4/h^2,  y0 = x + h/2 v,  v(y) = 2 (y - x)/h
     with fade f     m = 4/((1 + 2 f) h^2),  y0 = x + h/2 v - f h^2/2 a
     explicit        v1 = v + h M^-1 (f - dE/dx(x) - C v), x1 = x + h v1   (symplectic Euler)

   Loads are constant over the step. The midpoint rule takes elastic forces as the mean gradient of
   the step (deform_conserve.c) and conserves momentum, angular momentum and energy. What a step
   does not resolve then changes its velocity to and fro for ever, and a fluid around, whose masses
   change as bodies move, feeds that. There `fade` > 0 takes x1 - x = h (v + v1)/2 + f h^2 (a1 - a)
   with a1 = (v1 - v)/h: still of second order, momentum is kept, and energy with f/2 |h a|^2 M
   falls by f/2 |h (a1 - a)|^2 M, whatever the forces (docs/theory/solids.md). Newmark is
   stable for linear forces only; a of the start is state. Newton starts at x, with the
   matrix of x: what a solve computes depends on the state and, within its tolerance, on nothing but
   the loads; the bits do not depend on steps before.
   Verified by tests/unit/solid/test_deform.c, test_dynamics.c, test_conserve.c and tests/verify. */
#include "solid/deform_internal.h"

#include <string.h>

#include "base/status.h"
#include "la/vector.h"

static double get(const mn_vec3 *vectors, size_t dof, size_t dim)
{
  return vectors[dof / dim].v[dof % dim];
}

/* ---- explicit -------------------------------------------------------------------------------- */

/* Largest frequency by Gershgorin's bound on M^-1 K; damping shortens the step of symplectic Euler:
   h = 2/omega (sqrt(1 + xi^2) - xi), xi = omega/2 of the bound on M^-1 C over M^-1 K. */
static double stable_dt(mn_deform *d)
{
  const mn_csr *a = &d->assembly.pattern;
  mn_inverted bad;
  double stiff = 0, viscous = 0;
  memset(a->value, 0, (size_t)mn_csr_entries(a) * sizeof *a->value);
  if (!mn_assembly_hessian(&d->assembly, d->x, 1, 0, a->value, &bad) ||
      mn_deform_damping(d, d->x) != MN_OK)
    return 0;
  for (int64_t i = 0; i < a->rows; i++) {
    double k = 0, c = 0, mass = d->mass[i / d->def.dim];
    for (int64_t e = a->start[i]; e < a->start[i + 1]; e++) {
      k += fabs(a->value[e]);
      c += d->damped ? fabs(d->C[e]) : 0;
    }
    if (mn_deform_is_fixed(d, (size_t)i))
      continue;
    stiff = mn_max(k / mass, stiff);
    viscous = mn_max(c / mass, viscous);
  }
  if (stiff == 0)
    return viscous > 0 ? 1 / viscous : HUGE_VAL;
  double omega = sqrt(stiff), xi = viscous / (2 * omega);
  return 2 / omega * (sqrt(1 + xi * xi) - xi);
}

/* That bound is of the stiffness at hand; where elements are struck faster than sound crosses them
   it changes within the step, and energy grows. So none is strained by more than a part of it. */
double mn_deform_max_dt(mn_deform *d)
{
  static const double STRAIN = 0.1;
  if (d->def.scheme != MN_EXPLICIT)
    return HUGE_VAL;
  double rate = mn_deform_strain_rate(d), dt = stable_dt(d);
  return rate > 0 ? mn_min(dt, STRAIN / rate) : dt;
}

/* Into d->gradient: dE/dx + C v at the start. */
static mn_status begin_explicit(mn_deform *d)
{
  double energy;
  mn_inverted bad;
  size_t n = mn_deform_dofs(d), dim = (size_t)d->def.dim;
  memcpy(d->position, d->x, d->nodes * sizeof *d->x);
  if (!mn_assembly_energy(&d->assembly, d->x, -1, &energy, d->gradient, &bad))
    return mn_deform_fail_inverted(d, &bad, "at the start of the step");
  if (d->damped) {
    mn_csr C = d->assembly.pattern;
    C.value = d->C;
    for (size_t i = 0; i < n; i++)
      d->w[i] = get(d->v, i, dim);
    mn_csr_multiply(&d->ctx->exec, &C, d->w, d->Cw);
    for (size_t i = 0; i < n; i++)
      d->gradient[i] += d->Cw[i];
  }
  return MN_OK;
}

/* ---- implicit -------------------------------------------------------------------------------- */

static void set_terms(mn_deform *d)
{
  double h = d->dt, beta = d->def.beta, gamma = d->def.gamma, fade = d->def.fade;
  size_t dim = (size_t)d->def.dim;
  switch (d->def.scheme) {
  case MN_NEWMARK:
    d->terms = (mn_scheme_terms){1 / (beta * h * h), gamma / (beta * h), 1, gamma / (beta * h)};
    break;
  case MN_MIDPOINT:
    d->terms = (mn_scheme_terms){4 / ((1 + 2 * fade) * h * h), 2 / h, 2, 4 / ((1 + 2 * fade) * h)};
    break;
  default:
    d->terms = (mn_scheme_terms){1 / (h * h), 1 / h, 1, 1 / h};
  }
  for (size_t i = 0; i < mn_deform_dofs(d); i++) {
    double x = get(d->x, i, dim), v = get(d->v, i, dim), a = get(d->a, i, dim);
    d->y[i] = x;
    d->w[i] = 0;
    d->y1[i] = x;
    d->y0[i] = x + (d->def.scheme == MN_MIDPOINT ? h / 2 * (v - fade * h * a) : h * v);
    if (d->def.scheme == MN_NEWMARK) {
      d->y1[i] = d->y0[i] = d->y0[i] + h * h * (0.5 - beta) * a;
      d->w[i] = v + h * (1 - gamma) * a;
    }
  }
}

/* Positions and velocities of prescribed axes at the end of the step, in x1 and v1; the target of
 * y. */
static void set_targets(mn_deform *d, double t)
{
  size_t dim = (size_t)d->def.dim;
  for (size_t i = 0; i < d->nodes; i++) {
    mn_vec3 x = d->x[i], v = mn_v3(0, 0, 0);
    if (!d->fixed[i])
      continue;
    if (d->motion)
      d->motion(d->motion_user, (uint32_t)i, d->rest[i], t, &x, &v);
    for (size_t k = 0; k < dim; k++) {
      if (!(d->fixed[i] >> k & 1))
        continue;
      d->x1[i].v[k] = x.v[k];
      d->v1[i].v[k] = v.v[k];
      d->target[i * dim + k] = (x.v[k] - d->x[i].v[k]) / d->terms.sx + d->x[i].v[k];
    }
  }
}

void mn_deform_finish(mn_deform *d)
{
  double h = d->dt, fade = d->def.fade;
  size_t dim = (size_t)d->def.dim;
  mn_deform_press_at(d, d->y); /* the last one looked at may not be y */
  for (size_t i = 0; i < mn_deform_dofs(d); i++) {
    size_t node = i / dim, k = i % dim;
    double x = d->x[node].v[k], v = d->v[node].v[k], y = d->y[i];
    double *x1 = &d->x1[node].v[k], *v1 = &d->v1[node].v[k], *a1 = &d->a1[node].v[k];
    if (mn_deform_is_fixed(d, i)) {
      *a1 = (*v1 - v) / h;
      continue;
    }
    switch (d->def.scheme) {
    case MN_NEWMARK:
      *x1 = y;
      *v1 = d->w[i] + d->terms.d * (y - d->y1[i]);
      *a1 = d->terms.m * (y - d->y0[i]) - d->pressed[i] / d->mass[node];
      break;
    case MN_MIDPOINT:
      *x1 = 2 * y - x;
      *v1 = (2 * (y - x) / h - (0.5 - fade) * v + fade * h * d->a[node].v[k]) / (0.5 + fade);
      *a1 = (*v1 - v) / h;
      break;
    default:
      *x1 = y;
      *v1 = (y - x) / h;
      *a1 = (*v1 - v) / h;
    }
  }
}

/* Depends on t alone, so that a state that is read or rolled back needs no more. */
static void let_go(mn_deform *d, double t)
{
  for (int b = 0; b < d->bodies; b++) {
    const mn_deform_body *body = &d->body[b];
    int held = t < body->release - 1e-9 * fmax(1, fabs(t));
    for (uint32_t i = body->first; body->release < HUGE_VAL && i < body->first + body->nodes; i++)
      d->fixed[i] = held ? d->held[i] : 0;
  }
}

mn_status mn_deform_begin(mn_deform *d, double t, double dt)
{
  if (!d->is_ready || !(dt > 0))
    return mn_fail(d->ctx, MN_BAD_INPUT, "deformable bodies: a step of %g s%s", dt,
                   d->is_ready ? "" : " before they are ready");
  d->t = t;
  d->dt = dt;
  d->began = 1;
  d->solved = d->has_factor = 0;
  d->pending = d->rests = 0;
  let_go(d, t);
  mn_deform_set_press(d, NULL, 0);
  mn_deform_set_added(d, NULL, NULL, NULL);
  memcpy(d->position, d->x, d->nodes * sizeof *d->x);
  MN_TRY(mn_deform_damping(d, d->x));
  set_terms(d);
  set_targets(d, t + dt);
  if (d->def.scheme == MN_EXPLICIT)
    return begin_explicit(d);
  memset(d->Cw, 0, mn_deform_dofs(d) * sizeof *d->Cw);
  memset(d->Cu, 0, mn_deform_dofs(d) * sizeof *d->Cu);
  if (d->damped && d->def.scheme == MN_NEWMARK) {
    mn_csr C = d->assembly.pattern;
    C.value = d->C;
    mn_csr_multiply(&d->ctx->exec, &C, d->w, d->Cw);
  }
  d->pending = 1; /* not yet: masses may be added */
  return MN_OK;
}

mn_status mn_deform_prepare(mn_deform *d, int *fresh)
{
  mn_deform_report report = {0};
  *fresh = d->pending && d->def.scheme != MN_EXPLICIT;
  d->pending = 0;
  return *fresh ? mn_deform_factorise(d, d->y, 0, &report) : MN_OK;
}

void mn_deform_set_force(mn_deform *d, const mn_vec3 *load, double part)
{
  size_t dim = (size_t)d->def.dim;
  for (size_t i = 0; i < mn_deform_dofs(d); i++)
    d->force[i] =
        part * (d->mass[i / dim] * d->def.gravity.v[i % dim] + (load ? get(load, i, dim) : 0));
}

static void solve_explicit(mn_deform *d)
{
  size_t dim = (size_t)d->def.dim;
  for (size_t i = 0; i < mn_deform_dofs(d); i++) {
    size_t node = i / dim, k = i % dim;
    if (mn_deform_is_fixed(d, i)) {
      d->a1[node].v[k] = (d->v1[node].v[k] - d->v[node].v[k]) / d->dt;
      continue;
    }
    d->a1[node].v[k] = (d->force[i] - d->gradient[i]) / d->mass[node];
    d->v1[node].v[k] = d->v[node].v[k] + d->dt * d->a1[node].v[k];
    d->x1[node].v[k] = d->x[node].v[k] + d->dt * d->v1[node].v[k];
  }
}

mn_status mn_deform_check_end(mn_deform *d)
{
  double energy;
  mn_inverted bad;
  memcpy(d->position, d->x1, d->nodes * sizeof *d->x1);
  if (!mn_assembly_energy(&d->assembly, d->x1, -1, &energy, NULL, &bad))
    return mn_deform_fail_inverted(d, &bad, "at the end of the step");
  int body;
  size_t element;
  double ratio;
  if (d->def.scheme == MN_EXPLICIT && mn_deform_crushed(d, d->x1, &body, &element, &ratio))
    return mn_fail(d->ctx, MN_FAILED,
                   "%s: element %zu is crushed to %.2g of its volume by an explicit step: the body "
                   "is struck harder than it can bear; take integrator = \"euler\", a stiffer or a "
                   "slower body",
                   d->body[body].name, element, ratio);
  return MN_OK;
}

mn_status mn_deform_solve(mn_deform *d, const mn_vec3 *load, mn_deform_report *report)
{
  *report = (mn_deform_report){0};
  if (!d->began)
    return mn_fail(d->ctx, MN_BAD_INPUT, "deformable bodies: solve before begin");
  d->solved = 0;
  mn_deform_set_force(d, load, 1);
  if (d->def.scheme == MN_EXPLICIT) {
    solve_explicit(d);
    MN_TRY(mn_deform_added_explicit(d));
    MN_TRY(mn_deform_check_end(d));
    d->solved = 1;
    return MN_OK;
  }
  int fresh;
  MN_TRY(mn_deform_prepare(d, &fresh));
  mn_status status = mn_deform_newton(d, report);
  if (status == MN_OK && d->def.scheme == MN_MIDPOINT)
    status = mn_deform_conserve(d, report);
  if (status != MN_OK) { /* the next solve must not start from ruins */
    for (size_t i = 0; i < mn_deform_dofs(d); i++)
      d->y[i] = get(d->x, i, (size_t)d->def.dim);
    d->has_factor = 0;
    return status;
  }
  mn_deform_finish(d);
  d->solved = 1;
  return MN_OK;
}

mn_status mn_deform_commit(mn_deform *d)
{
  if (!d->solved)
    return mn_fail(d->ctx, MN_BAD_INPUT, "deformable bodies: commit without a solve");
  memcpy(d->x, d->x1, d->nodes * sizeof *d->x);
  memcpy(d->v, d->v1, d->nodes * sizeof *d->v);
  memcpy(d->a, d->a1, d->nodes * sizeof *d->a);
  d->began = d->solved = 0;
  return MN_OK;
}

mn_status mn_deform_save(mn_deform *d)
{
  memcpy(d->xs, d->x, d->nodes * sizeof *d->x);
  memcpy(d->vs, d->v, d->nodes * sizeof *d->v);
  memcpy(d->as, d->a, d->nodes * sizeof *d->a);
  d->saved = 1;
  return MN_OK;
}

mn_status mn_deform_restore(mn_deform *d)
{
  if (!d->saved)
    return mn_fail(d->ctx, MN_BAD_INPUT, "deformable bodies: restore without save");
  memcpy(d->x, d->xs, d->nodes * sizeof *d->x);
  memcpy(d->v, d->vs, d->nodes * sizeof *d->v);
  memcpy(d->a, d->as, d->nodes * sizeof *d->a);
  d->began = d->solved = 0;
  return MN_OK;
}

int mn_deform_arrays(mn_deform *d, mn_array *arrays, int capacity)
{
  mn_vec3 *data[3] = {d->x, d->v, d->a};
  static const char *const NAMES[3] = {"deform_x", "deform_v", "deform_a"};
  for (int i = 0; i < 3 && i < capacity; i++) {
    arrays[i] = (mn_array){
        .type = MN_F64, .rank = 2, .shape = {d->nodes, 3}, .data = data[i], .variable = 0};
    strcpy(arrays[i].name, NAMES[i]);
  }
  return 3;
}

/* ---- statics --------------------------------------------------------------------------------- */

mn_status mn_deform_static(mn_deform *d, const mn_vec3 *load, int steps, mn_deform_report *report)
{
  size_t n = mn_deform_dofs(d), dim = (size_t)d->def.dim;
  *report = (mn_deform_report){0};
  if (!d->is_ready || steps < 1)
    return mn_fail(d->ctx, MN_BAD_INPUT, "deformable bodies: a static solve of %d steps%s", steps,
                   d->is_ready ? "" : " before they are ready");
  d->began = d->solved = d->rests = 0;
  mn_deform_set_press(d, NULL, 0);
  mn_deform_set_added(d, NULL, NULL, NULL);
  d->terms = (mn_scheme_terms){0, 0, 1, 0};
  memset(d->Cu, 0, n * sizeof *d->Cu);
  memset(d->Cw, 0, n * sizeof *d->Cw);
  memset(d->v1, 0, d->nodes * sizeof *d->v1);
  memset(d->a1, 0, d->nodes * sizeof *d->a1);
  for (size_t i = 0; i < n; i++)
    d->y[i] = d->y0[i] = d->y1[i] = get(d->x, i, dim);
  set_targets(d, d->t);
  for (int s = 1; s <= steps; s++) {
    mn_deform_set_force(d, load, (double)s / steps);
    d->has_factor = 0;
    int before = report->iterations;
    report->iterations = 0; /* the limit is that of one equation */
    MN_TRY(mn_deform_newton(d, report));
    report->iterations += before;
  }
  mn_deform_unflatten(d, d->y, d->x);
  memcpy(d->x1, d->x, d->nodes * sizeof *d->x);
  memset(d->v, 0, d->nodes * sizeof *d->v);
  memset(d->a, 0, d->nodes * sizeof *d->a);
  return MN_OK;
}

/* ---- for couplings --------------------------------------------------------------------------- */

const mn_csr *mn_deform_matrix(const mn_deform *d, double *sx, double *sv)
{
  *sx = d->terms.sx;
  *sv = d->terms.sv;
  return d->has_factor ? &d->assembly.pattern : NULL;
}

double mn_deform_part(const mn_deform *d)
{
  return d->terms.sx / (d->terms.m * d->dt * d->dt);
}

/* step <- (M + added mass)^-1 dt step: the change of an explicit v1. */
static mn_status respond_explicit(mn_deform *d)
{
  size_t dim = (size_t)d->def.dim;
  for (size_t i = 0; i < mn_deform_dofs(d); i++)
    d->residual[i] = d->dt * d->step[i];
  if (d->added.points)
    return mn_deform_added_solve(d, d->residual, d->step);
  for (size_t i = 0; i < mn_deform_dofs(d); i++)
    d->step[i] = d->residual[i] / d->mass[i / dim];
  return MN_OK;
}

mn_status mn_deform_response(mn_deform *d, const mn_vec3 *load, mn_vec3 *dx, mn_vec3 *dv)
{
  size_t dim = (size_t)d->def.dim;
  double sx = d->terms.sx, sv = d->terms.sv;
  int fresh;
  for (size_t i = 0; i < mn_deform_dofs(d); i++)
    d->step[i] = mn_deform_is_fixed(d, i) ? 0 : get(load, i, dim);
  if (d->def.scheme == MN_EXPLICIT) {
    sx = d->dt, sv = 1;
    MN_TRY(respond_explicit(d));
  } else {
    MN_TRY(mn_deform_prepare(d, &fresh));
    MN_TRY(mn_sparse_solve(d->active, 1, d->step, d->step));
  }
  for (size_t i = 0; i < mn_deform_dofs(d); i++) {
    if (dx)
      dx[i / dim].v[i % dim] = sx * d->step[i];
    if (dv)
      dv[i / dim].v[i % dim] = sv * d->step[i];
  }
  return MN_OK;
}

mn_status mn_deform_gradient(mn_deform *d, const mn_vec3 *x, mn_vec3 *gradient)
{
  double energy;
  mn_inverted bad;
  memcpy(d->position, x, d->nodes * sizeof *x);
  memset(gradient, 0, d->nodes * sizeof *gradient);
  /* step is free between solves; gradient holds what an explicit substep began with */
  if (!mn_assembly_energy(&d->assembly, x, -1, &energy, d->step, &bad))
    return mn_deform_fail_inverted(d, &bad, "here");
  mn_deform_unflatten(d, d->step, gradient);
  return MN_OK;
}
