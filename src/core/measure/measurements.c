/* Remembers the last measured choices, in a table that one lock guards. Measures nothing. */
#include "core/measure/measurements.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/fork.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ndr_measurement *remembered[NDR_MOST_MEASUREMENTS];
static int count, oldest;
static atomic_uint generation;

NDR_GUARD_FORKS(lock)

/* ---- keys ---- */

static bool continues_stride(int64_t inner, int64_t size, int64_t outer) {
  int64_t end;
  return !__builtin_mul_overflow(inner, size, &end) && end == outer;
}

static bool continues(const ndr_axis *inner, const ndr_axis *outer, int operand_count) {
  bool merges = continues_stride(inner->stride, inner->size, outer->stride);
  for (int k = 0; merges && k < operand_count; k++)
    merges = continues_stride(inner->operand[k], inner->size, outer->operand[k]);
  return merges;
}

/* Merges neighbours by the strides of the array and its operands alone. The canonical form may have left them unmerged
 * because of its results' strides or its index. Text that is imported has neither, and must lead to the same key. */
static int merge_by_stride(ndr_axis *merged, const ndr_axis *axes, int axis_count, int operand_count) {
  int last = -1;
  for (int a = 0; a < axis_count; a++) {
    if (last >= 0 && continues(&merged[last], &axes[a], operand_count))
      merged[last].size *= axes[a].size;
    else
      merged[++last] = axes[a];
  }
  return last + 1;
}

static void push_axis(ndr_problem *canonical, const ndr_axis *axis, bool reduced) {
  if (reduced) canonical->dims[canonical->dim_count++] = canonical->ndim;
  canonical->shape[canonical->ndim] = axis->size;
  for (int k = 0; k < canonical->operand_count; k++) canonical->operands[k].strides[canonical->ndim] = axis->operand[k];
  canonical->strides[canonical->ndim++] = axis->stride;
}

/* Kept and reduced axes as one list, outermost first. */
static void interleave(const ndr_canonical *problem, ndr_problem *canonical) {
  ndr_axis kept[NDR_MAX_DIMS], reduced[NDR_MAX_DIMS];
  int k = merge_by_stride(kept, problem->kept, problem->kept_count, problem->operand_count) - 1;
  int r = merge_by_stride(reduced, problem->reduced, problem->reduced_count, problem->operand_count) - 1;
  while (k >= 0 || r >= 0) {
    bool take_kept =
        r < 0 || (k >= 0 && (kept[k].stride == 0 || (reduced[r].stride != 0 && kept[k].stride >= reduced[r].stride)));
    if (take_kept)
      push_axis(canonical, &kept[k--], false);
    else
      push_axis(canonical, &reduced[r--], true);
  }
}

/* What a program was made from, but for the initial value itself: families take as long whatever it is. */
static void push_options(const ndr_canonical *problem, ndr_problem *canonical) {
  canonical->operand_count = problem->operand_count;
  for (int k = 0; k < problem->operand_count; k++) {
    canonical->operands[k].role = problem->operand_roles[k];
    canonical->operands[k].dtype = problem->operand_dtypes[k];
  }
  for (int i = 0; i < problem->op_count; i++) {
    const ndr_program *program = problem->programs[i];
    if (!program || ndr_op_is_own(problem->ops[i])) continue;
    canonical->has_initial |= program->result >= 0;
    if (program->parts[0].reliability) canonical->weighting = NDR_RELIABILITY;
  }
}

bool ndr_measurement_key(const ndr_plan *plan, char *key) {
  const ndr_canonical *problem = &plan->problem;
  ndr_problem canonical = NDR_PROBLEM_INIT;
  canonical.dtype = problem->dtype;
  canonical.op_count = problem->op_count;
  canonical.skip_nan = problem->skip_nan;
  memcpy(canonical.ops, problem->ops, sizeof canonical.ops);
  canonical.accumulate = problem->accumulate_f64 ? NDR_ACCUMULATE_F64 : NDR_ACCUMULATE_DEFAULT;
  push_options(problem, &canonical);
  interleave(problem, &canonical);
  bool cpu = plan->device.type == kDLCPU;
  size_t length = problem->place_count ? 0 : ndr_problem_print(&canonical, key, NDR_MEASUREMENT_KEY);
  if (length == 0) return false;
  ndr_text_append(key, NDR_MEASUREMENT_KEY, &length, " on %s %d %s", plan->backend->name,
                  cpu && plan->threads > 0 ? plan->threads : plan->device.units, cpu ? "threads" : "SMs");
  if (!cpu) ndr_text_append(key, NDR_MEASUREMENT_KEY, &length, " sm_%d", plan->device.capability);
  return length < NDR_MEASUREMENT_KEY;
}

static uint64_t hash_of(const char *key) { /* FNV-1a */
  uint64_t hash = 0xcbf29ce484222325u;
  for (; *key; key++) hash = (hash ^ (unsigned char)*key) * 0x100000001b3u;
  return hash;
}

/* ---- what is remembered ---- */

ndr_measurement *ndr_measurement_make(const char *key, const ndr_backend *backend, const ndr_timings *timings) {
  size_t bytes = strlen(key) + 1;
  ndr_measurement *made = malloc(sizeof *made + bytes);
  if (!made) return NULL;
  made->backend = backend;
  made->timings = *timings;
  made->hash = hash_of(key);
  memcpy(made->key, key, bytes);
  return made;
}

/* The index of the key's entry, or -1. The caller holds the lock. */
static int place_of(const char *key, uint64_t hash) {
  for (int i = 0; i < count; i++)
    if (remembered[i]->hash == hash && strcmp(remembered[i]->key, key) == 0) return i;
  return -1;
}

static void remember(ndr_measurement *measurement) {
  int place = place_of(measurement->key, measurement->hash);
  if (place < 0 && count < NDR_MOST_MEASUREMENTS) {
    remembered[count++] = measurement;
    return;
  }
  if (place < 0) {
    place = oldest;
    oldest = (oldest + 1) % NDR_MOST_MEASUREMENTS;
  }
  free(remembered[place]);
  remembered[place] = measurement;
}

void ndr_measurements_remember(int given, ndr_measurement *const *measurements) {
  pthread_mutex_lock(&lock);
  for (int i = 0; i < given; i++) remember(measurements[i]);
  atomic_fetch_add(&generation, 1);
  pthread_mutex_unlock(&lock);
}

bool ndr_measurements_recall(const ndr_plan *plan, ndr_timings *timings) {
  char key[NDR_MEASUREMENT_KEY];
  pthread_mutex_lock(&lock);
  bool any = count > 0;
  pthread_mutex_unlock(&lock);
  if (!any) return false;
  if (!ndr_measurement_key(plan, key)) return false;
  uint64_t hash = hash_of(key);
  pthread_mutex_lock(&lock);
  int place = place_of(key, hash);
  if (place >= 0) *timings = remembered[place]->timings;
  pthread_mutex_unlock(&lock);
  char reason[160];
  return place >= 0 && !timings->choice->reject(&plan->problem, &plan->device, reason);
}

void ndr_measurements_drop_all(void) {
  pthread_mutex_lock(&lock);
  while (count > 0) free(remembered[--count]);
  oldest = 0;
  atomic_fetch_add(&generation, 1);
  pthread_mutex_unlock(&lock);
}

void ndr_measurements_visit(void (*visit)(const ndr_measurement *measurement, void *context), void *context) {
  pthread_mutex_lock(&lock);
  for (int i = 0; i < count; i++) visit(remembered[(oldest + i) % count], context);
  pthread_mutex_unlock(&lock);
}

unsigned ndr_measurements_generation(void) {
  return atomic_load(&generation);
}

__attribute__((destructor)) static void forget_at_exit(void) {
  ndr_measurements_drop_all();
}
