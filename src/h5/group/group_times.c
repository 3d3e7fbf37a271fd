/* Groups of times: the public ndr_h5_groups_by_time. Which group a time is in, time/group_by.c finds. */
#include <stdlib.h>
#include <string.h>

#include "h5/group/group_make.h"
#include "h5/run/job/job.h"
#include "h5/time/time_axis.h"

static ndr_status parse_key(const ndr_h5_dataset *dataset, const char *text, ndr_group_key *key) {
  char names[128] = "";
  if (ndr_group_key_parse(text, key)) return NDR_OK;
  for (int k = 0, length = 0; k <= NDR_GROUP_HOUR; k++)
    length += snprintf(names + length, sizeof names - (size_t)length, "%s%s",
                       k == NDR_GROUP_HOUR ? " and "
                       : k                 ? ", "
                                           : "",
                       ndr_group_key_name((ndr_group_key)k));
  return ndr_fail(NDR_ERR_ARGUMENT, "%s: times have no groups by '%.80s', only by %s", dataset->where, text, names);
}

static ndr_status take_times(ndr_h5_groups *groups, const ndr_h5_dataset *dataset, const ndr_time_groups *found) {
  size_t count = (size_t)found->count;
  groups->count = found->count;
  groups->numbers = malloc(count * sizeof *groups->numbers + 1);
  groups->coordinates = malloc(count * sizeof *groups->coordinates + 1);
  groups->bounds = malloc(2 * count * sizeof *groups->bounds + 1);
  if (!groups->numbers || !groups->coordinates || !groups->bounds) return ndr_group_fail_memory(dataset);
  memcpy(groups->group_of, found->labels, (size_t)groups->length * sizeof *groups->group_of);
  for (size_t i = 0; i < count; i++) {
    groups->numbers[i] = found->groups[i].number;
    groups->coordinates[i] = found->groups[i].time;
    memcpy(&groups->bounds[2 * i], found->groups[i].bounds, sizeof found->groups[i].bounds);
  }
  return ndr_group_settle(groups, dataset);
}

static ndr_status read_axis(const ndr_h5_dataset *dataset, int d, ndr_time_axis *axis) {
  ndr_hdf_scope scope;
  ndr_hdf_enter(&scope, dataset->no_plugins);
  ndr_status status = ndr_time_axis_read(dataset, d, axis);
  ndr_hdf_leave(&scope);
  return status;
}

static ndr_status group_times(ndr_h5_groups *groups, const ndr_h5_dataset *dataset, const char *key) {
  ndr_time_axis axis;
  ndr_time_groups found = {.count = 0};
  NDR_TRY(parse_key(dataset, key, &groups->key));
  ndr_status status = read_axis(dataset, groups->dim, &axis);
  if (status == NDR_OK) status = ndr_job_blame(dataset, ndr_time_groups_find(&axis.steps, groups->key, &found));
  if (status == NDR_OK) {
    groups->timed = true;
    groups->units = axis.units.time;
    status = take_times(groups, dataset, &found);
  }
  ndr_time_groups_free(&found);
  ndr_time_axis_free(&axis);
  return status;
}

ndr_status ndr_h5_groups_by_time(ndr_h5_groups **groups, const ndr_h5_dataset *dataset, int dim, const char *key) {
  ndr_h5_groups *made;
  if (!groups || !dataset || !key) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_h5_groups_by_time: null pointer");
  ndr_status status = ndr_group_begin(&made, dataset, dim, 1, NDR_GROUPING_TIME, key);
  if (status == NDR_OK) status = group_times(made, dataset, key);
  return ndr_group_finish(groups, made, status);
}
