/* Closed regions: what the coupling is told of them, and the pressure that it found. */
#ifndef MN_FLUID_MAC_ENCLOSE_H
#define MN_FLUID_MAC_ENCLOSE_H

#include "meniscus/box.h"

typedef struct mn_mac mn_mac;

/* A cell with a gap between obstacles (gaps.c). */
typedef struct mn_gap {
  int at[3];
  int32_t region; /* told; -1: none */
  double flow;    /* m^3/s, into it */
} mn_gap;

/* Work; the pressure found is state (`lift`). */
typedef struct mn_enclosure {
  int known; /* the coupling asked in this substep: regions and labels below are of its surfaces */
  int lifted;
  mn_enclosed told;
  size_t room; /* regions: */
  int *number; /* of a region of the pressure solver among those told, or -1 */
  size_t *cells;
  double *inflow, *blown, *volume;
  double *hidden; /* m^3/s, the part of the inflow that no face shows */
  mn_vec3 *center;
  double *sum;      /* scratch of lift and gauge: [2 * room] */
  int64_t *lead;    /* scratch of lift */
  uint8_t *parted;  /* as told */
  uint8_t *kept;    /* interface.kept, of the one system */
  uint8_t *broad;   /* some element faces it across a gap that the grid resolves */
  uint8_t *whole;   /* as told */
  size_t side_room; /* sides of elements: */
  int32_t *facing;
  uint8_t *narrow;
  double *bare, *room_ahead; /* of sides, as told */
  size_t point_room;         /* points: */
  int32_t *beside; /* what the sides of the elements around each face, in front and behind */
  uint32_t *odd;   /* not 0: the surface ends there */
  int32_t *label;  /* cells with ghosts: the region told, or -1 */
  mn_gap *gap;
  size_t gaps, gap_room;
} mn_enclosure;

void mn_enclosure_destroy(mn_enclosure *e);
/* in_walls.c: the part of an element that is in no wall of the fluid's own; *middle: of that. */
double mn_mac_bare_part(const mn_mac *mac, const mn_interface *f, size_t element, mn_vec3 *middle);
/* mn_fluid_ops.enclose, .lift */
MN_MUST_CHECK mn_status mn_mac_enclose(void *self, const mn_interface *interface,
                                       mn_enclosed *enclosed);
MN_MUST_CHECK mn_status mn_mac_lift(void *self, const double *p0, int count);
/* Adds to `inflow` what driven obstacles squeeze out of gaps that the grid does not see; while
   bodies stand still. */
MN_MUST_CHECK mn_status mn_mac_add_gaps(mn_mac *mac);
/* number[r] <- the region told to which most of region r of the pressure solver belonged, or -1:
   surfaces may have been placed anew since. If nobody asked, as they would be told now. */
MN_MUST_CHECK mn_status mn_mac_number_closed(mn_mac *mac);
/* `each` sums, 0, at most 3, for each region of the pressure solver; scratch. */
MN_MUST_CHECK mn_status mn_mac_region_sums(mn_mac *mac, int each, double **sum);
/* dp has mean 0 over the volume of each closed region, if the coupling asked for them. */
MN_MUST_CHECK mn_status mn_mac_gauge(mn_mac *mac);

#endif
