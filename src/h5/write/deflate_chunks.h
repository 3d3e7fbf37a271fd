/* Writes the elements of a dataset whose chunks are shuffled and deflated: compressed by several threads outside HDF5.
 */
#ifndef NDR_H5_WRITE_DEFLATE_CHUNKS_H
#define NDR_H5_WRITE_DEFLATE_CHUNKS_H

#include "h5/file/hdf.h"

/* Writes all elements, which are in memory as in the file, row by row. False where that is HDF5's to do, as H5Dwrite
 * then does whatever has been written: other filters, elements to be converted, few of them, no libdeflate, no memory.
 * What is written does not depend on the number of threads. */
bool ndr_deflate_chunks(hid_t dataset, hid_t memory_type, const void *data, int threads);

#endif
