/* The problem mini-language on any bytes: what parses must print and parse back to the same case, its extent must be
 * one that memory can have, and every family of the planners must take or refuse it. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "ndreduce/groups.h"
#include "ndreduce/operator.h"
#include "support/plan.h"

static void check_extent(const ndr_problem *problem) {
  int64_t low = 1, high = -1, count = 1;
  for (int d = 0; d < problem->ndim; d++) count = problem->shape[d] ? count : 0;
  if (ndr_problem_extent(problem, &low, &high) != NDR_OK) return;
  int64_t bytes = (int64_t)ndr_dtype_bytes(problem->dtype);
  require(low <= 0 && (count ? high >= 0 : high < low));
  require(high - low <= INT64_MAX / bytes - 1);
}

static void check_planners(const ndr_problem *problem) {
  /* argmax has a plan for each group: thousands take seconds. */
  if (ndr_groups_count(problem->groups) > 1000) return;
  ndr_status status = plan_by_all(problem);
  if (problem->groups && status == NDR_ERR_UNSUPPORTED) return;
  bool undefined = status == NDR_ERR_OP || status == NDR_ERR_DIMS || status == NDR_ERR_ARGUMENT;
  require(status == NDR_OK || status == NDR_ERR_OVERFLOW || status == NDR_ERR_EMPTY || undefined);
}

static void check_round_trip(const ndr_problem *problem) {
  ndr_problem back = NDR_PROBLEM_INIT;
  size_t length = ndr_problem_print(problem, NULL, 0);
  char *text = malloc(length + 1);
  require(text != NULL);
  require(ndr_problem_print(problem, text, length + 1) == length && strlen(text) == length);
  require(ndr_problem_parse(text, &back) == NDR_OK);
  require(memcmp(problem, &back, sizeof back) == 0);
  free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  char *text = malloc(size + 1);
  require(text != NULL);
  memcpy(text, data, size);
  text[size] = 0;
  if (ndr_problem_parse(text, &problem) == NDR_OK) {
    check_round_trip(&problem);
    check_extent(&problem);
    check_planners(&problem);
    for (int i = 0; i < problem.op_count; i++) ndr_operator_destroy(problem.ops[i]);
  } else {
    require(ndr_last_error()[0] != 0);
  }
  free(text);
  return 0;
}
