/* The bodies of a model behind the solid black box, and what others may look at of them. */
#ifndef MN_WORLD_BODIES_H
#define MN_WORLD_BODIES_H

#include "meniscus/box.h"
#include "meniscus/model.h"
#include "world/body_view.h"

typedef struct mn_bodies mn_bodies;

/* Sums over the bodies. */
typedef struct mn_body_totals {
  double kinetic_energy;   /* J */
  double elastic_energy;   /* J, of bodies, links and springs */
  double potential_energy; /* J, of weight */
  mn_vec3 momentum;        /* kg m/s */
  mn_vec3 angular;         /* kg m^2/s, about the origin */
} mn_body_totals;

/* The def is borrowed. *out stays NULL if it has no bodies. */
MN_MUST_CHECK mn_status mn_bodies_create(mn_context *ctx, const mn_model_def *def, mn_bodies **out);
void mn_bodies_destroy(mn_bodies **bodies);

mn_solid mn_bodies_box(mn_bodies *bodies);
mn_body_totals mn_bodies_measure(mn_bodies *bodies);
/* Views of all bodies, borrowed until the next step or look; *views of *count. Fine with NULL. */
MN_MUST_CHECK mn_status mn_bodies_look(mn_bodies *bodies, const mn_body_view **views, int *count);
/* How a message calls body number `index` of an interface. */
void mn_bodies_label(const mn_bodies *bodies, int index, char *text, size_t size);
/* NaN if the probe is none of a body. */
double mn_bodies_probe(mn_bodies *bodies, const mn_probe_def *probe);

#endif
