/* See period_put.h. The period itself is found in period.c. */
#include "h5/write/scale/period_put.h"

#include <stdlib.h>
#include <string.h>

#include "h5/cf/coordinates.h"
#include "h5/file/attributes.h"
#include "h5/file/netcdf.h"
#include "h5/time/period.h"
#include "h5/write/place.h"
#include "h5/write/storage/storage.h"

static ndr_status fail_memory(const ndr_h5_dataset *source) {
  return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory for the bounds of its times", source->where);
}

static ndr_status fail_write(const ndr_h5_dataset *source) {
  return ndr_hdf_fail(NDR_ERR_FILE, source->where, "the bounds of its times cannot be written");
}

static bool write_numbers(const ndr_scales *scales, const char *name, int ndim, const hsize_t *size,
                          const bool *unlimited, const double *values) {
  hid_t variable = ndr_storage_write(scales->file, name, H5T_NATIVE_DOUBLE, ndim, size, unlimited, values);
  if (variable >= 0) H5Dclose(variable);
  return variable >= 0;
}

/* The dims of bounds as ndr_scales_attach wants them: that of time, then that of the two bounds, from the input's where
 * these have one. */
static ndr_h5_dataset dims_of_bounds(const ndr_h5_dataset *source, int d, const ndr_cf_variable *found) {
  static char two[] = "bnds";
  ndr_h5_dataset dims = *source;
  dims.path = source->scales[d] ? source->scales[d] : source->path; /* bounds lie beside their coordinate */
  dims.info.ndim = 2;
  dims.series_dim = source->part_count && source->series_dim == d ? 0 : -1;
  dims.names[0] = source->names[d];
  dims.scales[0] = source->scales[d];
  dims.info.shape[0] = source->info.shape[d];
  dims.extent[0] = source->extent[d];
  dims.from[0] = source->from[d];
  dims.step[0] = source->step[d];
  dims.seam[0] = source->seam[d];
  dims.unlimited[0] = source->unlimited[d];
  bool named = found->fits && found->whole.names[1];
  dims.names[1] = named ? found->whole.names[1] : two;
  dims.scales[1] = named ? found->whole.scales[1] : NULL;
  dims.info.shape[1] = dims.extent[1] = 2;
  dims.from[1] = 0;
  dims.step[1] = 1;
  dims.seam[1] = (ndr_seam){.at = 0};
  dims.unlimited[1] = named && found->whole.unlimited[1];
  return dims;
}

/* Called as the input's bounds, TIME_bnds where it has none; of climatologies as in CF's examples. */
static char *free_name(const ndr_scales *scales, const ndr_cf_variable *found, const char *variable, bool climatology) {
  char *own = ndr_hdf_join(ndr_hdf_leaf(variable), "_bnds", "");
  if (!own) return NULL;
  const char *wanted = found->fits ? ndr_hdf_leaf(found->whole.path) : own;
  char *name = ndr_scales_free_name(scales, variable, climatology ? "climatology_bounds" : wanted);
  free(own);
  return name;
}

static ndr_status tie_bounds(const ndr_scales *scales, const ndr_h5_dataset *source, const char *attribute,
                             const char *variable, const char *bounds) {
  hid_t written = H5Dopen2(scales->file, variable, H5P_DEFAULT);
  bool good = written >= 0 && ndr_hdf_put_text(written, attribute, ndr_place_seen_from(variable, bounds));
  if (written >= 0) H5Dclose(written);
  return good ? NDR_OK : fail_write(source);
}

/* Bounds to be written, of a coordinate with or without a dim: [2] of a scalar, [1, 2] of a dim that was kept, [count,
 * 2] of groups. */
typedef struct {
  const ndr_period *period; /* which names the input's */
  const double *values;
  const char *attribute;
  int64_t count;
  int ndim, from; /* from: of the first dim, where there are two, as if the axis were the source's dim 0 */
} new_bounds;

/* Bounds that the input lacks are behind their coordinate. */
static ndr_status note_bounds(const ndr_scales *scales, const ndr_h5_dataset *source, int d,
                              const ndr_cf_variable *found, const char *name) {
  return found->fits ? ndr_order_note(scales->order, &found->whole, name)
                     : ndr_order_note_scale(scales->order, source, d, name);
}

static ndr_status put_bounds(ndr_scales *scales, const ndr_h5_dataset *source, int d, const new_bounds *bounds,
                             const char *variable) {
  const hsize_t size[2] = {(hsize_t)bounds->count, 2};
  const int from[2] = {bounds->from, 1}, first = 2 - bounds->ndim;
  bool climatology = bounds->from == NDR_OF_GROUPS && ndr_h5_groups_is_climatology(scales->groups);
  ndr_cf_variable found;
  ndr_status status = ndr_period_open_bounds(source, d, bounds->period, &found);
  char *name = status == NDR_OK ? free_name(scales, &found, variable, climatology) : NULL;
  if (status == NDR_OK && !name) status = fail_memory(source);
  if (status == NDR_OK) {
    ndr_h5_dataset dims = dims_of_bounds(source, d, &found);
    bool unlimited[2];
    status = ndr_scales_limits(scales, &dims, bounds->ndim, from + first, unlimited);
    if (status == NDR_OK && !write_numbers(scales, name, bounds->ndim, size + first, unlimited, bounds->values))
      status = fail_write(source);
    if (status == NDR_OK) status = note_bounds(scales, source, d, &found, name);
    if (status == NDR_OK) status = ndr_scales_attach(scales, &dims, name, bounds->ndim, from + first);
  }
  if (status == NDR_OK) status = tie_bounds(scales, source, bounds->attribute, variable, name);
  ndr_cf_variable_close(&found);
  free(name);
  return status;
}

/* The bounds of a period: of a scalar coordinate, or of a dim that was kept. */
static ndr_status put_period_bounds(ndr_scales *scales, const ndr_h5_dataset *source, int d, const ndr_period *period,
                                    bool kept, const char *variable) {
  const new_bounds bounds = {period, period->bounds, period->attribute, 1, kept ? 2 : 1, ~0};
  return put_bounds(scales, source, d, &bounds, variable);
}

static ndr_status put_group_bounds(ndr_scales *scales, const ndr_h5_dataset *source, const char *variable) {
  const ndr_h5_groups *groups = scales->groups;
  ndr_period period;
  ndr_status status = ndr_period_name_bounds(source, groups->dim, &period);
  const char *attribute = ndr_h5_groups_is_climatology(groups) ? "climatology" : "bounds";
  htri_t has = status == NDR_OK ? H5Aexists_by_name(scales->file, variable, attribute, H5P_DEFAULT) : 0;
  if (has < 0) status = fail_write(source);
  if (status == NDR_OK && has == 0) {
    const new_bounds bounds = {&period, groups->bounds, attribute, groups->count, 2, NDR_OF_GROUPS};
    status = put_bounds(scales, source, groups->dim, &bounds, variable);
  }
  ndr_period_free(&period);
  return status;
}

/* Bounds lie along one dim: of windows over several, those along d stand for all meanwhile. */
ndr_status ndr_period_put_group_bounds(ndr_scales *scales, const ndr_h5_dataset *source, int d, const char *variable) {
  const ndr_h5_groups *all = scales->groups;
  scales->groups = ndr_h5_groups_axis(all, d);
  ndr_period_tell_gap(scales->remarks, source, d, scales->groups->gap);
  ndr_status status = scales->groups->bounds ? put_group_bounds(scales, source, variable) : NDR_OK;
  scales->groups = all;
  return status;
}

/* ---- Scalar coordinates ----------------------------------------------------------------------------------------- */

/* Whether a scalar coordinate has the attributes of the axis; negative where that cannot be read. */
static htri_t same_axis(const ndr_scales *scales, const ndr_h5_dataset *source, int d, const char *name) {
  hid_t scale, variable = H5Dopen2(scales->file, name, H5P_DEFAULT);
  htri_t same = -1;
  if (ndr_hdf_open_coordinates(source, d, false, &scale) == NDR_OK && scale >= 0 && variable >= 0)
    same = ndr_hdf_same_attributes(scale, variable, ndr_period_keeps, NULL);
  if (scale >= 0) H5Dclose(scale);
  if (variable >= 0) H5Dclose(variable);
  return same;
}

/* One that is in the output already; NULL where none is the same. */
static ndr_status find_known(const ndr_periods *known, const ndr_scales *scales, const ndr_h5_dataset *source, int d,
                             const ndr_period *period, const char **name) {
  htri_t same = 0;
  char *wanted = ndr_scales_wanted_name(scales, ndr_scales_path(source, d), source->names[d]);
  if (!wanted) return fail_memory(source);
  for (int i = 0; i < known->count && same == 0; i++) {
    const struct ndr_known_period *other = &known->all[i];
    bool alike = other->bounds[0] == period->bounds[0] && other->bounds[1] == period->bounds[1];
    if (!alike || !ndr_scales_is_named(other->name, wanted)) continue;
    same = same_axis(scales, source, d, other->name);
    if (same > 0) *name = other->name;
  }
  free(wanted);
  return same < 0 ? ndr_hdf_fail_late(source->where, "the bounds of its times cannot be compared") : NDR_OK;
}

static ndr_status describe(const ndr_scales *scales, const ndr_h5_dataset *source, int d, const char *name) {
  hid_t scale, variable = H5Dopen2(scales->file, name, H5P_DEFAULT);
  ndr_status status = ndr_hdf_open_coordinates(source, d, false, &scale);
  bool good =
      variable >= 0 && scale >= 0 && ndr_hdf_copy_attributes(scale, variable, ndr_period_keeps, NULL, scales->remarks);
  if (status == NDR_OK && !good) status = fail_write(source);
  if (scale >= 0) H5Dclose(scale);
  if (variable >= 0) H5Dclose(variable);
  return status;
}

static ndr_status put_new(ndr_periods *known, ndr_scales *scales, const ndr_h5_dataset *source, int d,
                          const ndr_period *period, const char **name) {
  struct ndr_known_period *all = realloc(known->all, (size_t)(known->count + 1) * sizeof *all);
  if (all) known->all = all;
  char *own = all ? ndr_scales_free_name(scales, ndr_scales_path(source, d), source->names[d]) : NULL;
  if (!own) return fail_memory(source);
  all[known->count++] = (struct ndr_known_period){own, {period->bounds[0], period->bounds[1]}};
  *name = own;
  const double middle = ndr_period_middle(period);
  if (!write_numbers(scales, own, 0, NULL, NULL, &middle)) return fail_write(source);
  NDR_TRY(ndr_order_note_scale(scales->order, source, d, own));
  NDR_TRY(describe(scales, source, d, own));
  return put_period_bounds(scales, source, d, period, false, own);
}

/* A result that is itself the coordinates of its dim says its time itself. */
static bool is_axis(const ndr_h5_dataset *source, int d) {
  return source->info.is_scale || !source->names[d] || strcmp(source->names[d], ndr_hdf_leaf(source->path)) == 0;
}

ndr_status ndr_period_put(ndr_periods *known, ndr_scales *scales, const ndr_h5_dataset *source, int d,
                          const char **name) {
  ndr_period period;
  *name = NULL;
  if (is_axis(source, d)) return NDR_OK;
  ndr_status status = ndr_period_find(source, d, &period);
  ndr_period_tell_gap(scales->remarks, source, d, period.gap);
  if (status == NDR_OK && period.found) status = find_known(known, scales, source, d, &period, name);
  if (status == NDR_OK && period.found && !*name) status = put_new(known, scales, source, d, &period, name);
  ndr_period_free(&period);
  return status;
}

/* A dim that several variables share has got its bounds with the first of them. */
ndr_status ndr_period_put_bounds(ndr_scales *scales, const ndr_h5_dataset *source, int d, const char *variable) {
  ndr_period period;
  ndr_status status = ndr_period_find(source, d, &period);
  ndr_period_tell_gap(scales->remarks, source, d, period.gap);
  if (status == NDR_OK && period.found) {
    htri_t has = H5Aexists_by_name(scales->file, variable, period.attribute, H5P_DEFAULT);
    status = has < 0 ? fail_write(source)
             : has   ? NDR_OK
                     : put_period_bounds(scales, source, d, &period, true, variable);
  }
  ndr_period_free(&period);
  return status;
}

void ndr_periods_free(ndr_periods *known) {
  for (int i = 0; i < known->count; i++) free(known->all[i].name);
  free(known->all);
  *known = (ndr_periods){.count = 0};
}
