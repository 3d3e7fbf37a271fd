/* Eight lanes side by side: their elements, which lie one after the other in each lane, become rows of eight words, and
 * rows of words become results in lanes. */
#ifndef NDR_CPU_SCAN_OCTET_H
#define NDR_CPU_SCAN_OCTET_H

#include "cpu/scan/words.h"

/* Rows at a time, at most: their words stay in the first-level cache. */
#define NDR_SCAN_CHUNK 128

#define NDR_SCAN_WORD_BYTES 16 /* of the largest word */

/* Elements, words or results of eight lanes. */
typedef struct ndr_scan_octet {
  _Alignas(64) char lanes[8 * NDR_SCAN_CHUNK * NDR_SCAN_WORD_BYTES];
} ndr_scan_octet;

/* How many rows to handle at a time: the most whose words stay in the first-level cache, and a multiple of 8, as tiles
 * are, and of `period`, which is 16 at most. */
int64_t ndr_scan_octet_rows(const ndr_scan_words *words, int64_t period);

/* Whether ndr_scan_octet_load loads such words; if not, they are loaded lane by lane. */
bool ndr_scan_octet_loads(const ndr_scan_words *words);

/* Loads `rows` rows. The elements of a lane lie one after the other, and lanes begin `pitch` elements from each other.
 * Rows are rounded up to a multiple of eight: up to seven elements behind those of each lane are read. `ahead`: see
 * ndr_scan_transpose. */
void ndr_scan_octet_load(const ndr_scan_words *words, ndr_scan_octet *octet, const char *from, int64_t pitch,
                         int64_t rows, int64_t ahead, char *to);

/* Where to put the words of a lane that ndr_scan_octet_transpose is to make rows of. */
char *ndr_scan_octet_lane(const ndr_scan_words *words, ndr_scan_octet *octet, int64_t lane);
void ndr_scan_octet_transpose(const ndr_scan_words *words, ndr_scan_octet *octet, int64_t rows, char *to);

/* See ndr_scan_loops. */
void ndr_scan_octet_fold(const ndr_scan_words *words, const char *rows_of_words, int64_t rows, int64_t period,
                         void *sums);
void ndr_scan_octet_join(const ndr_scan_words *words, char *rows_of_words, int64_t rows, int64_t period,
                         const void *before);
void ndr_scan_octet_scan(const ndr_scan_words *words, char *rows_of_words, int64_t rows, int64_t period, void *sums,
                         const void *before, bool exclusive);

/* Stores the results of the rows in lanes that begin `pitch` results from each other. Up to seven results behind those
 * of each lane are written. Changes the words. */
void ndr_scan_octet_store(const ndr_scan_words *words, ndr_scan_octet *octet, char *rows_of_words, int64_t rows,
                          char *to, int64_t pitch);

#endif
