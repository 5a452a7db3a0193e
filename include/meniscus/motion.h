/* Prescribed motion of a solid. */
#ifndef MENISCUS_MOTION_H
#define MENISCUS_MOTION_H

#include "meniscus/base.h"
#include "meniscus/timefn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* x(t) = R(angle(t)) (x0 - pivot) + pivot + translate path(t), angle(t) = turn(t) about `axis`. */
typedef struct mn_motion {
  mn_vec3 translate; /* m */
  mn_timefn path;
  mn_vec3 axis;
  mn_vec3 pivot;  /* m */
  mn_timefn turn; /* radians */
} mn_motion;

#ifdef __cplusplus
}
#endif
#endif
