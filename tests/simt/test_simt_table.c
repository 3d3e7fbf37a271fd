/* Scattered labels under emulation: rows gathered through a table, against the CPU. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drive.h"
#include "memory.h"
#include "ndreduce/groups.h"
#include "ndreduce/plan.h"
#include "runtime/control.h"
#include "support/operators.h"
#include "support/suite.h"

enum { MOST_ROWS = 600, MOST_COLUMNS = 70, MOST_OPS = 3 };

/* A case: dims [others, rows, columns]; labels along the rows, or along rows and columns. */
typedef struct scattered {
  ndr_dtype dtype;
  int64_t shape[3], strides[3];
  int label_dims;
  int64_t groups;
  int dim_count, dims[3];
  int op_count;
  ndr_op ops[MOST_OPS];
  bool skip_nan, where, weights, per_row;
  int device;
} scattered;

static const ndr_op plain_ops[] = {NDR_SUM,   NDR_MEAN,      NDR_VAR,  NDR_MIN,   NDR_ARGMAX, NDR_ARGMIN,
                                   NDR_PTP,   NDR_ANY,       NDR_ALL,  NDR_COUNT, NDR_MAX,    NDR_VALID,
                                   NDR_NORM1, NDR_LOGSUMEXP, NDR_PROD, NDR_STD};
static const ndr_op weighted_ops[] = {NDR_SUM, NDR_MEAN, NDR_VAR, NDR_NORM2};

static ndr_op random_op(rng *random, const scattered *c) {
  ndr_op op;
  do
    op = c->weights ? weighted_ops[rng_between(random, 0, 3)]
                    : plain_ops[rng_between(random, 0, (int64_t)(sizeof plain_ops / sizeof *plain_ops) - 1)];
  while (!op_defined(op, c->dtype));
  return op;
}

/* Rows and columns in either order, with gaps, forwards or backwards. */
static void draw_strides(rng *random, scattered *c) {
  bool labels_fastest = rng_once_in(random, 3);
  int inner = labels_fastest ? 1 : 2, outer = labels_fastest ? 2 : 1;
  int64_t gap = rng_once_in(random, 3) ? rng_between(random, 1, 9) : 0;
  c->strides[inner] = rng_once_in(random, 6) ? 2 : 1;
  c->strides[outer] = c->shape[inner] * c->strides[inner] + gap;
  c->strides[0] = c->shape[outer] * c->strides[outer];
  for (int d = 1; d < 3; d++)
    if (rng_once_in(random, 6)) c->strides[d] = -c->strides[d];
}

static void draw_case(rng *random, ndr_dtype dtype, scattered *c) {
  static const int64_t counts[] = {1, 2, 5, 60, 1000};
  *c = (scattered){
      .dtype = dtype, .label_dims = rng_once_in(random, 4) ? 2 : 1, .device = (int)rng_between(random, 0, 2)};
  c->groups = counts[rng_between(random, 0, 4)];
  c->shape[0] = rng_between(random, 1, 3);
  c->shape[1] = rng_between(random, 2, c->label_dims == 2 ? 30 : MOST_ROWS);
  c->shape[2] = rng_between(random, 1, MOST_COLUMNS);
  if (rng_once_in(random, 2)) c->shape[2] = (c->shape[2] + 15) / 16 * 16;
  draw_strides(random, c);
  c->dims[c->dim_count++] = 1;
  if (c->label_dims == 2 || rng_once_in(random, 3)) c->dims[c->dim_count++] = 2;
  if (rng_once_in(random, 3)) c->dims[c->dim_count++] = 0;
  c->skip_nan = rng_once_in(random, 3);
  c->where = rng_once_in(random, 3);
  c->weights = dtype == NDR_F32 && rng_once_in(random, 3);
  c->per_row = rng_once_in(random, 2);
  c->op_count = (int)rng_between(random, 1, MOST_OPS);
  for (int i = 0; i < c->op_count; i++) c->ops[i] = random_op(random, c);
}

static ndr_groups *draw_groups(rng *random, const scattered *c) {
  int64_t length = c->shape[1] * (c->label_dims == 2 ? c->shape[2] : 1);
  int32_t *values = malloc((size_t)length * sizeof *values);
  int how = (int)rng_between(random, 0, 3);
  ndr_groups *groups;
  for (int64_t at = 0, run = 0, label = 0; at < length; at++) {
    int32_t drawn = (int32_t)rng_between(random, rng_once_in(random, 5) ? -1 : 0, c->groups - 1);
    if (run-- <= 0) {
      run = rng_between(random, 0, 9);
      label = rng_between(random, -1, c->groups - 1);
    }
    /* Any; most in one group; runs of random lengths; few groups. */
    const int32_t by_way[] = {drawn, rng_once_in(random, 3) ? drawn : 0, (int32_t)label, drawn % 3};
    values[at] = by_way[how];
  }
  DLTensor labels = c->label_dims == 2 ? ndr_tensor(values, NDR_I32, NDR_SHAPE(c->shape[1], c->shape[2]))
                                       : ndr_tensor(values, NDR_I32, NDR_SHAPE(length));
  assert_ok(ndr_groups_create(&groups, &labels, c->groups));
  free(values);
  return groups;
}

/* An operand that has the array's shape, or one element for each row. */
static void draw_operand(rng *random, const scattered *c, ndr_dtype dtype, device_array *made) {
  int64_t shape[3] = {c->shape[0], c->shape[1], c->shape[2]};
  if (c->per_row) shape[0] = shape[2] = 1;
  array_make(&made->host, dtype, 3, shape, NULL);
  array_fill(&made->host, random, FILL_SMALL);
  /* Weights are positive: variances would be differences of nearly equal numbers. */
  for (size_t i = 0; dtype == NDR_F32 && i < made->host.bytes / sizeof(float); i++)
    ((float *)made->host.memory)[i] = 0.5F + fabsf(((float *)made->host.memory)[i]);
  device_array_of(made, c->device, 0);
}

static void describe(const scattered *c, char *text, size_t capacity) {
  snprintf(text, capacity,
           "%s [%d,%d,%d] strides [%d,%d,%d], labels of %d dims, %d groups, dims %d (%d,%d,%d), ops %s %s %s%s%s%s%s",
           ndr_dtype_name(c->dtype), (int)c->shape[0], (int)c->shape[1], (int)c->shape[2], (int)c->strides[0],
           (int)c->strides[1], (int)c->strides[2], c->label_dims, (int)c->groups, c->dim_count, c->dims[0], c->dims[1],
           c->dims[2], ndr_op_name(c->ops[0]), c->op_count > 1 ? ndr_op_name(c->ops[1]) : "",
           c->op_count > 2 ? ndr_op_name(c->ops[2]) : "", c->skip_nan ? ", skip_nan" : "", c->where ? ", where" : "",
           c->weights ? ", weights" : "", c->per_row ? " per row" : "");
}

/* Reduces on the device and on the CPU. */
static void check_case(rng *random, const scattered *c, int number) {
  device_array array, where, weights, results[MOST_OPS];
  test_array expected[MOST_OPS];
  DLTensor *on_device[MOST_OPS], *on_host[MOST_OPS];
  char what[512], why[256];
  array_make(&array.host, c->dtype, 3, c->shape, c->strides);
  array_fill(&array.host, random, random_filling(random, c->ops[0] == NDR_PROD ? NDR_PROD : NDR_SUM));
  for (int i = 0; i < c->op_count; i++)
    if (c->ops[i] == NDR_PROD) array_fill(&array.host, random, FILL_UNIT);
  device_array_of(&array, c->device, rng_once_in(random, 2) ? ndr_dtype_alignment(c->dtype) : 0);
  ndr_groups *groups = draw_groups(random, c);
  ndr_options host = *NDR_OPTIONS(.groups = groups, .group_dim = 1, .skip_nan = c->skip_nan), device;
  if (c->where) draw_operand(random, c, NDR_BOOL, &where);
  if (c->weights) draw_operand(random, c, NDR_F32, &weights);
  device = host;
  if (c->where) host.where = &where.host.tensor, device.where = &where.tensor;
  if (c->weights) host.weights = &weights.host.tensor, device.weights = &weights.tensor;
  bool compact = rng_once_in(random, 2);
  for (int i = 0; i < c->op_count; i++) {
    assert_ok(array_result(&results[i].host, &array.host.tensor, c->dim_count, c->dims, c->ops[i], &host,
                           compact ? NULL : random));
    assert_ok(array_result(&expected[i], &array.host.tensor, c->dim_count, c->dims, c->ops[i], &host, NULL));
    device_array_of(&results[i], c->device, 0);
    on_device[i] = &results[i].tensor;
    on_host[i] = &expected[i].tensor;
  }
  describe(c, what, sizeof what);
  assert_ok(ndreduce_many(&array.host.tensor, c->dim_count, c->dims, c->op_count, c->ops, on_host, &host));
  ndr_status status = ndreduce_many(&array.tensor, c->dim_count, c->dims, c->op_count, c->ops, on_device, &device);
  ck_assert_msg(status == NDR_OK, "case %d: %s: %s", number, what, ndr_last_error());
  for (int i = 0; i < c->op_count; i++) {
    device_fetch(&results[i]);
    ck_assert_msg(results_agree(&results[i].host.tensor, &expected[i].tensor, 64, why, sizeof why),
                  "case %d: %s: %s: %s", number, what, ndr_op_name(c->ops[i]), why);
    ck_assert_msg(array_gaps_untouched(&results[i].host), "case %d: %s: written between results", number, what);
    device_free(&results[i]);
    array_free(&expected[i]);
  }
  ck_assert_msg(!simt_guards_broken(), "case %d: %s: something was written outside the arrays", number, what);
  ndr_groups_destroy(groups);
  device_free(&array);
  if (c->where) device_free(&where);
  if (c->weights) device_free(&weights);
}

/* Each of these costs a compilation. */
START_TEST(scattered_labels_agree_with_the_cpu) {
  static const ndr_dtype dtypes[] = {NDR_F32, NDR_I8, NDR_C64};
  rng random = {test_seed() + 77 * (uint64_t)_i};
  int cases = test_case_count(25);
  for (int number = 0; number < cases; number++) {
    scattered drawn;
    draw_case(&random, dtypes[_i], &drawn);
    check_case(&random, &drawn, number);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("tables on the emulated GPU");
  TCase *cases = tcase_create("against the CPU");
  tcase_set_timeout(cases, 600);
  tcase_add_loop_test(cases, scattered_labels_agree_with_the_cpu, 0, 3);
  suite_add_tcase(suite, cases);
  return suite_run(suite);
}
