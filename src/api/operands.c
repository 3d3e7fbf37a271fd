/* Operands of calls: collected from options, and checked. */
#include "api/operands.h"

#include <stdlib.h>

static ndr_status add(ndr_operands *operands, ndr_role role, const DLTensor *tensor) {
  if (operands->count == NDR_MAX_OPERANDS)
    return ndr_fail(NDR_ERR_ARGUMENT, "where, weights and with are more than %d arrays", NDR_MAX_OPERANDS);
  if (!tensor) return ndr_fail(NDR_ERR_ARGUMENT, "an array of 'with' is a null pointer");
  operands->roles[operands->count] = role;
  operands->tensors[operands->count++] = tensor;
  return NDR_OK;
}

ndr_status ndr_operands_of(const ndr_options *options, ndr_operands *operands) {
  operands->count = 0;
  if (options->where) NDR_TRY(add(operands, NDR_WHERE, options->where));
  if (options->weights) NDR_TRY(add(operands, NDR_WEIGHTS, options->weights));
  for (int k = 0; k < options->with_count; k++) NDR_TRY(add(operands, NDR_WITH, options->with[k]));
  return NDR_OK;
}

ndr_status ndr_operands_check_devices(const ndr_operands *operands, DLDevice array_device) {
  const ndr_backend *backend;
  NDR_TRY(ndr_backend_find(array_device.device_type, &backend));
  for (int k = 0; k < operands->count; k++) {
    DLDevice device = operands->tensors[k]->device;
    bool same = device.device_id == array_device.device_id || device.device_type != array_device.device_type;
    if (!backend->owns(device.device_type) || !same)
      return ndr_fail(NDR_ERR_ARGUMENT, "'%s' is on %s:%d, the array on %s:%d", ndr_role_name(operands->roles[k]),
                      ndr_device_type_name(device.device_type), device.device_id,
                      ndr_device_type_name(array_device.device_type), array_device.device_id);
  }
  return NDR_OK;
}

ndr_status ndr_operands_addresses(const ndr_operands *operands, const void **data) {
  for (int k = 0; k < operands->count; k++) {
    void *address;
    NDR_TRY(ndr_tensor_address(operands->tensors[k], ndr_role_name(operands->roles[k]), &address));
    data[k + 1] = address;
  }
  return NDR_OK;
}

/* ---- weights ---- */

typedef struct weight_axis {
  int64_t size, stride;
} weight_axis;

/* Collects the axes along which operand k does not repeat, smallest strides first, and merges them. */
static int weight_axes(const ndr_canonical *problem, int k, weight_axis *axes) {
  int count = 0, last = 0;
  for (int a = 0; a < problem->kept_count + problem->reduced_count; a++) {
    bool kept = a < problem->kept_count;
    const ndr_axis *axis = kept ? &problem->kept[a] : &problem->reduced[a - problem->kept_count];
    int at = count;
    if (axis->operand[k] == 0) continue;
    for (; at > 0 && llabs(axes[at - 1].stride) > llabs(axis->operand[k]); at--) axes[at] = axes[at - 1];
    axes[at] = (weight_axis){axis->size, axis->operand[k]};
    count++;
  }
  for (int a = 1; a < count; a++) {
    if (axes[a].stride == axes[last].stride * axes[last].size)
      axes[last].size *= axes[a].size;
    else
      axes[++last] = axes[a];
  }
  return count ? last + 1 : 0;
}

static bool f32_has_nan(const float *x, int64_t count, int64_t stride) {
  unsigned found = 0;
  if (stride == 1)
    for (int64_t i = 0; i < count; i++) found |= x[i] != x[i];
  else
    for (int64_t i = 0; i < count; i++) found |= x[i * stride] != x[i * stride];
  return found != 0;
}

static bool f64_has_nan(const double *x, int64_t count, int64_t stride) {
  unsigned found = 0;
  if (stride == 1)
    for (int64_t i = 0; i < count; i++) found |= x[i] != x[i];
  else
    for (int64_t i = 0; i < count; i++) found |= x[i * stride] != x[i * stride];
  return found != 0;
}

static bool has_nan(ndr_dtype dtype, const void *first, int64_t at, weight_axis axis) {
  return dtype == NDR_F32 ? f32_has_nan((const float *)first + at, axis.size, axis.stride)
                          : f64_has_nan((const double *)first + at, axis.size, axis.stride);
}

/* Moves to the next place outside the first axis; false after the last. */
static bool next(const weight_axis *axes, int count, int64_t *index, int64_t *at) {
  for (int a = 1; a < count; a++) {
    *at += axes[a].stride;
    if (++index[a] < axes[a].size) return true;
    *at -= axes[a].size * axes[a].stride;
    index[a] = 0;
  }
  return false;
}

ndr_status ndr_operands_check_weights(const ndr_canonical *problem, const void *const *data) {
  int k = 0;
  while (k < problem->operand_count && problem->operand_roles[k] != NDR_WEIGHTS) k++;
  if (k == problem->operand_count || problem->length == 0) return NDR_OK;
  weight_axis axes[2 * NDR_MAX_DIMS] = {{1, 1}};
  int64_t index[2 * NDR_MAX_DIMS] = {0}, at = problem->operand_origin[k];
  int count = weight_axes(problem, k, axes);
  do {
    if (has_nan(problem->operand_dtypes[k], data[k + 1], at, axes[0]))
      return ndr_fail(NDR_ERR_ARGUMENT, "weights have NaN among them; use 0 and a mask that is false there");
  } while (next(axes, count, index, &at));
  return NDR_OK;
}
