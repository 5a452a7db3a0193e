/* Bodies too light for the masses of fluid below 0 that move with them (mn_fluid_ops.lacking).

   On the whole, masses that lie LACK_MOST of a body's own or more below 0 make its equation
   senseless where water lets go of it. They do in any fluid where a body bends and has a velocity
   of its own at the end of a substep (lead > 0): with inertia below 0 on the whole, m < 0, and
   stiffness k such a rule has

       V' + V = 2 (x' - x)/dt,    m (V' - V)/dt = -k (x + x')/2

   with the factor (1 + sqrt |s|)/(1 - sqrt |s|) in a substep, s = k dt^2/(4 m). For |s| > 1 that
   grows and changes its sign each time, while m + k dt^2/4 is above 0, so that no factor of the
   matrix shows it. (Backward Euler has 1/(1 +- 2 sqrt |s|), which then dies out.) So stiffness must
   not count: a body is judged by its mass alone.

   Trials: forces f_k along each axis and about it, a_k the solid's accelerations by them. A body is
   too light if for some c, with a = sum c_k a_k,

       LACK_MOST sum_kl c_k c_l f_k.a_l + sum_i m_i (1 + lead) a.a < 0,

   that is if this matrix of few rows has an eigenvalue below 0. Trials span all that a rigid body
   can do; for it this is what the one system asks of its matrix (monolithic_system.c). A body that
   bends has more motions, and by backward Euler its stiffness counts; on a joint all trials are one
   motion, which the masses on the points tell to some per cent. Where the mass alone of such bodies
   would not do, and both boxes tell operators, all is judged as by the one system itself, unless
   that would cost more than it is worth.
   Verified by tests/verify/test_light_bodies.c, test_light_afloat.c, test_midpoint_in_fluid.c. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "couple/boxes.h"
#include "couple/monolithic_system.h"
#include "math/vec.h"

/* The one system asks the same of rigid bodies (monolithic_system.c). */
static const double LACK_MOST = 0.5;
/* Of the parts of a number that should be 0. */
static const double ROUND_OFF = 1e-10;
/* A rigid body that moves less than this part along a force is led by a joint, or is lopsided. */
static const double FREELY = 0.9;

enum { TRIALS = 6, MOST_FREEDOMS = 3000 /* of K */ };

typedef struct trial_sums {
  mn_vec3 middle; /* m, of the body's points */
  size_t points;
  int bends;                /* 1: by backward Euler, or it is on a joint */
  double G[TRIALS][TRIALS]; /* the matrix, below its diagonal */
  double size[TRIALS];      /* of all parts of its diagonal, which may cancel */
  double work, most;        /* of the last trial: f.a, and |f| |a| */
} trial_sums;

struct mn_weighing {
  size_t bodies;
  trial_sums *sums; /* [bodies], room for one a point */
  mn_vec3 *moved;   /* [trials][points] m/s^2 */
  mn_mono_system system;
};

static int is_soft(const mn_interface *f, size_t i)
{
  return !f->rigid[i] && f->lead[i] > 0;
}

int mn_boxes_any_soft(const mn_boxes *b)
{
  for (size_t i = 0; i < b->face.count; i++)
    if (is_soft(&b->face, i))
      return 1;
  return 0;
}

/* ---- trials ---------------------------------------------------------------------------------- */

static size_t body_of(const mn_boxes *b, size_t point)
{
  return (size_t)b->face.body[point] % b->face.count; /* a plug-in's may be any */
}

static trial_sums *sums_of(const mn_boxes *b, size_t point)
{
  return b->weighing->sums + body_of(b, point);
}

static mn_status begin_trials(mn_boxes *b, int trials)
{
  const mn_interface *f = &b->face;
  if (!b->weighing)
    MN_TRY(MN_NEW(b->ctx, "bodies that are weighed", 1, &b->weighing));
  mn_weighing *w = b->weighing;
  if (!w->sums)
    MN_TRY(MN_NEW(b->ctx, "sums of bodies", f->count, &w->sums));
  if (!w->moved)
    MN_TRY(MN_NEW(b->ctx, "trial motions", (size_t)trials * f->count, &w->moved));
  w->bodies = 0;
  for (size_t i = 0; i < f->count; i++)
    w->bodies = body_of(b, i) < w->bodies ? w->bodies : body_of(b, i) + 1;
  memset(w->sums, 0, w->bodies * sizeof *w->sums);
  for (size_t i = 0; i < f->count; i++) {
    trial_sums *of = sums_of(b, i);
    of->points++;
    of->middle = mn_madd(of->middle, 1 / (double)of->points, mn_sub(f->X[i], of->middle));
    of->bends |= !f->rigid[i] && !is_soft(f, i);
  }
  return MN_OK;
}

/* The force of trial k on point i, along an axis or about it through the body's middle: of rigid
   bodies by areas, of others by what they lack. */
static mn_vec3 trial_force(const mn_boxes *b, const mn_vec3 *mass, int k, size_t i)
{
  const mn_interface *f = &b->face;
  mn_vec3 axis = mn_v3(0, 0, 0), force;
  axis.v[k < f->dim ? k : (f->dim == 2 ? 2 : k - f->dim)] = 1;
  if (k >= f->dim)
    axis = mn_cross(axis, mn_sub(f->X[i], sums_of(b, i)->middle));
  for (int a = 0; a < 3; a++)
    force.v[a] = axis.v[a] * (f->rigid[i] ? f->area[i] : fmax(-mass[i].v[a], 0));
  return force;
}

/* Row k of the matrices, from the accelerations that trial k has left in V. */
static void add_row(mn_boxes *b, const mn_vec3 *mass, int soft, int k)
{
  const mn_interface *f = &b->face;
  mn_vec3 *moved = b->weighing->moved;
  memcpy(moved + (size_t)k * f->count, f->V, f->count * sizeof *f->V);
  for (size_t i = 0; i < f->count; i++) {
    trial_sums *of = sums_of(b, i);
    of->work += mn_dot(trial_force(b, mass, k, i), f->V[i]);
    of->most += mn_length(trial_force(b, mass, k, i)) * mn_length(f->V[i]);
    for (int l = 0; l <= k && (!soft || is_soft(f, i)); l++) {
      mn_vec3 a = moved[(size_t)l * f->count + i], force = trial_force(b, mass, l, i);
      for (int x = 0; x < f->dim; x++) {
        double own = LACK_MOST * force.v[x] * f->V[i].v[x];
        double fluid = (1 + f->lead[i]) * mass[i].v[x] * a.v[x] * f->V[i].v[x];
        of->G[k][l] += own + fluid;
        of->size[k] += l == k ? fabs(own) + fabs(fluid) : 0;
      }
    }
  }
  for (size_t n = 0; n < b->weighing->bodies; n++) {
    trial_sums *of = b->weighing->sums + n;
    of->bends |= !soft && of->work < FREELY * of->most;
    of->work = of->most = 0;
  }
}

static double *entry(trial_sums *of, int r, int c)
{
  return r > c ? &of->G[r][c] : &of->G[c][r];
}

/* Whether an eigenvalue is below 0, by Cholesky without the roots. On a joint all trials move a
   body along the same way, some of them by rounding alone: those that are most of their parts come
   first, and what is then left of the others is nothing. */
static int is_below(int n, trial_sums *of)
{
  int done[TRIALS] = {0};
  for (int step = 0; step < n; step++) {
    int k = -1;
    double most = ROUND_OFF;
    for (int r = 0; r < n; r++) {
      double part = done[r] || of->size[r] == 0 ? 0 : of->G[r][r] / of->size[r];
      if (part < -ROUND_OFF)
        return 1;
      k = part > most ? r : k;
      most = fmax(part, most);
    }
    if (k < 0)
      return 0;
    done[k] = 1;
    for (int r = 0; r < n; r++)
      for (int c = 0; c <= r && !done[r]; c++)
        if (!done[c])
          of->G[r][c] -= *entry(of, r, k) * *entry(of, c, k) / of->G[k][k];
  }
  return 0;
}

/* ---- with stiffness -------------------------------------------------------------------------- */

/* *light <- what the one system would say, with the bodies' tangent at the start and the surfaces
   where the fluid has them; left as it is where bodies have more than MOST_FREEDOMS. */
static mn_status weigh_stiffness(mn_boxes *b, double dt, int *light)
{
  mn_mono_system *s = &b->weighing->system;
  mn_interface *f = &b->face;
  if (s->solid.K.rows > MOST_FREEDOMS) /* the last time */
    return MN_OK;
  s->ctx = b->ctx;
  s->boxes = b;
  s->dt = dt;
  s->masses = 1;
  s->held_known = 0;
  s->fluid.positive = 0;
  s->solid.curvature = MN_CURVATURE_CHECKED;
  memset(f->load, 0, f->count * sizeof *f->load);
  MN_TRY(mn_boxes_assemble(b, &s->fluid));
  mn_vec3 *X = b->weighing->moved, *N = X + f->count; /* of trials that are done */
  double *area = (double *)(N + f->count);
  memcpy(X, f->X, f->count * sizeof *X); /* `start` writes these */
  memcpy(N, f->N, f->count * sizeof *N);
  memcpy(area, f->area, f->count * sizeof *area);
  MN_TRY(mn_boxes_start(b));
  MN_TRY(mn_boxes_linearise(b, &s->solid));
  if (s->solid.K.rows <= MOST_FREEDOMS) {
    MN_TRY(mn_mono_build(s));
    MN_TRY(mn_mono_weigh(s, light));
  }
  memcpy(f->X, X, f->count * sizeof *X);
  memcpy(f->N, N, f->count * sizeof *N);
  memcpy(f->area, area, f->count * sizeof *area);
  return MN_OK;
}

/* ---- all ------------------------------------------------------------------------------------- */

mn_status mn_boxes_weigh(mn_boxes *b, const mn_vec3 *mass, double dt, int soft, int *light)
{
  mn_interface *f = &b->face;
  int trials = f->dim == 2 ? 3 : 6, bend = 0;
  *light = !b->solid.ops->accelerate; /* or who knows */
  if (*light)
    return MN_OK;
  MN_TRY(begin_trials(b, trials));
  for (int k = 0; k < trials; k++) {
    for (size_t i = 0; i < f->count; i++)
      f->load[i] = soft && !is_soft(f, i) ? mn_v3(0, 0, 0) : trial_force(b, mass, k, i);
    MN_TRY(mn_boxes_accelerate(b));
    add_row(b, mass, soft, k);
  }
  for (size_t k = 0; k < b->weighing->bodies; k++) {
    trial_sums *of = b->weighing->sums + k;
    *(of->bends ? &bend : light) |= is_below(trials, of);
  }
  if (*light || !bend)
    return MN_OK;
  *light = 1;
  return b->solid.ops->operators && b->fluid.ops->operators ? weigh_stiffness(b, dt, light) : MN_OK;
}

void mn_weighing_destroy(mn_weighing **inout)
{
  mn_weighing *w = *inout;
  if (!w)
    return;
  mn_free(w->sums);
  mn_free(w->moved);
  mn_mono_system_destroy(&w->system);
  mn_free(w);
  *inout = NULL;
}
