/* Errors: a status code travels up, one sentence stays in the thread. */
#ifndef NDR_CORE_STATUS_H
#define NDR_CORE_STATUS_H

#include "ndreduce/ndreduce.h"

/* Records the sentence for ndr_last_error() and returns status. */
ndr_status ndr_fail(ndr_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns from the calling function with the status of expression unless it is NDR_OK. */
#define NDR_TRY(expression)                                                                                            \
  do {                                                                                                                 \
    ndr_status try_status_ = (expression);                                                                             \
    if (try_status_ != NDR_OK) return try_status_;                                                                     \
  } while (0)

#endif
