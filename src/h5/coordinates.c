#include "h5/coordinates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "h5/attributes.h"

#define MOST_TEXT ((int64_t)64 << 20)

/* These five say yes, no, or that it cannot be read: a negative number. */
static htri_t is_bare(hid_t scale) {
  char *name;
  if (!ndr_hdf_get_text(scale, "NAME", &name)) return -1;
  bool bare = name && strncmp(name, NDR_BARE_SCALE, strlen(NDR_BARE_SCALE)) == 0;
  free(name);
  return bare;
}

static htri_t is_written(const ndr_h5_dataset *dataset, hid_t scale) {
  hid_t creation = H5Dget_create_plist(scale);
  int external = H5Pget_external_count(creation);
  H5D_layout_t layout = H5Pget_layout(creation);
  hsize_t bytes;
  if (creation >= 0) H5Pclose(creation);
  if (external < 0 || layout == H5D_LAYOUT_ERROR) return -1;
  if (external > 0 || layout == H5D_VIRTUAL) return ndr_links_check(dataset->links, scale) == NDR_OK;
  return ndr_hdf_storage_bytes(scale, &bytes) ? bytes > 0 : -1;
}

/* Texts are read whole, which a file may make as long as it likes. */
static htri_t is_short(hid_t scale, hid_t type) {
  htri_t variable = H5Tis_variable_str(type);
  if (variable <= 0) return variable < 0 ? -1 : 1;
  int64_t bytes = ndr_hdf_text_bytes(scale, type);
  return bytes < 0 ? -1 : bytes <= MOST_TEXT;
}

static htri_t holds_elements(hid_t scale, int64_t length, bool texts) {
  hid_t type = H5Dget_type(scale), space = H5Dget_space(scale);
  H5T_class_t kind = H5Tget_class(type);
  int ndim = H5Sget_simple_extent_ndims(space);
  hssize_t count = H5Sget_simple_extent_npoints(space);
  htri_t holds = kind == H5T_INTEGER || kind == H5T_FLOAT || (texts && kind == H5T_STRING);
  if (kind == H5T_NO_CLASS || ndim < 0 || count < 0) holds = -1;
  if (holds > 0) holds = ndim == 1 && count == length;
  if (holds > 0 && kind == H5T_STRING) holds = is_short(scale, type);
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  return holds;
}

static htri_t is_useful(const ndr_h5_dataset *dataset, int d, bool texts, hid_t scale) {
  if (scale < 0) return -1;
  htri_t bare = is_bare(scale);
  if (bare != 0) return bare < 0 ? -1 : 0;
  htri_t written = is_written(dataset, scale);
  return written > 0 ? holds_elements(scale, dataset->extent[d], texts) : written;
}

static ndr_status fail_read(const ndr_h5_dataset *dataset) {
  return ndr_fail(NDR_ERR_FILE, "%s: the coordinates of a dim cannot be read", dataset->where);
}

static ndr_status open_scale(const ndr_h5_dataset *dataset, int d, bool texts, hid_t *scale) {
  *scale = H5I_INVALID_HID;
  if (!dataset->scales[d]) return NDR_OK;
  hid_t opened = H5Dopen2(dataset->file_id, dataset->scales[d], dataset->links->access);
  htri_t useful = is_useful(dataset, d, texts, opened);
  if (useful > 0)
    *scale = opened;
  else if (opened >= 0)
    H5Dclose(opened);
  return useful < 0 ? fail_read(dataset) : NDR_OK;
}

/* The datasets whose coordinates follow each other along dim d. */
static int find_parts(const ndr_h5_dataset *dataset, int d, const ndr_h5_dataset *const **parts,
                      const ndr_h5_dataset *const *self) {
  bool series = dataset->part_count > 0 && d == dataset->series_dim;
  *parts = series ? (const ndr_h5_dataset *const *)dataset->parts : self;
  return series ? dataset->part_count : 1;
}

/* "days since 2001-01-01" and "days since 2002-01-01" are no axis. */
static ndr_status continues(const ndr_h5_dataset *part, int d, const char *units, bool *same) {
  hid_t scale;
  char *own;
  *same = false;
  NDR_TRY(open_scale(part, d, false, &scale));
  if (scale < 0) return NDR_OK;
  bool good = ndr_hdf_get_text(scale, "units", &own);
  *same = own ? units && strcmp(own, units) == 0 : !units;
  free(own);
  H5Dclose(scale);
  return good ? NDR_OK : fail_read(part);
}

ndr_status ndr_hdf_open_coordinates(const ndr_h5_dataset *dataset, int d, bool texts, hid_t *scale) {
  const ndr_h5_dataset *const *parts;
  int count = find_parts(dataset, d, &parts, &dataset);
  char *units;
  NDR_TRY(open_scale(parts[0], d, texts && count == 1, scale));
  if (*scale < 0 || count == 1) return NDR_OK;
  ndr_status status = ndr_hdf_get_text(*scale, "units", &units) ? NDR_OK : fail_read(dataset);
  bool same = true;
  for (int i = 1; i < count && same && status == NDR_OK; i++) status = continues(parts[i], d, units, &same);
  free(units);
  if (same && status == NDR_OK) return NDR_OK;
  H5Dclose(*scale);
  *scale = H5I_INVALID_HID;
  return status;
}

static bool read_part(const ndr_h5_dataset *part, int d, hid_t type, void *data) {
  hsize_t count = (hsize_t)part->info.shape[d];
  if (count == 0) return true;
  hid_t scale;
  if (open_scale(part, d, H5Tget_class(type) == H5T_STRING, &scale) != NDR_OK || scale < 0) return false;
  hid_t from = H5Dget_space(scale), to = H5Screate_simple(1, &count, NULL);
  bool good = ndr_hdf_select(from, 1, &part->from[d], &part->step[d], &part->info.shape[d]) &&
              H5Dread(scale, type, to, from, H5P_DEFAULT, data) >= 0;
  if (to >= 0) H5Sclose(to);
  if (from >= 0) H5Sclose(from);
  H5Dclose(scale);
  return good;
}

bool ndr_hdf_read_coordinates(const ndr_h5_dataset *dataset, int d, hid_t type, void *data) {
  const ndr_h5_dataset *const *parts;
  int count = find_parts(dataset, d, &parts, &dataset);
  char *at = data;
  size_t bytes = H5Tget_size(type);
  if (bytes == 0) return false;
  for (int i = 0; i < count; i++) {
    if (!read_part(parts[i], d, type, at)) return false;
    at += (size_t)parts[i]->info.shape[d] * bytes;
  }
  return true;
}

/* ---- The public calls ------------------------------------------------------------------------------------------- */

static ndr_status read_coordinates(const ndr_h5_dataset *dataset, int d, double *values) {
  hid_t scale;
  ndr_status status = NDR_OK;
  NDR_TRY(ndr_hdf_open_coordinates(dataset, d, false, &scale));
  if (scale < 0 && dataset->names[d])
    return ndr_fail(NDR_ERR_DIMS, "%s: its dim %s has no coordinates", dataset->where, dataset->names[d]);
  if (scale < 0) return ndr_fail(NDR_ERR_DIMS, "%s: its dim %d has no coordinates", dataset->where, d);
  if (values && !ndr_hdf_read_coordinates(dataset, d, H5T_NATIVE_DOUBLE, values))
    status = ndr_hdf_fail(NDR_ERR_FILE, dataset->where, "the coordinates of a dim cannot be read");
  H5Dclose(scale);
  return status;
}

ndr_status ndr_h5_coordinate(const ndr_h5_dataset *dataset, int dim, double *values) {
  ndr_hdf_scope scope;
  if (!dataset) return ndr_fail(NDR_ERR_ARGUMENT, "dataset is a null pointer");
  int ndim = dataset->info.ndim, d = dim < 0 ? dim + ndim : dim;
  if (d < 0 || d >= ndim)
    return ndr_fail(NDR_ERR_DIMS, "%s: dim %d is out of range for an array of %d dims", dataset->where, dim, ndim);
  ndr_hdf_enter(&scope, dataset->no_plugins);
  ndr_status status = read_coordinates(dataset, d, values);
  ndr_hdf_leave(&scope);
  return status;
}

/* How far apart indices are that differ by one along dim d: they count row-major over the reduced dims. */
static ndr_status find_step(const ndr_h5_dataset *dataset, int dim_count, const int *dims, int d, int64_t *step) {
  int ndim = dataset->info.ndim;
  bool found = dim_count == -1;
  *step = 1;
  for (int other = d + 1; other < ndim && dim_count == -1; other++) *step *= dataset->info.shape[other];
  for (int i = 0; i < dim_count; i++) {
    int other = dims[i] < 0 ? dims[i] + ndim : dims[i];
    if (other == d) found = true;
    if (other > d && other < ndim) *step *= dataset->info.shape[other];
  }
  return found ? NDR_OK : ndr_fail(NDR_ERR_DIMS, "%s: dim %d is not among the reduced ones", dataset->where, d);
}

static void look_up(const double *coordinates, int64_t size, int64_t step, const DLTensor *indices, double *values) {
  const int64_t *index = (const int64_t *)(const void *)((const char *)indices->data + (int64_t)indices->byte_offset);
  int64_t count = 1;
  for (int d = 0; d < indices->ndim; d++) count *= indices->shape[d];
  for (int64_t i = 0; i < count; i++) values[i] = index[i] < 0 ? NAN : coordinates[index[i] / step % size];
}

ndr_status ndr_h5_locate(const ndr_h5_dataset *dataset, int dim_count, const int *dims, int dim,
                         const DLTensor *indices, double *values) {
  ndr_dtype dtype;
  int64_t step;
  if (!dataset || !indices || !values) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_h5_locate: null pointer");
  NDR_TRY(ndr_dtype_from_dlpack(indices->dtype, &dtype));
  if (dtype != NDR_I64 || indices->strides || indices->device.device_type != kDLCPU)
    return ndr_fail(NDR_ERR_ARGUMENT, "%s: indices must be i64 in compact host memory", dataset->where);
  NDR_TRY(ndr_h5_coordinate(dataset, dim, NULL));
  int d = dim < 0 ? dim + dataset->info.ndim : dim;
  NDR_TRY(find_step(dataset, dim_count, dims, d, &step));
  int64_t size = dataset->info.shape[d];
  double *coordinates = (uint64_t)size < SIZE_MAX / sizeof(double) ? malloc((size_t)size * sizeof(double) + 1) : NULL;
  if (!coordinates) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory for the coordinates of a dim", dataset->where);
  ndr_status status = ndr_h5_coordinate(dataset, d, coordinates);
  if (status == NDR_OK) look_up(coordinates, size, step, indices, values);
  free(coordinates);
  return status;
}
