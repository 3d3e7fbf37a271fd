/* A box of elements copied from one strided place to another, unpacked on the way. Pure. */
#ifndef NDR_H5_READ_GATHER_H
#define NDR_H5_READ_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "h5/read/unpack/unpack.h"

typedef struct ndr_gather_axis {
  int64_t size, from, to; /* elements, and bytes from one to the next */
} ndr_gather_axis;

/* Axes, the outermost first; sizes are not 0. No axis means one element. */
typedef struct ndr_gather {
  int count;
  ndr_gather_axis axes[NDR_MAX_DIMS];
} ndr_gather;

/* Adds an axis inside those that are there, as part of the last one where both places allow it. */
void ndr_gather_add(ndr_gather *gather, int64_t size, int64_t from, int64_t to);

/* Whether the elements, of from_bytes and to_bytes, lie without gaps and in the same order at both places. */
bool ndr_gather_is_run(const ndr_gather *gather, int64_t from_bytes, int64_t to_bytes);

int64_t ndr_gather_elements(const ndr_gather *gather);

/* Bytes from the first element's first to the last one's last at the place copied from. */
int64_t ndr_gather_span(const ndr_gather *gather, int64_t from_bytes);

/* Writes one element, of `bytes` bytes, to every place copied to. */
void ndr_gather_fill(const ndr_gather *gather, size_t bytes, const void *element, void *to);

void ndr_gather_run(const ndr_gather *gather, const ndr_unpack *unpack, const void *from, void *to);

#endif
