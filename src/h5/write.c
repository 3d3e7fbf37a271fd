/* Results are made into an HDF5 file in memory (core driver) and written from there by our own calls: HDF5 reports
 * success on closing a file whose last writes have failed on a full disk. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "h5/dtype.h"
#include "h5/replace.h"
#include "h5/scales.h"

#define GROWTH ((size_t)1 << 20)

struct ndr_h5_writer {
  ndr_replace file;
  hid_t image;
  ndr_scales scales;
};

/* Version bounds are set so that any HDF5 since 1.6 reads the file, and netCDF-C with it. */
static ndr_status create_image(ndr_h5_writer *writer) {
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  ndr_status status = NDR_OK;
  if (H5Pset_fapl_core(access, GROWTH, false) < 0 ||
      H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_V18) < 0 ||
      (writer->image = H5Fcreate(writer->file.temporary, H5F_ACC_TRUNC, H5P_DEFAULT, access)) < 0)
    status = ndr_hdf_fail(NDR_ERR_FILE, writer->file.path, "cannot be created in memory");
  H5Pclose(access);
  writer->scales.file = writer->image;
  return status;
}

static ndr_status check_inputs(const char *path, int input_count, const char *const *inputs) {
  struct stat output, input;
  if (stat(path, &output) != 0) return NDR_OK;
  for (int i = 0; i < input_count; i++)
    if (stat(inputs[i], &input) == 0 && input.st_dev == output.st_dev && input.st_ino == output.st_ino)
      return ndr_fail(NDR_ERR_FILE, "%s: the output is also an input", path);
  return NDR_OK;
}

ndr_status ndr_h5_writer_create(ndr_h5_writer **created, const char *path, int overwrite, int input_count,
                                const char *const *inputs) {
  ndr_hdf_scope scope;
  if (!created || !path) return ndr_fail(NDR_ERR_ARGUMENT, "writer or path is a null pointer");
  *created = NULL;
  NDR_TRY(check_inputs(path, input_count, inputs));
  ndr_h5_writer *writer = calloc(1, sizeof *writer);
  if (!writer) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", path);
  writer->image = H5I_INVALID_HID;
  writer->file.fd = -1;
  ndr_status status = ndr_replace_open(&writer->file, path, overwrite);
  if (status == NDR_OK) {
    ndr_hdf_enter(&scope, false);
    status = create_image(writer);
    ndr_hdf_leave(&scope);
  }
  if (status != NDR_OK) {
    ndr_h5_writer_destroy(writer);
    return status;
  }
  *created = writer;
  return NDR_OK;
}

static ndr_status check_result(const ndr_h5_writer *writer, const DLTensor *result, ndr_dtype *dtype) {
  NDR_TRY(ndr_dtype_from_dlpack(result->dtype, dtype));
  if (result->strides || result->device.device_type != kDLCPU)
    return ndr_fail(NDR_ERR_ARGUMENT, "%s: results are written from compact host memory only", writer->file.path);
  return NDR_OK;
}

static ndr_status write_variable(ndr_h5_writer *writer, const char *name, const DLTensor *result) {
  hsize_t size[NDR_MAX_DIMS];
  ndr_dtype dtype;
  NDR_TRY(check_result(writer, result, &dtype));
  if (H5Lexists(writer->image, name, H5P_DEFAULT) > 0)
    return ndr_fail(NDR_ERR_FILE, "%s: would have two datasets called %s", writer->file.path, name);
  for (int d = 0; d < result->ndim; d++) size[d] = (hsize_t)result->shape[d];
  hid_t type = ndr_hdf_file_type(dtype), space = H5Screate_simple(result->ndim, size, NULL);
  hid_t dataset = H5Dcreate2(writer->image, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const char *data = (const char *)result->data + result->byte_offset;
  bool good = dataset >= 0 && H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
  ndr_status status = NDR_OK;
  if (!good) {
    char what[320];
    snprintf(what, sizeof what, "%s cannot be written", name);
    status = ndr_hdf_fail(NDR_ERR_FILE, writer->file.path, what);
  }
  if (dataset >= 0) H5Dclose(dataset);
  H5Sclose(space);
  H5Tclose(type);
  return status;
}

/* Which dim of the source each dim of the result was; -1 for those that keepdims has left with size 1. */
static int map_dims(const ndr_h5_info *info, int dim_count, const int *dims, const DLTensor *result, int *from) {
  bool reduced[NDR_MAX_DIMS] = {false};
  int count = 0;
  for (int d = 0; d < info->ndim; d++) reduced[d] = dim_count == -1;
  for (int i = 0; i < dim_count; i++) reduced[dims[i] < 0 ? dims[i] + info->ndim : dims[i]] = true;
  for (int d = 0; d < info->ndim; d++) {
    if (result->ndim == info->ndim)
      from[count++] = reduced[d] ? -1 : d;
    else if (!reduced[d])
      from[count++] = d;
  }
  return count;
}

ndr_status ndr_h5_writer_add(ndr_h5_writer *writer, const ndr_h5_dataset *source, int dim_count, const int *dims,
                             const char *name, const DLTensor *result) {
  ndr_hdf_scope scope;
  int from[NDR_MAX_DIMS];
  if (!writer || !source || !name || !result) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_h5_writer_add: null pointer");
  if (map_dims(&source->info, dim_count, dims, result, from) != result->ndim)
    return ndr_fail(NDR_ERR_RESULT, "%s: the result does not have the dims that are left", source->where);
  ndr_hdf_enter(&scope, source->no_plugins);
  ndr_status status = write_variable(writer, name, result);
  if (status == NDR_OK) status = ndr_scales_attach(&writer->scales, source, name, result->ndim, from);
  ndr_hdf_leave(&scope);
  return status;
}

/* The core driver's handle is the address of its buffer, which the file image is a prefix of. */
static ndr_status find_image(const ndr_h5_writer *writer, const void **data, size_t *bytes) {
  void **handle = NULL;
  ssize_t size = -1;
  if (H5Fflush(writer->image, H5F_SCOPE_GLOBAL) < 0 ||
      H5Fget_vfd_handle(writer->image, H5P_DEFAULT, (void **)&handle) < 0 || !handle ||
      (size = H5Fget_file_image(writer->image, NULL, 0)) < 0)
    return ndr_hdf_fail(NDR_ERR_FILE, writer->file.path, "cannot be put together in memory");
  *data = *handle;
  *bytes = (size_t)size;
  return NDR_OK;
}

static ndr_status commit(ndr_h5_writer *writer, const volatile sig_atomic_t *cancel) {
  const void *data = NULL;
  size_t bytes = 0;
  NDR_TRY(ndr_scales_finish(&writer->scales));
  NDR_TRY(find_image(writer, &data, &bytes));
  NDR_TRY(ndr_replace_write(&writer->file, data, bytes, cancel));
  if (cancel && *cancel) return ndr_fail(NDR_ERR_CANCELLED, "%s: stopped before it was written", writer->file.path);
  return ndr_replace_commit(&writer->file);
}

ndr_status ndr_h5_writer_commit(ndr_h5_writer *writer, const volatile sig_atomic_t *cancel) {
  ndr_hdf_scope scope;
  if (!writer) return ndr_fail(NDR_ERR_ARGUMENT, "writer is a null pointer");
  ndr_hdf_enter(&scope, false);
  ndr_status status = commit(writer, cancel);
  ndr_hdf_leave(&scope);
  return status;
}

void ndr_h5_writer_destroy(ndr_h5_writer *writer) {
  ndr_hdf_scope scope;
  if (!writer) return;
  ndr_hdf_enter(&scope, false);
  if (writer->image >= 0) H5Fclose(writer->image);
  ndr_hdf_leave(&scope);
  ndr_scales_free(&writer->scales);
  ndr_replace_close(&writer->file);
  free(writer);
}
