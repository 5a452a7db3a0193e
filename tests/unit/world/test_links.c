/* Springs, dampers, torques and links of a scene against exact motion: the midpoint rule turns an
   oscillator by 2 atan(omega dt/2) in a step and keeps its amplitude. And what is refused. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "world/world.h"

static const double DT = 0.01;

typedef struct run {
  mn_context *ctx;
  mn_model *model;
  mn_world *world;
} run;

static mn_status load(mn_context *ctx, const char *rest, mn_model **model)
{
  char text[4096];
  snprintf(text, sizeof text,
           "return scene { domain = box { size = {1, 1}, cells = {16, 16} },"
           "output = { frames = 1, every = 10 }, %s }",
           rest);
  return mn_scene_load_text(ctx, "t.lua", ".", text, NULL, 0, model);
}

/* A scene without gravity and contact, in steps of DT. */
static run start(const char *rest)
{
  char text[3800];
  run r = {.ctx = check_context(1)};
  snprintf(text, sizeof text,
           "dynamics = dynamics { dt = %g, gravity = {0, 0}, contact = false,"
           " integrator = 'midpoint', tolerance = 1e-13 }, %s",
           DT, rest);
  CHECK_OK(r.ctx, load(r.ctx, text, &r.model));
  CHECK_OK(r.ctx, mn_world_create(r.ctx, r.model, &r.world));
  return r;
}

static void step(run *r)
{
  mn_step_info info;
  CHECK_OK(r->ctx, mn_world_step(r->world, 10, &info));
  CHECK_NEAR(info.dt, DT, 1e-15);
}

static void end(run *r)
{
  mn_world_destroy(&r->world);
  mn_model_destroy(&r->model);
  mn_context_destroy(&r->ctx);
}

/* |probe 0 - (mean + amplitude sin(n phase + shift))|, the worst of 100 steps. */
static double oscillation(const char *scene, double mean, double amplitude, double omega,
                          double shift)
{
  run r = start(scene);
  double worst = 0;
  for (int n = 1; n <= 100; n++) {
    step(&r);
    double exact = mean + amplitude * sin(2 * n * atan(omega * DT / 2) + shift);
    worst = check_worst(worst, fabs(mn_world_probe(r.world, 0) - exact));
  }
  end(&r);
  return worst;
}

static void test_rigid_links(void **state)
{
  (void)state;
  const double m = 2 * MN_PI * 0.01, w = sqrt(30 / m), pair = sqrt(30 / (m / 2));
  static const char ONE[] =
      "solids = { rigid { name = 'd', shape = disk { center = {0.5, 0.5}, radius = 0.1 },"
      " density = 2, velocity = {0.3, 0} },"
      " link { of = 'd', at = {0.5, 0.5}, to_at = {0.1, 0.5}, stiffness = 30 } },"
      "probes = { position { of = 'd', axis = 'x' } }";
  static const char TWO[] =
      "solids = { rigid { name = 'd', shape = disk { center = {0.7, 0.5}, radius = 0.1 },"
      " density = 2, velocity = {0.3, 0} },"
      " rigid { name = 'e', shape = disk { center = {0.3, 0.5}, radius = 0.1 }, density = 2,"
      " velocity = {-0.3, 0} },"
      " link { of = 'd', at = {0.7, 0.5}, to = 'e', to_at = {0.3, 0.5}, stiffness = 30 } },"
      "probes = { position { of = 'd', axis = 'x' } }";
  CHECK_LE(oscillation(ONE, 0.5, 0.3 / w, w, 0), 1e-10);
  CHECK_LE(oscillation(TWO, 0.7, 0.3 / pair, pair, 0), 1e-10);
  CHECK_DONE();
  CHECK_LE(oscillation(TWO, 0.7, 0.3 / w, w, 0), 1e-10); /* were the other body the world */
  CHECK_MUST_HAVE_FAILED();
}

/* I = m r^2/2 about the hinge in the middle of a disk. */
static void test_hinge(void **state)
{
  (void)state;
  const double I = 2 * MN_PI * 0.01 * 0.01 / 2, w = sqrt(0.02 / I), c = 0.001;
  static const char FREE[] =
      "solids = { rigid { name = 'd', shape = disk { center = {0.5, 0.5}, radius = 0.1 },"
      " density = 2, spin = 3, joint = 'hinge', joint_point = {0.5, 0.5}, spring = 0.02 } },"
      "probes = { angle { of = 'd' } }";
  static const char DAMPED[] =
      "solids = { rigid { name = 'd', shape = disk { center = {0.5, 0.5}, radius = 0.1 },"
      " density = 2, spin = 3, joint = 'hinge', joint_point = {0.5, 0.5}, spring = 0.02,"
      " damper = 0.001 } }, probes = { angle { of = 'd' } }";
  CHECK_LE(oscillation(FREE, 0, 3 / w, w, 0), 1e-10);
  run r = start(DAMPED);
  double s = 0, rate = 3, worst = 0;
  for (int n = 0; n < 100; n++) { /* the midpoint rule by hand */
    double mid = (rate - DT / 2 * 0.02 / I * s) / (1 + DT / 2 * (c / I + DT / 2 * 0.02 / I));
    s += DT * mid;
    rate = 2 * mid - rate;
    step(&r);
    worst = check_worst(worst, fabs(mn_world_probe(r.world, 0) - s));
  }
  CHECK_LE(worst, 1e-10);
  CHECK_LE(fabs(s), 0.3 * 3 / w); /* and it is damped */
  end(&r);
  CHECK_DONE();
}

/* A constant torque turns a free disk by T t^2/(2 I): whole turns count. */
static void test_torque(void **state)
{
  (void)state;
  const double I = 2 * MN_PI * 0.01 * 0.01 / 2;
  run r = start("solids = { rigid { name = 'd', shape = disk { center = {0.5, 0.5}, radius = 0.1 },"
                " density = 2, torque = -0.01, torque_ramp = 2 },"
                " rigid { name = 'h', shape = disk { center = {0.5, 0.2}, radius = 0.1 },"
                " density = 2, torque = 0.02, joint = 'hinge', joint_point = {0.5, 0.2} } },"
                "probes = { angle { of = 'd' }, angle { of = 'h' } }");
  for (int n = 0; n < 100; n++)
    step(&r);
  CHECK_NEAR(mn_world_probe(r.world, 0), -0.02 / I / 2, 1e-9);
  CHECK_NEAR(mn_world_probe(r.world, 1), 0.02 / I / 2, 1e-9);
  CHECK_GE(-mn_world_probe(r.world, 0), 2 * MN_PI); /* more than a turn, or this tests little */
  end(&r);
  CHECK_DONE();
}

/* Ends of segments without stiffness of their own: masses of 0.5 x 0.4 x 0.2 kg. */
static void test_soft_links(void **state)
{
  (void)state;
  const double m = 0.5 * 0.4 * 0.2, w = sqrt(6 / m), pair = sqrt(6 / (m / 2));
  static const char ANCHOR[] =
      "solids = { springs { name = 's', from = {0.1, 0.5}, to = {0.5, 0.5}, spacing = 1,"
      " density = 0.2, stretch = 1e-12, fixed = box { lo = {0, 0}, hi = {0.2, 1} } },"
      " link { of = 's', at = {0.5, 0.5}, to_at = {0.5, 0.4}, stiffness = 6, length = 0 } },"
      "probes = { position { of = 's', at = {0.5, 0.5}, axis = 'y' } }";
  static const char BETWEEN[] =
      "solids = { springs { name = 's', from = {0.1, 0.5}, to = {0.5, 0.5}, spacing = 1,"
      " density = 0.2, stretch = 1e-12, fixed = box { lo = {0, 0}, hi = {0.2, 1} } },"
      " springs { name = 't', from = {0.6, 0.9}, to = {0.6, 0.5}, spacing = 1, density = 0.2,"
      " stretch = 1e-12, fixed = box { lo = {0, 0.8}, hi = {1, 1} } },"
      " link { of = 's', at = {0.5, 0.5}, to = 't', to_at = {0.6, 0.5}, stiffness = 6,"
      " length = 0.08 } }, probes = { position { of = 's', at = {0.5, 0.5}, axis = 'x' } }";
  static const char ITSELF[] =
      "solids = { springs { name = 's', from = {0.1, 0.5}, to = {0.5, 0.5}, spacing = 1,"
      " density = 0.2, stretch = 1e-12 },"
      " link { of = 's', at = {0.5, 0.5}, to = 's', to_at = {0.1, 0.5}, stiffness = 6,"
      " length = 0.3 } }, probes = { position { of = 's', at = {0.5, 0.5}, axis = 'x' } }";
  CHECK_LE(oscillation(ITSELF, 0.45, 0.05, pair, MN_PI / 2), 1e-9);
  CHECK_LE(oscillation(ANCHOR, 0.4, 0.1, w, MN_PI / 2), 1e-9);
  CHECK_LE(oscillation(BETWEEN, 0.51, -0.01, pair, MN_PI / 2), 1e-9);
  /* an anchor of some length, off its line: energy is kept */
  run r = start("solids = { springs { name = 's', from = {0.1, 0.5}, to = {0.5, 0.5}, spacing = 1,"
                " density = 0.2, stretch = 1e-12, fixed = box { lo = {0, 0}, hi = {0.2, 1} },"
                " velocity = {0, 1} },"
                " link { of = 's', at = {0.5, 0.5}, to_at = {0.6, 0.5}, stiffness = 60 } },"
                "probes = { body_velocity { of = 's', at = {0.5, 0.5}, axis = 'x' },"
                " body_velocity { of = 's', at = {0.5, 0.5}, axis = 'y' },"
                " position { of = 's', at = {0.5, 0.5}, axis = 'x' },"
                " position { of = 's', at = {0.5, 0.5}, axis = 'y' } }");
  double worst = 0;
  for (int n = 0; n < 200; n++) {
    step(&r);
    double vx = mn_world_probe(r.world, 0), vy = mn_world_probe(r.world, 1);
    double l = hypot(mn_world_probe(r.world, 2) - 0.6, mn_world_probe(r.world, 3) - 0.5) - 0.1;
    worst = check_worst(worst, fabs(m / 2 * (vx * vx + vy * vy) + 30 * l * l - m / 2));
  }
  CHECK_LE(worst / (m / 2), 1e-10);
  end(&r);
  CHECK_DONE();
}

/* Each is refused with these words. */
static void test_refused(void **state)
{
  (void)state;
#define DISK "shape = disk { center = {0.5, 0.5}, radius = 0.1 }, density = 2"
#define LINE "from = {0.1, 0.5}, to = {0.5, 0.5}, density = 1, stretch = 1"
  static const char *const BAD[][2] = {
      {"solids = { rigid { " DISK ", joint = 'hinge', motion = motion { turn = rate(1) } } }",
       "a motion and joint = \"hinge\""},
      {"solids = { rigid { " DISK ", force = {1, 0}, motion = motion { turn = rate(1) } } }",
       "force has no effect: the body follows its motion"},
      {"solids = { rigid { " DISK ", joint = 'fixed', spin = 1 } }",
       "spin has no effect: the body is fixed"},
      {"solids = { rigid { " DISK ", spring = 1 } }", "needs joint = \"slider\" or \"hinge\""},
      {"solids = { rigid { " DISK ", joint_point = {1, 0} } }", "joint_point has no effect"},
      {"solids = { rigid { " DISK ", joint = 'slider', torque = 1 } }", "a slider does not turn"},
      {"solids = { rigid { " DISK ", joint = 'hinge', velocity = {1, 0} } }",
       "a hinge starts with its spin"},
      {"solids = { rigid { " DISK ", joint = 'fixed', velocity = {1, 0} } }",
       "velocity has no effect: the body is fixed"},
      {"solids = { rigid { " DISK ", joint = 'slider', velocity = {1, 0} } }",
       "velocity is {1, 0, 0}: must be along joint_axis, {0, 1, 0}: a slider moves along it only"},
      {"solids = { rigid { " DISK ", joint = 'slider', velocity = {1, 1e-6}, joint_axis = {1, 0} "
       "} }",
       "must be along joint_axis, {1, 0, 0}"},
      {"solids = { rigid { " DISK ", joint = 'slider', force = {2, 0} } }",
       "force is {2, 0, 0} and has no effect: it is across joint_axis, {0, 1, 0}"},
      {"solids = { rigid { " DISK ", joint = 'slider', joint_axis = {0, 0} } }",
       "joint_axis is {0, 0}: a slider needs a direction"},
      {"solids = { springs { " LINE ", motion = motion { turn = rate(1) } } }",
       "motion has no effect without `fixed`"},
      {"solids = { springs { from = {0.5, 0.5}, to = {0.5, 0.5}, density = 1, stretch = 1 } }",
       "from and to are the same point, {0.5, 0.5, 0}"},
      {"solids = { springs { name = 's', " LINE " } }, probes = { volume_ratio { of = 's' } }",
       "only of elastic bodies; of thin ones take stretch"},
      {"solids = { rigid { name = 'fluid', " DISK " } }", "a word that probes use"},
      {"solids = { rigid { " DISK " } }, probes = { volume { of = 'x' } }",
       "there is no fluid, and no body or obstacle has a name"},
      {"solids = { rigid { name = 'd', " DISK " } }, probes = { volume { of = 'x' } }",
       "must be \"d\""},
      {"solids = { rigid { " DISK " } }, dynamics = dynamics { gamma = 0.6 }",
       "gamma has no effect: needs integrator = \"newmark\""},
      {"solids = { rigid { " DISK " } },"
       "dynamics = dynamics { integrator = 'newmark', beta = 0.25, gamma = 1 }",
       "stable for gamma >= 0.5 and beta >= gamma/2"},
      {"solids = { rigid { " DISK " } }, dynamics = dynamics { beta = 0.01 }", "0.01"},
      {"solids = { rigid { name = 'd', " DISK " }, link { of = 'x', at = {0, 0}, to_at = {1, 0},"
       " stiffness = 1 } }",
       "link 1.of is \"x\""},
      {"solids = { rigid { name = 'd', " DISK " }, link { of = 'd', at = {0, 0}, to = 'y',"
       " to_at = {1, 0}, stiffness = 1 } }",
       "link 1.to is \"y\""},
      {"solids = { rigid { name = 'd', " DISK
       " }, link { of = 'd', at = {0, 0}, to_at = {1, 0} } }",
       "neither stiffness nor damping"},
      {"solids = { rigid { name = 'd', " DISK " }, link { of = 'd', at = {0.5, 0.5}, to = 'd',"
       " to_at = {0.45, 0.5}, stiffness = 1 } }",
       "link 1 joins \"d\" with itself: a rigid body does not feel it"},
      {"solids = { rigid { name = 'd', " DISK " }, springs { name = 's', " LINE " },"
       " link { of = 'd', at = {0.5, 0.5}, to = 's', to_at = {0.5, 0.5}, stiffness = 1 } }",
       "a rigid and a deformable body"},
  };
  mn_context *ctx = check_context(1);
  mn_model *model;
  for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
    CHECK_FAILS(ctx, load(ctx, BAD[i][0], &model), MN_BAD_INPUT, BAD[i][1]);
    mn_model_destroy(&model);
  }
  /* 3D: what a hinge cannot do */
#define BALL "shape = sphere { center = {0.5, 0.5, 0.5}, radius = 0.1 }, density = 2"
  static const char *const HINGE[][2] = {
      {"spin = {1, 0, 0}", "spin is {1, 0, 0}: must be along joint_axis, {0, 1, 0}: a hinge turns"},
      {"torque = {1, 0, 1}", "torque is {1, 0, 1} and has no effect: it is across joint_axis"},
      {"joint_axis = {0, 0, 0}", "joint_axis is {0, 0, 0}: a hinge needs a direction"},
      {"spin = {2, 2, 2}, joint_axis = {1, 1, 1}, torque = {1, 0, 0}", NULL}};
  for (size_t i = 0; i < sizeof HINGE / sizeof *HINGE; i++) {
    char text[512];
    snprintf(text, sizeof text,
             "return scene { domain = box { size = {1, 1, 1}, cells = {4, 4, 4} },"
             "solids = { rigid { " BALL ", joint = 'hinge', %s } } }",
             HINGE[i][0]);
    mn_status status = mn_scene_load_text(ctx, "t.lua", ".", text, NULL, 0, &model);
    if (HINGE[i][1])
      CHECK_FAILS(ctx, status, MN_BAD_INPUT, HINGE[i][1]);
    else
      CHECK_OK(ctx, status);
    mn_model_destroy(&model);
  }
  /* found when the mesh is made */
  mn_world *world;
  CHECK_OK(ctx, load(ctx, "solids = { springs { name = 's', " LINE ", spacing = 1e-8 } }", &model));
  CHECK_FAILS(ctx, mn_world_create(ctx, model, &world), MN_BAD_INPUT, "4e+07 segments");
  mn_model_destroy(&model);
  CHECK_OK(ctx, load(ctx,
                     "solids = { springs { name = 's', " LINE ", spacing = 0.2 }, link { of = 's',"
                     " at = {0.5, 0.5}, to = 's', to_at = {0.49, 0.5}, stiffness = 1 } }",
                     &model));
  CHECK_FAILS(ctx, mn_world_create(ctx, model, &world), MN_BAD_INPUT,
              "link 1 joins \"s\" with itself at one and the same node");
  mn_model_destroy(&model);
  CHECK_OK(ctx, load(ctx,
                     "solids = { elastic { " DISK ", young = 1, fixed = box { lo = {0, 0}, hi = "
                     "{1, 1} }, velocity = {1, 0} } }",
                     &model));
  CHECK_FAILS(ctx, mn_world_create(ctx, model, &world), MN_BAD_INPUT,
              "solids: body 1: velocity has no effect: `fixed` holds all of its nodes");
  mn_model_destroy(&model);
  CHECK_OK(ctx, load(ctx,
                     "solids = { elastic { shape = half_space { point = {0.5, 0.5}, normal = {0, 1}"
                     " }, density = 1, young = 1 } }",
                     &model));
  CHECK_FAILS(ctx, mn_world_create(ctx, model, &world), MN_BAD_INPUT, "has no end along axis 1");
  mn_model_destroy(&model);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rigid_links), cmocka_unit_test(test_hinge),
      cmocka_unit_test(test_torque),      cmocka_unit_test(test_soft_links),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
