/* Inertia that a coupling adds to the points of the interface: it vanishes once the velocities
   handed in are those that come out; before, loads meet the mass and what is added. */
#include <stdlib.h>

#include "geom/structured.h"
#include "solids_case.h"

static const mn_scheme SCHEME[4] = {MN_BACKWARD_EULER, MN_NEWMARK, MN_MIDPOINT, MN_EXPLICIT};

/* Kinds of deformable bodies: quadratic elastic, linear elastic, thin. */
static mn_deform *soft(mn_context *ctx, int dim, mn_scheme scheme, int kind)
{
  mn_deform_def def = mn_deform_def_default(dim);
  def.scheme = scheme;
  def.tolerance = 1e-13;
  def.gravity = mn_v3(0, -1, 0);
  mn_deform *d;
  mn_simplex_mesh mesh, quadratic = {0};
  int cells[3] = {3, 1, 1}, body;
  mn_elastic_def elastic = {
      .young = 1e4, .poisson = 0.3, .density = 10, .velocity = mn_v3(0.5, 0.2, 0), .beta = 1e-3};
  mn_springs_def springs = {.density = 2, .stretch = 300, .bend = 1};
  CHECK_OK(ctx, mn_deform_create(ctx, &def, &d));
  mn_vec3 low = mn_v3(3, 0, 0);
  if (kind == 2 && dim == 2)
    CHECK_OK(ctx, mn_mesh_line(ctx, 2, low, mn_v3(5, 0, 0), 5, &mesh));
  else if (kind == 2)
    CHECK_OK(ctx, mn_mesh_sheet(ctx, low, mn_v3(2, 0, 0), mn_v3(0, 0, 1), 4, 2, &mesh));
  else
    CHECK_OK(ctx, mn_mesh_box(ctx, dim, low, mn_v3(2, 0.5, 0.5), cells, &mesh));
  if (kind == 0) {
    CHECK_OK(ctx, mn_simplex_mesh_quadratic(ctx, &mesh, &quadratic));
    CHECK_OK(ctx, mn_deform_add_elastic(d, &quadratic, &elastic, &body));
  } else if (kind == 1)
    CHECK_OK(ctx, mn_deform_add_elastic(d, &mesh, &elastic, &body));
  else
    CHECK_OK(ctx, mn_deform_add_springs(d, &mesh, &springs, &body));
  mn_deform_fix(d, 0, MN_FIX_ALL);
  CHECK_OK(ctx, mn_deform_ready(d));
  mn_simplex_mesh_destroy(&mesh);
  mn_simplex_mesh_destroy(&quadratic);
  return d;
}

typedef struct pair {
  solids_case c;
  mn_interface f;
} pair;

/* A free box, a hinged and a sliding one, a spring between two, and a deformable body. */
static void open_pair(pair *p, int dim, int order, mn_scheme scheme, int kind, int contacts)
{
  solids_case *c = &p->c;
  case_open(c, dim);
  c->def.order = order;
  c->def.contacts = contacts;
  c->def.gravity = mn_v3(0, -1, 0);
  mn_rigid_def *b = case_box(c, mn_v3(0, 0, 0), mn_v3(0.5, 0.2, 0.3));
  b->density = 3, b->spin = mn_v3(dim == 3, 0, 2), b->velocity = mn_v3(0, 1, 0), b->sampled = 1;
  b = case_box(c, mn_v3(0, 2, 0), mn_v3(0.4, 0.1, 0.1));
  b->density = 3, b->joint = MN_JOINT_HINGE, b->axis = mn_v3(0, 0, 1), b->sampled = 1;
  b->point = mn_v3(-0.4, 2, 0), b->spin = mn_v3(0, 0, 0.5);
  b = case_ball(c, mn_v3(0, -2, 0), 0.3);
  b->density = 3, b->joint = MN_JOINT_PRISMATIC, b->axis = mn_v3(1, 1, 0), b->sampled = 1;
  c->spring[0] = (mn_spring_def){.a = 0,
                                 .b = 1,
                                 .at_a = mn_v3(0.5, 0.2, 0),
                                 .at_b = mn_v3(0.4, 1.9, 0),
                                 .stiffness = 20,
                                 .length = -1};
  c->def.spring_count = 1;
  c->def.deform = soft(c->ctx, dim, scheme, kind);
  case_start(c);
  size_t count, elements;
  CHECK_OK(c->ctx, c->box.ops->sample(c->box.self, 0.22, &count, &elements));
  CHECK_OK(c->ctx, mn_interface_create(c->ctx, dim, count, elements, &p->f));
}

static void close_pair(pair *p)
{
  mn_interface_destroy(&p->f);
  case_close(&p->c);
}

/* Loads that differ from point to point; masses about `size` times the points' share of 1 kg. */
static void set_inputs(pair *p, double size)
{
  mn_interface *f = &p->f;
  CHECK_OK(p->c.ctx, p->c.box.ops->look(p->c.box.self, f));
  uint64_t seed = 3;
  for (size_t k = 0; k < f->count; k++) {
    for (int a = 0; a < f->dim; a++)
      f->load[k].v[a] = 0.2 * (check_random(&seed) - 0.3);
    f->mass[k] = size * (0.5 + check_random(&seed)) * f->area[k];
  }
}

static double differ(const mn_interface *f, const mn_vec3 *a, const mn_vec3 *b)
{
  double most = 0;
  for (size_t k = 0; k < f->count; k++)
    most = check_worst(most, mn_length(mn_sub(a[k], b[k])));
  return most;
}

/* Handed what comes out without masses, a solve with masses gives the same; handed anything else,
   it does not (the control). Places and velocities, all schemes, both rules, joints, springs. */
static void test_vanishes(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int run = 0; run < 8; run++) {
      static pair p;
      double dt = SCHEME[run % 4] == MN_EXPLICIT ? 1e-3 : 0.01;
      open_pair(&p, dim, 1 + run % 2, SCHEME[run % 4], run % 3, 0);
      mn_interface *f = &p.f;
      mn_solid box = p.c.box;
      size_t bytes = f->count * sizeof *f->X;
      mn_vec3 *X = malloc(bytes), *start = malloc(bytes);
      double *mass = malloc(f->count * sizeof *mass);
      CHECK_OK(p.c.ctx, box.ops->begin(box.self, 0, dt));
      set_inputs(&p, 1e3); /* far heavier than the bodies */
      memcpy(mass, f->mass, f->count * sizeof *mass);
      memcpy(start, f->X, bytes);
      memset(f->mass, 0, f->count * sizeof *mass);
      CHECK_OK(p.c.ctx, box.ops->solve(box.self, f, NULL));
      memcpy(X, f->X, bytes);
      for (size_t k = 0; k < f->count; k++) /* masses feel means; what came out is of the end */
        f->V[k] = mn_scale(1 / dt, mn_sub(X[k], start[k]));
      memcpy(f->mass, mass, f->count * sizeof *mass);
      memcpy(f->X, start, bytes); /* where the loads act */
      CHECK_OK(p.c.ctx, box.ops->solve(box.self, f, NULL));
      double way = differ(f, X, start);
      CHECK_LE(mn_solids_last(p.c.solids)->outer, 6); /* passes of the drift */
      CHECK_LE(differ(f, f->X, X) / way, 1e-10);
      CHECK_LE(differ(f, f->X, X), 1e-12);
      memcpy(f->X, start, bytes);
      for (size_t k = 0; k < f->count; k++)
        f->V[k] = mn_v3(0, 0, 0);
      CHECK_OK(p.c.ctx, box.ops->solve(box.self, f, NULL));
      CHECK_GE(differ(f, f->X, X) / way, 0.3); /* heavy points hold the bodies back */
      free(X), free(start), free(mass);
      close_pair(&p);
    }
  CHECK_DONE();
}

/* Every point obeys f = load - m (V - V in)/dt, V its mean velocity: a second solve with that as
   the load and no mass ends in the same place. */
static void test_felt(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int run = 0; run < 8; run++) {
      static pair p;
      double dt = SCHEME[run % 4] == MN_EXPLICIT ? 1e-3 : 0.01;
      open_pair(&p, dim, 1 + run % 2, SCHEME[run % 4], run % 3, 0);
      mn_interface *f = &p.f;
      mn_solid box = p.c.box;
      size_t bytes = f->count * sizeof *f->X;
      mn_vec3 *X = malloc(bytes), *V = malloc(bytes), *start = malloc(bytes);
      CHECK_OK(p.c.ctx, box.ops->begin(box.self, 0, dt));
      set_inputs(&p, 20);
      memcpy(start, f->X, bytes);
      memcpy(V, f->V, bytes);
      CHECK_OK(p.c.ctx, box.ops->solve(box.self, f, NULL));
      memcpy(X, f->X, bytes);
      for (size_t k = 0; k < f->count; k++) {
        mn_vec3 mean = mn_scale(1 / dt, mn_sub(X[k], start[k]));
        f->load[k] = mn_madd(f->load[k], -f->mass[k] / dt, mn_sub(mean, V[k]));
        f->mass[k] = 0;
      }
      memcpy(f->X, start, bytes);
      CHECK_OK(p.c.ctx, box.ops->solve(box.self, f, NULL));
      CHECK_LE(differ(f, f->X, X), 1e-11);
      free(X), free(V), free(start);
      close_pair(&p);
    }
  CHECK_DONE();
}

/* A ball that only slides: dX/dload = theta dt^2/(M + theta m); a curve without springs: dt^2/(M +
   m) of each node. */
static void test_mobility(void **state)
{
  (void)state;
  for (int order = 1; order <= 2; order++) {
    static pair p;
    open_pair(&p, 2, order, MN_BACKWARD_EULER, 2, 0);
    mn_interface *f = &p.f;
    mn_solid box = p.c.box;
    double theta = order == 1 ? 1 : 0.5, dt = 0.01, M = mn_solids_rigid(p.c.solids)->body[2].mass;
    size_t bytes = f->count * sizeof *f->X;
    mn_vec3 *start = malloc(bytes), *V = malloc(bytes), X[2] = {{{0}}};
    CHECK_OK(p.c.ctx, box.ops->begin(box.self, 0, dt));
    set_inputs(&p, 5);
    memcpy(start, f->X, bytes), memcpy(V, f->V, bytes);
    size_t at = 0;
    double m = 0;
    for (size_t k = 0; k < f->count; k++)
      if (f->body[k] == 2)
        at = k, m += f->mass[k];
    for (int i = 0; i < 2; i++) {
      memcpy(f->X, start, bytes), memcpy(f->V, V, bytes);
      f->load[at].x += i * 1.0;
      CHECK_OK(p.c.ctx, box.ops->solve(box.self, f, NULL));
      X[i] = f->X[at];
    }
    double along = sqrt(0.5); /* the axis is diagonal */
    CHECK_NEAR((X[1].x - X[0].x) / (along * along * theta * dt * dt / (M + theta * m)), 1, 1e-9);
    free(start), free(V);
    close_pair(&p);
  }
  CHECK_DONE();
}

/* Masses that are all 0 leave the bits alone; those of a resumed substep do not depend on the one
   before. One factorisation serves solves with the same masses. */
static void test_bits(void **state)
{
  (void)state;
  for (int run = 0; run < 4; run++) {
    static pair p[3];
    double dt = SCHEME[run] == MN_EXPLICIT ? 1e-3 : 0.01;
    for (int i = 0; i < 3; i++) {
      open_pair(&p[i], 3, 2, SCHEME[run], run % 3, 1);
      for (int n = 0; n < 4; n++) {
        mn_interface *f = &p[i].f;
        mn_solid box = p[i].c.box;
        CHECK_OK(p[i].c.ctx, box.ops->begin(box.self, n * dt, dt));
        set_inputs(&p[i], n == 3 ? 10 : 0);
        if (i == 1 && n < 3) { /* without, with, without: the last counts */
          CHECK_OK(p[i].c.ctx, box.ops->save(box.self));
          set_inputs(&p[i], 30);
          CHECK_OK(p[i].c.ctx, box.ops->solve(box.self, f, NULL));
          CHECK_OK(p[i].c.ctx, box.ops->commit(box.self));
          CHECK_OK(p[i].c.ctx, box.ops->restore(box.self));
          CHECK_OK(p[i].c.ctx, box.ops->begin(box.self, n * dt, dt));
          set_inputs(&p[i], 0);
        }
        if (i == 2 && n < 3) { /* no array of masses at all */
          double *mass = f->mass;
          f->mass = NULL;
          CHECK_OK(p[i].c.ctx, box.ops->solve(box.self, f, NULL));
          f->mass = mass;
        } else
          CHECK_OK(p[i].c.ctx, box.ops->solve(box.self, f, NULL));
        if (n == 3 && SCHEME[run] != MN_EXPLICIT) {
          mn_deform_report report = mn_solids_last(p[i].c.solids)->deform;
          CHECK_LE(report.factorisations, 1);
          mn_vec3 *x = malloc(f->count * sizeof *x);
          memcpy(x, f->X, f->count * sizeof *x);
          set_inputs(&p[i], 10);
          f->load[f->count - 1].y += 1e-3;
          CHECK_OK(p[i].c.ctx, box.ops->solve(box.self, f, NULL));
          report = mn_solids_last(p[i].c.solids)->deform;
          CHECK(report.factorisations == 0);
          set_inputs(&p[i], 10);
          CHECK_OK(p[i].c.ctx, box.ops->solve(box.self, f, NULL));
          CHECK_LE(differ(f, x, f->X), 1e-12);
          free(x);
        }
        CHECK_OK(p[i].c.ctx, box.ops->commit(box.self));
      }
    }
    for (int i = 1; i < 3; i++) {
      size_t bytes = p[0].f.count * sizeof(mn_vec3);
      CHECK(memcmp(p[0].f.X, p[i].f.X, bytes) == 0);
      CHECK(memcmp(p[0].f.V, p[i].f.V, bytes) == 0);
    }
    for (int i = 0; i < 3; i++)
      close_pair(&p[i]);
  }
  CHECK_DONE();
}

/* Bodies in contact feel it with what is added: a ball and a curve thrown onto the floor,
   velocities handed in until they stay, end as without masses. */
static void test_contact(void **state)
{
  (void)state;
  for (int run = 0; run < 2; run++) {
    static solids_case c;
    mn_vec3 end[2][64];
    size_t count = 0, elements;
    for (int with = 0; with < 2; with++) {
      case_open(&c, 2);
      c.def.order = 1 + run;
      mn_rigid_def *b = case_ball(&c, mn_v3(0, 0.3, 0), 0.3);
      b->density = 1, b->sampled = 1, b->velocity = mn_v3(0.3, -1, 0), b->friction = 0.3;
      case_wall(&c, mn_v3(0, 0, 0), mn_v3(0, 1, 0));
      mn_deform_def def = mn_deform_def_default(2);
      def.tolerance = 1e-13;
      mn_springs_def springs = {.density = 2, .stretch = 300, .velocity = mn_v3(0, -1, 0)};
      mn_simplex_mesh mesh;
      int body;
      CHECK_OK(c.ctx, mn_deform_create(c.ctx, &def, &c.def.deform));
      CHECK_OK(c.ctx, mn_mesh_line(c.ctx, 2, mn_v3(3, 0.006, 0), mn_v3(4, 0.1, 0), 4, &mesh));
      CHECK_OK(c.ctx, mn_deform_add_springs(c.def.deform, &mesh, &springs, &body));
      CHECK_OK(c.ctx, mn_deform_ready(c.def.deform));
      mn_simplex_mesh_destroy(&mesh);
      case_start(&c);
      mn_interface f;
      CHECK_OK(c.ctx, c.box.ops->sample(c.box.self, 0.3, &count, &elements));
      CHECK_OK(c.ctx, mn_interface_create(c.ctx, 2, count, elements, &f));
      CHECK_OK(c.ctx, c.box.ops->look(c.box.self, &f));
      CHECK_OK(c.ctx, c.box.ops->begin(c.box.self, 0, 0.01));
      for (size_t k = 0; k < count; k++)
        f.mass[k] = with * f.area[k];
      mn_vec3 at[64];
      memcpy(at, f.X, count * sizeof *at);
      for (int n = 0; n < 200; n++) {
        memcpy(f.X, at, count * sizeof *at);
        CHECK_OK(c.ctx, c.box.ops->solve(c.box.self, &f, NULL));
        for (size_t k = 0; k < count; k++) /* means are handed in */
          f.V[k] = mn_scale(1 / 0.01, mn_sub(f.X[k], at[k]));
      }
      memcpy(end[with], f.X, count * sizeof *at);
      CHECK_GE((double)mn_solids_last(c.solids)->drift.touches, 1);
      for (size_t k = 0; k < count; k++)
        if (f.X[k].x > 2)
          CHECK_GE(f.X[k].y, -1e-3); /* at 1 m/s it would be 4 mm below the floor */
      mn_interface_destroy(&f);
      case_close(&c);
    }
    double rigid = 0, thin = 0;
    for (size_t k = 0; k < count; k++) {
      double *most = end[0][k].x < 2 ? &rigid : &thin;
      *most = check_worst(*most, mn_length(mn_sub(end[0][k], end[1][k])));
    }
    CHECK_LE(rigid, 1e-10);
    CHECK_LE(thin, 1e-7);
  }
  CHECK_DONE();
}

static void test_refused(void **state)
{
  (void)state;
  static pair p;
  open_pair(&p, 2, 2, MN_MIDPOINT, 1, 0);
  CHECK_OK(p.c.ctx, p.c.box.ops->begin(p.c.box.self, 0, 0.01));
  set_inputs(&p, 1);
  p.f.mass[5] = -1;
  CHECK_FAILS(p.c.ctx, p.c.box.ops->solve(p.c.box.self, &p.f, NULL), MN_FAILED, "point 5");
  p.f.mass[5] = NAN;
  CHECK_FAILS(p.c.ctx, p.c.box.ops->solve(p.c.box.self, &p.f, NULL), MN_FAILED, "point 5");
  close_pair(&p);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_vanishes), cmocka_unit_test(test_felt),
      cmocka_unit_test(test_mobility), cmocka_unit_test(test_bits),
      cmocka_unit_test(test_contact),  cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
