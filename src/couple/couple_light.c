/* Bodies lighter than the fluid that moves with them: what the iteration must ask of itself, and of
   the fluid.

   Fictitious mass hides errors: an error of the solid's answer is at most m/m_s times the residual,
   m the mass lent and m_s the solid's own. So light bodies need smaller residuals
   (mn_couple_allow).

   Water that can leave rigid bodies makes F a function with kinks, which secants do not see, and a
   small residual of a short substep may be a large velocity: a raft at rest was thrown up at 2 m/s
   by an error of 0.04 cells in 2 ms. There they may be off by their part of the tolerance in the
   time in which they would fall through a cell, not in each substep (mn_couple_is_calm), and
   fictitious mass may hold but a part of what moves them: a light ball in the air, lent what a
   floating plank needs, hung there. Not bodies that bend: cloth that flutters comes no closer.

   Of bodies that are too light for what the fluid lacks (mn_fluid_ops.lacking; boxes_light.c) the
   fluid is asked to do without masses below 0.
   Verified by tests/verify/test_light_bodies.c. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "couple/couple_internal.h"
#include "couple/rmi_tune.h"
#include "math/vec.h"

/* An error of the solid's answer is at most m/m_s times the residual: that much of motions which
   the fluid does not resist is held by the fictitious mass m in place of the inertia m_s. Waves on
   cloth, be they short, meet some resistance, or bend it: more than 1/STRICTEST was not seen, and
   no more than SEEN of the bound where bodies are not light. Rigid ones have few motions, which the
   secants know: STRICT. MOST in any case. Of bodies that are light (m_s below
   LIGHT of m) the reduced model must not promise to change more than PROMISE of the tolerance; of
   the lightest, old columns must be newer than others to count: what is wrong with them comes back
   as motions that hardly show. */
static const double STRICTEST = 0.0125, STRICT = 0.25, SEEN = 0.8, MOST = 0.4, LIGHT = 0.25,
                    PROMISE = 0.5, FILTER_LIGHTEST = 0.4;
/* Rigid bodies in water: part of the fluid's load, or of inertia, that fictitious mass may hold; of
   the allowed gap where there is neither. */
static const double BALANCE = 0.1, FLOOR = 0.2;

/* The sums of the body of a point; a plug-in's numbers of bodies may be any. */
static double *sums_of(const mn_coupling *c, size_t point)
{
  size_t body = (size_t)c->boxes.face.body[point];
  return c->of_body + SUMS * (body < c->bodies ? body : body % c->bodies);
}

/* ---- inertia --------------------------------------------------------------------------------- */

void mn_couple_measure_inertia(mn_coupling *c)
{
  const mn_interface *f = &c->boxes.face;
  size_t dim = (size_t)f->dim;
  memset(c->of_body, 0, SUMS * c->bodies * sizeof *c->of_body);
  for (size_t i = 0; i < f->count; i++) {
    mn_vec3 move = mn_sub(f->X[i], c->from[i]);
    double *sum = sums_of(c, i);
    double square = mn_dot(move, move);
    for (size_t a = 0; a < dim; a++)
      sum[0] += (c->p_now[dim * i + a] - c->push[dim * i + a]) * move.v[a] * c->dt * c->dt;
    sum[0] -= c->mass[i] * square;
    sum[1] += c->area[i] * square;
    sum[2] += c->area[i];
    sum[3] += f->rigid[i];
  }
  double least = 1e-6 * c->dx; /* as of the added mass */
  for (size_t b = 0; b < c->bodies; b++) {
    const double *sum = c->of_body + SUMS * b;
    double *of = &c->inertia[sum[3] > 0];
    if (sum[1] > least * least * sum[2] && sum[0] > 0) /* not where bodies push each other */
      *of = fmin(*of, sum[0] / sum[1]);
  }
}

double mn_couple_inertia(const mn_coupling *c, int rigid)
{
  double lately = c->numbers[NUMBERS_INERTIA + rigid];
  return fmin(c->inertia[rigid], lately > 0 ? lately : INFINITY);
}

/* ---- how far off ------------------------------------------------------------------------------
 */

void mn_couple_allow(mn_coupling *c)
{
  double strict = 1, filter = c->def.filter, part[2] = {INFINITY, INFINITY};
  if (!c->rmi)
    return;
  if (c->def.mass == MN_MASS_FITTED) {
    for (int rigid = 0; rigid < 2 && c->sum_mass > 0; rigid++) /* m_s/m */
      part[rigid] = mn_couple_inertia(c, rigid) * c->sum_area / c->sum_mass;
    strict = isfinite(part[0]) ? fmin(MOST, fmax(STRICTEST, part[0])) : STRICT;
    if (isfinite(part[0]) && part[0] >= LIGHT)
      strict = fmin(MOST, part[0] / SEEN);
    if (isfinite(part[1]))
      strict = fmin(strict, STRICT);
    if (strict <= STRICTEST)
      filter = fmax(filter, FILTER_LIGHTEST);
  }
  c->allowed = strict * c->share * c->def.tolerance * c->dx;
  mn_rmi_set_tolerance(c->rmi, c->allowed);
  double promise = fmin(part[0], part[1]) < LIGHT ? PROMISE : 0;
  if (!isfinite(part[0]))
    promise *= c->calm;
  mn_rmi_set_promise(c->rmi, promise / strict);
  mn_rmi_set_filter(c->rmi, filter);
}

/* m, of rigid bodies in water. */
static double calm_gap(const mn_coupling *c)
{
  return STRICT * c->calm * c->share * c->def.tolerance * c->dx;
}

double mn_couple_rigid_gap(const mn_coupling *c)
{
  const mn_interface *f = &c->boxes.face;
  double most = 0;
  for (size_t i = 0; i < f->count; i++)
    for (int a = 0; a < f->dim && f->rigid[i]; a++)
      most = fmax(most, fabs(f->X[i].v[a] - c->place[i].v[a]));
  return most;
}

/* kg of each rigid body, along the axis that it gives way to most; found once. */
static mn_status weigh_bodies(mn_coupling *c)
{
  mn_interface *f = &c->boxes.face;
  if (c->numbers[NUMBERS_WEIGHED] > 0 || !c->boxes.solid.ops->accelerate)
    return MN_OK;
  memcpy(c->load, f->load, f->count * sizeof *f->load);
  memcpy(c->kept_V, f->V, f->count * sizeof *f->V);
  memset(c->inverse_mass, 0, c->bodies * sizeof *c->inverse_mass);
  mn_status status = MN_OK;
  for (int axis = 0; axis < f->dim && status == MN_OK; axis++) {
    memset(c->of_body, 0, SUMS * c->bodies * sizeof *c->of_body);
    for (size_t i = 0; i < f->count; i++) {
      f->load[i] = mn_v3(0, 0, 0);
      f->load[i].v[axis] = f->area[i];
    }
    status = mn_boxes_accelerate(&c->boxes);
    for (size_t i = 0; i < f->count && status == MN_OK; i++) {
      double *sum = sums_of(c, i);
      sum[0] += f->area[i];
      sum[1] += f->area[i] * fabs(f->V[i].v[axis]);
    }
    for (size_t b = 0; b < c->bodies && status == MN_OK; b++) { /* of forces like areas */
      const double *sum = c->of_body + SUMS * b;
      if (sum[0] > 0)
        c->inverse_mass[b] = fmax(c->inverse_mass[b], sum[1] / (sum[0] * sum[0]));
    }
  }
  memcpy(f->load, c->load, f->count * sizeof *f->load);
  memcpy(f->V, c->kept_V, f->count * sizeof *f->V);
  c->numbers[NUMBERS_WEIGHED] = status == MN_OK;
  return status;
}

/* No point of a rigid body is off by more than the calm gap, and what fictitious mass still holds
   of each of these bodies is little beside what the fluid does to it, or beside how it leaves its
   straight way. */
static int is_balanced(const mn_coupling *c)
{
  const mn_interface *f = &c->boxes.face;
  double square = c->dt * c->dt, gap = calm_gap(c);
  memset(c->of_body, 0, SUMS * c->bodies * sizeof *c->of_body);
  for (size_t i = 0; i < f->count; i++) {
    double *sum = sums_of(c, i);
    if (!f->rigid[i])
      continue;
    mn_vec3 bent = mn_sub(mn_sub(f->X[i], c->start[i]), mn_scale(c->dt, c->V_start[i]));
    mn_vec3 off = mn_sub(f->X[i], c->place[i]);
    if (fmax(fabs(off.x), fmax(fabs(off.y), fabs(off.z))) > gap)
      return 0;
    sum[0] += c->mass[i] * mn_length(off);
    for (int a = 0; a < f->dim; a++)
      sum[1 + a] += square * c->load[i].v[a];
    sum[4] = fmax(sum[4], mn_dot(bent, bent));
  }
  for (size_t b = 0; b < c->bodies; b++) {
    const double *sum = c->of_body + SUMS * b;
    double per_mass = c->inverse_mass[b], load = mn_length(mn_v3(sum[1], sum[2], sum[3]));
    double moved = fmax(per_mass * load, sqrt(sum[4]));
    if (per_mass * sum[0] > BALANCE * moved + FLOOR * gap)
      return 0;
  }
  return 1;
}

int mn_couple_is_calm(void *user)
{
  mn_coupling *c = user;
  return c->numbers[NUMBERS_WEIGHED] > 0 ? is_balanced(c) : mn_couple_rigid_gap(c) <= calm_gap(c);
}

double mn_couple_allowed(mn_coupling *c)
{
  return c->calm < 1 && !mn_couple_is_calm(c) ? fmin(c->allowed, calm_gap(c)) : c->allowed;
}

/* ---- masses below 0 -------------------------------------------------------------------------- */

mn_status mn_couple_spare_light(mn_coupling *c)
{
  mn_interface *f = &c->boxes.face;
  int any = 0;
  c->disturbed = 0;
  if (c->calm < 1)
    MN_TRY(weigh_bodies(c));
  if (c->mono || !c->boxes.fluid.ops->lacking)
    return MN_OK;
  MN_TRY(mn_boxes_lacking(&c->boxes, c->load, &any));
  if (!any)
    return MN_OK;
  int light;
  c->disturbed = c->boxes.solid.ops->accelerate != NULL;
  MN_TRY(mn_boxes_weigh(&c->boxes, c->load, c->dt, any == MN_LACKING_HELD, &light));
  f->positive = c->boxes.agreed.positive = light;
  return MN_OK;
}
