#include "cuda/library.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {"tree_block",      "tree_runs",    "tree_strided", "tree_lanes", "thread_packets",
                                    "thread_elements", "tile_columns", "tile_rows",    "states"};
enum { NAMES = sizeof names / sizeof *names };

/* src/cuda/fatbins.c */
#define DTYPE(NAME, value, name, ctype, bytes, class, code) extern const unsigned char ndr_fatbin_##name[];
#include "spec/dtypes.def"
#undef DTYPE

static const unsigned char *const fatbins[NDR_DTYPE_COUNT] = {
#define DTYPE(NAME, value, name, ctype, bytes, class, code) [value] = ndr_fatbin_##name,
#include "spec/dtypes.def"
#undef DTYPE
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cudaLibrary_t libraries[NDR_DTYPE_COUNT];
static cudaKernel_t kernels[NAMES][NDR_OP_COUNT][NDR_DTYPE_COUNT];

static int index_of(const char *name) {
  for (int i = 0; i < NAMES; i++)
    if (strcmp(name, names[i]) == 0) return i;
  return -1;
}

static ndr_status load(const char *name, ndr_op op, ndr_dtype dtype, cudaKernel_t *kernel) {
  char symbol[64];
  if (!libraries[dtype]) NDR_CUDA(cudaLibraryLoadData(&libraries[dtype], fatbins[dtype], NULL, NULL, 0, NULL, NULL, 0));
  snprintf(symbol, sizeof symbol, "ndr_%s_%s_%s", name, ndr_op_name(op), ndr_dtype_name(dtype));
  cudaError_t error = cudaLibraryGetKernel(kernel, libraries[dtype], symbol);
  return error == cudaSuccess ? NDR_OK : ndr_cuda_fail(error, symbol);
}

ndr_status ndr_cuda_kernel(const char *name, ndr_op op, ndr_dtype dtype, cudaKernel_t *kernel) {
  int i = index_of(name);
  if (i < 0) return ndr_fail(NDR_ERR_UNSUPPORTED, "there is no kernel '%s'", name);
  cudaKernel_t *slot = &kernels[i][op][dtype];
  *kernel = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
  if (*kernel) return NDR_OK;
  pthread_mutex_lock(&lock);
  ndr_status status = load(name, op, dtype, kernel);
  if (status == NDR_OK) __atomic_store_n(slot, *kernel, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&lock);
  return status;
}

ndr_status ndr_cuda_resolve_all(int *count) {
  *count = 0;
  for (int i = 0; i < NAMES; i++) {
    for (int op = 0; op < NDR_OP_COUNT; op++) {
      for (int dtype = 0; dtype < NDR_DTYPE_COUNT; dtype++) {
        cudaKernel_t kernel;
        if (ndr_op_check((ndr_op)op, (ndr_dtype)dtype) != NDR_OK) continue;
        NDR_TRY(ndr_cuda_kernel(names[i], (ndr_op)op, (ndr_dtype)dtype, &kernel));
        (*count)++;
      }
    }
  }
  return NDR_OK;
}
