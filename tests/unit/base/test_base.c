#include "check.h"

#include <string.h>

#include "base/context.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/status.h"

static void test_allocation_refuses_overflow_and_says_how_much(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  void *p;
  CHECK_FAILS(ctx, mn_alloc(ctx, "a field", SIZE_MAX / 2, 8, &p), MN_ENVIRONMENT, "a field");
  ctx->memory_limit = 1 << 20;
  CHECK_FAILS(ctx, mn_alloc(ctx, "a field", 4, 1 << 20, &p), MN_ENVIRONMENT, "needs 4.0 MB");
  ctx->fail_allocation = ctx->allocations + 1;
  CHECK_FAILS(ctx, mn_alloc(ctx, "a field", 4, 4, &p), MN_ENVIRONMENT, "out of memory");
  CHECK(p == NULL);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_arena_reuses_its_memory(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_arena arena = {0};
  double *a, *b;
  for (int round = 0; round < 3; round++) {
    mn_arena_mark mark = mn_arena_save(&arena);
    CHECK_OK(ctx, MN_PUSH(ctx, &arena, 1000, &a));
    CHECK_OK(ctx, MN_PUSH(ctx, &arena, 100000, &b));
    memset(a, 1, 1000 * sizeof *a);
    memset(b, 2, 100000 * sizeof *b);
    CHECK(((unsigned char *)a)[999 * 8] == 1);
    CHECK((uintptr_t)a % 64 == 0 && (uintptr_t)b % 64 == 0);
    mn_arena_reset(&arena, mark);
  }
  int64_t before = ctx->allocations;
  CHECK_OK(ctx, MN_PUSH(ctx, &arena, 100000, &b));
  CHECK(ctx->allocations == before);
  mn_arena_destroy(&arena);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_hash_sees_every_bit(void **state)
{
  (void)state;
  unsigned char data[21] = {0};
  uint64_t h0 = mn_hash(MN_HASH_START, data, sizeof data);
  for (size_t bit = 0; bit < 8 * sizeof data; bit++) {
    data[bit / 8] ^= (unsigned char)(1 << bit % 8);
    CHECK(mn_hash(MN_HASH_START, data, sizeof data) != h0);
    data[bit / 8] ^= (unsigned char)(1 << bit % 8);
  }
  CHECK(mn_hash(MN_HASH_START, data, 20) != h0);
  CHECK_DONE();
}

static void test_checks_can_fail(void **state)
{
  (void)state;
  double h[] = {1, 0.5, 0.25}, e[] = {1, 0.5, 0.25};
  CHECK_ORDER(h, e, 3, 2, 0.1);
  CHECK_MUST_HAVE_FAILED();
  CHECK_LE(0.0 / 0.0, 1);
  CHECK_MUST_HAVE_FAILED();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_allocation_refuses_overflow_and_says_how_much),
      cmocka_unit_test(test_arena_reuses_its_memory),
      cmocka_unit_test(test_hash_sees_every_bit),
      cmocka_unit_test(test_checks_can_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
