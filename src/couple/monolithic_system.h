/* The linear system of monolithic.h, about one iterate, and its solvers. */
#ifndef MN_COUPLE_MONOLITHIC_SYSTEM_H
#define MN_COUPLE_MONOLITHIC_SYSTEM_H

#include "base/memory.h"
#include "couple/boxes.h"
#include "la/aggregates.h"
#include "la/csr_rows.h"
#include "la/sparse.h"
#include "la/sparse_lu.h"
#include "meniscus/coupling.h"
#include "meniscus/operators.h"

/* A closed region whose volume the surfaces keep, as the coupling knows it. */
typedef struct mn_mono_volume {
  int32_t grid; /* its number in fluid.region; -1, or one that no cell has: air, or too thin */
  const mn_vec3 *row; /* [points] m^2, N: dV/dX; NULL: no pressure moves what is around it */
  double rate;        /* m^3/s that the freedoms sweep beyond the iterate, E^T N v */
  double p0;          /* Pa: the answer */
} mn_mono_volume;

/* Unknowns besides those of cells and bodies (monolithic_regions.c), per closed region. */
typedef enum mn_mono_kind {
  MN_MONO_BREATH, /* l, m/s: by which its walls move besides, into it */
  MN_MONO_NET,    /* the net flow through its faces is that of its cells; a part of p is free */
  MN_MONO_SWEPT,  /* p0, Pa: its surfaces sweep the rate that is asked for */
  MN_MONO_TIED    /* p0, where p is not free: its faces move as its surfaces sweep */
} mn_mono_kind;

typedef struct mn_mono_border {
  mn_mono_kind kind;
  int32_t grid; /* number of the region in fluid.region, -1: none */
  int volume;   /* of `volume`, -1: none */
} mn_mono_border;

enum { MN_MONO_VOLUMES = 32 };

typedef struct mn_mono_system {
  mn_context *ctx;
  mn_boxes *boxes; /* borrowed */
  int masses;      /* 0: without m */
  int clipped;     /* 1: of m only what is above 0 */
  double dx, dt;
  mn_fluid_linear fluid; /* as its box gave it, */
  mn_solid_linear solid; /* and so this */
  size_t cells, rows, freedoms;
  size_t own;             /* freedoms of the solid; the others are those of `border` */
  mn_csr_rows WE;         /* [rows x own]; of a row columns in any order */
  mn_csr_rows H;          /* [rows x freedoms] the same, and the breaths */
  mn_csr_rows HT;         /* its transpose, unless bodies are large */
  mn_csr_rows DT, D;      /* [rows x cells] areas; these for a direct solve: */
  mn_csr_rows B, BT;      /* [cells x freedoms] D H */
  mn_csr_rows K;          /* [freedoms x freedoms] K/g + H^T (m/dt) H, bordered */
  mn_csr_rows A;          /* the whole, for a direct solve */
  double *g;              /* [freedoms] 1/s, (1 + lead)/dt */
  int symmetric;          /* 0: bodies of different rules in time are linked */
  double *U;              /* [rows] m/s, of the iterate, */
  const mn_vec3 *settled; /* [points] with these besides its V; NULL: none */
  double *F;              /* [rows] scratch */
  double *right_cells;    /* [cells] m^3/s */
  double *right_solid;    /* [freedoms] N */
  uint8_t *held;          /* [cells] 1: p = 0 there */
  int held_known;         /* 0: those of the fluid's guess */
  int64_t *pinned; /* cells whose pressure is set, one for each constant that nothing tells */
  size_t pins;
  /* closed regions, monolithic_regions.c */
  mn_mono_volume volume[MN_MONO_VOLUMES]; /* as the coupling says */
  int volumes;
  int told; /* 1: regions that are not among them are below what the coupling looks at */
  mn_mono_border *border;
  size_t borders, border_room;
  double *border_row; /* [borders x own] how freedoms flow through or sweep */
  double shared[MN_MONO_VOLUMES][MN_MONO_VOLUMES]; /* of a volume without p0: parts of others' rates
                                                    */
  mn_vec3 bridge;      /* N: forces on bodies by p0 of surfaces less those of the faces */
  double *region_rows; /* [regions x own] scratch */
  size_t cell_room, row_room, freedom_room, pin_room, region_room, border_rows_room;
  /* solvers */
  mn_lu *lu;
  mn_sparse_factor *factor; /* of K without its border, */
  mn_csr_rows K_own;        /* of which this is, if there is one; */
  double *reply;            /* [borders x own] its answers to the border, */
  double *small;            /* [borders^2] and the inverse of what is left */
  size_t reply_room, small_room;
  double *x, *b; /* [cells + freedoms] */
  double *work;  /* Krylov vectors */
  size_t x_room, work_room;
  int64_t *parent; /* [freedoms] for blocks of K */
  size_t parent_room;
  mn_sparse_factor *rest; /* of K without the freedoms of rigid bodies */
  mn_csr_rows K_rest;
  int light;                 /* 1: not solved, since K' is not positive for deformable bodies */
  mn_sparse_factor *weighed; /* of a part of K; mn_mono_weigh */
  int64_t *rigid;            /* [freedoms] number among those of rigid bodies, -1: not one */
  size_t rigid_count, rigid_room;
  double *inverse; /* [rigid_count^2] of K and the fluid's inertia there */
  size_t inverse_room;
  /* large deformable bodies: monolithic_mesh.c */
  mn_coupling_solver solver; /* as asked for */
  int large;                 /* 1: HT and K are not made */
  int factored; /* 1: even so, they are, because the other way failed in this substep */
  int lost;     /* 1: an answer of the solid was not found */
  mn_aggregates *mesh;
  double *mesh_v, *mesh_d;   /* [freedoms] in a solve: v, as pressures go; their direction */
  double *mesh_dv, *mesh_Kv; /* [freedoms] scratch */
  double *mesh_U;            /* [rows] H v */
  int mesh_follows;          /* 1: v went along directions since it was last mended */
  int mesh_steps;            /* of an answer, if always the same: for directions of search, */
  int mesh_near, mesh_fine;  /* for what they left of v, for v */
  int mesh_iterations;       /* since the step began */
  mn_arena arena;
  int krylov; /* iterations since the step began */
} mn_mono_system;

void mn_mono_system_destroy(mn_mono_system *s);

/* After the fluid's assemble and the solid's linearise: fills all but the right-hand sides. */
MN_MUST_CHECK mn_status mn_mono_build(mn_mono_system *s);
/* *light: whether K' is not positive for deformable bodies; where water may let go, whether masses
   below 0 take half of any body's inertia or more along some motion. */
MN_MUST_CHECK mn_status mn_mono_weigh(mn_mono_system *s, int *light);
/* K' of deformable bodies alone. monolithic_minres.c */
MN_MUST_CHECK mn_status mn_mono_deformable_positive(mn_mono_system *s, int *positive);
/* Right-hand sides with the interface's V that of the iterate, and volume[].rate. */
MN_MUST_CHECK mn_status mn_mono_right(mn_mono_system *s);
/* p, v with p = 0 in held cells. p holds a guess. */
MN_MUST_CHECK mn_status mn_mono_solve(mn_mono_system *s, mn_coupling_solver solver, double *p,
                                      double *v);
/* slack <- L p + B v - right_cells */
void mn_mono_slack(mn_mono_system *s, const double *p, const double *v, double *slack);
/* load <- W^T (D^T p - (m/dt) (U + H v - before)) + rest + what p0 does on surfaces; p is left
 * whole
 */
MN_MUST_CHECK mn_status mn_mono_load(mn_mono_system *s, double *p, const double *v, mn_vec3 *load);

/* monolithic_faces.c: WE; WE and H may change places when H is made */
MN_MUST_CHECK mn_status mn_mono_build_faces(mn_mono_system *s);
/* U <- H v,  y += sign H^T F,  y += sign D U,  F <- D^T p,  y += sign B v (in s->F) */
void mn_mono_faces_of(const mn_mono_system *s, const double *v, double *U);
void mn_mono_add_forces(const mn_mono_system *s, double sign, const double *F, double *y);
void mn_mono_add_outflow(const mn_mono_system *s, double sign, const double *U, double *y);
void mn_mono_press(const mn_mono_system *s, const double *p, double *F);
void mn_mono_add_flow(const mn_mono_system *s, double sign, const double *v, double *y);

/* monolithic_regions.c: after D and WE are made, pins and borders; regions in all */
MN_MUST_CHECK mn_status mn_mono_find_constants(mn_mono_system *s);
int32_t mn_mono_regions(const mn_mono_system *s);
/* 1: some cell is of region g; air has none. */
int mn_mono_has_cells(const mn_mono_system *s, int32_t g);
/* Velocity of a row's face by a unit breath of region g: into it through all its walls; or 0. */
double mn_mono_breath(const mn_mono_system *s, int32_t g, size_t row);
/* Whether water has let go of the walls of a region since the system was built; rejoined: or no
   longer does. */
int mn_mono_parted(const mn_mono_system *s, int rejoined);
/* Sum of the right-hand sides of its cells, m^3/s. */
double mn_mono_net(const mn_mono_system *s, int32_t g);
/* What flows into region g through its walls, m^3/s, with their faces at U. */
double mn_mono_flow_in(const mn_mono_system *s, int32_t g, const double *U);
/* The entries of the border in row `at` of K, which is being made. */
void mn_mono_border_entries(mn_mono_system *s, size_t at);
/* p <- whole pressures, their free parts with them; volume[].p0 */
void mn_mono_free_parts(mn_mono_system *s, const double *v, double *p);
/* p <- p without its means where it is free. */
void mn_mono_drop_constants(const mn_mono_system *s, double *p);
/* F[rows] <- forces of the volumes' p0 on the faces. */
void mn_mono_pressed(const mn_mono_system *s, double *F);

/* monolithic_border.c: the factor of K with its border; 0: it is not positive without it. */
MN_MUST_CHECK mn_status mn_mono_factorise(mn_mono_system *s, int *positive);
/* x <- K'^-1 x */
MN_MUST_CHECK mn_status mn_mono_answer(mn_mono_system *s, double *x);

/* monolithic_mobility.c: velocity of faces by forces on them, roughly; open[rows].
   rigid 0: rigid bodies stand; factor: of K, or of that. */
MN_MUST_CHECK mn_status mn_mono_mobility(mn_mono_system *s, mn_sparse_factor *factor, int rigid,
                                         double *open);
int mn_mono_any_cloth(const mn_mono_system *s);
/* open <- the greater of it and what waves find, or squeezing, by mn_mono_mesh_answer */
MN_MUST_CHECK mn_status mn_mono_mobility_of_waves(mn_mono_system *s, double *open);

/* monolithic_mesh.c. From so many freedoms on; whether this system is to be solved so; the solve,
   s->lost if K' is not positive or its multigrid not good enough; v <- K'^-1 v, roughly. */
enum { MN_MONO_LARGE = 3000 };
int mn_mono_is_large(const mn_mono_system *s, mn_coupling_solver solver);
MN_MUST_CHECK mn_status mn_mono_mesh(mn_mono_system *s, double *p, double *v);
MN_MUST_CHECK mn_status mn_mono_mesh_answer(mn_mono_system *s, double *v);

/* monolithic_direct.c, monolithic_krylov.c, monolithic_minres.c */
MN_MUST_CHECK mn_status mn_mono_direct(mn_mono_system *s, double *p, double *v);
/* weigh 1: minres instead if rigid bodies are light. */
MN_MUST_CHECK mn_status mn_mono_cg(mn_mono_system *s, int weigh, double *p, double *v);
MN_MUST_CHECK mn_status mn_mono_minres(mn_mono_system *s, double *p, double *v);

enum { MN_MONO_KRYLOV_MOST = 1000 };
/* What may be left in a cell, `most` being the greatest residual at p = 0. */
double mn_mono_tolerance(const mn_mono_system *s, double most);
double mn_mono_dot(size_t n, const double *a, const double *b);
double mn_mono_largest(size_t n, const double *a);
void mn_mono_drop_held(const mn_mono_system *s, double *y);
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

#endif
