/* Ranks, as threads of one process, whose parts of an array or of a dataset are on GPUs: real or emulated ones. Rank r
 * has GPU r modulo the number of GPUs, which have to be of one kind. */
#ifndef TEST_SUPPORT_GPU_RANKS_H
#define TEST_SUPPORT_GPU_RANKS_H

#include "support/cases.h"

/* Cuts a random array of the dtype into parts, reduces them by ndreduce_parts, each on its rank's GPU and a stream of
 * its own, and holds the results against the oracle. Again, in another order of messages, gives the same bits, and so
 * do states that go from GPU to GPU as bytes. */
void gpu_ranks_check_arrays(rng *random, ndr_dtype dtype, int64_t most);

/* Writes a random dataset to path, and reduces it by one GPU, by several numbers of ranks, and in parts whose states
 * are merged: all give the same bits. */
void gpu_ranks_check_files(rng *random, const char *path, int64_t most);

/* The same of a dataset of floats of the dtype, whose pieces are of several slabs each. */
void gpu_ranks_check_stretches(rng *random, ndr_dtype dtype, const char *path);

#endif
