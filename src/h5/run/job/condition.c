/* See condition.h. What expressions mean is the language's matter: here only names are looked up in them. */
#include "h5/run/job/condition.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/operator_text.h"

/* Names that no user is likely to have taken. */
#define STATE "ndr_where"

/* What an operator has behind the expression. */
#define BEHIND ") -> " STATE

/* ---- Words of the text ------------------------------------------------------------------------------------------- */

typedef struct {
  const char *start;
  int length;
} word;

/* The next word from `text` on; false after the last. */
static bool next_word(const char *text, word *found) {
  found->length = ndr_expression_word(&text, &found->start);
  return found->length > 0;
}

static bool word_is(const word *w, const char *name) {
  return ndr_expression_word_is(w->start, w->length, name);
}

static bool is_builtin(const word *w) {
  return ndr_expression_is_builtin(w->start, w->length);
}

static ndr_status fail_room(void) {
  return ndr_fail(NDR_ERR_ARGUMENT, "operand where: it reads more than %d arrays beside the dataset", NDR_MAX_OPERANDS);
}

/* Adds an array to those that the condition reads, unless it is among them. */
static ndr_status use(ndr_besides *operands, int array) {
  ndr_condition *c = &operands->condition;
  for (int i = 0; i < c->count; i++)
    if (c->arrays[i] == array) return NDR_OK;
  if (c->count == NDR_MAX_OPERANDS) return fail_room();
  c->arrays[c->count++] = array;
  return NDR_OK;
}

static ndr_status use_name(ndr_besides *operands, const word *w, bool *reads_elements) {
  char list[512] = "x";
  if (word_is(w, "x")) {
    *reads_elements = true;
    return NDR_OK;
  }
  for (int i = 0; i < operands->array_count; i++) {
    if (!operands->names[i]) continue;
    if (word_is(w, operands->names[i])) return use(operands, i);
    size_t length = strlen(list);
    snprintf(list + length, sizeof list - length, ", %s", operands->names[i]);
  }
  return ndr_fail(NDR_ERR_PARSE, "operand where '%s': there is no array '%.*s'; there are %s", operands->condition.text,
                  w->length, w->start, list);
}

/* ---- Places ------------------------------------------------------------------------------------------------------ */

/* The numbers 0, 1, ... along dim d, as an array; *array is its number. Its name is as long as "index(0)", so that
 * columns in the expression stay what they are. */
static ndr_status add_places(ndr_besides *operands, const ndr_h5_info *info, int d, int *array) {
  static const char *const names[] = {
      "index_0_",  "index_1_",  "index_2_",  "index_3_",  "index_4_",  "index_5_",  "index_6_",  "index_7_",
      "index_8_",  "index_9_",  "index_10_", "index_11_", "index_12_", "index_13_", "index_14_", "index_15_",
      "index_16_", "index_17_", "index_18_", "index_19_", "index_20_", "index_21_", "index_22_", "index_23_",
      "index_24_", "index_25_", "index_26_", "index_27_", "index_28_", "index_29_", "index_30_", "index_31_"};
  _Static_assert(sizeof names / sizeof *names == NDR_MAX_DIMS, "a name for each dim");
  for (int i = 0; i < operands->array_count; i++)
    if (operands->names[i] == names[d]) {
      *array = i;
      return NDR_OK;
    }
  if (operands->array_count == NDR_MOST_BESIDES) return fail_room();
  int64_t *places = malloc((size_t)info->shape[d] * sizeof *places + 1);
  if (!places) return ndr_fail(NDR_ERR_MEMORY, "out of memory");
  for (int64_t i = 0; i < info->shape[d]; i++) places[i] = i;
  *array = operands->array_count++;
  operands->names[*array] = names[d];
  operands->arrays[*array] = (ndr_beside){.ndim = 1, .dtype = NDR_I64, .memory = places, .owned = places, .once = true};
  operands->arrays[*array].shape[0] = info->shape[d];
  operands->arrays[*array].dims[0] = d;
  return NDR_OK;
}

/* Reads "index(d)"; *end is behind it. */
static ndr_status read_place(ndr_besides *operands, const ndr_h5_info *info, const word *w, int *array,
                             const char **end) {
  char *after;
  const char *open = strchr(w->start, '(') + 1;
  long d = strtol(open, &after, 10);
  after += strspn(after, " \t");
  if (after == open || *after != ')' || d < 0 || d >= info->ndim)
    return ndr_fail(NDR_ERR_PARSE, "operand where '%s': index takes the number of a dim, from 0 to %d",
                    operands->condition.text, info->ndim - 1);
  *end = after + 1;
  return add_places(operands, info, (int)d, array);
}

/* ---- The operator ------------------------------------------------------------------------------------------------ */

/* Looks up the names, and writes the expression to `to` with the places' names in it. */
static ndr_status take_names(ndr_besides *operands, const char *text, const ndr_h5_info *info, FILE *to,
                             bool *reads_elements) {
  const char *done = text;
  for (word w; next_word(done, &w);) {
    const char *end = w.start + w.length;
    fwrite(done, 1, (size_t)(w.start - done), to);
    if (is_builtin(&w) && word_is(&w, "index")) {
      int array;
      NDR_TRY(read_place(operands, info, &w, &array, &end));
      NDR_TRY(use(operands, array));
      fprintf(to, "%-*s", (int)(end - w.start), operands->names[array]);
    } else {
      if (!is_builtin(&w)) NDR_TRY(use_name(operands, &w, reads_elements));
      fwrite(w.start, 1, (size_t)w.length, to);
    }
    done = end;
  }
  fputs(done, to);
  return NDR_OK;
}

/* What is missing is NaN, too. */
static bool may_be_nan(ndr_dtype dtype) {
  switch (dtype) {
  case NDR_F16:
  case NDR_BF16:
  case NDR_F32:
  case NDR_F64:
  case NDR_C64:
  case NDR_C128: return true;
  default: return false;
  }
}

/* "where(x, land): ndr_where |= (land == land) && (x > 273.15 && land) -> ndr_where": NaN is not equal to
 * itself. */
static char *write_operator(const ndr_besides *operands, const char *expression) {
  const ndr_condition *c = &operands->condition;
  char *text = NULL;
  size_t length;
  FILE *to = open_memstream(&text, &length);
  if (!to) return NULL;
  fprintf(to, "where(%s", c->of_elements ? "x" : "");
  for (int i = 0; i < c->count; i++)
    fprintf(to, "%s%s", i || c->of_elements ? ", " : "", operands->names[c->arrays[i]]);
  fputs("): " STATE " |= ", to);
  for (int i = 0; i < c->count; i++)
    if (may_be_nan(operands->arrays[c->arrays[i]].dtype))
      fprintf(to, "%s == %s && ", operands->names[c->arrays[i]], operands->names[c->arrays[i]]);
  fprintf(to, "(%s" BEHIND, expression);
  fclose(to);
  return text;
}

/* Whether all brackets of the first characters of a text are closed. */
static bool is_closed(const char *text, long length) {
  int open = 0;
  for (long i = 0; i < length && text[i]; i++) open += (text[i] == '(') - (text[i] == ')');
  return open == 0;
}

/* The column, from 1, of the first ")" that closes no "("; 0 if there is none. It would close the bracket that the
 * operator's text has around the expression. */
static long find_stray(const char *text) {
  int open = 0;
  for (long i = 0; text[i]; i++) {
    open += (text[i] == '(') - (text[i] == ')');
    if (open < 0) return i + 1;
  }
  return 0;
}

/* Whether the word before `at` is "not". */
static bool is_behind_not(const char *text, const char *at) {
  while (at > text && at[-1] == ' ') at--;
  return at - text >= 3 && strncasecmp(at - 3, "not", 3) == 0 && (at - text == 3 || !isalnum((unsigned char)at[-4]));
}

/* For those who write conditions as in Python or SQL. */
static const char *find_hint(const char *text, const char *at) {
  size_t length = strcspn(at, " \t(");
  if (*at == '=') return "; == compares";
  if (*at == '&') return "; and is written &&";
  if (*at == '|') return "; or is written ||";
  if (*at == '^') return "; powers are written **";
  if (*at == ',') return "; && joins conditions";
  if (is_behind_not(text, at)) return "; not is written !";
  if (length == 3 && strncasecmp(at, "and", length) == 0) return "; and is written &&";
  return length == 2 && strncasecmp(at, "or", length) == 0 ? "; or is written ||" : "";
}

/* The parser's sentence on the operator's text, "column 28 of 'TEXT': CAUSE", as one on the expression in it. Of a long
 * text the sentence shows the beginning. */
static void explain(const char *text, const char *expression, char *reason, size_t capacity) {
  const char *sentence = ndr_last_error(), *head = "column ", *hint = "";
  size_t before = strlen(text) - strlen(expression) - strlen(BEHIND);
  snprintf(reason, capacity, "%s", sentence);
  if (strncmp(sentence, head, strlen(head)) != 0) return;
  char *behind;
  long column = strtol(sentence + strlen(head), &behind, 10) - (long)before;
  long end = (long)strlen(expression) + 1, stray = find_stray(expression);
  const char *cause = strstr(behind, "': ");
  if (!cause) return;
  cause += strlen("': ");
  if (column <= 0) snprintf(reason, capacity, "%s", cause); /* a name that arrays cannot have */
  if (column <= 0) return;
  if (column > end) column = end;
  bool behind_stray = stray && column > stray;
  if (behind_stray) column = stray;
  if (behind_stray || (strcmp(cause, "expected ')'") == 0 && is_closed(expression, column - 1))) {
    cause = "expected an operator or the end";
    hint = find_hint(expression, expression + column - 1);
  }
  snprintf(reason, capacity, "column %ld: %s%s", column, cause, hint);
}

/* Makes the operator of a text that has the expression in brackets. `written` is what the user has written. */
static ndr_status create_of(ndr_op *op, const char *text, const char *expression, const char *written) {
  char reason[512];
  long stray = find_stray(expression);
  ndr_status status = ndr_operator_create(op, text, NULL, 0);
  if (status == NDR_OK && !stray) return NDR_OK;
  if (status == NDR_OK) {
    ndr_operator_destroy(*op);
    snprintf(reason, sizeof reason, "column %ld: expected an operator or the end", stray);
    status = NDR_ERR_PARSE;
  } else {
    explain(text, expression, reason, sizeof reason);
  }
  *op = 0;
  return ndr_fail(status, "operand where '%s': %s", written, reason);
}

static ndr_status create(ndr_besides *operands, const char *expression) {
  char *text = write_operator(operands, expression);
  if (!text) return ndr_fail(NDR_ERR_MEMORY, "out of memory");
  ndr_status status = create_of(&operands->condition.op, text, expression, operands->condition.text);
  free(text);
  return status;
}

ndr_status ndr_condition_parse(ndr_besides *operands, const char *text, const ndr_h5_info *info) {
  char *expression = NULL;
  size_t length;
  bool reads_elements = false;
  operands->condition.text = text;
  FILE *to = open_memstream(&expression, &length);
  if (!to) return ndr_fail(NDR_ERR_MEMORY, "out of memory");
  ndr_status status = take_names(operands, text, info, to, &reads_elements);
  fclose(to);
  operands->condition.of_elements = reads_elements || operands->condition.count != 1;
  if (status == NDR_OK) status = create(operands, expression);
  free(expression);
  return status;
}

/* ---- Without a dataset ------------------------------------------------------------------------------------------- */

/* Finds the names of arrays, each once; *count is more than there is room for if there are too many. */
static void find_arrays(const char *text, word *arrays, int *count) {
  *count = 0;
  for (word w; next_word(text, &w) && *count <= NDR_MAX_OPERANDS; text = w.start + w.length) {
    bool known = is_builtin(&w) || word_is(&w, "x");
    for (int i = 0; i < *count && !known; i++)
      known = arrays[i].length == w.length && strncmp(arrays[i].start, w.start, (size_t)w.length) == 0;
    if (!known && (*count)++ < NDR_MAX_OPERANDS) arrays[*count - 1] = w;
  }
}

ndr_status ndr_h5_condition_check(const char *text) {
  word arrays[NDR_MAX_OPERANDS];
  int count;
  ndr_op op;
  char *operator_text = NULL;
  size_t length;
  if (!text) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_h5_condition_check: null pointer");
  find_arrays(text, arrays, &count);
  if (count > NDR_MAX_OPERANDS) return fail_room();
  FILE *to = open_memstream(&operator_text, &length);
  if (!to) return ndr_fail(NDR_ERR_MEMORY, "out of memory");
  fputs("where(x", to);
  for (int i = 0; i < count; i++) fprintf(to, ", %.*s", arrays[i].length, arrays[i].start);
  fprintf(to, "): " STATE " |= (%s" BEHIND, text);
  bool written = fclose(to) == 0;
  ndr_status status = written ? create_of(&op, operator_text, text, text) : ndr_fail(NDR_ERR_MEMORY, "out of memory");
  free(operator_text);
  if (status == NDR_OK) ndr_operator_destroy(op);
  return status;
}

/* ---- Masks ------------------------------------------------------------------------------------------------------- */

ndr_status ndr_condition_of_mask(ndr_besides *operands, int array) {
  operands->condition.text = "mask";
  operands->names[array] = "mask";
  operands->condition.count = 1;
  operands->condition.arrays[0] = array;
  return create(operands, "mask == mask && mask != 0");
}

/* ---- Computing --------------------------------------------------------------------------------------------------- */

/* Dtypes are known first here. A sentence on the operator's text, which the user has not written, becomes one on the
 * condition. */
static ndr_status blame(const ndr_besides *operands, ndr_status status) {
  char reason[512];
  if (status != NDR_ERR_OP) return status;
  const char *cause = strstr(ndr_last_error(), "': ");
  if (!cause) return status;
  snprintf(reason, sizeof reason, "%s", cause + strlen("': "));
  return ndr_fail(status, "operand where '%s': %s", operands->condition.text, reason);
}

/* A mask of one array has that array's own box. */
static ndr_status compute_of_one(const ndr_besides *operands, const ndr_beside_place *at, const ndr_options *options) {
  int i = operands->condition.arrays[0];
  const ndr_beside *array = &operands->arrays[i];
  ndr_beside_box box = ndr_beside_find(array, at->slab);
  int64_t over[NDR_MAX_DIMS], strides[NDR_MAX_DIMS];
  DLTensor from = ndr_besides_tensor(operands, at, i, over), to = from;
  for (int k = 0; k < array->ndim; k++) strides[k] = array->dims[k] < 0 ? 0 : over[array->dims[k]];
  from.ndim = to.ndim = array->ndim;
  from.shape = to.shape = box.size;
  from.strides = strides;
  to.strides = NULL;
  to.data = at->mask;
  to.byte_offset = 0;
  to.dtype = ndr_dtype_to_dlpack(NDR_BOOL);
  return blame(operands, ndreduce(&from, 0, NULL, operands->condition.op, &to, options));
}

ndr_status ndr_condition_compute(const ndr_besides *operands, const ndr_beside_place *at) {
  const ndr_condition *c = &operands->condition;
  ndr_options options = NDR_OPTIONS_INIT;
  options.threads = at->threads;
  options.stream = at->stream;
  if (!c->of_elements) return compute_of_one(operands, at, &options);
  DLTensor tensors[NDR_MAX_OPERANDS], to = *at->x;
  const DLTensor *with[NDR_MAX_OPERANDS];
  int64_t strides[NDR_MAX_OPERANDS][NDR_MAX_DIMS];
  for (int i = 0; i < c->count; i++) {
    tensors[i] = ndr_besides_tensor(operands, at, c->arrays[i], strides[i]);
    with[i] = &tensors[i];
  }
  options.with = with;
  options.with_count = c->count;
  to.data = at->mask;
  to.dtype = ndr_dtype_to_dlpack(NDR_BOOL);
  return blame(operands, ndreduce(at->x, 0, NULL, c->op, &to, &options));
}
