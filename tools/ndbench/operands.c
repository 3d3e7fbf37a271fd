/* Arrays that a problem reads beside its own: masks, weights, and further arrays of operators of one's own. */
#include <stdlib.h>
#include <string.h>

#include "ndbench/ndbench.h"

/* The operand as a problem of its own, which says where its elements lie and how they are filled. */
static ndr_problem alone(const ndr_problem *reduction, int k) {
  ndr_problem own = NDR_PROBLEM_INIT;
  own.dtype = reduction->operands[k].dtype;
  own.ndim = reduction->ndim;
  memcpy(own.shape, reduction->shape, sizeof own.shape);
  memcpy(own.strides, reduction->operands[k].strides, sizeof own.strides);
  own.op_count = 1;
  return own;
}

/* Weights are not negative. */
static void clear_signs(void *memory, size_t bytes, size_t element_bytes) {
  for (size_t at = element_bytes - 1; at < bytes; at += element_bytes) ((unsigned char *)memory)[at] &= 0x7f;
}

static bool make(bench_operands *operands, const bench_options *options, const ndr_problem *reduction, int k) {
  ndr_problem own = alone(reduction, k);
  bench_options other = *options;
  int64_t low, high;
  size_t size = ndr_dtype_bytes(own.dtype);
  if (ndr_problem_extent(&own, &low, &high) != NDR_OK) return false;
  size_t bytes = high < low ? 0 : (size_t)(high - low + 1) * size;
  other.seed += (uint64_t)k + 1; /* not the array's own numbers */
  void *host = operands->arrays[k].host = bench_allocate(bytes);
  if (!host) return false;
  bench_fill(&other, &own, host, bytes);
  if (reduction->operands[k].role == NDR_WEIGHTS) clear_signs(host, bytes, size);
  void *placed = operands->arrays[k].placed = options->device->place_data(host, bytes);
  DLTensor tensor = {.device = {kDLCPU, 0},
                     .ndim = reduction->ndim,
                     .dtype = ndr_dtype_to_dlpack(own.dtype),
                     .shape = (int64_t *)(uintptr_t)reduction->shape, /* nothing writes there */
                     .strides = (int64_t *)(uintptr_t)reduction->operands[k].strides,
                     .byte_offset = high < low ? 0 : (uint64_t)-low * size};
  operands->arrays[k].on_host = operands->arrays[k].on_device = tensor;
  operands->arrays[k].on_host.data = host;
  operands->arrays[k].on_device.data = placed;
  operands->arrays[k].on_device.device = options->device->place;
  return placed != NULL;
}

bool bench_operands_make(bench_operands *operands, const bench_options *options, const ndr_problem *reduction) {
  *operands = (bench_operands){.device = options->device, .count = reduction->operand_count};
  for (int k = 0; k < operands->count; k++)
    if (!make(operands, options, reduction, k)) return false;
  return true;
}

void bench_operands_drop(bench_operands *operands) {
  for (int k = 0; k < operands->count; k++) {
    if (operands->arrays[k].placed) operands->device->drop_data(operands->arrays[k].placed, operands->arrays[k].host);
    free(operands->arrays[k].host);
  }
}

void bench_operands_name(bench_operands *operands, const ndr_problem *reduction, bool on_host, ndr_options *call) {
  const DLTensor **with = operands->with[on_host];
  call->with_count = 0;
  for (int k = 0; k < operands->count; k++) {
    const DLTensor *tensor = on_host ? &operands->arrays[k].on_host : &operands->arrays[k].on_device;
    switch (reduction->operands[k].role) {
    case NDR_WHERE: call->where = tensor; break;
    case NDR_WEIGHTS: call->weights = tensor; break;
    case NDR_WITH: with[call->with_count++] = tensor; break;
    }
  }
  call->with = call->with_count ? with : NULL;
}
