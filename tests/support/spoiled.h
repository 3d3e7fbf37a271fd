/* Tables of calls with one wrong argument. A row is a call. Each row runs in a process of its own, so that a crash ends
 * only that row.
 *
 *   static int rows_of_reduce(int row) {
 *     int at = 0;
 *     REFUSED(ARGUMENT, "array", ndreduce(NULL, NDR_DIMS(0), NDR_SUM, &result, NULL));
 *     REFUSED(ARGUMENT, "-1", array.ndim = -1, ndreduce(&array, NDR_DIMS(0), NDR_SUM, &result, NULL));
 *     HARMLESS(ndr_plan_workspace(NULL) == 0);
 *     return at;
 *   }
 *
 * What spoils an argument may stand before the call, as the comma operator has it. */
#ifndef TEST_SUPPORT_SPOILED_H
#define TEST_SUPPORT_SPOILED_H

#include "support/suite.h"

/* Runs row `row`, the first being 0, and returns how many rows there are. */
typedef int spoiled_rows(int row);

/* Asserts that the row's call fails with NDR_ERR_status, and that its sentence contains `word`. */
#define REFUSED(status, word, ...)                                                                                     \
  do {                                                                                                                 \
    if (at++ == row) assert_fails((__VA_ARGS__), NDR_ERR_##status, word);                                              \
  } while (0)

/* Asserts that the row's expression is true: for calls that return no status. */
#define HARMLESS(...)                                                                                                  \
  do {                                                                                                                 \
    if (at++ == row) ck_assert_msg((__VA_ARGS__), "%s", #__VA_ARGS__);                                                 \
  } while (0)

#define ROW_COUNT(rows) (rows)(-1)

#endif
