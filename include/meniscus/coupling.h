/* How a fluid and a solid are coupled: the choices of a scene's couple{}. */
#ifndef MENISCUS_COUPLING_H
#define MENISCUS_COUPLING_H

#include "meniscus/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mn_coupling_method {
  MN_COUPLE_XPM,          /* the reduced model with all that makes it cheap and robust */
  MN_COUPLE_RMI,          /* the reduced model alone */
  MN_COUPLE_AITKEN,       /* relaxation by Aitken's rule */
  MN_COUPLE_RELAXED,      /* relaxation by a fixed omega */
  MN_COUPLE_WEAK,         /* one solve of each side: not converged, and unstable for light solids */
  MN_COUPLE_SIMULTANEOUS, /* one linear system for both, with the solid's tangent at the start */
  MN_COUPLE_MONOLITHIC,   /* the same, symmetric and momentum conserving, to convergence */
  MN_COUPLE_AUTO          /* picked from what the scene contains when a world is made of it */
} mn_coupling_method;

/* How simultaneous and monolithic solve their linear systems. */
typedef enum mn_coupling_solver {
  MN_SOLVER_AUTO,   /* direct for small systems, else minres for light rigid bodies, or cg */
  MN_SOLVER_DIRECT, /* sparse LU of the whole system */
  MN_SOLVER_CG,     /* the positive-definite form: the pressure alone, the solid eliminated */
  MN_SOLVER_MINRES  /* the symmetric form: both, indefinite */
} mn_coupling_solver;

/* Elastic forces (and rotations) within a substep of monolithic. */
typedef enum mn_coupling_elastic {
  MN_ELASTIC_CONVERGED,
  MN_ELASTIC_LINEARISED
} mn_coupling_elastic;

/* What the fluid hands to the solid. */
typedef enum mn_coupling_load {
  MN_LOAD_IMPULSE, /* of whole dual cells: conserves momentum */
  MN_LOAD_PRESSURE /* pressure differences times areas: does not */
} mn_coupling_load;

/* What the reduced model sees of rigid bodies. */
typedef enum mn_coupling_rigid {
  MN_RIGID_POINTS,  /* their points, as of any body */
  MN_RIGID_FREEDOMS /* translation and rotation */
} mn_coupling_rigid;

/* Fictitious mass on the solid's side, which the fluid's loads give back: it changes how fast the
   iteration converges, not where to. */
typedef enum mn_coupling_mass {
  MN_MASS_NONE,
  MN_MASS_DUAL,  /* the fluid's own mass in the dual cells that it shares with the solid */
  MN_MASS_FITTED /* half of the largest added mass per area seen so far */
} mn_coupling_mass;

/* How the constant part p0 of the pressure in closed regions is found. */
typedef enum mn_coupling_closed {
  MN_CLOSED_ELIMINATED, /* inside every solve of the solid: the iteration does not see it */
  MN_CLOSED_SOLID,      /* one correction in each iteration, by the momentum of the solid */
  MN_CLOSED_FLUID,      /* the same by that of the fluid: fails for heavy solids */
  MN_CLOSED_NONE        /* not at all: what encloses the region does not give way */
} mn_coupling_closed;

typedef struct mn_coupling_def {
  mn_coupling_method method;
  double tolerance;   /* of a cell's width, by which the interface may still move */
  int max_iterations; /* solves of a substep; then it is retried with half the step */
  double omega;       /* relaxation: all of it, or the first one of the other methods */
  mn_coupling_load load;
  mn_coupling_rigid rigid;
  int reuse;     /* earlier substeps whose secants are kept; 0: none */
  double filter; /* of nearly dependent secants; 0: none is dropped */
  int predictor; /* order of the extrapolation: 0, 1, 2 */
  mn_coupling_mass mass;
  mn_coupling_closed closed;
  int frozen;           /* the fluid keeps the surface's place of the first solve of a substep */
  double kernel_radius; /* of the transfer, in cells */
  double spacing;       /* of interface points, in cells */
  int published;        /* details of the iteration, too, as its authors printed them */
  int adapt;            /* shorten steps after hard substeps, lengthen them after easy ones */
  mn_coupling_solver solver;
  mn_coupling_elastic elastic;
} mn_coupling_def;

/* The best that is known for a method or, with `published`, the method as its authors printed it:
   no reuse, no fictitious mass, geometry that follows every solve, and pressure loads unless the
   method is xpm. */
mn_coupling_def mn_coupling_def_default(mn_coupling_method method, int published);

enum { MN_REGIONS_MAX = 32 }; /* closed ones, at a time */

/* A closed region, as a substep leaves it. m^3 are m^2 in 2D. */
typedef struct mn_region_info {
  int id;             /* from 1 on; kept as long as the region lives */
  double p0;          /* Pa, mean pressure */
  double inflow;      /* m^3/s, from sources and driven walls, mean over the substep */
  double net_outflow; /* m^3/s, rate of its volume as its surfaces moved, less the inflow */
  double volume;      /* m^3, on the grid; 0 if that cannot tell */
  double error;       /* m^3, change of its volume less what flowed in, since it is known */
  mn_vec3 center;     /* m */
  size_t cells;
} mn_region_info;

#ifdef __cplusplus
}
#endif
#endif
