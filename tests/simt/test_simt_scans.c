/* Scans under emulation, against definitions: every kernel, but those of test_simt_strips.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "ndreduce/operator.h"
#include "ndreduce/scan.h"
#include "runtime/control.h"
#include "scan_trials.h"
#include "support/operators.h"
#include "support/suite.h"

static const char *const families[] = {NULL, "lines", "columns"};

static void place(scan_trial *t, rng *random, int device) {
  size_t alignment = ndr_dtype_alignment(t->given.array.dtype);
  t->array.host = t->given.array;
  device_array_of(&t->array, device, rng_once_in(random, 2) ? alignment : 0);
  assert_ok(scan_result(&t->given, &t->result.host, rng_once_in(random, 2) ? random : NULL));
  device_array_of(&t->result, device, 0);
}

/* Each of these costs a compilation. */
START_TEST(scans_agree_with_their_definitions) {
  rng random = {test_seed() + 31 * (uint64_t)_i};
  int cases = test_case_count(30);
  for (int number = 0; number < cases; number++) {
    scan_trial t;
    scan_random(&t.given, &random, rng_once_in(&random, 3) ? 40000 : 9000);
    place(&t, &random, (int)rng_between(&random, 0, 2));
    t.given.options.force_family = families[_i];
    simt_controls.order = rng_once_in(&random, 4) ? 0 : rng_next(&random);
    ndr_status status = scan_trial_run(&t);
    ck_assert_msg(status == NDR_OK || (_i == 2 && status == NDR_ERR_UNSUPPORTED), "case %d: %s: %s", number,
                  t.given.text, ndr_last_error());
    if (status == NDR_OK) scan_trial_check(&t, number);
    scan_trial_finish(&t);
  }
}
END_TEST

/* ---- given shapes ---- */

/* A compact array of `dtype`, small numbers that are not negative where `rises`, and a result. */
static void make(scan_trial *t, rng *random, ndr_dtype dtype, int ndim, const int64_t *shape, int dim, ndr_op op,
                 bool rises) {
  memset(t, 0, sizeof *t);
  t->given.dim = dim;
  t->given.op = op;
  t->given.options = (ndr_scan_options)NDR_SCAN_OPTIONS_INIT;
  array_make(&t->given.array, dtype, ndim, shape, NULL);
  array_fill(&t->given.array, random, FILL_WIDE);
  if (rises) {
    double *x = t->given.array.tensor.data; /* f64 */
    for (size_t i = 0; i < t->given.array.bytes / 8; i++) x[i] = ldexp(fabs(x[i]), (int)rng_between(random, -30, 30));
  }
  snprintf(t->given.text, sizeof t->given.text, "%s %s of %lld lines or so along %d", ndr_op_name(op),
           ndr_dtype_name(dtype), (long long)shape[0], dim);
  t->array.host = t->given.array;
  device_array_of(&t->array, scan_machine, 0);
  assert_ok(scan_result(&t->given, &t->result.host, NULL));
  device_array_of(&t->result, scan_machine, 0);
}

/* Each size is that of a thread, of a tile or of several, and those beside it. */
START_TEST(sizes_around_tiles) {
  static const int64_t sizes[] = {1,    2,    3,    15,   16,   17,   511,   512,    513,
                                  4095, 4096, 4097, 6143, 6145, 8192, 12289, 131072, 135169};
  rng random = {test_seed()};
  scan_machine = _i ? 2 : 0;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    scan_trial t;
    make(&t, &random, NDR_F32, NDR_SHAPE(sizes[i]), 0, NDR_SUM, false);
    assert_ok(scan_trial_run(&t));
    scan_trial_check(&t, (int)i);
    scan_trial_finish(&t);
  }
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    scan_trial t;
    int64_t columns = sizes[i] > 600 ? 3 : 33;
    make(&t, &random, NDR_F32, NDR_SHAPE(sizes[i], columns), 0, NDR_SUM, false);
    t.given.options.force_family = sizes[i] > 1 ? "columns" : NULL;
    assert_ok(scan_trial_run(&t));
    scan_trial_check(&t, (int)i);
    scan_trial_finish(&t);
  }
  scan_machine = 0;
}
END_TEST

/* Neighbouring lines, as one line of longer elements, of every size and from every boundary. */
START_TEST(neighbours_are_one_element) {
  static const struct {
    ndr_op op;
    ndr_dtype dtype;
  } cases[] = {{NDR_MAX, NDR_U8},  {NDR_SUM, NDR_U8},  {NDR_SUM, NDR_BF16}, {NDR_MIN, NDR_I16},
               {NDR_SUM, NDR_F32}, {NDR_SUM, NDR_C64}, {NDR_PROD, NDR_F64}, {NDR_ANY, NDR_BOOL}};
  rng random = {test_seed()};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    scan_trial t;
    int64_t columns = rng_between(&random, 2, 4), rows = rng_between(&random, 5000, 7000);
    memset(&t, 0, sizeof t);
    t.given.op = cases[i].op;
    t.given.options = (ndr_scan_options)NDR_SCAN_OPTIONS_INIT;
    t.given.options.exclusive = rng_once_in(&random, 3);
    t.given.options.force_family = "lines";
    array_make(&t.given.array, cases[i].dtype, NDR_SHAPE(rows, columns), NULL);
    array_fill(&t.given.array, &random, FILL_SMALL);
    snprintf(t.given.text, sizeof t.given.text, "%s %s [%lld,%lld] along 0", ndr_op_name(t.given.op),
             ndr_dtype_name(cases[i].dtype), (long long)rows, (long long)columns);
    t.array.host = t.given.array;
    device_array_of(&t.array, 0, ndr_dtype_alignment(cases[i].dtype) * (size_t)rng_between(&random, 0, 3));
    assert_ok(scan_result(&t.given, &t.result.host, NULL));
    device_array_of(&t.result, 0, 0);
    assert_ok(scan_trial_run(&t));
    scan_trial_check(&t, (int)i);
    scan_trial_finish(&t);
  }
}
END_TEST

/* Rows that begin anywhere between two sectors: whole ones in a tile, and longer ones. */
START_TEST(rows_begin_anywhere) {
  static const int64_t lengths[] = {5, 63, 257, 1001, 2047, 4093, 4095, 4097, 6143, 6145, 8190, 12289, 40961};
  rng random = {test_seed() + (uint64_t)_i};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
    scan_trial_anywhere(&random, ((const int64_t[]){1, lengths[i] < 1000 ? 100 : 7, lengths[i]}), 2, "lines", (int)i);
}
END_TEST

/* Lines that fill their tiles with the elements that they lead with, and would with one element more: whole lines in
 * tiles of 2048, and lines of several tiles. */
START_TEST(leads_fill_the_tile) {
  static const int64_t shapes[][2] = {{9, 2044}, {9, 2041}, {3, 2048}, {1, 4089}, {1, 4096}};
  rng random = {test_seed()};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    for (size_t off = 0; off < 8; off++) {
      scan_trial t;
      make(&t, &random, NDR_F32, 2, shapes[i], 1, NDR_SUM, false);
      simt_release(t.array.memory);
      device_array_of(&t.array, scan_machine, off * sizeof(float));
      assert_ok(scan_trial_run(&t));
      scan_trial_check(&t, (int)off);
      ck_assert(scan_trial_has(&t, shapes[i][0] > 1 ? "8 elements a thread" : "2 tiles of 2048 elements"));
      scan_trial_finish(&t);
    }
}
END_TEST

/* Of f64 the last bits do not depend on where rows begin. */
START_TEST(bits_do_not_depend_on_addresses) {
  static const int64_t lengths[] = {63, 1001, 9001};
  rng random = {test_seed()};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    scan_trial t;
    test_array first;
    make(&t, &random, NDR_F64, NDR_SHAPE(5, lengths[i]), 1, NDR_SUM, false);
    assert_ok(scan_result(&t.given, &first, NULL));
    for (size_t off = 0; off < 4; off++) {
      device_array other;
      other.host = t.given.array;
      device_array_of(&other, scan_machine, off * sizeof(double));
      const DLTensor before = t.array.tensor;
      t.array.tensor = other.tensor;
      assert_ok(scan_trial_run(&t));
      scan_trial_check(&t, (int)off);
      if (off == 0) memcpy(first.memory, t.result.host.memory, first.bytes);
      ck_assert_msg(scan_same(&first.tensor, &t.result.host.tensor), "other bits at offset %zu", off);
      t.array.tensor = before;
      simt_release(other.memory);
    }
    array_free(&first);
    scan_trial_finish(&t);
  }
}
END_TEST

/* More tiles than a group has, and, where there are groups of groups, more than one of those: ones are counted. */
START_TEST(tiles_are_counted_over_groups) {
  static const struct {
    ndr_dtype dtype;
    int64_t rows, columns;
    const char *family;
  } cases[] = {{NDR_F32, 1100003, 1, "lines"},
               {NDR_F64, 300007, 2, "lines"},
               {NDR_C128, 270001, 5, "columns"},
               {NDR_F32, 2200003, 1, "streams"}};
  const int64_t shape[2] = {cases[_i].rows, cases[_i].columns};
  scan_trial t;
  memset(&t, 0, sizeof t);
  t.given.op = NDR_SUM;
  t.given.options = (ndr_scan_options)NDR_SCAN_OPTIONS_INIT;
  t.given.options.force_family = cases[_i].family;
  array_make(&t.given.array, cases[_i].dtype, 2, shape, NULL);
  ndr_dtype dtype = cases[_i].dtype;
  for (int64_t n = 0; n < shape[0] * shape[1]; n++)
    element_store(dtype, (char *)t.given.array.tensor.data + n * (int64_t)ndr_dtype_bytes(dtype), (element){1, 0});
  t.array.host = t.given.array;
  device_array_of(&t.array, 0, 0);
  assert_ok(scan_result(&t.given, &t.result.host, NULL));
  device_array_of(&t.result, 0, 0);
  assert_ok(scan_trial_run(&t));
  device_fetch(&t.result);
  for (int64_t n = 0; n < shape[0] * shape[1]; n++) {
    element x = element_load(dtype, (char *)t.result.host.tensor.data + n * (int64_t)ndr_dtype_bytes(dtype));
    const int64_t ones = n / shape[1] + 1;
    ck_assert_msg(x.re == (double)ones, "place %lld is %Lg", (long long)n, x.re);
  }
  scan_trial_finish(&t);
}
END_TEST

/* Many tiles a line, several lines a tile, and columns, in other orders of warps and threads each time. */
START_TEST(bits_repeat_and_sums_rise) {
  static const struct {
    int ndim, dim;
    int64_t shape[2];
  } cases[] = {{1, 0, {150000}}, {2, 1, {50, 37}}, {2, 0, {9000, 5}}, {2, 1, {3, 5000}}};
  rng random = {test_seed()};
  scan_trial t;
  make(&t, &random, NDR_F64, cases[_i].ndim, cases[_i].shape, cases[_i].dim, NDR_SUM, true);
  test_array first;
  assert_ok(scan_result(&t.given, &first, NULL));
  for (int turn = 0; turn < 3; turn++) {
    simt_controls.order = turn ? rng_next(&random) : 0;
    assert_ok(scan_trial_run(&t));
    scan_trial_check(&t, turn);
    if (turn == 0) memcpy(first.memory, t.result.host.memory, first.bytes);
    ck_assert_msg(scan_same(&first.tensor, &t.result.host.tensor), "other bits in turn %d", turn);
  }
  int64_t length = cases[_i].shape[cases[_i].dim],
          step = cases[_i].ndim == 2 && cases[_i].dim == 0 ? cases[_i].shape[1] : 1,
          lines = (int64_t)(first.bytes / 8) / length;
  const double *sums = first.tensor.data;
  for (int64_t l = 0; l < lines; l++) {
    const double *line = sums + (step > 1 ? l : l * length);
    for (int64_t i = 1; i < length; i++)
      ck_assert_msg(line[i * step] >= line[(i - 1) * step], "the sum falls at place %lld of line %lld", (long long)i,
                    (long long)l);
  }
  array_free(&first);
  simt_controls.order = 0;
  scan_trial_finish(&t);
}
END_TEST

START_TEST(results_may_take_the_place_of_the_array) {
  static const struct {
    int64_t shape[2];
    ndr_dtype dtype;
    int machine;
    const char *words; /* of the plan along dim 0 */
  } cases[] = {{{3, 9000}, NDR_F64, 0, ""},
               {{700, 11}, NDR_F64, 0, ""},
               {{9000, 3}, NDR_F64, 0, ""},
               {{300, 1601}, NDR_F64, 0, ""},
               {{90, 2002}, NDR_F64, 0, ""},
               {{150, 1601}, NDR_F32, 1, "shifted strips"},
               {{400000, 3}, NDR_F32, 1, "scan_streams"}};
  rng random = {test_seed()};
  scan_machine = cases[_i].machine;
  for (int dim = 0; dim < 2; dim++) {
    simt_controls.order = rng_next(&random);
    scan_trial t;
    make(&t, &random, cases[_i].dtype, 2, cases[_i].shape, dim, NDR_SUM, false);
    ck_assert(dim > 0 || scan_trial_has(&t, cases[_i].words));
    memcpy(t.result.memory, t.array.host.memory, t.array.host.bytes);
    simt_release(t.array.memory);
    t.array.memory = t.result.memory;
    t.array.tensor.data = t.result.tensor.data;
    assert_ok(scan_trial_run(&t));
    scan_trial_check(&t, dim);
    array_free(&t.array.host);
    device_free(&t.result);
  }
  scan_machine = 0;
  simt_controls.order = 0;
}
END_TEST

/* ---- operators of one's own ---- */

static const char *const texts[] = {
    "mean(x): s += x, n += 1 -> s / n",
    "pair(x, y): s += x * y, m max= y - x, p += index(1) -> s + p * m",
    "many(x; c): a += c * x, b += x * x, n += 1, l min= x, h max= x -> sqrt(b / n) + a + h - l",
    "some(x): n += x > 0, h |= x > 3 -> h ? n : -n",
};

/* An array of f32 and a second one, and how many bytes behind a boundary they begin. */
typedef struct own_arrays {
  int64_t shape[2], second[2];
  ndr_dtype second_dtype;
  size_t off, second_off;
} own_arrays;

static void check_own(const own_arrays *own, const char *text, bool second, int dim, const ndr_scan_options *given) {
  rng random = {test_seed()};
  double parameter = 0.5;
  device_array array, beside, result;
  test_array expected;
  ndr_op op;
  assert_ok(ndr_operator_create(&op, text, &parameter, strchr(text, ';') != NULL));
  array_make(&array.host, NDR_F32, 2, own->shape, NULL);
  array_make(&beside.host, own->second_dtype, 2, own->second, NULL);
  array_fill(&array.host, &random, FILL_SMALL);
  array_fill(&beside.host, &random, FILL_SMALL);
  device_array_of(&array, 1, own->off), device_array_of(&beside, 1, own->second_off);
  const DLTensor *on_host[] = {&beside.host.tensor}, *on_device[] = {&beside.tensor};
  scan_case form = {.array = array.host, .dim = dim, .op = op, .options = *given};
  form.options.with = second ? on_host : NULL;
  form.options.with_count = second;
  assert_ok(scan_result(&form, &expected, NULL));
  assert_ok(scan_result(&form, &result.host, NULL));
  device_array_of(&result, 1, 0);
  assert_ok(ndr_scan(&array.host.tensor, dim, op, &expected.tensor, &form.options));
  form.options.with = second ? on_device : NULL;
  assert_ok(ndr_scan(&array.tensor, dim, op, &result.tensor, &form.options));
  device_fetch(&result);
  char why[512] = "";
  ck_assert_msg(results_agree(&result.host.tensor, &expected.tensor, 64, why, sizeof why), "%s along %d: %s", text, dim,
                why);
  ck_assert(!simt_guards_broken());
  ndr_operator_destroy(op);
  device_free(&array), device_free(&beside), device_free(&result);
  array_free(&expected);
}

START_TEST(own_operators_agree_with_the_cpu) {
  const own_arrays own = {{300, 41}, {1, 41}, NDR_I16, 0, 0};
  bool second = strstr(texts[_i], ", y)") != NULL;
  check_own(&own, texts[_i], second, 1, NDR_SCAN_OPTIONS(.exclusive = 0));
  check_own(&own, texts[_i], second, 0, NDR_SCAN_OPTIONS(.exclusive = 1));
  check_own(&own, texts[_i], second, NDR_SCAN_ALL, NDR_SCAN_OPTIONS(.include_initial = 1, .reverse = 1));
}
END_TEST

/* Two arrays that begin at different places between boundaries of vectors: along rows, and down strips of packed
 * columns. */
START_TEST(arrays_begin_apart) {
  static const ndr_dtype dtypes[] = {NDR_F32, NDR_I16, NDR_U8};
  static const size_t offs[][2] = {{0, 1}, {1, 0}, {1, 2}, {3, 3}};
  for (size_t i = 0; i < sizeof offs / sizeof *offs; i++) {
    own_arrays own = {{40, 1600}, {40, 1600}, dtypes[_i], offs[i][0] * sizeof(float), 0};
    own.second_off = offs[i][1] * ndr_dtype_alignment(dtypes[_i]);
    for (int dim = 0; dim < 2; dim++)
      check_own(&own, "dot(x, y): s += x * y -> s", true, dim, NDR_SCAN_OPTIONS(.exclusive = dim));
  }
}
END_TEST

/* ---- the library ---- */

static ndr_status run_any(void *t) {
  return scan_trial_run(t);
}

/* Whatever call of the runtime fails, nothing is left but the kept workspace, and the next attempt is right. */
START_TEST(failures_leave_nothing_behind) {
  rng random = {test_seed()};
  scan_trial t;
  make(&t, &random, NDR_F32, NDR_SHAPE(20000), 0, NDR_SUM, false);
  fail_every_call(run_any, &t);
  assert_ok(scan_trial_run(&t));
  scan_trial_check(&t, 0);
  scan_trial_finish(&t);
}
END_TEST

/* The caller's workspace may hold anything, and a plan outlives its operator. */
START_TEST(plans_take_a_workspace) {
  rng random = {test_seed()};
  scan_trial t;
  ndr_scan_plan *plan;
  char text[2048];
  make(&t, &random, NDR_F32, NDR_SHAPE(20000), 0, NDR_SUM, false);
  assert_ok(ndr_scan_plan_create(&plan, &t.array.tensor, 0, NDR_SUM, &t.result.tensor, NULL));
  ndr_scan_plan_describe(plan, text, sizeof text);
  ck_assert_msg(strstr(text, "lines   1 lines x 20000, scan_lines, 10 tiles of 2048 elements a line, 8 a thread") &&
                    strstr(text, "columns rejected: no lines lie side by side"),
                "%s", text);
  size_t bytes = ndr_scan_plan_workspace(plan);
  ck_assert_uint_gt(bytes, 0);
  void *workspace = simt_allocate(bytes, 0);
  int blocks = simt_living_blocks();
  for (int turn = 0; turn < 2; turn++) {
    memset(workspace, turn ? 0xff : 0, bytes);
    assert_ok(ndr_scan_plan_execute(plan, (const void *[]){t.array.tensor.data}, t.result.tensor.data, workspace, bytes,
                                    NULL));
    scan_trial_check(&t, turn);
  }
  ck_assert_int_eq(simt_living_blocks(), blocks);
  simt_release(workspace);
  ndr_scan_plan_destroy(plan);
  scan_trial_finish(&t);
}
END_TEST

START_TEST(families_are_chosen_by_layout) {
  static const struct {
    int64_t shape[2];
    int dim;
    const char *family;
  } cases[] = {{{16384, 16384}, 0, "\ncolumns 16384 lines"}, {{16384, 16384}, 1, "\nlines   16384 lines"},
               {{1 << 20, 3}, 1, "\nlines   1048576 lines"}, {{1 << 20, 3}, 0, "\nstreams 3 lines x 1048576"},
               {{1 << 20, 12}, 0, "\nstreams 12 lines"},     {{1 << 20, 256}, 0, "\ncolumns 256 lines"},
               {{1 << 20, 70}, 0, "\nbands   70 lines"},     {{256, 1 << 18}, 0, "\ncolumns 262144 lines"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    DLTensor array = ndr_tensor(NULL, NDR_F32, NDR_SHAPE(cases[i].shape[0], cases[i].shape[1]));
    ndr_scan_plan *plan;
    char text[2048];
    array.device = (DLDevice){kDLCUDA, 1};
    assert_ok(ndr_scan_plan_create(&plan, &array, cases[i].dim, NDR_SUM, NULL, NULL));
    ndr_scan_plan_describe(plan, text, sizeof text);
    ck_assert_msg(strstr(text, cases[i].family) != NULL, "case %zu: %s", i, text);
    ndr_scan_plan_destroy(plan);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("scans on the emulated GPU");
  TCase *cases = tcase_create("scans");
  tcase_set_timeout(cases, 900);
  tcase_add_loop_test(cases, scans_agree_with_their_definitions, 0, 3);
  tcase_add_loop_test(cases, sizes_around_tiles, 0, 2);
  tcase_add_test(cases, neighbours_are_one_element);
  tcase_add_loop_test(cases, rows_begin_anywhere, 0, test_share() > 1 ? 1 : 4);
  tcase_add_test(cases, leads_fill_the_tile);
  tcase_add_test(cases, bits_do_not_depend_on_addresses);
  tcase_add_loop_test(cases, tiles_are_counted_over_groups, 0,
                      test_share() > 1 ? 1 : 4); /* up to 2 million elements each */
  tcase_add_loop_test(cases, bits_repeat_and_sums_rise, 0, 4);
  tcase_add_loop_test(cases, results_may_take_the_place_of_the_array, 0, 7);
  tcase_add_loop_test(cases, own_operators_agree_with_the_cpu, 0, (int)(sizeof texts / sizeof *texts));
  tcase_add_loop_test(cases, arrays_begin_apart, 0, 3);
  tcase_add_test(cases, failures_leave_nothing_behind);
  tcase_add_test(cases, plans_take_a_workspace);
  tcase_add_test(cases, families_are_chosen_by_layout);
  suite_add_tcase(suite, cases);
  return suite_run(suite);
}
