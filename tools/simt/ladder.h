/* The ladder's kernels under emulation. */
#ifndef SIMT_LADDER_H
#define SIMT_LADDER_H

#include <stdint.h>

#include "../../kernels/ladder/job.h"
#include "count.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Runs a kernel over memory of the host, in an order as for simt_launch, and counts into *counts, which is set. In any
 * order but 0 a few blocks take turns. NULL, or what went wrong (static storage). */
const char *simt_ladder(ladder_kernel kernel, const ladder_job *job, uint64_t order, simt_counts *counts);

#ifdef __cplusplus
}
#endif
#endif
