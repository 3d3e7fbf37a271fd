/* Errors: functions return a status; the thread keeps one sentence about it. */
#ifndef NDR_CORE_STATUS_H
#define NDR_CORE_STATUS_H

#include "ndreduce/ndreduce.h"

/* Records the sentence and evaluates to the status: return ndr_fail(status, format, ...). It is a macro, so that
 * compilers see that a failing path does not return NDR_OK, and do not warn about values that it left unset. */
#define ndr_fail(status, ...) (ndr_explain_failure(__VA_ARGS__), (status))

/* Returns from the calling function with the status of expression unless it is NDR_OK. */
#define NDR_TRY(expression)                                                                                            \
  do {                                                                                                                 \
    ndr_status try_status_ = (expression);                                                                             \
    if (try_status_ != NDR_OK) return try_status_;                                                                     \
  } while (0)

/* What a noun ends in behind a count. */
#define NDR_PLURAL(count) ((count) == 1 ? "" : "s")

#endif
