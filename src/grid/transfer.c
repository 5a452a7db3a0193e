/* W and its transpose.

   Kernel rows. With s = |x_i - x_f| / r, the cubic spline of radius r,
       w = 1 - 6 s^2 + 6 s^3   for s < 1/2,   2 (1 - s)^3   for s < 1,   0 beyond,
   over the points of the face's body; W_fi = w_fi / sum_j w_fj [Akbay thesis, eq. 4.6]. A row
   without any point in reach (a body that was stretched) takes the weights of the nearest place on
   the body's elements instead: where the link is crossed, if an element of a thin body blocks it.
   The weights of a row are >= 0 with sum 1, so W keeps constants and W^T total force; the force of
   row f acts at sum_i W_fi x_i.

   Rigid rows. c and v the means of x_i and V_i over the n points of the body, r_i = x_i - c,
       I = sum_i (|r_i|^2 1 - r_i r_i^T),  w = I^-1 sum_i r_i x V_i,
       U_f = e . (v + w x (x_f - c)),
   the least-squares fit, which gives back every rigid motion. Transposed, with the total force F
   and torque T about c of all rows of the body, each acting at the centre of its face,
       load_i = F / n + (I^-1 T) x r_i,
   whose sums are F and T. Points on a line carry no torque about it: I^-1 is then the
   pseudo-inverse and a row acts at the foot of the face's centre on the line. Verified by
   tests/unit/grid/test_transfer.c. */
#include "grid/transfer.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "math/svd.h"

/* Round-off allowed in the sums of forces and torques, relative to the sum of their sizes. */
static const double ROUND_OFF = 1e-11;
/* An inertia below this part of the greatest is that of points on a line. */
static const double FLAT = 1e-12;
/* Points nearer to each other than this part of the kernel's radius are in one place. */
static const double POINT = 1e-9;

struct mn_weights_work {
  size_t row_room, entry_room, point_room, body_room;
  size_t bin_room;
  int n[3];        /* bins of points, as wide as the kernel's radius, */
  mn_vec3 lo;      /* m, from here on */
  double per_size; /* 1/m */
  uint32_t *bin;   /* [bins + 2] bin b has the points item[bin[b]] to item[bin[b + 1] - 1] */
  uint32_t *item;  /* [points] */
  mn_vec3 *X;      /* [points] as placed */
  int *rigid_body; /* [points] -1: it deforms */
  mn_vec3 *spread; /* [points] */
  mn_vec3 *force, *torque; /* [bodies] */
  double *share;           /* [bodies] */
};

/* ---- create, destroy ------------------------------------------------------------------------- */

mn_status mn_weights_create(mn_context *ctx, double radius, mn_weights **out)
{
  mn_weights *w;
  *out = NULL;
  if (!(radius > 0) || !isfinite(radius))
    return mn_fail(ctx, MN_BAD_INPUT, "a kernel of radius %g m; it must be positive", radius);
  MN_TRY(MN_NEW(ctx, "weights of faces", 1, &w));
  *w = (mn_weights){.ctx = ctx, .radius = radius};
  mn_status status = MN_NEW(ctx, "weights of faces", 1, &w->work);
  if (status != MN_OK)
    mn_weights_destroy(&w);
  *out = w;
  return status;
}

void mn_weights_destroy(mn_weights **inout)
{
  mn_weights *w = *inout;
  if (!w)
    return;
  if (w->work) {
    struct mn_weights_work *k = w->work;
    void *inner[] = {k->bin,    k->item,  k->X,      k->rigid_body,
                     k->spread, k->force, k->torque, k->share};
    for (size_t i = 0; i < sizeof inner / sizeof *inner; i++)
      mn_free(inner[i]);
  }
  void *all[] = {w->face, w->where, w->start, w->point, w->weight, w->fit, w->work};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    mn_free(all[i]);
  mn_free(w);
  *inout = NULL;
}

static mn_status make_room(mn_weights *w, size_t rows, size_t points, int bodies)
{
  struct mn_weights_work *work = w->work;
  if (rows > work->row_room) {
    size_t more = rows + rows / 2; /* which faces are closed changes from step to step */
    work->row_room = 0;
    MN_TRY(MN_RENEW(w->ctx, "closed faces", more, &w->face));
    MN_TRY(MN_RENEW(w->ctx, "places of forces", more, &w->where));
    MN_TRY(MN_RENEW(w->ctx, "rows of weights", more + 1, &w->start));
    work->row_room = more;
  }
  if (points > work->point_room) {
    work->point_room = 0;
    MN_TRY(MN_RENEW(w->ctx, "points in bins", points, &work->item));
    MN_TRY(MN_RENEW(w->ctx, "placed points", points, &work->X));
    MN_TRY(MN_RENEW(w->ctx, "rigid bodies of points", points, &work->rigid_body));
    MN_TRY(MN_RENEW(w->ctx, "spread forces", points, &work->spread));
    work->point_room = points;
  }
  if ((size_t)bodies > work->body_room) {
    work->body_room = 0;
    MN_TRY(MN_RENEW(w->ctx, "rigid fits", (size_t)bodies, &w->fit));
    MN_TRY(MN_RENEW(w->ctx, "body forces", (size_t)bodies, &work->force));
    MN_TRY(MN_RENEW(w->ctx, "body torques", (size_t)bodies, &work->torque));
    MN_TRY(MN_RENEW(w->ctx, "body shares", (size_t)bodies, &work->share));
    work->body_room = (size_t)bodies;
  }
  return MN_OK;
}

static mn_status entry_room(mn_weights *w, size_t used, size_t count)
{
  struct mn_weights_work *work = w->work;
  if (count <= work->entry_room)
    return MN_OK;
  size_t more = count + count / 2;
  MN_TRY(mn_grow(w->ctx, "weights", used, more, sizeof *w->point, (void **)&w->point));
  MN_TRY(mn_grow(w->ctx, "weights", used, more, sizeof *w->weight, (void **)&w->weight));
  work->entry_room = more;
  return MN_OK;
}

/* ---- bins of points -------------------------------------------------------------------------- */

static int bin_along(const mn_weights *w, double x, int a)
{
  const struct mn_weights_work *work = w->work;
  double at = (x - work->lo.v[a]) * work->per_size;
  return at < 0 ? 0 : at >= work->n[a] ? work->n[a] - 1 : (int)at;
}

static int64_t bin_of(const mn_weights *w, mn_vec3 x)
{
  const int *n = w->work->n;
  return bin_along(w, x.v[0], 0) +
         n[0] * (bin_along(w, x.v[1], 1) + (int64_t)n[1] * bin_along(w, x.v[2], 2));
}

/* The box that the bins cover: around the points, in the domain or near it. What lies beyond counts
   as on its rim. */
static void bin_box(mn_weights *w, const mn_immersed *im)
{
  const mn_grid *g = im->grid;
  struct mn_weights_work *work = w->work;
  for (int a = 0; a < 3; a++) {
    double lo = INFINITY, hi = -INFINITY;
    for (size_t i = 0; i < im->points; i++) {
      lo = mn_min(lo, im->X[i].v[a]);
      hi = mn_max(hi, im->X[i].v[a]);
    }
    double low = g->origin.v[a] + g->dx * (g->lo[a] - 2), high = low + g->dx * (g->n[a] + 4);
    lo = mn_clamp(lo, low, high);
    hi = mn_clamp(hi, low, high);
    work->lo.v[a] = lo;
    work->n[a] = a < g->dim && im->points ? (int)((hi - lo) / w->radius) + 1 : 1;
  }
  work->per_size = 1 / w->radius;
}

static mn_status sort_points(mn_weights *w, const mn_immersed *im)
{
  struct mn_weights_work *work = w->work;
  bin_box(w, im);
  size_t bins = (size_t)work->n[0] * (size_t)work->n[1] * (size_t)work->n[2];
  if (bins + 2 > work->bin_room) {
    work->bin_room = 0;
    MN_TRY(MN_RENEW(w->ctx, "bins of points", bins + bins / 4 + 2, &work->bin));
    work->bin_room = bins + bins / 4 + 2;
  }
  memset(work->bin, 0, (bins + 2) * sizeof *work->bin);
  for (size_t i = 0; i < im->points; i++)
    work->bin[bin_of(w, im->X[i]) + 2]++;
  for (size_t b = 2; b < bins + 2; b++)
    work->bin[b] += work->bin[b - 1];
  for (size_t i = 0; i < im->points; i++)
    work->item[work->bin[bin_of(w, im->X[i]) + 1]++] = (uint32_t)i;
  return MN_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static mn_vec3 face_centre(const mn_grid *g, const mn_closed_face *f)
{
  mn_field face = {.grid = g, .place = (mn_place)f->axis};
  return mn_position(&face, f->i, f->j, f->k);
}

static double kernel(double s)
{
  return s < 0.5 ? 1 - 6 * s * s * (1 - s) : s < 1 ? 2 * (1 - s) * (1 - s) * (1 - s) : 0;
}

/* Appends point p with its w, if it is of the face's body and in reach. */
static mn_status add_point(mn_weights *w, const mn_immersed *im, int body, mn_vec3 x, uint32_t p,
                           size_t *end)
{
  mn_vec3 d = mn_sub(im->X[p], x);
  double square = mn_dot(d, d);
  if (im->point_body[p] != body || !(square < w->radius * w->radius))
    return MN_OK;
  double value = kernel(sqrt(square) / w->radius);
  if (!(value > 0))
    return MN_OK;
  MN_TRY(entry_room(w, *end, *end + 1));
  w->point[*end] = p;
  w->weight[(*end)++] = value;
  return MN_OK;
}

/* Appends the points of the face's body in reach, with their w. */
static mn_status kernel_row(mn_weights *w, const mn_immersed *im, const mn_closed_face *f,
                            size_t *end)
{
  const struct mn_weights_work *work = w->work;
  mn_vec3 x = face_centre(im->grid, f);
  int lo[3], hi[3];
  for (int a = 0; a < 3; a++) {
    lo[a] = bin_along(w, x.v[a] - w->radius, a);
    hi[a] = bin_along(w, x.v[a] + w->radius, a);
  }
  for (int k = lo[2]; k <= hi[2]; k++)
    for (int j = lo[1]; j <= hi[1]; j++) { /* bins along x follow each other */
      int64_t row = work->n[0] * (j + (int64_t)work->n[1] * k);
      for (uint32_t s = work->bin[row + lo[0]]; s < work->bin[row + hi[0] + 1]; s++)
        MN_TRY(add_point(w, im, f->body, x, work->item[s], end));
    }
  return MN_OK;
}

/* The nearest place on the body's elements, or where the link is crossed. */
static mn_status nearest_row(mn_weights *w, const mn_immersed *im, const mn_closed_face *f,
                             size_t *end)
{
  const mn_grid *g = im->grid;
  mn_vec3 x = face_centre(g, f);
  double weight[3];
  if (f->element != MN_NO_ELEMENT)
    x.v[f->axis] += (f->fraction - 0.5) * g->dx;
  uint32_t e = mn_immersed_nearest(im, x, f->body, weight, NULL);
  if (e == MN_NO_ELEMENT)
    return mn_fail(w->ctx, MN_FAILED,
                   "face (%d, %d, %d) of axis %d is said to be closed by body %d, which has no "
                   "element",
                   f->i, f->j, f->k, f->axis, f->body);
  MN_TRY(entry_room(w, *end, *end + 3));
  for (int c = 0; c < g->dim; c++)
    if (weight[c] > 0) {
      w->point[*end] = im->element[(size_t)g->dim * e + (size_t)c];
      w->weight[(*end)++] = weight[c];
    }
  return MN_OK;
}

static mn_vec3 rigid_where(const mn_rigid_fit *fit, mn_vec3 x)
{
  mn_vec3 r = mn_sub(x, fit->centre);
  if (fit->rank == 0)
    return fit->centre;
  if (fit->rank == 2)
    return mn_madd(fit->centre, mn_dot(r, fit->line), fit->line);
  return x;
}

static mn_status make_row(mn_weights *w, const mn_immersed *im, size_t row, size_t *end)
{
  const mn_closed_face *f = &w->face[row];
  size_t begin = *end;
  if (f->body < 0 || f->body >= im->bodies)
    return mn_fail(w->ctx, MN_FAILED, "a face is said to be closed by body %d of %d", f->body,
                   im->bodies);
  if (w->fit[f->body].points) {
    w->where[row] = rigid_where(&w->fit[f->body], face_centre(im->grid, f));
    return MN_OK;
  }
  MN_TRY(kernel_row(w, im, f, end));
  if (*end == begin) {
    MN_TRY(nearest_row(w, im, f, end));
    w->fallbacks++;
  }
  double sum = 0;
  for (size_t s = begin; s < *end; s++)
    sum += w->weight[s];
  mn_vec3 x = {{0}};
  for (size_t s = begin; s < *end; s++) {
    w->weight[s] /= sum;
    x = mn_madd(x, w->weight[s], im->X[w->point[s]]);
  }
  w->where[row] = x;
  return MN_OK;
}

/* ---- rigid fits ------------------------------------------------------------------------------ */

static void invert(mn_rigid_fit *fit, const mn_mat3 *I, double least)
{
  double value[3];
  mn_mat3 V;
  mn_eigen_symmetric(I, value, &V);
  fit->rank = 0;
  memset(fit->inverse, 0, sizeof fit->inverse);
  for (int s = 0; s < 3; s++) {
    mn_vec3 axis = mn_mat3_column(&V, s);
    if (!(value[s] > FLAT * value[0]) || value[s] <= least) {
      fit->line = axis;
      continue;
    }
    fit->rank++;
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 3; b++)
        fit->inverse[a][b] += axis.v[a] * axis.v[b] / value[s];
  }
}

static void fit_bodies(mn_weights *w, const mn_immersed *im)
{
  int dim = im->grid->dim;
  w->bodies = im->bodies;
  for (int b = 0; b < w->bodies; b++)
    w->fit[b] = (mn_rigid_fit){0};
  for (size_t i = 0; i < im->points; i++)
    if (im->rigid[i]) {
      mn_rigid_fit *fit = &w->fit[im->point_body[i]];
      if (!fit->points++)
        fit->first = i;
      fit->centre = mn_add(fit->centre, mn_sub(im->X[i], im->X[fit->first]));
    }
  for (int b = 0; b < w->bodies; b++)
    if (w->fit[b].points)
      w->fit[b].centre =
          mn_madd(im->X[w->fit[b].first], 1 / (double)w->fit[b].points, w->fit[b].centre);
  /* the inertia, gathered where its inverse will be */
  for (size_t i = 0; i < im->points; i++)
    if (im->rigid[i]) {
      mn_rigid_fit *fit = &w->fit[im->point_body[i]];
      mn_vec3 r = mn_sub(im->X[i], fit->centre);
      double square = mn_dot(r, r);
      for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
          fit->inverse[a][b] += (a == b ? square : 0) - r.v[a] * r.v[b];
    }
  for (int b = 0; b < w->bodies; b++) {
    mn_rigid_fit *fit = &w->fit[b];
    mn_mat3 I;
    memcpy(I.m, fit->inverse, sizeof I.m);
    if (!fit->points)
      continue;
    double least = (double)fit->points * (POINT * w->radius) * (POINT * w->radius);
    if (dim == 3) {
      invert(fit, &I, least);
    } else { /* turning about z only */
      memset(fit->inverse, 0, sizeof fit->inverse);
      fit->rank = I.m[2][2] > least;
      fit->inverse[2][2] = fit->rank ? 1 / I.m[2][2] : 0;
    }
  }
}

static mn_vec3 turn(const mn_rigid_fit *fit, mn_vec3 torque)
{
  mn_mat3 inverse;
  memcpy(inverse.m, fit->inverse, sizeof inverse.m);
  return mn_mat3_apply(inverse, torque);
}

mn_status mn_weights_place(mn_weights *w, const mn_immersed *im, const mn_closed_face *face,
                           size_t count)
{
  w->rows = w->points = w->fallbacks = 0;
  MN_TRY(make_room(w, count, im->points, im->bodies));
  fit_bodies(w, im);
  MN_TRY(sort_points(w, im));
  size_t end = 0;
  for (size_t row = 0; row < count; row++) {
    w->face[row] = face[row];
    w->start[row] = (int64_t)end;
    MN_TRY(make_row(w, im, row, &end));
  }
  if (count)
    w->start[count] = (int64_t)end;
  for (size_t i = 0; i < im->points; i++) {
    w->work->X[i] = im->X[i];
    w->work->rigid_body[i] = im->rigid[i] ? im->point_body[i] : -1;
  }
  w->points = im->points;
  w->rows = count;
  return MN_OK;
}

/* ---- W and its transpose --------------------------------------------------------------------- */

void mn_weights_gather(const mn_weights *w, const mn_vec3 *V, double *U)
{
  mn_vec3 *v = w->work->force, *turning = w->work->torque; /* of rigid bodies */
  for (int b = 0; b < w->bodies; b++)
    v[b] = turning[b] = (mn_vec3){{0}};
  for (size_t i = 0; i < w->points; i++) {
    int b = w->work->rigid_body[i];
    if (b < 0)
      continue;
    mn_vec3 r = mn_sub(w->work->X[i], w->fit[b].centre), dV = mn_sub(V[i], V[w->fit[b].first]);
    v[b] = mn_add(v[b], dV);
    turning[b] = mn_add(turning[b], mn_cross(r, dV));
  }
  for (int b = 0; b < w->bodies; b++)
    if (w->fit[b].points) {
      v[b] = mn_madd(V[w->fit[b].first], 1 / (double)w->fit[b].points, v[b]);
      turning[b] = turn(&w->fit[b], turning[b]);
    }
  for (size_t row = 0; row < w->rows; row++) {
    const mn_closed_face *f = &w->face[row];
    const mn_rigid_fit *fit = &w->fit[f->body];
    double sum = 0;
    if (fit->points)
      sum = mn_add(v[f->body], mn_cross(turning[f->body], mn_sub(w->where[row], fit->centre)))
                .v[f->axis];
    else
      for (int64_t s = w->start[row]; s < w->start[row + 1]; s++)
        sum += w->weight[s] * V[w->point[s]].v[f->axis];
    U[row] = sum;
  }
}

/* spread = W^T F */
static void spread_forces(const mn_weights *w, const double *F)
{
  struct mn_weights_work *work = w->work;
  for (size_t i = 0; i < w->points; i++)
    work->spread[i] = (mn_vec3){{0}};
  for (int b = 0; b < w->bodies; b++)
    work->force[b] = work->torque[b] = (mn_vec3){{0}};
  for (size_t row = 0; row < w->rows; row++) {
    int b = w->face[row].body, axis = w->face[row].axis;
    if (w->fit[b].points) {
      mn_vec3 f = {{0}};
      f.v[axis] = F[row];
      work->force[b].v[axis] += F[row];
      work->torque[b] =
          mn_add(work->torque[b], mn_cross(mn_sub(w->where[row], w->fit[b].centre), f));
    } else {
      for (int64_t s = w->start[row]; s < w->start[row + 1]; s++)
        work->spread[w->point[s]].v[axis] += w->weight[s] * F[row];
    }
  }
  for (int b = 0; b < w->bodies; b++)
    if (w->fit[b].points) {
      work->force[b] = mn_scale(1 / (double)w->fit[b].points, work->force[b]);
      work->torque[b] = turn(&w->fit[b], work->torque[b]);
    }
  for (size_t i = 0; i < w->points; i++) {
    int b = work->rigid_body[i];
    if (b >= 0)
      work->spread[i] =
          mn_add(work->force[b], mn_cross(work->torque[b], mn_sub(work->X[i], w->fit[b].centre)));
  }
}

/* What the faces gave less what the points got, and the sum of the sizes of the parts. */
typedef struct balance {
  mn_vec3 force, torque;
  double force_size, torque_size;
} balance;

static void balance_add(balance *s, double sign, mn_vec3 x, mn_vec3 f)
{
  mn_vec3 torque = mn_cross(x, f);
  s->force = mn_madd(s->force, sign, f);
  s->torque = mn_madd(s->torque, sign, torque);
  s->force_size += mn_length(f);
  s->torque_size += mn_length(x) * mn_length(f);
}

static mn_status check_balance(const mn_weights *w, const double *F)
{
  const struct mn_weights_work *work = w->work;
  balance s = {0};
  mn_vec3 about = w->points ? work->X[0] : mn_v3(0, 0, 0); /* keeps arms short */
  for (size_t row = 0; row < w->rows; row++) {
    mn_vec3 f = {{0}};
    f.v[w->face[row].axis] = F[row];
    balance_add(&s, 1, mn_sub(w->where[row], about), f);
  }
  for (size_t i = 0; i < w->points; i++)
    balance_add(&s, -1, mn_sub(work->X[i], about), work->spread[i]);
  double force = mn_length(s.force), torque = mn_length(s.torque);
  if (!(force <= ROUND_OFF * s.force_size))
    return mn_fail(w->ctx, MN_FAILED,
                   "the forces on the interface points miss those on the faces by %g N of %g N",
                   force, s.force_size);
  if (!(torque <= ROUND_OFF * s.torque_size))
    return mn_fail(w->ctx, MN_FAILED,
                   "the torque on the interface points misses that on the faces by %g N m of %g "
                   "N m",
                   torque, s.torque_size);
  return MN_OK;
}

mn_status mn_weights_scatter(const mn_weights *w, const double *F, mn_vec3 *load)
{
  spread_forces(w, F);
  MN_TRY(check_balance(w, F));
  for (size_t i = 0; i < w->points; i++)
    load[i] = mn_add(load[i], w->work->spread[i]);
  return MN_OK;
}

void mn_weights_share(const mn_weights *w, const double *amount, double *value)
{
  double *share = w->work->share; /* of each point of a rigid body */
  for (int b = 0; b < w->bodies; b++)
    share[b] = 0;
  for (size_t row = 0; row < w->rows; row++) {
    int b = w->face[row].body;
    if (w->fit[b].points)
      share[b] += amount[row] / (double)w->fit[b].points;
    for (int64_t s = w->start[row]; s < w->start[row + 1]; s++)
      value[w->point[s]] += w->weight[s] * amount[row];
  }
  for (size_t i = 0; i < w->points; i++)
    if (w->work->rigid_body[i] >= 0)
      value[i] += share[w->work->rigid_body[i]];
}

/* Rows of rigid bodies: e_f . (1/n + I^-1 (r_i x .) x (x_f - c)), entry by entry. */
static size_t rigid_row(const mn_weights *w, size_t row, int64_t *col, double *value)
{
  const struct mn_weights_work *work = w->work;
  const mn_closed_face *f = &w->face[row];
  const mn_rigid_fit *fit = &w->fit[f->body];
  mn_vec3 arm = mn_sub(w->where[row], fit->centre);
  size_t count = 0;
  for (size_t i = 0; i < w->points; i++) {
    if (work->rigid_body[i] != f->body)
      continue;
    mn_vec3 r = mn_sub(work->X[i], fit->centre);
    for (int axis = 0; axis < 3; axis++) {
      mn_vec3 unit = {{0}};
      unit.v[axis] = 1;
      double turned = mn_cross(turn(fit, mn_cross(r, unit)), arm).v[f->axis];
      col[count] = 3 * (int64_t)i + axis;
      value[count++] = turned + (axis == f->axis ? 1 / (double)fit->points : 0);
    }
  }
  return count;
}

size_t mn_weights_row(const mn_weights *w, size_t row, int64_t *col, double *value)
{
  const mn_rigid_fit *fit = &w->fit[w->face[row].body];
  size_t count = fit->points ? 3 * fit->points : (size_t)(w->start[row + 1] - w->start[row]);
  if (!col)
    return count;
  if (fit->points)
    return rigid_row(w, row, col, value);
  for (size_t n = 0; n < count; n++) { /* by insertion: a row has few entries */
    int64_t s = w->start[row] + (int64_t)n, c = 3 * (int64_t)w->point[s] + w->face[row].axis;
    size_t at = n;
    for (; at > 0 && col[at - 1] > c; at--) {
      col[at] = col[at - 1];
      value[at] = value[at - 1];
    }
    col[at] = c;
    value[at] = w->weight[s];
  }
  return count;
}
