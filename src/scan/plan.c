/* Chooses a family for a scan, and describes the choice. */
#include "scan/plan.h"

#include <string.h>

#include "core/groups/label.h"

static ndr_status force_family(ndr_scan_plan *plan, const char *name) {
  const ndr_scan_family *const *families = plan->backend->scans->families;
  char text[160], names[128] = "";
  size_t length = 0;
  for (; *families; families++) {
    if (strcmp((*families)->name, name) == 0) break;
    ndr_text_append(names, sizeof names, &length, "%s%s", length ? ", " : "", (*families)->name);
  }
  if (!*families)
    return ndr_fail(NDR_ERR_UNSUPPORTED, "backend %s has no family '%.40s' for scans; it has %s", plan->backend->name,
                    name, names);
  const char *why = (*families)->reject(&plan->problem, &plan->device, text);
  if (why) return ndr_fail(NDR_ERR_UNSUPPORTED, "family %s cannot run this scan: %s", name, why);
  plan->family = *families;
  plan->forced = true;
  return NDR_OK;
}

static void take_cheapest(ndr_scan_plan *plan) {
  double least = 0;
  for (const ndr_scan_family *const *family = plan->backend->scans->families; *family; family++) {
    char text[160];
    if ((*family)->reject(&plan->problem, &plan->device, text)) continue;
    double cost = (*family)->cost(&plan->problem, &plan->device);
    if (plan->family && cost >= least) continue;
    plan->family = *family;
    least = cost;
  }
}

ndr_status ndr_scan_choose(ndr_scan_plan *plan, const char *force) {
  char label[NDR_LABEL_BYTES], text[160];
  if (!plan->backend->scans) return ndr_fail(NDR_ERR_UNSUPPORTED, "backend %s has no scans", plan->backend->name);
  if (force)
    NDR_TRY(force_family(plan, force));
  else
    take_cheapest(plan);
  if (!plan->family)
    return ndr_fail(NDR_ERR_UNSUPPORTED, "backend %s cannot run a scan of %s over %s: %s", plan->backend->name,
                    ndr_op_label(plan->problem.op, label), ndr_dtype_name(plan->problem.dtype),
                    plan->backend->scans->families[0]->reject(&plan->problem, &plan->device, text));
  if (!ndr_scan_is_empty(&plan->problem)) plan->family->configure(plan);
  return NDR_OK;
}

/* ---- description ---- */

size_t ndr_scan_sketch(const ndr_scan_call *call, const ndr_scan_problem *problem, char *text, size_t capacity) {
  const ndr_scan_options *options = call->options;
  char label[NDR_LABEL_BYTES];
  size_t length = 0;
  int64_t compact[NDR_MAX_DIMS];
  ndr_compact_strides(problem->ndim, problem->shape, compact);
  ndr_text_append(text, capacity, &length, "scan %s %s [", ndr_op_label(call->op, label),
                  ndr_dtype_name(problem->dtype));
  for (int d = 0; d < problem->ndim; d++) {
    ndr_text_append(text, capacity, &length, "%s%lld", d ? "," : "", (long long)problem->shape[d]);
    if (problem->strides[d] != compact[d] && problem->shape[d] > 1)
      ndr_text_append(text, capacity, &length, ":%lld", (long long)problem->strides[d]);
  }
  if (call->dim == NDR_SCAN_ALL)
    ndr_text_append(text, capacity, &length, "] along all");
  else
    ndr_text_append(text, capacity, &length, "] along %d", call->dim < 0 ? call->dim + problem->ndim : call->dim);
  ndr_text_append(text, capacity, &length, "%s%s%s%s", options->exclusive ? " exclusive" : "",
                  options->include_initial ? " include_initial" : "", options->reverse ? " reverse" : "",
                  options->skip_nan ? " skipnan" : "");
  if (options->initial) ndr_text_append(text, capacity, &length, " initial=%.17g", *options->initial);
  return length;
}

size_t ndr_scan_describe_plan(const ndr_scan_plan *plan, char *text, size_t capacity) {
  const ndr_scan_problem *problem = &plan->problem;
  size_t length = 0;
  char parameters[256] = "";
  ndr_text_append(text, capacity, &length, "%s on %s\n", plan->text, plan->backend->name);
  if (ndr_scan_is_empty(problem)) {
    ndr_text_append(text, capacity, &length, "nothing to do: the result is empty\n");
    return length;
  }
  plan->family->describe(plan, parameters, sizeof parameters);
  ndr_text_append(text, capacity, &length, "%-7s %lld lines x %lld, %s, workspace %zu B%s\n", plan->family->name,
                  (long long)problem->lines, (long long)problem->length, parameters, plan->workspace,
                  plan->forced ? " (forced)" : "");
  for (const ndr_scan_family *const *family = plan->backend->scans->families; *family; family++) {
    char reason[160];
    if (*family == plan->family) continue;
    const char *why = (*family)->reject(problem, &plan->device, reason);
    if (why)
      ndr_text_append(text, capacity, &length, "%-7s rejected: %s\n", (*family)->name, why);
    else
      ndr_text_append(text, capacity, &length, "%-7s %s: predicted %.3g us instead of %.3g\n", (*family)->name,
                      plan->forced ? "not forced" : "slower", (*family)->cost(problem, &plan->device) * 1e6,
                      plan->family->cost(problem, &plan->device) * 1e6);
  }
  return length;
}
