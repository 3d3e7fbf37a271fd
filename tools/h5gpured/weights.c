/* What --weights names: the coordinates of a dim, or the lengths of its times, which are read and checked, or a
 * dataset, which the library reads. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "h5gpured/besides.h"
#include "h5gpured/operators.h"

/* The library's sentences on the dataset begin with its name. */
static const char *last_reason(const char *where) {
  const char *reason = ndr_last_error();
  size_t length = strlen(where);
  return strncmp(reason, where, length) == 0 && reason[length] == ':' ? reason + length + 2 : reason;
}

static bool refuse(const char *where) {
  complain("%s: --weights: %s", where, last_reason(where));
  return false;
}

static bool refuse_memory(const char *where) {
  complain("%s: --weights: out of memory", where);
  return false;
}

/* "dim 1 (lat)", or "dim 1" where it has no name. */
static const char *dim_text(const ndr_h5_info *info, int d, char text[DIM_CHARS]) {
  snprintf(text, DIM_CHARS, info->dim_names[d] ? "dim %d (%.300s)" : "dim %d", d, info->dim_names[d]);
  return text;
}

/* Where the :FUNCTION of DIM:FUNCTION begins; NULL where there is none. */
static const char *find_function(const char *text) {
  const char *slash = strrchr(text, '/');
  return strrchr(slash ? slash : text, ':');
}

/* DIM, DIM:cos and DIM:days. */
typedef enum { BY_VALUE, BY_COSINE, BY_DAYS } weighing;

static bool ends_in(const char *text, size_t length, const char *end) {
  size_t own = strlen(end);
  return length > own && strncmp(text + length - own, end, own) == 0;
}

static weighing weighing_of_entry(const char *text, size_t length) {
  return ends_in(text, length, ":cos") ? BY_COSINE : ends_in(text, length, ":days") ? BY_DAYS : BY_VALUE;
}

/* The length of the :cos or :days at its end. */
static size_t function_length(const char *text, size_t length) {
  weighing how = weighing_of_entry(text, length);
  return how == BY_COSINE ? strlen(":cos") : how == BY_DAYS ? strlen(":days") : 0;
}

static weighing weighing_of(const char *text) {
  return weighing_of_entry(text, strlen(text));
}

/* lat:cos is that also where a file is called lat. */
bool weights_are_dataset(const char *text) {
  return where_is_dataset(text) && (strchr(text, '/') || weighing_of(text) == BY_VALUE);
}

/* The length of the entry that a comma list begins with. A part in brackets may have commas, too. */
static size_t entry_length(const char *entry) {
  size_t length = strcspn(entry, ",[");
  if (entry[length] == '[') length += strcspn(entry + length, "]");
  return length + strcspn(entry + length, ",");
}

/* The entry that *rest, a comma list or NULL, begins with; NULL after the last one. *rest is moved behind it. */
static const char *next_entry(const char **rest, size_t *length) {
  const char *entry = *rest;
  if (!entry) return NULL;
  *length = entry_length(entry);
  *rest = entry[*length] ? entry + *length + 1 : NULL;
  return entry;
}

/* What is written without a file is in the first one. `quiet`: only to see whether it is there. */
static bool open_beside(const h5gpured_options *options, const char *path, bool quiet, ndr_h5_dataset **from) {
  char *file, *unused;
  ndr_h5_access access = input_access(options);
  access.raw = 0; /* which is about the elements that are weighed */
  if (quiet) access.on_remark = NULL;
  if (names_file(path)) return open_path(path, NULL, &access, from) == NDR_OK;
  if (ndr_h5_split(options->inputs[0], &file, &unused) != NDR_OK) return false;
  ndr_status status = open_path(path, file, &access, from);
  free(file);
  free(unused);
  return status == NDR_OK;
}

static bool is_there(const h5gpured_options *options, const char *path) {
  ndr_h5_dataset *found;
  if (!open_beside(options, path, true, &found)) return false;
  ndr_h5_close(found);
  return true;
}

/* Finds the dataset that a user means by a word: one of that path, else one of that name in the dataset's group, else
 * in the root. Returns what --weights has to be for it, to be freed; NULL: there is none, or no memory. */
static char *find_path(const h5gpured_options *options, const ndr_h5_info *info, const char *word) {
  const char *slash = strrchr(info->dataset, '/');
  int group = slash ? (int)(slash - info->dataset) : 0;
  size_t capacity = (size_t)group + strlen(word) + 2;
  char *path = malloc(capacity);
  if (!path) return NULL;
  strcpy(path, word);
  if ((strchr(word, '/') || has_file_name(word)) && is_there(options, path)) return path;
  snprintf(path, capacity, "%.*s/%s", group, info->dataset, word);
  if (is_there(options, path)) return path;
  snprintf(path, capacity, "/%s", word);
  if (is_there(options, path)) return path;
  free(path);
  return NULL;
}

/* ---- By a coordinate --------------------------------------------------------------------------------------------- */

/* Of FUNCTION:DIM and FUNCTION(DIM). */
static bool refuse_order(const char *text, const char *where) {
  size_t function = strcspn(text, ":("), length = text[function] ? strcspn(text + function + 1, ")") : 0;
  bool known = (function == 3 && strncmp(text, "cos", 3) == 0) || (function == 4 && strncmp(text, "days", 4) == 0);
  if (!known || length == 0) return false;
  complain("%s: --weights '%s': the dim comes first: %.*s:%.*s", where, text, (int)length, text + function + 1,
           (int)function, text);
  return true;
}

/* Of DIM:FUNCTION or FILE:NAME. */
static bool refuse_function(const char *text, const char *colon, const ndr_h5_info *info, const char *where) {
  int length = (int)(colon - text), dims[NDR_MAX_DIMS], count;
  char *name = strndup(text, (size_t)length);
  if (!name) return refuse_memory(where);
  if (ndr_h5_dims_parse(name, info->ndim, info->dim_names, &count, dims) == NDR_OK)
    complain("%s: --weights '%s': there is no weighting by '%s', only by cos and days, as DIM:cos", where, text,
             colon + 1);
  else
    complain("%s: --weights '%s': '%s' is neither a dim nor a file", where, text, name);
  free(name);
  return false;
}

/* Of a word that is no dim. The reason is copied, as looking for a dataset of that name may replace it. */
static bool refuse_name(const h5gpured_options *options, const char *name, const ndr_h5_info *info, const char *where) {
  char *reason = strdup(last_reason(where)), *path = find_path(options, info, name);
  if (reason)
    complain("%s: --weights: %s%s%s", where, reason, path ? "; a dataset has its path, " : "", path ? path : "");
  else
    refuse_memory(where);
  free(reason);
  free(path);
  return false;
}

/* The one dim that DIM, DIM:cos or DIM:days names; -1 after a complaint. */
static int find_dim(const h5gpured_options *options, const char *text, const ndr_h5_info *info, const char *where) {
  const char *colon = find_function(text);
  weighing how = weighing_of(text);
  char *name = strndup(text, how == BY_VALUE ? strlen(text) : (size_t)(colon - text));
  int dims[NDR_MAX_DIMS], count = 0;
  bool good = name && ndr_h5_dims_parse(name, info->ndim, info->dim_names, &count, dims) == NDR_OK;
  if (!name)
    refuse_memory(where);
  else if (!good && refuse_order(text, where))
    ;
  else if (!good && colon && how == BY_VALUE)
    refuse_function(text, colon, info, where);
  else if (!good && !colon)
    refuse_name(options, text, info, where);
  else if (!good)
    refuse(where);
  else if (count != 1)
    complain("%s: --weights '%s' names %d dims, not one", where, text, count);
  free(name);
  return good && count == 1 ? dims[0] : -1;
}

/* Complains of weight i of dim d. */
static bool check_values(const char *text, const char *where, const double *values, int64_t count) {
  const char *more = weighing_of(text) == BY_VALUE ? "; DIM:cos takes the cosines of latitudes" : "";
  double total = 0;
  for (int64_t i = 0; i < count; i++) {
    total += values[i];
    if (values[i] >= 0 && isfinite(values[i])) continue;
    complain("%s: --weights %s: %.9g at [%lld] is no weight: weights are finite and not negative%s", where, text,
             values[i], (long long)i, more);
    return false;
  }
  if (count == 0 || total > 0) return true;
  complain("%s: --weights %s: all weights are 0", where, text);
  return false;
}

/* The weights of one dim, to be freed; NULL after a complaint. */
static double *weigh_dim(const char *text, const ndr_h5_dataset *dataset, const char *where, int d) {
  int64_t size = ndr_h5_describe(dataset)->shape[d];
  weighing how = weighing_of(text);
  double *values = calloc((size_t)size + 1, sizeof *values); /* which sees an overflow */
  bool good = values != NULL;
  if (!good) refuse_memory(where);
  if (good)
    good = (how == BY_DAYS ? ndr_h5_time_weights(dataset, d, values)
                           : ndr_h5_coordinate_weights(dataset, d, how == BY_COSINE, values)) == NDR_OK ||
           refuse(where);
  if (good && check_values(text, where, values, size)) return values;
  free(values);
  return NULL;
}

/* Multiplies weights by those of one more dim, which becomes the last one. */
static bool multiply(weights *w, int d, int64_t size, const double *factor, const char *where) {
  int64_t count = 1, all;
  for (int i = 0; i < w->tensor.ndim; i++) count *= w->shape[i];
  double *before = w->tensor.data, *product = NULL;
  if (!__builtin_mul_overflow(count, size, &all) && (uint64_t)all < SIZE_MAX / sizeof *product - 1)
    product = malloc((size_t)all * sizeof *product + 1);
  if (!product) return refuse_memory(where);
  for (int64_t i = 0; i < count; i++)
    for (int64_t j = 0; j < size; j++) product[i * size + j] = (before ? before[i] : 1) * factor[j];
  free(before);
  w->tensor.data = product;
  w->shape[w->tensor.ndim] = size;
  w->dims[w->tensor.ndim++] = d;
  return true;
}

static bool weigh_by_dim(const h5gpured_options *options, const char *text, const ndr_h5_dataset *dataset,
                         const char *where, weights *w) {
  const ndr_h5_info *info = ndr_h5_describe(dataset);
  int d = find_dim(options, text, info, where);
  if (d < 0) return false;
  for (int i = 0; i < w->tensor.ndim; i++) {
    if (w->dims[i] != d) continue;
    char called[DIM_CHARS];
    complain("%s: --weights '%s': %s has weights already", where, text, dim_text(info, d, called));
    return false;
  }
  double *factor = weigh_dim(text, dataset, where, d);
  bool good = factor && multiply(w, d, info->shape[d], factor, where);
  free(factor);
  return good;
}

/* The product of the weights of several dims. */
static bool weigh_by_dims(const h5gpured_options *options, const ndr_h5_dataset *dataset, const char *where,
                          weights *w) {
  size_t length;
  for (const char *rest = options->weights, *entry; (entry = next_entry(&rest, &length));) {
    char *text = strndup(entry, length);
    bool good = text ? weigh_by_dim(options, text, dataset, where, w) : refuse_memory(where);
    free(text);
    if (!good) return false;
  }
  return true;
}

/* ---- By a dataset of the same file ------------------------------------------------------------------------------ */

/* Dims are paired by their names; where these say nothing, by their sizes, in order. */
static bool same_dim(const ndr_h5_info *a, int i, const ndr_h5_info *b, int j) {
  if (a->dim_names[i] && b->dim_names[j]) return strcmp(a->dim_names[i], b->dim_names[j]) == 0;
  return a->shape[i] == b->shape[j];
}

/* The first dims in order that fit, or the last. */
static bool pair_from(const ndr_h5_info *info, const ndr_h5_info *own, bool last, int *dims) {
  int step = last ? -1 : 1, d = last ? info->ndim - 1 : 0;
  for (int n = 0; n < own->ndim; n++, d += step) {
    int i = last ? own->ndim - 1 - n : n;
    while (d >= 0 && d < info->ndim && !same_dim(info, d, own, i)) d += step;
    if (d < 0 || d >= info->ndim) return false;
    dims[i] = d;
  }
  return true;
}

/* By names that tell each dim from the others, in any order. */
static bool pair_by_name(const ndr_h5_info *info, const ndr_h5_info *own, int *dims) {
  bool taken[NDR_MAX_DIMS] = {false};
  for (int i = 0; i < own->ndim; i++) {
    int found = 0;
    for (int d = 0; d < info->ndim; d++) {
      if (!own->dim_names[i] || !info->dim_names[d] || strcmp(own->dim_names[i], info->dim_names[d]) != 0) continue;
      found++;
      dims[i] = d;
    }
    if (found != 1 || taken[dims[i]]) return false;
    taken[dims[i]] = true;
  }
  return true;
}

static bool pair_dims(const h5gpured_options *options, const char *where, const ndr_h5_info *info,
                      const ndr_h5_info *own, weights *w) {
  int others[NDR_MAX_DIMS];
  char called[3][DIM_CHARS];
  w->tensor.ndim = own->ndim;
  memcpy(w->shape, own->shape, sizeof w->shape);
  if (pair_by_name(info, own, w->dims)) return true;
  if (!pair_from(info, own, false, w->dims) || !pair_from(info, own, true, others)) {
    complain("%s: --weights: the dims of %s are not among its dims, in order", where, options->weights);
    return false;
  }
  for (int i = 0; i < own->ndim; i++) {
    if (w->dims[i] == others[i]) continue;
    complain("%s: --weights: %s of %s could be %s or %s", where, dim_text(own, i, called[0]), options->weights,
             dim_text(info, w->dims[i], called[1]), dim_text(info, others[i], called[2]));
    return false;
  }
  return true;
}

static bool fits(const h5gpured_options *options, const char *where, const ndr_h5_info *info, const weights *w) {
  int along = concat_dim(options, info);
  for (int i = 0; i < w->tensor.ndim; i++) {
    if (w->dims[i] != along) continue;
    complain("%s: --weights: %s lies along the dim of --concat, but in one file only", where, options->weights);
    return false;
  }
  return true;
}

static bool weigh_by_dataset(const h5gpured_options *options, const ndr_h5_dataset *dataset, const char *where,
                             weights *w) {
  if (names_file_alone(options->weights))
    return refuse_file_alone(options, ndr_h5_describe(dataset), where, "--weights", options->weights, NULL);
  if (!open_beside(options, options->weights, false, &w->dataset)) {
    if (weighing_of(options->weights) == BY_VALUE) return refuse(where);
    complain("%s: --weights: %s; the cosine of a dim's coordinates is DIM:cos", where, ndr_last_error());
    return false;
  }
  return pair_dims(options, where, ndr_h5_describe(dataset), ndr_h5_describe(w->dataset), w) &&
         fits(options, where, ndr_h5_describe(dataset), w);
}

/* ---- Lists ------------------------------------------------------------------------------------------------------ */

/* Whether an entry names a dim, as DIM, DIM:cos or DIM:days. */
static bool is_dim(const char *entry, size_t length, const ndr_h5_info *info) {
  int dims[NDR_MAX_DIMS], count = 0;
  char *name = strndup(entry, length - function_length(entry, length));
  bool dim = name && ndr_h5_dims_parse(name, info->ndim, info->dim_names, &count, dims) == NDR_OK && count == 1;
  free(name);
  return dim;
}

/* Complains of a list's entry that is no dim. It cannot be a dataset: that is read slab by slab, and the product of
 * coordinates is in memory. */
static bool refuse_factor(const h5gpured_options *options, const char *entry, const ndr_h5_info *info,
                          const char *where) {
  char *path = *entry ? find_path(options, info, entry) : NULL;
  if (!*entry)
    complain("%s: --weights '%s': an entry of the list is empty", where, options->weights);
  else if (path)
    complain("%s: --weights '%s': %s is a dataset, and only coordinates of dims can be multiplied; --weights %s takes "
             "it alone",
             where, options->weights, entry, path);
  else if ((strchr(entry, '/') || has_file_name(entry)) && !is_there(options, entry))
    complain("%s: --weights '%s': %s; only coordinates of dims can be multiplied", where, options->weights,
             ndr_last_error());
  else
    (void)find_dim(options, entry, info, where); /* which complains */
  free(path);
  return false;
}

/* Complains of the first entry of a list that is no dim. A dataset whose name has commas is no list. */
static bool check_list(const h5gpured_options *options, const ndr_h5_info *info, const char *where) {
  size_t length = entry_length(options->weights);
  if (!options->weights[length] || is_there(options, options->weights)) return true;
  for (const char *rest = options->weights, *entry; (entry = next_entry(&rest, &length));) {
    if (is_dim(entry, length, info)) continue;
    char *text = strndup(entry, length);
    if (text)
      refuse_factor(options, text, info, where);
    else
      refuse_memory(where);
    free(text);
    return false;
  }
  return true;
}

/* ---- Both ------------------------------------------------------------------------------------------------------- */

/* Cosines are numbers. The units of coordinates, which no call of the library tells, count as unknown. */
static const char *units_of_dims(const char *list) {
  const char *units = NULL;
  size_t length;
  for (const char *rest = list, *entry; (entry = next_entry(&rest, &length));) {
    weighing how = weighing_of_entry(entry, length);
    if (how != BY_COSINE) units = how == BY_DAYS && !units ? "days" : "";
  }
  return units;
}

/* Blank units are none. */
static const char *units_of_dataset(const ndr_h5_dataset *dataset) {
  const char *units = ndr_h5_describe(dataset)->units;
  bool numbers = !units || !units[strspn(units, " ")] || strcmp(units, "1") == 0;
  return numbers ? NULL : units;
}

bool weights_read(const h5gpured_options *options, const ndr_h5_dataset *dataset, const char *where, weights *w) {
  w->tensor = (DLTensor){.device = {kDLCPU, 0}, .dtype = ndr_dtype_to_dlpack(NDR_F64), .shape = w->shape};
  w->dataset = NULL;
  w->units = NULL;
  if (!check_list(options, ndr_h5_describe(dataset), where)) return false;
  if (weights_are_dataset(options->weights)) {
    if (!weigh_by_dataset(options, dataset, where, w)) return false;
    w->units = units_of_dataset(w->dataset);
    return true;
  }
  w->units = units_of_dims(options->weights);
  return weigh_by_dims(options, dataset, where, w);
}

void weights_free(weights *w) {
  free(w->tensor.data);
  w->tensor.data = NULL;
  ndr_h5_close(w->dataset);
  w->dataset = NULL;
}

/* "weighted by the days of time and the cosine of lat" */
char *weights_comment(const char *list) {
  static const char *const of[] = {[BY_VALUE] = "", [BY_COSINE] = "the cosine of ", [BY_DAYS] = "the days of "};
  size_t capacity = strlen("weighted by ") + 1;
  for (const char *c = list; *c; c++) capacity += *c == ',' ? strlen(" and ") + strlen(of[BY_COSINE]) : 1;
  char *comment = malloc(capacity + strlen(of[BY_COSINE]));
  if (!comment) return NULL;
  char *end = stpcpy(comment, "weighted by ");
  if (weights_are_dataset(list)) {
    strcpy(end, list);
    return comment;
  }
  size_t length;
  for (const char *rest = list, *entry; (entry = next_entry(&rest, &length));) {
    size_t name = length - function_length(entry, length);
    end = stpcpy(stpcpy(end, entry == list ? "" : " and "), of[weighing_of_entry(entry, length)]);
    memcpy(end, entry, name);
    end[name] = 0;
    end += name;
  }
  return comment;
}
