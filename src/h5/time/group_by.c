/* See group_by.h. Dates are those of calendar.c. */
#include "h5/time/group_by.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/status.h"
#include "h5/cf/attributes.h"

#define HOUR INT64_C(3600000000)

/* Periods begin and end within what ndr_date_to_instant takes. */
#define MOST_YEARS INT64_C(999999990)

static const struct {
  const char *name, *within, *over; /* what a climatology is taken over, twice; else NULL */
} keys[] = {
    [NDR_GROUP_MONTH] = {"month", "within years", "over years"},
    [NDR_GROUP_SEASON] = {"season", "within years", "over years"},
    [NDR_GROUP_YEAR] = {"year", NULL, NULL},
    [NDR_GROUP_YEARMONTH] = {"yearmonth", NULL, NULL},
    [NDR_GROUP_YEARSEASON] = {"yearseason", NULL, NULL},
    [NDR_GROUP_DAY] = {"day", NULL, NULL},
    [NDR_GROUP_DAYOFYEAR] = {"dayofyear", "within years", "over years"},
    [NDR_GROUP_MONTHDAY] = {"monthday", "within years", "over years"},
    [NDR_GROUP_HOUR] = {"hour", "within days", "over days"},
};

bool ndr_group_key_parse(const char *name, ndr_group_key *key) {
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    if (strcasecmp(name, keys[i].name) != 0) continue;
    *key = (ndr_group_key)i;
    return true;
  }
  return false;
}

const char *ndr_group_key_name(ndr_group_key key) {
  return keys[key].name;
}

bool ndr_group_key_is_climatology(ndr_group_key key) {
  return keys[key].within != NULL;
}

/* ---- Periods ---------------------------------------------------------------------------------------------------- */

/* The time around a step that belongs to its group as a whole, and the group's number. */
typedef struct {
  int64_t number;
  ndr_instant begin, end;
} period;

/* The first of a month, which is counted from January of the year on and may be of another year. */
static ndr_instant month_begin(ndr_calendar calendar, int64_t year, int64_t month) {
  int64_t years = month / 12 - (month % 12 < 0);
  const ndr_date date = {.year = year + years, .month = (int)(month - years * 12) + 1, .day = 1};
  ndr_instant instant = {0, 0};
  ndr_date_to_instant(calendar, &date, &instant);
  return instant;
}

static void set_months(period *p, ndr_calendar calendar, int64_t year, int64_t month, int64_t count) {
  p->begin = month_begin(calendar, year, month);
  p->end = month_begin(calendar, year, month + count);
}

static void set_days(period *p, int64_t day) {
  p->begin = (ndr_instant){day, 0};
  p->end = (ndr_instant){day + 1, 0};
}

static void set_hour(period *p, int64_t day, int64_t hour) {
  p->begin = (ndr_instant){day, hour * HOUR};
  p->end = hour == 23 ? (ndr_instant){day + 1, 0} : (ndr_instant){day, (hour + 1) * HOUR};
}

/* Days of the year are counted with those that 1582 left out, so that a date has the number that it has in other years,
 * as in cftime. */
static int64_t day_of_year(ndr_calendar calendar, ndr_instant instant, int64_t year) {
  if (calendar == NDR_CALENDAR_STANDARD)
    calendar = ndr_instant_is_gregorian(instant) ? NDR_CALENDAR_PROLEPTIC_GREGORIAN : NDR_CALENDAR_JULIAN;
  return instant.day - month_begin(calendar, year, 0).day + 1;
}

/* False at the end of what is a date. */
static bool find_period(ndr_calendar calendar, ndr_group_key key, ndr_instant instant, period *p) {
  ndr_date date = ndr_date_of(calendar, instant);
  int64_t season = date.month % 12 / 3, ends = date.year + (date.month == 12); /* the year of the season's last month */
  if (llabs(date.year) > MOST_YEARS) return false;
  switch (key) {
  case NDR_GROUP_MONTH:
  case NDR_GROUP_YEARMONTH:
    p->number = key == NDR_GROUP_MONTH ? date.month : date.year * 12 + date.month - 1;
    set_months(p, calendar, date.year, date.month - 1, 1);
    break;
  case NDR_GROUP_SEASON:
  case NDR_GROUP_YEARSEASON:
    p->number = key == NDR_GROUP_SEASON ? season + 1 : ends * 4 + season;
    set_months(p, calendar, ends, season * 3 - 1, 3);
    break;
  case NDR_GROUP_YEAR:
    p->number = date.year;
    set_months(p, calendar, date.year, 0, 12);
    break;
  case NDR_GROUP_DAY:
  case NDR_GROUP_DAYOFYEAR:
    p->number = key == NDR_GROUP_DAY ? instant.day : day_of_year(calendar, instant, date.year);
    set_days(p, instant.day);
    break;
  case NDR_GROUP_MONTHDAY:
    p->number = date.month * 100 + date.day;
    set_days(p, instant.day);
    break;
  case NDR_GROUP_HOUR:
    p->number = date.microsecond / HOUR;
    set_hour(p, instant.day, p->number);
    break;
  }
  return true;
}

/* ---- Groups ----------------------------------------------------------------------------------------------------- */

/* A step that has a time. */
typedef struct {
  int64_t step;
  period of;
} dated;

static int compare(const void *a, const void *b) {
  const dated *x = a, *y = b;
  if (x->of.number != y->of.number) return x->of.number < y->of.number ? -1 : 1;
  return (x->step > y->step) - (x->step < y->step);
}

/* A number that is no date, such as 9.97e36, is not known to be a missing time. */
static ndr_status date_steps(const ndr_time_steps *steps, ndr_group_key key, int64_t *labels, dated *all,
                             int64_t *count) {
  *count = 0;
  for (int64_t i = 0; i < steps->count; i++) {
    ndr_instant instant;
    double value = steps->values[i];
    labels[i] = -1;
    if (isnan(value)) continue;
    all[*count].step = i;
    if (!ndr_time_decode(steps->units, value, fabs(value) * steps->precision, &instant) ||
        !find_period(steps->units->calendar, key, instant, &all[*count].of))
      return ndr_fail(NDR_ERR_ARGUMENT,
                      "the time at index %lld is %.9g, more than 10^9 years away, which is no date; if it is missing, "
                      "_FillValue must say so",
                      (long long)i, value);
    ++*count;
  }
  return NDR_OK;
}

/* A point in the period that a climatology's group has in a year, or for hours on a day. */
static ndr_instant within(ndr_calendar calendar, ndr_group_key key, int64_t number, int64_t year, int64_t day) {
  ndr_instant begin = month_begin(calendar, year, 0);
  if (key == NDR_GROUP_MONTH) return month_begin(calendar, year, number - 1);
  if (key == NDR_GROUP_SEASON) return month_begin(calendar, year, (number - 1) * 3 - 1);
  if (key == NDR_GROUP_HOUR) return (ndr_instant){day, number * HOUR};
  if (key == NDR_GROUP_MONTHDAY)
    return (ndr_instant){month_begin(calendar, year, number / 100 - 1).day + number % 100 - 1, 0};
  return (ndr_instant){begin.day + number - 1, 0};
}

/* Leap days are at most 8 years apart. */
#define MOST_TRIES 10

/* The first period of a climatology's group that is not before `after`, whether there are steps in it or not. */
static bool find_later(ndr_calendar calendar, ndr_group_key key, int64_t number, ndr_instant after, period *p) {
  int64_t year = ndr_date_of(calendar, after).year;
  for (int i = 0; i < MOST_TRIES; i++)
    if (find_period(calendar, key, within(calendar, key, number, year + i, after.day + i), p) && p->number == number &&
        !ndr_instant_is_before(p->begin, after))
      return true;
  return false;
}

/* Dates the group of all[count], which have one number, by its first period that is not before *after, so that times of
 * a climatology go up: one with steps if there is one. Moves *after behind it. */
static double date_group(const ndr_time_steps *steps, ndr_group_key key, const dated *all, int64_t count,
                         ndr_instant *after) {
  const period *found = NULL;
  period later;
  for (int64_t i = 0; i < count; i++)
    if (!ndr_instant_is_before(all[i].of.begin, *after) &&
        (!found || ndr_instant_is_before(all[i].of.begin, found->begin)))
      found = &all[i].of;
  if (!found) found = find_later(steps->units->calendar, key, all[0].of.number, *after, &later) ? &later : &all[0].of;
  double begin = ndr_time_encode(steps->units, found->begin);
  *after = (ndr_instant){found->begin.day, found->begin.microsecond + 1};
  return begin + (ndr_time_encode(steps->units, found->end) - begin) / 2;
}

/* Describes the group of all[count], which have one number. */
static ndr_time_group describe(const ndr_time_units *units, const dated *all, int64_t count) {
  ndr_instant first = all[0].of.begin, last = all[0].of.end;
  for (int64_t i = 1; i < count; i++) {
    if (ndr_instant_is_before(all[i].of.begin, first)) first = all[i].of.begin;
    if (ndr_instant_is_before(last, all[i].of.end)) last = all[i].of.end;
  }
  return (ndr_time_group){.number = all[0].of.number,
                          .steps = count,
                          .bounds = {ndr_time_encode(units, first), ndr_time_encode(units, last)}};
}

static ndr_status gather(const ndr_time_steps *steps, const dated *all, int64_t count, ndr_time_groups *found) {
  ndr_instant after = {INT64_MIN, 0};
  for (int64_t i = 0; i < count; i++) found->count += i == 0 || all[i].of.number != all[i - 1].of.number;
  found->groups = calloc((size_t)found->count + 1, sizeof *found->groups);
  if (!found->groups)
    return ndr_fail(NDR_ERR_MEMORY, "out of memory for %lld groups of times", (long long)found->count);
  for (int64_t i = 0, group = 0; i < count; group++) {
    int64_t end = i;
    while (end < count && all[end].of.number == all[i].of.number) found->labels[all[end++].step] = group;
    found->groups[group] = describe(steps->units, all + i, end - i);
    found->groups[group].time = date_group(steps, found->key, all + i, end - i, &after);
    i = end;
  }
  return NDR_OK;
}

ndr_status ndr_time_groups_find(const ndr_time_steps *steps, ndr_group_key key, ndr_time_groups *found) {
  *found = (ndr_time_groups){.key = key};
  found->labels = calloc((size_t)steps->count + 1, sizeof *found->labels);
  dated *all = calloc((size_t)steps->count + 1, sizeof *all);
  ndr_status status = NDR_ERR_MEMORY;
  if (found->labels && all) {
    int64_t count;
    status = date_steps(steps, key, found->labels, all, &count);
    if (status == NDR_OK) {
      qsort(all, (size_t)count, sizeof *all, compare);
      status = gather(steps, all, count, found);
    }
  } else {
    status = ndr_fail(NDR_ERR_MEMORY, "out of memory for the groups of %lld times", (long long)steps->count);
  }
  free(all);
  return status;
}

void ndr_time_groups_free(ndr_time_groups *groups) {
  free(groups->groups);
  free(groups->labels);
  *groups = (ndr_time_groups){.count = 0};
}

/* ---- Texts ------------------------------------------------------------------------------------------------------ */

static int64_t floor_div(int64_t a, int64_t b) {
  return a / b - (a % b < 0);
}

void ndr_time_group_name(const ndr_time_units *units, ndr_group_key key, int64_t number, char text[NDR_GROUP_CHARS]) {
  static const char *const seasons[] = {"DJF", "MAM", "JJA", "SON"};
  int64_t a_year = key == NDR_GROUP_YEARMONTH ? 12 : key == NDR_GROUP_YEARSEASON ? 4 : 1;
  int64_t year = floor_div(number, a_year), rest = number - year * a_year;
  char written[24];
  if (!units->zero_year && year < 1) year--;
  snprintf(written, sizeof written, "%s%04lld", year < 0 ? "-" : "", llabs((long long)year));
  switch (key) {
  case NDR_GROUP_SEASON: snprintf(text, NDR_GROUP_CHARS, "%s", seasons[(number - 1) & 3]); break;
  case NDR_GROUP_YEAR: snprintf(text, NDR_GROUP_CHARS, "%s", written); break;
  case NDR_GROUP_YEARMONTH: snprintf(text, NDR_GROUP_CHARS, "%s-%02d", written, (int)rest + 1); break;
  case NDR_GROUP_YEARSEASON: snprintf(text, NDR_GROUP_CHARS, "%s-%s", written, seasons[rest]); break;
  case NDR_GROUP_DAY: ndr_time_write(units, (ndr_instant){number, 0}, NDR_TIME_DAYS, text); break;
  case NDR_GROUP_MONTHDAY:
    snprintf(text, NDR_GROUP_CHARS, "%02d-%02d", (int)(number / 100), (int)(number % 100));
    break;
  default: snprintf(text, NDR_GROUP_CHARS, "%lld", (long long)number); break;
  }
}

/* "weighted by lat, of all years together": `over` is "over years". To be freed. */
static char *join_comment(const char *comment, const char *over) {
  size_t capacity = (comment ? strlen(comment) : 0) + strlen(over) + sizeof ", of all  together";
  char *text = malloc(capacity);
  if (text)
    snprintf(text, capacity, "%s%sof all %s together", comment ? comment : "", comment ? ", " : "",
             over + strlen("over "));
  return text;
}

char *ndr_time_group_methods(ndr_group_key key, const char *before, const char *dim, const char *method, bool composes,
                             const char *comment) {
  char within[128], over[128];
  if (!keys[key].within) return ndr_cf_attributes_methods(before, 1, &dim, method, comment);
  if (!composes) {
    char *joined = join_comment(comment, keys[key].over);
    char *text = joined ? ndr_cf_attributes_methods(before, 1, &dim, method, joined) : NULL;
    free(joined);
    return text;
  }
  snprintf(within, sizeof within, "%s %s", method, keys[key].within);
  snprintf(over, sizeof over, "%s %s", method, keys[key].over);
  char *first = ndr_cf_attributes_methods(before, 1, &dim, within, NULL);
  char *text = first ? ndr_cf_attributes_methods(first, 1, &dim, over, comment) : NULL;
  free(first);
  return text;
}
