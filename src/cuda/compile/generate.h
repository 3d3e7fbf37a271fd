/* The text of kernels that are compiled at run time: the operators of a launch as types of kernels/ops.cuh, program.cuh
 * and fused.cuh, and one kernel of them. */
#ifndef NDR_CUDA_GENERATE_H
#define NDR_CUDA_GENERATE_H

#include "core/plan.h"
#include "cuda/compile/nodes.h"
#include "spec/kernels.h"

/* The operators of a launch: `count` of the problem's, from number `first` on. */
typedef struct ndr_cuda_operators {
  const ndr_canonical *problem;
  int first, count;
} ndr_cuda_operators;

/* Whether a kernel of these operators takes ndr_program_params and is called ndr_program; otherwise it takes ndr_params
 * and is called ndr_compiled. */
bool ndr_cuda_takes_program(const ndr_cuda_operators *operators);

/* A kernel, what is known of its launch (NDR_FACT_... in params.h), and how one of several arrays reads them: its
 * template arguments (kernels/program/operands.cuh). */
typedef struct ndr_cuda_template {
  ndr_kernel kind;
  unsigned facts;
  int elements, steps;
  int blocks; /* that a multiprocessor is to run at a time */
  unsigned ways;
} ndr_cuda_template;

/* Writes the text of a kernel of these operators; at most capacity bytes with the final 0. Returns the length
 * of the whole text, as snprintf does. */
size_t ndr_cuda_generate(const ndr_cuda_operators *operators, const ndr_cuda_template *kernel, char *text,
                         size_t capacity);

/* ---- what the text of scans has, too ---- */

/* How a program is written. */
typedef struct ndr_cuda_writing {
  const char *prefix; /* the name of its type */
  const char *params; /* the type of the kernel's argument, for which there is a parameters_of() */
  bool accumulate_f64;
  bool inlined; /* its result is computed where it is needed, not by a function that is called */
  ndr_cuda_names names;
} ndr_cuda_writing;

/* The type of elements of the dtype in memory. */
const char *ndr_cuda_storage(ndr_dtype dtype);

/* Writes the type of a program. `element` is the type in memory, `value` what a place's elements become. */
void ndr_cuda_write_program(ndr_cuda_text *out, const ndr_program *program, const ndr_cuda_writing *how,
                            const char *element, const char *value);

/* Writes own_arrays, the types of arrays in memory, and own_value, what the elements of a place become. Members that no
 * operator reads are dropped by the compiler. */
void ndr_cuda_write_arrays(ndr_cuda_text *out, const ndr_dtype *dtypes, int count, int places);

/* ---- states ---- */

/* The same of the kernel ndr_program_states, which finishes states of a program; it takes ndr_program_states_params.
 * States do not depend on how they were accumulated. */
size_t ndr_cuda_generate_finish(const ndr_program *program, char *text, size_t capacity);

#endif
