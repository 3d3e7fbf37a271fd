/* See storage.h. What is written into the dataset is up to write.c and scales.c. */
#include "h5/write/storage/storage.h"

#include "h5/bytes/header.h"
#include "h5/file/dtype.h"
#include "h5/write/place.h"
#include "h5/write/scale/scales.h"

/* A chunk costs an entry in an index and a call of the filters, so it is not made smaller than this; and a reader holds
 * one in memory, so it is not larger than that. A result below LEAST is not compressed unless asked to. */
#define LEAST ((int64_t)64 << 10)
#define MOST ((int64_t)4 << 20)

/* As netCDF tools do where another filter was used, which compresses more but is not everywhere. */
enum { LEVEL = 4 };

/* Chunks that only an unlimited dim needs, which are not compressed: as netCDF has them for dims that it knows no
 * better for, at least a page, and at most what the library's cache of chunks holds. */
#define LEAST_OPEN ((int64_t)4 << 10)
#define MOST_OPEN ((int64_t)1 << 20)

bool ndr_storage_is_netcdf(const ndr_h5_dataset *source) {
  if (source->info.dtype == NDR_BOOL && source->info.stored_dtype != NDR_BOOL) return true;
  for (int d = 0; d < source->info.ndim; d++)
    if (source->scales[d]) return true;
  return ndr_header_has_attribute(source->file_id, "_NCProperties") > 0;
}

/* netCDF has neither f16 nor bf16, and some of its readers crash on them. */
hid_t ndr_storage_type(const ndr_h5_dataset *source, ndr_dtype dtype) {
  if (dtype == NDR_F16 || dtype == NDR_BF16) return H5Tcopy(H5T_NATIVE_FLOAT);
  return ndr_hdf_file_type(dtype == NDR_BOOL && ndr_storage_is_netcdf(source) ? NDR_I8 : dtype);
}

/* Times would make every run's file another. The order of attributes is kept as netCDF-4 keeps it, which also gives
 * datasets the newer object header: HDF5 keeps attributes of 64 KiB and more with no other. */
static hid_t make_properties(void) {
  hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  if (H5Pset_obj_track_times(creation, false) >= 0 &&
      H5Pset_attr_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) >= 0)
    return creation;
  if (creation >= 0) H5Pclose(creation);
  return H5I_INVALID_HID;
}

static bool write_elements(hid_t dataset, hid_t type, const void *data) {
  return dataset >= 0 && (!data || H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
}

/* ---- Dims that may grow ------------------------------------------------------------------------------------------ */

static int64_t chunk_bytes(int ndim, const hsize_t *chunk, int64_t bytes) {
  for (int d = 0; d < ndim; d++)
    if (__builtin_mul_overflow(bytes, chunk[d], &bytes)) return INT64_MAX;
  return bytes;
}

static void halve(int ndim, hsize_t *chunk, int d, int64_t bytes, int64_t most) {
  while (chunk[d] > 1 && chunk_bytes(ndim, chunk, bytes) > most) chunk[d] = (chunk[d] + 1) / 2;
}

/* Chooses a chunk of few records with all of the other dims: unlimited dims are cut before others. */
static void choose_open_chunk(int ndim, const hsize_t *size, const bool *unlimited, int first, int64_t bytes,
                              hsize_t *chunk) {
  for (int d = 0; d < ndim; d++) chunk[d] = size[d] ? size[d] : 1;
  for (int fixed = 0; fixed < 2; fixed++)
    for (int d = 0; d < ndim; d++)
      if (unlimited[d] != fixed) halve(ndim, chunk, d, bytes, MOST_OPEN);
  int64_t all = chunk_bytes(ndim, chunk, bytes);
  if (all < LEAST_OPEN) chunk[first] = (hsize_t)(LEAST_OPEN / (all / (int64_t)chunk[first]));
}

hid_t ndr_storage_dataset(hid_t file, const char *name, hid_t type, int ndim, const hsize_t *size,
                          const bool *unlimited, hid_t creation) {
  hsize_t most[NDR_MAX_DIMS], chunk[NDR_MAX_DIMS];
  int64_t bytes = (int64_t)H5Tget_size(type);
  int first = ndim;
  if (bytes == 0) return H5I_INVALID_HID;
  for (int d = ndim - 1; d >= 0; d--) {
    most[d] = unlimited[d] ? H5S_UNLIMITED : size[d];
    if (unlimited[d]) first = d;
  }
  if (first < ndim && H5Pget_layout(creation) != H5D_CHUNKED) {
    choose_open_chunk(ndim, size, unlimited, first, bytes, chunk);
    if (H5Pset_chunk(creation, ndim, chunk) < 0) return H5I_INVALID_HID;
  }
  hid_t space = ndim ? H5Screate_simple(ndim, size, most) : H5Screate(H5S_SCALAR);
  hid_t dataset = H5I_INVALID_HID;
  if (ndr_place_make_groups(file, name))
    dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  if (space >= 0) H5Sclose(space);
  return dataset;
}

hid_t ndr_storage_write(hid_t file, const char *name, hid_t type, int ndim, const hsize_t *size, const bool *unlimited,
                        const void *data) {
  hid_t creation = make_properties(), dataset = H5I_INVALID_HID;
  if (creation < 0) return dataset;
  dataset = ndr_storage_dataset(file, name, type, ndim, size, unlimited, creation);
  H5Pclose(creation);
  if (write_elements(dataset, type, data)) return dataset;
  if (dataset >= 0) H5Dclose(dataset);
  return H5I_INVALID_HID;
}

/* ---- Chunks and compression ------------------------------------------------------------------------------------- */

typedef struct {
  bool compressed, checked;
  int level;
  bool failed; /* it cannot be read */
} pipeline;

static pipeline read_pipeline(hid_t dataset) {
  pipeline p = {false, false, LEVEL, false};
  hid_t creation = H5Dget_create_plist(dataset);
  int count = H5Pget_nfilters(creation);
  p.failed = creation < 0 || count < 0;
  for (int i = 0; i < count; i++) {
    unsigned flags, config, level = LEVEL;
    size_t values = 1;
    H5Z_filter_t filter = H5Pget_filter2(creation, (unsigned)i, &flags, &values, &level, 0, NULL, &config);
    if (filter < 0) p.failed = true;
    if (filter == H5Z_FILTER_FLETCHER32) p.checked = true;
    if (filter != H5Z_FILTER_FLETCHER32 && filter != H5Z_FILTER_SHUFFLE) p.compressed = true;
    if (filter == H5Z_FILTER_DEFLATE && values == 1 && level >= 1 && level <= 9) p.level = (int)level;
  }
  if (creation >= 0) H5Pclose(creation);
  return p;
}

/* The source's chunks on the dims that are left, grown from the last dim on while they are small, and halved from the
 * first dim on while they are large. No product here exceeds the bytes of the result. */
static void choose_chunk(const ndr_h5_info *source, const DLTensor *result, const int *from, hsize_t *chunk) {
  int ndim = result->ndim;
  int64_t bytes = result->dtype.bits / 8;
  for (int d = 0; d < ndim; d++) {
    int64_t size = result->shape[d], unit = size;
    if (ndr_scales_is_kept(from[d]) && source->layout == NDR_H5_CHUNKED) unit = source->chunk[from[d]];
    chunk[d] = (hsize_t)(unit < size ? unit : size);
  }
  for (int d = ndim - 1; d >= 0; d--)
    while (chunk[d] < (hsize_t)result->shape[d] && chunk_bytes(ndim, chunk, bytes) < LEAST)
      chunk[d] = 2 * chunk[d] < (hsize_t)result->shape[d] ? 2 * chunk[d] : (hsize_t)result->shape[d];
  for (int d = 0; d < ndim; d++) halve(ndim, chunk, d, bytes, MOST);
}

static pipeline choose_pipeline(const ndr_h5_dataset *source, const DLTensor *result, int deflate) {
  pipeline p = {deflate > 0, false, deflate, false};
  int64_t bytes = result->dtype.bits / 8;
  for (int d = 0; d < result->ndim; d++) bytes *= result->shape[d];
  if (deflate < 0 && bytes >= LEAST) p = read_pipeline(source->id);
  p.compressed = p.compressed && result->ndim > 0 && bytes > 0 && H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0;
  return p;
}

/* Returns `creation`, or closes it if that fails. */
static hid_t put_pipeline(hid_t creation, const pipeline *p, const DLTensor *result, const hsize_t *chunk) {
  if (creation < 0) return creation;
  bool good = !p->failed && H5Pset_chunk(creation, result->ndim, chunk) >= 0;
  if (good && p->compressed)
    good = (result->dtype.bits <= 8 || H5Pset_shuffle(creation) >= 0) &&
           H5Pset_deflate(creation, (unsigned)p->level) >= 0 && (!p->checked || H5Pset_fletcher32(creation) >= 0);
  if (good) return creation;
  H5Pclose(creation);
  return H5I_INVALID_HID;
}

hid_t ndr_storage_create(const ndr_h5_dataset *source, const DLTensor *result, const int *from, int deflate) {
  hid_t creation = make_properties();
  hsize_t chunk[NDR_MAX_DIMS];
  const pipeline p = choose_pipeline(source, result, deflate);
  if (creation < 0 || (!p.compressed && !p.failed)) return creation;
  choose_chunk(&source->info, result, from, chunk);
  return put_pipeline(creation, &p, result, chunk);
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

/* The smallest divisor of `whole` that is greater than `part`, a divisor, or under `less` the greatest that is
 * smaller. */
static int64_t next_divisor(int64_t whole, int64_t part, bool less) {
  int64_t step = less ? -1 : 1;
  for (part += step; part > 1 && part < whole && whole % part != 0;) part += step;
  return part;
}

/* Begins with the source's chunks, or where it has none with whole blocks. Small ones grow from the last dim on, and
 * large ones shrink from the first, in both cases to divisors of the blocks. */
static void choose_block_chunk(const ndr_h5_info *source, const DLTensor *result, const int *from, const int64_t *cells,
                               hsize_t *chunk) {
  int ndim = result->ndim;
  int64_t bytes = result->dtype.bits / 8, cell[NDR_MAX_DIMS] = {0};
  for (int d = 0; d < ndim; d++) {
    bool kept = ndr_scales_is_kept(from[d]);
    int64_t size = result->shape[d] > 0 ? result->shape[d] : 1;
    cell[d] = kept && cells[from[d]] > 0 && cells[from[d]] < size ? cells[from[d]] : size;
    int64_t unit = kept && source->layout == NDR_H5_CHUNKED ? source->chunk[from[d]] : cell[d];
    bool divides = unit <= size && (cell[d] % unit == 0 || cell[d] == size);
    chunk[d] = (hsize_t)(divides ? unit : cell[d]);
  }
  for (int d = ndim - 1; d >= 0; d--)
    while (chunk[d] < (hsize_t)cell[d] && chunk_bytes(ndim, chunk, bytes) < LEAST)
      chunk[d] = (hsize_t)next_divisor(cell[d], (int64_t)chunk[d], false);
  for (int d = 0; d < ndim; d++)
    while (chunk[d] > 1 && chunk_bytes(ndim, chunk, bytes) > MOST)
      chunk[d] = (hsize_t)next_divisor(cell[d], (int64_t)chunk[d], true);
}

/* HDF5 would fill contiguous elements before their blocks come. What lies behind the end of a chunked dataset it must
 * fill, as nothing else does. */
hid_t ndr_storage_create_blocks(const ndr_h5_dataset *source, const DLTensor *result, const int *from, int deflate,
                                const int64_t *cells, const bool *unlimited) {
  hid_t creation = make_properties();
  hsize_t chunk[NDR_MAX_DIMS] = {0};
  const pipeline p = choose_pipeline(source, result, deflate);
  bool chunked = p.compressed || p.failed;
  for (int d = 0; d < result->ndim; d++) chunked |= unlimited[d];
  if (creation < 0) return creation;
  choose_block_chunk(&source->info, result, from, cells, chunk);
  if (chunked) return put_pipeline(creation, &p, result, chunk);
  if (H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER) >= 0) return creation;
  H5Pclose(creation);
  return H5I_INVALID_HID;
}

hid_t ndr_storage_copy(hid_t file, const char *name, hid_t type, const ndr_h5_dataset *source, const bool *unlimited,
                       int deflate, const void *data) {
  int ndim = source->info.ndim, from[NDR_MAX_DIMS];
  hsize_t size[NDR_MAX_DIMS] = {0}, bytes = H5Tget_size(type);
  H5T_class_t kind = H5Tget_class(type);
  int64_t shape[NDR_MAX_DIMS];
  for (int d = 0; d < ndim; d++) {
    from[d] = d;
    shape[d] = source->info.shape[d];
    size[d] = (hsize_t)shape[d];
  }
  bool numbers = (kind == H5T_INTEGER || kind == H5T_FLOAT) && bytes <= sizeof(double);
  DLTensor copy = {.ndim = ndim, .shape = shape, .dtype = {.bits = (uint8_t)(numbers ? 8 * bytes : 8), .lanes = 1}};
  if (!numbers || chunk_bytes(ndim, size, (int64_t)bytes) < LEAST)
    return ndr_storage_write(file, name, type, ndim, size, unlimited, data);
  hid_t creation = ndr_storage_create(source, &copy, from, deflate);
  hid_t dataset = creation < 0 ? creation : ndr_storage_dataset(file, name, type, ndim, size, unlimited, creation);
  if (creation >= 0) H5Pclose(creation);
  if (write_elements(dataset, type, data)) return dataset;
  if (dataset >= 0) H5Dclose(dataset);
  return H5I_INVALID_HID;
}
