/* Several statistics of one read, fused and not, and accumulators whose slabs, states and results are on the device. */
#include <stdio.h>

#include "device.h"
#include "support/cuts.h"
#include "support/reduce.h"

/* ---- ndreduce_many ---- */

static void draw(rng *random, ndr_problem *problem) {
  random_case(random, 4000, problem);
  random_ops(random, problem);
  if (rng_once_in(random, 4)) return;
  problem->skip_nan = 0;
  problem->accumulate = NDR_ACCUMULATE_DEFAULT;
}

/* Results laid out alike can share a read; others are read for by themselves. */
static void check_many(rng *random) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  gpu_array array, got[NDR_MAX_OPS];
  DLTensor *results[NDR_MAX_OPS];
  draw(random, &problem);
  bool alike = rng_once_in(random, 2);
  ndr_options options = case_options(&problem);
  array_of_case(&array.host, &problem);
  array_fill(&array.host, random, random_filling_of(random, &problem));
  gpu_place(&array, GPU_DEVICE, 0);
  for (int i = 0; i < problem.op_count; i++) {
    assert_ok(gpu_result(&got[i], GPU_DEVICE, &array.host.tensor, &problem, i, &options, alike ? NULL : random));
    results[i] = &got[i].tensor;
  }
  ndr_status status =
      ndreduce_many(&array.tensor, problem.dim_count, problem.dims, problem.op_count, problem.ops, results, &options);
  ck_assert_msg(status == NDR_OK, "%s: %s", case_text(&problem), ndr_last_error());
  for (int i = 0; i < problem.op_count; i++) {
    assert_gpu_result(&problem, i, &array, &got[i], alike ? "results alike" : "results of different layouts");
    gpu_free(&got[i]);
  }
  gpu_free(&array);
}

START_TEST(many_are_right) {
  rng random = {test_seed()};
  double until = test_clock() + test_seconds(gpu_subset() ? 0 : 20);
  int cases = 0;
  for (; cases < test_case_count(gpu_subset() ? 12 : 40) || test_clock() < until; cases++) check_many(&random);
  printf("many: %d cases\n", cases);
}
END_TEST

/* All ops of f32 at once: more than fit in one kernel. */
START_TEST(all_ops_at_once) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  gpu_array array, got[NDR_MAX_OPS];
  DLTensor *results[NDR_MAX_OPS];
  rng random = {test_seed()};
  assert_ok(ndr_problem_parse("sum f32 [50,40,30] /1", &problem));
  for (problem.op_count = 0; problem.op_count < NDR_OP_COUNT; problem.op_count++)
    problem.ops[problem.op_count] = (ndr_op)problem.op_count;
  array_of_case(&array.host, &problem);
  array_fill(&array.host, &random, FILL_UNIT);
  gpu_place(&array, GPU_DEVICE, 4);
  for (int i = 0; i < problem.op_count; i++) {
    assert_ok(gpu_result(&got[i], GPU_DEVICE, &array.host.tensor, &problem, i, NULL, NULL));
    results[i] = &got[i].tensor;
  }
  assert_ok(
      ndreduce_many(&array.tensor, problem.dim_count, problem.dims, problem.op_count, problem.ops, results, NULL));
  for (int i = 0; i < problem.op_count; i++) {
    assert_gpu_result(&problem, i, &array, &got[i], "all at once");
    gpu_free(&got[i]);
  }
  gpu_free(&array);
}
END_TEST

/* ---- accumulators ---- */

static ndr_accumulator *create(const ndr_problem *problem) {
  ndr_accumulator *made;
  ndr_options options = case_options(problem);
  assert_ok(accumulate_array(&made, (DLDevice){kDLCUDA, 0}, problem->dtype, problem->ndim, problem->shape,
                             problem->dim_count, problem->dims, problem->op_count, problem->ops, &options));
  return made;
}

/* A view of the array on the device, or a compact copy of the part. */
static void add_box(rng *random, ndr_accumulator *accumulator, const gpu_array *array, box *part) {
  DLTensor view = tensor_part(&array->tensor, part), on_host = tensor_part(&array->host.tensor, part);
  if (rng_once_in(random, 2)) {
    assert_ok(ndr_accumulator_add(accumulator, &view, part->offset));
    return;
  }
  gpu_array copy;
  int64_t index[NDR_MAX_DIMS] = {0};
  array_make(&copy.host, array->host.dtype, view.ndim, part->size, NULL);
  if (array_count(&on_host) > 0) do
      memcpy(element_at(&copy.host.tensor, index), element_at(&on_host, index), ndr_dtype_bytes(array->host.dtype));
    while (next_index(on_host.ndim, on_host.shape, index));
  gpu_place(&copy, GPU_DEVICE, 0);
  assert_ok(ndr_accumulator_add(accumulator, &copy.tensor, part->offset));
  gpu_free(&copy);
}

static void compare_with_whole(const ndr_problem *problem, const gpu_array *array, const ndr_accumulator *accumulator,
                               rng *random) {
  gpu_array got[NDR_MAX_OPS];
  DLTensor *results[NDR_MAX_OPS];
  ndr_options options = case_options(problem);
  for (int i = 0; i < problem->op_count; i++) {
    assert_ok(gpu_result(&got[i], GPU_DEVICE, &array->host.tensor, problem, i, &options, random));
    results[i] = &got[i].tensor;
  }
  ndr_status status = ndr_accumulator_finish(accumulator, results);
  ck_assert_msg(status == NDR_OK, "%s: %s", case_text(problem), ndr_last_error());
  for (int i = 0; i < problem->op_count; i++) {
    assert_gpu_result(problem, i, array, &got[i], "accumulated");
    gpu_free(&got[i]);
  }
}

/* Splits the boxes over up to three accumulators, merges those, and compares. */
static void check_cut(rng *random) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  gpu_array array;
  box boxes[MOST_BOXES];
  ndr_accumulator *parts[3] = {NULL};
  int part_count = (int)rng_between(random, 1, 3);
  draw(random, &problem);
  array_of_case(&array.host, &problem);
  array_fill(&array.host, random, random_filling_of(random, &problem));
  gpu_place(&array, GPU_DEVICE, 0);
  for (int p = 0; p < part_count; p++) parts[p] = create(&problem);
  int count = random_boxes(random, &problem, boxes);
  for (int b = 0; b < count; b++) add_box(random, parts[rng_between(random, 0, part_count - 1)], &array, &boxes[b]);
  for (int p = 1; p < part_count; p++) {
    assert_ok(ndr_accumulator_merge(parts[0], parts[p]));
    ndr_accumulator_destroy(parts[p]);
  }
  compare_with_whole(&problem, &array, parts[0], random);
  ndr_accumulator_destroy(parts[0]);
  gpu_free(&array);
}

START_TEST(cuts_do_not_show) {
  rng random = {test_seed()};
  double until = test_clock() + test_seconds(gpu_subset() ? 0 : 20);
  int cases = 0;
  for (; cases < test_case_count(gpu_subset() ? 12 : 40) || test_clock() < until; cases++) check_cut(&random);
  printf("cuts: %d cases\n", cases);
}
END_TEST

/* Where no rounding can show, the device's states finish to what the host's do. */
START_TEST(equal_to_the_cpu_where_exact) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  gpu_array array, got;
  test_array expected;
  rng random = {test_seed()};
  assert_ok(ndr_problem_parse("sum,max,argmin,count i32 [6,500,7] /1", &problem));
  array_of_case(&array.host, &problem);
  array_fill(&array.host, &random, FILL_WIDE);
  gpu_place(&array, GPU_DEVICE, 0);
  for (int i = 0; i < problem.op_count; i++) {
    ndr_problem one = problem;
    one.op_count = 1;
    one.ops[0] = problem.ops[i];
    ndr_accumulator *accumulator = create(&one);
    for (int64_t at = 0; at < 500; at += 125) {
      box part = {{0, at, 0}, {6, 125, 7}};
      DLTensor slab = tensor_part(&array.tensor, &part);
      assert_ok(ndr_accumulator_add(accumulator, &slab, part.offset));
    }
    assert_ok(gpu_result(&got, GPU_DEVICE, &array.host.tensor, &one, 0, NULL, NULL));
    assert_ok(ndr_accumulator_finish(accumulator, (DLTensor *[]){&got.tensor}));
    gpu_fetch(&got);
    assert_ok(array_result(&expected, &array.host.tensor, one.dim_count, one.dims, one.ops[0], NULL, NULL));
    assert_ok(ndreduce(&array.host.tensor, one.dim_count, one.dims, one.ops[0], &expected.tensor, NULL));
    ck_assert_msg(same_elements(&got.host.tensor, &expected.tensor), "%s", case_text(&one));
    ndr_accumulator_destroy(accumulator);
    gpu_free(&got);
    array_free(&expected);
  }
  gpu_free(&array);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("cuda states");
  suite_case(suite, "many", 600, many_are_right, all_ops_at_once, NULL);
  suite_case(suite, "accumulators", 600, cuts_do_not_show, equal_to_the_cpu_where_exact, NULL);
  return gpu_suite_run(suite);
}
