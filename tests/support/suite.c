#include "suite.h"

#include <stdarg.h>

TCase *suite_case_empty(Suite *suite, const char *name, double timeout_seconds) {
  TCase *made = tcase_create(name);
  tcase_set_timeout(made, timeout_seconds);
  suite_add_tcase(suite, made);
  return made;
}

void suite_case(Suite *suite, const char *name, double timeout_seconds, ...) {
  TCase *tests = suite_case_empty(suite, name, timeout_seconds);
  va_list list;
  va_start(list, timeout_seconds);
  for (const TTest *test; (test = va_arg(list, const TTest *));) tcase_add_test(tests, test);
  va_end(list);
}

int suite_run(Suite *suite) {
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}

void suite_passed(const char *file, int line) {
  static _Thread_local const char *last_file;
  static _Thread_local int last_line;
  if (line == last_line && file == last_file) return;
  last_file = file;
  last_line = line;
  _mark_point(file, line);
}
