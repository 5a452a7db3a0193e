/* Contact in the one system.

   The solid's equations about an iterate know no contact: bodies strike, stick, slide and part in
   its own `solve` alone. So that finds places X(load), and the system is put about them: with K
   that holds what touches (operators.h),

       solve: X(load);   (K, fluid) about it: load' and X + E q;   again, until X(load') = X + E q

   Where the touches stay the same this is Newton's method, and a body that rests on something ends
   at once; where they change, each solve shows the next ones. In heaps two sets of touches may call
   for each other for ever, in short substeps too: where a turn comes nowhere, the system is next
   put about the mean of its two loads, and what it gives is tried whole. Bodies that only came near
   need the first solve and no more. Friction that follows a normal force which follows the load is
   not in K: linear convergence. Verified by tests/verify/test_monolithic_contact.c. */
#include <math.h>
#include <string.h>

#include "couple/monolithic_internal.h"
#include "math/vec.h"

#include "base/status.h"

/* Friction that follows the load leaves 0.7 of the gap in a turn, once the touches stay. */
enum { TURNS = 24 };
/* A turn that leaves more than this part of the least gap so far comes nowhere. */
static const double GAIN = 0.5;
/* Of what is allowed: the mean distance by which surfaces of a closed region may end from where
   they keep its volume. A wall that is held by contact would lose some in every substep. */
static const double LOST = 0.02;

static double greatest(const mn_vec3 *a, const mn_vec3 *b, size_t n)
{
  double most = 0;
  for (size_t i = 0; i < n; i++) {
    double gap = mn_length(mn_sub(a[i], b[i]));
    most = gap > most || gap != gap ? gap : most;
  }
  return most;
}

/* m, by which places differ. */
static double greatest_gap(const mn_monolithic *m)
{
  return greatest(m->boxes->face.X, m->X_linear, m->boxes->face.count);
}

/* The solid under m->load, which act where the system ends. */
static mn_status solve_solid(mn_monolithic *m)
{
  mn_interface *f = &m->boxes->face;
  size_t bytes = f->count * sizeof *f->X;
  memset(f->mass, 0, f->count * sizeof *f->mass);
  memcpy(f->load, m->load, bytes);
  memcpy(f->X, m->X_linear, bytes);
  m->closed->settled = 0;
  return mn_boxes_solve_solid(m->boxes);
}

/* Where velocities at the end are settled, these count as well, as ways of a substep: what touches
   does not give way as its mass alone would, and the fluid must not see it go on. If they are not
   those of the system, the next turn has what the solid says (m->touched), from where the solid was
   before: it is put about that. */
static mn_status settle(mn_monolithic *m, double allowed, int *same)
{
  mn_interface *f = &m->boxes->face;
  *same = 1;
  if (!m->binds)
    return MN_OK;
  memcpy(m->V, f->V, f->count * sizeof *f->V);
  MN_TRY(mn_closed_settle(m->closed));
  *same = m->s.dt * greatest(f->V, m->V_linear, f->count) <= allowed;
  if (*same)
    return MN_OK;
  for (size_t i = 0; i < f->count; i++)
    m->touched[i] = mn_sub(f->V[i], m->V[i]);
  return solve_solid(m);
}

mn_status mn_monolithic_touch(mn_monolithic *m, mn_coupling_report *report, int *agreed)
{
  mn_interface *f = &m->boxes->face;
  size_t bytes = f->count * sizeof *f->X;
  double least = INFINITY;
  *agreed = 0;
  memset(m->touched, 0, bytes);
  memcpy(m->X_linear, f->X, bytes);
  for (int k = 0; k < TURNS; k++) {
    MN_TRY(solve_solid(m));
    report->residual = greatest_gap(m);
    int same = report->residual <= report->allowed && mn_mono_lost(m) <= LOST * report->allowed;
    if (same)
      MN_TRY(settle(m, report->allowed, agreed));
    if (*agreed) {
      return k ? mn_mono_tell_fluid(m, report) : MN_OK;
    }
    if (k > 0 && !same &&
        report->residual > GAIN * least) { /* touches go round: between two of their sets */
      for (size_t i = 0; i < f->count; i++)
        m->load[i] = mn_scale(0.5, mn_add(m->load[i], m->load_about[i]));
      MN_TRY(solve_solid(m));
    }
    least = fmin(least, report->residual);
    memcpy(m->load_about, m->load, bytes);
    MN_TRY(mn_mono_assemble(m));
    MN_TRY(mn_mono_find_step(m));
    mn_mono_look_ahead(m);
  }
  return MN_OK;
}
