/* What the tables of keys share. Rows: schema_table.c. */
#ifndef MN_WORLD_SCHEMA_KEYS_H
#define MN_WORLD_SCHEMA_KEYS_H

#include "world/schema.h"

#define AT(type, field) offsetof(type, field)
#define REQUIRED NULL
#define END                                                                                        \
  {                                                                                                \
    0                                                                                              \
  }

/* schema_bodies.c */
extern const mn_key mn_deformable_keys[], mn_rigid_keys[], mn_elastic_keys[], mn_springs_keys[],
    mn_shell_keys[], mn_rod_keys[], mn_link_keys[], mn_dynamics_keys[];

#endif
