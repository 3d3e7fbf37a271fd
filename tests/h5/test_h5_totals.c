/* Totals of packed integers: every dtype, byte order and mask, and boxes of slabs, against one element at a time; and
 * datasets reduced by them against the same elements unpacked one by one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "h5/read/unpack/totals.h"
#include "h5/run/job/job.h"
#include "h5/run/leaf/leaf_totals.h"
#include "support/cases.h"
#include "support/h5_any.h"
#include "support/h5_stored.h"
#include "support/suite.h"

enum { MOST_LANES = NDR_TOTALS_LANES, MOST_ROWS = 40, MOST_RUN = 70000, BYTES = 2 * (MOST_RUN + MOST_LANES * 64) };

static const ndr_dtype dtypes[] = {NDR_I8, NDR_U8, NDR_I16, NDR_U16};

/* ---- One element at a time -------------------------------------------------------------------------------------- */

static int64_t stored_value(const ndr_unpack *u, const unsigned char *at) {
  const unsigned low = at[u->swap ? 1 : 0], high = at[u->swap ? 0 : 1];
  switch (u->from) {
  case NDR_I8: return (int8_t)at[0];
  case NDR_U8: return at[0];
  case NDR_I16: return (int16_t)(low | high << 8);
  default: return (int64_t)(low | high << 8);
  }
}

static int64_t limit(const ndr_unpack *u, ndr_packed packed) {
  return u->from == NDR_I8 || u->from == NDR_I16 ? packed.i : (int64_t)packed.u;
}

static bool is_missing(const ndr_unpack *u, int64_t value) {
  for (int m = 0; m < u->missing_count; m++)
    if (value == limit(u, u->missing[m])) return true;
  return u->ranged && (value < limit(u, u->least) || value > limit(u, u->most));
}

static void add_one_by_one(const ndr_unpack *u, const unsigned char *from, int64_t step, int64_t count, double *sum,
                           double *counted) {
  for (int64_t i = 0; i < count; i++) {
    int64_t value = stored_value(u, from + i * step * (int64_t)ndr_dtype_bytes(u->from));
    if (is_missing(u, value)) continue;
    *sum += (double)value;
    *counted += 1;
  }
}

/* ---- Random totals ---------------------------------------------------------------------------------------------- */

static ndr_packed number(ndr_dtype dtype, int64_t value) {
  return dtype == NDR_I8 || dtype == NDR_I16 ? (ndr_packed){.i = value} : (ndr_packed){.u = (uint64_t)value};
}

static ndr_packed pick(const ndr_unpack *u, const unsigned char *elements, rng *random) {
  const int64_t at = rng_between(random, 0, 30) * (int64_t)ndr_dtype_bytes(u->from);
  return number(u->from, stored_value(u, elements + at));
}

static ndr_unpack random_unpack(const unsigned char *elements, rng *random) {
  ndr_unpack u = NDR_UNPACK_INIT(dtypes[rng_between(random, 0, 3)]);
  u.to = NDR_F64;
  u.masked = true;
  u.swap = rng_once_in(random, 2);
  u.missing_count = (int)rng_between(random, 0, 2);
  u.ranged = rng_once_in(random, 2);
  for (int m = 0; m < 2; m++) u.missing[m] = pick(&u, elements, random);
  u.least = pick(&u, elements, random);
  u.most = pick(&u, elements, random);
  return u;
}

/* Random bytes; or few values, so that fill values are in every lane; or the largest ones alone. */
static void fill(unsigned char *bytes, size_t count, rng *random) {
  const int way = (int)rng_between(random, 0, 3);
  const unsigned char values[] = {0x80, 0x00, 0x7f, 0xff};
  h5_random_bytes(bytes, count, random);
  for (size_t i = 0; way == 1 && i < count; i++) bytes[i] = values[bytes[i] % 4];
  for (size_t i = 0; way > 1 && i < count; i++) bytes[i] = way == 2 ? 0xff : i % 2 ? 0x80 : 0x00;
}

#define SAID(u)                                                                                                        \
  "%s, swap %d, %d missing, ranged %d, seed %llu", ndr_dtype_name((u)->from), (u)->swap, (u)->missing_count,           \
      (u)->ranged, (unsigned long long)test_seed()

START_TEST(rows_are_added_as_one_element_at_a_time) {
  rng random = {test_seed()};
  unsigned char *memory = malloc(BYTES + 1);
  double sums[MOST_LANES + 1], counts[MOST_LANES + 1];
  for (int i = 0; i < test_case_count(1500); i++) {
    unsigned char *from = memory + rng_between(&random, 0, 1); /* aligned or not */
    const int64_t lanes = rng_between(&random, 0, rng_once_in(&random, 4) ? MOST_LANES : 70);
    const int64_t rows = rng_between(&random, 0, MOST_ROWS), step = lanes + rng_between(&random, 0, 3);
    fill(memory, BYTES / 8, &random);
    const ndr_unpack u = random_unpack(from, &random);
    for (int l = 0; l <= MOST_LANES; l++) sums[l] = 7, counts[l] = 3;
    ndr_totals_add_rows(&u, from, step, rows, lanes, sums, counts);
    for (int64_t l = 0; l < lanes; l++) {
      double sum = 7, counted = 3;
      add_one_by_one(&u, from + l * (int64_t)ndr_dtype_bytes(u.from), step, rows, &sum, &counted);
      ck_assert_msg(sums[l] == sum && counts[l] == counted, SAID(&u));
    }
    ck_assert(sums[lanes] == 7 && counts[lanes] == 3);
  }
  free(memory);
}
END_TEST

/* More than a sum of 32 bits, or a count of 16, holds. */
START_TEST(many_rows_and_long_runs_do_not_overflow) {
  rng random = {test_seed()};
  unsigned char *memory = malloc(BYTES + 1);
  for (int i = 0; i < test_case_count(60); i++) {
    unsigned char *from = memory + rng_between(&random, 0, 1);
    const int64_t count = rng_between(&random, 0, rng_once_in(&random, 3) ? MOST_RUN : 300);
    fill(memory, BYTES, &random);
    const ndr_unpack u = random_unpack(from, &random);
    double expected = 0, valid = 0, sum = 0, counted = 0, row_sum = 0, row_counted = 0;
    add_one_by_one(&u, from, 1, count, &expected, &valid);
    ndr_totals_add_run(&u, from, count, &sum, &counted);
    ck_assert_msg(sum == expected && counted == valid, SAID(&u));
    ndr_totals_add_rows(&u, from, 1, count, 1, &row_sum, &row_counted);
    ck_assert_msg(row_sum == expected && row_counted == valid, SAID(&u));
  }
  free(memory);
}
END_TEST

START_TEST(the_largest_elements_do_not_overflow) {
  uint16_t *elements = malloc(MOST_RUN * sizeof *elements);
  for (int swap = 0; swap < 2; swap++) {
    for (int is_signed = 0; is_signed < 2; is_signed++) {
      ndr_unpack u = NDR_UNPACK_INIT(is_signed ? NDR_I16 : NDR_U16);
      double run[2] = {0}, row[2] = {0}, each = is_signed ? -32768 : 65535;
      u.swap = swap;
      for (int i = 0; i < MOST_RUN; i++) elements[i] = is_signed ? swap ? 0x0080 : 0x8000 : 0xffff;
      ndr_totals_add_run(&u, elements, MOST_RUN, &run[0], &run[1]);
      ndr_totals_add_rows(&u, elements, 1, MOST_RUN, 1, &row[0], &row[1]);
      ck_assert(run[0] == MOST_RUN * each && run[1] == MOST_RUN && row[0] == run[0] && row[1] == run[1]);
    }
  }
  free(elements);
}
END_TEST

START_TEST(a_fill_value_in_each_lane_is_left_out) {
  int16_t elements[200];
  ndr_unpack u = NDR_UNPACK_INIT(NDR_I16);
  u.missing_count = 1;
  u.missing[0].i = -32768;
  for (int missing = 0; missing < 200; missing++) {
    double sums[200] = {0}, counts[200] = {0}, sum = 0, counted = 0;
    for (int i = 0; i < 200; i++) elements[i] = (int16_t)(i == missing ? -32768 : i + 1);
    ndr_totals_add_rows(&u, elements, 200, 1, 200, sums, counts);
    for (int i = 0; i < 200; i++) ck_assert(sums[i] == (i == missing ? 0 : i + 1) && counts[i] == (i != missing));
    ndr_totals_add_run(&u, elements, 200, &sum, &counted);
    ck_assert(sum == 20100 - (missing + 1) && counted == 199);
  }
}
END_TEST

/* ---- Boxes of slabs ---------------------------------------------------------------------------------------------- */

enum { DIMS = 4, MOST_SIZE = 4, MOST_BOX = MOST_SIZE * MOST_SIZE * MOST_SIZE * MOST_SIZE };

/* A box in any place of a slab, perhaps without elements, or with one element along the last dim. */
static void random_box(ndr_slab *slab, ndr_slab *box, rng *random) {
  *slab = *box = (ndr_slab){.part = 0};
  for (int d = 0; d < DIMS; d++) {
    slab->begin[d] = rng_between(random, 0, 9);
    slab->size[d] = rng_between(random, 1, MOST_SIZE);
    box->size[d] = rng_once_in(random, 3)    ? slab->size[d]
                   : rng_once_in(random, 16) ? 0
                                             : rng_between(random, 1, slab->size[d]);
    box->begin[d] = slab->begin[d] + rng_between(random, 0, slab->size[d] - box->size[d]);
  }
}

static void add_box(const ndr_job *job, const ndr_leaf_slab *from, const ndr_slab *box, double *sums, double *counts) {
  const ndr_unpack *u = &job->readers[0].deferred;
  int64_t at[DIMS], all = 1;
  for (int d = 0; d < DIMS; d++) all *= box->size[d];
  for (int64_t i = 0; i < all; i++) {
    int64_t left = i, place = 0, output = 0;
    for (int d = DIMS - 1; d >= 0; left /= box->size[d--]) at[d] = left % box->size[d];
    for (int d = 0; d < DIMS; d++) {
      place = place * from->slab->size[d] + box->begin[d] - from->slab->begin[d] + at[d];
      if (!job->reduced[d]) output = output * box->size[d] + at[d];
    }
    const char *stored = from->data + place * (int64_t)ndr_dtype_bytes(u->from);
    add_one_by_one(u, (const unsigned char *)stored, 1, 1, &sums[output], &counts[output]);
  }
}

START_TEST(boxes_of_slabs_are_added_as_one_element_at_a_time) {
  static ndr_job job;
  static ndr_h5_dataset dataset;
  static ndr_reader reader;
  rng random = {test_seed()};
  unsigned char elements[2 * MOST_BOX];
  dataset.info.ndim = DIMS;
  job.dataset = &dataset;
  job.readers = &reader;
  for (int i = 0; i < test_case_count(1000); i++) {
    double expected[MOST_BOX] = {0}, counted[MOST_BOX] = {0}, sums[MOST_BOX];
    int64_t kept[DIMS], valid[MOST_BOX], outputs = 1;
    int kept_count = 0;
    ndr_slab slab, box;
    ndr_accumulator *a;
    ndr_problem problem = NDR_PROBLEM_INIT;
    const ndr_leaf_slab from = {&slab, (char *)elements};
    fill(elements, sizeof elements, &random);
    reader.deferred = random_unpack(elements, &random);
    random_box(&slab, &box, &random);
    problem.dtype = NDR_F64, problem.ndim = DIMS, problem.skip_nan = 1, problem.dim_count = 0;
    problem.op_count = 2, problem.ops[0] = NDR_SUM, problem.ops[1] = NDR_VALID;
    for (int d = 0; d < DIMS; d++) {
      problem.shape[d] = box.size[d];
      job.reduced[d] = rng_once_in(&random, 2);
      if (job.reduced[d])
        problem.dims[problem.dim_count++] = d;
      else
        outputs *= kept[kept_count++] = box.size[d];
    }
    DLTensor sum = ndr_tensor(sums, NDR_F64, kept_count, kept), number = ndr_tensor(valid, NDR_I64, kept_count, kept);
    assert_ok(ndr_accumulator_create(&a, &problem, (DLDevice){kDLCPU, 0}, NULL));
    assert_ok(ndr_leaf_add_totals(&job, &from, &box, a));
    assert_ok(ndr_accumulator_finish(a, (DLTensor *[]){&sum, &number}));
    ndr_accumulator_destroy(a);
    add_box(&job, &from, &box, expected, counted);
    for (int64_t o = 0; o < outputs; o++)
      ck_assert_msg(sums[o] == expected[o] && (double)valid[o] == counted[o], SAID(&reader.deferred));
  }
}
END_TEST

/* ---- Datasets ---------------------------------------------------------------------------------------------------- */

enum { STEPS = 40, ROWS = 37, COLUMNS = 530, ALL = STEPS * ROWS * COLUMNS, OPS = 5 };

static const ndr_op ops[OPS] = {NDR_SUM, NDR_MAX, NDR_MEAN, NDR_VAR, NDR_VALID};
static const int64_t shape[] = {STEPS, ROWS, COLUMNS};

static const struct {
  int count, dims[3];
} reductions[] = {{1, {0}}, {1, {1}}, {1, {2}}, {2, {0, 1}}, {2, {0, 2}}, {2, {1, 2}}, {3, {0, 1, 2}}};
enum { REDUCTIONS = sizeof reductions / sizeof *reductions };

static void put(hid_t x, const char *name, hid_t type, const void *value) {
  hid_t space = H5Screate(H5S_SCALAR), attribute = H5Acreate2(x, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  ck_assert(attribute >= 0 && H5Awrite(attribute, type, value) >= 0);
  H5Aclose(attribute);
  H5Sclose(space);
}

/* Every fifth element is missing, and all of a column. */
static int16_t *write_packed(hid_t stored) {
  rng random = {test_seed()};
  const int16_t missing = INT16_MIN;
  int16_t *values = malloc(ALL * sizeof *values);
  const double scale = 0.002, offset = 15;
  hid_t file = H5Fcreate(h5_input, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  hid_t space = H5Screate_simple(3, (hsize_t[]){STEPS, ROWS, COLUMNS}, NULL);
  hid_t x = H5Dcreate2(file, "x", stored, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  for (int i = 0; i < ALL; i++)
    values[i] = (int16_t)(rng_once_in(&random, 5) || i % COLUMNS == 7 ? missing : rng_between(&random, -32767, 32767));
  ck_assert(H5Dwrite(x, H5T_NATIVE_INT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  put(x, "_FillValue", H5T_NATIVE_INT16, &missing);
  put(x, "scale_factor", H5T_NATIVE_DOUBLE, &scale);
  put(x, "add_offset", H5T_NATIVE_DOUBLE, &offset);
  H5Dclose(x);
  H5Sclose(space);
  H5Fclose(file);
  return values;
}

static int64_t output_of(int reduction, int64_t index) {
  int64_t output = 0, step = 1;
  for (int d = 2; d >= 0; index /= shape[d--]) {
    bool reduced = false;
    for (int i = 0; i < reductions[reduction].count; i++) reduced = reduced || reductions[reduction].dims[i] == d;
    if (!reduced) output += index % shape[d] * step, step *= shape[d];
  }
  return output;
}

/* Sums of up to 10^6 elements that are rounded a few times for each leaf. */
static void check_sums(int reduction, const int16_t *values, const test_array *sum, const test_array *valid) {
  double *expected = calloc(ALL, sizeof *expected);
  int64_t *counted = calloc(ALL, sizeof *counted), outputs = 1;
  for (int64_t i = 0; i < ALL; i++) {
    const int64_t output = output_of(reduction, i);
    outputs = output >= outputs ? output + 1 : outputs;
    if (values[i] == -32768) continue;
    expected[output] += values[i] * 0.002 + 15;
    counted[output]++;
  }
  for (int64_t i = 0; i < outputs; i++) {
    const double got = ((const double *)sum->tensor.data)[i];
    ck_assert_int_eq(((const int64_t *)valid->tensor.data)[i], counted[i]);
    ck_assert(counted[i] ? fabs(got - expected[i]) < 1e-9 * (1 + (double)counted[i]) : isnan(got));
  }
  free(expected);
  free(counted);
}

START_TEST(datasets_are_summed_as_stored_beside_other_ops) {
  const int reduction = _i / 4;
  const ndr_op alone[] = {NDR_SUM, NDR_MEAN, NDR_VALID};
  test_array all[OPS], three[3];
  DLTensor *all_pointers[OPS], *pointers[3];
  ndr_h5_options how = NDR_H5_OPTIONS_INIT;
  ndr_h5_dataset *dataset;
  char text[8192];
  size_t length;
  how.device = NDR_H5_CPU;
  how.threads = 2;
  ndr_first_shift = _i % 2 ? 7 : 0;
  h5_make_folder();
  int16_t *values = write_packed(_i / 2 % 2 ? H5T_STD_I16BE : H5T_STD_I16LE);
  assert_ok(ndr_h5_open(&dataset, h5_input, "/x", NULL));
  const int count = reductions[reduction].count, *dims = reductions[reduction].dims;
  ndr_problem *problem = h5_problem(dataset, count, dims, OPS, ops);
  h5_make_results(problem, all, all_pointers);
  assert_ok(ndr_h5_reduce(dataset, problem, all_pointers, &how));
  problem = h5_problem(dataset, count, dims, 3, alone);
  h5_make_results(problem, three, pointers);
  assert_ok(ndr_h5_explain(dataset, problem, &how, text, sizeof text, &length));
  ck_assert_ptr_nonnull(strstr(text, "totals   of integers"));
  assert_ok(ndr_h5_reduce(dataset, problem, pointers, &how));
  for (int i = 0; i < 3; i++) ck_assert(same_elements(&three[i].tensor, &all[2 * i].tensor));
  check_sums(reduction, values, &three[0], &three[2]);
  ndr_h5_options several = how;
  several.threads = 5;
  h5_check_bits(dataset, count, dims, OPS, ops, &how, &several);
  for (int i = 0; i < OPS; i++) array_free(&all[i]);
  for (int i = 0; i < 3; i++) array_free(&three[i]);
  ndr_h5_close(dataset);
  h5_remove_folder();
  free(values);
  ndr_first_shift = 0;
}
END_TEST

/* ---- What is said of them, and memory ---------------------------------------------------------------------------- */

static void explain(const ndr_h5_dataset *dataset, int op_count, const ndr_op *of, char *text, size_t capacity) {
  ndr_h5_options how = NDR_H5_OPTIONS_INIT;
  size_t length;
  how.device = NDR_H5_CPU;
  how.threads = 2;
  how.memory = 1 << 28;
  ndr_problem *problem = h5_problem((ndr_h5_dataset *)dataset, 1, (int[]){0}, op_count, of);
  assert_ok(ndr_h5_explain((ndr_h5_dataset *)dataset, problem, &how, text, capacity, &length));
  ck_assert_uint_lt(length, capacity);
}

static void has(const char *text, const char *part) {
  ck_assert_msg(strstr(text, part) != NULL, "no '%s' in:\n%s", part, text);
}

static void has_not(const char *text, const char *part) {
  ck_assert_msg(strstr(text, part) == NULL, "'%s' in:\n%s", part, text);
}

/* The plan is of what is reduced otherwise, and only that needs leaves that are unpacked. */
START_TEST(explanations_tell_totals_from_other_ops) {
  char text[8192];
  ndr_h5_dataset *dataset;
  h5_make_folder();
  free(write_packed(H5T_STD_I16LE));
  assert_ok(ndr_h5_open(&dataset, h5_input, "/x", NULL));
  explain(dataset, 2, (ndr_op[]){NDR_MEAN, NDR_SUM}, text, sizeof text);
  has(text, "totals   of integers as they are stored, and then unpacked: mean, sum, valid\n");
  has(text, " + leaves 0 B + ");
  has_not(text, "a leaf   ");
  has_not(text, "convert  ");
  explain(dataset, 3, (ndr_op[]){NDR_MAX, NDR_MEAN, NDR_VAR}, text, sizeof text);
  has(text, "unpacked: mean\n");
  has(text, "\na leaf   max,var f64 ");
  has(text, "\nconvert  ");
  has_not(text, " + leaves 0 B + ");
  explain(dataset, 1, (ndr_op[]){NDR_MAX}, text, sizeof text);
  has_not(text, "totals");
  ndr_h5_close(dataset);
  h5_remove_folder();
}
END_TEST

/* ---- Which elements have totals --------------------------------------------------------------------------------- */

START_TEST(only_sums_that_cannot_overflow_are_taken) {
  ndr_unpack u = NDR_UNPACK_INIT(NDR_I16);
  ck_assert(!ndr_unpack_has_totals(&u)); /* reduced as integers */
  u.to = NDR_F64;
  ck_assert(ndr_unpack_has_totals(&u));
  u.scale = 1e300;
  ck_assert(!ndr_unpack_has_totals(&u));
  u.scale = NAN;
  ck_assert(!ndr_unpack_has_totals(&u));
  u.scale = 1;
  u.offset = -INFINITY;
  ck_assert(!ndr_unpack_has_totals(&u));
  u.offset = 0;
  u.missing_count = 3;
  ck_assert(!ndr_unpack_has_totals(&u));
  u.missing_count = 0;
  u.from = NDR_I32;
  ck_assert(!ndr_unpack_has_totals(&u));
}
END_TEST

START_TEST(sums_are_unpacked) {
  double sums[] = {10, 0}, counts[] = {4, 0};
  ndr_unpack u = NDR_UNPACK_INIT(NDR_U8);
  u.scale = 0.5;
  u.offset = 100;
  ndr_totals_unpack(&u, 2, sums, counts);
  ck_assert(sums[0] == 405 && sums[1] == 0);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("h5 totals");
  suite_case(suite, "totals", 120, rows_are_added_as_one_element_at_a_time, many_rows_and_long_runs_do_not_overflow,
             the_largest_elements_do_not_overflow, a_fill_value_in_each_lane_is_left_out,
             boxes_of_slabs_are_added_as_one_element_at_a_time, only_sums_that_cannot_overflow_are_taken,
             sums_are_unpacked, NULL);
  TCase *datasets = suite_case_empty(suite, "datasets", 120);
  tcase_add_test(datasets, explanations_tell_totals_from_other_ops);
  tcase_add_loop_test(datasets, datasets_are_summed_as_stored_beside_other_ops, 0, 4 * REDUCTIONS);
  return suite_run(suite);
}
