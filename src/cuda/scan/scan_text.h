/* The text of the kernel of a scan. */
#ifndef NDR_CUDA_SCAN_TEXT_H
#define NDR_CUDA_SCAN_TEXT_H

#include "gpuplan/scan/scan.h"

/* Writes the text of the kernel ndr_scan of a plan, which takes ndr_scan_params; as ndr_cuda_generate. */
size_t ndr_cuda_generate_scan(const ndr_scan_plan *plan, char *text, size_t capacity);

#endif
