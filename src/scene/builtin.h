/* The built-in scenes, embedded at build time from scenes/ (cmake/embed_scenes.cmake). */
#ifndef MN_SCENE_BUILTIN_H
#define MN_SCENE_BUILTIN_H

typedef struct mn_builtin_scene {
  const char *name, *text;
} mn_builtin_scene;

extern const mn_builtin_scene mn_builtin_scenes[]; /* closed by a row of zeros */
extern const int mn_builtin_scenes_count;

#endif
