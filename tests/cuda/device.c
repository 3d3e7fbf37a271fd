#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuplan/launch.h"
#include "support/oracle.h"

enum { ALIGNMENT = 256, GUARD_BYTES = 256, GUARD = 0x3c };

bool gpu_subset(void) {
  const char *text = getenv("NDR_TEST_SUBSET");
  return text && *text && strcmp(text, "0") != 0;
}

int gpu_suite_run(Suite *suite) {
  int count = 0;
  cudaError_t error = cudaGetDeviceCount(&count);
  SRunner *runner = srunner_create(suite);
  if (error != cudaSuccess || count == 0) {
    printf("skipped: there is no CUDA device (%s)\n", cudaGetErrorString(error));
    srunner_free(runner);
    return GPU_SKIPPED;
  }
  srunner_set_fork_status(runner, CK_NOFORK);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}

DLDeviceType gpu_device_type(gpu_memory kind) {
  return kind == GPU_DEVICE ? kDLCUDA : kind == GPU_MANAGED ? kDLCUDAManaged : kDLCUDAHost;
}

/* ---- blocks ---- */

static unsigned char *allocate(gpu_memory kind, size_t bytes) {
  void *memory = NULL;
  switch (kind) {
  case GPU_DEVICE: assert_cuda(cudaMalloc(&memory, bytes)); break;
  case GPU_MANAGED: assert_cuda(cudaMallocManaged(&memory, bytes, cudaMemAttachGlobal)); break;
  case GPU_PINNED: assert_cuda(cudaMallocHost(&memory, bytes)); break;
  }
  return memory;
}

static void set(unsigned char *start, int value, size_t bytes) {
  if (bytes) assert_cuda(cudaMemset(start, value, bytes));
}

static void copy(void *to, const void *from, size_t bytes) {
  if (bytes) assert_cuda(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
}

/* Everything but the bytes asked for is set. */
static void make_block(gpu_block *made, gpu_memory kind, size_t bytes, size_t past) {
  size_t guard = gpu_subset() ? 0 : GUARD_BYTES;
  *made = (gpu_block){kind, NULL, bytes, guard + past % ALIGNMENT, guard};
  size_t whole = made->before + bytes + made->behind;
  made->start = allocate(kind, whole + (whole == 0)) + made->before;
  set(made->start - made->before, GUARD, made->before);
  set(made->start + bytes, GUARD, made->behind);
}

void gpu_block_make(gpu_block *made, gpu_memory kind, size_t bytes, size_t past) {
  make_block(made, kind, bytes, past);
  set(made->start, ARRAY_POISON, bytes);
}

static bool holds(const unsigned char *from, size_t bytes, unsigned char value) {
  unsigned char fetched[GUARD_BYTES + ALIGNMENT];
  copy(fetched, from, bytes);
  for (size_t i = 0; i < bytes; i++)
    if (fetched[i] != value) return false;
  return true;
}

bool gpu_block_guarded(const gpu_block *block) {
  return holds(block->start - block->before, block->before, GUARD) &&
         holds(block->start + block->bytes, block->behind, GUARD);
}

void gpu_block_free(gpu_block *block) {
  if (!block->start) return;
  unsigned char *raw = block->start - block->before;
  block->start = NULL;
  if (block->kind == GPU_PINNED)
    assert_cuda(cudaFreeHost(raw));
  else
    assert_cuda(cudaFree(raw));
}

/* ---- arrays ---- */

void gpu_place(gpu_array *array, gpu_memory kind, size_t past) {
  test_array *host = &array->host;
  gpu_block_make(&array->block, kind, host->bytes, past);
  copy(array->block.start, host->memory, host->bytes);
  array->tensor = host->tensor;
  array->tensor.data = array->block.start + ((char *)host->tensor.data - (char *)host->memory);
  array->tensor.device = (DLDevice){gpu_device_type(kind), 0};
}

void gpu_fetch(gpu_array *array) {
  assert_cuda(cudaDeviceSynchronize());
  copy(array->host.memory, array->block.start, array->host.bytes);
}

void gpu_free(gpu_array *array) {
  gpu_block_free(&array->block);
  array_free(&array->host);
}

ndr_status gpu_result(gpu_array *made, gpu_memory kind, const DLTensor *of, const ndr_problem *problem, int i,
                      const ndr_options *options, rng *random) {
  memset(made, 0, sizeof *made);
  ndr_status status =
      array_result(&made->host, of, problem->dim_count, problem->dims, problem->ops[i], options, random);
  if (status == NDR_OK) gpu_place(made, kind, 0);
  return status;
}

void assert_gpu_result(const ndr_problem *problem, int i, const gpu_array *array, gpu_array *result, const char *how) {
  char why[512];
  gpu_fetch(result);
  bool right = oracle_accepts(problem, problem->ops[i], &array->host.tensor, &result->host.tensor, why, sizeof why);
  ck_assert_msg(right, "%s\n  %s\n  %s", case_text(problem), how, why);
  ck_assert_msg(array_gaps_untouched(&result->host), "%s\n  %s\n  wrote between the results", case_text(problem), how);
  ck_assert_msg(gpu_block_guarded(&result->block), "%s\n  %s\n  wrote outside the result", case_text(problem), how);
}

/* ---- workspaces ---- */

void gpu_workspace(gpu_block *made, const ndr_plan *plan) {
  size_t bytes = ndr_plan_workspace(plan);
  make_block(made, GPU_DEVICE, bytes, 0);
  if (!gpu_subset()) set(made->start, ARRAY_POISON, bytes);
  assert_cuda(cudaDeviceSynchronize());
}

bool gpu_workspace_clean(const gpu_block *workspace, const ndr_plan *plan) {
  size_t bytes = ndr_plan_workspace(plan);
  bool clean = true;
  unsigned char *found = malloc(bytes + 1);
  if (!found) abort();
  assert_cuda(cudaDeviceSynchronize());
  copy(found, workspace->start, bytes);
  for (size_t i = 0; i < bytes; i++) clean = clean && found[i] == 0;
  free(found);
  return clean && gpu_block_guarded(workspace);
}
