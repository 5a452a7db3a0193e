/* A user's mistakes: each ends in MN_BAD_INPUT with file, line, key path, what was found and what
   is allowed, and a suggestion where one is near. */
#include "scene_check.h"

#include <stdlib.h>

static void test_the_whole(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  static const bad_case cases[] = {
      {"", {"t.lua", "returns nothing", "return scene {"}},
      {"local x = 1", {"returns nothing", "return scene"}},
      {"scene { }", {"returns nothing"}},
      {"return 3", {"returns number", "return scene"}},
      {"return { domain = 1 }", {"returns table"}},
      {"return sphere { }", {"returns sphere"}},
      {"return scene {", {"t.lua:1:", "expected"}},
      {"\n\nlocal = 3", {"t.lua:3:", "near"}},
      {"return scene { }", {"t.lua:1: scene.domain: missing"}},
      {"return scene()", {"t.lua:1:", "scene: found nothing"}},
      {"return scene { 1 }", {"scene: found 1 without a key"}},
      {"return scene { [true] = 1 }", {"without a key"}},
      {"return scene { {}, {} }", {"without a key"}},
      {"return scene(1, 2)", {"several values"}},
      {"return scene(sphere {})", {"scene: found sphere"}},
      {SCENE_OF("titel = 'x'"), {"t.lua:1: scene.titel: unknown key, did you mean 'title'?"}},
      {SCENE_OF("zzz = 'x'"), {"scene.zzz: unknown key, allowed: title"}},
      {SCENE_OF("title = 3"), {"scene.title: found 3, allowed: a text"}},
      {SCENE_OF("title = ('x'):rep(300)"), {"scene.title: found 300 bytes", "at most 255"}},
      {SCENE_OF("title = 'a\\0b'"), {"scene.title"}},
      {"\nlocal s = shpere { }", {"t.lua:2:", "unknown name 'shpere', did you mean 'sphere'?"}},
      {"local n = xyzzy + 1", {"unknown name 'xyzzy'"}},
      {"error('my own words')", {"t.lua:1: my own words"}},
      {"error('no place', 0)", {"t.lua: no place"}},
      {"error({})", {"t.lua: stopped by error() with a table"}},
      {"error()", {"t.lua: stopped by error() with a nil"}},
      {"assert(false)", {"t.lua", "assertion failed"}},
      {"local t = nil; t.x = 1", {"t.lua:1:", "index"}},
      {"local s = sphere {}; s.x = 1", {"t.lua:1:", "index"}},
      {"\x1bLua\x54", {"binary"}},
      {"return scene { domain = box { size = {1,1}, cells = {8,8} } }",
       {"neither a fluid nor a body"}},
      {"return scene { domain = box { size = {1,1}, cells = {8,8} }, fluid = sphere {} }",
       {"scene.fluid: found sphere { ... }, allowed: smoke { ... }, water { ... } or"}},
      {"return scene { domain = box { size = {1,1}, cells = {8,8} }, fluid = 'smoke' }",
       {"scene.fluid: found \"smoke\""}},
      {"return scene { domain = {1, 2}, fluid = smoke {} }",
       {"scene.domain: found a list of 2, allowed: box"}},
      {"return scene { domain = smoke {}, fluid = smoke {} }", {"scene.domain: found smoke"}},
  };
  CHECK_BAD(ctx, cases);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_the_domain(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  static const bad_case cases[] = {
      {DOMAIN_OF("cells = {8, 8}"), {"t.lua:2: scene.domain.size: missing"}},
      {DOMAIN_OF("size = {1, 1}"), {"scene.domain.cells: missing"}},
      {DOMAIN_OF("size = {1, 0}, cells = {8, 8}"),
       {"t.lua:2: scene.domain.size[2]: found 0, allowed: ", "> 0 (m)"}},
      {DOMAIN_OF("size = {-1, 1}, cells = {8, 8}"), {"scene.domain.size[1]: found -1"}},
      {DOMAIN_OF("size = {0/0, 1}, cells = {8, 8}"), {"scene.domain.size[1]: found", "nan"}},
      {DOMAIN_OF("size = {1, 1/0}, cells = {8, 8}"), {"scene.domain.size[2]: found inf"}},
      {DOMAIN_OF("size = {'1', 1}, cells = {8, 8}"), {"scene.domain.size[1]: found \"1\""}},
      {DOMAIN_OF("size = {1}, cells = {8, 8}"), {"scene.domain.size: found a list of 1"}},
      {DOMAIN_OF("size = {1, 1, 1, 1}, cells = {8, 8}"), {"found a list of 4"}},
      {DOMAIN_OF("size = 1, cells = {8, 8}"), {"scene.domain.size: found 1, allowed: {x, y}"}},
      {DOMAIN_OF("size = {}, cells = {8, 8}"), {"scene.domain.size: found a table"}},
      {DOMAIN_OF("size = {x = 1, y = 1}, cells = {8, 8}"), {"scene.domain.size", "found the key"}},
      {DOMAIN_OF("size = {1, nil, 1}, cells = {8, 8}"), {"scene.domain.size", "gaps"}},
      {DOMAIN_OF("size = sphere {}, cells = {8, 8}"), {"scene.domain.size: found sphere"}},
      {DOMAIN_OF("size = {1, 1}, cells = {8, 8, 8}"), {"scene.domain.cells: found a list of 3"}},
      {DOMAIN_OF("size = {1, 1}, cells = {8.5, 8}"),
       {"scene.domain.cells[1]: found 8.5, allowed: a whole number from 1"}},
      {DOMAIN_OF("size = {1, 1}, cells = {0, 8}"), {"scene.domain.cells[1]: found 0"}},
      {DOMAIN_OF("size = {1, 1}, cells = {-8, 8}"), {"scene.domain.cells[1]: found -8"}},
      {DOMAIN_OF("size = {1, 1}, cells = {8, 1e300}"), {"scene.domain.cells[2]: found 1e+300"}},
      {DOMAIN_OF("size = {1, 1}, cells = {8, 0/0}"), {"scene.domain.cells[2]"}},
      {DOMAIN_OF("size = {1, 1.5}, cells = {10, 10}"),
       {"t.lua:2: scene.domain.cells: cells must be cubic", "0.1 m", "0.15 m", "cells[2] = 15"}},
      {DOMAIN_OF("size = {1, 1.03}, cells = {10, 10}"), {"size[2] = 1 with cells[2] = 10"}},
      {DOMAIN_OF("size = {1, 1}, cells = {8, 8}, top = 'opn'"),
       {"scene.domain.top: found \"opn\"", "\"slip\", \"noslip\", \"open\""}},
      {DOMAIN_OF("size = {1, 1}, cells = {8, 8}, top = 1"), {"scene.domain.top: found 1", "wall"}},
      {DOMAIN_OF("size = {1, 1}, cells = {8, 8}, top = box {}"), {"scene.domain.top: found box"}},
      {DOMAIN_OF("size = {1, 1}, cells = {8, 8}, front = 'open'"), {"domain.front", "2D"}},
      {DOMAIN_OF("size = {1, 1}, cells = {8, 8},\n\n top = wall { velocity = {0, 1} }"),
       {"scene.domain.top", "across the wall"}},
      {DOMAIN_OF("size = {1, 1}, cells = {8, 8},\n\n top = wall { velocty = {0, 1} }"),
       {"t.lua:4: scene.domain.top.velocty", "did you mean 'velocity'"}},
      {DOMAIN_OF("size = {1, 1}, cells = {8, 8}, top = wall { kind='slip', velocity = {1, 0} }"),
       {"scene.domain.top", "noslip"}},
      {DOMAIN_OF("size = {1, 1}, cells = {8, 8}, lo = {1, 1}"), {"scene.domain.lo: unknown key"}},
      {DOMAIN_OF("size = {1, 1}, cells = {8, 8}, origin = {1, 1, 1}"), {"scene.domain.origin"}},
      {DOMAIN_OF("size = {1e-300, 1e300}, cells = {8, 8}"), {"cubic"}},
  };
  CHECK_BAD(ctx, cases);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_the_fluid(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  static const bad_case cases[] = {
      {FLUID_OF("density = 0"), {"t.lua:3: scene.fluid.density: found 0", "> 0 (kg/m^3)"}},
      {FLUID_OF("density = '1'"), {"scene.fluid.density: found \"1\""}},
      {FLUID_OF("density = {1}"), {"scene.fluid.density: found a list of 1"}},
      {FLUID_OF("denisty = 1"), {"scene.fluid.denisty", "did you mean 'density'"}},
      {FLUID_OF("viscosity = -1"), {"scene.fluid.viscosity: found -1", ">= 0"}},
      {FLUID_OF("gravity = -9.81"), {"scene.fluid.gravity: found -9.81, allowed: {x, y}"}},
      {FLUID_OF("gravity = {0, 0, -9.81}"), {"scene.fluid.gravity: found a list of 3"}},
      {FLUID_OF("advection = 'mac'"), {"scene.fluid.advection: found \"mac\"", "maccormack"}},
      {FLUID_OF("order = 3"), {"scene.fluid.order: found 3", "from 1 to 2"}},
      {FLUID_OF("order = 1.5"), {"scene.fluid.order: found 1.5"}},
      {FLUID_OF("limiter = 1"), {"scene.fluid.limiter: found 1, allowed: true or false"}},
      {FLUID_OF("cfl = 0"), {"scene.fluid.cfl"}},
      {FLUID_OF("pressure_tolerance = 2"), {"scene.fluid.pressure_tolerance: found 2"}},
      {FLUID_OF("initial_water = sphere {}"), {"scene.fluid.initial_water: unknown key"}},
      {FLUID_OF("initial_velocity = 1"), {"scene.fluid.initial_velocity: found 1", "function"}},
      {FLUID_OF("initial_velocity = {1, 2, 3}"), {"scene.fluid.initial_velocity"}},
      {FLUID_OF("initial_velocity = function() return 1 end"),
       {"t.lua:3: scene.fluid.initial_velocity: at (0.5, 0.5, 0)", "nil as value 2",
        "two numbers"}},
      {FLUID_OF("initial_velocity = function() return {1, 'x'} end"), {"string as value 2"}},
      {FLUID_OF("initial_velocity = function() return 0/0, 1 end"), {"nan as value 1"}},
      {FLUID_OF("initial_velocity = function(x) return x.y end"), {"t.lua:3:", "index"}},
      {FLUID_OF("initial_smoke = function() return -1 end"), {"-1 as value 1", "not negative"}},
      {FLUID_OF("initial_smoke = function() while true do end end"),
       {"t.lua:3: stopped after 10000000 instructions: endless loop?"}},
      {FLUID_OF("initial_smoke = function() param('a', 1) return 1 end,"
                "initial_velocity = {1, 2, 3}"),
       {"scene.fluid.initial_velocity"}},
      {FLUID_OF("initial_smoke = 'x'"), {"scene.fluid.initial_smoke: found \"x\"", "a shape"}},
      {FLUID_OF("initial_smoke = cosine(1)"), {"scene.fluid.initial_smoke: found cosine"}},
      {FLUID_OF("initial_smoke = -1"), {"scene.fluid.initial_smoke: found -1"}},
      {FLUID_OF("initial_temperature = sphere {}"), {"scene.fluid.initial_temperature"}},
      {"return scene { domain = box { size = {1,1}, cells = {8,8} }, fluid = water {} }",
       {"scene.fluid.initial_water: missing, but water needs it"}},
      {"return scene { domain = box { size = {1,1}, cells = {8,8} }, fluid = water { smoke = 1 } }",
       {"scene.fluid.smoke: unknown key"}},
  };
  CHECK_BAD(ctx, cases);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_lists_and_shapes(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  static const bad_case cases[] = {
      {SCENE_OF("solids = obstacle { }"), {"t.lua:1: scene.solids: found obstacle", "a list"}},
      {SCENE_OF("solids = { shape = 1 }"), {"scene.solids", "the key 'shape' in a list"}},
      {SCENE_OF("solids = { sphere {} }"), {"scene.solids[1]: found sphere", "obstacle"}},
      {SCENE_OF("solids = { 1 }"), {"scene.solids[1]: found 1"}},
      {SCENE_OF("solids = { [3] = obstacle {} }"), {"scene.solids", "gaps"}},
      {SCENE_OF("solids = {\n\n obstacle { } }"), {"t.lua:6: scene.solids[1].shape: missing"}},
      {SCENE_OF("solids = { motion {} }"), {"scene.solids[1]: found motion"}},
      {SCENE_OF("sources = { inflow { velocity = {1, 0} } }"), {"scene.sources[1].shape: missing"}},
      {SCENE_OF("sources = { inflow { speed = -1 } }"), {"scene.sources[1].speed: found -1"}},
      {SCENE_OF("sources = { emitter { velocity = {1, 1} } }"),
       {"scene.sources[1].velocity: unknown key"}},
      {SCENE_OF("sources = { obstacle {} }"), {"scene.sources[1]: found obstacle"}},
      {SHAPE_OF("1"), {"scene.solids[1].shape: found 1, allowed: a shape: box, sphere"}},
      {SHAPE_OF("{1}"), {"scene.solids[1].shape: found a list of 1"}},
      {SHAPE_OF("cosine(1)"), {"scene.solids[1].shape: found cosine"}},
      {SHAPE_OF("sphere { radius = 1 }"), {"shape.center: missing"}},
      {SHAPE_OF("sphere { center = {0, 0}, radius = 0 }"), {"shape.radius: found 0"}},
      {SHAPE_OF("sphere { center = {0, 0, 0}, radius = 1 }"), {"shape.center: found a list of 3"}},
      {SHAPE_OF("sphere { center = {0, 0}, r = 1 }"), {"shape.r: unknown key"}},
      {SHAPE_OF("box { lo = {0, 0} }"), {"scene.solids[1].shape: allowed: either lo and hi"}},
      {SHAPE_OF("box { lo = {0, 0}, size = {1, 1} }"), {"either lo and hi, or center and size"}},
      {SHAPE_OF("box { lo = {0, 0}, hi = {1, 0} }"), {"lo[2] = 0 and hi[2] = 0"}},
      {SHAPE_OF("box { center = {0, 0}, size = {1, 0} }"), {"shape.size[2]: found 0"}},
      {SHAPE_OF("box { size = {1, 1}, cells = {8, 8} }"), {"shape.cells: unknown key"}},
      {SHAPE_OF("half_space { point = {0, 0}, normal = {0, 0} }"), {"normal", "direction"}},
      {SHAPE_OF("torus { center = {0, 0}, major = 1, minor = 0 }"), {"shape.minor: found 0"}},
      {SHAPE_OF("torus { center = {0, 0}, axis = {0, 0, 1}, major = 1, minor = 0.1 }"),
       {"shape.axis: not allowed in 2D"}},
      {SHAPE_OF("mesh { file = 'x.obj' }"), {"shape: a mesh needs a 3D domain"}},
      {SHAPE_OF("union { }"), {"scene.solids[1].shape: found 0 shapes, allowed: at least 1"}},
      {SHAPE_OF("difference { sphere { center = {0,0}, radius = 1 } }"), {"at least 2"}},
      {SHAPE_OF("union {\n sphere { center = {0,0}, radius = 1 },\n sphere { radius = 2 } }"),
       {"t.lua:6: scene.solids[1].shape[2].center: missing"}},
      {SHAPE_OF("union { 3 }"), {"scene.solids[1].shape[1]: found 3"}},
      {SHAPE_OF("union { parts = 3 }"), {"scene.solids[1].shape", "the key 'parts'"}},
      {SHAPE_OF("transform { angle = 1 }"), {"shape.shape: missing"}},
      {SHAPE_OF("transform { shape = disk { center = {0,0}, radius = 1 }, scale = 0 }"),
       {"shape.scale: found 0"}},
      {SCENE_3D_OF("solids = { obstacle { shape = disk { center = {0,0,0}, radius = 1 } } }"),
       {"scene.solids[1].shape: a disk is flat"}},
      {SCENE_3D_OF("solids = { obstacle { shape = mesh { file = 'no/such.obj' } } }"),
       {"t.lua:4: scene.solids[1].shape", "no/such.obj"}},
      {SCENE_3D_OF("solids = { obstacle { shape = mesh { file = '' } } }"), {"solids[1].shape"}},
      {SCENE_3D_OF("solids = { obstacle { shape = torus { center = {0,0,0}, axis = {0,0,0}, "
                   "major = 1, minor = 0.1 } } }"),
       {"shape.axis: found {0, 0, 0}"}},
      {SCENE_OF("solids = { obstacle { shape = disk { center={0,0}, radius=1 }, motion = {} } }"),
       {"scene.solids[1].motion: found a table, allowed: motion"}},
      {SCENE_OF("solids = { obstacle { shape = disk { center={0,0}, radius=1 },\n"
                "motion = motion { turn = 'x' } } }"),
       {"t.lua:5: scene.solids[1].motion.turn: found \"x\", allowed: a number, cosine"}},
  };
  CHECK_BAD(ctx, cases);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

#define RAMP_OF(ramp)                                                                              \
  SCENE_OF("sources = { inflow { shape = disk { center = {0.5,0.5}, radius = 0.1 },"               \
           " velocity = {1, 0}, ramp = " ramp "} }")

static void test_times_probes_output(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  static const bad_case cases[] = {
      {RAMP_OF("'x'"), {"scene.sources[1].ramp: found \"x\", allowed: a number, cosine"}},
      {RAMP_OF("0/0"), {"scene.sources[1].ramp: found", "nan"}},
      {RAMP_OF("sphere {}"), {"scene.sources[1].ramp: found sphere"}},
      {RAMP_OF("cosine()"), {"cosine: found nothing"}},
      {RAMP_OF("cosine(0)"), {"scene.sources[1].ramp.duration: found 0"}},
      {RAMP_OF("cosine {}"), {"scene.sources[1].ramp.duration: missing"}},
      {RAMP_OF("wave { freq = 1 }"), {"ramp.freq: unknown key, did you mean 'frequency'?"}},
      {RAMP_OF("keys {}"), {"scene.sources[1].ramp: found no keys"}},
      {RAMP_OF("keys { 1 }"), {"scene.sources[1].ramp[1]: found 1"}},
      {RAMP_OF("keys { {0, 1}, {0, 2} }"), {"ramp[2]", "rising times"}},
      {RAMP_OF("keys { {0, 1, 2} }"), {"ramp[1]: found a list of 3"}},
      {RAMP_OF("keys(1)"), {"keys: found number"}},
      {SCENE_OF("probes = { pressure {} }"), {"scene.probes[1].at: missing"}},
      {SCENE_OF("probes = {\n\n pressure { at = {2, 2} } }"),
       {"t.lua:6: scene.probes[1].at", "outside"}},
      {SCENE_OF("probes = { velocity { at = {0.5, 0.5}, axis = 'z' } }"), {"2D: \"x\", \"y\""}},
      {SCENE_OF("probes = { velocity { at = {0.5, 0.5}, axis = 1 } }"),
       {"probes[1].axis: found 1"}},
      {SCENE_OF("probes = { flux { axis = 'x' } }"), {"scene.probes[1].position: missing"}},
      {SCENE_OF("probes = { smoke {} }"), {"scene.probes[1]: found smoke", "smoke_at"}},
      {SCENE_OF("probes = {\n area { of = 'nobody' } }"),
       {"t.lua:5: scene.probes[1].of", "nobody"}},
      {SCENE_OF("probes = { divergence { name = 'a' }, divergence { name = 'a' } }"),
       {"probes[2]"}},
      {SCENE_OF("probes = { temperature_at { at = {0.5, 0.5} } }"), {"temperature"}},
      {SCENE_OF("output = 3"), {"scene.output: found 3"}},
      {SCENE_OF("output = { frame = 3 }"), {"t.lua:1: scene.output.frame", "mean 'frames'"}},
      {SCENE_OF("output = { frames = -3 }"), {"scene.output.frames: found -3"}},
      {SCENE_OF("output = { frames = 3.5 }"), {"scene.output.frames: found 3.5"}},
      {SCENE_OF("output = { every = 0 }"), {"scene.output.every: found 0"}},
      {SCENE_OF("output = { show = 'colour' }"), {"scene.output.show: found \"colour\""}},
      {SCENE_OF("output = { range = {1, 0} }"), {"scene.output.range", "smaller number first"}},
      {SCENE_OF("output = { range = {1} }"), {"scene.output.range: found a list of 1"}},
  };
  CHECK_BAD(ctx, cases);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_parameters(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  static const char *const text =
      "local n = param('n', 8, 'cells')\n"
      "local M, word, on = param('mass', 0.5), param('word', 'a b'), param('on', true, '')\n"
      "assert(math.type(n) == 'integer' or n == 16 or true)\n" SCENE_OF(
          "title = n .. ' ' .. M .. ' ' .. word .. ' ' .. (on and 'on' or 'off')");
  mn_model *model;
  mn_setting good[] = {{"mass", "1e-3"}, {"word", "x = y"}, {"on", "false"}, {"n", "16"}};
  CHECK_OK(ctx, mn_scene_load_text(ctx, "t.lua", "", text, good, 4, &model));
  const mn_model_def *def = mn_model_get(model);
  CHECK(!strcmp(def->title, "16 0.001 x = y off"));
  CHECK(def->param_count == 4);
  CHECK(!strcmp(def->params[1].value, "0.001") && !strcmp(def->params[1].initial, "0.5"));
  CHECK(!strcmp(def->params[0].text, "cells") && !strcmp(def->params[3].value, "false"));
  /* What a model reports sets up the same model again. */
  mn_setting again[4];
  for (int i = 0; i < 4; i++)
    again[i] = (mn_setting){def->params[i].name, def->params[i].value};
  mn_model *twin;
  CHECK_OK(ctx, mn_scene_load_text(ctx, "t.lua", "", text, again, 4, &twin));
  CHECK(!strcmp(mn_model_get(twin)->title, def->title));
  mn_model_destroy(&twin);
  mn_model_destroy(&model);

  static const struct {
    mn_setting setting;
    const char *words;
  } bad[] = {
      {{"n", "abc"}, "parameter n: found \"abc\", allowed: a number (default 8)"},
      {{"n", ""}, "parameter n: found \"\""},
      {{"n", "nan"}, "parameter n: found \"nan\""},
      {{"n", "1e999"}, "parameter n: found"},
      {{"n", "8 9"}, "parameter n: found"},
      {{"on", "yes"}, "parameter on: found \"yes\", allowed: true or false (default true)"},
      {{"mas", "1"}, "unknown parameter mas, did you mean mass?"},
      {{"mas", "1"}, "its parameters: n, mass, word, on"},
      {{"qqqqq", "1"}, "t.lua: unknown parameter qqqqq; its"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    CHECK_FAILS(ctx, mn_scene_load_text(ctx, "t.lua", "", text, &bad[i].setting, 1, &model),
                MN_BAD_INPUT, bad[i].words);
  mn_setting twice[] = {{"n", "8"}, {"n", "9"}};
  CHECK_FAILS(ctx, mn_scene_load_text(ctx, "t.lua", "", text, twice, 2, &model), MN_BAD_INPUT,
              "n is set twice");
  static const bad_case cases[] = {
      {"param('n', 1) param('n', 2)", {"t.lua:1:", "\"n\" is declared twice"}},
      {"param(1, 2)", {"param: found a name of type number"}},
      {"param('a b', 2)", {"param: found the name \"a b\""}},
      {"param('', 2)", {"param: found the name \"\""}},
      {"param('n')", {"param \"n\": found a default of type nil"}},
      {"param('n', {})", {"default of type table"}},
      {"param('n', 0/0)", {"finite"}},
      {"param('n', 1, 2)", {"description of type number"}},
      {"param('n', ('x'):rep(400))", {"400 bytes"}},
      {"for i = 1, 1000 do param('n' .. i, 1) end", {"at most 256 parameters"}},
  };
  CHECK_BAD(ctx, cases);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* param(name, default, text, allowed) */
static void test_what_parameters_allow(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  static const char *const text =
      "local n = param('n', 80, 'cells', { multiple = 40, to = 400 })\n"
      "local M = param('M', 1, 'mass', { above = 0 })\n"
      "local x = param('x', 0.3, '', { from = 0.1, to = 1, multiple = 0.1 })\n"
      "local r = param('r', 'a', 'reading', { 'a', 'b c' })\n"
      "local coupling = param('coupling', 'xpm', 'how', couplings)\n"
      "return scene { domain = box { size = {1, 1}, cells = {n, n} }, fluid = smoke {} }";
  static const struct {
    mn_setting setting;
    const char *words; /* NULL: it is good */
  } cases[] = {
      {{"n", "40"}, NULL},
      {{"n", "400"}, NULL},
      {{"n", "41"},
       "parameter n: found \"41\", allowed: a multiple of 40, at most 400 (default 80)"},
      {{"n", "0"}, "allowed: a multiple of 40"},
      {{"n", "-40"}, "allowed: a multiple of 40"},
      {{"n", "440"}, "allowed: a multiple of 40, at most 400"},
      {{"M", "1e-9"}, NULL},
      {{"M", "0"}, "parameter M: found \"0\", allowed: greater than 0 (default 1)"},
      {{"x", "0.7"}, NULL}, /* not seven times 0.1 to the last bit */
      {{"x", "0.75"}, "allowed: a multiple of 0.1, from 0.1 to 1"},
      {{"x", "1.1"}, "from 0.1 to 1"},
      {{"r", "b c"}, NULL},
      {{"r", "b"}, "parameter r: found \"b\", allowed: a, b c (default a)"},
      {{"coupling", "monolithic"}, NULL},
      {{"coupling", "strong"},
       "allowed: xpm, rmi, aitken, relaxed, weak, simultaneous, monolithic, "
       "auto (default xpm)"},
  };
  mn_model *model;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (cases[i].words)
      CHECK_FAILS(ctx, mn_scene_load_text(ctx, "t.lua", "", text, &cases[i].setting, 1, &model),
                  MN_BAD_INPUT, cases[i].words);
    else {
      CHECK_OK(ctx, mn_scene_load_text(ctx, "t.lua", "", text, &cases[i].setting, 1, &model));
      mn_model_destroy(&model);
    }
  CHECK_OK(ctx, mn_scene_load_text(ctx, "t.lua", "", text, NULL, 0, &model));
  const mn_param *p = mn_model_get(model)->params;
  CHECK(!strcmp(p[0].text, "cells; allowed: a multiple of 40, at most 400"));
  CHECK(!strcmp(p[2].text, "allowed: a multiple of 0.1, from 0.1 to 1"));
  CHECK(!strcmp(p[3].text, "reading; allowed: a, b c"));
  mn_model_destroy(&model);
  static const bad_case bad[] = {
      {"param('n', 1, '', 5)", {"t.lua:1:", "found a number for what is allowed"}},
      {"param('n', 1, '', { 'a' })", {"a list of texts is allowed, but its default is a number"}},
      {"param('n', 'a', '', { from = 1 })", {"a range is allowed, but its default is a string"}},
      {"param('n', 'a', '', { 'a', 2 })", {"found a number among what is allowed"}},
      {"param('n', 1, '', { form = 1 })", {"found form in what is allowed: must be from, above"}},
      {"param('n', 1, '', { [true] = 1 })", {"in what is allowed: must be from"}},
      {"param('n', 1, '', { from = 'a' })", {"from of what is allowed must be a finite number"}},
      {"param('n', 1, '', { multiple = 0 })", {"multiple is 0", "must be greater than 0"}},
      {"param('n', 1, '', { multiple = 2 })", {"its default is not allowed: must be a multiple"}},
      {"param('n', 'c', '', { 'a', 'b' })", {"its default is not allowed: must be a, b"}},
      {"local t = {} for i = 1, 70 do t[i] = 'a' end param('n', 'a', '', t)", {"at most 64"}},
  };
  CHECK_BAD(ctx, bad);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_coupling_and_plugins(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
#define COUPLE_OF(keys) SCENE_OF("coupling = couple {" keys "}")
  static const bad_case cases[] = {
      {SCENE_OF("coupling = 'xpm'"), {"scene.coupling: found \"xpm\", allowed: couple"}},
      {SCENE_OF("coupling = dynamics {}"), {"scene.coupling: found dynamics"}},
      {COUPLE_OF("method = 'relaxd'"), {"scene.coupling.method", "allowed: one of", "\"relaxed\""}},
      {COUPLE_OF("method = 3"), {"scene.coupling.method: found 3"}},
      {COUPLE_OF("tolerance = 0"), {"scene.coupling.tolerance: found 0", "cells"}},
      {COUPLE_OF("tolerance = 0/0"), {"scene.coupling.tolerance"}},
      {COUPLE_OF("max_iterations = 1"), {"scene.coupling.max_iterations: found 1"}},
      {COUPLE_OF("max_iterations = 2.5"), {"a whole number"}},
      {COUPLE_OF("omega = 0"), {"scene.coupling.omega: found 0"}},
      {COUPLE_OF("load = 'force'"), {"scene.coupling.load", "\"impulse\", \"pressure\""}},
      {COUPLE_OF("rigid = 'dofs'"), {"scene.coupling.rigid", "freedoms"}},
      {COUPLE_OF("reuse = -1"), {"scene.coupling.reuse: found -1"}},
      {COUPLE_OF("filter = 1"), {"scene.coupling.filter: found 1"}},
      {COUPLE_OF("predictor = 3"), {"scene.coupling.predictor: found 3"}},
      {COUPLE_OF("mass = 1"), {"scene.coupling.mass: found 1"}},
      {COUPLE_OF("frozen = 1"), {"scene.coupling.frozen: found 1"}},
      {COUPLE_OF("kernel_radius = 0.5"), {"scene.coupling.kernel_radius: found 0.5"}},
      {COUPLE_OF("spacing = 2"), {"scene.coupling.spacing: found 2"}},
      {COUPLE_OF("tolerence = 1"), {"did you mean 'tolerance'"}},
      {COUPLE_OF("omega = 0.2"),
       {"scene.coupling.omega: has no effect", "\"xpm\"", "used by aitken and relaxed only"}},
      {COUPLE_OF("method = 'rmi', omega = 0.1"), {"coupling.omega: has no effect", "\"rmi\""}},
      {COUPLE_OF("method = 'auto', mass = 'none'"), {"coupling.mass: has no effect", "\"auto\""}},
      {COUPLE_OF("method = 'auto', published = true"), {"coupling.published: has no effect"}},
      {COUPLE_OF("method = 'weak', tolerance = 0.05"), {"coupling.tolerance: has no effect"}},
      {COUPLE_OF("method = 'weak', max_iterations = 9"), {"max_iterations: has no effect"}},
      {COUPLE_OF("method = 'weak', mass = 'none'"), {"coupling.mass: has no effect"}},
      {COUPLE_OF("method = 'weak', frozen = true"), {"coupling.frozen: has no effect"}},
      {COUPLE_OF("method = 'weak', rigid = 'points'"), {"coupling.rigid: has no effect"}},
      {COUPLE_OF("method = 'aitken', reuse = 4"), {"coupling.reuse: has no effect", "xpm and rmi"}},
      {COUPLE_OF("method = 'relaxed', filter = 0.1"), {"coupling.filter: has no effect"}},
      {COUPLE_OF("reuse = 0, filter = 0.1"), {"coupling.filter: has no effect", "reuse is 0"}},
      {SCENE_OF("solids = { plugin {} }"), {"scene.solids[1].file: missing"}},
      {SCENE_OF("solids = { plugin { file = '' } }"), {"an empty name"}},
      {SCENE_OF("solids = { plugin { file = 3 } }"), {"scene.solids[1].file: found 3"}},
      {SCENE_OF("solids = { plugin { file = 'a' }, plugin { file = 'b' } }"), {"a second plug-in"}},
      {SCENE_OF("solids = { plugin { file = 'a', numbers = 3 } }"), {"numbers: found 3"}},
      {SCENE_OF("solids = { plugin { file = 'a', numbers = { 3 } } }"), {"without a name"}},
      {SCENE_OF("solids = { plugin { file = 'a', numbers = { m = 1/0 } } }"), {"numbers.m: found"}},
      {"return scene { domain = box { size = {1, 1}, cells = {8, 8} }, fluid = plugin { file = 'a' "
       "} }",
       {"fluid", "bodies to be coupled to"}},
  };
  CHECK_BAD(ctx, cases);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_these_checks_can_fail(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  static const bad_case good_scene = {SCENE_OF(""), {"scene"}};
  static const bad_case other_words = {SCENE_OF("titel = 1"), {"did you mean 'reproduces'"}};
  check_bad(ctx, &good_scene);
  CHECK_MUST_HAVE_FAILED();
  check_bad(ctx, &other_words);
  CHECK_MUST_HAVE_FAILED();
  mn_context_destroy(&ctx);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_whole),
      cmocka_unit_test(test_the_domain),
      cmocka_unit_test(test_the_fluid),
      cmocka_unit_test(test_lists_and_shapes),
      cmocka_unit_test(test_times_probes_output),
      cmocka_unit_test(test_parameters),
      cmocka_unit_test(test_what_parameters_allow),
      cmocka_unit_test(test_coupling_and_plugins),
      cmocka_unit_test(test_these_checks_can_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
