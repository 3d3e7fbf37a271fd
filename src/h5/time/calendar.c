/* The calendars of CF: days of a calendar in sequence, and what year, month and day each is.
 *
 * A calendar is how many days lie before 1 January of a year; months follow from how long the year is. Day 0 is
 * 1 January of the year 0 of the calendar itself; those of JULIAN and of the Julian part of STANDARD are numbered as
 * the same days of PROLEPTIC_GREGORIAN are. */
#include <stdlib.h>
#include <strings.h>

#include "h5/time/time.h"

#define MOST_YEARS INT64_C(1000000000)

bool ndr_calendar_parse(const char *name, ndr_calendar *calendar) {
  static const struct {
    const char *name;
    ndr_calendar calendar;
  } names[] = {
      {"", NDR_CALENDAR_STANDARD},          {"standard", NDR_CALENDAR_STANDARD},
      {"gregorian", NDR_CALENDAR_STANDARD}, {"proleptic_gregorian", NDR_CALENDAR_PROLEPTIC_GREGORIAN},
      {"julian", NDR_CALENDAR_JULIAN},      {"noleap", NDR_CALENDAR_NOLEAP},
      {"365_day", NDR_CALENDAR_NOLEAP},     {"all_leap", NDR_CALENDAR_ALL_LEAP},
      {"366_day", NDR_CALENDAR_ALL_LEAP},   {"360_day", NDR_CALENDAR_360_DAY},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcasecmp(name ? name : "", names[i].name) != 0) continue;
    *calendar = names[i].calendar;
    return true;
  }
  return false;
}

const char *ndr_calendar_name(ndr_calendar calendar) {
  static const char *const names[] = {"standard", "proleptic_gregorian", "julian", "noleap", "all_leap", "360_day"};
  return names[calendar];
}

/* Towards minus infinity. */
static int64_t floor_div(int64_t a, int64_t b) {
  return a / b - (a % b < 0);
}

/* ---- Years ------------------------------------------------------------------------------------------------------ */

/* The number of 1 January. Leap years before it are counted by the multiples of 4, 100 and 400. The year 0 is a leap
 * year where there are any, so its 366 days come before year 1. In October 1582 the Julian calendar was ten days
 * behind; in the year 0 it was two days ahead, so that its first 1 January was day -2. */
static int64_t year_start(ndr_calendar calendar, int64_t year) {
  int64_t before = year - 1; /* the last year that is over */
  switch (calendar) {
  case NDR_CALENDAR_PROLEPTIC_GREGORIAN:
    return 365 * year + floor_div(before, 4) - floor_div(before, 100) + floor_div(before, 400) + 1;
  case NDR_CALENDAR_JULIAN: return 365 * year + floor_div(before, 4) + 1 - 2;
  case NDR_CALENDAR_NOLEAP: return 365 * year;
  case NDR_CALENDAR_ALL_LEAP: return 366 * year;
  default: return 360 * year;
  }
}

/* Which year a day is of, not of STANDARD, which has two parts. The guess by the mean length of a year is a few years
 * off at most. */
static int64_t year_of(ndr_calendar calendar, int64_t day) {
  static const int64_t ten_thousand_years[] = {
      [NDR_CALENDAR_PROLEPTIC_GREGORIAN] = 3652425,
      [NDR_CALENDAR_JULIAN] = 3652500,
      [NDR_CALENDAR_NOLEAP] = 3650000,
      [NDR_CALENDAR_ALL_LEAP] = 3660000,
      [NDR_CALENDAR_360_DAY] = 3600000,
  };
  int64_t year = floor_div(day * 10000, ten_thousand_years[calendar]);
  while (year_start(calendar, year) > day) year--;
  while (year_start(calendar, year + 1) <= day) year++;
  return year;
}

/* ---- Months ----------------------------------------------------------------------------------------------------- */

static int month_days(ndr_calendar calendar, int64_t year, int month) {
  static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (calendar == NDR_CALENDAR_360_DAY) return 30;
  bool leap = year_start(calendar, year + 1) - year_start(calendar, year) == 366;
  return days[month - 1] + (month == 2 && leap);
}

/* The calendar that rules in STANDARD from and before the switch. */
static const ndr_date first_gregorian = {.year = 1582, .month = 10, .day = 15};

bool ndr_calendar_is_gregorian(ndr_calendar calendar) {
  return calendar == NDR_CALENDAR_STANDARD || calendar == NDR_CALENDAR_PROLEPTIC_GREGORIAN;
}

static bool is_before(const ndr_date *a, const ndr_date *b) {
  if (a->year != b->year) return a->year < b->year;
  return a->month != b->month ? a->month < b->month : a->day < b->day;
}

static ndr_calendar part_of(ndr_calendar calendar, const ndr_date *date) {
  if (calendar != NDR_CALENDAR_STANDARD) return calendar;
  return is_before(date, &first_gregorian) ? NDR_CALENDAR_JULIAN : NDR_CALENDAR_PROLEPTIC_GREGORIAN;
}

int ndr_calendar_month_days(ndr_calendar calendar, int64_t year, int month) {
  const ndr_date last = {.year = year, .month = month, .day = 31};
  bool gap = calendar == NDR_CALENDAR_STANDARD && year == first_gregorian.year && month == first_gregorian.month;
  return month_days(part_of(calendar, &last), year, month) - (gap ? 10 : 0);
}

/* ---- Dates ------------------------------------------------------------------------------------------------------ */

static int64_t day_number(ndr_calendar calendar, const ndr_date *date) {
  int64_t day = year_start(calendar, date->year) + date->day - 1;
  for (int month = 1; month < date->month; month++) day += month_days(calendar, date->year, month);
  return day;
}

/* The days between the two calendars' dates of one name do not exist. */
static bool is_in_gap(ndr_calendar calendar, const ndr_date *date) {
  return calendar == NDR_CALENDAR_STANDARD && date->year == 1582 && date->month == 10 && date->day > 4 &&
         date->day < first_gregorian.day;
}

bool ndr_instant_is_gregorian(ndr_instant instant) {
  return instant.day >= day_number(NDR_CALENDAR_PROLEPTIC_GREGORIAN, &first_gregorian);
}

bool ndr_date_to_instant(ndr_calendar calendar, const ndr_date *date, ndr_instant *instant) {
  ndr_calendar part = part_of(calendar, date);
  if (llabs(date->year) > MOST_YEARS || date->month < 1 || date->month > 12 || date->day < 1) return false;
  if (date->day > month_days(part, date->year, date->month) || is_in_gap(calendar, date)) return false;
  *instant = (ndr_instant){day_number(part, date), date->microsecond};
  return true;
}

static ndr_calendar part_at(ndr_calendar calendar, ndr_instant instant) {
  if (calendar != NDR_CALENDAR_STANDARD) return calendar;
  return ndr_instant_is_gregorian(instant) ? NDR_CALENDAR_PROLEPTIC_GREGORIAN : NDR_CALENDAR_JULIAN;
}

bool ndr_calendar_holds(ndr_calendar calendar, ndr_instant instant) {
  ndr_calendar part = part_at(calendar, instant);
  return year_start(part, -MOST_YEARS) <= instant.day && instant.day < year_start(part, MOST_YEARS + 1);
}

ndr_date ndr_date_of(ndr_calendar calendar, ndr_instant instant) {
  calendar = part_at(calendar, instant);
  int64_t year = year_of(calendar, instant.day), rest = instant.day - year_start(calendar, year);
  int month = 1;
  for (; rest >= month_days(calendar, year, month); month++) rest -= month_days(calendar, year, month);
  return (ndr_date){year, month, (int)rest + 1, instant.microsecond};
}
