/* How many threads the CPU backend uses where its caller does not say. */
#ifndef NDR_CPU_THREADS_H
#define NDR_CPU_THREADS_H

#include "ndreduce/ndreduce.h"

#define NDR_MOST_THREADS 1024

/* Cores that control groups leave to a process: the least quota of the group that `membership` names, a file like
 * /proc/self/cgroup, and of the groups that it is in, below `root`, like /sys/fs/cgroup. 0 where there is no limit. */
int ndr_quota_cores(const char *membership, const char *root);

#endif
