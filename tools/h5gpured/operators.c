/* Operators of one's own on the command line. Their texts are the library's matter; here they get the values of --set,
 * as conditions do, and arrays in one order, as the library hands all operators of a call the same arrays. */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "common/operator_text.h"
#include "h5gpured/operators.h"

const char *op_name(const h5gpured_options *options, int i) {
  return options->op_names[i] ? options->op_names[i] : ndr_op_name(options->ops[i]);
}

__attribute__((format(printf, 1, 2))) static char *reason(const char *format, ...) {
  char room[1024];
  va_list arguments;
  va_start(arguments, format);
  char *whole = cli_format(room, sizeof room, format, arguments);
  va_end(arguments);
  if (!whole) whole = strdup(room);
  return whole ? whole : (char *)(uintptr_t) "out of memory"; /* the program ends with it */
}

static char *fail_memory(void) {
  return reason("out of memory");
}

/* ---- The head of an operator: NAME(ARRAYS; PARAMETERS) ------------------------------------------------------------
 */

enum { MOST_NAMES = 1 + NDR_MAX_OPERANDS };

typedef struct {
  char *text; /* in the library's spelling, which the names point into */
  int name_length, array_count, parameter_count;
  struct {
    const char *at;
    int length;
  } arrays[MOST_NAMES], parameters[MOST_VALUES];
  const char *rest; /* from the ";" or ")" behind the arrays on */
} head;

static const char *take_name(const char *at, const char **name, int *length) {
  *name = at += strspn(at, " ,;(");
  *length = (int)strcspn(at, " ,;)[");
  return at + strcspn(at, ",;)");
}

static bool head_read(head *h, ndr_op op) {
  size_t length = ndr_operator_print(op, NULL, 0);
  *h = (head){.text = malloc(length + 1)};
  if (!h->text) return false;
  h->text[0] = 0;
  ndr_operator_print(op, h->text, length + 1);
  h->name_length = (int)strcspn(h->text, "(");
  const char *at = h->text + h->name_length;
  for (; *at && *at != ';' && *at != ')' && h->array_count < MOST_NAMES; h->array_count++)
    at = take_name(at, &h->arrays[h->array_count].at, &h->arrays[h->array_count].length);
  h->rest = at;
  for (; *at && *at != ')' && h->parameter_count < MOST_VALUES; h->parameter_count++)
    at = take_name(at, &h->parameters[h->parameter_count].at, &h->parameters[h->parameter_count].length);
  return true;
}

static bool same_text(const char *a, int a_length, const char *b, int b_length) {
  return a && a_length == b_length && strncmp(a, b, (size_t)a_length) == 0;
}

static bool is_name(const char *name, int length, const char *other) {
  return same_text(name, length, other, (int)strlen(other));
}

bool is_named(const named_value *value, const char *name, int length) {
  return same_text(value->name, value->length, name, length);
}

static bool same_name(const named_value *a, const named_value *b) {
  return is_named(a, b->name, b->length);
}

/* ---- Arrays ------------------------------------------------------------------------------------------------------ */

static int find_array(const h5gpured_options *options, const char *name, int length) {
  for (int i = 0; i < options->array_count; i++)
    if (is_name(name, length, options->arrays[i])) return i;
  return -1;
}

static char *add_array(h5gpured_options *options, const char *name, int length) {
  if (find_array(options, name, length) >= 0) return NULL;
  if (options->array_count == NDR_MAX_OPERANDS)
    return reason("--op: operators read at most %d arrays beside the dataset", NDR_MAX_OPERANDS);
  options->arrays[options->array_count] = strndup(name, (size_t)length);
  return options->arrays[options->array_count++] ? NULL : fail_memory();
}

static bool reads(const head *h, const char *name, int length) {
  for (int i = 1; i < h->array_count; i++)
    if (same_text(h->arrays[i].at, h->arrays[i].length, name, length)) return true;
  return false;
}

/* Those of --with in its order, then the others. */
static char *collect_arrays(h5gpured_options *options, const head *heads) {
  char *wrong = NULL;
  for (int w = 0; w < options->with_count; w++)
    for (int i = 0; i < options->op_count && !wrong; i++)
      if (options->op_texts[i] && reads(&heads[i], options->withs[w].name, options->withs[w].length))
        wrong = add_array(options, options->withs[w].name, options->withs[w].length);
  for (int i = 0; i < options->op_count; i++)
    for (int k = 1; options->op_texts[i] && k < heads[i].array_count && !wrong; k++)
      wrong = add_array(options, heads[i].arrays[k].at, heads[i].arrays[k].length);
  for (int i = 0; i < options->op_count && !wrong; i++)
    if (options->op_texts[i] && find_array(options, heads[i].arrays[0].at, heads[i].arrays[0].length) >= 0)
      wrong = reason("--op: '%.*s' is the dataset to %s, and another array to another operator",
                     heads[i].arrays[0].length, heads[i].arrays[0].at, options->op_names[i]);
  return wrong;
}

/* The operator's text with as many arrays, in the order of all operators, as it has to have to read its own. */
static char *rewrite(const h5gpured_options *options, const head *h) {
  char *text = NULL;
  size_t length;
  int last = 0;
  FILE *to = open_memstream(&text, &length);
  if (!to) return NULL;
  for (int k = 1; k < h->array_count; k++) {
    int array = find_array(options, h->arrays[k].at, h->arrays[k].length);
    if (array + 1 > last) last = array + 1;
  }
  fprintf(to, "%.*s(%.*s", h->name_length, h->text, h->arrays[0].length, h->arrays[0].at);
  for (int i = 0; i < last; i++) fprintf(to, ", %s", options->arrays[i]);
  fputs(h->rest, to);
  fclose(to);
  return text;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

/* Reads NUMBER,NUMBER,... into values[]; -1 where it is none, has hexadecimal digits or is beyond f64, else how many
 * there are. */
static int read_values(const char *text, int most, double *values) {
  for (int count = 0;;) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || isspace((unsigned char)*text) || (*end && *end != ',')) return -1;
    if (memchr(text, 'x', (size_t)(end - text)) || memchr(text, 'X', (size_t)(end - text))) return -1;
    if (isinf(value) && !strpbrk(text, "iI")) return -1;
    if (count < most) values[count] = value;
    count++;
    if (!*end) return count;
    text = end + 1;
  }
}

static const named_value *find_set(const h5gpured_options *options, const char *name, int length) {
  for (int s = 0; s < options->set_count; s++)
    if (is_named(&options->sets[s], name, length)) return &options->sets[s];
  return NULL;
}

static char *find_values(const h5gpured_options *options, int i, ndr_op op, const char *name, int length,
                         double *values) {
  int count = 0, given = -2;
  char *copy = strndup(name, (size_t)length);
  if (!copy) return fail_memory();
  int first = ndr_operator_parameter(op, copy, &count);
  free(copy);
  const named_value *found = find_set(options, name, length);
  if (!found)
    return reason("--op %s: its parameter %.*s has no value; --set %.*s=%s gives it one", options->op_names[i], length,
                  name, length, name, count > 1 ? "NUMBER,NUMBER,..." : "NUMBER");
  given = read_values(found->value, count, values + first);
  if (given == -1)
    return reason("--set %.*s takes numbers%s, not '%s'", length, name,
                  strchr(found->value, ' ') ? " with commas and no blanks between them" : "", found->value);
  if (given == count) return NULL;
  return reason("--set %.*s: %s takes %d number%s, not %d", length, name, options->op_names[i], count,
                count == 1 ? "" : "s", given);
}

static bool is_in_condition(const h5gpured_options *options, const named_value *value) {
  const char *rest = options->where, *found;
  int count;
  if (!rest || where_is_dataset(rest) || is_name(value->name, value->length, "x")) return false;
  while ((count = expression_name(&rest, &found)) > 0)
    if (is_named(value, found, count)) return true;
  return false;
}

/* Every --set is for some operator or for --where, and says another name than the others. */
static char *check_sets(const h5gpured_options *options, const head *heads) {
  for (int s = 0; s < options->set_count; s++) {
    const named_value *set = &options->sets[s];
    bool used = is_in_condition(options, set);
    for (int i = 0; i < options->op_count; i++)
      for (int k = 0; options->op_texts[i] && k < heads[i].parameter_count; k++)
        used |= is_named(set, heads[i].parameters[k].at, heads[i].parameters[k].length);
    if (!used)
      return reason("--set %.*s: neither an operator nor --where has a parameter of that name", set->length, set->name);
    for (int k = 0; k < s; k++)
      if (same_name(&options->sets[k], set)) return reason("--set %.*s is given twice", set->length, set->name);
  }
  return NULL;
}

/* Puts numbers in place of the names in --where that --set has, so that attributes of results have them, too. */
static char *put_sets(h5gpured_options *options) {
  const char *text = options->where;
  options->where_given = text;
  for (int s = 0; s < options->set_count; s++) {
    const named_value *set = &options->sets[s];
    double value;
    if (!is_in_condition(options, set)) continue;
    if (read_values(set->value, 1, &value) != 1)
      return reason("--set %.*s: --where takes a number there, not '%s'", set->length, set->name, set->value);
    for (int w = 0; w < options->with_count; w++)
      if (same_name(set, &options->withs[w]))
        return reason("--set %.*s and --with %.*s: --where takes one of the two", set->length, set->name, set->length,
                      set->name);
    char *put = expression_put(text, set, value);
    if (!put) return fail_memory();
    free(options->condition);
    options->where = text = options->condition = put;
  }
  return NULL;
}

/* The operator that calls the element so; -1: there is none. */
static int operator_of_element(const h5gpured_options *options, const head *heads, const char *name, int length) {
  for (int i = 0; i < options->op_count; i++)
    if (options->op_texts[i] && same_text(heads[i].arrays[0].at, heads[i].arrays[0].length, name, length)) return i;
  return -1;
}

/* Several datasets of one name are a series. */
static char *check_withs(const h5gpured_options *options, const head *heads) {
  for (int w = 0; w < options->with_count; w++) {
    const named_value *with = &options->withs[w];
    int op = operator_of_element(options, heads, with->name, with->length);
    if (op >= 0)
      return reason("--with %.*s=%s: to the operator %s, %.*s is the element", with->length, with->name, with->value,
                    options->op_names[op], with->length, with->name);
    if (is_name(with->name, with->length, "x")) return reason("--with x: x is the element");
    if (find_array(options, with->name, with->length) < 0 && !is_in_condition(options, with))
      return reason("--with %.*s: neither an operator nor --where reads an array of that name", with->length,
                    with->name);
    for (int k = 0; k < w && !options->concat; k++) {
      if (!same_name(&options->withs[k], with)) continue;
      bool pattern = options->withs[k].name == with->name; /* both are of one --with: see files.c */
      return pattern ? reason("--with %s: several files match; --concat makes a series of them", with->name)
                     : reason("--with %.*s is given twice; --concat makes a series of them", with->length, with->name);
    }
  }
  return NULL;
}

/* Refuses a name that is the element to the condition or an operator, and another array to the other. */
static char *check_condition(const h5gpured_options *options, const head *heads) {
  const char *rest = options->where, *name;
  int length;
  if (!rest || where_is_dataset(rest)) return NULL;
  while ((length = expression_name(&rest, &name)) > 0) {
    bool element = is_name(name, length, "x");
    int op = element ? -1 : operator_of_element(options, heads, name, length);
    if (op >= 0)
      return reason("--where: to the operator %s, %.*s is the element, which a condition calls x",
                    options->op_names[op], length, name);
    for (int i = 0; i < options->op_count && element; i++)
      if (options->op_texts[i] && reads(&heads[i], name, length))
        return reason("--where: x is the element in a condition, and another array to the operator %s",
                      options->op_names[i]);
  }
  return NULL;
}

/* The library's sentence, "column 11 of 'TEXT': CAUSE", without the text, which stands before it. */
static char *refuse_text(const char *whole) {
  const char *text = whole;
  const char *sentence = ndr_last_error(), *of = strstr(sentence, " of '"), *end = of ? of + strlen(" of '") : NULL;
  while (end && *end && *end == *text) end++, text++; /* the text may have "': ", too; the sentence may cut it */
  const char *cause = end ? strstr(end, "': ") : NULL;
  if (!cause || strncmp(sentence, "column ", strlen("column ")) != 0) return reason("--op '%s': %s", whole, sentence);
  return reason("--op '%s': %.*s%s", whole, (int)(of - sentence), sentence, cause + 1);
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

/* Reads the head of operator i, with the dims' numbers, or 0 where info is NULL. Sets *numbered if dims have names. */
static char *read_head(const h5gpured_options *options, int i, const ndr_h5_info *info, head *h, bool *numbered) {
  ndr_op op;
  char *text;
  const char *given = options->op_texts[i], *wrong = expression_number_dims(given, info, &text);
  if (wrong) return reason("--op '%s': %s", given, wrong);
  *numbered = strcmp(text, given) != 0;
  ndr_status status = ndr_operator_create(&op, text, NULL, 0);
  free(text);
  if (status != NDR_OK) return refuse_text(given);
  bool good = head_read(h, op);
  ndr_operator_destroy(op);
  return good ? NULL : fail_memory();
}

/* Tables, files and cell_methods would present it as the built-in operator. */
static bool is_built_in(const char *name) {
  ndr_op op;
  return ndr_op_parse(name, &op) == NDR_OK;
}

static char *parse(h5gpured_options *options, int i, head *h) {
  char *wrong = read_head(options, i, NULL, h, &options->op_dims[i]);
  if (wrong) return wrong;
  options->op_names[i] = h->text ? strndup(h->text, (size_t)h->name_length) : NULL;
  if (!options->op_names[i]) return fail_memory();
  if (is_built_in(options->op_names[i]))
    return reason("--op '%s': %s is a built-in operator; choose another name", options->op_texts[i],
                  options->op_names[i]);
  for (int k = 0; k < i; k++)
    if (strcmp(op_name(options, k), options->op_names[i]) == 0)
      return reason("--op: %s is named twice", options->op_names[i]);
  return NULL;
}

static char *bind(const h5gpured_options *options, int i, const head *h, ndr_op *bound) {
  double values[MOST_VALUES] = {0};
  ndr_op op;
  char *wrong = NULL, *text = rewrite(options, h);
  if (!text) return fail_memory();
  ndr_status status = ndr_operator_create(&op, text, NULL, 0);
  free(text);
  if (status != NDR_OK) return reason("--op '%s': %s", options->op_texts[i], ndr_last_error());
  for (int k = 0; k < h->parameter_count && !wrong; k++)
    wrong = find_values(options, i, op, h->parameters[k].at, h->parameters[k].length, values);
  if (!wrong && ndr_operator_bind(bound, op, values, ndr_operator_parameters(op)) != NDR_OK)
    wrong = reason("--op '%s': %s", options->op_texts[i], ndr_last_error());
  ndr_operator_destroy(op);
  return wrong;
}

char *operators_make(h5gpured_options *options) {
  head heads[NDR_MAX_OPS] = {{.text = NULL}};
  char *wrong = NULL;
  for (int i = 0; i < options->op_count && !wrong; i++)
    if (options->op_texts[i]) wrong = parse(options, i, &heads[i]);
  if (!wrong) wrong = collect_arrays(options, heads);
  if (!wrong) wrong = check_sets(options, heads);
  if (!wrong) wrong = check_withs(options, heads);
  if (!wrong) wrong = check_condition(options, heads);
  if (!wrong) wrong = put_sets(options);
  for (int i = 0; i < options->op_count && !wrong; i++)
    if (options->op_texts[i]) wrong = bind(options, i, &heads[i], &options->ops[i]);
  for (int i = 0; i < options->op_count; i++) free(heads[i].text);
  return wrong;
}

bool operator_take_apart(const h5gpured_options *options, ndr_op op, operator_parts *parts) {
  head h;
  int used = 0;
  *parts = (operator_parts){.text = NULL};
  if (!head_read(&h, op)) return false;
  parts->text = h.text;
  for (int k = 0; k < h.parameter_count; k++) {
    const named_value *set = find_set(options, h.parameters[k].at, h.parameters[k].length);
    int count = set ? read_values(set->value, MOST_VALUES - used, parts->values + used) : -1;
    if (count < 0 || count > MOST_VALUES - used) continue;
    parts->parameters[parts->parameter_count] = *set;
    parts->value_counts[parts->parameter_count++] = count;
    used += count;
  }
  ndr_operator_text_drop_unread(parts->text, op);
  return true;
}

void operators_free(h5gpured_options *options) {
  for (int i = 0; i < options->op_count; i++) {
    if (options->op_texts[i]) ndr_operator_destroy(options->ops[i]);
    free(options->op_names[i]);
  }
  for (int i = 0; i < options->array_count; i++) free(options->arrays[i]);
  free(options->condition);
}

void operators_close(const h5gpured_options *options, const ndr_op *ops) {
  for (int i = 0; i < options->op_count; i++)
    if (options->op_dims[i] && ops[i] != options->ops[i]) ndr_operator_destroy(ops[i]);
}

bool operators_open(const h5gpured_options *options, const ndr_h5_info *info, const char *where, ndr_op *ops) {
  char *wrong = NULL;
  memcpy(ops, options->ops, sizeof options->ops);
  for (int i = 0; i < options->op_count && !wrong; i++) {
    head h = {.text = NULL};
    bool unused;
    if (!options->op_dims[i]) continue;
    wrong = read_head(options, i, info, &h, &unused);
    if (!wrong) wrong = bind(options, i, &h, &ops[i]);
    free(h.text);
  }
  if (!wrong) return true;
  complain("%s: %s", where, wrong);
  free(wrong);
  operators_close(options, ops);
  return false;
}
