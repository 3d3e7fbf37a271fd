/* HDF5's fill value: as an element, and the results of a dataset that was never written. The fill value of results is
 * in fill_value.c. */
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "h5/bytes/header.h"
#include "h5/find/field.h"
#include "h5/run/job/job.h"

/* Elements that are given to the accumulator one by one; more of them come from merging its states. */
#define SEED 4096

typedef struct {
  alignas(16) unsigned char bytes[16];
} value;

/* The number that the attribute _FillValue is, if it is one. */
static bool read_mark(const ndr_h5_dataset *dataset, hid_t type, value *packed) {
  htri_t exists = ndr_header_has_attribute(dataset->id, "_FillValue");
  if (exists <= 0) return exists == 0;
  hid_t attribute = ndr_header_open(dataset->id, "_FillValue"), space = H5Aget_space(attribute);
  hid_t stored = H5Aget_type(attribute);
  H5T_class_t kind = H5Tget_class(stored);
  bool number = (kind == H5T_INTEGER || kind == H5T_FLOAT) && H5Sget_simple_extent_npoints(space) == 1;
  bool good = kind != H5T_NO_CLASS && (!number || ndr_header_read(attribute, type, packed) >= 0);
  if (stored >= 0) H5Tclose(stored);
  if (space >= 0) H5Sclose(space);
  if (attribute >= 0) H5Aclose(attribute);
  return good;
}

ndr_status ndr_hdf_fill(const ndr_h5_dataset *dataset, const ndr_unpack *unpack, void *fill) {
  H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
  const ndr_unpack native = ndr_unpack_native(unpack);
  value packed = {{0}};
  hid_t creation = H5Dget_create_plist(dataset->id);
  hid_t type = ndr_hdf_element_type(dataset);
  ndr_status status = NDR_OK;
  if (H5Pfill_value_defined(creation, &defined) < 0 ||
      (defined != H5D_FILL_VALUE_UNDEFINED && H5Pget_fill_value(creation, type, &packed) < 0) ||
      (defined != H5D_FILL_VALUE_USER_DEFINED && ndr_hdf_is_short(dataset) && !dataset->field &&
       !read_mark(dataset, type, &packed)))
    status = ndr_hdf_fail(NDR_ERR_FILE, dataset->where, "its fill value cannot be read");
  if (type >= 0) H5Tclose(type);
  H5Pclose(creation);
  if (status == NDR_OK) ndr_unpack_run(&native, &packed, 1, fill, 1);
  return status;
}

static ndr_status read_fill(const ndr_h5_dataset *dataset, value *fill) {
  ndr_hdf_scope scope;
  ndr_hdf_enter(&scope, dataset->no_plugins);
  ndr_status status = ndr_hdf_fill(dataset, &dataset->unpack, fill);
  ndr_hdf_leave(&scope);
  return status;
}

static ndr_status add(ndr_accumulator *accumulator, const ndr_job *job, value *fill, int64_t count) {
  DLTensor slab = {
      .data = fill, .device = job->uploaders[0].device, .ndim = 1, .shape = &count, .strides = &(int64_t){0}};
  slab.dtype = ndr_dtype_to_dlpack(job->problem.dtype);
  return ndr_accumulator_add(accumulator, &slab, &(int64_t){0});
}

/* power := power + power. */
static ndr_status square(const ndr_job *job, int64_t length, ndr_accumulator *power) {
  ndr_accumulator *copy;
  NDR_TRY(ndr_job_accumulate_row(job, length, true, &copy));
  ndr_status status = ndr_accumulator_merge(copy, power);
  if (status == NDR_OK) status = ndr_accumulator_merge(power, copy);
  ndr_accumulator_destroy(copy);
  return status;
}

/* Equal elements have equal states wherever they are. So the state of length = SEED * q + r elements takes about log q
 * merges, as a power takes squares. Every index seen is below SEED, and the lowest one wins: that is right for arg*,
 * too. */
static ndr_status accumulate(const ndr_job *job, value *fill, int64_t length, ndr_accumulator *total,
                             ndr_accumulator *power) {
  int64_t times = length / SEED, rest = length % SEED;
  if (rest) NDR_TRY(add(total, job, fill, rest));
  if (times) NDR_TRY(add(power, job, fill, SEED));
  for (; times; times >>= 1) {
    if (times & 1) NDR_TRY(ndr_accumulator_merge(total, power));
    if (times > 1) NDR_TRY(square(job, length, power));
  }
  return NDR_OK;
}

/* Each result has one dim for every dim under keepdims, so a 1-d problem's has one too. */
static ndr_status finish(const ndr_job *job, const ndr_accumulator *total, value *values, DLTensor *const *results) {
  DLTensor tensors[NDR_MAX_OPS], *pointers[NDR_MAX_OPS];
  int64_t one = 1;
  for (int i = 0; i < job->problem.op_count; i++) {
    tensors[i] =
        (DLTensor){.data = &values[i], .device = job->uploaders[0].device, .dtype = results[i]->dtype, .shape = &one};
    tensors[i].ndim = job->problem.keepdims ? 1 : 0;
    pointers[i] = &tensors[i];
  }
  return ndr_job_finish(job, total, pointers);
}

static ndr_status reduce_equal(const ndr_job *job, value *fill, int64_t length, value *values,
                               DLTensor *const *results) {
  ndr_accumulator *total, *power = NULL;
  NDR_TRY(ndr_job_accumulate_row(job, length, true, &total));
  ndr_status status = ndr_job_accumulate_row(job, length, true, &power);
  if (status == NDR_OK) status = accumulate(job, fill, length, total, power);
  if (status == NDR_OK) status = finish(job, total, values, results);
  ndr_accumulator_destroy(power);
  ndr_accumulator_destroy(total);
  return status;
}

/* Writes the one value to every element of a result, along the last dim first. */
static void spread(const DLTensor *result, const value *element) {
  int64_t at[NDR_MAX_DIMS] = {0}, steps[NDR_MAX_DIMS], step = 1;
  size_t bytes = (size_t)result->dtype.bits / 8;
  for (int d = result->ndim - 1; d >= 0; d--) {
    if (result->shape[d] == 0) return;
    steps[d] = result->strides ? result->strides[d] : step;
    step *= result->shape[d];
  }
  char *target = (char *)result->data + (int64_t)result->byte_offset;
  for (int d = 0; d >= 0;) {
    memcpy(target, element->bytes, bytes);
    for (d = result->ndim - 1; d >= 0; d--) {
      target += steps[d] * (int64_t)bytes;
      if (++at[d] < result->shape[d]) break;
      target -= steps[d] * (int64_t)bytes * at[d];
      at[d] = 0;
    }
  }
}

ndr_status ndr_job_fill(const ndr_job *job, DLTensor *const *results) {
  value fill, values[NDR_MAX_OPS];
  int64_t length = 1;
  for (int i = 0; i < job->problem.dim_count; i++) length *= job->problem.shape[job->problem.dims[i]];
  NDR_TRY(read_fill(job->dataset, &fill));
  NDR_TRY(reduce_equal(job, &fill, length, values, results));
  for (int i = 0; i < job->problem.op_count; i++) spread(results[i], &values[i]);
  return NDR_OK;
}
