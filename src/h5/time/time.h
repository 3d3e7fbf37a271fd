/* Times as CF writes them: calendars, dates, and numbers of a unit since a date. Integer arithmetic, in days and
 * microseconds; knows nothing of HDF5. */
#ifndef NDR_H5_TIME_TIME_H
#define NDR_H5_TIME_TIME_H

#include <stdbool.h>
#include <stdint.h>

/* The calendars of CF. STANDARD is Julian up to 4 October 1582, and Gregorian from the next day, 15 October, on. */
typedef enum ndr_calendar {
  NDR_CALENDAR_STANDARD,
  NDR_CALENDAR_PROLEPTIC_GREGORIAN,
  NDR_CALENDAR_JULIAN,
  NDR_CALENDAR_NOLEAP,
  NDR_CALENDAR_ALL_LEAP,
  NDR_CALENDAR_360_DAY
} ndr_calendar;

/* Years are counted with a year 0; -1 is the year before it. */
typedef struct ndr_date {
  int64_t year;
  int month, day;      /* from 1 */
  int64_t microsecond; /* of the day */
} ndr_date;

/* A point in time: the number of a day, and microseconds, 0 to 86399999999. A calendar numbers its days in sequence.
 * The same day has the same number in STANDARD, PROLEPTIC_GREGORIAN and JULIAN; numbers of other calendars cannot be
 * compared. */
typedef struct ndr_instant {
  int64_t day, microsecond;
} ndr_instant;

/* "days since 2001-01-01" in a calendar. */
typedef struct ndr_time_units {
  ndr_calendar calendar;
  int64_t unit;          /* microseconds */
  ndr_instant reference; /* of the time 0, in UTC */
  bool zero_year;        /* whether the calendar's years are written with a year 0: 1 BC is 0, not -1 */
} ndr_time_units;

/* The calendar of a name, in any case; NULL and "" are STANDARD, as in CF. False where there is none of that name. */
bool ndr_calendar_parse(const char *name, ndr_calendar *calendar);

/* CF's first name of a calendar. */
const char *ndr_calendar_name(ndr_calendar calendar);

/* Whether a calendar is Gregorian from 15 October 1582 on, and whether an instant of it is not before that: STANDARD
 * and PROLEPTIC_GREGORIAN have the same date for it then. */
bool ndr_calendar_is_gregorian(ndr_calendar calendar);
bool ndr_instant_is_gregorian(ndr_instant instant);

/* How many days a month (1 .. 12) has. October 1582 of STANDARD has 21, the last one being the 31st. */
int ndr_calendar_month_days(ndr_calendar calendar, int64_t year, int month);

/* False where the calendar has no such date, or it is more than 10^9 years away. */
bool ndr_date_to_instant(ndr_calendar calendar, const ndr_date *date, ndr_instant *instant);

/* Whether the instant's date is at most 10^9 years away. The instant is less than 2^40 days away. */
bool ndr_calendar_holds(ndr_calendar calendar, ndr_instant instant);

ndr_date ndr_date_of(ndr_calendar calendar, ndr_instant instant);

/* Reads `units` in the calendar of a name. False where that is no unit of time since a date, or no calendar. Units are
 * those of UDUNITS that are a whole number of microseconds: microseconds to weeks, with their abbreviations, and
 * common_years of 365 days; in calendars whose years are all alike years, too, and months in 360_day. The date is
 * YEAR-MONTH-DAY, then maybe HOUR:MINUTE:SECOND and a time zone: Z, UTC, GMT or +HOUR:MINUTE. Real calendars have no
 * year 0; one that is written so, as climatologies do, makes all years count with it. */
bool ndr_time_units_parse(const char *units, const char *calendar, ndr_time_units *parsed);

enum { NDR_TIME_FLAW = 128 };

/* Writes why ndr_time_units_parse refuses units that have the form "UNIT since DATE": "there is no month 13".
 * `calendar` must be one of CF's, or NULL. */
void ndr_time_units_flaw(const char *units, const char *calendar, char text[NDR_TIME_FLAW]);

/* Reads a date, which may end after the year, the month, the day, the hour, the minute or the second, and names all of
 * that: `period` is from its first instant to the first one after it. Years are counted as the units say, and may have
 * a sign and up to 10 digits, as in ISO 8601's expanded form; without a sign or a month up to 6. False where it is no
 * date of the calendar. */
bool ndr_date_read(const char *text, const ndr_time_units *units, ndr_instant period[2]);

/* How many days the month of a text has that is a date but for its day, which comes after them (30 February); else 0.
 */
int ndr_date_days_exceeded(const char *text, const ndr_time_units *units);

bool ndr_instant_is_before(ndr_instant a, ndr_instant b);

/* The point in time that is `value` units after the reference. The value is exact to +-`within` units: if a second lies
 * in this range, that is taken, else a millisecond, else the nearest microsecond. False for NaN and for what is more
 * than 10^9 years away. */
bool ndr_time_decode(const ndr_time_units *units, double value, double within, ndr_instant *instant);

/* The number of units from the reference to an instant, rounded once. */
double ndr_time_encode(const ndr_time_units *units, ndr_instant instant);

/* Converts a value in the units `from` to the units `to`, both of one calendar. Rounded once. Exact, as far as f64
 * goes, if the units are equal and their references a whole number of units apart. */
double ndr_time_convert(const ndr_time_units *from, const ndr_time_units *to, double value);

/* How much of a time is written: the date alone, or down to seconds, milliseconds or microseconds. */
typedef enum ndr_time_precision {
  NDR_TIME_DAYS,
  NDR_TIME_SECONDS,
  NDR_TIME_MILLIS,
  NDR_TIME_MICROS
} ndr_time_precision;

/* The least that an instant needs. */
ndr_time_precision ndr_time_precision_of(ndr_instant instant);

enum { NDR_TIME_CHARS = 40 };

/* "2001-01-31" or "2001-01-31T12:00:00", as in ISO 8601; years below 1000 have four digits, too. */
void ndr_time_write(const ndr_time_units *units, ndr_instant instant, ndr_time_precision precision,
                    char text[NDR_TIME_CHARS]);

#endif
