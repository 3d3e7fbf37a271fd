/* The text of the kernels of selections. */
#ifndef NDR_CUDA_SELECT_TEXT_H
#define NDR_CUDA_SELECT_TEXT_H

#include "gpuplan/scan/select.h"

/* Writes the text of the kernel ndr_select of a launch, which takes ndr_select_params; as ndr_cuda_generate. */
size_t ndr_cuda_generate_select(const ndr_select_launch *launch, char *text, size_t capacity);

#endif
