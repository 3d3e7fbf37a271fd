/* How much memory is free on this machine, and what buffers may take of it where nobody says. */
#ifndef NDR_H5_RUN_FREE_MEMORY_H
#define NDR_H5_RUN_FREE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* A quarter of what is free, or NDR_LEAST_MEMORY if that is more. */
int64_t ndr_default_memory(void);

#define NDR_LEAST_MEMORY ((int64_t)64 << 20)

/* Bytes that are free to this process by what is told under `root`, which is "" but for the tests: /proc/meminfo, where
 * the machine's swap counts if `swap`, and the limits of its control groups, v1 and v2, of which pages of files count
 * as free. INT64_MAX where nothing is told. */
int64_t ndr_free_memory(const char *root, bool swap);

#endif
