/* Datasets made for tests, and reductions of them held against the oracle or another device. */
#ifndef TEST_SUPPORT_H5_ANY_H
#define TEST_SUPPORT_H5_ANY_H

#include <hdf5.h>

#include "ndreduce/h5.h"
#include "support/cases.h"

/* A new file with the dataset /x of a compact array; without data nothing is written. */
void h5_write(const char *path, const DLTensor *tensor, ndr_dtype dtype, hid_t creation);

/* The same in chunks of the shape `chunk`, or contiguous where that is NULL, opened. */
ndr_h5_dataset *h5_open_written(const char *path, const DLTensor *tensor, ndr_dtype dtype, const hsize_t *chunk);

/* A new folder for the files of one test: `h5_input` (in.h5) and `h5_output` (out.h5) are their paths, and neither file
 * is made. Removing it fails if it has other files than these two. */
extern char h5_folder[64], h5_input[96], h5_output[96];
void h5_make_folder(void);
void h5_remove_folder(void);

/* A file with a text, and the check that a file has just this one, of less than 64 bytes. */
void put_text(const char *path, const char *text);
void assert_holds(const char *path, const char *text);

/* The problem of reducing a dataset; valid until the thread's next call. */
ndr_problem *h5_problem(const ndr_h5_dataset *dataset, int dim_count, const int *dims, int op_count, const ndr_op *ops);

/* Counts the calls of on_progress, whose user it is, and keeps the last; cancels at number cancel_after, if that is not
 * 0. Checks that nothing goes back. */
typedef struct h5_watcher {
  int calls, cancel_after;
  ndr_h5_progress last;
} h5_watcher;
int h5_watch(void *user, const ndr_h5_progress *now);

/* Writes a random dataset of at most `most` elements to path, and chooses how to reduce it. */
void h5_write_any(rng *random, const char *path, int64_t most, ndr_problem *problem);

/* Writes a random dataset of at most `most` elements to path: any dtype, layout and filters. Reduces it over random
 * dims as `how` says, within `memory` bytes, and compares the results with the oracle. NDR_ERR_MEMORY is accepted below
 * 1 MiB. `plain` leaves out options that can be expensive. */
void h5_check_any(rng *random, const char *path, int64_t most, bool plain, const ndr_h5_options *how, int64_t memory);

/* An i16 dataset with a missing value, in chunks with shuffle and deflate, [24,18,40]; its dim 0 has no valid element
 * at [.,3,5]. */
void h5_write_packed(const char *path);

/* Makes an array for the result of each op of a problem, to be freed, and points to their tensors. */
void h5_make_results(const ndr_problem *problem, test_array *results, DLTensor **pointers);

/* Checks that the results of ops over dims as `how` says equal those of the CPU: to the bit, or, if the op rounds,
 * within the error of adding in another order. A second reduction as `how` says must give the same bits. */
void h5_check_same(ndr_h5_dataset *dataset, int dim_count, const int *dims, int op_count, const ndr_op *ops,
                   const ndr_h5_options *how);

/* Checks that `one` and `other` give the same bits. */
void h5_check_bits(ndr_h5_dataset *dataset, int dim_count, const int *dims, int op_count, const ndr_op *ops,
                   const ndr_h5_options *one, const ndr_h5_options *other);

/* Calls h5_check_same for every dataset of a file that has at most most_bytes bytes: over all dims, over each dim, and
 * over the first and last together. Returns how many datasets there were. */
int h5_check_file(const char *file, int64_t most_bytes, int op_count, const ndr_op *ops, const ndr_h5_options *how);

#endif
