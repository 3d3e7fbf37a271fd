/* ndr_select, ndr_partition and ndr_nonzero by hand, what they refuse, and random ones against the definition. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ndreduce/scan.h"
#include "support/cases.h"
#include "support/suite.h"

static float x[2][3] = {{1, 2, 3}, {4, 5, 6}};
static uint8_t mask[2][3] = {{1, 0, 2}, {0, 255, 0}};

static DLTensor array_of(void) {
  static int64_t shape[] = {2, 3};
  return ndr_tensor(x, NDR_F32, 2, shape);
}

static DLTensor mask_of(void) {
  static int64_t shape[] = {2, 3};
  return ndr_tensor(mask, NDR_BOOL, 2, shape);
}

/* ---- by hand ---- */

START_TEST(elements_are_selected_in_row_major_order) {
  float out[6] = {0, 0, 0, 9, 9, 9};
  int64_t count = -1;
  DLTensor array = array_of(), kept = mask_of(), result = ndr_tensor(out, NDR_F32, NDR_SHAPE(6));
  assert_ok(ndr_select(&array, &kept, NDR_SCAN_ALL, &result, &count, NULL));
  ck_assert(count == 3 && out[0] == 1 && out[1] == 3 && out[2] == 5 && out[3] == 9);
  kept = ndr_tensor(mask[0], NDR_BOOL, NDR_SHAPE(3)); /* a row for all */
  assert_ok(ndr_select(&array, &kept, NDR_SCAN_ALL, &result, &count, NULL));
  ck_assert(count == 4 && out[0] == 1 && out[1] == 3 && out[2] == 4 && out[3] == 6 && out[4] == 9);
}
END_TEST

START_TEST(slices_are_selected_along_a_dim) {
  float out[2][3] = {{9, 9, 9}, {9, 9, 9}};
  int64_t count = -1;
  DLTensor array = array_of(), kept = ndr_tensor(mask[0], NDR_BOOL, NDR_SHAPE(3));
  DLTensor result = ndr_tensor(out, NDR_F32, NDR_SHAPE(2, 2));
  result.strides = (int64_t[]){3, 1};
  assert_ok(ndr_select(&array, &kept, -1, &result, &count, NDR_SELECT_OPTIONS(.threads = 1)));
  ck_assert(count == 2 && out[0][0] == 1 && out[0][1] == 3 && out[1][0] == 4 && out[1][1] == 6 && out[0][2] == 9);
  kept = ndr_tensor(mask[1], NDR_BOOL, NDR_SHAPE(2));
  result = ndr_tensor(out, NDR_F32, NDR_SHAPE(1, 3));
  assert_ok(ndr_select(&array, &kept, 0, &result, &count, NULL));
  ck_assert(count == 1 && out[0][0] == 4 && out[0][2] == 6 && out[1][0] == 4);
}
END_TEST

START_TEST(a_small_result_gets_what_fits) {
  float out[4] = {9, 9, 9, 9};
  int64_t count = -1, places[4] = {9, 9, 9, 9};
  DLTensor array = array_of(), kept = mask_of(), result = ndr_tensor(out, NDR_F32, NDR_SHAPE(2));
  assert_fails(ndr_select(&array, &kept, NDR_SCAN_ALL, &result, &count, NULL), NDR_ERR_RESULT,
               "the result has room for 2 places, and 3 are kept");
  ck_assert(count == 3 && out[0] == 1 && out[1] == 3 && out[2] == 9);
  result.shape = (int64_t[]){0};
  assert_fails(ndr_select(&array, &kept, NDR_SCAN_ALL, &result, &count, NULL), NDR_ERR_RESULT, "room for 0 places");
  DLTensor indices = ndr_tensor(places, NDR_I64, NDR_SHAPE(1, 2));
  assert_fails(ndr_nonzero(&kept, &indices, &count, NULL), NDR_ERR_RESULT, "room for 1 places, and 3 are kept");
  ck_assert(count == 3 && places[0] == 0 && places[1] == 0 && places[2] == 9);
}
END_TEST

START_TEST(a_partition_has_the_kept_ones_first) {
  float out[6];
  int64_t count = -1;
  DLTensor array = array_of(), kept = mask_of(), result = ndr_tensor(out, NDR_F32, NDR_SHAPE(6));
  const float expected[] = {1, 3, 5, 2, 4, 6}, turned[] = {1, 2, 3, 4, 5, 6}, columns[] = {1, 3, 2, 4, 6, 5};
  assert_ok(ndr_partition(&array, &kept, NDR_SCAN_ALL, &result, &count, NULL));
  ck_assert(count == 3 && memcmp(out, expected, sizeof out) == 0);
  result = ndr_tensor(out, NDR_F32, NDR_SHAPE(2, 3));
  result.strides = (int64_t[]){1, 2}; /* 1 3 5, 2 4 6 */
  assert_ok(ndr_partition(&array, &kept, NDR_SCAN_ALL, &result, &count, NULL));
  ck_assert(count == 3 && memcmp(out, turned, sizeof out) == 0);
  kept = ndr_tensor(mask[0], NDR_BOOL, NDR_SHAPE(3));
  result.strides = NULL;
  assert_ok(ndr_partition(&array, &kept, 1, &result, &count, NULL));
  ck_assert(count == 2 && memcmp(out, columns, sizeof out) == 0);
}
END_TEST

START_TEST(nonzero_gives_indices) {
  double values[2][3] = {{0, -0.0, NAN}, {1, 0, -2}};
  int64_t places[3][2], turned[2][3], count = -1;
  DLTensor array = ndr_tensor(values, NDR_F64, NDR_SHAPE(2, 3)), result = ndr_tensor(places, NDR_I64, NDR_SHAPE(3, 2));
  assert_ok(ndr_nonzero(&array, &result, &count, NULL));
  ck_assert(count == 3 && places[0][0] == 0 && places[0][1] == 2 && places[1][0] == 1 && places[1][1] == 0);
  ck_assert(places[2][0] == 1 && places[2][1] == 2);
  result.data = turned;
  result.strides = (int64_t[]){1, 3};
  assert_ok(ndr_nonzero(&array, &result, &count, NULL));
  ck_assert(turned[0][0] == 0 && turned[0][1] == 1 && turned[0][2] == 1 && turned[1][0] == 2 && turned[1][2] == 2);
  DLTensor scalar = ndr_tensor(&values[1][0], NDR_F64, 0, NULL), none = ndr_tensor(NULL, NDR_I64, NDR_SHAPE(1, 0));
  assert_ok(ndr_nonzero(&scalar, &none, &count, NULL));
  ck_assert(count == 1);
}
END_TEST

START_TEST(nothing_is_selected_from_nothing) {
  int64_t count = -1;
  DLTensor array = ndr_tensor(NULL, NDR_F32, NDR_SHAPE(0, 3)), kept = ndr_tensor(NULL, NDR_BOOL, NDR_SHAPE(0, 3));
  DLTensor result = ndr_tensor(NULL, NDR_F32, NDR_SHAPE(0)), slices = ndr_tensor(NULL, NDR_F32, NDR_SHAPE(0, 3));
  assert_ok(ndr_select(&array, &kept, NDR_SCAN_ALL, &result, &count, NULL));
  ck_assert(count == 0);
  kept = ndr_tensor(mask[0], NDR_BOOL, NDR_SHAPE(3));
  count = -1;
  slices.shape = (int64_t[]){0, 2};
  assert_ok(ndr_select(&array, &kept, 1, &slices, &count, NULL)); /* two slices without elements */
  ck_assert(count == 2);
}
END_TEST

/* Their strides lead nowhere, and products with them would overflow. */
START_TEST(strides_of_single_elements_are_any_number) {
  float out[3] = {9, 9, 9};
  int64_t row[] = {1, 3}, most[] = {INT64_MAX, 1}, least[] = {INT64_MIN, 1}, places[2] = {9, 9}, count = -1;
  uint8_t keeps = 1;
  DLTensor array = ndr_tensor(x, NDR_F32, 2, row), kept = ndr_tensor(mask, NDR_BOOL, 2, row);
  DLTensor result = ndr_tensor(out, NDR_F32, 2, row), indices = ndr_tensor(places, NDR_I64, NDR_SHAPE(1, 2));
  array.strides = most;
  kept.strides = result.strides = indices.strides = least;
  assert_ok(ndr_partition(&array, &kept, NDR_SCAN_ALL, &result, &count, NULL));
  ck_assert(count == 2 && out[0] == 1 && out[1] == 3 && out[2] == 2);
  kept = ndr_tensor(&keeps, NDR_BOOL, NDR_SHAPE(1));
  kept.strides = least;
  assert_ok(ndr_select(&array, &kept, 0, &result, &count, NULL));
  ck_assert(count == 1 && out[0] == 1 && out[1] == 2 && out[2] == 3);
  array.shape = (int64_t[]){1, 1};
  assert_ok(ndr_nonzero(&array, &indices, &count, NULL));
  ck_assert(count == 1 && places[0] == 0 && places[1] == 0);
  array.shape = (int64_t[]){0, 3};
  array.strides = least;
  result.shape = (int64_t[]){0};
  result.ndim = 1;
  kept = ndr_tensor(mask, NDR_BOOL, NDR_SHAPE(1, 3));
  assert_ok(ndr_select(&array, &kept, NDR_SCAN_ALL, &result, &count, NULL));
  ck_assert_int_eq(count, 0);
}
END_TEST

/* ---- what is refused ---- */

START_TEST(bad_arguments_are_named) {
  float out[6];
  int64_t count = -1, odd[2];
  DLTensor array = array_of(), kept = mask_of(), result = ndr_tensor(out, NDR_F32, NDR_SHAPE(6)), wrong = kept;
  DLTensor wide = ndr_tensor(out, NDR_F64, NDR_SHAPE(3)), row = ndr_tensor(mask, NDR_BOOL, NDR_SHAPE(2));
  DLTensor slices = ndr_tensor(out, NDR_F32, NDR_SHAPE(2, 2));
  assert_fails(ndr_select(NULL, &kept, 0, &result, &count, NULL), NDR_ERR_ARGUMENT, "array is a null pointer");
  assert_fails(ndr_select(&array, NULL, 0, &result, &count, NULL), NDR_ERR_ARGUMENT, "mask is a null pointer");
  assert_fails(ndr_partition(&array, NULL, 0, &result, &count, NULL), NDR_ERR_ARGUMENT, "mask is a null pointer");
  assert_fails(ndr_select(&array, &kept, NDR_SCAN_ALL, NULL, &count, NULL), NDR_ERR_ARGUMENT, "result of select");
  assert_fails(ndr_select(&array, &kept, NDR_SCAN_ALL, &result, NULL, NULL), NDR_ERR_ARGUMENT, "count is a null");
  assert_fails(ndr_select(&array, &kept, NDR_SCAN_ALL, &result, (int64_t *)(void *)((char *)odd + 4), NULL),
               NDR_ERR_ARGUMENT, "count's address");
  assert_fails(ndr_select(&array, &kept, 2, &result, &count, NULL), NDR_ERR_DIMS, "dim 2 is out of range");
  assert_fails(ndr_select(&array, &kept, 0, &slices, &count, NULL), NDR_ERR_ARGUMENT, "the mask has 2 dims");
  assert_fails(ndr_select(&array, &row, 1, &slices, &count, NULL), NDR_ERR_ARGUMENT, "does not broadcast to 3");
  assert_fails(ndr_select(&array, &row, NDR_SCAN_ALL, &result, &count, NULL), NDR_ERR_ARGUMENT, "does not broadcast");
  wrong.dtype = array.dtype;
  assert_fails(ndr_select(&array, &wrong, NDR_SCAN_ALL, &result, &count, NULL), NDR_ERR_DTYPE, "the mask is f32");
  assert_fails(ndr_select(&array, &kept, NDR_SCAN_ALL, &wide, &count, NULL), NDR_ERR_RESULT, "dtype f64, must be f32");
  assert_fails(ndr_select(&array, &kept, NDR_SCAN_ALL, &slices, &count, NULL), NDR_ERR_RESULT, "[2,2], must be [2]");
  assert_fails(ndr_partition(&array, &kept, NDR_SCAN_ALL, &slices, &count, NULL), NDR_ERR_RESULT, "must be [2,3]");
  assert_fails(ndr_nonzero(&array, &result, &count, NULL), NDR_ERR_RESULT, "must be i64");
  DLTensor vast = ndr_tensor(out, NDR_F32, NDR_SHAPE(INT64_C(1) << 61));
  assert_fails(ndr_select(&array, &kept, NDR_SCAN_ALL, &vast, &count, NULL), NDR_ERR_OVERFLOW,
               "the size in bytes of the result of select does not fit");
  assert_fails(ndr_select(&array, &kept, NDR_SCAN_ALL, &result, &count, NDR_SELECT_OPTIONS(.threads = -2)),
               NDR_ERR_ARGUMENT, "threads is -2");
  wrong = kept;
  wrong.device.device_type = kDLVulkan;
  assert_fails(ndr_select(&array, &wrong, NDR_SCAN_ALL, &result, &count, NULL), NDR_ERR_ARGUMENT,
               "the mask is on vulkan");
  result.data = x[1];
  result.shape = (int64_t[]){3};
  assert_fails(ndr_select(&array, &kept, NDR_SCAN_ALL, &result, &count, NULL), NDR_ERR_ARGUMENT, "overlaps the array");
  DLTensor own = ndr_tensor(mask, NDR_BOOL, NDR_SHAPE(6)), bytes = ndr_tensor(out, NDR_BOOL, NDR_SHAPE(2, 3));
  assert_fails(ndr_select(&bytes, &kept, NDR_SCAN_ALL, &own, &count, NULL), NDR_ERR_ARGUMENT, "overlaps the mask");
  ck_assert_int_eq(count, -1);
}
END_TEST

/* ---- random ones ---- */

typedef struct random_select {
  test_array array, mask, result;
  int dim;
  int64_t room, kept, places;
} random_select;

static bool keeps(const random_select *made, const int64_t *index) {
  int64_t at[NDR_MAX_DIMS] = {0};
  for (int d = 0; d < made->mask.tensor.ndim; d++) {
    int of = made->dim == NDR_SCAN_ALL ? made->array.tensor.ndim - made->mask.tensor.ndim + d : made->dim;
    at[d] = made->mask.shape[d] == 1 ? 0 : index[of];
  }
  return *(uint8_t *)element_at(&made->mask.tensor, at) != 0;
}

static void make_random(random_select *made, rng *random, bool partitions) {
  ndr_problem layout, flat = NDR_PROBLEM_INIT;
  random_case(random, 5000, &layout);
  array_of_case(&made->array, &layout);
  array_fill(&made->array, random, FILL_WIDE);
  int ndim = layout.ndim;
  made->dim = ndim == 0 || rng_once_in(random, 2) ? NDR_SCAN_ALL : (int)rng_between(random, 0, ndim - 1);
  bool all = made->dim == NDR_SCAN_ALL;
  int64_t shape[NDR_MAX_DIMS], index[NDR_MAX_DIMS] = {0};
  int own = all ? (int)rng_between(random, rng_once_in(random, 3) ? 0 : ndim, ndim) : 1;
  for (int d = 0; d < own; d++)
    shape[d] = rng_once_in(random, 6) ? 1 : all ? layout.shape[ndim - own + d] : layout.shape[made->dim];
  array_make(&made->mask, NDR_BOOL, own, shape, NULL);
  for (size_t i = 0; i < made->mask.bytes; i++)
    ((uint8_t *)made->mask.memory)[i] = rng_once_in(random, 3) ? (uint8_t)rng_between(random, 1, 255) : 0;
  made->kept = made->places = 0;
  for (int d = 0; d < ndim; d++) shape[d] = all || d == made->dim ? layout.shape[d] : 1;
  made->places = 1;
  for (int d = 0; d < ndim; d++) made->places *= shape[d];
  if (made->places > 0) do
      made->kept += keeps(made, index);
    while (next_index(ndim, shape, index));
  made->room = partitions               ? made->places
               : rng_once_in(random, 4) ? made->kept / 2
                                        : made->kept + rng_between(random, 0, 3);
  flat.dtype = layout.dtype;
  flat.ndim = all ? 1 : ndim;
  int64_t step = rng_between(random, 1, 2);
  for (int d = flat.ndim - 1; d >= 0; d--) {
    flat.shape[d] = all || d == made->dim ? made->room : layout.shape[d];
    flat.strides[d] = rng_once_in(random, 3) ? -step : step;
    step *= flat.shape[d] > 0 ? flat.shape[d] : 1;
  }
  array_of_case(&made->result, &flat);
}

/* The index in the result of place number `place` of the selection, whose other indices are those of `index`. */
static bool result_matches(const random_select *made, const int64_t *index, int64_t place) {
  int64_t there[NDR_MAX_DIMS];
  if (place >= made->room) return true;
  memcpy(there, index, sizeof there);
  there[made->dim == NDR_SCAN_ALL ? 0 : made->dim] = place;
  return memcmp(element_at(&made->array.tensor, index), element_at(&made->result.tensor, there),
                ndr_dtype_bytes(made->array.dtype)) == 0;
}

static bool slice_matches(const random_select *made, int64_t *index, int64_t place) {
  int ndim = made->array.tensor.ndim, d;
  if (made->dim == NDR_SCAN_ALL) return result_matches(made, index, place);
  for (d = 0; d < ndim; d++)
    if (d != made->dim && made->array.shape[d] == 0) return true;
  int64_t along = index[made->dim], shape[NDR_MAX_DIMS];
  bool right = true;
  memcpy(shape, made->array.shape, sizeof shape);
  memset(index, 0, NDR_MAX_DIMS * sizeof *index);
  shape[made->dim] = 1;
  do {
    int64_t own[NDR_MAX_DIMS];
    memcpy(own, index, sizeof own);
    own[made->dim] = along;
    right = right && result_matches(made, own, place);
  } while (next_index(ndim, shape, index));
  index[made->dim] = along;
  return right;
}

START_TEST(random_selections_follow_the_definition) {
  rng random = {test_seed() + (uint64_t)_i};
  for (int n = test_case_count(400); n > 0; n--) {
    random_select made;
    int64_t count = -1, place = 0, other, index[NDR_MAX_DIMS] = {0}, shape[NDR_MAX_DIMS];
    make_random(&made, &random, _i == 1);
    ndr_status status = (_i ? ndr_partition : ndr_select)(&made.array.tensor, &made.mask.tensor, made.dim,
                                                          &made.result.tensor, &count, NULL);
    ck_assert_msg(status == (made.kept > made.room ? NDR_ERR_RESULT : NDR_OK), "%s", ndr_last_error());
    ck_assert_int_eq(count, made.kept);
    other = made.kept;
    for (int d = 0; d < made.array.tensor.ndim; d++)
      shape[d] = made.dim == NDR_SCAN_ALL || d == made.dim ? made.array.shape[d] : 1;
    if (made.places > 0) do {
        bool kept = keeps(&made, index);
        if (kept) ck_assert(slice_matches(&made, index, place));
        if (!kept && _i == 1) ck_assert(slice_matches(&made, index, other));
        *(kept ? &place : &other) += 1;
      } while (next_index(made.array.tensor.ndim, shape, index));
    if (made.kept >= made.room) ck_assert(array_gaps_untouched(&made.result));
    array_free(&made.array);
    array_free(&made.mask);
    array_free(&made.result);
  }
}
END_TEST

/* Blocks of places, and cuts of slices, in several threads. */
START_TEST(threads_select_alike) {
  enum { N = 300000, ROWS = 40, COLUMNS = 5000 };
  int32_t *values = malloc(N * sizeof *values), *out[2] = {malloc(N * sizeof **out), malloc(N * sizeof **out)};
  uint8_t *kept = malloc(N);
  rng random = {3};
  for (int i = 0; i < N; i++) {
    values[i] = i;
    kept[i] = rng_once_in(&random, 3);
  }
  for (int along = 0; along < 3; along++) {
    int64_t counts[2];
    DLTensor array =
        along ? ndr_tensor(values, NDR_I32, NDR_SHAPE(ROWS, COLUMNS)) : ndr_tensor(values, NDR_I32, NDR_SHAPE(N));
    DLTensor flags = ndr_tensor(kept, NDR_BOOL, 1, &array.shape[along == 2]);
    for (int t = 0; t < 2; t++) {
      DLTensor result = ndr_tensor(out[t], NDR_I32, array.ndim, array.shape);
      memset(out[t], 0, N * sizeof **out);
      assert_ok(ndr_partition(&array, &flags, along ? along - 1 : NDR_SCAN_ALL, &result, &counts[t],
                              NDR_SELECT_OPTIONS(.threads = t ? 5 : 1)));
    }
    ck_assert(counts[0] == counts[1] && memcmp(out[0], out[1], N * sizeof **out) == 0);
  }
  free(values);
  free(kept);
  free(out[0]);
  free(out[1]);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("api select");
  suite_case(suite, "by hand", 30, elements_are_selected_in_row_major_order, slices_are_selected_along_a_dim,
             a_small_result_gets_what_fits, a_partition_has_the_kept_ones_first, nonzero_gives_indices,
             nothing_is_selected_from_nothing, strides_of_single_elements_are_any_number, NULL);
  suite_case(suite, "refused", 30, bad_arguments_are_named, NULL);
  TCase *random = tcase_create("random");
  tcase_set_timeout(random, 120);
  tcase_add_loop_test(random, random_selections_follow_the_definition, 0, 2);
  tcase_add_test(random, threads_select_alike);
  suite_add_tcase(suite, random);
  return suite_run(suite);
}
