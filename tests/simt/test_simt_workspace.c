/* Workspaces that the CUDA backend lends: kept by stream, all zero, and where they were for as long as
 * somebody may still launch with them. */
#include <cuda_runtime_api.h>
#include <stdlib.h>

#include "control.h"
#include "cuda/workspace.h"
#include "gpuplan/launch.h"
#include "memory.h"
#include "support/gpus.h"
#include "support/suite.h"

enum { KEPT_STREAMS = 32 };

static ndr_plan small, large;

static void set_up(void) {
  simt_controls.capturing = simt_controls.lazy = false;
  simt_controls.memory_left = -1;
  assert_ok(gpu_plan(&small, "sum f32 [1000000] /0", &gpus[2], "tree"));
  assert_ok(gpu_plan(&large, "var f32 [4096,100000] /0", &gpus[2], "thread"));
  large.workspace += 64 << 20;
  ck_assert_uint_gt(small.workspace, 0);
}

static void *stream(int number) {
  return (void *)(uintptr_t)(number + 1);
}

/* Of a stream that may be late, so that the memory is not yet 0. */
static char *borrow_later(const ndr_plan *plan, void *on) {
  void *memory;
  assert_ok(ndr_cuda_borrow_workspace(plan, on, &memory));
  return memory;
}

static char *borrow(const ndr_plan *plan, void *on) {
  char *memory = borrow_later(plan, on);
  const char *bytes = memory;
  ck_assert(bytes[0] == 0 && memcmp(bytes, bytes + 1, plan->workspace - 1) == 0); /* all are 0 */
  return memory;
}

START_TEST(a_stream_keeps_its_workspace) {
  char *first = borrow(&small, stream(0));
  ndr_cuda_return_workspace(&small, first, true, stream(0));
  int living = simt_living_blocks();
  char *again = borrow(&small, stream(0)), *other = borrow(&small, stream(1));
  ck_assert_ptr_eq(again, first);
  ck_assert_ptr_ne(other, first);
  ck_assert_int_eq(simt_living_blocks(), living + 1);
  ndr_cuda_return_workspace(&small, again, true, stream(0));
  ndr_cuda_return_workspace(&small, other, true, stream(1));
}
END_TEST

START_TEST(what_is_lent_does_not_move) {
  char *held = borrow(&small, stream(0));
  memset(held, 1, small.workspace);
  int living = simt_living_blocks();
  char *more = borrow(&large, stream(0)); /* another thread, the same stream: the kept one would have to grow */
  memset(more, 2, large.workspace);
  for (size_t i = 0; i < small.workspace; i++) ck_assert_int_eq(held[i], 1);
  memset(held, 0, small.workspace); /* as a kernel leaves it */
  memset(more, 0, large.workspace);
  ndr_cuda_return_workspace(&large, more, true, stream(0));
  ck_assert_int_eq(simt_living_blocks(), living); /* that was for once */
  ndr_cuda_return_workspace(&small, held, true, stream(0));
  more = borrow(&large, stream(0));
  ck_assert_int_eq(simt_living_blocks(), living);
  ndr_cuda_return_workspace(&large, more, true, stream(0));
}
END_TEST

START_TEST(many_streams_take_turns) {
  char *held[KEPT_STREAMS + 4];
  for (int s = 0; s < KEPT_STREAMS + 4; s++) {
    held[s] = borrow(&small, stream(s));
    memset(held[s], s, small.workspace);
  }
  for (int s = 0; s < KEPT_STREAMS + 4; s++) {
    for (size_t i = 0; i < small.workspace; i++) ck_assert_int_eq(held[s][i], s);
    memset(held[s], 0, small.workspace);
    ndr_cuda_return_workspace(&small, held[s], true, stream(s));
  }
  for (int s = 0; s < 3 * KEPT_STREAMS; s++)
    ndr_cuda_return_workspace(&small, borrow(&small, stream(s)), true, stream(s));
  ck_assert_int_le(simt_living_blocks(), KEPT_STREAMS);
}
END_TEST

/* Streams of device 0 take the places of all others: what device 1 is yet to do with a workspace is waited for. */
START_TEST(what_another_device_uses_is_not_freed) {
  ndr_plan there = small;
  cudaStream_t late;
  int done = 0;
  there.device.id = 1;
  simt_controls.lazy = true;
  ck_assert_int_eq(cudaSetDevice(1), cudaSuccess);
  ck_assert_int_eq(cudaStreamCreateWithFlags(&late, cudaStreamNonBlocking), cudaSuccess);
  ck_assert_int_eq(cudaSetDevice(0), cudaSuccess);
  char *memory = borrow_later(&there, late);
  ck_assert_int_eq(cudaMemsetAsync(memory, 0, there.workspace, late), cudaSuccess); /* for a kernel */
  ck_assert_int_eq(cudaMemsetAsync(&done, 1, sizeof done, late), cudaSuccess);
  ndr_cuda_return_workspace(&there, memory, true, late);
  ck_assert_int_eq(done, 0);
  for (int s = 0; s < 2 * KEPT_STREAMS; s++)
    ndr_cuda_return_workspace(&small, borrow(&small, stream(s)), true, stream(s));
  ck_assert_int_ne(done, 0);
  ck_assert_int_eq(cudaStreamDestroy(late), cudaSuccess);
}
END_TEST

/* Of two that share a stream's workspace one leaves it as it may not be. */
START_TEST(what_is_left_dirty_is_not_lent_again) {
  char *one = borrow(&small, stream(0)), *other = borrow(&small, stream(0));
  ck_assert_ptr_eq(one, other);
  memset(one, 1, small.workspace);
  ndr_cuda_return_workspace(&small, one, false, stream(0));
  char *next = borrow(&small, stream(0)); /* which is all 0 */
  ck_assert_ptr_ne(next, other);
  ndr_cuda_return_workspace(&small, other, true, stream(0));
  ndr_cuda_return_workspace(&small, next, true, stream(0));
  ndr_cuda_return_workspace(&small, borrow(&small, stream(0)), true, stream(0));
}
END_TEST

START_TEST(a_capture_has_memory_of_its_own) {
  char *kept = borrow(&small, stream(0));
  ndr_cuda_return_workspace(&small, kept, true, stream(0));
  int living = simt_living_blocks();
  simt_controls.capturing = true;
  char *node = borrow(&small, stream(0));
  ck_assert_ptr_ne(node, kept);
  ndr_cuda_return_workspace(&small, node, true, stream(0));
  ck_assert_int_eq(simt_living_blocks(), living);
}
END_TEST

START_TEST(running_out_of_memory_is_survived) {
  void *memory;
  simt_controls.memory_left = 0;
  assert_fails(ndr_cuda_borrow_workspace(&small, stream(7), &memory), NDR_ERR_MEMORY, "out of device memory");
  ck_assert_ptr_null(memory);
  simt_controls.memory_left = -1;
  ndr_cuda_return_workspace(&small, borrow(&small, stream(7)), true, stream(7));
}
END_TEST

int main(void) {
  Suite *suite = suite_create("simt workspace");
  TCase *tests = tcase_create("lending");
  tcase_set_timeout(tests, 60);
  tcase_add_checked_fixture(tests, set_up, NULL);
  tcase_add_test(tests, a_stream_keeps_its_workspace);
  tcase_add_test(tests, what_is_lent_does_not_move);
  tcase_add_test(tests, many_streams_take_turns);
  tcase_add_test(tests, what_another_device_uses_is_not_freed);
  tcase_add_test(tests, what_is_left_dirty_is_not_lent_again);
  tcase_add_test(tests, a_capture_has_memory_of_its_own);
  tcase_add_test(tests, running_out_of_memory_is_survived);
  suite_add_tcase(suite, tests);
  return suite_run(suite);
}
