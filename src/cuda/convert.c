/* Fills in the arguments of the kernel in kernels/convert.cuh and launches it. */
#include "cuda/convert.h"

#include <string.h>

#include "cuda/device.h"
#include "cuda/library.h"
#include "cuda/start.h"
#include "gpuplan/launch.h"
#include "spec/convert.h"

_Static_assert(NDR_CONVERT_AXES >= NDR_MAX_DIMS && NDR_CONVERT_MISSING >= NDR_STORED_MISSING,
               "a kernel takes them all");

/* The most blocks of a launch, more than any GPU runs at once. With these a thread converts several elements. */
enum { MOST_BLOCKS = 1 << 16 };

static ndr_convert_divisor divisor(int64_t by) {
  ndr_param_divisor found = ndr_divisor(by);
  return (ndr_convert_divisor){(unsigned)by, found.magic, found.shift};
}

/* One or several dims of the array, merged. */
typedef struct dim {
  int64_t size, chunk, lead;
} dim;

/* Lists the array's dims, innermost first. A dim that one chunk holds whole is merged with the next outer one, because
 * its elements lie in the array as they do in the chunk. */
static int merge(const ndr_stored *stored, dim *dims) {
  int count = 0;
  for (int d = stored->ndim - 1; d >= 0; d--) {
    dim outer = {stored->shape[d], stored->chunk[d], stored->lead[d]};
    dim *inner = count ? &dims[count - 1] : NULL;
    if (inner && inner->lead == 0 && inner->chunk == inner->size)
      *inner = (dim){outer.size * inner->size, outer.chunk * inner->size, outer.lead * inner->size};
    else
      dims[count++] = outer;
  }
  return count;
}

static void lay_out(const dim *dims, int count, bool planes, ndr_convert_params *p) {
  int64_t stride = 1, grid = 1, elements = 1;
  p->axis_count = count;
  for (int a = 0; a < count; a++) grid *= dims[a].chunk;
  p->plane = planes ? (unsigned)grid : 0;
  for (int a = 0; a < count; a++) {
    const dim *d = &dims[a];
    p->axes[a] =
        (ndr_convert_axis){divisor(d->size), divisor(d->chunk), (unsigned)d->lead, (unsigned)stride, (unsigned)grid};
    stride *= d->chunk;
    grid *= (d->lead + d->size + d->chunk - 1) / d->chunk;
    elements *= d->size;
  }
  p->count = (unsigned)elements;
}

static unsigned long long bits_of(ndr_packed number) {
  unsigned long long bits;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}

static void give_meaning(const ndr_stored *stored, ndr_convert_params *p) {
  bool complex = ndr_dtype_class(stored->dtype) == NDR_CLASS_COMPLEX;
  int bytes = (int)ndr_dtype_bytes(stored->dtype);
  p->flip = stored->swapped ? (complex ? bytes / 2 : bytes) - 1 : 0;
  p->missing_count = stored->missing_count;
  for (int m = 0; m < stored->missing_count; m++) p->missing[m] = bits_of(stored->missing[m]);
  p->ranged = stored->ranged != 0;
  p->least = bits_of(stored->least);
  p->most = bits_of(stored->most);
  p->scale = stored->scaled ? stored->scale : 1;
  p->offset = stored->scaled ? stored->offset : 0;
  p->way = stored->scaled || stored->result != stored->dtype ? NDR_CONVERT_WIDEN
           : p->missing_count > 0 || p->ranged               ? NDR_CONVERT_MARK
                                                             : NDR_CONVERT_COPY;
}

static ndr_status launch(cudaKernel_t kernel, ndr_convert_params *params, void *stream) {
  unsigned blocks = (params->count - 1) / NDR_CONVERT_THREADS + 1;
  const ndr_cuda_grid grid = {blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS, NDR_CONVERT_THREADS, 0};
  return ndr_cuda_start(kernel, &grid, params, stream);
}

/* The kernels count elements in 32 bits. An array that is not chunked may be longer, and takes several launches. */
static ndr_status run(const ndr_stored *stored, cudaKernel_t kernel, ndr_convert_params *params, void *stream) {
  const int64_t most = (int64_t)1 << 30;
  dim dims[NDR_MAX_DIMS];
  int count = merge(stored, dims);
  bool linear = !stored->shuffled && (count == 0 || (count == 1 && dims[0].lead == 0 && dims[0].chunk == dims[0].size));
  if (!linear) {
    lay_out(dims, count, stored->shuffled, params);
    return launch(kernel, params, stream);
  }
  const char *from = params->from;
  char *to = params->to;
  for (int64_t done = 0, all = count ? dims[0].size : 1; done < all; done += most) {
    dim stretch = {all - done < most ? all - done : most, all - done < most ? all - done : most, 0};
    lay_out(&stretch, 1, false, params);
    params->from = from + done * (int64_t)ndr_dtype_bytes(stored->dtype);
    params->to = to + done * (int64_t)ndr_dtype_bytes(stored->result);
    NDR_TRY(launch(kernel, params, stream));
  }
  return NDR_OK;
}

ndr_status ndr_cuda_convert(int id, const ndr_stored *stored, const void *from, void *to, void *stream) {
  ndr_convert_params params = {.from = from, .to = to};
  cudaKernel_t kernel;
  int before;
  give_meaning(stored, &params);
  NDR_TRY(ndr_cuda_convert_kernel(stored->dtype, &kernel));
  NDR_TRY(ndr_cuda_enter(id, &before));
  ndr_status status = run(stored, kernel, &params, stream);
  ndr_cuda_leave(id, before);
  return status;
}
