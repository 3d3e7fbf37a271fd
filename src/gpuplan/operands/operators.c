/* See operators.h. A program may be no more than a built-in operator, as `s += x` is `sum`: then it runs as that. */
#include "gpuplan/operands/operators.h"

bool ndr_launch_builtin(const ndr_canonical *problem, int i, ndr_op *op) {
  const ndr_program *program = problem->programs[i];
  *op = program ? program->parts[0].op : problem->ops[i];
  return !program || ndr_program_is_built_in(program, problem->dtype, problem->skip_nan);
}

bool ndr_launch_has_program(const ndr_canonical *problem) {
  ndr_op op;
  for (int i = 0; i < problem->op_count; i++)
    if (!ndr_launch_builtin(problem, i, &op)) return true;
  return false;
}

/* Several accumulators, and functions of many instructions, take about as long as moments. */
ndr_op ndr_launch_operator(const ndr_canonical *problem) {
  enum { FEW_NODES = 6 };
  const ndr_program *program = problem->programs[0];
  ndr_op op;
  if (ndr_launch_builtin(problem, 0, &op)) return op;
  for (int i = 0; i < program->part_count; i++)
    if (ndr_op_is_index(program->parts[i].op)) return program->parts[i].op;
  if (program->part_count > 1) return NDR_VAR;
  if (op != NDR_SUM || program->node_count <= FEW_NODES) return op;
  for (int i = 0; i < program->node_count; i++) {
    ndr_node_kind kind = program->nodes[i].kind;
    if ((kind >= NDR_NODE_SQRT && kind <= NDR_NODE_COS) || kind == NDR_NODE_DIVIDE || kind == NDR_NODE_POWER)
      return NDR_VAR;
  }
  return NDR_MEAN;
}

int64_t ndr_launch_result_bytes(const ndr_canonical *problem) {
  ndr_state state = ndr_canonical_state(problem, 0);
  return (int64_t)ndr_dtype_bytes(ndr_state_result(&state));
}
