/* Columns of several arrays under emulation, against the CPU: rows that begin anywhere, whose elements threads read one
 * by one, a warp apart. */
#include <stdio.h>
#include <string.h>

#include "drive.h"
#include "memory.h"
#include "ndreduce/operator.h"
#include "ndreduce/plan.h"
#include "runtime/control.h"
#include "support/operators.h"
#include "support/suite.h"

enum { MOST_OPS = 3, MOST_ROWS = 70 };

/* What is computed, of an array and one beside it. */
typedef struct kind {
  ndr_dtype dtype, other;
  enum { MASK, WEIGHTS, SECOND } role;
  const char *own; /* an operator of one's own, in place of the last one; NULL: there is none */
  int op_count;
  ndr_op ops[MOST_OPS];
} kind;

static const kind kinds[] = {
    {NDR_F32, NDR_BOOL, MASK, NULL, 1, {NDR_SUM}},
    {NDR_F32, NDR_BOOL, MASK, NULL, 3, {NDR_MEAN, NDR_MAX, NDR_COUNT}},
    {NDR_F32, NDR_BOOL, MASK, NULL, 2, {NDR_ARGMAX, NDR_VAR}},
    {NDR_F32, NDR_BOOL, MASK, "placed(x): s += x * (1 + index(0)) + index(1) - index(2) -> s", 1, {NDR_SUM}},
    {NDR_F32, NDR_F32, WEIGHTS, NULL, 1, {NDR_MEAN}},
    {NDR_F64, NDR_F64, WEIGHTS, NULL, 1, {NDR_STD}},
    {NDR_F64, NDR_F32, SECOND, "products(x, y): s += x * y -> s", 1, {NDR_SUM}},
    {NDR_C64, NDR_BOOL, MASK, NULL, 1, {NDR_MEAN}},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* A case: its arrays, and the results of both backends. */
typedef struct trial {
  kind of;
  ndr_options options;
  int64_t shape[3];
  int dim_count, dims[2];
  device_array array, other, results[MOST_OPS];
  test_array expected[MOST_OPS];
  const DLTensor *second;
  char text[200];
} trial;

/* ---- arrays ---- */

/* An array of the trial's shape in a layout of its own: with a gap behind each row, or rows or columns backwards. */
static void make_array(rng *random, const trial *t, ndr_dtype dtype, filling fill, size_t past, device_array *made) {
  int64_t pitch = t->shape[2] + (rng_once_in(random, 3) ? rng_between(random, 1, 5) : 0);
  int64_t strides[3] = {t->shape[1] * pitch, pitch, 1};
  for (int d = 0; d < 3; d++)
    if (rng_once_in(random, 8)) strides[d] = -strides[d];
  array_make(&made->host, dtype, 3, t->shape, strides);
  array_fill(&made->host, random, fill);
  if (fill == FILL_UNIT) /* weights that add up exactly in any order */
    for (size_t at = 0; at < made->host.bytes; at += ndr_dtype_bytes(dtype))
      element_store(dtype, (char *)made->host.memory + at, (element){(long double)rng_between(random, 0, 4) / 2, 0});
  size_t alignment = ndr_dtype_alignment(dtype);
  device_array_of(made, 2, past / alignment * alignment);
}

/* A width around those of strips, and rows of one or two axes. */
static void draw(rng *random, int number, trial *t) {
  static const int widths[] = {64, 65, 127, 128, 129, 255, 256, 257, 300, 1001};
  *t = (trial){.of = kinds[number], .options = NDR_OPTIONS_INIT};
  t->shape[0] = rng_between(random, 1, 3);
  t->shape[1] = rng_between(random, 1, MOST_ROWS);
  t->shape[2] = widths[rng_between(random, 0, (int64_t)(sizeof widths / sizeof *widths) - 1)];
  t->dim_count = (int)rng_between(random, 1, 2);
  t->dims[0] = 1, t->dims[1] = 0;
  size_t past = (size_t)rng_between(random, 0, 15), beside = (size_t)rng_between(random, 0, 15);
  static const filling fills[] = {[MASK] = FILL_WIDE, [WEIGHTS] = FILL_UNIT, [SECOND] = FILL_SMALL};
  make_array(random, t, t->of.dtype, FILL_SMALL, past, &t->array);
  make_array(random, t, t->of.other, fills[t->of.role], beside, &t->other);
  snprintf(t->text, sizeof t->text, "kind %d, [%d,%d,%d] over %d dims, strides %d, %d and %d, %d, at %zu and %zu",
           number, (int)t->shape[0], (int)t->shape[1], (int)t->shape[2], t->dim_count, (int)t->array.tensor.strides[1],
           (int)t->array.tensor.strides[2], (int)t->other.tensor.strides[1], (int)t->other.tensor.strides[2], past,
           beside);
}

/* Has the options name the array beside the first, on the host or on the device. */
static void name_other(trial *t, bool on_device) {
  const DLTensor *other = on_device ? &t->other.tensor : &t->other.host.tensor;
  if (t->of.role == MASK) t->options.where = other;
  if (t->of.role == WEIGHTS) t->options.weights = other;
  if (t->of.role != SECOND) return;
  t->second = other;
  t->options.with = &t->second;
  t->options.with_count = 1;
}

static void make_results(rng *random, trial *t) {
  if (t->of.own) assert_ok(ndr_operator_create(&t->of.ops[t->of.op_count - 1], t->of.own, NULL, 0));
  name_other(t, false);
  for (int i = 0; i < t->of.op_count; i++) {
    assert_ok(array_result(&t->results[i].host, &t->array.host.tensor, t->dim_count, t->dims, t->of.ops[i], &t->options,
                           t->of.op_count == 1 ? random : NULL));
    assert_ok(
        array_result(&t->expected[i], &t->array.host.tensor, t->dim_count, t->dims, t->of.ops[i], &t->options, NULL));
    device_array_of(&t->results[i], 2, 0);
  }
}

/* ---- running ---- */

static ndr_status run(trial *t) {
  DLTensor *results[MOST_OPS], *expected[MOST_OPS];
  for (int i = 0; i < t->of.op_count; i++) results[i] = &t->results[i].tensor, expected[i] = &t->expected[i].tensor;
  assert_ok(
      ndreduce_many(&t->array.host.tensor, t->dim_count, t->dims, t->of.op_count, t->of.ops, expected, &t->options));
  name_other(t, true);
  t->options.force_family = "thread";
  return ndreduce_many(&t->array.tensor, t->dim_count, t->dims, t->of.op_count, t->of.ops, results, &t->options);
}

static void check(trial *t) {
  char why[256];
  for (int i = 0; i < t->of.op_count; i++) {
    device_fetch(&t->results[i]);
    ck_assert_msg(results_agree(&t->results[i].host.tensor, &t->expected[i].tensor, 64, why, sizeof why),
                  "%s: operator %d: %s", t->text, i, why);
    ck_assert_msg(array_gaps_untouched(&t->results[i].host), "%s: written between results", t->text);
  }
  ck_assert_msg(!simt_guards_broken(), "%s: something was written outside the arrays", t->text);
}

static void finish(trial *t) {
  for (int i = 0; i < t->of.op_count; i++) device_free(&t->results[i]), array_free(&t->expected[i]);
  if (t->of.own) ndr_operator_destroy(t->of.ops[t->of.op_count - 1]);
  device_free(&t->array);
  device_free(&t->other);
}

START_TEST(columns_agree_with_the_cpu) {
  rng random = {test_seed() + 91 * (uint64_t)_i};
  int cases = test_case_count(24);
  for (int number = 0; number < cases; number++) {
    trial t;
    draw(&random, _i, &t);
    make_results(&random, &t);
    simt_controls.order = rng_once_in(&random, 3) ? 0 : rng_next(&random);
    ndr_status status = run(&t);
    ck_assert_msg(status == NDR_OK, "%s: %s", t.text, ndr_last_error());
    check(&t);
    finish(&t);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("columns of several arrays on the emulated GPU");
  TCase *cases = tcase_create("against the CPU");
  tcase_set_timeout(cases, 600);
  tcase_add_loop_test(cases, columns_agree_with_the_cpu, 0, KINDS);
  suite_add_tcase(suite, cases);
  return suite_run(suite);
}
