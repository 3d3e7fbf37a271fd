/* What the planner's files for problems that read several arrays share (operands.h). Array 0 is the problem's own;
 * array k + 1 is operand k. */
#ifndef NDR_GPUPLAN_OPERAND_ARRAYS_H
#define NDR_GPUPLAN_OPERAND_ARRAYS_H

#include "gpuplan/launch.h"

enum { NDR_FLIGHT_BYTES = 64 /* of all arrays that a thread has in flight, as in kernels/chunks.cuh */ };

int ndr_count_arrays(const ndr_canonical *problem);

/* Bytes of an element of array k. */
int64_t ndr_array_bytes(const ndr_canonical *problem, int k);

int64_t ndr_stride_of(const ndr_axis *axis, int k);

/* The problem's axes, kept and reduced. */
int ndr_count_axes(const ndr_canonical *problem);

/* The axis along which runs lie: the first reduced one, or an axis of one element for problems that reduce none. */
const ndr_axis *ndr_run_axis(const ndr_canonical *problem);

/* The widest array whose neighbours along an axis lie side by side, or -1. It decides how many make a chunk. Where an
 * array as wide as that has gaps, chunks are single elements: neighbouring threads then read nearer to each other. */
int ndr_find_decider(const ndr_canonical *problem, const ndr_axis *along);

/* The most elements of a chunk that begins on a multiple of their number, whatever the run or row is. */
int ndr_aligned_elements(const ndr_canonical *problem, const ndr_axis *along);

/* The ways to read chunks of `elements` along an axis. peeled: chunks begin on boundaries of the array that decides,
 * wherever runs begin; otherwise runs begin on boundaries. Arrays that stay in place along `walked`, which may be NULL,
 * are NDR_WAY_FIXED. */
unsigned ndr_ways_along(const ndr_canonical *problem, const ndr_axis *along, const ndr_axis *walked, int elements,
                        bool peeled);

/* Bytes of a chunk of all arrays, but for those that are the same along it. */
int64_t ndr_chunk_bytes(const ndr_canonical *problem, const ndr_axis *along, int64_t elements);

/* Chunks that a thread has in flight, about as in kernels/chunks.cuh. */
int ndr_count_batch(const ndr_canonical *problem, const ndr_axis *along, int elements);

/* Blocks of the kernel that the device runs at a time. */
int64_t ndr_count_blocks(const ndr_device *device, ndr_kernel kernel);

/* Columns of a thread that owns neighbouring outputs along the first kept axis: as many as a vector of the widest array
 * holds, shifted into place unless all rows are aligned. */
int ndr_count_columns(const ndr_canonical *problem, bool on_boundary);

/* The smallest power of 2 that is at least `least`, but at most `most`, a power of 2. */
int ndr_power_from(int64_t least, int most);

static inline int64_t ndr_ceil_div(int64_t whole, int64_t by) {
  return (whole + by - 1) / by;
}

#endif
