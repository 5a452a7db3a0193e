/* Three elastic rings around a source: the exact answer in radial symmetry.

   Irrotational flow u = Q/(2 pi r): rings r_i^2 = r_i0^2 + Q I/pi with the ramp's integral I,
   r' = Q/(2 pi r), r'' = Q'/(2 pi r) - Q^2/(4 pi^2 r^3). A ring of density rho_s (kg/m at rest),
   stiffness EA and damping b (N s) has the tension T = EA (r/r_0 - 1) + b r'/r_0, and bears the
   pressure difference (rho_s r_0 r'' + T)/r. Within a region the pressure falls outwards by less
   than 1 Pa; p0 is counted at its outer wall. */
#ifndef MN_TESTS_NESTED_EXACT_H
#define MN_TESTS_NESTED_EXACT_H

#include <math.h>

#include "closed_run.h"

/* r: radii of the inner, middle and outer ring; p0 of the inner, middle and outer region. */
static inline void nested_exact(double t, double EA, double b, double r[3], double p0[3])
{
  static const double r0[3] = {1.5, 2.5, 3.5};
  const double pi = 3.14159265358979323846;
  double Q0 = 2 * pi * 0.45, ramp = t < 1 ? (1 - cos(pi * t)) / 2 : 1;
  double Q = Q0 * ramp, rate = t < 1 ? Q0 * pi * sin(pi * t) / 2 : 0, outside = 0;
  for (int i = 2; i >= 0; i--) {
    r[i] = sqrt(r0[i] * r0[i] + Q0 * closed_ramped(t) / pi);
    double v = Q / (2 * pi * r[i]);
    double a = rate / (2 * pi * r[i]) - Q * Q / (4 * pi * pi * r[i] * r[i] * r[i]);
    double tension = EA * (r[i] / r0[i] - 1) + b * v / r0[i];
    p0[i] = outside += (200 * r0[i] * a + tension) / r[i];
  }
}

#endif
