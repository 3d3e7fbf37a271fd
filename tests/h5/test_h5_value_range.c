/* Ranges of coordinates: which elements of an axis they mean. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "h5/cf/value_range.h"
#include "support/cases.h"
#include "support/suite.h"

enum { MOST = 512 };

static double room[MOST];

static ndr_value_axis axis_of(const char *name, int64_t count, double from, double step) {
  for (int64_t i = 0; i < count; i++) room[i] = from + (double)i * step;
  return (ndr_value_axis){.name = name, .count = count, .values = room, .precision = 0x1p-51};
}

static ndr_value_axis longitudes(int64_t count, double from, double step) {
  ndr_value_axis axis = axis_of("lon", count, from, step);
  axis.turn = 360;
  return axis;
}

static ndr_status find(const ndr_value_axis *axis, const char *text, ndr_index_runs *runs) {
  return ndr_value_range_find(axis, text, (int)strlen(text), runs);
}

static void check(const ndr_value_axis *axis, const char *text, int64_t from, int64_t count, double shift) {
  ndr_index_runs runs;
  assert_ok(find(axis, text, &runs));
  const ndr_index_run *run = &runs.run[0];
  ck_assert_msg(runs.count == 1 && run->from == from && run->count == count && run->shift == shift,
                "%s: %d runs, the first from %lld, %lld long, shifted by %g", text, runs.count, (long long)run->from,
                (long long)run->count, run->shift);
}

static void check_seam(const ndr_value_axis *axis, const char *text, const ndr_index_run first,
                       const ndr_index_run second) {
  ndr_index_runs runs;
  const ndr_index_run wanted[] = {first, second};
  assert_ok(find(axis, text, &runs));
  ck_assert_msg(runs.count == 2, "%s: %d runs", text, runs.count);
  for (int i = 0; i < 2; i++)
    ck_assert_msg(runs.run[i].from == wanted[i].from && runs.run[i].count == wanted[i].count &&
                      runs.run[i].shift == wanted[i].shift,
                  "%s: run %d from %lld, %lld long, shifted by %g", text, i, (long long)runs.run[i].from,
                  (long long)runs.run[i].count, runs.run[i].shift);
}

/* ---- Numbers ---------------------------------------------------------------------------------------------------- */

START_TEST(both_ends_belong_to_a_range) {
  ndr_value_axis lat = axis_of("lat", 19, -90, 10);
  check(&lat, "30:60", 12, 4, 0);
  check(&lat, "60:30", 12, 4, 0);
  check(&lat, " 29.5 : 61 ", 12, 4, 0);
  check(&lat, "-1e1:+10", 8, 3, 0);
  check(&lat, "30:", 12, 7, 0);
  check(&lat, ":-80", 0, 2, 0);
  check(&lat, ":", 0, 19, 0);
  check(&lat, "90:95", 18, 1, 0);
  lat = axis_of("lat", 19, 90, -10);
  check(&lat, "30:60", 3, 4, 0);
  check(&lat, "60:30", 3, 4, 0);
  check(&lat, "30:", 0, 7, 0);
}
END_TEST

/* 0.7 as f32 is 0.699999988; who writes 0.7 means it. */
START_TEST(ends_are_met_as_exactly_as_values_are_stored) {
  ndr_value_axis axis = axis_of("x", 10, 0, 1);
  for (int i = 0; i < 10; i++) room[i] = (float)((double)i / 10);
  axis.precision = 0x1p-23;
  check(&axis, "0.7:0.8", 7, 2, 0);
  check(&axis, "0.1:0.3", 1, 3, 0);
  axis.precision = 0x1p-51;
  check(&axis, "0.7:0.85", 8, 1, 0);
}
END_TEST

START_TEST(a_number_is_the_nearest) {
  ndr_value_axis lev = axis_of("lev", 4, 0, 0);
  const double levels[] = {1000, 850, 500, 250};
  for (int i = 0; i < 4; i++) room[i] = levels[i];
  check(&lev, "850", 1, 1, 0);
  check(&lev, "860", 1, 1, 0);
  check(&lev, "675", 1, 1, 0); /* half way: the greater one */
  check(&lev, "1100", 0, 1, 0);
  check(&lev, "10", 3, 1, 0);
  ndr_index_runs runs;
  assert_fails(find(&lev, "1200", &runs), NDR_ERR_DIMS, "lev goes from 250 to 1000");
  lev.units = "hPa";
  assert_fails(find(&lev, "85000", &runs), NDR_ERR_DIMS, "lev goes from 250 to 1000 hPa");
  assert_fails(find(&lev, "300:400", &runs), NDR_ERR_DIMS, "lev has 250 and 500 hPa, and nothing in between");
  lev.units = NULL;
  lev.count = 1;
  check(&lev, "1000", 0, 1, 0);
  assert_fails(find(&lev, "999", &runs), NDR_ERR_DIMS, "lev goes from 1000 to 1000");
  ndr_value_axis lon = longitudes(36, 0, 10);
  check(&lon, "-11", 35, 1, 0);
  check(&lon, "359", 0, 1, 0);
  check(&lon, "721", 0, 1, 0);
  lon = longitudes(5, 200, 10);
  assert_fails(find(&lon, "10", &runs), NDR_ERR_DIMS, "lon goes from 200 to 240");
}
END_TEST

START_TEST(of_two_longitudes_as_near_the_eastern_one_counts) {
  ndr_value_axis lon = longitudes(36, 0, 10);
  check(&lon, "355", 0, 1, 0);
  check(&lon, "-5", 0, 1, 0);
  check(&lon, "345", 35, 1, 0);
  lon = longitudes(36, -180, 10);
  check(&lon, "355", 18, 1, 0);
  check(&lon, "175", 0, 1, 0);
  lon = longitudes(36, 350, -10);
  check(&lon, "355", 35, 1, 0);
  lon = longitudes(37, 0, 10); /* has 0 and 360 */
  check(&lon, "0", 0, 1, 0);
  check(&lon, "360", 36, 1, 0);
}
END_TEST

START_TEST(a_longitude_is_no_other_on_an_axis_that_goes_round_again) {
  ndr_value_axis lon = longitudes(70, 0, 10);
  ndr_index_runs runs;
  check(&lon, "30", 3, 1, 0);
  check(&lon, "390", 39, 1, 0);
  check(&lon, "-7", 0, 1, 0);
  assert_fails(find(&lon, "-20", &runs), NDR_ERR_DIMS, "from 0 to 690; turns do not count, as lon goes more than once");
}
END_TEST

START_TEST(missing_values_are_not_found) {
  ndr_value_axis axis = axis_of("x", 6, 0, 1);
  ndr_index_runs runs;
  room[0] = NAN;
  check(&axis, ":3", 1, 3, 0);
  check(&axis, "0", 1, 1, 0);
  room[2] = NAN;
  assert_fails(find(&axis, "1:4", &runs), NDR_ERR_DIMS, "2 stretches");
  for (int i = 0; i < 6; i++) room[i] = NAN;
  assert_fails(find(&axis, "1:4", &runs), NDR_ERR_DIMS, "x has no values");
  assert_fails(find(&axis, "1", &runs), NDR_ERR_DIMS, "x has no values");
  axis.count = 0;
  assert_fails(find(&axis, ":", &runs), NDR_ERR_DIMS, "x has no values");
}
END_TEST

START_TEST(what_is_no_range_is_refused) {
  static const char *const nonsense[] = {"",      " ",   "a",    "1:a",   "a:1",     "1:2:3",     "0x10",
                                         "nan:1", "inf", "1 2:", "1e999", "2001-01", "1:infinity"};
  ndr_value_axis axis = axis_of("lat", 5, 0, 1);
  ndr_index_runs runs;
  char longer[400];
  for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++)
    ck_assert_msg(find(&axis, nonsense[i], &runs) == NDR_ERR_PARSE, "'%s'", nonsense[i]);
  memset(longer, '1', sizeof longer);
  longer[399] = 0;
  assert_fails(find(&axis, longer, &runs), NDR_ERR_PARSE, "too long");
  assert_fails(find(&axis, "30:60", &runs), NDR_ERR_DIMS, "lat=30:60 selects nothing: lat goes from 0 to 4");
  assert_fails(find(&axis, "2.7:2.2", &runs), NDR_ERR_DIMS, "nothing: lat has 2 and 3, and nothing in between");
  axis = axis_of("lat", 5, 4, -1);
  assert_fails(find(&axis, "2.2:2.7", &runs), NDR_ERR_DIMS, "nothing: lat has 2 and 3, and nothing in between");
  assert_fails(find(&axis, "4.5:", &runs), NDR_ERR_DIMS, "lat=4.5: selects nothing: lat goes from 0 to 4");
  axis = axis_of("lat", 5, 0, 1);
  const double folded[] = {0, 1, 2, 1, 0};
  memcpy(room, folded, sizeof folded);
  assert_fails(find(&axis, "0:1", &runs), NDR_ERR_DIMS, "2 stretches");
  check(&axis, "1:3", 1, 3, 0);
}
END_TEST

/* ---- Longitudes ------------------------------------------------------------------------------------------------- */

START_TEST(longitudes_go_on_over_the_seam) {
  ndr_value_axis lon = longitudes(36, 0, 10);
  ndr_index_runs runs;
  check(&lon, "30:60", 3, 4, 0);
  assert_fails(find(&lon, "31:39", &runs), NDR_ERR_DIMS, "lon has 30 and 40, and nothing in between");
  assert_fails(find(&lon, "351:359", &runs), NDR_ERR_DIMS, "lon has 350 and 0, and nothing in between");
  assert_fails(find(&lon, "-9:-1", &runs), NDR_ERR_DIMS, "lon has 350 and 0, and nothing in between");
  check(&lon, "0:360", 0, 36, 0);
  check(&lon, "-20:-10", 34, 2, -360);
  check_seam(&lon, "-10:10", (ndr_index_run){35, 1, -360}, (ndr_index_run){0, 2, 0});
  check_seam(&lon, "350:10", (ndr_index_run){35, 1, 0}, (ndr_index_run){0, 2, 360});
  check_seam(&lon, "-180:180", (ndr_index_run){18, 18, -360}, (ndr_index_run){0, 18, 0});
  lon = longitudes(36, -180, 10);
  check(&lon, "350:10", 17, 3, 360);
  check(&lon, "-180:180", 0, 36, 0);
  check_seam(&lon, "170:190", (ndr_index_run){35, 1, 0}, (ndr_index_run){0, 2, 360});
  check_seam(&lon, "170:-170", (ndr_index_run){35, 1, 0}, (ndr_index_run){0, 2, 360});
  check_seam(&lon, "0:360", (ndr_index_run){18, 18, 0}, (ndr_index_run){0, 18, 360});
}
END_TEST

START_TEST(a_meridian_that_is_there_twice_is_kept_once) {
  ndr_value_axis lon = longitudes(37, 0, 10);
  check_seam(&lon, "-10:10", (ndr_index_run){35, 1, -360}, (ndr_index_run){0, 2, 0});
  check(&lon, "0:360", 0, 37, 0);
  check(&lon, "-5:10", 0, 2, 0); /* the range begins with that meridian, or has nothing else */
  check(&lon, "355:365", 0, 1, 360);
  check(&lon, "-360:0", 0, 36, -360);
  lon = longitudes(37, 360, -10);
  check_seam(&lon, "-10:10", (ndr_index_run){35, 1, 0}, (ndr_index_run){0, 2, -360});
  check(&lon, "-5:5", 0, 1, -360);
}
END_TEST

START_TEST(a_region_has_a_seam_only_where_it_goes_round) {
  ndr_value_axis lon = longitudes(5, 200, 10);
  ndr_index_runs runs;
  check(&lon, "-150:-130", 1, 3, -360);
  check(&lon, "100:400", 0, 5, 0);
  assert_fails(find(&lon, "0:100", &runs), NDR_ERR_DIMS, "lon goes from 200 to 240");
  assert_fails(find(&lon, "1e6:2e6", &runs), NDR_ERR_DIMS, "lon goes from 200 to 240");
  lon = longitudes(100, 0, 10);
  check(&lon, "-10:10", 0, 2, 0);
  assert_fails(find(&lon, "350:10", &runs), NDR_ERR_DIMS, "lon goes from 0 to 990");
}
END_TEST

static void check_doubt(const ndr_value_axis *axis, const char *text, const char *doubt) {
  ndr_index_runs runs;
  assert_ok(find(axis, text, &runs));
  ck_assert_msg(strcmp(runs.doubt, doubt) == 0, "%s: '%s'", text, runs.doubt);
}

START_TEST(why_turns_do_not_count_is_said) {
  ndr_value_axis lon = longitudes(70, 0, 10);
  ndr_index_runs runs;
  static const char again[] = "lon goes more than once round", far[] = "-800 is more than two of them";
  static const char units[] = "the units 'km' of lon are not those of longitudes";
  check_doubt(&lon, "-10:40", again);
  check_doubt(&lon, "350:370", "");
  check_doubt(&lon, "-5", "");
  check_doubt(&lon, ":40", "");
  assert_fails(find(&lon, "350:10", &runs), NDR_ERR_DIMS, "from 0 to 690; turns do not count, as lon goes more than");
  lon = longitudes(36, 0, 10);
  check_doubt(&lon, "-10:40", "");
  check_doubt(&lon, "-800:40", far);
  assert_fails(find(&lon, "800:900", &runs), NDR_ERR_DIMS, "turns do not count, as 800 is more than two of them");
  lon.turn = 0;
  check_doubt(&lon, "-10:40", "");
  lon.other_units = "km";
  check_doubt(&lon, "-10:40", units);
  check_doubt(&lon, "350:10", units);
  check_doubt(&lon, "10:350", "");
  check_doubt(&lon, "-5", "");
  assert_fails(find(&lon, "400", &runs), NDR_ERR_DIMS, "from 0 to 350; turns do not count, as the units 'km' of lon");
}
END_TEST

START_TEST(all_longitudes_are_all_of_a_region) {
  ndr_value_axis lon = longitudes(8, -30, 10);
  check(&lon, "0:360", 0, 8, 0);
  check(&lon, "-180:180", 0, 8, 0);
  check(&lon, "10:370", 0, 8, 0);
  lon = longitudes(8, 220, -10);
  check(&lon, "-180:180", 0, 8, 0);
  ndr_index_runs runs;
  assert_fails(find(&lon, "-179:180", &runs), NDR_ERR_DIMS, "not round");
}
END_TEST

START_TEST(a_region_is_not_joined_over_the_seam) {
  ndr_value_axis lon = longitudes(37, 225, 2.5);
  ndr_index_runs runs;
  assert_fails(find(&lon, "300:240", &runs), NDR_ERR_DIMS,
               "lon=300:240 selects both ends of lon, which goes from 225 to 315 and not round");
  check(&lon, "300:310", 30, 5, 0);
  lon = longitudes(9, 100, 10);
  check(&lon, "-180:180", 0, 9, 0);
  check(&lon, "180:540", 0, 9, 360);
  lon = longitudes(35, 0, 10); /* one meridian is missing */
  assert_fails(find(&lon, "-20:10", &runs), NDR_ERR_DIMS, "not round");
  lon = longitudes(36, 0, 10);
  for (int i = 0; i < 36; i++) room[i] = (float)(i * 10.0001); /* rounding is no hole */
  check_seam(&lon, "-10:10.5", (ndr_index_run){35, 1, -360}, (ndr_index_run){0, 2, 0});
}
END_TEST

/* Every meridian of an axis that a range holds, by trying all turns, comes once, and the values make one axis in the
 * range; those of an axis that does not go round must come from one turn. Numbers are whole, so that all of this is
 * exact. */
static void check_longitudes(const ndr_value_axis *lon, int64_t from, int64_t to, bool up) {
  char text[64];
  ndr_index_runs runs = {.count = 0};
  int64_t wanted = 0, found = 0, end = to;
  double before = up ? -INFINITY : INFINITY;
  int64_t of_turn[9] = {0}, most = 0;
  while (end < from) end += 360;
  for (int64_t i = 0; i < lon->count; i++) {
    bool held = false;
    for (int turn = 0; turn < 9; turn++) {
      double value = lon->values[i] + 360.0 * (turn - 4);
      bool in = value >= (double)from && value <= (double)end;
      of_turn[turn] += in;
      held = held || in;
    }
    wanted += held;
  }
  for (int turn = 0; turn < 9; turn++) most = of_turn[turn] > most ? of_turn[turn] : most;
  bool round = fabs(lon->values[1] - lon->values[0]) * (double)lon->count == 360;
  bool whole = most < wanted && !round && end - from >= 360;
  if (most < wanted && !round && !whole) wanted = 0;
  snprintf(text, sizeof text, "%lld:%lld", (long long)from, (long long)to);
  ndr_status status = find(lon, text, &runs);
  ck_assert_msg(status == (wanted ? NDR_OK : NDR_ERR_DIMS), "%s: %s", text, ndr_last_error());
  for (int r = 0; r < runs.count && wanted; r++)
    for (int64_t i = 0; i < runs.run[r].count; i++, found++) {
      double value = lon->values[runs.run[r].from + i] + runs.run[r].shift;
      ck_assert_msg(whole || (value >= (double)from && value <= (double)end), "%s: has %g", text, value);
      ck_assert_msg(up ? value > before : value < before, "%s: %g follows %g", text, value, before);
      before = value;
    }
  ck_assert_msg(found == wanted, "%s on %g, %g, ...: %lld of %lld", text, lon->values[0], lon->values[1],
                (long long)found, (long long)wanted);
}

START_TEST(any_longitudes) {
  rng random = {test_seed()};
  for (int n = test_case_count(20000); n > 0; n--) {
    int64_t step = rng_between(&random, 1, 12), most = 360 / step;
    int64_t count = rng_once_in(&random, 2) ? most : rng_between(&random, 2, most);
    bool up = rng_once_in(&random, 2);
    ndr_value_axis lon = longitudes(count, (double)rng_between(&random, -360, 360), up ? (double)step : -(double)step);
    int64_t from = rng_between(&random, -360, 360), to = rng_between(&random, -360, 360);
    check_longitudes(&lon, from, to, up);
  }
}
END_TEST

/* ---- Dates ------------------------------------------------------------------------------------------------------ */

static ndr_time_units units;

static ndr_value_axis times(const char *text, const char *calendar, int64_t count, double from, double step) {
  ndr_value_axis axis = axis_of("time", count, from, step);
  ck_assert(ndr_time_units_parse(text, calendar, &units));
  axis.time = &units;
  return axis;
}

START_TEST(a_date_is_the_whole_period_that_it_names) {
  ndr_value_axis time = times("hours since 2001-01-30", "standard", 480, 0, 6);
  ndr_index_runs runs;
  check(&time, "2001-02", 8, 112, 0);
  assert_fails(find(&time, "2001-01-31T07:2001-01-31T11", &runs), NDR_ERR_DIMS,
               "time has 2001-01-31T06:00:00 and 2001-01-31T12:00:00, and nothing in between");
  check(&time, "2001-01-31:2001-02-01", 4, 8, 0);
  check(&time, "2001-02-01:2001-01-31", 4, 8, 0);
  check(&time, "2001-01-31:2001-01", 4, 4, 0);
  check(&time, "2001", 0, 480, 0);
  check(&time, "1999:2001-01", 0, 8, 0);
  check(&time, "2001-05-29:", 476, 4, 0);
  check(&time, ":2001-01-30", 0, 4, 0);
  check(&time, "2001-01-31T06", 5, 1, 0);
  check(&time, "2001-01-31T06:00", 5, 1, 0);
  check(&time, "2001-01-31T06:00:00", 5, 1, 0);
  check(&time, "2001-01-31 06:00:00", 5, 1, 0);
  check(&time, "2001-01-31T06:00:2001-01-31T12", 5, 2, 0);
  check(&time, "2001-01-31T06:00:00:2001-01-31T12:00:00", 5, 2, 0);
  check(&time, "2001-01-31T06:2001-01-31T18", 5, 3, 0);
  check(&time, "2001-01-31T06:", 5, 475, 0);
  check(&time, ":2001-01-30T06:00", 0, 2, 0);
  assert_fails(find(&time, "2001-01-31T06:01", &runs), NDR_ERR_DIMS,
               "time has 2001-01-31T06:00:00 and 2001-01-31T12:00:00, and nothing in between");
  assert_fails(find(&time, "2001-02-29", &runs), NDR_ERR_PARSE,
               "'2001-02-29' is no date of the calendar standard: that month has 28 days");
  assert_fails(find(&time, "2000-02:2000-02-30T12:00", &runs), NDR_ERR_PARSE, "that month has 29 days");
  assert_fails(find(&time, "2001-00-31", &runs), NDR_ERR_PARSE, "write YEAR");
  assert_fails(find(&time, "2001-02-00", &runs), NDR_ERR_PARSE, "write YEAR");
  assert_fails(find(&time, "2001-02-30x", &runs), NDR_ERR_PARSE, "write YEAR");
  assert_fails(find(&time, "2001:x", &runs), NDR_ERR_PARSE, "'x' is no date");
  assert_fails(find(&time, "2001:2002:2003", &runs), NDR_ERR_PARSE, "no date");
  assert_fails(find(&time, "", &runs), NDR_ERR_PARSE, "no date");
  assert_fails(find(&time, "0000", &runs), NDR_ERR_PARSE, "no date");
}
END_TEST

START_TEST(dates_are_of_the_axis_s_calendar) {
  ndr_value_axis time = times("days since 1582-09-01", "standard", 100, 0, 1);
  check(&time, "1582-10", 30, 21, 0);
  check(&time, "1582-10-04:1582-10-15", 33, 2, 0);
  ndr_index_runs runs;
  assert_fails(find(&time, "1582-10-10", &runs), NDR_ERR_PARSE,
               "write YEAR"); /* the month has 21 days, up to the 31st */
  time = times("days since 2000-02-01", "360_day", 100, 0, 1);
  check(&time, "2000-02-30", 29, 1, 0);
  check(&time, "2000-02", 0, 30, 0);
  time = times("days since 2000-02-01", "noleap", 100, 0, 1);
  check(&time, "2000-02", 0, 28, 0);
  time = times("days since -0001-12-01", "standard", 100, 0, 1);
  check(&time, "-0001-12", 0, 31, 0);
  check(&time, "0001-01", 31, 31, 0);
  check(&time, "-0001", 0, 31, 0);
  time = times("days since -0001-12-01", "proleptic_gregorian", 100, 0, 1);
  check(&time, "0000-01", 31, 31, 0);
  assert_fails(find(&time, "0001-01", &runs), NDR_ERR_DIMS, "time goes from -0001-12-01 to 0000-03-09");
}
END_TEST

/* ISO dates are in the order of their letters, and a date that ends early is the beginning of all that it names. */
static bool is_held(const char *text, const char *from, const char *to) {
  return strncmp(text, from, strlen(from)) >= 0 && strncmp(text, to, strlen(to)) <= 0;
}

static void check_dates(const ndr_value_axis *time, char (*texts)[NDR_TIME_CHARS], const char *from, const char *to) {
  char text[100];
  int64_t first = -1, count = 0;
  for (int64_t i = 0; i < time->count; i++) {
    if (!is_held(texts[i], from, to)) continue;
    if (first < 0) first = i;
    count++;
  }
  snprintf(text, sizeof text, "%s:%s", from, to);
  check(time, text, first, count, 0);
  if (strcmp(from, to) == 0) check(time, from, first, count, 0);
}

START_TEST(any_dates) {
  static const char *const calendars[] = {"standard", "proleptic_gregorian", "julian", "noleap", "all_leap", "360_day"};
  static const char *const since[] = {"days since 1999-11-03", "hours since 1582-06-01 12:00", "days since 0001-01-01",
                                      "seconds since 1600-02-03 04:05:06"};
  static const double steps[] = {0.5, 7, 30.4375, 86400 * 3 + 7};
  static const size_t cuts[] = {4, 7, 10, 13, 16, 19};
  static char texts[MOST][NDR_TIME_CHARS];
  rng random = {test_seed()};
  for (int n = test_case_count(2000); n > 0; n--) {
    int which = (int)rng_between(&random, 0, 3);
    double step = steps[which == 3 ? 3 : rng_between(&random, 0, 2)];
    ndr_value_axis time = times(since[which], calendars[rng_between(&random, 0, 5)], rng_between(&random, 1, MOST),
                                (double)rng_between(&random, 0, 100), step);
    for (int64_t i = 0; i < time.count; i++) {
      ndr_instant instant;
      ck_assert(ndr_time_decode(&units, room[i], fabs(room[i]) * time.precision, &instant));
      ndr_time_write(&units, instant, NDR_TIME_SECONDS, texts[i]);
    }
    char from[NDR_TIME_CHARS], to[NDR_TIME_CHARS];
    int64_t a = rng_between(&random, 0, time.count - 1), b = rng_between(&random, a, time.count - 1);
    strcpy(from, texts[a]);
    strcpy(to, texts[rng_once_in(&random, 3) ? a : b]);
    from[cuts[rng_between(&random, 0, 5)]] = 0;
    to[cuts[rng_between(&random, 0, 5)]] = 0;
    if (strncmp(to, from, strlen(to) < strlen(from) ? strlen(to) : strlen(from)) >= 0)
      check_dates(&time, texts, from, to);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("h5 value range");
  suite_case(suite, "numbers", 10, both_ends_belong_to_a_range, ends_are_met_as_exactly_as_values_are_stored,
             a_number_is_the_nearest, missing_values_are_not_found, what_is_no_range_is_refused, NULL);
  suite_case(suite, "longitudes", 60, longitudes_go_on_over_the_seam, a_meridian_that_is_there_twice_is_kept_once,
             a_region_has_a_seam_only_where_it_goes_round, why_turns_do_not_count_is_said,
             all_longitudes_are_all_of_a_region, a_region_is_not_joined_over_the_seam,
             of_two_longitudes_as_near_the_eastern_one_counts, a_longitude_is_no_other_on_an_axis_that_goes_round_again,
             any_longitudes, NULL);
  suite_case(suite, "dates", 60, a_date_is_the_whole_period_that_it_names, dates_are_of_the_axis_s_calendar, any_dates,
             NULL);
  return suite_run(suite);
}
