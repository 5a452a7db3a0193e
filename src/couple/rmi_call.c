/* Calls of the two solvers, which are strangers: they may fail, answer with NaN, write too little
   or too much. An answer is written to a buffer of its own, filled before with a NaN that no
   calculation makes and followed by guards, and taken over only when every number is finite.
   Verified by tests/unit/couple/test_rmi_misuse.c. */
#include "couple/rmi_internal.h"

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

static void prepare(mn_rmi *rmi, size_t size)
{
  fill(rmi->answer, size, UNWRITTEN);
  fill(rmi->answer + size, MN_RMI_GUARD, GUARD);
  rmi->ctx->message[0] = 0; /* so that a sentence found afterwards is the solver's */
}

static mn_status check(mn_rmi *rmi, mn_status status, const char *who, const char *what, int nth,
                       size_t size)
{
  mn_context *ctx = rmi->ctx;
  if (status != MN_OK) {
    if (ctx->message[0])
      return mn_fail_prefix(ctx, status, "the %s's solve %d of the substep", who, nth);
    return mn_fail(ctx, status, "the %s's solve %d of the substep failed with status %d", who, nth,
                   (int)status);
  }
  for (size_t i = 0; i < MN_RMI_GUARD; i++)
    if (bits_of(rmi->answer[size + i]) != GUARD)
      return mn_fail(ctx, MN_FAILED,
                     "the %s's solve %d of the substep wrote beyond its %zu numbers of %s", who,
                     nth, size, what);
  for (size_t i = 0; i < size; i++) {
    if (bits_of(rmi->answer[i]) == UNWRITTEN)
      return mn_fail(ctx, MN_FAILED,
                     "the %s's solve %d of the substep did not write %s[%zu] of %zu numbers", who,
                     nth, what, i, size);
    if (!isfinite(rmi->answer[i]))
      return mn_fail(ctx, MN_FAILED, "the %s's solve %d of the substep: %s[%zu] of %zu is %g", who,
                     nth, what, i, size, rmi->answer[i]);
  }
  return MN_OK;
}

mn_status mn_rmi_call_fluid(mn_rmi *rmi, const mn_rmi_solvers *with, int nth)
{
  size_t size = rmi->def.p_size;
  prepare(rmi, size);
  mn_status status = with->fluid(with->fluid_user, rmi->x_f, rmi->answer);
  MN_TRY(check(rmi, status, "fluid", "p", nth, size));
  memcpy(rmi->p_f, rmi->answer, size * sizeof(double));
  return MN_OK;
}

mn_status mn_rmi_call_solid(mn_rmi *rmi, const mn_rmi_solvers *with, int nth)
{
  size_t size = rmi->def.x_size;
  prepare(rmi, size);
  mn_status status = with->solid(with->solid_user, rmi->p_s, rmi->x_f, rmi->answer);
  MN_TRY(check(rmi, status, "solid", "x", nth, size));
  memcpy(rmi->x_s, rmi->answer, size * sizeof(double));
  return MN_OK;
}
