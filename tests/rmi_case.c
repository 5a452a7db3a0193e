#include "rmi_case.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

/* ---- membrane ----------------------------------------------------------------------------------
 */

static void invert(int n, const double *a, double *inverse)
{
  double copy[MEMBRANE_MAX * MEMBRANE_MAX];
  lapack_int pivot[MEMBRANE_MAX];
  memcpy(copy, a, sizeof(double) * (size_t)(n * n));
  for (int i = 0; i < n * n; i++)
    inverse[i] = i % (n + 1) == 0;
  LAPACKE_dgesv(LAPACK_COL_MAJOR, n, n, copy, n, pivot, inverse, n);
}

void membrane_set_dt(membrane *m, double dt)
{
  double s[MEMBRANE_MAX * MEMBRANE_MAX];
  m->dt = dt;
  for (int i = 0; i < m->n * m->n; i++)
    s[i] = (i % (m->n + 1) == 0 ? m->mass + m->fictitious : 0) + dt * dt * m->K[i];
  invert(m->n, s, m->solid_inverse);
}

void membrane_make(membrane *m, int n, int rank, double mass, double dt)
{
  *m = (membrane){.n = n, .rank = rank, .mass = mass, .added_mass = 1, .tension = 20, .push = 1};
  double h = 1.0 / (n + 1);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 1; k <= rank; k++)
        sum += 2 * h * sin(k * PI * (i + 1) * h) * sin(k * PI * (j + 1) * h) * m->added_mass / k;
      m->A[i + j * n] = sum;
      m->K[i + j * n] = m->tension * (i == j ? 2 : i - j == 1 || j - i == 1 ? -1 : 0);
    }
  membrane_set_dt(m, dt);
}

/* A jet that wanders: smooth in time, not one mode. */
static double push(const membrane *m, int i)
{
  double s = (i + 1.0) / (m->n + 1), t = m->time + m->dt;
  return m->push * (exp(-40 * pow(s - 0.5 - 0.2 * sin(3 * t), 2)) + 0.3 * sin(7 * PI * s + 5 * t));
}

mn_status membrane_fluid(void *user, const double *x, double *p)
{
  membrane *m = user;
  int n = m->n;
  double v[MEMBRANE_MAX];
  m->fluid_solves++;
  for (int i = 0; i < n; i++)
    v[i] = (x[i] - m->x0[i]) / m->dt;
  for (int i = 0; i < n; i++) {
    p[i] = push(m, i) - m->drag * fabs(v[i]) * v[i];
    p[i] += m->fictitious * (v[i] - m->v0[i]) / m->dt;
    for (int j = 0; j < n; j++)
      p[i] -= m->A[i + j * n] * (v[j] - m->v0[j]) / m->dt;
  }
  if (m->fluid_solves == m->break_at)
    p[n / 2] = NAN;
  return MN_OK;
}

mn_status membrane_solid(void *user, const double *p, const double *x_at, double *x)
{
  membrane *m = user;
  int n = m->n;
  (void)x_at;
  m->solid_solves++;
  for (int i = 0; i < n; i++) {
    x[i] = 0;
    for (int j = 0; j < n; j++)
      x[i] += m->solid_inverse[i + j * n] *
              ((m->mass + m->fictitious) * (m->x0[j] + m->dt * m->v0[j]) + m->dt * m->dt * p[j]);
  }
  return MN_OK;
}

void membrane_together(const membrane *m, double *x)
{
  int n = m->n;
  double s[MEMBRANE_MAX * MEMBRANE_MAX];
  lapack_int pivot[MEMBRANE_MAX];
  for (int i = 0; i < n; i++) { /* (mass + A + dt^2 K) x = (mass + A) (x0 + dt v0) + dt^2 push */
    x[i] = m->dt * m->dt * push(m, i);
    for (int j = 0; j < n; j++) {
      double inertia = (i == j ? m->mass : 0) + m->A[i + j * n];
      s[i + j * n] = inertia + m->dt * m->dt * m->K[i + j * n];
      x[i] += inertia * (m->x0[j] + m->dt * m->v0[j]);
    }
  }
  LAPACKE_dgesv(LAPACK_COL_MAJOR, n, 1, s, n, pivot, x, n);
}

void membrane_commit(membrane *m, const double *x)
{
  for (int i = 0; i < m->n; i++) {
    m->v0[i] = (x[i] - m->x0[i]) / m->dt;
    m->x0[i] = x[i];
  }
  m->time += m->dt;
}

/* ---- tube --------------------------------------------------------------------------------------
 */

enum { N = TUBE_N, ROWS = 2 * (TUBE_N + 1), BAND = 4, LD = 3 * BAND + 1 };

void tube_make(tube *t, double dt)
{
  *t = (tube){.dt = dt, .c2 = 1e4 / 2 * sqrt(PI)};
  for (int i = 0; i <= N; i++) {
    t->u0[i] = t->u[i] = 10;
    t->a0[i] = 1;
  }
}

/* Unknowns in the order u_0, p_0, u_1, ...; the band of the Jacobian as LAPACK stores it. */
static void entry(double *band, int row, int col, double value)
{
  band[2 * BAND + row - col + col * LD] += value;
}

/* Section i: what flows through its two faces, and the change inside. */
static void section(const tube *t, const double *a, int i, double *res, double *band)
{
  const double *u = t->u, *p = t->p;
  double dz = 10.0 / N, rate = dz / t->dt;
  double al = (a[i - 1] + a[i]) / 2, ar = (a[i] + a[i + 1]) / 2; /* faces */
  double ul = (u[i - 1] + u[i]) / 2, ur = (u[i] + u[i + 1]) / 2;
  double smooth = 1 / (10 + rate); /* against pressures that alternate */
  int m = 2 * i, c = 2 * i + 1;
  res[m] = rate * (a[i] * u[i] - t->a0[i] * t->u0[i]) + ar * ur * u[i] - al * ul * u[i - 1] +
           (al * (p[i] - p[i - 1]) + ar * (p[i + 1] - p[i])) / 2;
  entry(band, m, m - 2, -al * (u[i - 1] / 2 + ul));
  entry(band, m, m, rate * a[i] + ar * (u[i] / 2 + ur) - al * u[i - 1] / 2);
  entry(band, m, m + 2, ar * u[i] / 2);
  entry(band, m, c - 2, -al / 2);
  entry(band, m, c, (al - ar) / 2);
  entry(band, m, c + 2, ar / 2);
  res[c] = rate * (a[i] - t->a0[i]) + ar * ur - al * ul - smooth * (p[i - 1] - 2 * p[i] + p[i + 1]);
  entry(band, c, m - 2, -al / 2);
  entry(band, c, m, (ar - al) / 2);
  entry(band, c, m + 2, ar / 2);
  entry(band, c, c - 2, -smooth);
  entry(band, c, c, 2 * smooth);
  entry(band, c, c + 2, -smooth);
}

/* Velocity in, pressure goes on linearly; velocity goes on linearly, the outgoing wave passes. */
static void ends(const tube *t, double *res, double *band)
{
  const double *u = t->u, *p = t->p;
  int m = 2 * N, c = 2 * N + 1;
  res[0] = u[0] - (10 + 3 * sin(10 * PI * (t->time + t->dt)));
  entry(band, 0, 0, 1);
  res[1] = p[0] - 2 * p[1] + p[2];
  entry(band, 1, 1, 1);
  entry(band, 1, 3, -2);
  entry(band, 1, 5, 1);
  res[m] = u[N] - 2 * u[N - 1] + u[N - 2];
  entry(band, m, m, 1);
  entry(band, m, m - 2, -2);
  entry(band, m, m - 4, 1);
  double wave = sqrt(t->c2 - t->p0[N] / 2) - (u[N] - t->u0[N]) / 4;
  res[c] = p[N] - 2 * (t->c2 - wave * wave);
  entry(band, c, c, 1);
  entry(band, c, m, -wave);
}

mn_status tube_fluid(void *user, const double *a, double *p)
{
  tube *t = user;
  static const int most = 30;
  double res[ROWS], band[LD * ROWS];
  lapack_int pivot[ROWS];
  t->fluid_solves++;
  memcpy(t->u, t->u0, sizeof t->u); /* always the same answer to the same question */
  memcpy(t->p, t->p0, sizeof t->p);
  for (int k = 0; k < most; k++) {
    double worst = 0;
    memset(band, 0, sizeof band);
    for (int i = 1; i < N; i++)
      section(t, a, i, res, band);
    ends(t, res, band);
    if (LAPACKE_dgbsv(LAPACK_COL_MAJOR, ROWS, BAND, BAND, 1, band, LD, pivot, res, ROWS))
      return MN_FAILED;
    for (int i = 0; i <= N; i++) {
      t->u[i] -= res[2 * i];
      t->p[i] -= res[2 * i + 1];
      worst = fmax(worst, fmax(fabs(res[2 * i]), 0.1 * fabs(res[2 * i + 1])));
    }
    if (!isfinite(worst))
      return MN_FAILED;
    if (worst < 1e-11) {
      memcpy(p, t->p, sizeof t->p);
      return MN_OK;
    }
  }
  return MN_FAILED;
}

mn_status tube_solid(void *user, const double *p, const double *a_at, double *a)
{
  const tube *t = user;
  (void)a_at;
  for (int i = 0; i <= N; i++) {
    double ratio = 2 * t->c2 / (2 * t->c2 - p[i]);
    a[i] = ratio * ratio;
  }
  return MN_OK;
}

void tube_commit(tube *t, const double *a)
{
  memcpy(t->u0, t->u, sizeof t->u);
  memcpy(t->p0, t->p, sizeof t->p);
  memcpy(t->a0, a, sizeof t->a0);
  t->time += t->dt;
}
