/* What the ranks of a threads_comm find while a call runs, for the test's thread to assert when it has ended. */
#ifndef TEST_SUPPORT_FINDINGS_H
#define TEST_SUPPORT_FINDINGS_H

#include <stdio.h>

#include "ndreduce/ndreduce.h"

typedef struct finding {
  ndr_status status;  /* of the call */
  char sentence[512]; /* why it failed; "" if it did not */
  char wrong[200];    /* the first thing that was not as it should be; "" if nothing was */
} finding;

/* Keeps the status of a call that has just ended, and its sentence. */
void keep_outcome(finding *found, ndr_status status);

/* Keeps the first thing that is wrong. */
#define FIND(found, ...)                                                                                               \
  do {                                                                                                                 \
    if (!(found)->wrong[0]) snprintf((found)->wrong, sizeof(found)->wrong, __VA_ARGS__);                               \
  } while (0)

/* Asserts that no rank has found anything wrong, and that the call ended on all with the status and sentence. */
void assert_all(const finding *findings, int ranks, ndr_status status, const char *sentence);

#endif
