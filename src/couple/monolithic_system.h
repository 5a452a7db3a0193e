/* The linear system of monolithic.h, about one iterate, and its solvers. */
#ifndef MN_COUPLE_MONOLITHIC_SYSTEM_H
#define MN_COUPLE_MONOLITHIC_SYSTEM_H

#include "base/memory.h"
#include "couple/boxes.h"
#include "la/csr_rows.h"
#include "la/sparse.h"
#include "la/sparse_lu.h"
#include "meniscus/coupling.h"
#include "meniscus/operators.h"

typedef struct mn_mono_system {
  mn_context *ctx;
  mn_boxes *boxes; /* borrowed */
  int masses;      /* 0: without m */
  int clipped;     /* 1: of m only what is above 0 */
  double dx, dt;
  mn_fluid_linear fluid; /* as its box gave it, */
  mn_solid_linear solid; /* and so this */
  size_t cells, rows, freedoms;
  size_t own;          /* freedoms of the solid; the others are those of `breath` */
  mn_csr_rows WE;      /* [rows x own] */
  mn_csr_rows H, HT;   /* [rows x freedoms] the same, and the breaths */
  mn_csr_rows DT, D;   /* [rows x cells] areas */
  mn_csr_rows B, BT;   /* [cells x freedoms] D H */
  mn_csr_rows K;       /* [freedoms x freedoms] K/g + H^T (m/dt) H */
  mn_csr_rows A;       /* the whole, for a direct solve */
  double *g;           /* [freedoms] 1/s, (1 + lead)/dt */
  int symmetric;       /* 0: bodies of different rules in time are linked */
  double *U;           /* [rows] m/s, of the iterate */
  double *F;           /* [rows] scratch */
  double *right_cells; /* [cells] m^3/s */
  double *right_solid; /* [freedoms] N */
  uint8_t *held;       /* [cells] 1: p = 0 there */
  int64_t *pinned;     /* cells whose pressure is set, one for each constant that nothing tells */
  size_t pins;
  int32_t *breath; /* closed regions whose walls must give a little (monolithic_regions.c) */
  size_t breaths, breath_room;
  double *region_rows; /* [regions x own] scratch */
  size_t cell_room, row_room, freedom_room, pin_room, region_room;
  /* solvers */
  mn_lu *lu;
  mn_sparse_factor *factor; /* of K */
  double *x, *b;            /* [cells + freedoms] */
  double *work;             /* Krylov vectors */
  size_t x_room, work_room;
  int64_t *parent; /* [freedoms] for blocks of K */
  size_t parent_room;
  mn_sparse_factor *rest; /* of K without the freedoms of rigid bodies */
  mn_csr_rows K_rest;
  mn_sparse_factor *weighed; /* of a part of K; mn_mono_weigh */
  int64_t *rigid;            /* [freedoms] number among those of rigid bodies, -1: not one */
  size_t rigid_count, rigid_room;
  double *inverse; /* [rigid_count^2] of K and the fluid's inertia there */
  size_t inverse_room;
  mn_arena arena;
  int krylov; /* iterations since the step began */
} mn_mono_system;

void mn_mono_system_destroy(mn_mono_system *s);

/* After the fluid's assemble and the solid's linearise: fills all but the right-hand sides. */
MN_MUST_CHECK mn_status mn_mono_build(mn_mono_system *s);
/* *light: whether masses below 0 take half of the solid's inertia or more along some motion, so
   that K' is not positive, or nearly. */
MN_MUST_CHECK mn_status mn_mono_weigh(mn_mono_system *s, int *light);
/* Right-hand sides with the interface's V that of the iterate; breath[regions] m/s or NULL: by
   which walls of regions seem to move besides. */
MN_MUST_CHECK mn_status mn_mono_right(mn_mono_system *s, const double *breath);
/* p, v with p = 0 in held cells. p holds a guess. */
MN_MUST_CHECK mn_status mn_mono_solve(mn_mono_system *s, mn_coupling_solver solver, double *p,
                                      double *v);
/* slack <- L p + B v - right_cells */
void mn_mono_slack(mn_mono_system *s, const double *p, const double *v, double *slack);
/* load <- W^T (D^T p - (m/dt) (U + H v - before)) + rest */
MN_MUST_CHECK mn_status mn_mono_load(mn_mono_system *s, const double *p, const double *v,
                                     mn_vec3 *load);

/* monolithic_faces.c: WE, D and its transpose */
MN_MUST_CHECK mn_status mn_mono_build_faces(mn_mono_system *s);

/* monolithic_regions.c: after D and WE are made, pins and breaths; regions in all */
MN_MUST_CHECK mn_status mn_mono_find_constants(mn_mono_system *s);
int32_t mn_mono_regions(const mn_mono_system *s);
/* Velocity of a row's face by a unit breath of region g: into it through all its walls; or 0. */
double mn_mono_breath(const mn_mono_system *s, int32_t g, size_t row);

/* monolithic_mobility.c: velocity of faces by forces on them, roughly; open[rows].
   rigid 0: rigid bodies stand; factor: of K, or of that. */
MN_MUST_CHECK mn_status mn_mono_mobility(mn_mono_system *s, mn_sparse_factor *factor, int rigid,
                                         double *open);

/* monolithic_direct.c, monolithic_krylov.c, monolithic_minres.c */
MN_MUST_CHECK mn_status mn_mono_direct(mn_mono_system *s, double *p, double *v);
/* weigh 1: minres instead if rigid bodies are light. */
MN_MUST_CHECK mn_status mn_mono_cg(mn_mono_system *s, int weigh, double *p, double *v);
MN_MUST_CHECK mn_status mn_mono_minres(mn_mono_system *s, double *p, double *v);

enum { MN_MONO_KRYLOV_MOST = 1000 };
double mn_mono_dot(size_t n, const double *a, const double *b);
double mn_mono_largest(size_t n, const double *a);
void mn_mono_drop_held(const mn_mono_system *s, double *y);
void mn_mono_add_flow(const mn_mono_system *s, double sign, const double *v, double *y);
MN_MUST_CHECK mn_status mn_mono_work(mn_mono_system *s, size_t vectors, size_t length);
MN_MUST_CHECK mn_status mn_mono_unsolved(mn_mono_system *s, const char *name, double residual,
                                         double tolerance);
/* Direct, or what was asked for. */
mn_coupling_solver mn_mono_choose(const mn_mono_system *s, mn_coupling_solver solver);

/* m of a row. */
static inline double mn_mono_mass(const mn_mono_system *s, size_t row)
{
  double m = s->masses ? s->fluid.mass[row] : 0;
  return s->clipped && m < 0 ? 0 : m;
}

static inline mn_csr mn_csr_view(const mn_sparse_matrix *m) /* only read */
{
  return (mn_csr){m->rows, m->cols, (int64_t *)m->start, (int64_t *)m->col, (double *)m->value};
}

#endif
