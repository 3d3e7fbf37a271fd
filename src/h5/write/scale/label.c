/* See label.h. The texts are made in cf/attributes.c; attributes that name other variables are in cf_copy.c. */
#include "h5/write/scale/label.h"

#include <stdlib.h>
#include <string.h>

#include "h5/bytes/header.h"
#include "h5/cf/attributes.h"
#include "h5/cf/coordinates.h"
#include "h5/file/attributes.h"
#include "h5/write/op_texts.h"
#include "h5/write/storage/storage.h"

static bool has_role(const ndr_problem *problem, ndr_role role) {
  for (int i = 0; problem && i < problem->operand_count; i++)
    if (problem->operands[i].role == role) return true;
  return false;
}

bool ndr_label_may_miss(const ndr_label *label) {
  const ndr_problem *problem = label->problem;
  bool skips = problem && problem->operand_count > 0 && problem->skip_nan;
  return label->source->info.masked || skips || has_role(problem, NDR_WHERE);
}

/* Whether weights make the result another quantity than the source's. */
static bool is_weighed(const ndr_label *label) {
  return label->weight_units && ndr_cf_attributes_has_weights(label->op) && has_role(label->problem, NDR_WEIGHTS);
}

static bool is_listed(const char *name, const char *const *list) {
  for (; *list; list++)
    if (strcmp(name, *list) == 0) return true;
  return false;
}

/* Written anew. */
static const char *const own[] = {
    "units", "cell_methods", "ndreduce_operator", "ndreduce_parameters", "ndreduce_where", "ndreduce_with", NULL};
static const char *const packing[] = {"scale_factor", "add_offset", NULL};
/* Numbers of the type that the input is stored as. */
static const char *const elements[] = {
    "valid_range", "valid_min",     "valid_max", "_FillValue", "missing_value", "_Unsigned", "flag_values",
    "flag_masks",  "flag_meanings", "dtype",     NULL,
};
static const char *const missing[] = {"_FillValue", "missing_value", NULL};
static const char *const kinds[] = {"standard_name", "calendar", NULL};

/* A result may lie outside actual_range, which is the range of the input's elements. The input's long_name does not say
 * what an operator of one's own has made of it. `location` is a place on a mesh, and is copied only with the mesh. */
static bool keeps(void *user, const char *name) {
  const ndr_label *label = user;
  const ndr_h5_dataset *source = label->source;
  bool element = label->op == NDR_MIN || label->op == NDR_MAX;
  if (source->field) return false; /* they tell of the table */
  if (is_listed(name, own) || strcmp(name, "actual_range") == 0) return false;
  if (strcmp(name, "long_name") == 0 && ndr_op_texts_exist(label->op)) return false;
  if (strcmp(name, "location") == 0 && ndr_header_has_attribute(source->id, "mesh") > 0) return false;
  if (is_listed(name, missing) && ndr_label_may_miss(label)) return false;
  if (is_listed(name, packing)) return ndr_cf_attributes_is_packed(label->op) && !source->unpack.scaled;
  if (is_listed(name, elements)) return element && label->dtype == source->info.dtype && !source->unpack.scaled;
  return (ndr_cf_attributes_is_quantity(label->op) && !is_weighed(label)) || !is_listed(name, kinds);
}

/* The units are those of what packed numbers stand for, not of their sum. */
static bool has_units(const ndr_label *label) {
  hid_t source = label->source->id;
  if (label->source->field) return false;
  bool packed =
      ndr_header_has_attribute(source, "scale_factor") > 0 || ndr_header_has_attribute(source, "add_offset") > 0;
  return !packed || label->source->unpack.scaled || ndr_cf_attributes_is_packed(label->op);
}

static ndr_status fail_put(const ndr_label *label) {
  return ndr_hdf_fail(NDR_ERR_FILE, label->source->where, "its attributes cannot be copied to the output");
}

/* Writes a text, if there is one. */
static bool put(hid_t object, const char *name, const char *text) {
  return !text || !*text || ndr_hdf_put_text(object, name, text);
}

static ndr_status fail_memory(const ndr_label *label) {
  return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory for attributes", label->source->where);
}

static ndr_status put_units(const ndr_label *label, hid_t variable) {
  char *before = NULL, *units = NULL, *weighed = NULL;
  if (has_units(label) && !ndr_hdf_get_text(label->source->id, "units", &before)) return fail_put(label);
  bool made = ndr_cf_attributes_units(before, label->op, &units);
  if (made && is_weighed(label)) made = ndr_cf_attributes_weigh(units, label->op, label->weight_units, &weighed);
  ndr_status status = made ? NDR_OK : fail_memory(label);
  if (status == NDR_OK && !put(variable, "units", is_weighed(label) ? weighed : units)) status = fail_put(label);
  free(before);
  free(units);
  free(weighed);
  return status;
}

static bool is_among(const char *name, int count, const char *const *names) {
  for (int i = 0; i < count; i++)
    if (name && names[i] && strcmp(names[i], name) == 0) return true;
  return false;
}

/* The dim of groups has methods of its own where these are of many years or days. To be freed; NULL where there is no
 * memory. */
static char *make_methods(const ndr_label *label, const char *const *names, const char *before, const char *method) {
  const char *reduced[NDR_MAX_DIMS];
  int count = 0;
  bool apart = label->groups && ndr_h5_groups_is_climatology(label->groups);
  const char *grouped = apart ? names[label->groups->dim] : NULL;
  for (int d = 0; d < label->source->info.ndim; d++)
    if (label->reduced[d] && !(apart && d == label->groups->dim) && !is_among(names[d], count, reduced))
      reduced[count++] = names[d];
  char *methods = ndr_cf_attributes_methods(before, count, reduced, method, label->comment);
  if (!methods || !grouped) return methods;
  char *all = ndr_time_group_methods(label->groups->key, methods, grouped, method,
                                     ndr_cf_attributes_composes(label->op), label->comment);
  free(methods);
  return all;
}

static ndr_status put_with(const ndr_label *label, hid_t variable) {
  char *text = NULL;
  if (!label->array_sources) return NDR_OK;
  if (!ndr_array_sources_text(label->array_sources, label->op, label->where, &text)) return fail_memory(label);
  ndr_status status = put(variable, "ndreduce_with", text) ? NDR_OK : fail_put(label);
  free(text);
  return status;
}

ndr_status ndr_label_methods(const ndr_label *label, const char *const *names, hid_t variable) {
  ndr_op_texts texts = {NULL, NULL, NULL};
  char *before = NULL, *methods = NULL;
  bool is_own = ndr_op_texts_exist(label->op);
  if (!ndr_hdf_get_text_or_tell(label->source->id, "cell_methods", label->remarks, &before)) return fail_put(label);
  if (!is_own || ndr_op_texts_make(label->op, label->problem, &texts))
    methods = make_methods(label, names, before, is_own ? texts.name : ndr_cf_attributes_method(label->op));
  ndr_status status = methods ? NDR_OK : fail_memory(label);
  if (status == NDR_OK &&
      !(put(variable, "cell_methods", methods) && put(variable, "ndreduce_operator", texts.text) &&
        put(variable, "ndreduce_parameters", texts.parameters) && put(variable, "ndreduce_where", label->where)))
    status = fail_put(label);
  if (status == NDR_OK) status = put_with(label, variable);
  free(before);
  free(methods);
  ndr_op_texts_free(&texts);
  return status;
}

ndr_status ndr_label_variable(const ndr_label *label, hid_t variable) {
  bool truth = label->dtype == NDR_BOOL && ndr_storage_is_netcdf(label->source);
  NDR_TRY(put_units(label, variable));
  bool good = (!truth || ndr_hdf_put_text(variable, "dtype", "bool")) &&
              ndr_hdf_copy_attributes(label->source->id, variable, keeps, (void *)(uintptr_t)label, label->remarks);
  return good ? NDR_OK : fail_put(label);
}

bool ndr_label_keeps_unpacked(void *user, const char *name) {
  (void)user;
  return !is_listed(name, packing) && !is_listed(name, elements);
}

/* An axis is a dim's own. Elements are f64, not of the coordinates' type; only raw ones are still packed. */
static bool keeps_located(void *user, const char *name) {
  const ndr_h5_dataset *source = user;
  if (source->raw && is_listed(name, packing)) return true;
  return strcmp(name, "axis") != 0 && (strcmp(name, "units") == 0 || !is_listed(name, own)) &&
         ndr_label_keeps_unpacked(NULL, name);
}

ndr_status ndr_label_located(const ndr_label *label, int d, hid_t variable) {
  const ndr_h5_dataset *source = label->source;
  hid_t coordinates;
  NDR_TRY(ndr_hdf_open_coordinates(source, d, false, &coordinates));
  bool good = coordinates < 0 ||
              ndr_hdf_copy_attributes(coordinates, variable, keeps_located, (void *)(uintptr_t)source, label->remarks);
  ndr_status status = good ? NDR_OK : ndr_hdf_fail(NDR_ERR_FILE, source->where, "attributes of a dim cannot be copied");
  if (coordinates >= 0) H5Dclose(coordinates);
  return status;
}

/* The newest line comes first, as NCO and CDO have it. */
static bool put_history(hid_t root, hid_t file, const char *line, ndr_remarks *remarks) {
  char *before;
  bool read = ndr_hdf_get_text_or_tell(root, "history", remarks, &before);
  size_t capacity = strlen(line) + (before ? strlen(before) : 0) + 2;
  char *text = ndr_hdf_noted(malloc(capacity));
  if (text) snprintf(text, capacity, "%s%s%s", line, before && *before ? "\n" : "", before ? before : "");
  bool good = read && text && ndr_hdf_put_text(file, "history", text);
  free(before);
  free(text);
  return good;
}

/* What the class of a group says is not true of a file. */
static bool keeps_of_group(void *user, const char *name) {
  (void)user;
  return strcmp(name, "NX_class") != 0;
}

/* Goes from the outermost group inwards: an attribute of the root or of an outer group is not replaced. */
static bool put_groups(const ndr_h5_dataset *source, hid_t file, ndr_remarks *remarks) {
  char path[1024];
  ssize_t length = H5Iget_name(source->id, path, sizeof path);
  bool good = length > 0;
  if (length >= (ssize_t)sizeof path) return true;
  for (char *slash = path; good && (slash = strchr(slash + 1, '/'));) {
    *slash = 0;
    hid_t group = H5Oopen(source->file_id, path, source->links->access);
    good = group >= 0 && ndr_hdf_copy_attributes(group, file, keeps_of_group, NULL, remarks);
    if (group >= 0) H5Oclose(group);
    *slash = '/';
  }
  return good;
}

ndr_status ndr_label_file(const ndr_h5_dataset *source, hid_t file, const char *line, bool in_groups,
                          ndr_remarks *remarks) {
  hid_t root = H5Oopen(source->file_id, "/", H5P_DEFAULT);
  bool good = root >= 0 && (!line || put_history(root, file, line, remarks)) &&
              ndr_hdf_copy_attributes(root, file, NULL, NULL, remarks) &&
              (in_groups || put_groups(source, file, remarks));
  ndr_status status = good ? NDR_OK : ndr_hdf_fail(NDR_ERR_FILE, source->file, "its attributes cannot be copied");
  if (root >= 0) H5Oclose(root);
  return status;
}

/* The input may lack the group: the dataset may lie behind a link. */
static bool label_group(const ndr_h5_dataset *source, hid_t file, const char *path, ndr_remarks *remarks) {
  if (H5Lexists(source->file_id, path, H5P_DEFAULT) <= 0) return true;
  hid_t from = H5Oopen(source->file_id, path, source->links->access), to = H5Oopen(file, path, H5P_DEFAULT);
  bool good = to >= 0 && (from < 0 || ndr_hdf_copy_attributes(from, to, NULL, NULL, remarks));
  if (from >= 0) H5Oclose(from);
  if (to >= 0) H5Oclose(to);
  return good;
}

ndr_status ndr_label_groups(const ndr_h5_dataset *source, hid_t file, const char *name, ndr_remarks *remarks) {
  char *path = strdup(name);
  bool good = path != NULL;
  if (!good) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", source->where);
  for (char *slash = path; good && (slash = strchr(slash, '/')); slash++) {
    *slash = 0;
    good = label_group(source, file, path, remarks);
    *slash = '/';
  }
  free(path);
  return good ? NDR_OK : ndr_hdf_fail(NDR_ERR_FILE, source->file, "the attributes of its groups cannot be copied");
}
