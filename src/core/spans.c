/* See spans.h. */
#include "core/spans.h"

#include <stdlib.h>

/* Adds a span that begins no earlier than those before it. */
static ndr_status append(ndr_spans *joined, ndr_span span) {
  ndr_span *last = joined->count > 0 ? &joined->spans[joined->count - 1] : NULL;
  if (last && span.first < last->end) {
    int64_t end = span.end < last->end ? span.end : last->end;
    return ndr_fail(NDR_ERR_ARGUMENT, "numbers %lld to %lld are covered already", (long long)span.first,
                    (long long)end - 1);
  }
  if (last && span.first == last->end)
    last->end = span.end;
  else
    joined->spans[joined->count++] = span;
  return NDR_OK;
}

ndr_status ndr_spans_join(const ndr_spans *one, const ndr_spans *other, ndr_spans *joined) {
  size_t most = one->count + other->count, i = 0, j = 0;
  ndr_status status = NDR_OK;
  *joined = (ndr_spans){0, NULL};
  if (most == 0) return NDR_OK;
  joined->spans = malloc(most * sizeof *joined->spans);
  if (!joined->spans) return ndr_fail(NDR_ERR_MEMORY, "out of memory for %zu spans of numbers", most);
  while (status == NDR_OK && i + j < most) {
    bool ahead = j == other->count || (i < one->count && one->spans[i].first < other->spans[j].first);
    status = append(joined, ahead ? one->spans[i++] : other->spans[j++]);
  }
  if (status == NDR_OK) return NDR_OK;
  free(joined->spans);
  *joined = (ndr_spans){0, NULL};
  return status;
}

ndr_status ndr_spans_take(ndr_spans *set, const ndr_spans *joined, ndr_status status) {
  free(status == NDR_OK ? set->spans : joined->spans);
  if (status == NDR_OK) *set = *joined;
  return status;
}

bool ndr_spans_have(const ndr_spans *set, int64_t number, int64_t *end) {
  size_t low = 0, high = set->count; /* the first span that ends behind the number */
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (set->spans[middle].end <= number)
      low = middle + 1;
    else
      high = middle;
  }
  const ndr_span *next = low < set->count ? &set->spans[low] : NULL;
  bool inside = next && next->first <= number;
  *end = inside ? next->end : next ? next->first : INT64_MAX;
  return inside;
}
