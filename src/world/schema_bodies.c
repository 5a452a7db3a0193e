/* The keys of bodies and of their steps: rows as in schema_table.c. */
#include "world/schema_keys.h"

#define BODY_NAME                                                                                  \
  {                                                                                                \
    "name", MN_KEY_NAME, "", "", 0, 0, 0, "", AT(mn_body_def, name), "for probes"                  \
  }
#define BODY_DENSITY(unit)                                                                         \
  {                                                                                                \
    "density", MN_KEY_NUMBER, unit, REQUIRED, MN_POSITIVE, 0, 0, "", AT(mn_body_def, density), ""  \
  }
#define BODY_MASS_DAMPING                                                                          \
  {                                                                                                \
    "damping_mass", MN_KEY_NUMBER, "1/s", "0", MN_NOT_NEGATIVE, 0, 0, "",                          \
        AT(mn_body_def, damping_mass), "a force of -damping_mass m v"                              \
  }
#define BODY_STIFFNESS_DAMPING                                                                     \
  {                                                                                                \
    "damping_stiffness", MN_KEY_NUMBER, "s", "0", MN_NOT_NEGATIVE, 0, 0, "",                       \
        AT(mn_body_def, damping_stiffness), "and of -damping_stiffness K v"                        \
  }
#define BODY_YOUNG                                                                                 \
  {                                                                                                \
    "young", MN_KEY_NUMBER, "Pa", REQUIRED, MN_POSITIVE, 0, 0, "", AT(mn_body_def, young),         \
        "Young's modulus"                                                                          \
  }

#define BODY_COLLIDES                                                                              \
  {                                                                                                \
    "collides", MN_KEY_FLAG, "", "true", 0, 0, 0, "", AT(mn_body_def, collides),                   \
        "false: it passes through all other bodies, obstacles and sides"                           \
  }

/* Of all deformable bodies. */
const mn_key mn_deformable_keys[] = {
    {"shape", MN_KEY_SHAPE, "", "", 0, 0, 0, "", AT(mn_body_def, shape),
     "what it fills or, for thin bodies, whose surface it is"},
    {"file", MN_KEY_FILE, "", "", 0, 0, 0, "", AT(mn_body_def, file),
     "instead of shape: a mesh of Gmsh (.msh, ASCII, 2.2 or 4.1); relative to the scene's folder"},
    {"spacing", MN_KEY_NUMBER, "m", "0", MN_NOT_NEGATIVE, 0, 0, "", AT(mn_body_def, spacing),
     "between nodes; 0: a cell of the domain"},
    {"velocity", MN_KEY_VECTOR, "m/s", "{0, 0, 0}", 0, 0, 0, "", AT(mn_body_def, velocity),
     "at the start"},
    {"fixed", MN_KEY_SHAPE, "", "", 0, 0, 0, "", AT(mn_body_def, fixed),
     "nodes inside it at the start rest or, with a motion, follow it"},
    {"release", MN_KEY_NUMBER, "s", "0", MN_NOT_NEGATIVE, 0, 0, "", AT(mn_body_def, release),
     "when the fixed nodes are let go; 0: never"},
    {"cut", MN_KEY_SHAPE, "", "", 0, 0, 0, "", AT(mn_body_def, cut),
     "elements whose middle is inside it at the start are left out: the neck of a balloon"},
    {"motion", MN_KEY_MOTION, "", "", 0, 0, 0, "motion", AT(mn_body_def, motion),
     "of the fixed nodes"},
    {"friction", MN_KEY_NUMBER, "", "0.3", MN_NOT_NEGATIVE, 0, 0, "", AT(mn_body_def, friction),
     "Coulomb's coefficient; of a pair the geometric mean counts"},
    BODY_COLLIDES,
    END};

const mn_key mn_rigid_keys[] = {
    BODY_NAME,
    {"shape", MN_KEY_SHAPE, "", REQUIRED, 0, 0, 0, "", AT(mn_body_def, shape), "what it fills"},
    BODY_DENSITY("kg/m^3"),
    {"velocity", MN_KEY_VECTOR, "m/s", "{0, 0, 0}", 0, 0, 0, "", AT(mn_body_def, velocity),
     "at the start"},
    {"spin", MN_KEY_SPIN, "rad/s", "{0, 0, 0}", 0, 0, 0, "", AT(mn_body_def, spin),
     "angular velocity at the start: a number in 2D, a vector in 3D"},
    {"joint", MN_KEY_CHOICE, "", "\"free\"", 0, 0, 0, "free fixed slider hinge",
     AT(mn_body_def, joint),
     "to the world; slider: moves along joint_axis only, as a piston; hinge: turns about "
     "joint_axis "
     "through joint_point only"},
    {"joint_axis", MN_KEY_VECTOR, "", "{0, 1, 0}", 0, 0, 0, "", AT(mn_body_def, joint_axis),
     "of a slider, or in 3D of a hinge"},
    {"joint_point", MN_KEY_VECTOR, "m", "{0, 0, 0}", 0, 0, 0, "", AT(mn_body_def, joint_point),
     "of a hinge"},
    {"force", MN_KEY_VECTOR, "N", "{0, 0, 0}", 0, 0, 0, "", AT(mn_body_def, force),
     "at the centre of mass"},
    {"force_ramp", MN_KEY_TIME, "", "1", 0, 0, 0, "", AT(mn_body_def, force_ramp),
     "multiplies force"},
    {"torque", MN_KEY_SPIN, "N m", "{0, 0, 0}", 0, 0, 0, "", AT(mn_body_def, torque),
     "about the centre of mass: a number in 2D, a vector in 3D; on a hinge, about its axis"},
    {"torque_ramp", MN_KEY_TIME, "", "1", 0, 0, 0, "", AT(mn_body_def, torque_ramp),
     "multiplies torque"},
    {"spring", MN_KEY_NUMBER, "N/m or N m", "0", MN_NOT_NEGATIVE, 0, 0, "", AT(mn_body_def, spring),
     "of a slider (N/m) or a hinge (N m per radian): draws it back to where it starts; between "
     "bodies see link"},
    {"damper", MN_KEY_NUMBER, "kg/s or N m s", "0", MN_NOT_NEGATIVE, 0, 0, "",
     AT(mn_body_def, damper), "of a slider or a hinge: resists its motion"},
    {"friction", MN_KEY_NUMBER, "", "0.3", MN_NOT_NEGATIVE, 0, 0, "", AT(mn_body_def, friction),
     "Coulomb's coefficient; of a pair the geometric mean counts"},
    {"restitution", MN_KEY_NUMBER, "", "0", MN_BETWEEN, 0, 1, "", AT(mn_body_def, restitution),
     "part of the speed kept in an impact; of two bodies the greater counts"},
    BODY_COLLIDES,
    {"motion", MN_KEY_MOTION, "", "", 0, 0, 0, "motion", AT(mn_body_def, motion),
     "prescribed: the body moves so whatever acts on it"},
    END};

const mn_key mn_elastic_keys[] = {
    BODY_NAME,
    BODY_DENSITY("kg/m^3"),
    {"material", MN_KEY_CHOICE, "", "\"neo_hookean\"", 0, 0, 0, "neo_hookean corotated st_venant",
     AT(mn_body_def, material),
     "neo_hookean never turns an element inside out; corotated bears it; st_venant is for small "
     "strains"},
    BODY_YOUNG,
    {"poisson", MN_KEY_NUMBER, "", "0.3", MN_BETWEEN, -0.99, 0.4999, "", AT(mn_body_def, poisson),
     "Poisson's ratio; near 1/2 take order 2"},
    {"order", MN_KEY_INTEGER, "", "1", MN_BETWEEN, 1, 2, "", AT(mn_body_def, order),
     "of the elements; 2 bends without locking"},
    BODY_MASS_DAMPING,
    BODY_STIFFNESS_DAMPING,
    END};

/* A straight line or a flat sheet instead of a shape. */
#define THIN_PLACE                                                                                 \
  {"from",                                                                                         \
   MN_KEY_VECTOR,                                                                                  \
   "m",                                                                                            \
   "",                                                                                             \
   0,                                                                                              \
   0,                                                                                              \
   0,                                                                                              \
   "",                                                                                             \
   AT(mn_body_def, from),                                                                          \
   "with `to`, instead of shape: a straight line. Springs in 2D may have both: the line is a "     \
   "wall "                                                                                         \
   "across the shape, its ends joined to the nearest nodes"},                                      \
  {                                                                                                \
    "to", MN_KEY_VECTOR, "m", "", 0, 0, 0, "", AT(mn_body_def, to), ""                             \
  }
#define TUBE_RADIUS                                                                                \
  {                                                                                                \
    "radius", MN_KEY_NUMBER, "m", "0", MN_NOT_NEGATIVE, 0, 0, "", AT(mn_body_def, tube),           \
        "with from and to: the wall of a tube around that axis, open at both ends (3D)"            \
  }
#define SHEET_PLACE                                                                                \
  {"corner",                                                                                       \
   MN_KEY_VECTOR,                                                                                  \
   "m",                                                                                            \
   "",                                                                                             \
   0,                                                                                              \
   0,                                                                                              \
   0,                                                                                              \
   "",                                                                                             \
   AT(mn_body_def, corner),                                                                        \
   "with along and across, instead of shape: a flat sheet (3D)"},                                  \
      {"along", MN_KEY_VECTOR, "m", "", 0, 0, 0, "", AT(mn_body_def, along), "one edge of it"},    \
  {                                                                                                \
    "across", MN_KEY_VECTOR, "m", "", 0, 0, 0, "", AT(mn_body_def, across), "the other edge"       \
  }

const mn_key mn_springs_keys[] = {BODY_NAME,
                                  BODY_DENSITY("kg/m or kg/m^2"),
                                  {"stretch", MN_KEY_NUMBER, "N/m", REQUIRED, MN_POSITIVE, 0, 0, "",
                                   AT(mn_body_def, stretch), "of each spring between neighbours"},
                                  {"bend", MN_KEY_NUMBER, "N/m", "0", MN_NOT_NEGATIVE, 0, 0, "",
                                   AT(mn_body_def, bend), "of each spring across a node or edge"},
                                  {"stretch_damping", MN_KEY_NUMBER, "kg/s", "0", MN_NOT_NEGATIVE,
                                   0, 0, "", AT(mn_body_def, stretch_damping), ""},
                                  {"bend_damping", MN_KEY_NUMBER, "kg/s", "0", MN_NOT_NEGATIVE, 0,
                                   0, "", AT(mn_body_def, bend_damping), ""},
                                  BODY_MASS_DAMPING,
                                  THIN_PLACE,
                                  TUBE_RADIUS,
                                  SHEET_PLACE,
                                  END};

const mn_key mn_shell_keys[] = {BODY_NAME,
                                BODY_DENSITY("kg/m^3"),
                                {"thickness", MN_KEY_NUMBER, "m", REQUIRED, MN_POSITIVE, 0, 0, "",
                                 AT(mn_body_def, thickness), ""},
                                BODY_YOUNG,
                                {"poisson", MN_KEY_NUMBER, "", "0.3", MN_BETWEEN, -0.99, 0.4999, "",
                                 AT(mn_body_def, poisson), "Poisson's ratio"},
                                BODY_MASS_DAMPING,
                                BODY_STIFFNESS_DAMPING,
                                THIN_PLACE,
                                TUBE_RADIUS,
                                SHEET_PLACE,
                                END};

const mn_key mn_rod_keys[] = {
    BODY_NAME,
    BODY_DENSITY("kg/m"),
    {"stretch", MN_KEY_NUMBER, "N", REQUIRED, MN_POSITIVE, 0, 0, "", AT(mn_body_def, stretch),
     "E A (2D: per metre of depth)"},
    {"bend", MN_KEY_NUMBER, "N m^2", "0", MN_NOT_NEGATIVE, 0, 0, "", AT(mn_body_def, bend), "E I"},
    BODY_MASS_DAMPING,
    BODY_STIFFNESS_DAMPING,
    THIN_PLACE,
    END};

const mn_key mn_link_keys[] = {
    {"of", MN_KEY_NAME, "", REQUIRED, 0, 0, 0, "", AT(mn_link_def, of), "a body's name"},
    {"at", MN_KEY_VECTOR, "m", REQUIRED, 0, 0, 0, "", AT(mn_link_def, at),
     "where it holds the body, at the start; of a deformable one the nearest node"},
    {"to", MN_KEY_NAME, "", "\"\"", 0, 0, 0, "", AT(mn_link_def, to),
     "another body's name; left out: the world"},
    {"to_at", MN_KEY_VECTOR, "m", REQUIRED, 0, 0, 0, "", AT(mn_link_def, to_at),
     "where it holds that, at the start"},
    {"stiffness", MN_KEY_NUMBER, "N/m", "0", MN_NOT_NEGATIVE, 0, 0, "", AT(mn_link_def, stiffness),
     ""},
    {"damping", MN_KEY_NUMBER, "kg/s", "0", MN_NOT_NEGATIVE, 0, 0, "", AT(mn_link_def, damping),
     "along the link"},
    {"length", MN_KEY_NUMBER, "m", "-1", 0, 0, 0, "", AT(mn_link_def, length),
     "at rest; negative: as it is at the start"},
    END};

const mn_key mn_dynamics_keys[] = {
    {"integrator", MN_KEY_CHOICE, "", "\"euler\"", 0, 0, 0, "euler newmark midpoint explicit",
     AT(mn_dynamics_def, integrator),
     "of deformable bodies. euler: backward, first order, damps, always stable; midpoint: second "
     "order, keeps energy and both momenta at any step (in a fluid it lets vibrations die out that "
     "the step does not resolve, those of fewer than about 10 substeps); newmark: second order, "
     "stable for linear forces only (undamped thin bodies gain energy with long steps); explicit: "
     "limits the step itself"},
    {"beta", MN_KEY_NUMBER, "", "0.25", MN_BETWEEN, 0.25, 1, "", AT(mn_dynamics_def, beta),
     "of Newmark; at least gamma/2, or it is unstable"},
    {"gamma", MN_KEY_NUMBER, "", "0.5", MN_BETWEEN, 0.5, 1, "", AT(mn_dynamics_def, gamma),
     "of Newmark; more than 1/2 damps"},
    {"gravity", MN_KEY_VECTOR, "m/s^2", "{0, -9.81, 0}", 0, 0, 0, "", AT(mn_dynamics_def, gravity),
     "that acts on bodies"},
    {"dt", MN_KEY_NUMBER, "s", "0.01", MN_POSITIVE, 0, 0, "", AT(mn_dynamics_def, dt),
     "greatest substep"},
    {"tolerance", MN_KEY_NUMBER, "", "1e-9", MN_BETWEEN, 1e-14, 0.01, "",
     AT(mn_dynamics_def, tolerance), "of the force on a node, relative to the greatest force"},
    {"max_iterations", MN_KEY_INTEGER, "", "50", MN_BETWEEN, 1, 10000, "",
     AT(mn_dynamics_def, max_iterations), "of Newton; then the substep has failed"},
    {"contact", MN_KEY_FLAG, "", "true", 0, 0, 0, "", AT(mn_dynamics_def, contact),
     "bodies touch each other, obstacles and the closed sides of the domain"},
    {"check_start", MN_KEY_FLAG, "", "true", 0, 0, 0, "", AT(mn_dynamics_def, check_start),
     "refuse bodies that overlap others, obstacles or closed sides at the start by more than 0.5 % "
     "of the "
     "smaller one's size, or lie outside the domain; false: take them as they are"},
    END};
