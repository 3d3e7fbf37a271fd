/* See octet.h. */
#include "cpu/scan/octet.h"

int64_t ndr_scan_octet_rows(const ndr_scan_words *words, int64_t period) {
  int64_t step = period % 8 == 0 ? period : period % 4 == 0 ? 2 * period : period % 2 == 0 ? 4 * period : 8 * period;
  int64_t most = words->bytes > 8 ? NDR_SCAN_CHUNK / 2 : NDR_SCAN_CHUNK;
  return most / step * step;
}

bool ndr_scan_octet_loads(const ndr_scan_words *words) {
  return !words->pairs;
}

static int64_t tiles_of(int64_t rows) {
  return (rows + 7) / 8;
}

void ndr_scan_octet_load(const ndr_scan_words *words, ndr_scan_octet *octet, const char *from, int64_t pitch,
                         int64_t rows, int64_t ahead, char *to) {
  int64_t tiles = tiles_of(rows);
  words->transpose_elements(from, pitch, 8, words->elements_are_words ? to : octet->lanes, 8, 64, tiles, ahead);
  if (!words->elements_are_words) ndr_scan_words_load(words, octet->lanes, 1, to, 64 * tiles);
}

char *ndr_scan_octet_lane(const ndr_scan_words *words, ndr_scan_octet *octet, int64_t lane) {
  return octet->lanes + lane * NDR_SCAN_CHUNK * words->bytes;
}

void ndr_scan_octet_transpose(const ndr_scan_words *words, ndr_scan_octet *octet, int64_t rows, char *to) {
  words->transpose_words(octet->lanes, NDR_SCAN_CHUNK, 8, to, 8, 64, tiles_of(rows), 0);
}

void ndr_scan_octet_fold(const ndr_scan_words *words, const char *rows_of_words, int64_t rows, int64_t period,
                         void *sums) {
  if (words->loops.fold8)
    words->loops.fold8(rows_of_words, rows, period, sums);
  else
    words->loops.fold(rows_of_words, rows, 8, sums);
}

void ndr_scan_octet_join(const ndr_scan_words *words, char *rows_of_words, int64_t rows, int64_t period,
                         const void *before) {
  if (words->loops.join8)
    words->loops.join8(rows_of_words, rows, period, before);
  else
    words->loops.join(rows_of_words, rows, 8, before);
}

void ndr_scan_octet_scan(const ndr_scan_words *words, char *rows_of_words, int64_t rows, int64_t period, void *sums,
                         const void *before, bool exclusive) {
  if (words->loops.scan8)
    words->loops.scan8(rows_of_words, rows, period, sums, before, exclusive);
  else
    words->loops.scan(rows_of_words, rows, 8, sums, before, exclusive);
}

void ndr_scan_octet_store(const ndr_scan_words *words, ndr_scan_octet *octet, char *rows_of_words, int64_t rows,
                          char *to, int64_t pitch) {
  const char *results = ndr_scan_words_finish(words, rows_of_words, octet->lanes, 8 * rows);
  words->transpose_results(results, 8, 64, to, pitch, 8, tiles_of(rows), 0);
}
