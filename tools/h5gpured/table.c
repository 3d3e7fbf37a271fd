/* Answers as .npy and CSV. Neither has room for attributes, so neither says what the numbers mean. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "h5gpured/number.h"
#include "h5gpured/operators.h"
#include "h5gpured/output.h"
#include "h5gpured/results.h"

/* ---- NumPy's .npy, format 1.0 (numpy.lib.format): a header whose length makes the data start at a multiple of 64, and
 * the elements ---------------------------------------------------------------------------------------------------- */

static const char *npy_type(ndr_dtype dtype) {
  static const char *const types[NDR_DTYPE_COUNT] = {
      [NDR_BOOL] = "|b1", [NDR_I8] = "|i1",  [NDR_I16] = "<i2", [NDR_I32] = "<i4", [NDR_I64] = "<i8",
      [NDR_U8] = "|u1",   [NDR_U16] = "<u2", [NDR_U32] = "<u4", [NDR_U64] = "<u8", [NDR_F16] = "<f2",
      [NDR_BF16] = "<f4", [NDR_F32] = "<f4", [NDR_F64] = "<f8", [NDR_C64] = "<c8", [NDR_C128] = "<c16",
  };
  return types[dtype];
}

/* NumPy has no bf16: its elements are written as the f32 that they are the upper halves of. */
static void print_brains(const void *data, int64_t count, FILE *stream) {
  for (int64_t i = 0; i < count; i++) {
    float wide = (float)number_read(NDR_BF16, (const char *)data + 2 * i).re;
    fwrite(&wide, sizeof wide, 1, stream);
  }
}

void print_npy(const answer *a, FILE *stream) {
  static const uint16_t one = 1;
  char header[1024], shape[NDR_MAX_DIMS * 24 + 3] = "";
  const DLTensor *result = &a->results[0];
  ndr_dtype dtype = tensor_dtype(result);
  size_t length = 0, fixed = 10;
  for (int d = 0; d < result->ndim; d++)
    length +=
        (size_t)snprintf(shape + length, sizeof shape - length, d ? ", %lld" : "%lld", (long long)result->shape[d]);
  const char *type = npy_type(dtype), *order = *(const char *)&one || *type == '|' ? "" : ">";
  length = (size_t)snprintf(header, sizeof header, "{'descr': '%s%s', 'fortran_order': False, 'shape': (%s%s), }",
                            order, type + (*order != 0), shape, result->ndim == 1 ? "," : "");
  size_t padded = (fixed + length + 1 + 63) / 64 * 64 - fixed;
  fwrite("\x93NUMPY\x01\x00", 1, 8, stream);
  fputc((int)(padded & 255), stream);
  fputc((int)(padded >> 8), stream);
  fprintf(stream, "%-*s\n", (int)padded - 1, header);
  if (dtype == NDR_BF16)
    print_brains(result->data, tensor_count(result), stream);
  else
    fwrite(result->data, ndr_dtype_bytes(dtype), (size_t)tensor_count(result), stream);
}

/* ---- CSV (RFC 4180, lines ending in LF) ---------------------------------------------------------------------------
 */

/* One dim of the results: a column of its coordinates or, where it has none, of its indices. */
typedef struct {
  char name[DIM_CHARS];
  int64_t size, at;
  double *coordinates;
  date *dates; /* which they are, else NULL */
  date *names; /* of groups, in place of coordinates; else NULL */
} column;

static void print_field(const char *text, FILE *stream) {
  bool quoted = strpbrk(text, ",\"") != NULL;
  if (quoted) fputc('"', stream);
  while (*text) {
    if (*text == '"') fputc('"', stream);
    text = cli_print_letter(text, stream);
  }
  if (quoted) fputc('"', stream);
}

static bool find_coordinates(const ndr_h5_dataset *dataset, const answer *a, int d, column *c) {
  ndr_status status = ndr_h5_coordinate(dataset, d, NULL);
  if (status == NDR_ERR_DIMS) return true;
  if (status == NDR_OK) {
    c->coordinates = calloc((size_t)c->size + 1, sizeof(double));
    if (c->coordinates) status = ndr_h5_coordinate(dataset, d, c->coordinates);
  }
  if (status != NDR_OK || !c->coordinates) {
    complain("%s", status != NDR_OK ? ndr_last_error() : "out of memory for coordinates");
    return false;
  }
  if (!dates_of(dataset, d, c->size, c->coordinates, &c->dates)) return false;
  if (c->dates) dates_refine(c->size, c->dates, table_precision(a->columns, a->info->dim_names[d]));
  return true;
}

static bool find_groups(const answer *a, int d, column *c) {
  const ndr_h5_groups *groups = ndr_h5_groups_along(a->groups, d);
  const char *name = ndr_h5_groups_dim_name(groups);
  c->size = ndr_h5_groups_count(groups);
  if (name) snprintf(c->name, sizeof c->name, "%.300s", name);
  if (!groups_names(a, d, &c->names)) return false;
  dates_refine(c->size, c->names, dates_precision(c->size, c->names));
  return true;
}

static bool find_columns(const ndr_h5_dataset *dataset, const answer *a, int *count, column *columns) {
  bool reduced[NDR_MAX_DIMS] = {false}, good = true;
  for (int i = 0; i < a->problem.dim_count; i++) reduced[a->problem.dims[i]] = true;
  for (int d = 0; d < a->info->ndim && good; d++) {
    if (reduced[d] && !is_group_dim(a, d)) continue;
    column *c = &columns[(*count)++];
    *c = (column){.size = a->info->shape[d]};
    dim_label(a, d, c->name);
    if (is_group_dim(a, d))
      good = find_groups(a, d, c);
    else if (tensor_count(&a->results[0]) > 0)
      good = find_coordinates(dataset, a, d, c);
  }
  return good;
}

/* "tas", or "ocean/tas" of a group. */
static const char *variable_name(const answer *a) {
  return a->info->dataset + (a->info->dataset[0] == '/');
}

static void print_names(const answer *a, int count, const column *columns, FILE *stream) {
  const char *comma = a->columns ? "," : "";
  if (a->columns) fputs("variable", stream);
  for (int i = 0; i < count; i++, comma = ",") {
    fputs(comma, stream);
    print_field(columns[i].name, stream);
  }
  for (int i = 0; i < a->options->op_count; i++, comma = ",") {
    const char *op = op_name(a->options, i);
    bool complex = a->results[i].dtype.code == kDLComplex;
    fprintf(stream, complex ? "%s%s_re,%s_im" : "%s%s", comma, op, op);
  }
  for (int i = 0; i < a->found_count; i++) {
    char name[DIM_CHARS + 16];
    snprintf(name, sizeof name, "%s_%s", op_name(a->options, a->found[i].op), a->found[i].name);
    fputc(',', stream);
    print_field(name, stream);
  }
  fputc('\n', stream);
}

/* Both lines end with a newline, which is not printed. Always false. */
static bool refuse_columns(const answer *a, const char *names) {
  complain("%s:%s: its columns are %.*s, and the table has %.*s; name datasets that have the same columns, or take "
           "--format json or -o FILE.nc",
           a->info->file, a->info->dataset, (int)strlen(names) - 1, names, (int)strlen(a->columns->names) - 1,
           a->columns->names);
  return false;
}

/* Of several datasets the first one prints the line of names, and the others must have the same. */
static bool print_header(const answer *a, int count, const column *columns, FILE *stream) {
  char *names = NULL;
  size_t length;
  FILE *to = open_memstream(&names, &length);
  if (to) print_names(a, count, columns, to);
  bool good = to && fclose(to) == 0, begun = a->columns && a->columns->names;
  if (!good)
    complain("%s:%s: out of memory", a->info->file, a->info->dataset);
  else if (!begun)
    fputs(names, stream);
  else if (strcmp(names, a->columns->names) != 0)
    good = refuse_columns(a, names);
  if (good && a->columns && !begun)
    a->columns->names = names;
  else
    free(names);
  return good;
}

static void print_real(double value, int digits, FILE *stream) {
  char text[NUMBER_CHARS];
  number_shortest(value, digits, text);
  fputs(text, stream);
}

static void print_coordinate(date *dates, const double *values, int64_t i, FILE *stream) {
  char text[NUMBER_CHARS];
  coordinate_text(dates, values, i, text);
  fputs(text, stream);
}

static void print_element(const DLTensor *result, int64_t index, FILE *stream) {
  char text[NUMBER_CHARS];
  ndr_dtype dtype = tensor_dtype(result);
  number n = number_read(dtype, (const char *)result->data + (size_t)index * ndr_dtype_bytes(dtype));
  if (n.kind == COMPLEX) {
    print_real(n.re, n.digits, stream);
    fputc(',', stream);
    print_real(n.im, n.digits, stream);
    return;
  }
  number_text(n, 0, text);
  fputs(text, stream);
}

static void print_row(const answer *a, int count, const column *columns, int64_t index, FILE *stream) {
  const char *comma = a->columns ? "," : "";
  if (a->columns) print_field(variable_name(a), stream);
  for (int i = 0; i < count; i++, comma = ",") {
    fputs(comma, stream);
    if (columns[i].names)
      print_field(columns[i].names[columns[i].at], stream);
    else if (columns[i].coordinates)
      print_coordinate(columns[i].dates, columns[i].coordinates, columns[i].at, stream);
    else
      fprintf(stream, "%lld", (long long)columns[i].at);
  }
  for (int i = 0; i < a->options->op_count; i++, comma = ",") {
    fputs(comma, stream);
    print_element(&a->results[i], index, stream);
  }
  for (int i = 0; i < a->found_count; i++) {
    fputc(',', stream);
    print_coordinate(a->found[i].dates, a->found[i].values, index, stream);
  }
  fputc('\n', stream);
}

/* What argmin and argmax have found is as precise as the dim that it lies along. */
static void refine_found(const answer *a) {
  const int64_t rows = tensor_count(&a->results[0]);
  for (int i = 0; i < a->found_count; i++)
    if (a->found[i].dates)
      dates_refine(rows, a->found[i].dates, table_precision(a->columns, a->info->dim_names[a->found[i].dim]));
}

bool print_csv(const ndr_h5_dataset *dataset, const answer *a, FILE *stream) {
  column columns[NDR_MAX_DIMS];
  int count = 0;
  int64_t rows = tensor_count(&a->results[0]);
  refine_found(a);
  bool good = find_columns(dataset, a, &count, columns);
  good = good && print_header(a, count, columns, stream);
  for (int64_t row = 0; row < rows && good; row++) {
    print_row(a, count, columns, row, stream);
    for (int i = count - 1; i >= 0 && ++columns[i].at == columns[i].size; i--) columns[i].at = 0;
  }
  for (int i = 0; i < count; i++) {
    free(columns[i].coordinates);
    free(columns[i].dates);
    free(columns[i].names);
  }
  return good && !ferror(stream);
}
