/* Bodies in pictures: coverage against exact areas, depth, what hides what. */
#include "io/body_layer.h"

#include "check.h"

static const mn_vec3 SQUARE[4] = {{{10, 10, 0}}, {{30.25, 10, 0}}, {{30.25, 25, 0}}, {{10, 25, 0}}};
static const mn_vec3 STILL[4];
static const uint32_t HALVES[6] = {0, 1, 2, 0, 2, 3};

static double covered(const mn_body_layer *layer)
{
  double sum = 0;
  for (int j = 0; j < layer->height / MN_LAYER_SAMPLES; j++)
    for (int i = 0; i < layer->width / MN_LAYER_SAMPLES; i++)
      sum += mn_body_layer_pixel(layer, i, j).cover;
  return sum;
}

/* A rectangle of two triangles: its area in pixels, no seam along the diagonal. */
static void test_flat(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_body_view b = {.dim = 2,
                    .corners = 3,
                    .order = 1,
                    .points = 4,
                    .cells = 2,
                    .x = SQUARE,
                    .v = STILL,
                    .cell = HALVES};
  mn_camera camera = {.flat = 1, .scale = 1, .cx = 0, .cy = 40};
  mn_body_layer layer;
  CHECK_OK(ctx, mn_body_layer_make(ctx, &b, 1, &camera, 50, 40, 0, &layer));
  CHECK_NEAR(covered(&layer), 20.25 * 15, 0.02 * 20.25 * 15);
  for (int i = 12; i < 28; i++)
    CHECK_NEAR(mn_body_layer_pixel(&layer, i, 40 - 1 - 17).cover, 1, 0);
  CHECK_NEAR(mn_body_layer_pixel(&layer, 5, 20).cover, 0, 0);
  mn_body_layer_free(&layer);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

/* Two parallel squares seen by a pinhole: the near one is in front, whatever the order. */
static void test_depth(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_vec3 near[4], far[4];
  for (int i = 0; i < 4; i++) {
    double x = i == 1 || i == 2 ? 1 : -1, y = i >= 2 ? 1 : -1;
    near[i] = mn_v3(x, y, -4);
    far[i] = mn_v3(2 * x, 2 * y, -8);
  }
  mn_camera camera = {.right = {{1, 0, 0}},
                      .up = {{0, 1, 0}},
                      .forward = {{0, 0, -1}},
                      .scale = 40,
                      .cx = 20,
                      .cy = 20};
  for (int order = 0; order < 2; order++) {
    mn_body_view b[2];
    for (int k = 0; k < 2; k++)
      b[k] = (mn_body_view){.dim = 3,
                            .corners = 3,
                            .order = 1,
                            .points = 4,
                            .cells = 2,
                            .x = k == order ? near : far,
                            .v = STILL,
                            .cell = HALVES,
                            .facets = 2,
                            .facet = HALVES};
    mn_body_layer layer;
    CHECK_OK(ctx, mn_body_layer_make(ctx, b, 2, &camera, 40, 40, 0, &layer));
    mn_layer_pixel p = mn_body_layer_pixel(&layer, 20, 20);
    CHECK_NEAR(p.depth, 4, 1e-6);
    CHECK_NEAR(p.normal.z, 1, 1e-6);
    CHECK_NEAR(p.colour.r, mn_body_colour(order).r, 0.003);
    CHECK_NEAR(covered(&layer), 20 * 20, 1); /* both subtend the same angle */
    mn_body_layer_free(&layer);
  }
  /* control: behind the eye nothing is seen */
  camera.forward = mn_v3(0, 0, 1);
  mn_body_view b = {.dim = 3,
                    .corners = 3,
                    .order = 1,
                    .points = 4,
                    .cells = 2,
                    .x = near,
                    .v = STILL,
                    .cell = HALVES,
                    .facets = 2,
                    .facet = HALVES};
  mn_body_layer layer;
  CHECK_OK(ctx, mn_body_layer_make(ctx, &b, 1, &camera, 40, 40, 0, &layer));
  CHECK_NEAR(covered(&layer), 0, 0);
  mn_body_layer_free(&layer);
  mn_context_destroy(&ctx);
  CHECK_DONE();
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_flat), cmocka_unit_test(test_depth)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
