/* Groups of times, and how many days steps stand for, against a walk through the hours of each calendar that has rules
 * of its own. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "h5/cf/attributes.h"
#include "h5/time/group_by.h"
#include "h5/time/time_days.h"
#include "support/cases.h"
#include "support/slow_calendar.h"
#include "support/suite.h"

/* ---- The walk --------------------------------------------------------------------------------------------------- */

enum { WALK = 9000, KEYS = 8, CALENDARS = 6 };

static const char *const calendars[CALENDARS] = {"standard", "proleptic_gregorian", "julian", "noleap", "all_leap",
                                                 "360_day"};

/* A step of the walk, of which there is one in six hours. */
typedef struct {
  slow_date day;
  int hour;
  int64_t date; /* days since the walk began */
} moment;

static moment walk[WALK];

/* From 1 December of a year on. */
static void begin_walk(const char *calendar, int year) {
  moment m = {.day = slow_new_year(year)};
  while (m.day.month < 12) slow_next_day(calendar, &m.day);
  for (int i = 0; i < WALK; i++) {
    walk[i] = m;
    m.hour += 6;
    if (m.hour < 24) continue;
    m.hour = 0;
    m.date++;
    slow_next_day(calendar, &m.day);
  }
}

/* What steps of one group have alike, and what steps of one period of it have. */
static void describe(ndr_group_key key, const moment *m, int64_t *group, int64_t *when) {
  int year = m->day.year, month = m->day.month, season = month % 12 / 3, ends = year + (month == 12);
  switch (key) {
  case NDR_GROUP_MONTH: *group = month; break;
  case NDR_GROUP_SEASON: *group = season + 1; break;
  case NDR_GROUP_YEAR: *group = year; break;
  case NDR_GROUP_YEARMONTH: *group = year * 12 + month - 1; break;
  case NDR_GROUP_YEARSEASON: *group = ends * 4 + season; break;
  case NDR_GROUP_DAY: *group = m->date; break;
  case NDR_GROUP_DAYOFYEAR: *group = m->day.dayofyear; break;
  case NDR_GROUP_MONTHDAY: *group = month * 100 + m->day.day; break;
  case NDR_GROUP_HOUR: *group = m->hour; break;
  }
  *when = key == NDR_GROUP_MONTH       ? year * 12 + month
          : key == NDR_GROUP_SEASON    ? ends * 4 + season
          : key == NDR_GROUP_DAYOFYEAR ? m->date
          : key == NDR_GROUP_MONTHDAY  ? m->date
          : key == NDR_GROUP_HOUR      ? m->date * 24 + m->hour
                                       : *group;
}

/* The hours since the walk began at which the period of walk[i] begins and ends; NAN at the ends of the walk. */
static void find_ends(ndr_group_key key, int i, double ends[2]) {
  int64_t group, own, other;
  int begin = i, end = i;
  describe(key, &walk[i], &group, &own);
  for (; begin >= 0; begin--) {
    describe(key, &walk[begin], &group, &other);
    if (other != own) break;
  }
  for (; end < WALK; end++) {
    describe(key, &walk[end], &group, &other);
    if (other != own) break;
  }
  bool whole = key == NDR_GROUP_DAY || key == NDR_GROUP_DAYOFYEAR || key == NDR_GROUP_MONTHDAY ||
               key == NDR_GROUP_HOUR || key == NDR_GROUP_MONTH || key == NDR_GROUP_YEARMONTH ||
               key == NDR_GROUP_SEASON || key == NDR_GROUP_YEARSEASON;
  ends[0] = begin < 0 && !whole ? (double)NAN : (begin + 1) * 6.0;
  ends[1] = key == NDR_GROUP_HOUR ? i * 6.0 + 1 : end == WALK ? (double)NAN : end * 6.0;
}

/* ---- Groups ----------------------------------------------------------------------------------------------------- */

enum { STEPS = 400 };

/* What a step should come to. */
typedef struct {
  bool known; /* it has a time */
  int64_t number;
  double ends[2]; /* of its period */
} expected;

static void check_group(const ndr_time_groups *found, int64_t g, const expected *steps, int count) {
  const ndr_time_group *group = &found->groups[g];
  double bounds[2] = {INFINITY, -INFINITY};
  int64_t members = 0;
  bool known = true, dated = false;
  for (int i = 0; i < count; i++) {
    bool member = steps[i].known && steps[i].number == group->number;
    if (member != (found->labels[i] == g)) ck_abort_msg("step %d has the label %lld", i, (long long)found->labels[i]);
    if (!member) continue;
    members++;
    known = known && !isnan(steps[i].ends[0]) && !isnan(steps[i].ends[1]);
    dated = dated || group->time == (steps[i].ends[0] + steps[i].ends[1]) / 2;
    bounds[0] = fmin(bounds[0], steps[i].ends[0]);
    bounds[1] = fmax(bounds[1], steps[i].ends[1]);
  }
  ck_assert_int_eq(members, group->steps);
  if (!known) return;
  ck_assert_msg(group->bounds[0] == bounds[0] && group->bounds[1] == bounds[1], "%s %lld: from %g to %g, not %g to %g",
                ndr_group_key_name(found->key), (long long)group->number, group->bounds[0], group->bounds[1], bounds[0],
                bounds[1]);
  double before = g ? found->groups[g - 1].time : -INFINITY, first = INFINITY;
  for (int i = 0; i < count; i++) {
    double at = (steps[i].ends[0] + steps[i].ends[1]) / 2;
    if (steps[i].known && steps[i].number == group->number && at > before) first = fmin(first, at);
  }
  ck_assert(first == INFINITY ? !dated : group->time == first);
}

/* steps[i] is the place in the walk, or -1 of a missing time. */
static void check_groups(const ndr_time_units *units, ndr_group_key key, const int *steps, int count) {
  static expected wanted[STEPS];
  double values[STEPS];
  ndr_time_groups found;
  for (int i = 0; i < count; i++) {
    int64_t when;
    wanted[i].known = steps[i] >= 0;
    values[i] = steps[i] < 0 ? (double)NAN : steps[i] * 6.0;
    if (steps[i] < 0) continue;
    describe(key, &walk[steps[i]], &wanted[i].number, &when);
    /* A day is numbered from the beginning of the calendar. */
    if (key == NDR_GROUP_DAY) wanted[i].number += units->reference.day;
    find_ends(key, steps[i], wanted[i].ends);
  }
  const ndr_time_steps axis = {units, 0x1p-51, count, values, NULL};
  assert_ok(ndr_time_groups_find(&axis, key, &found));
  for (int i = 0; i < count; i++)
    if ((found.labels[i] < 0) != (steps[i] < 0) || found.labels[i] >= found.count)
      ck_abort_msg("step %d has the label %lld", i, (long long)found.labels[i]);
  for (int64_t g = 0; g < found.count; g++) {
    ck_assert(found.groups[g].steps >= 1 && (g == 0 || found.groups[g].number > found.groups[g - 1].number));
    ck_assert(g == 0 || found.groups[g].time > found.groups[g - 1].time);
    check_group(&found, g, wanted, count);
  }
  ndr_time_groups_free(&found);
}

/* Steps in order or in none, with gaps, several of one time, and missing ones. */
static int random_steps(rng *random, int steps[STEPS]) {
  int count = (int)rng_between(random, 1, STEPS), from = (int)rng_between(random, 0, WALK - 1);
  int stride = (int)rng_between(random, 1, 200), jumps = rng_once_in(random, 2);
  for (int i = 0; i < count; i++) {
    steps[i] = jumps ? (int)rng_between(random, 0, WALK - 1) : (from + i * stride) % WALK;
    if (i > 0 && rng_once_in(random, 20)) steps[i] = steps[i - 1];
    if (rng_once_in(random, 30)) steps[i] = -1;
  }
  return count;
}

START_TEST(any_steps_in_any_calendar) {
  static const int years[] = {1579, 1898, 1998, 2};
  rng random = {test_seed()};
  for (int c = 0; c < CALENDARS; c++)
    for (size_t y = 0; y < sizeof years / sizeof *years; y++) {
      char since[64];
      ndr_time_units units;
      int steps[STEPS];
      begin_walk(calendars[c], years[y]);
      snprintf(since, sizeof since, "hours since %04d-12-01", years[y]);
      ck_assert(ndr_time_units_parse(since, calendars[c], &units));
      for (int n = test_case_count(6); n > 0; n--) {
        int count = random_steps(&random, steps);
        for (int key = 0; key < KEYS; key++) check_groups(&units, (ndr_group_key)key, steps, count);
      }
    }
}
END_TEST

START_TEST(no_step_is_in_no_group) {
  const double values[] = {NAN, NAN, NAN};
  ndr_time_units units;
  ndr_time_groups found;
  ck_assert(ndr_time_units_parse("days since 2000-01-01", NULL, &units));
  for (int64_t count = 0; count <= 3; count += 3) {
    assert_ok(ndr_time_groups_find(&(ndr_time_steps){&units, 0, count, values, NULL}, NDR_GROUP_MONTH, &found));
    ck_assert_int_eq(found.count, 0);
    for (int64_t i = 0; i < count; i++) ck_assert_int_eq(found.labels[i], -1);
    ndr_time_groups_free(&found);
  }
}
END_TEST

START_TEST(numbers_that_are_no_dates_are_refused) {
  static const struct {
    double value;
    const char *said;
  } cases[] = {
      {INFINITY, "at index 1 is inf"}, {9.97e36, "is 9.97e+36, more than 10^9 years away"}, {-4e11, "is -4e+11"}};
  ndr_time_units units;
  ndr_time_groups found;
  ck_assert(ndr_time_units_parse("days since 2000-01-01", NULL, &units));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const double values[] = {NAN, cases[i].value, 3};
    assert_fails(ndr_time_groups_find(&(ndr_time_steps){&units, 0, 3, values, NULL}, NDR_GROUP_MONTH, &found),
                 NDR_ERR_ARGUMENT, cases[i].said);
    ndr_time_groups_free(&found);
  }
}
END_TEST

/* The climatology of CF's example 7.8: seasons of 1960 to 1990, the first from 1 March 1960 to 1 June 1990. Winter
 * comes first here, and the times go up from it. */
START_TEST(bounds_are_those_of_cf_s_example) {
  double values[31 * 12];
  ndr_time_units units;
  ndr_time_groups found;
  ck_assert(ndr_time_units_parse("days since 1960-01-01", NULL, &units));
  for (int i = 0; i < 31 * 12; i++) {
    ndr_instant at;
    const ndr_date date = {.year = 1960 + (i + 2) / 12, .month = (i + 2) % 12 + 1, .day = 16};
    ck_assert(ndr_date_to_instant(units.calendar, &date, &at));
    values[i] = ndr_time_encode(&units, at);
  }
  assert_ok(ndr_time_groups_find(&(ndr_time_steps){&units, 0, 31 * 12, values, NULL}, NDR_GROUP_SEASON, &found));
  static const char *const texts[4][3] = {{"1960-12-01", "1991-03-01", "1961-01-15"},
                                          {"1960-03-01", "1990-06-01", "1961-04-16"},
                                          {"1960-06-01", "1990-09-01", "1961-07-17"},
                                          {"1960-09-01", "1990-12-01", "1961-10-16T12:00:00"}};
  ck_assert_int_eq(found.count, 4);
  for (int g = 0; g < 4; g++) {
    const double times[] = {found.groups[g].bounds[0], found.groups[g].bounds[1], found.groups[g].time};
    for (int t = 0; t < 3; t++) {
      char text[NDR_TIME_CHARS];
      ndr_instant at;
      ck_assert(ndr_time_decode(&units, times[t], 0, &at));
      ndr_time_write(&units, at, ndr_time_precision_of(at), text);
      ck_assert_str_eq(text, texts[g][t]);
    }
  }
  ndr_time_groups_free(&found);
}
END_TEST

/* Times that no step has: of the second November, and of the next leap year's last day. */
START_TEST(times_go_up_where_data_are_of_less_than_a_cycle) {
  static const struct {
    ndr_group_key key;
    double values[3];
    const char *times[3];
  } known[] = {
      {NDR_GROUP_MONTH, {-50, 20, 50}, {"2001-01-16T12:00:00", "2001-02-15", "2001-11-16"}},
      {NDR_GROUP_SEASON, {-100, 20, 100}, {"2001-01-15", "2001-04-16", "2001-10-16T12:00:00"}},
      {NDR_GROUP_DAYOFYEAR, {-1, 20, 20}, {"2001-01-21T12:00:00", "2004-12-31T12:00:00", NULL}},
      {NDR_GROUP_HOUR, {-0.25, 0.5, 0.25}, {"2001-01-01T06:30:00", "2001-01-01T12:30:00", "2001-01-01T18:30:00"}}};
  ndr_time_units units;
  ndr_time_groups found;
  ck_assert(ndr_time_units_parse("days since 2001-01-01", NULL, &units));
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    assert_ok(ndr_time_groups_find(&(ndr_time_steps){&units, 0, 3, known[i].values, NULL}, known[i].key, &found));
    for (int64_t g = 0; g < found.count; g++) {
      char text[NDR_TIME_CHARS];
      ndr_instant at;
      ck_assert(ndr_time_decode(&units, found.groups[g].time, 0, &at));
      ndr_time_write(&units, at, ndr_time_precision_of(at), text);
      ck_assert_str_eq(text, known[i].times[g]);
    }
    ck_assert(found.count == 3 || !known[i].times[2]);
    ndr_time_groups_free(&found);
  }
}
END_TEST

START_TEST(keys_and_groups_have_names) {
  static const struct {
    const char *key;
    int64_t number;
    const char *name;
  } known[] = {{"month", 3, "3"},
               {"season", 1, "DJF"},
               {"season", 4, "SON"},
               {"year", 2001, "2001"},
               {"year", 0, "-0001"},
               {"yearmonth", 2001 * 12, "2001-01"},
               {"yearmonth", -1, "-0002-12"},
               {"yearseason", 2001 * 4, "2001-DJF"},
               {"yearseason", 2001 * 4 + 3, "2001-SON"},
               {"dayofyear", 60, "60"},
               {"monthday", 229, "02-29"},
               {"hour", 23, "23"},
               {"day", 730851, "2001-01-01"}};
  ndr_time_units units;
  char text[NDR_GROUP_CHARS];
  ndr_group_key key;
  ck_assert(ndr_time_units_parse("days since 2001-01-01", "standard", &units));
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    ck_assert(ndr_group_key_parse(known[i].key, &key));
    ck_assert_str_eq(ndr_group_key_name(key), known[i].key);
    ndr_time_group_name(&units, key, known[i].number, text);
    ck_assert_str_eq(text, known[i].name);
  }
  ck_assert(ndr_group_key_parse("MONTH", &key) && key == NDR_GROUP_MONTH);
  ck_assert(!ndr_group_key_parse("week", &key) && !ndr_group_key_parse("", &key));
  units.zero_year = true;
  ndr_time_group_name(&units, NDR_GROUP_YEAR, 0, text);
  ck_assert_str_eq(text, "0000");
}
END_TEST

static void check_methods_of(ndr_op op, ndr_group_key key, const char *before, const char *comment,
                             const char *wanted) {
  char *text = ndr_time_group_methods(key, before, "time", ndr_cf_attributes_method(op), ndr_cf_attributes_composes(op),
                                      comment);
  ck_assert_str_eq(text, wanted);
  free(text);
}

static void check_methods(ndr_group_key key, const char *before, const char *comment, const char *wanted) {
  check_methods_of(NDR_MEAN, key, before, comment, wanted);
}

/* The spread over all days of all Januaries is not that of the spreads of each. */
START_TEST(methods_that_do_not_compose_are_over_all) {
  check_methods_of(NDR_STD, NDR_GROUP_MONTH, NULL, NULL, "time: standard_deviation (of all years together)");
  check_methods_of(NDR_PTP, NDR_GROUP_HOUR, "area: mean", NULL, "area: mean time: range (of all days together)");
  check_methods_of(NDR_VAR, NDR_GROUP_SEASON, NULL, "weighted by lat",
                   "time: variance (weighted by lat, of all years together)");
  check_methods_of(NDR_STD, NDR_GROUP_YEAR, NULL, "weighted by lat", "time: standard_deviation (weighted by lat)");
  check_methods_of(NDR_MAX, NDR_GROUP_MONTH, NULL, NULL, "time: maximum within years time: maximum over years");
}
END_TEST

START_TEST(cell_methods_are_cf_s) {
  check_methods(NDR_GROUP_YEAR, NULL, NULL, "time: mean");
  check_methods(NDR_GROUP_YEARMONTH, "area: mean", "weighted by days", "area: mean time: mean (weighted by days)");
  check_methods(NDR_GROUP_MONTH, NULL, NULL, "time: mean within years time: mean over years");
  check_methods(NDR_GROUP_SEASON, "area: mean", "weighted by days",
                "area: mean time: mean within years time: mean over years (weighted by days)");
  check_methods(NDR_GROUP_DAYOFYEAR, "", NULL, "time: mean within years time: mean over years");
  check_methods(NDR_GROUP_MONTHDAY, "", NULL, "time: mean within years time: mean over years");
  check_methods(NDR_GROUP_HOUR, NULL, NULL, "time: mean within days time: mean over days");
}
END_TEST

/* ---- Days ------------------------------------------------------------------------------------------------------- */

static double days[WALK];

static ndr_status find_days(const char *since, const char *calendar, int64_t count, const double *values,
                            const double *bounds) {
  static ndr_time_units units;
  ck_assert(ndr_time_units_parse(since, calendar, &units));
  return ndr_time_days(&(ndr_time_steps){&units, 0x1p-51, count, values, bounds}, "time", days);
}

/* Steps at the beginnings, middles and ends of months, of which some are left out. */
START_TEST(months_are_as_long_as_the_calendar_has_them) {
  static double values[60];
  rng random = {test_seed()};
  for (int c = 0; c < CALENDARS; c++)
    for (int place = 0; place < 5; place++) {
      int lengths[60];
      int64_t count = 0;
      double start = 0;
      for (int i = 0; i < 60; i++) {
        int length = slow_month_length(calendars[c], 1899 + i / 12, i % 12 + 1);
        const double at[] = {0, length / 2.0, length - 1, 15, floor(length / 2.0)};
        if (i < 2 || !rng_once_in(&random, 5)) {
          values[count] = start + at[place];
          lengths[count++] = length;
        }
        start += length;
      }
      for (int i = 0; i < 10; i++) { /* in no order */
        int64_t a = rng_between(&random, 0, count - 1), b = rng_between(&random, 0, count - 1);
        double value = values[a];
        int length = lengths[a];
        values[a] = values[b];
        lengths[a] = lengths[b];
        values[b] = value;
        lengths[b] = length;
      }
      assert_ok(find_days("days since 1899-01-01", calendars[c], count, values, NULL));
      for (int64_t i = 0; i < count; i++) ck_assert(days[i] == lengths[i]);
    }
  const double switched[] = {0, 30, 51};
  assert_ok(find_days("days since 1582-09-01", "standard", 3, switched, NULL));
  ck_assert(days[0] == 30 && days[1] == 21 && days[2] == 30);
}
END_TEST

START_TEST(other_steps_reach_halfway_to_their_neighbours) {
  const double hourly[] = {0, 6, 12, 18}, down[] = {18, 12, 6, 0}, years[] = {0, 366, 731, 1096};
  assert_ok(find_days("hours since 2000-01-01", NULL, 4, hourly, NULL));
  for (int i = 0; i < 4; i++) ck_assert(days[i] == 0.25);
  assert_ok(find_days("hours since 2000-01-01", NULL, 4, down, NULL));
  for (int i = 0; i < 4; i++) ck_assert(days[i] == 0.25);
  assert_ok(find_days("days since 2000-01-01", NULL, 4, years, NULL));
  ck_assert(days[0] == 366 && days[1] == 365.5 && days[2] == 365 && days[3] == 365);
}
END_TEST

START_TEST(bounds_say_how_long_steps_are) {
  const double values[] = {5, 1, NAN}, bounds[] = {0, 6, 7, 6, 6, 12}, empty[] = {0, 6, 6, 6};
  assert_ok(find_days("hours since 2000-01-01", NULL, 2, values, bounds));
  ck_assert(days[0] == 0.25 && days[1] == 1.0 / 24);
  assert_fails(find_days("hours since 2000-01-01", NULL, 2, values, empty), NDR_ERR_ARGUMENT,
               "time: the bounds at index 1");
  assert_fails(find_days("hours since 2000-01-01", NULL, 3, values, bounds), NDR_ERR_ARGUMENT, "index 2 is missing");
  assert_ok(find_days("hours since 2000-01-01", NULL, 0, NULL, NULL));
}
END_TEST

START_TEST(lengths_that_nothing_says_are_refused) {
  const double one[] = {15}, folded[] = {0, 1, 1}, gaps[] = {0, 1, 2, 9}, months[] = {0, 31, 32};
  const char *since = "days since 2001-01-01";
  assert_fails(find_days(since, NULL, 1, one, NULL), NDR_ERR_ARGUMENT, "a single time without bounds");
  assert_fails(find_days(since, NULL, 3, folded, NULL), NDR_ERR_ARGUMENT, "index 1 comes behind the next");
  assert_fails(find_days(since, NULL, 4, gaps, NULL), NDR_ERR_ARGUMENT, "from 1 to 7 days apart");
  assert_fails(find_days(since, NULL, 3, months, NULL), NDR_ERR_ARGUMENT, "from 1 to 31 days apart");
}
END_TEST

int main(void) {
  Suite *suite = suite_create("h5 group by");
  suite_case(suite, "groups", 120, any_steps_in_any_calendar, no_step_is_in_no_group,
             numbers_that_are_no_dates_are_refused, bounds_are_those_of_cf_s_example,
             times_go_up_where_data_are_of_less_than_a_cycle, keys_and_groups_have_names, cell_methods_are_cf_s,
             methods_that_do_not_compose_are_over_all, NULL);
  suite_case(suite, "days", 10, months_are_as_long_as_the_calendar_has_them,
             other_steps_reach_halfway_to_their_neighbours, bounds_say_how_long_steps_are,
             lengths_that_nothing_says_are_refused, NULL);
  return suite_run(suite);
}
