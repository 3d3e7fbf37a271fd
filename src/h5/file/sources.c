/* Datasets whose elements other files hold: external storage, and virtual datasets, whose sources may be virtual again.
 * A missing file reads as fill values, or as an error that does not name it, so all of them are looked at first. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "h5/file/links.h"

/* Sources that are virtual themselves, within each other; a dataset that is its own source has no end. */
#define MAX_DEPTH 8

/* Pieces that virtual datasets may have in all, so that a hostile one costs seconds at most. */
#define MAX_MAPPINGS 65536

enum { NAME_BYTES = 4096 };

static ndr_status fail_memory(void) {
  return ndr_fail(NDR_ERR_MEMORY, "out of memory");
}

/* ---- External storage ------------------------------------------------------------------------------------------- */

/* The name that HDF5 opens, to be freed: H5Pset_efile_prefix says how. */
static char *raw_path(const char *holder, const char *name) {
  static const char origin[] = "${ORIGIN}";
  const char *prefix = getenv("HDF5_EXTFILE_PREFIX");
  char path[2 * NAME_BYTES];
  if (name[0] == '/') return ndr_hdf_noted(strdup(name));
  if (!prefix || !*prefix) return ndr_links_beside(holder, false, name);
  if (strcmp(prefix, ".") == 0) return ndr_hdf_noted(strdup(name));
  bool beside = strncmp(prefix, origin, strlen(origin)) == 0;
  if (snprintf(path, sizeof path, "%s/%s", beside ? prefix + strlen(origin) : prefix, name) >= (int)sizeof path)
    return NULL;
  return beside ? ndr_links_beside(holder, false, path + strspn(path, "/")) : ndr_hdf_noted(strdup(path));
}

static ndr_status check_raw_file(ndr_links *links, const char *holder, const char *name, int64_t offset,
                                 int64_t bytes) {
  int64_t size = 0, end;
  char *path = raw_path(holder, name);
  if (!path && ndr_hdf_lacks_memory()) return fail_memory();
  if (!path) return ndr_fail(NDR_ERR_FILE, "has an external file whose name is too long");
  ndr_status status = ndr_links_permit_raw(links, path, &size);
  if (status == NDR_OK && (offset < 0 || __builtin_add_overflow(offset, bytes, &end) || end > size))
    status = ndr_fail(NDR_ERR_FILE, "needs %lld bytes from byte %lld of %s, which ends before", (long long)bytes,
                      (long long)offset, path);
  free(path);
  return status;
}

static ndr_status check_raw_files(ndr_links *links, hid_t dataset, hid_t creation, const char *holder) {
  hsize_t left = 0;
  int count = H5Pget_external_count(creation);
  if (count < 0 || (count > 0 && !ndr_hdf_storage_bytes(dataset, &left)))
    return ndr_hdf_fail(NDR_ERR_FILE, holder, "its list of external files cannot be read");
  for (int i = 0; i < count && left > 0; i++) {
    char name[NAME_BYTES] = "";
    off_t offset = 0;
    hsize_t bytes = 0;
    if (H5Pget_external(creation, (unsigned)i, sizeof name, name, &offset, &bytes) < 0 || name[sizeof name - 1])
      return ndr_fail(NDR_ERR_FILE, "has an external file that cannot be understood");
    if (bytes > left) bytes = left;
    if (bytes > INT64_MAX) return ndr_fail(NDR_ERR_OVERFLOW, "claims more than 2^63 bytes of an external file");
    NDR_TRY(check_raw_file(links, holder, name, (int64_t)offset, (int64_t)bytes));
    left -= bytes;
  }
  return left == 0 ? NDR_OK : ndr_fail(NDR_ERR_FILE, "is larger than its external files");
}

/* ---- Virtual datasets ------------------------------------------------------------------------------------------- */

/* One of the two names of a mapping, to be freed. */
static char *mapping_name(ssize_t (*get)(hid_t, size_t, char *, size_t), hid_t creation, size_t i) {
  ssize_t length = get(creation, i, NULL, 0);
  char *name = length < 0 ? NULL : ndr_hdf_noted(calloc(1, (size_t)length + 1));
  if (name && get(creation, i, name, (size_t)length + 1) < 0) name[0] = 0;
  return name;
}

static bool is_series(const char *name) {
  for (const char *c = strchr(name, '%'); c; c = strchr(c + 2, '%'))
    if (c[1] != '%') return c[1] == 'b';
  return false;
}

/* The name of block n of a series: %b is its number, %% a percent sign. */
static bool expand(const char *name, int n, char text[NAME_BYTES]) {
  size_t used = 0;
  for (const char *c = name; *c && used < NAME_BYTES; c++) {
    bool number = c[0] == '%' && c[1] == 'b';
    c += number || (c[0] == '%' && c[1] == '%');
    used += (size_t)(number ? snprintf(text + used, NAME_BYTES - used, "%d", n)
                            : snprintf(text + used, NAME_BYTES - used, "%c", *c));
  }
  if (used < NAME_BYTES) text[used] = 0;
  return used < NAME_BYTES;
}

static ndr_status check(ndr_links *links, hid_t dataset, int depth);

/* *found says whether there is such a file and such a dataset in it. */
static ndr_status check_source(ndr_links *links, hid_t holder, const char *holder_name, const char *file_name,
                               const char *dataset_name, int depth, bool *found) {
  hid_t file = holder;
  *found = false;
  if (links->mapping_count++ == MAX_MAPPINGS)
    return ndr_fail(NDR_ERR_FILE, "is a virtual dataset of more than %d pieces, which are not read", MAX_MAPPINGS);
  if (strcmp(file_name, ".") != 0) NDR_TRY(ndr_links_open(links, holder_name, file_name, NDR_LINK_SOURCE, &file));
  hid_t source = file < 0 ? H5I_INVALID_HID : H5Dopen2(file, dataset_name, links->access);
  NDR_TRY(links->status);
  if (source < 0) return NDR_OK;
  *found = true;
  ndr_status status = check(links, source, depth + 1);
  H5Dclose(source);
  return status;
}

/* A series ends before the first block that is not there. */
static ndr_status check_series(ndr_links *links, hid_t holder, const char *holder_name, const char *file_name,
                               const char *dataset_name, int depth) {
  char file[NAME_BYTES], dataset[NAME_BYTES];
  bool found = true;
  for (int n = 0; found; n++) {
    if (!expand(file_name, n, file) || !expand(dataset_name, n, dataset))
      return ndr_fail(NDR_ERR_FILE, "is a virtual dataset with a name that is too long");
    NDR_TRY(check_source(links, holder, holder_name, file, dataset, depth, &found));
  }
  return NDR_OK;
}

static ndr_status check_mapping(ndr_links *links, hid_t holder, const char *holder_name, const char *file_name,
                                const char *dataset_name, int depth) {
  if (is_series(file_name) || is_series(dataset_name))
    return check_series(links, holder, holder_name, file_name, dataset_name, depth);
  char file[NAME_BYTES], dataset[NAME_BYTES];
  bool found;
  if (!expand(file_name, 0, file) || !expand(dataset_name, 0, dataset))
    return ndr_fail(NDR_ERR_FILE, "is a virtual dataset with a name that is too long");
  NDR_TRY(check_source(links, holder, holder_name, file, dataset, depth, &found));
  if (found) return NDR_OK;
  return ndr_fail(NDR_ERR_FILE, "needs %s of %s, which does not exist", dataset,
                  strcmp(file, ".") == 0 ? holder_name : file);
}

static ndr_status check_mappings(ndr_links *links, hid_t holder, hid_t creation, const char *holder_name, int depth) {
  size_t count = 0;
  ndr_status status = NDR_OK;
  if (depth == MAX_DEPTH) return ndr_fail(NDR_ERR_FILE, "is virtual, of virtual datasets more than %d deep", MAX_DEPTH);
  if (H5Pget_virtual_count(creation, &count) < 0)
    return ndr_hdf_fail(NDR_ERR_FILE, "is a virtual dataset", "its sources cannot be understood");
  for (size_t i = 0; i < count && status == NDR_OK; i++) {
    char *file = mapping_name(H5Pget_virtual_filename, creation, i);
    char *dataset = mapping_name(H5Pget_virtual_dsetname, creation, i);
    if (file && dataset)
      status = check_mapping(links, holder, holder_name, file, dataset, depth);
    else if (ndr_hdf_lacks_memory())
      status = fail_memory();
    else
      status = ndr_fail(NDR_ERR_FILE, "is a virtual dataset whose sources cannot be understood");
    free(file);
    free(dataset);
  }
  return status;
}

/* ---- Both ------------------------------------------------------------------------------------------------------- */

/* HDF5 decodes a chunk of a source whole. */
static void note_chunk(ndr_links *links, hid_t dataset, hid_t creation) {
  hsize_t chunk[H5S_MAX_RANK];
  int ndim = H5Pget_layout(creation) == H5D_CHUNKED ? H5Pget_chunk(creation, H5S_MAX_RANK, chunk) : 0;
  if (ndim <= 0 || H5Pget_nfilters(creation) <= 0) return;
  hid_t type = H5Dget_type(dataset);
  int64_t bytes = (int64_t)H5Tget_size(type);
  H5Tclose(type);
  for (int d = 0; d < ndim; d++)
    if (chunk[d] > INT64_MAX || __builtin_mul_overflow(bytes, (int64_t)chunk[d], &bytes)) bytes = INT64_MAX;
  if (bytes > links->chunk_bytes) links->chunk_bytes = bytes;
}

static ndr_status check(ndr_links *links, hid_t dataset, int depth) {
  char holder_name[NAME_BYTES] = "";
  ndr_status status = NDR_OK;
  hid_t creation = H5Dget_create_plist(dataset), holder = H5Iget_file_id(dataset);
  ssize_t length = H5Fget_name(dataset, holder_name, sizeof holder_name);
  int external = H5Pget_external_count(creation);
  H5D_layout_t layout = H5Pget_layout(creation);
  if (creation < 0 || holder < 0 || length <= 0 || length >= (ssize_t)sizeof holder_name || external < 0 ||
      layout == H5D_LAYOUT_ERROR)
    status = ndr_hdf_fail(NDR_ERR_FILE, "has a layout", "it cannot be read");
  else if (external > 0 && depth > 0)
    /* With which prefix HDF5 opens the external files of a source depends on its version. */
    status = ndr_fail(NDR_ERR_FILE, "needs a dataset of %s whose data are in further files, which are not read",
                      holder_name);
  else if (external > 0)
    status = check_raw_files(links, dataset, creation, holder_name);
  else if (layout == H5D_VIRTUAL)
    status = check_mappings(links, holder, creation, holder_name, depth);
  else if (depth > 0)
    note_chunk(links, dataset, creation);
  if (creation >= 0) H5Pclose(creation);
  if (holder >= 0) H5Fclose(holder);
  return status;
}

ndr_status ndr_links_check(ndr_links *links, hid_t dataset) {
  links->status = NDR_OK;
  links->mapping_count = 0;
  links->chunk_bytes = 0;
  return check(links, dataset, 0);
}
