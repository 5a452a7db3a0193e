/* Pools of balls: penetration, same bits, cost per ball. */
#include "base/hash.h"
#include "solids_case.h"

/* n balls of radius 0.05 dropped on a loose lattice into a box of `wide` balls a side. */
static void pool(solids_case *c, int n, int wide, int threads, int iterations)
{
  case_open(c, 3);
  mn_context_destroy(&c->ctx);
  c->ctx = check_context(threads);
  double side = 0.11 * wide;
  case_wall(c, mn_v3(0, 0, 0), mn_v3(0, 1, 0));
  for (int a = 0; a < 3; a += 2)
    for (int k = 0; k < 2; k++) {
      mn_vec3 x = {0}, normal = {0};
      x.v[a] = k * side, normal.v[a] = k ? -1 : 1;
      case_wall(c, x, normal);
    }
  uint64_t seed = 3;
  for (int i = 0; i < n; i++) {
    mn_vec3 x = mn_v3(0.11 * (i % wide) + 0.055, 0.06 + 0.11 * (i / (wide * wide)),
                      0.11 * (i / wide % wide) + 0.055);
    x.x += 0.008 * (check_random(&seed) - 0.5);
    x.z += 0.008 * (check_random(&seed) - 0.5);
    mn_rigid_def *b = case_ball(c, x, 0.05);
    b->density = i % 4 == 0 ? 100 : i % 4 == 1 ? 500 : i % 4 == 2 ? 900 : 10000;
    b->restitution = 0.2;
  }
  if (iterations)
    c->def.contact.max_iterations = iterations, c->def.contact.squeeze = HUGE_VAL;
  case_start(c);
}

static uint64_t state_hash(solids_case *c)
{
  mn_array arrays[16];
  int count = c->box.ops->arrays(c->box.self, arrays, 16);
  uint64_t h = MN_HASH_START;
  for (int i = 0; i < count; i++) {
    size_t size = 8;
    for (int k = 0; k < arrays[i].rank; k++)
      size *= arrays[i].shape[k];
    h = mn_hash(h, arrays[i].data, size);
  }
  return h;
}

/* 200 balls of densities 1 to 100 fall into a box and come to rest; none overlaps by more than 1 %
   of its radius at any time, none leaves, energy never grows, and threads change no bit. */
static void test_pool(void **state)
{
  (void)state;
  static solids_case c;
  uint64_t hash[2];
  for (int threads = 1; threads <= 2; threads++) {
    pool(&c, 200, 5, threads, 0);
    double grown = 0, before = mn_solids_energy(c.solids, -1), start = before;
    for (int n = 0; n < (threads == 1 ? 240 : 60); n++) {
      case_step(&c, 0.005);
      if (n == 59)
        hash[threads - 1] = state_hash(&c);
      double e = mn_solids_energy(c.solids, -1);
      grown = mn_max(grown, (e - before) / start);
      before = e;
    }
    CHECK_LE(mn_solids_last(c.solids)->penetration, 0.01 * 0.05);
    CHECK_LE(grown, 1e-4);
    double speed = 0, out = 0;
    for (int i = 5; i < 205; i++) {
      const mn_rigid_state *s = case_state(&c, i);
      speed += mn_length(s->v) / 200;
      out = mn_max(out, mn_max(0.05 - s->x.y, mn_max(0.05 - s->x.x, s->x.x - 0.5)));
    }
    if (threads == 1)
      CHECK_LE(speed, 0.05);
    CHECK_LE(out, 0.01 * 0.05);
    case_close(&c);
  }
  CHECK(hash[0] == hash[1]);
  CHECK_DONE();
  pool(&c, 200, 5, 1, 5); /* few sweeps leave overlap, and other bits */
  for (int n = 0; n < 60; n++)
    case_step(&c, 0.005);
  CHECK_LE(mn_solids_last(c.solids)->penetration, 0.01 * 0.05);
  CHECK(hash[0] == state_hash(&c));
  case_close(&c);
  CHECK_MUST_HAVE_FAILED();
}

/* Distances computed per ball while falling and colliding: nearly the same for 100 and 800. */
static void test_linear(void **state)
{
  (void)state;
  static solids_case c;
  double per[2];
  for (int i = 0; i < 2; i++) {
    int n = i ? 800 : 100;
    pool(&c, n, i ? 14 : 5, 1, 0);
    size_t tests = 0;
    for (int k = 0; k < 30; k++) {
      case_step(&c, 0.005);
      tests += mn_solids_last(c.solids)->drift.tests + mn_solids_last(c.solids)->settle.tests;
    }
    per[i] = (double)tests / n;
    case_close(&c);
  }
  CHECK_LE(per[1] / per[0], 1.3);
  CHECK_GE(per[1] / per[0], 0.5);
  CHECK_DONE();
}

/* Resumed from arrays and from save: the same bits. Solves may be repeated. */
static void test_restart(void **state)
{
  (void)state;
  static solids_case a, b;
  pool(&a, 60, 4, 1, 0);
  pool(&b, 60, 4, 1, 0);
  for (int n = 0; n < 60; n++)
    case_step(&a, 0.005);
  mn_array from[16], to[16];
  int count = a.box.ops->arrays(a.box.self, from, 16);
  CHECK_OK(b.ctx, b.box.ops->resize(b.box.self, from, count));
  CHECK(b.box.ops->arrays(b.box.self, to, 16) == count);
  for (int i = 0; i < count; i++) {
    size_t size = 8;
    for (int k = 0; k < from[i].rank; k++)
      size *= from[i].shape[k];
    CHECK(to[i].shape[0] == from[i].shape[0]);
    memcpy(to[i].data, from[i].data, size);
  }
  b.t = a.t;
  CHECK_OK(a.ctx, a.box.ops->save(a.box.self));
  for (int n = 0; n < 20; n++) {
    case_step(&a, 0.005);
    mn_interface none = {.dim = 3}; /* solves that are thrown away */
    CHECK_OK(b.ctx, b.box.ops->begin(b.box.self, b.t, 0.005));
    CHECK_OK(b.ctx, b.box.ops->solve(b.box.self, &none, NULL));
    CHECK_OK(b.ctx, b.box.ops->solve(b.box.self, &none, NULL));
    CHECK_OK(b.ctx, b.box.ops->commit(b.box.self));
    b.t += 0.005;
  }
  uint64_t straight = state_hash(&a);
  CHECK(straight == state_hash(&b));
  CHECK_OK(a.ctx, a.box.ops->restore(a.box.self));
  CHECK(straight != state_hash(&a));
  for (int n = 0; n < 20; n++)
    case_step(&a, 0.005);
  CHECK(straight == state_hash(&a));
  case_close(&a);
  case_close(&b);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_pool), cmocka_unit_test(test_linear),
                                     cmocka_unit_test(test_restart)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
