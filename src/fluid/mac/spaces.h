/* Spaces of a water scene: parts of the domain that walls and surfaces keep apart, with the water
   and the air in them. */
#ifndef MN_FLUID_MAC_SPACES_H
#define MN_FLUID_MAC_SPACES_H

#include "meniscus/base.h"

typedef struct mn_mac mn_mac;

typedef struct mn_space {
  size_t cells;
  int open;           /* 1: its air is that of the outside */
  int full;           /* 1: no air, or so little that it counts as water */
  double volume, air; /* in cells; air: before it was taken for water */
} mn_space;

/* Work. */
typedef struct mn_spaces {
  int count;
  mn_space *space;
  int32_t *of;        /* cells with ghosts: the space, or -1 */
  int32_t (*list)[3]; /* of one space */
  size_t room;        /* spaces, and below cells taken for water: */
  size_t taken, taken_room;
  int64_t *taken_at;
  double *taken_phi; /* the level set as it was */
} mn_spaces;

void mn_spaces_destroy(mn_spaces *s);
/* Which spaces there are, by the surfaces as placed; voids of full ones become water. Nothing to do
   for smoke. */
MN_MUST_CHECK mn_status mn_mac_find_spaces(mn_mac *mac);
/* Before surfaces are placed anew: the level set as it was. */
void mn_mac_forget_spaces(mn_mac *mac, int restore);

#endif
