/* Problems as text: OPS DTYPE [SIZE:STRIDE,...] /DIMS OPTIONS. check.c checks what a text has been read into. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/groups/groups_text.h"
#include "core/number.h"
#include "core/request/canonical.h"
#include "core/sized.h"
#include "core/text.h"
#include "lang/braced.h"

typedef struct cursor {
  const char *text, *at;
} cursor;

static ndr_status fail_at(const cursor *c, const char *expected) {
  return ndr_fail(NDR_ERR_PARSE, "column %d of '%.100s': expected %s", (int)(c->at - c->text) + 1, c->text, expected);
}

/* A word that is none of the names. */
static ndr_status fail_word(const cursor *c, const char *what, const char *word, const char *names) {
  int column = (int)(c->at - c->text) + 1;
  if (!*word) return ndr_fail(NDR_ERR_PARSE, "column %d of '%.100s': expected %s: %s", column, c->text, what, names);
  return ndr_fail(NDR_ERR_PARSE, "column %d of '%.100s': expected %s, not '%s': %s", column, c->text, what, word,
                  names);
}

static void skip_space(cursor *c) {
  while (isspace((unsigned char)*c->at)) c->at++;
}

static bool take(cursor *c, char expected) {
  if (*c->at != expected) return false;
  c->at++;
  return true;
}

/* Copies a word of letters and digits; words that are too long are cut, and then match nothing. */
static void take_word(cursor *c, char *word, size_t capacity) {
  size_t length = 0;
  for (; isalnum((unsigned char)*c->at); c->at++)
    if (length + 1 < capacity) word[length++] = *c->at;
  word[length] = 0;
}

static ndr_status take_integer(cursor *c, const char *what, int64_t *out) {
  const char *digits = c->at + (*c->at == '-');
  char *end;
  if (!isdigit((unsigned char)*digits)) return fail_at(c, what);
  errno = 0;
  long long value = strtoll(c->at, &end, 10);
  if (errno == ERANGE) return fail_at(c, "a number below 2^63");
  c->at = end;
  *out = value;
  return NDR_OK;
}

static ndr_status parse_op(cursor *c, ndr_op *op) {
  char word[24];
  const char *start = c->at;
  if (*c->at == '{') return ndr_braced_parse(&c->at, op);
  take_word(c, word, sizeof word);
  if (ndr_op_parse(word, op) == NDR_OK) return NDR_OK;
  c->at = start;
  return fail_word(c, "an operator", word, ndr_op_names());
}

static ndr_status parse_ops(cursor *c, ndr_problem *out) {
  do {
    if (out->op_count == NDR_MAX_OPS) return fail_at(c, "at most 20 operators");
    NDR_TRY(parse_op(c, &out->ops[out->op_count]));
    out->op_count++;
  } while (take(c, ','));
  return NDR_OK;
}

static ndr_status parse_dtype(cursor *c, ndr_dtype *out) {
  char word[24];
  const char *start = c->at;
  take_word(c, word, sizeof word);
  if (ndr_dtype_parse(word, out) == NDR_OK) return NDR_OK;
  c->at = start;
  return fail_word(c, "a dtype", word, ndr_dtype_names());
}

static ndr_status parse_axes(cursor *c, ndr_problem *out) {
  bool given[NDR_MAX_DIMS] = {false};
  int64_t compact[NDR_MAX_DIMS];
  skip_space(c);
  if (!take(c, '[')) return fail_at(c, "'['");
  skip_space(c);
  while (!take(c, ']')) {
    int d = out->ndim;
    if (d == NDR_MAX_DIMS) return fail_at(c, "at most 32 dims");
    NDR_TRY(take_integer(c, "a size", &out->shape[d]));
    if (out->shape[d] < 0) return fail_at(c, "a size of 0 or more");
    given[d] = take(c, ':');
    if (given[d]) NDR_TRY(take_integer(c, "a stride", &out->strides[d]));
    out->ndim++;
    skip_space(c);
    if (*c->at != ']' && !take(c, ',')) return fail_at(c, "',' or ']'");
    skip_space(c);
  }
  NDR_TRY(ndr_check_shape(out->ndim, out->shape, ndr_dtype_bytes(out->dtype)));
  ndr_compact_strides(out->ndim, out->shape, compact);
  for (int d = 0; d < out->ndim; d++)
    if (!given[d]) out->strides[d] = compact[d];
  return NDR_OK;
}

static ndr_status parse_dims(cursor *c, ndr_problem *out) {
  bool reduced[NDR_MAX_DIMS];
  skip_space(c);
  if (!take(c, '/')) return fail_at(c, "'/'");
  if (strncmp(c->at, "all", 3) == 0) {
    c->at += 3;
    out->dim_count = out->ndim;
    for (int d = 0; d < out->ndim; d++) out->dims[d] = d;
    return NDR_OK;
  }
  if (!isdigit((unsigned char)*c->at) && *c->at != '-') return NDR_OK;
  do {
    int64_t dim;
    if (out->dim_count == NDR_MAX_DIMS) return fail_at(c, "at most 32 dims");
    NDR_TRY(take_integer(c, "a dim", &dim));
    if (dim < -NDR_MAX_DIMS || dim > NDR_MAX_DIMS)
      return ndr_fail(NDR_ERR_DIMS, "dim %lld is out of range for an array of %d dim%s", (long long)dim, out->ndim,
                      NDR_PLURAL(out->ndim));
    out->dims[out->dim_count++] = (int)dim;
  } while (take(c, ','));
  NDR_TRY(ndr_check_dims(out->ndim, out->dim_count, out->dims, reduced));
  for (int i = 0; i < out->dim_count; i++)
    if (out->dims[i] < 0) out->dims[i] += out->ndim;
  return NDR_OK;
}

/* An operand: its dtype and the strides of all dims. */
static ndr_status parse_operand(cursor *c, ndr_role role, ndr_problem *out) {
  if (out->operand_count == NDR_MAX_OPERANDS) return fail_at(c, "at most 4 arrays beside the problem's own");
  ndr_operand *operand = &out->operands[out->operand_count++];
  operand->role = role;
  NDR_TRY(parse_dtype(c, &operand->dtype));
  if (!take(c, '[')) return fail_at(c, "'['");
  for (int d = 0; d < out->ndim; d++) {
    skip_space(c);
    if (d > 0 && !take(c, ',')) return fail_at(c, "',' and a stride for each dim");
    skip_space(c);
    NDR_TRY(take_integer(c, "a stride for each dim", &operand->strides[d]));
  }
  skip_space(c);
  return take(c, ']') ? NDR_OK : fail_at(c, "']' behind a stride for each dim");
}

static ndr_status parse_number(cursor *c, double *out, const char *what) {
  const char *why;
  size_t length = ndr_number_take(c->at, out, &why);
  if (length == 0) return fail_at(c, what);
  if (why)
    return ndr_fail(NDR_ERR_PARSE, "column %d of '%.100s': %.*s is %s", (int)(c->at - c->text) + 1, c->text,
                    NDR_NUMBER_SHOWN(length), c->at, why);
  c->at += length;
  return NDR_OK;
}

static bool take_text(cursor *c, const char *expected) {
  size_t length = strlen(expected);
  if (strncmp(c->at, expected, length) != 0) return false;
  c->at += length;
  return true;
}

/* Groups: the dims that labels lie along, and the labels. */
static ndr_status parse_groups(cursor *c, ndr_problem *out) {
  const char *expected;
  ndr_groups *groups;
  int64_t dim;
  int ndim = 0;
  do {
    NDR_TRY(take_integer(c, "the dim of the labels", &dim));
    if (ndim == 0) out->group_dim = (int)(dim < 0 || dim >= out->ndim ? -1 : dim);
    if (out->group_dim < 0 || dim != out->group_dim + ndim || dim >= out->ndim)
      return fail_at(c, "dims of the array that are neighbours");
    ndim++;
  } while (take(c, ','));
  if (!take(c, ':') || out->groups) return fail_at(c, "one list of groups, with ':' behind the dims of the labels");
  ndr_status status = ndr_groups_parse(&c->at, ndim, out->shape + out->group_dim, &groups, &expected);
  if (status == NDR_OK) out->groups = groups;
  return status == NDR_ERR_PARSE ? fail_at(c, expected) : status;
}

static ndr_status parse_option(cursor *c, ndr_problem *out) {
  if (take_text(c, "where=")) return parse_operand(c, NDR_WHERE, out);
  if (take_text(c, "weights=")) return parse_operand(c, NDR_WEIGHTS, out);
  if (take_text(c, "with=")) return parse_operand(c, NDR_WITH, out);
  if (take_text(c, "groups=")) return parse_groups(c, out);
  if (take_text(c, "keepdims")) {
    out->keepdims = 1;
  } else if (take_text(c, "skipnan")) {
    out->skip_nan = 1;
  } else if (take_text(c, "acc=f64")) {
    out->accumulate = NDR_ACCUMULATE_F64;
  } else if (take_text(c, "weighting=reliability")) {
    out->weighting = NDR_RELIABILITY;
  } else if (take_text(c, "weighting=frequency")) {
    out->weighting = NDR_FREQUENCY;
  } else if (take_text(c, "initial=")) {
    out->has_initial = 1;
    return parse_number(c, &out->initial, "a number");
  } else if (take_text(c, "ddof=")) {
    const cursor start = *c;
    NDR_TRY(parse_number(c, &out->ddof, "a number of 0 or more"));
    out->ddof += 0.0; /* -0 would not survive printing */
    if (!(out->ddof >= 0)) return fail_at(&start, "a number of 0 or more");
  } else {
    return fail_at(c, "keepdims, skipnan, ddof=NUMBER, acc=f64, where=, weights= or with= with DTYPE[STRIDE,...], "
                      "weighting=reliability, initial=NUMBER or groups=DIM:COUNT[LABEL,...]");
  }
  return NDR_OK;
}

/* Options are words with space between them. */
static ndr_status parse_options(cursor *c, ndr_problem *out) {
  for (skip_space(c); *c->at; skip_space(c)) {
    NDR_TRY(parse_option(c, out));
    if (*c->at && !isspace((unsigned char)*c->at)) return fail_at(c, "a space between options");
  }
  return NDR_OK;
}

static ndr_status parse_problem(cursor *c, ndr_problem *parsed) {
  bool reduced[NDR_MAX_DIMS];
  skip_space(c);
  NDR_TRY(parse_ops(c, parsed));
  skip_space(c);
  NDR_TRY(parse_dtype(c, &parsed->dtype));
  for (int i = 0; i < parsed->op_count; i++)
    if (!ndr_op_is_own(parsed->ops[i])) NDR_TRY(ndr_op_check(parsed->ops[i], parsed->dtype));
  NDR_TRY(parse_axes(c, parsed));
  NDR_TRY(parse_dims(c, parsed));
  NDR_TRY(parse_options(c, parsed));
  return ndr_problem_check(parsed, reduced);
}

ndr_status ndr_problem_parse(const char *text, ndr_problem *problem) {
  if (!text || !problem) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_problem_parse: null pointer");
  cursor c = {text, text};
  ndr_problem parsed = NDR_PROBLEM_INIT;
  ndr_status status = parse_problem(&c, &parsed);
  ndr_groups *groups = (ndr_groups *)(uintptr_t)parsed.groups;
  if (status == NDR_OK && groups)
    status = ndr_groups_keep(groups, &parsed.groups);
  else
    ndr_groups_destroy(groups);
  NDR_TRY(status);
  return ndr_sized_write(problem, &parsed, sizeof parsed, "problem", "NDR_PROBLEM_INIT");
}

static void print_op(ndr_op op, char *text, size_t capacity, size_t *length) {
  size_t room = *length < capacity ? capacity - *length : 0;
  if (ndr_op_is_own(op))
    *length += ndr_braced_print(op, room ? text + *length : NULL, room);
  else
    ndr_text_append(text, capacity, length, "%s", ndr_op_name(op));
}

static void print_operands(const ndr_problem *problem, char *text, size_t capacity, size_t *length) {
  for (int k = 0; k < problem->operand_count; k++) {
    const ndr_operand *operand = &problem->operands[k];
    ndr_text_append(text, capacity, length, " %s=%s[", ndr_role_name(operand->role), ndr_dtype_name(operand->dtype));
    for (int d = 0; d < problem->ndim; d++)
      ndr_text_append(text, capacity, length, "%s%lld", d ? "," : "", (long long)operand->strides[d]);
    ndr_text_append(text, capacity, length, "]");
  }
}

static void print_groups(const ndr_problem *problem, int64_t pieces, char *text, size_t capacity, size_t *length) {
  int first = problem->group_dim + (problem->group_dim < 0 ? problem->ndim : 0);
  for (int d = 0; d < problem->groups->ndim; d++)
    ndr_text_append(text, capacity, length, "%s%d", d ? "," : " groups=", first + d);
  ndr_text_append(text, capacity, length, ":");
  ndr_groups_print(problem->groups, pieces, text, capacity, length);
}

static void print_array(const ndr_problem *problem, char *text, size_t capacity, size_t *length) {
  int64_t compact[NDR_MAX_DIMS];
  ndr_compact_strides(problem->ndim, problem->shape, compact);
  ndr_text_append(text, capacity, length, " %s [", ndr_dtype_name(problem->dtype));
  for (int d = 0; d < problem->ndim; d++) {
    ndr_text_append(text, capacity, length, "%s%lld", d ? "," : "", (long long)problem->shape[d]);
    if (problem->strides[d] != compact[d])
      ndr_text_append(text, capacity, length, ":%lld", (long long)problem->strides[d]);
  }
  ndr_text_append(text, capacity, length, "] /");
}

static void print_dims(const ndr_problem *problem, char *text, size_t capacity, size_t *length) {
  if (problem->dim_count == -1) ndr_text_append(text, capacity, length, "all");
  for (int i = 0; i < problem->dim_count; i++)
    ndr_text_append(text, capacity, length, "%s%d", i ? "," : "", problem->dims[i]);
}

static void print_number(const char *option, double value, char *text, size_t capacity, size_t *length) {
  char number[NDR_NUMBER_TEXT];
  ndr_number_print(value, number);
  ndr_text_append(text, capacity, length, "%s%s", option, number);
}

/* `pieces`: the most of the labels that are printed. */
static size_t print_problem(const ndr_problem *given, int64_t pieces, char *text, size_t capacity) {
  ndr_problem problem;
  bool reduced[NDR_MAX_DIMS];
  size_t length = 0;
  if (!text) capacity = 0;
  if (capacity) text[0] = 0;
  if (ndr_problem_read(given, &problem) != NDR_OK || ndr_problem_check(&problem, reduced) != NDR_OK) return 0;
  for (int i = 0; i < problem.op_count; i++) {
    if (i) ndr_text_append(text, capacity, &length, ",");
    print_op(problem.ops[i], text, capacity, &length);
  }
  print_array(&problem, text, capacity, &length);
  print_dims(&problem, text, capacity, &length);
  if (problem.keepdims) ndr_text_append(text, capacity, &length, " keepdims");
  if (problem.skip_nan) ndr_text_append(text, capacity, &length, " skipnan");
  if (problem.ddof != 0) print_number(" ddof=", problem.ddof, text, capacity, &length);
  if (problem.accumulate == NDR_ACCUMULATE_F64) ndr_text_append(text, capacity, &length, " acc=f64");
  print_operands(&problem, text, capacity, &length);
  if (problem.weighting == NDR_RELIABILITY) ndr_text_append(text, capacity, &length, " weighting=reliability");
  if (problem.has_initial) print_number(" initial=", problem.initial, text, capacity, &length);
  if (problem.groups) print_groups(&problem, pieces, text, capacity, &length);
  return length;
}

size_t ndr_problem_print(const ndr_problem *given, char *text, size_t capacity) {
  return print_problem(given, INT64_MAX, text, capacity);
}

size_t ndr_problem_sketch(const ndr_problem *given, char *text, size_t capacity) {
  enum { PIECES = 24 };
  return print_problem(given, PIECES, text, capacity);
}

ndr_status ndr_problem_extent(const ndr_problem *given, int64_t *low, int64_t *high) {
  ndr_problem problem;
  int64_t first = 0, last = 0, span;
  bool empty = false;
  if (!low || !high) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_problem_extent: null pointer");
  NDR_TRY(ndr_problem_read(given, &problem));
  if (!ndr_dtype_valid(problem.dtype)) return ndr_fail(NDR_ERR_DTYPE, "unknown dtype number %d", (int)problem.dtype);
  NDR_TRY(ndr_check_shape(problem.ndim, problem.shape, ndr_dtype_bytes(problem.dtype)));
  for (int d = 0; d < problem.ndim; d++) empty = empty || problem.shape[d] == 0;
  for (int d = 0; d < problem.ndim && !empty; d++) {
    int64_t reach;
    if (__builtin_mul_overflow(problem.shape[d] - 1, problem.strides[d], &reach) ||
        __builtin_add_overflow(reach < 0 ? first : last, reach, reach < 0 ? &first : &last))
      return ndr_fail(NDR_ERR_OVERFLOW, "stride %lld of dim %d reaches past 63 bits", (long long)problem.strides[d], d);
  }
  if (__builtin_sub_overflow(last, first, &span) || span > INT64_MAX / (int64_t)ndr_dtype_bytes(problem.dtype) - 1)
    return ndr_fail(NDR_ERR_OVERFLOW, "the problem's extent does not fit in 63 bits");
  *low = first;
  *high = empty ? -1 : last;
  return NDR_OK;
}
