/* Calls of the two solvers, which are strangers: they may fail, answer with NaN, write too little
   or too much. They write to an array that is filled with a NaN that no calculation makes and
   followed by guards, and the step goes on only if every number is finite. Inside, every x and p is
   times its weights; the solvers see neither.
   Verified by tests/unit/couple/test_rmi_misuse.c. */
#include "couple/rmi_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/status.h"

static const uint64_t UNWRITTEN = 0x7ff8a5c31e96d2b4u; /* a quiet NaN with a payload of its own */
static const uint64_t GUARD = 0x7e37e43c8800759cu;     /* about 1e300: finite, never by chance */

static void fill(double *at, size_t count, uint64_t bits)
{
  for (size_t i = 0; i < count; i++)
    memcpy(&at[i], &bits, sizeof bits);
}

static uint64_t bits_of(double number)
{
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}

void mn_rmi_weigh(size_t n, const double *weight, const double *from, double *to)
{
  for (size_t i = 0; i < n; i++)
    to[i] = weight ? weight[i] * from[i] : from[i];
}

void mn_rmi_unweigh(size_t n, const double *weight, const double *from, double *to)
{
  for (size_t i = 0; i < n; i++)
    to[i] = weight ? from[i] / weight[i] : from[i];
}

/* What a solver is given: v itself, or v without weights in `copy`. */
static const double *plain(size_t n, const double *weight, const double *v, double *copy)
{
  if (!weight)
    return v;
  mn_rmi_unweigh(n, weight, v, copy);
  return copy;
}

static void prepare(mn_rmi *rmi, double *answer, size_t size)
{
  if (!rmi->trusted) {
    fill(answer, size, UNWRITTEN);
    fill(answer + size, MN_RMI_GUARD, GUARD);
  }
  rmi->ctx->message[0] = 0; /* so that a sentence found afterwards is the solver's */
}

/* What it wrote is as agreed and finite. */
static mn_status check(mn_rmi *rmi, const double *answer, const char *who, const char *what,
                       int nth, size_t size)
{
  mn_context *ctx = rmi->ctx;
  int finite = 1;
  if (rmi->trusted)
    return MN_OK;
  for (size_t i = 0; i < MN_RMI_GUARD; i++)
    if (bits_of(answer[size + i]) != GUARD)
      return mn_fail(ctx, MN_FAILED,
                     "the %s's solve %d of the substep wrote beyond its %zu numbers of %s", who,
                     nth, size, what);
  for (size_t i = 0; i < size; i++)
    finite &= fabs(answer[i]) <= DBL_MAX;
  for (size_t i = 0; i < size && !finite; i++) {
    if (bits_of(answer[i]) == UNWRITTEN)
      return mn_fail(ctx, MN_FAILED,
                     "the %s's solve %d of the substep did not write %s[%zu] of %zu numbers", who,
                     nth, what, i, size);
    if (!isfinite(answer[i]))
      return mn_fail(ctx, MN_FAILED, "the %s's solve %d of the substep: %s[%zu] of %zu is %g", who,
                     nth, what, i, size, answer[i]);
  }
  return MN_OK;
}

static mn_status blame(mn_rmi *rmi, mn_status status, const char *who, int nth)
{
  if (rmi->ctx->message[0])
    return mn_fail_prefix(rmi->ctx, status, "the %s's solve %d of the substep", who, nth);
  return mn_fail(rmi->ctx, status, "the %s's solve %d of the substep failed with status %d", who,
                 nth, (int)status);
}

mn_status mn_rmi_call_fluid(mn_rmi *rmi, const mn_rmi_solvers *with, int nth)
{
  size_t nx = rmi->def.x_size, np = rmi->def.p_size;
  prepare(rmi, rmi->p_f, np);
  const double *x = plain(nx, rmi->x_weight, rmi->x_f, rmi->given_x);
  mn_status status = with->fluid(with->fluid_user, x, rmi->p_f);
  if (status != MN_OK)
    return blame(rmi, status, "fluid", nth);
  MN_TRY(check(rmi, rmi->p_f, "fluid", "p", nth, np));
  if (rmi->p_weight)
    mn_rmi_weigh(np, rmi->p_weight, rmi->p_f, rmi->p_f);
  return MN_OK;
}

mn_status mn_rmi_call_solid(mn_rmi *rmi, const mn_rmi_solvers *with, int nth)
{
  size_t nx = rmi->def.x_size, np = rmi->def.p_size;
  prepare(rmi, rmi->x_s, nx);
  const double *x = plain(nx, rmi->x_weight, rmi->x_f, rmi->given_x);
  const double *p = plain(np, rmi->p_weight, rmi->p_s, rmi->given_p);
  mn_status status = with->solid(with->solid_user, p, x, rmi->x_s);
  if (status != MN_OK)
    return blame(rmi, status, "solid", nth);
  MN_TRY(check(rmi, rmi->x_s, "solid", "x", nth, nx));
  if (rmi->x_weight)
    mn_rmi_weigh(nx, rmi->x_weight, rmi->x_s, rmi->x_s);
  return MN_OK;
}
