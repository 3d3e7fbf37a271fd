/* Kernels that are compiled at run time, from any place in a vector on and in widths of 1 to 70, against the CPU:
 * several operators at once, skip_nan, sums in f64, masks, weights and groups, of columns, of rows and of runs. */
#include <stdio.h>

#include "drive.h"
#include "memory.h"
#include "ndreduce/groups.h"
#include "runtime/control.h"
#include "support/operators.h"
#include "support/suite.h"

enum { MOST_OPS = 4, GROUPS = 4, MOST_LABELS = 128, LEAST_WIDTHS = 70 };

static const ndr_dtype dtypes[] = {NDR_I8, NDR_F16, NDR_F32, NDR_C128};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

/* What makes a problem one that is compiled. */
static const struct {
  const char *name;
  int op_count;
  ndr_op ops[MOST_OPS];
  bool skip_nan, f64, where, weights, groups;
} ways[] = {
    {.name = "several", .op_count = 4, .ops = {NDR_SUM, NDR_VAR, NDR_COUNT, NDR_NORM2}},
    {.name = "skip_nan", .op_count = 2, .ops = {NDR_MEAN, NDR_VALID}, .skip_nan = true},
    {.name = "f64", .op_count = 2, .ops = {NDR_STD, NDR_NORM1}, .f64 = true},
    {.name = "where", .op_count = 2, .ops = {NDR_SUM, NDR_ANY}, .where = true},
    {.name = "weights", .op_count = 1, .ops = {NDR_MEAN}, .weights = true},
    {.name = "where and weights", .op_count = 1, .ops = {NDR_VAR}, .where = true, .weights = true},
    {.name = "groups", .op_count = 2, .ops = {NDR_SUM, NDR_COUNT}, .groups = true},
};
enum { WAYS = sizeof ways / sizeof *ways };

/* Dim 0 has `rows`, dim 1 the width, with a gap or without. */
static const struct {
  int dim_count, dims[2];
  int group_dim; /* a reduced one */
} reduced[] = {{1, {0}, 0}, {1, {1}, 1}, {2, {0, 1}, 0}};
enum { REDUCED = sizeof reduced / sizeof *reduced };

/* A case: the arrays on both sides, and what the options name there. */
typedef struct trial {
  int way, dims, device;
  size_t past;
  device_array array, mask, weights, results[MOST_OPS];
  test_array expected[MOST_OPS];
  ndr_options here, there;
  char text[128];
} trial;

static void add_operand(trial *t, rng *random, device_array *made, ndr_dtype dtype) {
  array_make(&made->host, dtype, 2, t->array.host.shape, NULL);
  array_fill(&made->host, random, dtype == NDR_BOOL ? FILL_WIDE : FILL_SPARSE);
  for (size_t at = 0; dtype == NDR_F32 && at < made->host.bytes; at += sizeof(float))
    *(float *)((char *)made->host.memory + at) = (float)rng_between(random, 0, 4) / 2;
  device_array_of(made, t->device,
                  (size_t)rng_between(random, 0, 15) / ndr_dtype_bytes(dtype) * ndr_dtype_bytes(dtype));
}

static ndr_groups *draw_groups(rng *random, int64_t length) {
  int32_t values[MOST_LABELS];
  ndr_groups *groups;
  for (int64_t i = 0; i < length; i++) values[i] = (int32_t)rng_between(random, -1, GROUPS - 1);
  DLTensor labels = ndr_tensor(values, NDR_I32, 1, &length);
  assert_ok(ndr_groups_create(&groups, &labels, GROUPS));
  return groups;
}

static void make_options(trial *t, rng *random) {
  int dim = reduced[t->dims].group_dim;
  ndr_options options = *NDR_OPTIONS(.skip_nan = ways[t->way].skip_nan);
  if (ways[t->way].f64) options.accumulate = NDR_ACCUMULATE_F64;
  if (ways[t->way].groups) options.groups = draw_groups(random, t->array.host.shape[dim]), options.group_dim = dim;
  t->here = t->there = options;
  if (ways[t->way].where) {
    add_operand(t, random, &t->mask, NDR_BOOL);
    t->here.where = &t->mask.host.tensor, t->there.where = &t->mask.tensor;
  }
  if (ways[t->way].weights) {
    add_operand(t, random, &t->weights, NDR_F32);
    t->here.weights = &t->weights.host.tensor, t->there.weights = &t->weights.tensor;
  }
}

static void draw(trial *t, rng *random, ndr_dtype dtype) {
  size_t alignment = ndr_dtype_alignment(dtype);
  int64_t shape[2] = {rng_between(random, 1, MOST_LABELS), rng_between(random, 1, LEAST_WIDTHS)};
  int64_t strides[2] = {shape[1] + (rng_once_in(random, 2) ? 0 : rng_between(random, 1, 20)), 1};
  t->device = (int)rng_between(random, 0, 2);
  t->past = (size_t)rng_between(random, 0, 15) / alignment * alignment;
  array_make(&t->array.host, dtype, 2, shape, strides);
  array_fill(&t->array.host, random, FILL_SMALL);
  device_array_of(&t->array, t->device, t->past);
  make_options(t, random);
  for (int i = 0; i < ways[t->way].op_count; i++) {
    assert_ok(array_result(&t->results[i].host, &t->array.host.tensor, reduced[t->dims].dim_count,
                           reduced[t->dims].dims, ways[t->way].ops[i], &t->here, NULL));
    assert_ok(array_result(&t->expected[i], &t->array.host.tensor, reduced[t->dims].dim_count, reduced[t->dims].dims,
                           ways[t->way].ops[i], &t->here, NULL));
    device_array_of(&t->results[i], t->device, 0);
  }
  snprintf(t->text, sizeof t->text, "%s of %s [%d:%d,%d], dims %d, %d bytes past, device %d", ways[t->way].name,
           ndr_dtype_name(dtype), (int)shape[0], (int)strides[0], (int)shape[1], t->dims, (int)t->past, t->device);
}

static void run_and_check(trial *t) {
  DLTensor *results[MOST_OPS], *expected[MOST_OPS];
  char why[256] = "";
  int count = ways[t->way].op_count, dim_count = reduced[t->dims].dim_count;
  const int *dims = reduced[t->dims].dims;
  const ndr_op *ops = ways[t->way].ops;
  for (int i = 0; i < count; i++) results[i] = &t->results[i].tensor, expected[i] = &t->expected[i].tensor;
  assert_ok(ndreduce_many(&t->array.host.tensor, dim_count, dims, count, ops, expected, &t->here));
  ndr_status status = ndreduce_many(&t->array.tensor, dim_count, dims, count, ops, results, &t->there);
  ck_assert_msg(status == NDR_OK, "%s: %s", t->text, ndr_last_error());
  for (int i = 0; i < count; i++) {
    device_fetch(&t->results[i]);
    ck_assert_msg(results_agree(&t->results[i].host.tensor, expected[i], 16, why, sizeof why), "%s: %s: %s", t->text,
                  ndr_op_name(ops[i]), why);
  }
  ck_assert_msg(!simt_guards_broken(), "%s: something was written outside the arrays", t->text);
}

static void finish(trial *t) {
  for (int i = 0; i < ways[t->way].op_count; i++) {
    device_free(&t->results[i]);
    array_free(&t->expected[i]);
  }
  if (ways[t->way].where) device_free(&t->mask);
  if (ways[t->way].weights) device_free(&t->weights);
  ndr_groups_destroy((ndr_groups *)(uintptr_t)t->here.groups);
  device_free(&t->array);
}

/* Each of these may cost a compilation. */
START_TEST(compiled_kernels_agree_with_the_cpu) {
  rng random = {test_seed() + 1000 * (uint64_t)_i};
  int cases = test_case_count(4);
  for (int number = 0; number < cases; number++) {
    trial t = {.way = _i % WAYS, .dims = _i / WAYS};
    simt_controls.order = rng_next(&random);
    draw(&t, &random, dtypes[(number + _i) % DTYPES]);
    run_and_check(&t);
    finish(&t);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("compiled kernels");
  TCase *cases = tcase_create("compiled");
  tcase_set_timeout(cases, 3600);
  tcase_add_loop_test(cases, compiled_kernels_agree_with_the_cpu, 0, WAYS * REDUCED);
  suite_add_tcase(suite, cases);
  return suite_run(suite);
}
