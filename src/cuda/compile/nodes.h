/* The nodes of programs as text of CUDA C++. */
#ifndef NDR_CUDA_NODES_H
#define NDR_CUDA_NODES_H

#include "lang/program.h"
#include "spec/params.h"

/* A text that is written. */
typedef struct ndr_cuda_text {
  char *text;
  size_t capacity, length;
} ndr_cuda_text;

#define ndr_cuda_write(out, ...) ndr_text_append((out)->text, (out)->capacity, &(out)->length, __VA_ARGS__)

/* Where nodes are computed: of elements, or of totals, whose types are 64 bits wide. */
typedef enum ndr_cuda_place { NDR_CUDA_OF_ELEMENTS, NDR_CUDA_OF_TOTALS } ndr_cuda_place;

/* How the text names what nodes read. */
typedef struct ndr_cuda_names {
  bool several;       /* the value of a place is a struct with a member for each array and place index; else a number */
  int parameters;     /* numbers of other programs before those of this one */
  int all_parameters; /* of all programs */
} ndr_cuda_names;

/* Whether parameter `number` of `count` comes as f32, too (ndr_param_numbers). */
static inline bool ndr_cuda_is_narrow(int number, int count) {
  return number < NDR_PARAM_NARROW && count <= NDR_PARAM_NUMBERS - NDR_PARAM_NARROW / 2;
}

/* The type of a value of the dtype. */
const char *ndr_cuda_value_type(ndr_cuda_place place, ndr_dtype dtype);

/* Writes the statements `const TYPE nNUMBER = ...;` of the nodes that are needed. */
void ndr_cuda_write_nodes(ndr_cuda_text *out, const ndr_program *program, ndr_cuda_place place,
                          const ndr_cuda_names *names, const bool needed[NDR_MOST_NODES]);

#endif
