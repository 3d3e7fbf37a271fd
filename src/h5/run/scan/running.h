/* What a scan of a dataset computes, and how elements become running values. ndr_scan combines words: f64 for floats,
 * else 64-bit integers. What stands before a slab is carried as a word, too, unrounded. */
#ifndef NDR_H5_RUN_RUNNING_H
#define NDR_H5_RUN_RUNNING_H

#include <stdbool.h>
#include <stdint.h>

#include "ndreduce/h5.h"

typedef struct ndr_running {
  ndr_op op;
  int dim;
  bool exclusive, reverse;
  ndr_dtype from, word, to;               /* of elements, of words, of results */
  bool skip;                              /* NaN elements change nothing */
  bool marks;                             /* results before the first element that counts are NaN */
  _Alignas(16) unsigned char nothing[16]; /* the word of no elements */
} ndr_running;

/* Sets the dtypes, the word of no elements, and `marks`. left_out: elements may be missing, or left out by a mask. */
void ndr_running_settle(ndr_running *running, ndr_dtype from, ndr_dtype to, bool left_out);

/* Makes words of `count` compact elements. Elements that do not count become the word of none: NaN under `skip`, and
 * those for which keep[], where it is not NULL, is 0. valid[], where it is not NULL, receives whether each counts. */
void ndr_running_load(const ndr_running *running, const void *from, int64_t count, const uint8_t *keep, void *words,
                      uint8_t *valid);

/* Replaces `count` words by their results, compact, from the first word on. */
void ndr_running_store(const ndr_running *running, void *words, int64_t count);

/* Makes a word NaN. */
void ndr_running_mark(const ndr_running *running, void *words, int64_t i);

#endif
