/* Sets of numbers of 0 or more, as spans of consecutive ones: what an accumulator covers. */
#ifndef NDR_CORE_SPANS_H
#define NDR_CORE_SPANS_H

#include <stdbool.h>

#include "core/status.h"

/* first to end - 1, at least one number. */
typedef struct ndr_span {
  int64_t first, end;
} ndr_span;

/* Ascending, with numbers between each two that are in neither. {0, NULL} is empty; free spans with free(). */
typedef struct ndr_spans {
  size_t count;
  ndr_span *spans;
} ndr_spans;

/* Makes the set of the numbers of both. Fails with NDR_ERR_ARGUMENT, and names some of them, if numbers are in both;
 * then, and where memory is short, nothing is made. */
ndr_status ndr_spans_join(const ndr_spans *one, const ndr_spans *other, ndr_spans *joined);

/* Puts a joined set in the place of `set` if the status is NDR_OK, else frees it. Returns the status. */
ndr_status ndr_spans_take(ndr_spans *set, const ndr_spans *joined, ndr_status status);

/* Whether a number is in the set. Sets *end to the next one of which that is not so, INT64_MAX where there is none. */
bool ndr_spans_have(const ndr_spans *set, int64_t number, int64_t *end);

#endif
