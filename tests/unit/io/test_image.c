/* Pictures: PNG read back by libpng, base64 against known answers, drawing within bounds. */
#include "check.h"

#include <math.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "io/image.h"
#include "unit/io/folder.h"

static void test_png_is_read_back_by_libpng(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  folder f;
  folder_make(&f);
  mn_image image;
  CHECK_OK(ctx, mn_image_create(ctx, 37, 23, mn_rgb_hex(0x102030), &image));
  uint64_t seed = 7;
  for (int i = 0; i < 3 * 37 * 23; i++)
    image.data[i] = (uint8_t)(256 * check_random(&seed));
  const char *path = folder_file(&f, "a.png");
  CHECK_OK(ctx, mn_image_write(ctx, &image, path));
  png_image head = {.version = PNG_IMAGE_VERSION};
  assert_true(png_image_begin_read_from_file(&head, path));
  CHECK(head.width == 37 && head.height == 23);
  head.format = PNG_FORMAT_RGB;
  uint8_t *back = malloc(PNG_IMAGE_SIZE(head));
  assert_true(png_image_finish_read(&head, NULL, back, 0, NULL));
  CHECK(memcmp(back, image.data, 3 * 37 * 23) == 0);
  CHECK_DONE();
  image.data[100] ^= 1; /* negative control */
  CHECK(memcmp(back, image.data, 3 * 37 * 23) == 0);
  CHECK_MUST_HAVE_FAILED();
  CHECK(access(folder_file(&f, "a.png.part"), F_OK) != 0);
  free(back);
  mn_image_destroy(&image);
  folder_remove(ctx, &f);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* The test vectors of RFC 4648, section 10, and every byte. */
static void test_base64(void **state)
{
  (void)state;
  const char *cases[][2] = {{"", ""},
                            {"f", "Zg=="},
                            {"fo", "Zm8="},
                            {"foo", "Zm9v"},
                            {"foob", "Zm9vYg=="},
                            {"fooba", "Zm9vYmE="},
                            {"foobar", "Zm9vYmFy"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    mn_text text = {0};
    mn_base64(&text, cases[i][0], strlen(cases[i][0]));
    CHECK(strcmp(text.data ? text.data : "", cases[i][1]) == 0);
    mn_text_free(&text);
  }
  uint8_t bytes[2000];
  for (int i = 0; i < 2000; i++)
    bytes[i] = (uint8_t)(i * 7);
  mn_text text = {0};
  mn_base64(&text, bytes, sizeof bytes);
  CHECK(text.size == 4 * ((sizeof bytes + 2) / 3));
  const char *digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  int same = 1;
  for (size_t i = 0; i + 2 < sizeof bytes; i += 3) {
    uint32_t word = 0;
    for (int c = 0; c < 4; c++)
      word = word << 6 | (uint32_t)(strchr(digits, text.data[i / 3 * 4 + (size_t)c]) - digits);
    same = same && word == ((uint32_t)bytes[i] << 16 | (uint32_t)bytes[i + 1] << 8 | bytes[i + 2]);
  }
  CHECK(same);
  mn_text_free(&text);
  CHECK_DONE();
}

static double ink(const mn_image *image)
{
  double sum = 0;
  for (int j = 0; j < image->height; j++)
    for (int i = 0; i < image->width; i++)
      sum += mn_image_get(image, i, j).r;
  return sum;
}

/* The sum of coverages is the area of what was drawn. */
static void test_drawing_covers_its_area(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_image image;
  CHECK_OK(ctx, mn_image_create(ctx, 100, 100, mn_rgb_hex(0), &image));
  const double triangle[] = {10.2, 10.7, 90.3, 20.1, 40.5, 80.9};
  mn_image_polygon(&image, triangle, 3, mn_rgb_hex(0xffffff), 1);
  double area = 0.5 * fabs((90.3 - 10.2) * (80.9 - 10.7) - (40.5 - 10.2) * (20.1 - 10.7));
  CHECK_NEAR(ink(&image), area, 0.005 * area);
  mn_image_rectangle(&image, 0, 0, 100, 100, mn_rgb_hex(0), 1);
  mn_image_line(&image, 10.3, 20.2, 85.1, 66.6, 3, mn_rgb_hex(0xffffff), 1);
  double line = 3 * hypot(85.1 - 10.3, 66.6 - 20.2) + 0.25 * 3.14159265 * 9;
  CHECK_NEAR(ink(&image), line, 0.03 * line);
  mn_image_rectangle(&image, 0, 0, 100, 100, mn_rgb_hex(0), 1);
  mn_image_text(&image, 10, 60, 20, mn_rgb_hex(0xffffff), "Ag8");
  CHECK_GE(ink(&image), 100);
  CHECK_NEAR(mn_image_text_width(20, "AgAg"), 2 * mn_image_text_width(20, "Ag"), 1e-9);
  mn_image_destroy(&image);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Memory beyond the picture stays untouched (seen by the address sanitizer too). */
static void test_drawing_stays_inside(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_image image;
  CHECK_OK(ctx, mn_image_create(ctx, 8, 8, mn_rgb_hex(0), &image));
  const double big[] = {-1e4, -50, 1e4, -50, 1e4, 50, -1e4, 50};
  mn_image_polygon(&image, big, 4, mn_rgb_hex(0xffffff), 0.5);
  mn_image_line(&image, -1e4, 3, 1e4, 4, 2, mn_rgb_hex(0xffffff), 1);
  mn_image_rectangle(&image, -3, -3, 100, 5, mn_rgb_hex(0xff0000), 1);
  char all[128];
  for (int c = 1; c < 128; c++)
    all[c - 1] = (char)c;
  all[127] = 0;
  mn_image_text(&image, -20, 4, 30, mn_rgb_hex(0xffffff), all);
  mn_image_text(&image, 0, 4, 10, mn_rgb_hex(0xffffff), "\xff\x80");
  CHECK(mn_image_get(&image, 0, 0).r > 0.9);
  mn_image_destroy(&image);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Perceived lightness grows along the sequential maps; the diverging one is lightest in its middle,
   and equally dark at both ends. */
static double lightness(mn_rgb c)
{
  return 0.2126 * pow(c.r, 2.2) + 0.7152 * pow(c.g, 2.2) + 0.0722 * pow(c.b, 2.2);
}

static void test_colour_maps(void **state)
{
  (void)state;
  const mn_map sequential[] = {MN_MAP_SMOKE, MN_MAP_HEAT, MN_MAP_SPEED};
  for (int m = 0; m < 3; m++)
    for (int i = 1; i <= 50; i++)
      CHECK(lightness(mn_map_colour(sequential[m], i / 50.0)) >
            lightness(mn_map_colour(sequential[m], (i - 1) / 50.0)));
  for (int i = 1; i <= 25; i++) {
    CHECK(lightness(mn_map_colour(MN_MAP_DIVERGE, 0.5 + i / 50.0)) <
          lightness(mn_map_colour(MN_MAP_DIVERGE, 0.5 + (i - 1) / 50.0)));
    CHECK(lightness(mn_map_colour(MN_MAP_DIVERGE, 0.5 - i / 50.0)) <
          lightness(mn_map_colour(MN_MAP_DIVERGE, 0.5 - (i - 1) / 50.0)));
  }
  CHECK_NEAR(lightness(mn_map_colour(MN_MAP_DIVERGE, 0)),
             lightness(mn_map_colour(MN_MAP_DIVERGE, 1)), 0.03);
  CHECK(mn_map_colour(MN_MAP_HEAT, -5).r == mn_map_colour(MN_MAP_HEAT, 0).r);
  CHECK(mn_map_colour(MN_MAP_HEAT, NAN).r == mn_map_colour(MN_MAP_HEAT, 0).r);
  CHECK(mn_map_colour(MN_MAP_HEAT, 7).r == mn_map_colour(MN_MAP_HEAT, 1).r);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_png_is_read_back_by_libpng),
      cmocka_unit_test(test_base64),
      cmocka_unit_test(test_drawing_covers_its_area),
      cmocka_unit_test(test_drawing_stays_inside),
      cmocka_unit_test(test_colour_maps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
