/* Walls that let go, 0 <= p perp slack >= 0 in the cells at them, by policy iteration (an active
   set that changes as a whole [Hintermueller 2002]): solve with p = 0 in the held cells; hold those
   with p < 0, let go of those whose slack is < 0; until nothing changes. What is eliminated, L + B
   K'^-1 B^T, is positive definite but no M-matrix, so that sets may come back: then one cell at a
   time is changed, the last that should, which always ends [Murty 1974].

   It is not even positive where K' is not: the fluid's mass at a face may be below 0, and more than
   a light body weighs, of which water lets go. The grid fluid has no such masses if asked
   (bear_light_bodies in monolithic.c). Where another one has, and no set is found, they are left
   out of the substep: the body then feels a little else than the fluid gave, and the report's
   imbalance says how much. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "couple/monolithic_internal.h"

/* Rounding of p, of its largest value. */
static const double P_ROUND_OFF = 1e-11;
enum { POLICY_MOST = 300, POLICY_BOLD = 30, POLICY_PATIENCE = 60, POLICY_REJOIN = 3 };

/* How many cells want to change; `last`: only the last of them does. */
static size_t change(mn_monolithic *m, int last)
{
  mn_mono_system *s = &m->s;
  double most = 0;
  size_t count = 0, one = 0;
  for (size_t i = 0; i < s->cells; i++)
    most = fmax(most, fabs(m->p[i]));
  for (size_t i = 0; i < s->cells; i++) {
    if (!s->fluid.bound[i])
      continue;
    int wants = s->held[i] ? m->slack[i] < -s->fluid.tolerance : m->p[i] < -P_ROUND_OFF * most;
    if (!wants)
      continue;
    count++;
    one = i;
    if (!last)
      s->held[i] = !s->held[i];
  }
  if (last && count)
    s->held[one] = !s->held[one];
  return count;
}

/* *found: 0 if sets did not settle. */
static mn_status settle(mn_monolithic *m, int most, int *found)
{
  mn_mono_system *s = &m->s;
  *found = 1;
  for (int k = 0; k < most; k++) {
    m->solves++;
    MN_TRY(mn_mono_solve(s, m->def.solver, m->p, m->v));
    if (!s->fluid.bound || s->lost)
      return MN_OK;
    mn_mono_slack(s, m->p, m->v, m->slack);
    if (!change(m, k >= POLICY_BOLD))
      return MN_OK;
    if (mn_mono_parted(s, k < POLICY_REJOIN)) /* else it might go round */
      MN_TRY(mn_mono_rebuild(m));
  }
  *found = 0;
  return MN_OK;
}

mn_status mn_mono_policy(mn_monolithic *m)
{
  int found;
  MN_TRY(settle(m, m->s.clipped ? POLICY_MOST : POLICY_PATIENCE, &found));
  if (found)
    return MN_OK;
  if (!m->s.clipped) {
    m->s.clipped = 1;
    m->s.held_known = 0;
    MN_TRY(mn_mono_rebuild(m));
    MN_TRY(settle(m, POLICY_MOST, &found));
  }
  return found ? MN_OK
               : mn_fail(m->ctx, MN_FAILED,
                         "the cells where water leaves walls were not found in %d coupled solves",
                         m->solves);
}
