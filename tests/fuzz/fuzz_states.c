/* Exported accumulators on any bytes: what is refused must leave the accumulator as it was, and what is imported must
 * be exported and imported again with the same bits. The first byte chooses the problem, the second what the others
 * are: bit 0  edits of a sound export, each of 2 bytes that say where and 8 that are put there; else the bytes
 * themselves bit 1  the checksum is set to match, so that what lies behind it is reached, too bit 2  the last byte is
 * cut off */
#include <stdlib.h>
#include <string.h>

#include "core/checksum.h"
#include "core/words.h"
#include "fuzz.h"
#include "ndreduce/plan.h"

static const DLDevice cpu = {kDLCPU, 0};

static const char *const problems[] = {
    "sum f32 [4,3] /0",
    "min,argmax,mean,var,logsumexp,count i16 [4,3] /0",
    "max,std,prod,ptp,any f16 [4,3] /0 skipnan",
    "mean,norm2 c64 [4,3] /0 keepdims",
    "sum,min i8 [4,3] /0 initial=3",
    "mean,var f64 [4,3] /0 weights=f64[3,1] weighting=reliability",
    "{hot(x; t): n += x > t, m max= x -> n + m}(1.5) i32 [4,3] /0",
    "mean f32 [4,3] /0 groups=0:3[0,2,1,1]",
    "sum f64 [0,3] /1",
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

static ndr_accumulator *create(const ndr_problem *problem) {
  ndr_accumulator *made;
  require(ndr_accumulator_create(&made, problem, cpu, NULL) == NDR_OK);
  require(ndr_accumulator_cover(made, 0, 3) == NDR_OK);
  return made;
}

static unsigned char *export(const ndr_accumulator *a, size_t *count) {
  require(ndr_accumulator_export(a, NULL, 0, count) == NDR_OK);
  unsigned char *bytes = malloc(*count);
  require(bytes != NULL && ndr_accumulator_export(a, bytes, *count, count) == NDR_OK);
  return bytes;
}

/* Any states may be finished. */
static void finish(const ndr_accumulator *a, const ndr_problem *problem) {
  static _Alignas(16) char memory[NDR_MAX_OPS][1024];
  DLTensor results[NDR_MAX_OPS], *pointers[NDR_MAX_OPS];
  int64_t shapes[NDR_MAX_OPS][NDR_MAX_DIMS];
  for (int i = 0; i < problem->op_count; i++) {
    memset(&results[i], 0, sizeof results[i]);
    results[i].shape = shapes[i];
    require(ndr_problem_result(problem, i, &results[i]) == NDR_OK);
    results[i].data = memory[i];
    pointers[i] = &results[i];
  }
  require(ndr_accumulator_finish(a, pointers) == NDR_OK);
}

static void check_import(const ndr_problem *problem, const unsigned char *bytes, size_t count) {
  ndr_accumulator *into = create(problem), *again;
  size_t before_count, after_count;
  unsigned char *before = export(into, &before_count);
  ndr_status status = ndr_accumulator_import(into, bytes, count);
  unsigned char *after = export(into, &after_count);
  if (status != NDR_OK) {
    require(ndr_last_error()[0] && !strchr(ndr_last_error(), '\n'));
    require(before_count == after_count && memcmp(before, after, after_count) == 0);
  } else {
    finish(into, problem);
    require(ndr_accumulator_create(&again, problem, cpu, NULL) == NDR_OK);
    require(ndr_accumulator_import(again, after, after_count) == NDR_OK);
    ndr_accumulator_destroy(again);
  }
  ndr_accumulator_destroy(into);
  free(before);
  free(after);
}

/* A sound export of other numbers. */
static unsigned char *sound(const ndr_problem *problem, size_t *count) {
  ndr_accumulator *a;
  require(ndr_accumulator_create(&a, problem, cpu, NULL) == NDR_OK);
  require(ndr_accumulator_cover(a, 5, 2) == NDR_OK);
  require(ndr_accumulator_cover(a, 9, 1) == NDR_OK);
  unsigned char *bytes = export(a, count);
  ndr_accumulator_destroy(a);
  return bytes;
}

static unsigned char *edited(const ndr_problem *problem, input *from, size_t *count) {
  unsigned char *bytes = sound(problem, count);
  while (from->size > 0) {
    size_t at = take(from, 2) % (*count - 7);
    uint64_t low = take(from, 4), high = take(from, 4);
    ndr_word_store(high << 32 | low, bytes + at);
  }
  return bytes;
}

static unsigned char *copied(const input *from, size_t *count) {
  unsigned char *bytes = malloc(from->size + 1);
  require(bytes != NULL);
  memcpy(bytes, from->data, from->size);
  *count = from->size;
  return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  input from = {data, size};
  size_t count;
  ndr_problem problem = NDR_PROBLEM_INIT;
  require(ndr_problem_parse(problems[take(&from, 1) % PROBLEMS], &problem) == NDR_OK);
  unsigned how = take(&from, 1);
  unsigned char *bytes = how & 1 ? edited(&problem, &from, &count) : copied(&from, &count);
  size_t words = count / 8;
  if ((how & 2) && words > 0) ndr_word_store(ndr_checksum(bytes, words - 1), bytes + 8 * (words - 1));
  if ((how & 4) && count > 0) count--;
  unsigned char *exact = malloc(count ? count : 1); /* so that a sanitizer sees a read past the end */
  require(exact != NULL);
  memcpy(exact, bytes, count);
  check_import(&problem, exact, count);
  free(exact);
  free(bytes);
  return 0;
}
