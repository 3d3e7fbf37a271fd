/* How much memory is free on this machine, and how much of it buffers take by default. */
#ifndef NDR_H5_RUN_FREE_MEMORY_H
#define NDR_H5_RUN_FREE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* What each of the processes that share this machine takes: its share of a quarter of what is free, but at least
 * NDR_LEAST_MEMORY. */
int64_t ndr_default_memory(int processes);

#define NDR_LEAST_MEMORY ((int64_t)64 << 20)

/* The bytes that are free to this process, by the files under `root`, which is "" except in tests: /proc/meminfo, where
 * swap space counts if `swap`, and the limits of its control groups, where pages of files count as free. INT64_MAX if
 * there are no such files. */
int64_t ndr_free_memory(const char *root, bool swap);

#endif
