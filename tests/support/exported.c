#include "support/exported.h"

#include <stdlib.h>

#include "support/cases.h"
#include "support/suite.h"

static const DLDevice cpu = {kDLCPU, 0};

bytes export_of(const ndr_accumulator *a) {
  bytes made = {NULL, 0};
  assert_ok(ndr_accumulator_export(a, NULL, 0, &made.count));
  made.at = malloc(made.count);
  assert_ok(ndr_accumulator_export(a, made.at, made.count, &made.count));
  return made;
}

void assert_equal(const ndr_accumulator *a, const ndr_accumulator *b, const char *what) {
  bytes one = export_of(a), other = export_of(b);
  ck_assert_msg(one.count == other.count && memcmp(one.at, other.at, one.count) == 0, "%s, seed %llu", what,
                (unsigned long long)test_seed());
  free(one.at);
  free(other.at);
}

void assert_unchanged(const ndr_accumulator *a, const bytes *before) {
  bytes after = export_of(a);
  ck_assert(after.count == before->count && memcmp(after.at, before->at, after.count) == 0);
  free(after.at);
}

ndr_accumulator *accumulator_of(const ndr_problem *problem) {
  ndr_accumulator *made;
  assert_ok(ndr_accumulator_create(&made, problem, cpu, NULL));
  return made;
}

ndr_accumulator *accumulator_of_text(const char *text) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  assert_ok(ndr_problem_parse(text, &problem));
  return accumulator_of(&problem);
}

void import_export(ndr_accumulator *into, const ndr_accumulator *from) {
  bytes exported = export_of(from);
  assert_ok(ndr_accumulator_import(into, exported.at, exported.count));
  free(exported.at);
}
