/* How a fluid and a solid are coupled: the choices of a scene's couple{}. */
#ifndef MENISCUS_COUPLING_H
#define MENISCUS_COUPLING_H

#include "meniscus/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mn_coupling_method {
  MN_COUPLE_XPM,     /* the reduced model with all that makes it cheap and robust */
  MN_COUPLE_RMI,     /* the reduced model alone */
  MN_COUPLE_AITKEN,  /* relaxation by Aitken's rule */
  MN_COUPLE_RELAXED, /* relaxation by a fixed omega */
  MN_COUPLE_WEAK     /* one solve of each side: not converged, and unstable for light solids */
} mn_coupling_method;

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

typedef struct mn_coupling_def {
  mn_coupling_method method;
  double tolerance;   /* of a cell's width, by which the interface may still move */
  int max_iterations; /* fluid solves of a substep; then it is retried with half the step */
  double omega;       /* relaxation: all of it, or the first one of the other methods */
  mn_coupling_load load;
  mn_coupling_rigid rigid;
  int reuse;     /* earlier substeps whose secants are kept; 0: none */
  double filter; /* of nearly dependent secants; 0: none is dropped */
  int predictor; /* order of the extrapolation: 0, 1, 2 */
  mn_coupling_mass mass;
  int frozen;           /* the fluid keeps the surface's place of the first solve of a substep */
  double kernel_radius; /* of the transfer, in cells */
  double spacing;       /* of interface points, in cells */
  int published;        /* details of the iteration, too, as its authors printed them */
  int adapt;            /* shorten steps after hard substeps, lengthen them after easy ones */
} mn_coupling_def;

/* The best that is known for a method or, with `published`, the method as its authors printed it:
   no reuse, no fictitious mass, geometry that follows every solve, and pressure loads unless the
   method is xpm. */
mn_coupling_def mn_coupling_def_default(mn_coupling_method method, int published);

#ifdef __cplusplus
}
#endif
#endif
