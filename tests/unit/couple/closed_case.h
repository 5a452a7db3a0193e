/* Two small boxes for closed regions. The solid is a cloud of points in the plane: free ones, or
   those of bodies that only go up and down; each has a mass and, implicitly, a spring to its first
   place, and pairs are joined by springs taken at the start of the substep:

       (m + m' + dt^2 k) v = m v^n + dt (load + m' V/dt + springs + m g - k (X^n - X^0)).

   The fluid says of its regions what the test tells it. Its loads are those of a mass at every
   point, -m_a (V - u^n)/dt, m_a by its area, and a constant pressure `still` on the side where N
   points. */
#ifndef MN_TESTS_CLOSED_CASE_H
#define MN_TESTS_CLOSED_CASE_H

#include <math.h>
#include <string.h>

#include "base/context.h"
#include "check.h"
#include "couple/couple.h"
#include "math/vec.h"

enum { POINTS_MAX = 256, REGIONS_MAX = 8 };

typedef struct cloud {
  int count, elements, springs;
  mn_vec3 X[POINTS_MAX], V[POINTS_MAX], X_next[POINTS_MAX], V_next[POINTS_MAX], X0[POINTS_MAX];
  double mass[POINTS_MAX];
  int body[POINTS_MAX];
  int lift[REGIONS_MAX]; /* of a body: 1: goes up and down as one */
  int held[REGIONS_MAX]; /* 1: does not move */
  uint32_t element[2 * POINTS_MAX];
  int joined[POINTS_MAX][2];
  double length[POINTS_MAX], pull, anchor, gravity, dt; /* pull: N per strain */
  int fault;                                            /* 1: an acceleration that is no number */
  int thin;                                             /* 1: all surfaces are */
  int solves;
} cloud;

typedef struct vessel {
  int count; /* regions */
  size_t cells[REGIONS_MAX];
  double inflow[REGIONS_MAX], volume[REGIONS_MAX], p0[REGIONS_MAX];
  mn_vec3 center[REGIONS_MAX], u[POINTS_MAX], u_next[POINTS_MAX];
  int32_t facing[2 * POINTS_MAX];
  uint8_t whole[REGIONS_MAX];
  double added; /* kg/m^2, times the area of a point */
  double still; /* Pa */
  double flow;  /* m^2/s, greatest net flow of V that a solve saw */
  double dt;
  int points, lifted;
  int fault; /* of enclose: 1: inflow, 2: facing, 3: no data, 4: words, 5: lift fails, 6: bare, */
             /* 7: room */
  double bare[4 * POINTS_MAX];
  int tells_room;
  double room[4 * POINTS_MAX]; /* m */
} vessel;

/* ---- the solid ------------------------------------------------------------------------------- */

static void nothing(void *self)
{
  (void)self;
}

static double any_dt(void *self)
{
  (void)self;
  return 1;
}

static mn_status fine(void *self)
{
  (void)self;
  return MN_OK;
}

static mn_status cloud_begin(void *self, double t, double dt)
{
  (void)t;
  ((cloud *)self)->dt = dt;
  return MN_OK;
}

static void cloud_write(const cloud *s, const mn_vec3 *X, const mn_vec3 *V, mn_interface *f)
{
  for (int i = 0; i < s->count; i++) {
    f->X[i] = X[i];
    f->V[i] = V[i];
    f->body[i] = s->body[i];
    f->rigid[i] = (uint8_t)s->lift[s->body[i]];
    f->two_sided[i] = (uint8_t)s->thin;
    f->N[i] = mn_v3(0, 0, 0);
    f->area[i] = 0;
  }
  for (int e = 0; e < s->elements; e++) {
    uint32_t a = s->element[2 * e], b = s->element[2 * e + 1];
    mn_vec3 u = mn_sub(X[b], X[a]), n = mn_v3(u.y / 2, -u.x / 2, 0);
    f->N[a] = mn_add(f->N[a], n);
    f->N[b] = mn_add(f->N[b], n);
    f->area[a] += mn_length(u) / 2;
    f->area[b] += mn_length(u) / 2;
  }
  for (int i = 0; i < s->count; i++)
    f->N[i] = mn_scale(1 / fmax(mn_length(f->N[i]), 1e-300), f->N[i]);
}

/* v <- sum of b over sum of a, along y, for bodies that move as one; held ones stay. */
static void cloud_join(const cloud *s, const double *a, const mn_vec3 *b, mn_vec3 *v)
{
  for (int i = 0; i < s->count; i++) {
    v[i] = mn_scale(s->held[s->body[i]] ? 0 : 1 / a[i], b[i]);
    if (!s->lift[s->body[i]] || s->held[s->body[i]])
      continue;
    double top = 0, below = 0;
    for (int j = 0; j < s->count; j++)
      if (s->body[j] == s->body[i]) {
        top += b[j].y;
        below += a[j];
      }
    v[i] = mn_v3(0, top / below, 0);
  }
}

static mn_status cloud_solve(void *self, mn_interface *f, mn_solve_report *report)
{
  cloud *s = self;
  double a[POINTS_MAX] = {0}, dt = s->dt;
  mn_vec3 b[POINTS_MAX] = {0};
  for (int i = 0; i < s->count; i++) {
    mn_vec3 force = mn_madd(f->load[i], f->mass[i] / dt, f->V[i]);
    force = mn_madd(force, -s->anchor, mn_sub(s->X[i], s->X0[i]));
    force.y -= s->mass[i] * s->gravity;
    a[i] = s->mass[i] + f->mass[i] + dt * dt * s->anchor;
    b[i] = mn_madd(mn_scale(s->mass[i], s->V[i]), dt, force);
  }
  for (int k = 0; k < s->springs; k++) {
    int i = s->joined[k][0], j = s->joined[k][1];
    mn_vec3 u = mn_sub(s->X[j], s->X[i]);
    double l = mn_length(u), pull = s->pull * (l / s->length[k] - 1) / l;
    b[i] = mn_madd(b[i], dt * pull, u);
    b[j] = mn_madd(b[j], -dt * pull, u);
  }
  cloud_join(s, a, b, s->V_next);
  for (int i = 0; i < s->count; i++)
    s->X_next[i] = mn_madd(s->X[i], dt, s->V_next[i]);
  cloud_write(s, s->X_next, s->V_next, f);
  s->solves++;
  *report = (mn_solve_report){.reason = MN_CONVERGED, .iterations = 1};
  return MN_OK;
}

static mn_status cloud_accelerate(void *self, mn_interface *f)
{
  cloud *s = self;
  cloud_join(s, s->mass, f->load, f->V);
  if (s->fault)
    f->V[1].y = NAN;
  return MN_OK;
}

static mn_status cloud_commit(void *self)
{
  cloud *s = self;
  memcpy(s->X, s->X_next, sizeof s->X);
  memcpy(s->V, s->V_next, sizeof s->V);
  return MN_OK;
}

static int cloud_arrays(void *self, mn_array *arrays, int capacity)
{
  cloud *s = self;
  if (capacity > 1) {
    arrays[0] = (mn_array){"X", MN_F64, 1, {3 * POINTS_MAX}, s->X, 0};
    arrays[1] = (mn_array){"V", MN_F64, 1, {3 * POINTS_MAX}, s->V, 0};
  }
  return 2;
}

static mn_status cloud_sample(void *self, double spacing, size_t *count, size_t *elements)
{
  (void)spacing;
  *count = (size_t)((cloud *)self)->count;
  *elements = (size_t)((cloud *)self)->elements;
  return MN_OK;
}

static mn_status cloud_look(void *self, mn_interface *f)
{
  cloud *s = self;
  memcpy(f->element, s->element, 2 * (size_t)s->elements * sizeof *f->element);
  cloud_write(s, s->X, s->V, f);
  return MN_OK;
}

#define CLOUD_OPS                                                                                  \
  .destroy = nothing, .max_dt = any_dt, .begin = cloud_begin, .solve = cloud_solve,                \
  .commit = cloud_commit, .save = fine, .restore = fine, .arrays = cloud_arrays,                   \
  .sample = cloud_sample, .look = cloud_look
static const mn_solid_ops cloud_ops = {.name = "cloud", CLOUD_OPS, .accelerate = cloud_accelerate};
static const mn_solid_ops black_cloud_ops = {.name = "black cloud", CLOUD_OPS};

/* ---- the fluid ------------------------------------------------------------------------------- */

static mn_status vessel_begin(void *self, double t, double dt)
{
  (void)t;
  ((vessel *)self)->dt = dt;
  return MN_OK;
}

static void vessel_measure(vessel *v, const mn_interface *f)
{
  double flow[REGIONS_MAX] = {0};
  for (int r = 0; r < v->count; r++)
    flow[r] = -v->inflow[r];
  for (size_t e = 0; e < f->elements; e++) {
    uint32_t a = f->element[2 * e], b = f->element[2 * e + 1];
    mn_vec3 u = mn_sub(f->X[b], f->X[a]);
    mn_vec3 back = mn_scale(v->dt, mn_sub(f->V[b], f->V[a])); /* the middle of the substep */
    u = mn_madd(u, -0.5, back);
    mn_vec3 V = mn_scale(0.5, mn_add(f->V[a], f->V[b]));
    double through = u.y * V.x - u.x * V.y;
    if (v->facing[2 * e] >= 0)
      flow[v->facing[2 * e]] -= through;
    if (v->facing[2 * e + 1] >= 0)
      flow[v->facing[2 * e + 1]] += through;
  }
  for (int r = 0; r < v->count; r++)
    v->flow = fmax(v->flow, fabs(flow[r]));
}

static mn_status vessel_solve(void *self, mn_interface *f, mn_solve_report *report)
{
  vessel *v = self;
  vessel_measure(v, f);
  v->points = (int)f->count;
  for (size_t i = 0; i < f->count; i++) {
    v->u_next[i] = f->V[i];
    f->load[i] = mn_scale(-v->added * f->area[i] / v->dt, mn_sub(f->V[i], v->u[i]));
    f->load[i] = mn_madd(f->load[i], -v->still * f->area[i], f->N[i]);
    f->mass[i] = 0.1 * v->added * f->area[i];
  }
  *report = (mn_solve_report){.reason = MN_CONVERGED, .iterations = 1};
  return MN_OK;
}

static mn_status vessel_commit(void *self)
{
  vessel *v = self;
  memcpy(v->u, v->u_next, sizeof v->u);
  return MN_OK;
}

static int vessel_arrays(void *self, mn_array *arrays, int capacity)
{
  if (capacity > 0)
    arrays[0] = (mn_array){"u", MN_F64, 1, {3 * POINTS_MAX}, ((vessel *)self)->u, 0};
  return 1;
}

static mn_status vessel_enclose(void *self, const mn_interface *f, mn_enclosed *e)
{
  vessel *v = self;
  (void)f;
  if (v->fault == 1)
    v->inflow[0] = NAN;
  if (v->fault == 2)
    v->facing[5] = v->count;
  *e = (mn_enclosed){.count = v->count,
                     .cells = v->cells,
                     .inflow = v->inflow,
                     .volume = v->volume,
                     .center = v->center,
                     .facing = v->facing,
                     .blown = v->inflow,
                     .whole = v->whole};
  if (v->fault == 3)
    e->volume = NULL;
  for (int side = 0; side < 4 * POINTS_MAX; side++)
    v->bare[side] = side == 5 ? 1.5 : 1;
  e->bare = v->fault == 6 ? v->bare : NULL;
  v->room[5] = v->fault == 7 ? NAN : v->room[5];
  e->room = v->tells_room || v->fault == 7 ? v->room : NULL;
  return v->fault == 4 ? MN_FAILED : MN_OK;
}

static mn_status vessel_lift(void *self, const double *p0, int count)
{
  vessel *v = self;
  if (v->fault == 5)
    return MN_FAILED;
  v->lifted = count;
  for (int r = 0; r < count; r++)
    v->p0[r] = p0[r];
  return MN_OK;
}

static const mn_fluid_ops vessel_ops = {.name = "vessel",
                                        .destroy = nothing,
                                        .max_dt = any_dt,
                                        .begin = vessel_begin,
                                        .solve = vessel_solve,
                                        .commit = vessel_commit,
                                        .save = fine,
                                        .restore = fine,
                                        .arrays = vessel_arrays,
                                        .enclose = vessel_enclose,
                                        .lift = vessel_lift};

/* ---- both ------------------------------------------------------------------------------------ */

typedef struct closed_rig {
  mn_context *ctx;
  cloud solid;
  vessel fluid;
  mn_coupling *coupling;
  mn_coupling_report report;
  double time, dx;
  int steps, solves, most;
} closed_rig;

/* A line of n + 1 points from a to b as a body of its own, its elements in this order. */
static void add_line(closed_rig *r, mn_vec3 a, mn_vec3 b, int n, double mass)
{
  cloud *s = &r->solid;
  int body = s->count ? s->body[s->count - 1] + 1 : 0, first = s->count;
  for (int i = 0; i <= n; i++) {
    s->X[s->count] = s->X0[s->count] = mn_madd(a, (double)i / n, mn_sub(b, a));
    s->mass[s->count] = mass / n * (i % n ? 1 : 0.5);
    s->body[s->count++] = body;
  }
  for (int i = 0; i < n; i++, s->elements++) {
    s->element[2 * s->elements] = (uint32_t)(first + i);
    s->element[2 * s->elements + 1] = (uint32_t)(first + i + 1);
  }
}

/* A ring of n points around the origin, N pointing inwards, with springs at rest. */
static void add_ring(closed_rig *r, double radius, int n, double mass)
{
  cloud *s = &r->solid;
  int body = s->count ? s->body[s->count - 1] + 1 : 0, first = s->count;
  for (int i = 0; i < n; i++) {
    double angle = -2 * MN_PI * i / n; /* clockwise: the inside is on the right */
    s->X[s->count] = s->X0[s->count] = mn_v3(radius * cos(angle), radius * sin(angle), 0);
    s->mass[s->count] = mass / n;
    s->body[s->count++] = body;
  }
  for (int i = 0; i < n; i++, s->elements++, s->springs++) {
    int a = first + i, b = first + (i + 1) % n;
    s->element[2 * s->elements] = (uint32_t)a;
    s->element[2 * s->elements + 1] = (uint32_t)b;
    s->joined[s->springs][0] = a;
    s->joined[s->springs][1] = b;
    s->length[s->springs] = mn_length(mn_sub(s->X[b], s->X[a]));
  }
}

/* All sides of elements [first, last) face these regions. */
static void face(closed_rig *r, int first, int last, int front, int behind)
{
  for (int e = first; e < last; e++) {
    r->fluid.facing[2 * e] = front;
    r->fluid.facing[2 * e + 1] = behind;
  }
}

static void rig_new(closed_rig *r)
{
  *r = (closed_rig){.ctx = check_context(1), .dx = 1.0 / 32};
  for (int g = 0; g < REGIONS_MAX; g++) {
    r->fluid.cells[g] = 1000;
    r->fluid.volume[g] = 1;
  }
}

static void rig_couple(closed_rig *r, const mn_coupling_def *def, int black)
{
  CHECK_OK(r->ctx, mn_coupling_create(r->ctx, def, 2, r->dx, (mn_fluid){&vessel_ops, &r->fluid},
                                      (mn_solid){black ? &black_cloud_ops : &cloud_ops, &r->solid},
                                      &r->coupling));
}

static void rig_free(closed_rig *r)
{
  mn_coupling_destroy(&r->coupling);
  mn_context_destroy(&r->ctx);
}

static mn_status rig_step(closed_rig *r, double dt)
{
  mn_status status = mn_coupling_try(r->coupling, r->time, dt, 1, &r->report);
  if (status != MN_OK || r->report.reason != MN_CONVERGED) {
    mn_coupling_reject(r->coupling);
    return status == MN_OK ? MN_FAILED : status;
  }
  CHECK_OK(r->ctx, mn_coupling_commit(r->coupling, &r->report));
  r->time += dt;
  r->steps++;
  r->solves += r->report.iterations;
  r->most = r->report.iterations > r->most ? r->report.iterations : r->most;
  return MN_OK;
}

/* Area inside elements [first, last), which go round clockwise. */
static inline double area_inside(const closed_rig *r, int first, int last)
{
  double sum = 0;
  for (int e = first; e < last; e++) {
    mn_vec3 a = r->solid.X[r->solid.element[2 * e]], b = r->solid.X[r->solid.element[2 * e + 1]];
    sum -= (a.x * b.y - b.x * a.y) / 2;
  }
  return sum;
}

static const mn_region_info *region(const closed_rig *r, int k)
{
  int count;
  const mn_region_info *info = mn_coupling_regions(r->coupling, &count);
  CHECK_GE(count, k + 1);
  return &info[k];
}

static inline int regions(const closed_rig *r)
{
  int count;
  mn_coupling_regions(r->coupling, &count);
  return count;
}

#endif
