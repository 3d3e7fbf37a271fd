/* Which loops scan a problem, and what they begin with. */
#ifndef NDR_CPU_SCAN_WORDS_H
#define NDR_CPU_SCAN_WORDS_H

#include "cpu/scan/loops.h"
#include "scan/plan.h"

typedef struct ndr_scan_words {
  int64_t bytes, from_bytes, to_bytes; /* of a word, of an element, of a result */
  ndr_scan_load *load;
  ndr_scan_clean *clean; /* NULL: nothing is replaced */
  ndr_scan_store *store; /* makes results of words */
  ndr_scan_store *move;  /* copies results to where they belong */
  ndr_scan_transpose *transpose_elements, *transpose_words, *transpose_results;
  void (*stream)(const void *from, void *to, int64_t bytes); /* NULL: results may stay in a cache */
  void (*fence)(void);
  ndr_scan_loops loops;
  const ndr_scan_isa *pairs; /* NULL: words are not pairs */
  bool skip_nan;
  bool elements_are_words, words_are_results; /* bit by bit */
  bool sequential; /* elements are combined one after the other, from what stands before the line: no runs */
  _Alignas(16) unsigned char nothing[16]; /* changes no bit of what it is combined with; replaces NaN */
  _Alignas(16) unsigned char first[16];   /* its result is that before a line's first element */
  _Alignas(16) unsigned char before[16];  /* stands before the first run: `nothing`, unless there is an initial value */
} ndr_scan_words;

/* NULL where the loops can scan the problem, else why not. */
const char *ndr_scan_words_reject(const ndr_scan_problem *problem);
/* Whether combining two words takes a cycle, and the order changes no bit. */
bool ndr_scan_words_sums_integers(const ndr_scan_problem *problem);

/* Whether eight lanes are combined as vectors: not pairs, nor products of floats, whose order is kept. */
bool ndr_scan_words_fill_vectors(const ndr_scan_problem *problem);
void ndr_scan_words_make(const ndr_scan_problem *problem, ndr_scan_words *words);

/* Writes a word `count` times. */
void ndr_scan_words_fill(const ndr_scan_words *words, const unsigned char *word, char *to, int64_t count);

/* Loads `count` elements as words. */
void ndr_scan_words_load(const ndr_scan_words *words, const char *from, int64_t stride, void *to, int64_t count);

/* Returns the results of words, one after the other: at `to`, or at `from` if words are results. Changes pairs. */
const char *ndr_scan_words_finish(const ndr_scan_words *words, void *from, char *to, int64_t count);

/* Moves results to where they belong; past the caches if `streams` and they are large. */
void ndr_scan_words_move(const ndr_scan_words *words, bool streams, const char *from, char *to, int64_t stride,
                         int64_t count);

/* Writes the result before a line's first element. */
void ndr_scan_words_first(const ndr_scan_words *words, char *to);

#endif
