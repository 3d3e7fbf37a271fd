/* What the attributes of a result say of an operator of one's own. */
#ifndef NDR_H5_WRITE_OP_TEXTS_H
#define NDR_H5_WRITE_OP_TEXTS_H

#include <stdbool.h>

#include "ndreduce/plan.h"

/* An operator as texts, to be freed with ndr_op_texts_free. */
typedef struct ndr_op_texts {
  char *text;       /* "hot(x; t): n += x > t -> n" */
  char *name;       /* "hot" */
  char *parameters; /* "t=303.15 c=1,2"; NULL where it has none */
} ndr_op_texts;

bool ndr_op_texts_exist(ndr_op op);

/* False where there is no memory. `problem` is one with that operator. */
bool ndr_op_texts_make(ndr_op op, const ndr_problem *problem, ndr_op_texts *texts);
void ndr_op_texts_free(ndr_op_texts *texts);

#endif
