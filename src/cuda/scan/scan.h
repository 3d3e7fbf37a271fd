/* Scans on a GPU. */
#ifndef NDR_CUDA_SCAN_H
#define NDR_CUDA_SCAN_H

#include "scan/plan.h"

extern const struct ndr_scan_calls ndr_cuda_scans;

#endif
