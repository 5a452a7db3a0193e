/* Which side a point is on: exact signs, never 0 where it matters.

   Coordinates are doubles taken at their word. Signs of determinants are exact (a floating-point
   filter, then expansions). Query points p, q are thought shifted by one infinitesimal vector
   (e, e^2, e^3), the same for all, so that none lies on a line or plane of the surface: paths
   made of segments between query points then cross a closed surface an even number of times, and
   an element met at a common edge or corner is crossed by exactly one of its neighbours. */
#ifndef MN_GEOM_PREDICATES_H
#define MN_GEOM_PREDICATES_H

#include "meniscus/base.h"

/* Sign of (b - a) x (d - c) in the plane of axes u, v. */
int mn_wedge_sign(mn_vec3 a, mn_vec3 b, mn_vec3 c, mn_vec3 d, int u, int v);
/* Sign of (b - a) x (c - a) . (d - a): 1 if d is where a, b, c look counter-clockwise. */
int mn_volume_sign(mn_vec3 a, mn_vec3 b, mn_vec3 c, mn_vec3 d);

/* 1: the shifted p is left of the line from a to b in the plane of axes u, v; -1: right; 0: only if
   a = b there. */
int mn_line_side(mn_vec3 a, mn_vec3 b, mn_vec3 p, int u, int v);
/* 1: the shifted p is where a, b, c look counter-clockwise; 0: only if they lie on a line. */
int mn_plane_side(mn_vec3 a, mn_vec3 b, mn_vec3 c, mn_vec3 p);

/* Does the segment between the shifted p and q cross the element x[dim], a segment or a triangle?
   0: no; 1: towards the left of a segment, or the side where a triangle looks counter-clockwise;
   -1: the other way. */
int mn_segment_crosses(int dim, const mn_vec3 x[3], mn_vec3 p, mn_vec3 q);

#endif
