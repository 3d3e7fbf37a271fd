/* What a file of results lacks of its inputs, told to who writes it: one sentence a thing, each sentence once. */
#ifndef NDR_H5_FILE_REMARKS_H
#define NDR_H5_FILE_REMARKS_H

typedef struct ndr_remarks {
  void (*tell)(void *user, const char *sentence); /* NULL: nobody is told */
  void *user;
  char *told; /* the sentences so far, a line each */
} ndr_remarks;

/* Nothing is told of a file that `remarks` is NULL for. Where there is no memory to remember, a sentence may come
 * twice.
 */
void ndr_remark(ndr_remarks *remarks, const char *format, ...) __attribute__((format(printf, 2, 3)));

void ndr_remarks_free(ndr_remarks *remarks);

#endif
