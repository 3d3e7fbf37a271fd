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
/* As ndr_scan_fold, and each word becomes before[l] op the lane's sum: with this word, or if `exclusive` without it.
 * With before NULL it becomes the sum alone. */
typedef void ndr_scan_rows(void *words, int64_t rows, int64_t lanes, void *sums, const void *before, bool exclusive);
/* Transposes `tiles` tiles of eight by eight elements: to[row * to_pitch + l] = from[l * from_pitch + row]. The next
 * tile is from_step elements further on in `from`, and to_step in `to`. One of the pitches must be 8. Unless `ahead` is
 * 0, the cache lines that many bytes ahead of what is read are loaded into the cache. */
typedef void ndr_scan_transpose(const void *from, int64_t from_pitch, int64_t from_step, void *to, int64_t to_pitch,
                                int64_t to_step, int64_t tiles, int64_t ahead);
/* Replaces words that are NaN. */
typedef void ndr_scan_clean(void *words, const void *nothing, int64_t count);

typedef struct ndr_scan_loops {
  ndr_scan_merge *merge;
  ndr_scan_fold *fold;
  ndr_scan_join *join;
  ndr_scan_rows *scan;
  /* The same for sets of eight lanes, with `period`, the number of sets, in the place of `lanes`: row r belongs to set
   * r % period. Each set has eight sums of its own, and eight words before them. NULL for products of complex numbers
   * and for pairs. */
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
  ndr_scan_transpose *transpose[5];
  /* Copies bytes past the caches, so that cache lines are not read before they are written. The thread calls `fence`
   * before another one may read what it stored. */
  void (*stream)(const void *from, void *to, int64_t bytes);
  void (*fence)(void);
  ndr_scan_loops loops[NDR_DTYPE_COUNT][NDR_SCAN_RULES]; /* [word] */
  ndr_scan_clean *clean[NDR_DTYPE_COUNT];                /* of f64 and c128 words */
  /* Makes `count` pairs of as many f64, which lie in the second half of the pairs' memory. */
  void (*make_pairs)(void *words, bool skip_nan, int64_t count);
  /* Makes `count` f64, the results, of as many pairs, at the beginning of the pairs' memory. */
  void (*finish_pairs)(void *words, int64_t count);
} ndr_scan_isa;

/* NULL if the build does not compile for the instruction set. */
extern const ndr_scan_isa *const ndr_scan_isa_baseline, *const ndr_scan_isa_avx2, *const ndr_scan_isa_avx512;

/* The loops for the instruction set that ndr_isa_here() names. */
const ndr_scan_isa *ndr_scan_isa_here(void);

#endif
