/* See generate.h. An operator that is a program becomes a struct ownN, as kernels/program/program.cuh describes it. */
#include "cuda/compile/generate.h"

#include <string.h>

#include "core/text.h"
#include "cuda/compile/nodes.h"
#include "gpuplan/operands/operands.h"
#include "gpuplan/operands/operators.h"

/* The template of each kernel that a plan may name, its file, and its name in kernels.h. */
static const struct {
  const char *name, *file, *row;
} templates[NDR_ALL_KERNELS] = {
#define ROW(NAME, name, family, file, ...) [NDR_KERNEL_##NAME] = {#name, #file, #NAME},
    NDR_KERNEL_ROWS(ROW, ) NDR_OPERAND_KERNEL_ROWS(ROW, )
#undef ROW
};

const char *ndr_cuda_storage(ndr_dtype dtype) {
  return dtype == NDR_BOOL ? "boolean" : ndr_dtype_name(dtype);
}

static const char *truth(bool value) {
  return value ? "true" : "false";
}

static bool has_parameters(const ndr_program *program) {
  for (int i = 0; program && i < program->node_count; i++)
    if (program->nodes[i].kind == NDR_NODE_PARAMETER) return true;
  return false;
}

bool ndr_cuda_takes_program(const ndr_cuda_operators *operators) {
  bool takes = ndr_operands_needed(operators->problem);
  for (int i = 0; i < operators->count; i++)
    takes = takes || has_parameters(operators->problem->programs[operators->first + i]);
  return takes;
}

/* ---- parts ---- */

static void write_op(ndr_cuda_text *out, ndr_op op, ndr_dtype dtype, bool accumulate_f64, bool skip_nan) {
  ndr_cuda_write(out, "op_%s<%s, %s, %s>", ndr_op_name(op), ndr_cuda_storage(dtype), truth(accumulate_f64),
                 truth(skip_nan));
}

/* The type of a batch's weights: f32 if that is the dtype of their array, else f64. */
static const char *weight_type(const ndr_program *program, const ndr_part *part) {
  const ndr_node *weight = &program->nodes[part->weight];
  return weight->kind == NDR_NODE_CONVERT && program->nodes[weight->a].dtype == NDR_F32 ? "float" : "double";
}

static void write_weighted(ndr_cuda_text *out, const ndr_program *program, const ndr_part *part) {
  const char *element = ndr_cuda_storage(program->nodes[part->value].dtype), *skip = truth(part->skip_nan),
             *weight = weight_type(program, part);
  if (part->op == NDR_VAR || part->op == NDR_STD)
    ndr_cuda_write(out, "weighted_var<%s, %s, %s, %s, %s>", element, weight, skip, truth(part->op == NDR_STD),
                   truth(part->reliability));
  else
    ndr_cuda_write(out, "weighted_sum<%s, %s, %s, %s, %s>", element, weight, skip, truth(part->op == NDR_NORM2),
                   truth(part->op == NDR_MEAN));
}

/* The types of the parts, part0 and following, and all of them together. */
static void write_parts(ndr_cuda_text *out, const ndr_program *program, const ndr_cuda_writing *how) {
  for (int k = 0; k < program->part_count; k++) {
    const ndr_part *part = &program->parts[k];
    ndr_dtype dtype = program->nodes[part->value].dtype;
    ndr_cuda_write(out, "  typedef ");
    if (part->weight >= 0) {
      write_weighted(out, program, part);
    } else {
      ndr_cuda_write(out, part->mask >= 0 ? "masked<" : "part<");
      write_op(out, part->op, dtype, how->accumulate_f64, part->skip_nan && ndr_dtype_is_float(dtype));
      ndr_cuda_write(out, ">");
    }
    ndr_cuda_write(out, " part%d;\n", k);
  }
  ndr_cuda_write(out, "  typedef ");
  for (int k = 0; k + 1 < program->part_count; k++) ndr_cuda_write(out, "parts<part%d, ", k);
  ndr_cuda_write(out, "part%d", program->part_count - 1);
  for (int k = 0; k + 1 < program->part_count; k++) ndr_cuda_write(out, ">");
  ndr_cuda_write(out, " all;\n");
}

/* The name of what belongs to part k in a batch or state of all parts. */
static void write_path(ndr_cuda_text *out, const ndr_program *program, int k) {
  for (int i = 0; i < k; i++) ndr_cuda_write(out, ".b");
  if (k + 1 < program->part_count) ndr_cuda_write(out, ".a");
}

static void write_batch_member(ndr_cuda_text *out, const ndr_program *program, int k, const char *member) {
  ndr_cuda_write(out, "      b");
  write_path(out, program, k);
  ndr_cuda_write(out, ".%s[i] = ", member);
}

/* ---- programs ---- */

/* Whether a function takes many registers: in f32 exp and log are a dozen instructions. */
static bool is_heavy(const ndr_program *program) {
  for (int i = 0; i < program->node_count; i++) {
    ndr_node_kind kind = program->nodes[i].kind;
    bool short_in_f32 = kind == NDR_NODE_EXP || kind == NDR_NODE_LOG;
    bool transcendental = (kind >= NDR_NODE_EXP && kind <= NDR_NODE_COS) || kind == NDR_NODE_POWER;
    if (transcendental && !(short_in_f32 && program->nodes[i].dtype == NDR_F32)) return true;
  }
  return false;
}

static void write_compute(ndr_cuda_text *out, const ndr_program *program, const ndr_cuda_writing *how) {
  bool needed[NDR_MOST_NODES] = {false};
  for (int k = 0; k < program->part_count; k++) ndr_program_mark_part(program, k, needed);
  ndr_program_mark_needed(program, needed);
  ndr_cuda_write(out,
                 "  template <int N>\n"
                 "  static NDR_DEVICE void compute(typename all::template batch<N> &b, const value (&x)[N], "
                 "const %s &p) {\n"
                 "    const double *parameters = parameters_of(p);\n"
                 "    const float *narrow = narrow_parameters_of(p);\n"
                 "    (void)parameters, (void)narrow, (void)x;\n"
                 "#pragma unroll\n"
                 "    for (int i = 0; i < N; i++) {\n",
                 how->params);
  ndr_cuda_write_nodes(out, program, NDR_CUDA_OF_ELEMENTS, &how->names, needed);
  for (int k = 0; k < program->part_count; k++) {
    const ndr_part *part = &program->parts[k];
    bool extreme = part->op == NDR_MIN || part->op == NDR_MAX || part->op == NDR_PTP; /* see hide_negation */
    write_batch_member(out, program, k, "values");
    ndr_cuda_write(out, "%s(conversion<part%d::value>::of(n%d));\n", extreme ? "machine::hide_negation" : "", k,
                   part->value);
    if (part->mask >= 0 || part->weight >= 0) {
      write_batch_member(out, program, k, "mask");
      if (part->mask >= 0)
        ndr_cuda_write(out, "n%d;\n", part->mask);
      else
        ndr_cuda_write(out, "true;\n");
    }
    if (part->weight < 0) continue;
    write_batch_member(out, program, k, "weight");
    ndr_cuda_write(out, "conversion<%s>::of(n%d);\n", weight_type(program, part), part->weight);
  }
  ndr_cuda_write(out, "    }\n  }\n");
}

/* The result of a state is computed in a function of its own, unless it is to be inlined: it is called from many
 * places.
 */
static void write_finish(ndr_cuda_text *out, const ndr_program *program, const ndr_cuda_writing *how) {
  bool needed[NDR_MOST_NODES] = {false};
  const char *type = ndr_cuda_value_type(NDR_CUDA_OF_TOTALS, program->result_dtype);
  ndr_cuda_write(out, "  typedef %s result;\n", ndr_cuda_storage(program->result_dtype));
  ndr_cuda_write(out, "  %s %s finish(all::State s, double ddof, const double *parameters) {\n",
                 how->inlined ? "static NDR_DEVICE" : "NDR_CALLED", type);
  if (program->result < 0) {
    ndr_cuda_write(out, "    (void)parameters;\n    return conversion<%s>::of(part0::finish(s", type);
    write_path(out, program, 0);
    ndr_cuda_write(out, ", ddof));\n  }\n");
    return;
  }
  needed[program->result] = true;
  ndr_program_mark_needed(program, needed);
  ndr_cuda_write(out, "    (void)s, (void)ddof, (void)parameters;\n");
  for (int k = 0; k < program->part_count; k++) {
    bool used = false;
    for (int i = 0; i < program->node_count; i++)
      used = used || (needed[i] && program->nodes[i].kind == NDR_NODE_TOTAL && program->nodes[i].a == k);
    if (!used) continue;
    ndr_cuda_write(out, "    const auto total%d = part%d::finish(s", k, k);
    write_path(out, program, k);
    ndr_cuda_write(out, ", ddof);\n");
  }
  ndr_cuda_write_nodes(out, program, NDR_CUDA_OF_TOTALS, &how->names, needed);
  ndr_cuda_write(out, "    return conversion<%s>::of(n%d);\n  }\n", type, program->result);
}

void ndr_cuda_write_program(ndr_cuda_text *out, const ndr_program *program, const ndr_cuda_writing *how,
                            const char *element, const char *value) {
  ndr_cuda_write(out, "struct %s {\n  typedef %s element;\n  typedef %s value;\n", how->prefix, element, value);
  ndr_cuda_write(out, "  static const bool heavy = %s;\n", truth(is_heavy(program)));
  write_parts(out, program, how);
  write_compute(out, program, how);
  write_finish(out, program, how);
  ndr_cuda_write(out, "};\n");
}

/* ---- several arrays ---- */

void ndr_cuda_write_arrays(ndr_cuda_text *out, const ndr_dtype *dtypes, int count, int places) {
  ndr_cuda_write(out, "typedef array_list<");
  for (int k = 0; k < count; k++) ndr_cuda_write(out, "%s%s", k ? ", " : "", ndr_cuda_storage(dtypes[k]));
  ndr_cuda_write(out, "> own_arrays;\nstruct own_value {\n  static const int places = %d;\n", places);
  for (int k = 0; k < count; k++)
    ndr_cuda_write(out, "  %s array%d;\n", ndr_cuda_value_type(NDR_CUDA_OF_ELEMENTS, dtypes[k]), k);
  for (int k = 0; k < places; k++) ndr_cuda_write(out, "  i64 place%d;\n", k);
  ndr_cuda_write(out, "  template <int K, class E> NDR_DEVICE void set(const E &e) {\n    (void)e;\n");
  for (int k = 0; k < count; k++)
    ndr_cuda_write(out, "    if constexpr (K == %d) array%d = value_of<%s>(e);\n", k, k,
                   ndr_cuda_value_type(NDR_CUDA_OF_ELEMENTS, dtypes[k]));
  ndr_cuda_write(out, "  }\n  template <int K> NDR_DEVICE void set_place(i64 index) {\n    (void)index;\n");
  for (int k = 0; k < places; k++) ndr_cuda_write(out, "    if constexpr (K == %d) place%d = index;\n", k, k);
  ndr_cuda_write(out, "  }\n};\n");
}

/* ---- kernels ---- */

/* Writes the types of those operators that are programs, named own0 and following. */
static void write_programs(ndr_cuda_text *out, const ndr_cuda_operators *operators) {
  const ndr_canonical *problem = operators->problem;
  bool several = ndr_operands_needed(problem);
  int parameters = 0, all = 0;
  char prefix[16], value[64];
  if (several) {
    ndr_dtype dtypes[NDR_MOST_ARRAYS] = {problem->dtype};
    memcpy(dtypes + 1, problem->operand_dtypes, (size_t)problem->operand_count * sizeof *dtypes);
    ndr_cuda_write_arrays(out, dtypes, 1 + problem->operand_count, problem->place_count);
  }
  for (int i = 0; i < operators->count; i++) {
    const ndr_program *program = problem->programs[operators->first + i];
    all += program ? program->parameter_count : 0;
  }
  for (int i = 0; i < operators->count; i++) {
    int number = operators->first + i;
    ndr_program wrapped;
    ndr_op op;
    const ndr_program *program = problem->programs[number];
    bool builtin = ndr_launch_builtin(problem, number, &op);
    size_t length = 0, value_length = 0;
    ndr_text_append(prefix, sizeof prefix, &length, "own%d", i);
    ndr_text_append(value, sizeof value, &value_length, several ? "own_value" : "traits<%s, %s>::value",
                    ndr_cuda_storage(problem->dtype), truth(problem->accumulate_f64));
    ndr_cuda_writing how = {prefix, "ndr_params", problem->accumulate_f64, false, {several, parameters, all}};
    if (several && !program) {
      ndr_program_built_in(&wrapped, problem->ops[number], problem->dtype, problem->skip_nan);
      program = &wrapped;
    }
    if (several || !builtin) ndr_cuda_write_program(out, program, &how, ndr_cuda_storage(problem->dtype), value);
    if (program) parameters += program->parameter_count;
  }
}

static void write_operator(ndr_cuda_text *out, const ndr_cuda_operators *operators, int i) {
  const ndr_canonical *problem = operators->problem;
  ndr_op op;
  if (ndr_launch_builtin(problem, operators->first + i, &op) && !ndr_operands_needed(problem))
    write_op(out, op, problem->dtype, problem->accumulate_f64, problem->skip_nan);
  else
    ndr_cuda_write(out, "program<own%d>", i);
}

/* Whether any operator's type is one of program.cuh. */
static bool has_program(const ndr_cuda_operators *operators) {
  bool has = ndr_operands_needed(operators->problem);
  ndr_op op;
  for (int i = 0; i < operators->count; i++)
    has = has || !ndr_launch_builtin(operators->problem, operators->first + i, &op);
  return has;
}

/* The kernel itself, and the bound on its registers. */
static void write_kernel(ndr_cuda_text *out, const ndr_cuda_operators *operators, const ndr_cuda_template *kernel) {
  const char *name = templates[kernel->kind].name, *row = templates[kernel->kind].row;
  char arguments[96] = "operators";
  size_t length = strlen(arguments);
  bool several = ndr_operands_needed(operators->problem), takes_program = ndr_cuda_takes_program(operators);
  if (several)
    ndr_text_append(arguments, sizeof arguments, &length, ", own_arrays, %d, %d, 0x%xu", kernel->elements,
                    kernel->steps, kernel->ways);
  ndr_cuda_write(out, "NDR_KERNEL NDR_BOUNDS(NDR_BLOCK, ");
  if (several)
    ndr_cuda_write(out, "%d)\n", kernel->blocks);
  else
    ndr_cuda_write(out, "(compiled_residency<NDR_KERNEL_%s, %s>::blocks(NDR_BLOCKS_%s)))\n", row, arguments, row);
  ndr_cuda_write(out, "ndr_%s(const __grid_constant__ %s p) {\n  machine::begin();\n  %s<%s>(%s);\n}\n",
                 takes_program ? "program" : "compiled", takes_program ? "ndr_program_params" : "ndr_params", name,
                 arguments, takes_program && !several ? "p.base" : "p");
}

size_t ndr_cuda_generate(const ndr_cuda_operators *operators, const ndr_cuda_template *kernel, char *text,
                         size_t capacity) {
  ndr_cuda_text out = {text, capacity, 0};
  int count = operators->count;
  ndr_cuda_write(&out, "#define NDR_FACTS 0x%xu\n#include \"%s.cuh\"\n#include \"%s.cuh\"\n", kernel->facts,
                 templates[kernel->kind].file, has_program(operators) ? "program" : "fused");
  write_programs(&out, operators);
  ndr_cuda_write(&out, "typedef ");
  for (int i = 0; i + 1 < count; i++) {
    ndr_cuda_write(&out, "fused<");
    write_operator(&out, operators, i);
    ndr_cuda_write(&out, ", ");
  }
  write_operator(&out, operators, count - 1);
  for (int i = 0; i + 1 < count; i++) ndr_cuda_write(&out, ">");
  ndr_cuda_write(&out, " operators;\n");
  write_kernel(&out, operators, kernel);
  return out.length;
}

size_t ndr_cuda_generate_finish(const ndr_program *program, char *text, size_t capacity) {
  ndr_cuda_text out = {text, capacity, 0};
  ndr_cuda_writing how = {"own", "ndr_params", false, false, {false, 0, 0}};
  ndr_cuda_write(&out, "#include \"program.cuh\"\nstruct own {\n");
  write_parts(&out, program, &how);
  write_finish(&out, program, &how);
  ndr_cuda_write(&out, "};\n"
                       "NDR_KERNEL NDR_BOUNDS(NDR_BLOCK, 4)\n"
                       "ndr_program_states(const __grid_constant__ ndr_program_states_params p) {\n"
                       "  machine::begin();\n  finish_states<own>(p);\n}\n");
  return out.length;
}
