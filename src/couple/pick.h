/* Which method a scene with coupling.method = "auto" gets. */
#ifndef MN_COUPLE_PICK_H
#define MN_COUPLE_PICK_H

#include "meniscus/box.h"
#include "meniscus/coupling.h"

enum { MN_WHY_MAX = 256 };

/* What counts of two sides. */
typedef struct mn_coupling_facts {
  const char *black_box; /* a side that only iterations can ask, "solid \"piston\""; NULL: none */
  int closed_regions;    /* of fluid, around which something gives way */
  double mu;             /* greatest added mass over mass of a body; NaN: not known */
  int dim;
  double cells;   /* of the fluid's grid */
  int separating; /* 1: water that can leave walls */
  int released;   /* 1: bodies are held at first, and let go later: mu says nothing of them */
  int direct;     /* 1: there is a sparse direct solver for one system of both sides */
} mn_coupling_facts;

/* The decision, and the reason as half a sentence. */
mn_coupling_method mn_coupling_pick(const mn_coupling_facts *facts, char why[MN_WHY_MAX]);

/* What the fluid is, as far as a guess of added masses needs it. */
typedef struct mn_surroundings {
  double density; /* kg/m^3 */
  mn_vec3 size;   /* m, of the domain */
  int cells[3];
  int separating;
} mn_surroundings;

/* Asks the boxes: begins a substep of `dt` from t = 0 in both, and solves nothing. Restore them
   afterwards. */
MN_MUST_CHECK mn_status mn_coupling_survey(mn_context *ctx, int dim, double spacing, double dt,
                                           const mn_surroundings *around, mn_fluid fluid,
                                           mn_solid solid, mn_coupling_facts *facts);

#endif
