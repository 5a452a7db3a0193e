/* A multigrid cycle in single precision for mn_system: the preconditioner of mgpcg.

   Layout. The cells of a level are split by colour, (i + j + k) even: red (0), odd: black (1), each
   colour in its own array, so that a half sweep is a contiguous vector loop. Cell i of a row stands
   at row.base + i / 2 of its colour's array. Rows are compact: only the half indices [lo, hi) where
   something is alive, rounded up to a multiple of the vector width, and what neighbours read. Rows
   without unknowns and rows beyond the box share one row of zeros. Values of dead cells are
   arbitrary but finite during a cycle: nothing alive is coupled to them. */
#ifndef MN_PRESSURE_MULTIGRID_H
#define MN_PRESSURE_MULTIGRID_H

#include "pressure/system.h"

enum { MN_MG_LANES = 8, MN_MG_LEVELS = 24, MN_MG_COARSEST = 4, MN_MG_DENSE = 64 };

typedef struct mn_mg_row {
  int32_t base, lo, hi;
  int32_t parity;       /* (j + k) & 1 */
  int32_t irregular[2]; /* first entry of the row, by colour; the next row's is the end */
  int32_t dead[2];
} mn_mg_row;

typedef struct mn_mg_cell {
  int32_t at;
  float c[6];    /* couplings to the six sides */
  float inverse; /* of the diagonal; 0: no equation */
} mn_mg_cell;

/* An irregular cell of the finest level, for the true residual. */
typedef struct mn_mg_fine {
  double c[6], diagonal;
  int32_t i;
} mn_mg_fine;

typedef struct mn_mg_level {
  int n[3];
  int pitch;            /* rows of a padded plane */
  int slab_rows, slabs; /* rows of a slab: a plane in 3D, a few rows in 2D */
  int threads;
  float excess;            /* of a regular cell */
  float diagonal, inverse; /* of a regular cell */
  const uint8_t *kind;     /* of all cells, x fastest */
  const int (*range)[2];   /* per row j + n[1] k */
  mn_mg_row *row;          /* padded by one row on all sides, and one more at the end */
  mn_mg_cell *irregular[2];
  float *cell_excess[2];
  int32_t *dead[2];    /* places in [lo, hi) that hold no unknown */
  int32_t *slab_begin; /* places of a slab's rows: [slab_begin[s], slab_begin[s + 1]) */
  size_t size;         /* of each array */
  float *u[2], *f[2];
  mn_buffer buffer[8];
} mn_mg_level;

typedef struct mn_multigrid {
  int dim, levels;
  mn_mg_level level[MN_MG_LEVELS];
  mn_mg_fine *fine; /* of a row: from irregular[0] + irregular[1] on, in the order of i */
  int dense;        /* unknowns of the coarsest level */
  struct {
    int colour, at;
  } dense_cell[MN_MG_DENSE];
  float inverse[MN_MG_DENSE * MN_MG_DENSE]; /* pseudo-inverse of the coarsest matrix */
  float *scratch;                           /* two rows per slab */
  size_t scratch_row;
  mn_buffer buffer[2];
} mn_multigrid;

MN_MUST_CHECK mn_status mn_multigrid_setup(mn_context *ctx, mn_multigrid *mg,
                                           const mn_system *system, const mn_regions *regions);
void mn_multigrid_free(mn_multigrid *mg);
size_t mn_multigrid_bytes(const mn_multigrid *mg);
/* level[0].u = M level[0].f, M symmetric and positive (on compatible f). Red residuals are then 0.
 */
void mn_multigrid_cycle(mn_multigrid *mg);

static inline mn_mg_row *mn_mg_row_at(const mn_mg_level *L, int j, int k)
{
  return L->row + (j + 1) + (int64_t)L->pitch * (k + 1);
}
static inline void mn_mg_slab(const mn_mg_level *L, int s, int *k, int *j0, int *j1)
{
  int first = s * L->slab_rows, plane = L->n[1];
  *k = first / plane;
  *j0 = first - *k * plane;
  *j1 = *j0 + L->slab_rows < plane ? *j0 + L->slab_rows : plane;
}

#endif
