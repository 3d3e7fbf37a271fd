/* Answers as JSON, for --format json and --json. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/json.h"
#include "h5gpured/besides.h"
#include "h5gpured/number.h"
#include "h5gpured/operators.h"
#include "h5gpured/output.h"
#include "h5gpured/results.h"

/* JSON has no infinity, but any number's digits: 1e999 is read as infinity by what reads numbers as doubles. */
static void print_real(double value, int digits, json *j) {
  char text[NUMBER_CHARS];
  number_shortest(value, digits, text);
  json_literal(j, NULL, isnan(value) ? "null" : isinf(value) ? (value < 0 ? "-1e999" : "1e999") : text);
}

static void print_element(number n, json *j) {
  char text[NUMBER_CHARS];
  if (n.kind == REAL) {
    print_real(n.re, n.digits, j);
  } else if (n.kind == COMPLEX) {
    json_open(j, NULL, '[');
    print_real(n.re, n.digits, j);
    print_real(n.im, n.digits, j);
    json_close(j, ']');
  } else {
    number_text(n, 0, text);
    json_literal(j, NULL, text);
  }
}

/* The places that one operator has found, by dim. */
static void print_found(const answer *a, int op, json *j) {
  bool any = false;
  int64_t count = tensor_count(&a->results[op]);
  for (int i = 0; i < a->found_count; i++) {
    if (a->found[i].op != op) continue;
    if (!any) json_open(j, "coords", '{');
    json_open(j, a->found[i].name, '[');
    for (int64_t e = 0; e < count; e++) print_real(a->found[i].values[e], 17, j);
    json_close(j, ']');
    any = true;
  }
  if (any) json_close(j, '}');
}

static void print_groups_along(const ndr_h5_groups *groups, const char *name, json *j) {
  int64_t count = ndr_h5_groups_count(groups);
  json_open(j, name, '[');
  for (int64_t i = 0; i < count; i++) {
    char text[NDR_H5_GROUP_CHARS];
    ndr_h5_groups_name(groups, i, text);
    json_text(j, NULL, text);
  }
  json_close(j, ']');
}

/* Windows over several dims have a list for each. */
static void print_groups(const answer *a, json *j) {
  if (!a->groups) return;
  int first = ndr_h5_groups_dim(a->groups);
  json_text(j, "by", ndr_h5_groups_text(a->groups));
  if (ndr_h5_groups_along(a->groups, first) == a->groups) {
    print_groups_along(a->groups, "groups", j);
    return;
  }
  json_open(j, "groups", '[');
  for (int d = first; is_in_groups(a, d); d++) print_groups_along(ndr_h5_groups_along(a->groups, d), NULL, j);
  json_close(j, ']');
}

static void print_shape(int ndim, const int64_t *shape, json *j) {
  json_open(j, "shape", '[');
  for (int d = 0; d < ndim; d++) json_integer(j, NULL, shape[d]);
  json_close(j, ']');
}

/* In the order in which they were named; with groups, whose dim stays, in the array's. */
static void print_dims(const answer *a, json *j) {
  int dims[NDR_MAX_DIMS] = {a->scan_dim}, count = a->options->scans ? 1 : a->problem.dim_count;
  for (int i = 0; i < a->problem.dim_count; i++) {
    int at = i;
    for (; a->groups && at > 0 && dims[at - 1] > a->problem.dims[i]; at--) dims[at] = dims[at - 1];
    dims[at] = a->problem.dims[i];
  }
  json_open(j, "dims", '[');
  for (int i = 0; i < count; i++) json_integer(j, NULL, dims[i]);
  json_close(j, ']');
  json_open(j, "dim_names", '[');
  for (int i = 0; i < count; i++) json_text(j, NULL, a->info->dim_names[dims[i]]);
  json_close(j, ']');
}

static void print_result(const answer *a, int i, json *j) {
  const DLTensor *result = &a->results[i];
  ndr_dtype dtype = tensor_dtype(result);
  size_t bytes = ndr_dtype_bytes(dtype);
  int64_t count = tensor_count(result);
  print_shape(result->ndim, result->shape, j);
  json_text(j, "dtype", ndr_dtype_name(dtype));
  json_open(j, "data", '[');
  for (int64_t e = 0; e < count; e++)
    print_element(number_read(dtype, (const char *)result->data + (size_t)e * bytes), j);
  json_close(j, ']');
  print_found(a, i, j);
}

static void print_parameters(const operator_parts *parts, json *j) {
  const double *values = parts->values;
  json_open(j, "parameters", '{');
  for (int k = 0; k < parts->parameter_count; k++) {
    char name[DIM_CHARS];
    snprintf(name, sizeof name, "%.*s", parts->parameters[k].length, parts->parameters[k].name);
    json_open(j, name, '[');
    for (int i = 0; i < parts->value_counts[k]; i++) print_real(*values++, 17, j);
    json_close(j, ']');
  }
  json_close(j, '}');
}

static void print_with(const besides *b, ndr_op op, json *j) {
  bool any = false;
  for (int i = 0; i < b->count; i++) {
    if (!besides_is_read_by(b, i, op)) continue;
    if (!any) json_open(j, "with", '{');
    json_text(j, b->operands[i].name, b->sources[i]);
    any = true;
  }
  if (any) json_close(j, '}');
}

/* The operator of one's own, and what is read beside the dataset: what attributes of a file say, too. */
static void print_origin(const answer *a, int op, json *j) {
  const h5gpured_options *options = a->options;
  operator_parts parts = {.text = NULL};
  if (options->op_texts[op] && operator_take_apart(options, a->ops[op], &parts)) {
    json_text(j, "operator", parts.text);
    print_parameters(&parts, j);
  }
  if (options->weights && ndr_op_is_weighted(a->ops[op])) json_text(j, "weights", options->weights);
  if (options->where) json_text(j, "where", options->where);
  print_with(a->besides, a->ops[op], j);
  free(parts.text);
}

/* Of a dataset that is joined, all files. */
static void print_dataset(const h5gpured_options *options, const ndr_h5_info *info, bool joined, json *j) {
  json_text(j, "file", info->file);
  if (joined) {
    json_open(j, "files", '[');
    for (int i = 0; i < options->input_count; i++) json_text(j, NULL, options->files[i]);
    json_close(j, ']');
  }
  json_text(j, "dataset", info->dataset);
}

static void print_running(const h5gpured_options *options, json *j) {
  json_literal(j, "running", "true");
  json_literal(j, "reverse", options->reverse ? "true" : "false");
  json_literal(j, "exclusive", options->exclusive ? "true" : "false");
}

void print_json(const answer *a, FILE *stream) {
  for (int i = 0; i < a->options->op_count; i++) {
    json j = json_begin(stream, false);
    json_open(&j, NULL, '{');
    print_dataset(a->options, a->info, a->joined, &j);
    json_text(&j, "op", op_name(a->options, i));
    if (a->options->scans) print_running(a->options, &j);
    print_origin(a, i, &j);
    print_dims(a, &j);
    print_groups(a, &j);
    print_result(a, i, &j);
    json_close(&j, '}');
    fputc('\n', stream);
  }
}

/* Without dims, as none is reduced, and without data. */
void print_copied_json(const h5gpured_options *options, const ndr_h5_info *info, bool joined, FILE *stream) {
  json j = json_begin(stream, false);
  json_open(&j, NULL, '{');
  print_dataset(options, info, joined, &j);
  json_text(&j, "op", "copy");
  print_shape(info->ndim, info->shape, &j);
  json_text(&j, "dtype", info->elements ? info->elements : ndr_dtype_name(info->stored_dtype));
  json_close(&j, '}');
  fputc('\n', stream);
}
