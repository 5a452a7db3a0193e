/* The inside of mn_rmi. State is what mn_rmi_arrays lists; all else is fixed or scratch. */
#ifndef MN_COUPLE_RMI_INTERNAL_H
#define MN_COUPLE_RMI_INTERNAL_H

#include "base/memory.h"
#include "meniscus/rmi.h"

/* Differences of what one solver was given and what it answered, a pair per column, oldest first.
   There is room for max_columns of earlier substeps, some that are no longer in use (to move the
   others in every substep would cost more than all else) and all of a new one, so that a substep
   that fails leaves the earlier ones as they were. */
typedef struct mn_rmi_pairs {
  size_t in_size, out_size;
  int capacity;
  double *in,
      *out;        /* [capacity * size], a column after the other; p by patches, if there are any */
  double *x_short; /* [capacity * short size] x by patches; without, its array of the two above */
  int64_t *age;    /* [capacity] accepted substeps since: 0 of the running one */
  double *dt;      /* [capacity] s, of its substep: p answers x like dt^-power */
  int64_t *count;  /* into the object's counts; grows while a step runs */
} mn_rmi_pairs;

/* Inner products of columns: see rmi_columns.c. NULL with pivoting. */
typedef struct mn_rmi_products {
  size_t ld;
  double *all;               /* state, [4 * ld * ld]: */
  double *ff, *ss, *fs, *sf; /* [ld * ld] each */
  double *row;               /* [ld] */
} mn_rmi_products;

/* Entries of x and p in patches that inner products take for one; no arrays: each by itself. */
typedef struct mn_rmi_short {
  size_t x, p;                 /* patches */
  uint32_t *x_patch, *p_patch; /* [x_size], [p_size] */
  double *x_scale, *p_scale;   /* [patches] 1 over the root of the number of entries */
} mn_rmi_short;

/* Scalars of the state, as they stand in a checkpoint. */
enum { MN_RMI_FLUID_COUNT, MN_RMI_SOLID_COUNT, MN_RMI_MOVES, MN_RMI_COUNTS };
enum {
  MN_RMI_DT1,        /* s, of the last accepted substep */
  MN_RMI_DT2,        /* s, of the one before */
  MN_RMI_LAST_OMEGA, /* aitken: the last factor; 0: none yet */
  MN_RMI_REMAINDER,  /* reduced: 1 + mu of what no column described, in the first step of a substep;
                        0:  none yet */
  MN_RMI_REMAINDER_LATER, /* and in later ones */
  MN_RMI_NUMBERS
};

typedef struct mn_rmi_model mn_rmi_model;

struct mn_rmi {
  mn_context *ctx;
  mn_rmi_def def;
  double *x_weight, *p_weight; /* NULL: all 1. All vectors below are times these */
  mn_rmi_short shorter;
  double sure; /* one iteration will do whose residual is at most this */

  /* state */
  mn_rmi_pairs fluid, solid;
  mn_rmi_products products;
  int64_t count[MN_RMI_COUNTS];
  double number[MN_RMI_NUMBERS];
  double *move1, *move2; /* by how much x moved in the last two accepted substeps */

  /* the running step, which accept takes over */
  enum { MN_RMI_IDLE, MN_RMI_STEPPED } phase;
  mn_reason reason;
  double dt, last_omega, remainder[2];
  double longest; /* step of x^f so far */
  int64_t count_before[2]; /* columns of earlier substeps */
  int iterations;
  double *x_start;
  double *x_f, *p_f, *x_f_base, *p_f_base; /* the last fluid solve; where its x came from */
  double *p_s, *x_s, *p_s_base, *x_s_base; /* the last solid solve; that of the base. p_s is p_f
                                              itself unless loads are the model's */
  double *r, *r_base;                      /* S(p) - x */
  double first_omega, promise;             /* see rmi_tune.h */
  int patience;                            /* iterations, no more than def.max_iterations */
  int (*judge)(void *user);
  void *judge_user;
  int wary, trusted;
  double load_shift;         /* by how much x^s differs from the answer to p^f, in the model */
  double *residual;          /* [max_iterations] */
  double *given_x, *given_p; /* without weights, if there are any */
  mn_rmi_model *model;       /* reduced only */
};

/* One substep's calls: what mn_rmi_step was given. */
typedef struct mn_rmi_solvers {
  mn_rmi_fluid_fn *fluid;
  mn_rmi_solid_fn *solid;
  void *fluid_user, *solid_user;
} mn_rmi_solvers;

enum { MN_RMI_IDLE_COLUMNS = 16 };
enum { MN_RMI_GUARD = 8 }; /* numbers behind p_f and x_s that a solver must not touch */

/* Whatever least_iterations says, one iteration will do if its residual is at most that (and within
   the tolerance): what is only rounding, for one iteration alone is a weak coupling, and lets it
   grow that far. 0, as at first: never. */
void mn_rmi_set_sure(mn_rmi *rmi, double residual);

/* rmi_call.c: times the weights, or divided by them; NULL: all 1. */
void mn_rmi_weigh(size_t n, const double *weight, const double *from, double *to);
void mn_rmi_unweigh(size_t n, const double *weight, const double *from, double *to);
/* Solve once, check every number of p_f (x_s). `nth` of the substep. */
mn_status mn_rmi_call_fluid(mn_rmi *rmi, const mn_rmi_solvers *with, int nth);
mn_status mn_rmi_call_solid(mn_rmi *rmi, const mn_rmi_solvers *with, int nth);

#endif
