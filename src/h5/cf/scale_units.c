/* See scale_units.h. */
#include "h5/cf/scale_units.h"

#include <stdlib.h>
#include <string.h>

#include "h5/bytes/header.h"
#include "h5/file/attributes.h"

static bool same_text(const char *a, const char *b) {
  return a && b ? strcmp(a, b) == 0 : a == b;
}

bool ndr_scale_units_same_words(const ndr_scale_units *a, const ndr_scale_units *b) {
  return same_text(a->units, b->units) && same_text(a->calendar, b->calendar);
}

void ndr_scale_units_free(ndr_scale_units *u) {
  free(u->units);
  free(u->calendar);
  u->units = u->calendar = NULL;
}

/* NULL without the attribute; "(no text)", which is no calendar, if it is not text. *good: it could be read. */
static char *read_calendar(hid_t scale, bool *good) {
  char *calendar;
  *good = ndr_hdf_get_text(scale, "calendar", &calendar);
  if (!*good || calendar) return calendar;
  htri_t has = ndr_header_has_attribute(scale, "calendar");
  calendar = has > 0 ? ndr_hdf_noted(strdup("(no text)")) : NULL;
  *good = has == 0 || calendar;
  return calendar;
}

bool ndr_scale_units_has_calendar(const ndr_scale_units *units) {
  ndr_calendar calendar;
  return ndr_calendar_parse(units->calendar, &calendar);
}

ndr_status ndr_scale_units_read(const ndr_h5_dataset *dataset, hid_t scale, ndr_scale_units *u) {
  hid_t type = H5Dget_type(scale);
  bool single = H5Tget_class(type) == H5T_FLOAT && H5Tget_size(type) <= sizeof(float);
  *u = (ndr_scale_units){.precision = single ? 0x1p-23 : 0x1p-51};
  if (type >= 0) H5Tclose(type);
  bool good = type >= 0 && ndr_hdf_get_text(scale, "units", &u->units);
  if (good) u->calendar = read_calendar(scale, &good);
  if (!good) {
    ndr_scale_units_free(u);
    return ndr_hdf_fail_coordinates(dataset);
  }
  if (u->units && !u->units[strspn(u->units, " ")]) { /* as good as none */
    free(u->units);
    u->units = NULL;
  }
  u->timed = !dataset->raw && ndr_time_units_parse(u->units, u->calendar, &u->time);
  return NDR_OK;
}

void ndr_scale_name_dim(const ndr_h5_dataset *dataset, int d, char text[NDR_SCALE_DIM_TEXT]) {
  if (dataset->names[d])
    snprintf(text, NDR_SCALE_DIM_TEXT, "%.100s", dataset->names[d]);
  else
    snprintf(text, NDR_SCALE_DIM_TEXT, "dim %d", d);
}

ndr_status ndr_scale_fail(const ndr_h5_dataset *dataset, int d, const char *what) {
  char dim[NDR_SCALE_DIM_TEXT];
  ndr_scale_name_dim(dataset, d, dim);
  return ndr_fail(NDR_ERR_DIMS, "%s: its %s%s has no coordinates%s", dataset->where, dataset->names[d] ? "dim " : "",
                  dim, what);
}

ndr_status ndr_scale_open(const ndr_h5_dataset *dataset, int d, hid_t *scale) {
  NDR_TRY(ndr_hdf_open_coordinates(dataset, d, false, scale));
  return *scale < 0 ? ndr_scale_fail(dataset, d, "") : NDR_OK;
}

ndr_status ndr_scale_check_dim(const ndr_h5_dataset *dataset, int dim, int *d) {
  if (!dataset) return ndr_fail(NDR_ERR_ARGUMENT, "dataset is a null pointer");
  int ndim = dataset->info.ndim;
  *d = dim < 0 ? dim + ndim : dim;
  if (*d >= 0 && *d < ndim) return NDR_OK;
  return ndr_fail(NDR_ERR_DIMS, "%s: dim %d is out of range for an array of %d dim%s", dataset->where, dim, ndim,
                  NDR_PLURAL(ndim));
}
