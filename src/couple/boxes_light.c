/* Bodies too light for the masses of fluid below 0 that move with them (mn_fluid_ops.lacking).

   On the whole, masses that lie LACK_MOST of a body's own or more below 0 make its equation
   senseless where water lets go of it. They do in any fluid where a body bends and has a velocity
   of its own at the end of a substep (lead > 0): with inertia below 0 on the whole, m < 0, and
   stiffness k such a rule has

       V' + V = 2 (x' - x)/dt,    m (V' - V)/dt = -k (x + x')/2

   with the factor (1 + sqrt |s|)/(1 - sqrt |s|) in a substep, s = k dt^2/(4 m). For |s| > 1 that
   grows and changes its sign each time, while m + k dt^2/4 is above 0, so that no factor of the
   matrix shows it. (Backward Euler has 1/(1 +- 2 sqrt |s|), which then dies out.) So stiffness must
   not count: a body is judged by its mass alone, along the acceleration that the masses below 0,
   taken for forces, would give: a Rayleigh quotient for each body.
   Verified by tests/verify/test_light_bodies.c, test_midpoint_in_fluid.c. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "couple/boxes.h"
#include "math/vec.h"

/* The one system asks the same of rigid bodies (monolithic_system.c). */
static const double LACK_MOST = 0.5;

static int is_soft(const mn_interface *f, size_t i)
{
  return !f->rigid[i] && f->lead[i] > 0;
}

int mn_boxes_any_soft(const mn_boxes *b)
{
  for (size_t i = 0; i < b->face.count; i++)
    if (is_soft(&b->face, i))
      return 1;
  return 0;
}

mn_status mn_boxes_weigh(mn_boxes *b, const mn_vec3 *mass, int soft, double *sum, size_t bodies,
                         int *light)
{
  mn_interface *f = &b->face;
  *light = !b->solid.ops->accelerate; /* or who knows */
  if (*light)
    return MN_OK;
  for (size_t i = 0; i < f->count; i++)
    for (int a = 0; a < 3; a++)
      f->load[i].v[a] = fmax(-mass[i].v[a], 0);
  MN_TRY(mn_boxes_accelerate(b));
  memset(sum, 0, 2 * bodies * sizeof *sum);
  for (size_t i = 0; i < f->count; i++) {
    double *of = sum + 2 * ((size_t)f->body[i] % bodies); /* a plug-in's numbers may be any */
    if (soft && !is_soft(f, i))
      continue;
    of[0] += mn_dot(f->load[i], f->V[i]);
    for (int a = 0; a < 3; a++)
      of[1] -= (1 + f->lead[i]) * mass[i].v[a] * f->V[i].v[a] * f->V[i].v[a];
  }
  for (size_t k = 0; k < bodies; k++)
    *light |= sum[2 * k + 1] > LACK_MOST * sum[2 * k];
  return MN_OK;
}
