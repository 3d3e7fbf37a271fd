/* See slow_calendar.h. */
#include "support/slow_calendar.h"

#include <string.h>

static bool is_called(const char *calendar, const char *name) {
  return strcmp(calendar, name) == 0;
}

static bool is_leap(const char *calendar, int year) {
  if (is_called(calendar, "julian") || (is_called(calendar, "standard") && year < 1583)) return year % 4 == 0;
  if (is_called(calendar, "noleap")) return false;
  if (is_called(calendar, "all_leap")) return true;
  return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

int slow_month_length(const char *calendar, int year, int month) {
  if (is_called(calendar, "360_day")) return 30;
  if (month == 2) return is_leap(calendar, year) ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

slow_date slow_new_year(int year) {
  return (slow_date){year, 1, 1, 1};
}

void slow_next_day(const char *calendar, slow_date *date) {
  int days = is_called(calendar, "standard") && date->year == 1582 && date->month == 10 && date->day == 4 ? 11 : 1;
  date->day += days;
  date->dayofyear += days;
  if (date->day <= slow_month_length(calendar, date->year, date->month)) return;
  date->day = 1;
  if (++date->month <= 12) return;
  *date = slow_new_year(date->year + 1);
}
