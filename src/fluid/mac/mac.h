/* Smoke and water on the staggered grid, behind the fluid black box. */
#ifndef MN_FLUID_MAC_MAC_H
#define MN_FLUID_MAC_MAC_H

#include "fluid/mac/particles.h"
#include "grid/grid.h"
#include "meniscus/box.h"
#include "meniscus/model.h"
#include "pressure/lcp.h"

/* What writers and probes may look at, at the current time. Fields are borrowed. */
typedef struct mn_mac_view {
  const mn_grid *grid;
  const mn_field *velocity; /* [dim] at faces, m/s */
  const mn_field *pressure; /* at cells, Pa, hydrostatic part included; 0 where there is no fluid */
  const mn_field *smoke;    /* at cells; NULL for water */
  const mn_field *temperature;   /* at cells, K; NULL if the scene carries none */
  const mn_field *liquid;        /* level set at cells, m, negative in the liquid; NULL for smoke */
  const mn_particles *particles; /* that carry the liquid; NULL if none do */
  const mn_field *solid;     /* at nodes, m, signed distance to the solids, positive in the fluid */
  const mn_field *obstacles; /* the same without the bodies of an interface */
  const mn_field *open;      /* [dim] open fraction of the faces, 1 on open domain sides */
  const mn_field *volume;    /* at cells, fluid part in [0, 1] */
  const unsigned char
      *empty; /* with volume->data: 1 where neither fluid nor solid is; may be NULL */
} mn_mac_view;

/* Integrals over the fluid. */
typedef struct mn_mac_totals {
  double kinetic_energy; /* J */
  double volume;         /* m^3; of water with that of spray */
  double particles;      /* m^3, of those that carry water; 0 if none do */
  double mended;         /* m^3, put back by the shift of a level set in the last substep */
  double smoke;          /* m^3 */
  mn_vec3 momentum;      /* kg m/s */
  double divergence;     /* 1/s, greatest */
  double max_speed;      /* m/s */
} mn_mac_totals;

/* The def is borrowed and must outlive the fluid. */
MN_MUST_CHECK mn_status mn_mac_create(mn_context *ctx, const mn_model_def *def, mn_fluid *fluid);
/* Bytes that mn_mac_create will allocate for this def, to refuse before trying. */
double mn_mac_bytes(const mn_model_def *def);

/* A pressure equation of water that is about to be solved; borrowed. */
typedef struct mn_mac_equation {
  const mn_grid *grid;
  const mn_pressure_geometry *geometry;
  const mn_lcp *lcp; /* of walls that water can leave, without matrix if geometry_only; or NULL */
  const mn_field *b, *start;
  double tolerance; /* in b's unit */
} mn_mac_equation;

/* Somebody who is shown every pressure equation, to solve it in other ways; changes nothing. */
typedef struct mn_mac_watcher {
  mn_status (*see)(void *user, const mn_mac_equation *equation);
  void *user;
} mn_mac_watcher;
void mn_mac_watch(const mn_fluid *fluid, mn_mac_watcher watcher);

mn_mac_view mn_mac_look(const mn_fluid *fluid);
/* Velocity of a particle, m/s; that of a marker is the grid's. */
mn_vec3 mn_mac_particle_velocity(const mn_fluid *fluid, size_t particle);
mn_mac_totals mn_mac_measure(const mn_fluid *fluid);

#endif
