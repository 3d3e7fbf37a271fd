/* See scan_text.h. Every operator of a scan is a program, a built-in one, too: of values that know an element of each
 * array. All accumulate in f64. */
#include "cuda/scan/scan_text.h"

#include <string.h>

#include "core/text.h"
#include "cuda/compile/generate.h"

/* Results of more nodes are computed by a function. */
enum { FEW_NODES = 6 };

static bool is_short(const ndr_program *program) {
  bool needed[NDR_MOST_NODES] = {false};
  int count = 0;
  if (program->result < 0) return true;
  needed[program->result] = true;
  ndr_program_mark_needed(program, needed);
  for (int i = 0; i < program->node_count; i++) count += needed[i];
  return count <= FEW_NODES;
}

/* Also the name of the file that it is in. */
static const char *kernel_of(const ndr_scan_launch *launch) {
  if (launch->keepers) return "scan_streams";
  if (launch->units) return "scan_bands";
  if (launch->known & NDR_SCAN_SHIFTED) return "scan_shifted";
  return launch->columns ? "scan_columns" : "scan_lines";
}

/* Calls the kernel for what is known of the launch: its template's arguments are elements, then of columns, units and
 * block those that it has, then `known`. */
static void write_call(ndr_cuda_text *out, const ndr_scan_launch *launch) {
  const bool has_block = !launch->columns || launch->keepers || (launch->known & NDR_SCAN_SHIFTED);
  ndr_cuda_write(out, "  %s<own_operator, own_elements, %d", kernel_of(launch), launch->elements);
  if (launch->columns) ndr_cuda_write(out, ", %d", launch->columns);
  if (launch->units) ndr_cuda_write(out, ", %d", launch->units);
  if (has_block) ndr_cuda_write(out, ", %d", launch->block);
  ndr_cuda_write(out, ", 0x%xu>(p);\n", launch->known);
}

size_t ndr_cuda_generate_scan(const ndr_scan_plan *plan, char *text, size_t capacity) {
  const ndr_scan_problem *problem = &plan->problem;
  const ndr_program *program = problem->program;
  const ndr_scan_launch *launch = ndr_scan_plan_launch(plan);
  ndr_cuda_text out = {text, capacity, 0};
  ndr_cuda_writing how = {"own", "ndr_scan_params", true, is_short(program), {true, 0, program->parameter_count}};
  ndr_dtype dtypes[NDR_MOST_ARRAYS] = {problem->dtype};
  memcpy(dtypes + 1, problem->operand_dtypes, (size_t)problem->operand_count * sizeof *dtypes);
  ndr_cuda_write(&out, "#include \"%s.cuh\"\n", kernel_of(launch));
  ndr_cuda_write_arrays(&out, dtypes, 1 + problem->operand_count, problem->place_count);
  ndr_cuda_write_program(&out, program, &how, ndr_cuda_storage(problem->dtype), "own_value");
  if (launch->beside > 1)
    ndr_cuda_write(&out,
                   "typedef scan_beside<scan_operator<own>, %d> own_operator;\n"
                   "typedef scan_packs<own_arrays, %d>::type own_elements;\n",
                   launch->beside, launch->beside);
  else
    ndr_cuda_write(&out, "typedef scan_operator<own> own_operator;\ntypedef own_arrays own_elements;\n");
  ndr_cuda_write(&out, "NDR_KERNEL NDR_BOUNDS(%d, %d)\n", launch->threads, launch->residents);
  ndr_cuda_write(&out, "ndr_scan(const __grid_constant__ ndr_scan_params p) {\n  machine::begin();\n");
  write_call(&out, launch);
  ndr_cuda_write(&out, "}\n");
  return out.length;
}
