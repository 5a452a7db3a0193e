#include "cavity.h"

#include <math.h>
#include <stdio.h>

#include "mac_case.h"

typedef struct ghia {
  double at, value[3]; /* Re 100, 400, 1000; NAN: not to be used */
} ghia;

static const ghia U_ON_X_HALF[] = {
    {0.9766, {0.84123, 0.75837, 0.65928}},    {0.9688, {0.78871, 0.68439, 0.57492}},
    {0.9609, {0.73722, 0.61756, 0.51117}},    {0.9531, {0.68717, 0.55892, 0.46604}},
    {0.8516, {0.23151, 0.29093, 0.33304}},    {0.7344, {0.00332, 0.16256, 0.18719}},
    {0.6172, {-0.13641, 0.02135, 0.05702}},   {0.5000, {-0.20581, -0.11477, -0.06080}},
    {0.4531, {-0.21090, -0.17119, -0.10648}}, {0.2813, {-0.15662, -0.32726, -0.27805}},
    {0.1719, {-0.10150, -0.24299, -0.38289}}, {0.1016, {-0.06434, -0.14612, -0.29730}},
    {0.0703, {-0.04775, -0.10338, -0.22220}}, {0.0625, {-0.04192, -0.09266, -0.20196}},
    {0.0547, {-0.03717, -0.08186, -0.18109}},
};
static const ghia V_ON_Y_HALF[] = {
    {0.9688, {-0.05906, -0.12146, -0.21388}}, {0.9609, {-0.07391, -0.15663, -0.27669}},
    {0.9531, {-0.08864, -0.19254, -0.33714}}, {0.9453, {-0.10313, -0.22847, -0.39188}},
    {0.9063, {-0.16914, NAN, -0.51550}},      {0.8594, {-0.22445, -0.44993, -0.42665}},
    {0.8047, {-0.24533, -0.38598, -0.31966}}, {0.5000, {0.05454, 0.05188, 0.02526}},
    {0.2344, {0.17527, 0.30174, 0.32235}},    {0.2266, {0.17507, 0.30203, 0.33075}},
    {0.1563, {0.16077, 0.28124, 0.37095}},    {0.0938, {0.12317, 0.22965, 0.32627}},
    {0.0781, {0.10890, 0.20920, 0.30353}},    {0.0703, {0.10091, 0.19713, 0.29012}},
    {0.0625, {0.09233, 0.18360, 0.27485}},
};

double cavity_deviation(int reynolds, int n, double until, double lid_speed)
{
  int column = reynolds == 100 ? 0 : reynolds == 400 ? 1 : 2;
  mac_case c;
  mac_case_begin(&c, 2, mn_v3(1, 1, 0), n);
  for (int s = 0; s < 4; s++)
    c.def.domain.side[s].kind = MN_SIDE_NOSLIP;
  c.def.domain.side[3].velocity = mn_v3(lid_speed, 0, 0);
  c.def.domain.side[3].ramp = mn_timefn_constant(1);
  c.def.fluid.viscosity = 1.0 / reynolds;
  c.def.fluid.pressure_tolerance = 1e-6;
  c.def.fluid.cfl = 1;
  mac_case_start(&c);
  mac_case_run_cfl(&c, until);
  mn_mac_view v = mn_mac_look(&c.fluid);
  double worst = 0;
  for (int i = 0; i < 15; i++) {
    double u = mn_sample(&v.velocity[0], mn_v3(0.5, U_ON_X_HALF[i].at, 0));
    double w = mn_sample(&v.velocity[1], mn_v3(V_ON_Y_HALF[i].at, 0.5, 0));
    double du = fabs(u - U_ON_X_HALF[i].value[column]), dv = fabs(w - V_ON_Y_HALF[i].value[column]);
    printf("y %.4f  u %8.5f (%+.5f)   x %.4f  v %8.5f (%+.5f)\n", U_ON_X_HALF[i].at, u,
           u - U_ON_X_HALF[i].value[column], V_ON_Y_HALF[i].at, w,
           w - V_ON_Y_HALF[i].value[column]);
    worst = check_worst(worst, du);
    if (!isnan(V_ON_Y_HALF[i].value[column]))
      worst = check_worst(worst, dv);
  }
  printf("Re %d, %d^2: greatest deviation %.4f after %d steps\n", reynolds, n, worst, c.steps);
  mac_case_end(&c);
  return worst;
}
