/* Matrices of 3 x 3, by rows. */
#ifndef MN_MATH_MAT_H
#define MN_MATH_MAT_H

#include "math/vec.h"

typedef struct mn_mat3 {
  double m[3][3];
} mn_mat3;

static inline mn_mat3 mn_mat3_diagonal(double a, double b, double c)
{
  return (mn_mat3){{{a, 0, 0}, {0, b, 0}, {0, 0, c}}};
}
static inline mn_mat3 mn_mat3_identity(void)
{
  return mn_mat3_diagonal(1, 1, 1);
}
static inline mn_mat3 mn_mat3_columns(mn_vec3 a, mn_vec3 b, mn_vec3 c)
{
  return (mn_mat3){{{a.x, b.x, c.x}, {a.y, b.y, c.y}, {a.z, b.z, c.z}}};
}
static inline mn_vec3 mn_mat3_column(const mn_mat3 *a, int j)
{
  return mn_v3(a->m[0][j], a->m[1][j], a->m[2][j]);
}
static inline mn_mat3 mn_mat3_add(mn_mat3 a, mn_mat3 b)
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      a.m[i][j] += b.m[i][j];
  return a;
}
static inline mn_mat3 mn_mat3_scale(double s, mn_mat3 a)
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      a.m[i][j] *= s;
  return a;
}
/* A B */
static inline mn_mat3 mn_mat3_mul(mn_mat3 a, mn_mat3 b)
{
  mn_mat3 c;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      c.m[i][j] = a.m[i][0] * b.m[0][j] + a.m[i][1] * b.m[1][j] + a.m[i][2] * b.m[2][j];
  return c;
}
/* A x */
static inline mn_vec3 mn_mat3_apply(mn_mat3 a, mn_vec3 x)
{
  mn_vec3 y;
  for (int i = 0; i < 3; i++)
    y.v[i] = a.m[i][0] * x.x + a.m[i][1] * x.y + a.m[i][2] * x.z;
  return y;
}
static inline mn_mat3 mn_mat3_transpose(mn_mat3 a)
{
  mn_mat3 t;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      t.m[i][j] = a.m[j][i];
  return t;
}
static inline double mn_mat3_determinant(mn_mat3 a)
{
  return a.m[0][0] * (a.m[1][1] * a.m[2][2] - a.m[1][2] * a.m[2][1]) -
         a.m[0][1] * (a.m[1][0] * a.m[2][2] - a.m[1][2] * a.m[2][0]) +
         a.m[0][2] * (a.m[1][0] * a.m[2][1] - a.m[1][1] * a.m[2][0]);
}
/* By cofactors. 0, and `inverse` untouched, if the determinant is 0 or not finite; how far a small
   one can be trusted is the caller's to know. */
static inline int mn_mat3_inverse(mn_mat3 a, mn_mat3 *inverse)
{
  double d = mn_mat3_determinant(a);
  if (d == 0 || !isfinite(d))
    return 0;
  mn_mat3 c;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) { /* cofactor of a_ji */
      int r0 = (j + 1) % 3, r1 = (j + 2) % 3, c0 = (i + 1) % 3, c1 = (i + 2) % 3;
      c.m[i][j] = (a.m[r0][c0] * a.m[r1][c1] - a.m[r0][c1] * a.m[r1][c0]) / d;
    }
  *inverse = c;
  return 1;
}
/* Square root of the sum of squares. */
static inline double mn_mat3_norm(mn_mat3 a)
{
  double sum = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      sum += a.m[i][j] * a.m[i][j];
  return sqrt(sum);
}

#endif
