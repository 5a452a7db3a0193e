/* What the solvers of this folder know of a linear system: a symmetric M-matrix with one unknown
   per point of a box, coupled along the axes and divided by `scale`,

       (A x)_c = (sum of the couplings + excess) x_c - sum of coupling times neighbour.

   The scale is chosen so that nearly all cells are regular: all 2 dim couplings are 1 and the
   excess is that of the system (0 for the pressure). Regular cells need no stored numbers. */
#ifndef MN_PRESSURE_SYSTEM_H
#define MN_PRESSURE_SYSTEM_H

#include <math.h>

#include "grid/grid.h"
#include "meniscus/base.h"
#include "pressure/pressure.h"
#include "pressure/stencil.h"

enum { MN_DEAD, MN_REGULAR, MN_IRREGULAR }; /* dead: no unknown */

typedef struct mn_regions mn_regions;

/* Side s = 2 axis + (0 low, 1 high). */
typedef struct mn_system {
  int dim, n[3];
  double scale;  /* true coefficient = scale times the one here */
  double excess; /* of a regular cell */
  const mn_exec *exec;
  const void *self;
  /* Kinds of the n[0] cells of a row; [lo, hi) holds all that are not dead. */
  void (*classify)(const void *self, int j, int k, uint8_t *kind, int *lo, int *hi);
  /* Couplings to the neighbours at the six sides; returns the excess. */
  double (*cell)(const void *self, int i, int j, int k, double coupling[6]);
  /* Announces a call of `cell`; may be NULL. */
  void (*prefetch)(const void *self, int i, int j, int k);
  /* Whether two unknowns are coupled: (i, j, k) and its lower neighbour along the axis. */
  int (*coupled)(const void *self, int axis, int i, int j, int k);
  /* Of an LCP: whether x >= 0 is a condition of an irregular cell (regular ones have none). NULL:
     a linear system. It has an object of its own; c, anchored: the couplings, and whether there is
     an excess. */
  int (*bound)(const void *bound_self, int i, int j, int k, const double c[6], int anchored);
  const void *bound_self;
} mn_system;

/* The system of the last analysis, and its regions; both belong to the solver. */
const mn_system *mn_pressure_system(const mn_pressure *pressure);
mn_regions *mn_pressure_regions(mn_pressure *pressure);

/* A matrix as a system. It must not be moved. */
typedef struct mn_stencil_view {
  const mn_stencil *s; /* borrowed */
  mn_system system;
} mn_stencil_view;
void mn_stencil_view_make(const mn_stencil *s, mn_stencil_view *view);

/* An array that is kept and grows; contents are lost when it does. */
typedef struct mn_buffer {
  void *data;
  size_t bytes;
} mn_buffer;
MN_MUST_CHECK mn_status mn_reserve(mn_context *ctx, const char *what, size_t count, size_t size,
                                   mn_buffer *buffer);
void mn_buffer_free(mn_buffer *buffer);

/* Unknowns of a row connected by open faces. */
typedef struct mn_region_run {
  int lo, hi, region;
} mn_region_run;

/* Which cells are unknowns and how they hang together. */
struct mn_regions {
  int n[3];
  uint8_t *kind;   /* of all cells, x fastest */
  int (*range)[2]; /* per row j + n[1] k: where it is not dead */
  int *first_run;  /* per row, and one more */
  mn_region_run *run;
  double *run_sum;            /* scratch */
  int count, closed;          /* regions, and how many are closed */
  mn_pressure_region *region; /* in the order of their first cells */
  double *mean;               /* per region, scratch */
  size_t unknowns;
  mn_buffer buffer[7];
};

MN_MUST_CHECK mn_status mn_regions_build(mn_context *ctx, mn_regions *regions,
                                         const mn_system *system);
void mn_regions_free(mn_regions *regions);
int mn_region_at(const mn_regions *regions, int i, int j, int k);
/* Sums of x over the closed regions into regions->mean. */
void mn_region_sums(mn_regions *regions, const mn_field *x);
/* x -= mean over each closed region. */
void mn_region_subtract_mean(mn_regions *regions, mn_field *x);
/* Sets x to 0 outside the unknowns, ghosts included. */
void mn_region_clear_outside(const mn_regions *regions, mn_field *x);

/* The greater of a norm so far and |x|; infinite once x is NaN, so that no maximum loses it. */
static inline double mn_worse(double norm, double x)
{
  double size = x != x ? HUGE_VAL : fabs(x);
  return size > norm ? size : norm;
}

static inline const uint8_t *mn_kind_row(const mn_regions *g, int j, int k)
{
  return g->kind + (size_t)g->n[0] * ((size_t)j + (size_t)g->n[1] * (size_t)k);
}

#endif
