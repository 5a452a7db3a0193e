/* docs/reference.md, written from the schema, so that it cannot say anything else than the code. */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/text.h"
#include "meniscus/scene.h"
#include "world/schema.h"

static const char *const type_words[] = {
    [MN_KEY_NUMBER] = "number",
    [MN_KEY_INTEGER] = "whole number",
    [MN_KEY_FLAG] = "true, false",
    [MN_KEY_NAME] = "text",
    [MN_KEY_TEXT] = "text",
    [MN_KEY_FILE] = "file name",
    [MN_KEY_CHOICE] = "",
    [MN_KEY_WORD] = "",
    [MN_KEY_VECTOR] = "vector",
    [MN_KEY_AXIS] = "direction {x, y, z}; 3D only",
    [MN_KEY_CELLS] = "whole numbers, one per axis",
    [MN_KEY_RANGE] = "{low, high}",
    [MN_KEY_TIME] = "number or time function",
    [MN_KEY_SHAPE] = "shape",
    [MN_KEY_SIDE] = "wall{} or ",
    [MN_KEY_MOTION] = "motion{}",
    [MN_KEY_SCALAR_FN] = "number or function(x, y, z)",
    [MN_KEY_VECTOR_FN] = "vector or function(x, y, z)",
    [MN_KEY_SMOKE] = "number, function(x, y, z) or shape",
    [MN_KEY_DOMAIN] = "box{}",
    [MN_KEY_FLUID] = "smoke{}, water{} or plugin{}",
    [MN_KEY_SOURCES] = "list",
    [MN_KEY_SOLIDS] = "list",
    [MN_KEY_PROBES] = "list",
    [MN_KEY_DYNAMICS] = "dynamics{}",
    [MN_KEY_COUPLING] = "couple{}",
    [MN_KEY_TABLE] = "table of numbers",
    [MN_KEY_SPIN] = "number or vector",
    [MN_KEY_OUTPUT] = "table or output{}",
};

static int has_choices(const mn_key *key)
{
  return key->type == MN_KEY_CHOICE || key->type == MN_KEY_WORD || key->type == MN_KEY_SIDE;
}

static void add_type(mn_text *text, const mn_key *key)
{
  mn_text_add(text, "%s", type_words[key->type]);
  const char *c = has_choices(key) ? key->choices : "";
  for (int i = 0; *c; i++) {
    int n = (int)strcspn(c, " ");
    mn_text_add(text, "%s`\"%.*s\"`", i ? ", " : "", n, c);
    c += n + (int)strspn(c + n, " ");
  }
  if (key->bound == MN_POSITIVE)
    mn_text_add(text, " > 0");
  else if (key->bound == MN_NOT_NEGATIVE)
    mn_text_add(text, " >= 0");
  else if (key->bound == MN_BETWEEN)
    mn_text_add(text, ", %.10g to %.10g", key->lo, key->hi);
}

static void add_key(mn_text *text, const mn_key *key)
{
  mn_text_add(text, "| `%s` | ", key->name);
  add_type(text, key);
  mn_text_add(text, " | %s | ", key->unit);
  if (!key->initial)
    mn_text_add(text, "required");
  else if (!strcmp(key->initial, "ambient"))
    mn_text_add(text, "the fluid's `ambient`");
  else if (*key->initial)
    mn_text_add(text, "`%s`", key->initial);
  mn_text_add(text, " | %s |\n", key->text);
}

static void add_constructor(mn_text *text, const mn_ctor *ctor)
{
  mn_text_add(text, "### `%s`\n\n", ctor->name);
  if (*ctor->text)
    mn_text_add(text, "%s\n\n", ctor->text);
  const mn_key *key;
  for (int i = 0; (key = mn_schema_key(ctor, i)); i++) {
    if (i == 0)
      mn_text_add(text, "| key | value | unit | default | meaning |\n|---|---|---|---|---|\n");
    add_key(text, key);
  }
  if (mn_schema_key(ctor, 0))
    mn_text_add(text, "\n");
}

mn_status mn_scene_reference(mn_context *ctx, char **out)
{
  mn_text text = {0};
  mn_text_add(&text,
              "# Reference of scene keys\n\n"
              "Made from `src/world/schema_table.c` by `meniscus show --reference`; do not edit. "
              "[scenes.md](scenes.md) explains how to write a scene.\n\n"
              "Units are SI; 2D quantities are per metre of depth. A vector has as many numbers as "
              "the domain has axes; where a default shows three, 2D scenes use the first two. "
              "y points up.\n\n");
  for (int group = 0; group < MN_GROUP_COUNT; group++) {
    mn_text_add(&text, "## %s\n\n", mn_group_titles[group]);
    for (int i = 0; i < MN_CTOR_COUNT; i++)
      if ((int)mn_ctors[i].group == group)
        add_constructor(&text, &mn_ctors[i]);
  }
  *out = text.data;
  if (!text.data)
    return mn_fail(ctx, MN_ENVIRONMENT, "out of memory: the reference cannot be written");
  while (text.size > 1 && text.data[text.size - 2] == '\n') /* one line end at the end */
    text.data[--text.size] = 0;
  return MN_OK;
}
