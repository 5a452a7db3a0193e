/* Scenes damaged at random and memory that runs out: nothing crashes, nothing leaks. */
#include "scene_check.h"

#include <stdlib.h>

#include "base/context.h"

/* ---- allocations that fail ------------------------------------------------------------------- */

static const char *const rich = "local n = param('n', 8, 'cells')\n" SCENE_OF(
    "title = 'x' .. n,\n"
    "sources = { inflow { velocity = {1, 0}, ramp = cosine(1),\n"
    " shape = union { disk { center = {0, 0}, radius = 1 },\n"
    "  transform { shape = box { lo = {0, 0}, hi = {1, 1} }, angle = 1 } } } },\n"
    "solids = { obstacle { name = 's', motion = motion { path = wave(1) },\n"
    " shape = difference { disk { center = {0, 0}, radius = 1 },\n"
    "                      disk { center = {0, 0}, radius = 0.5 } } } },\n"
    "probes = { flux { axis = 'x', position = 0.5, shape = disk { center = {0, 0},\n"
    " radius = 1 } }, area { of = 's' } }");

/* Every allocation of a load, Lua's and ours, fails once: the status says so and nothing leaks
   (seen under the address sanitizer). */
static void test_every_allocation_fails_once(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_setting setting = {"n", "9"};
  int failures = 0;
  for (int64_t i = 1;; i++) {
    mn_model *model = NULL;
    ctx->fail_allocation = ctx->allocations + i;
    int64_t target = ctx->fail_allocation;
    mn_status status = mn_scene_load_text(ctx, "t.lua", "", rich, &setting, 1, &model);
    int reached = ctx->allocations >= target;
    ctx->fail_allocation = 0;
    CHECK(reached ? status == MN_ENVIRONMENT && !model : status == MN_OK);
    mn_model_destroy(&model);
    if (!reached)
      break;
    failures++;
  }
  CHECK(failures > 300);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* ---- mutations ------------------------------------------------------------------------------- */

static char random_char(uint64_t *seed)
{
  static const char common[] = "{}(),.='\"0123456789-+*/ \n[]#~<>abcxyzn\\";
  double r = check_random(seed);
  if (r < 0.9)
    return common[(size_t)(check_random(seed) * (sizeof common - 1))];
  return (char)(1 + (int)(check_random(seed) * 255));
}

/* Replaces a number or a word by something that is good syntax, mostly. */
static void replace_token(char *text, size_t room, uint64_t *seed)
{
  static const char *const pool[] = {
      "nil",     "{}",   "-1",      "0/0",       "1e308", "'x'",      "disk{}",   "true",
      "{1,2,3}", "0",    "{{1,2}}", "cosine(1)", "box",   "{nil, 1}", "motion{}", "{x=1}",
      "union{}", "1e-9", "print()", "\"open\"",  "7",     "keys{}",   "-0.5",     "function()end"};
  enum { POOL = sizeof pool / sizeof *pool };
  size_t n = strlen(text), at = (size_t)(check_random(seed) * (double)n);
  at += strcspn(text + at, "0123456789");
  size_t old = strspn(text + at, "0123456789.");
  const char *word = pool[(size_t)(check_random(seed) * POOL)];
  if (at >= n || n + strlen(word) >= room)
    return;
  memmove(text + at + strlen(word), text + at + old, n - at - old + 1);
  memcpy(text + at, word, strlen(word));
}

/* Deletes, replaces, inserts or doubles a piece of the text. */
static void mutate(char *text, size_t room, uint64_t *seed)
{
  size_t n = strlen(text);
  if (n < 2)
    return;
  size_t at = (size_t)(check_random(seed) * (double)n);
  size_t piece = 1 + (size_t)(check_random(seed) * 12);
  piece = at + piece > n ? n - at : piece;
  switch ((int)(check_random(seed) * 4)) {
  case 0:
    memmove(text + at, text + at + piece, n - at - piece + 1);
    break;
  case 1:
    text[at] = random_char(seed);
    break;
  case 2:
    if (n + 1 < room) {
      memmove(text + at + 1, text + at, n - at + 1);
      text[at] = random_char(seed);
    }
    break;
  default:
    if (n + piece < room)
      memmove(text + at + piece, text + at, n - at + 1);
  }
}

static void test_mutations_never_crash(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  uint64_t seed = 20240607;
  static char text[1 << 14];
  int good = 0, rounds = 0;
  for (int scene = 0; scene <= mn_builtin_scene_count(); scene++) {
    const char *start = scene < mn_builtin_scene_count() ? mn_builtin_scene_text(scene) : rich;
    for (int i = 0; i < 400; i++, rounds++) {
      snprintf(text, sizeof text, "%s", start);
      int count = 1 + (int)(check_random(&seed) * 6);
      for (int m = 0; m < count; m++)
        if (i % 2)
          mutate(text, sizeof text, &seed);
        else if (m < 2)
          replace_token(text, sizeof text, &seed);
      mn_model *model = NULL;
      mn_status status = mn_scene_load_text(ctx, "m.lua", "", text, NULL, 0, &model);
      int sane = status == MN_OK
                     ? model != NULL
                     : status == MN_BAD_INPUT && !model && strstr(mn_context_message(ctx), "m.lua");
      if (!CHECK(sane))
        print_error("status %d: %s\n%s\n", (int)status, mn_context_message(ctx), text);
      good += status == MN_OK;
      mn_model_destroy(&model);
    }
  }
  print_message("%d of %d mutated scenes were still good\n", good, rounds);
  CHECK(good > 0 && good < rounds);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_allocation_fails_once),
      cmocka_unit_test(test_mutations_never_crash),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
