/* What the planner's files for problems that read several arrays share (operands.h). Array 0 is the problem's own;
 * array k + 1 is operand k. */
#ifndef NDR_GPUPLAN_OPERAND_ARRAYS_H
#define NDR_GPUPLAN_OPERAND_ARRAYS_H

#include "gpuplan/launch.h"

/* Bytes that a thread of each block of a multiprocessor has in flight, together, to be at the memory's speed. */
enum { NDR_ENOUGH_BYTES = 256 };

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

/* Bytes that come from memory for a chunk that is read in these ways. */
int ndr_fresh_bytes(const ndr_canonical *problem, unsigned ways, int elements);

/* Registers that a chunk takes that is read in these ways. */
int ndr_chunk_registers(const ndr_canonical *problem, unsigned ways, int elements);

/* Whether an array that comes from memory is shifted into place. */
bool ndr_shifts_fresh(const ndr_canonical *problem, unsigned ways);

/* Rows of `steps` chunks that a thread has in flight, as in kernels/program/chunks.cuh. */
int ndr_count_batch(const ndr_canonical *problem, unsigned ways, int elements, int steps);

/* Chunks of a row that are loaded together: of operands_columns all that a thread owns, else one. */
int ndr_row_chunks(const ndr_launch *launch);

/* Rows of these chunks that a thread of a launch has in flight: those of a batch, or all of a short run if these are
 * more. */
int ndr_rows_in_flight(const ndr_canonical *problem, const ndr_launch *launch);

/* Registers of an accumulator of all the problem's operators. */
int ndr_count_registers(const ndr_canonical *problem);

/* Whether a part of a program has weights. */
bool ndr_has_weights(const ndr_canonical *problem);

/* Registers that a thread could use that holds `accumulators`, of a launch whose operands are set. */
int ndr_operands_registers(const ndr_canonical *problem, const ndr_launch *launch, int accumulators);

/* Sets blocks, words and block_bytes of such a launch. */
void ndr_operands_begin(const ndr_canonical *problem, ndr_launch *launch, int accumulators);

/* Registers of a thread where a multiprocessor is to run so many blocks. */
static inline int ndr_block_registers(int blocks) {
  return (1 << 16) / NDR_THREADS / blocks / 8 * 8;
}

/* Columns of a thread that owns neighbouring outputs along the first kept axis: those of an aligned chunk of a word or
 * more, otherwise as many as a vector of the widest array holds, shifted into place; but accumulators of no more than
 * `registers`. */
int ndr_count_columns(const ndr_canonical *problem, bool on_boundary, int registers);

/* The smallest power of 2 that is at least `least`, but at most `most`, a power of 2. */
int ndr_power_from(int64_t least, int most);

#endif
