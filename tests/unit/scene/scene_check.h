/* Shared by the scene tests: loads text and looks at the status and words of the message. */
#ifndef MN_TESTS_SCENE_CHECK_H
#define MN_TESTS_SCENE_CHECK_H

#include "check.h"

#include <stdio.h>
#include <string.h>

/* A scene with one part replaced: every %s of the frame is a place for it. */
#define FLUID_OF(keys)                                                                             \
  "return scene {\n domain = box { size = {1, 1}, cells = {8, 8} },\n fluid = smoke {" keys "} }"
#define DOMAIN_OF(keys) "return scene {\n domain = box {" keys "},\n fluid = smoke {} }"
#define SCENE_OF(keys)                                                                             \
  "return scene {\n domain = box { size = {1, 1}, cells = {8, 8} },\n fluid = smoke {},\n" keys "}"
#define SCENE_3D_OF(keys)                                                                          \
  "return scene {\n domain = box { size = {1, 1, 1}, cells = {8, 8, 8} },\n fluid = smoke "        \
  "{},\n" keys "}"
#define SHAPE_OF(shape) SCENE_OF(" solids = { obstacle { shape = " shape "} }")

typedef struct bad_case {
  const char *text;
  const char *words[4]; /* all in the message */
} bad_case;

static inline void check_bad(mn_context *ctx, const bad_case *bad)
{
  mn_model *model;
  mn_status status = mn_scene_load_text(ctx, "t.lua", "", bad->text, NULL, 0, &model);
  int good = status == MN_BAD_INPUT && !model;
  for (int w = 0; w < 4 && bad->words[w]; w++)
    good = good && strstr(mn_context_message(ctx), bad->words[w]);
  if (!CHECK(good))
    print_error("  status %d, message: %s\n  scene: %s\n", (int)status, mn_context_message(ctx),
                bad->text);
  mn_model_destroy(&model);
}

#define CHECK_BAD(ctx, cases)                                                                      \
  do {                                                                                             \
    for (size_t bad_i = 0; bad_i < sizeof(cases) / sizeof *(cases); bad_i++)                       \
      check_bad((ctx), &(cases)[bad_i]);                                                           \
  } while (0)

#endif
