/* The inside of a world. */
#ifndef MN_WORLD_WORLD_H
#define MN_WORLD_WORLD_H

#include "base/context.h"
#include "couple/couple.h"
#include "couple/pick.h"
#include "fluid/mac/mac.h"
#include "meniscus/world.h"
#include "world/bodies.h"
#include "world/plugin.h"

struct mn_model {
  mn_model_def def; /* owns its arrays and shapes */
};

/* Smoke or water, which live on the grid; neither nothing nor a plug-in. */
static inline int mn_fluid_on_grid(const mn_fluid_def *fluid)
{
  return fluid->kind == MN_FLUID_SMOKE || fluid->kind == MN_FLUID_WATER;
}

/* Every rule a def must keep; MN_BAD_INPUT names the key (model_check.c). */
MN_MUST_CHECK mn_status mn_model_check(mn_context *ctx, const mn_model_def *def);

/* Clock of a run; with the arrays of the solvers it is the whole state. */
typedef struct mn_clock {
  double time;
  int64_t step;
  int64_t frame; /* frames completed */
} mn_clock;

typedef struct mn_watch mn_watch;

struct mn_world {
  mn_context *ctx;
  const mn_model_def *def;
  mn_clock clock;
  int on_grid;           /* 1: the fluid is smoke or water, which have fields to look at */
  mn_fluid fluid;        /* ops NULL: there is none */
  mn_solid solid;        /* the same */
  mn_bodies *bodies;     /* behind `solid`; NULL: none */
  mn_coupling *coupling; /* of the two; NULL: one is missing */
  mn_coupling_def how;   /* def->coupling, or what was picked for "auto" */
  mn_coupling *rescue;   /* one system, for substeps in which xpm finds no agreement; NULL: none */
  char why[MN_WHY_MAX];  /* it was; "": it was not */
  mn_loaded *fluid_plugin, *solid_plugin; /* NULL: none */
  int told_handed_over, told_gap;         /* 1: it was warned of; work */
  int again;       /* times that this substep was done again since the fluid let go; work */
  int lost;        /* 1: a solver could not restore its state; there is none to save */
  mn_watch *watch; /* what was warned of; work */
  /* of the current state: work, measured once per substep */
  mn_mac_totals totals;
  mn_body_totals body_totals;
};

/* What probes measure is there (probe_check.c). */
MN_MUST_CHECK mn_status mn_check_probes(mn_context *ctx, const mn_model_def *def);
/* Keys of bodies that contradict each other or have no effect, and links (body_check.c). */
MN_MUST_CHECK mn_status mn_check_body_keys(mn_context *ctx, const mn_model_def *def);
/* Keys of the fluid that another key makes idle: a warning each. */
void mn_warn_idle_fluid_keys(mn_context *ctx, const mn_model_def *def);

/* Looks at a surface that can be seen in no other way: after every change of the state. */
MN_MUST_CHECK mn_status mn_world_look(mn_world *world);
/* Bodies that the fluid cannot see well (watch.c): those smaller than a cell, once a world is made,
   and those that leave the domain. A warning each. */
MN_MUST_CHECK mn_status mn_world_watch_start(mn_world *world);
void mn_world_watch(const mn_world *world);
void mn_world_watch_end(mn_world *world);
/* Measures both sides anew. */
void mn_world_measure(mn_world *world);

enum { MN_ARRAYS_MAX = 64 }; /* of all solvers of a world */

/* The arrays of the state, borrowed; returns how many. */
int mn_world_arrays(mn_world *world, mn_array arrays[MN_ARRAYS_MAX]);
size_t mn_array_bytes(const mn_array *array);
/* Hash of a clock and of arrays that need not be the world's own. */
uint64_t mn_state_hash(const mn_clock *clock, const mn_array *arrays, int count);

#endif
