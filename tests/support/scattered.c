#include "scattered.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cases.h"
#include "core/groups/label.h"
#include "ndreduce/operator.h"
#include "suite.h"

static const ndr_op plain_ops[] = {NDR_SUM,   NDR_MEAN, NDR_VAR,       NDR_MIN,   NDR_ARGMAX, NDR_ARGMIN,
                                   NDR_PTP,   NDR_ANY,  NDR_ALL,       NDR_COUNT, NDR_MAX,    NDR_VALID,
                                   NDR_NORM1, NDR_PROD, NDR_LOGSUMEXP, NDR_STD};
static const ndr_op weighted_ops[] = {NDR_SUM, NDR_MEAN, NDR_VAR, NDR_NORM2};

ndr_op scattered_placed(void) {
  static ndr_op op;
  static bool made = false;
  if (!made) assert_ok(ndr_operator_create(&op, "placed(x): s += x * (1 + index(1)) + index(2) -> s", NULL, 0));
  made = true;
  return op;
}

static ndr_op random_op(rng *random, const scattered *c, bool weighted) {
  ndr_op op;
  if (c->dtype == NDR_F32 && !c->weights && rng_once_in(random, 6)) return scattered_placed();
  do
    op = weighted ? weighted_ops[rng_between(random, 0, 3)]
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

static void describe(scattered *c) {
  char label[NDR_LABEL_BYTES];
  int length =
      snprintf(c->text, sizeof c->text,
               "%s [%d,%d,%d] strides [%d,%d,%d],%s labels of %d dims, %d groups, %d dims (%d,%d,%d)%s%s%s%s:",
               ndr_dtype_name(c->dtype), (int)c->shape[0], (int)c->shape[1], (int)c->shape[2], (int)c->strides[0],
               (int)c->strides[1], (int)c->strides[2], c->rising ? " rising" : "", c->label_dims, (int)c->groups,
               c->dim_count, c->dims[0], c->dims[1], c->dims[2], c->skip_nan ? ", skip_nan" : "",
               c->where ? ", where" : "", c->weights ? ", weights" : "", c->per_row ? " by row" : "");
  for (int i = 0; i < c->op_count; i++)
    length += snprintf(c->text + length, sizeof c->text - (size_t)length, " %s", ndr_op_label(c->ops[i], label));
}

void scattered_draw(rng *random, ndr_dtype dtype, int64_t most_rows, int64_t most_columns, scattered *c) {
  static const int64_t counts[] = {1, 2, 5, 60, 1000};
  *c = (scattered){.dtype = dtype, .label_dims = rng_once_in(random, 4) ? 2 : 1};
  c->groups = counts[rng_between(random, 0, 4)];
  c->rising = rng_once_in(random, 5);
  c->shape[0] = rng_between(random, 1, 3);
  c->shape[1] = rng_between(random, 2, c->label_dims == 2 ? most_rows / 20 : most_rows);
  c->shape[2] = rng_between(random, 1, most_columns);
  if (rng_once_in(random, 2)) c->shape[2] = (c->shape[2] + 15) / 16 * 16;
  if (rng_once_in(random, 6)) { /* several tiles */
    c->shape[1] *= 10;
    c->shape[2] = rng_between(random, 1, 6);
  }
  draw_strides(random, c);
  c->dims[c->dim_count++] = 1;
  if (c->label_dims == 2 || rng_once_in(random, 3)) c->dims[c->dim_count++] = 2;
  if (rng_once_in(random, 3)) c->dims[c->dim_count++] = 0;
  c->skip_nan = rng_once_in(random, 3);
  c->where = rng_once_in(random, 3);
  c->weights = dtype == NDR_F32 && rng_once_in(random, 3);
  c->per_row = rng_once_in(random, 2);
  c->op_count = (int)rng_between(random, 1, SCATTERED_OPS);
  for (int i = 0; i < c->op_count; i++) /* beside a weighted operator, others may stand, too */
    c->ops[i] = random_op(random, c, c->weights && (i == 0 || rng_once_in(random, 2)));
  describe(c);
}

/* One label in five belongs to no group, and one group in three, about, has no label. */
static void rising_labels(rng *random, const scattered *c, int64_t length, int32_t *values) {
  int64_t label = rng_between(random, 0, c->groups > 1), each = 2 * length / c->groups + 1;
  for (int64_t at = 0; at < length; at++) {
    values[at] = rng_once_in(random, 5) ? -1 : (int32_t)label;
    if (rng_once_in(random, (int)each)) label += rng_between(random, 1, 2);
    if (label >= c->groups) label = c->groups - 1;
  }
}

ndr_groups *scattered_groups(rng *random, const scattered *c) {
  int64_t length = c->shape[1] * (c->label_dims == 2 ? c->shape[2] : 1);
  int32_t *values = malloc((size_t)length * sizeof *values);
  int how = c->even ? 0 : (int)rng_between(random, 0, 3);
  ndr_groups *groups;
  for (int64_t at = 0, run = 0, label = 0; at < length; at++) {
    int32_t drawn = (int32_t)rng_between(random, rng_once_in(random, 5) ? -1 : 0, c->groups - 1);
    if (run-- <= 0) {
      run = rng_between(random, 0, 9);
      label = rng_between(random, -1, c->groups - 1);
    }
    const int32_t by_way[] = {drawn, rng_once_in(random, 3) ? drawn : 0, (int32_t)label, drawn % 3};
    values[at] = by_way[how];
  }
  if (c->rising) rising_labels(random, c, length, values);
  DLTensor labels = c->label_dims == 2 ? ndr_tensor(values, NDR_I32, NDR_SHAPE(c->shape[1], c->shape[2]))
                                       : ndr_tensor(values, NDR_I32, NDR_SHAPE(length));
  assert_ok(ndr_groups_create(&groups, &labels, c->groups));
  free(values);
  return groups;
}

void scattered_array(rng *random, const scattered *c, test_array *made) {
  bool product = false;
  for (int i = 0; i < c->op_count; i++) product = product || c->ops[i] == NDR_PROD;
  array_make(made, c->dtype, 3, c->shape, c->strides);
  array_fill(made, random, random_filling(random, product ? NDR_PROD : NDR_SUM));
}

/* With weights of both signs variances would be differences of nearly equal numbers. */
void scattered_operand(rng *random, const scattered *c, ndr_dtype dtype, test_array *made) {
  int64_t shape[3] = {c->shape[0], c->shape[1], c->shape[2]};
  if (c->per_row) shape[0] = shape[2] = 1;
  array_make(made, dtype, 3, shape, NULL);
  array_fill(made, random, FILL_SMALL);
  float *weights = made->memory;
  for (size_t i = 0; dtype == NDR_F32 && i < made->bytes / sizeof *weights; i++) weights[i] = 0.5F + fabsf(weights[i]);
}
