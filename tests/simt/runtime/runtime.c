#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "control.h"
#include "launch.h"
#include "memory.h"
#include "module.h"
#include "spec/params.h"

struct simt_event {
  struct timespec when;
};

struct simt_library {
  struct simt_library *next;
  simt_module module;
  struct simt_entry *entries;
};

struct simt_entry {
  struct simt_entry *next;
  cudaLibrary_t library;
  void *function;
  void (*body)(const void *argument);
  size_t most_shared;
};

simt_control simt_controls = {.driver = true, .memory_left = -1};

static cudaLibrary_t libraries;
static int current_device;
static cudaError_t last_error;
static const char *reason; /* of the last error that has one of its own */

/* A small old machine, a desktop one, and a large new one. */
static const int attributes[SIMT_DEVICES][SIMT_ATTRIBUTES] = {
    {1, 1024, 64 << 10, 64 << 10, 1 << 20, 7, 5},
    {6, 1536, 100 << 10, 99 << 10, 8 << 20, 8, 9},
    {132, 2048, 228 << 10, 227 << 10, 50 << 20, 9, 0},
};

static cudaError_t fail(cudaError_t error, const char *why) {
  reason = why;
  return last_error = error;
}

cudaError_t cudaGetLastError(void) {
  cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}

const char *cudaGetErrorString(cudaError_t error) {
  static const char *const texts[] = {"no error",         "invalid value",  "out of memory",
                                      "driver too old",   "no device",      "invalid device",
                                      "symbol not found", "launch failure", "unknown error"};
  return reason && error != cudaSuccess ? reason : texts[error];
}

cudaError_t cudaGetDeviceCount(int *count) {
  *count = SIMT_DEVICES;
  return simt_controls.driver ? cudaSuccess : fail(cudaErrorNoDevice, "the emulated driver is switched off");
}

cudaError_t cudaGetDevice(int *device) {
  *device = current_device;
  return simt_controls.driver ? cudaSuccess : fail(cudaErrorNoDevice, "the emulated driver is switched off");
}

cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= SIMT_DEVICES) return fail(cudaErrorInvalidDevice, "no such device");
  current_device = device;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
  if (device < 0 || device >= SIMT_DEVICES) return fail(cudaErrorInvalidDevice, "no such device");
  *value = attributes[device][attribute];
  return cudaSuccess;
}

cudaError_t cudaMallocAsync(void **memory, size_t bytes, cudaStream_t stream) {
  (void)stream;
  *memory = NULL;
  if (simt_controls.memory_left == 0) return fail(cudaErrorMemoryAllocation, NULL);
  if (simt_controls.memory_left > 0) simt_controls.memory_left--;
  *memory = simt_allocate(bytes, 0);
  return *memory ? cudaSuccess : fail(cudaErrorMemoryAllocation, NULL);
}

cudaError_t cudaFree(void *memory) {
  return !memory || simt_release(memory) ? cudaSuccess : fail(cudaErrorInvalidValue, "freeing what was not allocated");
}

cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream) {
  (void)stream;
  return cudaFree(memory);
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream) {
  (void)stream;
  memset(memory, value, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream) {
  (void)kind, (void)stream;
  memcpy(to, from, bytes);
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status) {
  (void)stream;
  *status = simt_controls.capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id) {
  *id = (unsigned long long)(size_t)stream;
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event) {
  *event = calloc(1, sizeof **event);
  return *event ? cudaSuccess : fail(cudaErrorMemoryAllocation, NULL);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  free(event);
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  (void)stream;
  clock_gettime(CLOCK_MONOTONIC, &event->when);
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  (void)event;
  return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t first, cudaEvent_t last) {
  *milliseconds = (float)((double)(last->when.tv_sec - first->when.tv_sec) * 1e3 +
                          (double)(last->when.tv_nsec - first->when.tv_nsec) * 1e-6);
  return cudaSuccess;
}

/* ---- kernels: the code of a library is the path of a module, see fatbins.c ---- */

cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, enum cudaJitOption *jit, void **jit_values,
                                unsigned jit_count, enum cudaLibraryOption *options, void **values, unsigned count) {
  (void)jit, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
  cudaLibrary_t made = calloc(1, sizeof *made);
  if (!made) return fail(cudaErrorMemoryAllocation, NULL);
  const char *why = simt_module_open(&made->module, code);
  if (why) {
    free(made);
    return fail(cudaErrorInvalidValue, why);
  }
  made->next = libraries;
  libraries = *library = made;
  return cudaSuccess;
}

static cudaKernel_t launched;

static void reduce(const void *argument) {
  ((void (*)(ndr_params))(uintptr_t)launched->function)(*(const ndr_params *)argument);
}

static void states(const void *argument) {
  ((void (*)(ndr_states_params))(uintptr_t)launched->function)(*(const ndr_states_params *)argument);
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name) {
  void *function = simt_module_find(&library->module, name);
  if (!function) return fail(cudaErrorSymbolNotFound, NULL);
  cudaKernel_t made = calloc(1, sizeof *made);
  if (!made) return fail(cudaErrorMemoryAllocation, NULL);
  bool on_states = strncmp(name, "ndr_states_", strlen("ndr_states_")) == 0;
  *made = (struct simt_entry){library->entries, library, function, on_states ? states : reduce, 48 << 10};
  library->entries = *kernel = made;
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute attribute, int value) {
  (void)attribute;
  if (value > attributes[current_device][cudaDevAttrMaxSharedMemoryPerBlockOptin])
    return fail(cudaErrorInvalidValue, "more shared memory than the device has");
  ((cudaKernel_t)(uintptr_t)kernel)->most_shared = (size_t)value;
  return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                             cudaStream_t stream) {
  (void)stream;
  launched = (cudaKernel_t)(uintptr_t)kernel;
  if (grid.y != 1 || grid.z != 1 || block.y != 1 || block.z != 1)
    return fail(cudaErrorInvalidValue, "the emulation has grids and blocks of one axis");
  if (shared > launched->most_shared) return fail(cudaErrorInvalidValue, "more shared memory than was asked for");
  const simt_module *module = &launched->library->module;
  simt_launch launch = {.body = launched->body,
                        .argument = arguments[0],
                        .grid = grid.x,
                        .threads = (int)block.x,
                        .shared = shared,
                        .statics = module->statics,
                        .statics_bytes = module->statics_bytes,
                        .order = simt_controls.order};
  simt_controls.launches++;
  const char *why = simt_run(&launch);
  return why ? fail(cudaErrorLaunchFailure, why) : cudaSuccess;
}
