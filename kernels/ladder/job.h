/* What ndbench's ladder asks for, in words that C, nvcc and the emulation share. */
#ifndef LADDER_JOB_H
#define LADDER_JOB_H

#ifdef __cplusplus
extern "C" {
#endif

/* POLYNOMIAL is a map-reduce: the value of a polynomial at each element, summed. */
typedef enum ladder_op { LADDER_SUM, LADDER_PROD, LADDER_MIN, LADDER_MAX, LADDER_POLYNOMIAL } ladder_op;
typedef enum ladder_dtype { LADDER_I32, LADDER_F32, LADDER_F64 } ladder_dtype;
enum { LADDER_OPS = 5, LADDER_DTYPES = 3 };

/* In this order: kernels that reduce an array to one value; that reduce a matrix to one value a row (COLUMNS: a
 * column); that make an array's prefix sums; that select elements of an array, or sort them; and from THRUST on those
 * of other libraries. */
typedef enum ladder_kernel {
  LADDER_ATOMIC_EACH,
  LADDER_ATOMIC_SHARED,
  LADDER_ONE_ADDS,
  LADDER_TREE_MODULO,
  LADDER_TREE_STRIDED,
  LADDER_TREE_SEQUENTIAL,
  LADDER_TWO_ON_LOAD,
  LADDER_OVERLAP,
  LADDER_LAST_WARP,
  LADDER_UNROLLED,
  LADDER_CASCADE,
  LADDER_SHUFFLE,
  LADDER_VECTOR,
  LADDER_RELAUNCH,
  LADDER_LAST_BLOCK,
  LADDER_THREAD_ROWS,
  LADDER_THREAD_COLUMNS,
  LADDER_BLOCK_ROWS,
  LADDER_BLOCK_PITCHED,
  LADDER_TILE,
  LADDER_TILE_PADDED,
  LADDER_TILE_WIDE,
  LADDER_HILLIS_STEELE,
  LADDER_SWEEPS,
  LADDER_SWEEPS_PADDED,
  LADDER_SCAN_SHUFFLE,
  LADDER_SCAN_SERIAL,
  LADDER_SCAN_PHASES,
  LADDER_LOOK_BACK,
  LADDER_LOOK_UP,
  LADDER_SELECT_ATOMIC,
  LADDER_SELECT_SCATTER,
  LADDER_SELECT_WARP,
  LADDER_SELECT_LOOK_UP,
  LADDER_QUICKSORT,
  LADDER_THRUST,
  LADDER_CUB_BLOCK,
  LADDER_CUB_DEVICE,
  LADDER_CUB_SEGMENTED,
  LADDER_CUB_SCAN,
  LADDER_CUB_SELECT,
  LADDER_CUB_SORT,
  LADDER_KERNELS
} ladder_kernel;

/* A row-major matrix, `pitch` elements from a row to the next; an array is one row. Pointers are the device's. */
typedef struct ladder_job {
  ladder_op op;
  ladder_dtype dtype;
  int block;   /* threads: a power of two from 64 to 1024 */
  int overlap; /* elements a thread, for the rungs that have it as a number of their own */
  int limit;   /* elements less than this are selected */
  const void *data;
  long long rows, columns, pitch;
  void *results; /* elements of the dtype: one a result, or as many as columns for those that make arrays */
  void *scratch; /* ladder_scratch_bytes of them, zero before the first call; a call leaves it so that another can
                    follow. Its first int is the number of elements that were selected */
} ladder_job;

/* Scratch memory begins with counters. */
enum { LADDER_COUNTER_BYTES = 256 };

/* Behind the counters lies one of these: the partial results of every level of a reduction or scan, at most one for 64
 * elements and those of further levels; what tiles of at least 512 elements tell each other; or a queue of segments, at
 * most one for 256 elements. LADDER_SELECT_SCATTER also has an int an element, LADDER_QUICKSORT the elements once more.
 */
static inline long long ladder_scratch_bytes(ladder_kernel kernel, const ladder_job *job) {
  long long elements = job->columns, bytes = LADDER_COUNTER_BYTES + 8 * 2 * (elements / 64 + 64);
  if (kernel == LADDER_SELECT_SCATTER) bytes += 4 * elements;
  if (kernel == LADDER_QUICKSORT) bytes += 8 * elements;
  return bytes;
}

#ifdef __cplusplus
}
#endif
#endif
