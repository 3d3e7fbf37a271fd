/* See op_texts.h. The library prints operators; here their texts are taken apart. */
#include "h5/write/op_texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/operator_text.h"
#include "ndreduce/operator.h"

bool ndr_op_texts_exist(ndr_op op) {
  return (int)op >= NDR_OWN_OPS && (int)op < NDR_OWN_OPS_END;
}

/* Leaves out the arrays that only other operators read, as a problem may not have them. */
static void keep_arrays(ndr_problem *problem, int count) {
  int kept = 0;
  for (int i = 0, with = 0; i < problem->operand_count; i++) {
    const ndr_operand operand = problem->operands[i];
    if (operand.role != NDR_WITH || with++ < count) problem->operands[kept++] = operand;
  }
  problem->operand_count = kept;
}

/* A problem of that operator alone, as text: "{hot(x; t): n += x > t -> n}(303.15) f64 [] /". */
static char *print_problem(ndr_op op, const ndr_problem *problem) {
  ndr_problem one = *problem;
  one.op_count = 1;
  one.ops[0] = op;
  keep_arrays(&one, ndr_operator_arrays(op) - 1);
  size_t length = ndr_problem_print(&one, NULL, 0);
  char *text = malloc(length + 1);
  if (text) text[0] = 0;
  if (text && length) ndr_problem_print(&one, text, length + 1);
  return text;
}

/* Where the values stand, as "303.15,1,2) ..."; "" if there are none. */
static const char *find_values(const char *printed) {
  const char *end = strchr(printed, '}');
  return end && end[1] == '(' ? end + 2 : "";
}

/* Writes the first `count` values, and moves on behind them. */
static void put_values(FILE *to, const char **values, int count) {
  for (int i = 0; i < count; i++) {
    size_t length = strcspn(*values, ",)");
    fprintf(to, "%s%.*s", i ? "," : "", (int)length, *values);
    *values += length + ((*values)[length] == ',');
  }
}

/* The parameters stand behind the ";" of "NAME(ARRAYS; PARAMETERS):", vectors as NAME[COUNT]. */
static void put_parameters(FILE *to, ndr_op op, const char *text, const char *values) {
  const char *at = text + strcspn(text, ";)"), *before = "";
  for (at += *at == ';'; *values && *at && *at != ')'; at += *at == ',') {
    char name[256];
    int count = 0;
    at += strspn(at, " ");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "[,) "), at);
    if (ndr_operator_parameter(op, name, &count) < 0) return;
    fprintf(to, "%s%s=", before, name);
    put_values(to, &values, count);
    before = " ";
    at += strcspn(at, ",)");
  }
}

static char *make_parameters(ndr_op op, const ndr_problem *problem, const char *text) {
  char *parameters = NULL, *printed = print_problem(op, problem);
  size_t length;
  FILE *to = printed ? open_memstream(&parameters, &length) : NULL;
  if (to) put_parameters(to, op, text, find_values(printed));
  if (to) fclose(to);
  free(printed);
  return parameters;
}

bool ndr_op_texts_make(ndr_op op, const ndr_problem *problem, ndr_op_texts *texts) {
  *texts = (ndr_op_texts){NULL, NULL, NULL};
  size_t length = ndr_operator_print(op, NULL, 0);
  texts->text = malloc(length + 1);
  if (!texts->text) return false;
  texts->text[0] = 0;
  ndr_operator_print(op, texts->text, length + 1);
  ndr_operator_text_drop_unread(texts->text, op);
  texts->name = strndup(texts->text, strcspn(texts->text, "( "));
  if (ndr_operator_parameters(op) > 0) texts->parameters = make_parameters(op, problem, texts->text);
  return texts->name && (texts->parameters || ndr_operator_parameters(op) == 0);
}

void ndr_op_texts_free(ndr_op_texts *texts) {
  free(texts->text);
  free(texts->name);
  free(texts->parameters);
}
