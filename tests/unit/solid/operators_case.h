/* Solids for tests of their operators: any mix of bodies, an interface, loads. */
#ifndef MN_TESTS_OPERATORS_CASE_H
#define MN_TESTS_OPERATORS_CASE_H

#include <stdlib.h>

#include "geom/structured.h"
#include "la/csr.h"
#include "meniscus/operators.h"
#include "solids_case.h"

typedef struct pair {
  solids_case c;
  mn_interface f;
} pair;

static inline void start_case(pair *p, double spacing)
{
  size_t count, elements;
  case_start(&p->c);
  mn_solid box = p->c.box;
  CHECK_OK(p->c.ctx, box.ops->sample(box.self, spacing, &count, &elements));
  CHECK_OK(p->c.ctx, mn_interface_create(p->c.ctx, p->c.def.dim, count, elements, &p->f));
  CHECK_OK(p->c.ctx, box.ops->look(box.self, &p->f));
  p->f.frozen = 1;
}

static inline void stop_case(pair *p)
{
  mn_interface_destroy(&p->f);
  case_close(&p->c);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

enum { NEO_HOOKEAN, COROTATED, ST_VENANT, SPRINGS, SHELL, ROD, KINDS };

/* Follows a slow path: for nodes that are prescribed. */
static inline void path(void *user, uint32_t node, mn_vec3 rest, double t, mn_vec3 *x, mn_vec3 *v)
{
  (void)user, (void)node;
  *x = mn_add(rest, mn_v3(0.3 * t, 0.1 * t, 0));
  *v = mn_v3(0.3, 0.1, 0);
}

static inline mn_deform *soft(mn_context *ctx, int dim, mn_scheme scheme, int kind, double stiff)
{
  mn_deform_def def = mn_deform_def_default(dim);
  def.scheme = scheme;
  def.tolerance = 1e-13;
  def.gravity = mn_v3(0, -1, 0);
  mn_deform *d;
  mn_simplex_mesh mesh, quadratic = {0};
  int cells[3] = {3, 1, 1}, body;
  static const mn_material_kind MATERIAL[3] = {MN_NEO_HOOKEAN, MN_FIXED_COROTATED, MN_ST_VENANT};
  mn_vec3 velocity = mn_v3(0.5, 0.2, 0), low = mn_v3(3, 0, 0);
  CHECK_OK(ctx, mn_deform_create(ctx, &def, &d));
  if (kind <= ST_VENANT)
    CHECK_OK(ctx, mn_mesh_box(ctx, dim, low, mn_v3(2, 0.5, 0.5), cells, &mesh));
  else if (dim == 2 || kind == ROD)
    CHECK_OK(ctx, mn_mesh_line(ctx, dim, low, mn_v3(5, 0.1, 0), 6, &mesh));
  else
    CHECK_OK(ctx, mn_mesh_sheet(ctx, low, mn_v3(2, 0, 0), mn_v3(0, 0.1, 1), 4, 2, &mesh));
  mn_elastic_def elastic = {.material = MATERIAL[kind % 3],
                            .young = stiff * 1e4,
                            .poisson = 0.3,
                            .density = 10,
                            .velocity = velocity,
                            .alpha = 0.1,
                            .beta = 1e-3};
  mn_springs_def springs = {.density = 2,
                            .stretch = stiff * 300,
                            .bend = stiff,
                            .stretch_damping = 0.1,
                            .velocity = velocity};
  mn_shell_def shell = {.young = stiff * 1e5,
                        .poisson = 0.3,
                        .thickness = 0.02,
                        .density = 100,
                        .bending = -1,
                        .velocity = velocity};
  mn_rod_def rod = {.stretch = stiff * 300, .bend = stiff, .density = 2, .velocity = velocity};
  if (kind == COROTATED) {
    CHECK_OK(ctx, mn_simplex_mesh_quadratic(ctx, &mesh, &quadratic));
    CHECK_OK(ctx, mn_deform_add_elastic(d, &quadratic, &elastic, &body));
  } else if (kind <= ST_VENANT)
    CHECK_OK(ctx, mn_deform_add_elastic(d, &mesh, &elastic, &body));
  else if (kind == SHELL && dim == 3)
    CHECK_OK(ctx, mn_deform_add_shell(d, &mesh, &shell, &body));
  else if (kind == ROD)
    CHECK_OK(ctx, mn_deform_add_rod(d, &mesh, &rod, &body));
  else
    CHECK_OK(ctx, mn_deform_add_springs(d, &mesh, &springs, &body));
  mn_deform_fix(d, 0, MN_FIX_ALL);
  mn_deform_fix(d, 1, MN_FIX_X);
  mn_deform_set_motion(d, path, NULL);
  uint32_t last = (uint32_t)mn_deform_get(d).nodes - 1;
  CHECK_OK(ctx, mn_deform_add_anchor(d, last, mn_v3(5.5, 1, 0), 0.5, stiff * 5, 0.1));
  CHECK_OK(ctx, mn_deform_add_spring(d, 1, last, 1.5, stiff * 5, 0.2)); /* a link */
  CHECK_OK(ctx, mn_deform_ready(d));
  mn_simplex_mesh_destroy(&mesh);
  mn_simplex_mesh_destroy(&quadratic);
  return d;
}

static inline mn_rigid_def *add_box(pair *p, double x, double spin)
{
  int dim = p->c.def.dim;
  mn_rigid_def *b = case_box(&p->c, mn_v3(x, 0, 0), mn_v3(0.5, 0.2, 0.3));
  b->density = 3, b->velocity = mn_v3(0, 1, 0), b->sampled = 1, b->collides = 0;
  b->spin = mn_v3(dim == 3 ? 0.5 * spin : 0, dim == 3 ? 0.3 * spin : 0, spin);
  b->torque = mn_v3(0, 0, 0.3);
  return b;
}

/* A free box, a hinged and a sliding one, a driven one; springs between them. */
static inline void add_bodies(pair *p, double spin)
{
  solids_case *c = &p->c;
  add_box(p, 0, spin);
  mn_rigid_def *b = case_box(c, mn_v3(0, 2, 0), mn_v3(0.4, 0.1, 0.1));
  b->density = 3, b->joint = MN_JOINT_HINGE, b->axis = mn_v3(0, 0, 1), b->sampled = 1;
  b->point = mn_v3(-0.4, 2, 0), b->spin = mn_v3(0, 0, spin);
  b = case_ball(c, mn_v3(0, -2, 0), 0.3);
  b->density = 3, b->joint = MN_JOINT_PRISMATIC, b->axis = mn_v3(1, 1, 0), b->sampled = 1;
  b = case_ball(c, mn_v3(-3, 0, 0), 0.3);
  b->joint = MN_JOINT_DRIVEN, b->sampled = 1;
  b->motion.translate = mn_v3(0, 1, 0), b->motion.path = mn_timefn_constant(0);
  mn_vec3 zero = mn_v3(0, 0, 0);
  c->spring[0] = (mn_spring_def){0, 1, mn_v3(0.5, 0.2, 0), mn_v3(0.4, 1.9, 0), 20, 0.3, 1, 0};
  c->spring[1] = (mn_spring_def){1, -1, zero, zero, 2, 0.1, 0.3, 1};
  c->spring[2] = (mn_spring_def){0, 3, mn_v3(-0.5, 0, 0), mn_v3(-2.7, 0, 0), 30, 0, 2.4, 0};
  c->def.spring_count = 3;
}

static inline void set_loads(pair *p, double size)
{
  uint64_t seed = 3;
  for (size_t k = 0; k < p->f.count; k++)
    for (int a = 0; a < p->f.dim; a++)
      p->f.load[k].v[a] = size * (check_random(&seed) - 0.3);
}

static inline double differ(const mn_interface *f, const mn_vec3 *a, const mn_vec3 *b)
{
  double most = 0;
  for (size_t k = 0; k < f->count; k++)
    most = check_worst(most, mn_length(mn_sub(a[k], b[k])));
  return most;
}

/* b = r + E^T load */
static inline void right_side(const mn_solid_linear *l, const mn_vec3 *load, double *b)
{
  for (int64_t i = 0; i < l->K.rows; i++)
    b[i] = l->r[i];
  for (int64_t i = 0; i < l->E.rows; i++)
    for (int64_t e = l->E.start[i]; e < l->E.start[i + 1]; e++)
      b[l->E.col[e]] += l->E.value[e] * load[i / 3].v[i % 3];
}

static inline double greatest(int64_t n, const double *a)
{
  double most = 0;
  for (int64_t i = 0; i < n; i++)
    most = check_worst(most, fabs(a[i]));
  return most;
}

static inline mn_csr as_csr(const mn_sparse_matrix *m)
{
  return (mn_csr){m->rows, m->cols, (int64_t *)(uintptr_t)m->start, (int64_t *)(uintptr_t)m->col,
                  (double *)(uintptr_t)m->value};
}

#endif
