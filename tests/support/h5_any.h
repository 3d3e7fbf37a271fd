/* Datasets made for tests, and reductions of them held against the oracle or another device. */
#ifndef TEST_SUPPORT_H5_ANY_H
#define TEST_SUPPORT_H5_ANY_H

#include <hdf5.h>

#include "ndreduce/h5.h"
#include "support/cases.h"

/* A new file with the dataset /x of a compact array; without data nothing is written. */
void h5_write(const char *path, const DLTensor *tensor, ndr_dtype dtype, hid_t creation);

/* The problem of reducing a dataset; valid until the thread's next call. */
ndr_problem *h5_problem(const ndr_h5_dataset *dataset, int dim_count, const int *dims, int op_count, const ndr_op *ops);

/* A dataset of any dtype, layout and filters at path, of at most so many elements, reduced over any dims as `how` says
 * within `memory`, is what the oracle says of the array. NDR_ERR_MEMORY is accepted below 1 MiB. Where options can be
 * expensive, `plain` leaves them out. */
void h5_check_any(rng *random, const char *path, int64_t most, bool plain, const ndr_h5_options *how, int64_t memory);

/* An i16 dataset with a missing value, in chunks with shuffle and deflate, [24,18,40]; its dim 0 has no valid element
 * at [.,3,5]. */
void h5_write_packed(const char *path);

/* The results of ops over dims as `how` says are those of the CPU, to the bit, or for those that round within what
 * adding in another order does to sums. Twice as `how` says gives the same bits. */
void h5_check_same(ndr_h5_dataset *dataset, int dim_count, const int *dims, int op_count, const ndr_op *ops,
                   const ndr_h5_options *how);

/* Both ways give the same bits. */
void h5_check_bits(ndr_h5_dataset *dataset, int dim_count, const int *dims, int op_count, const ndr_op *ops,
                   const ndr_h5_options *one, const ndr_h5_options *other);

/* h5_check_same for every dataset of a file whose elements have at most so many bytes, over all dims, each dim, and the
 * first and last; returns how many there were. */
int h5_check_file(const char *file, int64_t most_bytes, int op_count, const ndr_op *ops, const ndr_h5_options *how);

#endif
