/* The problem mini-language on any bytes: what parses must print and parse back to the same case, and its extent must
 * be one that memory can have. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "ndreduce/ndreduce.h"

static void check_extent(const ndr_case *problem) {
  int64_t low = 1, high = -1, count = 1;
  for (int d = 0; d < problem->ndim; d++) count = problem->shape[d] ? count : 0;
  if (ndr_case_extent(problem, &low, &high) != NDR_OK) return;
  int64_t bytes = (int64_t)ndr_dtype_bytes(problem->dtype);
  require(low <= 0 && (count ? high >= 0 : high < low));
  require(high - low <= INT64_MAX / bytes - 1);
}

/* The sizes and strides are made up, so nothing is allocated: the checks and the planner alone see them. */
static void check_plan(const ndr_case *problem) {
  ndr_plan *plan = NULL;
  char text[512];
  int64_t shape[NDR_MAX_DIMS], strides[NDR_MAX_DIMS];
  memcpy(shape, problem->shape, sizeof shape);
  memcpy(strides, problem->strides, sizeof strides);
  DLTensor array = {NULL, {kDLCPU, 0}, problem->ndim, ndr_dtype_to_dlpack(problem->dtype), shape, strides, 0};
  ndr_options options = NDR_OPTIONS_INIT;
  options.keepdims = problem->keepdims;
  options.skip_nan = problem->skip_nan;
  options.ddof = problem->ddof;
  options.accumulate = problem->accumulate;
  ndr_status status = ndr_plan_create(&plan, &array, problem->dim_count, problem->dims, problem->op_count, problem->ops,
                                      NULL, &options);
  require(status == NDR_OK || status == NDR_ERR_OVERFLOW || status == NDR_ERR_EMPTY);
  if (status == NDR_OK) ndr_plan_describe(plan, text, sizeof text);
  ndr_plan_destroy(plan);
}

static void check_round_trip(const ndr_case *problem) {
  ndr_case back;
  size_t length = ndr_case_print(problem, NULL, 0);
  char *text = malloc(length + 1);
  require(text != NULL);
  require(ndr_case_print(problem, text, length + 1) == length && strlen(text) == length);
  require(ndr_case_parse(text, &back) == NDR_OK);
  require(memcmp(problem, &back, sizeof back) == 0);
  free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ndr_case problem;
  char *text = malloc(size + 1);
  require(text != NULL);
  memcpy(text, data, size);
  text[size] = 0;
  if (ndr_case_parse(text, &problem) == NDR_OK) {
    check_round_trip(&problem);
    check_extent(&problem);
    check_plan(&problem);
  } else {
    require(ndr_last_error()[0] != 0);
  }
  free(text);
  return 0;
}
