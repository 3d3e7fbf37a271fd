/* Scans under emulation: every kernel, against definitions. */
#include <stdlib.h>
#include <string.h>

#include "drive.h"
#include "memory.h"
#include "ndreduce/operator.h"
#include "ndreduce/scan.h"
#include "runtime/control.h"
#include "support/scans.h"
#include "support/suite.h"

static const char *const families[] = {NULL, "lines", "columns"};

/* A case on the device. */
typedef struct trial {
  scan_case given;
  device_array array, result;
} trial;

static void place(trial *t, rng *random, int device) {
  size_t alignment = ndr_dtype_alignment(t->given.array.dtype);
  t->array.host = t->given.array;
  device_array_of(&t->array, device, rng_once_in(random, 2) ? alignment : 0);
  assert_ok(scan_result(&t->given, &t->result.host, rng_once_in(random, 2) ? random : NULL));
  device_array_of(&t->result, device, 0);
}

static ndr_status run(trial *t) {
  return ndr_scan(&t->array.tensor, t->given.dim, t->given.op, &t->result.tensor, &t->given.options);
}

static void finish(trial *t) {
  device_free(&t->result);
  device_free(&t->array); /* the case's array, too */
}

static void check(trial *t, int number) {
  char why[512] = "";
  device_fetch(&t->result);
  ck_assert_msg(scan_accepts(&t->given, &t->result.host.tensor, why, sizeof why), "case %d: %s: %s", number,
                t->given.text, why);
  ck_assert_msg(array_gaps_untouched(&t->result.host), "case %d: %s: written between results", number, t->given.text);
  ck_assert_msg(!simt_guards_broken(), "case %d: %s: something was written outside the arrays", number, t->given.text);
}

/* Each of these costs a compilation. */
START_TEST(scans_agree_with_their_definitions) {
  rng random = {test_seed() + 31 * (uint64_t)_i};
  int cases = test_case_count(30);
  for (int number = 0; number < cases; number++) {
    trial t;
    scan_random(&t.given, &random, rng_once_in(&random, 3) ? 40000 : 9000);
    place(&t, &random, (int)rng_between(&random, 0, 2));
    t.given.options.force_family = families[_i];
    simt_controls.order = rng_once_in(&random, 4) ? 0 : rng_next(&random);
    ndr_status status = run(&t);
    ck_assert_msg(status == NDR_OK || (_i == 2 && status == NDR_ERR_UNSUPPORTED), "case %d: %s: %s", number,
                  t.given.text, ndr_last_error());
    if (status == NDR_OK) check(&t, number);
    finish(&t);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("scans on the emulated GPU");
  TCase *cases = tcase_create("against definitions");
  tcase_set_timeout(cases, 900);
  tcase_add_loop_test(cases, scans_agree_with_their_definitions, 0, 3);
  suite_add_tcase(suite, cases);
  return suite_run(suite);
}
