/* The machine-dependent half of scans: loops over words, the elements of an array in the type that is scanned.
 *
 * A word is named by a dtype: f64 for sums and products of floats, c128 of complex ones, u64 of integers, whose low
 * bits are right whatever the sign; for min and max the dtype itself, but f32 for f16 and bf16; u8 for truth. logsumexp
 * has pairs (maximum, sum of exp(x - maximum)), which are stored as c128.
 *
 * Words lie one after the other. All instruction sets give the same bits. */
#ifndef NDR_CPU_SCAN_LOOPS_H
#define NDR_CPU_SCAN_LOOPS_H

#include "core/state.h"

/* A run is scanned from its beginning, element by element; what stands before it is added afterwards. Association, and
 * so the bits of results, follow from this number alone. */
#define NDR_SCAN_RUN 256

typedef enum ndr_scan_rule {
  NDR_SCAN_SUM,
  NDR_SCAN_PROD,
  NDR_SCAN_MIN, /* NaN wins */
  NDR_SCAN_MAX,
  NDR_SCAN_MIN_NUMBER, /* NaN loses */
  NDR_SCAN_MAX_NUMBER,
  NDR_SCAN_PAIRS, /* logsumexp */
  NDR_SCAN_RULES
} ndr_scan_rule;

typedef enum ndr_scan_truth { NDR_SCAN_NAN_TRUE, NDR_SCAN_NAN_FALSE, NDR_SCAN_TRUTHS } ndr_scan_truth;

/* Loads elements that lie `stride` apart as words. */
typedef void ndr_scan_load(const void *from, int64_t stride, void *words, int64_t count);
/* Stores words to elements that lie `stride` apart. */
typedef void ndr_scan_store(const void *words, void *to, int64_t stride, int64_t count);
/* out[i] = a[i] op b[i] */
typedef void ndr_scan_merge(const void *a, const void *b, void *out, int64_t count);
/* sums[l] = sums[l] op words[l] op words[lanes + l] op ...: each lane's sum goes on over `rows` rows of words. */
typedef void ndr_scan_fold(const void *words, int64_t rows, int64_t lanes, void *sums);
/* words[l] = before[l] op words[l], for each row. */
typedef void ndr_scan_join(void *words, int64_t rows, int64_t lanes, const void *before);
/* As ndr_scan_fold, and each word becomes the sum up to it, or if `exclusive` up to the one before it, behind what
 * stands before the lane: before[l] op sums[l]. before may be NULL. */
typedef void ndr_scan_rows(void *words, int64_t rows, int64_t lanes, void *sums, const void *before, bool exclusive);
/* to[row * to_apart + l] = from[l * from_apart + row] for `tiles` times eight rows and l < 8; from one tile to the next
 * are from_step and to_step elements. The bytes `ahead` of what is read are loaded into the cache, unless it is 0. */
typedef void ndr_scan_turn(const void *from, int64_t from_apart, int64_t from_step, void *to, int64_t to_apart,
                           int64_t to_step, int64_t tiles, int64_t ahead);
/* Replaces words that are NaN. */
typedef void ndr_scan_clean(void *words, const void *nothing, int64_t count);

typedef struct ndr_scan_loops {
  ndr_scan_merge *merge;
  ndr_scan_fold *fold;
  ndr_scan_join *join;
  ndr_scan_rows *scan;
  /* The same of eight lanes, with `period` in the place of `lanes`: rows belong to that many sets of lanes in turns,
   * each with its own sums and what stands before. NULL for products of complex numbers and pairs. */
  ndr_scan_fold *fold8;
  ndr_scan_join *join8;
  ndr_scan_rows *scan8;
} ndr_scan_loops;

typedef struct ndr_scan_isa {
  ndr_scan_load *load[NDR_DTYPE_COUNT][NDR_DTYPE_COUNT];   /* [from][word] */
  ndr_scan_load *truth[NDR_SCAN_TRUTHS][NDR_DTYPE_COUNT];  /* of u8 words */
  ndr_scan_store *store[NDR_DTYPE_COUNT][NDR_DTYPE_COUNT]; /* [word][to] */
  /* By the size of elements, 1, 2, 4, 8 and 16 bytes: loads and stores that change no bit. */
  ndr_scan_load *load_word[5];
  ndr_scan_store *move[5];
  ndr_scan_turn *turn[5];
  /* Copies bytes to elements past the caches, of which the lines are not read before they are written. The thread calls
   * `fence` before another one may read what it stored. */
  void (*stream)(const void *from, void *to, int64_t bytes);
  void (*fence)(void);
  ndr_scan_loops loops[NDR_DTYPE_COUNT][NDR_SCAN_RULES]; /* [word] */
  ndr_scan_clean *clean[NDR_DTYPE_COUNT];                /* of f64 and c128 words */
  /* The `count` f64 behind the room for as many become pairs; pairs become f64 at its beginning. */
  void (*make_pairs)(void *words, bool skip_nan, int64_t count);
  void (*finish_pairs)(void *words, int64_t count);
} ndr_scan_isa;

/* NULL if the build does not compile for the instruction set. */
extern const ndr_scan_isa *const ndr_scan_isa_baseline, *const ndr_scan_isa_avx2, *const ndr_scan_isa_avx512;

/* That of ndr_isa_here(). */
const ndr_scan_isa *ndr_scan_isa_here(void);

#endif
