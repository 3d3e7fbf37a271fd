/* Dates and numbers of units since a date; the calendars' own rules are in calendar.c. */
#include "h5/time/time.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SECOND INT64_C(1000000)
#define DAY (86400 * SECOND)

/* ---- Reading units ---------------------------------------------------------------------------------------------- */

typedef struct {
  const char *names[6];
  int64_t microseconds;
} time_unit;

static const time_unit units_of_time[] = {
    {{"microsecond", "microseconds", "microsec", "microsecs", NULL}, 1},
    {{"millisecond", "milliseconds", "millisec", "millisecs", "msec", "ms"}, SECOND / 1000},
    {{"second", "seconds", "sec", "secs", "s", NULL}, SECOND},
    {{"minute", "minutes", "min", "mins", NULL}, 60 * SECOND},
    {{"hour", "hours", "hr", "hrs", "h", NULL}, 3600 * SECOND},
    {{"day", "days", "d", NULL}, DAY},
    {{"week", "weeks", NULL}, 7 * DAY},
    {{"common_year", "common_years", NULL}, 365 * DAY},
};

static bool same_word(const char *text, size_t length, const char *word) {
  return strlen(word) == length && strncasecmp(text, word, length) == 0;
}

/* Of calendars in which they are all alike; 0 elsewhere. */
static int64_t long_unit(const char *text, size_t length, ndr_calendar calendar) {
  bool year = same_word(text, length, "year") || same_word(text, length, "years");
  bool month = same_word(text, length, "month") || same_word(text, length, "months");
  switch (calendar) {
  case NDR_CALENDAR_NOLEAP: return year ? 365 * DAY : 0;
  case NDR_CALENDAR_ALL_LEAP: return year ? 366 * DAY : 0;
  case NDR_CALENDAR_360_DAY: return year ? 360 * DAY : month ? 30 * DAY : 0;
  default: return 0;
  }
}

static int64_t find_unit(const char *text, size_t length, ndr_calendar calendar) {
  for (size_t i = 0; i < sizeof units_of_time / sizeof *units_of_time; i++)
    for (int n = 0; n < 6 && units_of_time[i].names[n]; n++)
      if (same_word(text, length, units_of_time[i].names[n])) return units_of_time[i].microseconds;
  return long_unit(text, length, calendar);
}

static void skip_blanks(const char **at) {
  while (isspace((unsigned char)**at)) (*at)++;
}

/* Digits, ten at most. */
static bool read_digits(const char **at, int64_t *number) {
  char *end;
  if (!isdigit((unsigned char)**at)) return false;
  *number = strtoll(*at, &end, 10);
  if (end - *at > 10) return false;
  *at = end;
  return true;
}

static bool read_after(const char **at, char mark, int64_t *number) {
  if (**at != mark) return false;
  (*at)++;
  return read_digits(at, number);
}

/* A fraction of a second; digits beyond the sixth are dropped. */
static int64_t read_fraction(const char **at) {
  int64_t micros = 0, place = SECOND / 10;
  if (**at != '.') return 0;
  for ((*at)++; isdigit((unsigned char)**at); (*at)++, place /= 10) micros += (**at - '0') * place;
  return micros;
}

/* How much of a date is written. */
typedef enum { TO_YEAR, TO_MONTH, TO_DAY, TO_HOUR, TO_MINUTE, TO_SECOND, TO_FRACTION } depth;

/* HOUR[:MINUTE[:SECOND]] */
static bool read_clock(const char **at, int64_t *microsecond, depth *to) {
  int64_t hour, minute = 0, second = 0, fraction = 0;
  *to = TO_HOUR;
  if (!read_digits(at, &hour)) return false;
  if (**at == ':') {
    *to = TO_MINUTE;
    if (!read_after(at, ':', &minute)) return false;
  }
  if (**at == ':') {
    if (!read_after(at, ':', &second)) return false;
    *to = **at == '.' ? TO_FRACTION : TO_SECOND;
    fraction = read_fraction(at);
  }
  if (hour >= 24 || minute >= 60 || second >= 60) return false; /* before what may overflow */
  *microsecond = (hour * 3600 + minute * 60 + second) * SECOND + fraction;
  return true;
}

/* Z, UTC, GMT, or how far a clock is ahead of that: +HOUR:MINUTE, +HOURMINUTE or +HOUR. */
static bool read_zone(const char **at, int64_t *ahead) {
  int64_t hour, minute = 0;
  *ahead = 0;
  if (!**at) return true;
  for (size_t i = 0; i < 3; i++) {
    static const char *const names[] = {"UTC", "GMT", "Z"};
    if (strncasecmp(*at, names[i], strlen(names[i])) != 0) continue;
    *at += strlen(names[i]);
    return true;
  }
  int sign = **at == '-' ? -1 : 1;
  if (**at == '-' || **at == '+') (*at)++;
  const char *digits = *at;
  if (!read_digits(at, &hour)) return false;
  if (*at - digits > 2) {
    minute = hour % 100;
    hour /= 100;
  }
  if (**at == ':' && !read_after(at, ':', &minute)) return false;
  *ahead = sign * (hour * 60 + minute) * 60 * SECOND;
  return hour < 24 && minute < 60;
}

static bool read_day(const char **at, ndr_date *date, depth *to) {
  int64_t month = 1, day = 1;
  int sign = **at == '-' ? -1 : 1;
  bool is_signed = **at == '-' || **at == '+';
  if (is_signed) (*at)++;
  if (!read_digits(at, &date->year)) return false;
  if (date->year > 999999 && !is_signed && **at != '-') return false; /* 20010101 is no year */
  date->year *= sign;
  *to = TO_YEAR;
  if (**at == '-') {
    *to = TO_MONTH;
    if (!read_after(at, '-', &month)) return false;
  }
  if (**at == '-') {
    *to = TO_DAY;
    if (!read_after(at, '-', &day)) return false;
  }
  if (month > 12 || day > 31) return false;
  date->month = (int)month;
  date->day = (int)day;
  return true;
}

static bool read_date(const char *at, ndr_date *date, int64_t *ahead, depth *to) {
  *date = (ndr_date){.year = 0};
  *ahead = 0;
  if (!read_day(&at, date, to)) return false;
  if (*at == 'T' || *at == 't') {
    at++;
    if (!isdigit((unsigned char)*at)) return false;
  }
  skip_blanks(&at);
  if (isdigit((unsigned char)*at) && !read_clock(&at, &date->microsecond, to)) return false;
  skip_blanks(&at);
  if (!read_zone(&at, ahead)) return false;
  skip_blanks(&at);
  return !*at;
}

/* Moves an instant by less than a day. */
static ndr_instant moved(ndr_instant instant, int64_t microseconds) {
  int64_t sum = instant.microsecond + microseconds;
  return (ndr_instant){instant.day + (sum >= DAY) - (sum < 0), sum < 0 ? sum + DAY : sum % DAY};
}

/* Whether the years of a calendar are written with a year 0: not in the real ones, CF says. */
static bool has_zero_year(ndr_calendar calendar) {
  return calendar != NDR_CALENDAR_STANDARD && calendar != NDR_CALENDAR_JULIAN;
}

bool ndr_time_units_parse(const char *units, const char *calendar, ndr_time_units *parsed) {
  ndr_date date;
  int64_t ahead;
  depth to;
  if (!units || !ndr_calendar_parse(calendar, &parsed->calendar)) return false;
  skip_blanks(&units);
  size_t length = strcspn(units, " \t");
  parsed->unit = find_unit(units, length, parsed->calendar);
  units += length;
  skip_blanks(&units);
  if (parsed->unit == 0 || strncasecmp(units, "since", 5) != 0 || !isspace((unsigned char)units[5])) return false;
  units += 5;
  skip_blanks(&units);
  if (!read_date(units, &date, &ahead, &to)) return false;
  parsed->zero_year = has_zero_year(parsed->calendar) || date.year == 0;
  if (!parsed->zero_year && date.year < 0) date.year++;
  if (!ndr_date_to_instant(parsed->calendar, &date, &parsed->reference)) return false;
  parsed->reference = moved(parsed->reference, -ahead);
  return ndr_calendar_holds(parsed->calendar, parsed->reference);
}

void ndr_time_units_flaw(const char *units, const char *calendar, char text[NDR_TIME_FLAW]) {
  const char *since = strstr(units, " since ");
  ndr_calendar in = NDR_CALENDAR_STANDARD;
  const char *at = since ? since + strlen(" since ") : "";
  int64_t year, month = 1, day = 1;
  (void)ndr_calendar_parse(calendar, &in);
  skip_blanks(&units);
  skip_blanks(&at);
  const bool negative = *at == '-';
  at += negative;
  const bool written = read_digits(&at, &year) && read_after(&at, '-', &month) && read_after(&at, '-', &day);
  const int days =
      written && month >= 1 && month <= 12 ? ndr_calendar_month_days(in, negative ? -year : year, (int)month) : 0;
  if (find_unit(units, strcspn(units, " \t"), in) == 0)
    snprintf(text, NDR_TIME_FLAW,
             "the unit is none of time, or has no one length, as months and years in most calendars");
  else if (written && (month < 1 || month > 12))
    snprintf(text, NDR_TIME_FLAW, "there is no month %lld", (long long)month);
  else if (written && (day < 1 || day > days))
    snprintf(text, NDR_TIME_FLAW, "month %d of that year has %d days, and no day %lld", (int)month, days,
             (long long)day);
  else
    snprintf(text, NDR_TIME_FLAW, "the date is none of the calendar");
}

/* ---- Reading dates ---------------------------------------------------------------------------------------------- */

/* The first instant after the period that begins with `begin` and is as long as what is written last. */
static bool find_end(ndr_calendar calendar, ndr_date date, ndr_instant begin, depth to, ndr_instant *end) {
  static const int64_t lengths[] = {
      [TO_HOUR] = 3600 * SECOND, [TO_MINUTE] = 60 * SECOND, [TO_SECOND] = SECOND, [TO_FRACTION] = 1};
  *end = to == TO_DAY ? (ndr_instant){begin.day + 1, begin.microsecond} : begin;
  if (to == TO_YEAR || date.month + (to == TO_MONTH) > 12)
    date = (ndr_date){.year = date.year + 1, .month = 1, .day = 1};
  else if (to == TO_MONTH)
    date.month++;
  if (to <= TO_MONTH) return ndr_date_to_instant(calendar, &date, end);
  if (to >= TO_HOUR) *end = moved(begin, lengths[to]);
  return true;
}

/* What is written, whether or not the calendar has that day. */
static bool read_written(const char *text, const ndr_time_units *units, ndr_date *date, int64_t *ahead, depth *to) {
  skip_blanks(&text);
  if (!read_date(text, date, ahead, to)) return false;
  if (*ahead != 0 && *to < TO_HOUR) return false; /* 2000-01-01-01 has a zone, but no clock */
  if (!units->zero_year && date->year == 0) return false;
  if (!units->zero_year && date->year < 0) date->year++;
  return true;
}

bool ndr_date_read(const char *text, const ndr_time_units *units, ndr_instant period[2]) {
  ndr_date date;
  int64_t ahead;
  depth to;
  if (!read_written(text, units, &date, &ahead, &to)) return false;
  if (!ndr_date_to_instant(units->calendar, &date, &period[0])) return false;
  if (!find_end(units->calendar, date, period[0], to, &period[1])) return false;
  period[0] = moved(period[0], -ahead);
  period[1] = moved(period[1], -ahead);
  return true;
}

int ndr_date_days_exceeded(const char *text, const ndr_time_units *units) {
  ndr_date date;
  ndr_instant first;
  int64_t ahead;
  depth to;
  if (!read_written(text, units, &date, &ahead, &to) || date.month < 1) return 0;
  int days = ndr_calendar_month_days(units->calendar, date.year, date.month);
  return date.day > days && !ndr_date_to_instant(units->calendar, &date, &first) ? days : 0;
}

bool ndr_instant_is_before(ndr_instant a, ndr_instant b) {
  return a.day != b.day ? a.day < b.day : a.microsecond < b.microsecond;
}

/* ---- Numbers ---------------------------------------------------------------------------------------------------- */

/* The nearest multiple of `unit` microseconds. */
static int64_t nearest(int64_t microseconds, int64_t unit) {
  int64_t up = microseconds + unit / 2;
  return up - up % unit;
}

/* Rounds to whole seconds, else to milliseconds, if that changes `microseconds` by at most `within`; else to the
 * nearest microsecond. */
static int64_t round_off(double microseconds, double within) {
  static const int64_t steps[] = {SECOND, SECOND / 1000};
  int64_t whole = llround(microseconds);
  for (int i = 0; i < 2; i++) {
    int64_t rounded = nearest(whole, steps[i]);
    if (fabs((double)rounded - microseconds) <= within) return rounded;
  }
  return whole;
}

/* Splits the number into whole units and a rest, so that nothing is lost before microseconds are rounded. */
bool ndr_time_decode(const ndr_time_units *units, double value, double within, ndr_instant *instant) {
  if (!(fabs(value) < 0x1p53)) return false;
  double whole = floor(value), rest = (value - whole) * (double)units->unit;
  int64_t count = (int64_t)whole, day, microsecond;
  if (units->unit >= DAY) {
    day = count * (units->unit / DAY);
    day += (int64_t)floor(rest / (double)DAY);
    rest -= floor(rest / (double)DAY) * (double)DAY;
    microsecond = 0;
  } else {
    int64_t a_day = DAY / units->unit;
    day = count / a_day - (count % a_day < 0);
    microsecond = (count - day * a_day) * units->unit;
  }
  microsecond += units->reference.microsecond;
  int64_t rounded = round_off((double)microsecond + rest, within * (double)units->unit);
  *instant = (ndr_instant){units->reference.day + day + rounded / DAY, rounded % DAY};
  return llabs(instant->day) < INT64_C(1) << 40 && ndr_calendar_holds(units->calendar, *instant);
}

static long double microseconds_between(ndr_instant from, ndr_instant to) {
  return (long double)(to.day - from.day) * DAY + (long double)(to.microsecond - from.microsecond);
}

double ndr_time_encode(const ndr_time_units *units, ndr_instant instant) {
  return (double)(microseconds_between(units->reference, instant) / (long double)units->unit);
}

double ndr_time_convert(const ndr_time_units *from, const ndr_time_units *to, double value) {
  long double apart = microseconds_between(to->reference, from->reference);
  if (from->unit == to->unit) return (double)((long double)value + apart / (long double)to->unit);
  return (double)(((long double)value * (long double)from->unit + apart) / (long double)to->unit);
}

/* ---- Writing ---------------------------------------------------------------------------------------------------- */

ndr_time_precision ndr_time_precision_of(ndr_instant instant) {
  if (instant.microsecond % 1000) return NDR_TIME_MICROS;
  if (instant.microsecond % SECOND) return NDR_TIME_MILLIS;
  return instant.microsecond ? NDR_TIME_SECONDS : NDR_TIME_DAYS;
}

void ndr_time_write(const ndr_time_units *units, ndr_instant instant, ndr_time_precision precision,
                    char text[NDR_TIME_CHARS]) {
  ndr_date date = ndr_date_of(units->calendar, instant);
  int64_t year = date.year - (!units->zero_year && date.year < 1), second = date.microsecond / SECOND;
  int micros = (int)(date.microsecond % SECOND);
  int length = snprintf(text, NDR_TIME_CHARS, "%s%04lld-%02d-%02d", year < 0 ? "-" : "", llabs((long long)year),
                        date.month, date.day);
  size_t left = NDR_TIME_CHARS - (size_t)length;
  if (precision == NDR_TIME_DAYS) return;
  length += snprintf(text + length, left, "T%02d:%02d:%02d", (int)(second / 3600), (int)(second / 60 % 60),
                     (int)(second % 60));
  left = NDR_TIME_CHARS - (size_t)length;
  if (precision == NDR_TIME_MILLIS) snprintf(text + length, left, ".%03d", micros / 1000);
  if (precision == NDR_TIME_MICROS) snprintf(text + length, left, ".%06d", micros);
}
