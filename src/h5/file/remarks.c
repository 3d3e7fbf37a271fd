/* See remarks.h. Prints nothing: the program that is told does. */
#include "h5/file/remarks.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool was_told(const ndr_remarks *remarks, const char *line) {
  const char *found = remarks->told;
  while (found && (found = strstr(found, line)) && found != remarks->told && found[-1] != '\n') found++;
  return found != NULL;
}

static void remember(ndr_remarks *remarks, const char *line) {
  size_t before = remarks->told ? strlen(remarks->told) : 0, length = strlen(line);
  char *told = realloc(remarks->told, before + length + 1);
  if (!told) return;
  memcpy(told + before, line, length + 1);
  remarks->told = told;
}

void ndr_remark(ndr_remarks *remarks, const char *format, ...) {
  char line[2048];
  va_list arguments;
  if (!remarks || !remarks->tell || remarks->stopped) return;
  va_start(arguments, format);
  vsnprintf(line, sizeof line - 1, format, arguments); // NOLINT(clang-analyzer-valist.Uninitialized)
  va_end(arguments);
  size_t length = strlen(line);
  memcpy(line + length, "\n", 2);
  if (was_told(remarks, line)) return;
  remember(remarks, line);
  line[length] = 0;
  remarks->stopped = remarks->tell(remarks->user, line) != 0;
}

ndr_status ndr_remarks_heed(const ndr_remarks *remarks, const char *where, ndr_status status) {
  return remarks->stopped ? ndr_fail(NDR_ERR_CANCELLED, "%s: stopped by on_remark", where) : status;
}

void ndr_remarks_free(ndr_remarks *remarks) {
  free(remarks->told);
  remarks->told = NULL;
}
