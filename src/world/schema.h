/* The one table of everything a scene may say: constructors, their keys, types, units, ranges,
   defaults and documentation (schema_table.c). It drives validation and decoding (src/scene/), the
   defaults of a C user's defs (mn_model_def_default and its sisters), and docs/reference.md.

   A key's `offset` points into the struct that its constructor fills: a def of model.h, mn_timefn,
   or one of the small structs below for what is not kept. */
#ifndef MN_WORLD_SCHEMA_H
#define MN_WORLD_SCHEMA_H

#include <stddef.h>

#include "meniscus/model.h"

typedef enum mn_key_type {
  MN_KEY_NUMBER,    /* double */
  MN_KEY_INTEGER,   /* int */
  MN_KEY_FLAG,      /* int: true, false */
  MN_KEY_NAME,      /* char[MN_NAME_MAX] */
  MN_KEY_TEXT,      /* char[MN_TEXT_MAX] */
  MN_KEY_FILE,      /* char[MN_PATH_MAX] */
  MN_KEY_CHOICE,    /* int: value of the first choice in `lo`, counting up */
  MN_KEY_WORD,      /* char[MN_NAME_MAX], one of the choices */
  MN_KEY_VECTOR,    /* mn_vec3: as many numbers as the domain has axes */
  MN_KEY_AXIS,      /* mn_vec3, a direction: three numbers; in 2D it is z and cannot be given */
  MN_KEY_SPIN,      /* mn_vec3: a number, about z, in 2D; three in 3D */
  MN_KEY_CELLS,     /* int[3]: as many as the domain has axes */
  MN_KEY_RANGE,     /* double[2], ascending */
  MN_KEY_TIME,      /* mn_timefn: a number or a time function */
  MN_KEY_SHAPE,     /* mn_shape * */
  MN_KEY_SIDE,      /* mn_side_def: a word or wall{} */
  MN_KEY_MOTION,    /* mn_motion */
  MN_KEY_SCALAR_FN, /* mn_field_fn: a number or function(x, y, z) */
  MN_KEY_VECTOR_FN, /* mn_field_fn: a vector or function(x, y, z) */
  MN_KEY_SMOKE,     /* mn_field_fn, or a shape for initial_smoke_shape */
  MN_KEY_DOMAIN,    /* the parts of a scene */
  MN_KEY_FLUID,
  MN_KEY_SOURCES,
  MN_KEY_SOLIDS,
  MN_KEY_PROBES,
  MN_KEY_DYNAMICS,
  MN_KEY_COUPLING,
  MN_KEY_TABLE, /* mn_plugin_numbers */
  MN_KEY_OUTPUT
} mn_key_type;

typedef enum mn_bound {
  MN_ANY,      /* finite */
  MN_POSITIVE, /* > 0 */
  MN_NOT_NEGATIVE,
  MN_BETWEEN /* lo <= value <= hi */
} mn_bound;

typedef struct mn_key {
  const char *name;
  mn_key_type type;
  const char *unit;    /* "" if it has none */
  const char *initial; /* the default as scene text; "": none, and fine to leave out; NULL:
                          required; "ambient": fluid.ambient of the scene */
  mn_bound bound;
  double lo, hi;
  const char *choices; /* words separated by blanks */
  size_t offset;
  const char *text;
} mn_key;

typedef enum mn_group {
  MN_GROUP_SCENE,
  MN_GROUP_DOMAIN,
  MN_GROUP_FLUID,
  MN_GROUP_SOURCE,
  MN_GROUP_SOLID,
  MN_GROUP_BODY,
  MN_GROUP_COUPLING,
  MN_GROUP_PLUGIN,
  MN_GROUP_SHAPE,
  MN_GROUP_TIME,
  MN_GROUP_PROBE,
  MN_GROUP_OUTPUT,
  MN_GROUP_COUNT
} mn_group;

/* Constructors by number, so that code can tell them apart without comparing names. */
typedef enum mn_ctor_id {
  MN_CTOR_SCENE,
  MN_CTOR_DOMAIN,
  MN_CTOR_WALL,
  MN_CTOR_SMOKE,
  MN_CTOR_WATER,
  MN_CTOR_INFLOW,
  MN_CTOR_EMITTER,
  MN_CTOR_DRAIN,
  MN_CTOR_OBSTACLE,
  MN_CTOR_MOTION,
  MN_CTOR_RIGID,
  MN_CTOR_ELASTIC,
  MN_CTOR_SPRINGS,
  MN_CTOR_SHELL,
  MN_CTOR_ROD,
  MN_CTOR_LINK,
  MN_CTOR_DYNAMICS,
  MN_CTOR_COUPLE,
  MN_CTOR_PLUGIN,
  MN_CTOR_BOX,
  MN_CTOR_SPHERE,
  MN_CTOR_DISK,
  MN_CTOR_HALF_SPACE,
  MN_CTOR_CAPSULE,
  MN_CTOR_CYLINDER,
  MN_CTOR_TORUS,
  MN_CTOR_MESH,
  MN_CTOR_UNION,
  MN_CTOR_INTERSECTION,
  MN_CTOR_DIFFERENCE,
  MN_CTOR_TRANSFORM,
  MN_CTOR_COSINE,
  MN_CTOR_LINEAR,
  MN_CTOR_RATE,
  MN_CTOR_WAVE,
  MN_CTOR_KEYS,
  MN_CTOR_PRESSURE,
  MN_CTOR_VELOCITY,
  MN_CTOR_SMOKE_AT,
  MN_CTOR_TEMPERATURE_AT,
  MN_CTOR_KINETIC_ENERGY,
  MN_CTOR_FLUX,
  MN_CTOR_VOLUME,
  MN_CTOR_AREA,
  MN_CTOR_DIVERGENCE,
  MN_CTOR_POSITION,
  MN_CTOR_BODY_VELOCITY,
  MN_CTOR_ANGLE,
  MN_CTOR_BODY_ENERGY,
  MN_CTOR_FORCE,
  MN_CTOR_STRETCH,
  MN_CTOR_VOLUME_RATIO,
  MN_CTOR_OUTPUT,
  MN_CTOR_COUNT
} mn_ctor_id;

typedef struct mn_ctor {
  const char *name; /* `box` is there twice: the domain and the shape */
  mn_group group;
  int kind;          /* of the fluid, time function or probe it makes */
  int list;          /* takes a list of parts instead of keys */
  const mn_key *own; /* closed by a row of zeros; either may be NULL */
  const mn_key *shared;
  const char *text;
} mn_ctor;

/* Where the keys of a shape go before it is made. */
typedef struct mn_shape_args {
  mn_vec3 lo, hi, center, size, point, normal, a, b, axis, translate;
  double radius, inner, major, minor, angle, scale;
  mn_shape *shape;
  char file[MN_PATH_MAX];
} mn_shape_args;

extern const mn_ctor mn_ctors[MN_CTOR_COUNT];
extern const char *const mn_group_titles[MN_GROUP_COUNT];

/* Keys of a constructor by number: own ones first; NULL after the last. */
const mn_key *mn_schema_key(const mn_ctor *ctor, int i);
/* Sets every key of the struct that has a default. */
void mn_schema_defaults(const mn_ctor *ctor, void *out);
/* Finds a word in a blank-separated list; -1 if it is not there. */
int mn_schema_choice(const char *choices, const char *word);

#endif
