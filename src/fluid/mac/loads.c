/* What the fluid does to bodies.

   Impulses. Face f along axis a between the cells L and R, A = dx^(dim-1), open part w; p is the
   pressure of the solve, 0 in cells without fluid. The face's dual cell holds theta s of fluid, s
   the mean fluid part of both cells (parts.c), theta the part of the link L-R that liquid fills, as
   the pressure system has it: 1 inside, phi_L / (phi_L - phi_R) at the surface, 1/2 at an open
   side, 0 in air. On a closed side w is what the body leaves to it. Of that, w theta moves with u
   and (s - w) theta with the body:

       rho theta w (u - u*) dx^dim = dt A w (p_L - p_R)                          the projection
       F = A (1 - w) (p_L - p_R) - rho theta (s - w) dx^dim (U - U*) / dt       on the body

   so that over all faces  sum F dt + change of sum rho theta [w u + (s - w) U] dx^dim  is what the
   domain's sides and sources do: momentum is kept to rounding [Akbay thesis, section 2.4;
   Robinson-Mosher 2008]. The second term is the fluid between the last cell centre and the wall; w
   may be greater than s. U*, its velocity before, includes the forces on the fluid: U of the last
   substep + dt a beside a closed body, which fluid slides along; u* on a face that a thin surface
   blocks, where all of it is caught.

   A light body of which water lets go weighs less than masses below 0 take off it: its equation has
   no sense then (a raft of 300 kg/m^3 at rest was thrown up at 1.2 m/s). Couplings can ask for
   narrow faces, w <- min(w, s), in the projection as here: nothing is below 0, and what follows
   stays true. Beside flat walls along the
   grid this is the same force, F = A (p_L + (1/2 - f) (p_L' - p_L)) for a wall at f of the cell L
   and the next one L'; along others water slides a little worse, to first order. Only bodies in
   cells with water that has not parted from them narrow faces: else water would push from below a
   gap (a block of 1 kg/m^3 was thrown up at 3 m/s; 1 m/s is right). Slits stay open by SLIT. What
   is left below 0 there counts as no mass.

   At rest under gravity F sums to rho g times the volume of the body, and its torque to that about
   the centre of volume, both exactly.

   Smoke works with the pressure above that at rest; closed bodies get the rest from their elements,
   -rho g.x n, integrated exactly. In closed regions (enclose.c) both parts have mean 0 over the
   volume. Beside a cell that holds nothing (empty.c) a thin surface is as a closed body, with the
   fluid up to where it crosses the link.

   Pressure differences (section 2.3.5 there): f_i = sum_f K_if dp_f n_f.n_i A_i n_i / sum_f K_if
   over the faces between a cell of fluid and one that is mostly solid, or blocked. Not
   conservative.

   mass: rho theta max(s - w, 0) dx^dim, shared by W.

   Verified by tests/verify/test_added_mass.c, test_body_balance.c, test_neutral.c. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "fluid/mac/internal.h"

/* Narrowed faces are not narrowed further: through less, water would rush where bodies turn or
   deform. */
static const double SLIT = 0.05;

/* What is on one side of a face. */
typedef struct side {
  int inside;  /* of the domain */
  int solid;   /* the level set is but continued into it */
  double p;    /* Pa; 0 without fluid, or with water that does not touch (loose.c) */
  double part; /* fluid part */
  double phi;  /* level set of a liquid, -1 for smoke */
  int marked;  /* the last substep found that water lets go of a body here, */
  int loose;   /* and it is water still: see loose.c */
} side;

static side look(const mn_mac *mac, const mn_closed_face *f, int high)
{
  int at[3] = {f->i, f->j, f->k};
  at[f->axis] -= !high;
  if (at[f->axis] < 0 || at[f->axis] >= mac->grid.n[f->axis])
    return (side){0};
  int64_t c = mn_index(&mac->dp, at[0], at[1], at[2]);
  const mn_field *phi = mn_mac_is_water(mac) ? &mac->liquid_next : NULL;
  side s = {.inside = 1, .part = mac->bodies.part.at[c], .phi = phi ? phi->at[c] : -1};
  s.solid = mac->geometry.cell_extension.layer[mac->dp.at - mac->dp.data + c] != 0;
  if (mac->bodies.marked) {
    s.marked = mac->state.held.at[c] >= MN_MAC_LOOSE;
    s.loose = mac->bodies.anchor.at[c] > 0;
  }
  if (!s.solid && s.phi < 0 && !s.loose)
    s.p = mac->dp.at[c];
  return s;
}

/* Part of the link between the two centres that fluid fills. */
static double link_part(const side *low, const side *high)
{
  if (!low->inside || !high->inside) {
    const side *one = low->inside ? low : high;
    return one->phi < 0 ? 0.5 : 0;
  }
  if (low->phi < 0 && high->phi < 0)
    return 1;
  if ((low->phi >= 0 || low->solid) && (high->phi >= 0 || high->solid))
    return 0;
  double t = low->phi < 0 ? low->phi / (low->phi - high->phi) : high->phi / (high->phi - low->phi);
  return fmax(t, MN_MAC_THETA_MIN);
}

/* The cell on one side of the face is one that holds nothing. */
static int is_empty(const mn_mac *mac, const mn_closed_face *f, int high)
{
  const mn_field *cells = &mac->geometry.volume;
  int at[3] = {f->i, f->j, f->k};
  at[f->axis] -= !high;
  return mac->geometry.empty && at[f->axis] >= 0 && at[f->axis] < cells->n[f->axis] &&
         mac->geometry.empty[cells->at - cells->data + mn_index(cells, at[0], at[1], at[2])];
}

/* Of the face's dual cell: what of the fluid that moves with the body is on one side; nothing where
   there is a gap (loose.c). */
static double own_part(const side *one, const side *other, double w)
{
  if (!one->inside || (one->marked && one->phi >= 0))
    return 0;
  return (other->inside ? 0.5 : 1) * (one->part - w);
}

/* The same, with that of air on the other side: the water is all in this one. */
static double side_part(const side *one, const side *other, double w)
{
  return own_part(one, other, w) + (other->phi >= 0 ? own_part(other, one, w) : 0);
}

static double body_part(const side *low, const side *high, double w)
{
  double part = own_part(low, high, w) + own_part(high, low, w);
  part -= low->loose ? side_part(low, high, w) : 0;
  return part - (high->loose ? side_part(high, low, w) : 0);
}

double mn_mac_bodies_share(const mn_mac *mac, size_t r, int high)
{
  const mn_closed_face *f = &mac->bodies.face[r];
  side here = look(mac, f, high), there = look(mac, f, !high);
  double w = mn_mac_bodies_open(mac, r);
  double theta = high ? link_part(&there, &here) : link_part(&here, &there);
  return mac->def->fluid.density * theta * side_part(&here, &there, w) *
         pow(mac->grid.dx, mac->grid.dim);
}

mn_dual mn_mac_bodies_dual(const mn_mac *mac, size_t r)
{
  const mn_mac_bodies *b = &mac->bodies;
  const mn_closed_face *f = &b->face[r];
  double dx = mac->grid.dx, A = pow(dx, mac->grid.dim - 1), rho = mac->def->fluid.density;
  side low = look(mac, f, 0), high = look(mac, f, 1);
  double w = mn_mac_bodies_open(mac, r);
  double part = link_part(&low, &high) * body_part(&low, &high, w);
  int thin = f->element != MN_NO_ELEMENT;
  if (thin && (is_empty(mac, f, 0) || is_empty(mac, f, 1))) {
    part = is_empty(mac, f, 0) ? 1 - f->fraction : f->fraction; /* as far as the shell */
    thin = 0;                                                   /* like a closed body */
  }
  if (b->narrowed)
    part = fmax(part, 0);
  double before =
      thin ? mn_get(&mac->star[f->axis], f->i, f->j, f->k)
           : b->U_start[r] + mac->dt * mn_mac_acceleration(mac, f->axis, f->i, f->j, f->k, 0);
  return (mn_dual){A * mn_mac_bodies_closed(mac, r), rho * part * A * dx, before};
}

/* Part of a cell beside a face for narrowing: what the body takes of a cell without water, or with
   water that has parted from it, is no matter. */
static double wet_part(const mn_mac *mac, const mn_closed_face *f, int high)
{
  int at[3] = {f->i, f->j, f->k};
  const mn_field *held = &mac->state.held;
  side s = look(mac, f, high);
  at[f->axis] -= !high;
  int parted = s.inside && held->data && mn_get(held, at[0], at[1], at[2]) > 0;
  return s.inside && s.phi < 0 && !parted ? s.part : 1;
}

void mn_mac_bodies_narrow(mn_mac *mac)
{
  const mn_mac_bodies *b = &mac->bodies;
  for (size_t r = 0; r < b->weights->rows; r++) {
    const mn_closed_face *f = &b->face[r];
    mn_field *open = &mac->geometry.open[f->axis];
    double *w = &open->at[mn_index(open, f->i, f->j, f->k)];
    double s = 0.5 * (wet_part(mac, f, 0) + wet_part(mac, f, 1));
    if (f->element == MN_NO_ELEMENT)
      *w = fmin(*w, fmax(s, SLIT));
  }
}

static int any_soft(const mn_interface *f)
{
  for (size_t i = 0; i < f->count; i++)
    if (!f->rigid[i] && f->lead[i] > 0)
      return 1;
  return 0;
}

mn_status mn_mac_bodies_lacking(void *self, const mn_interface *interface, mn_vec3 *mass, int *any)
{
  mn_mac *mac = self;
  mn_mac_bodies *b = &mac->bodies;
  *any = 0;
  int lets_go = mac->state.held.data != NULL;
  int may_lack = interface->impulse && mac->def->fluid.project && (lets_go || any_soft(interface));
  if (!interface->count || !may_lack)
    return MN_OK;
  MN_TRY(mn_mac_bodies_place(mac, interface));
  memset(mass, 0, interface->count * sizeof *mass);
  for (size_t r = 0; r < b->weights->rows; r++) {
    b->F[r] = mn_mac_bodies_dual(mac, r).mass;
    *any |= b->F[r] < 0;
  }
  *any = *any && !lets_go ? MN_LACKING_HELD : *any;
  return *any ? mn_weights_scatter(b->weights, b->F, mass) : MN_OK;
}

double mn_mac_bodies_force(const mn_mac *mac, size_t r, const mn_dual *d)
{
  const mn_mac_bodies *b = &mac->bodies;
  const mn_closed_face *f = &b->face[r];
  double dp = look(mac, f, 0).p - look(mac, f, 1).p;
  return d->area * dp - d->mass * (b->U[r] - d->before) / mac->dt;
}

/* F of each row, and its mass. */
static void impulses(mn_mac *mac)
{
  mn_mac_bodies *b = &mac->bodies;
  int64_t rows = (int64_t)b->weights->rows;
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int64_t r = 0; r < rows; r++) {
    mn_dual d = mn_mac_bodies_dual(mac, (size_t)r);
    b->F[r] = mn_mac_bodies_force(mac, (size_t)r, &d);
    b->mass[r] = fmax(d.mass, 0);
  }
}

/* ---- pressure differences -------------------------------------------------------------------- */

/* dp of a face, 0 if it is none between fluid and solid; *counts says whether it is. */
static double difference(const mn_mac *mac, const mn_closed_face *f, int *counts)
{
  side low = look(mac, f, 0), high = look(mac, f, 1);
  int blocked = f->element != MN_NO_ELEMENT;
  *counts = blocked || (low.part < 0.5) != (high.part < 0.5);
  if (blocked)
    return low.p - high.p;
  return (low.part < 0.5 ? 0 : low.p) - (high.part < 0.5 ? 0 : high.p);
}

/* Cubic kernel of radius 1. */
static double kernel(double t)
{
  return t < 0.5 ? 1 - 6 * t * t * (1 - t) : t < 1 ? 2 * (1 - t) * (1 - t) * (1 - t) : 0;
}

static int compare(const mn_closed_face *a, const mn_closed_face *b)
{
  int d[4] = {a->axis - b->axis, a->k - b->k, a->j - b->j, a->i - b->i};
  return d[0] ? d[0] : d[1] ? d[1] : d[2] ? d[2] : d[3];
}

int64_t mn_mac_bodies_row(const mn_mac_bodies *b, const mn_closed_face *f)
{
  int64_t lo = 0, hi = (int64_t)b->weights->rows;
  while (lo < hi) {
    int64_t middle = lo + (hi - lo) / 2;
    int order = compare(&b->face[middle], f);
    if (order == 0)
      return middle;
    lo = order < 0 ? middle + 1 : lo;
    hi = order < 0 ? hi : middle;
  }
  return -1;
}

/* Sums of K dp n.n_i and of K over the faces of one axis in reach of point i. */
static void add_faces(const mn_mac *mac, const mn_interface *interface, size_t i, int axis,
                      double *sum, double *weight)
{
  const mn_mac_bodies *b = &mac->bodies;
  const mn_field *face = &mac->geometry.open[axis];
  double reach = b->weights->radius, dx = mac->grid.dx;
  int lo[3] = {0, 0, 0}, hi[3] = {0, 0, 0};
  for (int a = 0; a < mac->grid.dim; a++) {
    double s = (interface->X[i].v[a] - mac->grid.origin.v[a]) / dx - mn_offset(face->place, a);
    lo[a] = (int)mn_clamp(ceil(s - reach / dx), 0, face->n[a]);
    hi[a] = (int)mn_clamp(floor(s + reach / dx), -1, face->n[a] - 1);
  }
  for (int kk = lo[2]; kk <= hi[2]; kk++)
    for (int jj = lo[1]; jj <= hi[1]; jj++)
      for (int ii = lo[0]; ii <= hi[0]; ii++) {
        int64_t r =
            mn_mac_bodies_row(b, &(mn_closed_face){.axis = axis, .i = ii, .j = jj, .k = kk});
        if (r < 0 || b->face[r].body != interface->body[i] || !b->counts[r])
          continue;
        mn_vec3 x = mn_position(face, ii, jj, kk);
        double K = kernel(mn_length(mn_sub(interface->X[i], x)) / reach);
        *sum += K * b->F[r] * interface->N[i].v[axis];
        *weight += K;
      }
}

static void differences(mn_mac *mac, mn_interface *interface)
{
  mn_mac_bodies *b = &mac->bodies;
  for (size_t r = 0; r < b->weights->rows; r++)
    b->F[r] = difference(mac, &b->face[r], &b->counts[r]);
  int64_t count = (int64_t)interface->count;
#pragma omp parallel for schedule(static) num_threads(mac->grid.exec->threads)
  for (int64_t i = 0; i < count; i++) {
    double sum = 0, weight = 0;
    for (int a = 0; a < mac->grid.dim; a++)
      add_faces(mac, interface, (size_t)i, a, &sum, &weight);
    double force = weight > 0 ? sum / weight * interface->area[i] : 0;
    interface->load[i] = mn_scale(force, interface->N[i]);
  }
}

/* ---- the pressure at rest -------------------------------------------------------------------- */

/* The pressure at rest at x as one side of an element feels it: with mean 0 over the closed region
   that it faces; else 0 at the top, or everywhere if nothing is there. */
static double rest_pressure(const mn_mac *mac, size_t s, mn_vec3 x)
{
  const mn_enclosure *e = &mac->enclosure;
  mn_vec3 weight = mn_scale(mac->def->fluid.density, mac->def->fluid.gravity);
  if (e->known && e->facing[s] == MN_FACES_UNKNOWN)
    s ^= 1; /* as if the same fluid were on both sides */
  if (e->known && e->facing[s] >= 0)
    return mn_dot(weight, mn_sub(x, e->center[e->facing[s]]));
  return mac->geometry.empty ? 0 : mn_dot(weight, mn_sub(x, mn_mac_top(mac)));
}

/* -p n over an element, p linear, shared by its points with their linear weights. Of thin ones the
   difference of both sides. */
void mn_mac_bodies_rest(const mn_mac *mac, const mn_interface *f, mn_vec3 *load)
{
  int dim = f->dim, closed = mac->enclosure.known && mac->enclosure.told.count;
  if (mn_mac_is_water(mac))
    return;
  for (size_t e = 0; e < f->elements; e++) {
    const uint32_t *at = f->element + (size_t)dim * e;
    int thin = f->two_sided[at[0]];
    if (thin && !closed)
      continue;
    mn_vec3 a = f->X[at[0]], u = mn_sub(f->X[at[1]], a), n;
    if (dim == 2) /* the fluid on the right */
      n = mn_v3(u.y, -u.x, 0);
    else
      n = mn_scale(0.5, mn_cross(u, mn_sub(f->X[at[2]], a)));
    double p[3], sum = 0;
    for (int v = 0; v < dim; v++) {
      p[v] = rest_pressure(mac, 2 * e, f->X[at[v]]);
      p[v] -= thin ? rest_pressure(mac, 2 * e + 1, f->X[at[v]]) : 0;
      sum += p[v];
    }
    for (int v = 0; v < dim; v++)
      load[at[v]] = mn_madd(load[at[v]], -(sum + p[v]) / (dim * (dim + 1)), n);
  }
}

mn_status mn_mac_bodies_loads(mn_mac *mac, mn_interface *interface)
{
  mn_mac_bodies *b = &mac->bodies;
  memset(interface->load, 0, interface->count * sizeof *interface->load);
  memset(interface->mass, 0, interface->count * sizeof *interface->mass);
  impulses(mac);
  mn_weights_share(b->weights, b->mass, interface->mass);
  if (interface->level && interface->impulse && mac->enclosure.known)
    MN_TRY(mn_mac_bodies_level(mac, interface->level));
  if (interface->impulse)
    MN_TRY(mn_weights_scatter(b->weights, b->F, interface->load));
  else
    differences(mac, interface);
  mn_mac_bodies_rest(mac, interface, interface->load);
  return MN_OK;
}
