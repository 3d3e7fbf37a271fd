/* Copies slabs to the device that reduces them, and results back. Several slabs are under way at once, each in a
 * buffer: device memory, and a stream on which the slab is copied there. Reductions are queued on one stream that all
 * buffers share, so slabs are added in the order in which they were copied. On the CPU nothing is copied, and there is
 * one buffer. */
#ifndef NDR_H5_READ_UPLOADER_H
#define NDR_H5_READ_UPLOADER_H

#include <stdbool.h>

#include "ndreduce/device.h"
#include "ndreduce/plan.h"

/* One slab is copied while the one before it is reduced. */
#define NDR_UPLOAD_BUFFERS 2

typedef struct ndr_uploader {
  DLDevice device;
  void *stream; /* on which slabs are reduced */
  int buffer_count;
  struct {
    void *memory, *stream;
    void *stored; /* for slabs that have yet to be converted; NULL where none has */
    void *beside; /* for what belongs to a slab beside it; NULL where nothing does */
  } buffers[NDR_UPLOAD_BUFFERS];
  int64_t queued, completed; /* numbers of slabs */
} ndr_uploader;

/* Opens `buffers` buffers of slab_bytes, each with stored_bytes and beside_bytes more if these are not 0; on the CPU
 * one buffer of none. Close the uploader even if opening fails, and before the memory is freed that slabs are copied
 * from. */
ndr_status ndr_uploader_open(ndr_uploader *uploader, DLDevice device, int64_t slab_bytes, int64_t stored_bytes,
                             int64_t beside_bytes, int buffers);
void ndr_uploader_close(ndr_uploader *uploader);

/* Queues the copy of something that belongs to the next slab, to `place` bytes behind the beginning of its buffer's
 * room for that. To be called before the slab is copied. With no bytes, only says where the place is. */
ndr_status ndr_uploader_copy_beside(ndr_uploader *uploader, int64_t place, const void *data, int64_t bytes,
                                    void **there);

/* Queues the copy of a slab of `bytes` bytes to the next buffer, and its conversion there unless `stored` is NULL.
 * *there is where work on the uploader's stream finds the slab. data must not change until the slab has been waited
 * for. To be called while fewer slabs are under way than there are buffers. */
ndr_status ndr_uploader_copy(ndr_uploader *uploader, const void *data, int64_t bytes, const ndr_stored *stored,
                             const void **there);

/* Call after queueing the last reader of the slab copied last: its buffer may be used again once that is done. */
ndr_status ndr_uploader_release(ndr_uploader *uploader);

/* Waits until the oldest slab under way has been reduced. */
ndr_status ndr_uploader_wait_oldest(ndr_uploader *uploader);

/* As ndr_accumulator_finish, for `count` results in host memory. The accumulator's stream must be the uploader's. */
ndr_status ndr_uploader_finish(const ndr_uploader *uploader, const ndr_accumulator *accumulator, int count,
                               DLTensor *const *results);

#endif
