#include "h5/slabs.h"

#include "core/status.h"

/* A slab that, with those that are read meanwhile, stays in the last-level cache between being read and being reduced,
 * large enough that the price of a call is lost in it. */
#define SLAB_AIM ((int64_t)4 << 20)

/* On the way to a GPU a slab takes 0.3 ms, next to which the calls that send and reduce it are small. */
#define FAR_SLAB_AIM ((int64_t)16 << 20)

/* States beyond the second-level cache are loaded and stored once a slab; with fewer outputs a block, more slabs deep.
 */
#define STATES_AIM ((int64_t)1 << 20)

/* A GPU merges states a hundred times as fast as slabs arrive; what a block costs is the wait for its results. */
#define FAR_STATES_AIM ((int64_t)64 << 20)

/* A GPU has two slabs as they are reduced, in a half of what it may take, beside those as they are stored. */
#define REDUCED_SHARE 4

/* HDF5 keeps about 1 KiB for each chunk that a read selects. */
#define CHUNKS_AIM 4096

/* Sizes are not negative, so what overflows is larger than any limit. */
static int64_t times(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

static int64_t plus(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static int64_t parts(int64_t size, int64_t part) {
  return size / part + (size % part != 0);
}

/* From where the first unit begins to the end of the array. */
static int64_t reach(const ndr_slabs *slabs, int d) {
  return plus(slabs->shape[d], slabs->lead[d]);
}

int64_t ndr_slabs_elements(const ndr_slabs *slabs) {
  int64_t count = 1;
  for (int d = 0; d < slabs->ndim; d++) count = times(count, slabs->extent[d]);
  return count;
}

int64_t ndr_slabs_outputs(const ndr_slabs *slabs) {
  int64_t count = 1;
  for (int d = 0; d < slabs->ndim; d++)
    if (!slabs->reduced[d]) count = times(count, slabs->extent[d]);
  return count;
}

static int64_t chunks(const ndr_slabs *slabs) {
  int64_t count = 1;
  for (int d = 0; d < slabs->ndim; d++) count = times(count, parts(slabs->extent[d], slabs->unit[d]));
  return count;
}

/* The most elements along a dim that the chunks have that a slab touches. A run of n elements touches
 * (n - 2) / chunk + 2 chunks at most, wherever it begins. */
static int64_t held_along(const ndr_slabs *slabs, int d) {
  int64_t chunk = slabs->chunk[d], extent = slabs->extent[d], before = slabs->from[d] % chunk;
  bool aligned = (slabs->from[d] - slabs->lead[d]) % chunk == 0 && extent % chunk == 0;
  if (extent == 0) return 0;
  int64_t all = parts(plus(before, slabs->shape[d]), chunk);
  int64_t some = aligned ? extent / chunk : plus(extent, chunk - 2) / chunk + 1;
  return times(smaller(all, some), chunk);
}

int64_t ndr_slabs_held(const ndr_slabs *slabs) {
  int64_t count = 1;
  if (!slabs->whole) return ndr_slabs_elements(slabs);
  for (int d = 0; d < slabs->ndim; d++) count = times(count, held_along(slabs, d));
  return count;
}

static int64_t slab_bytes(const ndr_slabs *slabs) {
  return times(ndr_slabs_held(slabs), slabs->element_bytes);
}

static int64_t reduced_bytes(const ndr_slabs *slabs) {
  return times(ndr_slabs_elements(slabs), slabs->reduced_bytes);
}

static int64_t state_bytes(const ndr_slabs *slabs) {
  return times(ndr_slabs_outputs(slabs), slabs->output_bytes);
}

int64_t ndr_slabs_bytes(const ndr_slabs *slabs) {
  return plus(plus(times(slab_bytes(slabs), slabs->slots), state_bytes(slabs)), slabs->scratch_bytes);
}

int64_t ndr_slabs_count(const ndr_slabs *slabs) {
  int64_t count = 1;
  for (int d = 0; d < slabs->ndim; d++)
    count = times(count, slabs->shape[d] ? parts(reach(slabs, d), slabs->extent[d]) : 0);
  return count;
}

typedef enum { ALL, KEPT, REDUCED } which;

/* Shortens dims, the outermost first, until measure is at most limit: what is left is one long run of storage. Each dim
 * is cut to equal shares, a whole number of units long. */
static void shorten(ndr_slabs *slabs, which dims, int64_t (*measure)(const ndr_slabs *), int64_t limit) {
  for (int d = 0; d < slabs->ndim; d++) {
    int64_t all = parts(slabs->extent[d], slabs->unit[d]), low = 1, high = all;
    if (all < 2 || dims == (slabs->reduced[d] ? KEPT : REDUCED) || measure(slabs) <= limit) continue;
    while (low < high) {
      int64_t middle = low + (high - low + 1) / 2;
      slabs->extent[d] = times(middle, slabs->unit[d]);
      if (measure(slabs) <= limit)
        low = middle;
      else
        high = middle - 1;
    }
    slabs->extent[d] = times(parts(all, parts(all, low)), slabs->unit[d]);
    if (slabs->extent[d] > reach(slabs, d)) slabs->extent[d] = reach(slabs, d);
  }
}

static ndr_status choose(ndr_slabs *slabs, int64_t budget, bool leads) {
  if (ndr_slabs_elements(slabs) == 0) return NDR_OK;
  int64_t states_aim = slabs->far ? FAR_STATES_AIM : STATES_AIM, slab_aim = slabs->far ? FAR_SLAB_AIM : SLAB_AIM;
  if (leads) shorten(slabs, KEPT, state_bytes, smaller(states_aim, budget / 4));
  shorten(slabs, leads ? ALL : REDUCED, slab_bytes, smaller(slab_aim, budget / 2 / slabs->slots));
  if (slabs->reduced_bytes > slabs->element_bytes)
    shorten(slabs, leads ? ALL : REDUCED, reduced_bytes, budget / REDUCED_SHARE);
  if (slabs->chunked) shorten(slabs, leads ? ALL : REDUCED, chunks, CHUNKS_AIM);
  shorten(slabs, leads ? ALL : REDUCED, ndr_slabs_bytes, budget);
  if (ndr_slabs_bytes(slabs) <= budget) return NDR_OK;
  return ndr_fail(NDR_ERR_MEMORY, "one chunk at a time takes %lld bytes, more than the %lld that buffers may take",
                  (long long)ndr_slabs_bytes(slabs), (long long)budget);
}

ndr_status ndr_slabs_choose(ndr_slabs *slabs, int64_t budget) {
  for (int d = 0; d < slabs->ndim; d++) slabs->extent[d] = reach(slabs, d);
  return choose(slabs, budget, true);
}

ndr_status ndr_slabs_follow(ndr_slabs *slabs, const ndr_slabs *leader, int64_t budget) {
  for (int d = 0; d < slabs->ndim; d++) {
    bool kept = !slabs->reduced[d];
    if (kept) slabs->lead[d] = leader->lead[d];
    slabs->extent[d] = kept ? leader->extent[d] : reach(slabs, d);
  }
  return choose(slabs, budget, false);
}

bool ndr_slabs_next(const ndr_slabs *slabs, bool reduced, int64_t *start) {
  for (int d = slabs->ndim - 1; d >= 0; d--) {
    if (slabs->reduced[d] != reduced) continue;
    start[d] += slabs->extent[d];
    if (start[d] < reach(slabs, d)) return true;
    start[d] = 0;
  }
  return false;
}

void ndr_slabs_box(const ndr_slabs *slabs, const int64_t *start, int64_t *begin, int64_t *size) {
  for (int d = 0; d < slabs->ndim; d++) {
    int64_t from = start[d] > slabs->lead[d] ? start[d] : slabs->lead[d];
    begin[d] = from - slabs->lead[d];
    size[d] = smaller(slabs->extent[d], reach(slabs, d) - start[d]) - (from - start[d]);
  }
}
