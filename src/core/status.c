#include "core/status.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char last_error[512];

void ndr_explain_failure(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(last_error, sizeof last_error, format, arguments);
  va_end(arguments);
}

const char *ndr_last_error(void) {
  return last_error;
}

const char *ndr_status_name(ndr_status status) {
  switch (status) {
  case NDR_OK: return "ok";
  case NDR_ERR_ARGUMENT: return "bad argument";
  case NDR_ERR_DIMS: return "bad dims";
  case NDR_ERR_DTYPE: return "unknown dtype";
  case NDR_ERR_OP: return "operator not defined";
  case NDR_ERR_RESULT: return "result does not match";
  case NDR_ERR_EMPTY: return "reduction over no elements";
  case NDR_ERR_PARSE: return "malformed problem";
  case NDR_ERR_OVERFLOW: return "size overflow";
  case NDR_ERR_UNSUPPORTED: return "not supported";
  case NDR_ERR_MEMORY: return "out of memory";
  case NDR_ERR_NO_DEVICE: return "no device";
  case NDR_ERR_DEVICE: return "device failure";
  case NDR_ERR_FILE: return "file failure";
  case NDR_ERR_CANCELLED: return "cancelled";
  }
  return "unknown status";
}
