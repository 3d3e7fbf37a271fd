#include "support/problem_arrays.h"

#include "ndreduce/operator.h"
#include "support/suite.h"

void setting_free(setting *made) {
  for (int a = 0; a < made->array_count; a++) array_free(&made->arrays[a]);
  if (made->own) ndr_operator_destroy(made->own);
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

void outcome_free(outcome *made) {
  for (int i = 0; i < made->count; i++) array_free(&made->results[i]);
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
