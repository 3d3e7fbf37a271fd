/* The kernels of kernels.def as numbers, for C, nvcc and run-time compilation. */
#ifndef NDR_SPEC_KERNELS_H
#define NDR_SPEC_KERNELS_H

#include "kernels.def"

/* NDR_KERNEL_TREE_BLOCK, ...: first the kernels that plans name, then the others that are built ahead of time, then
 * those of several arrays. NDR_KERNEL_BEFORE_OTHERS gives the first of the others the number NDR_PLAN_KERNELS, so that
 * no number is unused; likewise NDR_KERNEL_BEFORE_OPERANDS. */
#define NDR_KERNEL_ENUMERATOR(NAME, ...) NDR_KERNEL_##NAME,
typedef enum ndr_kernel {
  NDR_KERNEL_ROWS(NDR_KERNEL_ENUMERATOR, ) NDR_PLAN_KERNELS,
  NDR_KERNEL_BEFORE_OTHERS = NDR_PLAN_KERNELS - 1,
  NDR_OTHER_KERNEL_ROWS(NDR_KERNEL_ENUMERATOR, ) NDR_KERNEL_COUNT,
  NDR_KERNEL_BEFORE_OPERANDS = NDR_KERNEL_COUNT - 1,
  NDR_OPERAND_KERNEL_ROWS(NDR_KERNEL_ENUMERATOR, ) NDR_ALL_KERNELS
} ndr_kernel;
#undef NDR_KERNEL_ENUMERATOR

/* NDR_BLOCKS_TREE_BLOCK and NDR_LOADS_TREE_BLOCK, ...: the columns `blocks` and `batch`. */
#define NDR_KERNEL_NUMBERS(NAME, name, family, file, loads, blocks, batch, ...)                                        \
  NDR_BLOCKS_##NAME = blocks, NDR_LOADS_##NAME = batch,
enum { NDR_KERNEL_ROWS(NDR_KERNEL_NUMBERS, ) NDR_OPERAND_KERNEL_ROWS(NDR_KERNEL_NUMBERS, ) };
#undef NDR_KERNEL_NUMBERS

#endif
