/* run.json: what a run is of, how far it came, its totals and the worst value of its invariants. */
#ifndef MN_IO_RUN_RECORD_H
#define MN_IO_RUN_RECORD_H

#include "meniscus/world.h"

typedef enum mn_invariant {
  MN_WORST_DIVERGENCE, /* 1/s */
  MN_WORST_RESIDUAL,   /* of the pressure, in the unit of its right-hand side */
  MN_WORST_NET_FLOW,   /* m^3/s into a closed region */
  MN_WORST_VOLUME,     /* m^3, change of the fluid's volume since the start */
  MN_WORST_SUCTION,    /* Pa, pressure below 0 at a separating wall */
  MN_WORST_SQUEEZE,    /* 1/s, convergence of the flow at such a wall */
  MN_WORST_COMPLEMENTARITY,
  MN_WORST_COUPLING,  /* m, by which the interface still moved when a substep was accepted */
  MN_WORST_IMBALANCE, /* N, total force felt by the bodies less that of the fluid */
  MN_INVARIANTS
} mn_invariant;

typedef struct mn_worst {
  double value, time;
  int64_t step; /* 0: never measured */
} mn_worst;

/* Grows with every substep; kept in checkpoints, so that a resumed run has the same. */
typedef struct mn_record {
  int64_t steps, pressure_iterations, retries;
  int64_t coupling_iterations, most_iterations; /* of all substeps, of one */
  int64_t handed_over;                          /* substeps that xpm finished for one system, or it for xpm */
  int64_t capped, diverged;                   /* tries that the coupling did not bring to an end */
  double fluid_s, solid_s, couple_s, other_s; /* wall time of the phases */
  double wall_s;                              /* of earlier sessions */
  double first_volume; /* m^3; < 0: that after the first substep, which cuts bodies out */
  mn_worst worst[MN_INVARIANTS];
} mn_record;

void mn_record_add(mn_record *record, const mn_step_info *info);
/* The part of it that counts when the substep failed. */
void mn_record_tries(mn_record *record, const mn_step_info *info);
/* As JSON text, to be freed with mn_free, and back; what is missing there is 0. */
MN_MUST_CHECK mn_status mn_record_note(mn_context *ctx, const mn_record *record, double wall_s,
                                       char **note);
void mn_record_parse(const char *note, mn_record *record);

/* The settings that a resume needs. */
typedef struct mn_run_settings {
  char scene[MN_NAME_MAX];
  char folder[MN_PATH_MAX]; /* of mesh files, absolute; "" if none */
  char scene_hash[20];      /* of scene.lua; "" if there is none */
  char shapes_hash[20];     /* of the shapes, so that a changed mesh file is noticed */
  int frames;               /* where the run ends */
  double until;             /* s */
  char state[32];           /* running, done, interrupted, failed */
  double time;              /* s, when it was written */
  int param_count;
  mn_param *params; /* name and value; to be freed with mn_free */
} mn_run_settings;

typedef struct mn_run_status {
  const char *state;  /* as above */
  const char *reason; /* a sentence */
  int exit_status;
  double wall_s;
  int hash; /* include the state's hash */
} mn_run_status;

/* A fingerprint of all shapes: their distances at some fixed points of the domain. */
void mn_shapes_hash(const mn_model_def *def, char text[20]);

/* Rewrites DIRECTORY/run.json atomically. */
MN_MUST_CHECK mn_status mn_record_write(mn_context *ctx, const char *directory,
                                        const mn_run_settings *settings, const mn_record *record,
                                        mn_world *world, const mn_run_status *status);
/* MN_BAD_INPUT if DIRECTORY holds no run or a damaged run.json. */
MN_MUST_CHECK mn_status mn_settings_read(mn_context *ctx, const char *directory,
                                         mn_run_settings *settings);

#endif
