/* Plug-ins that misbehave as their number `fault` says, from the time `after` (s) on: the examples'
   piston, or with -DFLUID their lump. test_plugin_faults.sh compiles it, with -DEXAMPLE for the
   source it wraps. What faults there are is the table FAULTS; `meniscus run` gets the place in it.
 */
#define mn_plugin_get good_get
const struct mn_plugin *good_get(void);
#include EXAMPLE
#undef mn_plugin_get

#include <math.h>
#include <stdint.h>
#include <string.h>

/* where: which call goes wrong */
enum { SOLVE, LOOK, SAMPLE, DT, BEGIN, COMMIT, SAVE, RESTORE, ARRAYS, MAKE };
/* clang-format off */
#define FAULTS(F)                                                                                  \
  F(NONE, MAKE) F(NAN_X, SOLVE) F(NAN_V, SOLVE) F(NAN_N, SOLVE) F(AREA, SOLVE) F(HUGE_X, SOLVE)    \
  F(NAN_LOAD, SOLVE) F(NAN_MASS, SOLVE) F(HUGE_LOAD, SOLVE) F(COUNT, SOLVE) F(ELEMENTS, SOLVE)     \
  F(DIM, SOLVE) F(NULL_X, SOLVE) F(OTHER_X, SOLVE) F(NULL_LOAD, SOLVE) F(BEYOND, SOLVE)            \
  F(WORDS, SOLVE) F(SILENT, SOLVE) F(STRANGE, SOLVE) F(NULL_AND_WORDS, SOLVE) F(SLOW, SOLVE)       \
  F(REASON, SOLVE) F(LOOK_NULL, LOOK) F(LOOK_NULL_AND_WORDS, LOOK) F(LOOK_NAN, LOOK)               \
  F(LOOK_ELEMENT, LOOK) F(LOOK_BODY, LOOK) F(LOOK_WORDS, LOOK) F(NO_POINTS, SAMPLE)                \
  F(NO_ELEMENTS, SAMPLE) F(MANY_POINTS, SAMPLE) F(MORE_POINTS, SAMPLE) F(SAMPLE_WORDS, SAMPLE)     \
  F(DT_TINY, DT) F(DT_ZERO, DT) F(DT_NEGATIVE, DT) F(DT_NAN, DT) F(BEGIN_WORDS, BEGIN)             \
  F(COMMIT_WORDS, COMMIT) F(SAVE_WORDS, SAVE) F(RESTORE_WORDS, RESTORE) F(ARRAYS_MORE, ARRAYS)     \
  F(ARRAYS_NEGATIVE, ARRAYS) F(ARRAYS_NULL, ARRAYS) F(MAKE_STRANGE, MAKE) F(MAKE_NO_OPS, MAKE)
/* clang-format on */

#define NAME(fault, where) fault,
#define WHERE(fault, where) where,
enum { FAULTS(NAME) COUNT_OF_FAULTS };
static const int where[] = {FAULTS(WHERE)};

static int fault;
static double after, now;
static const mn_plugin_host *the_host;

static int wrong(int call)
{
  return where[fault] == call && now >= after;
}

static mn_status words(void)
{
  return the_host->fail(the_host->ctx, MN_FAILED, "the rod is bent by %d degrees", 7);
}

static mn_status spoil(mn_interface *f, mn_solve_report *r)
{
  static mn_vec3 other[100000];
  switch (fault) {
  case NAN_X:
  case LOOK_NAN:
    f->X[3].x = NAN;
    break;
  case NAN_V:
    f->V[3].y = INFINITY;
    break;
  case NAN_N:
    f->N[3].y = NAN;
    break;
  case AREA:
    f->area[3] = -1;
    break;
  case HUGE_X:
    f->X[3].x = 1e300;
    break;
  case NAN_LOAD:
    f->load[3].x = NAN;
    break;
  case NAN_MASS:
    f->mass[3] = NAN;
    break;
  case HUGE_LOAD:
    f->load[3].x = 1e300;
    break;
  case COUNT:
    f->count = 1000;
    break;
  case ELEMENTS:
    f->elements = 0;
    break;
  case DIM:
    f->dim = 3;
    break;
  case NULL_X:
  case LOOK_NULL:
    f->X = NULL;
    break;
  case OTHER_X:
    f->X = other;
    break;
  case NULL_LOAD:
    f->load = NULL;
    break;
  case BEYOND:
    f->load[f->count].x = f->V[f->count].x = 1;
    break;
  case WORDS:
  case LOOK_WORDS:
    return words();
  case SILENT:
    return MN_BAD_INPUT;
  case STRANGE:
    return (mn_status)77;
  case NULL_AND_WORDS:
  case LOOK_NULL_AND_WORDS:
    memset(f, 0, sizeof *f);
    return words();
  case SLOW:
    r->reason = MN_ITERATION_LIMIT;
    break;
  case REASON:
    r->reason = (mn_reason)77;
    break;
  case LOOK_ELEMENT:
    f->element[2] = 100000;
    break;
  case LOOK_BODY:
    f->body[2] = -1;
    break;
  default:
    break;
  }
  return MN_OK;
}

static mn_status bad_solve(void *self, mn_interface *f, mn_solve_report *r)
{
  mn_status status = solve(self, f, r);
  if (wrong(RESTORE)) /* something must fail first */
    return words();
  return status == MN_OK && wrong(SOLVE) ? spoil(f, r) : status;
}

static double bad_dt(void *self)
{
  double dt = max_dt(self);
  return !wrong(DT)             ? dt
         : fault == DT_TINY     ? 1e-12
         : fault == DT_ZERO     ? 0
         : fault == DT_NEGATIVE ? -1
                                : NAN;
}

static mn_status bad_begin(void *self, double t, double dt)
{
  now = t;
  return wrong(BEGIN) ? words() : begin(self, t, dt);
}

static mn_status bad_commit(void *self)
{
  mn_status status = commit(self);
  return wrong(COMMIT) ? words() : status;
}

static mn_status bad_save(void *self)
{
  return wrong(SAVE) ? words() : save(self);
}

static mn_status bad_restore(void *self)
{
  return wrong(RESTORE) ? words() : restore(self);
}

static int bad_arrays(void *self, mn_array *list, int capacity)
{
  int n = arrays(self, list, capacity);
  if (wrong(ARRAYS) && fault == ARRAYS_NULL)
    list[0].data = NULL;
  return !wrong(ARRAYS) || fault == ARRAYS_NULL ? n : fault == ARRAYS_MORE ? 1000 : -1;
}

#ifdef FLUID
typedef mn_fluid bad_box;
#define make_good make_fluid
#else
typedef mn_solid bad_box;
#define make_good make_solid

static mn_status bad_look(void *self, mn_interface *f)
{
  static uint32_t aside[100000]; /* elements of a surface that was to have none */
  uint32_t *element = f->element;
  if (fault == NO_ELEMENTS)
    f->element = aside;
  mn_status status = look(self, f);
  f->element = element;
  return wrong(LOOK) ? spoil(f, NULL) : status;
}

static mn_status bad_sample(void *self, double spacing, size_t *count, size_t *elements)
{
  mn_status status = sample(self, spacing, count, elements);
  if (!wrong(SAMPLE))
    return status;
  if (fault == SAMPLE_WORDS)
    return words();
  *count = fault == NO_POINTS     ? 0
           : fault == MANY_POINTS ? SIZE_MAX - 1
           : fault == MORE_POINTS ? *count + 1
                                  : *count;
  *elements = fault == NO_POINTS || fault == NO_ELEMENTS ? 0 : *elements;
  return MN_OK;
}
#endif

static mn_status bad_make(const mn_plugin_host *h, bad_box *box)
{
#ifdef FLUID
  static mn_fluid_ops bad;
#else
  static mn_solid_ops bad;
#endif
  bad = ops;
  bad.name = "bad box";
  bad.max_dt = bad_dt;
  bad.begin = bad_begin;
  bad.solve = bad_solve;
  bad.commit = bad_commit;
  bad.save = bad_save;
  bad.restore = bad_restore;
  bad.arrays = bad_arrays;
#ifndef FLUID
  bad.look = bad_look;
  bad.sample = bad_sample;
#endif
  the_host = h;
  fault = (int)h->number(h, "fault", 0);
  after = h->number(h, "after", 0);
  now = 0;
  if (fault == MAKE_STRANGE)
    return (mn_status)77;
  mn_status status = make_good(h, box);
  box->ops = fault == MAKE_NO_OPS ? NULL : &bad;
  return status;
}

const mn_plugin *mn_plugin_get(void)
{
  static const mn_plugin p = {.version = MN_PLUGIN_VERSION,
#ifdef FLUID
                              .make_fluid = bad_make};
#else
                              .make_solid = bad_make};
#endif
  return &p;
}
