/* Thin surfaces at one time, as barriers to what the fluid's grid knows: who sees whom.

   Cells are neighbours if the link between their centres is not blocked. A point belongs to the
   nearest cell whose centre it sees, its home, and sees the cells around that it reaches from there
   by links, without turning back. Since blocked links are watertight, nobody sees across a closed
   surface, or across one that ends at walls. */
#ifndef MN_FLUID_MAC_BARRIER_H
#define MN_FLUID_MAC_BARRIER_H

#include "grid/immersed.h"

typedef struct mn_barrier {
  const mn_immersed *surface; /* borrowed; NULL: none */
  mn_vec3 *normal;            /* unit, of the element that blocks each link */
  double *speed;              /* m/s, of the surface there, along the normal */
  size_t room;
} mn_barrier;

/* What a point sees of the 3^dim cells around its own. */
typedef struct mn_sight {
  mn_vec3 at;    /* the point, in cells from the low corner of the local box, within the domain */
  int own[3];    /* the cell that it lies in */
  uint32_t seen; /* bit mn_sight_bit(i - own) of each cell */
} mn_sight;

#define MN_SEEN_ALL UINT32_C(0x7ffffff)

/* Of the cell at an offset in {-1, 0, 1} along each axis. */
static inline uint32_t mn_sight_bit(int i, int j, int k)
{
  return UINT32_C(1) << (i + 1 + 3 * (j + 1) + 9 * (k + 1));
}

/* The surfaces as placed, V the velocities of their points. */
MN_MUST_CHECK mn_status mn_barrier_place(mn_barrier *b, const mn_immersed *surface,
                                         const mn_vec3 *V);
void mn_barrier_destroy(mn_barrier *b);

/* From the point x; `seen` is 0 if it sees no cell at all. */
mn_sight mn_barrier_look(const mn_barrier *b, mn_vec3 x);
/* From the middle of a cell. */
uint32_t mn_barrier_around(const mn_immersed *surface, const int cell[3]);
/* The same if nothing is in the way. */
mn_sight mn_barrier_clear(const mn_grid *g, mn_vec3 x);

/* Does nothing block the way from point `at` of a field to the next along the axis (up: to the
   higher)? For faces: the way through the cells on either side. */
int mn_barrier_linked(const mn_immersed *surface, mn_place place, const int at[3], int axis,
                      int up);

/* Velocity along the axis of each blocked link as felt from its lower and its upper cell: the
   fluid's own there, with the surface's along the normal. side[2 * links] */
void mn_barrier_sides(const mn_barrier *b, const mn_field u[3], double *side);

/* Is point `at` of a field of this place, at most one cell from the sight's own, seen? An open face
   is if one of its cells is. */
int mn_sight_sees(const mn_sight *s, mn_place place, const int at[3]);

/* Multilinear interpolation in what is seen, weights made to sum to 1. *whole <- everything around
   was seen. NAN if nothing is. */
double mn_barrier_cells(const mn_sight *s, const mn_field *f, int *whole);
/* Of a velocity component; blocked faces have the values `side`. */
double mn_barrier_faces(const mn_barrier *b, const mn_sight *s, const mn_field *f,
                        const double *side, int *whole);
mn_vec3 mn_barrier_velocity(const mn_barrier *b, const mn_sight *s, const mn_field u[3],
                            const double *side);

#endif
