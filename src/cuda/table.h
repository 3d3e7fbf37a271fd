/* The tables of groups in device memory. */
#ifndef NDR_CUDA_TABLE_H
#define NDR_CUDA_TABLE_H

#include "core/plan.h"

/* As ndr_backend.make_table and free_table. */
ndr_status ndr_cuda_make_table(const ndr_plan *plan, void **memory);
void ndr_cuda_free_table(int id, void *memory);

#endif
