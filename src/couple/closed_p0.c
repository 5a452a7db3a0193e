/* p0 of the closed regions.

   With res_r = (swept_r - target_r)/dt and K = d res / d p0 (m x m, m^3/s per Pa) the elimination
   is a quasi-Newton loop around the solid's solve,

       p0 <- p0 - K^+ res,      K <- K + (d res - K dp)(D dp)^T / (dp^T D dp),   D = diag K,

   Broyden's update, kept across substeps (K grows like dt). K starts as dt N M^-1 N^T from the
   solid's mass, exact for rigid bodies, else from differences: one solve of the solid a region, and
   the same when the loop is slow. K may be singular: in a closed box that a shell parts only the
   difference of two p0 counts. K^+ is the shortest solution in the scale of D^(1/2); what K cannot
   give at all has no solution, and is told.

   The published forms take one such step in an iteration of the coupling, with K = dt N M^-1 N^T
   and M the solid's mass [Akbay thesis, eq. 4.9] or that of the fluid at the points [Akbay 2018,
   eq. 2.11], and never learn. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "couple/closed.h"
#include "la/dense.h"
#include "math/vec.h"

/* What may be left of a volume, as a distance of its surfaces in cells: when it is found; and when
   the solid cannot do better. It is made good in the next substep. */
static const double FOUND = 1e-13, LEAST_FOUND = 1e-5;
/* Of the volume: less of what sources blow into it in a substep is rounding of sources that balance
   each other. */
static const double LEAST_BLOWN = 1e-12;
/* Of what sources blow into it: less is rounding of driven walls that make room for it. */
static const double BALANCED = 1e-12;
/* And when it is found, as part of what flows in. */
static const double FOUND_OF_INFLOW = 1e-10;
/* Of the flow of all of a region's walls: more than this from driven ones alone is no rounding of
   their shape. */
static const double DRIVEN = 0.1;
/* Steps from less than this, in the measure of FOUND, tell more of the solid's own tolerance than
   of K: nothing is learned from them. */
static const double LEARN_LEAST = 1e-7;
static const double FORCED = 1e9;
/* mn_closed_turns: cells in a substep, of some point; part of p0 that the fluid's other loads may
   be. */
static const double PRESSED = 1, ALONE = 0.1;
/* Solves before K is found anew. */
enum { PATIENCE = 8, ROUNDS = 3 };
/* Steps that do not help: rounding of a stiff body may spoil one, and seldom the next. */
enum { STALLS = 3 };
/* Singular directions of K, scaled to a unit diagonal. */
static const double RCOND = 1e-9;
/* Displacements by which K is found from differences, in cells, and the first pressure tried. */
static const double PROBE = 1e-4, PROBE_LEAST = 1e-7, PROBE_MOST = 1e-2, FIRST_PROBE = 1e-6;

/* ---- small dense systems --------------------------------------------------------------------- */

mn_status mn_closed_solve_small(mn_closed *c, const double *k, const double *res, double *dp,
                                double *left)
{
  int m = c->count, rank;
  double scale[MN_CLOSED_MAX], b[MN_CLOSED_MAX], y[MN_CLOSED_MAX], *a;
  mn_arena_mark mark = mn_arena_save(&c->arena);
  MN_TRY(MN_PUSH(c->ctx, &c->arena, (size_t)m * (size_t)m, &a));
  for (int r = 0; r < m; r++) {
    double d = k[r + r * m];
    scale[r] = d > 0 && !c->still[r] ? 1 / sqrt(d) : 0;
    b[r] = -res[r] * scale[r];
  }
  for (int s = 0; s < m; s++)
    for (int r = 0; r < m; r++)
      a[r + s * m] = k[r + s * m] * scale[r] * scale[s];
  mn_status status = mn_dense_least_squares(c->ctx, &c->arena, m, m, a, 1, b, RCOND, y, &rank);
  mn_arena_reset(&c->arena, mark);
  MN_TRY(status);
  for (int r = 0; r < m; r++)
    dp[r] = scale[r] * y[r];
  for (int r = 0; r < m; r++) {
    left[r] = res[r];
    for (int s = 0; s < m; s++)
      left[r] += k[r + s * m] * dp[s];
  }
  return MN_OK;
}

static void get_K(const mn_closed *c, double *k)
{
  for (int s = 0; s < c->count; s++)
    for (int r = 0; r < c->count; r++)
      k[r + s * c->count] = c->dt * c->now.K[c->slot[r] * MN_CLOSED_MAX + c->slot[s]];
}

static void set_K(mn_closed *c, const double *k)
{
  memset(c->now.K, 0, sizeof c->now.K);
  for (int s = 0; s < c->count; s++)
    for (int r = 0; r < c->count; r++)
      c->now.K[c->slot[r] * MN_CLOSED_MAX + c->slot[s]] = k[r + s * c->count] / c->dt;
  c->now.known = 1;
}

/* ---- residuals ------------------------------------------------------------------------------- */

/* m^3, by which the volume of region r may be off when its surfaces may by `cells`, but never less
   than the rounding of their positions. */
static double allowed(const mn_closed *c, int r, double cells)
{
  double most = c->surface[r] * cells * c->dx, flown = fabs(c->dt * c->info[r].inflow);
  if (cells <= FOUND && flown > 0)
    most = fmin(most, FOUND_OF_INFLOW * flown);
  return fmax(most, 4 * DBL_EPSILON * c->far * c->surface[r]);
}

int mn_closed_idle(const mn_closed *c, int r)
{
  double volume = c->info[r].volume, inflow = fabs(c->info[r].inflow), blown = fabs(c->blown[r]);
  return c->still[r] && c->dt * inflow <= LEAST_FOUND * volume &&
         (c->dt * blown <= LEAST_BLOWN * volume || inflow <= BALANCED * blown);
}

static int all_within(const mn_closed *c, const double *res, double cells)
{
  for (int r = 0; r < c->count; r++)
    if (!mn_closed_idle(c, r) && !(fabs(res[r]) * c->dt <= allowed(c, r, cells)))
      return 0;
  return 1;
}

/* Of regions that were struck: the flow at the end less the inflow (closed.h). */
static void residuals(const mn_closed *c, double *res)
{
  const mn_interface *f = &c->boxes->face;
  double end[MN_CLOSED_MAX];
  mn_closed_swept(c, f->X, res);
  mn_closed_flow(c, f->X, f->V, end);
  for (int r = 0; r < c->count; r++)
    res[r] = c->struck[c->slot[r]] ? end[r] - c->info[r].inflow : (res[r] - c->target[r]) / c->dt;
}

/* One solve of the solid, and what it leaves. */
static mn_status solve_solid(mn_closed *c, mn_closed_solve *solve, void *user, double *res)
{
  c->settled = 0;
  MN_TRY(solve(user));
  c->solves++;
  residuals(c, res);
  return MN_OK;
}

double mn_closed_gap(const mn_closed *c, int r)
{
  double res[MN_CLOSED_MAX];
  if (r >= c->count || !(c->surface[r] > 0))
    return 0;
  residuals(c, res);
  return res[r] * c->dt / c->surface[r];
}

/* ---- no solution ----------------------------------------------------------------------------- */

mn_status mn_closed_refuse(mn_closed *c, int r, double flow)
{
  const mn_region_info *i = &c->info[r];
  int dim = c->boxes->face.dim;
  c->hopeless = 1;
  if (c->still[r] && mn_closed_idle(c, r))
    return mn_fail(c->ctx, MN_FAILED,
                   "region %d of %zu cells at (%g, %g, %g) is enclosed by driven%s and fixed walls "
                   "only, and they take %.6g m^%d/s from its volume: no solution; open a side, or "
                   "let a body give way",
                   i->id, i->cells, i->center.x, i->center.y, i->center.z,
                   c->jammed[r] ? ", jammed" : "", flow, dim);
  if (c->still[r])
    return mn_fail(c->ctx, MN_FAILED,
                   "region %d of %zu cells at (%g, %g, %g) is enclosed by sources and fixed walls "
                   "only, %.6g m^%d/s flow in: no solution; open a side, or let a body give way",
                   i->id, i->cells, i->center.x, i->center.y, i->center.z, i->inflow, dim);
  return mn_fail(c->ctx, MN_FAILED,
                 "region %d of %zu cells at (%g, %g, %g) can only grow as others shrink, but %.6g "
                 "m^%d/s flow into all of them: no solution; open a side, or let the sources "
                 "balance",
                 i->id, i->cells, i->center.x, i->center.y, i->center.z, flow, dim);
}

/* ---- K --------------------------------------------------------------------------------------- */

/* K = dt N M^-1 N^T, by the replies of the solid's mass, which are those of X over dt^2; V at the
   end replies by `lead` more. */
static void K_of_mass(const mn_closed *c, double *k)
{
  const mn_interface *f = &c->boxes->face;
  for (int s = 0; s < c->count; s++)
    for (int r = 0; r < c->count; r++) {
      const mn_vec3 *row = &c->row[(size_t)r * f->count], *reply = &c->reply[(size_t)s * f->count];
      double sum = 0;
      for (size_t i = 0; i < f->count; i++)
        sum += mn_dot(row[i], reply[i]) * (c->struck[c->slot[r]] ? 1 + f->lead[i] : 1);
      k[r + s * c->count] = c->dt * sum;
    }
}

/* The same with the fluid's mass at the points. */
static mn_status K_of_fluid(const mn_closed *c, double *k)
{
  size_t n = c->boxes->face.count;
  double most = 0;
  for (int s = 0; s < c->count; s++)
    for (int r = 0; r < c->count; r++) {
      double sum = 0;
      for (size_t i = 0; i < n; i++)
        if (c->fluid_mass[i] > 0)
          sum += mn_dot(c->row[(size_t)r * n + i], c->row[(size_t)s * n + i]) / c->fluid_mass[i];
      k[r + s * c->count] = c->dt * sum;
      most = fmax(most, sum);
    }
  if (!(most > 0))
    return mn_fail(c->ctx, MN_FAILED,
                   "coupling.closed is \"fluid\", but the fluid \"%s\" tells no mass at the points "
                   "of closed regions; take \"eliminated\"",
                   c->boxes->fluid.ops->name);
  return MN_OK;
}

/* Column s of K by a change of p0 of region s that moves its surfaces a little, from `res`. */
static mn_status K_column(mn_closed *c, int s, const double *res, mn_closed_solve *solve,
                          void *user, double *column)
{
  double *p0 = &c->now.p0[c->slot[s]], base = *p0, moved = 0;
  double step = fmax(1e-6 * fabs(base), FIRST_PROBE), after[MN_CLOSED_MAX];
  for (int tries = 0; tries < 8; tries++) {
    *p0 = base + step;
    mn_status status = solve_solid(c, solve, user, after);
    *p0 = base;
    MN_TRY(status);
    moved = fabs(after[s] - res[s]) * c->dt / (c->surface[s] * c->dx);
    for (int r = 0; r < c->count; r++)
      column[r] = (after[r] - res[r]) / step;
    if (moved > PROBE_LEAST && moved < PROBE_MOST)
      return MN_OK;
    step *= moved > 1e-10 ? PROBE / moved : 1e6;
  }
  if (!(moved > PROBE_LEAST)) { /* nothing moves it */
    memset(column, 0, (size_t)c->count * sizeof *column);
    c->still[s] = c->jammed[s] = 1;
  }
  return MN_OK;
}

static mn_status K_of_differences(mn_closed *c, const double *res, mn_closed_solve *solve,
                                  void *user, double *k)
{
  for (int s = 0; s < c->count; s++) {
    memset(&k[s * c->count], 0, (size_t)c->count * sizeof *k);
    if (!c->still[s])
      MN_TRY(K_column(c, s, res, solve, user, &k[s * c->count]));
  }
  return MN_OK;
}

void mn_closed_learn(const mn_closed *c, const double *dp, const double *dres, double *k)
{
  int m = c->count;
  double square = 0, miss[MN_CLOSED_MAX];
  for (int r = 0; r < m; r++) {
    square += k[r + r * m] * dp[r] * dp[r];
    miss[r] = dres[r];
    for (int s = 0; s < m; s++)
      miss[r] -= k[r + s * m] * dp[s];
  }
  if (!(square > 0))
    return;
  double diagonal[MN_CLOSED_MAX];
  for (int s = 0; s < m; s++)
    diagonal[s] = k[s + s * m];
  for (int s = 0; s < m; s++)
    for (int r = 0; r < m; r++)
      k[r + s * m] += miss[r] * diagonal[s] * dp[s] / square;
}

static int usable(const mn_closed *c, const double *k)
{
  for (int r = 0; r < c->count; r++)
    if (!c->still[r] && !(k[r + r * c->count] > 0))
      return 0;
  return 1;
}

/* ---- the loop -------------------------------------------------------------------------------- */

static double worst_gap(const mn_closed *c, const double *res)
{
  double worst = 0;
  for (int r = 0; r < c->count; r++)
    if (!mn_closed_idle(c, r))
      worst = fmax(worst, fabs(res[r]) * c->dt / allowed(c, r, FOUND));
  return worst;
}

/* At most PATIENCE steps with the K given. *done: 1 when found, or as good as the solid can. A
   fresh K tells what has no solution; once it has learned, some direction may be missing from it.
 */
static mn_status descend(mn_closed *c, mn_closed_solve *solve, void *user, int fresh, double *k,
                         double *res, int *done)
{
  double dp[MN_CLOSED_MAX], left[MN_CLOSED_MAX], after[MN_CLOSED_MAX];
  int stalls = 0;
  *done = 0;
  for (int n = 0; n < PATIENCE && usable(c, k); n++) {
    double before = worst_gap(c, res);
    int tells = !all_within(c, res, LEARN_LEAST);
    MN_TRY(mn_closed_solve_small(c, k, res, dp, left));
    double total = 0;
    for (int r = 0; r < c->count; r++)
      total -= left[r];
    for (int r = 0; r < c->count; r++)
      if (!mn_closed_idle(c, r) && fabs(left[r]) * c->dt > allowed(c, r, LEAST_FOUND))
        return fresh && n == 0 ? mn_closed_refuse(c, r, total) : MN_OK;
    for (int r = 0; r < c->count; r++)
      c->now.p0[c->slot[r]] += dp[r];
    MN_TRY(solve_solid(c, solve, user, after));
    for (int r = 0; r < c->count; r++) {
      double change = after[r] - res[r];
      res[r] = after[r];
      left[r] = change;
    }
    if (tells) {
      mn_closed_learn(c, dp, left, k);
      set_K(c, k);
    }
    stalls += n > 0 && !tells && worst_gap(c, res) > 0.5 * before;
    *done = all_within(c, res, FOUND) || stalls == STALLS;
    if (*done)
      return MN_OK;
  }
  return MN_OK;
}

/* m^3/s: what walls take from a region's volume, by a residual of it; not what earlier substeps
   left of it, which a short one would make a great flow of. Where bodies are jammed it is what
   those do that no p0 moves: the others may be pressed by 1e20 Pa, and move by rounding. */
static double taken(const mn_closed *c, int r, double res)
{
  const mn_interface *f = &c->boxes->face;
  const mn_vec3 *row = &c->row[(size_t)r * f->count], *reply = &c->reply[(size_t)r * f->count];
  double left = c->struck[c->slot[r]] ? 0 : c->target[r] / c->dt - c->info[r].inflow, flow = 0;
  if (!c->jammed[r] || !c->boxes->solid.ops->accelerate)
    return -(res + left);
  for (size_t i = 0; i < f->count; i++)
    flow += mn_length(reply[i]) > 0 ? 0 : mn_dot(row[i], f->V[i]);
  return c->info[r].inflow - flow;
}

/* Driven bodies that press a region together, or draw it apart, by themselves. */
static mn_status check_still(mn_closed *c, const double *res)
{
  const mn_interface *f = &c->boxes->face;
  for (int r = 0; r < c->count; r++) {
    const mn_vec3 *row = &c->row[(size_t)r * f->count];
    double all = 0; /* of what the walls move, net flows are mended up to a part */
    for (size_t i = 0; i < f->count && mn_closed_idle(c, r); i++)
      all += fabs(mn_dot(row[i], f->V[i]));
    if (fabs(res[r]) > DRIVEN * all && all * c->dt > LEAST_FOUND * c->info[r].volume)
      return mn_closed_refuse(c, r, taken(c, r, res[r]));
  }
  return MN_OK;
}

double mn_closed_free_way(const mn_closed *c, int r)
{
  const mn_interface *f = &c->boxes->face;
  const mn_vec3 *row = &c->row[(size_t)r * f->count], *reply = &c->reply[(size_t)r * f->count];
  double sum = 0;
  if (!c->boxes->solid.ops->accelerate || c->still[r] || !(c->surface[r] > 0))
    return 0;
  for (size_t i = 0; i < f->count; i++)
    sum += mn_dot(row[i], reply[i]);
  return fabs(c->now.p0[c->slot[r]]) * sum * c->dt * c->dt / c->surface[r];
}

int mn_closed_turns(const mn_closed *c, const mn_vec3 *other)
{
  const mn_interface *f = &c->boxes->face;
  double most = 0, loads = 0, pressed = 0;
  if (!c->boxes->solid.ops->accelerate || c->form != MN_CLOSED_ELIMINATED)
    return 0;
  for (int r = 0; r < c->count; r++)
    for (size_t i = 0; i < f->count && !c->still[r]; i++) {
      double p0 = fabs(c->now.p0[c->slot[r]]);
      most = fmax(most, p0 * c->dt * c->dt * mn_length(c->reply[(size_t)r * f->count + i]));
      pressed += p0 * mn_length(c->row[(size_t)r * f->count + i]);
    }
  for (size_t i = 0; i < f->count && most > PRESSED * c->dx; i++)
    loads += mn_length(other[i]);
  return most > PRESSED * c->dx && loads < ALONE * pressed;
}

/* By a pressure that would throw free surfaces FORCED cells away in the substep what holds them was
   only pressed in: they are jammed. first[r]: flow less the inflow before that pressure acted. */
static mn_status check_forced(mn_closed *c, const double *first)
{
  for (int r = 0; r < c->count; r++)
    if (mn_closed_free_way(c, r) > FORCED * c->dx) {
      c->still[r] = c->jammed[r] = 1;
      return mn_closed_refuse(c, r, taken(c, r, first[r]));
    }
  return MN_OK;
}

static mn_status eliminate(mn_closed *c, mn_closed_solve *solve, void *user)
{
  double res[MN_CLOSED_MAX], first[MN_CLOSED_MAX], *k;
  int done = 0, m = c->count;
  MN_TRY(solve_solid(c, solve, user, res));
  memcpy(first, res, sizeof first);
  MN_TRY(check_still(c, res));
  if (all_within(c, res, FOUND))
    return MN_OK;
  MN_TRY(MN_PUSH(c->ctx, &c->arena, (size_t)m * (size_t)m, &k));
  for (int round = 0; round < ROUNDS && !done; round++) {
    int fresh = round > 0 || c->now.known == 0;
    if (!fresh)
      get_K(c, k);
    else if (round == 0 && c->boxes->solid.ops->accelerate)
      K_of_mass(c, k);
    else
      MN_TRY(K_of_differences(c, res, solve, user, k));
    MN_TRY(check_still(c, res)); /* with what the differences found jammed */
    MN_TRY(descend(c, solve, user, fresh, k, res, &done));
  }
  if (done || all_within(c, res, LEAST_FOUND))
    return check_forced(c, first);
  int worst = 0;
  for (int r = 0; r < m; r++)
    if (!mn_closed_idle(c, r) &&
        fabs(res[r]) / c->surface[r] > fabs(res[worst]) / c->surface[worst])
      worst = r;
  return mn_fail(c->ctx, MN_FAILED,
                 "the pressure of %d closed regions was not found in %d solves of the solid: the "
                 "surfaces of region %d still lie off by %.3g cells",
                 m, c->solves, c->info[worst].id, res[worst] * c->dt / (c->surface[worst] * c->dx));
}

/* One correction, as published. */
static mn_status correct(mn_closed *c, mn_closed_solve *solve, void *user)
{
  double res[MN_CLOSED_MAX], dp[MN_CLOSED_MAX], left[MN_CLOSED_MAX], *k;
  MN_TRY(MN_PUSH(c->ctx, &c->arena, (size_t)c->count * (size_t)c->count, &k));
  MN_TRY(solve_solid(c, solve, user, res));
  if (c->form == MN_CLOSED_FLUID)
    MN_TRY(K_of_fluid(c, k));
  else if (c->boxes->solid.ops->accelerate)
    K_of_mass(c, k);
  else if (c->now.known != 0)
    get_K(c, k);
  else {
    MN_TRY(K_of_differences(c, res, solve, user, k));
    set_K(c, k);
    MN_TRY(solve_solid(c, solve, user, res)); /* the last solve is the one that counts */
  }
  MN_TRY(mn_closed_solve_small(c, k, res, dp, left));
  for (int r = 0; r < c->count; r++)
    c->now.p0[c->slot[r]] += dp[r];
  return MN_OK;
}

mn_status mn_closed_find(mn_closed *c, mn_closed_solve *solve, void *user)
{
  if (!c->count || c->form == MN_CLOSED_NONE)
    return solve(user);
  mn_arena_mark mark = mn_arena_save(&c->arena);
  mn_status status =
      c->form == MN_CLOSED_ELIMINATED ? eliminate(c, solve, user) : correct(c, solve, user);
  mn_arena_reset(&c->arena, mark);
  return status;
}
