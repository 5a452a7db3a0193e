/* What the files of mn_bodies share: bodies.c (life), bodies_solvers.c (the solvers behind them),
   bodies_view.c (what others see of them). */
#ifndef MN_WORLD_BODIES_PARTS_H
#define MN_WORLD_BODIES_PARTS_H

#include "geom/structured.h"
#include "solid/solid.h"
#include "world/bodies.h"

/* One body of the model. */
typedef struct mn_body_part {
  const mn_body_def *def;
  int index; /* among the rigid or the deformable bodies */
  mn_simplex_mesh mesh;
  double full;     /* elastic: volume of the mesh over that of the shape */
  uint32_t *facet; /* of the mesh: `dim` corners each */
  size_t facets;
  mn_vec3 *x, *v; /* rigid: the mesh where it is now */
  double *stress,
      *jacobian; /* per element: stress, or tension of springs and rods; elastic ones' J */
} mn_body_part;

struct mn_bodies {
  mn_context *ctx;
  const mn_model_def *model;
  int dim, count;
  mn_body_part *part;
  mn_shape *side[6]; /* half-spaces beyond the closed sides */
  mn_solids *solids;
  mn_solid box;
  mn_body_view *view;
};

/* NULL if no body is called so. */
const mn_body_part *mn_bodies_find(const mn_bodies *bodies, const char *name);
/* The node of a deformable body that is nearest to `at` at rest. */
uint32_t mn_bodies_nearest_node(mn_deform *deform, const mn_body_part *part, mn_vec3 at);
/* Number of the body as solid/solid.h counts them: rigid ones first. */
int mn_bodies_mixed_index(const mn_bodies *bodies, const mn_body_part *part);
/* Puts the name of body `i` before the message. */
MN_MUST_CHECK mn_status mn_bodies_blame(mn_bodies *bodies, int i, mn_status status);
MN_MUST_CHECK mn_status mn_bodies_make_solids(mn_bodies *bodies);

#endif
