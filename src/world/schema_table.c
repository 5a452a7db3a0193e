/* The table of all constructors and keys. A row: name, type, unit, default, bound, lo, hi, choices,
   offset, text. The struct field, the key and the documentation share one name. */
#include "world/schema_keys.h"

const char *const mn_group_titles[MN_GROUP_COUNT] = {
    "The scene", "Domain",   "Fluids", "Sources", "Obstacles", "Bodies",
    "Coupling",  "Plug-ins", "Shapes", "Time",    "Probes",    "Output",
};

/* ---- scene and domain ------------------------------------------------------------------------ */

static const mn_key scene_keys[] = {
    {"title", MN_KEY_TEXT, "", "", 0, 0, 0, "", AT(mn_model_def, title), "headline of the report"},
    {"reproduces", MN_KEY_TEXT, "", "", 0, 0, 0, "", AT(mn_model_def, reproduces),
     "the figure, table or known answer that the scene stands for"},
    {"domain", MN_KEY_DOMAIN, "", REQUIRED, 0, 0, 0, "box", AT(mn_model_def, domain),
     "the box that is simulated"},
    {"fluid", MN_KEY_FLUID, "", "", 0, 0, 0, "smoke water plugin", AT(mn_model_def, fluid),
     "what fills it; left out: nothing, for bodies alone"},
    {"sources", MN_KEY_SOURCES, "", "", 0, 0, 0, "inflow emitter drain", AT(mn_model_def, sources),
     "a list of inflows, emitters and drains"},
    {"solids", MN_KEY_SOLIDS, "", "", 0, 0, 0, "obstacle rigid elastic springs shell rod plugin",
     AT(mn_model_def, solids), "a list of obstacles, bodies and links"},
    {"dynamics", MN_KEY_DYNAMICS, "", "", 0, 0, 0, "dynamics", AT(mn_model_def, dynamics),
     "how bodies move in time"},
    {"coupling", MN_KEY_COUPLING, "", "", 0, 0, 0, "couple", AT(mn_model_def, coupling),
     "how a fluid and bodies move each other; left out: `couple {}`"},
    {"probes", MN_KEY_PROBES, "", "", 0, 0, 0,
     "pressure velocity smoke_at temperature_at kinetic_energy flux volume area divergence "
     "position "
     "body_velocity angle body_energy force stretch volume_ratio",
     AT(mn_model_def, probes), "a list of probes, each a column of probes.csv"},
    {"output", MN_KEY_OUTPUT, "", "", 0, 0, 0, "output", AT(mn_model_def, output),
     "how many frames and what is written"},
    END};

#define SIDE(name, i, text)                                                                        \
  {                                                                                                \
    name, MN_KEY_SIDE, "", "\"slip\"", 0, 0, 0, "slip noslip open through",                        \
        AT(mn_domain_def, side[i]), text                                                           \
  }

static const mn_key domain_keys[] = {
    {"size", MN_KEY_VECTOR, "m", REQUIRED, MN_POSITIVE, 0, 0, "", AT(mn_domain_def, size),
     "extent along each axis; two numbers make a 2D scene, three a 3D one"},
    {"cells", MN_KEY_CELLS, "", REQUIRED, MN_BETWEEN, 1, 1e6, "", AT(mn_domain_def, cells),
     "cells along each axis; they must be squares or cubes"},
    {"origin", MN_KEY_VECTOR, "m", "{0, 0, 0}", 0, 0, 0, "", AT(mn_domain_def, origin),
     "the low corner"},
    SIDE("left", 0, "side at low x: closed (slip, noslip), open, or a wall{}"),
    SIDE("right", 1, "side at high x"),
    SIDE("bottom", 2, "side at low y"),
    SIDE("top", 3, "side at high y"),
    SIDE("back", 4, "side at low z; 3D only"),
    SIDE("front", 5, "side at high z; 3D only"),
    END};

static const mn_key wall_keys[] = {
    {"kind", MN_KEY_CHOICE, "", "\"noslip\"", 0, 0, 0, "slip noslip open through",
     AT(mn_side_def, kind),
     "slip: the fluid slides along it; noslip: it sticks; open: it passes, and what enters comes "
     "from rest; through: what enters moves as at the side, as in a channel that goes on. Water "
     "only leaves"},
    {"velocity", MN_KEY_VECTOR, "m/s", "{0, 0, 0}", 0, 0, 0, "", AT(mn_side_def, velocity),
     "of a no-slip wall along itself"},
    {"ramp", MN_KEY_TIME, "", "1", 0, 0, 0, "", AT(mn_side_def, ramp), "multiplies velocity"},
    {"friction", MN_KEY_NUMBER, "", "0.3", MN_NOT_NEGATIVE, 0, 0, "", AT(mn_side_def, friction),
     "Coulomb's coefficient for bodies; of a pair the geometric mean counts"},
    {"restitution", MN_KEY_NUMBER, "", "0", MN_BETWEEN, 0, 1, "", AT(mn_side_def, restitution),
     "part of the speed that rigid bodies keep in an impact; of a pair the greater counts"},
    END};

/* ---- fluids ---------------------------------------------------------------------------------- */

static const mn_key fluid_keys[] = {
    {"viscosity", MN_KEY_NUMBER, "m^2/s", "0", MN_NOT_NEGATIVE, 0, 0, "",
     AT(mn_fluid_def, viscosity), "kinematic viscosity"},
    {"gravity", MN_KEY_VECTOR, "m/s^2", "{0, -9.81, 0}", 0, 0, 0, "", AT(mn_fluid_def, gravity),
     "y points up"},
    {"body_force", MN_KEY_VECTOR, "N/m^3", "{0, 0, 0}", 0, 0, 0, "", AT(mn_fluid_def, body_force),
     "a constant force per volume"},
    {"advection", MN_KEY_CHOICE, "", "\"maccormack\"", 0, 0, 0, "maccormack semilagrangian",
     AT(mn_fluid_def, advection),
     "maccormack is of second order; semilagrangian of first order and smoother"},
    {"order", MN_KEY_INTEGER, "", "2", MN_BETWEEN, 1, 2, "", AT(mn_fluid_def, order),
     "in time; 1 is plain splitting"},
    {"limiter", MN_KEY_FLAG, "", "true", 0, 0, 0, "", AT(mn_fluid_def, limiter),
     "keeps MacCormack values within those they come from"},
    {"cfl", MN_KEY_NUMBER, "", "1", MN_BETWEEN, 0.001, 20, "", AT(mn_fluid_def, cfl),
     "cells that the fastest fluid crosses in a substep"},
    {"dt", MN_KEY_NUMBER, "s", "0", MN_NOT_NEGATIVE, 0, 0, "", AT(mn_fluid_def, dt),
     "substep to take where cfl allows it, shortened to meet the frames; 0: from cfl"},
    {"max_dt", MN_KEY_NUMBER, "s", "0", MN_NOT_NEGATIVE, 0, 0, "", AT(mn_fluid_def, max_dt),
     "greatest substep; 0: no limit but the frames"},
    {"pressure_solver", MN_KEY_CHOICE, "", "\"mgpcg\"", 0, 0, 0, "mgpcg pcg",
     AT(mn_fluid_def, pressure_solver),
     "conjugate gradients, preconditioned by multigrid (mgpcg) or by MIC(0), the plain reference "
     "(pcg); not for separating walls"},
    {"pressure_tolerance", MN_KEY_NUMBER, "", "1e-8", MN_BETWEEN, 1e-15, 0.1, "",
     AT(mn_fluid_def, pressure_tolerance), "of the residual, relative to that of zero pressure"},
    {"divergence_tolerance", MN_KEY_NUMBER, "1/s", "0", MN_NOT_NEGATIVE, 0, 0, "",
     AT(mn_fluid_def, divergence_tolerance),
     "the pressure solve may also stop when no cell is off by more than this divergence"},
    {"pressure_max_iterations", MN_KEY_INTEGER, "", "500", MN_BETWEEN, 1, 1e6, "",
     AT(mn_fluid_def, pressure_max_iterations), "then the substep has failed"},
    {"project", MN_KEY_FLAG, "", "true", 0, 0, 0, "", AT(mn_fluid_def, project),
     "false leaves out the pressure: a negative control for tests"},
    {"initial_velocity", MN_KEY_VECTOR_FN, "m/s", "{0, 0, 0}", 0, 0, 0, "",
     AT(mn_fluid_def, initial_velocity), "at the start: a vector or function(x, y, z)"},
    END};

static const mn_key smoke_keys[] = {
    {"density", MN_KEY_NUMBER, "kg/m^3", "1.2", MN_POSITIVE, 0, 0, "", AT(mn_fluid_def, density),
     "of the fluid without smoke at ambient temperature"},
    {"smoke_weight", MN_KEY_NUMBER, "", "0", 0, 0, 0, "", AT(mn_fluid_def, smoke_weight),
     "gravity acts on smoke s as on the density (1 + smoke_weight s); negative: it rises"},
    {"temperature", MN_KEY_FLAG, "", "false", 0, 0, 0, "", AT(mn_fluid_def, temperature),
     "carry a temperature field"},
    {"expansion", MN_KEY_NUMBER, "1/K", "0.0034", MN_NOT_NEGATIVE, 0, 0, "",
     AT(mn_fluid_def, expansion),
     "gravity acts on temperature T as on the density (1 - expansion (T - ambient))"},
    {"ambient", MN_KEY_NUMBER, "K", "293.15", MN_NOT_NEGATIVE, 0, 0, "", AT(mn_fluid_def, ambient),
     "temperature outside and, by default, at the start"},
    {"initial_smoke", MN_KEY_SMOKE, "", "0", MN_NOT_NEGATIVE, 0, 0, "",
     AT(mn_fluid_def, initial_smoke),
     "at the start, 1 is dense: a number, function(x, y, z), or a shape filled with 1"},
    {"outside", MN_KEY_CHOICE, "", "\"fluid\"", 0, 0, 0, "fluid empty", AT(mn_fluid_def, outside),
     "what is connected to an open side, among bodies; empty: only closed regions hold fluid"},
    {"initial_temperature", MN_KEY_SCALAR_FN, "K", "ambient", MN_NOT_NEGATIVE, 0, 0, "",
     AT(mn_fluid_def, initial_temperature), "at the start: a number or function(x, y, z)"},
    END};

static const mn_key water_keys[] = {
    {"density", MN_KEY_NUMBER, "kg/m^3", "1000", MN_POSITIVE, 0, 0, "", AT(mn_fluid_def, density),
     ""},
    {"initial_water", MN_KEY_SHAPE, "", REQUIRED, 0, 0, 0, "", AT(mn_fluid_def, initial_water),
     "the shape that water fills at the start; the rest is air"},
    {"walls", MN_KEY_CHOICE, "", "\"separating\"", 0, 0, 0, "separating sticking",
     AT(mn_fluid_def, walls),
     "separating: solids and closed sides let water go that moves away from them; sticking: they "
     "hold it, by suction if need be"},
    {"lcp_solver", MN_KEY_CHOICE, "", "\"fast\"", 0, 0, 0,
     "fast fas pi-pcg pi-mg pe-pcg pe-mg fmg newton pgs mprgp fas-trilinear fas-constant "
     "fas-plain-walls fas-direct",
     AT(mn_fluid_def, lcp_solver),
     "of the pressure with separating walls. fast, pi-... and pe-... solve every step met so far; "
     "newton, fmg, pgs and the variants fas-... are for comparison and may fail, see "
     "theory/lcp.md"},
    {"enclosed", MN_KEY_FLAG, "", "false", 0, 0, 0, "", AT(mn_fluid_def, enclosed),
     "true allows water that fills a closed space at the start, without air and with no solid that "
     "moves; it can only circulate"},
    {"transfer", MN_KEY_CHOICE, "", "\"apic\"", 0, 0, 0, "apic flip marker levelset",
     AT(mn_fluid_def, transfer),
     "apic: particles with an affine velocity each; flip: particles that take over changes of the "
     "grid's velocity; marker: particles only say where the water is, the velocity is carried on "
     "the grid, semi-Lagrangian; levelset: no particles, water is carried by `advection`"},
    {"viscosity_factor", MN_KEY_SCALAR_FN, "", "1", MN_NOT_NEGATIVE, 0, 0, "",
     AT(mn_fluid_def, viscosity_factor),
     "multiplies viscosity, at places that do not move: a number or function(x, y, z)"},
    {"flip", MN_KEY_NUMBER, "", "0.97", MN_BETWEEN, 0, 1, "", AT(mn_fluid_def, flip),
     "part of FLIP in the blend with PIC, which smooths; for transfer = \"flip\""},
    {"jitter", MN_KEY_NUMBER, "", "0", MN_BETWEEN, 0, 1, "", AT(mn_fluid_def, jitter),
     "scatters the particles of the start about their even places; 1: half a cell"},
    {"volume_control", MN_KEY_FLAG, "", "true", 0, 0, 0, "", AT(mn_fluid_def, volume_control),
     "lets liquid expand where particles crowd and contract where they are few"},
    END};

/* ---- sources and solids ---------------------------------------------------------------------- */

static const mn_key source_keys[] = {
    {"name", MN_KEY_NAME, "", "", 0, 0, 0, "", AT(mn_source_def, name), ""},
    {"shape", MN_KEY_SHAPE, "", REQUIRED, 0, 0, 0, "", AT(mn_source_def, shape), "where it is"},
    {"smoke", MN_KEY_NUMBER, "", "1", MN_NOT_NEGATIVE, 0, 0, "", AT(mn_source_def, smoke),
     "smoke inside the shape"},
    {"temperature", MN_KEY_NUMBER, "K", "ambient", MN_NOT_NEGATIVE, 0, 0, "",
     AT(mn_source_def, temperature), "inside the shape"},
    END};

static const mn_key drain_keys[] = {
    {"name", MN_KEY_NAME, "", "", 0, 0, 0, "", AT(mn_source_def, name), ""},
    {"shape", MN_KEY_SHAPE, "", REQUIRED, 0, 0, 0, "", AT(mn_source_def, shape), "where it is"},
    END};

static const mn_key inflow_keys[] = {
    {"velocity", MN_KEY_VECTOR, "m/s", "{0, 0, 0}", 0, 0, 0, "", AT(mn_source_def, velocity),
     "with which fluid leaves the shape; this or speed"},
    {"speed", MN_KEY_NUMBER, "m/s", "0", MN_NOT_NEGATIVE, 0, 0, "", AT(mn_source_def, speed),
     "instead of velocity: smoke out of a disk or sphere on all sides, speed times its surface"},
    {"profile", MN_KEY_CHOICE, "", "\"uniform\"", 0, 0, 0, "uniform parabolic",
     AT(mn_source_def, profile), "parabolic: 1 - (r/R)^2 across the shape, R half its width"},
    {"ramp", MN_KEY_TIME, "", "1", 0, 0, 0, "", AT(mn_source_def, ramp),
     "multiplies velocity or speed"},
    END};

static const mn_key obstacle_keys[] = {
    {"name", MN_KEY_NAME, "", "", 0, 0, 0, "", AT(mn_solid_def, name), "for probes"},
    {"shape", MN_KEY_SHAPE, "", REQUIRED, 0, 0, 0, "", AT(mn_solid_def, shape), "at time 0"},
    {"noslip", MN_KEY_FLAG, "", "false", 0, 0, 0, "", AT(mn_solid_def, noslip),
     "viscous fluid sticks to it"},
    {"motion", MN_KEY_MOTION, "", "", 0, 0, 0, "motion", AT(mn_solid_def, motion),
     "how it moves; without it the obstacle stays"},
    {"friction", MN_KEY_NUMBER, "", "0.3", MN_NOT_NEGATIVE, 0, 0, "", AT(mn_solid_def, friction),
     "Coulomb's coefficient for bodies; of a pair the geometric mean counts"},
    {"restitution", MN_KEY_NUMBER, "", "0", MN_BETWEEN, 0, 1, "", AT(mn_solid_def, restitution),
     "part of the speed that rigid bodies keep in an impact; of a pair the greater counts"},
    END};

static const mn_key motion_keys[] = {
    {"translate", MN_KEY_VECTOR, "m", "{0, 0, 0}", 0, 0, 0, "", AT(mn_motion, translate),
     "moved by translate * path(t)"},
    {"path", MN_KEY_TIME, "", "0", 0, 0, 0, "", AT(mn_motion, path), "see translate"},
    {"axis", MN_KEY_AXIS, "", "{0, 0, 1}", 0, 0, 0, "", AT(mn_motion, axis),
     "direction about which it turns"},
    {"pivot", MN_KEY_VECTOR, "m", "{0, 0, 0}", 0, 0, 0, "", AT(mn_motion, pivot),
     "point about which it turns"},
    {"turn", MN_KEY_TIME, "rad", "0", 0, 0, 0, "", AT(mn_motion, turn), "angle over time"},
    END};

/* ---- shapes ---------------------------------------------------------------------------------- */

static const mn_key box_keys[] = {
    {"lo", MN_KEY_VECTOR, "m", "", 0, 0, 0, "", AT(mn_shape_args, lo), "low corner, with hi"},
    {"hi", MN_KEY_VECTOR, "m", "", 0, 0, 0, "", AT(mn_shape_args, hi), "high corner"},
    {"center", MN_KEY_VECTOR, "m", "", 0, 0, 0, "", AT(mn_shape_args, center),
     "instead of lo and hi, with size"},
    {"size", MN_KEY_VECTOR, "m", "", MN_POSITIVE, 0, 0, "", AT(mn_shape_args, size), "extent"},
    END};

static const mn_key sphere_keys[] = {
    {"center", MN_KEY_VECTOR, "m", REQUIRED, 0, 0, 0, "", AT(mn_shape_args, center), ""},
    {"radius", MN_KEY_NUMBER, "m", REQUIRED, MN_POSITIVE, 0, 0, "", AT(mn_shape_args, radius), ""},
    END};

static const mn_key half_space_keys[] = {{"point", MN_KEY_VECTOR, "m", REQUIRED, 0, 0, 0, "",
                                          AT(mn_shape_args, point), "on its surface"},
                                         {"normal", MN_KEY_VECTOR, "", REQUIRED, 0, 0, 0, "",
                                          AT(mn_shape_args, normal),
                                          "points out of it; any length but 0"},
                                         END};

static const mn_key capsule_keys[] = {
    {"a", MN_KEY_VECTOR, "m", REQUIRED, 0, 0, 0, "", AT(mn_shape_args, a), "one end of its axis"},
    {"b", MN_KEY_VECTOR, "m", REQUIRED, 0, 0, 0, "", AT(mn_shape_args, b), "the other end"},
    {"radius", MN_KEY_NUMBER, "m", REQUIRED, MN_POSITIVE, 0, 0, "", AT(mn_shape_args, radius), ""},
    END};

static const mn_key cylinder_keys[] = {
    {"a", MN_KEY_VECTOR, "m", REQUIRED, 0, 0, 0, "", AT(mn_shape_args, a), "one end of its axis"},
    {"b", MN_KEY_VECTOR, "m", REQUIRED, 0, 0, 0, "", AT(mn_shape_args, b), "the other end"},
    {"radius", MN_KEY_NUMBER, "m", REQUIRED, MN_POSITIVE, 0, 0, "", AT(mn_shape_args, radius), ""},
    {"inner", MN_KEY_NUMBER, "m", "0", MN_NOT_NEGATIVE, 0, 0, "", AT(mn_shape_args, inner),
     "radius of the hole along the axis, smaller than radius: a tube"},
    END};

static const mn_key torus_keys[] = {
    {"center", MN_KEY_VECTOR, "m", REQUIRED, 0, 0, 0, "", AT(mn_shape_args, center), ""},
    {"axis", MN_KEY_AXIS, "", "{0, 0, 1}", 0, 0, 0, "", AT(mn_shape_args, axis),
     "of symmetry; in 2D the torus is a ring"},
    {"major", MN_KEY_NUMBER, "m", REQUIRED, MN_POSITIVE, 0, 0, "", AT(mn_shape_args, major),
     "radius of its centre line"},
    {"minor", MN_KEY_NUMBER, "m", REQUIRED, MN_POSITIVE, 0, 0, "", AT(mn_shape_args, minor),
     "radius of its tube, smaller than major"},
    END};

static const mn_key mesh_keys[] = {
    {"file", MN_KEY_FILE, "", REQUIRED, 0, 0, 0, "", AT(mn_shape_args, file),
     "OBJ, PLY or STL with a closed triangle surface; relative to the scene's folder"},
    END};

/* The shape comes last: src/scene/reader_shape.c relies on it. */
static const mn_key transform_keys[] = {
    {"scale", MN_KEY_NUMBER, "", "1", MN_POSITIVE, 0, 0, "", AT(mn_shape_args, scale),
     "about the origin"},
    {"axis", MN_KEY_AXIS, "", "{0, 0, 1}", 0, 0, 0, "", AT(mn_shape_args, axis),
     "through the origin"},
    {"angle", MN_KEY_NUMBER, "rad", "0", 0, 0, 0, "", AT(mn_shape_args, angle), "about the axis"},
    {"translate", MN_KEY_VECTOR, "m", "{0, 0, 0}", 0, 0, 0, "", AT(mn_shape_args, translate), ""},
    {"shape", MN_KEY_SHAPE, "", REQUIRED, 0, 0, 0, "", AT(mn_shape_args, shape),
     "is scaled, then turned, then moved"},
    END};

/* ---- coupling -------------------------------------------------------------------------------- */

static const mn_key plugin_keys[] = {
    {"name", MN_KEY_NAME, "", "", 0, 0, 0, "", AT(mn_plugin_def, name), "of a solid, for probes"},
    {"file", MN_KEY_FILE, "", REQUIRED, 0, 0, 0, "", AT(mn_plugin_def, file),
     "the shared object; relative to the scene's folder. Its code runs with all your rights"},
    {"numbers", MN_KEY_TABLE, "", "", 0, 0, 0, "", AT(mn_plugin_def, numbers),
     "what it asks for, by names of its own"},
    END};

#define COUPLE(field) AT(mn_coupling_def, field)

/* What has no default here has one by method: mn_coupling_def_default. */
static const mn_key couple_keys[] = {
    {"method", MN_KEY_CHOICE, "", "\"xpm\"", 0, 0, 0,
     "xpm rmi aitken relaxed weak simultaneous monolithic auto", COUPLE(method),
     "xpm: a reduced model of both sides, learned from their answers, with conservative impulses "
     "and all that makes it cheap and robust; rmi: the reduced model alone; aitken and relaxed: "
     "both sides in turn, relaxed; weak: one solve of each, unstable for light bodies; "
     "monolithic: one system for both sides, which must be built in; simultaneous: the same, "
     "linear, solved once in a substep; auto: picked from what the scene contains, `check` and "
     "run.json say what and why"},
    {"published", MN_KEY_FLAG, "", "false", 0, 0, 0, "", COUPLE(published),
     "the method as its authors printed it: changes the defaults of load, reuse, mass and frozen"},
    {"tolerance", MN_KEY_NUMBER, "cells", "0.05", MN_BETWEEN, 1e-12, 1, "", COUPLE(tolerance),
     "by which the interface may still move in an iteration; a substep that does not reach it is "
     "retried with half the step"},
    {"max_iterations", MN_KEY_INTEGER, "", "30", MN_BETWEEN, 2, 10000, "", COUPLE(max_iterations),
     "fluid solves, or solves of the one system, of a substep"},
    {"omega", MN_KEY_NUMBER, "", "0.1", MN_BETWEEN, 1e-6, 2, "", COUPLE(omega),
     "relaxation of relaxed; the first one of aitken"},
    {"load", MN_KEY_CHOICE, "", "", 0, 0, 0, "impulse pressure", COUPLE(load),
     "impulse: conserves momentum; pressure: differences times areas, does not. Default: impulse; "
     "published: pressure but for xpm"},
    {"rigid", MN_KEY_CHOICE, "", "\"points\"", 0, 0, 0, "points freedoms", COUPLE(rigid),
     "what the iteration sees of rigid bodies: points of their surface, or their translation and "
     "rotation"},
    {"reuse", MN_KEY_INTEGER, "", "", MN_BETWEEN, 0, 100, "", COUPLE(reuse),
     "earlier substeps whose secants are kept. Default: 8 for xpm, else 0; published: 0"},
    {"filter", MN_KEY_NUMBER, "", "0.2", MN_BETWEEN, 0, 0.9, "", COUPLE(filter),
     "a kept secant is dropped when less than this part of it is new"},
    {"predictor", MN_KEY_INTEGER, "", "1", MN_BETWEEN, 0, 2, "", COUPLE(predictor),
     "order of the extrapolation that starts a substep"},
    {"mass", MN_KEY_CHOICE, "", "", 0, 0, 0, "none dual fitted", COUPLE(mass),
     "mass lent to the bodies, which the loads give back, so that the answer is the same: dual: "
     "the fluid's in the cells it shares with them; fitted: half of the largest added mass seen. "
     "Default: fitted for xpm, else none; published: none"},
    {"closed", MN_KEY_CHOICE, "", "\"eliminated\"", 0, 0, 0, "eliminated solid fluid none",
     COUPLE(closed),
     "how the mean pressure p0 of closed regions is found: eliminated: inside every solve of the "
     "bodies, so that their volumes follow the inflow exactly; solid, fluid: one correction in "
     "each "
     "iteration by the momentum of the bodies or of the fluid, as published; none: not at all. "
     "One system: what the surfaces enclose, whichever of them; none: what the grid's faces see"},
    {"frozen", MN_KEY_FLAG, "", "", 0, 0, 0, "", COUPLE(frozen),
     "the surface's place on the grid is, all through a substep, where its velocity at the start "
     "takes it (published: where the first solve was). Default: true; published: false"},
    {"kernel_radius", MN_KEY_NUMBER, "cells", "1.5", MN_BETWEEN, 1, 2, "", COUPLE(kernel_radius),
     "over which points share the faces' velocities and loads"},
    {"spacing", MN_KEY_NUMBER, "cells", "0.5", MN_BETWEEN, 0.1, 1.5, "", COUPLE(spacing),
     "greatest distance between points of the interface"},
    {"adapt", MN_KEY_FLAG, "", "true", 0, 0, 0, "", COUPLE(adapt),
     "shorten the step after a hard substep and lengthen it again after easy ones"},
    {"solver", MN_KEY_CHOICE, "", "\"auto\"", 0, 0, 0, "auto direct cg minres", COUPLE(solver),
     "of the one system: direct: sparse LU of all of it; cg: its positive-definite form, in the "
     "pressure alone; minres: its symmetric form; auto: direct if it is small, else minres if "
     "rigid bodies are light, or cg"},
    {"elastic", MN_KEY_CHOICE, "", "\"converged\"", 0, 0, 0, "converged linearised",
     COUPLE(elastic),
     "elastic forces and rotations of monolithic: iterated until the interface moves by less than "
     "tolerance, or linearised once"},
    END};

/* ---- time functions -------------------------------------------------------------------------- */

static const mn_key ramp_keys[] = {
    {"duration", MN_KEY_NUMBER, "s", REQUIRED, MN_POSITIVE, 0, 0, "", AT(mn_timefn, duration), ""},
    {"from", MN_KEY_NUMBER, "", "0", 0, 0, 0, "", AT(mn_timefn, from), "value until start"},
    {"to", MN_KEY_NUMBER, "", "1", 0, 0, 0, "", AT(mn_timefn, to), "value after it"},
    {"start", MN_KEY_NUMBER, "s", "0", 0, 0, 0, "", AT(mn_timefn, start), ""},
    END};

static const mn_key rate_keys[] = {
    {"rate", MN_KEY_NUMBER, "1/s", REQUIRED, 0, 0, 0, "", AT(mn_timefn, rate), ""},
    {"from", MN_KEY_NUMBER, "", "0", 0, 0, 0, "", AT(mn_timefn, from), "value at start"},
    {"start", MN_KEY_NUMBER, "s", "0", 0, 0, 0, "", AT(mn_timefn, start), ""},
    END};

static const mn_key wave_keys[] = {
    {"frequency", MN_KEY_NUMBER, "Hz", REQUIRED, MN_NOT_NEGATIVE, 0, 0, "",
     AT(mn_timefn, frequency), ""},
    {"amplitude", MN_KEY_NUMBER, "", "1", 0, 0, 0, "", AT(mn_timefn, amplitude), ""},
    {"phase", MN_KEY_NUMBER, "rad", "0", 0, 0, 0, "", AT(mn_timefn, phase), ""},
    {"mean", MN_KEY_NUMBER, "", "0", 0, 0, 0, "", AT(mn_timefn, mean), ""},
    END};

/* ---- probes ---------------------------------------------------------------------------------- */

static const mn_key probe_keys[] = {{"name", MN_KEY_NAME, "", "", 0, 0, 0, "",
                                     AT(mn_probe_def, name),
                                     "column in probes.csv; made from the constructor if left out"},
                                    END};

#define POINT                                                                                      \
  {                                                                                                \
    "at", MN_KEY_VECTOR, "m", REQUIRED, 0, 0, 0, "", AT(mn_probe_def, at), "a point in the domain" \
  }

static const mn_key at_keys[] = {POINT, END};

static const mn_key velocity_keys[] = {POINT,
                                       {"axis", MN_KEY_CHOICE, "", "\"speed\"", 0, -1, 0,
                                        "speed x y z", AT(mn_probe_def, axis), "component"},
                                       END};

static const mn_key flux_keys[] = {
    {"axis", MN_KEY_CHOICE, "", REQUIRED, 0, 0, 0, "x y z", AT(mn_probe_def, axis),
     "normal of the plane"},
    {"position", MN_KEY_NUMBER, "m", REQUIRED, 0, 0, 0, "", AT(mn_probe_def, position),
     "of the plane along that axis; the nearest of the grid is taken"},
    {"shape", MN_KEY_SHAPE, "", "", 0, 0, 0, "", AT(mn_probe_def, shape),
     "count only what is inside it"},
    END};

static const mn_key volume_keys[] = {{"of", MN_KEY_NAME, "", "\"fluid\"", 0, 0, 0, "",
                                      AT(mn_probe_def, of),
                                      "fluid, smoke (its integral), or the name of a solid"},
                                     END};

#define BODY_OF                                                                                    \
  {                                                                                                \
    "of", MN_KEY_NAME, "", REQUIRED, 0, 0, 0, "", AT(mn_probe_def, of), "name of a body"           \
  }

static const mn_key body_point_keys[] = {
    BODY_OF,
    {"at", MN_KEY_VECTOR, "m", "", 0, 0, 0, "", AT(mn_probe_def, at),
     "its point that is nearest to this place at the start; left out: its centre of mass"},
    {"axis", MN_KEY_CHOICE, "", REQUIRED, 0, 0, 0, "x y z", AT(mn_probe_def, axis), "component"},
    END};

static const mn_key body_keys[] = {BODY_OF, END};

static const mn_key force_keys[] = {
    BODY_OF,
    {"axis", MN_KEY_CHOICE, "", REQUIRED, 0, 0, 0, "x y z", AT(mn_probe_def, axis), "component"},
    END};

static const mn_key energy_keys[] = {{"of", MN_KEY_NAME, "", "", 0, 0, 0, "", AT(mn_probe_def, of),
                                      "name of a body; left out: all of them"},
                                     END};

/* ---- output ---------------------------------------------------------------------------------- */

static const mn_key output_keys[] = {
    {"frames", MN_KEY_INTEGER, "", "100", MN_BETWEEN, 0, 1e7, "", AT(mn_output_def, frames),
     "how many after the first state"},
    {"every", MN_KEY_NUMBER, "s", "0.04", MN_POSITIVE, 0, 0, "", AT(mn_output_def, every),
     "time between frames"},
    {"vtk", MN_KEY_FLAG, "", "true", 0, 0, 0, "", AT(mn_output_def, vtk), "write frames/"},
    {"preview", MN_KEY_FLAG, "", "true", 0, 0, 0, "", AT(mn_output_def, preview), "write preview/"},
    {"show", MN_KEY_WORD, "", "", 0, 0, 0,
     "smoke temperature speed vorticity pressure water bodies stress", AT(mn_output_def, show),
     "field of the previews; if left out, the smoke, the water or the bodies"},
    {"range", MN_KEY_RANGE, "", "{0, 0}", 0, 0, 0, "", AT(mn_output_def, range),
     "of the colours; equal numbers: from the data"},
    {"checkpoint_frames", MN_KEY_INTEGER, "", "10", MN_BETWEEN, 0, 1e7, "",
     AT(mn_output_def, checkpoint_frames), "a checkpoint every so many frames; 0: none"},
    {"checkpoint_minutes", MN_KEY_NUMBER, "min", "10", MN_NOT_NEGATIVE, 0, 0, "",
     AT(mn_output_def, checkpoint_minutes), "and after so much wall time; 0: never"},
    {"checkpoint_keep", MN_KEY_INTEGER, "", "0", MN_BETWEEN, 0, 1e7, "",
     AT(mn_output_def, checkpoint_keep), "every so many frames one that is kept; 0: none"},
    END};

/* ---- constructors ---------------------------------------------------------------------------- */

const mn_ctor mn_ctors[MN_CTOR_COUNT] = {
    [MN_CTOR_SCENE] = {"scene", MN_GROUP_SCENE, 0, 0, scene_keys, NULL,
                       "What the file returns: `return scene { ... }`."},
    [MN_CTOR_DOMAIN] = {"box", MN_GROUP_DOMAIN, 0, 0, domain_keys, NULL,
                        "As `domain`: the simulated box."},
    [MN_CTOR_WALL] =
        {"wall", MN_GROUP_DOMAIN, 0, 0, wall_keys, NULL,
         "A side of the domain that slides. A side without velocity is just its kind."},
    [MN_CTOR_SMOKE] = {"smoke", MN_GROUP_FLUID, MN_FLUID_SMOKE, 0, smoke_keys, fluid_keys,
                       "Air with smoke and, if asked for, heat."},
    [MN_CTOR_WATER] = {"water", MN_GROUP_FLUID, MN_FLUID_WATER, 0, water_keys, fluid_keys,
                       "A liquid under air of no density."},
    [MN_CTOR_INFLOW] =
        {"inflow", MN_GROUP_SOURCE, 1, 0, inflow_keys, source_keys,
         "Blows fluid out of its shape; never sucks. It is made of whole cells, those whose "
         "centres the shape holds, and brings the area of their outer sides times the velocity out "
         "of these: a jet that brings an exact volume has its edges on cells. Where a shape lies "
         "across the axes its stairs do not blow: it brings the speed times its own cross-section, "
         "within one or two per cent if it is some cells wide. Through what solids cover of it "
         "nothing "
         "comes, wherever they cut the cells."},
    [MN_CTOR_EMITTER] = {"emitter", MN_GROUP_SOURCE, 0, 0, source_keys, NULL,
                         "Sets smoke and temperature inside its shape, and no velocity."},
    [MN_CTOR_DRAIN] = {"drain", MN_GROUP_SOURCE, 0, 0, drain_keys, NULL,
                       "Takes away the water that reaches its shape, which holds air."},
    [MN_CTOR_OBSTACLE] = {"obstacle", MN_GROUP_SOLID, 0, 0, obstacle_keys, NULL,
                          "A solid that stays or moves as told, whatever the fluid does."},
    [MN_CTOR_MOTION] = {"motion", MN_GROUP_SOLID, 0, 0, motion_keys, NULL,
                        "x(t) = R(turn(t)) (x - pivot) + pivot + translate path(t)."},
    [MN_CTOR_RIGID] = {"rigid", MN_GROUP_BODY, MN_BODY_RIGID, 0, mn_rigid_keys, NULL,
                       "A body that moves and turns, but does not deform."},
    [MN_CTOR_ELASTIC] = {"elastic", MN_GROUP_BODY, MN_BODY_ELASTIC, 0, mn_elastic_keys,
                         mn_deformable_keys,
                         "An elastic body of triangles (2D, plane strain) or tetrahedra."},
    [MN_CTOR_SPRINGS] = {"springs", MN_GROUP_BODY, MN_BODY_SPRINGS, 0, mn_springs_keys,
                         mn_deformable_keys, "A curve or a cloth of masses and springs."},
    [MN_CTOR_SHELL] = {"shell", MN_GROUP_BODY, MN_BODY_SHELL, 0, mn_shell_keys, mn_deformable_keys,
                       "A thin shell: membrane and bending. 3D only."},
    [MN_CTOR_ROD] = {"rod", MN_GROUP_BODY, MN_BODY_ROD, 0, mn_rod_keys, mn_deformable_keys,
                     "A thin rod: stretch and bending, no twist."},
    [MN_CTOR_LINK] = {"link", MN_GROUP_BODY, 0, 0, mn_link_keys, NULL,
                      "A spring and damper between two bodies, two points of a deformable one, or "
                      "a body and the world. A rigid "
                      "body cannot be linked with a deformable one."},
    [MN_CTOR_DYNAMICS] = {"dynamics", MN_GROUP_BODY, 0, 0, mn_dynamics_keys, NULL,
                          "How bodies move in time."},
    [MN_CTOR_COUPLE] = {"couple", MN_GROUP_COUPLING, 0, 0, couple_keys, NULL,
                        "How a fluid and bodies move each other; [coupling.md](coupling.md) helps "
                        "to choose."},
    [MN_CTOR_PLUGIN] = {"plugin", MN_GROUP_PLUGIN, 0, 0, plugin_keys, NULL,
                        "A fluid or solid of your own from a shared object: as `fluid`, or as the "
                        "only body of `solids`; see [coupling.md](coupling.md)."},
    [MN_CTOR_BOX] = {"box", MN_GROUP_SHAPE, 0, 0, box_keys, NULL,
                     "As a shape: `{lo, hi}` or `{center, size}`."},
    [MN_CTOR_SPHERE] = {"sphere", MN_GROUP_SHAPE, 0, 0, sphere_keys, NULL, "In 2D a disk."},
    [MN_CTOR_DISK] = {"disk", MN_GROUP_SHAPE, 0, 0, sphere_keys, NULL, "2D only."},
    [MN_CTOR_HALF_SPACE] = {"half_space", MN_GROUP_SHAPE, 0, 0, half_space_keys, NULL,
                            "Everything on one side of a plane."},
    [MN_CTOR_CAPSULE] = {"capsule", MN_GROUP_SHAPE, 0, 0, capsule_keys, NULL,
                         "All points within radius of a segment."},
    [MN_CTOR_CYLINDER] = {"cylinder", MN_GROUP_SHAPE, 0, 0, cylinder_keys, NULL,
                          "A cylinder with flat ends, or a tube. 3D only."},
    [MN_CTOR_TORUS] = {"torus", MN_GROUP_SHAPE, 0, 0, torus_keys, NULL, ""},
    [MN_CTOR_MESH] = {"mesh", MN_GROUP_SHAPE, 0, 0, mesh_keys, NULL, "3D only."},
    [MN_CTOR_UNION] = {"union", MN_GROUP_SHAPE, 0, 1, NULL, NULL,
                       "`union { a, b, ... }`: inside any of the shapes."},
    [MN_CTOR_INTERSECTION] = {"intersection", MN_GROUP_SHAPE, 0, 1, NULL, NULL,
                              "`intersection { a, b, ... }`: inside all of them."},
    [MN_CTOR_DIFFERENCE] = {"difference", MN_GROUP_SHAPE, 0, 1, NULL, NULL,
                            "`difference { a, b, ... }`: inside a and none of the others."},
    [MN_CTOR_TRANSFORM] = {"transform", MN_GROUP_SHAPE, 0, 0, transform_keys, NULL, ""},
    [MN_CTOR_COSINE] = {"cosine", MN_GROUP_TIME, MN_TIME_COSINE, 0, ramp_keys, NULL,
                        "A smooth step. `cosine(T)` is `cosine { duration = T }`."},
    [MN_CTOR_LINEAR] = {"linear", MN_GROUP_TIME, MN_TIME_LINEAR, 0, ramp_keys, NULL,
                        "A straight step. `linear(T)` is `linear { duration = T }`."},
    [MN_CTOR_RATE] = {"rate", MN_GROUP_TIME, MN_TIME_RATE, 0, rate_keys, NULL,
                      "from + rate (t - start), without end. `rate(r)` is `rate { rate = r }`."},
    [MN_CTOR_WAVE] =
        {"wave", MN_GROUP_TIME, MN_TIME_WAVE, 0, wave_keys, NULL,
         "mean + amplitude sin(2 pi frequency t + phase). `wave(f)` is `wave { frequency = f }`."},
    [MN_CTOR_KEYS] = {"keys", MN_GROUP_TIME, MN_TIME_KEYS, 1, NULL, NULL,
                      "`keys { {t, value}, ... }`: straight lines between points in time, at most "
                      "64; constant outside."},
    [MN_CTOR_PRESSURE] = {"pressure", MN_GROUP_PROBE, MN_PROBE_PRESSURE, 0, at_keys, probe_keys,
                          "In Pa. Within half a cell of a wall it is that of the cell's centre."},
    [MN_CTOR_VELOCITY] = {"velocity", MN_GROUP_PROBE, MN_PROBE_VELOCITY, 0, velocity_keys,
                          probe_keys, "In m/s."},
    [MN_CTOR_SMOKE_AT] = {"smoke_at", MN_GROUP_PROBE, MN_PROBE_SMOKE, 0, at_keys, probe_keys, ""},
    [MN_CTOR_TEMPERATURE_AT] = {"temperature_at", MN_GROUP_PROBE, MN_PROBE_TEMPERATURE, 0, at_keys,
                                probe_keys, "In K."},
    [MN_CTOR_KINETIC_ENERGY] = {"kinetic_energy", MN_GROUP_PROBE, MN_PROBE_KINETIC_ENERGY, 0, NULL,
                                probe_keys, "Of the fluid, in J (2D: per metre of depth)."},
    [MN_CTOR_FLUX] = {"flux", MN_GROUP_PROBE, MN_PROBE_FLUX, 0, flux_keys, probe_keys,
                      "Through a plane, in m^3/s (2D: m^2/s). Of water, not of the air beside it."},
    [MN_CTOR_VOLUME] = {"volume", MN_GROUP_PROBE, MN_PROBE_VOLUME, 0, volume_keys, probe_keys,
                        "In m^3 (2D: m^2)."},
    [MN_CTOR_AREA] = {"area", MN_GROUP_PROBE, MN_PROBE_VOLUME, 0, volume_keys, probe_keys,
                      "The same for 2D scenes. Open thin bodies are closed: a curve from end to "
                      "end, a surface at "
                      "its rims."},
    [MN_CTOR_DIVERGENCE] = {"divergence", MN_GROUP_PROBE, MN_PROBE_DIVERGENCE, 0, NULL, probe_keys,
                            "The greatest of the fluid, in 1/s."},
    [MN_CTOR_POSITION] = {"position", MN_GROUP_PROBE, MN_PROBE_POSITION, 0, body_point_keys,
                          probe_keys, "Of a body, in m."},
    [MN_CTOR_BODY_VELOCITY] = {"body_velocity", MN_GROUP_PROBE, MN_PROBE_BODY_VELOCITY, 0,
                               body_point_keys, probe_keys, "Of a body, in m/s."},
    [MN_CTOR_ANGLE] = {"angle", MN_GROUP_PROBE, MN_PROBE_ANGLE, 0, body_keys, probe_keys,
                       "By which a rigid body has turned, in rad; in 3D without sign, up to pi."},
    [MN_CTOR_BODY_ENERGY] = {"body_energy", MN_GROUP_PROBE, MN_PROBE_BODY_ENERGY, 0, energy_keys,
                             probe_keys, "Kinetic and elastic, in J."},
    [MN_CTOR_FORCE] =
        {"force", MN_GROUP_PROBE, MN_PROBE_FORCE, 0, force_keys, probe_keys,
         "On a body by contact and by a fluid, without gravity, springs and what holds it: mean of "
         "the last substep, in N."},
    [MN_CTOR_STRETCH] = {"stretch", MN_GROUP_PROBE, MN_PROBE_STRETCH, 0, body_keys, probe_keys,
                         "Greatest length over that at rest of a deformable body's edges."},
    [MN_CTOR_VOLUME_RATIO] = {"volume_ratio", MN_GROUP_PROBE, MN_PROBE_VOLUME_RATIO, 0, body_keys,
                              probe_keys,
                              "Least volume over that at rest of an elastic body's "
                              "elements."},
    [MN_CTOR_OUTPUT] = {"output", MN_GROUP_OUTPUT, 0, 0, output_keys, NULL,
                        "A plain table is fine too: `output = { frames = 10 }`."},
};
