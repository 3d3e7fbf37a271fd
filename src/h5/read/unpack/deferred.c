/* Unpacking that is deferred until elements are reduced. For a GPU whole chunks may be handed on, still shuffled: then
 * no more is copied to it than the file has, and the cores do nothing but read and decode. Reading is in route_*.c. */
#include <string.h>

#include "h5/file/seam.h"
#include "h5/read/route/route.h"

/* Whether the first filter is HDF5's shuffle over whole elements, which is what a GPU can undo. */
static bool is_shuffled(const ndr_reader *reader) {
  const ndr_filter *first = &reader->filters.all[0];
  int64_t element = ndr_stored_bytes(reader);
  return reader->filters.count > 0 && first->id == H5Z_FILTER_SHUFFLE && first->value_count == 1 && element > 1 &&
         first->values[0] == element;
}

/* Whether chunks are more than runs of the dataset's rows, so that they have to be taken apart. */
static bool are_taken_apart(const ndr_h5_dataset *dataset) {
  for (int d = 1; d < dataset->info.ndim; d++)
    if (dataset->info.chunk[d] != dataset->info.shape[d] || dataset->from[d] != 0) return true;
  return false;
}

/* Whether the selected elements are not neighbours in the file: they lie a step apart, or on two sides of a seam. */
static bool takes_steps(const ndr_h5_dataset *dataset) {
  for (int d = 0; d < dataset->info.ndim; d++)
    if (dataset->step[d] != 1 || ndr_has_seam(dataset, d)) return true;
  return false;
}

void ndr_reader_defer(ndr_reader *reader) {
  reader->deferred = reader->unpack;
  reader->unpack = (ndr_unpack)NDR_UNPACK_INIT(reader->deferred.from);
  if (reader->route != NDR_ROUTE_CHUNKS || takes_steps(reader->dataset) || ndr_hdf_is_short(reader->dataset)) return;
  reader->shuffled = is_shuffled(reader);
  reader->hands_on = reader->shuffled || are_taken_apart(reader->dataset);
}

int64_t ndr_reader_bytes(const ndr_reader *reader, ndr_box box) {
  int64_t bytes = reader->whole ? reader->chunk_bytes : (int64_t)ndr_dtype_bytes(reader->unpack.to);
  for (int d = 0; d < reader->dataset->info.ndim; d++) {
    if (box.size[d] == 0) return 0;
    bytes *= reader->whole ? ndr_chunks_along(reader, box, d) : box.size[d];
  }
  return bytes;
}

bool ndr_reader_defers(const ndr_reader *reader) {
  return reader->whole || !ndr_unpack_copies(&reader->deferred);
}

ndr_stored ndr_reader_deferred(const ndr_reader *reader, ndr_box box) {
  const ndr_h5_dataset *dataset = reader->dataset;
  const ndr_unpack *u = &reader->deferred;
  ndr_stored stored = NDR_STORED_INIT(u->from);
  stored.result = u->to;
  stored.swapped = u->swap;
  stored.shuffled = reader->whole && reader->shuffled;
  stored.ndim = dataset->info.ndim;
  for (int d = 0; d < stored.ndim; d++) {
    stored.shape[d] = box.size[d];
    stored.chunk[d] = reader->whole ? dataset->info.chunk[d] : box.size[d] > 0 ? box.size[d] : 1;
    stored.lead[d] = reader->whole ? (dataset->from[d] + box.begin[d]) % stored.chunk[d] : 0;
  }
  stored.scaled = u->scaled;
  stored.scale = u->scale;
  stored.offset = u->offset;
  if (!u->masked) return stored;
  stored.missing_count = u->missing_count;
  memcpy(stored.missing, u->missing, sizeof stored.missing);
  stored.ranged = u->ranged;
  stored.least = u->least;
  stored.most = u->most;
  return stored;
}
