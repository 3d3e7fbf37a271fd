/* Memory that all problems of a list share, as large as the largest takes. Filled once, before anything is timed. */
#include <stdlib.h>
#include <string.h>

#include "ndbench/trial.h"

enum { ALIGNMENT = 256 };

double bench_result_offsets(const ndr_problem *reduction, size_t *offsets) {
  double written = 0;
  offsets[0] = 0;
  for (int i = 0; i < reduction->op_count; i++) {
    int64_t shape[NDR_MAX_DIMS];
    DLTensor result = {.shape = shape};
    if (ndr_problem_result(reduction, i, &result) != NDR_OK) return -1;
    size_t bytes = result.dtype.bits / 8;
    for (int d = 0; d < result.ndim; d++) bytes *= (size_t)shape[d];
    written += (double)bytes;
    offsets[i + 1] = offsets[i] + (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }
  return written;
}

/* Words of 16 bits, the sign and nine more of them random, that are numbers of every dtype: as bf16, and as the upper
 * half of f32 and c64, from 1/16 to 1, the magnitudes that bench_same expects; as f16 from 1.375 to 1.875; as the upper
 * quarter of f64 small, but normal. In integers a few bits are the same everywhere, which no kernel can profit from. */
static void fill(const bench_options *options, uint16_t *words, size_t count) {
  ndr_problem bits = {.dtype = NDR_U16};
  bench_fill(options, &bits, words, count * sizeof *words);
#pragma omp parallel for schedule(static) num_threads(bench_threads(options))
  for (int64_t i = 0; i < (int64_t)count; i++)
    words[i] = (uint16_t)((words[i] & 0x8000) | (0x3d80 + (words[i] & 0x1ff)));
}

/* Copies read half of the bytes that a problem moves, and write the other half. Where caches are cold, the ceiling is
 * that of large reads and copies. */
static void make_room_for_loops(bench_pool *pool) {
  size_t large = pool->options->device->cold ? 256 << 20 : 0;
  if (pool->bytes < large) pool->bytes = large;
  if (pool->result_bytes < pool->bytes / 2) pool->result_bytes = pool->bytes / 2;
}

/* The most that any problem reads and writes. A problem that is not one is found out when it is run. */
static void measure_list(bench_pool *pool, const bench_list *list) {
  for (int i = 0; i < list->count; i++) {
    const ndr_problem *reduction = &list->problems[i].reduction;
    size_t offsets[NDR_MAX_OPS + 1];
    int64_t low, high;
    if (ndr_problem_extent(reduction, &low, &high) != NDR_OK || bench_result_offsets(reduction, offsets) < 0) continue;
    size_t bytes = (size_t)(high - low + 1) * ndr_dtype_bytes(reduction->dtype);
    if (pool->bytes < bytes) pool->bytes = bytes;
    if (pool->result_bytes < offsets[reduction->op_count]) pool->result_bytes = offsets[reduction->op_count];
  }
}

const char *bench_pool_open(bench_pool *pool, const bench_options *options, const bench_list *list) {
  const bench_device *device = options->device;
  *pool = (bench_pool){.options = options, .bytes = ALIGNMENT, .result_bytes = ALIGNMENT};
  measure_list(pool, list);
  if (options->gauge) make_room_for_loops(pool);
  pool->host = bench_allocate(pool->bytes);
  pool->result_host = bench_allocate(pool->result_bytes);
  if (pool->host && pool->result_host) {
    fill(options, pool->host, pool->bytes / sizeof(uint16_t));
    memset(pool->result_host, 0xa5, pool->result_bytes);
    pool->placed = device->place_data(pool->host, pool->bytes);
    pool->result = device->place_data(pool->result_host, pool->result_bytes);
  }
  if (pool->placed && pool->result) return NULL;
  bench_pool_close(pool);
  return "out of memory for the largest problem";
}

void bench_pool_close(bench_pool *pool) {
  const bench_device *device = pool->options->device;
  if (pool->result) device->drop_data(pool->result, pool->result_host);
  if (pool->placed) device->drop_data(pool->placed, pool->host);
  free(pool->result_host);
  free(pool->host);
}
