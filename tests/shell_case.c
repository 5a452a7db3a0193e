#include "shell_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geom/predicates.h"

/* Points of a sphere by halves of the latitude, and triangles between them. */
static void make_sphere(mn_context *ctx, int n, shell_case *c)
{
  int rings = n, around = 2 * n;
  size_t points = 2 + (size_t)(rings - 1) * (size_t)around, e = 0;
  size_t elements = 2 * (size_t)around * (size_t)(rings - 1);
  for (int w = 0; w < 3; w++)
    CHECK_OK(ctx, mn_interface_create(ctx, 3, points, elements, &c->at[w]));
  c->rest = calloc(points, sizeof *c->rest);
  mn_vec3 middle = mn_v3(0.5, 0.5, 0.5);
  for (int i = 1; i < rings; i++)
    for (int j = 0; j < around; j++) {
      double p = MN_PI * i / rings, q = 2 * MN_PI * j / around;
      c->rest[2 + (i - 1) * around + j] =
          mn_madd(middle, 0.26, mn_v3(sin(p) * cos(q), sin(p) * sin(q), cos(p)));
    }
  c->rest[0] = mn_madd(middle, 0.26, mn_v3(0, 0, 1));
  c->rest[1] = mn_madd(middle, -0.26, mn_v3(0, 0, 1));
  uint32_t(*t)[3] = (uint32_t(*)[3])(void *)c->at[0].element;
  for (int i = 0; i < rings; i++)
    for (int j = 0; j < around; j++) {
      uint32_t row = 2 + (uint32_t)((i - 1) * around), next = (uint32_t)((j + 1) % around);
      uint32_t a = i ? row + (uint32_t)j : 0, b = i ? row + next : 0;
      uint32_t lower = row + (uint32_t)around;
      uint32_t d = i < rings - 1 ? lower + (uint32_t)j : 1, f = i < rings - 1 ? lower + next : 1;
      if (i < rings - 1)
        memcpy(t[e++], (uint32_t[]){a, d, f}, sizeof *t);
      if (i > 0)
        memcpy(t[e++], (uint32_t[]){a, f, b}, sizeof *t);
    }
}

static void make_sheet(mn_context *ctx, int n, shell_case *c)
{
  size_t side = (size_t)n + 1, e = 0;
  for (int w = 0; w < 3; w++)
    CHECK_OK(ctx, mn_interface_create(ctx, 3, side * side, 2 * (size_t)n * (size_t)n, &c->at[w]));
  c->rest = calloc(side * side, sizeof *c->rest);
  for (size_t j = 0; j < side; j++)
    for (size_t i = 0; i < side; i++)
      c->rest[i + side * j] = mn_v3(0.5, (double)i / n, (double)j / n);
  uint32_t(*t)[3] = (uint32_t(*)[3])(void *)c->at[0].element;
  for (size_t j = 0; j < side - 1; j++)
    for (size_t i = 0; i < side - 1; i++) {
      uint32_t a = (uint32_t)(i + side * j), b = a + 1, d = a + (uint32_t)side, f = d + 1;
      memcpy(t[e++], (uint32_t[]){a, b, f}, sizeof *t);
      memcpy(t[e++], (uint32_t[]){a, f, d}, sizeof *t);
    }
}

static void make_line(mn_context *ctx, int n, shell_case *c)
{
  int ring = c->form == SHELL_RING;
  size_t points = (size_t)(ring ? n : n + 1);
  for (int w = 0; w < 3; w++)
    CHECK_OK(ctx, mn_interface_create(ctx, 2, points, (size_t)n, &c->at[w]));
  c->rest = calloc(points, sizeof *c->rest);
  for (size_t i = 0; i < points; i++) {
    double q = 2 * MN_PI * (double)i / n;
    c->rest[i] =
        ring ? mn_v3(0.5 + 0.26 * cos(q), 0.5 + 0.26 * sin(q), 0) : mn_v3(0.5, (double)i / n, 0);
  }
  for (size_t e = 0; e < (size_t)n; e++) {
    c->at[0].element[2 * e] = (uint32_t)e;
    c->at[0].element[2 * e + 1] = (uint32_t)((e + 1) % points);
  }
}

void shell_case_make(mn_context *ctx, int dim, shell_form form, shell_motion motion, double speed,
                     double spacing, shell_case *c)
{
  *c = (shell_case){.dim = dim, .form = form, .motion = motion, .speed = speed};
  int n = (int)ceil((form == SHELL_RING ? MN_PI * 0.26 * (dim == 2 ? 2 : 1) : 1) / spacing);
  if (dim == 2)
    make_line(ctx, n, c);
  else if (form == SHELL_RING)
    make_sphere(ctx, n, c);
  else
    make_sheet(ctx, n, c);
  for (int w = 0; w < 3; w++) {
    memset(c->at[w].two_sided, 1, c->at[w].count);
    memset(c->at[w].rigid, form == SHELL_RING && motion == SHELL_TURNS, c->at[w].count);
    memcpy(c->at[w].element, c->at[0].element,
           (size_t)dim * c->at[0].elements * sizeof *c->at[0].element);
    shell_case_place(c, 0, 1, w);
  }
}

void shell_case_free(shell_case *c)
{
  for (int w = 0; w < 3; w++)
    mn_interface_destroy(&c->at[w]);
  free(c->rest);
}

static mn_vec3 moved(const shell_case *c, mn_vec3 x, double t)
{
  double s = c->speed * t;
  mn_vec3 r = mn_sub(x, mn_v3(0.5, 0.5, c->dim == 3 ? 0.5 : 0));
  double go = 0.15 * sin(s / 0.15);
  switch (c->motion) {
  case SHELL_FIXED:
    return x;
  case SHELL_SHIFTS:
    return mn_add(x, c->form == SHELL_RING ? mn_v3(go, 0.7 * go, 0) : mn_v3(go, 0, 0));
  case SHELL_DRIFTS:
    return mn_add(x, mn_v3(s, 0.5 * s, 0));
  case SHELL_TURNS: /* a wall tilts, its ends slide on the walls */
    if (c->form == SHELL_WALL)
      return mn_add(x, mn_v3(r.y * 2 * go, 0, 0));
    r.y *= 0.8; /* a circle that turns would not be seen to */
    r = mn_rotate(r, mn_v3(0, 0, 1), s / 0.26);
    return mn_add(mn_v3(0.52, 0.49, c->dim == 3 ? 0.5 : 0), r);
  default: /* waves */
    if (c->form == SHELL_WALL)
      return mn_add(x, mn_v3(0.12 * sin(s / 0.12) * sin(2 * MN_PI * (x.y + 0.3 * x.z)), 0, 0));
    return mn_add(mn_sub(x, r),
                  mn_v3(exp(2 * go) * r.x, exp(-2 * go) * r.y, r.z)); /* keeps its area */
  }
}

void shell_case_place(shell_case *c, double t, double dt, int which)
{
  mn_interface *f = &c->at[which];
  for (size_t i = 0; i < f->count; i++) {
    mn_vec3 now = moved(c, c->rest[i], t), before = moved(c, c->rest[i], t - dt);
    f->X[i] = now;
    f->V[i] = mn_scale(1 / dt, mn_sub(now, before));
  }
}

int shell_case_inside(const shell_case *c, mn_vec3 x, int which)
{
  const mn_interface *f = &c->at[which];
  mn_vec3 far = c->form == SHELL_RING ? mn_v3(9, 7.5, c->dim == 3 ? 8 : 0) : mn_v3(9, x.y, x.z);
  int count = 0;
  for (size_t e = 0; e < f->elements; e++) {
    mn_vec3 v[3];
    for (int i = 0; i < c->dim; i++)
      v[i] = f->X[f->element[(size_t)c->dim * e + (size_t)i]];
    count += mn_segment_crosses(c->dim, v, x, far) != 0;
  }
  return count & 1;
}

/* ---- in a fluid ------------------------------------------------------------------------------ */

static mn_status eddies(void *user, mn_vec3 x, mn_vec3 *u)
{
  (void)user;
  double a = 2 * MN_PI;
  *u = mn_v3(0.6 * sin(a * x.x) * cos(a * x.y),
             -0.6 * cos(a * x.x) * sin(a * x.y) + 0.2 * sin(a * x.z), 0);
  return MN_OK;
}

void tank_open(tank *t, int dim, int n, shell_form form, shell_motion motion, double speed)
{
  mac_case_begin(&t->c, dim, mn_v3(1, 1, dim == 3 ? 1 : 0), n);
  t->c.def.fluid.initial_velocity.eval = eddies;
  t->c.def.fluid.pressure_tolerance = 1e-8;
  if (form == SHELL_WALL) /* fluid must be able to give way */
    t->c.def.domain.side[0].kind = t->c.def.domain.side[1].kind = MN_SIDE_OPEN;
  shell_case_make(t->c.ctx, dim, form, motion, speed, 0.7 / n, &t->s);
  t->dt = 0.4 / n;
}

void tank_fill(tank *t, int see_through)
{
  mac_case_start(&t->c);
  t->mac = t->c.fluid.self;
  t->mac->shell.see_through = see_through;
  shell_case_place(&t->s, 0, t->dt, 0);
  shell_case_place(&t->s, 0, t->dt, 2);
  CHECK_OK(t->c.ctx, t->c.fluid.ops->meet(t->mac, &t->s.at[0]));
  mn_field *f = &t->mac->state.smoke;
  for (int k = 0; k < f->n[2] && f->data; k++)
    for (int j = 0; j < f->n[1]; j++)
      for (int i = 0; i < f->n[0]; i++)
        mn_set(f, i, j, k, shell_case_inside(&t->s, mn_position(f, i, j, k), 2));
  if (f->data)
    mn_mac_fill_cells(f);
}

void tank_step_to(tank *t, double wrong, int frozen)
{
  const mn_fluid_ops *ops = t->c.fluid.ops;
  double time = t->c.steps * t->dt;
  CHECK_OK(t->c.ctx, ops->begin(t->mac, time, t->dt));
  t->s.at[2].frozen = frozen;
  for (int n = 2; n >= 0; n--) {
    shell_case_place(&t->s, time + t->dt + n * wrong * t->dt, t->dt, 2);
    CHECK_OK(t->c.ctx, ops->solve(t->mac, &t->s.at[2], &t->c.report));
  }
  CHECK_OK(t->c.ctx, ops->commit(t->mac));
  t->c.steps++;
}

void tank_step(tank *t)
{
  const mn_fluid_ops *ops = t->c.fluid.ops;
  double time = t->c.steps * t->dt;
  CHECK_OK(t->c.ctx, ops->begin(t->mac, time, t->dt));
  shell_case_place(&t->s, time + t->dt, t->dt, 2);
  CHECK_OK(t->c.ctx, ops->solve(t->mac, &t->s.at[2], &t->c.report));
  CHECK_OK(t->c.ctx, ops->commit(t->mac));
  t->c.steps++;
}

void tank_close(tank *t)
{
  shell_case_free(&t->s);
  mac_case_end(&t->c);
}
