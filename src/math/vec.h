/* Vectors of three components. */
#ifndef MN_MATH_VEC_H
#define MN_MATH_VEC_H

#include <math.h>

#include "meniscus/base.h"

#define MN_PI 3.14159265358979323846

static inline mn_vec3 mn_v3(double x, double y, double z)
{
  return (mn_vec3){{x, y, z}};
}
static inline mn_vec3 mn_add(mn_vec3 a, mn_vec3 b)
{
  return mn_v3(a.x + b.x, a.y + b.y, a.z + b.z);
}
static inline mn_vec3 mn_sub(mn_vec3 a, mn_vec3 b)
{
  return mn_v3(a.x - b.x, a.y - b.y, a.z - b.z);
}
static inline mn_vec3 mn_scale(double s, mn_vec3 a)
{
  return mn_v3(s * a.x, s * a.y, s * a.z);
}
/* a + s b */
static inline mn_vec3 mn_madd(mn_vec3 a, double s, mn_vec3 b)
{
  return mn_v3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}
static inline double mn_dot(mn_vec3 a, mn_vec3 b)
{
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline mn_vec3 mn_cross(mn_vec3 a, mn_vec3 b)
{
  return mn_v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static inline double mn_length(mn_vec3 a)
{
  return sqrt(mn_dot(a, a));
}
/* One instruction each, where fmin and fmax are calls; b if one is NaN. */
static inline double mn_min(double a, double b)
{
  return a < b ? a : b;
}
static inline double mn_max(double a, double b)
{
  return a > b ? a : b;
}
static inline double mn_clamp(double x, double lo, double hi)
{
  return x < lo ? lo : x > hi ? hi : x;
}
/* x rotated by `angle` radians about the unit vector `axis` (Rodrigues) */
static inline mn_vec3 mn_rotate(mn_vec3 x, mn_vec3 axis, double angle)
{
  double c = cos(angle), s = sin(angle);
  mn_vec3 r = mn_madd(mn_scale(c, x), s, mn_cross(axis, x));
  return mn_madd(r, (1 - c) * mn_dot(axis, x), axis);
}

#endif
