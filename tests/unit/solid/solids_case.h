/* Small assemblies of solids for tests. */
#ifndef MN_TESTS_SOLIDS_CASE_H
#define MN_TESTS_SOLIDS_CASE_H

#include <string.h>

#include "check.h"
#include "solid/solid.h"

enum { CASE_BODIES = 1024 };

typedef struct solids_case {
  mn_context *ctx;
  mn_solids_def def;
  mn_rigid_def body[CASE_BODIES];
  mn_shape *shape[CASE_BODIES];
  mn_spring_def spring[8];
  mn_solids *solids;
  mn_solid box;
  double t;
} solids_case;

static inline void case_open(solids_case *c, int dim)
{
  memset(c, 0, sizeof *c);
  c->ctx = check_context(1);
  c->def = mn_solids_def_default(dim);
}

/* A body whose shape the case owns. */
static inline mn_rigid_def *case_add(solids_case *c, mn_shape *shape)
{
  int i = c->def.rigid_count++;
  c->shape[i] = shape;
  c->body[i] = mn_rigid_def_default();
  c->body[i].shape = shape;
  c->body[i].sampled = 0;
  return &c->body[i];
}

static inline mn_rigid_def *case_ball(solids_case *c, mn_vec3 x, double r)
{
  mn_shape *s;
  CHECK_OK(c->ctx, mn_shape_sphere(c->ctx, c->def.dim, x, r, &s));
  return case_add(c, s);
}

static inline mn_rigid_def *case_box(solids_case *c, mn_vec3 middle, mn_vec3 half)
{
  mn_shape *s;
  CHECK_OK(c->ctx,
           mn_shape_box(c->ctx, c->def.dim, mn_sub(middle, half), mn_add(middle, half), &s));
  return case_add(c, s);
}

static inline mn_rigid_def *case_wall(solids_case *c, mn_vec3 point, mn_vec3 normal)
{
  mn_shape *s;
  CHECK_OK(c->ctx, mn_shape_half_space(c->ctx, c->def.dim, point, normal, &s));
  mn_rigid_def *d = case_add(c, s);
  d->joint = MN_JOINT_FIXED;
  return d;
}

static inline void case_start(solids_case *c)
{
  c->def.rigid = c->body;
  c->def.springs = c->spring;
  CHECK_OK(c->ctx, mn_solids_create(c->ctx, &c->def, &c->solids));
  c->box = mn_solids_box(c->solids);
}

static inline void case_step(solids_case *c, double dt)
{
  mn_interface none = {.dim = c->def.dim};
  CHECK_OK(c->ctx, c->box.ops->begin(c->box.self, c->t, dt));
  CHECK_OK(c->ctx, c->box.ops->solve(c->box.self, &none, NULL));
  CHECK_OK(c->ctx, c->box.ops->commit(c->box.self));
  c->t += dt;
}

static inline const mn_rigid_state *case_state(const solids_case *c, int i)
{
  return &mn_solids_rigid(c->solids)->now[i];
}

static inline void case_stop(solids_case *c) /* keeps the bodies for another start */
{
  mn_solids_destroy(&c->solids);
  c->t = 0;
}

static inline void case_close(solids_case *c)
{
  mn_solids_destroy(&c->solids);
  for (int i = 0; i < c->def.rigid_count; i++)
    mn_shape_destroy(&c->shape[i]);
  mn_context_destroy(&c->ctx);
}

#endif
