/* See cf_copy.h: goes through the attributes that name other variables. How names are read and variables copied is in
 * cf_names.c and cf_copy_variable.c. */
#include "h5/write/cf/cf_copy.h"

#include <stdlib.h>
#include <string.h>

#include "h5/bytes/header.h"
#include "h5/cf/coordinates.h"
#include "h5/write/cf/cf_copy_mesh.h"
#include "h5/write/cf/cf_names.h"
#include "h5/write/place.h"

/* What a scale's attributes name. */
static const struct {
  const char *attribute;
  ndr_cf_naming how;
} of_scale[] = {{"bounds", NDR_CF_NAMES_ONE}, {"climatology", NDR_CF_NAMES_ONE}, {"formula_terms", NDR_CF_NAMES_ALL}};

enum { OF_SCALE = sizeof of_scale / sizeof *of_scale };

/* A scale is closed before anything is copied: of one that is open, HDF5 1.10 may not know the name when a reference is
 * followed to it. */
static ndr_status read_scale(const ndr_cf_copy_context *c, int d, char *names[OF_SCALE]) {
  hid_t scale;
  bool good = true;
  NDR_TRY(ndr_hdf_open_coordinates(c->source, d, false, &scale));
  if (scale < 0) return NDR_OK;
  for (int i = 0; i < OF_SCALE && good; i++)
    good = ndr_hdf_get_text_or_tell(scale, of_scale[i].attribute, c->scales->remarks, &names[i]);
  H5Dclose(scale);
  return good ? NDR_OK : ndr_cf_names_fail_read(c->source);
}

static bool is_of_groups(const ndr_cf_copy_context *c, int d) {
  for (int i = 0; i < c->ndim; i++)
    if (c->from[i] == d + NDR_OF_GROUPS) return true;
  return false;
}

static ndr_status put_names_of_scale(const ndr_cf_copy_context *c, int d, const char *variable) {
  char *names[OF_SCALE] = {NULL};
  ndr_status status = read_scale(c, d, names);
  ndr_cf_copy_context own = *c;
  for (int i = 0; i < OF_SCALE && status == NDR_OK; i++) {
    own.bounds = of_scale[i].how == NDR_CF_NAMES_ONE && ndr_hdf_is_converted(c->source, d);
    status = ndr_cf_names_put(&own, names[i], of_scale[i].attribute, of_scale[i].how, 1, variable);
  }
  for (int i = 0; i < OF_SCALE; i++) free(names[i]);
  return status;
}

static ndr_status put_names_of_variable(const ndr_cf_copy_context *c, const char *attribute, ndr_cf_naming how) {
  return ndr_cf_names_put_of(c, c->source->id, attribute, how, 1, c->variable);
}

/* A grid mapping is of horizontal coordinates, and says nothing once none of them is left. */
static ndr_status put_grid_mapping(const ndr_cf_copy_context *c) {
  int horizontal = 0, left = 0;
  for (int d = 0; d < c->source->info.ndim; d++)
    if (c->axes[d] == NDR_AXIS_HORIZONTAL) {
      horizontal++;
      left += !c->reduced[d];
    }
  return horizontal && !left ? NDR_OK : put_names_of_variable(c, "grid_mapping", NDR_CF_NAMES_ONE);
}

/* The names with that of the variable `time` behind them, to be freed; NULL where there is no memory. */
static char *add_name(const ndr_cf_copy_context *c, const char *names, const char *time) {
  const char *seen = ndr_place_seen_from(c->variable, time);
  size_t capacity = strlen(names) + strlen(seen) + 3;
  char *text = malloc(capacity);
  if (text) snprintf(text, capacity, "%s%s%s%s", names, *names ? " " : "", strchr(seen, '/') ? "/" : "", seen);
  return text;
}

/* The source's coordinates that are left, and the times of its periods. */
static ndr_status put_coordinates(const ndr_cf_copy_context *c, ndr_periods *periods) {
  char *names, *left = NULL;
  ndr_status status = ndr_hdf_get_text_or_tell(c->source->id, "coordinates", c->scales->remarks, &names)
                          ? NDR_OK
                          : ndr_cf_names_fail_read(c->source);
  if (status == NDR_OK) status = ndr_cf_names_copy(c, names ? names : "", NDR_CF_NAMES_SOME, 1, c->variable, &left);
  for (int d = 0; d < c->source->info.ndim && status == NDR_OK; d++) {
    const char *time;
    if (!c->reduced[d] || c->ndim == c->source->info.ndim || is_of_groups(c, d)) continue;
    status = ndr_period_put(periods, c->scales, c->source, d, &time);
    if (status != NDR_OK || !time) continue;
    char *more = add_name(c, left, time);
    free(left);
    left = more;
    if (!left) status = ndr_cf_copy_fail_memory(c);
  }
  if (status == NDR_OK && *left) status = ndr_cf_names_put_text(c, c->variable, "coordinates", left);
  free(left);
  free(names);
  return status;
}

/* Only these attributes depend on which dims are horizontal, and to find that out takes four attributes of each dim. */
static bool needs_axes(const ndr_h5_dataset *source) {
  return ndr_header_has_attribute(source->id, "grid_mapping") != 0 ||
         ndr_header_has_attribute(source->id, "cell_measures") != 0;
}

ndr_status ndr_cf_copies_attach(ndr_cf_copies *known, ndr_scales *scales, const ndr_label *label, const char *variable,
                                int ndim, const int *from) {
  ndr_cf_copy_context c = {.known = known,
                           .scales = scales,
                           .source = label->source,
                           .reduced = label->reduced,
                           .variable = variable,
                           .ndim = ndim,
                           .from = from,
                           .follow = ndr_cf_names_put_of_copy};
  if (needs_axes(label->source)) NDR_TRY(ndr_cf_axes(label->source, c.axes));
  for (int i = 0; i < ndim; i++) {
    const char *name = ndr_scales_name(scales, variable, i);
    if (!name) continue;
    NDR_TRY(ndr_scales_is_kept(from[i]) ? put_names_of_scale(&c, from[i], name)
            : from[i] < 0               ? ndr_period_put_bounds(scales, label->source, ~from[i], name)
                          : ndr_period_put_group_bounds(scales, label->source, ndr_scales_dim(from[i]), name));
  }
  NDR_TRY(put_coordinates(&c, &known->periods));
  NDR_TRY(put_grid_mapping(&c));
  NDR_TRY(ndr_cf_mesh_put(&c, "mesh", "location"));
  NDR_TRY(ndr_cf_mesh_put(&c, "geometry", NULL));
  return put_names_of_variable(&c, "cell_measures", NDR_CF_NAMES_MEASURES);
}

void ndr_cf_copies_free(ndr_cf_copies *known) {
  for (int i = 0; i < known->count; i++) {
    free(known->all[i].origin);
    free(known->all[i].name);
  }
  free(known->all);
  ndr_periods_free(&known->periods);
}
