/* What the device tests share: arrays in GPU memory between guards, and a main that skips where there is no GPU.
 * NDR_TEST_SUBSET in the environment makes a run small, and its arrays blocks of exactly their bytes, so that
 * compute-sanitizer finishes soon and sees every step outside. */
#ifndef TEST_CUDA_DEVICE_H
#define TEST_CUDA_DEVICE_H

#include <cuda_runtime_api.h>

#include "support/cases.h"
#include "support/suite.h"

#define assert_cuda(call)                                                                                              \
  do {                                                                                                                 \
    cudaError_t error_ = (call);                                                                                       \
    ck_assert_msg(error_ == cudaSuccess, "%s: %s", #call, cudaGetErrorString(error_));                                 \
  } while (0)

enum { GPU_SKIPPED = 77 };

/* Whether NDR_TEST_SUBSET is set. */
bool gpu_subset(void);

/* Runs and frees the suite in this process, as a CUDA context does not survive a fork; what main returns. */
int gpu_suite_run(Suite *suite);

typedef enum gpu_memory { GPU_DEVICE, GPU_MANAGED, GPU_PINNED } gpu_memory;
DLDeviceType gpu_device_type(gpu_memory kind);

/* Memory the GPU can use, poisoned, with guards before and behind. */
typedef struct gpu_block {
  gpu_memory kind;
  unsigned char *start; /* of the bytes asked for */
  size_t bytes, before, behind;
} gpu_block;

/* start is `past` bytes beyond a multiple of 256. */
void gpu_block_make(gpu_block *made, gpu_memory kind, size_t bytes, size_t past);
bool gpu_block_guarded(const gpu_block *block);
void gpu_block_free(gpu_block *block);

/* An array of the host and its copy in GPU memory. */
typedef struct gpu_array {
  test_array host;
  DLTensor tensor; /* the copy, with host's shape and strides: do not copy this struct */
  gpu_block block;
} gpu_array;

/* The copy starts out as what is in host, which is made first. gpu_free frees both. */
void gpu_place(gpu_array *array, gpu_memory kind, size_t past);
void gpu_fetch(gpu_array *array); /* waits for the GPU, then copies to the host */
void gpu_free(gpu_array *array);

/* A result as array_result makes it, in GPU memory. */
ndr_status gpu_result(gpu_array *made, gpu_memory kind, const DLTensor *of, const ndr_problem *problem, int i,
                      const ndr_options *options, rng *random);

/* Fetches the result and asserts that it is right, that all of it was written, and nothing else. how is for the
 * message. */
void assert_gpu_result(const ndr_problem *problem, int i, const gpu_array *array, gpu_array *result, const char *how);

/* A workspace for a plan, poisoned; in a subset uninitialised, so that initcheck sees what is read before it is
 * written.
 */
void gpu_workspace(gpu_block *made, const ndr_plan *plan);

/* Guards untouched, counters 0 again. Waits for the GPU. */
bool gpu_workspace_clean(const gpu_block *workspace, const ndr_plan *plan);

#endif
