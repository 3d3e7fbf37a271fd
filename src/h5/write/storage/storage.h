/* How a result is stored: chunks, compression, fill value. */
#ifndef NDR_H5_WRITE_STORAGE_H
#define NDR_H5_WRITE_STORAGE_H

#include "h5/file/dataset.h"

/* Whether the source is netCDF. netCDF has no bool; xarray writes bytes and the attribute dtype = "bool" instead. A
 * source that has such bytes counts as netCDF. */
bool ndr_storage_is_netcdf(const ndr_h5_dataset *source);

/* The type of a result in the file; close with H5Tclose. */
hid_t ndr_storage_type(const ndr_h5_dataset *source, ndr_dtype dtype);

/* Creates a dataset of the output, and the groups around it; close with H5Dclose. Negative where that fails. ndim 0
 * makes a scalar. Dims that are unlimited need chunks, which the dataset then has even if `creation` has none. */
hid_t ndr_storage_dataset(hid_t file, const char *name, hid_t type, int ndim, const hsize_t *size,
                          const bool *unlimited, hid_t creation);

/* Creates a dataset of the output that is no result, and writes its elements, of the same type in memory; nothing
 * where `data` is NULL. Close with H5Dclose; negative where that fails. */
hid_t ndr_storage_write(hid_t file, const char *name, hid_t type, int ndim, const hsize_t *size, const bool *unlimited,
                        const void *data);

/* What a result is created with; close with H5Pclose. from[i] is the source's dim that dim i of the
 * result was, or -1. deflate is a level, 0 for none, or -1: as the source is compressed, where the result is large
 * enough to gain by it. */
hid_t ndr_storage_create(const ndr_h5_dataset *source, const DLTensor *result, const int *from, int deflate);

/* The same of a result that is written block by block; cells[] are the extents of blocks along the dims of the source.
 * Chunks, which it has if it is compressed or a dim is unlimited, are whole parts of the blocks, and so of chunks of
 * the source. */
hid_t ndr_storage_create_blocks(const ndr_h5_dataset *source, const DLTensor *result, const int *from, int deflate,
                                const int64_t *cells, const bool *unlimited);

/* As ndr_storage_write, of elements that are all of those selected of the source: compressed as a result would be. */
hid_t ndr_storage_copy(hid_t file, const char *name, hid_t type, const ndr_h5_dataset *source, const bool *unlimited,
                       int deflate, const void *data);

#endif
