/* Measures over a mix of bodies: rigid ones first, then the deformable ones. */
#include "solid/solid.h"

/* Number of the deformable body, -1: all; whether rigid and deformable ones take part. */
static int split(mn_solids *s, int body, int *rigid, int *deform)
{
  int n = mn_solids_rigid(s)->count;
  *rigid = body < n;
  *deform = mn_solids_deform(s) != NULL && (body < 0 || body >= n);
  return body < 0 ? -1 : body - n;
}

mn_vec3 mn_solids_momentum(mn_solids *s, int body)
{
  int rigid, deform, d = split(s, body, &rigid, &deform);
  mn_vec3 p = {0};
  if (rigid)
    p = mn_rigid_momentum(mn_solids_rigid(s), body);
  return deform ? mn_add(p, mn_deform_momentum(mn_solids_deform(s), d)) : p;
}

mn_vec3 mn_solids_angular(mn_solids *s, int body, mn_vec3 about)
{
  int rigid, deform, d = split(s, body, &rigid, &deform);
  mn_vec3 l = {0};
  if (rigid)
    l = mn_rigid_angular(mn_solids_rigid(s), body, about);
  return deform ? mn_add(l, mn_deform_angular(mn_solids_deform(s), d, about)) : l;
}

mn_vec3 mn_solids_center(mn_solids *s, int body)
{
  int rigid, deform, d = split(s, body, &rigid, &deform);
  return rigid ? mn_solids_rigid(s)->now[body].x : mn_deform_center(mn_solids_deform(s), d);
}

double mn_solids_energy(mn_solids *s, int body)
{
  int rigid, deform, d = split(s, body, &rigid, &deform);
  mn_rigid *r = mn_solids_rigid(s);
  double e = 0;
  if (rigid)
    e += mn_rigid_kinetic(r, body) + mn_rigid_potential(r, body);
  if (body < 0)
    e += mn_rigid_spring_energy(r);
  if (deform)
    e += mn_deform_kinetic(mn_solids_deform(s), d) + mn_deform_elastic(mn_solids_deform(s), d);
  return e;
}
