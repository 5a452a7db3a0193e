/* Contact of general rigid shapes: half balls, rings, L-shapes, capsules and crossed bars rest
   where they should, level, without sinking; a ring rolls. */
#include <stdio.h>

#include "solid/contact_internal.h"
#include "solids_case.h"

static mn_shape *sphere(solids_case *c, mn_vec3 x, double r)
{
  mn_shape *s;
  CHECK_OK(c->ctx, mn_shape_sphere(c->ctx, c->def.dim, x, r, &s));
  return s;
}

static mn_shape *block(solids_case *c, mn_vec3 lo, mn_vec3 hi)
{
  mn_shape *s;
  CHECK_OK(c->ctx, mn_shape_box(c->ctx, c->def.dim, lo, hi, &s));
  return s;
}

static mn_shape *half_space(solids_case *c, mn_vec3 x, mn_vec3 n)
{
  mn_shape *s;
  CHECK_OK(c->ctx, mn_shape_half_space(c->ctx, c->def.dim, x, n, &s));
  return s;
}

typedef enum what {
  HALF_DOWN,  /* half ball, flat side on the floor */
  HALF_UP,    /* half ball, round side on the floor */
  HALF_BOX,   /* the same, cut by a box */
  RING_FLAT,  /* torus lying */
  RING_STAND, /* torus standing (3D), or the ring of 2D */
  L_LYING,
  CAPSULE,
  TURNED, /* a block of half-spaces, turned until it lies level */
  BITTEN, /* a ball from which a box was taken: stands on the edge of the hole */
  WHATS
} what;

static const char *const names[] = {"half ball, flat down",
                                    "half ball, round down",
                                    "half ball of a box",
                                    "ring, lying",
                                    "ring, standing",
                                    "L",
                                    "capsule",
                                    "turned half-spaces",
                                    "bitten ball"};

/* The shape, its least y, and whether it rests as it is. */
static mn_shape *make(solids_case *c, what w, double *low)
{
  mn_shape *s = NULL, *two[2], *side[6];
  *low = 0;
  switch (w) {
  case HALF_DOWN:
  case HALF_UP:
    two[0] = sphere(c, mn_v3(0, 0.5, 0), 0.5);
    two[1] = half_space(c, mn_v3(0, 0.5, 0), mn_v3(0, w == HALF_UP ? 1 : -1, 0));
    CHECK_OK(c->ctx, mn_shape_intersection(c->ctx, two, 2, &s));
    *low = w == HALF_UP ? 0 : 0.5;
    break;
  case HALF_BOX:
    two[0] = sphere(c, mn_v3(0, 0.5, 0), 0.5);
    two[1] = block(c, mn_v3(-1, -1, -1), mn_v3(1, 0.5, 1));
    CHECK_OK(c->ctx, mn_shape_intersection(c->ctx, two, 2, &s));
    break;
  case RING_FLAT:
  case RING_STAND:
    CHECK_OK(c->ctx,
             mn_shape_torus(c->ctx, c->def.dim, mn_v3(0, 0.5, 0),
                            w == RING_FLAT ? mn_v3(0, 1, 0) : mn_v3(0, 0, 1), 0.4, 0.1, &s));
    *low = w == RING_FLAT && c->def.dim == 3 ? 0.4 : 0;
    break;
  case L_LYING:
    two[0] = block(c, mn_v3(0, 0, 0), mn_v3(1, 0.2, 0.3));
    two[1] = block(c, mn_v3(0, 0, 0), mn_v3(0.2, 0.8, 0.3));
    CHECK_OK(c->ctx, mn_shape_union(c->ctx, two, 2, &s));
    break;
  case CAPSULE:
    CHECK_OK(c->ctx, mn_shape_capsule(c->ctx, c->def.dim, mn_v3(-0.4, 0.1, 0), mn_v3(0.4, 0.1, 0),
                                      0.1, &s));
    break;
  case TURNED:
    for (int i = 0; i < 2 * c->def.dim; i++) {
      mn_vec3 n = mn_v3(i < 2 ? cos(0.3) : sin(0.3), i < 2 ? -sin(0.3) : cos(0.3), 0);
      n = mn_scale(i % 2 ? 1 : -1, i < 4 ? n : mn_v3(0, 0, 1));
      side[i] = half_space(c, mn_scale(0.2, n), n);
    }
    CHECK_OK(c->ctx, mn_shape_intersection(c->ctx, side, 2 * c->def.dim, &s));
    CHECK_OK(c->ctx, mn_shape_transform(c->ctx, s, mn_v3(0, 0.2, 0), mn_v3(0, 0, 1), 0.3, 1, &s));
    break;
  default:
    two[0] = sphere(c, mn_v3(0, 0.5, 0), 0.5);
    two[1] = block(c, mn_v3(-0.3, -1, -0.3), mn_v3(0.3, 0.3, 0.3));
    CHECK_OK(c->ctx, mn_shape_difference(c->ctx, two, 2, &s));
    *low = 0.1; /* the edge of the hole, 0.3 beside the middle */
  }
  return s;
}

typedef struct rest {
  double sink, tilt, speed; /* of the size, rad, m/s */
} rest;

static rest let_rest(int dim, what w, int on_box, double lift, int search)
{
  static solids_case c;
  double low;
  case_open(&c, dim);
  c.def.contact.search = search;
  mn_shape *s = make(&c, w, &low), *moved;
  CHECK_OK(c.ctx,
           mn_shape_transform(c.ctx, s, mn_v3(0, lift - low, 0), mn_v3(0, 0, 1), 0, 1, &moved));
  if (on_box)
    case_box(&c, mn_v3(0, -1, 0), mn_v3(3, 1, 3))->joint = MN_JOINT_FIXED;
  else
    case_wall(&c, mn_v3(0, 0, 0), mn_v3(0, 1, 0));
  case_add(&c, moved)->friction = 0.5;
  case_start(&c);
  mn_rigid *r = mn_solids_rigid(c.solids);
  double y = r->now[1].x.y - lift, size = r->body[1].bound;
  for (int n = 0; n < 200; n++)
    case_step(&c, 0.005);
  rest out = {(y - r->now[1].x.y) / size, mn_rigid_angle(r, 1), mn_length(r->now[1].v)};
  printf("%dD %-22s on a %s, %zu points: sinks %.2e of its size, tilts %.2e rad, %.1e m/s\n", dim,
         names[w], on_box ? "box  " : "plane", r->body[1].points, out.sink, out.tilt, out.speed);
  case_close(&c);
  return out;
}

static int stands(int dim, int w)
{
  return !(dim == 3 && w == RING_STAND); /* it may fall over */
}

/* None sinks by more than 0.1 % of its size, none tilts; without the search between contact points
   round ones sink. */
static void test_rest(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int w = 0; w < WHATS; w++)
      for (int on_box = 0; on_box < 2 && stands(dim, w); on_box++) {
        rest r = let_rest(dim, (what)w, on_box, 0, 1);
        CHECK_LE(r.sink, 1e-4);
        CHECK_GE(r.sink, -1e-4);
        CHECK_LE(fabs(r.tilt), 2e-3);
        CHECK_LE(r.speed, 1e-3);
      }
  CHECK_GE(let_rest(3, HALF_UP, 0, 0, 0).sink, 1e-3);
  CHECK_GE(let_rest(3, RING_FLAT, 0, 0, 0).sink, 1e-3);
  CHECK_DONE();
}

/* The same after a fall of 0.1 m, for those that have a base. */
static void test_fall(void **state)
{
  (void)state;
  static const what based[] = {HALF_DOWN, RING_FLAT, L_LYING, BITTEN};
  for (int i = 0; i < 4; i++) {
    rest r = let_rest(3, based[i], i % 2, 0.1, 1);
    CHECK_LE(r.sink, 1e-3);
    CHECK_GE(r.sink, -1e-3);
    CHECK_LE(fabs(r.tilt), 2e-3);
    CHECK_LE(r.speed, 1e-3);
  }
  CHECK_DONE();
}

/* A half ball rocks on its round side as a pendulum, rolling without slip:
   w^2 = g e/(I/m + (R - e)^2) with e = 3R/8 and I = 83/320 m R^2, to second order in the angle. */
static void test_rocks(void **state)
{
  (void)state;
  static solids_case c;
  double low, R = 0.5, e = 3 * R / 8;
  double period = 2 * MN_PI / sqrt(9.81 * e / (83.0 / 320 * R * R + (R - e) * (R - e)));
  case_open(&c, 3);
  mn_shape *turned, *s, *half = make(&c, HALF_UP, &low);
  CHECK_OK(c.ctx, mn_shape_transform(c.ctx, half, mn_v3(0, -R, 0), mn_v3(0, 0, 1), 0, 1, &s));
  CHECK_OK(c.ctx, mn_shape_transform(c.ctx, s, mn_v3(0, R, 0), mn_v3(0, 0, 1), 0.1, 1, &turned));
  case_wall(&c, mn_v3(0, 0, 0), mn_v3(0, 1, 0))->friction = 2;
  case_add(&c, turned)->friction = 2;
  case_start(&c);
  double before = 0, crossed[3] = {0};
  int found = 0;
  for (int n = 0; n < 1200 && found < 3; n++) {
    case_step(&c, 0.0025);
    double v = case_state(&c, 1)->L.z;
    if (n > 10 && (v > 0) != (before > 0))
      crossed[found++] = c.t - 0.0025 * v / (v - before);
    before = v;
  }
  printf("half ball rocks with %.4f s, pendulum %.4f s; %.1e deep\n", crossed[2] - crossed[0],
         period, mn_solids_last(c.solids)->penetration);
  CHECK_NEAR((crossed[2] - crossed[0]) / period, 1, 0.01);
  CHECK_LE(mn_solids_last(c.solids)->penetration, 1e-4 * R);
  case_close(&c);
  CHECK_DONE();
}

/* A ring rolls down a slope of 0.3 rad with g sin / (1 + (Ro^2 + Ri^2)/(2 Ro^2)). */
static void test_rolls(void **state)
{
  (void)state;
  static solids_case c;
  double low, a = 9.81 * sin(0.3) / (1 + (0.25 + 0.09) / 0.5);
  case_open(&c, 2);
  c.def.gravity = mn_v3(9.81 * sin(0.3), -9.81 * cos(0.3), 0);
  case_wall(&c, mn_v3(0, 0, 0), mn_v3(0, 1, 0))->friction = 1;
  case_add(&c, make(&c, RING_STAND, &low))->friction = 1;
  case_start(&c);
  for (int n = 0; n < 400; n++)
    case_step(&c, 0.0025);
  double far = case_state(&c, 1)->x.x;
  printf("ring rolls %.5f m, exactly %.5f; %.1e deep\n", far, 0.5 * a,
         mn_solids_last(c.solids)->penetration);
  CHECK_NEAR(far / (0.5 * a), 1, 0.01);
  CHECK_LE(mn_solids_last(c.solids)->penetration, 1e-3 * 0.5);
  case_close(&c);
  CHECK_DONE();
}

/* A bar laid across two others, where none has a contact point: it does not fall through. */
static void test_crossed(void **state)
{
  (void)state;
  static solids_case c;
  double sunk[2];
  for (int search = 1; search >= 0; search--) {
    case_open(&c, 3);
    c.def.contact.search = search;
    case_box(&c, mn_v3(0, 0.04, 0), mn_v3(0.5, 0.02, 0.02));
    for (int side = -1; side <= 1; side += 2)
      case_box(&c, mn_v3(side * 3.5 / 12, 0, 0.5 / 12), mn_v3(0.02, 0.02, 0.5))->joint =
          MN_JOINT_FIXED;
    case_start(&c);
    for (int n = 0; n < 100; n++)
      case_step(&c, 0.005);
    sunk[search] = 0.04 - case_state(&c, 0)->x.y;
    printf("crossed bars, search %d: sinks %.1e m, turns %.1e rad\n", search, sunk[search],
           mn_rigid_angle(mn_solids_rigid(c.solids), 0));
    case_close(&c);
  }
  CHECK_LE(fabs(sunk[1]), 1e-3 * 0.5);
  CHECK_GE(sunk[0], 0.1); /* the control falls */
  CHECK_DONE();
}

/* A box, of its own kind or as a mesh, turned about its middle. */
static void add_turned(solids_case *c, int mesh, mn_vec3 half, mn_vec3 middle, mn_vec3 axis,
                       double angle)
{
  static const char *const FACES = "f 1 3 4\nf 1 4 2\nf 5 6 8\nf 5 8 7\nf 1 2 6\nf 1 6 5\n"
                                   "f 3 7 8\nf 3 8 4\nf 1 5 7\nf 1 7 3\nf 2 4 8\nf 2 8 6\n";
  char path[128];
  mn_shape *s, *turned;
  if (mesh) {
    snprintf(path, sizeof path, "%s/box.obj", check_folder);
    FILE *file = fopen(path, "w");
    for (int k = 0; k < 8; k++)
      fprintf(file, "v %.17g %.17g %.17g\n", k & 1 ? half.x : -half.x, k & 2 ? half.y : -half.y,
              k & 4 ? half.z : -half.z);
    fputs(FACES, file);
    fclose(file);
    CHECK_OK(c->ctx, mn_shape_mesh(c->ctx, path, &s));
  } else {
    s = block(c, mn_scale(-1, half), half);
  }
  CHECK_OK(c->ctx, mn_shape_transform(c->ctx, s, middle, axis, angle, 1, &turned));
  case_add(c, turned);
}

typedef enum points { CORNERS, POINTS, SEARCHED } points;

/* A cube on its edge laid across the edge of another: how far it sinks in 0.2 s, of its size. */
static double edge_on_edge(int mesh, points p)
{
  static solids_case c;
  double half = 0.12, high = 2 * sqrt(2) * half;
  case_open(&c, 3);
  c.def.contact.search = p == SEARCHED;
  add_turned(&c, mesh, mn_v3(half, half, half), mn_v3(0, 0, 0), mn_v3(0, 0, 1), MN_PI / 4);
  c.body[0].joint = MN_JOINT_FIXED;
  add_turned(&c, mesh, mn_v3(half, half, half), mn_v3(0, high, 0), mn_v3(1, 0, 0), MN_PI / 4);
  case_start(&c);
  mn_rigid *r = mn_solids_rigid(c.solids);
  for (int i = 0; i < 2 && p == CORNERS; i++)
    r->body[i].points = 8; /* a mesh's corners come first */
  for (int n = 0; n < 40; n++)
    case_step(&c, 0.005);
  double sunk = (high - case_state(&c, 1)->x.y) / half;
  printf("edge on edge, %s, points %d (%zu): sinks %.1e\n", mesh ? "meshes" : "boxes", (int)p,
         r->body[1].points, sunk);
  case_close(&c);
  return sunk;
}

/* Meshes with large triangles meet where they have no corners. */
static void test_edges(void **state)
{
  (void)state;
  CHECK_LE(fabs(edge_on_edge(0, SEARCHED)), 2e-2); /* a box's points lie beside the crossing */
  CHECK_LE(fabs(edge_on_edge(1, SEARCHED)), 1e-3);
  CHECK_LE(fabs(edge_on_edge(1, POINTS)), 1e-3);
  CHECK_GE(edge_on_edge(1, CORNERS), 0.5); /* the control falls */
  CHECK_DONE();
}

/* Beyond an edge of an intersection the signed distance is only a bound; a ball needs the true one.
 */
static void test_nearest(void **state)
{
  (void)state;
  static solids_case c;
  double low;
  size_t tests = 0;
  case_open(&c, 3);
  mn_shape *half = make(&c, HALF_UP, &low);
  mn_vec3 x = mn_v3(0.8, 0.9, 0), foot, rim = mn_v3(0.5, 0.5, 0);
  double d = mn_contact_nearest(half, 0.5, x, &foot, &tests);
  CHECK_NEAR(d, 0.5, 1e-4);
  CHECK_LE(mn_length(mn_sub(foot, rim)), 1e-3);
  CHECK_LE(mn_shape_distance(half, x), 0.45); /* what was used before */
  mn_shape_destroy(&half);
  case_close(&c);
  CHECK_DONE();
}

/* Cost per body is that of a body: half balls, 8 and 64. */
static void test_linear(void **state)
{
  (void)state;
  static solids_case c;
  double per[2], low;
  for (int many = 0; many < 2; many++) {
    int wide = many ? 8 : 3, count = wide * wide;
    size_t tests = 0;
    case_open(&c, 3);
    case_wall(&c, mn_v3(0, 0, 0), mn_v3(0, 1, 0));
    for (int i = 0; i < count; i++) {
      mn_shape *s;
      CHECK_OK(c.ctx, mn_shape_transform(c.ctx, make(&c, HALF_UP, &low),
                                         mn_v3(1.02 * (i % wide), 0, 1.02 * (i / wide)),
                                         mn_v3(0, 0, 1), 0, 1, &s));
      case_add(&c, s);
    }
    case_start(&c);
    for (int n = 0; n < 5; n++) {
      case_step(&c, 0.005);
      tests += mn_solids_last(c.solids)->drift.tests + mn_solids_last(c.solids)->settle.tests;
    }
    per[many] = (double)tests / count;
    case_close(&c);
  }
  printf("distances for a half ball in a substep: %.0f of 9, %.0f of 64\n", per[0] / 5, per[1] / 5);
  CHECK_LE(per[1] / per[0], 1.6); /* more neighbours */
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rest),    cmocka_unit_test(test_fall),
                                     cmocka_unit_test(test_rocks),   cmocka_unit_test(test_rolls),
                                     cmocka_unit_test(test_crossed), cmocka_unit_test(test_nearest),
                                     cmocka_unit_test(test_linear),  cmocka_unit_test(test_edges)};
  return cmocka_run_group_tests(tests, check_folder_make, check_folder_remove);
}
