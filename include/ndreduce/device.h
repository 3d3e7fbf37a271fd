/* Memory and streams of devices, and elements as files store them.
 *
 *   float x[] = {1, 2, 4}, sum;
 *   int64_t shape[] = {3};
 *   int gpus;
 *   DLDevice device = {ndr_device_count(kDLCUDA, &gpus) == NDR_OK ? kDLCUDA : kDLCPU, 0};
 *   void *there;
 *   ndr_options options = NDR_OPTIONS_INIT;
 *   ndr_status status = ndr_memory_allocate(device, 512, &there);
 *   DLTensor array = ndr_tensor(there, NDR_F32, 1, shape), result = ndr_tensor(there, NDR_F32, 0, NULL);
 *   array.device = result.device = device;
 *   result.byte_offset = 256;
 *   if (status == NDR_OK) status = ndr_stream_create(device, &options.stream);
 *   if (status == NDR_OK) status = ndr_copy(device, there, x, sizeof x, options.stream);
 *   if (status == NDR_OK) status = ndreduce(&array, NDR_ALL_DIMS, NDR_SUM, &result, &options);
 *   if (status == NDR_OK) status = ndr_copy(device, &sum, (char *)there + 256, sizeof sum, options.stream);
 *   if (status == NDR_OK) status = ndr_stream_wait(device, options.stream);
 *   if (status == NDR_OK) printf("%g\n", sum); // prints 7
 *   else puts(ndr_last_error());
 *   ndr_stream_destroy(device, options.stream);
 *   ndr_memory_free(device, there);
 *
 * These functions bring data to a GPU without a header of CUDA. `device` says where memory is. {kDLCPU, 0} is plain
 * host memory, kDLCUDA the memory of GPU device_id, and kDLCUDAHost pinned host memory, from and to which GPUs copy at
 * full speed while the host goes on. Streams, copies and waits belong to GPU device_id for kDLCUDA and kDLCUDAHost. For
 * kDLCPU streams are NULL, and the work is done when a call returns.
 *
 * Every function fails with NDR_ERR_NO_DEVICE if there is no such device, with NDR_ERR_MEMORY if memory runs out, and
 * with NDR_ERR_DEVICE if the device refuses, which may be because of work that was queued before.
 *
 * What ndreduce.h says of errors, threads and structs that start with their size holds here, too. */
#ifndef NDREDUCE_DEVICE_H
#define NDREDUCE_DEVICE_H

#include "ndreduce/ndreduce.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Memory and streams ----------------------------------------------------------------------------------------- */

/* Not 0 if this build has a backend for devices of the type, whether or not the machine has such a device. Looks for no
 * device, and so takes no time. */
NDR_API int ndr_device_supported(DLDeviceType type);

/* Sets *count to the number of devices of the type; there is always one CPU. Fails with NDR_ERR_NO_DEVICE if there are
 * none. */
NDR_API ndr_status ndr_device_count(DLDeviceType type, int *count);

/* Memory of at least `bytes` bytes, aligned to 256, its content undefined; to be given to ndr_memory_free with the same
 * device. Pinned memory serves all GPUs. As it takes long to get, up to 256 MiB of it that is freed is kept for
 * later calls. */
NDR_API ndr_status ndr_memory_allocate(DLDevice device, size_t bytes, void **memory);

/* Frees memory, which nothing that is queued may use any more; NULL is allowed. */
NDR_API void ndr_memory_free(DLDevice device, void *memory);

/* A stream (cudaStream_t) that does not wait for the default stream. To be given to ndr_stream_destroy. */
NDR_API ndr_status ndr_stream_create(DLDevice device, void **stream);

/* Destroys a stream once what is queued on it is done, without waiting for that; NULL is allowed. */
NDR_API void ndr_stream_destroy(DLDevice device, void *stream);

/* Makes work that is queued on `stream` from now on wait for all work that is queued on `leader` now. leader is a
 * stream of `device`; stream may be one of another GPU. */
NDR_API ndr_status ndr_stream_follow(DLDevice device, void *stream, void *leader);

/* Waits until all that is queued on the stream is done. */
NDR_API ndr_status ndr_stream_wait(DLDevice device, void *stream);

/* Queues a copy between any two places that the host or the device can reach. Plain host memory may be read or written
 * before or after the call returns: neither use nor free it until the stream was waited for. */
NDR_API ndr_status ndr_copy(DLDevice device, void *to, const void *from, size_t bytes, void *stream);

/* ---- Stored elements -------------------------------------------------------------------------------------------- */

/* An exact number of any element type: i for signed integers, u for unsigned integers and bool, f for floats. */
typedef union ndr_packed {
  int64_t i;
  uint64_t u;
  double f;
} ndr_packed;

#define NDR_STORED_MISSING 16

/* How an array's elements are stored, if they differ from those that are reduced. Start from NDR_STORED_INIT(dtype).
 *
 * Elements lie in chunks. The chunks are stored one after the other in row-major order of their grid, and the elements
 * of a chunk in row-major order. Chunks are stored whole: the array begins `lead` elements inside the first chunk and
 * may end inside the last. An array that is not chunked is one chunk.
 *
 * An element x is missing if it equals one of missing[], or if `ranged` is set and least <= x <= most is false, as it
 * is for NaN. A missing element becomes a quiet NaN. Any other element becomes x * scale + offset, computed in f64 and
 * rounded after each step; scale and offset count as 1 and 0 unless `scaled`. An element that is not missing and keeps
 * its dtype keeps its bits, even if it is NaN. */
typedef struct ndr_stored {
  size_t size;                 /* sizeof(ndr_stored) */
  ndr_dtype dtype;             /* of stored elements */
  ndr_dtype result;            /* of reduced elements: the same, or f64 for any dtype but bool and complex */
  int swapped;                 /* not 0: not in this machine's byte order; the parts of complex are swapped each */
  int shuffled;                /* not 0: a chunk holds the first bytes of all its elements, then all second bytes ... */
  int ndim;                    /* of the array */
  int64_t shape[NDR_MAX_DIMS]; /* sizes of the array */
  int64_t chunk[NDR_MAX_DIMS]; /* sizes of a chunk, at least 1 */
  int64_t lead[NDR_MAX_DIMS];  /* 0 .. chunk - 1 */
  int scaled;                  /* not 0: result is f64 */
  double scale, offset;
  int missing_count; /* how many of missing[] count; 0 unless dtype is a float, or result is f64 */
  ndr_packed missing[NDR_STORED_MISSING];
  int ranged;
  ndr_packed least, most;
} ndr_stored;
#define NDR_STORED_INIT(dtype)                                                                                         \
  {                                                                                                                    \
    sizeof(ndr_stored), (dtype), (dtype), 0, 0, 0, {0}, {0}, {0}, 0, 1.0, 0.0, 0, {{0}}, 0, {0}, {                     \
      0                                                                                                                \
    }                                                                                                                  \
  }

/* Queues the conversion of an array from its stored form at `from`, which has all its chunks, to compact row-major
 * elements at `to`. GPU device_id must be able to reach both; they must be aligned to their dtype and not overlap.
 * `stored` may be freed when the call returns. Allocates nothing; the first call of a dtype loads its kernel.
 *
 * Fails with NDR_ERR_UNSUPPORTED for kDLCPU, and if several chunks, or a shuffled one, have 2^31 elements or more
 * together. Fails with NDR_ERR_ARGUMENT or NDR_ERR_DTYPE if the description is wrong. */
NDR_API ndr_status ndr_convert_stored(DLDevice device, const ndr_stored *stored, const void *from, void *to,
                                      void *stream);

#ifdef __cplusplus
}
#endif
#endif
