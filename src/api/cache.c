/* Plans by the exact arguments they were made from, so that a repeated ndreduce() costs a look-up. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/operands.h"
#include "api/parts/parts.h"
#include "api/plan.h"
#include "core/fork.h"
#include "core/measure/measurements.h"
#include "ndreduce/operator.h"

enum {
  SLOTS = 64,
  WAYS = 4,
  TENSOR_WORDS = 2 + 2 * NDR_MAX_DIMS,
  KEY_WORDS = 30 + NDR_MAX_DIMS + TENSOR_WORDS + (NDR_MAX_OPS + NDR_MAX_OPERANDS) * (1 + TENSOR_WORDS)
};

typedef struct key {
  int count;
  int64_t words[KEY_WORDS];
} key;

typedef struct entry {
  ndr_plan plan; /* first: a held plan's address is its entry's */
  int holders;   /* the slot counts as one */
  uint64_t hash;
  int key_count;
  int64_t key_words[];
} entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static entry *slots[SLOTS];
static unsigned next_victim;

NDR_GUARD_FORKS(lock)

static void push(key *k, int64_t word) {
  k->words[k->count++] = word;
}

/* Everything about a tensor that a plan depends on. False for tensors that the checks will refuse anyway. */
static bool push_tensor(key *k, const DLTensor *tensor) {
  if (!tensor || tensor->ndim < 0 || tensor->ndim > NDR_MAX_DIMS || (tensor->ndim > 0 && !tensor->shape)) return false;
  push(k, (int64_t)((uint32_t)tensor->device.device_type | (uint64_t)(uint32_t)tensor->device.device_id << 32));
  push(k, tensor->ndim | (int64_t)(tensor->strides != NULL) << 8 | (int64_t)tensor->dtype.code << 16 |
              (int64_t)tensor->dtype.bits << 24 | (int64_t)tensor->dtype.lanes << 32);
  for (int d = 0; d < tensor->ndim; d++) push(k, tensor->shape[d]);
  for (int d = 0; tensor->strides && d < tensor->ndim; d++) push(k, tensor->strides[d]);
  return true;
}

static bool push_operands(key *k, const ndr_options *o) {
  ndr_operands operands;
  if (o->with_count < 0 || (o->with_count > 0 && !o->with) || ndr_operands_of(o, &operands) != NDR_OK) return false;
  for (int i = 0; i < operands.count; i++) {
    push(k, operands.roles[i]);
    if (!push_tensor(k, operands.tensors[i])) return false;
  }
  return true;
}

static bool push_options(key *k, const ndr_options *options) {
  static const ndr_options defaults = NDR_OPTIONS_INIT;
  const ndr_options *o = options ? options : &defaults;
  int64_t ddof, initial = 0;
  if (o->size != sizeof *o || o->device) return false;
  memcpy(&ddof, &o->ddof, sizeof ddof);
  if (o->initial) memcpy(&initial, o->initial, sizeof initial);
  push(k, initial);
  push(k, (int64_t)(unsigned)o->weighting | (int64_t)(o->initial != NULL) << 32);
  push(k, (o->keepdims != 0) | (o->skip_nan != 0) << 1 | (int64_t)o->threads << 32);
  push(k, (int64_t)(unsigned)o->accumulate | (int64_t)o->planning << 32);
  push(k, ddof);
  /* The plan holds its groups, so that no others get their address. */
  push(k, (int64_t)(uintptr_t)o->groups);
  push(k, o->group_dim);
  if (!push_operands(k, o)) return false;
  for (int c = 0, end = 0; o->force_family && !end; c++) {
    if (c == 16) return false;
    push(k, o->force_family[c]);
    end = o->force_family[c] == 0;
  }
  return true;
}

static bool make_key(key *k, const ndr_call *c) {
  k->count = 0;
  if (c->dim_count < -1 || c->dim_count > NDR_MAX_DIMS || (c->dim_count > 0 && !c->dims) ||
      (c->dim_count == -1 && c->dims) || c->op_count < 1 || c->op_count > NDR_MAX_OPS || !c->ops ||
      !push_tensor(k, c->array))
    return false;
  push(k, c->dim_count);
  for (int i = 0; i < c->dim_count; i++) push(k, c->dims[i]);
  push(k, c->op_count);
  for (int i = 0; i < c->op_count; i++) {
    /* Numbers of operators of one's own are not used again; a destroyed one is refused by the checks. */
    if (ndr_op_is_own(c->ops[i]) && ndr_operator_arrays(c->ops[i]) == 0) return false;
    push(k, c->ops[i]);
    if (!push_tensor(k, c->results[i])) return false;
  }
  push(k, ndr_measurements_generation());
  return push_options(k, c->options);
}

static uint64_t hash_of(const key *k) {
  uint64_t hash = 0x9e3779b97f4a7c15u;
  for (int i = 0; i < k->count; i++) {
    hash = (hash ^ (uint64_t)k->words[i]) * 0xd6e8feb86659fd93u;
    hash ^= hash >> 32;
  }
  return hash;
}

static void drop(entry *e) {
  if (!e || --e->holders > 0) return;
  ndr_canonical_free(&e->plan.problem);
  ndr_parts_drop(e->plan.parts);
  free(e);
}

static ndr_plan *look_up(const key *k, uint64_t hash) {
  entry *found = NULL;
  pthread_mutex_lock(&lock);
  for (int way = 0; way < WAYS && !found; way++) {
    entry *e = slots[(hash + (unsigned)way) % SLOTS];
    if (e && e->hash == hash && e->key_count == k->count &&
        memcmp(e->key_words, k->words, (size_t)k->count * sizeof *k->words) == 0)
      found = e;
  }
  if (found) found->holders++;
  pthread_mutex_unlock(&lock);
  return found ? &found->plan : NULL;
}

/* A copy of the plan with its key and one holder; NULL when memory is short. */
static entry *make_entry(const key *k, uint64_t hash, const ndr_plan *plan) {
  size_t key_bytes = (size_t)k->count * sizeof *k->words;
  entry *e = malloc(sizeof *e + key_bytes);
  if (!e) return NULL;
  e->plan = *plan;
  ndr_canonical_share(&e->plan.problem);
  (void)ndr_parts_hold(e->plan.parts);
  e->holders = 1;
  e->hash = hash;
  e->key_count = k->count;
  memcpy(e->key_words, k->words, key_bytes);
  return e;
}

static void remember(entry *e) {
  pthread_mutex_lock(&lock);
  unsigned slot = (unsigned)((e->hash + next_victim++ % WAYS) % SLOTS);
  for (unsigned way = 0; way < WAYS && slots[slot]; way++) {
    unsigned candidate = (unsigned)((e->hash + way) % SLOTS);
    if (!slots[candidate]) slot = candidate;
  }
  drop(slots[slot]);
  slots[slot] = e;
  e->holders++;
  pthread_mutex_unlock(&lock);
}

/* The arrays that NDR_MEASURE reads: those of the call, if they are there. */
static ndr_status find_data(const ndr_call *call, const ndr_operands *operands, const void **data) {
  void *array = NULL;
  if (call->array->data) NDR_TRY(ndr_tensor_address(call->array, "array", &array));
  data[0] = array;
  return array ? ndr_operands_addresses(operands, data) : NDR_OK;
}

static ndr_status plan_request(ndr_plan **plan, ndr_request *request, const ndr_call *call,
                               const ndr_options *options) {
  const void *data[NDR_MOST_ARRAYS] = {NULL};
  ndr_operands operands;
  NDR_TRY(ndr_operands_of(options, &operands));
  NDR_TRY(ndr_operands_check_devices(&operands, call->array->device));
  NDR_TRY(ndr_request_place(request, call->array->device, call->results));
  if (options->planning == NDR_MEASURE) NDR_TRY(find_data(call, &operands, data));
  return ndr_plan_from_request(plan, request, call->array->device, data[0] ? data : NULL, options);
}

static ndr_status make_plan(ndr_plan **plan, const ndr_call *call) {
  ndr_request request;
  ndr_options options;
  NDR_TRY(ndr_request_from_call(&request, call, &options));
  ndr_status status = plan_request(plan, &request, call, &options);
  ndr_request_free(&request);
  return status;
}

ndr_status ndr_plan_hold(ndr_plan **plan, const ndr_call *call) {
  key k;
  bool cacheable = make_key(&k, call);
  uint64_t hash = cacheable ? hash_of(&k) : 0;
  *plan = cacheable ? look_up(&k, hash) : NULL;
  if (*plan) return NDR_OK;
  ndr_plan *made;
  NDR_TRY(make_plan(&made, call));
  if (!cacheable) k.count = 0;
  entry *e = make_entry(&k, hash, made);
  ndr_plan_destroy(made);
  if (!e) return ndr_fail(NDR_ERR_MEMORY, "out of memory for a plan");
  /* What could not be measured this time may be the next time. */
  if (cacheable && !e->plan.untimed[0] && ndr_parts_are_few(e->plan.parts)) remember(e);
  *plan = &e->plan;
  return NDR_OK;
}

void ndr_plan_let_go(ndr_plan *plan) {
  pthread_mutex_lock(&lock);
  drop((entry *)(void *)plan);
  pthread_mutex_unlock(&lock);
}

__attribute__((destructor)) static void forget_all(void) {
  pthread_mutex_lock(&lock); /* another thread may still be in a call */
  for (int i = 0; i < SLOTS; i++) {
    drop(slots[i]);
    slots[i] = NULL;
  }
  pthread_mutex_unlock(&lock);
}
