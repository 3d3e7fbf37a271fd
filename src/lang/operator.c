/* The public calls for operators of one's own. */
#include "ndreduce/operator.h"

#include <stdlib.h>
#include <string.h>

#include "lang/parse.h"
#include "lang/print.h"
#include "lang/units.h"

static ndr_status check_values(const ndr_syntax *syntax, const double *values, int value_count) {
  if (!values && value_count == 0) return NDR_OK;
  if (!values || value_count != syntax->number_count)
    return ndr_fail(NDR_ERR_ARGUMENT, "operator '%.*s' takes %d number%s for its parameters, not %d",
                    syntax->name.length, syntax->name.at, syntax->number_count, NDR_PLURAL(syntax->number_count),
                    values ? value_count : 0);
  return NDR_OK;
}

ndr_status ndr_operator_create(ndr_op *op, const char *text, const double *values, int value_count) {
  if (!op || !text) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_operator_create: null pointer");
  ndr_syntax *syntax;
  NDR_TRY(ndr_syntax_parse(text, 0, strlen(text), &syntax));
  ndr_status status = check_values(syntax, values, value_count);
  if (status != NDR_OK) {
    free(syntax);
    return status;
  }
  const ndr_definition definition = ndr_syntax_definition(syntax);
  return ndr_own_op_add(&definition, values, NULL, op);
}

ndr_status ndr_operator_bind(ndr_op *bound, ndr_op op, const double *values, int value_count) {
  if (!bound) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_operator_bind: null pointer");
  ndr_own_op *own = ndr_own_op_hold(op);
  if (!own) return ndr_fail(NDR_ERR_OP, "operator number %d is not one of one's own", (int)op);
  ndr_status status = check_values(own->definition->syntax, values, value_count);
  if (status == NDR_OK) status = ndr_own_op_bind(own, values, bound);
  ndr_own_op_release(own);
  return status;
}

int ndr_operator_arrays(ndr_op op) {
  ndr_own_op *own = ndr_own_op_hold(op);
  int count = own ? own->definition->syntax->array_count : ndr_op_valid(op);
  ndr_own_op_release(own);
  return count;
}

int ndr_operator_array(ndr_op op, const char *name) {
  ndr_own_op *own = name ? ndr_own_op_hold(op) : NULL;
  int found = -1;
  for (int i = 0; own && i < own->definition->syntax->array_count; i++)
    if (ndr_span_is(own->definition->syntax->arrays[i], name)) found = i;
  ndr_own_op_release(own);
  return found;
}

int ndr_operator_reads(ndr_op op, int array) {
  ndr_own_op *own = ndr_own_op_hold(op);
  bool reads = own ? ndr_syntax_reads(own->definition->syntax, array) : ndr_op_valid(op) && array == 0;
  ndr_own_op_release(own);
  return reads;
}

int ndr_operator_mixes(ndr_op op, int array) {
  ndr_own_op *own = ndr_own_op_hold(op);
  bool mixes = own && ndr_syntax_mixes(own->definition->syntax, array);
  ndr_own_op_release(own);
  return mixes;
}

int ndr_operator_parameters(ndr_op op) {
  ndr_own_op *own = ndr_own_op_hold(op);
  int count = own ? own->definition->syntax->number_count : 0;
  ndr_own_op_release(own);
  return count;
}

int ndr_operator_parameter(ndr_op op, const char *name, int *count) {
  ndr_own_op *own = name ? ndr_own_op_hold(op) : NULL;
  int first = -1;
  for (int i = 0; own && i < own->definition->syntax->parameter_count; i++) {
    const ndr_syntax_parameter *parameter = &own->definition->syntax->parameters[i];
    if (!ndr_span_is(parameter->name, name)) continue;
    first = parameter->first;
    if (count) *count = parameter->count;
  }
  ndr_own_op_release(own);
  return first;
}

size_t ndr_operator_print(ndr_op op, char *text, size_t capacity) {
  size_t length = 0;
  if (!text) capacity = 0;
  if (capacity) text[0] = 0;
  ndr_own_op *own = ndr_own_op_hold(op);
  if (own) ndr_syntax_print(own->definition->syntax, text, capacity, &length);
  ndr_own_op_release(own);
  return length;
}

void ndr_operator_destroy(ndr_op op) {
  ndr_own_op_remove(op);
}
