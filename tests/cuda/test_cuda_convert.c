/* Stored elements converted on the GPU: to the bit what the host makes of them, and at what rate. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "ndreduce/device.h"
#include "support/h5_stored.h"

static const DLDevice gpu = {kDLCUDA, 0};

/* The result goes between guards. */
static void check(const h5_stored *made) {
  void *from;
  gpu_block to;
  unsigned char *result = malloc(made->result_bytes);
  assert_ok(ndr_memory_allocate(gpu, made->bytes, &from));
  assert_ok(ndr_copy(gpu, from, made->data, made->bytes, NULL));
  gpu_block_make(&to, GPU_DEVICE, made->result_bytes, 0);
  assert_ok(ndr_convert_stored(gpu, &made->stored, from, to.start, NULL));
  assert_ok(ndr_copy(gpu, result, to.start, made->result_bytes, NULL));
  assert_ok(ndr_stream_wait(gpu, NULL));
  size_t same = 0; /* an assertion a byte would take minutes */
  while (same < made->result_bytes && result[same] == made->expected[same]) same++;
  ck_assert_msg(same == made->result_bytes, "%s: byte %zu of %zu", h5_stored_text(made), same, made->result_bytes);
  ck_assert(gpu_block_guarded(&to));
  gpu_block_free(&to);
  ndr_memory_free(gpu, from);
  free(result);
}

START_TEST(stored_elements_become_what_the_host_makes_of_them) {
  rng random = {test_seed() + (uint64_t)_i};
  double until = test_clock() + test_seconds(gpu_subset() ? 0 : 1);
  for (int i = 0; i < test_case_count(20) || test_clock() < until; i++) {
    h5_stored made;
    h5_stored_make(&made, (ndr_dtype)_i, 50000, &random);
    check(&made);
    h5_stored_free(&made);
  }
}
END_TEST

/* A dtype and layout of the size of slabs. */
static h5_stored slab_of(ndr_dtype dtype, int planes, int64_t rows) {
  h5_stored made = {.stored = NDR_STORED_INIT(dtype)};
  const int64_t shape[] = {rows, 500, 1000}, chunk[] = {8, 250, 512}, lead[] = {3, 0, 24};
  made.stored.shuffled = planes;
  made.stored.ndim = 3;
  memcpy(made.stored.shape, shape, sizeof shape);
  memcpy(made.stored.chunk, planes ? chunk : shape, sizeof chunk);
  if (planes) memcpy(made.stored.lead, lead, sizeof lead);
  return made;
}

/* Each thread of the largest grid goes round more than once. */
START_TEST(more_elements_than_threads_in_flight) {
  rng random = {test_seed()};
  h5_stored made = slab_of(NDR_I16, 1, gpu_subset() ? 2 : 45);
  h5_stored_fill(&made, &random);
  check(&made);
  h5_stored_free(&made);
}
END_TEST

/* The kernels count in 32 bits. Bytes are 1 up to the last million, then 2. */
START_TEST(arrays_of_more_than_2_31_elements) {
  const size_t count = ((size_t)1 << 31) + 12345, last = 1000000;
  ndr_stored stored = NDR_STORED_INIT(NDR_U8);
  unsigned char *from, *to, ends[2], *tail;
  if (gpu_subset()) return;
  tail = malloc(last);
  assert_cuda(cudaMalloc((void **)&from, count));
  assert_cuda(cudaMalloc((void **)&to, count));
  assert_cuda(cudaMemset(from, 1, count - last));
  assert_cuda(cudaMemset(from + count - last, 2, last));
  assert_cuda(cudaMemset(to, 0, count));
  stored.ndim = 1;
  stored.shape[0] = stored.chunk[0] = (int64_t)count;
  assert_ok(ndr_convert_stored(gpu, &stored, from, to, NULL));
  assert_cuda(cudaMemcpy(ends, to, 1, cudaMemcpyDeviceToHost));
  assert_cuda(cudaMemcpy(ends + 1, to + count - last - 1, 1, cudaMemcpyDeviceToHost));
  assert_cuda(cudaMemcpy(tail, to + count - last, last, cudaMemcpyDeviceToHost));
  ck_assert(ends[0] == 1 && ends[1] == 1);
  size_t same = 0;
  while (same < last && tail[same] == 2) same++;
  ck_assert_uint_eq(same, last);
  stored.shuffled = 1;
  assert_fails(ndr_convert_stored(gpu, &stored, from, to, NULL), NDR_ERR_UNSUPPORTED, "2^31");
  assert_cuda(cudaFree(from));
  assert_cuda(cudaFree(to));
  free(tail);
}
END_TEST

/* ---- Rates ------------------------------------------------------------------------------------------------------ */

static double seconds_of(const ndr_stored *stored, const void *from, void *to) {
  cudaEvent_t begin, end;
  float best = 1e9F, milliseconds;
  assert_cuda(cudaEventCreate(&begin));
  assert_cuda(cudaEventCreate(&end));
  for (int i = 0; i < 20; i++) {
    assert_cuda(cudaEventRecord(begin, NULL));
    assert_ok(ndr_convert_stored(gpu, stored, from, to, NULL));
    assert_cuda(cudaEventRecord(end, NULL));
    assert_cuda(cudaEventSynchronize(end));
    assert_cuda(cudaEventElapsedTime(&milliseconds, begin, end));
    if (milliseconds < best) best = milliseconds;
  }
  assert_cuda(cudaEventDestroy(begin));
  assert_cuda(cudaEventDestroy(end));
  return best * 1e-3;
}

/* Told, not asserted: what matters is that it is far above the rate of copies to the GPU, about 55 GB/s. */
static void tell_rate(const char *what, ndr_stored stored) {
  int64_t count = 1;
  void *from, *to;
  for (int d = 0; d < stored.ndim; d++) count *= stored.shape[d];
  /* Chunks at the edges make what is stored up to 2.1 times as much. */
  size_t in = (size_t)count * ndr_dtype_bytes(stored.dtype), out = (size_t)count * ndr_dtype_bytes(stored.result);
  assert_ok(ndr_memory_allocate(gpu, 3 * in, &from));
  assert_ok(ndr_memory_allocate(gpu, out, &to));
  assert_cuda(cudaMemset(from, 1, 3 * in));
  double seconds = seconds_of(&stored, from, to);
  printf("%s: %.0f us, %.0f GB/s of what is stored, %.0f GB/s read and written\n", what, seconds * 1e6,
         (double)in / seconds / 1e9, (double)(in + out) / seconds / 1e9);
  ndr_memory_free(gpu, from);
  ndr_memory_free(gpu, to);
}

START_TEST(rates) {
  ndr_stored packed = slab_of(NDR_I16, 0, 16).stored, shuffled = slab_of(NDR_F32, 1, 8).stored;
  ndr_stored both = slab_of(NDR_I16, 1, 16).stored;
  if (gpu_subset()) return;
  packed.result = NDR_F64;
  packed.swapped = packed.scaled = packed.missing_count = 1;
  packed.scale = 0.01;
  both.result = NDR_F64;
  both.scaled = 1;
  tell_rate("i16, big-endian, packed, one missing value, to f64", packed);
  tell_rate("f32, shuffled chunks", shuffled);
  tell_rate("i16, shuffled chunks, packed, to f64", both);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("stored elements on the GPU");
  TCase *tests = tcase_create("convert");
  tcase_set_timeout(tests, 300);
  tcase_add_loop_test(tests, stored_elements_become_what_the_host_makes_of_them, 0, NDR_DTYPE_COUNT);
  tcase_add_test(tests, more_elements_than_threads_in_flight);
  tcase_add_test(tests, arrays_of_more_than_2_31_elements);
  tcase_add_test(tests, rates);
  suite_add_tcase(suite, tests);
  return gpu_suite_run(suite);
}
