/* See label.h. The name of an operator of one's own is what stands before the first parenthesis of its text. */
#include "core/groups/label.h"

#include <stdio.h>
#include <string.h>

#include "ndreduce/operator.h"

const char *ndr_op_label(ndr_op op, char *text) {
  text[0] = 0;
  if (ndr_op_valid(op))
    snprintf(text, NDR_LABEL_BYTES, "%s", ndr_op_name(op));
  else if (ndr_op_is_own(op) && ndr_operator_print(op, text, NDR_LABEL_BYTES) > 0)
    text[strcspn(text, "(")] = 0;
  if (!text[0]) snprintf(text, NDR_LABEL_BYTES, "operator %d", (int)op);
  return text;
}
