/* Results are made into an HDF5 file in memory (core driver) and written from there by our own calls: HDF5 reports
 * success on closing a file whose last writes have failed on a full disk. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "h5/auxiliary.h"
#include "h5/label.h"
#include "h5/missing.h"
#include "h5/replace.h"
#include "h5/scales.h"
#include "h5/storage.h"

#define GROWTH ((size_t)1 << 20)

struct ndr_h5_writer {
  ndr_replace file;
  hid_t image;
  ndr_scales scales;
  ndr_auxiliaries auxiliaries;
  int deflate;
  char *history, *comment;
  bool labelled; /* as a file made from the input of the first result */
};

/* Version bounds are set so that any HDF5 since 1.8 reads the file, and netCDF-C with it. The order of creation is kept
 * because netCDF-C opens no file to change it that lacks it. */
static ndr_status create_image(ndr_h5_writer *writer) {
  hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_FILE_CREATE);
  ndr_status status = NDR_OK;
  if (H5Pset_fapl_core(access, GROWTH, false) < 0 ||
      H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_V18) < 0 ||
      H5Pset_link_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) < 0 ||
      H5Pset_attr_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) < 0 ||
      (writer->image = H5Fcreate(writer->file.path, H5F_ACC_TRUNC, creation, access)) < 0)
    status = ndr_hdf_fail(NDR_ERR_FILE, writer->file.path, "cannot be created in memory");
  H5Pclose(creation);
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

static ndr_status check_options(const ndr_h5_writer_options *options) {
  if (options->size != sizeof *options)
    return ndr_fail(NDR_ERR_ARGUMENT, "options.size is %zu: start from NDR_H5_WRITER_OPTIONS_INIT", options->size);
  if (options->deflate < -1 || options->deflate > 9)
    return ndr_fail(NDR_ERR_ARGUMENT, "options.deflate is %d, which is no level from 0 to 9", options->deflate);
  return NDR_OK;
}

static ndr_status start(ndr_h5_writer *writer, const char *path, const ndr_h5_writer_options *options) {
  ndr_hdf_scope scope;
  writer->image = H5I_INVALID_HID;
  writer->file.fd = -1;
  writer->deflate = options->deflate;
  writer->history = options->history ? strdup(options->history) : NULL;
  writer->comment = options->comment ? strdup(options->comment) : NULL;
  if ((options->history && !writer->history) || (options->comment && !writer->comment))
    return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", path);
  NDR_TRY(ndr_replace_open(&writer->file, path, options->overwrite));
  ndr_hdf_enter(&scope, false);
  ndr_status status = create_image(writer);
  ndr_hdf_leave(&scope);
  return status;
}

ndr_status ndr_h5_writer_create(ndr_h5_writer **created, const char *path, int input_count, const char *const *inputs,
                                const ndr_h5_writer_options *options) {
  static const ndr_h5_writer_options defaults = NDR_H5_WRITER_OPTIONS_INIT;
  if (!created || !path) return ndr_fail(NDR_ERR_ARGUMENT, "writer or path is a null pointer");
  *created = NULL;
  if (!options) options = &defaults;
  NDR_TRY(check_options(options));
  NDR_TRY(check_inputs(path, input_count, inputs));
  ndr_h5_writer *writer = calloc(1, sizeof *writer);
  if (!writer) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", path);
  ndr_status status = start(writer, path, options);
  if (status != NDR_OK) {
    ndr_h5_writer_destroy(writer);
    return status;
  }
  *created = writer;
  return NDR_OK;
}

/* ---- Adding a result -------------------------------------------------------------------------------------------- */

/* A variable that is being written. */
typedef struct {
  ndr_label label;
  int located; /* the reduced dim whose coordinates the elements are, or -1 */
  const char *name;
  const DLTensor *result;
  int from[NDR_MAX_DIMS]; /* the source's dim that each dim of the result was; ~d where d has been reduced */
} addition;

static ndr_status check_addition(const ndr_h5_writer *writer, addition *a) {
  NDR_TRY(ndr_dtype_from_dlpack(a->result->dtype, &a->label.dtype));
  if (!ndr_op_name(a->label.op)) return ndr_fail(NDR_ERR_OP, "%s: %d is no operator", a->name, (int)a->label.op);
  if (a->result->strides || a->result->device.device_type != kDLCPU)
    return ndr_fail(NDR_ERR_ARGUMENT, "%s: results are written from compact host memory only", writer->file.path);
  return NDR_OK;
}

/* What HDF5 has said of the failed call, with the variable's name. */
static ndr_status fail_variable(const ndr_h5_writer *writer, const addition *a) {
  char what[320];
  snprintf(what, sizeof what, "%s cannot be written", a->name);
  return ndr_hdf_fail(NDR_ERR_FILE, writer->file.path, what);
}

static ndr_status fill_variable(ndr_h5_writer *writer, const addition *a, const ndr_missing *missing, hid_t variable,
                                hid_t type) {
  const char *data = missing->data ? missing->data : (const char *)a->result->data + (int64_t)a->result->byte_offset;
  if (H5Dwrite(variable, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0 || !ndr_missing_put(missing, variable, type))
    return fail_variable(writer, a);
  return a->located < 0 ? ndr_label_variable(&a->label, variable)
                        : ndr_label_located(a->label.source, a->located, variable);
}

static ndr_status write_marked(ndr_h5_writer *writer, const addition *a, const ndr_missing *missing) {
  hsize_t size[NDR_MAX_DIMS];
  for (int d = 0; d < a->result->ndim; d++) size[d] = (hsize_t)a->result->shape[d];
  hid_t type = ndr_storage_type(a->label.source, a->label.dtype), space = H5Screate_simple(a->result->ndim, size, NULL);
  hid_t creation = ndr_storage_create(a->label.source, a->result, a->from, writer->deflate);
  hid_t variable = H5I_INVALID_HID;
  if (creation >= 0 && (!missing->marked || H5Pset_fill_value(creation, H5T_NATIVE_DOUBLE, &missing->fill) >= 0))
    variable = H5Dcreate2(writer->image, a->name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  ndr_status status = variable < 0 ? fail_variable(writer, a) : fill_variable(writer, a, missing, variable, type);
  if (variable >= 0) H5Dclose(variable);
  H5Pclose(creation);
  H5Sclose(space);
  H5Tclose(type);
  return status;
}

static ndr_status write_variable(ndr_h5_writer *writer, const addition *a) {
  ndr_missing missing;
  if (H5Lexists(writer->image, a->name, H5P_DEFAULT) > 0)
    return ndr_fail(NDR_ERR_FILE, "%s: would have two datasets called %s", writer->file.path, a->name);
  if (a->located < 0)
    NDR_TRY(ndr_missing_find(&a->label, a->result, &missing));
  else
    missing = (ndr_missing){true, NAN, NULL};
  ndr_status status = write_marked(writer, a, &missing);
  ndr_missing_free(&missing);
  return status;
}

/* Which dims are reduced, and where those of the result come from: ~d for a dim d that keepdims has left with size 1.
 */
static ndr_status map_dims(addition *a, int dim_count, const int *dims) {
  const ndr_h5_info *info = &a->label.source->info;
  int count = 0;
  for (int d = 0; d < info->ndim; d++) a->label.reduced[d] = dim_count == -1;
  for (int i = 0; i < dim_count; i++) a->label.reduced[dims[i] < 0 ? dims[i] + info->ndim : dims[i]] = true;
  for (int d = 0; d < info->ndim; d++) {
    if (a->result->ndim == info->ndim)
      a->from[count++] = a->label.reduced[d] ? ~d : d;
    else if (!a->label.reduced[d])
      a->from[count++] = d;
  }
  if (count == a->result->ndim) return NDR_OK;
  return ndr_fail(NDR_ERR_RESULT, "%s: the result does not have the dims that are left", a->label.source->where);
}

/* What a reduced dim is called: as in the output, where it is still there; not as another dim that is left. */
static const char *name_of_reduced(const ndr_h5_writer *writer, const addition *a, int d) {
  const char *name = a->label.source->names[d];
  for (int i = 0; i < a->result->ndim; i++)
    if (a->from[i] == ~d) return ndr_scales_name(&writer->scales, a->name, i);
  for (int i = 0; i < a->result->ndim && name; i++) {
    const char *left = a->label.source->names[a->from[i]];
    if (left && strcmp(left, name) == 0) return NULL;
  }
  return name;
}

static ndr_status write_methods(const ndr_h5_writer *writer, const addition *a) {
  const char *names[NDR_MAX_DIMS] = {NULL};
  for (int d = 0; d < a->label.source->info.ndim; d++)
    if (a->label.reduced[d]) names[d] = name_of_reduced(writer, a, d);
  hid_t variable = H5Dopen2(writer->image, a->name, H5P_DEFAULT);
  ndr_status status = variable < 0 ? fail_variable(writer, a) : ndr_label_methods(&a->label, names, variable);
  if (variable >= 0) H5Dclose(variable);
  return status;
}

/* The file as a whole is described as the input of its first result. */
static ndr_status label_file(ndr_h5_writer *writer, const ndr_h5_dataset *source) {
  if (writer->labelled) return NDR_OK;
  writer->labelled = true;
  return ndr_label_file(source, writer->image, writer->history);
}

static ndr_status add(ndr_h5_writer *writer, addition *a, int dim_count, const int *dims) {
  ndr_hdf_scope scope;
  const ndr_h5_dataset *source = a->label.source;
  NDR_TRY(check_addition(writer, a));
  NDR_TRY(map_dims(a, dim_count, dims));
  ndr_hdf_enter(&scope, source->no_plugins);
  ndr_status status = label_file(writer, source);
  if (status == NDR_OK) status = write_variable(writer, a);
  if (status == NDR_OK) status = ndr_scales_attach(&writer->scales, source, a->name, a->result->ndim, a->from);
  if (status == NDR_OK && a->located < 0) status = write_methods(writer, a);
  if (status == NDR_OK && a->located < 0)
    status =
        ndr_auxiliaries_attach(&writer->auxiliaries, &writer->scales, &a->label, a->name, a->result->ndim, a->from);
  ndr_hdf_leave(&scope);
  return status;
}

ndr_status ndr_h5_writer_add(ndr_h5_writer *writer, const ndr_h5_dataset *source, int dim_count, const int *dims,
                             ndr_op op, const char *name, const DLTensor *result) {
  if (!writer || !source || !name || !result) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_h5_writer_add: null pointer");
  addition a = {.label = {.source = source, .op = op}, .located = -1, .name = name, .result = result};
  if (op != NDR_VALID) a.label.comment = writer->comment; /* which is about weights, and these do not count */
  return add(writer, &a, dim_count, dims);
}

ndr_status ndr_h5_writer_add_located(ndr_h5_writer *writer, const ndr_h5_dataset *source, int dim_count,
                                     const int *dims, int dim, const char *name, const DLTensor *values) {
  if (!writer || !source || !name || !values)
    return ndr_fail(NDR_ERR_ARGUMENT, "ndr_h5_writer_add_located: null pointer");
  addition a = {.label = {.source = source}, .name = name, .result = values};
  NDR_TRY(ndr_h5_coordinate(source, dim, NULL));
  a.located = dim < 0 ? dim + source->info.ndim : dim;
  return add(writer, &a, dim_count, dims);
}

/* ---- Writing the file ------------------------------------------------------------------------------------------- */

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

static ndr_status finish_image(ndr_h5_writer *writer, const void **data, size_t *bytes) {
  ndr_hdf_scope scope;
  ndr_hdf_enter(&scope, false);
  ndr_status status = ndr_scales_finish(&writer->scales);
  if (status == NDR_OK) status = find_image(writer, data, bytes);
  ndr_hdf_leave(&scope);
  return status;
}

ndr_status ndr_h5_writer_commit(ndr_h5_writer *writer, const volatile sig_atomic_t *cancel) {
  const void *data = NULL;
  size_t bytes = 0;
  if (!writer) return ndr_fail(NDR_ERR_ARGUMENT, "writer is a null pointer");
  NDR_TRY(finish_image(writer, &data, &bytes));
  return ndr_h5_writer_commit_bytes(writer, data, bytes, cancel);
}

ndr_status ndr_h5_writer_commit_bytes(ndr_h5_writer *writer, const void *data, size_t bytes,
                                      const volatile sig_atomic_t *cancel) {
  if (!writer || (!data && bytes)) return ndr_fail(NDR_ERR_ARGUMENT, "writer or data is a null pointer");
  NDR_TRY(ndr_replace_write(&writer->file, data, bytes, cancel));
  if (cancel && *cancel) return ndr_fail(NDR_ERR_CANCELLED, "%s: stopped before it was written", writer->file.path);
  return ndr_replace_commit(&writer->file);
}

void ndr_h5_writer_destroy(ndr_h5_writer *writer) {
  ndr_hdf_scope scope;
  if (!writer) return;
  ndr_hdf_enter(&scope, false);
  if (writer->image >= 0) H5Fclose(writer->image);
  ndr_hdf_leave(&scope);
  ndr_scales_free(&writer->scales);
  ndr_auxiliaries_free(&writer->auxiliaries);
  ndr_replace_close(&writer->file);
  free(writer->history);
  free(writer->comment);
  free(writer);
}
