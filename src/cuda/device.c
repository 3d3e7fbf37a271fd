/* Reads the numbers of a GPU that planning needs. */
#include "cuda/device.h"

#include "cuda/compile/compiler.h"

#include <pthread.h>
#include <stdbool.h>

enum { MOST_DEVICES = 64 };

static ndr_status attribute(int id, enum cudaDeviceAttr which, int64_t *value) {
  int read;
  NDR_CUDA(cudaDeviceGetAttribute(&read, which, id));
  *value = read;
  return NDR_OK;
}

/* CUDA may report no memory clock. Bandwidth is then a guess by generation; it scales every candidate alike. */
static double bandwidth_of(int capability, int units) {
  double per_unit = capability >= 90 ? 33e9 : capability >= 80 ? 14e9 : 10e9;
  return per_unit * units;
}

static ndr_status read_device(int id, ndr_device *device) {
  int64_t units = 0, threads = 0, shared = 0, shared_block = 0, l2 = 0, major = 0, minor = 0;
  int count;
  NDR_CUDA(cudaGetDeviceCount(&count));
  if (id < 0 || id >= count) return ndr_fail(NDR_ERR_NO_DEVICE, "no CUDA device %d: this machine has %d", id, count);
  NDR_TRY(attribute(id, cudaDevAttrMultiProcessorCount, &units));
  NDR_TRY(attribute(id, cudaDevAttrMaxThreadsPerMultiProcessor, &threads));
  NDR_TRY(attribute(id, cudaDevAttrMaxSharedMemoryPerMultiprocessor, &shared));
  NDR_TRY(attribute(id, cudaDevAttrMaxSharedMemoryPerBlockOptin, &shared_block));
  NDR_TRY(attribute(id, cudaDevAttrL2CacheSize, &l2));
  NDR_TRY(attribute(id, cudaDevAttrComputeCapabilityMajor, &major));
  NDR_TRY(attribute(id, cudaDevAttrComputeCapabilityMinor, &minor));
  int capability = (int)(major * 10 + minor);
  *device = (ndr_device){sizeof *device,
                         kDLCUDA,
                         id,
                         (int)units,
                         (int)threads,
                         shared,
                         shared_block,
                         l2,
                         bandwidth_of(capability, (int)units),
                         capability,
                         ndr_cuda_can_compile()};
  return NDR_OK;
}

ndr_status ndr_cuda_device(int id, ndr_device *device) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static ndr_device known[MOST_DEVICES];
  if (id < 0 || id >= MOST_DEVICES) return ndr_fail(NDR_ERR_NO_DEVICE, "no CUDA device %d", id);
  pthread_mutex_lock(&lock);
  ndr_status status = known[id].size ? NDR_OK : read_device(id, &known[id]);
  *device = known[id];
  pthread_mutex_unlock(&lock);
  return status;
}

ndr_status ndr_cuda_enter(int id, int *before) {
  NDR_CUDA(cudaGetDevice(before));
  if (*before != id) NDR_CUDA(cudaSetDevice(id));
  return NDR_OK;
}

void ndr_cuda_leave(int id, int before) {
  if (before != id) (void)cudaSetDevice(before);
}
