/* Checkpoints: a round trip has the same hash; whatever is wrong with one, the world stays as it
   was; a failed write leaves nothing under the final name. */
#include "check.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "world/checkpoint.h"

static char path[128];

static int make_folder(void **state)
{
  int failed = check_folder_make(state);
  snprintf(path, sizeof path, "%s/one", check_folder);
  return failed;
}

/* A vortex in a closed box, n x n cells. */
static mn_status swirl(void *user, mn_vec3 x, mn_vec3 *u)
{
  (void)user;
  *u = (mn_vec3){{x.y - 0.5, 0.5 - x.x, 0}};
  return MN_OK;
}

typedef struct pair {
  mn_model *model;
  mn_world *world;
} pair;

static pair make_world(mn_context *ctx, const char *name, int n)
{
  pair p;
  mn_model_def def = mn_model_def_default();
  strcpy(def.name, name);
  def.domain.size = (mn_vec3){{1, 1, 0}};
  def.domain.cells[0] = def.domain.cells[1] = n;
  def.domain.cells[2] = 1;
  def.fluid.initial_velocity.eval = swirl;
  def.output.every = 0.1;
  CHECK_OK(ctx, mn_model_create(ctx, &def, &p.model));
  CHECK_OK(ctx, mn_world_create(ctx, p.model, &p.world));
  return p;
}

static void drop_world(pair *p)
{
  mn_world_destroy(&p->world);
  mn_model_destroy(&p->model);
}

static void advance(mn_context *ctx, mn_world *world, int steps)
{
  mn_step_info info;
  for (int i = 0; i < steps; i++)
    CHECK_OK(ctx, mn_world_step(world, 10, &info));
}

static void test_round_trip_continues_with_the_same_bits(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  pair a = make_world(ctx, "swirl", 16), b = make_world(ctx, "swirl", 16);
  advance(ctx, a.world, 3);
  CHECK(mn_world_hash(a.world) != mn_world_hash(b.world));
  CHECK_OK(ctx, mn_checkpoint_write(a.world, path, "{\"k\": [1, 2]}"));
  char *note;
  CHECK_OK(ctx, mn_checkpoint_read(b.world, path, &note));
  CHECK(note && !strcmp(note, "{\"k\":[1,2]}"));
  mn_free(note);
  CHECK(mn_world_hash(a.world) == mn_world_hash(b.world));
  CHECK(mn_world_steps(b.world) == 3 && mn_world_time(b.world) == mn_world_time(a.world));
  advance(ctx, a.world, 3);
  advance(ctx, b.world, 3);
  CHECK(mn_world_hash(a.world) == mn_world_hash(b.world));
  CHECK_OK(ctx, mn_world_save(a.world, path)); /* replaces the earlier one */
  CHECK_OK(ctx, mn_world_load(b.world, path));
  CHECK(mn_world_steps(b.world) == 6);
  drop_world(&a);
  drop_world(&b);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Replaces the first `from` in a file of the checkpoint by `to`, of the same length. */
static void damage(mn_context *ctx, const char *file, const char *from, const char *to)
{
  char name[256], *text, *at;
  size_t bytes;
  snprintf(name, sizeof name, "%s/%s", path, file);
  CHECK_OK(ctx, mn_read_file(ctx, name, 1 << 24, &text, &bytes));
  at = from ? strstr(text, from) : text + bytes - 1;
  CHECK(at != NULL);
  if (at && from)
    memcpy(at, to, strlen(to));
  else if (at)
    *at ^= 1;
  CHECK_OK(ctx, mn_write_file(ctx, name, text, bytes));
  mn_free(text);
}

static void cut(mn_context *ctx, const char *file, long bytes)
{
  char name[256];
  snprintf(name, sizeof name, "%s/%s", path, file);
  CHECK(truncate(name, bytes) == 0);
  (void)ctx;
}

static void test_damage_is_told_and_changes_nothing(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  pair a = make_world(ctx, "swirl", 16), b = make_world(ctx, "swirl", 16);
  advance(ctx, a.world, 2);
  advance(ctx, b.world, 1);
  uint64_t before = mn_world_hash(b.world);
  mn_array arrays[MN_ARRAYS_MAX];
  int count = mn_world_arrays(a.world, arrays);
  char last[80];
  snprintf(last, sizeof last, "%s.npy", arrays[count - 1].name); /* all others were read by then */

#define REFUSED(words)                                                                             \
  CHECK_FAILS(ctx, mn_world_load(b.world, path), MN_BAD_INPUT, words);                             \
  CHECK(mn_world_hash(b.world) == before);                                                         \
  CHECK_OK(ctx, mn_world_save(a.world, path));

  CHECK_OK(ctx, mn_world_save(a.world, path));
  damage(ctx, last, NULL, NULL);
  REFUSED("does not match its checksum");
  cut(ctx, last, 130);
  REFUSED("truncated");
  cut(ctx, "manifest.json", 200);
  REFUSED("manifest.json cannot be read");
  damage(ctx, "manifest.json", "\"step\":\t2", "\"step\":\t7");
  REFUSED("hash of the state");
  damage(ctx, "manifest.json", "\"format\":\t1", "\"format\":\t9");
  REFUSED("newer version");
  damage(ctx, "manifest.json", "\"scene\":\t\"swirl", "\"scene\":\t\"twirl");
  REFUSED("is of the scene \"twirl\", not of \"swirl\"");
  char name[256];
  snprintf(name, sizeof name, "%s/%s", path, last);
  unlink(name);
  REFUSED("cannot read");
  CHECK_OK(ctx, mn_world_load(b.world, path)); /* the control: whole again */
  CHECK(mn_world_hash(b.world) == mn_world_hash(a.world));

  pair c = make_world(ctx, "swirl", 20);
  before = mn_world_hash(c.world);
  CHECK_FAILS(ctx, mn_world_load(c.world, path), MN_BAD_INPUT, "another resolution");
  CHECK(mn_world_hash(c.world) == before);
  CHECK_FAILS(ctx, mn_world_load(c.world, check_folder), MN_BAD_INPUT, "is not a checkpoint");
  drop_world(&a);
  drop_world(&b);
  drop_world(&c);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void test_failed_write_leaves_the_earlier_one(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  pair a = make_world(ctx, "swirl", 64), b = make_world(ctx, "swirl", 64);
  advance(ctx, a.world, 1);
  uint64_t first = mn_world_hash(a.world);
  CHECK_OK(ctx, mn_world_save(a.world, path));
  advance(ctx, a.world, 1);
  struct rlimit old, small;
  CHECK(!getrlimit(RLIMIT_FSIZE, &old));
  small = old;
  small.rlim_cur = 4096; /* like a full disk: a 64 x 64 field does not fit */
  signal(SIGXFSZ, SIG_IGN);
  CHECK(!setrlimit(RLIMIT_FSIZE, &small));
  mn_status status = mn_world_save(a.world, path);
  char fresh[160], part[170];
  snprintf(fresh, sizeof fresh, "%s/fresh", check_folder);
  mn_status again = mn_world_save(a.world, fresh);
  CHECK(!setrlimit(RLIMIT_FSIZE, &old));
  CHECK(status == MN_ENVIRONMENT && again == MN_ENVIRONMENT);
  CHECK(strstr(mn_context_message(ctx), "cannot write") != NULL);
  CHECK(access(fresh, F_OK));
  snprintf(part, sizeof part, "%s.part", fresh);
  CHECK(access(part, F_OK));
  CHECK_OK(ctx, mn_world_load(b.world, path));
  CHECK(mn_world_hash(b.world) == first);
  CHECK_FAILS(ctx, mn_world_save(a.world, check_folder), MN_BAD_INPUT, "is not a checkpoint");
  drop_world(&a);
  drop_world(&b);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_trip_continues_with_the_same_bits),
      cmocka_unit_test(test_damage_is_told_and_changes_nothing),
      cmocka_unit_test(test_failed_write_leaves_the_earlier_one),
  };
  return cmocka_run_group_tests(tests, make_folder, check_folder_remove);
}
