/* See operator_text.h. */
#include "common/operator_text.h"

#include <string.h>

void ndr_operator_text_keep_read(char *text, ndr_op op) {
  char *at = text + strcspn(text, ",;)");
  for (int array = 1; *at == ','; array++) {
    size_t length = 1 + strcspn(at + 1, ",;)");
    if (ndr_operator_reads(op, array))
      at += length;
    else
      memmove(at, at + length, strlen(at + length) + 1);
  }
}
