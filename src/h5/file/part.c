/* See part.h. What is written is read in select.c, and found on an axis in cf/value_range.c. */
#include "h5/file/part.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "h5/cf/scale_angle.h"
#include "h5/cf/scale_units.h"
#include "h5/cf/value_range.h"
#include "h5/cf/variable.h"
#include "h5/file/select.h"

/* Coordinates are read whole. */
#define MOST_VALUES ((int64_t)64 << 20)

/* ---- The axis of a dim ------------------------------------------------------------------------------------------ */

/* Years and months have no fixed length in real calendars: such times are numbers here. */
static bool is_time_of_no_length(const ndr_scale_units *u) {
  return u->units && !u->timed && strstr(u->units, " since ");
}

/* What the scale says of its numbers. A part is about places, so that they are read as CF means them under `raw`, too,
 * which is about elements. */
static ndr_status read_meaning(const ndr_h5_dataset *dataset, int d, ndr_scale_units *u, ndr_scale_angle *angle) {
  hid_t scale;
  NDR_TRY(ndr_scale_open(dataset, d, &scale));
  ndr_status status = ndr_scale_units_read(dataset, scale, u);
  if (status == NDR_OK) {
    u->timed = ndr_time_units_parse(u->units, u->calendar, &u->time);
    status = ndr_scale_angle_read(dataset, d, scale, u->units, angle);
    if (status != NDR_OK) ndr_scale_units_free(u);
  }
  H5Dclose(scale);
  return status;
}

/* Whether files follow each other along a dim. */
static bool is_joined(const ndr_h5_dataset *dataset, int d) {
  int dims[NDR_MAX_DIMS], count;
  return dataset->along &&
         ndr_h5_dims_parse(dataset->along, dataset->info.ndim, dataset->info.dim_names, &count, dims) == NDR_OK &&
         count == 1 && dims[0] == d;
}

/* Says what a range selects if turns do not count. The sentence names the file, not the dataset, so that it is the same
 * for all datasets that have the axis, and is said once. */
static void tell_doubt(ndr_h5_dataset *dataset, const ndr_value_axis *axis, const ndr_selection *s,
                       const ndr_index_runs *runs) {
  const ndr_index_run *run = &runs->run[0];
  if (*runs->doubt)
    ndr_remark(&dataset->remarks, "%s: %s=%.*s selects %.9g to %.9g: turns do not count, as %s", dataset->file,
               axis->name, s->length, s->values, axis->values[run->from], axis->values[run->from + run->count - 1],
               runs->doubt);
}

static ndr_status find_on_axis(ndr_h5_dataset *dataset, int d, const ndr_selection *s, const ndr_scale_units *u,
                               const ndr_scale_angle *angle, ndr_index_runs *runs) {
  char name[NDR_SCALE_DIM_TEXT], reason[512];
  int64_t count = dataset->info.shape[d];
  ndr_scale_name_dim(dataset, d, name);
  if (count > MOST_VALUES)
    return ndr_fail(NDR_ERR_DIMS, "%s has %lld coordinates, which are too many to look through: select it by index",
                    name, (long long)count);
  double *values = malloc((size_t)count * sizeof *values + 1);
  if (!values) return ndr_fail(NDR_ERR_MEMORY, "out of memory for the coordinates of %s", name);
  const double turn = ndr_scale_angle_turn(angle);
  const bool other = turn == 0 && angle->called == NDR_ANGLE_LONGITUDE;
  const bool plain = u->units && !other && angle->radians == 0 && !strstr(u->units, " since ");
  const ndr_value_axis axis = {.name = name,
                               .count = count,
                               .values = values,
                               .precision = u->precision,
                               .time = u->timed ? &u->time : NULL,
                               .turn = turn,
                               .units = plain ? u->units : NULL,
                               .other_units = other ? u->units : NULL};
  if (is_joined(dataset, d)) ndr_hdf_keep_coordinates(dataset, d);
  ndr_status status = ndr_hdf_coordinate_values(dataset, d, false, values);
  if (status == NDR_OK) status = ndr_value_range_find(&axis, s->values, s->length, runs);
  if (status == NDR_OK) tell_doubt(dataset, &axis, s, runs);
  free(values);
  if ((status != NDR_ERR_PARSE && status != NDR_ERR_DIMS) || !is_time_of_no_length(u)) return status;
  snprintf(reason, sizeof reason, "%s", ndr_last_error());
  if (!ndr_scale_units_has_calendar(u))
    return ndr_fail(status, "%s; its calendar is '%.40s', which is none of CF's, and so it has no dates", reason,
                    u->calendar);
  return ndr_fail(status, "%s; it counts '%.80s', which have no fixed length, and so has no dates", reason, u->units);
}

static void cut(ndr_h5_dataset *dataset, int d, const ndr_index_runs *runs) {
  const ndr_index_run *first = &runs->run[0], *second = runs->count > 1 ? &runs->run[1] : NULL;
  dataset->from[d] = first->from;
  dataset->step[d] = 1;
  dataset->info.shape[d] = first->count + (second ? second->count : 0);
  dataset->turn[d] = first->shift;
  if (second) dataset->seam[d] = (ndr_seam){first->count, second->from, second->shift};
}

/* A file of a series need not have anything of a range along the series: of a period, say. */
static ndr_status select_nothing(ndr_h5_dataset *dataset, ndr_index_runs *runs) {
  dataset->nothing = strdup(ndr_last_error());
  if (!dataset->nothing) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", dataset->where);
  *runs = (ndr_index_runs){.count = 1, .run = {{0, 0, 0}}};
  return NDR_OK;
}

static ndr_status cut_by_values(ndr_h5_dataset *dataset, int d, const ndr_selection *s) {
  ndr_scale_units units;
  ndr_index_runs runs = {.count = -1};
  ndr_scale_angle angle;
  NDR_TRY(read_meaning(dataset, d, &units, &angle));
  ndr_status status = find_on_axis(dataset, d, s, &units, &angle, &runs);
  ndr_scale_units_free(&units);
  if (status == NDR_ERR_DIMS && runs.count == 0 && is_joined(dataset, d)) status = select_nothing(dataset, &runs);
  if (status == NDR_OK) cut(dataset, d, &runs);
  return status;
}

/* ---- The part --------------------------------------------------------------------------------------------------- */

/* Coordinates of several dims, or of none, cut no box out of an array. Returns the failure that was found before,
 * unless a name in `part` is such a variable. */
static ndr_status explain_names(const ndr_h5_dataset *dataset, const char *part, ndr_status failure) {
  const bool reduced[NDR_MAX_DIMS] = {false};
  char text[256], reason[512];
  const char *name;
  snprintf(reason, sizeof reason, "%s", ndr_last_error());
  for (int length; (length = ndr_select_next_name(&part, &name)) >= 0;) {
    ndr_cf_variable v;
    snprintf(text, sizeof text, "%.*s", length, name);
    ndr_status status = ndr_cf_variable_open(&v, dataset, reduced, text, false);
    int found = v.count, ndim = found ? v.whole.info.ndim : 0;
    ndr_cf_variable_close(&v);
    NDR_TRY(status);
    if (found && ndim > 1)
      return ndr_fail(failure,
                      "%s is a coordinate of %d dims: no range of it is a box; select by dims, or use it in a "
                      "condition",
                      text, ndim);
  }
  return ndr_fail(failure, "%s", reason);
}

static ndr_status apply(ndr_h5_dataset *dataset, const char *part) {
  ndr_selection all[NDR_MAX_DIMS];
  ndr_status status = ndr_select_parse(part, dataset->info.ndim, dataset->extent, dataset->info.dim_names, all);
  if (status == NDR_ERR_DIMS) status = explain_names(dataset, part, status);
  NDR_TRY(status);
  for (int d = 0; d < dataset->info.ndim; d++) {
    if (all[d].values) {
      NDR_TRY(cut_by_values(dataset, d, &all[d]));
      continue;
    }
    dataset->from[d] = all[d].from;
    dataset->step[d] = all[d].step;
    dataset->info.shape[d] = all[d].count;
  }
  return NDR_OK;
}

ndr_status ndr_part_select(ndr_h5_dataset *dataset, const char *part) {
  char reason[640];
  ndr_status status = apply(dataset, part);
  if (status == NDR_OK) return status;
  snprintf(reason, sizeof reason, "%s", ndr_last_error());
  size_t named = strlen(dataset->where);
  if (strncmp(reason, dataset->where, named) == 0) return status;
  return ndr_fail(status, "%s: %s", dataset->where, reason);
}
