/* Where the chunks of a dataset lie in its file, so that threads can read them outside HDF5's lock.
 *
 * H5Dchunk_iter tells all of them in one walk over the index. Where HDF5 lacks it (before 1.10.10, and 1.12 before
 * 1.12.3), H5Dget_chunk_info walks the index for each: that is worth it for few chunks only. */
#ifndef NDR_H5_READ_CHUNK_TABLE_H
#define NDR_H5_READ_CHUNK_TABLE_H

#include "h5/file/dataset.h"

/* bytes is 0 for a chunk that was never written. */
typedef struct ndr_chunk_place {
  int64_t address, bytes;
  uint32_t mask; /* of filters that were left out, as H5Dread_chunk gives it */
} ndr_chunk_place;

typedef struct ndr_chunk_table {
  bool made;               /* or found to be of no use */
  ndr_chunk_place *places; /* by the chunk's place in the grid, row-major; NULL: ask HDF5 for each chunk */
} ndr_chunk_table;

/* Inside the lock. Fills the table if that pays and takes at most `memory` bytes; a failure leaves it empty. */
void ndr_chunk_table_make(ndr_chunk_table *table, const ndr_h5_dataset *dataset, int64_t memory);

/* The chunk that begins at offset; NULL where the table is empty. */
const ndr_chunk_place *ndr_chunk_table_find(const ndr_chunk_table *table, const ndr_h5_dataset *dataset,
                                            const hsize_t *offset);

void ndr_chunk_table_clear(ndr_chunk_table *table);

#endif
