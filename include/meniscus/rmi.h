/* The partitioned iteration alone: finds where two solvers agree, seeing nothing of them but
   vectors.

       fluid: p = F(x)        solid: x = S(p)        wanted: x = S(F(x))

   x are displacements or positions of an interface, p the loads on it; any two models will do. A
   substep, with def, x_start, x and p the caller's:

       mn_rmi_step(rmi, dt, x_start, fluid, fluid_user, solid, solid_user, x, p, &report);
       report.reason == MN_CONVERGED ? accept both solvers' last solve, mn_rmi_accept(rmi)
                                     : roll both back, mn_rmi_reject(rmi), try a shorter dt

   One iteration is one fluid solve. Objects are independent of each other; one is used by one
   caller at a time. examples/rmi_alone.c is a whole program, docs/theory/rmi.md the algebra. */
#ifndef MENISCUS_RMI_H
#define MENISCUS_RMI_H

#include "meniscus/base.h"
#include "meniscus/box.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mn_rmi_method {
  MN_RMI_RELAXED, /* x <- x + omega (S(F(x)) - x) */
  MN_RMI_AITKEN,  /* the same, omega from the last two residuals */
  MN_RMI_REDUCED  /* reduced Jacobians of both solvers from what they answered, solved together */
} mn_rmi_method;

/* How near-dependent differences are left out of a reduced Jacobian. */
typedef enum mn_rmi_columns {
  MN_RMI_NEWEST, /* newest first: a column whose part orthogonal to newer ones is small goes */
  MN_RMI_PIVOTED /* QR with column pivoting, cut at rounding: the published method */
} mn_rmi_columns;

/* Which loads the solid gets after a fluid solve at x. */
typedef enum mn_rmi_loads {
  MN_RMI_LOADS_OF_FLUID, /* F(x), unchanged: what leaves the fluid arrives in the solid */
  MN_RMI_LOADS_OF_MODEL /* the reduced model's guess of the converged loads: the published method */
} mn_rmi_loads;

enum { MN_RMI_GUESS = -1 }; /* predictor: x holds the caller's guess when a step starts */

typedef struct mn_rmi_def {
  size_t x_size, p_size; /* numbers in x and in p */
  mn_rmi_method method;
  double tolerance;     /* greatest entry of S(p) - x (and with loads of the model of the change
                           of S(p)), times x_weight: in its unit */
  int max_iterations;   /* fluid solves in a substep, at most */
  int least_iterations; /* and at least; 1: one may do, if its residual is below the tolerance */
  int predictor;        /* order in time of the first x: 0, 1, 2, or MN_RMI_GUESS */
  double omega;    /* relaxed: the factor. aitken: that of the first iteration. reduced: of what
                      no column describes; 0: estimated */
  int reuse;       /* reduced: earlier substeps whose columns still count; 0: none */
  int max_columns; /* of each solver, in all */
  double filter;   /* of columns of earlier substeps: the orthogonal part that a column needs,
                      as a fraction of it */
  double filter_current; /* the same for columns of this substep */
  mn_rmi_columns columns;
  mn_rmi_loads loads;
  double dt_power; /* p that answers a given x grows like dt^-dt_power: 2 for forces of inertia,
                      1 for their impulses. Columns of another dt are scaled by it */
  const double *x_weight; /* [x_size] > 0, copied; NULL: 1. Balances entries of unlike units */
  const double *p_weight; /* [p_size] > 0, copied; NULL: 1 */
  int accept_unconverged; /* 1: mn_rmi_accept also takes a substep that met the iteration limit */
} mn_rmi_def;

/* Reduced, with reuse; x_size, p_size and tolerance must still be set. */
mn_rmi_def mn_rmi_def_default(void);
/* Algorithm 1 as published: no reuse, pivoted QR, loads of the model, two start solves. */
mn_rmi_def mn_rmi_def_published(void);

/* Writes all of p. Called any number of times in a substep, always from the state at its start. */
typedef mn_status mn_rmi_fluid_fn(void *user, const double *x, double *p);
/* Writes all of x. x_at: the x of the last fluid solve, where p acts. The reduced model takes x for
   a function of p alone: a term that depends on x_at (a fictitious mass) belongs into p. */
typedef mn_status mn_rmi_solid_fn(void *user, const double *p, const double *x_at, double *x);

typedef struct mn_rmi_report {
  mn_reason reason;
  int iterations; /* = fluid_solves */
  int fluid_solves, solid_solves;
  int fluid_columns, solid_columns; /* in the last reduced system; their smaller one = modes */
  int modes;
  int dropped;           /* columns left out of it by the filters */
  double first_residual; /* max |S(p) - x| after the first pair of solves */
  double residual;       /* after the last: never relaxed, p as the solid used it */
  double change;         /* max |S(p) - S(p) where the last step started from| */
  double load_gap;       /* max |p of the solid - F(x)|: 0 with MN_RMI_LOADS_OF_FLUID */
  double mu;             /* greatest amplification |S(F(x))| / |x| seen: added mass over mass */
  double omega;          /* the last factor used */
} mn_rmi_report;

typedef struct mn_rmi mn_rmi;

/* `ctx` must outlive the object; it keeps the sentences of failures. */
MN_MUST_CHECK mn_status mn_rmi_create(mn_context *ctx, const mn_rmi_def *def, mn_rmi **rmi);
void mn_rmi_destroy(mn_rmi **rmi);

/* One substep of length dt from x_start. MN_OK whatever report.reason is; when it is MN_CONVERGED
   or MN_ITERATION_LIMIT, x is the solid's last answer and p the loads it was given, and the last
   calls of both solvers belong to them; else x and p are as they were. A solver that fails, or
   answers with what is no finite number, or writes fewer or more numbers than agreed: its status or
   MN_FAILED, with a sentence; x and p and the history as they were, report.reason MN_DIVERGED.
   `report` may be NULL. */
MN_MUST_CHECK mn_status mn_rmi_step(mn_rmi *rmi, double dt, const double *x_start,
                                    mn_rmi_fluid_fn *fluid, void *fluid_user,
                                    mn_rmi_solid_fn *solid, void *solid_user, double *x, double *p,
                                    mn_rmi_report *report);
/* Another tolerance from the next step on; > 0. */
void mn_rmi_set_tolerance(mn_rmi *rmi, double tolerance);
/* Before any step was accepted: by how much x would move in dt if it went on as it starts. What the
   predictor of the first step goes by; without it x is taken to start from rest. */
void mn_rmi_set_first_move(mn_rmi *rmi, double dt, const double *move);
/* After every step one of these. Accept: the substep stands, its columns and motion are kept.
   MN_FAILED if it did not converge (see accept_unconverged). Reject: it was undone; all columns are
   forgotten. */
MN_MUST_CHECK mn_status mn_rmi_accept(mn_rmi *rmi);
void mn_rmi_reject(mn_rmi *rmi);

/* The residuals of the iterations of the last step, first to last. */
const double *mn_rmi_residuals(const mn_rmi *rmi, int *count);
/* The history, for checkpoints: of an accepted or rejected step, not in between. Fills at most
   `capacity` entries and returns how many there are; shapes are fixed by the def. Written into
   another object of the same def, they make it go on with the same bits. */
int mn_rmi_arrays(mn_rmi *rmi, mn_array *arrays, int capacity);

#ifdef __cplusplus
}
#endif
#endif
