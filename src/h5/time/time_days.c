/* See time_days.h. */
#include "h5/time/time_days.h"

#include <math.h>
#include <stdlib.h>

#include "core/status.h"

#define DAY INT64_C(86400000000)

static ndr_instant decode(const ndr_time_steps *steps, int64_t i, bool *good) {
  ndr_instant instant = {0, 0};
  double value = steps->values[i];
  *good = ndr_time_decode(steps->units, value, fabs(value) * steps->precision, &instant);
  return instant;
}

static double to_days(const ndr_time_steps *steps, double units) {
  return units * ((double)steps->units->unit / (double)DAY);
}

/* ---- By bounds -------------------------------------------------------------------------------------------------- */

static ndr_status by_bounds(const ndr_time_steps *steps, const char *name, double *days) {
  for (int64_t i = 0; i < steps->count; i++) {
    double apart = fabs(steps->bounds[2 * i + 1] - steps->bounds[2 * i]);
    if (!(apart > 0) || !isfinite(apart))
      return ndr_fail(NDR_ERR_ARGUMENT, "%s: the bounds at index %lld are %.9g and %.9g, which are no length of time",
                      name, (long long)i, steps->bounds[2 * i], steps->bounds[2 * i + 1]);
    days[i] = to_days(steps, apart);
  }
  return NDR_OK;
}

/* ---- By months -------------------------------------------------------------------------------------------------- */

/* Where in their months all steps can be. */
typedef struct {
  bool alike, middle, last;
} places;

/* The middle of a month of 28 days is day 15, at 0:00; dates like 15 or 16, at any hour, are within a day of it. */
static void narrow(places *p, ndr_calendar calendar, ndr_instant instant, const ndr_date *first) {
  const ndr_date date = ndr_date_of(calendar, instant);
  int length = ndr_calendar_month_days(calendar, date.year, date.month);
  double at = (double)(date.day - 1) + (double)date.microsecond / (double)DAY;
  p->alike = p->alike && date.day == first->day && date.microsecond == first->microsecond;
  p->middle = p->middle && fabs(at - length / 2.0) <= 1.5;
  p->last = p->last && ndr_date_of(calendar, (ndr_instant){instant.day + 1, 0}).day == 1;
}

static int compare(const void *a, const void *b) {
  const int64_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* Fills in days; `months` is room for as many numbers. */
static bool find_months(const ndr_time_steps *steps, int64_t *months, double *days) {
  ndr_calendar calendar = steps->units->calendar;
  places p = {true, true, true};
  ndr_date first = {0};
  bool good = steps->count > 1, neighbours = false;
  for (int64_t i = 0; i < steps->count && good; i++) {
    ndr_instant instant = decode(steps, i, &good);
    ndr_date date = ndr_date_of(calendar, instant);
    if (i == 0) first = date;
    narrow(&p, calendar, instant, &first);
    months[i] = date.year * 12 + date.month;
    days[i] = ndr_calendar_month_days(calendar, date.year, date.month);
  }
  if (!good || !(p.alike || p.middle || p.last)) return false;
  qsort(months, (size_t)steps->count, sizeof *months, compare);
  for (int64_t i = 1; i < steps->count; i++) {
    if (months[i] == months[i - 1]) return false;
    neighbours = neighbours || months[i] == months[i - 1] + 1;
  }
  return neighbours;
}

static ndr_status by_months(const ndr_time_steps *steps, const char *name, double *days, bool *found) {
  int64_t *months = malloc((size_t)steps->count * sizeof *months + 1);
  if (!months) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory for %lld times", name, (long long)steps->count);
  *found = find_months(steps, months, days);
  free(months);
  return NDR_OK;
}

/* ---- By differences --------------------------------------------------------------------------------------------- */

static ndr_status by_differences(const ndr_time_steps *steps, const char *name, double *days) {
  const double *t = steps->values;
  int64_t last = steps->count - 1;
  double least = INFINITY, most = 0;
  bool up = last > 0 && t[1] > t[0];
  if (last < 1)
    return ndr_fail(NDR_ERR_ARGUMENT, "%s: a single time without bounds does not say how long it stands for", name);
  for (int64_t i = 1; i <= last; i++) {
    double apart = up ? t[i] - t[i - 1] : t[i - 1] - t[i];
    if (!(apart > 0))
      return ndr_fail(NDR_ERR_ARGUMENT,
                      "%s: has no bounds, and its times do not follow each other: the one at index %lld comes behind "
                      "the next",
                      name, (long long)i - 1);
    least = fmin(least, apart);
    most = fmax(most, apart);
  }
  if (most > 1.5 * least)
    return ndr_fail(NDR_ERR_ARGUMENT,
                    "%s: has no bounds, and its times are from %.9g to %.9g days apart, which does not say how long "
                    "each stands for",
                    name, to_days(steps, least), to_days(steps, most));
  for (int64_t i = 0; i <= last; i++) {
    int64_t before = i > 0 ? i - 1 : i, after = i < last ? i + 1 : i;
    days[i] = to_days(steps, fabs(t[after] - t[before]) / (double)(after - before));
  }
  return NDR_OK;
}

ndr_status ndr_time_days(const ndr_time_steps *steps, const char *name, double *days) {
  bool monthly = false, good;
  for (int64_t i = 0; i < steps->count; i++) {
    (void)decode(steps, i, &good);
    if (!good)
      return ndr_fail(NDR_ERR_ARGUMENT, "%s: the time at index %lld is missing, and so is its length", name,
                      (long long)i);
  }
  if (steps->count == 0) return NDR_OK;
  if (steps->bounds) return by_bounds(steps, name, days);
  NDR_TRY(by_months(steps, name, days, &monthly));
  return monthly ? NDR_OK : by_differences(steps, name, days);
}
