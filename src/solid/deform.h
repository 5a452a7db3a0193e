/* Deformable bodies: elastic solids, cloth and curves of springs, shells and rods. All of them are
   one system of nodes, on which energies act:

       M a + C v + dE/dx (x) = f + load,    C = alpha M + beta K(x^n) + viscous springs

   Made in three steps: mn_deform_create; bodies added and nodes fixed, positions and velocities
   changed at will through the view; mn_deform_ready. Then substeps: begin, solve any number of
   times, each from the state at the start, commit. docs/theory/solids.md has the equations. */
#ifndef MN_SOLID_DEFORM_H
#define MN_SOLID_DEFORM_H

#include "geom/simplex_mesh.h"
#include "la/csr.h"
#include "meniscus/box.h"
#include "meniscus/operators.h"
#include "solid/energy.h"
#include "solid/surface.h"

typedef enum mn_scheme {
  MN_BACKWARD_EULER, /* first order, damps */
  MN_NEWMARK,        /* second order for gamma = 1/2; beta = 1/4: no damping; linearly stable */
  MN_MIDPOINT,       /* second order; conserves energy, momentum and angular momentum */
  MN_EXPLICIT        /* symplectic Euler: max_dt limits the step */
} mn_scheme;

typedef struct mn_deform_def {
  int dim; /* 2 or 3 */
  mn_scheme scheme;
  double beta, gamma; /* of Newmark: gamma >= 1/2, beta >= gamma/2 */
  double fade;        /* of the midpoint rule, 0 to 1/2; above 0 it damps what the step does not
                         resolve (deform_step.c), 0: it conserves */
  mn_vec3 gravity;    /* m/s^2 */
  double tolerance;   /* of the force residual, relative to the greatest force on a node */
  int max_iterations; /* of Newton, in one solve */
} mn_deform_def;

mn_deform_def mn_deform_def_default(int dim);

typedef struct mn_deform mn_deform;

MN_MUST_CHECK mn_status mn_deform_create(mn_context *ctx, const mn_deform_def *def,
                                         mn_deform **deform);
void mn_deform_destroy(mn_deform **deform);

/* ---- bodies ---------------------------------------------------------------------------------- */

/* An elastic body of triangles (2D, plane strain) or tetrahedra (3D), linear or quadratic. */
typedef struct mn_elastic_def {
  const char *name; /* for messages; may be NULL */
  mn_material_kind material;
  double young, poisson; /* Pa, 1 */
  double density;        /* kg/m^3 */
  double alpha, beta;    /* Rayleigh damping: 1/s, s */
  mn_vec3 velocity;      /* m/s, at the start */
} mn_elastic_def;

/* Cloth (triangles in 3D) or a curve (segments) as masses and springs. A bend spring joins the two
   nodes next to a node of a curve, or across an edge of cloth. */
typedef struct mn_springs_def {
  const char *name;
  double density;                       /* kg/m (curve) or kg/m^2 (cloth) */
  double stretch, bend;                 /* N/m, of each spring */
  double stretch_damping, bend_damping; /* kg/s, of each spring */
  double alpha;                         /* 1/s */
  mn_vec3 velocity;
} mn_springs_def;

typedef enum mn_membrane_kind {
  MN_MEMBRANE_ST_VENANT,  /* plane stress; small strains */
  MN_MEMBRANE_NEO_HOOKEAN /* incompressible: mu/2 (l1^2 + l2^2 + 1/(l1 l2)^2 - 3); poisson unused */
} mn_membrane_kind;

/* A shell (triangles in 3D): membrane, and bending in the angles between triangles. */
typedef struct mn_shell_def {
  const char *name;
  mn_membrane_kind membrane;
  double young, poisson; /* Pa, 1 */
  double thickness;      /* m */
  double density;        /* kg/m^3 */
  double bending;        /* N m, the plate's stiffness; negative: E h^3 / (12 (1 - nu^2)) */
  double alpha, beta;    /* Rayleigh */
  mn_vec3 velocity;
} mn_shell_def;

/* A rod (segments, in the order of the mesh; closed or with ends): stretch, and bending at the
   nodes. No twist. */
typedef struct mn_rod_def {
  const char *name;
  double stretch;     /* N, E A (in 2D per metre of depth) */
  double bend;        /* N m^2, E I */
  double density;     /* kg/m */
  double alpha, beta; /* Rayleigh */
  mn_vec3 velocity;
} mn_rod_def;

/* Each copies the mesh and gives the number of the new body. Bad meshes and numbers: MN_BAD_INPUT,
   with the element named; after a failure there is nothing to do but destroy. */
MN_MUST_CHECK mn_status mn_deform_add_elastic(mn_deform *deform, const mn_simplex_mesh *mesh,
                                              const mn_elastic_def *def, int *body);
MN_MUST_CHECK mn_status mn_deform_add_springs(mn_deform *deform, const mn_simplex_mesh *mesh,
                                              const mn_springs_def *def, int *body);
MN_MUST_CHECK mn_status mn_deform_add_shell(mn_deform *deform, const mn_simplex_mesh *mesh,
                                            const mn_shell_def *def, int *body);
MN_MUST_CHECK mn_status mn_deform_add_rod(mn_deform *deform, const mn_simplex_mesh *mesh,
                                          const mn_rod_def *def, int *body);
/* A spring of rest length `length` (m), stiffness k (N/m) and damping b (kg/s) between a node and a
   point of the world. */
MN_MUST_CHECK mn_status mn_deform_add_anchor(mn_deform *deform, uint32_t node, mn_vec3 point,
                                             double length, double k, double b);
/* A spring between any two nodes, of rest length `length` (m). */
MN_MUST_CHECK mn_status mn_deform_add_spring(mn_deform *deform, uint32_t a, uint32_t b,
                                             double length, double k, double damping);

/* Where a prescribed node is and how fast at time t. */
typedef void mn_deform_motion(void *user, uint32_t node, mn_vec3 rest, double t, mn_vec3 *x,
                              mn_vec3 *v);

enum { MN_FIX_X = 1, MN_FIX_Y = 2, MN_FIX_Z = 4, MN_FIX_ALL = 7 };
/* The axes of `mask` no longer obey forces: they rest where they are or, with a motion set, follow
   it. */
void mn_deform_fix(mn_deform *deform, uint32_t node, int mask);
/* What is fixed of a body is let go at time t (s); by default never. */
void mn_deform_set_release(mn_deform *deform, int body, double t);
void mn_deform_set_motion(mn_deform *deform, mn_deform_motion *motion, void *user);
/* How a body meets others; by default with friction -1 (see mn_deform_body), colliding. */
void mn_deform_set_contact(mn_deform *deform, int body, double friction, int collides);

/* Builds the matrix's pattern, the accelerations of the start and all scratch. No bodies after. */
MN_MUST_CHECK mn_status mn_deform_ready(mn_deform *deform);

/* ---- nodes, bodies and facets, borrowed ------------------------------------------------------ */

typedef struct mn_deform_body {
  char name[64];
  uint32_t first, nodes;      /* its nodes are [first, first + nodes) */
  size_t first_facet, facets; /* its facets */
  int group, groups;          /* its energies are [group, group + groups) */
  int corners;                /* of its elements: 2, 3 or 4 */
  int two_sided;
  double mass;     /* kg */
  double friction; /* Coulomb's; negative: what contact has for deformable bodies */
  int collides;
  double release; /* s: what is fixed of it is let go then; HUGE_VAL: never */
} mn_deform_body;

/* Pointers stand until the next body is added. */
typedef struct mn_deform_view {
  int dim;
  size_t nodes, facets;
  int bodies;
  const mn_deform_body *body;
  mn_vec3 *rest;        /* m */
  mn_vec3 *x, *v, *a;   /* state at the start of the substep */
  mn_vec3 *x1, *v1;     /* of the last solve; contact may change them before commit */
  const double *mass;   /* kg, lumped */
  const uint8_t *fixed; /* MN_FIX_... */
  const mn_facet *facet;
} mn_deform_view;

mn_deform_view mn_deform_get(mn_deform *deform);
/* dt dv1/dx1 - 1 of the scheme: mn_interface.lead. */
double mn_deform_lead(const mn_deform *deform);
mn_scheme mn_deform_scheme(const mn_deform *deform);

/* ---- a substep ------------------------------------------------------------------------------- */

typedef struct mn_deform_report {
  mn_reason reason;
  int iterations;     /* of Newton */
  int factorisations; /* in this solve */
  int line_searches;  /* steps that had to be shortened */
  double residual;    /* N, greatest on a node's axis */
  double initial_residual;
  double scale;                         /* N, that the tolerance refers to */
  double assembly_s, factor_s, solve_s; /* of this solve: work, not state */
} mn_deform_report;

double mn_deform_max_dt(mn_deform *deform); /* s; HUGE_VAL unless explicit */
MN_MUST_CHECK mn_status mn_deform_begin(mn_deform *deform, double t, double dt);
/* load[nodes] in N, constant over the substep; NULL: none. MN_FAILED, with a sentence, if Newton
   does not converge or an element inverts. */
MN_MUST_CHECK mn_status mn_deform_solve(mn_deform *deform, const mn_vec3 *load,
                                        mn_deform_report *report);
/* Something that may press on a point of a facet, or on a node, from the side n points to. With
   d = sum w (x1 - x), how far the point went in the substep, and f = stiffness max(0, n.d - gap):

       force on the point = -f n - friction s / max(|s|, stick),   s = (d - slide) across n

   both inside the implicit equation (explicit bodies do not feel it). */
typedef struct mn_press {
  int nodes; /* 1 to 3, of one element; across: 4, a node and a facet or two edges */
  uint32_t node[4];
  double weight[4]; /* across: of one body positive, sum 1, of the other negative */
  int across;       /* between deformable bodies: d is how far one went relative to the other */
  mn_vec3 n;        /* unit */
  double gap;       /* m, to the other surface where it will be at the end */
  mn_vec3 slide;    /* m, that the other surface travels in the substep */
  double stiffness; /* N/m */
  double friction;  /* N, the most */
  double stick;     /* m, > 0 */
  double normal;    /* N, out: f */
  mn_vec3 force;    /* N, out: on the point; over the substep it is an impulse dt force */
} mn_press;

/* For the solves to come of this substep, each of which fills `normal` and `force`; borrowed until
   the next call or begin. */
void mn_deform_set_press(mn_deform *deform, mn_press *press, size_t count);
/* Inertia added to points of the surface, for the solves to come of this substep: point i feels
   -mass[i] (V_i - velocity[i])/dt, V_i = (X_i - X_i at the start)/dt. points NULL: none, as after
   begin. Borrowed until the next call or begin. */
void mn_deform_set_added(mn_deform *deform, const mn_surface_points *points, const double *mass,
                         const mn_vec3 *velocity);
/* The substep's factorisation, if it is still to come; *fresh: it was. solve calls this. */
MN_MUST_CHECK mn_status mn_deform_prepare(mn_deform *deform, int *fresh);
MN_MUST_CHECK mn_status mn_deform_commit(mn_deform *deform);
MN_MUST_CHECK mn_status mn_deform_save(mn_deform *deform);
MN_MUST_CHECK mn_status mn_deform_restore(mn_deform *deform);
int mn_deform_arrays(mn_deform *deform, mn_array *arrays, int capacity);

/* Equilibrium under gravity and `load`, put on in `steps` equal parts; becomes the state, at rest.
 */
MN_MUST_CHECK mn_status mn_deform_static(mn_deform *deform, const mn_vec3 *load, int steps,
                                         mn_deform_report *report);

/* ---- for couplings that see more than the box ------------------------------------------------ */

/* The implicit matrix A = m M + d C + K (with added masses) of the last factorisation,
   unconstrained and without what contact adds between bodies, in N/m: with x1 = x1(load), dx1/dload
   = sx A^-1, dv1/dload = sv A^-1 on the free axes. NULL if explicit. */
const mn_csr *mn_deform_matrix(const mn_deform *deform, double *sx, double *sv);
/* Of this substep: how far a constant force moves a free mass, over dt^2 force/mass. */
double mn_deform_part(const mn_deform *deform);
/* dx, dv (each may be NULL): the change of x1 and v1 for a change of the load, to first order. */
MN_MUST_CHECK mn_status mn_deform_response(mn_deform *deform, const mn_vec3 *load, mn_vec3 *dx,
                                           mn_vec3 *dv);
/* dE/dx at x in N: minus the elastic forces. MN_FAILED if an element is inverted. */
MN_MUST_CHECK mn_status mn_deform_gradient(mn_deform *deform, const mn_vec3 *x, mn_vec3 *gradient);

/* The equation of motion about an iterate, for a coupling that solves it with a fluid's: A q/sx =
   r + load for the change q of x1 on the free axes (deform_operators.c). */
typedef struct mn_deform_linear {
  const mn_csr *A; /* N/m; rows and columns of fixed axes are cut. Explicit: NULL, A is M/dt^2 */
  double sx;
  const double *r; /* [nodes dim] N, without any load; 0 on fixed axes */
  double scale;    /* N */
} mn_deform_linear;
/* After begin: the iterate becomes the state at the start, prescribed axes on their way. x1, v1 are
   those of the iterate, with prescribed axes where they will be. */
void mn_deform_start(mn_deform *deform);
MN_MUST_CHECK mn_status mn_deform_linearise(mn_deform *deform, mn_curvature curvature,
                                            mn_deform_linear *linear);
/* The iterate, by step q, q [nodes dim] of x1; *taken is shorter if elements would be inverted or,
   under load[nodes], the potential would grow. */
MN_MUST_CHECK mn_status mn_deform_advance(mn_deform *deform, const mn_vec3 *load, const double *q,
                                          double step, double *taken);
/* mn_solid_operators.missed, of that step */
double mn_deform_missed(const mn_deform *deform);

/* ---- probes, of the state; body < 0: all ----------------------------------------------------- */

double mn_deform_kinetic(const mn_deform *deform, int body);                 /* J */
double mn_deform_elastic(mn_deform *deform, int body);                       /* J; NaN: inverted */
mn_vec3 mn_deform_momentum(const mn_deform *deform, int body);               /* kg m/s */
mn_vec3 mn_deform_angular(const mn_deform *deform, int body, mn_vec3 about); /* kg m^2/s */
mn_vec3 mn_deform_center(const mn_deform *deform, int body);                 /* m, of mass */
/* Length over rest length of springs, rods and the edges of elements. */
void mn_deform_stretch(const mn_deform *deform, int body, double *max, double *mean);
double mn_deform_enclosed(const mn_deform *deform,
                          int body); /* m^3, m^2 in 2D; open ones closed at their rims */
/* 1/s: the greatest rate of strain in an elastic body; where materials bear inversion, of F. */
double mn_deform_strain_rate(const mn_deform *deform);
double mn_deform_min_j(const mn_deform *deform, int body); /* of elastic elements; else 1 */

/* Of an elastic body or a shell: how many elements; their Cauchy stress in Pa at the middle
   (shells: of the membrane), each may be NULL. */
size_t mn_deform_elements(const mn_deform *deform, int body);
const uint32_t *mn_deform_element_nodes(const mn_deform *deform, int body, int *nodes);
void mn_deform_stress(const mn_deform *deform, int body, mn_mat3 *cauchy, double *von_mises);
/* N, of the facets of springs and rods: that of a segment, without damping; the mean of a
   triangle's three sides. Of other bodies nothing is written. */
void mn_deform_tension(const mn_deform *deform, int body, double *tension);
/* Volume (area in 2D) of an elastic body's elements over that at rest: J, the mean of an element.
 */
void mn_deform_volume_ratio(const mn_deform *deform, int body, double *ratio);

#endif
