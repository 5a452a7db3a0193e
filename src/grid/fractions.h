/* How much of a face or cell is open to the fluid, from a solid's signed distance at the nodes
   (positive in the fluid). A face's open area is where the distance, interpolated linearly along
   the face's edges, is positive (marching squares; a length in 2D): second-order at curved walls.
 */
#ifndef MN_GRID_FRACTIONS_H
#define MN_GRID_FRACTIONS_H

#include "grid/grid.h"

/* Open part in [0, 1] of the square whose corners carry d[0..3] = (0,0), (1,0), (0,1), (1,1). */
double mn_square_fraction(const double d[4]);
/* Open part in [0, 1] of the edge between two nodes. */
double mn_edge_fraction(double d0, double d1);

/* Open part in [0, 1] of a cell, d at its 4 (8) corners in the order of the bits x, y, z. */
double mn_cell_fraction(int dim, const double *d);

/* Over all local faces, those on the domain's sides included. open[2] is not touched in 2D. */
void mn_face_fractions(const mn_field *node_distance, mn_field open[3]);
/* Fluid volume of each cell, in [0, 1]. In 3D by tetrahedra, in 2D the same as a face in 3D. */
void mn_cell_fractions(const mn_field *node_distance, mn_field *volume);

#endif
