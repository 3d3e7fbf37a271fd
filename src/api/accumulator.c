/* Accumulators: plans that reduce slabs to partial states (core/state.h), which are merged. */
#include <stdlib.h>
#include <string.h>

#include "api/accumulator.h"
#include "common/totals.h"

static ndr_state state_of(const ndr_accumulator *a, int i) {
  return ndr_request_state(&a->whole, i);
}

static ndr_status keep_options(ndr_accumulator *a, const ndr_options *options) {
  NDR_TRY(ndr_options_read_beside_problem(options, &a->options));
  if (a->options.device) {
    NDR_TRY(ndr_device_read(a->options.device, &a->device));
    a->options.device = &a->device;
  }
  if (a->options.force_family) {
    if (strlen(a->options.force_family) >= sizeof a->family)
      return ndr_fail(NDR_ERR_UNSUPPORTED, "no family is called '%.40s'", a->options.force_family);
    strcpy(a->family, a->options.force_family);
    a->options.force_family = a->family;
  }
  return NDR_OK;
}

static ndr_status allocate_states(ndr_accumulator *a) {
  size_t bytes;
  void *memory;
  NDR_TRY(ndr_states_bytes(&a->whole, a->outputs, &bytes));
  NDR_TRY(a->backend->allocate(a->place.device_id, bytes, a->options.stream, &memory));
  ndr_states_place(&a->whole, a->outputs, memory, a->states);
  return ndr_states_begin(&a->whole, a->backend, a->place.device_id, a->states, a->outputs, a->options.stream);
}

/* The whole array is not in memory, so that its strides are not used. */
static ndr_status keep_problem(ndr_accumulator *a, const ndr_problem *problem) {
  ndr_problem read;
  NDR_TRY(ndr_problem_read(problem, &read));
  memset(read.strides, 0, sizeof read.strides);
  for (int k = 0; k < NDR_MAX_OPERANDS; k++) memset(read.operands[k].strides, 0, sizeof read.operands[k].strides);
  NDR_TRY(ndr_request_make(&a->whole, &read));
  for (int i = 0; i < read.op_count; i++)
    if (ndr_op_is_own(read.ops[i])) a->own[i] = ndr_own_op_hold(read.ops[i]);
  return NDR_OK;
}

static ndr_status start(ndr_accumulator *a, const ndr_problem *problem, DLDevice device, const ndr_options *options) {
  NDR_TRY(keep_options(a, options));
  NDR_TRY(keep_problem(a, problem));
  NDR_TRY(ndr_backend_find(device.device_type, &a->backend));
  a->place = device;
  a->outputs = ndr_states_outputs(&a->whole);
  a->length = 1;
  for (int d = 0; d < a->whole.problem.ndim; d++)
    if (a->whole.reduced[d]) a->length *= a->whole.problem.shape[d];
  a->whole.partial = true;
  return allocate_states(a);
}

ndr_status ndr_accumulator_create(ndr_accumulator **accumulator, const ndr_problem *problem, DLDevice device,
                                  const ndr_options *options) {
  if (!accumulator) return ndr_fail(NDR_ERR_ARGUMENT, "accumulator is a null pointer");
  *accumulator = NULL;
  ndr_accumulator *a = calloc(1, sizeof *a);
  if (!a) return ndr_fail(NDR_ERR_MEMORY, "out of memory for an accumulator");
  ndr_status status = start(a, problem, device, options);
  if (status != NDR_OK) {
    ndr_accumulator_destroy(a);
    return status;
  }
  *accumulator = a;
  return NDR_OK;
}

/* Checks the device of a slab, or of an operand's slab, and reads its dtype. `what` names it. */
static ndr_status check_place(const ndr_accumulator *a, const char *what, const DLTensor *tensor, ndr_dtype *dtype) {
  NDR_TRY(ndr_dtype_from_dlpack(tensor->dtype, dtype));
  if (tensor->device.device_type == a->place.device_type && tensor->device.device_id == a->place.device_id)
    return NDR_OK;
  return ndr_fail(NDR_ERR_ARGUMENT, "the %s is on %s:%d, the accumulator on %s:%d", what,
                  ndr_device_type_name(tensor->device.device_type), tensor->device.device_id,
                  ndr_device_type_name(a->place.device_type), a->place.device_id);
}

/* Sets the strides of operand k in the problem of a slab. */
static ndr_status take_operand(const ndr_accumulator *a, const DLTensor *tensor, ndr_problem *part, int k) {
  ndr_operand *operand = &part->operands[k];
  const char *what = ndr_role_name(operand->role);
  ndr_dtype dtype;
  if (!tensor) return ndr_fail(NDR_ERR_ARGUMENT, "the slab of '%s' is a null pointer", what);
  NDR_TRY(check_place(a, what, tensor, &dtype));
  if (dtype != operand->dtype)
    return ndr_fail(NDR_ERR_ARGUMENT, "the slab of '%s' is %s, that of the accumulator's problem %s", what,
                    ndr_dtype_name(dtype), ndr_dtype_name(operand->dtype));
  return ndr_broadcast_strides(part, what, tensor, operand->strides);
}

/* Whether a slab has all outputs, so that a plan of the CPU can merge states into those of the accumulator, without
 * scratch for its own. */
static bool merges_in_place(const ndr_accumulator *a, const DLTensor *slab) {
  if (a->backend->calls || a->whole.problem.groups) return false;
  for (int d = 0; d < slab->ndim; d++)
    if (!a->whole.reduced[d] && slab->shape[d] != a->whole.problem.shape[d]) return false;
  return true;
}

static ndr_status slab_request(const ndr_accumulator *a, const DLTensor *slab, const DLTensor *const *operands,
                               const int64_t *offset, ndr_request *request) {
  ndr_dtype dtype;
  if (!slab || (!offset && a->whole.problem.ndim))
    return ndr_fail(NDR_ERR_ARGUMENT, "slab or offset is a null pointer");
  NDR_TRY(check_place(a, "slab", slab, &dtype));
  if (dtype != a->whole.problem.dtype || slab->ndim != a->whole.problem.ndim)
    return ndr_fail(NDR_ERR_ARGUMENT, "a slab of %d dim%s of %s does not fit an accumulator of %d dim%s of %s",
                    slab->ndim, NDR_PLURAL(slab->ndim), ndr_dtype_name(dtype), a->whole.problem.ndim,
                    NDR_PLURAL(a->whole.problem.ndim), ndr_dtype_name(a->whole.problem.dtype));
  ndr_problem part = a->whole.problem;
  NDR_TRY(ndr_problem_take_array(&part, slab));
  for (int k = 0; operands && k < part.operand_count; k++) NDR_TRY(take_operand(a, operands[k], &part, k));
  NDR_TRY(ndr_request_make_part(request, &a->whole, &part));
  for (int d = 0; d < slab->ndim; d++) {
    if (offset[d] < 0 || offset[d] > a->whole.problem.shape[d] - slab->shape[d])
      return ndr_fail(NDR_ERR_ARGUMENT, "a slab of size %lld at %lld leaves dim %d of size %lld",
                      (long long)slab->shape[d], (long long)offset[d], d, (long long)a->whole.problem.shape[d]);
    request->offset[d] = offset[d];
    request->begin[d] = a->whole.begin[d];
  }
  memcpy(request->whole_shape, a->whole.problem.shape, sizeof request->whole_shape);
  request->partial = true;
  request->merges = merges_in_place(a, slab);
  return NDR_OK;
}

static ndr_status reserve_scratch(ndr_accumulator *a, size_t bytes) {
  if (bytes <= a->scratch_bytes) return NDR_OK;
  a->backend->release(a->place.device_id, a->scratch, a->options.stream);
  a->scratch = NULL;
  a->scratch_bytes = 0;
  NDR_TRY(a->backend->allocate(a->place.device_id, bytes, a->options.stream, &a->scratch));
  a->scratch_bytes = bytes;
  return NDR_OK;
}

/* Frees a host's scratch after each slab, as host memory is quick to allocate; a GPU's scratch is kept. */
static void drop_scratch(ndr_accumulator *a) {
  if (a->backend->calls) return;
  a->backend->release(a->place.device_id, a->scratch, a->options.stream);
  a->scratch = NULL;
  a->scratch_bytes = 0;
}

static ndr_status add_parts(ndr_accumulator *a, const ndr_parts *parts, const void *const *data) {
  size_t bytes;
  NDR_TRY(ndr_parts_scratch(parts, &bytes));
  if (bytes > 0) NDR_TRY(reserve_scratch(a, bytes));
  return ndr_parts_add(parts, data, &a->whole, a->states, a->outputs, a->scratch, NULL, a->options.stream);
}

static ndr_status slab_addresses(const ndr_accumulator *a, const DLTensor *slab, const DLTensor *const *operands,
                                 const void **data) {
  void *address;
  NDR_TRY(ndr_tensor_address(slab, "slab", &address));
  data[0] = address;
  for (int k = 0; operands && k < a->whole.problem.operand_count; k++) {
    NDR_TRY(ndr_tensor_address(operands[k], ndr_role_name(a->whole.problem.operands[k].role), &address));
    data[k + 1] = address;
  }
  return NDR_OK;
}

static ndr_status add(ndr_accumulator *a, const DLTensor *slab, const DLTensor *const *operands,
                      const int64_t *offset) {
  ndr_request request;
  ndr_parts *parts;
  const void *data[NDR_MOST_ARRAYS];
  NDR_TRY(slab_request(a, slab, operands, offset, &request));
  for (int d = 0; d < slab->ndim; d++)
    if (slab->shape[d] == 0) return NDR_OK;
  NDR_TRY(slab_addresses(a, slab, operands, data));
  NDR_TRY(ndr_parts_make(&parts, &request, a->place, data, &a->options));
  ndr_status status = add_parts(a, parts, data);
  drop_scratch(a);
  ndr_parts_drop(parts);
  return status;
}

ndr_status ndr_accumulator_begin(ndr_accumulator *a, const int64_t *begin) {
  if (!a || (!begin && a->whole.problem.ndim))
    return ndr_fail(NDR_ERR_ARGUMENT, "accumulator or begin is a null pointer");
  for (int d = 0; d < a->whole.problem.ndim; d++) {
    if (begin[d] < 0 || begin[d] > NDR_MOST_BYTES)
      return ndr_fail(NDR_ERR_ARGUMENT, "begin of dim %d is %lld", d, (long long)begin[d]);
    a->whole.begin[d] = begin[d];
  }
  return NDR_OK;
}

ndr_status ndr_accumulator_reset(ndr_accumulator *a) {
  if (!a) return ndr_fail(NDR_ERR_ARGUMENT, "accumulator is a null pointer");
  free(a->covered.spans);
  a->covered = (ndr_spans){0};
  return ndr_states_begin(&a->whole, a->backend, a->place.device_id, a->states, a->outputs, a->options.stream);
}

ndr_status ndr_accumulator_add(ndr_accumulator *a, const DLTensor *slab, const int64_t *offset) {
  if (!a) return ndr_fail(NDR_ERR_ARGUMENT, "accumulator is a null pointer");
  if (a->whole.problem.operand_count > 0)
    return ndr_fail(NDR_ERR_ARGUMENT, "the accumulator's problem has operands: use ndr_accumulator_add_operands");
  return add(a, slab, NULL, offset);
}

ndr_status ndr_accumulator_add_operands(ndr_accumulator *a, const DLTensor *slab, const DLTensor *const *operands,
                                        const int64_t *offset) {
  if (!a) return ndr_fail(NDR_ERR_ARGUMENT, "accumulator is a null pointer");
  if (a->whole.problem.operand_count > 0 && !operands) return ndr_fail(NDR_ERR_ARGUMENT, "operands is a null pointer");
  return add(a, slab, operands, offset);
}

/* ---- Totals ------------------------------------------------------------------------------------------------------ */

/* How many outputs' totals are made states at a time, so that these stay in the first-level cache. */
#define TOTALS 512

static ndr_status takes_totals(const ndr_accumulator *a) {
  const ndr_problem *problem = &a->whole.problem;
  if (a->backend->calls || problem->groups || problem->operand_count || problem->dtype != NDR_F64)
    return ndr_fail(NDR_ERR_UNSUPPORTED,
                    "only an accumulator of f64 on the CPU, without groups and operands, takes totals");
  return NDR_OK;
}

static ndr_status check_totals(const ndr_accumulator *a, int64_t first, int64_t count) {
  NDR_TRY(takes_totals(a));
  if (first < 0 || count < 0 || first > a->outputs - count)
    return ndr_fail(NDR_ERR_ARGUMENT, "totals of %lld outputs from %lld on of an accumulator of %lld", (long long)count,
                    (long long)first, (long long)a->outputs);
  return NDR_OK;
}

/* The states of an op with these totals, word-major. */
static void make_states(ndr_op op, int64_t count, const double *sums, const double *counts, uint64_t *words) {
  size_t bytes = (size_t)count * sizeof *words;
  if (op != NDR_VALID) memcpy(words, sums, bytes);
  if (op == NDR_MEAN) memcpy(words + count, counts, bytes);
  for (int64_t i = 0; op == NDR_VALID && i < count; i++) words[i] = (uint64_t)counts[i];
}

ndr_status ndr_accumulator_add_totals(ndr_accumulator *a, int64_t first, int64_t count, const double *sums,
                                      const double *counts) {
  uint64_t words[2 * TOTALS];
  if (!a || !sums || !counts) return ndr_fail(NDR_ERR_ARGUMENT, "accumulator, sums or counts is a null pointer");
  NDR_TRY(check_totals(a, first, count));
  for (int64_t done = 0, here; done < count; done += here) {
    here = count - done < TOTALS ? count - done : TOTALS;
    const ndr_walk walk = {1, {{here, 1, 1}}};
    for (int i = 0; i < a->whole.problem.op_count; i++) {
      const ndr_state state = state_of(a, i);
      if (!ndr_op_is_made_of_totals(state.op)) continue;
      make_states(state.op, here, sums + done, counts + done, words);
      NDR_TRY(a->backend->states_merge(&state, a->place.device_id, &walk, words, here, a->states[i] + first + done,
                                       a->outputs, NULL));
    }
  }
  return NDR_OK;
}

/* A view of the accumulator that has only the ops that are not made of totals. It borrows everything, and on the CPU
 * has no scratch before or after a slab is added. */
static ndr_accumulator beside_totals(const ndr_accumulator *a) {
  ndr_accumulator rest = *a;
  ndr_problem *problem = &rest.whole.problem;
  problem->op_count = 0;
  for (int i = 0; i < a->whole.problem.op_count; i++) {
    if (ndr_op_is_made_of_totals(a->whole.problem.ops[i])) continue;
    rest.states[problem->op_count] = a->states[i];
    rest.whole.programs[problem->op_count] = a->whole.programs[i];
    problem->ops[problem->op_count++] = a->whole.problem.ops[i];
  }
  return rest;
}

ndr_status ndr_accumulator_add_beside_totals(ndr_accumulator *a, const DLTensor *slab, const int64_t *offset) {
  if (!a) return ndr_fail(NDR_ERR_ARGUMENT, "accumulator is a null pointer");
  NDR_TRY(takes_totals(a));
  ndr_accumulator rest = beside_totals(a);
  return rest.whole.problem.op_count > 0 ? ndr_accumulator_add(&rest, slab, offset) : NDR_OK;
}

/* Programs follow from operators, dtypes and the members that are compared here. */
static bool same_options(const ndr_problem *a, const ndr_problem *b) {
  bool same = a->operand_count == b->operand_count && a->weighting == b->weighting &&
              ndr_groups_equal(a->groups, b->groups) && a->group_dim == b->group_dim &&
              a->has_initial == b->has_initial && memcmp(&a->initial, &b->initial, sizeof a->initial) == 0;
  for (int k = 0; same && k < a->operand_count; k++)
    same = a->operands[k].role == b->operands[k].role && a->operands[k].dtype == b->operands[k].dtype;
  return same;
}

bool ndr_accumulators_are_alike(const ndr_accumulator *a, const ndr_accumulator *b) {
  return a->backend == b->backend && a->whole.problem.dtype == b->whole.problem.dtype &&
         a->whole.problem.ndim == b->whole.problem.ndim && a->whole.problem.op_count == b->whole.problem.op_count &&
         a->whole.problem.skip_nan == b->whole.problem.skip_nan && same_options(&a->whole.problem, &b->whole.problem) &&
         memcmp(a->whole.problem.shape, b->whole.problem.shape, sizeof a->whole.problem.shape) == 0 &&
         memcmp(a->whole.reduced, b->whole.reduced, sizeof a->whole.reduced) == 0 &&
         memcmp(a->whole.problem.ops, b->whole.problem.ops, sizeof a->whole.problem.ops) == 0;
}

ndr_status ndr_accumulator_merge_states(ndr_accumulator *into, uint64_t *const *from) {
  ndr_walk walk = {1, {{into->outputs, 1, 1}}};
  for (int i = 0; i < into->whole.problem.op_count; i++) {
    ndr_state state = state_of(into, i);
    NDR_TRY(into->backend->states_merge(&state, into->place.device_id, &walk, from[i], into->outputs, into->states[i],
                                        into->outputs, into->options.stream));
  }
  return NDR_OK;
}

ndr_status ndr_accumulator_place(ndr_accumulator *a, uint64_t **states) {
  size_t bytes;
  NDR_TRY(ndr_states_bytes(&a->whole, a->outputs, &bytes));
  NDR_TRY(reserve_scratch(a, bytes));
  ndr_states_place(&a->whole, a->outputs, a->scratch, states);
  return NDR_OK;
}

/* Copies the states of another device to the scratch. */
static ndr_status fetch_states(ndr_accumulator *into, const ndr_accumulator *from, uint64_t **states) {
  size_t bytes;
  NDR_TRY(ndr_accumulator_place(into, states));
  NDR_TRY(ndr_states_bytes(&into->whole, into->outputs, &bytes));
  return into->backend->calls->copy_from(into->place.device_id, into->scratch, from->place.device_id, from->states[0],
                                         bytes, into->options.stream);
}

static ndr_status merge_across(ndr_accumulator *into, const ndr_accumulator *from) {
  uint64_t *states[NDR_MAX_OPS];
  if (into->place.device_id == from->place.device_id) return ndr_accumulator_merge_states(into, from->states);
  NDR_TRY(fetch_states(into, from, states));
  return ndr_accumulator_merge_states(into, states);
}

/* Merges states in the order of both streams. */
static ndr_status merge(ndr_accumulator *into, const ndr_accumulator *from) {
  const ndr_device_calls *calls = into->backend->calls;
  void *stream = into->options.stream, *other = from->options.stream;
  if (!calls || (into->place.device_id == from->place.device_id && stream == other))
    return ndr_accumulator_merge_states(into, from->states);
  NDR_TRY(calls->follow(into->place.device_id, stream, from->place.device_id, other));
  ndr_status status = merge_across(into, from);
  /* Even on failure, queued work may read the states of `from`, which the caller may free next. */
  ndr_status order = calls->follow(from->place.device_id, other, into->place.device_id, stream);
  if (order != NDR_OK) (void)calls->wait(into->place.device_id, stream);
  return status == NDR_OK ? order : status;
}

ndr_status ndr_accumulator_merge(ndr_accumulator *into, const ndr_accumulator *from) {
  ndr_spans joined;
  if (!into || !from || into == from) return ndr_fail(NDR_ERR_ARGUMENT, "merging needs two accumulators");
  if (!ndr_accumulators_are_alike(into, from))
    return ndr_fail(NDR_ERR_ARGUMENT, "the accumulators were not created alike");
  NDR_TRY(ndr_spans_join(&into->covered, &from->covered, &joined));
  return ndr_spans_take(&into->covered, &joined, merge(into, from));
}

ndr_status ndr_accumulator_finish(const ndr_accumulator *a, DLTensor *const *results) {
  void *addresses[NDR_MAX_OPS];
  if (!a) return ndr_fail(NDR_ERR_ARGUMENT, "accumulator is a null pointer");
  ndr_request request = a->whole;
  NDR_TRY(ndr_request_results(&request, (const DLTensor *const *)results));
  for (int i = 0; i < request.problem.op_count; i++) {
    if (a->length == 0 && a->outputs > 0 && !ndr_request_has_empty(&request, i))
      return ndr_fail(NDR_ERR_EMPTY, "%s over no elements has no value", ndr_op_name(request.problem.ops[i]));
    NDR_TRY(ndr_check_result_device(a->backend, a->place, results[i]->device));
    NDR_TRY(ndr_tensor_address(results[i], "result", &addresses[i]));
  }
  if (a->outputs == 0) return NDR_OK;
  return ndr_states_finish(&request, a->backend, a->place.device_id, a->states, a->outputs, addresses,
                           a->options.stream);
}

size_t ndr_accumulator_bytes(const ndr_accumulator *a) {
  size_t bytes = 0;
  return a && ndr_states_bytes(&a->whole, a->outputs, &bytes) == NDR_OK ? bytes : 0;
}

void ndr_accumulator_destroy(ndr_accumulator *a) {
  if (!a) return;
  if (a->states[0]) a->backend->release(a->place.device_id, a->states[0], a->options.stream);
  if (a->staging) {
    (void)a->backend->calls->wait(a->place.device_id, a->options.stream);
    a->backend->calls->free((DLDevice){kDLCUDAHost, a->place.device_id}, a->staging);
  }
  if (a->scratch) a->backend->release(a->place.device_id, a->scratch, a->options.stream);
  for (int i = 0; i < NDR_MAX_OPS; i++) ndr_own_op_release(a->own[i]);
  free(a->covered.spans);
  ndr_request_free(&a->whole);
  free(a);
}
