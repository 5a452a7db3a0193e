/* Thin shells over a substep: what the fluid carries never passes them.

   begin    from the shells' place at its start to where their velocity takes them: paths are cut,
            values looked up on the right side
   solve    from there to where the solve wants them: points that they pass are filled from their
   commit   new side */
#ifndef MN_FLUID_MAC_SHELL_H
#define MN_FLUID_MAC_SHELL_H

#include "fluid/mac/barrier.h"
#include "grid/sweep.h"

typedef struct mn_mac mn_mac;

/* Fields that are mended within a substep. */
enum {
  MN_MEND_STAR, /* three components */
  MN_MEND_LIQUID = MN_MEND_STAR + 3,
  MN_MEND_PRESSURE, /* of the last substep, in begin */
  MN_MENDED
};

typedef struct mn_shell {
  int on;                /* thin shells in this substep */
  int see_through;       /* a control for tests: 1 leaks */
  mn_barrier start, end; /* at the start, and at the end as far as it is known */
  mn_sweep sweep;        /* to `end`, from the start or from where `end` was before */
  mn_vec3 *last;         /* X of `end` as expected in begin */
  size_t last_room;
  unsigned char *far; /* of each cell: to the nearest that a shell touches, in cells, at most 255 */
  unsigned char *walls;    /* of each cell with ghosts: see mn_shell_walls */
  int reach;               /* cells further away have nothing to do with shells */
  double *along, *carried; /* sides of blocked links: in begin at the start, of the trace velocity
                              and of the state's */
  size_t side_room;
  unsigned char *hole; /* points without a value, of any field */
  int64_t *list;       /* of them; with room for all points near shells */
  double *fill;
  size_t list_room;
  struct mn_shell_undo {
    int64_t *at;
    double *value;
    size_t count, room;
  } undo[MN_MENDED]; /* what mending changed, and where */
  long stamp;        /* of the placement for which it was done */
  int64_t lost;      /* particles that no place was found for, whose volume others have now; a count
                        since the beginning */
} mn_shell;

void mn_shell_destroy(mn_shell *s);

/* After the trace velocity is made. `start`, `end`: surfaces at the start of the substep and where
   they are expected at its end; V the velocities of their points. */
MN_MUST_CHECK mn_status mn_shell_begin(mn_mac *mac, const mn_immersed *start,
                                       const mn_immersed *end, const mn_vec3 *V);
/* The path that ends in x, in cells, with the velocity k1 there, as far back as the tracer says: 1,
   and *y where it began, if it comes nowhere near a shell; 0 if it might. */
struct mn_tracer;
int mn_shell_passes_by(const mn_shell *s, const struct mn_tracer *t, mn_vec3 x, mn_vec3 k1,
                       mn_vec3 *y);
/* Bits 2 axis (below) and 2 axis + 1 (above) of the blocked links of each cell, at the end of the
   substep; index as in a field. NULL: no shells. One caller at a time. */
const unsigned char *mn_shell_walls(mn_mac *mac);
/* What the middle of a cell sees of the cells around; see mn_sight. */
uint32_t mn_shell_seen(const mn_mac *mac, int i, int j, int k);

/* Is the cell (i, j, k), or the cell above a face, so far from shells that no path from it meets
   one? */
static inline int mn_shell_is_far(const mn_shell *s, const mn_grid *g, int i, int j, int k)
{
  i = i < g->n[0] ? i : g->n[0] - 1;
  j = j < g->n[1] ? j : g->n[1] - 1;
  k = k < g->n[2] ? k : g->n[2] - 1;
  return s->far[i + (int64_t)g->n[0] * (j + (int64_t)g->n[1] * k)] > s->reach;
}

/* What is carried to x along a path of the time dt that shells may cut: the value of `from`, or NAN
   if there is none on this side. *raw <- where the path would begin, in cells, *cut <- whether a
   shell cut it. */
double mn_shell_carried(const mn_mac *mac, double dt, const mn_field *from, mn_vec3 x, mn_vec3 *raw,
                        int *cut);
/* Where a path from x0 at the start ends at the end of the substep. 0: there is no such place. */
int mn_shell_move(const mn_mac *mac, double dt, mn_vec3 x0, mn_vec3 *x1);
/* The end of a straight path from x0 to x1, cut if it meets a shell; 0: none found. */
int mn_shell_stop(const mn_shell *s, mn_vec3 x0, mn_vec3 *x1);
/* 1: such a path meets none. */
int mn_shell_lets_by(const mn_shell *s, mn_vec3 x0, mn_vec3 x1);
/* May a point have to do with shells: does it lie in a cell beside one? */
int mn_shell_is_beside(const mn_shell *s, mn_vec3 x);

/* Fills the points of f marked in `hole`, and unmarks them: means of neighbours with a value, layer
   by layer, never across a shell at the end; `otherwise` where there is none. */
void mn_shell_refill(mn_mac *mac, mn_field *f, double otherwise);
/* Marks the points of f that the shells pass; returns how many. */
int64_t mn_shell_mark_passed(mn_mac *mac, const mn_field *f);

/* Room in `along` and `carried`. */
MN_MUST_CHECK mn_status mn_shell_reserve_sides(mn_mac *mac, size_t links);
/* Distances to what the sweep touches, and room for the points near it. */
MN_MUST_CHECK mn_status mn_shell_measure(mn_mac *mac);

/* shell_step.c */
/* The shells at the end are not where they were expected, but where `end` is now: the sweep goes
   from there to here, and what the solve reads (the velocity before it, the level set) is mended
   where they pass. As often as need be, each time from what `begin` left. */
MN_MUST_CHECK mn_status mn_shell_place(mn_mac *mac, const mn_immersed *end, const mn_vec3 *V,
                                       long stamp);
/* mac->gradient, that of the last pressure, where cells change sides on the way to the expected
   end: as it is for their new side. */
MN_MUST_CHECK mn_status mn_shell_turn_gradient(mn_mac *mac);
/* The same for what is carried, and for particles; the last of the substep. */
MN_MUST_CHECK mn_status mn_shell_commit(mn_mac *mac);
/* Near shells the velocity of the substep before says nothing about the next: it may be that of the
   other side. */
void mn_shell_forget_before(mn_mac *mac);
/* The shells where they are at the time of the state. */
MN_MUST_CHECK mn_status mn_shell_meet(mn_mac *mac);

#endif
