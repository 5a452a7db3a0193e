/* .npy files: round trip, the exact bytes that NumPy writes, and damaged files. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "world/npy.h"
#include "world/world.h"

static char path[128];

static int make_folder(void **state)
{
  int failed = check_folder_make(state);
  snprintf(path, sizeof path, "%s/a.npy", check_folder);
  return failed;
}

static void test_round_trip(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  double numbers[24] = {0.1, -0.0, INFINITY, NAN, 0x1p-1074};
  int64_t counts[24] = {INT64_MIN, -1, INT64_MAX};
  uint8_t bytes[24] = {255, 1};
  void *const data[] = {numbers, counts, bytes};
  const size_t shapes[][4] = {{0}, {24}, {4, 6}, {2, 3, 4}, {2, 1, 3, 4}};
  for (int type = MN_F64; type <= MN_U8; type++)
    for (int rank = 0; rank <= 4; rank++) {
      mn_array a = {.type = (mn_array_type)type, .rank = rank, .data = data[type]};
      memcpy(a.shape, shapes[rank], sizeof a.shape);
      unsigned char back[200];
      memset(back, 77, sizeof back);
      CHECK_OK(ctx, mn_npy_write(ctx, path, &a));
      CHECK_OK(ctx, mn_npy_read(ctx, path, &a, back));
      CHECK(!memcmp(back, a.data, mn_array_bytes(&a)));
      CHECK(back[mn_array_bytes(&a)] == 77);
    }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* What numpy.save(f, numpy.array([[1., 2., 3.], [4., 5., 6.]])) writes (NumPy 1.24). */
static void test_bytes_are_those_of_numpy(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  double v[6] = {1, 2, 3, 4, 5, 6};
  mn_array a = {.type = MN_F64, .rank = 2, .shape = {2, 3}, .data = v};
  char expected[128 + sizeof v], *text;
  size_t bytes;
  int used = snprintf(expected, sizeof expected, "%s",
                      "\x93NUMPY\x01_v_{'descr': '<f8', 'fortran_order': False, "
                      "'shape': (2, 3), }");
  expected[7] = expected[9] = 0;
  memset(expected + used, ' ', (size_t)(127 - used));
  expected[127] = '\n';
  memcpy(expected + 128, v, sizeof v);
  CHECK_OK(ctx, mn_npy_write(ctx, path, &a));
  CHECK_OK(ctx, mn_read_file(ctx, path, 1000, &text, &bytes));
  CHECK(bytes == sizeof expected && !memcmp(text, expected, bytes));
  mn_free(text);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

static void rewrite(mn_context *ctx, const char *text, size_t bytes)
{
  CHECK_OK(ctx, mn_write_file(ctx, path, text, bytes));
}

static void test_damaged_files_are_refused(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  double v[6] = {1, 2, 3, 4, 5, 6}, back[6];
  mn_array a = {.type = MN_F64, .rank = 2, .shape = {2, 3}, .data = v}, b = a;
  char *text;
  size_t bytes;
  CHECK_OK(ctx, mn_npy_write(ctx, path, &a));
  b.shape[1] = 4;
  CHECK_FAILS(ctx, mn_npy_read(ctx, path, &b, back), MN_BAD_INPUT, "float64 (2, 4) is needed");
  b = a;
  b.rank = 1;
  CHECK_FAILS(ctx, mn_npy_read(ctx, path, &b, back), MN_BAD_INPUT, "is needed");
  b = a;
  b.type = MN_I64;
  CHECK_FAILS(ctx, mn_npy_read(ctx, path, &b, back), MN_BAD_INPUT, "int64 (2, 3) is needed");
  CHECK_OK(ctx, mn_read_file(ctx, path, 1000, &text, &bytes));
  const size_t cuts[] = {0, 5, 9, 60, 128, bytes - 1};
  for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
    rewrite(ctx, text, cuts[i]);
    CHECK_FAILS(ctx, mn_npy_read(ctx, path, &a, back), MN_BAD_INPUT, "truncated");
  }
  text[0] = 'x';
  rewrite(ctx, text, bytes);
  CHECK_FAILS(ctx, mn_npy_read(ctx, path, &a, back), MN_BAD_INPUT, "no .npy file");
  text[0] = '\x93';
  memcpy(strstr(text + 10, "False"), "True ", 5);
  rewrite(ctx, text, bytes);
  CHECK_FAILS(ctx, mn_npy_read(ctx, path, &a, back), MN_BAD_INPUT, "is needed");
  unlink(path);
  CHECK_FAILS(ctx, mn_npy_read(ctx, path, &a, back), MN_BAD_INPUT, "cannot read");
  mn_free(text);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_trip),
      cmocka_unit_test(test_bytes_are_those_of_numpy),
      cmocka_unit_test(test_damaged_files_are_refused),
  };
  return cmocka_run_group_tests(tests, make_folder, check_folder_remove);
}
