/* What --weights names: the coordinates of a dim, or the lengths of its times, which are read and checked, or a
 * dataset, which the library reads. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "h5gpured/h5gpured.h"

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

static weighing weighing_of(const char *text) {
  const char *colon = where_is_dataset(text) ? NULL : find_function(text);
  if (colon && strcmp(colon, ":cos") == 0) return BY_COSINE;
  return colon && strcmp(colon, ":days") == 0 ? BY_DAYS : BY_VALUE;
}

/* ---- By a coordinate --------------------------------------------------------------------------------------------- */

static bool weigh_by_dim(const char *text, const ndr_h5_dataset *dataset, const char *where, weights *w) {
  const ndr_h5_info *info = ndr_h5_describe(dataset);
  const char *colon = find_function(text);
  weighing how = weighing_of(text);
  char *name = strndup(text, how == BY_VALUE ? strlen(text) : (size_t)(colon - text));
  int dims[NDR_MAX_DIMS], count = 0;
  bool good = name && ndr_h5_dims_parse(name, info->ndim, info->dim_names, &count, dims) == NDR_OK;
  if (!name) return refuse_memory(where);
  free(name);
  if (!good && colon && how == BY_VALUE) {
    complain("%s: --weights '%s': there is no weighting by '%s', only by cos and days, as DIM:cos", where, text,
             colon + 1);
    return false;
  }
  if (!good && !colon && isalpha((unsigned char)text[0])) {
    complain("%s: --weights: %s; a dataset has its path, /%s", where, last_reason(where), text);
    return false;
  }
  if (!good) return refuse(where);
  if (count != 1) {
    complain("%s: --weights '%s' names %d dims, not one", where, text, count);
    return false;
  }
  w->dims[0] = dims[0];
  w->shape[0] = info->shape[dims[0]];
  w->tensor.ndim = 1;
  w->tensor.data = calloc((size_t)w->shape[0] + 1, sizeof(double)); /* which sees an overflow */
  if (!w->tensor.data) return refuse_memory(where);
  double *values = w->tensor.data;
  ndr_status status = how == BY_DAYS ? ndr_h5_time_weights(dataset, dims[0], values)
                                     : ndr_h5_coordinate_weights(dataset, dims[0], how == BY_COSINE, values);
  return status == NDR_OK || refuse(where);
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

/* What is written without a part is all of it, and of the first file. */
static bool fits(const h5gpured_options *options, const char *where, const ndr_h5_info *info, const weights *w) {
  int along = concat_dim(options, info);
  char called[DIM_CHARS];
  for (int i = 0; i < w->tensor.ndim; i++) {
    if (w->dims[i] == along) {
      complain("%s: --weights: %s lies along the dim of --concat, but in one file only", where, options->weights);
      return false;
    }
    if (w->shape[i] == info->shape[w->dims[i]]) continue;
    complain("%s: --weights: %s has size %lld along %s of size %lld; /PATH[PART] is a part of it", where,
             options->weights, (long long)w->shape[i], dim_text(info, w->dims[i], called),
             (long long)info->shape[w->dims[i]]);
    return false;
  }
  return true;
}

static bool open_beside(const h5gpured_options *options, const char *path, ndr_h5_dataset **from) {
  char *file, *unused;
  ndr_h5_access access = input_access(options);
  access.raw = 0; /* which is about the elements that are weighed */
  if (names_file(path)) return open_path(path, NULL, &access, from) == NDR_OK;
  if (ndr_h5_split(options->inputs[0], &file, &unused) != NDR_OK) return false;
  ndr_status status = open_path(path, file, &access, from);
  free(file);
  free(unused);
  return status == NDR_OK;
}

static bool weigh_by_dataset(const h5gpured_options *options, const ndr_h5_dataset *dataset, const char *where,
                             weights *w) {
  if (!open_beside(options, options->weights, &w->dataset)) {
    if (!find_function(options->weights)) return refuse(where);
    complain("%s: --weights: %s; the cosine of a dim's coordinates is DIM:cos", where, ndr_last_error());
    return false;
  }
  return pair_dims(options, where, ndr_h5_describe(dataset), ndr_h5_describe(w->dataset), w) &&
         fits(options, where, ndr_h5_describe(dataset), w);
}

/* ---- Both ------------------------------------------------------------------------------------------------------- */

/* Complains of weight i, by its index along each of its dims. */
static bool refuse_weight(const h5gpured_options *options, const char *where, const weights *w, int64_t i) {
  char index[32 * NDR_MAX_DIMS] = "";
  const double *values = w->tensor.data;
  int64_t inner = 1;
  for (int d = 0; d < w->tensor.ndim; d++) inner *= w->shape[d];
  for (int d = 0, length = 0; d < w->tensor.ndim; d++) {
    inner /= w->shape[d];
    length += snprintf(index + length, sizeof index - (size_t)length, "%s%lld", d ? ", " : "",
                       (long long)(i / inner % w->shape[d]));
  }
  bool plain = options->weights[0] != '/' && weighing_of(options->weights) == BY_VALUE;
  complain("%s: --weights %s: %.9g at [%s] is no weight: weights are finite and not negative%s", where,
           options->weights, values[i], index, plain ? "; DIM:cos takes the cosines of latitudes" : "");
  return false;
}

static bool check_values(const h5gpured_options *options, const char *where, const weights *w) {
  const double *values = w->tensor.data;
  int64_t count = 1;
  double total = 0;
  for (int d = 0; d < w->tensor.ndim; d++) count *= w->shape[d];
  for (int64_t i = 0; i < count; i++) {
    if (!(values[i] >= 0 && isfinite(values[i]))) return refuse_weight(options, where, w, i);
    total += values[i];
  }
  if (count == 0 || total > 0) return true;
  complain("%s: --weights %s: all weights are 0", where, options->weights);
  return false;
}

bool weights_read(const h5gpured_options *options, const ndr_h5_dataset *dataset, const char *where, weights *w) {
  w->tensor = (DLTensor){.device = {kDLCPU, 0}, .dtype = ndr_dtype_to_dlpack(NDR_F64), .shape = w->shape};
  w->dataset = NULL;
  if (where_is_dataset(options->weights)) return weigh_by_dataset(options, dataset, where, w);
  return weigh_by_dim(options->weights, dataset, where, w) && check_values(options, where, w);
}

void weights_free(weights *w) {
  free(w->tensor.data);
  w->tensor.data = NULL;
  ndr_h5_close(w->dataset);
  w->dataset = NULL;
}

char *weights_comment(const char *text) {
  static const char *const of[] = {[BY_VALUE] = "", [BY_COSINE] = "the cosine of ", [BY_DAYS] = "the days of "};
  weighing how = weighing_of(text);
  size_t capacity = strlen(text) + 40;
  char *comment = malloc(capacity);
  if (comment)
    snprintf(comment, capacity, "weighted by %s%.*s", of[how],
             how == BY_VALUE ? (int)strlen(text) : (int)(find_function(text) - text), text);
  return comment;
}
