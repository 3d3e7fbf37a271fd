/* Makes the programs of a problem's operators. An operator of one's own is one already; where it has a mask, that joins
 * each part's own condition. A built-in operator is one part, and its initial value a node behind the part's total. */
#include "core/request/lower.h"

#include <math.h>

#include "core/groups/label.h"
#include "lang/emit.h"
#include "lang/programs.h"

/* The numbers of the problem's arrays by their role: 0 is the problem's own, k its operand k - 1. */
typedef struct sources {
  int where, weights; /* 0: none */
  bool weighs;        /* an operator has a weighted form: those without one are then computed without weights */
  int with_count, with[NDR_MOST_ARRAYS];
} sources;

static sources sources_of(const ndr_problem *problem) {
  sources found = {.with_count = 1};
  for (int k = 0; k < problem->operand_count; k++) {
    switch (problem->operands[k].role) {
    case NDR_WHERE: found.where = k + 1; break;
    case NDR_WEIGHTS: found.weights = k + 1; break;
    case NDR_WITH: found.with[found.with_count++] = k + 1; break;
    }
  }
  for (int i = 0; i < problem->op_count; i++) found.weighs |= ndr_op_is_weighted(problem->ops[i]);
  return found;
}

static bool can_begin(ndr_op op) {
  return op == NDR_SUM || op == NDR_PROD || op == NDR_MIN || op == NDR_MAX;
}

static ndr_status no_room(ndr_op op) {
  char label[NDR_LABEL_BYTES];
  return ndr_fail(NDR_ERR_OP, "%s has too many expressions to have options beside them", ndr_op_label(op, label));
}

/* ---- building ---- */

static int leaf(ndr_program *program, ndr_node_kind kind, ndr_dtype dtype, int a) {
  return ndr_program_node(program, (ndr_node){.kind = kind, .dtype = dtype, .a = a, .b = -1, .c = -1});
}

static int inner(ndr_program *program, ndr_node_kind kind, ndr_dtype dtype, int a, int b, int c) {
  return ndr_program_node(program, (ndr_node){.kind = kind, .dtype = dtype, .a = a, .b = b, .c = c});
}

static int integer(ndr_program *program, ndr_dtype dtype, int64_t value) {
  return ndr_program_node(
      program, (ndr_node){.kind = NDR_NODE_INTEGER, .dtype = dtype, .a = -1, .b = -1, .c = -1, .integer = value});
}

static void set_arrays(const ndr_problem *problem, ndr_program *program) {
  program->array_count = 1 + problem->operand_count;
  program->arrays[0] = problem->dtype;
  for (int k = 0; k < problem->operand_count; k++) program->arrays[k + 1] = problem->operands[k].dtype;
}

/* ---- initial values ---- */

/* The bounds are powers of two, which f64 has exactly: low <= value < high. */
static ndr_status check_integral(ndr_op op, ndr_dtype dtype, double value) {
  int bits = dtype == NDR_BOOL ? 1 : 8 * (int)ndr_dtype_bytes(dtype);
  bool is_signed = ndr_dtype_is_signed(dtype);
  double high = ldexp(1, is_signed ? bits - 1 : bits), low = is_signed ? -high : 0;
  if (value >= low && value < high && value == floor(value)) return NDR_OK;
  return ndr_fail(NDR_ERR_ARGUMENT, "initial is %g, which the result of %s, %s, cannot hold", value, ndr_op_name(op),
                  ndr_dtype_name(dtype));
}

static ndr_node_kind combining_node(ndr_op op) {
  return op == NDR_SUM    ? NDR_NODE_ADD
         : op == NDR_PROD ? NDR_NODE_MULTIPLY
         : op == NDR_MIN  ? NDR_NODE_MINIMUM
                          : NDR_NODE_MAXIMUM;
}

/* The initial value as a node; -1: there is no room. */
static int initial_node(ndr_program *program, ndr_dtype dtype, double value) {
  if (dtype == NDR_I64) return integer(program, dtype, (int64_t)value);
  if (dtype == NDR_U64) return integer(program, dtype, (int64_t)(uint64_t)value);
  program->parameters[0] = value;
  program->parameter_count = 1;
  return ndr_program_convert(program, leaf(program, NDR_NODE_PARAMETER, NDR_F64, 0), dtype);
}

/* Under skip_nan the total of no elements is NaN, which gives way to the initial value; an initial value that is NaN is
 * left out, too. */
static ndr_status add_initial(const ndr_problem *problem, ndr_op op, ndr_program *program) {
  ndr_dtype dtype = program->result_dtype, wide = ndr_dtype_widest(dtype);
  bool skips = problem->skip_nan && ndr_dtype_is_float(dtype);
  if (ndr_dtype_is_integer(dtype)) NDR_TRY(check_integral(op, dtype, problem->initial));
  int total = leaf(program, NDR_NODE_TOTAL, dtype, 0);
  program->result = total;
  if (skips && isnan(problem->initial)) return NDR_OK;
  total = ndr_program_convert(program, total, wide);
  int initial = initial_node(program, wide, problem->initial);
  int result = inner(program, combining_node(op), wide, total, initial, -1);
  if (skips && (op == NDR_MIN || op == NDR_MAX))
    result =
        inner(program, NDR_NODE_SELECT, wide, inner(program, NDR_NODE_ISNAN, NDR_BOOL, total, -1, -1), initial, result);
  program->result = result;
  return result < 0 ? no_room(op) : NDR_OK;
}

/* ---- operators ---- */

static ndr_status lower_built_in(const ndr_problem *problem, const sources *from, ndr_op op, ndr_program *program) {
  if (from->weights && !from->weighs && op != NDR_VALID)
    return ndr_fail(NDR_ERR_OP, "%s has no weighted form; sum, mean, var, std and norm2 do", ndr_op_name(op));
  bool begins = problem->has_initial && op != NDR_VALID; /* which counts elements alone */
  if (begins && !can_begin(op))
    return ndr_fail(NDR_ERR_OP, "%s has no initial value; sum, prod, min and max do", ndr_op_name(op));
  ndr_part *part = &program->parts[0];
  ndr_program_built_in(program, op, problem->dtype, problem->skip_nan);
  set_arrays(problem, program);
  if (from->where) part->mask = leaf(program, NDR_NODE_ARRAY, NDR_BOOL, from->where);
  if (from->weights && ndr_op_is_weighted(op)) {
    int weight = leaf(program, NDR_NODE_ARRAY, program->arrays[from->weights], from->weights);
    part->weight = ndr_program_convert(program, weight, NDR_F64);
    part->reliability = problem->weighting == NDR_RELIABILITY && ndr_op_combine(op) == NDR_COMBINE_MOMENTS;
    if (ndr_dtype_is_integer(problem->dtype)) part->value = ndr_program_convert(program, part->value, NDR_F64);
  }
  program->result_dtype = ndr_op_result(op, program->nodes[part->value].dtype);
  return begins ? add_initial(problem, op, program) : NDR_OK;
}

/* The mask leaves elements out of every part; `n`, the number of elements, is one of these. */
static bool mask_parts(ndr_program *program, int where) {
  int array = leaf(program, NDR_NODE_ARRAY, NDR_BOOL, where);
  bool fits = array >= 0;
  for (int p = 0; fits && p < program->part_count; p++) {
    int *mask = &program->parts[p].mask;
    *mask = *mask < 0 ? array : inner(program, NDR_NODE_AND, NDR_BOOL, array, *mask, -1);
    fits = *mask >= 0;
  }
  return fits;
}

static ndr_status lower_own(const ndr_problem *problem, const sources *from, ndr_op op, ndr_program *program) {
  ndr_dtype dtypes[NDR_MOST_ARRAYS];
  char label[NDR_LABEL_BYTES];
  if (from->weights)
    return ndr_fail(NDR_ERR_OP, "%s has no weighted form: it would read weights as an array of its own",
                    ndr_op_label(op, label));
  if (problem->has_initial)
    return ndr_fail(NDR_ERR_OP, "%s has no initial value; sum, prod, min and max do", ndr_op_label(op, label));
  for (int k = 0; k < from->with_count; k++)
    dtypes[k] = from->with[k] ? problem->operands[from->with[k] - 1].dtype : problem->dtype;
  NDR_TRY(ndr_emit_program(op, dtypes, from->with, problem->skip_nan, program));
  set_arrays(problem, program);
  return from->where && !mask_parts(program, from->where) ? no_room(op) : NDR_OK;
}

/* ---- places ---- */

/* Gives the dim of an index a place. */
static ndr_status take_place(ndr_request *request, ndr_node *node) {
  int dim = node->a, at = 0;
  if (dim < 0 || dim >= request->problem.ndim)
    return ndr_fail(NDR_ERR_DIMS, "index(%d) is out of range for an array of %d dim%s", dim, request->problem.ndim,
                    NDR_PLURAL(request->problem.ndim));
  while (at < request->place_count && request->place_dims[at] != dim) at++;
  if (at == NDR_MOST_PLACES)
    return ndr_fail(NDR_ERR_OP, "operators have the index along %d dims at most", NDR_MOST_PLACES);
  if (at == request->place_count) request->place_dims[request->place_count++] = dim;
  node->a = at;
  return NDR_OK;
}

static ndr_status take_places(ndr_request *request, ndr_program *program) {
  for (int n = 0; n < program->node_count; n++)
    if (program->nodes[n].kind == NDR_NODE_INDEX) NDR_TRY(take_place(request, &program->nodes[n]));
  return NDR_OK;
}

/* ---- the whole ---- */

static ndr_status lower_op(ndr_request *request, const sources *from, int i, ndr_program *program) {
  ndr_op op = request->problem.ops[i];
  NDR_TRY((ndr_op_is_own(op) ? lower_own : lower_built_in)(&request->problem, from, op, program));
  NDR_TRY(take_places(request, program));
  request->programs[i] = program;
  return NDR_OK;
}

ndr_status ndr_lower(ndr_request *request) {
  const ndr_problem *problem = &request->problem;
  sources from = sources_of(problem);
  bool all = from.where || from.weights || problem->has_initial;
  int count = 0;
  for (int i = 0; i < problem->op_count; i++) count += all || ndr_op_is_own(problem->ops[i]);
  if (count == 0) return NDR_OK;
  struct ndr_program_owner *owner = ndr_programs_make(count);
  if (!owner) return ndr_fail(NDR_ERR_MEMORY, "out of memory for programs");
  ndr_program *next = owner->programs;
  request->programs_owner = owner;
  for (int i = 0; i < problem->op_count; i++)
    if (all || ndr_op_is_own(problem->ops[i])) NDR_TRY(lower_op(request, &from, i, next++));
  return NDR_OK;
}
