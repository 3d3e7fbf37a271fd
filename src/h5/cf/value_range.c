/* See value_range.h. */
#include "h5/cf/value_range.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/status.h"

enum { MOST_TEXT = 160, UNITS_TEXT = 48 };

typedef struct {
  bool point;         /* one number, not an interval */
  double least, most; /* of numbers */
  double turn;        /* 0: values count as they are */
  bool round;         /* with a turn: behind the end of the axis comes its beginning */
  ndr_instant begin, end;
} range;

/* ---- What axes are, for messages -------------------------------------------------------------------------------- */

static bool decode(const ndr_value_axis *axis, double value, ndr_instant *instant) {
  return ndr_time_decode(axis->time, value, fabs(value) * axis->precision, instant);
}

static void write_value(const ndr_value_axis *axis, double value, char text[NDR_TIME_CHARS]) {
  ndr_instant instant;
  if (axis->time && decode(axis, value, &instant))
    ndr_time_write(axis->time, instant, ndr_time_precision_of(instant), text);
  else
    snprintf(text, NDR_TIME_CHARS, "%.9g", value);
}

/* The least and the greatest value; false where there is none. */
static bool find_ends(const ndr_value_axis *axis, double *least, double *most) {
  *least = INFINITY;
  *most = -INFINITY;
  for (int64_t i = 0; i < axis->count; i++) {
    if (!isfinite(axis->values[i])) continue;
    *least = fmin(*least, axis->values[i]);
    *most = fmax(*most, axis->values[i]);
  }
  return *least <= *most;
}

/* time=0:12 mostly means indices: there are hardly any data of years with fewer than four digits. */
static const char *hint_at_indices(const ndr_value_axis *axis, const char *text) {
  size_t first = strspn(text, "0123456789"), second = text[first] == ':' ? strspn(text + first + 1, "0123456789") : 0;
  size_t length = first + (text[first] == ':') + second;
  bool small = length > 0 && !text[length] && first < 4 && second < 4;
  return axis->time && small ? "; indices have no name before them, as [0:12] of the first dim" : "";
}

/* Writes " hPa", or nothing. */
static void write_units(const ndr_value_axis *axis, char text[UNITS_TEXT]) {
  snprintf(text, UNITS_TEXT, "%s%.40s", axis->units ? " " : "", axis->units ? axis->units : "");
}

static ndr_status fail_nothing(const ndr_value_axis *axis, const char *text, const char *doubt) {
  double ends[2];
  char least[NDR_TIME_CHARS], most[NDR_TIME_CHARS], units[UNITS_TEXT];
  if (!find_ends(axis, &ends[0], &ends[1]))
    return ndr_fail(NDR_ERR_DIMS, "%s=%s selects nothing: %s has no values", axis->name, text, axis->name);
  write_value(axis, ends[0], least);
  write_value(axis, ends[1], most);
  write_units(axis, units);
  char hint[NDR_RANGE_DOUBT + 40] = "";
  size_t digits = strspn(text, "0123456789");
  bool month = digits == 6 && strncmp(text + 4, "01", 2) >= 0 && strncmp(text + 4, "12", 2) <= 0;
  if (axis->time && month && (!text[digits] || text[digits] == ':'))
    snprintf(hint, sizeof hint, "; %.6s is a year, and a month is written %.4s-%.2s", text, text, text + 4);
  if (*doubt) snprintf(hint, sizeof hint, "; turns do not count, as %s", doubt);
  return ndr_fail(NDR_ERR_DIMS, "%s=%s selects nothing: %s goes from %s to %s%s%s%s", axis->name, text, axis->name,
                  least, most, units, hint, hint_at_indices(axis, text));
}

/* ---- Reading ---------------------------------------------------------------------------------------------------- */

/* Whether the ':' at text[i] is of a clock, not between two dates: a clock has begun, and exactly two digits follow. */
static bool is_in_clock(const char *text, size_t i) {
  size_t begin = strspn(text, " ");
  bool begun = begin + strcspn(text + begin, "Tt ") < i;
  return begun && isdigit((unsigned char)text[i + 1]) && isdigit((unsigned char)text[i + 2]) &&
         !isdigit((unsigned char)text[i + 3]);
}

/* Where FROM ends; the text's length where it is a single value. */
static size_t find_colon(const char *text, bool dates) {
  size_t i = 0;
  while (text[i] && !(text[i] == ':' && !(dates && is_in_clock(text, i)))) i++;
  return i;
}

static bool is_blank(const char *text) {
  return !text[strspn(text, " \t")];
}

static bool read_number(const char *text, double *value) {
  char *end;
  if (strpbrk(text, "xXnN")) return false; /* hexadecimal, nan and inf are no coordinates */
  *value = strtod(text, &end);
  return end != text && is_blank(end) && isfinite(*value);
}

static ndr_status read_numbers(const ndr_value_axis *axis, const char *text, const char *from, const char *to,
                               range *r) {
  double ends[2] = {-INFINITY, INFINITY};
  bool good = (is_blank(from) && to) || read_number(from, &ends[0]);
  if (to) good = good && (is_blank(to) || read_number(to, &ends[1]));
  if (!good)
    return ndr_fail(NDR_ERR_PARSE, "'%s=%s' is no range of numbers: write %s=FROM:TO, or %s=VALUE for the nearest one",
                    axis->name, text, axis->name, axis->name);
  *r = (range){.point = !to, .least = ends[0], .most = to ? ends[1] : ends[0]};
  return NDR_OK;
}

/* `text`: the date; `whole`: the range that it is an end of, for the error. */
static ndr_status read_one_date(const ndr_value_axis *axis, const char *whole, const char *text,
                                ndr_instant period[2]) {
  if (ndr_date_read(text, axis->time, period)) return NDR_OK;
  const char *calendar = ndr_calendar_name(axis->time->calendar);
  int days = ndr_date_days_exceeded(text, axis->time);
  if (days)
    return ndr_fail(NDR_ERR_PARSE, "%s: '%s' is no date of the calendar %s: that month has %d days", axis->name, text,
                    calendar, days);
  return ndr_fail(NDR_ERR_PARSE,
                  "%s: '%s' is no date of the calendar %s: write YEAR, YEAR-MONTH, YEAR-MONTH-DAY or YEAR-MONTH-DAY "
                  "HOUR:MINUTE:SECOND, with T or a space in between, and a range as FROM:TO%s",
                  axis->name, text, calendar, hint_at_indices(axis, whole));
}

static ndr_status read_dates(const ndr_value_axis *axis, const char *text, const char *from, const char *to, range *r) {
  ndr_instant first[2] = {{INT64_MIN, 0}, {INT64_MIN, 0}}, last[2] = {{INT64_MAX, 0}, {INT64_MAX, 0}};
  if (!to || !is_blank(from)) NDR_TRY(read_one_date(axis, text, from, first));
  if (!to) memcpy(last, first, sizeof last);
  if (to && !is_blank(to)) NDR_TRY(read_one_date(axis, text, to, last));
  bool swapped = !ndr_instant_is_before(first[0], last[1]);
  *r = (range){.begin = swapped ? last[0] : first[0], .end = swapped ? first[1] : last[1]};
  return NDR_OK;
}

/* ---- Numbers and turns ------------------------------------------------------------------------------------------ */

static double tolerance(const ndr_value_axis *axis, double value) {
  return fabs(value) * axis->precision;
}

/* Whether the axis goes round: from its end to its beginning is no farther than between neighbours. A hundredth of that
 * is left to rounding. */
static bool closes(const ndr_value_axis *axis, double least, double most) {
  double farthest = 0;
  for (int64_t i = 1; i < axis->count; i++) farthest = fmax(farthest, fabs(axis->values[i] - axis->values[i - 1]));
  return axis->turn - (most - least) <= 1.01 * farthest;
}

static bool is_open(const range *r) {
  return isinf(r->least) || isinf(r->most);
}

/* Whether both ends of a range lie between those of the axis, in order. */
static bool lies_within(const ndr_value_axis *axis, const range *r, double least, double most) {
  return r->least <= r->most && r->least >= least - tolerance(axis, least) && r->most <= most + tolerance(axis, most);
}

static bool goes_round_again(const ndr_value_axis *axis, double least, double most) {
  return most - least > axis->turn + tolerance(axis, axis->turn);
}

/* An end that is hardly meant as a longitude, as it is more than two turns; 0 if neither end is. */
static double find_far_end(const ndr_value_axis *axis, const range *r) {
  if (fabs(r->least) > 2 * axis->turn) return r->least;
  return fabs(r->most) > 2 * axis->turn ? r->most : 0;
}

/* Writes why the ends of a range do not count modulo a turn (ndr_index_runs.doubt); "" if they do, or if both lie on
 * the axis in order, where turns make no difference. The range is as it was read, not yet settled. */
static void write_doubt(const ndr_value_axis *axis, const range *r, char text[NDR_RANGE_DOUBT]) {
  double least, most;
  *text = 0;
  if (axis->time || is_open(r) || !find_ends(axis, &least, &most) || lies_within(axis, r, least, most)) return;
  if (axis->other_units)
    snprintf(text, NDR_RANGE_DOUBT, "the units '%.40s' of %.60s are not those of longitudes", axis->other_units,
             axis->name);
  else if (axis->turn == 0)
    return;
  else if (goes_round_again(axis, least, most))
    snprintf(text, NDR_RANGE_DOUBT, "%.60s goes more than once round", axis->name);
  else if (!r->point && find_far_end(axis, r) != 0)
    snprintf(text, NDR_RANGE_DOUBT, "%.9g is more than two of them", find_far_end(axis, r));
}

/* Ends that lie on the axis are meant as they are. Others, and a range that goes from a greater longitude to a smaller
 * one, count modulo a turn. */
static void settle(const ndr_value_axis *axis, range *r) {
  double least, most;
  bool open = is_open(r);
  if (r->least > r->most && (axis->turn == 0 || open)) {
    double end = r->least;
    r->least = r->most;
    r->most = end;
  }
  if (axis->turn == 0 || open || !find_ends(axis, &least, &most)) return;
  if (find_far_end(axis, r) != 0 || goes_round_again(axis, least, most) || lies_within(axis, r, least, most)) return;
  r->turn = axis->turn;
  if (r->most < r->least) r->most += axis->turn * ceil((r->least - r->most) / axis->turn);
  r->round = closes(axis, least, most);
  double shift = axis->turn * ceil((r->least - least - tolerance(axis, least)) / axis->turn);
  bool whole = r->most - r->least >= axis->turn - tolerance(axis, axis->turn);
  bool fits = most + shift <= r->most + tolerance(axis, most);
  if (!r->round && (fits || whole)) { /* all of a region, in its own order */
    if (!fits) shift = 0;
    r->least = least + shift;
    r->most = most + shift;
  }
  r->most = fmin(r->most, r->least + axis->turn);
}

/* Whether a value is in the range, and how many turns are to be added to it first. */
static bool holds(const ndr_value_axis *axis, const range *r, double value, double *shift) {
  double off = tolerance(axis, value);
  *shift = 0;
  if (!isfinite(value)) return false;
  if (axis->time) {
    ndr_instant instant;
    return decode(axis, value, &instant) && !ndr_instant_is_before(instant, r->begin) &&
           ndr_instant_is_before(instant, r->end);
  }
  if (r->turn > 0) *shift = -r->turn * floor((value - r->least + off) / r->turn);
  return value + *shift >= r->least - off && value + *shift <= r->most + off;
}

/* ---- Between two coordinates ------------------------------------------------------------------------------------- */

/* On which side of a range a value outside of it lies: -1 before, 1 behind; 0 if it is not finite, or no date. */
static int side_of(const ndr_value_axis *axis, const range *r, double value) {
  ndr_instant instant;
  if (!isfinite(value)) return 0;
  if (!axis->time) return value < r->least ? -1 : 1;
  if (!decode(axis, value, &instant)) return 0;
  return ndr_instant_is_before(instant, r->begin) ? -1 : 1;
}

/* Finds the two coordinates that an empty range lies between. False if it lies outside the axis, or goes from a greater
 * longitude to a smaller one where there are no turns. On an axis that goes round, `holds` has moved all values behind
 * the range; a turn less, each lies before it. */
static bool find_neighbours(const ndr_value_axis *axis, const range *r, double *before, double *behind) {
  double most = -INFINITY, least = INFINITY, shift;
  for (int64_t i = 0; i < axis->count; i++) {
    holds(axis, r, axis->values[i], &shift);
    double at = axis->values[i] + shift;
    int side = side_of(axis, r, at);
    if (side > 0 && at < least) {
      least = at;
      *behind = axis->values[i];
    }
    if (r->round) at -= r->turn;
    if ((side < 0 || r->round) && at > most) {
      most = at;
      *before = axis->values[i];
    }
  }
  return isfinite(most) && isfinite(least) && r->least <= r->most;
}

static ndr_status fail_between(const ndr_value_axis *axis, const range *r, const char *text, const char *doubt) {
  double ends[2] = {0, 0};
  char before[NDR_TIME_CHARS], behind[NDR_TIME_CHARS], units[UNITS_TEXT];
  if (!find_neighbours(axis, r, &ends[0], &ends[1])) return fail_nothing(axis, text, doubt);
  write_value(axis, ends[0], before);
  write_value(axis, ends[1], behind);
  write_units(axis, units);
  return ndr_fail(NDR_ERR_DIMS, "%s=%s selects nothing: %s has %s and %s%s, and nothing in between", axis->name, text,
                  axis->name, before, behind, units);
}

/* ---- Finding ---------------------------------------------------------------------------------------------------- */

/* Counts all runs, and keeps the first two. */
static int64_t find_runs(const ndr_value_axis *axis, const range *r, ndr_index_run run[2]) {
  int64_t count = 0;
  bool inside = false;
  double last = 0, shift;
  for (int64_t i = 0; i < axis->count; i++) {
    bool held = holds(axis, r, axis->values[i], &shift);
    bool begins = held && (!inside || shift != last);
    if (begins && count++ < 2) run[count - 1] = (ndr_index_run){i, 0, shift};
    if (held && count <= 2) run[count - 1].count++;
    inside = held;
    last = shift;
  }
  return count;
}

static double shifted(const ndr_value_axis *axis, const ndr_index_run *run, int64_t i) {
  return axis->values[run->from + i] + run->shift;
}

/* Puts the run behind the seam before the other. A meridian that the axis has at both ends is kept once; where it is
 * all of a run, the other is left alone. False if no axis comes of it. */
static bool order(const ndr_value_axis *axis, ndr_index_run run[2]) {
  const ndr_index_run first = run[1], second = run[0];
  run[0] = first;
  run[1] = second;
  double next = shifted(axis, &second, 0);
  bool up = axis->values[axis->count - 1] > axis->values[0];
  while (run[0].count > 0) {
    double end = shifted(axis, &run[0], run[0].count - 1);
    if (fabs(end - next) > tolerance(axis, axis->values[0]) + tolerance(axis, end) + tolerance(axis, next))
      return up ? end < next : end > next;
    run[0].count--;
  }
  run[0] = second;
  run[1].count = 0;
  return true;
}

static ndr_status fail_apart(const ndr_value_axis *axis, const char *text) {
  double least = 0, most = 0;
  find_ends(axis, &least, &most);
  return ndr_fail(NDR_ERR_DIMS,
                  "%s=%s selects both ends of %s, which goes from %.9g to %.9g and not round: select them one by one",
                  axis->name, text, axis->name, least, most);
}

static ndr_status find_interval(const ndr_value_axis *axis, const range *r, const char *text, ndr_index_runs *runs) {
  int64_t count = find_runs(axis, r, runs->run);
  if (count == 0) {
    runs->count = 0;
    return fail_between(axis, r, text, runs->doubt);
  }
  runs->count = count > 1 ? 2 : 1;
  if (count == 1) return NDR_OK;
  bool seam = count == 2 && runs->run[0].shift != runs->run[1].shift && order(axis, runs->run);
  if (seam && runs->run[1].count == 0) runs->count = 1;
  if (seam) return r->round ? NDR_OK : fail_apart(axis, text);
  return ndr_fail(NDR_ERR_DIMS,
                  "%s=%s selects %lld stretches that lie apart, as %s is in no order: select them one by one, by index",
                  axis->name, text, (long long)count, axis->name);
}

/* How far a lies behind b, of longitudes on the shorter way round: negative to the west. */
static double distance(double a, double b, double turn) {
  return turn > 0 ? remainder(a - b, turn) : a - b;
}

/* How far apart value i and its neighbours are. */
static double spacing(const ndr_value_axis *axis, int64_t i) {
  double most = 0;
  for (int64_t n = i - 1; n <= i + 1; n += 2)
    if (n >= 0 && n < axis->count && isfinite(axis->values[n]))
      most = fmax(most, fabs(axis->values[n] - axis->values[i]));
  return most;
}

/* Whether value a is a better answer than b to the one that is wanted: nearer, or as near and greater, which is further
 * east. Of a meridian that the axis has twice, the one that needs no turn. */
static bool is_nearer(double a, double b, double wanted, double turn) {
  double of_a = distance(a, wanted, turn), of_b = distance(b, wanted, turn);
  if (fabs(of_a) != fabs(of_b)) return fabs(of_a) < fabs(of_b);
  return of_a != of_b ? of_a > of_b : fabs(a - wanted) < fabs(b - wanted);
}

static ndr_status find_nearest(const ndr_value_axis *axis, double value, const char *text, ndr_index_runs *runs) {
  int64_t best = -1;
  double ends[2], turn = axis->turn;
  if (turn > 0 && find_ends(axis, &ends[0], &ends[1]) && goes_round_again(axis, ends[0], ends[1])) turn = 0;
  for (int64_t i = 0; i < axis->count; i++)
    if (isfinite(axis->values[i]) && (best < 0 || is_nearer(axis->values[i], axis->values[best], value, turn)))
      best = i;
  const double least = best < 0 ? INFINITY : fabs(distance(axis->values[best], value, turn));
  if (best < 0 || least > spacing(axis, best) + tolerance(axis, value) + tolerance(axis, axis->values[best]))
    return fail_nothing(axis, text, runs->doubt);
  *runs = (ndr_index_runs){.count = 1, .run = {{best, 1, 0}}};
  return NDR_OK;
}

ndr_status ndr_value_range_find(const ndr_value_axis *axis, const char *text, int length, ndr_index_runs *runs) {
  char whole[MOST_TEXT], from[MOST_TEXT];
  range r;
  *runs = (ndr_index_runs){.count = -1};
  if (length >= MOST_TEXT) return ndr_fail(NDR_ERR_PARSE, "%s=%.40s... is too long for a range", axis->name, text);
  snprintf(whole, sizeof whole, "%.*s", length, text);
  strcpy(from, whole);
  size_t colon = find_colon(from, axis->time != NULL);
  const char *to = from[colon] ? from + colon + 1 : NULL;
  from[colon] = 0;
  NDR_TRY(axis->time ? read_dates(axis, whole, from, to, &r) : read_numbers(axis, whole, from, to, &r));
  write_doubt(axis, &r, runs->doubt);
  if (r.point) return find_nearest(axis, r.least, whole, runs);
  settle(axis, &r);
  return find_interval(axis, &r, whole, runs);
}
