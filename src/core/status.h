/* Errors: a status code travels up, one sentence stays in the thread. */
#ifndef NDR_CORE_STATUS_H
#define NDR_CORE_STATUS_H

#include "ndreduce/ndreduce.h"

/* Records the sentence and is the status: return ndr_fail(status, format, ...). A macro, so that compilers see that a
 * failing path does not go on as NDR_OK, with what it left unset. */
#define ndr_fail(status, ...) (ndr_explain_failure(__VA_ARGS__), (status))

/* Returns from the calling function with the status of expression unless it is NDR_OK. */
#define NDR_TRY(expression)                                                                                            \
  do {                                                                                                                 \
    ndr_status try_status_ = (expression);                                                                             \
    if (try_status_ != NDR_OK) return try_status_;                                                                     \
  } while (0)

#endif
