/* The calendars of CF, a day at a time, by rules that are written down apart from the library's. */
#ifndef TEST_SUPPORT_SLOW_CALENDAR_H
#define TEST_SUPPORT_SLOW_CALENDAR_H

#include <stdbool.h>

/* Years are counted with a year 0. */
typedef struct slow_date {
  int year, month, day;
  int dayofyear; /* with the days that October 1582 has not in the standard calendar */
} slow_date;

int slow_month_length(const char *calendar, int year, int month);

/* 1 January of a year, and the day after a date. */
slow_date slow_new_year(int year);
void slow_next_day(const char *calendar, slow_date *date);

#endif
