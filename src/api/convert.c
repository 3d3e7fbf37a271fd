/* Checks descriptions of stored elements. The backend converts them. */
#include "api/backends.h"
#include "core/sized.h"

static ndr_status check_types(const ndr_stored *stored) {
  if ((unsigned)stored->dtype >= NDR_DTYPE_COUNT || (unsigned)stored->result >= NDR_DTYPE_COUNT)
    return ndr_fail(NDR_ERR_DTYPE, "dtype %d or %d is not known", (int)stored->dtype, (int)stored->result);
  ndr_class class = ndr_dtype_class(stored->dtype);
  bool number = class != NDR_CLASS_BOOL && class != NDR_CLASS_COMPLEX, widens = stored->result == NDR_F64;
  bool marks = stored->missing_count > 0 || stored->ranged;
  if (stored->result != stored->dtype && !(number && widens))
    return ndr_fail(NDR_ERR_DTYPE, "%s is not converted to %s", ndr_dtype_name(stored->dtype),
                    ndr_dtype_name(stored->result));
  if (stored->scaled && !(number && widens))
    return ndr_fail(NDR_ERR_DTYPE, "%s is not scaled to %s", ndr_dtype_name(stored->dtype),
                    ndr_dtype_name(stored->result));
  if (marks && !(number && (widens || class == NDR_CLASS_FLOAT)))
    return ndr_fail(NDR_ERR_DTYPE, "missing %s has no NaN to become", ndr_dtype_name(stored->dtype));
  return NDR_OK;
}

/* Whether stored elements lie as in a compact array. Such an array may have any length. */
static bool is_linear(const ndr_stored *stored) {
  bool linear = !stored->shuffled;
  for (int d = 0; d < stored->ndim; d++)
    linear = linear && stored->lead[d] == 0 && stored->chunk[d] == stored->shape[d];
  return linear;
}

static bool is_empty(const ndr_stored *stored) {
  for (int d = 0; d < stored->ndim; d++)
    if (stored->shape[d] == 0) return true;
  return false;
}

/* Checks that kernels can count the elements of all chunks. */
static ndr_status check_count(const ndr_stored *stored) {
  int64_t most = is_linear(stored) ? INT64_MAX / 16 : INT32_MAX, held = 1;
  for (int d = 0; d < stored->ndim; d++) {
    int64_t chunk = stored->chunk[d], reach, all;
    bool fits = !__builtin_add_overflow(stored->lead[d], stored->shape[d], &reach) &&
                !__builtin_mul_overflow(reach / chunk + (reach % chunk != 0), chunk, &all) &&
                !__builtin_mul_overflow(held, all, &held) && held <= most;
    if (!fits) return ndr_fail(NDR_ERR_UNSUPPORTED, "chunks of 2^31 elements or more are not converted at once");
  }
  return NDR_OK;
}

static ndr_status check(const ndr_stored *stored) {
  if (stored->ndim < 0 || stored->ndim > NDR_MAX_DIMS)
    return ndr_fail(NDR_ERR_ARGUMENT, "stored.ndim is %d", stored->ndim);
  if (stored->missing_count < 0 || stored->missing_count > NDR_STORED_MISSING)
    return ndr_fail(NDR_ERR_ARGUMENT, "stored.missing_count is %d", stored->missing_count);
  for (int d = 0; d < stored->ndim; d++)
    if (stored->shape[d] < 0 || stored->chunk[d] < 1 || stored->lead[d] < 0 || stored->lead[d] >= stored->chunk[d])
      return ndr_fail(NDR_ERR_ARGUMENT, "dim %d: %lld elements from %lld on cannot be stored in chunks of %lld", d,
                      (long long)stored->shape[d], (long long)stored->lead[d], (long long)stored->chunk[d]);
  return check_types(stored);
}

ndr_status ndr_convert_stored(DLDevice device, const ndr_stored *given, const void *from, void *to, void *stream) {
  const ndr_backend *backend;
  ndr_stored stored;
  if (!given) return ndr_fail(NDR_ERR_ARGUMENT, "stored is a null pointer");
  NDR_TRY(ndr_sized_read(given, &stored, sizeof stored, "stored", "NDR_STORED_INIT"));
  NDR_TRY(check(&stored));
  NDR_TRY(ndr_backend_find(device.device_type, &backend));
  if (!backend->calls) return ndr_fail(NDR_ERR_UNSUPPORTED, "only GPUs convert stored elements");
  if (is_empty(&stored)) return NDR_OK;
  NDR_TRY(check_count(&stored));
  if (!from || !to) return ndr_fail(NDR_ERR_ARGUMENT, "converting needs two places");
  if ((uintptr_t)from % ndr_dtype_alignment(stored.dtype) || (uintptr_t)to % ndr_dtype_alignment(stored.result))
    return ndr_fail(NDR_ERR_ARGUMENT, "an address is not a multiple of its dtype's alignment");
  return backend->calls->convert(device.device_id, &stored, from, to, stream);
}
