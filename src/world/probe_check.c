/* Checks of probes: what they measure is there. */
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "world/check_values.h"
#include "world/world.h"

static mn_status check_point(mn_context *ctx, const mn_domain_def *d, const char *key, mn_vec3 x)
{
  MN_TRY(mn_check_vector(ctx, d->dim, key, x));
  for (int a = 0; a < d->dim; a++)
    if (x.v[a] < d->origin.v[a] || x.v[a] > d->origin.v[a] + d->size.v[a])
      return mn_fail(ctx, MN_BAD_INPUT,
                     "%s is {%g, %g, %g}: outside the domain, which goes from %g to %g along axis "
                     "%d",
                     key, x.x, x.y, x.z, d->origin.v[a], d->origin.v[a] + d->size.v[a], a + 1);
  return MN_OK;
}

static mn_status check_of(mn_context *ctx, const mn_model_def *def, const char *key, const char *of)
{
  int fluid = mn_fluid_on_grid(&def->fluid);
  if (fluid &&
      (!strcmp(of, "fluid") || (!strcmp(of, "smoke") && def->fluid.kind == MN_FLUID_SMOKE)))
    return MN_OK;
  for (int i = 0; i < def->body_count; i++) {
    const mn_body_def *b = &def->bodies[i];
    if (!*of || strncmp(of, b->name, MN_NAME_MAX))
      continue;
    if (def->domain.dim == 3 && (b->kind == MN_BODY_ROD || (b->line && !(b->tube > 0))))
      return mn_fail(ctx, MN_BAD_INPUT, "%s.of is \"%s\": a curve in 3D encloses no volume", key,
                     of);
    return MN_OK;
  }
  char known[512] = "";
  size_t used = 0;
  for (int i = 0; i < def->solid_count; i++) {
    if (!strncmp(of, def->solids[i].name, MN_NAME_MAX) && *of)
      return MN_OK;
    if (*def->solids[i].name && used < sizeof known - MN_NAME_MAX - 8)
      used += (size_t)snprintf(known + used, sizeof known - used, ", \"%s\"", def->solids[i].name);
  }
  for (int i = 0; i < def->body_count; i++)
    if (*def->bodies[i].name && used < sizeof known - MN_NAME_MAX - 8)
      used += (size_t)snprintf(known + used, sizeof known - used, ", \"%s\"", def->bodies[i].name);
  const char *first = !fluid                              ? ""
                      : def->fluid.kind == MN_FLUID_SMOKE ? ", \"fluid\", \"smoke\""
                                                          : ", \"fluid\"";
  if (!*first && !*known)
    return mn_fail(ctx, MN_BAD_INPUT,
                   "%s.of is \"%s\": there is no fluid, and no body or obstacle has a name; give "
                   "one a name",
                   key, of);
  return mn_fail(ctx, MN_BAD_INPUT, "%s.of is \"%s\": must be %s%s", key, of,
                 *first ? first + 2 : "", *first ? known : known + 2);
}

static mn_status check_body_probe(mn_context *ctx, const mn_model_def *def, const mn_probe_def *p,
                                  const char *key)
{
  int of_all = p->kind == MN_PROBE_BODY_ENERGY && !*p->of, found = -1;
  for (int i = 0; i < def->body_count; i++)
    if (*p->of && !strncmp(p->of, def->bodies[i].name, MN_NAME_MAX))
      found = i;
  int plugin = *def->solid_plugin.name && !strncmp(p->of, def->solid_plugin.name, MN_NAME_MAX);
  if (plugin && (p->kind == MN_PROBE_POSITION || p->kind == MN_PROBE_BODY_VELOCITY))
    return p->axis >= 0 && p->axis < def->domain.dim
               ? MN_OK
               : mn_fail(ctx, MN_BAD_INPUT, "%s.axis is %d: must be from 0 to %d", key, p->axis,
                         def->domain.dim - 1);
  if (plugin)
    return mn_fail(ctx, MN_BAD_INPUT,
                   "%s: of a plug-in only position and body_velocity are known: means of its "
                   "surface",
                   key);
  if (of_all ? def->body_count == 0 : found < 0)
    return mn_fail(ctx, MN_BAD_INPUT, "%s.of is \"%s\": must be the name of a body", key, p->of);
  if (p->kind == MN_PROBE_ANGLE && def->bodies[found].kind != MN_BODY_RIGID)
    return mn_fail(ctx, MN_BAD_INPUT, "%s measures an angle: only of rigid bodies", key);
  if ((p->kind == MN_PROBE_STRETCH || p->kind == MN_PROBE_VOLUME_RATIO) &&
      def->bodies[found].kind == MN_BODY_RIGID)
    return mn_fail(ctx, MN_BAD_INPUT, "%s measures a deformation: a rigid body has none", key);
  if (p->kind == MN_PROBE_VOLUME_RATIO && def->bodies[found].kind != MN_BODY_ELASTIC)
    return mn_fail(ctx, MN_BAD_INPUT,
                   "%s measures a volume ratio: only of elastic bodies; of thin ones take stretch",
                   key);
  if (p->kind == MN_PROBE_POSITION || p->kind == MN_PROBE_BODY_VELOCITY ||
      p->kind == MN_PROBE_FORCE) {
    char part[128];
    snprintf(part, sizeof part, "%s.axis", key);
    return mn_check_range(ctx, part, p->axis, 0, def->domain.dim - 1);
  }
  return MN_OK;
}

static mn_status check_probe(mn_context *ctx, const mn_model_def *def, const mn_probe_def *p,
                             const char *key)
{
  const mn_domain_def *d = &def->domain;
  char part[128];
  if (!*p->name)
    return mn_fail(ctx, MN_BAD_INPUT, "%s.name is missing: it heads the probe's column", key);
  snprintf(part, sizeof part, "%s.kind", key);
  MN_TRY(mn_check_range(ctx, part, (int)p->kind, 0, MN_PROBE_VOLUME_RATIO));
  if (p->kind >= MN_PROBE_POSITION)
    return check_body_probe(ctx, def, p, key);
  if (!mn_fluid_on_grid(&def->fluid) && p->kind != MN_PROBE_VOLUME)
    return mn_fail(ctx, MN_BAD_INPUT, "%s measures a fluid, but the scene has none%s", key,
                   def->fluid.kind == MN_FLUID_PLUGIN ? " of its own" : "");
  snprintf(part, sizeof part, "%s.at", key);
  if (p->kind <= MN_PROBE_TEMPERATURE)
    MN_TRY(check_point(ctx, d, part, p->at));
  if (p->kind == MN_PROBE_SMOKE && def->fluid.kind != MN_FLUID_SMOKE)
    return mn_fail(ctx, MN_BAD_INPUT, "%s measures smoke, but the fluid is water", key);
  if (p->kind == MN_PROBE_TEMPERATURE && !def->fluid.temperature)
    return mn_fail(ctx, MN_BAD_INPUT,
                   "%s measures a temperature, but the fluid carries none: set "
                   "fluid.temperature",
                   key);
  snprintf(part, sizeof part, "%s.axis", key);
  if (p->kind == MN_PROBE_VELOCITY)
    MN_TRY(mn_check_range(ctx, part, p->axis, -1, d->dim - 1));
  if (p->kind == MN_PROBE_FLUX) {
    MN_TRY(mn_check_range(ctx, part, p->axis, 0, d->dim - 1));
    mn_vec3 x = d->origin;
    x.v[p->axis] = p->position;
    snprintf(part, sizeof part, "%s.position", key);
    MN_TRY(check_point(ctx, d, part, x));
  }
  return p->kind == MN_PROBE_VOLUME ? check_of(ctx, def, key, p->of) : MN_OK;
}

mn_status mn_check_probes(mn_context *ctx, const mn_model_def *def)
{
  for (int i = 0; i < def->probe_count; i++) {
    char key[64];
    snprintf(key, sizeof key, "probes[%d]", i + 1);
    MN_TRY(check_probe(ctx, def, &def->probes[i], key));
  }
  for (int i = 0; i < def->probe_count; i++)
    if (!strcmp(def->probes[i].name, "time"))
      return mn_fail(ctx, MN_BAD_INPUT,
                     "probes[%d].name is \"time\", the name of the first column of "
                     "probes.csv; choose another",
                     i + 1);
  return def->probe_count ? mn_check_unique(ctx, "probes", def->probes[0].name, sizeof *def->probes,
                                            def->probe_count)
                          : MN_OK;
}
