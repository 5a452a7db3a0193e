/* A running simulation: the state of everything in a model, advanced one substep at a time. */
#ifndef MENISCUS_WORLD_H
#define MENISCUS_WORLD_H

#include "meniscus/box.h"
#include "meniscus/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_world mn_world;

/* One substep as it was taken. Times are wall seconds. */
typedef struct mn_step_info {
  int64_t step;
  double time, dt;
  int coupling_iterations;  /* fluid solves; 1 without a coupling */
  double coupling_residual; /* m, by which the interface moved in the last one */
  int modes;                /* of the coupling's reduced model */
  int retries;              /* how often the step was rolled back and halved, */
  int capped, diverged;     /* and of these because the coupling met its limit, or diverged */
  int handed_over;          /* 1: contact did not settle in the one system, and xpm finished it;
                               of xpm: it found no agreement, and the one system did */
  double imbalance;         /* N, total force that the bodies felt less that of the fluid */
  mn_solve_report pressure;
  double fluid_s, solid_s, couple_s, other_s;
  double kinetic_energy;                           /* J */
  double fluid_volume;                             /* m^3; of water under its surface, with spray */
  double particle_volume;                          /* m^3, of the particles that carry water */
  double volume_mended;                            /* m^3, put back under a level set's surface */
  double smoke_total;                              /* m^3 */
  mn_vec3 momentum;                                /* kg m/s, of the fluid */
  mn_solve_report solid;                           /* of the bodies */
  double body_kinetic_energy, body_elastic_energy; /* J; links and springs are elastic */
  double body_potential_energy;                    /* J, of weight */
  mn_vec3 body_momentum;                           /* kg m/s */
  mn_vec3 body_angular;                            /* kg m^2/s, about the origin */
  int closed_regions;                              /* of fluid, among bodies */
  mn_region_info region[MN_REGIONS_MAX];
} mn_step_info;

/* The model is borrowed and must outlive the world. */
MN_MUST_CHECK mn_status mn_world_create(mn_context *ctx, const mn_model *model, mn_world **world);
void mn_world_destroy(mn_world **world);

/* Advances by one substep that does not pass `until`. A substep that fails is rolled back and
   retried with half the step, at most 6 times; then MN_FAILED, the last good state intact, and of
   *info only retries, capped and diverged. */
MN_MUST_CHECK mn_status mn_world_step(mn_world *world, double until, mn_step_info *info);
/* Substeps until the time of the next frame. */
MN_MUST_CHECK mn_status mn_world_next_frame(mn_world *world);

double mn_world_time(const mn_world *world);
int64_t mn_world_steps(const mn_world *world);
int mn_world_frame(const mn_world *world); /* frames completed; 0 at the start */
uint64_t mn_world_hash(mn_world *world);   /* of the whole state */
/* Value of the model's probe now; NaN if there is no such probe. */
double mn_world_probe(const mn_world *world, int probe);

/* Name of the method that couples fluid and bodies, NULL if there are not both. If the scene says
   "auto": what was picked, and *why (may be NULL) as half a sentence; else *why is "". */
const char *mn_world_coupling(const mn_world *world, const char **why);

/* A checkpoint is a folder of .npy arrays and a manifest; written under another name, synced, then
   renamed, so that a folder under its final name is always whole. */
MN_MUST_CHECK mn_status mn_world_save(mn_world *world, const char *folder);
MN_MUST_CHECK mn_status mn_world_load(mn_world *world, const char *folder);

#ifdef __cplusplus
}
#endif
#endif
