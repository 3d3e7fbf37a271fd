/* cuBLAS as a rival: sums over one dim of a matrix are products with a vector of ones. The library is opened when first
 * wanted, so that a machine without it lacks only this column. */
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "ndbench/ndbench.h"

/* Bytes for the scalars one and zero; the vector of ones follows. */
enum { SCALARS = 256 };

static struct {
  cublasHandle_t handle;
  cublasStatus_t (*create)(cublasHandle_t *);
  cublasStatus_t (*pointer_mode)(cublasHandle_t, cublasPointerMode_t);
  cublasStatus_t (*sgemv)(cublasHandle_t, cublasOperation_t, int, int, const float *, const float *, int, const float *,
                          int, const float *, float *, int);
  cublasStatus_t (*dgemv)(cublasHandle_t, cublasOperation_t, int, int, const double *, const double *, int,
                          const double *, int, const double *, double *, int);
  cublasStatus_t (*snorm[2])(cublasHandle_t, int, const float *, int, float *); /* asum, nrm2 */
  cublasStatus_t (*dnorm[2])(cublasHandle_t, int, const double *, int, double *);
} blas;

static struct {
  const bench_job *job;
  int rows, columns;
  cublasOperation_t turn;
  char *scalars; /* on the device, as the results are; NULL for norms */
} task;

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

/* dlsym returns an object pointer where a function pointer is wanted; POSIX says the copy is fine. The header's macros
 * stand for the names that the library has. */
#define FIND(library, function, name)                                                                                  \
  (symbol = dlsym(library, TEXT(name)), memcpy(&(function), &symbol, sizeof symbol), symbol != NULL)

static bool open_blas(void) {
  static bool tried;
  static const char *const names[] = {"libcublas.so." TEXT(CUBLAS_VER_MAJOR), "libcublas.so",
                                      "/usr/local/cuda/lib64/libcublas.so." TEXT(CUBLAS_VER_MAJOR)};
  void *library = NULL, *symbol;
  if (tried) return blas.handle != NULL;
  tried = true;
  for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++) library = dlopen(names[i], RTLD_NOW);
  bool found = library && FIND(library, blas.create, cublasCreate) &&
               FIND(library, blas.pointer_mode, cublasSetPointerMode) && FIND(library, blas.sgemv, cublasSgemv) &&
               FIND(library, blas.dgemv, cublasDgemv) && FIND(library, blas.snorm[0], cublasSasum) &&
               FIND(library, blas.snorm[1], cublasSnrm2) && FIND(library, blas.dnorm[0], cublasDasum) &&
               FIND(library, blas.dnorm[1], cublasDnrm2);
  if (!found || blas.create(&blas.handle) != CUBLAS_STATUS_SUCCESS) return false;
  return blas.pointer_mode(blas.handle, CUBLAS_POINTER_MODE_DEVICE) == CUBLAS_STATUS_SUCCESS;
}

static bool fill(void *to, double value, int count) {
  bool single = task.job->reduction->dtype == NDR_F32, fine = false;
  size_t bytes = (size_t)count * (single ? sizeof(float) : sizeof(double));
  void *values = malloc(bytes);
  if (!values) return false;
  for (int i = 0; i < count; i++)
    if (single)
      ((float *)values)[i] = (float)value;
    else
      ((double *)values)[i] = value;
  fine = cudaMemcpy(to, values, bytes, cudaMemcpyHostToDevice) == cudaSuccess;
  free(values);
  return fine;
}

static void leave(void) {
  (void)cudaFree(task.scalars);
  task.scalars = NULL;
}

/* A row-major matrix is to cuBLAS its transpose, of `columns` rows. */
static bool take_matrix(const ndr_problem *reduction) {
  size_t size = ndr_dtype_bytes(reduction->dtype);
  int dim = reduction->dims[0] < 0 ? reduction->dims[0] + 2 : reduction->dims[0];
  task.rows = (int)reduction->shape[0];
  task.columns = (int)reduction->shape[1];
  task.turn = dim == 0 ? CUBLAS_OP_N : CUBLAS_OP_T;
  int length = dim == 0 ? task.rows : task.columns;
  if (cudaMalloc((void **)&task.scalars, SCALARS + (size_t)length * size) != cudaSuccess) return false;
  char *at = task.scalars;
  if (fill(at, 1, 1) && fill(at + size, 0, 1) && fill(at + SCALARS, 1, length)) return true;
  leave();
  return false;
}

static bool call_matrix(void) {
  const void *one = task.scalars, *ones = task.scalars + SCALARS;
  if (task.job->reduction->dtype == NDR_F32)
    return blas.sgemv(blas.handle, task.turn, task.columns, task.rows, one, task.job->data, task.columns, ones, 1,
                      (const float *)one + 1, task.job->result, 1) == CUBLAS_STATUS_SUCCESS;
  return blas.dgemv(blas.handle, task.turn, task.columns, task.rows, one, task.job->data, task.columns, ones, 1,
                    (const double *)one + 1, task.job->result, 1) == CUBLAS_STATUS_SUCCESS;
}

static bool call_norm(void) {
  int n = task.rows, which = task.job->reduction->ops[0] == NDR_NORM2;
  if (task.job->reduction->dtype == NDR_F32)
    return blas.snorm[which](blas.handle, n, task.job->data, 1, task.job->result) == CUBLAS_STATUS_SUCCESS;
  return blas.dnorm[which](blas.handle, n, task.job->data, 1, task.job->result) == CUBLAS_STATUS_SUCCESS;
}

static bool call(void *context) {
  (void)context;
  return task.scalars ? call_matrix() : call_norm();
}

static bool take(const bench_job *job) {
  const ndr_problem *r = job->reduction;
  bool matrix = r->ops[0] == NDR_SUM && r->ndim == 2 && r->dim_count == 1;
  bool norm = (r->ops[0] == NDR_NORM1 || r->ops[0] == NDR_NORM2) && r->ndim == 1 && r->dim_count == 1;
  if ((r->dtype != NDR_F32 && r->dtype != NDR_F64) || (!matrix && !norm)) return false;
  for (int d = 0; d < r->ndim; d++)
    if (r->shape[d] > INT32_MAX) return false;
  if (!open_blas()) return false;
  task.job = job;
  task.scalars = NULL;
  task.rows = (int)r->shape[0];
  return norm || take_matrix(r);
}

const bench_peer bench_cublas = {"cublas", take, call, leave};
