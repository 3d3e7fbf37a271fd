/* How many threads the CPU backend uses if its caller does not say. */
#ifndef NDR_CPU_THREADS_H
#define NDR_CPU_THREADS_H

#include "ndreduce/ndreduce.h"

#define NDR_MOST_THREADS 1024

/* The cores that control groups leave to a process: the least quota of its groups, which are found as ndr_visit_groups
 * says. 0: no limit. */
int ndr_quota_cores(const char *membership, const char *root);

#endif
