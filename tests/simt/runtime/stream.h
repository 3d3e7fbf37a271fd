/* What is queued on the emulated streams. */
#ifndef SIMT_STREAM_H
#define SIMT_STREAM_H

#include <stdint.h>

#include "cuda_runtime_api.h"

/* What a stream is given to do: work(argument), of which the argument is copied; NULL or the reason why it failed. */
typedef const char *(*simt_work)(const void *argument);

/* Does it at once, or queues it where streams are lazy and this is not the default one. */
const char *simt_queue(cudaStream_t stream, simt_work work, const void *argument, size_t bytes);

/* A stream as an event remembers it: so much of it. */
typedef struct simt_point {
  cudaStream_t stream;
  int64_t number;
} simt_point;

simt_point simt_point_of(cudaStream_t stream);

/* Does what is queued up to a point, all that is queued on a device's streams, or all that is queued anywhere; the
 * reason of the first failure, or NULL. */
const char *simt_catch_up(simt_point point);
const char *simt_catch_up_device(int device);
const char *simt_catch_up_all(void);

cudaStream_t simt_stream_make(int device);
void simt_stream_end(cudaStream_t stream);
int simt_stream_count(void); /* that were made and not ended */

#endif
