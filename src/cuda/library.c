#include "cuda/library.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* Which operators and dtypes a kernel is built for. */
typedef enum range { EVERY, OWN, REAL, ROUNDING, SKIPPING } range;

static const struct {
  const char *name;
  range range;
} kinds[] = {{"tree_block", OWN},     {"tree_runs", OWN},        {"tree_strided", OWN},      {"tree_lanes", OWN},
             {"thread_packets", OWN}, {"thread_elements", OWN},  {"tile_columns", OWN},      {"tile_triples", OWN},
             {"tile_narrow", OWN},    {"tile_run_packets", OWN}, {"tile_run_elements", OWN}, {"tile_packets", OWN},
             {"states", EVERY},       {"states_skip", REAL},     {"tree_wide", ROUNDING},    {"tree_skip", SKIPPING}};
enum { NAMES = sizeof kinds / sizeof *kinds };

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
static cudaKernel_t kernels[NAMES][NDR_OP_COUNT][NDR_DTYPE_COUNT], converters[NDR_DTYPE_COUNT];

static int index_of(const char *name) {
  for (int i = 0; i < NAMES; i++)
    if (strcmp(name, kinds[i].name) == 0) return i;
  return -1;
}

/* Loads the library, if that was not done, and finds a kernel in it. */
static ndr_status load(cudaLibrary_t *library, const unsigned char *fatbin, const char *symbol, cudaKernel_t *kernel) {
  if (!*library) NDR_CUDA(cudaLibraryLoadData(library, fatbin, NULL, NULL, 0, NULL, NULL, 0));
  cudaError_t error = cudaLibraryGetKernel(kernel, *library, symbol);
  return error == cudaSuccess ? NDR_OK : ndr_cuda_fail(error, symbol);
}

/* The kernel that is kept in *slot, found there or loaded. */
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

ndr_status ndr_cuda_kernel(const char *name, ndr_op op, ndr_dtype dtype, cudaKernel_t *kernel) {
  int i = index_of(name);
  if (i < 0) return ndr_fail(NDR_ERR_UNSUPPORTED, "there is no kernel '%s'", name);
  char symbol[64];
  snprintf(symbol, sizeof symbol, "ndr_%s_%s_%s", name, ndr_op_name(op), ndr_dtype_name(dtype));
  return find(&kernels[i][op][dtype], &libraries[dtype], fatbins[dtype], symbol, kernel);
}

ndr_status ndr_cuda_convert_kernel(ndr_dtype dtype, cudaKernel_t *kernel) {
  char symbol[64];
  snprintf(symbol, sizeof symbol, "ndr_convert_%s", ndr_dtype_name(dtype));
  return find(&converters[dtype], &converting, ndr_fatbin_convert, symbol, kernel);
}

bool ndr_cuda_op_rounds(ndr_op op) {
  switch (op) {
  case NDR_SUM:
  case NDR_PROD:
  case NDR_MEAN:
  case NDR_VAR:
  case NDR_STD:
  case NDR_NORM1:
  case NDR_NORM2:
  case NDR_LOGSUMEXP: return true;
  default: return false;
  }
}

static bool is_built(range built, ndr_op op, ndr_dtype dtype) {
  ndr_class class = ndr_dtype_class(dtype);
  bool own = op != NDR_STD && op != NDR_ANY && op != NDR_ALL && op != NDR_VALID;
  if (ndr_op_check(op, dtype) != NDR_OK) return false;
  if (built == EVERY) return true;
  if (built == OWN) return own;
  if (class != NDR_CLASS_FLOAT && class != NDR_CLASS_COMPLEX) return false;
  return built == REAL || (built == ROUNDING ? own && ndr_cuda_op_rounds(op) : own || op == NDR_ALL);
}

ndr_status ndr_cuda_resolve_all(int *count) {
  *count = 0;
  for (int i = 0; i < NAMES; i++) {
    for (int op = 0; op < NDR_OP_COUNT; op++) {
      for (int dtype = 0; dtype < NDR_DTYPE_COUNT; dtype++) {
        cudaKernel_t kernel;
        if (!is_built(kinds[i].range, (ndr_op)op, (ndr_dtype)dtype)) continue;
        NDR_TRY(ndr_cuda_kernel(kinds[i].name, (ndr_op)op, (ndr_dtype)dtype, &kernel));
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
