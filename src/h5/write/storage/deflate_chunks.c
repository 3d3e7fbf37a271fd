/* See deflate_chunks.h. HDF5 compresses with zlib, one chunk after the other: for daily means that took longer than all
 * reading and reducing. libdeflate takes a third of zlib's time, and here each core compresses chunks. */
#include "h5/write/storage/deflate_chunks.h"

#ifdef NDR_WITH_LIBDEFLATE

#include <libdeflate.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "h5/codec/planes.h"
#include "ndreduce/ndreduce.h"

/* Bytes of the elements that are compressed before HDF5 gets their chunks. */
#define BATCH_BYTES ((size_t)32 << 20)

/* Smaller datasets are not worth the threads. */
#define LEAST_BYTES ((size_t)1 << 20)

enum { MOST_OTHERS = 64 /* threads beside the one that calls */ };

typedef struct {
  int ndim, level;
  bool shuffle; /* before deflate */
  size_t element_bytes, chunk_bytes;
  hsize_t size[NDR_MAX_DIMS], chunk[NDR_MAX_DIMS];
  hsize_t low[NDR_MAX_DIMS], extent[NDR_MAX_DIMS]; /* the box that is written */
  int64_t along[NDR_MAX_DIMS], count;              /* its chunks along each dim, and in all */
} layout;

/* Chunks first .. first + count - 1. */
typedef struct {
  const layout *l;
  const char *data;
  int64_t first, count;
  atomic_llong next;
  size_t packed_room; /* of a chunk, at most */
  uint8_t *packed;
  size_t *packed_bytes; /* 0 of a chunk that could not be compressed */
} batch;

/* ---- Which datasets ---------------------------------------------------------------------------------------------- */

/* Whether the only filters are deflate, or shuffle and deflate; negative where they cannot be read. */
static int read_filters(hid_t creation, layout *l) {
  unsigned flags, config, values[8];
  int count = H5Pget_nfilters(creation);
  size_t value_count = 8;
  if (count < 1 || count > 2) return count < 0 ? -1 : 0;
  H5Z_filter_t first = H5Pget_filter2(creation, 0, &flags, &value_count, values, 0, NULL, &config);
  l->shuffle = count == 2;
  if (first < 0 || (l->shuffle && first != H5Z_FILTER_SHUFFLE)) return first < 0 ? -1 : 0;
  value_count = 8;
  H5Z_filter_t last = H5Pget_filter2(creation, (unsigned)count - 1, &flags, &value_count, values, 0, NULL, &config);
  l->level = (int)values[0];
  if (last < 0) return -1;
  return last == H5Z_FILTER_DEFLATE && value_count == 1 && l->level >= 1 && l->level <= 9;
}

/* Sets the box: all of the dataset where begin is NULL. False where it has parts of chunks. */
static bool take_box(layout *l, const int64_t *begin, const int64_t *size) {
  size_t bytes = l->chunk_bytes = l->element_bytes;
  l->count = 1;
  for (int d = 0; d < l->ndim; d++) {
    l->low[d] = begin ? (hsize_t)begin[d] : 0;
    l->extent[d] = begin ? (hsize_t)size[d] : l->size[d];
    hsize_t end = l->low[d] + l->extent[d];
    if (l->chunk[d] == 0 || l->extent[d] == 0 || l->low[d] % l->chunk[d] != 0) return false;
    if (end % l->chunk[d] != 0 && end != l->size[d]) return false;
    bytes *= l->extent[d];
    l->chunk_bytes *= l->chunk[d];
    l->along[d] = (int64_t)((l->extent[d] + l->chunk[d] - 1) / l->chunk[d]);
    l->count *= l->along[d];
  }
  return (begin || bytes >= LEAST_BYTES) && l->chunk_bytes <= BATCH_BYTES;
}

static int read_shape(hid_t dataset, hid_t creation, layout *l) {
  hid_t space = H5Dget_space(dataset);
  l->ndim = H5Sget_simple_extent_ndims(space);
  bool good = l->ndim >= 0 && H5Sget_simple_extent_dims(space, l->size, NULL) == l->ndim;
  if (space >= 0) H5Sclose(space);
  if (!good) return -1;
  H5D_layout_t kind = H5Pget_layout(creation);
  if (l->ndim == 0 || kind != H5D_CHUNKED) return kind < 0 ? -1 : 0;
  return H5Pget_chunk(creation, l->ndim, l->chunk) == l->ndim ? 1 : -1;
}

static int read_layout(hid_t dataset, hid_t memory_type, layout *l) {
  hid_t type = H5Dget_type(dataset), creation = H5Dget_create_plist(dataset);
  htri_t same = H5Tequal(type, memory_type);
  l->element_bytes = H5Tget_size(type);
  int fits = type < 0 || creation < 0 || same < 0 || l->element_bytes == 0 ? -1 : same > 0;
  if (fits > 0) fits = read_filters(creation, l);
  if (fits > 0) fits = read_shape(dataset, creation, l);
  if (creation >= 0) H5Pclose(creation);
  if (type >= 0) H5Tclose(type);
  return fits;
}

/* ---- One chunk --------------------------------------------------------------------------------------------------- */

static void chunk_begin(const layout *l, int64_t i, hsize_t *begin) {
  for (int d = l->ndim - 1; d >= 0; i /= l->along[d--]) begin[d] = l->low[d] + (hsize_t)(i % l->along[d]) * l->chunk[d];
}

/* The chunk's elements in its own order. What lies beyond the dataset's end is 0. */
static void gather(const layout *l, const char *data, int64_t i, uint8_t *out) {
  hsize_t begin[NDR_MAX_DIMS], has[NDR_MAX_DIMS], at[NDR_MAX_DIMS] = {0};
  int last = l->ndim - 1;
  bool whole = true;
  chunk_begin(l, i, begin);
  for (int d = 0; d < l->ndim; d++) {
    has[d] = l->size[d] - begin[d] < l->chunk[d] ? l->size[d] - begin[d] : l->chunk[d];
    whole = whole && has[d] == l->chunk[d];
  }
  if (!whole) memset(out, 0, l->chunk_bytes);
  for (int d = 0; d >= 0;) {
    size_t from = 0, to = 0;
    for (int e = 0; e < l->ndim; e++) {
      from = from * l->extent[e] + begin[e] - l->low[e] + at[e];
      to = to * l->chunk[e] + at[e];
    }
    memcpy(out + to * l->element_bytes, data + from * l->element_bytes, has[last] * l->element_bytes);
    for (d = last - 1; d >= 0 && ++at[d] == has[d]; d--) at[d] = 0;
  }
}

static void compress(batch *b, struct libdeflate_compressor *compressor, int64_t i, uint8_t *scratch) {
  const layout *l = b->l;
  uint8_t *elements = scratch, *shuffled = scratch + l->chunk_bytes;
  gather(l, b->data, b->first + i, elements);
  if (l->shuffle) ndr_part_bytes(elements, shuffled, l->chunk_bytes / l->element_bytes, l->element_bytes);
  b->packed_bytes[i] = libdeflate_zlib_compress(compressor, l->shuffle ? shuffled : elements, l->chunk_bytes,
                                                b->packed + (size_t)i * b->packed_room, b->packed_room);
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

static void *work(void *user) {
  batch *b = user;
  struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(b->l->level);
  uint8_t *scratch = malloc(2 * b->l->chunk_bytes);
  while (compressor && scratch) {
    int64_t i = atomic_fetch_add(&b->next, 1);
    if (i >= b->count) break;
    compress(b, compressor, i, scratch);
  }
  if (compressor) libdeflate_free_compressor(compressor);
  free(scratch);
  return NULL;
}

static void compress_all(batch *b, int threads) {
  pthread_t others[MOST_OTHERS];
  int started = 0;
  memset(b->packed_bytes, 0, (size_t)b->count * sizeof *b->packed_bytes);
  atomic_store(&b->next, 0);
  while (started < MOST_OTHERS && started < threads - 1 && started < b->count - 1 &&
         pthread_create(&others[started], NULL, work, b) == 0)
    started++;
  work(b);
  for (int i = 0; i < started; i++) pthread_join(others[i], NULL);
}

static bool write_all(hid_t dataset, const batch *b) {
  hsize_t begin[NDR_MAX_DIMS];
  for (int64_t i = 0; i < b->count; i++) {
    chunk_begin(b->l, b->first + i, begin);
    if (b->packed_bytes[i] == 0) ndr_hdf_noted(NULL); /* no memory to compress it: room for the result there is */
    if (b->packed_bytes[i] == 0 ||
        H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, begin, b->packed_bytes[i], b->packed + (size_t)i * b->packed_room) < 0)
      return false;
  }
  return true;
}

static int deflate(hid_t dataset, hid_t memory_type, const int64_t *begin, const int64_t *size, const void *data,
                   int threads) {
  layout l;
  int fits = read_layout(dataset, memory_type, &l);
  if (fits <= 0 || !take_box(&l, begin, size)) return fits < 0 ? -1 : 0;
  int64_t most = (int64_t)(BATCH_BYTES / l.chunk_bytes);
  batch b = {.l = &l, .data = data, .packed_room = libdeflate_zlib_compress_bound(NULL, l.chunk_bytes)};
  if (most > l.count) most = l.count;
  b.packed = ndr_hdf_noted(malloc((size_t)most * b.packed_room));
  b.packed_bytes = ndr_hdf_noted(malloc((size_t)most * sizeof *b.packed_bytes));
  bool good = b.packed && b.packed_bytes;
  for (; good && b.first < l.count; b.first += b.count) {
    b.count = l.count - b.first < most ? l.count - b.first : most;
    compress_all(&b, threads > 0 ? threads : ndr_thread_count());
    good = write_all(dataset, &b);
  }
  free(b.packed);
  free(b.packed_bytes);
  return good ? 1 : -1;
}

bool ndr_deflate_chunks(hid_t dataset, hid_t memory_type, const void *data, int threads) {
  return deflate(dataset, memory_type, NULL, NULL, data, threads) > 0;
}

int ndr_deflate_box(hid_t dataset, hid_t memory_type, const int64_t *begin, const int64_t *size, const void *data,
                    int threads) {
  return deflate(dataset, memory_type, begin, size, data, threads);
}

#else

bool ndr_deflate_chunks(hid_t dataset, hid_t memory_type, const void *data, int threads) {
  (void)dataset, (void)memory_type, (void)data, (void)threads;
  return false;
}

int ndr_deflate_box(hid_t dataset, hid_t memory_type, const int64_t *begin, const int64_t *size, const void *data,
                    int threads) {
  (void)dataset, (void)memory_type, (void)begin, (void)size, (void)data, (void)threads;
  return 0;
}

#endif
