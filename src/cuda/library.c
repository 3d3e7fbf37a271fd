/* Loads kernels from the embedded fatbins. compile/compile.c compiles those that the build lacks. */
#include "cuda/library.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* Which operators and dtypes a kernel is built for. */
typedef enum range { EVERY, OWN, REAL, ROUNDING, SKIPPING } range;

static const struct {
  const char *name;
  range range;
} kinds[NDR_KERNEL_COUNT] = {
#define ROW(NAME, name, ...) [NDR_KERNEL_##NAME] = {#name, OWN},
    NDR_KERNEL_ROWS(ROW, )
#undef ROW
#define ROW(NAME, name, built, ...) [NDR_KERNEL_##NAME] = {#name, built},
        NDR_OTHER_KERNEL_ROWS(ROW, )
#undef ROW
};

/* Operators that have kernels of their own; the kernels of these compute the others. */
static const bool has_kernels[NDR_OP_COUNT] = {
#define OP(NAME, value, name, result, empty, domain, combine, words, kernel, ...) [value] = NDR_##NAME == NDR_##kernel,
#include "spec/ops.def"
#undef OP
};

/* src/cuda/fatbins.c */
#define DTYPE(NAME, value, name, ctype, bytes, class, code) extern const unsigned char ndr_fatbin_##name[];
#include "spec/dtypes.def"
#undef DTYPE
extern const unsigned char ndr_fatbin_convert[];

static const unsigned char *const fatbins[NDR_DTYPE_COUNT] = {
#define DTYPE(NAME, value, name, ctype, bytes, class, code) [value] = ndr_fatbin_##name,
#include "spec/dtypes.def"
#undef DTYPE
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cudaLibrary_t libraries[NDR_DTYPE_COUNT], converting;
static cudaKernel_t kernels[NDR_KERNEL_COUNT][NDR_OP_COUNT][NDR_DTYPE_COUNT], converters[NDR_DTYPE_COUNT];

/* Loads the library if that was not done before, and finds a kernel in it. */
static ndr_status load(cudaLibrary_t *library, const unsigned char *fatbin, const char *symbol, cudaKernel_t *kernel) {
  if (!*library) NDR_CUDA(cudaLibraryLoadData(library, fatbin, NULL, NULL, 0, NULL, NULL, 0));
  cudaError_t error = cudaLibraryGetKernel(kernel, *library, symbol);
  return error == cudaSuccess ? NDR_OK : ndr_cuda_fail(error, symbol);
}

/* Takes the kernel from *slot, or loads it and keeps it there. */
static ndr_status find(cudaKernel_t *slot, cudaLibrary_t *library, const unsigned char *fatbin, const char *symbol,
                       cudaKernel_t *kernel) {
  *kernel = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
  if (*kernel) return NDR_OK;
  pthread_mutex_lock(&lock);
  ndr_status status = load(library, fatbin, symbol, kernel);
  if (status == NDR_OK) __atomic_store_n(slot, *kernel, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&lock);
  return status;
}

ndr_status ndr_cuda_kernel(ndr_kernel kind, ndr_op op, ndr_dtype dtype, cudaKernel_t *kernel) {
  char symbol[64];
  snprintf(symbol, sizeof symbol, "ndr_%s_%s_%s", kinds[kind].name, ndr_op_name(op), ndr_dtype_name(dtype));
  return find(&kernels[kind][op][dtype], &libraries[dtype], fatbins[dtype], symbol, kernel);
}

ndr_status ndr_cuda_convert_kernel(ndr_dtype dtype, cudaKernel_t *kernel) {
  char symbol[64];
  snprintf(symbol, sizeof symbol, "ndr_convert_%s", ndr_dtype_name(dtype));
  return find(&converters[dtype], &converting, ndr_fatbin_convert, symbol, kernel);
}

static bool is_built(range built, ndr_op op, ndr_dtype dtype) {
  bool own = has_kernels[op];
  if (ndr_op_check(op, dtype) != NDR_OK) return false;
  if (built == EVERY) return true;
  if (built == OWN) return own;
  if (!ndr_dtype_is_float(dtype)) return false;
  return built == REAL || (built == ROUNDING ? own && ndr_op_rounds(op) : own || op == NDR_ALL);
}

ndr_status ndr_cuda_resolve_all(int *count) {
  *count = 0;
  for (int i = 0; i < NDR_KERNEL_COUNT; i++) {
    for (int op = 0; op < NDR_OP_COUNT; op++) {
      for (int dtype = 0; dtype < NDR_DTYPE_COUNT; dtype++) {
        cudaKernel_t kernel;
        if (!is_built(kinds[i].range, (ndr_op)op, (ndr_dtype)dtype)) continue;
        NDR_TRY(ndr_cuda_kernel((ndr_kernel)i, (ndr_op)op, (ndr_dtype)dtype, &kernel));
        (*count)++;
      }
    }
  }
  for (int dtype = 0; dtype < NDR_DTYPE_COUNT; dtype++, (*count)++) {
    cudaKernel_t kernel;
    NDR_TRY(ndr_cuda_convert_kernel((ndr_dtype)dtype, &kernel));
  }
  return NDR_OK;
}
