#include "support/h5_stored.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cases.h"
#include "support/element.h"

void h5_random_bytes(unsigned char *bytes, size_t count, rng *random) {
  for (size_t i = 0; i < count; i++) bytes[i] = (unsigned char)rng_next(random);
}

/* A number that is among the elements, so that masks have something to find. */
static ndr_packed pick(ndr_dtype dtype, const unsigned char *elements, int64_t count, rng *random) {
  ndr_packed packed = {0};
  element value = element_load(dtype, elements + rng_between(random, 0, count - 1) * (int64_t)ndr_dtype_bytes(dtype));
  if (!is_integer(dtype))
    packed.f = isnan(value.re) ? 0 : (double)value.re;
  else if (is_signed(dtype))
    packed.i = (int64_t)value.re;
  else
    packed.u = (uint64_t)value.re;
  return packed;
}

ndr_unpack h5_random_unpack(ndr_dtype from, const unsigned char *elements, int64_t count, rng *random) {
  ndr_unpack u = NDR_UNPACK_INIT(from);
  u.swap = rng_once_in(random, 2);
  if (from == NDR_BOOL || is_complex(from)) return u;
  u.scaled = rng_once_in(random, 2);
  u.masked = rng_once_in(random, 2);
  if (u.scaled) {
    u.scale = rng_unit(random) * 4 - 2;
    u.offset = rng_unit(random) * 1e6;
  }
  if (u.masked) {
    u.missing_count = rng_once_in(random, 4) ? NDR_UNPACK_MISSING : (int)rng_between(random, 0, 3);
    for (int m = 0; m < u.missing_count; m++) u.missing[m] = pick(from, elements, count, random);
    u.ranged = rng_once_in(random, 2);
    u.least = pick(from, elements, count, random);
    u.most = pick(from, elements, count, random);
  }
  if (u.scaled || (u.masked && (is_integer(from) || rng_once_in(random, 4)))) u.to = NDR_F64;
  return u;
}

/* ---- Stored forms ----------------------------------------------------------------------------------------------- */

static void choose_shape(ndr_stored *stored, int64_t most, rng *random) {
  int64_t left = most;
  stored->ndim = (int)rng_between(random, 0, 4);
  for (int d = 0; d < stored->ndim; d++) {
    int64_t size = rng_between(random, 1, rng_once_in(random, 3) ? left : left < 12 ? left : 12);
    bool whole = rng_once_in(random, 3);
    stored->chunk[d] = whole ? size : rng_between(random, 1, size);
    stored->lead[d] = whole || rng_once_in(random, 2) ? 0 : rng_between(random, 0, stored->chunk[d] - 1);
    stored->shape[d] = size - stored->lead[d];
    left /= size;
  }
}

/* Chunks along a dim. */
static int64_t chunks_of(const ndr_stored *stored, int d) {
  return (stored->lead[d] + stored->shape[d] - 1) / stored->chunk[d] + 1;
}

/* Element `number` of the array, native, to where the definition has it. */
static void store(const h5_stored *made, int64_t number, const unsigned char *native) {
  const ndr_stored *stored = &made->stored;
  int64_t chunk = 0, within = 0, chunk_elements = 1, chunks = 1, bytes = (int64_t)ndr_dtype_bytes(stored->dtype);
  int64_t part = is_complex(stored->dtype) ? bytes / 2 : bytes;
  for (int d = stored->ndim - 1; d >= 0; d--) {
    int64_t along = number % stored->shape[d] + stored->lead[d];
    number /= stored->shape[d];
    chunk += along / stored->chunk[d] * chunks;
    within += along % stored->chunk[d] * chunk_elements;
    chunks *= chunks_of(stored, d);
    chunk_elements *= stored->chunk[d];
  }
  for (int64_t b = 0; b < bytes; b++) {
    int64_t as = stored->swapped ? b / part * part + part - 1 - b % part : b;
    int64_t at = stored->shuffled ? as * chunk_elements + within : within * bytes + as;
    made->data[chunk * chunk_elements * bytes + at] = native[b];
  }
}

static void give_meaning(ndr_stored *stored, const ndr_unpack *u) {
  stored->result = u->to;
  stored->scaled = u->scaled;
  stored->scale = u->scale;
  stored->offset = u->offset;
  stored->missing_count = u->missing_count;
  memcpy(stored->missing, u->missing, sizeof stored->missing);
  stored->ranged = u->ranged;
  stored->least = u->least;
  stored->most = u->most;
}

void h5_stored_fill(h5_stored *made, rng *random) {
  ndr_dtype dtype = made->stored.dtype;
  int64_t count = 1, held = 1, bytes = (int64_t)ndr_dtype_bytes(dtype);
  for (int d = 0; d < made->stored.ndim; d++) {
    count *= made->stored.shape[d];
    held *= chunks_of(&made->stored, d) * made->stored.chunk[d];
  }
  unsigned char *native = calloc((size_t)count, (size_t)bytes);
  h5_random_bytes(native, (size_t)(count * bytes), random);
  ndr_unpack unpack = h5_random_unpack(dtype, native, count, random);
  made->stored.swapped = unpack.swap;
  give_meaning(&made->stored, &unpack);
  unpack.swap = false;
  made->bytes = (size_t)(held * bytes);
  made->data = malloc(made->bytes);
  h5_random_bytes(made->data, made->bytes, random);
  for (int64_t i = 0; i < count; i++) store(made, i, native + i * bytes);
  made->result_bytes = (size_t)count * ndr_dtype_bytes(unpack.to);
  made->expected = malloc(made->result_bytes);
  ndr_unpack_run(&unpack, native, 1, made->expected, count);
  free(native);
}

void h5_stored_make(h5_stored *made, ndr_dtype dtype, int64_t most, rng *random) {
  *made = (h5_stored){.stored = NDR_STORED_INIT(dtype)};
  choose_shape(&made->stored, most, random);
  made->stored.shuffled = rng_once_in(random, 2);
  h5_stored_fill(made, random);
}

void h5_stored_free(h5_stored *made) {
  free(made->data);
  free(made->expected);
}

const char *h5_stored_text(const h5_stored *made) {
  static char text[512];
  const ndr_stored *s = &made->stored;
  int used = snprintf(text, sizeof text, "%s to %s, swapped %d, planes %d, scaled %d, %d missing, ranged %d",
                      ndr_dtype_name(s->dtype), ndr_dtype_name(s->result), s->swapped, s->shuffled, s->scaled,
                      s->missing_count, s->ranged);
  for (int d = 0; d < s->ndim; d++)
    used += snprintf(text + used, sizeof text - (size_t)used, ", %lld from %lld in %lld", (long long)s->shape[d],
                     (long long)s->lead[d], (long long)s->chunk[d]);
  return text;
}
