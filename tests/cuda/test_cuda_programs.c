/* Operators of one's own, masks and weights on the device against the CPU; the bits of s += x; and what compiling
 * takes. */
#define _GNU_SOURCE /* setenv, mkdtemp */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "device.h"
#include "support/operators.h"
#include "support/reduce.h"

enum { MOST_OPS = 5, MOST_ELEMENTS = 40000 };
static const char *const families[] = {"tree", "thread", "tile", NULL};

/* A case: what is computed, its arrays, and the results of both backends. */
typedef struct trial {
  ndr_problem problem;
  ndr_options options;
  gpu_array array, got[MOST_OPS], operand;
  test_array expected[MOST_OPS];
  const DLTensor *second[1];
  enum { ALONE, MASKED, WEIGHTED, PAIRED } kind;
} trial;

static void make_results(trial *t, rng *random) {
  bool alike = rng_once_in(random, 2);
  for (int i = 0; i < t->problem.op_count; i++) {
    ndr_options options = options_of_operator(&t->options, t->problem.ops[i]);
    assert_ok(
        gpu_result(&t->got[i], GPU_DEVICE, &t->array.host.tensor, &t->problem, i, &options, alike ? NULL : random));
    assert_ok(array_result(&t->expected[i], &t->array.host.tensor, t->problem.dim_count, t->problem.dims,
                           t->problem.ops[i], &options, NULL));
  }
}

/* The operand has the problem's shape, or is repeated along some dims. */
static void make_operand(trial *t, rng *random) {
  int64_t shape[NDR_MAX_DIMS];
  ndr_dtype dtype = t->kind == MASKED ? NDR_BOOL : t->kind == WEIGHTED && rng_once_in(random, 2) ? NDR_F64 : NDR_F32;
  size_t bytes = ndr_dtype_bytes(dtype);
  for (int d = 0; d < t->problem.ndim; d++) shape[d] = rng_once_in(random, 4) ? 1 : t->problem.shape[d];
  array_make(&t->operand.host, dtype, t->problem.ndim, shape, NULL);
  array_fill(&t->operand.host, random, FILL_SMALL);
  for (size_t at = 0; t->kind == WEIGHTED && at < t->operand.host.bytes; at += bytes)
    element_store(dtype, (char *)t->operand.host.memory + at, (element){(long double)rng_between(random, 0, 4) / 2, 0});
  gpu_place(&t->operand, GPU_DEVICE, rng_once_in(random, 2) ? 0 : bytes);
}

static void name_operand(trial *t, const DLTensor *tensor) {
  if (t->kind == MASKED) t->options.where = tensor;
  if (t->kind == WEIGHTED) t->options.weights = tensor;
  if (t->kind != PAIRED) return;
  t->second[0] = tensor;
  t->options.with = t->second;
  t->options.with_count = 1;
}

static void draw(trial *t, rng *random, ndr_dtype dtype, const char *family) {
  static const ndr_op weighted[] = {NDR_SUM, NDR_MEAN, NDR_VAR, NDR_STD, NDR_NORM2};
  ndr_problem *problem = &t->problem;
  directed_case(random, dtype, NDR_SUM, family ? family : "tree", MOST_ELEMENTS, problem);
  problem->op_count = (int)rng_between(random, 1, rng_once_in(random, 2) ? 1 : MOST_OPS);
  problem->skip_nan = rng_once_in(random, 3);
  if (t->kind == ALONE && rng_once_in(random, 4)) problem->accumulate = NDR_ACCUMULATE_F64;
  for (int i = 0; i < problem->op_count; i++)
    problem->ops[i] = t->kind == WEIGHTED           ? weighted[rng_between(random, 0, 4)]
                      : t->kind == PAIRED && i == 0 ? random_operator_of_two(random, dtype, NDR_F32)
                                                    : random_operator(random, dtype, i ? 2 : 1);
  t->options = case_options(problem);
  if (t->kind == WEIGHTED && rng_once_in(random, 2)) t->options.weighting = NDR_RELIABILITY;
}

static void check(trial *t, const char *family) {
  char why[512];
  for (int i = 0; i < t->problem.op_count; i++) {
    char text[256] = "";
    ndr_operator_print(t->problem.ops[i], text, sizeof text);
    gpu_fetch(&t->got[i]);
    bool right = results_agree(&t->got[i].host.tensor, &t->expected[i].tensor, 64, why, sizeof why);
    ck_assert_msg(right, "%s\n  kind %d, family %s, operator %d %s: %s", case_text(&t->problem), t->kind,
                  family ? family : "any", i, text, why);
    ck_assert_msg(array_gaps_untouched(&t->got[i].host), "%s: wrote between the results", case_text(&t->problem));
    ck_assert_msg(gpu_block_guarded(&t->got[i].block), "%s: wrote outside the result", case_text(&t->problem));
  }
}

static void run_case(uint64_t seed) {
  rng random = {seed};
  const char *family = families[seed % 4];
  ndr_dtype dtype = (ndr_dtype)(seed / 4 % NDR_DTYPE_COUNT);
  trial t = {.problem = NDR_PROBLEM_INIT, .kind = seed % 8 < 4 ? ALONE : (int)rng_between(&random, MASKED, PAIRED)};
  DLTensor *got[MOST_OPS], *expected[MOST_OPS];
  draw(&t, &random, dtype, family);
  array_of_case(&t.array.host, &t.problem);
  array_fill(&t.array.host, &random, FILL_SMALL);
  gpu_place(&t.array, GPU_DEVICE, rng_once_in(&random, 2) ? 0 : ndr_dtype_bytes(dtype));
  if (t.kind != ALONE) make_operand(&t, &random);
  name_operand(&t, &t.operand.host.tensor);
  make_results(&t, &random);
  for (int i = 0; i < t.problem.op_count; i++) got[i] = &t.got[i].tensor, expected[i] = &t.expected[i].tensor;
  assert_ok(ndreduce_many(&t.array.host.tensor, t.problem.dim_count, t.problem.dims, t.problem.op_count, t.problem.ops,
                          expected, &t.options));
  name_operand(&t, &t.operand.tensor);
  t.options.force_family = family;
  ndr_status status = ndreduce_many(&t.array.tensor, t.problem.dim_count, t.problem.dims, t.problem.op_count,
                                    t.problem.ops, got, &t.options);
  ck_assert_msg(status == NDR_OK || (family && status == NDR_ERR_UNSUPPORTED), "%s: %s", case_text(&t.problem),
                ndr_last_error());
  if (status == NDR_OK) check(&t, family);
  for (int i = 0; i < t.problem.op_count; i++) {
    gpu_free(&t.got[i]);
    array_free(&t.expected[i]);
    if (t.problem.ops[i] >= NDR_OWN_OPS) ndr_operator_destroy(t.problem.ops[i]);
  }
  if (t.kind != ALONE) gpu_free(&t.operand);
  gpu_free(&t.array);
}

/* Most of these compile a kernel, so that a run has time for few: another day has others. */
START_TEST(random_programs_are_right) {
  double until = test_clock() + test_seconds(gpu_subset() ? 0 : 40);
  uint64_t seed = test_seed_of_day();
  int cases = 0;
  printf("programs: seed %llu, ", (unsigned long long)seed);
  fflush(stdout);
  for (; cases < test_case_count(gpu_subset() ? 8 : 60) || test_clock() < until; cases++)
    run_case(seed + (uint64_t)cases);
  printf("%d cases\n", cases);
}
END_TEST

/* ptxas 13.0 drops the sign of an operand where it merges two minima or maxima (machine::hide_negation). */
static void check_negated(ndr_dtype dtype, const char *family, int dim) {
  rng random = {test_seed()};
  trial t = {.problem = NDR_PROBLEM_INIT, .kind = ALONE};
  ndr_problem *problem = &t.problem;
  DLTensor *got[1], *expected[1];
  problem->dtype = dtype;
  problem->ndim = 2;
  problem->shape[0] = 60, problem->shape[1] = 70;
  problem->strides[0] = 70, problem->strides[1] = 1;
  problem->dim_count = problem->op_count = 1;
  problem->dims[0] = dim;
  assert_ok(
      ndr_operator_create(&problem->ops[0], "a(x): m max= -x, l min= 0 - x, t max= min(-x, x) -> m - l + t", NULL, 0));
  t.options = case_options(problem);
  array_of_case(&t.array.host, problem);
  array_fill(&t.array.host, &random, FILL_SMALL);
  gpu_place(&t.array, GPU_DEVICE, 0);
  make_results(&t, &random);
  got[0] = &t.got[0].tensor, expected[0] = &t.expected[0].tensor;
  assert_ok(ndreduce_many(&t.array.host.tensor, 1, problem->dims, 1, problem->ops, expected, &t.options));
  t.options.force_family = family;
  ndr_status status = ndreduce_many(&t.array.tensor, 1, problem->dims, 1, problem->ops, got, &t.options);
  ck_assert_msg(status == NDR_OK || status == NDR_ERR_UNSUPPORTED, "%s: %s", case_text(problem), ndr_last_error());
  if (status == NDR_OK) check(&t, family);
  gpu_free(&t.got[0]);
  array_free(&t.expected[0]);
  ndr_operator_destroy(problem->ops[0]);
  gpu_free(&t.array);
}

START_TEST(extremes_of_negated_integers_are_right) {
  for (int dtype = 0; dtype < NDR_DTYPE_COUNT; dtype++) {
    if (!is_integer((ndr_dtype)dtype) || dtype == NDR_BOOL) continue;
    for (int f = 0; f < 3; f++)
      for (int dim = 0; dim < 2; dim++) check_negated((ndr_dtype)dtype, families[f], dim);
  }
}
END_TEST

/* ---- s += x ---- */

static void compare_bits(rng *random, ndr_dtype dtype, ndr_op op, int number) {
  ndr_problem problem = NDR_PROBLEM_INIT;
  gpu_array array, own, built;
  directed_case(random, dtype, NDR_SUM, families[number % 3], MOST_ELEMENTS, &problem);
  problem.skip_nan = number % 5 == 4;
  if (number % 7 == 6) problem.accumulate = NDR_ACCUMULATE_F64;
  ndr_options options = case_options(&problem);
  array_of_case(&array.host, &problem);
  array_fill(&array.host, random, FILL_WIDE);
  gpu_place(&array, GPU_DEVICE, 0);
  assert_ok(gpu_result(&built, GPU_DEVICE, &array.host.tensor, &problem, 0, &options, NULL));
  assert_ok(gpu_result(&own, GPU_DEVICE, &array.host.tensor, &problem, 0, &options, NULL));
  assert_ok(ndreduce(&array.tensor, problem.dim_count, problem.dims, NDR_SUM, &built.tensor, &options));
  assert_ok(ndreduce(&array.tensor, problem.dim_count, problem.dims, op, &own.tensor, &options));
  gpu_fetch(&built);
  gpu_fetch(&own);
  ck_assert_msg(memcmp(built.host.memory, own.host.memory, built.host.bytes) == 0, "%s: the bits differ",
                case_text(&problem));
  gpu_free(&own);
  gpu_free(&built);
  gpu_free(&array);
}

START_TEST(a_plain_sum_has_the_bits_of_sum) {
  static const ndr_dtype dtypes[] = {NDR_F32, NDR_F64, NDR_C64, NDR_I8, NDR_I32, NDR_U64, NDR_BF16};
  rng random = {test_seed()};
  ndr_op op;
  assert_ok(ndr_operator_create(&op, "total(x): s += x -> s", NULL, 0));
  for (int d = 0; d < (int)(sizeof dtypes / sizeof *dtypes); d++)
    for (int i = 0; i < (gpu_subset() ? 2 : 20); i++) compare_bits(&random, dtypes[d], op, i);
  ndr_operator_destroy(op);
}
END_TEST

/* ---- accumulators ---- */

START_TEST(slabs_are_merged_and_finished) {
  int64_t shape[2] = {60, 300}, half[2] = {30, 300}, outputs = 300;
  rng random = {test_seed()};
  ndr_op ops[4] = {NDR_VAR, NDR_MIN, NDR_MEAN};
  ndr_accumulator *accumulator;
  gpu_array array = {0}, got[4];
  test_array expected[4];
  DLTensor *results[4], *wanted[4];
  ndr_problem problem = NDR_PROBLEM_INIT;
  assert_ok(ndr_operator_create(&ops[3], "rms(x; c): s += c * x * x, n += 1 -> sqrt(s / n)", &(double){0.5}, 1));
  array_make(&array.host, NDR_F32, 2, shape, NULL);
  array_fill(&array.host, &random, FILL_SMALL);
  gpu_place(&array, GPU_DEVICE, 0);
  assert_ok(ndr_problem_make(&problem, &array.host.tensor, NDR_DIMS(0), 4, ops));
  assert_ok(ndr_accumulator_create(&accumulator, &problem, (DLDevice){kDLCUDA, 0}, NULL));
  for (int64_t at = 0; at < 60; at += 30) {
    DLTensor slab = array.tensor;
    slab.shape = half;
    slab.strides = NULL;
    slab.data = (char *)array.tensor.data + at * 300 * (int64_t)sizeof(float);
    assert_ok(ndr_accumulator_add(accumulator, &slab, (int64_t[]){at, 0}));
  }
  for (int i = 0; i < 4; i++) {
    assert_ok(gpu_result(&got[i], GPU_DEVICE, &array.host.tensor, &problem, i, NULL, NULL));
    assert_ok(array_result(&expected[i], &array.host.tensor, NDR_DIMS(0), ops[i], NULL, NULL));
    results[i] = &got[i].tensor, wanted[i] = &expected[i].tensor;
  }
  assert_ok(ndr_accumulator_finish(accumulator, results));
  assert_ok(ndreduce_many(&array.host.tensor, NDR_DIMS(0), 4, ops, wanted, NULL));
  for (int i = 0; i < 4; i++) {
    char why[512];
    gpu_fetch(&got[i]);
    ck_assert_msg(results_agree(&got[i].host.tensor, wanted[i], 16, why, sizeof why), "operator %d: %s", i, why);
    gpu_free(&got[i]);
    array_free(&expected[i]);
  }
  (void)outputs;
  ndr_accumulator_destroy(accumulator);
  ndr_operator_destroy(ops[3]);
  gpu_free(&array);
}
END_TEST

/* ---- what compiling takes ---- */

static int use(void) {
  int64_t shape[2] = {4096, 4096};
  float *x, *sums;
  ndr_op op;
  DLTensor array, result;
  if (cudaMalloc((void **)&x, sizeof *x << 24) != cudaSuccess ||
      cudaMalloc((void **)&sums, sizeof *x << 12) != cudaSuccess)
    return 1;
  array = ndr_tensor(x, NDR_F32, 2, shape);
  result = ndr_tensor(sums, NDR_F32, 1, shape);
  array.device = result.device = (DLDevice){kDLCUDA, 0};
  cudaMemset(x, 0, sizeof *x << 24);
  cudaDeviceSynchronize();
  double start = test_clock();
  if (ndr_operator_create(&op, "rms(x): s += x * x, n += 1 -> sqrt(s / n)", NULL, 0) != NDR_OK) return 1;
  if (ndreduce(&array, NDR_DIMS(1), op, &result, NULL) != NDR_OK) return 1;
  cudaDeviceSynchronize();
  printf("  a process's first call: %.1f ms\n", 1e3 * (test_clock() - start));
  return 0;
}

static const char *program;

START_TEST(a_second_process_loads_what_was_compiled) {
  char folder[] = "/tmp/ndreduce.XXXXXX", command[1024];
  ck_assert_ptr_ne(mkdtemp(folder), NULL);
  snprintf(command, sizeof command, "NDREDUCE_CACHE=%s '%s' use", folder, program);
  for (int i = 0; i < 3; i++) {
    fflush(stdout);
    ck_assert_int_eq(system(command), 0); /* NOLINT(cert-env33-c): this program */
  }
  snprintf(command, sizeof command, "rm -r %s", folder);
  ck_assert_int_eq(system(command), 0); /* NOLINT(cert-env33-c): a folder that mkdtemp named */
}
END_TEST

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "use") == 0) return use();
  program = argv[0];
  Suite *suite = suite_create("cuda programs");
  suite_case(suite, "programs", 600, random_programs_are_right, extremes_of_negated_integers_are_right,
             a_plain_sum_has_the_bits_of_sum, slabs_are_merged_and_finished, a_second_process_loads_what_was_compiled,
             NULL);
  return gpu_suite_run(suite);
}
