/* Weights of dims: their coordinates, the cosines of these, or the lengths of times in days, checked and multiplied. */
#include "h5gpured/weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where the :FUNCTION of DIM:FUNCTION begins; NULL where there is none. */
static const char *find_function(const char *text) {
  const char *slash = strrchr(text, '/');
  return strrchr(slash ? slash : text, ':');
}

/* If the text is FUNCTION:DIM or FUNCTION(DIM), complains and returns true. */
static bool refuse_order(const char *text, const char *where) {
  size_t function = strcspn(text, ":("), length = text[function] ? strcspn(text + function + 1, ")") : 0;
  bool known = (function == 3 && strncmp(text, "cos", 3) == 0) || (function == 4 && strncmp(text, "days", 4) == 0);
  if (!known || length == 0) return false;
  complain("%s: --weights '%s': the dim comes first: %.*s:%.*s", where, text, (int)length, text + function + 1,
           (int)function, text);
  return true;
}

/* Complains of DIM:FUNCTION or FILE:NAME. Always false. */
static bool refuse_function(const char *text, const char *colon, const ndr_h5_info *info, const char *where) {
  int length = (int)(colon - text), dims[NDR_MAX_DIMS], count;
  char *name = strndup(text, (size_t)length);
  if (!name) return weights_refuse_memory(where);
  if (ndr_h5_dims_parse(name, info->ndim, info->dim_names, &count, dims) == NDR_OK)
    complain("%s: --weights '%s': there is no weighting by '%s', only by cos and days, as DIM:cos", where, text,
             colon + 1);
  else
    complain("%s: --weights '%s': '%s' is neither a dim nor a file", where, text, name);
  free(name);
  return false;
}

/* Complains of a word that is no dim. Always false. The reason is copied, as looking for a dataset of that name may
 * replace it. */
static bool refuse_name(const h5gpured_options *options, const char *name, const ndr_h5_info *info, const char *where) {
  char *reason = strdup(weights_reason(where)), *path = weights_find_path(options, info, name);
  if (reason && path)
    complain("%s: --weights: %s; a dataset has its path, %s", where, reason, path);
  else if (reason && (strcmp(name, "cos") == 0 || strcmp(name, "days") == 0))
    complain("%s: --weights: %s; '%s' stands behind one of them, as DIM:%s", where, reason, name, name);
  else if (reason)
    complain("%s: --weights: %s", where, reason);
  else
    weights_refuse_memory(where);
  free(reason);
  free(path);
  return false;
}

/* Complains of an entry that names no dims, after the library has said why. */
static void refuse_dims(const h5gpured_options *options, const char *text, const char *colon, const ndr_h5_info *info,
                        const char *where) {
  if (refuse_order(text, where)) return;
  if (!colon)
    refuse_name(options, text, info, where);
  else if (weighing_of(text, strlen(text)) == BY_VALUE)
    refuse_function(text, colon, info, where);
  else
    weights_refuse(where);
}

/* The one dim that DIM, DIM:cos or DIM:days names; -1 after a complaint. */
static int find_dim(const h5gpured_options *options, const char *text, const ndr_h5_info *info, const char *where) {
  const char *colon = find_function(text);
  weighing how = weighing_of(text, strlen(text));
  char *name = strndup(text, how == BY_VALUE ? strlen(text) : (size_t)(colon - text));
  int dims[NDR_MAX_DIMS], count = 0;
  bool good = name && ndr_h5_dims_parse(name, info->ndim, info->dim_names, &count, dims) == NDR_OK;
  if (!name)
    weights_refuse_memory(where);
  else if (!good)
    refuse_dims(options, text, colon, info, where);
  else if (count != 1)
    complain("%s: --weights '%s' names %d dims, not one", where, text, count);
  free(name);
  return good && count == 1 ? dims[0] : -1;
}

/* Whether the weights are finite and not negative, and not all are 0; after a complaint false. */
static bool check_values(const char *text, const char *where, const double *values, int64_t count) {
  const char *more = weighing_of(text, strlen(text)) == BY_VALUE ? "; DIM:cos takes the cosines of latitudes" : "";
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
  weighing how = weighing_of(text, strlen(text));
  double *values = calloc((size_t)size + 1, sizeof *values); /* calloc notices an overflow */
  bool good = values != NULL;
  if (!good) weights_refuse_memory(where);
  if (good)
    good = (how == BY_DAYS ? ndr_h5_time_weights(dataset, d, values)
                           : ndr_h5_coordinate_weights(dataset, d, how == BY_COSINE, values)) == NDR_OK ||
           weights_refuse(where);
  if (good && check_values(text, where, values, size)) return values;
  free(values);
  return NULL;
}

/* Multiplies weights by the factors of one more dim, which becomes the last one. */
static bool multiply(weights *w, int d, int64_t size, const double *factor, const char *where) {
  int64_t count = 1, all;
  for (int i = 0; i < w->tensor.ndim; i++) count *= w->shape[i];
  double *before = w->tensor.data, *product = NULL;
  if (!__builtin_mul_overflow(count, size, &all) && (uint64_t)all < SIZE_MAX / sizeof *product - 1)
    product = malloc((size_t)all * sizeof *product + 1);
  if (!product) return weights_refuse_memory(where);
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
    complain("%s: --weights '%s': %s has weights already", where, text, weights_dim_text(info, d, called));
    return false;
  }
  double *factor = weigh_dim(text, dataset, where, d);
  bool good = factor && multiply(w, d, info->shape[d], factor, where);
  free(factor);
  return good;
}

/* The units of a product of weights: NULL for cosines, which are numbers, and "" where they are not known, as those of
 * coordinates, which no call of the library tells. */
static const char *units_of_dims(const char *list) {
  const char *units = NULL;
  size_t length;
  for (const char *rest = list, *entry; (entry = weights_next(&rest, &length));) {
    weighing how = weighing_of(entry, length);
    if (how != BY_COSINE) units = how == BY_DAYS && !units ? "days" : "";
  }
  return units;
}

bool weights_read_dims(const h5gpured_options *options, const ndr_h5_dataset *dataset, const char *where, weights *w) {
  size_t length;
  w->units = units_of_dims(options->weights);
  for (const char *rest = options->weights, *entry; (entry = weights_next(&rest, &length));) {
    char *text = strndup(entry, length);
    bool good = text ? weigh_by_dim(options, text, dataset, where, w) : weights_refuse_memory(where);
    free(text);
    if (!good) return false;
  }
  return true;
}

/* ---- Lists ------------------------------------------------------------------------------------------------------ */

/* Whether an entry names a dim, as DIM, DIM:cos or DIM:days. */
static bool is_dim(const char *entry, size_t length, const ndr_h5_info *info) {
  int dims[NDR_MAX_DIMS], count = 0;
  char *name = strndup(entry, length - weights_function_length(entry, length));
  bool dim = name && ndr_h5_dims_parse(name, info->ndim, info->dim_names, &count, dims) == NDR_OK && count == 1;
  free(name);
  return dim;
}

/* Complains of a list's entry that is no dim. It cannot be a dataset: that is read slab by slab, and the product of
 * coordinates is in memory. */
static bool refuse_factor(const h5gpured_options *options, const char *entry, const ndr_h5_info *info,
                          const char *where) {
  char *path = *entry ? weights_find_path(options, info, entry) : NULL;
  if (!*entry)
    complain("%s: --weights '%s': an entry of the list is empty", where, options->weights);
  else if (path)
    complain("%s: --weights '%s': %s is a dataset, and only coordinates of dims can be multiplied; --weights %s takes "
             "it alone, an operator of one's own both by --with",
             where, options->weights, entry, path);
  else if ((strchr(entry, '/') || has_file_name(entry)) && !weights_are_there(options, entry))
    complain("%s: --weights '%s': %s; only coordinates of dims can be multiplied", where, options->weights,
             ndr_last_error());
  else
    (void)find_dim(options, entry, info, where); /* which complains */
  free(path);
  return false;
}

bool weights_check_list(const h5gpured_options *options, const ndr_h5_info *info, const char *where) {
  size_t length;
  const char *rest = options->weights, *entry = weights_next(&rest, &length);
  if (!rest || weights_are_there(options, options->weights)) return true;
  for (; entry; entry = weights_next(&rest, &length)) {
    if (is_dim(entry, length, info)) continue;
    char *text = strndup(entry, length);
    if (text)
      refuse_factor(options, text, info, where);
    else
      weights_refuse_memory(where);
    free(text);
    return false;
  }
  return true;
}
