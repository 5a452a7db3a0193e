/* How failures travel: a status up the call chain, the sentence in the context. */
#ifndef MN_BASE_STATUS_H
#define MN_BASE_STATUS_H

#include "meniscus/base.h"

/* Records the sentence and returns `status`, so that a caller writes return mn_fail(...). */
mn_status mn_fail(mn_context *ctx, mn_status status, const char *format, ...) MN_PRINTF(3, 4);
/* Puts "format: " in front of the sentence already there. */
mn_status mn_fail_prefix(mn_context *ctx, mn_status status, const char *format, ...)
    MN_PRINTF(3, 4);
void mn_log(const mn_context *ctx, mn_log_level level, const char *format, ...) MN_PRINTF(3, 4);

#define MN_TRY(call)                                                                               \
  do {                                                                                             \
    mn_status mn_try_status = (call);                                                              \
    if (mn_try_status != MN_OK)                                                                    \
      return mn_try_status;                                                                        \
  } while (0)

/* The same where something must be undone first: sets `status` and jumps. */
#define MN_TRY_GOTO(status, call, label)                                                           \
  do {                                                                                             \
    (status) = (call);                                                                             \
    if ((status) != MN_OK)                                                                         \
      goto label;                                                                                  \
  } while (0)

#endif
