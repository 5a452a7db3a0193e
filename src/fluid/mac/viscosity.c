/* Implicit viscosity of smoke (of a liquid: stress.c), together with the body forces so that steady
   states are exact:

       du/dt = nu lap u + a

   component by component, by the L-stable two-stage scheme SDIRK2 (gamma = 1 - 1/sqrt 2): second
   order in time, no limit on dt, no ringing for nu dt/dx^2 >> 1. Each stage solves

       (1 - gamma dt nu lap) Y = y + ...

   The Laplacian couples faces at distance dx. Where a neighbour is missing:

       closed side across   no-slip: the wall's velocity at dx/2 (weight 2); slip: no coupling
       wall along its face  the wall's velocity, at dx
       inside a solid       no-slip: its velocity at theta dx, theta from the signed distance
                            (second order); slip: no coupling, except along the face's own axis
       open side            no coupling

   Limits: for slip along a curved solid the shear stress of the component form is not exactly zero.

   Verified by tests/verify/test_viscosity.c (Poiseuille, Couette, Stokes' second problem). */
#include "fluid/mac/internal.h"

#include "base/status.h"

static const double GAMMA = 0.29289321881345254; /* 1 - 1/sqrt 2 */
static const double THETA_MIN = 0.05;
static const double TOLERANCE = 1e-11;
enum { MAX_ITERATIONS = 500 };

typedef struct coupling {
  int unknown;   /* the neighbour is an unknown */
  double weight; /* 0: no coupling */
  double value;  /* velocity at the wall, when the neighbour is not an unknown */
} coupling;

/* Mean of the nodal distance over a face: the distance at its centre. */
static double face_distance(const mn_field *solid, int axis, int i, int j, int k)
{
  int b = axis == 0 ? 1 : 0, c = solid->grid->dim == 2 ? -1
                                 : axis == 2           ? 1
                                                       : 2; /* the other axes */
  int64_t q = mn_index(solid, i, j, k);
  double sum = solid->at[q] + solid->at[q + solid->stride[b]];
  if (c < 0)
    return 0.5 * sum;
  q += solid->stride[c];
  return 0.25 * (sum + solid->at[q] + solid->at[q + solid->stride[b]]);
}

static coupling couple(const mn_mac *mac, int axis, const int at[3], int b, int up, double time)
{
  const mn_mac_geometry *g = &mac->geometry;
  const mn_field *f = &g->open[axis];
  int next[3] = {at[0], at[1], at[2]};
  next[b] += up ? 1 : -1;
  int side = 2 * b + up;
  if (next[b] < 0 || next[b] >= f->n[b]) {
    int stuck = b != axis && mac->def->domain.side[side].kind == MN_SIDE_NOSLIP;
    return (coupling){0, stuck ? 2 : 0, stuck ? mn_mac_side_velocity(mac, side, time, axis) : 0};
  }
  int64_t q = mn_index(f, next[0], next[1], next[2]);
  mn_face_kind kind = (mn_face_kind)g->kind[axis][f->at - f->data + q];
  if (kind == MN_FACE_FLUID)
    return (coupling){1, 1, 0};
  double value = kind == MN_FACE_EDGE ? 0 : g->wall[axis].at[q];
  if (mn_is_side(kind) || kind == MN_FACE_SOURCE)
    return (coupling){0, 1, value};
  if (kind == MN_FACE_SLIP || kind == MN_FACE_SHELL)
    return (coupling){0, b == axis ? 1 : 0, value};
  double here = face_distance(&g->solid, axis, at[0], at[1], at[2]);
  double there = face_distance(&g->solid, axis, next[0], next[1], next[2]);
  double theta = mn_clamp(here > 0 && here > there ? here / (here - there) : 0, THETA_MIN, 1);
  mn_vec3 x = mn_position(f, at[0], at[1], at[2]);
  x.v[b] += (up ? theta : -theta) * mac->grid.dx;
  return (coupling){0, 1 / theta, mn_mac_solid_velocity(mac, x).v[axis]};
}

/* diagonal and off-diagonals of 1 - c lap, c = gamma dt nu / dx^2 */
static void assemble(mn_mac *mac, int axis, double c)
{
  mn_stencil *s = &mac->viscous[axis];
  const mn_field *f = &s->diagonal;
  const unsigned char *kind = mac->geometry.kind[axis] + (f->at - f->data);
  int slabs = mn_slabs(f);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int slab = 0; slab < slabs; slab++) {
    int k, j0, j1;
    mn_slab(f, slab, &k, &j0, &j1);
    for (int j = j0; j < j1; j++)
      for (int i = 0; i < f->n[0]; i++) {
        int64_t q = mn_index(f, i, j, k);
        int at[3] = {i, j, k}, unknown = kind[q] == MN_FACE_FLUID;
        double diagonal = unknown;
        for (int b = 0; b < mac->grid.dim; b++) {
          coupling low = unknown ? couple(mac, axis, at, b, 0, 0) : (coupling){0};
          coupling high = unknown ? couple(mac, axis, at, b, 1, 0) : (coupling){0};
          diagonal += c * (low.weight + high.weight);
          s->off[b].at[q] = low.unknown ? c : 0;
        }
        f->at[q] = diagonal;
      }
  }
}

/* rhs <- y + (1 - gamma)/gamma (Y - y) second + gamma dt (a + nu (walls at `time`)); returns max
 * |rhs| */
static double stage_rhs(mn_mac *mac, int axis, double dt, double time, int second)
{
  const mn_field *y = &mac->star[axis], *Y = &mac->result[axis], *a = &mac->gradient[axis];
  mn_field *rhs = &mac->trace[axis];
  const unsigned char *kind = mac->geometry.kind[axis] + (y->at - y->data);
  double c = GAMMA * dt * mac->def->fluid.viscosity / (mac->grid.dx * mac->grid.dx);
  double carry = second ? (1 - GAMMA) / GAMMA : 0;
  int slabs = mn_slabs(y);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int slab = 0; slab < slabs; slab++) {
    int k, j0, j1;
    mn_slab(y, slab, &k, &j0, &j1);
    double worst = 0;
    for (int j = j0; j < j1; j++)
      for (int i = 0; i < y->n[0]; i++) {
        int64_t q = mn_index(y, i, j, k);
        int at[3] = {i, j, k};
        double r = 0;
        if (kind[q] == MN_FACE_FLUID) {
          r = y->at[q] + carry * (Y->at[q] - y->at[q]) + GAMMA * dt * a->at[q];
          for (int b = 0; b < mac->grid.dim; b++)
            for (int up = 0; up < 2; up++) {
              coupling n = couple(mac, axis, at, b, up, time);
              r += n.unknown ? 0 : c * n.weight * n.value;
            }
        }
        rhs->at[q] = r;
        worst = fmax(worst, fabs(r));
      }
    mac->slab[slab] = worst;
  }
  return mn_reduce(mac->grid.exec, MN_MAX, mac->slab, slabs);
}

static mn_status solve_stage(mn_mac *mac, int axis, double dt, double time, int second)
{
  double worst = stage_rhs(mac, axis, dt, time, second);
  mn_solve_report report;
  MN_TRY(mn_stencil_solve(mac->viscous_solver[axis], &mac->trace[axis], TOLERANCE * worst,
                          MAX_ITERATIONS, &mac->result[axis], &report));
  if (report.reason != MN_CONVERGED && report.residual > 1e-6 * worst)
    return mn_fail(mac->ctx, MN_FAILED,
                   "the viscous solve stopped at a residual of %g after %d iterations (wanted %g); "
                   "try a smaller "
                   "time step",
                   report.residual, report.iterations, TOLERANCE * worst);
  return MN_OK;
}

/* Without viscosity: u + dt a. */
static void push(mn_mac *mac, double dt)
{
  for (int a = 0; a < mac->grid.dim; a++) {
    mn_field *u = &mac->star[a];
    int slabs = mn_slabs(u);
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
    for (int s = 0; s < slabs; s++) {
      int k, j0, j1;
      mn_slab(u, s, &k, &j0, &j1);
      for (int j = j0; j < j1; j++)
        for (int64_t q = mn_index(u, 0, j, k); q < mn_index(u, u->n[0], j, k); q++)
          u->at[q] += dt * mac->gradient[a].at[q];
    }
  }
}

/* By the end of the substep a body may have left the face: what it had in it goes on. */
static int is_shut_by_body(unsigned char kind)
{
  return kind == MN_FACE_SLIP || kind == MN_FACE_SHELL;
}

mn_status mn_mac_diffuse(mn_mac *mac, double dt)
{
  double nu = mac->def->fluid.viscosity, time = mac->geometry.time - dt;
  if (!(nu > 0)) {
    push(mac, dt);
    return MN_OK;
  }
  if (mac->stress.on)
    return mn_stress_diffuse(mac, dt);
  int stale = mac->viscous_dt != dt;
  mac->viscous_dt = 0; /* until all are set up for dt */
  for (int a = 0; a < mac->grid.dim; a++) {
    if (stale) {
      assemble(mac, a, GAMMA * dt * nu / (mac->grid.dx * mac->grid.dx));
      MN_TRY(mn_stencil_setup(mac->viscous_solver[a], &mac->viscous[a]));
    }
    mn_field_copy(&mac->result[a], &mac->star[a]);
    MN_TRY(solve_stage(mac, a, dt, time + GAMMA * dt, 0));
    MN_TRY(solve_stage(mac, a, dt, time + dt, 1));
    /* faces that are no unknowns: those stuck to a solid get its velocity, closed ones later */
    const unsigned char *kind = mac->geometry.kind[a];
    int64_t size = (int64_t)mac->star[a].size;
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
    for (int64_t q = 0; q < size; q++)
      mac->star[a].data[q] = kind[q] == MN_FACE_FLUID ? mac->result[a].data[q]
                             : mac->bodies.on && is_shut_by_body(kind[q])
                                 ? mac->star[a].data[q] + dt * mac->gradient[a].data[q]
                                 : mac->geometry.wall[a].data[q];
  }
  mac->viscous_dt = dt;
  return MN_OK;
}

mn_status mn_mac_viscosity_create(mn_mac *mac)
{
  if (!(mac->def->fluid.viscosity > 0))
    return MN_OK;
  if (mac->def->fluid.kind == MN_FLUID_WATER)
    return mn_stress_create(mac);
  for (int a = 0; a < mac->grid.dim; a++) {
    MN_TRY(mn_stencil_create(mac->ctx, &mac->grid, (mn_place)a, &mac->viscous[a]));
    MN_TRY(mn_stencil_solver_create(mac->ctx, &mac->grid, (mn_place)a, MN_PRESSURE_MGPCG,
                                    &mac->viscous_solver[a]));
  }
  return MN_OK;
}

void mn_mac_viscosity_destroy(mn_mac *mac)
{
  mn_stress_destroy(mac);
  for (int a = 0; a < 3; a++) {
    mn_stencil_destroy(&mac->viscous[a]);
    mn_stencil_solver_destroy(&mac->viscous_solver[a]);
  }
}
