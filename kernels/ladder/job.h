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

/* Every kernel that is told of: those that reduce an array to one value, those that reduce a matrix to one value a row
 * (or, where they say so, a column), and from THRUST on those of others. */
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
  LADDER_THRUST,
  LADDER_CUB_BLOCK,
  LADDER_CUB_DEVICE,
  LADDER_CUB_SEGMENTED,
  LADDER_KERNELS
} ladder_kernel;

/* A row-major matrix, `pitch` elements from a row to the next; an array is one row. Pointers are the device's. */
typedef struct ladder_job {
  ladder_op op;
  ladder_dtype dtype;
  int block;   /* threads: a power of two from 64 to 1024 */
  int overlap; /* elements a thread, for the rungs that have it as a number of their own */
  const void *data;
  long long rows, columns, pitch;
  void *results; /* elements of the dtype, one a result */
  void *scratch; /* ladder_scratch_bytes of them, zero before the first call; calls leave it so that they can follow */
} ladder_job;

/* Room for the partial results of every level of RELAUNCH, or of LAST_BLOCK and its counter, which is first. */
enum { LADDER_COUNTER_BYTES = 256 };
static inline long long ladder_scratch_bytes(const ladder_job *job) {
  return LADDER_COUNTER_BYTES + 8 * 2 * (job->columns / job->block + 8);
}

#ifdef __cplusplus
}
#endif
#endif
