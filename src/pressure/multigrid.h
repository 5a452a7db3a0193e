/* A multigrid cycle in single precision for mn_system: the preconditioner of mgpcg.

   Layout. The cells of a level are split by colour, (i + j + k) even: red (0), odd: black (1), each
   colour c in its own array, at

       plane_base(k) + pitch j + s,   s = (i + j + k - c) / 2.

   In these sheared coordinates the six neighbours of a cell stand at the same six distances in the
   other colour's array for all cells of a colour and plane: a half sweep over a plane is one
   contiguous vector loop. Only the planes' active rows are stored, and of all rows the part between
   the least and the greatest active i. Values of dead cells are arbitrary but finite during a
   cycle: nothing alive is coupled to them. */
#ifndef MN_PRESSURE_MULTIGRID_H
#define MN_PRESSURE_MULTIGRID_H

#include "pressure/system.h"

enum { MN_MG_LANES = 8, MN_MG_LEVELS = 24, MN_MG_COARSEST = 4, MN_MG_DENSE = 64 };

typedef struct mn_mg_row {
  int32_t base[2];      /* cell i of colour c stands at base[c] + i / 2 */
  int32_t lo, hi;       /* half indices i / 2 where something is alive */
  int32_t parity;       /* (j + k) & 1 */
  int32_t irregular[2]; /* first entry of the row, by colour; the next row's is the end */
  int32_t holes;        /* dead cells between alive ones */
} mn_mg_row;

/* A slab: what one thread does at a time, a plane in 3D and a few rows in 2D. */
typedef struct mn_mg_slab {
  int32_t lo, hi;       /* its places, a multiple of the vector width */
  int32_t z[2];         /* distance to the planes below and above */
  int32_t irregular[2]; /* first entry, by colour; the next slab's is the end */
  int32_t dead[2];
} mn_mg_slab;

/* Places that hold no unknown. */
typedef struct mn_mg_gap {
  int32_t at, count;
} mn_mg_gap;

typedef struct mn_mg_cell {
  int32_t at;
  float c[6];    /* couplings to the six sides */
  float inverse; /* of the diagonal; 0: no equation */
} mn_mg_cell;

/* An irregular cell of the finest level, for the true residual. */
typedef struct mn_mg_fine {
  double c[6], diagonal;
  double r; /* b - A x of the last true residual, also of held cells */
  int32_t i;
  int16_t bound; /* x >= 0 is a condition */
  int16_t held;  /* at x = 0: it has left the system, its neighbours see a fixed value */
} mn_mg_fine;

/* A cell of the finest level with the condition x >= 0. */
typedef struct mn_mg_bound {
  int32_t i, j, k;
  int32_t fine;   /* in mn_multigrid.fine */
  int32_t entry;  /* among the irregular cells of its colour */
  int32_t marked; /* in the kinds, as held */
} mn_mg_bound;

/* Marks in the finest kinds, for coarsening: a held cell counts as dead, and what stands beside one
   is not regular. */
enum { MN_MG_KIND = 3, MN_MG_HELD = 4, MN_MG_BESIDE = 8 };

/* A place in the arrays of a level. */
struct mn_mg_spot {
  int32_t colour, at;
};

/* A cell that belongs to another coarse cell than the one it lies in; see multigrid_split.c. */
typedef struct mn_mg_orphan {
  int64_t cell;
  int way; /* side of its parent where the other one lies */
  struct mn_mg_spot here, from, to;
} mn_mg_orphan;

typedef struct mn_mg_level {
  int dim, n[3];
  int slab_rows, slabs; /* rows of a slab */
  int threads;
  int holds; /* some cells may be held */
  int32_t pitch;
  float excess, diagonal, inverse; /* of a regular cell */
  const uint8_t *kind;             /* of all cells, x fastest */
  const int (*range)[2];           /* per row j + n[1] k */
  mn_mg_row *row;                  /* per row, and one more */
  mn_mg_slab *slab;                /* per slab, and one more */
  mn_mg_cell *irregular[2];
  float *cell_excess[2];
  mn_mg_gap *dead[2];
  size_t size; /* of each array */
  float *u[2], *f[2];
  float *t;       /* red residual; scratch of others outside a cycle */
  float *scratch; /* a row per slab */
  size_t scratch_row;
  uint8_t *move; /* of all cells: 0, or 1 + the way of an orphan */
  size_t orphans, orphan_room;
  mn_mg_orphan *orphan;  /* in memory order */
  int32_t *first_orphan; /* per slab, and one more */
  mn_buffer move_buffer, slab_buffer;
  mn_buffer buffer[8];
} mn_mg_level;

/* Where the neighbours of a cell stand relative to it, in the other colour's array. */
typedef struct mn_mg_near {
  int64_t x[2], y[2], z[2];
} mn_mg_near;

static inline mn_mg_near mn_mg_near_of(const mn_mg_level *L, const mn_mg_slab *slab, int colour)
{
  int64_t down = colour ? 0 : -1, up = colour ? 1 : 0;
  return (mn_mg_near){
      {down, up}, {down - L->pitch, up + L->pitch}, {down + slab->z[0], up + slab->z[1]}};
}

typedef struct mn_multigrid {
  int dim, levels;
  mn_mg_level level[MN_MG_LEVELS];
  mn_mg_fine *fine; /* of a row: from irregular[0] + irregular[1] on, in the order of i */
  int dense;        /* unknowns of the coarsest level */
  struct {
    int colour, at;
  } dense_cell[MN_MG_DENSE];
  float inverse[MN_MG_DENSE * MN_MG_DENSE]; /* pseudo-inverse of the coarsest matrix */
  int split;                                /* 1: aggregates end at thin walls */
  int soft;                                 /* 1: links may be weak; mn_mg_coarse_share */
  int once;                                 /* 1: the first coarse level is visited once */
  int bounds, held;                         /* cells with a condition; held ones */
  mn_mg_bound *bound;                       /* in memory order */
  uint8_t *kind;                            /* those of the finest level, with marks */
  mn_buffer buffer[3];
} mn_multigrid;

/* All levels, no cell held. */
MN_MUST_CHECK mn_status mn_multigrid_setup(mn_context *ctx, mn_multigrid *mg,
                                           const mn_system *system, const mn_regions *regions);
/* The finest level alone. The kinds of `regions` get marks when cells are held. */
MN_MUST_CHECK mn_status mn_multigrid_setup_finest(mn_context *ctx, mn_multigrid *mg,
                                                  const mn_system *system,
                                                  const mn_regions *regions);
/* The levels below, at most `most` in all; to be called again when cells are held or let go (it is
   enough to do so when many were: the cycle remains symmetric and positive). */
MN_MUST_CHECK mn_status mn_multigrid_coarsen(mn_context *ctx, mn_multigrid *mg, const mn_exec *exec,
                                             int most);
/* Holds the n-th cell with a condition or lets it go. */
void mn_multigrid_hold(mn_multigrid *mg, int n, int held);
/* List of the cells with a condition. */
MN_MUST_CHECK mn_status mn_multigrid_list_bounds(mn_context *ctx, mn_multigrid *mg,
                                                 const mn_system *system);
/* Sets the marks of the finest kinds, or takes them off. */
void mn_multigrid_mark_held(mn_multigrid *mg);
void mn_multigrid_unmark(mn_multigrid *mg);
/* Its last step: the inverse of the coarsest matrix. */
MN_MUST_CHECK mn_status mn_multigrid_build_dense(mn_context *ctx, mn_multigrid *mg);
/* Orphans of a level, before the next one is shaped: which, what they do to its kinds, and, when it
   is filled, to its matrix. */
MN_MUST_CHECK mn_status mn_multigrid_find_orphans(mn_context *ctx, mn_mg_level *fine);
void mn_multigrid_mark_split(const mn_mg_level *fine, const mn_mg_level *coarse, uint8_t *kind);
MN_MUST_CHECK mn_status mn_multigrid_resettle(mn_context *ctx, const mn_multigrid *mg,
                                              mn_mg_level *fine, mn_mg_level *coarse);
void mn_multigrid_free(mn_multigrid *mg);
size_t mn_multigrid_bytes(const mn_multigrid *mg);
/* One half sweep (or another stage) of one slab. It reads what the stage before wrote in this slab
   and its two neighbours. */
typedef void mn_mg_stage(void *user, const mn_mg_level *L, int slab);

/* Runs stages one after the other over all slabs, in an order that is kind to the caches: each
   thread goes through its block of slabs once, with stage s following s slabs behind the first; at
   the ends of its block it leaves out what depends on the neighbour's block, and these wedges are
   filled in afterwards. Every stage sees the same numbers as in plain order, so the bits are the
   same. */
void mn_mg_run(const mn_mg_level *L, mn_mg_stage *const *stages, int count, void *user);

/* level[0].u = M level[0].f, M symmetric and positive (on compatible f). Red residuals are then 0.
   `then` follows the last sweep as one more stage; may be NULL. */
void mn_multigrid_cycle(mn_multigrid *mg, mn_mg_stage *then, void *user);

/* What the excess of a child counts in its parent, before the factor 2^(1 - dim) of faces. A mass,
   which is what regular cells have, is not over-corrected and counts twice. A link to a fixed value
   counts like a face, which is right where that stands half a cell away (2). One that is weaker is
   a resistance at the wall, which twice the area halves, and in line with it are the half fine cell
   by which the parent's centre is farther off: `soft`. Counted as a face, a soft wall is four times
   too stiff an insulator after a few levels. */
static inline double mn_mg_coarse_share(const mn_mg_level *fine, int soft, float excess)
{
  double mass = (double)(excess < fine->excess ? excess : fine->excess);
  double link = (double)excess - mass;
  return soft && link < 2 ? 2 * mass + 2 * link / (1 + link / 2) : (double)excess + mass;
}

static inline const uint8_t *mn_mg_kinds(const mn_mg_level *L, int j, int k)
{
  return L->kind + (size_t)L->n[0] * ((size_t)j + (size_t)L->n[1] * (size_t)k);
}
static inline mn_mg_row *mn_mg_row_at(const mn_mg_level *L, int j, int k)
{
  return L->row + j + (int64_t)L->n[1] * k;
}
/* The rows [j0, j1) of plane k that make up slab s. */
static inline void mn_mg_slab_rows(const mn_mg_level *L, int s, int *k, int *j0, int *j1)
{
  int first = s * L->slab_rows, plane = L->n[1];
  *k = first / plane;
  *j0 = first - *k * plane;
  *j1 = *j0 + L->slab_rows < plane ? *j0 + L->slab_rows : plane;
}

#endif
