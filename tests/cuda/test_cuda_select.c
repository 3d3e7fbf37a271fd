/* Selections on the GPU: against the CPU, large ones against what is known of them, streams and graphs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/types.h"
#include "device.h"
#include "support/selections.h"

static const DLDevice gpu = {kDLCUDA, 0};

/* ---- against the CPU ---- */

typedef struct trial {
  selection_case given;
  gpu_array array, mask, result;
  gpu_block count;
} trial;

static void place_one(gpu_array *made, const test_array *of, rng *random) {
  size_t past = random && rng_once_in(random, 2) ? (size_t)rng_between(random, 0, 15) : 0;
  size_t alignment = ndr_dtype_alignment(of->dtype);
  made->host = *of;
  gpu_place(made, GPU_DEVICE, past / alignment * alignment);
}

static void place(trial *t, rng *random) {
  place_one(&t->array, &t->given.array, random);
  place_one(&t->mask, &t->given.mask, random);
  place_one(&t->result, &t->given.result, random);
  gpu_block_make(&t->count, GPU_DEVICE, sizeof(int64_t), 0);
}

static ndr_status run(trial *t, void *stream) {
  return selection_run(&t->given, &t->array.tensor, &t->mask.tensor, &t->result.tensor,
                       (int64_t *)(void *)t->count.start, stream);
}

static void check(trial *t, const char *when) {
  const selection_case *c = &t->given;
  int64_t count;
  gpu_fetch(&t->result);
  assert_cuda(cudaMemcpy(&count, t->count.start, sizeof count, cudaMemcpyDefault));
  ck_assert_msg(count == c->kept, "%s%s: the count is %lld", c->text, when, (long long)count);
  ck_assert_msg(memcmp(t->result.host.memory, c->expected.memory, c->expected.bytes) == 0,
                "%s%s: other bytes than the CPU's", c->text, when);
  ck_assert_msg(gpu_block_guarded(&t->result.block) && gpu_block_guarded(&t->count), "%s%s: written outside the result",
                c->text, when);
}

static void poison(const trial *t) {
  assert_cuda(cudaMemset(t->result.block.start, ARRAY_POISON, t->given.result.bytes));
  assert_cuda(cudaMemset(t->count.start, ARRAY_POISON, sizeof(int64_t)));
  assert_cuda(cudaDeviceSynchronize());
}

static void finish(trial *t) {
  gpu_block_free(&t->count);
  gpu_free(&t->array), gpu_free(&t->mask), gpu_free(&t->result);
  array_free(&t->given.expected);
}

START_TEST(random_selections_agree_with_the_cpu) {
  rng random = {test_seed() + 91 * (uint64_t)_i};
  double until = test_clock() + test_seconds(0);
  int cases = 0;
  for (; cases < (gpu_subset() ? 4 : 12) || test_clock() < until; cases++) {
    trial t;
    selection_random(&t.given, &random, rng_once_in(&random, 3) ? 900000 : 30000);
    place(&t, &random);
    assert_ok(run(&t, NULL));
    check(&t, "");
    finish(&t);
  }
  printf("%d selections\n", cases);
}
END_TEST

static const selection_form forms[] = {{CALL_SELECT, NDR_F32, 1, NDR_SCAN_ALL, {3000017}, 30},
                                       {CALL_SELECT, NDR_I8, 1, NDR_SCAN_ALL, {3000017}, 3},
                                       {CALL_PARTITION, NDR_F64, 1, NDR_SCAN_ALL, {1000003}, 80},
                                       {CALL_NONZERO, NDR_I16, 2, NDR_SCAN_ALL, {3000, 1001}, 0},
                                       {CALL_SELECT, NDR_F32, 2, 0, {100003, 33}, 50},
                                       {CALL_PARTITION, NDR_F32, 2, 1, {300, 20011}, 50},
                                       {CALL_SELECT, NDR_C64, 2, 0, {1000003, 2}, 50}};
enum { FORMS = sizeof forms / sizeof *forms };

static void make(trial *t, rng *random, int number) {
  selection_form form = forms[number];
  if (gpu_subset()) form.shape[0] = form.shape[0] / 64 + 1;
  selection_of(&t->given, random, &form);
  place(t, NULL);
}

START_TEST(results_repeat_beside_other_work) {
  rng random = {test_seed() + (uint64_t)_i};
  trial t, other;
  cudaStream_t streams[2];
  make(&t, &random, _i);
  make(&other, &random, (_i + 1) % FORMS);
  for (int i = 0; i < 2; i++) assert_cuda(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
  for (int turn = 0; turn < (gpu_subset() ? 2 : 30); turn++) {
    poison(&t);
    assert_ok(run(&other, streams[1]));
    assert_ok(run(&t, streams[0]));
    assert_ok(run(&other, streams[1]));
    check(&t, " beside other work");
  }
  check(&other, " beside other work");
  for (int i = 0; i < 2; i++) assert_cuda(cudaStreamDestroy(streams[i]));
  finish(&t), finish(&other);
}
END_TEST

/* Each replay has another mask. */
START_TEST(calls_are_captured) {
  rng random = {test_seed() + (uint64_t)_i};
  trial t;
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  make(&t, &random, _i);
  assert_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  assert_ok(run(&t, stream)); /* loads the kernels: capturing forbids that */
  check(&t, " before the capture");
  assert_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  assert_ok(run(&t, stream));
  assert_cuda(cudaStreamEndCapture(stream, &graph));
  assert_cuda(cudaGraphInstantiate(&replay, graph, 0));
  for (int turn = 0; turn < 3; turn++) {
    uint8_t *mask = t.given.mask.memory;
    for (size_t i = 0; i < t.given.mask.bytes; i++) mask[i] = rng_once_in(&random, turn + 2);
    assert_cuda(cudaMemcpy(t.mask.block.start, mask, t.given.mask.bytes, cudaMemcpyDefault));
    memset(t.given.expected.memory, ARRAY_POISON, t.given.expected.bytes);
    assert_ok(selection_run(&t.given, &t.given.array.tensor, &t.given.mask.tensor, &t.given.expected.tensor,
                            &t.given.kept, NULL));
    for (int again = 0; again < 3; again++) {
      poison(&t);
      assert_cuda(cudaGraphLaunch(replay, stream));
      check(&t, " in a graph");
    }
  }
  assert_cuda(cudaGraphExecDestroy(replay));
  assert_cuda(cudaGraphDestroy(graph));
  assert_cuda(cudaStreamDestroy(stream));
  finish(&t);
}
END_TEST

/* ---- large arrays ---- */

enum { PIECE = 1 << 22 };

/* Device memory; NULL with a word where the GPU is too small. */
static void *take(size_t bytes, const char *test) {
  size_t left = 0, whole = 0;
  void *memory = NULL;
  assert_cuda(cudaMemGetInfo(&left, &whole));
  if (left < bytes + (bytes >> 3)) {
    printf("%s left out: it needs %zu MiB of device memory, %zu are free\n", test, bytes >> 20, left >> 20);
    return NULL;
  }
  assert_cuda(cudaMalloc(&memory, bytes));
  assert_cuda(cudaMemset(memory, 0, bytes)); /* what is looked at before all is written */
  return memory;
}

/* Element i is i, and is kept by a hash of i. */
static bool keeps(uint32_t i, int percent) {
  return (i * 2654435761U) >> 16 < (uint32_t)percent * 65536 / 100;
}

static void fill(uint32_t *array, uint8_t *mask, int64_t count, int percent) {
  uint32_t *values = malloc(PIECE * sizeof *values);
  uint8_t *kept = malloc(PIECE);
  for (int64_t at = 0; at < count; at += PIECE) {
    int64_t some = count - at < PIECE ? count - at : PIECE;
    for (int64_t i = 0; i < some; i++) {
      values[i] = (uint32_t)(at + i);
      kept[i] = keeps(values[i], percent);
    }
    assert_cuda(cudaMemcpy(array + at, values, (size_t)some * sizeof *values, cudaMemcpyDefault));
    assert_cuda(cudaMemcpy(mask + at, kept, (size_t)some, cudaMemcpyDefault));
  }
  free(values);
  free(kept);
}

/* Whether the next elements of a result are the numbers below `count` that are `kept`, in their order. Returns how many
 * there are. */
static int64_t check_numbers(const uint32_t *result, int64_t count, int percent, bool kept) {
  uint32_t *piece = malloc(PIECE * sizeof *piece);
  int64_t seen = 0, at = PIECE;
  for (int64_t i = 0; i < count; i++) {
    if (keeps((uint32_t)i, percent) != kept) continue;
    if (at == PIECE) {
      int64_t some = count - seen < PIECE ? count - seen : PIECE;
      assert_cuda(cudaMemcpy(piece, result + seen, (size_t)some * sizeof *piece, cudaMemcpyDefault));
      at = 0;
    }
    if (piece[at] != (uint32_t)i) /* an assertion an element would take minutes */
      ck_abort_msg("%d %%: place %lld is %u instead of %lld", percent, (long long)seen, piece[at], (long long)i);
    at++, seen++;
  }
  free(piece);
  return seen;
}

START_TEST(large_arrays_are_in_order) {
  static const int percents[] = {1, 10, 50, 90};
  int64_t count = (gpu_subset() ? 100000 : INT64_C(1) << 28) + (_i == 1 ? 77 : 0);
  const size_t bytes = (size_t)count * sizeof(uint32_t);
  char *memory = take(3 * bytes + 256, "large_arrays_are_in_order");
  if (!memory) return;
  uint32_t *values = (uint32_t *)(void *)memory, *kept = (uint32_t *)(void *)(memory + bytes);
  uint8_t *mask = (uint8_t *)memory + 2 * bytes;
  int64_t *counter = (int64_t *)(void *)(memory + (3 * bytes + 255) / 256 * 256 - 256), found;
  fill(values, mask, count, percents[_i]);
  DLTensor array = ndr_tensor(values, NDR_U32, 1, &count), flags = ndr_tensor(mask, NDR_BOOL, 1, &count),
           result = ndr_tensor(kept, NDR_U32, 1, &count);
  array.device = flags.device = result.device = gpu;
  assert_ok(ndr_select(&array, &flags, NDR_SCAN_ALL, &result, counter, NULL));
  assert_cuda(cudaMemcpy(&found, counter, sizeof found, cudaMemcpyDefault));
  ck_assert_int_eq(check_numbers(kept, count, percents[_i], true), found);
  assert_ok(ndr_partition(&array, &flags, NDR_SCAN_ALL, &result, counter, NULL));
  assert_cuda(cudaMemcpy(&found, counter, sizeof found, cudaMemcpyDefault));
  ck_assert_int_eq(check_numbers(kept, count, percents[_i], true), found);
  ck_assert_int_eq(check_numbers(kept + found, count, percents[_i], false), count - found);
  assert_cuda(cudaFree(memory));
}
END_TEST

/* More than 2^31 elements of one byte, all 0 but for a few, which are kept. */
START_TEST(places_past_two_to_the_31) {
  int64_t length = (INT64_C(1) << 31) + 5, shape[2] = {1, length};
  const int64_t places[] = {0, 8191, 8192, (INT64_C(1) << 31) - 1, INT64_C(1) << 31, length - 1};
  enum { KEPT = 6 };
  if (gpu_subset()) return;
  uint8_t *bytes = take((size_t)length + 512, "places_past_two_to_the_31"), values[KEPT];
  if (!bytes) return;
  int64_t *out = (int64_t *)(void *)(bytes + (length + 255) / 256 * 256), indices[2 * KEPT + 1];
  assert_cuda(cudaMemset(bytes, 0, (size_t)length));
  for (int i = 0; i < KEPT; i++) assert_cuda(cudaMemset(bytes + places[i], i + 1, 1));
  DLTensor array = ndr_tensor(bytes, NDR_U8, 1, &length), rows = ndr_tensor(bytes, NDR_U8, 2, shape), flags = array,
           result = ndr_tensor(out + 1, NDR_U8, NDR_SHAPE(KEPT)),
           list = ndr_tensor(out + 1, NDR_I64, NDR_SHAPE(KEPT, 2));
  flags.dtype = ndr_dtype_to_dlpack(NDR_BOOL);
  array.device = rows.device = flags.device = result.device = list.device = gpu;
  assert_ok(ndr_select(&array, &flags, NDR_SCAN_ALL, &result, out, NULL));
  assert_cuda(cudaMemcpy(indices, out, sizeof *indices, cudaMemcpyDefault));
  assert_cuda(cudaMemcpy(values, out + 1, sizeof values, cudaMemcpyDefault));
  ck_assert_int_eq(indices[0], KEPT);
  for (int i = 0; i < KEPT; i++) ck_assert_int_eq(values[i], i + 1);
  assert_ok(ndr_nonzero(&rows, &list, out, NULL));
  assert_cuda(cudaMemcpy(indices, out, sizeof indices, cudaMemcpyDefault));
  ck_assert_int_eq(indices[0], KEPT);
  for (int i = 0; i < KEPT; i++) ck_assert(indices[1 + 2 * i] == 0 && indices[2 + 2 * i] == places[i]);
  assert_cuda(cudaFree(bytes));
}
END_TEST

int main(void) {
  Suite *suite = suite_create("selections");
  TCase *random = suite_case_empty(suite, "random", 900), *large = suite_case_empty(suite, "large", 900),
        *streams = suite_case_empty(suite, "streams", 900);
  tcase_add_loop_test(random, random_selections_agree_with_the_cpu, 0, gpu_subset() ? 4 : 20);
  tcase_add_loop_test(streams, results_repeat_beside_other_work, 0, FORMS);
  tcase_add_loop_test(streams, calls_are_captured, 0, FORMS);
  tcase_add_loop_test(large, large_arrays_are_in_order, 0, 4);
  tcase_add_test(large, places_past_two_to_the_31);
  return gpu_suite_run(suite);
}
