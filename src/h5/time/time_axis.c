/* See time_axis.h; and the public ndr_h5_time_weights. */
#include "h5/time/time_axis.h"

#include <stdlib.h>
#include <string.h>

#include "h5/time/period.h"
#include "h5/time/time_days.h"

/* Times, and twice as many bounds, are read whole. */
#define MOST_TIMES ((int64_t)64 << 20)

static ndr_status fail_no_times(const ndr_h5_dataset *dataset, int d, const ndr_scale_units *u) {
  char dim[NDR_SCALE_DIM_TEXT];
  ndr_scale_name_dim(dataset, d, dim);
  if (!u->units)
    return ndr_fail(NDR_ERR_DIMS, "%s: its %s has no dates: it has no units, like 'days since 2001-01-01'",
                    dataset->where, dim);
  if (!strstr(u->units, " since "))
    return ndr_fail(NDR_ERR_DIMS, "%s: its %s has no dates: its units are '%.80s', not like 'days since 2001-01-01'",
                    dataset->where, dim, u->units);
  if (!ndr_scale_units_has_calendar(u))
    return ndr_fail(NDR_ERR_DIMS, "%s: its %s has no dates: its calendar is '%.40s', which is none of CF's",
                    dataset->where, dim, u->calendar);
  char flaw[NDR_TIME_FLAW];
  ndr_time_units_flaw(u->units, u->calendar, flaw);
  return ndr_fail(NDR_ERR_DIMS, "%s: its %s counts '%.80s' in the calendar '%.40s', which are no dates: %s",
                  dataset->where, dim, u->units, u->calendar ? u->calendar : "standard", flaw);
}

static ndr_status read_units(const ndr_h5_dataset *dataset, int d, ndr_scale_units *u) {
  hid_t scale;
  NDR_TRY(ndr_scale_open(dataset, d, &scale));
  ndr_status status = ndr_scale_units_read(dataset, scale, u);
  H5Dclose(scale);
  NDR_TRY(status);
  u->timed = ndr_time_units_parse(u->units, u->calendar, &u->time);
  return u->timed ? NDR_OK : fail_no_times(dataset, d, u);
}

ndr_status ndr_time_axis_read(const ndr_h5_dataset *dataset, int d, ndr_time_axis *axis) {
  int64_t count = dataset->info.shape[d];
  int64_t gap; /* of no use: days of steps are refused where a bound is not finite */
  bool bounded;
  *axis = (ndr_time_axis){.room = NULL};
  NDR_TRY(read_units(dataset, d, &axis->units));
  if (count > MOST_TIMES)
    return ndr_fail(NDR_ERR_DIMS, "%s: has %lld times, which are too many to read", dataset->where, (long long)count);
  axis->room = malloc((size_t)count * 3 * sizeof *axis->room + 1);
  if (!axis->room) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory for its times", dataset->where);
  NDR_TRY(ndr_hdf_coordinate_values(dataset, d, false, axis->room));
  NDR_TRY(ndr_period_read_bounds(dataset, d, "bounds", axis->room + count, &bounded, &axis->misfit, &gap));
  axis->steps = (ndr_time_steps){&axis->units.time, axis->units.precision, count, axis->room,
                                 bounded ? axis->room + count : NULL};
  return NDR_OK;
}

void ndr_time_axis_free(ndr_time_axis *axis) {
  free(axis->room);
  ndr_scale_units_free(&axis->units);
  *axis = (ndr_time_axis){.room = NULL};
}

ndr_status ndr_h5_time_weights(const ndr_h5_dataset *dataset, int dim, double *days) {
  ndr_hdf_scope scope;
  ndr_time_axis axis;
  char name[NDR_SCALE_DIM_TEXT], reason[512];
  int d;
  if (!days) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_h5_time_weights: null pointer");
  NDR_TRY(ndr_scale_check_dim(dataset, dim, &d));
  ndr_hdf_enter(&scope, dataset->no_plugins);
  ndr_status status = ndr_time_axis_read(dataset, d, &axis);
  ndr_hdf_leave(&scope);
  ndr_scale_name_dim(dataset, d, name);
  if (status == NDR_OK && axis.misfit)
    status = ndr_fail(NDR_ERR_ARGUMENT,
                      "%s: its %s: the bounds do not fit it: they must be numbers, two for each time, whose dims have "
                      "dimension scales",
                      dataset->where, name);
  if (status == NDR_OK && (status = ndr_time_days(&axis.steps, name, days)) != NDR_OK) {
    snprintf(reason, sizeof reason, "%s", ndr_last_error());
    status = ndr_fail(status, "%s: its %s", dataset->where, reason);
  }
  ndr_time_axis_free(&axis);
  return status;
}
