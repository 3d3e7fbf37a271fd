#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "control.h"
#include "launch.h"
#include "memory.h"
#include "module.h"
#include "spec/convert.h"
#include "spec/params.h"
#include "spec/scan_params.h"
#include "spec/select_params.h"
#include "stream.h"

struct simt_event {
  struct timespec when;
  simt_point point;
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
  const struct simt_kind *kind;
  size_t most_shared;
};

simt_control simt_controls = {.driver = true, .memory_left = -1};

static cudaLibrary_t libraries;
static _Thread_local int current_device;
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

/* Counts a call, which may be the one to fail. */
static bool fails(void) {
  int64_t call = ++simt_controls.calls, failing = simt_controls.failing_call;
  return failing && (call == failing || (simt_controls.sticky && call > failing));
}
bool simt_is_lost(void) {
  return simt_controls.sticky && simt_controls.failing_call && simt_controls.calls >= simt_controls.failing_call;
}

#define MAY_FAIL(error)                                                                                                \
  if (fails()) return fail(error, "made to fail")

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
  MAY_FAIL(cudaErrorUnknown);
  *count = SIMT_DEVICES;
  return simt_controls.driver ? cudaSuccess : fail(cudaErrorInsufficientDriver, "the emulated driver is switched off");
}

cudaError_t cudaDriverGetVersion(int *version) {
  *version = simt_controls.driver_version;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version) {
  *version = 13010;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device) {
  MAY_FAIL(cudaErrorUnknown);
  *device = current_device;
  return simt_controls.driver ? cudaSuccess : fail(cudaErrorInsufficientDriver, "the emulated driver is switched off");
}

cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= SIMT_DEVICES) return fail(cudaErrorInvalidDevice, "no such device");
  current_device = device;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
  if (device < 0 || device >= SIMT_DEVICES) return fail(cudaErrorInvalidDevice, "no such device");
  *value = attributes[simt_controls.alike ? 0 : device][attribute];
  return cudaSuccess;
}

cudaError_t cudaMalloc(void **memory, size_t bytes) {
  *memory = NULL;
  MAY_FAIL(cudaErrorMemoryAllocation);
  if (simt_controls.memory_left == 0) return fail(cudaErrorMemoryAllocation, NULL);
  if (simt_controls.memory_left > 0) simt_controls.memory_left--;
  *memory = simt_allocate(bytes, 0);
  return *memory ? cudaSuccess : fail(cudaErrorMemoryAllocation, NULL);
}

/* A pool is its device, as memory of emulated GPUs is all of one kind. */
static char pools[SIMT_DEVICES];

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *properties) {
  MAY_FAIL(cudaErrorMemoryAllocation);
  int id = properties->location.id;
  if (id < 0 || id >= SIMT_DEVICES) return fail(cudaErrorInvalidDevice, "no such device");
  *pool = (cudaMemPool_t)(void *)&pools[id];
  return cudaSuccess;
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  (void)pool;
  return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value) {
  (void)pool;
  (void)attribute;
  (void)value;
  MAY_FAIL(cudaErrorUnknown);
  return cudaSuccess;
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *readers, size_t count) {
  (void)readers;
  (void)count;
  MAY_FAIL(cudaErrorUnknown);
  return pool ? cudaSuccess : fail(cudaErrorInvalidValue, "no pool");
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int other) {
  MAY_FAIL(cudaErrorUnknown);
  *can = device != other;
  return cudaSuccess;
}

cudaError_t cudaMallocFromPoolAsync(void **memory, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  (void)stream;
  cudaError_t error = pool ? cudaMalloc(memory, bytes) : fail(cudaErrorInvalidValue, "no pool");
  if (error == cudaSuccess) simt_set_pooled(*memory);
  return error;
}

cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned flags) {
  (void)flags;
  return cudaMalloc(memory, bytes);
}

cudaError_t cudaFreeHost(void *memory) {
  return !memory || simt_release(memory) ? cudaSuccess : fail(cudaErrorInvalidValue, "freeing what was not allocated");
}

/* Waits for the devices, as CUDA's does for what cudaMalloc allocated, but not for memory of a pool. */
cudaError_t cudaFree(void *memory) {
  const char *why = simt_is_pooled(memory) ? NULL : simt_catch_up_all();
  return why ? fail(cudaErrorLaunchFailure, why) : cudaFreeHost(memory);
}

static const char *do_free(const void *argument) {
  return cudaFreeHost(*(void *const *)argument) == cudaSuccess ? NULL : reason;
}

cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream) {
  const char *why = simt_queue(stream, do_free, &memory, sizeof memory);
  return why ? fail(cudaErrorInvalidValue, why) : cudaSuccess;
}

typedef struct moving {
  void *to;
  const void *from;
  size_t bytes;
  int value;
  uint64_t here; /* the source itself, where that may be gone later */
} moving;

static const char *do_set(const void *argument) {
  const moving *m = argument;
  if (!simt_is_lost()) memset(m->to, m->value, m->bytes);
  return NULL;
}

static const char *do_copy(const void *argument) {
  const moving *m = argument;
  if (!simt_is_lost()) memcpy(m->to, m->from ? m->from : &m->here, m->bytes);
  return NULL;
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream) {
  MAY_FAIL(cudaErrorUnknown);
  const char *why = simt_queue(stream, do_set, &(moving){memory, NULL, bytes, value, 0}, sizeof(moving));
  return why ? fail(cudaErrorUnknown, why) : cudaSuccess;
}

/* What is copied from pageable host memory has left it when the call returns; the library has words there only. */
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream) {
  MAY_FAIL(cudaErrorUnknown);
  moving m = {.to = to, .from = from, .bytes = bytes};
  if (kind == cudaMemcpyHostToDevice && bytes <= sizeof m.here) {
    memcpy(&m.here, from, bytes);
    m.from = NULL;
  }
  const char *why = simt_queue(stream, do_copy, &m, sizeof m);
  return why ? fail(cudaErrorUnknown, why) : cudaSuccess;
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                                cudaStream_t stream) {
  if (to_device < 0 || to_device >= SIMT_DEVICES || from_device < 0 || from_device >= SIMT_DEVICES)
    return fail(cudaErrorInvalidDevice, "no such device");
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

/* ---- Streams and events ---- */

static int living_events;

int simt_living_streams(void) {
  return simt_stream_count() + living_events;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
  (void)flags;
  MAY_FAIL(cudaErrorUnknown);
  *stream = simt_stream_make(current_device);
  return *stream ? cudaSuccess : fail(cudaErrorMemoryAllocation, NULL);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  simt_stream_end(stream);
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  MAY_FAIL(cudaErrorUnknown);
  const char *why = simt_catch_up(simt_point_of(stream));
  return why ? fail(cudaErrorLaunchFailure, why) : cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void) {
  const char *why = simt_catch_up_device(current_device);
  return why ? fail(cudaErrorLaunchFailure, why) : cudaSuccess;
}

static const char *do_wait(const void *argument) {
  return simt_catch_up(*(const simt_point *)argument);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  (void)flags;
  MAY_FAIL(cudaErrorUnknown);
  const char *why = simt_queue(stream, do_wait, &event->point, sizeof event->point);
  return why ? fail(cudaErrorLaunchFailure, why) : cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode) {
  static _Thread_local enum cudaStreamCaptureMode now = cudaStreamCaptureModeGlobal;
  enum cudaStreamCaptureMode before = now;
  now = *mode;
  *mode = before;
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
  MAY_FAIL(cudaErrorUnknown);
  *event = calloc(1, sizeof **event);
  living_events += *event != NULL;
  return *event ? cudaSuccess : fail(cudaErrorMemoryAllocation, NULL);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
  (void)flags;
  return cudaEventCreate(event);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  living_events--;
  free(event);
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  MAY_FAIL(cudaErrorUnknown);
  event->point = simt_point_of(stream);
  clock_gettime(CLOCK_MONOTONIC, &event->when);
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const char *why = simt_catch_up(event->point);
  return why ? fail(cudaErrorLaunchFailure, why) : cudaSuccess;
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
  MAY_FAIL(cudaErrorUnknown);
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

/* A launch with its argument, whatever kernel it is of. */
typedef struct launch {
  cudaKernel_t kernel;
  unsigned grid, threads;
  size_t shared;
  union {
    ndr_params reduce;
    ndr_states_params states;
    ndr_convert_params convert;
    ndr_program_params program;
    ndr_program_states_params program_states;
    ndr_scan_params scan;
    ndr_select_params select;
  } argument;
} launch;

#define BODY(name, params)                                                                                             \
  static void name(const void *argument) {                                                                             \
    ((void (*)(params))(uintptr_t)launched->function)(*(const params *)argument);                                      \
  }
BODY(reduce, ndr_params)
BODY(states, ndr_states_params)
BODY(convert, ndr_convert_params)
BODY(program, ndr_program_params)
BODY(program_states, ndr_program_states_params)
BODY(scan, ndr_scan_params)
BODY(select_places, ndr_select_params)

/* What a kernel takes, by its name; the last is all others'. */
static const struct simt_kind {
  const char *prefix;
  void (*body)(const void *argument);
  size_t bytes;
} kinds[] = {{"ndr_states_", states, sizeof(ndr_states_params)},
             {"ndr_convert_", convert, sizeof(ndr_convert_params)},
             {"ndr_program_states", program_states, sizeof(ndr_program_states_params)},
             {"ndr_program", program, sizeof(ndr_program_params)},
             {"ndr_scan", scan, sizeof(ndr_scan_params)},
             {"ndr_select", select_places, sizeof(ndr_select_params)},
             {"", reduce, sizeof(ndr_params)}};

/* Blocks that take turns with the keepers of scan_streams, without which they cannot go on. */
enum { OTHERS_ABREAST = 3 };

/* Whether blocks wait for what those with smaller numbers post. */
static bool waits(const launch *l) {
  void (*body)(const void *) = l->kernel->kind->body;
  if (body == select_places) return l->argument.select.tiles > 1;
  return body == scan ? l->argument.scan.tiles > 1 && !l->argument.scan.keepers
                      : (body == reduce || body == program) && l->argument.reduce.splits > 1;
}

static const char *do_launch(const void *argument) {
  const launch *l = argument;
  simt_module *module = &l->kernel->library->module;
  const char *why = simt_module_find_statics(module);
  if (why) return why;
  simt_launch made = {.body = l->kernel->kind->body,
                      .argument = &l->argument,
                      .grid = l->grid,
                      .threads = (int)l->threads,
                      .shared = l->shared,
                      .statics = module->statics,
                      .statics_bytes = module->statics_bytes,
                      .order = simt_controls.order,
                      .early = true,
                      .waiting = waits(l)};
  if (made.body == scan && l->argument.scan.keepers) made.abreast = l->argument.scan.keepers + OTHERS_ABREAST;
  if (simt_is_lost()) return NULL;
  launched = l->kernel;
  simt_controls.launches++;
  return simt_run(&made);
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name) {
  MAY_FAIL(cudaErrorUnknown);
  void *function = simt_module_find(&library->module, name);
  if (!function) return fail(cudaErrorSymbolNotFound, NULL);
  cudaKernel_t made = calloc(1, sizeof *made);
  if (!made) return fail(cudaErrorMemoryAllocation, NULL);
  const struct simt_kind *kind = kinds;
  while (strncmp(name, kind->prefix, strlen(kind->prefix)) != 0) kind++;
  *made = (struct simt_entry){library->entries, library, function, kind, 48 << 10};
  library->entries = *kernel = made;
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute attribute, int value) {
  if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) return cudaSuccess;
  if (value > attributes[simt_controls.alike ? 0 : current_device][cudaDevAttrMaxSharedMemoryPerBlockOptin])
    return fail(cudaErrorInvalidValue, "more shared memory than the device has");
  ((cudaKernel_t)(uintptr_t)kernel)->most_shared = (size_t)value;
  return cudaSuccess;
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel, void **arguments) {
  dim3 grid = config->gridDim, block = config->blockDim;
  launch l = {.kernel = (cudaKernel_t)(uintptr_t)kernel,
              .grid = grid.x,
              .threads = block.x,
              .shared = config->dynamicSmemBytes};
  MAY_FAIL(cudaErrorLaunchFailure);
  if (grid.y != 1 || grid.z != 1 || block.y != 1 || block.z != 1)
    return fail(cudaErrorInvalidValue, "the emulation has grids and blocks of one axis");
  if (l.shared > l.kernel->most_shared) return fail(cudaErrorInvalidValue, "more shared memory than was asked for");
  memcpy(&l.argument, arguments[0], l.kernel->kind->bytes);
  const char *why = simt_queue(config->stream, do_launch, &l, sizeof l);
  return why ? fail(cudaErrorLaunchFailure, why) : cudaSuccess;
}
