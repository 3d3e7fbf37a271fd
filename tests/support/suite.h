/* What every Check program here shares: its main, and assertions on statuses. */
#ifndef TEST_SUPPORT_SUITE_H
#define TEST_SUPPORT_SUITE_H

#include <check.h>
#include <string.h>

#include "ndreduce/ndreduce.h"

/* A new test case of the suite. */
TCase *suite_case_empty(Suite *suite, const char *name, double timeout_seconds);

/* The same with tests added by name: suite_case(suite, "dims", 60, test_a, test_b, NULL). */
void suite_case(Suite *suite, const char *name, double timeout_seconds, ...);

/* Runs and frees the suite; what main returns. */
int suite_run(Suite *suite);

/* An assertion has held. Tells Check where, so that it can say after which line a test crashed. That is a system call,
 * so the same line is not told again until another assertion has held. */
void suite_passed(const char *file, int line);

/* Replaces Check's macro, to which its other assertions expand, and which makes that call each time. */
#undef ck_assert_msg
#define ck_assert_msg(expression, ...)                                                                                 \
  ((expression) ? suite_passed(__FILE__, __LINE__)                                                                     \
                : _ck_assert_failed(__FILE__, __LINE__, "Assertion '" #expression "' failed", __VA_ARGS__))

#define assert_ok(expression)                                                                                          \
  do {                                                                                                                 \
    ndr_status status_ = (expression);                                                                                 \
    ck_assert_msg(status_ == NDR_OK, "%s: %s (%s)", #expression, ndr_status_name(status_), ndr_last_error());          \
  } while (0)

/* The call fails with the status, and the sentence names the thing. */
#define assert_fails(expression, expected, word)                                                                       \
  do {                                                                                                                 \
    ndr_status status_ = (expression);                                                                                 \
    ck_assert_msg(status_ == (expected), "%s: %s, expected %s", #expression, ndr_status_name(status_),                 \
                  ndr_status_name(expected));                                                                          \
    ck_assert_msg(strstr(ndr_last_error(), (word)) != NULL, "%s: \"%s\" does not name '%s'", #expression,              \
                  ndr_last_error(), (word));                                                                           \
  } while (0)

#endif
