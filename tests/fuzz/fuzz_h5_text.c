/* What texts and numbers of a file's attributes mean, without a file, and so many thousand times a second: times and
 * calendars, angles, units and cell_methods of results, names of dims, numbers that elements are compared with.
 *
 * Input: operator, dtype, a number of 8 bytes, then lines: units, calendar, cell_methods, dims as typed, and names of
 * dims. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fuzz.h"
#include "h5/cf/angle.h"
#include "h5/cf/attributes.h"
#include "h5/cf/packed.h"
#include "h5/file/netcdf.h"
#include "h5/time/group_by.h"
#include "h5/time/time.h"
#include "h5/write/scale/scales.h"
#include "ndreduce/h5.h"

enum { MOST_NAMES = 4 };

static const int64_t day = INT64_C(86400000000);

/* ---- Times ------------------------------------------------------------------------------------------------------ */

static bool is_same(ndr_instant a, ndr_instant b) {
  return a.day == b.day && a.microsecond == b.microsecond;
}

static bool is_within_day(ndr_instant instant) {
  return instant.microsecond >= 0 && instant.microsecond < day;
}

/* An instant has one date, and what is written of it is read as the same, where the year is one that is read and that
 * counts alike with and without a year 0. */
static void check_date(const ndr_time_units *units, ndr_instant instant) {
  char text[NDR_TIME_CHARS], again[64];
  ndr_time_units parsed;
  ndr_instant back;
  ndr_date date = ndr_date_of(units->calendar, instant);
  require(ndr_date_to_instant(units->calendar, &date, &back) && is_same(back, instant));
  ndr_time_write(units, instant, ndr_time_precision_of(instant), text);
  require(strlen(text) >= 10);
  ndr_instant period[2];
  if (llabs(date.year) < 999999) {
    require(ndr_date_read(text, units, period) && is_same(period[0], instant));
    require(ndr_instant_is_before(instant, period[1]));
  }
  if (date.year < 1 || date.year > 999999) return;
  snprintf(again, sizeof again, "days since %s", text);
  require(ndr_time_units_parse(again, ndr_calendar_name(units->calendar), &parsed));
  require(is_same(parsed.reference, instant));
}

/* The instant is as far from the reference as the number says, to half a microsecond. */
static void check_distance(const ndr_time_units *units, double value, ndr_instant instant) {
  long double apart = (long double)(instant.day - units->reference.day) * (long double)day +
                      (long double)(instant.microsecond - units->reference.microsecond);
  long double wanted = (long double)value * (long double)units->unit;
  require(fabsl(apart - wanted) <= 1 + fabsl(wanted) * 0x1p-50L);
}

/* A time is in one group of each key, whose bounds hold it, unless it is no date; a missing one is in none. */
static void check_groups(const ndr_time_units *units, double value) {
  const double values[] = {value, -value, value};
  ndr_time_groups found;
  for (ndr_group_key key = NDR_GROUP_MONTH; key <= NDR_GROUP_HOUR; key++) {
    ndr_status status = ndr_time_groups_find(&(ndr_time_steps){units, 0x1p-51, 3, values, NULL}, key, &found);
    if (status != NDR_OK) {
      require(status == NDR_ERR_ARGUMENT && !isnan(value));
      ndr_time_groups_free(&found);
      continue;
    }
    require(found.count <= 2 && found.labels[0] == found.labels[2]);
    for (int i = 0; i < 3; i++) {
      char name[NDR_GROUP_CHARS];
      require((found.labels[i] < 0) == (isnan(value) != 0));
      if (found.labels[i] < 0) continue;
      const ndr_time_group *group = &found.groups[found.labels[i]];
      double off = 1e6 / (double)units->unit + 0x1p-40 * fabs(value);
      require(group->bounds[0] <= values[i] + off && group->bounds[1] >= values[i] - off);
      ndr_time_group_name(units, key, group->number, name);
      require(strlen(name) >= 1);
    }
    ndr_time_groups_free(&found);
  }
}

static void check_time(const char *text, const char *calendar, double value) {
  ndr_time_units units;
  ndr_instant instant;
  if (!ndr_time_units_parse(text, calendar, &units)) return;
  check_groups(&units, value);
  require(units.unit > 0 && is_within_day(units.reference));
  check_date(&units, units.reference);
  if (isfinite(value)) require(ndr_time_convert(&units, &units, value) == value);
  if (ndr_time_decode(&units, value, 1e-9, &instant)) require(is_within_day(instant));
  if (!ndr_time_decode(&units, value, 0, &instant)) return;
  require(is_within_day(instant));
  check_date(&units, instant);
  check_distance(&units, value, instant);
}

/* ---- Attributes of results -------------------------------------------------------------------------------------- */

static void check_angle(const char *text) {
  double radians = ndr_angle_radians(text);
  require(radians == 0 || radians == 1 || (radians > 0.017 && radians < 0.018));
  require(radians > 0 || ndr_angle_of_units(text) == NDR_ANGLE_UNKNOWN);
  if (strlen(text) >= 8 && strcasecmp(text + strlen(text) - 8, "latitude") == 0)
    require(ndr_angle_of_name(text) != NDR_ANGLE_UNKNOWN);
}

static void check_units(const char *units, ndr_op op) {
  char *result;
  require(ndr_cf_attributes_units(units, op, &result));
  require(!result || (*result && strlen(result) <= strlen(units) + strlen("()^2")));
  if (*units && strlen(units) <= 1024 && ndr_cf_attributes_is_packed(op)) require(result && strcmp(result, units) == 0);
  free(result);
}

/* What there was comes first, and nothing is added where no name can be written. */
static void check_methods(const char *before, int count, const char *const *names, ndr_op op) {
  bool named = false;
  for (int i = 0; i < count; i++) named = named || !strpbrk(names[i], " :()");
  char *plain = ndr_cf_attributes_methods(before, count, names, ndr_cf_attributes_method(op), NULL);
  char *commented = ndr_cf_attributes_methods(before, count, names, ndr_cf_attributes_method(op), "weighted");
  require(plain && commented && strncmp(plain, before, strlen(before)) == 0);
  require(strncmp(commented, plain, strlen(plain)) == 0);
  require((strlen(plain) > strlen(before)) == named && (strlen(commented) > strlen(plain)) == named);
  free(plain);
  free(commented);
}

/* ---- Names ------------------------------------------------------------------------------------------------------ */

static void check_dims(const char *text, int count, const char *const *names) {
  int dims[MOST_NAMES], found = -1;
  if (ndr_h5_dims_parse(text, count, names, &found, dims) != NDR_OK) {
    require(ndr_last_error()[0] && found == -1);
    return;
  }
  require(found >= 0 && found <= count);
  for (int i = 0; i < found; i++) require(dims[i] >= 0 && dims[i] < count);
}

static void check_name(const char *name) {
  char *shown = ndr_netcdf_shown(name);
  require(shown && strlen(shown) <= strlen(name));
  require(ndr_scales_is_named(name, name));
  ndr_angle_of_name(name);
  free(shown);
}

/* ---- Numbers ---------------------------------------------------------------------------------------------------- */

static void check_number(ndr_number number, ndr_dtype dtype) {
  ndr_packed packed;
  if (!ndr_number_pack(number, dtype, &packed) || isnan(ndr_number_real(number))) return;
  require(ndr_packed_compare(dtype, ndr_packed_least(dtype), packed) <= 0);
  require(ndr_packed_compare(dtype, packed, ndr_packed_most(dtype)) <= 0);
}

static void check_numbers(const uint8_t bytes[8], ndr_dtype dtype) {
  static const ndr_dtype widest[] = {NDR_I64, NDR_U64, NDR_F64};
  for (int i = 0; i < 3; i++) {
    ndr_number number = {.dtype = widest[i]};
    memcpy(&number.value, bytes, 8);
    check_number(number, dtype);
  }
}

/* ---- The input -------------------------------------------------------------------------------------------------- */

/* The line that text starts with, ended; *text moves to the next one, or to the text's end. */
static const char *next_line(char **text) {
  char *line = *text, *end = strchr(line, '\n');
  *text = end ? end + 1 : line + strlen(line);
  if (end) *end = 0;
  return line;
}

static void check_lines(char *text, ndr_op op, double value) {
  const char *units = next_line(&text), *calendar = next_line(&text), *methods = next_line(&text);
  const char *dims = next_line(&text), *names[MOST_NAMES];
  int count = 0;
  while (count < MOST_NAMES && *text) names[count++] = next_line(&text);
  check_time(units, calendar, value);
  check_angle(units);
  check_units(units, op);
  check_methods(methods, count, names, op);
  check_dims(dims, count, names);
  for (int i = 0; i < count; i++) check_name(names[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const ndr_dtype dtypes[] = {NDR_I8,  NDR_I16, NDR_I32, NDR_I64, NDR_U8,
                                     NDR_U16, NDR_U32, NDR_U64, NDR_F32, NDR_F64};
  input from = {data, size};
  ndr_op op = (ndr_op)(take(&from, 1) % NDR_OP_COUNT);
  ndr_dtype dtype = dtypes[take(&from, 1) % (sizeof dtypes / sizeof *dtypes)];
  uint8_t bytes[8];
  double value;
  for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)take(&from, 1);
  memcpy(&value, bytes, sizeof value);
  check_numbers(bytes, dtype);
  char *text = malloc(from.size + 1);
  require(text != NULL);
  if (from.size) memcpy(text, from.data, from.size);
  text[from.size] = 0;
  check_lines(text, op, value);
  free(text);
  return 0;
}
