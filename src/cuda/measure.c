/* Times work on a stream with events. core/measure/measure.c uses the times. */
#include "cuda/measure.h"

#include <stdlib.h>

#include "cuda/device.h"

typedef struct event_clock {
  cudaEvent_t first, last;
} event_clock;

static void free_clock(event_clock *clock) {
  if (clock->first) (void)cudaEventDestroy(clock->first);
  if (clock->last) (void)cudaEventDestroy(clock->last);
  free(clock);
}

static ndr_status start(event_clock *clock, cudaStream_t stream) {
  enum cudaStreamCaptureStatus capture;
  NDR_CUDA(cudaStreamIsCapturing(stream, &capture));
  if (capture != cudaStreamCaptureStatusNone)
    return ndr_fail(NDR_ERR_UNSUPPORTED, "the stream is capturing: what it is given does not run now");
  NDR_CUDA(cudaEventCreate(&clock->first));
  NDR_CUDA(cudaEventCreate(&clock->last));
  NDR_CUDA(cudaEventRecord(clock->first, stream));
  return NDR_OK;
}

ndr_status ndr_cuda_clock_start(int id, void *stream, void **clock) {
  int before;
  event_clock *made = calloc(1, sizeof *made);
  *clock = NULL;
  if (!made) return ndr_fail(NDR_ERR_MEMORY, "out of memory for a clock");
  ndr_status status = ndr_cuda_enter(id, &before);
  if (status != NDR_OK) {
    free(made);
    return status;
  }
  status = start(made, (cudaStream_t)stream);
  if (status == NDR_OK)
    *clock = made;
  else
    free_clock(made);
  ndr_cuda_leave(id, before);
  return status;
}

static ndr_status stop(const event_clock *clock, cudaStream_t stream, double *seconds) {
  float milliseconds;
  NDR_CUDA(cudaEventRecord(clock->last, stream));
  NDR_CUDA(cudaEventSynchronize(clock->last));
  NDR_CUDA(cudaEventElapsedTime(&milliseconds, clock->first, clock->last));
  *seconds = (double)milliseconds * 1e-3;
  return NDR_OK;
}

ndr_status ndr_cuda_clock_stop(int id, void *stream, void *clock, double *seconds) {
  int before;
  ndr_status status = ndr_cuda_enter(id, &before);
  if (status == NDR_OK) {
    status = stop(clock, (cudaStream_t)stream, seconds);
    ndr_cuda_leave(id, before);
  }
  free_clock(clock);
  return status;
}
