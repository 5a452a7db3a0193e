/* Benches: each prints rows of measured numbers beside what was published or is aimed at. */
#ifndef APP_BENCH_H
#define APP_BENCH_H

#include "app.h"

typedef struct app_bench_run {
  const app_args *args;
  int full, json;
  const char *name;
  int rows, judged, held; /* numbers: all, with a bound, within it */
} app_bench_run;

typedef enum app_bound { APP_AT_MOST, APP_AT_LEAST } app_bound;

/* One number; `source` is "target" or "published". */
void app_bench_row(app_bench_run *run, const char *row, const char *column, double measured,
                   const char *source, app_bound bound, double reference);

/* A number beside a published one, with a bound of its own. */
typedef struct app_bench_number {
  double measured;  /* infinite: it could not be measured because a solve failed */
  double published; /* 0: none; infinite: failed there as well */
  app_bound bound;
  double reference; /* 0: nothing is demanded */
} app_bench_number;
void app_bench_compare(app_bench_run *run, const char *row, const char *column,
                       app_bench_number number);

/* A scene run for a bench, without files: until a time or, if that is 0, for a number of substeps.
   A simulation that cannot go on is a result, not an error. */
typedef struct app_bench_job {
  const char *scene;
  const char *text; /* of the scene, or NULL: the one that `scene` names */
  const mn_setting *settings;
  int count;
  double until; /* s */
  int substeps;
  int threads; /* 0: as asked for */
  int strict;  /* 1: a substep that diverged and was retried counts as failed, too */
  void (*each)(void *user, const mn_world *world, const mn_step_info *info); /* after a substep;
                   before the first one with info NULL. May be NULL */
  void *user;
  /* what came of it */
  int failed, steps;
  char reason[512]; /* why it failed */
} app_bench_job;
/* The exit status to leave with, or 0. */
int app_bench_scene(const app_bench_run *run, app_bench_job *job);

typedef struct app_bench_entry {
  const char *name, *text;
  const char *takes;              /* about, on two idle cores */
  int (*run)(app_bench_run *run); /* exit status */
} app_bench_entry;

int app_bench_pressure(app_bench_run *run);
int app_bench_lcp(app_bench_run *run);
int app_bench_lai(app_bench_run *run); /* the table of its name */
int app_bench_solid_newton(app_bench_run *run);
int app_bench_akbay_cloth(app_bench_run *run);    /* table 2.1 */
int app_bench_akbay_gain(app_bench_run *run);     /* table 2.2 */
int app_bench_akbay_balloon(app_bench_run *run);  /* figure 2.11 */
int app_bench_akbay_time(app_bench_run *run);     /* table 2.4 */
int app_bench_closed(app_bench_run *run);         /* chapter 4 */
int app_bench_closed_balloon(app_bench_run *run); /* figures 2.6 and 2.12 */
int app_bench_chentanez(app_bench_run *run);
int app_bench_monolithic_cost(app_bench_run *run);

#endif
