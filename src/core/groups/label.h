/* What messages call an operator. */
#ifndef NDR_CORE_LABEL_H
#define NDR_CORE_LABEL_H

#include "core/types.h"

#define NDR_LABEL_BYTES 48

/* The name of an operator, one's own too, cut if it is long; text has room for NDR_LABEL_BYTES. Returns text. */
const char *ndr_op_label(ndr_op op, char *text);

#endif
