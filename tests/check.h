/* Numeric checks for cmocka: each prints the value, the bound and the case, and the test goes on;
   it fails at its end (CHECK_DONE) if any check failed. */
#ifndef MN_TESTS_CHECK_H
#define MN_TESTS_CHECK_H

/* clang-format off: cmocka needs these first, in this order */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "meniscus/meniscus.h"

/* value <= bound; NaN fails */
#define CHECK_LE(value, bound) check_le(__FILE__, __LINE__, #value, (value), (bound))
#define CHECK_GE(value, bound) check_ge(__FILE__, __LINE__, #value, (value), (bound))
/* |value - expected| <= tolerance */
#define CHECK_NEAR(value, expected, tolerance)                                                     \
  check_near(__FILE__, __LINE__, #value, (value), (expected), (tolerance))
#define CHECK(condition) check_true(__FILE__, __LINE__, #condition, (condition) != 0)
/* Fitted order of error[i] ~ C h[i]^p over n >= 3 grids is at least p - margin. */
#define CHECK_ORDER(h, error, n, p, margin)                                                        \
  check_order(__FILE__, __LINE__, #error, (h), (error), (n), (p), (margin))
/* status is MN_OK, else prints the context's sentence and stops the test */
#define CHECK_OK(ctx, call) check_ok(__FILE__, __LINE__, #call, (ctx), (call))
/* the call fails with this status and a message that contains `words` */
#define CHECK_FAILS(ctx, call, status, words)                                                      \
  check_fails(__FILE__, __LINE__, #call, (ctx), (call), (status), (words))
/* Ends a test: fails it if a check failed since the last CHECK_DONE. */
#define CHECK_DONE() check_done(__FILE__, __LINE__)
/* Ends a negative control: passes only if at least one check failed since the last CHECK_DONE. */
#define CHECK_MUST_HAVE_FAILED() check_must_have_failed(__FILE__, __LINE__)

int check_le(const char *file, int line, const char *what, double value, double bound);
int check_ge(const char *file, int line, const char *what, double value, double bound);
int check_near(const char *file, int line, const char *what, double value, double expected,
               double tolerance);
int check_true(const char *file, int line, const char *what, int value);
int check_order(const char *file, int line, const char *what, const double *h, const double *error,
                int n, double p, double margin);
void check_ok(const char *file, int line, const char *what, const mn_context *ctx,
              mn_status status);
int check_fails(const char *file, int line, const char *what, const mn_context *ctx,
                mn_status status, mn_status expected, const char *words);
void check_done(const char *file, int line);
void check_must_have_failed(const char *file, int line);

/* Least-squares slope of log(error) over log(h). */
double fitted_order(const double *h, const double *error, int n);
/* The greater of two errors, to keep the worst of many: NaN wins, which fmax would drop. */
double check_worst(double a, double b);
/* Seeded uniform numbers in [0, 1). */
double check_random(uint64_t *seed);
/* Set-up and tear-down of a cmocka group: a fresh folder below /tmp, its name in check_folder. */
extern char check_folder[64];
int check_folder_make(void **state);
int check_folder_remove(void **state);
/* A silent context with this many threads; stops the test if it cannot be made. */
mn_context *check_context(int threads);

#endif
