/* A decimal comma changes nothing: numbers are read and printed with a point in operators, their values and problems.
 */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/number.h"
#include "ndreduce/operator.h"
#include "ndreduce/plan.h"
#include "support/suite.h"

static bool has_comma(const char *name) {
  return setlocale(LC_NUMERIC, name) && strcmp(localeconv()->decimal_point, ",") == 0;
}

/* Takes a locale of the machine, or one that localedef makes of the descriptions that are installed. */
static bool take_comma(const char *folder) {
  static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8",  "de_DE",
                                      "fr_FR.UTF-8", "nl_NL.UTF-8", "pl_PL.UTF-8"};
  char command[256];
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (has_comma(names[i])) return true;
  snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 2>/dev/null", folder);
  // NOLINTNEXTLINE(cert-env33-c): the test's own command
  return system(command) == 0 && setenv("LOCPATH", folder, 1) == 0 && has_comma("de_DE.UTF-8");
}

START_TEST(the_locale_has_a_comma) {
  char text[32];
  snprintf(text, sizeof text, "%.1f", 1.5);
  ck_assert_str_eq(text, "1,5");
}
END_TEST

START_TEST(operators_have_points) {
  char text[128];
  ndr_op op;
  assert_ok(ndr_operator_create(&op, "f(x): s += 0.5 * x + 1.25e-7 -> s", NULL, 0));
  ndr_operator_print(op, text, sizeof text);
  ck_assert_str_eq(text, "f(x): s += 0.5 * x + 1.25e-07 -> s");
  assert_fails(ndr_operator_create(&op, "f(x): s += 0,5 * x -> s", NULL, 0), NDR_ERR_PARSE, "column 14");
}
END_TEST

START_TEST(problems_have_points) {
  static const char *const texts[] = {"{f(x; t): s += x > t -> s}(303.15) f32 [4] /0", "sum f64 [4] /0 initial=0.1",
                                      "var f64 [4] /0 ddof=1.5", "sum f64 [4] /0 initial=-inf"};
  ndr_problem problem = NDR_PROBLEM_INIT;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    char text[128];
    assert_ok(ndr_problem_parse(texts[i], &problem));
    ndr_problem_print(&problem, text, sizeof text);
    ck_assert_str_eq(text, texts[i]);
  }
  assert_fails(ndr_problem_parse("sum f64 [4] /0 initial=0,5", &problem), NDR_ERR_PARSE, "column 25");
  assert_fails(ndr_problem_parse("sum f64 [4] /0 initial=1.5e999", &problem), NDR_ERR_PARSE, "1.5e999 is too large");
}
END_TEST

START_TEST(measurements_have_points) {
  char text[128];
  assert_ok(ndr_measurements_import("sum f32 [1024,1024] /1 on cpu 2 threads: scalar 23.5 us\n"));
  ndr_measurements_export(text, sizeof text);
  ck_assert_msg(strstr(text, " 23.5 us") != NULL, "%s", text);
}
END_TEST

int main(void) {
  char folder[] = "/tmp/ndr_locale_XXXXXX", command[64];
  if (!mkdtemp(folder)) return 1;
  bool comma = take_comma(folder);
  Suite *suite = suite_create("core locale");
  suite_case(suite, "comma", 60, the_locale_has_a_comma, operators_have_points, problems_have_points,
             measurements_have_points, NULL);
  int failed = comma ? suite_run(suite) : 77;
  if (!comma) puts("skipped: there is no locale with a decimal comma, and localedef makes none");
  snprintf(command, sizeof command, "rm -r %s", folder);
  // NOLINTNEXTLINE(cert-env33-c): the test's own command
  return system(command) == 0 ? failed : 1;
}
