#include "forced.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "runtime/control.h"
#include "support/oracle.h"
#include "support/reduce.h"
#include "support/suite.h"

static bool is_clean(const ndr_plan *plan, const unsigned char *workspace) {
  for (size_t i = 0; i < ndr_plan_workspace(plan); i++)
    if (workspace[i]) return false;
  return true;
}

/* Executes twice in the same workspace, in another order the second time: the results must be the same bits. */
static void execute(const ndr_plan *plan, const device_array *array, device_array *result, const twist *how,
                    outcome *came) {
  void *data = result->tensor.data;
  unsigned char *workspace = simt_allocate(plan->workspace, 0);
  char *before = malloc(result->host.bytes + 1);
  if (!workspace || !before) abort();
  const ndr_launch *launch = ndr_plan_launch(plan, array->memory);
  came->kernel = launch->kernel;
  came->turned = ndr_kernel_has_teams(launch->kernel) && launch->params.thread.near_others > 1;
  const char *kernel = ndr_kernel_name(came->kernel);
  memset(workspace, ARRAY_POISON, plan->workspace);
  for (int round = 0; round < 2 && !came->why[0]; round++) {
    simt_controls.order = round ? how->order * 3 + 1 : how->order;
    memset(result->memory, ARRAY_POISON, result->host.bytes);
    if (ndr_plan_execute(plan, array->tensor.data, &data, workspace, ndr_plan_workspace(plan), NULL) != NDR_OK)
      snprintf(came->why, sizeof came->why, "%s: %s", kernel, ndr_last_error());
    else if (!is_clean(plan, workspace))
      snprintf(came->why, sizeof came->why, "%s left a slot that is not empty", kernel);
    else if (round && memcmp(before, result->memory, result->host.bytes) != 0)
      snprintf(came->why, sizeof came->why, "%s: another order of threads gives another result", kernel);
    memcpy(before, result->memory, result->host.bytes);
  }
  free(before);
  simt_release(workspace);
}

static void check(const ndr_problem *problem, const device_array *array, device_array *result, outcome *came) {
  device_fetch(result);
  if (simt_guards_broken())
    snprintf(came->why, sizeof came->why, "something was written outside the arrays and the workspace");
  else if (!array_gaps_untouched(&result->host))
    snprintf(came->why, sizeof came->why, "something was written between the result's elements");
  else if (!oracle_accepts(problem, problem->ops[0], &array->host.tensor, &result->host.tensor, came->why,
                           sizeof came->why))
    return;
}

outcome run_forced(const ndr_problem *problem, const char *family, const ndr_device *planned_for, const twist *how,
                   rng *random) {
  outcome came = {.ran = true};
  device_array array, result;
  ndr_plan *plan;
  ndr_options options = case_options(problem);
  options.force_family = family;
  options.device = planned_for;
  array_of_case(&array.host, problem);
  array_fill(&array.host, random, random_filling(random, problem->ops[0]));
  device_array_of(&array, how->device, how->past);
  assert_ok(array_result(&result.host, &array.host.tensor, problem->dim_count, problem->dims, problem->ops[0], &options,
                         random));
  device_array_of(&result, how->device, 0);
  const DLTensor *results[] = {&result.tensor};
  ndr_status status =
      plan_array(&plan, &array.tensor, problem->dim_count, problem->dims, 1, problem->ops, results, &options);
  came.ran = status == NDR_OK;
  if (came.ran) {
    apply_twist(plan, how);
    execute(plan, &array, &result, how, &came);
    if (!came.why[0]) check(problem, &array, &result, &came);
  } else if (status != NDR_ERR_UNSUPPORTED) {
    snprintf(came.why, sizeof came.why, "%s", ndr_last_error());
  }
  ndr_plan_destroy(plan);
  device_free(&array);
  device_free(&result);
  return came;
}
