/* Scans of lines side by side under emulation: strips of whole columns, bands and streams, against definitions. */
#include <stdio.h>
#include <string.h>

#include "ndreduce/scan.h"
#include "runtime/control.h"
#include "scan_trials.h"
#include "support/suite.h"

/* Enough columns that blocks have them whole: few rows, a tile of them, several, with strips of some widths. */
START_TEST(blocks_have_whole_columns) {
  rng random = {test_seed() + (uint64_t)_i};
  int strips = 0;
  for (int i = 0; i < 8; i++) {
    const int64_t rows = i < 3 ? rng_between(&random, 2, 20) : rng_between(&random, 20, 300);
    const int64_t columns = rng_between(&random, 100, 2000) * (rng_once_in(&random, 3) ? 1 : 4);
    strips +=
        scan_trial_anywhere(&random, ((const int64_t[]){rng_between(&random, 1, 3), rows, columns}), 1, "columns", i);
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
    scan_trial t;
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
    assert_ok(scan_trial_run(&t));
    scan_trial_check(&t, (int)i);
    ck_assert(scan_trial_has(&t, "strips") && scan_trial_has(&t, "4 neighbours as one element"));
    scan_trial_finish(&t);
  }
}
END_TEST

/* Rows that begin anywhere between two sectors, of more columns than blocks have at a time, in strips of one or more
 * units: from every boundary, with results of any size, lines of a batch, and strips with little or nothing at the ends
 * of rows. */
START_TEST(strips_end_on_sectors) {
  rng random = {test_seed() + (uint64_t)_i};
  int shifted = 0;
  scan_machine = 1;
  for (int i = 0; i < 6; i++) {
    const int64_t lines = rng_between(&random, 1, 3), rows = rng_between(&random, 64, i ? 130 : 400),
                  columns = rng_between(&random, 450, i % 2 ? 1000 : 4000) / lines | 1;
    shifted += scan_trial_anywhere(&random, ((const int64_t[]){lines, rows, columns}), 1, "columns", i);
  }
  scan_machine = 0;
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
    scan_trial t;
    const int64_t tile = 256 / columns * 16; /* of more than 32 columns */
    scan_in_bands(&t.given, &random,
                  i == 1 ? 3 * tile + rng_between(&random, -1, 1) : rng_between(&random, 2, i ? 9000 : 300), columns);
    simt_controls.order = rng_next(&random);
    t.array.host = t.given.array;
    device_array_of(&t.array, 0, ndr_dtype_alignment(t.given.array.dtype) * (size_t)rng_between(&random, 0, 3));
    assert_ok(scan_result(&t.given, &t.result.host, NULL));
    device_array_of(&t.result, 0, 0);
    assert_ok(scan_trial_run(&t));
    scan_trial_check(&t, _i);
    scan_trial_finish(&t);
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
    scan_trial t;
    const int64_t most = i == 0 ? 300 : i == 1 ? 9000 : 90000 / columns;
    scan_in_streams(&t.given, &random, rng_between(&random, i == 2 ? most / 2 : 2, most), columns);
    simt_controls.order = rng_next(&random);
    t.array.host = t.given.array;
    device_array_of(&t.array, 2, ndr_dtype_alignment(t.given.array.dtype) * (size_t)rng_between(&random, 0, 15));
    assert_ok(scan_result(&t.given, &t.result.host, NULL));
    device_array_of(&t.result, 2, ndr_dtype_alignment(t.result.host.dtype) * (size_t)(rng_once_in(&random, 2) ? 0 : 1));
    assert_ok(scan_trial_run(&t));
    scan_trial_check(&t, _i);
    scan_trial_finish(&t);
  }
  simt_controls.order = 0;
}
END_TEST

int main(void) {
  Suite *suite = suite_create("scans of strips on the emulated GPU");
  TCase *cases = tcase_create("strips");
  tcase_set_timeout(cases, 900);
  tcase_add_loop_test(cases, blocks_have_whole_columns, 0, test_share() > 1 ? 1 : 4);
  tcase_add_loop_test(cases, strips_are_packed_in_both_directions, 0, 6);
  tcase_add_loop_test(cases, strips_end_on_sectors, 0, test_share() > 1 ? 2 : 16);
  tcase_add_loop_test(cases, bands_are_read_twice, 0, test_share() > 1 ? 10 : 74);
  tcase_add_loop_test(cases, streams_are_read_once, 0, test_share() > 1 ? 5 : 24);
  suite_add_tcase(suite, cases);
  return suite_run(suite);
}
