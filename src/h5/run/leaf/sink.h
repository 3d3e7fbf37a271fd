/* Where results go box by box that are not held in memory as a whole. */
#ifndef NDR_H5_RUN_SINK_H
#define NDR_H5_RUN_SINK_H

#include "ndreduce/ndreduce.h"

/* Takes the box begin[], size[] of result i, in the result's dims, compact in data, which it may change. Each element
 * comes once, unless the work begins anew on another device: then all come again. */
typedef struct ndr_sink {
  ndr_status (*put)(void *user, int i, const int64_t *begin, const int64_t *size, void *data);
  void *user;
  int share;       /* the sink takes 1 / share of the memory there is; 0: none */
  double *seconds; /* that all calls of put have taken so far; NULL: they are not counted apart */
} ndr_sink;

#endif
