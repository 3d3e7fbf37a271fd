/* The programs of a problem, which its requests and canonical problems hold together. */
#ifndef NDR_LANG_PROGRAMS_H
#define NDR_LANG_PROGRAMS_H

#include <stdatomic.h>

#include "lang/program.h"

struct ndr_program_owner {
  atomic_int holders;
  ndr_program programs[];
};

/* `count` programs of zeros with one holder; NULL when memory is short. */
struct ndr_program_owner *ndr_programs_make(int count);

/* One holder more, one less; the last one frees them. NULL is allowed. Both may be called from any thread. */
void ndr_programs_share(struct ndr_program_owner *owner);
void ndr_programs_drop(struct ndr_program_owner *owner);

#endif
