/* The method for a scene, from what it contains.

   What decides is mu = m_a/m, the mass of the fluid that a body moves over its own: asking both
   sides once leaves an error of mu in the forces, and diverges for mu > 1. m_a is guessed from the
   area A that the body shows along an axis, as that of a plate:

       2D: pi/4 rho A^2        3D: 8/3 rho (A/pi)^(3/2)

   (exact for plates; a disk in 2D has the same, a sphere 0.8 of it), or as all of the fluid where
   the body shows most of the domain's cross-section: a piston moves a whole column. m is
   what the solid answers to even loads along that axis. The guess is used against a bound that it
   passes or misses by far in most scenes. Verified by tests/unit/couple/test_pick.c. */
#include "couple/pick.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/status.h"
#include "couple/boxes.h"
#include "couple/closed.h"
#include "la/sparse_lu.h"
#include "math/vec.h"

/* Bodies so light that asking both sides in turn diverges: one system has no iteration that could.
   On grids of any size for water that can leave them, where its answers have kinks that secants do
   not see. Not for closed regions around which something gives way, whose volumes xpm keeps to
   rounding.
   `weak` is never taken for bodies that give way, be they ever so heavy: where they close a region
   on their way, nothing finds its pressure with them. */
static const double LIGHT = 1;
/* 2D, 3D: cells up to which the one system is solved directly. */
static const double DIRECT_MOST[2] = {20000, 4000};
/* Of the cross-section: what shows more is taken for a piston. */
static const double FILLS = 0.8;

/* ---- the decision ---------------------------------------------------------------------------- */

mn_coupling_method mn_coupling_pick(const mn_coupling_facts *f, char why[MN_WHY_MAX])
{
  if (f->black_box) {
    snprintf(why, MN_WHY_MAX,
             "the %s is a black box: only iterations can couple it, and of these xpm needs the "
             "fewest solves",
             f->black_box);
    return MN_COUPLE_XPM;
  }
  if (f->closed_regions) {
    snprintf(why, MN_WHY_MAX,
             "what encloses fluid gives way (%d closed region%s): its pressure is found with the "
             "bodies' motion",
             f->closed_regions, f->closed_regions > 1 ? "s" : "");
    return MN_COUPLE_XPM;
  }
  if (f->released && !(f->mu > LIGHT)) {
    snprintf(why, MN_WHY_MAX, "bodies are let go later, and nothing is known of their mass: %s",
             f->separating ? "one system of both sides bears any in water that can leave them"
                           : "xpm bears any");
    return f->separating ? MN_COUPLE_MONOLITHIC : MN_COUPLE_XPM;
  }
  if (f->mu == 0) {
    snprintf(why, MN_WHY_MAX, "no body gives way, so that one solve of each side is enough");
    return MN_COUPLE_WEAK;
  }
  if (f->mu > LIGHT && f->separating) {
    snprintf(
        why, MN_WHY_MAX,
        "the fluid that the bodies move weighs about %.2g times as much as they, and can leave "
        "them: one system of both sides bears that best",
        f->mu);
    return MN_COUPLE_MONOLITHIC;
  }
  if (f->mu > LIGHT && f->direct && f->cells <= DIRECT_MOST[f->dim == 3]) {
    snprintf(why, MN_WHY_MAX,
             "the fluid that the bodies move weighs about %.2g times as much as they, and %.0f "
             "cells are few enough to solve both sides as one system",
             f->mu, f->cells);
    return MN_COUPLE_MONOLITHIC;
  }
  if (isfinite(f->mu))
    snprintf(why, MN_WHY_MAX,
             "the fluid that the bodies move weighs about %.2g of them: both sides must agree in "
             "every substep",
             f->mu);
  else
    snprintf(why, MN_WHY_MAX, "nothing is known of the bodies' mass: xpm bears any");
  return MN_COUPLE_XPM;
}

/* ---- what there is --------------------------------------------------------------------------- */

/* Areas along an axis of one body, and the work of even loads. */
typedef struct shown {
  double area;  /* m^2 (m), as seen along the axis */
  double force; /* N, of a load of 1 Pa */
  double work;  /* N m/s^2, load times acceleration as a substep feels it */
} shown;

static double added_mass(int dim, double area, int axis, const mn_surroundings *around)
{
  double cross = 1, volume = 1;
  for (int a = 0; a < dim; a++) {
    volume *= around->size.v[a];
    cross *= a == axis ? 1 : around->size.v[a];
  }
  if (area > FILLS * cross)
    return around->density * volume;
  return around->density *
         (dim == 2 ? 0.25 * MN_PI * area * area : 8.0 / 3 * pow(area / MN_PI, 1.5));
}

static void load_evenly(mn_interface *f, int axis)
{
  for (size_t i = 0; i < f->count; i++) {
    f->load[i] = f->V[i] = mn_v3(0, 0, 0);
    f->load[i].v[axis] = f->area[i];
    f->mass[i] = 0;
  }
}

static double greatest_mu(const mn_interface *f, int axis, const mn_surroundings *around,
                          shown *bodies, int count)
{
  double mu = 0;
  for (size_t i = 0; i < f->count; i++) {
    shown *s = &bodies[f->body[i]];
    s->area += (f->two_sided[i] ? 1 : 0.5) * f->area[i] * fabs(f->N[i].v[axis]);
    s->force += f->area[i];
    s->work += f->area[i] * f->V[i].v[axis] * (1 + f->lead[i]);
  }
  for (int b = 0; b < count; b++)
    if (bodies[b].work > 0) /* else it does not give way along this axis */
      mu = fmax(mu, added_mass(f->dim, bodies[b].area, axis, around) * bodies[b].work /
                        (bodies[b].force * bodies[b].force));
  return mu;
}

static mn_status find_mu(mn_context *ctx, mn_boxes *boxes, const mn_surroundings *around,
                         double *mu)
{
  mn_interface *f = &boxes->face;
  int count = 0;
  for (size_t i = 0; i < f->count; i++)
    count = f->body[i] >= count ? f->body[i] + 1 : count;
  *mu = count ? 0 : NAN;
  if (!boxes->solid.ops->accelerate || (size_t)count > f->count) { /* odd numbers of a plug-in */
    *mu = NAN;
    return MN_OK;
  }
  for (int a = 0; a < f->dim && count; a++) {
    shown *bodies;
    MN_TRY(MN_NEW(ctx, "bodies", (size_t)count, &bodies));
    load_evenly(f, a);
    mn_status status = mn_boxes_accelerate(boxes);
    if (status == MN_OK)
      *mu = fmax(*mu, greatest_mu(f, a, around, bodies, count));
    mn_free(bodies);
    MN_TRY(status);
  }
  return MN_OK;
}

/* Of the area of a rigid body's sides that face a region: less is none on the whole. */
static const double NO_AREA = 1e-6;

/* Whether what faces a region can make room in it: not a rigid body wholly inside. area and
   size of [bodies]: scratch. */
static int gives_way(const mn_interface *f, const mn_enclosed *said, int region, int bodies,
                     mn_vec3 *area, double *size)
{
  for (int b = 0; b < bodies; b++) {
    area[b] = mn_v3(0, 0, 0);
    size[b] = 0;
  }
  for (size_t side = 0; side < 2 * f->elements; side++) {
    size_t e = side / 2;
    uint32_t point = f->element[(size_t)f->dim * e];
    if (said->facing[side] != region)
      continue;
    if (!f->rigid[point])
      return 1;
    mn_vec3 n = mn_closed_area(f, e, f->X, f->X);
    area[f->body[point]] = mn_madd(area[f->body[point]], side % 2 ? -1 : 1, n);
    size[f->body[point]] += mn_length(n);
  }
  for (int b = 0; b < bodies; b++)
    if (mn_length(area[b]) > NO_AREA * size[b])
      return 1;
  return 0;
}

/* Closed regions whose pressure moves bodies. */
static mn_status count_regions(mn_context *ctx, mn_boxes *boxes, int *count)
{
  const mn_interface *f = &boxes->face;
  mn_enclosed said;
  mn_vec3 *area;
  double *size = NULL;
  int bodies = 0;
  *count = 0;
  if (!boxes->fluid.ops->enclose)
    return MN_OK;
  MN_TRY(mn_boxes_enclose(boxes, &said));
  for (size_t i = 0; i < f->count; i++)
    bodies = f->body[i] >= bodies ? f->body[i] + 1 : bodies;
  if (!said.count || (size_t)bodies > f->count) /* odd numbers of a plug-in */
    return MN_OK;
  MN_TRY(MN_NEW(ctx, "areas of bodies", (size_t)bodies + 1, &area));
  mn_status status = MN_NEW(ctx, "areas of bodies", (size_t)bodies + 1, &size);
  for (int r = 0; r < said.count && status == MN_OK; r++)
    *count += gives_way(f, &said, r, bodies, area, size);
  mn_free(area);
  mn_free(size);
  return status;
}

mn_status mn_coupling_survey(mn_context *ctx, int dim, double spacing, double dt,
                             const mn_surroundings *around, mn_fluid fluid, mn_solid solid,
                             mn_coupling_facts *facts)
{
  mn_boxes boxes;
  *facts = (mn_coupling_facts){.mu = NAN,
                               .dim = dim,
                               .cells = 1,
                               .separating = around->separating,
                               .direct = mn_lu_available()};
  for (int a = 0; a < dim; a++)
    facts->cells *= around->cells[a];
  mn_status status = mn_boxes_create(ctx, dim, spacing, fluid, solid, &boxes);
  if (status == MN_OK)
    status = mn_boxes_begin(&boxes, 0, dt);
  if (status == MN_OK)
    status = count_regions(ctx, &boxes, &facts->closed_regions);
  if (status == MN_OK)
    status = find_mu(ctx, &boxes, around, &facts->mu);
  mn_boxes_destroy(&boxes);
  return status;
}
