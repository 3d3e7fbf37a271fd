/* Chooses a family by its predicted cost, and describes the choice in words. The backend executes plans. */
#include <stdio.h>
#include <string.h>

#include "core/measure/measurements.h"

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

static const ndr_family *cheapest_family(const ndr_plan *plan) {
  const ndr_family *cheapest = NULL;
  double least = 0;
  for (const ndr_family *const *family = plan->backend->families; *family; family++) {
    char reason[160];
    if ((*family)->reject(&plan->problem, &plan->device, reason)) continue;
    double cost = (*family)->cost(&plan->problem, &plan->device);
    if (cheapest && cost >= least) continue;
    cheapest = *family;
    least = cost;
  }
  return cheapest;
}

/* What was measured without a table says nothing. */
static bool is_scattered(const ndr_canonical *problem) {
  bool scattered = false;
  for (int r = 0; r < problem->reduced_count; r++) scattered = scattered || problem->reduced[r].scattered;
  return scattered;
}

ndr_status ndr_plan_choose(ndr_plan *plan, const char *force) {
  plan->family = NULL;
  plan->timings.choice = NULL;
  if (force)
    NDR_TRY(force_family(plan, force));
  else if (!is_scattered(&plan->problem) && ndr_measurements_recall(plan, &plan->timings))
    plan->family = plan->timings.choice;
  else
    plan->family = cheapest_family(plan);
  if (!plan->family) {
    char text[160];
    const char *reason = plan->backend->families[0]->reject(&plan->problem, &plan->device, text);
    return ndr_fail(NDR_ERR_UNSUPPORTED, "no family of backend %s can run this problem: %s", plan->backend->name,
                    reason ? reason : "none was tried");
  }
  plan->family->configure(plan);
  return NDR_OK;
}

ndr_status ndr_plan_borrow_workspace(const ndr_plan *plan, void *stream, void **workspace) {
  const ndr_backend *backend = plan->backend;
  *workspace = NULL;
  if (!plan->workspace) return NDR_OK;
  if (backend->borrow_workspace) return backend->borrow_workspace(plan, stream, workspace);
  return backend->allocate(plan->device.id, plan->workspace, stream, workspace);
}

void ndr_plan_return_workspace(const ndr_plan *plan, void *workspace, bool clean, void *stream) {
  const ndr_backend *backend = plan->backend;
  if (workspace && backend->return_workspace)
    backend->return_workspace(plan, workspace, clean, stream);
  else if (workspace)
    backend->release(plan->device.id, workspace, stream);
}

static double operand_bytes(const ndr_canonical *problem, int k) {
  double bytes = (double)ndr_dtype_bytes(problem->operand_dtypes[k]);
  for (int a = 0; a < problem->kept_count; a++)
    if (problem->kept[a].operand[k] != 0) bytes *= (double)problem->kept[a].size;
  for (int a = 0; a < problem->reduced_count; a++)
    if (problem->reduced[a].operand[k] != 0) bytes *= (double)problem->reduced[a].size;
  return bytes;
}

double ndr_plan_bytes_read(const ndr_canonical *problem) {
  double elements = (double)problem->outputs * (double)problem->length;
  if (problem->table) elements /= (double)problem->group.size; /* groups share the elements */
  double bytes = elements * (double)ndr_dtype_bytes(problem->dtype);
  for (int k = 0; k < problem->operand_count && elements > 0; k++) bytes += operand_bytes(problem, k);
  return bytes;
}

/* ---- description ---- */

typedef struct sheet {
  char *text;
  size_t capacity, length;
} sheet;

#define append(s, ...) ndr_text_append((s)->text, (s)->capacity, &(s)->length, __VA_ARGS__)

/* Prints three digits. A value that would round up to 1000 gets the next unit. */
static void append_scaled(sheet *s, double value, double step, const char *const *units) {
  while (value >= 999.5 && units[1]) {
    value /= step;
    units++;
  }
  append(s, "%.3g %s", value, *units);
}

static void append_bytes(sheet *s, double bytes) {
  static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB", NULL};
  append_scaled(s, bytes, 1000, units);
}

static void append_seconds(sheet *s, double seconds) {
  static const char *const units[] = {"us", "ms", "s", NULL};
  append_scaled(s, seconds * 1e6, 1000, units);
}

static double bytes_written(const ndr_canonical *problem) {
  size_t bytes = 0;
  for (int i = 0; i < problem->op_count; i++) {
    ndr_state state = ndr_canonical_state(problem, i);
    bytes += problem->partial ? 8 * (size_t)ndr_state_size(&state) : ndr_dtype_bytes(ndr_state_result(&state));
  }
  return (double)problem->outputs * (double)bytes;
}

/* The family's index in its backend's table. */
static int place_of(const ndr_plan *plan, const ndr_family *family) {
  int place = 0;
  while (plan->backend->families[place] != family) place++;
  return place;
}

/* Prints the predicted time, and the measured time if there is one. */
static void append_times(sheet *s, const ndr_plan *plan, const ndr_family *family) {
  double measured = plan->timings.choice ? plan->timings.seconds[place_of(plan, family)] : 0;
  append(s, "predicted ");
  append_seconds(s, family->cost(&plan->problem, &plan->device));
  if (measured <= 0) return;
  append(s, ", measured ");
  append_seconds(s, measured);
}

static const char *why_slower(const ndr_plan *plan, const ndr_family *family) {
  const ndr_timings *timings = &plan->timings;
  if (plan->forced) return "not forced";
  if (!timings->choice) return "slower";
  double loser = timings->seconds[place_of(plan, family)], winner = timings->seconds[place_of(plan, plan->family)];
  if (loser <= 0) return "not measured";
  return loser > winner ? "slower" : "not clearly faster";
}

static void append_choice(sheet *s, const ndr_plan *plan) {
  char parameters[512] = "";
  const ndr_canonical *problem = &plan->problem;
  append(s, "%-7s %lld outputs x %lld, reads ", plan->family->name, (long long)problem->outputs,
         (long long)problem->length);
  append_bytes(s, ndr_plan_bytes_read(problem));
  append(s, ", writes ");
  append_bytes(s, bytes_written(problem));
  append(s, ", workspace ");
  append_bytes(s, (double)plan->workspace);
  append(s, ", ");
  append_times(s, plan, plan->family);
  append(s, "%s\n", plan->forced ? " (forced)" : "");
  plan->family->describe(plan, parameters, sizeof parameters);
  if (parameters[0]) append(s, "        %s\n", parameters);
}

static void append_losers(sheet *s, const ndr_plan *plan) {
  for (const ndr_family *const *family = plan->backend->families; *family; family++) {
    char reason[160];
    if (*family == plan->family) continue;
    const char *why = (*family)->reject(&plan->problem, &plan->device, reason);
    append(s, "%-7s ", (*family)->name);
    if (why) {
      append(s, "rejected: %s\n", why);
      continue;
    }
    append(s, "%s: ", why_slower(plan, *family));
    append_times(s, plan, *family);
    append(s, "\n");
  }
}

void ndr_plan_describe_place(const ndr_plan *plan, char *text, size_t capacity, size_t *length) {
  ndr_text_append(text, capacity, length, "%s on %s:%d (%d %s)\n", plan->text ? plan->text : "a problem",
                  plan->backend->name, plan->device.id, plan->device.units,
                  plan->device.type == kDLCPU ? "threads" : "SMs");
}

void ndr_plan_describe_choice(const ndr_plan *plan, char *text, size_t capacity, size_t *length) {
  sheet s = {text, capacity, *length};
  append_choice(&s, plan);
  append_losers(&s, plan);
  if (plan->untimed[0]) append(&s, "not measured: %s\n", plan->untimed);
  *length = s.length;
}
