/* Chooses the loops of a scan by its operator, dtype and the instruction set of this machine. */
#include "cpu/scan/words.h"

#include <math.h>
#include <string.h>

#include "cpu/fold/fold.h"

/* Results of this size are in no cache when they are read again. */
#define STREAM_BYTES 16e6

const ndr_scan_isa *ndr_scan_isa_here(void) {
  const ndr_isa *isa = ndr_isa_here();
  if (isa == ndr_isa_avx512) return ndr_scan_isa_avx512;
  return isa == ndr_isa_avx2 ? ndr_scan_isa_avx2 : ndr_scan_isa_baseline;
}

static int log2_of(int64_t bytes) {
  return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : bytes == 8 ? 3 : 4;
}

static bool is_truth(const ndr_scan_problem *problem) {
  return problem->op == NDR_ANY || problem->op == NDR_ALL;
}

static bool is_smallest(ndr_op op) {
  return op == NDR_MIN || op == NDR_ALL;
}

static ndr_dtype word_of(const ndr_scan_problem *problem) {
  ndr_dtype dtype = problem->dtype;
  if (problem->op == NDR_LOGSUMEXP) return NDR_C128;
  if (problem->op == NDR_SUM || problem->op == NDR_PROD)
    return ndr_dtype_is_integer(dtype) ? NDR_U64 : ndr_dtype_widest(dtype);
  if (is_truth(problem) || dtype == NDR_BOOL) return NDR_U8;
  return dtype == NDR_F16 || dtype == NDR_BF16 ? NDR_F32 : dtype;
}

static ndr_scan_rule rule_of(const ndr_scan_problem *problem) {
  bool number = problem->skip_nan && ndr_dtype_is_float(problem->dtype) && !is_truth(problem);
  switch (problem->op) {
  case NDR_SUM: return NDR_SCAN_SUM;
  case NDR_PROD: return NDR_SCAN_PROD;
  case NDR_LOGSUMEXP: return NDR_SCAN_PAIRS;
  default: break;
  }
  if (is_smallest(problem->op)) return number ? NDR_SCAN_MIN_NUMBER : NDR_SCAN_MIN;
  return number ? NDR_SCAN_MAX_NUMBER : NDR_SCAN_MAX;
}

/* ---- values ---- */

/* Writes a value as a word. That the result's dtype can hold it has been checked. */
static void put_value(const ndr_scan_problem *problem, ndr_dtype word, double value, unsigned char *to) {
  ndr_dtype result = problem->result_dtype;
  if (result == NDR_F16) value = (double)ndr_f16_to_float(ndr_f16_from_double(value));
  if (result == NDR_BF16) value = (double)ndr_bf16_to_float(ndr_bf16_from_double(value));
  uint64_t bits = result == NDR_U64 ? (uint64_t)value : ndr_dtype_is_integer(result) ? (uint64_t)(int64_t)value : 0;
  switch (word) {
  case NDR_C128: memcpy(to, &(ndr_c128){value, 0}, sizeof(ndr_c128)); break;
  case NDR_F64: memcpy(to, &value, sizeof value); break;
  case NDR_F32: memcpy(to, &(float){(float)value}, sizeof(float)); break;
  default: memcpy(to, &bits, ndr_dtype_bytes(word)); break; /* little-endian: the low bytes */
  }
}

/* The largest integer of a dtype, or the smallest. */
static uint64_t limit(ndr_dtype dtype, bool largest) {
  int bits = dtype == NDR_BOOL ? 1 : 8 * (int)ndr_dtype_bytes(dtype);
  uint64_t ones = UINT64_MAX >> (64 - bits);
  if (!ndr_dtype_is_signed(dtype)) return largest ? ones : 0;
  return largest ? ones >> 1 : (ones >> 1) + 1;
}

static void put_extreme(const ndr_scan_problem *problem, ndr_dtype word, unsigned char *to) {
  bool smallest = is_smallest(problem->op);
  double value = problem->skip_nan ? (double)NAN : smallest ? (double)INFINITY : -(double)INFINITY;
  if (ndr_dtype_is_integer(word))
    memcpy(to, &(uint64_t){limit(is_truth(problem) ? NDR_BOOL : problem->dtype, smallest)}, ndr_dtype_bytes(word));
  else
    put_value(problem, word, value, to);
}

/* -0 changes no bit of a sum; but the sum of no elements, which an exclusive scan shows, is 0. */
static void put_beginnings(const ndr_scan_problem *problem, ndr_dtype word, ndr_scan_words *words) {
  double sum = ndr_dtype_is_integer(problem->dtype) ? 0 : -0.0;
  bool skips = problem->skip_nan && ndr_dtype_is_float(problem->dtype);
  switch (problem->op) {
  case NDR_SUM:
    put_value(problem, word, 0, words->first);
    if (word == NDR_C128)
      memcpy(words->before, &(ndr_c128){sum, sum}, sizeof(ndr_c128));
    else
      put_value(problem, word, sum, words->before);
    break;
  case NDR_PROD: put_value(problem, word, 1, words->before); break;
  case NDR_LOGSUMEXP: put_value(problem, word, -(double)INFINITY, words->before); break;
  default: put_extreme(problem, word, words->before); break;
  }
  if (problem->op != NDR_SUM) memcpy(words->first, words->before, sizeof words->first);
  memcpy(words->nothing, words->before, sizeof words->nothing);
  if (!problem->has_initial || (skips && isnan(problem->initial))) return;
  put_value(problem, word, problem->initial, words->before);
  memcpy(words->first, words->before, sizeof words->first);
}

/* ---- the whole ---- */

const char *ndr_scan_words_reject(const ndr_scan_problem *problem) {
  return ndr_op_is_own(problem->op) ? "it has the built-in operators only" : NULL;
}

bool ndr_scan_words_sums_integers(const ndr_scan_problem *problem) {
  return problem->op == NDR_SUM && word_of(problem) == NDR_U64;
}

static bool is_sequential(const ndr_scan_problem *problem) {
  return problem->op == NDR_PROD && ndr_dtype_is_float(problem->dtype);
}

bool ndr_scan_words_fill_vectors(const ndr_scan_problem *problem) {
  return problem->op != NDR_LOGSUMEXP && !is_sequential(problem);
}

void ndr_scan_words_make(const ndr_scan_problem *problem, ndr_scan_words *words) {
  const ndr_scan_isa *isa = ndr_scan_isa_here();
  ndr_dtype word = word_of(problem);
  bool pairs = problem->op == NDR_LOGSUMEXP, floats = ndr_dtype_is_float(problem->dtype);
  bool skips = problem->skip_nan && floats, sums = problem->op == NDR_SUM || problem->op == NDR_PROD;
  memset(words, 0, sizeof *words);
  words->bytes = (int64_t)ndr_dtype_bytes(word);
  words->from_bytes = (int64_t)ndr_dtype_bytes(problem->dtype);
  words->to_bytes = (int64_t)ndr_dtype_bytes(problem->result_dtype);
  words->load = isa->load[problem->dtype][pairs ? NDR_F64 : word];
  if (is_truth(problem) || (problem->dtype == NDR_BOOL && word == NDR_U8))
    words->load = isa->truth[skips && problem->op == NDR_ANY ? NDR_SCAN_NAN_FALSE : NDR_SCAN_NAN_TRUE][problem->dtype];
  if (skips && sums) words->clean = isa->clean[word];
  words->store = isa->store[pairs ? NDR_F64 : word][problem->result_dtype];
  words->move = isa->move[log2_of(words->to_bytes)];
  words->transpose_elements = isa->transpose[log2_of(words->from_bytes)];
  words->transpose_words = isa->transpose[log2_of(words->bytes)];
  words->transpose_results = isa->transpose[log2_of(words->to_bytes)];
  if ((double)problem->lines * (double)problem->length * (double)words->to_bytes >= STREAM_BYTES)
    words->stream = isa->stream;
  words->fence = isa->fence;
  words->loops = isa->loops[word][rule_of(problem)];
  words->pairs = pairs ? isa : NULL;
  words->skip_nan = skips;
  words->elements_are_words = words->load == isa->load_word[log2_of(words->bytes)] && !pairs && !words->clean;
  words->words_are_results = words->store == words->move && !pairs;
  words->sequential = is_sequential(problem);
  put_beginnings(problem, word, words);
}

void ndr_scan_words_fill(const ndr_scan_words *words, const unsigned char *word, char *to, int64_t count) {
  int64_t bytes = count * words->bytes, done = words->bytes;
  memcpy(to, word, (size_t)words->bytes);
  for (; done < bytes; done *= 2) memcpy(to + done, to, (size_t)(done < bytes - done ? done : bytes - done));
}

/* The f64 that pairs are made of are loaded into the second half of the pairs' memory. */
static void load_pairs(const ndr_scan_words *words, const char *from, int64_t stride, char *to, int64_t count) {
  words->load(from, stride, (double *)(void *)to + count, count);
  words->pairs->make_pairs(to, words->skip_nan, count);
}

void ndr_scan_words_load(const ndr_scan_words *words, const char *from, int64_t stride, void *to, int64_t count) {
  if (words->pairs) {
    load_pairs(words, from, stride, to, count);
    return;
  }
  words->load(from, stride, to, count);
  if (words->clean) words->clean(to, words->nothing, count);
}

const char *ndr_scan_words_finish(const ndr_scan_words *words, void *from, char *to, int64_t count) {
  if (words->words_are_results) return from;
  if (words->pairs) words->pairs->finish_pairs(from, count);
  words->store(from, to, 1, count);
  return to;
}

void ndr_scan_words_move(const ndr_scan_words *words, bool streams, const char *from, char *to, int64_t stride,
                         int64_t count) {
  if (streams && words->stream && stride == 1)
    words->stream(from, to, count * words->to_bytes);
  else
    words->move(from, to, stride, count);
}

void ndr_scan_words_first(const ndr_scan_words *words, char *to) {
  _Alignas(16) unsigned char first[16], result[16];
  memcpy(first, words->first, sizeof first);
  memcpy(to, ndr_scan_words_finish(words, first, (char *)result, 1), (size_t)words->to_bytes);
}
