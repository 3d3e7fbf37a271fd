/* What the attribute ndreduce_with of a result says: where the arrays are from that its operator or condition reads. */
#ifndef NDR_H5_WRITE_WITH_TEXT_H
#define NDR_H5_WRITE_WITH_TEXT_H

#include <stdbool.h>

#include "ndreduce/ndreduce.h"

/* Arrays, as operators and conditions call them, and where each is from. All texts are owned. */
typedef struct ndr_with {
  int count;
  struct ndr_with_array {
    char *name, *source;
  } * arrays;
} ndr_with;

/* Replaces what is there with copies of the texts. False where there is no memory: there are none then. */
bool ndr_with_set(ndr_with *with, int count, const char *const *names, const char *const *sources);
void ndr_with_free(ndr_with *with);

/* Sets *text to "y: b.nc:/tas; lat: coordinate", to be freed: the arrays that the operator or the condition reads. It
 * is NULL if there are none. `where` is a condition, the path of a mask, or NULL. False where there is no memory. */
bool ndr_with_text(const ndr_with *with, ndr_op op, const char *where, char **text);

#endif
