/* What the ladder reduces or scans, and what must come out. What selections must give is in check.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ladder/ladder.h"

size_t ladder_bytes(ladder_dtype dtype) {
  return dtype == LADDER_F64 ? 8 : 4;
}

/* Sums: 1, 2 and their negatives, whose polynomials are -5, 11, -1, -5; both add up to about 0, so that partial sums
 * stay whole numbers that a float has. Products: odd numbers for integers, which never become 0; 1 and -1 for floats,
 * with some 2 and 1/2 among them. Selections have whole numbers of 0 and more. */
static double make_value(const ladder_data *data, uint64_t random) {
  static const double small[4] = {-2, -1, 1, 2};
  double sign = random >> 63 ? -1 : 1;
  uint64_t rare = data->elements > 512 ? (uint64_t)data->elements / 256 : 2;
  if (data->kind == LADDER_SELECT) return (double)(random % LADDER_VALUES);
  switch (data->op) {
  case LADDER_SUM:
  case LADDER_POLYNOMIAL: return small[random >> 62];
  case LADDER_PROD:
    if (data->dtype == LADDER_I32) return sign * (double)(1 + 2 * (random % 4));
    return (random >> 8) % rare ? sign : random & 1 ? 2 * sign : 0.5 * sign;
  default: return data->dtype == LADDER_I32 ? (double)(int32_t)random : sign * (double)(1 + random % 0xffffff);
  }
}

bool ladder_data_make(ladder_data *data, const ladder_options *options) {
  data->op = options->op;
  data->dtype = options->dtype;
  data->elements = 1;
  for (int d = 0; d < data->ndim; d++) data->elements *= data->shape[d];
  data->host = bench_allocate((size_t)data->elements * ladder_bytes(data->dtype));
  if (!data->host) return false;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < data->elements; i++) {
    double value = make_value(data, bench_random(options->bench.seed, (uint64_t)i));
    switch (data->dtype) {
    case LADDER_I32: ((int32_t *)data->host)[i] = (int32_t)value; break;
    case LADDER_F32: ((float *)data->host)[i] = (float)value; break;
    case LADDER_F64: ((double *)data->host)[i] = value; break;
    }
  }
  return true;
}

void ladder_data_free(ladder_data *data) {
  free(data->host);
  free(data->expected);
  data->host = data->expected = NULL;
}

/* ---- the oracle: integers modulo 2^32, floats in double ---- */

static int32_t combine_integers(ladder_op op, int32_t so_far, int32_t x) {
  uint32_t a = (uint32_t)so_far, b = (uint32_t)x;
  switch (op) {
  case LADDER_SUM: return (int32_t)(a + b);
  case LADDER_PROD: return (int32_t)(a * b);
  case LADDER_MIN: return x < so_far ? x : so_far;
  case LADDER_MAX: return x > so_far ? x : so_far;
  default: return (int32_t)(a + 2 * b * b * b + 2 * b * b - 4 * b - 5);
  }
}

static double combine_floats(ladder_op op, double a, double b) {
  switch (op) {
  case LADDER_SUM: return a + b;
  case LADDER_PROD: return a * b;
  case LADDER_MIN: return b < a ? b : a;
  case LADDER_MAX: return b > a ? b : a;
  default: return a + (2 * b * b * b + 2 * b * b - 4 * b - 5);
  }
}

static void start(const ladder_data *data, int64_t outputs, void *results) {
  static const int32_t integers[LADDER_OPS] = {0, 1, INT32_MAX, INT32_MIN, 0};
  static const double floats[LADDER_OPS] = {0, 1, INFINITY, -INFINITY, 0};
  for (int64_t o = 0; o < outputs; o++) switch (data->dtype) {
    case LADDER_I32: ((int32_t *)results)[o] = integers[data->op]; break;
    case LADDER_F32: ((float *)results)[o] = (float)floats[data->op]; break;
    case LADDER_F64: ((double *)results)[o] = floats[data->op]; break;
    }
}

static void add(const ladder_data *data, int64_t i, int64_t o, void *results) {
  switch (data->dtype) {
  case LADDER_I32: {
    int32_t *at = (int32_t *)results + o;
    *at = combine_integers(data->op, *at, ((const int32_t *)data->host)[i]);
    break;
  }
  case LADDER_F32: {
    float *at = (float *)results + o;
    *at = (float)combine_floats(data->op, (double)*at, (double)((const float *)data->host)[i]);
    break;
  }
  case LADDER_F64: {
    double *at = (double *)results + o;
    *at = combine_floats(data->op, *at, ((const double *)data->host)[i]);
    break;
  }
  }
}

static void reduce(const ladder_data *data, unsigned reduced, void *results) {
  int64_t at[5] = {0}, step[5] = {0}, outputs = 1, o = 0;
  for (int d = data->ndim - 1; d >= 0; d--) {
    step[d] = reduced >> d & 1 ? 0 : outputs;
    if (step[d]) outputs *= data->shape[d];
  }
  start(data, outputs, results);
  for (int64_t i = 0; i < data->elements; i++) {
    add(data, i, o, results);
    for (int d = data->ndim - 1; d >= 0; d--) {
      o += step[d];
      if (++at[d] < data->shape[d]) break;
      o -= step[d] * data->shape[d];
      at[d] = 0;
    }
  }
}

/* Each result is the one before, combined with the element. */
static void scan(const ladder_data *data, void *results) {
  size_t size = ladder_bytes(data->dtype);
  start(data, 1, results);
  for (int64_t i = 0; i < data->elements; i++) {
    char *at = (char *)results + (size_t)i * size;
    if (i > 0) memcpy(at, at - size, size);
    add(data, i, i, results);
  }
}

const void *ladder_expected(ladder_data *data, unsigned goal) {
  if (data->expected && data->expected_for == goal) return data->expected;
  free(data->expected);
  data->expected_for = goal;
  data->expected = bench_allocate((size_t)ladder_outputs(data, goal) * ladder_bytes(data->dtype));
  data->expected_count = ladder_outputs(data, goal);
  if (data->expected && data->kind == LADDER_SCAN) scan(data, data->expected);
  if (data->expected && data->kind < LADDER_SCAN) reduce(data, goal, data->expected);
  if (data->expected && data->kind == LADDER_SELECT && !ladder_select(data, goal)) {
    free(data->expected);
    data->expected = NULL;
  }
  return data->expected;
}

static double value_of(ladder_dtype dtype, const void *array, int64_t i) {
  switch (dtype) {
  case LADDER_I32: return (double)((const int32_t *)array)[i];
  case LADDER_F32: return (double)((const float *)array)[i];
  default: return ((const double *)array)[i];
  }
}

bool ladder_same(ladder_dtype dtype, int64_t outputs, const void *got, const void *expected, char *complaint,
                 size_t capacity) {
  for (int64_t i = 0; i < outputs; i++) {
    double a = value_of(dtype, got, i), b = value_of(dtype, expected, i);
    if (a == b) continue;
    snprintf(complaint, capacity, "value %lld is %.9g, it must be %.9g", (long long)i, a, b);
    return false;
  }
  return true;
}

unsigned ladder_goal(const ladder_data *data, const ladder_rung *rung) {
  unsigned goal = 0;
  if (data->kind == LADDER_REDUCE || data->kind == LADDER_SCAN) return 1;
  if (data->kind == LADDER_SELECT) return ladder_order_of(rung);
  for (int i = 0; i < rung->dim_count; i++) goal |= 1u << rung->dims[i];
  return goal;
}

int64_t ladder_outputs(const ladder_data *data, unsigned goal) {
  int64_t outputs = 1;
  if (data->kind >= LADDER_SCAN) return data->elements;
  for (int d = 0; d < data->ndim; d++)
    if (!(goal >> d & 1)) outputs *= data->shape[d];
  return outputs;
}

ladder_job ladder_job_of(const ladder_options *options, const ladder_data *data) {
  ladder_job job = {.op = options->op, .dtype = options->dtype, .block = options->block, .overlap = options->overlap};
  job.limit = ladder_limit(data);
  job.data = data->placed;
  job.rows = data->kind == LADDER_AXES ? data->shape[0] : 1;
  job.columns = job.pitch = data->elements / job.rows;
  return job;
}

size_t ladder_padded_row(const ladder_data *data) {
  enum { PITCH_BYTES = 512 };
  return ((size_t)data->shape[1] * ladder_bytes(data->dtype) + PITCH_BYTES - 1) / PITCH_BYTES * PITCH_BYTES;
}
