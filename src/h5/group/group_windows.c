/* Windows of neighbouring steps along a dim: the public ndr_h5_groups_windows. */
#include <math.h>
#include <stdlib.h>

#include "h5/cf/scale_angle.h"
#include "h5/cf/scale_units.h"
#include "h5/group/group_make.h"
#include "h5/time/period.h"

/* ---- What stands for windows in results: the mean of their coordinates, or of times the middle ------------------- */

/* Coordinates, and twice as many bounds, are read whole. */
#define MOST_STEPS ((int64_t)64 << 20)

/* What is known of coordinates that are angles. */
typedef struct {
  double most; /* none is beyond it on either side: the latitude of a pole, else infinity */
  double turn; /* of longitudes, else 0 */
} kind_of_axis;

static ndr_status read_units(ndr_h5_groups *groups, const ndr_h5_dataset *dataset, hid_t scale, kind_of_axis *axis) {
  ndr_scale_units units;
  ndr_scale_angle angle = {.kind = NDR_ANGLE_UNKNOWN};
  NDR_TRY(ndr_scale_units_read(dataset, scale, &units));
  groups->timed = units.timed;
  groups->units = units.time;
  ndr_status status = ndr_scale_angle_read(dataset, groups->dim, scale, units.units, &angle);
  axis->most = angle.kind == NDR_ANGLE_LATITUDE && angle.radians > 0 ? acos(0) / angle.radians : INFINITY;
  axis->turn = ndr_scale_angle_turn(&angle);
  ndr_scale_units_free(&units);
  return status;
}

/* Steps without bounds reach halfway to their neighbours, so that windows leave no gaps, and the ones at the ends as
 * far to either side, but not beyond a pole. False where the values neither all go up nor all go down: then
 * nothing is known of how far a step reaches. */
static bool halve_steps(const double *values, int64_t count, double most, double *pairs) {
  if (count < 2) return false;
  double up = values[count - 1] > values[0] ? 1 : -1;
  for (int64_t i = 0; i < count; i++)
    if (!isfinite(values[i]) || (i && !(up * (values[i] - values[i - 1]) > 0))) return false;
  for (int64_t i = 0; i <= count; i++) {
    double edge = i == 0       ? values[0] - (values[1] - values[0]) / 2
                  : i == count ? values[i - 1] + (values[i - 1] - values[i - 2]) / 2
                               : values[i - 1] + (values[i] - values[i - 1]) / 2;
    edge = fmax(-most, fmin(most, edge));
    if (i > 0) pairs[2 * i - 1] = edge;
    if (i < count) pairs[2 * i] = edge;
  }
  return true;
}

/* The bounds 345 and 15 of the longitude 0 are -15 and 15: no cell reaches further than half a turn. */
static void unwind(const double *values, int64_t count, double turn, double *pairs) {
  for (int64_t i = 0; i < 2 * count && turn > 0; i++) {
    double off = pairs[i] - values[i / 2];
    if (fabs(off) > turn / 2 * (1 + 1e-6)) pairs[i] -= turn * rint(off / turn);
  }
}

/* Fills values[length] and pairs[2 * length]; *bounded: it is known what the steps reach over. Inside the lock. */
static ndr_status read_steps(ndr_h5_groups *groups, const ndr_h5_dataset *dataset, const kind_of_axis *axis,
                             double *values, double *pairs, bool *bounded) {
  bool misfit;
  ndr_status status = ndr_hdf_coordinate_values(dataset, groups->dim, false, values);
  if (status == NDR_OK)
    status = ndr_period_read_bounds(dataset, groups->dim, NULL, pairs, bounded, &misfit, &groups->gap);
  *bounded = *bounded && groups->gap < 0;
  if (status == NDR_OK && *bounded) unwind(values, groups->length, axis->turn, pairs);
  if (status == NDR_OK && !*bounded) *bounded = halve_steps(values, groups->length, axis->most, pairs);
  for (int64_t i = 0; status == NDR_OK && !*bounded && i < groups->length; i++)
    pairs[2 * i] = pairs[2 * i + 1] = values[i];
  return status;
}

static void describe(const ndr_h5_groups *groups, int64_t window, const double *values, const double *pairs) {
  int64_t first = window * groups->window, last = first + groups->window, count = 0;
  double least = INFINITY, most = -INFINITY, sum = 0;
  if (last > groups->length) last = groups->length;
  for (int64_t i = first; i < last; i++) {
    if (!isfinite(values[i])) continue;
    least = fmin(least, fmin(pairs[2 * i], pairs[2 * i + 1]));
    most = fmax(most, fmax(pairs[2 * i], pairs[2 * i + 1]));
    sum += values[i];
    count++;
  }
  bool falls = last - first > 1 ? values[last - 1] < values[first] : pairs[2 * first + 1] < pairs[2 * first];
  groups->bounds[2 * window] = !count ? NAN : falls ? most : least;
  groups->bounds[2 * window + 1] = !count ? NAN : falls ? least : most;
  groups->coordinates[window] = !count ? NAN : groups->timed ? least + (most - least) / 2 : sum / (double)count;
}

static ndr_status fail_memory(const ndr_h5_dataset *dataset) {
  return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory for its windows", dataset->where);
}

static ndr_status describe_all(ndr_h5_groups *groups, const ndr_h5_dataset *dataset, const double *values,
                               const double *pairs) {
  groups->coordinates = malloc((size_t)groups->count * sizeof *groups->coordinates);
  groups->bounds = malloc((size_t)groups->count * 2 * sizeof *groups->bounds);
  if (!groups->coordinates || !groups->bounds) return fail_memory(dataset);
  for (int64_t window = 0; window < groups->count; window++) describe(groups, window, values, pairs);
  return NDR_OK;
}

/* Inside the lock. */
static ndr_status read_and_describe(ndr_h5_groups *groups, const ndr_h5_dataset *dataset, const kind_of_axis *axis) {
  bool bounded = false;
  double *values = groups->length <= MOST_STEPS ? malloc((size_t)groups->length * 3 * sizeof *values + 1) : NULL;
  if (!values) return fail_memory(dataset);
  ndr_status status = read_steps(groups, dataset, axis, values, values + groups->length, &bounded);
  if (status == NDR_OK) status = describe_all(groups, dataset, values, values + groups->length);
  free(values);
  if (bounded) return status;
  free(groups->bounds);
  groups->bounds = NULL;
  return status;
}

/* Fills in the coordinates of windows and their bounds: the least and the greatest bound of their steps. Steps of a dim
 * without bounds reach halfway to their neighbours if they go up or down; else windows have no bounds. A dim without
 * coordinates leaves windows without. */
static ndr_status describe_windows(ndr_h5_groups *groups, const ndr_h5_dataset *dataset) {
  ndr_hdf_scope scope;
  hid_t scale = H5I_INVALID_HID;
  kind_of_axis axis = {INFINITY, 0};
  ndr_hdf_enter(&scope, dataset->no_plugins);
  ndr_status status = ndr_hdf_open_coordinates(dataset, groups->dim, false, &scale);
  bool found = status == NDR_OK && scale >= 0;
  if (found) status = read_units(groups, dataset, scale, &axis);
  if (scale >= 0) H5Dclose(scale);
  if (found && status == NDR_OK) status = read_and_describe(groups, dataset, &axis);
  ndr_hdf_leave(&scope);
  return status;
}

/* ---- Making them ------------------------------------------------------------------------------------------------- */

static ndr_status group_windows(ndr_h5_groups *groups, const ndr_h5_dataset *dataset, ndr_rest rest) {
  char called[NDR_SCALE_DIM_TEXT], reason[256];
  ndr_status status = ndr_groups_windows(&groups->labels, groups->length, groups->window, rest);
  if (status != NDR_OK) {
    snprintf(reason, sizeof reason, "%s", ndr_last_error());
    ndr_scale_name_dim(dataset, groups->dim, called);
    return ndr_fail(status, "%s: its %s: %s", dataset->where, called, reason);
  }
  groups->count = ndr_groups_count(groups->labels);
  return describe_windows(groups, dataset);
}

ndr_status ndr_h5_groups_windows(ndr_h5_groups **groups, const ndr_h5_dataset *dataset, int dim, int64_t window,
                                 ndr_rest rest) {
  ndr_h5_groups *made;
  char text[32];
  if (!groups || !dataset) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_h5_groups_windows: null pointer");
  snprintf(text, sizeof text, "%lld", (long long)window);
  ndr_status status = ndr_group_begin(&made, dataset, dim, 1, NDR_GROUPING_WINDOWS, text);
  if (status == NDR_OK) {
    made->window = window;
    status = group_windows(made, dataset, rest);
  }
  return ndr_group_finish(groups, made, status);
}
