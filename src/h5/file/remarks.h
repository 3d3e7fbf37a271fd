/* Tells whoever writes a file of results what it lacks of its inputs, in one sentence each, no sentence twice. */
#ifndef NDR_H5_FILE_REMARKS_H
#define NDR_H5_FILE_REMARKS_H

typedef struct ndr_remarks {
  void (*tell)(void *user, const char *sentence); /* NULL: nobody is told */
  void *user;
  char *told; /* the sentences so far, a line each */
} ndr_remarks;

/* If `remarks` is NULL, nothing is told. If memory is short, a sentence may come twice. */
void ndr_remark(ndr_remarks *remarks, const char *format, ...) __attribute__((format(printf, 2, 3)));

void ndr_remarks_free(ndr_remarks *remarks);

#endif
