/* Lua scenes: text to model. */
#ifndef MENISCUS_SCENE_H
#define MENISCUS_SCENE_H

#include "meniscus/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_setting {
  const char *name, *value; /* a parameter as given by -p NAME=VALUE */
} mn_setting;

/* `scene` is a path or the name of a built-in scene. */
MN_MUST_CHECK mn_status mn_scene_load(mn_context *ctx, const char *scene,
                                      const mn_setting *settings, int setting_count,
                                      mn_model **model);
/* The same from text; `name` is used in messages, `folder` to find mesh files. */
MN_MUST_CHECK mn_status mn_scene_load_text(mn_context *ctx, const char *name, const char *folder,
                                           const char *text, const mn_setting *settings,
                                           int setting_count, mn_model **model);

/* The text that mn_scene_load would read; to be freed with free(). */
MN_MUST_CHECK mn_status mn_scene_text(mn_context *ctx, const char *scene, char **text);
/* The folder against which its mesh files are found; "" for a built-in one. */
MN_MUST_CHECK mn_status mn_scene_folder(mn_context *ctx, const char *scene,
                                        char folder[MN_PATH_MAX]);

int mn_builtin_scene_count(void);
const char *mn_builtin_scene_name(int i);
const char *mn_builtin_scene_text(int i);

/* The reference of all scene keys as Markdown, from the schema; to be freed with free(). */
MN_MUST_CHECK mn_status mn_scene_reference(mn_context *ctx, char **text);

#ifdef __cplusplus
}
#endif
#endif
