/* Round and cornered bodies that land tilted, turning as they touch: none lies deeper in a plane
   or in a corner of two planes than 0.1 % of its size at the end of any substep. The depth is that
   of the shape's support function, exact and independent of contact points. */
#include <stdio.h>

#include "solids_case.h"

typedef enum what { CYLINDER, COIN, NEEDLE, BRICK, HALF_BALL, CROSS, WHATS } what;

static const char *const names[] = {"cylinder", "coin", "needle", "brick", "half ball", "cross"};
static const mn_vec3 BRICK_HALF = {{0.1, 0.04, 0.07}};
static const double BALL = 0.1;

typedef struct rod {
  mn_vec3 half; /* m, from the middle to an end */
  double radius;
} rod;

static int rods_of(what w, rod r[2])
{
  r[0] = (rod){mn_v3(0, 0.1, 0), 0.1};
  if (w == COIN)
    r[0].half.y = 0.008;
  if (w == NEEDLE)
    r[0].radius = 0.01;
  if (w == CROSS) {
    r[0].radius = 0.03;
    r[1] = (rod){mn_v3(0.12, 0, 0), 0.02};
    return 2;
  }
  return 1;
}

static mn_shape *make(solids_case *c, what w)
{
  mn_shape *part[2], *s = NULL;
  rod r[2];
  if (w == BRICK) {
    CHECK_OK(c->ctx, mn_shape_box(c->ctx, 3, mn_scale(-1, BRICK_HALF), BRICK_HALF, &s));
    return s;
  }
  if (w == HALF_BALL) {
    CHECK_OK(c->ctx, mn_shape_sphere(c->ctx, 3, mn_v3(0, 0, 0), BALL, &part[0]));
    CHECK_OK(c->ctx, mn_shape_half_space(c->ctx, 3, mn_v3(0, 0, 0), mn_v3(0, 1, 0), &part[1]));
    CHECK_OK(c->ctx, mn_shape_intersection(c->ctx, part, 2, &s));
    return s;
  }
  int n = rods_of(w, r);
  for (int i = 0; i < n; i++)
    CHECK_OK(c->ctx, mn_shape_cylinder(c->ctx, 3, mn_scale(-1, r[i].half), r[i].half, r[i].radius,
                                       0, &part[i]));
  if (n == 1)
    return part[0];
  CHECK_OK(c->ctx, mn_shape_union(c->ctx, part, 2, &s));
  return s;
}

/* max d.X over the shape as it is made. */
static double support(what w, mn_vec3 d)
{
  double most = -HUGE_VAL, up = d.y > 0 ? d.y : 0;
  rod r[2];
  if (w == BRICK)
    return mn_dot(BRICK_HALF, mn_v3(fabs(d.x), fabs(d.y), fabs(d.z)));
  if (w == HALF_BALL) /* the lower half */
    return BALL * sqrt(mn_max(0, mn_dot(d, d) - up * up));
  int n = rods_of(w, r);
  for (int i = 0; i < n; i++) {
    double length = mn_length(r[i].half), along = mn_dot(r[i].half, d) / length;
    most = mn_max(most, fabs(along) * length +
                            r[i].radius * sqrt(mn_max(0, mn_dot(d, d) - along * along)));
  }
  return most;
}

/* How deep the body lies in the half-space below the plane through the origin with normal n. */
static double depth(const solids_case *c, int i, what w, mn_vec3 n)
{
  const mn_rigid_body *b = &mn_solids_rigid(c->solids)->body[i];
  const mn_rigid_state *s = case_state(c, i);
  mn_vec3 d = mn_quat_rotate(mn_quat_conjugate(s->q), mn_scale(-1, n));
  return support(w, d) - mn_dot(n, s->x) - mn_dot(d, b->center);
}

static mn_vec3 random_vector(uint64_t *seed)
{
  mn_vec3 v;
  do
    for (int a = 0; a < 3; a++)
      v.v[a] = 2 * check_random(seed) - 1;
  while (mn_dot(v, v) > 1);
  return v;
}

typedef struct landing {
  double deepest; /* of the size */
  double gained;  /* in a substep, of the energy at the start */
} landing;

/* One fall with `speed` into the corner of two planes, the body turned and spinning at random. */
static landing land(what w, uint64_t seed, double speed, int corner, int finite, int ends)
{
  static solids_case c;
  mn_vec3 n[2] = {mn_v3(0, 1, 0), mn_v3(0.8, 0.6, 0)};
  case_open(&c, 3);
  c.def.contact.ends = ends;
  if (!ends)
    c.def.contact.squeeze = HUGE_VAL; /* which would notice */
  for (int k = 0; k < 1 + corner; k++)
    if (finite)
      case_box(&c, mn_v3(0, -1, 0), mn_v3(3, 1, 3))->joint = MN_JOINT_FIXED;
    else
      case_wall(&c, mn_v3(0, 0, 0), n[k]);
  int body = c.def.rigid_count;
  mn_rigid_def *b = case_add(&c, make(&c, w));
  b->friction = check_random(&seed) < 0.5 ? 0 : 0.4;
  b->velocity = mn_madd(mn_scale(0.2 * speed, random_vector(&seed)), -speed, n[0]);
  b->spin = mn_scale(10, random_vector(&seed));
  case_start(&c);
  mn_rigid *r = mn_solids_rigid(c.solids);
  mn_rigid_state *s = &r->now[body];
  mn_vec3 axis = random_vector(&seed);
  s->q = mn_quat_from_axis(mn_scale(1 / mn_length(axis), axis), MN_PI * check_random(&seed));
  s->x.y += 0.01 - check_random(&seed) * 0.01; /* above the planes, at varied parts of a step */
  for (int k = 0; k <= corner; k++) {
    double deep = depth(&c, body, w, n[k]);
    s->x.y += deep > -0.002 ? (deep + 0.002) / n[k].y : 0;
  }
  double start = mn_solids_energy(c.solids, -1), size = r->body[body].bound;
  landing out = {-1, -1};
  double before = start;
  for (int k = 0; k < 40; k++) {
    case_step(&c, mn_min(0.01, c.box.ops->max_dt(c.box.self)));
    for (int p = 0; p <= corner; p++)
      out.deepest = mn_max(out.deepest, depth(&c, body, w, n[p]) / size);
    double energy = mn_solids_energy(c.solids, -1);
    out.gained = mn_max(out.gained, (energy - before) / start);
    before = energy;
  }
  case_close(&c);
  return out;
}

static landing land_all(what w, int corner, int finite, int ends, int falls)
{
  landing most = {-1, -1};
  double mean = 0;
  for (int i = 0; i < falls; i++) {
    landing l =
        land(w, 1000u * (unsigned)w + (unsigned)i, 1 + 3.0 * i / falls, corner, finite, ends);
    most.deepest = mn_max(most.deepest, l.deepest);
    most.gained = mn_max(most.gained, l.gained);
    mean += mn_max(0, l.deepest) / falls;
  }
  printf("%-9s %d falls on %s%s: deepest %.2e of the size (mean %.1e), energy %+.1e\n", names[w],
         falls,
         finite   ? "a box"
         : corner ? "two planes"
                  : "a plane",
         ends ? "" : ", control", most.deepest, mean, most.gained);
  return most;
}

static void test_planes(void **state)
{
  (void)state;
  for (int w = 0; w < WHATS; w++)
    for (int corner = 0; corner < 2; corner++) {
      landing l = land_all((what)w, corner, 0, 1, 20);
      CHECK_LE(l.deepest, 1e-3);
      CHECK_LE(l.gained, 1e-3);
    }
  CHECK_DONE();
}

static void test_boxes(void **state)
{
  (void)state;
  for (int w = 0; w < WHATS; w++) {
    landing l = land_all((what)w, 0, 1, 1, 8);
    CHECK_LE(l.deepest, 1e-3);
    CHECK_LE(l.gained, 1e-3);
  }
  CHECK_DONE();
}

/* Depth of points all over the surface of body a, a rod, in body b, of its size. */
static double overlap(const solids_case *c, int a, int b, what w)
{
  const mn_rigid *m = mn_solids_rigid(c->solids);
  rod r[2];
  double deep = 0;
  rods_of(w, r);
  for (int i = 0; i < 200; i++)
    for (int k = 0; k <= 20; k++) { /* along the side, then the rim and the ends */
      double along = mn_min(k, 10) / 5.0 - 1, far = k <= 10 ? 1 : (20 - k) / 10.0;
      mn_vec3 x = mn_scale(along, r[0].half);
      x.x += far * r[0].radius * cos(2 * MN_PI * i / 200);
      x.z += far * r[0].radius * sin(2 * MN_PI * i / 200);
      for (int end = -1; end <= 1; end += 2) {
        mn_vec3 y = mn_v3(x.x, end * x.y, x.z);
        y = mn_rigid_point(&m->body[a], &m->now[a], y);
        y = mn_rigid_start(&m->body[b], &m->now[b], y);
        deep = mn_max(deep, -mn_shape_distance(m->body[b].def.shape, y));
      }
    }
  return deep / m->body[a].bound;
}

/* Two that meet in free flight: both momenta are kept, and they do not overlap. */
static void test_meet(void **state)
{
  (void)state;
  static solids_case c;
  static const what pair[] = {CYLINDER, COIN};
  for (int p = 0; p < 2; p++) {
    double deep = 0, change = 0, turn = 0;
    for (uint64_t i = 0; i < 10; i++) {
      uint64_t seed = 77 + i;
      case_open(&c, 3);
      c.def.gravity = mn_v3(0, 0, 0);
      for (int k = 0; k < 2; k++) {
        mn_rigid_def *b = case_add(&c, make(&c, pair[p]));
        b->velocity = mn_v3(k ? -2 : 2, 0.2 * check_random(&seed), 0);
        b->spin = mn_scale(10, random_vector(&seed));
        b->density = k ? 1000 : 300;
        b->friction = 0.3;
      }
      case_start(&c);
      mn_rigid *r = mn_solids_rigid(c.solids);
      for (int k = 0; k < 2; k++) {
        mn_vec3 axis = random_vector(&seed);
        r->now[k].x = mn_v3(k ? 0.15 : -0.15, 0.1 * check_random(&seed), 0);
        r->now[k].q = mn_quat_from_axis(mn_scale(1 / mn_length(axis), axis), 3);
      }
      mn_vec3 P = mn_solids_momentum(c.solids, -1), zero = {0};
      mn_vec3 L = mn_solids_angular(c.solids, -1, zero), mv = mn_rigid_momentum(r, 0);
      for (int n = 0; n < 20; n++) {
        case_step(&c, mn_min(0.01, c.box.ops->max_dt(c.box.self)));
        deep = mn_max(deep, overlap(&c, 0, 1, pair[p]));
        deep = mn_max(deep, overlap(&c, 1, 0, pair[p]));
      }
      change =
          mn_max(change, mn_length(mn_sub(P, mn_solids_momentum(c.solids, -1))) / mn_length(P));
      turn =
          mn_max(turn, mn_length(mn_sub(L, mn_solids_angular(c.solids, -1, zero))) / mn_length(L));
      CHECK_GE(mn_length(mn_sub(mv, mn_rigid_momentum(r, 0))), 1e-3 * mn_length(mv)); /* they met */
      case_close(&c);
    }
    printf("two of %s: %.1e deep, momentum %.1e, angular momentum %.1e\n", names[pair[p]], deep,
           change, turn);
    CHECK_LE(deep, 1e-3);
    CHECK_LE(change, 1e-12);
    CHECK_LE(turn, 1e-12);
  }
  CHECK_DONE();
}

/* With the planes of the start alone they sink. */
static void test_control(void **state)
{
  (void)state;
  CHECK_GE(land_all(CYLINDER, 0, 0, 0, 20).deepest, 0.05);
  CHECK_GE(land_all(COIN, 1, 0, 0, 20).deepest, 0.05);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_planes), cmocka_unit_test(test_boxes),
                                     cmocka_unit_test(test_meet), cmocka_unit_test(test_control)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
