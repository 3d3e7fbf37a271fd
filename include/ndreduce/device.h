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
 * What it takes to bring data to a GPU, without a header of CUDA. `device` is where memory is: kDLCPU, plain host
 * memory; kDLCUDA, the memory of GPU device_id; kDLCUDAHost, pinned host memory, which GPUs copy from and to at full
 * speed while the host goes on. Streams, copies and waits are those of GPU device_id for both of the latter; for kDLCPU
 * streams are NULL, and all is done when a call returns.
 *
 * All fail with NDR_ERR_NO_DEVICE where there is no such device, saying why, with NDR_ERR_MEMORY where memory runs out,
 * and with NDR_ERR_DEVICE where the device refuses, which may be for something that was queued before.
 *
 * What ndreduce.h says of errors, threads and structs that start with their size holds here, too. */
#ifndef NDREDUCE_DEVICE_H
#define NDREDUCE_DEVICE_H

#include "ndreduce/ndreduce.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Memory and streams ----------------------------------------------------------------------------------------- */

/* Not 0 if this build has a backend for devices of a type, whether or not there is one. Asks no device, and so takes no
 * time. */
NDR_API int ndr_device_supported(DLDeviceType type);

/* How many devices of a type there are: one CPU. Fails with NDR_ERR_NO_DEVICE where there are none. */
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

/* What is queued on stream from now on begins after all that is queued on leader now, which is a stream of device;
 * stream may be another GPU's. */
NDR_API ndr_status ndr_stream_follow(DLDevice device, void *stream, void *leader);

/* Waits until all that is queued on the stream is done. */
NDR_API ndr_status ndr_stream_wait(DLDevice device, void *stream);

/* Queues a copy between any two places that the host or the device can reach. Where one of them is plain host memory,
 * that may be read or written before or after the call returns: neither touch nor free it until the stream was waited
 * for. */
NDR_API ndr_status ndr_copy(DLDevice device, void *to, const void *from, size_t bytes, void *stream);

/* ---- Stored elements -------------------------------------------------------------------------------------------- */

/* A number of an element type, exactly: i of signed integers, u of unsigned ones and bool, f of floats. */
typedef union ndr_packed {
  int64_t i;
  uint64_t u;
  double f;
} ndr_packed;

#define NDR_STORED_MISSING 16

/* How an array's elements are stored, where that is not as they are reduced. Start from NDR_STORED_INIT(dtype).
 *
 * Elements lie in chunks, one after the other in row-major order of the grid that they make, and in each chunk in
 * row-major order. The array begins `lead` elements inside the first chunk and may end inside the last: chunks are
 * stored whole. One chunk that is the array is an array that is not chunked.
 *
 * An element x is missing where it equals one of missing[], and under `ranged` unless least <= x <= most (so NaN is).
 * It becomes a quiet NaN, any other x * scale + offset, rounded twice in f64, by 1 and 0 unless `scaled`. What keeps
 * its dtype and is not missing keeps its bits, NaN included. */
typedef struct ndr_stored {
  size_t size;                 /* sizeof(ndr_stored) */
  ndr_dtype dtype, result;     /* stored, and reduced: the same, or f64 of any but bool and complex */
  int swapped;                 /* not 0: in the other byte order than this machine's, complex part by part */
  int shuffled;                /* not 0: a chunk's first bytes of all elements, then all second ones, and so on */
  int ndim;                    /* of the array */
  int64_t shape[NDR_MAX_DIMS]; /* its sizes */
  int64_t chunk[NDR_MAX_DIMS]; /* a chunk's, at least 1 */
  int64_t lead[NDR_MAX_DIMS];  /* 0 .. chunk - 1 */
  int scaled;                  /* not 0: result is f64 */
  double scale, offset;
  int missing_count; /* of dtype: floats, or numbers whose result is f64 */
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

/* Queues the conversion of an array from its stored form at `from`, all chunks of it, into compact row-major elements
 * at `to`, both in memory that GPU device_id can reach, aligned to their dtype, and not overlapping. stored may go when
 * the call returns. Allocates nothing; the first call of a dtype loads its kernel.
 *
 * For GPUs alone: fails with NDR_ERR_UNSUPPORTED for kDLCPU, and where several chunks, or a shuffled one, have 2^31
 * elements or more together; with NDR_ERR_ARGUMENT and NDR_ERR_DTYPE on a description that is wrong. */
NDR_API ndr_status ndr_convert_stored(DLDevice device, const ndr_stored *stored, const void *from, void *to,
                                      void *stream);

#ifdef __cplusplus
}
#endif
#endif
