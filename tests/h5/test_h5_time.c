/* Calendars and times since a date: days that are known, rules of each calendar, and texts of units. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "h5/time/time.h"
#include "support/cases.h"
#include "support/slow_calendar.h"
#include "support/suite.h"

static const ndr_calendar calendars[] = {NDR_CALENDAR_STANDARD, NDR_CALENDAR_PROLEPTIC_GREGORIAN,
                                         NDR_CALENDAR_JULIAN,   NDR_CALENDAR_NOLEAP,
                                         NDR_CALENDAR_ALL_LEAP, NDR_CALENDAR_360_DAY};
enum { CALENDARS = sizeof calendars / sizeof *calendars };

static int64_t day_of(ndr_calendar calendar, int64_t year, int month, int day) {
  const ndr_date date = {.year = year, .month = month, .day = day};
  ndr_instant instant = {0, 0};
  ck_assert_msg(ndr_date_to_instant(calendar, &date, &instant), "%s %lld-%d-%d", ndr_calendar_name(calendar),
                (long long)year, month, day);
  return instant.day;
}

/* What `value` units are written as; "none" where they are no time. */
static const char *decoded(const char *units, const char *calendar, double value) {
  static char text[NDR_TIME_CHARS];
  ndr_time_units parsed;
  ndr_instant instant;
  strcpy(text, "none");
  if (ndr_time_units_parse(units, calendar, &parsed) &&
      ndr_time_decode(&parsed, value, fabs(value) * 0x1p-52, &instant))
    ndr_time_write(&parsed, instant, ndr_time_precision_of(instant), text);
  return text;
}

static const struct {
  const char *units, *calendar;
  double value;
  const char *text;
} known[] = {
    {"days since 2000-01-01", NULL, 0, "2000-01-01"},
    {"days since 2000-01-01", "standard", 59, "2000-02-29"},
    {"days since 2000-01-01", "noleap", 59, "2000-03-01"},
    {"days since 2000-01-01", "365_day", 365, "2001-01-01"},
    {"days since 2001-01-01", "366_day", 59, "2001-02-29"},
    {"days since 2001-01-01", "all_leap", 366, "2002-01-01"},
    {"days since 2001-01-01", "360_day", 59, "2001-02-30"},
    {"days since 2001-01-01", "360_day", 359, "2001-12-30"},
    {"days since 1900-01-01", "gregorian", 59, "1900-03-01"},
    {"days since 1900-01-01", "julian", 59, "1900-02-29"},
    /* The Unix time 10^9, and the first second that 32 bits do not hold. */
    {"seconds since 1970-01-01", "standard", 1e9, "2001-09-09T01:46:40"},
    {"seconds since 1970-01-01T00:00:00Z", "standard", 2147483648.0, "2038-01-19T03:14:08"},
    /* Julian days begin at noon of 1 January 4713 BC, and 2451545 is noon of 1 January 2000. */
    {"days since -4713-01-01 12:00:00", "standard", 0, "-4713-01-01T12:00:00"},
    {"days since -4713-01-01 12:00:00", "standard", 2451545, "2000-01-01T12:00:00"},
    {"days since -4713-01-01 12:00:00", "julian", 2451545, "1999-12-19T12:00:00"},
    /* The day after 4 October 1582 is the 15th; those between are none. */
    {"days since 1582-10-04", "standard", 1, "1582-10-15"},
    {"days since 1582-10-15", "standard", -1, "1582-10-04"},
    {"days since 1582-10-10", "standard", 0, "none"},
    {"days since 1582-10-10", "proleptic_gregorian", 0, "1582-10-10"},
    {"days since 1582-10-04", "julian", 1, "1582-10-05"},
    {"days since 1582-10-04", "proleptic_gregorian", 1, "1582-10-05"},
    /* Real calendars have no year 0, unless it is the reference's. */
    {"days since 0001-01-01", "standard", -1, "-0001-12-31"},
    {"days since 1-1-1", "julian", -1, "-0001-12-31"},
    {"days since 0001-01-01", "proleptic_gregorian", -1, "0000-12-31"},
    {"days since 0001-01-01", "noleap", -1, "0000-12-31"},
    {"days since 0000-01-01", "standard", 31, "0000-02-01"},
    {"days since 0000-01-01", "360_day", -1, "-0001-12-30"},
    /* Units, words in any case, fractions, clocks and zones. */
    {"Hours Since 1900-1-1 00:00:0.0", NULL, 1.5, "1900-01-01T01:30:00"},
    {"hours since 1900-01-01", NULL, -1, "1899-12-31T23:00:00"},
    {"minutes since 2001-01-01 06:30", NULL, 45, "2001-01-01T07:15:00"},
    {"msec since 2001-01-01", NULL, 86400500, "2001-01-02T00:00:00.500"},
    {"microseconds since 2001-01-01", NULL, 1, "2001-01-01T00:00:00.000001"},
    {"weeks since 2001-01-01", NULL, 1.5, "2001-01-11T12:00:00"},
    {"days since 2001-01-01 00:00:00 +02:00", NULL, 0, "2000-12-31T22:00:00"},
    {"days since 2001-01-01 00:00:00 -0600", NULL, 0, "2001-01-01T06:00:00"},
    {"days since 2001-01-01 12:00 UTC", NULL, 0.25, "2001-01-01T18:00:00"},
    {"days since 2001", NULL, 1, "2001-01-02"},
    {"months since 2001-01-01", "360_day", 14, "2002-03-01"},
    {"years since 2001-01-01", "noleap", 3, "2004-01-01"},
    {"common_years since 2001-01-01", "noleap", 3, "2004-01-01"},
    {"common_years since 2000-01-01", "standard", 1, "2000-12-31"},
    {"seconds since 1992-10-08 15:15:42.5 -6:00", NULL, 0, "1992-10-08T21:15:42.500"},
    /* What f64 does not hold is rounded to the second that it stands for. */
    {"days since 1850-01-01", NULL, 55000.1, "2000-08-02T02:24:00"},
    {"hours since 1800-01-01", NULL, 1e6 + 1.0 / 3, "1914-01-30T16:20:00"},
    {"days since 2001-01-01", NULL, -1.0 / 86400, "2000-12-31T23:59:59"},
    /* Nothing that is a time. */
    {"days since 2001-02-29", NULL, 0, "none"},
    {"days since 2001-13-01", NULL, 0, "none"},
    {"days since 2001-01-01 24:00:00", NULL, 0, "none"},
    {"days since 20010101", NULL, 0, "none"},
    {"days since", NULL, 0, "none"},
    {"days", NULL, 0, "none"},
    {"months since 2001-01-01", "standard", 0, "none"},
    {"years since 2001-01-01", NULL, 0, "none"},
    {"day as %Y%m%d.%f", NULL, 0, "none"},
    {"degrees_north", NULL, 0, "none"},
    {"days since 2001-01-01 and a half", NULL, 0, "none"},
    {"days since 2001-01-01", "lunar", 0, "none"},
    {"days since 2001-01-01", NULL, 1e13, "none"},
    {"days since 2001-01-01", NULL, 1e300, "none"},
    {"days since 2001-01-01", NULL, (double)NAN, "none"},
};

START_TEST(known_dates) {
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    const char *text = decoded(known[i].units, known[i].calendar, known[i].value);
    ck_assert_msg(strcmp(text, known[i].text) == 0, "%.17g %s (%s): %s, not %s", known[i].value, known[i].units,
                  known[i].calendar ? known[i].calendar : "no calendar", text, known[i].text);
  }
  ck_assert_str_eq(decoded(NULL, NULL, 0), "none");
}
END_TEST

static void check_day(ndr_calendar calendar, int64_t day, const slow_date *wanted) {
  const ndr_date date = ndr_date_of(calendar, (ndr_instant){day, 5});
  ndr_instant back = {0, 0};
  if (date.year != wanted->year || date.month != wanted->month || date.day != wanted->day || date.microsecond != 5)
    ck_abort_msg("%s: day %lld is %lld-%d-%d, not %d-%d-%d", ndr_calendar_name(calendar), (long long)day,
                 (long long)date.year, date.month, date.day, wanted->year, wanted->month, wanted->day);
  if (!ndr_date_to_instant(calendar, &date, &back) || back.day != day || back.microsecond != 5)
    ck_abort_msg("%s: day %lld comes back as %lld", ndr_calendar_name(calendar), (long long)day, (long long)back.day);
}

/* Walks through 3400 years day by day. */
START_TEST(days_follow_each_other) {
  for (int c = 0; c < CALENDARS; c++) {
    const char *name = ndr_calendar_name(calendars[c]);
    slow_date date = slow_new_year(-800);
    int passed = 0;
    for (int64_t day = day_of(calendars[c], -800, 1, 1); date.year < 2600; day++) {
      const slow_date before = date;
      check_day(calendars[c], day, &date);
      slow_next_day(name, &date);
      passed++;
      if (date.month == before.month) continue;
      ck_assert_int_eq(passed, ndr_calendar_month_days(calendars[c], before.year, before.month));
      passed = 0;
    }
  }
}
END_TEST

/* The real calendars have one number for a day. */
START_TEST(a_day_has_a_number) {
  static const struct {
    int64_t gregorian[3], julian[3];
  } days[] = {{{2000, 1, 1}, {1999, 12, 19}},
              {{1582, 10, 15}, {1582, 10, 5}},
              {{200, 3, 1}, {200, 3, 1}},
              {{0, 12, 30}, {1, 1, 1}},
              {{-4713, 11, 24}, {-4712, 1, 1}}};
  for (size_t i = 0; i < sizeof days / sizeof *days; i++) {
    const int64_t *g = days[i].gregorian, *j = days[i].julian;
    int64_t day = day_of(NDR_CALENDAR_PROLEPTIC_GREGORIAN, g[0], (int)g[1], (int)g[2]);
    ck_assert_int_eq(day_of(NDR_CALENDAR_JULIAN, j[0], (int)j[1], (int)j[2]), day);
    const int64_t *own = i < 2 ? g : j;
    ck_assert_int_eq(day_of(NDR_CALENDAR_STANDARD, own[0], (int)own[1], (int)own[2]), day);
  }
}
END_TEST

/* A date that ends early names all from its first instant to the one after its last. */
START_TEST(dates_name_periods) {
  static const struct {
    const char *calendar, *text, *begin, *end; /* NULL: no date */
  } names[] = {{"standard", "2000", "2000-01-01", "2001-01-01"},
               {"standard", "2000-02", "2000-02-01", "2000-03-01"},
               {"standard", "2000-12", "2000-12-01", "2001-01-01"},
               {"standard", " 2000-2-29 ", "2000-02-29", "2000-03-01"},
               {"standard", "1582-10", "1582-10-01", "1582-11-01"},
               {"standard", "1582-10-04", "1582-10-04", "1582-10-15"},
               {"standard", "1582-10-05", NULL, NULL},
               {"standard", "-0001", "-0001-01-01", "0001-01-01"},
               {"standard", "0", NULL, NULL},
               {"noleap", "0", "0000-01-01", "0001-01-01"},
               {"noleap", "2000-02-29", NULL, NULL},
               {"noleap", "2000-02-28", "2000-02-28", "2000-03-01"},
               {"360_day", "2000-02-30", "2000-02-30", "2000-03-01"},
               {"360_day", "2000-12", "2000-12-01", "2001-01-01"},
               {"standard", "2000-02-28T23", "2000-02-28T23:00:00", "2000-02-29"},
               {"standard", "2000-02-28 23:59", "2000-02-28T23:59:00", "2000-02-29"},
               {"standard", "2000-12-31T23:59:59", "2000-12-31T23:59:59", "2001-01-01"},
               {"standard", "2000-12-31T23:59:59.5", "2000-12-31T23:59:59.500", "2000-12-31T23:59:59.500001"},
               {"standard", "2000-01-01T00Z", "2000-01-01", "2000-01-01T01:00:00"},
               {"standard", "2000-01-01T00+02:00", "1999-12-31T22:00:00", "1999-12-31T23:00:00"},
               {"standard", "", NULL, NULL},
               {"standard", "2000-13", NULL, NULL},
               {"standard", "2000-01-01T24", NULL, NULL},
               {"standard", "20000101", NULL, NULL},
               {"standard", "2000-01-01-01", NULL, NULL},
               {"standard", "2000:2001", NULL, NULL}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    ndr_time_units units;
    ndr_instant period[2];
    char begin[NDR_TIME_CHARS], end[NDR_TIME_CHARS];
    ck_assert(ndr_time_units_parse("days since 1-1-1", names[i].calendar, &units));
    ck_assert_msg(ndr_date_read(names[i].text, &units, period) == (names[i].begin != NULL), "'%s'", names[i].text);
    if (!names[i].begin) continue;
    ndr_time_write(&units, period[0], ndr_time_precision_of(period[0]), begin);
    ndr_time_write(&units, period[1], ndr_time_precision_of(period[1]), end);
    ck_assert_str_eq(begin, names[i].begin);
    ck_assert_str_eq(end, names[i].end);
  }
}
END_TEST

/* Instants as numbers of any unit, and back. */
START_TEST(instants_have_numbers) {
  static const char *const units[] = {"milliseconds", "seconds", "minutes", "hours", "days", "weeks"};
  rng random = {test_seed()};
  for (int n = test_case_count(5000); n > 0; n--) {
    char since[64];
    ndr_time_units parsed;
    ndr_instant instant = {rng_between(&random, -300000, 800000), rng_between(&random, 0, 86399) * 1000000}, back;
    snprintf(since, sizeof since, "%s since %d-%02d-01 12:34:56", units[rng_between(&random, 0, 5)],
             (int)rng_between(&random, 1, 2100), (int)rng_between(&random, 1, 12));
    ck_assert(ndr_time_units_parse(since, ndr_calendar_name(calendars[rng_between(&random, 0, 5)]), &parsed));
    double value = ndr_time_encode(&parsed, instant);
    ck_assert(ndr_time_decode(&parsed, value, fabs(value) * 0x1p-51, &back));
    ck_assert_msg(back.day == instant.day && back.microsecond == instant.microsecond, "%s: %.17g", since, value);
  }
}
END_TEST

START_TEST(leap_years_are_the_calendars) {
  static const struct {
    int64_t year;
    int days[CALENDARS]; /* of February, in the order of `calendars` */
  } rules[] = {{2000, {29, 29, 29, 28, 29, 30}}, {1900, {28, 28, 29, 28, 29, 30}}, {1500, {29, 28, 29, 28, 29, 30}},
               {2004, {29, 29, 29, 28, 29, 30}}, {2001, {28, 28, 28, 28, 29, 30}}, {-4, {29, 29, 29, 28, 29, 30}}};
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    for (int c = 0; c < CALENDARS; c++)
      ck_assert_int_eq(ndr_calendar_month_days(calendars[c], rules[i].year, 2), rules[i].days[c]);
  ck_assert_int_eq(ndr_calendar_month_days(NDR_CALENDAR_STANDARD, 1582, 10), 21);
}
END_TEST

/* 400 Gregorian years are 146097 days, wherever they begin, and years far away are found as fast as near ones. */
START_TEST(far_years) {
  for (int64_t year = -999999999; year < 999990000; year += 99999997) {
    int64_t day = day_of(NDR_CALENDAR_PROLEPTIC_GREGORIAN, year, 3, 1);
    ck_assert_int_eq(day_of(NDR_CALENDAR_PROLEPTIC_GREGORIAN, year + 400, 3, 1) - day, 146097);
    for (int c = 0; c < CALENDARS; c++) {
      ndr_date date = ndr_date_of(calendars[c], (ndr_instant){day_of(calendars[c], year, 12, 30), 7});
      ck_assert(date.year == year && date.month == 12 && date.day == 30 && date.microsecond == 7);
    }
  }
}
END_TEST

/* The first and the last day of 10^9 years are dates; the days beside them, and a reference that its zone moves to
 * one, are none. */
START_TEST(farthest_years) {
  const int64_t far = INT64_C(1000000000);
  for (int c = 0; c < CALENDARS; c++) {
    ndr_time_units units;
    ndr_instant instant;
    const char *name = ndr_calendar_name(calendars[c]);
    ck_assert(ndr_time_units_parse("days since 2000-01-01", name, &units));
    int64_t first = day_of(calendars[c], -far, 1, 1), last = day_of(calendars[c], far, 12, 30) + 1;
    if (calendars[c] == NDR_CALENDAR_360_DAY) last--;
    const int64_t days[] = {first - 1, first, last, last + 1};
    for (int i = 0; i < 4; i++) {
      bool is_date = ndr_time_decode(&units, (double)(days[i] - units.reference.day), 0, &instant);
      ck_assert_msg(is_date == (i == 1 || i == 2), "%s, day %lld", name, (long long)days[i]);
    }
    ck_assert(ndr_time_units_parse("days since +1000000000-12-30 23:00", name, &units));
    ck_assert(!ndr_time_units_parse("days since +1000000000-12-30 23:00 -26:00", name, &units));
    bool ends = calendars[c] == NDR_CALENDAR_360_DAY;
    ck_assert(ndr_time_units_parse("days since +1000000000-12-30 23:00 -2:00", name, &units) == !ends);
  }
}
END_TEST

/* What is said of units that are no dates. */
START_TEST(flaws_of_units) {
  static const struct {
    const char *units, *calendar, *flaw;
  } rows[] = {
      {"days since 2000-13-45", NULL, "there is no month 13"},
      {"days since 2000-00-01", "noleap", "there is no month 0"},
      {"days since 2000-02-30", NULL, "month 2 of that year has 29 days, and no day 30"},
      {"days since 2001-02-29", "365_day", "month 2 of that year has 28 days, and no day 29"},
      {"hours since 2000-01-31 00:00", "360_day", "month 1 of that year has 30 days, and no day 31"},
      {"days since then", NULL, "the date is none of the calendar"},
      {"months since 2000-01-01", NULL,
       "the unit is none of time, or has no one length, as months and years in most calendars"},
      {"metres since 2000-13-01", NULL,
       "the unit is none of time, or has no one length, as months and years in most calendars"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    ndr_time_units units;
    char flaw[NDR_TIME_FLAW];
    ck_assert(!ndr_time_units_parse(rows[i].units, rows[i].calendar, &units));
    ndr_time_units_flaw(rows[i].units, rows[i].calendar, flaw);
    ck_assert_str_eq(flaw, rows[i].flaw);
  }
}
END_TEST

static double converted(const char *from, const char *to, const char *calendar, double value) {
  ndr_time_units a, b;
  ck_assert(ndr_time_units_parse(from, calendar, &a) && ndr_time_units_parse(to, calendar, &b));
  return ndr_time_convert(&a, &b, value);
}

START_TEST(conversions_are_exact) {
  const char *first = "days since 2000-01-01", *next = "days since 2001-01-01", *hours = "hours since 2001-01-01";
  ck_assert(converted(next, first, "standard", 0.5) == 366.5);
  ck_assert(converted(next, first, "noleap", 0.5) == 365.5);
  ck_assert(converted(next, first, "360_day", 0.5) == 360.5);
  ck_assert(converted(hours, first, "standard", 36) == 367.5);
  ck_assert(converted(first, hours, "standard", 366.125) == 3);
  ck_assert(converted("seconds since 2001-01-01", "days since 2001-01-01", "standard", 1) == 1.0 / 86400);
  ck_assert(converted("days since 1-1-1", "seconds since 1970-01-01", "standard", 719165) == 86400);
  ck_assert(isnan(converted(next, first, "standard", NAN)));
}
END_TEST

int main(void) {
  Suite *suite = suite_create("h5 time");
  suite_case(suite, "calendars", 60, days_follow_each_other, a_day_has_a_number, leap_years_are_the_calendars,
             far_years, farthest_years, flaws_of_units, NULL);
  suite_case(suite, "times", 10, known_dates, dates_name_periods, instants_have_numbers, conversions_are_exact, NULL);
  return suite_run(suite);
}
