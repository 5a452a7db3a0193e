/* Previews: every field in 2D and 3D, the same bytes for any number of threads, the right colour in
   the right place, awkward shapes and values. */
#include "check.h"

#include <string.h>

#include "io/preview.h"
#include "unit/io/folder.h"
#include "unit/io/synthetic.h"

static const char *const SHOWS[] = {"smoke",     "temperature", "speed",
                                    "vorticity", "pressure",    "water"};

static void draw(int threads, int dim, const char *show, mn_image *image)
{
  mn_context *ctx = check_context(threads);
  synthetic s;
  synthetic_make(ctx, dim, (int[]){24, 30, 20}, 1.0 / 24, mn_v3(0, 0, 0), !strcmp(show, "water"),
                 &s);
  mn_model_def def = {.fluid = {.ambient = 293}};
  strcpy(def.output.show, show);
  CHECK_OK(ctx, mn_preview_draw(ctx, &s.view, NULL, 0, &def, 0.5, image));
  synthetic_free(&s);
  mn_context_destroy(&ctx);
}

static void test_same_picture_for_any_number_of_threads(void **state)
{
  (void)state;
  for (int dim = 2; dim <= 3; dim++)
    for (int i = 0; i < 6; i += dim == 3 ? 5 : 1) { /* in 3D smoke and water: they take longer */
      mn_image one, three;
      draw(1, dim, SHOWS[i], &one);
      draw(3, dim, SHOWS[i], &three);
      size_t bytes = 3 * (size_t)one.width * (size_t)one.height;
      CHECK(one.width == three.width && one.height == three.height);
      CHECK(memcmp(one.data, three.data, bytes) == 0);
      CHECK_LE(one.width, 760);
      CHECK_LE(one.height, 760);
      CHECK_GE(one.width > one.height ? one.width : one.height, 600);
      mn_image_destroy(&one);
      mn_image_destroy(&three);
    }
  CHECK_DONE();
}

static double distance(mn_rgb a, mn_rgb b)
{
  return fmax(fabs(a.r - b.r), fmax(fabs(a.g - b.g), fabs(a.b - b.b)));
}

/* The pixel of the point (x, y) of the unit square; a border of 14 px around 640. */
static mn_rgb at(const mn_image *image, double x, double y)
{
  return mn_image_get(image, 14 + (int)(640 * x), 14 + (int)(640 * (1 - y)));
}

static double ramp_x(mn_vec3 x)
{
  return x.x;
}
static double ramp_y(mn_vec3 x)
{
  return x.y;
}

/* A linear field has the colour of its exact value everywhere: nothing is shifted or flipped, and
   the continuation into the solid does not leak out of it. */
static void test_colours_are_where_they_belong(void **state)
{
  (void)state;
  mn_context *ctx = check_context(2);
  synthetic s;
  synthetic_make(ctx, 2, (int[]){40, 40, 1}, 1.0 / 40, mn_v3(0, 0, 0), 0, &s);
  mn_model_def def = {0};
  strcpy(def.output.show, "smoke");
  double worst = 0;
  for (int axis = 0; axis < 2; axis++) {
    mn_image image;
    synthetic_set(&s.smoke, axis ? ramp_y : ramp_x);
    for (int j = 0; j < 40; j++) /* junk inside the solid */
      for (int i = 0; i < 40; i++)
        if (mn_get(&s.volume, i, j, 0) == 0)
          mn_set(&s.smoke, i, j, 0, 1e6);
    CHECK_OK(ctx, mn_preview_draw(ctx, &s.view, NULL, 0, &def, 0, &image));
    CHECK(image.width == 640 + 28);
    for (double y = 0.05; y < 1; y += 0.1)
      for (double x = 0.05; x < 1; x += 0.1) {
        double d = synthetic_solid(mn_v3(x, y, 0));
        mn_rgb expected = mn_map_colour(MN_MAP_SMOKE, axis ? y : x);
        if (d > 0.06)
          worst = fmax(worst, distance(at(&image, x, y), expected));
        if (d < -0.02)
          CHECK_LE(distance(at(&image, x, y), mn_rgb_hex(0x99a1a9)), 0.01);
      }
    mn_image_destroy(&image);
  }
  CHECK_LE(worst, 0.012);
  synthetic_free(&s);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* In 3D: where there is smoke it is bright, in the shadow it is darker, elsewhere the background.
 */
static double mean(const mn_image *image)
{
  double sum = 0;
  for (int j = 0; j < image->height - 50; j++)
    for (int i = 0; i < image->width; i++)
      sum += mn_image_get(image, i, j).g;
  return sum / image->width / image->height;
}

static void test_smoke_in_3d_is_seen(void **state)
{
  (void)state;
  mn_context *ctx = check_context(2);
  synthetic s;
  synthetic_make(ctx, 3, (int[]){24, 24, 24}, 1.0 / 24, mn_v3(0, 0, 0), 0, &s);
  mn_model_def def = {0};
  strcpy(def.output.show, "smoke");
  mn_image puff, none, full;
  CHECK_OK(ctx, mn_preview_draw(ctx, &s.view, NULL, 0, &def, 0, &puff));
  mn_field_fill(&s.smoke, 0);
  CHECK_OK(ctx, mn_preview_draw(ctx, &s.view, NULL, 0, &def, 0, &none));
  mn_field_fill(&s.smoke, 1);
  CHECK_OK(ctx, mn_preview_draw(ctx, &s.view, NULL, 0, &def, 0, &full));
  CHECK_GE(mean(&puff), mean(&none) + 0.01);
  CHECK_GE(mean(&full), mean(&puff) + 0.08);
  mn_image_destroy(&puff);
  mn_image_destroy(&none);
  mn_image_destroy(&full);
  synthetic_free(&s);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* A layer of one cell, whose cells have neighbours on no side, is seen as any other smoke. */
static void test_smoke_one_cell_thick_is_seen(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  synthetic s;
  synthetic_make(ctx, 3, (int[]){24, 24, 1}, 1.0 / 24, mn_v3(0, 0, 0), 0, &s);
  mn_model_def def = {0};
  strcpy(def.output.show, "smoke");
  mn_image none, full;
  mn_field_fill(&s.smoke, 0);
  CHECK_OK(ctx, mn_preview_draw(ctx, &s.view, NULL, 0, &def, 0, &none));
  mn_field_fill(&s.smoke, 1);
  CHECK_OK(ctx, mn_preview_draw(ctx, &s.view, NULL, 0, &def, 0, &full));
  CHECK_GE(mean(&full), mean(&none) + 0.08);
  mn_image_destroy(&none);
  mn_image_destroy(&full);
  synthetic_free(&s);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* One cell, long boxes, no solids at all, NaN everywhere: still a picture. */
static void test_awkward_views(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  const int boxes[][4] = {
      {2, 1, 1, 1}, {2, 400, 3, 1}, {2, 3, 300, 1}, {3, 1, 1, 1}, {3, 60, 2, 3}};
  for (size_t b = 0; b < sizeof boxes / sizeof *boxes; b++)
    for (int i = 0; i < 6; i += boxes[b][0] == 3 ? 5 : 1) {
      synthetic s;
      mn_image image;
      synthetic_make(ctx, boxes[b][0], boxes[b] + 1, 0.01, mn_v3(1e3, -5, 0), i == 5, &s);
      mn_model_def def = {0};
      strcpy(def.output.show, SHOWS[i]);
      CHECK_OK(ctx, mn_preview_draw(ctx, &s.view, NULL, 0, &def, 1e-7, &image));
      mn_image_destroy(&image);
      s.view.solid = s.view.obstacles = NULL;
      mn_field_fill(&s.smoke, NAN);
      mn_field_fill(&s.temperature, NAN);
      mn_field_fill(&s.velocity[0], NAN);
      mn_field_fill(&s.pressure, INFINITY);
      mn_field_fill(&s.liquid, NAN);
      CHECK_OK(ctx, mn_preview_draw(ctx, &s.view, NULL, 0, &def, NAN, &image));
      mn_image_destroy(&image);
      synthetic_free(&s);
    }
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_same_picture_for_any_number_of_threads),
      cmocka_unit_test(test_colours_are_where_they_belong),
      cmocka_unit_test(test_smoke_in_3d_is_seen),
      cmocka_unit_test(test_smoke_one_cell_thick_is_seen),
      cmocka_unit_test(test_awkward_views),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
