/* The inside of a world. */
#ifndef MN_WORLD_WORLD_H
#define MN_WORLD_WORLD_H

#include "base/context.h"
#include "fluid/mac/mac.h"
#include "meniscus/world.h"

struct mn_model {
  mn_model_def def; /* owns its arrays and shapes */
};

/* Clock of a run; with the arrays of the solvers it is the whole state. */
typedef struct mn_clock {
  double time;
  int64_t step;
  int64_t frame; /* frames completed */
} mn_clock;

struct mn_world {
  mn_context *ctx;
  const mn_model_def *def;
  mn_clock clock;
  mn_fluid fluid;
};

#endif
