#include "h5/storage.h"

#include "h5/dtype.h"

/* A chunk costs an entry in an index and a call of the filters, so it is not made smaller than this; and a reader holds
 * one in memory, so it is not larger than that. A result below LEAST is not compressed unless asked to. */
#define LEAST ((int64_t)64 << 10)
#define MOST ((int64_t)4 << 20)

/* As netCDF tools do where another filter was used, which compresses more but is not everywhere. */
enum { LEVEL = 4 };

bool ndr_storage_is_netcdf(const ndr_h5_dataset *source) {
  for (int d = 0; d < source->info.ndim; d++)
    if (source->scales[d]) return true;
  return H5Aexists_by_name(source->file_id, "/", "_NCProperties", H5P_DEFAULT) > 0;
}

hid_t ndr_storage_type(const ndr_h5_dataset *source, ndr_dtype dtype) {
  return ndr_hdf_file_type(dtype == NDR_BOOL && ndr_storage_is_netcdf(source) ? NDR_I8 : dtype);
}

/* ---- Chunks and compression ------------------------------------------------------------------------------------- */

typedef struct {
  bool compressed, checked;
  int level;
} pipeline;

static pipeline read_pipeline(hid_t dataset) {
  pipeline p = {false, false, LEVEL};
  hid_t creation = H5Dget_create_plist(dataset);
  int count = H5Pget_nfilters(creation);
  for (int i = 0; i < count; i++) {
    unsigned flags, config, level = LEVEL;
    size_t values = 1;
    H5Z_filter_t filter = H5Pget_filter2(creation, (unsigned)i, &flags, &values, &level, 0, NULL, &config);
    if (filter == H5Z_FILTER_FLETCHER32) p.checked = true;
    if (filter != H5Z_FILTER_FLETCHER32 && filter != H5Z_FILTER_SHUFFLE) p.compressed = true;
    if (filter == H5Z_FILTER_DEFLATE && values == 1 && level >= 1 && level <= 9) p.level = (int)level;
  }
  H5Pclose(creation);
  return p;
}

static int64_t chunk_bytes(int ndim, const hsize_t *chunk, int64_t bytes) {
  for (int d = 0; d < ndim; d++) bytes *= (int64_t)chunk[d];
  return bytes;
}

/* The source's chunks on the dims that are left, grown from the last dim on while they are small, and halved from the
 * first dim on while they are large. No product here exceeds the bytes of the result. */
static void choose_chunk(const ndr_h5_info *source, const DLTensor *result, const int *from, hsize_t *chunk) {
  int ndim = result->ndim;
  int64_t bytes = result->dtype.bits / 8;
  for (int d = 0; d < ndim; d++) {
    int64_t size = result->shape[d], unit = size;
    if (from[d] >= 0 && source->layout == NDR_H5_CHUNKED) unit = source->chunk[from[d]];
    chunk[d] = (hsize_t)(unit < size ? unit : size);
  }
  for (int d = ndim - 1; d >= 0; d--)
    while (chunk[d] < (hsize_t)result->shape[d] && chunk_bytes(ndim, chunk, bytes) < LEAST)
      chunk[d] = 2 * chunk[d] < (hsize_t)result->shape[d] ? 2 * chunk[d] : (hsize_t)result->shape[d];
  for (int d = 0; d < ndim; d++)
    while (chunk[d] > 1 && chunk_bytes(ndim, chunk, bytes) > MOST) chunk[d] = (chunk[d] + 1) / 2;
}

hid_t ndr_storage_create(const ndr_h5_dataset *source, const DLTensor *result, const int *from, int deflate) {
  hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  hsize_t chunk[NDR_MAX_DIMS];
  int64_t bytes = result->dtype.bits / 8;
  for (int d = 0; d < result->ndim; d++) bytes *= result->shape[d];
  bool writable = result->ndim > 0 && bytes > 0 && H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0;
  pipeline p = {deflate > 0, false, deflate};
  if (deflate < 0 && bytes >= LEAST) p = read_pipeline(source->id);
  if (!writable || !p.compressed) return creation;
  choose_chunk(&source->info, result, from, chunk);
  if (H5Pset_chunk(creation, result->ndim, chunk) >= 0 && (result->dtype.bits <= 8 || H5Pset_shuffle(creation) >= 0) &&
      H5Pset_deflate(creation, (unsigned)p.level) >= 0 && (!p.checked || H5Pset_fletcher32(creation) >= 0))
    return creation;
  H5Pclose(creation);
  return H5I_INVALID_HID;
}
