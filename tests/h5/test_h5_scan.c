/* Scans of datasets through the library: against ndr_scan of the same array in memory, whatever memory and threads
 * there are; words and their results; refusals. NumPy is compared with in tests/cli/running.py. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "h5/run/scan/running.h"
#include "ndreduce/scan.h"
#include "support/h5_any.h"
#include "support/suite.h"

enum { STEPS = 70, ROWS = 60, COLUMNS = 300, ALL = STEPS * ROWS * COLUMNS };

static float x[ALL];
static int16_t small[ALL];
static float found[ALL], other[ALL];
static int64_t sums[ALL], expected[ALL];
static ndr_h5_dataset *floats, *integers;
static char second_file[128];

static void start(void) {
  rng random = {9};
  h5_make_folder();
  snprintf(second_file, sizeof second_file, "%s/integers.h5", h5_folder);
  for (int i = 0; i < ALL; i++) {
    small[i] = (int16_t)rng_between(&random, -30000, 30000);
    x[i] = (float)small[i] / 7;
  }
  const hsize_t chunk[] = {9, 20, 70};
  DLTensor array = ndr_tensor(x, NDR_F32, NDR_SHAPE(STEPS, ROWS, COLUMNS));
  floats = h5_open_written(h5_input, &array, NDR_F32, chunk);
  array = ndr_tensor(small, NDR_I16, NDR_SHAPE(STEPS, ROWS, COLUMNS));
  integers = h5_open_written(second_file, &array, NDR_I16, NULL);
}

static void finish(void) {
  ndr_h5_close(floats);
  ndr_h5_close(integers);
  remove(second_file);
  h5_remove_folder();
}

static int64_t slabs_of_last;

static int count_slabs(void *user, const ndr_h5_progress *now) {
  *(int64_t *)user = now->total_slabs;
  return 0;
}

static ndr_status scan_to(ndr_h5_dataset *dataset, const ndr_h5_scan *scan, int64_t memory, int threads, void *result) {
  ndr_h5_options how = NDR_H5_OPTIONS_INIT;
  int64_t shape[NDR_MAX_DIMS];
  DLTensor tensor = {.shape = shape};
  how.memory = memory;
  how.threads = threads;
  how.on_progress = count_slabs;
  how.user = &slabs_of_last;
  ndr_status status = ndr_h5_scan_result(dataset, scan, &tensor);
  if (status != NDR_OK) return status;
  tensor.data = result;
  return ndr_h5_scan_to(dataset, scan, &tensor, &how);
}

static ndr_h5_scan scan_along(int dim, ndr_op op, int number) {
  ndr_h5_scan scan = NDR_H5_SCAN_INIT;
  scan.dim = dim;
  scan.op = op;
  scan.exclusive = number & 1;
  scan.reverse = number >> 1;
  return scan;
}

START_TEST(integers_are_those_of_an_array_in_memory) {
  const int64_t budgets[] = {0, 1 << 20};
  DLTensor array = ndr_tensor(small, NDR_I16, NDR_SHAPE(STEPS, ROWS, COLUMNS));
  DLTensor result = ndr_tensor(expected, NDR_I64, NDR_SHAPE(STEPS, ROWS, COLUMNS));
  for (int number = 0; number < 4 * 3; number++) {
    const ndr_h5_scan scan = scan_along(number / 4, NDR_SUM, number % 4);
    ndr_scan_options options = NDR_SCAN_OPTIONS_INIT;
    options.exclusive = scan.exclusive;
    options.reverse = scan.reverse;
    assert_ok(ndr_scan(&array, scan.dim, NDR_SUM, &result, &options));
    for (int b = 0; b < 2; b++) {
      memset(sums, 7, sizeof sums);
      assert_ok(scan_to(integers, &scan, budgets[b], b + 1, sums));
      ck_assert(memcmp(sums, expected, sizeof sums) == 0);
      if (budgets[b]) ck_assert_int_gt(slabs_of_last, 8);
    }
  }
}
END_TEST

/* Each place has the f64 sum, rounded once; its last bit may differ where that is near the middle of two floats. */
START_TEST(floats_are_rounded_once_whatever_memory_and_threads_there_are) {
  const ndr_h5_scan scan = scan_along(0, NDR_SUM, 0);
  int differ = 0;
  assert_ok(scan_to(floats, &scan, 0, 1, found));
  for (int i = 0; i < ROWS * COLUMNS; i++) {
    double sum = 0;
    for (int t = 0; t < STEPS; t++) {
      sum += (double)x[t * ROWS * COLUMNS + i];
      differ += found[t * ROWS * COLUMNS + i] != (float)sum;
    }
  }
  ck_assert_int_eq(differ, 0);
  for (int number = 0; number < 4 * 3; number++) {
    const ndr_h5_scan any = scan_along(number / 4, NDR_SUM, number % 4);
    assert_ok(scan_to(floats, &any, 0, 3, found));
    assert_ok(scan_to(floats, &any, 5 << 20, 1, other));
    ck_assert(memcmp(found, other, sizeof found) == 0);
  }
}
END_TEST

/* ---- Words ------------------------------------------------------------------------------------------------------- */

static ndr_running running_of(ndr_op op, ndr_dtype from, ndr_dtype to) {
  ndr_running r = {.op = op};
  ndr_running_settle(&r, from, to, false);
  return r;
}

static bool is_nan16(uint16_t bits, uint16_t infinity) {
  return (bits & 0x7fff) > infinity;
}

static void check_every_float(ndr_dtype dtype, uint16_t infinity) {
  const ndr_running r = running_of(NDR_SUM, dtype, dtype);
  for (uint32_t bits = 0; bits < 0x10000; bits++) {
    uint16_t bits16 = (uint16_t)bits;
    double word;
    ndr_running_load(&r, &bits16, 1, NULL, &word, NULL);
    double between = word;
    ndr_running_store(&r, &word, 1);
    uint16_t back;
    memcpy(&back, &word, sizeof back);
    ck_assert(back == bits16 || (is_nan16(back, infinity) && is_nan16(bits16, infinity)));
    if ((bits16 & 0x7fff) >= infinity - 1) continue;
    uint16_t next = (uint16_t)(bits16 + 1), even = bits16 & 1 ? next : bits16;
    double above;
    ndr_running_load(&r, &next, 1, NULL, &above, NULL);
    double middle = (between + above) / 2;
    ndr_running_store(&r, &middle, 1);
    memcpy(&back, &middle, sizeof back);
    ck_assert_uint_eq(back, even);
  }
}

START_TEST(floats_of_16_bits_come_back_and_round_to_even) {
  check_every_float(NDR_F16, 0x7c00);
  check_every_float(NDR_BF16, 0x7f80);
  const ndr_running r = running_of(NDR_SUM, NDR_F16, NDR_F16);
  double large = 65520;
  uint16_t bits;
  ndr_running_store(&r, &large, 1);
  memcpy(&bits, &large, sizeof bits);
  ck_assert_uint_eq(bits, 0x7c00);
}
END_TEST

/* Longer than a block, so that results of one do not overwrite words of the next. */
START_TEST(integers_come_back_from_their_words) {
  static const ndr_dtype dtypes[] = {NDR_BOOL, NDR_I8, NDR_I16, NDR_I32, NDR_I64, NDR_U8, NDR_U16, NDR_U32, NDR_U64};
  enum { COUNT = 3000 };
  static uint8_t elements[8 * COUNT];
  static int64_t words[COUNT];
  for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
    const ndr_running r = running_of(NDR_MAX, dtypes[k], dtypes[k]);
    size_t bytes = ndr_dtype_bytes(dtypes[k]);
    for (size_t i = 0; i < COUNT * bytes; i++) elements[i] = (uint8_t)(dtypes[k] == NDR_BOOL ? i & 1 : i * 37);
    ndr_running_load(&r, elements, COUNT, NULL, words, NULL);
    ndr_running_store(&r, words, COUNT);
    ck_assert(memcmp(words, elements, COUNT * bytes) == 0);
  }
}
END_TEST

START_TEST(elements_that_do_not_count_are_the_word_of_none) {
  ndr_running r = {.op = NDR_PROD, .skip = true};
  const float elements[] = {2, NAN, 5};
  const uint8_t keep[] = {0, 1, 1};
  double words[3];
  uint8_t valid[3];
  ndr_running_settle(&r, NDR_F32, NDR_F32, true);
  ck_assert(r.marks);
  ndr_running_load(&r, elements, 3, keep, words, valid);
  ck_assert(words[0] == 1 && words[1] == 1 && words[2] == 5);
  ck_assert(!valid[0] && !valid[1] && valid[2]);
}
END_TEST

/* ---- Refusals ---------------------------------------------------------------------------------------------------- */

START_TEST(what_is_no_scan_is_refused) {
  ndr_h5_scan scan = scan_along(0, NDR_MEAN, 0);
  assert_fails(scan_to(floats, &scan, 0, 1, found), NDR_ERR_OP, "mean has no scan");
  scan = scan_along(3, NDR_SUM, 0);
  assert_fails(scan_to(floats, &scan, 0, 1, found), NDR_ERR_DIMS, "dim");
  scan = scan_along(0, NDR_SUM, 0);
  scan.size = 1;
  assert_fails(scan_to(floats, &scan, 0, 1, found), NDR_ERR_ARGUMENT, "size");
  assert_fails(scan_to(floats, NULL, 0, 1, found), NDR_ERR_ARGUMENT, "null");
  assert_fails(scan_to(floats, &(ndr_h5_scan)NDR_H5_SCAN_INIT, 100, 1, found), NDR_ERR_MEMORY,
               "ndr_h5_options.memory of");
  scan = scan_along(0, NDR_SUM, 0);
  ndr_h5_options how = NDR_H5_OPTIONS_INIT;
  DLTensor weights = ndr_tensor(sums, NDR_F64, NDR_SHAPE(STEPS));
  DLTensor result = ndr_tensor(found, NDR_F32, NDR_SHAPE(STEPS, ROWS, COLUMNS));
  how.weights = &weights;
  how.weight_dims = (int[]){0};
  assert_fails(ndr_h5_scan_to(floats, &scan, &result, &how), NDR_ERR_ARGUMENT, "scans have no weights");
  DLTensor wrong = ndr_tensor(found, NDR_F32, NDR_SHAPE(STEPS, ROWS));
  assert_fails(ndr_h5_scan_to(floats, &scan, &wrong, NULL), NDR_ERR_RESULT, "the shape");
}
END_TEST

/* ---- The writer -------------------------------------------------------------------------------------------------- */

static void read_back(const char *name, void *data, ndr_dtype dtype) {
  ndr_h5_dataset *dataset;
  DLTensor result = ndr_tensor(data, dtype, NDR_SHAPE(STEPS, ROWS, COLUMNS)), *results[] = {&result};
  ndr_problem problem = NDR_PROBLEM_INIT;
  assert_ok(ndr_h5_open(&dataset, h5_output, name, NULL));
  assert_ok(ndr_h5_problem(&problem, dataset, 0, NULL, 1, (ndr_op[]){NDR_MAX}));
  assert_ok(ndr_h5_reduce(dataset, &problem, results, NULL));
  ndr_h5_close(dataset);
}

/* In memory, and on disk, with a result that is added whole before and after. */
START_TEST(scans_are_written_as_they_come) {
  const ndr_h5_scan scan = scan_along(1, NDR_SUM, 2);
  assert_ok(scan_to(floats, &scan, 0, 1, other));
  for (int round = 0; round < 2; round++) {
    ndr_h5_writer *writer;
    ndr_h5_options how = NDR_H5_OPTIONS_INIT;
    ndr_h5_writer_options options = NDR_H5_WRITER_OPTIONS_INIT;
    ndr_problem problem = NDR_PROBLEM_INIT;
    float most = 1;
    const DLTensor whole = ndr_tensor(&most, NDR_F32, 0, NULL);
    how.memory = round ? 8 << 20 : (int64_t)1 << 30;
    options.overwrite = 1;
    assert_ok(ndr_h5_problem(&problem, floats, NDR_ALL_DIMS, 1, (ndr_op[]){NDR_MAX}));
    assert_ok(ndr_h5_writer_create(&writer, h5_output, 0, NULL, &options));
    assert_ok(ndr_h5_writer_add(writer, floats, &problem, 0, "before", &whole));
    assert_ok(ndr_h5_writer_add_scan(writer, floats, &scan, "sums", &how));
    assert_fails(ndr_h5_writer_add_scan(writer, floats, &scan, "sums", &how), NDR_ERR_FILE, "two datasets called sums");
    if (round) assert_fails(ndr_h5_writer_commit_bytes(writer, "", 0), NDR_ERR_ARGUMENT, "written to it already");
    assert_ok(ndr_h5_writer_add(writer, floats, &problem, 0, "after", &whole));
    assert_ok(ndr_h5_writer_commit(writer));
    ndr_h5_writer_destroy(writer);
    read_back("/sums", found, NDR_F32);
    ck_assert(memcmp(found, other, sizeof found) == 0);
  }
}
END_TEST

static int stop_late(void *user, int64_t bytes, int64_t total_bytes) {
  *(bool *)user |= bytes < total_bytes;
  return bytes > total_bytes / 2;
}

START_TEST(a_stopped_writer_leaves_nothing) {
  ndr_h5_writer *writer;
  const ndr_h5_scan scan = scan_along(0, NDR_SUM, 0);
  ndr_h5_options how = NDR_H5_OPTIONS_INIT;
  ndr_h5_writer_options options = NDR_H5_WRITER_OPTIONS_INIT;
  bool told = false;
  how.memory = 8 << 20;
  remove(h5_output);
  options.on_progress = stop_late;
  options.user = &told;
  assert_ok(ndr_h5_writer_create(&writer, h5_output, 0, NULL, &options));
  assert_fails(ndr_h5_writer_add_scan(writer, floats, &scan, "sums", &how), NDR_ERR_CANCELLED, "stopped");
  assert_fails(ndr_h5_writer_commit(writer), NDR_ERR_CANCELLED, "stopped");
  ndr_h5_writer_destroy(writer);
  ck_assert(told && fopen(h5_output, "rb") == NULL);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("h5 scan");
  TCase *scans = tcase_create("scans");
  tcase_add_checked_fixture(scans, start, finish);
  tcase_set_timeout(scans, 120);
  tcase_add_test(scans, integers_are_those_of_an_array_in_memory);
  tcase_add_test(scans, floats_are_rounded_once_whatever_memory_and_threads_there_are);
  tcase_add_test(scans, what_is_no_scan_is_refused);
  tcase_add_test(scans, scans_are_written_as_they_come);
  tcase_add_test(scans, a_stopped_writer_leaves_nothing);
  suite_add_tcase(suite, scans);
  suite_case(suite, "words", 60, floats_of_16_bits_come_back_and_round_to_even, integers_come_back_from_their_words,
             elements_that_do_not_count_are_the_word_of_none, NULL);
  return suite_run(suite);
}
