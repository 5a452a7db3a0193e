/* Defaults of every def, read from the schema table, so that Lua and C users start from the same
   values. Verified by tests/unit/scene/test_good.c. */
#include "world/schema.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const mn_key *mn_schema_key(const mn_ctor *ctor, int i)
{
  const mn_key *lists[] = {ctor->own, ctor->shared};
  for (int l = 0; l < 2; l++)
    for (const mn_key *key = lists[l]; key && key->name; key++)
      if (i-- == 0)
        return key;
  return NULL;
}

int mn_schema_choice(const char *choices, const char *word)
{
  size_t length = strlen(word);
  for (int i = 0; *choices; i++) {
    size_t n = strcspn(choices, " ");
    if (n == length && !strncmp(choices, word, n))
      return i;
    choices += n;
    choices += strspn(choices, " ");
  }
  return -1;
}

/* "{0, -9.81, 0}" or "0" */
static void parse_numbers(const char *text, double *out, int count)
{
  for (int i = 0; i < count; i++) {
    text += strspn(text, "{, ");
    char *end;
    out[i] = strtod(text, &end);
    text = end;
  }
}

/* A quoted word without its quotes; the table's own words fit. */
static void parse_word(const char *text, char word[MN_NAME_MAX])
{
  size_t n = strlen(text);
  assert(n >= 2 && text[0] == '"' && n - 2 < MN_NAME_MAX);
  memcpy(word, text + 1, n - 2);
  word[n - 2] = 0;
}

static int parse_choice(const mn_key *key)
{
  char word[MN_NAME_MAX];
  parse_word(key->initial, word);
  int choice = mn_schema_choice(key->choices, word);
  assert(choice >= 0);
  return choice + (int)key->lo;
}

static double parse_number(const char *text)
{
  double value;
  parse_numbers(text, &value, 1);
  return value;
}

static double ambient_default(void)
{
  for (int i = 0;; i++) {
    const mn_key *key = mn_schema_key(&mn_ctors[MN_CTOR_SMOKE], i);
    assert(key);
    if (!strcmp(key->name, "ambient"))
      return parse_number(key->initial);
  }
}

static double scalar_default(const mn_key *key)
{
  return strcmp(key->initial, "ambient") ? parse_number(key->initial) : ambient_default();
}

static void set_default(const mn_key *key, void *at)
{
  switch (key->type) {
  case MN_KEY_NUMBER:
    *(double *)at = scalar_default(key);
    break;
  case MN_KEY_INTEGER:
    *(int *)at = (int)parse_number(key->initial);
    break;
  case MN_KEY_FLAG:
    *(int *)at = !strcmp(key->initial, "true");
    break;
  case MN_KEY_NAME:
  case MN_KEY_WORD:
    parse_word(key->initial, at);
    break;
  case MN_KEY_CHOICE:
    *(int *)at = parse_choice(key);
    break;
  case MN_KEY_VECTOR:
  case MN_KEY_AXIS:
  case MN_KEY_SPIN:
    parse_numbers(key->initial, ((mn_vec3 *)at)->v, 3);
    break;
  case MN_KEY_RANGE:
    parse_numbers(key->initial, at, 2);
    break;
  case MN_KEY_TIME:
    *(mn_timefn *)at = mn_timefn_constant(parse_number(key->initial));
    break;
  case MN_KEY_SIDE:
    mn_schema_defaults(&mn_ctors[MN_CTOR_WALL], at);
    ((mn_side_def *)at)->kind = (mn_side_kind)parse_choice(key);
    break;
  case MN_KEY_SCALAR_FN:
  case MN_KEY_SMOKE:
    ((mn_field_fn *)at)->value.x = scalar_default(key);
    break;
  case MN_KEY_VECTOR_FN:
    parse_numbers(key->initial, ((mn_field_fn *)at)->value.v, 3);
    break;
  default:
    assert(!"this type has no default");
  }
}

void mn_schema_defaults(const mn_ctor *ctor, void *out)
{
  const mn_key *key;
  for (int i = 0; (key = mn_schema_key(ctor, i)); i++)
    if (key->initial && *key->initial)
      set_default(key, (char *)out + key->offset);
}

/* ---- the same for users of the C interface --------------------------------------------------- */

mn_fluid_def mn_fluid_def_default(mn_fluid_kind kind)
{
  mn_fluid_def def = {.kind = kind};
  /* Water carries no smoke, but its unused fields hold the same values as smoke's. */
  mn_schema_defaults(&mn_ctors[MN_CTOR_SMOKE], &def);
  if (kind == MN_FLUID_WATER)
    mn_schema_defaults(&mn_ctors[MN_CTOR_WATER], &def);
  return def;
}

mn_source_def mn_source_def_default(void)
{
  mn_source_def def = {.blows = 1};
  mn_schema_defaults(&mn_ctors[MN_CTOR_INFLOW], &def);
  return def;
}

mn_solid_def mn_solid_def_default(void)
{
  mn_solid_def def = {0};
  mn_schema_defaults(&mn_ctors[MN_CTOR_OBSTACLE], &def);
  mn_schema_defaults(&mn_ctors[MN_CTOR_MOTION], &def.motion);
  return def;
}

mn_body_def mn_body_def_default(mn_body_kind kind)
{
  mn_body_def def = {.kind = kind};
  mn_schema_defaults(&mn_ctors[MN_CTOR_RIGID + (int)kind], &def);
  mn_schema_defaults(&mn_ctors[MN_CTOR_MOTION], &def.motion);
  return def;
}

mn_link_def mn_link_def_default(void)
{
  mn_link_def def = {0};
  mn_schema_defaults(&mn_ctors[MN_CTOR_LINK], &def);
  return def;
}

mn_coupling_def mn_coupling_def_default(mn_coupling_method method, int published)
{
  mn_coupling_def def = {.method = method};
  mn_schema_defaults(&mn_ctors[MN_CTOR_COUPLE], &def);
  int one = method == MN_COUPLE_SIMULTANEOUS || method == MN_COUPLE_MONOLITHIC;
  int best = one || ((method == MN_COUPLE_XPM || method == MN_COUPLE_AUTO) && !published);
  def.method = method;
  def.published = published;
  int conserves = method == MN_COUPLE_XPM || method == MN_COUPLE_MONOLITHIC; /* as printed, too */
  def.load = published && !conserves ? MN_LOAD_PRESSURE : MN_LOAD_IMPULSE;
  def.reuse = best ? 8 : 0;
  def.mass = best ? MN_MASS_FITTED : MN_MASS_NONE;
  def.frozen = !published || one;
  return def;
}

mn_model_def mn_model_def_default(void)
{
  mn_model_def def = {.domain = {.dim = 2, .cells = {0, 0, 1}}};
  mn_schema_defaults(&mn_ctors[MN_CTOR_DOMAIN], &def.domain);
  def.fluid = mn_fluid_def_default(MN_FLUID_SMOKE);
  mn_schema_defaults(&mn_ctors[MN_CTOR_DYNAMICS], &def.dynamics);
  def.coupling = mn_coupling_def_default(MN_COUPLE_XPM, 0);
  mn_schema_defaults(&mn_ctors[MN_CTOR_OUTPUT], &def.output);
  return def;
}
