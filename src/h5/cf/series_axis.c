/* See series_axis.h. Reading a scale is in coordinates.c, calendars are in time.c. */
#include "h5/cf/series_axis.h"

#include <stdlib.h>

#include "h5/cf/angle.h"
#include "h5/cf/scale_units.h"
#include "h5/file/attributes.h"

static bool can_convert(const ndr_scale_units *a, const ndr_scale_units *b) {
  if (a->timed && b->timed) return a->time.calendar == b->time.calendar && a->time.zero_year == b->time.zero_year;
  double angle = ndr_angle_radians(a->units);
  if (angle > 0 && angle == ndr_angle_radians(b->units)) return true;
  return ndr_scale_units_same_words(a, b);
}

static ndr_status read_times(const ndr_h5_dataset *part, int d, double **times) {
  *times = calloc((size_t)part->info.shape[d] + 1, sizeof **times); /* which sees an overflow */
  if (!*times) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory for the coordinates of a dim", part->where);
  return ndr_hdf_coordinate_values(part, d, false, *times);
}

/* Whether the calendars are two that date all times of the part alike: STANDARD and PROLEPTIC_GREGORIAN differ before
 * 15 October 1582 alone. */
static ndr_status dates_alike(const ndr_scale_units *first, const ndr_scale_units *own, const ndr_h5_dataset *part,
                              int d, bool *alike) {
  double *times = NULL;
  ndr_instant instant;
  *alike = first->timed && own->timed && ndr_calendar_is_gregorian(first->time.calendar) &&
           ndr_calendar_is_gregorian(own->time.calendar);
  ndr_status status = *alike ? read_times(part, d, &times) : NDR_OK;
  for (int64_t i = 0; i < part->info.shape[d] && status == NDR_OK && *alike; i++)
    if (ndr_time_decode(&own->time, times[i], 0, &instant)) *alike = ndr_instant_is_gregorian(instant);
  free(times);
  return status;
}

static ndr_status describe_time(const ndr_scale_units *u, const ndr_h5_dataset *part, int d, bool last, char *text) {
  double *times;
  ndr_instant instant;
  ndr_status status = read_times(part, d, &times);
  snprintf(text, NDR_TIME_CHARS, "no time");
  if (status == NDR_OK && ndr_time_decode(&u->time, times[last ? part->info.shape[d] - 1 : 0], 0, &instant))
    ndr_time_write(&u->time, instant, ndr_time_precision_of(instant), text);
  free(times);
  return status;
}

static ndr_status fail_calendars(const ndr_h5_dataset *series, const ndr_scale_units *first, const ndr_h5_dataset *part,
                                 const ndr_scale_units *own) {
  char dim[NDR_SCALE_DIM_TEXT], begin[NDR_TIME_CHARS], end[NDR_TIME_CHARS];
  int d = series->series_dim;
  const ndr_h5_dataset *before = series->parts[series->axis_part];
  bool mixed = ndr_calendar_is_gregorian(first->time.calendar) && ndr_calendar_is_gregorian(own->time.calendar);
  NDR_TRY(describe_time(own, part, d, false, begin));
  NDR_TRY(describe_time(first, before, d, true, end));
  ndr_scale_name_dim(part, d, dim);
  return ndr_fail(NDR_ERR_DIMS,
                  "%s: its %s begins with %s of the calendar %s, that of %s ends with %s of the calendar %s: two "
                  "calendars are no one axis%s; set one, or reduce the files one by one",
                  part->where, dim, begin, ndr_calendar_name(own->time.calendar), before->where, end,
                  ndr_calendar_name(first->time.calendar), mixed ? " before 1582-10-15" : "");
}

static void describe_units(const ndr_scale_units *u, char text[256]) {
  if (!u->units)
    snprintf(text, 256, "no units");
  else
    snprintf(text, 256, "units '%.120s'%s%.80s", u->units, u->calendar ? ", calendar " : "",
             u->calendar ? u->calendar : "");
}

static ndr_status fail_units(const ndr_h5_dataset *series, const ndr_scale_units *first, const ndr_h5_dataset *part,
                             const ndr_scale_units *own) {
  char dim[NDR_SCALE_DIM_TEXT], texts[2][256];
  if (first->timed && own->timed) return fail_calendars(series, first, part, own);
  ndr_scale_name_dim(part, series->series_dim, dim);
  describe_units(own, texts[0]);
  describe_units(first, texts[1]);
  return ndr_fail(NDR_ERR_DIMS,
                  "%s: its %s has %s, that of %s has %s: one cannot be converted to the other; set one of them, or "
                  "reduce the files one by one",
                  part->where, dim, texts[0], series->parts[series->axis_part]->where, texts[1]);
}

/* How the axis of one more part follows that of the part whose scale is `described`. */
static ndr_status join_scale(ndr_h5_dataset *series, hid_t described, const ndr_scale_units *first,
                             ndr_h5_dataset *part, hid_t scale) {
  ndr_scale_units own;
  htri_t same = ndr_hdf_same_meaning(described, scale);
  if (same < 0) return ndr_hdf_fail_coordinates(part);
  NDR_TRY(ndr_scale_units_read(part, scale, &own));
  part->timed = own.timed;
  part->time = own.time;
  bool alike = same || part->raw || can_convert(first, &own);
  ndr_status status = alike ? NDR_OK : dates_alike(first, &own, part, series->series_dim, &alike);
  if (!same && part->raw)
    series->axis = NDR_AXIS_NONE;
  else if (!same || ndr_hdf_is_converted(part, series->series_dim))
    series->axis = NDR_AXIS_CONVERTED;
  if (status == NDR_OK && !alike) status = fail_units(series, first, part, &own);
  ndr_scale_units_free(&own);
  return status;
}

/* A part without elements says nothing of the axis. */
static ndr_status join_parts(ndr_h5_dataset *series, hid_t described, const ndr_scale_units *first) {
  int d = series->series_dim;
  for (int p = 0; p < series->part_count && series->axis != NDR_AXIS_NONE; p++) {
    ndr_h5_dataset *part = series->parts[p];
    hid_t scale;
    if (part->info.shape[d] == 0) continue;
    NDR_TRY(ndr_hdf_open_scale(part, d, false, &scale));
    if (scale < 0) {
      series->axis = NDR_AXIS_NONE;
      return NDR_OK;
    }
    ndr_status status = join_scale(series, described, first, part, scale);
    H5Dclose(scale);
    NDR_TRY(status);
  }
  return NDR_OK;
}

ndr_status ndr_axis_join(ndr_h5_dataset *series) {
  int d = series->series_dim, first = 0;
  hid_t scale;
  ndr_scale_units units;
  while (first + 1 < series->part_count && series->parts[first]->info.shape[d] == 0) first++;
  series->axis_part = series->parts[first]->info.shape[d] ? first : 0;
  series->axis = NDR_AXIS_NONE;
  NDR_TRY(ndr_hdf_open_scale(series->parts[series->axis_part], d, false, &scale));
  if (scale < 0) return NDR_OK;
  series->axis = NDR_AXIS_STORED;
  ndr_status status = ndr_scale_units_read(series->parts[series->axis_part], scale, &units);
  if (status == NDR_OK) {
    status = join_parts(series, scale, &units);
    ndr_scale_units_free(&units);
  }
  H5Dclose(scale);
  return status;
}
