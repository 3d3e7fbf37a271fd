/* Answers for people, and the lines on what -o writes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "h5gpured/besides.h"
#include "h5gpured/number.h"
#include "h5gpured/operators.h"
#include "h5gpured/output.h"
#include "h5gpured/results.h"

/* How much of a large result is shown: of the last two dims the first and last EDGE, of the others the first and last
 * OUTER_EDGE, in all about ROWS rows. */
enum { EDGE = 6, OUTER_EDGE = 2, GROUPS_EDGE = 6, ROWS = 40, DIGITS = 7, SAMPLE = 64 };

/* FILE:/DATASET */
static void print_place(const ndr_h5_info *info, FILE *stream) {
  cli_print_visible(info->file, stream);
  fputc(':', stream);
  cli_print_visible(info->dataset, stream);
}

void print_type(ndr_dtype dtype, int ndim, const int64_t *shape, const char *const *names, FILE *stream) {
  fputs(ndr_dtype_name(dtype), stream);
  for (int d = 0; d < ndim; d++) {
    fputs(d ? ", " : " [", stream);
    if (names && names[d]) {
      cli_print_visible(names[d], stream);
      fputc(' ', stream);
    }
    fprintf(stream, "%lld", (long long)shape[d]);
  }
  if (ndim) fputc(']', stream);
}

/* The names of the dims of the result: those that are left, and under keepdims the reduced ones, too. */
static void result_names(const answer *a, const char **names) {
  bool reduced[NDR_MAX_DIMS] = {false};
  for (int i = 0; i < a->problem.dim_count; i++) reduced[a->problem.dims[i]] = true;
  for (int d = 0, r = 0; d < a->info->ndim; d++)
    if (is_group_dim(a, d))
      names[r++] = ndr_h5_groups_dim_name(ndr_h5_groups_along(a->groups, d));
    else if (!is_in_groups(a, d) && (!reduced[d] || a->problem.keepdims))
      names[r++] = a->info->dim_names[d];
}

static void print_by(const answer *a, FILE *stream) {
  if (!a->groups) return;
  fputs(" by ", stream);
  cli_print_visible(ndr_h5_groups_text(a->groups), stream);
}

static void print_dim(const answer *a, int d, FILE *stream) {
  const char *name = a->info->dim_names[d];
  if (name)
    cli_print_visible(name, stream);
  else
    fprintf(stream, "dim %d", d);
}

/* Prints both, if there is a text. */
static void print_after(const char *before, const char *text, FILE *stream) {
  if (!text) return;
  fputs(before, stream);
  cli_print_visible(text, stream);
}

/* "y=b.nc", as it was given, or "c=clim.nc by time:month". False if --with has no name of array i. */
static bool print_with(const answer *a, const char *before, int i, FILE *stream) {
  int count;
  const char *name = a->besides->operands[i].name;
  const named_value *with = find_with(a->options, name, &count);
  if (!with) return false;
  fprintf(stream, "%s%s", before, name);
  print_after("=", with->value, stream);
  if (count > 1) fprintf(stream, " and %d more", count - 1);
  print_after(" by ", a->besides->grouped[i] ? ndr_h5_groups_text(a->besides->groups) : NULL, stream);
  return true;
}

/* ", weighted by lat" if all of these operators are, ", mean and std weighted by lat" if only those two are. */
static void print_weights(const answer *a, int begin, int end, FILE *stream) {
  int weighted = 0, printed = 0;
  for (int op = begin; op < end; op++) weighted += ndr_op_is_weighted(a->ops[op]);
  if (!a->options->weights || weighted == 0) return;
  fputs(", ", stream);
  for (int op = begin; op < end && weighted < end - begin; op++) {
    if (!ndr_op_is_weighted(a->ops[op])) continue;
    fprintf(stream, "%s%s", printed == 0 ? "" : printed + 1 == weighted ? " and " : ", ", op_name(a->options, op));
    if (++printed == weighted) fputc(' ', stream);
  }
  cli_print_visible(a->options->weights_comment, stream);
}

/* ", weighted by the cosine of lat, where x > 0, with y=b.nc": what the operators from `begin` to `end` take beside the
 * dataset. */
static void print_besides(const answer *a, int begin, int end, FILE *stream) {
  const besides *b = a->besides;
  bool reads[MOST_BESIDES] = {false};
  for (int op = begin; op < end; op++)
    for (int i = 0; i < b->count; i++) reads[i] |= besides_is_read_by(b, i, a->ops[op]);
  print_weights(a, begin, end, stream);
  print_after(", where ", a->options->where, stream);
  const char *before = ", with ";
  for (int i = 0; i < b->count; i++)
    if (reads[i] && print_with(a, before, i, stream)) before = ", ";
}

static const char *running(const answer *a) {
  return a->options->scans ? "running " : "";
}

static void print_dims(const answer *a, FILE *stream) {
  const char *before = " over ";
  if (a->options->scans) {
    fputs(" along ", stream);
    print_dim(a, a->scan_dim, stream);
    if (a->options->reverse) fputs(" from the last", stream);
    if (a->options->exclusive) fputs(", exclusive", stream);
    return;
  }
  print_by(a, stream);
  if (!a->groups && a->problem.dim_count == a->info->ndim && a->info->ndim != 1) {
    fputs(" over all dims", stream);
    return;
  }
  for (int i = 0; i < a->problem.dim_count; i++) {
    if (is_in_groups(a, a->problem.dims[i])) continue;
    fputs(before, stream);
    before = ", ";
    print_dim(a, a->problem.dims[i], stream);
  }
}

/* What the operators from `begin` to `end` reduce over, and take beside the dataset. */
static void print_over(const answer *a, int begin, int end, FILE *stream) {
  print_dims(a, stream);
  print_besides(a, begin, end, stream);
}

static void print_result_type(const answer *a, int op, FILE *stream) {
  const char *names[NDR_MAX_DIMS] = {NULL};
  const DLTensor *result = &a->results[op];
  result_names(a, names);
  print_type(tensor_dtype(result), result->ndim, result->shape, names, stream);
}

/* ---- A result as a table ---------------------------------------------------------------------------------------- */

typedef struct {
  const DLTensor *result;
  FILE *to;
  date *dates; /* what is shown in place of numbers, or NULL */
  ndr_dtype dtype;
  int width, rows;
  bool cut;
} table;

static void element_text(const table *t, int64_t index, char text[NUMBER_CHARS]) {
  const char *data = t->result->data;
  if (t->dates && *t->dates[index])
    strcpy(text, t->dates[index]);
  else
    number_text(number_read(t->dtype, data + (size_t)index * ndr_dtype_bytes(t->dtype)), DIGITS, text);
}

/* The widest of the first and the last elements: enough to line up most tables. */
static int table_width(const table *t) {
  int64_t count = tensor_count(t->result);
  int width = 3;
  for (int64_t i = 0; i < count; i++) {
    char text[NUMBER_CHARS];
    if (i == SAMPLE && count > 2 * SAMPLE) i = count - SAMPLE;
    element_text(t, i, text);
    if ((int)strlen(text) > width) width = (int)strlen(text);
  }
  return width;
}

/* The index after i of a dim of `size`: the middle of a long dim is left out, and *gap then says so. */
static int64_t next_shown(int64_t i, int64_t size, int edge, bool *gap) {
  *gap = i == edge - 1 && size > 2 * edge + 1;
  return *gap ? size - edge : i + 1;
}

static void print_row(table *t, int64_t base, int64_t size) {
  bool gap;
  fputs("    ", t->to);
  for (int64_t i = 0; i < size; i = next_shown(i, size, EDGE, &gap)) {
    char text[NUMBER_CHARS];
    element_text(t, base + i, text);
    fprintf(t->to, "%s%*s", i ? "  " : "", t->width, text);
    next_shown(i, size, EDGE, &gap);
    if (gap) fputs("  ...", t->to);
    t->cut |= gap;
  }
  fputc('\n', t->to);
  t->rows++;
}

/* Prints the part of a table below dims 0 .. d-1, whose elements start at base. */
static void print_part(table *t, int d, int64_t base) {
  int ndim = t->result->ndim;
  int64_t size = t->result->shape[d], step = 1;
  int edge = d < ndim - 2 ? OUTER_EDGE : EDGE;
  bool gap;
  if (d == ndim - 1) {
    print_row(t, base, size);
    return;
  }
  for (int i = d + 1; i < ndim; i++) step *= t->result->shape[i];
  for (int64_t i = 0; i < size; i = next_shown(i, size, edge, &gap)) {
    if (t->rows >= ROWS) {
      t->cut = true;
      return;
    }
    if (d < ndim - 2 && t->rows) fputc('\n', t->to);
    print_part(t, d + 1, base + i * step);
    next_shown(i, size, edge, &gap);
    if (gap) fputs("    ...\n", t->to);
    t->cut |= gap;
  }
}

static void print_table(const DLTensor *result, date *dates, FILE *to) {
  table t = {.result = result, .to = to, .dates = dates, .dtype = tensor_dtype(result)};
  int64_t count = tensor_count(result);
  if (count == 0) return;
  t.width = table_width(&t);
  print_part(&t, 0, 0);
  if (t.cut) fprintf(to, "    (%lld values; --json or -o FILE.nc gives them all)\n", (long long)count);
}

/* ---- An answer -------------------------------------------------------------------------------------------------- */

/* What is packed is known in steps of its scale factor: digits below a millionth of a step come from the binary
 * fractions that it was multiplied in, as in -7.210000000000001. JSON and CSV have them. */
static void scalar_text(const answer *a, const DLTensor *result, char text[NUMBER_CHARS]) {
  number n = number_read(tensor_dtype(result), result->data);
  if (a->info->scaled && n.kind == REAL)
    number_rounded(n.re, fabs(a->info->scale_factor) * 1e-6, text);
  else
    number_text(n, 0, text);
}

static void print_scalar(const answer *a, int i, FILE *to) {
  char text[NUMBER_CHARS];
  scalar_text(a, &a->results[i], text);
  fprintf(to, "  %-9s %s", op_name(a->options, i), text);
  const char *before = "  at ";
  for (int f = 0; f < a->found_count; f++) {
    if (a->found[f].op != i) continue;
    fputs(before, to);
    before = ", ";
    cli_print_visible(a->found[f].name, to);
    coordinate_text(a->found[f].dates, a->found[f].values, 0, text);
    fprintf(to, " %s", text);
  }
  fputc('\n', to);
}

/* The tables of places that belong to one operator's. */
static void print_found(const answer *a, int op, FILE *to) {
  for (int i = 0; i < a->found_count; i++) {
    if (a->found[i].op != op) continue;
    DLTensor values = found_tensor(a, i);
    fprintf(to, "  %s, its ", op_name(a->options, op));
    cli_print_visible(a->found[i].name, to);
    fputs(":\n", to);
    print_table(&values, a->found[i].dates, to);
  }
}

/* In a line, as long ones are cut. */
static void print_groups_along(const ndr_h5_groups *groups, FILE *to) {
  bool gap;
  int64_t count = ndr_h5_groups_count(groups);
  fputs("  groups by ", to);
  cli_print_visible(ndr_h5_groups_text(groups), to);
  fputc(':', to);
  for (int64_t i = 0; i < count; i = next_shown(i, count, GROUPS_EDGE, &gap)) {
    char name[NDR_H5_GROUP_CHARS];
    ndr_h5_groups_name(groups, i, name);
    fprintf(to, " %s", name);
    next_shown(i, count, GROUPS_EDGE, &gap);
    if (gap) fputs(" ...", to);
  }
  fputc('\n', to);
}

static void print_groups(const answer *a, FILE *to) {
  for (int d = 0; d < a->info->ndim; d++)
    if (is_group_dim(a, d)) print_groups_along(ndr_h5_groups_along(a->groups, d), to);
}

void print_text(const answer *a, FILE *to) {
  print_place(a->info, to);
  fputs("  ", to);
  print_type(a->info->dtype, a->info->ndim, a->info->shape, a->info->dim_names, to);
  if (a->results[0].ndim == 0) print_over(a, 0, a->options->op_count, to);
  fputc('\n', to);
  print_groups(a, to);
  for (int i = 0; i < a->options->op_count; i++) {
    if (a->results[i].ndim == 0) {
      print_scalar(a, i, to);
      continue;
    }
    fprintf(to, "  %s%s", running(a), op_name(a->options, i));
    print_over(a, i, i + 1, to);
    fputs(": ", to);
    print_result_type(a, i, to);
    fputc('\n', to);
    print_table(&a->results[i], NULL, to);
    print_found(a, i, to);
  }
}

/* FILE or FILE:/NAME */
static void print_target(const h5gpured_options *options, const char *name, FILE *stream) {
  cli_print_visible(options->output, stream);
  if (name) {
    fputs(":/", stream);
    cli_print_visible(name, stream);
  }
  fputs("  ", stream);
}

static void print_origin(const answer *a, int op, FILE *stream) {
  fprintf(stream, "%s%s of ", running(a), op_name(a->options, op));
  print_place(a->info, stream);
  print_over(a, op, op + 1, stream);
  fputc('\n', stream);
}

void print_written(const answer *a, int op, const char *name, FILE *stream) {
  print_target(a->options, name, stream);
  print_result_type(a, op, stream);
  fputs("  ", stream);
  print_origin(a, op, stream);
}

void print_written_found(const answer *a, int i, const char *name, FILE *stream) {
  const char *names[NDR_MAX_DIMS] = {NULL};
  const DLTensor *result = &a->results[a->found[i].op];
  result_names(a, names);
  print_target(a->options, name, stream);
  print_type(NDR_F64, result->ndim, result->shape, names, stream);
  fputs("  ", stream);
  cli_print_visible(a->found[i].name, stream);
  fputs(" at the ", stream);
  print_origin(a, a->found[i].op, stream);
}

void print_copied(const h5gpured_options *options, const ndr_h5_info *info, const char *name, FILE *stream) {
  print_target(options, name, stream);
  if (info->elements)
    fputs(info->elements, stream);
  else
    print_type(info->stored_dtype, info->ndim, info->shape, info->dim_names, stream);
  fputs("  copy of ", stream);
  print_place(info, stream);
  fputc('\n', stream);
}
