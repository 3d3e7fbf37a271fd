/* Groups on the device: scattered labels against the CPU, the same bits each time, slabs in any order; and the rates of
 * sums by group of 1 GiB, which are printed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/groups/label.h"
#include "core/types.h"
#include "device.h"
#include "ndreduce/groups.h"
#include "ndreduce/plan.h"
#include "support/operators.h"
#include "support/scattered.h"

static const DLDevice gpu = {kDLCUDA, 0};

/* ---- against the CPU ---- */

typedef struct trial {
  scattered problem;
  ndr_options host_options, options;
  gpu_array array, where, weights, results[2][SCATTERED_OPS];
  test_array expected[SCATTERED_OPS];
} trial;

static void make_arrays(rng *random, trial *t) {
  const scattered *c = &t->problem;
  scattered_array(random, c, &t->array.host);
  gpu_place(&t->array, GPU_DEVICE, rng_once_in(random, 2) ? ndr_dtype_alignment(c->dtype) : 0);
  t->host_options = *NDR_OPTIONS(.groups = scattered_groups(random, c), .group_dim = 1, .skip_nan = c->skip_nan);
  t->options = t->host_options;
  if (c->where) {
    scattered_operand(random, c, NDR_BOOL, &t->where.host);
    gpu_place(&t->where, GPU_DEVICE, 0);
    t->host_options.where = &t->where.host.tensor, t->options.where = &t->where.tensor;
  }
  if (c->weights) {
    scattered_operand(random, c, NDR_F32, &t->weights.host);
    gpu_place(&t->weights, GPU_DEVICE, 0);
    t->host_options.weights = &t->weights.host.tensor, t->options.weights = &t->weights.tensor;
  }
  for (int i = 0; i < c->op_count; i++) {
    for (int twice = 0; twice < 2; twice++) {
      assert_ok(array_result(&t->results[twice][i].host, &t->array.host.tensor, c->dim_count, c->dims, c->ops[i],
                             &t->host_options, NULL));
      gpu_place(&t->results[twice][i], GPU_DEVICE, 0);
    }
    assert_ok(
        array_result(&t->expected[i], &t->array.host.tensor, c->dim_count, c->dims, c->ops[i], &t->host_options, NULL));
  }
}

static void free_arrays(trial *t) {
  for (int i = 0; i < t->problem.op_count; i++) {
    for (int twice = 0; twice < 2; twice++) gpu_free(&t->results[twice][i]);
    array_free(&t->expected[i]);
  }
  ndr_groups_destroy((ndr_groups *)(uintptr_t)t->options.groups);
  gpu_free(&t->array);
  if (t->problem.where) gpu_free(&t->where);
  if (t->problem.weights) gpu_free(&t->weights);
}

static void run(trial *t) {
  const scattered *c = &t->problem;
  DLTensor *host[SCATTERED_OPS], *device[2][SCATTERED_OPS];
  for (int i = 0; i < c->op_count; i++) {
    host[i] = &t->expected[i].tensor;
    for (int twice = 0; twice < 2; twice++) device[twice][i] = &t->results[twice][i].tensor;
  }
  assert_ok(ndreduce_many(&t->array.host.tensor, c->dim_count, c->dims, c->op_count, c->ops, host, &t->host_options));
  for (int twice = 0; twice < 2; twice++) {
    ndr_status status =
        ndreduce_many(&t->array.tensor, c->dim_count, c->dims, c->op_count, c->ops, device[twice], &t->options);
    ck_assert_msg(status == NDR_OK, "%s: %s", c->text, ndr_last_error());
  }
}

static void check(trial *t) {
  const scattered *c = &t->problem;
  char why[256], label[NDR_LABEL_BYTES];
  for (int i = 0; i < c->op_count; i++) {
    gpu_array *first = &t->results[0][i], *second = &t->results[1][i];
    gpu_fetch(first);
    gpu_fetch(second);
    ck_assert_msg(results_agree(&first->host.tensor, &t->expected[i].tensor, 64, why, sizeof why), "%s: %s: %s",
                  c->text, ndr_op_label(c->ops[i], label), why);
    ck_assert_msg(memcmp(first->host.memory, second->host.memory, first->host.bytes) == 0, "%s: %s: other bits",
                  c->text, ndr_op_label(c->ops[i], label));
    ck_assert_msg(gpu_block_guarded(&first->block), "%s: %s wrote outside the result", c->text,
                  ndr_op_label(c->ops[i], label));
  }
}

/* Compiling takes most of the time. */
START_TEST(scattered_labels_agree_with_the_cpu) {
  static const ndr_dtype dtypes[] = {NDR_F32, NDR_I8, NDR_C64, NDR_F64, NDR_F16, NDR_U8, NDR_I32};
  rng random = {test_seed()};
  double end = test_clock() + test_seconds(gpu_subset() ? 20 : 60);
  int number = 0;
  for (; test_clock() < end; number++) {
    trial t;
    if (!test_has_dtype(dtypes[number % 7])) continue;
    scattered_draw(&random, dtypes[number % 7], gpu_subset() ? 400 : 6000,
                   gpu_subset() && !rng_once_in(&random, 3) ? 70 : 300, &t.problem);
    make_arrays(&random, &t);
    run(&t);
    check(&t);
    free_arrays(&t);
  }
  printf("%d problems with scattered labels\n", number);
}
END_TEST

/* ---- slabs ---- */

/* Slabs along the labels and beside them, each with a table of its own, against the whole. */
START_TEST(slabs_of_scattered_labels) {
  enum { ROWS = 3000, COLUMNS = 96, GROUPS = 40, CUT = 1100 };
  rng random = {test_seed()};
  int32_t values[ROWS];
  for (int i = 0; i < ROWS; i++) values[i] = (int32_t)rng_between(&random, -1, GROUPS - 1);
  DLTensor labels = ndr_tensor(values, NDR_I32, NDR_SHAPE(ROWS));
  gpu_array array, whole, slabs;
  ndr_groups *groups;
  ndr_problem problem = NDR_PROBLEM_INIT;
  ndr_accumulator *accumulator;
  ndr_op op = NDR_ARGMAX;
  assert_ok(ndr_groups_create(&groups, &labels, GROUPS));
  array_make(&array.host, NDR_F32, 2, (int64_t[]){ROWS, COLUMNS}, NULL);
  array_fill(&array.host, &random, FILL_SMALL);
  gpu_place(&array, GPU_DEVICE, 0);
  assert_ok(ndr_problem_make(&problem, &array.tensor, NDR_DIMS(0), 1, &op));
  problem.groups = groups;
  ndr_options options = *NDR_OPTIONS(.groups = groups);
  assert_ok(gpu_result(&whole, GPU_DEVICE, &array.host.tensor, &problem, 0, &options, NULL));
  assert_ok(gpu_result(&slabs, GPU_DEVICE, &array.host.tensor, &problem, 0, &options, NULL));
  assert_ok(ndreduce(&array.tensor, NDR_DIMS(0), op, &whole.tensor, &options));
  assert_ok(ndr_accumulator_create(&accumulator, &problem, gpu, NULL));
  for (int part = 1; part >= 0; part--) {
    DLTensor slab = array.tensor;
    int64_t offset[2] = {part * CUT, 0}, shape[2] = {part ? ROWS - CUT : CUT, COLUMNS};
    slab.shape = shape;
    slab.data = (float *)array.tensor.data + offset[0] * COLUMNS;
    assert_ok(ndr_accumulator_add(accumulator, &slab, offset));
  }
  assert_ok(ndr_accumulator_finish(accumulator, (DLTensor *[]){&slabs.tensor}));
  gpu_fetch(&whole);
  gpu_fetch(&slabs);
  ck_assert(same_elements(&whole.host.tensor, &slabs.host.tensor));
  ndr_accumulator_destroy(accumulator);
  ndr_groups_destroy(groups);
  gpu_free(&array);
  gpu_free(&whole);
  gpu_free(&slabs);
}
END_TEST

/* ---- rates ---- */

/* The median of some executes, each behind a write of more than the cache holds. */
static double seconds_of(const ndr_plan *plan, const void *array, void *result, void *other) {
  enum { TIMES = 9 };
  double seconds[TIMES];
  cudaEvent_t start, stop;
  assert_cuda(cudaEventCreate(&start));
  assert_cuda(cudaEventCreate(&stop));
  assert_ok(ndr_plan_execute(plan, array, &result, NULL, 0, NULL));
  for (int i = 0; i < TIMES; i++) {
    float milliseconds;
    assert_cuda(cudaMemsetAsync(other, i, (size_t)256 << 20, NULL));
    assert_cuda(cudaEventRecord(start, NULL));
    assert_ok(ndr_plan_execute(plan, array, &result, NULL, 0, NULL));
    assert_cuda(cudaEventRecord(stop, NULL));
    assert_cuda(cudaEventSynchronize(stop));
    assert_cuda(cudaEventElapsedTime(&milliseconds, start, stop));
    int at = i;
    for (; at > 0 && seconds[at - 1] > milliseconds / 1e3; at--) seconds[at] = seconds[at - 1];
    seconds[at] = milliseconds / 1e3;
  }
  assert_cuda(cudaEventDestroy(start));
  assert_cuda(cudaEventDestroy(stop));
  return seconds[TIMES / 2];
}

static int compare_labels(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return x < y ? -1 : x > y;
}

/* A GiB of f32 [outer, labels, inner] with labels along dim 1: random, or these sorted. */
static void print_rate(void *memory, void *other, int64_t outer, int64_t length, int64_t inner, int64_t count,
                       bool sorted) {
  rng random = {test_seed()};
  int32_t *values = malloc((size_t)length * sizeof *values);
  for (int64_t i = 0; i < length; i++) values[i] = (int32_t)rng_between(&random, 0, count - 1);
  if (sorted) qsort(values, (size_t)length, sizeof *values, compare_labels);
  DLTensor labels = ndr_tensor(values, NDR_I32, NDR_SHAPE(length)),
           array = ndr_tensor(memory, NDR_F32, NDR_SHAPE(outer, length, inner));
  ndr_groups *groups;
  void *sums;
  assert_ok(ndr_groups_create(&groups, &labels, count));
  assert_cuda(cudaMalloc(&sums, (size_t)(outer * count * inner) * 4));
  ndr_problem problem = NDR_PROBLEM_INIT;
  ndr_plan *plan;
  ndr_op op = NDR_SUM;
  array.device = gpu;
  assert_ok(ndr_problem_make(&problem, &array, NDR_DIMS(1), 1, &op));
  problem.groups = groups;
  problem.group_dim = 1;
  double planned = test_clock();
  assert_ok(ndr_plan_create(&plan, &problem, gpu, NULL, NULL));
  planned = test_clock() - planned;
  double seconds = seconds_of(plan, memory, sums, other);
  double bytes = (double)outer * (double)length * (double)inner * 4;
  printf("[%lld,%lld,%lld] f32, %5lld %s groups along dim 1: %7.1f us, %5.0f GB/s (plan: %.0f ms)\n", (long long)outer,
         (long long)length, (long long)inner, (long long)count, sorted ? "sorted" : "random", seconds * 1e6,
         bytes / seconds / 1e9, planned * 1e3);
  ndr_plan_destroy(plan);
  assert_cuda(cudaFree(sums));
  ndr_groups_destroy(groups);
  free(values);
}

START_TEST(rates_of_a_gibibyte) {
  static const int64_t shapes[][3] = {{1, 8760, 30640},  {1, 8760, 30643}, {16, 8760, 1912}, {1, 100000, 2684},
                                      {1, 2000000, 134}, {1, 4000000, 64}, {30643, 8760, 1}, {256, 1 << 20, 1},
                                      {16, 1 << 24, 1},  {2000000, 134, 1}},
                       counts[] = {12, 366, 10000};
  void *memory, *other;
  size_t left = 0, whole = 0, bytes = (size_t)1 << 30;
  assert_cuda(cudaMemGetInfo(&left, &whole));
  if (gpu_subset() || left < 4 * bytes) return;
  assert_cuda(cudaMalloc(&memory, bytes + (1 << 20)));
  assert_cuda(cudaMemset(memory, 0, bytes + (1 << 20)));
  assert_cuda(cudaMalloc(&other, (size_t)256 << 20));
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
    for (int c = 0; c < 3; c++)
      for (int sorted = 0; sorted < 2; sorted++)
        if (counts[c] <= shapes[s][1] * 2)
          print_rate(memory, other, shapes[s][0], shapes[s][1], shapes[s][2], counts[c], sorted);
  assert_cuda(cudaFree(memory));
  assert_cuda(cudaFree(other));
}
END_TEST

int main(void) {
  Suite *suite = suite_create("groups on the device");
  TCase *cases = tcase_create("groups");
  tcase_set_timeout(cases, 1200);
  tcase_add_test(cases, scattered_labels_agree_with_the_cpu);
  tcase_add_test(cases, slabs_of_scattered_labels);
  tcase_add_test(cases, rates_of_a_gibibyte);
  suite_add_tcase(suite, cases);
  return gpu_suite_run(suite);
}
