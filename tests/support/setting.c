#define _GNU_SOURCE // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): setenv
#include "support/setting.h"

#include <stdlib.h>

#include "ndreduce/operator.h"
#include "support/suite.h"

void setting_free(setting *s) {
  for (int a = 0; a < s->array_count; a++) array_free(&s->arrays[a]);
  if (s->own) ndr_operator_destroy(s->own);
}

static void make_results(const ndr_problem *problem, outcome *made) {
  made->count = problem->op_count;
  for (int i = 0; i < made->count; i++) {
    int64_t shape[NDR_MAX_DIMS];
    ndr_dtype dtype = NDR_F64;
    DLTensor described = {.shape = shape};
    assert_ok(ndr_problem_result(problem, i, &described));
    assert_ok(ndr_dtype_from_dlpack(described.dtype, &dtype));
    array_make(&made->results[i], dtype, described.ndim, shape, NULL);
  }
}

void outcome_free(outcome *o) {
  for (int i = 0; i < o->count; i++) array_free(&o->results[i]);
}

bool setting_run(const setting *s, const char *family, int threads, outcome *made) {
  const void *data[MOST_ARRAYS];
  void *results[NDR_MAX_OPS];
  ndr_plan *plan;
  ndr_options options = NDR_OPTIONS_INIT;
  options.force_family = family;
  options.threads = threads;
  if (ndr_plan_create(&plan, &s->problem, (DLDevice){kDLCPU, 0}, NULL, &options) != NDR_OK) return false;
  make_results(&s->problem, made);
  for (int a = 0; a < s->array_count; a++) data[a] = (const char *)s->arrays[a].tensor.data;
  for (int i = 0; i < made->count; i++) results[i] = made->results[i].memory;
  assert_ok(ndr_plan_execute_operands(plan, data, results, NULL, 0, NULL));
  ndr_plan_destroy(plan);
  return true;
}

void check_with_isa(const char *isa, void (*check_one)(rng *, ndr_dtype)) {
  rng random = {test_seed()};
  setenv("NDR_CPU_ISA", isa, 1);
  for (int i = test_case_count(12); i > 0; i--)
    for (int dtype = 0; dtype < NDR_DTYPE_COUNT; dtype++) check_one(&random, (ndr_dtype)dtype);
}
