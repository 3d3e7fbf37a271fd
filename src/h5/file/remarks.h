/* Tells whoever writes a file of results what it lacks of its inputs, in one sentence each, no sentence twice. */
#ifndef NDR_H5_FILE_REMARKS_H
#define NDR_H5_FILE_REMARKS_H

#include <stdbool.h>

#include "core/status.h"

typedef struct ndr_remarks {
  int (*tell)(void *user, const char *sentence); /* NULL: nobody is told */
  void *user;
  char *told;   /* the sentences so far, a line each */
  bool stopped; /* tell has returned not 0: nothing more is told */
} ndr_remarks;

/* If `remarks` is NULL, nothing is told. If memory is short, a sentence may come twice. */
void ndr_remark(ndr_remarks *remarks, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* NDR_ERR_CANCELLED, with a sentence that starts with `where`, once tell has asked to stop; else status. */
ndr_status ndr_remarks_heed(const ndr_remarks *remarks, const char *where, ndr_status status);

void ndr_remarks_free(ndr_remarks *remarks);

#endif
