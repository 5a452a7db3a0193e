/* The inside of deformable bodies. */
#ifndef MN_SOLID_DEFORM_INTERNAL_H
#define MN_SOLID_DEFORM_INTERNAL_H

#include "base/context.h"
#include "la/sparse.h"
#include "solid/assemble.h"
#include "solid/deform.h"
#include "solid/thin.h"

/* A scheme as one equation for y, the positions at which forces are taken:
     m M (y - y0) + C (d (y - y1) + w) + dE/dx (y) = f,
   then x1 = y (or 2 y - x), v1 and a1 from y. */
typedef struct mn_scheme_terms {
  double m, d;   /* 1/s^2, 1/s */
  double sx, sv; /* dx1/dy, dv1/dy */
} mn_scheme_terms;

/* Inertia of the surface's points; none: NULL. Borrowed. */
typedef struct mn_added {
  const mn_surface_points *points;
  const double *mass;
  const mn_vec3 *velocity;
} mn_added;

typedef struct mn_node_pair {
  uint32_t row, col;
} mn_node_pair;

/* Blocks of the implicit matrix between nodes that share no element: deform_cross.c. */
typedef struct mn_cross_blocks {
  mn_node_pair *pair; /* rising */
  double *value;      /* [count][dim][dim] */
  size_t *row;        /* [nodes + 1]: pairs of the rows before */
  size_t count, capacity;
  mn_csr sum; /* constrained, and these */
  size_t entries;
  mn_sparse_factor *factor; /* of the sum */
} mn_cross_blocks;

/* An edge that closes an open surface: enclosed.c. */
typedef struct mn_rim_edge {
  uint32_t from, to;
  uint32_t rim; /* 3D: which one */
  int32_t body;
} mn_rim_edge;

struct mn_deform {
  mn_context *ctx;
  mn_deform_def def;
  /* model */
  size_t nodes, facets;
  int bodies, groups;
  mn_deform_body *body;
  mn_energy_group *group;
  mn_facet *facet;
  mn_rim_edge *rim;
  size_t rims;
  mn_vec3 *rest;
  double *mass, *alpha; /* kg; 1/s, of each node */
  uint8_t *fixed;
  uint8_t *held;     /* fixed until its body is released */
  mn_anchor *anchor; /* gathered into groups by ready */
  mn_spring *spring;
  size_t anchors, springs;
  mn_deform_motion *motion;
  void *motion_user;
  int is_ready, damped; /* damped: there is a matrix C */
  double extent;        /* m, of all bodies at rest */
  double far;           /* m, what positions round as: see extent_of */
  /* state */
  mn_vec3 *x, *v, *a;
  /* the last solve; what save keeps */
  mn_vec3 *x1, *v1, *a1, *xs, *vs, *as;
  /* work of a substep, flat vectors of nodes * dim */
  double t, dt;
  mn_scheme_terms terms;
  mn_assembly assembly; /* its pattern's values: the implicit matrix A */
  double greatest;      /* on the diagonal of A */
  mn_csr constrained;   /* the same with rows and columns of fixed axes cut; shares the pattern */
  mn_sparse_factor *factor;
  mn_cross_blocks cross;
  mn_sparse_factor *active; /* the factor at hand: factor, or that of cross */
  double *C;                /* values of the damping matrix */
  mn_press *press;          /* borrowed */
  size_t presses;
  double *pressed; /* their force in the equation for y */
  mn_added added;
  double *rest_y,
      *rest_r; /* where Newton's method ended last in this step, and its residual there */
  int rests;   /* 1: they are of this step */
  double *dragged, *mean; /* force of the added inertia; mean velocities */
  double *y0, *y1, *w, *Cw, *y, *trial, *target, *force, *residual, *gradient, *step, *Cu;
  double *past_y, *past_p, *last_p, *best_y; /* of the conserving midpoint rule */
  mn_vec3 *position;                         /* y as vectors, for the energies */
  int began, solved, saved, has_factor, projected;
  int conserving;      /* the matrix is that of mean gradients, not of dE/dx (y) */
  int first_step;      /* of an iteration from outside: deform_operators.c */
  double missed;       /* m/s, by its last step: the same */
  int pending;         /* the substep's first factorisation is still to come */
  double potential;    /* at y */
  double floor;        /* N: rounding of the elastic forces */
  double energy_floor; /* J: rounding of the potential */
};

static inline size_t mn_deform_dofs(const mn_deform *d)
{
  return d->nodes * (size_t)d->def.dim;
}

static inline int mn_deform_is_fixed(const mn_deform *d, size_t dof)
{
  return d->fixed[dof / (size_t)d->def.dim] >> (dof % (size_t)d->def.dim) & 1;
}

/* One more group, of a body or (-1) of none, empty. */
MN_MUST_CHECK mn_status mn_deform_add_group(mn_deform *d, int body, double beta,
                                            mn_energy_group **group);
/* Whether an element at x1 has almost no volume left (Neo-Hookean), or is turned inside out to more
   than its volume. */
int mn_deform_crushed(const mn_deform *d, const mn_vec3 *x1, int *body, size_t *element,
                      double *ratio);
/* The sentence for an inverted element. */
mn_status mn_deform_fail_inverted(mn_deform *d, const mn_inverted *bad, const char *when);
/* C at x, into d->C; if there is none, nothing. */
MN_MUST_CHECK mn_status mn_deform_damping(mn_deform *d, const mn_vec3 *x);
/* Newton's method for the equation of d->terms with forces d->force, from d->y. */
MN_MUST_CHECK mn_status mn_deform_newton(mn_deform *d, mn_deform_report *report);
/* d->force: gravity and `load` (NULL: none), `part` of them. */
void mn_deform_set_force(mn_deform *d, const mn_vec3 *load, double part);
/* x1, v1, a1 of the free axes from y; a1 of the prescribed ones from v1. */
void mn_deform_finish(mn_deform *d);
/* An explicit step does not look at its end, which must be whole too. */
MN_MUST_CHECK mn_status mn_deform_check_end(mn_deform *d);
/* The conserving midpoint rule, from the solution of the plain one in d->y. */
MN_MUST_CHECK mn_status mn_deform_conserve(mn_deform *d, mn_deform_report *report);
MN_MUST_CHECK mn_status mn_deform_conserve_create(mn_deform *d); /* its work; if needed */

/* A point in Newton's search. */
typedef struct mn_deform_point {
  double potential, size; /* J; sum of the sizes of its terms, for rounding */
  double residual, scale; /* N */
} mn_deform_point;

/* Potential and residual (into d->residual) at y; conserving: with the mean gradient up to x1(y),
   and no potential. 0: inverted. */
int mn_deform_evaluate(mn_deform *d, const double *y, int conserving, mn_deform_point *point,
                       mn_inverted *bad);
/* step = -A^-1 residual, with prescribed axes going to their target if `moving`. */
MN_MUST_CHECK mn_status mn_deform_direction(mn_deform *d, int moving, mn_deform_report *report);
mn_status mn_deform_gave_up(mn_deform *d, const mn_deform_report *report, const char *what);
/* Assembles and factorises A at y; with psd, or if it is not positive definite, with K projected.
 */
MN_MUST_CHECK mn_status mn_deform_factorise(mn_deform *d, const double *y, int psd,
                                            mn_deform_report *report);
/* Assembles A at y alone, in d->assembly.pattern, with the rows and columns of fixed axes. */
MN_MUST_CHECK mn_status mn_deform_assemble_whole(mn_deform *d, const double *y, int psd);
/* d->constrained of it */
void mn_deform_constrain(mn_deform *d);
/* Both. */
MN_MUST_CHECK mn_status mn_deform_assemble(mn_deform *d, const double *y, int psd);
/* What presses on the bodies at y: forces into d->pressed and the rows; its potential. */
double mn_deform_press_at(mn_deform *d, const double *y);
/* value += the Hessian of that potential at y. */
void mn_deform_press_matrix(mn_deform *d, const double *y, double *value);

MN_MUST_CHECK mn_status mn_deform_cross_create(mn_deform *d);
void mn_deform_cross_destroy(mn_deform *d);
/* Blocks for the rows at hand, 0. */
MN_MUST_CHECK mn_status mn_deform_cross_begin(mn_deform *d);
/* Block [dim][dim] of two nodes; NULL: they share an element. */
double *mn_deform_cross_block(mn_deform *d, uint32_t row, uint32_t col);
void mn_deform_cross_multiply(const mn_deform *d, const double *x, double *y); /* y += blocks x */
/* d->cross.sum: the constrained matrix with the blocks, if there are any. */
MN_MUST_CHECK mn_status mn_deform_cross_sum(mn_deform *d);
/* Factorises the constrained matrix with the blocks, into d->active. */
MN_MUST_CHECK mn_status mn_deform_cross_factorise(mn_deform *d, mn_factor_report *report);

void mn_deform_unflatten(const mn_deform *d, const double *flat, mn_vec3 *vectors);

/* Force of the added inertia at y, into d->dragged; its potential. */
double mn_deform_added_at(mn_deform *d, const double *y);
/* value += the Hessian of that potential. */
void mn_deform_added_matrix(const mn_deform *d, double *value);
/* u = (M + added mass)^-1 r on the free axes, of an explicit substep; r is used up. */
MN_MUST_CHECK mn_status mn_deform_added_solve(mn_deform *d, double *r, double *u);
/* Corrects the result of an explicit substep for the added inertia. */
MN_MUST_CHECK mn_status mn_deform_added_explicit(mn_deform *d);

/* The edges that close open surfaces; once, when all facets are there. */
MN_MUST_CHECK mn_status mn_deform_find_rims(mn_deform *deform);

#endif
