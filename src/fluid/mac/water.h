/* A liquid carried by particles, as part of the grid fluid. */
#ifndef MN_FLUID_MAC_WATER_H
#define MN_FLUID_MAC_WATER_H

#include "fluid/mac/barrier.h"
#include "fluid/mac/particles.h"
#include "meniscus/model.h"

typedef struct mn_mac mn_mac;

/* Where the particles of the state that was saved are. */
typedef enum mn_saved_particles {
  MN_SAVED_COPY,  /* in the saved state */
  MN_SAVED_STATE, /* in the state, which has not changed since */
  MN_SAVED_NEXT   /* in `next`: there was one commit since */
} mn_saved_particles;

/* Work of the particle liquid; its state is in mn_mac_state. */
typedef struct mn_water {
  int on;            /* the fluid is water carried by particles */
  mn_particles next; /* particles at the end of the substep; after commit those before it */
  mn_saved_particles saved;
  mn_particle_cells cells; /* of `next` */
  mn_field weight[3];      /* faces: volume that particles brought, in units of `unit` */
  mn_field before[3];      /* faces: velocity before forces; flip only */
  mn_field density;        /* cells: volume of particles over that of the space, 1 inside */
  mn_field target;         /* cells: divergence asked for where there is room, 1/s */
  mn_field space;          /* cells: what full space around would bring, 1 away from walls */
  uint32_t *past;  /* of each cell: those around that no wall parts from it (bits as of mn_sight) */
  int space_known; /* both */
  unsigned char *hole;       /* of each cell; scratch of surface.c */
  int hollow;                /* 1, for a test alone: see surface.c, fill_holes */
  unsigned char *near_solid; /* of each cell: a particle in it may be near a solid; see water.c */
  int near_known;
  double unit;    /* volume of a fresh particle, m^dim */
  uint32_t *seen; /* cells around that each particle of `next` sees (mn_sight); beside shells */
  size_t seen_room;
  struct mn_water_pieces *pieces; /* see density.c */
  struct mn_water_halves *halves; /* the same */
} mn_water;

/* water.c */
/* Particles only mark where the liquid is: the velocity is carried on the grid. */
int mn_water_is_marked(const mn_mac *mac);
/* Part of the domain that is water at the start, from samples. */
double mn_water_part(const mn_model_def *def);
/* Doubles per cell that particles take. */
double mn_water_rows(const mn_model_def *def);
MN_MUST_CHECK mn_status mn_water_create(mn_mac *mac);
void mn_water_destroy(mn_mac *mac);
/* MN_BAD_INPUT, for there is no water, unless an inflow will bring some. */
MN_MUST_CHECK mn_status mn_water_missing(mn_mac *mac);
/* Particles in the initial shape; the level set liquid_next from them. */
MN_MUST_CHECK mn_status mn_water_seed(mn_mac *mac);
/* Particles moved along the trace velocity, liquid_next from them, star from their velocities. */
MN_MUST_CHECK mn_status mn_water_begin(mn_mac *mac);
/* Sorts the particles `next` by cell: kept out of solids and within the domain; those beyond open
   sides, in drains, and of the first `marked` those with the mark -1, are removed. */
MN_MUST_CHECK mn_status mn_water_sort(mn_mac *mac, size_t marked);
/* The same of particles that were sorted: of the first `marked` only those with the mark 1 have
   moved since, with 0 they have not. */
MN_MUST_CHECK mn_status mn_water_sort_again(mn_mac *mac, size_t marked);
/* What the particles `next` see, if there are thin shells. */
MN_MUST_CHECK mn_status mn_water_look(mn_mac *mac);
/* Particles that shells pass on their last way are pushed ahead of them. */
MN_MUST_CHECK mn_status mn_water_push(mn_mac *mac);
/* Velocities of the particles from the new grid velocity; they become the state. */
void mn_water_commit(mn_mac *mac);
/* Particles are saved without a copy, which is only made if there is more than one substep until
   they are restored. */
void mn_water_save(mn_mac *mac);
MN_MUST_CHECK mn_status mn_water_restore(mn_mac *mac);

/* seed.c */
MN_MUST_CHECK mn_status mn_water_fill(mn_mac *mac);
MN_MUST_CHECK mn_status mn_water_resample(mn_mac *mac);
/* To `next`. */
MN_MUST_CHECK mn_status mn_water_add_particle(mn_mac *mac, mn_vec3 x, mn_vec3 v, double volume);
/* A thin shell stands between x and y. */
int mn_water_is_hidden(const mn_mac *mac, mn_vec3 x, mn_vec3 y);

/* emit.c */
/* What inflows bring in the substep comes to `next`. */
MN_MUST_CHECK mn_status mn_water_emit(mn_mac *mac);

/* transfer.c */
/* u <- the particles' velocities where their weight is enough, weight <- their volume there */
void mn_water_to_grid(mn_mac *mac, const mn_particles *p, mn_field u[3]);
/* weight <- the markers' volume at faces, as far as it is needed to tell whether it is enough */
void mn_water_mark_faces(mn_mac *mac, const mn_particles *p);
/* v and c of each particle from u. With `before`, v = flip (v + (u - before)(x)) + (1 - flip) u(x).
 */
void mn_water_from_grid(mn_mac *mac, const mn_field u[3], const mn_field *before, double flip,
                        mn_particles *p);

/* density.c */
/* Space that solids leave in a half cell about x, in [0, 1], and its middle. */
typedef struct mn_half_cell {
  double part;
  mn_vec3 center;
} mn_half_cell;
mn_half_cell mn_water_half_cell(const mn_mac *mac, mn_vec3 x);
/* Space in the half cell about x, apart on the two sides of a thin shell: 1 or 2 pieces, with what
   they see. */
typedef struct mn_piece {
  double part;
  mn_vec3 center;
  mn_sight sight;
} mn_piece;
int mn_water_split_half_cell(const mn_mac *mac, mn_vec3 x, mn_piece piece[2]);
void mn_water_destroy_pieces(mn_mac *mac);
void mn_water_destroy_halves(mn_mac *mac);
/* density and the level set from the particles `next` */
MN_MUST_CHECK mn_status mn_water_density(mn_mac *mac);
/* Whether a solid closes the face of the cell `at` along the axis, above or below it. */
int mn_water_is_wall(const mn_mac *mac, const int at[3], int axis, int up);
MN_MUST_CHECK mn_status mn_water_level_set(mn_mac *mac, mn_field *phi);

/* air.c */
/* Air, an open side, or water that parts from its walls lay so near the cell at the start of the
   substep, past all walls, that there can be air in it now. */
int mn_air_was_near(const mn_mac *mac, int i, int j, int k);
/* Of the cells marked 1 those stay so that may hold air which was trapped; 0 for all others. *any:
   there are some. */
MN_MUST_CHECK mn_status mn_air_find_trapped(mn_mac *mac, unsigned char *hole, int *any);

/* volume.c */
/* Of all particles; *spray <- of those too far off the surface phi - shift to be under it */
double mn_water_particles_volume(mn_mac *mac, const mn_particles *p, const mn_field *phi,
                                 double shift, double *spray);
/* phi shifted a little, so that it encloses the volume of the particles */
void mn_water_enclose(mn_mac *mac, mn_field *phi);
/* target <- the divergence that brings the density back to 1 */
void mn_water_target(mn_mac *mac, const mn_field *phi);
/* The same of a cell in a region without air, where too few particles are no surface */
double mn_water_wish_without_air(const mn_mac *mac, int i, int j, int k);
/* The net flow into closed regions, if beyond sum_tolerance (of b), that air trapped in them takes
   up: into the target; *changed: some did. trapped.c */
MN_MUST_CHECK mn_status mn_water_take_up(mn_mac *mac, double dt, double sum_tolerance,
                                         int *changed);
/* What walls push into a cell, in its volumes a second; nothing where a source blows. trapped.c */
double mn_water_pushed(const mn_mac *mac, int i, int j, int k);

/* Faces with less particle volume than this part of a particle's have no velocity of their own. */
#define MN_WATER_WEIGHT_MIN 1e-6

#endif
