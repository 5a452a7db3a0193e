/* What the fluid gets to see of bodies around closed regions: V changed by the least amount,
   measured by the bodies' mass M, such that as much flows out of each region as in,

       V <- V + M^-1 N^T l,     N (V + M^-1 N^T l) = Q      [Akbay thesis, P_s of section 4.2],

   N that of the way from the start to X, the replies M^-1 N^T those at the start. Of velocities at
   the end N is that of X, and Q that of the end: those that closed_settle.c leaves. The replies are
   those of the way, of which each rule in time takes its own part; velocities at the end answer
   1 + lead times as much. */
#include <math.h>
#include <string.h>

#include "couple/closed.h"
#include "base/status.h"
#include "math/mat.h"
#include "math/vec.h"

/* Rows that move nothing, against what the same forces would do if they did not cancel. */
static const double STILL = 1e-12;

static double dot_rows(const mn_closed *c, const mn_vec3 *a, const mn_vec3 *b)
{
  double sum = 0;
  for (size_t i = 0; i < c->boxes->face.count; i++)
    sum += mn_dot(a[i], b[i]);
  return sum;
}

/* The reply of the mass to the forces of `load`; the interface keeps its X and V. */
static mn_status reply_to_load(mn_closed *c, mn_vec3 *reply)
{
  mn_interface *f = &c->boxes->face;
  mn_vec3 *keep;
  size_t n = f->count;
  mn_arena_mark mark = mn_arena_save(&c->arena);
  MN_TRY(MN_PUSH(c->ctx, &c->arena, 2 * n, &keep));
  memcpy(keep, f->X, n * sizeof *keep);
  memcpy(keep + n, f->V, n * sizeof *keep);
  memcpy(f->X, c->start, n * sizeof *keep);
  mn_status status = mn_boxes_accelerate(c->boxes);
  memcpy(reply, f->V, n * sizeof *reply);
  memcpy(f->X, keep, n * sizeof *keep);
  memcpy(f->V, keep + n, n * sizeof *keep);
  mn_arena_reset(&c->arena, mark);
  return status;
}

/* Whether the forces of a row move anything: against those of the same size that do not cancel. */
static mn_status find_still(mn_closed *c, int r)
{
  mn_interface *f = &c->boxes->face;
  size_t n = f->count;
  const mn_vec3 *row = &c->row[(size_t)r * n];
  double aligned = 0, own = dot_rows(c, row, &c->reply[(size_t)r * n]);
  for (size_t i = 0; i < n; i++) {
    double size = mn_length(row[i]) / sqrt(f->dim);
    f->load[i] = mn_v3(size, size, f->dim == 3 ? size : 0);
  }
  MN_TRY(reply_to_load(c, c->move));
  for (size_t i = 0; i < n; i++)
    aligned += mn_length(row[i]) * mn_length(c->move[i]);
  c->still[r] = !(own > STILL * aligned);
  return MN_OK;
}

/* As if every point weighed its area; a rigid body moves as one. For solids that do not tell their
   mass: V need only be one that the body can have, whatever its true inertia. */
static void reply_of_areas(mn_closed *c, const mn_vec3 *row, mn_vec3 *reply)
{
  const mn_interface *f = &c->boxes->face;
  int bodies = 0;
  for (size_t i = 0; i < f->count; i++) {
    reply[i] = f->area[i] > 0 ? mn_scale(1 / f->area[i], row[i]) : mn_v3(0, 0, 0);
    bodies = f->rigid[i] && f->body[i] >= bodies ? f->body[i] + 1 : bodies;
  }
  for (int b = 0; b < bodies; b++) {
    double area = 0;
    mn_vec3 middle = mn_v3(0, 0, 0), force = middle, torque = middle;
    mn_mat3 inertia = mn_mat3_diagonal(0, 0, 0), inverse = inertia;
    for (size_t i = 0; i < f->count; i++)
      if (f->rigid[i] && f->body[i] == b) {
        area += f->area[i];
        middle = mn_madd(middle, f->area[i], c->start[i]);
        force = mn_add(force, row[i]);
      }
    if (!(area > 0))
      continue;
    middle = mn_scale(1 / area, middle);
    for (size_t i = 0; i < f->count; i++)
      if (f->rigid[i] && f->body[i] == b) {
        mn_vec3 x = mn_sub(c->start[i], middle);
        torque = mn_add(torque, mn_cross(x, row[i]));
        for (int p = 0; p < 3; p++)
          for (int q = 0; q < 3; q++)
            inertia.m[p][q] += f->area[i] * ((p == q ? mn_dot(x, x) : 0) - x.v[p] * x.v[q]);
      }
    if (f->dim == 2)
      inverse.m[2][2] = inertia.m[2][2] > 0 ? 1 / inertia.m[2][2] : 0;
    else if (!mn_mat3_inverse(inertia, &inverse))
      inverse = mn_mat3_diagonal(0, 0, 0);
    mn_vec3 turn = mn_mat3_apply(inverse, torque);
    for (size_t i = 0; i < f->count; i++)
      if (f->rigid[i] && f->body[i] == b)
        reply[i] = mn_madd(mn_cross(turn, mn_sub(c->start[i], middle)), 1 / area, force);
  }
}

mn_status mn_closed_weigh_rows(mn_closed *c)
{
  mn_interface *f = &c->boxes->face;
  size_t n = f->count;
  int by_mass = c->boxes->solid.ops->accelerate != NULL;
  for (int r = 0; r < c->count; r++) {
    mn_vec3 *row = &c->row[(size_t)r * n], *reply = &c->reply[(size_t)r * n];
    c->still[r] = !(c->surface[r] > 0);
    c->jammed[r] = 0;
    if (by_mass && !c->still[r]) {
      memcpy(f->load, row, n * sizeof *row);
      MN_TRY(reply_to_load(c, reply));
      MN_TRY(find_still(c, r));
    } else
      reply_of_areas(c, row, reply);
    if (c->still[r] && !mn_closed_idle(c, r))
      return mn_closed_refuse(c, r, c->info[r].inflow);
  }
  return MN_OK;
}

/* move: how velocities answer the row of region r, means or those at the end. */
static const mn_vec3 *answer(mn_closed *c, int at_end, int r)
{
  const mn_interface *f = &c->boxes->face;
  for (size_t i = 0; i < f->count; i++)
    c->move[i] = mn_scale(at_end ? 1 + f->lead[i] : 1, c->reply[(size_t)r * f->count + i]);
  return c->move;
}

mn_status mn_closed_project(mn_closed *c, int at_end)
{
  mn_interface *f = &c->boxes->face;
  int m = c->count;
  double rate[MN_CLOSED_MAX], part[MN_CLOSED_MAX], left[MN_CLOSED_MAX], *k;
  if (!m)
    return MN_OK;
  mn_arena_mark mark = mn_arena_save(&c->arena);
  MN_TRY(MN_PUSH(c->ctx, &c->arena, (size_t)m * (size_t)m, &k));
  void (*flow)(const mn_closed *, const mn_vec3 *, const mn_vec3 *, double *) =
      at_end ? mn_closed_flow_at : mn_closed_flow;
  flow(c, f->X, f->V, rate);
  for (int r = 0; r < m; r++) { /* what is carried over is the surfaces' affair */
    rate[r] -= at_end ? mn_closed_inflow_at_end(c, r) : c->info[r].inflow;
    flow(c, f->X, answer(c, at_end, r), &k[r * m]);
  }
  mn_status status = mn_closed_solve_small(c, k, rate, part, left);
  mn_arena_reset(&c->arena, mark);
  MN_TRY(status);
  for (int r = 0; r < m; r++) {
    const mn_vec3 *way = answer(c, at_end, r);
    for (size_t i = 0; i < f->count; i++)
      f->V[i] = mn_madd(f->V[i], part[r], way[i]);
  }
  return MN_OK;
}
