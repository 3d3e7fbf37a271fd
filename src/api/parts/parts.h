/* Parts: what of a request one plan can run. Without groups that is the request itself; with groups, each piece of the
 * labels is a part. */
#ifndef NDR_API_PARTS_H
#define NDR_API_PARTS_H

#include "api/simple.h"
#include "api/states.h"

/* Immutable; may be executed by any number of threads. */
typedef struct ndr_parts ndr_parts;

/* Plans all parts of a request. Its programs and groups are held. Free with ndr_parts_drop. */
ndr_status ndr_parts_make(ndr_parts **made, const ndr_request *request, DLDevice device, const void *const *data,
                          const ndr_options *options);
ndr_parts *ndr_parts_hold(ndr_parts *parts);
void ndr_parts_drop(ndr_parts *parts);

/* Whether the parts take little enough memory to be kept for the process; NULL does. */
bool ndr_parts_are_few(const ndr_parts *parts);

/* Bytes that ndr_parts_add needs, for the states of one part, and that ndr_parts_execute needs; 256-byte aligned. */
ndr_status ndr_parts_scratch(const ndr_parts *parts, size_t *bytes);
ndr_status ndr_parts_workspace(const ndr_parts *parts, size_t *bytes);

/* Reduces all parts and merges their partial states into those of `whole`, states[i], whose outputs are `outputs` and
 * of which the request of the parts is a slab (ndr_request.offset). Plans take their workspace from `workspace`; NULL:
 * they borrow it. */
ndr_status ndr_parts_add(const ndr_parts *parts, const void *const *data, const ndr_request *whole,
                         uint64_t *const *states, int64_t outputs, void *scratch, void *workspace, void *stream);

/* Reduces all parts and writes the results. `workspace` is the caller's; NULL: memory is allocated. */
ndr_status ndr_parts_execute(const ndr_parts *parts, const void *const *data, void *const *results, void *workspace,
                             void *stream);

/* Appends a line on the parts, and the description of the largest one's plan, as snprintf. */
void ndr_parts_describe(const ndr_parts *parts, char *text, size_t capacity, size_t *length);

#endif
