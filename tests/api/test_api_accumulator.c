/* Accumulators: however an array is cut into slabs, and in whatever order they come, the result is that of the whole.
 */
#include <math.h>
#include <stdlib.h>

#include "support/cuts.h"
#include "support/oracle.h"
#include "support/reduce.h"
#include "support/suite.h"

static const DLDevice cpu = {kDLCPU, 0};

static ndr_status create(ndr_accumulator **accumulator, const ndr_problem *c) {
  ndr_options options = case_options(c);
  return accumulate_array(accumulator, cpu, c->dtype, c->ndim, c->shape, c->dim_count, c->dims, c->op_count, c->ops,
                          &options);
}

/* ---- random cuts ---- */

/* A view of the array, or a compact copy of the part: how a slab is laid out may not matter either. */
static void add_box(rng *random, ndr_accumulator *accumulator, const test_array *array, box *part) {
  DLTensor view = tensor_part(&array->tensor, part);
  if (rng_once_in(random, 2)) {
    assert_ok(ndr_accumulator_add(accumulator, &view, part->offset));
    return;
  }
  test_array copy;
  int64_t index[NDR_MAX_DIMS] = {0};
  array_make(&copy, array->dtype, view.ndim, part->size, NULL);
  if (array_count(&view) > 0) do
      memcpy(element_at(&copy.tensor, index), element_at(&view, index), ndr_dtype_bytes(array->dtype));
    while (next_index(view.ndim, view.shape, index));
  assert_ok(ndr_accumulator_add(accumulator, &copy.tensor, part->offset));
  array_free(&copy);
}

static void compare_with_whole(const ndr_problem *c, const test_array *array, const ndr_accumulator *accumulator,
                               rng *random) {
  test_array got[NDR_MAX_OPS], whole;
  DLTensor *results[NDR_MAX_OPS];
  char message[512];
  ndr_options options = case_options(c);
  for (int i = 0; i < c->op_count; i++) {
    assert_ok(array_result(&got[i], &array->tensor, c->dim_count, c->dims, c->ops[i], &options, random));
    results[i] = &got[i].tensor;
  }
  assert_ok(ndr_accumulator_finish(accumulator, results));
  for (int i = 0; i < c->op_count; i++) {
    bool right = oracle_accepts(c, c->ops[i], &array->tensor, results[i], message, sizeof message);
    ck_assert_msg(right, "%s, seed %llu: %s", case_text(c), (unsigned long long)test_seed(), message);
    if (op_exact(c->ops[i], c->dtype, false)) {
      assert_ok(case_reduce(c, i, &array->tensor, &options, &whole, NULL));
      ck_assert_msg(same_elements(&whole.tensor, results[i]), "%s: %s depends on the cut", case_text(c),
                    ndr_op_name(c->ops[i]));
      array_free(&whole);
    }
    array_free(&got[i]);
  }
}

/* Splits the boxes over up to three accumulators, merges those, and compares. */
static void check_cut(rng *random) {
  ndr_problem c = NDR_PROBLEM_INIT;
  test_array array;
  box boxes[MOST_BOXES];
  ndr_accumulator *parts[3] = {NULL};
  int part_count = (int)rng_between(random, 1, 3);
  random_case(random, 4000, &c);
  random_ops(random, &c);
  array_of_case(&array, &c);
  array_fill(&array, random, random_filling_of(random, &c));
  for (int p = 0; p < part_count; p++) assert_ok(create(&parts[p], &c));
  int count = random_boxes(random, &c, boxes);
  for (int b = 0; b < count; b++) add_box(random, parts[rng_between(random, 0, part_count - 1)], &array, &boxes[b]);
  for (int p = 1; p < part_count; p++) {
    assert_ok(ndr_accumulator_merge(parts[0], parts[p]));
    ndr_accumulator_destroy(parts[p]);
  }
  compare_with_whole(&c, &array, parts[0], random);
  ndr_accumulator_destroy(parts[0]);
  array_free(&array);
}

START_TEST(no_cut_and_no_order_shows) {
  rng random = {test_seed()};
  for (int i = 0; i < test_case_count(3000); i++) check_cut(&random);
}
END_TEST

/* ---- by hand ---- */

START_TEST(arg_indices_are_global) {
  int32_t x[6] = {5, 1, 7, 7, 0, 2};
  int64_t where = -1;
  ndr_accumulator *a;
  ndr_op op = NDR_ARGMAX;
  DLTensor slab = ndr_tensor(x + 3, NDR_I32, NDR_SHAPE(3)), result = {&where, cpu, 0, {kDLInt, 64, 1}, NULL, NULL, 0};
  assert_ok(accumulate_array(&a, cpu, NDR_I32, 1, (int64_t[]){6}, NDR_ALL_DIMS, 1, &op, NULL));
  assert_ok(ndr_accumulator_add(a, &slab, (int64_t[]){3}));
  assert_ok(ndr_accumulator_finish(a, (DLTensor *[]){&result}));
  ck_assert_int_eq(where, 3);
  slab.data = x;
  assert_ok(ndr_accumulator_add(a, &slab, (int64_t[]){0}));
  assert_ok(ndr_accumulator_finish(a, (DLTensor *[]){&result}));
  ck_assert_int_eq(where, 2);
  ndr_accumulator_destroy(a);
}
END_TEST

START_TEST(finishing_does_not_end_it) {
  double x[4] = {1, 2, 3, 4}, sum = 0;
  ndr_accumulator *a;
  ndr_op op = NDR_SUM;
  DLTensor result = {&sum, cpu, 0, {kDLFloat, 64, 1}, NULL, NULL, 0};
  assert_ok(accumulate_array(&a, cpu, NDR_F64, 1, (int64_t[]){4}, NDR_DIMS(0), 1, &op, NULL));
  for (int64_t i = 0; i < 4; i++) {
    DLTensor slab = ndr_tensor(x + i, NDR_F64, NDR_SHAPE(1));
    assert_ok(ndr_accumulator_add(a, &slab, &i));
    assert_ok(ndr_accumulator_finish(a, (DLTensor *[]){&result}));
    ck_assert(sum == (double)((i + 1) * (i + 2)) / 2);
  }
  ndr_accumulator_destroy(a);
}
END_TEST

START_TEST(outputs_without_elements_hold_what_an_empty_reduction_gives) {
  float x[2] = {3, -4}, sums[3], means[3], smallest[3];
  int8_t y[1] = {5}, largest[3];
  ndr_accumulator *a, *b;
  ndr_op ops[] = {NDR_SUM, NDR_MEAN, NDR_MIN}, max = NDR_MAX;
  DLTensor slab = ndr_tensor(x, NDR_F32, NDR_SHAPE(1, 2)), byte = ndr_tensor(y, NDR_I8, NDR_SHAPE(1, 1));
  DLTensor r0 = ndr_tensor(sums, NDR_F32, NDR_SHAPE(3)), r1 = ndr_tensor(means, NDR_F32, NDR_SHAPE(3)),
           r2 = ndr_tensor(smallest, NDR_F32, NDR_SHAPE(3));
  DLTensor bytes = ndr_tensor(largest, NDR_I8, NDR_SHAPE(3));
  assert_ok(accumulate_array(&a, cpu, NDR_F32, 2, (int64_t[]){3, 2}, NDR_DIMS(1), 3, ops, NULL));
  assert_ok(ndr_accumulator_add(a, &slab, (int64_t[]){1, 0}));
  assert_ok(ndr_accumulator_finish(a, (DLTensor *[]){&r0, &r1, &r2}));
  ck_assert(sums[0] == 0 && sums[1] == -1 && sums[2] == 0);
  ck_assert(isnan(means[0]) && means[1] == -0.5F && isnan(means[2]));
  ck_assert(isinf(smallest[0]) && smallest[0] > 0 && smallest[1] == -4);
  assert_ok(accumulate_array(&b, cpu, NDR_I8, 2, (int64_t[]){3, 2}, NDR_DIMS(1), 1, &max, NULL));
  assert_ok(ndr_accumulator_add(b, &byte, (int64_t[]){2, 1}));
  assert_ok(ndr_accumulator_finish(b, (DLTensor *[]){&bytes}));
  ck_assert(largest[0] == -128 && largest[1] == -128 && largest[2] == 5);
  ndr_accumulator_destroy(a);
  ndr_accumulator_destroy(b);
}
END_TEST

/* 2^63 - 1 is the identity's, so that any index is lower; nobody outside could tell it from an index. */
START_TEST(outputs_without_elements_have_no_index) {
  int64_t least[3], greatest[3];
  const ndr_op ops[] = {NDR_ARGMIN, NDR_ARGMAX};
  DLTensor r0 = ndr_tensor(least, NDR_I64, NDR_SHAPE(3)), r1 = ndr_tensor(greatest, NDR_I64, NDR_SHAPE(3));
  for (int skip_nan = 0; skip_nan < 2; skip_nan++) {
    float x[2] = {3, -4};
    int8_t y[2] = {3, -4};
    DLTensor slabs[] = {ndr_tensor(x, NDR_F32, NDR_SHAPE(1, 2)), ndr_tensor(y, NDR_I8, NDR_SHAPE(1, 2))};
    for (int i = 0; i < 2; i++) {
      ndr_accumulator *a;
      assert_ok(accumulate_array(&a, cpu, i ? NDR_I8 : NDR_F32, 2, (int64_t[]){3, 2}, NDR_DIMS(1), 2, ops,
                                 i ? NULL : NDR_OPTIONS(.skip_nan = skip_nan)));
      assert_ok(ndr_accumulator_add(a, &slabs[i], (int64_t[]){1, 0}));
      assert_ok(ndr_accumulator_finish(a, (DLTensor *[]){&r0, &r1}));
      ck_assert(least[0] == -1 && least[1] == 1 && least[2] == -1);
      ck_assert(greatest[0] == -1 && greatest[1] == 0 && greatest[2] == -1);
      ndr_accumulator_destroy(a);
    }
  }
}
END_TEST

START_TEST(slabs_of_size_zero_add_nothing) {
  int64_t sum = -1;
  ndr_accumulator *a;
  ndr_op op = NDR_SUM;
  DLTensor nothing = ndr_tensor(NULL, NDR_I64, NDR_SHAPE(0, 3)),
           result = {&sum, cpu, 0, {kDLInt, 64, 1}, NULL, NULL, 0};
  assert_ok(accumulate_array(&a, cpu, NDR_I64, 2, (int64_t[]){2, 3}, NDR_ALL_DIMS, 1, &op, NULL));
  assert_ok(ndr_accumulator_add(a, &nothing, (int64_t[]){2, 0}));
  assert_ok(ndr_accumulator_finish(a, (DLTensor *[]){&result}));
  ck_assert_int_eq(sum, 0);
  ndr_accumulator_destroy(a);
}
END_TEST

START_TEST(wholes_without_elements_fail_as_ndreduce_does) {
  float value = -1;
  ndr_accumulator *a;
  ndr_op op = NDR_MIN;
  DLTensor result = {&value, cpu, 0, {kDLFloat, 32, 1}, NULL, NULL, 0};
  assert_ok(accumulate_array(&a, cpu, NDR_F32, 1, (int64_t[]){0}, NDR_ALL_DIMS, 1, &op, NULL));
  assert_fails(ndr_accumulator_finish(a, (DLTensor *[]){&result}), NDR_ERR_EMPTY, "min");
  ck_assert(value == -1);
  ndr_accumulator_destroy(a);
}
END_TEST

START_TEST(merging_leaves_the_other_alone) {
  double x[2] = {10, 20}, sum;
  ndr_accumulator *a, *b;
  ndr_op op = NDR_SUM;
  DLTensor one = ndr_tensor(x, NDR_F64, NDR_SHAPE(1)), two = ndr_tensor(x + 1, NDR_F64, NDR_SHAPE(1));
  DLTensor result = {&sum, cpu, 0, {kDLFloat, 64, 1}, NULL, NULL, 0};
  assert_ok(accumulate_array(&a, cpu, NDR_F64, 1, (int64_t[]){2}, NDR_ALL_DIMS, 1, &op, NULL));
  assert_ok(accumulate_array(&b, cpu, NDR_F64, 1, (int64_t[]){2}, NDR_ALL_DIMS, 1, &op, NULL));
  assert_ok(ndr_accumulator_add(a, &one, (int64_t[]){0}));
  assert_ok(ndr_accumulator_add(b, &two, (int64_t[]){1}));
  assert_ok(ndr_accumulator_merge(a, b));
  assert_ok(ndr_accumulator_finish(b, (DLTensor *[]){&result}));
  ck_assert(sum == 20);
  assert_ok(ndr_accumulator_finish(a, (DLTensor *[]){&result}));
  ck_assert(sum == 30);
  ndr_accumulator_destroy(a);
  ndr_accumulator_destroy(b);
}
END_TEST

START_TEST(resetting_forgets_slabs_and_what_they_cover) {
  double x[2] = {10, 20}, sum;
  ndr_accumulator *a;
  ndr_op op = NDR_SUM;
  DLTensor slab = ndr_tensor(x, NDR_F64, NDR_SHAPE(2)), result = {&sum, cpu, 0, {kDLFloat, 64, 1}, NULL, NULL, 0};
  assert_ok(accumulate_array(&a, cpu, NDR_F64, 1, (int64_t[]){2}, NDR_ALL_DIMS, 1, &op, NULL));
  for (int i = 0; i < 2; i++) {
    assert_ok(ndr_accumulator_add(a, &slab, (int64_t[]){0}));
    assert_ok(ndr_accumulator_cover(a, 0, 1));
    assert_ok(ndr_accumulator_finish(a, (DLTensor *[]){&result}));
    ck_assert(sum == 30);
    assert_ok(ndr_accumulator_reset(a));
    assert_ok(ndr_accumulator_finish(a, (DLTensor *[]){&result}));
    ck_assert(sum == 0);
    ck_assert(!ndr_accumulator_covered(a, 0, NULL));
  }
  assert_fails(ndr_accumulator_reset(NULL), NDR_ERR_ARGUMENT, "null pointer");
  ndr_accumulator_destroy(a);
}
END_TEST

START_TEST(bytes_grow_with_the_outputs_alone) {
  ndr_accumulator *small, *large;
  ndr_op op = NDR_VAR;
  ck_assert_uint_eq(ndr_accumulator_bytes(NULL), 0);
  assert_ok(accumulate_array(&small, cpu, NDR_F32, 2, (int64_t[]){100, 10}, NDR_DIMS(0), 1, &op, NULL));
  assert_ok(accumulate_array(&large, cpu, NDR_F32, 2, (int64_t[]){INT64_C(1) << 40, 10}, NDR_DIMS(0), 1, &op, NULL));
  ck_assert_uint_ge(ndr_accumulator_bytes(small), 10 * 3 * 8);
  ck_assert_uint_eq(ndr_accumulator_bytes(small), ndr_accumulator_bytes(large));
  ndr_accumulator_destroy(small);
  ndr_accumulator_destroy(large);
}
END_TEST

/* ---- errors ---- */

START_TEST(creating_checks_as_ndreduce_does) {
  ndr_accumulator *a = (ndr_accumulator *)(void *)&cpu;
  int64_t shape[2] = {4, 5};
  ndr_op sum = NDR_SUM, min = NDR_MIN;
  ndr_options options = NDR_OPTIONS_INIT;
  assert_fails(accumulate_array(&a, cpu, NDR_F32, 2, shape, NDR_DIMS(2), 1, &sum, NULL), NDR_ERR_DIMS, "dim 2");
  ck_assert_ptr_null(a);
  assert_fails(ndr_accumulator_create(NULL, &(ndr_problem)NDR_PROBLEM_INIT, cpu, NULL), NDR_ERR_ARGUMENT,
               "accumulator");
  assert_fails(ndr_accumulator_create(&a, NULL, cpu, NULL), NDR_ERR_ARGUMENT, "problem");
  ndr_problem unknown = NDR_PROBLEM_INIT;
  unknown.dtype = (ndr_dtype)15;
  assert_fails(ndr_accumulator_create(&a, &unknown, cpu, NULL), NDR_ERR_DTYPE, "15");
  assert_fails(accumulate_array(&a, cpu, NDR_C64, 2, shape, NDR_DIMS(1), 1, &min, NULL), NDR_ERR_OP, "min");
  assert_fails(accumulate_array(&a, cpu, NDR_F32, 2, shape, NDR_DIMS(1), 0, &sum, NULL), NDR_ERR_ARGUMENT, "op_count");
  assert_fails(accumulate_array(&a, (DLDevice){kDLVulkan, 0}, NDR_F32, 2, shape, NDR_DIMS(1), 1, &sum, NULL),
               NDR_ERR_NO_DEVICE, "7");
  options.ddof = -1;
  assert_fails(accumulate_array(&a, cpu, NDR_F32, 2, shape, NDR_DIMS(1), 1, &sum, &options), NDR_ERR_ARGUMENT, "ddof");
  ck_assert_ptr_null(a);
}
END_TEST

START_TEST(creating_does_not_wait_to_refuse_a_family) {
  ndr_accumulator *a;
  float x[2] = {1, 2};
  ndr_op sum = NDR_SUM;
  ndr_options options = NDR_OPTIONS_INIT;
  DLTensor slab = ndr_tensor(x, NDR_F32, NDR_SHAPE(2));
  options.force_family = "warp";
  ndr_status status = accumulate_array(&a, cpu, NDR_F32, 1, (int64_t[]){2}, NDR_DIMS(0), 1, &sum, &options);
  if (status == NDR_OK) { /* what a slab looks like is only known when it comes */
    status = ndr_accumulator_add(a, &slab, (int64_t[]){0});
    ndr_accumulator_destroy(a);
  }
  ck_assert_int_eq(status, NDR_ERR_UNSUPPORTED);
}
END_TEST

START_TEST(slabs_that_do_not_fit_are_refused) {
  float x[6] = {1, 2, 3, 4, 5, 6}, sums[4] = {-1, -1, -1, -1};
  int64_t origin[2] = {0, 0};
  ndr_accumulator *a;
  ndr_op op = NDR_SUM;
  DLTensor slab = ndr_tensor(x, NDR_F32, NDR_SHAPE(2, 3)), result = ndr_tensor(sums, NDR_F32, NDR_SHAPE(4));
  assert_ok(accumulate_array(&a, cpu, NDR_F32, 2, (int64_t[]){4, 3}, NDR_DIMS(1), 1, &op, NULL));
  assert_fails(ndr_accumulator_add(a, &slab, (int64_t[]){3, 0}), NDR_ERR_ARGUMENT, "dim 0 of size 4");
  assert_fails(ndr_accumulator_add(a, &slab, (int64_t[]){0, 1}), NDR_ERR_ARGUMENT, "dim 1 of size 3");
  assert_fails(ndr_accumulator_add(a, &slab, (int64_t[]){-1, 0}), NDR_ERR_ARGUMENT, "-1");
  assert_fails(ndr_accumulator_add(a, &slab, (int64_t[]){INT64_MAX, 0}), NDR_ERR_ARGUMENT, "dim 0");
  assert_fails(ndr_accumulator_add(a, NULL, origin), NDR_ERR_ARGUMENT, "slab");
  assert_fails(ndr_accumulator_add(a, &slab, NULL), NDR_ERR_ARGUMENT, "offset");
  assert_fails(ndr_accumulator_add(NULL, &slab, origin), NDR_ERR_ARGUMENT, "accumulator");
  DLTensor other = ndr_tensor(x, NDR_I32, NDR_SHAPE(2, 3)), flat = ndr_tensor(x, NDR_F32, NDR_SHAPE(6)),
           none = ndr_tensor(NULL, NDR_F32, NDR_SHAPE(2, 3));
  assert_fails(ndr_accumulator_add(a, &other, origin), NDR_ERR_ARGUMENT, "i32");
  assert_fails(ndr_accumulator_add(a, &flat, origin), NDR_ERR_ARGUMENT, "1 dim ");
  assert_fails(ndr_accumulator_add(a, &none, origin), NDR_ERR_ARGUMENT, "slab");
  assert_ok(ndr_accumulator_finish(a, (DLTensor *[]){&result}));
  ck_assert(sums[0] == 0 && sums[3] == 0);
  ndr_accumulator_destroy(a);
}
END_TEST

START_TEST(accumulators_of_other_reductions_do_not_merge) {
  static const char *const others[] = {"sum f32 [4,5] /1",  "max f32 [4,5] /0",     "sum f64 [4,5] /0",
                                       "sum f32 [4,6] /0",  "sum,max f32 [4,5] /0", "sum f32 [4,5] /0 skipnan",
                                       "sum f32 [4,5,1] /0"};
  ndr_accumulator *a, *b;
  ndr_problem c = NDR_PROBLEM_INIT;
  assert_ok(ndr_problem_parse("sum f32 [4,5] /0", &c));
  assert_ok(create(&a, &c));
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    assert_ok(ndr_problem_parse(others[i], &c));
    assert_ok(create(&b, &c));
    assert_fails(ndr_accumulator_merge(a, b), NDR_ERR_ARGUMENT, "alike");
    ndr_accumulator_destroy(b);
  }
  assert_fails(ndr_accumulator_merge(a, NULL), NDR_ERR_ARGUMENT, "two");
  assert_fails(ndr_accumulator_merge(NULL, a), NDR_ERR_ARGUMENT, "two");
  assert_fails(ndr_accumulator_merge(a, a), NDR_ERR_ARGUMENT, "two");
  ndr_accumulator_destroy(a);
}
END_TEST

/* A program may fill the same problem in again, with fewer dims and operators. */
START_TEST(what_lies_behind_the_counts_does_not_count) {
  ndr_accumulator *a, *b;
  ndr_problem c = NDR_PROBLEM_INIT;
  const DLDevice device = {kDLCPU, 0};
  assert_ok(ndr_problem_parse("sum f32 [4,5] /0 skipnan", &c));
  assert_ok(ndr_accumulator_create(&a, &c, device, NULL));
  for (int d = c.ndim; d < NDR_MAX_DIMS; d++) c.shape[d] = c.strides[d] = c.dims[d] = 7;
  for (int i = c.op_count; i < NDR_MAX_OPS; i++) c.ops[i] = NDR_MAX;
  c.skip_nan = 2;
  assert_ok(ndr_accumulator_create(&b, &c, device, NULL));
  assert_ok(ndr_accumulator_merge(a, b));
  ndr_accumulator_destroy(b);
  ndr_accumulator_destroy(a);
}
END_TEST

START_TEST(finishing_checks_the_results) {
  float sums[5] = {-1, -1, -1, -1, -1};
  ndr_accumulator *a;
  ndr_problem c = NDR_PROBLEM_INIT;
  DLTensor wrong = ndr_tensor(sums, NDR_F32, NDR_SHAPE(4)), none = ndr_tensor(NULL, NDR_F32, NDR_SHAPE(5));
  assert_ok(ndr_problem_parse("sum f32 [4,5] /0", &c));
  assert_ok(create(&a, &c));
  assert_fails(ndr_accumulator_finish(a, (DLTensor *[]){&wrong}), NDR_ERR_RESULT, "must be [5]");
  assert_fails(ndr_accumulator_finish(a, (DLTensor *[]){NULL}), NDR_ERR_ARGUMENT, "sum");
  assert_fails(ndr_accumulator_finish(a, (DLTensor *[]){&none}), NDR_ERR_ARGUMENT, "result");
  assert_fails(ndr_accumulator_finish(a, NULL), NDR_ERR_ARGUMENT, "results");
  assert_fails(ndr_accumulator_finish(NULL, (DLTensor *[]){&wrong}), NDR_ERR_ARGUMENT, "accumulator");
  ck_assert(sums[0] == -1);
  ndr_accumulator_destroy(a);
}
END_TEST

/* ---- totals ---- */

/* Of more outputs than are taken at a time, after a slab and before another. */
START_TEST(totals_are_added_as_slabs_are) {
  enum { OUTPUTS = 1300, FIRST = 100, COUNT = 1100 };
  static double slab[2 * OUTPUTS], sums[OUTPUTS], counts[OUTPUTS], got[2][2][OUTPUTS];
  static int64_t valid[2][OUTPUTS];
  const int64_t at[][2] = {{0, 0}, {2, 0}};
  DLTensor two_rows = ndr_tensor(slab, NDR_F64, NDR_SHAPE(2, OUTPUTS));
  DLTensor part = ndr_tensor(slab + FIRST, NDR_F64, NDR_SHAPE(2, COUNT));
  int64_t strides[] = {OUTPUTS, 1};
  ndr_problem c = NDR_PROBLEM_INIT;
  part.strides = strides;
  for (int i = 0; i < 2 * OUTPUTS; i++) slab[i] = i % 7 == 0 ? (double)NAN : i;
  for (int l = 0; l < OUTPUTS; l++) {
    sums[l] = (l % 7 == 0 ? 0 : l) + ((OUTPUTS + l) % 7 == 0 ? 0 : OUTPUTS + l);
    counts[l] = (l % 7 != 0) + ((OUTPUTS + l) % 7 != 0);
  }
  assert_ok(ndr_problem_parse("sum,mean,valid f64 [4,1300] /0 skipnan", &c));
  for (int by_totals = 0; by_totals < 2; by_totals++) {
    ndr_accumulator *a;
    DLTensor sum = ndr_tensor(got[by_totals][0], NDR_F64, NDR_SHAPE(OUTPUTS)), mean = sum, number = sum;
    mean.data = got[by_totals][1];
    number = ndr_tensor(valid[by_totals], NDR_I64, NDR_SHAPE(OUTPUTS));
    assert_ok(ndr_accumulator_create(&a, &c, cpu, NULL));
    assert_ok(ndr_accumulator_add(a, &two_rows, at[0]));
    if (by_totals)
      assert_ok(ndr_accumulator_add_totals(a, FIRST, COUNT, sums + FIRST, counts + FIRST));
    else
      assert_ok(ndr_accumulator_add(a, &part, (int64_t[]){2, FIRST}));
    assert_ok(ndr_accumulator_finish(a, (DLTensor *[]){&sum, &mean, &number}));
    ndr_accumulator_destroy(a);
  }
  ck_assert_int_eq(memcmp(got[0], got[1], sizeof got[0]), 0); /* sums of integers are exact */
  ck_assert_int_eq(memcmp(valid[0], valid[1], sizeof valid[0]), 0);
}
END_TEST

START_TEST(totals_that_no_state_is_made_of_are_refused) {
  const char *others[] = {"sum f64 [4,5] /0 groups=0:2[0,0,1,1]", "mean f32 [4,5] /0"};
  const double totals[5] = {0};
  ndr_accumulator *a;
  ndr_problem c = NDR_PROBLEM_INIT;
  for (int i = 0; i < 2; i++) {
    assert_ok(ndr_problem_parse(others[i], &c));
    assert_ok(ndr_accumulator_create(&a, &c, cpu, NULL));
    assert_fails(ndr_accumulator_add_totals(a, 0, 5, totals, totals), NDR_ERR_UNSUPPORTED, "f64 on the CPU");
    ndr_accumulator_destroy(a);
  }
  assert_ok(ndr_problem_parse("mean f64 [4,5] /0", &c));
  assert_ok(ndr_accumulator_create(&a, &c, cpu, NULL));
  assert_ok(ndr_accumulator_add_totals(a, 5, 0, totals, totals));
  assert_fails(ndr_accumulator_add_totals(a, 1, 5, totals, totals), NDR_ERR_ARGUMENT, "of 5");
  assert_fails(ndr_accumulator_add_totals(a, -1, 5, totals, totals), NDR_ERR_ARGUMENT, "-1");
  assert_fails(ndr_accumulator_add_totals(a, 0, 5, NULL, totals), NDR_ERR_ARGUMENT, "null");
  assert_fails(ndr_accumulator_add_totals(NULL, 0, 5, totals, totals), NDR_ERR_ARGUMENT, "null");
  ndr_accumulator_destroy(a);
}
END_TEST

START_TEST(destroying_null_is_legal) {
  ndr_accumulator_destroy(NULL);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("api accumulator");
  suite_case(suite, "cuts", 300, no_cut_and_no_order_shows, NULL);
  suite_case(suite, "by hand", 30, arg_indices_are_global, finishing_does_not_end_it,
             outputs_without_elements_hold_what_an_empty_reduction_gives, outputs_without_elements_have_no_index,
             slabs_of_size_zero_add_nothing, wholes_without_elements_fail_as_ndreduce_does,
             merging_leaves_the_other_alone, resetting_forgets_slabs_and_what_they_cover,
             bytes_grow_with_the_outputs_alone, totals_are_added_as_slabs_are, NULL);
  suite_case(suite, "errors", 30, creating_checks_as_ndreduce_does, creating_does_not_wait_to_refuse_a_family,
             slabs_that_do_not_fit_are_refused, accumulators_of_other_reductions_do_not_merge,
             what_lies_behind_the_counts_does_not_count, finishing_checks_the_results,
             totals_that_no_state_is_made_of_are_refused, destroying_null_is_legal, NULL);
  return suite_run(suite);
}
