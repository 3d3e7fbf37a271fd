/* Problems that read several arrays, their results, and tests of them on each instruction set of a CPU. */
#ifndef TEST_SUPPORT_SETTING_H
#define TEST_SUPPORT_SETTING_H

#include "support/cases.h"

enum { MOST_ARRAYS = 1 + NDR_MAX_OPERANDS };

/* A problem with its arrays. */
typedef struct setting {
  ndr_problem problem;
  int array_count;
  test_array arrays[MOST_ARRAYS];
  filling how;
  ndr_op own; /* an operator that was made for it; 0: none */
} setting;

typedef struct outcome {
  int count;
  test_array results[NDR_MAX_OPS];
} outcome;

/* Runs the problem on a CPU. False where the family, NULL for the planner's, cannot; else free the outcome. */
bool setting_run(const setting *s, const char *family, int threads, outcome *made);

void setting_free(setting *s);
void outcome_free(outcome *o);

/* Calls check_one a few times for each dtype, while loops of the instruction set run. The test's process must not have
 * run any before. */
void check_with_isa(const char *isa, void (*check_one)(rng *, ndr_dtype));

/* The tests NAME_baseline, NAME_avx2 and NAME_avx512, which call `check` for each dtype; and their names for
 * suite_case.
 */
#define TESTS_OF_ISAS(name, check)                                                                                     \
  START_TEST(name##_baseline) {                                                                                        \
    check_with_isa("baseline", check);                                                                                 \
  }                                                                                                                    \
  END_TEST                                                                                                             \
  START_TEST(name##_avx2) {                                                                                            \
    check_with_isa("avx2", check);                                                                                     \
  }                                                                                                                    \
  END_TEST                                                                                                             \
  START_TEST(name##_avx512) {                                                                                          \
    check_with_isa("avx512", check);                                                                                   \
  }                                                                                                                    \
  END_TEST
#define NAMES_OF_ISAS(name) name##_baseline, name##_avx2, name##_avx512

#endif
