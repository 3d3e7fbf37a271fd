/* Partial states in device memory: identity, merge, finish. */
#include "cuda/states.h"

#include "cuda/device.h"
#include "cuda/library.h"
#include "spec/params.h"

enum { THREADS = 256, MOST_BLOCKS = 1 << 16 };

static ndr_status run(const ndr_state *state, int id, const ndr_walk *walk, ndr_states_params *params, void *stream) {
  cudaKernel_t kernel;
  int before;
  params->count = 1;
  params->ddof = state->ddof;
  params->axis_count = walk->count;
  for (int a = 0; a < walk->count; a++) {
    params->axes[a].size = walk->axes[a].size;
    params->axes[a].from = walk->axes[a].from;
    params->axes[a].to = walk->axes[a].to;
    params->count *= walk->axes[a].size;
  }
  if (params->count == 0) return NDR_OK;
  int64_t blocks = (params->count + THREADS - 1) / THREADS;
  void *arguments[] = {params};
  bool skip = state->skip_nan && ndr_dtype_is_float(state->dtype);
  NDR_TRY(ndr_cuda_kernel(skip ? NDR_KERNEL_STATES_SKIP : NDR_KERNEL_STATES, state->op, state->dtype, &kernel));
  NDR_TRY(ndr_cuda_enter(id, &before));
  cudaError_t error =
      cudaLaunchKernel((const void *)kernel, (dim3){(unsigned)(blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS), 1, 1},
                       (dim3){THREADS, 1, 1}, arguments, 0, (cudaStream_t)stream);
  ndr_cuda_leave(id, before);
  return error == cudaSuccess ? NDR_OK : ndr_cuda_fail(error, "cudaLaunchKernel of a states kernel");
}

/* Fills `count` words with a value. A memset sets equal bytes only; other values are copied once and then doubled. */
static cudaError_t fill(uint64_t *words, int64_t count, uint64_t value, cudaStream_t stream) {
  uint32_t half = (uint32_t)value;
  if (value >> 32 == half && half % 0x01010101u == 0)
    return cudaMemsetAsync(words, (int)(half & 255), (size_t)count * 8, stream);
  cudaError_t error = cudaMemcpyAsync(words, &value, 8, cudaMemcpyHostToDevice, stream);
  for (int64_t done = 1; error == cudaSuccess && done < count; done *= 2)
    error = cudaMemcpyAsync(words + done, words, (size_t)(done < count - done ? done : count - done) * 8,
                            cudaMemcpyDeviceToDevice, stream);
  return error;
}

ndr_status ndr_cuda_states_identity(const ndr_state *state, int id, uint64_t *states, int64_t count, void *stream) {
  uint64_t words[NDR_MAX_WORDS];
  int before;
  cudaError_t error = cudaSuccess;
  ndr_state_identity(state, words, 1, 1);
  NDR_TRY(ndr_cuda_enter(id, &before));
  for (int w = 0; error == cudaSuccess && count > 0 && w < ndr_state_words(state->op, state->dtype); w++)
    error = fill(states + w * count, count, words[w], (cudaStream_t)stream);
  ndr_cuda_leave(id, before);
  return error == cudaSuccess ? NDR_OK : ndr_cuda_fail(error, "filling states");
}

ndr_status ndr_cuda_states_merge(const ndr_state *state, int id, const ndr_walk *walk, const uint64_t *from,
                                 int64_t from_pitch, uint64_t *to, int64_t to_pitch, void *stream) {
  ndr_states_params params = {
      .from = (const unsigned long long *)from, .to = to, .from_pitch = from_pitch, .to_pitch = to_pitch};
  return run(state, id, walk, &params, stream);
}

ndr_status ndr_cuda_states_finish(const ndr_state *state, int id, const ndr_walk *walk, const uint64_t *from,
                                  int64_t from_pitch, void *to, void *stream) {
  ndr_states_params params = {
      .from = (const unsigned long long *)from, .to = to, .from_pitch = from_pitch, .finish = 1};
  return run(state, id, walk, &params, stream);
}
