/* Quaternions as rotations: q = (cos(a/2), sin(a/2) axis), q and -q the same one. */
#ifndef MN_MATH_QUAT_H
#define MN_MATH_QUAT_H

#include "math/mat.h"

typedef struct mn_quat {
  double w, x, y, z;
} mn_quat;

static inline mn_quat mn_quat_identity(void)
{
  return (mn_quat){1, 0, 0, 0};
}
/* Scaled to length 1; the identity if it has no length. */
static inline mn_quat mn_quat_unit(mn_quat q)
{
  double length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
  if (!(length > 0))
    return mn_quat_identity();
  return (mn_quat){q.w / length, q.x / length, q.y / length, q.z / length};
}
/* Inverse of a unit quaternion. */
static inline mn_quat mn_quat_conjugate(mn_quat q)
{
  return (mn_quat){q.w, -q.x, -q.y, -q.z};
}
/* First b, then a. */
static inline mn_quat mn_quat_mul(mn_quat a, mn_quat b)
{
  return (mn_quat){
      a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
      a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
/* x turned by the unit quaternion q. */
static inline mn_vec3 mn_quat_rotate(mn_quat q, mn_vec3 x)
{
  mn_vec3 u = mn_v3(q.x, q.y, q.z), t = mn_scale(2, mn_cross(u, x));
  return mn_add(mn_madd(x, q.w, t), mn_cross(u, t));
}
static inline mn_mat3 mn_quat_matrix(mn_quat q)
{
  return mn_mat3_columns(mn_quat_rotate(q, mn_v3(1, 0, 0)), mn_quat_rotate(q, mn_v3(0, 1, 0)),
                         mn_quat_rotate(q, mn_v3(0, 0, 1)));
}
/* `axis` is a unit vector. */
static inline mn_quat mn_quat_from_axis(mn_vec3 axis, double angle)
{
  double s = sin(0.5 * angle);
  return (mn_quat){cos(0.5 * angle), s * axis.x, s * axis.y, s * axis.z};
}
/* Rotation by |v| radians about v. */
static inline mn_quat mn_quat_exp(mn_vec3 v)
{
  double angle = mn_length(v);
  /* sin(a/2)/a; its series is exact to round-off below 1e-4 */
  double s = angle > 1e-4 ? sin(0.5 * angle) / angle : 0.5 - angle * angle / 48;
  return (mn_quat){cos(0.5 * angle), s * v.x, s * v.y, s * v.z};
}
/* The vector v, |v| <= pi, with exp(v) = q or -q: the shorter way round. */
static inline mn_vec3 mn_quat_log(mn_quat q)
{
  mn_vec3 u = mn_v3(q.x, q.y, q.z);
  double s = mn_length(u), sign = q.w < 0 ? -1 : 1;
  /* a/sin(a/2) = 2 asin(s)/s, with the angle from both parts: accurate at 0 and at pi */
  double factor = s > 1e-9 ? 2 * atan2(s, fabs(q.w)) / s : 2;
  return mn_scale(sign * factor, u);
}

#endif
