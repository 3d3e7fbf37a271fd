/* See reader.h: chooses the route. The routes are in route_file.c, route_chunks.c and route_library.c. */
#include "h5/read/route/reader.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "h5/bytes/raw.h"
#include "h5/find/field.h"
#include "h5/read/route/route.h"

/* Bytes that stay in the second-level cache from reading to gathering, and beside which a system call costs little.
 * Each thread has a buffer of this size, so a small budget takes a smaller one. */
#define SPAN ((int64_t)1 << 20)
#define SPANS 64
#define LEAST_SPAN 64

/* A table of a million chunks takes 24 MB. */
#define TABLES 16

static const char convert[] = "its elements are of a form that only HDF5 converts";

/* False where the file that holds the dataset has no descriptor. */
static bool find_file(ndr_reader *reader) {
  struct stat facts;
  reader->fd = ndr_raw_descriptor(reader->dataset->id);
  if (reader->fd < 0 || fstat(reader->fd, &facts) != 0) return false;
  reader->file_bytes = (int64_t)facts.st_size;
  return true;
}

/* Whether the data lie at one place of the file, which is then handed to pread. */
static const char *try_file(ndr_reader *reader) {
  const ndr_h5_dataset *dataset = reader->dataset;
  if (dataset->info.layout != NDR_H5_CONTIGUOUS) return "";
  if (!reader->unpack.direct) return convert;
  haddr_t address = H5Dget_offset(dataset->id);
  if (address == HADDR_UNDEF || address > INT64_MAX || !find_file(reader))
    return "HDF5 does not say where its data are";
  reader->address = (int64_t)address;
  reader->route = NDR_ROUTE_FILE;
  return "";
}

/* HDF5 would read zeros beyond the end of a file that has been cut off. */
static ndr_status check_end(const ndr_reader *reader) {
  const ndr_h5_dataset *dataset = reader->dataset;
  int64_t bytes = ndr_stored_bytes(reader);
  for (int d = 0; d < dataset->info.ndim; d++) bytes *= dataset->extent[d];
  if (reader->route != NDR_ROUTE_FILE || reader->address <= reader->file_bytes - bytes) return NDR_OK;
  return ndr_fail(NDR_ERR_FILE, "%s: cannot be read: the file ends before its data do", dataset->where);
}

static const char *try_chunks(ndr_reader *reader, hid_t creation) {
  const ndr_h5_dataset *dataset = reader->dataset;
  const char *filter;
  if (dataset->info.layout != NDR_H5_CHUNKED) return "";
  if (!reader->unpack.direct) return convert;
  if (ndr_filters_read(creation, &reader->filters) != NDR_OK) return "its filters cannot be read";
  if (!ndr_filters_known(&reader->filters, &filter)) return filter;
  reader->chunk_bytes = ndr_stored_bytes(reader);
  for (int d = 0; d < dataset->info.ndim; d++)
    if (__builtin_mul_overflow(reader->chunk_bytes, dataset->info.chunk[d], &reader->chunk_bytes))
      return "its chunks are too large";
#if H5_VERSION_GE(1, 10, 0)
  unsigned options = 0;
  if (H5Pget_chunk_opts(creation, &options) < 0) return "its chunk options cannot be read";
  reader->bare_edges = (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) != 0;
#endif
  reader->route = NDR_ROUTE_CHUNKS;
  if (find_file(reader)) reader->table = calloc(1, sizeof *reader->table);
  return "";
}

static ndr_status open_inside(ndr_reader *reader, bool defer) {
  const ndr_h5_dataset *dataset = reader->dataset;
  hid_t creation = H5Dget_create_plist(dataset->id);
  if (creation < 0) return ndr_hdf_fail(NDR_ERR_FILE, dataset->where, "its layout cannot be read");
  reader->reason = dataset->info.layout == NDR_H5_CHUNKED ? try_chunks(reader, creation) : try_file(reader);
  H5Pclose(creation);
  NDR_TRY(check_end(reader));
  reader->memory_type = ndr_hdf_element_type(dataset);
  if (reader->memory_type < 0) return ndr_fail(NDR_ERR_FILE, "%s: HDF5 lacks a type for its elements", dataset->where);
  if (defer && reader->route != NDR_ROUTE_LIBRARY) ndr_reader_defer(reader);
  const ndr_unpack delivered = NDR_UNPACK_INIT(reader->unpack.from);
  NDR_TRY(ndr_hdf_fill(dataset, &delivered, reader->stored_fill));
  NDR_TRY(ndr_hdf_fill(dataset, &reader->unpack, reader->fill));
  ndr_unpack as_stored = NDR_UNPACK_INIT(reader->unpack.to);
  as_stored.swap = reader->deferred.swap;
  ndr_unpack_run(&as_stored, reader->fill, 1, reader->fill, 1);
  return NDR_OK;
}

ndr_status ndr_reader_open(ndr_reader *reader, const ndr_h5_dataset *dataset, bool as_f64, bool defer, int64_t memory) {
  ndr_hdf_scope scope;
  *reader = (ndr_reader){.dataset = dataset, .unpack = dataset->unpack, .route = NDR_ROUTE_LIBRARY, .fd = -1};
  reader->memory_type = H5I_INVALID_HID;
  reader->span = memory / SPANS < SPAN ? memory / SPANS : SPAN;
  if (reader->span < LEAST_SPAN) reader->span = LEAST_SPAN;
  reader->table_bytes = memory / TABLES;
  if (as_f64 && reader->unpack.to != NDR_F64) {
    reader->unpack.to = NDR_F64;
    reader->unpack.scaled = true;
  }
  ndr_hdf_enter(&scope, dataset->no_plugins);
  reader->deferred = (ndr_unpack)NDR_UNPACK_INIT(reader->unpack.to);
  ndr_status status = open_inside(reader, defer);
  ndr_hdf_leave(&scope);
  return status;
}

void ndr_reader_close(ndr_reader *reader) {
  ndr_hdf_scope scope;
  if (reader->table) ndr_chunk_table_clear(reader->table);
  free(reader->table);
  reader->table = NULL;
  if (reader->memory_type < 0) return;
  ndr_hdf_enter(&scope, false);
  H5Tclose(reader->memory_type);
  ndr_hdf_leave(&scope);
  reader->memory_type = H5I_INVALID_HID;
}

static int64_t times(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/* HDF5 has a filter's input, its output and the room that zlib's growing buffer takes at once, for one thread. */
static int64_t library_scratch(const ndr_reader *reader) {
  const ndr_h5_dataset *dataset = reader->dataset;
  int64_t bytes = dataset->source_chunk_bytes;
  if (dataset->info.layout == NDR_H5_CHUNKED && dataset->info.filters[0]) {
    bytes = (int64_t)dataset->element_bytes;
    for (int d = 0; d < dataset->info.ndim; d++) bytes = times(bytes, dataset->info.chunk[d]);
  }
  return times(bytes, 3);
}

int64_t ndr_reader_scratch_bytes(const ndr_reader *reader, int threads) {
  switch (reader->route) {
  case NDR_ROUTE_FILE: return times(ndr_file_scratch_bytes(reader), threads);
  case NDR_ROUTE_CHUNKS: return times(ndr_chunks_scratch_bytes(reader), threads);
  default: return library_scratch(reader);
  }
}

int64_t ndr_reader_pieces(const ndr_reader *reader, ndr_box box, int64_t *task) {
  *task = 1;
  for (int d = 0; d < reader->dataset->info.ndim; d++)
    if (box.size[d] == 0) return 0;
  switch (reader->route) {
  case NDR_ROUTE_FILE: return ndr_file_pieces(reader, box, task);
  case NDR_ROUTE_CHUNKS: return ndr_chunks_pieces(reader, box, task);
  default: return 1;
  }
}

static ndr_status set_up(ndr_reader_scratch *scratch, const ndr_reader *reader) {
  if (scratch->reader == reader) return NDR_OK;
  ndr_reader_scratch_clear(scratch);
  NDR_TRY(reader->route == NDR_ROUTE_FILE     ? ndr_file_set_up(reader, scratch)
          : reader->route == NDR_ROUTE_CHUNKS ? ndr_chunks_set_up(reader, scratch)
                                              : NDR_OK);
  scratch->reader = reader; /* else the next piece, of another slab, tries again */
  return NDR_OK;
}

ndr_status ndr_reader_read(const ndr_reader *reader, ndr_reader_scratch *scratch, ndr_box box, int64_t piece,
                           void *data) {
  NDR_TRY(set_up(scratch, reader));
  switch (reader->route) {
  case NDR_ROUTE_FILE: return ndr_file_read(reader, scratch, box, piece, data);
  case NDR_ROUTE_CHUNKS: return ndr_chunks_read(reader, scratch, box, piece, data);
  default: return ndr_library_read(reader, scratch, box, data);
  }
}

void ndr_reader_scratch_clear(ndr_reader_scratch *scratch) {
  ndr_decoder_destroy(scratch->decoder);
  free(scratch->stored);
  free(scratch->raw);
  scratch->decoder = NULL;
  scratch->stored = scratch->raw = NULL;
  scratch->holds = false;
  scratch->reader = NULL;
}
