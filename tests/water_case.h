/* Set-ups of water carried by particles, shared by tests/verify/test_water.c and long_water.c. */
#ifndef MN_TESTS_WATER_CASE_H
#define MN_TESTS_WATER_CASE_H

#include "mac_case.h"

/* mac_case_begin with water (the scene defaults), rho = 1000, g = 9.81 downwards. */
void water_case_begin(mac_case *c, int dim, mn_vec3 size, int nx);

/* Sum of V, V x and V v over the particles. */
typedef struct water_sums {
  double volume;
  mn_vec3 moment, momentum;
} water_sums;
water_sums water_case_sums(const mac_case *c);

/* How far the worst particle lies outside the domain, or inside the solid (NULL: none), m. */
double water_case_trespass(const mac_case *c, const mn_shape *solid, mn_vec3 shift);

/* A standing wave 0.01 cos(pi x) in a tank 1 m wide, n cells: mean period over `half_periods`
   crossings of zero, and amplitude of the last swing over that of the first. */
typedef struct slosh {
  double period, kept;
} slosh;
slosh water_case_slosh(int n, double depth, mn_transfer transfer, int half_periods, double gravity);

/* A column of water, twice as high as wide or square, n cells across, collapses: how far its front
   is from potential flow (rms, relative; instant release, no friction: what the program solves) and
   from the measurements of Martin and Moyce: `raw` with time as they give it, `measured` with the
   delay of the release that Lethe published for them. `last`: the front at the end, in widths. */
typedef struct dam {
  double exact, raw, raw_worst, measured, measured_worst, drift, last;
} dam;
dam water_case_dam(int n, int square, mn_transfer transfer, double gravity);

/* A sealed tank 1 m x 0.75 m, n cells across, in which a column of water collapses: greatest
   relative error of the volume, the worse of that reported (from the start's) and of samples of the
   level set, with spray (from the column's): at any time, and in the last second of `until`. */
typedef struct drift {
  double ever, end;
} drift;
drift water_case_sealed_drift(int n, double until, mn_transfer transfer, int control);
/* 10 s: below 1 % at any time, below `end` in the last second. */
void water_case_check_sealed(int n, mn_transfer transfer, double end);

#endif
