/* Operators of one's own under emulation: random ones over random layouts, beside built-in ones, against the CPU. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "drive.h"
#include "memory.h"
#include "runtime/control.h"
#include "support/operators.h"
#include "support/suite.h"

enum { MOST_ELEMENTS = 3000, MOST_OPS = 5 };
static const char *const families[] = {"tree", "thread", "tile", NULL};

/* A case: one array, and the results of both backends. */
typedef struct trial {
  ndr_problem problem;
  ndr_options options;
  device_array array, results[MOST_OPS];
  test_array expected[MOST_OPS];
  double initial;
  /* Masks, weights or second arrays, by the names of options; their copies in device memory. */
  int operand_count;
  device_array operands[NDR_MAX_OPERANDS];
  const DLTensor *second;
} trial;

static void draw(trial *t, rng *random, ndr_dtype dtype, const char *family) {
  ndr_problem *problem = &t->problem;
  directed_case(random, dtype, NDR_SUM, family ? family : "tree", MOST_ELEMENTS, problem);
  problem->op_count = (int)rng_between(random, 1, rng_once_in(random, 2) ? 2 : MOST_OPS);
  for (int i = 0; i < problem->op_count; i++) problem->ops[i] = random_operator(random, dtype, i ? 2 : 1);
  problem->skip_nan = rng_once_in(random, 3);
  if (rng_once_in(random, 4)) problem->accumulate = NDR_ACCUMULATE_F64;
}

/* Operators of one's own that have a mask, weighted ones, and those of two arrays; in turns. */
static void draw_with_operands(trial *t, rng *random, ndr_dtype dtype, const char *family, int turn) {
  static const ndr_op weighted[] = {NDR_SUM, NDR_MEAN, NDR_VAR, NDR_STD, NDR_NORM2};
  ndr_problem *problem = &t->problem;
  directed_case(random, dtype, NDR_SUM, family ? family : "tree", MOST_ELEMENTS, problem);
  problem->op_count = (int)rng_between(random, 1, 3);
  problem->skip_nan = rng_once_in(random, 3);
  for (int i = 0; i < problem->op_count; i++)
    problem->ops[i] = turn == 0   ? random_operator(random, dtype, 2)
                      : turn == 1 ? weighted[rng_between(random, 0, 4)]
                      : i == 0    ? random_operator_of_two(random, dtype, NDR_F32)
                                  : random_operator(random, dtype, 2);
  if (turn == 1) problem->weighting = rng_once_in(random, 2) ? NDR_RELIABILITY : NDR_FREQUENCY;
}

/* Adds an operand: of the problem's shape, or repeated along some dims, with strides of its own. */
static device_array *add_operand(trial *t, rng *random, const twist *how, ndr_dtype dtype, filling fill) {
  device_array *made = &t->operands[t->operand_count++];
  int64_t shape[NDR_MAX_DIMS] = {0}, strides[NDR_MAX_DIMS] = {0}, span = 1;
  int order[NDR_MAX_DIMS] = {0}, ndim = t->problem.ndim;
  rng_shuffle(random, ndim, order);
  bool compact = rng_once_in(random, 2);
  for (int d = 0; d < ndim; d++) shape[d] = rng_once_in(random, 4) ? 1 : t->problem.shape[d];
  for (int i = ndim - 1; i >= 0; i--) {
    int d = compact ? i : order[i];
    strides[d] = span;
    span *= shape[d];
  }
  array_make(&made->host, dtype, ndim, shape, strides);
  array_fill(&made->host, random, fill);
  device_array_of(made, how->device, how->past / 16 * 16 + (rng_once_in(random, 2) ? 0 : ndr_dtype_bytes(dtype)));
  return made;
}

/* Weights that add up exactly in any order. */
static void add_weights(trial *t, rng *random, const twist *how, ndr_dtype dtype) {
  device_array *made = add_operand(t, random, how, dtype, FILL_SMALL);
  size_t bytes = ndr_dtype_bytes(dtype);
  for (size_t at = 0; at < made->host.bytes; at += bytes)
    element_store(dtype, (char *)made->host.memory + at, (element){(long double)rng_between(random, 0, 4) / 2, 0});
  memcpy(made->memory, made->host.memory, made->host.bytes);
}

/* Has the options name the operands on the host, or their copies. */
static void name_operands(trial *t, bool on_device) {
  for (int k = 0; k < t->operand_count; k++) {
    const DLTensor *tensor = on_device ? &t->operands[k].tensor : &t->operands[k].host.tensor;
    if (t->operands[k].host.dtype == NDR_BOOL && t->options.with_count == 0)
      t->options.where = tensor;
    else if (t->options.with_count == 0)
      t->options.weights = tensor;
    else
      t->second = tensor;
  }
  if (t->options.with_count > 0) t->options.with = &t->second;
}

static void place(trial *t, rng *random, const twist *how, filling fill) {
  const ndr_problem *problem = &t->problem;
  bool same_layout = rng_once_in(random, 2);
  array_of_case(&t->array.host, problem);
  array_fill(&t->array.host, random, fill);
  device_array_of(&t->array, how->device, how->past);
  for (int i = 0; i < problem->op_count; i++) {
    ndr_options options = options_of_operator(&t->options, problem->ops[i]);
    assert_ok(array_result(&t->results[i].host, &t->array.host.tensor, problem->dim_count, problem->dims,
                           problem->ops[i], &options, same_layout ? NULL : random));
    assert_ok(array_result(&t->expected[i], &t->array.host.tensor, problem->dim_count, problem->dims, problem->ops[i],
                           &options, NULL));
    device_array_of(&t->results[i], how->device, 0);
  }
}

static ndr_status run(trial *t, const char *family) {
  const ndr_problem *problem = &t->problem;
  DLTensor *tensors[MOST_OPS], *expected[MOST_OPS];
  for (int i = 0; i < problem->op_count; i++) {
    tensors[i] = &t->results[i].tensor;
    expected[i] = &t->expected[i].tensor;
  }
  name_operands(t, false);
  assert_ok(ndreduce_many(&t->array.host.tensor, problem->dim_count, problem->dims, problem->op_count, problem->ops,
                          expected, &t->options));
  t->options.force_family = family;
  name_operands(t, true);
  return ndreduce_many(&t->array.tensor, problem->dim_count, problem->dims, problem->op_count, problem->ops, tensors,
                       &t->options);
}

static void check(trial *t, filling fill) {
  char why[512] = "";
  for (int i = 0; i < t->problem.op_count; i++) {
    char text[256] = "";
    ndr_operator_print(t->problem.ops[i], text, sizeof text);
    device_fetch(&t->results[i]);
    ck_assert_msg(array_gaps_untouched(&t->results[i].host), "%s\n  written between the results", announced_case());
    ck_assert_msg(results_agree(&t->results[i].host.tensor, &t->expected[i].tensor, fill == FILL_SMALL ? 4 : 4096, why,
                                sizeof why),
                  "%s\n  operator %d %s: %s", announced_case(), i, text, why);
  }
  ck_assert_msg(!simt_guards_broken(), "%s\n  something was written outside the arrays", announced_case());
}

static void finish(trial *t) {
  for (int i = 0; i < t->problem.op_count; i++) {
    device_free(&t->results[i]);
    array_free(&t->expected[i]);
    if (t->problem.ops[i] >= NDR_OWN_OPS) ndr_operator_destroy(t->problem.ops[i]);
  }
  for (int k = 0; k < t->operand_count; k++) device_free(&t->operands[k]);
  device_free(&t->array);
}

/* The dtype of group `number` of cases: where a share of them is run, its groups have dtypes of all kinds. */
static ndr_dtype dtype_of_group(int number) {
  return (ndr_dtype)(number * test_share() % NDR_DTYPE_COUNT);
}

START_TEST(test_random_programs) {
  rng random = {test_seed() + (uint64_t)_i};
  const char *family = families[_i % 4];
  ndr_dtype dtype = dtype_of_group(_i / 4);
  trial t = {.problem = NDR_PROBLEM_INIT};
  draw(&t, &random, dtype, family);
  twist how = random_twist(&random, dtype);
  filling fill = rng_once_in(&random, 3) ? FILL_SPECIAL : FILL_SMALL;
  t.options = case_options(&t.problem);
  announce_case(&t.problem, family, &how, (uint64_t)_i);
  simt_controls.order = how.order;
  place(&t, &random, &how, fill);
  ndr_status status = run(&t, family);
  ck_assert_msg(status == NDR_OK || (family && status == NDR_ERR_UNSUPPORTED), "%s\n  %s", announced_case(),
                ndr_last_error());
  if (status == NDR_OK) check(&t, fill);
  finish(&t);
}
END_TEST

/* tree and thread read several arrays. */
START_TEST(test_random_operands) {
  rng random = {test_seed() + 1000 + (uint64_t)_i};
  const char *family = families[_i % 4 == 2 ? 3 : _i % 4];
  ndr_dtype dtype = dtype_of_group(_i / 3);
  trial t = {.problem = NDR_PROBLEM_INIT};
  int turn = _i % 3;
  draw_with_operands(&t, &random, dtype, family, turn);
  twist how = random_twist(&random, dtype);
  t.options = case_options(&t.problem);
  t.options.weighting = t.problem.weighting;
  announce_case(&t.problem, family, &how, (uint64_t)_i);
  simt_controls.order = how.order;
  if (turn == 0) add_operand(&t, &random, &how, NDR_BOOL, FILL_WIDE);
  if (turn == 1) {
    if (rng_once_in(&random, 2)) add_operand(&t, &random, &how, NDR_BOOL, FILL_WIDE);
    add_weights(&t, &random, &how, rng_once_in(&random, 2) ? NDR_F32 : NDR_F64);
  }
  if (turn == 2) {
    add_operand(&t, &random, &how, NDR_F32, FILL_SMALL);
    t.options.with_count = 1;
  }
  name_operands(&t, false);
  place(&t, &random, &how, FILL_SMALL);
  ndr_status status = run(&t, family);
  ck_assert_msg(status == NDR_OK || (family && status == NDR_ERR_UNSUPPORTED), "%s\n  %s", announced_case(),
                ndr_last_error());
  if (status == NDR_OK) check(&t, FILL_SMALL);
  finish(&t);
}
END_TEST

/* ---- accumulators ---- */

enum { ROWS = 12, COLUMNS = 40, SLAB = 4 };

/* Adds the array in slabs of rows, with the operands' slabs, and finishes. */
static void accumulate(const ndr_problem *problem, const DLTensor *array, const DLTensor *operands,
                       DLTensor *const *results) {
  ndr_accumulator *accumulator;
  int64_t shape[2] = {SLAB, COLUMNS};
  assert_ok(ndr_accumulator_create(&accumulator, problem, array->device, NULL));
  for (int64_t at = 0; at < ROWS; at += SLAB) {
    DLTensor parts[1 + NDR_MAX_OPERANDS];
    const DLTensor *others[NDR_MAX_OPERANDS];
    for (int k = 0; k <= problem->operand_count; k++) {
      parts[k] = k == 0 ? *array : operands[k - 1];
      parts[k].data = (char *)parts[k].data + at * COLUMNS * (parts[k].dtype.bits / 8);
      parts[k].shape = shape;
      parts[k].strides = NULL;
      if (k > 0) others[k - 1] = &parts[k];
    }
    assert_ok(ndr_accumulator_add_operands(accumulator, &parts[0], others, (int64_t[]){at, 0}));
  }
  assert_ok(ndr_accumulator_finish(accumulator, results));
  ndr_accumulator_destroy(accumulator);
}

/* Merging and finishing states of programs, weighted ones too, on the device and on the host. */
static void check_slabs(const ndr_problem *made, ndr_dtype dtype, const ndr_role *roles, const ndr_dtype *dtypes,
                        int operand_count) {
  ndr_problem problem = *made;
  trial t = {.problem = NDR_PROBLEM_INIT};
  rng random = {test_seed()};
  twist how = {.device = 2};
  DLTensor operands[NDR_MAX_OPERANDS] = {{0}}, copies[NDR_MAX_OPERANDS] = {{0}}, *results[MOST_OPS],
           *expected[MOST_OPS];
  int64_t shape[2] = {ROWS, COLUMNS};
  char why[512];
  t.problem.dtype = dtype;
  t.problem.ndim = 2;
  memcpy(t.problem.shape, shape, sizeof shape);
  array_make(&t.array.host, dtype, 2, shape, NULL);
  array_fill(&t.array.host, &random, FILL_SMALL);
  device_array_of(&t.array, how.device, 0);
  assert_ok(ndr_problem_make(&problem, &t.array.host.tensor, NDR_DIMS(0), made->op_count, made->ops));
  problem.weighting = made->weighting;
  problem.ddof = 1;
  for (int k = 0; k < operand_count; k++, t.operand_count++) {
    array_make(&t.operands[k].host, dtypes[k], 2, shape, NULL);
    array_fill(&t.operands[k].host, &random, dtypes[k] == NDR_BOOL ? FILL_WIDE : FILL_SPARSE);
    device_array_of(&t.operands[k], how.device, 0);
    operands[k] = t.operands[k].host.tensor, copies[k] = t.operands[k].tensor;
    assert_ok(ndr_problem_add_operand(&problem, roles[k], &operands[k]));
  }
  for (int i = 0; i < problem.op_count; i++) {
    DLTensor like = {.shape = (int64_t[NDR_MAX_DIMS]){0}};
    ndr_dtype result = NDR_F64;
    assert_ok(ndr_problem_result(&problem, i, &like));
    (void)ndr_dtype_from_dlpack(like.dtype, &result);
    array_make(&t.results[i].host, result, like.ndim, like.shape, NULL);
    array_make(&t.expected[i], result, like.ndim, like.shape, NULL);
    device_array_of(&t.results[i], how.device, 0);
    results[i] = &t.results[i].tensor, expected[i] = &t.expected[i].tensor;
  }
  accumulate(&problem, &t.array.tensor, copies, results);
  accumulate(&problem, &t.array.host.tensor, operands, expected);
  for (int i = 0; i < problem.op_count; i++) {
    device_fetch(&t.results[i]);
    ck_assert_msg(results_agree(&t.results[i].host.tensor, expected[i], 16, why, sizeof why), "%s, operator %d: %s",
                  ndr_dtype_name(dtype), i, why);
  }
  t.problem.op_count = problem.op_count;
  finish(&t);
}

START_TEST(test_slabs) {
  static const ndr_role where[] = {NDR_WHERE}, both[] = {NDR_WHERE, NDR_WEIGHTS};
  static const ndr_dtype types[] = {NDR_BOOL, NDR_F64};
  static const ndr_dtype dtypes[] = {NDR_F32, NDR_I8, NDR_C64};
  ndr_dtype dtype = dtypes[_i];
  ndr_problem own = NDR_PROBLEM_INIT, masked = NDR_PROBLEM_INIT, weighted = NDR_PROBLEM_INIT;
  own.op_count = 2;
  assert_ok(ndr_operator_create(&own.ops[0], "a(x; c): s += c * x * x, n += 1 -> s / n", &(double){0.5}, 1));
  own.ops[1] = NDR_MEAN;
  check_slabs(&own, dtype, NULL, NULL, 0);
  ndr_operator_destroy(own.ops[0]);
  masked.op_count = 3;
  masked.ops[0] = dtype == NDR_C64 ? NDR_SUM : NDR_MIN;
  masked.ops[1] = dtype == NDR_C64 ? NDR_MEAN : NDR_ARGMAX;
  masked.ops[2] = NDR_VAR;
  check_slabs(&masked, dtype, where, types, 1);
  weighted.op_count = 3;
  weighted.ops[0] = NDR_MEAN;
  weighted.ops[1] = NDR_STD;
  weighted.ops[2] = NDR_NORM2;
  check_slabs(&weighted, dtype, both, types, 2);
  weighted.weighting = NDR_RELIABILITY;
  check_slabs(&weighted, dtype, both, types, 2);
}
END_TEST

/* ---- weights of f32 ---- */

enum { WEIGHED = 200000 };

static void make_floats(device_array *made, const float *values) {
  array_make(&made->host, NDR_F32, 1, (int64_t[]){WEIGHED}, NULL);
  memcpy(made->host.tensor.data, values, WEIGHED * sizeof *values);
  device_array_of(made, 0, 0);
}

/* Against sums of f64, by the definitions. The bound is of a mean of one sign: weights and what they weigh are
 * positive.
 */
static void check_weighted(const float *x, const float *w, double bound, const char *what) {
  static const ndr_op ops[] = {NDR_MEAN, NDR_STD, NDR_NORM2};
  double total = 0, sum = 0, squares = 0, about = 0;
  for (int i = 0; i < WEIGHED; i++) total += w[i], sum += (double)w[i] * x[i], squares += (double)w[i] * x[i] * x[i];
  for (int i = 0; i < WEIGHED; i++) about += w[i] * (x[i] - sum / total) * (x[i] - sum / total);
  const double expected[] = {sum / total, sqrt(about / total), sqrt(squares)};
  device_array array, weights, result;
  make_floats(&array, x), make_floats(&weights, w);
  array_make(&result.host, NDR_F32, 0, NULL, NULL);
  device_array_of(&result, 0, 0);
  for (int i = 0; i < 3; i++) {
    assert_ok(ndreduce(&array.tensor, NDR_DIMS(0), ops[i], &result.tensor, NDR_OPTIONS(.weights = &weights.tensor)));
    device_fetch(&result);
    double got = *(float *)result.host.tensor.data;
    ck_assert_msg(fabs(got - expected[i]) <= bound * expected[i], "%s, %s: %.9g instead of %.9g", what,
                  ndr_op_name(ops[i]), got, expected[i]);
  }
  device_free(&array), device_free(&weights), device_free(&result);
}

/* Products that f32 does not hold, in one direction or the other. */
START_TEST(weights_may_be_of_any_size) {
  static float x[WEIGHED], w[WEIGHED];
  const float sizes[] = {1e-38f, 1e-20f, 1, 1e20f, 3e34f}, values[] = {1e-18f, 1, 1e18f};
  rng random = {test_seed()};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
      char what[80];
      snprintf(what, sizeof what, "weights of %g, elements of %g", (double)sizes[s], (double)values[v]);
      for (int i = 0; i < WEIGHED; i++) w[i] = sizes[s] * (1 + (float)rng_between(&random, 0, 1000));
      for (int i = 0; i < WEIGHED; i++) x[i] = values[v] * (float)rng_between(&random, 1, 1000);
      if ((double)sizes[s] * values[v] * values[v] < 1e60) check_weighted(x, w, 2e-6, what);
    }
}
END_TEST

/* An element far from all others, the first of a thread or a heavy or a light one; a mean far from 0; and first
 * elements that weigh next to nothing and are far away. */
START_TEST(weighted_spread_is_about_the_mean) {
  static float x[WEIGHED], w[WEIGHED];
  rng random = {test_seed()};
  for (int turn = 0; turn < 8; turn++) {
    char what[40];
    const float base = turn < 4 ? 1 : turn < 7 ? 1e4f : 1e6f;
    snprintf(what, sizeof what, "turn %d", turn);
    for (int i = 0; i < WEIGHED; i++) w[i] = 1 + (float)rng_between(&random, 0, 3000) * 0.001f;
    for (int i = 0; i < WEIGHED; i++) x[i] = base + (float)rng_between(&random, 0, 1000) * 0.001f;
    if (turn < 4) x[turn * 7] = 1e4f;
    if (turn == 2) w[14] = 1e-3f;
    if (turn == 3) w[21] = 1e3f;
    if (turn == 5) memset(w, 0, WEIGHED / 2 * sizeof *w);
    for (int i = 0; turn >= 6 && i < WEIGHED / 10 * 3; i++) x[i] = turn == 6 ? 9e3f : 0, w[i] = 1e-16f;
    check_weighted(x, w, 4e-6, what);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("programs");
  TCase *cases = tcase_create("programs");
  tcase_set_timeout(cases, 600);
  tcase_add_loop_test(cases, test_random_programs, 0, test_case_count(NDR_DTYPE_COUNT * 4));
  tcase_add_loop_test(cases, test_random_operands, 0, test_case_count(NDR_DTYPE_COUNT * 3));
  tcase_add_loop_test(cases, test_slabs, 0, 3);
  tcase_add_test(cases, weights_may_be_of_any_size);
  tcase_add_test(cases, weighted_spread_is_about_the_mean);
  suite_add_tcase(suite, cases);
  return suite_run(suite);
}
