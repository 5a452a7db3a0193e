/* Calls of the wider table (operators.h), timed, and blamed on the box that fails. */
#include "couple/boxes.h"

#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/status.h"
#include "base/timer.h"
#include "math/vec.h"

static const mn_fluid_operators *of_fluid(const mn_boxes *b)
{
  return b->fluid.ops->operators;
}

static const mn_solid_operators *of_solid(const mn_boxes *b)
{
  return b->solid.ops->operators;
}

mn_status mn_boxes_need_operators(const mn_boxes *b, const char *method)
{
  int fluid = of_fluid(b) != NULL, solid = of_solid(b) != NULL;
  if (fluid && solid)
    return MN_OK;
  const char *name = fluid ? b->solid.ops->name : b->fluid.ops->name;
  return mn_fail(b->ctx, MN_BAD_INPUT,
                 "coupling.method = \"%s\" solves fluid and solid as one system, and the %s "
                 "\"%s\" tells no operators (meniscus/operators.h): it can be coupled by xpm, rmi, "
                 "aitken, relaxed or weak",
                 method, fluid ? "solid" : "fluid", name && *name ? name : "without a name");
}

/* ---- fluid ----------------------------------------------------------------------------------- */

mn_status mn_boxes_assemble(mn_boxes *b, mn_fluid_linear *linear)
{
  double start = mn_seconds();
  int positive = linear->positive;
  *linear = (mn_fluid_linear){.positive = positive};
  b->ctx->message[0] = 0;
  mn_status status = of_fluid(b)->assemble(b->fluid.self, &b->face, linear);
  linear->positive |= positive; /* it has been asked, whether it heeds that or not */
  b->fluid_s += mn_seconds() - start;
  return mn_boxes_judge(b, 0, status);
}

mn_status mn_boxes_weights(mn_boxes *b, mn_sparse_matrix *W, const int32_t **body)
{
  double start = mn_seconds();
  const mn_fluid_operators *fluid = of_fluid(b);
  *body = NULL;
  b->ctx->message[0] = 0;
  mn_status status = fluid->loose_weights ? fluid->loose_weights(b->fluid.self, W, body)
                                          : fluid->weights(b->fluid.self, W);
  b->fluid_s += mn_seconds() - start;
  return mn_boxes_judge(b, 0, status);
}

mn_status mn_boxes_matrix(mn_boxes *b, mn_sparse_matrix *L)
{
  double start = mn_seconds();
  b->ctx->message[0] = 0;
  mn_status status = of_fluid(b)->matrix(b->fluid.self, L);
  b->fluid_s += mn_seconds() - start;
  return mn_boxes_judge(b, 0, status);
}

mn_status mn_boxes_scatter(mn_boxes *b, const double *F, mn_vec3 *load)
{
  memset(load, 0, b->face.count * sizeof *load);
  b->ctx->message[0] = 0;
  return mn_boxes_judge(b, 0, of_fluid(b)->scatter(b->fluid.self, F, load));
}

mn_status mn_boxes_prepare(mn_boxes *b, const double *open, const uint8_t *held)
{
  double start = mn_seconds();
  b->ctx->message[0] = 0;
  mn_status status = of_fluid(b)->prepare(b->fluid.self, open, held);
  b->fluid_s += mn_seconds() - start;
  return mn_boxes_judge(b, 0, status);
}

void mn_boxes_gather(mn_boxes *b, double *U)
{
  mn_boxes_gather_of(b, b->face.V, U);
}

void mn_boxes_gather_of(mn_boxes *b, const mn_vec3 *V, double *U)
{
  of_fluid(b)->gather(b->fluid.self, V, U);
}

void mn_boxes_apply(mn_boxes *b, const double *p, double *y)
{
  double start = mn_seconds();
  of_fluid(b)->apply(b->fluid.self, p, y);
  b->fluid_s += mn_seconds() - start;
}

void mn_boxes_precondition(mn_boxes *b, const double *y, double *z)
{
  double start = mn_seconds();
  of_fluid(b)->precondition(b->fluid.self, y, z);
  b->fluid_s += mn_seconds() - start;
}

int mn_boxes_has_conjugate(const mn_boxes *b)
{
  return of_fluid(b)->conjugate != NULL;
}

mn_status mn_boxes_conjugate(mn_boxes *b, mn_row_answer *answer, mn_row_answer *whole,
                             mn_row_follow *follow, void *user, const double *right,
                             double tolerance, int max_iterations, double *p,
                             mn_solve_report *report)
{
  double start = mn_seconds();
  b->ctx->message[0] = 0;
  mn_status status = of_fluid(b)->conjugate(b->fluid.self, answer, whole, follow, user, right,
                                            tolerance, max_iterations, p, report);
  b->fluid_s += mn_seconds() - start;
  return mn_boxes_judge(b, 0, status);
}

mn_status mn_boxes_adopt(mn_boxes *b, const double *p)
{
  double start = mn_seconds();
  mn_solve_report report = {0};
  b->ctx->message[0] = 0;
  mn_status status = of_fluid(b)->adopt(b->fluid.self, &b->face, p, &report);
  b->fluid_s += mn_seconds() - start;
  b->fluid_solves++;
  b->fluid_report = report;
  MN_TRY(mn_boxes_judge(b, 0, status));
  return mn_boxes_check_fluid(b);
}

/* ---- solid ----------------------------------------------------------------------------------- */

mn_status mn_boxes_start(mn_boxes *b)
{
  double start = mn_seconds();
  b->ctx->message[0] = 0;
  mn_status status = of_solid(b)->start(b->solid.self, &b->face);
  b->solid_s += mn_seconds() - start;
  MN_TRY(mn_boxes_judge(b, 1, status));
  return mn_boxes_check_solid(b);
}

mn_status mn_boxes_expect(mn_boxes *b, double dt, mn_vec3 *place)
{
  const mn_interface *f = &b->face;
  for (size_t i = 0; i < f->count; i++)
    place[i] = mn_madd(f->X[i], dt, f->V[i]);
  if (!of_solid(b))
    return MN_OK;
  MN_TRY(mn_boxes_start(b));
  for (size_t i = 0; i < f->count; i++)
    if (f->rigid[i])
      place[i] = f->X[i];
  return MN_OK;
}

mn_status mn_boxes_linearise(mn_boxes *b, mn_solid_linear *linear)
{
  double start = mn_seconds();
  *linear = (mn_solid_linear){.curvature = linear->curvature};
  b->ctx->message[0] = 0;
  mn_status status = of_solid(b)->linearise(b->solid.self, &b->face, linear);
  b->solid_s += mn_seconds() - start;
  return mn_boxes_judge(b, 1, status);
}

mn_status mn_boxes_advance(mn_boxes *b, const double *q, double step, double *taken)
{
  double start = mn_seconds();
  *taken = step;
  b->ctx->message[0] = 0;
  mn_status status = of_solid(b)->advance(b->solid.self, q, step, &b->face, taken);
  b->solid_s += mn_seconds() - start;
  b->solid_solves++;
  MN_TRY(mn_boxes_judge(b, 1, status));
  return mn_boxes_check_solid(b);
}

double mn_boxes_missed(mn_boxes *b, double dt)
{
  return of_solid(b)->missed ? dt * of_solid(b)->missed(b->solid.self) : 0;
}

mn_status mn_boxes_touches(mn_boxes *b, int *any)
{
  double start = mn_seconds();
  *any = 0;
  b->ctx->message[0] = 0;
  mn_status status = of_solid(b)->touches ? of_solid(b)->touches(b->solid.self, any) : MN_OK;
  b->solid_s += mn_seconds() - start;
  return mn_boxes_judge(b, 1, status);
}
