/* Eigenvalues, singular values and polar decomposition of 3 x 3 matrices. */
#ifndef MN_MATH_SVD_H
#define MN_MATH_SVD_H

#include "math/mat.h"

/* A = V diag(value) V^T of a symmetric A (its upper triangle is read); values descend, V is a
   rotation. */
void mn_eigen_symmetric(const mn_mat3 *A, double value[3], mn_mat3 *V);

/* F = U diag(sigma) V^T with rotations U and V: sigma[0] >= sigma[1] >= |sigma[2]|, and sigma[2] <
   0 where det F < 0. */
void mn_svd(const mn_mat3 *F, mn_mat3 *U, double sigma[3], mn_mat3 *V);

/* F = R S with the rotation R nearest to F and S symmetric; S has one negative eigenvalue where
   det F < 0. R is unique if sigma[1] + sigma[2] > 0. */
void mn_polar(const mn_mat3 *F, mn_mat3 *R, mn_mat3 *S);

#endif
