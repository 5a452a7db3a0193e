/* Worlds of coupled scenes for the verification tests. */
#ifndef MN_TESTS_WORLD_CASE_H
#define MN_TESTS_WORLD_CASE_H

#include "check.h"
#include "math/vec.h"
#include "world/world.h"

typedef struct world_case {
  mn_context *ctx;
  mn_model *model;
  mn_world *world;
  mn_step_info info; /* of the last step */
  mn_status status;
  /* over all steps */
  int steps, solves, most, retries;
  double imbalance; /* N */
} world_case;

/* A cloth across a jet of smoke, a little askew: were it symmetric, links would be met by both
   halves at once, and rounding would decide whose they are. Parameters: n (cells across), M (mass
   over that of 0.099 m of air), coupling, tolerance, load, omega, flow (m/s, of the jet). A frame
   is a substep.
 */
extern const char WORLD_CLOTH[];

/* `scene` is text; settings as of mn_scene_load_text. */
void world_open(world_case *c, const char *scene, const mn_setting *settings, int count,
                int threads);
void world_close(world_case *c);
/* A substep towards the next frame, at most; 0: it failed, c->status says how. */
int world_step(world_case *c);
/* J, of the fluid: the greatest in a run of the scene to t = `until`. */
double world_most_energy(const char *scene, const mn_setting *settings, int count, double until);

#endif
