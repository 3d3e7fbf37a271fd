/* See scales.h: finds the scale of a dim in the output, or makes it. Variables are tied to scales in scale_uses.c;
 * other variables that belong to a result are copied in cf_copy_variable.c. */
#include "h5/write/scale/scales.h"

#include <stdlib.h>
#include <string.h>

#include "h5/cf/coordinates.h"
#include "h5/file/attributes.h"
#include "h5/file/dtype.h"
#include "h5/file/netcdf.h"
#include "h5/time/period.h"
#include "h5/write/place.h"
#include "h5/write/scale/group_scale.h"
#include "h5/write/scale/label.h"
#include "h5/write/storage/elements.h"
#include "h5/write/storage/storage.h"

static ndr_status fail_memory(void) {
  return ndr_fail(NDR_ERR_MEMORY, "out of memory for the scales of the output");
}

/* ---- Coordinates as the input holds them ------------------------------------------------------------------------ */

typedef struct {
  hid_t dataset;                /* of the input; negative where there are no coordinates */
  ndr_hdf_attribute_test keeps; /* those of its attributes that hold for the elements; NULL: all */
  ndr_elements elements;
} coordinates;

static const coordinates none = {H5I_INVALID_HID, NULL, {H5I_INVALID_HID, 0, 0, NULL}};

static ndr_status read_coordinates(const ndr_h5_dataset *source, int d, coordinates *c) {
  *c = none;
  NDR_TRY(ndr_hdf_open_coordinates(source, d, true, &c->dataset));
  if (c->dataset < 0) return NDR_OK;
  hsize_t count = (hsize_t)source->info.shape[d];
  if (ndr_hdf_is_converted(source, d)) {
    c->keeps = ndr_label_keeps_unpacked;
    NDR_TRY(ndr_elements_reserve_values(&c->elements, count, source->where));
    return ndr_hdf_coordinate_values(source, d, false, c->elements.data);
  }
  NDR_TRY(ndr_elements_reserve(&c->elements, c->dataset, count, source->where));
  if (ndr_hdf_read_coordinates(source, d, c->elements.type, c->elements.data)) return NDR_OK;
  return ndr_hdf_fail(NDR_ERR_FILE, source->where, "the coordinates of a dim cannot be read");
}

/* The coordinate of dim d once it is reduced: the middle of its period where it is a time, else none. */
static ndr_status read_period(const ndr_h5_dataset *source, int d, coordinates *c) {
  ndr_period period;
  *c = none;
  ndr_status status = ndr_period_find(source, d, &period);
  if (status == NDR_OK && period.found) status = ndr_hdf_open_coordinates(source, d, false, &c->dataset);
  if (c->dataset >= 0) {
    double *middle = malloc(sizeof *middle);
    if (middle) *middle = ndr_period_middle(&period);
    c->keeps = ndr_period_keeps;
    c->elements = (ndr_elements){H5Tcopy(H5T_NATIVE_DOUBLE), 1, sizeof *middle, middle};
    if (!middle) status = fail_memory();
  }
  ndr_period_free(&period);
  return status;
}

static const ndr_h5_groups *groups_of(const ndr_scales *scales, int from) {
  return ndr_h5_groups_axis(scales->groups, ndr_scales_dim(from));
}

static int64_t length_of(const ndr_scales *scales, const ndr_h5_dataset *source, int from) {
  return from < 0 ? 1 : ndr_scales_is_of_groups(from) ? groups_of(scales, from)->count : source->info.shape[from];
}

/* Those that dim `from` of a variable is to have. */
static ndr_status read_from(const ndr_scales *scales, const ndr_h5_dataset *source, int from, coordinates *c) {
  if (from < 0) return read_period(source, ~from, c);
  if (!ndr_scales_is_of_groups(from)) return read_coordinates(source, from, c);
  return ndr_group_scale_read(groups_of(scales, from), source, &c->dataset, &c->keeps, &c->elements);
}

static void free_coordinates(coordinates *c) {
  ndr_elements_free(&c->elements);
  if (c->dataset >= 0) H5Dclose(c->dataset);
}

/* Whether a scale of the output is the same, so that results of two files can share it: it has the same elements and
 * attributes, such as units, or, as a bare dimension, none. */
static ndr_status compare_scale(hid_t file, const ndr_scale *scale, const coordinates *c, bool *same) {
  *same = scale->bare == (c->dataset < 0);
  if (!*same || scale->bare) return NDR_OK;
  hid_t dataset = H5Dopen2(file, scale->name, H5P_DEFAULT);
  htri_t equal = dataset < 0 ? -1 : ndr_elements_equal(&c->elements, dataset);
  if (equal > 0) equal = ndr_hdf_same_attributes(c->dataset, dataset, c->keeps, NULL);
  if (dataset >= 0) H5Dclose(dataset);
  *same = equal > 0;
  return equal < 0 ? ndr_hdf_fail(NDR_ERR_FILE, scale->name, "this scale cannot be compared with another") : NDR_OK;
}

/* ---- Scales of the output --------------------------------------------------------------------------------------- */

static bool mark_scale(hid_t dataset, const char *name, bool bare, int64_t length) {
  char text[128];
  snprintf(text, sizeof text, NDR_BARE_SCALE ".%10lld", (long long)length);
  return ndr_hdf_put_text(dataset, "CLASS", "DIMENSION_SCALE") &&
         ndr_hdf_put_text(dataset, "NAME", bare ? text : ndr_hdf_leaf(name));
}

/* A bare dimension is a dataset that nothing is written to. */
static bool create_dataset(const ndr_scales *scales, const char *name, const coordinates *c, int64_t length,
                           bool unlimited) {
  bool bare = c->dataset < 0;
  hid_t type = bare ? H5T_IEEE_F32BE : c->elements.type;
  hsize_t size = (hsize_t)length;
  hid_t dataset = ndr_storage_write(scales->file, name, type, 1, &size, &unlimited, bare ? NULL : c->elements.data);
  bool good = dataset >= 0 && mark_scale(dataset, name, bare, length) &&
              (bare || ndr_hdf_copy_attributes(c->dataset, dataset, c->keeps, NULL, scales->remarks));
  if (dataset >= 0) H5Dclose(dataset);
  return good;
}

/* HDF5 takes "a/b" for b in the group a, and "." for the group itself; a label that a dim is named by may be either. */
static char *link_name(const char *name) {
  char *text = strdup(strcmp(name, ".") == 0 ? "_" : name);
  for (char *c = text; c && *c; c++)
    if (*c == '/') *c = '_';
  return text;
}

char *ndr_scales_wanted_name(const ndr_scales *scales, const char *path, const char *name) {
  char *leaf = link_name(name), *place = scales->in_groups ? ndr_place_of(path) : strdup("");
  char *wanted = leaf && place ? ndr_hdf_join(place, leaf, "") : NULL;
  free(leaf);
  free(place);
  return wanted;
}

char *ndr_scales_free_name(const ndr_scales *scales, const char *path, const char *name) {
  char *base = ndr_scales_wanted_name(scales, path, name), *text = base ? strdup(base) : NULL, number[16];
  for (int n = 2; text && H5Lexists(scales->file, text, H5P_DEFAULT) > 0 && n < 100000; n++) {
    free(text);
    snprintf(number, sizeof number, "%d", n);
    text = ndr_hdf_join(base, "_", number);
  }
  free(base);
  return text;
}

static ndr_status note_order(const ndr_scales *scales, const ndr_h5_dataset *source, int from, const char *name) {
  const ndr_h5_groups *groups = ndr_scales_is_of_groups(from) ? groups_of(scales, from) : NULL;
  if (groups && groups->how == NDR_GROUPING_LABELS) return ndr_order_note(scales->order, groups->label_source, name);
  return ndr_order_note_scale(scales->order, source, ndr_scales_dim(from), name);
}

/* `name` is kept. */
static ndr_status create_scale(ndr_scales *scales, char *name, const char *origin, const coordinates *c,
                               const ndr_h5_dataset *source, int from, ndr_scale **created) {
  int64_t length = length_of(scales, source, from);
  bool unlimited = source->unlimited[ndr_scales_dim(from)];
  ndr_scale *all = realloc(scales->all, (size_t)(scales->count + 1) * sizeof *all);
  if (all) scales->all = all;
  ndr_scale scale = {name, strdup(origin), length, c->dataset < 0, unlimited, 0, NULL};
  ndr_status status = all && scale.name && scale.origin ? NDR_OK : fail_memory();
  if (status == NDR_OK && !create_dataset(scales, scale.name, c, length, unlimited))
    status = ndr_hdf_fail(NDR_ERR_FILE, scale.name, "this scale cannot be copied to the output");
  if (status == NDR_OK) status = note_order(scales, source, from, scale.name);
  if (status != NDR_OK) {
    free(scale.name);
    free(scale.origin);
    return status;
  }
  *created = &scales->all[scales->count++];
  **created = scale;
  return NDR_OK;
}

static ndr_scale *with_origin(const ndr_scales *scales, const char *origin, int64_t length) {
  for (int i = 0; i < scales->count; i++)
    if (strcmp(scales->all[i].origin, origin) == 0 && scales->all[i].length == length) return &scales->all[i];
  return NULL;
}

bool ndr_scales_is_named(const char *name, const char *wanted) {
  size_t length = strlen(wanted);
  if (strncmp(name, wanted, length) != 0) return false;
  return !name[length] || (name[length] == '_' && strspn(name + length + 1, "0123456789") == strlen(name + length + 1));
}

static ndr_status with_coordinates(const ndr_scales *scales, const char *name, const coordinates *c, int64_t length,
                                   ndr_scale **found) {
  bool same = false;
  *found = NULL;
  for (int i = 0; i < scales->count && !same; i++) {
    ndr_scale *scale = &scales->all[i];
    if (scale->length != length || !ndr_scales_is_named(scale->name, name)) continue;
    NDR_TRY(compare_scale(scales->file, scale, c, &same));
    if (same) *found = scale;
  }
  return NDR_OK;
}

const char *ndr_scales_input_name(const ndr_scales *scales, const ndr_h5_dataset *source, int from) {
  return ndr_scales_is_of_groups(from) ? groups_of(scales, from)->name : source->names[ndr_scales_dim(from)];
}

const char *ndr_scales_path(const ndr_h5_dataset *source, int from) {
  const char *scale = source->scales[ndr_scales_dim(from)];
  return scale ? scale : source->path;
}

/* Where the coordinates of a dim come from, which part of them is selected, and in which group they are put. Dims with
 * the same text share a scale. */
static char *describe_origin(const ndr_scales *scales, const ndr_h5_dataset *source, int from) {
  char part[256];
  int d = ndr_scales_dim(from), files = d == source->series_dim ? source->part_count : 0;
  const char *scale = source->scales[d] ? source->scales[d] : source->names[d];
  snprintf(part, sizeof part, " %d from %lld by %lld in %d at %.17g%s%.120s", scale ? 0 : d, (long long)source->from[d],
           (long long)source->step[d], files, source->turn[d],
           ndr_scales_is_kept(from) ? ""
           : from < 0               ? " reduced"
                                    : " by ",
           ndr_scales_is_of_groups(from) ? groups_of(scales, from)->by : "");
  char *place = ndr_hdf_join(source->file, ":", scale ? scale : source->where);
  char *whole = place ? ndr_hdf_join(place, part, files ? source->parts[files - 1]->file : "") : NULL;
  char *group = whole ? ndr_scales_wanted_name(scales, ndr_scales_path(source, from), "") : NULL;
  char *origin = group ? ndr_hdf_join(whole, " in ", group) : NULL;
  free(place);
  free(whole);
  free(group);
  return origin;
}

/* Finds the scale that holds the coordinates of a dim, or the period of a reduced one; makes it if that is allowed. */
static ndr_status share_scale(ndr_scales *scales, const ndr_h5_dataset *source, int from, const char *origin, bool make,
                              ndr_scale **found) {
  coordinates c;
  const char *path = ndr_scales_path(source, from), *name = ndr_scales_input_name(scales, source, from);
  char *wanted = ndr_scales_wanted_name(scales, path, name);
  int64_t length = length_of(scales, source, from);
  ndr_status status = read_from(scales, source, from, &c);
  if (status == NDR_OK && !wanted) status = fail_memory();
  if (status == NDR_OK) status = with_coordinates(scales, wanted, &c, length, found);
  if (status == NDR_OK && !*found && make)
    status = create_scale(scales, ndr_scales_free_name(scales, path, name), origin, &c, source, from, found);
  free_coordinates(&c);
  free(wanted);
  return status;
}

/* *found is NULL where there is none, and none may be made. */
static ndr_status find_scale(ndr_scales *scales, const ndr_h5_dataset *source, int from, bool make, ndr_scale **found) {
  int d = ndr_scales_dim(from);
  int64_t length = length_of(scales, source, from);
  char number[16], *origin = describe_origin(scales, source, from);
  ndr_status status = NDR_OK;
  if (!origin) return fail_memory();
  snprintf(number, sizeof number, "dim%d", d);
  *found = with_origin(scales, origin, length);
  if (!*found && ndr_scales_input_name(scales, source, from))
    status = share_scale(scales, source, from, origin, make, found);
  else if (!*found && make)
    status =
        create_scale(scales, ndr_scales_free_name(scales, source->path, number), origin, &none, source, from, found);
  free(origin);
  return status;
}

/* Whether a dim could share a scale of the output that is unlimited while the dim is not, or the other way round. */
static bool has_other_limit(const ndr_scales *scales, const ndr_h5_dataset *source, int from) {
  const char *name = ndr_scales_input_name(scales, source, from);
  for (int i = 0; i < scales->count; i++)
    if (name && scales->all[i].unlimited != source->unlimited[ndr_scales_dim(from)] &&
        ndr_scales_is_named(ndr_hdf_leaf(scales->all[i].name), name))
      return true;
  return false;
}

ndr_status ndr_scales_limits(ndr_scales *scales, const ndr_h5_dataset *source, int ndim, const int *from,
                             bool *unlimited) {
  for (int i = 0; i < ndim; i++) {
    ndr_scale *scale = NULL;
    if (has_other_limit(scales, source, from[i])) NDR_TRY(find_scale(scales, source, from[i], false, &scale));
    unlimited[i] = scale ? scale->unlimited : source->unlimited[ndr_scales_dim(from[i])];
  }
  return NDR_OK;
}

ndr_status ndr_scales_find(ndr_scales *scales, const ndr_h5_dataset *source, int from, ndr_scale **found) {
  return find_scale(scales, source, from, true, found);
}

bool ndr_scales_is_bare(const ndr_scales *scales, const char *name) {
  for (int i = 0; i < scales->count; i++)
    if (scales->all[i].bare && strcmp(scales->all[i].name, name) == 0) return true;
  return false;
}

void ndr_scales_free(ndr_scales *scales) {
  for (int i = 0; i < scales->count; i++) {
    for (int u = 0; u < scales->all[i].use_count; u++) free(scales->all[i].uses[u].variable);
    free(scales->all[i].uses);
    free(scales->all[i].name);
    free(scales->all[i].origin);
  }
  free(scales->all);
  *scales = (ndr_scales){.file = H5I_INVALID_HID};
}
