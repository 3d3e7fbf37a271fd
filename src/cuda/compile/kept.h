/* Machine code of compiled kernels, kept on disk for later processes: $NDREDUCE_CACHE if it is set, and nowhere if that
 * is empty; else $XDG_CACHE_HOME/ndreduce, else ~/.cache/ndreduce. What cannot be kept or found is no error: it is
 * compiled again. Nothing is printed. */
#ifndef NDR_CUDA_KEPT_H
#define NDR_CUDA_KEPT_H

#include <stddef.h>

/* The most bytes that the folder keeps. Beyond them the files that were not used for longest are removed. */
#define NDR_CUDA_KEPT_BYTES ((size_t)64 << 20)

/* What was kept under the key, a text that says all that the code depends on. Free it; NULL where there is nothing. */
void *ndr_cuda_kept_read(const char *key, size_t *bytes);

/* Keeps code under the key, for as long as the folder has room. */
void ndr_cuda_kept_write(const char *key, const void *code, size_t bytes);

/* A hash of bytes, which is no cryptographic one. */
unsigned long long ndr_cuda_hash(unsigned long long seed, const void *data, size_t bytes);

#endif
