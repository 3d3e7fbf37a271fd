/* Problems that read several arrays, and their results. */
#ifndef NDR_TEST_PROBLEM_ARRAYS_H
#define NDR_TEST_PROBLEM_ARRAYS_H

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

void setting_free(setting *made);
void outcome_free(outcome *made);

#endif
