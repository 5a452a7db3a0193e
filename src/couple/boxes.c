#include "couple/boxes.h"

#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/timer.h"

static const double MARK = 1.2345678912345e303; /* stands behind the last entry of each array */
enum { MARK_BYTE = 0xA5 };

/* ---- who did it ------------------------------------------------------------------------------ */

static const char *name_of(const char *name)
{
  return name && *name ? name : "without a name";
}

/* Puts the box in front of the sentence it left. Whatever it returned, a running simulation has
   failed, unless the machine did. */
static mn_status blame(mn_boxes *b, int solid, mn_status status)
{
  b->refused[solid] = 1;
  const char *name = name_of(solid ? b->solid.ops->name : b->fluid.ops->name);
  mn_status kind = status == MN_ENVIRONMENT || status == MN_INTERRUPTED ? status : MN_FAILED;
  if (!*b->ctx->message)
    return mn_fail(b->ctx, kind, "the %s \"%s\" failed with status %d and no message",
                   solid ? "solid" : "fluid", name, (int)status);
  return mn_fail_prefix(b->ctx, kind, "the %s \"%s\"", solid ? "solid" : "fluid", name);
}

static mn_status blame_answer(mn_boxes *b, int solid, const char *what, size_t i)
{
  b->refused[solid] = 1;
  return mn_fail(b->ctx, MN_FAILED,
                 "the %s \"%s\" answered with %s that is not finite, at point %zu of %zu (finite: "
                 "below 1e30)",
                 solid ? "solid" : "fluid",
                 name_of(solid ? b->solid.ops->name : b->fluid.ops->name), what, i, b->face.count);
}

/* ---- nothing beyond the agreed sizes --------------------------------------------------------- */

static void set_marks(mn_boxes *b)
{
  mn_interface *f = &b->face;
  size_t n = f->count;
  f->X[n] = f->V[n] = f->N[n] = f->load[n] = (mn_vec3){{MARK, MARK, MARK}};
  f->area[n] = f->mass[n] = f->lead[n] = MARK;
  memset(&f->body[n], MARK_BYTE, sizeof *f->body);
  f->two_sided[n] = f->rigid[n] = MARK_BYTE;
  memset(&f->element[(size_t)f->dim * f->elements], MARK_BYTE, sizeof *f->element);
  b->agreed = *f;
}

static int marks_stand(const mn_boxes *b)
{
  const mn_interface *f = &b->agreed;
  size_t n = f->count, bytes = sizeof(int);
  unsigned char mark[sizeof(int)];
  memset(mark, MARK_BYTE, bytes);
  const mn_vec3 *vectors[] = {f->X, f->V, f->N, f->load};
  for (int v = 0; v < 4; v++)
    for (int a = 0; a < 3; a++)
      if (vectors[v][n].v[a] != MARK)
        return 0;
  return f->area[n] == MARK && f->mass[n] == MARK && f->lead[n] == MARK &&
         !memcmp(&f->body[n], mark, bytes) && f->two_sided[n] == MARK_BYTE &&
         f->rigid[n] == MARK_BYTE &&
         !memcmp(&f->element[(size_t)f->dim * f->elements], mark, bytes);
}

/* A box may return an interface that is not the one it got: the arrays are ours. */
static mn_status check_sizes(mn_boxes *b, int solid)
{
  const mn_interface *f = &b->face, *g = &b->agreed;
  const char *kind = solid ? "solid" : "fluid";
  const char *name = name_of(solid ? b->solid.ops->name : b->fluid.ops->name);
  size_t found = f->count, meant = f->elements;
  int dim = f->dim;
  int same = f->count == g->count && f->elements == g->elements && f->dim == g->dim;
  int moved = f->X != g->X || f->V != g->V || f->N != g->N || f->area != g->area ||
              f->load != g->load || f->mass != g->mass || f->body != g->body ||
              f->two_sided != g->two_sided || f->rigid != g->rigid || f->lead != g->lead ||
              f->element != g->element;
  int stand = marks_stand(b);
  b->face = *g; /* the arrays are still ours */
  b->refused[solid] |= !same || moved || !stand;
  if (!same)
    return mn_fail(b->ctx, MN_FAILED,
                   "the %s \"%s\" changed the size of the interface: %zu points, %zu elements and "
                   "%d dimensions were agreed, it left %zu, %zu and %d",
                   kind, name, g->count, g->elements, g->dim, found, meant, dim);
  if (moved)
    return mn_fail(b->ctx, MN_FAILED, "the %s \"%s\" replaced arrays of the interface", kind, name);
  if (!stand) {
    set_marks(b);
    return mn_fail(b->ctx, MN_FAILED,
                   "the %s \"%s\" wrote beyond the %zu points and %zu elements agreed", kind, name,
                   g->count, g->elements);
  }
  return MN_OK;
}

/* After every call of a box that sees the interface, whatever it returned: its own words count more
   than what it left behind. */
mn_status mn_boxes_judge(mn_boxes *b, int solid, mn_status status)
{
  char words[sizeof b->ctx->message];
  memcpy(words, b->ctx->message, sizeof words);
  mn_status sizes = check_sizes(b, solid);
  if (status == MN_OK)
    return sizes;
  memcpy(b->ctx->message, words, sizeof words);
  return blame(b, solid, status);
}

/* ---- finite answers -------------------------------------------------------------------------- */

/* Numbers that nobody means overflow in products with others, and somebody else is blamed. */
static const double ABSURD = 1e30;

static int is_finite(const mn_vec3 *v)
{
  return fabs(v->x) < ABSURD && fabs(v->y) < ABSURD && fabs(v->z) < ABSURD;
}

/* Without a way out of the loop, which would be several times slower. */
static int all_small(const mn_boxes *b, const mn_vec3 *v)
{
  const double *number = (const double *)v;
  int small = 1;
  for (size_t k = 0; k < 3 * b->face.count; k++)
    small &= fabs(number[k]) < ABSURD;
  return small;
}

static int all_possible(const mn_boxes *b, const double *number)
{
  int possible = 1;
  for (size_t i = 0; i < b->face.count; i++)
    possible &= (number[i] >= 0) & (number[i] < ABSURD);
  return possible;
}

mn_status mn_boxes_check_fluid(mn_boxes *b)
{
  if (all_small(b, b->face.load) && all_possible(b, b->face.mass))
    return MN_OK;
  for (size_t i = 0; i < b->face.count; i++) {
    if (!is_finite(&b->face.load[i]))
      return blame_answer(b, 0, "a load", i);
    if (!(b->face.mass[i] >= 0 && b->face.mass[i] < ABSURD))
      return blame_answer(b, 0, "a mass below 0 or one", i);
  }
  return MN_OK;
}

mn_status mn_boxes_check_solid(mn_boxes *b)
{
  if (all_small(b, b->face.X) && all_small(b, b->face.V) && all_small(b, b->face.N) &&
      all_possible(b, b->face.area))
    return MN_OK;
  for (size_t i = 0; i < b->face.count; i++) {
    if (!is_finite(&b->face.X[i]))
      return blame_answer(b, 1, "a position", i);
    if (!is_finite(&b->face.V[i]))
      return blame_answer(b, 1, "a velocity", i);
    if (!is_finite(&b->face.N[i]) || !(b->face.area[i] >= 0 && b->face.area[i] < ABSURD))
      return blame_answer(b, 1, "a normal or an area below 0 or one", i);
  }
  return MN_OK;
}

/* What `look` says besides: bodies and elements that can be. */
static mn_status check_mesh(const mn_boxes *b)
{
  const mn_interface *f = &b->face;
  const char *name = name_of(b->solid.ops->name);
  for (size_t i = 0; i < f->count; i++)
    if (f->body[i] < 0 || f->two_sided[i] > 1 || f->rigid[i] > 1)
      return mn_fail(b->ctx, MN_FAILED,
                     "the solid \"%s\" has a point %zu of body %d, two_sided %d, rigid %d: bodies "
                     "count from 0, the others are 0 or 1",
                     name, i, f->body[i], f->two_sided[i], f->rigid[i]);
  for (size_t i = 0; i < f->count; i++)
    if (!(f->lead[i] >= 0) || !isfinite(f->lead[i]))
      return mn_fail(b->ctx, MN_FAILED,
                     "the solid \"%s\" has a point %zu of lead %g: must be 0 or more", name, i,
                     f->lead[i]);
  for (size_t e = 0; e < (size_t)f->dim * f->elements; e++)
    if (f->element[e] >= f->count)
      return mn_fail(b->ctx, MN_FAILED,
                     "the solid \"%s\" has an element %zu with point %u: there are %zu points",
                     name, e / (size_t)f->dim, f->element[e], f->count);
  return MN_OK;
}

/* ---- calls ----------------------------------------------------------------------------------- */

mn_status mn_boxes_look(mn_boxes *b)
{
  mn_status status = b->solid.ops->look(b->solid.self, &b->face);
  MN_TRY(mn_boxes_judge(b, 1, status));
  MN_TRY(mn_boxes_check_solid(b));
  status = check_mesh(b);
  b->refused[1] |= status != MN_OK;
  return status;
}

static mn_status meet(mn_boxes *b)
{
  if (!b->fluid.ops->meet)
    return MN_OK;
  return mn_boxes_judge(b, 0, b->fluid.ops->meet(b->fluid.self, &b->face));
}

mn_status mn_boxes_return(mn_boxes *b)
{
  MN_TRY(mn_boxes_look(b));
  return meet(b);
}

mn_status mn_boxes_begin(mn_boxes *b, double t, double dt)
{
  double start = mn_seconds();
  b->fluid_report = b->solid_report = (mn_solve_report){0};
  b->fluid_solves = b->solid_solves = 0;
  b->fluid_s = b->solid_s = 0;
  b->refused[0] = b->refused[1] = 0;
  b->ctx->message[0] = 0; /* so that a box without words is not given another's */
  MN_TRY(mn_boxes_look(b));
  mn_status status = b->solid.ops->begin(b->solid.self, t, dt);
  double middle = mn_seconds();
  b->solid_s = middle - start;
  if (status != MN_OK)
    return blame(b, 1, status);
  MN_TRY(meet(b));
  status = b->fluid.ops->begin(b->fluid.self, t, dt);
  b->fluid_s = mn_seconds() - middle;
  return status == MN_OK ? MN_OK : blame(b, 0, status);
}

static mn_status unsolved(const mn_boxes *b, int solid, const mn_solve_report *r)
{
  if (r->reason == MN_INCOMPATIBLE)
    return mn_fail(
        b->ctx, MN_FAILED,
        "the %s \"%s\" has %d closed regions, one with a net inflow of %.6g m^3/s and no "
        "way out",
        solid ? "solid" : "fluid", name_of(solid ? b->solid.ops->name : b->fluid.ops->name),
        r->closed_regions, r->net_flow);
  return mn_fail(b->ctx, MN_FAILED,
                 "the %s \"%s\" did not converge (%s after %d iterations, residual %.3g from %.3g)",
                 solid ? "solid" : "fluid",
                 name_of(solid ? b->solid.ops->name : b->fluid.ops->name),
                 mn_reason_text(r->reason), r->iterations, r->residual, r->initial_residual);
}

mn_status mn_boxes_solve_fluid(mn_boxes *b)
{
  double start = mn_seconds();
  mn_solve_report report = {0};
  b->ctx->message[0] = 0;
  mn_status status = b->fluid.ops->solve(b->fluid.self, &b->face, &report);
  b->fluid_s += mn_seconds() - start;
  b->fluid_solves++;
  int iterations = b->fluid_report.iterations + report.iterations;
  int outer = b->fluid_report.outer + report.outer;
  b->fluid_report = report;
  b->fluid_report.iterations = iterations;
  b->fluid_report.outer = outer;
  MN_TRY(mn_boxes_judge(b, 0, status));
  if (report.reason != MN_CONVERGED)
    return unsolved(b, 0, &report);
  return mn_boxes_check_fluid(b);
}

mn_status mn_boxes_solve_solid(mn_boxes *b)
{
  double start = mn_seconds();
  mn_solve_report report = {0};
  b->ctx->message[0] = 0;
  mn_status status = b->solid.ops->solve(b->solid.self, &b->face, &report);
  b->solid_s += mn_seconds() - start;
  b->solid_solves++;
  int iterations = b->solid_report.iterations + report.iterations;
  b->solid_report = report;
  b->solid_report.iterations = iterations;
  MN_TRY(mn_boxes_judge(b, 1, status));
  if (report.reason != MN_CONVERGED)
    return unsolved(b, 1, &report);
  return mn_boxes_check_solid(b);
}

mn_status mn_boxes_commit(mn_boxes *b)
{
  double start = mn_seconds();
  b->ctx->message[0] = 0;
  if (b->fluid.ops->arrive)
    MN_TRY(mn_boxes_judge(b, 0, b->fluid.ops->arrive(b->fluid.self, &b->face)));
  mn_status status = b->fluid.ops->commit(b->fluid.self);
  double middle = mn_seconds();
  b->fluid_s += middle - start;
  if (status != MN_OK)
    return blame(b, 0, status);
  status = b->solid.ops->commit(b->solid.self);
  b->solid_s += mn_seconds() - middle;
  return status == MN_OK ? MN_OK : blame(b, 1, status);
}

/* ---- closed regions -------------------------------------------------------------------------- */

static mn_status check_enclosed(const mn_boxes *b, const mn_enclosed *e)
{
  const char *name = name_of(b->fluid.ops->name);
  if (e->count < 0 || (e->count > 0 && (!e->cells || !e->inflow || !e->volume || !e->center)) ||
      (b->face.elements && !e->facing))
    return mn_fail(b->ctx, MN_FAILED, "the fluid \"%s\" tells %d closed regions without their data",
                   name, e->count);
  for (int r = 0; r < e->count; r++)
    if (!isfinite(e->inflow[r]) || !isfinite(e->volume[r]) || !is_finite(&e->center[r]))
      return mn_fail(b->ctx, MN_FAILED,
                     "the fluid \"%s\" tells a closed region %d whose inflow, volume or centre is "
                     "not finite",
                     name, r);
  for (size_t side = 0; side < 2 * b->face.elements; side++)
    if (e->facing[side] < MN_FACES_WALL || e->facing[side] >= e->count)
      return mn_fail(b->ctx, MN_FAILED,
                     "the fluid \"%s\" says that element %zu faces closed region %d: there are %d",
                     name, side / 2, (int)e->facing[side], e->count);
  for (size_t side = 0; e->bare && side < 2 * b->face.elements; side++)
    if (!(e->bare[side] >= 0 && e->bare[side] <= 1 + 1e-9))
      return mn_fail(
          b->ctx, MN_FAILED,
          "the fluid \"%s\" says that %g of a side of element %zu is in no wall: allowed "
          "are parts from 0 to 1",
          name, e->bare[side], side / 2);
  for (size_t side = 0; e->room && side < 2 * b->face.elements; side++)
    if (isnan(e->room[side]))
      return mn_fail(b->ctx, MN_FAILED,
                     "the fluid \"%s\" says that from a side of element %zu to a wall it is not a "
                     "number of metres",
                     name, side / 2);
  return MN_OK;
}

mn_status mn_boxes_enclose(mn_boxes *b, mn_enclosed *enclosed)
{
  double start = mn_seconds();
  *enclosed = (mn_enclosed){0};
  b->ctx->message[0] = 0;
  mn_status status = b->fluid.ops->enclose(b->fluid.self, &b->face, enclosed);
  b->fluid_s += mn_seconds() - start;
  mn_status sizes = check_sizes(b, 0);
  if (status != MN_OK)
    return blame(b, 0, status);
  MN_TRY(sizes);
  return check_enclosed(b, enclosed);
}

mn_status mn_boxes_lacking(mn_boxes *b, mn_vec3 *mass, int *any)
{
  double start = mn_seconds();
  b->ctx->message[0] = 0;
  mn_status status = b->fluid.ops->lacking(b->fluid.self, &b->face, mass, any);
  b->fluid_s += mn_seconds() - start;
  mn_status sizes = check_sizes(b, 0);
  if (status != MN_OK)
    return blame(b, 0, status);
  MN_TRY(sizes);
  for (size_t i = 0; i < b->face.count && *any; i++)
    if (!is_finite(&mass[i]))
      return blame_answer(b, 0, "a lacking mass", i);
  return MN_OK;
}

mn_status mn_boxes_lift(mn_boxes *b, const double *p0, int count)
{
  if (!b->fluid.ops->lift)
    return MN_OK;
  b->ctx->message[0] = 0;
  mn_status status = b->fluid.ops->lift(b->fluid.self, p0, count);
  return status == MN_OK ? MN_OK : blame(b, 0, status);
}

/* A call of the solid that answers by V. */
static mn_status ask_velocities(mn_boxes *b, mn_status (*call)(void *, mn_interface *),
                                const char *what)
{
  double start = mn_seconds();
  b->ctx->message[0] = 0;
  mn_status status = call(b->solid.self, &b->face);
  b->solid_s += mn_seconds() - start;
  mn_status sizes = check_sizes(b, 1);
  if (status != MN_OK)
    return blame(b, 1, status);
  MN_TRY(sizes);
  for (size_t i = 0; i < b->face.count; i++)
    if (!is_finite(&b->face.V[i]))
      return blame_answer(b, 1, what, i);
  return MN_OK;
}

mn_status mn_boxes_accelerate(mn_boxes *b)
{
  return ask_velocities(b, b->solid.ops->accelerate, "an acceleration");
}

mn_status mn_boxes_settle(mn_boxes *b)
{
  return ask_velocities(b, b->solid.ops->settle, "a velocity");
}

/* ---- life ------------------------------------------------------------------------------------ */

mn_status mn_boxes_create(mn_context *ctx, int dim, double spacing, mn_fluid fluid, mn_solid solid,
                          mn_boxes *b)
{
  size_t n = 0, elements = 0;
  *b = (mn_boxes){.ctx = ctx, .fluid = fluid, .solid = solid};
  ctx->message[0] = 0;
  mn_status status = solid.ops->sample(solid.self, spacing, &n, &elements);
  if (status != MN_OK)
    return blame(b, 1, status);
  if (n > UINT32_MAX - 1 || elements > SIZE_MAX / 8)
    return mn_fail(ctx, MN_FAILED, "the solid \"%s\" asks for %zu points and %zu elements",
                   name_of(solid.ops->name), n, elements);
  MN_TRY(mn_interface_create(ctx, dim, n + 1, elements + 1, &b->face));
  b->face.count = n;
  b->face.elements = elements;
  set_marks(b);
  status = mn_boxes_look(b);
  if (status != MN_OK)
    mn_boxes_destroy(b);
  return status;
}

void mn_boxes_destroy(mn_boxes *b)
{
  mn_interface_destroy(&b->face);
  mn_weighing_destroy(&b->weighing);
}
