/* Velocities at the end of a substep in which volumes bind bodies.

   The volume that a region must have at the end says where its walls go, and so what their velocity
   is in the middle of the substep. A rule of second order, V = (1 + lead) mean - lead V^n, then
   takes every change of the inflow for one of V that comes back in each substep with the other
   sign, and nothing damps it: p0 of a piston swings by half a per cent after a ramp. As in the
   RATTLE method [Andersen 1983] a second multiplier l (Pa s) binds the end itself,

       N V = Q(t^n+1),    V <- V + M^-1 N^T l,

   N at the end, Q there from the means of this substep and the last. The pressure of the substep is
   p0 + l/dt. What touches finds its contact impulses of the end under l: a piston that meets a stop
   rests there, and so does what the region ties to it. Only where all that moves of all regions
   follows such a rule: others have no velocity of their own. Verified by test_closed_pistons.c. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "couple/closed.h"
#include "math/vec.h"

/* The mass is that of the start: right at once but for bodies that turn, and for what touches,
   which cannot give way. */
enum { PASSES = 3, MOST_PASSES = 16 };
/* Of the flow of all walls: what may be left; of what a pass should have mended: K is not right. */
static const double SETTLED = 1e-12, WRONG = 1e-6;

/* Every point that a p0 moves has a velocity of its own at the end, to which no p0 was fitted yet:
   that of regions that were struck was. */
static int all_lead(const mn_closed *c)
{
  const mn_interface *f = &c->boxes->face;
  size_t n = f->count;
  int any = 0;
  for (int r = 0; r < c->count; r++) {
    if (c->struck[c->slot[r]])
      return 0;
    for (size_t i = 0; i < n; i++) {
      const mn_vec3 *row = &c->row[(size_t)r * n + i], *reply = &c->reply[(size_t)r * n + i];
      if (mn_dot(*row, *row) > 0 && mn_dot(*reply, *reply) > 0) {
        any = 1;
        if (!(f->lead[i] > 0))
          return 0;
      }
    }
  }
  return any;
}

int mn_closed_settles(const mn_closed *c)
{
  return c->form == MN_CLOSED_ELIMINATED && c->boxes->solid.ops->settle && all_lead(c);
}

int mn_closed_settles_alike(const mn_closed *c, double *lead)
{
  const mn_interface *f = &c->boxes->face;
  *lead = 0;
  if (!mn_closed_settles(c))
    return 0;
  for (int r = 0; r < c->count; r++)
    for (size_t i = 0; i < f->count; i++) {
      mn_vec3 row = c->row[(size_t)r * f->count + i];
      if (!(mn_dot(row, row) > 0) || !(f->lead[i] > 0))
        continue;
      if (*lead > 0 && f->lead[i] != *lead)
        return 0;
      *lead = f->lead[i];
    }
  return *lead > 0;
}

double mn_closed_inflow_at_end(const mn_closed *c, int r)
{
  double before = c->now.last_dt[c->slot[r]], mean = c->info[r].inflow;
  if (!(before > 0))
    return mean;
  return mean + (mean - c->now.last_inflow[c->slot[r]]) * c->dt / (c->dt + before);
}

static void fill_K(const mn_closed *c, double *k)
{
  const mn_interface *f = &c->boxes->face;
  size_t n = f->count;
  int m = c->count;
  for (int s = 0; s < m; s++)
    for (int r = 0; r < m; r++) {
      const mn_vec3 *row = &c->row[(size_t)r * n], *reply = &c->reply[(size_t)s * n];
      k[r + s * m] = 0;
      for (size_t i = 0; i < n; i++) /* X by dt^2 reply, V by 1 + lead of that over dt */
        k[r + s * m] += (1 + f->lead[i]) * mn_dot(row[i], reply[i]);
    }
}

/* N V - Q; *size: the greatest of sum |N V|. */
static void rates(const mn_closed *c, double *rate, double *size)
{
  const mn_interface *f = &c->boxes->face;
  size_t n = f->count;
  *size = 0;
  for (int r = 0; r < c->count; r++) {
    double sum = 0, all = 0;
    for (size_t i = 0; i < n; i++) {
      double part = mn_dot(c->row[(size_t)r * n + i], f->V[i]);
      sum += part;
      all += fabs(part);
    }
    rate[r] = sum - mn_closed_inflow_at_end(c, r);
    *size = fmax(*size, all);
  }
}

static mn_status push(mn_closed *c, const double *part)
{
  mn_interface *f = &c->boxes->face;
  size_t n = f->count;
  memset(f->load, 0, n * sizeof *f->load);
  for (int r = 0; r < c->count; r++) {
    c->impulse[r] += part[r];
    for (size_t i = 0; i < n; i++)
      f->load[i] = mn_madd(f->load[i], part[r], c->row[(size_t)r * n + i]);
  }
  return mn_boxes_settle(c->boxes);
}

static double greatest(const mn_closed *c, const double *rate)
{
  double most = 0;
  for (int r = 0; r < c->count; r++)
    if (!c->still[r])
      most = fmax(most, fabs(rate[r]));
  return most;
}

static mn_status settle(mn_closed *c, double *k)
{
  double rate[MN_CLOSED_MAX], part[MN_CLOSED_MAX], left[MN_CLOSED_MAX], size, speed;
  fill_K(c, k);
  rates(c, rate, &speed);
  for (int pass = 0; pass < MOST_PASSES; pass++) {
    double before = greatest(c, rate);
    if (pass >= PASSES && before <= SETTLED * speed)
      break;
    MN_TRY(mn_closed_solve_small(c, k, rate, part, left));
    MN_TRY(push(c, part));
    for (int r = 0; r < c->count; r++)
      left[r] = rate[r];
    rates(c, rate, &size);
    speed = fmax(speed, size);
    for (int r = 0; r < c->count; r++)
      left[r] = rate[r] - left[r];
    if (greatest(c, rate) > fmax(WRONG * before, SETTLED * speed))
      mn_closed_learn(c, part, left, k);
  }
  return MN_OK;
}

mn_status mn_closed_settle(mn_closed *c)
{
  size_t m = (size_t)c->count, entries = m * c->boxes->face.count;
  double *k;
  mn_vec3 *rows;
  if (!m || c->settled || !mn_closed_settles(c))
    return MN_OK;
  c->settled = 1;
  memset(c->impulse, 0, sizeof c->impulse);
  mn_arena_mark mark = mn_arena_save(&c->arena);
  MN_TRY(MN_PUSH(c->ctx, &c->arena, m * m, &k));
  MN_TRY(MN_PUSH(c->ctx, &c->arena, entries, &rows));
  memcpy(rows, c->row, entries * sizeof *rows); /* p0 has those of its own place */
  mn_closed_fill_rows(c, c->boxes->face.X);
  mn_status status = settle(c, k);
  memcpy(c->row, rows, entries * sizeof *rows);
  mn_arena_reset(&c->arena, mark);
  return status;
}
