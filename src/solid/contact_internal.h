/* The inside of contact: touches, how they are found and how they are solved. */
#ifndef MN_SOLID_CONTACT_INTERNAL_H
#define MN_SOLID_CONTACT_INTERNAL_H

#include "base/memory.h"
#include "base/status.h"
#include "solid/boxgrid.h"
#include "solid/contact.h"

/* Where a touch comes from. */
typedef enum mn_touch_kind {
  MN_TOUCH_BALLS,      /* sphere a, sphere b */
  MN_TOUCH_BALL,       /* sphere a, shape of b */
  MN_TOUCH_POINT,      /* contact point of a, shape of b */
  MN_TOUCH_EDGE,       /* edge node[0] of a, edge node[1] of b */
  MN_TOUCH_NODE,       /* rigid a, node */
  MN_TOUCH_FACET_BALL, /* sphere a, facet */
  MN_TOUCH_FACET_POINT /* contact point of a, facet */
} mn_touch_kind;

typedef struct mn_touch_key {
  int64_t a, b, feature; /* b: body, or bodies + node, or bodies + nodes + facet */
} mn_touch_key;

/* In the feature of a key: found where the drift ends. */
#define MN_TOUCH_END ((int64_t)1 << 60)
/* Of edges. */
#define MN_TOUCH_EDGES ((int64_t)1 << 59)

#define MN_TOUCHING 1e-4 /* of the size: this near is touching */
#define MN_NEIGHBOUR 0.1 /* of the size: this near is always watched */
/* Sine: a joint that leads at no more than this to a face leads along it; over ten sizes of the
   body that is the slop. */
#define MN_ALONG 1e-4
/* Of the slop: this near an edge or corner, it is what touches; what overlaps by less than this is
   passed by where bodies are led along it, by their joint or by what they lie on. */
#define MN_SLIVER 1.5
#define MN_FLUSH 0.01    /* of a sliver: what free bodies pass by whatever they lie on */
#define MN_SAME_FACE 0.9 /* cosine between normals */

typedef struct mn_touch {
  mn_touch_key key;
  mn_touch_kind kind;
  int a, b; /* rigid bodies; b = -1: nodes; a = -1 too: a node and a facet (solid_meet.h) */
  uint32_t feature;
  mn_vec3 spot, face; /* of a contact point: where it is at the start, and the normal there */
  int nodes;
  uint32_t node[4];
  double weight[4];
  mn_vec3 n;   /* from b to a */
  mn_vec3 at;  /* m */
  double gap;  /* m */
  int passed;  /* found, and left out */
  double room; /* m, found where the drift ends: what it leaves there */
  double size, friction, restitution;
  /* of the solver */
  mn_vec3 ra, rb;
  double mass, tangent_mass; /* kg, effective */
  double target;             /* m/s, least relative normal velocity */
  double approach;           /* m/s, of an impact; 0: none */
  double impulse;
  mn_vec3 tangent;      /* kg m/s */
  mn_vec3 last, search; /* kg m/s, of the conjugate directions */
} mn_touch;

/* What a substep leaves for the next: by rising key. */
typedef struct mn_guesses {
  int64_t (*key)[3];
  double (*value)[8]; /* normal and tangent impulse of the drift, of the settling */
  size_t count, capacity;
} mn_guesses;

typedef struct mn_touches {
  mn_touch *at;
  size_t count, capacity;
} mn_touches;

typedef struct mn_mobile {
  int moves, free;
  double inverse_mass;
  mn_mat3 inverse; /* of the inertia, world axes */
  double W[6][6];  /* of a jointed body */
} mn_mobile;

typedef struct mn_edge_view mn_edge_view;

typedef struct mn_near {
  double gap;
  uint32_t point;
} mn_near;

struct mn_contact {
  mn_context *ctx;
  mn_contact_def def;
  const mn_rigid *rigid;
  mn_boxgrid grid;
  mn_vec3 *lo, *hi, *half, *middle; /* swept boxes; of each body at the start: half size, middle */
  uint32_t *found;
  mn_near *near;          /* contact points of one body near another */
  mn_edge_view *edges[2]; /* of two bodies, near each other */
  mn_mobile *mobile;
  mn_twist *start, *free; /* at the substep's start; without contact */
  mn_vec3 *node_start, *node_free;
  uint8_t *node_used;
  size_t node_count;
  mn_touches drift, settle;
  mn_touches again, end; /* of the drift: found with its velocities; found where it ends */
  mn_rigid_state *ends;  /* poses there */
  mn_guesses now, next, saved;
  const uint8_t *changed; /* bodies whose mobility in the drift is not their own, but W; borrowed */
  const double (*changed_W)[6][6];
  double *soft; /* factor of the springs' rows, [soft_rows + 1][soft_rows]; none for very many */
  size_t soft_rows;
  double kick; /* s: the free velocities of a drift have felt forces for so long */
  size_t tests, work;
  int across; /* 1: rectangles may lie across each other already, no corner in the other */
};

/* What the last substep left for these touches, which rise by key. */
void mn_contact_guess(const mn_contact *c, mn_touches *touches);

/* Everything that could touch within dt, in the order of the keys. */
mn_status mn_contact_find(mn_contact *c, const mn_rigid_state *pose, const mn_twist *free,
                          const mn_twist *twist, const mn_contact_nodes *nodes,
                          const mn_vec3 *node_free, double dt, mn_touches *touches);

/* Only those between nodes or facets and rigid bodies. */
mn_status mn_contact_find_nodes(mn_contact *c, const mn_rigid_state *pose, const mn_twist *free,
                                const mn_twist *twist, const mn_contact_nodes *nodes,
                                const mn_vec3 *node_free, double dt, mn_touches *touches);

/* Gap of a touch between rigid bodies; sets its normal and point. */
double mn_contact_gap(mn_contact *c, const mn_rigid_state *pose, mn_touch *touch);
void mn_contact_sort(mn_touches *touches);

/* After s with this twist. */
static inline mn_rigid_state mn_pose_moved(const mn_rigid_state *p, mn_twist t, double s)
{
  mn_rigid_state m = *p;
  if (s > 0) {
    m.x = mn_madd(p->x, s, t.v);
    if (mn_dot(t.w, t.w) > 0)
      m.q = mn_quat_mul(mn_quat_exp(mn_scale(s, t.w)), p->q);
  }
  return m;
}

/* contact_edge.c: edges of t->a against edges of t->b, which have swept boxes; t: a touch of the
   pair. */
mn_status mn_contact_find_edges(mn_contact *c, const mn_rigid_state *pose, const mn_twist *free,
                                const mn_twist *twist, double dt, mn_touch *t, mn_touches *out);
/* Gap of a touch of edges at these poses; sets its normal and point. */
double mn_contact_edge_gap(const mn_contact *c, const mn_rigid_state *a, const mn_rigid_state *b,
                           mn_touch *t);
/* mn_contact_passed of two polyhedra. */
int mn_contact_sliver(const mn_contact *c, const mn_rigid_state *pose, const mn_touches *all,
                      const mn_touch *t, double dt);
mn_status mn_contact_make_edges(mn_contact *c);

mn_status mn_contact_append(mn_context *ctx, mn_touches *touches, const mn_touch *touch);

/* contact_end.c: what overlaps where the drift `twist` ends, with what it found there in earlier
   rounds, in c->end; `start`: touches at the start, by rising key. *bad: whether some of it
   overlaps by more than it did, and by more than is left alone. */
mn_status mn_contact_find_ends(mn_contact *c, const mn_rigid_state *pose, const mn_twist *twist,
                               const mn_touches *start, double dt, int *bad);

/* How deep two bodies lie in each other, <= 0, by touches of the start by rising key. */
double mn_contact_start_gap(const mn_touches *start, int a, int b);

/* contact_shape.c: outward normal of a shape near its surface; `size` is the body's, `hint` the
   partner's normal, which decides at edges of boxes, where *d is corrected. */
mn_vec3 mn_contact_normal(const mn_shape *shape, mn_vec3 x, double size, mn_vec3 hint, double *d);
int mn_contact_concave(const mn_shape *shape);
/* Whether points of a's surface between its contact points may touch b first. */
int mn_contact_needs_search(const mn_shape *a, const mn_shape *b);
/* Whether its distance is only a lower bound away from its surface. */
int mn_contact_bound_only(const mn_shape *shape);
/* Distance from x outside to a surface, locally; HUGE_VAL: not found. */
double mn_contact_nearest(const mn_shape *shape, double size, mn_vec3 x, mn_vec3 *foot,
                          size_t *tests);
/* Moves *x, on the surface of a at its start, to where it is deepest in b nearby; its distance.
   `step`: how far to look, m. */
double mn_contact_deepest(const mn_rigid_body *a, const mn_rigid_state *pose_a,
                          const mn_rigid_body *b, const mn_rigid_state *pose_b, double step,
                          mn_vec3 *x, size_t *tests);

/* Whether the two of a touch pass each other but for a sliver of an overlap at an edge: a block on
   flush tiles, a hair's breadth in them, must not catch on the next one. `all`: what touches. */
int mn_contact_passed(mn_contact *c, const mn_rigid_state *pose, const mn_touches *all,
                      const mn_touch *t, double dt);
/* Whether bodies i and j cannot part along m, the normal of a face of j: a sliver that they overlap
   by there is how deep they lie in something. A free body that nothing leads lies on it. */
int mn_contact_led(const mn_contact *c, const mn_touches *all, const mn_touch *t, int i, int j,
                   mn_vec3 m);
/* Two polyhedra: corners and edges are all that touches first. */
int mn_contact_sharp(const mn_contact *c, int a, int b);

/* The point of a segment or triangle that is nearest to x, as weights of its corners. */
void mn_nearest_weights(int corners, const mn_vec3 *corner, mn_vec3 x, double weight[3]);

/* Whether the joint of body i leads its point at x across n, neither to nor fro. (Its mobility
   would tell by what rounding leaves of it.) */
int mn_contact_slides_along(const mn_contact *c, int i, mn_vec3 x, mn_vec3 n);
mn_vec3 mn_touch_velocity(const mn_touch *t, const mn_twist *twist, const mn_vec3 *node_v);
void mn_contact_mobility(mn_contact *c, const mn_rigid_state *pose);
/* Sweeps until the velocities stand still, at most max_iterations; up to four times as many while
   what is left would become overlap over dt (0: does not). */
void mn_contact_sweeps(mn_contact *c, mn_touches *touches, mn_twist *twist, mn_contact_nodes *nodes,
                       mn_soft_row *soft, int soft_count, double dt, mn_contact_report *report);
/* Arms and effective masses. */
void mn_contact_prepare(mn_contact *c, const mn_rigid_state *pose, const mn_contact_nodes *nodes,
                        mn_touches *touches);
/* How much faster the rigid partner of a node goes for an impulse of 1: along the normal, and along
   the tangent where it is most. 1/kg; sets the arm. */
void mn_touch_mobility(const mn_contact *c, const mn_rigid_state *pose, mn_touch *touch,
                       double *normal, double *tangent);
void mn_contact_push(mn_contact *c, const mn_touches *touches, double dt, mn_twist *push);

#endif
