/* Rigid bodies for tests of a fluid alone: a surface mesh, and where the test puts it. */
#ifndef MN_TESTS_BODY_CASE_H
#define MN_TESTS_BODY_CASE_H

#include "check.h"
#include "math/vec.h"

typedef struct body_case {
  mn_interface face; /* impulse and frozen are 1 */
  mn_vec3 *rest;     /* points about the centre */
  double volume;     /* of the mesh, m^3 (m^2 in 2D) */
} body_case;

/* A regular polygon about 0 with corners at this radius. */
void body_disk(body_case *b, mn_context *ctx, double radius, int corners);
/* A box about 0 of this size, points about `spacing` apart; dim 2 or 3. */
void body_box(body_case *b, mn_context *ctx, int dim, mn_vec3 size, double spacing);
/* A sphere about 0 of 8 * 4^levels triangles, with the volume of that radius. */
void body_ball(body_case *b, mn_context *ctx, double radius, int levels);
/* A line from -half to half (2D), or a square of this half size across x (3D), two-sided. */
void body_plate(body_case *b, mn_context *ctx, int dim, mn_vec3 half, int pieces);
void body_destroy(body_case *b);

/* Turned by `angle` about z, then moved to x; V as given, of its points. N and area as well. */
void body_put(body_case *b, mn_vec3 x, double angle, mn_vec3 velocity, double omega);
/* Sum of the loads, and of their torque about x. */
mn_vec3 body_force(const body_case *b);
mn_vec3 body_torque(const body_case *b, mn_vec3 x);

#endif
