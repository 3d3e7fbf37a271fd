/* Writes the elements of a dataset whose chunks are deflated: several threads compress them, outside HDF5. */
#ifndef NDR_H5_WRITE_DEFLATE_CHUNKS_H
#define NDR_H5_WRITE_DEFLATE_CHUNKS_H

#include "h5/file/hdf.h"

/* Writes all elements of a dataset. data: the elements, row by row, of memory_type; threads: at most so many, 0 for
 * ndr_thread_count(). The bytes written do not depend on the number of threads. Returns false if H5Dwrite has to write
 * the elements, which it may do whatever has been written: for other filters than deflate and shuffle, another type in
 * the file, less than 1 MiB, chunks beyond 32 MiB, no libdeflate, no memory. Called inside the lock. */
bool ndr_deflate_chunks(hid_t dataset, hid_t memory_type, const void *data, int threads);

/* The same of a box of the dataset, of any size. Positive: it is written. 0: nothing is, and H5Dwrite has to write it,
 * as where the box has parts of chunks. Negative: writing failed. */
int ndr_deflate_box(hid_t dataset, hid_t memory_type, const int64_t *begin, const int64_t *size, const void *data,
                    int threads);

#endif
