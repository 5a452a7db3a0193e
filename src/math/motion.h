/* Prescribed motions at a time. */
#ifndef MN_MATH_MOTION_H
#define MN_MATH_MOTION_H

#include "math/vec.h"
#include "meniscus/motion.h"

/* Where the point x of a solid at time t was at rest. */
static inline mn_vec3 mn_motion_rest(const mn_motion *m, double t, mn_vec3 x)
{
  double length = mn_length(m->axis), angle = mn_timefn_eval(&m->turn, t);
  x = mn_madd(x, -mn_timefn_eval(&m->path, t), m->translate);
  if (!(length > 0) || angle == 0)
    return x;
  mn_vec3 r = mn_rotate(mn_sub(x, m->pivot), mn_scale(1 / length, m->axis), -angle);
  return mn_add(r, m->pivot);
}

/* Where the point X at rest is at time t, and how fast. */
static inline void mn_motion_point(const mn_motion *m, double t, mn_vec3 X, mn_vec3 *x, mn_vec3 *v)
{
  double length = mn_length(m->axis);
  mn_vec3 axis = length > 0 ? mn_scale(1 / length, m->axis) : mn_v3(0, 0, 1);
  mn_vec3 arm = mn_rotate(mn_sub(X, m->pivot), axis, mn_timefn_eval(&m->turn, t));
  *x = mn_madd(mn_add(m->pivot, arm), mn_timefn_eval(&m->path, t), m->translate);
  *v = mn_madd(mn_scale(mn_timefn_rate(&m->path, t), m->translate), mn_timefn_rate(&m->turn, t),
               mn_cross(axis, arm));
}

#endif
