/* The point of a segment or triangle nearest to a given one. */
#ifndef MN_GEOM_CLOSEST_H
#define MN_GEOM_CLOSEST_H

#include "math/vec.h"

/* Nearest to p on the element x[dim]: weights of its points, >= 0 with sum 1, and the square of the
   distance. Elements may be degenerate. */
double mn_closest(int dim, const mn_vec3 x[3], mn_vec3 p, double weight[3]);

#endif
