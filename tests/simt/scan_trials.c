#include "scan_trials.h"

#include <string.h>

#include "memory.h"
#include "ndreduce/scan.h"
#include "runtime/control.h"
#include "support/suite.h"

int scan_machine;

ndr_status scan_trial_run(scan_trial *t) {
  return ndr_scan(&t->array.tensor, t->given.dim, t->given.op, &t->result.tensor, &t->given.options);
}

void scan_trial_finish(scan_trial *t) {
  device_free(&t->result);
  device_free(&t->array); /* the case's array, too */
}

void scan_trial_check(scan_trial *t, int number) {
  char why[512] = "";
  device_fetch(&t->result);
  ck_assert_msg(scan_accepts(&t->given, &t->result.host.tensor, why, sizeof why), "case %d: %s: %s", number,
                t->given.text, why);
  ck_assert_msg(array_gaps_untouched(&t->result.host), "case %d: %s: written between results", number, t->given.text);
  ck_assert_msg(!simt_guards_broken(), "case %d: %s: something was written outside the arrays", number, t->given.text);
}

bool scan_trial_has(const scan_trial *t, const char *words) {
  ndr_scan_plan *plan;
  char text[2048];
  assert_ok(ndr_scan_plan_create(&plan, &t->array.tensor, t->given.dim, t->given.op, NULL, &t->given.options));
  ndr_scan_plan_describe(plan, text, sizeof text);
  ndr_scan_plan_destroy(plan);
  return strstr(text, words) != NULL;
}

bool scan_trial_anywhere(rng *random, const int64_t shape[3], int dim, const char *family, int number) {
  scan_trial t;
  scan_compact(&t.given, random, shape, dim, family);
  t.array.host = t.given.array;
  const size_t off = (size_t)rng_between(random, 0, 3);
  device_array_of(&t.array, scan_machine, off * ndr_dtype_alignment(t.given.array.dtype));
  assert_ok(scan_result(&t.given, &t.result.host, NULL));
  device_array_of(&t.result, scan_machine, rng_once_in(random, 2) ? off * ndr_dtype_alignment(t.result.host.dtype) : 0);
  simt_controls.order = rng_once_in(random, 2) ? 0 : rng_next(random);
  assert_ok(scan_trial_run(&t));
  scan_trial_check(&t, number);
  const bool strips = scan_trial_has(&t, scan_machine == 1 ? "shifted strips" : "strips");
  scan_trial_finish(&t);
  simt_controls.order = 0;
  return strips;
}
