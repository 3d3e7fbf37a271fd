/* Groups of times: which month, season, year, ... each step of a time axis is of, and what CF says of a group's result.
 * Knows nothing of HDF5.
 *
 * A step is where its time is, whatever its bounds are, as CDO and xarray have it: a mean of January that is dated 1
 * February 00:00 counts as February's. */
#ifndef NDR_H5_TIME_GROUP_BY_H
#define NDR_H5_TIME_GROUP_BY_H

#include "h5/time/time.h"
#include "ndreduce/ndreduce.h"

typedef enum ndr_group_key {
  NDR_GROUP_MONTH,      /* 1 .. 12, of all years */
  NDR_GROUP_SEASON,     /* 1 .. 4: December to February, March to May, June to August, September to November */
  NDR_GROUP_YEAR,       /* the year */
  NDR_GROUP_YEARMONTH,  /* a month of one year: year * 12 + month - 1 */
  NDR_GROUP_YEARSEASON, /* a season of one year, that of its last month: year * 4 + season - 1 */
  NDR_GROUP_DAY,        /* a date: the number of the day (ndr_instant) */
  NDR_GROUP_DAYOFYEAR,  /* 1 .. 366, of all years; 1 March is the 60th day of a year without a 29 February */
  NDR_GROUP_MONTHDAY,   /* a month and a day of it, of all years: month * 100 + day */
  NDR_GROUP_HOUR        /* 0 .. 23, of all days */
} ndr_group_key;

/* "month", "season", "year", "yearmonth", "yearseason", "day", "dayofyear", "monthday", "hour", in any
 * case. */
bool ndr_group_key_parse(const char *name, ndr_group_key *key);
const char *ndr_group_key_name(ndr_group_key key);

/* Whether a group is of many years, or of many days: a climatology in CF's sense. */
bool ndr_group_key_is_climatology(ndr_group_key key);

/* A time axis. `precision` is how far a value may be off, relative to it (see ndr_time_decode). */
typedef struct ndr_time_steps {
  const ndr_time_units *units;
  double precision;
  int64_t count;
  const double *values; /* in any order; NaN is a missing time */
  const double *bounds; /* [count][2] in the same units; NULL where there are none */
} ndr_time_steps;

/* One group: the steps of the same month, or so. Times are in the units of the axis. */
typedef struct ndr_time_group {
  int64_t number;   /* as the keys say, years counted with a year 0 */
  int64_t steps;    /* at least 1 */
  double bounds[2]; /* from the begin of the first period to the end of the last one: of January from 1961 to 1990, 1
                       January 1961 to 1 February 1990; of a year, its begin and end */
  double time;      /* the middle of the period that it is dated by, as in the examples of CF, section 7.4 */
} ndr_time_group;

typedef struct ndr_time_groups {
  ndr_group_key key;
  int64_t count;
  ndr_time_group *groups; /* those with steps, in the order of their numbers; their times go up */
  int64_t *labels;        /* [steps]: the place of a step's group among them; -1 of a missing time, in no group */
} ndr_time_groups;

/* A group of a climatology is dated by its first period that is behind the one of the group before, so that times go up
 * also where the data begin in another month than January: by one that has steps, or if none has, as of November in
 * data that end in March, by the next one of the calendar. To be freed even after a failure: a lack of memory, or
 * NDR_ERR_ARGUMENT for a number that is no date and not NaN. */
ndr_status ndr_time_groups_find(const ndr_time_steps *steps, ndr_group_key key, ndr_time_groups *found);
void ndr_time_groups_free(ndr_time_groups *groups);

enum { NDR_GROUP_CHARS = 40 };

/* What people call a group: "1", "DJF", "2001", "2001-01", "2001-DJF", "2001-01-31", "60", "23". */
void ndr_time_group_name(const ndr_time_units *units, ndr_group_key key, int64_t number, char text[NDR_GROUP_CHARS]);

/* The entry for cell_methods, behind `before` (NULL for none): "time: mean", and of a climatology "time: mean within
 * years time: mean over years", or days, where the method composes: its result over all is that over those of each
 * year. Else "time: variance (of all years together)", for which CF has no words. `comment` in brackets, or NULL. To be
 * freed; NULL if memory is short. */
char *ndr_time_group_methods(ndr_group_key key, const char *before, const char *dim, const char *method, bool composes,
                             const char *comment);

#endif
