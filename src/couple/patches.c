/* Points of one body within one cube of a lattice make a patch: with an edge of a cell or so, of
   half a dozen points, over which the motion of a body that fills space and the fluid's answer vary
   little. Cloth has waves as short as that, and takes some percent more fluid solves with patches:
   none are made where there is any. Freedoms of rigid bodies, and what stands behind the map in x,
   are patches of their own. Verified by tests/unit/couple/test_patches.c. */
#include "couple/patches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "math/vec.h"

enum { MANY = 1000 }; /* points, from which on */

typedef struct spot {
  int body;
  int64_t cube[3];
  size_t point;
} spot;

static int same_patch(const spot *s, const spot *t)
{
  return s->body == t->body && !memcmp(s->cube, t->cube, sizeof s->cube);
}

static int by_place(const void *a, const void *b)
{
  const spot *s = a, *t = b;
  if (s->body != t->body)
    return s->body < t->body ? -1 : 1;
  for (int axis = 0; axis < 3; axis++)
    if (s->cube[axis] != t->cube[axis])
      return s->cube[axis] < t->cube[axis] ? -1 : 1;
  return (s->point > t->point) - (s->point < t->point);
}

static void list_spots(const mn_interface *f, double edge, spot *spots)
{
  static const double far = 1e15; /* no lattice is that large: all beyond is one cube */
  for (size_t i = 0; i < f->count; i++) {
    spots[i] = (spot){.body = f->body[i], .point = i};
    for (int a = 0; a < f->dim; a++)
      spots[i].cube[a] = (int64_t)floor(mn_clamp(f->X[i].v[a] / edge, -far, far));
  }
  qsort(spots, f->count, sizeof *spots, by_place);
}

/* The patch of each point; returns how many there are. */
static size_t gather(const spot *spots, size_t count, uint32_t *of_point)
{
  size_t patches = 0;
  for (size_t n = 0; n < count; n++) {
    patches += n == 0 || !same_patch(&spots[n], &spots[n - 1]);
    of_point[spots[n].point] = (uint32_t)(patches - 1);
  }
  return patches;
}

/* Patches of x in the order in which they are met; `number` has room for those of all points. */
static size_t fill_x(const mn_vector_map *map, size_t size, const uint32_t *of_point,
                     uint32_t *number, uint32_t *x_patch)
{
  const uint32_t none = UINT32_MAX;
  size_t dim = (size_t)map->dim, count = 0;
  for (size_t k = 0; k < size; k++)
    x_patch[k] = none;
  for (size_t i = 0; i < map->count; i++)
    number[i] = none; /* there are no more patches than points */
  for (size_t i = 0; i < map->count; i++) {
    uint32_t *n = &number[of_point[i]];
    if (map->rigid[i])
      continue;
    if (*n == none) {
      *n = (uint32_t)count;
      count += dim;
    }
    for (size_t a = 0; a < dim; a++)
      x_patch[map->first[i] + a] = *n + (uint32_t)a;
  }
  for (size_t k = 0; k < size; k++)
    if (x_patch[k] == none)
      x_patch[k] = (uint32_t)count++;
  return count;
}

static int has_cloth(const mn_interface *f)
{
  return memchr(f->two_sided, 1, f->count) != NULL;
}

mn_status mn_patches_create(mn_context *ctx, const mn_interface *f, const mn_vector_map *map,
                            size_t size, double edge, mn_rmi_patches *patches)
{
  size_t dim = (size_t)f->dim;
  spot *spots = NULL;
  uint32_t *of_point = NULL, *number = NULL;
  *patches = (mn_rmi_patches){0};
  if (f->count < MANY || f->count > UINT32_MAX / 8 || has_cloth(f))
    return MN_OK;
  mn_status status = MN_NEW(ctx, "points by place", f->count, &spots);
  if (status == MN_OK)
    status = MN_NEW(ctx, "patches", f->count, &of_point);
  if (status == MN_OK)
    status = MN_NEW(ctx, "patches", f->count, &number);
  if (status == MN_OK)
    status = MN_NEW(ctx, "patches", size, &patches->x_patch);
  if (status == MN_OK)
    status = MN_NEW(ctx, "patches", dim * f->count, &patches->p_patch);
  if (status == MN_OK) {
    list_spots(f, edge, spots);
    patches->p_count = dim * gather(spots, f->count, of_point);
    for (size_t k = 0; k < dim * f->count; k++)
      patches->p_patch[k] = (uint32_t)(dim * of_point[k / dim] + k % dim);
    patches->x_count = fill_x(map, size, of_point, number, patches->x_patch);
  } else
    mn_patches_destroy(patches);
  mn_free(spots);
  mn_free(of_point);
  mn_free(number);
  return status;
}

void mn_patches_destroy(mn_rmi_patches *patches)
{
  mn_free(patches->x_patch);
  mn_free(patches->p_patch);
  *patches = (mn_rmi_patches){0};
}
