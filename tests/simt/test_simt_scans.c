/* Scans under emulation: every kernel, against definitions. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drive.h"
#include "memory.h"
#include "ndreduce/operator.h"
#include "ndreduce/scan.h"
#include "runtime/control.h"
#include "support/operators.h"
#include "support/scans.h"
#include "support/suite.h"

static const char *const families[] = {NULL, "lines", "columns"};

/* A case on the device. */
typedef struct trial {
  scan_case given;
  device_array array, result;
} trial;

static void place(trial *t, rng *random, int device) {
  size_t alignment = ndr_dtype_alignment(t->given.array.dtype);
  t->array.host = t->given.array;
  device_array_of(&t->array, device, rng_once_in(random, 2) ? alignment : 0);
  assert_ok(scan_result(&t->given, &t->result.host, rng_once_in(random, 2) ? random : NULL));
  device_array_of(&t->result, device, 0);
}

static ndr_status run(trial *t) {
  return ndr_scan(&t->array.tensor, t->given.dim, t->given.op, &t->result.tensor, &t->given.options);
}

static void finish(trial *t) {
  device_free(&t->result);
  device_free(&t->array); /* the case's array, too */
}

static void check(trial *t, int number) {
  char why[512] = "";
  device_fetch(&t->result);
  ck_assert_msg(scan_accepts(&t->given, &t->result.host.tensor, why, sizeof why), "case %d: %s: %s", number,
                t->given.text, why);
  ck_assert_msg(array_gaps_untouched(&t->result.host), "case %d: %s: written between results", number, t->given.text);
  ck_assert_msg(!simt_guards_broken(), "case %d: %s: something was written outside the arrays", number, t->given.text);
}

/* Each of these costs a compilation. */
START_TEST(scans_agree_with_their_definitions) {
  rng random = {test_seed() + 31 * (uint64_t)_i};
  int cases = test_case_count(30);
  for (int number = 0; number < cases; number++) {
    trial t;
    scan_random(&t.given, &random, rng_once_in(&random, 3) ? 40000 : 9000);
    place(&t, &random, (int)rng_between(&random, 0, 2));
    t.given.options.force_family = families[_i];
    simt_controls.order = rng_once_in(&random, 4) ? 0 : rng_next(&random);
    ndr_status status = run(&t);
    ck_assert_msg(status == NDR_OK || (_i == 2 && status == NDR_ERR_UNSUPPORTED), "case %d: %s: %s", number,
                  t.given.text, ndr_last_error());
    if (status == NDR_OK) check(&t, number);
    finish(&t);
  }
}
END_TEST

/* ---- given shapes ---- */

/* The device that `make` puts arrays on: 2 is a large new one, where long lines have larger blocks. */
static int machine;

/* A compact array of `dtype`, small numbers that are not negative where `rises`, and a result. */
static void make(trial *t, rng *random, ndr_dtype dtype, int ndim, const int64_t *shape, int dim, ndr_op op,
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
  device_array_of(&t->array, machine, 0);
  assert_ok(scan_result(&t->given, &t->result.host, NULL));
  device_array_of(&t->result, machine, 0);
}

/* Each size is that of a thread, of a tile or of several, and those beside it. */
START_TEST(sizes_around_tiles) {
  static const int64_t sizes[] = {1,    2,    3,    15,   16,   17,   511,   512,    513,
                                  4095, 4096, 4097, 6143, 6145, 8192, 12289, 131072, 135169};
  rng random = {test_seed()};
  machine = _i ? 2 : 0;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    trial t;
    make(&t, &random, NDR_F32, NDR_SHAPE(sizes[i]), 0, NDR_SUM, false);
    assert_ok(run(&t));
    check(&t, (int)i);
    finish(&t);
  }
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    trial t;
    int64_t columns = sizes[i] > 600 ? 3 : 33;
    make(&t, &random, NDR_F32, NDR_SHAPE(sizes[i], columns), 0, NDR_SUM, false);
    t.given.options.force_family = sizes[i] > 1 ? "columns" : NULL;
    assert_ok(run(&t));
    check(&t, (int)i);
    finish(&t);
  }
  machine = 0;
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
    trial t;
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
    assert_ok(run(&t));
    check(&t, (int)i);
    finish(&t);
  }
}
END_TEST

/* Whether the description of a plan has these words. */
static bool is_planned(const DLTensor *array, int dim, ndr_op op, const ndr_scan_options *options, const char *words) {
  ndr_scan_plan *plan;
  char text[2048];
  assert_ok(ndr_scan_plan_create(&plan, array, dim, op, NULL, options));
  ndr_scan_plan_describe(plan, text, sizeof text);
  ndr_scan_plan_destroy(plan);
  return strstr(text, words) != NULL;
}

static bool has(const trial *t, const char *words) {
  return is_planned(&t->array.tensor, t->given.dim, t->given.op, &t->given.options, words);
}

/* A compact array from any boundary on. Returns whether blocks had whole columns. */
static bool scan_from_anywhere(rng *random, const int64_t shape[3], int dim, const char *family, int number) {
  trial t;
  scan_compact(&t.given, random, shape, dim, family);
  t.array.host = t.given.array;
  const size_t off = (size_t)rng_between(random, 0, 3);
  device_array_of(&t.array, machine, off * ndr_dtype_alignment(t.given.array.dtype));
  assert_ok(scan_result(&t.given, &t.result.host, NULL));
  device_array_of(&t.result, machine, rng_once_in(random, 2) ? off * ndr_dtype_alignment(t.result.host.dtype) : 0);
  simt_controls.order = rng_once_in(random, 2) ? 0 : rng_next(random);
  assert_ok(run(&t));
  check(&t, number);
  const bool strips = has(&t, machine == 1 ? "shifted strips" : "strips");
  finish(&t);
  simt_controls.order = 0;
  return strips;
}

/* Rows that begin anywhere between two sectors: whole ones in a tile, and longer ones. */
START_TEST(rows_begin_anywhere) {
  static const int64_t lengths[] = {5, 63, 257, 1001, 2047, 4093, 4095, 4097, 6143, 6145, 8190, 12289, 40961};
  rng random = {test_seed() + (uint64_t)_i};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
    scan_from_anywhere(&random, ((const int64_t[]){1, lengths[i] < 1000 ? 100 : 7, lengths[i]}), 2, "lines", (int)i);
}
END_TEST

/* Lines that fill their tiles with the elements that they lead with, and would with one element more: whole lines in
 * tiles of 2048, and lines of several tiles. */
START_TEST(leads_fill_the_tile) {
  static const int64_t shapes[][2] = {{9, 2044}, {9, 2041}, {3, 2048}, {1, 4089}, {1, 4096}};
  rng random = {test_seed()};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    for (size_t off = 0; off < 8; off++) {
      trial t;
      make(&t, &random, NDR_F32, 2, shapes[i], 1, NDR_SUM, false);
      simt_release(t.array.memory);
      device_array_of(&t.array, machine, off * sizeof(float));
      assert_ok(run(&t));
      check(&t, (int)off);
      ck_assert(has(&t, shapes[i][0] > 1 ? "8 elements a thread" : "2 tiles of 2048 elements"));
      finish(&t);
    }
}
END_TEST

/* Of f64 the last bits do not depend on where rows begin. */
START_TEST(bits_do_not_depend_on_addresses) {
  static const int64_t lengths[] = {63, 1001, 9001};
  rng random = {test_seed()};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    trial t;
    test_array first;
    make(&t, &random, NDR_F64, NDR_SHAPE(5, lengths[i]), 1, NDR_SUM, false);
    assert_ok(scan_result(&t.given, &first, NULL));
    for (size_t off = 0; off < 4; off++) {
      device_array other;
      other.host = t.given.array;
      device_array_of(&other, machine, off * sizeof(double));
      const DLTensor before = t.array.tensor;
      t.array.tensor = other.tensor;
      assert_ok(run(&t));
      check(&t, (int)off);
      if (off == 0) memcpy(first.memory, t.result.host.memory, first.bytes);
      ck_assert_msg(scan_same(&first.tensor, &t.result.host.tensor), "other bits at offset %zu", off);
      t.array.tensor = before;
      simt_release(other.memory);
    }
    array_free(&first);
    finish(&t);
  }
}
END_TEST

/* Enough columns that blocks have them whole: few rows, a tile of them, several, with strips of some widths. */
START_TEST(blocks_have_whole_columns) {
  rng random = {test_seed() + (uint64_t)_i};
  int strips = 0;
  for (int i = 0; i < 8; i++) {
    const int64_t rows = i < 3 ? rng_between(&random, 2, 20) : rng_between(&random, 20, 300);
    const int64_t columns = rng_between(&random, 100, 2000) * (rng_once_in(&random, 3) ? 1 : 4);
    strips +=
        scan_from_anywhere(&random, ((const int64_t[]){rng_between(&random, 1, 3), rows, columns}), 1, "columns", i);
  }
  ck_assert_int_ge(strips, 4);
}
END_TEST

/* Strips of elements that are several columns: forwards and in reverse, after each element and before it, and with the
 * initial value as a row more. */
START_TEST(strips_are_packed_in_both_directions) {
  static const int64_t rows[] = {3, 40, 300};
  rng random = {test_seed() + (uint64_t)_i};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    trial t;
    memset(&t, 0, sizeof t);
    t.given.op = rng_once_in(&random, 2) ? NDR_SUM : NDR_MAX;
    t.given.options = (ndr_scan_options)NDR_SCAN_OPTIONS_INIT;
    t.given.options.reverse = _i % 2;
    t.given.options.include_initial = _i / 2 == 1;
    t.given.options.exclusive = _i / 2 == 2;
    t.given.initial = 2;
    t.given.options.initial = &t.given.initial;
    t.given.options.force_family = "columns";
    array_make(&t.given.array, NDR_F32, NDR_SHAPE(rows[i], 4 * rng_between(&random, 300, 800)), NULL);
    array_fill(&t.given.array, &random, FILL_SMALL);
    snprintf(t.given.text, sizeof t.given.text, "%s of %lld rows, options %d", ndr_op_name(t.given.op),
             (long long)rows[i], _i);
    t.array.host = t.given.array;
    device_array_of(&t.array, 0, sizeof(float) * (size_t)rng_between(&random, 0, 3));
    assert_ok(scan_result(&t.given, &t.result.host, NULL));
    device_array_of(&t.result, 0, sizeof(float) * (size_t)rng_between(&random, 0, 3));
    assert_ok(run(&t));
    check(&t, (int)i);
    ck_assert(has(&t, "strips") && has(&t, "4 neighbours as one element"));
    finish(&t);
  }
}
END_TEST

/* Rows that begin anywhere between two sectors, of more columns than blocks have at a time, in strips of one or more
 * units: from every boundary, with results of any size, lines of a batch, and strips with little or nothing at the ends
 * of rows. */
START_TEST(strips_end_on_sectors) {
  rng random = {test_seed() + (uint64_t)_i};
  int shifted = 0;
  machine = 1;
  for (int i = 0; i < 6; i++) {
    const int64_t lines = rng_between(&random, 1, 3), rows = rng_between(&random, 64, i ? 130 : 400),
                  columns = rng_between(&random, 450, i % 2 ? 1000 : 4000) / lines | 1;
    shifted += scan_from_anywhere(&random, ((const int64_t[]){lines, rows, columns}), 1, "columns", i);
  }
  machine = 0;
  ck_assert_int_ge(shifted, 2);
}
END_TEST

/* Few lines side by side, in bands: of every width up to 70 and some more, from every boundary, in one chunk and in
 * many, with lines of a batch one after the other. */
START_TEST(bands_are_read_twice) {
  rng random = {test_seed() + (uint64_t)_i};
  const int64_t step = test_share() > 1 ? 27 : 1,
                columns = _i * step < 69 ? _i * step + 2 : rng_between(&random, 71, 256);
  for (int i = 0; i < 3; i++) {
    trial t;
    const int64_t tile = 256 / columns * 16; /* of more than 32 columns */
    scan_in_bands(&t.given, &random,
                  i == 1 ? 3 * tile + rng_between(&random, -1, 1) : rng_between(&random, 2, i ? 9000 : 300), columns);
    simt_controls.order = rng_next(&random);
    t.array.host = t.given.array;
    device_array_of(&t.array, 0, ndr_dtype_alignment(t.given.array.dtype) * (size_t)rng_between(&random, 0, 3));
    assert_ok(scan_result(&t.given, &t.result.host, NULL));
    device_array_of(&t.result, 0, 0);
    assert_ok(run(&t));
    check(&t, _i);
    finish(&t);
  }
  simt_controls.order = 0;
}
END_TEST

/* A line, and up to 24 side by side, in streams: from every boundary, of one tile and of many, with lines of a batch
 * one after the other, by blocks that begin in any order. */
START_TEST(streams_are_read_once) {
  rng random = {test_seed() + (uint64_t)_i};
  const int64_t step = test_share() > 1 ? 5 : 1, columns = _i * step % 24 + 1;
  for (int i = 0; i < 3; i++) {
    trial t;
    const int64_t most = i == 0 ? 300 : i == 1 ? 9000 : 90000 / columns;
    scan_in_streams(&t.given, &random, rng_between(&random, i == 2 ? most / 2 : 2, most), columns);
    simt_controls.order = rng_next(&random);
    t.array.host = t.given.array;
    device_array_of(&t.array, 2, ndr_dtype_alignment(t.given.array.dtype) * (size_t)rng_between(&random, 0, 15));
    assert_ok(scan_result(&t.given, &t.result.host, NULL));
    device_array_of(&t.result, 2, ndr_dtype_alignment(t.result.host.dtype) * (size_t)(rng_once_in(&random, 2) ? 0 : 1));
    assert_ok(run(&t));
    check(&t, _i);
    finish(&t);
  }
  simt_controls.order = 0;
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
  trial t;
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
  assert_ok(run(&t));
  device_fetch(&t.result);
  for (int64_t n = 0; n < shape[0] * shape[1]; n++) {
    element x = element_load(dtype, (char *)t.result.host.tensor.data + n * (int64_t)ndr_dtype_bytes(dtype));
    const int64_t ones = n / shape[1] + 1;
    ck_assert_msg(x.re == (double)ones, "place %lld is %Lg", (long long)n, x.re);
  }
  finish(&t);
}
END_TEST

/* Many tiles a line, several lines a tile, and columns, in other orders of warps and threads each time. */
START_TEST(bits_repeat_and_sums_rise) {
  static const struct {
    int ndim, dim;
    int64_t shape[2];
  } cases[] = {{1, 0, {150000}}, {2, 1, {50, 37}}, {2, 0, {9000, 5}}, {2, 1, {3, 5000}}};
  rng random = {test_seed()};
  trial t;
  make(&t, &random, NDR_F64, cases[_i].ndim, cases[_i].shape, cases[_i].dim, NDR_SUM, true);
  test_array first;
  assert_ok(scan_result(&t.given, &first, NULL));
  for (int turn = 0; turn < 3; turn++) {
    simt_controls.order = turn ? rng_next(&random) : 0;
    assert_ok(run(&t));
    check(&t, turn);
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
  finish(&t);
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
  machine = cases[_i].machine;
  for (int dim = 0; dim < 2; dim++) {
    simt_controls.order = rng_next(&random);
    trial t;
    make(&t, &random, cases[_i].dtype, 2, cases[_i].shape, dim, NDR_SUM, false);
    ck_assert(dim > 0 || has(&t, cases[_i].words));
    memcpy(t.result.memory, t.array.host.memory, t.array.host.bytes);
    simt_release(t.array.memory);
    t.array.memory = t.result.memory;
    t.array.tensor.data = t.result.tensor.data;
    assert_ok(run(&t));
    check(&t, dim);
    array_free(&t.array.host);
    device_free(&t.result);
  }
  machine = 0;
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
  return run(t);
}

/* Whatever call of the runtime fails, nothing is left but the kept workspace, and the next attempt is right. */
START_TEST(failures_leave_nothing_behind) {
  rng random = {test_seed()};
  trial t;
  make(&t, &random, NDR_F32, NDR_SHAPE(20000), 0, NDR_SUM, false);
  fail_every_call(run_any, &t);
  assert_ok(run(&t));
  check(&t, 0);
  finish(&t);
}
END_TEST

/* The caller's workspace may hold anything, and a plan outlives its operator. */
START_TEST(plans_take_a_workspace) {
  rng random = {test_seed()};
  trial t;
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
    check(&t, turn);
  }
  ck_assert_int_eq(simt_living_blocks(), blocks);
  simt_release(workspace);
  ndr_scan_plan_destroy(plan);
  finish(&t);
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
  tcase_add_loop_test(cases, blocks_have_whole_columns, 0, test_share() > 1 ? 1 : 4);
  tcase_add_loop_test(cases, strips_are_packed_in_both_directions, 0, 6);
  tcase_add_loop_test(cases, strips_end_on_sectors, 0, test_share() > 1 ? 2 : 16);
  tcase_add_loop_test(cases, bands_are_read_twice, 0, test_share() > 1 ? 10 : 74);
  tcase_add_loop_test(cases, streams_are_read_once, 0, test_share() > 1 ? 5 : 24);
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
