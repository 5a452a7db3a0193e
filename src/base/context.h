/* The inside of a context. */
#ifndef MN_BASE_CONTEXT_H
#define MN_BASE_CONTEXT_H

#include "base/exec.h"
#include "meniscus/base.h"

#define MN_MESSAGE_MAX 4096

struct mn_context {
  mn_exec exec;
  size_t memory_limit;
  mn_log_fn *log;
  void *log_user;
  const volatile int *interrupted;
  char message[MN_MESSAGE_MAX];
  int64_t fail_allocation; /* tests: the allocation with this number fails; 0: none */
  int64_t allocations;     /* how many were made */
};

#endif
