/* Partial states in device memory: identity, merge, finish. */
#include "cuda/states.h"

#include <string.h>

#include "cuda/compile/compile.h"
#include "cuda/device.h"
#include "cuda/library.h"
#include "cuda/start.h"
#include "spec/params.h"

enum { THREADS = 256, MOST_BLOCKS = 1 << 16 };

/* Fills in what a walk needs; *blocks is 0 where nothing is to be done. */
static void begin(const ndr_state *state, const ndr_walk *walk, ndr_states_params *params, unsigned *blocks) {
  params->count = 1;
  params->ddof = state->ddof;
  params->axis_count = walk->count;
  for (int a = 0; a < walk->count; a++) {
    params->axes[a].size = walk->axes[a].size;
    params->axes[a].from = walk->axes[a].from;
    params->axes[a].to = walk->axes[a].to;
    params->count *= walk->axes[a].size;
  }
  int64_t wanted = (params->count + THREADS - 1) / THREADS;
  *blocks = (unsigned)(wanted < MOST_BLOCKS ? wanted : MOST_BLOCKS);
}

static ndr_status launch(cudaKernel_t kernel, int id, unsigned blocks, void *params, void *stream) {
  const ndr_cuda_grid grid = {blocks, THREADS, 0};
  int before;
  NDR_TRY(ndr_cuda_enter(id, &before));
  ndr_status status = ndr_cuda_start(kernel, &grid, params, stream);
  ndr_cuda_leave(id, before);
  return status;
}

/* Merges or finishes states of a built-in operator. */
static ndr_status run(const ndr_state *state, int id, const ndr_walk *walk, ndr_states_params *params, void *stream) {
  cudaKernel_t kernel;
  unsigned blocks;
  bool skip = state->skip_nan && ndr_dtype_is_float(state->dtype);
  begin(state, walk, params, &blocks);
  if (blocks == 0) return NDR_OK;
  NDR_TRY(ndr_cuda_kernel(skip ? NDR_KERNEL_STATES_SKIP : NDR_KERNEL_STATES, state->op, state->dtype, &kernel));
  return launch(kernel, id, blocks, params, stream);
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
  uint64_t words[NDR_MAX_PROGRAM_WORDS];
  int before;
  cudaError_t error = cudaSuccess;
  ndr_state_identity(state, words, 1, 1);
  NDR_TRY(ndr_cuda_enter(id, &before));
  for (int w = 0; error == cudaSuccess && count > 0 && w < ndr_state_size(state); w++)
    error = fill(states + w * count, count, words[w], (cudaStream_t)stream);
  ndr_cuda_leave(id, before);
  return error == cudaSuccess ? NDR_OK : ndr_cuda_fail(error, "filling states");
}

/* Two arrays of states. */
typedef struct arrays {
  const uint64_t *from;
  uint64_t *to;
  int64_t from_pitch, to_pitch;
} arrays;

static ndr_status merge(const ndr_state *state, int id, const ndr_walk *walk, const arrays *a, int word, void *stream) {
  ndr_states_params params = {.from = (const unsigned long long *)a->from + word * a->from_pitch,
                              .to = a->to + word * a->to_pitch,
                              .from_pitch = a->from_pitch,
                              .to_pitch = a->to_pitch};
  return run(state, id, walk, &params, stream);
}

/* States of weighted parts are f64. They merge as those of built-in operators of f64 do: moments, where the last word
 * may be a sum of its own, or sums, word by word. */
static ndr_status merge_weighted(const ndr_state *part, int id, const ndr_walk *walk, const arrays *a, int before,
                                 void *stream) {
  bool is_complex = ndr_dtype_is_complex(part->dtype);
  ndr_state moments = {.op = NDR_VAR, .dtype = is_complex ? NDR_C128 : NDR_F64},
            sum = {.op = NDR_SUM, .dtype = NDR_F64};
  int words = ndr_state_size(part), done = 0;
  if (part->op == NDR_VAR || part->op == NDR_STD) {
    NDR_TRY(merge(&moments, id, walk, a, before, stream));
    done = ndr_state_size(&moments);
  }
  for (; done < words; done++) NDR_TRY(merge(&sum, id, walk, a, before + done, stream));
  return NDR_OK;
}

ndr_status ndr_cuda_states_merge(const ndr_state *state, int id, const ndr_walk *walk, const uint64_t *from,
                                 int64_t from_pitch, uint64_t *to, int64_t to_pitch, void *stream) {
  arrays both = {from, to, from_pitch, to_pitch};
  if (!state->program) return merge(state, id, walk, &both, 0, stream);
  for (int k = 0; k < state->program->part_count; k++) {
    int before;
    ndr_state part = ndr_state_part(state, k, &before);
    NDR_TRY(part.weighted ? merge_weighted(&part, id, walk, &both, before, stream)
                          : merge(&part, id, walk, &both, before, stream));
  }
  return NDR_OK;
}

static ndr_status finish_program(const ndr_state *state, int id, const ndr_walk *walk,
                                 ndr_program_states_params *params, void *stream) {
  const ndr_program *program = state->program;
  ndr_device device;
  cudaKernel_t kernel;
  unsigned blocks;
  int before;
  begin(state, walk, &params->base, &blocks);
  if (blocks == 0) return NDR_OK;
  memcpy(params->parameters, program->parameters, (size_t)program->parameter_count * sizeof *params->parameters);
  NDR_TRY(ndr_cuda_device(id, &device));
  NDR_TRY(ndr_cuda_enter(id, &before)); /* machine code is loaded for the device at hand */
  ndr_status status = ndr_cuda_compile_finish(program, device.capability, &kernel);
  ndr_cuda_leave(id, before);
  return status == NDR_OK ? launch(kernel, id, blocks, params, stream) : status;
}

ndr_status ndr_cuda_states_finish(const ndr_state *state, int id, const ndr_walk *walk, const uint64_t *from,
                                  int64_t from_pitch, void *to, void *stream) {
  ndr_program_states_params params = {
      .base = {.from = (const unsigned long long *)from, .to = to, .from_pitch = from_pitch, .finish = 1}};
  return state->program ? finish_program(state, id, walk, &params, stream) : run(state, id, walk, &params.base, stream);
}
