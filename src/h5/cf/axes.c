/* See cf/axes.h. Where no dim says that it is horizontal, the last two that say nothing are. Reads no elements. */
#include "h5/cf/axes.h"

#include <stdlib.h>
#include <string.h>

#include "h5/cf/angle.h"
#include "h5/file/attributes.h"

static bool is_horizontal_name(const char *name) {
  static const char *const names[] = {"latitude",
                                      "longitude",
                                      "projection_x_coordinate",
                                      "grid_latitude",
                                      "grid_longitude",
                                      "projection_y_coordinate",
                                      "projection_x_angular_coordinate",
                                      "projection_y_angular_coordinate"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(name, names[i]) == 0) return true;
  return false;
}

/* Each text may be NULL. */
static ndr_cf_axis find_kind(const char *axis, const char *units, const char *name, const char *positive) {
  if ((axis && strcmp(axis, "T") == 0) || (units && strstr(units, " since "))) return NDR_AXIS_TIME;
  if ((axis && strcmp(axis, "Z") == 0) || positive) return NDR_AXIS_VERTICAL;
  if (axis && (strcmp(axis, "X") == 0 || strcmp(axis, "Y") == 0)) return NDR_AXIS_HORIZONTAL;
  if ((name && is_horizontal_name(name)) || ndr_angle_of_units(units) != NDR_ANGLE_UNKNOWN) return NDR_AXIS_HORIZONTAL;
  return NDR_AXIS_UNKNOWN;
}

static ndr_status find_axis(const ndr_h5_dataset *dataset, int d, ndr_cf_axis *axis) {
  static const char *const attributes[] = {"axis", "units", "standard_name", "positive"};
  char *texts[4] = {NULL};
  *axis = NDR_AXIS_UNKNOWN;
  if (!dataset->scales[d]) return NDR_OK;
  hid_t scale = H5Dopen2(dataset->file_id, dataset->scales[d], dataset->links->access);
  bool good = scale >= 0;
  for (int i = 0; i < 4 && good; i++) good = ndr_hdf_get_text(scale, attributes[i], &texts[i]);
  if (good) *axis = find_kind(texts[0], texts[1], texts[2], texts[3]);
  for (int i = 0; i < 4; i++) free(texts[i]);
  if (scale >= 0) H5Dclose(scale);
  return good ? NDR_OK : ndr_hdf_fail_late(dataset->where, "the attributes of a dim cannot be read");
}

ndr_status ndr_cf_axes(const ndr_h5_dataset *dataset, ndr_cf_axis axes[NDR_MAX_DIMS]) {
  int known = 0;
  for (int d = 0; d < dataset->info.ndim; d++) {
    NDR_TRY(find_axis(dataset, d, &axes[d]));
    known += axes[d] == NDR_AXIS_HORIZONTAL;
  }
  for (int d = dataset->info.ndim - 1, left = known ? 0 : 2; d >= 0 && left > 0; d--)
    if (axes[d] == NDR_AXIS_UNKNOWN) {
      axes[d] = NDR_AXIS_HORIZONTAL;
      left--;
    }
  return NDR_OK;
}
