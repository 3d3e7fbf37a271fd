/* Scans on the GPU: against definitions, large ones against what is known of them, streams and graphs. */
#include <stdio.h>
#include <stdlib.h>

#include "core/types.h"
#include "device.h"
#include "ndreduce/operator.h"
#include "ndreduce/scan.h"
#include "support/operators.h"
#include "support/scans.h"

static const DLDevice gpu = {kDLCUDA, 0};

/* ---- definitions ---- */

typedef struct trial {
  scan_case given;
  gpu_array array, result;
} trial;

static void place(trial *t, rng *random, bool random_layout) {
  t->array.host = t->given.array;
  gpu_place(&t->array, GPU_DEVICE, rng_once_in(random, 2) ? ndr_dtype_alignment(t->given.array.dtype) : 0);
  assert_ok(scan_result(&t->given, &t->result.host, random_layout ? random : NULL));
  gpu_place(&t->result, GPU_DEVICE, 0);
}

static ndr_status run(trial *t, void *stream) {
  t->given.options.stream = stream;
  return ndr_scan(&t->array.tensor, t->given.dim, t->given.op, &t->result.tensor, &t->given.options);
}

static void check(trial *t) {
  char why[512] = "";
  gpu_fetch(&t->result);
  ck_assert_msg(scan_accepts(&t->given, &t->result.host.tensor, why, sizeof why), "%s: %s", t->given.text, why);
  ck_assert_msg(array_gaps_untouched(&t->result.host), "%s: written between results", t->given.text);
  ck_assert_msg(gpu_block_guarded(&t->result.block), "%s: written outside the result", t->given.text);
}

static void finish(trial *t) {
  gpu_free(&t->result);
  gpu_free(&t->array); /* the case's array, too */
}

/* Kernels are compiled for each of these, which takes most of the time: a family's tests can be run alone. */
static const char *const families[] = {NULL, "lines", "columns"};
enum { FAMILIES = sizeof families / sizeof *families, FAMILY_TESTS = 10 };

START_TEST(scans_agree_with_their_definitions) {
  const char *family = families[_i / FAMILY_TESTS];
  rng random = {test_seed() + 53 * (uint64_t)_i};
  double until = test_clock() + test_seconds(0);
  int cases = 0;
  for (; cases < (gpu_subset() ? 2 : 10) || test_clock() < until; cases++) {
    trial t;
    scan_random(&t.given, &random, rng_once_in(&random, 3) ? 150000 : 9000);
    place(&t, &random, rng_once_in(&random, 2));
    t.given.options.force_family = family;
    ndr_status status = run(&t, NULL);
    ck_assert_msg(status == NDR_OK || (_i / FAMILY_TESTS >= 2 && status == NDR_ERR_UNSUPPORTED), "%s: %s", t.given.text,
                  ndr_last_error());
    if (status == NDR_OK) check(&t);
    finish(&t);
  }
  printf("%s: %d scans\n", family ? family : "chosen", cases);
}
END_TEST

START_TEST(bands_agree_with_their_definitions) {
  rng random = {test_seed() + (uint64_t)_i};
  for (int i = 0; i < (gpu_subset() ? 1 : 4); i++) {
    trial t;
    scan_in_bands(&t.given, &random, rng_between(&random, 2, i ? 90000 : 300),
                  rng_between(&random, 2, i % 2 ? 256 : 40));
    place(&t, &random, false);
    assert_ok(run(&t, NULL));
    check(&t);
    finish(&t);
  }
}
END_TEST

START_TEST(streams_agree_with_their_definitions) {
  rng random = {test_seed() + 7 * (uint64_t)_i};
  const double until = test_clock() + test_seconds(0);
  for (int i = 0; i < (gpu_subset() ? 2 : 5) || test_clock() < until; i++) {
    trial t;
    const int64_t columns = rng_between(&random, 1, 24), most = i % 5 == 0 ? 300 : i % 5 < 3 ? 9000 : 3000000 / columns;
    scan_in_streams(&t.given, &random, rng_between(&random, 2, gpu_subset() && most > 90000 ? 90000 : most), columns);
    place(&t, &random, false);
    assert_ok(run(&t, NULL));
    check(&t);
    finish(&t);
  }
}
END_TEST

/* So many columns that blocks have them whole, at pitches that are whole vectors or sectors, or neither. */
START_TEST(strips_agree_with_their_definitions) {
  rng random = {test_seed() + (uint64_t)_i};
  for (int i = 0; i < (gpu_subset() ? 1 : 4); i++) {
    trial t;
    const int64_t step = INT64_C(1) << rng_between(&random, 0, 3), across = rng_between(&random, 15000, 60000) / step;
    const int64_t shape[3] = {rng_between(&random, 1, 3), rng_between(&random, 2, i ? 150 : 20), across * step};
    scan_compact(&t.given, &random, shape, 1, "columns");
    place(&t, &random, false);
    ndr_status status = run(&t, NULL);
    ck_assert_msg(status == NDR_OK || status == NDR_ERR_UNSUPPORTED, "%s: %s", t.given.text, ndr_last_error());
    if (status == NDR_OK) check(&t);
    finish(&t);
  }
}
END_TEST

/* Rows off sectors, of so many columns of 4 bytes and more that strips end on sectors. */
START_TEST(shifted_strips_agree_with_their_definitions) {
  rng random = {test_seed() + 13 * (uint64_t)_i};
  const double until = test_clock() + test_seconds(0);
  for (int i = 0; i < (gpu_subset() ? 1 : 4) || test_clock() < until; i++) {
    trial t;
    const int64_t lines = rng_between(&random, 1, 3), rows = rng_between(&random, 64, gpu_subset() ? 130 : 600);
    const int64_t shape[3] = {lines, rows, rng_between(&random, 11000, 30000) / lines | 1};
    scan_compact(&t.given, &random, shape, 1, "columns");
    place(&t, &random, false);
    assert_ok(run(&t, NULL));
    check(&t);
    finish(&t);
  }
}
END_TEST

/* A running mean, and one that reads two arrays and places, as the CPU has them. */
START_TEST(own_operators_agree_with_the_cpu) {
  static const char *const texts[] = {"mean(x): s += x, n += 1 -> s / n",
                                      "pair(x, y): s += x * y, m max= y - x, p += index(1) -> s + p * m"};
  const int64_t shape[2] = {700, 300};
  rng random = {test_seed()};
  for (int dim = 0; dim < 2; dim++) {
    gpu_array array, beside, result;
    test_array expected;
    ndr_op op;
    char why[512] = "";
    assert_ok(ndr_operator_create(&op, texts[_i], NULL, 0));
    array_make(&array.host, NDR_F32, 2, shape, NULL);
    array_make(&beside.host, NDR_I16, 2, shape, NULL);
    array_fill(&array.host, &random, FILL_SMALL);
    array_fill(&beside.host, &random, FILL_SMALL);
    gpu_place(&array, GPU_DEVICE, 0), gpu_place(&beside, GPU_DEVICE, 0);
    const DLTensor *on_host[] = {&beside.host.tensor}, *on_device[] = {&beside.tensor};
    scan_case form = {.array = array.host, .dim = dim, .op = op, .options = NDR_SCAN_OPTIONS_INIT};
    form.options.with = _i ? on_host : NULL;
    form.options.with_count = _i;
    assert_ok(scan_result(&form, &expected, NULL));
    assert_ok(scan_result(&form, &result.host, NULL));
    gpu_place(&result, GPU_DEVICE, 0);
    assert_ok(ndr_scan(&array.host.tensor, dim, op, &expected.tensor, &form.options));
    form.options.with = _i ? on_device : NULL;
    assert_ok(ndr_scan(&array.tensor, dim, op, &result.tensor, &form.options));
    gpu_fetch(&result);
    ck_assert_msg(results_agree(&result.host.tensor, &expected.tensor, 64, why, sizeof why), "%s: %s", texts[_i], why);
    ndr_operator_destroy(op);
    gpu_free(&array), gpu_free(&beside), gpu_free(&result);
    array_free(&expected);
  }
}
END_TEST

/* ---- large arrays ---- */

enum { PIECE = 1 << 20 };

/* `count` elements of 4 bytes on the device, all `value`; NULL with a word where the GPU is too small. */
static void *take(int64_t count, uint32_t value, const char *test) {
  size_t left = 0, whole = 0, bytes = (size_t)count * 4;
  void *memory = NULL;
  uint32_t *piece = malloc(PIECE * sizeof *piece);
  assert_cuda(cudaMemGetInfo(&left, &whole));
  if (left < bytes + (bytes >> 3)) {
    printf("%s left out: it needs %zu MiB of device memory, %zu are free\n", test, bytes >> 20, left >> 20);
    free(piece);
    return NULL;
  }
  for (int i = 0; i < PIECE; i++) piece[i] = value;
  assert_cuda(cudaMalloc(&memory, bytes));
  for (int64_t at = 0; at < count; at += PIECE)
    assert_cuda(cudaMemcpy((uint32_t *)memory + at, piece, 4 * (size_t)(count - at < PIECE ? count - at : PIECE),
                           cudaMemcpyDefault));
  free(piece);
  return memory;
}

/* Scans ones in place along `dim`: the value at index i is i + 1, rounded to f32. */
static void check_ones(float *ones, int64_t rows, int64_t columns, int dim) {
  DLTensor array = ndr_tensor(ones, NDR_F32, NDR_SHAPE(rows, columns));
  float *piece = malloc(PIECE * sizeof *piece);
  array.device = gpu;
  assert_ok(ndr_scan(&array, dim, NDR_SUM, &array, NULL));
  assert_cuda(cudaDeviceSynchronize());
  for (int64_t at = 0; at < rows * columns; at += PIECE) {
    int64_t some = rows * columns - at < PIECE ? rows * columns - at : PIECE;
    assert_cuda(cudaMemcpy(piece, ones + at, (size_t)some * sizeof *piece, cudaMemcpyDefault));
    for (int64_t i = 0; i < some; i++) {
      float expected = (float)((dim ? (at + i) % columns : (at + i) / columns) + 1);
      if (piece[i] != expected) /* an assertion an element would take minutes */
        ck_abort_msg("[%lld,%lld] along %d: place %lld is %.9g instead of %.9g", (long long)rows, (long long)columns,
                     dim, (long long)(at + i), (double)piece[i], (double)expected);
    }
  }
  free(piece);
}

START_TEST(ones_are_counted_right_at_every_place) {
  static const struct {
    int64_t rows, columns;
    int dim;
  } cases[] = {{1, 1 << 28, 1},       {1, (1 << 28) + 77, 1}, {16384, 16384, 0}, {16384, 16384, 1},
               {(1 << 26) + 1, 3, 1}, {(1 << 26) + 1, 3, 0},  {256, 1 << 18, 0}, {1 << 18, 257, 0},
               {1 << 18, 257, 1},     {33, 1 << 22, 1}};
  const union {
    float value;
    uint32_t bits;
  } one = {1};
  int64_t rows = cases[_i].rows >> (gpu_subset() ? 8 : 0), columns = cases[_i].columns >> (gpu_subset() ? 8 : 0);
  rows = rows ? rows : 1, columns = columns ? columns : 1;
  float *ones = take(rows * columns, one.bits, "ones_are_counted_right_at_every_place");
  if (!ones) return;
  check_ones(ones, rows, columns, cases[_i].dim);
  assert_cuda(cudaFree(ones));
}
END_TEST

/* More than 2^31 elements of one byte: the running maximum of zeros, but for a one. */
START_TEST(lines_past_two_to_the_31) {
  const int64_t length = (INT64_C(1) << 31) + 5, place = (INT64_C(1) << 31) + 1;
  if (gpu_subset()) return;
  uint8_t *bytes = take((length + 3) / 4, 0, "lines_past_two_to_the_31"), one = 1, read[4];
  if (!bytes) return;
  DLTensor array = ndr_tensor(bytes, NDR_U8, NDR_SHAPE(length));
  array.device = gpu;
  assert_cuda(cudaMemcpy(bytes + place, &one, 1, cudaMemcpyDefault));
  assert_ok(ndr_scan(&array, 0, NDR_MAX, &array, NULL));
  assert_cuda(cudaMemcpy(read, bytes + place - 1, sizeof read, cudaMemcpyDefault));
  ck_assert(read[0] == 0 && read[1] == 1 && read[2] == 1 && read[3] == 1);
  assert_cuda(cudaFree(bytes));
}
END_TEST

/* ---- streams, graphs, equal bits ---- */

static void make(trial *t, rng *random) {
  static const struct {
    int64_t shape[2];
    int dim;
    ndr_dtype dtype;
    const char *family;
  } cases[] = {{{1, 3000017}, 1, NDR_F64, NULL},      {{40, 100003}, 1, NDR_F64, NULL},
               {{200003, 5}, 0, NDR_F64, NULL},       {{3000, 1001}, 0, NDR_F64, NULL},
               {{100001, 33}, 1, NDR_F64, NULL},      {{2000003, 1}, 0, NDR_F32, "streams"},
               {{300007, 11}, 0, NDR_F32, "streams"}, {{300, 30001}, 0, NDR_F32, NULL}};
  int i = (int)rng_between(random, 0, 7), shift = gpu_subset() ? 6 : 0;
  const int64_t shape[2] = {1 + (cases[i].shape[0] >> shift), cases[i].shape[1]};
  memset(t, 0, sizeof *t);
  t->given.dim = cases[i].dim;
  t->given.op = NDR_SUM;
  t->given.options = (ndr_scan_options)NDR_SCAN_OPTIONS_INIT;
  t->given.options.force_family = cases[i].family;
  array_make(&t->given.array, cases[i].dtype, 2, shape, NULL);
  array_fill(&t->given.array, random, FILL_WIDE);
  snprintf(t->given.text, sizeof t->given.text, "[%lld,%lld] along %d", (long long)shape[0], (long long)shape[1],
           t->given.dim);
  place(t, random, false);
}

static void assert_same(const trial *t, const test_array *first, const char *when) {
  ck_assert_msg(memcmp(t->result.host.memory, first->memory, first->bytes) == 0, "%s: other bits %s", t->given.text,
                when);
}

START_TEST(bits_repeat_beside_other_work) {
  rng random = {test_seed() + (uint64_t)_i};
  trial t, other;
  test_array first;
  cudaStream_t streams[2];
  make(&t, &random);
  make(&other, &random);
  for (int i = 0; i < 2; i++) assert_cuda(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
  assert_ok(run(&t, streams[0]));
  check(&t);
  assert_ok(scan_result(&t.given, &first, NULL));
  memcpy(first.memory, t.result.host.memory, first.bytes);
  for (int turn = 0; turn < (gpu_subset() ? 2 : 30); turn++) {
    assert_ok(run(&other, streams[1]));
    assert_ok(run(&t, streams[0]));
    assert_ok(run(&other, streams[1]));
    gpu_fetch(&t.result);
    assert_same(&t, &first, "beside other work");
  }
  for (int i = 0; i < 2; i++) assert_cuda(cudaStreamDestroy(streams[i]));
  array_free(&first);
  finish(&t), finish(&other);
}
END_TEST

START_TEST(calls_and_plans_are_captured) {
  rng random = {test_seed() + 100 + (uint64_t)_i};
  trial t;
  ndr_scan_plan *plan;
  gpu_block workspace;
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  make(&t, &random);
  assert_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  assert_ok(run(&t, stream)); /* loads the kernel: capturing forbids that */
  ndr_scan_options options = t.given.options;
  options.stream = NULL;
  assert_ok(ndr_scan_plan_create(&plan, &t.array.tensor, t.given.dim, t.given.op, &t.result.tensor, &options));
  gpu_block_make(&workspace, GPU_DEVICE, ndr_scan_plan_workspace(plan) + 1, 0);
  assert_cuda(cudaDeviceSynchronize());
  assert_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  if (_i % 2)
    assert_ok(ndr_scan_plan_execute(plan, (const void *[]){t.array.tensor.data}, t.result.tensor.data, workspace.start,
                                    ndr_scan_plan_workspace(plan), stream));
  else
    assert_ok(run(&t, stream));
  assert_cuda(cudaStreamEndCapture(stream, &graph));
  assert_cuda(cudaGraphInstantiate(&replay, graph, 0));
  for (int turn = 0; turn < 3; turn++) {
    array_fill(&t.given.array, &random, FILL_WIDE);
    assert_cuda(cudaMemcpy(t.array.block.start, t.given.array.memory, t.given.array.bytes, cudaMemcpyDefault));
    for (int again = 0; again < 3; again++) assert_cuda(cudaGraphLaunch(replay, stream));
    check(&t);
  }
  ck_assert(gpu_block_guarded(&workspace));
  assert_cuda(cudaGraphExecDestroy(replay));
  assert_cuda(cudaGraphDestroy(graph));
  assert_cuda(cudaStreamDestroy(stream));
  ndr_scan_plan_destroy(plan);
  gpu_block_free(&workspace);
  finish(&t);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("scans");
  for (int f = 0; f < FAMILIES; f++)
    tcase_add_loop_test(suite_case_empty(suite, families[f] ? families[f] : "chosen", 900),
                        scans_agree_with_their_definitions, f * FAMILY_TESTS,
                        f * FAMILY_TESTS + (gpu_subset() ? 1 : FAMILY_TESTS));
  tcase_add_loop_test(suite_case_empty(suite, "in bands", 900), bands_agree_with_their_definitions, 0,
                      gpu_subset() ? 2 : 6);
  tcase_add_loop_test(suite_case_empty(suite, "in streams", 900), streams_agree_with_their_definitions, 0,
                      gpu_subset() ? 1 : 12);
  tcase_add_loop_test(suite_case_empty(suite, "in strips", 900), strips_agree_with_their_definitions, 0,
                      gpu_subset() ? 2 : 8);
  tcase_add_loop_test(suite_case_empty(suite, "in shifted strips", 900), shifted_strips_agree_with_their_definitions, 0,
                      gpu_subset() ? 1 : 6);
  tcase_add_loop_test(suite_case_empty(suite, "own", 900), own_operators_agree_with_the_cpu, 0, 2);
  TCase *large = suite_case_empty(suite, "large", 900), *streams = suite_case_empty(suite, "streams", 900);
  tcase_add_loop_test(large, ones_are_counted_right_at_every_place, 0, 10);
  tcase_add_test(large, lines_past_two_to_the_31);
  tcase_add_loop_test(streams, bits_repeat_beside_other_work, 0, 8);
  tcase_add_loop_test(streams, calls_and_plans_are_captured, 0, 10);
  return gpu_suite_run(suite);
}
