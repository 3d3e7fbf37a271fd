#include "h5/auxiliary.h"

#include <stdlib.h>
#include <string.h>

#include "h5/attributes.h"
#include "h5/cf_axes.h"
#include "h5/companion.h"
#include "h5/coordinates.h"
#include "h5/elements.h"
#include "h5/storage.h"

/* Of all of them: they are read whole, on top of what the budget for buffers allows. */
#define MOST_BYTES ((int64_t)64 << 20)

/* What copying goes on in. */
typedef struct {
  ndr_auxiliaries *known;
  ndr_scales *scales;
  const ndr_h5_dataset *source;
  const bool *reduced;
  const char *variable; /* in the output, and where its dims come from */
  int ndim;
  const int *from;
  bool bounds;                    /* what is named has the units of the coordinates along the dim of a series */
  ndr_cf_axis axes[NDR_MAX_DIMS]; /* of the source */
} context;

static ndr_status fail_memory(const context *c) {
  return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory for what belongs to it", c->source->where);
}

static ndr_status fail_read(const ndr_h5_dataset *dataset) {
  return ndr_fail(NDR_ERR_FILE, "%s: the attributes that name what belongs to it cannot be read", dataset->where);
}

/* ---- Copying one ------------------------------------------------------------------------------------------------ */

/* How its cells came to be is not said by its own attributes once it is cut. */
static bool keeps(void *user, const char *name) {
  (void)user;
  return strcmp(name, "cell_methods") != 0;
}

static bool keeps_converted(void *user, const char *name) {
  return keeps(user, name) && ndr_label_keeps_unpacked(user, name);
}

static ndr_status write_elements(const context *c, const ndr_companion *found, const ndr_elements *e, const int *from,
                                 const char *name) {
  hsize_t size[NDR_MAX_DIMS];
  bool unlimited[NDR_MAX_DIMS];
  int ndim = found->whole.info.ndim;
  NDR_TRY(ndr_scales_limits(c->scales, &found->whole, ndim, from, unlimited));
  for (int d = 0; d < ndim; d++) size[d] = (hsize_t)found->whole.info.shape[d];
  hid_t copy = ndr_storage_write(c->scales->file, name, e->type, ndim, size, unlimited, e->data);
  bool good = copy >= 0 && ndr_hdf_copy_attributes(found->whole.id, copy, found->converted ? keeps_converted : keeps,
                                                   NULL, c->scales->remarks);
  ndr_status status = good ? NDR_OK : ndr_hdf_fail(NDR_ERR_FILE, found->whole.where, "cannot be copied to the output");
  if (copy >= 0) H5Dclose(copy);
  return status;
}

static ndr_status read_elements(const ndr_companion *found, ndr_elements *e) {
  hsize_t count = 1;
  for (int d = 0; d < found->whole.info.ndim; d++) count *= (hsize_t)found->whole.info.shape[d];
  NDR_TRY(found->converted ? ndr_elements_reserve_values(e, count, found->whole.where)
                           : ndr_elements_reserve(e, found->whole.id, count, found->whole.where));
  if (found->converted ? ndr_companion_read_values(found, e->data) : ndr_companion_read(found, e->type, e->data))
    return NDR_OK;
  return ndr_hdf_fail(NDR_ERR_FILE, found->whole.where, "cannot be copied to the output");
}

/* name is the copy's in the output, and kept. */
static ndr_status remember(const context *c, const char *origin, char *name) {
  ndr_auxiliaries *known = c->known;
  ndr_auxiliary *all = realloc(known->all, (size_t)(known->count + 1) * sizeof *all);
  char *from = strdup(origin);
  if (all) known->all = all;
  if (!all || !from || !name) {
    free(from);
    free(name);
    return fail_memory(c);
  }
  all[known->count++] = (ndr_auxiliary){from, name};
  return NDR_OK;
}

/* Whether a copy in the output is what would be copied again, from another file: dims, elements and attributes. */
static ndr_status compare(const context *c, const ndr_companion *found, const ndr_elements *e, const char *copy,
                          bool *same) {
  int ndim = found->whole.info.ndim;
  *same = ndr_scales_name(c->scales, copy, ndim) == NULL;
  for (int d = 0; d < ndim && *same; d++) {
    const char *own, *other = ndr_scales_name(c->scales, copy, d);
    NDR_TRY(ndr_scales_find(c->scales, &found->whole, d, &own));
    *same = other && strcmp(own, other) == 0;
  }
  if (!*same) return NDR_OK;
  hid_t dataset = H5Dopen2(c->scales->file, copy, H5P_DEFAULT);
  htri_t equal = dataset < 0 ? -1 : ndr_elements_equal(e, dataset);
  if (equal > 0)
    equal = ndr_hdf_same_attributes(found->whole.id, dataset, found->converted ? keeps_converted : keeps, NULL);
  if (dataset >= 0) H5Dclose(dataset);
  *same = equal > 0;
  return equal < 0 ? ndr_hdf_fail(NDR_ERR_FILE, copy, "this variable cannot be compared with another") : NDR_OK;
}

static ndr_status find_same(const context *c, const ndr_companion *found, const ndr_elements *e, const char *name,
                            const char **copied) {
  bool same = false;
  for (int i = 0; i < c->known->count && !same; i++) {
    const char *copy = c->known->all[i].name;
    if (!ndr_scales_is_named(copy, name)) continue;
    NDR_TRY(compare(c, found, e, copy, &same));
    if (same) *copied = copy;
  }
  return NDR_OK;
}

static ndr_status put_names_of_copy(const context *c, hid_t from, const char *variable);

static ndr_status copy_elements(const context *c, const ndr_companion *found, const ndr_elements *e, const char *origin,
                                const char *name, int depth, const char **copied) {
  int same[NDR_MAX_DIMS];
  NDR_TRY(find_same(c, found, e, name, copied));
  if (*copied) return remember(c, origin, strdup(*copied));
  NDR_TRY(remember(c, origin, ndr_scales_free_name(c->scales->file, name)));
  const char *as = c->known->all[c->known->count - 1].name;
  for (int d = 0; d < found->whole.info.ndim; d++) same[d] = d;
  NDR_TRY(write_elements(c, found, e, same, as));
  NDR_TRY(ndr_scales_attach(c->scales, &found->whole, as, found->whole.info.ndim, same));
  *copied = as;
  return depth ? put_names_of_copy(c, found->whole.id, as) : NDR_OK;
}

static ndr_status copy_new(const context *c, const ndr_companion *found, const char *origin, const char *name,
                           int depth, const char **copied) {
  ndr_elements elements = {.type = H5I_INVALID_HID};
  int64_t bytes = ndr_companion_bytes(found, MOST_BYTES);
  if (bytes < 0) return ndr_hdf_fail(NDR_ERR_FILE, found->whole.where, "its type cannot be read");
  if (bytes > MOST_BYTES - c->known->bytes) return NDR_OK;
  c->known->bytes += bytes;
  ndr_status status = read_elements(found, &elements);
  if (status == NDR_OK) status = copy_elements(c, found, &elements, origin, name, depth, copied);
  ndr_elements_free(&elements);
  return status;
}

/* What has been copied for another variable is not copied again. */
static ndr_status copy_found(const context *c, const ndr_companion *found, const char *name, int depth,
                             const char **copied) {
  char *origin = ndr_companion_origin(found);
  if (!origin) return fail_memory(c);
  for (int i = 0; i < c->known->count; i++)
    if (strcmp(c->known->all[i].origin, origin) == 0) *copied = c->known->all[i].name;
  ndr_status status = *copied ? NDR_OK : copy_new(c, found, origin, name, depth, copied);
  free(origin);
  return status;
}

/* The name in the output of a scale that is attached to the variable; NULL where it is not there. */
static const char *find_scale(const context *c, const char *path) {
  for (int i = 0; i < c->ndim; i++) {
    const char *scale = c->from[i] < 0 ? NULL : c->source->scales[c->from[i]];
    if (scale && strcmp(scale, path) == 0) return ndr_scales_name(c->scales, c->variable, i);
  }
  return NULL;
}

/* Where one of that name exists and may be copied, *copied is its name in the output, else NULL; *absent: the input has
 * none of that name. */
static ndr_status copy_named(const context *c, const char *name, int depth, const char **copied, bool *absent) {
  ndr_companion found;
  *copied = NULL;
  ndr_status status = ndr_companion_open(&found, c->source, c->reduced, name, c->bounds);
  if (status == NDR_OK && found.count && found.whole.info.is_scale)
    *copied = find_scale(c, found.whole.path);
  else if (status == NDR_OK && found.fits)
    status = copy_found(c, &found, name, depth, copied);
  *absent = status == NDR_OK && found.count == 0;
  ndr_companion_close(&found);
  return status;
}

/* ---- Attributes that name them ---------------------------------------------------------------------------------- */

/* A name that is tied to others: "bounds" and "climatology" are one name; "grid_mapping" is, too, or else of a form
 * that is not carried; of "coordinates" and of "cell_measures", which has keys before the names, those are left that
 * are in the output, and MEASURES of other files; "formula_terms" means nothing if not all are. */
typedef enum { ONE, SOME, MEASURES, ALL } naming;

static ndr_status put_text(const context *c, const char *variable, const char *attribute, const char *text) {
  hid_t dataset = H5Dopen2(c->scales->file, variable, H5P_DEFAULT);
  bool good = dataset >= 0 && ndr_hdf_put_text(dataset, attribute, text);
  ndr_status status = good ? NDR_OK : ndr_hdf_fail(NDR_ERR_FILE, variable, "its attributes cannot be written");
  if (dataset >= 0) H5Dclose(dataset);
  return status;
}

/* A scale that several variables share has got its attributes with the first of them. */
static ndr_status has_attribute(const context *c, const char *variable, const char *attribute, bool *has) {
  hid_t dataset = H5Dopen2(c->scales->file, variable, H5P_DEFAULT);
  htri_t exists = dataset < 0 ? -1 : H5Aexists(dataset, attribute);
  *has = exists > 0;
  if (dataset >= 0) H5Dclose(dataset);
  return exists < 0 ? ndr_hdf_fail(NDR_ERR_FILE, variable, "its attributes cannot be read") : NDR_OK;
}

/* The next of the words that blanks part; false after the last. One that is cut off is no name of anything. */
static bool next_word(const char **rest, char word[256]) {
  *rest += strspn(*rest, " ");
  size_t length = strcspn(*rest, " ");
  snprintf(word, 256, "%.*s", (int)(length < 255 ? length : 255), *rest);
  *rest += length;
  return length > 0;
}

static bool is_key(const char *word) {
  return word[0] && word[strlen(word) - 1] == ':';
}

static ndr_status can_copy_all(const context *c, const char *names, bool *can) {
  char word[256];
  *can = true;
  while (*can && next_word(&names, word)) {
    ndr_companion found;
    if (is_key(word)) continue;
    ndr_status status = ndr_companion_open(&found, c->source, c->reduced, word, c->bounds);
    *can = found.count && (found.whole.info.is_scale ? find_scale(c, found.whole.path) != NULL : found.fits);
    ndr_companion_close(&found);
    NDR_TRY(status);
  }
  return NDR_OK;
}

/* Whether cells are still those of the input along all dims that a measure may have, "area:" the horizontal ones,
 * others all but time. */
static bool has_all_cells(const context *c, const char *key) {
  const ndr_h5_dataset *source = c->source;
  bool area = strcmp(key, "area:") == 0;
  for (int d = 0; d < source->info.ndim; d++) {
    bool cut = source->info.shape[d] != source->extent[d] || (source->part_count && source->series_dim == d);
    bool touches = area ? c->axes[d] == NDR_AXIS_HORIZONTAL : c->axes[d] != NDR_AXIS_TIME;
    if (touches && (cut || c->reduced[d])) return false;
  }
  return true;
}

/* Copies what is named; *left, to be freed, has the names of it in the output. */
static ndr_status copy_list(const context *c, const char *names, naming how, int depth, char **left) {
  char word[256], key[256] = "";
  size_t capacity = 2 * strlen(names) + 256, length = 0;
  bool all = true;
  *left = calloc(capacity, 1);
  if (!*left) return fail_memory(c);
  while (next_word(&names, word)) {
    const char *copied;
    bool absent;
    if (is_key(word)) {
      memcpy(key, word, sizeof key);
      continue;
    }
    NDR_TRY(copy_named(c, word, depth, &copied, &absent));
    if (how == MEASURES && absent && has_all_cells(c, key)) copied = word;
    all = all && copied;
    if (copied && length + strlen(key) + strlen(copied) + 3 < capacity)
      length += (size_t)snprintf(*left + length, capacity - length, "%s%s%s%s", length ? " " : "", key, *key ? " " : "",
                                 copied);
    key[0] = 0;
  }
  if (how == ALL && !all) **left = 0;
  return NDR_OK;
}

static ndr_status put_names(const context *c, const char *names, const char *attribute, naming how, int depth,
                            const char *variable) {
  char *left = NULL;
  bool can = names != NULL, has = false;
  if (can && how == ONE) can = strchr(names, ' ') == NULL;
  if (can) NDR_TRY(has_attribute(c, variable, attribute, &has));
  if (can && !has && how == ALL) NDR_TRY(can_copy_all(c, names, &can));
  if (!can || has) return NDR_OK;
  ndr_status status = copy_list(c, names, how, depth, &left);
  if (status == NDR_OK && *left) status = put_text(c, variable, attribute, left);
  free(left);
  return status;
}

static ndr_status put_names_of(const context *c, hid_t from, const char *attribute, naming how, int depth,
                               const char *variable) {
  char *names;
  if (!ndr_hdf_get_text(from, attribute, &names)) return fail_read(c->source);
  ndr_status status = put_names(c, names, attribute, how, depth, variable);
  free(names);
  return status;
}

static const char *const mesh_parts[] = {NDR_MESH_PARTS};

enum { MESH_PARTS = sizeof mesh_parts / sizeof *mesh_parts };

static ndr_status put_names_of_copy(const context *c, hid_t from, const char *variable) {
  NDR_TRY(put_names_of(c, from, "bounds", ONE, 0, variable));
  for (int i = 0; i < MESH_PARTS; i++) NDR_TRY(put_names_of(c, from, mesh_parts[i], SOME, 0, variable));
  return NDR_OK;
}

/* What a scale's attributes name. */
static const struct {
  const char *attribute;
  naming how;
} of_scale[] = {{"bounds", ONE}, {"climatology", ONE}, {"formula_terms", ALL}};

enum { OF_SCALE = sizeof of_scale / sizeof *of_scale };

/* A scale is closed before anything is copied: of one that is open, HDF5 1.10 may not know the name when a reference is
 * followed to it. */
static ndr_status read_scale(const context *c, int d, char *names[OF_SCALE]) {
  hid_t scale;
  bool good = true;
  NDR_TRY(ndr_hdf_open_coordinates(c->source, d, false, &scale));
  if (scale < 0) return NDR_OK;
  for (int i = 0; i < OF_SCALE && good; i++) good = ndr_hdf_get_text(scale, of_scale[i].attribute, &names[i]);
  H5Dclose(scale);
  return good ? NDR_OK : fail_read(c->source);
}

static ndr_status put_names_of_scale(const context *c, int d, const char *variable) {
  char *names[OF_SCALE] = {NULL};
  ndr_status status = read_scale(c, d, names);
  context own = *c;
  for (int i = 0; i < OF_SCALE && status == NDR_OK; i++) {
    own.bounds = of_scale[i].how == ONE && ndr_hdf_is_converted(c->source, d);
    status = put_names(&own, names[i], of_scale[i].attribute, of_scale[i].how, 1, variable);
  }
  for (int i = 0; i < OF_SCALE; i++) free(names[i]);
  return status;
}

static ndr_status put_names_of_variable(const context *c, const char *attribute, naming how) {
  return put_names_of(c, c->source->id, attribute, how, 1, c->variable);
}

/* A grid mapping is of horizontal coordinates, and says nothing once none of them is left. */
static ndr_status put_grid_mapping(const context *c) {
  int horizontal = 0, left = 0;
  for (int d = 0; d < c->source->info.ndim; d++)
    if (c->axes[d] == NDR_AXIS_HORIZONTAL) {
      horizontal++;
      left += !c->reduced[d];
    }
  return horizontal && !left ? NDR_OK : put_names_of_variable(c, "grid_mapping", ONE);
}

/* Whether all that a part of a mesh names can come, whole: connectivity counts nodes and faces by number. */
static ndr_status is_whole(const context *c, const char *names, bool *whole) {
  char word[256];
  while (*whole && next_word(&names, word)) {
    ndr_companion found;
    ndr_status status = ndr_companion_open(&found, c->source, c->reduced, word, false);
    *whole = found.fits && found.whole.part_count == 0;
    for (int d = 0; d < found.whole.info.ndim; d++)
      *whole = *whole && found.whole.info.shape[d] == found.whole.extent[d];
    ndr_companion_close(&found);
    NDR_TRY(status);
  }
  return NDR_OK;
}

static ndr_status is_mesh_whole(const context *c, const char *mesh, bool *whole) {
  ndr_companion found;
  char *parts[MESH_PARTS] = {NULL};
  ndr_status status = ndr_companion_open(&found, c->source, c->reduced, mesh, false);
  *whole = found.fits;
  for (int i = 0; i < MESH_PARTS && *whole && status == NDR_OK; i++)
    if (!ndr_hdf_get_text(found.whole.id, mesh_parts[i], &parts[i])) status = fail_read(c->source);
  ndr_companion_close(&found);
  for (int i = 0; i < MESH_PARTS && status == NDR_OK; i++)
    if (parts[i]) status = is_whole(c, parts[i], whole);
  for (int i = 0; i < MESH_PARTS; i++) free(parts[i]);
  return status;
}

/* A mesh or a geometry, and where on a mesh the elements are. */
static ndr_status put_mesh(const context *c, const char *attribute, const char *location) {
  char *mesh, *place = NULL;
  bool whole = false;
  if (!ndr_hdf_get_text(c->source->id, attribute, &mesh)) return fail_read(c->source);
  ndr_status status = mesh ? is_mesh_whole(c, mesh, &whole) : NDR_OK;
  if (status == NDR_OK && whole) status = put_names(c, mesh, attribute, ONE, 1, c->variable);
  if (status == NDR_OK && whole && location && !ndr_hdf_get_text(c->source->id, location, &place))
    status = fail_read(c->source);
  if (status == NDR_OK && place) status = put_text(c, c->variable, location, place);
  free(mesh);
  free(place);
  return status;
}

/* "A B", to be freed; NULL where there is no memory. */
static char *join_words(const char *a, const char *b) {
  size_t capacity = strlen(a) + strlen(b) + 2;
  char *text = malloc(capacity);
  if (text) snprintf(text, capacity, "%s%s%s", a, *a ? " " : "", b);
  return text;
}

/* The source's coordinates that are left, and the times of its periods. */
static ndr_status put_coordinates(const context *c, ndr_periods *periods) {
  char *names, *left = NULL;
  ndr_status status = ndr_hdf_get_text(c->source->id, "coordinates", &names) ? NDR_OK : fail_read(c->source);
  if (status == NDR_OK) status = copy_list(c, names ? names : "", SOME, 1, &left);
  for (int d = 0; d < c->source->info.ndim && status == NDR_OK; d++) {
    const char *time;
    if (!c->reduced[d] || c->ndim == c->source->info.ndim) continue;
    status = ndr_period_put(periods, c->scales, c->source, d, &time);
    if (status != NDR_OK || !time) continue;
    char *more = join_words(left, time);
    free(left);
    left = more;
    if (!left) status = fail_memory(c);
  }
  if (status == NDR_OK && *left) status = put_text(c, c->variable, "coordinates", left);
  free(left);
  free(names);
  return status;
}

ndr_status ndr_auxiliaries_attach(ndr_auxiliaries *known, ndr_scales *scales, const ndr_label *label,
                                  const char *variable, int ndim, const int *from) {
  context c = {known, scales, label->source, label->reduced, variable, ndim, from, false, {NDR_AXIS_UNKNOWN}};
  NDR_TRY(ndr_cf_axes(label->source, c.axes));
  for (int i = 0; i < ndim; i++) {
    const char *name = ndr_scales_name(scales, variable, i);
    if (!name) continue;
    NDR_TRY(from[i] < 0 ? ndr_period_put_bounds(scales, label->source, ~from[i], name)
                        : put_names_of_scale(&c, from[i], name));
  }
  NDR_TRY(put_coordinates(&c, &known->periods));
  NDR_TRY(put_grid_mapping(&c));
  NDR_TRY(put_mesh(&c, "mesh", "location"));
  NDR_TRY(put_mesh(&c, "geometry", NULL));
  return put_names_of_variable(&c, "cell_measures", MEASURES);
}

void ndr_auxiliaries_free(ndr_auxiliaries *known) {
  for (int i = 0; i < known->count; i++) {
    free(known->all[i].origin);
    free(known->all[i].name);
  }
  free(known->all);
  ndr_periods_free(&known->periods);
}
