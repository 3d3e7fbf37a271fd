/* Checks the arguments of ndr_select, ndr_partition and ndr_nonzero. */
#include "scan/selection.h"

#include <stdio.h>
#include <string.h>

#include "core/sized.h"
#include "scan/overlap.h"

ndr_status ndr_select_options_read(const ndr_select_options *given, ndr_select_options *out) {
  *out = (ndr_select_options)NDR_SELECT_OPTIONS_INIT;
  if (!given) return NDR_OK;
  NDR_TRY(ndr_sized_read(given, out, sizeof *out, "options", "NDR_SELECT_OPTIONS_INIT"));
  if (out->threads < 0) return ndr_fail(NDR_ERR_ARGUMENT, "options.threads is %d", out->threads);
  return NDR_OK;
}

static const char *name_of(ndr_selection_kind kind) {
  return kind == NDR_SELECTION_SELECT ? "select" : kind == NDR_SELECTION_PARTITION ? "partition" : "nonzero";
}

static ndr_status take_array(ndr_selection *made, const DLTensor *array, int dim, ndr_problem *problem) {
  bool reduced[NDR_MAX_DIMS];
  NDR_TRY(ndr_problem_take_array(problem, array));
  made->dtype = problem->dtype;
  made->ndim = problem->ndim;
  memcpy(made->shape, problem->shape, sizeof made->shape);
  memcpy(made->strides, problem->strides, sizeof made->strides);
  ndr_settle_strides(made->ndim, made->shape, made->strides);
  made->dim = -1;
  if (dim != NDR_SCAN_ALL) {
    NDR_TRY(ndr_check_dims(made->ndim, 1, &dim, reduced));
    made->dim = dim < 0 ? dim + made->ndim : dim;
  }
  made->places = 1;
  for (int d = 0; d < made->ndim; d++)
    if (made->dim < 0 || d == made->dim) made->places *= made->shape[d];
  return NDR_OK;
}

static ndr_status take_mask(ndr_selection *made, const DLTensor *mask, const ndr_problem *problem) {
  ndr_dtype dtype;
  if (made->kind == NDR_SELECTION_NONZERO) {
    memcpy(made->mask_strides, made->strides, sizeof made->mask_strides);
    return NDR_OK;
  }
  if (!mask) return ndr_fail(NDR_ERR_ARGUMENT, "mask is a null pointer");
  NDR_TRY(ndr_dtype_from_dlpack(mask->dtype, &dtype));
  if (dtype != NDR_BOOL) return ndr_fail(NDR_ERR_DTYPE, "the mask is %s, must be bool", ndr_dtype_name(dtype));
  if (made->dim < 0) {
    NDR_TRY(ndr_broadcast_strides(problem, "mask", mask, made->mask_strides));
    ndr_settle_strides(made->ndim, made->shape, made->mask_strides);
    return ndr_check_span("mask", made->ndim, made->shape, made->mask_strides, 1);
  }
  ndr_problem along = *problem;
  along.ndim = 1;
  along.shape[0] = made->places;
  int64_t stride = 0;
  if (mask->ndim != 1)
    return ndr_fail(NDR_ERR_ARGUMENT, "the mask has %d dims, and along a dim must have one", mask->ndim);
  NDR_TRY(ndr_broadcast_strides(&along, "mask", mask, &stride));
  ndr_settle_strides(1, along.shape, &stride);
  made->mask_strides[made->dim] = stride;
  return ndr_check_span("mask", 1, along.shape, &stride, 1);
}

/* The shape that the result must have. The size of the dim that is selected along is the caller's choice. */
static void expect_shape(ndr_selection *made, const DLTensor *result) {
  int along = made->dim < 0 ? 0 : made->dim;
  bool has = result->ndim > along && result->ndim <= NDR_MAX_DIMS && result->shape && result->shape[along] >= 0;
  made->by_dims = made->dim >= 0 || (made->kind == NDR_SELECTION_PARTITION && result->ndim == made->ndim);
  made->room = made->kind == NDR_SELECTION_PARTITION || !has ? made->places : result->shape[along];
  if (made->by_dims) {
    made->result_ndim = made->ndim;
    memcpy(made->result_shape, made->shape, sizeof made->result_shape);
    if (made->dim >= 0) made->result_shape[made->dim] = made->room;
  } else {
    made->result_ndim = made->kind == NDR_SELECTION_NONZERO ? 2 : 1;
    made->result_shape[0] = made->room;
    made->result_shape[1] = made->ndim;
  }
}

static ndr_status take_result(ndr_selection *made, const DLTensor *result) {
  char what[32];
  if (!result) return ndr_fail(NDR_ERR_ARGUMENT, "the result of %s is a null pointer", name_of(made->kind));
  expect_shape(made, result);
  if (result->ndim == made->result_ndim && result->shape)
    for (int d = 0; d < result->ndim; d++)
      if (result->shape[d] < 0)
        return ndr_fail(NDR_ERR_RESULT, "the result of %s has a negative size: %lld along dim %d", name_of(made->kind),
                        (long long)result->shape[d], d);
  made->result_dtype = made->kind == NDR_SELECTION_NONZERO ? NDR_I64 : made->dtype;
  NDR_TRY(ndr_check_result(name_of(made->kind), made->dtype, made->result_dtype, made->result_ndim, made->result_shape,
                           result));
  snprintf(what, sizeof what, "the result of %s", name_of(made->kind));
  NDR_TRY(ndr_check_bytes(what, made->result_ndim, made->result_shape, ndr_dtype_bytes(made->result_dtype)));
  ndr_compact_strides(made->result_ndim, made->result_shape, made->result_strides);
  for (int d = 0; result->strides && d < made->result_ndim; d++) made->result_strides[d] = result->strides[d];
  ndr_settle_strides(made->result_ndim, made->result_shape, made->result_strides);
  return NDR_OK;
}

ndr_status ndr_selection_make(ndr_selection *selection, ndr_selection_kind kind, const DLTensor *array,
                              const DLTensor *mask, int dim, const DLTensor *result) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  memset(selection, 0, sizeof *selection);
  selection->kind = kind;
  NDR_TRY(take_array(selection, array, dim, &problem));
  NDR_TRY(take_mask(selection, mask, &problem));
  return take_result(selection, result);
}

ndr_status ndr_selection_check_overlap(const ndr_selection *selection, const ndr_selection_addresses *addresses) {
  bool along = selection->dim >= 0;
  int d = along ? selection->dim : 0;
  ndr_span written = {addresses->result, ndr_dtype_bytes(selection->result_dtype), selection->result_ndim,
                      selection->result_shape, selection->result_strides};
  ndr_span array = {addresses->array, ndr_dtype_bytes(selection->dtype), selection->ndim, selection->shape,
                    selection->strides};
  ndr_span mask = {addresses->mask, 1, along ? 1 : selection->ndim, &selection->shape[d], &selection->mask_strides[d]};
  if (ndr_spans_overlap(&array, &written))
    return ndr_fail(NDR_ERR_ARGUMENT, "the result of %s overlaps the array", name_of(selection->kind));
  if (selection->kind != NDR_SELECTION_NONZERO && ndr_spans_overlap(&mask, &written))
    return ndr_fail(NDR_ERR_ARGUMENT, "the result of %s overlaps the mask", name_of(selection->kind));
  return NDR_OK;
}
