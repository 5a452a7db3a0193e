/* Checks of single values of a def. */
#include "world/check_values.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "math/vec.h"

mn_status mn_bad_value(mn_context *ctx, const char *key, double value, const char *allowed)
{
  return mn_fail(ctx, MN_BAD_INPUT, "%s is %.10g: must be %s", key, value, allowed);
}

mn_status mn_check_finite(mn_context *ctx, const char *key, double value)
{
  return isfinite(value) ? MN_OK : mn_bad_value(ctx, key, value, "a finite number");
}

/* In any unit; products and quotients of some of them stay numbers. */
static const double LEAST = 1e-30, MOST = 1e30;

static mn_status check_size(mn_context *ctx, const char *key, double value)
{
  int fits = value == 0 || (fabs(value) >= LEAST && fabs(value) <= MOST);
  return fits ? MN_OK : mn_bad_value(ctx, key, value, "from 1e-30 to 1e30");
}

mn_status mn_check_positive(mn_context *ctx, const char *key, double value)
{
  if (!isfinite(value) || !(value > 0))
    return mn_bad_value(ctx, key, value, "finite and greater than 0");
  return check_size(ctx, key, value);
}

mn_status mn_check_not_negative(mn_context *ctx, const char *key, double value)
{
  if (!isfinite(value) || !(value >= 0))
    return mn_bad_value(ctx, key, value, "finite and not negative");
  return check_size(ctx, key, value);
}

mn_status mn_check_range(mn_context *ctx, const char *key, int value, int lo, int hi)
{
  if (value < lo || value > hi)
    return mn_fail(ctx, MN_BAD_INPUT, "%s is %d: must be from %d to %d", key, value, lo, hi);
  return MN_OK;
}

mn_status mn_check_vector(mn_context *ctx, int dim, const char *key, mn_vec3 v)
{
  for (int a = 0; a < 3; a++)
    if (!isfinite(v.v[a]))
      return mn_fail(ctx, MN_BAD_INPUT, "%s is {%g, %g, %g}: must be finite", key, v.x, v.y, v.z);
  if (dim == 2 && v.z != 0)
    return mn_fail(ctx, MN_BAD_INPUT, "%s is {%g, %g, %g}: its z must be 0 in a 2D scene", key, v.x,
                   v.y, v.z);
  return MN_OK;
}

mn_status mn_check_velocity(mn_context *ctx, int dim, const char *key, mn_vec3 v)
{
  MN_TRY(mn_check_vector(ctx, dim, key, v));
  for (int a = 0; a < 3; a++)
    if (fabs(v.v[a]) > MN_LIGHT_SPEED)
      return mn_fail(ctx, MN_BAD_INPUT,
                     "%s is {%g, %g, %g}: must not be faster than light, 3e8 m/s", key, v.x, v.y,
                     v.z);
  return MN_OK;
}

mn_status mn_check_timefn(mn_context *ctx, const char *key, const mn_timefn *f)
{
  const double values[] = {f->from, f->to,        f->start,     f->duration, f->rate,
                           f->mean, f->amplitude, f->frequency, f->phase};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++)
    if (!isfinite(values[i]))
      return mn_fail(ctx, MN_BAD_INPUT, "%s holds %g: its numbers must be finite", key, values[i]);
  if (f->duration < 0)
    return mn_fail(ctx, MN_BAD_INPUT, "%s has the duration %g s: must not be negative", key,
                   f->duration);
  if (f->kind != MN_TIME_KEYS)
    return MN_OK;
  if (f->key_count < 1 || f->key_count > MN_TIMEFN_KEYS_MAX)
    return mn_fail(ctx, MN_BAD_INPUT, "%s has %d keys: must be from 1 to %d", key, f->key_count,
                   MN_TIMEFN_KEYS_MAX);
  for (int i = 0; i < f->key_count; i++) {
    if (!isfinite(f->key_time[i]) || !isfinite(f->key_value[i]))
      return mn_fail(ctx, MN_BAD_INPUT, "%s: key %d is not finite", key, i + 1);
    if (i && f->key_time[i] <= f->key_time[i - 1])
      return mn_fail(ctx, MN_BAD_INPUT, "%s: key %d at %g s does not come after %g s", key, i + 1,
                     f->key_time[i], f->key_time[i - 1]);
  }
  return MN_OK;
}

mn_status mn_check_name(mn_context *ctx, const char *key, const char *name)
{
  if (!memchr(name, 0, MN_NAME_MAX))
    return mn_fail(ctx, MN_BAD_INPUT, "%s.name is longer than %d bytes", key, MN_NAME_MAX - 1);
  for (const char *c = name; *c; c++)
    if ((unsigned char)*c < ' ' || strchr(",\"/\\", *c))
      return mn_fail(ctx, MN_BAD_INPUT,
                     "%s.name is \"%s\": commas, quotes, slashes and control characters are not "
                     "allowed",
                     key, name);
  return MN_OK;
}

mn_status mn_check_unique(mn_context *ctx, const char *list, const char *first, size_t stride,
                          int count)
{
  for (int i = 0; i < count; i++) {
    const char *name = first + (size_t)i * stride;
    char key[64];
    snprintf(key, sizeof key, "%s[%d]", list, i + 1);
    MN_TRY(mn_check_name(ctx, key, name));
    for (int j = 0; *name && j < i; j++)
      if (!strcmp(name, first + (size_t)j * stride))
        return mn_fail(ctx, MN_BAD_INPUT, "%s.name is \"%s\", which %s[%d] has already", key, name,
                       list, j + 1);
  }
  return MN_OK;
}

mn_status mn_check_motion(mn_context *ctx, int dim, const char *key, const mn_motion *m)
{
  char part[128];
  snprintf(part, sizeof part, "%s.motion.translate", key);
  MN_TRY(mn_check_vector(ctx, dim, part, m->translate));
  snprintf(part, sizeof part, "%s.motion.pivot", key);
  MN_TRY(mn_check_vector(ctx, dim, part, m->pivot));
  snprintf(part, sizeof part, "%s.motion.path", key);
  MN_TRY(mn_check_timefn(ctx, part, &m->path));
  snprintf(part, sizeof part, "%s.motion.turn", key);
  MN_TRY(mn_check_timefn(ctx, part, &m->turn));
  snprintf(part, sizeof part, "%s.motion.axis", key);
  MN_TRY(mn_check_vector(ctx, 3, part, m->axis));
  if (m->path.kind == MN_TIME_CONSTANT && m->path.to == 0 && mn_length(m->translate) > 0)
    mn_log(ctx, MN_LOG_WARNING,
           "%s.motion.translate has no effect: path is 0 (path = linear(1) takes one second)", key);
  int turns = m->turn.kind != MN_TIME_CONSTANT || m->turn.to != 0;
  if (turns && !(mn_length(m->axis) > 0))
    return mn_fail(ctx, MN_BAD_INPUT, "%s is zero: a turning solid needs a direction", part);
  if (turns && dim == 2 && (m->axis.x != 0 || m->axis.y != 0))
    return mn_fail(ctx, MN_BAD_INPUT, "%s is {%g, %g, %g}: must be along z in a 2D scene", part,
                   m->axis.x, m->axis.y, m->axis.z);
  return MN_OK;
}
