#include "array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int64_t array_count(const DLTensor *tensor) {
  int64_t count = 1;
  for (int d = 0; d < tensor->ndim; d++) count *= tensor->shape[d];
  return count;
}

static int64_t stride_of(const DLTensor *tensor, int dim) {
  if (tensor->strides) return tensor->strides[dim];
  int64_t stride = 1;
  for (int d = dim + 1; d < tensor->ndim; d++) stride *= tensor->shape[d];
  return stride;
}

void *element_at(const DLTensor *tensor, const int64_t *index) {
  int64_t offset = 0;
  for (int d = 0; d < tensor->ndim; d++) offset += index[d] * stride_of(tensor, d);
  return (char *)tensor->data + (int64_t)tensor->byte_offset + offset * (tensor->dtype.bits / 8);
}

static ndr_dtype dtype_of(const DLTensor *tensor) {
  ndr_dtype dtype = NDR_BOOL;
  if (ndr_dtype_from_dlpack(tensor->dtype, &dtype) != NDR_OK) abort();
  return dtype;
}

element array_get(const DLTensor *tensor, const int64_t *index) {
  return element_load(dtype_of(tensor), element_at(tensor, index));
}

bool next_index(int ndim, const int64_t *shape, int64_t *index) {
  for (int d = ndim - 1; d >= 0; d--) {
    if (++index[d] < shape[d]) return true;
    index[d] = 0;
  }
  return false;
}

element *array_elements(const DLTensor *tensor) {
  int64_t count = array_count(tensor), index[NDR_MAX_DIMS] = {0}, at = 0;
  element *values = calloc((size_t)count + 1, sizeof *values);
  if (!values) abort();
  if (count > 0) do
      values[at++] = array_get(tensor, index);
    while (next_index(tensor->ndim, tensor->shape, index));
  return values;
}

static bool same_part(long double a, long double b) {
  return a == b || (isnan(a) && isnan(b));
}

bool same_elements(const DLTensor *a, const DLTensor *b) {
  int64_t count = array_count(a);
  element *x = array_elements(a), *y = array_elements(b);
  bool same = count == array_count(b);
  for (int64_t i = 0; same && i < count; i++) same = same_part(x[i].re, y[i].re) && same_part(x[i].im, y[i].im);
  free(x);
  free(y);
  return same;
}

void array_make(test_array *made, ndr_dtype dtype, int ndim, const int64_t *shape, const int64_t *strides) {
  ndr_problem problem = {.size = sizeof(ndr_problem), .dtype = dtype, .ndim = ndim};
  int64_t step = 1;
  for (int d = ndim - 1; d >= 0; d--) {
    problem.shape[d] = shape[d];
    problem.strides[d] = strides ? strides[d] : step;
    step *= shape[d];
  }
  array_of_case(made, &problem);
  if (!strides) made->tensor.strides = NULL;
}

void array_of_case(test_array *made, const ndr_problem *problem) {
  int64_t low, high;
  size_t size = ndr_dtype_bytes(problem->dtype);
  if (ndr_problem_extent(problem, &low, &high) != NDR_OK) abort();
  memset(made, 0, sizeof *made);
  made->dtype = problem->dtype;
  made->bytes = high < low ? 0 : (size_t)(high - low + 1) * size;
  made->memory = malloc(made->bytes + (made->bytes == 0));
  if (!made->memory) abort();
  memset(made->memory, ARRAY_POISON, made->bytes);
  memcpy(made->shape, problem->shape, sizeof made->shape);
  memcpy(made->strides, problem->strides, sizeof made->strides);
  made->tensor = (DLTensor){.data = (char *)made->memory - (high < low ? 0 : low) * (int64_t)size,
                            .device = {kDLCPU, 0},
                            .ndim = problem->ndim,
                            .dtype = ndr_dtype_to_dlpack(problem->dtype),
                            .shape = made->shape,
                            .strides = made->strides};
}

void array_free(test_array *made) {
  free(made->memory);
  made->memory = NULL;
}

/* Strides that keep elements apart: the dims in a random order, each beyond the span of those before it. */
static void random_layout(rng *random, ndr_problem *problem) {
  int order[NDR_MAX_DIMS];
  int64_t span = 1 + rng_once_in(random, 3);
  rng_shuffle(random, problem->ndim, order);
  for (int i = 0; i < problem->ndim; i++) {
    int d = order[i];
    problem->strides[d] = rng_once_in(random, 4) ? -span : span;
    span = span * (problem->shape[d] > 0 ? problem->shape[d] : 1) + (rng_once_in(random, 3) ? 3 : 0);
  }
}

ndr_status array_result(test_array *made, const DLTensor *of, int dim_count, const int *dims, ndr_op op,
                        const ndr_options *options, rng *random) {
  int64_t shape[NDR_MAX_DIMS];
  DLTensor described = {.shape = shape};
  ndr_status status = ndr_result_describe(of, dim_count, dims, op, options, &described);
  memset(made, 0, sizeof *made);
  if (status != NDR_OK) return status;
  ndr_problem layout = {.size = sizeof(ndr_problem), .dtype = dtype_of(&described), .ndim = described.ndim};
  memcpy(layout.shape, shape, (size_t)described.ndim * sizeof *shape);
  if (random) {
    random_layout(random, &layout);
    array_of_case(made, &layout);
  } else {
    array_make(made, layout.dtype, layout.ndim, layout.shape, NULL);
  }
  return NDR_OK;
}

static double wide_float(rng *random) {
  double magnitude = ldexp(1 + rng_unit(random), (int)rng_between(random, -4, 3));
  return rng_once_in(random, 2) ? -magnitude : magnitude;
}

static double one_part(rng *random, filling how) {
  static const double special[] = {NAN, NAN, INFINITY, -INFINITY, 0, -0.0, 1, -1};
  static const double unit[] = {1, 1, -1, 1.0 / 1024 + 1};
  switch (how) {
  case FILL_SMALL: return (double)rng_between(random, -8, 8);
  case FILL_SPECIAL: return special[rng_between(random, 0, 7)];
  case FILL_SPARSE: return rng_once_in(random, 64) ? 1 : 0;
  case FILL_UNIT: return unit[rng_between(random, 0, 3)];
  case FILL_WIDE: break;
  }
  return wide_float(random);
}

static long double small_integer(rng *random, ndr_dtype dtype, filling how) {
  if (how == FILL_SPARSE) return rng_once_in(random, 64);
  if (how == FILL_UNIT && is_signed(dtype)) return rng_once_in(random, 2) ? 1 : -1;
  if (how == FILL_UNIT) return rng_once_in(random, 8) ? 3 : 1;
  return rng_between(random, is_signed(dtype) ? -8 : 0, 8);
}

static element complex_number(rng *random, filling how) {
  static const element units[] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
  if (how == FILL_UNIT) return units[rng_between(random, 0, 3)];
  element value = {one_part(random, how), how == FILL_SPARSE ? 0 : one_part(random, FILL_SMALL)};
  /* Either part may be NaN, or both. */
  if (isnan(value.re) && rng_once_in(random, 2)) return (element){value.im, NAN};
  if (isnan(value.re) && rng_once_in(random, 2)) value.im = NAN;
  return value;
}

static void fill_one(rng *random, ndr_dtype dtype, filling how, void *to) {
  if (how == FILL_SPECIAL && rng_once_in(random, 2)) how = FILL_WIDE;
  if (dtype == NDR_BOOL) {
    element_store(dtype, to, (element){how == FILL_SPARSE ? rng_once_in(random, 64) : rng_once_in(random, 2), 0});
  } else if (is_complex(dtype)) {
    element_store(dtype, to, complex_number(random, how));
  } else if (!is_integer(dtype)) {
    element_store(dtype, to, (element){one_part(random, how), 0});
  } else if (how == FILL_WIDE) {
    uint64_t bits = rng_next(random);
    memcpy(to, &bits, ndr_dtype_bytes(dtype));
  } else {
    element_store(dtype, to, (element){small_integer(random, dtype, how), 0});
  }
}

void array_fill(test_array *filled, rng *random, filling how) {
  size_t size = ndr_dtype_bytes(filled->dtype);
  for (size_t at = 0; at < filled->bytes; at += size) fill_one(random, filled->dtype, how, (char *)filled->memory + at);
}

void array_from(test_array *made, ndr_dtype dtype, int ndim, const int64_t *shape, const double *values) {
  array_make(made, dtype, ndim, shape, NULL);
  for (int64_t i = 0; i < array_count(&made->tensor); i++)
    element_store(dtype, (char *)made->memory + (size_t)i * ndr_dtype_bytes(dtype), (element){values[i], 0});
}

bool array_gaps_untouched(const test_array *made) {
  size_t size = ndr_dtype_bytes(made->dtype);
  bool untouched = true;
  int64_t index[NDR_MAX_DIMS] = {0};
  char *written = calloc(made->bytes + 1, 1);
  if (!written) abort();
  if (array_count(&made->tensor) > 0) do
      memset(written + ((char *)element_at(&made->tensor, index) - (char *)made->memory), 1, size);
    while (next_index(made->tensor.ndim, made->tensor.shape, index));
  for (size_t i = 0; i < made->bytes; i++)
    untouched = untouched && (written[i] || ((unsigned char *)made->memory)[i] == ARRAY_POISON);
  free(written);
  return untouched;
}

ndr_options case_options(const ndr_problem *problem) {
  ndr_options options = NDR_OPTIONS_INIT;
  options.keepdims = problem->keepdims;
  options.skip_nan = problem->skip_nan;
  options.ddof = problem->ddof;
  options.accumulate = problem->accumulate;
  return options;
}
