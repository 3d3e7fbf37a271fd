/* The public calls that make a file of results, and the file itself; what is added to it is in add.c.
 *
 * The file is made in memory (HDF5's core driver) and written from there by our own calls: HDF5 reports success on
 * closing a file whose last writes have failed on a full disk. Once results are added block by block that are too many
 * for memory (stream.c), it goes on in the temporary file, through a driver of our own (file_driver.c). */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/sized.h"
#include "h5/write/writer.h"

#define GROWTH ((size_t)1 << 20)

/* Bytes between two looks whether writing is to be stopped. */
#define STEP ((size_t)4 << 20)

/* A name that no file has. Given the name of a file that is there, HDF5's core driver would first read all of it, to
 * see whether it is open. */
static char *unused_name(const char *path) {
  return ndr_hdf_join(path, "/", "");
}

/* Version bounds are set so that any HDF5 since 1.8 reads the file, and netCDF-C with it. The order of creation is kept
 * because netCDF-C opens no file to change it that lacks it. */
static ndr_status create_image(ndr_h5_writer *writer) {
  char *name = unused_name(writer->file.path);
  if (!name) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", writer->file.path);
  hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_FILE_CREATE);
  ndr_status status = NDR_OK;
  if (H5Pset_fapl_core(access, GROWTH, false) < 0 ||
      H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_V18) < 0 ||
      H5Pset_link_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) < 0 ||
      H5Pset_obj_track_times(creation, false) < 0 ||
      H5Pset_attr_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) < 0 ||
      (writer->image = H5Fcreate(name, H5F_ACC_TRUNC, creation, access)) < 0)
    status = ndr_hdf_fail(NDR_ERR_FILE, writer->file.path, "cannot be created in memory");
  H5Pclose(creation);
  H5Pclose(access);
  writer->scales.file = writer->image;
  writer->scales.remarks = &writer->remarks;
  writer->scales.order = &writer->order;
  free(name);
  return status;
}

static ndr_status check_inputs(const char *path, int input_count, const char *const *inputs) {
  struct stat output, input;
  if (input_count < 0 || (input_count > 0 && !inputs))
    return ndr_fail(NDR_ERR_ARGUMENT, "input_count is %d%s", input_count, inputs ? "" : ", inputs is a null pointer");
  for (int i = 0; i < input_count; i++)
    if (!inputs[i]) return ndr_fail(NDR_ERR_ARGUMENT, "input %d is a null pointer", i);
  if (stat(path, &output) != 0) return NDR_OK;
  for (int i = 0; i < input_count; i++)
    if (stat(inputs[i], &input) == 0 && input.st_dev == output.st_dev && input.st_ino == output.st_ino)
      return ndr_fail(NDR_ERR_FILE, "%s: the output is also an input", path);
  return NDR_OK;
}

/* Whether the output is one of the files that a dataset, of a series each, is made of. */
static ndr_status check_files(const ndr_h5_dataset *dataset, const char *path, const struct stat *output) {
  static const char *const roles[] = {
      [NDR_LINK_INPUT] = "the file of",
      [NDR_LINK_EXTERNAL] = "the file that an external link leads to from",
      [NDR_LINK_SOURCE] = "the file of a source of",
      [NDR_LINK_RAW] = "the external storage of",
  };
  ndr_link_kind kind;
  for (int i = 0; i < dataset->part_count; i++) NDR_TRY(check_files(dataset->parts[i], path, output));
  if (!ndr_links_contain(dataset->links, output, &kind)) return NDR_OK;
  return ndr_fail(NDR_ERR_FILE, "%s: the output is also an input: %s %s", path, roles[kind], dataset->where);
}

ndr_status ndr_h5_writer_protect(const ndr_h5_writer *writer, const ndr_h5_dataset *dataset) {
  struct stat output;
  if (!writer || !dataset) return ndr_fail(NDR_ERR_ARGUMENT, "writer or dataset is a null pointer");
  if (stat(writer->file.path, &output) != 0) return NDR_OK;
  return check_files(dataset, writer->file.path, &output);
}

ndr_status ndr_h5_writer_groups(ndr_h5_writer *writer, const ndr_h5_groups *groups) {
  if (!writer) return ndr_fail(NDR_ERR_ARGUMENT, "writer is a null pointer");
  NDR_TRY(ndr_writer_check(writer));
  writer->scales.groups = groups;
  return NDR_OK;
}

static bool copy_text(const char *text, char **copy) {
  *copy = text ? strdup(text) : NULL;
  return !text || *copy;
}

ndr_status ndr_h5_writer_array_sources(ndr_h5_writer *writer, int count, const char *const *names,
                                       const char *const *sources) {
  if (!writer || (count > 0 && (!names || !sources)))
    return ndr_fail(NDR_ERR_ARGUMENT, "writer, names or sources is a null pointer");
  if (count < 0) return ndr_fail(NDR_ERR_ARGUMENT, "count is %d", count);
  for (int i = 0; i < count; i++)
    if (!names[i] || !sources[i])
      return ndr_fail(NDR_ERR_ARGUMENT, "%s %d is a null pointer", names[i] ? "source" : "name", i);
  NDR_TRY(ndr_writer_check(writer));
  if (!ndr_array_sources_set(&writer->array_sources, count, names, sources))
    return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", writer->file.path);
  return NDR_OK;
}

ndr_status ndr_h5_writer_weight_units(ndr_h5_writer *writer, const char *units) {
  if (!writer) return ndr_fail(NDR_ERR_ARGUMENT, "writer is a null pointer");
  NDR_TRY(ndr_writer_check(writer));
  free(writer->weight_units);
  if (!copy_text(units, &writer->weight_units)) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", writer->file.path);
  return NDR_OK;
}

static ndr_status read_options(const ndr_h5_writer_options *given, ndr_h5_writer_options *options) {
  *options = (ndr_h5_writer_options)NDR_H5_WRITER_OPTIONS_INIT;
  if (given) NDR_TRY(ndr_sized_read(given, options, sizeof *options, "options", "NDR_H5_WRITER_OPTIONS_INIT"));
  if (options->deflate < -1 || options->deflate > 9)
    return ndr_fail(NDR_ERR_ARGUMENT, "options.deflate is %d, which is no level from 0 to 9", options->deflate);
  if (options->threads < 0) return ndr_fail(NDR_ERR_ARGUMENT, "options.threads is %d", options->threads);
  return NDR_OK;
}

/* What stands in brackets behind methods. CF's grammar has no brackets inside these. */
static bool make_comments(ndr_h5_writer *writer, const ndr_h5_writer_options *options) {
  const char *where = options->where, *comment = options->comment;
  if (!where) return copy_text(comment, &writer->comment);
  bool plain = !strpbrk(where, "()");
  size_t capacity = strlen(where) + (comment ? strlen(comment) : 0) + 40;
  writer->condition = malloc(capacity);
  writer->comment = malloc(capacity);
  if (!writer->condition || !writer->comment) return false;
  snprintf(writer->condition, capacity, "where %s", plain ? where : "a condition holds");
  snprintf(writer->comment, capacity, "%s%s%s", writer->condition, comment ? ", " : "", comment ? comment : "");
  return true;
}

static ndr_status start(ndr_h5_writer *writer, const char *path, const ndr_h5_writer_options *options) {
  ndr_hdf_scope scope;
  writer->image = H5I_INVALID_HID;
  writer->file.fd = -1;
  writer->deflate = writer->copies.deflate = options->deflate;
  writer->threads = options->threads;
  writer->remarks = (ndr_remarks){.tell = options->on_remark, .user = options->user};
  writer->on_progress = options->on_progress;
  if (!copy_text(options->history, &writer->history) || !copy_text(options->where, &writer->where) ||
      !make_comments(writer, options))
    return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", path);
  NDR_TRY(ndr_atomic_file_open(&writer->file, path, options->overwrite));
  ndr_hdf_enter(&scope, false);
  ndr_status status = create_image(writer);
  ndr_hdf_leave(&scope);
  return status;
}

ndr_status ndr_h5_writer_create(ndr_h5_writer **created, const char *path, int input_count, const char *const *inputs,
                                const ndr_h5_writer_options *given) {
  ndr_h5_writer_options options;
  if (created) *created = NULL;
  if (!created || !path) return ndr_fail(NDR_ERR_ARGUMENT, "writer or path is a null pointer");
  NDR_TRY(read_options(given, &options));
  NDR_TRY(check_inputs(path, input_count, inputs));
  ndr_h5_writer *writer = calloc(1, sizeof *writer);
  if (!writer) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", path);
  ndr_status status = start(writer, path, &options);
  if (status != NDR_OK) {
    ndr_h5_writer_destroy(writer);
    return status;
  }
  *created = writer;
  return NDR_OK;
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

static ndr_status spill(ndr_h5_writer *writer) {
  const void *data = NULL;
  size_t bytes = 0;
  NDR_TRY(find_image(writer, &data, &bytes));
  NDR_TRY(ndr_atomic_file_write(&writer->file, data, bytes));
  H5Fclose(writer->image);
  writer->driver.file = &writer->file;
  writer->spilled = true;
  writer->image = writer->scales.file = ndr_file_driver_open(&writer->driver);
  if (writer->image >= 0) return NDR_OK;
  return ndr_hdf_fail(NDR_ERR_FILE, writer->file.path, "cannot be continued on disk");
}

ndr_status ndr_writer_spill(ndr_h5_writer *writer) {
  ndr_hdf_scope scope;
  ndr_hdf_enter(&scope, false);
  ndr_status status = spill(writer);
  ndr_hdf_leave(&scope);
  return status;
}

/* All that HDF5 still has of the temporary file goes there. */
static ndr_status close_spilled(ndr_h5_writer *writer) {
  ndr_status status = NDR_OK;
  if (H5Fflush(writer->image, H5F_SCOPE_GLOBAL) < 0)
    status = ndr_hdf_fail(NDR_ERR_FILE, writer->file.path, "cannot be written");
  if (H5Fclose(writer->image) < 0 && status == NDR_OK)
    status = ndr_hdf_fail(NDR_ERR_FILE, writer->file.path, "cannot be closed");
  writer->image = H5I_INVALID_HID;
  NDR_TRY(ndr_file_driver_check(&writer->driver));
  return status;
}

static ndr_status finish_image(ndr_h5_writer *writer, const void **data, size_t *bytes) {
  ndr_hdf_scope scope;
  ndr_hdf_enter(&scope, false);
  ndr_status status = ndr_scales_finish(&writer->scales);
  if (status == NDR_OK) status = ndr_order_apply(&writer->order, writer->image, writer->file.path);
  if (status == NDR_OK) status = writer->spilled ? close_spilled(writer) : find_image(writer, data, bytes);
  ndr_hdf_leave(&scope);
  return status;
}

static ndr_status write_bytes(ndr_h5_writer *writer, const void *data, size_t bytes) {
  for (size_t at = 0, step; at < bytes; at += step) {
    step = bytes - at < STEP ? bytes - at : STEP;
    NDR_TRY(ndr_atomic_file_write(&writer->file, (const char *)data + at, step));
    if (writer->on_progress && writer->on_progress(writer->remarks.user, (int64_t)(at + step), (int64_t)bytes))
      return ndr_fail(NDR_ERR_CANCELLED, "%s: stopped before it was written", writer->file.path);
  }
  return ndr_atomic_file_commit(&writer->file);
}

ndr_status ndr_writer_check(const ndr_h5_writer *writer) {
  NDR_TRY(ndr_writer_heed(writer, NDR_OK));
  if (!writer->ended) return NDR_OK;
  if (writer->stopped)
    return ndr_fail(NDR_ERR_CANCELLED, "%s: writing was stopped; its writer can only be destroyed", writer->file.path);
  return ndr_fail(NDR_ERR_ARGUMENT, "%s: its writer has committed, which it does once; it can only be destroyed",
                  writer->file.path);
}

/* What is at the end of a file that is there already is small beside the rest. */
static ndr_status commit_spilled(ndr_h5_writer *writer) {
  int64_t bytes = writer->streamed_bytes;
  if (writer->on_progress && writer->on_progress(writer->remarks.user, bytes, bytes))
    return ndr_fail(NDR_ERR_CANCELLED, "%s: stopped before it was written", writer->file.path);
  return ndr_atomic_file_commit(&writer->file);
}

static ndr_status end(ndr_h5_writer *writer, ndr_status status) {
  if (status != NDR_OK) ndr_atomic_file_discard(&writer->file);
  writer->ended = true;
  writer->stopped = status == NDR_ERR_CANCELLED;
  return status;
}

ndr_status ndr_h5_writer_commit_bytes(ndr_h5_writer *writer, const void *data, size_t bytes) {
  if (!writer || (!data && bytes)) return ndr_fail(NDR_ERR_ARGUMENT, "writer or data is a null pointer");
  NDR_TRY(ndr_writer_check(writer));
  if (writer->spilled)
    return ndr_fail(NDR_ERR_ARGUMENT, "%s: results have been written to it already", writer->file.path);
  return end(writer, write_bytes(writer, data, bytes));
}

ndr_status ndr_h5_writer_commit(ndr_h5_writer *writer) {
  const void *data = NULL;
  size_t bytes = 0;
  if (!writer) return ndr_fail(NDR_ERR_ARGUMENT, "writer is a null pointer");
  NDR_TRY(ndr_writer_check(writer));
  ndr_status status = finish_image(writer, &data, &bytes);
  if (status == NDR_OK) status = writer->spilled ? commit_spilled(writer) : write_bytes(writer, data, bytes);
  return end(writer, status);
}

void ndr_h5_writer_destroy(ndr_h5_writer *writer) {
  ndr_hdf_scope scope;
  if (!writer) return;
  ndr_hdf_enter(&scope, false);
  if (writer->image >= 0) H5Fclose(writer->image);
  ndr_file_driver_close(&writer->driver);
  ndr_hdf_leave(&scope);
  ndr_scales_free(&writer->scales);
  ndr_order_free(&writer->order);
  ndr_cf_copies_free(&writer->copies);
  ndr_remarks_free(&writer->remarks);
  ndr_array_sources_free(&writer->array_sources);
  ndr_atomic_file_close(&writer->file);
  free(writer->history);
  free(writer->comment);
  free(writer->condition);
  free(writer->where);
  free(writer->weight_units);
  free(writer);
}
