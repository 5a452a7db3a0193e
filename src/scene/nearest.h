/* "Did you mean ...?" */
#ifndef MN_SCENE_NEAREST_H
#define MN_SCENE_NEAREST_H

/* Keeps the known word that is nearest to `word`. Start from {word}; offer every known word; `best`
   is NULL if none is near enough to be a likely slip of the fingers. Offered words are borrowed. */
typedef struct mn_nearest {
  const char *word;
  const char *best;
  int distance;
} mn_nearest;

void mn_nearest_offer(mn_nearest *nearest, const char *known);

#endif
