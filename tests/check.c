#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

static int failures; /* since the last CHECK_DONE; tests run one after the other */

static int note(int good)
{
  failures += !good;
  return good;
}

int check_le(const char *file, int line, const char *what, double value, double bound)
{
  int good = value <= bound;
  printf("%s  %s = %.6g <= %.6g  (%s:%d)\n", good ? "ok  " : "FAIL", what, value, bound, file,
         line);
  return note(good);
}

int check_ge(const char *file, int line, const char *what, double value, double bound)
{
  int good = value >= bound;
  printf("%s  %s = %.6g >= %.6g  (%s:%d)\n", good ? "ok  " : "FAIL", what, value, bound, file,
         line);
  return note(good);
}

int check_near(const char *file, int line, const char *what, double value, double expected,
               double tolerance)
{
  int good = fabs(value - expected) <= tolerance;
  printf("%s  %s = %.12g, expected %.12g +- %.3g  (%s:%d)\n", good ? "ok  " : "FAIL", what, value,
         expected, tolerance, file, line);
  return note(good);
}

int check_true(const char *file, int line, const char *what, int value)
{
  if (!value)
    printf("FAIL  %s  (%s:%d)\n", what, file, line);
  return note(value);
}

double fitted_order(const double *h, const double *error, int n)
{
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (int i = 0; i < n; i++) {
    double x = log(h[i]), y = log(error[i]);
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

int check_order(const char *file, int line, const char *what, const double *h, const double *error,
                int n, double p, double margin)
{
  double order = n >= 3 ? fitted_order(h, error, n) : NAN;
  int good = order >= p - margin;
  printf("%s  order of %s = %.3f >= %.3f  errors", good ? "ok  " : "FAIL", what, order, p - margin);
  for (int i = 0; i < n; i++)
    printf(" %.4g", error[i]);
  printf("  (%s:%d)\n", file, line);
  return note(good);
}

void check_ok(const char *file, int line, const char *what, const mn_context *ctx, mn_status status)
{
  if (status == MN_OK)
    return;
  printf("FAIL  %s returned %d: %s  (%s:%d)\n", what, (int)status,
         ctx ? mn_context_message(ctx) : "", file, line);
  _fail(file, line);
}

int check_fails(const char *file, int line, const char *what, const mn_context *ctx,
                mn_status status, mn_status expected, const char *words)
{
  int good = status == expected && strstr(mn_context_message(ctx), words);
  printf("%s  %s returned %d (expected %d): %s  (%s:%d)\n", good ? "ok  " : "FAIL", what,
         (int)status, (int)expected, mn_context_message(ctx), file, line);
  return note(good);
}

void check_done(const char *file, int line)
{
  int bad = failures;
  failures = 0;
  if (bad) {
    printf("FAIL  %d checks failed\n", bad);
    _fail(file, line);
  }
}

void check_must_have_failed(const char *file, int line)
{
  int bad = failures;
  failures = 0;
  printf("%s  negative control: %d checks failed, as they must\n", bad ? "ok  " : "FAIL", bad);
  if (!bad)
    _fail(file, line);
}

double check_worst(double a, double b)
{
  return isnan(a) || a >= b ? a : b;
}

/* splitmix64 */
double check_random(uint64_t *seed)
{
  uint64_t z = (*seed += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (double)((z ^ (z >> 31)) >> 11) * 0x1.0p-53;
}

mn_context *check_context(int threads)
{
  mn_context_def def = mn_context_def_default();
  def.threads = threads;
  mn_context *ctx;
  check_ok(__FILE__, __LINE__, "mn_context_create", NULL, mn_context_create(&def, &ctx));
  return ctx;
}

char check_folder[64];

int check_folder_make(void **state)
{
  (void)state;
  strcpy(check_folder, "/tmp/mn_test_XXXXXX");
  return mkdtemp(check_folder) ? 0 : 1;
}

int check_folder_remove(void **state)
{
  (void)state;
  mn_context *ctx = check_context(1);
  mn_status status = mn_remove_tree(ctx, check_folder);
  mn_context_destroy(&ctx);
  return status != MN_OK;
}
