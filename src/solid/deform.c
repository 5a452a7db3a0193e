/* The system of all deformable bodies: from its creation to its readiness. */
#include "solid/deform_internal.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"

mn_deform_def mn_deform_def_default(int dim)
{
  return (mn_deform_def){.dim = dim,
                         .scheme = MN_BACKWARD_EULER,
                         .beta = 0.25,
                         .gamma = 0.5,
                         .tolerance = 1e-8,
                         .max_iterations = 100};
}

mn_status mn_deform_create(mn_context *ctx, const mn_deform_def *def, mn_deform **out)
{
  if (def->dim != 2 && def->dim != 3)
    return mn_fail(ctx, MN_BAD_INPUT, "deformable bodies: dim is %d, must be 2 or 3", def->dim);
  if (def->scheme == MN_NEWMARK && !(def->gamma >= 0.5 && 2 * def->beta >= def->gamma))
    return mn_fail(ctx, MN_BAD_INPUT,
                   "Newmark: beta is %g and gamma %g; it is stable for gamma >= 0.5 and beta >= "
                   "gamma/2 only",
                   def->beta, def->gamma);
  if (!(def->tolerance > 0) || def->max_iterations < 1)
    return mn_fail(ctx, MN_BAD_INPUT,
                   "deformable bodies: tolerance %g and max_iterations %d must be above 0",
                   def->tolerance, def->max_iterations);
  MN_TRY(MN_NEW(ctx, "deformable bodies", 1, out));
  (*out)->ctx = ctx;
  (*out)->def = *def;
  return MN_OK;
}

static void free_group(mn_energy_group *g)
{
  mn_free(g->node);
  mn_free(g->data);
}

void mn_deform_destroy(mn_deform **deform)
{
  mn_deform *d = *deform;
  if (!d)
    return;
  for (int g = 0; g < d->groups; g++)
    free_group(d->group + g);
  d->constrained.start = d->constrained.col = NULL; /* the assembly's */
  mn_free(d->constrained.value);
  mn_assembly_destroy(&d->assembly);
  mn_sparse_destroy(&d->factor);
  mn_deform_cross_destroy(d);
  void *all[] = {d->body,   d->group,  d->facet,    d->rest,     d->mass, d->alpha,    d->fixed,
                 d->held,   d->anchor, d->spring,   d->x,        d->v,    d->a,        d->x1,
                 d->v1,     d->a1,     d->xs,       d->vs,       d->as,   d->C,        d->y0,
                 d->y1,     d->w,      d->Cw,       d->y,        d->Cu,   d->pressed,  d->trial,
                 d->target, d->force,  d->residual, d->gradient, d->step, d->position, d->past_y,
                 d->past_p, d->last_p, d->best_y,   d->dragged,  d->mean, d->rim,      d->rest_y,
                 d->rest_r};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    mn_free(all[i]);
  mn_free(d);
  *deform = NULL;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

void mn_deform_fix(mn_deform *d, uint32_t node, int mask)
{
  d->fixed[node] |= (uint8_t)(mask & ((1 << d->def.dim) - 1));
}

void mn_deform_set_motion(mn_deform *d, mn_deform_motion *motion, void *user)
{
  d->motion = motion;
  d->motion_user = user;
}

void mn_deform_set_release(mn_deform *d, int body, double t)
{
  d->body[body].release = t;
}

void mn_deform_set_contact(mn_deform *d, int body, double friction, int collides)
{
  d->body[body].friction = friction;
  d->body[body].collides = collides;
}

mn_scheme mn_deform_scheme(const mn_deform *d)
{
  return d->def.scheme;
}

mn_deform_view mn_deform_get(mn_deform *d)
{
  return (mn_deform_view){.dim = d->def.dim,
                          .nodes = d->nodes,
                          .facets = d->facets,
                          .bodies = d->bodies,
                          .body = d->body,
                          .rest = d->rest,
                          .x = d->x,
                          .v = d->v,
                          .a = d->a,
                          .x1 = d->x1,
                          .v1 = d->v1,
                          .mass = d->mass,
                          .fixed = d->fixed,
                          .facet = d->facet};
}

double mn_deform_lead(const mn_deform *d)
{
  switch (d->def.scheme) {
  case MN_MIDPOINT:
    return (1 - 2 * d->def.fade) / (1 + 2 * d->def.fade);
  case MN_NEWMARK:
    return mn_max(0, d->def.gamma / d->def.beta - 1);
  default: /* x1 = x + h v1 */
    return 0;
  }
}

/* ---- ready ----------------------------------------------------------------------------------- */

static mn_status make_links(mn_deform *d)
{
  mn_energy_group *group;
  for (size_t i = 0; i < d->anchors; i++)
    if (d->anchor[i].node >= d->nodes)
      return mn_fail(d->ctx, MN_BAD_INPUT, "an anchor names node %u of %zu", d->anchor[i].node,
                     d->nodes);
  for (size_t i = 0; i < d->springs; i++)
    if (d->spring[i].a >= d->nodes || d->spring[i].b >= d->nodes ||
        d->spring[i].a == d->spring[i].b)
      return mn_fail(d->ctx, MN_BAD_INPUT, "a spring joins nodes %u and %u of %zu", d->spring[i].a,
                     d->spring[i].b, d->nodes);
  if (d->anchors) {
    MN_TRY(mn_deform_add_group(d, -1, 0, &group));
    MN_TRY(mn_anchors_make(d->ctx, d->def.dim, d->anchor, d->anchors, group));
  }
  if (d->springs) {
    MN_TRY(mn_deform_add_group(d, -1, 0, &group));
    MN_TRY(mn_springs_make(d->ctx, d->def.dim, d->spring, d->springs, group));
  }
  return MN_OK;
}

static mn_status check_masses(mn_deform *d)
{
  for (int b = 0; b < d->bodies; b++) {
    mn_deform_body *body = d->body + b;
    for (uint32_t i = body->first; i < body->first + body->nodes; i++) {
      if (!(d->mass[i] > 0))
        return mn_fail(d->ctx, MN_BAD_INPUT, "%s: node %u belongs to no element", body->name,
                       i - body->first);
      body->mass += d->mass[i];
    }
  }
  return MN_OK;
}

static mn_status make_work(mn_deform *d)
{
  size_t n = d->nodes, flat = mn_deform_dofs(d);
  mn_vec3 **vectors[] = {&d->a, &d->x1, &d->v1, &d->a1, &d->xs, &d->vs, &d->as, &d->position};
  double **flats[] = {&d->pressed, &d->y0,      &d->y1,    &d->w,        &d->Cw,       &d->y,
                      &d->trial,   &d->target,  &d->force, &d->residual, &d->gradient, &d->step,
                      &d->Cu,      &d->dragged, &d->mean,  &d->rest_y,   &d->rest_r};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
    MN_TRY(MN_NEW(d->ctx, "nodes", n, vectors[i]));
  for (size_t i = 0; i < sizeof flats / sizeof *flats; i++)
    MN_TRY(MN_NEW(d->ctx, "nodes", flat, flats[i]));
  size_t entries = (size_t)mn_csr_entries(&d->assembly.pattern);
  if (d->damped)
    MN_TRY(MN_NEW(d->ctx, "the damping matrix", entries, &d->C));
  MN_TRY(mn_deform_conserve_create(d));
  d->constrained = d->assembly.pattern;
  d->constrained.value = NULL;
  MN_TRY(MN_NEW(d->ctx, "the solid's matrix", entries, &d->constrained.value));
  MN_TRY(mn_sparse_create(d->ctx, &d->factor));
  d->active = d->factor;
  return mn_deform_cross_create(d);
}

/* The size of all bodies; far: a quarter of their greatest coordinate, or the size if that is more:
   differences round as coordinates do, sums of forces as the size. */
static double extent_of(const mn_deform *d, double *far)
{
  mn_vec3 low = d->rest[0], high = d->rest[0];
  for (size_t i = 0; i < d->nodes; i++)
    for (int k = 0; k < 3; k++) {
      low.v[k] = mn_min(low.v[k], d->rest[i].v[k]);
      high.v[k] = mn_max(high.v[k], d->rest[i].v[k]);
    }
  double size = mn_length(mn_sub(high, low));
  *far = size;
  for (int k = 0; k < 3; k++)
    *far = mn_max(*far, 0.25 * mn_max(fabs(low.v[k]), fabs(high.v[k])));
  return size;
}

/* a = M^-1 (f - dE/dx - C v) at the start, without loads. */
static mn_status start_acceleration(mn_deform *d)
{
  double energy;
  mn_inverted bad;
  int dim = d->def.dim;
  if (!mn_assembly_energy(&d->assembly, d->x, -1, &energy, d->gradient, &bad))
    return mn_deform_fail_inverted(d, &bad, "at the start");
  if (d->def.scheme == MN_MIDPOINT && d->def.fade > 0)
    return MN_OK; /* that of bodies in a fluid, which is not known */
  memset(d->Cw, 0, mn_deform_dofs(d) * sizeof *d->Cw);
  if (d->damped) {
    MN_TRY(mn_deform_damping(d, d->x));
    mn_csr C = d->assembly.pattern;
    C.value = d->C;
    for (size_t i = 0; i < mn_deform_dofs(d); i++)
      d->w[i] = d->v[i / (size_t)dim].v[i % (size_t)dim];
    mn_csr_multiply(&d->ctx->exec, &C, d->w, d->Cw);
  }
  for (size_t i = 0; i < mn_deform_dofs(d); i++) {
    size_t node = i / (size_t)dim, axis = i % (size_t)dim;
    d->a[node].v[axis] = mn_deform_is_fixed(d, i)
                             ? 0
                             : d->def.gravity.v[axis] - (d->gradient[i] + d->Cw[i]) / d->mass[node];
  }
  return MN_OK;
}

/* Bending knows what is fixed. */
static void set_clamps(mn_deform *d)
{
  for (int g = 0; g < d->groups; g++)
    if (mn_energy_is_plate(d->group + g))
      mn_plate_clamp(d->group + g, d->rest, d->fixed);
    else if (mn_energy_is_joint(d->group + g))
      mn_rod_clamp(d->group + g, d->rest, d->fixed);
}

mn_status mn_deform_ready(mn_deform *d)
{
  if (d->is_ready || !d->bodies)
    return mn_fail(d->ctx, MN_BAD_INPUT, "deformable bodies: %s",
                   d->is_ready ? "ready was called before" : "there is none");
  MN_TRY(make_links(d));
  MN_TRY(check_masses(d));
  MN_TRY(mn_deform_find_rims(d));
  set_clamps(d);
  for (size_t i = 0; i < d->nodes; i++)
    d->damped |= d->alpha[i] > 0;
  for (int g = 0; g < d->groups; g++)
    d->damped |= d->group[g].beta > 0 || d->group[g].ops->damping;
  MN_TRY(mn_assembly_create(d->ctx, &d->ctx->exec, d->def.dim, d->nodes, d->group, d->groups,
                            &d->assembly));
  MN_TRY(make_work(d));
  MN_TRY(MN_NEW(d->ctx, "nodes", d->nodes, &d->held));
  memcpy(d->held, d->fixed, d->nodes * sizeof *d->held);
  d->extent = extent_of(d, &d->far);
  MN_TRY(start_acceleration(d));
  memcpy(d->x1, d->x, d->nodes * sizeof *d->x1);
  memcpy(d->v1, d->v, d->nodes * sizeof *d->v1);
  d->is_ready = 1;
  return MN_OK;
}
