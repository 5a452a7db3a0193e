/* The first scene of docs/scenes.md is a good one. */
#include "scene_check.h"

#include "base/file.h"
#include "base/memory.h"

static void test_first_scene_of_the_guide(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  char *page;
  size_t bytes;
  CHECK_OK(ctx, mn_read_file(ctx, MN_SOURCE_DIR "/docs/scenes.md", 1 << 20, &page, &bytes));
  char *start = strstr(page, "```lua\n");
  assert_non_null(start);
  char *end = strstr(start + 7, "```");
  assert_non_null(end);
  *end = 0;
  mn_model *model;
  CHECK_OK(ctx, mn_scene_load_text(ctx, "guide", "", start + 7, NULL, 0, &model));
  CHECK(mn_model_get(model)->fluid.initial_smoke_shape != NULL);
  mn_model_destroy(&model);
  mn_free(page);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_first_scene_of_the_guide)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
