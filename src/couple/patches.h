/* Neighbouring points of a surface in patches, for the inner products of long vectors. */
#ifndef MN_COUPLE_PATCHES_H
#define MN_COUPLE_PATCHES_H

#include "couple/rmi_tune.h"
#include "couple/vector.h"

/* Patches of the vectors x, of `size` entries of which the map has the first, and p, by cubes with
   an edge of `edge` m. No arrays if
   the surface has too few points for it to pay, or is cloth. Destroyed by mn_patches_destroy. */
MN_MUST_CHECK mn_status mn_patches_create(mn_context *ctx, const mn_interface *interface,
                                          const mn_vector_map *map, size_t size, double edge,
                                          mn_rmi_patches *patches);
void mn_patches_destroy(mn_rmi_patches *patches);

#endif
