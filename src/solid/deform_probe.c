/* What can be measured on deformable bodies. Sums run over nodes or elements in their order. */
#include "solid/deform_internal.h"

#include "solid/elastic.h"

static void range(const mn_deform *d, int body, size_t *first, size_t *last)
{
  *first = body < 0 ? 0 : d->body[body].first;
  *last = body < 0 ? d->nodes : *first + d->body[body].nodes;
}

double mn_deform_kinetic(const mn_deform *d, int body)
{
  size_t first, last;
  double sum = 0;
  range(d, body, &first, &last);
  for (size_t i = first; i < last; i++)
    sum += d->mass[i] / 2 * mn_dot(d->v[i], d->v[i]);
  return sum;
}

double mn_deform_elastic(mn_deform *d, int body)
{
  double energy;
  mn_inverted bad;
  return mn_assembly_energy(&d->assembly, d->x, body, &energy, NULL, &bad) ? energy : NAN;
}

mn_vec3 mn_deform_momentum(const mn_deform *d, int body)
{
  size_t first, last;
  mn_vec3 sum = mn_v3(0, 0, 0);
  range(d, body, &first, &last);
  for (size_t i = first; i < last; i++)
    sum = mn_madd(sum, d->mass[i], d->v[i]);
  return sum;
}

mn_vec3 mn_deform_angular(const mn_deform *d, int body, mn_vec3 about)
{
  size_t first, last;
  mn_vec3 sum = mn_v3(0, 0, 0);
  range(d, body, &first, &last);
  for (size_t i = first; i < last; i++)
    sum = mn_madd(sum, d->mass[i], mn_cross(mn_sub(d->x[i], about), d->v[i]));
  return sum;
}

mn_vec3 mn_deform_center(const mn_deform *d, int body)
{
  size_t first, last;
  mn_vec3 sum = mn_v3(0, 0, 0);
  double mass = 0;
  range(d, body, &first, &last);
  for (size_t i = first; i < last; i++) {
    sum = mn_madd(sum, d->mass[i], d->x[i]);
    mass += d->mass[i];
  }
  return mn_scale(1 / mass, sum);
}

/* ---- over elements --------------------------------------------------------------------------- */

static int is_of(const mn_energy_group *g, int body)
{
  return body < 0 || g->body == body;
}

/* Corners of elements whose sides tell the stretch; 0 for energies that have none. */
static int corners_of(const mn_energy_group *g)
{
  if (mn_energy_is_elastic(g))
    return g->dim + 1;
  return mn_energy_is_membrane(g) ? 3 : mn_energy_is_spring(g) ? 2 : 0;
}

void mn_deform_stretch(const mn_deform *d, int body, double *max, double *mean)
{
  size_t count = 0;
  double sum = 0;
  *max = 0;
  for (int k = 0; k < d->groups; k++) {
    const mn_energy_group *g = d->group + k;
    int corners = corners_of(g);
    for (size_t e = 0; is_of(g, body) && e < g->count; e++)
      for (int a = 0; a < corners; a++)
        for (int b = 0; b < a; b++) {
          const uint32_t *n = g->node + e * (size_t)g->nodes;
          double rest =
              corners == 2 ? mn_spring_rest(g, e) : mn_length(mn_sub(d->rest[n[a]], d->rest[n[b]]));
          if (!(rest > 0))
            continue;
          double stretch = mn_length(mn_sub(d->x[n[a]], d->x[n[b]])) / rest;
          *max = mn_max(stretch, *max);
          sum += stretch;
          count++;
        }
  }
  *mean = count ? sum / (double)count : 1;
  *max = count ? *max : 1;
}

static void local(const mn_deform *d, const mn_energy_group *g, size_t e, mn_vec3 *x)
{
  for (int a = 0; a < g->nodes; a++)
    x[a] = d->x[g->node[e * (size_t)g->nodes + (size_t)a]];
}

double mn_deform_min_j(const mn_deform *d, int body)
{
  double least = HUGE_VAL;
  for (int k = 0; k < d->groups; k++) {
    const mn_energy_group *g = d->group + k;
    if (!is_of(g, body) || !mn_energy_is_elastic(g))
      continue;
    for (size_t e = 0; e < g->count; e++) {
      mn_vec3 x[MN_ENERGY_NODES_MAX];
      local(d, g, e, x);
      for (int q = 0; q < g->points; q++)
        least = mn_min(mn_mat3_determinant(mn_elastic_gradient(g, e, q, x)), least);
    }
  }
  return least < HUGE_VAL ? least : 1;
}

int mn_deform_crushed(const mn_deform *d, const mn_vec3 *x1, int *body, size_t *element,
                      double *ratio)
{
  static const double LEAST = 0.01, TURNED = -1;
  for (int k = 0; k < d->groups; k++) {
    const mn_energy_group *g = d->group + k;
    for (size_t e = 0; mn_energy_is_elastic(g) && e < g->count; e++) {
      mn_vec3 x[MN_ENERGY_NODES_MAX];
      for (int a = 0; a < g->nodes; a++)
        x[a] = x1[g->node[e * (size_t)g->nodes + (size_t)a]];
      double J = mn_mat3_determinant(mn_elastic_gradient(g, e, 0, x));
      if (J < (g->material.kind == MN_NEO_HOOKEAN ? LEAST : TURNED)) {
        *body = g->body, *element = e, *ratio = J;
        return 1;
      }
    }
  }
  return 0;
}

double mn_deform_strain_rate(const mn_deform *d)
{
  double most = 0;
  for (int k = 0; k < d->groups; k++) {
    const mn_energy_group *g = d->group + k;
    for (size_t e = 0; mn_energy_is_elastic(g) && e < g->count; e++) {
      mn_vec3 x[MN_ENERGY_NODES_MAX], y[MN_ENERGY_NODES_MAX];
      local(d, g, e, x);
      for (int a = 0; a < g->nodes; a++)
        y[a] = mn_add(x[a], d->v[g->node[e * (size_t)g->nodes + (size_t)a]]);
      for (int q = 0; q < g->points; q++) {
        mn_mat3 F = mn_elastic_gradient(g, e, q, x), inverse;
        mn_mat3 L = mn_mat3_add(mn_elastic_gradient(g, e, q, y), mn_mat3_scale(-1, F));
        if (g->material.kind == MN_NEO_HOOKEAN) { /* others bear J = 0, and pass through it */
          if (!(mn_mat3_determinant(F) > 0) || !mn_mat3_inverse(F, &inverse))
            continue;
          L = mn_mat3_mul(L, inverse);
        }
        mn_mat3 D = mn_mat3_add(L, mn_mat3_transpose(L));
        double sum = 0;
        for (int i = 0; i < 3; i++)
          for (int j = 0; j < 3; j++)
            sum += 0.25 * D.m[i][j] * D.m[i][j];
        most = mn_max(most, sqrt(sum));
      }
    }
  }
  return most;
}

/* The group whose elements are a body's own: the first, if they carry stress. */
static const mn_energy_group *stressed(const mn_deform *d, int body)
{
  const mn_energy_group *g = d->group + d->body[body].group;
  return mn_energy_is_elastic(g) || mn_energy_is_membrane(g) ? g : NULL;
}

size_t mn_deform_elements(const mn_deform *d, int body)
{
  const mn_energy_group *g = stressed(d, body);
  return g ? g->count : 0;
}

const uint32_t *mn_deform_element_nodes(const mn_deform *d, int body, int *nodes)
{
  const mn_energy_group *g = stressed(d, body);
  *nodes = g ? g->nodes : 0;
  return g ? g->node : NULL;
}

void mn_deform_volume_ratio(const mn_deform *d, int body, double *ratio)
{
  const mn_energy_group *g = stressed(d, body);
  for (size_t e = 0; g && mn_energy_is_elastic(g) && e < g->count; e++) {
    mn_vec3 x[MN_ENERGY_NODES_MAX];
    local(d, g, e, x);
    ratio[e] = 0;
    for (int q = 0; q < g->points; q++)
      ratio[e] += mn_mat3_determinant(mn_elastic_gradient(g, e, q, x)) / g->points;
  }
}

/* sigma = P F^T / J, averaged over the points of quadrature. */
static mn_mat3 cauchy_of(const mn_energy_group *g, size_t e, const mn_vec3 *x)
{
  mn_mat3 sum = mn_mat3_diagonal(0, 0, 0);
  if (mn_energy_is_membrane(g))
    return mn_membrane_stress(g, e, x);
  for (int q = 0; q < g->points; q++) {
    mn_mat3 F = mn_elastic_gradient(g, e, q, x), P;
    double psi, J = mn_mat3_determinant(F);
    if (!mn_material_stress(&g->material, g->dim, &F, &psi, &P))
      return mn_mat3_diagonal(NAN, NAN, NAN);
    mn_mat3 sigma = mn_mat3_mul(P, mn_mat3_transpose(F));
    sum = mn_mat3_add(sum, mn_mat3_scale(1 / (J * g->points), sigma));
  }
  return sum;
}

void mn_deform_stress(const mn_deform *d, int body, mn_mat3 *cauchy, double *von_mises)
{
  const mn_energy_group *g = stressed(d, body);
  for (size_t e = 0; g && e < g->count; e++) {
    mn_vec3 x[MN_ENERGY_NODES_MAX];
    local(d, g, e, x);
    mn_mat3 s = cauchy_of(g, e, x);
    if (cauchy)
      cauchy[e] = s;
    if (!von_mises)
      continue;
    double mean = (s.m[0][0] + s.m[1][1] + s.m[2][2]) / 3, sum = 0;
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
        sum += (s.m[i][j] - (i == j ? mean : 0)) * (s.m[i][j] - (i == j ? mean : 0));
    von_mises[e] = sqrt(1.5 * sum);
  }
}

/* k (l - L) of the side between two nodes. */
static double side_tension(const mn_deform *d, double k, uint32_t a, uint32_t b)
{
  double length = mn_length(mn_sub(d->x[b], d->x[a]));
  return k * (length - mn_length(mn_sub(d->rest[b], d->rest[a])));
}

void mn_deform_tension(const mn_deform *d, int body, double *tension)
{
  const mn_deform_body *b = d->body + body;
  const mn_energy_group *g = d->group + b->group; /* the first: stretch */
  for (size_t i = 0; mn_energy_is_spring(g) && i < b->facets; i++) {
    const mn_facet *f = d->facet + b->first_facet + i;
    if (f->corners == 2) { /* segments are springs, in their order */
      tension[i] = side_tension(d, mn_spring_stiffness(g, i), f->node[0], f->node[1]);
      continue;
    }
    tension[i] = 0; /* all springs of cloth are alike */
    for (int k = 0; k < 3; k++)
      tension[i] +=
          side_tension(d, mn_spring_stiffness(g, 0), f->node[k], f->node[(k + 1) % 3]) / 3;
  }
}
