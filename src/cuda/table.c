/* See table.h. */
#include "cuda/table.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "cuda/error.h"
#include "cuda/memory.h"
#include "gpuplan/operands/table.h"

/* On a stream of its own, which waits for no other. */
static ndr_status bring(int id, void *to, const void *from, size_t bytes) {
  void *stream;
  NDR_TRY(ndr_cuda_calls.create_stream(id, &stream));
  ndr_status status = ndr_cuda_calls.copy(id, to, from, bytes, stream);
  if (status == NDR_OK) status = ndr_cuda_calls.wait(id, stream);
  ndr_cuda_calls.destroy_stream(id, stream);
  return status;
}

/* Plans that the library keeps are freed when the process ends, and the driver may be gone by then; it frees the
 * memory.
 */
static atomic_bool ending;

static void note_end(void) {
  atomic_store(&ending, true);
}

__attribute__((constructor)) static void watch_end(void) {
  (void)atexit(note_end);
}

/* Exchanges this thread's mode: in the relaxed one it may allocate and copy while some stream is captured. */
static void exchange_mode(enum cudaStreamCaptureMode *mode) {
  (void)cudaThreadExchangeStreamCaptureMode(mode);
}

void ndr_cuda_free_table(int id, void *memory) {
  enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  if (!memory || atomic_load(&ending)) return;
  exchange_mode(&mode);
  ndr_cuda_calls.free((DLDevice){kDLCUDA, id}, memory);
  exchange_mode(&mode);
}

ndr_status ndr_cuda_make_table(const ndr_plan *plan, void **memory) {
  const ndr_launch *launch = &ndr_plan_launches(plan)->aligned;
  DLDevice device = {kDLCUDA, plan->device.id};
  size_t bytes;
  int32_t *ints;
  *memory = NULL;
  NDR_TRY(ndr_table_write(&plan->problem, launch, &ints, &bytes));
  enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  exchange_mode(&mode);
  ndr_status status = ndr_cuda_calls.allocate(device, bytes, memory);
  if (status == NDR_OK) status = bring(device.device_id, *memory, ints, bytes);
  exchange_mode(&mode);
  free(ints);
  if (status == NDR_OK) return NDR_OK;
  ndr_cuda_free_table(device.device_id, *memory);
  *memory = NULL;
  return status;
}
