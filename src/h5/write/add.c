/* Adds a result to the file that is being made: a variable with its elements, attributes and scales, and the variables
 * that belong to it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "h5/cf/attributes.h"
#include "h5/cf/coordinates.h"
#include "h5/file/dtype.h"
#include "h5/run/job/host.h"
#include "h5/run/job/job.h"
#include "h5/write/addition.h"
#include "h5/write/storage/deflate_chunks.h"
#include "h5/write/storage/storage.h"

/* Takes over the problem and its ops[i]. */
static ndr_status take_problem(ndr_addition *a, const ndr_problem *given, int i) {
  const ndr_h5_dataset *source = a->label.source;
  NDR_TRY(ndr_job_problem(&a->problem, source, given));
  if (i < 0 || i >= a->problem.op_count)
    return ndr_fail(NDR_ERR_ARGUMENT, "the result %s of %s: %d is none of the problem's %d operators", a->name,
                    source->where, i, a->problem.op_count);
  if (a->located < 0) a->label.op = a->problem.ops[i];
  a->label.problem = &a->problem;
  return NDR_OK;
}

/* Checks that the result is that of ops[i], if there is one; coordinates have the shape of one. Windows over several
 * dims then have a dim for each, whether the caller's result had them or one for all. */
static ndr_status take_result(ndr_addition *a, int i) {
  char what[320];
  int64_t folded[NDR_MAX_DIMS];
  DLTensor expected = {.shape = folded};
  snprintf(what, sizeof what, "the result %s of %s", a->name, a->label.source->where);
  NDR_TRY(ndr_problem_result(&a->problem, i, &expected));
  if (a->located >= 0) expected.dtype = ndr_dtype_to_dlpack(NDR_F64);
  int ndim = ndr_h5_groups_unfold(a->label.groups, &a->problem, &expected, a->shape);
  if (a->result && a->result->ndim == ndim) {
    expected.ndim = ndim;
    expected.shape = a->shape;
  }
  if (a->result) NDR_TRY(ndr_host_check_result(a->result, &expected, what));
  a->unfolded = a->result ? *a->result : expected;
  a->unfolded.ndim = ndim;
  a->unfolded.shape = a->shape;
  a->result = &a->unfolded;
  return ndr_dtype_from_dlpack(expected.dtype, &a->label.dtype);
}

ndr_status ndr_addition_fail(const ndr_h5_writer *writer, const ndr_addition *a) {
  char what[320];
  snprintf(what, sizeof what, "%s cannot be written", a->name);
  return ndr_hdf_fail(NDR_ERR_FILE, writer->file.path, what);
}

/* Places of the cache, a prime: HDF5 drops a chunk for another one that has the same place. */
#define CACHE_PLACES 20011

/* How long HDF5 looks for whole chunks before it drops others. At 1 it never drops those, and the cache has no bound.
 */
#define WHOLE_FIRST 0.75

/* The variable again, with a cache for chunks of which blocks have parts: those that are whole go first. */
static hid_t reopen(hid_t file, const char *name, size_t cache_bytes) {
  hid_t access = H5Pcreate(H5P_DATASET_ACCESS), variable = H5I_INVALID_HID;
  if (H5Pset_chunk_cache(access, CACHE_PLACES, cache_bytes, WHOLE_FIRST) >= 0) variable = H5Dopen2(file, name, access);
  if (access >= 0) H5Pclose(access);
  return variable;
}

static ndr_status create_marked(ndr_h5_writer *writer, ndr_addition *a, const ndr_addition_blocks *blocks) {
  hsize_t size[NDR_MAX_DIMS];
  bool unlimited[NDR_MAX_DIMS];
  const ndr_h5_dataset *source = a->label.source;
  NDR_TRY(ndr_scales_limits(&writer->scales, source, a->result->ndim, a->from, unlimited));
  for (int d = 0; d < a->result->ndim; d++) size[d] = (hsize_t)a->result->shape[d];
  bool widened = a->label.dtype == NDR_F16 || a->label.dtype == NDR_BF16;
  a->type = ndr_storage_type(source, a->label.dtype);
  a->memory = widened ? ndr_hdf_memory_type(a->label.dtype, H5I_INVALID_HID) : H5Tcopy(a->type);
  hid_t creation =
      blocks ? ndr_storage_create_blocks(source, a->result, a->from, writer->deflate, blocks->cells, unlimited)
             : ndr_storage_create(source, a->result, a->from, writer->deflate);
  if (creation >= 0 && (!a->fill.marked || H5Pset_fill_value(creation, H5T_NATIVE_DOUBLE, &a->fill.value) >= 0))
    a->variable = ndr_storage_dataset(writer->image, a->name, a->type, a->result->ndim, size, unlimited, creation);
  if (a->variable >= 0 && blocks) {
    H5Dclose(a->variable);
    a->variable = reopen(writer->image, a->name, blocks->cache_bytes);
  }
  ndr_status status = a->variable < 0 ? ndr_addition_fail(writer, a) : NDR_OK;
  if (creation >= 0) H5Pclose(creation);
  return status;
}

/* A bare dimension is no dataset to users. */
static ndr_status check_free(const ndr_h5_writer *writer, const char *name) {
  char *shown = ndr_netcdf_shown(name);
  ndr_status status = shown ? NDR_OK : ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", writer->file.path);
  bool taken = H5Lexists(writer->image, name, H5P_DEFAULT) > 0;
  if (shown && !taken)
    taken = H5Lexists(writer->image, shown, H5P_DEFAULT) > 0 && !ndr_scales_is_bare(&writer->scales, shown);
  if (taken)
    status = ndr_fail(NDR_ERR_FILE,
                      "%s: would have two datasets called %s; write one of them to another file, or "
                      "join files that follow each other by ndr_h5_open_series",
                      writer->file.path, shown);
  free(shown);
  return status;
}

static ndr_status create_variable(ndr_h5_writer *writer, ndr_addition *a, const ndr_addition_blocks *blocks) {
  NDR_TRY(check_free(writer, a->name));
  if (a->located >= 0)
    a->fill = (ndr_fill_value){true, NAN, NULL};
  else if (blocks)
    NDR_TRY(ndr_fill_value_expect(&a->label, &a->fill));
  else
    NDR_TRY(ndr_fill_value_choose(&a->label, a->result, &a->fill));
  if (blocks && blocks->marks_nan && ndr_dtype_to_dlpack(a->label.dtype).code == kDLFloat) a->fill.value = NAN;
  return create_marked(writer, a, blocks);
}

static ndr_status write_elements(const ndr_h5_writer *writer, const ndr_addition *a) {
  const char *data = a->fill.data ? a->fill.data : ndr_host_address(a->result);
  bool good = ndr_deflate_chunks(a->variable, a->memory, data, writer->threads) ||
              H5Dwrite(a->variable, a->memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
  return good ? NDR_OK : ndr_addition_fail(writer, a);
}

static ndr_status label_variable(const ndr_h5_writer *writer, const ndr_addition *a) {
  if (!ndr_fill_value_put(&a->fill, a->label.source, a->variable, a->type)) return ndr_addition_fail(writer, a);
  return a->located < 0 ? ndr_label_variable(&a->label, a->variable)
                        : ndr_label_located(&a->label, a->located, a->variable);
}

/* Which dims are reduced, and where those of the result come from. */
static void map_dims(ndr_addition *a) {
  int count = 0;
  for (int i = 0; i < a->problem.dim_count; i++) a->label.reduced[a->problem.dims[i]] = true;
  for (int d = 0; d < a->problem.ndim; d++) {
    const ndr_h5_groups *along = ndr_h5_groups_along(a->label.groups, d);
    if (along && (d == a->problem.group_dim || along != a->label.groups))
      a->from[count++] = d + NDR_OF_GROUPS;
    else if (!a->label.reduced[d])
      a->from[count++] = d;
    else if (a->problem.keepdims && !ndr_h5_groups_cover(a->label.groups, d))
      a->from[count++] = ~d;
  }
}

static const char *name_of_scale(const ndr_h5_writer *writer, const ndr_addition *a, int i) {
  const char *name = ndr_scales_name(&writer->scales, a->name, i);
  return name ? ndr_hdf_leaf(name) : NULL;
}

/* What a reduced dim is called: as in the output, where it is still there; not as another dim that is left. */
static const char *name_of_reduced(const ndr_h5_writer *writer, const ndr_addition *a, int d) {
  const char *name = a->label.source->names[d];
  for (int i = 0; i < a->result->ndim; i++)
    if (a->from[i] == ~d || (a->from[i] == d + NDR_OF_GROUPS && a->label.groups->how != NDR_GROUPING_LABELS))
      return name_of_scale(writer, a, i);
  for (int i = 0; i < a->result->ndim && name; i++) {
    const char *left = ndr_scales_input_name(&writer->scales, a->label.source, a->from[i]);
    if (left && strcmp(left, name) == 0) return NULL;
  }
  return name;
}

/* A dim that is scanned is named, though it is left. */
static ndr_status write_methods(const ndr_h5_writer *writer, ndr_addition *a) {
  const char *names[NDR_MAX_DIMS] = {NULL};
  if (a->running >= 0) names[a->running] = name_of_scale(writer, a, a->running);
  for (int d = 0; d < a->label.source->info.ndim; d++)
    if (a->label.reduced[d]) names[d] = name_of_reduced(writer, a, d);
  ndr_label label = a->label;
  if (a->running >= 0) label.reduced[a->running] = true;
  hid_t variable = H5Dopen2(writer->image, a->name, H5P_DEFAULT);
  ndr_status status = variable < 0 ? ndr_addition_fail(writer, a) : ndr_label_methods(&label, names, variable);
  if (variable >= 0) H5Dclose(variable);
  return status;
}

/* The file as a whole is described as the input of its first result. */
static ndr_status label_file(ndr_h5_writer *writer, const ndr_h5_dataset *source) {
  if (writer->labelled) return NDR_OK;
  writer->labelled = true;
  return ndr_label_file(source, writer->image, writer->history, writer->scales.in_groups, &writer->remarks);
}

/* Whether dim i of the variable has, or will have, the variable's name. */
static ndr_status is_called_so(const ndr_h5_writer *writer, const ndr_addition *a, int i, bool *is) {
  const ndr_h5_dataset *source = a->label.source;
  const char *name = ndr_scales_input_name(&writer->scales, source, a->from[i]);
  *is = false;
  if (!name) return NDR_OK;
  char *wanted = ndr_scales_wanted_name(&writer->scales, ndr_scales_path(source, a->from[i]), name);
  if (!wanted) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", writer->file.path);
  *is = strcmp(wanted, a->name) == 0;
  free(wanted);
  return NDR_OK;
}

/* Whether a dimension without coordinates has, or will have, the name of the variable. */
static ndr_status shares_name(const ndr_h5_writer *writer, const ndr_addition *a, bool *shares) {
  const ndr_h5_dataset *source = a->label.source;
  *shares = ndr_scales_is_bare(&writer->scales, a->name);
  for (int i = 0; i < a->result->ndim && !*shares; i++) {
    int d = ndr_scales_dim(a->from[i]);
    hid_t scale = H5I_INVALID_HID;
    bool is;
    NDR_TRY(is_called_so(writer, a, i, &is));
    if (!is) continue;
    const ndr_h5_groups *groups = ndr_scales_is_of_groups(a->from[i]) ? ndr_h5_groups_axis(a->label.groups, d) : NULL;
    if (groups && (groups->coordinates || groups->label_source)) continue;
    if (ndr_scales_is_kept(a->from[i])) NDR_TRY(ndr_hdf_open_coordinates(source, d, true, &scale));
    *shares = scale < 0;
    if (scale >= 0) H5Dclose(scale);
  }
  return NDR_OK;
}

/* As netCDF-4 does. */
static ndr_status hide_name(const ndr_h5_writer *writer, ndr_addition *a) {
  char **hidden = &a->hidden;
  bool shares;
  NDR_TRY(shares_name(writer, a, &shares));
  if (!shares) return NDR_OK;
  size_t capacity = strlen(NDR_HIDDEN_VARIABLE) + strlen(a->name) + 1;
  *hidden = malloc(capacity);
  if (!*hidden) return ndr_fail(NDR_ERR_MEMORY, "%s: out of memory", writer->file.path);
  const char *leaf = ndr_hdf_leaf(a->name);
  snprintf(*hidden, capacity, "%.*s" NDR_HIDDEN_VARIABLE "%s", (int)(leaf - a->name), a->name, leaf);
  a->name = *hidden;
  return NDR_OK;
}

ndr_status ndr_addition_create(ndr_h5_writer *writer, ndr_addition *a, const ndr_addition_blocks *blocks) {
  NDR_TRY(label_file(writer, a->label.source));
  NDR_TRY(hide_name(writer, a));
  return create_variable(writer, a, blocks);
}

ndr_status ndr_addition_finish(ndr_h5_writer *writer, ndr_addition *a) {
  const ndr_h5_dataset *source = a->label.source;
  NDR_TRY(ndr_order_note(&writer->order, source, a->name));
  NDR_TRY(label_variable(writer, a));
  H5Dclose(a->variable);
  a->variable = H5I_INVALID_HID;
  if (writer->scales.in_groups) NDR_TRY(ndr_label_groups(source, writer->image, a->name, &writer->remarks));
  NDR_TRY(ndr_scales_attach(&writer->scales, source, a->name, a->result->ndim, a->from));
  if (a->located >= 0) return NDR_OK;
  NDR_TRY(write_methods(writer, a));
  return ndr_cf_copies_attach(&writer->copies, &writer->scales, &a->label, a->name, a->result->ndim, a->from);
}

void ndr_addition_close(ndr_addition *a) {
  if (a->variable >= 0) H5Dclose(a->variable);
  if (a->memory >= 0) H5Tclose(a->memory);
  if (a->type >= 0) H5Tclose(a->type);
  ndr_fill_value_free(&a->fill);
  free(a->hidden);
}

/* HDF5 would take "" and "." for the group itself. */
ndr_status ndr_writer_check_name(const ndr_h5_writer *writer, const char *name) {
  for (const char *part = name; part;) {
    size_t length = strcspn(part, "/");
    if (length == 0 || (length == 1 && *part == '.'))
      return ndr_fail(NDR_ERR_ARGUMENT,
                      "%s: '%s' is no name of a dataset: it, and each group before a '/', needs a character, and not "
                      "only '.'",
                      writer->file.path, name);
    part = part[length] ? part + length + 1 : NULL;
  }
  return NDR_OK;
}

static ndr_status take_groups(const ndr_h5_writer *writer, ndr_addition *a) {
  const ndr_h5_groups *groups = writer->scales.groups;
  const ndr_h5_dataset *source = a->label.source;
  if (!a->problem.groups) return NDR_OK;
  if (!groups || groups->labels != a->problem.groups || groups->dim != a->problem.group_dim)
    return ndr_fail(NDR_ERR_ARGUMENT, "%s: the problem's groups are not those of ndr_h5_writer_groups", source->where);
  a->label.groups = groups;
  return ndr_h5_groups_check(groups, source);
}

void ndr_addition_settle(ndr_h5_writer *writer, ndr_addition *a) {
  a->variable = a->type = a->memory = H5I_INVALID_HID;
  map_dims(a);
  a->label.remarks = &writer->remarks;
  writer->scales.in_groups = strchr(a->name, '/') != NULL;
  if (a->located < 0) {
    a->label.comment = ndr_op_is_weighted(a->label.op) ? writer->comment : writer->condition;
    a->label.where = writer->where;
    a->label.array_sources = &writer->array_sources;
    a->label.weight_units = writer->weight_units;
  }
}

ndr_status ndr_addition_prepare(ndr_h5_writer *writer, ndr_addition *a, const ndr_problem *problem, int i) {
  const ndr_h5_dataset *source = a->label.source;
  NDR_TRY(ndr_writer_check(writer));
  NDR_TRY(ndr_writer_check_name(writer, a->name));
  NDR_TRY(ndr_job_blame(source, take_problem(a, problem, i)));
  NDR_TRY(take_groups(writer, a));
  NDR_TRY(ndr_job_blame(source, take_result(a, i)));
  ndr_addition_settle(writer, a);
  return NDR_OK;
}

static ndr_status add(ndr_h5_writer *writer, ndr_addition *a, const ndr_problem *problem, int i) {
  ndr_hdf_scope scope;
  const ndr_h5_dataset *source = a->label.source;
  NDR_TRY(ndr_addition_prepare(writer, a, problem, i));
  ndr_hdf_enter(&scope, source->no_plugins);
  ndr_status status = ndr_addition_create(writer, a, NULL);
  if (status == NDR_OK) status = write_elements(writer, a);
  if (status == NDR_OK) status = ndr_addition_finish(writer, a);
  ndr_addition_close(a);
  ndr_hdf_leave(&scope);
  NDR_TRY(ndr_writer_heed(writer, status));
  /* Only now, as scales and what belongs to them may have led to further files. */
  return ndr_h5_writer_protect(writer, source);
}

ndr_status ndr_h5_writer_add(ndr_h5_writer *writer, const ndr_h5_dataset *source, const ndr_problem *problem, int i,
                             const char *name, const DLTensor *result) {
  if (!writer || !source || !name || !result) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_h5_writer_add: null pointer");
  ndr_addition a = {.label = {.source = source}, .located = -1, .running = -1, .name = name, .result = result};
  return add(writer, &a, problem, i);
}

ndr_status ndr_h5_writer_add_located(ndr_h5_writer *writer, const ndr_h5_dataset *source, const ndr_problem *problem,
                                     int dim, const char *name, const DLTensor *values) {
  if (!writer || !source || !name || !values)
    return ndr_fail(NDR_ERR_ARGUMENT, "ndr_h5_writer_add_located: null pointer");
  ndr_addition a = {.label = {.source = source}, .running = -1, .name = name, .result = values};
  NDR_TRY(ndr_writer_check(writer));
  NDR_TRY(ndr_h5_coordinate(source, dim, NULL));
  a.located = dim < 0 ? dim + source->info.ndim : dim;
  return add(writer, &a, problem, 0);
}
