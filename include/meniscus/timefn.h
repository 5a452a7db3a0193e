/* Scalar functions of time: ramps, waves, key frames. Plain values, so that a model stays immutable
   and a restarted run sees the same numbers. */
#ifndef MENISCUS_TIMEFN_H
#define MENISCUS_TIMEFN_H

#include "meniscus/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mn_timefn_kind {
  MN_TIME_CONSTANT, /* to */
  MN_TIME_LINEAR,   /* from -> to over [start, start + duration], constant outside */
  MN_TIME_COSINE,   /* the same with a half cosine: from + (to - from) (1 - cos(pi s))/2 */
  MN_TIME_RATE,     /* from + rate (t - start), unbounded */
  MN_TIME_WAVE,     /* mean + amplitude sin(2 pi frequency t + phase) */
  MN_TIME_KEYS      /* piecewise linear through keys (t, value), constant outside */
} mn_timefn_kind;

#define MN_TIMEFN_KEYS_MAX 64

typedef struct mn_timefn {
  mn_timefn_kind kind;
  double from, to, start, duration; /* s */
  double rate;
  double mean, amplitude, frequency, phase; /* frequency in Hz, phase in radians */
  int key_count;
  double key_time[MN_TIMEFN_KEYS_MAX], key_value[MN_TIMEFN_KEYS_MAX];
} mn_timefn;

mn_timefn mn_timefn_constant(double value);
double mn_timefn_eval(const mn_timefn *f, double t);
/* Its mean over [t0, t1]; its value at t1 if t1 <= t0. */
double mn_timefn_mean(const mn_timefn *f, double t0, double t1);
/* Its derivative, from the right where it has a corner. */
double mn_timefn_rate(const mn_timefn *f, double t);
/* Upper bounds of |f| and |df/dt| over [t0, t1]. A jump counts as if it took the whole interval. */
void mn_timefn_bounds(const mn_timefn *f, double t0, double t1, double *value, double *rate);

#ifdef __cplusplus
}
#endif
#endif
