/* What an accumulator covers, in the caller's numbers. */
#include "api/accumulator.h"

ndr_status ndr_accumulator_cover(ndr_accumulator *a, int64_t first, int64_t count) {
  ndr_spans joined;
  if (!a) return ndr_fail(NDR_ERR_ARGUMENT, "accumulator is a null pointer");
  if (first < 0 || count < 0)
    return ndr_fail(NDR_ERR_ARGUMENT, "%lld numbers from %lld on: neither may be negative", (long long)count,
                    (long long)first);
  if (count > INT64_MAX - first)
    return ndr_fail(NDR_ERR_ARGUMENT, "%lld numbers from %lld on: they must be below 2^63 - 1", (long long)count,
                    (long long)first);
  ndr_span span = {first, first + count};
  NDR_TRY(ndr_spans_join(&a->covered, &(ndr_spans){count > 0, &span}, &joined));
  return ndr_spans_take(&a->covered, &joined, NDR_OK);
}

int ndr_accumulator_covered(const ndr_accumulator *a, int64_t number, int64_t *end) {
  int64_t unused;
  return ndr_spans_have(a ? &a->covered : &(ndr_spans){0, NULL}, number, end ? end : &unused);
}
