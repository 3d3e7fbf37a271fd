/* See period.h. Only reads; period_put.c writes. */
#include "h5/time/period.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "h5/cf/coordinates.h"
#include "h5/file/attributes.h"
#include "h5/write/scale/label.h"

/* Times, and twice as many bounds, are read whole. */
#define MOST_TIMES ((int64_t)4 << 20)

static ndr_status fail_read(const ndr_h5_dataset *source) {
  return ndr_hdf_fail_late(source->where, "the bounds of its times cannot be read");
}

static ndr_status fail_memory(const ndr_h5_dataset *source) {
  return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory for the bounds of its times", source->where);
}

/* Coordinates are closed before bounds are opened: of a scale that is open, HDF5 1.10 may not know the name when a
 * reference is followed to it. */
ndr_status ndr_period_name_bounds(const ndr_h5_dataset *source, int d, ndr_period *period) {
  hid_t scale;
  char *units = NULL;
  *period = (ndr_period){.gap = -1};
  NDR_TRY(ndr_hdf_open_coordinates(source, d, false, &scale));
  if (scale < 0) return NDR_OK;
  bool good = ndr_hdf_get_text(scale, "units", &units);
  period->found = units && strstr(units, " since ");
  period->attribute = "climatology";
  good = good && ndr_hdf_get_text(scale, period->attribute, &period->name);
  if (good && !period->name) {
    period->attribute = "bounds";
    good = ndr_hdf_get_text(scale, period->attribute, &period->name);
  }
  free(units);
  H5Dclose(scale);
  return good ? NDR_OK : fail_read(source);
}

static bool has_numbers(const ndr_h5_dataset *piece) {
  return piece->type_class == H5T_INTEGER || piece->type_class == H5T_FLOAT;
}

ndr_status ndr_period_open_bounds(const ndr_h5_dataset *source, int d, const ndr_period *period,
                                  ndr_cf_variable *bounds) {
  const bool reduced[NDR_MAX_DIMS] = {false};
  *bounds = (ndr_cf_variable){.count = 0};
  if (period->name) NDR_TRY(ndr_cf_variable_open(bounds, source, reduced, period->name, true));
  const ndr_h5_info *info = &bounds->whole.info;
  bounds->fits = bounds->fits && info->ndim == 2 && info->shape[0] == source->info.shape[d] && info->shape[1] == 2;
  for (int i = 0; i < bounds->count && bounds->fits; i++)
    bounds->fits = has_numbers(bounds->pieces[i]) && !ndr_hdf_is_short(bounds->pieces[i]);
  return NDR_OK;
}

/* The first pair that is not of numbers; -1 if there is none. *any: there is one of numbers. */
static int64_t find_gap(const double *pairs, int64_t count, bool *any) {
  int64_t gap = -1;
  *any = count == 0;
  for (int64_t i = 0; i < count; i++) {
    bool finite = isfinite(pairs[2 * i]) && isfinite(pairs[2 * i + 1]);
    *any = *any || finite;
    if (!finite && gap < 0) gap = i;
  }
  return *any ? gap : -1;
}

void ndr_period_tell_gap(ndr_remarks *remarks, const ndr_h5_dataset *source, int d, int64_t gap) {
  const char *name = source->names[d];
  if (gap < 0) return;
  ndr_remark(remarks, "%s: the bounds of %s are not used: those at index %lld are no numbers", source->where,
             name ? name : "a dim", (long long)gap);
}

static ndr_status read_named(const ndr_h5_dataset *source, int d, const ndr_period *period, double *bounds, bool *found,
                             bool *misfit, int64_t *gap) {
  ndr_cf_variable variable;
  ndr_status status = ndr_period_open_bounds(source, d, period, &variable);
  *found = status == NDR_OK && variable.fits;
  if (*found && !ndr_cf_variable_read_values(&variable, bounds)) status = ndr_hdf_fail_coordinates(source);
  *misfit = status == NDR_OK && variable.count > 0 && !*found;
  *found = *found && status == NDR_OK;
  if (*found) *gap = find_gap(bounds, source->info.shape[d], found);
  ndr_cf_variable_close(&variable);
  return status;
}

ndr_status ndr_period_read_bounds(const ndr_h5_dataset *source, int d, const char *attribute, double *bounds,
                                  bool *found, bool *misfit, int64_t *gap) {
  ndr_period period;
  *found = *misfit = false;
  *gap = -1;
  ndr_status status = ndr_period_name_bounds(source, d, &period);
  if (status == NDR_OK && period.name && (!attribute || strcmp(period.attribute, attribute) == 0))
    status = read_named(source, d, &period, bounds, found, misfit, gap);
  ndr_period_free(&period);
  return status;
}

static void widen(double value, double bounds[2]) {
  if (!(value >= bounds[0])) bounds[0] = value;
  if (!(value <= bounds[1])) bounds[1] = value;
}

/* False where a pair of bounds does not enclose its time, or is NaN: it was never written, or belongs to something
 * else.
 */
static bool span_bounds(const double *times, const double *pairs, int64_t count, double bounds[2]) {
  bounds[0] = bounds[1] = NAN;
  for (int64_t i = 0; i < count; i++) {
    double a = pairs[2 * i], b = pairs[2 * i + 1];
    bool holds = (a <= times[i] && times[i] <= b) || (b <= times[i] && times[i] <= a);
    if (!holds) return false;
    widen(a, bounds);
    widen(b, bounds);
  }
  return count > 0;
}

static void span_times(const double *times, int64_t count, double bounds[2]) {
  bounds[0] = bounds[1] = NAN;
  for (int64_t i = 0; i < count; i++)
    if (isfinite(times[i])) widen(times[i], bounds);
}

static ndr_status span(const ndr_h5_dataset *source, int d, double *times, ndr_period *period) {
  int64_t count = source->info.shape[d];
  ndr_cf_variable bounds;
  bool spanned = false;
  NDR_TRY(ndr_hdf_coordinate_values(source, d, false, times));
  ndr_status status = ndr_period_open_bounds(source, d, period, &bounds);
  if (status == NDR_OK && bounds.fits) {
    spanned = ndr_cf_variable_read_values(&bounds, times + count);
    if (!spanned) status = fail_read(source);
    bool any;
    if (spanned) period->gap = find_gap(times + count, count, &any);
    spanned = spanned && span_bounds(times, times + count, count, period->bounds);
  }
  ndr_cf_variable_close(&bounds);
  if (!spanned) {
    span_times(times, count, period->bounds);
    period->attribute = "bounds"; /* the ends of an axis are no climatology */
  }
  return status;
}

ndr_status ndr_period_find(const ndr_h5_dataset *source, int d, ndr_period *period) {
  int64_t count = source->info.shape[d];
  NDR_TRY(ndr_period_name_bounds(source, d, period));
  period->found = period->found && count > 0 && count <= MOST_TIMES;
  if (!period->found) return NDR_OK;
  double *times = malloc((size_t)count * 3 * sizeof *times);
  ndr_status status = times ? span(source, d, times, period) : fail_memory(source);
  free(times);
  period->found = status == NDR_OK && isfinite(period->bounds[0]) && isfinite(period->bounds[1]);
  return status;
}

void ndr_period_free(ndr_period *period) {
  free(period->name);
  period->name = NULL;
}

double ndr_period_middle(const ndr_period *period) {
  return period->bounds[0] + (period->bounds[1] - period->bounds[0]) / 2;
}

bool ndr_period_keeps(void *user, const char *name) {
  return ndr_label_keeps_unpacked(user, name) && strcmp(name, "actual_range") != 0;
}
