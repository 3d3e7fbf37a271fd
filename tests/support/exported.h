/* Exported accumulators, for tests of what is exported and imported. Each function fails the test if a call fails. */
#ifndef TEST_SUPPORT_EXPORTED_H
#define TEST_SUPPORT_EXPORTED_H

#include "ndreduce/plan.h"

/* In exactly as much memory, so that a sanitizer sees a step outside it; to be freed with free(). */
typedef struct bytes {
  unsigned char *at;
  size_t count;
} bytes;

bytes export_of(const ndr_accumulator *a);

/* Adds what an accumulator has to another one, by way of bytes. */
void import_export(ndr_accumulator *into, const ndr_accumulator *from);

/* New accumulators on the CPU. */
ndr_accumulator *accumulator_of(const ndr_problem *problem);
ndr_accumulator *accumulator_of_text(const char *text);

/* Exports are equal to the byte if problems, what is covered and all states are. */
void assert_equal(const ndr_accumulator *a, const ndr_accumulator *b, const char *what);

/* Asserts that the accumulator would be exported as before. */
void assert_unchanged(const ndr_accumulator *a, const bytes *before);

#endif
