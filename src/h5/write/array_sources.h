/* What the attribute ndreduce_with of a result says: where the arrays are from that its operator or condition reads. */
#ifndef NDR_H5_WRITE_ARRAY_SOURCES_H
#define NDR_H5_WRITE_ARRAY_SOURCES_H

#include <stdbool.h>

#include "ndreduce/ndreduce.h"

/* Arrays, as operators and conditions call them, and where each is from. All texts are owned. */
typedef struct ndr_array_sources {
  int count;
  struct ndr_array_source {
    char *name, *source;
  } * arrays;
} ndr_array_sources;

/* Replaces what is there with copies of the texts. False where there is no memory: there are none then. */
bool ndr_array_sources_set(ndr_array_sources *all, int count, const char *const *names, const char *const *sources);
void ndr_array_sources_free(ndr_array_sources *all);

/* Sets *text to "y: b.nc:/tas; lat: coordinate", to be freed: the arrays that the operator or the condition reads. It
 * is NULL if there are none. `where` is a condition, the path of a mask, or NULL. False where there is no memory. */
bool ndr_array_sources_text(const ndr_array_sources *all, ndr_op op, const char *where, char **text);

#endif
