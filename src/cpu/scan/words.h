/* Which loops scan a problem, and what they begin with. */
#ifndef NDR_CPU_SCAN_WORDS_H
#define NDR_CPU_SCAN_WORDS_H

#include "cpu/scan/loops.h"
#include "scan/plan.h"

typedef struct ndr_scan_words {
  int64_t bytes, from_bytes, to_bytes; /* of a word, of an element, of a result */
  ndr_scan_load *load;
  ndr_scan_clean *clean;          /* NULL: nothing is replaced */
  ndr_scan_store *store, *stream; /* stream: for results that no cache holds, and are not in place; may be `store` */
  void (*fence)(void);
  ndr_scan_loops loops;
  const ndr_scan_isa *pairs; /* NULL: words are not pairs */
  bool skip_nan;
  bool sequential; /* elements are combined one after the other, from what stands before the line: no runs */
  /* What replaces NaN; the result before a line's first element; and what stands before the first run, which changes no
   * bit of what it is combined with, unless there is an initial value. */
  _Alignas(16) unsigned char nothing[16], first[16], before[16];
  bool fresh; /* `before` changes nothing */
} ndr_scan_words;

/* NULL where the loops can scan the problem, else why not. */
const char *ndr_scan_words_reject(const ndr_scan_problem *problem);
void ndr_scan_words_make(const ndr_scan_problem *problem, ndr_scan_words *words);

/* Loads `count` elements, at most NDR_SCAN_RUN, as words. */
void ndr_scan_words_load(const ndr_scan_words *words, const char *from, int64_t stride, void *to, int64_t count);

/* Stores words as results; pairs are lost. `streams`: past the caches. */
void ndr_scan_words_store(const ndr_scan_words *words, bool streams, void *from, char *to, int64_t stride,
                          int64_t count);

#endif
