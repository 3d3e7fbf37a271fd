#include "suite.h"

#include <stdarg.h>

void suite_case(Suite *suite, const char *name, double timeout_seconds, ...) {
  TCase *tests = tcase_create(name);
  va_list list;
  tcase_set_timeout(tests, timeout_seconds);
  va_start(list, timeout_seconds);
  for (const TTest *test; (test = va_arg(list, const TTest *));) tcase_add_test(tests, test);
  va_end(list);
  suite_add_tcase(suite, tests);
}

int suite_run(Suite *suite) {
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
