/* Labels, and how they are cut into pieces. */
#include "core/groups/groups.h"

#include <stdlib.h>
#include <string.h>

#include "core/address.h"
#include "core/request/canonical.h"

ndr_status ndr_groups_allocate(ndr_groups **groups, int ndim, const int64_t *shape, int64_t count) {
  int64_t length = 1;
  *groups = NULL;
  if (count < 1 || count > INT32_MAX)
    return ndr_fail(NDR_ERR_ARGUMENT, "the number of groups is %lld, must be 1 to 2^31 - 1", (long long)count);
  NDR_TRY(ndr_check_shape(ndim, shape, sizeof(int32_t)));
  if (ndim < 1) return ndr_fail(NDR_ERR_ARGUMENT, "labels have no dim");
  for (int d = 0; d < ndim; d++) length *= shape[d];
  ndr_groups *made = malloc(sizeof *made + (size_t)length * sizeof made->labels[0]);
  if (!made) return ndr_fail(NDR_ERR_MEMORY, "out of memory for %lld labels", (long long)length);
  atomic_init(&made->holders, 1);
  made->ndim = ndim;
  memcpy(made->shape, shape, (size_t)ndim * sizeof *shape);
  memset(made->first, 0, sizeof made->first);
  made->count = count;
  made->length = length;
  made->windows = NULL;
  *groups = made;
  return NDR_OK;
}

const ndr_groups *ndr_groups_hold(const ndr_groups *groups) {
  if (groups) atomic_fetch_add(&((ndr_groups *)(uintptr_t)groups)->holders, 1);
  return groups;
}

void ndr_groups_destroy(ndr_groups *groups) {
  if (!groups || atomic_fetch_sub(&groups->holders, 1) > 1) return;
  free(groups->windows);
  free(groups);
}

bool ndr_groups_equal(const ndr_groups *a, const ndr_groups *b) {
  if (a == b || !a || !b) return a == b;
  if (!a->windows != !b->windows) return false;
  if (a->windows)
    return a->ndim == b->ndim && memcmp(a->windows, b->windows, (size_t)a->ndim * sizeof *a->windows) == 0;
  return a->ndim == b->ndim && a->count == b->count && a->length == b->length &&
         memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape) == 0 &&
         memcmp(a->labels, b->labels, (size_t)a->length * sizeof *a->labels) == 0;
}

int64_t ndr_groups_count(const ndr_groups *groups) {
  return groups ? groups->count : 0;
}

/* ---- making groups ---- */

/* A label as it is in the caller's array; one that no i64 holds is INT64_MAX, which is refused, too. */
static int64_t load(ndr_dtype dtype, const void *data, int64_t element) {
  switch (dtype) {
  case NDR_I8: return ((const int8_t *)data)[element];
  case NDR_I16: return ((const int16_t *)data)[element];
  case NDR_I32: return ((const int32_t *)data)[element];
  case NDR_I64: return ((const int64_t *)data)[element];
  case NDR_U8: return ((const uint8_t *)data)[element];
  case NDR_U16: return ((const uint16_t *)data)[element];
  case NDR_U32: return ((const uint32_t *)data)[element];
  default: {
    uint64_t label = ((const uint64_t *)data)[element];
    return label > INT64_MAX ? INT64_MAX : (int64_t)label;
  }
  }
}

static ndr_status check_labels(const DLTensor *labels, ndr_dtype *dtype) {
  if (!labels) return ndr_fail(NDR_ERR_ARGUMENT, "labels is a null pointer");
  NDR_TRY(ndr_dtype_from_dlpack(labels->dtype, dtype));
  if (*dtype < NDR_I8 || *dtype > NDR_U64)
    return ndr_fail(NDR_ERR_DTYPE, "labels are %s, must be integers", ndr_dtype_name(*dtype));
  if (labels->device.device_type != kDLCPU)
    return ndr_fail(NDR_ERR_ARGUMENT, "labels are on a device: copy them to the host's memory first");
  NDR_TRY(ndr_check_shape(labels->ndim, labels->shape, ndr_dtype_bytes(*dtype)));
  if (labels->strides)
    NDR_TRY(ndr_check_span("labels", labels->ndim, labels->shape, labels->strides, ndr_dtype_bytes(*dtype)));
  return NDR_OK;
}

static ndr_status copy_labels(ndr_groups *groups, const DLTensor *labels, ndr_dtype dtype) {
  int64_t compact[NDR_MAX_DIMS], index[NDR_MAX_DIMS] = {0}, element = 0;
  bool has = labels->data && ndr_has_address(labels);
  const void *data = has ? (const char *)labels->data + (int64_t)labels->byte_offset : NULL;
  const int64_t *strides = labels->strides ? labels->strides : compact;
  ndr_compact_strides(labels->ndim, labels->shape, compact);
  if (groups->length > 0 && !labels->data) return ndr_fail(NDR_ERR_ARGUMENT, "labels has no data");
  if (labels->data && !has)
    return ndr_fail(NDR_ERR_ARGUMENT, "labels' byte_offset %lld leads out of the memory that there can be",
                    (long long)labels->byte_offset);
  if ((uintptr_t)data % ndr_dtype_alignment(dtype))
    return ndr_fail(NDR_ERR_ARGUMENT, "labels' address is not a multiple of %zu", ndr_dtype_alignment(dtype));
  for (int64_t at = 0; at < groups->length; at++) {
    int64_t label = load(dtype, data, element);
    if (label < -1 || label >= groups->count)
      return ndr_fail(NDR_ERR_ARGUMENT, "label number %lld is %lld, must be -1 to %lld", (long long)at,
                      (long long)label, (long long)groups->count - 1);
    groups->labels[at] = (int32_t)label;
    for (int d = labels->ndim - 1; d >= 0; d--) {
      element += strides[d];
      if (++index[d] < labels->shape[d]) break;
      element -= index[d] * strides[d];
      index[d] = 0;
    }
  }
  return NDR_OK;
}

ndr_status ndr_groups_create(ndr_groups **groups, const DLTensor *labels, int64_t count) {
  ndr_dtype dtype;
  ndr_groups *made;
  if (!groups) return ndr_fail(NDR_ERR_ARGUMENT, "groups is a null pointer");
  *groups = NULL;
  NDR_TRY(check_labels(labels, &dtype));
  NDR_TRY(ndr_groups_allocate(&made, labels->ndim, labels->shape, count));
  ndr_status status = copy_labels(made, labels, dtype);
  if (status == NDR_OK)
    *groups = made;
  else
    ndr_groups_destroy(made);
  return status;
}

/* ---- pieces ---- */

static int64_t run_length(const int32_t *labels, int64_t at, int64_t end) {
  int64_t length = 1;
  while (at + length < end && labels[at + length] == labels[at]) length++;
  return length;
}

/* Counts the runs from `at` on that are as long as the first, and whose labels differ by one step, which is set. */
static int64_t count_runs(const int32_t *labels, int64_t at, int64_t end, int64_t inner, int64_t *step) {
  int64_t count = 1;
  *step = 1;
  for (; at + (count + 1) * inner <= end; count++) {
    int64_t here = at + count * inner, difference = (int64_t)labels[here] - labels[here - 1];
    if (labels[here] < 0 || (count > 1 && difference != *step)) break;
    if (run_length(labels, here, here + inner < end ? here + inner + 1 : end) != inner) break;
    *step = difference;
  }
  return count;
}

bool ndr_groups_next(const ndr_groups *groups, int64_t *at, int64_t end, ndr_piece *piece) {
  const int32_t *labels = groups->labels;
  while (*at < end && labels[*at] < 0) ++*at;
  if (*at >= end) return false;
  int64_t inner = run_length(labels, *at, end), step;
  int64_t count = count_runs(labels, *at, end, inner, &step), period = count * inner, outer = 1;
  size_t bytes = (size_t)period * sizeof *labels;
  while (count > 1 && *at + (outer + 1) * period <= end &&
         memcmp(labels + *at, labels + *at + outer * period, bytes) == 0)
    outer++;
  *piece = (ndr_piece){*at, outer, period, count, inner, labels[*at], count > 1 ? step : 1};
  *at += outer * period;
  return true;
}

/* ---- the order by group ---- */

void ndr_groups_sort(const ndr_groups *groups, int64_t first, int64_t count, int64_t *ends, int32_t *order) {
  const int32_t *labels = groups->labels + first;
  int64_t before = 0;
  memset(ends, 0, (size_t)groups->count * sizeof *ends);
  for (int64_t at = 0; at < count; at++)
    if (labels[at] >= 0) ends[labels[at]]++;
  for (int64_t g = 0; g < groups->count; g++) {
    int64_t size = ends[g];
    ends[g] = before;
    before += size;
  }
  for (int64_t at = 0; at < count; at++)
    if (labels[at] >= 0) order[ends[labels[at]]++] = (int32_t)at;
}
