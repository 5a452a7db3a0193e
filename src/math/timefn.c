#include "meniscus/timefn.h"

#include "math/vec.h"

mn_timefn mn_timefn_constant(double value)
{
  return (mn_timefn){.kind = MN_TIME_CONSTANT, .to = value};
}

static double eval_keys(const mn_timefn *f, double t)
{
  int n = f->key_count;
  if (n == 0)
    return 0;
  if (t <= f->key_time[0])
    return f->key_value[0];
  for (int i = 1; i < n; i++)
    if (t < f->key_time[i]) {
      double s = (t - f->key_time[i - 1]) / (f->key_time[i] - f->key_time[i - 1]);
      return f->key_value[i - 1] + s * (f->key_value[i] - f->key_value[i - 1]);
    }
  return f->key_value[n - 1];
}

double mn_timefn_eval(const mn_timefn *f, double t)
{
  double s = f->duration > 0 ? mn_clamp((t - f->start) / f->duration, 0, 1) : t >= f->start ? 1 : 0;
  switch (f->kind) {
  case MN_TIME_CONSTANT:
    return f->to;
  case MN_TIME_LINEAR:
    return f->from + (f->to - f->from) * s;
  case MN_TIME_COSINE:
    return f->from + (f->to - f->from) * 0.5 * (1 - cos(MN_PI * s));
  case MN_TIME_RATE:
    return f->from + f->rate * (t - f->start);
  case MN_TIME_WAVE:
    return f->mean + f->amplitude * sin(2 * MN_PI * f->frequency * t + f->phase);
  case MN_TIME_KEYS:
    return eval_keys(f, t);
  }
  return 0;
}

/* The mean over [t0, t1] of what is `from` before a ramp, `to` after it, and has the integral
   `within` (over the ramp's own time, in units of its duration) in between. */
static double ramp_mean(const mn_timefn *f, double t0, double t1)
{
  double end = f->start + f->duration;
  if (t0 >= end)
    return f->to;
  if (t1 <= f->start)
    return f->from;
  double before = mn_max(f->start - t0, 0), after = mn_max(t1 - end, 0), within = 0;
  if (f->duration > 0) {
    double a = mn_clamp((t0 - f->start) / f->duration, 0, 1);
    double b = mn_clamp((t1 - f->start) / f->duration, 0, 1), part;
    if (f->kind == MN_TIME_LINEAR)
      part = 0.5 * (b - a) * (b + a);
    else
      part = 0.5 * (b - a - (sin(MN_PI * b) - sin(MN_PI * a)) / MN_PI);
    within = f->duration * (f->from * (b - a) + (f->to - f->from) * part);
  }
  return (before * f->from + within + after * f->to) / (t1 - t0);
}

static double keys_mean(const mn_timefn *f, double t0, double t1)
{
  int n = f->key_count;
  if (n == 0)
    return 0;
  if (t0 >= f->key_time[n - 1])
    return f->key_value[n - 1];
  double sum = f->key_value[0] * mn_max(mn_min(t1, f->key_time[0]) - t0, 0) +
               f->key_value[n - 1] * mn_max(t1 - mn_max(t0, f->key_time[n - 1]), 0);
  for (int i = 1; i < n; i++) { /* trapezia between keys */
    double a = mn_max(t0, f->key_time[i - 1]), b = mn_min(t1, f->key_time[i]);
    if (b > a) {
      double slope =
          (f->key_value[i] - f->key_value[i - 1]) / (f->key_time[i] - f->key_time[i - 1]);
      sum += (b - a) * (f->key_value[i - 1] + slope * (0.5 * (a + b) - f->key_time[i - 1]));
    }
  }
  return sum / (t1 - t0);
}

double mn_timefn_mean(const mn_timefn *f, double t0, double t1)
{
  double wave = 2 * MN_PI * f->frequency, half = 0.5 * (t1 - t0), middle = 0.5 * (t0 + t1);
  if (!(t1 > t0))
    return mn_timefn_eval(f, t1);
  switch (f->kind) {
  case MN_TIME_CONSTANT:
    return f->to;
  case MN_TIME_LINEAR:
  case MN_TIME_COSINE:
    return ramp_mean(f, t0, t1);
  case MN_TIME_RATE:
    return mn_timefn_eval(f, middle);
  case MN_TIME_WAVE:
    return f->mean + f->amplitude * sin(wave * middle + f->phase) *
                         (wave != 0 ? sin(wave * half) / (wave * half) : 1);
  case MN_TIME_KEYS:
    return keys_mean(f, t0, t1);
  }
  return 0;
}

static double keys_rate(const mn_timefn *f, double t)
{
  for (int i = 1; i < f->key_count; i++)
    if (t >= f->key_time[i - 1] && t < f->key_time[i])
      return (f->key_value[i] - f->key_value[i - 1]) / (f->key_time[i] - f->key_time[i - 1]);
  return 0;
}

double mn_timefn_rate(const mn_timefn *f, double t)
{
  double s = f->duration > 0 ? (t - f->start) / f->duration : 1;
  int inside = s >= 0 && s < 1;
  double wave = 2 * MN_PI * f->frequency;
  switch (f->kind) {
  case MN_TIME_CONSTANT:
    return 0;
  case MN_TIME_LINEAR:
    return inside ? (f->to - f->from) / f->duration : 0;
  case MN_TIME_COSINE:
    return inside ? (f->to - f->from) * 0.5 * MN_PI * sin(MN_PI * s) / f->duration : 0;
  case MN_TIME_RATE:
    return f->rate;
  case MN_TIME_WAVE:
    return f->amplitude * wave * cos(wave * t + f->phase);
  case MN_TIME_KEYS:
    return keys_rate(f, t);
  }
  return 0;
}

static void keys_bounds(const mn_timefn *f, double t0, double t1, double *value, double *rate)
{
  for (int i = 0; i < f->key_count; i++) {
    if (f->key_time[i] >= t0 && f->key_time[i] <= t1)
      *value = fmax(*value, fabs(f->key_value[i]));
    if (i > 0 && f->key_time[i] > t0 && f->key_time[i - 1] < t1) {
      double slope =
          (f->key_value[i] - f->key_value[i - 1]) / (f->key_time[i] - f->key_time[i - 1]);
      *rate = fmax(*rate, fabs(slope));
    }
  }
}

void mn_timefn_bounds(const mn_timefn *f, double t0, double t1, double *value, double *rate)
{
  double change = fabs(f->to - f->from);
  int meets = t1 > f->start && t0 < f->start + f->duration; /* the ramp */
  *value = fmax(fabs(mn_timefn_eval(f, t0)), fabs(mn_timefn_eval(f, t1)));
  *rate = 0;
  switch (f->kind) {
  case MN_TIME_CONSTANT:
    break;
  case MN_TIME_LINEAR:
  case MN_TIME_COSINE:
    if (f->duration > 0)
      *rate = meets ? change / f->duration * (f->kind == MN_TIME_COSINE ? 0.5 * MN_PI : 1) : 0;
    else if (t0 < f->start && t1 >= f->start)
      *rate = change / (t1 - t0);
    break;
  case MN_TIME_RATE:
    *rate = fabs(f->rate);
    break;
  case MN_TIME_WAVE:
    *value = fabs(f->mean) + fabs(f->amplitude);
    *rate = 2 * MN_PI * fabs(f->frequency * f->amplitude);
    break;
  case MN_TIME_KEYS:
    keys_bounds(f, t0, t1, value, rate);
    break;
  }
}
