/* Sources and obstacles that can do nothing where they are: inflows and drains inside solids,
   inflows inside drains, obstacles outside the domain.

   What can never do anything is refused; what a solid or body covers that moves, or may, is warned
   of. All at the start, by shapes alone. Verified by tests/regress/test_misplaced.sh. */
#include "fluid/mac/internal.h"

#include <math.h>

#include "base/status.h"

/* Which solids count. */
typedef enum solids { FIXED, ALL } solids;

/* Distance to the nearest solid at the start; bodies that fill a shape are among ALL. */
static double solid_distance(const mn_mac *mac, solids which, mn_vec3 x)
{
  const mn_model_def *def = mac->def;
  double least = INFINITY;
  for (int s = 0; s < def->solid_count; s++)
    if (which == ALL || !def->solids[s].moving)
      least = fmin(least, mn_mac_start_distance(mac, s, x));
  for (int b = 0; b < def->body_count && which == ALL; b++) {
    const mn_body_def *body = &def->bodies[b];
    int fills = body->kind == MN_BODY_RIGID || body->kind == MN_BODY_ELASTIC;
    if (fills && body->shape && !body->cut)
      least = fmin(least, mn_shape_distance(body->shape, x));
  }
  return least;
}

static mn_status refuse(const mn_mac *mac, int source, const char *why)
{
  const mn_source_def *s = &mac->def->sources[source];
  return mn_fail(mac->ctx, MN_BAD_INPUT, "scene.sources[%d]%s%s: %s", source + 1,
                 *s->name ? " " : "", s->name, why);
}

static void warn(const mn_mac *mac, int source, const char *why)
{
  const mn_source_def *s = &mac->def->sources[source];
  mn_log(mac->ctx, MN_LOG_WARNING, "scene.sources[%d]%s%s: %s", source + 1, *s->name ? " " : "",
         s->name, why);
}

/* ---- inflows --------------------------------------------------------------------------------- */

typedef struct outlets {
  int count;      /* faces through which it blows into the domain */
  int past_fixed; /* of them not inside fixed solids, */
  int past_all;   /* not inside any solid, */
  int past_drain; /* past fixed ones, and not into a drain */
} outlets;

/* The face between two cells at x, across `axis`, is open somewhere: in the middle or at a corner.
 */
static int is_open(const mn_mac *mac, solids which, mn_vec3 x, int axis)
{
  double h = 0.5 * mac->grid.dx;
  if (solid_distance(mac, which, x) > 0)
    return 1;
  for (int c = 0; c < 1 << mac->grid.dim; c++) {
    mn_vec3 corner = x;
    for (int a = 0; a < mac->grid.dim; a++)
      corner.v[a] += a == axis ? 0 : c >> a & 1 ? h : -h;
    if (solid_distance(mac, which, corner) > 0)
      return 1;
  }
  return 0;
}

int mn_mac_is_drained(const mn_mac *mac, mn_vec3 x)
{
  for (int s = 0; s < mac->def->source_count; s++)
    if (mac->def->sources[s].drains && mn_shape_distance(mac->def->sources[s].shape, x) < 0)
      return 1;
  return 0;
}

/* Whether it may blow up (1) or down (-1) along the axis at some time. */
static int blows_along(const mn_source_def *s, int axis, int up)
{
  double v = s->velocity.v[axis];
  if (s->speed != 0)
    return 1;
  return v != 0 && (s->ramp.kind != MN_TIME_CONSTANT || v * s->ramp.to * up > 0);
}

static outlets find_outlets(const mn_mac *mac, int source)
{
  const mn_field *f = &mac->geometry.volume;
  const unsigned char *inflow = mac->geometry.inflow + (f->at - f->data);
  outlets o = {0};
  for (int k = 0; k < f->n[2]; k++)
    for (int j = 0; j < f->n[1]; j++)
      for (int i = 0; i < f->n[0]; i++) {
        int64_t c = mn_index(f, i, j, k);
        int at[3] = {i, j, k};
        for (int side = 0; side < 2 * mac->grid.dim && inflow[c] == source + 1; side++) {
          int a = side / 2, up = side & 1 ? 1 : -1;
          if (at[a] + up < 0 || at[a] + up >= f->n[a] || inflow[c + up * f->stride[a]] ||
              !blows_along(&mac->def->sources[source], a, up))
            continue;
          mn_vec3 face = mn_position(f, i, j, k), beyond = face;
          face.v[a] += 0.5 * up * mac->grid.dx;
          beyond.v[a] += up * mac->grid.dx;
          int past = is_open(mac, FIXED, face, a);
          o.count++;
          o.past_fixed += past;
          o.past_all += past && is_open(mac, ALL, face, a);
          o.past_drain += past && !mn_mac_is_drained(mac, beyond);
        }
      }
  return o;
}

static mn_status check_inflow(const mn_mac *mac, int source)
{
  outlets o = find_outlets(mac, source);
  const mn_source_def *s = &mac->def->sources[source];
  if (!o.count && (s->speed != 0 || mn_length(s->velocity) > 0))
    warn(mac, source,
         "the inflow blows at nothing but itself and the sides of the domain: nothing comes out of "
         "it; make it smaller, or turn it round");
  if (!o.count)
    return MN_OK;
  if (!o.past_fixed)
    return refuse(mac, source,
                  "the inflow blows into solids only, which stay: nothing can ever come out of it; "
                  "move it, or make room for it in the solids");
  if (!o.past_drain)
    return refuse(mac, source,
                  "the inflow lies inside a drain, which takes away all that it brings; move one "
                  "of them");
  if (!o.past_all)
    warn(mac, source,
         "the inflow blows into solids or bodies only: nothing comes out of it until they have "
         "moved");
  return MN_OK;
}

/* ---- drains ---------------------------------------------------------------------------------- */

/* Whether a point of the drain within the domain is outside solids, among PARTS^dim a cell. */
static int is_reached(const mn_mac *mac, int source, solids which, int parts)
{
  const mn_field *f = &mac->geometry.volume;
  const mn_shape *shape = mac->def->sources[source].shape;
  double dx = mac->grid.dx;
  int three = mac->grid.dim == 3, points = parts * parts * (three ? parts : 1);
  for (int k = 0; k < f->n[2]; k++)
    for (int j = 0; j < f->n[1]; j++)
      for (int i = 0; i < f->n[0]; i++) {
        mn_vec3 center = mn_position(f, i, j, k);
        if (mn_shape_distance(shape, center) > dx) /* more than half the diagonal */
          continue;
        for (int p = 0; p < points; p++) {
          mn_vec3 x = center;
          x.x += dx * ((p % parts + 0.5) / parts - 0.5);
          x.y += dx * ((p / parts % parts + 0.5) / parts - 0.5);
          x.z += three ? dx * ((p / parts / parts + 0.5) / parts - 0.5) : 0;
          if (mn_shape_distance(shape, x) < 0 && solid_distance(mac, which, x) > 0)
            return 1;
        }
      }
  return 0;
}

static mn_status check_drain(const mn_mac *mac, int source)
{
  enum { PARTS = 4 };
  if (is_reached(mac, source, ALL, 1) || is_reached(mac, source, ALL, PARTS))
    return MN_OK;
  if (!is_reached(mac, source, FIXED, PARTS))
    return refuse(mac, source,
                  "the drain lies inside solids, which stay: no water can ever reach it; move it, "
                  "or make room for it in the solids");
  warn(mac, source,
       "the drain lies inside solids or bodies: no water reaches it until they have moved");
  return MN_OK;
}

/* ---- obstacles ------------------------------------------------------------------------------- */

/* No cell is as near to it as its corners are to its middle. */
static int is_outside(const mn_mac *mac, int solid)
{
  const mn_field *f = &mac->geometry.volume;
  double corner = 0.5 * sqrt(mac->grid.dim) * mac->grid.dx;
  for (int k = 0; k < f->n[2]; k++)
    for (int j = 0; j < f->n[1]; j++)
      for (int i = 0; i < f->n[0]; i++)
        if (!(mn_mac_start_distance(mac, solid, mn_position(f, i, j, k)) > corner))
          return 0;
  return 1;
}

/* One outside may still hold bodies. */
static void check_obstacle(const mn_mac *mac, int solid)
{
  const mn_solid_def *s = &mac->def->solids[solid];
  int bodies = mac->def->body_count || *mac->def->solid_plugin.file;
  if (!s->moving && !bodies && is_outside(mac, solid))
    mn_log(mac->ctx, MN_LOG_WARNING,
           "scene.solids: obstacle %d%s%s lies outside the domain, where there is no fluid: it has "
           "no effect",
           solid + 1, *s->name ? " " : "", s->name);
}

mn_status mn_mac_check_places(const mn_mac *mac)
{
  for (int s = 0; s < mac->def->solid_count; s++)
    check_obstacle(mac, s);
  for (int s = 0; s < mac->def->source_count; s++) {
    if (mac->def->sources[s].blows)
      MN_TRY(check_inflow(mac, s));
    if (mac->def->sources[s].drains)
      MN_TRY(check_drain(mac, s));
  }
  return MN_OK;
}
