/* Every built-in scene loads, describes itself and has a resolution to set. */
#include "check.h"

#include "couple/couple.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void test_each_loads(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  CHECK(mn_builtin_scene_count() >= 9);
  for (int i = 0; i < mn_builtin_scene_count(); i++) {
    const char *name = mn_builtin_scene_name(i);
    mn_model *model;
    CHECK_OK(ctx, mn_scene_load(ctx, name, NULL, 0, &model));
    const mn_model_def *def = mn_model_get(model);
    CHECK(!strcmp(def->name, name));
    CHECK(!strncmp(mn_builtin_scene_text(i), "-- ", 3));
    CHECK(*def->title && *def->reproduces);
    CHECK(def->probe_count > 0);
    CHECK(def->param_count > 0 && !strcmp(def->params[0].name, "n"));
    for (int p = 0; p < def->param_count; p++)
      CHECK(*def->params[p].text && !strcmp(def->params[p].value, def->params[p].initial));
    int n = def->domain.cells[0], multiple = 1, least = 0;
    char text[16];
    const char *allowed = strstr(def->params[0].text, "a multiple of ");
    if (allowed)
      sscanf(allowed, "a multiple of %d", &multiple);
    if ((allowed = strstr(def->params[0].text, "at least ")))
      sscanf(allowed, "at least %d", &least);
    mn_model_destroy(&model);
    snprintf(text, sizeof text, "%d", least ? least : multiple * ((15 + multiple) / multiple));
    mn_setting coarse = {"n", text};
    CHECK_OK(ctx, mn_scene_load(ctx, name, &coarse, 1, &model));
    CHECK(mn_model_get(model)->domain.cells[0] < n || multiple > 40);
    CHECK(!strcmp(mn_model_get(model)->params[0].value, text));
    mn_model_destroy(&model);
    snprintf(text, sizeof text, "%d", least ? least - 1 : multiple + 1);
    if (multiple > 1 || least) /* what a scene asks of n is enforced */
      CHECK_FAILS(ctx, mn_scene_load(ctx, name, &coarse, 1, &model), MN_BAD_INPUT, "parameter n:");
  }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Every scene in which bodies meet a fluid can be coupled in every way, and says so. */
static void test_couplings(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  int coupled = 0;
  for (int i = 0; i < mn_builtin_scene_count(); i++) {
    const char *name = mn_builtin_scene_name(i);
    mn_model *model;
    CHECK_OK(ctx, mn_scene_load(ctx, name, NULL, 0, &model));
    const mn_model_def *def = mn_model_get(model);
    const char *text = NULL;
    for (int p = 0; p < def->param_count; p++)
      if (!strcmp(def->params[p].name, "coupling"))
        text = def->params[p].text;
    CHECK((text != NULL) == (def->body_count > 0 && def->fluid.kind != MN_FLUID_NONE));
    for (int m = 0; m <= MN_COUPLE_AUTO && text; m++) {
      const char *method = mn_coupling_method_name((mn_coupling_method)m);
      mn_setting setting = {"coupling", method};
      mn_model *other;
      CHECK(strstr(text, method) != NULL);
      CHECK_OK(ctx, mn_scene_load(ctx, name, &setting, 1, &other));
      mn_model_destroy(&other);
    }
    coupled += text != NULL;
    mn_model_destroy(&model);
  }
  CHECK_GE(coupled, 22);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_a_name_that_is_not_there(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_model *model;
  CHECK_FAILS(ctx, mn_scene_load(ctx, "plum", NULL, 0, &model), MN_BAD_INPUT, "did you mean plume");
  CHECK_FAILS(ctx, mn_scene_load(ctx, "plum", NULL, 0, &model), MN_BAD_INPUT, "meniscus list");
  CHECK_FAILS(ctx, mn_scene_load(ctx, "plum.lua", NULL, 0, &model), MN_BAD_INPUT, "plum.lua");
  CHECK_FAILS(ctx, mn_scene_load(ctx, "/tmp", NULL, 0, &model), MN_BAD_INPUT, "/tmp");
  CHECK_FAILS(ctx, mn_scene_load(ctx, "", NULL, 0, &model), MN_BAD_INPUT, "no scene named");
  CHECK(mn_builtin_scene_name(-1) == NULL && mn_builtin_scene_text(1000) == NULL);
  char folder[MN_PATH_MAX], here[MN_PATH_MAX - 8], inner[MN_PATH_MAX];
  CHECK(getcwd(here, sizeof here) != NULL);
  snprintf(inner, sizeof inner, "%s/a/b", here);
  CHECK_OK(ctx, mn_scene_folder(ctx, "a/b/c.lua", folder)); /* whole, to resume from elsewhere */
  CHECK(!strcmp(folder, inner));
  CHECK_OK(ctx, mn_scene_folder(ctx, "c.lua", folder));
  CHECK(!strcmp(folder, here));
  CHECK_OK(ctx, mn_scene_folder(ctx, "/c.lua", folder));
  CHECK(!strcmp(folder, "/"));
  CHECK_OK(ctx, mn_scene_folder(ctx, "plume", folder));
  CHECK(!strcmp(folder, ""));
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_loads),
      cmocka_unit_test(test_couplings),
      cmocka_unit_test(test_a_name_that_is_not_there),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
