/* The tables of chapter 6 of [Lai 2021] as data. */
#ifndef APP_BENCH_LAI_H
#define APP_BENCH_LAI_H

enum { LAI_SIZES = 4, LAI_SOLVERS = 8 };
extern const int lai_sizes[LAI_SIZES]; /* cells a side */

typedef enum lai_number {
  LAI_ITERATIONS, /* per equation, over 100 frames */
  LAI_OUTER,      /* the same, linear systems */
  LAI_SECONDS,    /* the same, wall time */
  LAI_AT_FRAME,   /* iterations of the first substep of a frame */
  LAI_ABLATIONS   /* the same, of fas and its variants */
} lai_number;

typedef struct lai_column {
  const char *solver;          /* its name here; NULL closes a list shorter than LAI_SOLVERS */
  double published[LAI_SIZES]; /* 0: not given; LAI_DIVERGED */
} lai_column;
#define LAI_DIVERGED (-1.0)

typedef struct lai_table {
  const char *name;
  const char *group; /* tables of one simulation, which can be measured at once */
  const char *scene;
  int dim;
  lai_number number;
  int frame; /* of LAI_AT_FRAME and LAI_ABLATIONS */
  lai_column column[LAI_SOLVERS];
} lai_table;

extern const lai_table lai_tables[]; /* closed by a row of zeros */

#endif
