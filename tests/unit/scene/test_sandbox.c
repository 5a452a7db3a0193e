/* Text that nobody has checked: no way out, every limit holds. */
#include "scene_check.h"

#include <stdlib.h>

static void test_no_way_out(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  static const char *const names[] = {
      "io",    "os",           "package",      "require", "dofile",         "loadfile", "load",
      "debug", "coroutine",    "pcall",        "xpcall",  "collectgarbage", "rawset",   "rawget",
      "next",  "setmetatable", "getmetatable", "_G",      "loadstring"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char text[128];
    snprintf(text, sizeof text, "\nlocal x = %s", names[i]);
    mn_model *model;
    mn_status status = mn_scene_load_text(ctx, "t.lua", "", text, NULL, 0, &model);
    CHECK(status == MN_BAD_INPUT && strstr(mn_context_message(ctx), "t.lua:2: "));
    CHECK(strstr(mn_context_message(ctx), names[i]) != NULL);
  }
  static const bad_case cases[] = {
      {"return string.dump(print)", {"call"}},   {"return ('x'):dump()", {"call"}},
      {"return ('x').dump()", {"call"}},         {"return string.find('a', 'b')", {"call"}},
      {"return ('x'):gsub('x', 'y')", {"call"}}, {"return table.move({}, 1, 2, 3)", {"call"}},
      {"_ENV = {}; return scene {}", {"call"}},  {"local _ENV <const> = { }; x = y.z", {"index"}},
      {"goto l; do ::l:: end", {"t.lua:1"}},
  };
  CHECK_BAD(ctx, cases);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_limits(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  static const bad_case cases[] = {
      {"local x\n\nwhile true do end", {"t.lua:3: stopped after 50000000 instructions: endless"}},
      {"::a:: goto a", {"stopped after"}},
      {"for i = 1, math.huge do local t = {i} end", {"stopped after"}},
      {"local function f() return f() end f()", {"stopped after"}},
      {"local function f() f() end f()", {"stack overflow"}},
      {"local function f(a) return 1 + f(a .. a) end f('x')", {"16 kB"}},
      {"local t = {} for i = 1, 1e9 do t[i] = {i, i, i} end", {"more than 256 MB"}},
      {"local s = 'x' while true do s = s .. s end", {"16 kB"}},
      {"return ('x'):rep(1e9)", {"t.lua:1: string.rep"}},
      {"return (''):rep(1e18)", {"t.lua:1: string.rep"}},
      {"return ('x'):rep(math.maxinteger, 'yy')", {"string.rep"}},
      {"return table.concat({'x', 'y'}, ('-'):rep(16000), 1, 2):rep(3)", {"16 kB"}},
      {"return table.unpack({}, 1, 1e8)", {"too many results"}},
      {"return table.concat({}, '', 1, 1e15)", {"invalid value"}},
      {"local t = {} for i = 1, 1e5 do t[i] = i end\n"
       "while true do table.insert(t, 1, 0) table.remove(t, 1) end",
       {"t.lua:2: stopped after"}},
      {"local t = {} for i = 1, 1e5 do t[i] = -i end while true do table.sort(t) end",
       {"stopped after"}},
      {"while true do local t = table.pack(table.unpack({}, 1, 100000)) end", {"stopped after"}},
      {"local s = ('x'):rep(15000) while true do local t = s .. 'y' end", {"stopped after"}},
      {"local t = {} for i = 1, 1e5 do t[i] = i end while true do for k in pairs(t) do break end "
       "end",
       {"stopped after"}},
      {"table.sort({3, 1, 2, 5, 4}, function() while true do end end)", {"stopped after"}},
      {"table.sort({3, 1, 2, 5, 4}, function() return true end) error('done')", {"t.lua:1"}},
      {"math.random(0)", {"empty"}},
      {"math.random(1, math.maxinteger)", {"too large"}},
      {"for k in pairs({[{}] = 1}) do end", {"pairs: found a table as key"}},
      {"pairs(1)", {"table expected"}},
  };
  CHECK_BAD(ctx, cases);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_nesting(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  static const bad_case cases[] = {
      /* a shape that holds itself */
      {"local t = {} local u = union(t) t[1] = u\n" SHAPE_OF("u"), {"nested more than"}},
      {"local s = disk { center = {0,0}, radius = 1 }\n"
       "for i = 1, 1e5 do s = union { s } end\n" SHAPE_OF("s"),
       {"nested more than"}},
      {"local t = {} t.shape = transform(t)\n" SHAPE_OF("t.shape"), {"nested more than"}},
      /* 2^60 shapes in 60 lines */
      {"local s = disk { center = {0,0}, radius = 1 }\n"
       "for i = 1, 60 do s = union { s, s } end\n" SHAPE_OF("s"),
       {"more than 100000 shapes"}},
      {"local p = {} for i = 1, 20000 do p[i] = divergence {} end\n" SCENE_OF("probes = p"),
       {"scene.probes: found 20000 entries"}},
      {"local p = {} for i = 1, 65 do p[i] = {i, i} end\n" SCENE_OF(
           "sources = { inflow { shape = disk { center = {0,0}, radius = 1 }, velocity = {1, 1},"
           "ramp = keys(p) } }"),
       {"ramp: found 65 entries, allowed: at most 64"}},
  };
  CHECK_BAD(ctx, cases);
  /* the same in the syntax itself */
  enum { DEEP = 100000 };
  char *text = malloc(2 * DEEP + 64);
  assert_non_null(text);
  for (int kind = 0; kind < 3; kind++) {
    memset(text, kind == 0 ? '(' : kind == 1 ? '{' : '~', DEEP);
    memcpy(text, "return ", 7);
    text[DEEP] = 0;
    bad_case bad = {text, {"t.lua", "overflow"}};
    check_bad(ctx, &bad);
  }
  char *huge = malloc((5u << 20) + 1);
  assert_non_null(huge);
  memset(huge, ' ', 5u << 20);
  huge[5u << 20] = 0;
  bad_case bad = {huge, {"t.lua: 5242880 bytes, allowed: at most"}};
  check_bad(ctx, &bad);
  free(huge);
  free(text);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* The same text gives the same values in every run and every state. */
static void test_repeatable(void **state)
{
  (void)state;
  static const char *const text =
      "local t, names = {}, {}\n"
      "for i = 1, 40 do t['k' .. math.random(1000)] = math.random() end\n"
      "for k, v in pairs(t) do names[#names + 1] = k end\n"
      "for i = 2, #names do assert(names[i - 1] < names[i]) end\n"
      "math.randomseed(5) local a = math.random(10) math.randomseed(5)\n"
      "assert(a == math.random(10))\n"
      "for i = 1, 1000 do local r = math.random(3, 5) assert(r >= 3 and r <= 5) end\n"
      "local mixed = {} for k, v in pairs { 10, 20, b = 2, a = 1, [0.5] = 3 } do\n"
      "mixed[#mixed + 1] = tostring(k) end\n"
      "assert(table.concat(mixed, ' ') == '0.5 1 2 a b')\n"
      "assert(tostring({}) == 'table' and tostring(print) == 'function')\n"
      "assert(utf8.len('abc') == 3 and ('abc'):upper() == 'ABC' and ('%d'):format(3) == '3')\n"
      "assert(select('#', 1, 2) == 2 and tonumber('0x10') == 16 and type(nil) == 'nil')\n" SCENE_OF(
          "title = table.concat(names, '')");
  char title[2][MN_TEXT_MAX];
  for (int i = 0; i < 2; i++) {
    mn_context *ctx = check_context(1);
    mn_model *model;
    CHECK_OK(ctx, mn_scene_load_text(ctx, "t.lua", "", text, NULL, 0, &model));
    strcpy(title[i], mn_model_get(model)->title);
    mn_model_destroy(&model);
    mn_context_destroy(&ctx);
  }
  CHECK(!strcmp(title[0], title[1]) && strlen(title[0]) > 100);
  CHECK_DONE();
}

static void keep_log(void *user, mn_log_level level, const char *text)
{
  if (level == MN_LOG_INFO)
    snprintf(user, 64, "%s", text);
}

static void test_print_and_interrupt(void **state)
{
  (void)state;
  char line[64] = "";
  volatile int interrupted = 0;
  mn_context_def def = mn_context_def_default();
  def.log = keep_log;
  def.log_user = line;
  def.interrupted = &interrupted;
  mn_context *ctx;
  assert_int_equal(mn_context_create(&def, &ctx), MN_OK);
  mn_model *model;
  CHECK_OK(ctx, mn_scene_load_text(ctx, "t.lua", "", "print(1, 'a', nil, {})\n" SCENE_OF(""), NULL,
                                   0, &model));
  CHECK(!strcmp(line, "1 a nil table"));
  mn_model_destroy(&model);
  interrupted = 1;
  CHECK_FAILS(ctx, mn_scene_load_text(ctx, "t.lua", "", "while true do end", NULL, 0, &model),
              MN_INTERRUPTED, "interrupted");
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_no_way_out),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_nesting),
      cmocka_unit_test(test_repeatable),
      cmocka_unit_test(test_print_and_interrupt),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
