#include "core/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void ndr_text_append(char *text, size_t capacity, size_t *length, const char *format, ...) {
  va_list arguments;
  size_t room = *length < capacity ? capacity - *length : 0;
  va_start(arguments, format);
  int written = vsnprintf(room ? text + *length : NULL, room, format, arguments);
  va_end(arguments);
  if (written > 0) *length += (size_t)written;
}

static const ndr_family *find_family(const ndr_backend *backend, const char *name) {
  for (const ndr_family *const *family = backend->families; *family; family++)
    if (strcmp((*family)->name, name) == 0) return *family;
  return NULL;
}

static ndr_status force_family(ndr_plan *plan, const char *name) {
  char reason[160];
  const ndr_family *family = find_family(plan->backend, name);
  if (!family) {
    char names[128] = "";
    size_t length = 0;
    for (const ndr_family *const *f = plan->backend->families; *f; f++)
      ndr_text_append(names, sizeof names, &length, "%s%s", length ? ", " : "", (*f)->name);
    return ndr_fail(NDR_ERR_UNSUPPORTED, "backend %s has no family '%.40s'; it has %s", plan->backend->name, name,
                    names);
  }
  const char *why = family->reject(&plan->problem, &plan->device, reason);
  if (why) return ndr_fail(NDR_ERR_UNSUPPORTED, "family %s cannot run this problem: %s", name, why);
  plan->family = family;
  plan->forced = true;
  return NDR_OK;
}

ndr_status ndr_plan_choose(ndr_plan *plan, const char *force) {
  double best = 0;
  plan->family = NULL;
  if (force) NDR_TRY(force_family(plan, force));
  for (const ndr_family *const *family = plan->backend->families; !force && *family; family++) {
    char reason[160];
    if ((*family)->reject(&plan->problem, &plan->device, reason)) continue;
    double cost = (*family)->cost(&plan->problem, &plan->device);
    if (plan->family && cost >= best) continue;
    plan->family = *family;
    best = cost;
  }
  if (!plan->family)
    return ndr_fail(NDR_ERR_UNSUPPORTED, "no family of backend %s can run this problem", plan->backend->name);
  plan->family->configure(plan);
  return NDR_OK;
}

static void append_losers(const ndr_plan *plan, char *text, size_t capacity, size_t *length) {
  for (const ndr_family *const *family = plan->backend->families; *family; family++) {
    char reason[160];
    if (*family == plan->family) continue;
    const char *why = (*family)->reject(&plan->problem, &plan->device, reason);
    ndr_text_append(text, capacity, length, "%-7s ", (*family)->name);
    if (why)
      ndr_text_append(text, capacity, length, "rejected: %s\n", why);
    else
      ndr_text_append(text, capacity, length, "%s: predicted %.3g us\n", plan->forced ? "not forced" : "slower",
                      (*family)->cost(&plan->problem, &plan->device) * 1e6);
  }
}

size_t ndr_plan_describe(const ndr_plan *plan, char *text, size_t capacity) {
  size_t length = 0;
  if (capacity) text[0] = 0;
  if (!plan) return 0;
  length = ndr_case_print(&plan->described, text, capacity);
  ndr_text_append(text, capacity, &length, " on %s:%d (%d %s)\n", plan->backend->name, plan->device.id,
                  plan->device.units, plan->device.type == kDLCPU ? "threads" : "SMs");
  ndr_text_append(text, capacity, &length, "%-7s %lld outputs x %lld, ", plan->family->name,
                  (long long)plan->problem.outputs, (long long)plan->problem.length);
  char parameters[512] = "";
  plan->family->describe(plan, parameters, sizeof parameters);
  double bytes =
      (double)plan->problem.outputs * (double)plan->problem.length * (double)ndr_dtype_bytes(plan->problem.dtype);
  ndr_text_append(text, capacity, &length, "%s%sworkspace %zu B, reads %.4g MB, predicted %.3g us%s\n", parameters,
                  parameters[0] ? ", " : "", plan->workspace, bytes / 1e6,
                  plan->family->cost(&plan->problem, &plan->device) * 1e6, plan->forced ? " (forced)" : "");
  append_losers(plan, text, capacity, &length);
  return length;
}
