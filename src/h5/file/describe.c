/* Fills in a dataset from its file: type, shape, layout, filters, units. Names of dims are in names.c, what
 * attributes make of elements in unpack_cf.c. */
#include <stdlib.h>
#include <string.h>

#include "h5/bytes/header.h"
#include "h5/cf/unpack_cf.h"
#include "h5/codec/decode.h"
#include "h5/file/attributes.h"
#include "h5/file/dtype.h"
#include "h5/find/field.h"
#include "h5/find/near.h"

/* An attribute that HDF5 does not find is left out. Where it would be used, it is seen whether the numbers can do
 * without. */
static ndr_status describe_attributes(ndr_h5_dataset *dataset) {
  char names[NDR_HEADER_NAMES], reason[NDR_HDF_REASON];
  htri_t sound = ndr_header_is_sound(dataset->id, names, reason);
  dataset->unknown_attributes = !sound && strcmp(names, NDR_HEADER_UNKNOWN) == 0;
  if (sound < 0) return ndr_hdf_fail_late(dataset->where, "its attributes cannot be read");
  if (!sound) ndr_remark(&dataset->remarks, "%s: its attribute%s cannot be read: %s", dataset->where, names, reason);
  return NDR_OK;
}

/* If an attribute that changes what numbers mean were left out, results would be wrong, and nobody would know. */
static ndr_status fail_meaning(const ndr_h5_dataset *dataset, const char *attribute) {
  if (ndr_hdf_lacks_memory()) return ndr_hdf_fail_late(dataset->where, "its attributes cannot be read");
  return ndr_fail(NDR_ERR_FILE,
                  "%s: its attribute%s%s cannot be read, which may change what its numbers mean; "
                  "ndr_h5_access.raw takes them as stored",
                  dataset->where, *attribute ? " " : "s", attribute);
}

/* The type of the elements, or of their field. */
static ndr_status open_type(ndr_h5_dataset *dataset, hid_t *type) {
  hid_t whole = H5Dget_type(dataset->id);
  if (whole < 0) return ndr_hdf_fail(NDR_ERR_FILE, dataset->where, "its type cannot be read");
  dataset->element_bytes = H5Tget_size(whole);
  *type = dataset->field ? ndr_field_type(whole, dataset->field) : H5Tcopy(whole);
  ndr_status status = NDR_OK;
  char near[300];
  if (*type < 0 && dataset->field && ndr_near_fields(whole, dataset->field, near, sizeof near))
    status = ndr_fail(NDR_ERR_FILE, "%s: the table has no such field%s", dataset->where, near);
  else if (*type < 0)
    status = ndr_hdf_fail(NDR_ERR_FILE, dataset->where, "its type cannot be read");
  H5Tclose(whole);
  return status;
}

/* Attributes tell of a whole table, not of one field. */
static ndr_status find_meaning(ndr_h5_dataset *dataset, hid_t type) {
  ndr_misfits misfits;
  const char *failed = ndr_hdf_find_unpack(dataset->id, type, dataset->type_class, dataset->info.stored_dtype,
                                           dataset->raw || dataset->field, &dataset->unpack, &misfits);
  if (dataset->field) dataset->unpack.direct = false;
  if (failed) return fail_meaning(dataset, failed);
  if (dataset->unknown_attributes && !dataset->raw && !dataset->field) return fail_meaning(dataset, "");
  for (int i = 0; i < misfits.count; i++) {
    const ndr_misfit *misfit = &misfits.list[i];
    if (misfit->scales)
      return ndr_fail(NDR_ERR_FILE, "%s: its attribute %s %s; ndr_h5_access.raw takes its numbers as stored",
                      dataset->where, misfit->name, misfit->what);
    ndr_remark(&dataset->remarks, "%s: its attribute %s %s: it is ignored", dataset->where, misfit->name, misfit->what);
  }
  return NDR_OK;
}

ndr_status ndr_hdf_check_numbers(const ndr_h5_dataset *dataset) {
  if (!dataset->elements) return NDR_OK;
  return ndr_fail(NDR_ERR_DTYPE, "%s: holds %s, which cannot be reduced%s", dataset->where, dataset->elements,
                  dataset->table                     ? "; name a field, as TABLE.FIELD: ndr_h5_list shows them"
                  : dataset->type_class == H5T_ARRAY ? "; h5py reads these as dims: write what it reads to a dataset"
                                                     : "");
}

static ndr_status describe_type(ndr_h5_dataset *dataset) {
  hid_t type = H5I_INVALID_HID;
  NDR_TRY(open_type(dataset, &type));
  dataset->type_class = H5Tget_class(type);
  if (dataset->type_class == H5T_NO_CLASS || dataset->element_bytes == 0) {
    H5Tclose(type);
    return ndr_fail(NDR_ERR_FILE, "%s: its type cannot be read", dataset->where);
  }
  ndr_h5_info *info = &dataset->info;
  const char *reason = ndr_hdf_dtype(type, &info->stored_dtype);
  ndr_status status = reason ? NDR_OK : find_meaning(dataset, type);
  H5Tclose(type);
  if (reason && strcmp(reason, NDR_UNKNOWN_ELEMENTS) == 0) /* its class was known a moment ago */
    return ndr_fail(NDR_ERR_FILE, "%s: its type cannot be read", dataset->where);
  dataset->table = reason && strcmp(reason, NDR_TABLE_ELEMENTS) == 0;
  dataset->elements = reason;
  NDR_TRY(ndr_hdf_check_numbers(dataset));
  NDR_TRY(status);
  info->dtype = dataset->unpack.to;
  info->masked = dataset->unpack.masked;
  info->scaled = dataset->unpack.scaled;
  info->scale_factor = dataset->unpack.scaled ? dataset->unpack.scale : 1;
  return NDR_OK;
}

static ndr_status describe_shape(ndr_h5_dataset *dataset) {
  hsize_t shape[H5S_MAX_RANK], most[H5S_MAX_RANK];
  hid_t space = H5Dget_space(dataset->id);
  if (space < 0) return ndr_hdf_fail(NDR_ERR_FILE, dataset->where, "its shape cannot be read");
  H5S_class_t kind = H5Sget_simple_extent_type(space);
  int ndim = H5Sget_simple_extent_dims(space, shape, most);
  H5Sclose(space);
  if (kind == H5S_NULL) return ndr_fail(NDR_ERR_EMPTY, "%s: has no elements (a null dataspace)", dataset->where);
  if (ndim < 0 || ndim > NDR_MAX_DIMS)
    return ndr_fail(NDR_ERR_FILE, "%s: its shape cannot be understood", dataset->where);
  dataset->info.ndim = ndim;
  for (int d = 0; d < ndim; d++) {
    dataset->info.shape[d] = dataset->extent[d] = dataset->stored[d] = shape[d] > INT64_MAX ? -1 : (int64_t)shape[d];
    dataset->unlimited[d] = most[d] == H5S_UNLIMITED;
    dataset->from[d] = 0;
    dataset->step[d] = 1;
  }
  return NDR_OK;
}

/* The filters as one text. A name comes from the file or the plugin, so it is bounded and may be anything. */
static ndr_status describe_filters(ndr_h5_dataset *dataset, hid_t creation) {
  int count = H5Pget_nfilters(creation);
  if (count < 0) return ndr_hdf_fail(NDR_ERR_FILE, dataset->where, "its filters cannot be read");
  size_t used = 0, capacity = count > 0 ? (size_t)count * 40 + 1 : 1;
  dataset->filters = calloc(1, capacity);
  if (!dataset->filters) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", dataset->where);
  for (int i = 0; i < count; i++) {
    char name[32] = "";
    unsigned flags, config;
    size_t values = 0;
    H5Z_filter_t filter = H5Pget_filter2(creation, (unsigned)i, &flags, &values, NULL, sizeof name, name, &config);
    if (filter < 0) return ndr_hdf_fail(NDR_ERR_FILE, dataset->where, "its filters cannot be read");
    name[sizeof name - 1] = 0;
    name[strcspn(name, ";")] = 0; /* plugins put their address after it */
    if (ndr_filter_name(filter)) snprintf(name, sizeof name, "%s", ndr_filter_name(filter));
    const char *comma = used ? "," : "";
    used += (size_t)(*name ? snprintf(dataset->filters + used, capacity - used, "%s%s", comma, name)
                           : snprintf(dataset->filters + used, capacity - used, "%s%d", comma, (int)filter));
  }
  dataset->info.filters = dataset->filters;
  return NDR_OK;
}

static ndr_status describe_chunk(ndr_h5_dataset *dataset, hid_t creation) {
  hsize_t chunk[H5S_MAX_RANK];
  if (H5Pget_chunk(creation, NDR_MAX_DIMS, chunk) != dataset->info.ndim)
    return ndr_hdf_fail(NDR_ERR_FILE, dataset->where, "its chunks cannot be understood");
  for (int d = 0; d < dataset->info.ndim; d++) {
    if (chunk[d] == 0) return ndr_fail(NDR_ERR_FILE, "%s: claims chunks of size 0", dataset->where);
    dataset->info.chunk[d] = (int64_t)chunk[d];
  }
  return NDR_OK;
}

/* What other files hold is looked at before HDF5 would open them. */
static ndr_status describe_other_files(ndr_h5_dataset *dataset) {
  char reason[640];
  ndr_status status = ndr_links_check(dataset->links, dataset->id);
  dataset->info.stored_bytes = -1;
  dataset->source_chunk_bytes = dataset->links->chunk_bytes;
  if (status == NDR_OK) return NDR_OK;
  snprintf(reason, sizeof reason, "%s", ndr_last_error());
  return ndr_fail(status, "%s: %s", dataset->where, reason);
}

/* Where the bytes are. */
static ndr_status describe_layout(ndr_h5_dataset *dataset, hid_t creation) {
  int external = H5Pget_external_count(creation);
  if (external < 0) return ndr_hdf_fail(NDR_ERR_FILE, dataset->where, "its layout cannot be understood");
  if (external > 0) NDR_TRY(describe_other_files(dataset));
  switch (H5Pget_layout(creation)) {
  case H5D_COMPACT: dataset->info.layout = NDR_H5_COMPACT; return NDR_OK;
  case H5D_CONTIGUOUS: dataset->info.layout = NDR_H5_CONTIGUOUS; return NDR_OK;
  case H5D_CHUNKED: dataset->info.layout = NDR_H5_CHUNKED; return NDR_OK;
  case H5D_VIRTUAL: dataset->info.layout = NDR_H5_VIRTUAL; return describe_other_files(dataset);
  default: return ndr_hdf_fail(NDR_ERR_FILE, dataset->where, "its layout cannot be understood");
  }
}

static ndr_status describe_storage(ndr_h5_dataset *dataset) {
  hid_t creation = H5Dget_create_plist(dataset->id);
  if (creation < 0) return ndr_hdf_fail(NDR_ERR_FILE, dataset->where, "its layout cannot be read");
  ndr_status status = describe_layout(dataset, creation);
  if (status == NDR_OK) status = describe_shape(dataset);
  if (status == NDR_OK && dataset->info.layout == NDR_H5_CHUNKED) status = describe_chunk(dataset, creation);
  if (status == NDR_OK) status = describe_filters(dataset, creation);
  H5Pclose(creation);
  return status;
}

/* To add up the bytes HDF5 reads all of the index of the chunks. Rank 0 hands it to the others. */
static ndr_status describe_bytes(ndr_h5_dataset *dataset) {
  hsize_t bytes;
  if (dataset->info.stored_bytes != 0) return NDR_OK;
  if (!ndr_hdf_storage_bytes(dataset->id, &bytes))
    return ndr_hdf_fail(NDR_ERR_FILE, dataset->where, "how much of it is stored cannot be read");
  dataset->info.stored_bytes = (int64_t)bytes;
  return NDR_OK;
}

/* In the file or in memory, whatever takes more. */
ndr_status ndr_hdf_check_size(const ndr_h5_dataset *dataset) {
  const ndr_h5_info *info = &dataset->info;
  int64_t bytes = (int64_t)dataset->element_bytes;
  if (bytes < (int64_t)ndr_dtype_bytes(info->dtype)) bytes = (int64_t)ndr_dtype_bytes(info->dtype);
  for (int d = 0; d < info->ndim; d++)
    if (info->shape[d] < 0 || __builtin_mul_overflow(bytes, info->shape[d] ? info->shape[d] : 1, &bytes))
      return ndr_fail(NDR_ERR_OVERFLOW, "%s: the size that it claims does not fit in 63 bits", dataset->where);
  return NDR_OK;
}

/* Refuses a shape that needs more bytes than the file has, before the rest of the file is read. */
static ndr_status check_extent(const ndr_h5_dataset *dataset) {
  hsize_t bytes = dataset->element_bytes, file_bytes = 0;
  haddr_t address = H5Dget_offset(dataset->id);
  if (dataset->info.layout != NDR_H5_CONTIGUOUS || dataset->info.stored_bytes <= 0 || address == HADDR_UNDEF)
    return NDR_OK;
  for (int d = 0; d < dataset->info.ndim; d++) bytes *= (hsize_t)dataset->info.shape[d];
  if (H5Fget_filesize(dataset->file_id, &file_bytes) < 0)
    return ndr_hdf_fail(NDR_ERR_FILE, dataset->where, "the size of its file cannot be read");
  if (address <= file_bytes && bytes <= file_bytes - address) return NDR_OK;
  return ndr_fail(NDR_ERR_FILE, "%s: claims %llu bytes from byte %llu on, of a file of %llu", dataset->where,
                  (unsigned long long)bytes, (unsigned long long)address, (unsigned long long)file_bytes);
}

static ndr_status describe_name(ndr_h5_dataset *dataset, const char *path) {
  char *shown = ndr_netcdf_shown(path);
  if (dataset->field && shown) {
    dataset->path = ndr_hdf_join(shown, ".", dataset->field);
    free(shown);
  } else {
    dataset->path = shown;
  }
  if (dataset->path) dataset->where = ndr_hdf_join(dataset->file, ":", dataset->path);
  if (!dataset->where) return ndr_fail(NDR_ERR_MEMORY, "%s:%s: out of memory", dataset->file, path);
  dataset->info.file = dataset->file;
  dataset->info.dataset = dataset->path;
  return NDR_OK;
}

/* Those of a table are none of its field's. Numbers can do without. */
static ndr_status describe_units(ndr_h5_dataset *dataset) {
  bool malformed;
  if (!dataset->field && !ndr_hdf_find_text(dataset->id, "units", &dataset->units, &malformed)) {
    if (!malformed) return ndr_hdf_fail_late(dataset->where, "its attribute units cannot be read");
    ndr_remark(&dataset->remarks, "%s: its attribute units cannot be read", dataset->where);
  }
  dataset->info.units = dataset->units;
  return NDR_OK;
}

ndr_status ndr_hdf_describe(ndr_h5_dataset *dataset, const char *path) {
  NDR_TRY(describe_name(dataset, path));
  NDR_TRY(describe_storage(dataset));
  NDR_TRY(describe_attributes(dataset));
  NDR_TRY(ndr_hdf_name_dims(dataset));
  NDR_TRY(describe_units(dataset));
  NDR_TRY(describe_bytes(dataset));
  NDR_TRY(describe_type(dataset));
  NDR_TRY(ndr_hdf_check_size(dataset));
  return check_extent(dataset);
}

ndr_status ndr_hdf_describe_data(ndr_h5_dataset *dataset, const char *path) {
  NDR_TRY(ndr_hdf_describe(dataset, path));
  if (!dataset->bare) return NDR_OK;
  return ndr_fail(NDR_ERR_DTYPE, "%s: is a netCDF dimension of size %lld without coordinates, not data", dataset->where,
                  (long long)dataset->info.shape[0]);
}

bool ndr_hdf_is_short(const ndr_h5_dataset *dataset) {
  for (int d = 0; d < dataset->info.ndim; d++)
    if (dataset->stored[d] < dataset->extent[d]) return true;
  return false;
}

int64_t ndr_hdf_present(const ndr_h5_dataset *dataset, int d, int64_t from, int64_t size) {
  int64_t step = dataset->step[d], left = dataset->stored[d] - from;
  int64_t count = left <= 0 ? 0 : (left - 1) / step + 1;
  return count < size ? count : size;
}

void ndr_hdf_forget(ndr_h5_dataset *dataset) {
  free(dataset->path);
  free(dataset->where);
  free(dataset->filters);
  free(dataset->field);
  free(dataset->units);
  dataset->path = dataset->where = dataset->filters = dataset->field = dataset->units = NULL;
  for (int d = 0; d < NDR_MAX_DIMS; d++) {
    free(dataset->names[d]);
    free(dataset->scales[d]);
    dataset->names[d] = dataset->scales[d] = NULL;
  }
  dataset->elements = NULL;
  memset(&dataset->info, 0, sizeof dataset->info);
}
