/* The arrays beside the array of a call. */
#ifndef NDR_API_OPERANDS_H
#define NDR_API_OPERANDS_H

#include "api/backends.h"

/* In the order of the problem's operands: where, weights, with. */
typedef struct ndr_operands {
  int count;
  ndr_role roles[NDR_MAX_OPERANDS];
  const DLTensor *tensors[NDR_MAX_OPERANDS];
} ndr_operands;

/* Collects those of options that have been read. Fails if there are too many. */
ndr_status ndr_operands_of(const ndr_options *options, ndr_operands *operands);

/* Checks that the operands are where the array is. */
ndr_status ndr_operands_check_devices(const ndr_operands *operands, DLDevice array_device);

/* Sets data[k + 1] to the address of element 0 of operand k. */
ndr_status ndr_operands_addresses(const ndr_operands *operands, const void **data);

#endif
