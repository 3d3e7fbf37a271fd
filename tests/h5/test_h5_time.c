/* Calendars and times since a date: days that are known, rules of each calendar, and texts of units. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "h5/cf/time.h"
#include "support/cases.h"
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

/* Walks through days one by one: each is the next day of its month, or the first of the next month. */
START_TEST(days_follow_each_other) {
  for (int c = 0; c < CALENDARS; c++) {
    int64_t start = day_of(calendars[c], -5, 1, 1);
    ndr_date before = ndr_date_of(calendars[c], (ndr_instant){start, 0});
    int passed = 1;
    for (int64_t day = start + 1; day < start + 620000; day++, passed++) {
      ndr_date date = ndr_date_of(calendars[c], (ndr_instant){day, 5});
      bool same = date.year == before.year && date.month == before.month,
           gap = same && date.day == 15 && before.day == 4;
      bool next = date.year * 12 + date.month == before.year * 12 + before.month + 1 && date.day == 1;
      if (!(same && (gap || date.day == before.day + 1)) && !next)
        ck_abort_msg("%s: %lld-%d-%d", ndr_calendar_name(calendars[c]), (long long)date.year, date.month, date.day);
      if (gap) ck_assert(calendars[c] == NDR_CALENDAR_STANDARD && date.year == 1582 && date.month == 10);
      if (next) {
        ck_assert_int_eq(passed, ndr_calendar_month_days(calendars[c], before.year, before.month));
        passed = 0;
      }
      ndr_instant back = {0, 0};
      if (!ndr_date_to_instant(calendars[c], &date, &back) || back.day != day || back.microsecond != 5)
        ck_abort_msg("%s: day %lld comes back as %lld", ndr_calendar_name(calendars[c]), (long long)day,
                     (long long)back.day);
      before = date;
    }
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
  suite_case(suite, "calendars", 60, days_follow_each_other, leap_years_are_the_calendars, far_years, NULL);
  suite_case(suite, "times", 10, known_dates, conversions_are_exact, NULL);
  return suite_run(suite);
}
